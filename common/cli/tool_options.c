/* tool_options.c - the options that all tools have.
 * SPDX-License-Identifier: MIT */
#include "common/cli/tool_private.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const cov_tool_progress_modes[] = {"auto", "bar", "lines", "none", NULL};

#define FIELD(name) offsetof(struct cov_tool_own, name)

static const struct cov_opt common_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_OUT,
     .field = FIELD(common.output),
     .metavar = "PATH",
     .help = "where the result goes"},
    {.name = "threads",
     .letter = '@',
     .type = COV_OPT_INT,
     .field = FIELD(common.threads),
     .metavar = "N",
     .min = 1,
     .max = 1024,
     .help = "threads that compute, all of them; without it, as many as CPU affinity and cgroup "
             "allow"},
    {.name = "force",
     .letter = 'f',
     .type = COV_OPT_FLAG,
     .field = FIELD(common.force),
     .help = "replace an existing output"},
    {.name = "quiet",
     .letter = 'q',
     .type = COV_OPT_FLAG,
     .field = FIELD(common.quiet),
     .help = "only warnings and errors"},
    {.name = "verbose",
     .letter = 'v',
     .type = COV_OPT_COUNT,
     .field = FIELD(common.verbose),
     .help = "more detail, and at the end what the run cost"},
    {.name = "progress",
     .type = COV_OPT_ENUM,
     .field = FIELD(progress),
     .def = "auto",
     .choices = cov_tool_progress_modes,
     .help = "how to show progress: auto is a bar on a terminal, else a line every 30 s"},
    {.name = "stats",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_OUT,
     .field = FIELD(common.stats_path),
     .metavar = "FILE",
     .help = "write what was done and what it cost as JSON; a file NAME_mqc.json is read by "
             "MultiQC too"},
    {.name = "tmpdir",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_IN,
     .field = FIELD(common.tmpdir),
     .metavar = "DIR",
     .help = "folder for temporary files; without it, beside the output"},
    {.name = "help",
     .letter = 'h',
     .type = COV_OPT_FLAG,
     .field = FIELD(help),
     .help = "show this text"},
    {.name = "version",
     .type = COV_OPT_FLAG,
     .field = FIELD(version),
     .help = "show the version, and those of the libraries and of the processor"},
    {.name = "help-machine",
     .type = COV_OPT_FLAG,
     .flags = COV_OPT_HIDDEN,
     .field = FIELD(help_machine),
     .help = "list the options for programs"},
    {.name = NULL},
};

_Static_assert(COV_COUNT(common_options) == COV_TOOL_COMMON_OPTIONS + 1, "room for all of them");

static bool lacks_option(const struct cov_tool *tool, const char *name)
{
    static const struct {
        const char *name;
        unsigned flag;
    } options[] = {{"output", COV_LACKS_OUTPUT},
                   {"threads", COV_LACKS_THREADS},
                   {"progress", COV_LACKS_PROGRESS},
                   {"tmpdir", COV_LACKS_TMPDIR}};
    for (size_t i = 0; i < COV_COUNT(options); i++)
        if (strcmp(name, options[i].name) == 0)
            return (tool->lacks & options[i].flag) != 0;
    return false;
}

void cov_tool_set_call(struct cov_tool_call *call, const struct cov_tool *program,
                       const struct cov_tool *tool)
{
    size_t n = 0;
    call->program = program;
    call->tool = tool;
    (void)snprintf(call->name, sizeof call->name, "%s%s%s", program->name,
                   tool != program ? " " : "", tool != program ? tool->name : "");
    for (const struct cov_opt *o = common_options; o->name; o++) {
        if (lacks_option(tool, o->name))
            continue;
        call->common[n] = *o;
        if (strcmp(o->name, "output") == 0 && tool->output_help)
            call->common[n].help = tool->output_help;
        n++;
    }
    call->common[n] = (struct cov_opt){.name = NULL};
}
