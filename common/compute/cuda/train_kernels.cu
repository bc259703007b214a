/* train_kernels.cu - the kernels of training other than products and LSTMs (kernels.h): column sums and
 * batch norm; loss, accuracy, and the gradient of the network's output; sums over a batch; layouts of
 * operands; dropout; the optimiser.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

#define COV_DROPOUT_FN COV_HD
#include "common/compute/dropout.h"

enum { THREADS = SIMT_THREADS };

/* Adds up each of N values over the threads of a block; thread i stores total i in to[i]. All
 * threads must call it. */
template <int N> SIMT_DEVICE void add_up(const double (&mine)[N], double *to)
{
    double *const all = (double *)simt_shared(); /* [N][THREADS] */
    for (int i = 0; i < N; i++)
        all[i * THREADS + threadIdx.x] = mine[i];
    __syncthreads();
    if (threadIdx.x < N) {
        double total = 0;
        for (int i = 0; i < THREADS; i++)
            total += all[threadIdx.x * THREADS + i];
        to[threadIdx.x] = total;
    }
    __syncthreads();
}

/* ---- column sums and batch norm ----
 *
 * A block sums 32 columns of a slice of a sequence, eight rows at a time. A thread adds up to 32 values
 * in single precision, then adds these sums in double, so that few double-precision units do not
 * slow a card down. */

enum { ACROSS = 32, DOWN = THREADS / ACROSS, RUN = 32, MOST_ROWS = 1024 };

SIMT_DEVICE float read_z(const struct cov_cuda_columns &c, size_t at)
{
    return c.z_bf16 ? simt_float((uint32_t)((const uint16_t *)c.z)[at] << 16)
                    : ((const float *)c.z)[at];
}

/* The values that an element adds to the two sums of its column. */
template <int KIND>
SIMT_DEVICE float2 terms_of(const struct cov_cuda_columns &c, size_t at, int column)
{
    if (KIND == COV_CUDA_COLUMN_NORM) {
        float r = c.r[at];
        return make_float2(r, r * r);
    }
    if (KIND == COV_CUDA_COLUMN_NORM_BACK) {
        float dy = c.dy[at];
        return make_float2(dy, dy * ((c.r[at] - c.mean[column]) * c.rstd[column]));
    }
    if (KIND == COV_CUDA_COLUMN_BACK) {
        float r = c.r[at];
        float z = fmaf(c.by_d[column], c.dy[at], fmaf(c.by_r[column], r, c.by_one[column]));
        z = r > 0.0f ? z : 0.0f;
        store1(c.z, at, c.z_bf16, z);
        return make_float2(z, 0);
    }
    return make_float2(read_z(c, at), 0);
}

template <int KIND> SIMT_KERNEL(THREADS) columns(struct cov_cuda_columns c, int slices)
{
    constexpr int SUMS = KIND <= COV_CUDA_COLUMN_NORM_BACK ? 2 : 1;
    double *const all = (double *)simt_shared(); /* [2][DOWN][ACROSS] */
    const int across = (int)threadIdx.x % ACROSS, down = (int)threadIdx.x / ACROSS;
    const int column = (int)blockIdx.y * ACROSS + across;
    const int each = (c.t + slices - 1) / slices, first = (int)blockIdx.x % slices * each;
    const size_t beg = (size_t)(blockIdx.x / slices) * c.t + first;
    const size_t end = beg + (first + each < c.t ? each : c.t - first);
    double sums[2] = {0, 0};
    if (column < c.width)
        for (size_t row = beg + down; row < end; row += RUN * DOWN) {
            float a = 0, b = 0;
            for (int i = 0; i < RUN && row + i * DOWN < end; i++) {
                float2 v = terms_of<KIND>(c, (row + i * DOWN) * c.width + column, column);
                a += v.x;
                b += v.y;
            }
            sums[0] += (double)a;
            sums[1] += (double)b;
        }
    all[down * ACROSS + across] = sums[0];
    all[(DOWN + down) * ACROSS + across] = sums[1];
    __syncthreads();
    if (down < SUMS && column < c.width) {
        double sum = 0;
        for (int i = 0; i < DOWN; i++)
            sum += all[(down * DOWN + i) * ACROSS + across];
        c.partial[((size_t)blockIdx.x * 2 + down) * c.width + column] = sum;
    }
}

int cov_cuda_column_slices(int t)
{
    return (t + MOST_ROWS - 1) / MOST_ROWS;
}

