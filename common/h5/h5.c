/* h5.c - see h5.h: the library, its errors, files, attributes, lists of datasets, and types of elements.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/bgz.h"
#include "common/file/hash.h"
#include "common/h5/h5_private.h"

/* ---- errors ---- */

/* The innermost error of libhdf5. */
struct reason {
    char text[400];
    bool is_io; /* text of the operating system's error */
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

int cov_h5_fail(struct cov_err *e, int code, const char *path, const char *set, const char *what)
{
    struct reason r = {"", false};
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &r);
    (void)H5Eclear2(H5E_DEFAULT);
    const char *colon = set ? ": " : "";
    if (!set)
        set = "";
    if (r.is_io)
        return cov_fail(e, COV_EIO, "%s%s%s: %s: %s", path, colon, set, what, r.text);
    if (strstr(r.text, "version number")) {
        unsigned version[3] = {0, 0, 0};
        (void)H5get_libversion(&version[0], &version[1], &version[2]);
        return cov_fail(e, code,
                        "%s%s%s: written in a format that this HDF5 (%u.%u.%u) cannot read, as by "
                        "HDF5 2.0 with libver='latest', or damaged (libhdf5: %s); write it with "
                        "libver='v110', or convert it with h5repack --high=2",
                        path, colon, set, version[0], version[1], version[2], r.text);
    }
    if (r.text[0])
        return cov_fail(e, code, "%s%s%s: %s (libhdf5: %s)", path, colon, set, what, r.text);
    return cov_fail(e, code, "%s%s%s: %s", path, colon, set, what);
}

/* ---- the library ---- */

/* Decodes a chunk that libhdf5 reads itself. Cannot encode: if asked to, it returns 0, which means
 * "not smaller". */
static size_t undo_filter(const struct cov_codec *codec, unsigned flags, size_t n_values,
                          const unsigned *values, size_t n, size_t *cap, void **buf)
{
    uint64_t claim = codec->claim(values, n_values, *buf, n);
    if (!(flags & H5Z_FLAG_REVERSE) || claim == 0 || claim > COV_H5_MAX_BYTES)
        return 0;
    void *out = H5allocate_memory((size_t)claim, false);
    if (!out)
        return 0;
    if (codec->decode(*buf, n, out, (size_t)claim, NULL)) {
        (void)H5free_memory(out);
        return 0;
    }
    (void)H5free_memory(*buf);
    *buf = out;
    *cap = (size_t)claim;
    return (size_t)claim;
}

/* libhdf5 does not tell a filter function which filter it is, so each row of the table has one. */
#define UNDO(row)                                                                                  \
    static size_t undo_##row(unsigned flags, size_t n_values, const unsigned values[], size_t n,   \
                             size_t *cap, void **buf)                                              \
    {                                                                                              \
        return undo_filter(cov_codecs[row], flags, n_values, values, n, cap, buf);                 \
    }
UNDO(4)
UNDO(5)
UNDO(6)
UNDO(7)
#undef UNDO
static const H5Z_func_t undo[] = {NULL, NULL, NULL, NULL, undo_4, undo_5, undo_6, undo_7};
_Static_assert(COV_COUNT(undo) == COV_N_CODECS, "a row of cov_codecs has no UNDO");

/* Registers the filters that libhdf5 lacks. Turns off loading of filter plugins, from the directories
 * of HDF5_PLUGIN_PATH: others may have put them there, and plugins trust the data they decode. */
static int register_filters(struct cov_err *e)
{
    int rc = COV_OK;
    (void)H5PLset_loading_state(0);
    for (size_t i = 0; i < COV_N_CODECS; i++) {
        const struct cov_codec *c = cov_codecs[i];
        const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, c->h5_id, 1,    1,
                                     c->name,          NULL,     NULL, undo[i]};
        if (undo[i] && H5Zfilter_avail(c->h5_id) <= 0 && H5Zregister(&filter) < 0 && !rc)
            rc = cov_fail(e, COV_EIO, "libhdf5 does not accept the filter %s", c->name);
    }
    return rc;
}

