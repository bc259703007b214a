/* examples.c - see examples.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/examples.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/ring.h"
#include "common/job/predict/loader_memory.h"
#include "common/job/train/example_file.h"
#include "common/job/train/example_pack.h"
#include "common/job/train/rank_rows.h"
#include "common/seq/alphabet.h"

struct file {
    struct cov_example_file *file;
    size_t first, n_rows;       /* rows, counted over all files */
    bool *gap;                  /* [n_rows]; NULL before they were looked for */
    struct cov_kept_rows *kept; /* what is in memory: of all rows but the gaps; NULL: nothing */
};

struct cov_examples {
    struct file *files;
    size_t n_files, n_datasets, L, scratch;
    size_t n_rows; /* of all files */
    bool blacklist, packed;
    enum cov_loading loading;
    const char *const *datasets;
    struct cov_ranks *ranks;
    struct cov_rank_rows *spread; /* what is in the memory of all processes; NULL: nothing */
};

/* ---------------------------------------------------------------- opening */

void cov_examples_close(struct cov_examples *x)
{
    if (!x)
        return;
    for (size_t k = 0; x->files && k < x->n_files; k++) {
        cov_kept_rows_free(x->files[k].kept);
        cov_example_file_close(x->files[k].file);
        free(x->files[k].gap);
    }
    cov_rank_rows_free(x->spread);
    free(x->files);
    free(x);
}

static int open_file(struct cov_examples *x, const char *path, struct cov_err *e)
{
    struct file *f = &x->files[x->n_files];
    int rc = cov_example_file_open(path, x->datasets, x->n_datasets, x->blacklist, &f->file, e);
    if (rc)
        return rc;
    const struct cov_grid *grid = cov_example_file_grid(f->file);
    size_t L = cov_grid_chunk_length(grid), scratch = cov_example_file_scratch(f->file);
    f->first = x->n_rows;
    f->n_rows = cov_grid_n_chunks(grid);
    x->n_rows += f->n_rows;
    if (x->n_files++ == 0)
        x->L = L;
    x->scratch = scratch > x->scratch ? scratch : x->scratch;
    if (L != x->L)
        return cov_fail(e, COV_EINPUT, "%s: chunks of %zu positions, but those of %s have %zu",
                        path, L, cov_examples_path(x, 0), x->L);
    return COV_OK;
}

int cov_examples_open(const char *const *paths, size_t n,
                      const struct cov_examples_options *options, struct cov_examples **out,
                      struct cov_err *e)
{
    *out = NULL;
    struct cov_examples *x = cov_calloc(1, sizeof *x, e);
    if (!x)
        return COV_ENOMEM;
    x->datasets = options->datasets;
    x->n_datasets = options->n_datasets;
    x->blacklist = options->blacklist;
    x->loading = options->loading;
    x->ranks = options->ranks;
    assert(x->loading != COV_LOAD_RANKS || x->ranks);
    x->files = cov_calloc(n, sizeof *x->files, e);
    int rc = x->files ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++)
        rc = open_file(x, paths[k], e);
    /* A row that is cut out of two: its neighbours' codes and targets stand behind the scratch. */
    size_t row = (x->L + 15) / 8 * 8 + x->L * x->n_datasets * sizeof(float);
    x->scratch = (x->scratch + 7) / 8 * 8 + row;
    if (rc) {
        cov_examples_close(x);
        return rc;
    }
    *out = x;
    return COV_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files *.h5 of a folder: *n of them in (*paths)[]; both to be freed. */
