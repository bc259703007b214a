/* bench_output.c - the outputs of a benchmark; see bench.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/version.h"
#include "common/cli/tool.h"
#include "common/file/outfile.h"
#include "common/file/textfile.h"
#include "common/plot/gnuplot.h"

/* ---------------------------------------------------------------- the page */

static const char style[] =
    "body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;color:#222;background:#f4f5f7;margin:0}"
    "main{max-width:980px;margin:0 auto;padding:24px}"
    "h1{font-size:26px;margin:8px 0 2px}h2{font-size:19px;margin:0 0 12px}"
    "section{background:#fff;border:1px solid #dfe2e6;border-radius:8px;padding:18px 20px;"
    "margin:18px 0}"
    "p.sub,th,dt{color:#666}p.sub{margin:0 0 12px}"
    "table{border-collapse:collapse;width:100%;font-size:13.5px}"
    "th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid #eceef0;"
    "vertical-align:top}"
    "td.n,th.n{text-align:right;white-space:nowrap}td.v{font-weight:600;white-space:nowrap}"
    "svg{max-width:100%;height:auto;display:block;margin:6px 0 14px}"
    "summary{cursor:pointer;margin:6px 0}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:0;font-size:14px}"
    "dd{margin:0}code{font-size:13px;overflow-wrap:anywhere}";

static const struct {
    const char *prefix, *title, *about;
} sections[] = {
    {"model", "The network",
     "Chunks per second (a chunk is 21,384 bases of one strand unless stated otherwise) by batch, "
     "precision and threads, and the distance of each precision from fp32."},
    {"loader", "Loading",
     "An epoch: all chunks of a genome, read, decoded and passed to the device, as Helixer's files "
     "are usually read (original), and with our improvements added one by one."},
    {"encode", "Encoding",
     "Encoding of bases for networks and files, and the cost of padding, by sequence length."},
    {"stages", "Stages",
     "The three tools on genomes of several sizes, and the time that a million bases add."},
    {"pipeline", "Pipeline",
     "From a FASTA to tracks, with prediction in shards: the cost of each stage."},
};

void bench_put_text(const char *text, FILE *f)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            (void)fputs("&amp;", f);
        else if (c == '<')
            (void)fputs("&lt;", f);
        else if (c == '>')
            (void)fputs("&gt;", f);
        else if (c == '"')
            (void)fputs("&quot;", f);
        else
            (void)fputc(c < ' ' || c == 0x7f ? ' ' : c, f);
    }
}

/* Puts the text between two tags. */
static void put(FILE *f, const char *before, const char *text, const char *after)
{
    (void)fputs(before, f);
    bench_put_text(text, f);
    (void)fputs(after, f);
}

/* Returns true if an id, or a reference to an id, starts at p. Sets *n to the bytes before its
 * name. */
static bool is_id(const char *p, size_t *n)
{
    static const char *const ways[] = {" id=\"",        " id='", "xlink:href=\"#",
                                       "xlink:href='#", "url(#", " href=\"#"};
    for (size_t i = 0; i < COV_COUNT(ways); i++) {
        *n = strlen(ways[i]);
        if (strncmp(p, ways[i], *n) == 0)
            return true;
    }
    return false;
}

/* Puts the svg element without the prolog, and makes its ids unique in the page. */
static void put_svg(FILE *f, size_t number, const char *text)
{
    const char *p = strstr(text, "<svg");
    size_t n;
    for (; p && *p; p++) {
        if (is_id(p, &n)) {
            (void)fwrite(p, 1, n, f);
            (void)fprintf(f, "c%zu-", number);
            p += n - 1;
        } else {
            (void)fputc(*p, f);
        }
    }
    (void)fputc('\n', f);
}

static void put_machine(const struct bench *b, FILE *f)
{
    static const char end[] = "</dd>\n";
    const struct machine *m = &b->machine;
    char text[64];
    (void)fputs("<section>\n<h2>The machine</h2>\n<dl>\n", f);
    put(f, "<dt>processor</dt><dd>", m->cpu, end);
    put(f, "<dt>kernels</dt><dd>", m->levels, end);
    (void)snprintf(text, sizeof text, "%u of %u processors", b->threads, m->online);
    put(f, "<dt>threads</dt><dd>", text, end);
    (void)snprintf(text, sizeof text, "%.1f GB", (double)m->memory_bytes * 1e-9);
    put(f, "<dt>memory</dt><dd>", text, end);
    put(f, "<dt>system</dt><dd>", m->system, end);
    put(f, "<dt>compiler</dt><dd>", __VERSION__, end);
    for (int i = 0; i < PROBES; i++) {
        if (m->probes[i] <= 0)
            continue;
        put(f, "<dt>", probe_names[i], "</dt><dd>");
        put(f, "", figure_text(m->probes[i], text), end);
    }
    put(f, "<dt>command</dt><dd><code>", b->command ? b->command : "", "</code></dd>\n");
    (void)fputs("</dl>\n</section>\n", f);
}

