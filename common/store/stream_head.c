/* stream_head.c - see stream_format.h: the head of the chunk stream as bytes, and back.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/store/stream_format.h"

enum { FLAG_PARTIAL = 1, FLAG_BASES = 2 };
enum { TYPE_SIGNED = 1, TYPE_SPACES = 2 };
enum { KIND_INT = 1, KIND_FLOAT = 2, KIND_STRING = 3 };

static int check_limits(const struct cov_chunk_head *head, int code, struct cov_err *e)
{
    if (head->L == 0 || head->L > COV_STREAM_MAX_L)
        return cov_fail(e, code, "a subsequence length of %zu; in a stream it is 1 to %zu", head->L,
                        COV_STREAM_MAX_L);
    size_t n_bytes = 0;
    for (size_t k = 0; k < head->n_sets; k++) {
        size_t n = cov_chunk_set_row_bytes(&head->sets[k]);
        if (n > COV_STREAM_MAX_ROWS - n_bytes)
            return cov_fail(e, code, "the data sets have more than %zu bytes a chunk",
                            COV_STREAM_MAX_ROWS);
        n_bytes += n;
    }
    return COV_OK;
}

/* ---- writing ---- */

static int put(struct cov_blob *b, const void *p, size_t n, struct cov_err *e)
{
    uint8_t *at;
    int rc = cov_blob_room(b, n, &at, e);
    if (rc)
        return rc;
    if (n > 0)
        memcpy(at, p, n);
    b->n_bytes += n;
    return COV_OK;
}

static int put_u32(struct cov_blob *b, uint32_t v, struct cov_err *e)
{
    uint8_t bytes[4];
    (void)cov_stream_put_u32(bytes, v);
    return put(b, bytes, sizeof bytes, e);
}

static int put_u64(struct cov_blob *b, uint64_t v, struct cov_err *e)
{
    uint8_t bytes[8];
    (void)cov_stream_put_u64(bytes, v);
    return put(b, bytes, sizeof bytes, e);
}

static int put_text(struct cov_blob *b, const char *text, struct cov_err *e)
{
    size_t n = strlen(text);
    if (n > COV_STREAM_MAX_HEAD)
        return cov_fail(e, COV_EUNSUPPORTED, "a text of %zu bytes", n);
    int rc = put_u32(b, (uint32_t)n, e);
    return rc ? rc : put(b, text, n, e);
}

/* Name, type and the sizes behind the first `skip` dimensions. */
static int put_shape(struct cov_blob *b, const char *name, const struct cov_h5_type *type, int rank,
                     int skip, const size_t *dims, struct cov_err *e)
{
    int rc = put_text(b, name, e);
    if (rc)
        return rc;
    uint8_t kind = type->kind == COV_H5_INT     ? KIND_INT
                   : type->kind == COV_H5_FLOAT ? KIND_FLOAT
                                                : KIND_STRING;
    uint8_t flags = 0;
    if (type->kind == COV_H5_INT && type->is_signed)
        flags = TYPE_SIGNED;
    if (type->kind == COV_H5_STRING && type->padding == ' ')
        flags = TYPE_SPACES;
    uint8_t bytes[4] = {kind, flags, (uint8_t)rank, 0};
    rc = put(b, bytes, sizeof bytes, e);
    if (!rc)
        rc = put_u32(b, (uint32_t)type->bytes, e);
    for (int i = 0; !rc && i < rank - skip; i++)
        rc = put_u64(b, dims[i], e);
    return rc;
}