void cov_cuda_columns(const struct cov_cuda_columns *c, void *stream)
{
    const int slices = cov_cuda_column_slices(c->t);
    const size_t shared = 2 * THREADS * sizeof(double);
    dim3 grid((unsigned)(c->n * slices), (unsigned)(c->width + ACROSS - 1) / ACROSS);
    void (*kernel)(struct cov_cuda_columns, int) = columns<COV_CUDA_COLUMN_SUM>;
    if (c->kind == COV_CUDA_COLUMN_NORM)
        kernel = columns<COV_CUDA_COLUMN_NORM>;
    else if (c->kind == COV_CUDA_COLUMN_NORM_BACK)
        kernel = columns<COV_CUDA_COLUMN_NORM_BACK>;
    else if (c->kind == COV_CUDA_COLUMN_BACK)
        kernel = columns<COV_CUDA_COLUMN_BACK>;
    if (c->n > 0)
        simt_launch(kernel, grid, THREADS, shared, stream, *c, slices);
}

SIMT_KERNEL(SIMT_THREADS) norm_forward(struct cov_cuda_norm n)
{
    int o = (int)simt_item();
    if (o >= n.width)
        return;
    if (o >= n.c) {
        n.mean[o] = n.rstd[o] = n.scale[o] = n.shift[o] = 0;
        return;
    }
    double mean = n.total[o] / n.positions;
    double var = n.total[n.width + o] / n.positions - mean * mean;
    var = var < 0 ? 0 : var;
    double rstd = 1 / sqrt(var + n.eps), scale = rstd * (double)n.gamma[o];
    n.mean[o] = (float)mean;
    n.rstd[o] = (float)rstd;
    n.scale[o] = (float)scale;
    n.shift[o] = (float)((double)n.beta[o] - mean * scale);
    n.var[o] = (float)(n.positions > 1 ? var * n.positions / (n.positions - 1) : var);
}

/* Computes dr = gamma rstd (dy - sum dy / positions - x^ sum (dy x^) / positions), as a factor of
 * dy, a factor of r, and a constant. */
SIMT_KERNEL(SIMT_THREADS) norm_backward(struct cov_cuda_norm n)
{
    int o = (int)simt_item();
    if (o >= n.width)
        return;
    if (o >= n.c) {
        n.by_d[o] = n.by_r[o] = n.by_one[o] = 0;
        return;
    }
    double rstd = (double)n.rstd[o], by = (double)n.gamma[o] * rstd;
    double by_r = -by * rstd * n.total[n.width + o] / n.positions;
    n.by_d[o] = (float)by;
    n.by_r[o] = (float)by_r;
    n.by_one[o] = (float)(-by * n.total[o] / n.positions - by_r * (double)n.mean[o]);
}

void cov_cuda_norm_forward(const struct cov_cuda_norm *n, void *stream)
{
    simt_launch_items(norm_forward, (size_t)n->width, stream, *n);
}

void cov_cuda_norm_backward(const struct cov_cuda_norm *n, void *stream)
{
    simt_launch_items(norm_backward, (size_t)n->width, stream, *n);
}

/* A thread computes four columns of a row. */
SIMT_KERNEL(SIMT_THREADS) norm_apply(struct cov_cuda_norm_apply a)
{
    size_t at = simt_item() * 4;
    if (at >= a.rows * a.width)
        return;
    int column = (int)(at % a.width);
    float4 v = simt_read4(a.r + at), s = simt_read4(a.scale + column),
           d = simt_read4(a.shift + column);
    store2(a.y, at, a.y_bf16, fmaf(v.x, s.x, d.x), fmaf(v.y, s.y, d.y));
    store2(a.y, at + 2, a.y_bf16, fmaf(v.z, s.z, d.z), fmaf(v.w, s.w, d.w));
}

void cov_cuda_norm_apply(const struct cov_cuda_norm_apply *a, void *stream)
{
    simt_launch_items(norm_apply, a->rows * a->width / 4, stream, *a);
}

/* ---- the loss ----
 *
 * A row of the batch is one dataset of one chunk. Its sums are in double, over slices of
 * positions. Sums of squares suffice for Pearson's r, since doubles have twice the digits of the
 * values. */

enum { LOSS_SLICE = 4096, LOSS_SUMS = 7 };

/* Neither padding nor masked. */
SIMT_DEVICE bool counts(const struct cov_cuda_loss &l, int b, int t, int d)
{
    return packed_code(l.codes, (size_t)b, l.t, t) != 0 &&
           !(l.targets[((size_t)b * l.t + t) * l.depth + d] < 0);
}

