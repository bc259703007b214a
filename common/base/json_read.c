/* json_read.c - see json_read.h. The one room that knows cJSON.
 * SPDX-License-Identifier: MIT */
#include "common/base/json_read.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "common/base/mem.h"

struct cov_json_value {
    cJSON *item;
};

int cov_json_parse(const char *text, size_t n, struct cov_json_value **out, struct cov_err *e)
{
    const char *end = NULL;
    *out = NULL;
    if (memchr(text, '\0', n))
        return cov_fail(e, COV_EINPUT, "a zero byte: this is no text");
    struct cov_json_value *v = cov_calloc(1, sizeof *v, e);
    char *copy = v ? cov_strndup(text, n, e) : NULL;
    int rc = copy ? COV_OK : COV_ENOMEM;
    if (!rc) {
        v->item = cJSON_ParseWithOpts(copy, &end, true);
        if (!v->item)
            rc = cov_fail(e, COV_EINPUT, "no JSON from byte %zu on",
                          end ? (size_t)(end - copy) + 1 : 1);
    }
    free(copy);
    if (rc)
        cov_json_free(v);
    else
        *out = v;
    return rc;
}

void cov_json_free(struct cov_json_value *v)
{
    if (!v)
        return;
    cJSON_Delete(v->item);
    free(v);
}

const char *cov_json_text(const struct cov_json_value *v, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(v->item, key));
}
