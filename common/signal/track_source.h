/* track_source.h - an input read as one track per dataset: signal (HDF5 files and chunk streams)
 * or a track (bigWig, bedGraph).
 *
 * The caller provides the sinks, such as output files, a comparison or a search for peaks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SIGNAL_TRACK_SOURCE_H
#define COV_SIGNAL_TRACK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/cli/shared_options.h"
#include "common/cli/stats.h"
#include "common/file/bgz.h"
#include "common/seq/regions.h"
#include "common/track/sink.h"
#include "common/track/smooth.h"
#include "common/track/value_pipe.h"

struct cov_grid;
struct cov_h5;
struct cov_track_contig;

/* What to read, and how to make tracks from it. Strings are borrowed until the source is closed. */
struct cov_source_options {
    bool measured;               /* signal: measured coverage of a genome file, not predictions */
    struct cov_strings datasets; /* in the order of the sinks; n = 0: all */
    const char *chosen_with;     /* an option for other ones, which a message names; NULL: none */
    bool replicates; /* measured: each column (BAM file) of a dataset instead of their mean */
    enum cov_strand strand;
    const char *smooth; /* for cov_source_options_finish; NULL: none */
    struct cov_value_rules values;
    const double *factors; /* [n_datasets of the source]: multiply the scale; NULL: 1 */
    const struct cov_operands *operands; /* [n_datasets of the source]: other tracks; NULL: none */
    /* Drop all bases outside these and those of the BED file. Parts for cov_region_text, with the
     * input's names. */
    struct cov_strings regions;
    const char *bed_path;         /* NULL: none */
    const char *blacklist_path;   /* NULL: none */
    const char *rename_path;      /* NULL: none */
    const char *sizes_path;       /* lengths of the contigs of a bedGraph; NULL: none */
    bool fill_gaps;               /* tracks: bases without a value are 0; needs lengths */
    bool quiet;                   /* no warnings about lists and gaps */
    const struct cov_range *only; /* read only the contig with this new name; NULL: all */
};

/* Returns true if the options choose no regions and drop none. */
bool cov_source_is_whole(const struct cov_source_options *o);

struct cov_track_source;
struct cov_source_rows;

/* One kind of input; see the functions below. */
struct cov_source_type {
    int (*keep)(struct cov_track_source *s, const size_t *which, size_t n, struct cov_err *e);
    int (*run)(struct cov_track_source *s, struct cov_track_sink *const *sinks, const char *what,
               const struct cov_job *job, struct cov_err *e);
    double (*denominator)(const struct cov_track_source *s, size_t k);           /* NULL: 0 */
    bool (*rows)(const struct cov_track_source *s, struct cov_source_rows *out); /* NULL: false */
    int (*describe)(const struct cov_track_source *s, struct cov_stats *stats, struct cov_err *e);
    void (*close)(struct cov_track_source *s);
};

/* Strings and arrays are borrowed until close. */
struct cov_track_source {
    const struct cov_source_type *type; /* private */
    const char *name;                   /* for messages */
    const char *label;                  /* for a legend: "predicted", "measured" or "track" */
    bool is_track;                      /* it has one dataset, without a name */
    bool has_lengths; /* false: a bedGraph without a list of lengths; contigs end with their last
                       * interval */
    size_t n_datasets;
    const char **datasets;                   /* names; NULL for a track */
    const struct cov_track_contigs *contigs; /* for the sinks; NULL: contigs are announced */
    unsigned n_threads;                      /* private */
};

/* An input whose kind is known. Empty if all zero. */
struct cov_source_input {
    const char *path;   /* borrowed */
    struct cov_bgz *in; /* for pipes: open and unread. Owned */
    bool is_track;
};

/* Detects what `path` is; it may be a pipe. Starts no threads. */
int cov_source_input_detect(const char *path, struct cov_source_input *input,
                            struct cov_err *e) COV_MUST_USE;
void cov_source_input_close(struct cov_source_input *input);

/* Chooses measured coverage if the file is a genome file, which has measured coverage or none, but no
 * predictions. Errors are left to the next function that opens the file. */
void cov_source_options_detect(struct cov_source_options *o, const char *path);

