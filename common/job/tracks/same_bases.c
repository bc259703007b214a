/* same_bases.c - see track_jobs.h. Compares one strand of each pair of chunks, because the other
 * strand has the same bases.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/base/ring.h"
#include "common/chunk/bases.h"
#include "common/job/tracks/track_jobs.h"
#include "common/signal/contig_filter.h"

/* An input, and its place in the search for rows that both inputs have. */
struct side {
    const char *name;
    struct cov_source_rows rows;
    uint64_t *fingerprints;  /* of the rows; NULL: computed from the bases */
    struct cov_bases *bases; /* NULL: none */
    size_t contig, pair, end;
};

struct bases_slot {
    size_t contig, rows[2]; /* of each side */
    struct cov_blob raw[2];
    uint64_t fingerprints[2];
};

struct bases_run {
    struct side sides[2];
    struct cov_progress *progress;
    size_t L; /* the longest chunk */
    bool in_contig;
};

/* Reads the fingerprints of a side, or opens its bases if it has none. A side with neither is no
 * error (knows_bases). */
static int open_side(struct side *s, struct cov_err *e)
{
    size_t n = cov_grid_n_chunks(s->rows.grid);
    int rc = cov_bases_fingerprints_read(s->rows.h5, n, &s->fingerprints, e);
    int has_bases = rc || s->fingerprints ? 0 : cov_bases_are_in(s->rows.h5, e);
    if (has_bases <= 0)
        return rc ? rc : has_bases;
    rc = cov_bases_open(s->rows.h5, &s->bases, e);
    if (!rc && (cov_bases_n_rows(s->bases) != n ||
                cov_bases_length(s->bases) != cov_grid_chunk_length(s->rows.grid)))
        rc = cov_fail(e, COV_EINPUT,
                      "%s: %s: %zu x %zu bases, but the coverage has %zu x %zu values", s->name,
                      cov_bases_name(s->bases), cov_bases_n_rows(s->bases),
                      cov_bases_length(s->bases), n, cov_grid_chunk_length(s->rows.grid));
    return rc;
}

static bool knows_bases(const struct side *s)
{
    return s->fingerprints || s->bases;
}

/* ---------------------------------------------------------------- rows of both */

/* Finds the next contig that both sides have. The comparison reports different lengths. */
static bool next_contig(struct side *a, struct side *b)
{
    while (a->contig < a->rows.n_contigs && b->contig < b->rows.n_contigs) {
        const struct cov_track_contig *x = &a->rows.contigs[a->contig];
        const struct cov_track_contig *y = &b->rows.contigs[b->contig];
        int order = strcmp(x->name, y->name);
        bool same_length =
            cov_grid_seq_length(a->rows.grid, x->seq) == cov_grid_seq_length(b->rows.grid, y->seq);
        if (order == 0 && same_length) {
            cov_grid_seq_pairs(a->rows.grid, x->seq, &a->pair, &a->end);
            cov_grid_seq_pairs(b->rows.grid, y->seq, &b->pair, &b->end);
            return true;
        }
        (order < 0 ? a : b)->contig++;
    }
    return false;
}

/* Finds the next rows of the same interval and strand of this contig. */
static bool next_rows(struct side *a, struct side *b, size_t rows[2])
{
    while (a->pair < a->end && b->pair < b->end) {
        struct cov_pair x = cov_grid_pair(a->rows.grid, a->pair);
        struct cov_pair y = cov_grid_pair(b->rows.grid, b->pair);
        if (x.beg != y.beg || x.end != y.end) {
            (x.beg < y.beg || (x.beg == y.beg && x.end < y.end) ? a : b)->pair++;
            continue;
        }
        a->pair++;
        b->pair++;
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
            if (x.rows[strand] != COV_NO_ROW && y.rows[strand] != COV_NO_ROW) {
                rows[0] = x.rows[strand];
                rows[1] = y.rows[strand];
                return true;
            }
    }
    return false;
}

/* ---------------------------------------------------------------- work */

