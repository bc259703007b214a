/* grid.h - the chunks of a genome: which piece of which strand each row of a file holds.
 *
 * The rows of Helixer's files are arithmetic: per sequence of length n, k = ceil(n / L) chunks of
 * the + strand ascending, [0,L) [L,2L) ... [.., n), then k chunks of the - strand, which are the
 * same intervals in reverse order, each reverse-complemented. A chunk shorter than L is padded at
 * its end on either strand. start_ends of a - chunk has start > end. A file may hold any other rows
 * (filtered, split); then they are listed one by one.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_GRID_H
#define COV_SEQ_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_chunk {
    size_t seq;       /* index of the sequence */
    int64_t beg, end; /* half-open, 0-based, on the + strand: beg < end */
    bool minus;
};

struct cov_grid; /* immutable once built; may be shared by threads */

/* The arithmetic grid. Copies names (all different) and lengths (all > 0). `species` is that of all
 * sequences. 0 < L <= INT64_MAX. Free with cov_grid_free. */
int cov_grid_new(size_t n_seqs, char *const *names, const int64_t *lengths, const char *species,
                 size_t L, struct cov_grid **out, struct cov_err *e) COV_MUST_USE;

/* A grid row by row, as read from a file: add all rows in file order, then finish. Sequences are
 * numbered in the order of their first row; a sequence is told by species and name. Its length is
 * the largest position of its rows. */
struct cov_grid_builder;
int cov_grid_builder_new(size_t L, struct cov_grid_builder **out, struct cov_err *e) COV_MUST_USE;
/* Names are n bytes without a terminating zero. Fails (COV_EINPUT, the text names the row but not
 * the file) when start == end, either is negative, |end - start| > L, or the name is empty or holds
 * a zero. */
int cov_grid_builder_add(struct cov_grid_builder *b, const char *species, size_t n_species,
                         const char *name, size_t n_name, int64_t start, int64_t end,
                         struct cov_err *e) COV_MUST_USE;
/* Takes the builder (freed in any case). Rows that are the arithmetic grid of their lengths take no
 * memory, neither in the grid nor while they are added. */
int cov_grid_builder_finish(struct cov_grid_builder *b, struct cov_grid **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_grid_builder_free(struct cov_grid_builder *b);

void cov_grid_free(struct cov_grid *g);

size_t cov_grid_n_chunks(const struct cov_grid *g);
size_t cov_grid_chunk_length(const struct cov_grid *g); /* L */
/* Chunk i < n_chunks. In time logarithmic in the number of sequences. */
struct cov_chunk cov_grid_chunk(const struct cov_grid *g, size_t i);

size_t cov_grid_n_seqs(const struct cov_grid *g);
const char *cov_grid_name(const struct cov_grid *g, size_t seq);    /* borrowed from the grid */
const char *cov_grid_species(const struct cov_grid *g, size_t seq); /* borrowed from the grid */
int64_t cov_grid_seq_length(const struct cov_grid *g, size_t seq);

/* Whether the rows are arithmetic. */
bool cov_grid_is_regular(const struct cov_grid *g);

/* The rows that make up one strand of a sequence in ascending order of beg: *n of them in rows[]
 * (caller frees). COV_EINPUT, naming sequence and position, when they leave a hole between 0 and
 * its length, or overlap. */
int cov_grid_strand_rows(const struct cov_grid *g, size_t seq, bool minus, size_t **rows, size_t *n,
                         struct cov_err *e) COV_MUST_USE;

#endif
