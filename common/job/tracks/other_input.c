/* other_input.c - see track_jobs.h. Whether the bases, datasets and contigs of two inputs are the same.
 * Of the bases, compares one strand of each pair of chunks, because the other strand has the same.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/text.h"
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

/* ---------------------------------------------------------------- bases: rows of both */

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

/* ---------------------------------------------------------------- bases: work */

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

/* Names and lengths of contigs can be the same in different assemblies. COV_EINPUT, naming both inputs
 * and the first place, if their bases differ in a contig that both have. A genome file has bases, and a
 * predictions file of covpredict has fingerprints of bases; compares nothing if an input has neither,
 * or if it is a track or a stream, or where the chunks of the two are at different positions. */
static int check_bases(const struct cov_track_source *a, const struct cov_track_source *b,
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

/* ---------------------------------------------------------------- datasets */

static void list_datasets(const struct cov_track_source *s, struct cov_listing *l)
{
    for (size_t k = 0; k < s->n_datasets; k++)
        cov_listing_add(l, s->datasets[k]);
}

static int no_dataset(const struct cov_track_source *source, const struct cov_track_source *other,
                      const struct cov_listing *lacking, bool chosen, struct cov_err *e)
{
    struct cov_listing known = {0};
    list_datasets(other, &known);
    if (chosen)
        return cov_fail(e, COV_EINPUT, "%s: unknown dataset %s%s; it has: %s%s", other->name,
                        lacking->text, cov_listing_more(lacking), known.text,
                        cov_listing_more(&known));
    return cov_fail(e, COV_EINPUT,
                    "%s: no dataset in common with %s; it has: %s%s; %s has: %s%s; if two are the "
                    "same, use h5chunk rename",
                    other->name, source->name, known.text, cov_listing_more(&known), source->name,
                    lacking->text, cov_listing_more(lacking));
}

/* Keeps the datasets whose names both inputs have. */
static int match_names(struct cov_track_source *source, struct cov_track_source *other, bool chosen,
                       struct cov_err *e)
{
    struct cov_listing lacking = {0};
    const size_t n = source->n_datasets;
    size_t n_both = 0;
    size_t *ours = cov_calloc(2 * n, sizeof *ours, e), *theirs = ours + n;
    int rc = ours ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        const char *name = source->datasets[k];
        size_t i = 0;
        while (i < other->n_datasets && strcmp(other->datasets[i], name) != 0)
            i++;
        if (i == other->n_datasets) {
            cov_listing_add(&lacking, name);
            continue;
        }
        ours[n_both] = k;
        theirs[n_both++] = i;
    }
    if (!rc && lacking.n > 0 && (n_both == 0 || chosen))
        rc = no_dataset(source, other, &lacking, chosen, e);
    else if (!rc && lacking.n > 0)
        cov_warn("%s: skipping datasets of %s that it does not have: %s%s", other->name,
                 source->name, lacking.text, cov_listing_more(&lacking));
    if (!rc)
        rc = cov_track_source_keep(source, ours, n_both, e);
    if (!rc)
        rc = cov_track_source_keep(other, theirs, n_both, e);
    free(ours);
    return rc;
}

int cov_other_match(struct cov_track_source *source, struct cov_track_source *other, bool chosen,
                    struct cov_err *e)
{
    const size_t n = source->n_datasets, m = other->n_datasets;
    if (!source->is_track && !other->is_track)
        return match_names(source, other, chosen, e);
    if (n == 1 && m == 1)
        return COV_OK;
    const struct cov_track_source *several = n > 1 ? source : other;
    struct cov_listing names = {0};
    list_datasets(several, &names);
    return cov_fail(
        e, COV_EINPUT,
        "%s: has %zu datasets (%s%s), but %s is a single track; choose one with --datasets",
        several->name, several->n_datasets, names.text, cov_listing_more(&names),
        (n > 1 ? other : source)->name);
}

/* ---------------------------------------------------------------- contigs */

