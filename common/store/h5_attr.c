/* h5_attr.c - see h5.h: attributes of files and data sets, and what data sets there are.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Deeper groups, longer texts, or more names are damage. */
enum { MAX_DEPTH = 16, MAX_TEXT = 65536, MAX_LINKS = 65536 };

/* The data set, or the file itself. Negative on failure. */
static hid_t open_object(const struct cov_h5 *f, const char *set)
{
    return set ? H5Dopen2(f->id, set, H5P_DEFAULT) : H5Gopen2(f->id, "/", H5P_DEFAULT);
}

/* ---- writing ---- */

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
        /* libhdf5 ends it with a zero. */
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
    int rc = COV_OK;
    if (type < 0 || space < 0)
        rc = cov_h5_fail(a->e, COV_EINPUT, a->f->path, a->set, "a damaged attribute");
    else if (H5Sget_simple_extent_npoints(space) == 1) {
        H5T_class_t kind = H5Tget_class(type);
        if (kind == H5T_STRING)
            rc = read_text(a, attr, type, &out->text);
        else if (kind == H5T_INTEGER)
            out->is_int = H5Aread(attr, H5T_NATIVE_INT64, &out->value) >= 0;
    }
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

/* ---- all data sets ---- */

struct walk {
    const struct cov_h5 *f;
    char path[256]; /* of the group, empty or with a / at its end */
    int depth;
    size_t n_links, max_sets;
    char **names;
    size_t n, cap;
    struct cov_err *e;
    int rc;
};

static int add_set(struct walk *w)
{
    if (w->n >= w->max_sets)
        return cov_fail(w->e, COV_EINPUT, "%s: more than %zu data sets", w->f->path, w->max_sets);
    int rc = COV_RESERVE(&w->names, &w->cap, w->n + 1, w->e);
    if (rc)
        return rc;
    w->names[w->n] = cov_strdup(w->path, w->e);
    if (!w->names[w->n])
        return COV_ENOMEM;
    w->n++;
    return COV_OK;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *arg);

static int visit_object(struct walk *w, hid_t group, const char *name)
{
    H5O_info_t info;
    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return cov_h5_fail(w->e, COV_EINPUT, w->f->path, w->path, "a damaged object");
    if (info.type == H5O_TYPE_DATASET)
        return add_set(w);
    if (info.type != H5O_TYPE_GROUP)
        return COV_OK; /* a type that data sets may share */
    size_t n = strlen(w->path);
    if (w->depth == MAX_DEPTH || n + 1 >= sizeof w->path)
        return cov_fail(w->e, COV_EINPUT, "%s: %s: groups within groups without end", w->f->path,
                        w->path);
    w->path[n] = '/';
    w->path[n + 1] = '\0';
    w->depth++;
    herr_t done = H5Literate_by_name(group, name, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, w,
                                     H5P_DEFAULT);
    w->depth--;
    if (done < 0 && !w->rc)
        w->rc = cov_h5_fail(w->e, COV_EINPUT, w->f->path, w->path, "cannot be listed");
    return w->rc;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *arg)
{
    struct walk *w = arg;
    size_t n = strlen(w->path), n_name = strlen(name);
    if (n + n_name >= sizeof w->path || n_name == 0 || ++w->n_links > MAX_LINKS) {
        w->rc = cov_fail(w->e, COV_EINPUT, "%s: %s: too many names, or too long ones", w->f->path,
                         w->path);
        return -1;
    }
    memcpy(w->path + n, name, n_name + 1);
    if (info->type == H5L_TYPE_HARD)
        w->rc = visit_object(w, group, name);
    else
        w->rc = cov_fail(w->e, COV_EUNSUPPORTED, "%s: %s: a link to elsewhere is not supported",
                         w->f->path, w->path);
    w->path[n] = '\0';
    return w->rc ? -1 : 0;
}

int cov_h5_list_sets(const struct cov_h5 *f, size_t max_sets, char ***names, size_t *n,
                     struct cov_err *e)
{
    struct walk w = {.f = f, .max_sets = max_sets, .e = e};
    *names = NULL;
    *n = 0;
    herr_t done = H5Literate(f->id, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &w);
    if (done < 0 && !w.rc)
        w.rc = cov_h5_fail(e, COV_EINPUT, f->path, NULL, "damaged HDF5 file");
    if (w.rc) {
        cov_h5_free_names(w.names, w.n);
        return w.rc;
    }
    *names = w.names;
    *n = w.n;
    return COV_OK;
}
