/* effect_vcf.c - see effect_options.h.
 *
 * A slot of the ring holds a few records. The source plans their windows, a worker predicts them in
 * batches and scores them, and the sink writes them in order.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/file/hash.h"
#include "common/file/path.h"
#include "common/input/device_options.h"
#include "common/input/run_journal.h"
#include "common/job/effect/effect_background.h"
#include "common/job/effect/effect_batches.h"
#include "common/job/effect/effect_journal.h"
#include "common/job/effect/effect_output.h"

/* ---------------------------------------------------------------- the tally */

/* Empty if all zero. */
struct effect_tally {
    int64_t n_records, n_alleles[COV_ALLELE_STATUSES];
    int64_t n_scored, n_unknown, n_mismatches, n_swapped; /* records */
    int64_t n_cut, n_cut_by_window;                       /* rows, see tally_add_rows */
    int64_t n_background;                                 /* random variants */
    int64_t n_resumed;                /* records that an earlier run scored; -1: there is none */
    char unknown[200], mismatch[200]; /* the first of them */
};

/* Compares the lengths of sequences in the header with those of the genome. Warns of differences, or with
 * --strict returns COV_EINPUT. */
static int tally_check_lengths(const struct cov_variants *in, const struct cov_effect_options *o,
                               struct cov_err *e)
{
    const struct cov_genome *g = o->genome;
    size_t n = 0, n_other = 0, first = 0;
    int64_t length = 0;
    for (size_t i = 0; i < g->n_seqs; i++) {
        const int64_t found = cov_variants_length(in, g->names[i]);
        n += found > 0;
        if (found <= 0 || found == g->lengths[i])
            continue;
        if (n_other++ == 0) {
            first = i;
            length = found;
        }
    }
    if (n_other == 0)
        return COV_OK;
    char text[512];
    (void)snprintf(text, sizeof text,
                   "%.100s has %" PRId64 " bases in the header, but %" PRId64
                   " in %.100s (%zu of %zu sequences differ); check that the variants were called "
                   "with this genome",
                   g->names[first], length, g->lengths[first], o->genome_path, n_other, n);
    if (o->strict)
        return cov_fail(e, COV_EINPUT, "%s: %s", cov_variants_name(in), text);
    cov_warn("%s: %s", cov_variants_name(in), text);
    return COV_OK;
}

/* Writes "REF is A, but the genome has C", or why there is nothing to compare. */
static void describe_mismatch(const struct cov_effect_options *o, const struct cov_variant *v,
                              const struct cov_alleles *p, char *text, size_t n)
{
    enum { SHOWN = 20 };
    const int length = p->n_ref < SHOWN ? (int)p->n_ref : SHOWN;
    if (p->status == COV_ALLELE_UNKNOWN)
        (void)snprintf(text, n, "%s does not have the sequence '%.100s'", o->genome_path,
                       v->contig);
    else if (!p->found[0])
        (void)snprintf(
            text, n, "%.100s:%" PRId64 ": %s is not inside the sequence", v->contig, v->pos + 1,
            v->pos >= 0 && v->pos + (int64_t)p->n_ref <= o->genome->lengths[p->seq] ? "END"
                                                                                    : "REF");
    else
        (void)snprintf(text, n, "%.60s:%" PRId64 ": REF is %.*s%s, but the genome has %.*s%s",
                       v->contig, v->pos + 1, length, v->alleles[0], p->n_ref > SHOWN ? "..." : "",
                       length, p->found, p->n_ref > SHOWN ? "..." : "");
}

