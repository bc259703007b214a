/* test_plan.c - which rows are computed, for networks of any shape. The value of a row is a hash of
 * everything that the row depends on, so missing, stale and wrongly copied rows are detected. Which
 * chunks of a call are computed.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/random_net.h"

#include "common/compute/plan.h"
#include "common/seq/alphabet.h"

/* The hash of a row that was not computed. */
static const uint64_t ABSENT = 0xdeadbeefdeadbeefU;

static uint64_t mix(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
}

/* Returns row t of a convolution of x[t_in]. Rows of x beyond the ends are 0, like padding. */
static uint64_t row_of(const struct cov_layer *l, size_t t, const uint64_t *x)
{
    uint64_t hash = 1;
    if (l->kind == COV_LAYER_LINEAR_EXP) {
        assert_true(x[t] != ABSENT);
        return mix(hash, x[t]);
    }
    for (size_t k = 0; k < l->kernel; k++) {
        int64_t row = (int64_t)(t * l->stride + k * l->dilation) - l->pad;
        if (l->kind == COV_LAYER_CONV_TRANSPOSED) {
            int64_t at = (int64_t)t + l->pad - (int64_t)(k * l->dilation);
            if (at % (int64_t)l->stride)
                continue;
            row = at / (int64_t)l->stride;
        }
        uint64_t v = row < 0 || row >= (int64_t)l->t_in ? 0 : x[row];
        assert_true(v != ABSENT);
        hash = mix(mix(hash, k), v);
    }
    return hash;
}

/* Computes y of an LSTM. The forward direction stops at rows.end, the backward one at rows.beg. */
static void run_lstm(const struct cov_layer *l, struct cov_rows rows,
                     const struct cov_row_plan *input, const uint64_t *x, uint64_t *y)
{
    uint64_t state = 1;
    for (size_t t = 0; t < rows.end; t++) {
        uint64_t v = x[cov_plan_source(input, t)];
        assert_true(v != ABSENT);
        y[t] = state = mix(state, v);
    }
    state = 2;
    for (size_t t = l->t_in; l->directions == 2 && t-- > rows.beg;) {
        uint64_t v = x[cov_plan_source(input, t)];
        assert_true(v != ABSENT);
        state = mix(state, v);
        y[t] = y[t] == ABSENT ? ABSENT : mix(y[t], state);
    }
}

/* Computes y from x by layer `l` as planned. Checks the rows of all ranges and copies. Returns the
 * number of computed rows. */
static size_t run_layer(const struct cov_layer *l, const struct cov_row_plan *input,
                        const struct cov_row_plan *plan, const uint64_t *x, uint64_t *y)
{
    size_t n = 0, unit = cov_plan_unit(l);
    for (size_t t = 0; t < l->t_out; t++)
        y[t] = ABSENT;
    if (l->kind == COV_LAYER_LSTM) {
        assert_true(plan->n_ranges <= 1 && plan->n_copies == 0);
        if (plan->n_ranges)
            run_lstm(l, plan->ranges[0], input, x, y);
        return 0;
    }
    for (size_t i = 0; i < plan->n_ranges; i++) {
        struct cov_rows r = plan->ranges[i];
        assert_true(r.beg % unit == 0 && (r.end % unit == 0 || r.end == l->t_out));
        assert_true(r.beg < r.end && r.end <= l->t_out);
        assert_true(i == 0 || plan->ranges[i - 1].end < r.beg);
        for (size_t t = r.beg; t < r.end; t++)
            y[t] = row_of(l, t, x);
        n += r.end - r.beg;
    }
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct cov_copy *c = &plan->copies[i];
        assert_true(c->from % unit == 0 && c->period % unit == 0 && c->beg >= c->from + c->period);
        for (size_t t = c->beg; t < c->end; t++) {
            assert_int_equal(cov_plan_source(plan, t), c->from + (t - c->from) % c->period);
            y[t] = y[c->from + (t - c->from) % c->period];
        }
    }
    return n;
}

/* Computes the output of all layers. Returns how many rows of convolutions were computed. */
static size_t run_all(const struct cov_layer *layers, size_t n, const struct cov_row_plan *plans,
                      const uint8_t *codes, uint64_t *last)
{
    size_t most = 1, rows = 0;
    for (size_t i = 0; i < n; i++)
        most = layers[i].t_in > most ? layers[i].t_in : most;
    uint64_t *x = unit_zeros(most * sizeof *x), *y = unit_zeros(most * sizeof *y);
    for (size_t t = 0; t < layers[0].t_in; t++)
        x[t] = ABSENT;
    for (size_t i = 0; i < plans[0].n_ranges; i++)
        for (size_t t = plans[0].ranges[i].beg; t < plans[0].ranges[i].end; t++)
            x[t] = codes[t];
    for (size_t i = 0; i < n; i++) {
        rows += run_layer(&layers[i], &plans[i], &plans[i + 1], x, y);
        uint64_t *swap = x;
        x = y;
        y = swap;
    }
    memcpy(last, x, layers[n - 1].t_out * sizeof *last);
    return rows;
}

