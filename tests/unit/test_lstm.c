/* test_lstm.c - compares LSTM layers that skip steps with the scalar reference and with layers that
 * compute every step. The inputs rest, drift and move again; other tests cover cells that count
 * indefinitely, and shared padding.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/random_layer.h"

#include "common/base/cpu.h"
#include "common/compute/cpu/layers/lstm.h"

static struct cov_lstm *lstm_of(const struct cov_layer *l, const struct cov_layer_weights *w)
{
    struct cov_lstm *f;
    unsigned features = cov_cpu_features();
    assert_ok(cov_lstm_new(l, w, cov_gemm_choose(features, COV_FP32, 0, 0),
                           cov_vec_choose(features), COV_LSTM_REST_FP32, &f, &e));
    return f;
}

/* Fills x[T, n, c] with n sequences. In random stretches they move, rest, or drift by rounding
 * errors. */
static void fill_rows(struct cov_rng *rng, size_t t_n, size_t n, size_t c, float *x)
{
    for (size_t b = 0; b < n; b++) {
        size_t left = 0, how = 0;
        for (size_t t = 0; t < t_n; t++, left--) {
            float *row = x + (t * n + b) * c, *before = t ? row - n * c : NULL;
            if (left == 0) {
                left = draw(rng, 1, 150);
                how = draw(rng, 0, 2);
            }
            for (size_t i = 0; i < c; i++) {
                float v = (float)cov_rng_double(rng) * 2 - 1;
                row[i] = how == 0 || !before ? v * 3 : how == 1 ? before[i] : before[i] + v * 3e-7f;
            }
        }
    }
}

enum { COMPARED = 4 };

static float distance(size_t n, const float *a, const float *b)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabsf(a[i] - b[i]) > most ? fabsf(a[i] - b[i]) : most;
    return most;
}

/* Checks that in the wanted rows, sequences computed together give the same bits as each sequence
 * alone, and that the first ones are close to the reference, which is slow. Other rows of x are not
 * read. Gates that are kept while x drifts within its tolerance add up in a cell that counts: such a
 * sequence may be off by more, and is counted. */
static size_t check(struct cov_rng *rng, const struct cov_layer *l, size_t n)
{
    size_t n_far = 0;
    struct cov_layer_weights w = draw_weights(rng, l, 1 / sqrtf((float)l->hidden));
    struct cov_lstm *f = lstm_of(l, &w);
    size_t n_in = l->t_in * l->c_in, n_out = l->t_in * l->c_out;
    float *x = floats(n * n_in), *y = floats(n * n_out), *scratch = floats(cov_lstm_scratch(f));
    float *one = floats(n_in), *want = floats(n_out), *got = floats(n_out), *alone = floats(n_out);
    double *ref_state = unit_alloc(6 * l->hidden * sizeof *ref_state);
    struct cov_lstm_task tasks[COV_LSTM_ROWS] = {{.input = NULL}};
    fill_rows(rng, l->t_in, n, l->c_in, x);
    for (size_t b = 0; b < n; b++) {
        size_t beg = b % 3 ? 0 : cov_rng_below(rng, l->t_in);
        tasks[b].rows = (struct cov_rows){beg, b % 4 == 3 ? l->t_in : draw(rng, beg, l->t_in)};
        if (l->directions == 1)
            for (size_t t = tasks[b].rows.end; t < l->t_in; t++)
                x[(t * n + b) * l->c_in] = NAN;
    }
    cov_lstm_run(f, &(struct cov_lstm_batch){n, tasks, false, NULL, x, y}, scratch);
    for (size_t b = 0; b < n; b++) {
        struct cov_rows rows = tasks[b].rows;
        size_t beg = rows.beg * l->c_out, n_wanted = (rows.end - rows.beg) * l->c_out;
        struct cov_lstm_task task = {.rows = rows};
        take_chunk(x, l->t_in, n, l->c_in, b, one);
        take_chunk(y, l->t_in, n, l->c_out, b, got);
        cov_lstm_run(f, &(struct cov_lstm_batch){1, &task, false, NULL, one, alone}, scratch);
        assert_memory_equal(got + beg, alone + beg, n_wanted * sizeof *got);
        assert_true(task.x_products == tasks[b].x_products &&
                    task.h_products == tasks[b].h_products);
        if (rows.beg == rows.end)
            assert_true(task.x_products == 0 && task.h_products == 0);
        if (b < COMPARED) {
            cov_ref_layer(l, &w, COV_FP32, one, want, ref_state);
            float far = distance(n_wanted, got + beg, want + beg);
            assert_true(far <= 1e-4f);
            n_far += far > 3e-5f;
            cov_lstm_run(f, &(struct cov_lstm_batch){1, &task, true, NULL, one, alone}, scratch);
            assert_true(distance(n_wanted, alone + beg, want + beg) <= 1e-5f);
        }
    }
    cov_lstm_free(f);
    unit_free();
    return n_far;
}

