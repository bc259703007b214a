/* codec.c - see codec.h.
 *
 * Filter numbers come from the HDF5 file format specification (filter pipeline message) and the HDF
 * Group's list of registered filters.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/deflate/deflate.h"

/* ---- the table ---- */

/* libdeflate's levels for "gzip" and "fast", where neither onehot_deflate.h nor encode_integers applies. On
 * the chunks of a genome file, level 3 takes half as long as level 6 and needs 7 % more bytes; both
 * are faster and compress better than zlib's level 4. */
enum { GZIP_LEVEL = 3, FAST_LEVEL = 1 };

static size_t bound_deflate(size_t n)
{
    size_t deflate = cov_deflate_bound(n), tokens = cov_tokens_bound(n);
    return deflate > tokens ? deflate : tokens;
}

static int encode_libdeflate(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                             size_t *n_dst, struct cov_err *e)
{
    (void)elem_bytes;
    return cov_deflate(level, src, n, dst, bound_deflate(n), n_dst, e);
}

/* Deflates integers of a prediction. Many equal the first, second or eighth integer before them:
 * where a network's output is flat, it repeats with the period of the layers that double the
 * positions. This takes 1/3 to 1/8 of the time of libdeflate's level 3, and the size is from 25 %
 * smaller to 8 % larger. */
static int encode_integers(size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                           struct cov_err *e)
{
    const unsigned size = (unsigned)elem_bytes, dists[] = {size, 2 * size, 8 * size};
    struct cov_tokens t;
    int rc = cov_tokens_init(&t, n, e);
    if (rc)
        return rc;
    cov_tokens_strides(&t, src, n, dists, COV_COUNT(dists));
    *n_dst = cov_tokens_zlib(&t, src, n, dst);
    cov_tokens_fini(&t);
    return COV_OK;
}

static int encode_gzip(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                       size_t *n_dst, struct cov_err *e)
{
    (void)level;
    return elem_bytes > 0 && n > 0 ? encode_integers(elem_bytes, src, n, dst, n_dst, e)
                                   : encode_libdeflate(GZIP_LEVEL, 0, src, n, dst, n_dst, e);
}

static int encode_fast(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                       size_t *n_dst, struct cov_err *e)
{
    (void)level;
    return elem_bytes > 0 && n > 0 ? encode_integers(elem_bytes, src, n, dst, n_dst, e)
                                   : encode_libdeflate(FAST_LEVEL, 0, src, n, dst, n_dst, e);
}

static int copy(int level, size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                struct cov_err *e)
{
    (void)level, (void)elem_bytes, (void)e;
    memcpy(dst, src, n);
    *n_dst = n;
    return COV_OK;
}

static const struct cov_codec none = {.name = "none", .encode = copy};
static const struct cov_codec gzip = {
    .name = "gzip",
    .h5_id = COV_H5_DEFLATE,
    .shows_level = true,
    .encode = encode_gzip,
    .decode = cov_inflate,
    .bound = bound_deflate,
};
static const struct cov_codec fast = {
    .name = "fast",
    .h5_id = COV_H5_DEFLATE,
    .encode = encode_fast,
    .bound = bound_deflate,
};
static const struct cov_codec libdeflate = {
    .name = "libdeflate",
    .h5_id = COV_H5_DEFLATE,
    .level = 6,
    .max_level = 12,
    .encode = encode_libdeflate,
    .bound = bound_deflate,
    .library = "libdeflate",
    .version = cov_deflate_version,
};

const struct cov_codec *const cov_codecs[COV_N_CODECS] = {
    [COV_CODEC_NONE] = &none,     [COV_CODEC_GZIP] = &gzip,
    [COV_CODEC_FAST] = &fast,     [COV_CODEC_LIBDEFLATE] = &libdeflate,
    [COV_CODEC_LZF] = &cov_lzf,   [COV_CODEC_LZ4] = &cov_lz4,
    [COV_CODEC_ZSTD] = &cov_zstd, [COV_CODEC_BLOSC] = &cov_blosc,
};

