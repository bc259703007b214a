/* rows_amx_body.h - products of a convolution in bf16 on tiles (gemm_fused.h); included after
 * gemm_amx_body.h, whose tiles and order of sums it uses.
 *
 * While tiles are multiplied, the vector units finish the panel before, and round the next rows of
 * x, which also fetches them from memory.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/gemm_fused.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/kernels/vec_gates.h"

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
