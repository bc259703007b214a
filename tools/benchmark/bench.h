/* bench.h - a benchmark: how often things are measured, what came of it, and how that is written down.
 *
 * Cases that are to be compared are run in turn, there and back, so that what changes on the machine
 * meanwhile meets all of them alike; each is checked before, and run once without a clock.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_H
#define COV_BENCHMARK_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/tmpfile.h"
#include "common/cli/stats.h"
#include "tools/benchmark/chart.h"
#include "tools/benchmark/figure.h"
#include "tools/benchmark/machine.h"

/* What to do on this machine, and why. */
struct cov_bench_advice {
    char *what, *value; /* "batch", "8" */
    char *how;          /* "covpredict --batch-size 8"; "": it is no option */
    char *reason;       /* the figures that it follows from. Owned, as all */
};

/* A file that was made while something was measured: a table, a flame graph as SVG. It stands in `work`, and
 * goes with all others to the output folder, by the same name. */
struct cov_bench_file {
    char *name;  /* Owned */
    char *title; /* of a picture, for the report; NULL: it is none. Owned */
};

/* What is measured, for the names of the files that may come of it. */
enum cov_bench_part {
    COV_BENCH_STAGES = 1,
    COV_BENCH_PIPELINE = 2,
    COV_BENCH_LOADER = 4,
    COV_BENCH_ENCODE = 8,
    COV_BENCH_MODEL = 16,
    COV_BENCH_ALL = 31,
};

struct cov_bench {
    /* Set by the caller, borrowed. */
    const char *dir;    /* where outputs go */
    const char *tmpdir; /* where `work` is made; NULL: in `dir` */
    const char *command;
    unsigned parts; /* enum cov_bench_part, added up */
    bool force;
    unsigned threads;
    size_t repeats;
    double seconds; /* that a case runs for in a repeat, at least */
    uint64_t seed;
    struct cov_progress *progress; /* may be NULL */

    struct cov_newfolder
        folder; /* `dir`, if it was not there: it goes again unless something is in it */
    struct cov_tmpfolder work; /* for what is made meanwhile, none of which is left. Owned */
    struct cov_machine machine;
    struct cov_figures figures;
    struct cov_charts charts;
    /* Seconds that threads which only compute had the processor, and that they took for it. */
    double processor_had, processor_wanted;
    char **notes; /* sentences. Owned, as is each */
    size_t n_notes, cap_notes;
    struct cov_bench_advice *advice; /* Owned */
    size_t n_advice, cap_advice;
    struct cov_bench_file *files; /* Owned */
    size_t n_files, cap_files;
};

void cov_bench_fini(struct cov_bench *b);

/* Makes `work`, and the machine is described and probed, for about `seconds` each. */
int cov_bench_begin(struct cov_bench *b, double seconds, struct cov_err *e) COV_MUST_USE;

int cov_bench_note(struct cov_bench *b, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(3, 4) COV_MUST_USE;
/* Takes the texts, of which `how` and `reason` may be NULL for want of memory: COV_ENOMEM. */
int cov_bench_advise(struct cov_bench *b, const char *what, const char *value, char *how,
                     char *reason, struct cov_err *e) COV_MUST_USE;
/* As a table, with a line of column names: setting, value, how, reason. */
void cov_bench_print_advice(const struct cov_bench *b, FILE *out);
/* `name` of b->work is complete. `title`: NULL for what is no picture. */
int cov_bench_add_file(struct cov_bench *b, const char *name, const char *title,
                       struct cov_err *e) COV_MUST_USE;

/* Whether other programs had so much of the processor meanwhile that numbers of threads cannot be
 * compared. */
bool cov_bench_is_disturbed(const struct cov_bench *b);

/* Removes a file of `work`, or a folder of it with the files in it; whatever fails. */
void cov_bench_remove(const char *path);

/* ---- measuring ---- */

struct cov_bench_case {
    char *name; /* of its figure. Owned by the list */
    const char *unit;
    bool higher_is_better;
    /* Whether what it does is right; NULL: there is nothing to check. Called once. */
    int (*check)(void *arg, struct cov_err *e);
    /* Does it for at least `seconds` (0: once), and gives the figure's value. */
    int (*run)(void *arg, double seconds, double *value, struct cov_err *e);
    void *arg;
};

/* Checks all cases, runs each once, and then b->repeats times in turn; adds their figures in the order
 * of the cases. `what` is for the progress. */
int cov_bench_run(struct cov_bench *b, const char *what, const struct cov_bench_case *cases,
                  size_t n, struct cov_err *e) COV_MUST_USE;

#endif
