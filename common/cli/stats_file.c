/* stats_file.c - see stats_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/stats_file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/textfile.h"

static const char suffix[] = "_mqc.json";

enum { NAME_BYTES = COV_MULTIQC_NAME_BYTES };

/* Returns the length of the n bytes of `name` without ".END"; n if they end otherwise, if nothing
 * would remain, or if `end` is NULL. */
static size_t length_without(const char *name, size_t n, const char *end)
{
    size_t n_end = end ? strlen(end) : 0;
    bool ends = end && n > n_end + 1 && strncmp(name + n - n_end, end, n_end) == 0 &&
                name[n - n_end - 1] == '.';
    return ends ? n - n_end - 1 : n;
}

/* Sets *sample to the name of the sample in the report, `path` without its directory, _mqc.json and
 * the name of the tool or section before that ("weed" for weed.covpredict_mqc.json), or to NULL if
 * `path` has another suffix or nothing before the suffix. Caller frees. */
static int find_sample(const struct cov_stats *s, const char *path, char **sample,
                       struct cov_err *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), n_suffix = strlen(suffix);
    *sample = NULL;
    if (n <= n_suffix || strcmp(name + n - n_suffix, suffix) != 0)
        return COV_OK;
    n = length_without(name, n - n_suffix, s->tool);
    if (n == strlen(name) - n_suffix) /* h5chunk merge may report a run of covpredict */
        n = length_without(name, n, s->section);
    *sample = cov_strndup(name, n, e);
    return *sample ? COV_OK : COV_ENOMEM;
}

/* Sets *plot_path to the file for s->plot: "DIR/x.PLOT_mqc.json" for the path "DIR/x_mqc.json", or
 * NULL if there is no plot or `path` has another suffix. Caller frees. */
static int find_plot_path(const struct cov_stats *s, const char *path, char **plot_path,
                          struct cov_err *e)
{
    char *sample;
    int rc = find_sample(s, path, &sample, e);
    *plot_path = NULL;
    if (!rc && sample && s->plot) {
        *plot_path = cov_strfmt(e, "%.*s.%s%s", (int)(strlen(path) - strlen(suffix)), path,
                                s->plot->name, suffix);
        rc = *plot_path ? COV_OK : COV_ENOMEM;
    }
    free(sample);
    return rc;
}

static const char *section(const struct cov_stats *s)
{
    return s->section ? s->section : s->tool;
}

/* ---------------------------------------------------------------- columns */

/* Time and memory of a run. */
enum { N_COSTS = 7 };
struct cost {
    const char *key, *title, *description, *suffix, *scale;
    int decimals;
    bool is_hidden;
    double value; /* negative: not applicable */
};

static double per_second(int64_t n, double seconds)
{
    return n >= 0 && seconds > 0 ? (double)n / seconds : -1;
}

/* Returns the costs of the output: of all runs if it was resumed, of all jobs if it has shards. */
static struct cov_stats_shards costs_of_output(const struct cov_stats *s)
{
    const struct cov_stats_earlier *w = &s->earlier;
    struct cov_stats_shards run = {.bases = s->bases,
                                   .chunks = s->chunks,
                                   .wall_seconds = s->wall_seconds,
                                   .cpu_seconds = s->cpu_seconds,
                                   .threads = s->threads,
                                   .peak_rss_bytes = s->peak_rss_bytes};
    if (s->shards.n)
        return s->shards;
    if (w->has_times) {
        run.wall_seconds += w->wall_seconds;
        run.cpu_seconds += w->cpu_seconds;
    } else if (w->chunks > 0) {
        run.wall_seconds = run.cpu_seconds = -1;
    }
    return run;
}

static void get_costs(const struct cov_stats *s, struct cost costs[N_COSTS])
{
    const struct cov_stats_shards run = costs_of_output(s);
    const struct cost all[N_COSTS] = {
        {"bases", "Bases", "bases of the genome, or of the part that was read", " bp", "Blues", 0,
         false, (double)run.bases},
        {"bases_per_second", "Speed", "bases per second", " bp/s", "Greens", 0, false,
         per_second(run.bases, run.wall_seconds)},
        {"wall_seconds", "Time", "seconds from start to end; of shards and resumed runs: their sum",
         " s", "Purples", 1, false, run.wall_seconds},
        {"peak_rss_mb", "Memory", "peak memory in MB; of shards: the largest", " MB", "Oranges", 0,
         false, run.peak_rss_bytes < 0 ? -1 : (double)run.peak_rss_bytes / 1e6},
        {"cpu_seconds", "CPU time", "seconds of all threads", " s", "Purples", 1, true,
         run.cpu_seconds},
        {"threads", "Threads", "threads that computed", NULL, "Greys", 0, true,
         (double)run.threads},
        {"chunks", "Chunks", "chunks of both strands", NULL, "Blues", 0, true, (double)run.chunks},
    };
    memcpy(costs, all, sizeof all);
}

