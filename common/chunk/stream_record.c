/* stream_record.c - see stream.h: packs and unpacks pairs of chunks, and the head.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/stream.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/alphabet.h"
#include "common/seq/grid.h"

enum { FLAG_PLUS = 1, FLAG_MINUS = 2, FLAG_APART = 4 };

static size_t packed_bytes(size_t n)
{
    return n / 2 + (n & 1);
}

/* Returns the size in bytes of the first n positions of a row, or 0 if the row has no values per
 * position or no padding. */
static size_t cut_bytes(const struct cov_chunk_head *head, const struct cov_chunk_set *set,
                        size_t n)
{
    bool by_position = set->rank > 1 && set->dims[0] == head->L && n < head->L;
    return by_position ? n * set->dims[1] * set->type.bytes : 0;
}

size_t cov_stream_pair_max(const struct cov_chunk_head *head)
{
    size_t n = 0;
    for (size_t k = 0; k < head->n_sets; k++)
        n += 1 + cov_chunk_set_row_bytes(&head->sets[k]);
    return COV_STREAM_PAIR_BYTES + 2 * (n + (head->has_bases ? packed_bytes(head->L) : 0));
}

static void list_strands(struct cov_stream_layout *l)
{
    l->n_strands = 0;
    for (size_t s = COV_PLUS; s <= COV_MINUS; s++)
        if (l->pair.has[s])
            l->strands[l->n_strands++] = s;
}

/* ---- packing pairs ---- */

/* Returns true if minus[0..n) is the reverse complement of plus[0..n). */
static bool is_other_strand(const uint8_t *plus, const uint8_t *minus, size_t n)
{
    uint8_t block[1024];
    for (size_t done = 0; done < n;) {
        size_t k = n - done < sizeof block ? n - done : sizeof block;
        cov_codes_other_strand(plus + n - done - k, k, block);
        if (memcmp(block, minus + done, k) != 0)
            return false;
        done += k;
    }
    return true;
}

static int check_bases(const struct cov_chunk_head *head, const struct cov_stream_pair *pair,
                       const uint8_t *codes, struct cov_err *e)
{
    size_t n = (size_t)(pair->end - pair->beg), rest = head->L - n;
    const char *reason = NULL;
    if (memchr(codes, COV_CODE_PAD, n))
        reason = "padding between its bases";
    else if (rest > 0 && (codes[n] || memcmp(codes + n, codes + n + 1, rest - 1) != 0))
        reason = "bases past its end";
    if (reason)
        return cov_fail(e, COV_EINPUT, "chunk %lld-%lld: %s", (long long)pair->beg + 1,
                        (long long)pair->end, reason);
    return COV_OK;
}

/* Returns true if the row has only the fill value after byte `cut`. */
static bool is_filled(const struct cov_chunk_set *set, const uint8_t *row, size_t cut)
{
    size_t size = set->type.bytes, n = cov_chunk_set_row_bytes(set) - cut;
    return memcmp(row + cut, set->fill, size) == 0 &&
           memcmp(row + cut, row + cut + size, n - size) == 0;
}

static uint8_t *pack_row(const struct cov_chunk_head *head, size_t k, size_t n, const uint8_t *row,
                         uint8_t *is_whole, uint8_t *p)
{
    const struct cov_chunk_set *set = &head->sets[k];
    size_t n_bytes = cov_chunk_set_row_bytes(set), cut = cut_bytes(head, set, n);
    *is_whole = cut > 0 && !is_filled(set, row, cut);
    if (cut > 0 && !*is_whole)
        n_bytes = cut;
    memcpy(p, row, n_bytes);
    return p + n_bytes;
}

