/* h5_set.c - see h5.h: datasets.
 *
 * Opening translates the type, shape, filters and fill value once to a struct cov_h5_rows, so that
 * other threads can decode without libhdf5, and refuses what that struct cannot express. A row is
 * fetched in one of three ways: as its stored chunks, which the caller decodes; from a band of rows
 * that is decoded here and kept; or with H5Dread, if only libhdf5 can undo the filters. Writing
 * stores chunks that other threads have encoded; libhdf5 keeps only the index of chunks.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_private.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Rows are fetched one by one. If few rows share a chunk, each caller gets the stored chunks and
 * decodes them in its own thread. If many rows share a chunk, it is decoded here, once; otherwise
 * it would be decoded again for every row. */
enum { MAX_SHARED_ROWS = 8 };

/* A band consists of the rows that share chunks. Two decoded bands are kept, because rows are read
 * either in order or at two positions in turn (the two strands of a sequence). */
enum { N_BANDS = 2 };

struct band {
    uint8_t *rows; /* [chunk[0]][dims[1]][dims[2]]; NULL: empty */
    size_t index;  /* row / chunk[0] */
    unsigned long used;
};

struct cov_h5_set {
    hid_t id, type, space;
    int rank;
    char *name;
    char *path;                /* path of the file */
    struct cov_h5_rows stored; /* as in the file */
    struct cov_h5_rows given;  /* as callers get them: not chunked if decoded here */
    bool undo_by_hdf5;         /* only libhdf5 can decode it: H5Dread returns plain rows */
    struct band bands[N_BANDS];
    unsigned long clock;
    struct cov_blob raw; /* stored chunks of the band being read */
};

static int fail_set(const struct cov_h5_set *s, struct cov_err *e, int code, const char *what)
{
    return cov_h5_fail(e, code, s->path, s->name, what);
}

/* ---- describing ---- */

static int describe_shape(struct cov_h5_set *s, int rank, size_t dims[3], struct cov_err *e)
{
    int n = H5Sget_simple_extent_ndims(s->space);
    if (n < 0)
        return fail_set(s, e, COV_EINPUT, "damaged shape");
    bool simple = H5Sget_simple_extent_type(s->space) == H5S_SIMPLE;
    if (!rank && (n < 1 || n > 3 || !simple))
        return cov_fail(e, COV_EINPUT, "%s: %s: %d dimensions instead of 1 to 3", s->path, s->name,
                        n);
    if (rank && (n != rank || !simple))
        return cov_fail(e, COV_EINPUT, "%s: %s: %d dimensions instead of %d", s->path, s->name, n,
                        rank);
    hsize_t size[3];
    if (H5Sget_simple_extent_dims(s->space, size, NULL) != n)
        return fail_set(s, e, COV_EINPUT, "damaged shape");
    for (int i = 0; i < 3; i++)
        dims[i] = i < n ? (size_t)size[i] : 1;
    s->rank = n;
    return COV_OK;
}

/* Reads the list of filters. Sets *ours to whether cov_codec_undo supports all of them. */
static int describe_filters(const struct cov_h5_set *s, hid_t dcpl, struct cov_h5_rows *r,
                            bool *ours, struct cov_err *e)
{
    int n = H5Pget_nfilters(dcpl);
    if (n < 0)
        return fail_set(s, e, COV_EINPUT, "damaged list of filters");
    *ours = n <= (int)COV_COUNT(r->filters);
    for (int i = 0; i < n; i++) {
        unsigned flags, values[1] = {0};
        size_t n_values = 1;
        char name[40] = "";
        H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &n_values, values, sizeof name, name, NULL);
        if (id < 0)
            return fail_set(s, e, COV_EINPUT, "damaged list of filters");
        if (H5Zfilter_avail(id) <= 0) {
            (void)H5Eclear2(H5E_DEFAULT);
            return cov_fail(e, COV_EUNSUPPORTED,
                            "%s: %s: unknown HDF5 filter %d (%s); repack the file with gzip",
                            s->path, s->name, (int)id, name);
        }
        if (!*ours)
            continue;
        r->filters[i].id = id;
        /* The element size is part of the stored form, so it comes from the list. */
        r->filters[i].elem_bytes = id == H5Z_FILTER_SHUFFLE && n_values > 0 ? values[0] : 0;
        r->filters[i].level = 0;
    }
    r->n_filters = *ours ? (size_t)n : 0;
    *ours = *ours && cov_codec_can_undo(r->filters, r->n_filters);
    return COV_OK;
}

