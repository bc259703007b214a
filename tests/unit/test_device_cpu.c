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

enum { GUARD = 64, MAX_CHUNKS = 33 };
static const float SENTINEL = 12345.0f;

/* Draws codes[n, L]: bases, some N, then padding. The last chunk has only padding. */
static uint8_t *draw_codes(struct cov_rng *rng, size_t n, size_t L)
{
    uint8_t *codes = must(malloc(n * L));
    for (size_t i = 0; i < n; i++) {
        size_t end = i + 1 == n ? 0 : i % 3 == 1 ? cov_rng_below(rng, L + 1) : L;
        for (size_t t = 0; t < L; t++) {
            uint8_t base =
                cov_rng_below(rng, 20) ? (uint8_t)(1U << cov_rng_below(rng, 4)) : COV_CODE_N;
            codes[i * L + t] = t < end ? base : COV_CODE_PAD;
        }
    }
    return codes;
}

/* A task computes n chunks per call. */
struct work {
    struct cov_net *net;
    size_t n_chunks, batch, in, out; /* in, out: sizes of one chunk */
    const uint8_t *codes;
    float *values;
};

static int compute(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct work *w = arg;
    size_t first = item * w->batch, left = w->n_chunks - first;
    return cov_net_forward(w->net, worker, left < w->batch ? left : w->batch,
                           w->codes + first * w->in, w->values + first * w->out, e);
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

/* Computes values[n, L, D] with these options on the workers of the pool, `batch` chunks per call.
 * If `full`, computes all positions. `counts` may be NULL. Guards surround the values. Caller frees
 * with free_values. */
static float *run_net_with(const struct how *how, bool full, const struct cov_hparams *hp,
                           const float *block, size_t L, size_t n, const uint8_t *codes,
                           size_t batch, struct cov_pool *pool, struct cov_forward_counts *counts)
{
    struct cov_device *dev = open_device(how);
    size_t out = L * (size_t)hp->output_size;
    float *memory = must(malloc((n * out + (size_t)2 * GUARD) * sizeof *memory));
    for (size_t i = 0; i < n * out + (size_t)2 * GUARD; i++)
        memory[i] = SENTINEL;
    struct work w = {NULL, n, batch, L, out, codes, memory + GUARD};
    struct cov_forward_counts all;
    assert_ok(cov_net_new(dev, hp, block, (struct cov_net_size){L, cov_pool_size(pool), batch},
                          &w.net, &e));
    if (full)
        cov_net_compute_all(w.net);
    assert_ok(cov_pool_for(pool, (n + batch - 1) / batch, compute, &w, &e));
    cov_net_counts(w.net, &all);
    assert_int_equal(all.positions_computed + all.positions_at_rest + all.chunks_repeated * L,
                     n * L);
    if (counts)
        *counts = all;
    cov_net_free(w.net);
    cov_device_close(dev);
    for (size_t i = 0; i < GUARD; i++)
        assert_true(memory[i] == SENTINEL && memory[GUARD + n * out + i] == SENTINEL);
    return w.values;
}

static float *run_net(const char *kernels, bool full, const struct cov_hparams *hp,
                      const float *block, size_t L, size_t n, const uint8_t *codes, size_t batch,
                      struct cov_pool *pool, struct cov_forward_counts *counts)
{
    const struct how how = how_of(kernels);
    return run_net_with(&how, full, hp, block, L, n, codes, batch, pool, counts);
}

/* Calls run_net without `full` and counts. */
static float *values_of(const char *kernels, const struct cov_hparams *hp, const float *block,
                        size_t L, size_t n, const uint8_t *codes, size_t batch,
                        struct cov_pool *pool)
{
    return run_net(kernels, false, hp, block, L, n, codes, batch, pool, NULL);
}

static void free_values(float *values)
{
    free(values - GUARD);
}

static void assert_close(const float *got, const float *want, size_t n, const uint8_t *codes,
                         size_t d, const struct cov_hparams *hp)
{
    for (size_t i = 0; i < n; i++) {
        if (codes[i / d] == COV_CODE_PAD)
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

static int open_pool(void **state)
{
    struct cov_pool *pool;
    int rc = cov_pool_new(2, &pool, NULL);
    *state = pool;
    return rc;
}

static int close_pool(void **state)
{
    cov_pool_free(*state);
    return 0;
}

TEST_WITH(agrees_with_reference, open_pool, close_pool)
{
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 21);
    for (int i = 0; i < 40; i++) {
        struct cov_hparams hp = draw_hparams(&rng);
        size_t n = 3, d = (size_t)hp.output_size, L = draw_length(&rng, &hp, 1, 60);
        float *block = draw_block(&rng, &hp);
        uint8_t *codes = draw_codes(&rng, n, L);
        float *want = values_of("ref", &hp, block, L, n, codes, 2, pool);
        float *got = values_of(NULL, &hp, block, L, n, codes, 2, pool);
        assert_close(got, want, n * L * d, codes, d, &hp);
        free_values(got);
        got = values_of("direct", &hp, block, L, n, codes, 2, pool);
        assert_close(got, want, n * L * d, codes, d, &hp);
        free_values(got);
        if (cov_blas_load()) {
            got = values_of("openblas", &hp, block, L, n, codes, 2, pool);
            assert_close(got, want, n * L * d, codes, d, &hp);
            free_values(got);
        }
        free_values(want);
        free(codes);
        free(block);
    }
}

/* Compares one call for all chunks with other batches, where a chunk has different neighbours, a
 * different position and a different worker. */
TEST_WITH(does_not_depend_on_batch, open_pool, close_pool)
{
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 22);
    static const char *const kernels[] = {NULL, "direct", "openblas"};
    static const size_t batches[] = {1, 2, 5, 13, 16, 17, 32};
    struct cov_hparams hp =
        bi_hybrid(2, 10, 37, 2); /* 10 filters are enough for minimal filtering */
    size_t L = 84, n = MAX_CHUNKS, bytes = n * L * 2 * sizeof(float);
    for (int type = COV_MODEL_CNN; type <= COV_MODEL_BI_HYBRID; type++) {
        hp.model_type = (enum cov_model_type)type;
        float *block = draw_block(&rng, &hp);
        uint8_t *codes = draw_codes(&rng, n, L);
        for (size_t k = 0; k < COV_COUNT(kernels); k++) {
            if (kernels[k] && strcmp(kernels[k], "openblas") == 0 && !cov_blas_load())
                continue;
            float *want = values_of(kernels[k], &hp, block, L, n, codes, n, pool);
            for (size_t i = 0; i < COV_COUNT(batches); i++) {
                float *got = values_of(kernels[k], &hp, block, L, n, codes, batches[i], pool);
                assert_memory_equal(got, want, bytes);
                free_values(got);
            }
            free_values(want);
        }
        free(codes);
        free(block);
    }
}

/* Draws codes[n, L] that are mostly constant: one base, a few bases, half a chunk, runs of N and of
 * one base, only N, only padding. Some chunks occur twice. */
static uint8_t *draw_constant_codes(struct cov_rng *rng, size_t n, size_t L)
{
    uint8_t *codes = must(malloc(n * L));
    for (size_t i = 0; i < n; i++) {
        uint8_t *c = codes + i * L;
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
    return codes;
}

/* Skipping constant input gives the same values as the reference and as computing everything. It
 * gives the same bits in other batches. */
TEST_WITH(skips_constant_input, open_pool, close_pool)
{
    if (!can_skip())
        return;
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 24);
    uint64_t computed = 0, all = 0;
    for (int i = 0; i < 12; i++) {
        struct cov_hparams hp = draw_hparams(&rng);
        size_t n = 17, d = (size_t)hp.output_size, L = draw_length(&rng, &hp, 600, 1600);
        float *block = draw_block(&rng, &hp);
        uint8_t *codes = draw_constant_codes(&rng, n, L);
        struct cov_forward_counts counts;
        float *got = run_net(NULL, false, &hp, block, L, n, codes, n, pool, &counts);
        float *full = run_net(NULL, true, &hp, block, L, n, codes, n, pool, NULL);
        float *want = run_net("ref", false, &hp, block, L, 8, codes, 2, pool, NULL);
        assert_close(got, want, 8 * L * d, codes, d, &hp);
        for (size_t k = 0; k < n * L * d; k++)
            assert_true(fabsf(got[k] - full[k]) <= 1e-5f * fabsf(full[k]));
        assert_true(counts.chunks_repeated >= 2);
        computed += counts.positions_computed;
        all += n * L;
        for (size_t batch = 1; batch < n; batch = batch * 2 + 1) {
            float *other = values_of(NULL, &hp, block, L, n, codes, batch, pool);
            assert_memory_equal(other, got, n * L * d * sizeof *got);
            free_values(other);
        }
        free_values(want);
        free_values(full);
        free_values(got);
        free(codes);
        free(block);
    }
    assert_true(computed < all * 7 / 10);
}

/* Draws n chunks that are mostly padding: chunk i has first + more * i bases. Caller frees. */
static uint8_t *draw_padded_codes(struct cov_rng *rng, size_t n, size_t L, size_t first,
                                  size_t more)
{
    uint8_t *codes = must(calloc(n, L));
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < first + more * i; t++)
            codes[i * L + t] = (uint8_t)(1U << cov_rng_below(rng, 4));
    return codes;
}

