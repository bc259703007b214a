/* lstm.c - see lstm.h.
 *
 * Products with x are made for a block of steps at once, those with h step by step. Where all
 * sequences move, both read and write rows in place; else the rows that are wanted are gathered.
 * Rows of a product do not depend on one another (gemm.h), so both ways give the same bits. Where
 * it pays, two steps of a sequence make a pair (strassen.h): an even one and the next, if x has moved
 * at both, else a step and itself.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/lstm.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/layers/strassen.h"

enum {
    STEPS = 16,       /* of a block, at most */
    BLOCK_ROWS = 192, /* and steps of all sequences: what stays in the cache beside the weights */
    AHEAD = 12,       /* rows of x */
    LINE = 16,        /* floats of a cache line */
};

struct cov_lstm {
    struct cov_layer layer;
    const struct cov_gemm *gemm;
    const struct cov_vec *vec;
    float *bias;               /* [directions, 4*hidden] */
    struct cov_matrix w_ih[2]; /* [c_in, 4*hidden]; or */
    struct cov_strassen *pairs[2];
    struct cov_matrix w_hh[2]; /* [hidden, 4*hidden] */
};

/* What something was computed of, and what that may move by: NAN until somebody asks. */
struct reference {
    const float *of; /* NULL: there is none */
    float reach;
};

/* One direction of n sequences on its way. */
struct direction {
    const struct cov_lstm *f;
    size_t d, n;
    bool full;
    struct cov_lstm_task *tasks;
    const struct cov_lstm_padding *padding; /* NULL: none */
    const float *x;
    float *y;
    float *cells; /* [T, hidden] to be filled by the backward direction of one; NULL */
    /* Scratch. A row of `block` is the sums of one step of one sequence, then its gates. */
    float *block;                         /* [BLOCK_ROWS, 4*hidden] */
    float *x_rows;                        /* [BLOCK_ROWS, x_floats] gathered, or ready, for it */
    float *h_rows;                        /* [n, hidden] gathered */
    float *moving;                        /* [n, 4*hidden] sums, then gates, for them */
    float *x_parts;                       /* [n, 4*hidden] its sums over x */
    float *resting;                       /* [n, 4*hidden] gates */
    float *cell;                          /* [n, hidden] */
    float *zeros;                         /* [hidden] */
    float *for_pairs;                     /* cov_strassen_scratch */
    size_t begin[COV_LSTM_ROWS];          /* its first step that is not the padding's */
    size_t n_steps[COV_LSTM_ROWS];        /* and where its steps end */
    struct reference x_of[COV_LSTM_ROWS]; /* of its sums over x */
    struct reference h_of[COV_LSTM_ROWS]; /* of its gates */
    const float *gates[COV_LSTM_ROWS];    /* its last gates */
    size_t place[STEPS][COV_LSTM_ROWS];   /* its row in `block`, or NONE */
    size_t n_fresh[STEPS];                /* how many have one */
};

#define NONE SIZE_MAX

/* ---- making ---- */

