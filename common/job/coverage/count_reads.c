/* count_reads.c - see count_file.h: depth from reads.
 *
 * The shared contigs are laid end to end, in file order, in the single coordinate of counting.h. With
 * sorted reads, a chunk is taken as soon as no later read can reach it; with unsorted reads, after
 * the last read. A BED file does not list its contigs or say whether it is sorted: its contigs are all
 * sequences of the genome, and one for all others, and its reads are unsorted.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/features/alignments.h"
#include "common/features/bed_reads.h"
#include "common/features/counting.h"
#include "common/job/coverage/count_file.h"

/* Number of reads between progress updates. */
enum { TOLD_READS = 1 << 14 };

/* One more than a listing shows, so that it ends in "...". */
enum { LISTED_CONTIGS = 6 };

/* The lanes of cov_depth. Only the first two are used if both strands have the same depth. */
enum { LANE_DEPTH, LANE_SPLICED, LANE_DEPTH_MINUS, LANE_SPLICED_MINUS };

/* Pairs per slot: several, to reduce overhead, but fewer if chunks are long. */
enum { SLOT_PAIRS = 8, SLOT_BASES = 1 << 16 };

struct reads_piece {
    size_t pair;
    size_t n;
    int32_t *lanes[COV_DEPTH_MAX_LANES];
    int32_t max;
    double sum;
    struct cov_packed_pair packed;
};

struct reads_slot {
    struct reads_piece pieces[SLOT_PAIRS];
    size_t n;
};

/* Counts how the reads of a place, a bin of bases, are spread over the strands of their first mates:
 * the reads of a stranded library are nearly all on one strand, whatever the genes are. Reads that
 * begin where the one before on their strand does may be copies of it, and do not count. */
enum { STRAND_BIN = 1000, STRAND_MIN_READS = 40, STRAND_MIN_BINS = 100, MAX_RARER = 50 };
enum { STRANDED_PERCENT = 10, UNSTRANDED_PERCENT = 30 };

struct strand_shares {
    int64_t bin;                       /* that the last read is in */
    int64_t n[2], last[2];             /* of the bin's reads, by strand: number, last begin */
    int64_t n_by_rarer[MAX_RARER + 1]; /* bins, by the per cent of reads on the rarer strand */
};

struct reads_job {
    const struct cov_count_genome *g;
    struct cov_counting rules;
    struct cov_count_file *m;
    struct cov_alignments *file; /* NULL for BED */
    struct cov_bed_reads bed;
    size_t *bed_seqs, n_bed_seqs, cap_bed_seqs; /* of its names: in the grid, or SIZE_MAX */
    struct cov_depth *depth;
    struct cov_spans spans;
    struct cov_mates mates;
    struct strand_shares strands; /* of sorted files */
    size_t n_contigs, n_lanes;
    size_t *seqs;       /* [n_contigs]: in the grid, or SIZE_MAX */
    int64_t *begin;     /* [n_contigs + 1]: in depth's coordinate */
    char *outside;      /* the first read that is past the end of its contig */
    int64_t *elsewhere; /* [n_contigs]: mapped reads, if the genome lacks the contig */
    bool sorted, at_end;
    int64_t horizon; /* later reads add no depth before this position */
    int last_contig;
    int64_t last_pos;
    int64_t reach;
    /* The next pair to take. */
    size_t contig, pair, pair_end;
    size_t slot_pairs;
};

/* ---- reading ---- */

static const char *contig_name(const void *arg, size_t i)
{
    const struct reads_job *j = arg;
    return j->file ? cov_alignments_contig(j->file, i) : cov_names_get(j->bed.names, i, NULL);
}

