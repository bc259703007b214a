/* lstm.c - see lstm.h: the layer, what a pass over its sequences skips, and its steps.
 *
 * Products with x are computed for a block of steps at once, those with h step by step. If all
 * sequences move, products read and write rows in place; otherwise rows are gathered. Rows of a
 * product do not depend on one another (gemm.h), so both ways give the same bits.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/lstm.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum {
    LINE = 16,        /* floats of a cache line */
    STEPS = 16,       /* the most steps of a block */
    BLOCK_ROWS = 128, /* rows for all sequences; they fit in the cache with the weights */
};
#define NONE SIZE_MAX

/* ---- making ---- */

/* Packs the transpose of w[n_gates, k]. */
static int pack_gates(const struct cov_lstm *f, const float *w, size_t k, struct cov_matrix *out,
                      struct cov_err *e)
{
    size_t n_gates = 4 * f->layer.hidden;
    float *t = cov_malloc(k * n_gates, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    for (size_t g = 0; g < n_gates; g++)
        for (size_t i = 0; i < k; i++)
            t[i * n_gates + g] = w[g * k + i];
    int rc = cov_matrix_init(f->gemm, k, n_gates, t, out, e);
    free(t);
    return rc;
}

/* Packs both weights of a direction for steps whose products and gates overlap. */
static int pack_step(const struct cov_lstm *f, const float *w_ih, const float *w_hh,
                     struct cov_matrix *out, struct cov_err *e)
{
    size_t c_in = f->layer.c_in, hidden = f->layer.hidden, n_gates = 4 * hidden;
    float *t = cov_malloc((c_in + hidden) * n_gates, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    for (size_t c = 0; c < n_gates; c++) {
        size_t gate = cov_step_column(hidden, c);
        for (size_t i = 0; i < c_in; i++)
            t[i * n_gates + c] = w_ih[gate * c_in + i];
        for (size_t i = 0; i < hidden; i++)
            t[(c_in + i) * n_gates + c] = w_hh[gate * hidden + i];
    }
    int rc = cov_matrix_init(f->gemm, c_in + hidden, n_gates, t, out, e);
    free(t);
    return rc;
}

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm_rest rest,
                 struct cov_lstm **out, struct cov_err *e)
{
    struct cov_lstm *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    size_t n_gates = 4 * layer->hidden;
    f->layer = *layer;
    f->gemm = gemm;
    f->vec = vec;
    f->rest = rest;
    f->bias = cov_calloc64(layer->directions * n_gates, sizeof(float), e);
    int rc = f->bias ? COV_OK : COV_ENOMEM;
    for (size_t d = 0; rc == COV_OK && d < layer->directions; d++) {
        rc = pack_gates(f, w->w_ih[d], layer->c_in, &f->w_ih[d], e);
        if (rc == COV_OK)
            rc = pack_gates(f, w->w_hh[d], layer->hidden, &f->w_hh[d], e);
        if (rc == COV_OK && gemm->lstm_step && cov_step_fits(layer->c_in, layer->hidden))
            rc = pack_step(f, w->w_ih[d], w->w_hh[d], &f->w_step[d], e);
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
        cov_matrix_fini(&f->w_hh[d]);
        cov_matrix_fini(&f->w_step[d]);
    }
    free(f->bias);
    free(f);
}

/* Returns the size of a row of block.x_rows. */
static size_t x_floats(const struct cov_lstm *f)
{
    return f->gemm->prepare ? f->gemm->prepared_floats(f->layer.c_in) : f->layer.c_in;
}

size_t cov_lstm_scratch(const struct cov_lstm *f)
{
    size_t hidden = f->layer.hidden, n_gates = 4 * hidden;
    return LINE + BLOCK_ROWS * (n_gates + x_floats(f)) +
           COV_LSTM_ROWS * (3 * n_gates + 2 * hidden) + hidden;
}

/* ---- one direction of a layer running over its sequences ---- */

/* The vector that a result was computed from. Vectors within `reach` of it give the same result. */
struct anchor {
    const float *at; /* NULL: nothing has been computed yet */
    float reach;     /* NAN until it is needed */
};

/* One sequence. */
struct sequence {
    size_t beg, end;    /* its steps; those before beg are the padding's */
    struct anchor x;    /* the x in its last sums over x */
    struct anchor h;    /* the h in its last gates */
    const float *gates; /* [4*hidden] its last gates, in block.sums or kept_gates */
    size_t n_alike;     /* its last steps in the padding's state */
};

/* A few steps of all sequences, whose products with x are computed together: one row for each step of
 * a sequence at which x has moved. */
struct block {
    float *x_rows; /* [BLOCK_ROWS, gathered or prepared row of x] */
    float *sums;   /* [BLOCK_ROWS, 4*hidden] sums over x, then over h, too, then gates */
    size_t row[STEPS][COV_LSTM_ROWS]; /* row of a step of a sequence; NONE */
    size_t n_moved[STEPS];            /* sequences that have a row */
};

struct pass {
    const struct cov_lstm *f;
    size_t direction; /* 0: forward, 1: backward */
    struct cov_lstm_batch io;
    float *cells_out; /* [T, hidden] receives the cells of the backward direction of a single
                       * sequence; or NULL */

