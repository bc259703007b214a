/* json.h - writing and reading JSON (RFC 8259).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_JSON_H
#define COV_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

/* Writes JSON to a stream, indented by two spaces. `key` is NULL in arrays and at the top level.
 * The caller checks the stream for errors. Nesting is at most 16 deep. Invalid UTF-8 becomes
 * U+FFFD; NaN, infinities and NULL strings become null. */
struct cov_json {
    FILE *f;
    int depth;
    bool first[16];
    bool is_array[16];
    /* Set after cov_json_init: */
    bool is_ascii; /* writes other characters as escapes */
    const char
        *lines; /* writes a line for each value instead: this text, "a.b[1].c: " and the value */
    /* Private, with `lines`. */
    char path[512];
    size_t path_ends[16];
    int n_items[16];
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

/* Parses the n bytes at `text`. Fails with COV_EINPUT unless they are one JSON value, possibly
 * followed by white space. Free *out with cov_json_free. */
int cov_json_parse(const char *text, size_t n, struct cov_json_value **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_json_free(struct cov_json_value *v); /* NULL is accepted */

/* The functions below accept NULL, and return NULL or false for values of the wrong kind. Results
 * are borrowed from v. */

/* Returns the member `key` of an object. */
const struct cov_json_value *cov_json_member(const struct cov_json_value *v, const char *key);
/* Return the first element of an array (or member of an object), and the one after it. */
const struct cov_json_value *cov_json_first(const struct cov_json_value *v);
const struct cov_json_value *cov_json_next(const struct cov_json_value *v);
const char *cov_json_key(const struct cov_json_value *v); /* the key of a member */
bool cov_json_is_array(const struct cov_json_value *v);
bool cov_json_is_object(const struct cov_json_value *v);
bool cov_json_number(const struct cov_json_value *v, double *out);

/* Returns the string member `key` of an object; NULL if there is none. */
const char *cov_json_text(const struct cov_json_value *v, const char *key);

#endif