static int match_contigs(struct reads_job *j, struct cov_err *e)
{
    const size_t n_seqs = cov_grid_n_seqs(j->g->grid);
    j->n_contigs = j->file ? cov_alignments_n_contigs(j->file) : n_seqs + 1;
    j->seqs = cov_malloc(j->n_contigs, sizeof *j->seqs, e);
    j->begin = cov_malloc(j->n_contigs + 1, sizeof *j->begin, e);
    j->elsewhere = cov_calloc(j->n_contigs, sizeof *j->elsewhere, e);
    if (!j->seqs || !j->begin || !j->elsewhere)
        return COV_ENOMEM;
    int64_t at = 0;
    for (size_t i = 0; i < j->n_contigs; i++) {
        int rc = COV_OK;
        j->seqs[i] = i < n_seqs ? i : SIZE_MAX;
        if (j->file)
            rc = cov_count_find_contig(j->g, j->m->path, cov_alignments_contig(j->file, i),
                                       cov_alignments_contig_length(j->file, i), &j->seqs[i], e);
        if (rc)
            return rc;
        j->begin[i] = at;
        if (j->seqs[i] == SIZE_MAX)
            continue;
        const int64_t length = cov_grid_seq_length(j->g->grid, j->seqs[i]);
        if (length > INT64_MAX / 2 - at)
            return cov_fail(e, COV_EINPUT, "%s: contigs are too long", j->m->path);
        at += length;
    }
    j->begin[j->n_contigs] = at;
    if (!j->file)
        return COV_OK;
    return cov_count_check_contigs(j->g, j->m, j->seqs, j->n_contigs, contig_name, j, e);
}

/* Lists the contigs with the most reads that the genome lacks. Clears their counts. */
static int list_elsewhere(struct reads_job *j, struct cov_listing *l, struct cov_err *e)
{
    for (int k = 0; k < LISTED_CONTIGS; k++) {
        size_t contig = 0;
        for (size_t i = 1; i < j->n_contigs; i++)
            contig = j->elsewhere[i] > j->elsewhere[contig] ? i : contig;
        if (j->elsewhere[contig] == 0)
            break;
        char *text = cov_strfmt(e, "%s: %lld", cov_alignments_contig(j->file, contig),
                                (long long)j->elsewhere[contig]);
        if (!text)
            return COV_ENOMEM;
        cov_listing_add(l, text);
        free(text);
        j->elsewhere[contig] = 0;
    }
    return COV_OK;
}

/* Refuses reads of another genome. A genome file of some contigs of the reads' reference is
 * correct, but the user may have meant the whole genome. */
static int check_elsewhere(struct reads_job *j, struct cov_err *e)
{
    const struct cov_count_file *m = j->m;
    int64_t n = m->n_elsewhere, n_mapped = m->n_seen - m->n_by_result[COV_SKIP_UNMAPPED];
    if (n <= n_mapped / 2)
        return COV_OK;
    struct cov_listing contigs = {0};
    int rc = list_elsewhere(j, &contigs, e);
    if (rc)
        return rc;
    double percent = 100 * (double)n / (double)n_mapped;
    if (m->missing.n > 0)
        return cov_fail(e, COV_EINPUT,
                        "%s: reads of another genome: %lld of %lld mapped reads (%.1f %%) are on "
                        "contigs that are not in %s (%s%s), whose other contigs are missing here; "
                        "--rename maps names",
                        m->path, (long long)n, (long long)n_mapped, percent, j->g->path,
                        contigs.text, cov_listing_more(&contigs));
    cov_warn("%s: %lld of %lld mapped reads (%.1f %%) are on contigs that are not in %s and do not "
             "count: %s%s",
             m->path, (long long)n, (long long)n_mapped, percent, j->g->path, contigs.text,
             cov_listing_more(&contigs));
    return COV_OK;
}

