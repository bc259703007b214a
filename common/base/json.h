/* json.h - writing JSON (RFC 8259).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_JSON_H
#define COV_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
