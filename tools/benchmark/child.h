/* child.h - runs programs and measures their cost: time, memory, I/O, and hardware counters where
 * the machine allows it.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_CHILD_H
#define BENCHMARK_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum child_counter {
    COUNT_CYCLES,
    COUNT_INSTRUCTIONS,
    COUNT_CACHE_MISSES,
    COUNT_PAGE_FAULTS,
    CHILD_COUNTERS
};

/* Cost of a program, including the children that it waited for. */
struct child_cost {
    double wall, cpu; /* seconds; cpu: user and system */
    int64_t max_rss;  /* bytes, from the kernel */
    /* Largest samples in bytes; 0 without `sample`. uss: unshared; pss: shared pages in part. */
    int64_t max_vms, max_uss, max_pss;
    int64_t read_bytes, written_bytes; /* of storage; -1: unknown */
    int64_t counters[CHILD_COUNTERS];  /* -1: not counted */
};

struct child {
    /* Ended by NULL. The first is the program, which is searched in PATH unless it has a slash. */
    const char *const *arguments;
    const char *output;     /* file for standard output, created or truncated; NULL: discarded */
    bool sample;            /* sample memory twenty times a second */
    bool count;             /* read hardware counters */
    struct child_cost cost; /* out */
};

/* Runs n programs at the same time and waits for them; *wall (may be NULL) is the time from the
 * first start to the last end. If one fails, ends the others and returns COV_EIO; the error has the
 * message that the failed program wrote to standard error. */
int children_run(struct child *children, size_t n, const char *tmpdir, double *wall,
                 struct cov_err *e) COV_MUST_USE;
/* Runs one program, without measuring it. */
int child_run(const char *const *arguments, const char *tmpdir, struct cov_err *e) COV_MUST_USE;

/* Finds a program in the folder of this program, or else in PATH. COV_EUNSUPPORTED if it is in
 * neither. Caller frees *path. */
int child_find(const char *name, char **path, struct cov_err *e) COV_MUST_USE;
/* Finds a file of workflows/, in the source tree or as installed. *path is NULL if it is in
 * neither. Caller frees *path. */
int child_find_data(const char *name, char **path, struct cov_err *e) COV_MUST_USE;

/* The tools that are measured as child processes. Owned. */
struct child_tools {
    char *fasta2h5, *covpredict, *cov2bigwig, *h5chunk;
};
int child_tools_find(struct child_tools *t, struct cov_err *e) COV_MUST_USE;
void child_tools_free(struct child_tools *t);

#endif
