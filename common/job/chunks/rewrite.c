/* rewrite.c - see rewrite.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/rewrite.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/chunk/chunk_table.h"
#include "common/file/path.h"
#include "common/h5/h5_rows.h"

/* Number of rows that are read back. */
enum { SAMPLE = 16 };

/* A slot has rows of one file, and its file stays open. So with many small files, MOST_SLOTS limits
 * the descriptors and the memory; MORE_PARTS files stay open for rows to come. */
enum { MOST_SLOTS = 16, MORE_PARTS = 4 };

/* An open input. */
struct rewrite_part {
    struct cov_chunk_file *file; /* NULL: the entry is free */
    size_t index;                /* in plan->paths */
    size_t *ks;                  /* indices of the sets of the head in this file */
    size_t n_slots;              /* that hold its rows, plus one for the template */
    uint64_t used;               /* when it was last wanted */
};

struct rewrite_slot {
    struct rewrite_part *part; /* the file of all its rows */
    size_t first, n;           /* rows of the new file */
    struct cov_blob raw;       /* all rows, as stored */
    size_t *pieces;            /* [batch + 1]: first piece of each row */
    struct cov_blob encoded;   /* all groups of chunk_rows rows */
};

/* Buffers of a worker. */
struct rewrite_scratch {
    struct cov_blob raw;
    uint8_t *codes;           /* [chunk_rows][L] */
    uint8_t **room;           /* [n_sets]: a row of each set, as read */
    uint8_t **read_at;        /* [n_sets]: in `room`, or in elems_at if the set stays as it is */
    uint8_t **elems_at;       /* [chunk_rows][n_sets] */
    const uint8_t **codes_at; /* [chunk_rows] */
    const uint8_t *const **rows_at; /* [chunk_rows]: into elems_at */
};

struct rewrite_run {
    const struct cov_rewrite_plan *plan;
    struct cov_progress *progress;
    const struct cov_chunk_head *from; /* the template's */
    struct cov_chunk_head to;
    struct cov_chunk_writer *writer;
    struct rewrite_part *parts; /* [n_parts] */
    size_t n_parts;
    uint64_t clock;
    size_t L, n_rows, n_sets, chunk_rows, batch, next;
    size_t n_slots;
    struct cov_arena memory;
};

/* ---- types ---- */

const char *const cov_rewrite_types[] = {"int16", "int32", "int64", "float32", NULL};

struct cov_h5_type cov_rewrite_type(size_t index)
{
    static const struct cov_h5_type types[] = {
        {COV_H5_INT, 2, true, false, '\0'},
        {COV_H5_INT, 4, true, false, '\0'},
        {COV_H5_INT, 8, true, false, '\0'},
        {COV_H5_FLOAT, 4, true, false, '\0'},
    };
    return types[index];
}

static bool is_signal(const struct cov_chunk_set *s)
{
    return s->rank >= 2 && (s->type.kind == COV_H5_INT || s->type.kind == COV_H5_FLOAT) &&
           (strncmp(s->name, "prediction/", 11) == 0 || strncmp(s->name, "evaluation/", 11) == 0);
}

static size_t n_elems(const struct cov_chunk_set *s)
{
    return cov_chunk_set_row_bytes(s) / s->type.bytes;
}

int cov_rewrite_elems(const struct cov_chunk_set *from, const struct cov_chunk_set *to,
                      const uint8_t *src, uint8_t *dst, const char *where, struct cov_err *e)
{
    if (cov_h5_same_type(&from->type, &to->type)) {
        memcpy(dst, src, cov_chunk_set_row_bytes(from));
        return COV_OK;
    }
    size_t n = n_elems(from), bad = cov_h5_retype(&from->type, src, n, &to->type, dst);
    if (bad == n)
        return COV_OK;
    char value[64], type[COV_H5_TYPE_TEXT];
    cov_h5_print_element(&from->type, src + bad * from->type.bytes, value, sizeof value);
    return cov_fail(e, COV_EINPUT, "%s: %s: position %zu of the chunk: %s does not fit %s", where,
                    from->name, bad / from->dims[1] + 1, value, cov_h5_type_text(&to->type, type));
}

