/* test_conv_index.c - the rows that convolutions read on a GPU, compared with PyTorch's
 * definitions; layouts of tiles and fragments; the parts of a batch and the nodes of their sums.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/compute/cuda/conv_index.h"

enum { MAX_ROWS = 64, MAX_KERNEL = 12 };

static int draw(struct cov_rng *rng, int min, int max)
{
    return min + (int)cov_rng_below(rng, (unsigned)(1 + max - min));
}

/* seen[t][k] is the input row, counted from 1, that kernel position k adds to output t, or 0. */
struct reach {
    int seen[MAX_ROWS][MAX_KERNEL];
    int written[MAX_ROWS];
};

static void add_phase(struct reach *r, const struct cov_conv_phase *p, int t_in)
{
    for (int row_number = 0; row_number < p->rows; row_number++) {
        int t = cov_conv_phase_row(p, row_number);
        int out = p->out_first + p->out_stride * t;
        assert_in_range(out, 0, MAX_ROWS - 1);
        r->written[out]++;
        for (int i = 0; i < p->n_taps; i++) {
            int k = p->k_first + i * p->k_step, row = p->in_stride * t + p->first + i * p->step;
            assert_in_range(k, 0, MAX_KERNEL - 1);
            if (row >= 0 && row < t_in) {
                assert_int_equal(r->seen[out][k], 0);
                r->seen[out][k] = row + 1;
            }
        }
    }
}

TEST(plain)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (int n = 0; n < 2000; n++) {
        int kernel = draw(&rng, 1, MAX_KERNEL), stride = draw(&rng, 1, 5), pad = draw(&rng, 0, 9);
        int dilation = draw(&rng, 1, 4), t_in = draw(&rng, 1, 40), t_out = draw(&rng, 1, 40);
        struct reach r = {0};
        struct cov_conv_phase p = cov_conv_phase_plain(t_out, kernel, stride, dilation, pad);
        add_phase(&r, &p, t_in);
        for (int t = 0; t < MAX_ROWS; t++)
            for (int k = 0; k < MAX_KERNEL; k++) {
                int row = t * stride - pad + k * dilation;
                bool there = t < t_out && k < kernel && row >= 0 && row < t_in;
                assert_int_equal(r.seen[t][k], there ? row + 1 : 0);
            }
    }
}

/* Each row is written once, and input row j contributes to output row j * stride - pad + k *
 * dilation. */
TEST(transposed)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 2);
    for (int n = 0; n < 5000; n++) {
        int kernel = draw(&rng, 1, MAX_KERNEL), stride = draw(&rng, 1, 6), pad = draw(&rng, 0, 9);
        int dilation = draw(&rng, 1, 6), t_in = draw(&rng, 1, 20), t_out = draw(&rng, 1, MAX_ROWS);
        struct reach r = {0}, want = {0};
        for (int phase = 0; phase < stride; phase++) {
            struct cov_conv_phase p =
                cov_conv_phase_transposed(phase, t_out, kernel, stride, dilation, pad);
            add_phase(&r, &p, t_in);
        }
        for (int j = 0; j < t_in; j++)
            for (int k = 0; k < kernel; k++) {
                int t = j * stride - pad + k * dilation;
                if (t >= 0 && t < t_out)
                    want.seen[t][k] = j + 1;
            }
        for (int t = 0; t < t_out; t++)
            want.written[t] = 1;
        assert_memory_equal(&r, &want, sizeof r);
    }
}

/* A phase that is limited to the two ends of a layer reads and writes the same rows there as the
 * whole phase. A transposed convolution that is needed at both ends keeps all rows. */
