/* synthetic.h - what make_plant.c and benchmark synth share: parts of synthetic genomes.
 *
 * The output is the same on every machine: one seed gives all random numbers.
 * SPDX-License-Identifier: MIT */
#ifndef DEMO_SYNTHETIC_H
#define DEMO_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/rng.h"

enum { LINE = 60, N_FAMILIES = 12, SATELLITE = 178 };

struct family { /* of transposable elements: copies of a common ancestor */
    char *bases;
    int64_t n;
};

struct genome {
    struct cov_rng rng;
    struct family families[N_FAMILIES];
    char satellite[SATELLITE]; /* the repeat unit of centromeres */
    FILE *fasta, *features;    /* features: may be NULL */
};

/* A sequence. */
struct piece {
    const char *name;
    char *bases;
    int64_t n;
    double **rate; /* expected reads per base of each assay, both strands */
};

/* ---- random numbers ---- */

static inline int64_t between(struct genome *g, int64_t low, int64_t high)
{
    return low + (int64_t)cov_rng_below(&g->rng, (uint64_t)(high - low));
}

/* Returns true in `per_mille` of 1000 cases. */
static inline bool chance(struct genome *g, int per_mille)
{
    return (int)cov_rng_below(&g->rng, 1000) < per_mille;
}

static inline char draw_base(struct genome *g, int gc_per_mille)
{
    bool gc = chance(g, gc_per_mille), second = chance(g, 500);
    return gc ? (second ? 'C' : 'G') : (second ? 'A' : 'T');
}

/* Returns exp(-x) for small x >= 0, the same on every machine. */
static inline double exp_minus(double x)
{
    enum { HALVINGS = 10 };
    double part = x / (1 << HALVINGS);
    double y = 1 - part * (1 - part / 2 * (1 - part / 3));
    for (int i = 0; i < HALVINGS; i++)
        y *= y;
    return y;
}

static inline int poisson(struct cov_rng *rng, double mean)
{
    enum { MOST = 64 }; /* exp_minus is exact enough up to here */
    int n = -1;
    if (mean > MOST)
        return poisson(rng, MOST) + poisson(rng, mean - MOST);
    double limit = exp_minus(mean);
    for (double product = 1; product > limit || n < 0; n++)
        product *= cov_rng_double(rng);
    return n;
}

/* ---- repeats and gaps ---- */

static inline void free_families(struct genome *g)
{
    for (int i = 0; i < N_FAMILIES; i++)
        free(g->families[i].bases);
}

static inline void note_range(struct genome *g, const struct piece *p, int64_t beg, int64_t end,
                              const char *what)
{
    if (g->features)
        (void)fprintf(g->features, "%s\t%lld\t%lld\t%s\t0\t.\n", p->name, (long long)beg,
                      (long long)end, what);
}

/* Puts a soft-masked (lower case) copy with about 6 % of the bases changed. */
static inline void put_copy(struct genome *g, char *bases, const char *original, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char base = chance(g, 60) ? draw_base(g, 400) : original[i];
        bases[i] = (char)(base | 0x20);
    }
}

static inline void put_gap(struct genome *g, const struct piece *p, int64_t beg, int64_t n)
{
    memset(p->bases + beg, 'N', (size_t)n);
    note_range(g, p, beg, beg + n, "gap");
}

/* ---- sequences and files ---- */

static inline void write_lines(const struct genome *g, const struct piece *p)
{
    for (int64_t i = 0; i < p->n; i += LINE) {
        (void)fwrite(p->bases + i, 1, (size_t)(p->n - i < LINE ? p->n - i : LINE), g->fasta);
        (void)putc('\n', g->fasta);
    }
}

#endif