static void put_advice(const struct bench *b, FILE *f)
{
    if (b->n_advice == 0)
        return;
    (void)fprintf(f, "<section>\n<h2>Recommended on this machine</h2>\n<table>\n"
                     "<tr><th>setting</th><th>value</th><th>how</th><th>reason</th></tr>\n");
    for (const struct bench_advice *a = b->advice; a < b->advice + b->n_advice; a++) {
        put(f, "<tr><td>", a->what, "</td>");
        put(f, "<td class=\"v\">", a->value, "</td>");
        put(f, "<td><code>", a->how, "</code></td>");
        put(f, "<td>", a->reason, "</td></tr>\n");
    }
    (void)fprintf(f, "</table>\n</section>\n");
}

static bool of_section(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && (name[n] == '/' || name[n] == '_' || name[n] == '.');
}

static void put_figures(const struct bench *b, const char *prefix, FILE *f)
{
    static const char number[] = "<td class=\"n\">", end[] = "</td>";
    (void)fprintf(f, "<details>\n<summary>figures</summary>\n<table>\n<tr><th>name</th>"
                     "<th class=\"n\">median</th><th class=\"n\">low</th><th class=\"n\">high</th>"
                     "<th>unit</th><th class=\"n\">n</th><th>better</th></tr>\n");
    for (size_t i = 0; i < b->figures.n; i++) {
        const struct figure *figure = &b->figures.items[i];
        char text[32];
        if (!of_section(figure->name, prefix))
            continue;
        put(f, "<tr><td>", figure->name + strlen(prefix) + 1, end);
        put(f, number, figure_text(figure->median, text), end);
        put(f, number, figure_text(figure->low, text), end);
        put(f, number, figure_text(figure->high, text), end);
        put(f, "<td>", figure->unit, end);
        (void)fprintf(f, "%s%zu</td><td>%s</td></tr>\n", number, figure->n,
                      figure->higher_is_better ? "higher" : "lower");
    }
    (void)fprintf(f, "</table>\n</details>\n");
}

static void put_section(const struct bench *b, const struct bench_picture *pictures, size_t n,
                        size_t section, FILE *f)
{
    const char *prefix = sections[section].prefix;
    bool any = false;
    for (size_t i = 0; i < b->figures.n && !any; i++)
        any = of_section(b->figures.items[i].name, prefix);
    if (!any)
        return;
    (void)fprintf(f, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"sub\">%s</p>\n", prefix,
                  sections[section].title, sections[section].about);
    for (size_t i = 0; i < n; i++)
        if (of_section(pictures[i].name, prefix))
            put_svg(f, i, pictures[i].text);
    put_figures(b, prefix, f);
    (void)fprintf(f, "</section>\n");
}

void bench_print_html(const struct bench *b, const struct bench_picture *pictures, size_t n,
                      FILE *f)
{
    (void)fprintf(f,
                  "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
                  "<head>\n<meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<title>covtools benchmark</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n"
                  "<h1>covtools benchmark</h1>\n",
                  style);
    put(f, "<p class=\"sub\">covtools ", cov_version(), " on ");
    put(f, "", b->machine.system, "</p>\n");
    put_advice(b, f);
    for (size_t i = 0; i < COV_COUNT(sections); i++)
        put_section(b, pictures, n, i, f);
    for (size_t i = 0; i < b->n_notes; i++)
        put(f, i ? "<li>" : "<section>\n<h2>Notes</h2>\n<ul>\n<li>", b->notes[i],
            i + 1 < b->n_notes ? "</li>\n" : "</li>\n</ul>\n</section>\n");
    put_machine(b, f);
    (void)fprintf(f, "</main>\n</body>\n</html>\n");
}

/* ---------------------------------------------------------------- files */

