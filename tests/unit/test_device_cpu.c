/* test_device_cpu.c - whole networks on the CPU. Fast kernels agree with the scalar reference, and
 * the bits of a result do not depend on batch, position, worker or neighbours.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/random_net.h"

#include "common/base/pool.h"
#include "common/compute/cpu/cpu_program.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/layers/blas.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"

enum { GUARD = 64 };
static const float SENTINEL = 12345.0f;

static struct cov_pool *one_worker, *two_workers;

static int open_pools(void **state)
{
    return cov_pool_new(1, &one_worker, NULL) || cov_pool_new(2, &two_workers, NULL);
}

static int close_pools(void **state)
{
    cov_pool_free(one_worker);
    cov_pool_free(two_workers);
    return 0;
}

/* A network, and n chunks of L codes that it gets. */
struct input {
    struct cov_hparams hp;
    float *block;
    size_t L, n;
    uint8_t *codes;
    bool alone; /* one worker instead of two */
};

static struct input make_input(struct cov_rng *rng, const struct cov_hparams *hp, size_t L,
                               size_t n)
{
    return (struct input){*hp, draw_block(rng, hp), L, n, unit_zeros(n * L), false};
}

static size_t n_values(const struct input *in)
{
    return in->n * in->L * (size_t)in->hp.output_size;
}

/* Draws bases, some N, then padding. The last chunk has only padding. */
static void draw_codes(struct cov_rng *rng, const struct input *in)
{
    for (size_t i = 0; i < in->n; i++) {
        size_t L = in->L;
        size_t end = i + 1 == in->n ? 0 : i % 3 == 1 ? cov_rng_below(rng, L + 1) : L;
        for (size_t t = 0; t < L; t++) {
            uint8_t base =
                cov_rng_below(rng, 20) ? (uint8_t)(1U << cov_rng_below(rng, 4)) : COV_CODE_N;
            in->codes[i * L + t] = t < end ? base : COV_CODE_PAD;
        }
    }
}

/* A task computes `batch` chunks per call. */
struct work {
    struct cov_net *net;
    const struct input *in;
    size_t batch;
    float *values;
};

static int compute(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct work *w = arg;
    const struct input *in = w->in;
    size_t first = item * w->batch, left = in->n - first;
    return cov_net_forward(w->net, worker, left < w->batch ? left : w->batch,
                           in->codes + first * in->L, w->values + first * n_values(in) / in->n, e);
}

/* How to compute; kernels may be "openblas" (convolutions on OpenBLAS), "direct" (no minimal
 * filtering) or NULL. */
struct how {
    struct cov_cpu_options cpu;
    const char *kernels;
};

/* Returns how for "ref" or such kernels. COVTOOLS_CPU sets the levels, except for "ref". */
static struct how how_of(const char *kernels)
{
    const char *levels = getenv("COVTOOLS_CPU");
    struct how how = {.cpu = {.levels = levels && *levels ? levels : NULL}};
    if (kernels && strcmp(kernels, "ref") == 0)
        how.cpu.levels = "scalar";
    else
        how.kernels = kernels;
    return how;
}

/* The scalar specification skips nothing. */
static bool can_skip(void)
{
    const char *levels = getenv("COVTOOLS_CPU");
    return !levels || strcmp(levels, "scalar") != 0;
}

static struct cov_device *open_device(const struct how *how)
{
    struct cov_device *dev;
    assert_ok(cov_device_open_cpu(&how->cpu, &dev, &e));
    if (how->kernels) {
        struct cov_cpu_kernels *k = &((struct cov_cpu_device *)dev)->kernels;
        k->openblas = strcmp(how->kernels, "openblas") == 0;
        k->minimal = k->openblas ? k->minimal : NULL;
    }
    return dev;
}

/* Computes values[n, L, D] with these options, `batch` chunks per call. If `full`, computes all
 * positions. `counts` may be NULL. Guards surround the values. */
