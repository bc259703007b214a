/* bench_shards.c - benchmark shards: the time of each shard of a prediction, from covpredict
 * --stats.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/job/chart.h"
#include "common/job/table_outputs.h"
#include "tools/benchmark/measuring.h"

/* Numbers of the file, in the order of the columns; stages are members of "stages". */
enum { BASES, CHUNKS, COMPUTED, WALL, CPU, FETCH, COMPUTE, STORE, THREADS, MEMORY, NUMBERS };
static const struct {
    const char *key;
    bool is_stage;
} numbers[NUMBERS] = {
    [BASES] = {"bases", false},
    [CHUNKS] = {"chunks", false},
    [COMPUTED] = {"positions_computed", false},
    [WALL] = {"wall_seconds", false},
    [CPU] = {"cpu_seconds", false},
    [FETCH] = {"fetch", true},
    [COMPUTE] = {"compute", true},
    [STORE] = {"store", true},
    [THREADS] = {"threads", false},
    [MEMORY] = {"peak_rss_bytes", false},
};

struct shard {
    char *name, *region, *device; /* Owned */
    double number[NUMBERS];       /* NaN: not in the file */
};

struct shards {
    struct shard *items;
    size_t n;
};

static double seconds_per_mbp(const struct shard *s, int which)
{
    return 1e6 * s->number[which] / s->number[BASES];
}

/* ---------------------------------------------------------------- reading */

static int take(struct shard *s, const struct cov_json_value *v, struct cov_err *e)
{
    const char *tool = cov_json_text(v, "tool"), *region = cov_json_text(v, "region");
    const char *device = cov_json_text(v, "device");
    if (!tool || strcmp(tool, "covpredict") != 0)
        return cov_fail(e, COV_EINPUT, "not written by covpredict --stats");
    for (size_t i = 0; i < NUMBERS; i++) {
        const struct cov_json_value *of = numbers[i].is_stage ? cov_json_member(v, "stages") : v;
        if (!cov_json_number(cov_json_member(of, numbers[i].key), &s->number[i]))
            s->number[i] = (double)NAN;
    }
    if (!(s->number[BASES] > 0) || !(s->number[WALL] >= 0) || !(s->number[CPU] >= 0))
        return cov_fail(e, COV_EINPUT, "no bases, wall_seconds or cpu_seconds");
    s->region = cov_strdup(region ? region : "NA", e);
    s->device = cov_strdup(device ? device : "NA", e);
    return s->region && s->device ? COV_OK : COV_ENOMEM;
}

/* Returns the name of a file without its folder and .json or _mqc.json. Caller frees. */
static char *name_of(const char *path, struct cov_err *e)
{
    static const char *const suffixes[] = {"_mqc.json", ".json"};
    char *name = cov_path_stem(path, e);
    for (size_t i = 0; name && i < COV_COUNT(suffixes); i++) {
        size_t n = strlen(name), cut = strlen(suffixes[i]);
        if (n > cut && strcmp(name + n - cut, suffixes[i]) == 0)
            name[n - cut] = '\0';
    }
    return name;
}

static int read_shard(const char *path, struct shard *s, struct cov_err *e)
{
    struct cov_json_value *v;
    s->name = name_of(path, e);
    int rc = s->name ? bench_read_json(path, &v, e) : COV_ENOMEM;
    if (rc)
        return rc;
    rc = take(s, v, e);
    cov_json_free(v);
    return rc ? cov_err_prefix(e, "%s", path) : COV_OK;
}

/* ---------------------------------------------------------------- writing */

static void print_table(const void *arg, FILE *f)
{
    const struct shards *s = arg;
    (void)fputs("shard\tregion", f);
    for (size_t k = 0; k < NUMBERS; k++)
        (void)fprintf(f, "\t%s%s", numbers[k].key, numbers[k].is_stage ? "_seconds" : "");
    (void)fputs("\tseconds_per_mbp\tdevice\n", f);
    for (size_t i = 0; i < s->n; i++) {
        const struct shard *of = &s->items[i];
        cov_table_put_text(of->name, f);
        (void)fputc('\t', f);
        cov_table_put_text(of->region, f);
        for (size_t k = 0; k < NUMBERS; k++)
            cov_table_put_number(of->number[k], f);
        cov_table_put_number(seconds_per_mbp(of, WALL), f);
        (void)fputc('\t', f);
        cov_table_put_text(of->device, f);
        (void)fputc('\n', f);
    }
}