static const char *const texts[] = {"benchmark.json", "benchmark.tsv", "report.html"};
#define FLAME "pipeline_flame.svg"
static const char *const charts[] = {
    "stages_time",   "stages_memory", "stages_runs",        "pipeline_stages",
    "loader_epoch",  "loader_ratio",  "loader_device_mean", "loader_device_use",
    "loader_sweep",  "encode_forms",  "encode_padding",     "model_batch",
    "model_threads", "model_length",  "model_training",
};

/* Returns the path of an output. Caller frees. */
static char *path_of(const struct bench *b, const char *name, const char *suffix, struct cov_err *e)
{
    size_t n = strlen(b->dir);
    return cov_strfmt(e, "%s%s%s%s", b->dir, n > 0 && b->dir[n - 1] == '/' ? "" : "/", name,
                      suffix);
}

/* Called before measuring: fails if an output exists or cannot be written. */
static int check_output(const struct bench *b, const char *name, const char *suffix,
                        struct cov_err *e)
{
    char *path = path_of(b, name, suffix, e);
    int rc = path ? cov_outfile_try(path, COV_OUTFILE_BESIDE, b->force, e) : COV_ENOMEM;
    free(path);
    return rc;
}

int bench_output_begin(struct bench *b, struct cov_err *e)
{
    int rc = cov_newdir_make(&b->directory, b->dir, e);
    if (rc)
        return rc;
    if (access(b->dir, W_OK | X_OK) != 0)
        return cov_fail_errno(e, "%s", b->dir);
    for (size_t i = 0; i < COV_COUNT(texts) && !rc; i++)
        rc = check_output(b, texts[i], "", e);
    for (size_t i = 0; i < COV_COUNT(charts) && !rc; i++) {
        rc = check_output(b, charts[i], ".svg", e);
        if (!rc)
            rc = check_output(b, charts[i], ".png", e);
    }
    return rc ? rc : check_output(b, FLAME, "", e);
}

/* Files in progress. */
struct output {
    const struct bench *b;
    struct cov_outfile *files;
    size_t n, cap;
    struct bench_picture *pictures;
    size_t n_pictures;
};

static int begin(struct output *o, const char *name, const char *suffix, const char **tmp,
                 struct cov_err *e)
{
    char *path = path_of(o->b, name, suffix, e);
    int rc = path ? COV_RESERVE(&o->files, &o->cap, o->n + 1, e) : COV_ENOMEM;
    if (!rc) {
        o->files[o->n] = (struct cov_outfile)COV_OUTFILE_INIT;
        rc = cov_outfile_begin(&o->files[o->n], path, COV_OUTFILE_BESIDE, o->b->force, e);
    }
    if (!rc)
        *tmp = o->files[o->n++].tmp;
    free(path);
    return rc;
}

static int write_file(struct output *o, const char *name,
                      void (*print)(const struct output *o, FILE *f), struct cov_err *e)
{
    const char *tmp;
    int rc = begin(o, name, "", &tmp, e);
    if (rc)
        return rc;
    FILE *f = fopen(tmp, "we");
    if (!f)
        return cov_fail_errno(e, "%s", tmp);
    print(o, f);
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return cov_fail_errno(e, "%s/%s", o->b->dir, name);
    return COV_OK;
}

static void print_json(const struct output *o, FILE *f)
{
    struct cov_json j;
    const struct bench *b = o->b;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_json_string(&j, "command", b->command);
    machine_print_json(&b->machine, b->threads, &j);
    figures_print_json(&b->figures, &j);
    if (b->n_advice > 0) {
        cov_json_begin_array(&j, "recommendations");
        for (size_t i = 0; i < b->n_advice; i++) {
            cov_json_begin_object(&j, NULL);
            cov_json_string(&j, "setting", b->advice[i].what);
            cov_json_string(&j, "value", b->advice[i].value);
            if (*b->advice[i].how)
                cov_json_string(&j, "how", b->advice[i].how);
            cov_json_string(&j, "reason", b->advice[i].reason);
            cov_json_end_object(&j);
        }
        cov_json_end_array(&j);
    }
    cov_json_begin_array(&j, "notes");
    for (size_t i = 0; i < b->n_notes; i++)
        cov_json_string(&j, NULL, b->notes[i]);
    cov_json_end_array(&j);
    cov_json_end_object(&j);
    (void)fputc('\n', f);
}

static void print_tsv(const struct output *o, FILE *f)
{
    figures_print_tsv(&o->b->figures, f);
}

static void print_html(const struct output *o, FILE *f)
{
    bench_print_html(o->b, o->pictures, o->n_pictures, f);
}

