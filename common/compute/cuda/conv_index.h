/* conv_index.h - index arithmetic of the kernels, for host and device: the rows that a convolution
 * reads and writes, the layout of tiles and fragments, and the order of sums over a batch.
 *
 * Both kinds of convolution are sums of phases. A phase computes
 *   y[out_first + out_stride t] = sum over taps i < n_taps of W_i x[in_stride t + first + i step],
 * for t < rows, where W_i is PyTorch's kernel at k_first + i k_step, and rows of x outside [0,
 * t_in) are zero. A convolution has one phase, a transposed convolution has `stride` of them. As a
 * matrix product, row m of a phase is row m % rows of sequence m / rows, and row k of the weights
 * is channel k % c of tap k / c. If the middle of a layer is skipped, only the rows before and
 * after it are numbered: t = cov_conv_phase_row(row).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CONV_INDEX_H
#define COV_COMPUTE_CUDA_CONV_INDEX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define COV_HD static __host__ __device__ __forceinline__
#else
#define COV_HD static inline
#endif

struct cov_conv_phase {
    int rows;        /* per sequence */
    int split, skip; /* row number >= split: t = number + skip */
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

/* Returns phase `phase` < stride of a transposed convolution, which computes the output rows t with
 * t % stride == phase. Kernel position k contributes x[(t + pad - k dilation) / stride] if that
 * division is exact. */
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
    if (p.k_first >= kernel || p.k_first >= p.k_step) { /* no kernel position contributes */
        p.n_taps = p.first = p.step = p.k_first = 0;
        return p;
    }
    p.n_taps = (kernel - 1 - p.k_first) / p.k_step + 1;
    p.first = (phase + pad - p.k_first * dilation) / stride;
    p.step = -(p.k_step * dilation / stride);
    return p;
}

/* Limits the phase to output rows [0, head) and [tail, t_out). If both ends need a phase of a
 * transposed convolution, the phase keeps all rows. */
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

/* Layout of the channels of a row: `groups` groups (the directions of an LSTM) of `size` channels each,
 * which start `pitch` elements apart. The elements in between are zero. */
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

/* A tile in shared memory has rows of 64 bytes, stored as four swizzled vectors of 16 bytes. Returns
 * the byte offset of vector `piece` of row `row`. ldmatrix reads eight vectors at once, those with
 * the same number in eight consecutive rows; they are in different banks. */
COV_HD int cov_tile_place(int row, int piece)
{
    return row * 64 + ((piece ^ (row >> 1 & 3)) << 4);
}

/* Weights of products by warpgroups (products_wgmma.cu), in the order that they have in shared memory:
 * w[tile of columns][step of depth][column][piece of 16 bytes], with rows of COV_WGMMA_STEP bytes. A tile
 * has COV_WGMMA_COLUMNS columns, or 64 if the product has no more. */
enum { COV_WGMMA_STEP = 128, COV_WGMMA_COLUMNS = 128, COV_WGMMA_ALIGNMENT = 1024 };

/* Returns the offset of byte `depth` of a column in weights with `depths` bytes of depth, in tiles of
 * `columns`.
 *
 * Lane j of four reads piece j of 64 bytes of x, which becomes registers 0 to 3. A product of 32 bytes
 * takes two of them, as words j and 4 + j of its depth. So word 4 j + i of 64 bytes is word 4 i + j of
 * the products. A lane has sums 2 j and 2 j + 1 of every eight columns; the columns are placed such that
 * those of four such groups are eight neighbours. */
COV_HD size_t cov_wgmma_place(int columns, size_t depths, int column, size_t depth)
{
    const int in = column % 32, word = (int)(depth / 4 % 16);
    const int row = column % columns - in + in % 8 / 2 * 8 + in / 8 * 2 + in % 2;
    const int piece = (int)(depth / 64 % 2) * 4 + word % 4;
    return ((size_t)(column / columns) * depths + depth / COV_WGMMA_STEP * COV_WGMMA_STEP) *
               (size_t)columns +
           (size_t)(row * COV_WGMMA_STEP + ((piece ^ row % 8) << 4) + word / 4 * 4) + depth % 4;
}

/* Returns column j < tn of a thread in a tile of bn columns. Each thread handles vectors of four
 * columns, or single columns if tn < 4. Neighbouring threads read neighbouring vectors. */
COV_HD int cov_tile_column(int bn, int tn, int across, int j)
{
    return tn >= 4 ? j / 4 * (bn / (tn / 4)) + across * 4 + j % 4 : j * (bn / tn) + across;
}

