/* examples.c - see examples.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/examples.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/compute/device.h"
#include "common/file/path.h"
#include "common/job/predict/loader_memory.h"
#include "common/job/train/example_pack.h"
#include "common/job/train/rank_rows.h"
#include "common/seq/alphabet.h"
#include "common/store/chunk_file.h"
#include "common/store/signal_file.h"

/* ---------------------------------------------------------------- one file */

#define BLACKLIST "data/blacklist"

/* A data set found in the file. */
struct source {
    size_t dataset, n_columns;
};

struct genome_file {
    char *path;
    struct cov_chunk_file *file;
    size_t L, n_datasets;
    bool *present;
    struct cov_signal_part *parts; /* [n_parts]: all data sets in the file */
    size_t n_parts;
    struct source *sources; /* [n_sources]; source s is set ks[s] of the head */
    size_t *ks, n_sources;
    size_t scratch;                   /* bytes of the elements of a row, all sources */
    bool *dropped;                    /* [n_rows]: on a blacklist; NULL: none */
    const struct cov_blacklist *list; /* NULL: none */
};

static void close_genome_file(struct genome_file *f)
{
    if (!f)
        return;
    cov_chunk_file_close(f->file);
    free(f->path);
    free(f->present);
    cov_signal_free_parts(f->parts, f->n_parts);
    free(f->sources);
    free(f->ks);
    free(f->dropped);
    free(f);
}

/* Returns the bytes of a row, rounded up so that the elements of each set are aligned to 8
 * bytes. */
static size_t row_bytes(const struct cov_chunk_set *set)
{
    return (cov_chunk_set_row_bytes(set) + 7) / 8 * 8;
}

static int find_sources(struct genome_file *f, const char *const *datasets, size_t n_datasets,
                        struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    f->n_datasets = n_datasets;
    f->present = cov_calloc(n_datasets, sizeof *f->present, e);
    f->sources = cov_calloc(n_datasets, sizeof *f->sources, e);
    f->ks = cov_calloc(n_datasets, sizeof *f->ks, e);
    if (!f->present || !f->sources || !f->ks)
        return COV_ENOMEM;
    for (size_t d = 0; d < n_datasets; d++)
        for (size_t i = 0; i < f->n_parts; i++) {
            if (strcmp(f->parts[i].name, datasets[d]) != 0)
                continue;
            const struct cov_chunk_set *set = &head->sets[f->parts[i].set];
            f->present[d] = true;
            f->sources[f->n_sources] = (struct source){d, set->dims[1]};
            f->ks[f->n_sources++] = f->parts[i].set;
            f->scratch += row_bytes(set);
        }
    return COV_OK;
}

static int read_blacklist(struct genome_file *f, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    const struct cov_chunk_set *set = cov_chunk_head_set(head, BLACKLIST);
    if (!set) {
        cov_warn("%s: no " BLACKLIST "; --blacklist has no effect (h5chunk blacklist adds one)",
                 f->path);
        return COV_OK;
    }
    if (set->type.kind != COV_H5_INT || cov_chunk_set_row_bytes(set) != set->type.bytes)
        return cov_fail(e, COV_EINPUT, "%s: " BLACKLIST ": not one integer per chunk", f->path);
    struct cov_blob raw = COV_BLOB_INIT;
    size_t k = (size_t)(set - head->sets), n = cov_grid_n_chunks(cov_chunk_file_grid(f->file));
    const struct cov_chunk_parts parts = {false, &k, 1};
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        uint8_t elem[8];
        uint8_t *const elems[1] = {elem};
        int64_t value = 1;
        cov_blob_clear(&raw);
        rc = cov_chunk_file_fetch(f->file, i, parts, &raw, e);
        if (!rc)
            rc = cov_chunk_file_decode(f->file, i, parts, &raw, NULL, elems, e);
        if (!rc)
            rc = cov_h5_to_int64(&set->type, elem, 1, &value, e);
        f->dropped[i] = value == 0;
    }
    cov_blob_fini(&raw);
    return rc;
}

/* Drops the rows that the list covers. */
static void apply_list(struct genome_file *f, struct cov_blacklist *list)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f->file);
    f->list = list;
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        struct cov_chunk c = cov_grid_chunk(grid, i);
        const char *name = cov_grid_name(grid, c.seq);
        size_t n;
        const struct cov_region *in = cov_blacklist_overlaps(list, name, c.beg, c.end, &n);
        bool drops = cov_blacklist_drops(list, name); /* also marks the name as known */
        if (drops || (n == 1 && in->beg <= c.beg && in->end >= c.end))
            f->dropped[i] = true;
    }
}