/* Counts a record of `in` by its alleles. COV_EINPUT with --strict if it does not match the genome. */
static int tally_add(struct effect_tally *t, const struct cov_variants *in,
                     const struct cov_effect_options *o, const struct cov_variant *v,
                     const struct cov_alleles *p, struct cov_err *e)
{
    t->n_records++;
    t->n_scored += p->n_scored > 0;
    for (size_t i = 0; i < p->n_alleles; i++)
        t->n_alleles[p->items[i].status]++;
    if (p->status == COV_ALLELE_SCORED)
        return COV_OK;
    const bool unknown = p->status == COV_ALLELE_UNKNOWN;
    char text[sizeof t->mismatch];
    describe_mismatch(o, v, p, text, sizeof text);
    if (o->strict)
        return cov_variants_fail(in, e, "%s%s", text,
                                 p->is_swapped ? ", which is an allele of ALT" : "");
    if ((unknown ? t->n_unknown : t->n_mismatches) == 0)
        memcpy(unknown ? t->unknown : t->mismatch, text, sizeof text);
    *(unknown ? &t->n_unknown : &t->n_mismatches) += 1;
    t->n_swapped += p->is_swapped;
    return COV_OK;
}

/* Returns true if the row has less of a width than the genome's window; *by_window: because the window is
 * too small. */
static bool is_cut(const struct cov_effect_options *o, const struct cov_alleles *p,
                   const struct cov_effect_row *row, bool *by_window)
{
    const size_t L = o->window;
    for (size_t i = 0; i < o->n_widths; i++) {
        const size_t half = (size_t)o->widths[i] / 2, rest = (size_t)o->widths[i] - half;
        const bool left = row->at < p->at && row->at < half;
        const bool right = row->at > p->at && L - row->at < rest;
        *by_window =
            (left && p->beg > 0) || (right && p->beg + (int64_t)L < o->genome->lengths[p->seq]);
        if (left || right)
            return true;
    }
    return false;
}

/* Corrects the counts by the rows in haplotypes: alleles of which no row is scored, and rows that have
 * less than the width because the haplotype moves the variant towards an end of the window. */
static void tally_add_rows(struct effect_tally *t, const struct cov_effect_options *o,
                           const struct cov_alleles *p, const struct cov_effect_rows *rows)
{
    for (size_t i = 0; i < rows->n;) {
        const size_t allele = rows->rows[i].allele;
        const enum cov_allele_status first = rows->rows[i].status;
        bool is_scored = false;
        for (; i < rows->n && rows->rows[i].allele == allele; i++) {
            bool by_window = false;
            if (rows->rows[i].status != COV_ALLELE_SCORED)
                continue;
            is_scored = true;
            t->n_cut += is_cut(o, p, &rows->rows[i], &by_window);
            t->n_cut_by_window += by_window;
        }
        if (!is_scored && p->items[allele].status == COV_ALLELE_SCORED) {
            t->n_alleles[COV_ALLELE_SCORED]--;
            t->n_alleles[first]++;
        }
    }
}

/* What to do about records whose REF differs from the genome. */
static const char *remedy(const struct effect_tally *t)
{
    if (t->n_swapped > t->n_mismatches / 2)
        return ": REF and ALT are swapped, as PLINK and TASSEL write them; plink2 --ref-from-fa or "
               "bcftools norm --check-ref s puts them right";
    return t->n_mismatches > t->n_records / 2
               ? "; check that the variants were called with this genome"
               : "";
}

/* ", in 3 of these, ALT is what the genome has", or nothing. */
static const char *swapped(const struct effect_tally *t, char text[96])
{
    text[0] = '\0';
    if (t->n_swapped > 0)
        (void)snprintf(text, 96,
                       "; in %" PRId64 " of these %" PRId64 ", ALT is what the genome has",
                       t->n_swapped, t->n_mismatches);
    return text;
}

/* Fails if no record fits the genome. */
static int tally_check(const struct effect_tally *t, const struct cov_variants *in,
                       const struct cov_effect_options *o, struct cov_err *e)
{
    const struct cov_genome *g = o->genome;
    struct cov_listing names = {.text = ""};
    char text[96];
    if (t->n_records == 0 || t->n_unknown + t->n_mismatches < t->n_records)
        return COV_OK;
    if (t->n_mismatches > 0)
        return cov_fail(e, COV_EINPUT,
                        "%s: no variant has the genome's bases as REF (%" PRId64 " of %" PRId64
                        " differ), the first at %s%s%s",
                        cov_variants_name(in), t->n_mismatches, t->n_records, t->mismatch,
                        swapped(t, text), remedy(t));
    for (size_t i = 0; i < g->n_seqs; i++)
        cov_listing_add(&names, g->names[i]);
    return cov_fail(e, COV_EINPUT,
                    "%s: no variant is on a sequence of the genome: %s; it has %s%s; --rename "
                    "changes its names",
                    cov_variants_name(in), t->unknown, names.text, cov_listing_more(&names));
}

