/* heat_map.c - see heat_map.h.
 *
 * Map and tree share axes: cell i is at i, and the tree is above row 0. All sizes are computed, so that
 * cells are square and names of any length fit.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/heat_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/textfile.h"
#include "common/track/measures/cluster.h"

/* Pixels. */
enum {
    SIDE = 560,
    LARGEST_SIDE = 8000,
    LARGEST_CELL = 140,
    NUMBER_CELL = 42, /* enough for "-0.04" */
    NAME_CELL = 22,
    TREE = 100,
    TOP = 50,
    RIGHT = 90,
    EDGE = 16,
    SHOWN = 63 /* characters of a name */
};
static const double LETTER = 8.6;

struct map_plot {
    const struct cov_heat_map *map;
    struct cov_cluster_join *joins; /* NULL without a tree. Owned */
    size_t *order;                  /* of rows and columns. Owned */
    double cell, tree, left, right, width, height;
};

/* ---------------------------------------------------------------- order and sizes */

static int cluster(struct map_plot *p, struct cov_err *e)
{
    const size_t n = p->map->n_rows;
    double *d = cov_malloc(n * n, sizeof *d, e);
    p->joins = cov_malloc(n, sizeof *p->joins, e);
    int rc = d && p->joins ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n * n; i++)
        d[i] = isnan(p->map->values[i]) ? 1 : 1 - p->map->values[i];
    if (!rc)
        rc = cov_cluster_complete(d, n, p->joins, e);
    if (!rc)
        rc = cov_cluster_leaves(p->joins, n, p->order, e);
    free(d);
    return rc;
}

static int choose_order(struct map_plot *p, struct cov_err *e)
{
    const struct cov_heat_map *m = p->map;
    const size_t n = m->n_rows > m->n_columns ? m->n_rows : m->n_columns;
    p->order = cov_malloc(n, sizeof *p->order, e);
    if (!p->order)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        p->order[i] = i;
    return m->is_clustered ? cluster(p, e) : COV_OK;
}

/* Returns the pixels that the longest name needs. */
static double name_width(const char *const *names, size_t n)
{
    size_t longest = 8;
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(names[i]);
        longest = length > longest ? length : longest;
    }
    return LETTER * (double)(longest < SHOWN ? longest : SHOWN);
}

static void choose_sizes(struct map_plot *p)
{
    const struct cov_heat_map *m = p->map;
    const double rows = (double)m->n_rows, columns = (double)m->n_columns;
    const double most = fmax(rows, columns), name = name_width(m->columns, m->n_columns);
    p->cell = fmin(LARGEST_CELL, fmax(SIDE / most, m->has_numbers ? NUMBER_CELL : NAME_CELL));
    p->cell = floor(fmin(p->cell, fmax(1, LARGEST_SIDE / most))); /* sharp edges */
    p->tree = m->is_clustered ? TREE : 0;
    p->left = EDGE + ceil(name_width(m->rows, m->n_rows));
    p->right = p->left + p->cell * columns;
    p->width = p->right + RIGHT;
    /* Names have a slope of 45 degrees. */
    p->height = TOP + p->tree + p->cell * rows + 2 * EDGE + ceil(0.75 * name);
}

/* ---------------------------------------------------------------- the script */

static void put_axis_names(FILE *f, const struct map_plot *p, char axis)
{
    const bool is_x = axis == 'x';
    const char *const *names = is_x ? p->map->columns : p->map->rows;
    const size_t n = is_x ? p->map->n_columns : p->map->n_rows;
    (void)fprintf(f, "set %ctics scale 0%s font 'DejaVu Sans,%.3g' (", axis,
                  is_x ? " rotate by 45 right" : "", fmin(11, p->cell / 2));
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(f, "%s", i ? ", " : "");
        cov_gnuplot_put_text(f, names[p->order[i]]);
        (void)fprintf(f, " %zu", i);
    }
    (void)fprintf(f, ")\n");
}

