/* h5_set.c - see h5.h: data sets described and read.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_private.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Rows are handed out one by one. Where few rows share a chunk, each caller gets the stored chunks
 * and decodes them itself, in whatever thread; where more do, that would be done again for each
 * row, so they are decoded here, once. */
enum { MAX_SHARED_ROWS = 8 };

static bool is_ieee(hid_t type, size_t bytes)
{
    static const struct {
        size_t bytes, sign, exponent, n_exponent, n_mantissa, bias;
    } layouts[] = {{2, 15, 10, 5, 10, 15}, {4, 31, 23, 8, 23, 127}, {8, 63, 52, 11, 52, 1023}};
    size_t sign, exponent, n_exponent, mantissa, n_mantissa;
    if (H5Tget_fields(type, &sign, &exponent, &n_exponent, &mantissa, &n_mantissa) < 0)
        return false;
    for (size_t i = 0; i < COV_COUNT(layouts); i++)
        if (bytes == layouts[i].bytes)
            return sign == layouts[i].sign && exponent == layouts[i].exponent &&
                   n_exponent == layouts[i].n_exponent && mantissa == 0 &&
                   n_mantissa == layouts[i].n_mantissa && H5Tget_ebias(type) == layouts[i].bias &&
                   H5Tget_norm(type) == H5T_NORM_IMPLIED && H5Tget_offset(type) == 0 &&
                   H5Tget_precision(type) == 8 * bytes;
    return false;
}

static int describe_type(const struct cov_h5_set *s, struct cov_h5_type *t, struct cov_err *e)
{
    H5T_class_t kind = H5Tget_class(s->type);
    t->bytes = H5Tget_size(s->type);
    if (kind == H5T_STRING) {
        if (H5Tis_variable_str(s->type) != 0)
            return cov_h5_fail_set(s, e, COV_EINPUT,
                                   "strings of variable length are not supported");
        t->kind = COV_H5_STRING;
        t->padding = H5Tget_strpad(s->type) == H5T_STR_SPACEPAD ? ' ' : '\0';
        /* No name is that long. */
        return t->bytes > 0 && t->bytes <= 65536
                   ? COV_OK
                   : cov_h5_fail_set(s, e, COV_EINPUT, "strings of more than 65536 bytes");
    }
    H5T_order_t order = kind == H5T_INTEGER || kind == H5T_FLOAT ? H5Tget_order(s->type) : 0;
    t->big_endian = order == H5T_ORDER_BE && t->bytes > 1;
    if (kind == H5T_INTEGER && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
        (t->bytes == 1 || t->bytes == 2 || t->bytes == 4 || t->bytes == 8) &&
        H5Tget_precision(s->type) == 8 * t->bytes && H5Tget_offset(s->type) == 0) {
        t->kind = COV_H5_INT;
        t->is_signed = H5Tget_sign(s->type) == H5T_SGN_2;
        return COV_OK;
    }
    if (kind == H5T_FLOAT && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
        is_ieee(s->type, t->bytes)) {
        t->kind = COV_H5_FLOAT;
        return COV_OK;
    }
    return cov_h5_fail_set(
        s, e, COV_EINPUT,
        "the type of its elements is none of integer, float, text of fixed length");
}

static int describe_shape(struct cov_h5_set *s, int rank, size_t dims[3], struct cov_err *e)
{
    int n = H5Sget_simple_extent_ndims(s->space);
    if (n < 0)
        return cov_h5_fail_set(s, e, COV_EINPUT, "damaged shape");
    bool simple = H5Sget_simple_extent_type(s->space) == H5S_SIMPLE;
    if (!rank && (n < 1 || n > 3 || !simple))
        return cov_fail(e, COV_EINPUT, "%s: %s: %d dimensions instead of 1 to 3", s->path, s->name,
                        n);
    if (rank && (n != rank || !simple))
        return cov_fail(e, COV_EINPUT, "%s: %s: %d dimensions instead of %d", s->path, s->name, n,
                        rank);
    hsize_t size[3];
    if (H5Sget_simple_extent_dims(s->space, size, NULL) != n)
        return cov_h5_fail_set(s, e, COV_EINPUT, "damaged shape");
    for (int i = 0; i < 3; i++)
        dims[i] = i < n ? (size_t)size[i] : 1;
    s->rank = n;
    return COV_OK;
}