static int encode(const struct cov_chunk_head *head, bool partial, struct cov_blob *out,
                  struct cov_err *e)
{
    int rc = put_u64(out, head->L, e);
    if (!rc)
        rc = put_u32(out, (partial ? FLAG_PARTIAL : 0) | (head->has_bases ? FLAG_BASES : 0), e);
    if (!rc)
        rc = put_u32(out, (uint32_t)head->n_sets, e);
    if (!rc)
        rc = put_u32(out, (uint32_t)head->n_tables, e);
    if (!rc)
        rc = put_u32(out, (uint32_t)head->n_attrs, e);
    for (size_t i = 0; !rc && i < head->n_sets; i++) {
        const struct cov_chunk_set *s = &head->sets[i];
        rc = put_shape(out, s->name, &s->type, s->rank, 1, s->dims, e);
        if (!rc)
            rc = put(out, s->fill, s->type.bytes, e);
    }
    for (size_t i = 0; !rc && i < head->n_tables; i++) {
        const struct cov_chunk_table *t = &head->tables[i];
        rc = put_shape(out, t->name, &t->type, t->rank, 0, t->dims, e);
        if (!rc)
            rc = put(out, t->elems, t->n_bytes, e);
    }
    for (size_t i = 0; !rc && i < head->n_attrs; i++) {
        const struct cov_chunk_attr *a = &head->attrs[i];
        rc = put_text(out, a->set ? a->set : "", e);
        if (!rc)
            rc = put_text(out, a->name, e);
        if (!rc)
            rc = put_text(out, a->text, e);
    }
    return rc;
}

int cov_stream_head_encode(const struct cov_chunk_head *head, bool partial, struct cov_blob *out,
                           struct cov_err *e)
{
    cov_blob_clear(out);
    int rc = check_limits(head, COV_EUNSUPPORTED, e);
    if (!rc)
        rc = encode(head, partial, out, e);
    if (!rc && out->n_bytes > COV_STREAM_MAX_HEAD)
        rc = cov_fail(e, COV_EUNSUPPORTED,
                      "more than 1 GiB of data sets that are not by chunks is not supported");
    return rc;
}

/* ---- reading ---- */

struct cursor {
    const uint8_t *p;
    size_t n;
};

/* The next n bytes, or NULL where there are not so many. */
static const uint8_t *take(struct cursor *c, size_t n, struct cov_err *e)
{
    if (n > c->n) {
        (void)cov_fail(e, COV_EINPUT, "it ends in the middle of a field");
        return NULL;
    }
    const uint8_t *p = c->p;
    c->p += n;
    c->n -= n;
    return p;
}

static int take_u32(struct cursor *c, uint32_t *v, struct cov_err *e)
{
    const uint8_t *p = take(c, 4, e);
    *v = p ? cov_stream_u32(p) : 0;
    return p ? COV_OK : COV_EINPUT;
}

static int take_size(struct cursor *c, size_t *v, struct cov_err *e)
{
    const uint8_t *p = take(c, 8, e);
    if (!p)
        return COV_EINPUT;
    uint64_t value = cov_stream_u64(p);
    if (value > SIZE_MAX / 2)
        return cov_fail(e, COV_EINPUT, "a size of %llu", (unsigned long long)value);
    *v = (size_t)value;
    return COV_OK;
}

/* *text: caller frees. */
static int take_text(struct cursor *c, char **text, struct cov_err *e)
{
    uint32_t n;
    *text = NULL;
    int rc = take_u32(c, &n, e);
    if (rc)
        return rc;
    const uint8_t *p = take(c, n, e);
    if (!p)
        return COV_EINPUT;
    if (memchr(p, 0, n))
        return cov_fail(e, COV_EINPUT, "a text with a zero in it");
    *text = cov_strndup((const char *)p, n, e);
    return *text ? COV_OK : COV_ENOMEM;
}

/* The way back of put_shape; `dims` holds 1 where there is none. */
static int take_shape(struct cursor *c, char **name, struct cov_h5_type *type, int *rank, int skip,
                      size_t *dims, struct cov_err *e)
{
    int rc = take_text(c, name, e);
    if (rc)
        return rc;
    const uint8_t *p = take(c, 8, e);
    if (!p)
        return COV_EINPUT;
    uint8_t flag = p[0] == KIND_INT ? TYPE_SIGNED : p[0] == KIND_STRING ? TYPE_SPACES : 0;
    if (p[0] < KIND_INT || p[0] > KIND_STRING || p[1] & ~flag || p[3])
        return cov_fail(e, COV_EINPUT, "%s: unknown type", *name);
    *type = (struct cov_h5_type){
        .kind = p[0] == KIND_INT     ? COV_H5_INT
                : p[0] == KIND_FLOAT ? COV_H5_FLOAT
                                     : COV_H5_STRING,
        .bytes = cov_stream_u32(p + 4),
        .is_signed = p[0] == KIND_INT && p[1],
        .padding = p[0] == KIND_STRING && p[1] ? ' ' : '\0',
    };
    *rank = p[2];
    if (*rank < 1 || *rank > 3)
        return cov_fail(e, COV_EINPUT, "%s: %d dimensions", *name, *rank);
    for (int i = 0; !rc && i < *rank - skip; i++)
        rc = take_size(c, &dims[i], e);
    return rc;
}

