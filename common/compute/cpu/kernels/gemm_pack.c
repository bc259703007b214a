/* gemm_pack.c - the packed right-hand side of products: see gemm.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/kernels/operands.h"

/* Sets `cross` to the negative cross terms of `depth` pairs of rows of a panel: one row of terms
 * for each part of COV_INT16_DEPTH elements of k. */
static void sum_cross(size_t depth, size_t width, const uint16_t *pairs, int32_t *cross)
{
    const size_t part = COV_INT16_DEPTH / 2;
    for (size_t beg = 0; beg < depth; beg += part, cross += width) {
        size_t end = depth - beg < part ? depth : beg + part;
        for (size_t i = beg; i + COV_INT16_THREE <= end; i += COV_INT16_THREE)
            for (size_t j = 0; j < 2 * width; j++) {
                int32_t product = (int32_t)(int16_t)pairs[2 * i * width + j] *
                                  (int16_t)pairs[2 * (i + 1) * width + j];
                cross[j / 2] = (int32_t)((uint32_t)cross[j / 2] - (uint32_t)product);
            }
    }
}

int cov_gemm_pack_int16(const struct cov_gemm *gemm, const float *b, struct cov_matrix *m,
                        struct cov_err *e)
{
    size_t cols = (m->n + m->panel - 1) / m->panel * m->panel;
    size_t depth = (m->k + gemm->k_unit - 1) / gemm->k_unit * gemm->k_unit;
    m->pairs = cov_calloc64(cols, depth * sizeof *m->pairs, e);
    size_t n_parts = (depth + COV_INT16_DEPTH - 1) / COV_INT16_DEPTH;
    m->unit = m->pairs ? cov_calloc64(cols, sizeof *m->unit, e) : NULL;
    m->cross = m->unit ? cov_calloc64(cols, n_parts * sizeof *m->cross, e) : NULL;
    if (!m->cross)
        return COV_ENOMEM;
    for (size_t j = 0; j < m->n; j++) {
        float unit = m->unit[j] = cov_int16_column_unit(m->k, b + j, m->n);
        for (size_t i = 0; i < m->k; i++) {
            size_t at = ((j / m->panel * (depth / 2) + i / 2) * m->panel + j % m->panel) * 2;
            m->pairs[at + i % 2] = (uint16_t)cov_int16_of(b[i * m->n + j], unit > 0 ? 1 / unit : 0);
        }
    }
    for (size_t j = 0; j < cols; j += m->panel)
        sum_cross(depth / 2, m->panel, m->pairs + j * depth, m->cross + j * n_parts);
    return COV_OK;
}

int cov_gemm_pack_floats(const struct cov_gemm *gemm, const float *b, struct cov_matrix *m,
                         struct cov_err *e)
{
    (void)gemm;
    size_t n_panels = (m->n + m->panel - 1) / m->panel;
    m->data = cov_calloc64(n_panels * m->panel, m->k * sizeof *b, e);
    if (!m->data)
        return COV_ENOMEM;
    for (size_t p = 0; p < n_panels; p++) {
        size_t left = m->n - p * m->panel, cols = left < m->panel ? left : m->panel;
        for (size_t i = 0; i < m->k; i++)
            memcpy(m->data + (p * m->k + i) * m->panel, b + i * m->n + p * m->panel,
                   cols * sizeof *b);
    }
    return COV_OK;
}

static int make_units(struct cov_matrix *m, struct cov_err *e)
{
    size_t cols = (m->n + m->panel - 1) / m->panel * m->panel;
    m->unit = cov_calloc64(cols, sizeof *m->unit, e);
    m->column_sums = m->unit ? cov_calloc64(cols, sizeof *m->column_sums, e) : NULL;
    if (!m->column_sums)
        return COV_ENOMEM;
    for (size_t j = 0; j < cols; j++) {
        float *column = m->data + j / m->panel * m->panel * m->k + j % m->panel;
        double squares = 0, sum = 0;
        for (size_t i = 0; i < m->k; i++)
            squares += (double)column[i * m->panel] * (double)column[i * m->panel];
        double exponent = squares > 0 ? round(log2(squares / (double)m->k) / 2) : 0;
        m->unit[j] = (float)exp2(fmax(-COV_INNER_MAX_SCALE, fmin(exponent, COV_INNER_MAX_SCALE)));
        for (size_t i = 0; i < m->k; i++)
            column[i * m->panel] /= m->unit[j];
        for (size_t i = 0; i + COV_INNER_ROWS <= m->k; i += COV_INNER_ROWS) {
            const float *row = column + i * m->panel;
            sum += (double)row[4 * m->panel] * (double)row[5 * m->panel] -
                   (double)row[m->panel] * (double)row[2 * m->panel];
        }
        m->column_sums[j] = (float)sum;
    }
    return COV_OK;
}

int cov_gemm_pack_inner(const struct cov_gemm *gemm, const float *b, struct cov_matrix *m,
                        struct cov_err *e)
{
    int rc = cov_gemm_pack_floats(gemm, b, m, e);
    return rc ? rc : make_units(m, e);
}

int cov_gemm_pack_pairs(const struct cov_gemm *gemm, const float *b, struct cov_matrix *m,
                        struct cov_err *e)
{
    size_t n_panels = (m->n + m->panel - 1) / m->panel,
           terms = gemm->arithmetic == COV_BF16 ? 1 : 2;
    size_t depth = (m->k + gemm->k_unit - 1) / gemm->k_unit * gemm->k_unit;
    m->pairs = cov_calloc64(n_panels * m->panel * terms, depth * sizeof *m->pairs, e);
    if (!m->pairs)
        return COV_ENOMEM;
    for (size_t j = 0; j < m->n; j++)
        for (size_t i = 0; i < m->k; i++)
            for (size_t t = 0; t < terms; t++) {
                float v = b[i * m->n + j];
                size_t row = j / m->panel * (depth / 2) + i / 2;
                size_t at = ((row * terms + t) * m->panel + j % m->panel) * 2 + i % 2;
                m->pairs[at] = cov_bf16_bits(t ? cov_bf16_low(v) : v);
            }
    return COV_OK;
}

int cov_matrix_init(const struct cov_gemm *gemm, size_t k, size_t n, const float *b,
                    struct cov_matrix *out, struct cov_err *e)
{
    *out =
        (struct cov_matrix){.k = k, .n = n, .panel = n <= gemm->lanes ? gemm->lanes : gemm->width};
    int rc = gemm->pack(gemm, b, out, e);
    if (rc)
        cov_matrix_fini(out);
    return rc;
}

void cov_matrix_fini(struct cov_matrix *m)
{
    free(m->data);
    free(m->pairs);
    free(m->unit);
    free(m->cross);
    free(m->column_sums);
    m->data = m->unit = m->column_sums = NULL;
    m->cross = NULL;
    m->pairs = NULL;
}
