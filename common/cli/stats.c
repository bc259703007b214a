/* stats.c - see stats.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/stats.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/outfile.h"

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
        .started = cov_clock(),
    };
}

void cov_stats_fini(struct cov_stats *s)
{
    if (s->free_more)
        s->free_more(s->more);
    s->free_more = NULL;
    s->more = NULL;
    free(s->command);
    for (int i = 0; i < s->n_inputs; i++)
        free(s->inputs[i]);
    free(s->inputs);
    for (int i = 0; i < s->n_figures; i++)
        free(s->figures[i].part);
    free(s->figures);
    s->figures = NULL;
    s->n_figures = 0;
    free(s->device);
    s->command = NULL;
    s->inputs = NULL;
    s->n_inputs = 0;
    s->device = NULL;
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

int cov_stats_set_command(struct cov_stats *s, int argc, char **argv, struct cov_err *e)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return cov_fail_errno(e, "command line");
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            (void)fputc(' ', f);
        put_quoted(f, argv[i]);
    }
    if (fclose(f)) {
        free(text);
        return cov_fail_errno(e, "command line");
    }
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

int cov_stats_add_figure(struct cov_stats *s, const char *part, const char *name,
                         const char *description, int decimals, double value, struct cov_err *e)
{
    struct cov_stats_figure *grown =
        cov_realloc(s->figures, (size_t)s->n_figures + 1, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    s->figures = grown;
    struct cov_stats_figure *figure = &s->figures[s->n_figures];
    *figure = (struct cov_stats_figure){
        .description = description,
        .decimals = decimals,
        .value = value,
    };
    (void)snprintf(figure->name, sizeof figure->name, "%s", name);
    if (part) {
        figure->part = cov_strdup(part, e);
        if (!figure->part)
            return COV_ENOMEM;
    }
    s->n_figures++;
    return COV_OK;
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

void cov_stats_finish(struct cov_stats *s)
{
    struct rusage usage;
    s->wall_seconds = cov_clock() - s->started;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        s->cpu_seconds = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
                         (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
    s->peak_rss_bytes = peak_rss();
}

/* ---------------------------------------------------------------- MultiQC */

/* MultiQC reads files with this suffix as "custom content", and needs no configuration to show
 * them: https://docs.seqera.io/multiqc/custom_content. */
static const char multiqc_suffix[] = "_mqc.json";

/* Sets *sample to MultiQC's name for the sample, `path` without its folder and suffix, or to
 * NULL if `path` has another suffix or nothing before the suffix. */
static int get_sample(const char *path, char **sample, struct cov_err *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), n_suffix = strlen(multiqc_suffix);
    *sample = NULL;
    if (n <= n_suffix || strcmp(name + n - n_suffix, multiqc_suffix) != 0)
        return COV_OK;
    *sample = cov_strndup(name, n - n_suffix, e);
    return *sample ? COV_OK : COV_ENOMEM;
}

/* Time and memory of a run, as columns of the table. */
enum { N_COSTS = 7 };
struct cost {
    const char *key, *title, *description, *suffix;
    int decimals;
    double value; /* negative: not applicable */
};

static double per_second(int64_t n, double seconds)
{
    return n >= 0 && seconds > 0 ? (double)n / seconds : -1;
}

static void get_costs(const struct cov_stats *s, struct cost costs[N_COSTS])
{
    const struct cost all[N_COSTS] = {
        {"wall_seconds", "Time", "seconds from start to end", " s", 1, s->wall_seconds},
        {"cpu_seconds", "CPU", "seconds of all threads", " s", 1, s->cpu_seconds},
        {"threads", "Threads", "threads that computed", "", 0, (double)s->threads},
        {"peak_rss_mb", "Memory", "peak memory in MB", " MB", 0,
         s->peak_rss_bytes < 0 ? -1 : (double)s->peak_rss_bytes / 1e6},
        {"bases", "Bases", "bases of the genome", "", 0, (double)s->bases},
        {"chunks", "Chunks", "chunks of both strands", "", 0, (double)s->chunks},
        {"bases_per_second", "Bases/s", "bases per second", "", 0,
         per_second(s->bases, s->wall_seconds)},
    };
    memcpy(costs, all, sizeof all);
}

/* Describes a column. The number format is written as for Python's str.format. */
static void put_header(const char *key, const char *title, const char *description,
                       const char *suffix, int decimals, struct cov_json *j)
{
    char format[32];
    (void)snprintf(format, sizeof format, "{:,.%df}", decimals);
    cov_json_begin_object(j, key);
    cov_json_string(j, "title", title);
    cov_json_string(j, "description", description);
    if (*suffix)
        cov_json_string(j, "suffix", suffix);
    cov_json_string(j, "format", format);
    cov_json_end_object(j);
}

