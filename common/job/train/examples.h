/* examples.h - the chunks of several genome files with what was measured there, on disk or in
 * memory.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EXAMPLES_H
#define COV_JOB_TRAIN_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/codec/blob.h"
#include "common/job/predict/loader.h"
#include "common/job/train/ranks.h"
#include "common/seq/grid.h"

struct cov_examples;

struct cov_examples_options {
    const char *const *datasets; /* [n_datasets]; borrowed until close */
    size_t n_datasets;
    bool blacklist; /* without the rows that data/blacklist drops */
    enum cov_loading loading;
    struct cov_ranks *ranks; /* several; of COV_LOAD_RANKS. Borrowed until close */
};

/* Opens files, which must have chunks of one length (COV_EINPUT otherwise). Free with
 * cov_examples_close. */
int cov_examples_open(const char *const *paths, size_t n,
                      const struct cov_examples_options *options, struct cov_examples **out,
                      struct cov_err *e) COV_MUST_USE;
/* The same with all files *.h5 in the folder `dir`, by name; COV_EINPUT if there is none. */
int cov_examples_open_dir(const char *dir, const struct cov_examples_options *options,
                          struct cov_examples **out, struct cov_err *e) COV_MUST_USE;
void cov_examples_close(struct cov_examples *x); /* NULL is accepted */

/* Looks at all bases, for what is a gap, and brings everything into memory unless `loading` is
 * COV_LOAD_DISK. Without it no row is a gap, and rows come from disk. With COV_LOAD_RANKS each process reads
 * its share of the rows, and all call it. */
int cov_examples_prepare(struct cov_examples *x, struct cov_pool *pool,
                         struct cov_progress *progress, struct cov_err *e) COV_MUST_USE;

size_t cov_examples_n_files(const struct cov_examples *x);
size_t cov_examples_n_datasets(const struct cov_examples *x);
size_t cov_examples_chunk_length(const struct cov_examples *x);
/* Borrowed until close. */
const char *cov_examples_path(const struct cov_examples *x, size_t file);
const struct cov_grid *cov_examples_grid(const struct cov_examples *x, size_t file);
const bool *cov_examples_present(const struct cov_examples *x, size_t file); /* [n_datasets] */
/* The data sets of a file, also those that were not asked for, with commas between. */
const char *cov_examples_datasets(const struct cov_examples *x, size_t file);
/* Whether row i is neither a gap nor dropped; and how many such rows there are in all files. */
bool cov_examples_keeps(const struct cov_examples *x, size_t file, size_t i);
size_t cov_examples_n_kept(const struct cov_examples *x);

/* Bases [beg, end) of a strand, at most L, of one row, or of two that follow each other. */
struct cov_example {
    uint32_t file;
    bool minus;
    size_t rows[2]; /* the second one may be COV_NO_ROW */
    int64_t beg, end;
};
/* The example that is row i. */
struct cov_example cov_example_of_row(const struct cov_examples *x, size_t file, size_t i);

/* What is in flight of an example. All zero is an empty one. */
struct cov_example_raw {
    struct cov_blob rows[2];
};
void cov_example_raw_fini(struct cov_example_raw *raw);

/* One thread, HDF5's: fetches what is stored of it. Of several examples, it is there once
 * cov_examples_complete was called behind the last: they may come from other processes. */
int cov_examples_fetch(struct cov_examples *x, const struct cov_example *example,
                       struct cov_example_raw *raw, struct cov_err *e) COV_MUST_USE;
int cov_examples_complete(struct cov_examples *x, struct cov_err *e) COV_MUST_USE;

size_t cov_examples_scratch(const struct cov_examples *x); /* bytes, for decoding */

/* Any thread: codes[L] and targets[L, D] of a fetched example, in its own direction; behind its end
 * COV_CODE_PAD and 0. */
int cov_examples_decode(const struct cov_examples *x, const struct cov_example *example,
                        struct cov_example_raw *raw, uint8_t *scratch, uint8_t *codes,
                        float *targets, struct cov_err *e) COV_MUST_USE;

/* Whether Predmoter takes codes[0..n) for a gap: the largest value in the column of C is 0.25, that of
 * N. */
bool cov_example_is_gap(const uint8_t *codes, size_t n);

#endif
