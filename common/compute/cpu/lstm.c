/* lstm.c - see lstm.h.
 *
 * Products with x are made for a block of steps at once, those with h step by step. Where all
 * sequences move, both read and write rows in place; else the rows that are wanted are gathered.
 * Rows of a product do not depend on one another (gemm.h), so both ways give the same bits. Where
 * it pays, two steps of a sequence make a pair (strassen.h): an even one and the next, if x has moved
 * at both, else a step and itself.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/lstm.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/strassen.h"

enum {
    STEPS = 16,       /* of a block, at most */
    BLOCK_ROWS = 128, /* and steps of all sequences: what stays in the cache beside the weights */
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

/* One direction of n sequences on its way. */
struct direction {
    const struct cov_lstm *f;
    size_t d, n;
    bool full;
    struct cov_lstm_task *tasks;
    const float *x;
    float *y;
    /* Scratch. A row of `block` is the sums of one step of one sequence, then its gates. */
    float *block;                       /* [BLOCK_ROWS, 4*hidden] */
    float *x_rows;                      /* [BLOCK_ROWS, c_in] gathered for it */
    float *h_rows;                      /* [n, hidden] gathered */
    float *moving;                      /* [n, 4*hidden] sums, then gates, for them */
    float *x_parts;                     /* [n, 4*hidden] the sums over x of ref_x */
    float *resting;                     /* [n, 4*hidden] gates */
    float *cell;                        /* [n, hidden] */
    float *zeros;                       /* [hidden] */
    float *for_pairs;                   /* cov_strassen_scratch */
    size_t n_steps[COV_LSTM_ROWS];      /* of each sequence */
    const float *ref_x[COV_LSTM_ROWS];  /* what its sums over x are of; NULL: there are none */
    const float *ref_h[COV_LSTM_ROWS];  /* the h that its gates are of */
    const float *gates[COV_LSTM_ROWS];  /* its last gates */
    size_t place[STEPS][COV_LSTM_ROWS]; /* its row in `block`, or NONE */
    size_t n_fresh[STEPS];              /* how many have one */
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

size_t cov_lstm_scratch(const struct cov_lstm *f)
{
    size_t hidden = f->layer.hidden, n_gates = 4 * hidden;
    return BLOCK_ROWS * (n_gates + f->layer.c_in) + COV_LSTM_ROWS * (3 * n_gates + 2 * hidden) +
           hidden + (f->pairs[0] ? cov_strassen_scratch(f->pairs[0]) : 0);
}

/* ---- running ---- */

static size_t row_of(const struct direction *r, size_t step)
{
    return r->d ? r->f->layer.t_in - 1 - step : step;
}

/* x of a sequence at row t. */
static const float *x_at(const struct direction *r, size_t b, size_t t)
{
    const struct cov_row_plan *plan = r->tasks[b].input;
    if (plan)
        t = cov_plan_source(plan, t);
    return r->x + (t * r->n + b) * r->f->layer.c_in;
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

static bool moves(const struct direction *r, size_t b, const float *x)
{
    if (r->full || !r->ref_x[b])
        return true;
    return x != r->ref_x[b] && !r->f->vec->still(r->f->layer.c_in, x, r->ref_x[b]);
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
            const float *x = first + s < r->n_steps[b] ? x_at(r, b, t) : NULL;
            if (x && moves(r, b, x)) {
                r->ref_x[b] = x;
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
static bool wants_sums(const struct direction *r, size_t b, size_t step, size_t s, size_t steps)
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
        r->ref_h[b] = h_before(r, b, step);
        r->gates[b] = sums + b * n_gates;
        r->tasks[b].h_products++;
    }
    if (step > 0)
        r->f->gemm->run(n, r->ref_h[0], y_row, &r->f->w_hh[r->d], sums, n_gates, true);
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
        if (step >= r->n_steps[b])
            continue;
        const float *h = h_before(r, b, step);
        float *x_part = r->x_parts + b * n_gates;
        if (r->place[s][b] != NONE)
            memcpy(x_part, r->block + r->place[s][b] * n_gates, n_gates * sizeof *x_part);
        else if (r->f->vec->still(hidden, h, r->ref_h[b])) {
            r->f->vec->lstm_rest(hidden, r->gates[b], r->cell + b * hidden, h, h_at(r, b, t));
            continue;
        }
        r->ref_h[b] = h;
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

static void run_direction(struct direction *r)
{
    const struct cov_layer *l = &r->f->layer;
    size_t most = 0, block_steps = BLOCK_ROWS / r->n < STEPS ? BLOCK_ROWS / r->n : STEPS;
    block_steps -= block_steps % 2; /* pairs begin with an even step */
    memset(r->cell, 0, r->n * l->hidden * sizeof *r->cell);
    for (size_t b = 0; b < r->n; b++) {
        struct cov_rows rows = r->tasks[b].rows;
        if (r->full)
            rows = (struct cov_rows){0, l->t_in};
        r->n_steps[b] = rows.beg >= rows.end ? 0 : r->d ? l->t_in - rows.beg : rows.end;
        r->ref_x[b] = r->ref_h[b] = r->gates[b] = NULL;
        most = r->n_steps[b] > most ? r->n_steps[b] : most;
    }
    for (size_t first = 0; first < most; first += block_steps) {
        size_t steps = most - first < block_steps ? most - first : block_steps;
        multiply_x(r, first, steps);
        for (size_t s = 0; s < steps; s++) {
            if (r->n_fresh[s] == r->n)
                step_of_all(r, first + s, s, steps);
            else
                step_of_some(r, first + s, s);
        }
    }
}

void cov_lstm_run(const struct cov_lstm *f, size_t n, struct cov_lstm_task *tasks, bool full,
                  const float *x, float *y, float *scratch)
{
    size_t hidden = f->layer.hidden, n_gates = 4 * hidden;
    if (n == 0)
        return;
    struct direction r = {.f = f, .n = n, .full = full, .tasks = tasks, .x = x};
    r.y = y;
    r.block = scratch;
    r.x_rows = r.block + BLOCK_ROWS * n_gates;
    r.moving = r.x_rows + BLOCK_ROWS * f->layer.c_in;
    r.x_parts = r.moving + n * n_gates;
    r.resting = r.x_parts + n * n_gates;
    r.h_rows = r.resting + n * n_gates;
    r.cell = r.h_rows + n * hidden;
    r.zeros = r.cell + n * hidden;
    r.for_pairs = r.zeros + hidden;
    memset(r.zeros, 0, hidden * sizeof *r.zeros);
    for (size_t b = 0; b < n; b++)
        tasks[b].x_products = tasks[b].h_products = 0;
    for (r.d = 0; r.d < f->layer.directions; r.d++)
        run_direction(&r);
}
