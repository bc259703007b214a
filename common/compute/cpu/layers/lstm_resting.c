/* lstm_resting.c - the work that an LSTM layer skips: see lstm.h and lstm_pass.h.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/compute/cpu/layers/lstm.h"
#include "common/compute/cpu/layers/lstm_pass.h"

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
                     struct cov_lstm_anchor *anchor)
{
    if (a == anchor->at)
        return true;
    if (isnan(anchor->reach))
        anchor->reach = reach_of(f, part, n, anchor->at);
    return f->vec->within(n, a, anchor->at, anchor->reach);
}

bool cov_lstm_x_moved(struct cov_lstm_pass *p, size_t b, size_t step, const float *x)
{
    struct cov_lstm_anchor *anchor = &p->seq[b].x;
    if (p->io.full || !anchor->at)
        return true;
    bool moves = isnan(anchor->reach) && x != anchor->at;
    if (moves && p->f->w_step[p->direction].pairs && step % COMPARED_STEPS != COMPARED_STEPS - 1)
        return true;
    return !is_still(p->f, p->f->rest.x, p->f->layer.c_in, x, anchor);
}

bool cov_lstm_h_rests(struct cov_lstm_pass *p, size_t b, const float *h)
{
    return is_still(p->f, p->f->rest.h, p->f->layer.hidden, h, &p->seq[b].h);
}

void cov_lstm_keep_gates(struct cov_lstm_pass *p)
{
    size_t n_gates = 4 * p->f->layer.hidden;
    for (size_t b = 0; b < p->io.n; b++) {
        float *kept = p->kept_gates + b * n_gates;
        struct cov_lstm_sequence *s = &p->seq[b];
        if (p->block.row[0][b] != COV_LSTM_NONE || !s->gates || s->gates == kept)
            continue;
        memcpy(kept, s->gates, n_gates * sizeof *kept);
        s->gates = kept;
    }
}

/* ---- rows of the padding ---- */

/* Copies the backward half of the padding's row t of y. */
static void take_backward(const struct cov_lstm_pass *p, size_t b, size_t t)
{
    const struct cov_layer *l = &p->f->layer;
    size_t y_row = l->directions * l->hidden;
    memcpy(p->io.y + (t * p->io.n + b) * y_row + l->hidden,
           p->io.padding->y + t * y_row + l->hidden, l->hidden * sizeof *p->io.y);
}

/* Handles rows of y before `end`, whose forward halves are not the padding's: copies only their
 * backward halves. */
static void leave_padding(const struct cov_lstm_pass *p, size_t b, size_t end)
{
    struct cov_lstm_task *task = &p->io.tasks[b];
    for (size_t t = task->y_padded; t < end && p->f->layer.directions == 2; t++)
        take_backward(p, b, t);
    task->y_padded = end;
}

void cov_lstm_expect_padding(const struct cov_lstm_pass *p, size_t b)
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

void cov_lstm_compare_with_padding(struct cov_lstm_pass *p, size_t step)
{
    const struct cov_layer *l = &p->f->layer;
    const struct cov_lstm_padding *padding = p->io.padding;
    const float *h = padding->y + step * l->directions * l->hidden;
    const struct cov_lstm_rest *rest = &p->f->rest;
    float reach = NAN;
    for (size_t b = 0; b < p->io.n && !padding->last; b++) {
        const struct cov_lstm_task *task = &p->io.tasks[b];
        if (step < task->x_padded || task->rows.end < l->t_in || !cov_lstm_runs(p, b, step))
            continue;
        if (isnan(reach)) /* each of the two may be off by rest->h */
            reach = reach_of(p->f, 2 * rest->h, l->hidden, h);
        if (!p->f->vec->within(l->hidden, cov_lstm_h(p, b, step), h, reach)) {
            leave_padding(p, b, step + 1);
            p->seq[b].n_alike = 0;
        } else if (++p->seq[b].n_alike == rest->settled) {
            p->seq[b].end = step + 1;
        }
    }
}

void cov_lstm_start_in_padding(const struct cov_lstm_pass *p, size_t b)
{
    size_t hidden = p->f->layer.hidden, t = cov_lstm_row(p, p->seq[b].beg - 1);
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
        struct cov_lstm_anchor first = {x + copy->from * c_in, NAN};
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
    struct cov_lstm_anchor anchor = {NULL, NAN};
    for (; t > 0; t--) {
        const float *row = cov_lstm_planned_row(p->input, p->x, c_in, t - 1);
        if (row != anchor.at)
            anchor = (struct cov_lstm_anchor){row, NAN};
        if (!is_still(f, f->rest.x, c_in, cov_lstm_planned_row(input, x, x_stride, t - 1), &anchor))
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
