/* train_toom_cook.c - gradients of a convolution's weights by minimal filtering: the backward
 * direction of toom_cook.h.
 *
 * With y[j] = sum_p A[p][j] (sum_k G[p][k] g[k]) (sum_i B[p][i] x[i]), A[p][j] = p^j, the gradient
 * of a filter is
 *     dg[k] = sum_p G[p][k] sum over tiles of (sum_j A[p][j] dy[j]) (sum_i B[p][i] x[i]):
 * at each of r + 3 points (r taps, four outputs), the outer product of two transformed rows per
 * tile. An item computes two points of some columns for all sequences, and prefetches the rows of
 * the next tiles; the taps are computed when all points are done.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/compute/cpu/train/training.h"

enum {
    TILES = COV_OUTER_DEPTH, /* at once */
    TILE = COV_TOOM_COOK_OUTPUTS,
    AT_ONCE = 2, /* points of an item, which reads x and dz once for both */
    MAX_POINTS = COV_TOOM_COOK_MAX_POINTS,
    COLUMNS = COV_TRAIN_TILE_COLUMNS,
};

struct cov_train_toom_cook {
    struct cov_toom_cook_points points;
    struct cov_toom_cook_places places;
    double input[MAX_POINTS][MAX_POINTS]; /* B */
    double output[MAX_POINTS][TILE];      /* A */
    size_t depth, columns;                /* channels of a tile's rows, in x and in y */
    size_t n_slices;                      /* slices of the columns */
    float *products;                      /* [n_points, depth, columns], of all sequences */
};

/* Finds B of the kernel, from its output for unit vectors. */
static void find_input(const struct cov_toom_cook_kernels *kernels, struct cov_train_toom_cook *m)
{
    enum { ROOM = 16 };
    float x[MAX_POINTS * ROOM] = {0}, v[MAX_POINTS * ROOM];
    for (size_t k = 0; k < m->points.n_points; k++)
        x[k * ROOM + k] = 1;
    const struct cov_toom_cook_tiles one = {1, ROOM, ROOM, 0};
    kernels->input(&m->points, &one, x, ROOM, v);
    for (size_t p = 0; p < m->points.n_points; p++)
        for (size_t k = 0; k < m->points.n_points; k++)
            m->input[p][k] = (double)v[p * ROOM + k];
}

/* Finds A of the kernel. */
static void find_output(const struct cov_toom_cook_kernels *kernels, struct cov_train_toom_cook *m)
{
    enum { ROOM = 16 };
    const float zeros[ROOM] = {0}, ones[ROOM] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct cov_finish finish = {zeros, ones, zeros, -1e30F};
    float s[MAX_POINTS * ROOM] = {0}, y[TILE * ROOM];
    for (size_t p = 0; p < m->points.n_points; p++)
        s[p * ROOM + p] = 1;
    const struct cov_toom_cook_tiles one = {1, ROOM, ROOM, 0};
    kernels->output(&m->points, &one, s, &finish, y, ROOM);
    for (size_t p = 0; p < m->points.n_points; p++)
        for (size_t j = 0; j < TILE; j++)
            m->output[p][j] = (double)y[j * ROOM + p];
}

/* Measured on Zen 4: with fewer channels on either side of the products, the transforms cost as
 * much as they save; products in bf16 take half the time. */
bool cov_train_toom_cook_pays(const struct cov_layer *l, enum cov_arithmetic outer)
{
    size_t least = outer == COV_FP32 ? 128 : 192;
    bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    return cov_toom_cook_pays(l) && (transposed ? 1 : l->stride) * l->c_in >= least &&
           (transposed ? l->stride : 1) * l->c_out >= least;
}

int cov_train_toom_cook_new(const struct cov_layer *l, const struct cov_toom_cook_kernels *kernels,
                            struct cov_train_toom_cook **out, struct cov_err *e)
{
    struct cov_train_toom_cook *m = cov_calloc(1, sizeof *m, e);
    if (!m)
        return COV_ENOMEM;
    cov_toom_cook_points_init((l->kernel + l->stride - 1) / l->stride, TILE, &m->points);
    cov_toom_cook_places_init(l, TILE, &m->places);
    find_input(kernels, m);
    find_output(kernels, m);
    m->depth = m->places.in_phases * l->c_in;
    m->columns = m->places.out_phases * l->c_out;
    m->n_slices = (m->columns + COLUMNS - 1) / COLUMNS;
    m->products = cov_calloc64(m->points.n_points * m->depth * m->columns, sizeof(float), e);
    if (!m->products) {
        cov_train_toom_cook_free(m);
        return COV_ENOMEM;
    }
    *out = m;
    return COV_OK;
}