TEST(equals_the_reference)
{
    struct cov_rng rng;
    size_t n_far = 0;
    cov_rng_init(&rng, 51);
    for (int i = 0; i < 60; i++) {
        const size_t c_in = draw(&rng, 1, 140), hidden = draw(&rng, 1, 50);
        const size_t directions = draw(&rng, 1, 2);
        const struct cov_layer l = lstm_layer(draw(&rng, 1, 700), c_in, hidden, directions);
        n_far += check(&rng, &l, draw(&rng, 1, COV_LSTM_ROWS));
    }
    assert_true(n_far <= 2); /* of 240 */
}

/* On constant input, a random layer comes to rest in each direction and for each sequence. */
TEST(rests_on_constant_input)
{
    enum { T = 2000, N = 3, STILL_FROM = 100 };
    struct cov_rng rng;
    cov_rng_init(&rng, 52);
    const struct cov_layer l = lstm_layer(T, 20, 32, 2);
    float *x = floats((size_t)T * N * 20), *y = floats((size_t)T * N * 64);
    float *full = floats((size_t)T * N * 64);
    struct cov_layer_weights w = draw_weights(&rng, &l, 1 / sqrtf((float)l.hidden));
    struct cov_lstm *f = lstm_of(&l, &w);
    float *scratch = floats(cov_lstm_scratch(f));
    for (size_t i = 0; i < (size_t)T * N * 20; i++)
        x[i] =
            i < (size_t)STILL_FROM * N * 20 ? (float)cov_rng_double(&rng) : 0.05f * (float)(i % 20);
    struct cov_lstm_task tasks[N] = {{.rows = {0, T}}, {.rows = {0, T}}, {.rows = {0, T}}};
    cov_lstm_run(f, &(struct cov_lstm_batch){N, tasks, true, NULL, x, full}, scratch);
    for (size_t b = 0; b < N; b++)
        assert_true(tasks[b].x_products == (size_t)2 * T && tasks[b].h_products == (size_t)2 * T);
    cov_lstm_run(f, &(struct cov_lstm_batch){N, tasks, false, NULL, x, y}, scratch);
    for (size_t b = 0; b < N; b++) {
        /* The forward direction computes the moving rows and one more, the backward direction the
         * first row and the moving ones. */
        assert_int_equal(tasks[b].x_products, 2 * STILL_FROM + 2);
        assert_in_range(tasks[b].h_products, 2 * STILL_FROM, 2 * STILL_FROM + 200);
    }
    for (size_t i = 0; i < (size_t)T * N * 64; i++)
        assert_true(fabsf(y[i] - full[i]) < 4e-6f);
    cov_lstm_free(f);
}

/* Two units with a forget gate of 1 add to their cells during the first half of the rows, and
 * subtract from them during the second half. h and the gates rest for thousands of steps, and then
 * the count decides when the sign of h changes. A third unit depends on these two units. */