static void report_lengths(const struct effect_tally *t, const char *input)
{
    if (t->n_alleles[COV_ALLELE_LONG] > 0)
        cov_warn("%s: no scores for alleles that reach past their windows (%" PRId64
                 "); use a larger --window",
                 input, t->n_alleles[COV_ALLELE_LONG]);
    if (t->n_alleles[COV_ALLELE_END] > 0)
        cov_warn("%s: no scores for insertions that are longer than the rest of their sequence "
                 "(%" PRId64 ")",
                 input, t->n_alleles[COV_ALLELE_END]);
    if (t->n_cut > 0)
        cov_warn("%s: scores of fewer bases than --width, because other variants of the haplotype "
                 "move the allele towards an end of its window (%" PRId64 ")%s",
                 input, t->n_cut, t->n_cut_by_window > 0 ? "; use a larger --window" : "");
}

/* Alleles that are symbols without scores: reasons, and names in the report. */
static const struct {
    enum cov_allele_status status;
    const char *text;
} symbols[] = {
    {COV_ALLELE_NO_END, "<DEL>, <DUP> or <INV> without END and SVLEN"},
    {COV_ALLELE_BAD_END, "END contradicts POS or SVLEN"},
    {COV_ALLELE_NO_BASES, "<INS> without its bases in SVINSSEQ or SEQ"},
    {COV_ALLELE_SYMBOLIC, "breakends and other symbols"},
};

/* Warns about structural variants without scores, and returns their number. */
static int64_t report_symbols(const struct effect_tally *t, const char *input)
{
    char text[400];
    size_t n = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < COV_COUNT(symbols); i++) {
        const int64_t n_alleles = t->n_alleles[symbols[i].status];
        if (n_alleles > 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (%" PRId64 ")", n ? ", " : "",
                                  symbols[i].text, n_alleles);
        sum += n_alleles;
    }
    if (sum > 0)
        cov_warn("%s: no scores for symbolic alleles: %s", input, text);
    return sum;
}

/* Warns about records without scores. */
static void tally_report(const struct effect_tally *t, const struct cov_variants *in)
{
    const char *input = cov_variants_name(in);
    const int64_t n_signs = cov_variants_n_signs(in);
    char text[96];
    if (t->n_mismatches > 0)
        cov_warn("%s: no scores for variants that differ from the genome (%" PRId64 " of %" PRId64
                 "), the first at %s%s%s",
                 input, t->n_mismatches, t->n_records, t->mismatch, swapped(t, text), remedy(t));
    if (t->n_unknown > 0)
        cov_warn("%s: no scores for variants on unknown sequences (%" PRId64 " of %" PRId64
                 "): %s; --rename changes its names",
                 input, t->n_unknown, t->n_records, t->unknown);
    if (t->n_alleles[COV_ALLELE_EMPTY] > 0)
        cov_warn("%s: no scores for alleles whose record has N where no base is (%" PRId64
                 "), as Sniffles writes them; write the base before them in REF and ALT",
                 input, t->n_alleles[COV_ALLELE_EMPTY]);
    report_lengths(t, input);
    const int64_t n_symbols = report_symbols(t, input) + t->n_alleles[COV_ALLELE_OTHER];
    if (n_signs > 0)
        cov_warn("%s: genotypes with another phase sign before the first allele than after it "
                 "(%" PRId64 "); the first sign is not written",
                 input, n_signs);
    cov_info("variants: %" PRId64 "; alleles with scores: %" PRId64 "; without: symbolic %" PRId64
             ", overlapping deletions (*) %" PRId64,
             t->n_records, t->n_alleles[COV_ALLELE_SCORED], n_symbols,
             t->n_alleles[COV_ALLELE_OVERLAP]);
}