const struct cov_codec *cov_codec_of_filter(int h5_id)
{
    for (size_t i = COV_CODEC_NONE + 1; i < COV_N_CODECS; i++)
        if (cov_codecs[i]->h5_id == h5_id)
            return cov_codecs[i];
    return NULL;
}

/* ---- the choice ---- */

static int fail_unknown(const char *text, struct cov_err *e)
{
    char known[400];
    size_t n = 0;
    for (size_t i = COV_CODEC_NONE + 1; i < COV_N_CODECS; i++) {
        const struct cov_codec *c = cov_codecs[i];
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", c->name);
        if (c->max_level > 0)
            n += (size_t)snprintf(known + n, sizeof known - n, ", %s:1 to %s:%d", c->name, c->name,
                                  c->max_level);
    }
    return cov_fail(e, COV_EUSAGE, "\"%s\" is not a compression: %s or none", text, known);
}

int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e)
{
    size_t n_name = strcspn(text, ":");
    for (size_t i = 0; i < COV_N_CODECS; i++) {
        const struct cov_codec *c = cov_codecs[i];
        int64_t level = c->level;
        if (strlen(c->name) != n_name || strncmp(text, c->name, n_name) != 0)
            continue;
        if (text[n_name] == ':' &&
            (text[n_name + 1] == '+' ||
             cov_parse_i64(text + n_name + 1, "", 1, c->max_level, &level, NULL)))
            break;
        *out = (struct cov_codec_choice){(enum cov_codec_id)i, (int)level};
        return COV_OK;
    }
    return fail_unknown(text, e);
}

size_t cov_codec_bound(struct cov_codec_choice choice, size_t n)
{
    const struct cov_codec *c = cov_codecs[choice.id];
    return c->bound ? c->bound(n) : n;
}

int cov_codec_encode(struct cov_codec_choice choice, size_t elem_bytes, const void *src, size_t n,
                     void *dst, size_t *n_dst, struct cov_err *e)
{
    return cov_codecs[choice.id]->encode(choice.level, elem_bytes, src, n, dst, n_dst, e);
}

/* ---- the shuffle ---- */

/* HDF5's shuffle sorts the bytes of elements by their position in the element, that is, it
 * transposes an [elements][bytes] matrix. Elements of 2, 4 and 8 bytes are transposed 16 at a time in
 * registers, by several rounds of interleaving, with the compiler's generic vectors. */
typedef uint8_t vec __attribute__((vector_size(16)));