/* One of several inputs, with the options that fit its kind. The caller opens and closes `source`. */
struct cov_joint_input {
    struct cov_source_input in;
    struct cov_source_options o;
    struct cov_track_source *source;
};

/* Gives the options to the inputs, whose kinds are known, that they are for; genome files are measured.
 * COV_EINPUT for an option without such an input, or later from the source if there is only one. */
int cov_joint_inputs_share(struct cov_joint_input *list, size_t n,
                           const struct cov_source_options *o, struct cov_err *e) COV_MUST_USE;

/* Opens `input` (which is empty afterwards) and reads the lists named in the options, which are
 * borrowed until close. COV_EINPUT for options that do not fit the input. Opening HDF5 forks: call
 * this before starting threads. BGZF is decompressed by n_threads threads if n_threads > 1. */
int cov_track_source_open(struct cov_source_input *input, const struct cov_source_options *o,
                          unsigned n_threads, struct cov_track_source **out,
                          struct cov_err *e) COV_MUST_USE;
/* The same for `path`, whose kind is not known yet. */
int cov_track_source_open_path(const char *path, const struct cov_source_options *o,
                               unsigned n_threads, struct cov_track_source **out,
                               struct cov_err *e) COV_MUST_USE;
void cov_track_source_close(struct cov_track_source *s); /* NULL is accepted */

/* COV_EINPUT, with their names, unless there is one dataset. `option` would choose one:
 * "--datasets". */
int cov_track_source_check_single(const struct cov_track_source *s, const char *option,
                                  struct cov_err *e) COV_MUST_USE;

/* Called before the run: keeps only the n datasets in which[], in this order. */
int cov_track_source_keep(struct cov_track_source *s, const size_t *which, size_t n,
                          struct cov_err *e) COV_MUST_USE;

/* Returns d if the values of dataset k are integers divided by d, otherwise 0. */
double cov_track_source_denominator(const struct cov_track_source *s, size_t k);

/* Adds the attributes of the input, which say how it was made, to the statistics (NULL: none). */
int cov_track_source_describe(const struct cov_track_source *s, struct cov_stats *stats,
                              struct cov_err *e) COV_MUST_USE;

/* The rows of a file, for other_input.c. Borrowed until the source is closed. */
struct cov_source_rows {
    struct cov_h5 *h5;
    const struct cov_grid *grid;
    const struct cov_track_contig *contigs; /* sorted bytewise by name */
    size_t n_contigs;
};

/* Returns false for tracks and streams. */
bool cov_track_source_rows(const struct cov_track_source *s, struct cov_source_rows *out);

/* Reads the whole input once, writes each dataset to its sink, and closes the sinks. Different
 * sinks are used by different threads. `what` labels the progress ("converting"). Without a pool in
 * *job, n_threads threads are started for the call. COV_EINPUT names the place of damaged or
 * missing data. */
int cov_track_source_run(struct cov_track_source *s, struct cov_track_sink *const *sinks,
                         const char *what, const struct cov_job *job,
                         struct cov_err *e) COV_MUST_USE;

/* The two kinds, for cov_track_source_open: signal_input.c and track_input.c. `in` is the input if
 * it is already open, or NULL. Both own `in`, even after a failure. */
int cov_signal_input_open(const char *path, struct cov_bgz *in, const struct cov_source_options *o,
                          struct cov_track_source **out, struct cov_err *e) COV_MUST_USE;
int cov_track_input_open(const char *path, struct cov_bgz *in, const struct cov_source_options *o,
                         unsigned n_threads, struct cov_track_source **out,
                         struct cov_err *e) COV_MUST_USE;

/* ---- options of tools that read signal or a track, as in common/cli/shared_options.h ---- */

/* Indices of the first rows within the group. */
enum { COV_SOURCE_ROW_REGIONS, COV_SOURCE_ROW_REGIONS_FILE };

extern const char *const cov_source_strands[]; /* ended by NULL */

#define COV_SOURCE_FIELD(at, name) (at) + offsetof(struct cov_source_options, name)

