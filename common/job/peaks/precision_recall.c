/* precision_recall.c - see peak_jobs.h.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/cli/stats_file.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/job/peaks/measured.h"
#include "common/job/peaks/peak_jobs.h"
#include "common/plot/chart.h"
#include "common/track/formats/bedgraph.h"

/* A cutoff, and how well the bases at or above it agree. */
struct point {
    float cutoff;
    double f1, precision, recall;
};

/* The curve of a window of an input. */
struct curve {
    const char *input; /* its name. Borrowed from the job */
    char *part;        /* names the curve in the report. Owned */
    int64_t window;
    uint64_t n_bases, n_positive;
    double area;
    struct point best;    /* the largest F1, at the largest cutoff that has it */
    struct point *points; /* by descending cutoff. Owned */
    size_t n, cap;
};

/* Lives until --stats has been printed. */
struct curve_job {
    const struct cov_curve_options *o;
    struct cov_joint_input *inputs; /* [n_inputs]. Owned */
    char **names;                   /* [n_inputs]. Owned */
    size_t n_inputs;
    struct cov_measured measured; /* of the last input */
    struct curve *curves;         /* [n]: the windows of the first input, then others. Owned */
    size_t n;
    struct cov_table_outputs out;
    char *title;
    bool same_baseline; /* of all curves, as printed */
};

/* ---------------------------------------------------------------- a curve */

static struct point point_of(float cutoff, uint64_t tp, uint64_t n, uint64_t n_positive)
{
    const double both = (double)tp, predicted = (double)n, positive = (double)n_positive;
    return (struct point){cutoff, 2 * both / (predicted + positive), both / predicted,
                          positive > 0 ? both / positive : 0};
}

/* Finds the area and the best cutoff. */
static void measure(struct curve *c, const struct cov_value_count *v, size_t n)
{
    uint64_t tp = 0, predicted = 0;
    double recall = 0;
    for (size_t i = 0; i < n; i++) {
        tp += v[i].n_positive;
        predicted += v[i].n;
        const struct point p = point_of(v[i].value, tp, predicted, c->n_positive);
        c->area += (p.recall - recall) * p.precision;
        recall = p.recall;
        if (i == 0 || p.f1 > c->best.f1)
            c->best = p;
    }
}

/* Keeps the points of the table: all, or those where recall changes enough, the best, and both
 * ends. */
static int choose_points(struct curve *c, const struct cov_value_count *v, size_t n,
                         struct cov_err *e)
{
    uint64_t tp = 0, predicted = 0;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        tp += v[i].n_positive;
        predicted += v[i].n;
        const struct point p = point_of(v[i].value, tp, predicted, c->n_positive);
        const bool is_kept = n <= COV_CURVE_POINTS || i == 0 || i == n - 1 ||
                             p.cutoff == c->best.cutoff ||
                             p.recall - c->points[c->n - 1].recall >= 1.0 / COV_CURVE_POINTS;
        if (!is_kept)
            continue;
        rc = COV_RESERVE(&c->points, &c->cap, c->n + 1, e);
        if (!rc)
            c->points[c->n++] = p;
    }
    return rc;
}

static int trace(const struct curve_job *j, struct curve *c, struct cov_scores *s,
                 struct cov_err *e)
{
    const struct cov_value_count *v = cov_value_counts_sort(&s->counts);
    c->n_bases = (uint64_t)s->sink.summary.n_bases;
    c->n_positive = (uint64_t)s->n_positive;
    measure(c, v, s->counts.n);
    if (c->n_positive == c->n_bases && c->window == j->o->windows[0])
        cov_warn("%s: all bases of %s are in its peaks%s", j->measured.path, s->sink.name,
                 j->o->measured.is_track ? "" : "; a track needs --measured-cutoff");
    return choose_points(c, v, s->counts.n, e);
}

/* ---------------------------------------------------------------- reading */