/* The filters as they were applied; *ours: cov_codec_undo knows them all. */
static int describe_filters(const struct cov_h5_set *s, hid_t dcpl, struct cov_h5_rows *r,
                            bool *ours, struct cov_err *e)
{
    int n = H5Pget_nfilters(dcpl);
    if (n < 0)
        return cov_h5_fail_set(s, e, COV_EINPUT, "damaged list of filters");
    *ours = n <= (int)COV_COUNT(r->filters);
    for (int i = 0; i < n; i++) {
        unsigned flags, values[1] = {0};
        size_t n_values = 1;
        char name[40] = "";
        H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &n_values, values, sizeof name, name, NULL);
        if (id < 0)
            return cov_h5_fail_set(s, e, COV_EINPUT, "damaged list of filters");
        if (H5Zfilter_avail(id) <= 0) {
            (void)H5Eclear2(H5E_DEFAULT);
            return cov_fail(
                e, COV_EUNSUPPORTED,
                "%s: %s: HDF5 filter %d (%s) is not known here; repack the file with gzip", s->path,
                s->name, (int)id, name);
        }
        if (!*ours)
            continue;
        r->filters[i].id = id;
        /* libhdf5 takes the size from the list, and so do we: it is part of the stored form. */
        r->filters[i].elem_bytes = id == H5Z_FILTER_SHUFFLE && n_values > 0 ? values[0] : 0;
        r->filters[i].level = 0;
    }
    r->n_filters = *ours ? (size_t)n : 0;
    *ours = *ours && cov_codec_can_undo(r->filters, r->n_filters);
    return COV_OK;
}

/* Bytes of a block, or more than COV_H5_MAX_BYTES when it is too large. */
static size_t block_bytes(size_t a, size_t b, size_t c, size_t d)
{
    size_t n;
    if (cov_size_mul(a, b, &n) || cov_size_mul(n, c, &n) || cov_size_mul(n, d, &n))
        return SIZE_MAX;
    return n;
}

static int describe_layout(struct cov_h5_set *s, hid_t dcpl, struct cov_err *e)
{
    struct cov_h5_rows *r = &s->stored;
    H5D_layout_t layout = H5Pget_layout(dcpl);
    if (layout < 0)
        return cov_h5_fail_set(s, e, COV_EINPUT, "damaged layout");
    bool ours = false;
    int rc = describe_filters(s, dcpl, r, &ours, e);
    if (rc)
        return rc;
    r->chunked = layout == H5D_CHUNKED;
    s->undo_by_hdf5 = !r->chunked || !ours;
    r->chunk[0] = r->chunk[1] = r->chunk[2] = 1;
    if (r->chunked) {
        hsize_t chunk[3];
        if (H5Pget_chunk(dcpl, s->rank, chunk) != s->rank)
            return cov_h5_fail_set(s, e, COV_EINPUT, "damaged chunk shape");
        for (int i = 0; i < 3; i++) {
            r->chunk[i] = i < s->rank ? (size_t)chunk[i] : 1;
            if (r->chunk[i] == 0)
                return cov_h5_fail_set(s, e, COV_EINPUT, "damaged chunk shape");
        }
    }
    if (block_bytes(r->chunk[0], r->chunk[1], r->chunk[2], r->type.bytes) > COV_H5_MAX_BYTES ||
        block_bytes(r->chunk[0], r->dims[1], r->dims[2], r->type.bytes) > COV_H5_MAX_BYTES)
        return cov_h5_fail_set(s, e, COV_EINPUT,
                               "rows or chunks of more than 1 GiB are not supported");
    return COV_OK;
}

static int read_fill(struct cov_h5_set *s, hid_t dcpl, struct cov_err *e)
{
    s->stored.fill = cov_calloc(s->stored.type.bytes, 1, e);
    if (!s->stored.fill)
        return COV_ENOMEM;
    H5D_fill_value_t defined;
    if (H5Pfill_value_defined(dcpl, &defined) < 0 ||
        (defined == H5D_FILL_VALUE_USER_DEFINED &&
         H5Pget_fill_value(dcpl, s->type, s->stored.fill) < 0))
        return cov_h5_fail_set(s, e, COV_EINPUT, "damaged fill value");
    return COV_OK;
}

