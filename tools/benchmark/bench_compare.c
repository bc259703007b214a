/* bench_compare.c - benchmark compare: two files of figures.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/plot/table_outputs.h"
#include "tools/benchmark/bench.h"

struct compare_config {
    double max_slowdown;    /* fail if a figure is worse by more than this fraction */
    double probe_tolerance; /* fraction that the probes of the machines may differ by */
};

struct file {
    struct cov_json_value *json;
    struct figures figures;
};

/* The files, a row of the table for each common figure, and a summary of the verdicts. */
struct comparison {
    struct compare_config options;
    struct file base, new_one;
    struct row {
        const struct figure *base, *new_one;
        struct spread ratio; /* of the speeds; above 1 if new_one is worse */
    } * rows;
    size_t n, cap, n_worse;
    struct cov_listing worse;
};

/* ---------------------------------------------------------------- files */

static int read_file(const char *path, struct file *file, struct cov_err *e)
{
    int rc = bench_read_json(path, &file->json, e);
    if (rc)
        return rc;
    rc = figures_read(file->json, &file->figures, e);
    return rc ? cov_err_prefix(e, rc, "%s", path) : rc;
}

static void close_file(struct file *file)
{
    cov_json_free(file->json);
    figures_fini(&file->figures);
}

static int compare_probes(const struct comparison *c, struct cov_err *e)
{
    const struct cov_json_value *of[2] = {
        cov_json_member(cov_json_member(c->base.json, "machine"), "probes"),
        cov_json_member(cov_json_member(c->new_one.json, "machine"), "probes")};
    for (const struct cov_json_value *v = cov_json_is_object(of[0]) ? cov_json_first(of[0]) : NULL;
         v; v = cov_json_next(v)) {
        const char *name = cov_json_key(v);
        double x, y;
        if (!cov_json_number(v, &x) || !cov_json_number(cov_json_member(of[1], name), &y))
            continue;
        double less = x < y ? x : y, more = x < y ? y : x;
        if (!(less > 0) || more / less > 1 + c->options.probe_tolerance) {
            char text[64];
            (void)snprintf(text, sizeof text, "%s", name);
            cov_make_printable(text);
            return cov_fail(
                e, COV_EUNLIKE,
                "the files are from different machines: probe %s is %.4g in the first and "
                "%.4g in the second",
                text, x, y);
        }
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- figures */

static bool is_worse(const struct comparison *c, const struct row *r)
{
    return r->ratio.at > 1 + c->options.max_slowdown && r->ratio.low > 1;
}

static bool is_better(const struct comparison *c, const struct row *r)
{
    return r->ratio.at < 1 / (1 + c->options.max_slowdown) && r->ratio.high < 1;
}

static int add_row(struct comparison *c, const struct figure *a, const struct figure *b,
                   struct cov_err *e)
{
    if (a->higher_is_better != b->higher_is_better)
        return cov_fail(e, COV_EINPUT, "figure %s: \"better\" differs between the files", a->name);
    if (COV_RESERVE(&c->rows, &c->cap, c->n + 1, e))
        return COV_ENOMEM;
    struct row *row = &c->rows[c->n];
    const struct figure *under = a->higher_is_better ? b : a, *over = a->higher_is_better ? a : b;
    *row = (struct row){.base = a, .new_one = b};
    int rc = spread_ratio(under->values, under->n, over->values, over->n, &row->ratio, e);
    if (rc || !isfinite(row->ratio.at) || row->ratio.at <= 0)
        return rc;
    c->n++;
    if (is_worse(c, row)) {
        c->n_worse++;
        cov_listing_add(&c->worse, a->name);
    }
    return COV_OK;
}

static int compare_figures(struct comparison *c, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < c->base.figures.n && !rc; i++) {
        const struct figure *a = &c->base.figures.items[i];
        const struct figure *b = figures_find(&c->new_one.figures, a->name);
        rc = b ? add_row(c, a, b, e) : COV_OK;
    }
    return !rc && c->n == 0 ? cov_fail(e, COV_EINPUT, "no common figures") : rc;
}

static void print_table(const void *arg, FILE *f)
{
    const struct comparison *c = arg;
    (void)fprintf(f, "name\tunit\tbase\tnew\tratio\tlow\thigh\tverdict\n");
    for (const struct row *r = c->rows; r < c->rows + c->n; r++) {
        cov_table_put_text(r->base->name, f);
        (void)fputc('\t', f);
        cov_table_put_text(r->base->unit, f);
        (void)fprintf(f, "\t%.6g\t%.6g\t%.4f\t%.4f\t%.4f\t%s\n", r->base->median,
                      r->new_one->median, r->ratio.at, r->ratio.low, r->ratio.high,
                      is_worse(c, r)    ? "worse"
                      : is_better(c, r) ? "better"
                                        : "same");
    }
}

/* ---------------------------------------------------------------- the subcommand */

static const struct cov_opt compare_options[] = {
    BENCHMARK_FRACTION("max-slowdown", offsetof(struct compare_config, max_slowdown), "0.1", 1000,
                       "fraction by which a figure may be worse"),
    BENCHMARK_FRACTION("probe-tolerance", offsetof(struct compare_config, probe_tolerance), "0.25",
                       1000, "fraction by which the probes of the machines may differ"),
    {.name = NULL},
};

/* Fails with COV_EUNLIKE if the machines differ. The table is written even if a figure is worse. */
static int compare_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                       char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    struct comparison c = {.options = *(const struct compare_config *)config};
    struct cov_table_outputs out = COV_TABLE_OUTPUTS_INIT;
    const struct cov_table_paths paths = {
        .table = common->output, .printed = stdout, .force = common->force};
    int rc = cov_table_outputs_begin(&out, &paths, e);
    if (!rc)
        rc = read_file(operands[0], &c.base, e);
    if (!rc)
        rc = read_file(operands[1], &c.new_one, e);
    if (!rc)
        rc = compare_probes(&c, e);
    if (!rc)
        rc = compare_figures(&c, e);
    if (!rc)
        rc = cov_table_outputs_write(&out, &(struct cov_table_writer){print_table, NULL, NULL, &c},
                                     e);
    if (!rc && c.n_worse > 0)
        rc = cov_fail(e, COV_EINPUT, "%zu of %zu figures %s worse by more than %.4g %%: %s%s",
                      c.n_worse, c.n, c.n_worse == 1 ? "is" : "are", 100 * c.options.max_slowdown,
                      c.worse.text, cov_listing_more(&c.worse));
    cov_outfile_end(&out.table, e);
    close_file(&c.base);
    close_file(&c.new_one);
    free(c.rows);
    return rc;
}

const struct cov_tool benchmark_compare = {
    .name = "compare",
    .summary = "compare the figures of two files",
    .synopsis = "[options] [-o OUT.tsv] BASE.json NEW.json",
    .examples = "  benchmark compare --max-slowdown 0.05 base/benchmark.json new/benchmark.json\n",
    .options = compare_options,
    .config_bytes = sizeof(struct compare_config),
    .min_operands = 2,
    .max_operands = 2,
    .prints_table = true,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .lacks = COV_LACKS_THREADS | COV_LACKS_TMPDIR,
    .run = compare_run,
};
