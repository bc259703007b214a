/* profile_inputs.h - reads any number of inputs, one pass each, and names their tracks; their bins
 * side by side.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_INPUTS_H
#define COV_JOB_PROFILE_PROFILE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/features/annotation.h"
#include "common/plot/table_outputs.h"
#include "common/seq/names.h"
#include "common/signal/track_source.h"

/* An input that is being read. */
struct cov_profile_input {
    const char *path;
    const struct cov_track_source *source;
    const struct cov_source_options *o;
    struct cov_names *taken; /* names of the tracks so far */
    size_t number;           /* of the input */
};

/* What to do with the datasets of an input. */
struct cov_profile_reader {
    size_t sink_bytes; /* of a struct that begins with a sink, and is all zero; 0: *sink is NULL */
    /* Initialises, or makes, the sink of dataset k. */
    int (*open)(void *arg, const struct cov_profile_input *in, size_t k,
                struct cov_track_sink **sink, struct cov_err *e);
    /* Takes the results from the sink, which has been closed, and is freed after the call. */
    int (*take)(void *arg, const struct cov_profile_input *in, size_t k,
                struct cov_track_sink *sink, struct cov_err *e);
    void *arg;
};

/* An annotation to read. */
struct cov_profile_features {
    const char *path; /* NULL: none */
    const char *type; /* of the features, except for BED */
    bool needs_types; /* refuse a BED */
};

/* What all jobs of covprofile need. Borrowed for the call. */
struct cov_profile_request {
    char *const *inputs;
    size_t n_inputs;
    struct cov_source_options source;     /* except `factors` */
    struct cov_profile_features features; /* for the jobs that use some */
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
double cov_profile_missing(const struct cov_profile_input *in, const struct cov_track_sink *sink);

/* Names the track of dataset k after its file and, if there are several, the dataset. If another
 * track has that name, the file's whole path is used. Caller frees *out. */
int cov_profile_name(const struct cov_profile_input *in, size_t k, char **out,
                     struct cov_err *e) COV_MUST_USE;

/* Reads it as cov_annotation_read does. */
int cov_profile_features_read(const struct cov_profile_features *f, struct cov_annotation *out,
                              struct cov_err *e) COV_MUST_USE;

/* COV_EINPUT for a BED that is refused. */
int cov_profile_features_check(const struct cov_profile_features *f, const struct cov_annotation *a,
                               struct cov_err *e) COV_MUST_USE;

/* After a pass of a dataset of an input (0: its first): COV_EINPUT if the track has no values, if it
 * has none of the sequences with features, or if a feature ends after its sequence. Unless the options
 * choose regions, warns about features on sequences that the track lacks, for dataset 0. */
int cov_profile_features_fit(const struct cov_annotation *a, const struct cov_profile_input *in,
                             size_t dataset, const struct cov_track_sink *sink,
                             struct cov_err *e) COV_MUST_USE;

/* The parts of a job, in this order. */
struct cov_profile_steps {
    int (*read)(void *job, const struct cov_profile_request *request, struct cov_err *e);
    int (*measure)(void *job, struct cov_err *e); /* NULL: nothing to do */
    /* As in struct cov_table_writer. */
    cov_table_fn *print_table;
    int (*write_second)(const void *job, const struct cov_outfile *out, struct cov_err *e);
    int (*draw)(const void *job, const struct cov_picture *picture, struct cov_err *e);
    /* Adds the figures of the report, and tells the user. */
    int (*tell)(const void *job, struct cov_stats *stats, struct cov_err *e);
    /* As in struct cov_table_job. */
    void (*print_json)(struct cov_json *json, const void *job);
    void (*free_job)(void *job);
};

/* Runs the steps. All files appear under their names at once. Owns `job`, which lives until --stats
 * has been printed. */
int cov_profile_job_run(void *job, const struct cov_profile_steps *steps,
                        const struct cov_profile_request *request, struct cov_err *e) COV_MUST_USE;

/* ---- the means of the bins of several tracks, side by side ---- */

/* Empty if all zero. The rows are the bins of the first track. */
struct cov_track_bins {
    int64_t width;       /* set by the caller, like: */
    bool first_is_track; /* COV_EINPUT if the first input has several datasets */
    size_t n;            /* tracks */
    char **names;        /* [n]. Owned */
    char **files;        /* [n]: their inputs, for messages. Owned */
    double **means;      /* [n][n_rows]; NaN: no value. Owned */
    size_t n_rows;
    /* Private. */
    struct cov_names *contigs;
    char *first_input;
    size_t *first;    /* [contigs + 1]: where the rows of a contig begin. Owned */
    int64_t *lengths; /* [contigs]; 0: not known. Owned */
    size_t cap_first, cap_lengths, cap_names, cap_files, cap_means;
};

/* Reads the inputs. COV_EINPUT if one has no values, if it shares no contig with the first, or if a
 * contig has another length there. Free with cov_track_bins_fini, also after a failure. */
int cov_track_bins_read(struct cov_track_bins *t, const struct cov_profile_request *request,
                        struct cov_err *e) COV_MUST_USE;
void cov_track_bins_fini(struct cov_track_bins *t);

struct cov_bin_place {
    const char *name; /* of the contig, borrowed until fini */
    size_t contig;
    int64_t beg, end;
    bool is_first, is_last; /* of the contig */
};
/* Returns where a row is. */
struct cov_bin_place cov_track_bins_place(const struct cov_track_bins *t, size_t row);

/* Keeps the rows of values[n][n_rows] that have a value, not NaN, in all columns, at the start of
 * the columns. Returns their number. */
size_t cov_rows_keep_whole(double *const *values, size_t n, size_t n_rows);

/* Fails because only n_rows bins, or features, are left of n tracks. `what`: "bin" or "feature";
 * `needs`: what they are too few for. */
int cov_rows_fail_few(const char *const *names, size_t n, size_t n_rows, const char *what,
                      const char *needs, struct cov_err *e) COV_MUST_USE;

#endif