/* An LSTM that counts rows: half of its forget gates are 1, so that its cells grow with every row
 * of padding before the backward direction reaches the bases. */
TEST_WITH(lstm_counts_through_padding, open_pool, close_pool)
{
    if (!can_skip())
        return;
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 25);
    const struct cov_hparams hp = bi_hybrid(2, 8, 16, 1);
    enum { L = 12000, N = 3, HIDDEN = 16 };
    static const char *const biases[] = {
        "lstm_layer_list.0.bias_ih_l0", "lstm_layer_list.0.bias_ih_l0_reverse",
        "lstm_layer_list.1.bias_ih_l0", "lstm_layer_list.1.bias_ih_l0_reverse"};
    struct cov_params params;
    float *block = draw_block(&rng, &hp);
    assert_ok(cov_params_init(&hp, &params, &e));
    for (size_t k = 0; k < COV_COUNT(biases); k++) {
        const struct cov_param *bias = cov_params_find(&params, biases[k]);
        assert_non_null(bias);
        for (size_t u = 0; u < HIDDEN; u += 2) {
            block[bias->offset + u] -= 3;           /* adds little */
            block[bias->offset + HIDDEN + u] += 40; /* forgets nothing */
        }
    }
    uint8_t *codes = draw_padded_codes(&rng, N, L, 300, 200);
    struct cov_forward_counts counts;
    float *got = run_net(NULL, false, &hp, block, L, N, codes, N, pool, &counts);
    float *full = run_net(NULL, true, &hp, block, L, N, codes, N, pool, NULL);
    float *want = values_of("ref", &hp, block, L, N, codes, 1, pool);
    float most = 0;
    for (size_t i = 0; i < (size_t)N * L; i++) {
        assert_true(fabsf(got[i] - full[i]) <= 1e-5f * fabsf(full[i]));
        assert_true(fabsf(got[i] - want[i]) <= 1e-3f * fabsf(want[i])); /* float sums drift */
    }
    assert_true(counts.positions_computed < (uint64_t)N * L / 2);
    /* A chunk without padding gives different values, so padding matters. */
    float *cut = values_of(NULL, &hp, block, 4 * 128, 1, codes, 1, pool);
    for (size_t t = 0; t < 200; t++)
        most = fmaxf(most, fabsf(cut[t] - got[t]) / got[t]);
    assert_true(most > 1e-2f);
    free_values(cut);
    free_values(want);
    free_values(full);
    free_values(got);
    free(codes);
    free(block);
    cov_params_fini(&params);
}