/* Writes the counts for --stats; arg: a struct effect_tally. */
static void tally_json(struct cov_json *json, const void *arg)
{
    static const char *const names[] = {
        [COV_ALLELE_SCORED] = "scored",     [COV_ALLELE_UNKNOWN] = "unknown_sequence",
        [COV_ALLELE_MISMATCH] = "mismatch", [COV_ALLELE_OVERLAP] = "overlapping_deletion",
        [COV_ALLELE_OTHER] = "any_other",   [COV_ALLELE_SYMBOLIC] = "symbolic",
        [COV_ALLELE_NO_END] = "no_end",     [COV_ALLELE_BAD_END] = "contradictory_end",
        [COV_ALLELE_NO_BASES] = "no_bases", [COV_ALLELE_EMPTY] = "n_for_no_base",
        [COV_ALLELE_LONG] = "too_long",     [COV_ALLELE_END] = "past_sequence_end"};
    const struct effect_tally *t = arg;
    cov_json_int(json, "variants", t->n_records);
    if (t->n_resumed >= 0)
        cov_json_int(json, "variants_resumed", t->n_resumed);
    if (t->n_background > 0)
        cov_json_int(json, "background_variants", t->n_background);
    cov_json_begin_object(json, "alleles");
    for (size_t i = 0; i < COV_COUNT(names); i++)
        cov_json_int(json, names[i], t->n_alleles[i]);
    cov_json_end_object(json);
}

/* ---------------------------------------------------------------- the job */

struct vcf_slot {
    struct cov_effect_record *records; /* [n_records of the job] */
    size_t n;
};

struct vcf_job {
    const struct cov_effect_options *o;
    const struct cov_job *job;
    struct cov_effect_genome genome;
    struct cov_variants *in;
    struct cov_effect_output *out;
    struct cov_effect_batches *batches;
    struct cov_effect_tracks *tracks;   /* NULL: none */
    struct cov_effect_journal *journal; /* NULL: none */
    struct cov_effect_extras extras;
    struct cov_effect_background *random; /* scores these instead of the input; NULL: the input */
    size_t n_records;                     /* of a slot */
    struct effect_tally *tally;           /* lives until --stats has been printed */
    int64_t n_checked;                    /* records that check_input found; -1: not checked */
    enum cov_outfile_kind kind;
    bool to_bcf;
    bool finished; /* by an earlier run: nothing is computed or written, only counted and checked */
};

/* ---------------------------------------------------------------- planning */

/* Reads and plans the next record. Returns 1, 0 at the end, or a failure. */
static int next_record(struct vcf_job *j, struct cov_variants *in, struct cov_variant *v,
                       struct cov_alleles *p, struct effect_tally *t, struct cov_err *e)
{
    int rc = v->record ? COV_OK : cov_variant_init(v, e), got = rc;
    if (!rc)
        got = j->random ? cov_effect_background_next(j->random, v) : cov_variants_next(in, v, e);
    if (got <= 0)
        return got;
    if (j->to_bcf && !j->random && !cov_variant_is_declared(v))
        return cov_variants_fail(in, e,
                                 "the header does not declare the sequence or another name of the "
                                 "record, which BCF needs; write VCF");
    rc = cov_alleles_find(p, &j->genome, j->o->window, j->o->step, v, e);
    if (!rc)
        rc = tally_add(t, in, j->o, v, p, e);
    if (rc)
        return rc;
    const size_t n_tracks = cov_effect_tracks_count(j->o, (size_t)t->n_alleles[COV_ALLELE_SCORED]);
    if (j->o->tracks && n_tracks > COV_EFFECT_MAX_TRACKS)
        return cov_variants_fail(in, e,
                                 "--tracks: more than %d files; use fewer variants or --datasets",
                                 COV_EFFECT_MAX_TRACKS);
    return 1;
}

static int fail_changed(const struct vcf_job *j, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: changed while it was read; run again", j->o->input);
}

/* Reads a regular file to its end, so that faults are found before anything is computed, and
 * counts it. *t has -1 records for other inputs. */