int cov_stream_pack(const struct cov_chunk_head *head, const struct cov_stream_pair *pair,
                    const uint8_t *const codes[2], const uint8_t *const *const elems[2],
                    struct cov_blob *out, struct cov_err *e)
{
    struct cov_stream_layout l = {.pair = *pair};
    list_strands(&l);
    if (pair->beg < 0 || pair->end <= pair->beg || (uint64_t)(pair->end - pair->beg) > head->L ||
        l.n_strands == 0)
        return cov_fail(e, COV_EINPUT, "chunk %lld-%lld: not a chunk of %zu bases",
                        (long long)pair->beg + 1, (long long)pair->end, head->L);
    size_t n = (size_t)(pair->end - pair->beg);
    cov_blob_clear(out);
    uint8_t *beg;
    int rc = cov_blob_room(out, cov_stream_pair_max(head), &beg, e);
    if (rc)
        return rc;
    uint8_t *is_whole = beg + COV_STREAM_PAIR_BYTES;
    uint8_t *p = is_whole + l.n_strands * head->n_sets;
    if (head->has_bases) {
        const uint8_t *first = codes[l.strands[0]];
        const uint8_t *second = l.n_strands == 2 ? codes[COV_MINUS] : NULL;
        rc = check_bases(head, pair, first, e);
        if (!rc && second)
            rc = check_bases(head, pair, second, e);
        if (rc)
            return rc;
        cov_codes_pack(first, n, p);
        p += packed_bytes(n);
        l.apart = second && !is_other_strand(first, second, n);
        if (l.apart) {
            cov_codes_pack(second, n, p);
            p += packed_bytes(n);
        }
    }
    for (size_t i = 0; i < l.n_strands; i++)
        for (size_t k = 0; k < head->n_sets; k++)
            p = pack_row(head, k, n, elems[l.strands[i]][k], is_whole++, p);
    uint8_t *q = cov_stream_put_u64(beg, (uint64_t)pair->beg);
    q = cov_stream_put_u64(q, (uint64_t)pair->end);
    q = cov_stream_put_u32(q, (pair->has[COV_PLUS] ? FLAG_PLUS : 0) |
                                  (pair->has[COV_MINUS] ? FLAG_MINUS : 0) |
                                  (l.apart ? FLAG_APART : 0));
    (void)cov_stream_put_u32(q, 0);
    return cov_blob_end_piece(out, (size_t)(p - beg), e);
}

/* ---- unpacking pairs ---- */

const char *cov_stream_layout(const struct cov_chunk_head *head, const uint8_t *p, size_t n_bytes,
                              struct cov_stream_layout *out)
{
    if (n_bytes < COV_STREAM_PAIR_BYTES)
        return "the record is too short";
    int64_t beg = (int64_t)cov_stream_u64(p), end = (int64_t)cov_stream_u64(p + 8);
    uint32_t flags = cov_stream_u32(p + 16);
    if (beg < 0 || end <= beg || (uint64_t)(end - beg) > head->L)
        return "its interval is not that of a chunk";
    if (flags & ~(uint32_t)(FLAG_PLUS | FLAG_MINUS | FLAG_APART) || cov_stream_u32(p + 20))
        return "unknown flags";
    *out = (struct cov_stream_layout){
        .pair = {.beg = beg, .end = end, .has = {flags & FLAG_PLUS, flags & FLAG_MINUS}},
        .n = (size_t)(end - beg),
        .apart = flags & FLAG_APART,
    };
    list_strands(out);
    if (out->n_strands == 0)
        return "it has no strand";
    if (out->apart && (out->n_strands < 2 || !head->has_bases))
        return "contradictory flags";
    size_t n = COV_STREAM_PAIR_BYTES + out->n_strands * head->n_sets;
    if (n_bytes < n)
        return "the record is too short";
    out->is_whole = p + COV_STREAM_PAIR_BYTES;
    out->bases = p + n;
    if (head->has_bases)
        n += packed_bytes(out->n) * (out->apart ? 2 : 1);
    const uint8_t *is_whole = out->is_whole;
    for (size_t i = 0; i < out->n_strands; i++)
        for (size_t k = 0; k < head->n_sets; k++, is_whole++) {
            const struct cov_chunk_set *set = &head->sets[k];
            size_t cut = cut_bytes(head, set, out->n);
            if (*is_whole > (cut > 0))
                return "unknown flags of a dataset";
            n += cut > 0 && !*is_whole ? cut : cov_chunk_set_row_bytes(set);
        }
    if (n_bytes != n)
        return "the record has the wrong length";
    out->elems = out->bases;
    if (head->has_bases)
        out->elems += packed_bytes(out->n) * (out->apart ? 2 : 1);
    return NULL;
}

/* Fills p[0..n) with the element `fill`. */
static void fill_bytes(uint8_t *p, size_t n, const uint8_t *fill, size_t size)
{
    memcpy(p, fill, size);
    for (size_t done = size; done < n;) {
        size_t k = done < n - done ? done : n - done;
        memcpy(p + done, p, k);
        done += k;
    }
}