/* Computes the output of all layers with the ends from cov_plan_padded. Returns how many rows of
 * convolutions were computed. */
static size_t run_padded(const struct cov_layer *layers, size_t n, const struct cov_plan_ends *ends,
                         const uint8_t *codes, uint64_t *last)
{
    static const struct cov_row_plan in_place;
    size_t most = 1, rows = 0;
    for (size_t i = 0; i < n; i++)
        most = layers[i].t_in > most ? layers[i].t_in : most;
    uint64_t *x = unit_zeros(most * sizeof *x), *y = unit_zeros(most * sizeof *y);
    for (size_t t = 0; t < layers[0].t_in; t++)
        x[t] = t < ends[0].head || t >= ends[0].tail ? codes[t] : ABSENT;
    for (size_t i = 0; i < n; i++) {
        const struct cov_layer *l = &layers[i];
        struct cov_plan_ends of = ends[i + 1];
        assert_true(of.head <= of.tail && of.tail <= l->t_out);
        for (size_t t = 0; t < l->t_out; t++)
            y[t] = ABSENT;
        if (l->kind == COV_LAYER_LSTM) {
            assert_int_equal(of.tail, l->t_out);
            if (of.head > 0)
                run_lstm(l, (struct cov_rows){0, of.head}, &in_place, x, y);
        } else {
            for (size_t t = 0; t < l->t_out; t++) {
                if (t >= of.head && t < of.tail)
                    continue;
                y[t] = row_of(l, t, x);
                rows++;
            }
            if (of.head > 0 && i + 1 < n && layers[i + 1].kind == COV_LAYER_LSTM)
                for (size_t t = of.head; t < of.tail; t++)
                    y[t] = y[of.head - 1];
        }
        uint64_t *swap = x;
        x = y;
        y = swap;
    }
    memcpy(last, x, layers[n - 1].t_out * sizeof *last);
    return rows;
}

/* Draws codes[L]: bases and runs of one code, then padding. Returns where the padding begins. */
static size_t draw_codes(struct cov_rng *rng, size_t L, uint8_t *codes)
{
    size_t filled = (size_t)draw(rng, 0, 3) ? cov_rng_below(rng, L + 1) : L,
           n_runs = draw(rng, 0, 9);
    for (size_t t = 0; t < L; t++)
        codes[t] = t < filled ? (uint8_t)(1U << cov_rng_below(rng, 4)) : COV_CODE_PAD;
    for (size_t i = 0; i < n_runs && filled > 0; i++) {
        size_t beg = cov_rng_below(rng, filled), n = (size_t)draw(rng, 1, 900);
        for (size_t t = beg; t < beg + n && t < filled; t++)
            codes[t] = i % 3 ? COV_CODE_N : COV_CODE_A;
    }
    return filled;
}

TEST(test_all_shapes)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 31);
    for (int round = 0; round < 400; round++) {
        struct cov_hparams hp;
        do {
            hp = (struct cov_hparams){.model_type = (enum cov_model_type)draw(&rng, 0, 2),
                                      .cnn_layers = draw(&rng, 1, 4),
                                      .filter_size = 1,
                                      .kernel_size = draw(&rng, 1, 13),
                                      .step = draw(&rng, 1, 4),
                                      .up = 1,
                                      .dilation = draw(&rng, 0, 2) ? 1 : draw(&rng, 2, 4),
                                      .lstm_layers = draw(&rng, 1, 3),
                                      .hidden_size = 1,
                                      .input_size = 4,
                                      .output_size = 1};
        } while (cov_hparams_check(&hp, NULL));
        size_t full, least, L = draw_length(&rng, &hp, 1, 4000);
        struct cov_params params;
        struct cov_layers shape;
        assert_ok(cov_params_init(&hp, &params, &e));
        float *block = unit_zeros(params.n_floats * sizeof *block);
        if (cov_shape(&hp, L, &params, block, &shape, NULL) == 0) {
            const struct cov_layer *layers = shape.layers;
            size_t n = shape.n;
            uint8_t *codes = unit_zeros(L);
            uint64_t *want = unit_alloc(L * sizeof *want), *got = unit_alloc(L * sizeof *got);
            struct cov_row_plan *plans = unit_zeros((n + 1) * sizeof *plans);
            struct cov_plan_ends *ends = unit_zeros((n + 1) * sizeof *ends);
            for (int i = 0; i < 3; i++) {
                size_t filled = draw_codes(&rng, L, codes);
                cov_plan_full(layers, n, plans);
                full = run_all(layers, n, plans, codes, want);
                cov_plan(layers, n, codes, plans);
                least = run_all(layers, n, plans, codes, got);
                assert_true(least <= full);
                assert_memory_equal(got, want, filled * sizeof *got);
                /* The first plan is shared with a chunk that has more bases. */
                size_t further = filled + cov_rng_below(&rng, (L - filled) / 2 + 1);
                cov_plan_padded(layers, n, i ? filled : further, ends);
                assert_true(run_padded(layers, n, ends, codes, got) <= full);
                assert_memory_equal(got, want, filled * sizeof *got);
                cov_plan_padded_full(layers, n, ends);
                assert_int_equal(run_padded(layers, n, ends, codes, got), full);
                assert_memory_equal(got, want, L * sizeof *got);
            }
        }
        cov_layers_fini(&shape);
        unit_free();
        cov_params_fini(&params);
    }
}

