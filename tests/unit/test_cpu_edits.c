/* test_cpu_edits.c - forward_edited on the CPU: the values of forward where they are wanted, whatever
 * the other chunks of the call are, for less work.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/random_net.h"

#include "common/base/pool.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"

enum { N_CHUNKS = 19, N_ORIGINALS = COV_EDITED_ORIGINALS };

struct fixture {
    struct cov_device *dev;
    struct cov_net *net, *single; /* a call for all chunks; one chunk per call */
    size_t L, D;
    uint8_t *originals, *codes;
    struct cov_edited_chunk chunks[N_CHUNKS];
    float *values, *other;
};

/* The scalar reference has no forward_edited. */
static void open_device(struct fixture *f)
{
    const char *levels = getenv("COVTOOLS_CPU");
    const bool usable = levels && *levels && strcmp(levels, "scalar") != 0;
    const struct cov_cpu_options options = {.levels = usable ? levels : NULL, .edits = true};
    assert_ok(cov_device_open_cpu(&options, &f->dev, &e));
}

static void setup(struct fixture *f, const struct cov_hparams *hp, size_t L, struct cov_rng *rng)
{
    float *block = draw_block(rng, hp);
    *f = (struct fixture){.L = L, .D = (size_t)hp->output_size};
    open_device(f);
    assert_ok(cov_net_new(f->dev, hp, block, (struct cov_net_size){L, 1, N_CHUNKS}, &f->net, &e));
    assert_ok(cov_net_new(f->dev, hp, block, (struct cov_net_size){L, 1, 1}, &f->single, &e));
    f->originals = unit_alloc(N_ORIGINALS * L);
    f->codes = unit_alloc(N_CHUNKS * L);
    f->values = unit_alloc(N_CHUNKS * L * f->D * sizeof(float));
    f->other = unit_alloc(N_CHUNKS * L * f->D * sizeof(float));
}

static void teardown(struct fixture *f)
{
    cov_net_free(f->net);
    cov_net_free(f->single);
    cov_device_close(f->dev);
    unit_free();
}

/* Draws an original with a run of N, and some padding or none. */
static void draw_original(struct fixture *f, size_t i, struct cov_rng *rng)
{
    uint8_t *codes = f->originals + i * f->L;
    for (size_t t = 0; t < f->L; t++)
        codes[t] = (uint8_t)(1U << draw(rng, 0, 3));
    memset(codes + draw(rng, 0, (int64_t)f->L / 2), COV_CODE_N, f->L / 4);
    memset(codes + f->L - f->L / 20 * i, COV_CODE_PAD, f->L / 20 * i);
}

/* Draws chunk k: a copy of an original with one or a few bases replaced, first and last ones, too; or
 * with a base less or more; or just the copy. Draws its wanted positions. */
static void draw_chunk(struct fixture *f, size_t k, struct cov_rng *rng)
{
    const size_t L = f->L, of = k % N_ORIGINALS, filled = L - L / 20 * of;
    uint8_t *codes = f->codes + k * L;
    const int64_t last = (int64_t)filled - 1, at = draw(rng, 0, last);
    memcpy(codes, f->originals + of * L, L);
    f->chunks[k] = (struct cov_edited_chunk){of, 0, filled};
    if (k % 5 == 1) { /* as for a variant */
        f->chunks[k].beg = (size_t)(at > 20 ? at - 20 : 0);
        f->chunks[k].end = (size_t)(at < last - 20 ? at + 20 : last + 1);
    } else if (k % 5 == 2) { /* anywhere, perhaps nowhere */
        f->chunks[k].beg = (size_t)draw(rng, 0, last);
        f->chunks[k].end = (size_t)draw(rng, (int64_t)f->chunks[k].beg, last + 1);
    }
    switch (k % 9) {
    case 0:
        break;
    case 1:
        codes[0] ^= COV_CODE_N;
        break;
    case 2:
        codes[last] ^= COV_CODE_N;
        break;
    case 3:
        memmove(codes + at, codes + at + 1, L - (size_t)at - 1);
        break;
    case 4:
        memmove(codes + at + 1, codes + at, L - (size_t)at - 1);
        f->chunks[k].end = f->chunks[k].end == filled && filled < L ? filled + 1 : f->chunks[k].end;
        break;
    case 5:
        for (size_t i = 0; i < 4; i++)
            codes[draw(rng, 0, last)] ^= COV_CODE_N;
        break;
    default:
        codes[at] ^= (uint8_t)draw(rng, 1, 14);
        break;
    }
}

static void assert_close(const struct fixture *f, size_t k, float bound)
{
    const struct cov_edited_chunk *chunk = &f->chunks[k];
    for (size_t i = (k * f->L + chunk->beg) * f->D; i < (k * f->L + chunk->end) * f->D; i++)
        if (!(fabsf(f->values[i] - f->other[i]) <= bound * fabsf(f->other[i])))
            fail_msg("chunk %zu, position %zu: %g, not %g", k, i / f->D % f->L,
                     (double)f->values[i], (double)f->other[i]);
}

