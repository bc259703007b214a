/* h5.c - see h5.h: the library and its errors, files.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/store/h5_private.h"

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
    if (r.text[0])
        return cov_fail(e, code, "%s%s%s: %s (libhdf5: %s)", path, colon, set, what, r.text);
    return cov_fail(e, code, "%s%s%s: %s", path, colon, set, what);
}

int cov_h5_fail_set(const struct cov_h5_set *s, struct cov_err *e, int code, const char *what)
{
    return cov_h5_fail(e, code, s->path, s->name, what);
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

const char *cov_h5_path(const struct cov_h5 *f)
{
    return f->path;
}

/* ---- reading ---- */

static int open_file(const char *path, bool to_write, struct cov_h5 **out, struct cov_err *e)
{
    *out = NULL;
    int rc = init_library(e);
    if (rc)
        return rc;
    struct cov_h5 *f = new_file(path, e);
    if (!f)
        return COV_ENOMEM;
    hid_t fapl = access_list();
    /* These macros start libhdf5: not before init_library. */
    f->id = H5Fopen(path, to_write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
    if (f->id < 0)
        rc = cov_h5_fail(e, COV_EINPUT, path, NULL, "damaged HDF5 file");
    cov_h5_close_id(fapl);
    if (rc)
        cov_h5_close(f);
    else
        *out = f;
    return rc;
}

int cov_h5_open_unchecked(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    return open_file(path, false, out, e);
}

/* 1, 0, or negative when the file is too damaged to tell. */
int cov_h5_exists(const struct cov_h5 *f, const char *name)
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
    bool has = cov_h5_exists(f, name) > 0;
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
    list->rc = COV_RESERVE(&list->text, &list->cap, list->n + 1, list->e);
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
        return list.rc ? list.rc : cov_h5_fail(e, COV_EINPUT, f->path, name, "cannot be listed");
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

/* ---- writing ---- */

/* What libhdf5 keeps of indices of chunks while a file is written, where they grow at few places:
 * else up to 32 MB. */
static void limit_metadata(hid_t fapl)
{
    enum { MOST_BYTES = 2 << 20 };
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(fapl, &config) < 0)
        return;
    config.max_size = MOST_BYTES;
    config.set_initial_size = true;
    config.initial_size = config.min_size;
    (void)H5Pset_mdc_config(fapl, &config);
}

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
    limit_metadata(fapl);
    (void)H5Pset_obj_track_times(fcpl, false);
    f->id = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    if (f->id < 0)
        rc = cov_h5_fail(e, COV_EIO, path, NULL, "cannot be created");
    cov_h5_close_id(fapl);
    cov_h5_close_id(fcpl);
    if (rc)
        cov_h5_close(f);
    else
        *out = f;
    return rc;
}

int cov_h5_open_to_change(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    return open_file(path, true, out, e);
}

int cov_h5_remove(struct cov_h5 *f, const char *name, struct cov_err *e)
{
    return H5Ldelete(f->id, name, H5P_DEFAULT) < 0
               ? cov_h5_fail(e, COV_EIO, f->path, name, "cannot be taken out")
               : COV_OK;
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

void cov_h5_version(char *buf, size_t n)
{
    unsigned major = 0, minor = 0, release = 0;
    (void)H5get_libversion(&major, &minor, &release);
    (void)snprintf(buf, n, "%u.%u.%u", major, minor, release);
}
