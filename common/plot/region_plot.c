/* region_plot.c - see region_plot.h.
 *
 * gnuplot reads the script, including the data, from a file descriptor, and writes the picture to
 * its standard output, so no file name needs quoting. Texts are single-quoted and not interpreted.
 * SPDX-License-Identifier: MIT */
#include "common/plot/region_plot.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/base/mem.h"

/* Sizes in pixels. */
enum {
    WIDTH = 1080,
    LEFT = 70,
    RIGHT = WIDTH - LEFT - COV_PLOT_BINS,
    TOP = 66,
    NAME = 26, /* a heading */
    ROW = 110,
    ONLY_ROW = 170, /* height of a single row */
    AXIS = 26,      /* between rows without a heading */
    BELOW = 8,      /* below a row before a heading, and the last one */
    BOTTOM = 62,
    LEGEND = 110 /* width per series */
};

static const char font_name[] = "DejaVu Sans";
static const char *const colours[COV_PLOT_SERIES] = {"#2f7fd1", "#e07b39", "#3a9a6b"};
static const struct cov_lane_scale scale = {COV_PLOT_BINS, COV_PLOT_LETTER};

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

void cov_plot_extend(const struct cov_bins *b, double *least, double *most)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->means[i] < *least)
            *least = b->means[i];
        if (b->means[i] > *most)
            *most = b->means[i];
    }
}

/* ---------------------------------------------------------------- letters */

/* A letter is some polygons in the square from 0 to 1, which may overlap. Bowls are made of ellipses.
 * The colours are those of sequence logos. */

struct corner {
    double x, y;
};

/* The part of a ring between two angles, in degrees; without angles, four corners. */
struct polygon {
    char letter;
    double from, to;
    struct corner corners[4];
};

enum { CORNERS_OF_ARC = 16 };
static const double stroke_x = 0.28, stroke_y = 0.18, gap = 0.03;

static const struct polygon polygons[] = {
    {'A', 0, 0, {{0, 0}, {0.29, 0}, {0.645, 1}, {0.355, 1}}},
    {'A', 0, 0, {{0.71, 0}, {1, 0}, {0.645, 1}, {0.355, 1}}},
    {'A', 0, 0, {{0.2, 0.18}, {0.8, 0.18}, {0.75, 0.35}, {0.25, 0.35}}},
    {'C', 40, 320, {{0, 0}}},
    {'G', 40, 330, {{0, 0}}},
    {'G', 0, 0, {{0.52, 0.35}, {1, 0.35}, {1, 0.52}, {0.52, 0.52}}},
    {'G', 0, 0, {{0.73, 0.06}, {1, 0.06}, {1, 0.52}, {0.73, 0.52}}},
    {'T', 0, 0, {{0, 1}, {1, 1}, {1, 0.83}, {0, 0.83}}},
    {'T', 0, 0, {{0.36, 0}, {0.64, 0}, {0.64, 0.9}, {0.36, 0.9}}},
};

static const struct {
    char letter;
    const char *colour;
} letters_drawn[] = {{'A', "#109648"}, {'C', "#255c99"}, {'G', "#f7b32b"}, {'T', "#d62839"}};

/* Writes a corner of a letter whose base begins at `left`. */
static void put_corner(double x, double y, double left, double height, FILE *f)
{
    (void)fprintf(f, "%.3f %.7g\n", left + gap + x * (1 - 2 * gap), y * height);
}

static void put_polygon(const struct polygon *p, double left, double height, FILE *f)
{
    static const double pi = 3.14159265358979323846;
    const bool is_arc = p->to > 0;
    for (size_t i = 0; !is_arc && i < COV_COUNT(p->corners); i++)
        put_corner(p->corners[i].x, p->corners[i].y, left, height, f);
    for (size_t i = 0; is_arc && i < (size_t)2 * CORNERS_OF_ARC; i++) {
        const bool outer = i < CORNERS_OF_ARC;
        const size_t k = outer ? i : 2 * CORNERS_OF_ARC - 1 - i;
        const double share = (double)k / (CORNERS_OF_ARC - 1);
        const double angle = (p->from + share * (p->to - p->from)) * pi / 180;
        put_corner(0.5 + (outer ? 0.5 : 0.5 - stroke_x) * cos(angle),
                   0.5 + (outer ? 0.5 : 0.5 - stroke_y) * sin(angle), left, height, f);
    }
    (void)fprintf(f, "\n");
}

/* Writes the data of logo number `number`: letters[b->n], of which only A, C, G and T are drawn, one for
 * each base; where b has no value, there is no letter. */
