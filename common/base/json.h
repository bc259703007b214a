/* json.h - writing JSON (RFC 8259).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_JSON_H
#define COV_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

/* A writer over a stream; indents by two spaces. `key` is NULL inside arrays and at the top. Errors
 * of the stream are left to the caller's ferror and fclose. Depth is at most 16. Bytes that are no
 * valid UTF-8 become U+FFFD; a number that is not finite and a string that is NULL become null. */
struct cov_json {
    FILE *f;
    int depth;
    bool first[16];
    bool is_array[16];
};

void cov_json_init(struct cov_json *j, FILE *f);
void cov_json_begin_object(struct cov_json *j, const char *key);
void cov_json_end_object(struct cov_json *j);
void cov_json_begin_array(struct cov_json *j, const char *key);
void cov_json_end_array(struct cov_json *j);
void cov_json_string(struct cov_json *j, const char *key, const char *value);
void cov_json_int(struct cov_json *j, const char *key, int64_t value);
void cov_json_double(struct cov_json *j, const char *key, double value);
void cov_json_bool(struct cov_json *j, const char *key, bool value);

struct cov_json_value;

/* The value that the n bytes at `text` are; nothing but white space may follow it. COV_EINPUT when
 * they are no JSON. Free with cov_json_free. */
int cov_json_parse(const char *text, size_t n, struct cov_json_value **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_json_free(struct cov_json_value *v); /* NULL is accepted */

/* What follows is borrowed from v, takes NULL for a value that is not there, and gives NULL (false) for
 * one of another kind. */

/* The member of an object. */
const struct cov_json_value *cov_json_member(const struct cov_json_value *v, const char *key);
/* The first element of an array, or member of an object, and the one behind. */
const struct cov_json_value *cov_json_first(const struct cov_json_value *v);
const struct cov_json_value *cov_json_next(const struct cov_json_value *v);
const char *cov_json_key(const struct cov_json_value *v); /* of a member */
bool cov_json_is_array(const struct cov_json_value *v);
bool cov_json_is_object(const struct cov_json_value *v);
bool cov_json_number(const struct cov_json_value *v, double *out);

/* The text of a member of an object; NULL when `v` is no object, has no such member, or that is no
 * string. Borrowed from v. */
const char *cov_json_text(const struct cov_json_value *v, const char *key);

#endif