static int check_variants(struct vcf_job *j, struct effect_tally *t, struct cov_err *e)
{
    const char *input = j->o->input;
    struct stat st;
    struct cov_variants *in = NULL;
    struct cov_variant v = {0};
    struct cov_alleles alleles = {0};
    const double clock = cov_clock();
    int got = 1;
    *t = (struct effect_tally){.n_records = -1};
    if (cov_path_is_std(input) || stat(input, &st) != 0 || !S_ISREG(st.st_mode))
        return COV_OK;
    t->n_records = 0;
    int rc = cov_variants_open(input, NULL, false, &in, e);
    cov_progress_begin(j->job->progress, "checking", "variants", -1);
    while (!rc && got > 0) {
        got = next_record(j, in, &v, &alleles, t, e);
        rc = got < 0 ? got : COV_OK;
        cov_progress_add(j->job->progress, got > 0);
    }
    cov_progress_end(j->job->progress);
    if (!rc)
        rc = tally_check(t, in, j->o, e);
    cov_alleles_fini(&alleles);
    cov_variant_fini(&v);
    cov_variants_close(in);
    cov_stats_add_stage(j->job->stats, "check", cov_clock() - clock);
    return rc;
}

/* ---------------------------------------------------------------- the stages */

static int reserve_values(struct cov_effect_record *record, struct cov_err *e)
{
    const size_t n = record->cap_values;
    int rc = COV_RESERVE(&record->values, &record->cap_values, record->alleles.n_alleles, e);
    for (size_t i = n; i < record->cap_values; i++)
        record->values[i] = (struct cov_effect_values){.values = {NULL, NULL}};
    return rc;
}

/* Makes room for the scores of a record, or reads those of the journal. */
static int prepare_scores(const struct vcf_job *j, struct cov_effect_record *record,
                          struct cov_err *e)
{
    struct cov_haplotypes *haplotypes = j->extras.haplotypes;
    record->done = j->finished;
    record->is_random = j->random;
    int rc = haplotypes && !j->random ? cov_haplotypes_rows(haplotypes, &record->variant,
                                                            &record->alleles, &record->rows, e)
                                      : cov_effect_rows_plain(&record->rows, &record->alleles, e);
    if (rc)
        return rc;
    tally_add_rows(j->tally, j->o, &record->alleles, &record->rows);
    record->n_scores = record->rows.n * j->o->n_datasets * j->o->n_widths;
    rc = COV_RESERVE(&record->scores, &record->cap_scores, record->n_scores + 1, e);
    if (!rc && j->o->tracks)
        rc = reserve_values(record, e);
    if (rc || !j->journal || record->alleles.n_scored == 0)
        return rc;
    memset(record->scores, 0, record->n_scores * sizeof *record->scores);
    const int got = cov_effect_journal_read(j->journal, record->variant.number, record->scores,
                                            record->n_scores, e);
    record->done = got > 0;
    return got < 0 ? got : COV_OK;
}

static int vcf_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct vcf_job *j = arg;
    struct vcf_slot *s = slot;
    enum { MOST_BYTES = 1 << 23 }; /* of small records, which are kept for the next ones */
    size_t n_versions = 0, n_bytes = 0;
    s->n = 0;
    while (s->n < j->n_records && n_versions < cov_effect_batches_size(j->batches) &&
           n_bytes < MOST_BYTES) {
        struct cov_effect_record *record = &s->records[s->n];
        const int got = next_record(j, j->in, &record->variant, &record->alleles, j->tally, e);
        if (got < 0)
            return got;
        const int64_t n_read = j->tally->n_records;
        if (j->n_checked >= 0 && (got ? n_read > j->n_checked : n_read < j->n_checked))
            return fail_changed(j, e);
        if (got == 0)
            break;
        const int rc = prepare_scores(j, record, e);
        if (rc)
            return rc;
        if (!record->done)
            n_versions += cov_effect_batches_versions(j->batches, record);
        n_bytes += cov_effect_record_bytes(record);
        s->n++;
    }
    return s->n > 0;
}