int cov_rewrite_head(const struct cov_chunk_head *from, const struct cov_rewrite_storage *storage,
                     const char *path, struct cov_chunk_head *to, struct cov_err *e)
{
    int rc = cov_chunk_head_copy(from, to, e);
    if (rc || !storage)
        return rc;
    if (storage->has_layout && !from->has_bases)
        rc = cov_fail(e, COV_EINPUT, "--layout: %s has no bases", path);
    size_t n = 0;
    for (size_t k = 0; !rc && storage->has_type && k < to->n_sets; k++) {
        struct cov_chunk_set *s = &to->sets[k];
        if (!is_signal(s))
            continue;
        n++;
        uint8_t fill[8];
        char value[64], type[COV_H5_TYPE_TEXT];
        struct cov_h5_type was = s->type;
        if (cov_h5_retype(&was, s->fill, 1, &storage->type, fill) == 1) {
            s->type = storage->type;
            free(s->fill);
            s->fill = cov_malloc(s->type.bytes, 1, e);
            if (s->fill)
                memcpy(s->fill, fill, s->type.bytes);
            else
                rc = COV_ENOMEM;
            continue;
        }
        cov_h5_print_element(&was, s->fill, value, sizeof value);
        rc = cov_fail(e, COV_EINPUT, "%s: %s: fill value %s does not fit %s", path, s->name, value,
                      cov_h5_type_text(&storage->type, type));
    }
    if (!rc && storage->has_type && n == 0)
        rc = cov_fail(e, COV_EINPUT, "--dtype: %s has neither coverage nor predictions", path);
    if (rc)
        cov_chunk_head_fini(to);
    return rc;
}

/* ---- storage ---- */

/* Guesses the compression of the bases, or of the largest set, from its filters. */
static int find_compression(struct cov_chunk_file *f, struct cov_codec_choice *out,
                            struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f);
    const char *set = cov_chunk_file_bases_name(f);
    size_t most = 0;
    for (size_t k = 0; !cov_chunk_file_bases_name(f) && k < head->n_sets; k++)
        if (cov_chunk_set_row_bytes(&head->sets[k]) > most) {
            most = cov_chunk_set_row_bytes(&head->sets[k]);
            set = head->sets[k].name;
        }
    *out = (struct cov_codec_choice){COV_CODEC_GZIP, 0};
    if (!set)
        return COV_OK;
    struct cov_h5_storage storage;
    int rc = cov_chunk_file_storage(f, set, &storage, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < COV_N_CODECS; i++)
        if (strstr(storage.filters, cov_codecs[i]->name))
            return cov_codec_parse(cov_codecs[i]->name, out, e);
    if (!storage.filters[0])
        out->id = COV_CODEC_NONE;
    return COV_OK;
}

static int choose_storage(const struct cov_rewrite_plan *plan, struct cov_chunk_writer_options *o,
                          struct cov_err *e)
{
    const struct cov_rewrite_storage *s = plan->storage;
    const char *bases = cov_chunk_file_bases_name(plan->file);
    *o = (struct cov_chunk_writer_options){.chunk_rows = s ? s->chunk_rows : 0};
    o->layout = bases && strcmp(bases, "data/X") != 0 ? COV_LAYOUT_PACKED : COV_LAYOUT_ONEHOT;
    if (s && s->has_layout)
        o->layout = s->layout;
    if (s && s->has_compression)
        o->compression = s->compression;
    else
        return find_compression(plan->file, &o->compression, e);
    return COV_OK;
}

/* ---- rows ---- */

