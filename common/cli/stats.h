/* stats.h - results, time and memory of a run, which --stats writes to a file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_STATS_H
#define COV_CLI_STATS_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"

#define COV_STATS_MAX_STAGES 16

/* A result that a report shows. */
struct cov_stats_figure {
    char *part; /* what it describes, such as a data set; NULL: everything. Owned */
    char name[32];
    const char *description; /* a phrase */
    int decimals;
    double value; /* NaN: none */
};

/* A job fills it. Negative numbers mean "not applicable" and are left out of the file. */
struct cov_stats {
    const char *tool, *version;
    const char *section; /* the title in a report: "h5chunk info"; NULL: `tool` */
    char *command;       /* the command line, quoted for a shell. Owned */
    char **inputs;       /* Owned, like each string */
    int n_inputs;
    char *device;          /* Owned; NULL: "cpu" */
    const char *precision; /* NULL: there is no choice; written as null */
    unsigned threads;
    int64_t bases, chunks, positions_computed, positions_at_rest, chunks_repeated;
    struct {
        const char *name;
        double seconds;
    } stages[COV_STATS_MAX_STAGES];
    int n_stages;
    struct cov_stats_figure *figures; /* Owned */
    int n_figures;
    /* Prints further members of the top-level object; may be NULL. `more` is owned; free_more
     * frees it. */
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
/* Adds the path of an input unless it was added before. */
int cov_stats_add_input(struct cov_stats *s, const char *path, struct cov_err *e) COV_MUST_USE;
/* Adds to the time of the stage `name`, a string that must outlive *s. If there are more than
 * COV_STATS_MAX_STAGES names, the last stage collects the times of the rest. */
void cov_stats_add_stage(struct cov_stats *s, const char *name, double seconds);
/* Adds a figure. Copies `part` and as much of `name` as fits; `description` must outlive *s. */
int cov_stats_add_figure(struct cov_stats *s, const char *part, const char *name,
                         const char *description, int decimals, double value,
                         struct cov_err *e) COV_MUST_USE;
/* Stops the clock, and sets the wall time, the CPU time of all threads and the peak memory. */
void cov_stats_finish(struct cov_stats *s);
/* Writes JSON; rates are per second of wall time. The caller checks the stream for errors. */
void cov_stats_print(const struct cov_stats *s, FILE *f);
/* Adds a table of the figures, time and memory, for MultiQC, to the open object. It has a row
 * for `sample`, and a row "SAMPLE.PART" for each part with figures. All files of a tool have the
 * same id, so MultiQC joins them into one table. */
void cov_stats_print_multiqc(const struct cov_stats *s, const char *sample, struct cov_json *j);
/* Writes the output of cov_stats_print to the file `path`, replacing any existing file. If the
 * name ends in _mqc.json, the file is also a section of a MultiQC report. */
int cov_stats_write(const struct cov_stats *s, const char *path, struct cov_err *e) COV_MUST_USE;

#endif
