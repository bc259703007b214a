/* h5.c - see h5.h. The one file that includes hdf5.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5.h"

#include <assert.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/store/h5_bands.h"
#include "common/store/h5_probe.h"

struct cov_h5 {
    hid_t id;
    char *path;
};

/* Rows are handed out one by one. Where few rows share a chunk, each caller gets the stored chunks
 * and decodes them itself, in whatever thread; where more do, that would be done again for each
 * row, so they are decoded here, once. */
enum { MAX_SHARED_ROWS = 8 };

struct cov_h5_set {
    hid_t id, type, space;
    int rank;
    char *name;
    char *path; /* of the file */
    struct cov_h5_rows stored, handed;
    bool undo_by_hdf5; /* stored in a way that only libhdf5 can undo: H5Dread gives plain rows */
    struct cov_h5_bands bands;
};

/* ---- errors ---- */

/* What went wrong first, at the bottom of libhdf5. */
struct reason {
    char text[400];
    bool is_io; /* the operating system's own words */
};

static herr_t take_first(unsigned n, const H5E_error2_t *error, void *arg)
{
    struct reason *r = arg;
    static const char key[] = "error message = '";
    const char *text = error->desc ? error->desc : "";
    const char *os = strstr(text, key);
    if (os) {
        os += sizeof key - 1;
        r->is_io = true;
        (void)snprintf(r->text, sizeof r->text, "%.*s", (int)strcspn(os, "'"), os);
    } else if (n == 0) {
        (void)snprintf(r->text, sizeof r->text, "%s", text);
    }
    return 0;
}

/* Fails with "<path>: [<set>: ]<what> (<libhdf5's reason>)". To be called before anything else is
 * asked of libhdf5, which then forgets the reason. */
static int fail(struct cov_err *e, int code, const char *path, const char *set, const char *what)
{
    struct reason r = {"", false};
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &r);
    (void)H5Eclear2(H5E_DEFAULT);
    const char *colon = set ? ": " : "";
    if (!set)
        set = "";
    if (r.is_io)
        return cov_fail(e, COV_EIO, "%s%s%s: %s: %s", path, colon, set, what, r.text);
    if (r.text[0])
        return cov_fail(e, code, "%s%s%s: %s (libhdf5: %s)", path, colon, set, what, r.text);
    return cov_fail(e, code, "%s%s%s: %s", path, colon, set, what);
}

static int fail_set(const struct cov_h5_set *s, struct cov_err *e, int code, const char *what)
{
    return fail(e, code, s->path, s->name, what);
}

/* ---- the library ---- */

/* libhdf5 calls these where it reads chunks itself. Nothing is compressed here: 0 means "not
 * smaller". */
static size_t undo_filter(int id, uint64_t claim, unsigned flags, size_t n, size_t *cap, void **buf)
{
    const struct cov_filter filter = {id, 0, 0};
    if (!(flags & H5Z_FLAG_REVERSE) || claim == 0 || claim > COV_H5_MAX_BYTES)
        return 0;
    void *out = H5allocate_memory((size_t)claim, false);
    if (!out)
        return 0;
    if (cov_codec_undo(&filter, 1, 0, *buf, n, out, (size_t)claim, NULL, NULL)) {
        (void)H5free_memory(out);
        return 0;
    }
    (void)H5free_memory(*buf);
    *buf = out;
    *cap = (size_t)claim;
    return (size_t)claim;
}

static size_t lzf_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n,
                         size_t *cap, void **buf)
{
    return undo_filter(COV_H5_LZF, n_values < 3 ? 0 : values[2], flags, n, cap, buf);
}

#define FILTER(name, id)                                                                           \
    static size_t name(unsigned flags, size_t n_values, const unsigned values[], size_t n,         \
                       size_t *cap, void **buf)                                                    \
    {                                                                                              \
        (void)n_values;                                                                            \
        (void)values;                                                                              \
        return undo_filter(id, cov_codec_claim(id, *buf, n), flags, n, cap, buf);                  \
    }
FILTER(blosc_filter, COV_H5_BLOSC)
FILTER(lz4_filter, COV_H5_LZ4)
FILTER(zstd_filter, COV_H5_ZSTD)
#undef FILTER

/* Registers what no one has registered yet. Plugins in files are left alone: they trust what they
 * decode. */
