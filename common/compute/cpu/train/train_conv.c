/* train_conv.c - convolutions of fast training, with ReLU and norm.
 *
 * The gradient of a convolution's weights for tap k is the sum over t of x[t * stride - pad + k *
 * dilation] times dz[t]. For a transposed convolution, dz and x are exchanged. So there is a wide
 * side, `kernel` rows of which contribute to row t, and a narrow side. If taps are on consecutive
 * rows, these are read in place as one long row of the wide side.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "common/base/pool.h"
#include "common/compute/cpu/train/training.h"

/* ---- parameters ---- */

int cov_train_conv_pack(struct cov_cpu_training *t, size_t i, struct cov_err *e)
{
    struct cov_train_layer *s = &t->layers[i];
    struct cov_layer plain = s->layer;
    plain.norm = false;
    cov_conv_free(s->forward);
    cov_conv_free(s->backward);
    s->forward = s->backward = NULL;
    struct cov_cpu_kernels kernels =
        cov_cpu_conv_kernels(&t->arithmetic, &s->layer, s->operands, &t->kernels);
    int rc = cov_conv_new(&plain, &s->weights, &kernels, &s->forward, e);
    if (rc || (i <= t->spec.first_trained && !t->spec.explain))
        return rc;
    return cov_conv_sums_new(&s->back, s->weights.weight, &kernels, &s->backward, e);
}

size_t cov_train_conv_scratch(const struct cov_cpu_training *t, size_t i)
{
    const struct cov_train_layer *s = &t->layers[i];
    size_t forward = cov_conv_scratch(s->forward);
    size_t backward = s->backward ? cov_conv_scratch(s->backward) : 0;
    size_t minimal = s->minimal ? cov_train_toom_cook_scratch(s->minimal) : 0;
    size_t most = forward > backward ? forward : backward;
    return most > minimal ? most : minimal;
}

/* ---- forward ---- */

static double *sums_of(const struct cov_train_layer *s, size_t item)
{
    return s->sums + item * 2 * s->layer.c_out;
}

/* Runs a piece of a sequence, up to the norm. */
static int forward_piece(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)e;
    struct cov_cpu_training *t = arg;
    struct cov_train_layer *s = &t->layers[t->layer];
    size_t b = item / s->pieces.n, c = s->layer.c_out;
    struct cov_rows rows = cov_train_piece(&s->pieces, item % s->pieces.n);
    struct cov_view x = cov_train_input(t, t->layer), r = cov_train_before_norm(t, t->layer);
    const struct cov_layer_io io = {x.data + b * x.seq, x.row, r.data + b * r.seq, r.row};
    cov_conv_rows(s->forward, rows, &io, t->scratch[worker]);
    if (s->norm && !t->spec.explain) {
        memset(sums_of(s, item), 0, 2 * c * sizeof(double));
        t->kernels.vec->norm_sums(rows.end - rows.beg, c, r.data + b * r.seq + rows.beg * r.row,
                                  r.row, sums_of(s, item));
    }
    return COV_OK;
}

static int norm_piece(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    struct cov_train_layer *s = &t->layers[t->layer];
    size_t b = item / s->pieces.n;
    struct cov_rows rows = cov_train_piece(&s->pieces, item % s->pieces.n);
    struct cov_view r = cov_train_before_norm(t, t->layer), y = cov_train_output(t, t->layer);
    const struct cov_vec_rows in = {.rows = rows.end - rows.beg,
                                    .c = s->layer.c_out,
                                    .r = r.data + b * r.seq + rows.beg * r.row,
                                    .r_stride = r.row};
    t->kernels.vec->scale(&in, s->scale, s->shift, y.data + b * y.seq + rows.beg * y.row, y.row);
    return COV_OK;
}

