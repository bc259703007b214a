/* toom_cook_body.h - the transforms of toom_cook.h; included by the file of each instruction set
 * after gemm_body.h and outer_body.h, whose macros it uses.
 *
 * The points p and -p share their even and odd parts: with N(x) = M(x) / (x^2 - p^2), their rows of
 * B are x N(x) + p N(x) and x N(x) - p N(x). A point c without its negative gives all other rows of
 * B a factor x - c: for them, x[i + 1] - c x[i] replaces x[i].
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/toom_cook.h"

typedef int32_t mask __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* Everything is inlined with a constant number of points, so that arrays stay in registers. */

enum {
    MAX_PAIRS = COV_TOOM_COOK_MAX_PAIRS,
    MAX_POINTS = COV_TOOM_COOK_MAX_POINTS,
    MAX_OUTPUTS = COV_TOOM_COOK_MAX_OUTPUTS,
};

INLINE vec load(const float *x)
{
    return *(const vec *)x;
}

INLINE void store(float *y, vec v)
{
    *(vec *)y = v;
}

/* Coefficients in separate vectors, which no store can change. */
struct coefficients {
    vec pair[MAX_PAIRS][MAX_OUTPUTS], single[MAX_OUTPUTS]; /* [j]: the j-th power */
    vec whole[MAX_PAIRS + 1], without[MAX_PAIRS][MAX_PAIRS];
};

/* Values that follow from the number of points, which is a constant wherever it is passed. */
#define PAIRS(n_points) (((n_points)-2) / 2)
#define SINGLE(n_points) ((n_points) % 2)
#define OUTPUTS(n_points) ((n_points) == MAX_POINTS ? MAX_OUTPUTS : COV_TOOM_COOK_OUTPUTS)

/* Rows to read, and rows to write. */
struct lanes_io {
    const float *from;
    size_t from_step;
    float *to;
    size_t to_step;
};

