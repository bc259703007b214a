/* plot.c - see plot.h.
 *
 * gnuplot reads the script, including the data, from a file descriptor, and writes the picture to
 * its standard output, so no file name needs quoting. Texts are single-quoted and not interpreted.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/plot.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/job/gnuplot.h"
#include "common/track/bins.h"

/* Sizes in pixels. */
enum {
    WIDTH = 1080,
    LEFT = 70,
    RIGHT = WIDTH - LEFT - COV_PLOT_BINS,
    TOP = 66,
    NAME = 26, /* above the rows of a data set */
    ROW = 110,
    ONLY_ROW = 170, /* height of a single row */
    BETWEEN = 10,   /* between rows */
    BELOW = 8,      /* below the rows of a data set */
    BOTTOM = 62,
    LEGEND = 110 /* width per series */
};

static const char font_name[] = "DejaVu Sans";

/* The tracks of one source. */
struct series {
    const char *name; /* for the legend */
    const struct cov_track_source *source;
    struct cov_track_sink **bins; /* [n_panels] */
    struct cov_track_sink **tees; /* [n_panels]; NULL if the caller had no sink */
};

struct cov_plot {
    struct cov_picture picture;
    struct cov_range range;
    size_t n_panels, n_series;
    const char *const *datasets; /* [n_panels] */
    struct series series[COV_PLOT_SERIES];
};

/* A data set; its series are drawn one below the other, on the same scale. */
struct panel {
    const char *name; /* NULL: not shown */
    struct cov_bins series[COV_PLOT_SERIES];
};

/* ---------------------------------------------------------------- opening */

static int open_plot(struct cov_plot *p, const char *path, const char *region, bool force,
                     const char *tmpdir, struct cov_err *e)
{
    int rc = cov_range_parse(region, &p->range, e);
    return rc ? rc : cov_picture_begin(&p->picture, path, force, tmpdir, e);
}

int cov_plot_new(const char *path, const char *region, bool force, const char *tmpdir,
                 struct cov_plot **out, struct cov_err *e)
{
    *out = NULL;
    if (!path && !region)
        return COV_OK;
    if (!region)
        return cov_fail(e, COV_EUSAGE, "--plot needs --plot-region NAME:FIRST-LAST");
    if (!path)
        return cov_fail(e, COV_EUSAGE, "--plot-region needs --plot");
    struct cov_plot *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->picture = (struct cov_picture)COV_PICTURE_INIT;
    int rc = open_plot(p, path, region, force, tmpdir, e);
    if (rc)
        cov_plot_free(p);
    else
        *out = p;
    return rc;
}

void cov_plot_free(struct cov_plot *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < COV_PLOT_SERIES; i++) {
        const struct series *s = &p->series[i];
        for (size_t k = 0; k < p->n_panels; k++) {
            cov_track_free(s->tees ? s->tees[k] : NULL);
            cov_track_free(s->bins ? s->bins[k] : NULL);
        }
        free(s->bins);
        free(s->tees);
    }
    cov_picture_end(&p->picture, NULL);
    free(p);
}

const struct cov_range *cov_plot_range(const struct cov_plot *p)
{
    return &p->range;
}

struct cov_outfile *cov_plot_file(struct cov_plot *p)
{
    return &p->picture.file;
}

/* ---------------------------------------------------------------- collecting */

/* Inserts a sink that collects the bins of data set k before *sink. */
static int add_bins(const struct cov_plot *p, size_t series, size_t k, struct cov_track_sink **sink,
                    struct cov_err *e)
{
    const struct series *s = &p->series[series];
    const struct cov_track_contigs *contigs = s->source->contigs;
    struct cov_bins_extent x;
    int rc = cov_bins_new(&p->range, COV_PLOT_BINS, s->source->name, contigs, &s->bins[k], e);
    if (!rc && contigs && (series == 0 || cov_bins_found(s->bins[k])))
        rc = cov_bins_extent(s->bins[k], true, &x, e);
    if (!rc && *sink)
        rc = cov_tee_new(*sink, s->bins[k], contigs, &s->tees[k], e);
    if (!rc)
        *sink = s->tees[k] ? s->tees[k] : s->bins[k];
    return rc;
}

