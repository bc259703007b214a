/* end_layers.cu - the first and the last layer (kernels.h).
 *
 * The first convolution works on packed base codes and a table of what each base adds at each tap; a
 * one-hot input would take sixteen times as many reads.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

/* A thread computes four channels of a row. */
SIMT_KERNEL(SIMT_THREADS)
first_layer(struct cov_cuda_first f)
{
    const int groups = f.c / 4;
    const size_t rows = (size_t)f.n * f.phase.rows, at = simt_item();
    if (at >= rows * groups)
        return;
    size_t row = at / groups, b = row / f.phase.rows;
    int o = (int)(at % groups) * 4;
    int t = cov_conv_phase_row(&f.phase, (int)(row - b * f.phase.rows));
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < f.kernel; k++) {
        int from = t * f.phase.in_stride + f.phase.first + k * f.dilation;
        if (from < 0 || from >= f.t_in)
            continue;
        int code = packed_code(f.codes, b, f.t_in, from);
        float4 v = simt_read4(f.table + ((size_t)k * 16 + code) * f.c + o);
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    float4 bias = simt_read4(f.bias + o), scale = simt_read4(f.scale + o),
           shift = simt_read4(f.shift + o);
    size_t to = (b * f.t_out + t) * f.c + o;
    store2(f.y, to, f.y_bf16, finish(sum.x, bias.x, scale.x, shift.x, 0),
           finish(sum.y, bias.y, scale.y, shift.y, 0));
    store2(f.y, to + 2, f.y_bf16, finish(sum.z, bias.z, scale.z, shift.z, 0),
           finish(sum.w, bias.w, scale.w, shift.w, 0));
}

void cov_cuda_first_layer(const struct cov_cuda_first *f, void *stream)
{
    simt_launch_items(first_layer, (size_t)f->n * f->phase.rows * (f->c / 4), stream, *f);
}

/* A thread computes all values of a position. */
SIMT_KERNEL(SIMT_THREADS)
output_layer(struct cov_cuda_output o)
{
    const size_t row = simt_item();
    if (row >= (size_t)o.n * o.rows)
        return;
    size_t b = row / o.rows;
    int t = (int)(row - b * o.rows);
    int code = packed_code(o.codes, b, o.t, t);
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
    simt_launch_items(output_layer, (size_t)o->n * o->rows, stream, *o);
}