static void unpack_elems(const struct cov_chunk_head *head, const struct cov_stream_layout *l,
                         uint8_t *const *const elems[2])
{
    const uint8_t *p = l->elems, *is_whole = l->is_whole;
    for (size_t i = 0; i < l->n_strands; i++) {
        uint8_t *const *rows = elems[l->strands[i]];
        for (size_t k = 0; k < head->n_sets; k++, is_whole++) {
            const struct cov_chunk_set *set = &head->sets[k];
            size_t n = cov_chunk_set_row_bytes(set), cut = cut_bytes(head, set, l->n);
            if (cut == 0 || *is_whole)
                cut = n;
            if (rows && rows[k]) {
                memcpy(rows[k], p, cut);
                if (cut < n)
                    fill_bytes(rows[k] + cut, n - cut, set->fill, set->type.bytes);
            }
            p += cut;
        }
    }
}

/* Unpacks n packed bases to codes[0..L) and adds the padding. Returns NULL, or a description of the
 * fault. */
static const char *unpack_bases(const uint8_t *packed, size_t n, size_t L, uint8_t *codes)
{
    cov_codes_unpack(packed, 0, n, codes);
    memset(codes + n, COV_CODE_PAD, L - n);
    if (memchr(codes, COV_CODE_PAD, n) || (n & 1 && packed[n / 2] & 15))
        return "padding between bases";
    return NULL;
}

static const char *unpack_codes(const struct cov_chunk_head *head,
                                const struct cov_stream_layout *l, uint8_t *const codes[2])
{
    const uint8_t *p = l->bases;
    const char *reason = NULL;
    bool paired = l->n_strands == 2 && !l->apart;
    for (size_t i = 0; !reason && i < l->n_strands; i++) {
        uint8_t *to = codes[l->strands[i]];
        if (to && i == 1 && paired && codes[COV_PLUS]) {
            cov_codes_other_strand(codes[COV_PLUS], l->n, to);
            memset(to + l->n, COV_CODE_PAD, head->L - l->n);
        } else if (to) {
            reason = unpack_bases(p, l->n, head->L, to);
            if (i == 1 && paired)
                cov_codes_reverse_complement(to, l->n);
        }
        if (!paired)
            p += packed_bytes(l->n);
    }
    return reason;
}

int cov_stream_unpack(const struct cov_chunk_head *head, const char *name,
                      const struct cov_blob *record, struct cov_stream_pair *pair,
                      uint8_t *const codes[2], uint8_t *const *const elems[2], struct cov_err *e)
{
    struct cov_stream_layout l;
    const char *reason = cov_stream_layout(head, record->data, record->n_bytes, &l);
    if (reason)
        return cov_fail(e, COV_EINPUT, "%s: damaged chunk record: %s", name, reason);
    *pair = l.pair;
    if (codes && head->has_bases)
        reason = unpack_codes(head, &l, codes);
    if (reason)
        return cov_fail(e, COV_EINPUT, "%s: chunk %lld-%lld: %s", name, (long long)pair->beg + 1,
                        (long long)pair->end, reason);
    if (elems)
        unpack_elems(head, &l, elems);
    return COV_OK;
}

enum { FLAG_PARTIAL = 1, FLAG_BASES = 2 };
enum { TYPE_SIGNED = 1, TYPE_SPACES = 2 };

/* The kinds of types in a stream: 1 + the index here. */
static const enum cov_h5_kind kinds[] = {COV_H5_INT, COV_H5_FLOAT, COV_H5_STRING, COV_H5_BOOL};

static uint8_t number_of(enum cov_h5_kind kind)
{
    uint8_t n = 0;
    while (kinds[n] != kind)
        n++;
    return n + 1;
}

static int check_limits(const struct cov_chunk_head *head, int code, struct cov_err *e)
{
    if (head->L == 0 || head->L > COV_STREAM_MAX_L)
        return cov_fail(e, code, "subsequence length %zu is not in 1 to %zu", head->L,
                        COV_STREAM_MAX_L);
    size_t n_bytes = 0;
    for (size_t k = 0; k < head->n_sets; k++) {
        size_t n = cov_chunk_set_row_bytes(&head->sets[k]);
        if (n > COV_STREAM_MAX_ROWS - n_bytes)
            return cov_fail(e, code, "the datasets have more than %zu bytes per chunk",
                            COV_STREAM_MAX_ROWS);
        n_bytes += n;
    }
    return COV_OK;
}

/* ---- encoding the head ---- */

/* After a failure, the functions that put and take do nothing; rc is the first failure. */
struct head_writer {
    struct cov_blob *out;
    struct cov_err *e;
    int rc;
};

static void put(struct head_writer *w, const void *p, size_t n)
{
    uint8_t *at;
    if (!w->rc)
        w->rc = cov_blob_room(w->out, n, &at, w->e);
    if (w->rc || n == 0)
        return;
    memcpy(at, p, n);
    w->out->n_bytes += n;
}

