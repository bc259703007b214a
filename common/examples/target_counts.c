/* target_counts.c - see target_counts.h.
 * SPDX-License-Identifier: MIT */
#include "common/examples/target_counts.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Bins of hundredths, then of floats by their upper bits, up to 2^64. */
enum {
    EXACT = 1 << 16,
    DROPPED_BITS = 13,
    OCTAVES = 64 - 9, /* from 2^9 on */
    BINS = EXACT + (OCTAVES << (23 - DROPPED_BITS)),
};
#define FIRST_ABOVE (EXACT / 100.0F)

struct cov_target_counts {
    size_t n_datasets;
    _Atomic uint64_t *n; /* [n_datasets, BINS] */
};

int cov_target_counts_new(size_t n_datasets, struct cov_target_counts **out, struct cov_err *e)
{
    struct cov_target_counts *c = cov_calloc(1, sizeof *c, e);
    *out = c;
    if (!c)
        return COV_ENOMEM;
    c->n_datasets = n_datasets;
    c->n = cov_calloc(n_datasets, BINS * sizeof *c->n, e);
    if (c->n)
        return COV_OK;
    cov_target_counts_free(c);
    *out = NULL;
    return COV_ENOMEM;
}

void cov_target_counts_free(struct cov_target_counts *c)
{
    if (!c)
        return;
    free(c->n);
    free(c);
}

void cov_target_counts_clear(struct cov_target_counts *c)
{
    for (size_t i = 0; i < c->n_datasets * BINS; i++)
        atomic_store_explicit(&c->n[i], 0, memory_order_relaxed);
}

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >> DROPPED_BITS;
}

/* v > 0 */
static size_t bin_of(float v)
{
    if (v < FIRST_ABOVE)
        return (size_t)rintf(v * 100.0F);
    size_t bin = EXACT + (bits_of(v) - bits_of(FIRST_ABOVE));
    return bin < BINS ? bin : BINS - 1;
}

static float value_of(size_t bin)
{
    if (bin < EXACT)
        return (float)bin / 100.0F;
    uint32_t bits = (bits_of(FIRST_ABOVE) + (uint32_t)(bin - EXACT)) << DROPPED_BITS;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Neighbours are often equal, and are added at once. */
void cov_target_counts_add(struct cov_target_counts *c, const float *targets, size_t L)
{
    for (size_t d = 0; d < c->n_datasets; d++)
        for (size_t i = 0, end; i < L; i = end) {
            const float v = targets[i * c->n_datasets + d];
            for (end = i + 1; end < L && targets[end * c->n_datasets + d] == v;)
                end++;
            if (v > 0)
                atomic_fetch_add_explicit(&c->n[d * BINS + bin_of(v)], end - i,
                                          memory_order_relaxed);
        }
}

int cov_target_counts_share(struct cov_target_counts *c, struct cov_ranks *ranks, struct cov_err *e)
{
    double *sums = cov_calloc(BINS, sizeof *sums, e);
    int rc = sums ? COV_OK : COV_ENOMEM;
    for (size_t d = 0; !rc && d < c->n_datasets; d++) {
        _Atomic uint64_t *n = c->n + d * BINS;
        for (size_t i = 0; i < BINS; i++)
            sums[i] = (double)atomic_load_explicit(&n[i], memory_order_relaxed);
        rc = cov_ranks_sum(ranks, sums, BINS, e);
        for (size_t i = 0; i < BINS; i++)
            atomic_store_explicit(&n[i], (uint64_t)sums[i], memory_order_relaxed);
    }
    free(sums);
    return rc;
}

double cov_target_counts_median(const struct cov_target_counts *c, size_t dataset)
{
    const _Atomic uint64_t *n = c->n + dataset * BINS;
    uint64_t all = 0, seen = 0;
    for (size_t i = 0; i < BINS; i++)
        all += atomic_load_explicit(&n[i], memory_order_relaxed);
    for (size_t i = 0; i < BINS; i++) {
        seen += atomic_load_explicit(&n[i], memory_order_relaxed);
        if (seen > 0 && seen >= all - seen)
            return (double)value_of(i);
    }
    return 0;
}
