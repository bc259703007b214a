/* cpu_edits.c - chunks that differ from an original in some positions: forward_edited of device.h.
 *
 * A worker keeps what the LSTM layers of its last originals computed. Of an edited chunk, the first
 * convolutions are computed again where they reach a base that differs; the LSTM layers where
 * their states differ from the kept ones; the last convolutions where they reach a row that has
 * moved. Wanted positions limit the rows of the last LSTM layer and of the convolutions after it.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/cpu_program.h"
#include "common/seq/alphabet.h"

enum {
    LINE = 16,       /* floats of a cache line */
    SUMS_ROWS = 128, /* rows of a product whose sums are kept */
    NEARBY = 256,    /* edits that are at most this far apart are computed as one */
};

static size_t in_lines(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

/* ---- an LSTM layer for sequences that differ from a known sequence in a few rows ----
 *
 * The states and cells of the known sequence are kept. A direction of an edited sequence starts
 * with those before the first row of x that moved, i.e. differs. It stops after a step whose state
 * and cells equal the kept ones, within the tolerance, and starts again where x has moved again.
 * Sums over x are kept, too, for rows of x that have not moved.
 *
 * Each running sequence has a lane, and is at a step of its own. In each round all lanes take one
 * step, whose products are computed together. */

/* The tolerance, relative to the largest value of the kept state or of the kept cells. */
#define SETTLED 0x1p-19F

/* What is kept of a layer. T = t_in, C = directions * hidden. */
struct kept {
    float *y, *cells; /* [T, C] */
    float *sums;      /* [directions, T, 4*hidden] w_ih x */
};

/* A sequence that differs from the kept one in the rows of x where x_moved[T] is not 0. */
struct lstm_edit {
    const struct kept *kept;
    const uint8_t *x_moved;
    const float *x;                /* [T, c_in]; read only where x_moved */
    struct cov_rows rows;          /* wanted rows of y, as in struct cov_lstm_task */
    uint8_t *y_moved;              /* [T] out: bit d is set where direction d differs */
    float *y;                      /* [T, C] out: filled only where y_moved */
    size_t x_products, h_products; /* out: rows of products that were computed */
};

struct lane {
    struct lstm_edit *edit;
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

size_t cov_cpu_edits_scratch(const struct cov_lstm *f)
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

static const float *kept_sums(const struct lanes *p, const struct kept *kept, size_t t)
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
                           const struct kept *const *kept)
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

/* Computes the arrays of kept[n] from x[n][T, c_in]. n <= COV_LSTM_ROWS. */
static void keep_layer(const struct cov_lstm *f, size_t n, const float *const *x,
                       const struct kept *const *kept, float *scratch)
{
    struct lanes p;
    lanes_init(&p, f, scratch);
    for (p.direction = 0; p.direction < f->layer.directions; p.direction++)
        keep_direction(&p, n, x, kept);
}

/* ---- edited sequences ---- */

/* Returns the first step from `step` on at which x has moved; end if there is none. */
static size_t next_moved(const struct lanes *p, const struct lstm_edit *edit, size_t step,
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
    const struct kept *kept = p->at[i].edit->kept;
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
static void start_edit(struct lanes *p, struct lstm_edit *edit)
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
        struct lstm_edit *edit = p->at[i].edit;
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
    return f->vec->within(hidden, a, kept, SETTLED * f->vec->largest(hidden, kept));
}

/* Stores the state of lane i after a step, unless it equals the kept one. Returns false if the lane
 * has nothing left to compute. */
static bool finish_step(struct lanes *p, size_t i)
{
    const size_t hidden = p->f->layer.hidden;
    struct lane *lane = &p->at[i];
    struct lstm_edit *edit = lane->edit;
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

static void run_direction(struct lanes *p, size_t n, struct lstm_edit *edits)
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
static void complete_rows(const struct cov_lstm *f, struct lstm_edit *edit)
{
    const size_t hidden = f->layer.hidden;
    for (size_t t = 0; t < f->layer.t_in && f->layer.directions == 2; t++) {
        if (edit->y_moved[t] != 1 && edit->y_moved[t] != 2)
            continue;
        const size_t place = 2 * t * hidden + (edit->y_moved[t] == 1 ? hidden : 0);
        memcpy(edit->y + place, edit->kept->y + place, hidden * sizeof *edit->y);
    }
}

/* Runs n <= COV_LSTM_ROWS edits side by side. The values of an edit do not depend on the others. */
static void run_edits(const struct cov_lstm *f, size_t n, struct lstm_edit *edits, float *scratch)
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

/* ---- what a worker keeps ---- */

/* What is kept of an original. */
struct original {
    uint8_t *codes; /* [L] */
    bool made;
    float *memory;       /* of the following arrays */
    struct kept *layers; /* [LSTM layers] */
    float *values;       /* [L, D], on padding, too */
};

struct cov_cpu_edits {
    struct original originals[COV_EDITED_ORIGINALS];
    uint8_t *moved[2];       /* [n_rows, T], alternating like arena.lstm */
    struct lstm_edit *edits; /* [n_rows] */
    struct cov_rows *wanted; /* [n_rows] positions */
};

bool cov_cpu_can_edit(const struct cov_cpu_program *p)
{
    const struct cov_cpu_arithmetic *a = &p->dev->arithmetic;
    return !p->dev->reference && p->lstm_beg < p->lstm_end && a->conv == COV_FP32 &&
           a->lstm == COV_FP32;
}

void cov_cpu_edits_free(struct cov_cpu_edits *edits)
{
    if (!edits)
        return;
    for (size_t i = 0; i < COV_EDITED_ORIGINALS; i++) {
        free(edits->originals[i].codes);
        free(edits->originals[i].memory);
        free(edits->originals[i].layers);
    }
    free(edits->moved[0]);
    free(edits->moved[1]);
    free(edits->edits);
    free(edits->wanted);
    free(edits);
}

/* ---- making ---- */

static size_t value_floats(const struct cov_cpu_program *p)
{
    return p->layers[0].t_in * p->layers[p->n_layers - 1].c_out;
}

static int allocate_original(const struct cov_cpu_program *p, struct original *o, struct cov_err *e)
{
    size_t n_floats = in_lines(value_floats(p));
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        const struct cov_layer *l = &p->layers[i];
        n_floats += 2 * in_lines(l->t_in * l->c_out) + in_lines(4 * l->t_in * l->c_out);
    }
    o->codes = cov_malloc(p->layers[0].t_in, 1, e);
    o->layers = cov_calloc(p->lstm_end - p->lstm_beg, sizeof *o->layers, e);
    o->memory = cov_malloc_huge(n_floats, sizeof *o->memory, e);
    if (!o->codes || !o->layers || !o->memory)
        return COV_ENOMEM;
    float *at = o->values = o->memory;
    at += in_lines(value_floats(p));
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        const struct cov_layer *l = &p->layers[i];
        struct kept *to = &o->layers[i - p->lstm_beg];
        to->y = at;
        to->cells = to->y + in_lines(l->t_in * l->c_out);
        to->sums = to->cells + in_lines(l->t_in * l->c_out);
        at = to->sums + in_lines(4 * l->t_in * l->c_out);
    }
    return COV_OK;
}

