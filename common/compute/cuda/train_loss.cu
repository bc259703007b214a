/* train_loss.cu - loss, accuracy (Pearson's r), and the gradient of the network's output (kernels.h).
 *
 * A row of the batch is one dataset of one chunk. Its sums are in double, over slices of
 * positions. Sums of squares suffice for Pearson's r, since doubles have twice the digits of the
 * values.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { THREADS = SIMT_THREADS, SLICE = 4096, SUMS = 7 };

/* Neither padding nor masked. */
SIMT_DEVICE bool counts(const struct cov_cuda_loss &l, int b, int t, int d)
{
    return packed_code(l.codes, (size_t)b, l.t, t) != 0 &&
           !(l.targets[((size_t)b * l.t + t) * l.depth + d] < 0);
}

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

/* A block sums a slice of a chunk, and replaces p by exp(p). */
SIMT_KERNEL(THREADS) score_slices(struct cov_cuda_loss l, int slices)
{
    const int b = (int)blockIdx.x / slices, slice = (int)blockIdx.x % slices;
    const int end = (slice + 1) * SLICE < l.t ? (slice + 1) * SLICE : l.t;
    for (int d = 0; d < l.depth; d++) {
        double sum[SUMS] = {0, 0, 0, 0, 0, 0, 0};
        bool present = l.present[b * l.depth + d];
        for (int t = slice * SLICE + (int)threadIdx.x; t < end; t += THREADS) {
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
        add_up(sum, l.slices + ((size_t)blockIdx.x * l.depth + d) * SUMS);
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
    double v[SUMS] = {0, 0, 0, 0, 0, 0, 0};
    for (int s = 0; s < slices; s++)
        for (int i = 0; i < SUMS; i++)
            v[i] += l.slices[((b * slices + s) * l.depth + d) * SUMS + i];
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
    return (t + SLICE - 1) / SLICE;
}

void cov_cuda_loss_score(const struct cov_cuda_loss *l, void *stream)
{
    int slices = cov_cuda_loss_slices(l->t);
    if (l->n > 0)
        simt_launch(score_slices, dim3((unsigned)l->n * (unsigned)slices), THREADS,
                    SUMS * THREADS * sizeof(double), stream, *l, slices);
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
