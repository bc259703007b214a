/* number.h - strict parsing of numbers in text.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_NUMBER_H
#define COV_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Parse the whole text, which must be a number in [min, max] without surrounding blanks. Errors
 * are COV_EUSAGE, and their messages start with `what`. */
int cov_parse_i64(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                  struct cov_err *e) COV_MUST_USE;
/* Parses a size, which may end in k, M or G. */
int cov_parse_size(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                   struct cov_err *e) COV_MUST_USE;
/* Parses n sizes from 1 to `max`, which must differ. */
int cov_parse_sizes(char *const *texts, size_t n, const char *what, int64_t max, int64_t *out,
                    struct cov_err *e) COV_MUST_USE;
int cov_parse_double(const char *text, const char *what, double min, double max, double *out,
                     struct cov_err *e) COV_MUST_USE;

/* Parses "2/3": *part = 2, of *n = 3 parts, at most COV_MAX_PARTS. */
enum { COV_MAX_PARTS = 1000000000 };
int cov_parse_part(const char *text, const char *what, int64_t *part, int64_t *n,
                   struct cov_err *e) COV_MUST_USE;

/* Writes a finite number with as many digits as it takes to read the same number again. Returns
 * `text`. */
enum { COV_DOUBLE_TEXT = 32 };
const char *cov_format_double(double x, char text[COV_DOUBLE_TEXT]);

#endif
