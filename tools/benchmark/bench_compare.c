/* bench_compare.c - benchmark compare: two files of figures, or two commands run alternately.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/figure.h"
#include "tools/benchmark/measuring.h"

/* Paired commands run up to MORE_BLOCKS times the requested blocks while the result is
 * undecided, and at least CONFIRM times as many before B is called slower. */
enum { MORE_BLOCKS = 5, CONFIRM = 2 };
/* Disk probes vary a lot between runs. */
#define DISK_TOLERANCE 3.0

struct settings {
    double max_slowdown;    /* fail if a figure is worse by more than this fraction */
    double probe_tolerance; /* fraction that the probes of the machines may differ by */
    size_t blocks;          /* minimum number of blocks A B B A */
    bool cpu_clock;         /* compare CPU time of commands, instead of wall time */
    const char *tmpdir;
    struct cov_progress *progress;
};

/* ---------------------------------------------------------------- files */

struct file {
    struct cov_json_value *json;
    struct figures figures;
};

static int read_file(const char *path, struct file *file, struct cov_err *e)
{
    int rc = bench_read_json(path, &file->json, e);
    if (rc)
        return rc;
    rc = figures_read(file->json, &file->figures, e);
    return rc ? cov_err_prefix(e, "%s", path) : rc;
}

static void close_file(struct file *file)
{
    cov_json_free(file->json);
    figures_fini(&file->figures);
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
            return cov_fail(
                e, COV_EUNLIKE,
                "the files are from different machines: probe %s is %.4g in the first and "
                "%.4g in the second",
                text, x, y);
        }
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- the table */

/* The table, and a summary of its verdicts. */
struct verdicts {
    FILE *out;
    double max_slowdown;
    size_t n_compared, n_worse;
    struct cov_listing worse;
};

static void put_head(const struct verdicts *v)
{
    (void)fprintf(v->out, "name\tunit\tbase\tnew\tratio\tlow\thigh\tverdict\n");
}

/* r: ratio of the speeds; above 1 if NEW is worse */
static void put_row(struct verdicts *v, const char *name, const char *unit, double base,
                    double new_one, const struct spread *r)
{
    bool worse = r->at > 1 + v->max_slowdown && r->low > 1;
    bool better = r->at < 1 / (1 + v->max_slowdown) && r->high < 1;
    char text[256], of[64];
    (void)snprintf(text, sizeof text, "%s", name);
    (void)snprintf(of, sizeof of, "%s", unit);
    cov_text_make_printable(text);
    cov_text_make_printable(of);
    (void)fprintf(v->out, "%s\t%s\t%.6g\t%.6g\t%.4f\t%.4f\t%.4f\t%s\n", text, of, base, new_one,
                  r->at, r->low, r->high,
                  worse    ? "worse"
                  : better ? "better"
                           : "same");
    v->n_compared++;
    v->n_worse += worse;
    if (worse)
        cov_listing_add(&v->worse, text);
}

static int conclude(const struct verdicts *v, struct cov_err *e)
{
    if (v->n_compared == 0)
        return cov_fail(e, COV_EINPUT, "no common figures");
    if (v->n_worse == 0)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%zu of %zu figures %s worse by more than %.4g %%: %s%s",
                    v->n_worse, v->n_compared, v->n_worse == 1 ? "is" : "are",
                    100 * v->max_slowdown, v->worse.text, cov_listing_more(&v->worse));
}

static int compare_figures(const struct file *base, const struct file *new_one, struct verdicts *v,
                           struct cov_err *e)
{
    put_head(v);
    for (size_t i = 0; i < base->figures.n; i++) {
        const struct figure *a = &base->figures.items[i];
        const struct figure *b = figures_find(&new_one->figures, a->name);
        struct spread r;
        if (!b)
            continue;
        if (a->higher_is_better != b->higher_is_better)
            return cov_fail(e, COV_EINPUT, "figure %s: \"better\" differs between the files",
                            a->name);
        const struct figure *under = a->higher_is_better ? b : a;
        const struct figure *over = a->higher_is_better ? a : b;
        int rc = spread_ratio(under->values, under->n, over->values, over->n, &r, e);
        if (rc)
            return rc;
        if (isfinite(r.at) && r.at > 0)
            put_row(v, a->name, a->unit, a->median, b->median, &r);
    }
    return COV_OK;
}

