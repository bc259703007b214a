/* read_at.c - see read_at.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/read_at.h"

#include <errno.h>
#include <unistd.h>

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