static int register_filters(struct cov_err *e)
{
    static const H5Z_class2_t filters[] = {
        {H5Z_CLASS_T_VERS, COV_H5_LZF, 1, 1, "lzf", NULL, NULL, lzf_filter},
        {H5Z_CLASS_T_VERS, COV_H5_BLOSC, 1, 1, "blosc", NULL, NULL, blosc_filter},
        {H5Z_CLASS_T_VERS, COV_H5_LZ4, 1, 1, "lz4", NULL, NULL, lz4_filter},
        {H5Z_CLASS_T_VERS, COV_H5_ZSTD, 1, 1, "zstd", NULL, NULL, zstd_filter},
    };
    unsigned plugins = 0;
    bool known_state = H5PLget_loading_state(&plugins) >= 0 && H5PLset_loading_state(0) >= 0;
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(filters); i++)
        if (H5Zfilter_avail(filters[i].id) <= 0 && H5Zregister(&filters[i]) < 0 && !rc)
            rc = cov_fail(e, COV_EIO, "libhdf5 does not take the filter %s", filters[i].name);
    if (known_state)
        (void)H5PLset_loading_state(plugins);
    return rc;
}

static int init_library(struct cov_err *e)
{
    /* At the end of the process files are closed already; after a failed write, libhdf5 would try
     * again. */
    (void)H5dont_atexit();
    if (H5open() < 0)
        return cov_fail(e, COV_EIO, "libhdf5 does not start");
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    int rc = register_filters(e);
    (void)H5Eclear2(H5E_DEFAULT);
    return rc;
}

static hid_t access_list(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
    /* Locks fail on many network file systems, and protect nothing here: outputs have temporary
     * names. */
    (void)H5Pset_file_locking(fapl, false, true);
#endif
    return fapl;
}

static void close_id(hid_t id)
{
    if (id >= 0)
        (void)H5Idec_ref(id);
}

static struct cov_h5 *new_file(const char *path, struct cov_err *e)
{
    struct cov_h5 *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    f->id = H5I_INVALID_HID;
    f->path = cov_strdup(path, e);
    if (!f->path) {
        free(f);
        return NULL;
    }
    return f;
}

void cov_h5_close(struct cov_h5 *f)
{
    if (!f)
        return;
    if (f->id >= 0)
        (void)H5Fclose(f->id);
    (void)H5Eclear2(H5E_DEFAULT);
    free(f->path);
    free(f);
}

const char *cov_h5_path(const struct cov_h5 *f)
{
    return f->path;
}

/* ---- reading ---- */

int cov_h5_open_unchecked(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    *out = NULL;
    int rc = init_library(e);
    if (rc)
        return rc;
    struct cov_h5 *f = new_file(path, e);
    if (!f)
        return COV_ENOMEM;
    hid_t fapl = access_list();
    f->id = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    if (f->id < 0)
        rc = fail(e, COV_EINPUT, path, NULL, "damaged HDF5 file");
    close_id(fapl);
    if (rc)
        cov_h5_close(f);
    else
        *out = f;
    return rc;
}

int cov_h5_open(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    *out = NULL;
    int rc = cov_h5_probe(path, e);
    return rc ? rc : cov_h5_open_unchecked(path, out, e);
}

/* 1, 0, or negative when the file is too damaged to tell. */
static int exists(const struct cov_h5 *f, const char *name)
{
    /* Each step on the way has to be asked for. */
    char part[256];
    size_t n = strlen(name);
    if (n >= sizeof part)
        return 0;
    for (size_t i = 1; i <= n; i++)
        if (i == n || name[i] == '/') {
            memcpy(part, name, i);
            part[i] = '\0';
            htri_t found = H5Lexists(f->id, part, H5P_DEFAULT);
            if (found <= 0)
                return found;
        }
    return H5Oexists_by_name(f->id, name, H5P_DEFAULT);
}

bool cov_h5_has(const struct cov_h5 *f, const char *name)
{
    bool has = exists(f, name) > 0;
    (void)H5Eclear2(H5E_DEFAULT);
    return has;
}

struct names {
    char **text;
    size_t n, cap;
    struct cov_err *e;
    int rc;
};

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *arg)
{
    (void)group;
    (void)info;
    struct names *list = arg;
    void *text = list->text;
    list->rc = cov_reserve(&text, &list->cap, list->n + 1, sizeof *list->text, list->e);
    list->text = text;
    if (list->rc)
        return -1;
    char *copy = cov_strdup(name, list->e);
    if (!copy) {
        list->rc = COV_ENOMEM;
        return -1;
    }
    list->text[list->n++] = copy;
    return 0;
}

