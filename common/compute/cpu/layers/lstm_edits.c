/* lstm_edits.c - see lstm_edits.h.
 *
 * Each running sequence has a lane, and is at a step of its own. In each round all lanes take one
 * step, whose products are computed together.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/lstm_edits.h"

#include <string.h>

#include "common/compute/cpu/layers/lstm_pass.h"

enum {
    LINE = 16,       /* floats of a cache line */
    SUMS_ROWS = 128, /* rows of a product whose sums are kept */
};

struct lane {
    struct cov_lstm_edit *edit;
    size_t step, end;
};

struct lanes {
    const struct cov_lstm *f;
    size_t direction; /* 0: forward, 1: backward */
    size_t n;         /* lanes in use: 0 .. n-1 */
    struct lane at[COV_LSTM_ROWS];
    float *h, *cell;     /* [n, hidden] after the last step */
    float *gates, *sums; /* [n, 4*hidden] */
    float *x;            /* [n, c_in] */
};

static size_t in_lines(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

size_t cov_lstm_edits_scratch(const struct cov_lstm *f)
{
    const struct cov_layer *l = &f->layer;
    return LINE + COV_LSTM_ROWS *
                      (2 * in_lines(l->hidden) + 2 * in_lines(4 * l->hidden) + in_lines(l->c_in));
}

static void lanes_init(struct lanes *p, const struct cov_lstm *f, float *scratch)
{
    const struct cov_layer *l = &f->layer;
    *p = (struct lanes){.f = f};
    p->h = scratch + (LINE - (uintptr_t)scratch / sizeof *scratch % LINE) % LINE;
    p->cell = p->h + COV_LSTM_ROWS * in_lines(l->hidden);
    p->gates = p->cell + COV_LSTM_ROWS * in_lines(l->hidden);
    p->sums = p->gates + COV_LSTM_ROWS * in_lines(4 * l->hidden);
    p->x = p->sums + COV_LSTM_ROWS * in_lines(4 * l->hidden);
}

/* ---- places ---- */

/* Returns the row of a step. Backward directions start at the last row. */
static size_t row_of(const struct lanes *p, size_t step)
{
    return p->direction ? p->f->layer.t_in - 1 - step : step;
}

/* Returns the place of the direction's values in row t of y or cells. */
static size_t place_of(const struct lanes *p, size_t t)
{
    const struct cov_layer *l = &p->f->layer;
    return (t * l->directions + p->direction) * l->hidden;
}

static const float *kept_sums(const struct lanes *p, const struct cov_lstm_kept *kept, size_t t)
{
    const struct cov_layer *l = &p->f->layer;
    return kept->sums + (p->direction * l->t_in + t) * 4 * l->hidden;
}

/* ---- products ---- */

/* sums[n, 4*hidden] = x[n, c_in] w_ih. */
static void multiply_x(const struct lanes *p, size_t n, const float *x, float *sums)
{
    const struct cov_layer *l = &p->f->layer;
    p->f->gemm->run(n, x, l->c_in, &p->f->w_ih[p->direction], sums, 4 * l->hidden, false);
}

/* Takes a step of n lanes, whose gates are the sums over x. */
static void take_step(struct lanes *p, size_t n)
{
    const struct cov_layer *l = &p->f->layer;
    const size_t n_gates = 4 * l->hidden;
    p->f->gemm->run(n, p->h, l->hidden, &p->f->w_hh[p->direction], p->gates, n_gates, true);
    p->f->vec->lstm_cell(&(struct cov_lstm_cells){
        n, l->hidden, p->gates, p->f->bias + p->direction * n_gates, p->cell, p->h, l->hidden});
}

/* ---- the kept sequences ---- */

static void keep_direction(struct lanes *p, size_t n, const float *const *x,
                           const struct cov_lstm_kept *const *kept)
{
    const struct cov_layer *l = &p->f->layer;
    const size_t hidden = l->hidden, n_gates = 4 * hidden;
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < l->t_in; t += SUMS_ROWS)
            multiply_x(p, l->t_in - t < SUMS_ROWS ? l->t_in - t : SUMS_ROWS, x[i] + t * l->c_in,
                       kept[i]->sums + (p->direction * l->t_in + t) * n_gates);
    memset(p->h, 0, n * hidden * sizeof *p->h);
    memset(p->cell, 0, n * hidden * sizeof *p->cell);
    for (size_t step = 0; step < l->t_in; step++) {
        const size_t t = row_of(p, step), place = place_of(p, t);
        for (size_t i = 0; i < n; i++)
            memcpy(p->gates + i * n_gates, kept_sums(p, kept[i], t), n_gates * sizeof *p->gates);
        take_step(p, n);
        for (size_t i = 0; i < n; i++) {
            memcpy(kept[i]->y + place, p->h + i * hidden, hidden * sizeof *p->h);
            memcpy(kept[i]->cells + place, p->cell + i * hidden, hidden * sizeof *p->cell);
        }
    }
}

void cov_lstm_keep(const struct cov_lstm *f, size_t n, const float *const *x,
                   const struct cov_lstm_kept *const *kept, float *scratch)
{
    struct lanes p;
    lanes_init(&p, f, scratch);
    for (p.direction = 0; p.direction < f->layer.directions; p.direction++)
        keep_direction(&p, n, x, kept);
}

/* ---- edited sequences ---- */

/* Returns the first step from `step` on at which x has moved; end if there is none. */
static size_t next_moved(const struct lanes *p, const struct cov_lstm_edit *edit, size_t step,
                         size_t end)
{
    while (step < end && !edit->x_moved[row_of(p, step)])
        step++;
    return step;
}

