/* chart.c - see chart.h.
 * SPDX-License-Identifier: MIT */
#include "common/plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* WIDTH, HEIGHT: pixels; MAP_WIDTH: the least. SLANTED_FROM: the smallest number of groups whose names are slanted.
 * SHORT_NAME: names of series with more characters, up to LONG_NAME, make a chart wider. */
enum {
    WIDTH = 900,
    HEIGHT = 420,
    MAP_HEIGHT = 460,
    MAP_WIDTH = 220,
    SLANTED_FROM = 6,
    MAX_TICS = 8
};
enum { SHORT_NAME = 28, LONG_NAME = 63 };
static const double LETTER = 7.2; /* pixels */

static void free_chart(struct cov_chart *c)
{
    for (size_t i = 0; i < c->n_series; i++) {
        free(c->series[i].name);
        free(c->series[i].points);
    }
    for (size_t i = 0; i < c->n_groups; i++)
        free(c->groups[i]);
    free(c->series);
    free(c->groups);
    free(c);
}

void cov_charts_fini(struct cov_charts *c)
{
    for (size_t i = 0; i < c->n; i++)
        free_chart(c->items[i]);
    free(c->items);
    *c = (struct cov_charts){NULL, 0, 0};
}

int cov_charts_add(struct cov_charts *c, const struct cov_chart *like, struct cov_chart **out,
                   struct cov_err *e)
{
    if (COV_RESERVE(&c->items, &c->cap, c->n + 1, e))
        return COV_ENOMEM;
    struct cov_chart *chart = cov_malloc(1, sizeof *chart, e);
    if (!chart)
        return COV_ENOMEM;
    *chart = *like;
    c->items[c->n++] = *out = chart;
    return COV_OK;
}

int cov_chart_add_point(struct cov_chart *c, const char *series,
                        const struct cov_chart_point *point, struct cov_err *e)
{
    size_t i = 0;
    while (i < c->n_series && strcmp(c->series[i].name, series) != 0)
        i++;
    if (i == c->n_series) {
        if (COV_RESERVE(&c->series, &c->cap_series, i + 1, e))
            return COV_ENOMEM;
        c->series[i] = (struct cov_chart_series){.name = cov_strdup(series, e)};
        if (!c->series[i].name)
            return COV_ENOMEM;
        c->n_series++;
    }
    struct cov_chart_series *s = &c->series[i];
    if (COV_RESERVE(&s->points, &s->cap, s->n + 1, e))
        return COV_ENOMEM;
    /* Sorted by x, since lines connect consecutive points. */
    size_t at = s->n++;
    for (; at > 0 && s->points[at - 1].x > point->x; at--)
        s->points[at] = s->points[at - 1];
    s->points[at] = *point;
    return COV_OK;
}

int cov_chart_add(struct cov_chart *c, const char *series, double x, double y, struct cov_err *e)
{
    const struct cov_chart_point point = {x, y, y, y};
    return cov_chart_add_point(c, series, &point, e);
}

int cov_chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                      const struct cov_chart_point *point, struct cov_err *e)
{
    struct cov_chart_point bar = *point;
    size_t i = 0;
    while (i < c->n_groups && strcmp(c->groups[i], group) != 0)
        i++;
    if (i == c->n_groups) {
        if (COV_RESERVE(&c->groups, &c->cap_groups, i + 1, e))
            return COV_ENOMEM;
        c->groups[i] = cov_strdup(group, e);
        if (!c->groups[i])
            return COV_ENOMEM;
        c->n_groups++;
    }
    bar.x = (double)i;
    return cov_chart_add_point(c, series, &bar, e);
}

/* ---------------------------------------------------------------- the script */

static const char *const colours[] = {"#2f7fd1", "#e07b39", "#4a9d5b", "#b05fb0",
                                      "#8c8c8c", "#c9a227", "#3aa6a6", "#a33b3b"};