/* Masks the targets of a row that are in regions of the list. */
static void mask_targets(const struct genome_file *f, size_t i, float *targets)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f->file);
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t n;
    const struct cov_region *in =
        cov_blacklist_overlaps(f->list, cov_grid_name(grid, c.seq), c.beg, c.end, &n);
    for (; n > 0; n--, in++) {
        int64_t beg = in->beg > c.beg ? in->beg : c.beg, end = in->end < c.end ? in->end : c.end;
        size_t first = (size_t)(c.minus ? c.end - end : beg - c.beg) * f->n_datasets;
        for (size_t k = 0; k < (size_t)(end - beg) * f->n_datasets; k++)
            targets[first + k] = COV_TARGET_MASKED;
    }
}

static int open_genome_file(const char *path, const struct cov_examples_options *o,
                            struct genome_file **out, struct cov_err *e)
{
    *out = NULL;
    struct genome_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->path = cov_strdup(path, e);
    int rc = f->path ? cov_chunk_file_open(path, &f->file, e) : COV_ENOMEM;
    if (!rc && !cov_chunk_file_head(f->file)->has_bases)
        rc = cov_fail(e, COV_EINPUT, "%s: not a genome file: no bases", path);
    if (!rc) {
        f->L = cov_grid_chunk_length(cov_chunk_file_grid(f->file));
        rc = cov_signal_find_parts(cov_chunk_file_head(f->file), COV_SIGNAL_MEASURED, &f->parts,
                                   &f->n_parts, e);
        if (rc)
            (void)cov_err_prefix(e, "%s", path);
    }
    if (!rc && (o->blacklist || o->list)) {
        f->dropped =
            cov_calloc(cov_grid_n_chunks(cov_chunk_file_grid(f->file)), sizeof *f->dropped, e);
        rc = f->dropped ? COV_OK : COV_ENOMEM;
    }
    if (!rc && o->blacklist)
        rc = read_blacklist(f, e);
    if (!rc && o->list)
        apply_list(f, o->list);
    if (rc) {
        close_genome_file(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

static bool is_dropped(const struct genome_file *f, size_t i)
{
    return f->dropped && f->dropped[i];
}

static int fetch_stored_row(struct genome_file *f, size_t i, struct cov_blob *raw,
                            struct cov_err *e)
{
    cov_blob_clear(raw);
    return cov_chunk_file_fetch(f->file, i, (struct cov_chunk_parts){true, f->ks, f->n_sources},
                                raw, e);
}

/* Returns the bytes of scratch for decode_stored_row. */
static size_t stored_row_scratch(const struct genome_file *f)
{
    return f->n_sources * sizeof(uint8_t *) + f->scratch + f->L * sizeof(float);
}

/* Sets targets[t, d] to the means of one data set, rounded to hundredths. */
static int put_targets(const struct genome_file *f, size_t i, size_t s, const uint8_t *elems,
                       float *means, float *targets, struct cov_err *e)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f->file);
    const struct cov_chunk_set *set = &cov_chunk_file_head(f->file)->sets[f->ks[s]];
    struct cov_chunk chunk = cov_grid_chunk(grid, i);
    size_t length = (size_t)(chunk.end - chunk.beg), n_columns = f->sources[s].n_columns;
    const struct cov_signal_columns columns = {&set->type, n_columns, 0, n_columns, false};
    size_t good = cov_signal_means(&columns, elems, length, f->L, means);
    if (good < length)
        return cov_fail(e, COV_EINPUT, "%s: %s: row %zu, index %zu: %g is not a valid coverage",
                        f->path, set->name, i, good, (double)means[good]);
    float *at = targets + f->sources[s].dataset;
    for (size_t t = 0; t < length; t++, at += f->n_datasets)
        *at = rintf(means[t] * 100.0F) / 100.0F;
    return COV_OK;
}

static int decode_stored_row(const struct genome_file *f, size_t i, struct cov_blob *raw,
                             uint8_t *scratch, uint8_t *codes, float *targets, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    uint8_t **elems = (uint8_t **)(void *)scratch, *at = scratch + f->n_sources * sizeof *elems;
    for (size_t s = 0; s < f->n_sources; s++) {
        elems[s] = at;
        at += row_bytes(&head->sets[f->ks[s]]);
    }
    int rc = cov_chunk_file_decode(f->file, i, (struct cov_chunk_parts){true, f->ks, f->n_sources},
                                   raw, codes, elems, e);
    memset(targets, 0, f->L * f->n_datasets * sizeof *targets);
    for (size_t s = 0; !rc && s < f->n_sources; s++)
        rc = put_targets(f, i, s, elems[s], (float *)(void *)at, targets, e);
    if (!rc && f->list)
        mask_targets(f, i, targets);
    return rc;
}

bool cov_example_is_gap(const uint8_t *codes, size_t n)
{
    bool has_n = false;
    for (size_t i = 0; i < n; i++) {
        if (codes[i] == COV_CODE_N)
            has_n = true;
        else if (codes[i] & COV_CODE_C)
            return false;
    }
    return has_n;
}

/* ---------------------------------------------------------------- several files */

struct file {
    struct genome_file *file;
    size_t first, n_rows;       /* first: number of the first row, counted over all files */
    bool *gap;                  /* [n_rows]; NULL before cov_examples_prepare */
    struct cov_bases_key *keys; /* [n_rows]; NULL before cov_examples_prepare, or if spread */
    struct cov_kept_rows *kept; /* rows in memory, except gaps; NULL: none */
};

struct cov_examples {
    struct file *files;
    size_t n_files, n_datasets, L, scratch;
    size_t n_rows; /* in all files */
    bool packed;
    enum cov_loading loading;
    struct cov_ranks *ranks;
    struct cov_rank_rows *spread; /* rows distributed over the processes; NULL: none */
};

/* ---------------------------------------------------------------- opening */

void cov_examples_close(struct cov_examples *x)
{
    if (!x)
        return;
    for (size_t k = 0; x->files && k < x->n_files; k++) {
        cov_kept_rows_free(x->files[k].kept);
        close_genome_file(x->files[k].file);
        free(x->files[k].gap);
        free(x->files[k].keys);
    }
    cov_rank_rows_free(x->spread);
    free(x->files);
    free(x);
}

static int open_file(struct cov_examples *x, const char *path, const struct cov_examples_options *o,
                     struct cov_err *e)
{
    struct file *f = &x->files[x->n_files];
    int rc = open_genome_file(path, o, &f->file, e);
    if (rc)
        return rc;
    const struct cov_grid *grid = cov_chunk_file_grid(f->file->file);
    size_t L = cov_grid_chunk_length(grid);
    f->first = x->n_rows;
    f->n_rows = cov_grid_n_chunks(grid);
    x->n_rows += f->n_rows;
    if (x->n_files++ == 0)
        x->L = L;
    if (L != x->L)
        return cov_fail(e, COV_EINPUT, "%s: chunks of %zu positions, but those of %s have %zu",
                        path, L, cov_examples_path(x, 0), x->L);
    return COV_OK;
}

int cov_examples_select(struct cov_examples *x, const char *const *datasets, size_t n,
                        struct cov_err *e)
{
    x->n_datasets = n;
    for (size_t k = 0; k < x->n_files; k++) {
        int rc = find_sources(x->files[k].file, datasets, n, e);
        if (rc)
            return rc;
        size_t scratch = stored_row_scratch(x->files[k].file);
        x->scratch = scratch > x->scratch ? scratch : x->scratch;
    }
    /* An example cut from two rows needs room for the codes and targets of one row, after the
     * scratch. */
    size_t row = (x->L + 15) / 8 * 8 + x->L * n * sizeof(float);
    x->scratch = (x->scratch + 7) / 8 * 8 + row;
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
    x->loading = options->loading;
    x->ranks = options->ranks;
    assert(x->loading != COV_LOAD_RANKS || x->ranks);
    x->files = cov_calloc(n, sizeof *x->files, e);
    int rc = x->files ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++)
        rc = open_file(x, paths[k], options, e);
    if (!rc && options->datasets)
        rc = cov_examples_select(x, options->datasets, options->n_datasets, e);
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

/* Lists the *.h5 files in a folder by name: (*paths)[0 .. *n). Caller frees the list and its
 * items. */
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
        rc = cov_fail(e, COV_EINPUT, "%s: no *.h5 file in this folder", dir);
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
    return x->files[file].file->path;
}

