/* first_layer.cu - from packed bases to the first convolution's output (kernels.h), by a table of
 * what each base adds at each tap: a one-hot input would be sixteen times as much to read.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { THREADS = 256 };

/* A thread makes four channels of a row. */
SIMT_KERNEL(THREADS)
first_layer(struct cov_cuda_first f)
{
    const int groups = f.c / 4;
    const size_t row_bytes = ((size_t)f.t_in + 1) / 2, rows = (size_t)f.n * f.phase.rows;
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= rows * groups)
        return;
    size_t row = at / groups, b = row / f.phase.rows;
    int o = (int)(at % groups) * 4;
    int t = cov_conv_phase_row(&f.phase, (int)(row - b * f.phase.rows));
    const uint8_t *codes = f.codes + b * row_bytes;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < f.kernel; k++) {
        int from = t * f.phase.in_stride + f.phase.first + k * f.dilation;
        if (from < 0 || from >= f.t_in)
            continue;
        int code = codes[from / 2] >> (from % 2 ? 0 : 4) & 15;
        float4 v = simt_read4(f.table + ((size_t)k * 16 + code) * f.c + o);
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    float4 bias = simt_read4(f.bias + o), scale = simt_read4(f.scale + o),
           shift = simt_read4(f.shift + o);
    size_t to = (b * f.t_out + t) * f.c + o;
    store2(f.y, to, f.y_bf16, finish(sum.x, bias.x, scale.x, shift.x, true),
           finish(sum.y, bias.y, scale.y, shift.y, true));
    store2(f.y, to + 2, f.y_bf16, finish(sum.z, bias.z, scale.z, shift.z, true),
           finish(sum.w, bias.w, scale.w, shift.w, true));
}

void cov_cuda_first_layer(const struct cov_cuda_first *f, void *stream)
{
    size_t items = (size_t)f->n * f->phase.rows * (f->c / 4);
    if (items == 0)
        return;
    simt_launch(first_layer, dim3((unsigned)((items + THREADS - 1) / THREADS)), THREADS, 0, stream,
                *f);
}
