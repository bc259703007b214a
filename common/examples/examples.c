/* examples.c - see examples.h.
 *
 * Opening reads what is in the files (example_file.c), and which rows a blacklist drops. Preparing
 * runs all other rows through a ring: their codes show gaps and copies, and unless the data stay on
 * disk, each row is kept as stored, packed (example_file.c), or packed in the process that has its
 * share (ranks.c). An example is fetched from where its rows are, by one thread, and decoded by any;
 * one that was cut at another offset is put together from two rows.
 * SPDX-License-Identifier: MIT */
#include "common/examples/examples.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/examples/example_file.h"
#include "common/examples/ranks.h"
#include "common/file/path.h"
#include "common/seq/alphabet.h"

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

/* ---------------------------------------------------------------- opening */

void cov_examples_close(struct cov_examples *x)
{
    if (!x)
        return;
    for (size_t k = 0; x->files && k < x->n_files; k++) {
        for (size_t i = 0; x->files[k].kept && i < x->files[k].n_rows; i++)
            cov_blob_fini(&x->files[k].kept[i]);
        free(x->files[k].kept);
        cov_example_file_close(x->files[k].file);
        free(x->files[k].gap);
        free(x->files[k].keys);
    }
    cov_rank_rows_free(x->spread);
    free(x->files);
    free(x);
}

/* Returns the species of all sequences; NULL if they differ. */
static const char *species_of(const struct cov_grid *grid)
{
    const char *species = cov_grid_n_seqs(grid) > 0 ? cov_grid_species(grid, 0) : "";
    for (size_t s = 1; s < cov_grid_n_seqs(grid); s++)
        if (strcmp(cov_grid_species(grid, s), species) != 0)
            return NULL;
    return species;
}

static int open_examples_file(struct cov_examples *x, const char *path,
                              const struct cov_examples_options *o, struct cov_err *e)
{
    struct cov_examples_file *f = &x->files[x->n_files];
    int rc = cov_example_file_open(path, o->blacklist, o->list, &f->file, e);
    if (rc)
        return rc;
    const struct cov_grid *grid = cov_chunk_file_grid(f->file->file);
    size_t L = cov_grid_chunk_length(grid);
    f->path = f->file->path;
    f->grid = grid;
    f->species = species_of(grid);
    f->first = x->n_rows;
    f->n_rows = cov_grid_n_chunks(grid);
    x->n_rows += f->n_rows;
    if (x->n_files++ == 0)
        x->L = L;
    if (L != x->L)
        return cov_fail(e, COV_EINPUT, "%s: chunks of %zu positions, but those of %s have %zu",
                        path, L, x->files[0].path, x->L);
    return COV_OK;
}

int cov_examples_select(struct cov_examples *x, const char *const *datasets, size_t n,
                        struct cov_err *e)
{
    x->n_datasets = n;
    for (size_t k = 0; k < x->n_files; k++) {
        int rc = cov_example_file_select(x->files[k].file, datasets, n, e);
        if (rc)
            return rc;
        struct cov_examples_file *f = &x->files[k];
        f->present = f->file->present;
        size_t scratch = cov_example_file_scratch(f->file);
        x->scratch = scratch > x->scratch ? scratch : x->scratch;
    }
    /* An example cut from two rows needs room for the codes and targets of one row, after the
     * scratch. */
    size_t row = (x->L + 15) / 8 * 8 + x->L * n * sizeof(float);
    x->scratch = (x->scratch + 7) / 8 * 8 + row;
    return COV_OK;
}

/* Closes the last file again unless it is chosen. Adds its species to `all`. */
static int choose_file(struct cov_examples *x, const struct cov_examples_choice *choice,
                       struct cov_listing *all, struct cov_err *e)
{
    struct cov_examples_file *f = &x->files[x->n_files - 1];
    const char *species = x->files[x->n_files - 1].species;
    bool is_named = false;
    if (!species)
        return cov_fail(e, COV_EINPUT, "%s: several species; --leave-out needs a file for each",
                        f->file->path);
    cov_listing_add(all, species);
    for (size_t i = 0; i < choice->n; i++)
        is_named = is_named || strcmp(choice->species[i], species) == 0;
    if (is_named != choice->others)
        return COV_OK;
    x->n_files--;
    x->n_rows -= f->n_rows;
    cov_example_file_close(f->file);
    *f = (struct cov_examples_file){0};
    return COV_OK;
}