TEST(cut)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (int n = 0; n < 5000; n++) {
        int kernel = draw(&rng, 1, MAX_KERNEL), stride = draw(&rng, 1, 6), pad = draw(&rng, 0, 9);
        int dilation = draw(&rng, 1, 6), t_in = draw(&rng, 1, 20), t_out = draw(&rng, 1, MAX_ROWS);
        int head = draw(&rng, 0, t_out), tail = n % 3 ? t_out : draw(&rng, head, t_out);
        bool is_transposed = n % 2;
        struct reach r = {0}, want = {0};
        for (int phase = 0; phase < (is_transposed ? stride : 1); phase++) {
            struct cov_conv_phase p =
                is_transposed
                    ? cov_conv_phase_transposed(phase, t_out, kernel, stride, dilation, pad)
                    : cov_conv_phase_plain(t_out, kernel, stride, dilation, pad);
            add_phase(&want, &p, t_in);
            p = cov_conv_phase_cut(p, t_out, head, tail);
            add_phase(&r, &p, t_in);
        }
        if (!is_transposed || stride == 1 || tail == t_out)
            for (int t = head; t < tail; t++) {
                memset(want.seen[t], 0, sizeof want.seen[t]);
                want.written[t] = 0;
            }
        assert_memory_equal(&r, &want, sizeof r);
    }
}

TEST(channels)
{
    const struct cov_channels c = {2, 5, 8};
    static const int places[] = {0, 1, 2, 3, 4, 8, 9, 10, 11, 12};
    for (int i = 0; i < 10; i++)
        assert_int_equal(cov_channel_place(c, i), places[i]);
    assert_int_equal(cov_channel_width(c), 16);
    assert_int_equal(cov_round_up(0, 8), 0);
    assert_int_equal(cov_round_up(1, 8), 8);
    assert_int_equal(cov_round_up(16, 8), 16);
}

/* Every vector has its own place. Vectors that are accessed at once fall into different banks: the
 * same vector in eight rows for reads, all vectors of two rows for writes. */
TEST(tiles)
{
    enum { ROWS = 128 };
    int seen[ROWS * 4] = {0};
    for (int row = 0; row < ROWS; row++)
        for (int piece = 0; piece < 4; piece++) {
            int place = cov_tile_place(row, piece);
            assert_int_equal(place % 16, 0);
            assert_in_range(place, row * 64, row * 64 + 48);
            seen[place / 16]++;
        }
    for (int i = 0; i < ROWS * 4; i++)
        assert_int_equal(seen[i], 1);
    for (int row = 0; row < ROWS; row += 8)
        for (int piece = 0; piece < 4; piece++) {
            unsigned banks = 0;
            for (int i = 0; i < 8; i++)
                banks |= 1U << (cov_tile_place(row + i, piece) / 16 % 8);
            assert_int_equal(banks, 0xff);
        }
}

enum { UNITS = 32 };

/* Counts in seen[gate][unit][h] how often the fragments contain a weight. */
static void count_weight(int seen[4][UNITS][UNITS], struct cov_lstm_place p)
{
    assert_in_range(p.gate, 0, 3);
    assert_in_range(p.unit, 0, UNITS - 1);
    assert_in_range(p.h, 0, UNITS - 1);
    seen[p.gate][p.unit][p.h]++;
}

/* Together, the fragments of all lanes and warps contain every weight once. */
TEST(fragments)
{
    static int seen[4][UNITS][UNITS], seen_back[4][UNITS][UNITS];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            for (int warp = 0; warp < UNITS / 8; warp++)
                for (int pair = 0; pair < 2; pair++)
                    for (int k16 = 0; k16 < UNITS / 16; k16++)
                        count_weight(seen, cov_lstm_fragment(warp, pair, k16, lane, i / 2, i % 2));
            for (int warp = 0; warp < UNITS / 16; warp++)
                for (int k16 = 0; k16 < UNITS / 4; k16++)
                    count_weight(seen_back, cov_lstm_back_fragment(warp, k16, lane, i / 2, i % 2));
        }
    for (int i = 0; i < 4 * UNITS * UNITS; i++) {
        assert_int_equal((&seen[0][0][0])[i], 1);
        assert_int_equal((&seen_back[0][0][0])[i], 1);
    }
}

/* The splits cover all rows, in multiples of 32. Each row of a phase reads and writes the rows that its
 * definition says. */