/* Returns COV_EINPUT if a figure is worse by more than max_slowdown and its interval is above 1, or
 * if there is nothing to compare. If the machines differ, returns COV_EUNLIKE and prints nothing.
 * */
static int compare_files(const char *base, const char *new_one, const struct settings *options,
                         FILE *out, struct cov_err *e)
{
    struct file a = {0}, b = {0};
    struct verdicts v = {.out = out, .max_slowdown = options->max_slowdown};
    int rc = read_file(base, &a, e);
    if (!rc)
        rc = read_file(new_one, &b, e);
    if (!rc)
        rc = compare_probes(&a, &b, options->probe_tolerance, e);
    if (!rc)
        rc = compare_figures(&a, &b, &v, e);
    if (!rc)
        rc = conclude(&v, e);
    close_file(&a);
    close_file(&b);
    return rc;
}

/* ---------------------------------------------------------------- commands */

struct pair {
    const struct settings *options;
    const char *commands[2];
    double *times[2]; /* [2 per block] */
    double *ratios;   /* [blocks] */
    size_t n, max;
};

static int time_command(const struct pair *p, int which, double *seconds, struct cov_err *e)
{
    const char *const arguments[] = {"/bin/sh", "-c", p->commands[which], NULL};
    struct child child = {.arguments = arguments};
    int rc = children_run(&child, 1, p->options->tmpdir, NULL, e);
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
        return cov_fail(e, COV_EINPUT, "%s: too fast to be measured", p->commands[a > 0]);
    p->ratios[p->n++] = b / a;
    cov_progress_add(p->options->progress, 1);
    return COV_OK;
}

static int run_blocks(struct pair *p, struct spread *r, struct cov_err *e)
{
    double ignored, limit = 1 + p->options->max_slowdown;
    int rc = time_command(p, 0, &ignored, e);
    if (!rc)
        rc = time_command(p, 1, &ignored, e);
    bool enough = false;
    while (!rc && !enough) {
        rc = run_block(p, e);
        if (!rc && p->n >= p->options->blocks) {
            rc = spread_of(p->ratios, p->n, r, e);
            enough = p->n == p->max || r->high < limit ||
                     (r->low > limit && p->n >= CONFIRM * p->options->blocks);
        }
    }
    return rc;
}

static double median(double *v, size_t n)
{
    spread_sort(v, n);
    return spread_median(v, n);
}

/* Each block gives the ratio of the faster B to the faster A; the result is the median of these
 * ratios. Fails like compare_files. */