const struct cov_grid *cov_examples_grid(const struct cov_examples *x, size_t file)
{
    return cov_chunk_file_grid(x->files[file].file->file);
}

const bool *cov_examples_present(const struct cov_examples *x, size_t file)
{
    return x->files[file].file->present;
}

int cov_examples_list(const struct cov_examples *x, struct cov_names *names, struct cov_err *e)
{
    size_t index;
    bool is_new;
    int rc = COV_OK;
    for (size_t k = 0; k < x->n_files; k++) {
        const struct genome_file *f = x->files[k].file;
        for (size_t i = 0; !rc && i < f->n_parts; i++)
            rc = cov_names_add(names, f->parts[i].name, strlen(f->parts[i].name), &index, &is_new,
                               e);
    }
    return rc;
}

bool cov_examples_keeps(const struct cov_examples *x, size_t file, size_t i)
{
    const struct file *f = &x->files[file];
    return !(f->gap && f->gap[i]) && !is_dropped(f->file, i);
}

const struct cov_bases_key *cov_examples_keys(const struct cov_examples *x, size_t file)
{
    return x->files[file].keys;
}

size_t cov_examples_n_kept(const struct cov_examples *x)
{
    size_t n = 0;
    for (size_t k = 0; k < x->n_files; k++)
        for (size_t i = 0; i < x->files[k].n_rows; i++)
            n += cov_examples_keeps(x, k, i);
    return n;
}