/* Sets s->total to the total of the sums of all pieces, `width` sums each, added in order. */
static void add_pieces(const struct cov_cpu_training *t, struct cov_train_layer *s, size_t width)
{
    size_t n = t->batch->n * s->pieces.n;
    memset(s->total, 0, width * sizeof *s->total);
    for (size_t i = 0; i < n; i++)
        for (size_t o = 0; o < width; o++)
            s->total[o] += sums_of(s, i)[o];
}

/* Does the same over all processes, and appends the number of positions. */
static int share_sums(struct cov_cpu_training *t, struct cov_train_layer *s, struct cov_err *e)
{
    size_t width = 2 * s->layer.c_out;
    s->total[width] = (double)(t->batch->n * s->layer.t_out);
    const struct cov_train_reduce *reduce = &t->spec.reduce;
    return reduce->fn ? reduce->fn(reduce->arg, s->total, width + 1, e) : COV_OK;
}

static int take_statistics(struct cov_cpu_training *t, struct cov_train_layer *s, struct cov_err *e)
{
    size_t c = s->layer.c_out;
    const struct cov_layer_weights *w = &s->weights;
    float *batch_mean = cov_train_gradient(t, w->mean), *batch_var = cov_train_gradient(t, w->var);
    add_pieces(t, s, 2 * c);
    int rc = share_sums(t, s, e);
    double n = s->total[2 * c];
    for (size_t o = 0; o < c; o++) {
        double mean = s->total[o] / n, var = s->total[c + o] / n - mean * mean;
        var = var < 0 ? 0 : var;
        double rstd = 1 / sqrt(var + COV_NORM_EPS), scale = rstd * (double)w->gamma[o];
        s->mean[o] = (float)mean;
        s->rstd[o] = (float)rstd;
        s->scale[o] = (float)scale;
        s->shift[o] = (float)((double)w->beta[o] - mean * scale);
        batch_mean[o] = (float)mean;
        batch_var[o] = (float)(n > 1 ? var * n / (n - 1) : var);
    }
    return rc;
}

/* Uses the running statistics instead. */
static void fix_norm(struct cov_train_layer *s)
{
    const struct cov_layer_weights *w = &s->weights;
    for (size_t o = 0; o < s->layer.c_out; o++) {
        double scale = (double)w->gamma[o] / sqrt((double)w->var[o] + COV_NORM_EPS);
        s->scale[o] = s->by_d[o] = (float)scale;
        s->shift[o] = (float)((double)w->beta[o] - (double)w->mean[o] * scale);
        s->by_r[o] = s->by_one[o] = 0;
    }
}

int cov_train_conv_forward(struct cov_cpu_training *t, struct cov_err *e)
{
    struct cov_train_layer *s = &t->layers[t->layer];
    size_t n = t->batch->n * s->pieces.n;
    int rc = cov_pool_for(t->spec.pool, n, forward_piece, t, e);
    if (rc || !s->norm)
        return rc;
    if (t->spec.explain)
        fix_norm(s);
    else
        rc = take_statistics(t, s, e);
    return rc ? rc : cov_pool_for(t->spec.pool, n, norm_piece, t, e);
}

int cov_train_conv_again(struct cov_cpu_training *t, size_t i, bool from_input, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->layers[i];
    size_t n = t->batch->n * s->pieces.n;
    t->layer = i;
    int rc = from_input ? cov_pool_for(t->spec.pool, n, forward_piece, t, e) : COV_OK;
    return rc || !s->norm ? rc : cov_pool_for(t->spec.pool, n, norm_piece, t, e);
}

/* ---- backward through the norm and the ReLU ---- */

/* Returns the rows of sequence b before the norm, and the gradient of the norm's output. */
static struct cov_vec_rows rows_with_gradient(const struct cov_cpu_training *t, size_t b,
                                              struct cov_rows rows)
{
    struct cov_view r = cov_train_before_norm(t, t->layer);
    struct cov_view d = cov_train_at(cov_train_output(t, t->layer), t->d);
    return (struct cov_vec_rows){.rows = rows.end - rows.beg,
                                 .c = t->layers[t->layer].layer.c_out,
                                 .r = r.data + b * r.seq + rows.beg * r.row,
                                 .r_stride = r.row,
                                 .d = d.data + b * d.seq + rows.beg * d.row,
                                 .d_stride = d.row};
}

