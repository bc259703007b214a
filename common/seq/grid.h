/* grid.h - the chunks of a genome: which interval, on which strand, each row of a file holds.
 *
 * The rows of Helixer's files follow a fixed rule and are called regular. A sequence
 * of length n has k = ceil(n / L) chunks of the + strand in ascending order, [0,L) [L,2L) ... [..,
 * n), then k chunks of the - strand: the same intervals in reverse order, each
 * reverse-complemented. A chunk shorter than L is padded at its end, on both strands. In the dataset
 * start_ends, a - chunk has start > end. A file may also hold other rows (for example after
 * filtering or splitting); its grid then lists the rows one by one.
 *
 * The + chunk and the - chunk of an interval are a pair. Work, shards and streams are organised by
 * pairs, in the order of the sequences, with the intervals of each ascending. A partial file (a
 * shard, a subset) lacks rows, but lists all sequences of the genome and their full lengths.
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

/* Marks a row that the file lacks. */
#define COV_NO_ROW SIZE_MAX

enum cov_strand_index { COV_PLUS, COV_MINUS };

struct cov_pair {
    size_t seq;
    int64_t beg, end;
    size_t rows[2]; /* the rows of the + and the - chunk; one may be COV_NO_ROW */
};

/* Returns the number of chunks of a pair: 1 or 2. */
static inline size_t cov_pair_n_rows(const struct cov_pair *p)
{
    return (size_t)(p->rows[COV_PLUS] != COV_NO_ROW) + (p->rows[COV_MINUS] != COV_NO_ROW);
}

/* Returns true if marked[] is true for a row of the pair. */
static inline bool cov_pair_is_marked(const struct cov_pair *p, const bool *marked)
{
    return (p->rows[COV_PLUS] != COV_NO_ROW && marked[p->rows[COV_PLUS]]) ||
           (p->rows[COV_MINUS] != COV_NO_ROW && marked[p->rows[COV_MINUS]]);
}

/* A sequence by species and name; neither needs a terminating zero. */
struct cov_seq_id {
    const char *species;
    size_t n_species;
    const char *name;
    size_t n_name;
};
struct cov_seq_id cov_seq_id(const char *species, const char *name); /* of two C strings */

struct cov_grid; /* immutable once built; may be shared by threads */

/* Creates a regular grid. Copies the names, which must be unique, and the lengths, which
 * must be positive. All sequences belong to `species`. 0 < L <= INT64_MAX. Free with
 * cov_grid_free. */
int cov_grid_new(size_t n_seqs, char *const *names, const int64_t *lengths, const char *species,
                 size_t L, struct cov_grid **out, struct cov_err *e) COV_MUST_USE;

/* Builds a grid from the rows of a file: add all rows in file order, then finish. Sequences are
 * numbered in the order of their first row. The length of a sequence is the largest position in
 * its rows. */
struct cov_grid_builder;
int cov_grid_builder_new(size_t L, struct cov_grid_builder **out, struct cov_err *e) COV_MUST_USE;
/* Adds a row. Fails with COV_EINPUT, naming the row but not the file, if start == end, if either
 * is negative, if |end - start| > L, or if the name is empty or holds a zero byte. */
int cov_grid_builder_add(struct cov_grid_builder *b, const struct cov_seq_id *id, int64_t start,
                         int64_t end, struct cov_err *e) COV_MUST_USE;
/* For partial files: declares the next sequence of the genome and its full length (> 0), before
 * the first row. Afterwards, rows of undeclared sequences and rows past the end of their
 * sequence are rejected. Fails with COV_EINPUT for a sequence that is a duplicate, has no name
 * or has no bases. */
int cov_grid_builder_declare(struct cov_grid_builder *b, const struct cov_seq_id *id,
                             int64_t length, struct cov_err *e) COV_MUST_USE;
/* Declares all sequences of g. */
int cov_grid_builder_declare_all(struct cov_grid_builder *b, const struct cov_grid *g,
                                 struct cov_err *e) COV_MUST_USE;