/* Finds the indices of the sets of `head` in the file. */
static int find_sets(const struct cov_chunk_head *head, const struct cov_chunk_file *f,
                     const char *path, size_t *ks, struct cov_err *e)
{
    const struct cov_chunk_head *h = cov_chunk_file_head(f);
    for (size_t k = 0; k < head->n_sets; k++) {
        const struct cov_chunk_set *s = cov_chunk_head_set(h, head->sets[k].name);
        if (!s)
            return cov_fail(e, COV_EINPUT, "%s: missing dataset %s", path, head->sets[k].name);
        ks[k] = (size_t)(s - h->sets);
    }
    return COV_OK;
}

/* Describes the open file of an entry. */
static int fill_part(const struct rewrite_run *r, struct rewrite_part *p, size_t index,
                     struct cov_err *e)
{
    p->index = index;
    return find_sets(r->from, p->file, r->plan->paths[index], p->ks, e);
}

/* Sets *out to an input, after opening it if needed; then the file that was not wanted for the
 * longest time is closed, of those without rows in a slot. */
static int want_part(struct rewrite_run *r, size_t index, struct rewrite_part **out,
                     struct cov_err *e)
{
    struct rewrite_part *oldest = NULL;
    for (size_t i = 0; i < r->n_parts; i++) {
        struct rewrite_part *p = &r->parts[i];
        if (p->file && p->index == index) {
            p->used = ++r->clock;
            *out = p;
            return COV_OK;
        }
        if (p->n_slots == 0 && (!oldest || p->used < oldest->used))
            oldest = p;
    }
    assert(oldest); /* there are more parts than slots */
    cov_chunk_file_close(oldest->file);
    oldest->used = ++r->clock;
    int rc = cov_chunk_file_open(r->plan->paths[index], &oldest->file, e);
    *out = oldest;
    return rc ? rc : fill_part(r, oldest, index, e);
}

/* Appends row i of the new file, as stored, to *raw. */
static int fetch_row(const struct rewrite_run *r, const struct rewrite_part *p, size_t i,
                     struct cov_blob *raw, struct cov_err *e)
{
    const size_t row = r->plan->rows[i].row;
    if (row >= cov_grid_n_chunks(cov_chunk_file_grid(p->file)))
        return cov_fail(e, COV_EINPUT, "%s: changed while it was read", r->plan->paths[p->index]);
    return cov_chunk_file_fetch(
        p->file, row, (struct cov_chunk_parts){r->to.has_bases, p->ks, r->n_sets}, raw, e);
}

static void pick_columns(const struct cov_chunk_set *from, const struct cov_chunk_set *to,
                         const size_t *columns, const uint8_t *src, uint8_t *dst)
{
    size_t n = to->type.bytes;
    for (size_t i = 0; i < to->dims[0]; i++)
        for (size_t k = 0; k < to->dims[1]; k++, dst += n)
            memcpy(dst, src + (i * from->dims[1] + columns[k]) * n, n);
}

/* Turns a row of set k, as read from row `row` of the input, into that of the new file. */
static int change_row(const struct rewrite_run *r, const struct rewrite_part *p, size_t row,
                      size_t k, const uint8_t *src, uint8_t *dst, struct cov_err *e)
{
    const struct cov_chunk_set *from = &r->from->sets[k], *to = &r->to.sets[k];
    if (from->dims[1] != to->dims[1]) {
        pick_columns(from, to, r->plan->columns, src, dst);
        return COV_OK;
    }
    char where[COV_ROW_TEXT_BYTES + 512], text[COV_ROW_TEXT_BYTES];
    (void)snprintf(where, sizeof where, "%.500s: %s", r->plan->paths[p->index],
                   cov_row_text(cov_chunk_file_grid(p->file), row, text));
    return cov_rewrite_elems(from, to, src, dst, where, e);
}

/* Decodes row i of the new file from s->raw to position `at` of the scratch: sets that stay as they
 * are directly, others by way of s->room. */
