/* h5_plain.c - see h5_plain.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_plain.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/store/h5_private.h"

enum { COLUMNS = 4, HELIXER_LEVEL = 4 };
static const char set_name[] = "data/X";

struct cov_h5_plain {
    struct cov_h5 *file;
    hid_t set, type, memory;
    size_t n_rows, L;
    bool changes;
};

static int fail(const struct cov_h5_plain *p, struct cov_err *e, const char *what)
{
    return cov_h5_fail(e, COV_EIO, cov_h5_path(p->file), set_name, what);
}

int cov_h5_plain_close(struct cov_h5_plain *p, struct cov_err *e)
{
    if (!p)
        return COV_OK;
    cov_h5_close_id(p->memory);
    cov_h5_close_id(p->type);
    cov_h5_close_id(p->set);
    int rc = p->changes && p->file ? cov_h5_finish(p->file, e) : COV_OK;
    if (!p->changes)
        cov_h5_close(p->file);
    free(p);
    return rc;
}

static int open_set(struct cov_h5_plain *p, struct cov_err *e)
{
    hsize_t dims[3] = {0, 0, 0};
    p->set = H5Dopen2(p->file->id, set_name, H5P_DEFAULT);
    hid_t space = p->set >= 0 ? H5Dget_space(p->set) : H5I_INVALID_HID;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 3 &&
                H5Sget_simple_extent_dims(space, dims, NULL) == 3 && dims[2] == COLUMNS;
    cov_h5_close_id(space);
    p->type = p->set >= 0 ? H5Dget_type(p->set) : H5I_INVALID_HID;
    if (!good || p->type < 0 || H5Tget_size(p->type) != sizeof(uint16_t))
        return fail(p, e, "not a one-hot float16 matrix");
    p->n_rows = dims[0];
    p->L = dims[1];
    const hsize_t row[3] = {1, p->L, COLUMNS};
    p->memory = H5Screate_simple(3, row, NULL);
    return p->memory >= 0 ? COV_OK : fail(p, e, "cannot create the data space of a row");
}

/* Replaces the data set by an empty one. */
static int replace(struct cov_h5_plain *p, struct cov_err *e)
{
    const hsize_t dims[3] = {p->n_rows, p->L, COLUMNS}, chunk[3] = {1, p->L, COLUMNS};
    cov_h5_close_id(p->set);
    p->set = H5I_INVALID_HID;
    int rc = cov_h5_remove(p->file, set_name, e);
    if (rc)
        return rc;
    hid_t space = H5Screate_simple(3, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    bool good = H5Pset_chunk(how, 3, chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
                H5Pset_deflate(how, HELIXER_LEVEL) >= 0;
    if (good)
        p->set = H5Dcreate2(p->file->id, set_name, p->type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    rc = p->set >= 0 ? COV_OK : fail(p, e, "cannot be created");
    cov_h5_close_id(how);
    cov_h5_close_id(space);
    return rc;
}

static int open_plain(const char *path, bool anew, struct cov_h5_plain **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_h5_plain *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->set = p->type = p->memory = H5I_INVALID_HID;
    p->changes = anew;
    int rc = anew ? cov_h5_open_to_change(path, &p->file, e) : cov_h5_open(path, &p->file, e);
    if (!rc)
        rc = open_set(p, e);
    if (!rc && anew)
        rc = replace(p, e);
    if (rc)
        (void)cov_h5_plain_close(p, NULL);
    else
        *out = p;
    return rc;
}

int cov_h5_plain_open(const char *path, struct cov_h5_plain **out, struct cov_err *e)
{
    return open_plain(path, false, out, e);
}

int cov_h5_plain_open_anew(const char *path, struct cov_h5_plain **out, struct cov_err *e)
{
    return open_plain(path, true, out, e);
}

size_t cov_h5_plain_n_rows(const struct cov_h5_plain *p)
{
    return p->n_rows;
}

size_t cov_h5_plain_length(const struct cov_h5_plain *p)
{
    return p->L;
}

static hid_t select_row(const struct cov_h5_plain *p, size_t row)
{
    const hsize_t at[3] = {row, 0, 0}, count[3] = {1, p->L, COLUMNS};
    hid_t space = H5Dget_space(p->set);
    (void)H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL);
    return space;
}

int cov_h5_plain_read(struct cov_h5_plain *p, size_t row, uint16_t *halves, struct cov_err *e)
{
    hid_t space = select_row(p, row);
    int rc = COV_OK;
    if (H5Dread(p->set, p->type, p->memory, space, H5P_DEFAULT, halves) < 0)
        rc = fail(p, e, "cannot be read");
    cov_h5_close_id(space);
    return rc;
}

int cov_h5_plain_write(struct cov_h5_plain *p, size_t row, const uint16_t *halves,
                       struct cov_err *e)
{
    hid_t space = select_row(p, row);
    int rc = COV_OK;
    if (H5Dwrite(p->set, p->type, p->memory, space, H5P_DEFAULT, halves) < 0)
        rc = fail(p, e, "cannot be written");
    cov_h5_close_id(space);
    return rc;
}