/* Ten rows, which fill a struct cov_source_options at offset `at`; without smoothing eight, and
 * without regions two fewer. `does`: what the tool does with coverage, such as "convert"; `names`:
 * the help of --datasets; `keeps`: what it does with regions; `lengths`: when a bedGraph needs
 * lengths. */
#define COV_SOURCE_OPTIONS(at, does, names, keeps, lengths)                                        \
    COV_SOURCE_REGION_OPTIONS(at, keeps), COV_SOURCE_OPTIONS_WHOLE(at, does, names, lengths)
#define COV_SOURCE_OPTIONS_UNSMOOTHED(at, does, names, keeps, lengths)                             \
    COV_SOURCE_REGION_OPTIONS(at, keeps), COV_SOURCE_DATA_OPTIONS(at, does, names),                \
        COV_SOURCE_LIST_OPTIONS(at, lengths)
#define COV_SOURCE_OPTIONS_WHOLE(at, does, names, lengths)                                         \
    COV_SOURCE_DATA_OPTIONS(at, does, names),                                                      \
        COV_OPT(SIZE, "window-size", 0, COV_SOURCE_FIELD(at, values.smoothing.window), "N",        \
                "smooth with a centred moving mean over N bases", .min = 1,                        \
                .max = COV_SMOOTH_MAX_WINDOW),                                                     \
        COV_OPT(STRING, "smooth", 0, COV_SOURCE_FIELD(at, smooth), "gauss:SD",                     \
                "smooth with a Gaussian whose standard deviation is SD bases"),                    \
        COV_SOURCE_LIST_OPTIONS(at, lengths)

/* Parts of the above. */
#define COV_SOURCE_REGION_OPTIONS(at, keeps)                                                       \
    COV_REGIONS_OPTION(COV_SOURCE_FIELD(at, regions), keeps " only"),                              \
        COV_REGIONS_FILE_OPTION(COV_SOURCE_FIELD(at, bed_path), keeps " only")
#define COV_SOURCE_DATA_OPTIONS(at, does, names)                                                   \
    COV_OPT(FLAG, "experimental", 0, COV_SOURCE_FIELD(at, measured), NULL,                         \
            "INPUT is a genome file: " does " its measured coverage, the mean of its BAM "         \
            "files"),                                                                              \
        COV_OPT(LIST, "datasets", 0, COV_SOURCE_FIELD(at, datasets), "LIST", names,                \
                .flags = COV_OPT_UNIQUE),                                                          \
        COV_OPT(ENUM, "strand", 0, COV_SOURCE_FIELD(at, strand), NULL,                             \
                "mean of both strands, or one of them", .def = "avg",                              \
                .choices = cov_source_strands)
#define COV_SOURCE_LIST_OPTIONS(at, lengths)                                                       \
    COV_BLACKLIST_FILE_OPTION(COV_SOURCE_FIELD(at, blacklist_path), "drop"),                       \
        COV_RENAME_OPTION(COV_SOURCE_FIELD(at, rename_path)),                                      \
        COV_OPT(STRING, "chrom-sizes", 0, COV_SOURCE_FIELD(at, sizes_path), "FILE",                \
                "two columns: name and length of each sequence of a bedGraph" lengths              \
                "; or the FASTA file's index (.fai)",                                              \
                .flags = COV_OPT_PATH_IN)

/* A row for tools in which bases without a value would not count. */
#define COV_FILL_GAPS_OPTION(at)                                                                   \
    COV_OPT(FLAG, "fill-gaps", 0, COV_SOURCE_FIELD(at, fill_gaps), NULL,                           \
            "bigWig, bedGraph: count bases without a value as 0")

/* A row for tools that compare tracks. */
#define COV_REPLICATES_OPTION(at)                                                                  \
    COV_OPT(FLAG, "replicates", 0, COV_SOURCE_FIELD(at, replicates), NULL,                         \
            "genome files: read each BAM file of a dataset as a track of its own, instead of "     \
            "their mean")

/* Completes the options after their rows: the smoothing, and a scale of 1. COV_EUSAGE for two ways of
 * smoothing. */
int cov_source_options_finish(struct cov_source_options *o, struct cov_err *e) COV_MUST_USE;

#endif
