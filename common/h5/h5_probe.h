/* h5_probe.h - checks of an HDF5 file before libhdf5 opens it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_H5_PROBE_H
#define COV_H5_H5_PROBE_H

#include <stdbool.h>

#include "common/base/err.h"

/* Sets *yes to whether the regular file at `path` has an HDF5 signature. Other kinds of files are
 * not read. */
int cov_h5_is_signed(const char *path, bool *yes, struct cov_err *e) COV_MUST_USE;

/* First reads the superblock. COV_EIO if the file cannot be read; COV_EINPUT if it is not a regular
 * file, is empty, has no HDF5 signature, has a superblock of an unknown version, or is shorter than
 * the superblock says.
 *
 * Then a child process, limited to 5 s of CPU and 2 GiB of memory, opens the file and all its
 * datasets and fetches their first and last rows. libhdf5 (1.10.8 at least) crashes or hangs on some
 * damaged files; if the child crashes or hangs, the result is COV_EINPUT. In a test with tens of
 * thousands of randomly damaged copies of small files, libhdf5 crashed only on opening, never
 * later. A file with a metadata cache image is also COV_EINPUT, because a damaged image makes
 * libhdf5 write out of bounds, and the child may survive that. h5py and the HDF5 tools write such
 * images only on request.
 *
 * The probe takes 1 to 2 ms, or 5 to 20 ms in a process that uses 1 GB. Other threads may run
 * during the probe, because they do not use libhdf5 and the child uses nothing else. (Under
 * AddressSanitizer no other threads should run: a fork may leave its allocator locked in the
 * child.) If no process can be created, the file is trusted.
 *
 * Sets *good_texts to whether all text attributes of variable length could be read within 64 MiB of
 * memory. libhdf5 allocates and fills whatever size a damaged file claims, up to 4 GiB. */
int cov_h5_probe(const char *path, bool *good_texts, struct cov_err *e) COV_MUST_USE;

#endif
