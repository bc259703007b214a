/* rewrite.h - writes rows of one or several files of chunks to a new file: the engine of h5chunk.
 *
 * All datasets of the files are kept. A ring of slots reads, decodes, checks, encodes and stores
 * the rows; memory holds the grids and a few groups of rows.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_REWRITE_H
#define COV_JOB_CHUNKS_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/chunk/chunk_file.h"
#include "common/cli/stats.h"
#include "common/file/outfile.h"
#include "common/seq/grid.h"

/* Context of the jobs in this directory; job.stats must not be NULL. */
struct cov_rewrite_job {
    struct cov_job job;
    bool force; /* replace existing outputs */
};

/* Requested changes to the storage of the input. */
struct cov_rewrite_storage {
    bool has_compression, has_layout, has_type;
    struct cov_codec_choice compression; /* default: that of the input, judging by its filters */
    enum cov_layout layout;
    size_t chunk_rows;       /* 0: the default, 1, which several files need */
    struct cov_h5_type type; /* of coverage and predictions */
    /* COV_SHARD_ATTR of the output. NULL: that of the input if all its rows are written. */
    const char *shard;
};

/* "int16", "int32", "int64", "float32". */
extern const char *const cov_rewrite_types[];
struct cov_h5_type cov_rewrite_type(size_t index);

/* Bases per slot of a ring; short chunks share a slot. */
enum { COV_REWRITE_SLOT_BASES = 1 << 16 };

/* A row of one of the files. */
struct cov_rewrite_row {
    size_t file, row;
};

/* The new file: its row i is rows[i]. Everything is borrowed. */
struct cov_rewrite_plan {
    const char *const *paths;
    size_t n_files;
    struct cov_chunk_file *file; /* the template, whose head and storage are kept */
    size_t template;             /* its index; the other files are opened when they are needed */
    const struct cov_rewrite_row *rows;
    const struct cov_grid *grid;               /* of the new file */
    const struct cov_rewrite_storage *storage; /* NULL: that of the template */
    /* NULL: all datasets of the template. Otherwise: only the sets of `from`, which are the sets
     * of `to`, in the same order, except for names, and for prediction/predictions, of which `to`
     * has columns[] of `from` (NULL: all). */
    const struct cov_chunk_head *from, *to;
    const size_t *columns;
};

/* Writes the file to `path`, an outfile's temporary name, and reads some rows back. All files must
 * have the sets of the template. COV_EINPUT for damaged rows and values that do not fit the new
 * type; the message names file, dataset, row and position. Also if a layout is requested but
 * there are no bases, or a type but there is neither coverage nor predictions. */
int cov_rewrite(const struct cov_rewrite_plan *plan, const char *path, const struct cov_job *job,
                struct cov_err *e) COV_MUST_USE;

/* Writes the rows of one file for which wanted[] is true (NULL: all), in file order; the new file
 * is partial unless it has all rows. `storage`: NULL for that of the file. */
int cov_rewrite_rows(struct cov_chunk_file *file, const char *input, const bool *wanted,
                     const struct cov_rewrite_storage *storage, const char *path,
                     const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

/* Copies a head, with the type that `storage` (may be NULL) requests for coverage and
 * predictions. COV_EINPUT as above. Free with cov_chunk_head_fini. */
int cov_rewrite_head(const struct cov_chunk_head *from, const struct cov_rewrite_storage *storage,
                     const char *path, struct cov_chunk_head *to, struct cov_err *e) COV_MUST_USE;

/* Converts src, a row of the set `from`, to the type of `to`. `where` (file and row) is for
 * messages. */
int cov_rewrite_elems(const struct cov_chunk_set *from, const struct cov_chunk_set *to,
                      const uint8_t *src, uint8_t *dst, const char *where,
                      struct cov_err *e) COV_MUST_USE;

/* Returns room for one row of each set of `h`, by set; NULL after a failure. */
uint8_t **cov_rewrite_room(const struct cov_chunk_head *h, struct cov_arena *memory);

/* Begins an output; COV_EUSAGE if it is one of the n inputs, even under another name. */
int cov_rewrite_begin(struct cov_outfile *out, const char *path, const char *const *inputs,
                      size_t n, bool force, struct cov_err *e) COV_MUST_USE;

#endif