static int decode_row(const struct rewrite_run *r, const struct rewrite_part *p, size_t i,
                      struct rewrite_scratch *s, size_t at, struct cov_err *e)
{
    const size_t row = r->plan->rows[i].row;
    uint8_t *const *elems = s->elems_at + at * r->n_sets;
    for (size_t k = 0; k < r->n_sets; k++) {
        const struct cov_chunk_set *from = &r->from->sets[k], *to = &r->to.sets[k];
        bool stays = cov_h5_same_type(&from->type, &to->type) && from->dims[1] == to->dims[1];
        s->read_at[k] = stays ? elems[k] : s->room[k];
    }
    const struct cov_chunk_parts parts = {r->to.has_bases, p->ks, r->n_sets};
    int rc =
        cov_chunk_file_decode(p->file, row, parts, &s->raw, s->codes + at * r->L, s->read_at, e);
    for (size_t k = 0; !rc && k < r->n_sets; k++)
        if (s->read_at[k] == s->room[k])
            rc = change_row(r, p, row, k, s->room[k], elems[k], e);
    return rc;
}

/* ---- stages ---- */

static int rewrite_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct rewrite_run *r = arg;
    struct rewrite_slot *s = slot;
    const struct cov_rewrite_row *rows = r->plan->rows + r->next;
    const size_t left = r->n_rows - r->next;
    s->first = r->next;
    s->n = 0;
    cov_blob_clear(&s->raw);
    s->pieces[0] = 0;
    if (left == 0)
        return 0;
    int rc = want_part(r, rows->file, &s->part, e);
    for (size_t k = 0; !rc && k < left && k < r->batch && rows[k].file == rows->file; k++) {
        rc = fetch_row(r, s->part, s->first + k, &s->raw, e);
        s->pieces[++s->n] = s->raw.n_pieces;
    }
    if (rc)
        return rc;
    s->part->n_slots++;
    r->next += s->n;
    return 1;
}

static int rewrite_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct rewrite_run *r = arg;
    struct rewrite_slot *s = slot;
    struct rewrite_scratch *t = worker;
    cov_blob_clear(&s->encoded);
    int rc = COV_OK;
    for (size_t beg = 0; !rc && beg < s->n; beg += r->chunk_rows) {
        size_t n = s->n - beg < r->chunk_rows ? s->n - beg : r->chunk_rows;
        for (size_t k = 0; !rc && k < n; k++) {
            rc = cov_blob_copy_pieces(&t->raw, &s->raw, s->pieces[beg + k], s->pieces[beg + k + 1],
                                      e);
            if (!rc)
                rc = decode_row(r, s->part, s->first + beg + k, t, k, e);
        }
        if (!rc)
            rc = cov_chunk_writer_encode(r->writer, n, t->codes_at, t->rows_at, &s->encoded, e);
    }
    return rc;
}

static int rewrite_store(void *arg, void *slot, struct cov_err *e)
{
    struct rewrite_run *r = arg;
    struct rewrite_slot *s = slot;
    size_t n_pieces = cov_chunk_writer_n_pieces(r->writer), piece = 0;
    int rc = COV_OK;
    for (size_t beg = 0; !rc && beg < s->n; beg += r->chunk_rows, piece += n_pieces)
        rc = cov_chunk_writer_put(r->writer, s->first + beg, &s->encoded, piece, e);
    s->part->n_slots--;
    if (!rc)
        cov_progress_add(r->progress, (int64_t)s->n);
    return rc;
}

/* ---- buffers ---- */

uint8_t **cov_rewrite_room(const struct cov_chunk_head *h, struct cov_arena *memory)
{
    size_t n = 1;
    for (size_t k = 0; k < h->n_sets; k++)
        n += cov_chunk_set_row_bytes(&h->sets[k]);
    uint8_t *elem = cov_arena_calloc(memory, n, 1);
    uint8_t **at = cov_arena_calloc(memory, h->n_sets + 1, sizeof *at);
    for (size_t k = 0; elem && at && k < h->n_sets; k++) {
        at[k] = elem;
        elem += cov_chunk_set_row_bytes(&h->sets[k]);
    }
    return at;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct rewrite_run *r = arg;
    struct rewrite_slot *s = slot;
    s->pieces = cov_arena_calloc(memory, r->batch + 1, sizeof *s->pieces);
}

