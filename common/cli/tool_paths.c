/* tool_paths.c - what a tool's paths must not be: an output that is an input, or that cannot be written.
 * SPDX-License-Identifier: MIT */
#include "common/cli/tool_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/path.h"

static bool same_file(const char *a, const char *b)
{
    if (cov_path_is_std(a) || cov_path_is_std(b))
        return false;
    struct stat s, t;
    if (stat(a, &s) == 0 && stat(b, &t) == 0)
        return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    return strcmp(a, b) == 0;
}

/* The path that an option of the tool has, if it is one of those that `flag` marks. */
static const char *path_of(const struct cov_opt *o, const void *config, unsigned flag)
{
    return o->type == COV_OPT_STRING && (o->flags & flag)
               ? *(const char *const *)((const char *)config + o->field)
               : NULL;
}

/* `path`, an output of option `name`, must be none of the inputs. */
static int check_no_input(const struct cov_tool *tool, const char *path, const void *config,
                          int n_operands, char **operands, struct cov_err *e)
{
    bool found = false;
    if (!path)
        return COV_OK;
    for (int i = 0; i < n_operands && !found; i++)
        found = same_file(path, operands[i]);
    for (const struct cov_opt *o = tool->options; o->name && !found; o++) {
        const char *input = path_of(o, config, COV_OPT_PATH_IN);
        found = input && same_file(path, input);
    }
    return found ? cov_fail(e, COV_EUSAGE, "%s is an input: it cannot be an output too", path)
                 : COV_OK;
}

/* `path` of option `name`, and --output or --stats, must be different outputs. */
static int check_outputs(const char *name, const char *path, const char *other,
                         const char *other_path, struct cov_err *e)
{
    if (path && other_path &&
        (same_file(path, other_path) || (cov_path_is_std(path) && cov_path_is_std(other_path))))
        return cov_fail(e, COV_EUSAGE, "--%s and --%s both name '%s'", name, other, other_path);
    return COV_OK;
}

int cov_tool_check_paths(const struct cov_tool *tool, const struct cov_common *c,
                         const void *config, int n_operands, char **operands, struct cov_err *e)
{
    int rc = check_no_input(tool, c->output, config, n_operands, operands, e);
    if (!rc)
        rc = check_no_input(tool, c->stats_path, config, n_operands, operands, e);
    if (!rc)
        rc = check_outputs("stats", c->stats_path, "output", c->output, e);
    for (const struct cov_opt *o = tool->options; o->name && !rc; o++) {
        const char *path = path_of(o, config, COV_OPT_PATH_OUT);
        rc = check_no_input(tool, path, config, n_operands, operands, e);
        if (!rc)
            rc = check_outputs(o->name, path, "output", c->output, e);
        if (!rc)
            rc = check_outputs(o->name, path, "stats", c->stats_path, e);
    }
    return rc;
}

int cov_tool_check_folder(const char *path, const char *option, struct cov_err *e)
{
    struct stat s;
    if (stat(path, &s))
        return cov_fail_errno(e, "--%s: %s", option, path);
    if (!S_ISDIR(s.st_mode))
        return cov_fail(e, COV_EIO, "--%s: %s is not a folder", option, path);
    if (access(path, W_OK | X_OK))
        return cov_fail_errno(e, "--%s: %s", option, path);
    return COV_OK;
}

int cov_tool_check_stats_path(const char *path, bool force, struct cov_err *e)
{
    struct stat st;
    if (cov_path_is_std(path))
        return COV_OK;
    if (cov_path_names_dir(path))
        return cov_fail(e, COV_EIO, "--stats: %s is a folder", path);
    if (!force && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return cov_fail(e, COV_EEXIST, "--stats: %s exists; use -f to replace it", path);
    char *dir = cov_path_dir(path, e);
    if (!dir)
        return COV_ENOMEM;
    int rc = cov_tool_check_folder(dir, "stats", e);
    free(dir);
    return rc;
}