static void put_series(FILE *f, size_t number, const struct cov_chart_series *s)
{
    (void)fprintf(f, "$d%zu << EOD\n", number);
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(s->points[i].y))
            (void)fprintf(f, "%.9g %.9g %.9g %.9g\n", s->points[i].x, s->points[i].y,
                          s->points[i].low, s->points[i].high);
    (void)fprintf(f, "EOD\n");
}

static bool has_spread(const struct cov_chart_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->points[i].low < s->points[i].y || s->points[i].high > s->points[i].y)
            return true;
    return false;
}

static void put_bars(FILE *f, const struct cov_chart *c)
{
    double width = 0.8 / (double)c->n_series;
    (void)fprintf(f,
                  "set boxwidth %.6f\nset style fill solid 1.0 noborder\nset xrange [-0.6:%.1f]\n",
                  width * 0.94, (double)c->n_groups - 0.4);
    if (!c->log_y && c->top <= 0)
        (void)fprintf(f, "set yrange [0:*]\n");
    (void)fprintf(f, "set xtics scale 0 nomirror%s (",
                  c->n_groups >= SLANTED_FROM ? " rotate by 25 right" : "");
    for (size_t i = 0; i < c->n_groups; i++) {
        (void)fprintf(f, "%s", i ? ", " : "");
        cov_gnuplot_put_text(f, c->groups[i]);
        (void)fprintf(f, " %zu", i);
    }
    (void)fprintf(f, ")\nplot ");
    for (size_t i = 0; i < c->n_series; i++) {
        double shift = ((double)i - (double)(c->n_series - 1) / 2) * width;
        (void)fprintf(f, "%s$d%zu using ($1+%.6f):2 with boxes lc rgb '%s' title ", i ? ", " : "",
                      i, shift, colours[i % COV_COUNT(colours)]);
        cov_gnuplot_put_text(f, c->series[i].name);
        if (has_spread(&c->series[i]))
            (void)fprintf(f,
                          ", $d%zu using ($1+%.6f):3:(0):($4-$3) with vectors heads size screen "
                          "0.004,90 lw 1.3 lc rgb "
                          "'#333333' notitle",
                          i, shift);
    }
    (void)fprintf(f, "\n");
}

/* Puts a tic at each x of the points, if there are few. */
static void put_x_tics(FILE *f, const struct cov_chart *c)
{
    double at[MAX_TICS];
    size_t n = 0;
    for (size_t i = 0; i < c->n_series; i++)
        for (size_t k = 0; k < c->series[i].n; k++) {
            size_t m = 0;
            while (m < n && at[m] != c->series[i].points[k].x)
                m++;
            if (m < n)
                continue;
            if (n == MAX_TICS)
                return;
            at[n++] = c->series[i].points[k].x;
        }
    (void)fprintf(f, "set xtics (");
    for (size_t i = 0; i < n; i++)
        (void)fprintf(f, "%s%.10g", i ? ", " : "", at[i]);
    (void)fprintf(f, ")\n");
}

static void put_lines(FILE *f, const struct cov_chart *c)
{
    put_x_tics(f, c);
    if (c->log_x)
        (void)fprintf(f, "set logscale x 2\nset format x '%%.10g'\n");
    if (!c->log_y && c->top <= 0)
        (void)fprintf(f, "set yrange [*<0:*]\n");
    if (c->left != c->right) {
        (void)fprintf(f, "set xrange [%.9g:%.9g]\nset xtics auto\nplot ", c->left, c->right);
    } else {
        /* On a logarithmic axis, space above the values would extend to the next power of ten. */
        (void)fprintf(f, "set offsets graph 0.03, graph 0.03, %s, 0\nplot ",
                      c->log_y ? "0" : "graph 0.06");
    }
    for (size_t i = 0; c->bands && i < c->n_series; i++)
        (void)fprintf(f,
                      "$d%zu using 1:3:4 with filledcurves fs transparent solid 0.25 noborder lc "
                      "rgb '%s' notitle, ",
                      i, colours[i % COV_COUNT(colours)]);
    for (size_t i = 0; i < c->n_series; i++) {
        const char *colour = colours[i % COV_COUNT(colours)];
        (void)fprintf(f, "%s$d%zu using 1:2 with %s%s lw 2 lc rgb '%s'", i ? ", " : "", i,
                      c->no_points ? "lines" : "linespoints", c->no_points ? "" : " pt 7 ps 0.6",
                      colour);
        if (i >= COV_COUNT(colours)) /* tells it from the first line of this colour */
            (void)fprintf(f, " dt %zu", 1 + i / COV_COUNT(colours));
        (void)fprintf(f, " title ");
        cov_gnuplot_put_text(f, c->series[i].name);
        if (c->levels && c->series[i].level > 0)
            (void)fprintf(f, ", %.9g with lines dt 2 lw 1 lc rgb '%s' notitle", c->series[i].level,
                          colour);
        if (has_spread(&c->series[i]) && !c->bands)
            (void)fprintf(f,
                          ", $d%zu using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 "
                          "lw 1 lc rgb '%s' notitle",
                          i, colour);
    }
    if (c->levels) {
        (void)fprintf(f, ", NaN with lines dt 2 lw 1 lc rgb '#666666' title ");
        cov_gnuplot_put_text(f, c->levels);
    }
    (void)fprintf(f, "%s\n",
                  c->diagonal ? ", x with lines dt 2 lw 1 lc rgb '#aaaaaa' notitle" : "");
}

