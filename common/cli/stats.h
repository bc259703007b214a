/* stats.h - what a run did and what it cost: the file of --stats.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_STATS_H
#define COV_CLI_STATS_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"

#define COV_STATS_MAX_STAGES 16

/* What a report shows of a run besides its cost. */
struct cov_stats_figure {
    char *part; /* what it is of, as a data set; NULL: of all. Owned */
    char name[32];
    const char *description; /* a phrase */
    int decimals;
    double value; /* NaN: there is none */
};

/* Filled by a job. A negative number means that it does not apply and is left out. */
struct cov_stats {
    const char *tool, *version;
    const char *section; /* what a report calls it: "h5chunk info"; NULL: `tool` */
    char *command;       /* the command line, quoted for a shell. Owned */
    char **inputs;       /* Owned, as is each */
    int n_inputs;
    char *device;          /* Owned; NULL: "cpu" */
    const char *precision; /* NULL: there is no choice of one; null in the file */
    unsigned threads;
    int64_t bases, chunks, positions_computed, positions_at_rest, chunks_repeated;
    struct {
        const char *name;
        double seconds;
    } stages[COV_STATS_MAX_STAGES];
    int n_stages;
    struct cov_stats_figure *figures; /* Owned */
    int n_figures;
    /* More that a tool has to say, inside the top object. NULL: nothing. `more` is Owned, and freed
     * by free_more. */
    void (*print_more)(struct cov_json *j, const void *more);
    void (*free_more)(void *more);
    void *more;
    double wall_seconds, cpu_seconds;
    int64_t peak_rss_bytes;
    double started; /* monotonic clock */
};

/* Starts the clock. `tool` and `version` outlive *s. */
void cov_stats_init(struct cov_stats *s, const char *tool, const char *version);
void cov_stats_fini(struct cov_stats *s);
int cov_stats_set_command(struct cov_stats *s, int argc, char **argv,
                          struct cov_err *e) COV_MUST_USE;
/* A path that is there already is not added again. */
int cov_stats_add_input(struct cov_stats *s, const char *path, struct cov_err *e) COV_MUST_USE;
/* Adds to the stage of that name (a string that outlives *s); of more than COV_STATS_MAX_STAGES
 * names the last takes it all. */
void cov_stats_add_stage(struct cov_stats *s, const char *name, double seconds);
/* Adds a figure. `part` and `name` are copied, `name` as far as it fits; `description` outlives *s. */
int cov_stats_add_figure(struct cov_stats *s, const char *part, const char *name,
                         const char *description, int decimals, double value,
                         struct cov_err *e) COV_MUST_USE;
/* Stops the clock: wall, CPU (all threads), peak memory. */
void cov_stats_finish(struct cov_stats *s);
/* As JSON; rates are over the wall time. Errors of the stream are left to the caller. */
void cov_stats_print(const struct cov_stats *s, FILE *f);
/* The same to a file, through an outfile; an existing one is replaced. A file whose name ends in
 * _mqc.json is a section of MultiQC's report besides (multiqc.h). */
int cov_stats_write(const struct cov_stats *s, const char *path, struct cov_err *e) COV_MUST_USE;

#endif
