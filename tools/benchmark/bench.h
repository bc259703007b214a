/* bench.h - a benchmark run: settings, timed cases, results.
 *
 * Cases to be compared are timed in alternating order, so that a change of the machine's speed
 * affects all of them equally. Each is checked first, and run once untimed.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_BENCH_H
#define BENCHMARK_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/file/tmpfile.h"
#include "common/plot/chart.h"
#include "tools/benchmark/figure.h"
#include "tools/benchmark/machine.h"

/* A recommended setting. All strings are owned. */
struct bench_advice {
    char *what, *value; /* "batch", "8" */
    char *how;          /* "covpredict --batch-size 8"; "" without an option */
    char *reason;       /* the figures that support it */
};

/* A measured speed of the network, in chunks per second. */
struct bench_speed {
    const char *device, *precision; /* borrowed */
    size_t batch, length;
    unsigned threads;
    size_t figure; /* its index in b->figures */
    double median;
};

/* What is measured; decides which output files are checked beforehand. */
enum bench_part {
    BENCH_STAGES = 1,
    BENCH_PIPELINE = 2,
    BENCH_TOOLS = BENCH_STAGES | BENCH_PIPELINE, /* need a checkpoint */
    BENCH_LOADER = 4,
    BENCH_ENCODE = 8,
    BENCH_MODEL = 16,
    BENCH_ALL = 31,
    BENCH_RUNS = 32, /* earlier runs of the tools */
};

struct bench {
    /* Set by the caller, borrowed. */
    const char *dir;    /* output directory */
    const char *tmpdir; /* parent of `work`; NULL: `dir` */
    const char *command;
    unsigned parts; /* enum bench_part, or-ed */
    bool force;
    unsigned threads;
    size_t repeats;
    double seconds; /* minimum time of one repeat of a case */
    uint64_t seed;
    struct cov_progress *progress; /* may be NULL */

    struct cov_newdir directory; /* `dir` if it was created; removed again if it stays empty */
    struct cov_tmpdir work;      /* temporary files. Owned */
    char *fasta, *model;         /* inputs, given or synthetic; NULL: none. Owned */
    struct machine machine;
    struct figures figures;
    struct cov_charts charts;
    /* CPU seconds that compute threads got, and wall seconds that they ran. */
    double processor_had, processor_wanted;
    struct bench_speed *speeds; /* Owned */
    size_t n_speeds, cap_speeds;
    char **notes; /* sentences. The array and the strings are owned */
    size_t n_notes, cap_notes;
    struct bench_advice *advice; /* Owned */
    size_t n_advice, cap_advice;
    char *flame; /* path of a flame graph; NULL: none. Owned */
};

void bench_fini(struct bench *b);

/* Creates `work`, describes the machine, and runs its probes for about `seconds` each. */
int bench_begin(struct bench *b, double seconds, struct cov_err *e) COV_MUST_USE;

int bench_note(struct bench *b, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(3, 4) COV_MUST_USE;
/* Takes ownership of `how` and `reason`; if one is NULL (out of memory), returns COV_ENOMEM. */
int bench_advise(struct bench *b, const char *what, const char *value, char *how, char *reason,
                 struct cov_err *e) COV_MUST_USE;
/* Prints a table with the header setting, value, how, reason. */
void bench_print_advice(const struct bench *b, FILE *out);
/* Returns true if other programs used so much CPU time that thread counts cannot be compared. */
bool bench_is_disturbed(const struct bench *b);

/* The largest text that a benchmark reads. */
#define BENCH_MAX_TEXT ((size_t)1 << 30)
/* Reads a file of JSON; errors name it. Free *out with cov_json_free. */
int bench_read_json(const char *path, struct cov_json_value **out, struct cov_err *e) COV_MUST_USE;

/* ---- timed cases ---- */

struct bench_case {
    char *name; /* of the figure. Owned by the list */
    void *arg;
};

/* Cases that are measured in the same way; the caller sets the functions. */
struct bench_cases {
    /* Checks that the results are right. Called once. May be NULL. */
    int (*check)(void *arg, struct cov_err *e);
    /* Repeats the work for at least `seconds` (0: once), and sets the figure's value. */
    int (*run)(void *arg, double seconds, double *value, struct cov_err *e);
    struct bench_case *items;
    size_t n, cap;
};

/* Calls once(arg) for at least `seconds`, once if they are 0, and sets *each to the mean seconds per
 * call. */
int bench_repeat(int (*once)(void *arg, struct cov_err *e), void *arg, double seconds, double *each,
                 struct cov_err *e) COV_MUST_USE;

/* Adds a case, whose name is made of fmt. */
int bench_cases_add(struct bench_cases *list, void *arg, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(4, 5) COV_MUST_USE;
void bench_cases_fini(struct bench_cases *list);

/* Checks all cases, runs each once, and then runs them b->repeats times in alternating order. Adds
 * their figures in the order of the cases. `what` labels the progress. */
int bench_run(struct bench *b, const char *what, const struct bench_cases *cases,
              struct cov_err *e) COV_MUST_USE;

/* ---- charts ---- */

/* Adds a figure times `factor`; does nothing if f is NULL. */
int chart_add_figure(struct cov_chart *c, const char *series, double x, const struct figure *f,
                     double factor, struct cov_err *e) COV_MUST_USE;
/* The same as a bar of the named group. */
int chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                  const struct figure *f, double factor, struct cov_err *e) COV_MUST_USE;
/* Adds a chart `like` of the figures of all cases. `place` sets the series and x of a case, and
 * returns the factor of its figure; 0: it is not in the chart. */
int bench_draw(struct bench *b, const struct cov_chart *like, const struct bench_cases *cases,
               double (*place)(const void *arg, char series[64], double *x),
               struct cov_err *e) COV_MUST_USE;

/* ---- outputs (bench_output.c): benchmark.json, benchmark.tsv, charts, and report.html ---- */

/* Called before measuring: creates the directory if it is missing, and fails if one of the outputs of
 * b->parts exists without b->force (COV_EEXIST), or cannot be written. */
int bench_output_begin(struct bench *b, struct cov_err *e) COV_MUST_USE;

/* Writes all files; they appear together. Without gnuplot, warns and omits the charts. Adds the
 * figures to `stats`, for --stats and MultiQC. */
int bench_output_write(const struct bench *b, struct cov_stats *stats,
                       struct cov_err *e) COV_MUST_USE;

struct bench_picture {
    const char *name; /* of the file; its first word names the section that shows the picture */
    char *text;       /* the SVG file. Owned */
};

/* Writes text for XML. */
void bench_put_text(const char *text, FILE *f);

/* Writes the report as one self-contained page, which is also well-formed XML. Ids in the pictures
 * are made unique. */
void bench_print_html(const struct bench *b, const struct bench_picture *pictures, size_t n,
                      FILE *f);

#endif