static void put_map_values(FILE *f, size_t number, const struct cov_chart_map *m)
{
    (void)fprintf(f, "$m%zu << EOD\n", number);
    for (size_t i = 0; i < m->rows; i++) {
        for (size_t k = 0; k < m->columns; k++)
            (void)fprintf(f, "%.5g ", m->values[i * m->columns + k]);
        (void)fprintf(f, "\n");
    }
    (void)fprintf(f, "EOD\n");
}

/* Pictures in SVG are made of rectangles, because gnuplot would write an image to a second file. */
static void put_maps(FILE *f, const struct cov_chart *c, bool is_svg)
{
    const double share = (double)MAP_HEIGHT / (HEIGHT + MAP_HEIGHT);
    (void)fprintf(
        f, "unset key\nunset grid\nunset offsets\nunset xlabel\nunset ylabel\nunset ytics\n"
           "set xtics auto\nset palette defined (0 '#ffffff', 0.35 '#8fb8e8', 0.7 '#2f7fd1', "
           "1 '#0b2a52')\nset lmargin 3\nset rmargin 9\n");
    for (size_t i = 0; i < c->n_maps; i++) {
        const struct cov_chart_map *m = &c->maps[i];
        const double width = (m->end - m->beg) / (double)m->columns;
        (void)fprintf(f, "set origin %.6f,0\nset size %.6f,%.6f\nset title ",
                      (double)i / (double)c->n_maps, 1 / (double)c->n_maps, share);
        cov_gnuplot_put_text(f, m->title);
        (void)fprintf(f, " font 'DejaVu Sans,11' textcolor rgb '#222222'\nset xrange [%.9g:%.9g]\n",
                      m->beg, m->end);
        if (c->n_maps > 2) /* there is no room for more */
            (void)fprintf(f, "set xtics (%.9g, 0, %.9g)\n", m->beg, m->end);
        (void)fprintf(f,
                      "set yrange [%zu:0]\nset cbrange [0:%.9g]\n"
                      "plot $m%zu matrix using (%.9g+($1+0.5)*%.9g):($2+0.5):3 with image%s\n",
                      m->rows, m->top, i, m->beg, width, is_svg ? " pixels" : "");
    }
    (void)fprintf(f, "unset multiplot\n");
}

struct script {
    const struct cov_chart *chart;
    bool is_svg;
};

/* Returns the width in pixels. */
static int width_of(const struct cov_chart *c)
{
    size_t longest = SHORT_NAME;
    for (size_t i = 0; i < c->n_series; i++) {
        const size_t n = strlen(c->series[i].name);
        longest = n > longest ? n : longest;
    }
    longest = longest < LONG_NAME ? longest : LONG_NAME;
    const int width = WIDTH + (int)(LETTER * (double)(longest - SHORT_NAME));
    const int maps = MAP_WIDTH * (int)c->n_maps;
    return width > maps ? width : maps;
}

