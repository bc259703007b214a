/* descriptor.h - reading, writing, locking and closing files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_DESCRIPTOR_H
#define COV_FILE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads n bytes at offset `at`. Returns how many there were, fewer than n only at the end of the
 * file; -1 on failure, with errno. */
ssize_t cov_read_at(int fd, int64_t at, void *data, size_t n);

/* Writes n bytes at offset `at`. Returns 0; -1 on failure, with errno. */
int cov_write_at(int fd, int64_t at, const void *data, size_t n);

/* Closes a file that was written. Returns 0; -1 on failure, with errno. A signal is no failure: Linux
 * has closed the file. */
int cov_close(int fd);

/* Syncs the directory of a file, so that its new name is durable. Ignores errors: the file is complete,
 * and some file systems cannot sync a directory. */
void cov_sync_name(const char *path);

/* ---- locks, so that only one process writes to an output ----
 *
 * The kernel frees a lock when the last descriptor of the open file is closed, also when the
 * process is killed. So an unlocked temporary file belongs to no running process. */

enum cov_lock_result {
    COV_LOCKED,
    COV_LOCK_HELD,        /* another open file holds the lock */
    COV_LOCK_UNSUPPORTED, /* the file system has no locks, as on some NFS and Lustre mounts */
    COV_LOCK_FAILED,      /* with errno */
};

/* Tries to lock the whole file, which must be open for writing. Does not wait. */
enum cov_lock_result cov_lock(int fd);

/* Returns true if `path` itself, not the target of a symbolic link, is the regular file that is
 * open as `fd`. */
bool cov_lock_is_at(int fd, const char *path);

#endif
