/* h5_probe.c - see h5_probe.h. The superblock is that of the HDF5 file format specification, versions 0-3.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_probe.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t little_endian(const uint8_t *p, size_t n)
{
    uint64_t x = 0;
    while (n-- > 0)
        x = x << 8 | p[n];
    return x;
}

/* pread that gives 0 bytes behind the end. */
static bool read_at(int fd, off_t offset, uint8_t *buf, size_t n)
{
    memset(buf, 0, n);
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, buf + done, n - done, offset + (off_t)done);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return true;
}

static int check(int fd, const char *path, struct cov_err *e)
{
    struct stat st;
    if (fstat(fd, &st))
        return cov_fail_errno(e, "%s", path);
    if (!S_ISREG(st.st_mode))
        return cov_fail(e, COV_EINPUT, "%s: an HDF5 file has to be a regular file", path);
    if (st.st_size == 0)
        return cov_fail(e, COV_EINPUT, "%s: the file is empty", path);
    /* The signature stands at 0, or at 512, 1024, 2048, ... behind somebody else's header. */
    uint8_t head[64];
    uint64_t size = (uint64_t)st.st_size, at = 0;
    for (;; at = at ? 2 * at : 512) {
        if (at >= size)
            return cov_fail(e, COV_EINPUT, "%s: not an HDF5 file", path);
        if (!read_at(fd, (off_t)at, head, sizeof head))
            return cov_fail_errno(e, "%s", path);
        if (memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
            break;
    }
    unsigned version = head[8];
    if (version > 3)
        return cov_fail(e, COV_EINPUT, "%s: HDF5 superblock of unknown version %u", path, version);
    size_t n = head[version < 2 ? 13 : 9]; /* bytes of an address */
    if (n != 2 && n != 4 && n != 8)
        return cov_fail(e, COV_EINPUT, "%s: damaged HDF5 superblock", path);
    /* Four addresses: the base, another, and the end of the file; the third in version 2. */
    const uint8_t *addresses = head + (version == 0 ? 24 : version == 1 ? 28 : 12);
    uint64_t base = little_endian(addresses, n), end = little_endian(addresses + 2 * n, n);
    /* Some header may have been put in front since. */
    end += at - base;
    if (end > size)
        return cov_fail(e, COV_EINPUT, "%s: cut short: %" PRIu64 " bytes of %" PRIu64, path, size,
                        end);
    return COV_OK;
}

int cov_h5_check_superblock(const char *path, struct cov_err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cov_fail_errno(e, "%s", path);
    int rc = check(fd, path, e);
    (void)close(fd);
    return rc;
}
