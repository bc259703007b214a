/* stats.c - see stats.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/file/textfile.h"

/* Limits the memory for a file that is not statistics. */
enum { MAX_STATS_BYTES = 1 << 20 };

void cov_stats_init(struct cov_stats *s, const char *tool, const char *version)
{
    *s = (struct cov_stats){
        .tool = tool,
        .version = version,
        .bases = -1,
        .chunks = -1,
        .positions_computed = -1,
        .positions_at_rest = -1,
        .chunks_repeated = -1,
        .earlier = {.bases = -1, .chunks = -1},
        .started = cov_clock(),
    };
}

void cov_stats_fini(struct cov_stats *s)
{
    if (s->free_more)
        s->free_more(s->more);
    for (int i = 0; i < s->n_inputs; i++)
        free(s->inputs[i]);
    for (int i = 0; i < s->n_figures; i++)
        free(s->figures[i].part);
    for (int i = 0; i < s->n_sources; i++) {
        free(s->sources[i].path);
        free(s->sources[i].name);
        free(s->sources[i].text);
    }
    free(s->events);
    free(s->command);
    free(s->inputs);
    free(s->figures);
    free(s->sources);
    free(s->model);
    free(s->model_sha256);
    free(s->region);
    free(s->device);
    free(s->products);
    *s = (struct cov_stats){.tool = s->tool, .version = s->version};
}

/* Prints `arg` quoted as one word for a shell. */
static void put_quoted(FILE *f, const char *arg)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";
    if (*arg && strspn(arg, plain) == strlen(arg)) {
        (void)fputs(arg, f);
        return;
    }
    (void)fputc('\'', f);
    for (; *arg; arg++)
        if (*arg == '\'')
            (void)fputs("'\\''", f);
        else
            (void)fputc(*arg, f);
    (void)fputc('\'', f);
}

char *cov_command_text(int argc, const char *const *argv, struct cov_err *e)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) {
        (void)cov_fail_errno(e, "command line");
        return NULL;
    }
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            (void)fputc(' ', f);
        put_quoted(f, argv[i]);
    }
    if (fclose(f) || !text) { /* glibc may lose the text at the end, and say nothing */
        (void)cov_fail(e, COV_ENOMEM, "command line: out of memory");
        free(text);
        return NULL;
    }
    return text;
}

int cov_stats_set_command(struct cov_stats *s, int argc, char **argv, struct cov_err *e)
{
    char *text = cov_command_text(argc, (const char *const *)argv, e);
    if (!text)
        return COV_ENOMEM;
    free(s->command);
    s->command = text;
    return COV_OK;
}