/* Checks that reads are sorted by coordinate, with unplaced reads at the end. */
static int check_order(struct reads_job *j, const struct cov_read *r, struct cov_err *e)
{
    bool placed = r->contig >= 0;
    bool back =
        placed ? r->contig < j->last_contig || (r->contig == j->last_contig && r->pos < j->last_pos)
               : false;
    if (back || (placed && j->at_end))
        return cov_fail(e, COV_EINPUT,
                        "%s: not sorted: the header says sorted by coordinate, but read %s at "
                        "%s:%lld is out of order; sort it",
                        j->m->path, r->name, cov_alignments_contig(j->file, (size_t)r->contig),
                        (long long)r->pos + 1);
    j->last_contig = r->contig;
    j->last_pos = r->pos;
    if (!placed) {
        j->horizon = INT64_MAX - 1; /* unplaced reads may follow */
        j->last_contig = INT32_MAX;
        return COV_OK;
    }
    int64_t at = j->begin[r->contig];
    j->horizon = at;
    if (j->seqs[r->contig] != SIZE_MAX && r->pos > j->reach)
        j->horizon = at + r->pos - j->reach;
    return COV_OK;
}

/* Keeps the name of the first read that is past the end of its contig. */
static int note_outside(struct reads_job *j, const struct cov_read *r, struct cov_err *e)
{
    j->outside =
        cov_strfmt(e, "%s at %s:%lld", r->name, cov_alignments_contig(j->file, (size_t)r->contig),
                   (long long)r->pos + 1);
    return j->outside ? COV_OK : COV_ENOMEM;
}

static void warn_outside(const struct reads_job *j)
{
    long long n = j->m->n_by_result[COV_SKIP_OUTSIDE];
    if (n > 0)
        cov_warn("%s: %lld read%s past the end of %s contig and do%s not count: %s%s", j->m->path,
                 n, n == 1 ? " reaches" : "s reach", n == 1 ? "its" : "their", n == 1 ? "es" : "",
                 j->outside, n == 1 ? "" : ", ...");
}

static void end_strand_bin(struct strand_shares *s)
{
    int64_t n = s->n[0] + s->n[1], rarer = s->n[0] < s->n[1] ? s->n[0] : s->n[1];
    if (n >= STRAND_MIN_READS)
        s->n_by_rarer[100 * rarer / n]++;
    s->n[0] = s->n[1] = 0;
}

/* Adds a read that begins at `at` in depth's coordinate. */
static void note_strand(struct strand_shares *s, const struct cov_read *r, int64_t at)
{
    const bool second = (r->flags & COV_READ_PAIRED) && (r->flags & COV_READ_SECOND);
    const bool minus = (r->flags & COV_READ_REVERSE) != 0;
    const int k = minus != second;
    if (at / STRAND_BIN != s->bin)
        end_strand_bin(s);
    s->bin = at / STRAND_BIN;
    s->n[k] += s->last[k] != at;
    s->last[k] = at;
}

/* Warns if the reads do not look like those that --strand is for. */
static void check_strands(struct reads_job *j)
{
    struct strand_shares *s = &j->strands;
    int64_t n = 0, below = 0;
    int median = 0;
    end_strand_bin(s);
    for (int i = 0; i <= MAX_RARER; i++)
        n += s->n_by_rarer[i];
    while (median < MAX_RARER && (below += s->n_by_rarer[median]) < (n + 1) / 2)
        median++;
    /* Flags may select reads of one strand. */
    const unsigned flags = j->rules.require_flags | j->rules.exclude_flags;
    if (n < STRAND_MIN_BINS || flags & COV_READ_REVERSE)
        return;
    const int strand = j->rules.strand;
    if (strand == COV_COUNT_BOTH && median <= STRANDED_PERCENT)
        cov_warn("%s: looks like a stranded library: where there are many reads, usually only "
                 "%d %% of them are on the rarer strand; --strand second (dUTP) or --strand first "
                 "counts them on the strand of their transcripts",
                 j->m->path, median);
    else if ((strand == COV_COUNT_FIRST || strand == COV_COUNT_SECOND) &&
             median >= UNSTRANDED_PERCENT)
        cov_warn("%s: looks like an unstranded library: where there are many reads, usually %d %% "
                 "of them are on the rarer strand; --strand both suits it",
                 j->m->path, median);
}

