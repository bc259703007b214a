/* track_jobs.h - the jobs of cov2bigwig: converts signal in HDF5, and tracks, to coverage tracks (like
 * Predmoter's convert2coverage); with --measured, says how well they agree with measured ones.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_TRACK_JOBS_H
#define COV_JOB_TRACKS_TRACK_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/file/outfile.h"
#include "common/signal/track_source.h"
#include "common/track/interval_store.h"
#include "common/track/measures/comparison.h"
#include "common/track/sink.h"

/* ---- output files (convert.c), one track per dataset: names, formats, indexes ---- */

enum cov_track_kind { COV_TRACK_BIGWIG, COV_TRACK_BEDGRAPH, COV_TRACK_BEDGRAPH_GZ };

/* Where to write tracks. Strings are borrowed for the call. */
struct cov_track_target {
    const char *output; /* a file whose suffix selects the kind, "-", or a directory */
    bool force;
    struct cov_pool *pool; /* compresses bigWig; NULL: the calling thread does. Borrowed until
                            * free */
    const char *tmpdir;    /* for temporary files of bigWig; NULL: the directory of the output; for
                            * "-", the current directory */
    enum cov_track_kind kind; /* that of the suffix of a file */
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

/* The name of the file of track k. */
const char *cov_track_files_name(const struct cov_track_files *f, size_t k);

/* After all tracks have been closed: gives all files, and the outputs more[0..n_more), their final names,
 * or none of them after a failure. */
int cov_track_files_commit(struct cov_track_files *f, struct cov_outfile *more, size_t n_more,
                           struct cov_err *e) COV_MUST_USE;

/* Deletes what has not been committed. NULL is accepted. */
void cov_track_files_free(struct cov_track_files *f);

/* ---- a hub (hub.c): what opens the files of a directory in genome browsers ----
 *
 * hub.txt for UCSC, config.json for JBrowse 2, index.html with igv.js, and chrom.sizes. They show the
 * tracks of the run, and what is in the directory: bigWig, bigBed, peaks, BED, GFF3 and GTF, and a
 * .2bit file with the bases. */

enum { COV_HUB_FILES = 4 };

struct cov_hub_target {
    const char *dir;
    const char *name;          /* of the genome */
    const char *igv;           /* the address of igv.js, relative to `dir` */
    const char *const *tracks; /* [n_tracks]: paths of those that are not there yet */
    size_t n_tracks;
    const struct cov_track_sink *sink; /* one of them, which has the sequences */
};

/* Begins the outputs, which are COV_OUTFILE_INIT; the caller ends them. */
int cov_hub_begin(struct cov_outfile files[COV_HUB_FILES], const char *dir, bool force,
                  struct cov_err *e) COV_MUST_USE;
/* Writes them after the tracks; the caller commits them. */
int cov_hub_write(const struct cov_outfile files[COV_HUB_FILES],
                  const struct cov_hub_target *target, struct cov_err *e) COV_MUST_USE;

/* ---- conversion (convert.c) ---- */

/* A track is divided by the sum of the values of all its bases outside the blacklist, and
 * multiplied by 1000000 (CPM). */
enum cov_normalization { COV_NORMALIZE_NONE, COV_NORMALIZE_CPM };

/* Strings are borrowed for the call. */
struct cov_convert_options {
    struct cov_source_options source; /* except `only` and `factors` */
    enum cov_normalization normalization;
    struct cov_strings others; /* files for source.values.operation; n = 0: none */
    const char *output;        /* a file whose suffix selects the format; "-"; a directory */
    bool force;
    const char *tmpdir;       /* for temporary files of bigWig; NULL: the directory of the output */
    const char *basename;     /* for a directory; NULL: the input's stem */
    bool has_kind;            /* for a directory or "-" */
    enum cov_track_kind kind; /* if has_kind; otherwise BIGWIG, for "-" BEDGRAPH */
    bool is_hub;              /* also write a hub to `output`, a directory */
    const char *igv;          /* for the hub: the address of igv.js */
};

/* Converts `input`: signal (HDF5 or a stream) or a track, detected by content. For each dataset and
 * contig: averages both strands (or takes one) and rounds; smooths and rounds; normalizes and
 * scales; takes means of bins; filters. To normalize, reads the input twice; it must be a file.
 * Float predictions and tracks are not rounded. With an operation, makes tracks of all inputs (by
 * the options that fit each), combines them, and filters the results; temporary files in `tmpdir`,
 * or in the directory of the output, hold those of `others`. Contigs are sorted bytewise by their new names,
 * except those of streams and tracks. All outputs appear together when they are complete; a failed
 * run leaves none. Memory holds the chunks in flight, the smoothing window, and buffers of the
 * formats. Starts n_threads threads after the input is open. COV_EUSAGE for contradictory options,
 * COV_EINPUT for those that do not fit the input. Sets bases, chunks and stages of *stats;
 * `progress` and `stats` may be NULL. */
int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e) COV_MUST_USE;

