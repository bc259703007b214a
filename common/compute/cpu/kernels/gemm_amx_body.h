/* gemm_amx_body.h - products of tiles of 16 rows and 16 columns, 32 of k at a time; included by
 * gemm_amx.c, and by its test with C in place of the instructions. Both define, with constant tile
 * numbers, TILE_CONFIGURE(struct tile_config *), TILE_RELEASE(), TILE_ZERO(t), TILE_LOAD(t,
 * address, row stride in bytes), TILE_STREAM (TILE_LOAD of data that is not used again soon),
 * TILE_STORE(t, ...) and TILE_DOT(sums, a, b).
 *
 * Tiles 0 to 3 hold sums, two by two; tiles 4 and 5 hold `a`, tiles 6 and 7 hold B. With at most 16
 * rows, the sums are one row of four tiles over two panels, which keeps four chains of additions
 * busy. Then tile 4 holds `a`, and tiles 5, 6 and 7 hold B.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/operands.h"

enum {
    TILE = 16,
    TILE_UNIT = 32, /* elements of k in a tile */
    TILE_BYTES = 64,
    N_TILES = 8,
    PAIRS_ROWS = 32,    /* rows at once */
    PAIRS_DEPTH = 1152, /* elements of k at once: nine taps of 128 channels */
    PAIRS_GAP = 32,     /* gap after a row, so that rows do not start in the same set of the
                         * cache */
    PAIRS_PANEL = 32,   /* columns of a wide panel */
    PAIRS_LANES = 16,   /* columns of a narrow panel */
    PAIRS_ROOM = PAIRS_ROWS * (PAIRS_DEPTH + PAIRS_GAP),
};

/* The arguments of struct cov_gemm's run: c[m,n] = a B, plus c itself if `add`. */
struct product {
    size_t m;
    const float *a;
    size_t lda;
    const struct cov_matrix *b;
    float *c;
    size_t ldc;
    bool add;
};

/* Rows of `a` in bf16, and some rows of B. */
struct pairs {
    bool split;                 /* in two terms */
    const uint16_t *high, *low; /* [rows, k], row stride `stride` */
    size_t stride, rows;
    size_t k;       /* a multiple of TILE_UNIT */
    size_t panel;   /* columns of a panel of B */
    size_t b_panel; /* distance from one panel to the next, in uint16_t */
    const uint16_t *b;
};

/* Computes the terms of 32 floats. A kernel file may define it. */
#ifndef ROUND_32
#define ROUND_32(split, x, high, low) round_floats(split, 32, x, high, low)
#endif

static inline void round_floats(bool split, size_t n, const float *restrict x,
                                uint16_t *restrict high, uint16_t *restrict low)
{
    for (size_t i = 0; i < n; i++)
        high[i] = cov_bf16_bits(x[i]);
    for (size_t i = 0; split && i < n; i++)
        low[i] = cov_bf16_bits(cov_bf16_low(x[i]));
}

/* Computes the terms of x[n]. */
static inline void round_row(bool split, size_t n, const float *restrict x, uint16_t *restrict high,
                             uint16_t *restrict low)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        ROUND_32(split, x + i, high + i, low + i);
    round_floats(split, n - i, x + i, high + i, low + i);
}

/* Rounds `k` columns of rows of `a`, with zeros up to p->k. Values that overlapping rows share are
 * rounded once. */
static void round_rows(size_t k, const float *a, size_t lda, struct pairs *p, uint16_t *high,
                       uint16_t *low)
{
    if (lda < k && k == p->k && (p->rows - 1) * lda + k <= PAIRS_ROOM) {
        p->stride = lda;
        round_row(p->split, (p->rows - 1) * lda + k, a, high, low);
        return;
    }
    p->stride = p->k + PAIRS_GAP;
    for (size_t r = 0; r < p->rows; r++) {
        uint16_t *to = high + r * p->stride, *to_low = low + r * p->stride;
        round_row(p->split, k, a + r * lda, to, to_low);
        memset(to + k, 0, (p->k - k) * sizeof *to);
        if (p->split)
            memset(to_low + k, 0, (p->k - k) * sizeof *to_low);
    }
}

/* The layout that LDTILECFG reads. */
struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Tiles of B have 16 rows; the others have the rows of the product. */
static void configure(size_t rows, bool wide)
{
    struct tile_config t = {.palette = 1};
    size_t first = rows < TILE ? rows : TILE, second = wide ? first : rows - first;
    const size_t n[N_TILES] = {first, first, second, second, first, wide ? TILE : second,
                               TILE,  TILE};
    for (size_t i = 0; i < N_TILES; i++) {
        t.rows[i] = (uint8_t)n[i];
        t.row_bytes[i] = n[i] > 0 ? TILE_BYTES : 0;
    }
    TILE_CONFIGURE(&t);
}

/* Where the tiles of `a` and B are for one step of TILE_UNIT elements of k. */
struct tile_steps {
    const uint16_t *high, *low, *b;
    size_t a_bytes, b_bytes; /* row strides */
    size_t second;           /* distance from the first row of `a` to the 17th, in uint16_t */
    size_t b_low,
        b_step; /* distance from B's first terms to its second; from one step to the next */
};