int cov_other_store(const struct cov_track_source *source, struct cov_track_source *other,
                    const char *dir, const char *which, const struct cov_job *job,
                    struct cov_interval_store **stores, struct cov_err *e)
{
    const size_t n = other->n_datasets;
    /* No statistics here: bases, chunks and the other stages describe the input. */
    const struct cov_job quiet = {.pool = job->pool, .progress = job->progress};
    char what[64];
    double beg = cov_clock();
    struct cov_track_sink **sinks = cov_calloc(n, sizeof *sinks, e);
    int rc = sinks ? check_bases(source, other, &quiet, e) : COV_ENOMEM;
    if (!rc && job->stats)
        cov_stats_add_stage(job->stats, "bases", cov_clock() - beg);
    beg = cov_clock();
    for (size_t k = 0; !rc && k < n; k++) {
        rc = cov_interval_store_new(other->name, other->contigs, dir, &stores[k], e);
        if (!rc)
            sinks[k] = cov_interval_store_sink(stores[k]);
    }
    (void)snprintf(what, sizeof what, "reading the %s track", which);
    if (!rc)
        rc = cov_track_source_run(other, sinks, what, &quiet, e);
    if (!rc && job->stats)
        cov_stats_add_stage(job->stats, which, cov_clock() - beg);
    free(sinks);
    return rc;
}

static int check_length(const struct cov_track_source *source, int64_t a,
                        const struct cov_track_source *other, int64_t b, const char *contig,
                        struct cov_err *e)
{
    const bool has_a = source->has_lengths, has_b = other->has_lengths;
    if (has_a && has_b && a != b)
        return cov_fail(e, COV_EINPUT, "%s: contig %s has %" PRId64 " bases, but %" PRId64 " in %s",
                        source->name, contig, a, b, other->name);
    const bool is_past = has_a && !has_b && b > a;
    if (is_past || (has_b && !has_a && a > b))
        return cov_fail(e, COV_EINPUT,
                        "%s: contig %s reaches base %" PRId64 ", but has only %" PRId64
                        " bases in %s",
                        (is_past ? other : source)->name, contig, is_past ? b : a, is_past ? a : b,
                        (is_past ? source : other)->name);
    return COV_OK;
}

int cov_other_check_contigs(const struct cov_track_source *source,
                            const struct cov_track_sink *track,
                            const struct cov_track_source *other, struct cov_interval_store *store,
                            const char *blacklist, struct cov_err *e)
{
    const struct cov_track_sink *stored = cov_interval_store_sink(store);
    const size_t n = cov_track_n_contigs(track), n_other = cov_track_n_contigs(stored);
    struct cov_listing ours = {0}, theirs = {0};
    int rc = COV_OK;
    for (size_t i = 0, k; !rc && i < n; i++) {
        const char *name = cov_track_contig_name(track, i);
        if (cov_track_find_contig(stored, name, &k))
            rc = check_length(source, cov_track_contig_length(track, i), other,
                              cov_track_contig_length(stored, k), name, e);
        else
            cov_listing_add(&ours, name);
    }
    if (rc)
        return rc;
    for (size_t i = 0, k; i < n_other; i++)
        if (!cov_track_find_contig(track, cov_track_contig_name(stored, i), &k))
            cov_listing_add(&theirs, cov_track_contig_name(stored, i));
    const char *more_ours = cov_listing_more(&ours), *more_theirs = cov_listing_more(&theirs);
    if (ours.n == n)
        return cov_fail(e, COV_EINPUT,
                        "%s: none of its contigs (%s%s) is in %s (%s%s); --rename maps names",
                        source->name, ours.text, more_ours, other->name, theirs.text, more_theirs);
    if (ours.n > 0)
        cov_warn("%s: skipping %zu of %zu contigs that are not in %s: %s%s", source->name, ours.n,
                 n, other->name, ours.text, more_ours);
    if (theirs.n > 0)
        cov_warn("%s: skipping %zu of %zu contigs that are not in %s%s%s: %s%s", other->name,
                 theirs.n, n_other, source->name, blacklist ? ", or are dropped by " : "",
                 blacklist ? blacklist : "", theirs.text, more_theirs);
    return COV_OK;
}