static int list_dir(const char *dir, char ***paths, size_t *n, struct cov_err *e)
{
    DIR *d = opendir(dir);
    if (!d)
        return cov_fail_errno(e, "%s", dir);
    size_t cap = 0;
    int rc = COV_OK;
    for (struct dirent *entry; !rc && (entry = readdir(d)) != NULL;) {
        if (entry->d_name[0] == '.' || !cov_path_has_suffix(entry->d_name, ".h5"))
            continue;
        rc = COV_RESERVE(paths, &cap, *n + 1, e);
        if (rc)
            break;
        (*paths)[*n] = cov_path_join(dir, entry->d_name, e);
        if (!(*paths)[*n])
            rc = COV_ENOMEM;
        else
            ++*n;
    }
    (void)closedir(d);
    if (!rc && *n == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: there is no file *.h5 in it", dir);
    if (*n > 0)
        qsort(*paths, *n, sizeof **paths, by_name);
    return rc;
}

int cov_examples_open_dir(const char *dir, const struct cov_examples_options *options,
                          struct cov_examples **out, struct cov_err *e)
{
    char **paths = NULL;
    size_t n = 0;
    *out = NULL;
    int rc = list_dir(dir, &paths, &n, e);
    if (!rc)
        rc = cov_examples_open((const char *const *)paths, n, options, out, e);
    for (size_t k = 0; k < n; k++)
        free(paths[k]);
    free(paths);
    return rc;
}

/* ---------------------------------------------------------------- questions */

size_t cov_examples_n_files(const struct cov_examples *x)
{
    return x->n_files;
}

size_t cov_examples_n_datasets(const struct cov_examples *x)
{
    return x->n_datasets;
}

size_t cov_examples_chunk_length(const struct cov_examples *x)
{
    return x->L;
}

const char *cov_examples_path(const struct cov_examples *x, size_t file)
{
    return cov_example_file_path(x->files[file].file);
}

const struct cov_grid *cov_examples_grid(const struct cov_examples *x, size_t file)
{
    return cov_example_file_grid(x->files[file].file);
}

const bool *cov_examples_present(const struct cov_examples *x, size_t file)
{
    return cov_example_file_present(x->files[file].file);
}

const char *cov_examples_datasets(const struct cov_examples *x, size_t file)
{
    return cov_example_file_datasets(x->files[file].file);
}

bool cov_examples_keeps(const struct cov_examples *x, size_t file, size_t i)
{
    const struct file *f = &x->files[file];
    return !(f->gap && f->gap[i]) && !cov_example_file_drops(f->file, i);
}

size_t cov_examples_n_kept(const struct cov_examples *x)
{
    size_t n = 0;
    for (size_t k = 0; k < x->n_files; k++)
        for (size_t i = 0; i < x->files[k].n_rows; i++)
            n += cov_examples_keeps(x, k, i);
    return n;
}

struct cov_example cov_example_of_row(const struct cov_examples *x, size_t file, size_t i)
{
    struct cov_chunk chunk = cov_grid_chunk(cov_examples_grid(x, file), i);
    return (struct cov_example){(uint32_t)file, chunk.minus, {i, COV_NO_ROW}, chunk.beg, chunk.end};
}

/* ---------------------------------------------------------------- preparing */

/* The first rows of the processes' shares: as many rows that are not dropped in each. */
static int share_rows(struct cov_examples *x, size_t *firsts, struct cov_err *e)
{
    size_t n = x->ranks->n, n_read = 0, k = 0, seen = 0;
    for (size_t f = 0; f < x->n_files; f++)
        for (size_t i = 0; i < x->files[f].n_rows; i++)
            n_read += !cov_example_file_drops(x->files[f].file, i);
    for (size_t f = 0; f < x->n_files; f++)
        for (size_t i = 0; i < x->files[f].n_rows; i++) {
            while (k < n && seen >= n_read / n * k + (k < n_read % n ? k : n_read % n))
                firsts[k++] = x->files[f].first + i;
            seen += !cov_example_file_drops(x->files[f].file, i);
        }
    while (k <= n)
        firsts[k++] = x->n_rows;
    return cov_rank_rows_new(x->ranks, x->n_rows, firsts, &x->spread, e);
}

/* Makes the rows of all processes known to each; gaps are those that none has. */
static int publish_rows(struct cov_examples *x, struct cov_err *e)
{
    int rc = cov_rank_rows_publish(x->spread, e);
    for (size_t f = 0; !rc && f < x->n_files; f++) {
        const struct file *file = &x->files[f];
        for (size_t i = 0; i < file->n_rows; i++)
            file->gap[i] = !cov_example_file_drops(file->file, i) &&
                           cov_rank_rows_bytes(x->spread, file->first + i) == 0;
    }
    return rc;
}

/* A row on its way into memory. */
struct slot {
    size_t row;
    struct cov_blob raw;
    bool gap;
};

struct worker {
    uint8_t *scratch, *codes;
    float *targets;
};

struct preparation {
    struct cov_examples *x;
    struct file *file;
    struct slot *slots;
    struct worker *workers;
    struct cov_progress *progress;
    size_t next, end; /* rows */
};

static int fetch_row(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct preparation *p = arg;
    struct slot *s = &p->slots[slot];
    while (p->next < p->end && cov_example_file_drops(p->file->file, p->next)) {
        p->next++;
        cov_progress_add(p->progress, 1);
    }
    if (p->next >= p->end)
        return 0;
    s->row = p->next++;
    int rc = cov_example_file_fetch(p->file->file, s->row, &s->raw, e);
    return rc ? rc : 1;
}

static int look_at_row(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct preparation *p = arg;
    const struct cov_examples *x = p->x;
    struct slot *s = &p->slots[slot];
    const struct worker *w = &p->workers[worker];
    int rc = cov_example_file_decode(p->file->file, s->row, &s->raw, w->scratch, w->codes,
                                     w->targets, e);
    if (rc)
        return rc;
    s->gap = cov_example_is_gap(w->codes, x->L);
    if (s->gap || !x->packed)
        return COV_OK;
    uint8_t *at;
    cov_blob_clear(&s->raw);
    rc = cov_blob_room(&s->raw, cov_example_pack_bound(x->L, x->n_datasets), &at, e);
    if (rc)
        return rc;
    size_t n = cov_example_pack(w->codes, w->targets, x->L, x->n_datasets, at);
    return cov_blob_end_piece(&s->raw, n, e);
}

static int keep_row(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct preparation *p = arg;
    const struct slot *s = &p->slots[slot];
    p->file->gap[s->row] = s->gap;
    cov_progress_add(p->progress, 1);
    if (s->gap)
        return COV_OK;
    if (p->x->spread) {
        size_t n_bytes;
        const uint8_t *packed = cov_blob_piece(&s->raw, 0, &n_bytes);
        return cov_rank_rows_put(p->x->spread, p->file->first + s->row, packed, n_bytes, e);
    }
    return p->file->kept ? cov_kept_rows_put(p->file->kept, s->row, &s->raw, e) : COV_OK;
}

/* Rows [beg, end), counted over all files, as far as they are of this one. */
static int prepare_file(struct preparation *p, struct file *f, size_t beg, size_t end,
                        struct cov_pool *pool, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch_row, look_at_row, keep_row};
    p->file = f;
    p->next = beg > f->first ? beg - f->first : 0;
    p->end = end > f->first ? end - f->first : 0;
    p->end = p->end < f->n_rows ? p->end : f->n_rows;
    f->gap = cov_calloc(f->n_rows, sizeof *f->gap, e);
    if (!f->gap)
        return COV_ENOMEM;
    int rc = p->x->loading == COV_LOAD_DISK || p->x->spread
                 ? COV_OK
                 : cov_kept_rows_new(f->n_rows, &f->kept, e);
    return rc ? rc : cov_ring_run(pool, cov_ring_slots(pool), &stages, p, NULL, e);
}