static void put_u32(struct head_writer *w, size_t v)
{
    uint8_t bytes[4];
    (void)cov_stream_put_u32(bytes, (uint32_t)v);
    put(w, bytes, sizeof bytes);
}

static void put_u64(struct head_writer *w, uint64_t v)
{
    uint8_t bytes[8];
    (void)cov_stream_put_u64(bytes, v);
    put(w, bytes, sizeof bytes);
}

static void put_text(struct head_writer *w, const char *text)
{
    size_t n = strlen(text);
    if (!w->rc && n > COV_STREAM_MAX_HEAD)
        w->rc = cov_fail(w->e, COV_EUNSUPPORTED, "a text of %zu bytes", n);
    put_u32(w, n);
    put(w, text, n);
}

/* Writes the name, the type, the rank and the last n_dims dimensions. */
static void put_shape(struct head_writer *w, const char *name, const struct cov_h5_type *type,
                      int rank, const size_t *dims, int n_dims)
{
    uint8_t flags = 0;
    if (type->kind == COV_H5_INT && type->is_signed)
        flags = TYPE_SIGNED;
    if (type->kind == COV_H5_STRING && type->padding == ' ')
        flags = TYPE_SPACES;
    put_text(w, name);
    put(w, (uint8_t[4]){number_of(type->kind), flags, (uint8_t)rank, 0}, 4);
    put_u32(w, type->bytes);
    for (int i = 0; i < n_dims; i++)
        put_u64(w, dims[i]);
}

int cov_stream_head_encode(const struct cov_chunk_head *head, bool partial, struct cov_blob *out,
                           struct cov_err *e)
{
    cov_blob_clear(out);
    struct head_writer w = {out, e, check_limits(head, COV_EUNSUPPORTED, e)};
    put_u64(&w, head->L);
    put_u32(&w, (partial ? FLAG_PARTIAL : 0) | (head->has_bases ? FLAG_BASES : 0));
    put_u32(&w, head->n_sets);
    put_u32(&w, head->n_tables);
    put_u32(&w, head->n_attrs);
    for (size_t i = 0; i < head->n_sets; i++) {
        const struct cov_chunk_set *s = &head->sets[i];
        put_shape(&w, s->name, &s->type, s->rank, s->dims, s->rank - 1);
        put(&w, s->fill, s->type.bytes);
    }
    for (size_t i = 0; i < head->n_tables; i++) {
        const struct cov_chunk_table *t = &head->tables[i];
        put_shape(&w, t->name, &t->type, t->rank, t->dims, t->rank);
        put(&w, t->elems, t->n_bytes);
    }
    for (size_t i = 0; i < head->n_attrs; i++) {
        const struct cov_chunk_attr *a = &head->attrs[i];
        put_text(&w, a->set ? a->set : "");
        put_text(&w, a->name);
        put_text(&w, a->text);
    }
    if (!w.rc && out->n_bytes > COV_STREAM_MAX_HEAD)
        w.rc = cov_fail(e, COV_EUNSUPPORTED, "more than 1 GiB of tables is not supported");
    return w.rc;
}

/* ---- decoding the head ---- */

struct head_reader {
    uint8_t *p;
    size_t n; /* bytes left */
    struct cov_err *e;
    int rc;
};

/* Returns the next n bytes; NULL after a failure, such as that fewer are left. */
static uint8_t *take(struct head_reader *r, size_t n)
{
    if (!r->rc && n > r->n)
        r->rc = cov_fail(r->e, COV_EINPUT, "truncated field");
    if (r->rc)
        return NULL;
    uint8_t *p = r->p;
    r->p += n;
    r->n -= n;
    return p;
}

static uint32_t take_u32(struct head_reader *r)
{
    const uint8_t *p = take(r, 4);
    return p ? cov_stream_u32(p) : 0;
}

static size_t take_size(struct head_reader *r)
{
    const uint8_t *p = take(r, 8);
    uint64_t v = p ? cov_stream_u64(p) : 0;
    if (v > SIZE_MAX / 2)
        r->rc = cov_fail(r->e, COV_EINPUT, "impossible size %llu", (unsigned long long)v);
    return r->rc ? 0 : (size_t)v;
}

