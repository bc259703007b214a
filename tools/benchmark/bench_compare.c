/* bench_compare.c - see bench_compare.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/figure.h"
#include "tools/benchmark/spread.h"

enum { MAX_FILE = 1 << 28, MORE_BLOCKS = 5, CONFIRM = 2 };
/* A disk that is asked twice does not say the same. */
#define DISK_TOLERANCE 3.0

/* ---------------------------------------------------------------- files */

struct file {
    struct cov_json_value *json;
    struct cov_figures figures;
};

static int read_file(const char *path, struct file *file, struct cov_err *e)
{
    struct stat st;
    FILE *f = fopen(path, "re");
    if (!f)
        return cov_fail_errno(e, "%s", path);
    int rc = COV_OK;
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE)
        rc = cov_fail(e, COV_EINPUT, "%s is not a file of a benchmark", path);
    char *text = rc ? NULL : cov_malloc((size_t)st.st_size + 1, 1, e);
    size_t n = text ? fread(text, 1, (size_t)st.st_size, f) : 0;
    if (!rc && !text)
        rc = COV_ENOMEM;
    if (!rc && ferror(f))
        rc = cov_fail_errno(e, "%s", path);
    (void)fclose(f); /* was only read */
    if (!rc) {
        rc = cov_json_parse(text, n, &file->json, e);
        if (!rc)
            rc = cov_figures_read(file->json, &file->figures, e);
        if (rc)
            (void)cov_err_prefix(e, "%s", path);
    }
    free(text);
    return rc;
}

static void close_file(struct file *file)
{
    cov_json_free(file->json);
    cov_figures_fini(&file->figures);
}

static int compare_probes(const struct file *a, const struct file *b, double tolerance,
                          struct cov_err *e)
{
    const struct cov_json_value *of[2] = {
        cov_json_member(cov_json_member(a->json, "machine"), "probes"),
        cov_json_member(cov_json_member(b->json, "machine"), "probes")};
    for (const struct cov_json_value *v = cov_json_is_object(of[0]) ? cov_json_first(of[0]) : NULL;
         v; v = cov_json_next(v)) {
        const char *name = cov_json_key(v);
        double x, y;
        if (!cov_json_number(v, &x) || !cov_json_number(cov_json_member(of[1], name), &y))
            continue;
        double limit = strncmp(name, "disk", 4) == 0 ? DISK_TOLERANCE : tolerance;
        double less = x < y ? x : y, more = x < y ? y : x;
        if (!(less > 0) || more / less > 1 + limit) {
            char text[64];
            (void)snprintf(text, sizeof text, "%s", name);
            cov_text_make_printable(text);
            return cov_fail(e, COV_EUNLIKE,
                            "these are of different machines, and cannot be compared: the probe %s "
                            "is %.4g there and %.4g here",
                            text, x, y);
        }
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- the table */

struct verdicts {
    size_t n_compared, n_worse;
    struct cov_listing worse;
};

static void put_head(FILE *out)
{
    (void)fprintf(out, "name\tunit\tbase\tnew\tratio\tlow\thigh\tverdict\n");
}

/* A line. Above 1 is worse. */
static void put_row(const char *name, const char *unit, double base, double new_one,
                    const struct cov_spread *r, double max_slowdown, struct verdicts *v, FILE *out)
{
    bool worse = r->at > 1 + max_slowdown && r->low > 1;
    bool better = r->at < 1 / (1 + max_slowdown) && r->high < 1;
    char text[256], of[64];
    (void)snprintf(text, sizeof text, "%s", name);
    (void)snprintf(of, sizeof of, "%s", unit);
    cov_text_make_printable(text);
    cov_text_make_printable(of);
    (void)fprintf(out, "%s\t%s\t%.6g\t%.6g\t%.4f\t%.4f\t%.4f\t%s\n", text, of, base, new_one, r->at,
                  r->low, r->high,
                  worse    ? "worse"
                  : better ? "better"
                           : "same");
    v->n_compared++;
    v->n_worse += worse;
    if (worse)
        cov_listing_add(&v->worse, text);
}

static int conclude(const struct verdicts *v, double max_slowdown, struct cov_err *e)
{
    if (v->n_compared == 0)
        return cov_fail(e, COV_EINPUT, "the files have no figure in common");
    if (v->n_worse == 0)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%zu of %zu figures %s worse by more than %.4g %%: %s%s",
                    v->n_worse, v->n_compared, v->n_worse == 1 ? "is" : "are", 100 * max_slowdown,
                    v->worse.text, cov_listing_more(&v->worse));
}

static int compare_figures(const struct file *base, const struct file *new_one, double max_slowdown,
                           struct verdicts *v, FILE *out, struct cov_err *e)
{
    put_head(out);
    for (size_t i = 0; i < base->figures.n; i++) {
        const struct cov_figure *a = &base->figures.items[i];
        const struct cov_figure *b = cov_figures_find(&new_one->figures, a->name);
        struct cov_spread r;
        if (!b)
            continue;
        if (a->higher_is_better != b->higher_is_better)
            return cov_fail(e, COV_EINPUT,
                            "figure %s: better is higher in one file, lower in the other", a->name);
        const struct cov_figure *under = a->higher_is_better ? b : a;
        const struct cov_figure *over = a->higher_is_better ? a : b;
        int rc = cov_spread_ratio(under->values, under->n, over->values, over->n, &r, e);
        if (rc)
            return rc;
        if (isfinite(r.at) && r.at > 0)
            put_row(a->name, a->unit, a->median, b->median, &r, max_slowdown, v, out);
    }
    return COV_OK;
}

int cov_bench_compare(const char *base, const char *new_one,
                      const struct cov_bench_compare_options *options, FILE *out, struct cov_err *e)
{
    struct file a = {0}, b = {0};
    struct verdicts v = {0};
    int rc = read_file(base, &a, e);
    if (!rc)
        rc = read_file(new_one, &b, e);
    if (!rc)
        rc = compare_probes(&a, &b, options->probe_tolerance, e);
    if (!rc)
        rc = compare_figures(&a, &b, options->max_slowdown, &v, out, e);
    if (!rc)
        rc = conclude(&v, options->max_slowdown, e);
    close_file(&a);
    close_file(&b);
    return rc;
}

/* ---------------------------------------------------------------- commands */

struct pair {
    const struct cov_bench_compare_options *options;
    const char *commands[2];
    double *times[2]; /* [2 a block] */
    double *ratios;   /* [blocks] */
    size_t n, max;
};

static int time_command(const struct pair *p, int which, double *seconds, struct cov_err *e)
{
    const char *const arguments[] = {"/bin/sh", "-c", p->commands[which], NULL};
    struct cov_child child = {.arguments = arguments};
    int rc = cov_children_run(&child, 1, p->options->tmpdir, NULL, e);
    *seconds = p->options->cpu_clock ? child.cost.cpu : child.cost.wall;
    return rc ? cov_err_prefix(e, "%s", p->commands[which]) : rc;
}

static double faster(const double *t)
{
    return t[0] < t[1] ? t[0] : t[1];
}

static int run_block(struct pair *p, struct cov_err *e)
{
    static const int order[4] = {0, 1, 1, 0};
    size_t used[2] = {2 * p->n, 2 * p->n};
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(order) && !rc; i++) {
        int which = order[i];
        rc = time_command(p, which, &p->times[which][used[which]++], e);
    }
    if (rc)
        return rc;
    double a = faster(p->times[0] + 2 * p->n), b = faster(p->times[1] + 2 * p->n);
    if (!(a > 0) || !(b > 0))
        return cov_fail(e, COV_EINPUT, "%s: takes no time that could be measured",
                        p->commands[a > 0]);
    p->ratios[p->n++] = b / a;
    cov_progress_add(p->options->progress, 1);
    return COV_OK;
}