static int take_set(struct cursor *c, struct cov_chunk_head *head, struct cov_err *e)
{
    struct cov_chunk_set set = {.dims = {1, 1}};
    int rc = take_shape(c, &set.name, &set.type, &set.rank, 1, set.dims, e);
    const uint8_t *p = rc ? NULL : take(c, set.type.bytes, e);
    if (p) {
        set.fill = cov_malloc(set.type.bytes, 1, e);
        rc = set.fill ? COV_OK : COV_ENOMEM;
    } else if (!rc) {
        rc = COV_EINPUT;
    }
    if (!rc) {
        memcpy(set.fill, p, set.type.bytes);
        rc = cov_chunk_head_add_set(head, &set, e);
    }
    free(set.fill);
    free(set.name);
    return rc;
}

static int take_table(struct cursor *c, struct cov_chunk_head *head, struct cov_err *e)
{
    struct cov_chunk_table table = {.dims = {1, 1, 1}};
    int rc = take_shape(c, &table.name, &table.type, &table.rank, 0, table.dims, e);
    table.n_bytes = table.type.bytes;
    for (int i = 0; !rc && i < 3; i++)
        if (cov_size_mul(table.n_bytes, table.dims[i], &table.n_bytes))
            rc = cov_fail(e, COV_EINPUT, "%s: damaged shape", table.name);
    const uint8_t *p = rc ? NULL : take(c, table.n_bytes, e);
    if (p) {
        table.elems = cov_malloc(table.n_bytes, 1, e);
        rc = table.elems ? COV_OK : COV_ENOMEM;
    } else if (!rc) {
        rc = COV_EINPUT;
    }
    if (!rc) {
        if (table.n_bytes > 0)
            memcpy(table.elems, p, table.n_bytes);
        rc = cov_chunk_head_add_table(head, &table, e);
    }
    free(table.elems);
    free(table.name);
    return rc;
}

static int take_attr(struct cursor *c, struct cov_chunk_head *head, struct cov_err *e)
{
    char *set = NULL, *name = NULL, *text = NULL;
    int rc = take_text(c, &set, e);
    if (!rc)
        rc = take_text(c, &name, e);
    if (!rc)
        rc = take_text(c, &text, e);
    if (!rc)
        rc = cov_chunk_head_add_attr(head, set && *set ? set : NULL, name, text, e);
    free(set);
    free(name);
    free(text);
    return rc;
}

int cov_stream_head_decode(const uint8_t *p, size_t n, struct cov_chunk_head *head, bool *partial,
                           struct cov_err *e)
{
    struct cursor c = {p, n};
    uint32_t flags, n_sets, n_tables, n_attrs;
    memset(head, 0, sizeof *head);
    int rc = take_size(&c, &head->L, e);
    if (!rc)
        rc = take_u32(&c, &flags, e);
    if (!rc)
        rc = take_u32(&c, &n_sets, e);
    if (!rc)
        rc = take_u32(&c, &n_tables, e);
    if (!rc)
        rc = take_u32(&c, &n_attrs, e);
    if (rc)
        return rc;
    if (flags & ~(uint32_t)(FLAG_PARTIAL | FLAG_BASES))
        return cov_fail(e, COV_EINPUT, "unknown flags %#x", flags);
    *partial = flags & FLAG_PARTIAL;
    head->has_bases = flags & FLAG_BASES;
    for (uint32_t i = 0; !rc && i < n_sets; i++)
        rc = take_set(&c, head, e);
    for (uint32_t i = 0; !rc && i < n_tables; i++)
        rc = take_table(&c, head, e);
    for (uint32_t i = 0; !rc && i < n_attrs; i++)
        rc = take_attr(&c, head, e);
    if (!rc && c.n > 0)
        rc = cov_fail(e, COV_EINPUT, "%zu bytes too many", c.n);
    return rc ? rc : check_limits(head, COV_EINPUT, e);
}