INLINE void get_coefficients(const int n_points, const struct cov_toom_cook_points *p,
                             struct coefficients *k)
{
    const int pairs = PAIRS(n_points);
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

/* Computes v from x for LANES channels of one tile. */
INLINE void input_lanes(const int n_points, const struct coefficients *k, struct lanes_io io)
{
    const int pairs = PAIRS(n_points), single = SINGLE(n_points), size = 2 * pairs + 2;
    vec d[MAX_POINTS];
#pragma GCC unroll 8
    for (int i = 0; i < size + single; i++)
        d[i] = load(io.from + (size_t)i * io.from_step);
    if (single) {
        vec at_single = d[size - 1];
#pragma GCC unroll 8
        for (int j = 0; j < pairs; j++)
            at_single += k->whole[j] * d[2 * j + 1];
        store(io.to + (size_t)(size - 1) * io.to_step, at_single);
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
    store(io.to, at_zero);
    store(io.to + (size_t)(size - 1 + single) * io.to_step, at_infinity);
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        vec odd = d[2 * pairs - 1], even = d[2 * pairs]; /* the highest power's coefficient is 1 */
#pragma GCC unroll 8
        for (int j = 0; j < pairs - 1; j++) {
            odd += k->without[h][j] * d[2 * j + 1];
            even += k->without[h][j] * d[2 * j + 2];
        }
        store(io.to + (size_t)(2 * h + 1) * io.to_step, even + k->pair[h][1] * odd);
        store(io.to + (size_t)(2 * h + 2) * io.to_step, even - k->pair[h][1] * odd);
    }
}

/* Does the same for n < LANES channels, which are copied to arrays of whole vectors. */
INLINE void input_rest(const int n_points, const struct coefficients *k, size_t n,
                       struct lanes_io io)
{
    float in[MAX_POINTS * LANES] = {0}, out[MAX_POINTS * LANES];
    for (int i = 0; i < n_points; i++)
        memcpy(in + i * LANES, io.from + (size_t)i * io.from_step, n * sizeof *in);
    input_lanes(n_points, k, (struct lanes_io){in, LANES, out, LANES});
    for (int i = 0; i < n_points; i++)
        memcpy(io.to + (size_t)i * io.to_step, out + i * LANES, n * sizeof *out);
}

INLINE void input_tiles(const int n_points, const struct cov_toom_cook_points *p,
                        const struct cov_toom_cook_tiles *t, const float *x, size_t x_step,
                        float *v)
{
    const size_t outputs = OUTPUTS(n_points), v_step = t->point_step;
    struct coefficients k;
    get_coefficients(n_points, p, &k);
    for (size_t i = 0; i < t->n_tiles; i++) {
        const float *from = x + i * outputs * x_step;
        float *to = v + i * t->tile_step;
        size_t c = 0;
        for (; c + LANES <= t->n_channels; c += LANES) {
            for (size_t j = 0; j < p->n_points; j++)
                __builtin_prefetch(to + t->tile_step + j * v_step + c, 1);
            for (size_t j = 0; j < outputs; j++) /* rows that only the next tile reads */
                __builtin_prefetch(from + (p->n_points + j) * x_step + c);
            input_lanes(n_points, &k, (struct lanes_io){from + c, x_step, to + c, v_step});
        }
        if (c < t->n_channels)
            input_rest(n_points, &k, t->n_channels - c,
                       (struct lanes_io){from + c, x_step, to + c, v_step});
    }
}

/* struct cov_finish, for LANES channels. */
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

/* Computes the rows of y from the products s, for LANES channels of one tile. */
INLINE void output_lanes(const int n_points, const struct coefficients *k, const struct finish *f,
                         struct lanes_io io)
{
    const int pairs = PAIRS(n_points), single = SINGLE(n_points), outputs = OUTPUTS(n_points);
    const int size = 2 * pairs + 2;
    vec sum[MAX_OUTPUTS] = {load(io.from)};
    sum[outputs - 1] = load(io.from + (size_t)(size - 1 + single) * io.from_step);
#pragma GCC unroll 8
    for (int h = 0; h < pairs; h++) {
        vec plus = load(io.from + (size_t)(2 * h + 1) * io.from_step);
        vec minus = load(io.from + (size_t)(2 * h + 2) * io.from_step);
        vec even = plus + minus, odd = plus - minus;
        sum[0] += even;
#pragma GCC unroll 8
        for (int j = 1; j < outputs; j++)
            sum[j] += k->pair[h][j] * (j % 2 ? odd : even);
    }
    if (single) {
        vec at_single = load(io.from + (size_t)(size - 1) * io.from_step);
        sum[0] += at_single;
#pragma GCC unroll 8
        for (int j = 1; j < outputs; j++)
            sum[j] += k->single[j] * at_single;
    }
#pragma GCC unroll 8
    for (int j = 0; j < outputs; j++)
        store(io.to + (size_t)j * io.to_step, finished(sum[j], f));
}

/* Does the same for n < LANES channels, starting at c. */
INLINE void output_rest(const int n_points, const struct coefficients *k, size_t n, size_t c,
                        const struct cov_finish *finish, struct lanes_io io)
{
    float in[MAX_POINTS * LANES] = {0}, out[MAX_OUTPUTS * LANES];
    float last[3 * LANES] = {0};
    for (int i = 0; i < n_points; i++)
        memcpy(in + i * LANES, io.from + (size_t)i * io.from_step, n * sizeof *in);
    memcpy(last, finish->bias + c, n * sizeof *last);
    memcpy(last + LANES, finish->scale + c, n * sizeof *last);
    memcpy(last + 2 * LANES, finish->shift + c, n * sizeof *last);
    const struct finish f = {load(last), load(last + LANES), load(last + 2 * LANES),
                             (vec){0} + finish->lowest};
    output_lanes(n_points, k, &f, (struct lanes_io){in, LANES, out, LANES});
    for (int j = 0; j < OUTPUTS(n_points); j++)
        memcpy(io.to + (size_t)j * io.to_step, out + j * LANES, n * sizeof *out);
}

INLINE void output_tiles(const int n_points, const struct cov_toom_cook_points *p,
                         const struct cov_toom_cook_tiles *t, const float *s,
                         const struct cov_finish *finish, float *y, size_t y_step)
{
    struct coefficients k;
    get_coefficients(n_points, p, &k);
    size_t n = t->n_channels, s_step = t->point_step, s_row = t->tile_step, c = 0;
    size_t tile = (size_t)OUTPUTS(n_points) * y_step;
    for (; c + LANES <= n; c += LANES) {
        const struct finish f = {load(finish->bias + c), load(finish->scale + c),
                                 load(finish->shift + c), (vec){0} + finish->lowest};
        for (size_t i = 0; i < t->n_tiles; i++)
            output_lanes(n_points, &k, &f,
                         (struct lanes_io){s + i * s_row + c, s_step, y + i * tile + c, y_step});
    }
    for (size_t i = 0; c < n && i < t->n_tiles; i++)
        output_rest(n_points, &k, n - c, c, finish,
                    (struct lanes_io){s + i * s_row + c, s_step, y + i * tile + c, y_step});
}

#define INPUT(n)                                                                                   \
    case n:                                                                                        \
        input_tiles(n, p, t, x, x_step, v);                                                        \
        break;

static void input(const struct cov_toom_cook_points *p, const struct cov_toom_cook_tiles *t,
                  const float *x, size_t x_step, float *v)
{
    switch (p->n_points) {
        INPUT(5)
        INPUT(6)
        INPUT(7)
        INPUT(8)
    default:
        input_tiles(MAX_POINTS, p, t, x, x_step, v);
    }
}

#define OUTPUT(n)                                                                                  \
    case n:                                                                                        \
        output_tiles(n, p, t, s, finish, y, y_step);                                               \
        break;

static void output(const struct cov_toom_cook_points *p, const struct cov_toom_cook_tiles *t,
                   const float *s, const struct cov_finish *finish, float *y, size_t y_step)
{
    switch (p->n_points) {
        OUTPUT(5)
        OUTPUT(6)
        OUTPUT(7)
        OUTPUT(8)
    default:
        output_tiles(MAX_POINTS, p, t, s, finish, y, y_step);
    }
}

const struct cov_toom_cook_kernels JOIN(cov_toom_cook_, GEMM_LEVEL) = {GEMM_NAME, GEMM_NEEDS, input,
                                                                       output};