/* Draws the cost of a base along the genome: a point in the middle of each shard. */
static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct shards *s = arg;
    double bases = 0, before = 0;
    for (size_t i = 0; i < s->n; i++)
        bases += s->items[i].number[BASES];
    const struct cov_chart like = {.kind = COV_CHART_LINES,
                                   .file = "shards",
                                   .title = "Time of the shards of a prediction",
                                   .x = "million bases, shard after shard",
                                   .y = "seconds per million bases",
                                   .right = bases * 1e-6};
    struct cov_charts charts = {0};
    struct cov_chart *chart;
    int rc = cov_charts_add(&charts, &like, &chart, e);
    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct shard *of = &s->items[i];
        double middle = (before + of->number[BASES] / 2) * 1e-6;
        before += of->number[BASES];
        rc = cov_chart_add(chart, "wall", middle, seconds_per_mbp(of, WALL), e);
        if (!rc)
            rc = cov_chart_add(chart, "CPU", middle, seconds_per_mbp(of, CPU), e);
    }
    if (!rc)
        rc = cov_chart_draw_picture(chart, picture, e);
    cov_charts_fini(&charts);
    return rc;
}

/* "shards": [...] of --stats. */
static void print_json(struct cov_json *j, const void *job)
{
    const struct shards *s = job;
    cov_json_begin_array(j, "shards");
    for (size_t i = 0; i < s->n; i++) {
        cov_json_begin_object(j, NULL);
        cov_json_string(j, "shard", s->items[i].name);
        cov_json_string(j, "region", s->items[i].region);
        cov_json_double(j, "wall_seconds", s->items[i].number[WALL]);
        cov_json_double(j, "seconds_per_mbp", seconds_per_mbp(&s->items[i], WALL));
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
}

static void free_shards(void *job)
{
    struct shards *s = job;
    for (size_t i = 0; s && s->items && i < s->n; i++) {
        free(s->items[i].name);
        free(s->items[i].region);
        free(s->items[i].device);
    }
    if (s)
        free(s->items);
    free(s);
}

/* Reports the slowest shard, which decides when the prediction ends. */
static void report(const struct shards *s)
{
    const struct shard *slowest = &s->items[0];
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        sum += s->items[i].number[WALL];
        if (s->items[i].number[WALL] > slowest->number[WALL])
            slowest = &s->items[i];
    }
    cov_info("%zu shard%s, %.3g s on average; slowest: %s (%s), %.3g s", s->n, cov_text_s(s->n),
             sum / (double)s->n, slowest->name, slowest->region, slowest->number[WALL]);
}

/* ---------------------------------------------------------------- the subcommand */

struct shards_config {
    const char *plot;
};

static const struct cov_opt shards_options[] = {
    COV_OPT(STRING, "plot", 0, offsetof(struct shards_config, plot), "FILE",
            "draw the seconds per million bases, shard after shard, as a .png or .svg picture",
            .flags = COV_OPT_PATH_OUT),
    {.name = NULL},
};

static int shards_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    const struct shards_config *c = config;
    struct cov_table_outputs out = COV_TABLE_OUTPUTS_INIT;
    const struct cov_table_paths paths = {
        .table = common->output, .printed = stdout, .plot = c->plot, .force = common->force};
    struct shards *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return COV_ENOMEM;
    s->n = (size_t)n_operands;
    s->items = cov_calloc(s->n, sizeof *s->items, e);
    int rc = s->items ? cov_table_outputs_begin(&out, &paths, e) : COV_ENOMEM;
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = read_shard(operands[i], &s->items[i], e);
    if (!rc)
        rc = cov_table_outputs_write(&out, &(struct cov_table_writer){print_table, NULL, draw, s},
                                     e);
    if (!rc)
        report(s);
    return cov_table_outputs_end(&out, rc, &(struct cov_table_job){print_json, free_shards, s},
                                 &common->stats, e);
}

const struct cov_tool benchmark_shards = {
    .name = "shards",
    .summary = "time and memory of the shards of a prediction, from covpredict --stats",
    .synopsis = "[options] [-o OUT.tsv] STATS.json...",
    .examples = "  benchmark shards --plot shards.svg -o shards.tsv stats/shard.*.json\n",
    .options = shards_options,
    .config_bytes = sizeof(struct shards_config),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .lacks = COV_LACKS_TMPDIR | COV_LACKS_THREADS,
    .run = shards_run,
};
