/* coverage_tracks.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/textfile.h"
#include "common/plot/chart.h"
#include "common/track/measures/value_counts.h"

/* PLOTTED: most points of a curve in the picture. */
enum { N_QUARTILES = 3, PLOTTED = 1000 };

/* The largest share that is drawn, in multiples of the second largest. */
static const double HIGH = 1.5;
/* The picture omits up to this share of the bases on each side. */
static const double TAIL = 0.01;

struct coverage_track {
    char *name; /* Owned */
    uint64_t n_bases;
    double mean, sd, min, max, quartiles[N_QUARTILES];
    double zero, missing; /* shares: of the bases with a value; of all bases, NaN: not known */
    double left, right;   /* quantiles: ends of the picture */
    struct cov_spread_step *steps; /* Owned */
    size_t n_steps;
};

/* Lives until --stats has been printed. */
struct coverage_job {
    double step;
    struct coverage_track *tracks; /* [n]. Owned */
    size_t n, cap;
};

/* ---------------------------------------------------------------- a track */

static int fill_track(struct coverage_track *t, struct cov_spread *s, double step,
                      struct cov_err *e)
{
    const struct cov_track_summary *sum = &s->sink.summary;
    const double n = (double)sum->n_bases;
    cov_spread_finish(s);
    t->n_bases = sum->n_bases;
    t->mean = sum->sum / n;
    t->sd = sqrt(fmax(0, sum->sum_squares / n - t->mean * t->mean));
    t->min = sum->min;
    t->max = sum->max;
    for (int i = 0; i < N_QUARTILES; i++)
        t->quartiles[i] = cov_spread_quantile(s, (i + 1) / (N_QUARTILES + 1.0));
    t->zero = (double)s->n_zero / n;
    t->left = cov_spread_quantile(s, TAIL);
    t->right = cov_spread_quantile(s, 1 - TAIL);
    return cov_spread_steps(s, step, &t->steps, &t->n_steps, e);
}

/* ---------------------------------------------------------------- inputs */

static int open_sink(void *arg, const struct cov_profile_input *in, size_t k,
                     struct cov_track_sink **sink, struct cov_err *e)
{
    (void)arg, (void)k;
    return cov_spread_init((struct cov_spread *)*sink, in->source->name, in->source->contigs, e);
}

static int take_track(void *arg, const struct cov_profile_input *in, size_t k,
                      struct cov_track_sink *sink, struct cov_err *e)
{
    struct coverage_job *j = arg;
    if (sink->summary.n_bases == 0)
        return cov_fail(e, COV_EINPUT, "%s: no base has a value", in->source->name);
    if (COV_RESERVE(&j->tracks, &j->cap, j->n + 1, e))
        return COV_ENOMEM;
    struct coverage_track *t = &j->tracks[j->n++];
    *t = (struct coverage_track){.missing = cov_profile_missing(in, sink)};
    int rc = fill_track(t, (struct cov_spread *)sink, j->step, e);
    return rc ? rc : cov_profile_name(in, k, &t->name, e);
}

/* ---------------------------------------------------------------- outputs */

static void print_table(const void *arg, FILE *f)
{
    const struct coverage_job *j = arg;
    (void)fputs("track\tbases\tmean\tsd\tmin\tq1\tmedian\tq3\tmax\tzero\tmissing\n", f);
    for (size_t k = 0; k < j->n; k++) {
        const struct coverage_track *t = &j->tracks[k];
        const double values[] = {t->min, t->quartiles[0], t->quartiles[1], t->quartiles[2], t->max};
        cov_table_put_text(t->name, f);
        (void)fprintf(f, "\t%" PRIu64, t->n_bases);
        cov_table_put_number(t->mean, f);
        cov_table_put_number(t->sd, f);
        for (size_t i = 0; i < COV_COUNT(values); i++)
            (void)fprintf(f, "\t%.7g", values[i]); /* floats */
        cov_table_put_number(t->zero, f);
        cov_table_put_number(t->missing, f);
        (void)fputc('\n', f);
    }
}

static void print_curves(const void *arg, FILE *f)
{
    const struct coverage_job *j = arg;
    (void)fputs("track\tcoverage\tshare\tshare_at_least\n", f);
    for (size_t k = 0; k < j->n; k++) {
        const struct coverage_track *t = &j->tracks[k];
        uint64_t n_at_least = t->n_bases;
        for (size_t i = 0; i < t->n_steps; i++) {
            cov_table_put_text(t->name, f);
            cov_table_put_number(t->steps[i].value, f);
            cov_table_put_number((double)t->steps[i].n / (double)t->n_bases, f);
            cov_table_put_number((double)n_at_least / (double)t->n_bases, f);
            (void)fputc('\n', f);
            n_at_least -= t->steps[i].n;
        }
    }
}

static int write_curves(const void *arg, const struct cov_outfile *out, struct cov_err *e)
{
    return cov_table_write(out, NULL, print_curves, arg, e);
}

/* The picture: both charts have points at `left` + i * `width`. */
struct picture {
    double left, right, width;
    double top; /* of the shares; a high share, such as that of 0, must not hide the others */
    struct cov_chart *shares, *sums;
};

