/* strassen.c - see strassen.h.
 *
 * A group of pairs fits in the second-level cache. For each panel of B's columns and each tile of
 * pairs, the seven products stay in the first-level cache until they are summed.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/strassen.h"

#include <stdlib.h>

#include "common/base/mem.h"

enum {
    TERMS = 7,
    TILE = 12,  /* pairs; a multiple of the rows of every product kernel's tile */
    GROUP = 72, /* pairs */
    AHEAD = 3,  /* pairs */
    GAP = 16,  /* floats between rows, so that they do not all start in the same set of the cache */
    LINE = 16, /* floats of a cache line */
    MIN_DEPTH = 64, /* least k: with less, the sums cost as much as they save */
};

struct cov_strassen {
    const struct cov_gemm *gemm;
    const struct cov_vec *vec;
    size_t half_k, half_n, row; /* row: floats from one row of terms to the next */
    size_t n_panels;
    struct cov_matrix (*panels)[TERMS]; /* [n_panels] of half_n columns */
};

/* If pairs of k already share a multiplication, the additions cost as much as they save. */
bool cov_strassen_pays(const struct cov_gemm *gemm, size_t k, size_t n)
{
    return gemm->arithmetic == COV_FP32 && !gemm->winograd && k % 2 == 0 && n % 2 == 0 &&
           k >= MIN_DEPTH && n >= MIN_DEPTH;
}

/* ---- making ---- */

/* Computes the seven terms of B (the right-hand factors of m0 .. m6 in strassen.h) at one element.
 * `b` points to this element in the first quarter of b[k, 2 * half_n]. */
static void take_terms(const float *b, size_t half_k, size_t half_n, double out[TERMS])
{
    const float *below = b + half_k * 2 * half_n;
    double b0 = b[0], b1 = b[half_n], b2 = below[0], b3 = below[half_n];
    out[0] = b0 + b3;
    out[1] = b0;
    out[2] = b1 - b3;
    out[3] = b2 - b0;
    out[4] = b3;
    out[5] = b0 + b1;
    out[6] = b2 + b3;
}

/* Packs the terms of columns [beg, beg + cols) of both halves of B. */
static int make_panel(const struct cov_strassen *f, const float *b, size_t beg, size_t cols,
                      struct cov_matrix *panel, struct cov_err *e)
{
    size_t size = f->half_k * cols;
    float *terms = cov_malloc(TERMS * size, sizeof *terms, e);
    if (!terms)
        return COV_ENOMEM;
    for (size_t i = 0; i < size; i++) {
        double of[TERMS];
        take_terms(b + i / cols * 2 * f->half_n + beg + i % cols, f->half_k, f->half_n, of);
        for (size_t t = 0; t < TERMS; t++)
            terms[t * size + i] = (float)of[t];
    }
    int rc = COV_OK;
    for (size_t t = 0; rc == COV_OK && t < TERMS; t++)
        rc = cov_matrix_init(f->gemm, f->half_k, cols, terms + t * size, &panel[t], e);
    free(terms);
    return rc;
}

int cov_strassen_new(const struct cov_gemm *gemm, const struct cov_vec *vec, size_t k, size_t n,
                     const float *b, struct cov_strassen **out, struct cov_err *e)
{
    struct cov_strassen *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->gemm = gemm;
    f->vec = vec;
    f->half_k = k / 2;
    f->half_n = n / 2;
    f->row = (f->half_k + LINE - 1) / LINE * LINE + GAP;
    f->n_panels = (f->half_n + gemm->width - 1) / gemm->width;
    f->panels = cov_calloc(f->n_panels, sizeof *f->panels, e);
    int rc = f->panels ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; rc == COV_OK && i < f->n_panels; i++) {
        size_t beg = i * gemm->width, left = f->half_n - beg;
        rc = make_panel(f, b, beg, left < gemm->width ? left : gemm->width, f->panels[i], e);
    }
    if (rc) {
        cov_strassen_free(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_strassen_free(struct cov_strassen *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->panels && i < f->n_panels; i++)
        for (size_t t = 0; t < TERMS; t++)
            cov_matrix_fini(&f->panels[i][t]);
    free(f->panels);
    free(f);
}

/* ---- running ---- */

static size_t products_floats(const struct cov_strassen *f)
{
    return TERMS * TILE * f->gemm->width;
}

size_t cov_strassen_scratch(const struct cov_strassen *f)
{
    return TERMS * GROUP * f->row + products_floats(f) + 2 * f->gemm->width;
}

/* Prefetches rows of `a`. */
static void expect_rows(const struct cov_strassen *f, const struct cov_strassen_pair *pair)
{
    for (size_t i = 0; i < 2 * f->half_k; i += LINE) {
        __builtin_prefetch(pair->a[0] + i);
        __builtin_prefetch(pair->a[1] + i);
    }
}

static void expect_sums(const struct cov_strassen *f, size_t beg, size_t cols,
                        const struct cov_strassen_pair *pair)
{
    for (size_t r = 0; r < 2; r++)
        for (size_t j = beg; pair->c[r] && j < beg + cols; j += LINE) {
            __builtin_prefetch(pair->c[r] + j, 1);
            __builtin_prefetch(pair->c[r] + f->half_n + j, 1);
        }
}

/* Computes one panel of the products of n pairs; v holds the terms of their rows. */
static void run_tile(const struct cov_strassen *f, size_t panel, size_t n, const float *v,
                     const struct cov_strassen_pair *pairs, float *products)
{
    size_t width = f->gemm->width, beg = panel * width, step = TILE * width;
    const struct cov_matrix *at = f->panels[panel];
    float *unused = products + products_floats(f);
    for (size_t t = 0; t < TERMS; t++) {
        for (size_t i = n * t / TERMS; i < n * (t + 1) / TERMS; i++)
            expect_sums(f, beg, at->n, &pairs[i]);
        f->gemm->run(n, v + t * GROUP * f->row, f->row, &at[t], products + t * step, width, false);
    }
    for (size_t i = 0; i < n; i++) {
        float *c0 = pairs[i].c[0] + beg, *c1 = pairs[i].c[1] ? pairs[i].c[1] + beg : NULL;
        f->vec->strassen_sums(at->n, products + i * width, step, c0, c0 + f->half_n,
                              c1 ? c1 : unused, c1 ? c1 + f->half_n : unused + width);
    }
}

void cov_strassen_run(const struct cov_strassen *f, size_t n_pairs,
                      const struct cov_strassen_pair *pairs, float *scratch)
{
    float *v = scratch, *products = v + TERMS * GROUP * f->row;
    for (size_t g = 0; g < n_pairs; g += GROUP, pairs += GROUP) {
        size_t n = n_pairs - g < GROUP ? n_pairs - g : GROUP;
        for (size_t i = 0; i < n; i++) {
            if (i + AHEAD < n)
                expect_rows(f, &pairs[i + AHEAD]);
            f->vec->strassen_terms(f->half_k, pairs[i].a[0], pairs[i].a[1], v + i * f->row,
                                   GROUP * f->row);
        }
        for (size_t p = 0; p < f->n_panels; p++)
            for (size_t i = 0; i < n; i += TILE)
                run_tile(f, p, n - i < TILE ? n - i : TILE, v + i * f->row, pairs + i, products);
    }
}