int cov_stats_add_input(struct cov_stats *s, const char *path, struct cov_err *e)
{
    for (int i = 0; i < s->n_inputs; i++)
        if (strcmp(s->inputs[i], path) == 0)
            return COV_OK;
    char **grown = cov_realloc(s->inputs, (size_t)s->n_inputs + 1, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    s->inputs = grown;
    s->inputs[s->n_inputs] = cov_strdup(path, e);
    if (!s->inputs[s->n_inputs])
        return COV_ENOMEM;
    s->n_inputs++;
    return COV_OK;
}

int cov_stats_set_model(struct cov_stats *s, const char *path, const char *sha256,
                        struct cov_err *e)
{
    free(s->model);
    free(s->model_sha256);
    s->model = cov_strdup(path, e);
    s->model_sha256 = cov_strdup(sha256, e);
    return s->model && s->model_sha256 ? COV_OK : COV_ENOMEM;
}

void cov_stats_set_more(struct cov_stats *s, void (*print)(struct cov_json *j, const void *more),
                        void (*free_it)(void *more), void *more)
{
    s->print_more = print;
    s->free_more = free_it;
    s->more = more;
}

int cov_stats_add_source(struct cov_stats *s, const char *path, const char *name, const char *text,
                         struct cov_err *e)
{
    for (int i = 0; i < s->n_sources; i++)
        if (strcmp(s->sources[i].path, path) == 0 && strcmp(s->sources[i].name, name) == 0)
            return COV_OK;
    struct cov_stats_source *grown =
        cov_realloc(s->sources, (size_t)s->n_sources + 1, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    s->sources = grown;
    struct cov_stats_source *added = &s->sources[s->n_sources++];
    *added =
        (struct cov_stats_source){cov_strdup(path, e), cov_strdup(name, e), cov_strdup(text, e)};
    return added->path && added->name && added->text ? COV_OK : COV_ENOMEM;
}

void cov_stats_add_stage(struct cov_stats *s, const char *name, double seconds)
{
    int i = 0;
    while (i < s->n_stages && strcmp(s->stages[i].name, name) != 0)
        i++;
    if (i == COV_STATS_MAX_STAGES)
        i--;
    else if (i == s->n_stages)
        s->stages[s->n_stages++].name = name;
    s->stages[i].seconds += seconds;
}

int cov_stats_add_figure(struct cov_stats *s, const char *part,
                         const struct cov_stats_figure *figure, struct cov_err *e)
{
    struct cov_stats_figure *grown =
        cov_realloc(s->figures, (size_t)s->n_figures + 1, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    s->figures = grown;
    char *copy = part ? cov_strdup(part, e) : NULL;
    if (part && !copy)
        return COV_ENOMEM;
    grown[s->n_figures] = *figure;
    grown[s->n_figures++].part = copy;
    return COV_OK;
}

int cov_stats_add_figures(struct cov_stats *s, const char *part,
                          const struct cov_stats_figure *figures, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_stats_add_figure(s, part, &figures[i], e);
    return rc;
}

/* Reads the member `key`, which has to be so small that sums of many files do not overflow. */
static int get_number(const struct cov_json_value *v, const char *key, double *value,
                      struct cov_err *e)
{
    if (!cov_json_number(cov_json_member(v, key), value) || !(*value >= 0) || *value > 1e13)
        return cov_fail(e, COV_EINPUT, "%s is missing or out of range", key);
    return COV_OK;
}

/* The seconds are those of all runs, if the shard was resumed. */
static int add_shard(struct cov_stats_shards *shards, const struct cov_json_value *v,
                     struct cov_err *e)
{
    static const char *const keys[] = {"bases",       "chunks",  "wall_seconds",
                                       "cpu_seconds", "threads", "peak_rss_bytes"};
    enum { BASES, CHUNKS, WALL, CPU, THREADS, MEMORY };
    const struct cov_json_value *all_runs = cov_json_member(v, "all_runs");
    double resumed;
    double value[COV_COUNT(keys)] = {0};
    const char *tool = cov_json_text(v, "tool");
    if (!tool || strcmp(tool, "covpredict") != 0)
        return cov_fail(e, COV_EINPUT, "not written by covpredict --stats");
    for (size_t i = 0; i < COV_COUNT(keys); i++)
        if (get_number(all_runs && (i == WALL || i == CPU) ? all_runs : v, keys[i], &value[i], e))
            return COV_EINPUT;
    if (!all_runs && cov_json_number(cov_json_member(v, "chunks_resumed"), &resumed))
        value[WALL] = value[CPU] = (double)NAN;
    shards->n++;
    shards->bases += (int64_t)value[BASES];
    shards->chunks += (int64_t)value[CHUNKS];
    shards->wall_seconds += value[WALL];
    shards->cpu_seconds += value[CPU];
    if ((int64_t)value[THREADS] > shards->threads)
        shards->threads = (int64_t)value[THREADS];
    if ((int64_t)value[MEMORY] > shards->peak_rss_bytes)
        shards->peak_rss_bytes = (int64_t)value[MEMORY];
    return COV_OK;
}

int cov_stats_add_shard(struct cov_stats *s, const char *path, struct cov_err *e)
{
    struct cov_json_value *v = NULL;
    int rc = cov_textfile_read_json(path, MAX_STATS_BYTES, &v, e);
    if (rc)
        return rc;
    rc = add_shard(&s->shards, v, e);
    cov_json_free(v);
    return rc ? cov_err_prefix(e, rc, "%s", path) : rc;
}

/* Peak memory of this program in bytes; -1 if unknown. */
static int64_t peak_rss(void)
{
    /* VmHWM counts this program only. ru_maxrss also counts the process before exec, which after
     * vfork includes all memory of its parent. */
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    int64_t kib = -1;
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    if (f)
        (void)fclose(f);
    struct rusage usage;
    if (kib < 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = usage.ru_maxrss;
    return kib < 0 ? -1 : kib * 1024;
}

/* Returns n without what earlier runs did. */
static int64_t of_run(int64_t n, int64_t earlier)
{
    return n >= 0 && earlier > 0 ? n - earlier : n;
}

int64_t cov_stats_bases_of_run(const struct cov_stats *s)
{
    return of_run(s->bases, s->earlier.bases);
}

void cov_stats_finish(struct cov_stats *s)
{
    struct rusage usage;
    s->wall_seconds = cov_clock() - s->started;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        s->cpu_seconds = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
                         (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
    s->peak_rss_bytes = peak_rss();
}

/* ---------------------------------------------------------------- JSON */

static void put_optional(struct cov_json *j, const char *key, int64_t value)
{
    if (value >= 0)
        cov_json_int(j, key, value);
}

static void put_rate(struct cov_json *j, const char *key, int64_t n, double seconds)
{
    if (n >= 0 && seconds > 0)
        cov_json_double(j, key, (double)n / seconds);
}

static void put_seconds(struct cov_json *j, double wall, double cpu)
{
    if (isfinite(wall))
        cov_json_double(j, "wall_seconds", wall);
    if (isfinite(cpu))
        cov_json_double(j, "cpu_seconds", cpu);
}

/* What other runs computed, and the time of all. */
static void put_earlier(const struct cov_stats *s, struct cov_json *j)
{
    const struct cov_stats_earlier *w = &s->earlier;
    put_optional(j, "bases_resumed", w->bases);
    put_optional(j, "chunks_resumed", w->chunks);
    if (!w->has_times)
        return;
    cov_json_begin_object(j, "all_runs");
    cov_json_int(j, "n", w->n_runs + 1);
    put_seconds(j, w->wall_seconds + s->wall_seconds, w->cpu_seconds + s->cpu_seconds);
    cov_json_end_object(j);
}

static void put_shards(const struct cov_stats_shards *shards, struct cov_json *j)
{
    cov_json_begin_object(j, "shards");
    cov_json_int(j, "n", shards->n);
    cov_json_int(j, "threads", shards->threads);
    put_seconds(j, shards->wall_seconds, shards->cpu_seconds);
    put_optional(j, "peak_rss_bytes", shards->peak_rss_bytes);
    cov_json_int(j, "bases", shards->bases);
    cov_json_int(j, "chunks", shards->chunks);
    put_rate(j, "bases_per_second", shards->bases, shards->wall_seconds);
    cov_json_end_object(j);
}

static void put_sources(const struct cov_stats *s, struct cov_json *j)
{
    cov_json_begin_array(j, "sources");
    for (int i = 0; i < s->n_sources; i++) {
        const struct cov_stats_source *a = &s->sources[i];
        if (i == 0 || strcmp(a->path, a[-1].path) != 0) {
            cov_json_begin_object(j, NULL);
            cov_json_string(j, "path", a->path);
            cov_json_begin_object(j, "attributes");
        }
        cov_json_string(j, a->name, a->text);
        if (i + 1 == s->n_sources || strcmp(a->path, a[1].path) != 0) {
            cov_json_end_object(j);
            cov_json_end_object(j);
        }
    }
    cov_json_end_array(j);
}

void cov_stats_put(const struct cov_stats *s, struct cov_json *j)
{
    cov_json_string(j, "tool", s->tool);
    cov_json_string(j, "version", s->version);
    cov_json_string(j, "command", s->command);
    cov_json_begin_array(j, "inputs");
    for (int i = 0; i < s->n_inputs; i++)
        cov_json_string(j, NULL, s->inputs[i]);
    cov_json_end_array(j);
    if (s->model) {
        cov_json_string(j, "model", s->model);
        cov_json_string(j, "model_sha256", s->model_sha256);
    }
    if (s->n_sources > 0)
        put_sources(s, j);
    cov_json_string(j, "device", s->device ? s->device : "cpu");
    cov_json_int(j, "threads", s->threads);
    cov_json_string(j, "precision", s->precision);
    if (s->products)
        cov_json_string(j, "products", s->products);
    cov_json_double(j, "wall_seconds", s->wall_seconds);
    cov_json_double(j, "cpu_seconds", s->cpu_seconds);
    put_optional(j, "peak_rss_bytes", s->peak_rss_bytes);
    if (s->region)
        cov_json_string(j, "region", s->region);
    put_optional(j, "bases", s->bases);
    put_optional(j, "chunks", s->chunks);
    put_optional(j, "positions_computed", s->positions_computed);
    put_optional(j, "positions_at_rest", s->positions_at_rest);
    put_optional(j, "chunks_repeated", s->chunks_repeated);
    put_rate(j, "bases_per_second", cov_stats_bases_of_run(s), s->wall_seconds);
    put_rate(j, "chunks_per_second", of_run(s->chunks, s->earlier.chunks), s->wall_seconds);
    put_earlier(s, j);
    if (s->n_stages > 0) {
        cov_json_begin_object(j, "stages");
        for (int i = 0; i < s->n_stages; i++)
            cov_json_double(j, s->stages[i].name, s->stages[i].seconds);
        cov_json_end_object(j);
    }
    if (s->shards.n)
        put_shards(&s->shards, j);
    if (s->print_more)
        s->print_more(j, s->more);
}