int cov_h5_list(const struct cov_h5 *f, const char *name, char ***names, size_t *n,
                struct cov_err *e)
{
    *names = NULL;
    *n = 0;
    if (!cov_h5_has(f, name))
        return COV_OK;
    struct names list = {NULL, 0, 0, e, COV_OK};
    herr_t done = H5Literate_by_name(f->id, name, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &list,
                                     H5P_DEFAULT);
    if (done < 0) {
        cov_h5_free_names(list.text, list.n);
        return list.rc ? list.rc : fail(e, COV_EINPUT, f->path, name, "cannot be listed");
    }
    *names = list.text;
    *n = list.n;
    return COV_OK;
}

void cov_h5_free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

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
            return fail_set(s, e, COV_EINPUT, "strings of variable length are not supported");
        t->kind = COV_H5_STRING;
        t->padding = H5Tget_strpad(s->type) == H5T_STR_SPACEPAD ? ' ' : '\0';
        /* No name is that long. */
        return t->bytes > 0 && t->bytes <= 65536
                   ? COV_OK
                   : fail_set(s, e, COV_EINPUT, "strings of more than 65536 bytes");
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
    return fail_set(s, e, COV_EINPUT,
                    "the type of its elements is none of integer, float, text of fixed length");
}

static int describe_shape(struct cov_h5_set *s, int rank, size_t dims[3], struct cov_err *e)
{
    int n = H5Sget_simple_extent_ndims(s->space);
    if (n < 0)
        return fail_set(s, e, COV_EINPUT, "damaged shape");
    if ((rank ? n != rank : n < 1 || n > 3) || H5Sget_simple_extent_type(s->space) != H5S_SIMPLE)
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

/* The filters as they were applied; *ours: cov_codec_undo knows them all. */
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
    close_id(s->id);
    close_id(s->type);
    close_id(s->space);
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
    int found = exists(f, name);
    if (found < 0)
        return fail(e, COV_EINPUT, f->path, name, "damaged HDF5 file");
    if (found == 0)
        return cov_fail(e, COV_EINPUT, "%s: there is no data set %s", f->path, name);
    struct cov_h5_set *s = new_set(f, name, e);
    if (!s)
        return COV_ENOMEM;
    int rc;
    hid_t dcpl = H5I_INVALID_HID, dapl = H5I_INVALID_HID;
    s->id = H5Dopen2(f->id, name, H5P_DEFAULT);
    if (s->id < 0) {
        rc = fail_set(s, e, COV_EINPUT, "not a data set, or a damaged one");
        goto out;
    }
    s->type = H5Dget_type(s->id);
    s->space = H5Dget_space(s->id);
    dcpl = H5Dget_create_plist(s->id);
    if (s->type < 0 || s->space < 0 || dcpl < 0) {
        rc = fail_set(s, e, COV_EINPUT, "damaged data set");
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
    close_id(s->id);
    s->id = H5Dopen2(f->id, name, dapl);
    if (s->id < 0) {
        rc = fail_set(s, e, COV_EINPUT, "damaged data set");
        goto out;
    }
    *out = s;
    s = NULL;
out:
    close_id(dcpl);
    close_id(dapl);
    cov_h5_set_close(s);
    return rc;
}

const struct cov_h5_rows *cov_h5_set_rows(const struct cov_h5_set *s)
{
    return &s->handed;
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

static int fetch_chunk(struct cov_h5_set *s, const hsize_t at[3], struct cov_blob *raw,
                       struct cov_err *e)
{
    hsize_t n = 0;
    if (H5Dget_chunk_storage_size(s->id, at, &n) < 0 && !says_not_stored())
        return fail_set(s, e, COV_EINPUT, "damaged index of chunks");
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
    close_id(memory);
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

/* ---- writing ---- */

int cov_h5_create(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    *out = NULL;
    int rc = init_library(e);
    if (rc)
        return rc;
    struct cov_h5 *f = new_file(path, e);
    if (!f)
        return COV_ENOMEM;
    hid_t fapl = access_list(), fcpl = H5Pcreate(H5P_FILE_CREATE);
    (void)H5Pset_obj_track_times(fcpl, false);
    f->id = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    if (f->id < 0)
        rc = fail(e, COV_EIO, path, NULL, "cannot be created");
    close_id(fapl);
    close_id(fcpl);
    if (rc)
        cov_h5_close(f);
    else
        *out = f;
    return rc;
}

int cov_h5_finish(struct cov_h5 *f, struct cov_err *e)
{
    int rc = COV_OK;
    if (H5Fflush(f->id, H5F_SCOPE_GLOBAL) < 0)
        rc = fail(e, COV_EIO, f->path, NULL, "cannot be written");
    hid_t id = f->id;
    f->id = H5I_INVALID_HID;
    if (H5Fclose(id) < 0 && !rc)
        rc = fail(e, COV_EIO, f->path, NULL, "cannot be written");
    cov_h5_close(f);
    return rc;
}

int cov_h5_write_attr(struct cov_h5 *f, const char *name, const char *text, struct cov_err *e)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool good = H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    hid_t attr =
        good ? H5Acreate2(f->id, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
    good = attr >= 0 && H5Awrite(attr, type, &text) >= 0;
    int rc = good ? COV_OK : fail(e, COV_EIO, f->path, name, "the attribute cannot be written");
    close_id(attr);
    close_id(type);
    close_id(space);
    return rc;
}

static hid_t make_type(const struct cov_h5_type *t)
{
    hid_t type;
    switch (t->kind) {
    case COV_H5_STRING:
        type = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(type, t->bytes);
        (void)H5Tset_strpad(type, H5T_STR_NULLPAD);
        return type;
    case COV_H5_INT:
        return H5Tcopy(t->bytes == 2   ? H5T_STD_I16LE
                       : t->bytes == 4 ? H5T_STD_I32LE
                                       : H5T_STD_I64LE);
    case COV_H5_FLOAT:
        break;
    }
    type = H5Tcopy(H5T_IEEE_F32LE);
    if (t->bytes == 2) {
        /* As h5py makes it from F32: the fields first, then the size that they fit into. */
        (void)H5Tset_fields(type, 15, 10, 5, 0, 10);
        (void)H5Tset_size(type, 2);
        (void)H5Tset_ebias(type, 15);
    }
    return type;
}

static bool declare_filter(hid_t dcpl, const struct cov_filter *f, int deflate_level,
                           size_t chunk_bytes)
{
    if (f->id == COV_H5_SHUFFLE)
        return H5Pset_shuffle(dcpl) >= 0;
    if (f->id == COV_H5_DEFLATE)
        return H5Pset_deflate(dcpl, (unsigned)deflate_level) >= 0;
    unsigned values[COV_CODEC_MAX_VALUES];
    size_t n = cov_codec_values(f, chunk_bytes, values);
    return H5Pset_filter(dcpl, f->id, H5Z_FLAG_OPTIONAL, n, values) >= 0;
}

static hid_t make_create_list(const struct cov_h5_new *spec)
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
    if (spec->type.kind != COV_H5_STRING && spec->fill != 0)
        good = good && H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &spec->fill) >= 0;
    for (size_t i = 0; good && i < spec->n_filters; i++)
        good = declare_filter(dcpl, &spec->filters[i], spec->deflate_level, chunk_bytes);
    if (good)
        return dcpl;
    close_id(dcpl);
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
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE), dcpl = make_create_list(spec);
    (void)H5Pset_create_intermediate_group(lcpl, 1);
    s->type = make_type(&spec->type);
    s->space = H5Screate_simple(spec->rank, dims, max_dims);
    s->id = dcpl >= 0 ? H5Dcreate2(f->id, name, s->type, s->space, lcpl, dcpl, H5P_DEFAULT)
                      : H5I_INVALID_HID;
    int rc = s->id >= 0 ? COV_OK : fail_set(s, e, COV_EIO, "cannot be created");
    close_id(lcpl);
    close_id(dcpl);
    if (rc)
        cov_h5_set_close(s);
    else
        *out = s;
    return rc;
}

int cov_h5_set_put(struct cov_h5_set *s, const size_t at[3], const uint8_t *piece, size_t n,
                   struct cov_err *e)
{
    assert(n > COV_H5_PIECE_HEAD);
    const hsize_t offset[3] = {at[0], at[1], at[2]};
    uint32_t mask;
    memcpy(&mask, piece, sizeof mask);
    if (H5Dwrite_chunk(s->id, H5P_DEFAULT, mask, offset, n - COV_H5_PIECE_HEAD,
                       piece + COV_H5_PIECE_HEAD) < 0)
        return fail_set(s, e, COV_EIO, "cannot be written");
    return COV_OK;
}
