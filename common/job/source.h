/* source.h - where the chunks of bases come from: a genome file, or a FASTA in any form.
 *
 * The kind is found by content. Both give the same grid and the same codes for the same genome, so
 * that what is computed from them is the same to the last byte.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_SOURCE_H
#define COV_JOB_SOURCE_H

#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/codec/blob.h"
#include "common/seq/genome.h"
#include "common/seq/grid.h"

struct cov_source_options {
    size_t chunk_length;              /* L of a FASTA's grid; a genome file brings its own */
    const char *species;              /* of a FASTA; NULL: the stem of its name */
    struct cov_genome_options genome; /* how a FASTA is read */
};

struct cov_source;

/* Opens `path` ("-": a FASTA on standard input). A FASTA is read and checked from end to end here.
 * Free with cov_source_close. */
int cov_source_open(const char *path, const struct cov_source_options *options,
                    struct cov_progress *progress, struct cov_source **out,
                    struct cov_err *e) COV_MUST_USE;
void cov_source_close(struct cov_source *s); /* NULL is accepted */

/* Whether `path` is an HDF5 file, by its signature. */
int cov_source_is_hdf5(const char *path, bool *yes, struct cov_err *e) COV_MUST_USE;

const struct cov_grid *cov_source_grid(const struct cov_source *s); /* borrowed until close */

/* Calling thread only: fetches what is stored of chunk i into *raw, which is reused. */
int cov_source_fetch(struct cov_source *s, size_t i, struct cov_blob *raw,
                     struct cov_err *e) COV_MUST_USE;

/* Any thread: codes[0..L) of a fetched chunk (*raw is used up), in its own direction, COV_CODE_PAD
 * behind its end. */
int cov_source_codes(const struct cov_source *s, size_t i, struct cov_blob *raw, uint8_t *codes,
                     struct cov_err *e) COV_MUST_USE;

#endif