static int norm_sums_piece(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    struct cov_train_layer *s = &t->layers[t->layer];
    size_t b = item / s->pieces.n, c = s->layer.c_out;
    struct cov_rows rows = cov_train_piece(&s->pieces, item % s->pieces.n);
    const struct cov_vec_rows in = rows_with_gradient(t, b, rows);
    memset(sums_of(s, item), 0, 2 * c * sizeof(double));
    t->kernels.vec->norm_backward_sums(&in, s->mean, s->rstd, sums_of(s, item));
    return COV_OK;
}

/* Computes the factors of dy, r and 1 in dr = gamma rstd (dy - S0 / n - x^ S1 / n), where
 * x^ = (r - mean) rstd. */
static int lead_through_norm(struct cov_cpu_training *t, struct cov_train_layer *s,
                             struct cov_err *e)
{
    size_t c = s->layer.c_out;
    float *by_gamma = cov_train_gradient(t, s->weights.gamma);
    float *by_beta = cov_train_gradient(t, s->weights.beta);
    int rc = cov_pool_for(t->spec.pool, t->batch->n * s->pieces.n, norm_sums_piece, t, e);
    if (rc)
        return rc;
    add_pieces(t, s, 2 * c);
    for (size_t o = 0; o < c; o++) {
        by_beta[o] = (float)s->total[o];
        by_gamma[o] = (float)s->total[c + o];
    }
    rc = share_sums(t, s, e);
    double n = s->total[2 * c];
    for (size_t o = 0; o < c; o++) {
        double rstd = (double)s->rstd[o], scale = (double)s->weights.gamma[o] * rstd;
        double by_r = -scale * rstd * s->total[c + o] / n;
        s->by_d[o] = (float)scale;
        s->by_r[o] = (float)by_r;
        s->by_one[o] = (float)(-scale * s->total[o] / n - (double)s->mean[o] * by_r);
    }
    return rc;
}

static int relu_piece(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    struct cov_train_layer *s = &t->layers[t->layer];
    size_t b = item / s->pieces.n, c = s->layer.c_out;
    struct cov_rows rows = cov_train_piece(&s->pieces, item % s->pieces.n);
    const struct cov_vec_rows in = rows_with_gradient(t, b, rows);
    memset(sums_of(s, item), 0, c * sizeof(double));
    t->kernels.vec->relu_backward(&in, s->by_d, s->by_r, s->by_one,
                                  t->z + (b * s->layer.t_out + rows.beg) * c, sums_of(s, item));
    return COV_OK;
}

/* ---- gradients of the weights ---- */

/* The two sides of the gradient. */
struct sides {
    struct cov_view wide, narrow;
    size_t wide_rows, wide_c, narrow_rows, narrow_c;
};

static struct sides sides_of(const struct cov_cpu_training *t)
{
    const struct cov_layer *l = &t->layers[t->layer].layer;
    struct cov_view x = cov_train_input(t, t->layer);
    struct cov_view z = {t->z, l->c_out, l->t_out * l->c_out};
    if (l->kind == COV_LAYER_CONV)
        return (struct sides){x, z, l->t_in, l->c_in, l->t_out, l->c_out};
    return (struct sides){z, x, l->t_out, l->c_out, l->t_in, l->c_in};
}

/* A tile [m0, m1) x [n0, n1) of [kernel * wide_c, narrow_c]. */
struct tile {
    size_t m0, m1, n0, n1;
};

static size_t n_column_tiles(const struct sides *s)
{
    return (s->narrow_c + COV_TRAIN_TILE_COLUMNS - 1) / COV_TRAIN_TILE_COLUMNS;
}

static size_t n_row_tiles(const struct cov_layer *l, const struct sides *s)
{
    return (l->kernel * s->wide_c + COV_TRAIN_TILE_ROWS - 1) / COV_TRAIN_TILE_ROWS;
}