/* Finds the ends of the colours. */
static void find_range(const struct cov_heat_map *m, double *low, double *high)
{
    bool is_signed = false;
    *high = 1;
    for (size_t i = 0; i < m->n_rows * m->n_columns; i++) {
        is_signed = is_signed || m->values[i] < 0;
        *high = fmax(*high, fabs(m->values[i])); /* NaN does not count */
    }
    *low = is_signed ? -*high : 0;
}

/* Puts each row of the map, and its numbers. */
static void put_values(FILE *f, const struct map_plot *p)
{
    const struct cov_heat_map *m = p->map;
    for (int numbers = 0; numbers < 2; numbers++) {
        (void)fprintf(f, "$%s << EOD\n", numbers ? "n" : "r");
        for (size_t i = 0; i < m->n_rows; i++)
            for (size_t k = 0; k < m->n_columns; k++) {
                const double r = m->values[p->order[i] * m->n_columns + p->order[k]];
                const char *end = k + 1 < m->n_columns ? " " : "\n";
                if (!numbers)
                    (void)fprintf(f, "%.5g%s", r, end);
                else if (isnan(r))
                    (void)fprintf(f, "%zu %zu NA\n", k, i);
                else
                    (void)fprintf(f, fabs(r) < 100 ? "%zu %zu %.2f\n" : "%zu %zu %.3g\n", k, i,
                                  fabs(r) < 0.005 ? 0 : r);
            }
        (void)fprintf(f, "EOD\n");
    }
}

/* Puts the tree as a bracket for each join, and the correlations at its heights. Distances 0 to
 * `most` are a height of `rows`, above the map's edge at -0.5. */
static int put_tree(FILE *f, const struct map_plot *p, double rows)
{
    const size_t n = p->map->n_rows;
    const double most = fmax(p->joins[n - 2].distance, 1e-6);
    struct place {
        double x, y;
    } *places = cov_malloc(2 * n, sizeof *places, NULL);
    if (!places)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        places[p->order[i]] = (struct place){(double)i, -0.5};
    (void)fprintf(f, "$t << EOD\n");
    for (size_t k = 0; k + 1 < n; k++) {
        const struct place a = places[p->joins[k].a], b = places[p->joins[k].b];
        const double y = -0.5 - rows * p->joins[k].distance / most;
        (void)fprintf(f, "%.6g %.6g\n%.6g %.6g\n%.6g %.6g\n%.6g %.6g\n\n", a.x, a.y, a.x, y, b.x, y,
                      b.x, b.y);
        places[n + k] = (struct place){(a.x + b.x) / 2, y};
    }
    free(places);
    const double power = pow(10, floor(log10(most)));
    const double step = power * (most / power < 2.5 ? 0.5 : most / power < 5 ? 1 : 2);
    (void)fprintf(f, "EOD\nset ytics add (");
    for (int k = 1; k * step <= most * (1 + 1e-9); k++)
        (void)fprintf(f, "%s'r = %.6g' %.6g", k > 1 ? ", " : "", 1 - k * step,
                      -0.5 - rows * k * step / most);
    (void)fprintf(f, ")\n");
    return COV_OK;
}

struct map_script {
    const struct map_plot *plot;
    bool is_svg;
    int rc;
};