static bool same_chunk(const struct cov_grid *x, const struct cov_grid *y, size_t i)
{
    struct cov_chunk a = cov_grid_chunk(x, i), b = cov_grid_chunk(y, i);
    return a.beg == b.beg && a.end == b.end && a.minus == b.minus &&
           strcmp(cov_grid_name(x, a.seq), cov_grid_name(y, b.seq)) == 0;
}

static bool same_bases(const struct genome_file *x, const struct genome_file *y, size_t i)
{
    const struct genome_file *const files[2] = {x, y};
    const struct cov_chunk_parts bases = {true, NULL, 0};
    struct cov_blob raw = COV_BLOB_INIT;
    uint8_t *codes = cov_calloc(2, x->L, NULL);
    bool good = codes;
    for (size_t k = 0; good && k < 2; k++) {
        cov_blob_clear(&raw);
        good = !cov_chunk_file_fetch(files[k]->file, i, bases, &raw, NULL) &&
               !cov_chunk_file_decode(files[k]->file, i, bases, &raw, codes + k * x->L, NULL, NULL);
    }
    struct cov_chunk c = cov_grid_chunk(cov_chunk_file_grid(x->file), i);
    good = good && memcmp(codes, codes + x->L, (size_t)(c.end - c.beg)) == 0;
    cov_blob_fini(&raw);
    free(codes);
    return good;
}

bool cov_examples_same_chunks(const struct cov_examples *x, size_t a, const struct cov_examples *y,
                              size_t b)
{
    const struct cov_grid *of_a = cov_examples_grid(x, a), *of_b = cov_examples_grid(y, b);
    const struct genome_file *f = x->files[a].file, *g = y->files[b].file;
    size_t n = cov_grid_n_chunks(of_a);
    bool same = n > 0 && n == cov_grid_n_chunks(of_b) && f->L == g->L;
    for (size_t i = 0; same && i < n; i++)
        same = same_chunk(of_a, of_b, i);
    return same && same_bases(f, g, 0) && same_bases(f, g, n / 2) && same_bases(f, g, n - 1);
}

struct cov_example cov_example_of_row(const struct cov_examples *x, size_t file, size_t i)
{
    struct cov_chunk chunk = cov_grid_chunk(cov_examples_grid(x, file), i);
    return (struct cov_example){(uint32_t)file, chunk.minus, {i, COV_NO_ROW}, chunk.beg, chunk.end};
}

/* ---------------------------------------------------------------- preparing */

/* Chooses the first row of each process's share, so that all shares have the same number of rows to
 * read. */
static int share_rows(struct cov_examples *x, size_t *firsts, struct cov_err *e)
{
    size_t n = x->ranks->n, n_read = 0, k = 0, seen = 0;
    for (size_t f = 0; f < x->n_files; f++)
        for (size_t i = 0; i < x->files[f].n_rows; i++)
            n_read += !is_dropped(x->files[f].file, i);
    for (size_t f = 0; f < x->n_files; f++)
        for (size_t i = 0; i < x->files[f].n_rows; i++) {
            while (k < n && seen >= n_read / n * k + (k < n_read % n ? k : n_read % n))
                firsts[k++] = x->files[f].first + i;
            seen += !is_dropped(x->files[f].file, i);
        }
    while (k <= n)
        firsts[k++] = x->n_rows;
    return cov_rank_rows_new(x->ranks, x->n_rows, firsts, &x->spread, e);
}