/* Describes a column; one that is_first is before the others, whose placement is 1000. */
static void put_header(const char *key, const char *title, const struct cost *column, bool is_score,
                       bool is_first, struct cov_json *j)
{
    char format[32]; /* as for Python's str.format */
    (void)snprintf(format, sizeof format, "{:,.%df}", column->decimals);
    cov_json_begin_object(j, key);
    cov_json_string(j, "title", title);
    cov_json_string(j, "description", column->description);
    if (column->suffix)
        cov_json_string(j, "suffix", column->suffix);
    cov_json_string(j, "format", format);
    cov_json_string(j, "scale", column->scale);
    if (is_score) {
        cov_json_int(j, "min", 0);
        cov_json_int(j, "max", 1);
    }
    if (is_first)
        cov_json_int(j, "placement", 900);
    cov_json_bool(j, "hidden", column->is_hidden);
    cov_json_end_object(j);
}

/* Writes a figure's key or title. In the general statistics, each part has columns of its own. */
static void get_name(const struct cov_stats *s, const struct cov_stats_figure *f, bool is_title,
                     char name[NAME_BYTES])
{
    const char *own = is_title && *f->title ? f->title : f->name;
    if (s->place == COV_STATS_TABLE || !f->part)
        (void)snprintf(name, NAME_BYTES, "%s", own);
    else
        (void)snprintf(name, NAME_BYTES, is_title ? "%.255s: %s" : "%.255s_%s", f->part, own);
}

/* Returns true for the first figure of its column. */
static bool opens_column(const struct cov_stats *s, int i)
{
    const struct cov_stats_figure *f = &s->figures[i];
    for (int k = 0; k < i; k++)
        if (strcmp(s->figures[k].name, f->name) == 0 &&
            (s->place == COV_STATS_TABLE || cov_text_same(s->figures[k].part, f->part)))
            return false;
    return true;
}

static void put_headers(const struct cov_stats *s, const struct cost *costs, struct cov_json *j)
{
    const bool is_general = s->place == COV_STATS_GENERAL_COSTS;
    cov_json_begin_object(j, "headers");
    for (int i = 0; i < s->n_figures && s->place != COV_STATS_GENERAL_COSTS; i++) {
        const struct cov_stats_figure *f = &s->figures[i];
        const struct cost column = {.description = f->description,
                                    .suffix = f->suffix,
                                    .scale = f->is_score ? "RdYlGn" : "Blues",
                                    .decimals = f->decimals,
                                    .is_hidden = f->is_hidden};
        char key[NAME_BYTES], title[NAME_BYTES];
        get_name(s, f, false, key);
        get_name(s, f, true, title);
        if (opens_column(s, i))
            put_header(key, title, &column, f->is_score, f->is_score || s->place != COV_STATS_TABLE,
                       j);
    }
    for (int i = 0; i < N_COSTS && s->place != COV_STATS_GENERAL_FIGURES; i++) {
        char title[NAME_BYTES]; /* the general statistics are those of many tools */
        (void)snprintf(title, sizeof title, "%s%s%s", is_general ? section(s) : "",
                       is_general ? ": " : "", costs[i].title);
        put_header(costs[i].key, title, &costs[i], false, false, j);
    }
    cov_json_end_object(j);
}

/* ---------------------------------------------------------------- rows */

/* Writes no entry for a figure without a value, as MultiQC expects. */
static void put_figures(const struct cov_stats *s, const char *part, struct cov_json *j)
{
    for (int i = 0; i < s->n_figures; i++) {
        char key[NAME_BYTES];
        get_name(s, &s->figures[i], false, key);
        if (cov_text_same(s->figures[i].part, part) && isfinite(s->figures[i].value))
            cov_json_double(j, key, s->figures[i].value);
    }
}

static void put_costs(const struct cost *costs, struct cov_json *j)
{
    for (int i = 0; i < N_COSTS; i++)
        if (costs[i].value >= 0)
            cov_json_double(j, costs[i].key, costs[i].value);
}

