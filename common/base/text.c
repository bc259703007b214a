/* text.c - see text.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t cov_text_mark(const void *text, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    return n >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
}

bool cov_text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool cov_text_position(const char *text, size_t n, int64_t *out)
{
    enum { MAX_DIGITS = 18 };
    int64_t x = 0;
    if (n == 0 || n > MAX_DIGITS)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        x = x * 10 + (text[i] - '0');
    }
    *out = x;
    return true;
}

enum { SHOWN = 5 };

void cov_listing_add(struct cov_listing *l, const char *name)
{
    l->n++;
    size_t length = strlen(name), room = sizeof l->text - 1;
    if (l->n_shown == 0 && length > room)
        length = room; /* part of a name is better than none */
    if (l->n_shown == SHOWN || l->n_shown + 1 < l->n ||
        l->used + length + 2 > room + 2 * !l->n_shown)
        return;
    if (l->n_shown++ > 0) {
        memcpy(l->text + l->used, ", ", 2);
        l->used += 2;
    }
    memcpy(l->text + l->used, name, length);
    l->used += length;
    l->text[l->used] = '\0';
}

const char *cov_listing_more(const struct cov_listing *l)
{
    return l->n > l->n_shown ? ", ..." : "";
}

/* ---- numbers ---- */

/* Returns the factor for the letter after a size; 0 if it is not k, M or G. */
static int64_t size_unit(char letter)
{
    switch (letter) {
    case 'k':
    case 'K':
        return 1000;
    case 'm':
    case 'M':
        return 1000000;
    case 'g':
    case 'G':
        return 1000000000;
    default:
        return 0;
    }
}

/* Reads the decimals of a size, such as ".125", and advances *text past them to the unit.
 * Returns that fraction of the unit, or -1 if it is not an integer. */
static int64_t size_decimals(char **text)
{
    int64_t value = 0, scale = 1;
    char *c = *text + 1;
    for (; isdigit((unsigned char)*c) && scale < 1000000000; c++, scale *= 10)
        value = value * 10 + (*c - '0');
    *text = c;
    int64_t unit = size_unit(*c);
    return scale > 1 && unit && value * unit % scale == 0 ? value * unit / scale : -1;
}

static int parse_integer(const char *text, const char *what, bool is_size, int64_t min, int64_t max,
                         int64_t *out, struct cov_err *e)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end = NULL;
    errno = 0;
    long long value = isdigit((unsigned char)*digits) ? strtoll(text, &end, 10) : 0;
    bool overflow = errno == ERANGE;
    int64_t unit = 1, decimals = 0;
    if (end && is_size && *end == '.')
        decimals = size_decimals(&end);
    if (end && is_size && size_unit(*end))
        unit = size_unit(*end++);
    if (!end || *end || decimals < 0)
        return cov_fail(e, COV_EUSAGE, "%s: '%s' is not an integer%s", what, text,
                        is_size ? " (k, M or G may follow it)" : "");
    int64_t scaled;
    if (overflow || __builtin_mul_overflow((int64_t)value, unit, &scaled) ||
        __builtin_add_overflow(scaled, *text == '-' ? -decimals : decimals, &scaled) ||
        scaled < min || scaled > max) {
        if (max == INT64_MAX && min > INT64_MIN)
            return cov_fail(e, COV_EUSAGE, "%s: %s is out of range (at least %" PRId64 ")", what,
                            text, min);
        return cov_fail(e, COV_EUSAGE, "%s: %s is out of range (%" PRId64 " to %" PRId64 ")", what,
                        text, min, max);
    }
    *out = scaled;
    return COV_OK;
}

int cov_parse_i64(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                  struct cov_err *e)
{
    return parse_integer(text, what, false, min, max, out, e);
}

int cov_parse_size(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                   struct cov_err *e)
{
    return parse_integer(text, what, true, min, max, out, e);
}

int cov_parse_double(const char *text, const char *what, double min, double max, double *out,
                     struct cov_err *e)
{
    /* Accepts decimal numbers only; strtod also accepts blanks, hexadecimal numbers, "inf" and
     * "nan". */
    char *end = NULL;
    double value = 0;
    if (*text && strspn(text, "+-.0123456789eE") == strlen(text))
        value = strtod(text, &end);
    if (!end || end == text || *end || !isfinite(value))
        return cov_fail(e, COV_EUSAGE, "%s: '%s' is not a number", what, text);
    if (value < min || value > max)
        return cov_fail(e, COV_EUSAGE, "%s: %s is out of range (%.15g to %.15g)", what, text, min,
                        max);
    *out = value;
    return COV_OK;
}

int cov_parse_sizes(char *const *texts, size_t n, const char *what, int64_t max, int64_t *out,
                    struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        rc = cov_parse_size(texts[i], what, 1, max, &out[i], e);
        for (size_t k = 0; !rc && k < i; k++)
            if (out[k] == out[i])
                rc = cov_fail(e, COV_EUSAGE, "%s: duplicate %s", what, texts[i]);
    }
    return rc;
}

int cov_parse_part(const char *text, const char *what, int64_t *part, int64_t *n, struct cov_err *e)
{
    char first[24];
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : 0;
    if (!slash || length >= sizeof first)
        return cov_fail(e, COV_EUSAGE, "%s: '%s' is not I/N", what, text);
    memcpy(first, text, length);
    first[length] = '\0';
    int rc = cov_parse_i64(slash + 1, what, 1, COV_MAX_PARTS, n, e);
    return rc ? rc : cov_parse_i64(first, what, 1, *n, part, e);
}

const char *cov_format_double(double x, char text[COV_DOUBLE_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, COV_DOUBLE_TEXT, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return text;
}
