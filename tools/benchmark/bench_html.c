/* bench_html.c - see bench_html.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_html.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/version.h"
#include "common/cli/tool.h"

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
     "Chunks of 21,384 bases of one strand (or of the length that is told) that the network takes "
     "in "
     "a second, over batch, precision and threads; where the time goes, and how far each precision "
     "is from fp32."},
    {"loader", "Loading",
     "An epoch: all chunks of a genome, read, decoded and handed to the device, in the way that "
     "Helixer's files are usually read (original), and with one step after the other of ours."},
    {"encode", "Encoding",
     "Bases to what a network takes or a file holds, and what padding costs, over the length of "
     "sequences."},
    {"stages", "Stages",
     "The three tools on genomes of several sizes, and the line through their times."},
    {"pipeline", "Pipeline",
     "From a FASTA to tracks in shards: what each stage took, with the columns of Snakemake's "
     "benchmark."},
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

/* Whether what begins at p is an id or a reference to one; *n: the bytes up to the name. */
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

/* The element alone, without what stands in front of it in a file. */
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
        {"memory_gb_per_second", "reading memory [GB/s]"},
        {"disk_write_mb_per_second", "writing a disk [MB/s]"},
        {"disk_read_mb_per_second", "reading a disk [MB/s]"},
    };
    for (size_t i = 0; i < COV_COUNT(titles); i++)
        if (strcmp(name, titles[i][0]) == 0)
            return titles[i][1];
    return name;
}

static void put_machine(const struct cov_bench *b, FILE *f)
{
    const struct cov_machine *m = &b->machine;
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
        (void)fprintf(f, "</dt><dd>%s</dd>\n", cov_figure_text(m->probes[i].value, text));
    }
    (void)fprintf(f, "<dt>command</dt><dd><code>");
    put_text(f, b->command ? b->command : "");
    (void)fprintf(f, "</code></dd>\n</dl>\n</section>\n");
}

/* With lines that break in front of options alone. */
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

static void put_advice(const struct cov_bench *b, FILE *f)
{
    if (b->n_advice == 0)
        return;
    (void)fprintf(f, "<section>\n<h2>Recommended on this machine</h2>\n<table>\n"
                     "<tr><th>setting</th><th>value</th><th>how</th><th>because</th></tr>\n");
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

static void put_figures(const struct cov_bench *b, const char *prefix, FILE *f)
{
    (void)fprintf(f, "<details>\n<summary>figures</summary>\n<table>\n<tr><th>name</th>"
                     "<th class=\"n\">median</th><th class=\"n\">low</th><th class=\"n\">high</th>"
                     "<th>unit</th><th class=\"n\">n</th><th>better</th></tr>\n");
    for (size_t i = 0; i < b->figures.n; i++) {
        const struct cov_figure *figure = &b->figures.items[i];
        char median[32], low[32], high[32];
        if (!of_section(figure->name, prefix))
            continue;
        (void)fprintf(f, "<tr><td>");
        put_text(f, figure->name + strlen(prefix) + 1);
        (void)fprintf(f,
                      "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                      "<td>",
                      cov_figure_text(figure->median, median), cov_figure_text(figure->low, low),
                      cov_figure_text(figure->high, high));
        put_text(f, figure->unit);
        (void)fprintf(f, "</td><td class=\"n\">%zu</td><td>%s</td></tr>\n", figure->n,
                      figure->higher_is_better ? "higher" : "lower");
    }
    (void)fprintf(f, "</table>\n</details>\n");
}

static void put_section(const struct cov_bench *b, const struct cov_bench_svg *pictures, size_t n,
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

void cov_bench_html_print(const struct cov_bench *b, const struct cov_bench_svg *pictures, size_t n,
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