static void fini_slot(void *arg, void *slot)
{
    struct rewrite_slot *s = slot;
    (void)arg;
    cov_blob_fini(&s->raw);
    cov_blob_fini(&s->encoded);
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct rewrite_run *r = arg;
    struct rewrite_scratch *s = worker;
    const size_t n = r->chunk_rows;
    (void)i;
    s->room = cov_rewrite_room(r->from, memory);
    s->codes = cov_arena_calloc(memory, n, r->to.has_bases ? r->L : 1);
    s->read_at = cov_arena_calloc(memory, r->n_sets + 1, sizeof *s->read_at);
    s->codes_at = cov_arena_calloc(memory, n, sizeof *s->codes_at);
    s->elems_at = cov_arena_calloc(memory, n, (r->n_sets + 1) * sizeof *s->elems_at);
    s->rows_at = cov_arena_calloc(memory, n, sizeof *s->rows_at);
    for (size_t k = 0; k < n && s->codes && s->codes_at && s->elems_at && s->rows_at; k++) {
        uint8_t **elems = cov_rewrite_room(&r->to, memory);
        s->codes_at[k] = r->to.has_bases ? s->codes + k * r->L : NULL;
        s->rows_at[k] = (const uint8_t *const *)(s->elems_at + k * r->n_sets);
        if (elems && r->n_sets)
            memcpy(s->elems_at + k * r->n_sets, elems, r->n_sets * sizeof *elems);
    }
}

static void fini_worker(void *arg, void *worker)
{
    struct rewrite_scratch *s = worker;
    (void)arg;
    cov_blob_fini(&s->raw);
}

static void rewrite_release(struct rewrite_run *r)
{
    for (size_t i = 1; r->parts && i < r->n_parts; i++)
        cov_chunk_file_close(r->parts[i].file);
    cov_chunk_head_fini(&r->to);
    cov_arena_fini(&r->memory);
}

/* ---- reading back ---- */

/* The new file, opened for comparison. */
struct rewrite_copy {
    struct cov_chunk_file *file;
    size_t *ks; /* of the sets of the head */
    struct cov_blob raw;
    uint8_t *codes, **elems;
    struct rewrite_scratch input; /* a row of the input */
};

/* Sets *same to whether row i has the contents of its input row. */
static int compare_row(struct rewrite_run *r, struct rewrite_copy *c, size_t i, bool *same,
                       struct cov_err *e)
{
    struct rewrite_part *p;
    struct rewrite_scratch *s = &c->input;
    const struct cov_chunk_parts parts = {r->to.has_bases, c->ks, r->n_sets};
    cov_blob_clear(&s->raw);
    cov_blob_clear(&c->raw);
    int rc = want_part(r, r->plan->rows[i].file, &p, e);
    if (!rc)
        rc = fetch_row(r, p, i, &s->raw, e);
    if (!rc)
        rc = decode_row(r, p, i, s, 0, e);
    if (!rc)
        rc = cov_chunk_file_fetch(c->file, i, parts, &c->raw, e);
    if (!rc)
        rc = cov_chunk_file_decode(c->file, i, parts, &c->raw, c->codes, c->elems, e);
    if (rc)
        return rc;
    *same = !r->to.has_bases || memcmp(c->codes, s->codes, r->L) == 0;
    for (size_t k = 0; *same && k < r->n_sets; k++)
        *same = memcmp(c->elems[k], s->elems_at[k], cov_chunk_set_row_bytes(&r->to.sets[k])) == 0;
    return COV_OK;
}

