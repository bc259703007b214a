/* train_pack.cu - brings bases and parameters into the layouts of operands, and gradients back; dropout
 * (kernels.h).
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

#define COV_DROPOUT_FN COV_HD
#include "common/compute/dropout.h"

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
        uint64_t key = cov_dropout_key(d.seed, d.step, d.layer, d.first + b);
        uint32_t bits = cov_dropout_bits(key, cov_dropout_place(row - b * d.t, (uint64_t)c) + i);
        v = bits < d.limit ? 0 : d.from[at] * d.keep;
    }
    store1(d.to, at, d.to_bf16, v);
}

void cov_cuda_dropout(const struct cov_cuda_dropout *d, void *stream)
{
    simt_launch_items(dropout, (size_t)d->n * d->t * cov_channel_width(d->channels), stream, *d);
}
