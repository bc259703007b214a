/* stats.c - see stats.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/cli/multiqc.h"

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

/* Prints `arg` as one word of a shell. */
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

/* The most memory this program has held, in bytes; -1 where the system does not say. */
static int64_t peak_rss(void)
{
    /* VmHWM is of this program alone; ru_maxrss also counts what its process held before the exec,
     * which is all of a large parent that started it by vfork. */
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

/* `sample` is NULL, or what MultiQC is to call it. */
static void print(const struct cov_stats *s, const char *sample, FILE *f)
{
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    if (sample)
        cov_multiqc_print(s, sample, &j);
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
    int rc = cov_multiqc_sample(path, &sample, e);
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