struct cov_h5_set *cov_h5_new_set(const struct cov_h5 *f, const char *name, struct cov_err *e)
{
    struct cov_h5_set *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->id = s->type = s->space = H5I_INVALID_HID;
    s->name = cov_strdup(name, e);
    s->path = cov_strdup(f->path, e);
    s->bands.path = s->path;
    s->bands.name = s->name;
    if (!s->name || !s->path) {
        cov_h5_set_close(s);
        return NULL;
    }
    return s;
}

void cov_h5_set_close(struct cov_h5_set *s)
{
    if (!s)
        return;
    cov_h5_close_id(s->id);
    cov_h5_close_id(s->type);
    cov_h5_close_id(s->space);
    (void)H5Eclear2(H5E_DEFAULT);
    cov_h5_bands_fini(&s->bands);
    free(s->stored.fill);
    free(s->name);
    free(s->path);
    free(s);
}

/* libhdf5's own cache of decoded chunks: useless where chunks are fetched raw. */
static void set_cache(const struct cov_h5_set *s, hid_t dapl)
{
    const struct cov_h5_rows *r = &s->stored;
    size_t band = r->chunk[0] * r->dims[1] * r->dims[2] * r->type.bytes;
    if (!s->undo_by_hdf5)
        (void)H5Pset_chunk_cache(dapl, 0, 0, 1);
    else if (r->chunked)
        (void)H5Pset_chunk_cache(dapl, 12421, band < ((size_t)1 << 20) ? (size_t)2 << 20 : 2 * band,
                                 1);
}

int cov_h5_set_open(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                    struct cov_err *e)
{
    assert(rank >= 0 && rank <= 3);
    *out = NULL;
    int found = cov_h5_exists(f, name);
    if (found < 0)
        return cov_h5_fail(e, COV_EINPUT, f->path, name, "damaged HDF5 file");
    if (found == 0)
        return cov_fail(e, COV_EINPUT, "%s: there is no data set %s", f->path, name);
    struct cov_h5_set *s = cov_h5_new_set(f, name, e);
    if (!s)
        return COV_ENOMEM;
    int rc;
    hid_t dcpl = H5I_INVALID_HID, dapl = H5I_INVALID_HID;
    s->id = H5Dopen2(f->id, name, H5P_DEFAULT);
    if (s->id < 0) {
        rc = cov_h5_fail_set(s, e, COV_EINPUT, "not a data set, or a damaged one");
        goto out;
    }
    s->type = H5Dget_type(s->id);
    s->space = H5Dget_space(s->id);
    dcpl = H5Dget_create_plist(s->id);
    if (s->type < 0 || s->space < 0 || dcpl < 0) {
        rc = cov_h5_fail_set(s, e, COV_EINPUT, "damaged data set");
        goto out;
    }
    rc = describe_type(s, &s->stored.type, e);
    if (!rc)
        rc = describe_shape(s, rank, s->stored.dims, e);
    if (!rc)
        rc = describe_layout(s, dcpl, e);
    if (!rc)
        rc = read_fill(s, dcpl, e);
    if (rc)
        goto out;
    s->handed = s->stored;
    s->handed.chunked = !s->undo_by_hdf5 && s->stored.chunk[0] <= MAX_SHARED_ROWS;
    /* The cache is chosen when a data set is opened, and what suits is known only now. */
    dapl = H5Pcreate(H5P_DATASET_ACCESS);
    set_cache(s, dapl);
    cov_h5_close_id(s->id);
    s->id = H5Dopen2(f->id, name, dapl);
    if (s->id < 0) {
        rc = cov_h5_fail_set(s, e, COV_EINPUT, "damaged data set");
        goto out;
    }
    *out = s;
    s = NULL;
out:
    cov_h5_close_id(dcpl);
    cov_h5_close_id(dapl);
    cov_h5_set_close(s);
    return rc;
}

const struct cov_h5_rows *cov_h5_set_rows(const struct cov_h5_set *s)
{
    return &s->handed;
}

static void add_text(char *text, size_t cap, const char *fmt, ...) COV_PRINTF(3, 4);

static void add_text(char *text, size_t cap, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text + n, cap - n, fmt, args);
    va_end(args);
}

