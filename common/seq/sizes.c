/* sizes.c - see sizes.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "common/base/mem.h"
#include "common/seq/names.h"

struct cov_sizes {
    struct cov_names *names;
    int64_t *lengths;
    size_t cap;
};

/* 1 to 10^18 - 1, or -1. */
static int64_t read_length(const char *text, size_t n)
{
    enum { MAX_DIGITS = 18 };
    int64_t x = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || n > MAX_DIGITS)
            return -1;
        x = 10 * x + (text[i] - '0');
    }
    return x > 0 ? x : -1;
}

static int add_line(struct cov_sizes *s, const char *path, size_t number, const char *p,
                    const char *end, struct cov_err *e)
{
    size_t n_name, n_length, index;
    bool is_new;
    const char *name = cov_line_word(&p, end, &n_name);
    if (!name)
        return COV_OK;
    const char *length = cov_line_word(&p, end, &n_length);
    int64_t x = length ? read_length(length, n_length) : -1;
    if (x < 0)
        return cov_fail(e, COV_EINPUT, "%s:%zu: a name and a length above 0 are wanted", path,
                        number);
    int rc = cov_names_add(s->names, name, n_name, &index, &is_new, e);
    if (!rc)
        rc = COV_RESERVE(&s->lengths, &s->cap, index + 1, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT, "%s:%zu: %s is there twice", path, number,
                        cov_names_get(s->names, index, NULL));
    s->lengths[index] = x;
    return COV_OK;
}

int cov_sizes_read(const char *path, struct cov_sizes **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_sizes *s = cov_calloc(1, sizeof *s, e);
    struct cov_lines *lines = NULL;
    int rc = s ? cov_names_new(&s->names, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc) {
        const char *text;
        size_t n, number;
        rc = cov_lines_next(lines, &text, &n, &number, e);
        if (rc <= 0)
            break;
        rc = add_line(s, path, number, text, text + n, e);
    }
    cov_lines_close(lines);
    if (rc)
        cov_sizes_free(s);
    else
        *out = s;
    return rc;
}

void cov_sizes_free(struct cov_sizes *s)
{
    if (!s)
        return;
    cov_names_free(s->names);
    free(s->lengths);
    free(s);
}

size_t cov_sizes_count(const struct cov_sizes *s)
{
    return cov_names_count(s->names);
}

const char *cov_sizes_name(const struct cov_sizes *s, size_t i)
{
    return cov_names_get(s->names, i, NULL);
}

int64_t cov_sizes_length(const struct cov_sizes *s, size_t i)
{
    return s->lengths[i];
}

bool cov_sizes_find(const struct cov_sizes *s, const char *name, size_t *i)
{
    return cov_names_find(s->names, name, strlen(name), i);
}
