/* track_files.h - the output files of a conversion, one track per dataset: names, formats,
 * indexes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_TRACK_FILES_H
#define COV_JOB_TRACKS_TRACK_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/file/outfile.h"
#include "common/track/sink.h"

enum cov_track_kind { COV_TRACK_BIGWIG, COV_TRACK_BEDGRAPH, COV_TRACK_BEDGRAPH_GZ };

/* Where to write tracks. Strings are borrowed for the call. */
struct cov_track_target {
    const char *output; /* a file whose suffix selects the kind, "-", or a directory */
    bool force;
    struct cov_pool *pool; /* compresses bigWig; NULL: the calling thread does. Borrowed until
                            * free */
    const char *tmpdir;    /* for temporary files of bigWig; NULL: the directory of the output; for
                            * "-", the current directory */
    enum cov_track_kind kind; /* for a directory or "-" */
    /* For a directory. Files are named <basename>_<dataset><tail>.<suffix>, or without _<dataset> if
     * the name of the dataset is NULL. */
    const char *basename;
    const char *tail;
};

/* Sets *kind from the suffix of `path`: .bw .bigWig .bedGraph .bg .bdg, or the last three with .gz,
 * in upper or lower case, or "-" for bedGraph. COV_EUSAGE lists the suffixes. */
int cov_track_kind_of(const char *path, enum cov_track_kind *kind, struct cov_err *e) COV_MUST_USE;

struct cov_track_files;

/* Opens one track per dataset. COV_EINPUT for several datasets and a single file, and for
 * a dataset name that cannot be part of a file name. All files share n_threads threads that
 * compress bedGraph. Borrows the contigs; NULL: they are announced to the sinks. Free with
 * cov_track_files_free. */
int cov_track_files_open(const struct cov_track_target *target,
                         const struct cov_track_contigs *contigs, const char *const *datasets,
                         size_t n_datasets, unsigned n_threads, struct cov_track_files **out,
                         struct cov_err *e) COV_MUST_USE;

/* Track k < n_datasets. Different tracks may be used by different threads. */
struct cov_track_sink *cov_track_files_sink(const struct cov_track_files *f, size_t k);

/* After all tracks have been closed: gives all files their final names, or none of them after
 * a failure. */
int cov_track_files_commit(struct cov_track_files *f, struct cov_err *e) COV_MUST_USE;

/* Deletes what has not been committed. NULL is accepted. */
void cov_track_files_free(struct cov_track_files *f);

#endif