static float *run_with(const struct how *how, bool full, const struct input *in, size_t batch,
                       struct cov_forward_counts *counts)
{
    struct cov_device *dev = open_device(how);
    struct cov_pool *pool = in->alone ? one_worker : two_workers;
    const size_t n = n_values(in);
    float *memory = unit_alloc((n + (size_t)2 * GUARD) * sizeof *memory);
    for (size_t i = 0; i < n + (size_t)2 * GUARD; i++)
        memory[i] = SENTINEL;
    struct work w = {NULL, in, batch, memory + GUARD};
    struct cov_forward_counts all;
    assert_ok(cov_net_new(dev, &in->hp, in->block,
                          (struct cov_net_size){in->L, cov_pool_size(pool), batch}, &w.net, &e));
    if (full)
        cov_net_compute_all(w.net);
    assert_ok(cov_pool_for(pool, (in->n + batch - 1) / batch, compute, &w, &e));
    cov_net_counts(w.net, &all);
    assert_int_equal(all.positions_computed + all.positions_at_rest + all.chunks_repeated * in->L,
                     in->n * in->L);
    if (counts)
        *counts = all;
    cov_net_free(w.net);
    cov_device_close(dev);
    for (size_t i = 0; i < GUARD; i++)
        assert_true(memory[i] == SENTINEL && memory[GUARD + n + i] == SENTINEL);
    return w.values;
}

static float *run(const char *kernels, bool full, const struct input *in, size_t batch,
                  struct cov_forward_counts *counts)
{
    const struct how how = how_of(kernels);
    return run_with(&how, full, in, batch, counts);
}

static float *values_of(const char *kernels, const struct input *in, size_t batch)
{
    return run(kernels, false, in, batch, NULL);
}

static void assert_close(const struct input *in, const float *got, const float *want)
{
    const struct cov_hparams *hp = &in->hp;
    for (size_t i = 0; i < n_values(in); i++) {
        if (in->codes[i / (size_t)hp->output_size] == COV_CODE_PAD)
            assert_true(got[i] == COV_PAD_VALUE && want[i] == COV_PAD_VALUE);
        else if (!(fabsf(got[i] - want[i]) <= 2e-5f * want[i]))
            fail_msg(
                "%s, %d convolutions, filter %d, kernel %d, step %d, dilation %d, %d layers of "
                "%d: value %zu is %g, not %g",
                cov_model_type_name(hp->model_type), (int)hp->cnn_layers, (int)hp->filter_size,
                (int)hp->kernel_size, (int)hp->step, (int)hp->dilation, (int)hp->lstm_layers,
                (int)hp->hidden_size, i, (double)got[i], (double)want[i]);
    }
}

static void assert_within(const char *what, const struct input *in, const float *got,
                          const float *want, float bound)
{
    for (size_t i = 0; i < n_values(in); i++)
        if (!(fabsf(got[i] - want[i]) <= bound * fabsf(want[i])))
            fail_msg("%s: value %zu is %g, not %g", what, i, (double)got[i], (double)want[i]);
}

static void assert_same(const struct input *in, const float *got, const float *want)
{
    assert_memory_equal(got, want, n_values(in) * sizeof *got);
}

static bool is_here(const struct how *how)
{
    return how->kernels && strcmp(how->kernels, "openblas") == 0
               ? cov_blas_load()
               : cov_cpu_level_choose(how->cpu.levels, &(struct cov_cpu_choice){0}, NULL) == COV_OK;
}

/* All kernels, and every available level. */
TEST(agrees_with_reference)
{
    static const char *const levels[] = {"base", "avx2", "avx512", "avx512bf16", "amx"};
    struct cov_rng rng;
    cov_rng_init(&rng, 21);
    for (int i = 0; i < 40; i++) {
        const struct cov_hparams hp = draw_hparams(&rng);
        struct input in = make_input(&rng, &hp, draw_length(&rng, &hp, 1, 60), 3);
        struct how hows[3 + COV_COUNT(levels)] = {how_of(NULL), how_of("direct"),
                                                  how_of("openblas")};
        for (size_t k = 0; k < COV_COUNT(levels); k++)
            hows[3 + k].cpu =
                (struct cov_cpu_options){.levels = levels[k], .precision = COV_PRECISION_FP32};
        draw_codes(&rng, &in);
        const float *want = values_of("ref", &in, 2);
        for (size_t k = 0; k < (i % 8 ? 3 : COV_COUNT(hows)); k++)
            if (is_here(&hows[k]))
                assert_close(&in, run_with(&hows[k], false, &in, 2, NULL), want);
        unit_free();
    }
}

