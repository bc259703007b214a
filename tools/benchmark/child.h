/* child.h - runs programs and measures their cost: time, memory, I/O, and hardware counters where
 * the machine allows it.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_CHILD_H
#define BENCHMARK_CHILD_H

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
    double wall, cpu;                  /* seconds; cpu: user and system */
    int64_t max_rss;                   /* bytes, from the kernel */
    int64_t read_bytes, written_bytes; /* of storage; -1: unknown */
    int64_t counters[CHILD_COUNTERS];  /* -1: not counted */
};

struct child {
    char *command;          /* see child_command. Owned by the caller */
    struct child_cost cost; /* out */
};

/* Makes a command: `fmt` as for printf, whose blanks separate the words. Values may have blanks. The
 * first word is a program, which is searched in PATH unless it has a slash. Caller frees. */
char *child_command(struct cov_err *e, const char *fmt, ...) COV_PRINTF(2, 3) COV_MUST_USE;

/* Runs n programs at the same time and waits for them; *wall (may be NULL) is the time from the
 * first start to the last end. If one fails, ends the others and returns COV_EIO; the error has the
 * message that the failed program wrote to standard error. */
int children_run(struct child *children, size_t n, const char *tmpdir, double *wall,
                 struct cov_err *e) COV_MUST_USE;
/* Runs one command, made as by child_command, without measuring it. */
int child_run(const char *tmpdir, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(3, 4) COV_MUST_USE;

/* Puts the directory of this program at the start of PATH. */
int child_prefer_own(struct cov_err *e) COV_MUST_USE;
/* Finds a file of workflows/, in the source tree or as installed. *path is NULL if it is in
 * neither. Caller frees *path. */
int child_find_data(const char *name, char **path, struct cov_err *e) COV_MUST_USE;

#endif
