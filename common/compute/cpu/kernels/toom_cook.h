/* toom_cook.h - convolutions by minimal filtering (Toom-Cook, Winograd), which computes m outputs of
 * a filter with r taps from m + r - 1 products instead of m r; m is 4 or 6.
 *
 * A convolution of stride s is one of stride 1 over groups of s input rows, with r = ceil(kernel /
 * s) taps and s * c_in channels; a transposed one produces groups of s output rows, with r taps and
 * s * c_out channels. If the kernel is not a multiple of s, filters end with a tap of zero. Input
 * and filter are polynomials of degree m + r - 2 and r - 1. By transposition, their products at m +
 * r - 2 points and at infinity determine the outputs:
 *     y[j] = sum_p p^j (sum_k G[p][k] g[k]) (sum_i B[p][i] x[i]),   j = 0 .. m - 1
 * where B[p] are the coefficients of M(x) / (x - p), M = product of (x - p), and G[p][k] = p^k /
 * product of (p - other p). At infinity B is M, G is the last tap alone, and the product
 * contributes to y[m - 1] only. Sources: S. Winograd, Arithmetic Complexity of Computations (1980);
 * A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks (2015).
 *
 * Tiles of m start at the beginning of a sequence, and rows of a product do not depend on one
 * another (gemm.h), so the values do not depend on the batch or on the threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_TOOM_COOK_H
#define COV_COMPUTE_CPU_KERNELS_TOOM_COOK_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/device.h"
#include "common/compute/plan.h"

/* The rows of one sequence that a layer reads and writes: row t of x starts at x + t * x_stride,
 * and row t of y at y + t * y_stride. */
struct cov_layer_io {
    const float *x;
    size_t x_stride;
    float *y;
    size_t y_stride;
};

enum {
    COV_TOOM_COOK_OUTPUTS = 4,     /* outputs of a tile */
    COV_TOOM_COOK_MAX_OUTPUTS = 6, /* the same, only with the most taps */
    COV_TOOM_COOK_MAX_TAPS = 5,
    COV_TOOM_COOK_MAX_PAIRS = 4,
    COV_TOOM_COOK_MAX_POINTS = COV_TOOM_COOK_MAX_OUTPUTS + COV_TOOM_COOK_MAX_TAPS - 1,
};

/* The points for a filter length, in this order: 0; pair[0], -pair[0]; ...; `single`, if
 * has_single; infinity. */
struct cov_toom_cook_points {
    size_t taps, outputs, n_points; /* n_points = taps + outputs - 1, including infinity */
    size_t n_pairs;
    bool has_single;
    float pair[COV_TOOM_COOK_MAX_PAIRS], single;
    /* Without `single`, M(x) = x Q(x^2): the coefficients of Q, and of Q(y) / (y - pair[h]^2),
     * lowest power first; these are exact. */
    float whole[COV_TOOM_COOK_MAX_PAIRS + 1];
    float without[COV_TOOM_COOK_MAX_PAIRS][COV_TOOM_COOK_MAX_PAIRS];
    double filter[COV_TOOM_COOK_MAX_POINTS][COV_TOOM_COOK_MAX_TAPS]; /* G */
};

/* Fills *p. 2 <= taps <= COV_TOOM_COOK_MAX_TAPS; outputs is COV_TOOM_COOK_OUTPUTS, or
 * COV_TOOM_COOK_MAX_OUTPUTS with the most taps. */
void cov_toom_cook_points_init(size_t taps, size_t outputs, struct cov_toom_cook_points *p);

/* Layout of transformed tiles: point p, tile i, channel c is at p * point_step + i * tile_step + c. */
struct cov_toom_cook_tiles {
    size_t n_tiles, n_channels, point_step, tile_step;
};

/* The transforms, compiled once per instruction set. */
struct cov_toom_cook_kernels {
    const char *name;
    unsigned needs; /* COV_CPU_* bits */

    /* Transforms rows of x: for each tile i and channel c, v[p,i,c] = B[p] x at every point p,
     * where x[k] is at x + (i * outputs + k) * x_step + c. */
    void (*input)(const struct cov_toom_cook_points *points,
                  const struct cov_toom_cook_tiles *tiles, const float *x, size_t x_step, float *v);

    /* Computes rows of y, which are y_step apart: for each tile i and channel c, row
     * i * outputs + j of y is `finish` applied to y[j] (above), the sum from the products
     * s[p,i,c]. */
    void (*output)(const struct cov_toom_cook_points *points,
                   const struct cov_toom_cook_tiles *tiles, const float *s,
                   const struct cov_finish *finish, float *y, size_t y_step);
};

extern const struct cov_toom_cook_kernels cov_toom_cook_base, cov_toom_cook_avx2,
    cov_toom_cook_avx512;

/* Returns the widest table for these features (COV_CPU_* bits). */
const struct cov_toom_cook_kernels *cov_toom_cook_choose(unsigned features);

/* A convolution with its weights transformed and packed. */
struct cov_toom_cook;

/* Return true if a layer can be computed this way, and if that is faster than the direct
 * product. */
bool cov_toom_cook_can(const struct cov_layer *layer);
bool cov_toom_cook_pays(const struct cov_layer *layer);

/* How such a layer groups rows: row j of a tile is `in_phases` rows of x, or `out_phases` rows of
 * y. The first tile starts at row in_first of x, and its `outputs` rows start at row out_first of
 * y. */
struct cov_toom_cook_places {
    size_t in_phases, out_phases;
    int64_t in_first, out_first;
    size_t n_tiles;
};
void cov_toom_cook_places_init(const struct cov_layer *layer, size_t outputs,
                               struct cov_toom_cook_places *out);

/* cov_toom_cook_can(layer) must be true. `weight` is as in struct cov_layer_weights, and borrowed for
 * the call. */
int cov_toom_cook_new(const struct cov_layer *layer, const float *weight,
                      const struct cov_gemm *gemm, const struct cov_toom_cook_kernels *kernels,
                      struct cov_toom_cook **out, struct cov_err *e) COV_MUST_USE;
void cov_toom_cook_free(struct cov_toom_cook *m); /* NULL is accepted */
/* Returns the floats of scratch that the layer needs. The scratch must start on a cache line. */
size_t cov_toom_cook_scratch(const struct cov_toom_cook *m);

/* Computes rows `rows` of y for one sequence: the convolution, with `finish` applied. Reads only
 * the rows of x that these rows of y depend on. Their rounding depends on `rows`, but not on other
 * rows of x. */
void cov_toom_cook_run(const struct cov_toom_cook *m, struct cov_rows rows,
                       const struct cov_layer_io *io, const struct cov_finish *finish,
                       float *scratch);

#endif
