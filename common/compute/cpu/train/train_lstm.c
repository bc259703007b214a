/* train_lstm.c - LSTMs of fast training, and the dropout between them.
 *
 * Each direction of a group of sequences is an item. In the forward pass, products with x are
 * computed for a block of steps at once. In the backward pass, steps compute only the products with
 * w_hh; the gradients of x and of the weights are large products over all steps, computed
 * afterwards. The size of a group does not affect the values.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/compute/cpu/train/training.h"
#include "common/compute/dropout.h"

enum {
    BLOCK_ROWS = 72, /* steps times sequences whose sums fit in the cache with the weights */
    MOST_ROWS = 16,  /* sequences per group */
    LEAST_ROWS = 4,
    DX_ROWS = 384, /* rows per item of gradients of x */
};

/* ---- parameters ---- */

/* dst[cols,rows] = transposed src[rows,cols], with row strides. */
static void transpose(const float *src, size_t rows, size_t cols, size_t src_stride, float *dst,
                      size_t dst_stride)
{
    enum { TILE = 16 };
    for (size_t r0 = 0; r0 < rows; r0 += TILE)
        for (size_t c0 = 0; c0 < cols; c0 += TILE)
            for (size_t c = c0; c < cols && c < c0 + TILE; c++)
                for (size_t r = r0; r < rows && r < r0 + TILE; r++)
                    dst[c * dst_stride + r] = src[r * src_stride + c];
}

/* Packs w[n_gates,k] both as it is and transposed. */
static int pack_both(const struct cov_train_layer *s, const float *w, size_t k,
                     struct cov_matrix *transposed, struct cov_matrix *plain, struct cov_err *e)
{
    size_t n_gates = 4 * s->layer.hidden;
    float *t = cov_malloc(k * n_gates, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    transpose(w, n_gates, k, k, t, n_gates);
    cov_matrix_fini(transposed);
    cov_matrix_fini(plain);
    int rc = cov_matrix_init(s->gemm, k, n_gates, t, transposed, e);
    if (rc == COV_OK)
        rc = cov_matrix_init(s->gemm, n_gates, k, w, plain, e);
    free(t);
    return rc;
}

int cov_train_lstm_pack(struct cov_cpu_training *t, size_t i, struct cov_err *e)
{
    struct cov_train_layer *s = &t->layers[i];
    size_t n_gates = 4 * s->layer.hidden;
    int rc = COV_OK;
    for (size_t d = 0; rc == COV_OK && d < s->layer.directions; d++) {
        const struct cov_layer_weights *w = &s->weights;
        rc = pack_both(s, w->w_ih[d], s->layer.c_in, &s->w_ih[d], &s->back_ih[d], e);
        if (rc == COV_OK)
            rc = pack_both(s, w->w_hh[d], s->layer.hidden, &s->w_hh[d], &s->back_hh[d], e);
        for (size_t g = 0; g < n_gates; g++)
            s->bias[d * n_gates + g] = w->b_ih[d][g] + w->b_hh[d][g];
    }
    return rc;
}

size_t cov_train_lstm_scratch(const struct cov_cpu_training *t, size_t i)
{
    const struct cov_layer *l = &t->layers[i].layer;
    return BLOCK_ROWS * (4 * l->hidden + l->c_in) + 2 * MOST_ROWS * l->hidden;
}

/* ---- groups ---- */

/* One direction of sequences [b, b + rows). */
struct group {
    size_t d, b, rows;
};

static size_t n_groups(const struct cov_cpu_training *t)
{
    size_t n = t->batch->n, wanted = t->n_workers / t->layers[t->layer].layer.directions;
    size_t most = (n + LEAST_ROWS - 1) / LEAST_ROWS, least = (n + MOST_ROWS - 1) / MOST_ROWS;
    return wanted < least ? least : wanted < most ? wanted : most;
}

static struct group group_at(const struct cov_cpu_training *t, size_t item)
{
    size_t groups = n_groups(t), k = item % groups, n = t->batch->n;
    size_t b = k * n / groups;
    return (struct group){item / groups, b, (k + 1) * n / groups - b};
}

/* Returns row t of a direction's gates or cells, `width` values per sequence, for the group's first
 * sequence. */
static float *kept_at(const struct cov_cpu_training *t, const struct group *g, float *kept,
                      size_t width, size_t row)
{
    size_t steps = t->layers[t->layer].layer.t_in;
    return kept + ((g->d * steps + row) * t->batch->n + g->b) * width;
}

/* Returns the offset of row t in an array with the shape of y, for the group's first sequence. */
static size_t y_place(const struct cov_cpu_training *t, const struct group *g, size_t row)
{
    const struct cov_layer *l = &t->layers[t->layer].layer;
    return (row * t->batch->n + g->b) * l->c_out + g->d * l->hidden;
}

/* ---- forward ---- */

/* Computes sums[steps, rows, 4*hidden] over x, from row t0 on. */
static void multiply_x(const struct cov_cpu_training *t, const struct group *g, size_t t0,
                       size_t steps, float *sums, float *gathered)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    size_t c = s->layer.c_in, n = t->batch->n;
    const float *x = cov_train_input(t, t->layer).data + (t0 * n + g->b) * c;
    if (g->rows < n) {
        for (size_t i = 0; i < steps; i++)
            memcpy(gathered + i * g->rows * c, x + i * n * c, g->rows * c * sizeof *x);
        x = gathered;
    }
    s->gemm->run(steps * g->rows, x, c, &s->w_ih[g->d], sums, 4 * s->layer.hidden, false);
}

