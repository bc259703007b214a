/* minimal_body.h - the transforms of minimal.h; included by the file of each instruction set, which
 * defines MINIMAL_TABLE, MINIMAL_NAME, MINIMAL_NEEDS and the floats of a vector LANES.
 *
 * The points p and -p share their even and odd parts: with N(x) = M(x) / (x^2 - p^2), their rows of
 * B are x N(x) + p N(x) and x N(x) - p N(x). A point c without its negative takes a factor x - c
 * out of all other rows: x[i + 1] - c x[i] stands for x[i] there.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/minimal.h"

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* Everything is inlined with constant `pairs` and `single`, so that arrays are registers. */
#define INLINE static inline __attribute__((always_inline))

enum { MAX_PAIRS = COV_MINIMAL_MAX_PAIRS, MAX_POINTS = COV_MINIMAL_MAX_POINTS };

INLINE vec load(const float *x)
{
    return *(const vec *)x;
}

INLINE void store(float *y, vec v)
{
    *(vec *)y = v;
}

/* Coefficients as vectors of their own, which no store can change. */
struct coefficients {
    vec pair[MAX_PAIRS], square[MAX_PAIRS], cube[MAX_PAIRS];
    vec whole[MAX_PAIRS + 1], without[MAX_PAIRS][MAX_PAIRS];
    vec single, single_square, single_cube;
};

INLINE void get_coefficients(const int pairs, const struct cov_minimal_points *p,
                             struct coefficients *k)
{
    const vec zero = {0};
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        k->pair[h] = zero + p->pair[h];
        k->square[h] = k->pair[h] * k->pair[h];
        k->cube[h] = k->square[h] * k->pair[h];
        k->whole[h] = zero + p->whole[h];
#pragma GCC unroll 8
        for (int j = 0; j < pairs; j++)
            k->without[h][j] = zero + p->without[h][j];
    }
    k->single = zero + p->single;
    k->single_square = k->single * k->single;
    k->single_cube = k->single_square * k->single;
}

/* v of x for LANES channels of one tile. */
INLINE void input_lanes(const int pairs, const bool single, const struct coefficients *k,
                        const float *x, size_t x_step, float *v, size_t v_step)
{
    const int size = 2 * pairs + 2;
    vec d[MAX_POINTS];
#pragma GCC unroll 8
    for (int i = 0; i < size + single; i++)
        d[i] = load(x + (size_t)i * x_step);
    if (single) {
        vec at_single = d[size - 1];
#pragma GCC unroll 8
        for (int j = 0; j < pairs; j++)
            at_single += k->whole[j] * d[2 * j + 1];
        store(v + (size_t)(size - 1) * v_step, at_single);
#pragma GCC unroll 8
        for (int i = 0; i < size; i++)
            d[i] = d[i + 1] - k->single * d[i];
    }
    vec at_zero = d[size - 2], at_infinity = d[size - 1];
#pragma GCC unroll 8
    for (int j = 0; j < pairs; j++) {
        at_zero += k->whole[j] * d[2 * j];
        at_infinity += k->whole[j] * d[2 * j + 1];
    }
    store(v, at_zero);
    store(v + (size_t)(size - 1 + single) * v_step, at_infinity);
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        vec odd = d[2 * pairs - 1], even = d[2 * pairs]; /* the highest power's coefficient is 1 */
#pragma GCC unroll 8
        for (int j = 0; j < pairs - 1; j++) {
            odd += k->without[h][j] * d[2 * j + 1];
            even += k->without[h][j] * d[2 * j + 2];
        }
        store(v + (size_t)(2 * h + 1) * v_step, even + k->pair[h] * odd);
        store(v + (size_t)(2 * h + 2) * v_step, even - k->pair[h] * odd);
    }
}

/* Channels that do not fill a vector go through arrays that do. */
INLINE void input_rest(const int pairs, const bool single, const struct coefficients *k, size_t n,
                       const float *x, size_t x_step, float *v, size_t v_step)
{
    const int n_points = 2 * pairs + 2 + single;
    float in[MAX_POINTS * LANES] = {0}, out[MAX_POINTS * LANES];
    for (int i = 0; i < n_points; i++)
        memcpy(in + i * LANES, x + (size_t)i * x_step, n * sizeof *x);
    input_lanes(pairs, single, k, in, LANES, out, LANES);
    for (int i = 0; i < n_points; i++)
        memcpy(v + (size_t)i * v_step, out + i * LANES, n * sizeof *v);
}

INLINE void input_tiles(const int pairs, const bool single, const struct cov_minimal_points *p,
                        size_t n_tiles, size_t n, const float *x, size_t x_step, float *v,
                        size_t v_step, size_t v_row)
{
    struct coefficients k;
    get_coefficients(pairs, p, &k);
    for (size_t i = 0; i < n_tiles; i++) {
        const float *from = x + i * COV_MINIMAL_OUTPUTS * x_step;
        float *to = v + i * v_row;
        size_t c = 0;
        for (; c + LANES <= n; c += LANES)
            input_lanes(pairs, single, &k, from + c, x_step, to + c, v_step);
        if (c < n)
            input_rest(pairs, single, &k, n - c, from + c, x_step, to + c, v_step);
    }
}