/* Names as --compression has them; `value` is that of the list of values which is the level. */
static void add_filter(char *text, size_t cap, int id, const unsigned *values, size_t n_values)
{
    static const struct {
        int id;
        const char *name;
        size_t value;
    } known[] = {
        {H5Z_FILTER_SHUFFLE, "shuffle", SIZE_MAX},
        {H5Z_FILTER_DEFLATE, "gzip", 0},
        {H5Z_FILTER_FLETCHER32, "fletcher32", SIZE_MAX},
        {H5Z_FILTER_SZIP, "szip", SIZE_MAX},
        {H5Z_FILTER_NBIT, "nbit", SIZE_MAX},
        {H5Z_FILTER_SCALEOFFSET, "scaleoffset", SIZE_MAX},
        {COV_H5_LZF, "lzf", SIZE_MAX},
        {COV_H5_BLOSC, "blosc", 4},
        {COV_H5_LZ4, "lz4", SIZE_MAX},
        {COV_H5_ZSTD, "zstd", 0},
    };
    if (*text)
        add_text(text, cap, ", ");
    for (size_t i = 0; i < COV_COUNT(known); i++)
        if (known[i].id == id) {
            add_text(text, cap, "%s", known[i].name);
            if (known[i].value < n_values)
                add_text(text, cap, " %u", values[known[i].value]);
            return;
        }
    add_text(text, cap, "filter %d", id);
}

int cov_h5_set_storage(const struct cov_h5_set *s, struct cov_h5_storage *out, struct cov_err *e)
{
    memset(out, 0, sizeof *out);
    out->rank = s->rank;
    out->chunked = s->stored.chunked;
    memcpy(out->chunk, s->stored.chunk, sizeof out->chunk);
    out->stored_bytes = H5Dget_storage_size(s->id);
    hid_t dcpl = H5Dget_create_plist(s->id);
    int n = dcpl >= 0 ? H5Pget_nfilters(dcpl) : -1, rc = COV_OK;
    for (int i = 0; i < n; i++) {
        unsigned flags, values[8] = {0};
        size_t n_values = COV_COUNT(values);
        int id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &n_values, values, 0, NULL, NULL);
        if (id < 0)
            n = -1;
        else
            add_filter(out->filters, sizeof out->filters, id, values,
                       n_values < COV_COUNT(values) ? n_values : COV_COUNT(values));
    }
    if (n < 0)
        rc = cov_h5_fail_set(s, e, COV_EINPUT, "damaged list of filters");
    cov_h5_close_id(dcpl);
    return rc;
}

/* libhdf5 has no other way of telling that a chunk was never written, short of visiting them
 * all. */
static herr_t compare_text(unsigned n, const H5E_error2_t *error, void *arg)
{
    if (n == 0 && error->desc && strcmp(error->desc, "chunk storage is not allocated") == 0)
        *(bool *)arg = true;
    return 0;
}

static bool says_not_stored(void)
{
    bool says = false;
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, compare_text, &says);
    return says;
}

/* Whether a chunk is in the file, as its index has it. */
static bool has_place(const struct cov_h5_set *s, const hsize_t at[3])
{
    haddr_t place = HADDR_UNDEF;
    unsigned mask;
    hsize_t n;
    return H5Dget_chunk_info_by_coord(s->id, at, &mask, &place, &n) >= 0 && place != HADDR_UNDEF;
}

