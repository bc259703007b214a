/* conv_index.h - which rows a convolution reads and writes, for host and device alike.
 *
 * Both kinds of convolution come down to phases: in phase p,
 *   y[out_first + out_stride t] = sum over taps i < n_taps of W_i x[in_stride t + first + i step],
 * t < rows, where W_i is PyTorch's kernel at k_first + i k_step, and rows of x outside [0, t_in) are
 * zero. A convolution has one phase, a transposed one as many as its stride. What of this a matrix
 * product needs is here too: its row m is row m % rows of sequence m / rows, its column k of the
 * weights is channel k % c of tap k / c. Where the middle of a layer is left out, the rows that are
 * counted are those before it and those behind: t = cov_conv_phase_row(row).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CONV_INDEX_H
#define COV_COMPUTE_CUDA_CONV_INDEX_H

#include <stdint.h>

#if defined(__CUDACC__)
#define COV_HD static __host__ __device__ __forceinline__
#else
#define COV_HD static inline
#endif

struct cov_conv_phase {
    int rows;        /* of a sequence */
    int split, skip; /* rows from `split` on are `skip` further */
    int in_stride, out_stride, out_first;
    int n_taps, first, step;
    int k_first, k_step;
};

COV_HD int cov_conv_phase_row(const struct cov_conv_phase *p, int row)
{
    return row < p->split ? row : row + p->skip;
}

COV_HD int cov_conv_gcd(int a, int b)
{
    while (b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The only phase of a convolution. */
COV_HD struct cov_conv_phase cov_conv_phase_plain(int t_out, int kernel, int stride, int dilation,
                                                  int pad)
{
    struct cov_conv_phase p;
    p.rows = p.split = t_out;
    p.skip = 0;
    p.in_stride = stride;
    p.out_stride = 1;
    p.out_first = 0;
    p.n_taps = kernel;
    p.first = -pad;
    p.step = dilation;
    p.k_first = 0;
    p.k_step = 1;
    return p;
}

/* Phase `phase` < stride of a transposed convolution: rows t of the output with t % stride == phase.
 * Kernel k reaches them from row (t + pad - k dilation) / stride, where that divides. */
COV_HD struct cov_conv_phase cov_conv_phase_transposed(int phase, int t_out, int kernel, int stride,
                                                       int dilation, int pad)
{
    struct cov_conv_phase p;
    p.rows = p.split = t_out > phase ? (t_out - phase + stride - 1) / stride : 0;
    p.skip = 0;
    p.in_stride = 1;
    p.out_stride = stride;
    p.out_first = phase;
    p.k_step = stride / cov_conv_gcd(stride, dilation);
    p.k_first = 0;
    while (p.k_first < kernel && p.k_first < p.k_step &&
           (phase + pad - p.k_first * dilation) % stride != 0)
        p.k_first++;
    if (p.k_first >= kernel || p.k_first >= p.k_step) { /* none reaches them */
        p.n_taps = p.first = p.step = p.k_first = 0;
        return p;
    }
    p.n_taps = (kernel - 1 - p.k_first) / p.k_step + 1;
    p.first = (phase + pad - p.k_first * dilation) / stride;
    p.step = -(p.k_step * dilation / stride);
    return p;
}

/* The phase for rows [0, head) and [tail, t_out) of the output alone; where a transposed convolution
 * is wanted at both ends, for all of them. */
COV_HD struct cov_conv_phase cov_conv_phase_cut(struct cov_conv_phase p, int t_out, int head,
                                                int tail)
{
    if (p.out_stride == 1) {
        p.rows = head + t_out - tail;
        p.split = head;
        p.skip = tail - head;
    } else if (tail == t_out) {
        p.rows = p.split =
            head > p.out_first ? (head - p.out_first + p.out_stride - 1) / p.out_stride : 0;
    }
    return p;
}

/* Channels of a layer's rows as they stand in memory: `groups` of them (the directions of an LSTM),
 * each of `size`, begin `pitch` apart; what is between is zero. */
struct cov_channels {
    int groups, size, pitch;
};

COV_HD int cov_channel_place(struct cov_channels c, int channel)
{
    return channel / c.size * c.pitch + channel % c.size;
}

COV_HD int cov_channel_width(struct cov_channels c)
{
    return c.groups * c.pitch;
}

COV_HD int cov_round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

/* In an operand of a product that is kept as rows of 64 bytes, four pieces of 16 each: where piece
 * `piece` of row `row` stands, in bytes. Eight rows of one piece, and so what ldmatrix reads at
 * once, are in different banks. */
COV_HD int cov_tile_place(int row, int piece)
{
    return row * 64 + ((piece ^ (row >> 1 & 3)) << 4);
}

/* The fragment of 16 by 16 weights that a lane of the LSTM's warp `warp` holds for gates 2 pair (rows
 * 0-7) and 2 pair + 1 (rows 8-15) of units 8 warp ... 8 warp + 7: register `reg` < 4, half `half` < 2
 * of it is the weight of this gate, unit, and h. (mma.m16n8k16, operand A.) */
struct cov_lstm_place {
    int gate, unit, h;
};

COV_HD struct cov_lstm_place cov_lstm_fragment(int warp, int pair, int k16, int lane, int reg,
                                               int half)
{
    struct cov_lstm_place p;
    p.gate = 2 * pair + (reg & 1);
    p.unit = 8 * warp + lane / 4;
    p.h = 16 * k16 + 2 * (lane % 4) + half + (reg & 2 ? 8 : 0);
    return p;
}

/* The same of the way back in training, where a warp makes the gradients by h of 16 units, from those by
 * all gates: k is 4 unit + gate. */
COV_HD struct cov_lstm_place cov_lstm_back_fragment(int warp, int k16, int lane, int reg, int half)
{
    struct cov_lstm_place p;
    int k = 16 * k16 + 2 * (lane % 4) + half + (reg & 2 ? 8 : 0);
    p.gate = k % 4;
    p.unit = k / 4;
    p.h = 16 * warp + lane / 4 + (reg & 1 ? 8 : 0);
    return p;
}

/* bf16(v), to nearest even; the bits of v as they are. */
COV_HD uint32_t cov_bf16_of_bits(uint32_t bits)
{
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded;
}

#endif
