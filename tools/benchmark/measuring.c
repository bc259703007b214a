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
#include "common/input/model.h"
#include "common/seq/fasta.h"
#include "tools/benchmark/child.h"

/* ---------------------------------------------------------------- options */

int benchmark_numbers(const struct number_list *lists, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (const struct number_list *l = lists; l < lists + n && !rc; l++) {
        if (l->list->n > NUMBERS_MAX)
            return cov_fail(e, COV_EUSAGE, "%s: more than %d numbers", l->option, NUMBERS_MAX);
        l->out->n = l->list->n ? l->list->n : l->out->n;
        for (size_t i = 0; i < l->list->n && !rc; i++) {
            const char *text = l->list->items[i];
            l->out->items[i] = 0;
            if (!l->zero || strcmp(text, l->zero) != 0)
                rc = cov_parse_size(text, l->option, l->min, l->max, &l->out->items[i], e);
        }
    }
    return rc;
}

struct numbers benchmark_pair(int64_t a, int64_t b)
{
    return (struct numbers){{a, b}, a == b ? 1 : 2};
}

/* ---------------------------------------------------------------- inputs */

int benchmark_check_fasta(const char *path, struct cov_err *e)
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

static int check_inputs(const struct benchmark_config *c, unsigned parts, struct cov_err *e)
{
    struct cov_model *m = NULL;
    int rc = c->fasta ? benchmark_check_fasta(c->fasta, e) : COV_OK;
    if (!rc && c->model && (parts & BENCH_TOOLS))
        rc = cov_model_open(c->model, &m, e);
    cov_model_close(m);
    return rc;
}

static int make_inputs(struct bench *b, const struct benchmark_config *c, struct cov_err *e)
{
    int rc = COV_OK;
    if (c->fasta && !(b->fasta = cov_strdup(c->fasta, e)))
        rc = COV_ENOMEM;
    else if (!c->fasta && c->size > 0)
        rc = benchmark_genome(b, "synthetic.fa", c->size, &b->fasta, e);
    if (rc || !(b->parts & BENCH_TOOLS))
        return rc;
    b->model = c->model ? cov_strdup(c->model, e) : cov_path_join(b->work.path, "random.ckpt", e);
    if (!b->model)
        return COV_ENOMEM;
    return c->model ? COV_OK : bench_net_write_random(b->model, b->seed, e);
}

/* ---------------------------------------------------------------- a subcommand */

static int write_results(struct cov_common *common, const struct bench *b, struct cov_err *e)
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

int benchmark_run(struct cov_common *common, const struct benchmark_config *config, unsigned parts,
                  int (*measure)(struct bench *b, const void *arg, struct cov_err *e),
                  const void *arg, struct cov_err *e)
{
    struct bench b = {
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
    /* Of a probe. */
    double seconds = config->seconds > 0 ? 4 * config->seconds : 0.1;
    seconds = seconds < 0.02 ? 0.02 : seconds < 1 ? seconds : 1;
    if (cov_path_is_std(b.dir))
        return cov_fail(e, COV_EUSAGE, "-o: must be a directory, not standard output");
    int rc = check_inputs(config, parts, e);
    if (!rc)
        rc = child_prefer_own(e);
    if (!rc)
        rc = bench_output_begin(&b, e);
    if (!rc)
        rc = bench_begin(&b, seconds, e);
    if (!rc)
        rc = make_inputs(&b, config, e);
    if (!rc)
        rc = measure(&b, arg, e);
    if (!rc)
        rc = write_results(common, &b, e);
    bench_fini(&b);
    return rc;
}
