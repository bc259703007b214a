/* fused_amx_body.h - products on tiles whose results are used at once (gemm.h): a step of an LSTM,
 * and rows of a convolution in bf16; included after gemm_amx_body.h, whose tiles and order of sums
 * they use.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/kernels/vec_gates.h"

/* ---- a step of an LSTM ----
 *
 * Products of 16 units take a few hundred cycles, in which the vector units have nothing to do but
 * load tiles. So the gates of the 16 units before are computed between these instructions, spread
 * evenly, and rows that later steps need are prefetched. */

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

/* ---- rows of a convolution ----
 *
 * While tiles are multiplied, the vector units finish the panel before, and round the next rows of
 * x, which also fetches them from memory. */

/* Work between products. */
struct rows_work {
    const struct cov_gemm_rows *of;
    const float *sums; /* [rows, PAIRS_PANEL] to be finished */
    size_t row, rows;
    size_t column;
    float *y; /* row 0 at this column */
    /* Floats to be rounded; float `at` is column x_column of row x. */
    const float *x;
    size_t x_column;
    uint16_t *rounded;
    size_t at, end, share;
};

INLINE void finish_row(const struct rows_work *w, size_t r)
{
    const struct cov_finish *f = w->of->finish;
    const float *sums = w->sums + r * PAIRS_PANEL;
    float *y = w->y + r * w->of->y_stride;
#pragma GCC unroll 2
    for (int i = 0; i < PAIRS_PANEL; i += LANES) {
        size_t c = w->column + i;
        vec v = MOST(all(f->lowest), load(LANES, sums + i) + load(LANES, f->bias + c));
        store(LANES, v * load(LANES, f->scale + c) + load(LANES, f->shift + c), y + i);
    }
    __builtin_prefetch(y + PAIRS_PANEL, 1);
    __builtin_prefetch(y + PAIRS_PANEL + PAIRS_PANEL / 2, 1);
}

INLINE void round_some(struct rows_work *w, size_t n)
{
    size_t end = w->at + n * TILE_UNIT < w->end ? w->at + n * TILE_UNIT : w->end;
    for (; w->at < end; w->at += TILE_UNIT, w->x_column += TILE_UNIT) {
        if (w->x_column == w->of->channels) {
            w->x += w->of->x_stride;
            w->x_column = 0;
        }
        ROUND_32(false, w->x + w->x_column, w->rounded + w->at, NULL);
    }
}

INLINE void rows_between(void *of)
{
    struct rows_work *w = of;
    round_some(w, w->share);
    for (int i = 0; i < 2 && w->row < w->rows; i++, w->row++)
        finish_row(w, w->row);
}

INLINE void rows_panel(const struct pairs *p, const uint16_t *b, float *sums, struct rows_work *w)
{
    const struct other_work work = {rows_between, w};
    if (p->rows > TILE)
        multiply_square(false, true, true, p, b, sums, PAIRS_PANEL, false, work);
    else
        multiply_square(false, false, true, p, b, sums, PAIRS_PANEL, false, work);
}

static size_t rows_of(const struct cov_gemm_rows *of, size_t r0)
{
    return r0 >= of->m ? 0 : of->m - r0 < COV_ROWS_TILE ? of->m - r0 : COV_ROWS_TILE;
}

/* Expects the rows from r0 on to be rounded next, and `turns` calls of rows_between until then. */
static void expect_rows(const struct cov_gemm_rows *of, size_t r0, size_t turns,
                        struct rows_work *w)
{
    size_t rows = rows_of(of, r0), reach = 0;
    for (size_t i = 0; i < of->n_parts; i++) {
        size_t end = of->part[i].offset + of->part[i].b->k;
        reach = end > reach ? end : reach;
    }
    w->x = of->x + r0 * of->step / of->channels * of->x_stride;
    w->at = w->x_column = 0;
    w->end = rows > 0 ? (rows - 1) * of->step + reach : 0;
    w->share = (w->end / TILE_UNIT + turns - 1) / turns;
}

static void amx_rows_bf16(const struct cov_gemm_rows *of)
{
    _Alignas(64) uint16_t rounded[2][COV_ROWS_ROOM]; /* of a block of rows, and the next one */
    _Alignas(64) float sums[2][COV_ROWS_TILE * PAIRS_PANEL];
    size_t turns = 0, which = 0;
    for (size_t i = 0; i < of->n_parts; i++)
        turns += of->part[i].b->n / PAIRS_PANEL * (of->part[i].b->k / TILE_UNIT);
    struct rows_work w = {.of = of, .rounded = rounded[0]};
    expect_rows(of, 0, 1, &w);
    round_some(&w, w.share);
    for (size_t r0 = 0, block = 0; r0 < of->m; r0 += COV_ROWS_TILE, block ^= 1) {
        size_t rows = rows_of(of, r0);
        w.rounded = rounded[block ^ 1];
        expect_rows(of, r0 + rows, turns, &w);
        if (r0 == 0 || rows < COV_ROWS_TILE)
            configure(rows, false);
        for (size_t i = 0; i < of->n_parts; i++) {
            const struct cov_matrix *b = of->part[i].b;
            struct pairs p = {.high = rounded[block] + of->part[i].offset,
                              .stride = of->step,
                              .rows = rows,
                              .k = b->k,
                              .panel = PAIRS_PANEL,
                              .b_panel = b->k * PAIRS_PANEL};
            for (size_t j = 0; j < b->n / PAIRS_PANEL; j++, which ^= 1) {
                rows_panel(&p, b->pairs + j * p.b_panel, sums[which], &w);
                for (; w.row < w.rows; w.row++)
                    finish_row(&w, w.row);
                w.sums = sums[which];
                w.row = 0;
                w.rows = rows;
                w.column = j * PAIRS_PANEL;
                w.y = of->part[i].y + r0 * of->y_stride + w.column;
            }
        }
    }
    TILE_RELEASE();
    for (; w.row < w.rows; w.row++)
        finish_row(&w, w.row);
}
