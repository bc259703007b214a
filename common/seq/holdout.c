/* holdout.c - see holdout.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/holdout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"

/* Returns how many of n > 1 are held out. */
static size_t share(size_t n, double fraction)
{
    size_t m = (size_t)ceil((double)n * fraction);
    return m < n ? m : n - 1;
}

/* Moves m random elements of x[0..n) to its front. */
static void draw(struct cov_rng *rng, size_t *x, size_t n, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        size_t k = i + (size_t)cov_rng_below(rng, n - i), t = x[i];
        x[i] = x[k];
        x[k] = t;
    }
}

static void hold_rows(const struct cov_pair *pair, bool *held)
{
    for (int k = COV_PLUS; k <= COV_MINUS; k++)
        if (pair->rows[k] != COV_NO_ROW)
            held[pair->rows[k]] = true;
}

static void hold_sequence(const struct cov_grid *g, size_t seq, bool *held)
{
    size_t p, end;
    for (cov_grid_seq_pairs(g, seq, &p, &end); p < end; p++) {
        struct cov_pair pair = cov_grid_pair(g, p);
        hold_rows(&pair, held);
    }
}

struct candidate {
    size_t seq, n_chunks;
    const char *name, *species;
};

/* Sorts by number of chunks, largest first, then by name, so that the order in the file does not
 * matter. */
static int by_chunks(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->n_chunks != y->n_chunks)
        return x->n_chunks > y->n_chunks ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->species, y->species);
}

static size_t count_chunks(const struct cov_grid *g, size_t seq)
{
    size_t p, end, n = 0;
    for (cov_grid_seq_pairs(g, seq, &p, &end); p < end; p++) {
        struct cov_pair pair = cov_grid_pair(g, p);
        n += cov_pair_n_rows(&pair);
    }
    return n;
}

/* Returns how many of the n sorted candidates make up N90. */
static size_t count_n90(const struct candidate *x, size_t n, size_t n_chunks)
{
    size_t wanted = (size_t)((double)n_chunks * 0.9), sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i].n_chunks;
        if (sum >= wanted)
            return i + 1;
    }
    return n;
}

int cov_holdout_sequences(const struct cov_grid *g, double fraction, uint64_t seed, bool *held,
                          struct cov_err *e)
{
    size_t n_seqs = cov_grid_n_seqs(g), n = 0, n_held = 0;
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    memset(held, 0, cov_grid_n_chunks(g) * sizeof *held);
    struct candidate *x = cov_malloc(n_seqs, sizeof *x, e);
    size_t *seqs = cov_malloc(n_seqs, sizeof *seqs, e);
    int rc = COV_ENOMEM;
    if (!x || !seqs)
        goto out;
    for (size_t seq = 0; seq < n_seqs; seq++) {
        size_t n_chunks = count_chunks(g, seq);
        if (n_chunks)
            x[n++] =
                (struct candidate){seq, n_chunks, cov_grid_name(g, seq), cov_grid_species(g, seq)};
    }
    if (n)
        qsort(x, n, sizeof *x, by_chunks);
    for (size_t i = 0; i < n; i++)
        seqs[i] = x[i].seq;
    size_t n90 = count_n90(x, n, cov_grid_n_chunks(g));
    const size_t beg[] = {0, n90}, end[] = {n90, n};
    for (int k = 0; k < 2; k++) {
        size_t size = end[k] - beg[k], m = size > 1 ? share(size, fraction) : 0;
        draw(&rng, seqs + beg[k], size, m);
        for (size_t i = 0; i < m; i++)
            hold_sequence(g, seqs[beg[k] + i], held);
        n_held += m;
    }
    rc = n_held
             ? COV_OK
             : cov_fail(e, COV_EINPUT,
                        "too few sequences for a validation set (%zu): it takes whole sequences, "
                        "%s; --by chunk draws pairs of chunks",
                        n,
                        n < 2 ? "so at least 2 are needed"
                              : "one of at least 2 up to N90 or of at least 2 others");
out:
    free(x);
    free(seqs);
    return rc;
}

int cov_holdout_pairs(const struct cov_grid *g, double fraction, uint64_t seed, bool *held,
                      struct cov_err *e)
{
    size_t n = cov_grid_n_pairs(g);
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    memset(held, 0, cov_grid_n_chunks(g) * sizeof *held);
    if (n < 2)
        return cov_fail(e, COV_EINPUT, "too few pairs of chunks for a validation set (%zu)", n);
    size_t *pairs = cov_malloc(n, sizeof *pairs, e), m = share(n, fraction);
    if (!pairs)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        pairs[i] = i;
    draw(&rng, pairs, n, m);
    for (size_t i = 0; i < m; i++) {
        struct cov_pair pair = cov_grid_pair(g, pairs[i]);
        hold_rows(&pair, held);
    }
    free(pairs);
    return COV_OK;
}