/* Returns the row of x that a tap reads for row t of the phase. It may be outside [0, t_in). */
COV_HD int cov_conv_x_row(const struct cov_conv_phase *p, int t, int tap)
{
    return t * p->in_stride + p->first + tap * p->step;
}

/* Returns the row of y that row t of the phase is. */
COV_HD int cov_conv_y_row(const struct cov_conv_phase *p, int t)
{
    return t * p->out_stride + p->out_first;
}

/* Returns the rows per split if `rows` rows are divided into `splits` splits. This is a multiple of
 * 32, so the last splits may be shorter. */
COV_HD int cov_conv_split_rows(int rows, int splits)
{
    return cov_round_up((rows + splits - 1) / splits, 32);
}

/* Returns the weight that a lane of the LSTM kernel holds in half `half` < 2 of register `reg` < 4
 * of a fragment. The fragment is operand A of mma.m16n8k16: 16 rows of weights for 16 elements of
 * h. Rows 0-7 are gate 2*pair and rows 8-15 are gate 2*pair + 1, both for units 8 warp to
 * 8 warp + 7. */
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

/* The same for the backward pass. There, a warp computes the gradients of h for 16 units from the
 * gradients of all gates, so 4 unit + gate is the index along the depth of the product. */
COV_HD struct cov_lstm_place cov_lstm_back_fragment(int warp, int k16, int lane, int reg, int half)
{
    struct cov_lstm_place p;
    int k = 16 * k16 + 2 * (lane % 4) + half + (reg & 2 ? 8 : 0);
    p.gate = k % 4;
    p.unit = k / 4;
    p.h = 16 * warp + lane / 4 + (reg & 1 ? 8 : 0);
    return p;
}

/* Returns what element i of a direction's weights is: w[warp, pair, k16, lane, reg, half] for the forward
 * pass of a layer of this many units, and w[warp, k16, lane, reg, half] for the backward pass. */
COV_HD struct cov_lstm_place cov_lstm_weight(int units, int i)
{
    const int group = i / 256, k16 = units / 16;
    return cov_lstm_fragment(group / (2 * k16), group / k16 % 2, group % k16, i / 8 % 32, i / 2 % 4,
                             i % 2);
}

COV_HD struct cov_lstm_place cov_lstm_back_weight(int units, int i)
{
    const int group = i / 256, k16 = units / 4;
    return cov_lstm_back_fragment(group / k16, group % k16, i / 8 % 32, i / 2 % 4, i % 2);
}

/* Rounds the float with these bits to bf16 (to nearest even). */
COV_HD uint32_t cov_bf16_of_bits(uint32_t bits)
{
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded;
}

/* ---- the order in which sums over a batch are added in training ----
 *
 * It does not depend on the number of cards that share the batch, so that any number gives the same
 * bits. The chunks of a batch form COV_PARTS parts of consecutive chunks; in a small batch, some are
 * empty. The values of a part are added in the order of the chunks. A binary tree adds the parts:
 * ((0 + 1) + (2 + 3)) + ... Each card has consecutive parts of every batch, and adds up its nodes:
 * the largest subtrees of which it has all parts. The sum over the nodes of all cards follows
 * (cuda_team.cu). */

/* A card has at most COV_MOST_NODES nodes, if it has parts 1 to COV_PARTS - 2. */
enum { COV_PART_LEVELS = 5, COV_PARTS = 1 << COV_PART_LEVELS, COV_MOST_NODES = 8 };

/* The parts of a batch of n chunks that a card has: beg <= part < end. */
struct cov_parts {
    size_t n;
    int beg, end;
};

/* Parts first to first + n - 1: n is a power of two, and `first` a multiple of n. */
struct cov_node {
    int first, n;
};

/* Returns the first chunk of a part, counted from the first one of the card. */
COV_HD size_t cov_parts_chunk(struct cov_parts p, int part)
{
    return p.n * (size_t)part / COV_PARTS - p.n * (size_t)p.beg / COV_PARTS;
}

/* Lists the nodes of a card in order, and returns their number. */
COV_HD int cov_parts_nodes(struct cov_parts p, struct cov_node nodes[COV_MOST_NODES])
{
    int n_nodes = 0;
    for (int at = p.beg; at < p.end; n_nodes++) {
        int n = COV_PARTS;
        while (at % n != 0 || at + n > p.end)
            n /= 2;
        nodes[n_nodes].first = at;
        nodes[n_nodes].n = n;
        at += n;
    }
    return n_nodes;
}

#endif
