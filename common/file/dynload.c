/* dynload.c - see dynload.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/dynload.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"

/* Returns the path of libcov, or NULL. The loader owns it. */
static const char *own_path(void)
{
    Dl_info here;
    return dladdr((const void *)&cov_dynload_beside, &here) ? here.dli_fname : NULL;
}

char *cov_dynload_beside(const char *file, struct cov_err *e)
{
    const char *own = own_path();
    char *dir = cov_path_dir(own ? own : ".", e), *path = NULL;
    if (dir)
        path = cov_path_join(dir, file, e);
    free(dir);
    return path;
}

/* Returns true if only root, the user, and the owner and group of libcov may write to the file or
 * directory; the latter two control libcov, which is running, anyway. Others cannot replace files in a
 * sticky directory. */
static bool is_safe(const struct stat *st, const struct stat *own)
{
    bool sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX);
    bool trusts_group = st->st_gid == 0 || ((own->st_mode & S_IWGRP) && st->st_gid == own->st_gid);
    if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != own->st_uid)
        return false;
    return sticky || (!(st->st_mode & S_IWOTH) && (!(st->st_mode & S_IWGRP) || trusts_group));
}

/* Checks the file and its directories. `path` has no links. */
static int check(const char *path, struct cov_err *e)
{
    struct stat own = {.st_uid = geteuid()}, st;
    const char *library = own_path();
    if (library)
        (void)stat(library, &own);
    char *part = cov_strdup(path, e);
    if (!part)
        return COV_ENOMEM;
    int rc = COV_OK;
    while (!rc) {
        if (stat(part, &st) != 0)
            rc = cov_fail_errno(e, "%s", part);
        else if (!is_safe(&st, &own))
            rc = cov_fail(e, COV_EINPUT, "%s: not loaded, because others may write to %s", path,
                          part);
        if (strcmp(part, "/") == 0)
            break;
        char *slash = strrchr(part, '/');
        slash[slash == part] = '\0';
    }
    free(part);
    return rc;
}

int cov_dynload(const char *path, int flags, void **out, struct cov_err *e)
{
    *out = NULL;
    char *real = realpath(path, NULL);
    if (!real)
        return cov_fail_errno(e, "%s", path);
    int rc = check(real, e);
    if (!rc && !(*out = dlopen(real, flags)))
        rc = cov_fail(e, COV_EUNSUPPORTED, "%s", dlerror());
    free(real);
    return rc;
}