/* Equal chunks of a call are counted as repeated. Chunks of only N are repeated even across
 * calls. */
TEST_WITH(computes_equal_chunks_once, open_pool, close_pool)
{
    if (!can_skip())
        return;
    struct cov_rng rng;
    cov_rng_init(&rng, 26);
    struct cov_hparams hp = draw_hparams(&rng);
    hp.step = 1;
    hp.kernel_size = 3;
    enum { L = 40, N = 6 };
    float *block = draw_block(&rng, &hp);
    uint8_t codes[N * L];
    struct cov_forward_counts counts;
    memset(codes, COV_CODE_N, sizeof codes);
    for (size_t i = 3; i < N; i++)
        for (size_t t = 0; t < L; t++)
            codes[i * L + t] = (uint8_t)(1U << (t * t + t / 7) % 4);
    codes[5 * L] = COV_CODE_N; /* differs only in its first base */
    static const size_t batches[] = {1, 2, 3, 6}, repeats[] = {2, 2, 3, 3};
    struct cov_pool *single;
    assert_ok(cov_pool_new(1, &single, &e));
    float *full = run_net(NULL, true, &hp, block, L, N, codes, 2, single, &counts);
    assert_int_equal(counts.chunks_repeated, 0);
    assert_int_equal(counts.positions_computed, N * L);
    for (size_t i = 0; i < COV_COUNT(batches); i++) {
        float *got = run_net(NULL, false, &hp, block, L, N, codes, batches[i], single, &counts);
        assert_int_equal(counts.chunks_repeated, repeats[i]);
        for (size_t k = 0; k < (size_t)N * L * (size_t)hp.output_size; k++)
            assert_true(fabsf(got[k] - full[k]) <= 1e-5f * full[k]);
        free_values(got);
    }
    free_values(full);
    cov_pool_free(single);
    free(block);
}

