/* multiqc.c - see multiqc.h. The form: https://docs.seqera.io/multiqc/custom_content
 * SPDX-License-Identifier: MIT */
#include "common/cli/multiqc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/path.h"

int cov_multiqc_sample(const char *path, char **sample, struct cov_err *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), n_suffix = strlen(COV_MULTIQC_SUFFIX);
    *sample = NULL;
    if (n <= n_suffix || strcmp(name + n - n_suffix, COV_MULTIQC_SUFFIX) != 0)
        return COV_OK;
    *sample = cov_strndup(name, n - n_suffix, e);
    return *sample ? COV_OK : COV_ENOMEM;
}

/* What a run costs, as columns of the table. */
enum { N_COSTS = 7 };
struct cost {
    const char *key, *title, *description, *suffix;
    int decimals;
    double value; /* negative: it does not apply */
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
        {"peak_rss_mb", "Memory", "the most memory that was held, in MB", " MB", 0,
         s->peak_rss_bytes < 0 ? -1 : (double)s->peak_rss_bytes / 1e6},
        {"bases", "Bases", "bases of the genome", "", 0, (double)s->bases},
        {"chunks", "Chunks", "chunks of both strands", "", 0, (double)s->chunks},
        {"bases_per_second", "Bases/s", "bases in a second", "", 0,
         per_second(s->bases, s->wall_seconds)},
    };
    memcpy(costs, all, sizeof all);
}

/* A column; a `format` as Python's str.format takes it. */
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

/* The figures of the part. One that is not a number is no entry, as MultiQC wants it. */
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

void cov_multiqc_print(const struct cov_stats *s, const char *sample, struct cov_json *j)
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
    (void)snprintf(text, sizeof text, "What %s %s did, and what it cost.", s->tool, s->version);
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
