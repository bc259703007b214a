/* json.c - see json.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/json.h"

#include <assert.h>
#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/text.h"

void cov_json_init(struct cov_json *j, FILE *f)
{
    *j = (struct cov_json){.f = f, .first = {true}};
}

/* Returns the length in bytes of the UTF-8 character at `s`, or 0 if it is invalid (RFC 3629). */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
            : s[0] >= 0xe0 && s[0] <= 0xef ? 3
            : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                           : 0;
    /* Rejects overlong forms, surrogates and code points above U+10FFFF. The loop below stops at
     * a zero byte. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Writes a character of n > 1 bytes of UTF-8 as an escape, or two beyond U+FFFF. */
static void put_escape(FILE *f, const unsigned char *s, int n)
{
    unsigned c = s[0] & (0xffU >> (n + 1));
    for (int i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3f);
    if (c > 0xffff)
        (void)fprintf(f, "\\u%04x", 0xd800 + ((c - 0x10000) >> 10));
    (void)fprintf(f, "\\u%04x", c > 0xffff ? 0xdc00 + (c & 0x3ff) : c);
}

static void put_string(const struct cov_json *j, const char *text)
{
    FILE *f = j->f;
    (void)fputc('"', f);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = utf8_length(s);
        if (n == 0)
            (void)fputs("\\ufffd", f);
        else if (*s == '"' || *s == '\\')
            (void)fprintf(f, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            (void)fprintf(f, "\\u%04x", *s);
        else if (n > 1 && j->is_ascii)
            put_escape(f, s, n);
        else
            (void)fwrite(s, 1, (size_t)n, f);
        s += n ? n : 1;
    }
    (void)fputc('"', f);
}

/* With `lines`: adds the name of a value to the path, and cuts it off again. */
static void extend_path(struct cov_json *j, const char *key)
{
    const size_t n = strlen(j->path), room = sizeof j->path - n;
    j->path_ends[j->depth] = n;
    if (key)
        (void)snprintf(j->path + n, room, "%s%s", n ? "." : "", key);
    else if (j->depth > 0)
        (void)snprintf(j->path + n, room, "[%d]", ++j->n_items[j->depth]);
}

static void cut_path(struct cov_json *j)
{
    j->path[j->path_ends[j->depth]] = '\0';
}

/* Writes what precedes a value: the comma, the newline and the key. */
static void begin_value(struct cov_json *j, const char *key)
{
    if (j->lines) {
        extend_path(j, key);
        (void)fprintf(j->f, "%s%s: ", j->lines, j->path);
        return;
    }
    if (j->depth > 0)
        (void)fprintf(j->f, "%s\n%*s", j->first[j->depth] ? "" : ",", 2 * j->depth, "");
    j->first[j->depth] = false;
    if (key) {
        put_string(j, key);
        (void)fputs(": ", j->f);
    }
}

/* Writes what follows a value that is neither an object nor an array. */
static void end_value(struct cov_json *j)
{
    if (!j->lines)
        return;
    (void)fputc('\n', j->f);
    cut_path(j);
}

static void begin_nest(struct cov_json *j, const char *key, bool is_array)
{
    assert(j->depth + 1 < (int)COV_COUNT(j->first));
    if (j->lines) {
        extend_path(j, key);
    } else {
        begin_value(j, key);
        (void)fputc(is_array ? '[' : '{', j->f);
    }
    j->depth++;
    j->first[j->depth] = true;
    j->n_items[j->depth] = 0;
    j->is_array[j->depth] = is_array;
}

static void end_nest(struct cov_json *j, bool is_array)
{
    assert(j->depth > 0 && j->is_array[j->depth] == is_array);
    bool empty = j->first[j->depth];
    j->depth--;
    if (j->lines) {
        cut_path(j);
        return;
    }
    if (!empty)
        (void)fprintf(j->f, "\n%*s", 2 * j->depth, "");
    (void)fputc(is_array ? ']' : '}', j->f);
    if (j->depth == 0)
        (void)fputc('\n', j->f);
}

void cov_json_begin_object(struct cov_json *j, const char *key)
{
    begin_nest(j, key, false);
}

void cov_json_end_object(struct cov_json *j)
{
    end_nest(j, false);
}

void cov_json_begin_array(struct cov_json *j, const char *key)
{
    begin_nest(j, key, true);
}

void cov_json_end_array(struct cov_json *j)
{
    end_nest(j, true);
}

void cov_json_string(struct cov_json *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value)
        put_string(j, value);
    else
        (void)fputs("null", j->f);
    end_value(j);
}

void cov_json_int(struct cov_json *j, const char *key, int64_t value)
{
    begin_value(j, key);
    (void)fprintf(j->f, "%" PRId64, value);
    end_value(j);
}

void cov_json_double(struct cov_json *j, const char *key, double value)
{
    char text[COV_DOUBLE_TEXT];
    begin_value(j, key);
    (void)fputs(isfinite(value) ? cov_format_double(value, text) : "null", j->f);
    end_value(j);
}

void cov_json_bool(struct cov_json *j, const char *key, bool value)
{
    begin_value(j, key);
    (void)fputs(value ? "true" : "false", j->f);
    end_value(j);
}

/* A cJSON under another name. */
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
        return cov_fail(e, COV_EINPUT, "not a text file: it has a zero byte");
    char *copy = cov_strndup(text, n, e);
    if (!copy)
        return COV_ENOMEM;
    int rc = COV_OK;
    *out = (struct cov_json_value *)cJSON_ParseWithOpts(copy, &end, true);
    if (!*out)
        rc =
            cov_fail(e, COV_EINPUT, "invalid JSON at byte %zu", end ? (size_t)(end - copy) + 1 : 1);
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