static int init_library(struct cov_err *e)
{
    /* Files are closed before exit. At exit, libhdf5 would try again to write what had failed. */
    (void)H5dont_atexit();
    if (H5open() < 0)
        return cov_fail(e, COV_EIO, "libhdf5 does not start");
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    int rc = register_filters(e);
    (void)H5Eclear2(H5E_DEFAULT);
    return rc;
}

void cov_libraries_print(FILE *f)
{
    unsigned v[3] = {0, 0, 0};
    (void)H5get_libversion(&v[0], &v[1], &v[2]);
    (void)fprintf(f, "htslib %s\nHDF5 %u.%u.%u\nzlib %s\n", cov_bgz_version(), v[0], v[1], v[2],
                  cov_bgz_zlib_version());
    for (size_t i = 0; i < COV_N_CODECS; i++)
        if (cov_codecs[i]->library)
            (void)fprintf(f, "%s %s\n", cov_codecs[i]->library, cov_codecs[i]->version());
    (void)fprintf(f, "OpenSSL %s\n", cov_sha256_version());
}

static hid_t access_list(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
    /* Locks fail on many network file systems and are not needed: outputs have temporary names. */
    (void)H5Pset_file_locking(fapl, false, true);
#endif
    return fapl;
}

void cov_h5_close_id(hid_t id)
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

uint64_t cov_h5_bytes(const struct cov_h5 *f)
{
    hsize_t n;
    return H5Fget_filesize(f->id, &n) < 0 ? 0 : n;
}

const char *cov_h5_path(const struct cov_h5 *f)
{
    return f->path;
}

/* ---- opening ---- */

/* Limits the cache of chunk indices, which could otherwise grow with the file. Sizes are those in
 * the file; a node of an index takes 6 times as much in memory. Reading and writing use only a few
 * nodes at a time. */
static void limit_metadata(hid_t fapl)
{
    enum { MOST_BYTES = 1 << 18 };
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(fapl, &config) < 0)
        return;
    config.max_size = config.min_size = config.initial_size = MOST_BYTES;
    config.set_initial_size = true;
    (void)H5Pset_mdc_config(fapl, &config);
}

enum mode { READ, CHANGE, CREATE };

static int open_file(const char *path, enum mode mode, struct cov_h5 **out, struct cov_err *e)
{
    *out = NULL;
    int rc = init_library(e);
    if (rc)
        return rc;
    struct cov_h5 *f = new_file(path, e);
    if (!f)
        return COV_ENOMEM;
    hid_t fapl = access_list(), fcpl = H5Pcreate(H5P_FILE_CREATE);
    limit_metadata(fapl);
    if (mode == CREATE) {
        (void)H5Pset_obj_track_times(fcpl, false);
        f->id = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    } else {
        f->id = H5Fopen(path, mode == CHANGE ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
    }
    if (f->id < 0)
        rc = mode == CREATE ? cov_h5_fail(e, COV_EIO, path, NULL, "cannot be created")
                            : cov_h5_fail(e, COV_EINPUT, path, NULL, "damaged HDF5 file");
    cov_h5_close_id(fapl);
    cov_h5_close_id(fcpl);
    if (rc)
        cov_h5_close(f);
    else
        *out = f;
    return rc;
}

int cov_h5_open_unchecked(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    return open_file(path, READ, out, e);
}

int cov_h5_open_to_change(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    return open_file(path, CHANGE, out, e);
}

int cov_h5_create(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    return open_file(path, CREATE, out, e);
}

int cov_h5_has(const struct cov_h5 *f, const char *name, struct cov_err *e)
{
    /* Every group of the path must be checked. */
    char part[256];
    size_t n = strlen(name);
    htri_t found = n < sizeof part;
    for (size_t i = 1; found > 0 && i <= n; i++)
        if (i == n || name[i] == '/') {
            memcpy(part, name, i);
            part[i] = '\0';
            found = H5Lexists(f->id, part, H5P_DEFAULT);
        }
    if (found > 0)
        found = H5Oexists_by_name(f->id, name, H5P_DEFAULT);
    return found < 0 ? cov_h5_fail(e, COV_EINPUT, f->path, name, "damaged HDF5 file") : found > 0;
}

struct names {
    char **text;
    size_t n, cap;
    struct cov_err *e;
    int rc;
};

/* Adds a copy of the name; returns list->rc. */
static int add_name(struct names *list, const char *name)
{
    list->rc = COV_RESERVE(&list->text, &list->cap, list->n + 1, list->e);
    if (list->rc)
        return list->rc;
    list->text[list->n] = cov_strdup(name, list->e);
    list->rc = list->text[list->n] ? COV_OK : COV_ENOMEM;
    list->n += !list->rc;
    return list->rc;
}

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *list)
{
    (void)group, (void)info;
    return add_name(list, name) ? -1 : 0;
}