/* Returns true for the first figure of a part, or of everything. */
static bool opens_part(const struct cov_stats *s, int i)
{
    int first = 0;
    while (!cov_text_same(s->figures[first].part, s->figures[i].part))
        first++;
    return first == i;
}

/* Returns true if the part has the name of the sample: "weed.plant_atacseq" of "weed". */
static bool has_sample(const char *part, const char *sample, size_t n)
{
    return strncmp(part, sample, n) == 0 && (part[n] == '.' || part[n] == '_');
}

/* Writes the first n bytes of `sample`, followed by the part, if any. MultiQC takes a slash for the
 * end of a directory and drops the text before it, so that "encode/x (MB/s)" would become "s)";
 * writes a division slash instead. */
static void get_row(const char *sample, int n, const char *part, char name[NAME_BYTES])
{
    static const char slash[] = "\xe2\x88\x95"; /* U+2215 */
    size_t at = 0;
    if (!part || !has_sample(part, sample, (size_t)n))
        at = (size_t)snprintf(name, NAME_BYTES, "%.*s%s", n < 255 ? n : 255, sample,
                              part ? "." : "");
    for (; part && *part && at + sizeof slash < NAME_BYTES; part++)
        if (*part == '/') {
            memcpy(name + at, slash, sizeof slash - 1);
            at += sizeof slash - 1;
        } else {
            name[at++] = *part;
        }
    name[at] = '\0';
}

void cov_multiqc_row(const char *sample, const char *part, char name[COV_MULTIQC_NAME_BYTES])
{
    get_row(sample, (int)strlen(sample), part, name);
}

/* Returns the length of `sample` without the part that all figures describe. */
static int length_without_part(const struct cov_stats *s, const char *sample)
{
    const char *part = s->n_figures ? s->figures[0].part : NULL;
    for (int i = 0; i < s->n_figures; i++)
        if (!cov_text_same(s->figures[i].part, part))
            return (int)strlen(sample);
    return (int)length_without(sample, strlen(sample), part);
}

static void put_general(const struct cov_stats *s, const char *sample, const struct cost *costs,
                        struct cov_json *j)
{
    char row[NAME_BYTES];
    get_row(sample, length_without_part(s, sample), NULL, row);
    cov_json_begin_object(j, "data");
    cov_json_begin_object(j, row);
    if (s->place == COV_STATS_GENERAL_COSTS)
        put_costs(costs, j);
    for (int i = 0; i < s->n_figures && s->place == COV_STATS_GENERAL_FIGURES; i++)
        if (opens_part(s, i))
            put_figures(s, s->figures[i].part, j);
    cov_json_end_object(j);
    cov_json_end_object(j);
}

static void put_table(const struct cov_stats *s, const char *sample, const struct cost *costs,
                      struct cov_json *j)
{
    cov_json_begin_object(j, "data");
    cov_json_begin_object(j, sample);
    put_figures(s, NULL, j);
    put_costs(costs, j);
    cov_json_end_object(j);
    for (int i = 0; i < s->n_figures; i++) {
        char row[NAME_BYTES];
        if (!s->figures[i].part || !opens_part(s, i))
            continue;
        get_row(sample, (int)strlen(sample), s->figures[i].part, row);
        cov_json_begin_object(j, row);
        put_figures(s, s->figures[i].part, j);
        cov_json_end_object(j);
    }
    cov_json_end_object(j);
}

/* ---------------------------------------------------------------- sections */

/* Appends "_word" for each word of `text`. */
static void add_words(char id[NAME_BYTES], const char *text)
{
    size_t n = strlen(id);
    bool in_word = false;
    for (; *text && n + 2 < NAME_BYTES; text++) {
        bool is_letter = isalnum((unsigned char)*text);
        if (is_letter && !in_word)
            id[n++] = '_';
        if (is_letter)
            id[n++] = *text;
        in_word = is_letter;
    }
    id[n] = '\0';
}

/* "covtools_cov2bigwig_compare" for "cov2bigwig --compare". In the general statistics, each set of
 * parts and bars has other columns, and therefore an id of its own. */
static void get_id(const struct cov_stats *s, char id[NAME_BYTES])
{
    (void)snprintf(id, NAME_BYTES, "covtools");
    add_words(id, section(s));
    for (int i = 0; i < s->n_figures && s->place == COV_STATS_GENERAL_FIGURES; i++) {
        if (s->figures[i].part && opens_part(s, i))
            add_words(id, s->figures[i].part);
        add_words(id, s->figures[i].bar);
    }
}