/* Returns the product, or SIZE_MAX on overflow. */
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
        return fail_set(s, e, COV_EINPUT, "damaged layout");
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
            return fail_set(s, e, COV_EINPUT, "damaged chunk shape");
        for (int i = 0; i < 3; i++) {
            r->chunk[i] = i < s->rank ? (size_t)chunk[i] : 1;
            if (r->chunk[i] == 0)
                return fail_set(s, e, COV_EINPUT, "damaged chunk shape");
        }
    }
    if (block_bytes(r->chunk[0], r->chunk[1], r->chunk[2], r->type.bytes) > COV_H5_MAX_BYTES ||
        block_bytes(r->chunk[0], r->dims[1], r->dims[2], r->type.bytes) > COV_H5_MAX_BYTES)
        return fail_set(s, e, COV_EINPUT, "rows or chunks of more than 1 GiB are not supported");
    return COV_OK;
}

int cov_h5_set_check_claims(struct cov_h5 *f, struct cov_h5_set *s, struct cov_err *e)
{
    enum { USUAL_RATIO = 64 }; /* of compression */
    const uint64_t most = (uint64_t)1 << 27;
    const struct cov_h5_rows *r = &s->stored;
    uint64_t stored = H5Dget_storage_size(s->id), file = cov_h5_bytes(f);
    size_t chunk = block_bytes(r->chunk[0], r->chunk[1], r->chunk[2], r->type.bytes),
           n = block_bytes(r->dims[0], r->dims[1], r->dims[2], r->type.bytes),
           rows = block_bytes(r->dims[0] ? r->dims[0] : 1, r->dims[1], r->dims[2], r->type.bytes);
    if (r->chunked && chunk > most && chunk / USUAL_RATIO > rows)
        return fail_set(s, e, COV_EINPUT, "the chunks are much larger than the dataset");
    f->claimed = f->claimed > UINT64_MAX - n ? UINT64_MAX : f->claimed + n;
    if (f->claimed <= most || f->claimed / USUAL_RATIO <= file)
        return COV_OK;
    hsize_t n_chunks = 0;
    if (stored > file || (r->chunked && H5Dget_num_chunks(s->id, s->space, &n_chunks) < 0))
        return fail_set(s, e, COV_EINPUT, "damaged list of chunks");
    if (r->chunked)
        stored = n_chunks > SIZE_MAX / chunk ? SIZE_MAX : n_chunks * chunk;
    uint64_t missing = n > stored ? n - stored : 0;
    if (missing > most - f->missing)
        return fail_set(s, e, COV_EINPUT, "most of the dataset is missing from the file");
    f->missing += missing;
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
        return fail_set(s, e, COV_EINPUT, "damaged fill value");
    return COV_OK;
}

static struct cov_h5_set *new_set(const struct cov_h5 *f, const char *name, struct cov_err *e)
{
    struct cov_h5_set *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->id = s->type = s->space = H5I_INVALID_HID;
    s->name = cov_strdup(name, e);
    s->path = cov_strdup(f->path, e);
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
    for (size_t i = 0; i < N_BANDS; i++)
        free(s->bands[i].rows);
    cov_blob_fini(&s->raw);
    free(s->stored.fill);
    free(s->name);
    free(s->path);
    free(s);
}