static struct tile tile_at(const struct cov_layer *l, const struct sides *s, size_t item)
{
    size_t m = item / n_column_tiles(s) * COV_TRAIN_TILE_ROWS, rows = l->kernel * s->wide_c;
    size_t n = item % n_column_tiles(s) * COV_TRAIN_TILE_COLUMNS;
    return (struct tile){m, m + COV_TRAIN_TILE_ROWS < rows ? m + COV_TRAIN_TILE_ROWS : rows, n,
                         n + COV_TRAIN_TILE_COLUMNS < s->narrow_c ? n + COV_TRAIN_TILE_COLUMNS
                                                                  : s->narrow_c};
}

/* Returns v limited to [beg, end]. */
static size_t within(int64_t v, size_t beg, size_t end)
{
    return v < (int64_t)beg ? beg : v > (int64_t)end ? end : (size_t)v;
}

/* Returns a / b rounded up; b > 0. */
static int64_t divide_up(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/* Adds the products of narrow rows beg .. end-1 of sequence b, tap by tap, with the rows that each
 * tap reads. */
static void add_taps(const struct cov_train_layer *layer, const struct sides *s,
                     const struct tile *tile, size_t b, size_t beg, size_t end, float *sums)
{
    const struct cov_layer *l = &layer->layer;
    size_t columns = tile->n1 - tile->n0;
    for (size_t k = tile->m0 / s->wide_c; k * s->wide_c < tile->m1; k++) {
        size_t m0 = k * s->wide_c < tile->m0 ? tile->m0 : k * s->wide_c;
        size_t m1 = (k + 1) * s->wide_c < tile->m1 ? (k + 1) * s->wide_c : tile->m1;
        int64_t stride = (int64_t)l->stride, offset = (int64_t)(k * l->dilation) - l->pad;
        size_t first = within(divide_up(-offset, stride), beg, end);
        size_t last = within(divide_up((int64_t)s->wide_rows - offset, stride), first, end);
        if (first == last)
            continue;
        size_t row = (size_t)((int64_t)first * stride + offset);
        float *c = sums + (m0 - tile->m0) * columns;
        const struct cov_outer_sum sum = {
            .m = m1 - m0,
            .n = columns,
            .k = last - first,
            .a = s->wide.data + b * s->wide.seq + row * s->wide.row + (m0 - k * s->wide_c),
            .lda = l->stride * s->wide.row,
            .b = s->narrow.data + b * s->narrow.seq + first * s->narrow.row + tile->n0,
            .ldb = s->narrow.row,
            .c = c,
            .ldc = columns,
        };
        layer->outer->add(&sum, NULL);
    }
}

/* Adds all of sequence b. */
static void add_sequence(const struct cov_train_layer *layer, const struct sides *s,
                         const struct tile *tile, size_t b, float *sums)
{
    const struct cov_layer *l = &layer->layer;
    size_t columns = tile->n1 - tile->n0, beg = 0, end = 0;
    if (l->dilation == 1 && s->wide.row == s->wide_c) { /* rows whose taps all exist */
        int64_t stride = (int64_t)l->stride;
        int64_t room = (int64_t)s->wide_rows + l->pad - (int64_t)l->kernel;
        beg = within(divide_up(l->pad, stride), 0, s->narrow_rows);
        end = within(divide_up(room + 1, stride), beg, s->narrow_rows);
    }
    if (beg == end) {
        add_taps(layer, s, tile, b, 0, s->narrow_rows, sums);
        return;
    }
    size_t row = beg * l->stride - (size_t)l->pad;
    add_taps(layer, s, tile, b, 0, beg, sums);
    const struct cov_outer_sum sum = {
        .m = tile->m1 - tile->m0,
        .n = columns,
        .k = end - beg,
        .a = s->wide.data + b * s->wide.seq + row * s->wide_c + tile->m0,
        .lda = l->stride * s->wide_c,
        .b = s->narrow.data + b * s->narrow.seq + beg * s->narrow.row + tile->n0,
        .ldb = s->narrow.row,
        .c = sums,
        .ldc = columns,
    };
    layer->outer->add(&sum, NULL);
    add_taps(layer, s, tile, b, end, s->narrow_rows, sums);
}

/* In both kinds of convolution, weights are indexed by (narrow channel, wide channel, tap). */
static void add_tile(const struct cov_cpu_training *t, size_t item, float *sums)
{
    const struct cov_train_layer *layer = &t->layers[t->layer];
    const struct cov_layer *l = &layer->layer;
    struct sides s = sides_of(t);
    struct tile tile = tile_at(l, &s, item);
    size_t columns = tile.n1 - tile.n0;
    float *gradient = cov_train_gradient(t, layer->weights.weight);
    memset(sums, 0, (tile.m1 - tile.m0) * columns * sizeof *sums);
    for (size_t b = 0; b < t->batch->n; b++)
        add_sequence(layer, &s, &tile, b, sums);
    for (size_t n = tile.n0; n < tile.n1; n++)
        for (size_t m = tile.m0; m < tile.m1; m++)
            gradient[(n * s.wide_c + m % s.wide_c) * l->kernel + m / s.wide_c] =
                sums[(m - tile.m0) * columns + n - tile.n0];
}

/* Items are first the tiles of the weights' gradient, then the pieces of the input's gradient. */
static int backward_item(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)e;
    struct cov_cpu_training *t = arg;
    struct cov_train_layer *s = &t->layers[t->layer];
    if (item < t->n_tiles) {
        if (s->minimal)
            cov_train_toom_cook_item(t, s->minimal, item, t->scratch[worker]);
        else
            add_tile(t, item, t->scratch[worker]);
        return COV_OK;
    }
    item -= t->n_tiles;
    size_t b = item / s->back_pieces.n, c = s->layer.c_out;
    struct cov_rows rows = cov_train_piece(&s->back_pieces, item % s->back_pieces.n);
    struct cov_view d = cov_train_at(cov_train_input(t, t->layer), t->d);
    const struct cov_layer_io io = {t->z + b * s->layer.t_out * c, c, d.data + b * d.seq, d.row};
    cov_conv_rows(s->backward, rows, &io, t->scratch[worker]);
    return COV_OK;
}