/* Reads an input for the window of one of its curves. */
static int read_window(struct curve_job *j, struct cov_joint_input *in, struct curve *c,
                       unsigned n_threads, const struct cov_job *job, struct cov_err *e)
{
    struct cov_source_options o = in->o;
    struct cov_scores scores = {0};
    struct cov_track_source *source = NULL;
    const bool is_first = c->window == j->o->windows[0];
    o.values.smoothing.window = c->window > 1 ? c->window : 0;
    o.quiet = !is_first;
    struct cov_track_sink *sink = &scores.sink;
    int rc = is_first ? cov_track_source_open(&in->in, &o, n_threads, &source, e)
                      : cov_track_source_open_path(in->in.path, &o, n_threads, &source, e);
    if (!rc)
        rc = cov_track_source_check_single(source, "--datasets", e);
    if (!rc && is_first)
        rc = cov_track_source_describe(source, job->stats, e);
    const bool is_open = !rc;
    if (!rc)
        rc = cov_scores_init(&scores, source, COV_VALUE_COUNTS, &j->measured, e);
    if (!rc)
        rc = cov_track_source_run(source, &sink, "counting values", job, e);
    if (!rc)
        rc = cov_scores_check(&scores, source, &o, e);
    if (!rc)
        rc = trace(j, c, &scores, e);
    if (is_open)
        cov_track_free(&scores.sink);
    cov_track_source_close(source);
    return rc;
}

/* Reads input number `i`, and its measured peaks unless those of the first input are for all. */
static int read_input(struct curve_job *j, size_t i, unsigned n_threads, const struct cov_job *job,
                      struct cov_err *e)
{
    const struct cov_strings *paths = &j->o->measured_paths;
    const size_t n_windows = j->o->n_windows;
    const int64_t n_bases = job->stats->bases > 0 ? job->stats->bases : 0;
    struct cov_measured_options measured = j->o->measured;
    int rc = COV_OK;
    if (i == 0 || paths->n > 1) {
        measured.path = paths->items[i];
        cov_measured_fini(&j->measured);
        rc = cov_measured_read(&measured, n_threads, job->progress, &j->measured, e);
    }
    for (size_t k = 0; !rc && k < n_windows; k++)
        rc = read_window(j, &j->inputs[i], &j->curves[i * n_windows + k], n_threads, job, e);
    if (j->n_inputs > 1) {
        job->stats->bases += n_bases;
        job->stats->chunks = -1;
    }
    return rc;
}

/* ---------------------------------------------------------------- outputs */

static double baseline(const struct curve *c)
{
    return (double)c->n_positive / (double)c->n_bases;
}

static void print_table(const void *arg, FILE *f)
{
    const struct curve_job *j = arg;
    const bool is_named = j->n_inputs > 1;
    (void)fprintf(f, "%scutoff\twindow\tf1\tprecision\trecall\n", is_named ? "input\t" : "");
    for (size_t k = 0; k < j->n; k++)
        for (size_t i = j->curves[k].n; i-- > 0;) {
            const struct point *p = &j->curves[k].points[i];
            char cutoff[COV_BEDGRAPH_VALUE_BYTES], text[3][COV_DOUBLE_TEXT];
            (void)cov_bedgraph_format_value(p->cutoff, cutoff);
            if (is_named)
                cov_table_put_text(j->curves[k].input, f);
            (void)fprintf(f, "%s%s\t%" PRId64 "\t%s\t%s\t%s\n", is_named ? "\t" : "", cutoff,
                          j->curves[k].window, cov_format_double(p->f1, text[0]),
                          cov_format_double(p->precision, text[1]),
                          cov_format_double(p->recall, text[2]));
        }
}

static int add_curve(const struct curve_job *j, struct cov_chart *chart, const struct curve *c,
                     struct cov_err *e)
{
    const bool is_plain = j->n_inputs == 1 && c->window == 1;
    char *name = cov_strfmt(e, "%s: area %.3f", is_plain ? "not smoothed" : c->part, c->area);
    int rc = name ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < c->n; i++)
        rc = cov_chart_add(chart, name, c->points[i].recall, c->points[i].precision, e);
    if (!rc && c->window == j->o->windows[0])
        chart->series[chart->n_series - 1].level = baseline(c);
    free(name);
    return rc;
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct curve_job *j = arg;
    struct cov_charts charts = {0};
    const struct cov_chart like = {.kind = COV_CHART_LINES,
                                   .file = "curve",
                                   .title = j->title,
                                   .x = "recall",
                                   .y = "precision",
                                   .top = 1,
                                   .right = 1,
                                   .no_points = true,
                                   .levels = j->same_baseline ? NULL : "baselines"};
    struct cov_chart *chart;
    char name[64];
    int rc = cov_charts_add(&charts, &like, &chart, e);
    for (size_t k = 0; !rc && k < j->n; k++)
        rc = add_curve(j, chart, &j->curves[k], e);
    (void)snprintf(name, sizeof name, "baseline %.3f", baseline(&j->curves[0]));
    for (int end = 0; !rc && j->same_baseline && end < 2; end++)
        rc = cov_chart_add(chart, name, end, baseline(&j->curves[0]), e);
    if (!rc)
        rc = cov_chart_draw_picture(chart, picture, e);
    cov_charts_fini(&charts);
    return rc;
}