#define INLINE static inline __attribute__((always_inline))

INLINE void find_steps(const bool split, const struct pairs *p, const uint16_t *b,
                       struct tile_steps *s)
{
    *s = (struct tile_steps){.high = p->high, .low = p->low, .b = b};
    s->a_bytes = p->stride * sizeof(uint16_t);
    s->b_low = p->panel * 2;
    s->b_bytes = s->b_low * (split ? 2 : 1) * sizeof(uint16_t);
    s->second = TILE * p->stride;
    s->b_step = s->b_bytes / sizeof(uint16_t) * TILE;
}

/* Loads up to 32 rows of `a`, which points to their first or to their second terms. */
INLINE void load_a(const bool two_rows, const struct tile_steps *s, const uint16_t *a)
{
    TILE_LOAD(4, a, s->a_bytes);
    if (two_rows)
        TILE_LOAD(5, a + s->second, s->a_bytes);
}

INLINE void load_b(const bool two_cols, const struct tile_steps *s, const uint16_t *b)
{
    TILE_STREAM(6, b, s->b_bytes);
    if (two_cols)
        TILE_STREAM(7, b + TILE * 2, s->b_bytes);
}

INLINE void dot_tiles(const bool two_rows, const bool two_cols)
{
    TILE_DOT(0, 4, 6);
    if (two_cols)
        TILE_DOT(1, 4, 7);
    if (two_rows)
        TILE_DOT(2, 5, 6);
    if (two_rows && two_cols)
        TILE_DOT(3, 5, 7);
}

/* Something else to do while tiles are multiplied; it may use all registers but tiles. */
struct other_work {
    void (*some)(void *of); /* a function to be inlined; called once or twice for each step of k */
    void *of;
};

INLINE void nothing(void *of)
{
    (void)of;
}
static const struct other_work no_work = {nothing, NULL};

/* Multiplies with one panel. */
INLINE void multiply_square(const bool split, const bool two_rows, const bool two_cols,
                            const struct pairs *p, const uint16_t *b, float *c, size_t ldc,
                            bool add, const struct other_work work)
{
    size_t c_bytes = ldc * sizeof *c;
    float *below = c + (two_rows ? TILE * ldc : 0);
    struct tile_steps s;
    find_steps(split, p, b, &s);
    TILE_ZERO(0);
    TILE_ZERO(1);
    if (two_rows) {
        TILE_ZERO(2);
        TILE_ZERO(3);
    }
    if (add) {
        TILE_LOAD(0, c, c_bytes);
        if (two_cols)
            TILE_LOAD(1, c + TILE, c_bytes);
        if (two_rows)
            TILE_LOAD(2, below, c_bytes);
        if (two_rows && two_cols)
            TILE_LOAD(3, below + TILE, c_bytes);
    }
    for (size_t k = 0; k < p->k; k += TILE_UNIT, s.b += s.b_step) {
        load_a(two_rows, &s, (split ? s.low : s.high) + k);
        load_b(two_cols, &s, s.b);
        dot_tiles(two_rows, two_cols);
        if (split) {
            load_a(two_rows, &s, s.high + k);
            dot_tiles(two_rows, two_cols);
            work.some(work.of);
            load_b(two_cols, &s, s.b + s.b_low);
            dot_tiles(two_rows, two_cols);
        }
        work.some(work.of);
    }
    TILE_STORE(0, c, c_bytes);
    if (two_cols)
        TILE_STORE(1, c + TILE, c_bytes);
    if (two_rows)
        TILE_STORE(2, below, c_bytes);
    if (two_rows && two_cols)
        TILE_STORE(3, below + TILE, c_bytes);
}

/* Adds tile 4 times two panels to the sums in tiles 0 to 3. */
INLINE void dot_wide(const struct tile_steps *s, const uint16_t *b, const uint16_t *next)
{
    TILE_STREAM(5, b, s->b_bytes);
    TILE_STREAM(6, b + TILE * 2, s->b_bytes);
    TILE_STREAM(7, next, s->b_bytes);
    TILE_DOT(0, 4, 5);
    TILE_DOT(1, 4, 6);
    TILE_DOT(2, 4, 7);
    TILE_STREAM(5, next + TILE * 2, s->b_bytes);
    TILE_DOT(3, 4, 5);
}

