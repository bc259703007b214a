/* optimiser.cu - the sum of gradients, its norm, Adam, and the average of weights (kernels.h).
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/kernels.h"
#include "common/compute/cuda/simt.h"

enum { THREADS = SIMT_THREADS, SLICE = 16384 };

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

/* Sets *to to the sum of `mine` over the threads of a block. */
SIMT_DEVICE void add_up(double mine, double *to)
{
    double *const all = (double *)simt_shared(); /* [THREADS] */
    all[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += all[i];
        *to = sum;
    }
}

SIMT_KERNEL(THREADS)
square_slices(const float *v, const uint8_t *statistic, size_t n, double *partial)
{
    size_t end = (size_t)(blockIdx.x + 1) * SLICE < n ? (size_t)(blockIdx.x + 1) * SLICE : n;
    double sum = 0;
    for (size_t i = (size_t)blockIdx.x * SLICE + threadIdx.x; i < end; i += THREADS)
        sum += statistic[i] ? 0 : (double)v[i] * (double)v[i];
    add_up(sum, partial + blockIdx.x);
}

SIMT_KERNEL(THREADS) square_total(const double *partial, int n, double *total)
{
    double sum = 0;
    for (int i = (int)threadIdx.x; i < n; i += THREADS)
        sum += partial[i];
    add_up(sum, total);
}

int cov_cuda_square_slices(size_t n)
{
    return (int)((n + SLICE - 1) / SLICE);
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