TEST(keeps_counting)
{
    enum { T = 8000, H = 3, TURN = T / 2 };
    /* Biases of the gates i, f, g and o. As a float, sigmoid(40) is 1. */
    const float bias[4 * H] = {-4, -5, 0, 40, 40, 0, 0, 0, 0, 40, 0, 0}, zero[4 * H] = {0};
    const float w_ih[4 * H] = {0, 0, 0, 0, 0, 0, 40, -40, 0, 0, 0, 0};
    float w_hh[4 * H * H] = {0};
    for (size_t g = 0; g < 4; g++) /* the third unit reads the others */
        w_hh[(g * H + 2) * H] = w_hh[(g * H + 2) * H + 1] = 1;
    const struct cov_layer l = lstm_layer(T, 1, H, 1);
    struct cov_layer_weights w = {.w_ih = {w_ih}, .w_hh = {w_hh}, .b_ih = {bias}, .b_hh = {zero}};
    struct cov_lstm *f = lstm_of(&l, &w);
    float *x = floats(T), *y = floats((size_t)T * H), *full = floats((size_t)T * H);
    float *scratch = floats(cov_lstm_scratch(f));
    double ref_state[6 * H];
    for (size_t t = 0; t < T; t++)
        x[t] = t < TURN ? 1 : -1;
    struct cov_lstm_task task = {.rows = {0, T}};
    cov_lstm_run(f, &(struct cov_lstm_batch){1, &task, true, NULL, x, full}, scratch);
    assert_int_equal(task.h_products, T);
    cov_lstm_run(f, &(struct cov_lstm_batch){1, &task, false, NULL, x, y}, scratch);
    assert_int_equal(task.x_products, 2);
    assert_true(task.h_products < T / 2);
    for (size_t i = 0; i < (size_t)T * H; i++)
        assert_true(fabsf(y[i] - full[i]) < 1e-5f);
    assert_true(y[(size_t)(TURN + 3000) * H] == 1);         /* cell 0 counted to 72 */
    assert_true(y[(size_t)(TURN + 3000) * H + 1] < -0.49f); /* cell 1 to -27, with o = 1/2 */
    assert_true(fabsf(y[(size_t)(T - 1) * H]) < 0.1f);      /* cell 0 counted back to 0 */
    cov_ref_layer(&l, &w, COV_FP32, x, full, ref_state);    /* the reference sums in double */
    for (size_t i = 0; i < (size_t)T * H; i++)
        assert_true(fabsf(y[i] - full[i]) < 0.02f);
    cov_lstm_free(f);
}

/* ---- padding ---- */

enum { PAD_T = 3000, PAD_C = 20, PAD_N = 5 };

/* Fills x[PAD_T, n, PAD_C] with n sequences: random rows, then a constant row that changes only
 * near the end. */
static void fill_padded(struct cov_rng *rng, size_t n, const size_t *filled, float *x)
{
    for (size_t t = 0; t < PAD_T; t++)
        for (size_t b = 0; b < n; b++)
            for (size_t i = 0; i < PAD_C; i++) {
                float at_end = t + 10 > PAD_T ? 0.3f : 0; /* the end of a chunk */
                x[(t * n + b) * PAD_C + i] = t < filled[b] ? (float)cov_rng_double(rng) * 2 - 1
                                                           : 0.05f * (float)i - 0.5f + at_end;
            }
}

/* Returns the number of wanted rows of the second layer: only the filled rows for some sequences,
 * all rows for others. */
static size_t wanted(size_t filled)
{
    return filled % 2 ? PAD_T : filled;
}

/* Computes y[PAD_T, n, 64] with two layers, each with its own padding. `padding` may be NULL.
 * tasks[n] are the tasks of the second layer, but their h_products count the products of both
 * layers. */
static void run_two(struct cov_lstm *const *f, const struct cov_lstm_padding *padding, size_t n,
                    const size_t *filled, struct cov_lstm_task *tasks, bool full, const float *x,
                    float *y)
{
    size_t c = 64;
    float *between = floats((size_t)PAD_T * n * c);
    float *scratch = floats(cov_lstm_scratch(f[0]) + cov_lstm_scratch(f[1]));
    size_t products[COV_LSTM_ROWS];
    for (size_t i = 0; i < (size_t)PAD_T * n * c; i++)
        between[i] = y[i] = NAN; /* rows that are not written must not be read */
    for (size_t b = 0; b < n; b++) {
        tasks[b] = (struct cov_lstm_task){.rows = {0, PAD_T}, .x_padded = PAD_T};
        if (padding)
            tasks[b].x_padded = cov_lstm_padded_from(f[0], padding, NULL, x + b * PAD_C, n * PAD_C);
        if (padding)
            assert_int_equal(tasks[b].x_padded, filled[b]);
    }
    cov_lstm_run(f[0], &(struct cov_lstm_batch){n, tasks, full, padding, x, between}, scratch);
    for (size_t b = 0; b < n; b++) {
        products[b] = tasks[b].x_products + tasks[b].h_products;
        tasks[b].x_padded = tasks[b].y_padded;
        tasks[b].rows = (struct cov_rows){0, wanted(filled[b])};
    }
    cov_lstm_run(f[1],
                 &(struct cov_lstm_batch){n, tasks, full, padding ? padding + 1 : NULL, between, y},
                 scratch);
    for (size_t b = 0; b < n; b++)
        tasks[b].h_products += tasks[b].x_products + products[b];
}

/* Sequences that share padding have values close to those of a full computation, need fewer
 * products than without sharing, and give the same bits with any neighbours. For some sequences all
 * rows are wanted. */
