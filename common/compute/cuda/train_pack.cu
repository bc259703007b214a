/* train_pack.cu - bases, parameters and gradients in the forms that products take, and dropout
 * (train_kernels.h).
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/train_kernels.h"

#define COV_DROPOUT_FN COV_HD
#include "common/compute/dropout.h"

enum { THREADS = 256 };

static dim3 grid_of(size_t items)
{
    return dim3((unsigned)((items + THREADS - 1) / THREADS));
}

SIMT_KERNEL(THREADS)
onehot(const uint8_t *codes, const float *table, void *x, bool bf16, size_t rows, int t)
{
    size_t row = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows)
        return;
    size_t b = row / t;
    int i = (int)(row - b * t);
    int code = codes[b * (((size_t)t + 1) / 2) + i / 2] >> (i % 2 ? 0 : 4) & 15;
    float4 v = simt_read4(table + 4 * code);
    store2(x, row * 8, bf16, v.x, v.y);
    store2(x, row * 8 + 2, bf16, v.z, v.w);
    store2(x, row * 8 + 4, bf16, 0, 0);
    store2(x, row * 8 + 6, bf16, 0, 0);
}

void cov_cuda_onehot(const uint8_t *codes, const float *table, void *x, bool bf16, int n, int t,
                     void *stream)
{
    size_t rows = (size_t)n * t;
    if (rows > 0)
        simt_launch(onehot, grid_of(rows), THREADS, 0, stream, codes, table, x, bf16, rows, t);
}

SIMT_KERNEL(THREADS)
gather(const float *block, const int *places, void *to, bool bf16, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    int a = places[2 * i], b = places[2 * i + 1];
    store1(to, i, bf16, (a < 0 ? 0.0f : block[a]) + (b < 0 ? 0.0f : block[b]));
}

void cov_cuda_gather(const float *block, const int *places, void *to, bool bf16, size_t n,
                     void *stream)
{
    if (n > 0)
        simt_launch(gather, grid_of(n), THREADS, 0, stream, block, places, to, bf16, n);
}

template <typename T>
SIMT_KERNEL(THREADS)
collect(const T *partial, size_t stride, int splits, const int *places, float *to, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    size_t at = places ? (size_t)places[i] : i;
    double sum = 0;
    for (int s = 0; s < splits; s++)
        sum += (double)partial[s * stride + at];
    to[i] = (float)sum;
}

void cov_cuda_collect_floats(const float *partial, size_t stride, int splits, const int *places,
                             float *to, size_t n, void *stream)
{
    simt_launch(collect<float>, grid_of(n), THREADS, 0, stream, partial, stride, splits, places, to,
                n);
}

void cov_cuda_collect_doubles(const double *partial, size_t stride, int splits, const int *places,
                              float *to, size_t n, void *stream)
{
    simt_launch(collect<double>, grid_of(n), THREADS, 0, stream, partial, stride, splits, places,
                to, n);
}

/* A thread makes an element of a row. */
SIMT_KERNEL(THREADS) dropout(struct cov_cuda_dropout d)
{
    const int width = cov_channel_width(d.channels), c = d.channels.groups * d.channels.size;
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, row = at / width;
    if (row >= (size_t)d.n * d.t)
        return;
    int place = (int)(at % width), within = place % d.channels.pitch;
    size_t b = row / d.t;
    float v = 0;
    if (within < d.channels.size) {
        int i = place / d.channels.pitch * d.channels.size + within;
        uint64_t key = cov_dropout_key(d.seed, d.step, d.layer, d.first + b);
        uint32_t bits = cov_dropout_bits(key, cov_dropout_place(row - b * d.t, (uint64_t)c) + i);
        v = bits < d.limit ? 0 : d.from[at] * d.keep;
    }
    store1(d.to, at, d.to_bf16, v);
}

void cov_cuda_dropout(const struct cov_cuda_dropout *d, void *stream)
{
    size_t items = (size_t)d->n * d->t * cov_channel_width(d->channels);
    if (items > 0)
        simt_launch(dropout, grid_of(items), THREADS, 0, stream, *d);
}