/* Compares one call for all chunks with other batches, where a chunk has different neighbours, a
 * different position and a different worker. */
TEST(does_not_depend_on_batch)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 22);
    static const char *const kernels[] = {NULL, "direct", "openblas"};
    static const size_t batches[] = {1, 2, 5, 13, 16, 17, 32};
    struct cov_hparams hp =
        bi_hybrid(2, 10, 37, 2); /* 10 filters are enough for minimal filtering */
    for (int type = COV_MODEL_CNN; type <= COV_MODEL_BI_HYBRID; type++) {
        hp.model_type = (enum cov_model_type)type;
        struct input in = make_input(&rng, &hp, 84, 33);
        draw_codes(&rng, &in);
        for (size_t k = 0; k < COV_COUNT(kernels); k++) {
            const struct how how = how_of(kernels[k]);
            const float *want = is_here(&how) ? values_of(kernels[k], &in, in.n) : NULL;
            for (size_t i = 0; want && i < COV_COUNT(batches); i++)
                assert_same(&in, values_of(kernels[k], &in, batches[i]), want);
        }
        unit_free();
    }
}

/* Draws codes that are mostly constant: one base, a few bases, half a chunk, runs of N and of one
 * base, only N, only padding. Some chunks occur twice. */
static void draw_constant_codes(struct cov_rng *rng, const struct input *in)
{
    const size_t L = in->L;
    for (size_t i = 0; i < in->n; i++) {
        uint8_t *c = in->codes + i * L;
        size_t filled[] = {1, L < 50 ? L : 50, L / 2, L, L, cov_rng_below(rng, L + 1), L, 0};
        size_t end = filled[i % COV_COUNT(filled)];
        for (size_t t = 0; t < L; t++)
            c[t] = t < end ? (uint8_t)(1U << cov_rng_below(rng, 4)) : COV_CODE_PAD;
        for (size_t k = 0; i % 2 && k < 3 && end > 0; k++) {
            size_t beg = cov_rng_below(rng, end), run = cov_rng_below(rng, L / 2 + 1);
            memset(c + beg, k ? COV_CODE_N : COV_CODE_A, run < end - beg ? run : end - beg);
        }
        if (i % COV_COUNT(filled) == 4)
            memset(c, COV_CODE_N, L);
        if (i >= 8 && i % 5 == 0)
            memcpy(c, c - 5 * L, L);
    }
}

/* Skipping constant input gives the same values as the reference and as computing everything. It
 * gives the same bits in other batches. */
TEST(skips_constant_input)
{
    if (!can_skip())
        return;
    struct cov_rng rng;
    cov_rng_init(&rng, 24);
    uint64_t computed = 0, all = 0;
    for (int i = 0; i < 12; i++) {
        const struct cov_hparams hp = draw_hparams(&rng);
        struct input in = make_input(&rng, &hp, draw_length(&rng, &hp, 600, 1600), 17), some;
        struct cov_forward_counts counts;
        draw_constant_codes(&rng, &in);
        const float *got = run(NULL, false, &in, in.n, &counts);
        assert_within("full", &in, got, run(NULL, true, &in, in.n, NULL), 1e-5f);
        some = in;
        some.n = 8;
        assert_close(&some, got, values_of("ref", &some, 2));
        assert_true(counts.chunks_repeated >= 2);
        computed += counts.positions_computed;
        all += in.n * in.L;
        for (size_t batch = 1; batch < in.n; batch = batch * 2 + 1)
            assert_same(&in, values_of(NULL, &in, batch), got);
        unit_free();
    }
    assert_true(computed < all * 7 / 10);
}