int cov_train_conv_backward(struct cov_cpu_training *t, struct cov_err *e)
{
    struct cov_train_layer *s = &t->layers[t->layer];
    size_t n = t->batch->n, c = s->layer.c_out;
    int rc = COV_OK;
    if (s->norm && !t->spec.explain)
        rc = lead_through_norm(t, s, e);
    for (size_t o = 0; !s->norm && o < c; o++) {
        s->by_d[o] = 1;
        s->by_r[o] = s->by_one[o] = 0;
    }
    if (rc == COV_OK)
        rc = cov_pool_for(t->spec.pool, n * s->pieces.n, relu_piece, t, e);
    if (rc)
        return rc;
    if (t->spec.explain) {
        t->n_tiles = 0;
        return cov_pool_for(t->spec.pool, n * s->back_pieces.n, backward_item, t, e);
    }
    float *by_bias = cov_train_gradient(t, s->weights.bias);
    add_pieces(t, s, c);
    for (size_t o = 0; o < c; o++)
        by_bias[o] = (float)s->total[o];
    struct sides sides = sides_of(t);
    t->n_tiles = s->minimal ? cov_train_toom_cook_items(s->minimal)
                            : n_row_tiles(&s->layer, &sides) * n_column_tiles(&sides);
    rc = cov_pool_for(t->spec.pool, t->n_tiles + (s->backward ? n * s->back_pieces.n : 0),
                      backward_item, t, e);
    if (rc || !s->minimal)
        return rc;
    return cov_pool_for(t->spec.pool, s->layer.c_in, cov_train_toom_cook_finish, t, e);
}
