/* h5_private.h - what the files of h5.h share. For h5*.c alone: the one place that knows hdf5.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_PRIVATE_H
#define COV_STORE_H5_PRIVATE_H

#include <hdf5.h>

#include "common/store/h5.h"
#include "common/store/h5_bands.h"

struct cov_h5 {
    hid_t id;
    char *path;
    /* Some attribute of variable length cannot be read, or claims to be so long that trying takes
     * gigabytes: none is read. The child that finds out has texts_failed instead. */
    bool texts_damaged;
    bool *texts_failed;
};

struct cov_h5_set {
    hid_t id, type, space;
    int rank;
    char *name;
    char *path; /* of the file */
    struct cov_h5_rows stored, handed;
    bool undo_by_hdf5; /* stored in a way that only libhdf5 can undo: H5Dread gives plain rows */
    struct cov_h5_bands bands;
};

/* Fails with "<path>: [<set>: ]<what> (<libhdf5's reason>)". To be called before anything else is
 * asked of libhdf5, which then forgets the reason. */
int cov_h5_fail(struct cov_err *e, int code, const char *path, const char *set, const char *what);
int cov_h5_fail_set(const struct cov_h5_set *s, struct cov_err *e, int code, const char *what);

void cov_h5_close_id(hid_t id); /* a negative one is accepted */

/* 1, 0, or negative when the file is too damaged to tell. */
int cov_h5_exists(const struct cov_h5 *f, const char *name);

/* Not opened yet. Free with cov_h5_set_close. */
struct cov_h5_set *cov_h5_new_set(const struct cov_h5 *f, const char *name, struct cov_err *e);

#endif
