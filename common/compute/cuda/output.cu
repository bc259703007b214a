/* output.cu - the last layer, its exponential, and -1 where a base is padding (kernels.h).
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { THREADS = 256 };

/* A thread makes all values of a position. */
SIMT_KERNEL(THREADS)
output_layer(struct cov_cuda_output o)
{
    const size_t row_bytes = ((size_t)o.t + 1) / 2;
    size_t row = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= (size_t)o.n * o.rows)
        return;
    size_t b = row / o.rows;
    int t = (int)(row - b * o.rows);
    int code = o.codes[b * row_bytes + t / 2] >> (t % 2 ? 0 : 4) & 15;
    const float *x = o.x + (b * o.t + t) * o.c;
    for (int d = 0; d < o.depth; d++) {
        float sum = o.bias[d];
        for (int i = 0; i < o.c_in; i++)
            sum = fmaf(o.w[d * o.c_in + i], x[i], sum);
        o.out[row * o.depth + d] = code ? expf(sum) : o.pad;
    }
}

void cov_cuda_output(const struct cov_cuda_output *o, void *stream)
{
    size_t rows = (size_t)o->n * o->rows;
    if (rows == 0)
        return;
    simt_launch(output_layer, dim3((unsigned)((rows + THREADS - 1) / THREADS)), THREADS, 0, stream,
                *o);
}