void cov_train_toom_cook_free(struct cov_train_toom_cook *m)
{
    if (m)
        free(m->products);
    free(m);
}

size_t cov_train_toom_cook_items(const struct cov_train_toom_cook *m)
{
    return (m->points.n_points + AT_ONCE - 1) / AT_ONCE * m->n_slices;
}

size_t cov_train_toom_cook_scratch(const struct cov_train_toom_cook *m)
{
    return TILES * (m->depth + COLUMNS);
}

/* Rows first, first + step, ... of an array of n_rows rows, `row` floats apart. */
struct seen {
    const float *data;
    size_t row, n_rows;
    int64_t first;
    size_t step;
};

/* Sets to[n] to the sum over k < n_terms of by[k] times row k. Rows past the end of the array count
 * as zeros. */
static void combine(const struct cov_vec *vec, size_t n, size_t n_terms, const double *by,
                    const struct seen *s, float *to)
{
    const float *rows[MAX_POINTS];
    float factors[MAX_POINTS];
    size_t n_there = 0;
    for (size_t k = 0; k < n_terms; k++) {
        int64_t at = s->first + (int64_t)(k * s->step);
        if (by[k] == 0 || at < 0 || at >= (int64_t)s->n_rows)
            continue;
        rows[n_there] = s->data + (size_t)at * s->row;
        factors[n_there++] = (float)by[k];
    }
    vec->combine(n, n_there, rows, factors, to);
}

/* Returns the row of x, or of y, where a phase starts in a tile. */
static int64_t row_of(size_t tile, size_t phases, size_t phase, int64_t first)
{
    return (int64_t)(tile * TILE * phases + phase) + first;
}

/* Some tiles of a sequence. */
struct part {
    size_t b, first, n;
};

static struct part part_at(const struct cov_train_toom_cook *m, size_t b, size_t first)
{
    size_t rest = m->places.n_tiles - first;
    return (struct part){b, first, rest < TILES ? rest : TILES};
}

/* A point, and columns [column, column + n_columns) of its products. */
struct slice {
    size_t point, column, n_columns;
};

/* Returns one of AT_ONCE equal shares of the first n rows, except rows past the end of the
 * array. */
static struct cov_outer_rows rows_from(const struct seen *s, size_t n, size_t width, size_t share)
{
    size_t beg = share * n / AT_ONCE, end = (share + 1) * n / AT_ONCE;
    size_t at = (s->first < 0 ? 0 : (size_t)s->first) + beg * s->step;
    size_t left = at < s->n_rows ? (s->n_rows - at + s->step - 1) / s->step : 0;
    n = end - beg < left ? end - beg : left;
    return (struct cov_outer_rows){n > 0 ? s->data + at * s->row : s->data, n, width,
                                   s->step * s->row};
}

/* Finds the rows of x and of z that a part reads for a slice: rows[0] and rows[1]. */
static void rows_of(const struct cov_cpu_training *t, const struct cov_train_toom_cook *m,
                    const struct part *p, const struct slice *of, size_t share,
                    struct cov_outer_rows rows[2])
{
    const struct cov_layer *l = &t->layers[t->layer].layer;
    struct cov_view x = cov_train_input(t, t->layer);
    size_t n = p->n * TILE, in = m->places.in_phases, out = m->places.out_phases;
    bool whole = of->n_columns > l->c_out; /* more than one phase */
    const struct seen of_x = {x.data + p->b * x.seq, x.row, l->t_in,
                              row_of(p->first, in, 0, m->places.in_first), 1};
    const struct seen of_z = {
        t->z + p->b * l->t_out * l->c_out + (whole ? 0 : of->column % l->c_out), l->c_out, l->t_out,
        row_of(p->first, out, whole ? 0 : of->column / l->c_out, m->places.out_first),
        whole ? 1 : out};
    rows[0] = rows_from(&of_x, n * in, l->c_in, share);
    rows[1] = rows_from(&of_z, whole ? n * out : n, whole ? l->c_out : of->n_columns, share);
}