TEST(shares_padding)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 53);
    const size_t filled[PAD_N] = {100, 37, 2900, 700, 1}, none = 0;
    const struct cov_layer l[] = {lstm_layer(PAD_T, PAD_C, 32, 2), lstm_layer(PAD_T, 64, 32, 2)};
    struct cov_lstm *f[2];
    struct cov_lstm_padding padding[2];
    float *pad_x = floats((size_t)PAD_T * PAD_C);
    fill_padded(&rng, 1, &none, pad_x);
    for (size_t i = 0; i < 2; i++) {
        struct cov_layer_weights w = draw_weights(&rng, &l[i], 1 / sqrtf((float)l[i].hidden));
        f[i] = lstm_of(&l[i], &w);
        padding[i] = (struct cov_lstm_padding){.x = i ? padding[0].y : pad_x,
                                               .last = i > 0,
                                               .y = floats((size_t)PAD_T * 64),
                                               .cells = floats((size_t)PAD_T * 32)};
        cov_lstm_run_padding(f[i], &padding[i], floats(cov_lstm_scratch(f[i])));
    }
    size_t n_x = (size_t)PAD_T * PAD_C, n_y = (size_t)PAD_T * 64;
    float *x = floats(PAD_N * n_x), *y = floats(PAD_N * n_y), *full = floats(PAD_N * n_y);
    float *one = floats(n_x), *got = floats(n_y), *want = floats(n_y), *alone = floats(n_y);
    struct cov_lstm_task tasks[PAD_N], by_itself[PAD_N], task;
    fill_padded(&rng, PAD_N, filled, x);
    run_two(f, NULL, PAD_N, filled, by_itself, true, x, full);
    run_two(f, NULL, PAD_N, filled, by_itself, false, x, y);
    run_two(f, padding, PAD_N, filled, tasks, false, x, y);
    for (size_t b = 0; b < PAD_N; b++) {
        take_chunk(x, PAD_T, PAD_N, PAD_C, b, one);
        take_chunk(y, PAD_T, PAD_N, 64, b, got);
        take_chunk(full, PAD_T, PAD_N, 64, b, want);
        for (size_t i = 0; i < wanted(filled[b]) * 64; i++)
            assert_true(fabsf(got[i] - want[i]) < 4e-6f);
        run_two(f, padding, 1, &filled[b], &task, false, one, alone);
        assert_memory_equal(got, alone, wanted(filled[b]) * 64 * sizeof *got);
        assert_true(task.h_products == tasks[b].h_products);
        assert_true(tasks[b].h_products + 30 < by_itself[b].h_products);
    }
    /* A task that consists only of padding does not read x, and runs only the forward direction. */
    float *scratch = floats(cov_lstm_scratch(f[0]));
    task = (struct cov_lstm_task){.rows = {0, PAD_T}, .x_padded = 0};
    cov_lstm_run(f[0], &(struct cov_lstm_batch){1, &task, false, padding, NULL, alone}, scratch);
    assert_int_equal(task.y_padded, 0);
    assert_in_range(task.x_products, 1, 20);
    for (size_t t = 0; t < PAD_T; t++)
        assert_memory_equal(alone + t * 64, padding[0].y + t * 64, 32 * sizeof *alone);
    cov_lstm_free(f[0]);
    cov_lstm_free(f[1]);
}

/* Rows of a period are merged if they differ only by rounding, but not if they differ by more. */
TEST(merges_equal_rows)
{
    enum { C = 20, T = 100 };
    struct cov_rng rng;
    cov_rng_init(&rng, 54);
    const struct cov_layer l = lstm_layer(T, C, 2, 1);
    float x[T * C];
    struct cov_layer_weights w = draw_weights(&rng, &l, 1 / sqrtf((float)l.hidden));
    struct cov_lstm *f = lstm_of(&l, &w);
    for (size_t i = 0; i < (size_t)T * C; i++)
        x[i] = (float)(i % C) * (i / C % 2 ? 1 + 0x1p-22f : 1);
    x[12 * C + 3] += 0x1p-10f;
    struct cov_row_plan plan = {.n_copies = 2, .copies = {{4, 10, 0, 4}, {14, 90, 10, 4}}};
    cov_lstm_settle(f, x, &plan);
    assert_int_equal(plan.copies[0].period, 1);
    assert_int_equal(plan.copies[1].period, 4);
    cov_lstm_free(f);
}
