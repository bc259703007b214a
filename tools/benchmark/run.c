/* run.c - what the subcommands that measure have in common.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/job/bench_output.h"
#include "tools/benchmark/measuring.h"

int benchmark_begin(struct cov_common *common, const struct benchmark_config *config, bool quick,
                    struct cov_bench *b, struct cov_err *e)
{
    *b = (struct cov_bench){
        .dir = common->output ? common->output : BENCHMARK_FOLDER,
        .command = common->stats.command,
        .force = common->force,
        .threads = (unsigned)common->threads,
        .repeats = (size_t)config->repeats,
        .seconds = config->seconds,
        .seed = (uint64_t)config->seed,
        .progress = &common->progress,
    };
    if (cov_path_is_std(b->dir))
        return cov_fail(e, COV_EUSAGE, "-o: a folder is made, not standard output");
    int rc = cov_bench_output_begin(b, e);
    return rc ? rc : cov_bench_probe(b, quick, e);
}

int benchmark_end(struct cov_common *common, const struct cov_bench *b, struct cov_err *e)
{
    int rc = cov_bench_output_write(b, &common->stats, e);
    if (rc)
        return rc;
    if (!common->quiet)
        cov_figures_print_tsv(&b->figures, stdout);
    for (size_t i = 0; i < b->n_advice; i++)
        cov_info("%s: %s, as %s", b->advice[i].what, b->advice[i].value, b->advice[i].reason);
    return COV_OK;
}

static int parse_one(const char *text, const char *what, int64_t min, int64_t max, int64_t **out,
                     size_t *n, struct cov_err *e)
{
    int64_t *grown = cov_realloc(*out, *n + 1, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    *out = grown;
    return cov_parse_size(text, what, min, max, &grown[(*n)++], e);
}

int benchmark_numbers(const struct cov_strings *list, const char *what, int64_t min, int64_t max,
                      const char *def, int64_t **out, size_t *n, struct cov_err *e)
{
    int rc = COV_OK;
    *out = NULL;
    *n = 0;
    if (list->n == 0)
        return parse_one(def, what, min, max, out, n, e);
    for (size_t i = 0; i < list->n && !rc; i++)
        rc = parse_one(list->items[i], what, min, max, out, n, e);
    return rc;
}
