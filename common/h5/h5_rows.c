/* h5_rows.c - see h5_rows.h.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_rows.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/half.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

bool cov_h5_same_type(const struct cov_h5_type *a, const struct cov_h5_type *b)
{
    return a->kind == b->kind && a->bytes == b->bytes &&
           (a->kind != COV_H5_INT || a->is_signed == b->is_signed) &&
           (a->kind != COV_H5_STRING || a->padding == b->padding);
}

const char *cov_h5_type_text(const struct cov_h5_type *t, char text[COV_H5_TYPE_TEXT])
{
    const char *kind = t->kind == COV_H5_FLOAT ? "float" : t->is_signed ? "int" : "uint";
    if (t->kind == COV_H5_STRING)
        (void)snprintf(text, COV_H5_TYPE_TEXT, "S%zu", t->bytes);
    else if (t->kind == COV_H5_BOOL)
        (void)snprintf(text, COV_H5_TYPE_TEXT, "bool");
    else
        (void)snprintf(text, COV_H5_TYPE_TEXT, "%s%zu%s", kind, 8 * t->bytes,
                       t->big_endian ? " big-endian" : "");
    return text;
}

size_t cov_h5_n_pieces(const struct cov_h5_rows *rows, size_t col, size_t n_cols)
{
    if (!rows->chunked)
        return 1;
    size_t first = col / rows->chunk[2], last = (col + n_cols - 1) / rows->chunk[2];
    return ceil_div(rows->dims[1], rows->chunk[1]) * (last - first + 1);
}

/* The part of a chunk that belongs to the requested block. */
struct part {
    size_t first_row, n_rows; /* in the chunk */
    size_t pos, n_pos;        /* in the dataset; the chunk's first position is `pos`, too */
    size_t col, n_cols;       /* in the dataset */
};

/* Copies n runs of `bytes` bytes, src_step and dst_step bytes apart. */
static void copy_runs(const uint8_t *src, size_t src_step, uint8_t *dst, size_t dst_step,
                      size_t bytes, size_t n)
{
#define COPY(size)                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
    memcpy(dst + i * dst_step, src + i * src_step, size)
    if (bytes == src_step && bytes == dst_step)
        memcpy(dst, src, n * bytes);
    else if (bytes == 2)
        COPY(2);
    else if (bytes == 4)
        COPY(4);
    else if (bytes == 8)
        COPY(8);
    else
        COPY(bytes);
#undef COPY
}

static void copy_part(const struct cov_h5_rows *rows, struct cov_h5_block block,
                      const struct part *p, const uint8_t *chunk, uint8_t *dst)
{
    size_t size = rows->type.bytes;
    for (size_t r = 0; r < p->n_rows; r++) {
        size_t from =
            (p->first_row + r) * rows->chunk[1] * rows->chunk[2] + p->col % rows->chunk[2];
        size_t to = (r * rows->dims[1] + p->pos) * block.n_cols + p->col - block.col;
        copy_runs(chunk + from * size, rows->chunk[2] * size, dst + to * size, block.n_cols * size,
                  p->n_cols * size, p->n_pos);
    }
}

static void fill_part(const struct cov_h5_rows *rows, struct cov_h5_block block,
                      const struct part *p, uint8_t *dst)
{
    size_t size = rows->type.bytes;
    for (size_t r = 0; r < p->n_rows; r++)
        for (size_t t = 0; t < p->n_pos; t++)
            for (size_t k = 0; k < p->n_cols; k++) {
                size_t to =
                    (r * rows->dims[1] + p->pos + t) * block.n_cols + p->col + k - block.col;
                memcpy(dst + to * size, rows->fill, size);
            }
}

/* Undoes the filters of a stored chunk: decodes the n > 0 bytes of its piece to chunk[0..n_chunk). */
static int decode_piece(const struct cov_h5_rows *rows, const uint8_t *piece, size_t n,
                        uint8_t *chunk, size_t n_chunk, uint8_t *scratch, struct cov_err *e)
{
    assert(n >= COV_H5_PIECE_HEAD);
    uint32_t mask;
    memcpy(&mask, piece, sizeof mask);
    const struct cov_applied applied = {rows->filters, rows->n_filters, mask};
    return cov_codec_undo(applied, piece + COV_H5_PIECE_HEAD, n - COV_H5_PIECE_HEAD, chunk, n_chunk,
                          scratch, e);
}

