/* h5_plain.c - see h5_plain.h.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_plain.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/h5/h5_private.h"

enum { COLUMNS = 4 };
static const char set_name[] = "data/X";

struct cov_h5_plain {
    struct cov_h5 *file;
    hid_t set, type, memory;
    hsize_t dims[3];
};

static int fail(const struct cov_h5_plain *p, struct cov_err *e, const char *what)
{
    return cov_h5_fail(e, COV_EIO, cov_h5_path(p->file), set_name, what);
}

void cov_h5_plain_close(struct cov_h5_plain *p)
{
    if (!p)
        return;
    cov_h5_close_id(p->memory);
    cov_h5_close_id(p->type);
    cov_h5_close_id(p->set);
    cov_h5_close(p->file);
    free(p);
}

static int open_set(struct cov_h5_plain *p, struct cov_err *e)
{
    p->set = H5Dopen2(p->file->id, set_name, H5P_DEFAULT);
    hid_t space = p->set >= 0 ? H5Dget_space(p->set) : H5I_INVALID_HID;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 3 &&
                H5Sget_simple_extent_dims(space, p->dims, NULL) == 3 && p->dims[2] == COLUMNS;
    cov_h5_close_id(space);
    p->type = p->set >= 0 ? H5Dget_type(p->set) : H5I_INVALID_HID;
    if (!good || p->type < 0 || H5Tget_size(p->type) != sizeof(uint16_t))
        return fail(p, e, "not a one-hot float16 matrix");
    const hsize_t row[3] = {1, p->dims[1], COLUMNS};
    p->memory = H5Screate_simple(3, row, NULL);
    return p->memory >= 0 ? COV_OK : fail(p, e, "cannot create the data space of a row");
}

int cov_h5_plain_open(const char *path, struct cov_h5_plain **out, size_t *n_rows, size_t *L,
                      struct cov_err *e)
{
    struct cov_h5_plain *p = *out = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->set = p->type = p->memory = H5I_INVALID_HID;
    int rc = cov_h5_open(path, &p->file, e);
    if (!rc)
        rc = open_set(p, e);
    *n_rows = p->dims[0];
    *L = p->dims[1];
    if (rc) {
        cov_h5_plain_close(p);
        *out = NULL;
    }
    return rc;
}

int cov_h5_plain_read(struct cov_h5_plain *p, size_t row, uint16_t *halves, struct cov_err *e)
{
    const hsize_t at[3] = {row, 0, 0}, count[3] = {1, p->dims[1], COLUMNS};
    hid_t space = H5Dget_space(p->set);
    (void)H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL);
    int rc = COV_OK;
    if (H5Dread(p->set, p->type, p->memory, space, H5P_DEFAULT, halves) < 0)
        rc = fail(p, e, "cannot be read");
    cov_h5_close_id(space);
    return rc;
}
