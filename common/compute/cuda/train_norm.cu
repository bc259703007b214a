/* train_norm.cu - column sums and batch norm in training (kernels.h).
 *
 * A block sums 32 columns of a slice of a sequence, eight rows at a time. A thread adds up to 32 values
 * in single precision, then adds these sums in double, so that few double-precision units do not
 * slow a card down.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { ACROSS = 32, DOWN = 8, THREADS = ACROSS * DOWN, RUN = 32, MOST_ROWS = 1024 };

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