static bool same_part(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void put_headers(const struct cov_stats *s, const struct cost *costs, struct cov_json *j)
{
    cov_json_begin_object(j, "headers");
    for (int i = 0; i < s->n_figures; i++) {
        int first = 0;
        while (strcmp(s->figures[first].name, s->figures[i].name) != 0)
            first++;
        if (first == i)
            put_header(s->figures[i].name, s->figures[i].name, s->figures[i].description, "",
                       s->figures[i].decimals, j);
    }
    for (int i = 0; i < N_COSTS; i++)
        if (costs[i].value >= 0)
            put_header(costs[i].key, costs[i].title, costs[i].description, costs[i].suffix,
                       costs[i].decimals, j);
    cov_json_end_object(j);
}

/* Writes no entry for a figure without a value, as MultiQC expects. */
static void put_figures(const struct cov_stats *s, const char *part, struct cov_json *j)
{
    for (int i = 0; i < s->n_figures; i++)
        if (same_part(s->figures[i].part, part) && isfinite(s->figures[i].value))
            cov_json_double(j, s->figures[i].name, s->figures[i].value);
}

static void put_rows(const struct cov_stats *s, const char *sample, const struct cost *costs,
                     struct cov_json *j)
{
    cov_json_begin_object(j, "data");
    cov_json_begin_object(j, sample);
    put_figures(s, NULL, j);
    for (int i = 0; i < N_COSTS; i++)
        if (costs[i].value >= 0)
            cov_json_double(j, costs[i].key, costs[i].value);
    cov_json_end_object(j);
    for (int i = 0; i < s->n_figures; i++) {
        const char *part = s->figures[i].part;
        int first = 0;
        while (!same_part(s->figures[first].part, part))
            first++;
        if (!part || first < i)
            continue;
        char name[512];
        (void)snprintf(name, sizeof name, "%.255s.%.255s", sample, part);
        cov_json_begin_object(j, name);
        put_figures(s, part, j);
        cov_json_end_object(j);
    }
    cov_json_end_object(j);
}

void cov_stats_print_multiqc(const struct cov_stats *s, const char *sample, struct cov_json *j)
{
    char id[80], text[160];
    const char *section = s->section ? s->section : s->tool;
    struct cost costs[N_COSTS];
    get_costs(s, costs);
    /* "cov2bigwig --compare": covtools_cov2bigwig_compare */
    size_t n = (size_t)snprintf(id, sizeof id, "covtools");
    for (const char *word = section; *word && n + 1 < sizeof id; word++)
        if (isalnum((unsigned char)*word)) {
            if ((word == section || !isalnum((unsigned char)word[-1])) && n + 2 < sizeof id)
                id[n++] = '_';
            id[n++] = *word;
        }
    id[n] = '\0';
    cov_json_string(j, "id", id);
    cov_json_string(j, "parent_id", "covtools");
    cov_json_string(j, "parent_name", "covtools");
    cov_json_string(j, "section_name", section);
    (void)snprintf(text, sizeof text, "Results, time and memory of %s %s.", s->tool, s->version);
    cov_json_string(j, "description", text);
    cov_json_string(j, "plot_type", "table");
    cov_json_begin_object(j, "pconfig");
    (void)snprintf(text, sizeof text, "%s_table", id);
    cov_json_string(j, "id", text);
    (void)snprintf(text, sizeof text, "covtools: %s", section);
    cov_json_string(j, "title", text);
    cov_json_end_object(j);
    put_headers(s, costs, j);
    put_rows(s, sample, costs, j);
}

/* ---------------------------------------------------------------- the file */

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

/* `sample`: MultiQC's name for the file, or NULL. */
static void print(const struct cov_stats *s, const char *sample, FILE *f)
{
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    if (sample)
        cov_stats_print_multiqc(s, sample, &j);
    cov_json_string(&j, "tool", s->tool);
    cov_json_string(&j, "version", s->version);
    cov_json_string(&j, "command", s->command);
    cov_json_begin_array(&j, "inputs");
    for (int i = 0; i < s->n_inputs; i++)
        cov_json_string(&j, NULL, s->inputs[i]);
    cov_json_end_array(&j);
    cov_json_string(&j, "device", s->device ? s->device : "cpu");
    cov_json_int(&j, "threads", s->threads);
    cov_json_string(&j, "precision", s->precision);
    cov_json_double(&j, "wall_seconds", s->wall_seconds);
    cov_json_double(&j, "cpu_seconds", s->cpu_seconds);
    put_optional(&j, "peak_rss_bytes", s->peak_rss_bytes);
    put_optional(&j, "bases", s->bases);
    put_optional(&j, "chunks", s->chunks);
    put_optional(&j, "positions_computed", s->positions_computed);
    put_optional(&j, "positions_at_rest", s->positions_at_rest);
    put_optional(&j, "chunks_repeated", s->chunks_repeated);
    put_rate(&j, "bases_per_second", s->bases, s->wall_seconds);
    put_rate(&j, "chunks_per_second", s->chunks, s->wall_seconds);
    if (s->n_stages > 0) {
        cov_json_begin_object(&j, "stages");
        for (int i = 0; i < s->n_stages; i++)
            cov_json_double(&j, s->stages[i].name, s->stages[i].seconds);
        cov_json_end_object(&j);
    }
    if (s->print_more)
        s->print_more(&j, s->more);
    cov_json_end_object(&j);
}

void cov_stats_print(const struct cov_stats *s, FILE *f)
{
    print(s, NULL, f);
}

int cov_stats_write(const struct cov_stats *s, const char *path, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    char *sample = NULL;
    FILE *f = NULL;
    int rc = get_sample(path, &sample, e);
    if (!rc)
        rc = cov_outfile_begin(&out, path, COV_OUTFILE_STREAM, true, e);
    if (rc)
        goto out;
    f = fopen(out.tmp, "we");
    if (!f) {
        rc = cov_fail_errno(e, "%s", path);
        goto out;
    }
    errno = 0;
    print(s, sample, f);
    bool failed = ferror(f);
    if (fclose(f) || failed)
        rc = errno ? cov_fail_errno(e, "%s", path) : cov_fail(e, COV_EIO, "%s: write error", path);
    else
        rc = cov_outfile_commit(&out, e);
out:
    cov_outfile_abort(&out);
    free(sample);
    return rc;
}