static int allocate(const struct cov_cpu_program *p, struct cov_cpu_arena *a, struct cov_err *e)
{
    const size_t T = p->layers[p->lstm_beg].t_in;
    struct cov_cpu_edits *edits = cov_calloc(1, sizeof *edits, e);
    if (!edits)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_EDITED_ORIGINALS; i++)
        rc = allocate_original(p, &edits->originals[i], e);
    edits->moved[0] = cov_malloc(p->n_rows, T, e);
    edits->moved[1] = cov_malloc(p->n_rows, T, e);
    edits->edits = cov_calloc(p->n_rows, sizeof *edits->edits, e);
    edits->wanted = cov_calloc(p->n_rows, sizeof *edits->wanted, e);
    if (!rc && (!edits->moved[0] || !edits->moved[1] || !edits->edits || !edits->wanted))
        rc = COV_ENOMEM;
    if (rc)
        cov_cpu_edits_free(edits);
    else
        a->edits = edits;
    return rc;
}

/* ---- originals ---- */

/* Computes n originals side by side. */
static void make_originals(const struct cov_cpu_program *p, struct cov_cpu_arena *a, size_t n,
                           struct original *const *originals)
{
    const size_t floats = cov_cpu_lstm_floats(p->layers, p->n_layers);
    const struct cov_layer *last = &p->layers[p->n_layers - 1];
    const float *x[COV_EDITED_ORIGINALS];
    const struct kept *kept[COV_EDITED_ORIGINALS];
    cov_plan_full(p->layers, p->n_layers, a->plans);
    for (size_t b = 0; b < n; b++) {
        float *y = a->lstm[b % 2] + b / 2 * floats;
        const struct cov_layer_io io = {.y = y, .y_stride = p->layers[p->lstm_beg].c_in};
        (void)cov_cpu_run_rows(p, a, a->plans, (struct cov_rows){0, p->lstm_beg},
                               originals[b]->codes, &io);
        x[b] = y;
    }
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        for (size_t b = 0; b < n; b++)
            kept[b] = &originals[b]->layers[i - p->lstm_beg];
        keep_layer(p->lstm[i], n, x, kept, a->scratch);
        for (size_t b = 0; b < n; b++)
            x[b] = kept[b]->y;
    }
    for (size_t b = 0; b < n; b++) {
        const struct cov_layer_io io = {x[b], p->layers[p->lstm_end - 1].c_out,
                                        originals[b]->values, last->c_out};
        (void)cov_cpu_run_rows(p, a, a->plans, (struct cov_rows){p->lstm_end, p->n_layers}, NULL,
                               &io);
        originals[b]->made = true;
        cov_cpu_count_work(p, a, p->full_work);
    }
}