/* A block sums a slice of a chunk, and replaces p by exp(p). */
SIMT_KERNEL(THREADS) score_slices(struct cov_cuda_loss l, int slices)
{
    const int b = (int)blockIdx.x / slices, slice = (int)blockIdx.x % slices;
    const int end = (slice + 1) * LOSS_SLICE < l.t ? (slice + 1) * LOSS_SLICE : l.t;
    for (int d = 0; d < l.depth; d++) {
        double sum[LOSS_SUMS] = {0, 0, 0, 0, 0, 0, 0};
        bool present = l.present[b * l.depth + d];
        for (int t = slice * LOSS_SLICE + (int)threadIdx.x; t < end; t += THREADS) {
            size_t row = (size_t)b * l.t + t;
            float p = l.p[row * l.pitch + d], value = expf(p);
            l.p[row * l.pitch + d] = value;
            if (!present || !counts(l, b, t, d))
                continue;
            double x = (double)value, target = (double)l.targets[row * l.depth + d];
            sum[0] += 1;
            sum[1] += x - target * (double)p;
            sum[2] += x;
            sum[3] += target;
            sum[4] += x * x;
            sum[5] += target * target;
            sum[6] += x * target;
        }
        add_up(sum, l.slices + ((size_t)blockIdx.x * l.depth + d) * LOSS_SUMS);
    }
}

/* A thread computes a row. */
SIMT_KERNEL(THREADS) score_rows(struct cov_cuda_loss l, int slices)
{
    const size_t row = simt_item();
    if (row >= (size_t)l.n * l.depth)
        return;
    const size_t b = row / l.depth, d = row % l.depth;
    double *const to = l.rows + row * 4;
    double v[LOSS_SUMS] = {0, 0, 0, 0, 0, 0, 0};
    for (int s = 0; s < slices; s++)
        for (int i = 0; i < LOSS_SUMS; i++)
            v[i] += l.slices[((b * slices + s) * l.depth + d) * LOSS_SUMS + i];
    double n = v[0], weight = (double)l.weights[d];
    l.scores[row] = n;
    to[0] = to[1] = to[2] = to[3] = 0;
    if (n == 0)
        return;
    double xx = v[4] - v[2] * v[2] / n, tt = v[5] - v[3] * v[3] / n, xt = v[6] - v[2] * v[3] / n;
    double below = sqrt(xx > 0 ? xx : 0) * sqrt(tt > 0 ? tt : 0) + 1e-8; /* COV_PEARSON_EPS */
    to[0] = weight * (v[1] / n);
    to[1] = xt / below;
    to[2] = 1;
    to[3] = weight;
}

int cov_cuda_loss_slices(int t)
{
    return (t + LOSS_SLICE - 1) / LOSS_SLICE;
}

void cov_cuda_loss_score(const struct cov_cuda_loss *l, void *stream)
{
    int slices = cov_cuda_loss_slices(l->t);
    if (l->n > 0)
        simt_launch(score_slices, dim3((unsigned)l->n * (unsigned)slices), THREADS,
                    LOSS_SUMS * THREADS * sizeof(double), stream, *l, slices);
    simt_launch_items(score_rows, (size_t)l->n * l->depth, stream, *l, slices);
}

/* A thread computes one column of one position. */
SIMT_KERNEL(THREADS) loss_backward(struct cov_cuda_loss l)
{
    size_t at = simt_item(), row = at / l.pitch;
    if (row >= (size_t)l.n * l.t)
        return;
    int d = (int)(at % l.pitch), b = (int)(row / l.t), t = (int)(row - (size_t)b * l.t);
    float gradient = 0;
    if (d < l.depth && l.present[b * l.depth + d] && counts(l, b, t, d)) {
        double weight = (double)l.weights[d];
        float scale = weight > 0 ? (float)(weight / (l.scores[b * l.depth + d] * l.sums[3])) : 0;
        gradient = scale * (l.p[at] - l.targets[row * l.depth + d]);
    }
    l.p[at] = gradient;
}

void cov_cuda_loss_backward(const struct cov_cuda_loss *l, void *stream)
{
    simt_launch_items(loss_backward, (size_t)l->n * l->t * l->pitch, stream, *l);
}

/* ---- sums over the sequences of a batch, in the order of conv_index.h ---- */

enum { SUMS_ACROSS = THREADS / COV_PARTS };

