/* child.h - runs programs and measures what they cost: time, memory, what they read and wrote, and, where
 * the machine allows it, what the processor counted.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_CHILD_H
#define COV_BENCHMARK_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum cov_child_counter {
    COV_COUNT_CYCLES,
    COV_COUNT_INSTRUCTIONS,
    COV_COUNT_CACHE_REFERENCES,
    COV_COUNT_CACHE_MISSES,
    COV_COUNT_PAGE_FAULTS,
    COV_COUNT_SWITCHES, /* of context */
    COV_CHILD_COUNTERS
};
extern const char *const cov_child_counter_names[COV_CHILD_COUNTERS]; /* "cycles" */

/* What a program cost, with all that it started and waited for. */
struct cov_child_cost {
    double wall, cpu; /* seconds; cpu: user and system */
    int64_t max_rss;  /* bytes, by the kernel */
    /* The most that was seen, if `sample`: bytes; else 0. uss: its own alone; pss: shared in parts. */
    int64_t max_vms, max_uss, max_pss;
    int64_t read_bytes, written_bytes;    /* from and to storage; -1: not known */
    int64_t counters[COV_CHILD_COUNTERS]; /* -1: not counted */
};

struct cov_child {
    const char *const
        *arguments;     /* ended by NULL; the first is the program, looked for in PATH unless it
                                     has a slash */
    const char *output; /* file for standard output, made or emptied; NULL: it is thrown away */
    bool sample;        /* looks at memory twenty times a second */
    bool count;
    struct cov_child_cost cost; /* out */
};

/* Runs all n at the same time, and waits for them; *wall is from the first start to the last end. COV_EIO
 * names the first program that failed, with the last line that it said on standard error, and then has
 * ended the others. */
int cov_children_run(struct cov_child *children, size_t n, const char *tmpdir, double *wall,
                     struct cov_err *e) COV_MUST_USE;

/* The path of the tool `name`: beside the program that runs, else in PATH. COV_EUNSUPPORTED when it is
 * in neither. Caller frees. */
int cov_child_find(const char *name, char **path, struct cov_err *e) COV_MUST_USE;

#endif