static int count_read(struct reads_job *j, const struct cov_read *r, struct cov_err *e)
{
    j->m->n_seen++;
    if (j->m->n_seen % TOLD_READS == 0)
        cov_progress_add(j->g->progress, TOLD_READS);
    if (r->contig >= 0 && j->seqs[r->contig] == SIZE_MAX && !(r->flags & COV_READ_UNMAPPED)) {
        j->m->n_elsewhere++;
        j->elsewhere[r->contig]++;
        return COV_OK;
    }
    const size_t seq = r->contig >= 0 ? j->seqs[r->contig] : SIZE_MAX;
    const int64_t length = seq != SIZE_MAX ? cov_grid_seq_length(j->g->grid, seq) : 0;
    const bool is_empty =
        !j->file && *r->cigar >> 4 == 0; /* a line of BED; it has no ends, either */
    int result = is_empty ? COV_SKIP_EMPTY : cov_count_spans(&j->rules, r, length, &j->spans, e);
    if (result < 0)
        return cov_err_prefix(e, result, "%s", j->m->path);
    if (result == COV_COUNTED && cov_count_is_masked(j->g, seq, &j->spans))
        result = COV_SKIP_BLACKLISTED;
    int64_t at = r->contig >= 0 ? j->begin[r->contig] : 0;
    bool met = false;
    int rc = COV_OK;
    if (result == COV_COUNTED && j->spans.pair)
        rc = cov_mates_meet(&j->mates, r, at, &met, e);
    if (met)
        result = COV_SKIP_MATE;
    j->m->n_by_result[result]++;
    if (result == COV_SKIP_OUTSIDE && j->m->n_by_result[result] == 1)
        rc = note_outside(j, r, e);
    if (result != COV_COUNTED)
        return rc;
    if (j->sorted)
        note_strand(&j->strands, r, at + r->pos);
    size_t lane = j->spans.minus ? LANE_DEPTH_MINUS : LANE_DEPTH;
    for (size_t i = 0; !rc && i < j->spans.n; i++) {
        const struct cov_span *s = &j->spans.items[i];
        rc = cov_depth_add(j->depth, lane + s->spliced, at + s->beg, at + s->end, e);
    }
    return rc;
}

/* Finds the sequence of a line of BED, and checks the line. */
static int place_line(struct reads_job *j, struct cov_read *r, struct cov_err *e)
{
    const size_t i = (size_t)r->contig;
    const char *path = j->m->path;
    int rc = COV_RESERVE(&j->bed_seqs, &j->cap_bed_seqs, i + 1, e);
    if (!rc && i == j->n_bed_seqs) {
        j->n_bed_seqs++;
        rc = cov_count_find_contig(j->g, path, contig_name(j, i), -1, &j->bed_seqs[i], e);
    }
    const size_t seq = rc ? SIZE_MAX : j->bed_seqs[i];
    r->contig = (int)(seq == SIZE_MAX ? j->n_contigs - 1 : seq);
    if (seq == SIZE_MAX)
        return rc;
    const int64_t end = r->pos + (*r->cigar >> 4), length = cov_grid_seq_length(j->g->grid, seq);
    if (end > length)
        return cov_fail(e, COV_EINPUT, "%s:%zu: ends at %lld, but %s has %lld bases in %s", path,
                        j->bed.line, (long long)end, cov_grid_name(j->g->grid, seq),
                        (long long)length, j->g->path);
    if (r->is_fragment && j->rules.strand != COV_COUNT_BOTH)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: a fragment without a strand, which counts only with --strand both",
                        path, j->bed.line);
    return COV_OK;
}

