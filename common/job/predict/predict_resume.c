/* predict_resume.c - see predict_resume.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/predict_resume.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/version.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/chunk_table.h"
#include "common/chunk/predictions.h"
#include "common/cli/tool.h"
#include "common/file/hash.h"
#include "common/file/outfile.h"
#include "common/input/run_journal.h"
#include "common/job/predict/predict_output.h"

/* ---- the bases ---- */

struct bases_slot {
    struct cov_loader_item item, stored;
    struct cov_blob raw[2];
};

struct bases_job {
    struct cov_loader *loader;
    struct cov_progress *progress;
    size_t L;
    uint64_t *out;
};

static int bases_fetch(void *arg, void *slot, struct cov_err *e)
{
    const struct bases_job *j = arg;
    struct bases_slot *s = slot;
    int got = cov_loader_next(j->loader, &s->item, s->raw, e);
    s->stored = s->item;
    if (got <= 0 || !cov_loader_has_neighbours(j->loader) || s->item.beg == s->item.end)
        return got;
    int rc = cov_loader_neighbour(j->loader, s->item.seq, s->item.beg, &s->stored, s->raw, e);
    return rc ? rc : got;
}

/* `worker` is a buffer for the codes of two chunks. */
static int bases_hash(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct bases_job *j = arg;
    struct bases_slot *s = slot;
    uint8_t *const codes[2] = {worker, (uint8_t *)worker + j->L};
    int rc = cov_loader_codes(j->loader, &s->stored, s->raw, codes, e);
    for (size_t strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        if (s->item.has[strand])
            j->out[s->item.rows[strand]] = cov_item_fingerprint(&s->item, codes[strand]);
    return rc;
}

static int bases_count(void *arg, void *slot, struct cov_err *e)
{
    (void)e;
    const struct bases_job *j = arg;
    const struct cov_loader_item *item = &((struct bases_slot *)slot)->item;
    cov_progress_add(j->progress, item->has[COV_PLUS] + item->has[COV_MINUS]);
    return COV_OK;
}

static void bases_fini_slot(void *arg, void *slot)
{
    (void)arg;
    struct bases_slot *s = slot;
    cov_blob_fini(&s->raw[COV_PLUS]);
    cov_blob_fini(&s->raw[COV_MINUS]);
}

/* Reads all bases that the loader delivers, which must not be a stream, and sets *out to the
 * fingerprint of each row of its grid. Rewinds the loader. Caller frees. */
static int fingerprint_bases(struct cov_loader *loader, struct cov_pool *pool,
                             struct cov_progress *progress, uint64_t **out, struct cov_err *e)
{
    struct bases_job j = {
        .loader = loader, .progress = progress, .L = cov_loader_chunk_length(loader)};
    const struct cov_ring_job ring = {.fetch = bases_fetch,
                                      .work = bases_hash,
                                      .store = bases_count,
                                      .slot_bytes = sizeof(struct bases_slot),
                                      .worker_bytes = 2 * j.L,
                                      .fini_slot = bases_fini_slot};
    *out = NULL;
    size_t n_rows = cov_grid_n_chunks(cov_loader_grid(loader));
    j.out = cov_calloc(n_rows + 1, sizeof *j.out, e);
    if (!j.out)
        return COV_ENOMEM;
    cov_progress_begin(progress, "checking", "chunks", (int64_t)n_rows);
    int rc = cov_ring_run_job(pool, &ring, &j, NULL, e);
    cov_progress_end(progress);
    if (!rc)
        rc = cov_loader_rewind(loader, e);
    if (rc)
        free(j.out);
    else
        *out = j.out;
    return rc;
}

struct resume_job {
    struct cov_loader *loader;
    const struct cov_ensemble *model;
    const struct cov_predict_options *options;
    const struct cov_predict_resume *resume;
    const struct cov_job *job;
    struct cov_journal *journal;
    struct cov_outfile out; /* open from when the journal is locked */
    size_t n_pairs;
    struct cov_predict_output *format; /* for the check of the journal. Owned */
    uint64_t *bases; /* fingerprints of the rows of the input's grid; NULL: unknown. Owned */
};

/* ---- the description of a run ---- */

/* Returns a fingerprint of the names, lengths and rows to be predicted. */
static uint64_t fingerprint_grid(const struct cov_grid *g)
{
    uint64_t h = 0;
    for (size_t s = 0; s < cov_grid_n_seqs(g); s++) {
        const char *species = cov_grid_species(g, s), *name = cov_grid_name(g, s);
        int64_t length = cov_grid_seq_length(g, s);
        h = cov_fingerprint(h, species, strlen(species));
        h = cov_fingerprint(h, name, strlen(name));
        h = cov_fingerprint(h, &length, sizeof length);
    }
    for (size_t i = 0; i < cov_grid_n_chunks(g); i++) {
        struct cov_chunk c = cov_grid_chunk(g, i);
        const int64_t row[4] = {(int64_t)c.seq, c.beg, c.end, c.minus};
        h = cov_fingerprint(h, row, sizeof row);
    }
    return h;
}

/* Reads the bases of the input unless that has been done. */
static int check_bases(struct resume_job *r, struct cov_err *e)
{
    return r->bases ? COV_OK
                    : fingerprint_bases(r->loader, r->job->pool, r->job->progress, &r->bases, e);
}

/* Returns true if predictions depend on bases outside the predicted rows. */
static bool needs_other_rows(const struct resume_job *r)
{
    return r->options->overlap > 0 && cov_loader_is_partial(r->loader);
}

/* The same bases are the same input, whatever else is in the file. */
static int add_input(struct resume_job *r, struct cov_run_lines *t, struct cov_err *e)
{
    char value[64];
    if (needs_other_rows(r))
        return cov_run_lines_add_file(t, "input", r->resume->input, r->job->progress, e);
    int rc = check_bases(r, e);
    if (rc)
        return rc;
    (void)snprintf(
        value, sizeof value, "bases with fingerprint %016" PRIx64,
        cov_fingerprint(0, r->bases,
                        cov_grid_n_chunks(cov_loader_grid(r->loader)) * sizeof *r->bases));
    return cov_run_lines_add(t, "input", value, NULL, e);
}

static int describe_run(struct resume_job *r, const struct cov_device *device,
                        struct cov_run_lines *t, struct cov_err *e)
{
    static const char *const types[] = {"int16", "int32", "int64", "float32"};
    const struct cov_predict_options *o = r->options;
    const struct cov_grid *grid = cov_loader_grid(r->loader);
    char length[32], overlap[32], chunks[64];
    (void)snprintf(length, sizeof length, "%zu", cov_grid_chunk_length(grid));
    (void)snprintf(overlap, sizeof overlap, "%zu", o->overlap);
    (void)snprintf(chunks, sizeof chunks, "%zu, fingerprint %016" PRIx64, cov_grid_n_chunks(grid),
                   fingerprint_grid(grid));
    const struct cov_predict_fact own[] = {
        {"type of values", types[o->type]},
        {"length of chunks", length},
        {"--overlap", overlap},
        {"--full", o->full ? "yes" : "no"},
    };
    int rc = cov_run_lines_add(t, "version", cov_version(), NULL, e);
    for (size_t i = 0; !rc && i < r->resume->n_files; i++)
        rc = cov_run_lines_add_file(t, r->resume->files[i].name, r->resume->files[i].value,
                                    r->job->progress, e);
    if (!rc)
        rc = cov_run_lines_add_precision(t, device, e);
    for (size_t i = 0; !rc && i < COV_COUNT(own); i++)
        rc = cov_run_lines_add(t, own[i].name, own[i].value, NULL, e);
    for (size_t i = 0; !rc && i < r->resume->n_facts; i++)
        rc = cov_run_lines_add(t, r->resume->facts[i].name, r->resume->facts[i].value, NULL, e);
    if (!rc)
        rc = cov_run_lines_add(t, "chunks or --species", chunks, NULL, e);
    if (!rc)
        rc = add_input(r, t, e);
    return rc ? rc : cov_run_lines_add_device(t, device, e);
}

/* ---- the journal ---- */

static bool is_done(const void *arg, size_t pair)
{
    return cov_journal_has(arg, pair);
}

/* Returns true if the blobs can be what the run stores of a pair. */
static bool fits(const void *arg, size_t pair, const struct cov_blob blobs[2])
{
    const struct resume_job *r = arg;
    struct cov_pair p = cov_grid_pair(cov_loader_grid(r->loader), pair);
    for (int s = COV_PLUS; s <= COV_MINUS; s++) {
        bool none = p.rows[s] == COV_NO_ROW;
        if (none ? blobs[s].n_pieces > 0 : !cov_predict_output_fits(r->format, &blobs[s]))
            return false;
    }
    return true;
}

/* Called once the run is known; resumes or starts the journal. */
static int begin(void *arg, const struct cov_device *device, struct cov_err *e)
{
    struct resume_job *r = arg;
    struct cov_run_lines now = {0};
    const char *path = cov_journal_path(r->journal);
    int rc = describe_run(r, device, &now, e);
    if (!rc)
        rc = cov_run_journal_start(r->journal, &now, r->resume->force, e);
    cov_run_lines_fini(&now);
    const struct cov_predictions_options layout =
        cov_predict_layout(r->loader, r->model, r->options);
    if (!rc)
        rc = cov_predict_output_open(NULL, r->loader, &layout, NULL, r->journal, &r->format, e);
    if (!rc)
        rc = cov_journal_scan(r->journal, r->n_pairs, fits, r, e);
    if (rc)
        return rc;
    if (cov_journal_n_pieces(r->journal) > 0)
        cov_info("%s: %zu of %zu pairs of chunks are done", path, cov_journal_n_pieces(r->journal),
                 r->n_pairs);
    cov_loader_exclude(r->loader, is_done, r->journal);
    return COV_OK;
}

/* Writes the output file from the complete journal, in the order of a run without one. */
static int write_from_journal(struct resume_job *r, struct cov_err *e)
{
    struct cov_predict_output *to = NULL;
    struct cov_loader_item item;
    struct cov_blob blobs[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    const struct cov_predictions_options layout =
        cov_predict_layout(r->loader, r->model, r->options);
    double clock = cov_clock();
    int rc =
        cov_predict_output_open(r->out.tmp, r->loader, &layout, r->options->tmpdir, NULL, &to, e);
    cov_loader_exclude(r->loader, NULL, NULL);
    if (!rc)
        rc = cov_loader_rewind(r->loader, e);
    cov_progress_begin(r->job->progress, "writing", "chunks", cov_loader_n_left(r->loader));
    while (!rc && cov_loader_next_item(r->loader, &item)) {
        if (!item.has[COV_PLUS] && !item.has[COV_MINUS])
            continue;
        rc = cov_journal_read(r->journal, item.pair, blobs, e);
        if (!rc)
            rc = cov_predict_output_put(to, &item, "", "", blobs, e);
        cov_progress_add(r->job->progress, item.has[COV_PLUS] + item.has[COV_MINUS]);
    }
    cov_progress_end(r->job->progress);
    if (!rc) {
        rc = cov_predict_output_close(to, e);
        to = NULL;
    }
    if (!rc)
        rc = cov_outfile_commit(&r->out, e);
    cov_predict_output_abort(to);
    cov_blob_fini(&blobs[0]);
    cov_blob_fini(&blobs[1]);
    if (!rc && r->job->stats)
        cov_stats_add_stage(r->job->stats, "write", cov_clock() - clock);
    return rc;
}

/* ---- an existing output ---- */

static bool same_grid(const struct cov_grid *a, const struct cov_grid *b)
{
    return cov_grid_chunk_length(a) == cov_grid_chunk_length(b) &&
           cov_grid_n_seqs(a) == cov_grid_n_seqs(b) &&
           cov_grid_n_chunks(a) == cov_grid_n_chunks(b) &&
           fingerprint_grid(a) == fingerprint_grid(b);
}

static bool same_table(const struct cov_chunk_head *a, const struct cov_chunk_head *b,
                       const char *name)
{
    const struct cov_chunk_table *s = cov_chunk_head_table(a, name),
                                 *t = cov_chunk_head_table(b, name);
    return s && t && s->n_bytes == t->n_bytes && memcmp(s->elems, t->elems, s->n_bytes) == 0;
}

/* Returns how the predictions in the file differ from those of this run; NULL: not at all. */
static const char *difference(const struct resume_job *r, const struct cov_chunk_file *f,
                              const struct cov_chunk_head *wanted)
{
    const char *name = wanted->sets[0].name;
    const struct cov_chunk_head *head = cov_chunk_file_head(f);
    const struct cov_chunk_set *set = cov_chunk_head_set(head, name);
    if (!set)
        return "it is not a predictions file";
    if (!same_table(head, wanted, COV_PREDICTIONS_DATASETS))
        return "it has different datasets";
    if (!cov_made_by_known_models(head, wanted) && !same_table(head, wanted, COV_PREDICTIONS_MODEL))
        return "it has a different model name";
    if (!cov_h5_same_type(&set->type, &wanted->sets[0].type))
        return "it has a different value type";
    if (!cov_chunk_head_same_attr(head, wanted, name, COV_PREDICTIONS_REGIONS_ATTR))
        return "it has different regions";
    if (!cov_chunk_head_same_attr(head, wanted, name, COV_PREDICTIONS_OVERLAP_ATTR))
        return "it was predicted with a different --overlap";
    if (!same_grid(cov_chunk_file_grid(f), cov_loader_grid(r->loader)))
        return "it has different chunks or another --species";
    if (!cov_chunk_head_attr(head, NULL, COV_MADE_MODEL))
        return NULL; /* of another program */
    if (!cov_chunk_head_same_attr(head, wanted, NULL, COV_MADE_MODEL))
        return "it was predicted with a different model";
    if (!cov_chunk_head_same_attr(head, wanted, NULL, COV_MADE_PRECISION))
        return "it was predicted with a different --precision";
    return cov_made_with_same_options(head, wanted) ? NULL
                                                    : "it was predicted with different options";
}

/* Compares the bases of the output, if known, with those of the input. */
static int compare_bases(struct resume_job *r, struct cov_chunk_file *f, bool *known, char *why,
                         size_t why_bytes, struct cov_err *e)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    char row[COV_ROW_TEXT_BYTES];
    struct cov_h5 *h5;
    uint64_t *was = NULL;
    size_t n = cov_grid_n_chunks(grid), i = 0;
    *known = false;
    int rc = cov_h5_open(r->resume->output, &h5, e);
    if (rc)
        return rc;
    rc = cov_bases_fingerprints_read(h5, n, &was, e);
    cov_h5_close(h5);
    if (rc || !was || needs_other_rows(r)) {
        free(was);
        return rc;
    }
    *known = true;
    rc = check_bases(r, e);
    while (!rc && i < n && was[i] == r->bases[i])
        i++;
    if (!rc && i < n)
        (void)snprintf(why, why_bytes, "it was predicted from different bases: %s",
                       cov_row_text(grid, i, row));
    free(was);
    return rc;
}

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* Returns the first input file modified after `time`; NULL: none. For outputs that do not say what
 * they were made from. */
static const char *newer_file(const struct resume_job *r, struct timespec time)
{
    struct stat st;
    const struct cov_predict_resume *resume = r->resume;
    for (size_t i = 0; i <= resume->n_files; i++) {
        const char *path = i ? resume->files[i - 1].value : resume->input;
        if (path && stat(path, &st) == 0 && is_before(time, st.st_mtim))
            return path;
    }
    return NULL;
}

/* Sets *done to whether the output exists and matches this run. COV_EEXIST with the reason if it
 * does not match, unless it may be replaced. */
static int check_existing(struct resume_job *r, bool *done, struct cov_err *e)
{
    struct stat st;
    char bases[COV_ROW_TEXT_BYTES + 64] = "";
    bool known = false;
    const char *output = r->resume->output, *why = NULL, *newer;
    struct cov_chunk_file *f = NULL;
    struct cov_chunk_head wanted;
    const struct cov_predictions_options layout =
        cov_predict_layout(r->loader, r->model, r->options);
    *done = false;
    if (stat(output, &st) != 0 || !S_ISREG(st.st_mode))
        return COV_OK;
    int rc = cov_predictions_head(cov_loader_chunk_length(r->loader), &layout, &wanted, e);
    if (rc)
        return rc;
    struct cov_err failure = COV_ERR_INIT;
    if (r->journal && is_before(st.st_mtim, cov_journal_time(r->journal)))
        why = "it is older than the journal of the run that replaces it";
    else if (cov_chunk_file_open(output, &f, &failure) != COV_OK)
        why = "it is not a predictions file";
    else
        why = difference(r, f, &wanted);
    if (!why)
        rc = compare_bases(r, f, &known, bases, sizeof bases, e);
    if (*bases)
        why = bases;
    newer = why || known ? NULL : newer_file(r, st.st_mtim);
    *done = !rc && !why && !newer;
    cov_chunk_file_close(f);
    cov_chunk_head_fini(&wanted);
    if (rc || *done || r->resume->force)
        return rc;
    return newer ? cov_fail(e, COV_EEXIST,
                            "%s: already exists, but %s is newer; use -f to replace it", output,
                            newer)
                 : cov_fail(e, COV_EEXIST, "%s: already exists, and %s; use -f to replace it",
                            output, why);
}

/* ---- the whole run ---- */

/* Lets the statistics, which are those of this run (of none if nothing was left to do), describe
 * the output. */
static void describe_output(const struct resume_job *r)
{
    const struct cov_grid *grid = cov_loader_grid(r->loader);
    struct cov_stats *stats = r->job->stats;
    const int64_t bases = stats && stats->bases > 0 ? stats->bases : 0,
                  chunks = stats && stats->chunks > 0 ? stats->chunks : 0;
    if (!stats)
        return;
    stats->bases = stats->chunks = 0;
    for (size_t i = 0; i < cov_grid_n_pairs(grid); i++) {
        const struct cov_pair pair = cov_grid_pair(grid, i);
        stats->bases += pair.end - pair.beg;
        stats->chunks += (int64_t)cov_pair_n_rows(&pair);
    }
    if (stats->chunks == chunks)
        return;
    stats->earlier.bases = stats->bases - bases;
    stats->earlier.chunks = stats->chunks - chunks;
    if (r->journal)
        cov_run_journal_add_times(r->journal, stats);
}

#define KEPT "finished chunks are kept in %s; run the same command to resume"

/* Runs with the locked journal. Sets *done to whether the output is already complete. */
static int run_journal(struct resume_job *r, bool *done, struct cov_err *e)
{
    struct cov_predict_options options = *r->options;
    options.journal = r->journal;
    options.begin = begin;
    options.begin_arg = r;
    int rc = check_existing(r, done, e);
    if (rc || *done)
        return rc;
    /* Locks the output against runs without --resume, too. */
    rc = cov_outfile_begin(&r->out, r->resume->output, COV_OUTFILE_HDF5, r->resume->force, e);
    char *words = cov_strfmt(NULL, KEPT, cov_journal_path(r->journal));
    cov_log_set_last_words(words);
    free(words);
    if (!rc)
        rc = cov_predict(r->loader, r->model, &options, NULL, r->job, e);
    if (!rc)
        rc = write_from_journal(r, e);
    cov_log_set_last_words(NULL);
    cov_outfile_end(&r->out, e);
    return rc;
}

int cov_predict_resume(struct cov_loader *loader, const struct cov_ensemble *model,
                       const struct cov_predict_options *options,
                       const struct cov_predict_resume *resume, const struct cov_job *job,
                       struct cov_err *e)
{
    struct resume_job r = {.loader = loader,
                           .model = model,
                           .options = options,
                           .resume = resume,
                           .job = job,
                           .n_pairs = cov_loader_n_pairs(loader),
                           .out = COV_OUTFILE_INIT};
    struct stat st;
    bool done = false;
    char *path = cov_run_journal_name(resume->output, e);
    int rc = path ? COV_OK : COV_ENOMEM;
    /* A complete output may be in a read-only directory. */
    if (!rc && stat(path, &st) != 0)
        rc = check_existing(&r, &done, e);
    if (!rc && !done) {
        rc = cov_journal_open(path, &r.journal, e);
        if (!rc && job->stats)
            cov_journal_set_start(r.journal, job->stats->started);
        if (!rc)
            rc = run_journal(&r, &done, e);
        if (!rc && !done)
            describe_output(&r);
        if (!rc) {
            rc = cov_journal_remove(r.journal, e);
            r.journal = NULL;
        }
    }
    if (rc && r.journal && cov_journal_n_pieces(r.journal) > 0)
        cov_info(KEPT, path);
    if (!rc && done)
        describe_output(&r);
    if (!rc && done)
        cov_info("nothing to do: %s is complete", resume->output);
    cov_predict_output_abort(r.format);
    cov_journal_close(r.journal);
    free(r.bases);
    free(path);
    return rc;
}