static void put_logo_data(const struct cov_bins *b, const char *letters, size_t number, FILE *f)
{
    for (size_t k = 0; k < COV_COUNT(letters_drawn); k++) {
        const char letter = letters_drawn[k].letter;
        (void)fprintf(f, "$logo%zu%c << EOD\n", number, letter);
        /* Makes sure that there is something to draw. */
        put_polygon(&polygons[0], (double)b->beg, 0, f);
        for (size_t i = 0; i < b->n; i++)
            for (size_t p = 0; p < COV_COUNT(polygons); p++)
                if (letters[i] == letter && polygons[p].letter == letter && isfinite(b->means[i]))
                    put_polygon(&polygons[p], (double)b->beg + (double)i, b->means[i], f);
        (void)fprintf(f, "EOD\n");
    }
}

/* Writes the command that plots it into the current margins. */
static void put_logo_plot(size_t number, FILE *f)
{
    (void)fprintf(f, "plot ");
    for (size_t k = 0; k < COV_COUNT(letters_drawn); k++)
        (void)fprintf(f, "$logo%zu%c using 1:2 with filledcurves closed lc rgb '%s', ", number,
                      letters_drawn[k].letter, letters_drawn[k].colour);
    (void)fprintf(f, "0 with lines lw 1 lc rgb '#888888'\n");
}

/* ---------------------------------------------------------------- the script */

struct script {
    FILE *f;
    bool is_svg;
    const struct cov_region_plot *plot;
    int height, row;
};

static double screen_y(const struct script *s, int pixels_from_top)
{
    return 1 - (double)pixels_from_top / s->height;
}

/* Writes a curve as steps: both ends of each run of equal bins, and an empty line at a gap. */
static void put_curve(FILE *f, size_t row, const struct cov_bins *b)
{
    /* Makes sure that there is something to draw. */
    (void)fprintf(f, "$d%zu << EOD\n%" PRId64 " 0\n%" PRId64 " 0\n\n", row, b->beg, b->end);
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

/* Labels are 1-based: base p spans p-1 to p on the axis. The last axis gets a title. */
static void put_x_axis(const struct script *s, const struct cov_bins *b, bool is_last)
{
    enum { MEGA = 1000000, MEGA_FROM = 3 * MEGA /* longer regions are labelled in Mb */ };
    const struct cov_bins *first = &s->plot->rows[0].bins;
    int64_t n = first->end - first->beg;
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
    (void)fprintf(s->f, ")\n");
    if (!is_last)
        return;
    (void)fprintf(s->f,
                  "set label 1 at screen %.6f, %.6f center textcolor rgb '#333333' 'position on '.",
                  (LEFT + COV_PLOT_BINS / 2.0) / WIDTH, 16.0 / s->height);
    cov_gnuplot_put_text(s->f, b->contig);
    (void)fprintf(s->f, ".' (%s)'\n", mega ? "Mb" : "bp");
}

static void put_legend(const struct script *s)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < COV_PLOT_SERIES; i++)
        n += s->plot->series[i] != NULL;
    for (size_t i = 0; n > 1 && i < COV_PLOT_SERIES; i++) {
        if (!s->plot->series[i])
            continue;
        double x = LEFT + COV_PLOT_BINS - LEGEND * (double)(n - at++);
        (void)fprintf(s->f,
                      "set object %zu rectangle from screen %.6f, %.6f to screen %.6f, %.6f "
                      "fc rgb '%s' fs solid noborder front\n"
                      "set label %zu at screen %.6f, %.6f left textcolor rgb '#333333' ",
                      i + 1, x / WIDTH, screen_y(s, 30), (x + 12) / WIDTH, screen_y(s, 18),
                      colours[i], i + 4, (x + 20) / WIDTH, screen_y(s, 24));
        cov_gnuplot_put_text(s->f, s->plot->series[i]);
        (void)fprintf(s->f, "\n");
    }
}

/* Writes the title, the legend, and the width of a bin. */
static void put_head(const struct script *s)
{
    const struct cov_bins *b = &s->plot->rows[0].bins;
    const int64_t region_end = s->plot->rows[s->plot->n_rows - 1].bins.end;
    char beg[32], end[32], n[32], width[32];
    (void)fprintf(s->f,
                  "set label 2 at screen %.6f, %.6f left font '%s,15' textcolor rgb '#222222' ",
                  (double)LEFT / WIDTH, screen_y(s, 24), font_name);
    cov_gnuplot_put_text(s->f, b->contig);
    (void)fprintf(s->f, ".':%s-%s'\n", with_commas(b->beg + 1, beg), with_commas(region_end, end));
    (void)fprintf(s->f,
                  "set label 3 at screen %.6f, %.6f left font '%s,10' textcolor rgb '#777777' "
                  "'%s bases",
                  (double)LEFT / WIDTH, screen_y(s, 47), font_name,
                  with_commas(region_end - b->beg, n));
    if (b->width > 1)
        (void)fprintf(s->f, "; a point of a curve is the mean of %s bases",
                      with_commas(b->width, width));
    (void)fprintf(s->f, "%s", s->plot->note);
    (void)fprintf(s->f, "'\n");
    put_legend(s);
}