static inline vec load(const uint8_t *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(uint8_t *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

static inline vec zip_low(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline vec zip_high(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

/* Does one perfect shuffle of the 16 n bytes of v, which rotates the log2(16 n) bits of each
 * byte's position left by one. */
static inline __attribute__((always_inline)) void riffle(vec *v, int n)
{
    vec out[8];
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; i++) {
        out[2 * i] = zip_low(v[i], v[i + n / 2]);
        out[2 * i + 1] = zip_high(v[i], v[i + n / 2]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
        v[i] = out[i];
}

/* The position of a byte in 16 elements of n bytes is element * n + byte. Rotating the position
 * left by the 4 bits of `element` makes `byte` the upper part; that is the shuffle. The inverse
 * rotates it by the log2(n) bits of `byte`. With constant n and unrolled loops, the vectors stay
 * in registers. */
static inline __attribute__((always_inline)) size_t shuffle16(const uint8_t *src, size_t n_elems,
                                                              uint8_t *dst, int n)
{
    size_t i = 0;
    for (; i + 16 <= n_elems; i += 16) {
        vec v[8];
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            v[k] = load(src + i * (size_t)n + 16 * (size_t)k);
#pragma GCC unroll 8
        for (int round = 0; round < 4; round++)
            riffle(v, n);
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            store(dst + (size_t)k * n_elems + i, v[k]);
    }
    return i;
}

static inline __attribute__((always_inline)) size_t unshuffle16(const uint8_t *src, size_t n_elems,
                                                                uint8_t *dst, int n)
{
    size_t i = 0;
    for (; i + 16 <= n_elems; i += 16) {
        vec v[8];
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            v[k] = load(src + (size_t)k * n_elems + i);
#pragma GCC unroll 8
        for (int round = 1; round < n; round *= 2)
            riffle(v, n);
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            store(dst + i * (size_t)n + 16 * (size_t)k, v[k]);
    }
    return i;
}

/* Moves whole blocks of 16 elements of 2, 4 or 8 bytes. Returns the number of elements moved. */
static size_t move_blocks(const uint8_t *src, size_t n_elems, size_t elem_bytes, uint8_t *dst,
                          bool back)
{
    switch (elem_bytes) {
    case 2:
        return back ? unshuffle16(src, n_elems, dst, 2) : shuffle16(src, n_elems, dst, 2);
    case 4:
        return back ? unshuffle16(src, n_elems, dst, 4) : shuffle16(src, n_elems, dst, 4);
    case 8:
        return back ? unshuffle16(src, n_elems, dst, 8) : shuffle16(src, n_elems, dst, 8);
    default:
        return 0;
    }
}

static void move(const uint8_t *s, size_t n, size_t elem_bytes, uint8_t *d, bool back)
{
    size_t n_elems = n / elem_bytes;
    if (n_elems <= 1 || elem_bytes == 1) {
        memcpy(d, s, n);
        return;
    }
    size_t done = move_blocks(s, n_elems, elem_bytes, d, back);
    for (size_t j = 0; j < elem_bytes; j++)
        for (size_t i = done; i < n_elems; i++) {
            size_t in_element = i * elem_bytes + j, in_plane = j * n_elems + i;
            d[back ? in_element : in_plane] = s[back ? in_plane : in_element];
        }
    memcpy(d + n_elems * elem_bytes, s + n_elems * elem_bytes, n % elem_bytes);
}

void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst)
{
    move(src, n, elem_bytes, dst, false);
}

void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst)
{
    move(src, n, elem_bytes, dst, true);
}

/* ---- filters ---- */

uint32_t cov_fletcher32(const void *data, size_t n)
{
    const uint8_t *p = data, *end = p + (n & ~(size_t)1);
    uint32_t sum1 = 0, sum2 = 0;
    while (p < end) {
        /* sum2 overflows after more than 360 words. */
        const uint8_t *stop = end - p > 720 ? p + 720 : end;
        for (; p < stop; p += 2) {
            sum1 += (uint32_t)p[0] << 8 | p[1];
            sum2 += sum1;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (n & 1) {
        sum1 += (uint32_t)*end << 8;
        sum2 += sum1;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}

/* The little-endian checksum follows the data. On some machines, HDF5 before 1.6.3 swapped the
 * bytes of each half of the checksum; HDF5's readers accept both orders. */
static int check_fletcher32(const uint8_t *src, size_t *n, struct cov_err *e)
{
    if (*n < 4)
        return cov_fail(e, COV_EINPUT, "fletcher32: truncated: %zu bytes", *n);
    *n -= 4;
    const uint8_t *p = src + *n;
    uint32_t stored = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    uint32_t sum = cov_fletcher32(src, *n);
    uint32_t swapped = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
    if (stored != sum && stored != swapped)
        return cov_fail(e, COV_EINPUT, "fletcher32: the checksum does not match");
    return COV_OK;
}

bool cov_codec_can_undo(const struct cov_filter *filters, size_t n_filters)
{
    size_t n_compressions = 0, n_checks = 0;
    for (size_t i = 0; i < n_filters; i++) {
        if (cov_codec_of_filter(filters[i].id))
            n_compressions++;
        else if (filters[i].id == COV_H5_FLETCHER32)
            n_checks++;
        else if (filters[i].id != COV_H5_SHUFFLE || filters[i].elem_bytes == 0 || i > 0)
            return false;
    }
    return n_compressions <= 1 && n_checks <= 1;
}

size_t cov_codec_undo_scratch(size_t n_dst)
{
    return n_dst <= SIZE_MAX - 4 ? n_dst + 4 : SIZE_MAX;
}

/* Returns the size that n_dst bytes have after filters[0..n), none of which compresses. */
static size_t size_after(const struct cov_filter *filters, size_t n, uint32_t mask, size_t n_dst)
{
    for (size_t i = 0; i < n; i++)
        if (filters[i].id == COV_H5_FLETCHER32 && !(mask >> i & 1))
            n_dst += 4;
    return n_dst;
}

int cov_codec_undo(struct cov_applied applied, const void *src, size_t n, void *dst, size_t n_dst,
                   void *scratch, struct cov_err *e)
{
    const struct cov_filter *filters = applied.filters;
    uint32_t mask = applied.mask;
    assert(cov_codec_can_undo(filters, applied.n_filters));
    /* Decompresses to scratch, or to dst if no filter is left to undo, and unshuffles to dst.
     * Removing a checksum needs no copy. */
    for (size_t i = applied.n_filters; i-- > 0;) {
        if (mask >> i & 1)
            continue;
        int rc = COV_OK;
        const struct cov_codec *codec = cov_codec_of_filter(filters[i].id);
        if (codec) {
            size_t size = size_after(filters, i, mask, n_dst);
            void *to = i == 0 ? dst : scratch;
            rc = codec->decode(src, n, to, size, e);
            src = to;
            n = size;
        } else if (filters[i].id == COV_H5_FLETCHER32) {
            rc = check_fletcher32(src, &n, e);
        } else if (n == n_dst) {
            cov_unshuffle(src, n, filters[i].elem_bytes, dst);
            src = dst;
        }
        if (rc)
            return rc;
    }
    if (n != n_dst)
        return cov_fail(e, COV_EINPUT, "the chunk has %zu bytes instead of %zu", n, n_dst);
    if (src != dst)
        memcpy(dst, src, n);
    return COV_OK;
}

/* ---- blobs ---- */

void cov_blob_clear(struct cov_blob *b)
{
    b->n_bytes = 0;
    b->n_pieces = 0;
}

void cov_blob_fini(struct cov_blob *b)
{
    free(b->data);
    free(b->ends);
    *b = (struct cov_blob)COV_BLOB_INIT;
}

int cov_blob_room(struct cov_blob *b, size_t n, uint8_t **at, struct cov_err *e)
{
    size_t need;
    if (cov_size_add(b->n_bytes, n, &need))
        return cov_fail(e, COV_ENOMEM, "out of memory: cannot add %zu bytes to %zu", n, b->n_bytes);
    int rc = COV_RESERVE(&b->data, &b->cap, need ? need : 1, e); /* *at is never NULL + 0 */
    if (rc)
        return rc;
    *at = b->data + b->n_bytes;
    return COV_OK;
}

int cov_blob_end_piece(struct cov_blob *b, size_t n, struct cov_err *e)
{
    assert(n <= b->cap - b->n_bytes);
    int rc = COV_RESERVE(&b->ends, &b->cap_pieces, b->n_pieces + 1, e);
    if (rc)
        return rc;
    b->n_bytes += n;
    b->ends[b->n_pieces++] = b->n_bytes;
    return COV_OK;
}

int cov_blob_copy_pieces(struct cov_blob *to, const struct cov_blob *from, size_t beg, size_t end,
                         struct cov_err *e)
{
    size_t first = beg > 0 ? from->ends[beg - 1] : 0,
           n = end > beg ? from->ends[end - 1] - first : 0;
    uint8_t *at = NULL;
    cov_blob_clear(to);
    int rc = cov_blob_room(to, n, &at, e);
    if (!rc && n > 0) {
        assert(at);
        memcpy(at, from->data + first, n);
    }
    for (size_t i = beg; !rc && i < end; i++) {
        (void)cov_blob_piece(from, i, &n);
        rc = cov_blob_end_piece(to, n, e);
    }
    return rc;
}

int cov_blob_copy(struct cov_blob *to, const struct cov_blob *from, struct cov_err *e)
{
    return cov_blob_copy_pieces(to, from, 0, from->n_pieces, e);
}

const uint8_t *cov_blob_piece(const struct cov_blob *b, size_t i, size_t *n_bytes)
{
    assert(i < b->n_pieces);
    size_t beg = i ? b->ends[i - 1] : 0;
    *n_bytes = b->ends[i] - beg;
    return b->data + beg;
}