/* Finds the ends of the picture, multiples of the step, and how many steps make a point. */
static void find_ends(const struct coverage_job *j, struct picture *p)
{
    const double step = j->step;
    p->left = p->right = 0;
    for (size_t k = 0; k < j->n; k++) {
        p->left = fmin(p->left, floor(j->tracks[k].left / step) * step);
        p->right = fmax(p->right, j->tracks[k].right);
    }
    p->width = step * fmax(1, ceil((p->right - p->left) / step / PLOTTED));
    p->right = fmax(p->right, p->left + 2 * p->width);
}

static int add_curves(const struct coverage_track *t, struct picture *p, struct cov_err *e)
{
    uint64_t n_at_least = t->n_bases;
    double largest = 0, second = 0;
    size_t i = 0;
    int rc = COV_OK;
    while (i < t->n_steps && t->steps[i].value < p->left)
        n_at_least -= t->steps[i++].n;
    for (double x = p->left; !rc && x <= p->right; x += p->width) {
        uint64_t n = 0;
        while (i < t->n_steps && t->steps[i].value < x + p->width * 0.999999)
            n += t->steps[i++].n;
        const double share = (double)n / (double)t->n_bases;
        second = fmax(second, fmin(share, largest));
        largest = fmax(share, largest);
        rc = cov_chart_add(p->shares, t->name, x, share, e);
        if (!rc)
            rc = cov_chart_add(p->sums, t->name, x, (double)n_at_least / (double)t->n_bases, e);
        n_at_least -= n;
    }
    p->top = fmax(p->top, second > 0 ? fmin(largest, HIGH * second) : largest);
    return rc;
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct coverage_job *j = arg;
    struct cov_charts charts = {0};
    struct picture p = {0};
    char label[64];
    find_ends(j, &p);
    (void)snprintf(label, sizeof label, "coverage, in steps of %.6g", p.width);
    struct cov_chart like = {.kind = COV_CHART_LINES,
                             .file = "coverage",
                             .title = "Bases by coverage",
                             .x = label,
                             .y = "share of the bases",
                             .left = p.left,
                             .right = p.right,
                             .has_key = true,
                             .no_points = true};
    int rc = cov_charts_add(&charts, &like, &p.shares, e);
    like.title = "Bases with at least this coverage";
    like.top = 1;
    if (!rc)
        rc = cov_charts_add(&charts, &like, &p.sums, e);
    for (size_t k = 0; !rc && k < j->n; k++)
        rc = add_curves(&j->tracks[k], &p, e);
    if (!rc) {
        p.shares->top = fmin(1, 1.05 * p.top);
        p.shares->below = p.sums;
        rc = cov_chart_draw_picture(p.shares, picture, e);
    }
    cov_charts_fini(&charts);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

/* "coverage": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct coverage_job *j = arg;
    cov_json_begin_array(json, "coverage");
    for (size_t k = 0; k < j->n; k++) {
        const struct coverage_track *t = &j->tracks[k];
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "track", t->name);
        cov_json_int(json, "bases", (int64_t)t->n_bases);
        cov_json_double(json, "mean", t->mean);
        cov_json_double(json, "sd", t->sd);
        cov_json_double(json, "min", t->min);
        cov_json_double(json, "q1", t->quartiles[0]);
        cov_json_double(json, "median", t->quartiles[1]);
        cov_json_double(json, "q3", t->quartiles[2]);
        cov_json_double(json, "max", t->max);
        cov_json_double(json, "zero", t->zero);
        cov_json_double(json, "missing", t->missing);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct coverage_job *j = arg;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->n; k++) {
        const struct coverage_track *t = &j->tracks[k];
        const struct cov_stats_figure figures[] = {
            {"mean", "Mean", "mean coverage of the bases", .decimals = 2, .value = t->mean},
            {"median", "Median", "median coverage of the bases", .decimals = 2,
             .value = t->quartiles[1]},
            {"max", "Largest", "largest coverage", .decimals = 1, .is_hidden = true,
             .value = t->max},
            {"zero", "Zero", "share of the bases with a coverage of 0", .decimals = 3,
             .value = t->zero},
        };
        rc = cov_stats_add_figures(stats, t->name, figures, COV_COUNT(figures), e);
        cov_info("%s: mean %.6g, median %.6g, %.1f %% of the bases are 0", t->name, t->mean,
                 t->quartiles[1], 100 * t->zero);
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct coverage_job *j = arg;
    for (size_t k = 0; k < j->n; k++) {
        free(j->tracks[k].name);
        free(j->tracks[k].steps);
    }
    free(j->tracks);
    free(j);
}

static int read_tracks(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct coverage_job *j = arg;
    const struct cov_profile_reader reader = {sizeof(struct cov_spread), open_sink, take_track, j};
    return cov_profile_inputs_read(request, &reader, e);
}

int cov_coverage_run(const struct cov_profile_request *request, double step, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tracks,
                                                   .print_table = print_table,
                                                   .write_second = write_curves,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct coverage_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->step = step;
    return cov_profile_job_run(j, &steps, request, e);
}