static int fetch(void *arg, void *slot, struct cov_err *e)
{
    struct bases_run *r = arg;
    struct side *a = &r->sides[0], *b = &r->sides[1];
    struct bases_slot *s = slot;
    while (!r->in_contig || !next_rows(a, b, s->rows)) {
        if (r->in_contig) {
            a->contig++;
            b->contig++;
        }
        r->in_contig = next_contig(a, b);
        if (!r->in_contig)
            return 0;
    }
    s->contig = a->contig;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < 2; i++) {
        cov_blob_clear(&s->raw[i]);
        if (r->sides[i].bases)
            rc = cov_bases_fetch(r->sides[i].bases, s->rows[i], &s->raw[i], e);
    }
    return rc ? rc : 1;
}

static int hash(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct bases_run *r = arg;
    struct bases_slot *s = slot;
    uint8_t *codes = *(uint8_t **)worker;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < 2; i++) {
        const struct side *side = &r->sides[i];
        size_t row = s->rows[i];
        if (side->fingerprints) {
            s->fingerprints[i] = side->fingerprints[row];
            continue;
        }
        rc = cov_bases_decode(side->bases, side->rows.grid, row, &s->raw[i], 0, codes, e);
        struct cov_chunk chunk = cov_grid_chunk(side->rows.grid, row);
        if (!rc)
            s->fingerprints[i] = cov_bases_fingerprint(codes, (size_t)(chunk.end - chunk.beg));
    }
    return rc;
}

static int compare(void *arg, void *slot, struct cov_err *e)
{
    const struct bases_run *r = arg;
    const struct bases_slot *s = slot;
    const struct side *a = &r->sides[0];
    struct cov_chunk chunk = cov_grid_chunk(a->rows.grid, s->rows[0]);
    cov_progress_add(r->progress, chunk.end - chunk.beg);
    if (s->fingerprints[0] == s->fingerprints[1])
        return COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "%s: %s:%lld-%lld: made from other bases than %s; to compare nevertheless, "
                    "convert one to a bigWig",
                    a->name, a->rows.contigs[s->contig].name, (long long)chunk.beg + 1,
                    (long long)chunk.end, r->sides[1].name);
}

/* ---------------------------------------------------------------- all of it */

static void fini_slot(void *arg, void *slot)
{
    struct bases_slot *s = slot;
    (void)arg;
    cov_blob_fini(&s->raw[0]);
    cov_blob_fini(&s->raw[1]);
}

/* A worker's buffer is a pointer to the codes of a chunk. */
static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct bases_run *r = arg;
    (void)i;
    *(uint8_t **)worker = cov_arena_calloc(memory, r->L, 1);
}

static int compare_rows(struct bases_run *r, struct cov_pool *pool, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = fetch,
        .work = hash,
        .store = compare,
        .slot_bytes = sizeof(struct bases_slot),
        .worker_bytes = sizeof(uint8_t *),
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    for (size_t i = 0; i < 2; i++) {
        size_t L = cov_grid_chunk_length(r->sides[i].rows.grid);
        r->L = L > r->L ? L : r->L;
    }
    cov_progress_begin(r->progress, "comparing bases", "bp", -1);
    int rc = cov_ring_run_job(pool, &ring, r, NULL, e);
    cov_progress_end(r->progress);
    return rc;
}

int cov_same_bases_check(const struct cov_track_source *a, const struct cov_track_source *b,
                         const struct cov_job *job, struct cov_err *e)
{
    struct bases_run r = {.sides = {{.name = a->name}, {.name = b->name}},
                          .progress = job->progress};
    if (!cov_track_source_rows(a, &r.sides[0].rows) ||
        !cov_track_source_rows(b, &r.sides[1].rows) || strcmp(a->name, b->name) == 0)
        return COV_OK;
    int rc = open_side(&r.sides[0], e);
    if (!rc)
        rc = open_side(&r.sides[1], e);
    if (!rc && knows_bases(&r.sides[0]) && knows_bases(&r.sides[1]))
        rc = compare_rows(&r, job->pool, e);
    for (size_t i = 0; i < 2; i++) {
        cov_bases_close(r.sides[i].bases);
        free(r.sides[i].fingerprints);
    }
    return rc;
}