/* Sets *names to the list; after a failure, frees it. Returns list->rc. */
static int take_names(struct names *list, char ***names, size_t *n)
{
    if (list->rc) {
        cov_h5_free_names(list->text, list->n);
        return list->rc;
    }
    *names = list->text;
    *n = list->n;
    return COV_OK;
}

int cov_h5_list(const struct cov_h5 *f, const char *name, char ***names, size_t *n,
                struct cov_err *e)
{
    *names = NULL;
    *n = 0;
    int found = cov_h5_has(f, name, e);
    if (found <= 0)
        return found;
    struct names list = {.e = e};
    herr_t done = H5Literate_by_name(f->id, name, H5_INDEX_NAME, H5_ITER_INC, NULL, add_link, &list,
                                     H5P_DEFAULT);
    if (done < 0 && !list.rc)
        list.rc = cov_h5_fail(e, COV_EINPUT, f->path, name, "cannot be listed");
    return take_names(&list, names, n);
}

void cov_h5_free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* ---- writing ---- */

int cov_h5_remove(struct cov_h5 *f, const char *name, struct cov_err *e)
{
    int found = cov_h5_has(f, name, e);
    return found > 0 && H5Ldelete(f->id, name, H5P_DEFAULT) < 0
               ? cov_h5_fail(e, COV_EIO, f->path, name, "cannot be removed")
               : (found < 0 ? found : COV_OK);
}

int cov_h5_finish(struct cov_h5 *f, struct cov_err *e)
{
    int rc = COV_OK;
    if (H5Fflush(f->id, H5F_SCOPE_GLOBAL) < 0)
        rc = cov_h5_fail(e, COV_EIO, f->path, NULL, "cannot be written");
    hid_t id = f->id;
    f->id = H5I_INVALID_HID;
    if (H5Fclose(id) < 0 && !rc)
        rc = cov_h5_fail(e, COV_EIO, f->path, NULL, "cannot be written");
    cov_h5_close(f);
    return rc;
}

/* Opens the dataset or group, or the root group if `set` is NULL. Returns a negative number on
 * failure. */
static hid_t open_object(const struct cov_h5 *f, const char *set)
{
    return H5Oopen(f->id, set ? set : "/", H5P_DEFAULT);
}

static int write_attr(struct cov_h5 *f, const char *set, const char *name, hid_t type,
                      const void *value, struct cov_err *e)
{
    hid_t space = H5Screate(H5S_SCALAR), object = open_object(f, set), attr = H5I_INVALID_HID;
    if (object >= 0 && type >= 0)
        attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attr >= 0 && H5Awrite(attr, type, value) >= 0;
    int rc =
        good ? COV_OK : cov_h5_fail(e, COV_EIO, f->path, name, "the attribute cannot be written");
    cov_h5_close_id(attr);
    cov_h5_close_id(object);
    cov_h5_close_id(space);
    return rc;
}

int cov_h5_write_attr(struct cov_h5 *f, const char *set, const char *name, const char *text,
                      struct cov_err *e)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    (void)H5Tset_size(type, H5T_VARIABLE);
    (void)H5Tset_cset(type, H5T_CSET_UTF8);
    int rc = write_attr(f, set, name, type, &text, e);
    cov_h5_close_id(type);
    return rc;
}

