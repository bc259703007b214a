/* genome.c - see genome.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/genome.h"

#include <stdlib.h>

#include "common/base/mem.h"

/* Codes that are read at once; even, so that a sequence is without gaps in the store. */
enum { CODES = 1 << 15 };

struct reader {
    struct cov_fasta_pairs *fasta;
    struct cov_genome *g;
    size_t cap_names, cap_lengths, cap_offsets;
    uint8_t codes[CODES];
};

void cov_genome_free(struct cov_genome *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_seqs; i++)
        free(g->names[i]);
    free(g->names);
    free(g->lengths);
    free(g->offsets);
    cov_code_store_free(g->codes);
    free(g);
}

static int begin_sequence(struct reader *r, const char *name, struct cov_err *e)
{
    struct cov_genome *g = r->g;
    int rc = COV_RESERVE(&g->names, &r->cap_names, g->n_seqs + 1, e);
    if (!rc)
        rc = COV_RESERVE(&g->lengths, &r->cap_lengths, g->n_seqs + 1, e);
    if (!rc)
        rc = COV_RESERVE(&g->offsets, &r->cap_offsets, g->n_seqs + 1, e);
    if (rc)
        return rc;
    g->names[g->n_seqs] = cov_strdup(name, e);
    if (!g->names[g->n_seqs])
        return COV_ENOMEM;
    g->lengths[g->n_seqs] = 0;
    g->offsets[g->n_seqs] = cov_code_store_end(g->codes);
    g->n_seqs++;
    return COV_OK;
}

static int read_pairs(struct reader *r, struct cov_progress *progress, struct cov_err *e)
{
    struct cov_genome *g = r->g;
    struct cov_fasta_pair pair;
    int64_t done = 0;
    int got;
    while ((got = cov_fasta_pairs_next(r->fasta, &pair, r->codes, e)) > 0) {
        int64_t n = pair.end - pair.beg;
        int rc = pair.first ? begin_sequence(r, pair.name, e) : COV_OK;
        if (!rc)
            rc = cov_code_store_add(g->codes, r->codes, (size_t)n, e);
        if (rc)
            return rc;
        g->lengths[pair.seq] += n;
        g->n_bases += n;
        cov_progress_add(progress, cov_fasta_pairs_done(r->fasta) - done);
        done = cov_fasta_pairs_done(r->fasta);
    }
    g->n_bad = cov_fasta_pairs_n_bad(r->fasta);
    return got;
}

int cov_genome_read(const char *path, const struct cov_genome_options *options,
                    struct cov_progress *progress, struct cov_genome **out, struct cov_err *e)
{
    *out = NULL;
    int rc = COV_ENOMEM;
    struct reader *r = cov_calloc(1, sizeof *r, e);
    if (!r)
        return rc;
    r->g = cov_calloc(1, sizeof *r->g, e);
    if (r->g)
        rc = cov_code_store_new(options->tmpdir, &r->g->codes, e);
    if (!rc)
        rc = cov_fasta_pairs_open(path, options, CODES, &r->fasta, e);
    if (!rc) {
        cov_progress_begin(progress, "reading", "bytes", cov_fasta_pairs_total(r->fasta));
        rc = read_pairs(r, progress, e);
        cov_progress_end(progress);
    }
    if (!rc) {
        *out = r->g;
        r->g = NULL;
    }
    cov_fasta_pairs_free(r->fasta);
    cov_genome_free(r->g);
    free(r);
    return rc;
}

/* ---------------------------------------------------------------- bases */

int cov_genome_codes(const struct cov_genome *g, size_t seq, int64_t beg, int64_t end,
                     uint8_t *codes, struct cov_err *e)
{
    return cov_code_store_get(g->codes, g->offsets[seq], beg, (size_t)(end - beg), codes, e);
}
