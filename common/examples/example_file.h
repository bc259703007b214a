/* example_file.h - one genome file with measured coverage: which of its rows are examples, their codes
 * and targets (examples.h), and how these are packed.
 *
 * As in chunk_file.h, HDF5 belongs to one thread, and any thread may decode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLE_FILE_H
#define COV_EXAMPLES_EXAMPLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/chunk_file.h"
#include "common/codec/codec.h"
#include "common/features/blacklist.h"
#include "common/signal/signal_file.h"

/* A dataset found in the file. */
struct cov_example_source {
    size_t dataset, n_columns;
};

struct cov_example_file {
    char *path;
    struct cov_chunk_file *file;
    size_t L, n_datasets;
    bool *present;                 /* [n_datasets] */
    struct cov_signal_part *parts; /* [n_parts]: all datasets in the file */
    size_t n_parts;
    struct cov_example_source *sources; /* [n_sources]; source s is set ks[s] of the head */
    size_t *ks, n_sources;
    size_t scratch;                   /* bytes of the elements of a row, all sources */
    bool *dropped;                    /* [n_rows]: on a blacklist; NULL: none */
    const struct cov_blacklist *list; /* NULL: none */
};

/* Opens a file and reads its blacklist if `blacklist`; rows that `list` (NULL: none; borrowed until
 * close) covers are dropped, too. Free with cov_example_file_close. */
int cov_example_file_open(const char *path, bool blacklist, struct cov_blacklist *list,
                          struct cov_example_file **out, struct cov_err *e) COV_MUST_USE;
void cov_example_file_close(struct cov_example_file *f); /* NULL is accepted */
/* Selects the datasets to read. Call it once. */
int cov_example_file_select(struct cov_example_file *f, const char *const *datasets,
                            size_t n_datasets, struct cov_err *e) COV_MUST_USE;

/* Returns true if row i is on a blacklist. */
bool cov_example_file_drops(const struct cov_example_file *f, size_t i);
int cov_example_file_fetch(struct cov_example_file *f, size_t i, struct cov_blob *raw,
                           struct cov_err *e) COV_MUST_USE;
/* Bytes of scratch for cov_example_file_decode. */
size_t cov_example_file_scratch(const struct cov_example_file *f);
/* Decodes codes[L] and targets[L, n_datasets] of a fetched row, padded with COV_CODE_PAD and 0. */
int cov_example_file_decode(const struct cov_example_file *f, size_t i, struct cov_blob *raw,
                            uint8_t *scratch, uint8_t *codes, float *targets,
                            struct cov_err *e) COV_MUST_USE;

/* Packed rows, for memory and for sending: 4 bits per base, and per dataset nothing (all zero),
 * integers of one or two bytes, hundredths in two bytes, or floats, whichever is the shortest exact
 * form. */

/* Returns an upper bound of the packed size in bytes, for L positions and D datasets. */
size_t cov_example_pack_bound(size_t L, size_t D);

/* Packs codes[L] and targets[L, D] (hundredths, as in examples.h) to out[]. Returns the number of
 * bytes written. */
size_t cov_example_pack(const uint8_t *codes, const float *targets, size_t L, size_t D,
                        uint8_t *out);

/* Unpacks the output of cov_example_pack. */
void cov_example_unpack(const uint8_t *packed, size_t L, size_t D, uint8_t *codes, float *targets);

#endif
