/* chunk_info.c - see chunk_info.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunk_info.h"

#include <stdlib.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/store/h5.h"

static int describe_set(struct cov_h5 *f, const char *group, const char *name,
                        struct cov_json *json, FILE *out, struct cov_err *e)
{
    struct cov_h5_set *s = NULL;
    char *path = cov_strfmt(e, "%s/%s", group, name);
    int rc = path ? cov_h5_set_open(f, path, 0, &s, e) : COV_ENOMEM;
    if (!rc) {
        const struct cov_h5_rows *r = cov_h5_set_rows(s);
        if (json) {
            cov_json_begin_array(json, path);
            for (int i = 0; i < 3; i++)
                cov_json_int(json, NULL, (int64_t)r->dims[i]);
            cov_json_end_array(json);
        } else {
            (void)fprintf(out, "%s %zu x %zu x %zu\n", path, r->dims[0], r->dims[1], r->dims[2]);
        }
    }
    cov_h5_set_close(s);
    free(path);
    return rc;
}

static int describe(const char *path, struct cov_json *json, FILE *out, struct cov_err *e)
{
    static const char *const groups[] = {"data", "prediction"};
    struct cov_h5 *f = NULL;
    int rc = cov_h5_open(path, &f, e);
    for (size_t g = 0; g < COV_COUNT(groups) && !rc; g++) {
        char **names = NULL;
        size_t n = 0;
        rc = cov_h5_list(f, groups[g], &names, &n, e);
        for (size_t i = 0; i < n && !rc; i++)
            rc = describe_set(f, groups[g], names[i], json, out, e);
        cov_h5_free_names(names, n);
    }
    cov_h5_close(f);
    return rc;
}

int cov_chunk_info(char *const *paths, size_t n, bool json, FILE *out, struct cov_err *e)
{
    struct cov_json j;
    int rc = COV_OK;
    if (json) {
        cov_json_init(&j, out);
        cov_json_begin_object(&j, NULL);
    }
    for (size_t i = 0; i < n && !rc; i++) {
        if (json)
            cov_json_begin_object(&j, paths[i]);
        rc = describe(paths[i], json ? &j : NULL, out, e);
        if (json)
            cov_json_end_object(&j);
    }
    if (json)
        cov_json_end_object(&j);
    return rc;
}
