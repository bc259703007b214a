/* count_track.c - see count_file.h: depth from the values of a bigWig or bedGraph file.
 *
 * Contigs are in file order; intervals, and the chunks of a contig, ascend. An interval that
 * continues in the next chunk is kept for that chunk.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/job/coverage/count_file.h"
#include "common/track/formats/intervals.h"
#include "common/track/smooth.h"

struct track_slot {
    size_t pair;
    size_t n;
    int32_t *values;
    int32_t max;
    double sum;
    struct cov_packed_pair packed;
};

struct track_job {
    const struct cov_count_genome *g;
    struct cov_count_file *m;
    struct cov_intervals *file;
    size_t *seqs; /* sequence of each contig read so far (bigWig: of all), or SIZE_MAX */
    size_t n_seqs, cap_seqs;
    /* The next interval is batch.iv[i]; `value` is valid if `looked`. */
    struct cov_intervals_batch batch;
    size_t i;
    bool looked, at_end;
    int32_t value;
    /* The next pair to fill. */
    bool in_contig;
    size_t contig, pair, pair_end;
    int64_t covered; /* end of the last chunk of the contig */
};

/* ---- intervals ---- */

static const char *contig_name(const void *file, size_t i)
{
    return cov_intervals_contig(file, i);
}

/* Fills j->seqs for the contigs before `n`. */
static int match_contigs(struct track_job *j, size_t n, struct cov_err *e)
{
    int rc = COV_RESERVE(&j->seqs, &j->cap_seqs, n, e);
    for (; !rc && j->n_seqs < n; j->n_seqs += rc == 0)
        rc =
            cov_count_find_contig(j->g, j->m->path, cov_intervals_contig(j->file, j->n_seqs),
                                  cov_intervals_length(j->file, j->n_seqs), &j->seqs[j->n_seqs], e);
    return rc;
}

/* Fails because of the value of the next interval. */
static int refuse(const struct track_job *j, const char *reason, struct cov_err *e)
{
    char place[COV_INTERVALS_PLACE];
    cov_intervals_place(j->file, j->i, place);
    return cov_fail(e, COV_EINPUT, "%s: value %.9g %s", place, (double)j->batch.iv[j->i].value,
                    reason);
}

/* Checks the next interval, whose contig is in the genome, and sets j->value. */
static int track_look(struct track_job *j, struct cov_err *e)
{
    const struct cov_interval *iv = &j->batch.iv[j->i];
    size_t seq = j->seqs[j->batch.contig];
    int64_t length = cov_grid_seq_length(j->g->grid, seq);
    double x = (double)iv->value, rounded = cov_round_half_even(x);
    j->looked = true;
    if (iv->end > length) {
        char place[COV_INTERVALS_PLACE];
        cov_intervals_place(j->file, j->i, place);
        return cov_fail(e, COV_EINPUT, "%s: interval ends at %lld, but %s has %lld bases in %s",
                        place, (long long)iv->end, cov_grid_name(j->g->grid, seq),
                        (long long)length, j->g->path);
    }
    if (x < 0)
        return refuse(j, "is negative", e);
    if (rounded > (double)INT32_MAX)
        return refuse(j, "does not fit in 32 bits", e);
    j->value = (int32_t)rounded;
    j->m->n_rounded += rounded != x;
    return COV_OK;
}

/* Moves to the next interval of the file that is on a contig of the genome. */
static int find_interval(struct track_job *j, struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && !j->at_end && j->i == j->batch.n) {
        j->i = 0;
        j->looked = false;
        rc = cov_intervals_next(j->file, &j->batch, e);
        j->at_end = rc == 0;
        if (rc <= 0)
            return rc;
        j->m->n_seen += (int64_t)j->batch.n;
        rc = match_contigs(j, j->batch.contig + 1, e);
        if (!rc && j->seqs[j->batch.contig] == SIZE_MAX) {
            j->m->n_elsewhere += (int64_t)j->batch.n;
            j->i = j->batch.n;
        }
    }
    return rc || j->at_end || j->looked ? rc : track_look(j, e);
}

static void pass_interval(struct track_job *j)
{
    j->i++;
    j->looked = false;
}

/* Fills values[0..n) of the pair. Keeps an interval that reaches past the pair. */
static int fill_pair(struct track_job *j, const struct cov_pair *p, int32_t *values,
                     struct cov_err *e)
{
    int64_t done = p->beg; /* positions before it are filled */
    int rc;
    while (!(rc = find_interval(j, e)) && !j->at_end && j->batch.contig == j->contig) {
        const struct cov_interval *iv = &j->batch.iv[j->i];
        int64_t beg = iv->beg > p->beg ? iv->beg : p->beg;
        int64_t end = iv->end < p->end ? iv->end : p->end;
        if (beg >= p->end)
            break;
        for (; done < beg; done++)
            values[done - p->beg] = 0;
        for (; done < end; done++)
            values[done - p->beg] = j->value;
        if (iv->end > p->end)
            break;
        pass_interval(j);
    }
    for (; done < p->end; done++)
        values[done - p->beg] = 0;
    return rc;
}

/* ---- the pipeline ---- */

