/* tool_private.h - what tool.c has in parts: the common options, and checks of paths.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_TOOL_PRIVATE_H
#define COV_CLI_TOOL_PRIVATE_H

#include "common/cli/tool.h"

/* What the common options fill. */
struct cov_tool_own {
    struct cov_common common;
    int progress; /* enum cov_progress_mode */
    bool help, help_machine, version;
};

/* By enum cov_progress_mode, ended by NULL. */
extern const char *const cov_tool_progress_modes[];

enum { COV_TOOL_COMMON_OPTIONS = 11 };

/* What was asked for: a program, or one of its subcommands. */
struct cov_tool_call {
    const struct cov_tool *program, *tool;
    char name[80];                                      /* "fasta2h5", "h5chunk info" */
    struct cov_opt common[COV_TOOL_COMMON_OPTIONS + 1]; /* the common options that the tool has */
};

void cov_tool_set_call(struct cov_tool_call *call, const struct cov_tool *program,
                       const struct cov_tool *tool);

/* No output may be an input, or another output. */
int cov_tool_check_paths(const struct cov_tool *tool, const struct cov_common *c,
                         const void *config, int n_operands, char **operands,
                         struct cov_err *e) COV_MUST_USE;
/* A folder that is to be written to. */
int cov_tool_check_folder(const char *path, const char *option, struct cov_err *e) COV_MUST_USE;
/* Fails now rather than after hours of work. */
int cov_tool_check_stats_path(const char *path, bool force, struct cov_err *e) COV_MUST_USE;

#endif