/* Adds the products of a part to a slice while prefetching `next`. */
static void add_tiles(const struct cov_cpu_training *t, const struct cov_train_toom_cook *m,
                      const struct slice *of, const struct part *part,
                      const struct cov_outer_rows *next, float *scratch)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    size_t b = part->b, first = part->first, n = part->n, end = of->column + of->n_columns;
    struct cov_view x = cov_train_input(t, t->layer);
    const struct seen of_x = {x.data + b * x.seq, x.row, l->t_in, 0, m->places.in_phases};
    const struct seen of_z = {t->z + b * l->t_out * l->c_out, l->c_out, l->t_out, 0,
                              m->places.out_phases};
    float *left = scratch, *right = scratch + TILES * m->depth;
    for (size_t i = 0; i < n; i++) {
        for (size_t phase = 0; phase < m->places.in_phases; phase++) {
            struct seen rows = of_x;
            rows.first = row_of(first + i, m->places.in_phases, phase, m->places.in_first);
            combine(t->kernels.vec, l->c_in, m->points.n_points, m->input[of->point], &rows,
                    left + i * m->depth + phase * l->c_in);
        }
        for (size_t c = of->column, wide; c < end; c += wide) { /* phase by phase */
            size_t phase = c / l->c_out, o = c % l->c_out;
            struct seen rows = of_z;
            wide = l->c_out - o < end - c ? l->c_out - o : end - c;
            rows.data += o;
            rows.first = row_of(first + i, m->places.out_phases, phase, m->places.out_first);
            combine(t->kernels.vec, wide, TILE, m->output[of->point], &rows,
                    right + i * of->n_columns + c - of->column);
        }
    }
    const struct cov_outer_sum sum = {
        .m = m->depth,
        .n = of->n_columns,
        .k = n,
        .a = left,
        .lda = m->depth,
        .b = right,
        .ldb = of->n_columns,
        .c = m->products + of->point * m->depth * m->columns + of->column,
        .ldc = m->columns,
    };
    s->outer->add(&sum, next);
}

void cov_train_toom_cook_item(const struct cov_cpu_training *t, const struct cov_train_toom_cook *m,
                              size_t item, float *scratch)
{
    size_t point = item / m->n_slices * AT_ONCE, column = item % m->n_slices * COLUMNS;
    size_t n_columns = m->columns - column < COLUMNS ? m->columns - column : COLUMNS;
    size_t end = point + AT_ONCE < m->points.n_points ? point + AT_ONCE : m->points.n_points;
    for (size_t row = point * m->depth; row < end * m->depth; row++)
        memset(m->products + row * m->columns + column, 0, n_columns * sizeof(float));
    for (struct part p = part_at(m, 0, 0); p.b < t->batch->n;) {
        bool last = p.first + p.n == m->places.n_tiles;
        struct part next = part_at(m, p.b + last, last ? 0 : p.first + p.n);
        for (size_t i = point; i < end; i++) {
            const struct slice of = {i, column, n_columns};
            struct cov_outer_rows rows[2];
            if (next.b < t->batch->n)
                rows_of(t, m, &next, &of, i - point, rows);
            add_tiles(t, m, &of, &p, next.b < t->batch->n ? rows : NULL, scratch);
        }
        p = next;
    }
}

/* Computes the taps of input channel i and output channel o, in the order of toom_cook.c. */
static void take_taps(const struct cov_cpu_training *t, const struct cov_train_toom_cook *m,
                      size_t i, size_t o, float *gradient)
{
    const struct cov_layer *l = &t->layers[t->layer].layer;
    bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    size_t phases = transposed ? m->places.out_phases : m->places.in_phases;
    for (size_t phase = 0; phase < phases; phase++)
        for (size_t tap = 0; tap < m->points.taps; tap++) {
            size_t at = transposed ? m->points.taps - 1 - tap : tap;
            size_t in_kernel = at * l->stride + phase;
            size_t row = transposed ? i : phase * l->c_in + i;
            size_t column = transposed ? phase * l->c_out + o : o;
            double sum = 0;
            if (in_kernel >= l->kernel)
                continue;
            for (size_t p = 0; p < m->points.n_points; p++)
                sum += m->points.filter[p][tap] *
                       (double)m->products[(p * m->depth + row) * m->columns + column];
            gradient[in_kernel] = (float)sum;
        }
}

int cov_train_toom_cook_finish(void *arg, size_t i, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    const struct cov_cpu_training *t = arg;
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    float *gradient = cov_train_gradient(t, s->weights.weight);
    for (size_t o = 0; o < l->c_out; o++) {
        size_t at = l->kind == COV_LAYER_CONV ? o * l->c_in + i : i * l->c_out + o;
        take_taps(t, s->minimal, i, o, gradient + at * l->kernel);
    }
    return COV_OK;
}
