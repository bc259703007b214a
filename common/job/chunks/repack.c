/* repack.c - see repack.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/repack.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/seq/alphabet.h"
#include "common/seq/select.h"

static bool *mark_all(size_t n, struct cov_err *e)
{
    bool *wanted = cov_malloc(n, sizeof *wanted, e);
    for (size_t i = 0; wanted && i < n; i++)
        wanted[i] = true;
    return wanted;
}

int cov_repack(const char *input, const char *output, const struct cov_recast_storage *storage,
               const struct cov_recast_job *job, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_chunk_file *f = NULL;
    bool *wanted = NULL;
    int rc = cov_recast_begin(&out, output, &input, 1, job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (!rc) {
        wanted = mark_all(cov_grid_n_chunks(cov_chunk_file_grid(f)), e);
        rc = wanted ? cov_recast_rows(f, input, wanted, storage, out.tmp, job, e) : COV_ENOMEM;
    }
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    free(wanted);
    cov_chunk_file_close(f);
    cov_outfile_end(&out, e);
    return rc;
}

/* ---- chunks without a base ---- */

enum { SLOT_BASES = 1 << 16 };

struct slot {
    size_t n;
    size_t *rows;         /* [batch] */
    struct cov_blob *raw; /* [batch] */
};

/* Looks at the bases of the wanted rows. */
struct sieve {
    struct cov_chunk_file *file;
    struct cov_progress *progress;
    size_t L, n_rows, batch, next;
    bool *wanted; /* each only touched by the one worker that has its row */
    struct slot *slots;
    size_t n_slots;
    uint8_t *codes; /* L a worker */
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

/* Wants no longer the rows whose bases are all N. */
static int drop_n(struct cov_chunk_file *f, const char *path, bool *wanted,
                  const struct cov_recast_job *job, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, look, count};
    const struct cov_chunk_head *head = cov_chunk_file_head(f);
    if (!head->has_bases)
        return cov_fail(e, COV_EUSAGE, "--drop-n is for bases; %s has none", path);
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
               const struct cov_recast_job *job, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_chunk_file *f = NULL;
    bool *wanted = NULL;
    int rc = cov_recast_begin(&out, output, &input, 1, job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (rc)
        goto out;
    size_t n = cov_grid_n_chunks(cov_chunk_file_grid(f));
    wanted = mark_all(n, e);
    rc = wanted ? choose(cov_chunk_file_grid(f), options, wanted, e) : COV_ENOMEM;
    if (!rc && options->drop_n)
        rc = drop_n(f, input, wanted, job, e);
    if (!rc && (n == 0 || !memchr(wanted, true, n)))
        rc = cov_fail(e, COV_EINPUT, "%s: no chunk is left", input);
    if (!rc)
        rc = cov_recast_rows(f, input, wanted, NULL, out.tmp, job, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
out:
    free(wanted);
    cov_chunk_file_close(f);
    cov_outfile_end(&out, e);
    return rc;
}
