/* stats.h - results, time and memory of a run, which --stats writes to a file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_STATS_H
#define COV_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/pool.h"
#include "common/base/progress.h"

#define COV_STATS_MAX_STAGES 16

/* A result that a report shows. */
struct cov_stats_figure {
    char name[32];  /* of the value in the file */
    char title[32]; /* of the column */
    char description[96];
    const char *suffix; /* the unit, after a space; NULL: none */
    char bar[32];       /* title of its bars in the plot; "": not in the plot */
    int decimals;
    bool is_score;  /* at most 1, and 1 is best */
    bool is_hidden; /* the reader of the report has to ask for the column */
    double value;   /* NaN: none */
    char *part;     /* what it describes, such as a dataset; NULL: everything. Owned */
};

/* Where a MultiQC report shows a run. */
enum cov_stats_place {
    COV_STATS_TABLE,           /* a table of the tool: figures, time and memory */
    COV_STATS_GENERAL_COSTS,   /* time and memory are columns of the general statistics */
    COV_STATS_GENERAL_FIGURES, /* the figures are */
};

enum cov_stats_plot_type {
    COV_STATS_BARS, /* for each part, the figures that have a title `bar` */
    COV_STATS_LINES,
    COV_STATS_CELLS, /* a map, in a section of each sample */
};

/* A graph in a MultiQC report. */
struct cov_stats_plot {
    enum cov_stats_plot_type type;
    const char *name;    /* a word, for the id and the file name */
    const char *section; /* its title in the report */
    const char *description;
    const char *x_axis;  /* of lines; of cells: what the columns are */
    const char *rows;    /* of cells: what the rows are */
    const char *axis;    /* of the values */
    bool is_correlation; /* cells: colours are from -1 to 1; otherwise of the values */
    /* Adds the data of lines (an object with an array of pairs x, y for each row) or cells (xcats,
     * ycats and an array of rows) to the open object. `more` is that of cov_stats_set_more. */
    void (*put_data)(const void *more, const char *sample, struct cov_json *j);
};

/* What earlier runs, from which this one resumed, computed of its output. */
struct cov_stats_earlier {
    int64_t bases, chunks; /* negative: not applicable */
    bool has_times;        /* the rest is known */
    int n_runs;
    double wall_seconds, cpu_seconds; /* sums; of a killed run: until it last kept a result */
};

/* The jobs that predicted the shards of a file. Seconds are NaN if those of a job are unknown. */
struct cov_stats_shards {
    int n;
    int64_t bases, chunks;            /* sums */
    double wall_seconds, cpu_seconds; /* sums */
    int64_t threads, peak_rss_bytes;  /* of the job that had most */
};

/* A job fills it. Negative numbers mean "not applicable" and are left out of the file. */
struct cov_stats {
    const char *tool, *version;
    const char *section; /* the title in a report: "h5chunk info"; NULL: `tool` */
    enum cov_stats_place place;
    const struct cov_stats_plot *plot; /* NULL: none */
    struct cov_stats_shards shards;    /* n = 0: none */
    struct cov_stats_earlier earlier;  /* chunks = bases = -1 and no times: none */
    char *command;                     /* the command line, quoted for a shell. Owned */
    char **inputs;                     /* Owned, like each string */
    int n_inputs;
    char *model, *model_sha256; /* file of the model that the run used; NULL: none. Owned */
    struct cov_stats_source {   /* an attribute of an input: how it was made */
        char *path, *name, *text;
    } * sources; /* [n_sources], those of an input together. Owned, like each string */
    int n_sources;
    char *region;          /* of the genome that was predicted; NULL: unknown. Owned */
    char *device;          /* Owned; NULL: "cpu" */
    const char *precision; /* NULL: there is no choice; written as null */
    char *products;        /* what computes products on a GPU. Owned; NULL: there is no choice */
    unsigned threads;
    int64_t bases, chunks; /* of the output, by whichever run */
    int64_t positions_computed, positions_at_rest, chunks_repeated; /* by this run */
    struct {
        const char *name;
        double seconds;
    } stages[COV_STATS_MAX_STAGES];
    int n_stages;
    struct cov_stats_figure *figures; /* Owned */
    int n_figures;
    char *events; /* messages as lines of a log; NULL: not recorded. Owned */
    /* Private: see cov_stats_set_more. */
    void (*print_more)(struct cov_json *j, const void *more);
    void (*free_more)(void *more);
    void *more;
    double wall_seconds, cpu_seconds;
    int64_t peak_rss_bytes;
    double started; /* monotonic clock */
};

/* Starts the clock. `tool` and `version` must outlive *s. */
void cov_stats_init(struct cov_stats *s, const char *tool, const char *version);
void cov_stats_fini(struct cov_stats *s);
int cov_stats_set_command(struct cov_stats *s, int argc, char **argv,
                          struct cov_err *e) COV_MUST_USE;
/* Returns the words quoted for a shell. Caller frees. */
char *cov_command_text(int argc, const char *const *argv, struct cov_err *e) COV_MUST_USE;
/* Adds the path of an input unless it was added before. */
int cov_stats_add_input(struct cov_stats *s, const char *path, struct cov_err *e) COV_MUST_USE;
/* Names the model. */
int cov_stats_set_model(struct cov_stats *s, const char *path, const char *sha256,
                        struct cov_err *e) COV_MUST_USE;
/* Adds an attribute that says how the input `path` was made, unless it was added before. */
int cov_stats_add_source(struct cov_stats *s, const char *path, const char *name, const char *text,
                         struct cov_err *e) COV_MUST_USE;
/* Adds to the time of the stage `name`, a string that must outlive *s. If there are more than
 * COV_STATS_MAX_STAGES names, the last stage collects the times of the rest. */
void cov_stats_add_stage(struct cov_stats *s, const char *name, double seconds);
/* Adds a copy of *figure that describes `part` (NULL: everything). `suffix` must outlive *s. A tool
 * adds the same figures in each run, with NaN for those that it cannot tell, so that the tables of
 * all runs have the same columns. */
int cov_stats_add_figure(struct cov_stats *s, const char *part,
                         const struct cov_stats_figure *figure, struct cov_err *e) COV_MUST_USE;
/* Adds the n figures. */
int cov_stats_add_figures(struct cov_stats *s, const char *part,
                          const struct cov_stats_figure *figures, size_t n,
                          struct cov_err *e) COV_MUST_USE;
/* Lets `print` add members to the top-level object. Owns `more`, which free_it frees. Call it
 * once. */
void cov_stats_set_more(struct cov_stats *s, void (*print)(struct cov_json *j, const void *more),
                        void (*free_it)(void *more), void *more);
/* Adds a job that predicted a shard to s->shards. `path` is the file that its --stats wrote. Fails
 * with COV_EINPUT if it is another file. */
int cov_stats_add_shard(struct cov_stats *s, const char *path, struct cov_err *e) COV_MUST_USE;
/* Returns the bases without those of earlier runs. */
int64_t cov_stats_bases_of_run(const struct cov_stats *s);
/* Stops the clock, and sets the wall time, the CPU time of all threads and the peak memory. */
void cov_stats_finish(struct cov_stats *s);
/* Adds the statistics to the open object; rates are per second of wall time. */
void cov_stats_put(const struct cov_stats *s, struct cov_json *j);

/* What a job of common/job needs in addition to inputs and options. All are borrowed. */
struct cov_job {
    struct cov_pool *pool;         /* computes */
    struct cov_progress *progress; /* NULL: not shown */
    struct cov_stats *stats;       /* gets counts and stages; NULL where the job allows it */
};

#endif
