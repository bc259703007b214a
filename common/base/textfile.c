/* textfile.c - see textfile.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/textfile.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/base/mem.h"

int cov_textfile_read(const char *path, size_t max_bytes, char **text, size_t *n, struct cov_err *e)
{
    struct stat st;
    *text = NULL;
    *n = 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return cov_fail_errno(e, "%s", path);
    int rc = COV_OK;
    if (fstat(fileno(f), &st) != 0)
        rc = cov_fail_errno(e, "%s", path);
    else if (!S_ISREG(st.st_mode) || (uintmax_t)st.st_size > max_bytes)
        rc = cov_fail(e, COV_EINPUT, "%s: not a regular file of at most %zu MiB", path,
                      max_bytes >> 20);
    else if (!(*text = cov_calloc((size_t)st.st_size + 1, 1, e)))
        rc = COV_ENOMEM;
    if (!rc)
        *n = fread(*text, 1, (size_t)st.st_size, f);
    if (!rc && ferror(f))
        rc = cov_fail_errno(e, "%s", path);
    (void)fclose(f); /* was only read */
    return rc;
}