/* Weights so large that sums overflow: values are arbitrary, but the call returns. */
TEST_WITH(survives_overflow, open_pool, close_pool)
{
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 23);
    for (int i = 0; i < 10; i++) {
        struct cov_hparams hp = draw_hparams(&rng);
        struct cov_params params;
        assert_ok(cov_params_init(&hp, &params, &e));
        float *block = draw_block(&rng, &hp);
        for (size_t k = 0; k < params.n_floats; k++)
            block[k] *= 1e37f;
        size_t L = 216, n = 2;
        uint8_t *codes = draw_codes(&rng, n, L);
        float *values = values_of(NULL, &hp, block, L, n, codes, 1, pool);
        for (size_t k = 0; k < L * (size_t)hp.output_size; k++) /* the chunk of padding */
            assert_true(values[L * (size_t)hp.output_size + k] == COV_PAD_VALUE);
        free_values(values);
        free(codes);
        free(block);
        cov_params_fini(&params);
    }
}

/* Every available level computes the same network. */
TEST_WITH(levels_agree, open_pool, close_pool)
{
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 27);
    static const char *const levels[] = {"base", "avx2", "avx512", "avx512bf16", "amx"};
    size_t L = 216, n = 5;
    struct cov_hparams hp = draw_hparams(&rng);
    size_t d = (size_t)hp.output_size;
    float *block = draw_block(&rng, &hp);
    uint8_t *codes = draw_codes(&rng, n, L);
    float *want = values_of("ref", &hp, block, L, n, codes, 2, pool);
    for (size_t i = 0; i < COV_COUNT(levels); i++) {
        const struct how how = {.cpu = {.levels = levels[i], .precision = COV_PRECISION_FP32}};
        if (cov_cpu_level_choose(levels[i], &(struct cov_cpu_choice){0}, NULL)) {
            (void)printf("# no %s here\n", levels[i]);
            continue;
        }
        float *got = run_net_with(&how, false, &hp, block, L, n, codes, 2, pool, NULL);
        assert_close(got, want, n * L * d, codes, d, &hp);
        free_values(got);
    }
    free_values(want);
    free(codes);
    free(block);
}

/* Each precision agrees with the scalar reference with the same rounding, and gives the same bits
 * in any batch. */