/* A thread computes an element. `waiting` has sums of left subtrees, by level. */
SIMT_KERNEL(SIMT_THREADS) sum_floats(struct cov_cuda_sums s, const float *partial, float *to)
{
    const size_t i = simt_item();
    if (i >= s.n)
        return;
    const float *at = partial + cov_parts_chunk(s.parts, s.node.first) * s.slices * s.stride + i;
    float waiting[COV_PART_LEVELS], sum = 0;
    for (int part = 0; part < s.node.n; part++) {
        size_t n = cov_parts_chunk(s.parts, s.node.first + part + 1) -
                   cov_parts_chunk(s.parts, s.node.first + part);
        sum = 0;
        for (size_t k = 0; k < n * s.slices; k++, at += s.stride)
            sum += *at;
#pragma unroll
        for (int level = 0; level < COV_PART_LEVELS; level++) {
            if (!(part >> level & 1)) {
                waiting[level] = sum;
                break;
            }
            sum = waiting[level] + sum;
        }
    }
    to[i] = sum;
}

/* A block computes SUMS_ACROSS columns, with a thread for each part. */
template <typename From, typename T>
SIMT_KERNEL(THREADS)
sum_columns(struct cov_cuda_sums s, const From *partial, T *to)
{
    T *const all = (T *)simt_shared(); /* [COV_PARTS][SUMS_ACROSS] */
    const int across = (int)threadIdx.x % SUMS_ACROSS, part = (int)threadIdx.x / SUMS_ACROSS;
    const size_t i = (size_t)blockIdx.x * SUMS_ACROSS + across;
    T *const mine = all + part * SUMS_ACROSS + across;
    double sum = 0;
    if (part < s.node.n && i < s.n) {
        size_t end = cov_parts_chunk(s.parts, s.node.first + part + 1) * s.slices;
        for (size_t k = cov_parts_chunk(s.parts, s.node.first + part) * s.slices; k < end; k++)
            sum += (double)partial[k * s.stride + i];
    }
    *mine = (T)sum;
    for (int step = 1; step < s.node.n; step *= 2) {
        __syncthreads();
        if (part % (2 * step) == 0)
            *mine += mine[step * SUMS_ACROSS];
    }
    if (part == 0 && i < s.n)
        to[i] = *mine;
}

template <typename From, typename T>
static void launch_columns(const struct cov_cuda_sums *s, const From *partial, T *to, void *stream)
{
    simt_launch(sum_columns<From, T>, dim3((unsigned)((s->n + SUMS_ACROSS - 1) / SUMS_ACROSS)),
                THREADS, THREADS * sizeof(T), stream, *s, partial, to);
}

void cov_cuda_sum_floats(const struct cov_cuda_sums *s, const float *partial, float *to,
                         void *stream)
{
    enum { MANY = 8192 }; /* elements for which a thread each is enough */
    if (s->n < MANY)
        launch_columns(s, partial, to, stream);
    else
        simt_launch_items(sum_floats, s->n, stream, *s, partial, to);
}

void cov_cuda_sum_columns(const struct cov_cuda_sums *s, const double *partial, float *to,
                          void *stream)
{
    launch_columns(s, partial, to, stream);
}

void cov_cuda_sum_doubles(const struct cov_cuda_sums *s, const double *partial, double *to,
                          void *stream)
{
    launch_columns(s, partial, to, stream);
}

/* ---- operands from parameters, gradients to parameters, dropout ---- */

SIMT_KERNEL(SIMT_THREADS)
onehot(const uint8_t *codes, const float *table, void *x, bool bf16, size_t rows, int t)
{
    size_t row = simt_item();
    if (row >= rows)
        return;
    size_t b = row / t;
    float4 v = simt_read4(table + 4 * packed_code(codes, b, t, (int)(row - b * t)));
    store2(x, row * 8, bf16, v.x, v.y);
    store2(x, row * 8 + 2, bf16, v.z, v.w);
    store2(x, row * 8 + 4, bf16, 0, 0);
    store2(x, row * 8 + 6, bf16, 0, 0);
}

void cov_cuda_onehot(const uint8_t *codes, const float *table, void *x, bool bf16, int n, int t,
                     void *stream)
{
    size_t rows = (size_t)n * t;
    simt_launch_items(onehot, rows, stream, codes, table, x, bf16, rows, t);
}

SIMT_KERNEL(SIMT_THREADS)
gather(const float *block, const int *places, void *to, bool bf16, size_t n)
{
    size_t i = simt_item();
    if (i >= n)
        return;
    int a = places[2 * i], b = places[2 * i + 1];
    store1(to, i, bf16, (a < 0 ? 0.0f : block[a]) + (b < 0 ? 0.0f : block[b]));
}

void cov_cuda_gather(const float *block, const int *places, void *to, bool bf16, size_t n,
                     void *stream)
{
    simt_launch_items(gather, n, stream, block, places, to, bf16, n);
}

