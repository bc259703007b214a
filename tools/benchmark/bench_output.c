/* bench_output.c - see bench_output.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_output.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/version.h"
#include "common/cli/multiqc.h"
#include "common/cli/tool.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/job/gnuplot.h"

/* ---------------------------------------------------------------- the page */

static const char style[] =
    "body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;color:#222;background:#f4f5f7;margin:0}"
    "main{max-width:980px;margin:0 auto;padding:24px}"
    "h1{font-size:26px;margin:8px 0 2px}h2{font-size:19px;margin:0 0 12px}"
    "section{background:#fff;border:1px solid #dfe2e6;border-radius:8px;padding:18px 20px;"
    "margin:18px 0}"
    "p.sub{color:#666;margin:0 0 12px}"
    "table{border-collapse:collapse;width:100%;font-size:13.5px}"
    "th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid #eceef0;"
    "vertical-align:top}"
    "th{color:#666;font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums;"
    "white-space:nowrap}th.n{text-align:right}"
    "td.v{font-weight:600;white-space:nowrap;color:#1d5fa3}"
    "svg{max-width:100%;height:auto;display:block;margin:6px 0 14px}"
    "summary{cursor:pointer;color:#1d5fa3;margin:6px 0}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:0;font-size:14px}"
    "dt{color:#666}dd{margin:0}"
    "code{font-size:13px;overflow-wrap:anywhere}td code{white-space:nowrap}";

static const struct {
    const char *prefix, *title, *about;
} sections[] = {
    {"model", "The network",
     "Chunks per second (a chunk is 21,384 bases of one strand unless stated otherwise) by batch, "
     "precision and threads; the time of each layer; and the distance of each precision from "
     "fp32."},
    {"loader", "Loading",
     "An epoch: all chunks of a genome, read, decoded and passed to the device, as Helixer's files "
     "are usually read (original), and with our improvements added one by one."},
    {"encode", "Encoding",
     "Encoding of bases for networks and files, and the cost of padding, by sequence length."},
    {"stages", "Stages",
     "The three tools on genomes of several sizes, with lines fitted to their times."},
    {"pipeline", "Pipeline",
     "From a FASTA to tracks, with prediction in shards: the cost of each stage."},
};

static void put_bytes(FILE *f, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '&')
            (void)fputs("&amp;", f);
        else if (c == '<')
            (void)fputs("&lt;", f);
        else if (c == '>')
            (void)fputs("&gt;", f);
        else if (c == '"')
            (void)fputs("&quot;", f);
        else if (c < ' ' || c == 0x7f)
            (void)fputc(' ', f);
        else
            (void)fputc(c, f);
    }
}