int cov_examples_prepare(struct cov_examples *x, struct cov_pool *pool,
                         struct cov_progress *progress, struct cov_err *e)
{
    struct preparation p = {.x = x, .progress = progress};
    size_t n_slots = cov_ring_slots(pool), beg = 0, end = x->n_rows, *firsts = NULL;
    unsigned n_workers = cov_pool_size(pool);
    p.slots = cov_calloc(n_slots, sizeof *p.slots, e);
    p.workers = cov_calloc(n_workers, sizeof *p.workers, e);
    int rc = p.slots && p.workers ? COV_OK : COV_ENOMEM;
    for (unsigned i = 0; !rc && i < n_workers; i++) {
        struct worker *w = &p.workers[i];
        w->scratch = cov_malloc(x->scratch, 1, e);
        w->codes = cov_malloc(x->L, 1, e);
        w->targets = cov_malloc(x->L, x->n_datasets * sizeof *w->targets, e);
        rc = w->scratch && w->codes && w->targets ? COV_OK : COV_ENOMEM;
    }
    x->packed = x->loading == COV_LOAD_RAM_PACKED || x->loading == COV_LOAD_RANKS;
    if (!rc && x->loading == COV_LOAD_RANKS) {
        firsts = cov_calloc(x->ranks->n + 1, sizeof *firsts, e);
        rc = firsts ? share_rows(x, firsts, e) : COV_ENOMEM;
        if (!rc) {
            beg = firsts[x->ranks->rank];
            end = firsts[x->ranks->rank + 1];
        }
    }
    cov_progress_begin(progress, x->loading == COV_LOAD_DISK ? "looking for gaps" : "loading",
                       "chunks", (int64_t)(end - beg));
    for (size_t k = 0; !rc && k < x->n_files; k++)
        rc = prepare_file(&p, &x->files[k], beg, end, pool, e);
    cov_progress_end(progress);
    if (!rc && x->spread)
        rc = publish_rows(x, e);
    free(firsts);
    for (size_t i = 0; p.slots && i < n_slots; i++)
        cov_blob_fini(&p.slots[i].raw);
    for (unsigned i = 0; p.workers && i < n_workers; i++) {
        free(p.workers[i].scratch);
        free(p.workers[i].codes);
        free(p.workers[i].targets);
    }
    free(p.slots);
    free(p.workers);
    return rc;
}

