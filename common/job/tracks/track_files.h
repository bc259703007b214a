/* track_files.h - the output files of a conversion: their names, formats and indexes, one track a
 * data set.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_TRACK_FILES_H
#define COV_JOB_TRACKS_TRACK_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/outfile.h"
#include "common/base/pool.h"
#include "common/track/sink.h"

enum cov_track_kind { COV_TRACK_BIGWIG, COV_TRACK_BEDGRAPH, COV_TRACK_BEDGRAPH_GZ };

/* Where tracks go. Texts are borrowed for the call. */
struct cov_track_target {
    const char *output; /* a file whose suffix tells the kind, "-" (bedGraph), or a folder */
    bool force;
    struct cov_pool *pool; /* compresses bigWig; NULL: the caller does. Borrowed until the end */
    const char *tmpdir;    /* for what bigWig puts aside; NULL: the folder of the output */
    /* For a folder. Files are named <basename>_<dataset><tail>.<suffix of the kind>, without
     * _<dataset> where that is NULL. */
    const char *basename;
    const char *tail;
    enum cov_track_kind kind;
};

/* The kind of the file `path`: .bw .bigWig .bedGraph .bg .bedGraph.gz .bg.gz in letters of any
 * case, or "-" for bedGraph. COV_EUSAGE lists them. */
int cov_track_kind_of(const char *path, enum cov_track_kind *kind, struct cov_err *e) COV_MUST_USE;

struct cov_track_files;

/* Opens one track for each of the data sets. COV_EUSAGE for several of them and a single file;
 * COV_EINPUT for a name of a data set that cannot be part of a file's name. `n_threads` compress
 * bedGraph, all files together. Borrows the contigs; NULL: they are announced to the sinks. Free
 * with cov_track_files_free. */
int cov_track_files_open(const struct cov_track_target *target,
                         const struct cov_track_contigs *contigs, const char *const *datasets,
                         size_t n_datasets, unsigned n_threads, struct cov_track_files **out,
                         struct cov_err *e) COV_MUST_USE;

/* Track k < n_datasets. Different tracks may be used by different threads. */
struct cov_track_sink *cov_track_files_sink(const struct cov_track_files *f, size_t k);

/* All tracks have been closed: gives all files, and `also` (may be NULL), their names. When that
 * fails for one none keeps it. */
int cov_track_files_commit(struct cov_track_files *f, struct cov_outfile *also,
                           struct cov_err *e) COV_MUST_USE;

/* What has not been committed is removed. NULL is accepted. */
void cov_track_files_free(struct cov_track_files *f);

#endif