/* Takes ownership of the builder, even on failure. Regular rows take no memory in either the
 * grid or the builder. */
int cov_grid_builder_finish(struct cov_grid_builder *b, struct cov_grid **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_grid_builder_free(struct cov_grid_builder *b); /* NULL is accepted */

/* Creates a grid of n rows of g, in the given order, with all sequences of g. */
int cov_grid_select(const struct cov_grid *g, const size_t *rows, size_t n, struct cov_grid **out,
                    struct cov_err *e) COV_MUST_USE;

void cov_grid_free(struct cov_grid *g); /* NULL is accepted */

size_t cov_grid_n_chunks(const struct cov_grid *g);
size_t cov_grid_chunk_length(const struct cov_grid *g); /* L */
/* Returns chunk i < n_chunks, in time logarithmic in the number of sequences. */
struct cov_chunk cov_grid_chunk(const struct cov_grid *g, size_t i);

size_t cov_grid_n_seqs(const struct cov_grid *g);
/* Borrowed from the grid. */
const char *cov_grid_name(const struct cov_grid *g, size_t seq);
const char *cov_grid_species(const struct cov_grid *g, size_t seq);
struct cov_seq_id cov_grid_seq_id(const struct cov_grid *g, size_t seq);
int64_t cov_grid_seq_length(const struct cov_grid *g, size_t seq);
int64_t cov_grid_longest(const struct cov_grid *g); /* length of the longest sequence */

/* Returns true if the rows are regular. */
bool cov_grid_is_regular(const struct cov_grid *g);

/* Returns true if sequences were declared and the rows do not cover both strands of all of them. */
bool cov_grid_is_partial(const struct cov_grid *g);

/* Pair p < n_pairs. An interval that occurs n times makes n pairs. */
size_t cov_grid_n_pairs(const struct cov_grid *g);
struct cov_pair cov_grid_pair(const struct cov_grid *g, size_t p);
/* Returns the range of the pairs p of a sequence: *beg <= p < *end. */
void cov_grid_seq_pairs(const struct cov_grid *g, size_t seq, size_t *beg, size_t *end);
/* Returns the range of the pairs p in shard `index` (from 0) of n: *beg <= p < *end. The shards
 * are consecutive, cover all pairs, and differ in size by at most one. */
void cov_grid_shard(const struct cov_grid *g, size_t index, size_t n, size_t *beg, size_t *end);
/* Returns the *n rows of the pairs [beg, end), in ascending order, in (*rows)[] (caller frees). */
int cov_grid_rows_of_pairs(const struct cov_grid *g, size_t beg, size_t end, size_t **rows,
                           size_t *n, struct cov_err *e) COV_MUST_USE;

/* Returns the *n rows of one strand of a sequence, in ascending order of beg, in (*rows)[]
 * (caller frees). If they do not tile [0, length), fails with COV_EINPUT and names the sequence
 * and position. */
int cov_grid_strand_rows(const struct cov_grid *g, size_t seq, bool minus, size_t **rows, size_t *n,
                         struct cov_err *e) COV_MUST_USE;

/* ---- overlapping windows ----
 *
 * A network sees nothing past the ends of a chunk, and is least accurate there. Windows of L
 * bases, one every L - N bases, cover a sequence so that neighbours share N bases; each window
 * drops the N/2 of them that are nearest to its end. The first window begins at base 0; the last
 * ends with the sequence and may be shorter (if there are several, by less than L - N). Windows
 * depend only on the sequence's length, L and N. */
struct cov_window {
    int64_t beg, end;           /* its bases, at most L */
    int64_t core_beg, core_end; /* the bases whose values are kept; the cores tile the sequence */
};

/* Returns the number of the window whose core holds base `at` of a sequence of `length` bases. 0
 * <= at < length, 0 <= N < L. */
int64_t cov_window_at(int64_t length, int64_t L, int64_t N, int64_t at);

struct cov_window cov_window_number(int64_t length, int64_t L, int64_t N, int64_t k);

#endif