int cov_plot_add(struct cov_plot *p, size_t series, const struct cov_track_source *source,
                 const char *const *datasets, struct cov_track_sink **sinks, struct cov_err *e)
{
    size_t n = source->n_datasets;
    assert(series < COV_PLOT_SERIES && !p->series[series].bins);
    assert(p->n_series == 0 || n == p->n_panels);
    if (n > COV_PLOT_MAX_PANELS)
        return cov_fail(e, COV_EUSAGE, "%s: too many data sets (%zu); the limit is %d",
                        p->picture.file.path, n, (int)COV_PLOT_MAX_PANELS);
    struct series *s = &p->series[series];
    if (p->n_series++ == 0)
        p->datasets = datasets;
    p->n_panels = n;
    s->name = series == 0 ? source->label : "measured";
    s->source = source;
    s->bins = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    s->tees = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    if (!s->bins || !s->tees)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < n; k++)
        rc = add_bins(p, series, k, &sinks[k], e);
    return rc;
}

/* ---------------------------------------------------------------- texts and scales */

/* "1,234,567" */
static const char *with_commas(int64_t x, char text[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRId64, x);
    size_t k = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[k++] = ',';
        text[k++] = digits[i];
    }
    text[k] = '\0';
    return text;
}

/* Returns the smallest of 1, 2 and 5 times a power of ten that is >= x > 0. */
static double nice_step(double x)
{
    double power = pow(10, floor(log10(x)));
    double m = x / power;
    return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

/* Finds the minimum and maximum of 0 and a panel's values. */
static void find_range(const struct panel *p, size_t n_series, double *least, double *most)
{
    *least = *most = 0;
    for (size_t s = 0; s < n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            double x = p->series[s].means[i];
            if (x < *least)
                *least = x;
            if (x > *most)
                *most = x;
        }
    if (*most == *least)
        *most = 1;
}

/* ---------------------------------------------------------------- the script */

struct script {
    FILE *f;
    bool is_svg;
    const struct panel *panels;
    size_t n_panels;
    const struct series *series;
    size_t n_series;
    int height, row;
};

static const char *const colours[COV_PLOT_SERIES] = {"#2f7fd1", "#e07b39"};

static double screen_y(const struct script *s, int pixels_from_top)
{
    return 1 - (double)pixels_from_top / s->height;
}

/* Writes a curve as steps: both ends of each run of equal bins, and an empty line at a gap. */
static void put_curve(FILE *f, size_t panel, size_t series, const struct cov_bins *b)
{
    /* Makes sure that there is something to draw. */
    (void)fprintf(f, "$d%zu_%zu << EOD\n%" PRId64 " 0\n%" PRId64 " 0\n\n", panel, series, b->beg,
                  b->end);
    for (size_t i = 0; i < b->n;) {
        size_t k = i + 1;
        while (k < b->n &&
               (b->means[k] == b->means[i] || (isnan(b->means[k]) && isnan(b->means[i]))))
            k++;
        int64_t beg = b->beg + (int64_t)i * b->width, end = b->beg + (int64_t)k * b->width;
        if (isfinite(b->means[i]))
            (void)fprintf(f, "%" PRId64 " %.7g\n%" PRId64 " %.7g\n", beg, b->means[i],
                          end < b->end ? end : b->end, b->means[i]);
        else
            (void)fprintf(f, "\n");
        i = k;
    }
    (void)fprintf(f, "EOD\n");
}

/* Labels are 1-based: base p spans p-1 to p on the axis. */
static void put_x_axis(const struct script *s)
{
    enum { MEGA = 1000000, MEGA_FROM = 3 * MEGA /* longer regions are labelled in Mb */ };
    const struct cov_bins *b = &s->panels[0].series[0];
    int64_t n = b->end - b->beg;
    bool mega = n >= MEGA_FROM;
    int64_t step = (int64_t)nice_step((double)n / 9);
    step = step > 0 ? step : 1;
    const char *separator = "";
    (void)fprintf(s->f, "set xtics nomirror out scale 0.5 textcolor rgb '#333333' (");
    for (int64_t p = b->beg / step * step; p <= b->end; p += step) {
        char text[32];
        if (p <= b->beg)
            continue;
        if (mega)
            (void)snprintf(text, sizeof text, "%.6g", (double)p / MEGA);
        else
            with_commas(p, text);
        (void)fprintf(s->f, "%s'%s' %.1f", separator, text, (double)p - 0.5);
        separator = ", ";
    }
    (void)fprintf(
        s->f, ")\nset label 1 at screen %.6f, %.6f center textcolor rgb '#333333' 'position on '.",
        (LEFT + COV_PLOT_BINS / 2.0) / WIDTH, 16.0 / s->height);
    cov_gnuplot_put_text(s->f, b->contig);
    (void)fprintf(s->f, ".' (%s)'\n", mega ? "Mb" : "bp");
}

/* Writes the title, the legend, and the width of a bin. */
static void put_head(const struct script *s)
{
    const struct cov_bins *b = &s->panels[0].series[0];
    char beg[32], end[32], n[32], width[32];
    (void)fprintf(s->f,
                  "set label 2 at screen %.6f, %.6f left font '%s,15' textcolor rgb '#222222' ",
                  (double)LEFT / WIDTH, screen_y(s, 24), font_name);
    cov_gnuplot_put_text(s->f, b->contig);
    (void)fprintf(s->f, ".':%s-%s'\n", with_commas(b->beg + 1, beg), with_commas(b->end, end));
    (void)fprintf(s->f,
                  "set label 3 at screen %.6f, %.6f left font '%s,10' textcolor rgb '#777777' "
                  "'%s bases",
                  (double)LEFT / WIDTH, screen_y(s, 47), font_name,
                  with_commas(b->end - b->beg, n));
    if (b->width > 1)
        (void)fprintf(s->f, "; a point of a curve is the mean of %s bases",
                      with_commas(b->width, width));
    if (s->n_series > 1)
        (void)fprintf(s->f, "; both tracks of a data set are on one scale");
    (void)fprintf(s->f, "'\n");
    for (size_t i = 0; i < s->n_series; i++) {
        double x = LEFT + COV_PLOT_BINS - LEGEND * (double)(s->n_series - i);
        (void)fprintf(s->f,
                      "set object %zu rectangle from screen %.6f, %.6f to screen %.6f, %.6f "
                      "fc rgb '%s' fs solid noborder front\n"
                      "set label %zu at screen %.6f, %.6f left textcolor rgb '#333333' ",
                      i + 1, x / WIDTH, screen_y(s, 30), (x + 12) / WIDTH, screen_y(s, 18),
                      colours[i], i + 4, (x + 20) / WIDTH, screen_y(s, 24));
        cov_gnuplot_put_text(s->f, s->series[i].name);
        (void)fprintf(s->f, "\n");
    }
}

/* Draws one series of one data set, `top` pixels from the top. */
static void put_row(const struct script *s, size_t panel, size_t series, int top)
{
    const struct panel *p = &s->panels[panel];
    bool first = panel == 0 && series == 0;
    bool last = panel + 1 == s->n_panels && series + 1 == s->n_series;
    double least, most;
    find_range(p, s->n_series, &least, &most);
    if (first)
        put_head(s);
    if (last)
        put_x_axis(s);
    if (series == 0 && p->name) {
        (void)fprintf(s->f, "set label 20 at screen %.6f, %.6f left textcolor rgb '#222222' ",
                      (double)LEFT / WIDTH, screen_y(s, top - 11));
        cov_gnuplot_put_text(s->f, p->name);
        (void)fprintf(s->f, "\n");
    }
    double room = 0.04 * (most - least);
    (void)fprintf(s->f,
                  "set tmargin at screen %.6f\nset bmargin at screen %.6f\n"
                  "set yrange [%.9g:%.9g]\nset ytics %.9g\n",
                  screen_y(s, top), screen_y(s, top + s->row), least < 0 ? least - room : 0,
                  most > 0 ? most + room : 0,
                  nice_step((most - least) / (s->row == ROW ? 3.2 : 4.5)));
    (void)fprintf(s->f,
                  "plot $d%zu_%zu using 1:2 with filledcurves y1=0 lc rgb '%s'\n"
                  "unset label\nunset object\n",
                  panel, series, colours[series]);
}

static int rows_height(const struct script *s, const struct panel *p)
{
    int n = (int)s->n_series;
    return (p->name ? NAME : 0) + n * s->row + (n - 1) * BETWEEN + BELOW;
}

static void put_script(void *arg, FILE *f)
{
    struct script *s = arg;
    s->f = f;
    const struct cov_bins *b = &s->panels[0].series[0];
    s->row = s->n_panels == 1 && s->n_series == 1 ? ONLY_ROW : ROW;
    s->height = TOP + BOTTOM;
    for (size_t i = 0; i < s->n_panels; i++)
        s->height += rows_height(s, &s->panels[i]);
    (void)fprintf(f,
                  "set encoding utf8\n"
                  "set terminal %s size %d,%d font '%s,11' noenhanced background '#ffffff'\n"
                  "unset key\n"
                  "set border 3 lw 1 lc rgb '#888888'\n"
                  "set tics nomirror out scale 0.5 textcolor rgb '#333333'\nunset xtics\n"
                  "set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'\n"
                  "set style fill solid 1.0 noborder\n"
                  "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
                  "set xrange [%" PRId64 ":%" PRId64 "]\n",
                  s->is_svg ? "svg" : "pngcairo", WIDTH, s->height, font_name, (double)LEFT / WIDTH,
                  (double)(WIDTH - RIGHT) / WIDTH, b->beg, b->end);
    for (size_t i = 0; i < s->n_panels; i++)
        for (size_t k = 0; k < s->n_series; k++)
            put_curve(f, i, k, &s->panels[i].series[k]);
    (void)fprintf(f, "set multiplot\n");
    int top = TOP;
    for (size_t i = 0; i < s->n_panels; i++) {
        const struct panel *p = &s->panels[i];
        for (size_t k = 0; k < s->n_series; k++)
            put_row(s, i, k, top + (p->name ? NAME : 0) + (int)k * (s->row + BETWEEN));
        top += rows_height(s, p);
    }
    (void)fprintf(f, "unset multiplot\n");
}

/* ---------------------------------------------------------------- the picture */

static int draw(struct cov_plot *p, const struct panel *panels, struct cov_err *e)
{
    assert(p->n_panels > 0 && p->n_panels <= COV_PLOT_MAX_PANELS);
    assert(p->n_series > 0 && p->n_series <= COV_PLOT_SERIES);
    struct script s = {.is_svg = p->picture.is_svg,
                       .panels = panels,
                       .n_panels = p->n_panels,
                       .series = p->series,
                       .n_series = p->n_series};
    return cov_picture_draw(&p->picture, put_script, &s, e);
}

/* Finds the extent of data set k: that of series 0, with the contig's length from series 1 if
 * series 0 does not know it. */
static int find_extent(const struct cov_plot *p, size_t k, struct cov_bins_extent *x,
                       struct cov_err *e)
{
    struct cov_bins_extent other;
    const struct series *s = p->series;
    bool has_lengths = s[0].source->has_lengths;
    int rc = cov_bins_extent(s[0].bins[k], has_lengths, x, e);
    if (rc || has_lengths || p->n_series == 1 || !cov_bins_found(s[1].bins[k]) ||
        !s[1].source->has_lengths)
        return rc;
    rc = cov_bins_extent(s[1].bins[k], true, &other, e);
    if (!rc && strcmp(x->contig, other.contig) == 0)
        x->end = other.end;
    return rc;
}

int cov_plot_draw(struct cov_plot *p, struct cov_err *e)
{
    struct panel *panels = cov_calloc(p->n_panels, sizeof *panels, e);
    int rc = panels ? COV_OK : COV_ENOMEM;
    int64_t unit = 1;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->n_panels; k++) {
            int64_t own = cov_bins_unit(p->series[i].bins[k]);
            unit = own > unit ? own : unit;
        }
    for (size_t k = 0; !rc && k < p->n_panels; k++) {
        struct cov_bins_extent x;
        panels[k].name = p->datasets[k];
        rc = find_extent(p, k, &x, e);
        for (size_t i = 0; !rc && i < p->n_series; i++)
            cov_bins_get(p->series[i].bins[k], &x, unit, &panels[k].series[i]);
    }
    if (!rc)
        rc = draw(p, panels, e);
    free(panels);
    return rc;
}