/* Lets lane i start at a step with the kept state. */
static void start_at(struct lanes *p, size_t i, size_t step)
{
    const size_t hidden = p->f->layer.hidden;
    const struct cov_lstm_kept *kept = p->at[i].edit->kept;
    float *h = p->h + i * hidden, *cell = p->cell + i * hidden;
    p->at[i].step = step;
    if (step == 0) {
        memset(h, 0, hidden * sizeof *h);
        memset(cell, 0, hidden * sizeof *cell);
    } else {
        const size_t place = place_of(p, row_of(p, step - 1));
        memcpy(h, kept->y + place, hidden * sizeof *h);
        memcpy(cell, kept->cells + place, hidden * sizeof *cell);
    }
}

/* Gives an edit a lane, if it has something to compute. */
static void start_edit(struct lanes *p, struct cov_lstm_edit *edit)
{
    const size_t T = p->f->layer.t_in;
    const size_t end = edit->rows.beg >= edit->rows.end ? 0
                       : p->direction                   ? T - edit->rows.beg
                                                        : edit->rows.end;
    const size_t step = next_moved(p, edit, 0, end);
    if (step == end)
        return;
    p->at[p->n] = (struct lane){.edit = edit, .end = end};
    start_at(p, p->n++, step);
}

/* Frees lane i; the last lane takes its place. */
static void end_lane(struct lanes *p, size_t i)
{
    const size_t hidden = p->f->layer.hidden, last = --p->n;
    if (i == last)
        return;
    p->at[i] = p->at[last];
    memcpy(p->h + i * hidden, p->h + last * hidden, hidden * sizeof *p->h);
    memcpy(p->cell + i * hidden, p->cell + last * hidden, hidden * sizeof *p->cell);
}

/* Sets the gates of all lanes to the sums over x: the kept ones, or new ones where x has moved. */
static void sum_x(struct lanes *p)
{
    const struct cov_layer *l = &p->f->layer;
    const size_t n_gates = 4 * l->hidden;
    size_t moved[COV_LSTM_ROWS], n_moved = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct cov_lstm_edit *edit = p->at[i].edit;
        const size_t t = row_of(p, p->at[i].step);
        if (edit->x_moved[t]) {
            memcpy(p->x + n_moved * l->c_in, edit->x + t * l->c_in, l->c_in * sizeof *p->x);
            moved[n_moved++] = i;
            edit->x_products++;
        } else {
            memcpy(p->gates + i * n_gates, kept_sums(p, edit->kept, t), n_gates * sizeof *p->gates);
        }
        edit->h_products++;
    }
    if (n_moved == 0)
        return;
    multiply_x(p, n_moved, p->x, p->sums);
    for (size_t k = 0; k < n_moved; k++)
        memcpy(p->gates + moved[k] * n_gates, p->sums + k * n_gates, n_gates * sizeof *p->gates);
}

static bool equals(const struct cov_lstm *f, const float *a, const float *kept)
{
    const size_t hidden = f->layer.hidden;
    return f->vec->within(hidden, a, kept, COV_LSTM_SETTLED * f->vec->largest(hidden, kept));
}

/* Stores the state of lane i after a step, unless it equals the kept one. Returns false if the lane
 * has nothing left to compute. */
static bool finish_step(struct lanes *p, size_t i)
{
    const size_t hidden = p->f->layer.hidden;
    struct lane *lane = &p->at[i];
    struct cov_lstm_edit *edit = lane->edit;
    const size_t t = row_of(p, lane->step++), place = place_of(p, t);
    const float *h = p->h + i * hidden, *cell = p->cell + i * hidden;
    if (equals(p->f, h, edit->kept->y + place) && equals(p->f, cell, edit->kept->cells + place)) {
        const size_t next = next_moved(p, edit, lane->step, lane->end);
        if (next > lane->step && next < lane->end)
            start_at(p, i, next);
        lane->step = next;
    } else {
        edit->y_moved[t] |= (uint8_t)(1U << p->direction);
        memcpy(edit->y + place, h, hidden * sizeof *h);
    }
    return lane->step < lane->end;
}

static void run_direction(struct lanes *p, size_t n, struct cov_lstm_edit *edits)
{
    p->n = 0;
    for (size_t i = 0; i < n; i++)
        start_edit(p, &edits[i]);
    while (p->n > 0) {
        sum_x(p);
        take_step(p, p->n);
        for (size_t i = p->n; i-- > 0;)
            if (!finish_step(p, i))
                end_lane(p, i);
    }
}

/* Copies the kept half of rows of which only the other half has moved. */
static void complete_rows(const struct cov_lstm *f, struct cov_lstm_edit *edit)
{
    const size_t hidden = f->layer.hidden;
    for (size_t t = 0; t < f->layer.t_in && f->layer.directions == 2; t++) {
        if (edit->y_moved[t] != 1 && edit->y_moved[t] != 2)
            continue;
        const size_t place = 2 * t * hidden + (edit->y_moved[t] == 1 ? hidden : 0);
        memcpy(edit->y + place, edit->kept->y + place, hidden * sizeof *edit->y);
    }
}

void cov_lstm_run_edits(const struct cov_lstm *f, size_t n, struct cov_lstm_edit *edits,
                        float *scratch)
{
    struct lanes p;
    lanes_init(&p, f, scratch);
    for (size_t i = 0; i < n; i++) {
        edits[i].x_products = edits[i].h_products = 0;
        memset(edits[i].y_moved, 0, f->layer.t_in);
    }
    for (p.direction = 0; p.direction < f->layer.directions; p.direction++)
        run_direction(&p, n, edits);
    for (size_t i = 0; i < n; i++)
        complete_rows(f, &edits[i]);
}