int cov_h5_write_attr_int(struct cov_h5 *f, const char *set, const char *name, int64_t value,
                          struct cov_err *e)
{
    hid_t type = H5Tcopy(H5T_STD_I64LE);
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)value >> 8 * i);
    int rc = write_attr(f, set, name, type, bytes, e);
    cov_h5_close_id(type);
    return rc;
}

/* ---- reading ---- */

/* A file with more is damaged. */
enum { MAX_DEPTH = 16, MAX_TEXT = 65536, MAX_LINKS = 65536 };

struct attrs {
    const struct cov_h5 *f;
    const char *set;
    struct cov_h5_attr *list;
    size_t n, cap;
    struct cov_err *e;
    int rc;
};

static int read_text(const struct attrs *a, hid_t attr, hid_t type, char **text)
{
    size_t n = H5Tget_size(type);
    if (H5Tis_variable_str(type) > 0) {
        char *value = NULL;
        if (a->f->texts_damaged || H5Aread(attr, type, &value) < 0) {
            if (a->f->texts_failed)
                *a->f->texts_failed = true;
            return cov_h5_fail(a->e, COV_EINPUT, a->f->path, a->set, "a damaged attribute");
        }
        /* libhdf5 terminates it with a zero. */
        *text = cov_strdup(value ? value : "", a->e);
        if (value)
            (void)H5free_memory(value);
        return *text ? COV_OK : COV_ENOMEM;
    }
    if (n == 0 || n > MAX_TEXT)
        return cov_fail(a->e, COV_EINPUT, "%s: an attribute of %zu bytes", a->f->path, n);
    char *value = cov_calloc(n + 1, 1, a->e);
    if (!value)
        return COV_ENOMEM;
    if (H5Aread(attr, type, value) < 0) {
        free(value);
        return cov_h5_fail(a->e, COV_EINPUT, a->f->path, a->set, "a damaged attribute");
    }
    if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
        while (n > 0 && value[n - 1] == ' ')
            value[--n] = '\0';
    *text = value;
    return COV_OK;
}

static int read_attr(const struct attrs *a, hid_t attr, struct cov_h5_attr *out)
{
    hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
    hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    bool good = n >= 0 && kind != H5T_NO_CLASS;
    int rc = COV_OK;
    if (good && n == 1 && kind == H5T_INTEGER)
        out->is_int = good = H5Aread(attr, H5T_NATIVE_INT64, &out->value) >= 0;
    if (!good)
        rc = cov_h5_fail(a->e, COV_EINPUT, a->f->path, a->set, "a damaged attribute");
    else if (n == 1 && kind == H5T_STRING)
        rc = read_text(a, attr, type, &out->text);
    cov_h5_close_id(type);
    cov_h5_close_id(space);
    (void)H5Eclear2(H5E_DEFAULT);
    return rc;
}

static herr_t add_attr(hid_t object, const char *name, const H5A_info_t *info, void *arg)
{
    (void)info;
    struct attrs *a = arg;
    a->rc = a->n < COV_H5_MAX_SETS
                ? COV_RESERVE(&a->list, &a->cap, a->n + 1, a->e)
                : cov_fail(a->e, COV_EINPUT, "%s: too many attributes", a->f->path);
    if (a->rc)
        return -1;
    struct cov_h5_attr *to = &a->list[a->n];
    memset(to, 0, sizeof *to);
    to->name = cov_strdup(name, a->e);
    if (!to->name) {
        a->rc = COV_ENOMEM;
        return -1;
    }
    a->n++;
    hid_t attr = H5Aopen(object, name, H5P_DEFAULT);
    a->rc = attr >= 0 ? read_attr(a, attr, to)
                      : cov_h5_fail(a->e, COV_EINPUT, a->f->path, a->set, "a damaged attribute");
    cov_h5_close_id(attr);
    return a->rc ? -1 : 0;
}

