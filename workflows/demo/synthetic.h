/* synthetic.h - what make_demo.c, make_plant.c and benchmark synth share: parts of synthetic genomes.
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

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/number.h"
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
    FILE *fasta, *features;
    const char *more; /* further columns of a repeat or gap in `features`, which may be NULL */
};

/* A sequence. */
struct piece {
    const char *name;
    char *bases;
    int64_t n;
    double **rate; /* make_plant.c: expected reads per base of each assay, both strands */
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

/* Draws bases[0..n) with few CG, as in most of a plant's genome, where methylated C mutates to T.
 * */
static inline void draw_background(struct genome *g, char *bases, int64_t n, int gc_per_mille)
{
    char before = 'A';
    for (int64_t i = 0; i < n; i++) {
        char base = draw_base(g, gc_per_mille);
        if (before == 'C' && base == 'G' && chance(g, 350))
            base = 'A';
        bases[i] = before = base;
    }
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

/* Allocates an ancestor of low <= n < 4000 bases. */
static inline int make_family(struct genome *g, struct family *f, int64_t low, struct cov_err *e)
{
    f->n = between(g, low, 4000);
    f->bases = cov_malloc((size_t)f->n, 1, e);
    if (!f->bases)
        return COV_ENOMEM;
    draw_background(g, f->bases, f->n, (int)between(g, 320, 460));
    return COV_OK;
}

static inline void free_families(struct genome *g)
{
    for (int i = 0; i < N_FAMILIES; i++)
        free(g->families[i].bases);
}

static inline void note_range(struct genome *g, const struct piece *p, int64_t beg, int64_t end,
                              const char *what)
{
    if (g->features)
        (void)fprintf(g->features, "%s\t%lld\t%lld\t%s%s\n", p->name, (long long)beg,
                      (long long)end, what, g->more);
}

/* Puts a soft-masked (lower case) copy with about 6 % of the bases changed. */
static inline void put_copy(struct genome *g, char *bases, const char *original, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char base = chance(g, 60) ? draw_base(g, 400) : original[i];
        bases[i] = (char)(base | 0x20);
    }
}

/* Puts copies of the families, min_gap to max_gap bases apart, many of them truncated. */
static inline void put_repeats(struct genome *g, const struct piece *p, int64_t min_gap,
                               int64_t max_gap)
{
    for (int64_t at = between(g, 500, 6000);; at += between(g, min_gap, max_gap)) {
        const struct family *f = &g->families[between(g, 0, N_FAMILIES)];
        int64_t n = chance(g, 400) ? f->n : between(g, f->n / 4, f->n);
        if (at + n > p->n)
            return;
        put_copy(g, p->bases + at, f->bases, n);
        note_range(g, p, at, at + n, "repeat");
        at += n;
    }
}

static inline void put_gap(struct genome *g, const struct piece *p, int64_t beg, int64_t n)
{
    memset(p->bases + beg, 'N', (size_t)n);
    note_range(g, p, beg, beg + n, "gap");
}

/* Puts the centromere in [*beg, *end): a tandem repeat, as in Arabidopsis, with a gap in the
 * assembly. */
static inline void put_centromere(struct genome *g, const struct piece *p, int64_t *beg,
                                  int64_t *end)
{
    int64_t n = p->n / 25 / SATELLITE * SATELLITE, gap = n / 3;
    *beg = p->n / 9 * 5;
    *end = *beg + n;
    for (int64_t i = 0; i < n; i += SATELLITE)
        put_copy(g, p->bases + *beg + i, g->satellite, SATELLITE);
    note_range(g, p, *beg, *end, "repeat");
    put_gap(g, p, *beg + gap, gap);
}

static inline void put_gaps(struct genome *g, const struct piece *p)
{
    for (int64_t at = between(g, 15000, 60000); at + 3000 < p->n; at += between(g, 30000, 200000))
        put_gap(g, p, at, chance(g, 500) ? 100 : between(g, 200, 2500));
}

/* ---- sequences and files ---- */

enum { N_CHROMOSOMES = 5, N_CONTIGS = 4, N_PIECES = N_CHROMOSOMES + N_CONTIGS };

/* Sets the name and length of sequence i < N_PIECES: chromosomes with 30, 24, 19, 15 and 12 % of
 * n_bases, a contig of exactly one chunk, and short contigs. */
static inline void describe_piece(size_t i, int64_t n_bases, char name[32], int64_t *n)
{
    static const int shares[N_CHROMOSOMES] = {30, 24, 19, 15, 12};
    static const int contigs[N_CONTIGS] = {21384, 5003, 777, 41};
    bool large = i < N_CHROMOSOMES;
    size_t k = large ? i : i - N_CHROMOSOMES;
    (void)snprintf(name, 32, large ? "chr%zu" : "contig_%zu", k + 1);
    *n = large ? n_bases / 100 * shares[k] : contigs[k];
}

static inline void write_lines(const struct genome *g, const struct piece *p)
{
    for (int64_t i = 0; i < p->n; i += LINE) {
        (void)fwrite(p->bases + i, 1, (size_t)(p->n - i < LINE ? p->n - i : LINE), g->fasta);
        (void)putc('\n', g->fasta);
    }
}

static inline void write_bases(const struct genome *g, const struct piece *p)
{
    (void)fprintf(g->fasta, ">%s a made-up sequence of %lld bases\n", p->name, (long long)p->n);
    write_lines(g, p);
}

/* Creates DIRECTORY/NAME.SUFFIX. */
static inline FILE *create(const char *directory, const char *name, const char *suffix,
                           struct cov_err *e)
{
    char *path = cov_strfmt(e, "%s/%s.%s", directory, name, suffix);
    FILE *f = path ? fopen(path, "we") : NULL;
    if (path && !f)
        (void)cov_fail_errno(e, "%s", path);
    free(path);
    return f;
}

/* Closes f (may be NULL), and reports earlier write errors too. Returns `code` if that is an error. */
static inline int finish(FILE *f, const char *name, int code, struct cov_err *e)
{
    if (!f)
        return code;
    int failed = ferror(f);
    if (fclose(f) != 0 || failed)
        return code ? code : cov_fail_errno(e, "%s: cannot be written", name);
    return code;
}

/* Runs `make` on the arguments DIRECTORY [BASES [SEED]] and returns the exit status. SEED is 0 if it is
 * not given. */
static inline int run_program(int argc, char **argv, const char *name, int64_t n_bases,
                              int (*make)(const char *directory, int64_t n_bases, int64_t seed,
                                          struct cov_err *e))
{
    int64_t seed = 0;
    struct cov_err e = COV_ERR_INIT;
    int code = COV_OK;
    if (argc < 2 || argc > 4) {
        (void)fprintf(stderr, "usage: %s DIRECTORY [BASES [SEED]]\n", name);
        return 2;
    }
    if (argc >= 3)
        code = cov_parse_i64(argv[2], "BASES", 10000, 1000000000, &n_bases, &e);
    if (code == COV_OK && argc == 4)
        code = cov_parse_i64(argv[3], "SEED", 1, INT32_MAX, &seed, &e);
    if (code == COV_OK)
        code = make(argv[1], n_bases, seed, &e);
    if (code != COV_OK)
        (void)fprintf(stderr, "%s: error: %s\n", name, e.text);
    return code == COV_OK ? 0 : code == COV_EUSAGE ? 2 : 1;
}

#endif