SIMT_KERNEL(SIMT_THREADS) collect(const float *from, const int *places, float *to, size_t n)
{
    size_t i = simt_item();
    if (i < n)
        to[i] = from[places ? (size_t)places[i] : i];
}

void cov_cuda_collect(const float *from, const int *places, float *to, size_t n, void *stream)
{
    simt_launch_items(collect, n, stream, from, places, to, n);
}

/* A thread computes an element of a row. */
SIMT_KERNEL(SIMT_THREADS) dropout(struct cov_cuda_dropout d)
{
    const int width = cov_channel_width(d.channels), c = d.channels.groups * d.channels.size;
    size_t at = simt_item(), row = at / width;
    if (row >= (size_t)d.n * d.t)
        return;
    int place = (int)(at % width), within = place % d.channels.pitch;
    size_t b = row / d.t;
    float v = 0;
    if (within < d.channels.size) {
        int i = place / d.channels.pitch * d.channels.size + within;
        uint64_t key = cov_dropout_key(d.seed, d.now->step, d.layer, d.now->first + b);
        uint32_t bits = cov_dropout_bits(key, cov_dropout_place(row - b * d.t, (uint64_t)c) + i);
        v = bits < d.limit ? 0 : d.from[at] * d.keep;
    }
    store1(d.to, at, d.to_bf16, v);
}

void cov_cuda_dropout(const struct cov_cuda_dropout *d, void *stream)
{
    simt_launch_items(dropout, (size_t)d->n * d->t * cov_channel_width(d->channels), stream, *d);
}

/* ---- the optimiser: the sum of gradients, its norm, Adam, and the average of weights ---- */

SIMT_KERNEL(THREADS) take_gradient(struct cov_cuda_gradient g)
{
    size_t i = simt_item();
    if (i >= g.n)
        return;
    if (g.statistic[i] == 1)
        g.block[i] += g.momentum * (g.gradient[i] - g.block[i]);
    else
        g.sum[i] = g.first ? g.gradient[i] : g.sum[i] + g.gradient[i];
}

void cov_cuda_take_gradient(const struct cov_cuda_gradient *g, void *stream)
{
    simt_launch_items(take_gradient, g->n, stream, *g);
}

enum { SQUARES = 16384 /* of a slice */ };

SIMT_KERNEL(THREADS)
square_slices(const float *v, const uint8_t *statistic, size_t n, double *partial)
{
    size_t end = (size_t)(blockIdx.x + 1) * SQUARES < n ? (size_t)(blockIdx.x + 1) * SQUARES : n;
    double sum[1] = {0};
    for (size_t i = (size_t)blockIdx.x * SQUARES + threadIdx.x; i < end; i += THREADS)
        sum[0] += statistic[i] ? 0 : (double)v[i] * (double)v[i];
    add_up(sum, partial + blockIdx.x);
}

SIMT_KERNEL(THREADS) square_total(const double *partial, int n, double *total)
{
    double sum[1] = {0};
    for (int i = (int)threadIdx.x; i < n; i += THREADS)
        sum[0] += partial[i];
    add_up(sum, total);
}

int cov_cuda_square_slices(size_t n)
{
    return (int)((n + SQUARES - 1) / SQUARES);
}

void cov_cuda_squares(const float *sum, const uint8_t *statistic, size_t n, double *partial,
                      double *total, void *stream)
{
    int slices = cov_cuda_square_slices(n);
    simt_launch(square_slices, dim3((unsigned)slices), THREADS, THREADS * sizeof(double), stream,
                sum, statistic, n, partial);
    simt_launch(square_total, dim3(1), THREADS, THREADS * sizeof(double), stream, partial, slices,
                total);
}

SIMT_KERNEL(THREADS) adam_step(struct cov_cuda_adam a)
{
    size_t i = simt_item();
    if (i >= a.n)
        return;
    float p = a.block[i];
    if (!a.statistic[i]) {
        float d = a.sum[i] * a.scale, m = a.moment1[i], v = a.moment2[i];
        m += a.rest1 * (d - m);
        v = a.beta2 * v + a.rest2 * (d * d);
        if (a.keep != 1)
            p *= a.keep;
        p -= a.rate * (m / (sqrtf(v) / a.root + a.eps));
        a.moment1[i] = m;
        a.moment2[i] = v;
        a.block[i] = p;
    }
    if (a.average_rest > 0)
        a.average[i] = a.average_begins ? p : a.average[i] + a.average_rest * (p - a.average[i]);
}

void cov_cuda_adam_step(const struct cov_cuda_adam *a, void *stream)
{
    simt_launch_items(adam_step, a->n, stream, *a);
}