static int run_blocks(struct pair *p, struct cov_spread *r, struct cov_err *e)
{
    double ignored, limit = 1 + p->options->max_slowdown;
    int rc = time_command(p, 0, &ignored, e);
    if (!rc)
        rc = time_command(p, 1, &ignored, e);
    bool enough = false;
    while (!rc && !enough) {
        rc = run_block(p, e);
        if (!rc && p->n >= p->options->blocks) {
            rc = cov_spread_of(p->ratios, p->n, r, e);
            /* That it is slower is said of twice as many: few ratios are close by chance. */
            enough = p->n == p->max || r->high < limit ||
                     (r->low > limit && p->n >= CONFIRM * p->options->blocks);
        }
    }
    return rc;
}

static double median(double *v, size_t n)
{
    cov_spread_sort(v, n);
    return cov_spread_median(v, n);
}

int cov_bench_compare_paired(const char *a, const char *b,
                             const struct cov_bench_compare_options *options, FILE *out,
                             struct cov_err *e)
{
    struct pair p = {.options = options, .commands = {a, b}, .max = options->blocks * MORE_BLOCKS};
    struct verdicts v = {0};
    struct cov_spread r = {0};
    p.times[0] = cov_calloc(2 * p.max, sizeof(double), e);
    p.times[1] = cov_calloc(2 * p.max, sizeof(double), e);
    p.ratios = cov_calloc(p.max, sizeof(double), e);
    int rc = p.times[0] && p.times[1] && p.ratios ? COV_OK : COV_ENOMEM;
    cov_progress_begin(options->progress, "running in turn", "blocks", (int64_t)options->blocks);
    if (!rc)
        rc = run_blocks(&p, &r, e);
    cov_progress_end(options->progress);
    if (!rc) {
        put_head(out);
        put_row(b, "s", median(p.times[0], 2 * p.n), median(p.times[1], 2 * p.n), &r,
                options->max_slowdown, &v, out);
        if (v.n_worse > 0)
            rc = cov_fail(e, COV_EINPUT,
                          "%s takes %.3f times as long (%.3f to %.3f), more than %.4g %% longer", b,
                          r.at, r.low, r.high, 100 * options->max_slowdown);
    }
    free(p.times[0]);
    free(p.times[1]);
    free(p.ratios);
    return rc;
}
