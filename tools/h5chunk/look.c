/* look.c - h5chunk info: what is in files of chunks.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>

#include "common/job/chunk_info.h"
#include "tools/h5chunk/subcommands.h"

/* ---------------------------------------------------------------- info */

struct info_config {
    bool json;
};

static const struct cov_opt info_options[] = {
    {.name = "json",
     .type = COV_OPT_FLAG,
     .field = offsetof(struct info_config, json),
     .help = "print JSON instead of a table"},
    {.name = NULL},
};

static int info_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    (void)common;
    (void)given;
    const struct info_config *c = config;
    return cov_chunk_info(operands, (size_t)n_operands, c->json, stdout, e);
}

const struct cov_tool h5chunk_info = {
    .name = "info",
    .summary = "show what is in files: shapes, types, filters, sizes, sequences",
    .synopsis = "[options] FILE...",
    .examples = "  h5chunk info genome.h5\n"
                "  h5chunk info --json *.h5 | jq '.files[].bytes_per_base'\n",
    .options = info_options,
    .config_bytes = sizeof(struct info_config),
    .min_operands = 1,
    .max_operands = -1,
    .lacks = COV_LACKS_OUTPUT | COV_LACKS_THREADS | COV_LACKS_PROGRESS | COV_LACKS_TMPDIR,
    .run = info_run,
};
