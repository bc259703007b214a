/* fuzz.h - what the fuzz targets share: an input as a file that has a path, and as BGZF.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FUZZ_H
#define COV_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/file/bgz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Discards a status: any outcome is fine. */
static inline void fuzz_ignore(int rc)
{
    (void)rc;
}

/* A path under which the n bytes at `data` can be opened and read until the next call. */
static inline const char *fuzz_file(const uint8_t *data, size_t n)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
        abort();
    return path;
}

/* The same by a name in /dev/shm, for libraries that ask for the real path; it goes when the process ends. */
static char fuzz_name[64];
static inline void fuzz_unlink(void)
{
    (void)unlink(fuzz_name);
}
static inline const char *fuzz_named_file(const uint8_t *data, size_t n)
{
    if (!*fuzz_name) {
        (void)snprintf(fuzz_name, sizeof fuzz_name, "/dev/shm/fuzz.%ld", (long)getpid());
        (void)atexit(fuzz_unlink);
    }
    FILE *f = fopen(fuzz_name, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f))
        abort();
    return fuzz_name;
}

/* The same in stored blocks of BGZF, whose checksums are right. */
static inline const char *fuzz_bgzf(const uint8_t *data, size_t n)
{
    const char *path = fuzz_file(data, 0);
    struct cov_bgz *b;
    if (cov_bgz_open_write(path, COV_BGZ_STORED, 1, &b, NULL) || cov_bgz_write(b, data, n, NULL) ||
        cov_bgz_close(b, NULL))
        abort();
    return path;
}

#endif
