/* subset.c - see subset.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/subset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/seq/alphabet.h"
#include "common/seq/holdout.h"
#include "common/seq/select.h"

/* ---- chunks of N only ---- */

struct slot {
    size_t n;
    size_t *rows;         /* [batch] */
    struct cov_blob *raw; /* [batch] */
};

/* Clears `wanted` for rows without bases. */
struct sieve {
    struct cov_chunk_file *file;
    struct cov_progress *progress;
    size_t L, n_rows, batch, next;
    bool *wanted; /* [n_rows]; an element is accessed only by the worker of its row */
    struct slot *slots;
    size_t n_slots;
    uint8_t *codes; /* [workers][L] */
};

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct sieve *v = arg;
    struct slot *s = &v->slots[slot];
    s->n = 0;
    for (; s->n < v->batch && v->next < v->n_rows; v->next++) {
        if (!v->wanted[v->next])
            continue;
        cov_blob_clear(&s->raw[s->n]);
        int rc = cov_chunk_file_fetch(v->file, v->next, COV_CHUNK_BASES, &s->raw[s->n], e);
        if (rc)
            return rc;
        s->rows[s->n++] = v->next;
    }
    return s->n > 0;
}

static bool is_all_n(const uint8_t *codes, size_t n)
{
    size_t i = 0;
    while (i < n && codes[i] == COV_CODE_N)
        i++;
    return i > 0 && (i == n || codes[i] == COV_CODE_PAD); /* padding is at the end */
}

static int look(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct sieve *v = arg;
    struct slot *s = &v->slots[slot];
    uint8_t *codes = v->codes + v->L * worker;
    for (size_t k = 0; k < s->n; k++) {
        int rc =
            cov_chunk_file_decode(v->file, s->rows[k], COV_CHUNK_BASES, &s->raw[k], codes, NULL, e);
        if (rc)
            return rc;
        v->wanted[s->rows[k]] = !is_all_n(codes, v->L);
    }
    return COV_OK;
}

static int count(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    (void)e;
    struct sieve *v = arg;
    cov_progress_add(v->progress, (int64_t)v->slots[slot].n);
    return COV_OK;
}

static int allocate(struct sieve *v, unsigned n_workers, struct cov_err *e)
{
    size_t n_codes;
    if (cov_size_mul(v->L, n_workers, &n_codes))
        return cov_fail(e, COV_ENOMEM, "chunks of %zu bases are too large", v->L);
    v->codes = cov_malloc(n_codes, 1, e);
    v->slots = cov_calloc(v->n_slots, sizeof *v->slots, e);
    for (size_t i = 0; v->slots && i < v->n_slots; i++) {
        v->slots[i].rows = cov_calloc(v->batch, sizeof *v->slots[i].rows, e);
        v->slots[i].raw = cov_calloc(v->batch, sizeof *v->slots[i].raw, e);
        if (!v->slots[i].rows || !v->slots[i].raw)
            return COV_ENOMEM;
    }
    return v->codes && v->slots ? COV_OK : COV_ENOMEM;
}

static void release(struct sieve *v)
{
    for (size_t i = 0; v->slots && i < v->n_slots; i++) {
        for (size_t k = 0; v->slots[i].raw && k < v->batch; k++)
            cov_blob_fini(&v->slots[i].raw[k]);
        free(v->slots[i].rows);
        free(v->slots[i].raw);
    }
    free(v->slots);
    free(v->codes);
}

static int drop_n(struct cov_chunk_file *f, const char *path, bool *wanted,
                  const struct cov_job *job, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, look, count};
    const struct cov_chunk_head *head = cov_chunk_file_head(f);
    if (!head->has_bases)
        return cov_fail(e, COV_EUSAGE, "--drop-n: %s has no bases", path);
    struct sieve v = {.file = f,
                      .progress = job->progress,
                      .L = head->L,
                      .n_rows = cov_grid_n_chunks(cov_chunk_file_grid(f)),
                      .batch = 1 + COV_REWRITE_SLOT_BASES / head->L,
                      .n_slots = cov_ring_slots(job->pool)};
    v.wanted = wanted;
    int rc = allocate(&v, cov_pool_size(job->pool), e);
    if (!rc) {
        cov_progress_begin(job->progress, "looking for N", "chunks", (int64_t)v.n_rows);
        rc = cov_ring_run(job->pool, v.n_slots, &stages, &v, NULL, e);
        cov_progress_end(job->progress);
    }
    release(&v);
    return rc;
}

/* ---- subset ---- */

