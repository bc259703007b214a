/* lock.h - locks on open files, so that only one process writes to an output.
 *
 * The kernel frees a lock when the last descriptor of the open file is closed, also when the
 * process is killed. So an unlocked temporary file belongs to no running process.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_LOCK_H
#define COV_FILE_LOCK_H

#include <stdbool.h>

enum cov_lock_result {
    COV_LOCKED,
    COV_LOCK_HELD,        /* another open file holds the lock */
    COV_LOCK_UNSUPPORTED, /* the file system has no locks, as on some NFS and Lustre mounts */
};

/* Tries to lock the whole file, which must be open for writing. Does not wait. */
enum cov_lock_result cov_lock(int fd);

/* Returns true if `path` itself, not the target of a symbolic link, is the regular file that is
 * open as `fd`. */
bool cov_lock_is_at(int fd, const char *path);

#endif