/* Reads on until no later read can add depth before `until`. */
static int read_until(struct reads_job *j, int64_t until, struct cov_err *e)
{
    while (!j->at_end && (!j->sorted || j->horizon < until)) {
        struct cov_read r;
        int rc = j->file ? cov_alignments_next(j->file, &r, e) : cov_bed_reads_next(&j->bed, &r, e);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            j->at_end = true;
            break;
        }
        rc = j->sorted ? check_order(j, &r, e) : j->file ? COV_OK : place_line(j, &r, e);
        if (!rc)
            rc = count_read(j, &r, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* ---- the pipeline ---- */

/* Finds the next pair. Returns 1, or 0 after the last contig. */
static int find_pair(struct reads_job *j)
{
    while (j->pair == j->pair_end) {
        if (j->contig == j->n_contigs)
            return 0;
        size_t seq = j->seqs[j->contig++];
        if (seq != SIZE_MAX)
            cov_grid_seq_pairs(j->g->grid, seq, &j->pair, &j->pair_end);
    }
    return 1;
}

static int take_pair(struct reads_job *j, struct reads_piece *piece, struct cov_err *e)
{
    struct cov_pair p = cov_grid_pair(j->g->grid, j->pair);
    int64_t at = j->begin[j->contig - 1];
    int rc = read_until(j, at + p.end, e);
    if (rc)
        return rc;
    int64_t gap = at + p.beg - cov_depth_taken(j->depth);
    if (gap < 0)
        return cov_fail(e, COV_EINPUT, "%s: chunks overlap at %s:%lld", j->g->path,
                        cov_grid_name(j->g->grid, p.seq), (long long)p.beg + 1);
    rc = gap > 0 ? cov_depth_take(j->depth, (size_t)gap, NULL, e) : COV_OK;
    piece->pair = j->pair++;
    piece->n = (size_t)(p.end - p.beg);
    if (!rc)
        rc = cov_depth_take(j->depth, piece->n, piece->lanes, e);
    for (size_t k = 0; !rc && k < j->n_lanes; k++)
        cov_count_mask(j->g, &p, piece->lanes[k]);
    return rc ? cov_err_prefix(e, rc, "%s: %s", j->m->path, cov_grid_name(j->g->grid, p.seq))
              : COV_OK;
}

static int reads_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct reads_job *j = arg;
    struct reads_slot *s = slot;
    int rc = COV_OK;
    for (s->n = 0; !rc && s->n < j->slot_pairs && find_pair(j); s->n++)
        rc = take_pair(j, &s->pieces[s->n], e);
    if (rc || s->n > 0)
        return rc ? rc : 1;
    return read_until(j, INT64_MAX, e); /* read to the end to detect damage there */
}

static int encode_pair(const struct reads_job *j, struct reads_piece *piece, unsigned worker,
                       struct cov_err *e)
{
    struct cov_pair p = cov_grid_pair(j->g->grid, piece->pair);
    struct cov_depth_lane lanes[COV_COVERAGE_SETS][2];
    int64_t sums[COV_DEPTH_MAX_LANES] = {0};
    piece->max = 0;
    for (size_t k = 0; k < j->n_lanes; k++) {
        struct cov_depth_lane lane = cov_count_lane(piece->lanes[k], piece->n, &sums[k]);
        struct cov_depth_lane *strands = lanes[k % 2 ? COV_SPLICED : COV_COVERAGE];
        if (k < LANE_DEPTH_MINUS)
            strands[COV_PLUS] = lane;
        strands[COV_MINUS] = lane; /* same as the + strand, unless its own lane follows */
        piece->max = lane.max > piece->max ? lane.max : piece->max;
    }
    piece->sum = (double)sums[LANE_DEPTH];
    if (j->n_lanes > LANE_DEPTH_MINUS)
        piece->sum = (piece->sum + (double)sums[LANE_DEPTH_MINUS]) / 2;
    cov_depth_summary_add(&j->m->summary, worker, piece->pair, lanes[COV_COVERAGE]);
    return cov_coverage_store_pack(&j->m->store, piece->pair, &p, lanes, &piece->packed, e);
}

static int reads_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct reads_job *j = arg;
    struct reads_slot *s = slot;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < s->n; i++)
        rc = encode_pair(j, &s->pieces[i], *(unsigned *)worker, e);
    return rc;
}