/* Sets found[n_originals] to the originals of a call, those of the last call or new ones. */
static void find_originals(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                           const struct cov_edited_chunks *chunks, struct original **found)
{
    const size_t L = p->layers[0].t_in;
    struct original *new[COV_EDITED_ORIGINALS];
    bool used[COV_EDITED_ORIGINALS] = {false};
    size_t n_new = 0;
    for (size_t b = 0; b < chunks->n_originals; b++) {
        found[b] = NULL;
        for (size_t i = 0; i < COV_EDITED_ORIGINALS; i++) {
            struct original *o = &a->edits->originals[i];
            if (!o->made || memcmp(o->codes, chunks->originals + b * L, L) != 0)
                continue;
            found[b] = o;
            used[i] = true;
        }
    }
    for (size_t b = 0, i = 0; b < chunks->n_originals; b++) {
        if (found[b])
            continue;
        while (used[i])
            i++;
        used[i] = true;
        found[b] = new[n_new++] = &a->edits->originals[i];
        memcpy(found[b]->codes, chunks->originals + b * L, L);
    }
    if (n_new > 0)
        make_originals(p, a, n_new, new);
}

/* ---- edits ---- */

/* Returns the positions from `from` on where codes differ, as far as they are nearby; empty if there
 * are none. */
static struct cov_rows next_difference(const uint8_t *a, const uint8_t *b, size_t from, size_t L)
{
    while (from < L && a[from] == b[from])
        from++;
    struct cov_rows rows = {from, from};
    for (size_t t = from; t < L && t < rows.end + NEARBY; t++)
        if (a[t] != b[t])
            rows.end = t + 1;
    return rows;
}

/* Computes the first convolutions where they reach a difference, into x[T, c_in]. Marks these rows.
 * Returns the number of multiplications. */