int cov_h5_list_attrs(const struct cov_h5 *f, const char *set, struct cov_h5_attr **attrs,
                      size_t *n, struct cov_err *e)
{
    struct attrs a = {f, set, NULL, 0, 0, e, COV_OK};
    *attrs = NULL;
    *n = 0;
    hid_t object = open_object(f, set);
    herr_t done =
        object >= 0 ? H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attr, &a) : -1;
    if (done < 0 && !a.rc)
        a.rc = cov_h5_fail(e, COV_EINPUT, f->path, set, "its attributes cannot be listed");
    cov_h5_close_id(object);
    if (a.rc) {
        cov_h5_free_attrs(a.list, a.n);
        return a.rc;
    }
    *attrs = a.list;
    *n = a.n;
    return COV_OK;
}

void cov_h5_free_attrs(struct cov_h5_attr *attrs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(attrs[i].name);
        free(attrs[i].text);
    }
    free(attrs);
}

/* ---- all datasets, or all groups ---- */

struct walk {
    const struct cov_h5 *f;
    H5O_type_t wanted; /* what `found` lists */
    char path[256];    /* path of the group: empty, or ends with / */
    int depth;
    size_t n_links;
    struct names found;
};

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *arg);

static int visit_object(struct walk *w, hid_t group, const char *name)
{
    H5O_info_t info;
    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return cov_h5_fail(w->found.e, COV_EINPUT, w->f->path, w->path, "a damaged object");
    if (info.type == w->wanted && w->found.n >= COV_H5_MAX_SETS)
        return cov_fail(w->found.e, COV_EINPUT, "%s: more than %d %s", w->f->path, COV_H5_MAX_SETS,
                        w->wanted == H5O_TYPE_GROUP ? "groups" : "datasets");
    if (info.type == w->wanted && add_name(&w->found, w->path))
        return w->found.rc;
    if (info.type != H5O_TYPE_GROUP)
        return COV_OK; /* a dataset or a named data type */
    size_t n = strlen(w->path);
    if (w->depth == MAX_DEPTH || n + 1 >= sizeof w->path)
        return cov_fail(w->found.e, COV_EINPUT, "%s: %s: groups are nested too deeply", w->f->path,
                        w->path);
    w->path[n] = '/';
    w->path[n + 1] = '\0';
    w->depth++;
    herr_t done = H5Literate_by_name(group, name, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, w,
                                     H5P_DEFAULT);
    w->depth--;
    if (done < 0 && !w->found.rc)
        w->found.rc = cov_h5_fail(w->found.e, COV_EINPUT, w->f->path, w->path, "cannot be listed");
    return w->found.rc;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *arg)
{
    struct walk *w = arg;
    size_t n = strlen(w->path), n_name = strlen(name);
    if (n + n_name >= sizeof w->path || n_name == 0 || ++w->n_links > MAX_LINKS) {
        w->found.rc = cov_fail(w->found.e, COV_EINPUT, "%s: %s: too many names, or names too long",
                               w->f->path, w->path);
        return -1;
    }
    memcpy(w->path + n, name, n_name + 1);
    if (info->type == H5L_TYPE_HARD)
        w->found.rc = visit_object(w, group, name);
    else
        w->found.rc =
            cov_fail(w->found.e, COV_EUNSUPPORTED,
                     "%s: %s: soft and external links are not supported", w->f->path, w->path);
    w->path[n] = '\0';
    return w->found.rc ? -1 : 0;
}

static int list_objects(const struct cov_h5 *f, H5O_type_t wanted, char ***names, size_t *n,
                        struct cov_err *e)
{
    struct walk w = {.f = f, .wanted = wanted, .found.e = e};
    *names = NULL;
    *n = 0;
    herr_t done = H5Literate(f->id, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &w);
    if (done < 0 && !w.found.rc)
        w.found.rc = cov_h5_fail(e, COV_EINPUT, f->path, NULL, "damaged HDF5 file");
    return take_names(&w.found, names, n);
}