/* All chunks in one call agree with forward, and are the same bits one by one, in another order. */
static void check(struct fixture *f)
{
    const size_t L = f->L, row = L * f->D;
    const struct cov_edited_chunks all = {N_ORIGINALS, f->originals, N_CHUNKS, f->codes, f->chunks};
    assert_ok(cov_net_forward_edited(f->net, 0, &all, f->values, &e));
    assert_ok(cov_net_forward(f->net, 0, N_CHUNKS, f->codes, f->other, &e));
    for (size_t k = 0; k < N_CHUNKS; k++)
        assert_close(f, k, 1e-5F);
    for (size_t k = N_CHUNKS; k-- > 0;) {
        struct cov_edited_chunk chunk = f->chunks[k];
        const struct cov_edited_chunks one = {1, f->originals + chunk.of * L, 1, f->codes + k * L,
                                              &chunk};
        float *other = f->other + k * row;
        chunk.of = 0;
        assert_ok(cov_net_forward_edited(f->single, 0, &one, other, &e));
        if (chunk.beg < chunk.end)
            assert_memory_equal(other + chunk.beg * f->D, f->values + k * row + chunk.beg * f->D,
                                (chunk.end - chunk.beg) * f->D * sizeof *other);
    }
}

TEST(agrees_with_forward)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 41);
    for (int i = 0; i < 25; i++) {
        struct cov_hparams hp = draw_hparams(&rng);
        struct fixture f;
        setup(&f, &hp, draw_length(&rng, &hp, 1, 500), &rng);
        for (int again = 0; again < 2 && cov_net_can_edit(f.net); again++) {
            for (size_t b = 0; b < N_ORIGINALS; b++)
                draw_original(&f, b, &rng);
            for (size_t k = 0; k < N_CHUNKS; k++)
                draw_chunk(&f, k, &rng);
            check(&f);
        }
        assert_true(cov_net_can_edit(f.net) == (hp.model_type != COV_MODEL_CNN));
        teardown(&f);
    }
}

/* Returns the positions that count as computed since *before. */
static uint64_t computed(const struct cov_net *net, uint64_t *before)
{
    struct cov_forward_counts counts;
    cov_net_counts(net, &counts);
    const uint64_t n = counts.positions_computed - *before;
    *before = counts.positions_computed;
    return n;
}

/* An original is computed once, and a replaced base costs a small part of a chunk, the fewer
 * positions are wanted. */
TEST(computes_what_differs)
{
    const struct cov_hparams hp = bi_hybrid(2, 10, 16, 2);
    const size_t L = 8000;
    struct cov_rng rng;
    struct fixture f;
    uint64_t before = 0;
    cov_rng_init(&rng, 42);
    setup(&f, &hp, L, &rng);
    draw_original(&f, 0, &rng);
    memcpy(f.codes, f.originals, L);
    f.chunks[0] = (struct cov_edited_chunk){0, 0, L};
    struct cov_edited_chunks one = {1, f.originals, 1, f.codes, f.chunks};
    assert_ok(cov_net_forward_edited(f.net, 0, &one, f.values, &e));
    assert_int_equal(computed(f.net, &before), L);
    f.codes[L / 2] ^= COV_CODE_N;
    assert_ok(cov_net_forward_edited(f.net, 0, &one, f.values, &e));
    const uint64_t all = computed(f.net, &before);
    assert_true(all > 0 && all < L / 10);
    f.chunks[0] = (struct cov_edited_chunk){0, L / 2, L / 2 + 1};
    assert_ok(cov_net_forward_edited(f.net, 0, &one, f.values, &e));
    assert_in_range(computed(f.net, &before), 1, all * 2 / 3);
    f.originals[7] ^= COV_CODE_N; /* another original */
    assert_ok(cov_net_forward_edited(f.net, 0, &one, f.values, &e));
    assert_in_range(computed(f.net, &before), L, 2 * L);
    teardown(&f);
}

/* Chunks with much padding are computed by forward, which shares it. */
TEST(shares_padding)
{
    const struct cov_hparams hp = bi_hybrid(2, 10, 16, 2);
    const size_t L = 400;
    struct cov_rng rng;
    struct fixture f;
    cov_rng_init(&rng, 43);
    setup(&f, &hp, L, &rng);
    memset(f.originals, COV_CODE_PAD, N_ORIGINALS * L);
    memset(f.originals, COV_CODE_A, L / 2);
    memcpy(f.codes, f.originals, L);
    f.codes[9] = COV_CODE_C;
    f.chunks[0] = (struct cov_edited_chunk){0, 0, L / 2};
    const struct cov_edited_chunks one = {1, f.originals, 1, f.codes, f.chunks};
    assert_ok(cov_net_forward_edited(f.net, 0, &one, f.values, &e));
    assert_ok(cov_net_forward(f.single, 0, 1, f.codes, f.other, &e));
    assert_memory_equal(f.values, f.other, L * f.D * sizeof(float));
    teardown(&f);
}

/* Other precisions have no forward_edited. */
TEST(needs_single_precision)
{
    const struct cov_hparams hp = bi_hybrid(2, 10, 16, 2);
    static const enum cov_precision precisions[] = {COV_PRECISION_EXACT, COV_PRECISION_BF16};
    struct cov_rng rng;
    cov_rng_init(&rng, 44);
    float *block = draw_block(&rng, &hp);
    for (size_t i = 0; i < COV_COUNT(precisions); i++) {
        struct cov_device *dev;
        struct cov_net *net;
        assert_ok(
            cov_device_open_cpu(&(struct cov_cpu_options){.precision = precisions[i]}, &dev, &e));
        assert_ok(cov_net_new(dev, &hp, block, (struct cov_net_size){80, 1, 1}, &net, &e));
        assert_true(cov_net_can_edit(net) == (strcmp(dev->ops->precision(dev), "fp32") == 0));
        cov_net_free(net);
        cov_device_close(dev);
    }
}