static struct cov_vec_lstm kept_of(const struct cov_cpu_training *t, const struct group *g,
                                   size_t row)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    size_t hidden = s->layer.hidden;
    return (struct cov_vec_lstm){.rows = g->rows,
                                 .hidden = hidden,
                                 .gates_stride = 4 * hidden,
                                 .cells_stride = hidden,
                                 .gates = kept_at(t, g, s->gates, 4 * hidden, row),
                                 .cells = kept_at(t, g, s->cells, hidden, row)};
}

/* Prefetches what the next step needs at this row, in `y`, too. */
static void prefetch_next(const struct cov_cpu_training *t, const struct group *g, size_t row,
                          const float *y, struct cov_vec_lstm *kept)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    kept->next_gates = kept_at(t, g, s->gates, 4 * s->layer.hidden, row);
    kept->next_cells = kept_at(t, g, s->cells, s->layer.hidden, row);
    kept->next_y = y + y_place(t, g, row);
}

static void forward_step(const struct cov_cpu_training *t, const struct group *g, size_t step,
                         float *sums)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    size_t hidden = l->hidden, n_gates = 4 * hidden;
    size_t row = g->d ? l->t_in - 1 - step : step, before = g->d ? row + 1 : row - 1;
    struct cov_vec_lstm kept = kept_of(t, g, row);
    if (step + 1 < l->t_in)
        prefetch_next(t, g, g->d ? row - 1 : row + 1, s->y, &kept);
    if (step > 0) {
        kept.before = kept_at(t, g, s->cells, hidden, before);
        s->gemm->run(g->rows, s->y + y_place(t, g, before), l->c_out, &s->w_hh[g->d], sums, n_gates,
                     true);
    }
    t->kernels.vec->lstm_forward(&kept, sums, s->bias + g->d * n_gates, s->y + y_place(t, g, row),
                                 l->c_out);
}

static int forward_group(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)e;
    struct cov_cpu_training *t = arg;
    const struct cov_layer *l = &t->layers[t->layer].layer;
    struct group g = group_at(t, item);
    size_t n_gates = 4 * l->hidden, block = BLOCK_ROWS / g.rows;
    float *sums = t->scratch[worker], *gathered = sums + BLOCK_ROWS * n_gates;
    for (size_t first = 0; first < l->t_in; first += block) {
        size_t steps = l->t_in - first < block ? l->t_in - first : block;
        size_t t0 = g.d ? l->t_in - first - steps : first;
        multiply_x(t, &g, t0, steps, sums, gathered);
        for (size_t i = 0; i < steps; i++)
            forward_step(t, &g, first + i, sums + (g.d ? steps - 1 - i : i) * g.rows * n_gates);
    }
    return COV_OK;
}

/* ---- dropout ---- */

/* Applies dropout to rows of layer i's output at one step. */
static void drop_rows(const struct cov_cpu_training *t, size_t i, size_t row, const float *from,
                      float *to)
{
    size_t c = t->layers[i].layer.c_out;
    double p = t->spec.dropout;
    for (size_t b = 0; b < t->batch->n; b++)
        t->kernels.vec->dropout(c, cov_dropout_key(t->spec.seed, t->step, i, t->batch->first + b),
                                cov_dropout_place(row, c), cov_dropout_limit(p),
                                (float)(1 / (1 - p)), from + b * c, to + b * c);
}

/* Steps per item of dropout. */
enum { DROP_STEPS = 64 };

