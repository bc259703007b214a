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

#include "common/base/clock.h"
#include "common/base/fingerprint.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/file/path.h"
#include "common/job/device_options.h"
#include "common/job/effect/effect_batches.h"
#include "common/job/effect/effect_journal.h"
#include "common/job/effect/effect_output.h"
#include "common/job/effect/effect_plan.h"
#include "common/job/effect/effect_tally.h"
#include "common/job/effect/effect_tracks.h"
#include "common/job/run_journal.h"

struct slot {
    struct cov_effect_record *records; /* [n_records of the job] */
    size_t n;
};

struct run {
    const struct cov_effect_options *o;
    const struct cov_job *job;
    struct cov_effect_genome genome;
    struct cov_variants *in;
    struct cov_effect_output *out;
    struct cov_effect_batches *batches;
    struct cov_effect_tracks *tracks;   /* NULL: none */
    struct cov_effect_journal *journal; /* NULL: none */
    struct cov_haplotypes *haplotypes;  /* NULL: none */
    struct slot *slots;
    size_t n_slots, n_workers, n_records; /* n_records: of a slot */
    struct cov_effect_tally *tally;       /* lives until --stats has been printed */
    int64_t n_checked;                    /* records that check_input found; -1: not checked */
    enum cov_outfile_kind kind;
    bool to_bcf;
    bool finished; /* by an earlier run: nothing is computed or written, only counted and checked */
};

/* ---------------------------------------------------------------- planning */

/* Reads and plans the next record. Returns 1, 0 at the end, or a failure. */
static int next_record(struct run *r, struct cov_variants *in, struct cov_variant *v,
                       struct cov_effect_plan *p, struct cov_effect_tally *t, struct cov_err *e)
{
    const int got = cov_variants_next(in, v, e);
    if (got <= 0)
        return got;
    if (r->to_bcf && !cov_variant_is_declared(v))
        return cov_variants_fail(in, e,
                                 "the header does not declare the sequence or another name of the "
                                 "record, which BCF needs; write VCF");
    int rc = cov_effect_plan_make(p, &r->genome, r->o->window, r->o->step, v, e);
    if (!rc)
        rc = cov_effect_tally_add(t, in, r->o, v, p, e);
    if (rc)
        return rc;
    const size_t n_tracks = cov_effect_tracks_count(r->o, (size_t)t->n_alleles[COV_ALLELE_SCORED]);
    if (r->o->tracks && n_tracks > COV_EFFECT_MAX_TRACKS)
        return cov_variants_fail(in, e,
                                 "--tracks: more than %d files; use fewer variants or --datasets",
                                 COV_EFFECT_MAX_TRACKS);
    return 1;
}

static int fail_changed(const struct run *r, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: changed while it was read; run again", r->o->input);
}

/* Reads a regular file to its end, so that faults are found before anything is computed, and
 * counts it. *t has -1 records for other inputs. */
static int check_input(struct run *r, struct cov_effect_tally *t, struct cov_err *e)
{
    const char *input = r->o->input;
    struct stat st;
    struct cov_variants *in = NULL;
    struct cov_variant v = {0};
    struct cov_effect_plan plan = {0};
    const double clock = cov_clock();
    int got = 1;
    *t = (struct cov_effect_tally){.n_records = -1};
    if (cov_path_is_std(input) || stat(input, &st) != 0 || !S_ISREG(st.st_mode))
        return COV_OK;
    t->n_records = 0;
    int rc = cov_variants_open(input, NULL, false, &in, e);
    if (!rc)
        rc = cov_variant_init(&v, e);
    cov_progress_begin(r->job->progress, "checking", "variants", -1);
    while (!rc && got > 0) {
        got = next_record(r, in, &v, &plan, t, e);
        rc = got < 0 ? got : COV_OK;
        cov_progress_add(r->job->progress, got > 0);
    }
    cov_progress_end(r->job->progress);
    if (!rc)
        rc = cov_effect_tally_check(t, in, r->o, e);
    cov_effect_plan_fini(&plan);
    cov_variant_fini(&v);
    cov_variants_close(in);
    cov_stats_add_stage(r->job->stats, "check", cov_clock() - clock);
    return rc;
}

/* ---------------------------------------------------------------- the stages */