static double run_first(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                        const uint8_t *original, const uint8_t *codes, struct lstm_edit *edit,
                        float *x, uint8_t *moved)
{
    const size_t L = p->layers[0].t_in;
    const struct cov_rows layers = {0, p->lstm_beg};
    struct cov_layer_io io = {.y_stride = p->layers[p->lstm_beg].c_in};
    double work = 0;
    io.y = x;
    memset(moved, 0, p->layers[p->lstm_beg].t_in);
    for (struct cov_rows at = next_difference(original, codes, 0, L); at.beg < at.end;
         at = next_difference(original, codes, at.end, L)) {
        struct cov_rows rows = at;
        for (size_t i = 0; i < p->lstm_beg; i++)
            rows = cov_plan_reached(&p->layers[i], rows);
        if (rows.beg >= rows.end)
            continue;
        cov_plan_part(p->layers, layers, rows, a->plans);
        work += cov_cpu_run_rows(p, a, a->plans, layers, codes, &io);
        memset(moved + rows.beg, 1, rows.end - rows.beg);
    }
    edit->x = x;
    edit->x_moved = moved;
    return work;
}

/* Computes the last convolutions where they reach a row that has moved, and the rows are wanted. */
static double run_last(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                       const struct lstm_edit *edit, struct cov_rows wanted, float *out)
{
    const struct cov_layer *l = &p->layers[p->lstm_end - 1];
    const struct cov_rows layers = {p->lstm_end, p->n_layers};
    struct cov_rows rows = {0, l->t_in};
    while (rows.beg < rows.end && !edit->y_moved[rows.beg])
        rows.beg++;
    while (rows.beg < rows.end && !edit->y_moved[rows.end - 1])
        rows.end--;
    if (rows.beg >= rows.end)
        return 0;
    for (size_t i = layers.beg; i < layers.end; i++)
        rows = cov_plan_reached(&p->layers[i], rows);
    rows.beg = rows.beg > wanted.beg ? rows.beg : wanted.beg;
    rows.end = rows.end < wanted.end ? rows.end : wanted.end;
    if (rows.beg >= rows.end)
        return 0;
    cov_plan_part(p->layers, layers, rows, a->plans);
    const struct cov_rows read = a->plans[p->lstm_end].ranges[0];
    for (size_t t = read.beg; t < read.end; t++)
        if (!edit->y_moved[t])
            memcpy(edit->y + t * l->c_out, edit->kept->y + t * l->c_out, l->c_out * sizeof *out);
    struct cov_layer_io io = {edit->y, l->c_out, NULL, p->layers[p->n_layers - 1].c_out};
    io.y = out;
    return cov_cpu_run_rows(p, a, a->plans, layers, NULL, &io);
}

/* Runs the LSTM layers on n edits. The wanted rows of the last layer are in edits[].rows. */
static void run_lstms(const struct cov_cpu_program *p, struct cov_cpu_arena *a, size_t n,
                      struct original *const *of, double *work)
{
    const size_t floats = cov_cpu_lstm_floats(p->layers, p->n_layers);
    const size_t T = p->layers[p->lstm_beg].t_in;
    struct lstm_edit *edits = a->edits->edits;
    struct cov_rows last[COV_LSTM_ROWS];
    for (size_t k = 0; k < n; k++)
        last[k] = edits[k].rows;
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        const struct cov_layer *l = &p->layers[i];
        const size_t to = (i - p->lstm_beg + 1) % 2;
        for (size_t k = 0; k < n; k++) {
            if (i > p->lstm_beg) {
                edits[k].x = edits[k].y;
                edits[k].x_moved = edits[k].y_moved;
            }
            edits[k].y = a->lstm[to] + k * floats;
            edits[k].y_moved = a->edits->moved[to] + k * T;
            edits[k].kept = &of[k]->layers[i - p->lstm_beg];
            edits[k].rows = last[k];
            if (i + 1 < p->lstm_end && last[k].beg < last[k].end) /* what the next layers read */
                edits[k].rows = (struct cov_rows){0, l->directions == 2 ? T : last[k].end};
        }
        run_edits(p->lstm[i], n, edits, a->scratch);
        for (size_t k = 0; k < n; k++)
            work[k] += cov_plan_work_of_lstm(l, edits[k].x_products, edits[k].h_products);
    }
}