static int drop_steps(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    const struct cov_train_layer *s = &t->layers[t->layer];
    size_t width = t->batch->n * s->layer.c_out;
    for (size_t row = item * DROP_STEPS; row < s->layer.t_in && row < (item + 1) * DROP_STEPS;
         row++)
        drop_rows(t, t->layer, row, s->y + row * width, s->dropped + row * width);
    return COV_OK;
}

int cov_train_lstm_forward(struct cov_cpu_training *t, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    if (t->batch->n == 0)
        return COV_OK;
    int rc = cov_pool_for(t->spec.pool, n_groups(t) * s->layer.directions, forward_group, t, e);
    if (rc || !s->drops)
        return rc;
    return cov_pool_for(t->spec.pool, (s->layer.t_in + DROP_STEPS - 1) / DROP_STEPS, drop_steps, t,
                        e);
}

int cov_train_lstm_again(struct cov_cpu_training *t, struct cov_err *e)
{
    size_t n = t->batch->n > 0 ? n_groups(t) * t->layers[t->layer].layer.directions : 0;
    return cov_pool_for(t->spec.pool, n, forward_group, t, e);
}

/* ---- backward ---- */

static int backward_group(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)e;
    struct cov_cpu_training *t = arg;
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    struct group g = group_at(t, item);
    size_t hidden = l->hidden, n_gates = 4 * hidden;
    float *dc = t->scratch[worker], *from_next = dc + MOST_ROWS * hidden;
    memset(dc, 0, g.rows * hidden * sizeof *dc);
    for (size_t step = l->t_in; step-- > 0;) {
        size_t row = g.d ? l->t_in - 1 - step : step;
        size_t before = g.d ? row + 1 : row - 1, next = g.d ? row - 1 : row + 1;
        bool last = step + 1 == l->t_in;
        struct cov_vec_lstm kept = kept_of(t, &g, row);
        if (step > 0) {
            kept.before = kept_at(t, &g, s->cells, hidden, before);
            prefetch_next(t, &g, before, t->d, &kept);
            kept.next_cells =
                step > 1 ? kept_at(t, &g, s->cells, hidden, g.d ? row + 2 : row - 2) : NULL;
        }
        if (!last)
            s->gemm->run(g.rows, kept_at(t, &g, s->gates, n_gates, next), n_gates, &s->back_hh[g.d],
                         from_next, hidden, false);
        t->kernels.vec->lstm_backward(&kept, t->d + y_place(t, &g, row), l->c_out,
                                      last ? NULL : from_next, dc);
    }
    return COV_OK;
}

/* Items after the steps: tiles of the gradients of w_ih and w_hh of each direction, then rows of
 * the gradient of x, with the sums for the bias. */
struct rest {
    size_t ih_rows, hh_rows, columns; /* tiles */
    size_t n_tiles, n_rows;
};

static size_t n_parts(size_t n, size_t of)
{
    return (n + of - 1) / of;
}

static struct rest rest_of(const struct cov_cpu_training *t)
{
    const struct cov_layer *l = &t->layers[t->layer].layer;
    struct rest r = {n_parts(l->c_in, COV_TRAIN_TILE_ROWS), n_parts(l->hidden, COV_TRAIN_TILE_ROWS),
                     n_parts(4 * l->hidden, COV_TRAIN_TILE_COLUMNS), 0, 0};
    r.n_tiles = t->spec.explain ? 0 : l->directions * (r.ih_rows + r.hh_rows) * r.columns;
    r.n_rows = n_parts(t->batch->n * l->t_in, DX_ROWS);
    return r;
}

/* Writes a tile at [n0, m0] of gradient[gate, m], row stride `width`. `sum` describes all columns,
 * with scratch as its c. */
static void add_tile(const struct cov_train_layer *s, struct cov_outer_sum sum, size_t m0,
                     size_t n0, float *gradient, size_t width)
{
    sum.m = sum.m - m0 < COV_TRAIN_TILE_ROWS ? sum.m - m0 : COV_TRAIN_TILE_ROWS;
    sum.n = sum.n - n0 < COV_TRAIN_TILE_COLUMNS ? sum.n - n0 : COV_TRAIN_TILE_COLUMNS;
    sum.a += m0;
    sum.b += n0;
    sum.ldc = sum.n;
    memset(sum.c, 0, sum.m * sum.n * sizeof *sum.c);
    s->outer->add(&sum, NULL);
    transpose(sum.c, sum.m, sum.n, sum.n, gradient + n0 * width + m0, width);
}