TEST(split_rows)
{
    for (int rows = 0; rows < 200; rows++)
        for (int splits = 1; splits < 9; splits++) {
            int each = cov_conv_split_rows(rows, splits);
            assert_int_equal(each % 32, 0);
            assert_in_range(each * splits, rows, rows + 32 * splits);
        }
    const struct cov_conv_phase plain = cov_conv_phase_plain(20, 3, 2, 4, 5);
    const struct cov_conv_phase second = cov_conv_phase_transposed(1, 20, 3, 2, 1, 0);
    assert_int_equal(cov_conv_x_row(&plain, 7, 2), 7 * 2 - 5 + 2 * 4);
    assert_int_equal(cov_conv_y_row(&plain, 7), 7);
    assert_int_equal(cov_conv_y_row(&second, 7), 15);
}

/* The threads of a tile cover every column once. */
TEST(tile_columns)
{
    static const int tiles[][2] = {{128, 8}, {64, 4}, {8, 1}}; /* per tile, per thread */
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        int seen[128] = {0}, bn = tiles[i][0], tn = tiles[i][1];
        for (int across = 0; across < bn / tn; across++)
            for (int j = 0; j < tn; j++)
                seen[cov_tile_column(bn, tn, across, j)]++;
        for (int column = 0; column < bn; column++)
            assert_int_equal(seen[column], 1);
    }
}

/* ---------------------------------------------------------------- sums over a batch */

/* The parts of a batch have all of its chunks, in order, and differ by at most one chunk. */
TEST(chunks)
{
    for (size_t n = 0; n < 200; n++) {
        const struct cov_parts all = {n, 0, COV_PARTS};
        assert_int_equal(cov_parts_chunk(all, 0), 0);
        assert_int_equal(cov_parts_chunk(all, COV_PARTS), n);
        for (int part = 0; part < COV_PARTS; part++) {
            size_t size = cov_parts_chunk(all, part + 1) - cov_parts_chunk(all, part);
            assert_in_range(size, n / COV_PARTS, (n + COV_PARTS - 1) / COV_PARTS);
        }
    }
}

/* The first chunk of a card has number 0 there. */
TEST(cards)
{
    for (size_t n = 0; n < 100; n++)
        for (int beg = 0; beg < COV_PARTS; beg++) {
            const struct cov_parts all = {n, 0, COV_PARTS}, some = {n, beg, COV_PARTS};
            assert_int_equal(cov_parts_chunk(some, beg), 0);
            assert_int_equal(cov_parts_chunk(some, COV_PARTS) + cov_parts_chunk(all, beg), n);
        }
}

/* The nodes of a card follow each other, are subtrees, and are as large as possible. */
TEST(nodes)
{
    int most = 0;
    for (int beg = 0; beg < COV_PARTS; beg++)
        for (int end = beg + 1; end <= COV_PARTS; end++) {
            struct cov_node node[COV_MOST_NODES];
            int n = cov_parts_nodes((struct cov_parts){1, beg, end}, node), at = beg;
            most = n > most ? n : most;
            for (int i = 0; i < n; i++) {
                assert_int_equal(node[i].first, at);
                assert_int_equal(node[i].n & (node[i].n - 1), 0);
                assert_int_equal(node[i].first % node[i].n, 0);
                int parent = node[i].first / (2 * node[i].n) * 2 * node[i].n;
                assert_true(parent < beg || parent + 2 * node[i].n > end);
                at += node[i].n;
            }
            assert_int_equal(at, end);
        }
    assert_int_equal(most, COV_MOST_NODES);
}

/* 1, 2, 4, ... cards have one node each. */
TEST(one_node)
{
    struct cov_node node[COV_MOST_NODES];
    for (int n_cards = 1; n_cards <= COV_PARTS; n_cards *= 2)
        for (int i = 0; i < n_cards; i++) {
            const struct cov_parts p = {1, COV_PARTS * i / n_cards, COV_PARTS * (i + 1) / n_cards};
            assert_int_equal(cov_parts_nodes(p, node), 1);
        }
}
