/* h5_probe.h - what can be known of an HDF5 file before libhdf5 is trusted with it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_PROBE_H
#define COV_STORE_H5_PROBE_H

#include "common/base/err.h"

/* Reads the superblock. COV_EIO when the file cannot be read; COV_EINPUT when it is no regular file, is
 * empty, has no HDF5 signature, a superblock of an unknown version, or is shorter than that says. */
int cov_h5_check_superblock(const char *path, struct cov_err *e) COV_MUST_USE;

#endif
