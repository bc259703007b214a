/* lock.c - see lock.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum cov_lock_result cov_lock(int fd)
{
    /* A lock of the open file, not of the process: closing other descriptors of the file does not
     * free it. Unlike flock(), it does not collide with the locks of libhdf5. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc;
    do
        rc = fcntl(fd, F_OFD_SETLK, &whole);
    while (rc != 0 && errno == EINTR);
    if (rc == 0)
        return COV_LOCKED;
    return errno == EAGAIN || errno == EACCES ? COV_LOCK_HELD : COV_LOCK_UNSUPPORTED;
}

bool cov_lock_is_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}