/* Draws chunks that are mostly padding: chunk i has first + more * i bases. */
static void draw_padded_codes(struct cov_rng *rng, const struct input *in, size_t first,
                              size_t more)
{
    for (size_t i = 0; i < in->n; i++)
        for (size_t t = 0; t < first + more * i; t++)
            in->codes[i * in->L + t] = (uint8_t)(1U << cov_rng_below(rng, 4));
}

/* An LSTM that counts rows: half of its forget gates are 1, so that its cells grow with every row
 * of padding before the backward direction reaches the bases. */
TEST(lstm_counts_through_padding)
{
    if (!can_skip())
        return;
    enum { HIDDEN = 16 };
    struct cov_rng rng;
    cov_rng_init(&rng, 25);
    const struct cov_hparams hp = bi_hybrid(2, 8, HIDDEN, 1);
    static const char *const biases[] = {
        "lstm_layer_list.0.bias_ih_l0", "lstm_layer_list.0.bias_ih_l0_reverse",
        "lstm_layer_list.1.bias_ih_l0", "lstm_layer_list.1.bias_ih_l0_reverse"};
    struct cov_params params;
    struct input in = make_input(&rng, &hp, 12000, 3);
    assert_ok(cov_params_init(&hp, &params, &e));
    for (size_t k = 0; k < COV_COUNT(biases); k++) {
        const struct cov_param *bias = cov_params_find(&params, biases[k]);
        assert_non_null(bias);
        for (size_t u = 0; u < HIDDEN; u += 2) {
            in.block[bias->offset + u] -= 3;           /* adds little */
            in.block[bias->offset + HIDDEN + u] += 40; /* forgets nothing */
        }
    }
    cov_params_fini(&params);
    draw_padded_codes(&rng, &in, 300, 200);
    struct cov_forward_counts counts;
    const float *got = run(NULL, false, &in, in.n, &counts);
    assert_within("full", &in, got, run(NULL, true, &in, in.n, NULL), 1e-5f);
    assert_within("reference", &in, got, values_of("ref", &in, 1), 1e-3f); /* float sums drift */
    assert_true(counts.positions_computed < in.n * in.L / 2);
    /* A chunk without padding gives different values, so padding matters. */
    in.L = (size_t)4 * 128;
    in.n = 1;
    const float *cut = values_of(NULL, &in, 1);
    float most = 0;
    for (size_t t = 0; t < 200; t++)
        most = fmaxf(most, fabsf(cut[t] - got[t]) / got[t]);
    assert_true(most > 1e-2f);
}

/* Equal chunks of a call are counted as repeated. Chunks of only N are repeated even across
 * calls. */
TEST(computes_equal_chunks_once)
{
    if (!can_skip())
        return;
    enum { L = 40, N = 6 };
    struct cov_rng rng;
    cov_rng_init(&rng, 26);
    struct cov_hparams hp = draw_hparams(&rng);
    hp.step = 1;
    hp.kernel_size = 3;
    struct input in = make_input(&rng, &hp, L, N);
    struct cov_forward_counts counts;
    in.alone = true;
    memset(in.codes, COV_CODE_N, N * L);
    for (size_t i = 3; i < N; i++)
        for (size_t t = 0; t < L; t++)
            in.codes[i * L + t] = (uint8_t)(1U << (t * t + t / 7) % 4);
    in.codes[5 * L] = COV_CODE_N; /* differs only in its first base */
    static const size_t batches[] = {1, 2, 3, 6}, repeats[] = {2, 2, 3, 3};
    const float *full = run(NULL, true, &in, 2, &counts);
    assert_int_equal(counts.chunks_repeated, 0);
    assert_int_equal(counts.positions_computed, N * L);
    for (size_t i = 0; i < COV_COUNT(batches); i++) {
        const float *got = run(NULL, false, &in, batches[i], &counts);
        assert_int_equal(counts.chunks_repeated, repeats[i]);
        assert_within("full", &in, got, full, 1e-5f);
    }
}