int cov_h5_list_sets(const struct cov_h5 *f, char ***names, size_t *n, struct cov_err *e)
{
    return list_objects(f, H5O_TYPE_DATASET, names, n, e);
}

int cov_h5_list_groups(const struct cov_h5 *f, char ***names, size_t *n, struct cov_err *e)
{
    return list_objects(f, H5O_TYPE_GROUP, names, n, e);
}

/* ---- types of elements ---- */

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

static hid_t make_bool(void)
{
    hid_t type = H5Tenum_create(H5T_STD_I8LE);
    (void)H5Tenum_insert(type, "FALSE", &(int8_t){0});
    (void)H5Tenum_insert(type, "TRUE", &(int8_t){1});
    return type;
}

static bool is_bool(hid_t type)
{
    hid_t wanted = make_bool();
    bool same = H5Tequal(type, wanted) > 0;
    cov_h5_close_id(wanted);
    return same;
}

const char *cov_h5_type_describe(hid_t type, struct cov_h5_type *t)
{
    H5T_class_t kind = H5Tget_class(type);
    t->bytes = H5Tget_size(type);
    if (kind == H5T_STRING) {
        if (H5Tis_variable_str(type) != 0)
            return "variable-length strings are not supported";
        t->kind = COV_H5_STRING;
        t->padding = H5Tget_strpad(type) == H5T_STR_SPACEPAD ? ' ' : '\0';
        /* A file with more is damaged. */
        return t->bytes > 0 && t->bytes <= 65536 ? NULL : "strings of more than 65536 bytes";
    }
    H5T_order_t order = kind == H5T_INTEGER || kind == H5T_FLOAT ? H5Tget_order(type) : 0;
    t->big_endian = order == H5T_ORDER_BE && t->bytes > 1;
    if (kind == H5T_INTEGER && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
        (t->bytes == 1 || t->bytes == 2 || t->bytes == 4 || t->bytes == 8) &&
        H5Tget_precision(type) == 8 * t->bytes && H5Tget_offset(type) == 0) {
        t->kind = COV_H5_INT;
        t->is_signed = H5Tget_sign(type) == H5T_SGN_2;
        return NULL;
    }
    if (kind == H5T_FLOAT && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
        is_ieee(type, t->bytes)) {
        t->kind = COV_H5_FLOAT;
        return NULL;
    }
    if (kind == H5T_ENUM && is_bool(type)) {
        t->kind = COV_H5_BOOL;
        return NULL;
    }
    return "elements are neither integers, floats, booleans nor fixed-length strings";
}

hid_t cov_h5_type_make(const struct cov_h5_type *t)
{
    hid_t type;
    switch (t->kind) {
    case COV_H5_STRING:
        type = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(type, t->bytes);
        (void)H5Tset_strpad(type, t->padding == ' ' ? H5T_STR_SPACEPAD : H5T_STR_NULLPAD);
        return type;
    case COV_H5_INT:
        if (!t->is_signed)
            return H5Tcopy(t->bytes == 1   ? H5T_STD_U8LE
                           : t->bytes == 2 ? H5T_STD_U16LE
                           : t->bytes == 4 ? H5T_STD_U32LE
                                           : H5T_STD_U64LE);
        return H5Tcopy(t->bytes == 1   ? H5T_STD_I8LE
                       : t->bytes == 2 ? H5T_STD_I16LE
                       : t->bytes == 4 ? H5T_STD_I32LE
                                       : H5T_STD_I64LE);
    case COV_H5_BOOL:
        return make_bool();
    case COV_H5_FLOAT:
        break;
    }
    type = H5Tcopy(t->bytes == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
    if (t->bytes == 2) {
        /* Derived from F32 as in h5py. The fields must be set first, because they must fit into the
         * new size. */
        (void)H5Tset_fields(type, 15, 10, 5, 0, 10);
        (void)H5Tset_size(type, 2);
        (void)H5Tset_ebias(type, 15);
    }
    return type;
}
