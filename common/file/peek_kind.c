/* peek_kind.c - see peek_kind.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/peek_kind.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file/bgz.h"

/* Returns true for formats that need random access and so cannot be read from a gzip file. */
static bool is_random_access(enum cov_kind kind)
{
    return kind == COV_KIND_HDF5 || kind == COV_KIND_BIGWIG || kind == COV_KIND_BIGBED ||
           kind == COV_KIND_CKPT || kind == COV_KIND_ZIP || kind == COV_KIND_TAR;
}

static enum cov_kind kind_inside(const char *path)
{
    struct cov_bgz *in;
    char bytes[COV_BGZ_PEEK];
    size_t n;
    if (cov_bgz_open_read(path, 1, &in, NULL))
        return COV_KIND_GZIP;
    int rc = cov_bgz_peek(in, bytes, sizeof bytes, &n, NULL);
    enum cov_kind kind = rc ? COV_KIND_UNKNOWN : cov_kind_of(bytes, n);
    cov_bgz_abort(in);
    return kind == COV_KIND_UNKNOWN ? COV_KIND_GZIP : kind;
}

enum cov_kind cov_kind_of_file(const char *path, bool *packed)
{
    struct stat st;
    char bytes[COV_BGZ_PEEK];
    if (packed)
        *packed = false;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return COV_KIND_UNKNOWN;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (fd >= 0)
        (void)close(fd);
    enum cov_kind kind = n < 0 ? COV_KIND_UNKNOWN : cov_kind_of(bytes, (size_t)n);
    if (kind != COV_KIND_GZIP)
        return kind;
    if (packed)
        *packed = true;
    return kind_inside(path);
}

int cov_fail_kind(struct cov_err *e, const char *path, const char *what)
{
    bool packed;
    enum cov_kind kind = cov_kind_of_file(path, &packed);
    const char *name = cov_kind_name(kind);
    return cov_fail(e, COV_EINPUT, "%s: %s%s%s%s", path, what, name ? ", but " : "",
                    name ? name : "",
                    packed && is_random_access(kind) ? " compressed by gzip" : "");
}
