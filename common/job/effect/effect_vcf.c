/* effect_vcf.c - see effect_vcf.h.
 *
 * A slot of the ring holds a few records. The source plans their windows, a worker predicts them in
 * batches and scores them, and the sink writes them in order.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_vcf.h"

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
#include "common/job/effect/alleles.h"
#include "common/job/effect/effect_batches.h"
#include "common/job/effect/effect_journal.h"
#include "common/job/effect/effect_output.h"
#include "common/job/effect/effect_tally.h"
#include "common/job/effect/effect_tracks.h"

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
    struct cov_haplotypes *haplotypes;  /* NULL: none */
    size_t n_records;                   /* of a slot */
    struct cov_effect_tally *tally;     /* lives until --stats has been printed */
    int64_t n_checked;                  /* records that check_input found; -1: not checked */
    enum cov_outfile_kind kind;
    bool to_bcf;
    bool finished; /* by an earlier run: nothing is computed or written, only counted and checked */
};

/* ---------------------------------------------------------------- planning */

/* Reads and plans the next record. Returns 1, 0 at the end, or a failure. */
static int next_record(struct vcf_job *j, struct cov_variants *in, struct cov_variant *v,
                       struct cov_alleles *p, struct cov_effect_tally *t, struct cov_err *e)
{
    int rc = v->record ? COV_OK : cov_variant_init(v, e);
    const int got = rc ? rc : cov_variants_next(in, v, e);
    if (got <= 0)
        return got;
    if (j->to_bcf && !cov_variant_is_declared(v))
        return cov_variants_fail(in, e,
                                 "the header does not declare the sequence or another name of the "
                                 "record, which BCF needs; write VCF");
    rc = cov_alleles_find(p, &j->genome, j->o->window, j->o->step, v, e);
    if (!rc)
        rc = cov_effect_tally_add(t, in, j->o, v, p, e);
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
static int check_variants(struct vcf_job *j, struct cov_effect_tally *t, struct cov_err *e)
{
    const char *input = j->o->input;
    struct stat st;
    struct cov_variants *in = NULL;
    struct cov_variant v = {0};
    struct cov_alleles alleles = {0};
    const double clock = cov_clock();
    int got = 1;
    *t = (struct cov_effect_tally){.n_records = -1};
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
        rc = cov_effect_tally_check(t, in, j->o, e);
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
    record->done = j->finished;
    int rc = j->haplotypes ? cov_haplotypes_rows(j->haplotypes, &record->variant, &record->alleles,
                                                 &record->rows, e)
                           : cov_effect_rows_plain(&record->rows, &record->alleles, e);
    if (rc)
        return rc;
    cov_effect_tally_add_rows(j->tally, j->o, &record->alleles, &record->rows);
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
        if (!rc && j->out)
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
    cov_stats_set_more(stats, cov_effect_tally_json, free, j->tally);
    j->tally = NULL;
    return cov_device_fill_stats(j->o->device, &counts, stats, e);
}

/* ---------------------------------------------------------------- the job */

/* Opens the journal, or mentions that of a run with --resume, which this run ignores. */
static int open_journal(struct vcf_job *j, const struct cov_effect_tally *input, struct cov_err *e)
{
    struct stat st;
    if (j->o->resume) {
        int rc = cov_effect_journal_open(j->o, (size_t)input->n_records, j->job, &j->journal,
                                         &j->finished, e);
        if (rc || j->finished || /* or the output may be this run's: see check_replaced */
            cov_effect_journal_n_done(j->journal) == (size_t)input->n_scored)
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

/* `n_scored`: records with scores, which take all the time; -1: unknown. */
static int score_all(struct vcf_job *j, int64_t n_scored, struct cov_err *e)
{
    static const struct cov_ring_job ring = {.fetch = vcf_fetch,
                                             .work = vcf_score,
                                             .store = vcf_store,
                                             .slot_bytes = sizeof(struct vcf_slot),
                                             .worker_bytes = sizeof(unsigned),
                                             .init_slot = vcf_init_slot,
                                             .fini_slot = vcf_fini_slot,
                                             .init_worker = vcf_init_worker};
    struct cov_ring_times times = {0};
    int64_t n = n_scored;
    if (j->finished)
        n = 0;
    else if (j->journal)
        n -= (int64_t)cov_effect_journal_n_done(j->journal);
    cov_progress_begin(j->job->progress, "scoring", "variants", n);
    int rc = cov_ring_run_job(j->job->pool, &ring, j, &times, e);
    cov_progress_end(j->job->progress);
    if (!rc)
        rc = cov_effect_tally_check(j->tally, j->in, j->o, e);
    if (!rc && j->out)
        rc = cov_effect_output_close(j->out, e);
    if (rc)
        return rc;
    if (!j->job->stats->earlier.has_times)
        j->tally->n_resumed = -1;
    else
        j->tally->n_resumed = j->finished ? j->tally->n_scored : n_scored - n;
    cov_effect_tally_report(j->tally, j->in);
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
    if (!rc && !j->finished)
        rc = cov_effect_output_open(out ? out->tmp : "-", j->o, j->haplotypes, j->in, &j->out, e);
    if (!rc)
        rc = score_all(j, n, e);
    if (!rc && j->finished)
        cov_info("nothing to do: %s is complete", j->o->output);
    return rc || j->finished ? rc : finish_output(j, out, e);
}

/* Opens what the job needs before its output. Sets *input to the counts of check_input. */
static int open_all(struct vcf_job *j, struct cov_effect_tally *input, struct cov_err *e)
{
    const struct cov_effect_options *o = j->o;
    const struct cov_variant_field field = cov_effect_field(o);
    const unsigned n_workers = cov_pool_size(j->job->pool);
    enum cov_variant_format format = COV_VARIANTS_VCF;
    const bool to_variants = cov_variant_format_of(o->output, &format);
    j->kind = to_variants ? COV_OUTFILE_VARIANTS : COV_OUTFILE_GZ_TABLE;
    j->to_bcf = to_variants && format == COV_VARIANTS_BCF;
    j->tally = cov_calloc(1, sizeof *j->tally, e);
    int rc = j->tally ? cov_effect_genome_init(&j->genome, o->genome, e) : COV_ENOMEM;
    if (rc || (rc = cov_variants_open(o->input, to_variants ? &field : NULL, false, &j->in, e)) ||
        (rc = cov_effect_tally_check_lengths(j->in, o, e)) || (rc = check_variants(j, input, e)))
        return rc;
    j->n_checked = input->n_records;
    if (o->haplotypes && (rc = cov_haplotypes_open(o, &j->genome, &j->haplotypes, e)))
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
    cov_haplotypes_free(j->haplotypes);
    cov_variants_close(j->in);
    cov_effect_genome_fini(&j->genome);
    free(j->tally);
}

int cov_effect_vcf_run(const struct cov_effect_options *options, struct cov_outfile *out,
                       const struct cov_job *job, struct cov_err *e)
{
    struct vcf_job j = {.o = options, .job = job};
    struct cov_effect_tally input;
    int rc = open_all(&j, &input, e);
    if (!rc)
        rc = score_and_finish(&j, out, input.n_records < 0 ? -1 : input.n_scored, e);
    close_all(&j);
    return rc;
}
