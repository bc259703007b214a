/* end_layers.cu - the first layer and the last two (kernels.h).
 *
 * The first convolution works on packed base codes and a table of what each base adds at each tap; a
 * one-hot input would take sixteen times as many reads.
 *
 * The last convolution has four channels, which the last layer combines. A thread computes all of them
 * for some rows, and then the values of these rows, so that the convolution's output is never
 * stored. All taps read the same tile of x in shared memory. Per tap and four channels, a warp
 * reads x in 16 cycles of shared memory and the weights in 4, for 64 products per thread, which take
 * 64 / 4 cycles of a multiprocessor.
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

/* ---- the last two layers ---- */

enum { LAST_THREADS = 128, LAST_ROWS = 4, TILE_ROWS = LAST_THREADS * LAST_ROWS };
enum {
    DEPTH = 16,
    PITCH = DEPTH + 4
}; /* padding that puts neighbouring rows into different banks */
enum { MOST_TAPS = 8, MOST_HALO = 56 };

/* The shared memory of a block: rows of x, and the weights of some taps. */
struct last_tile {
    float x[(TILE_ROWS + MOST_HALO) * PITCH];
    float w[MOST_TAPS * DEPTH * COV_CUDA_LAST_CHANNELS];
};

/* Taps that read the same tile: taps first .. first + n - 1; `low` is the row of x, relative to the
 * tile, that the lowest of them reads. */
struct last_taps {
    int first, n, low, rows;
};

SIMT_DEVICE struct last_taps last_taps_from(const struct cov_conv_phase &p, int first)
{
    struct last_taps taps;
    const int apart = p.step < 0 ? -p.step : p.step;
    taps.first = first;
    taps.n = 1;
    while (taps.n < MOST_TAPS && first + taps.n < p.n_taps && taps.n * apart <= MOST_HALO)
        taps.n++;
    taps.low = p.first + (p.step < 0 ? first + taps.n - 1 : first) * p.step;
    taps.rows = TILE_ROWS + (taps.n - 1) * apart;
    return taps;
}

/* Loads channels `channel` .. channel + DEPTH - 1 of the rows of x[t_in, c] that the taps read for the
 * tile that starts at row `row`, and the taps' weights. */
SIMT_DEVICE void load_last_tile(const struct cov_cuda_last &l, const float *x, int row, int channel,
                                const struct last_taps &taps, struct last_tile *tile)
{
    enum { ACROSS = DEPTH / 4 };
    const int tid = (int)threadIdx.x, at = tid % ACROSS * 4;
    for (int i = tid / ACROSS; i < taps.rows; i += LAST_THREADS / ACROSS) {
        int from = row + taps.low + i;
        bool there = (unsigned)from < (unsigned)l.t_in && channel + at < l.c;
        *(float4 *)(tile->x + i * PITCH + at) =
            there ? simt_read4(x + (size_t)from * l.c + channel + at) : make_float4(0, 0, 0, 0);
    }
    for (int i = tid; i < taps.n * DEPTH; i += LAST_THREADS) {
        size_t from = (size_t)(taps.first + i / DEPTH) * l.depth_in + channel + i % DEPTH;
        *(float4 *)(tile->w + i * 4) = simt_read4(l.w + from * 4);
    }
}

/* Adds to sum what a tap contributes to the thread's rows; x and w start at the tap's. */
SIMT_DEVICE void multiply_last(const float *x, const float *w, float4 (&sum)[LAST_ROWS])
{
#pragma unroll
    for (int k = 0; k < DEPTH; k += 4) {
        float4 by[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            by[i] = *(const float4 *)(w + (k + i) * 4);
#pragma unroll
        for (int r = 0; r < LAST_ROWS; r++) {
            const float4 v4 = *(const float4 *)(x + r * LAST_THREADS * PITCH + k);
            const float v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[r].x = simt_fma(v[i], by[i].x, sum[r].x);
                sum[r].y = simt_fma(v[i], by[i].y, sum[r].y);
                sum[r].z = simt_fma(v[i], by[i].z, sum[r].z);
                sum[r].w = simt_fma(v[i], by[i].w, sum[r].w);
            }
        }
    }
}

/* Writes all values of row `t` of sequence b, given the sums of the convolution. */
SIMT_DEVICE void write_values(const struct cov_cuda_last &l, size_t b, int t, float4 sum)
{
    const float4 bias = simt_read4(l.bias), scale = simt_read4(l.scale),
                 shift = simt_read4(l.shift);
    const float v[4] = {
        finish(sum.x, bias.x, scale.x, shift.x, 0), finish(sum.y, bias.y, scale.y, shift.y, 0),
        finish(sum.z, bias.z, scale.z, shift.z, 0), finish(sum.w, bias.w, scale.w, shift.w, 0)};
    const int code = packed_code(l.codes, b, l.t_out, t);
    float *const out = l.out + (b * l.rows + t) * l.depth;
    for (int d = 0; d < l.depth; d++) {
        float z = l.out_bias[d];
#pragma unroll
        for (int i = 0; i < 4; i++)
            z = simt_fma(l.out_w[d * 4 + i], v[i], z);
        out[d] = code ? simt_exp(z) : l.pad;
    }
}

/* A block computes TILE_ROWS rows of a phase of a sequence, and a thread LAST_ROWS of them. */
SIMT_KERNEL(LAST_THREADS)
last_layers(struct cov_cuda_last l, int tiles)
{
    struct last_tile *const tile = (struct last_tile *)simt_shared();
    const int tid = (int)threadIdx.x, row = (int)blockIdx.x % tiles * TILE_ROWS;
    const size_t b = blockIdx.x / tiles;
    const float *const x = l.x + b * l.t_in * l.c;
    float4 sum[LAST_ROWS];
#pragma unroll
    for (int r = 0; r < LAST_ROWS; r++)
        sum[r] = make_float4(0, 0, 0, 0);
    struct last_taps taps;
    for (int first = 0; first < l.phase.n_taps; first += taps.n) {
        taps = last_taps_from(l.phase, first);
        for (int channel = 0; channel < l.c; channel += DEPTH) {
            __syncthreads(); /* all threads have read the previous tile */
            load_last_tile(l, x, row, channel, taps, tile);
            __syncthreads();
            for (int tap = 0; tap < taps.n; tap++) {
                int from = l.phase.first + (first + tap) * l.phase.step - taps.low;
                multiply_last(tile->x + (from + tid) * PITCH, tile->w + tap * DEPTH * 4, sum);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < LAST_ROWS; r++)
        if (row + r * LAST_THREADS + tid < l.phase.rows)
            write_values(l, b, cov_conv_y_row(&l.phase, row + r * LAST_THREADS + tid), sum[r]);
}

void cov_cuda_last_layers(const struct cov_cuda_last *l, void *stream)
{
    const int tiles = (l->phase.rows + TILE_ROWS - 1) / TILE_ROWS;
    if (l->n > 0 && tiles > 0)
        simt_launch(last_layers, dim3((unsigned)(l->n * tiles)), LAST_THREADS,
                    sizeof(struct last_tile), stream, *l, tiles);
}

int cov_cuda_last_depth(int c)
{
    return cov_round_up(c, DEPTH);
}