/* Each window reads the input. */
static int check_input(const char *input, size_t n_windows, struct cov_err *e)
{
    struct stat st;
    if (n_windows == 1 || cov_path_is_url(input))
        return COV_OK;
    if (!cov_path_is_std(input) && (stat(input, &st) != 0 || S_ISREG(st.st_mode)))
        return COV_OK;
    return cov_fail(e, cov_path_is_std(input) ? COV_EUSAGE : COV_EINPUT,
                    "%s: several --windows need a file", cov_path_of_input(input));
}

/* Names the inputs by --labels or their files; by their whole paths, if an earlier one has the name. */
static int name_inputs(struct curve_job *j, char *const *paths, struct cov_err *e)
{
    const struct cov_strings *labels = &j->o->labels;
    for (size_t i = 0; i < j->n_inputs; i++) {
        char *name = labels->n ? cov_strdup(labels->items[i], e) : cov_path_stem(paths[i], e);
        for (size_t k = 0; name && k < i; k++)
            if (strcmp(j->names[k], name) == 0) {
                free(name);
                name = cov_strdup(paths[i], e);
            }
        j->names[i] = name;
        if (!name)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static int name_curves(struct curve_job *j, struct cov_err *e)
{
    const size_t n_windows = j->o->n_windows;
    for (size_t k = 0; k < j->n; k++) {
        struct curve *c = &j->curves[k];
        c->input = j->names[k / n_windows];
        c->window = j->o->windows[k % n_windows];
        c->part = j->n_inputs == 1 ? cov_strfmt(e, "window %" PRId64, c->window)
                  : n_windows > 1  ? cov_strfmt(e, "%s, window %" PRId64, c->input, c->window)
                                   : cov_strdup(c->input, e);
        if (!c->part)
            return COV_ENOMEM;
    }
    return COV_OK;
}

/* Makes the names, the title of the picture and the outputs; finds the kinds of the inputs. */
static int begin(struct curve_job *j, char *const *paths, struct cov_err *e)
{
    const struct cov_strings *measured = &j->o->measured_paths;
    size_t n;
    int rc = cov_size_mul(j->n_inputs, j->o->n_windows, &n);
    j->inputs = cov_calloc(j->n_inputs, sizeof *j->inputs, e);
    j->names = cov_calloc(j->n_inputs, sizeof *j->names, e);
    j->curves = rc ? NULL : cov_calloc(n, sizeof *j->curves, e);
    if (!j->inputs || !j->names || !j->curves)
        return COV_ENOMEM;
    j->n = n;
    for (size_t i = 0; !rc && i < j->n_inputs; i++)
        rc = check_input(paths[i], j->o->n_windows, e);
    if (!rc)
        rc = name_inputs(j, paths, e);
    if (!rc)
        rc = name_curves(j, e);
    char *stem = rc ? NULL : cov_path_stem(measured->items[0], e);
    if (stem)
        j->title =
            cov_strfmt(e, "%s%sbases in peaks of %s", j->n_inputs > 1 ? "" : j->names[0],
                       j->n_inputs > 1 ? "" : ": ", measured->n > 1 ? "the experiments" : stem);
    free(stem);
    if (!rc)
        rc = j->title ? cov_table_outputs_begin(&j->out, &j->o->paths, e) : COV_ENOMEM;
    for (size_t i = 0; !rc && i < j->n_inputs; i++)
        rc = cov_source_input_detect(paths[i], &j->inputs[i].in, e);
    return rc ? rc : cov_joint_inputs_share(j->inputs, j->n_inputs, &j->o->source, e);
}

/* After all inputs have been read. */
static void compare_baselines(struct curve_job *j)
{
    char first[32], other[32];
    j->same_baseline = true;
    (void)snprintf(first, sizeof first, "%.3f", baseline(&j->curves[0]));
    for (size_t k = 1; k < j->n; k++) {
        (void)snprintf(other, sizeof other, "%.3f", baseline(&j->curves[k]));
        j->same_baseline = j->same_baseline && strcmp(first, other) == 0;
    }
}

/* ---------------------------------------------------------------- statistics */

/* "curves": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct curve_job *j = arg;
    cov_json_begin_array(json, "curves");
    for (size_t k = 0; k < j->n; k++) {
        const struct curve *c = &j->curves[k];
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "input", c->input);
        cov_json_int(json, "window", c->window);
        cov_json_double(json, "area", c->area);
        cov_json_double(json, "baseline", baseline(c));
        cov_json_int(json, "bases", (int64_t)c->n_bases);
        cov_json_int(json, "bases_measured", (int64_t)c->n_positive);
        cov_json_begin_object(json, "best");
        cov_json_double(json, "cutoff", (double)c->best.cutoff);
        cov_json_double(json, "f1", c->best.f1);
        cov_json_double(json, "precision", c->best.precision);
        cov_json_double(json, "recall", c->best.recall);
        cov_json_end_object(json);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

/* The lines of a MultiQC report: few points of each curve. */
static void put_lines(const void *arg, const char *sample, struct cov_json *json)
{
    static const double STEP = 0.005; /* of recall */
    const struct curve_job *j = arg;
    cov_json_begin_object(json, "data");
    for (size_t k = 0; k < j->n; k++) {
        const struct curve *c = &j->curves[k];
        char row[COV_MULTIQC_NAME_BYTES];
        double recall = -1;
        cov_multiqc_row(sample, c->part, row);
        cov_json_begin_array(json, row);
        for (size_t i = 0; i < c->n; i++) {
            if (c->points[i].recall < recall + STEP && i + 1 < c->n)
                continue;
            recall = c->points[i].recall;
            cov_json_begin_array(json, NULL);
            cov_json_double(json, NULL, recall);
            cov_json_double(json, NULL, c->points[i].precision);
            cov_json_end_array(json);
        }
        cov_json_end_array(json);
    }
    cov_json_end_object(json);
}

const struct cov_stats_plot cov_curve_lines = {
    .type = COV_STATS_LINES,
    .name = "curve",
    .section = "Precision and recall of bases in peaks",
    .description = "Bases at or above each cutoff of a track, compared with measured peaks.",
    .x_axis = "Recall",
    .axis = "Precision",
    .put_data = put_lines,
};

/* Adds figures for the MultiQC report, and prints them. */
static int report_curve(const struct curve *c, struct cov_stats *stats, struct cov_err *e)
{
    const struct cov_stats_figure figures[] = {
        {"area", "Area", "area below the curve of precision and recall", .decimals = 3,
         .is_score = true, .value = c->area},
        {"baseline", "Baseline", "share of the bases that are in measured peaks", .decimals = 3,
         .is_score = true, .value = baseline(c)},
        {"best_f1", "Best F1", "the largest F1 of all cutoffs", .decimals = 3, .is_score = true,
         .value = c->best.f1},
        {"best_cutoff", "Best cutoff", "the cutoff with the largest F1", .decimals = 2,
         .value = (double)c->best.cutoff},
    };
    int rc = cov_stats_add_figures(stats, c->part, figures, COV_COUNT(figures), e);
    cov_info("%s: area %.4f (baseline %.4f), largest F1 %.4f at %.6g", c->part, c->area,
             baseline(c), c->best.f1, (double)c->best.cutoff);
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct curve_job *j = arg;
    for (size_t k = 0; k < j->n; k++) {
        free(j->curves[k].part);
        free(j->curves[k].points);
    }
    for (size_t i = 0; i < j->n_inputs && j->names; i++)
        free(j->names[i]);
    free(j->curves);
    free(j->names);
    free(j->inputs);
    free(j->title);
    cov_measured_fini(&j->measured);
    free(j);
}

int cov_curve_run(char *const *inputs, size_t n_inputs, const struct cov_curve_options *o,
                  unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                  struct cov_err *e)
{
    struct curve_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    *j = (struct curve_job){.o = o, .n_inputs = n_inputs, .out = COV_TABLE_OUTPUTS_INIT};
    const struct cov_table_writer writer = {print_table, NULL, draw, j};
    const struct cov_job job = {.progress = progress, .stats = stats};
    int rc = begin(j, inputs, e);
    for (size_t i = 0; !rc && i < n_inputs; i++)
        rc = read_input(j, i, n_threads, &job, e);
    if (!rc)
        compare_baselines(j);
    if (!rc)
        rc = cov_table_outputs_write(&j->out, &writer, e);
    for (size_t k = 0; !rc && k < j->n; k++)
        rc = report_curve(&j->curves[k], stats, e);
    for (size_t i = 0; j->inputs && i < n_inputs; i++)
        cov_source_input_close(&j->inputs[i].in);
    return cov_table_outputs_end(&j->out, rc, &(struct cov_table_job){print_json, free_job, j},
                                 stats, e);
}