/* Shares the rows of all processes. Rows that no process has are gaps. */
static int publish_rows(struct cov_examples *x, struct cov_err *e)
{
    int rc = cov_rank_rows_publish(x->spread, e);
    for (size_t f = 0; !rc && f < x->n_files; f++) {
        const struct file *file = &x->files[f];
        for (size_t i = 0; i < file->n_rows; i++)
            file->gap[i] =
                !is_dropped(file->file, i) && cov_rank_rows_bytes(x->spread, file->first + i) == 0;
    }
    return rc;
}

/* A row while it is loaded. */
struct slot {
    size_t row;
    struct cov_blob raw;
    bool gap;
    struct cov_bases_key key;
};

struct worker {
    uint8_t *scratch, *codes; /* codes[2 L]: of a row, and scratch */
    float *targets;
};

struct preparation {
    struct cov_examples *x;
    struct file *file;
    struct slot *slots;
    struct worker *workers;
    struct cov_progress *progress;
    size_t next, end; /* rows of the file */
};

static int fetch_row(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct preparation *p = arg;
    struct slot *s = &p->slots[slot];
    while (p->next < p->end && is_dropped(p->file->file, p->next)) {
        p->next++;
        cov_progress_add(p->progress, 1);
    }
    if (p->next >= p->end)
        return 0;
    s->row = p->next++;
    int rc = fetch_stored_row(p->file->file, s->row, &s->raw, e);
    return rc ? rc : 1;
}

static int check_row(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct preparation *p = arg;
    const struct cov_examples *x = p->x;
    struct slot *s = &p->slots[slot];
    const struct worker *w = &p->workers[worker];
    int rc = decode_stored_row(p->file->file, s->row, &s->raw, w->scratch, w->codes, w->targets, e);
    if (rc)
        return rc;
    s->gap = cov_example_is_gap(w->codes, x->L);
    if (p->file->keys && !s->gap) {
        const struct cov_chunk c = cov_grid_chunk(cov_chunk_file_grid(p->file->file->file), s->row);
        s->key = cov_bases_key(w->codes, (size_t)(c.end - c.beg), w->codes + x->L);
    }
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
    if (p->file->keys)
        p->file->keys[s->row] = s->key;
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

/* Prepares those of the rows [beg, end), counted over all files, that are in this file. */
static int prepare_file(struct preparation *p, struct file *f, size_t beg, size_t end,
                        struct cov_pool *pool, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch_row, check_row, keep_row};
    p->file = f;
    p->next = beg > f->first ? beg - f->first : 0;
    p->end = end > f->first ? end - f->first : 0;
    p->end = p->end < f->n_rows ? p->end : f->n_rows;
    f->gap = cov_calloc(f->n_rows, sizeof *f->gap, e);
    if (!p->x->spread)
        f->keys = cov_calloc(f->n_rows, sizeof *f->keys, e);
    if (!f->gap || (!f->keys && !p->x->spread))
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
        w->codes = cov_malloc(x->L, 2, e);
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
                       : fetch_stored_row(f->file, i, &raw->rows[k], e);
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

/* Buffers for a decoded row. */
struct target {
    uint8_t *scratch, *codes;
    float *targets;
};

static int decode_row(const struct cov_examples *x, const struct cov_example *example, int k,
                      struct cov_example_raw *raw, const struct target *to, struct cov_err *e)
{
    const struct file *f = &x->files[example->file];
    if (!x->packed || !(f->kept || x->spread))
        return decode_stored_row(f->file, example->rows[k], &raw->rows[k], to->scratch, to->codes,
                                 to->targets, e);
    size_t n;
    cov_example_unpack(cov_blob_piece(&raw->rows[k], 0, &n), x->L, x->n_datasets, to->codes,
                       to->targets);
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
        return decode_row(x, example, 0, raw, &(struct target){scratch, codes, targets}, e);
    uint8_t *row_targets = scratch + x->scratch - x->L * D * sizeof(float);
    uint8_t *row_codes = row_targets - (x->L + 15) / 8 * 8;
    memset(codes, COV_CODE_PAD, x->L);
    memset(targets, 0, x->L * D * sizeof *targets);
    for (int k = 0; k < 2 && example->rows[k] != COV_NO_ROW; k++) {
        float *from = (float *)(void *)row_targets;
        const struct target row = {scratch, row_codes, from};
        int rc = decode_row(x, example, k, raw, &row, e);
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