static int read_back(struct rewrite_run *r, const char *path, struct cov_err *e)
{
    struct rewrite_copy c = {.raw = COV_BLOB_INIT};
    c.ks = cov_arena_calloc(&r->memory, r->n_sets + 1, sizeof *c.ks);
    c.codes = cov_arena_calloc(&r->memory, r->L, 1);
    c.elems = cov_rewrite_room(&r->to, &r->memory);
    init_worker(r, &c.input, 0, &r->memory);
    int rc = cov_arena_check(&r->memory, e);
    if (!rc)
        rc = cov_chunk_file_open(path, &c.file, e);
    if (!rc)
        rc = find_sets(&r->to, c.file, path, c.ks, e);
    const struct cov_grid *grid = rc ? NULL : cov_chunk_file_grid(c.file);
    const struct cov_chunk_head *head = rc ? NULL : cov_chunk_file_head(c.file);
    bool same = grid && head->has_bases == r->to.has_bases && head->n_sets == r->to.n_sets &&
                head->n_tables == r->to.n_tables && cov_grid_n_chunks(grid) == r->n_rows &&
                cov_grid_n_seqs(grid) == cov_grid_n_seqs(r->plan->grid) &&
                cov_grid_is_partial(grid) == cov_grid_is_partial(r->plan->grid);
    size_t n_sample = r->n_rows < SAMPLE ? r->n_rows : SAMPLE;
    for (size_t k = 0; !rc && same && k < n_sample; k++)
        rc = compare_row(r, &c, k + 1 < n_sample ? k * (r->n_rows / n_sample) : r->n_rows - 1,
                         &same, e);
    if (!rc && !same)
        rc = cov_fail(e, COV_EIO, "%s: read-back check failed", path);
    cov_chunk_file_close(c.file);
    cov_blob_fini(&c.raw);
    cov_blob_fini(&c.input.raw);
    return rc;
}

/* ---- the job ---- */

/* Corrects COV_SHARD_ATTR, which describes a set of rows. Only such a set has COV_GENOME_ATTR. */
static int set_shard(const struct rewrite_run *r, struct cov_chunk_head *to, struct cov_err *e)
{
    const struct cov_rewrite_plan *plan = r->plan;
    const char *shard = plan->storage ? plan->storage->shard : NULL;
    if (!shard && plan->n_files == 1 &&
        r->n_rows == cov_grid_n_chunks(cov_chunk_file_grid(plan->file)))
        return COV_OK;
    cov_chunk_head_drop_attr(to, NULL, COV_SHARD_ATTR);
    if (!shard)
        cov_chunk_head_drop_attr(to, NULL, COV_GENOME_ATTR);
    return shard ? cov_chunk_head_add_attr(to, NULL, COV_SHARD_ATTR, shard, e) : COV_OK;
}

static int rewrite_begin(struct rewrite_run *r, const char *path, struct cov_err *e)
{
    const struct cov_rewrite_plan *plan = r->plan;
    struct cov_chunk_writer_options options;
    int rc = cov_rewrite_head(plan->to ? plan->to : r->from, plan->storage,
                              plan->paths[plan->template], &r->to, e);
    if (!rc)
        rc = set_shard(r, &r->to, e);
    if (!rc)
        rc = choose_storage(plan, &options, e);
    if (rc)
        return rc;
    r->chunk_rows = options.chunk_rows ? options.chunk_rows : 1;
    if (r->chunk_rows > r->n_rows && r->n_rows)
        r->chunk_rows = options.chunk_rows = r->n_rows;
    assert(r->chunk_rows == 1 || plan->n_files == 1);
    r->n_sets = r->to.n_sets;
    size_t n = COV_REWRITE_SLOT_BASES / r->L / r->chunk_rows;
    r->batch = r->chunk_rows * (n ? n : 1);
    r->n_parts = plan->n_files > 1 ? r->n_slots + MORE_PARTS : 1;
    r->parts = cov_arena_calloc(&r->memory, r->n_parts, sizeof *r->parts);
    for (size_t i = 0; r->parts && i < r->n_parts; i++)
        r->parts[i].ks = cov_arena_calloc(&r->memory, r->from->n_sets + 1, sizeof *r->parts[i].ks);
    rc = cov_arena_check(&r->memory, e);
    if (rc || !r->parts)
        return rc;
    r->parts[0].file = plan->file;
    r->parts[0].n_slots = 1;
    rc = fill_part(r, &r->parts[0], plan->template, e);
    return rc ? rc : cov_chunk_writer_new(path, &r->to, &options, &r->writer, e);
}