/* Begins a section that is listed under covtools. */
static void put_section(const char *id, const char *name, const char *description, const char *type,
                        struct cov_json *j)
{
    char text[NAME_BYTES];
    cov_json_string(j, "id", id);
    cov_json_string(j, "parent_id", "covtools");
    cov_json_string(j, "parent_name", "covtools");
    cov_json_string(j, "parent_description",
                    "predicts the coverage of ATAC-seq and ChIP-seq from DNA");
    cov_json_string(j, "section_name", name);
    cov_json_string(j, "description", description);
    cov_json_string(j, "plot_type", type);
    cov_json_begin_object(j, "pconfig");
    (void)snprintf(text, sizeof text, "%.400s_%s", id, type);
    cov_json_string(j, "id", text);
    (void)snprintf(text, sizeof text, "covtools: %.400s", name);
    cov_json_string(j, "title", text);
}

void cov_multiqc_print(const struct cov_stats *s, const char *sample, struct cov_json *j)
{
    char id[NAME_BYTES], text[160];
    struct cost costs[N_COSTS];
    get_costs(s, costs);
    get_id(s, id);
    if (s->place == COV_STATS_TABLE) {
        (void)snprintf(text, sizeof text, "Results, time and memory of %s %s.", s->tool,
                       s->version);
        put_section(id, section(s), text, "table", j);
        cov_json_end_object(j);
    } else {
        cov_json_string(j, "id", id);
        cov_json_string(j, "namespace", section(s));
        cov_json_string(j, "plot_type", "generalstats");
    }
    put_headers(s, costs, j);
    if (s->place == COV_STATS_TABLE)
        put_table(s, sample, costs, j);
    else
        put_general(s, sample, costs, j);
}

static void put_bars(const struct cov_stats *s, const char *sample, struct cov_json *j)
{
    const int n = length_without_part(s, sample);
    cov_json_begin_object(j, "data");
    for (int i = 0; i < s->n_figures; i++) {
        char row[NAME_BYTES];
        if (!opens_part(s, i))
            continue;
        get_row(sample, n, s->figures[i].part, row);
        cov_json_begin_object(j, row);
        for (int k = s->n_figures - 1; k >= 0; k--) /* MultiQC draws the last bar at the top */
            if (cov_text_same(s->figures[k].part, s->figures[i].part) && *s->figures[k].bar &&
                isfinite(s->figures[k].value))
                cov_json_double(j, s->figures[k].bar, s->figures[k].value);
        cov_json_end_object(j);
    }
    cov_json_end_object(j);
}

/* Describes the axes and how the graph looks. */
static void put_look(const struct cov_stats_plot *plot, struct cov_json *j)
{
    if (plot->type == COV_STATS_CELLS) {
        cov_json_string(j, "xlab", plot->x_axis);
        cov_json_string(j, "ylab", plot->rows);
        cov_json_string(j, "zlab", plot->axis);
        if (plot->is_correlation) {
            cov_json_int(j, "min", -1);
            cov_json_int(j, "max", 1);
        }
        cov_json_bool(j, "display_values", true);
        cov_json_bool(j, "cluster_rows", false);
        cov_json_bool(j, "cluster_cols", false);
    } else {
        cov_json_string(j, "ylab", plot->axis);
    }
    if (plot->type == COV_STATS_BARS) {
        cov_json_string(j, "stacking", "group");
        cov_json_bool(j, "cpswitch", false);
    }
    if (plot->type == COV_STATS_LINES) {
        cov_json_string(j, "xlab", plot->x_axis);
        cov_json_bool(j, "showlegend", true);
    }
    cov_json_int(j, "tt_decimals", 3);
}

void cov_multiqc_print_plot(const struct cov_stats *s, const char *sample, struct cov_json *j)
{
    static const char *const types[] = {"bargraph", "linegraph", "heatmap"};
    char id[NAME_BYTES] = "covtools", title[NAME_BYTES];
    const struct cov_stats_plot *plot = s->plot;
    const bool is_single = plot->type == COV_STATS_CELLS;
    (void)snprintf(title, sizeof title, "%.200s%s%.200s", plot->section, is_single ? ": " : "",
                   is_single ? sample : "");
    add_words(id, plot->name);
    if (is_single)
        add_words(id, sample);
    put_section(id, title, plot->description, types[plot->type], j);
    put_look(plot, j);
    cov_json_end_object(j);
    if (plot->type == COV_STATS_BARS)
        put_bars(s, sample, j);
    else
        plot->put_data(s->more, sample, j);
}