static void tile_item(const struct cov_cpu_training *t, const struct rest *r, size_t item,
                      float *scratch)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    size_t n = t->batch->n, n_gates = 4 * l->hidden, steps = l->t_in;
    size_t n0 = item % r->columns * COV_TRAIN_TILE_COLUMNS, k = item / r->columns;
    size_t d = k / (r->ih_rows + r->hh_rows), row = k % (r->ih_rows + r->hh_rows);
    struct cov_outer_sum sum = {.m = l->c_in,
                                .n = n_gates,
                                .k = steps * n,
                                .a = cov_train_input(t, t->layer).data,
                                .lda = l->c_in,
                                .b = s->gates + d * steps * n * n_gates,
                                .ldb = n_gates};
    sum.c = scratch;
    if (row < r->ih_rows) {
        add_tile(s, sum, row * COV_TRAIN_TILE_ROWS, n0, cov_train_gradient(t, s->weights.w_ih[d]),
                 l->c_in);
        return;
    }
    /* Each step except the first reads the h of the previous step. */
    sum.m = l->hidden;
    sum.k = (steps - 1) * n;
    sum.a = s->y + d * l->hidden + (d ? n * l->c_out : 0);
    sum.lda = l->c_out;
    sum.b += d ? 0 : n * n_gates;
    add_tile(s, sum, (row - r->ih_rows) * COV_TRAIN_TILE_ROWS, n0,
             cov_train_gradient(t, s->weights.w_hh[d]), l->hidden);
}

static void rows_item(const struct cov_cpu_training *t, size_t item)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    size_t n = t->batch->n, n_gates = 4 * l->hidden, all = n * l->t_in, first = item * DX_ROWS;
    size_t rows = all - first < DX_ROWS ? all - first : DX_ROWS;
    float *dx = t->d + first * l->c_in;
    double *bias = t->bias_sums + item * l->directions * n_gates;
    memset(bias, 0, l->directions * n_gates * sizeof *bias);
    for (size_t d = 0; d < l->directions; d++) {
        const float *dgates = s->gates + (d * all + first) * n_gates;
        if (t->layer > t->spec.first_trained)
            s->gemm->run(rows, dgates, n_gates, &s->back_ih[d], dx, l->c_in, d > 0);
        t->kernels.vec->column_sums(rows, n_gates, dgates, n_gates, bias + d * n_gates);
    }
}

static int rest_item(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)e;
    struct cov_cpu_training *t = arg;
    struct rest r = rest_of(t);
    if (item < r.n_tiles)
        tile_item(t, &r, item, t->scratch[worker]);
    else
        rows_item(t, item - r.n_tiles);
    return COV_OK;
}

static void add_bias(struct cov_cpu_training *t, size_t n_items)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    size_t n_gates = 4 * s->layer.hidden, width = s->layer.directions * n_gates;
    for (size_t d = 0; d < s->layer.directions; d++) {
        float *ih = cov_train_gradient(t, s->weights.b_ih[d]);
        float *hh = cov_train_gradient(t, s->weights.b_hh[d]);
        for (size_t g = 0; g < n_gates; g++) {
            double sum = 0;
            for (size_t i = 0; i < n_items; i++)
                sum += t->bias_sums[i * width + d * n_gates + g];
            ih[g] = hh[g] = (float)sum;
        }
    }
}

/* Gradients of an input with dropout go through the same dropout. */
static int drop_back(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    const struct cov_layer *l = &t->layers[t->layer].layer;
    size_t width = t->batch->n * l->c_in;
    for (size_t row = item * DROP_STEPS; row < l->t_in && row < (item + 1) * DROP_STEPS; row++)
        drop_rows(t, t->layer - 1, row, t->d + row * width, t->d + row * width);
    return COV_OK;
}

int cov_train_lstm_backward(struct cov_cpu_training *t, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->layers[t->layer];
    const struct cov_layer *l = &s->layer;
    struct rest r = rest_of(t);
    if (t->batch->n == 0)
        return COV_OK;
    int rc = cov_pool_for(t->spec.pool, n_groups(t) * l->directions, backward_group, t, e);
    if (rc)
        return rc;
    t->bias_sums = cov_malloc(r.n_rows * l->directions * 4 * l->hidden, sizeof(double), e);
    rc = t->bias_sums ? cov_pool_for(t->spec.pool, r.n_tiles + r.n_rows, rest_item, t, e)
                      : COV_ENOMEM;
    if (rc == COV_OK && !t->spec.explain)
        add_bias(t, r.n_rows);
    free(t->bias_sums);
    t->bias_sums = NULL;
    if (rc || t->layer <= t->spec.first_trained || !t->layers[t->layer - 1].drops)
        return rc;
    return cov_pool_for(t->spec.pool, n_parts(l->t_in, DROP_STEPS), drop_back, t, e);
}