/* ---- another input (other_input.c) ---- */

/* Before the runs: keeps the datasets whose names both have, in the same order, with a warning if
 * that drops some of `source`, or COV_EINPUT if they were `chosen`. A track has no names: then both
 * must have one dataset. */
int cov_other_match(struct cov_track_source *source, struct cov_track_source *other, bool chosen,
                    struct cov_err *e) COV_MUST_USE;

/* Reads the whole `other` to stores[], one per dataset, which the caller frees, also after a failure.
 * COV_EINPUT if both inputs know their bases, and these differ in a contig that both have. `which`
 * names the stage of the statistics ("measured"). */
int cov_other_store(const struct cov_track_source *source, struct cov_track_source *other,
                    const char *dir, const char *which, const struct cov_job *job,
                    struct cov_interval_store **stores, struct cov_err *e) COV_MUST_USE;

/* Warns of contigs that only one of two inputs has, by the sink of a track and a stored one; COV_EINPUT
 * if they share none, or one has different lengths (a contig whose length is unknown ends with its last
 * interval). Contigs that are announced are known after the runs. `blacklist` may have dropped some
 * (NULL: none). */
int cov_other_check_contigs(const struct cov_track_source *source,
                            const struct cov_track_sink *track,
                            const struct cov_track_source *other, struct cov_interval_store *store,
                            const char *blacklist, struct cov_err *e) COV_MUST_USE;

/* ---- comparison (compare.c) ---- */

/* Memory for counting pairs of values, for all datasets and bin sizes together; see
 * comparison.h. */
enum { COV_COMPARE_MEMORY = 256000000, COV_COMPARE_MAX_BIN_SIZES = 16 };

struct cov_compare_options {
    /* How to make the tracks of the input. `output` is the file of the table; if it is NULL or "-",
     * the table goes to `printed`. */
    struct cov_convert_options input;
    FILE *printed;
    bool is_short;        /* print the totals only, aligned for a terminal */
    const char *measured; /* a bigWig, a bedGraph, or a genome file or stream with coverage */
    /* Bin sizes, each once, 1 to COV_COMPARE_MAX_BIN_SIZES of them; peaks. The job sets the rest. */
    struct cov_comparison_options comparison;
};

/* Compares the tracks of `input`, made like those of cov_convert_run, with the measured file, that
 * is, with the mean over its BAM files and both strands (or the requested strand). Means of
 * measured coverage are not rounded, unlike those of tracks: many BAM files of low coverage would
 * all become 0. Datasets of two HDF5 inputs are matched by name; to compare an HDF5 input with a
 * track, there must be exactly one dataset. Writes a tab-separated table with rows for each contig
 * of a dataset and for its total; *stats gets "comparison". Warns about contigs that only one input
 * has. The measured tracks are stored in temporary files in `tmpdir`, or in the directory of the
 * output, or in the current directory. COV_EUSAGE for contradictory options. COV_EINPUT for options
 * that do not fit the files, damaged files, contigs of different lengths or bases (the message
 * names both), or if nothing is shared. Borrows `options` and `input` until --stats has been
 * printed. */
int cov_compare_run(const char *input, struct cov_compare_options *options, unsigned n_threads,
                    struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e) COV_MUST_USE;

/* For stats->plot: the correlations, in a MultiQC report. */
extern const struct cov_stats_plot cov_compare_plot;

#endif
