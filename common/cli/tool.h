/* tool.h - what all tools have in common: options, messages, signals, statistics, exit status.
 *
 * The one place in the library that prints (with progress.c) and that decides the exit status, on
 * behalf of the tools' main functions. No locale is ever set: numbers are read and written as in
 * "C".
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_TOOL_H
#define COV_CLI_TOOL_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"

/* The options every tool has, unless it says that it lacks them. */
struct cov_common {
    const char *output; /* NULL only where the tool says that it may be left out, or lacks it */
    int64_t threads;    /* 1 to 1024; the default has been put in */
    bool force, quiet;
    int verbose;
    const char *stats_path;
    const char *tmpdir; /* a folder that can be written to; NULL: beside the output */
    struct cov_progress progress;
    struct cov_stats stats;
};

/* Common options that mean nothing to a tool, which then does not take them. */
enum cov_tool_lacks {
    COV_LACKS_OUTPUT = 1,
    COV_LACKS_THREADS = 2,
    COV_LACKS_PROGRESS = 4,
    COV_LACKS_TMPDIR = 8,
};

/* A program, or one of its subcommands. A program with subcommands is nothing but `name`,
 * `summary`, `subcommands` and `print_versions`; the word behind its name on the command line says
 * which of them is run. */
struct cov_tool {
    const char *name;    /* of a subcommand: that word */
    const char *summary; /* one line, no full stop: for --help and the man page's NAME */
    const struct cov_tool *const *subcommands; /* ended by NULL; NULL: the program does one thing */
    const char *synopsis;                      /* behind the name: "[options] -o OUT FASTA|-" */
    const char *examples;                      /* lines of commands for --help; may be NULL */
    const struct cov_opt *options;             /* ended by a row without a name */
    size_t config_bytes;                       /* the struct that `options` fill */
    int min_operands, max_operands;            /* max < 0: any number */
    bool output_optional;
    const char *output_help; /* what --help says of -o; NULL: "where the result goes" */
    unsigned lacks;          /* enum cov_tool_lacks */
    /* `given`: per row of `options` whether it was on the command line. Operands are entered as
     * inputs of the statistics already. COV_EUSAGE leads to status 2. */
    int (*run)(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e);
    /* Called before a failure is told; may be NULL. */
    void (*before_error)(void);
    /* Adds lines about libraries and devices to --version; may be NULL. Of a subcommand unused. */
    void (*print_versions)(FILE *f);
};

/* Parses, runs, reports; returns the exit status: 0; 1 failed; 2 wrong usage; 3 for COV_EUNLIKE; 137 out of memory
 * (workflow engines retry with more); 141 when the reader of standard output went away (silently).
 * On SIGINT, SIGTERM, SIGHUP and SIGPIPE, unless ignored when the program started, temporary files
 * are removed and the process ends with 128 + signal. An output that is one of the inputs, or
 * another output, is refused. Standard streams that were closed are opened so that using them
 * fails. Standard output is closed and checked. */
int cov_tool_main(const struct cov_tool *program, int argc, char **argv);

#endif