/* Checks that there are files of all species that are chosen. */
static int check_choice(const struct cov_examples *x, const struct cov_examples_choice *choice,
                        const struct cov_listing *all, struct cov_err *e)
{
    if (choice->others && x->n_files == 0)
        return cov_fail(e, COV_EINPUT, "%s: all files are of %s%s", choice->place, all->text,
                        cov_listing_more(all));
    for (size_t i = 0; i < choice->n && !choice->others; i++) {
        bool found = false;
        for (size_t k = 0; k < x->n_files && !found; k++)
            found = strcmp(x->files[k].species, choice->species[i]) == 0;
        if (!found)
            return cov_fail(e, COV_EINPUT, "%s: no file is of the species %s; they are of: %s%s",
                            choice->place, choice->species[i], all->text, cov_listing_more(all));
    }
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
    struct cov_listing all = {.n = 0};
    x->loading = options->loading;
    x->ranks = options->ranks;
    assert(x->loading != COV_LOAD_RANKS || x->ranks);
    x->files = cov_calloc(n, sizeof *x->files, e);
    int rc = x->files ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        rc = open_examples_file(x, paths[k], options, e);
        if (!rc && options->choice)
            rc = choose_file(x, options->choice, &all, e);
    }
    if (!rc && options->choice)
        rc = check_choice(x, options->choice, &all, e);
    if (!rc && options->datasets)
        rc = cov_examples_select(x, options->datasets, options->n_datasets, e);
    if (rc) {
        cov_examples_close(x);
        return rc;
    }
    *out = x;
    return COV_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the *.h5 files in a directory by name: (*paths)[0 .. *n). Caller frees the list and its
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
        rc = cov_fail(e, COV_EINPUT, "%s: no *.h5 file in this directory", dir);
    if (*n > 0)
        qsort(*paths, *n, sizeof **paths, by_path);
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

int cov_examples_list(const struct cov_examples *x, struct cov_names *names, struct cov_err *e)
{
    size_t index;
    bool is_new;
    int rc = COV_OK;
    for (size_t k = 0; k < x->n_files; k++) {
        const struct cov_example_file *f = x->files[k].file;
        for (size_t i = 0; !rc && i < f->n_parts; i++)
            rc = cov_names_add(names, f->parts[i].name, strlen(f->parts[i].name), &index, &is_new,
                               e);
    }
    return rc;
}

