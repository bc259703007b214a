/* pair_writer.c - see chunk_file.h: writing pair by pair.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/tmpfile.h"

/* The temporary file is truncated only when it has reached this size, not after every short
 * contig. */
#define SPOOL_BYTES ((int64_t)1 << 26)

/* Waiting chunks in memory are stored in blocks. */
enum { BLOCK_BYTES = 1 << 22, MAX_BLOCKS = COV_PAIR_WRITER_MEMORY / BLOCK_BYTES };

struct pair {
    int64_t beg, end;
    bool has[2];
};

struct seq {
    char *species, *name;
    int64_t length;
    size_t first_pair;
};

/* A waiting - chunk: the ends of its pieces, then the pieces. */
struct waiting {
    void *memory; /* NULL: in the file, at `at` */
    int64_t at;
    size_t n_bytes; /* size of the pieces */
};

struct cov_pair_writer {
    struct cov_chunk_writer *writer;
    size_t L, n_pieces, n_rows;
    bool partial, open; /* within a sequence */
    uint8_t *blocks[MAX_BLOCKS];
    size_t memory;          /* limit in bytes */
    size_t block, in_block; /* current block and bytes used in it */
    struct cov_spool spool;
    uint8_t *read; /* a waiting chunk, as read from the file */
    size_t cap_read;
    struct pair *pairs;
    size_t n_pairs, cap_pairs;
    struct seq *seqs;
    size_t n_seqs, cap_seqs;
    struct waiting *waiting; /* waiting chunks of this sequence */
    size_t n_waiting, cap_waiting;
};

void cov_pair_writer_abort(struct cov_pair_writer *p)
{
    if (!p)
        return;
    cov_chunk_writer_abort(p->writer);
    for (size_t i = 0; i < MAX_BLOCKS; i++)
        free(p->blocks[i]);
    cov_spool_fini(&p->spool);
    free(p->read);
    for (size_t i = 0; i < p->n_seqs; i++) {
        free(p->seqs[i].species);
        free(p->seqs[i].name);
    }
    free(p->seqs);
    free(p->pairs);
    free(p->waiting);
    free(p);
}

int cov_pair_writer_new(struct cov_chunk_writer *w, size_t L, const char *tmpdir, size_t memory,
                        bool partial, struct cov_pair_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_pair_writer *p = cov_calloc(1, sizeof *p, e);
    if (!p) {
        cov_chunk_writer_abort(w);
        return COV_ENOMEM;
    }
    p->writer = w;
    p->L = L;
    p->memory = memory < COV_PAIR_WRITER_MEMORY ? memory : COV_PAIR_WRITER_MEMORY;
    p->partial = partial;
    p->n_pieces = cov_chunk_writer_n_pieces(w);
    p->spool = (struct cov_spool)COV_SPOOL_INIT;
    int rc = cov_spool_init(&p->spool, tmpdir, e);
    if (rc) {
        cov_pair_writer_abort(p);
        return rc;
    }
    *out = p;
    return COV_OK;
}

int cov_pair_writer_begin(struct cov_pair_writer *p, const char *species, const char *name,
                          struct cov_err *e)
{
    assert(!p->open);
    int rc = COV_RESERVE(&p->seqs, &p->cap_seqs, p->n_seqs + 1, e);
    if (rc)
        return rc;
    struct seq *s = &p->seqs[p->n_seqs];
    *s = (struct seq){cov_strdup(species, e), cov_strdup(name, e), 0, p->n_pairs};
    if (!s->species || !s->name) {
        free(s->species);
        free(s->name);
        return COV_ENOMEM;
    }
    p->n_seqs++;
    p->open = true;
    return COV_OK;
}

/* Returns the end of the last pair of the current sequence, or 0. */
static int64_t last_end(const struct cov_pair_writer *p)
{
    return p->n_pairs > p->seqs[p->n_seqs - 1].first_pair ? p->pairs[p->n_pairs - 1].end : 0;
}

/* Returns memory for n waiting bytes, aligned for any type of number, or NULL if the bytes must go
 * to the file. */
static void *wait_in_memory(struct cov_pair_writer *p, size_t n)
{
    const size_t align = sizeof(size_t);
    if (n > BLOCK_BYTES)
        return NULL;
    if (n > BLOCK_BYTES - p->in_block) {
        p->block++;
        p->in_block = 0;
    }
    if (p->block * BLOCK_BYTES + p->in_block + n > p->memory)
        return NULL;
    if (!p->blocks[p->block])
        p->blocks[p->block] = cov_malloc_huge(BLOCK_BYTES, NULL);
    if (!p->blocks[p->block])
        return NULL;
    uint8_t *at = p->blocks[p->block] + p->in_block;
    p->in_block += n + (align - n % align) % align;
    return at;
}