static void put_text(FILE *f, const char *text)
{
    put_bytes(f, text, strlen(text));
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

static const char *title_of_probe(const char *name)
{
    static const char *const titles[][2] = {
        {"fp32_gflops", "fp32, all threads [GFLOP/s]"},
        {"fp32_gflops_core", "fp32, one thread [GFLOP/s]"},
        {"bf16_gflops", "bf16, all threads [GFLOP/s]"},
        {"bf16_gflops_core", "bf16, one thread [GFLOP/s]"},
        {"memory_gb_per_second", "memory read [GB/s]"},
        {"disk_write_mb_per_second", "disk write [MB/s]"},
        {"disk_read_mb_per_second", "disk read [MB/s]"},
    };
    for (size_t i = 0; i < COV_COUNT(titles); i++)
        if (strcmp(name, titles[i][0]) == 0)
            return titles[i][1];
    return name;
}

static void put_machine(const struct bench *b, FILE *f)
{
    const struct machine *m = &b->machine;
    char text[32];
    (void)fprintf(f, "<section>\n<h2>The machine</h2>\n<dl>\n<dt>processor</dt><dd>");
    put_text(f, m->cpu);
    (void)fprintf(f, "</dd>\n<dt>kernels</dt><dd>");
    put_text(f, m->levels);
    (void)fprintf(f, "</dd>\n<dt>threads</dt><dd>%u of %u processors</dd>\n", b->threads,
                  m->online);
    (void)fprintf(f, "<dt>memory</dt><dd>%.1f GB</dd>\n<dt>system</dt><dd>",
                  (double)m->memory_bytes * 1e-9);
    put_text(f, m->system);
    (void)fprintf(f, "</dd>\n<dt>compiler</dt><dd>");
    put_text(f, __VERSION__);
    (void)fprintf(f, "</dd>\n");
    for (size_t i = 0; i < m->n_probes; i++) {
        (void)fprintf(f, "<dt>");
        put_text(f, title_of_probe(m->probes[i].name));
        (void)fprintf(f, "</dt><dd>%s</dd>\n", figure_text(m->probes[i].value, text));
    }
    (void)fprintf(f, "<dt>command</dt><dd><code>");
    put_text(f, b->command ? b->command : "");
    (void)fprintf(f, "</code></dd>\n</dl>\n</section>\n");
}

/* Allows line breaks only before options. */
static void put_command(FILE *f, const char *text)
{
    for (const char *end; *text; text = end + (*end == ' ')) {
        end = strstr(text, " --");
        end = end ? end : text + strlen(text);
        (void)fprintf(f, "<code>");
        put_bytes(f, text, (size_t)(end - text));
        (void)fprintf(f, "</code>%s", *end ? " " : "");
    }
}

static void put_advice(const struct bench *b, FILE *f)
{
    if (b->n_advice == 0)
        return;
    (void)fprintf(f, "<section>\n<h2>Recommended on this machine</h2>\n<table>\n"
                     "<tr><th>setting</th><th>value</th><th>how</th><th>reason</th></tr>\n");
    for (size_t i = 0; i < b->n_advice; i++) {
        (void)fprintf(f, "<tr><td>");
        put_text(f, b->advice[i].what);
        (void)fprintf(f, "</td><td class=\"v\">");
        put_text(f, b->advice[i].value);
        (void)fprintf(f, "</td><td>");
        put_command(f, b->advice[i].how);
        (void)fprintf(f, "</td><td>");
        put_text(f, b->advice[i].reason);
        (void)fprintf(f, "</td></tr>\n");
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
    (void)fprintf(f, "<details>\n<summary>figures</summary>\n<table>\n<tr><th>name</th>"
                     "<th class=\"n\">median</th><th class=\"n\">low</th><th class=\"n\">high</th>"
                     "<th>unit</th><th class=\"n\">n</th><th>better</th></tr>\n");
    for (size_t i = 0; i < b->figures.n; i++) {
        const struct figure *figure = &b->figures.items[i];
        char median[32], low[32], high[32];
        if (!of_section(figure->name, prefix))
            continue;
        (void)fprintf(f, "<tr><td>");
        put_text(f, figure->name + strlen(prefix) + 1);
        (void)fprintf(f,
                      "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                      "<td>",
                      figure_text(figure->median, median), figure_text(figure->low, low),
                      figure_text(figure->high, high));
        put_text(f, figure->unit);
        (void)fprintf(f, "</td><td class=\"n\">%zu</td><td>%s</td></tr>\n", figure->n,
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
                  "<h1>covtools benchmark</h1>\n<p class=\"sub\">covtools ",
                  style);
    put_text(f, cov_version());
    (void)fprintf(f, " on ");
    put_text(f, b->machine.system);
    (void)fprintf(f, "</p>\n");
    put_advice(b, f);
    for (size_t i = 0; i < COV_COUNT(sections); i++)
        put_section(b, pictures, n, i, f);
    if (b->n_notes > 0) {
        (void)fprintf(f, "<section>\n<h2>Notes</h2>\n<ul>\n");
        for (size_t i = 0; i < b->n_notes; i++) {
            (void)fprintf(f, "<li>");
            put_text(f, b->notes[i]);
            (void)fprintf(f, "</li>\n");
        }
        (void)fprintf(f, "</ul>\n</section>\n");
    }
    put_machine(b, f);
    (void)fprintf(f, "</main>\n</body>\n</html>\n");
}

/* ---------------------------------------------------------------- files */

/* All possible outputs. */
static const struct {
    unsigned part; /* 0: all */
    bool chart;    /* SVG and PNG */
    const char *name;
} outputs[] = {
    {0, false, "benchmark.json"},
    {0, false, "benchmark.tsv"},
    {0, false, "benchmark_mqc.json"},
    {0, false, "report.html"},
    {BENCH_STAGES, true, "stages_time"},
    {BENCH_STAGES, true, "stages_memory"},
    {BENCH_PIPELINE, true, "pipeline_stages"},
    {BENCH_PIPELINE, false, "pipeline_snakemake.tsv"},
    {BENCH_PIPELINE, false, "pipeline_flame.svg"},
    {BENCH_LOADER, true, "loader_epoch"},
    {BENCH_LOADER, true, "loader_ratio"},
    {BENCH_LOADER, true, "loader_device_mean"},
    {BENCH_LOADER, true, "loader_device_use"},
    {BENCH_LOADER, true, "loader_sweep"},
    {BENCH_LOADER, true, "loader_ranks_memory"},
    {BENCH_LOADER, true, "loader_ranks_epoch"},
    {BENCH_ENCODE, true, "encode_forms"},
    {BENCH_ENCODE, true, "encode_padding"},
    {BENCH_MODEL, true, "model_batch"},
    {BENCH_MODEL, true, "model_threads"},
    {BENCH_MODEL, true, "model_length"},
    {BENCH_MODEL, true, "model_layers"},
    {BENCH_MODEL, true, "model_training"},
};

static bool is_wanted(const struct bench *b, size_t i)
{
    return outputs[i].part == 0 || (outputs[i].part & b->parts);
}

/* Called before measuring: fails if an output exists or cannot be written. */
static int check_output(const struct bench *b, const char *name, const char *suffix,
                        struct cov_err *e)
{
    char *file = cov_strfmt(e, "%s%s", name, suffix);
    char *path = file ? cov_path_join(b->dir, file, e) : NULL;
    int rc = path ? cov_outfile_try(path, COV_OUTFILE_BESIDE, b->force, e) : COV_ENOMEM;
    free(file);
    free(path);
    return rc;
}

int bench_output_begin(struct bench *b, struct cov_err *e)
{
    int rc = cov_newfolder_make(&b->folder, b->dir, e);
    if (rc)
        return rc;
    if (access(b->dir, W_OK | X_OK) != 0)
        return cov_fail_errno(e, "%s", b->dir);
    for (size_t i = 0; i < COV_COUNT(outputs) && !rc; i++) {
        if (!is_wanted(b, i))
            continue;
        rc = check_output(b, outputs[i].name, outputs[i].chart ? ".svg" : "", e);
        if (!rc && outputs[i].chart)
            rc = check_output(b, outputs[i].name, ".png", e);
    }
    return rc;
}

/* Files in progress. */
struct output {
    const struct bench *b;
    struct cov_stats *stats;
    struct cov_outfile *files;
    size_t n, cap;
    struct bench_picture *pictures;
    size_t n_pictures;
};

static bool is_listed(const struct bench *b, const char *name, bool chart)
{
    for (size_t i = 0; i < COV_COUNT(outputs); i++)
        if (is_wanted(b, i) && outputs[i].chart == chart && strcmp(outputs[i].name, name) == 0)
            return true;
    return false;
}

static int begin(struct output *o, const char *name, const char *suffix, const char **tmp,
                 struct cov_err *e)
{
    assert(is_listed(o->b, name, *suffix != '\0'));
    char *file = cov_strfmt(e, "%s%s", name, suffix);
    char *path = file ? cov_path_join(o->b->dir, file, e) : NULL;
    int rc = path ? COV_RESERVE(&o->files, &o->cap, o->n + 1, e) : COV_ENOMEM;
    if (!rc) {
        o->files[o->n] = (struct cov_outfile)COV_OUTFILE_INIT;
        rc = cov_outfile_begin(&o->files[o->n], path, COV_OUTFILE_BESIDE, o->b->force, e);
    }
    if (!rc)
        *tmp = o->files[o->n++].tmp;
    free(file);
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

static void print_multiqc(const struct output *o, FILE *f)
{
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_multiqc_print(o->stats, "benchmark", &j);
    cov_json_end_object(&j);
    (void)fputc('\n', f);
}

/* Adds a row to MultiQC's table for each figure. */
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

static int add_picture(struct output *o, const char *name, const char *title, const char *path,
                       struct cov_err *e)
{
    char *text = NULL;
    size_t n;
    int rc = cov_textfile_read(path, BENCH_MAX_TEXT, &text, &n, e);
    if (rc)
        return rc;
    o->pictures[o->n_pictures++] = (struct bench_picture){name, title, text};
    return COV_OK;
}

static int draw(struct output *o, const char *gnuplot, const struct cov_chart *c, struct cov_err *e)
{
    const char *tmp;
    int rc = begin(o, c->file, ".svg", &tmp, e);
    if (!rc)
        rc = cov_chart_draw(c, gnuplot, tmp, true, o->b->dir, e);
    if (!rc)
        rc = add_picture(o, c->file, c->title, tmp, e);
    if (!rc)
        rc = begin(o, c->file, ".png", &tmp, e);
    return rc ? rc : cov_chart_draw(c, gnuplot, tmp, false, o->b->dir, e);
}

/* Copies the file, since `work` may be on another file system. */
static int take_file(struct output *o, const struct bench_file *file, struct cov_err *e)
{
    const char *tmp;
    char *path = cov_path_join(o->b->work.path, file->name, e);
    int rc = path ? begin(o, file->name, "", &tmp, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_outfile_copy(&o->files[o->n - 1], path, NULL, e);
    if (!rc && file->title)
        rc = add_picture(o, file->name, file->title, path, e);
    free(path);
    return rc;
}

static int draw_all(struct output *o, struct cov_err *e)
{
    const struct bench *b = o->b;
    struct cov_err why = COV_ERR_INIT;
    char *gnuplot = NULL;
    size_t n = b->charts.n + b->n_files;
    o->pictures = cov_calloc(n + 1, sizeof *o->pictures, e);
    int rc = o->pictures ? COV_OK : COV_ENOMEM;
    if (!rc && b->charts.n > 0 && cov_gnuplot_find(&gnuplot, &why) != COV_OK)
        cov_warn("%s", why.text);
    cov_progress_begin(b->progress, "drawing", "charts", (int64_t)b->charts.n);
    for (size_t i = 0; i < b->charts.n && !rc && gnuplot; i++) {
        rc = draw(o, gnuplot, b->charts.items[i], e);
        cov_progress_add(b->progress, 1);
    }
    cov_progress_end(b->progress);
    for (size_t i = 0; i < b->n_files && !rc; i++)
        rc = take_file(o, &b->files[i], e);
    free(gnuplot);
    return rc;
}

int bench_output_write(const struct bench *b, struct cov_stats *stats, struct cov_err *e)
{
    struct output o = {.b = b, .stats = stats};
    struct cov_outfile **all = NULL;
    cov_stats_finish(stats); /* for MultiQC's file */
    int rc = fill_stats(b, stats, e);
    if (!rc)
        rc = draw_all(&o, e);
    if (!rc)
        rc = write_file(&o, "benchmark.json", print_json, e);
    if (!rc)
        rc = write_file(&o, "benchmark.tsv", print_tsv, e);
    if (!rc)
        rc = write_file(&o, "benchmark_mqc.json", print_multiqc, e);
    if (!rc)
        rc = write_file(&o, "report.html", print_html, e);
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