TEST_WITH(precisions_agree, open_pool, close_pool)
{
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 28);
    static const enum cov_precision precisions[] = {COV_PRECISION_BF16X3, COV_PRECISION_BALANCED,
                                                    COV_PRECISION_BF16};
    static const double bounds[] = {1e-4, 1e-2, 3e-2};
    static const char *const levels[] = {"base", "avx512bf16", "amx", NULL};
    for (int i = 0; i < 12; i++) {
        struct cov_hparams hp = draw_hparams(&rng);
        size_t n = 5, d = (size_t)hp.output_size, L = draw_length(&rng, &hp, 1, 60);
        float *block = draw_block(&rng, &hp);
        uint8_t *codes = draw_codes(&rng, n, L);
        for (size_t k = 0; k < COV_COUNT(precisions); k++) {
            struct how how = {.cpu = {.levels = "scalar", .precision = precisions[k]}};
            float *want = run_net_with(&how, false, &hp, block, L, n, codes, 2, pool, NULL);
            for (size_t j = 0; j < COV_COUNT(levels); j++) {
                how.cpu.levels = levels[j];
                if (cov_cpu_level_choose(levels[j], &(struct cov_cpu_choice){0}, NULL))
                    continue;
                float *got = run_net_with(&how, false, &hp, block, L, n, codes, 5, pool, NULL);
                float *other = run_net_with(&how, false, &hp, block, L, n, codes, 2, pool, NULL);
                assert_memory_equal(got, other, n * L * d * sizeof *got);
                for (size_t at = 0; at < n * L * d; at++)
                    if (!(fabs((double)got[at] / (double)want[at] - 1) <= bounds[k]))
                        fail_msg("%s, %s: value %zu is %g, not %g", levels[j] ? levels[j] : "all",
                                 cov_precision_name(precisions[k]), at, (double)got[at],
                                 (double)want[at]);
                free_values(other);
                free_values(got);
            }
            free_values(want);
        }
        free(codes);
        free(block);
    }
}

/* Less exact precisions skip as much of the padding as single precision does, and are as close to
 * values without skipping as rounding allows. */
TEST_WITH(every_precision_skips, open_pool, close_pool)
{
    if (!can_skip())
        return;
    struct cov_pool *pool = *state;
    struct cov_rng rng;
    cov_rng_init(&rng, 29);
    const struct cov_hparams hp = bi_hybrid(3, 32, 32, 2);
    static const struct {
        enum cov_precision precision;
        float most;
    } cases[] = {
        {COV_PRECISION_FP32, 1e-5F}, {COV_PRECISION_BALANCED, 1e-3F}, {COV_PRECISION_BF16, 1e-2F}};
    enum { L = 8000, N = 5, D = 2 };
    float *block = draw_block(&rng, &hp);
    uint8_t *codes = draw_padded_codes(&rng, N, L, 200, 150);
    uint64_t least = 0;
    for (size_t k = 0; k < COV_COUNT(cases); k++) {
        struct how how = how_of(NULL);
        struct cov_forward_counts counts;
        how.cpu.precision = cases[k].precision;
        float *got = run_net_with(&how, false, &hp, block, L, N, codes, N, pool, &counts);
        float *other = run_net_with(&how, false, &hp, block, L, N, codes, 2, pool, NULL);
        float *full = run_net_with(&how, true, &hp, block, L, N, codes, N, pool, NULL);
        assert_memory_equal(got, other, (size_t)N * L * D * sizeof *got);
        for (size_t i = 0; i < (size_t)N * L * D; i++)
            assert_true(fabsf(got[i] - full[i]) <= cases[k].most * fabsf(full[i]));
        least = k == 0 ? counts.positions_computed : least;
        if (!(counts.positions_computed <= least + least / 5))
            fail_msg("%s computes %llu positions, fp32 %llu",
                     cov_precision_name(cases[k].precision),
                     (unsigned long long)counts.positions_computed, (unsigned long long)least);
        free_values(full);
        free_values(other);
        free_values(got);
    }
    assert_true(least < (uint64_t)N * L / 4);
    free(codes);
    free(block);
}