static int keep_minus(struct cov_pair_writer *p, const struct cov_blob *minus, struct cov_err *e)
{
    int rc = COV_RESERVE(&p->waiting, &p->cap_waiting, p->n_waiting + 1, e);
    if (rc)
        return rc;
    struct waiting *w = &p->waiting[p->n_waiting];
    size_t head = p->n_pieces * sizeof *minus->ends;
    w->n_bytes = minus->n_bytes;
    w->memory = wait_in_memory(p, head + minus->n_bytes);
    if (w->memory) {
        memcpy(w->memory, minus->ends, head);
        memcpy((uint8_t *)w->memory + head, minus->data, minus->n_bytes);
    } else {
        rc = cov_spool_append(&p->spool, minus->ends, head, &w->at, e);
        if (!rc)
            rc = cov_spool_append(&p->spool, minus->data, minus->n_bytes, NULL, e);
    }
    p->n_waiting += !rc;
    return rc;
}

int cov_pair_writer_put(struct cov_pair_writer *p, int64_t beg, int64_t end,
                        const struct cov_blob *plus, const struct cov_blob *minus,
                        struct cov_err *e)
{
    assert(p->open && beg >= last_end(p) && beg < end && (uint64_t)(end - beg) <= p->L);
    assert(p->partial || (plus && minus && beg == last_end(p)));
    int rc = COV_RESERVE(&p->pairs, &p->cap_pairs, p->n_pairs + 1, e);
    if (!rc && plus)
        rc = cov_chunk_writer_put(p->writer, p->n_rows++, plus, 0, e);
    if (!rc && minus)
        rc = keep_minus(p, minus, e);
    if (!rc)
        p->pairs[p->n_pairs++] = (struct pair){beg, end, {plus != NULL, minus != NULL}};
    return rc;
}

/* Writes a waiting chunk as the next row. */
static int put_minus(struct cov_pair_writer *p, const struct waiting *w, struct cov_err *e)
{
    size_t n = p->n_pieces * sizeof(size_t) + w->n_bytes;
    void *memory = w->memory;
    if (!memory) {
        int rc = COV_RESERVE(&p->read, &p->cap_read, n, e);
        if (!rc)
            rc = cov_spool_read(&p->spool, w->at, p->read, n, e);
        if (rc)
            return rc;
        memory = p->read;
    }
    size_t *ends = memory;
    const struct cov_blob kept = {.data = (uint8_t *)(ends + p->n_pieces),
                                  .n_bytes = w->n_bytes,
                                  .ends = ends,
                                  .n_pieces = p->n_pieces};
    return cov_chunk_writer_put(p->writer, p->n_rows++, &kept, 0, e);
}

int cov_pair_writer_end(struct cov_pair_writer *p, int64_t length, struct cov_err *e)
{
    assert(p->open && length > 0);
    assert(p->partial ? last_end(p) <= length : last_end(p) == length);
    int rc = COV_OK;
    for (; !rc && p->n_waiting > 0; p->n_waiting--)
        rc = put_minus(p, &p->waiting[p->n_waiting - 1], e);
    p->block = p->in_block = 0;
    if (!rc && p->spool.n_bytes > SPOOL_BYTES)
        rc = cov_spool_truncate(&p->spool, 0, e);
    p->seqs[p->n_seqs - 1].length = length;
    p->open = false;
    return rc;
}

/* ---- the grid ---- */

static int add_row(struct cov_grid_builder *b, const struct seq *s, int64_t start, int64_t end,
                   struct cov_err *e)
{
    struct cov_seq_id id = cov_seq_id(s->species, s->name);
    return cov_grid_builder_add(b, &id, start, end, e);
}

static int add_rows(const struct cov_pair_writer *p, struct cov_grid_builder *b, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < p->n_seqs; i++) {
        const struct seq *s = &p->seqs[i];
        size_t first = s->first_pair, end = i + 1 < p->n_seqs ? s[1].first_pair : p->n_pairs;
        for (size_t k = first; !rc && k < end; k++)
            if (p->pairs[k].has[COV_PLUS])
                rc = add_row(b, s, p->pairs[k].beg, p->pairs[k].end, e);
        for (size_t k = end; !rc && k-- > first;)
            if (p->pairs[k].has[COV_MINUS])
                rc = add_row(b, s, p->pairs[k].end, p->pairs[k].beg, e);
    }
    return rc;
}

static int make_grid(const struct cov_pair_writer *p, struct cov_grid **grid, struct cov_err *e)
{
    struct cov_grid_builder *b;
    int rc = cov_grid_builder_new(p->L, &b, e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && p->partial && i < p->n_seqs; i++) {
        const struct seq *s = &p->seqs[i];
        struct cov_seq_id id = cov_seq_id(s->species, s->name);
        rc = cov_grid_builder_declare(b, &id, s->length, e);
    }
    if (!rc)
        rc = add_rows(p, b, e);
    if (!rc)
        return cov_grid_builder_finish(b, grid, e);
    cov_grid_builder_free(b);
    return rc;
}

int cov_pair_writer_finish(struct cov_pair_writer *p, struct cov_err *e)
{
    struct cov_grid *g = NULL;
    assert(!p->open);
    int rc = make_grid(p, &g, e);
    assert(rc || cov_grid_n_seqs(g) == p->n_seqs);
    if (!rc) {
        rc = cov_chunk_writer_finish(p->writer, g, e);
        p->writer = NULL;
    }
    cov_pair_writer_abort(p);
    cov_grid_free(g);
    return rc;
}