/* Checks how much the published network computes for a contig of 1 kb, a chunk of N, and a full
 * chunk. */
TEST(test_savings)
{
    enum { L = 21384 };
    struct cov_hparams hp = cov_hparams_published;
    hp.filter_size = hp.up = hp.hidden_size = hp.output_size = 1;
    struct cov_params params;
    struct cov_layers shape;
    assert_ok(cov_params_init(&hp, &params, &e));
    float *block = unit_zeros(params.n_floats * sizeof *block);
    static uint8_t codes[L];
    static uint64_t y[L];
    assert_ok(cov_shape(&hp, L, &params, block, &shape, &e));
    const struct cov_layer *layers = shape.layers;
    size_t n = shape.n;
    struct cov_row_plan *plans = unit_zeros((n + 1) * sizeof *plans);
    struct cov_rng rng;
    cov_rng_init(&rng, 32);
    for (size_t t = 0; t < L; t++)
        codes[t] = (uint8_t)(1U << cov_rng_below(&rng, 4));
    cov_plan_full(layers, n, plans);
    size_t full = run_all(layers, n, plans, codes, y);
    cov_plan(layers, n, codes, plans);
    assert_int_equal(run_all(layers, n, plans, codes, y), full);
    memset(codes + 1000, COV_CODE_PAD, L - 1000);
    cov_plan(layers, n, codes, plans);
    assert_true(run_all(layers, n, plans, codes, y) < full * 6 / 100);
    assert_true(plans[0].ranges[0].end < 1100);
    assert_int_equal(plans[n].ranges[0].end, 1000);
    struct cov_plan_ends ends[16];
    assert_true(n < COV_COUNT(ends));
    cov_plan_padded(layers, n, 1000, ends);
    assert_true(run_padded(layers, n, ends, codes, y) < full * 6 / 100);
    memset(codes, COV_CODE_PAD, L);
    cov_plan(layers, n, codes, plans);
    assert_int_equal(run_all(layers, n, plans, codes, y), 0);
    cov_plan_padded(layers, n, 0, ends);
    assert_int_equal(run_padded(layers, n, ends, codes, y), 0);
    /* With an LSTM, all rows of the up layers are computed, but only a few rows of the down
     * layers. */
    memset(codes, COV_CODE_N, L);
    cov_plan(layers, n, codes, plans);
    for (size_t i = 1; i <= 3; i++) {
        size_t rows = 0;
        for (size_t k = 0; k < plans[i].n_ranges; k++)
            rows += plans[i].ranges[k].end - plans[i].ranges[k].beg;
        assert_true(rows < 64);
    }
    assert_true(plans[3].n_copies == 1 && plans[3].copies[0].end > layers[2].t_out - 32);
    /* If all codes are padding, a few computed rows provide everything that an LSTM reads. */
    memset(codes, COV_CODE_PAD, L);
    cov_plan_padding(layers, n, plans);
    assert_true(run_all(layers, n, plans, codes, y) < full * 2 / 100);
    assert_true(plans[3].n_copies == 1 && plans[3].copies[0].end > layers[2].t_out - 32);
    assert_true(plans[4].n_ranges == 1 && plans[4].ranges[0].end == layers[3].t_out);
    cov_layers_fini(&shape);
    cov_params_fini(&params);
}

/* ---- chunks of a call, of which only some are computed; the others get the same values ---- */

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
static void draw_chunks(struct cov_rng *rng, size_t n, uint8_t *codes)
{
    for (size_t i = 0; i < n; i++) {
        size_t kind = cov_rng_below(rng, 7);
        for (size_t t = 0; t < L; t++)
            codes[i * L + t] = kind == 0      ? COV_CODE_N
                               : t > 2 * kind ? COV_CODE_PAD
                                              : (uint8_t)(1U << (t * kind % 4));
    }
}

TEST(test_chunk_order)
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
        draw_chunks(&rng, n, codes);
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