/* Adds a row to the table of --stats, for MultiQC, for each figure. */
static int fill_stats(const struct bench *b, struct cov_stats *s, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < b->figures.n && !rc; i++) {
        const struct figure *f = &b->figures.items[i];
        char *part = cov_strfmt(e, "%s (%s)", f->name, f->unit);
        const struct cov_stats_figure columns[] = {
            {"median", "Median", "median of the repeats", .decimals = 3, .value = f->median},
            {"low", "Minimum", "minimum of the repeats", .decimals = 3, .value = f->low},
            {"high", "Maximum", "maximum of the repeats", .decimals = 3, .value = f->high},
        };
        rc = part ? COV_OK : COV_ENOMEM;
        if (!rc)
            rc = cov_stats_add_figures(s, part, columns, COV_COUNT(columns), e);
        free(part);
    }
    return rc;
}

/* ---------------------------------------------------------------- pictures */

static int add_picture(struct output *o, const char *name, const char *path, struct cov_err *e)
{
    char *text = NULL;
    size_t n;
    int rc = cov_textfile_read(path, BENCH_MAX_TEXT, &text, &n, e);
    if (rc)
        return rc;
    o->pictures[o->n_pictures++] = (struct bench_picture){name, text};
    return COV_OK;
}

static int draw(struct output *o, const char *gnuplot, const struct cov_chart *c, struct cov_err *e)
{
    const char *tmp;
    int rc = begin(o, c->file, ".svg", &tmp, e);
    if (!rc)
        rc = cov_chart_draw(c, gnuplot, tmp, true, o->b->dir, e);
    if (!rc)
        rc = add_picture(o, c->file, tmp, e);
    if (!rc)
        rc = begin(o, c->file, ".png", &tmp, e);
    return rc ? rc : cov_chart_draw(c, gnuplot, tmp, false, o->b->dir, e);
}

/* Copies the picture, since `work` may be on another file system. */
static int take_flame(struct output *o, const char *path, struct cov_err *e)
{
    const char *tmp;
    int rc = begin(o, FLAME, "", &tmp, e);
    if (!rc)
        rc = cov_outfile_copy(&o->files[o->n - 1], path, NULL, e);
    return rc ? rc : add_picture(o, "pipeline_flame", path, e);
}

static int draw_all(struct output *o, struct cov_err *e)
{
    const struct bench *b = o->b;
    struct cov_err why = COV_ERR_INIT;
    char *gnuplot = NULL;
    o->pictures = cov_calloc(b->charts.n + 1, sizeof *o->pictures, e);
    int rc = o->pictures ? COV_OK : COV_ENOMEM;
    if (!rc && b->charts.n > 0 && cov_gnuplot_find(&gnuplot, &why) != COV_OK)
        cov_warn("%s", why.text);
    cov_progress_begin(b->progress, "drawing", "charts", (int64_t)b->charts.n);
    for (size_t i = 0; i < b->charts.n && !rc && gnuplot; i++) {
        rc = draw(o, gnuplot, b->charts.items[i], e);
        cov_progress_add(b->progress, 1);
    }
    cov_progress_end(b->progress);
    if (!rc && b->flame)
        rc = take_flame(o, b->flame, e);
    free(gnuplot);
    return rc;
}

int bench_output_write(const struct bench *b, struct cov_stats *stats, struct cov_err *e)
{
    struct output o = {.b = b};
    static void (*const print[COV_COUNT(texts)])(const struct output *o,
                                                 FILE *f) = {print_json, print_tsv, print_html};
    struct cov_outfile **all = NULL;
    int rc = fill_stats(b, stats, e);
    if (!rc)
        rc = draw_all(&o, e);
    for (size_t i = 0; i < COV_COUNT(texts) && !rc; i++)
        rc = write_file(&o, texts[i], print[i], e);
    if (!rc) {
        all = cov_calloc(o.n, sizeof(struct cov_outfile *), e);
        rc = all ? COV_OK : COV_ENOMEM;
    }
    for (size_t i = 0; all && i < o.n; i++)
        all[i] = &o.files[i];
    if (!rc)
        rc = cov_outfile_commit_all(all, o.n, e);
    for (size_t i = 0; i < o.n; i++)
        cov_outfile_end(&o.files[i], e);
    for (size_t i = 0; i < o.n_pictures; i++)
        free(o.pictures[i].text);
    free(o.pictures);
    free(o.files);
    free(all);
    return rc;
}
