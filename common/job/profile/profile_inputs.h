/* profile_inputs.h - reads any number of inputs, one pass each, and names their tracks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_INPUTS_H
#define COV_JOB_PROFILE_PROFILE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/features/annotation.h"
#include "common/job/source/track_source.h"
#include "common/job/table_outputs.h"
#include "common/seq/names.h"

/* What to do with an input. */
struct cov_profile_reader {
    /* Sets sinks[] for the data sets of the source. */
    int (*begin)(void *arg, const char *path, const struct cov_track_source *source,
                 struct cov_track_sink **sinks, struct cov_err *e);
    /* Called when the sinks have been closed. */
    int (*check)(void *arg, const struct cov_track_source *source,
                 const struct cov_source_options *o, struct cov_err *e);
    /* Frees the sinks. Called if begin was, even after a failure. */
    void (*end)(void *arg, const struct cov_track_source *source);
    void *arg;
};

/* What all jobs of covprofile need. Borrowed for the call. */
struct cov_profile_request {
    char *const *inputs;
    size_t n_inputs;
    struct cov_source_options source; /* except `factors` */
    struct cov_table_paths paths;
    unsigned n_threads;
    struct cov_progress *progress;
    struct cov_stats *stats;
};

/* Reads each input once. HDF5 inputs are measured coverage with source.measured or if they have no
 * predictions. Options for one kind of input do not apply to the others; COV_EINPUT if no input
 * is of that kind. */
int cov_profile_inputs_read(const struct cov_profile_request *request,
                            const struct cov_profile_reader *r, struct cov_err *e) COV_MUST_USE;

/* Returns the share of the bases without a value, and warns if they are many; NaN if the options
 * choose regions, or lengths are not known. */
double cov_profile_missing(const struct cov_track_sink *sink, const struct cov_track_source *source,
                           const struct cov_source_options *o);

/* Names a track after its file and `dataset` (NULL: none). If another track has that name, the
 * file's whole path is used. Adds the name to `taken`. Caller frees *out. */
int cov_profile_name(struct cov_names *taken, const char *path, const char *dataset, char **out,
                     struct cov_err *e) COV_MUST_USE;

/* An annotation to read. */
struct cov_profile_features {
    const char *path;
    const char *type; /* of the features, except for BED */
    bool needs_types; /* refuse a BED */
};

/* Reads it as cov_annotation_read does. */
int cov_profile_features_read(const struct cov_profile_features *f, struct cov_annotation *out,
                              struct cov_err *e) COV_MUST_USE;

/* COV_EINPUT for a BED that is refused. */
int cov_profile_features_check(const struct cov_profile_features *f, const struct cov_annotation *a,
                               struct cov_err *e) COV_MUST_USE;

#endif