bool cov_examples_keeps(const struct cov_examples *x, size_t file, size_t i)
{
    const struct cov_examples_file *f = &x->files[file];
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
    struct cov_chunk chunk = cov_grid_chunk(x->files[file].grid, i);
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

/* Shares the rows of all processes. Rows that no process has are gaps. */
static int publish_rows(struct cov_examples *x, struct cov_err *e)
{
    int rc = cov_rank_rows_publish(x->spread, e);
    for (size_t f = 0; !rc && f < x->n_files; f++) {
        const struct cov_examples_file *file = &x->files[f];
        for (size_t i = 0; i < file->n_rows; i++)
            file->gap[i] = !cov_example_file_drops(file->file, i) &&
                           cov_rank_rows_bytes(x->spread, file->first + i) == 0;
    }
    return rc;
}

/* A row while it is loaded. */
struct row_slot {
    size_t row;
    struct cov_blob raw;
    bool gap;
    struct cov_bases_key key;
};

struct row_worker {
    uint8_t *scratch, *codes; /* codes[2 L]: of a row, and scratch */
    float *targets;
};

struct preparation {
    struct cov_examples *x;
    struct cov_examples_file *file;
    struct cov_progress *progress;
    size_t next, end; /* rows of the file */
};

static int fetch_row(void *arg, void *slot, struct cov_err *e)
{
    struct preparation *p = arg;
    struct row_slot *s = slot;
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

static int check_row(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct preparation *p = arg;
    const struct cov_examples *x = p->x;
    struct row_slot *s = slot;
    const struct row_worker *w = worker;
    int rc = cov_example_file_decode(p->file->file, s->row, &s->raw, w->scratch, w->codes,
                                     w->targets, e);
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

static int keep_row(void *arg, void *slot, struct cov_err *e)
{
    const struct preparation *p = arg;
    const struct row_slot *s = slot;
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
    return p->file->kept ? cov_blob_copy(&p->file->kept[s->row], &s->raw, e) : COV_OK;
}

static void init_row_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    (void)i;
    const struct cov_examples *x = ((const struct preparation *)arg)->x;
    struct row_worker *w = worker;
    w->scratch = cov_arena_calloc(memory, x->scratch, 1);
    w->codes = cov_arena_calloc(memory, x->L, 2);
    w->targets = cov_arena_values(memory, 1, x->L, x->n_datasets);
}

static void fini_row_slot(void *arg, void *slot)
{
    (void)arg;
    cov_blob_fini(&((struct row_slot *)slot)->raw);
}

/* Prepares those of the rows [beg, end), counted over all files, that are in this file. */
static int prepare_file(struct preparation *p, struct cov_examples_file *f, size_t beg, size_t end,
                        struct cov_pool *pool, struct cov_err *e)
{
    static const struct cov_ring_job ring = {.fetch = fetch_row,
                                             .work = check_row,
                                             .store = keep_row,
                                             .slot_bytes = sizeof(struct row_slot),
                                             .worker_bytes = sizeof(struct row_worker),
                                             .fini_slot = fini_row_slot,
                                             .init_worker = init_row_worker};
    p->file = f;
    p->next = beg > f->first ? beg - f->first : 0;
    p->end = end > f->first ? end - f->first : 0;
    p->end = p->end < f->n_rows ? p->end : f->n_rows;
    f->gap = cov_calloc(f->n_rows, sizeof *f->gap, e);
    if (!p->x->spread)
        f->keys = cov_calloc(f->n_rows, sizeof *f->keys, e);
    if (p->x->loading != COV_LOAD_DISK && !p->x->spread)
        f->kept = cov_calloc(f->n_rows, sizeof *f->kept, e);
    if (!f->gap || (!f->keys && !p->x->spread) ||
        (!f->kept && p->x->loading != COV_LOAD_DISK && !p->x->spread))
        return COV_ENOMEM;
    return cov_ring_run_job(pool, &ring, p, NULL, e);
}

int cov_examples_prepare(struct cov_examples *x, struct cov_pool *pool,
                         struct cov_progress *progress, struct cov_err *e)
{
    struct preparation p = {.x = x, .progress = progress};
    size_t beg = 0, end = x->n_rows, *firsts = NULL;
    int rc = COV_OK;
    x->packed = x->loading == COV_LOAD_RAM_PACKED || x->loading == COV_LOAD_RANKS;
    if (x->loading == COV_LOAD_RANKS) {
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
    if (x->spread)
        rc = cov_ranks_agree(x->ranks, rc, e);
    if (!rc && x->spread)
        rc = publish_rows(x, e);
    free(firsts);
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
    const struct cov_examples_file *f = &x->files[example->file];
    int rc = COV_OK;
    for (int k = 0; !rc && k < 2 && example->rows[k] != COV_NO_ROW; k++) {
        size_t i = example->rows[k];
        rc = x->spread ? cov_rank_rows_get(x->spread, f->first + i, &raw->rows[k], e)
             : f->kept ? cov_blob_copy(&raw->rows[k], &f->kept[i], e)
                       : cov_example_file_fetch(f->file, i, &raw->rows[k], e);
    }
    return rc;
}

int cov_examples_complete(struct cov_examples *x, struct cov_err *e)
{
    return x->spread ? cov_rank_rows_complete(x->spread, e) : COV_OK;
}

/* Buffers for a decoded row. */
struct row_target {
    uint8_t *scratch, *codes;
    float *targets;
};

static int decode_row(const struct cov_examples *x, const struct cov_example *example, int k,
                      struct cov_example_raw *raw, const struct row_target *to, struct cov_err *e)
{
    const struct cov_examples_file *f = &x->files[example->file];
    if (!x->packed || !(f->kept || x->spread))
        return cov_example_file_decode(f->file, example->rows[k], &raw->rows[k], to->scratch,
                                       to->codes, to->targets, e);
    size_t n;
    cov_example_unpack(cov_blob_piece(&raw->rows[k], 0, &n), x->L, x->n_datasets, to->codes,
                       to->targets);
    return COV_OK;
}

int cov_examples_decode(const struct cov_examples *x, const struct cov_example *example,
                        struct cov_example_raw *raw, uint8_t *scratch, uint8_t *codes,
                        float *targets, struct cov_err *e)
{
    const struct cov_grid *grid = x->files[example->file].grid;
    size_t D = x->n_datasets;
    struct cov_chunk chunk = cov_grid_chunk(grid, example->rows[0]);
    if (chunk.beg == example->beg && chunk.end == example->end)
        return decode_row(x, example, 0, raw, &(struct row_target){scratch, codes, targets}, e);
    uint8_t *row_targets = scratch + x->scratch - x->L * D * sizeof(float);
    uint8_t *row_codes = row_targets - (x->L + 15) / 8 * 8;
    memset(codes, COV_CODE_PAD, x->L);
    memset(targets, 0, x->L * D * sizeof *targets);
    for (int k = 0; k < 2 && example->rows[k] != COV_NO_ROW; k++) {
        float *from = (float *)(void *)row_targets;
        const struct row_target row = {scratch, row_codes, from};
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

/* ---------------------------------------------------------------- validation on training data */

static bool same_chunk(const struct cov_grid *x, const struct cov_grid *y, size_t i)
{
    struct cov_chunk a = cov_grid_chunk(x, i), b = cov_grid_chunk(y, i);
    return a.beg == b.beg && a.end == b.end && a.minus == b.minus &&
           strcmp(cov_grid_name(x, a.seq), cov_grid_name(y, b.seq)) == 0;
}

static bool same_bases(const struct cov_example_file *x, const struct cov_example_file *y, size_t i)
{
    const struct cov_example_file *const files[2] = {x, y};
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

/* Returns true if file `a` of x has the same chunks as file `b` of y: equal intervals of equal
 * sequences, and equal bases in the first, the middle and the last row. */
static bool same_chunks(const struct cov_examples *x, size_t a, const struct cov_examples *y,
                        size_t b)
{
    const struct cov_grid *of_a = x->files[a].grid, *of_b = y->files[b].grid;
    const struct cov_example_file *f = x->files[a].file, *g = y->files[b].file;
    size_t n = cov_grid_n_chunks(of_a);
    bool same = n > 0 && n == cov_grid_n_chunks(of_b) && f->L == g->L;
    for (size_t i = 0; same && i < n; i++)
        same = same_chunk(of_a, of_b, i);
    return same && same_bases(f, g, 0) && same_bases(f, g, n / 2) && same_bases(f, g, n - 1);
}

/* Rows of `val` have their number, counted over all files, as index. Those of `train` have a higher
 * one, so that they follow rows of `val` with the same key. */
#define IN_TRAIN SIZE_MAX

struct key_list {
    struct cov_keyed_chunk *chunks;
    size_t n, cap;
};

/* Adds the rows of a file that are used; `first`: the index of its first row. */
static int add_keys(struct key_list *l, const struct cov_examples *x, size_t file, size_t first,
                    struct cov_err *e)
{
    const struct cov_bases_key *keys = x->files[file].keys;
    const size_t n = keys ? cov_grid_n_chunks(x->files[file].grid) : 0;
    int rc = COV_RESERVE(&l->chunks, &l->cap, l->n + n, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (cov_examples_keeps(x, file, i))
            l->chunks[l->n++] =
                (struct cov_keyed_chunk){keys[i], first == IN_TRAIN ? IN_TRAIN : first + i};
    return rc;
}

/* Sets is_copy[] for the rows of `val`, counted over all files, whose bases are in `train`. */
static int find_copies(const struct cov_examples *val, const struct cov_examples *train,
                       bool *is_copy, struct cov_err *e)
{
    struct key_list l = {.n = 0};
    size_t first = 0, end;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < train->n_files; k++)
        rc = add_keys(&l, train, k, IN_TRAIN, e);
    for (size_t k = 0; !rc && k < val->n_files; k++) {
        rc = add_keys(&l, val, k, first, e);
        first += cov_grid_n_chunks(val->files[k].grid);
    }
    if (!rc)
        cov_copies_sort(l.chunks, l.n);
    for (size_t beg = 0; !rc && beg < l.n; beg = end) {
        end = cov_copies_end(l.chunks, l.n, beg);
        for (size_t i = beg; l.chunks[end - 1].index == IN_TRAIN && i < end; i++)
            if (l.chunks[i].index != IN_TRAIN)
                is_copy[l.chunks[i].index] = true;
    }
    free(l.chunks);
    return rc;
}

/* Warns if file v of `val` has the chunks of a file of `train`. */
static bool warn_same_file(const struct cov_examples *val, size_t v,
                           const struct cov_examples *train)
{
    bool same = false;
    for (size_t t = 0; t < train->n_files; t++)
        if (same_chunks(val, v, train, t)) {
            cov_warn("%s: the same chunks as %s: validation on training data does not show how the "
                     "network does on other sequences",
                     val->files[v].path, train->files[t].path);
            same = true;
        }
    return same;
}

int cov_examples_warn_copies(const struct cov_examples *val, const struct cov_examples *train,
                             struct cov_err *e)
{
    size_t n_rows = 0, first = 0;
    for (size_t v = 0; v < val->n_files; v++)
        n_rows += cov_grid_n_chunks(val->files[v].grid);
    bool *is_copy = cov_calloc(n_rows, sizeof *is_copy, e);
    int rc = is_copy ? find_copies(val, train, is_copy, e) : COV_ENOMEM;
    for (size_t v = 0; !rc && v < val->n_files; v++) {
        const size_t n = cov_grid_n_chunks(val->files[v].grid);
        size_t n_copies = 0, n_kept = 0;
        for (size_t i = 0; i < n; i++) {
            n_copies += is_copy[first + i];
            n_kept += cov_examples_keeps(val, v, i);
        }
        first += n;
        if (!warn_same_file(val, v, train) && n_copies > 0)
            cov_warn("%s: %zu of %zu chunks (%.3g %%) have the bases of training data, which "
                     "validation should not see; h5chunk split keeps them apart",
                     val->files[v].path, n_copies, n_kept, 100 * (double)n_copies / (double)n_kept);
    }
    free(is_copy);
    return rc;
}