static int reads_store(void *arg, void *slot, struct cov_err *e)
{
    struct reads_job *j = arg;
    struct reads_slot *s = slot;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < s->n; i++) {
        const struct reads_piece *p = &s->pieces[i];
        j->m->max = p->max > j->m->max ? p->max : j->m->max;
        j->m->sums[cov_grid_pair(j->g->grid, p->pair).seq] += p->sum;
        rc = cov_coverage_store_put(&j->m->store, p->pair, &p->packed, e);
    }
    return rc;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct reads_job *j = arg;
    struct reads_slot *s = slot;
    size_t L = cov_grid_chunk_length(j->g->grid);
    for (size_t i = 0; i < j->slot_pairs; i++)
        for (size_t k = 0; k < j->n_lanes; k++)
            s->pieces[i].lanes[k] = cov_arena_calloc(memory, L, sizeof(int32_t));
}

static void fini_slot(void *arg, void *slot)
{
    const struct reads_job *j = arg;
    struct reads_slot *s = slot;
    for (size_t i = 0; i < j->slot_pairs; i++)
        cov_blob_fini(&s->pieces[i].packed.blob);
}

static void reads_fini(struct reads_job *j)
{
    free(j->spans.items);
    free(j->outside);
    cov_mates_fini(&j->mates);
    free(j->seqs);
    free(j->begin);
    free(j->elsewhere);
    cov_depth_free(j->depth);
    cov_alignments_close(j->file);
    cov_bed_reads_fini(&j->bed);
    free(j->bed_seqs);
}

int cov_count_reads(const struct cov_count_genome *g, const struct cov_counting *rules,
                    const char *reference, struct cov_count_file *m, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = reads_fetch,
        .work = reads_work,
        .store = reads_store,
        .slot_bytes = sizeof(struct reads_slot),
        .worker_bytes = sizeof(unsigned),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = cov_count_number_worker,
    };
    const size_t L = cov_grid_chunk_length(g->grid);
    struct reads_job j = {.g = g, .rules = *rules, .m = m, .reach = cov_count_reach(rules)};
    const struct cov_alignments_options how = {reference, cov_pool_size(g->pool)};
    j.n_lanes = rules->strand == COV_COUNT_BOTH ? 2 : 4;
    j.slot_pairs = L < SLOT_BASES / SLOT_PAIRS ? SLOT_PAIRS : L < SLOT_BASES ? SLOT_BASES / L : 1;
    int rc = m->is_bed ? cov_bed_reads_init(&j.bed, m->path, e)
                       : cov_alignments_open(m->path, &how, &j.file, e);
    if (!rc)
        rc = match_contigs(&j, e);
    if (!rc)
        rc = cov_count_file_init(g, m, e);
    if (rc)
        goto out;
    j.sorted = j.mates.sorted = j.file && cov_alignments_is_sorted(j.file);
    if (m->is_bed)
        j.rules.require_flags = j.rules.exclude_flags = 0; /* lines have no flags */
    else if (!j.sorted)
        cov_info("%s: not sorted by coordinate: reading all reads before counting", m->path);
    const struct cov_depth_options depth = {
        .n_lanes = j.n_lanes, .n = j.begin[j.n_contigs], .tmpdir = g->tmpdir};
    rc = cov_depth_new(&depth, &j.depth, e);
    if (rc)
        goto out;
    cov_progress_begin(g->progress, m->path, m->items,
                       j.file ? cov_alignments_n_reads(j.file) : -1);
    rc = cov_ring_run_job(g->pool, &ring, &j, NULL, e);
    cov_progress_end(g->progress);
    if (!rc)
        rc = j.file ? check_elsewhere(&j, e)
                    : cov_count_check_contigs(g, m, j.bed_seqs, j.n_bed_seqs, contig_name, &j, e);
    if (!rc) {
        warn_outside(&j);
        check_strands(&j);
    }
out:
    reads_fini(&j);
    return rc;
}