/* `worker` is its number. */
static int vcf_score(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct vcf_job *j = arg;
    const struct vcf_slot *s = slot;
    return cov_effect_batches_score(j->batches, *(unsigned *)worker, s->records, s->n, e);
}

static int vcf_store(void *arg, void *slot, struct cov_err *e)
{
    struct vcf_job *j = arg;
    struct vcf_slot *s = slot;
    int64_t n_scored = 0;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < s->n; i++) {
        struct cov_effect_record *record = &s->records[i];
        if (j->tracks && record->alleles.n_scored > 0)
            rc = cov_effect_tracks_put(j->tracks, record, e);
        if (!rc && j->journal && !record->done && record->alleles.n_scored > 0)
            rc = cov_effect_journal_append(j->journal, record->variant.number, record->scores,
                                           record->n_scores, e);
        if (!rc && j->random)
            cov_effect_background_take(j->random, record);
        else if (!rc && j->out)
            rc = cov_effect_output_put(j->out, record, e);
        n_scored += !record->done && record->alleles.n_scored > 0;
        cov_effect_record_trim(record);
    }
    /* At once: the time that has passed is that of all of them. */
    cov_progress_add(j->job->progress, n_scored);
    return rc;
}

static void vcf_init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct vcf_job *j = arg;
    struct vcf_slot *s = slot;
    s->records = cov_arena_calloc(memory, j->n_records, sizeof *s->records);
}

static void vcf_fini_slot(void *arg, void *slot)
{
    const struct vcf_job *j = arg;
    struct vcf_slot *s = slot;
    for (size_t k = 0; s->records && k < j->n_records; k++)
        cov_effect_record_fini(&s->records[k]);
}

static void vcf_init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    (void)arg;
    (void)memory;
    *(unsigned *)worker = i;
}

/* ---------------------------------------------------------------- the report */

static int fill_effect_stats(struct vcf_job *j, const struct cov_ring_times *times,
                             struct cov_err *e)
{
    struct cov_stats *stats = j->job->stats;
    struct cov_forward_counts counts;
    cov_effect_batches_counts(j->batches, &counts);
    cov_stats_add_stage(stats, "fetch", times->source);
    cov_stats_add_stage(stats, "compute", times->work);
    cov_stats_add_stage(stats, "store", times->sink);
    cov_stats_set_more(stats, tally_json, free, j->tally);
    j->tally = NULL;
    return cov_device_fill_stats(j->o->device, &counts, stats, e);
}

/* ---------------------------------------------------------------- the job */

/* Opens the journal, or mentions that of a run with --resume, which this run ignores. */
static int open_journal(struct vcf_job *j, const struct effect_tally *input, struct cov_err *e)
{
    struct stat st;
    if (j->o->resume) {
        int rc = cov_effect_journal_open(j->o, (size_t)input->n_records + j->o->n_background,
                                         j->job, &j->journal, &j->finished, e);
        if (rc || j->finished || /* or the output may be this run's: see check_replaced */
            cov_effect_journal_n_done(j->journal) == (size_t)input->n_scored + j->o->n_background)
            return rc;
        return cov_outfile_try(j->o->output, j->kind, j->o->force, e);
    }
    char *path = cov_run_journal_name(j->o->output, e);
    if (!path)
        return COV_ENOMEM;
    if (!cov_path_is_std(j->o->output) && stat(path, &st) == 0)
        cov_info("%s is from a run with --resume; this run ignores it", path);
    free(path);
    return COV_OK;
}

static const struct cov_ring_job vcf_ring = {.fetch = vcf_fetch,
                                             .work = vcf_score,
                                             .store = vcf_store,
                                             .slot_bytes = sizeof(struct vcf_slot),
                                             .worker_bytes = sizeof(unsigned),
                                             .init_slot = vcf_init_slot,
                                             .fini_slot = vcf_fini_slot,
                                             .init_worker = vcf_init_worker};

