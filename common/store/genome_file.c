/* genome_file.c - see genome_file.h.
 *
 * A row of X has eight bytes: four halves in the columns C, A, T, G. Shuffled, a chunk is a plane
 * of all low bytes and a plane of all high bytes, so a row is one 32-bit word of each. Both ways
 * between codes and such words go by a table of 16, without the unshuffled array in between. For
 * two of the compressions even the words need not be made (onehot.h).
 * SPDX-License-Identifier: MIT */
#include "common/store/genome_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/mem.h"
#include "common/base/tool.h"
#include "common/codec/onehot.h"
#include "common/seq/alphabet.h"
#include "common/store/chunk_table.h"
#include "common/store/h5.h"

/* Bytes of a row, of its species in the file, and the level that Helixer's files declare. */
enum { ROW_BYTES = 8, SPECIES_BYTES = 25, DECLARED_LEVEL = 4 };

/* The words of a code: byte k, counted from the lowest, of `low` and `high` belongs to column k. */
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

struct cov_genome_file {
    struct cov_h5 *h5;
    struct cov_h5_set *x;
    struct cov_grid *grid;
    struct words words;
    char *path;
};

static int open_parts(struct cov_genome_file *f, struct cov_err *e)
{
    int rc = cov_h5_open(f->path, &f->h5, e);
    if (rc)
        return rc;
    if (!cov_h5_has(f->h5, "data/X") && cov_h5_has(f->h5, "prediction/predictions"))
        return cov_fail(e, COV_EINPUT,
                        "%s: this is a predictions file; a genome file with data/X is needed",
                        f->path);
    rc = cov_h5_set_open(f->h5, "data/X", 3, &f->x, e);
    if (rc)
        return rc;
    const struct cov_h5_rows *r = cov_h5_set_rows(f->x);
    if (r->type.kind != COV_H5_FLOAT)
        return cov_fail(e, COV_EINPUT, "%s: data/X: the elements are not of a float type", f->path);
    if (r->dims[2] != 4)
        return cov_fail(e, COV_EINPUT, "%s: data/X: %zu columns instead of 4 (C, A, T, G)", f->path,
                        r->dims[2]);
    return cov_chunk_table_read(f->h5, r->dims[0], r->dims[1], &f->grid, e);
}