static int compare_commands(const char *a, const char *b, const struct settings *options, FILE *out,
                            struct cov_err *e)
{
    struct pair p = {.options = options, .commands = {a, b}, .max = options->blocks * MORE_BLOCKS};
    struct verdicts v = {.out = out, .max_slowdown = options->max_slowdown};
    struct spread r = {0};
    p.times[0] = cov_calloc(2 * p.max, sizeof(double), e);
    p.times[1] = cov_calloc(2 * p.max, sizeof(double), e);
    p.ratios = cov_calloc(p.max, sizeof(double), e);
    int rc = p.times[0] && p.times[1] && p.ratios ? COV_OK : COV_ENOMEM;
    cov_progress_begin(options->progress, "running in turn", "blocks", (int64_t)options->blocks);
    if (!rc)
        rc = run_blocks(&p, &r, e);
    cov_progress_end(options->progress);
    if (!rc) {
        put_head(&v);
        put_row(&v, b, "s", median(p.times[0], 2 * p.n), median(p.times[1], 2 * p.n), &r);
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

/* ---------------------------------------------------------------- the subcommand */

struct compare_config {
    double max_slowdown, tolerance;
    bool paired;
    int64_t repeats;
    int clock;
};

#define FIELD(name) offsetof(struct compare_config, name)

static const char *const clocks[] = {"wall", "cpu", NULL};

enum { ROW_SLOWDOWN, ROW_TOLERANCE, ROW_PAIRED, ROW_REPEATS, ROW_CLOCK };

static const struct cov_opt compare_options[] = {
    [ROW_SLOWDOWN] = BENCHMARK_FRACTION("max-slowdown", FIELD(max_slowdown), "0.1", 1000,
                                        "fraction by which a figure may be worse"),
    [ROW_TOLERANCE] = BENCHMARK_FRACTION("probe-tolerance", FIELD(tolerance), "0.25", 1000,
                                         "fraction by which the probes of the machines may differ"),
    [ROW_PAIRED] = COV_OPT(FLAG, "paired", 0, FIELD(paired), NULL,
                           "run two commands alternately, and compare their times"),
    [ROW_REPEATS] = COV_OPT(
        INT, "repeats", 0, FIELD(repeats), "N",
        "blocks of runs A, B, B, A, at least 5; up to five times as many if the times vary a lot",
        .def = "10", .min = 5, .max = 1000),
    [ROW_CLOCK] = COV_OPT(ENUM, "clock", 0, FIELD(clock), NULL,
                          "time of commands that is compared: wall or CPU time", .def = "wall",
                          .choices = clocks),
    {.name = NULL},
};

static int compare_to(const struct compare_config *c, char **operands,
                      const struct settings *options, FILE *out, struct cov_err *e)
{
    return c->paired ? compare_commands(operands[0], operands[1], options, out, e)
                     : compare_files(operands[0], operands[1], options, out, e);
}

/* The table is written even if a figure is worse. */
static int compare_to_file(const struct compare_config *c, char **operands,
                           const struct settings *options, const char *output, bool force,
                           struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_newfolder made = COV_NEWFOLDER_INIT;
    bool folder = cov_path_names_dir(output);
    char *path = folder ? cov_path_join(output, "compare.tsv", e) : cov_strdup(output, e);
    int rc = !path ? COV_ENOMEM : folder ? cov_newfolder_make(&made, output, e) : COV_OK;
    if (!rc)
        rc = cov_outfile_begin(&out, path, COV_OUTFILE_TABLE, force, e);
    FILE *f = rc ? NULL : fopen(out.tmp, "we");
    if (!rc && !f)
        rc = cov_fail_errno(e, "%s", path);
    int verdict = rc ? rc : compare_to(c, operands, options, f, e);
    long n = f ? ftell(f) : 0;
    bool bad = f && ferror(f);
    if (f && (fclose(f) != 0 || bad)) {
        if (e)
            *e = (struct cov_err)COV_ERR_INIT; /* without a table the verdict is void */
        verdict = cov_fail_errno(e, "%s", path);
        n = 0;
    }
    if (!rc && n > 0) {
        struct cov_err why = COV_ERR_INIT;
        rc = cov_outfile_commit(&out, &why);
        if (rc && !verdict)
            verdict = cov_fail(e, rc, "%s", why.text);
    }
    cov_outfile_end(&out, e);
    cov_newfolder_fini(&made);
    free(path);
    return verdict;
}

static int compare_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                       char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct compare_config *c = config;
    const struct settings options = {.max_slowdown = c->max_slowdown,
                                     .probe_tolerance = c->tolerance,
                                     .blocks = (size_t)c->repeats,
                                     .cpu_clock = c->clock == 1,
                                     .tmpdir = common->tmpdir ? common->tmpdir : ".",
                                     .progress = &common->progress};
    if (!c->paired && (given[ROW_REPEATS] || given[ROW_CLOCK]))
        return cov_fail(e, COV_EUSAGE, "--%s needs --paired",
                        compare_options[given[ROW_REPEATS] ? ROW_REPEATS : ROW_CLOCK].name);
    if (c->paired && given[ROW_TOLERANCE])
        return cov_fail(e, COV_EUSAGE, "--probe-tolerance cannot be used with --paired");
    if (!common->output || cov_path_is_std(common->output))
        return compare_to(c, operands, &options, stdout, e);
    return compare_to_file(c, operands, &options, common->output, common->force, e);
}

const struct cov_tool benchmark_compare = {
    .name = "compare",
    .summary = "compare the figures of two files, or the times of two commands",
    .synopsis =
        "[options] BASE.json NEW.json\n       benchmark compare --paired [options] 'COMMAND A' "
        "'COMMAND B'",
    .examples = "  benchmark compare --max-slowdown 0.05 base/benchmark.json new/benchmark.json\n"
                "  benchmark compare --paired 'old/fasta2h5 -fo x.h5 g.fa' 'new/fasta2h5 -fo x.h5 "
                "g.fa'\n",
    .options = compare_options,
    .config_bytes = sizeof(struct compare_config),
    .min_operands = 2,
    .max_operands = 2,
    .output_optional = true,
    .output_help =
        "file for the table, or a folder (DIR/) for compare.tsv, created if missing (default: "
        "standard output)",
    .lacks = COV_LACKS_THREADS,
    .run = compare_run,
};