/* Scores the random variants of --background, without what their quantiles do not need. */
static int score_background(struct vcf_job *j, struct cov_err *e)
{
    const double clock = cov_clock();
    struct cov_effect_options plain = *j->o;
    struct effect_tally tally = {0};
    struct vcf_job all = *j;
    plain.tracks = NULL;
    all.tracks = NULL;
    /* In the journal, they follow the records of the input. */
    int rc = cov_effect_background_new(j->o, j->n_checked + 1, &j->extras.background, e);
    if (rc)
        return rc;
    all.o = &plain;
    all.tally = &tally;
    all.n_checked = -1;
    all.random = j->extras.background;
    const size_t n = plain.n_background,
                 n_done = j->journal ? cov_effect_journal_n_done(j->journal) : 0;
    cov_progress_begin(j->job->progress, "background", "variants",
                       n_done < n ? (int64_t)(n - n_done) : 0);
    rc = cov_ring_run_job(j->job->pool, &vcf_ring, &all, NULL, e);
    cov_progress_end(j->job->progress);
    if (!rc)
        cov_effect_background_sort(j->extras.background);
    cov_stats_add_stage(j->job->stats, "background", cov_clock() - clock);
    return rc;
}

/* `n_scored`: records with scores, which take all the time; -1: unknown. */
static int score_all(struct vcf_job *j, int64_t n_scored, struct cov_err *e)
{
    struct cov_ring_times times = {0};
    int64_t n = n_scored;
    if (j->finished)
        n = 0;
    else if (j->journal)
        n -= (int64_t)(cov_effect_journal_n_done(j->journal) - j->o->n_background);
    cov_progress_begin(j->job->progress, "scoring", "variants", n);
    int rc = cov_ring_run_job(j->job->pool, &vcf_ring, j, &times, e);
    cov_progress_end(j->job->progress);
    if (!rc)
        rc = tally_check(j->tally, j->in, j->o, e);
    if (!rc && j->out)
        rc = cov_effect_output_close(j->out, e);
    if (rc)
        return rc;
    if (!j->job->stats->earlier.has_times)
        j->tally->n_resumed = -1;
    else
        j->tally->n_resumed = j->finished ? j->tally->n_scored : n_scored - n;
    j->tally->n_background = (int64_t)j->o->n_background;
    tally_report(j->tally, j->in);
    return fill_effect_stats(j, &times, e);
}

/* Fails if there is another output. The same one is from a run that was killed before it noted its
 * end. */
static int check_replaced(const struct vcf_job *j, const struct cov_outfile *out, struct cov_err *e)
{
    struct stat st;
    uint64_t was, is;
    int64_t n_was, n_is;
    if (!j->journal || j->o->force || stat(j->o->output, &st) != 0)
        return COV_OK;
    int rc = cov_fingerprint_file(j->o->output, NULL, &was, &n_was, e);
    if (!rc)
        rc = cov_fingerprint_file(out->tmp, NULL, &is, &n_is, e);
    if (rc || (was == is && n_was == n_is))
        return rc;
    return cov_outfile_try(j->o->output, j->kind, false, e);
}

/* The journal keeps its pieces until the output has its name. */
static int finish_output(struct vcf_job *j, struct cov_outfile *out, struct cov_err *e)
{
    int rc = out ? check_replaced(j, out, e) : COV_OK;
    if (!rc)
        rc = cov_effect_journal_sync(j->journal, e);
    if (!rc && out)
        rc = cov_outfile_commit(out, e);
    if (rc)
        return rc;
    cov_effect_journal_finish(j->journal);
    j->journal = NULL;
    return COV_OK;
}

static int score_and_finish(struct vcf_job *j, struct cov_outfile *out, int64_t n,
                            struct cov_err *e)
{
    int rc = j->o->tracks ? cov_effect_tracks_open(j->o, &j->tracks, e) : COV_OK;
    if (!rc && j->o->n_background > 0 && !j->finished)
        rc = score_background(j, e);
    if (!rc && !j->finished)
        rc = cov_effect_output_open(out ? out->tmp : "-", j->o, &j->extras, j->in, &j->out, e);
    if (!rc)
        rc = score_all(j, n, e);
    if (!rc && j->finished)
        cov_info("nothing to do: %s is complete", j->o->output);
    return rc || j->finished ? rc : finish_output(j, out, e);
}