int cov_h5_unpack(const struct cov_h5_rows *rows, struct cov_h5_block block, struct cov_blob *raw,
                  size_t first_piece, const uint8_t **elems, struct cov_err *e)
{
    const size_t *dims = rows->dims, *chunk = rows->chunk;
    size_t size = rows->type.bytes, block_bytes = block.n_rows * dims[1] * block.n_cols * size, n;
    if (!rows->chunked) {
        *elems = cov_blob_piece(raw, first_piece, &n);
        assert(n == block_bytes);
        return COV_OK;
    }
    assert(block.row / chunk[0] == (block.row + block.n_rows - 1) / chunk[0]);
    /* The space after the pieces holds the block; one decoded chunk, unless a chunk is the whole
     * block and is decoded in its place; and scratch. */
    bool whole = chunk[0] == block.n_rows && chunk[1] == dims[1] && chunk[2] == block.n_cols &&
                 block.row % chunk[0] == 0 && block.col % chunk[2] == 0;
    size_t chunk_bytes = chunk[0] * chunk[1] * chunk[2] * size;
    size_t scratch_bytes = rows->n_filters > 1 ? cov_codec_undo_scratch(chunk_bytes) : 0;
    uint8_t *dst;
    int rc = cov_blob_room(raw, block_bytes + (whole ? 0 : chunk_bytes) + scratch_bytes, &dst, e);
    if (rc)
        return rc;
    uint8_t *decoded = whole ? dst : dst + block_bytes, *scratch = decoded + chunk_bytes;
    size_t i = first_piece, end_col = block.col + block.n_cols;
    for (size_t pos = 0; pos < dims[1]; pos += chunk[1])
        for (size_t col = block.col, end; col < end_col; col = end) {
            end = smaller(col - col % chunk[2] + chunk[2], end_col);
            const struct part part = {.first_row = block.row % chunk[0],
                                      .n_rows = block.n_rows,
                                      .pos = pos,
                                      .n_pos = smaller(chunk[1], dims[1] - pos),
                                      .col = col,
                                      .n_cols = end - col};
            const uint8_t *piece = cov_blob_piece(raw, i++, &n);
            if (n == 0) {
                fill_part(rows, block, &part, dst);
                continue;
            }
            rc = decode_piece(rows, piece, n, decoded, chunk_bytes, scratch, e);
            if (rc)
                return rc;
            if (!whole)
                copy_part(rows, block, &part, decoded, dst);
        }
    *elems = dst;
    return COV_OK;
}

/* ---- numbers ---- */

/* Copies n elements of 2, 4 or 8 bytes to dst with swapped byte order. */
static void swap_bytes(const uint8_t *src, size_t bytes, size_t n, uint8_t *dst)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < bytes; j++)
            dst[i * bytes + j] = src[i * bytes + bytes - 1 - j];
}

#define FOREIGN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

#define CONVERT(source, convert)                                                                   \
    for (size_t i = 0; i < n; i++) {                                                               \
        source x;                                                                                  \
        memcpy(&x, p + i * sizeof x, sizeof x);                                                    \
        dst[i] = convert(x);                                                                       \
    }

void cov_h5_to_double(const struct cov_h5_type *type, const void *src, size_t n, double *dst)
{
    const uint8_t *p = src;
    if (type->big_endian == FOREIGN && type->bytes > 1) {
        struct cov_h5_type native = *type;
        native.big_endian = !native.big_endian;
        uint8_t swapped[2048];
        for (size_t i = 0, m; i < n; i += m) {
            m = smaller(n - i, sizeof swapped / type->bytes);
            swap_bytes(p + i * type->bytes, type->bytes, m, swapped);
            cov_h5_to_double(&native, swapped, m, dst + i);
        }
        return;
    }
    enum { F = 16, S = 32 };
    switch ((int)type->bytes | (type->kind == COV_H5_FLOAT ? F : type->is_signed ? S : 0)) {
    case F | 2:
        CONVERT(uint16_t, (double)cov_half_to_float);
        break;
    case F | 4:
        CONVERT(float, (double));
        break;
    case F | 8:
        CONVERT(double, (double));
        break;
    case S | 1:
        CONVERT(int8_t, (double));
        break;
    case S | 2:
        CONVERT(int16_t, (double));
        break;
    case S | 4:
        CONVERT(int32_t, (double));
        break;
    case S | 8:
        CONVERT(int64_t, (double));
        break;
    case 1:
        CONVERT(uint8_t, (double));
        break;
    case 2:
        CONVERT(uint16_t, (double));
        break;
    case 4:
        CONVERT(uint32_t, (double));
        break;
    case 8:
        CONVERT(uint64_t, (double));
        break;
    default:
        assert(!"a type that was checked earlier");
    }
}