/* Sets the size of libhdf5's cache of decoded chunks, which is 0 if chunks are fetched raw. */
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

static int open_set(struct cov_h5 *f, const char *name, int rank, bool by_hdf5,
                    struct cov_h5_set **out, struct cov_err *e)
{
    assert(rank >= 0 && rank <= 3);
    *out = NULL;
    int found = cov_h5_has(f, name, e);
    if (found <= 0)
        return found < 0 ? found : cov_fail(e, COV_EINPUT, "%s: no dataset %s", f->path, name);
    struct cov_h5_set *s = new_set(f, name, e);
    if (!s)
        return COV_ENOMEM;
    int rc;
    hid_t dcpl = H5I_INVALID_HID, dapl = H5I_INVALID_HID;
    s->id = H5Dopen2(f->id, name, H5P_DEFAULT);
    if (s->id < 0) {
        rc = fail_set(s, e, COV_EINPUT, "not a dataset, or damaged");
        goto out;
    }
    s->type = H5Dget_type(s->id);
    s->space = H5Dget_space(s->id);
    dcpl = H5Dget_create_plist(s->id);
    if (s->type < 0 || s->space < 0 || dcpl < 0) {
        rc = fail_set(s, e, COV_EINPUT, "damaged dataset");
        goto out;
    }
    const char *fault = cov_h5_type_describe(s->type, &s->stored.type);
    rc = fault ? fail_set(s, e, COV_EINPUT, fault) : COV_OK;
    if (!rc)
        rc = describe_shape(s, rank, s->stored.dims, e);
    if (!rc)
        rc = describe_layout(s, dcpl, e);
    if (!rc)
        rc = read_fill(s, dcpl, e);
    if (rc)
        goto out;
    s->undo_by_hdf5 |= by_hdf5;
    s->given = s->stored;
    s->given.chunked = !s->undo_by_hdf5 && s->stored.chunk[0] <= MAX_SHARED_ROWS;
    /* The cache can be set only when the dataset is opened, but its right size is known only
     * now. */
    dapl = H5Pcreate(H5P_DATASET_ACCESS);
    set_cache(s, dapl);
    cov_h5_close_id(s->id);
    s->id = H5Dopen2(f->id, name, dapl);
    if (s->id < 0) {
        rc = fail_set(s, e, COV_EINPUT, "damaged dataset");
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

int cov_h5_set_open_unchecked(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                              struct cov_err *e)
{
    return open_set(f, name, rank, false, out, e);
}

int cov_h5_set_open_plain(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                          struct cov_err *e)
{
    return open_set(f, name, rank, true, out, e);
}

int cov_h5_set_open(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                    struct cov_err *e)
{
    int rc = cov_h5_set_open_unchecked(f, name, rank, out, e);
    if (*out)
        rc = cov_h5_set_check_claims(f, *out, e);
    if (rc) {
        cov_h5_set_close(*out);
        *out = NULL;
    }
    return rc;
}

int cov_h5_set_find(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                    struct cov_err *e)
{
    *out = NULL;
    int found = cov_h5_has(f, name, e);
    return found > 0 ? cov_h5_set_open(f, name, rank, out, e) : found;
}

const struct cov_h5_rows *cov_h5_set_rows(const struct cov_h5_set *s)
{
    return &s->given;
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

/* Appends the name of the filter, as used by --compression, and its level. */
static void add_filter(char *text, size_t cap, int id, const unsigned *values, size_t n_values)
{
    static const struct {
        int id;
        const char *name;
    } others[] = {
        {H5Z_FILTER_SHUFFLE, "shuffle"},
        {H5Z_FILTER_FLETCHER32, "fletcher32"},
        {H5Z_FILTER_SZIP, "szip"},
        {H5Z_FILTER_NBIT, "nbit"},
        {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
    };
    const struct cov_codec *codec = cov_codec_of_filter(id);
    const char *name = codec ? codec->name : NULL;
    for (size_t i = 0; i < COV_COUNT(others); i++)
        if (others[i].id == id)
            name = others[i].name;
    if (*text)
        add_text(text, cap, ", ");
    if (name)
        add_text(text, cap, "%s", name);
    else
        add_text(text, cap, "filter %d", id);
    if (codec && codec->shows_level && codec->level_value < n_values)
        add_text(text, cap, " %u", values[codec->level_value]);
}

int cov_h5_set_storage(const struct cov_h5_set *s, struct cov_h5_storage *out, struct cov_err *e)
{
    memset(out, 0, sizeof *out);
    out->type = s->stored.type;
    out->rank = s->rank;
    memcpy(out->dims, s->stored.dims, sizeof out->dims);
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
        rc = fail_set(s, e, COV_EINPUT, "damaged list of filters");
    cov_h5_close_id(dcpl);
    return rc;
}

/* Sets *arg if the error says that a chunk was never written. Other ways to tell are slow. */
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

/* Returns true if the chunk index has an address for the chunk. */
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
        return fail_set(s, e, COV_EINPUT, "damaged chunk index");
    if (found && n == 0 && has_place(s, at))
        return cov_fail(e, COV_EINPUT, "%s: %s: an empty chunk in the chunk index", s->path,
                        s->name);
    if (n == 0)
        return cov_blob_end_piece(raw, 0, e);
    const struct cov_h5_rows *r = &s->stored;
    size_t plain = r->chunk[0] * r->chunk[1] * r->chunk[2] * r->type.bytes;
    /* No filter makes a chunk much larger. */
    if (n > 2 * plain + 4096)
        return cov_fail(e, COV_EINPUT, "%s: %s: a chunk of %zu bytes takes %llu in the file",
                        s->path, s->name, plain, (unsigned long long)n);
    uint8_t *to;
    int rc = cov_blob_room(raw, COV_H5_PIECE_HEAD + (size_t)n, &to, e);
    if (rc)
        return rc;
    uint32_t mask;
    if (H5Dread_chunk(s->id, H5P_DEFAULT, at, &mask, to + COV_H5_PIECE_HEAD) < 0)
        return fail_set(s, e, COV_EINPUT, "a chunk cannot be read");
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
    int rc = good ? COV_OK : fail_set(s, e, COV_EINPUT, "cannot be read");
    cov_h5_close_id(memory);
    return rc;
}

/* Decodes the band of `row` into dst. */
static int read_band(struct cov_h5_set *s, size_t row, uint8_t *dst, struct cov_err *e)
{
    const struct cov_h5_rows *r = &s->stored;
    size_t first = row - row % r->chunk[0], n = r->dims[0] - first;
    if (n > r->chunk[0])
        n = r->chunk[0];
    const uint8_t *block = NULL;
    cov_blob_clear(&s->raw);
    int rc = fetch_chunks(s, row, 0, r->dims[2], &s->raw, e);
    if (rc)
        return rc;
    rc = cov_h5_unpack(r, (struct cov_h5_block){first, n, 0, r->dims[2]}, &s->raw, 0, &block, e);
    if (rc)
        return cov_err_prefix(e, rc, "%s: %s: rows %zu to %zu", s->path, s->name, first,
                              first + n - 1);
    memcpy(dst, block, n * r->dims[1] * r->dims[2] * r->type.bytes);
    return COV_OK;
}

/* Sets *elems to row `row`, [dims[1]][dims[2]], after decoding its band if that is not kept. Valid
 * until the next call. */
static int band_row(struct cov_h5_set *s, size_t row, const uint8_t **elems, struct cov_err *e)
{
    const struct cov_h5_rows *r = &s->stored;
    size_t index = row / r->chunk[0], row_elems = r->dims[1] * r->dims[2];
    struct band *b = &s->bands[0]; /* the band of the row, else the least recently used */
    for (size_t i = 0; i < N_BANDS; i++) {
        if (s->bands[i].rows && s->bands[i].index == index) {
            b = &s->bands[i];
            break;
        }
        if (s->bands[i].used < b->used)
            b = &s->bands[i];
    }
    if (!b->rows || b->index != index) {
        uint8_t *dst = b->rows;
        if (!dst)
            dst = cov_malloc(r->chunk[0] * row_elems, r->type.bytes, e);
        if (!dst)
            return COV_ENOMEM;
        b->rows = NULL; /* until it is complete */
        int rc = read_band(s, row, dst, e);
        if (rc) {
            free(dst);
            return rc;
        }
        b->rows = dst;
        b->index = index;
    }
    b->used = ++s->clock;
    *elems = b->rows + row % r->chunk[0] * row_elems * r->type.bytes;
    return COV_OK;
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
        int rc = band_row(s, i, &from, e);
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
    if (s->given.chunked)
        return fetch_chunks(s, row, col, n_cols, raw, e);
    size_t n = s->stored.dims[1] * n_cols * s->stored.type.bytes;
    uint8_t *to;
    int rc = cov_blob_room(raw, n, &to, e);
    if (!rc)
        rc = cov_h5_set_read(s, row, 1, col, n_cols, to, e);
    return rc ? rc : cov_blob_end_piece(raw, n, e);
}

/* ---- writing ---- */

/* Declares the fill value, except zeros, which are the default (like h5py). */
static bool set_fill(hid_t dcpl, const struct cov_h5_new *spec, hid_t type)
{
    if (!spec->fill_elem)
        return spec->type.kind == COV_H5_STRING || spec->fill == 0 ||
               H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &spec->fill) >= 0;
    for (size_t i = 0; i < spec->type.bytes; i++)
        if (spec->fill_elem[i])
            return H5Pset_fill_value(dcpl, type, spec->fill_elem) >= 0;
    return true;
}

static bool declare_filter(hid_t dcpl, const struct cov_filter *f, int deflate_level,
                           size_t chunk_bytes)
{
    if (f->id == COV_H5_SHUFFLE)
        return H5Pset_shuffle(dcpl) >= 0;
    if (f->id == COV_H5_DEFLATE)
        return H5Pset_deflate(dcpl, (unsigned)deflate_level) >= 0;
    unsigned values[COV_CODEC_MAX_VALUES];
    size_t n = cov_codec_of_filter(f->id)->values(f->level, f->elem_bytes, chunk_bytes, values);
    return H5Pset_filter(dcpl, f->id, H5Z_FLAG_OPTIONAL, n, values) >= 0;
}

static hid_t make_create_list(const struct cov_h5_new *spec, hid_t type)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[3];
    size_t chunk_bytes = spec->type.bytes;
    for (int i = 0; i < spec->rank; i++) {
        chunk[i] = spec->chunk[i];
        chunk_bytes *= spec->chunk[i];
    }
    bool good =
        H5Pset_obj_track_times(dcpl, false) >= 0 && H5Pset_chunk(dcpl, spec->rank, chunk) >= 0;
    good = good && set_fill(dcpl, spec, type);
    for (size_t i = 0; good && i < spec->n_filters; i++)
        good = declare_filter(dcpl, &spec->filters[i], spec->deflate_level, chunk_bytes);
    if (good)
        return dcpl;
    cov_h5_close_id(dcpl);
    return H5I_INVALID_HID;
}

int cov_h5_set_create(struct cov_h5 *f, const char *name, const struct cov_h5_new *spec,
                      struct cov_h5_set **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_h5_set *s = new_set(f, name, e);
    if (!s)
        return COV_ENOMEM;
    hsize_t dims[3], max_dims[3];
    for (int i = 0; i < spec->rank; i++) {
        dims[i] = spec->dims[i];
        max_dims[i] = spec->unlimited[i] ? H5S_UNLIMITED : dims[i];
    }
    for (int i = 0; i < 3; i++) {
        s->stored.dims[i] = i < spec->rank ? spec->dims[i] : 1;
        s->stored.chunk[i] = i < spec->rank ? spec->chunk[i] : 1;
    }
    s->rank = spec->rank;
    s->type = cov_h5_type_make(&spec->type);
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE), dcpl = make_create_list(spec, s->type);
    (void)H5Pset_create_intermediate_group(lcpl, 1);
    s->space = H5Screate_simple(spec->rank, dims, max_dims);
    s->id = dcpl >= 0 ? H5Dcreate2(f->id, name, s->type, s->space, lcpl, dcpl, H5P_DEFAULT)
                      : H5I_INVALID_HID;
    int rc = s->id >= 0 ? COV_OK : fail_set(s, e, COV_EIO, "cannot be created");
    cov_h5_close_id(lcpl);
    cov_h5_close_id(dcpl);
    if (rc)
        cov_h5_set_close(s);
    else
        *out = s;
    return rc;
}