/* Weights so large that sums overflow: values are arbitrary, but the call returns. */
TEST(survives_overflow)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 23);
    for (int i = 0; i < 10; i++) {
        const struct cov_hparams hp = draw_hparams(&rng);
        struct input in = make_input(&rng, &hp, 216, 2);
        struct cov_params params;
        assert_ok(cov_params_init(&hp, &params, &e));
        for (size_t k = 0; k < params.n_floats; k++)
            in.block[k] *= 1e37f;
        draw_codes(&rng, &in);
        const float *values = values_of(NULL, &in, 1);
        for (size_t k = n_values(&in) / 2; k < n_values(&in); k++) /* the chunk of padding */
            assert_true(values[k] == COV_PAD_VALUE);
        cov_params_fini(&params);
    }
}

/* Each precision agrees with the scalar reference with the same rounding, and gives the same bits
 * in any batch. */
TEST(precisions_agree)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 28);
    static const struct {
        enum cov_precision precision;
        float bound;
    } cases[] = {{COV_PRECISION_BF16X3, 1e-4F},
                 {COV_PRECISION_BALANCED, 1e-2F},
                 {COV_PRECISION_BF16, 3e-2F}};
    static const char *const levels[] = {"base", "avx512bf16", "amx", NULL};
    for (int i = 0; i < 12; i++) {
        const struct cov_hparams hp = draw_hparams(&rng);
        struct input in = make_input(&rng, &hp, draw_length(&rng, &hp, 1, 60), 5);
        draw_codes(&rng, &in);
        for (size_t k = 0; k < COV_COUNT(cases); k++) {
            struct how how = {.cpu = {.levels = "scalar", .precision = cases[k].precision}};
            const float *want = run_with(&how, false, &in, 2, NULL);
            for (size_t j = 0; j < COV_COUNT(levels); j++) {
                how.cpu.levels = levels[j];
                if (!is_here(&how))
                    continue;
                const float *got = run_with(&how, false, &in, 5, NULL);
                assert_same(&in, run_with(&how, false, &in, 2, NULL), got);
                assert_within(how.cpu.levels ? how.cpu.levels : "all", &in, got, want,
                              cases[k].bound);
            }
        }
        unit_free();
    }
}

/* Less exact precisions skip as much of the padding as single precision does, and are as close to
 * values without skipping as rounding allows. */
TEST(every_precision_skips)
{
    if (!can_skip())
        return;
    struct cov_rng rng;
    cov_rng_init(&rng, 29);
    const struct cov_hparams hp = bi_hybrid(3, 32, 32, 2);
    static const struct {
        enum cov_precision precision;
        float most;
    } cases[] = {
        {COV_PRECISION_FP32, 1e-5F}, {COV_PRECISION_BALANCED, 1e-3F}, {COV_PRECISION_BF16, 1e-2F}};
    struct input in = make_input(&rng, &hp, 8000, 5);
    draw_padded_codes(&rng, &in, 200, 150);
    uint64_t least = 0;
    for (size_t k = 0; k < COV_COUNT(cases); k++) {
        struct how how = how_of(NULL);
        struct cov_forward_counts counts;
        how.cpu.precision = cases[k].precision;
        const float *got = run_with(&how, false, &in, in.n, &counts);
        assert_same(&in, run_with(&how, false, &in, 2, NULL), got);
        assert_within("full", &in, got, run_with(&how, true, &in, in.n, NULL), cases[k].most);
        least = k == 0 ? counts.positions_computed : least;
        if (!(counts.positions_computed <= least + least / 5))
            fail_msg("%s computes %llu positions, fp32 %llu",
                     cov_precision_name(cases[k].precision),
                     (unsigned long long)counts.positions_computed, (unsigned long long)least);
    }
    assert_true(least < in.n * in.L / 4);
}

TEST_GROUP(open_pools, close_pools)