/* Packs the transpose of w[n_gates, k]; as *pairs, if that is not NULL. */
static int pack_gates(const struct cov_lstm *f, const float *w, size_t k, struct cov_matrix *out,
                      struct cov_strassen **pairs, struct cov_err *e)
{
    size_t n_gates = 4 * f->layer.hidden;
    float *t = cov_malloc(k * n_gates, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    for (size_t g = 0; g < n_gates; g++)
        for (size_t i = 0; i < k; i++)
            t[i * n_gates + g] = w[g * k + i];
    int rc = pairs ? cov_strassen_new(f->gemm, f->vec, k, n_gates, t, pairs, e)
                   : cov_matrix_init(f->gemm, k, n_gates, t, out, e);
    free(t);
    return rc;
}

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm **out,
                 struct cov_err *e)
{
    struct cov_lstm *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    size_t n_gates = 4 * layer->hidden;
    f->layer = *layer;
    f->gemm = gemm;
    f->vec = vec;
    f->bias = cov_calloc64(layer->directions * n_gates, sizeof(float), e);
    int rc = f->bias ? COV_OK : COV_ENOMEM;
    bool pays = cov_strassen_pays(gemm, layer->c_in, n_gates);
    for (size_t d = 0; rc == COV_OK && d < layer->directions; d++) {
        rc = pack_gates(f, w->w_ih[d], layer->c_in, &f->w_ih[d], pays ? &f->pairs[d] : NULL, e);
        if (rc == COV_OK)
            rc = pack_gates(f, w->w_hh[d], layer->hidden, &f->w_hh[d], NULL, e);
        for (size_t g = 0; g < n_gates; g++)
            f->bias[d * n_gates + g] = w->b_ih[d][g] + w->b_hh[d][g];
    }
    if (rc) {
        cov_lstm_free(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_lstm_free(struct cov_lstm *f)
{
    if (!f)
        return;
    for (size_t d = 0; d < 2; d++) {
        cov_matrix_fini(&f->w_ih[d]);
        cov_strassen_free(f->pairs[d]);
        cov_matrix_fini(&f->w_hh[d]);
    }
    free(f->bias);
    free(f);
}

/* Of a row of x_rows. */
static size_t x_floats(const struct cov_lstm *f)
{
    return f->gemm->make_ready ? f->gemm->ready_floats(f->layer.c_in) : f->layer.c_in;
}

size_t cov_lstm_scratch(const struct cov_lstm *f)
{
    size_t hidden = f->layer.hidden, n_gates = 4 * hidden;
    return LINE + BLOCK_ROWS * (n_gates + x_floats(f)) +
           COV_LSTM_ROWS * (3 * n_gates + 2 * hidden) + hidden +
           (f->pairs[0] ? cov_strassen_scratch(f->pairs[0]) : 0);
}

/* ---- running ---- */

static size_t row_of(const struct direction *r, size_t step)
{
    return r->d ? r->f->layer.t_in - 1 - step : step;
}

static const float *planned_row(const struct cov_row_plan *plan, const float *x, size_t stride,
                                size_t t)
{
    return x + (plan ? cov_plan_source(plan, t) : t) * stride;
}

/* x of a sequence at row t. */
static const float *x_at(const struct direction *r, size_t b, size_t t)
{
    const struct cov_lstm_task *task = &r->tasks[b];
    size_t c_in = r->f->layer.c_in;
    if (r->padding && t >= task->x_padded)
        return planned_row(r->padding->input, r->padding->x, c_in, t);
    return planned_row(task->input, r->x + b * c_in, r->n * c_in, t);
}

/* h of a sequence at row t. */
static float *h_at(const struct direction *r, size_t b, size_t t)
{
    const struct cov_layer *l = &r->f->layer;
    return r->y + ((t * r->n + b) * l->directions + r->d) * l->hidden;
}

/* h before this step. */
static const float *h_before(const struct direction *r, size_t b, size_t step)
{
    return step > 0 ? h_at(r, b, row_of(r, step - 1)) : r->zeros;
}

/* Whether it computes this step. */
static bool runs(const struct direction *r, size_t b, size_t step)
{
    return step >= r->begin[b] && step < r->n_steps[b];
}

/* `part` of the largest |a|; where that is not finite, what nothing is within. */
static float part_of(const struct cov_lstm *f, float part, size_t n, const float *a)
{
    float largest = f->vec->largest(n, a);
    return largest <= FLT_MAX ? part * largest : -1;
}

static bool is_still(const struct cov_lstm *f, size_t n, const float *a, struct reference *ref)
{
    if (a == ref->of)
        return true;
    if (isnan(ref->reach))
        ref->reach = part_of(f, COV_LSTM_STILL, n, ref->of);
    return f->vec->within(n, a, ref->of, ref->reach);
}

static bool moves(struct direction *r, size_t b, const float *x)
{
    return r->full || !r->x_of[b].of || !is_still(r->f, r->f->layer.c_in, x, &r->x_of[b]);
}

/* The block is about to be used again: gates that stand in it move out, where they are kept. */
static void keep_gates(struct direction *r)
{
    size_t n_gates = 4 * r->f->layer.hidden;
    for (size_t b = 0; b < r->n; b++) {
        float *kept = r->resting + b * n_gates;
        if (r->place[0][b] != NONE || !r->gates[b] || r->gates[b] == kept)
            continue;
        memcpy(kept, r->gates[b], n_gates * sizeof *kept);
        r->gates[b] = kept;
    }
}

/* The products of steps that have a place, x of which is rows[place]. */
static void multiply_pairs(struct direction *r, size_t steps, const float *const *rows)
{
    struct cov_strassen_pair pairs[BLOCK_ROWS];
    size_t n_pairs = 0, n_gates = 4 * r->f->layer.hidden;
    for (size_t s = 0; s < steps; s += 2)
        for (size_t b = 0; b < r->n; b++) {
            size_t even = r->place[s][b], odd = s + 1 < steps ? r->place[s + 1][b] : NONE;
            size_t first = even != NONE ? even : odd, second = even != NONE ? odd : NONE;
            if (first == NONE)
                continue;
            struct cov_strassen_pair *p = &pairs[n_pairs++];
            p->a[0] = rows[first];
            p->a[1] = rows[second != NONE ? second : first];
            p->c[0] = r->block + first * n_gates;
            p->c[1] = second != NONE ? r->block + second * n_gates : NULL;
        }
    cov_strassen_run(r->f->pairs[r->d], n_pairs, pairs, r->for_pairs);
}

/* The same where rows are made ready: all at once, so that the weights are read once. */
static void multiply_ready(struct direction *r, size_t n_rows, const float *const *rows)
{
    const struct cov_gemm *gemm = r->f->gemm;
    size_t c_in = r->f->layer.c_in, row = x_floats(r->f);
    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; i + AHEAD < n_rows && j < c_in; j += LINE)
            __builtin_prefetch(rows[i + AHEAD] + j);
        gemm->make_ready(1, c_in, rows[i], 0, r->x_rows + i * row);
    }
    if (n_rows > 0)
        gemm->run_ready(n_rows, r->x_rows, &r->f->w_ih[r->d], r->block, 4 * r->f->layer.hidden);
}

/* The sums over x of steps first .. first+steps-1, for those that have moved. */
static void multiply_x(struct direction *r, size_t first, size_t steps)
{
    const struct cov_layer *l = &r->f->layer;
    size_t n = r->n, n_rows = 0, t0 = r->d ? row_of(r, first + steps - 1) : first;
    const float *rows[BLOCK_ROWS], *in_place = r->x + t0 * n * l->c_in;
    bool whole = true; /* all rows, each in its place */
    for (size_t s = 0; s < steps; s++) {
        size_t t = row_of(r, first + s);
        r->n_fresh[s] = 0;
        for (size_t b = 0; b < n; b++) {
            r->place[s][b] = NONE;
            const float *x = runs(r, b, first + s) ? x_at(r, b, t) : NULL;
            if (x && moves(r, b, x)) {
                r->x_of[b] = (struct reference){x, NAN};
                r->place[s][b] = n_rows;
                rows[n_rows++] = x;
                r->n_fresh[s]++;
                r->tasks[b].x_products++;
            }
            whole = whole && x == r->x + (t * n + b) * l->c_in && r->place[s][b] != NONE;
        }
    }
    keep_gates(r);
    if (r->f->pairs[r->d]) {
        multiply_pairs(r, steps, rows);
        return;
    }
    if (r->f->gemm->make_ready) {
        multiply_ready(r, n_rows, rows);
        return;
    }
    if (whole) {
        for (size_t s = 0; s < steps; s++)
            for (size_t b = 0; b < n; b++)
                r->place[s][b] = (row_of(r, first + s) - t0) * n + b;
    } else {
        for (size_t i = 0; i < n_rows; i++)
            memcpy(r->x_rows + i * l->c_in, rows[i], l->c_in * sizeof(float));
        in_place = r->x_rows;
    }
    if (n_rows > 0)
        r->f->gemm->run(n_rows, in_place, l->c_in, &r->f->w_ih[r->d], r->block, 4 * l->hidden,
                        false);
}

/* Whether the step behind this one needs the sums over x once more. */
static bool wants_sums(struct direction *r, size_t b, size_t step, size_t s, size_t steps)
{
    if (step + 1 >= r->n_steps[b])
        return false;
    if (s + 1 < steps)
        return r->place[s + 1][b] == NONE;
    return !moves(r, b, x_at(r, b, row_of(r, step + 1)));
}

/* A step at which x of all sequences has moved; s is its number in its block of `steps`. */
static void step_of_all(struct direction *r, size_t step, size_t s, size_t steps)
{
    const struct cov_layer *l = &r->f->layer;
    size_t n = r->n, n_gates = 4 * l->hidden, y_row = l->directions * l->hidden;
    float *sums = r->block + r->place[s][0] * n_gates;
    for (size_t b = 0; b < n; b++) {
        if (wants_sums(r, b, step, s, steps))
            memcpy(r->x_parts + b * n_gates, sums + b * n_gates, n_gates * sizeof *sums);
        r->h_of[b] = (struct reference){h_before(r, b, step), NAN};
        r->gates[b] = sums + b * n_gates;
        r->tasks[b].h_products++;
    }
    if (step > 0)
        r->f->gemm->run(n, r->h_of[0].of, y_row, &r->f->w_hh[r->d], sums, n_gates, true);
    r->f->vec->lstm_cell(n, l->hidden, sums, r->f->bias + r->d * n_gates, r->cell,
                         h_at(r, 0, row_of(r, step)), y_row);
}

/* A step at which some rest, or are done. */
static void step_of_some(struct direction *r, size_t step, size_t s)
{
    const struct cov_layer *l = &r->f->layer;
    size_t hidden = l->hidden, n_gates = 4 * hidden, t = row_of(r, step), n_moving = 0;
    size_t moving[COV_LSTM_ROWS];
    for (size_t b = 0; b < r->n; b++) {
        if (!runs(r, b, step))
            continue;
        const float *h = h_before(r, b, step);
        float *x_part = r->x_parts + b * n_gates;
        if (r->place[s][b] != NONE)
            memcpy(x_part, r->block + r->place[s][b] * n_gates, n_gates * sizeof *x_part);
        else if (is_still(r->f, hidden, h, &r->h_of[b])) {
            r->f->vec->lstm_rest(hidden, r->gates[b], r->cell + b * hidden, h, h_at(r, b, t));
            continue;
        }
        r->h_of[b] = (struct reference){h, NAN};
        memcpy(r->h_rows + n_moving * hidden, h, hidden * sizeof *h);
        memcpy(r->moving + n_moving * n_gates, x_part, n_gates * sizeof *x_part);
        moving[n_moving++] = b;
        r->tasks[b].h_products++;
    }
    if (n_moving > 0 && step > 0)
        r->f->gemm->run(n_moving, r->h_rows, hidden, &r->f->w_hh[r->d], r->moving, n_gates, true);
    for (size_t i = 0; i < n_moving; i++) {
        size_t b = moving[i];
        float *sums = r->moving + i * n_gates;
        r->f->vec->lstm_cell(1, hidden, sums, r->f->bias + r->d * n_gates, r->cell + b * hidden,
                             h_at(r, b, t), hidden);
        memcpy(r->resting + b * n_gates, sums, n_gates * sizeof *sums);
        r->gates[b] = r->resting + b * n_gates;
    }
}

/* ---- rows of the padding ---- */

/* The backward half of row t of y, which the sequence has in common with the padding. */
static void take_backward(const struct direction *r, size_t b, size_t t)
{
    const struct cov_layer *l = &r->f->layer;
    size_t y_row = l->directions * l->hidden;
    memcpy(r->y + (t * r->n + b) * y_row + l->hidden, r->padding->y + t * y_row + l->hidden,
           l->hidden * sizeof *r->y);
}

/* Rows of y up to `end` are not the padding's: its part of them is copied. */
static void leave_padding(const struct direction *r, size_t b, size_t end)
{
    struct cov_lstm_task *task = &r->tasks[b];
    for (size_t t = task->y_padded; t < end && r->f->layer.directions == 2; t++)
        take_backward(r, b, t);
    task->y_padded = end;
}

/* Before the forward direction, which will tell whether y comes to be the padding's. */
static void expect_padding(const struct direction *r, size_t b)
{
    struct cov_lstm_task *task = &r->tasks[b];
    size_t T = r->f->layer.t_in;
    task->y_padded = T;
    if (!r->padding || task->x_padded == T || task->rows.beg >= task->rows.end)
        return;
    task->y_padded = task->x_padded;
    if (task->rows.end == T && !r->padding->last)
        return;
    if (task->x_padded < task->rows.end)
        leave_padding(r, b, task->rows.end);
    task->y_padded = T;
}

/* Behind a step of the forward direction. */
static void compare_with_padding(const struct direction *r, size_t step)
{
    const struct cov_layer *l = &r->f->layer;
    const float *h = r->padding->y + step * l->directions * l->hidden;
    float reach = NAN;
    for (size_t b = 0; b < r->n && !r->padding->last; b++) {
        const struct cov_lstm_task *task = &r->tasks[b];
        if (step < task->x_padded || task->rows.end < l->t_in || !runs(r, b, step))
            continue;
        if (isnan(reach))
            reach = part_of(r->f, COV_LSTM_ALIKE, l->hidden, h);
        if (!r->f->vec->within(l->hidden, h_at(r, b, step), h, reach))
            leave_padding(r, b, step + 1);
    }
}

/* The state of a backward direction that begins at its step begin[b] > 0. */
static void begin_in_padding(const struct direction *r, size_t b)
{
    size_t hidden = r->f->layer.hidden, t = row_of(r, r->begin[b] - 1);
    take_backward(r, b, t);
    memcpy(r->cell + b * hidden, r->padding->cells + t * hidden, hidden * sizeof *r->cell);
}

/* ---- directions ---- */

static void begin_sequence(struct direction *r, size_t b)
{
    const struct cov_layer *l = &r->f->layer;
    struct cov_rows rows = r->tasks[b].rows;
    if (r->full)
        rows = (struct cov_rows){0, l->t_in};
    r->n_steps[b] = rows.beg >= rows.end ? 0 : r->d ? l->t_in - rows.beg : rows.end;
    r->begin[b] = r->d && r->padding ? l->t_in - r->tasks[b].x_padded : 0;
    r->x_of[b] = r->h_of[b] = (struct reference){NULL, NAN};
    r->gates[b] = NULL;
    memset(r->cell + b * l->hidden, 0, l->hidden * sizeof *r->cell);
    if (r->begin[b] > 0 && r->begin[b] < r->n_steps[b])
        begin_in_padding(r, b);
}

static void run_direction(struct direction *r)
{
    const struct cov_layer *l = &r->f->layer;
    size_t least = l->t_in, most = 0;
    size_t block_steps = BLOCK_ROWS / r->n < STEPS ? BLOCK_ROWS / r->n : STEPS;
    block_steps -= block_steps % 2; /* pairs begin with an even step */
    for (size_t b = 0; b < r->n; b++) {
        begin_sequence(r, b);
        least = r->begin[b] < least ? r->begin[b] : least;
        most = r->n_steps[b] > most ? r->n_steps[b] : most;
    }
    for (size_t first = least / block_steps * block_steps; first < most; first += block_steps) {
        size_t steps = most - first < block_steps ? most - first : block_steps;
        multiply_x(r, first, steps);
        for (size_t s = 0; s < steps; s++) {
            size_t step = first + s;
            if (r->n_fresh[s] == r->n)
                step_of_all(r, step, s, steps);
            else
                step_of_some(r, step, s);
            if (r->padding && r->d == 0)
                compare_with_padding(r, step);
            if (r->cells && r->d == 1)
                memcpy(r->cells + row_of(r, step) * l->hidden, r->cell,
                       l->hidden * sizeof *r->cell);
        }
    }
}

static void run(const struct cov_lstm *f, struct direction *r, float *scratch)
{
    size_t hidden = f->layer.hidden, n_gates = 4 * hidden, n = r->n;
    r->f = f;
    r->x_rows = scratch + (LINE - (uintptr_t)scratch / sizeof *scratch % LINE) % LINE;
    r->block = r->x_rows + BLOCK_ROWS * x_floats(f);
    r->moving = r->block + BLOCK_ROWS * n_gates;
    r->x_parts = r->moving + n * n_gates;
    r->resting = r->x_parts + n * n_gates;
    r->h_rows = r->resting + n * n_gates;
    r->cell = r->h_rows + n * hidden;
    r->zeros = r->cell + n * hidden;
    r->for_pairs = r->zeros + hidden;
    memset(r->zeros, 0, hidden * sizeof *r->zeros);
    for (size_t b = 0; b < n; b++) {
        r->tasks[b].x_products = r->tasks[b].h_products = 0;
        expect_padding(r, b);
    }
    for (r->d = 0; r->d < f->layer.directions; r->d++)
        run_direction(r);
}

void cov_lstm_run(const struct cov_lstm *f, size_t n, struct cov_lstm_task *tasks, bool full,
                  const struct cov_lstm_padding *padding, const float *x, float *y, float *scratch)
{
    if (n == 0)
        return;
    run(f,
        &(struct direction){
            .n = n, .full = full, .tasks = tasks, .padding = padding, .x = x, .y = y},
        scratch);
}

void cov_lstm_run_padding(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                          float *scratch)
{
    struct cov_lstm_task task = {.rows = {0, p->last ? 1 : f->layer.t_in}, .input = p->input};
    run(f, &(struct direction){.n = 1, .tasks = &task, .x = p->x, .y = p->y, .cells = p->cells},
        scratch);
}

/* The copy that row t is in; NULL: it is in its place. */
static const struct cov_copy *copy_at(const struct cov_row_plan *plan, size_t t)
{
    for (size_t i = 0; plan && i < plan->n_copies; i++)
        if (t >= plan->copies[i].beg && t < plan->copies[i].end)
            return &plan->copies[i];
    return NULL;
}

void cov_lstm_settle(const struct cov_lstm *f, const float *x, struct cov_row_plan *input)
{
    size_t c_in = f->layer.c_in;
    for (size_t i = 0; i < input->n_copies; i++) {
        struct cov_copy *copy = &input->copies[i];
        struct reference first = {x + copy->from * c_in, NAN};
        size_t n = 1;
        while (n < copy->period && is_still(f, c_in, first.of + n * c_in, &first))
            n++;
        if (n == copy->period)
            copy->period = 1;
    }
}

size_t cov_lstm_padded_from(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                            const struct cov_row_plan *input, const float *x, size_t x_stride)
{
    size_t c_in = f->layer.c_in, t = f->layer.t_in, n_seen = 0;
    const struct cov_copy *seen[2] = {NULL, NULL};
    struct reference of = {NULL, NAN};
    for (; t > 0; t--) {
        const float *row = planned_row(p->input, p->x, c_in, t - 1);
        if (row != of.of)
            of = (struct reference){row, NAN};
        if (!is_still(f, c_in, planned_row(input, x, x_stride, t - 1), &of))
            break;
        /* Where a period of both is seen, so is all that repeats it. */
        const struct cov_copy *mine = copy_at(input, t - 1), *its = copy_at(p->input, t - 1);
        if (!mine || !its || mine->period % its->period)
            continue;
        size_t beg = mine->beg > its->beg ? mine->beg : its->beg;
        n_seen = mine == seen[0] && its == seen[1] ? n_seen + 1 : 1;
        seen[0] = mine;
        seen[1] = its;
        if (n_seen == mine->period)
            t = beg + 1;
    }
    return t;
}
