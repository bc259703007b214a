/* train_sums.cu - sums over the sequences of a batch, in the order of batch_parts.h (kernels.h).
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/kernels.h"
#include "common/compute/cuda/simt.h"

enum { ACROSS = 8, THREADS = ACROSS * COV_PARTS };

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

/* A block computes ACROSS columns, with a thread for each part. */
template <typename From, typename T>
SIMT_KERNEL(THREADS)
sum_columns(struct cov_cuda_sums s, const From *partial, T *to)
{
    T *const all = (T *)simt_shared(); /* [COV_PARTS][ACROSS] */
    const int across = (int)threadIdx.x % ACROSS, part = (int)threadIdx.x / ACROSS;
    const size_t i = (size_t)blockIdx.x * ACROSS + across;
    T *const mine = all + part * ACROSS + across;
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
            *mine += mine[step * ACROSS];
    }
    if (part == 0 && i < s.n)
        to[i] = *mine;
}

template <typename From, typename T>
static void launch_columns(const struct cov_cuda_sums *s, const From *partial, T *to, void *stream)
{
    simt_launch(sum_columns<From, T>, dim3((unsigned)((s->n + ACROSS - 1) / ACROSS)), THREADS,
                THREADS * sizeof(T), stream, *s, partial, to);
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
