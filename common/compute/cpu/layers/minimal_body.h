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
#include "common/compute/cpu/layers/minimal.h"

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* Everything is inlined with constant `pairs` and `single`, so that arrays are registers. */
#define INLINE static inline __attribute__((always_inline))

enum {
    MAX_PAIRS = COV_MINIMAL_MAX_PAIRS,
    MAX_POINTS = COV_MINIMAL_MAX_POINTS,
    MAX_OUTPUTS = COV_MINIMAL_MAX_OUTPUTS,
};

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
    vec pair[MAX_PAIRS][MAX_OUTPUTS], single[MAX_OUTPUTS]; /* [j]: to the power of j */
    vec whole[MAX_PAIRS + 1], without[MAX_PAIRS][MAX_PAIRS];
};

INLINE void get_coefficients(const int pairs, const struct cov_minimal_points *p,
                             struct coefficients *k)
{
    const vec zero = {0};
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        k->pair[h][0] = zero + 1;
        k->whole[h] = zero + p->whole[h];
#pragma GCC unroll 8
        for (int j = 1; j < MAX_OUTPUTS; j++)
            k->pair[h][j] = k->pair[h][j - 1] * p->pair[h];
#pragma GCC unroll 8
        for (int j = 0; j < pairs; j++)
            k->without[h][j] = zero + p->without[h][j];
    }
    k->single[0] = zero + 1;
#pragma GCC unroll 8
    for (int j = 1; j < MAX_OUTPUTS; j++)
        k->single[j] = k->single[j - 1] * p->single;
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
            d[i] = d[i + 1] - k->single[1] * d[i];
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
        store(v + (size_t)(2 * h + 1) * v_step, even + k->pair[h][1] * odd);
        store(v + (size_t)(2 * h + 2) * v_step, even - k->pair[h][1] * odd);
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
        const float *from = x + i * p->outputs * x_step;
        float *to = v + i * v_row;
        size_t c = 0;
        for (; c + LANES <= n; c += LANES) {
            for (size_t j = 0; j < p->n_points; j++)
                __builtin_prefetch(to + v_row + j * v_step + c, 1);
            for (size_t j = 0; j < p->outputs; j++) /* what the next tile sees besides */
                __builtin_prefetch(from + (p->n_points + j) * x_step + c);
            input_lanes(pairs, single, &k, from + c, x_step, to + c, v_step);
        }
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

/* The rows of y of the products s for LANES channels of one tile. */
INLINE void output_lanes(const int outputs, const int pairs, const bool single,
                         const struct coefficients *k, const float *s, size_t s_step,
                         const struct finish *f, float *y, size_t y_step)
{
    const int size = 2 * pairs + 2;
    vec sum[MAX_OUTPUTS] = {load(s)};
    sum[outputs - 1] = load(s + (size_t)(size - 1 + single) * s_step);
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        vec plus = load(s + (size_t)(2 * h + 1) * s_step);
        vec minus = load(s + (size_t)(2 * h + 2) * s_step);
        vec even = plus + minus, odd = plus - minus;
        sum[0] += even;
#pragma GCC unroll 8
        for (int j = 1; j < outputs; j++)
            sum[j] += k->pair[h][j] * (j % 2 ? odd : even);
    }
    if (single) {
        vec at_single = load(s + (size_t)(size - 1) * s_step);
        sum[0] += at_single;
#pragma GCC unroll 8
        for (int j = 1; j < outputs; j++)
            sum[j] += k->single[j] * at_single;
    }
#pragma GCC unroll 8
    for (int j = 0; j < outputs; j++)
        store(y + (size_t)j * y_step, finished(sum[j], f));
}

INLINE void output_rest(const int outputs, const int pairs, const bool single,
                        const struct coefficients *k, size_t n, const float *s, size_t s_step,
                        const struct cov_finish *finish, size_t c, float *y, size_t y_step)
{
    const int n_points = 2 * pairs + 2 + single;
    float in[MAX_POINTS * LANES] = {0}, out[MAX_OUTPUTS * LANES];
    float last[3 * LANES] = {0};
    for (int i = 0; i < n_points; i++)
        memcpy(in + i * LANES, s + (size_t)i * s_step, n * sizeof *s);
    memcpy(last, finish->bias + c, n * sizeof *last);
    memcpy(last + LANES, finish->scale + c, n * sizeof *last);
    memcpy(last + 2 * LANES, finish->shift + c, n * sizeof *last);
    const struct finish f = {load(last), load(last + LANES), load(last + 2 * LANES),
                             (vec){0} + finish->lowest};
    output_lanes(outputs, pairs, single, k, in, LANES, &f, out, LANES);
    for (int j = 0; j < outputs; j++)
        memcpy(y + (size_t)j * y_step, out + j * LANES, n * sizeof *y);
}

INLINE void output_tiles(const int outputs, const int pairs, const bool single,
                         const struct cov_minimal_points *p, size_t n_tiles, size_t n,
                         const float *s, size_t s_step, size_t s_row,
                         const struct cov_finish *finish, float *y, size_t y_step)
{
    struct coefficients k;
    get_coefficients(pairs, p, &k);
    size_t tile = (size_t)outputs * y_step, c = 0;
    for (; c + LANES <= n; c += LANES) {
        const struct finish f = {load(finish->bias + c), load(finish->scale + c),
                                 load(finish->shift + c), (vec){0} + finish->lowest};
        for (size_t i = 0; i < n_tiles; i++)
            output_lanes(outputs, pairs, single, &k, s + i * s_row + c, s_step, &f,
                         y + i * tile + c, y_step);
    }
    for (size_t i = 0; c < n && i < n_tiles; i++)
        output_rest(outputs, pairs, single, &k, n - c, s + i * s_row + c, s_step, finish, c,
                    y + i * tile + c, y_step);
}

static void input(const struct cov_minimal_points *p, size_t n_tiles, size_t n, const float *x,
                  size_t x_step, float *v, size_t v_step, size_t v_row)
{
    switch (p->n_points) {
    case 5:
        input_tiles(1, true, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    case 6:
        input_tiles(2, false, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    case 7:
        input_tiles(2, true, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    case 8:
        input_tiles(3, false, p, n_tiles, n, x, x_step, v, v_step, v_row);
        break;
    default:
        input_tiles(4, false, p, n_tiles, n, x, x_step, v, v_step, v_row);
    }
}

static void output(const struct cov_minimal_points *p, size_t n_tiles, size_t n, const float *s,
                   size_t s_step, size_t s_row, const struct cov_finish *finish, float *y,
                   size_t y_step)
{
    switch (p->n_points) {
    case 5:
        output_tiles(4, 1, true, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    case 6:
        output_tiles(4, 2, false, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    case 7:
        output_tiles(4, 2, true, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    case 8:
        output_tiles(4, 3, false, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
        break;
    default:
        output_tiles(6, 4, false, p, n_tiles, n, s, s_step, s_row, finish, y, y_step);
    }
}

const struct cov_minimal_kernels MINIMAL_TABLE = {MINIMAL_NAME, MINIMAL_NEEDS, input, output};
