/* plan.c - see plan.h. Runs are propagated from the input to the output, needed rows from the
 * output to the input.
 * SPDX-License-Identifier: MIT */
#include "common/compute/plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/alphabet.h"

/* Shorter runs are not worth copying. */
enum { MIN_RUN = 128 };

static size_t greatest_divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* a / b, b > 0, rounded down and up. */
static int64_t div_down(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int64_t div_up(int64_t a, int64_t b)
{
    return -div_down(-a, b);
}

/* v limited to [0, t]. */
static size_t clamp(int64_t v, size_t t)
{
    return v < 0 ? 0 : (size_t)v < t ? (size_t)v : t;
}

size_t cov_plan_unit(const struct cov_layer *layer)
{
    switch (layer->kind) {
    case COV_LAYER_CONV:
        return COV_PLAN_TILE;
    case COV_LAYER_CONV_TRANSPOSED:
        return COV_PLAN_TILE * layer->stride;
    case COV_LAYER_LSTM:
    case COV_LAYER_LINEAR_EXP:
        break;
    }
    return 1;
}

/* ---- runs ---- */

/* Adds the run of rows beg .. end-1 with this period, reduced to whole units of the layer. */
static void add_run(struct cov_row_plan *p, size_t unit, size_t beg, size_t end, size_t period)
{
    period = period / greatest_divisor(period, unit) * unit;
    beg = (beg + unit - 1) / unit * unit;
    end = end / unit * unit;
    if (beg < end && end - beg > period)
        p->runs[p->n_runs++] = (struct cov_copy){beg + period, end, beg, period};
}

/* Finds the runs of one code: the last COV_PLAN_RUNS of them, in ascending order. */
static void find_runs(const uint8_t *codes, size_t L, struct cov_row_plan *p)
{
    struct cov_rows found[COV_PLAN_RUNS];
    size_t n = 0;
    for (size_t end = L; end > 0 && n < COV_PLAN_RUNS;) {
        size_t beg = end - 1;
        while (beg > 0 && codes[beg - 1] == codes[end - 1])
            beg--;
        if (end - beg >= MIN_RUN)
            found[n++] = (struct cov_rows){beg, end};
        end = beg;
    }
    while (n-- > 0)
        add_run(p, 1, found[n].beg, found[n].end, 1);
}

/* Derives the runs of a layer's output from those of its input. */
static void follow_runs(const struct cov_layer *l, const struct cov_row_plan *in,
                        struct cov_row_plan *out)
{
    if (l->kind == COV_LAYER_LSTM)
        return;
    int64_t stride = (int64_t)l->stride, pad = l->pad;
    int64_t span = (int64_t)((l->kernel - 1) * l->dilation); /* from the first tap to the last */
    for (size_t i = 0; i < in->n_runs; i++) {
        const struct cov_copy *run = &in->runs[i];
        int64_t beg = (int64_t)run->from, end = (int64_t)run->end;
        size_t period = run->period;
        if (l->kind == COV_LAYER_CONV) { /* row t reads t * stride - pad ... + span */
            beg = div_up(beg + pad, stride);
            end = div_down(end - 1 - span + pad, stride) + 1;
            period /= greatest_divisor(period, l->stride);
        } else if (l->kind ==
                   COV_LAYER_CONV_TRANSPOSED) { /* (t + pad - span ... t + pad) / stride */
            beg = (beg - 1) * stride + 1 - pad + span;
            end = end * stride - pad;
            period *= l->stride;
        }
        add_run(out, cov_plan_unit(l), clamp(beg, l->t_out), clamp(end, l->t_out), period);
    }
}

/* ---- needs ---- */

/* Adds a range that does not start before the previous ones; merges adjacent ranges. */
static void add_range(struct cov_row_plan *p, size_t beg, size_t end)
{
    if (beg >= end)
        return;
    struct cov_rows *last = p->n_ranges > 0 ? &p->ranges[p->n_ranges - 1] : NULL;
    if (last && (beg <= last->end || p->n_ranges == COV_PLAN_RANGES))
        last->end = end > last->end ? end : last->end;
    else
        p->ranges[p->n_ranges++] = (struct cov_rows){beg, end};
}

/* The same, with the range extended to whole units of a layer of t rows. */
static void add_units(struct cov_row_plan *p, size_t unit, size_t t, size_t beg, size_t end)
{
    if (beg < end) {
        size_t up = (end + unit - 1) / unit * unit;
        add_range(p, beg / unit * unit, up < t ? up : t);
    }
}

/* Splits the needed rows of a layer of t rows into rows to compute and copies. The ranges
 * ascend. */
static void split(struct cov_row_plan *p, size_t unit, size_t t, const struct cov_rows *needed,
                  size_t n_needed)
{
    size_t r = 0; /* the next run */
    for (size_t i = 0; i < n_needed; i++) {
        size_t at = needed[i].beg, end = needed[i].end;
        for (; r < p->n_runs && p->runs[r].beg < end; r++) {
            const struct cov_copy *run = &p->runs[r];
            size_t beg = at > run->beg ? at : run->beg, stop = end < run->end ? end : run->end;
            if (beg >= stop)
                continue;
            add_units(p, unit, t, at < run->from ? at : run->from, run->from);
            add_units(p, unit, t, run->from, run->beg);
            p->copies[p->n_copies++] = (struct cov_copy){beg, stop, run->from, run->period};
            at = stop;
            if (run->end > end)
                break; /* more of this run may be needed */
        }
        add_units(p, unit, t, at, end);
    }
}

/* Returns the input rows that a layer reads for its output rows beg .. end-1. */
struct cov_rows cov_plan_rows_read(const struct cov_layer *l, size_t beg, size_t end)
{
    int64_t stride = (int64_t)l->stride, pad = l->pad;
    int64_t span = (int64_t)((l->kernel - 1) * l->dilation);
    int64_t first = (int64_t)beg, last = (int64_t)end - 1;
    switch (l->kind) {
    case COV_LAYER_CONV:
        return (struct cov_rows){clamp(first * stride - pad, l->t_in),
                                 clamp(last * stride - pad + span + 1, l->t_in)};
    case COV_LAYER_CONV_TRANSPOSED:
        return (struct cov_rows){clamp(div_up(first + pad - span, stride), l->t_in),
                                 clamp(div_down(last + pad, stride) + 1, l->t_in)};
    case COV_LAYER_LSTM: /* up to `end` in the forward direction, and all of them in the backward
                          * direction */
        return (struct cov_rows){0, l->directions == 2 ? l->t_in : end};
    case COV_LAYER_LINEAR_EXP:
        break;
    }
    return (struct cov_rows){beg, end};
}

static void clear(size_t n_layers, struct cov_row_plan *plans)
{
    for (size_t i = 0; i <= n_layers; i++)
        plans[i].n_ranges = plans[i].n_copies = plans[i].n_runs = 0;
}

/* Plans the rows needed for the first `filled` positions, from the runs of the input in
 * plans[0]. */
static void plan_rows(const struct cov_layer *layers, size_t n_layers, size_t filled,
                      struct cov_row_plan *plans)
{
    size_t n_needed = 0;
    struct cov_rows needed[COV_PLAN_RANGES];
    for (size_t i = 0; i < n_layers; i++)
        follow_runs(&layers[i], &plans[i], &plans[i + 1]);
    needed[n_needed++] = (struct cov_rows){0, filled};
    for (size_t i = n_layers; i > 0; i--) {
        const struct cov_layer *l = &layers[i - 1];
        struct cov_row_plan *p = &plans[i];
        if (l->kind == COV_LAYER_LSTM)
            add_range(p, needed[0].beg, needed[n_needed - 1].end);
        else
            split(p, cov_plan_unit(l), l->t_out, needed, n_needed);
        /* Ranges ascend, and so do the rows they read. */
        struct cov_row_plan read = {.n_ranges = 0};
        for (size_t k = 0; k < p->n_ranges; k++) {
            struct cov_rows rows = cov_plan_rows_read(l, p->ranges[k].beg, p->ranges[k].end);
            add_range(&read, rows.beg, rows.end);
        }
        n_needed = read.n_ranges;
        memcpy(needed, read.ranges, n_needed * sizeof *needed);
        if (n_needed == 0)
            return;
    }
    for (size_t k = 0; k < n_needed;
         k++) /* rows of the input are cheaper to compute than to copy */
        add_range(&plans[0], needed[k].beg, needed[k].end);
}

void cov_plan(const struct cov_layer *layers, size_t n_layers, const uint8_t *codes,
              struct cov_row_plan *plans)
{
    size_t filled = layers[0].t_in;
    clear(n_layers, plans);
    while (filled > 0 && codes[filled - 1] == COV_CODE_PAD)
        filled--;
    if (filled == 0)
        return;
    find_runs(codes, layers[0].t_in, &plans[0]);
    plan_rows(layers, n_layers, filled, plans);
}

void cov_plan_padding(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans)
{
    clear(n_layers, plans);
    if (layers[0].t_in >= MIN_RUN)
        add_run(&plans[0], 1, 0, layers[0].t_in, 1);
    plan_rows(layers, n_layers, 1, plans);
}

void cov_plan_full(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans)
{
    for (size_t i = 0; i <= n_layers; i++) {
        plans[i].n_ranges = 1;
        plans[i].n_copies = plans[i].n_runs = 0;
        plans[i].ranges[0] = (struct cov_rows){0, i ? layers[i - 1].t_out : layers[0].t_in};
    }
}

/* ---- parts of chunks ---- */

struct cov_rows cov_plan_reached(const struct cov_layer *l, struct cov_rows in)
{
    int64_t stride = (int64_t)l->stride, pad = l->pad;
    int64_t span = (int64_t)((l->kernel - 1) * l->dilation);
    int64_t first = (int64_t)in.beg, last = (int64_t)in.end - 1;
    if (l->kind == COV_LAYER_CONV)
        return (struct cov_rows){clamp(div_up(first + pad - span, stride), l->t_out),
                                 clamp(div_down(last + pad, stride) + 1, l->t_out)};
    if (l->kind == COV_LAYER_CONV_TRANSPOSED)
        return (struct cov_rows){clamp(first * stride - pad, l->t_out),
                                 clamp(last * stride - pad + span + 1, l->t_out)};
    return in;
}

void cov_plan_part(const struct cov_layer *layers, struct cov_rows of, struct cov_rows rows,
                   struct cov_row_plan *plans)
{
    clear(of.end - of.beg, plans + of.beg);
    for (size_t i = of.end; i > of.beg && rows.beg < rows.end; i--) {
        const struct cov_layer *l = &layers[i - 1];
        add_units(&plans[i], cov_plan_unit(l), l->t_out, rows.beg, rows.end);
        rows = cov_plan_rows_read(l, plans[i].ranges[0].beg, plans[i].ranges[0].end);
    }
    add_range(&plans[of.beg], rows.beg, rows.end);
}

/* ---- chunks that end with padding ---- */

/* Sets each ends[i] to the constant rows [head, tail) of the input of layer i, or of the output if
 * i = n_layers; empty if there are none. */
static void follow_padding(const struct cov_layer *layers, size_t n_layers, size_t filled,
                           struct cov_plan_ends *ends)
{
    struct cov_row_plan in = {.n_runs = 0}, out = {.n_runs = 0};
    if (layers[0].t_in - filled >= MIN_RUN)
        add_run(&in, 1, filled, layers[0].t_in, 1);
    for (size_t i = 0; i <= n_layers; i++) {
        ends[i] = (struct cov_plan_ends){0, 0};
        if (in.n_runs > 0)
            ends[i] = (struct cov_plan_ends){in.runs[0].from, in.runs[0].end};
        if (i == n_layers)
            return;
        out.n_runs = 0;
        follow_runs(&layers[i], &in, &out);
        in.n_runs = out.n_runs;
        in.runs[0] = out.runs[0];
    }
}

void cov_plan_padded(const struct cov_layer *layers, size_t n_layers, size_t filled,
                     struct cov_plan_ends *ends)
{
    follow_padding(layers, n_layers, filled, ends);
    struct cov_plan_ends need = {filled, layers[n_layers - 1].t_out};
    for (size_t i = n_layers; i > 0; i--) {
        const struct cov_layer *l = &layers[i - 1];
        struct cov_plan_ends run = ends[i];
        bool to_lstm = i < n_layers && layers[i].kind == COV_LAYER_LSTM;
        if (to_lstm && l->kind != COV_LAYER_LSTM && run.head + 1 < run.tail &&
            run.head + 1 < need.head)
            need =
                (struct cov_plan_ends){run.head + 1, need.head > run.tail ? run.tail : need.tail};
        ends[i] = need;
        struct cov_rows head = {0, 0}, tail = {l->t_in, l->t_in};
        if (need.head > 0)
            head = cov_plan_rows_read(l, 0, need.head);
        if (need.tail < l->t_out)
            tail = cov_plan_rows_read(l, need.tail, l->t_out);
        need = (struct cov_plan_ends){head.end, tail.beg};
        if (need.tail <= need.head)
            need = (struct cov_plan_ends){l->t_in, l->t_in};
    }
    ends[0] = need;
}

void cov_plan_padded_full(const struct cov_layer *layers, size_t n_layers,
                          struct cov_plan_ends *ends)
{
    for (size_t i = 0; i <= n_layers; i++) {
        size_t t = i ? layers[i - 1].t_out : layers[0].t_in;
        ends[i] = (struct cov_plan_ends){t, t};
    }
}

/* ---- work ---- */

double cov_plan_work_of_row(const struct cov_layer *l)
{
    switch (l->kind) {
    case COV_LAYER_CONV:
        return (double)(l->kernel * l->c_in * l->c_out);
    case COV_LAYER_CONV_TRANSPOSED:
        return (double)(l->kernel * l->c_in * l->c_out) / (double)l->stride;
    case COV_LAYER_LSTM:
        return (double)(4 * l->hidden * l->c_in);
    case COV_LAYER_LINEAR_EXP:
        break;
    }
    return (double)(l->c_in * l->c_out);
}

double cov_plan_work_of_lstm(const struct cov_layer *l, size_t x_products, size_t h_products)
{
    return (double)x_products * cov_plan_work_of_row(l) +
           (double)h_products * (double)(4 * l->hidden * l->hidden);
}

size_t cov_plan_source(const struct cov_row_plan *plan, size_t t)
{
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct cov_copy *c = &plan->copies[i];
        if (t >= c->beg && t < c->end)
            return c->from + (t - c->from) % c->period;
    }
    return t;
}