    struct sequence seq[COV_LSTM_ROWS];
    float *cell;       /* [n, hidden] */
    float *x_sums;     /* [n, 4*hidden] last sums over x */
    float *kept_gates; /* [n, 4*hidden] last gates */

    struct block block;
    struct {
        float *h;    /* [n, hidden] */
        float *sums; /* [n, 4*hidden] */
    } gathered;      /* sequences that move at a step at which others rest */
    float *zeros;    /* [hidden] h before the first step */
};

/* ---- places ---- */

/* Returns the row of a step. Backward directions start at the last row. */
static size_t row_at(const struct pass *p, size_t step)
{
    return p->direction ? p->f->layer.t_in - 1 - step : step;
}

/* Returns row t of x, or the row that it is a copy of. */
static const float *planned_row(const struct cov_row_plan *plan, const float *x, size_t stride,
                                size_t t)
{
    return x + (plan ? cov_plan_source(plan, t) : t) * stride;
}

/* Returns h of sequence b at row t, a part of y. */
static float *h_at(const struct pass *p, size_t b, size_t t)
{
    const struct cov_layer *l = &p->f->layer;
    return p->io.y + ((t * p->io.n + b) * l->directions + p->direction) * l->hidden;
}

/* Returns true if sequence b computes this step. */
static bool runs(const struct pass *p, size_t b, size_t step)
{
    return step >= p->seq[b].beg && step < p->seq[b].end;
}

/* ---- sequences that rest ---- */

/* Where steps run on tiles, an x that moves is compared at one of this many steps: comparing it at
 * all of them took 1/8 of the layer's time. */
enum { COMPARED_STEPS = 4 };

/* Returns `part` times the largest |a|; if that is not finite, a distance that no vector is
 * within. */
static float reach_of(const struct cov_lstm *f, float part, size_t n, const float *a)
{
    float largest = f->vec->largest(n, a);
    return largest <= FLT_MAX ? part * largest : -1;
}

static bool is_still(const struct cov_lstm *f, float part, size_t n, const float *a,
                     struct anchor *anchor)
{
    if (a == anchor->at)
        return true;
    if (isnan(anchor->reach))
        anchor->reach = reach_of(f, part, n, anchor->at);
    return f->vec->within(n, a, anchor->at, anchor->reach);
}

/* Returns true if x of this step differs from the x in the last sums over x, or may differ. */
static bool x_moved(struct pass *p, size_t b, size_t step, const float *x)
{
    struct anchor *anchor = &p->seq[b].x;
    if (p->io.full || !anchor->at)
        return true;
    bool moves = isnan(anchor->reach) && x != anchor->at;
    if (moves && p->f->w_step[p->direction].pairs && step % COMPARED_STEPS != COMPARED_STEPS - 1)
        return true;
    return !is_still(p->f, p->f->rest.x, p->f->layer.c_in, x, anchor);
}

/* Returns true if h equals the h in the last gates. */
static bool h_rests(struct pass *p, size_t b, const float *h)
{
    return is_still(p->f, p->f->rest.h, p->f->layer.hidden, h, &p->seq[b].h);
}

/* Called before the block's sums are overwritten: copies gates that a resting sequence still
 * needs. */
static void keep_gates(struct pass *p)
{
    size_t n_gates = 4 * p->f->layer.hidden;
    for (size_t b = 0; b < p->io.n; b++) {
        float *kept = p->kept_gates + b * n_gates;
        struct sequence *s = &p->seq[b];
        if (p->block.row[0][b] != NONE || !s->gates || s->gates == kept)
            continue;
        memcpy(kept, s->gates, n_gates * sizeof *kept);
        s->gates = kept;
    }
}

/* ---- rows of the padding ---- */

/* Copies the backward half of the padding's row t of y. */
static void take_backward(const struct pass *p, size_t b, size_t t)
{
    const struct cov_layer *l = &p->f->layer;
    size_t y_row = l->directions * l->hidden;
    memcpy(p->io.y + (t * p->io.n + b) * y_row + l->hidden,
           p->io.padding->y + t * y_row + l->hidden, l->hidden * sizeof *p->io.y);
}

/* Handles rows of y before `end`, whose forward halves are not the padding's: copies only their
 * backward halves. */
static void leave_padding(const struct pass *p, size_t b, size_t end)
{
    struct cov_lstm_task *task = &p->io.tasks[b];
    for (size_t t = task->y_padded; t < end && p->f->layer.directions == 2; t++)
        take_backward(p, b, t);
    task->y_padded = end;
}

/* Called before the forward direction: sets y_padded on the assumption that the forward direction
 * settles, too. */
static void expect_padding(const struct pass *p, size_t b)
{
    struct cov_lstm_task *task = &p->io.tasks[b];
    size_t T = p->f->layer.t_in;
    task->y_padded = T;
    if (!p->io.padding || task->x_padded == T || task->rows.beg >= task->rows.end)
        return;
    task->y_padded = task->x_padded;
    if (task->rows.end == T && !p->io.padding->last)
        return;
    if (task->x_padded < task->rows.end)
        leave_padding(p, b, task->rows.end);
    task->y_padded = T;
}

/* Called after a step of the forward direction: moves y_padded past rows that differ from the
 * padding's. */
static void compare_with_padding(struct pass *p, size_t step)
{
    const struct cov_layer *l = &p->f->layer;
    const struct cov_lstm_padding *padding = p->io.padding;
    const float *h = padding->y + step * l->directions * l->hidden;
    const struct cov_lstm_rest *rest = &p->f->rest;
    float reach = NAN;
    for (size_t b = 0; b < p->io.n && !padding->last; b++) {
        const struct cov_lstm_task *task = &p->io.tasks[b];
        if (step < task->x_padded || task->rows.end < l->t_in || !runs(p, b, step))
            continue;
        if (isnan(reach)) /* each of the two may be off by rest->h */
            reach = reach_of(p->f, 2 * rest->h, l->hidden, h);
        if (!p->f->vec->within(l->hidden, h_at(p, b, step), h, reach)) {
            leave_padding(p, b, step + 1);
            p->seq[b].n_alike = 0;
        } else if (++p->seq[b].n_alike == rest->settled) {
            p->seq[b].end = step + 1;
        }
    }
}

/* Sets the state of a backward direction whose first step is seq[b].beg > 0. */
static void start_in_padding(const struct pass *p, size_t b)
{
    size_t hidden = p->f->layer.hidden, t = row_at(p, p->seq[b].beg - 1);
    take_backward(p, b, t);
    memcpy(p->cell + b * hidden, p->io.padding->cells + t * hidden, hidden * sizeof *p->cell);
}

/* ---- where padding begins ---- */

/* Returns the copy that contains row t; NULL if the row is not a copy. */
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
        struct anchor first = {x + copy->from * c_in, NAN};
        size_t n = 1;
        while (n < copy->period && is_still(f, f->rest.x, c_in, first.at + n * c_in, &first))
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
    struct anchor anchor = {NULL, NAN};
    for (; t > 0; t--) {
        const float *row = planned_row(p->input, p->x, c_in, t - 1);
        if (row != anchor.at)
            anchor = (struct anchor){row, NAN};
        if (!is_still(f, f->rest.x, c_in, planned_row(input, x, x_stride, t - 1), &anchor))
            break;
        /* Once a whole period of both copies has been compared, the rows that repeat it need no
         * comparison. */
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

/* ---- products with x, for a block of steps ---- */

/* Returns x of sequence b at row t. */
static const float *x_at(const struct pass *p, size_t b, size_t t)
{
    const struct cov_lstm_padding *padding = p->io.padding;
    const struct cov_lstm_task *task = &p->io.tasks[b];
    size_t c_in = p->f->layer.c_in;
    if (padding && t >= task->x_padded)
        return planned_row(padding->input, padding->x, c_in, t);
    return planned_row(task->input, p->io.x + b * c_in, p->io.n * c_in, t);
}

/* Prefetches x of a step of sequence b. */
static void prefetch_x(const struct pass *p, size_t b, size_t step)
{
    if (step >= p->seq[b].end)
        return;
    const float *x = x_at(p, b, row_at(p, step));
    for (size_t i = 0; i < p->f->layer.c_in; i += LINE)
        __builtin_prefetch(x + i);
}

/* Gives rows of the block to the steps first .. first+steps-1 at which x has moved, and prepares
 * them while they are in the first-level cache. Sets rows[i] to x of row i, and returns the number
 * of rows. Sets *whole to true if all steps have a row and no row of x is a copy of another. */
static size_t assign_rows(struct pass *p, size_t first, size_t steps, const float **rows,
                          bool *whole)
{
    struct block *block = &p->block;
    const struct cov_gemm *gemm = p->f->gemm;
    size_t n = p->io.n, c_in = p->f->layer.c_in, n_rows = 0;
    *whole = true;
    for (size_t s = 0; s < steps; s++) {
        size_t t = row_at(p, first + s);
        block->n_moved[s] = 0;
        for (size_t b = 0; b < n; b++) {
            block->row[s][b] = NONE;
            const float *x = runs(p, b, first + s) ? x_at(p, b, t) : NULL;
            if (x && x_moved(p, b, first + s, x)) {
                if (!gemm->lstm_step)
                    prefetch_x(p, b, first + s + 1);
                if (gemm->prepare)
                    gemm->prepare(1, c_in, x, 0, block->x_rows + n_rows * x_floats(p->f));
                p->seq[b].x = (struct anchor){x, NAN};
                block->row[s][b] = n_rows;
                rows[n_rows++] = x;
                block->n_moved[s]++;
                p->io.tasks[b].x_products++;
            }
            *whole = *whole && x == p->io.x + (t * n + b) * c_in && block->row[s][b] != NONE;
        }
    }
    return n_rows;
}

/* Computes the sums over x of the steps first .. first+steps-1 at which x has moved. Returns true
 * instead if they are left to run_whole_step. */
static bool multiply_x(struct pass *p, size_t first, size_t steps)
{
    const struct cov_layer *l = &p->f->layer;
    struct block *block = &p->block;
    const float *rows[BLOCK_ROWS], *in_place;
    bool whole;
    size_t n_rows = assign_rows(p, first, steps, rows, &whole);
    keep_gates(p);
    if (p->f->gemm->prepare) {
        if (n_rows > 0)
            p->f->gemm->run_prepared(n_rows, block->x_rows, &p->f->w_ih[p->direction], block->sums,
                                     4 * l->hidden);
        return false;
    }
    if (whole && p->f->w_step[p->direction].pairs)
        return true;
    if (whole) {
        size_t n = p->io.n, t0 = p->direction ? row_at(p, first + steps - 1) : first;
        for (size_t s = 0; s < steps; s++)
            for (size_t b = 0; b < n; b++)
                block->row[s][b] = (row_at(p, first + s) - t0) * n + b;
        in_place = p->io.x + t0 * n * l->c_in;
    } else {
        for (size_t i = 0; i < n_rows; i++)
            memcpy(block->x_rows + i * l->c_in, rows[i], l->c_in * sizeof(float));
        in_place = block->x_rows;
    }
    if (n_rows > 0)
        p->f->gemm->run(n_rows, in_place, l->c_in, &p->f->w_ih[p->direction], block->sums,
                        4 * l->hidden, false);
    return false;
}

/* ---- steps ---- */

static const float *h_before(const struct pass *p, size_t b, size_t step)
{
    return step > 0 ? h_at(p, b, row_at(p, step - 1)) : p->zeros;
}

/* Returns true if the next step needs these sums over x again; s is the step's number in a block of
 * `steps`. */
static bool wants_sums(struct pass *p, size_t b, size_t step, size_t s, size_t steps)
{
    if (step + 1 >= p->seq[b].end)
        return false;
    if (s + 1 < steps)
        return p->block.row[s + 1][b] == NONE;
    return !x_moved(p, b, step + 1, x_at(p, b, row_at(p, step + 1)));
}

/* Runs a step at which the x of all sequences has moved. */
static void step_of_all(struct pass *p, size_t step, size_t s, size_t steps)
{
    const struct cov_layer *l = &p->f->layer;
    size_t n = p->io.n, n_gates = 4 * l->hidden, y_row = l->directions * l->hidden;
    float *sums = p->block.sums + p->block.row[s][0] * n_gates;
    for (size_t b = 0; b < n; b++) {
        if (wants_sums(p, b, step, s, steps))
            memcpy(p->x_sums + b * n_gates, sums + b * n_gates, n_gates * sizeof *sums);
        p->seq[b].h = (struct anchor){h_before(p, b, step), NAN};
        p->seq[b].gates = sums + b * n_gates;
        p->io.tasks[b].h_products++;
    }
    if (step > 0)
        p->f->gemm->run(n, p->seq[0].h.at, y_row, &p->f->w_hh[p->direction], sums, n_gates, true);
    p->f->vec->lstm_cell(&(struct cov_lstm_cells){n, l->hidden, sums,
                                                  p->f->bias + p->direction * n_gates, p->cell,
                                                  h_at(p, 0, row_at(p, step)), y_row});
}

/* Does the same with products and gates at once; the sums over x have not been computed. x of the
 * step `ahead` steps later is prefetched. */
static void run_whole_step(struct pass *p, size_t step, size_t s, size_t ahead)
{
    const struct cov_layer *l = &p->f->layer;
    size_t n = p->io.n, n_gates = 4 * l->hidden, x_row = n * l->c_in;
    const float *x = p->io.x + row_at(p, step) * x_row;
    bool wanted = false;
    for (size_t b = 0; s + 1 == ahead && b < n; b++)
        wanted = wanted || wants_sums(p, b, step, s, ahead);
    if (wanted) {
        for (size_t b = 0; b < n; b++)
            p->block.row[s][b] = b;
        p->f->gemm->run(n, x, l->c_in, &p->f->w_ih[p->direction], p->block.sums, n_gates, false);
        step_of_all(p, step, s, ahead);
        return;
    }
    struct cov_lstm_step of = {.n = n,
                               .c_in = l->c_in,
                               .hidden = l->hidden,
                               .weights = &p->f->w_step[p->direction],
                               .bias = p->f->bias + p->direction * n_gates,
                               .x = x,
                               .h = step > 0 ? h_before(p, 0, step) : NULL,
                               .h_stride = l->directions * l->hidden,
                               .cell = p->cell,
                               .y = h_at(p, 0, row_at(p, step))};
    if (step + ahead < l->t_in)
        of.next_x = p->io.x + row_at(p, step + ahead) * x_row;
    if (step + 1 < l->t_in)
        of.next_y = h_at(p, 0, row_at(p, step + 1));
    p->f->gemm->lstm_step(&of);
    for (size_t b = 0; b < n; b++) {
        p->seq[b].h = (struct anchor){h_before(p, b, step), NAN};
        p->seq[b].gates = NULL; /* x moves at the next step, so nothing rests there */
        p->io.tasks[b].h_products++;
    }
}

/* Runs a step at which some sequences rest or have ended. */
static void step_of_some(struct pass *p, size_t step, size_t s)
{
    const struct cov_layer *l = &p->f->layer;
    const struct block *block = &p->block;
    size_t hidden = l->hidden, n_gates = 4 * hidden, t = row_at(p, step), n_moving = 0;
    size_t moving[COV_LSTM_ROWS];
    for (size_t b = 0; b < p->io.n; b++) {
        if (!runs(p, b, step))
            continue;
        const float *h = h_before(p, b, step);
        float *x_sums = p->x_sums + b * n_gates;
        if (block->row[s][b] != NONE)
            memcpy(x_sums, block->sums + block->row[s][b] * n_gates, n_gates * sizeof *x_sums);
        else if (h_rests(p, b, h)) {
            p->f->vec->lstm_rest(hidden, p->seq[b].gates, p->cell + b * hidden, h, h_at(p, b, t));
            continue;
        }
        p->seq[b].h = (struct anchor){h, NAN};
        memcpy(p->gathered.h + n_moving * hidden, h, hidden * sizeof *h);
        memcpy(p->gathered.sums + n_moving * n_gates, x_sums, n_gates * sizeof *x_sums);
        moving[n_moving++] = b;
        p->io.tasks[b].h_products++;
    }
    if (n_moving > 0 && step > 0)
        p->f->gemm->run(n_moving, p->gathered.h, hidden, &p->f->w_hh[p->direction],
                        p->gathered.sums, n_gates, true);
    for (size_t i = 0; i < n_moving; i++) {
        size_t b = moving[i];
        float *sums = p->gathered.sums + i * n_gates, *kept = p->kept_gates + b * n_gates;
        p->f->vec->lstm_cell(&(struct cov_lstm_cells){1, hidden, sums,
                                                      p->f->bias + p->direction * n_gates,
                                                      p->cell + b * hidden, h_at(p, b, t), hidden});
        memcpy(kept, sums, n_gates * sizeof *sums);
        p->seq[b].gates = kept;
    }
}

/* ---- directions ---- */

static void start_sequence(struct pass *p, size_t b)
{
    const struct cov_layer *l = &p->f->layer;
    const struct cov_lstm_task *task = &p->io.tasks[b];
    struct cov_rows rows = p->io.full ? (struct cov_rows){0, l->t_in} : task->rows;
    struct sequence *s = &p->seq[b];
    *s = (struct sequence){.x = {NULL, NAN}, .h = {NULL, NAN}};
    s->end = rows.beg >= rows.end ? 0 : p->direction ? l->t_in - rows.beg : rows.end;
    s->beg = p->direction && p->io.padding ? l->t_in - task->x_padded : 0;
    memset(p->cell + b * l->hidden, 0, l->hidden * sizeof *p->cell);
    if (s->beg > 0 && s->beg < s->end)
        start_in_padding(p, b);
}

static void run_direction(struct pass *p)
{
    const struct cov_layer *l = &p->f->layer;
    size_t n = p->io.n, least = l->t_in, most = 0, block_steps = BLOCK_ROWS / n;
    block_steps = block_steps < STEPS ? block_steps : STEPS;
    for (size_t b = 0; b < n; b++) {
        start_sequence(p, b);
        least = p->seq[b].beg < least ? p->seq[b].beg : least;
        most = p->seq[b].end > most ? p->seq[b].end : most;
    }
    for (size_t first = least / block_steps * block_steps; first < most; first += block_steps) {
        size_t steps = most - first < block_steps ? most - first : block_steps;
        bool at_once = multiply_x(p, first, steps);
        for (size_t s = 0; s < steps; s++) {
            size_t step = first + s;
            if (at_once)
                run_whole_step(p, step, s, steps);
            else if (p->block.n_moved[s] == n)
                step_of_all(p, step, s, steps);
            else
                step_of_some(p, step, s);
            if (p->io.padding && p->direction == 0)
                compare_with_padding(p, step);
            if (p->cells_out && p->direction == 1)
                memcpy(p->cells_out + row_at(p, step) * l->hidden, p->cell,
                       l->hidden * sizeof *p->cell);
        }
    }
}

static void run(struct pass *p, float *scratch)
{
    const struct cov_lstm *f = p->f;
    size_t hidden = f->layer.hidden, n_gates = 4 * hidden, n = p->io.n;
    p->block.x_rows = scratch + (LINE - (uintptr_t)scratch / sizeof *scratch % LINE) % LINE;
    p->block.sums = p->block.x_rows + BLOCK_ROWS * x_floats(f);
    p->gathered.sums = p->block.sums + BLOCK_ROWS * n_gates;
    p->x_sums = p->gathered.sums + n * n_gates;
    p->kept_gates = p->x_sums + n * n_gates;
    p->gathered.h = p->kept_gates + n * n_gates;
    p->cell = p->gathered.h + n * hidden;
    p->zeros = p->cell + n * hidden;
    memset(p->zeros, 0, hidden * sizeof *p->zeros);
    for (size_t b = 0; b < n; b++) {
        p->io.tasks[b].x_products = p->io.tasks[b].h_products = 0;
        expect_padding(p, b);
    }
    for (p->direction = 0; p->direction < f->layer.directions; p->direction++)
        run_direction(p);
}

void cov_lstm_run(const struct cov_lstm *f, const struct cov_lstm_batch *batch, float *scratch)
{
    struct pass pass = {.f = f, .io = *batch};
    if (batch->n > 0)
        run(&pass, scratch);
}

void cov_lstm_run_padding(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                          float *scratch)
{
    struct cov_lstm_task task = {.rows = {0, p->last ? 1 : f->layer.t_in}, .input = p->input};
    struct pass pass = {
        .f = f, .io = {.n = 1, .tasks = &task, .x = p->x, .y = p->y}, .cells_out = p->cells};
    run(&pass, scratch);
}
