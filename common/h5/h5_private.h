/* h5_private.h - shared by the implementation files of h5.h; the only file that includes hdf5.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_H5_PRIVATE_H
#define COV_H5_H5_PRIVATE_H

#include <hdf5.h>

#include "common/h5/h5.h"

struct cov_h5 {
    hid_t id;
    char *path;
    /* A text attribute of variable length is damaged and may claim gigabytes, so no such attribute
     * is read. The probing child sets *texts_failed instead. */
    bool texts_damaged;
    bool *texts_failed;
    uint64_t claimed; /* bytes of the datasets checked so far */
    uint64_t missing; /* bytes of their chunks that are not stored */
};

/* Fails with "<path>: [<set>: ]<what> (<libhdf5's reason>)". Must be called before any other
 * function of libhdf5, which would clear the reason. */
int cov_h5_fail(struct cov_err *e, int code, const char *path, const char *set, const char *what);

void cov_h5_close_id(hid_t id); /* a negative one is accepted */

/* h5.c: sets *out, which is all zero, to a type of elements; returns NULL, or why it is not
 * supported. */
const char *cov_h5_type_describe(hid_t type, struct cov_h5_type *out);
/* Returns a new HDF5 type for elements, little-endian; negative after a failure. */
hid_t cov_h5_type_make(const struct cov_h5_type *t);

#endif