enum { TILE = 1024, BITS = 24 };

/* Converts in tiles, so that it can stop early. Elements may be unaligned, in streams or in memory
 * from libraries, so these types have an alignment of 1. */
typedef uint64_t any_uint64 __attribute__((aligned(1), may_alias));
typedef uint32_t any_uint32 __attribute__((aligned(1), may_alias));

#define TAKE(source)                                                                               \
    for (size_t beg = 0; beg < n; beg += TILE) {                                                   \
        const source *x = (const source *)elems + beg;                                             \
        float *y = values + beg;                                                                   \
        size_t m = n - beg < TILE ? n - beg : TILE;                                                \
        source all = 0;                                                                            \
        for (size_t i = 0; i < m; i++) {                                                           \
            all |= x[i];                                                                           \
            y[i] = (float)(int32_t)x[i];                                                           \
        }                                                                                          \
        if (all >> BITS)                                                                           \
            return false;                                                                          \
    }

bool cov_h5_to_float(const struct cov_h5_type *type, const void *elems, size_t n, float *values)
{
    if (type->kind != COV_H5_INT || type->big_endian == FOREIGN)
        return false;
    if (type->bytes == sizeof(uint64_t)) {
        TAKE(any_uint64)
    } else if (type->bytes == sizeof(uint32_t)) {
        TAKE(any_uint32)
    } else {
        return false;
    }
    return true;
}

size_t cov_count_valid(const float *values, size_t n)
{
    size_t beg = 0;
    for (; n - beg >= TILE; beg += TILE) {
        int bad = 0;
        for (size_t i = beg; i < beg + TILE; i++)
            bad |= !(values[i] >= 0) | !(values[i] <= FLT_MAX);
        if (bad)
            break;
    }
    while (beg < n && values[beg] >= 0 && values[beg] <= FLT_MAX)
        beg++;
    return beg;
}

/* Holds all integers of 64 bits, with and without a sign. */
__extension__ typedef __int128 integer;

static integer load_integer(const struct cov_h5_type *t, const uint8_t *p)
{
    assert(t->bytes >= 1 && t->bytes <= 8);
    uint64_t x = 0;
    const size_t unused = 64 - 8 * t->bytes;
    for (size_t j = 0; j < t->bytes; j++)
        x = x << 8 | p[t->big_endian ? j : t->bytes - 1 - j];
    return t->is_signed ? (integer)((int64_t)(x << unused) >> unused) : (integer)x;
}

/* Stores the low bytes of x, little-endian. */
static void store(uint8_t *p, size_t bytes, uint64_t x)
{
    for (size_t k = 0; k < bytes; k++)
        p[k] = (uint8_t)(x >> (8 * k));
}

/* These return false if the type cannot hold the number exactly. */
static bool store_integer(const struct cov_h5_type *t, integer x, uint8_t *p)
{
    assert(t->bytes >= 1 && t->bytes <= 8);
    const integer end = (integer)1 << (8 * t->bytes - t->is_signed);
    store(p, t->bytes, (uint64_t)x);
    return x >= (t->is_signed ? -end : 0) && x < end;
}

static bool store_double(const struct cov_h5_type *t, double v, uint8_t *p)
{
    uint64_t wide;
    uint32_t narrow;
    const float f = (float)v;
    memcpy(&wide, &v, sizeof wide);
    memcpy(&narrow, &f, sizeof narrow);
    store(p, t->bytes, t->bytes == sizeof v ? wide : narrow);
    return t->bytes == sizeof v || (double)f == v || isnan(v);
}

