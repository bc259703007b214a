/* vec_gates.h - exponentials, sigmoid and tanh on vectors; included by the bodies of element-wise
 * kernels, which define LANES and, if possible, FUSED, LEAST and MOST (vec_body.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_VEC_GATES_H
#define COV_COMPUTE_CPU_KERNELS_VEC_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* How exactly gates are computed: like the reference; well below the rounding of products in
 * bf16x3, with errors of 3e-6; or below the rounding of products in bf16, with errors of 6e-5.
 * Errors are relative for sigmoid, and absolute for tanh. An open gate is exactly 1 in all. */
enum gates { GATES_EXACT, GATES_CLOSE, GATES_ROUGH };

/* For gates that are not exact, a kernel file may define RECIPROCAL(x), which is 1 for 1,
 * ROUGH_RECIPROCAL(x), and EXP2(rough, x), 2^x for x < 128. */
#ifndef RECIPROCAL
#define RECIPROCAL(x) ((vec)(all(1.0f) / (x)))
#define ROUGH_RECIPROCAL(x) RECIPROCAL(x)
#define EXP2(rough, x) exp2_of(x)
#endif

#ifndef FUSED
#define FUSED(a, b, c) ((a) * (b) + (c))
#define LEAST(a, b) choose((a) < (b), a, b)
#define MOST(a, b) choose((a) > (b), a, b)
static inline vec choose(ints which, vec a, vec b)
{
    return (vec)((which & (ints)a) | (~which & (ints)b));
}
#endif

static inline vec all(float v)
{
    return v - (vec){0};
}

/* Exponents are limited to this: beyond it, sigmoid and tanh equal their limits to 5e-18, and the
 * product of two exponentials and a number does not overflow. */
#define GATE_LIMIT 40.0f

/* Splits exp(x) = p (1 + q): returns p, a power of 2, and sets *q. x is limited to GATE_LIMIT; n, r
 * and P are those of exp_core. If x is NaN, so is q. */
static inline vec split_exp(vec x, vec *q)
{
    const vec round = all(12582912.0f);
    x = MOST(all(-GATE_LIMIT), LEAST(all(GATE_LIMIT), x));
    vec k = FUSED(x, all(1.44269504f), round);
    vec power = (vec)(((ints)k << 23) + (ints)all(1.0f));
    k -= round;
    vec r = FUSED(k, all(2.12194440e-4f), FUSED(k, all(-0.693359375f), x));
    vec p = FUSED(all(1.381454e-3f), r, all(8.368745e-3f));
    p = FUSED(p, r, all(4.166839e-2f));
    p = FUSED(p, r, all(1.6666521e-1f));
    p = FUSED(p, r, all(4.9999994e-1f));
    *q = FUSED(p * r, r, r);
    return power;
}

/* Returns 1 + exp(-x), the denominator of sigmoid(x). */
static inline vec under_sigmoid(vec x)
{
    vec q, power = split_exp(-x, &q);
    return FUSED(power, q, power) + all(1.0f);
}

/* Returns t = exp(2x) - 1, without cancellation near 0: tanh(x) = t / (t + 2). */
static inline vec above_tanh(vec x)
{
    vec q, power = split_exp(x + x, &q);
    return FUSED(power, q, power - all(1.0f));
}

#define LOG2_E 1.442695041f

/* Returns 2^x. */
static inline vec exp2_of(vec x)
{
    vec q, power = split_exp(x * all(1 / LOG2_E), &q);
    return FUSED(power, q, power);
}

/* What gates other than exact ones multiply their sums with, so that they need only powers of 2. */
#define SIGMOID_SCALE (-LOG2_E)
#define TANH_SCALE (2 * LOG2_E)

/* Returns z + bias, in the form that the functions below expect. `scale` is one of those above, and
 * `bias` has been scaled by it. */
INLINE vec scaled_sum(float scale, vec z, vec bias)
{
    return FUSED(z, all(scale), bias);
}

INLINE vec gate_sum(const enum gates how, float scale, vec z, vec bias)
{
    if (how == GATES_EXACT)
        return z + bias;
    return scaled_sum(scale, z, bias * all(scale));
}

/* Returns 1 / sigmoid(x); infinity is possible if gates are rough. */
INLINE vec under_gate(const enum gates how, vec x)
{
    if (how == GATES_EXACT)
        return under_sigmoid(x);
    if (how == GATES_ROUGH)
        return EXP2(true, x) + all(1.0f);
    return EXP2(false, LEAST(all(GATE_LIMIT * LOG2_E), x)) + all(1.0f);
}

/* Returns the gate, from 1 / sigmoid(x). It multiplies a cell at every step, so it is never rough. */
INLINE vec gate_of(const enum gates how, vec under)
{
    if (how == GATES_EXACT)
        return all(1.0f) / under;
    if (how == GATES_ROUGH)
        under = LEAST(all(0x1p60F), under);
    return RECIPROCAL(under);
}

/* Returns tanh(x) / under: an input that a gate lets in, or a cell that it shows. */
INLINE vec gated_tanh(const enum gates how, vec x, vec under)
{
    if (how == GATES_EXACT) {
        vec t = above_tanh(x);
        return t / ((t + all(2.0f)) * under);
    }
    const bool rough = how == GATES_ROUGH;
    vec power = EXP2(rough, LEAST(all(GATE_LIMIT * LOG2_E), x));
    vec below = (power + all(1.0f)) * under;
    if (rough)
        return (power - all(1.0f)) * ROUGH_RECIPROCAL(below);
    return (power - all(1.0f)) * RECIPROCAL(below);
}

/* Returns tanh(cell) / under. */
INLINE vec shown_cell(const enum gates how, vec cell, vec under)
{
    if (how != GATES_EXACT)
        cell = cell * all(TANH_SCALE);
    return gated_tanh(how, cell, under);
}

/* Loads n <= LANES floats, then zeros. */
static inline vec load(size_t n, const float *x)
{
    vec v = {0};
    memcpy(&v, x, n * sizeof *x);
    return v;
}

static inline void store(size_t n, vec v, float *x)
{
    memcpy(x, &v, n * sizeof *x);
}

#endif