/* Runs n <= n_rows chunks, from number `first` of the call on. */
static void run_group(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                      const struct cov_edited_chunks *chunks, struct original *const *originals,
                      struct cov_rows group, float *out)
{
    const size_t L = p->layers[0].t_in, n_values = value_floats(p), n = group.end - group.beg;
    const size_t floats = cov_cpu_lstm_floats(p->layers, p->n_layers);
    struct original *of[COV_LSTM_ROWS];
    double work[COV_LSTM_ROWS];
    for (size_t k = 0; k < n; k++) {
        const struct cov_edited_chunk *chunk = &chunks->chunks[group.beg + k];
        struct lstm_edit *edit = &a->edits->edits[k];
        of[k] = originals[chunk->of];
        work[k] = run_first(p, a, of[k]->codes, chunks->codes + (group.beg + k) * L, edit,
                            a->lstm[0] + k * floats,
                            a->edits->moved[0] + k * p->layers[p->lstm_beg].t_in);
        cov_plan_part(p->layers, (struct cov_rows){p->lstm_end, p->n_layers},
                      (struct cov_rows){chunk->beg, chunk->end}, a->plans);
        edit->rows = a->plans[p->lstm_end].n_ranges > 0 ? a->plans[p->lstm_end].ranges[0]
                                                        : (struct cov_rows){0, 0};
    }
    run_lstms(p, a, n, of, work);
    for (size_t k = 0; k < n; k++) {
        const struct cov_edited_chunk *chunk = &chunks->chunks[group.beg + k];
        float *to = out + (group.beg + k) * n_values;
        memcpy(to, of[k]->values, n_values * sizeof *to);
        work[k] +=
            run_last(p, a, &a->edits->edits[k], (struct cov_rows){chunk->beg, chunk->end}, to);
        cov_cpu_count_work(p, a, work[k]);
    }
}

/* Sets the values of padding. */
static void pad(const struct cov_cpu_program *p, const struct cov_edited_chunks *chunks, float *out)
{
    const size_t n = chunks->n * p->layers[0].t_in, D = p->layers[p->n_layers - 1].c_out;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D && chunks->codes[i] == COV_CODE_PAD; d++)
            out[i * D + d] = COV_PAD_VALUE;
}

static bool has_much_padding(const struct cov_cpu_program *p,
                             const struct cov_edited_chunks *chunks)
{
    const size_t L = p->layers[0].t_in;
    bool any = false;
    for (size_t b = 0; b < chunks->n_originals; b++) {
        size_t filled = L;
        while (filled > 0 && chunks->originals[b * L + filled - 1] == COV_CODE_PAD)
            filled--;
        any = any || filled == 0 || cov_cpu_has_much_padding(p, filled);
    }
    return any;
}

int cov_cpu_forward_edited(struct cov_program *base, unsigned worker,
                           const struct cov_edited_chunks *chunks, float *out, struct cov_err *e)
{
    struct cov_cpu_program *p = (struct cov_cpu_program *)base;
    struct cov_cpu_arena *a = &p->arenas[worker];
    struct original *originals[COV_EDITED_ORIGINALS];
    if (has_much_padding(p, chunks)) /* computing such chunks costs less than an original */
        return base->ops->forward(base, worker, chunks->n, chunks->codes, out, e);
    const int rc = a->edits ? COV_OK : allocate(p, a, e);
    if (rc)
        return rc;
    find_originals(p, a, chunks, originals);
    for (size_t i = 0; i < chunks->n; i += p->n_rows)
        run_group(p, a, chunks, originals,
                  (struct cov_rows){i, chunks->n - i < p->n_rows ? chunks->n : i + p->n_rows}, out);
    pad(p, chunks, out);
    return COV_OK;
}