int cov_rewrite(const struct cov_rewrite_plan *plan, const char *path, const struct cov_job *job,
                struct cov_err *e)
{
    struct cov_ring_job ring = {
        .fetch = rewrite_fetch,
        .work = rewrite_work,
        .store = rewrite_store,
        .slot_bytes = sizeof(struct rewrite_slot),
        .worker_bytes = sizeof(struct rewrite_scratch),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
        .fini_worker = fini_worker,
    };
    struct rewrite_run r = {.plan = plan,
                            .progress = job->progress,
                            .from = plan->from ? plan->from : cov_chunk_file_head(plan->file),
                            .L = cov_grid_chunk_length(plan->grid),
                            .n_rows = cov_grid_n_chunks(plan->grid),
                            .n_slots = cov_ring_slots(job->pool)};
    struct cov_ring_times times = {0};
    if (plan->n_files > MOST_SLOTS && r.n_slots > MOST_SLOTS)
        r.n_slots = MOST_SLOTS;
    ring.n_slots = r.n_slots;
    int rc = rewrite_begin(&r, path, e);
    if (!rc) {
        cov_progress_begin(job->progress, "writing", "chunks", (int64_t)r.n_rows);
        rc = cov_ring_run_job(job->pool, &ring, &r, &times, e);
        cov_progress_end(job->progress);
    }
    double clock = cov_clock();
    if (!rc) {
        rc = cov_chunk_writer_finish(r.writer, plan->grid, e);
        r.writer = NULL;
    }
    double finished = cov_clock();
    if (!rc)
        rc = read_back(&r, path, e);
    cov_stats_add_stage(job->stats, "fetch", times.source);
    cov_stats_add_stage(job->stats, "recode", times.work);
    cov_stats_add_stage(job->stats, "store", times.sink + finished - clock);
    cov_stats_add_stage(job->stats, "verify", cov_clock() - finished);
    job->stats->chunks = (job->stats->chunks > 0 ? job->stats->chunks : 0) + (int64_t)r.n_rows;
    cov_chunk_writer_abort(r.writer);
    rewrite_release(&r);
    return rc;
}

int cov_rewrite_rows(struct cov_chunk_file *file, const char *input, const bool *wanted,
                     const struct cov_rewrite_storage *storage, const char *path,
                     const struct cov_job *job, struct cov_err *e)
{
    const struct cov_grid *all = cov_chunk_file_grid(file);
    size_t n_all = cov_grid_n_chunks(all), n = 0;
    struct cov_grid *some = NULL;
    struct cov_rewrite_row *rows = cov_malloc(n_all, sizeof *rows, e);
    size_t *numbers = cov_malloc(n_all, sizeof *numbers, e);
    int rc = rows && numbers ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n_all; i++)
        if (!wanted || wanted[i]) {
            rows[n] = (struct cov_rewrite_row){0, i};
            numbers[n++] = i;
        }
    if (!rc && n < n_all)
        rc = cov_grid_select(all, numbers, n, &some, e);
    free(numbers);
    const struct cov_rewrite_plan plan = {.file = file,
                                          .paths = &input,
                                          .n_files = 1,
                                          .rows = rows,
                                          .grid = some ? some : all,
                                          .storage = storage};
    if (!rc)
        rc = cov_rewrite(&plan, path, job, e);
    cov_grid_free(some);
    free(rows);
    return rc;
}

int cov_rewrite_begin(struct cov_outfile *out, const char *path, const char *const *inputs,
                      size_t n, bool force, struct cov_err *e)
{
    for (size_t i = 0; i < n; i++)
        if (cov_path_same_file(path, inputs[i]))
            return cov_fail(e, COV_EUSAGE, "%s: the output is an input", path);
    return cov_outfile_begin(out, path, COV_OUTFILE_HDF5, force, e);
}