static int reserve_values(struct cov_effect_record *record, struct cov_err *e)
{
    const size_t n = record->cap_values;
    int rc = COV_RESERVE(&record->values, &record->cap_values, record->plan.n_alleles, e);
    for (size_t i = n; i < record->cap_values; i++)
        record->values[i] = (struct cov_effect_values){.values = {NULL, NULL}};
    return rc;
}

/* Makes room for the scores of a record, or reads those of the journal. */
static int prepare_scores(const struct run *r, struct cov_effect_record *record, struct cov_err *e)
{
    record->done = r->finished;
    int rc = r->haplotypes ? cov_haplotypes_rows(r->haplotypes, &record->variant, &record->plan,
                                                 &record->rows, e)
                           : cov_effect_rows_plain(&record->rows, &record->plan, e);
    if (rc)
        return rc;
    cov_effect_tally_add_rows(r->tally, r->o, &record->plan, &record->rows);
    record->n_scores = record->rows.n * r->o->n_datasets * r->o->n_widths;
    rc = COV_RESERVE(&record->scores, &record->cap_scores, record->n_scores + 1, e);
    if (!rc && r->o->tracks)
        rc = reserve_values(record, e);
    if (rc || !r->journal || record->plan.n_scored == 0)
        return rc;
    memset(record->scores, 0, record->n_scores * sizeof *record->scores);
    const int got = cov_effect_journal_read(r->journal, record->variant.number, record->scores,
                                            record->n_scores, e);
    record->done = got > 0;
    return got < 0 ? got : COV_OK;
}

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    enum { MOST_BYTES = 1 << 23 }; /* of small records, which are kept for the next ones */
    size_t n_versions = 0, n_bytes = 0;
    s->n = 0;
    while (s->n < r->n_records && n_versions < cov_effect_batches_size(r->batches) &&
           n_bytes < MOST_BYTES) {
        struct cov_effect_record *record = &s->records[s->n];
        const int got = next_record(r, r->in, &record->variant, &record->plan, r->tally, e);
        if (got < 0)
            return got;
        const int64_t n_read = r->tally->n_records;
        if (r->n_checked >= 0 && (got ? n_read > r->n_checked : n_read < r->n_checked))
            return fail_changed(r, e);
        if (got == 0)
            break;
        const int rc = prepare_scores(r, record, e);
        if (rc)
            return rc;
        if (!record->done)
            n_versions += cov_effect_batches_versions(r->batches, record);
        n_bytes += cov_effect_record_bytes(record);
        s->n++;
    }
    return s->n > 0;
}

static int compute(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    const struct run *r = arg;
    const struct slot *s = &r->slots[slot];
    return cov_effect_batches_score(r->batches, worker, s->records, s->n, e);
}

static int store(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    int64_t n_scored = 0;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < s->n; i++) {
        struct cov_effect_record *record = &s->records[i];
        if (r->tracks && record->plan.n_scored > 0)
            rc = cov_effect_tracks_put(r->tracks, record, e);
        if (!rc && r->journal && !record->done && record->plan.n_scored > 0)
            rc = cov_effect_journal_append(r->journal, record->variant.number, record->scores,
                                           record->n_scores, e);
        if (!rc && r->out)
            rc = cov_effect_output_put(r->out, record, e);
        n_scored += !record->done && record->plan.n_scored > 0;
        if (!rc)
            rc = cov_effect_record_trim(record, e);
    }
    /* At once: the time that has passed is that of all of them. */
    cov_progress_add(r->job->progress, n_scored);
    return rc;
}

/* ---------------------------------------------------------------- memory */

static int allocate(struct run *r, struct cov_err *e)
{
    int rc = COV_OK;
    r->slots = cov_calloc(r->n_slots, sizeof *r->slots, e);
    if (!r->slots)
        return COV_ENOMEM;
    for (size_t i = 0; !rc && i < r->n_slots; i++) {
        struct slot *s = &r->slots[i];
        s->records = cov_calloc(r->n_records, sizeof *s->records, e);
        rc = s->records ? COV_OK : COV_ENOMEM;
        for (size_t k = 0; !rc && k < r->n_records; k++)
            rc = cov_variant_init(&s->records[k].variant, e);
    }
    return rc;
}