/* ---------------------------------------------------------------- examples */

void cov_example_raw_fini(struct cov_example_raw *raw)
{
    cov_blob_fini(&raw->rows[0]);
    cov_blob_fini(&raw->rows[1]);
}

int cov_examples_fetch(struct cov_examples *x, const struct cov_example *example,
                       struct cov_example_raw *raw, struct cov_err *e)
{
    const struct file *f = &x->files[example->file];
    int rc = COV_OK;
    for (int k = 0; !rc && k < 2 && example->rows[k] != COV_NO_ROW; k++) {
        size_t i = example->rows[k];
        rc = x->spread ? cov_rank_rows_get(x->spread, f->first + i, &raw->rows[k], e)
             : f->kept ? cov_kept_rows_get(f->kept, i, &raw->rows[k], e)
                       : cov_example_file_fetch(f->file, i, &raw->rows[k], e);
    }
    return rc;
}

int cov_examples_complete(struct cov_examples *x, struct cov_err *e)
{
    return x->spread ? cov_rank_rows_complete(x->spread, e) : COV_OK;
}

size_t cov_examples_scratch(const struct cov_examples *x)
{
    return x->scratch;
}

static int decode_row(const struct cov_examples *x, const struct cov_example *example, int k,
                      struct cov_example_raw *raw, uint8_t *scratch, uint8_t *codes, float *targets,
                      struct cov_err *e)
{
    const struct file *f = &x->files[example->file];
    if (!x->packed || !(f->kept || x->spread))
        return cov_example_file_decode(f->file, example->rows[k], &raw->rows[k], scratch, codes,
                                       targets, e);
    size_t n;
    cov_example_unpack(cov_blob_piece(&raw->rows[k], 0, &n), x->L, x->n_datasets, codes, targets);
    return COV_OK;
}

int cov_examples_decode(const struct cov_examples *x, const struct cov_example *example,
                        struct cov_example_raw *raw, uint8_t *scratch, uint8_t *codes,
                        float *targets, struct cov_err *e)
{
    const struct cov_grid *grid = cov_examples_grid(x, example->file);
    size_t D = x->n_datasets;
    struct cov_chunk chunk = cov_grid_chunk(grid, example->rows[0]);
    if (chunk.beg == example->beg && chunk.end == example->end)
        return decode_row(x, example, 0, raw, scratch, codes, targets, e);
    uint8_t *row_targets = scratch + x->scratch - x->L * D * sizeof(float);
    uint8_t *row_codes = row_targets - (x->L + 15) / 8 * 8;
    memset(codes, COV_CODE_PAD, x->L);
    memset(targets, 0, x->L * D * sizeof *targets);
    for (int k = 0; k < 2 && example->rows[k] != COV_NO_ROW; k++) {
        float *from = (float *)(void *)row_targets;
        int rc = decode_row(x, example, k, raw, scratch, row_codes, from, e);
        if (rc)
            return rc;
        chunk = cov_grid_chunk(grid, example->rows[k]);
        int64_t beg = chunk.beg > example->beg ? chunk.beg : example->beg;
        int64_t end = chunk.end < example->end ? chunk.end : example->end;
        size_t to = (size_t)(example->minus ? example->end - end : beg - example->beg);
        size_t at = (size_t)(example->minus ? chunk.end - end : beg - chunk.beg);
        size_t n = (size_t)(end - beg);
        memcpy(codes + to, row_codes + at, n);
        memcpy(targets + to * D, from + at * D, n * D * sizeof *targets);
    }
    return COV_OK;
}
