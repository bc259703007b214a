/* grid.h - the chunks of a genome: which piece of which strand each row of a file holds.
 *
 * The rows of Helixer's files are arithmetic: per sequence of length n, k = ceil(n / L) chunks of
 * the + strand ascending, [0,L) [L,2L) ... [.., n), then k chunks of the - strand, which are the
 * same intervals in reverse order, each reverse-complemented. A chunk shorter than L is padded at
 * its end on either strand. start_ends of a - chunk has start > end. A file may hold any other rows
 * (filtered, split); then they are listed one by one.
 *
 * A + chunk and the - chunk of the same interval are a pair. Work, shards and streams go by pairs:
 * sequences in their order, intervals ascending. A partial file (a shard, a subset) lacks rows, but
 * knows all sequences of the genome and their full lengths.
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

/* Row of a pair that a file does not have. */
#define COV_NO_ROW SIZE_MAX

enum cov_strand_index { COV_PLUS, COV_MINUS };

struct cov_pair {
    size_t seq;
    int64_t beg, end;
    size_t rows[2]; /* of the + and of the - chunk; one of them may be COV_NO_ROW */
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
/* For partial files: declares the next sequence of the genome and its full length (> 0), before the
 * first row. Then a row of another sequence, or one that ends behind its sequence, is refused.
 * COV_EINPUT for a sequence that comes twice, without a name, or without bases. */
int cov_grid_builder_declare(struct cov_grid_builder *b, const char *species, size_t n_species,
                             const char *name, size_t n_name, int64_t length,
                             struct cov_err *e) COV_MUST_USE;
/* Takes the builder (freed in any case). Rows that are the arithmetic grid of their lengths take no
 * memory, neither in the grid nor while they are added. */
int cov_grid_builder_finish(struct cov_grid_builder *b, struct cov_grid **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_grid_builder_free(struct cov_grid_builder *b);

/* The grid of n of the rows of g, in the order given, with all sequences of g. */
int cov_grid_select(const struct cov_grid *g, const size_t *rows, size_t n, struct cov_grid **out,
                    struct cov_err *e) COV_MUST_USE;

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

/* Whether sequences were declared whose strands are not all covered from end to end: lengths are
 * then those of the genome, whatever the rows hold. */
bool cov_grid_is_partial(const struct cov_grid *g);

/* Pair p < n_pairs. Rows of one interval that are there several times make as many pairs. */
size_t cov_grid_n_pairs(const struct cov_grid *g);
struct cov_pair cov_grid_pair(const struct cov_grid *g, size_t p);
/* The pairs of a sequence: *beg <= p < *end. */
void cov_grid_seq_pairs(const struct cov_grid *g, size_t seq, size_t *beg, size_t *end);
/* The pairs of shard `index` (from 0) of n: *beg <= p < *end. Shards follow each other, cover all
 * pairs, and differ by one at most. */
void cov_grid_shard(const struct cov_grid *g, size_t index, size_t n, size_t *beg, size_t *end);
/* The rows of the pairs [beg, end), ascending: *n of them in (*rows)[] (caller frees). */
int cov_grid_rows_of_pairs(const struct cov_grid *g, size_t beg, size_t end, size_t **rows,
                           size_t *n, struct cov_err *e) COV_MUST_USE;

/* The rows that make up one strand of a sequence in ascending order of beg: *n of them in rows[]
 * (caller frees). COV_EINPUT, naming sequence and position, when they leave a hole between 0 and
 * its length, or overlap. */
int cov_grid_strand_rows(const struct cov_grid *g, size_t seq, bool minus, size_t **rows, size_t *n,
                         struct cov_err *e) COV_MUST_USE;

#endif