/* ---------------------------------------------------------------- files */

bool cov_stats_is_log(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".log") == 0;
}

void cov_stats_start_line(const char *level, char text[COV_STATS_LINE_START])
{
    struct tm tm = {0};
    const time_t now = time(NULL);
    (void)localtime_r(&now, &tm);
    const size_t n = strftime(text, COV_STATS_LINE_START, "%d.%m.%Y %H:%M:%S", &tm);
    (void)snprintf(text + n, COV_STATS_LINE_START - n, ", %.10s: ", level);
}

/* A file to print. */
struct content {
    const struct cov_stats *stats;
    const char *sample; /* MultiQC's name for the file, or NULL */
    bool is_log;
};

static void print(const void *arg, FILE *f)
{
    const struct content *c = arg;
    struct cov_json j;
    char start[COV_STATS_LINE_START];
    cov_json_init(&j, f);
    if (c->is_log) {
        (void)fputs(c->stats->events ? c->stats->events : "", f);
        cov_stats_start_line("INFO", start);
        j.lines = start;
    }
    cov_json_begin_object(&j, NULL);
    if (c->sample)
        cov_multiqc_print(c->stats, c->sample, &j);
    cov_stats_put(c->stats, &j);
    cov_json_end_object(&j);
}

void cov_stats_print(const struct cov_stats *s, FILE *f)
{
    print(&(struct content){.stats = s}, f);
}

static void print_plot(const void *arg, FILE *f)
{
    const struct content *c = arg;
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_multiqc_print_plot(c->stats, c->sample, &j);
    cov_json_end_object(&j);
}

/* Writes s->plot unless `plot_path` is NULL. */
static int write_files(const struct cov_stats *s, const char *path, const char *plot_path,
                       bool force, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT, plot = COV_OUTFILE_INIT;
    char *sample = NULL;
    int rc = find_sample(s, path, &sample, e);
    if (!rc)
        rc = cov_outfile_begin(&out, path, COV_OUTFILE_JSON, force, e);
    if (!rc && plot_path)
        rc = cov_outfile_begin(&plot, plot_path, COV_OUTFILE_JSON, force, e);
    if (!rc)
        rc = cov_table_write(&out, NULL, print,
                             &(struct content){s, sample, cov_stats_is_log(path)}, e);
    if (!rc && plot_path)
        rc = cov_table_write(&plot, NULL, print_plot, &(struct content){s, sample, false}, e);
    if (!rc)
        rc = cov_outfile_commit_all((struct cov_outfile *const[]){&out, &plot}, 2, e);
    cov_outfile_abort(&out);
    cov_outfile_abort(&plot);
    free(sample);
    return rc;
}

int cov_stats_write(const struct cov_stats *s, const char *path, bool force, struct cov_err *e)
{
    char *plot_path;
    int rc = find_plot_path(s, path, &plot_path, e);
    if (!rc)
        rc = write_files(s, path, plot_path, force, e);
    free(plot_path);
    return rc;
}

/* The file exists, perhaps because another tool wrote it. Hints at a name that MultiQC shows for
 * the same sample. */
static void hint_at_name(const struct cov_stats *s, const char *path, struct cov_err *e)
{
    char *sample;
    if (strstr(path, s->tool) || find_sample(s, path, &sample, NULL) || !sample)
        return;
    cov_err_append(e, ", or write %s.%s_mqc.json to keep both", sample, s->tool);
    free(sample);
}

int cov_stats_check(const struct cov_stats *s, const char *path, bool force, struct cov_err *e)
{
    char *plot_path;
    if (cov_path_is_std(path))
        return COV_OK;
    int rc = find_plot_path(s, path, &plot_path, e);
    if (!rc)
        rc = cov_outfile_try(path, COV_OUTFILE_JSON, force, e);
    if (rc == COV_EEXIST)
        hint_at_name(s, path, e);
    if (!rc && plot_path)
        rc = cov_outfile_try(plot_path, COV_OUTFILE_JSON, force, e);
    free(plot_path);
    return rc ? cov_err_prefix(e, rc, "--stats") : rc;
}
