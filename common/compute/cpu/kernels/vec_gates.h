/* vec_gates.h - exponentials, sigmoid and tanh on vectors; included by the bodies of element-wise
 * kernels, which define LANES and, if possible, FUSED, LEAST and MOST (vec_body.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_VEC_GATES_H
#define COV_COMPUTE_CPU_KERNELS_VEC_GATES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

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

/* Returns tanh(x) sigmoid(o), from the denominator of sigmoid(o). */
static inline vec opened(vec x, vec under_o)
{
    vec t = above_tanh(x);
    return t / ((t + all(2.0f)) * under_o);
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