/* ---------------------------------------------------------------- the chunks of a call */

int cov_chunk_order_init(struct cov_chunk_order *o, size_t L, size_t depth, size_t max_batch,
                         struct cov_err *e)
{
    *o = (struct cov_chunk_order){.L = L, .row = L * depth};
    o->chunks = cov_calloc(max_batch, sizeof *o->chunks, e);
    o->todo = cov_calloc(max_batch, sizeof *o->todo, e);
    return o->chunks && o->todo ? COV_OK : COV_ENOMEM;
}

void cov_chunk_order_fini(struct cov_chunk_order *o)
{
    free(o->chunks);
    free(o->todo);
    free(o->all_n);
    *o = (struct cov_chunk_order){0};
}

/* Returns a hash of codes[L]: FNV-1a, one word of 64 bits at a time. */
static uint64_t hash_codes(const uint8_t *codes, size_t L)
{
    uint64_t hash = 0xcbf29ce484222325U, word;
    for (size_t i = 0; i + sizeof word <= L; i += sizeof word) {
        memcpy(&word, codes + i, sizeof word);
        hash = (hash ^ word) * 0x100000001b3U;
        hash ^= hash >> 32;
    }
    for (size_t i = L - L % sizeof word; i < L; i++)
        hash = (hash ^ codes[i]) * 0x100000001b3U;
    return hash;
}

