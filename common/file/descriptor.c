/* descriptor.c - see descriptor.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file/path.h"

ssize_t cov_read_at(int fd, int64_t at, void *data, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)data + done, n - done, (off_t)(at + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int cov_write_at(int fd, int64_t at, const void *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const char *)data + done, n - done, (off_t)(at + (int64_t)done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return -1;
        }
        done += (size_t)put;
    }
    return 0;
}

void cov_sync_name(const char *path)
{
    char *dir = cov_path_dir(path, NULL);
    int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(dir);
}

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
    if (errno == EAGAIN || errno == EACCES)
        return COV_LOCK_HELD;
    return errno == ENOLCK || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP
               ? COV_LOCK_UNSUPPORTED
               : COV_LOCK_FAILED;
}

bool cov_lock_is_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

int cov_close(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : -1;
}
