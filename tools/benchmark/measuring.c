/* measuring.c - see measuring.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/measuring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/file/path.h"
#include "common/job/predict/model.h"
#include "common/seq/fasta.h"
#include "tools/benchmark/bench_output.h"

static int check_fasta(const char *path, struct cov_err *e)
{
    struct cov_fasta_header header;
    struct cov_fasta *f = NULL;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return cov_fail(e, COV_EINPUT, "%s: not a regular file; it is read several times", path);
    int rc = cov_fasta_open(path, 1, &f, e);
    int found = rc ? rc : cov_fasta_next(f, &header, e);
    if (found == 0)
        found = cov_fail(e, COV_EINPUT, "%s: no sequence: the file is empty", path);
    cov_fasta_free(f);
    return found < 0 ? found : COV_OK;
}

int benchmark_check_inputs(const char *fasta, const char *model, struct cov_err *e)
{
    struct cov_model *m = NULL;
    int rc = fasta ? check_fasta(fasta, e) : COV_OK;
    if (!rc && model)
        rc = cov_model_open(model, &m, e);
    cov_model_close(m);
    return rc;
}

int benchmark_begin(struct cov_common *common, const struct benchmark_config *config,
                    unsigned parts, double seconds, struct bench *b, struct cov_err *e)
{
    *b = (struct bench){
        .dir = common->output ? common->output : BENCHMARK_FOLDER,
        .tmpdir = common->tmpdir,
        .command = common->stats.command,
        .parts = parts,
        .force = common->force,
        .threads = (unsigned)common->threads,
        .repeats = (size_t)config->repeats,
        .seconds = config->seconds > 0 ? config->seconds : 1,
        .seed = (uint64_t)config->seed,
        .progress = &common->progress,
    };
    if (cov_path_is_std(b->dir))
        return cov_fail(e, COV_EUSAGE, "-o: must be a folder, not standard output");
    int rc = bench_output_begin(b, e);
    return rc ? rc : bench_begin(b, seconds < 0.02 ? 0.02 : seconds < 1 ? seconds : 1, e);
}

int benchmark_end(struct cov_common *common, const struct bench *b, struct cov_err *e)
{
    int rc = bench_output_write(b, &common->stats, e);
    if (rc)
        return rc;
    if (!common->quiet && b->n_advice > 0)
        bench_print_advice(b, stdout);
    else if (!common->quiet)
        figures_print_tsv(&b->figures, stdout);
    if (bench_is_disturbed(b))
        cov_warn("the machine was busy; results are unreliable");
    char *page = cov_path_join(b->dir, "report.html", e);
    if (!page)
        return COV_ENOMEM;
    cov_info("report: %s", page);
    free(page);
    return COV_OK;
}

int benchmark_numbers(const struct cov_strings *list, const struct number_limits *limits,
                      struct numbers *out, struct cov_err *e)
{
    int rc = COV_OK;
    out->n = list->n ? list->n : limits->def.n;
    out->items = cov_malloc(out->n + 1, sizeof *out->items, e);
    if (!out->items)
        return COV_ENOMEM;
    for (size_t i = 0; list->n == 0 && i < out->n; i++)
        out->items[i] = limits->def.items[i];
    for (size_t i = 0; i < list->n && !rc; i++) {
        if (limits->zero && strcmp(list->items[i], limits->zero) == 0)
            out->items[i] = 0;
        else
            rc = cov_parse_size(list->items[i], limits->option, limits->min, limits->max,
                                &out->items[i], e);
    }
    return rc;
}

int benchmark_model_file(const struct bench *b, const char *model, char **path, struct cov_err *e)
{
    *path = model ? cov_strdup(model, e) : cov_path_join(b->work.path, "random.ckpt", e);
    if (!*path)
        return COV_ENOMEM;
    return model ? COV_OK : bench_net_write_random(*path, b->seed, e);
}