/* Multiplies at most 16 rows with two wide panels. */
INLINE void multiply_wide(const bool split, const struct pairs *p, const uint16_t *b, float *c,
                          size_t ldc, bool add, const struct other_work work)
{
    size_t c_bytes = ldc * sizeof *c;
    struct tile_steps s;
    find_steps(split, p, b, &s);
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    if (add) {
        TILE_LOAD(0, c, c_bytes);
        TILE_LOAD(1, c + TILE, c_bytes);
        TILE_LOAD(2, c + (size_t)2 * TILE, c_bytes);
        TILE_LOAD(3, c + (size_t)3 * TILE, c_bytes);
    }
    for (size_t k = 0; k < p->k; k += TILE_UNIT, s.b += s.b_step) {
        const uint16_t *next = s.b + p->b_panel;
        TILE_LOAD(4, (split ? s.low : s.high) + k, s.a_bytes);
        dot_wide(&s, s.b, next);
        if (split) {
            TILE_LOAD(4, s.high + k, s.a_bytes);
            dot_wide(&s, s.b, next);
            work.some(work.of);
            dot_wide(&s, s.b + s.b_low, next + s.b_low);
        }
        work.some(work.of);
    }
    TILE_STORE(0, c, c_bytes);
    TILE_STORE(1, c + TILE, c_bytes);
    TILE_STORE(2, c + (size_t)2 * TILE, c_bytes);
    TILE_STORE(3, c + (size_t)3 * TILE, c_bytes);
}

INLINE void multiply_some(const bool split, const struct pairs *p, size_t n_panels, float *c,
                          size_t ldc, bool add)
{
    bool two_rows = p->rows > TILE, two_cols = p->panel > TILE;
    size_t j = 0;
    if (!two_rows && two_cols && n_panels > 1) {
        configure(p->rows, true);
        for (; j + 2 <= n_panels; j += 2)
            multiply_wide(split, p, p->b + j * p->b_panel, c + j * p->panel, ldc, add, no_work);
    }
    if (j < n_panels)
        configure(p->rows, false);
    for (; j < n_panels; j++) {
        const uint16_t *b = p->b + j * p->b_panel;
        float *to = c + j * p->panel;
        if (two_rows && two_cols)
            multiply_square(split, true, true, p, b, to, ldc, add, no_work);
        else if (two_rows)
            multiply_square(split, true, false, p, b, to, ldc, add, no_work);
        else if (two_cols)
            multiply_square(split, false, true, p, b, to, ldc, add, no_work);
        else
            multiply_square(split, false, false, p, b, to, ldc, add, no_work);
    }
    TILE_RELEASE();
}

/* Sets c[rows, n_panels * panel] (row stride ldc) to the product with panels of B, plus c itself if
 * `add`. For each TILE_UNIT of k, sums are in this order: low * high, then high * high, then
 * high * low. */
static void multiply_panels(const struct pairs *p, size_t n_panels, float *c, size_t ldc, bool add)
{
    if (p->split)
        multiply_some(true, p, n_panels, c, ldc, add);
    else
        multiply_some(false, p, n_panels, c, ldc, add);
}

/* Computes the last columns, which do not fill a panel. */
static void multiply_edge(const struct pairs *p, size_t cols, float *c, size_t ldc, bool add)
{
    float whole[PAIRS_ROWS * PAIRS_PANEL] = {0};
    for (size_t r = 0; add && r < p->rows; r++)
        memcpy(whole + r * p->panel, c + r * ldc, cols * sizeof *c);
    multiply_panels(p, 1, whole, p->panel, add);
    for (size_t r = 0; r < p->rows; r++)
        memcpy(c + r * ldc, whole + r * p->panel, cols * sizeof *c);
}

static void run_pairs(bool split, const struct product *of)
{
    _Alignas(64) uint16_t high[PAIRS_ROOM], low[PAIRS_ROOM];
    const struct cov_matrix *b = of->b;
    size_t depth = (b->k + TILE_UNIT - 1) / TILE_UNIT * TILE_UNIT, n_whole = b->n / b->panel;
    size_t row = b->panel * (split ? 2 : 1); /* size of half a pair of rows of B */
    size_t n_parts = depth > PAIRS_DEPTH ? (depth + PAIRS_DEPTH - 1) / PAIRS_DEPTH : 1;
    size_t part = (depth / TILE_UNIT + n_parts - 1) / n_parts * TILE_UNIT;
    struct pairs p = {
        .split = split, .high = high, .low = low, .panel = b->panel, .b_panel = depth * row};
    for (size_t r0 = 0; r0 < of->m; r0 += PAIRS_ROWS) {
        float *to = of->c + r0 * of->ldc;
        p.rows = of->m - r0 < PAIRS_ROWS ? of->m - r0 : PAIRS_ROWS;
        for (size_t k0 = 0; k0 == 0 || k0 < b->k; k0 += part) {
            size_t k = b->k - k0 < part ? b->k - k0 : part, j = n_whole * b->panel;
            bool add = of->add || k0 > 0;
            p.k = (k + TILE_UNIT - 1) / TILE_UNIT * TILE_UNIT;
            p.b = b->pairs + k0 * row;
            round_rows(k, of->a + r0 * of->lda + k0, of->lda, &p, high, low);
            if (n_whole > 0)
                multiply_panels(&p, n_whole, to, of->ldc, add);
            p.b += n_whole * p.b_panel;
            if (j < b->n)
                multiply_edge(&p, b->n - j, to + j, of->ldc, add);
        }
    }
}

static void amx_bf16(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                     size_t ldc, bool add)
{
    run_pairs(false, &(struct product){m, a, lda, b, c, ldc, add});
}

static void amx_bf16x3(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                       size_t ldc, bool add)
{
    run_pairs(true, &(struct product){m, a, lda, b, c, ldc, add});
}
