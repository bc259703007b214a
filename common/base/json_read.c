/* json_read.c - see json_read.h. The one room that knows cJSON.
 * SPDX-License-Identifier: MIT */
#include "common/base/json_read.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "common/base/mem.h"

/* A cJSON, by another name. */
struct cov_json_value {
    cJSON item;
};

static const cJSON *item_of(const struct cov_json_value *v)
{
    return v ? &v->item : NULL;
}

static const struct cov_json_value *value_of(const cJSON *item)
{
    return (const struct cov_json_value *)item;
}

int cov_json_parse(const char *text, size_t n, struct cov_json_value **out, struct cov_err *e)
{
    const char *end = NULL;
    *out = NULL;
    if (memchr(text, '\0', n))
        return cov_fail(e, COV_EINPUT, "a zero byte: this is not text");
    char *copy = cov_strndup(text, n, e);
    if (!copy)
        return COV_ENOMEM;
    int rc = COV_OK;
    *out = (struct cov_json_value *)cJSON_ParseWithOpts(copy, &end, true);
    if (!*out)
        rc =
            cov_fail(e, COV_EINPUT, "no JSON from byte %zu on", end ? (size_t)(end - copy) + 1 : 1);
    free(copy);
    return rc;
}

void cov_json_free(struct cov_json_value *v)
{
    cJSON_Delete(v ? &v->item : NULL);
}

const struct cov_json_value *cov_json_member(const struct cov_json_value *v, const char *key)
{
    return cov_json_is_object(v) ? value_of(cJSON_GetObjectItemCaseSensitive(item_of(v), key))
                                 : NULL;
}

const struct cov_json_value *cov_json_first(const struct cov_json_value *v)
{
    return v ? value_of(item_of(v)->child) : NULL;
}

const struct cov_json_value *cov_json_next(const struct cov_json_value *v)
{
    return v ? value_of(item_of(v)->next) : NULL;
}

const char *cov_json_key(const struct cov_json_value *v)
{
    return v ? item_of(v)->string : NULL;
}

bool cov_json_is_array(const struct cov_json_value *v)
{
    return cJSON_IsArray(item_of(v));
}

bool cov_json_is_object(const struct cov_json_value *v)
{
    return cJSON_IsObject(item_of(v));
}

bool cov_json_number(const struct cov_json_value *v, double *out)
{
    if (!cJSON_IsNumber(item_of(v)))
        return false;
    *out = item_of(v)->valuedouble;
    return true;
}

const char *cov_json_text(const struct cov_json_value *v, const char *key)
{
    return cJSON_GetStringValue(item_of(cov_json_member(v, key)));
}