static int choose(const char *input, const struct cov_grid *g, const struct cov_subset_options *o,
                  bool *wanted, struct cov_err *e)
{
    struct cov_select *s = NULL;
    int rc = cov_select_new(g, &s, e);
    if (!rc) {
        rc = cov_select_regions(s, o->regions, o->n_regions, e);
        if (rc)
            (void)cov_err_prefix(e, "%s", input);
    }
    if (!rc && o->bed_path)
        rc = cov_select_read_bed(s, o->bed_path, e);
    if (!rc && o->names_path)
        rc = cov_select_read_names(s, "--names", o->names_path, e);
    if (!rc && o->excluded_path)
        rc = cov_select_read_excluded(s, o->excluded_path, e);
    if (!rc)
        cov_select_rows(s, o->min_length, wanted);
    cov_select_free(s);
    return rc;
}

int cov_subset(const char *input, const char *output, const struct cov_subset_options *options,
               const struct cov_rewrite_job *job, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_chunk_file *f = NULL;
    bool *wanted = NULL;
    int rc = cov_rewrite_begin(&out, output, &input, 1, job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (rc)
        goto out;
    size_t n = cov_grid_n_chunks(cov_chunk_file_grid(f));
    wanted = cov_malloc(n, sizeof *wanted, e);
    rc = wanted ? choose(input, cov_chunk_file_grid(f), options, wanted, e) : COV_ENOMEM;
    if (!rc && options->drop_n)
        rc = drop_n(f, input, wanted, &job->job, e);
    if (!rc && (n == 0 || !memchr(wanted, true, n)))
        rc = cov_fail(e, COV_EINPUT, "%s: no chunks left", input);
    if (!rc)
        rc = cov_rewrite_rows(f, input, wanted, NULL, out.tmp, &job->job, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
out:
    free(wanted);
    cov_chunk_file_close(f);
    cov_outfile_end(&out, e);
    return rc;
}

/* ---- several outputs ---- */

/* A file that is split into n others. */
struct split {
    const char *input;
    const struct cov_rewrite_job *job;
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    bool *wanted; /* rows of the next output */
    size_t n;
    char **names;
    struct cov_outfile *parts;
};

/* Begins the outputs first, to detect existing files early, then opens the input. */
static int begin_split(struct split *s, struct cov_err *e)
{
    s->parts = cov_calloc(s->n, sizeof *s->parts, e);
    int rc = s->parts ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; s->parts && i < s->n; i++)
        s->parts[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    for (size_t i = 0; !rc && i < s->n; i++)
        rc = cov_rewrite_begin(&s->parts[i], s->names[i], &s->input, 1, s->job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(s->input, &s->file, e);
    if (rc)
        return rc;
    s->grid = cov_chunk_file_grid(s->file);
    s->wanted = cov_malloc(cov_grid_n_chunks(s->grid), sizeof *s->wanted, e);
    return s->wanted ? COV_OK : COV_ENOMEM;
}

/* Writes output i. `shard`: its COV_SHARD_ATTR, or NULL. */
static int write_part(struct split *s, size_t i, const char *shard, struct cov_err *e)
{
    const struct cov_rewrite_storage as_input = {.shard = shard};
    return cov_rewrite_rows(s->file, s->input, s->wanted, &as_input, s->parts[i].tmp, &s->job->job,
                            e);
}

static int commit_split(struct split *s, struct cov_err *e)
{
    struct cov_outfile **files = cov_malloc(s->n, sizeof *files, e);
    for (size_t i = 0; files && i < s->n; i++)
        files[i] = &s->parts[i];
    int rc = files ? cov_outfile_commit_all(files, s->n, e) : COV_ENOMEM;
    free(files);
    return rc;
}

static void end_split(struct split *s, struct cov_err *e)
{
    free(s->wanted);
    cov_chunk_file_close(s->file);
    for (size_t i = 0; s->parts && i < s->n; i++)
        cov_outfile_end(&s->parts[i], e);
    free(s->parts);
    for (size_t i = 0; s->names && i < s->n; i++)
        free(s->names[i]);
    free(s->names);
}

/* ---- shards ---- */

/* Sets s->wanted for the rows of shard i. */
static int want_shard(struct split *s, size_t i, struct cov_err *e)
{
    size_t beg, end, *rows, n_rows;
    cov_grid_shard(s->grid, i, s->n, &beg, &end);
    int rc = cov_grid_rows_of_pairs(s->grid, beg, end, &rows, &n_rows, e);
    if (rc)
        return rc;
    memset(s->wanted, 0, cov_grid_n_chunks(s->grid) * sizeof *s->wanted);
    for (size_t k = 0; k < n_rows; k++)
        s->wanted[rows[k]] = true;
    free(rows);
    return COV_OK;
}

int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_rewrite_job *job, struct cov_err *e)
{
    struct split s = {.input = input, .job = job, .n = n};
    s.names = cov_calloc(n, sizeof *s.names, e);
    int rc = s.names ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        if (!(s.names[i] = cov_strfmt(e, "%s.%zu.h5", prefix, i + 1)))
            rc = COV_ENOMEM;
    if (!rc)
        rc = begin_split(&s, e);
    if (!rc && cov_grid_n_pairs(s.grid) < n)
        rc = cov_fail(e, COV_EUSAGE, "%s: %zu pairs of chunks are too few for %zu shards", input,
                      cov_grid_n_pairs(s.grid), n);
    for (size_t i = 0; !rc && i < n; i++) {
        char shard[48];
        (void)snprintf(shard, sizeof shard, "%zu/%zu", i + 1, n);
        rc = want_shard(&s, i, e);
        if (!rc)
            rc = write_part(&s, i, n > 1 ? shard : NULL, e);
    }
    if (!rc)
        rc = commit_split(&s, e);
    end_split(&s, e);
    return rc;
}

/* ---- training and validation ---- */

enum { TRAIN, VAL, N_SETS };
static const char *const set_names[N_SETS] = {"train", "val"};

/* Creates FOLDER/train and FOLDER/val, and makes the paths of the files. */
static int name_sets(const char *folder, const char *name, struct cov_newfolder folders[N_SETS],
                     char **names, struct cov_err *e)
{
    for (int k = 0; k < N_SETS; k++) {
        char *path = cov_path_join(folder, set_names[k], e);
        int rc = path ? cov_newfolder_make(&folders[k], path, e) : COV_ENOMEM;
        names[k] = rc ? NULL : cov_path_join(path, name, e);
        free(path);
        if (rc || !names[k])
            return rc ? rc : COV_ENOMEM;
    }
    return COV_OK;
}

/* Sets held[i] for the rows of listed sequences. */
static int hold_listed(const struct cov_grid *g, const char *path, bool *held, struct cov_err *e)
{
    struct cov_select *s = NULL;
    int rc = cov_select_new(g, &s, e);
    if (!rc)
        rc = cov_select_read_names(s, "--val-names", path, e);
    if (!rc)
        cov_select_rows(s, 0, held);
    cov_select_free(s);
    return rc;
}

static int hold(const struct cov_grid *g, const char *input, const struct cov_split_holdout *o,
                bool *held, struct cov_err *e)
{
    int rc;
    if (o->names_path)
        rc = hold_listed(g, o->names_path, held, e);
    else if (o->by_pairs)
        rc = cov_holdout_pairs(g, o->fraction, o->seed, held, e);
    else
        rc = cov_holdout_sequences(g, o->fraction, o->seed, held, e);
    if (rc)
        return rc == COV_EINPUT && !o->names_path ? cov_err_prefix(e, "%s", input) : rc;
    size_t n = cov_grid_n_chunks(g), n_held = 0;
    for (size_t i = 0; i < n; i++)
        n_held += held[i];
    if (n_held == 0 || n_held == n)
        return cov_fail(e, COV_EINPUT, "%s: no chunks left for %s", input,
                        n_held ? "training" : "validation");
    cov_info("%zu chunk%s for training, %zu for validation", n - n_held,
             cov_text_s((int64_t)(n - n_held)), n_held);
    return COV_OK;
}

int cov_split_holdout(const char *input, const char *folder,
                      const struct cov_split_holdout *options, const struct cov_rewrite_job *job,
                      struct cov_err *e)
{
    struct split s = {.input = input, .job = job, .n = N_SETS};
    struct cov_newfolder folders[N_SETS] = {COV_NEWFOLDER_INIT, COV_NEWFOLDER_INIT};
    int rc = COV_ENOMEM;
    char *stem = cov_path_stem(input, e);
    char *name = stem ? cov_strfmt(e, "%s.h5", stem) : NULL;
    s.names = cov_calloc(N_SETS, sizeof *s.names, e);
    if (name && s.names)
        rc = name_sets(folder, name, folders, s.names, e);
    if (!rc)
        rc = begin_split(&s, e);
    if (!rc)
        rc = hold(s.grid, input, options, s.wanted, e);
    if (!rc)
        rc = write_part(&s, VAL, NULL, e);
    for (size_t i = 0; !rc && i < cov_grid_n_chunks(s.grid); i++)
        s.wanted[i] = !s.wanted[i];
    if (!rc)
        rc = write_part(&s, TRAIN, NULL, e);
    if (!rc)
        rc = commit_split(&s, e);
    end_split(&s, e);
    for (int k = N_SETS; k-- > 0;)
        cov_newfolder_fini(&folders[k]);
    free(name);
    free(stem);
    return rc;
}