/* Orders chunks by filled length, longest first, then by hash, so that equal chunks are
 * adjacent. */
static int compare_chunks(const void *a, const void *b)
{
    const struct cov_ordered_chunk *x = a, *y = b;
    if (x->filled != y->filled)
        return x->filled > y->filled ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash > y->hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool all_n(const uint8_t *codes, size_t L)
{
    return codes[0] == COV_CODE_N && memcmp(codes, codes + 1, L - 1) == 0;
}

/* Sorts the chunks of a call, and makes each refer to the first chunk that equals it. */
static void sort_chunks(struct cov_chunk_order *o, const uint8_t *codes)
{
    size_t L = o->L;
    for (size_t i = 0; i < o->n; i++) {
        const uint8_t *in = codes + i * L;
        size_t filled = L;
        while (filled > 0 && in[filled - 1] == COV_CODE_PAD)
            filled--;
        o->chunks[i] = (struct cov_ordered_chunk){i, i, filled, o->full ? 0 : hash_codes(in, L)};
    }
    if (o->full)
        return;
    qsort(o->chunks, o->n, sizeof *o->chunks, compare_chunks);
    for (size_t i = 1; i < o->n; i++) {
        const struct cov_ordered_chunk *before = &o->chunks[i - 1];
        struct cov_ordered_chunk *c = &o->chunks[i];
        if (c->hash == before->hash && c->filled == before->filled &&
            memcmp(codes + c->index * L, codes + before->same_as * L, L) == 0)
            c->same_as = before->same_as;
    }
}

void cov_chunk_order_begin(struct cov_chunk_order *o, size_t n, const uint8_t *codes, float *out)
{
    o->n = n;
    o->n_todo = 0;
    o->computed_n = NULL;
    sort_chunks(o, codes);
    for (size_t i = 0; i < n; i++) {
        const struct cov_ordered_chunk *c = &o->chunks[i];
        float *to = out + c->index * o->row;
        if (c->same_as != c->index)
            continue;
        bool known = !o->full && c->filled == o->L && all_n(codes + c->index * o->L, o->L);
        if (known && o->all_n) {
            memcpy(to, o->all_n, o->row * sizeof *to);
            o->n_repeated++;
            continue;
        }
        o->computed_n = known ? to : o->computed_n;
        o->todo[o->n_todo++] = *c;
    }
}

void cov_chunk_order_end(struct cov_chunk_order *o, float *out)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct cov_ordered_chunk *c = &o->chunks[i];
        if (c->same_as == c->index)
            continue;
        memcpy(out + c->index * o->row, out + c->same_as * o->row, o->row * sizeof *out);
        o->n_repeated++;
    }
    if (o->computed_n && !o->all_n) { /* without memory for them, each call recomputes them */
        o->all_n = cov_malloc(o->row, sizeof *out, NULL);
        if (o->all_n)
            memcpy(o->all_n, o->computed_n, o->row * sizeof *out);
    }
}