int cov_h5_set_resize(struct cov_h5_set *s, size_t n_rows, struct cov_err *e)
{
    const hsize_t dims[3] = {n_rows, s->stored.dims[1], s->stored.dims[2]};
    if (n_rows == s->stored.dims[0])
        return COV_OK;
    if (H5Dset_extent(s->id, dims) < 0)
        return fail_set(s, e, COV_EIO, "cannot be resized");
    s->stored.dims[0] = n_rows;
    return COV_OK;
}

/* Adds rows, possibly too many: the caller must shrink the dataset at the end. Shrinking rewrites
 * a chunk if it truncates that chunk, so spare rows are added only if chunks have one row. */
static int grow(struct cov_h5_set *s, size_t row, struct cov_err *e)
{
    enum { ROWS_AT_ONCE = 64 };
    size_t n_rows = row + 1;
    if (n_rows <= s->stored.dims[0])
        return COV_OK;
    if (s->stored.chunk[0] == 1)
        n_rows += ROWS_AT_ONCE - 1;
    return cov_h5_set_resize(s, n_rows, e);
}

int cov_h5_set_put(struct cov_h5_set *s, const size_t at[3], const uint8_t *piece, size_t n,
                   struct cov_err *e)
{
    assert(n > COV_H5_PIECE_HEAD);
    int rc = grow(s, at[0], e);
    if (rc)
        return rc;
    const hsize_t offset[3] = {at[0], at[1], at[2]};
    uint32_t mask;
    memcpy(&mask, piece, sizeof mask);
    if (H5Dwrite_chunk(s->id, H5P_DEFAULT, mask, offset, n - COV_H5_PIECE_HEAD,
                       piece + COV_H5_PIECE_HEAD) < 0)
        return fail_set(s, e, COV_EIO, "cannot be written");
    return COV_OK;
}

int cov_h5_set_put_elems(struct cov_h5_set *s, const struct cov_h5_new *spec,
                         struct cov_codec_choice choice, const size_t at[3], const uint8_t *elems,
                         size_t n, struct cov_err *e)
{
    struct cov_blob blob = COV_BLOB_INIT;
    size_t bytes = spec->type.bytes;
    for (int i = 0; i < spec->rank; i++)
        bytes *= spec->chunk[i];
    uint8_t *src, *scratch;
    int rc = cov_h5_pack_begin(choice, bytes, &blob, &src, &scratch, e);
    if (!rc) {
        bool shuffle = spec->n_filters > 1;
        uint8_t *plain = shuffle ? scratch : src;
        memcpy(plain, elems, n);
        memset(plain + n, 0, bytes - n);
        if (shuffle)
            cov_shuffle(plain, bytes, spec->filters[0].elem_bytes, src);
        rc = cov_h5_pack_end(choice, spec->filters, spec->n_filters, bytes, &blob, e);
    }
    if (!rc)
        rc = cov_h5_set_put(s, at, blob.data, blob.n_bytes, e);
    cov_blob_fini(&blob);
    return rc;
}
