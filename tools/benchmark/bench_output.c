/* bench_output.c - see bench_output.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_output.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/base/path.h"
#include "common/cli/multiqc.h"
#include "common/job/tracks/gnuplot.h"
#include "tools/benchmark/bench_html.h"

/* All that a run may leave; begin() takes no other. */
static const struct {
    unsigned part; /* 0: whatever is measured */
    bool chart;    /* as SVG and PNG */
    const char *name;
} outputs[] = {
    {0, false, "benchmark.json"},
    {0, false, "benchmark.tsv"},
    {0, false, "benchmark_mqc.json"},
    {0, false, "report.html"},
    {COV_BENCH_STAGES, true, "stages_time"},
    {COV_BENCH_STAGES, true, "stages_memory"},
    {COV_BENCH_PIPELINE, true, "pipeline_stages"},
    {COV_BENCH_PIPELINE, false, "pipeline_snakemake.tsv"},
    {COV_BENCH_PIPELINE, false, "pipeline_flame.svg"},
    {COV_BENCH_LOADER, true, "loader_epoch"},
    {COV_BENCH_LOADER, true, "loader_ratio"},
    {COV_BENCH_LOADER, true, "loader_device_mean"},
    {COV_BENCH_LOADER, true, "loader_device_use"},
    {COV_BENCH_LOADER, true, "loader_sweep"},
    {COV_BENCH_ENCODE, true, "encode_forms"},
    {COV_BENCH_ENCODE, true, "encode_padding"},
    {COV_BENCH_MODEL, true, "model_batch"},
    {COV_BENCH_MODEL, true, "model_threads"},
    {COV_BENCH_MODEL, true, "model_length"},
    {COV_BENCH_MODEL, true, "model_layers"},
    {COV_BENCH_MODEL, true, "model_training"},
};

static bool is_wanted(const struct cov_bench *b, size_t i)
{
    return outputs[i].part == 0 || (outputs[i].part & b->parts);
}

/* What would be refused when all has been measured is refused now. */
static int check_output(const struct cov_bench *b, const char *name, const char *suffix,
                        struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    char *file = cov_strfmt(e, "%s%s", name, suffix);
    char *path = file ? cov_path_join(b->dir, file, e) : NULL;
    int rc = path ? cov_outfile_begin(&out, path, COV_OUTFILE_SEEKABLE, b->force, e) : COV_ENOMEM;
    cov_outfile_end(&out, e);
    free(file);
    free(path);
    return rc;
}

int cov_bench_output_begin(struct cov_bench *b, struct cov_err *e)
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

/* The files of a run, until all are complete. */
struct output {
    const struct cov_bench *b;
    struct cov_stats *stats;
    struct cov_outfile *files;
    size_t n, cap;
    struct cov_bench_svg *pictures;
    char **texts; /* of the pictures */
    size_t n_pictures;
};

/* Whether it was looked at before the run. */
static bool is_listed(const struct cov_bench *b, const char *name, bool chart)
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
        rc = cov_outfile_begin(&o->files[o->n], path, COV_OUTFILE_SEEKABLE, o->b->force, e);
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
    const struct cov_bench *b = o->b;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_json_string(&j, "command", b->command);
    cov_machine_print_json(&b->machine, b->threads, &j);
    cov_figures_print_json(&b->figures, &j);
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
    cov_figures_print_tsv(&o->b->figures, f);
}

static void print_html(const struct output *o, FILE *f)
{
    cov_bench_html_print(o->b, o->pictures, o->n_pictures, f);
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

/* Figures as those of the run's statistics: a row each in MultiQC's table. */
static int fill_stats(const struct cov_bench *b, struct cov_stats *s, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < b->figures.n && !rc; i++) {
        const struct cov_figure *f = &b->figures.items[i];
        char *part = cov_strfmt(e, "%s (%s)", f->name, f->unit);
        rc = part ? cov_stats_add_figure(s, part, "median", "the median of the repeats", 3,
                                         f->median, e)
                  : COV_ENOMEM;
        if (!rc)
            rc = cov_stats_add_figure(s, part, "low", "the least of the repeats", 3, f->low, e);
        if (!rc)
            rc =
                cov_stats_add_figure(s, part, "high", "the greatest of the repeats", 3, f->high, e);
        free(part);
    }
    return rc;
}

/* ---------------------------------------------------------------- pictures */

static int read_text(const char *path, char **text, struct cov_err *e)
{
    struct stat st;
    FILE *f = fopen(path, "re");
    if (!f || fstat(fileno(f), &st) != 0) {
        int rc = cov_fail_errno(e, "%s", path);
        if (f)
            (void)fclose(f);
        return rc;
    }
    *text = cov_calloc((size_t)st.st_size + 1, 1, e);
    size_t n = *text ? fread(*text, 1, (size_t)st.st_size, f) : 0;
    bool bad = *text && n != (size_t)st.st_size;
    (void)fclose(f); /* was only read */
    if (bad)
        return cov_fail(e, COV_EIO, "%s cannot be read", path);
    return *text ? COV_OK : COV_ENOMEM;
}

static int add_picture(struct output *o, const char *name, const char *title, const char *path,
                       struct cov_err *e)
{
    char *text = NULL;
    int rc = read_text(path, &text, e);
    if (rc) {
        free(text);
        return rc;
    }
    o->texts[o->n_pictures] = text;
    o->pictures[o->n_pictures++] = (struct cov_bench_svg){name, title, text};
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

/* `work` may be on another disk: the file is copied. */
static int take_file(struct output *o, const struct cov_bench_file *file, struct cov_err *e)
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
    const struct cov_bench *b = o->b;
    struct cov_err why = COV_ERR_INIT;
    char *gnuplot = NULL;
    size_t n = b->charts.n + b->n_files;
    o->pictures = cov_calloc(n + 1, sizeof *o->pictures, e);
    o->texts = cov_calloc(n + 1, sizeof *o->texts, e);
    int rc = o->pictures && o->texts ? COV_OK : COV_ENOMEM;
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

int cov_bench_output_write(const struct cov_bench *b, struct cov_stats *stats, struct cov_err *e)
{
    struct output o = {.b = b, .stats = stats};
    struct cov_outfile **all = NULL;
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
        free(o.texts[i]);
    free(o.texts);
    free(o.pictures);
    free(o.files);
    free(all);
    return rc;
}
