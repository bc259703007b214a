/* json_read.h - reading JSON (RFC 8259).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_JSON_READ_H
#define COV_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

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
