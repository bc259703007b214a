/* subset.c - see subset.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/subset.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/base/tmpfile.h"
#include "common/seq/alphabet.h"
#include "common/seq/holdout.h"
#include "common/seq/select.h"

/* ---- chunks of N only ---- */

/* Bases per slot, so that short chunks share one. */
enum { SLOT_BASES = 1 << 16 };

struct slot {
    size_t n;
    size_t *rows;         /* [batch] */
    struct cov_blob *raw; /* [batch] */
};

/* Clears `wanted` of rows without bases. */
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
                      .batch = 1 + SLOT_BASES / head->L,
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

static int choose(const struct cov_grid *g, const struct cov_subset_options *o, bool *wanted,
                  struct cov_err *e)
{
    struct cov_select *s = NULL;
    int rc = cov_select_new(g, &s, e);
    if (!rc)
        rc = cov_select_regions(s, o->regions, o->n_regions, e);
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
    rc = wanted ? choose(cov_chunk_file_grid(f), options, wanted, e) : COV_ENOMEM;
    if (!rc && options->drop_n)
        rc = drop_n(f, input, wanted, &job->job, e);
    if (!rc && (n == 0 || !memchr(wanted, true, n)))
        rc = cov_fail(e, COV_EINPUT, "%s: no chunks left", input);
    if (!rc)
        rc = cov_rewrite_rows(f, input, wanted, out.tmp, &job->job, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
out:
    free(wanted);
    cov_chunk_file_close(f);
    cov_outfile_end(&out, e);
    return rc;
}

/* ---- several outputs ---- */

/* Begins all outputs, to find existing files first. */
static int begin_parts(const char *input, char *const *names, size_t n, bool force,
                       struct cov_outfile **out, struct cov_err *e)
{
    struct cov_outfile *parts = cov_calloc(n, sizeof *parts, e);
    *out = parts;
    if (!parts)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_rewrite_begin(&parts[i], names[i], &input, 1, force, e);
    return rc;
}

static int commit_parts(struct cov_outfile *parts, size_t n, struct cov_err *e)
{
    struct cov_outfile **files = cov_malloc(n, sizeof *files, e);
    for (size_t i = 0; files && i < n; i++)
        files[i] = &parts[i];
    int rc = files ? cov_outfile_commit_all(files, n, e) : COV_ENOMEM;
    free(files);
    return rc;
}

static void free_parts(struct cov_outfile *parts, size_t n, struct cov_err *e)
{
    for (size_t i = 0; parts && i < n; i++)
        cov_outfile_end(&parts[i], e);
    free(parts);
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
}

/* ---- shards ---- */

/* Sets wanted[] for the rows of shard `index` of n. */
static int want_shard(const struct cov_grid *g, size_t index, size_t n, bool *wanted,
                      struct cov_err *e)
{
    size_t beg, end, *rows, n_rows;
    cov_grid_shard(g, index, n, &beg, &end);
    int rc = cov_grid_rows_of_pairs(g, beg, end, &rows, &n_rows, e);
    if (rc)
        return rc;
    memset(wanted, 0, cov_grid_n_chunks(g) * sizeof *wanted);
    for (size_t i = 0; i < n_rows; i++)
        wanted[rows[i]] = true;
    free(rows);
    return COV_OK;
}

int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_rewrite_job *job, struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    struct cov_outfile *parts = NULL;
    bool *wanted = NULL;
    int rc = COV_ENOMEM;
    char **names = cov_calloc(n, sizeof *names, e);
    for (size_t i = 0; names && i < n; i++) {
        names[i] = cov_strfmt(e, "%s.%zu.h5", prefix, i + 1);
        if (!names[i])
            goto out;
    }
    if (!names)
        goto out;
    rc = begin_parts(input, names, n, job->force, &parts, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (rc)
        goto out;
    size_t n_pairs = cov_grid_n_pairs(cov_chunk_file_grid(f));
    if (n_pairs < n) {
        rc = cov_fail(e, COV_EUSAGE, "%s: %zu pairs of chunks are too few for %zu shards", input,
                      n_pairs, n);
        goto out;
    }
    wanted = cov_malloc(cov_grid_n_chunks(cov_chunk_file_grid(f)), sizeof *wanted, e);
    if (!wanted)
        rc = COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        rc = want_shard(cov_chunk_file_grid(f), i, n, wanted, e);
        if (!rc)
            rc = cov_rewrite_rows(f, input, wanted, parts[i].tmp, &job->job, e);
    }
    if (!rc)
        rc = commit_parts(parts, n, e);
out:
    free(wanted);
    cov_chunk_file_close(f);
    free_parts(parts, n, e);
    free_names(names, n);
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
    struct cov_chunk_file *f = NULL;
    struct cov_outfile *parts = NULL;
    bool *held = NULL;
    struct cov_newfolder folders[N_SETS] = {COV_NEWFOLDER_INIT, COV_NEWFOLDER_INIT};
    int rc = COV_ENOMEM;
    char *stem = cov_path_stem(input, e);
    char *name = stem ? cov_strfmt(e, "%s.h5", stem) : NULL;
    char **names = cov_calloc(N_SETS, sizeof *names, e);
    if (name && names)
        rc = name_sets(folder, name, folders, names, e);
    if (!rc)
        rc = begin_parts(input, names, N_SETS, job->force, &parts, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (rc)
        goto out;
    const struct cov_grid *g = cov_chunk_file_grid(f);
    held = cov_malloc(cov_grid_n_chunks(g), sizeof *held, e);
    rc = held ? hold(g, input, options, held, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_rewrite_rows(f, input, held, parts[VAL].tmp, &job->job, e);
    for (size_t i = 0; !rc && i < cov_grid_n_chunks(g); i++)
        held[i] = !held[i];
    if (!rc)
        rc = cov_rewrite_rows(f, input, held, parts[TRAIN].tmp, &job->job, e);
    if (!rc)
        rc = commit_parts(parts, N_SETS, e);
out:
    free(held);
    cov_chunk_file_close(f);
    free_parts(parts, N_SETS, e);
    free_names(names, N_SETS);
    for (int k = N_SETS; k-- > 0;)
        cov_newfolder_fini(&folders[k]);
    free(name);
    free(stem);
    return rc;
}
