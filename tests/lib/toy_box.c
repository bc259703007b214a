/* toy_box.c - a program with two subcommands, to test the common behaviour of such programs.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "common/cli/tool.h"

struct spin {
    int64_t times;
    const char *log;
};

static const struct cov_opt spin_options[] = {
    COV_OPT(INT, "times", 'n', offsetof(struct spin, times), "N", "how often", .def = "3", .min = 1,
            .max = 9),
    COV_OPT(STRING, "log", 0, offsetof(struct spin, log), "FILE", "another output",
            .flags = COV_OPT_PATH_OUT),
    {.name = NULL},
};

static int spin_run(struct cov_common *c, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    const struct spin *spin = config;
    if (spin->times == 9)
        return cov_fail(e, COV_EUSAGE, "too often");
    (void)printf("spin %" PRId64 " given=%d threads=%" PRId64 " %s", spin->times, given[0],
                 c->threads, c->output ? c->output : "none");
    for (int i = 0; i < n_operands; i++)
        (void)printf(" <%s>", operands[i]);
    (void)puts("");
    return COV_OK;
}

static const struct cov_tool spin_tool = {
    .name = "spin",
    .summary = "turn round",
    .synopsis = "[options] [-o OUT] [TOP...]",
    .options = spin_options,
    .config_bytes = sizeof(struct spin),
    .max_operands = -1,
    .output_optional = true,
    .output_help = "where to turn",
    .run = spin_run,
};

static int rest_run(struct cov_common *c, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    (void)config;
    (void)given;
    (void)n_operands;
    if (operands[0][0] == 'x')
        return cov_fail(e, COV_EINPUT, "%s: cannot rest", operands[0]);
    (void)printf("rest threads=%" PRId64 " %s\n", c->threads, c->output ? "output" : "none");
    return COV_OK;
}

static const struct cov_opt no_options[] = {{.name = NULL}};

static const struct cov_tool rest_tool = {
    .name = "rest",
    .summary = "do nothing",
    .synopsis = "TOY",
    .options = no_options,
    .min_operands = 1,
    .max_operands = 1,
    .lacks = COV_LACKS_OUTPUT | COV_LACKS_THREADS | COV_LACKS_PROGRESS | COV_LACKS_TMPDIR,
    .run = rest_run,
};

int main(int argc, char **argv)
{
    static const struct cov_tool *const subcommands[] = {&spin_tool, &rest_tool, NULL};
    static const struct cov_tool program = {
        .name = "toy_box",
        .summary = "keeps toys",
        .subcommands = subcommands,
        .examples = "  toy_box spin\n",
    };
    return cov_tool_main(&program, argc, argv);
}
