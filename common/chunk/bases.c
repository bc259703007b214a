/* bases.c - see bases.h.
 *
 * A base in X has four 2-byte floats, one for each of the columns C, A, T and G. A shuffled chunk
 * has two planes, one of all low bytes and one of all high bytes, so each plane holds one 32-bit
 * word per base. A table of 16 entries converts between codes and these words directly; no
 * unshuffled array is needed. Two of the compressions do not even need the words (onehot_deflate.h).
 * SPDX-License-Identifier: MIT */
#include "common/chunk/bases.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/chunk/chunk_table.h"
#include "common/deflate/onehot_deflate.h"
#include "common/seq/alphabet.h"

/* Bytes of a one-hot base, and the level declared in Helixer's files. */
enum { ROW_BYTES = 8, DECLARED_LEVEL = 4 };

#define ONEHOT "data/X"
#define PACKED "data/X_packed"
#define LENGTH "subsequence_length"

/* Longer one-hot chunks exceed COV_H5_MAX_BYTES; packed ones have the same limit. */
#define MAX_LENGTH (COV_H5_MAX_BYTES / ROW_BYTES)

/* The two words of a code. Byte k of each (0 is the lowest) belongs to column k. */
struct words {
    uint32_t low[16], high[16];
};

static void make_words(struct words *w)
{
    memset(w, 0, sizeof *w);
    for (int code = 0; code < 16; code++)
        for (int k = 0; k < 4; k++) {
            w->low[code] |= (uint32_t)(cov_onehot_f16[code][k] & 0xff) << 8 * k;
            w->high[code] |= (uint32_t)(cov_onehot_f16[code][k] >> 8) << 8 * k;
        }
}

static inline uint32_t load32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

/* ---- reading ---- */

struct cov_bases {
    struct cov_h5_set *set;
    const struct cov_h5_rows *rows; /* rows of the set */
    const char *path;               /* path of the file */
    enum cov_layout layout;
    size_t L;
    struct words words;
};

static int open_onehot(struct cov_h5 *f, struct cov_bases *b, struct cov_err *e)
{
    int rc = cov_h5_set_open(f, ONEHOT, 3, &b->set, e);
    if (rc)
        return rc;
    b->rows = cov_h5_set_rows(b->set);
    b->L = b->rows->dims[1];
    if (b->rows->type.kind != COV_H5_FLOAT)
        return cov_fail(e, COV_EINPUT, "%s: data/X: the elements are not floats", b->path);
    if (b->rows->dims[2] != 4)
        return cov_fail(e, COV_EINPUT, "%s: data/X: %zu columns instead of 4 (C, A, T, G)", b->path,
                        b->rows->dims[2]);
    return COV_OK;
}