/* What stands behind the sum of a convolution, for LANES channels. */
struct finish {
    vec bias, scale, shift, lowest;
};

INLINE vec finished(vec sum, const struct finish *f)
{
    vec v = sum + f->bias;
    mask below = v < f->lowest;
    v = (vec)(((mask)v & ~below) | ((mask)f->lowest & below));
    return v * f->scale + f->shift;
}

/* Four rows of y of the products s for LANES channels of one tile. */
INLINE void output_lanes(const int pairs, const bool single, const struct coefficients *k,
                         const float *s, size_t s_step, const struct finish *f, float *y,
                         size_t y_step)
{
    const int size = 2 * pairs + 2;
    vec y0 = load(s), y1 = {0}, y2 = {0}, y3 = load(s + (size_t)(size - 1 + single) * s_step);
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        vec plus = load(s + (size_t)(2 * h + 1) * s_step);
        vec minus = load(s + (size_t)(2 * h + 2) * s_step);
        vec even = plus + minus, odd = plus - minus;
        y0 += even;
        y1 += k->pair[h] * odd;
        y2 += k->square[h] * even;
        y3 += k->cube[h] * odd;
    }
    if (single) {
        vec at_single = load(s + (size_t)(size - 1) * s_step);
        y0 += at_single;
        y1 += k->single * at_single;
        y2 += k->single_square * at_single;
        y3 += k->single_cube * at_single;
    }
    store(y, finished(y0, f));
    store(y + y_step, finished(y1, f));
    store(y + 2 * y_step, finished(y2, f));
    store(y + 3 * y_step, finished(y3, f));
}

INLINE void output_rest(const int pairs, const bool single, const struct coefficients *k, size_t n,
                        const float *s, size_t s_step, const struct cov_finish *finish, size_t c,
                        float *y, size_t y_step)
{
    const int n_points = 2 * pairs + 2 + single;
    float in[MAX_POINTS * LANES] = {0}, out[COV_MINIMAL_OUTPUTS * LANES];
    float last[3 * LANES] = {0};
    for (int i = 0; i < n_points; i++)
        memcpy(in + i * LANES, s + (size_t)i * s_step, n * sizeof *s);
    memcpy(last, finish->bias + c, n * sizeof *last);
    memcpy(last + LANES, finish->scale + c, n * sizeof *last);
    memcpy(last + 2 * LANES, finish->shift + c, n * sizeof *last);
    const struct finish f = {load(last), load(last + LANES), load(last + 2 * LANES),
                             (vec){0} + finish->lowest};
    output_lanes(pairs, single, k, in, LANES, &f, out, LANES);
    for (int j = 0; j < COV_MINIMAL_OUTPUTS; j++)
        memcpy(y + (size_t)j * y_step, out + j * LANES, n * sizeof *y);
}

INLINE void output_tiles(const int pairs, const bool single, const struct cov_minimal_points *p,
                         size_t n_tiles, size_t n, const float *s, size_t s_step, size_t s_row,
                         const struct cov_finish *finish, float *y, size_t y_step)
{
    struct coefficients k;
    get_coefficients(pairs, p, &k);
    size_t tile = COV_MINIMAL_OUTPUTS * y_step, c = 0;
    for (; c + LANES <= n; c += LANES) {
        const struct finish f = {load(finish->bias + c), load(finish->scale + c),
                                 load(finish->shift + c), (vec){0} + finish->lowest};
        for (size_t i = 0; i < n_tiles; i++)
            output_lanes(pairs, single, &k, s + i * s_row + c, s_step, &f, y + i * tile + c,
                         y_step);
    }
    for (size_t i = 0; c < n && i < n_tiles; i++)
        output_rest(pairs, single, &k, n - c, s + i * s_row + c, s_step, finish, c,
                    y + i * tile + c, y_step);
}

static void input(const struct cov_minimal_points *p, size_t n_tiles, size_t n, const float *x,
                  size_t x_step, float *v, size_t v_step, size_t v_row)
{
    switch (p->taps) {
    case 2:
        input_tiles(1, true, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    case 3:
        input_tiles(2, false, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    case 4:
        input_tiles(2, true, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    default:
        input_tiles(3, false, p, n_tiles, n, x, x_step, v, v_step, v_row);
    }
}

static void output(const struct cov_minimal_points *p, size_t n_tiles, size_t n, const float *s,
                   size_t s_step, size_t s_row, const struct cov_finish *finish, float *y,
                   size_t y_step)
{
    switch (p->taps) {
    case 2:
        output_tiles(1, true, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    case 3:
        output_tiles(2, false, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    case 4:
        output_tiles(2, true, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    default:
        output_tiles(3, false, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
    }
}

const struct cov_minimal_kernels MINIMAL_TABLE = {MINIMAL_NAME, MINIMAL_NEEDS, input, output};
