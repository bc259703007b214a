/* stream_pack.c - see stream.h: one pair as the bytes of its record, and back.
 *
 * Bases are half a byte each and stored once where the - chunk is the other strand of the + chunk.
 * A row with values for each position is stored without its padding, if that is the fill value.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/seq/alphabet.h"
#include "common/seq/grid.h"
#include "common/store/stream_format.h"

enum { FLAG_PLUS = 1, FLAG_MINUS = 2, FLAG_APART = 4 };

static size_t packed_bytes(size_t n)
{
    return n / 2 + (n & 1);
}

/* Bytes of the first n positions of a row of a set that has L positions, or 0 for other sets. */
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

/* ---------------------------------------------------------------- packing */

/* Whether minus[0..n) is the other strand of plus[0..n). */
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
        reason = "bases behind its end";
    if (reason)
        return cov_fail(e, COV_EINPUT, "chunk %lld-%lld: %s", (long long)pair->beg + 1,
                        (long long)pair->end, reason);
    return COV_OK;
}

/* Whether what is behind the first `cut` of the row's bytes is the fill value. */
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

/* ---------------------------------------------------------------- unpacking */

const char *cov_stream_layout(const struct cov_chunk_head *head, const uint8_t *p, size_t n_bytes,
                              struct cov_stream_layout *out)
{
    if (n_bytes < COV_STREAM_PAIR_BYTES)
        return "the record is too short";
    int64_t beg = (int64_t)cov_stream_u64(p), end = (int64_t)cov_stream_u64(p + 8);
    uint32_t flags = cov_stream_u32(p + 16);
    if (beg < 0 || end <= beg || (uint64_t)(end - beg) > head->L)
        return "its interval is none of a chunk";
    if (flags & ~(uint32_t)(FLAG_PLUS | FLAG_MINUS | FLAG_APART) || cov_stream_u32(p + 20))
        return "unknown flags";
    *out = (struct cov_stream_layout){
        .pair = {.beg = beg, .end = end, .has = {flags & FLAG_PLUS, flags & FLAG_MINUS}},
        .n = (size_t)(end - beg),
        .apart = flags & FLAG_APART,
    };
    list_strands(out);
    if (out->n_strands == 0)
        return "it is of no strand";
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
                return "unknown flags of a data set";
            n += cut > 0 && !*is_whole ? cut : cov_chunk_set_row_bytes(set);
        }
    if (n_bytes != n)
        return "the record has the wrong length";
    out->elems = out->bases;
    if (head->has_bases)
        out->elems += packed_bytes(out->n) * (out->apart ? 2 : 1);
    return NULL;
}

/* p[0..n) = elements like the one at `fill`. */
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

/* codes[0..L) = n packed bases and padding. */
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
        return cov_fail(e, COV_EINPUT, "%s: a damaged record of a chunk: %s", name, reason);
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