static void release_buffers(struct run *r)
{
    for (size_t i = 0; r->slots && i < r->n_slots; i++) {
        struct cov_effect_record *records = r->slots[i].records;
        for (size_t k = 0; records && k < r->n_records; k++)
            cov_effect_record_fini(&records[k]);
        free(records);
    }
    free(r->slots);
}

/* ---------------------------------------------------------------- the report */

static int fill_stats(struct run *r, const struct cov_ring_times *times, struct cov_err *e)
{
    struct cov_stats *stats = r->job->stats;
    struct cov_forward_counts counts;
    cov_effect_batches_counts(r->batches, &counts);
    cov_stats_add_stage(stats, "fetch", times->source);
    cov_stats_add_stage(stats, "compute", times->work);
    cov_stats_add_stage(stats, "store", times->sink);
    cov_stats_set_more(stats, cov_effect_tally_json, free, r->tally);
    r->tally = NULL;
    return cov_device_fill_stats(r->o->device, &counts, stats, e);
}

/* ---------------------------------------------------------------- the job */

static const char *sample_name(const void *arg, size_t sample)
{
    return cov_haplotypes_sample(arg, sample);
}

static int open_output(struct run *r, const char *path, struct cov_err *e)
{
    const struct cov_effect_options *o = r->o;
    const char **names = cov_calloc(o->n_datasets, sizeof *names, e);
    if (!names)
        return COV_ENOMEM;
    for (size_t d = 0; d < o->n_datasets; d++)
        names[d] = o->model->datasets[o->datasets[d]];
    const struct cov_effect_layout layout = {
        names,         o->n_datasets, o->widths,   o->n_widths,
        o->sd,         o->n_shuffles, sample_name, cov_haplotypes_n_samples(r->haplotypes),
        r->haplotypes,
    };
    int rc = cov_effect_output_open(path, o->output, &layout, r->in, &r->out, e);
    free(names);
    return rc;
}

/* Opens the journal, or mentions that of a run with --resume, which this run ignores. */
static int open_journal(struct run *r, const struct cov_effect_tally *input, struct cov_err *e)
{
    struct stat st;
    if (r->o->resume) {
        int rc = cov_effect_journal_open(r->o, (size_t)input->n_records, r->job, &r->journal,
                                         &r->finished, e);
        if (rc || r->finished || /* or the output may be this run's: see check_replaced */
            cov_effect_journal_n_done(r->journal) == (size_t)input->n_scored)
            return rc;
        return cov_outfile_try(r->o->output, r->kind, r->o->force, e);
    }
    char *path = cov_run_journal_name(r->o->output, e);
    if (!path)
        return COV_ENOMEM;
    if (!cov_path_is_std(r->o->output) && stat(path, &st) == 0)
        cov_info("%s is from a run with --resume; this run ignores it", path);
    free(path);
    return COV_OK;
}

/* `n_scored`: records with scores, which take all the time; -1: unknown. */
static int score_all(struct run *r, int64_t n_scored, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, compute, store};
    struct cov_ring_times times = {0};
    int64_t n = n_scored;
    if (r->finished)
        n = 0;
    else if (r->journal)
        n -= (int64_t)cov_effect_journal_n_done(r->journal);
    int rc = allocate(r, e);
    cov_progress_begin(r->job->progress, "scoring", "variants", n);
    if (!rc)
        rc = cov_ring_run(r->job->pool, r->n_slots, &stages, r, &times, e);
    cov_progress_end(r->job->progress);
    if (!rc)
        rc = cov_effect_tally_check(r->tally, r->in, r->o, e);
    if (!rc && r->out)
        rc = cov_effect_output_close(r->out, e);
    if (rc)
        return rc;
    if (!r->job->stats->earlier.has_times)
        r->tally->n_resumed = -1;
    else
        r->tally->n_resumed = r->finished ? r->tally->n_scored : n_scored - n;
    cov_effect_tally_report(r->tally, r->in);
    return fill_stats(r, &times, e);
}

/* Fails if there is another output. The same one is from a run that was killed before it noted its
 * end. */
