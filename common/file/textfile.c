/* textfile.c - see textfile.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/textfile.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

int cov_textfile_read(const char *path, size_t max_bytes, char **text, size_t *n, struct cov_err *e)
{
    int fd;
    uint64_t n_bytes;
    ssize_t got = 1;
    *text = NULL;
    *n = 0;
    int rc = cov_path_open_file(path, &fd, &n_bytes, e);
    if (rc)
        return rc;
    if (n_bytes > max_bytes)
        rc = cov_fail(e, COV_EINPUT, "%s: larger than %zu MiB", path, max_bytes >> 20);
    else if (!(*text = cov_calloc((size_t)n_bytes + 1, 1, e)))
        rc = COV_ENOMEM;
    while (!rc && got != 0 && *n < n_bytes) {
        got = read(fd, *text + *n, (size_t)n_bytes - *n);
        *n += got > 0 ? (size_t)got : 0;
        if (got < 0 && errno != EINTR)
            rc = cov_fail_errno(e, "%s", path);
    }
    (void)close(fd); /* opened for reading */
    if (rc) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

int cov_textfile_read_json(const char *path, size_t max_bytes, struct cov_json_value **out,
                           struct cov_err *e)
{
    char *text;
    size_t n;
    *out = NULL;
    int rc = cov_textfile_read(path, max_bytes, &text, &n, e);
    if (rc)
        return rc;
    rc = cov_json_parse(text, n, out, e);
    free(text);
    if (rc == COV_EINPUT && cov_kind_of_file(path, NULL) != COV_KIND_UNKNOWN) {
        cov_err_clear(e);
        return cov_fail_kind(e, path, "not a JSON file");
    }
    return rc ? cov_err_prefix(e, "%s", path) : COV_OK;
}
