/* rewrite.h - rows of one or several files of chunks to a new one: the engine of h5chunk.
 *
 * Every data set of the file is carried along. Rows are read, decoded and checked, encoded anew and
 * stored, over a ring: memory is that of the grids and of a few groups of rows.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_REWRITE_H
#define COV_JOB_CHUNKS_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/outfile.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/seq/grid.h"
#include "common/store/chunk_file.h"

/* What a job runs in. */
struct cov_recast_job {
    struct cov_pool *pool;
    struct cov_progress *progress; /* may be NULL */
    struct cov_stats *stats;       /* adds chunks and stages */
    bool force;                    /* may replace outputs */
};

/* What of the storage is to be another than that of the input. */
struct cov_recast_storage {
    bool has_compression, has_layout, has_type;
    struct cov_codec_choice compression; /* else the input's, as far as its filters tell */
    enum cov_layout layout;
    size_t chunk_rows;       /* 0: 1 */
    struct cov_h5_type type; /* of coverage and predictions */
};

/* "int16", "int32", "int64", "float32". */
extern const char *const cov_recast_types[];
struct cov_h5_type cov_recast_type(size_t index);

/* A row of one of the files. */
struct cov_recast_row {
    size_t file, row;
};

/* The new file: its row i is rows[i]. All is borrowed. */
struct cov_recast_plan {
    struct cov_chunk_file *const *files;
    const char *const *paths; /* for messages */
    size_t n_files, model;    /* `model`: the file whose head and storage is taken */
    const struct cov_recast_row *rows;
    const struct cov_grid *grid;              /* of the new file */
    const struct cov_recast_storage *storage; /* NULL: nothing changes */
};

/* Writes the file at `path`, an outfile's temporary name, and reads some rows back. All files must
 * have the sets of the model. COV_EINPUT for damaged rows and values that the new type cannot hold,
 * naming file, data set, row and position; COV_EUSAGE for a layout without bases, or a type without
 * coverage and predictions. */
int cov_recast(const struct cov_recast_plan *plan, const char *path,
               const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

/* The rows of one file for which wanted[] is set, in their order; a partial file, unless that is
 * all rows. `storage` may be NULL. */
int cov_recast_rows(struct cov_chunk_file *file, const char *input, const bool *wanted,
                    const struct cov_recast_storage *storage, const char *path,
                    const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

/* *to = `from` with the type that storage (may be NULL) wants for coverage and predictions.
 * COV_EUSAGE as above. Free with cov_chunk_head_fini. */
int cov_recast_head(const struct cov_chunk_head *from, const struct cov_recast_storage *storage,
                    const char *path, struct cov_chunk_head *to, struct cov_err *e) COV_MUST_USE;

/* dst = src, a row of the set `from`, as a row of `to`, which differs in its type at most. `where`
 * (file and row) is for messages. */
int cov_recast_elems(const struct cov_chunk_set *from, const struct cov_chunk_set *to,
                     const uint8_t *src, uint8_t *dst, const char *where,
                     struct cov_err *e) COV_MUST_USE;

/* Starts an output that is none of the n inputs, under whatever name. */
int cov_recast_begin(struct cov_outfile *out, const char *path, const char *const *inputs, size_t n,
                     bool force, struct cov_err *e) COV_MUST_USE;

#endif