int cov_h5_to_int64(const struct cov_h5_type *type, const void *src, size_t n, int64_t *dst,
                    struct cov_err *e)
{
    assert(type->kind == COV_H5_INT || type->kind == COV_H5_BOOL);
    const uint8_t *p = src;
    if (type->big_endian != FOREIGN && type->is_signed) {
        switch (type->bytes) { /* the types of nearly all files */
        case 2:
            CONVERT(int16_t, (int64_t));
            return COV_OK;
        case 4:
            CONVERT(int32_t, (int64_t));
            return COV_OK;
        case 8:
            memcpy(dst, p, n * sizeof *dst);
            return COV_OK;
        default:
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        integer x = load_integer(type, p + i * type->bytes);
        if (x > INT64_MAX)
            return cov_fail(e, COV_EINPUT, "%llu is too large", (unsigned long long)x);
        dst[i] = (int64_t)x;
    }
    return COV_OK;
}

static bool convert(const struct cov_h5_type *from, const uint8_t *src,
                    const struct cov_h5_type *to, uint8_t *dst)
{
    if (from->kind == COV_H5_INT) {
        const integer x = load_integer(from, src);
        const double v = (double)x;
        return to->kind == COV_H5_INT ? store_integer(to, x, dst)
                                      : (integer)v == x && store_double(to, v, dst);
    }
    double v;
    cov_h5_to_double(from, src, 1, &v);
    if (to->kind == COV_H5_FLOAT)
        return store_double(to, v, dst);
    return fabs(v) <= 0x1p64 && v == trunc(v) && store_integer(to, (integer)v, dst);
}

size_t cov_h5_retype(const struct cov_h5_type *from, const void *src, size_t n,
                     const struct cov_h5_type *to, void *dst)
{
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t i = 0;
    while (i < n && convert(from, s + i * from->bytes, to, d + i * to->bytes))
        i++;
    return i;
}

void cov_h5_print_element(const struct cov_h5_type *type, const void *src, char *text, size_t size)
{
    if (type->kind == COV_H5_INT) {
        const integer x = load_integer(type, src);
        if (x < 0)
            (void)snprintf(text, size, "%" PRId64, (int64_t)x);
        else
            (void)snprintf(text, size, "%" PRIu64, (uint64_t)x);
        return;
    }
    double v;
    cov_h5_to_double(type, src, 1, &v);
    (void)snprintf(text, size, "%.9g", v);
}

size_t cov_h5_string_length(const struct cov_h5_type *type, const char *text)
{
    size_t n = type->bytes;
    if (type->padding == '\0')
        return strnlen(text, n);
    while (n > 0 && text[n - 1] == type->padding)
        n--;
    return n;
}

/* ---- packing ---- */

size_t cov_h5_filters(struct cov_codec_choice choice, size_t elem_bytes,
                      struct cov_filter filters[3])
{
    const struct cov_codec *codec = cov_codecs[choice.id];
    size_t n = 0;
    if (!codec->h5_id)
        return 0;
    if (elem_bytes > 0 && !codec->shuffles)
        filters[n++] = (struct cov_filter){COV_H5_SHUFFLE, elem_bytes, 0};
    filters[n] = (struct cov_filter){codec->h5_id, n > 0 ? 0 : elem_bytes, choice.level};
    return n + 1;
}

/* The space past the end of the blob holds the mask, the compressed bytes, the chunk and the
 * scratch, in this order. */
int cov_h5_pack_begin(struct cov_codec_choice choice, size_t n, struct cov_blob *b, uint8_t **src,
                      uint8_t **scratch, struct cov_err *e)
{
    assert(n <= COV_H5_MAX_BYTES);
    size_t bound = cov_codec_bound(choice, n);
    uint8_t *at;
    int rc = cov_blob_room(b, COV_H5_PIECE_HEAD + bound + 2 * n, &at, e);
    if (rc)
        return rc;
    *src = at + COV_H5_PIECE_HEAD + bound;
    *scratch = *src + n;
    return COV_OK;
}

int cov_h5_pack_end(struct cov_codec_choice choice, const struct cov_filter *filters,
                    size_t n_filters, size_t n, struct cov_blob *b, struct cov_err *e)
{
    size_t last = n_filters > 0 ? n_filters - 1 : 0;
    size_t elem_bytes = n_filters > 0 ? filters[last].elem_bytes : 0;
    size_t bound = cov_codec_bound(choice, n), n_packed;
    uint8_t *at = b->data + b->n_bytes;
    const uint8_t *src = at + COV_H5_PIECE_HEAD + bound;
    uint32_t mask = 0;
    int rc = cov_codec_encode(choice, elem_bytes, src, n, at + COV_H5_PIECE_HEAD, &n_packed, e);
    if (rc)
        return rc;
    if (n_packed == 0) {
        mask = (uint32_t)1 << last;
        memcpy(at + COV_H5_PIECE_HEAD, src, n);
        n_packed = n;
    }
    memcpy(at, &mask, sizeof mask);
    return cov_blob_end_piece(b, COV_H5_PIECE_HEAD + n_packed, e);
}
