/* examples.h - chunks of genome files with measured coverage, on disk or in memory: what a network
 * is trained on or evaluated with.
 *
 * Targets are Predmoter's: the mean over the columns (BAM files) of a dataset, rounded to two
 * decimals as numpy rounds float32.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLES_H
#define COV_EXAMPLES_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/codec/codec.h"
#include "common/examples/ranks.h"
#include "common/features/blacklist.h"
#include "common/input/loader.h"
#include "common/seq/copies.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

/* A file of examples. */
struct cov_examples_file {
    const char *path;
    const struct cov_grid *grid;
    const char *species;        /* NULL: several */
    const bool *present;        /* [n_datasets] */
    struct cov_bases_key *keys; /* [n_rows], of those that cov_examples_keeps keeps; NULL before
                                 * cov_examples_prepare, and with COV_LOAD_RANKS */
    /* Private. */
    struct cov_example_file *file;
    size_t first, n_rows;  /* first: number of the first row, counted over all files */
    bool *gap;             /* [n_rows]; NULL before cov_examples_prepare */
    struct cov_blob *kept; /* [n_rows] in memory, except gaps; NULL: none */
};

/* All is to be read only. */
struct cov_examples {
    struct cov_examples_file *files;
    size_t n_files, n_datasets, L; /* L: positions of a chunk */
    size_t scratch;                /* for decoding, in bytes */
    /* Private. */
    size_t n_rows; /* in all files */
    bool packed;
    enum cov_loading loading;
    struct cov_ranks *ranks;
    struct cov_rank_rows *spread; /* rows distributed over the processes; NULL: none */
};

/* Files to use, by their species. */
struct cov_examples_choice {
    const char *const *species; /* [n] */
    size_t n;
    bool others;       /* use the files of all other species */
    const char *place; /* where the files are, for messages */
};

struct cov_examples_options {
    const char *const *datasets; /* [n_datasets]; NULL: cov_examples_select names them later */
    size_t n_datasets;
    bool blacklist; /* omit rows on data/blacklist */
    enum cov_loading loading;
    struct cov_ranks *ranks; /* for COV_LOAD_RANKS; borrowed until close */
    /* Omits rows of sequences or in regions on this list, and masks the other positions in regions.
     * NULL: none. Borrowed until close. */
    struct cov_blacklist *list;
    const struct cov_examples_choice *choice; /* NULL: all files */
};

/* Opens files; COV_EINPUT if their chunk lengths differ, a file has no bases or no measured
 * coverage, or a species that is chosen has no file. Free with cov_examples_close. */
int cov_examples_open(const char *const *paths, size_t n,
                      const struct cov_examples_options *options, struct cov_examples **out,
                      struct cov_err *e) COV_MUST_USE;
/* Opens all *.h5 files in the directory `dir`, sorted by name; COV_EINPUT if there is none. */
int cov_examples_open_dir(const char *dir, const struct cov_examples_options *options,
                          struct cov_examples **out, struct cov_err *e) COV_MUST_USE;
void cov_examples_close(struct cov_examples *x); /* NULL is accepted */
/* Selects the datasets to read, unless the options named them. */
int cov_examples_select(struct cov_examples *x, const char *const *datasets, size_t n,
                        struct cov_err *e) COV_MUST_USE;

/* Reads all bases to find gaps, and loads everything into memory unless `loading` is COV_LOAD_DISK.
 * Without this call no row counts as a gap, and rows are read from disk. With COV_LOAD_RANKS every
 * process must call it; each reads its share of the rows. */
int cov_examples_prepare(struct cov_examples *x, struct cov_pool *pool,
                         struct cov_progress *progress, struct cov_err *e) COV_MUST_USE;

/* Adds the names of all datasets of all files, selected or not, to *names. */
int cov_examples_list(const struct cov_examples *x, struct cov_names *names,
                      struct cov_err *e) COV_MUST_USE;
/* cov_examples_keeps returns true if row i is neither a gap nor on a blacklist;
 * cov_examples_n_kept counts such rows in all files. */
bool cov_examples_keeps(const struct cov_examples *x, size_t file, size_t i);
size_t cov_examples_n_kept(const struct cov_examples *x);

/* After cov_examples_prepare: warns of each file of `val` that has the chunks of a file of `train`,
 * judged by their places and some bases. For each other file, warns which fraction of its chunks has
 * the same bases as chunks in `train`, on either strand. With COV_LOAD_RANKS, the fraction is not
 * known, and this warning is left out. HDF5's thread. */
int cov_examples_warn_copies(const struct cov_examples *val, const struct cov_examples *train,
                             struct cov_err *e) COV_MUST_USE;

/* Bases [beg, end) of a strand, at most L of them, from one row or two consecutive ones. */
struct cov_example {
    uint32_t file;
    bool minus;
    size_t rows[2]; /* the second may be COV_NO_ROW */
    int64_t beg, end;
};
/* Returns row i as an example. */
struct cov_example cov_example_of_row(const struct cov_examples *x, size_t file, size_t i);

/* Stored data of an example. All zero: empty. */
struct cov_example_raw {
    struct cov_blob rows[2];
};
void cov_example_raw_fini(struct cov_example_raw *raw);

/* HDF5's thread: fetches the stored data of an example. The data may come from another process, so
 * it is valid only after cov_examples_complete, which completes all earlier fetches. */
int cov_examples_fetch(struct cov_examples *x, const struct cov_example *example,
                       struct cov_example_raw *raw, struct cov_err *e) COV_MUST_USE;
int cov_examples_complete(struct cov_examples *x, struct cov_err *e) COV_MUST_USE;

/* Any thread: decodes codes[L] and targets[L, D] of a fetched example, with x->scratch bytes, in its
 * own direction, padded with COV_CODE_PAD and 0. Targets of masked positions are
 * COV_TARGET_MASKED. */
int cov_examples_decode(const struct cov_examples *x, const struct cov_example *example,
                        struct cov_example_raw *raw, uint8_t *scratch, uint8_t *codes,
                        float *targets, struct cov_err *e) COV_MUST_USE;

/* Returns true if Predmoter treats codes[0..n) as a gap: the largest value in the column of C is
 * 0.25, the value for N. */
bool cov_example_is_gap(const uint8_t *codes, size_t n);

#endif
