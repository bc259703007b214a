/* measuring.c - see measuring.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/measuring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/input/model.h"
#include "common/seq/fasta.h"
#include "tools/benchmark/child.h"

/* ---------------------------------------------------------------- options */

static int read_numbers(const struct cov_opt *row, struct numbers *out, struct cov_err *e)
{
    char option[40];
    (void)snprintf(option, sizeof option, "--%s", row->name);
    if (out->text.n > NUMBERS_MAX)
        return cov_fail(e, COV_EUSAGE, "%s: more than %d numbers", option, NUMBERS_MAX);
    const int64_t min = row->min > 1 ? (int64_t)row->min : 1;
    for (size_t i = 0; i < out->text.n; i++) {
        const char *text = out->text.items[i];
        if (row->min == 0 && strcmp(text, "unlimited") == 0)
            out->items[i] = 0;
        else if (cov_parse_size(text, option, min, (int64_t)row->max, &out->items[i], e))
            return COV_EUSAGE;
    }
    out->n = out->text.n;
    return COV_OK;
}

int benchmark_numbers(const struct cov_opt *rows, void *config, struct cov_err *e)
{
    int rc = COV_OK;
    for (const struct cov_opt *row = rows; row->name && !rc; row++)
        if (row->type == COV_OPT_LIST && row->max > 0)
            rc = read_numbers(row, (struct numbers *)((char *)config + row->field), e);
    return rc;
}

struct numbers benchmark_threads(const struct bench *b, const struct numbers *list)
{
    if (list->n > 0)
        return *list;
    return (struct numbers){.items = {b->threads, 1}, .n = b->threads == 1 ? 1 : 2};
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

static int check_inputs(const struct benchmark_config *c, struct cov_err *e)
{
    struct cov_model *m = NULL;
    int rc = c->fasta ? benchmark_check_fasta(c->fasta, e) : COV_OK;
    if (!rc && c->model && strcmp(c->model, BENCH_NET_COMBINED) != 0)
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

int benchmark_run(struct cov_common *common, const void *config, unsigned parts,
                  int (*measure)(struct bench *b, const void *config, struct cov_err *e),
                  struct cov_err *e)
{
    const struct benchmark_config *c = config;
    struct bench b = {
        .dir = common->output ? common->output : BENCHMARK_DIRECTORY,
        .tmpdir = common->tmpdir,
        .command = common->stats.command,
        .parts = parts,
        .force = common->force,
        .threads = (unsigned)common->threads,
        .repeats = (size_t)c->repeats,
        .seconds = c->seconds > 0 ? c->seconds : 1,
        .seed = (uint64_t)c->seed,
        .progress = &common->progress,
    };
    /* Of a probe. */
    double seconds = c->seconds > 0 ? 4 * c->seconds : 0.1;
    seconds = seconds < 0.02 ? 0.02 : seconds < 1 ? seconds : 1;
    if (cov_path_is_std(b.dir))
        return cov_fail(e, COV_EUSAGE, "-o: must be a directory, not standard output");
    int rc = check_inputs(c, e);
    if (!rc)
        rc = child_prefer_own(e);
    if (!rc)
        rc = bench_output_begin(&b, e);
    if (!rc)
        rc = bench_begin(&b, seconds, e);
    if (!rc)
        rc = make_inputs(&b, c, e);
    if (!rc)
        rc = measure(&b, config, e);
    if (!rc)
        rc = write_results(common, &b, e);
    bench_fini(&b);
    return rc;
}