static int fetch_chunk(struct cov_h5_set *s, const hsize_t at[3], struct cov_blob *raw,
                       struct cov_err *e)
{
    hsize_t n = 0;
    bool found = H5Dget_chunk_storage_size(s->id, at, &n) >= 0;
    if (!found && !says_not_stored())
        return cov_h5_fail_set(s, e, COV_EINPUT, "damaged index of chunks");
    if (found && n == 0 && has_place(s, at))
        return cov_fail(e, COV_EINPUT, "%s: %s: a chunk of no bytes in the index of chunks",
                        s->path, s->name);
    if (n == 0)
        return cov_blob_end_piece(raw, 0, e);
    const struct cov_h5_rows *r = &s->stored;
    size_t plain = r->chunk[0] * r->chunk[1] * r->chunk[2] * r->type.bytes;
    /* No filter makes a chunk much larger than it was. */
    if (n > 2 * plain + 4096)
        return cov_fail(e, COV_EINPUT, "%s: %s: a chunk of %zu bytes takes %llu in the file",
                        s->path, s->name, plain, (unsigned long long)n);
    uint8_t *to;
    int rc = cov_blob_room(raw, COV_H5_PIECE_HEAD + (size_t)n, &to, e);
    if (rc)
        return rc;
    uint32_t mask;
    if (H5Dread_chunk(s->id, H5P_DEFAULT, at, &mask, to + COV_H5_PIECE_HEAD) < 0)
        return cov_h5_fail_set(s, e, COV_EINPUT, "a chunk cannot be read");
    memcpy(to, &mask, sizeof mask);
    return cov_blob_end_piece(raw, COV_H5_PIECE_HEAD + (size_t)n, e);
}

static int fetch_chunks(struct cov_h5_set *s, size_t row, size_t col, size_t n_cols,
                        struct cov_blob *raw, struct cov_err *e)
{
    const struct cov_h5_rows *r = &s->stored;
    for (size_t pos = 0; pos < r->dims[1]; pos += r->chunk[1])
        for (size_t c = col - col % r->chunk[2]; c < col + n_cols; c += r->chunk[2]) {
            const hsize_t at[3] = {row - row % r->chunk[0], pos, c};
            int rc = fetch_chunk(s, at, raw, e);
            if (rc)
                return rc;
        }
    return COV_OK;
}

static int read_by_hdf5(struct cov_h5_set *s, size_t row, size_t n_rows, size_t col, size_t n_cols,
                        void *dst, struct cov_err *e)
{
    const size_t *dims = s->stored.dims;
    const hsize_t start[3] = {row, 0, col}, count[3] = {n_rows, dims[1], n_cols};
    const hsize_t n = count[0] * count[1] * count[2];
    hid_t memory = H5Screate_simple(1, &n, NULL);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(s->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dread(s->id, s->type, memory, s->space, H5P_DEFAULT, dst) >= 0;
    int rc = good ? COV_OK : cov_h5_fail_set(s, e, COV_EINPUT, "cannot be read");
    cov_h5_close_id(memory);
    return rc;
}

static int fetch_band(void *set, size_t row, struct cov_blob *raw, struct cov_err *e)
{
    struct cov_h5_set *s = set;
    return fetch_chunks(s, row, 0, s->stored.dims[2], raw, e);
}

int cov_h5_set_read(struct cov_h5_set *s, size_t row, size_t n_rows, size_t col, size_t n_cols,
                    void *dst, struct cov_err *e)
{
    const struct cov_h5_rows *r = &s->stored;
    assert(row + n_rows <= r->dims[0] && col + n_cols <= r->dims[2]);
    if (s->undo_by_hdf5)
        return read_by_hdf5(s, row, n_rows, col, n_cols, dst, e);
    size_t size = r->type.bytes;
    uint8_t *to = dst;
    for (size_t i = row; i < row + n_rows; i++) {
        const uint8_t *from = NULL;
        int rc = cov_h5_bands_row(&s->bands, r, i, fetch_band, s, &from, e);
        if (rc)
            return rc;
        from += col * size;
        if (n_cols == r->dims[2]) {
            memcpy(to, from, r->dims[1] * n_cols * size);
            to += r->dims[1] * n_cols * size;
            continue;
        }
        for (size_t t = 0; t < r->dims[1]; t++, to += n_cols * size)
            memcpy(to, from + t * r->dims[2] * size, n_cols * size);
    }
    return COV_OK;
}

int cov_h5_set_fetch(struct cov_h5_set *s, size_t row, size_t col, size_t n_cols,
                     struct cov_blob *raw, struct cov_err *e)
{
    if (s->handed.chunked)
        return fetch_chunks(s, row, col, n_cols, raw, e);
    size_t n = s->stored.dims[1] * n_cols * s->stored.type.bytes;
    uint8_t *to;
    int rc = cov_blob_room(raw, n, &to, e);
    if (!rc)
        rc = cov_h5_set_read(s, row, 1, col, n_cols, to, e);
    return rc ? rc : cov_blob_end_piece(raw, n, e);
}