static int read_length(struct cov_h5 *f, struct cov_bases *b, struct cov_err *e)
{
    struct cov_h5_attr *attrs;
    size_t n;
    int64_t length = -1;
    int rc = cov_h5_list_attrs(f, PACKED, &attrs, &n, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (attrs[i].is_int && strcmp(attrs[i].name, LENGTH) == 0)
            length = attrs[i].value;
    cov_h5_free_attrs(attrs, n);
    size_t bytes = b->rows->dims[1];
    if (length <= 0 || (uint64_t)length > MAX_LENGTH || ((size_t)length + 1) / 2 != bytes)
        return cov_fail(e, COV_EINPUT,
                        "%s: " PACKED ": rows of %zu bytes, but the attribute " LENGTH
                        " is missing or wrong (%lld)",
                        b->path, bytes, (long long)length);
    b->L = (size_t)length;
    return COV_OK;
}

static int open_packed(struct cov_h5 *f, struct cov_bases *b, struct cov_err *e)
{
    int rc = cov_h5_set_open(f, PACKED, 2, &b->set, e);
    if (rc)
        return rc;
    b->rows = cov_h5_set_rows(b->set);
    if (b->rows->type.kind != COV_H5_INT || b->rows->type.bytes != 1)
        return cov_fail(e, COV_EINPUT, "%s: " PACKED ": the elements are not bytes", b->path);
    return read_length(f, b, e);
}

int cov_bases_open(struct cov_h5 *f, struct cov_bases **out, struct cov_err *e)
{
    *out = NULL;
    int packed = cov_h5_has(f, PACKED, e), onehot = packed < 0 ? packed : cov_h5_has(f, ONEHOT, e);
    if (onehot < 0)
        return onehot;
    if (packed && onehot)
        return cov_fail(e, COV_EINPUT, "%s: both " ONEHOT " and " PACKED " are present",
                        cov_h5_path(f));
    struct cov_bases *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    make_words(&b->words);
    b->path = cov_h5_path(f);
    b->layout = packed ? COV_LAYOUT_PACKED : COV_LAYOUT_ONEHOT;
    int rc = packed ? open_packed(f, b, e) : open_onehot(f, b, e);
    if (rc) {
        cov_bases_close(b);
        return rc;
    }
    *out = b;
    return COV_OK;
}

void cov_bases_close(struct cov_bases *b)
{
    if (!b)
        return;
    cov_h5_set_close(b->set);
    free(b);
}

int cov_bases_are_in(const struct cov_h5 *f, struct cov_err *e)
{
    int onehot = cov_h5_has(f, ONEHOT, e);
    return onehot ? onehot : cov_h5_has(f, PACKED, e);
}

size_t cov_bases_n_rows(const struct cov_bases *b)
{
    return b->rows->dims[0];
}

size_t cov_bases_length(const struct cov_bases *b)
{
    return b->L;
}

const char *cov_bases_name(const struct cov_bases *b)
{
    return b->layout == COV_LAYOUT_PACKED ? PACKED : ONEHOT;
}

size_t cov_bases_n_pieces(const struct cov_bases *b)
{
    return cov_h5_n_pieces(b->rows, 0, b->rows->dims[2]);
}

int cov_bases_fetch(struct cov_bases *b, size_t row, struct cov_blob *raw, struct cov_err *e)
{
    return cov_h5_set_fetch(b->set, row, 0, b->rows->dims[2], raw, e);
}

/* Returns the code whose row has exactly these words, or COV_CODE_BAD. */
static inline uint8_t code_of_words(const struct words *w, uint32_t low, uint32_t high)
{
    /* The index has a bit for each nonzero column: bit 0 is C, 1 is A, 2 is T, 3 is G. */
    static const uint8_t code_of_columns[16] = {0, 2, 1, 3, 8,  10, 9,  11,
                                                4, 6, 5, 7, 12, 14, 13, 15};
    /* The high bytes of 1, 0.5, 0.33 and 0.25 share bit 0x20; the product moves these four bits to
     * bits 26 to 29. */
    uint8_t code = code_of_columns[(high & 0x20202020) * 0x00204081U >> 26 & 15];
    return w->low[code] == low && w->high[code] == high ? code : COV_CODE_BAD;
}

/* An inexact base may still be within the tolerance. */
static uint8_t code_of_halves(uint32_t low, uint32_t high)
{
    uint16_t v[4];
    for (int k = 0; k < 4; k++)
        v[k] = (uint16_t)((low >> 8 * k & 0xff) | (high >> 8 * k & 0xff) << 8);
    return cov_code_from_onehot_f16(v);
}

static void decode_planes(const struct words *w, const uint8_t *planes, size_t L, uint8_t *codes)
{
    const uint8_t *low = planes, *high = planes + 4 * L;
    for (size_t t = 0; t < L; t++)
        codes[t] = code_of_words(w, load32(low + 4 * t), load32(high + 4 * t));
    for (const uint8_t *bad = codes; (bad = memchr(bad, COV_CODE_BAD, L - (size_t)(bad - codes)));
         bad++) {
        size_t t = (size_t)(bad - codes);
        codes[t] = code_of_halves(load32(low + 4 * t), load32(high + 4 * t));
    }
}

/* Returns the word of bytes 0, 2, 4 and 6 of x. */
static inline uint32_t even_bytes(uint64_t x)
{
    x &= 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    return (uint32_t)(x | x >> 16);
}

/* A base has four little-endian halves: the even bytes are the low ones, the odd bytes the high
 * ones. */
static void decode_halves(const struct words *w, const uint8_t *row, size_t L, uint8_t *codes)
{
    for (size_t t = 0; t < L; t++) {
        uint64_t x = load32(row + 8 * t) | (uint64_t)load32(row + 8 * t + 4) << 32;
        uint32_t low = even_bytes(x), high = even_bytes(x >> 8);
        uint8_t code = code_of_words(w, low, high);
        codes[t] = code != COV_CODE_BAD ? code : code_of_halves(low, high);
    }
}

static void decode_floats(const struct cov_h5_type *type, const uint8_t *row, size_t L,
                          uint8_t *codes)
{
    enum { TILE = 128 };
    double wide[4 * TILE];
    for (size_t beg = 0; beg < L; beg += TILE) {
        size_t n = L - beg < TILE ? L - beg : TILE;
        cov_h5_to_double(type, row + 4 * beg * type->bytes, 4 * n, wide);
        for (size_t t = 0; t < n; t++) {
            float v[4];
            for (int k = 0; k < 4; k++)
                v[k] = (float)wide[4 * t + k];
            codes[beg + t] = cov_code_from_onehot(v);
        }
    }
}

/* Returns true if a one-hot row is stored as a single piece that decompresses to the two planes. */
static bool has_planes(const struct cov_h5_rows *r, const struct cov_blob *raw, size_t piece)
{
    if (!r->chunked || r->type.bytes != 2 || r->type.big_endian || r->chunk[0] != 1 ||
        r->chunk[1] != r->dims[1] || r->chunk[2] != 4 || r->n_filters == 0 ||
        r->filters[0].id != COV_H5_SHUFFLE || r->filters[0].elem_bytes != 2)
        return false;
    size_t n;
    const uint8_t *stored = cov_blob_piece(raw, piece, &n);
    uint32_t mask = 0;
    if (n >= sizeof mask)
        memcpy(&mask, stored, sizeof mask);
    return n > 0 && !(mask & 1);
}

static int unpack_planes(const struct cov_h5_rows *r, struct cov_blob *raw, size_t piece,
                         const uint8_t **planes, struct cov_err *e)
{
    size_t bytes = ROW_BYTES * r->dims[1], n;
    uint8_t *dst;
    int rc = cov_blob_room(raw, bytes + cov_codec_undo_scratch(bytes), &dst, e);
    if (rc)
        return rc;
    const uint8_t *stored = cov_blob_piece(raw, piece, &n);
    uint32_t mask;
    memcpy(&mask, stored, sizeof mask);
    *planes = dst;
    const struct cov_applied applied = {r->filters + 1, r->n_filters - 1, mask >> 1};
    return cov_codec_undo(applied, stored + COV_H5_PIECE_HEAD, n - COV_H5_PIECE_HEAD, dst, bytes,
                          dst + bytes, e);
}

static int decode_onehot(const struct cov_bases *b, size_t row, struct cov_blob *raw, size_t piece,
                         uint8_t *codes, struct cov_err *e)
{
    const struct cov_h5_type *type = &b->rows->type;
    const uint8_t *elems = NULL;
    if (has_planes(b->rows, raw, piece)) {
        int rc = unpack_planes(b->rows, raw, piece, &elems, e);
        if (!rc)
            decode_planes(&b->words, elems, b->L, codes);
        return rc;
    }
    int rc = cov_h5_unpack(b->rows, (struct cov_h5_block){row, 1, 0, 4}, raw, piece, &elems, e);
    if (rc)
        return rc;
    if (type->bytes == 2 && !type->big_endian)
        decode_halves(&b->words, elems, b->L, codes);
    else
        decode_floats(type, elems, b->L, codes);
    return COV_OK;
}

static int decode_packed(const struct cov_bases *b, size_t row, struct cov_blob *raw, size_t piece,
                         uint8_t *codes, struct cov_err *e)
{
    const uint8_t *packed = NULL;
    int rc = cov_h5_unpack(b->rows, (struct cov_h5_block){row, 1, 0, 1}, raw, piece, &packed, e);
    if (rc)
        return rc;
    cov_codes_unpack(packed, 0, b->L, codes);
    return COV_OK;
}

/* Fails with a message that names the row and the 0-based index in it. */
static int fail_position(const struct cov_bases *b, const struct cov_grid *grid, size_t row,
                         size_t t, const char *what, struct cov_err *e)
{
    char text[COV_ROW_TEXT_BYTES];
    return cov_fail(e, COV_EINPUT, "%s: %s: %s, index %zu: %s", b->path, cov_bases_name(b),
                    cov_row_text(grid, row, text), t, what);
}

int cov_bases_decode(const struct cov_bases *b, const struct cov_grid *grid, size_t row,
                     struct cov_blob *raw, size_t first_piece, uint8_t *codes, struct cov_err *e)
{
    bool packed = b->layout == COV_LAYOUT_PACKED;
    int rc = packed ? decode_packed(b, row, raw, first_piece, codes, e)
                    : decode_onehot(b, row, raw, first_piece, codes, e);
    if (rc) {
        char text[COV_ROW_TEXT_BYTES];
        return cov_err_prefix(e, rc, "%s: %s: %s", b->path, cov_bases_name(b),
                              cov_row_text(grid, row, text));
    }
    struct cov_chunk c = cov_grid_chunk(grid, row);
    size_t length = (size_t)(c.end - c.beg);
    const uint8_t *bad = memchr(codes, COV_CODE_BAD, b->L);
    if (bad)
        return fail_position(b, grid, row, (size_t)(bad - codes), "the four values are not a base",
                             e);
    bad = memchr(codes, COV_CODE_PAD, length);
    if (bad)
        return fail_position(b, grid, row, (size_t)(bad - codes),
                             packed ? "padding, but data/start_ends has a base there"
                                    : "all values are 0 (padding), but data/start_ends has a base "
                                      "there",
                             e);
    for (size_t t = length; t < b->L; t++)
        if (codes[t] != COV_CODE_PAD)
            return fail_position(b, grid, row, t, "a base past the end that data/start_ends gives",
                                 e);
    return COV_OK;
}

/* ---- writing ---- */

struct cov_bases_writer {
    struct cov_h5_set *set;
    enum cov_layout layout;
    struct cov_codec_choice compression;
    struct cov_filter filters[3];
    size_t n_filters;
    size_t L, chunk_rows;
    size_t chunk_bytes; /* uncompressed */
    struct words words;
};

static int create_set(struct cov_h5 *f, struct cov_bases_writer *w, struct cov_err *e)
{
    bool packed = w->layout == COV_LAYOUT_PACKED;
    size_t row = packed ? (w->L + 1) / 2 : ROW_BYTES * w->L;
    if (w->L > MAX_LENGTH || cov_size_mul(row, w->chunk_rows, &w->chunk_bytes) ||
        w->chunk_bytes > COV_H5_MAX_BYTES)
        return cov_fail(e, COV_EINPUT,
                        "subsequences of %zu bases, %zu per chunk, are too long for a genome file",
                        w->L, w->chunk_rows);
    struct cov_h5_new spec = {
        .type = {COV_H5_FLOAT, 2, true, false, '\0'},
        .rank = 3,
        .dims = {0, w->L, 4},
        .unlimited = {true, false, false},
        .chunk = {w->chunk_rows, w->L, 4},
        .deflate_level = DECLARED_LEVEL,
    };
    if (packed) {
        spec.type = (struct cov_h5_type){COV_H5_INT, 1, false, false, '\0'};
        spec.rank = 2;
        spec.dims[1] = spec.chunk[1] = row;
        spec.dims[2] = spec.chunk[2] = 1;
    }
    spec.n_filters = cov_h5_filters(w->compression, packed ? 0 : 2, spec.filters);
    memcpy(w->filters, spec.filters, sizeof w->filters);
    w->n_filters = spec.n_filters;
    int rc = cov_h5_set_create(f, packed ? PACKED : ONEHOT, &spec, &w->set, e);
    return rc || !packed ? rc : cov_h5_write_attr_int(f, PACKED, LENGTH, (int64_t)w->L, e);
}

int cov_bases_create(struct cov_h5 *f, enum cov_layout layout, size_t L, size_t chunk_rows,
                     struct cov_codec_choice compression, struct cov_bases_writer **out,
                     struct cov_err *e)
{
    *out = NULL;
    struct cov_bases_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    make_words(&w->words);
    w->layout = layout;
    w->compression = compression;
    w->L = L;
    w->chunk_rows = chunk_rows;
    int rc = create_set(f, w, e);
    if (rc) {
        cov_bases_writer_close(w);
        return rc;
    }
    *out = w;
    return COV_OK;
}

void cov_bases_writer_close(struct cov_bases_writer *w)
{
    if (!w)
        return;
    cov_h5_set_close(w->set);
    free(w);
}

/* Returns true if pieces can be encoded straight from codes, and sets *effort to the effort to
 * use. */
static bool is_by_codes(const struct cov_bases_writer *w, enum cov_onehot_effort *effort)
{
    bool fast = w->compression.id == COV_CODEC_FAST;
    *effort = fast ? COV_ONEHOT_FAST : COV_ONEHOT_SMALL;
    return w->layout == COV_LAYOUT_ONEHOT && (fast || w->compression.id == COV_CODEC_GZIP);
}

/* Ends a piece that consists of the head at `at` and n bytes after it. */
static int end_stream(struct cov_blob *out, uint8_t *at, size_t n, struct cov_err *e)
{
    const uint32_t mask = 0;
    memcpy(at, &mask, sizeof mask);
    return cov_blob_end_piece(out, COV_H5_PIECE_HEAD + n, e);
}

/* Tries to encode the piece of a chunk straight from its codes. Several rows are joined into one
 * long row. The encoder rejects padding inside that row, but such padding is rare. */
static int encode_by_codes(const struct cov_bases_writer *w, size_t n_rows,
                           const uint8_t *const *codes, struct cov_blob *out, bool *done,
                           struct cov_err *e)
{
    size_t n_codes = w->L * w->chunk_rows, bound = cov_onehot_bound(n_codes), n;
    bool joined = w->chunk_rows > 1;
    enum cov_onehot_effort effort;
    uint8_t *at;
    *done = false;
    if (!is_by_codes(w, &effort))
        return COV_OK;
    int rc = cov_blob_room(out, COV_H5_PIECE_HEAD + bound + (joined ? n_codes : 0), &at, e);
    if (rc)
        return rc;
    const uint8_t *all = codes[0];
    if (joined) {
        uint8_t *to = at + COV_H5_PIECE_HEAD + bound;
        memset(to, COV_CODE_PAD, n_codes);
        for (size_t r = 0; r < n_rows; r++)
            memcpy(to + r * w->L, codes[r], w->L);
        all = to;
    }
    *done = cov_onehot_encode(effort, all, n_codes, at + COV_H5_PIECE_HEAD, bound, &n);
    return *done ? end_stream(out, at, n, e) : COV_OK;
}

/* Computes the two planes of one row. */
static void put_planes(const struct words *w, const uint8_t *codes, size_t L, uint8_t *low,
                       uint8_t *high)
{
    for (size_t t = 0; t < L; t++) {
        store32(low + 4 * t, w->low[codes[t]]);
        store32(high + 4 * t, w->high[codes[t]]);
    }
}

static void put_halves(const uint8_t *codes, size_t L, uint8_t *dst)
{
    for (size_t t = 0; t < L; t++)
        for (size_t k = 0; k < 4; k++) {
            uint16_t half = cov_onehot_f16[codes[t]][k];
            dst[8 * t + 2 * k] = (uint8_t)half;
            dst[8 * t + 2 * k + 1] = (uint8_t)(half >> 8);
        }
}

int cov_bases_encode(const struct cov_bases_writer *w, size_t n_rows, const uint8_t *const *codes,
                     struct cov_blob *out, struct cov_err *e)
{
    size_t L = w->L, bytes = w->chunk_bytes;
    bool done;
    uint8_t *src, *scratch;
    int rc = encode_by_codes(w, n_rows, codes, out, &done, e);
    if (rc || done)
        return rc;
    rc = cov_h5_pack_begin(w->compression, bytes, out, &src, &scratch, e);
    if (rc)
        return rc;
    if (n_rows < w->chunk_rows)
        memset(src, 0, bytes);
    for (size_t r = 0; r < n_rows; r++)
        if (w->layout == COV_LAYOUT_PACKED)
            cov_codes_pack(codes[r], L, src + r * ((L + 1) / 2));
        else if (w->n_filters > 1)
            put_planes(&w->words, codes[r], L, src + 4 * L * r, src + bytes / 2 + 4 * L * r);
        else
            put_halves(codes[r], L, src + ROW_BYTES * L * r);
    return cov_h5_pack_end(w->compression, w->filters, w->n_filters, bytes, out, e);
}

/* Sets *done to whether both strands were encoded straight from the codes. */
static int encode_both_by_codes(const struct cov_bases_writer *w,
                                const struct cov_both_strands *both, bool *done, struct cov_err *e)
{
    size_t bound = cov_onehot_bound(w->L), n_out[2];
    uint8_t *at[2];
    void *dst[2];
    enum cov_onehot_effort effort;
    int rc = COV_OK;
    *done = false;
    if (!is_by_codes(w, &effort) || effort != COV_ONEHOT_SMALL)
        return COV_OK;
    for (int k = COV_PLUS; !rc && k <= COV_MINUS; k++) {
        rc = cov_blob_room(&both->out[k], COV_H5_PIECE_HEAD + bound, &at[k], e);
        dst[k] = rc ? NULL : at[k] + COV_H5_PIECE_HEAD;
    }
    if (rc || !cov_onehot_encode_both(both->codes, both->n, w->L, both->scratch, dst, bound, n_out))
        return rc;
    *done = true;
    for (int k = COV_PLUS; !rc && k <= COV_MINUS; k++)
        rc = end_stream(&both->out[k], at[k], n_out[k], e);
    return rc;
}

int cov_bases_encode_both(const struct cov_bases_writer *w, const struct cov_both_strands *both,
                          struct cov_err *e)
{
    const uint8_t *other = both->scratch;
    bool done;
    assert(w->chunk_rows == 1);
    cov_blob_clear(&both->out[COV_PLUS]);
    cov_blob_clear(&both->out[COV_MINUS]);
    int rc = encode_both_by_codes(w, both, &done, e);
    if (rc || done)
        return rc;
    cov_codes_other_strand(both->codes, both->n, both->scratch);
    memset(both->scratch + both->n, COV_CODE_PAD, w->L - both->n);
    rc = cov_bases_encode(w, 1, &both->codes, &both->out[COV_PLUS], e);
    return rc ? rc : cov_bases_encode(w, 1, &other, &both->out[COV_MINUS], e);
}

int cov_bases_put(struct cov_bases_writer *w, size_t row, const struct cov_blob *blob, size_t piece,
                  struct cov_err *e)
{
    size_t n;
    const uint8_t *stored = cov_blob_piece(blob, piece, &n);
    return cov_h5_set_put(w->set, (size_t[3]){row, 0, 0}, stored, n, e);
}

int cov_bases_resize(struct cov_bases_writer *w, size_t n_rows, struct cov_err *e)
{
    return cov_h5_set_resize(w->set, n_rows, e);
}

/* ---- fingerprints ---- */

int cov_bases_fingerprints_read(struct cov_h5 *f, size_t n, uint64_t **out, struct cov_err *e)
{
    struct cov_h5_set *set;
    *out = NULL;
    int rc = cov_h5_set_find(f, COV_BASES_FINGERPRINT_SET, 1, &set, e);
    if (!set)
        return rc;
    const struct cov_h5_rows *rows = cov_h5_set_rows(set);
    if (rows->dims[0] != n || rows->type.kind != COV_H5_INT || rows->type.bytes != sizeof **out)
        rc = cov_fail(e, COV_EINPUT, "%s: %s: not %zu numbers of 8 bytes", cov_h5_path(f),
                      COV_BASES_FINGERPRINT_SET, n);
    if (!rc) {
        *out = cov_calloc(n + 1, sizeof **out, e);
        rc = *out ? cov_h5_set_read(set, 0, n, 0, 1, *out, e) : COV_ENOMEM;
    }
    for (size_t i = 0; !rc && i < n; i++)
        (*out)[i] = rows->type.big_endian ? be64toh((*out)[i]) : le64toh((*out)[i]);
    cov_h5_set_close(set);
    if (rc) {
        free(*out);
        *out = NULL;
    }
    return rc;
}