/* Returns a string, NULL after a failure. Caller frees. */
static char *take_text(struct head_reader *r)
{
    uint32_t n = take_u32(r);
    const char *p = (const char *)take(r, n);
    if (p && memchr(p, 0, n))
        r->rc = cov_fail(r->e, COV_EINPUT, "a text contains a zero byte");
    char *text = r->rc ? NULL : cov_strndup(p, n, r->e);
    if (!r->rc && !text)
        r->rc = COV_ENOMEM;
    return text;
}

/* The inverse of put_shape, with rank - skip dimensions. Does not change missing dims. Returns the
 * name, which the caller frees. */
static char *take_shape(struct head_reader *r, struct cov_h5_type *type, int *rank, size_t *dims,
                        int skip)
{
    char *name = take_text(r);
    const uint8_t *p = take(r, 8);
    if (!p)
        return name;
    const bool known = p[0] >= 1 && p[0] <= COV_COUNT(kinds);
    const enum cov_h5_kind kind = known ? kinds[p[0] - 1] : COV_H5_BOOL;
    uint8_t flag = kind == COV_H5_INT ? TYPE_SIGNED : kind == COV_H5_STRING ? TYPE_SPACES : 0;
    if (!known || p[1] & ~flag || p[3])
        r->rc = cov_fail(r->e, COV_EINPUT, "%s: unknown type", name);
    else if (p[2] < 1 || p[2] > 3)
        r->rc = cov_fail(r->e, COV_EINPUT, "%s: %d dimensions", name, p[2]);
    *type = (struct cov_h5_type){
        .kind = kind,
        .bytes = cov_stream_u32(p + 4),
        .is_signed = kind == COV_H5_INT && p[1],
        .padding = kind == COV_H5_STRING && p[1] ? ' ' : '\0',
    };
    *rank = p[2];
    for (int i = 0; !r->rc && i < *rank - skip; i++)
        dims[i] = take_size(r);
    return name;
}

static void take_set(struct head_reader *r, struct cov_chunk_head *head)
{
    struct cov_chunk_set set = {.dims = {1, 1}};
    set.name = take_shape(r, &set.type, &set.rank, set.dims, 1);
    set.fill = take(r, set.type.bytes);
    if (!r->rc)
        r->rc = cov_chunk_head_add_set(head, &set, r->e);
    free(set.name);
}

static void take_table(struct head_reader *r, struct cov_chunk_head *head)
{
    struct cov_chunk_table table = {.dims = {1, 1, 1}};
    table.name = take_shape(r, &table.type, &table.rank, table.dims, 0);
    table.n_bytes = table.type.bytes;
    for (int i = 0; !r->rc && i < 3; i++)
        if (cov_size_mul(table.n_bytes, table.dims[i], &table.n_bytes))
            r->rc = cov_fail(r->e, COV_EINPUT, "%s: damaged shape", table.name);
    table.elems = take(r, table.n_bytes);
    if (!r->rc)
        r->rc = cov_chunk_head_add_table(head, &table, r->e);
    free(table.name);
}

static void take_attr(struct head_reader *r, struct cov_chunk_head *head)
{
    char *set = take_text(r), *name = take_text(r), *text = take_text(r);
    if (!r->rc)
        r->rc = cov_chunk_head_add_attr(head, *set ? set : NULL, name, text, r->e);
    free(set);
    free(name);
    free(text);
}

int cov_stream_head_decode(const struct cov_blob *record, struct cov_chunk_head *head,
                           bool *partial, struct cov_err *e)
{
    struct head_reader r = {record->data, record->n_bytes, e, COV_OK};
    memset(head, 0, sizeof *head);
    head->L = take_size(&r);
    uint32_t flags = take_u32(&r), n_sets = take_u32(&r), n_tables = take_u32(&r),
             n_attrs = take_u32(&r);
    if (!r.rc && flags & ~(uint32_t)(FLAG_PARTIAL | FLAG_BASES))
        r.rc = cov_fail(e, COV_EINPUT, "unknown flags %#x", flags);
    *partial = flags & FLAG_PARTIAL;
    head->has_bases = flags & FLAG_BASES;
    for (uint32_t i = 0; !r.rc && i < n_sets; i++)
        take_set(&r, head);
    for (uint32_t i = 0; !r.rc && i < n_tables; i++)
        take_table(&r, head);
    for (uint32_t i = 0; !r.rc && i < n_attrs; i++)
        take_attr(&r, head);
    if (!r.rc && r.n > 0)
        r.rc = cov_fail(e, COV_EINPUT, "%zu trailing bytes", r.n);
    return r.rc ? r.rc : check_limits(head, COV_EINPUT, e);
}
