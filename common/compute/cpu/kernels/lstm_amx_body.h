/* lstm_amx_body.h - a step of an LSTM (gemm_fused.h) on tiles; included after gemm_amx_body.h, whose
 * tiles and order of sums it uses.
 *
 * Products of 16 units take a few hundred cycles, in which the vector units have nothing to do but
 * load tiles. So the gates of the 16 units before are computed between these instructions, spread
 * evenly, and rows that later steps need are prefetched.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/gemm_fused.h"
#include "common/compute/cpu/kernels/vec_gates.h"

enum {
    STEP_COLUMNS = 4 * COV_STEP_UNITS,
    STEP_PANELS = STEP_COLUMNS / PAIRS_PANEL,
    STEP_ROOM = COV_STEP_ROWS * (COV_STEP_DEPTH + PAIRS_GAP),
    STEP_LINE = 16, /* floats of a cache line */
};

#define GATES_OF(split) ((split) ? GATES_CLOSE : GATES_ROUGH)

/* Work between products. */
struct between {
    const struct cov_lstm_step *s;
    const float *sums; /* [n, STEP_COLUMNS] of units `unit` and following */
    size_t unit;
    float bias[4][LANES];     /* of these units' gates, scaled */
    size_t row, rows;         /* gates of rows row .. rows-1 are left */
    size_t turns, due;        /* for 16 units; n / turns rows are due at each */
    size_t x, x_end, x_share; /* floats of next_x that are left, and how many at a time */
    size_t y, y_end;          /* cache lines of next_y that are left */
};

/* Scales the biases of units w->unit and following. */
static void scale_bias(struct between *w)
{
    for (int gate = 0; gate < 4; gate++) {
        float scale = gate == 2 ? TANH_SCALE : SIGMOID_SCALE;
        const float *bias = w->s->bias + (size_t)gate * w->s->hidden + w->unit;
        store(LANES, load(LANES, bias) * all(scale), w->bias[gate]);
    }
}

/* Computes the gates of one row as lstm_cell does. */
INLINE void open_gates(const enum gates how, const struct between *w, size_t r)
{
    const struct cov_lstm_step *s = w->s;
    const float *z = w->sums + r * STEP_COLUMNS;
    float *cell = s->cell + r * s->hidden + w->unit;
    vec i = scaled_sum(SIGMOID_SCALE, load(LANES, z), load(LANES, w->bias[0]));
    vec f = scaled_sum(SIGMOID_SCALE, load(LANES, z + LANES), load(LANES, w->bias[1]));
    vec g = scaled_sum(TANH_SCALE, load(LANES, z + 2 * LANES), load(LANES, w->bias[2]));
    vec o = scaled_sum(SIGMOID_SCALE, load(LANES, z + 3 * LANES), load(LANES, w->bias[3]));
    vec in = gated_tanh(how, g, under_gate(how, i));
    vec keep = gate_of(how, under_gate(how, f));
    vec c = keep * load(LANES, cell) + in;
    store(LANES, c, cell);
    store(LANES, shown_cell(how, c, under_gate(how, o)), s->y + r * s->h_stride + w->unit);
}

INLINE void work_between(const enum gates how, struct between *w)
{
    w->due += w->s->n;
    for (; w->due >= w->turns && w->row < w->rows; w->due -= w->turns)
        open_gates(how, w, w->row++);
    for (size_t i = 0; i < w->x_share && w->x < w->x_end; i++, w->x += STEP_LINE)
        __builtin_prefetch(w->s->next_x + w->x, 0, 2);
    if (w->y < w->y_end) {
        size_t lines = w->s->hidden / STEP_LINE;
        __builtin_prefetch(w->s->next_y + w->y / lines * w->s->h_stride + w->y % lines * STEP_LINE,
                           1);
        w->y++;
    }
}

INLINE void work_close(void *of)
{
    work_between(GATES_CLOSE, of);
}

INLINE void work_rough(void *of)
{
    work_between(GATES_ROUGH, of);
}

INLINE void finish_gates(const enum gates how, struct between *w)
{
    for (; w->row < w->rows; w->row++)
        open_gates(how, w, w->row);
}

INLINE void step_units(const bool split, const struct pairs *p, size_t group, float *sums,
                       struct between *w)
{
    const uint16_t *b = p->b + group * STEP_PANELS * p->b_panel;
    const struct other_work work = {split ? work_close : work_rough, w};
    if (p->rows <= TILE) {
        multiply_wide(split, p, b, sums, STEP_COLUMNS, false, work);
        return;
    }
    for (size_t i = 0; i < STEP_PANELS; i++)
        multiply_square(split, true, true, p, b + i * p->b_panel, sums + i * PAIRS_PANEL,
                        STEP_COLUMNS, false, work);
}

INLINE void run_step(const bool split, const struct cov_lstm_step *s)
{
    _Alignas(64) uint16_t high[STEP_ROOM], low[STEP_ROOM];
    _Alignas(64) float sums[2][COV_STEP_ROWS * STEP_COLUMNS];
    const size_t row = PAIRS_PANEL * (split ? 2 : 1), depth = s->c_in + s->hidden;
    const size_t n_groups = s->hidden / COV_STEP_UNITS;
    struct pairs p = {.split = split,
                      .high = high,
                      .low = low,
                      .stride = depth + PAIRS_GAP,
                      .rows = s->n,
                      .k = s->h ? depth : s->c_in,
                      .panel = PAIRS_PANEL,
                      .b_panel = depth * row,
                      .b = s->weights->pairs};
    struct between w = {.s = s,
                        .x_end = s->next_x ? s->n * s->c_in : 0,
                        .y_end = s->next_y ? s->n * (s->hidden / STEP_LINE) : 0};
    w.turns = p.k / TILE_UNIT * (s->n > TILE ? STEP_PANELS : 1) * (split ? 2 : 1);
    w.x_share = (w.x_end / STEP_LINE + n_groups * w.turns - 1) / (n_groups * w.turns);
    for (size_t r = 0; r < s->n; r++) {
        uint16_t *to = high + r * p.stride, *to_low = low + r * p.stride;
        round_row(split, s->c_in, s->x + r * s->c_in, to, to_low);
        if (s->h)
            round_row(split, s->hidden, s->h + r * s->h_stride, to + s->c_in, to_low + s->c_in);
    }
    configure(s->n, s->n <= TILE);
    for (size_t u = 0; u < n_groups; u++) {
        step_units(split, &p, u, sums[u % 2], &w);
        finish_gates(GATES_OF(split), &w);
        w.sums = sums[u % 2];
        w.unit = u * COV_STEP_UNITS;
        scale_bias(&w);
        w.row = w.due = 0;
        w.rows = s->n;
    }
    TILE_RELEASE();
    finish_gates(GATES_OF(split), &w);
}

static void amx_lstm_bf16(const struct cov_lstm_step *s)
{
    run_step(false, s);
}

static void amx_lstm_bf16x3(const struct cov_lstm_step *s)
{
    run_step(true, s);
}