/* Reads the annotation of --genes. */
static int open_genes(struct vcf_job *j, struct cov_err *e)
{
    const struct cov_effect_options *o = j->o;
    struct cov_annotation *a = &j->extras.genes;
    struct cov_listing known = {0};
    if (!o->genes)
        return COV_OK;
    int rc = cov_annotation_read(o->genes, o->feature, false, a, e);
    if (!rc && o->needs_types && a->is_bed)
        rc = cov_fail(e, COV_EINPUT, "--feature: %s is a BED file, which has no types of features",
                      o->genes);
    int64_t *lengths = rc ? NULL : cov_calloc(cov_names_count(a->contigs), sizeof *lengths, e);
    if (!lengths)
        return rc ? rc : COV_ENOMEM;
    for (size_t i = 0; i < o->genome->n_seqs; i++) {
        const char *name = o->genome->names[i];
        size_t k;
        cov_listing_add(&known, name);
        if (cov_names_find(a->contigs, name, strlen(name), &k))
            lengths[k] = o->genome->lengths[i];
    }
    rc = cov_annotation_fit(
        a, &(struct cov_annotation_target){o->genome_path, lengths, true, &known, true}, e);
    free(lengths);
    return rc ? rc : cov_nearest_new(a, &j->extras.nearest, e);
}

/* Opens what the job needs before its output. Sets *input to the counts of check_input. */
static int open_all(struct vcf_job *j, struct effect_tally *input, struct cov_err *e)
{
    const struct cov_effect_options *o = j->o;
    char text[COV_EFFECT_FIELD_TEXT];
    const struct cov_variant_field field = cov_effect_field(o, text);
    const unsigned n_workers = cov_pool_size(j->job->pool);
    enum cov_variant_format format = COV_VARIANTS_VCF;
    const bool to_variants = cov_effect_format_of(o->output, &format);
    j->kind = to_variants ? COV_OUTFILE_VARIANTS : COV_OUTFILE_GZ_TABLE;
    j->to_bcf = to_variants && format == COV_VARIANTS_BCF;
    j->tally = cov_calloc(1, sizeof *j->tally, e);
    int rc = j->tally ? cov_effect_genome_init(&j->genome, o->genome, e) : COV_ENOMEM;
    if (rc || (rc = cov_variants_open(o->input, to_variants ? &field : NULL, false, &j->in, e)) ||
        (rc = tally_check_lengths(j->in, o, e)) || (rc = check_variants(j, input, e)))
        return rc;
    j->n_checked = input->n_records;
    if ((rc = open_genes(j, e)))
        return rc;
    if (o->haplotypes && (rc = cov_haplotypes_open(o, &j->genome, &j->extras.haplotypes, e)))
        return rc;
    cov_info("%s, %u thread%s; %s: %s", o->device->ops->describe(o->device), n_workers,
             cov_text_s(n_workers), o->model->path, o->model->description);
    rc = cov_effect_batches_new(o, n_workers, &j->batches, e);
    if (rc)
        return rc;
    j->n_records = cov_effect_batches_size(j->batches) / 2;
    return open_journal(j, input, e);
}

static void close_all(struct vcf_job *j)
{
    cov_effect_output_free(j->out);
    cov_effect_journal_close(j->journal);
    cov_effect_batches_free(j->batches);
    cov_effect_tracks_free(j->tracks);
    cov_haplotypes_free(j->extras.haplotypes);
    cov_effect_background_free(j->extras.background);
    cov_nearest_free(j->extras.nearest);
    cov_annotation_fini(&j->extras.genes);
    cov_variants_close(j->in);
    cov_effect_genome_fini(&j->genome);
    free(j->tally);
}

int cov_effect_vcf_run(const struct cov_effect_options *options, struct cov_outfile *out,
                       const struct cov_job *job, struct cov_err *e)
{
    struct vcf_job j = {.o = options, .job = job};
    struct effect_tally input;
    int rc = open_all(&j, &input, e);
    if (!rc)
        rc = score_and_finish(&j, out, input.n_records < 0 ? -1 : input.n_scored, e);
    close_all(&j);
    return rc;
}