/* Puts what all charts of a picture share. */
static void put_settings(FILE *f, const struct cov_chart *c, bool is_svg)
{
    const int below = c->n_maps ? MAP_HEIGHT : c->below ? HEIGHT : 0;
    (void)fprintf(f,
                  "set encoding utf8\n"
                  "set terminal %s size %d,%d font 'DejaVu Sans,11' noenhanced background "
                  "'#ffffff'\n"
                  "set pointintervalbox 0\nset border 3 lw 1 lc rgb '#888888'\n"
                  "set tics nomirror out scale 0.5 textcolor rgb '#333333'\n"
                  "set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'\n"
                  "set key outside right top vertical Left reverse samplen 1 textcolor rgb "
                  "'#333333'%s\n",
                  is_svg ? "svg dynamic" : "pngcairo", width_of(c), HEIGHT + below,
                  c->n_series > 1 || c->has_key ? "" : "\nunset key");
    if (c->below)
        (void)fprintf(f, "set lmargin 10\nset multiplot layout 2,1\n");
}

static void put_chart(FILE *f, const struct cov_chart *c, bool is_svg)
{
    const double share = c->n_maps ? (double)HEIGHT / (HEIGHT + MAP_HEIGHT) : 1;
    (void)fprintf(f, "set title ");
    cov_gnuplot_put_text(f, c->title);
    (void)fprintf(f, " font 'DejaVu Sans,13' textcolor rgb '#222222'\nset xlabel ");
    cov_gnuplot_put_text(f, c->x ? c->x : "");
    (void)fprintf(f, " textcolor rgb '#333333'\nset ylabel ");
    cov_gnuplot_put_text(f, c->y ? c->y : "");
    (void)fprintf(f, " textcolor rgb '#333333'\n");
    if (c->log_y)
        (void)fprintf(f, "set logscale y\nset format y '%%.10g'\n");
    if (c->top > 0)
        (void)fprintf(f, "set yrange [0:%.9g]\n", c->top);
    for (size_t i = 0; i < c->n_series; i++)
        put_series(f, i, &c->series[i]);
    for (size_t i = 0; i < c->n_maps; i++)
        put_map_values(f, i, &c->maps[i]);
    if (c->n_maps)
        (void)fprintf(f, "set multiplot\nset origin 0,%.6f\nset size 1,%.6f\n", 1 - share, share);
    if (c->kind == COV_CHART_BARS)
        put_bars(f, c);
    else
        put_lines(f, c);
    if (c->n_maps)
        put_maps(f, c, is_svg);
}

static void put_script(void *arg, FILE *f)
{
    const struct script *s = arg;
    put_settings(f, s->chart, s->is_svg);
    put_chart(f, s->chart, s->is_svg);
    if (s->chart->below)
        put_chart(f, s->chart->below, s->is_svg);
    if (s->chart->below)
        (void)fprintf(f, "unset multiplot\n");
}

static bool has_points(const struct cov_chart *c)
{
    for (size_t i = 0; i < c->n_series; i++)
        for (size_t k = 0; k < c->series[i].n; k++)
            if (isfinite(c->series[i].points[k].y))
                return true;
    return false;
}

static int check_points(const struct cov_chart *c, struct cov_err *e)
{
    return has_points(c) ? COV_OK : cov_fail(e, COV_EINPUT, "chart %s has no points", c->file);
}

int cov_chart_draw(const struct cov_chart *c, const char *gnuplot, const char *path, bool is_svg,
                   const char *tmpdir, struct cov_err *e)
{
    struct script script = {c, is_svg};
    int rc = check_points(c, e);
    return rc ? rc : cov_gnuplot_draw(gnuplot, put_script, &script, path, tmpdir, e);
}

int cov_chart_draw_picture(const struct cov_chart *c, const struct cov_picture *p,
                           struct cov_err *e)
{
    struct script script = {c, p->is_svg};
    int rc = check_points(c, e);
    return rc ? rc : cov_picture_draw(p, put_script, &script, e);
}
