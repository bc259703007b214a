/* tool.h - features common to all tools: options, messages, signals, statistics, exit status.
 *
 * Only tool.c and progress.c print; the rest of the library does not. Only tool.c decides the exit
 * status, on behalf of the tools' main functions. No locale is set, so numbers are read and written
 * as in the locale "C".
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_TOOL_H
#define COV_CLI_TOOL_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"

/* Values of the common options. */
struct cov_common {
    const char *output; /* NULL only if the tool allows that or lacks -o */
    int64_t threads;    /* 1 to 1024; 0 has been replaced with the default */
    bool force, quiet;
    int verbose;
    const char *stats_path;
    const char *tmpdir; /* a writable directory; NULL: the directory of the output */
    struct cov_progress progress;
    struct cov_stats stats;
};

/* For tools that print a table only with some options; see cov_tool.prints_table. */
int cov_common_check_table(const struct cov_common *c, struct cov_err *e) COV_MUST_USE;

/* Common options that a tool does not need: -o is an error, the others are accepted, but change
 * nothing and are not listed. */
enum cov_tool_lacks {
    COV_LACKS_OUTPUT = 1,
    COV_LACKS_THREADS = 2,
    COV_LACKS_PROGRESS = 4,
    COV_LACKS_TMPDIR = 8,
};

/* A program, or one of its subcommands. A program with subcommands has only `name`, `summary`,
 * `subcommands`, `examples`, `print_versions` and `before_error`; the first argument selects the
 * subcommand. */
struct cov_tool {
    const char *name;    /* for a subcommand: the word that selects it */
    const char *summary; /* one line without full stop, for --help and NAME in the man page */
    const struct cov_tool *const *subcommands; /* ended by NULL; NULL: none */
    const char *synopsis;                      /* after the name: "[options] -o OUT FASTA|-" */
    const char *examples;                      /* lines of commands for --help; may be NULL */
    const struct cov_opt *options;             /* ended by a row without a name */
    size_t config_bytes;                       /* size of the struct that `options` fill */
    int min_operands, max_operands;            /* max < 0: any number */
    /* Prints a table where -o points, or to standard output without -o; COV_EUSAGE if --stats also
     * goes there. */
    bool prints_table;
    bool output_optional;
    const char *output_help;           /* help text of -o; NULL: "where the result goes" */
    unsigned lacks;                    /* enum cov_tool_lacks */
    const struct cov_stats_plot *plot; /* the graph of each run in a report; NULL: none */
    /* Runs the tool. `given` tells for each row of `options` whether it was on the command line.
     * The operands and the files of options with COV_OPT_PATH_IN are already inputs in the
     * statistics. COV_EUSAGE leads to status 2. */
    int (*run)(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e);
    /* Called before an error is printed; may be NULL. */
    void (*before_error)(void);
    /* Adds lines about libraries and devices to --version; may be NULL. Unused in a subcommand. */
    void (*print_versions)(FILE *f);
};

/* Parses the command line, runs the tool and reports failures. Returns the exit status: 0 for
 * success; 1 for failure; 2 for wrong usage; 3 for COV_EUNLIKE; 137 if out of memory (workflow
 * engines retry with more); 141, without a message, if the reader closed standard output. On
 * SIGINT, SIGTERM, SIGHUP or SIGPIPE, unless the signal was ignored when the program started,
 * removes temporary files, reports what became of the output (cov_log_set_last_words) unless the
 * signal is SIGPIPE, and exits with 128 + signal. Refuses an output that is also an input
 * or another output. If a standard stream is closed, opens it in such a way that using it fails.
 * Closes standard output and checks for errors. */
int cov_tool_main(const struct cov_tool *program, int argc, char **argv);

#endif