/* Moves to the next contig with chunks; 0 if there is none. */
static int find_contig(struct track_job *j, struct cov_err *e)
{
    for (;;) {
        int rc = find_interval(j, e);
        if (rc || j->at_end)
            return rc;
        if (j->in_contig && j->batch.contig == j->contig) {
            pass_interval(j); /* past the last chunk of a partial file */
            continue;
        }
        j->in_contig = true;
        j->contig = j->batch.contig;
        j->covered = 0;
        cov_grid_seq_pairs(j->g->grid, j->seqs[j->contig], &j->pair, &j->pair_end);
        if (j->pair < j->pair_end)
            return 1;
    }
}

static int track_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct track_job *j = arg;
    struct track_slot *s = slot;
    int rc = j->pair < j->pair_end ? 1 : find_contig(j, e);
    if (rc <= 0)
        return rc;
    struct cov_pair p = cov_grid_pair(j->g->grid, j->pair);
    s->pair = j->pair++;
    s->n = (size_t)(p.end - p.beg);
    if (p.beg < j->covered)
        return cov_fail(e, COV_EINPUT, "%s: chunks overlap at %s:%lld", j->g->path,
                        cov_grid_name(j->g->grid, p.seq), (long long)p.beg + 1);
    j->covered = p.end;
    rc = fill_pair(j, &p, s->values, e);
    cov_count_mask(j->g, &p, s->values);
    return rc ? rc : 1;
}

static int track_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct track_job *j = arg;
    struct track_slot *s = slot;
    struct cov_pair p = cov_grid_pair(j->g->grid, s->pair);
    int64_t sum;
    struct cov_depth_lane lane = cov_count_lane(s->values, s->n, &sum), none = {NULL, 0};
    const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2] = {
        [COV_COVERAGE] = {lane, lane},
        [COV_SPLICED] = {none, none},
    };
    s->max = lane.max;
    s->sum = (double)sum;
    cov_depth_summary_add(&j->m->summary, *(unsigned *)worker, s->pair, lanes[COV_COVERAGE]);
    return cov_coverage_store_pack(&j->m->store, s->pair, &p, lanes, &s->packed, e);
}

static int track_store(void *arg, void *slot, struct cov_err *e)
{
    struct track_job *j = arg;
    struct track_slot *s = slot;
    j->m->max = s->max > j->m->max ? s->max : j->m->max;
    j->m->sums[cov_grid_pair(j->g->grid, s->pair).seq] += s->sum;
    cov_progress_add(j->g->progress, 1);
    return cov_coverage_store_put(&j->m->store, s->pair, &s->packed, e);
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct track_job *j = arg;
    struct track_slot *s = slot;
    s->values = cov_arena_calloc(memory, cov_grid_chunk_length(j->g->grid), sizeof *s->values);
}

static void fini_slot(void *arg, void *slot)
{
    struct track_slot *s = slot;
    (void)arg;
    cov_blob_fini(&s->packed.blob);
}

/* The contigs of a bigWig are known at the start, those of a bedGraph at the end. */
static int compare(struct track_job *j, struct cov_err *e)
{
    int rc = match_contigs(j, cov_intervals_n_contigs(j->file), e);
    return rc ? rc
              : cov_count_check_contigs(j->g, j->m, j->seqs, j->n_seqs, contig_name, j->file, e);
}

/* Refuses a track of another genome. A bigWig may list contigs of the genome without values. A
 * genome file of some of the track's contigs is correct even if none of them has values. */
static int check_elsewhere(const struct track_job *j, struct cov_err *e)
{
    const struct cov_count_file *m = j->m;
    if (m->n_seen == 0 || m->n_elsewhere < m->n_seen || m->missing.n == 0)
        return COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "%s: a track of another genome: all %lld intervals are on contigs (%s%s) that "
                    "are not in %s, whose other contigs (%s%s) are missing here; --rename maps "
                    "names",
                    m->path, (long long)m->n_seen, m->extra.text, cov_listing_more(&m->extra),
                    j->g->path, m->missing.text, cov_listing_more(&m->missing));
}

int cov_count_track(const struct cov_count_genome *g, struct cov_count_file *m, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = track_fetch,
        .work = track_work,
        .store = track_store,
        .slot_bytes = sizeof(struct track_slot),
        .worker_bytes = sizeof(unsigned),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = cov_count_number_worker,
    };
    struct track_job j = {.g = g, .m = m};
    int rc = cov_intervals_open(m->path, cov_pool_size(g->pool), &j.file, e);
    bool listed = !rc && cov_intervals_kind(j.file) == COV_INTERVALS_BIGWIG;
    if (!rc && listed)
        rc = compare(&j, e);
    if (!rc)
        rc = cov_count_file_init(g, m, e);
    if (rc)
        goto out;
    m->is_track = true;
    cov_progress_begin(g->progress, m->path, "chunks", (int64_t)cov_grid_n_pairs(g->grid));
    rc = cov_ring_run_job(g->pool, &ring, &j, NULL, e);
    cov_progress_end(g->progress);
    if (!rc && !listed)
        rc = compare(&j, e);
    if (!rc)
        rc = check_elsewhere(&j, e);
    if (!rc && m->n_rounded > 0)
        cov_warn("%s: rounded the values of %lld of %lld intervals to integers; cov2bigwig "
                 "--measured reads a track without rounding it",
                 m->path, (long long)m->n_rounded, (long long)(m->n_seen - m->n_elsewhere));
out:
    free(j.seqs);
    cov_intervals_close(j.file);
    return rc;
}
