/* h5_probe.h - what can be known of an HDF5 file before libhdf5 is trusted with it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_PROBE_H
#define COV_STORE_H5_PROBE_H

#include <stdbool.h>

#include "common/base/err.h"

/* Whether the regular file at `path` has an HDF5 signature; of anything else nothing is read. */
int cov_h5_is_signed(const char *path, bool *yes, struct cov_err *e) COV_MUST_USE;

/* First reads the superblock: COV_EIO when the file cannot be read; COV_EINPUT when it is no
 * regular file, is empty, has no HDF5 signature, a superblock of an unknown version, or is shorter
 * than that says.
 *
 * Then a child process, which may use 5 s of CPU and 2 GiB of memory, opens the file and every data
 * set of its groups data, evaluation and prediction, and fetches their first and last rows. libhdf5
 * (1.10.8 at least) crashes or hangs on some damaged files; when the child does, that is
 * COV_EINPUT. Bytes that were changed at random in tens of thousands of copies of small files made
 * libhdf5 crash when it opened them, and never later. A file with a metadata cache image is
 * COV_EINPUT too: damage there makes libhdf5 write where it should not, and the child may not
 * notice; h5py and the tools of HDF5 write such images only when they are told to. This takes 1 to
 * 2 ms, or 5 to 20 in a process of 1 GB. Other threads may be at work: libhdf5 is not used by them,
 * and the child does nothing else. (Under AddressSanitizer they had better not: a fork may leave
 * its allocator locked in the child.) Where no process can be made, the file is trusted.
 *
 * *good_texts: all attributes that are texts of variable length could be read within 64 MiB. What
 * libhdf5 allocates for one, and fills, is what a damaged file claims, up to 4 GiB. */
int cov_h5_probe(const char *path, bool *good_texts, struct cov_err *e) COV_MUST_USE;

#endif
