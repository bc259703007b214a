/* test_chunk_order.c - only some chunks of a call are computed, and the others get the correct
 * values, too.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/compute/plan.h"
#include "common/seq/alphabet.h"

enum { L = 13, DEPTH = 2, MOST = 24, ROW = L * DEPTH };

/* Computes in place of the network. Each value depends on all codes of the chunk. */
static void compute(const uint8_t *codes, float *out)
{
    float sum = 0;
    for (int t = 0; t < L; t++)
        sum = sum * 3 + (float)codes[t];
    for (int i = 0; i < ROW; i++)
        out[i] = sum + (float)i;
}

static size_t filled(const uint8_t *codes)
{
    size_t n = L;
    while (n > 0 && codes[n - 1] == COV_CODE_PAD)
        n--;
    return n;
}

/* Draws chunks of a few kinds, with many duplicates. Chunks of kind 0 have only N. */
static void draw(struct cov_rng *rng, size_t n, uint8_t *codes)
{
    for (size_t i = 0; i < n; i++) {
        size_t kind = cov_rng_below(rng, 7);
        for (size_t t = 0; t < L; t++)
            codes[i * L + t] = kind == 0      ? COV_CODE_N
                               : t > 2 * kind ? COV_CODE_PAD
                                              : (uint8_t)(1U << (t * kind % 4));
    }
}

TEST(orders)
{
    struct cov_rng rng;
    struct cov_chunk_order o;
    uint8_t codes[MOST * L];
    float out[MOST * ROW], want[ROW];
    uint64_t n_all = 0, n_computed = 0;
    cov_rng_init(&rng, 1);
    assert_ok(cov_chunk_order_init(&o, L, DEPTH, MOST, &e));
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + cov_rng_below(&rng, MOST);
        draw(&rng, n, codes);
        memset(out, 0xff, sizeof out);
        o.full = round % 5 == 4;
        cov_chunk_order_begin(&o, n, codes, out);
        assert_true(o.n_todo <= (o.full ? n : 7));
        for (size_t i = 0; i < o.n_todo; i++) {
            const struct cov_ordered_chunk *c = &o.todo[i];
            assert_int_equal(c->filled, filled(codes + c->index * L));
            if (o.full)
                assert_int_equal(c->index, i);
            else
                assert_true(i == 0 || c->filled <= o.todo[i - 1].filled);
            compute(codes + c->index * L, out + c->index * ROW);
        }
        cov_chunk_order_end(&o, out);
        for (size_t i = 0; i < n; i++) {
            compute(codes + i * L, want);
            assert_memory_equal(out + i * ROW, want, sizeof want);
        }
        n_all += n;
        n_computed += o.n_todo;
    }
    assert_int_equal(o.n_repeated, n_all - n_computed);
    /* From here on, the result of a chunk of only N is known. */
    memset(codes, COV_CODE_N, L);
    o.full = false;
    cov_chunk_order_begin(&o, 1, codes, out);
    assert_int_equal(o.n_todo, 0);
    cov_chunk_order_end(&o, out);
    compute(codes, want);
    assert_memory_equal(out, want, sizeof want);
    cov_chunk_order_fini(&o);
    cov_chunk_order_fini(&o);
}