static void put_script(void *arg, FILE *f)
{
    struct map_script *s = arg;
    const struct map_plot *p = s->plot;
    const struct cov_heat_map *m = p->map;
    const double side = p->cell * (double)m->n_rows, top = 1 - TOP / p->height;
    const double bottom = top - (p->tree + side) / p->height, rows = p->tree / p->cell;
    (void)fprintf(f,
                  "set encoding utf8\nset terminal %s size %.0f,%.0f font 'DejaVu Sans,11' "
                  "noenhanced background '#ffffff'\nset lmargin at screen %.6f\n"
                  "set rmargin at screen %.6f\nset tmargin at screen %.6f\n"
                  "set bmargin at screen %.6f\nunset border\nunset key\nset title ",
                  s->is_svg ? "svg dynamic" : "pngcairo", p->width, p->height, p->left / p->width,
                  p->right / p->width, top, bottom);
    cov_gnuplot_put_text(f, m->title);
    (void)fprintf(f, " font 'DejaVu Sans,13' textcolor rgb '#222222'\n"
                     "set tics nomirror textcolor rgb '#333333'\n");
    put_axis_names(f, p, 'x');
    put_axis_names(f, p, 'y');
    if (m->is_clustered)
        s->rc = put_tree(f, p, 0.97 * rows);
    put_values(f, p);
    double low, high;
    find_range(m, &low, &high);
    const double last_x = (double)m->n_columns - 0.5, last_y = (double)m->n_rows - 0.5;
    (void)fprintf(f,
                  "set xrange [-0.5:%.1f]\nset yrange [%.1f:%.6f]\nset cbrange [%.6g:%.6g]\n"
                  "set palette defined (%s0 '#ffffff', 1 '#2f7fd1')\n"
                  "set colorbox user origin screen %.6f, %.6f size screen %.6f, %.6f\n"
                  "set object 1 rectangle from -0.5,-0.5 to %.1f,%.1f fc rgb '#e4e4e4' fs solid "
                  "noborder back\n",
                  last_x, last_y, -0.5 - rows, low, high, low < 0 ? "-1 '#e07b39', " : "",
                  (p->right + 16) / p->width, bottom, 18 / p->width, side / p->height, last_x,
                  last_y);
    /* gnuplot makes images of two rows and columns or more. */
    (void)fprintf(f, "plot %s%s%s\n",
                  m->n_rows > 1 && m->n_columns > 1
                      ? "$r matrix with image pixels"
                      : "$n using 1:2:(0.5):(0.5):3 with boxxyerror fs solid noborder lc palette",
                  m->is_clustered ? ", $t with lines lw 1.3 lc rgb '#444444'" : "",
                  m->has_numbers ? ", $n using 1:2:3 with labels font 'DejaVu Sans,10'" : "");
}

int cov_heat_map_draw(const struct cov_heat_map *map, const struct cov_picture *picture,
                      struct cov_err *e)
{
    struct map_plot p = {.map = map};
    struct map_script script = {&p, picture->is_svg, COV_OK};
    choose_sizes(&p);
    int rc = choose_order(&p, e);
    if (!rc)
        rc = cov_picture_draw(picture, put_script, &script, e);
    if (!rc && script.rc)
        rc = cov_fail(e, COV_ENOMEM, "out of memory");
    free(p.joins);
    free(p.order);
    return rc;
}

/* ---------------------------------------------------------------- text */

void cov_heat_map_print(const struct cov_heat_map *m, const char *corner, FILE *f)
{
    (void)fputs(corner, f);
    for (size_t k = 0; k < m->n_columns; k++) {
        (void)fputc('\t', f);
        cov_table_put_text(m->columns[k], f);
    }
    (void)fputc('\n', f);
    for (size_t i = 0; i < m->n_rows; i++) {
        cov_table_put_text(m->rows[i], f);
        for (size_t k = 0; k < m->n_columns; k++)
            cov_table_put_number(m->values[i * m->n_columns + k], f);
        (void)fputc('\n', f);
    }
}

static void put_names(struct cov_json *json, const char *key, const char *const *names, size_t n)
{
    cov_json_begin_array(json, key);
    for (size_t i = 0; i < n; i++)
        cov_json_string(json, NULL, names[i]);
    cov_json_end_array(json);
}

void cov_heat_map_put_json(const struct cov_heat_map *m, struct cov_json *json)
{
    put_names(json, "xcats", m->columns, m->n_columns);
    put_names(json, "ycats", m->rows, m->n_rows);
    cov_json_begin_array(json, "data");
    for (size_t i = 0; i < m->n_rows; i++) {
        cov_json_begin_array(json, NULL);
        for (size_t k = 0; k < m->n_columns; k++)
            cov_json_double(json, NULL, m->values[i * m->n_columns + k]);
        cov_json_end_array(json);
    }
    cov_json_end_array(json);
}