int cov_genome_file_open(const char *path, struct cov_genome_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_genome_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    make_words(&f->words);
    f->path = cov_strdup(path, e);
    int rc = f->path ? open_parts(f, e) : COV_ENOMEM;
    if (rc) {
        cov_genome_file_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_genome_file_close(struct cov_genome_file *f)
{
    if (!f)
        return;
    cov_grid_free(f->grid);
    cov_h5_set_close(f->x);
    cov_h5_close(f->h5);
    free(f->path);
    free(f);
}

const struct cov_grid *cov_genome_file_grid(const struct cov_genome_file *f)
{
    return f->grid;
}

int cov_genome_file_fetch(struct cov_genome_file *f, size_t i, struct cov_blob *raw,
                          struct cov_err *e)
{
    cov_blob_clear(raw);
    return cov_h5_set_fetch(f->x, i, 0, 4, raw, e);
}

/* The code whose row has exactly these words, or COV_CODE_BAD. */
static inline uint8_t code_of_words(const struct words *w, uint32_t low, uint32_t high)
{
    /* By the columns that are not zero: bit 0 is C, 1 is A, 2 is T, 3 is G. */
    static const uint8_t code_of_columns[16] = {0, 2, 1, 3, 8,  10, 9,  11,
                                                4, 6, 5, 7, 12, 14, 13, 15};
    /* The high bytes of 1, 0.5, 0.33 and 0.25 have 0x20 in common; the product brings these bits of
     * the four bytes to bits 26 to 29. */
    uint8_t code = code_of_columns[(high & 0x20202020) * 0x00204081U >> 26 & 15];
    return w->low[code] == low && w->high[code] == high ? code : COV_CODE_BAD;
}

/* What is no exact row may be a tolerable one. */
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

/* Whether the one piece of a row holds, once decompressed, the two planes. */
static bool has_planes(const struct cov_h5_rows *r, const struct cov_blob *raw)
{
    if (!r->chunked || r->type.bytes != 2 || r->type.big_endian || r->chunk[0] != 1 ||
        r->chunk[1] != r->dims[1] || r->chunk[2] != 4 || r->n_filters == 0 ||
        r->filters[0].id != COV_H5_SHUFFLE || r->filters[0].elem_bytes != 2)
        return false;
    size_t n;
    const uint8_t *piece = cov_blob_piece(raw, 0, &n);
    uint32_t mask = 0;
    if (n >= sizeof mask)
        memcpy(&mask, piece, sizeof mask);
    return n > 0 && !(mask & 1);
}

static int unpack_planes(const struct cov_h5_rows *r, struct cov_blob *raw, const uint8_t **planes,
                         struct cov_err *e)
{
    size_t bytes = ROW_BYTES * r->dims[1], n;
    uint8_t *dst;
    int rc = cov_blob_room(raw, bytes + cov_codec_undo_scratch(bytes), &dst, e);
    if (rc)
        return rc;
    const uint8_t *piece = cov_blob_piece(raw, 0, &n);
    uint32_t mask;
    memcpy(&mask, piece, sizeof mask);
    *planes = dst;
    return cov_codec_undo(r->filters + 1, r->n_filters - 1, mask >> 1, piece + COV_H5_PIECE_HEAD,
                          n - COV_H5_PIECE_HEAD, dst, bytes, dst + bytes, e);
}

/* Fails naming the row and the index of the base in it, from 0. */
static int fail_position(const struct cov_genome_file *f, size_t i, size_t t, const char *what,
                         struct cov_err *e)
{
    char text[COV_ROW_TEXT_BYTES];
    return cov_fail(e, COV_EINPUT, "%s: data/X: %s, index %zu: %s", f->path,
                    cov_row_text(f->grid, i, text), t, what);
}

int cov_genome_file_decode(const struct cov_genome_file *f, size_t i, struct cov_blob *raw,
                           uint8_t *codes, struct cov_err *e)
{
    const struct cov_h5_rows *r = cov_h5_set_rows(f->x);
    size_t L = r->dims[1];
    const uint8_t *bytes = NULL;
    bool planes = has_planes(r, raw);
    int rc =
        planes ? unpack_planes(r, raw, &bytes, e) : cov_h5_unpack(r, i, 1, 0, 4, raw, 0, &bytes, e);
    if (rc) {
        char text[COV_ROW_TEXT_BYTES];
        return cov_err_prefix(e, "%s: data/X: %s", f->path, cov_row_text(f->grid, i, text));
    }
    if (planes)
        decode_planes(&f->words, bytes, L, codes);
    else
        decode_floats(&r->type, bytes, L, codes);

    struct cov_chunk c = cov_grid_chunk(f->grid, i);
    size_t length = (size_t)(c.end - c.beg);
    const uint8_t *bad = memchr(codes, COV_CODE_BAD, L);
    if (bad)
        return fail_position(f, i, (size_t)(bad - codes), "the four values are those of no base",
                             e);
    bad = memchr(codes, COV_CODE_PAD, length);
    if (bad)
        return fail_position(f, i, (size_t)(bad - codes),
                             "all values are 0 (padding), but data/start_ends has a base there", e);
    for (size_t t = length; t < L; t++)
        if (codes[t] != COV_CODE_PAD)
            return fail_position(f, i, t, "a base behind the end that data/start_ends gives", e);
    return COV_OK;
}

/* ---- writing ---- */

struct cov_genome_writer {
    struct cov_h5 *h5;
    struct cov_h5_set *x;
    struct cov_codec_choice compression;
    struct cov_filter filters[3];
    size_t n_filters;
    size_t L;
    struct words words;
};

/* As Python prints a time, which is what Helixer writes: local time, or, so that outputs can be
 * repeated, SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/) in UTC. */
static int write_timestamp(struct cov_h5 *h5, struct cov_err *e)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm tm;
    bool good;
    if (epoch && *epoch) {
        char *end;
        errno = 0;
        long long seconds = strtoll(epoch, &end, 10);
        time_t t = (time_t)seconds;
        good = !errno && !*end && seconds >= 0 && gmtime_r(&t, &tm);
        if (!good)
            return cov_fail(e, COV_EUSAGE, "SOURCE_DATE_EPOCH is not a number of seconds: %s",
                            epoch);
    } else {
        time_t now = time(NULL);
        good = localtime_r(&now, &tm);
    }
    char text[64];
    if (!good || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        return cov_fail(e, COV_EIO, "the time cannot be told");
    return cov_h5_write_attr(h5, NULL, "timestamp", text, e);
}

static int write_head(struct cov_genome_writer *w, const char *path, const struct cov_grid *grid,
                      const struct cov_genome_writer_options *options, struct cov_err *e)
{
    if (w->L > COV_H5_MAX_BYTES / ROW_BYTES)
        return cov_fail(e, COV_EUSAGE, "subsequences of %zu bases are too long for a genome file",
                        w->L);
    int rc = cov_h5_create(path, &w->h5, e);
    if (!rc)
        rc = write_timestamp(w->h5, e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, NULL, "input_path", options->input_path, e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, NULL, "covtools_version", cov_version(), e);
    if (!rc)
        rc = cov_chunk_table_write(w->h5, grid, SPECIES_BYTES, w->compression, e);
    if (rc)
        return rc;
    struct cov_h5_new spec = {
        .type = {COV_H5_FLOAT, 2, true, false, '\0'},
        .rank = 3,
        .dims = {cov_grid_n_chunks(grid), w->L, 4},
        .unlimited = {true, false, false},
        .chunk = {1, w->L, 4},
        .deflate_level = DECLARED_LEVEL,
    };
    spec.n_filters = cov_h5_filters(w->compression, 2, spec.filters);
    memcpy(w->filters, spec.filters, sizeof w->filters);
    w->n_filters = spec.n_filters;
    return cov_h5_set_create(w->h5, "data/X", &spec, &w->x, e);
}

int cov_genome_writer_new(const char *path, const struct cov_grid *grid,
                          const struct cov_genome_writer_options *options,
                          struct cov_genome_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_genome_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    make_words(&w->words);
    w->compression = options->compression;
    w->L = cov_grid_chunk_length(grid);
    int rc = write_head(w, path, grid, options, e);
    if (rc) {
        cov_genome_writer_abort(w);
        return rc;
    }
    *out = w;
    return COV_OK;
}

/* Tries to make the piece of the chunk straight from its codes. */
static int encode_onehot(const struct cov_genome_writer *w, const uint8_t *codes,
                         struct cov_blob *out, bool *done, struct cov_err *e)
{
    const uint32_t mask = 0;
    size_t bound = cov_onehot_bound(w->L), n;
    uint8_t *at;
    *done = false;
    if (w->compression.id != COV_CODEC_GZIP && w->compression.id != COV_CODEC_FAST)
        return COV_OK;
    int rc = cov_blob_room(out, COV_H5_PIECE_HEAD + bound, &at, e);
    if (rc)
        return rc;
    *done =
        cov_onehot_encode(w->compression.id == COV_CODEC_FAST ? COV_ONEHOT_FAST : COV_ONEHOT_SMALL,
                          codes, w->L, at + COV_H5_PIECE_HEAD, bound, &n);
    if (!*done)
        return COV_OK;
    memcpy(at, &mask, sizeof mask);
    return cov_blob_end_piece(out, COV_H5_PIECE_HEAD + n, e);
}

int cov_genome_writer_encode(const struct cov_genome_writer *w, const uint8_t *codes,
                             struct cov_blob *out, struct cov_err *e)
{
    size_t L = w->L, bytes = ROW_BYTES * L;
    bool shuffled = w->n_filters > 1, done;
    uint8_t *src, *scratch;
    cov_blob_clear(out);
    int rc = encode_onehot(w, codes, out, &done, e);
    if (rc || done)
        return rc;
    rc = cov_h5_pack_begin(w->compression, bytes, out, &src, &scratch, e);
    if (rc)
        return rc;
    if (shuffled)
        for (size_t t = 0; t < L; t++) {
            store32(src + 4 * t, w->words.low[codes[t]]);
            store32(src + 4 * (L + t), w->words.high[codes[t]]);
        }
    else
        for (size_t t = 0; t < L; t++)
            for (size_t k = 0; k < 4; k++) {
                uint16_t half = cov_onehot_f16[codes[t]][k];
                src[8 * t + 2 * k] = (uint8_t)half;
                src[8 * t + 2 * k + 1] = (uint8_t)(half >> 8);
            }
    return cov_h5_pack_end(w->compression, w->filters, w->n_filters, bytes, out, e);
}

int cov_genome_writer_put(struct cov_genome_writer *w, size_t i, const struct cov_blob *blob,
                          struct cov_err *e)
{
    return cov_h5_set_put(w->x, (size_t[3]){i, 0, 0}, blob->data, blob->n_bytes, e);
}

int cov_genome_writer_close(struct cov_genome_writer *w, struct cov_err *e)
{
    cov_h5_set_close(w->x);
    int rc = cov_h5_finish(w->h5, e);
    free(w);
    return rc;
}

void cov_genome_writer_abort(struct cov_genome_writer *w)
{
    if (!w)
        return;
    cov_h5_set_close(w->x);
    cov_h5_close(w->h5);
    free(w);
}