static void put_heading(const struct script *s, const char *heading, int top)
{
    (void)fprintf(s->f, "set label 20 at screen %.6f, %.6f left textcolor rgb '#222222' ",
                  (double)LEFT / WIDTH, screen_y(s, top - 11));
    cov_gnuplot_put_text(s->f, heading);
    (void)fprintf(s->f, "\n");
}

static void put_margins(const struct script *s, int top, int height)
{
    (void)fprintf(s->f, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
                  screen_y(s, top), screen_y(s, top + height));
}

/* Draws row i, `top` pixels from the top. */
static void put_row(const struct script *s, size_t i, int top)
{
    const struct cov_plot_row *row = &s->plot->rows[i];
    const double room = 0.04 * (row->most - row->least);
    if (i == 0)
        put_head(s);
    const bool is_last = i + 1 == s->plot->n_rows && s->plot->n_lanes == 0;
    if (s->plot->is_wrapped) /* letters are as wide as in the first row */
        (void)fprintf(s->f, "set xrange [%" PRId64 ":%" PRId64 "]\n", row->bins.beg,
                      row->bins.beg + s->plot->rows[0].bins.end - s->plot->rows[0].bins.beg);
    if (is_last || s->plot->is_wrapped)
        put_x_axis(s, &row->bins, is_last);
    if (row->heading)
        put_heading(s, row->heading, top);
    put_margins(s, top, s->row);
    (void)fprintf(s->f, "set yrange [%.9g:%.9g]\nset ytics %.9g\n",
                  row->least < 0 ? row->least - room : 0, row->most > 0 ? row->most + room : 0,
                  nice_step((row->most - row->least) / (s->row == ROW ? 3.2 : 4.5)));
    if (row->letters)
        put_logo_plot(i, s->f);
    else
        (void)fprintf(s->f, "plot $d%zu using 1:2 with filledcurves y1=0 lc rgb '%s'\n", i,
                      colours[row->series]);
    (void)fprintf(s->f, "unset label\nunset object\n");
}

/* Draws lane i. */
static void put_lane(const struct script *s, size_t i, int top)
{
    const struct cov_feature_lane *lane = &s->plot->lanes[i];
    if (i + 1 == s->plot->n_lanes)
        put_x_axis(s, &s->plot->rows[0].bins, true);
    put_heading(s, lane->heading, top);
    put_margins(s, top, cov_feature_lane_height(lane));
    cov_feature_lane_put_plot(lane, i, s->f);
}

/* Returns the space above row i. */
static int space_above(const struct cov_region_plot *p, size_t i)
{
    const int heading = p->rows[i].heading ? NAME : 0;
    return i == 0 ? heading : heading > 0 ? BELOW + heading : AXIS;
}

/* Draws everything, or with `dry` only finds the height, without that of the axis. */
static int put_rows(const struct script *s, bool dry)
{
    int top = TOP;
    for (size_t i = 0; i < s->plot->n_rows; i++) {
        top += space_above(s->plot, i);
        if (!dry)
            put_row(s, i, top);
        top += s->row;
    }
    for (size_t i = 0; i < s->plot->n_lanes; i++) {
        top += BELOW + NAME;
        if (!dry)
            put_lane(s, i, top);
        top += cov_feature_lane_height(&s->plot->lanes[i]);
    }
    return top + BELOW;
}

static void put_script(void *arg, FILE *f)
{
    struct script *s = arg;
    const struct cov_region_plot *p = s->plot;
    const struct cov_bins *b = &p->rows[0].bins;
    s->f = f;
    s->row = p->n_rows == 1 ? ONLY_ROW : ROW;
    s->height = put_rows(s, true) + BOTTOM;
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
    for (size_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].letters)
            put_logo_data(&p->rows[i].bins, p->rows[i].letters, i, f);
        else
            put_curve(f, i, &p->rows[i].bins);
    for (size_t i = 0; i < p->n_lanes; i++)
        cov_feature_lane_put_data(&p->lanes[i], i, &scale, f);
    (void)fprintf(f, "set multiplot\n");
    (void)put_rows(s, false);
    (void)fprintf(f, "unset multiplot\n");
}

int cov_region_plot_draw(const struct cov_region_plot *plot, const struct cov_picture *picture,
                         struct cov_err *e)
{
    assert(plot->n_rows > 0 && plot->n_rows <= COV_PLOT_MAX_ROWS);
    struct script s = {.is_svg = picture->is_svg, .plot = plot};
    return cov_picture_draw(picture, put_script, &s, e);
}