static int check_replaced(const struct run *r, const struct cov_outfile *out, struct cov_err *e)
{
    struct stat st;
    uint64_t was, is;
    int64_t n_was, n_is;
    if (!r->journal || r->o->force || stat(r->o->output, &st) != 0)
        return COV_OK;
    int rc = cov_fingerprint_file(r->o->output, NULL, &was, &n_was, e);
    if (!rc)
        rc = cov_fingerprint_file(out->tmp, NULL, &is, &n_is, e);
    if (rc || (was == is && n_was == n_is))
        return rc;
    return cov_outfile_try(r->o->output, r->kind, false, e);
}

/* The journal keeps its pieces until the output has its name. */
static int finish(struct run *r, struct cov_outfile *out, struct cov_err *e)
{
    int rc = out ? check_replaced(r, out, e) : COV_OK;
    if (!rc && out)
        rc = cov_outfile_commit(out, e);
    if (rc)
        return rc;
    rc = cov_effect_journal_finish(r->journal, e);
    r->journal = NULL;
    return rc;
}

static int score_and_finish(struct run *r, struct cov_outfile *out, int64_t n, struct cov_err *e)
{
    int rc = r->o->tracks ? cov_effect_tracks_open(r->o, &r->tracks, e) : COV_OK;
    if (!rc && !r->finished)
        rc = open_output(r, out ? out->tmp : "-", e);
    if (!rc)
        rc = score_all(r, n, e);
    if (!rc && r->finished)
        cov_info("nothing to do: %s is complete", r->o->output);
    return rc || r->finished ? rc : finish(r, out, e);
}

static void release(struct run *r)
{
    cov_effect_output_free(r->out);
    release_buffers(r);
    cov_effect_journal_close(r->journal);
    cov_effect_batches_free(r->batches);
    cov_effect_tracks_free(r->tracks);
    cov_haplotypes_free(r->haplotypes);
    cov_variants_close(r->in);
    cov_effect_genome_fini(&r->genome);
    free(r->tally);
}

int cov_effect_vcf_run(const struct cov_effect_options *options, struct cov_outfile *out,
                       const struct cov_job *job, struct cov_err *e)
{
    const struct cov_effect_options *o = options;
    struct run r = {.o = o,
                    .job = job,
                    .n_workers = cov_pool_size(job->pool),
                    .n_slots = cov_ring_slots(job->pool)};
    const struct cov_effect_haplotype_options haplotypes = {o->window, o->samples, o->n_samples,
                                                            o->n_datasets * o->n_widths *
                                                                sizeof(struct cov_effect_score)};
    const struct cov_variant_field field =
        cov_effect_field(o->sd, o->n_shuffles > 0, o->haplotypes);
    enum cov_variant_format format = COV_VARIANTS_VCF;
    const bool to_variants = cov_variant_format_of(o->output, &format);
    struct cov_effect_tally input;
    r.kind = to_variants ? COV_OUTFILE_VARIANTS : COV_OUTFILE_GZ_TABLE;
    r.to_bcf = to_variants && format == COV_VARIANTS_BCF;
    r.tally = cov_calloc(1, sizeof *r.tally, e);
    int rc = r.tally ? cov_effect_genome_init(&r.genome, o->genome, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_variants_open(o->input, to_variants ? &field : NULL, false, &r.in, e);
    if (!rc)
        rc = cov_effect_tally_check_lengths(r.in, o, e);
    if (!rc)
        rc = check_input(&r, &input, e);
    r.n_checked = rc ? -1 : input.n_records;
    if (!rc && o->haplotypes)
        rc = cov_haplotypes_open(o->input, &haplotypes, &r.genome, &r.haplotypes, e);
    if (!rc)
        cov_info("%s, %zu thread%s; %s: %s", o->device->ops->describe(o->device), r.n_workers,
                 cov_text_s((int64_t)r.n_workers), o->model->path, o->model->description);
    if (!rc)
        rc = cov_effect_batches_new(o, (unsigned)r.n_workers, &r.batches, e);
    if (!rc)
        r.n_records = cov_effect_batches_size(r.batches) / 2;
    if (!rc)
        rc = open_journal(&r, &input, e);
    if (!rc)
        rc = score_and_finish(&r, out, input.n_records < 0 ? -1 : input.n_scored, e);
    release(&r);
    return rc;
}
