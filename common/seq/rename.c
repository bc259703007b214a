/* rename.c - see rename.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/rename.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "common/base/mem.h"
#include "common/seq/fasta.h"
#include "common/seq/names.h"

struct entry {
    size_t to; /* in the table */
    bool used;
};

struct cov_rename {
    struct cov_names *from, *to;
    struct entry *entries; /* of each name in `from` */
    size_t cap_entries;
};

void cov_rename_free(struct cov_rename *r)
{
    if (!r)
        return;
    cov_names_free(r->from);
    cov_names_free(r->to);
    free(r->entries);
    free(r);
}

static int take_line(struct cov_rename *r, const char *path, size_t line, const char *p,
                     const char *end, struct cov_err *e)
{
    size_t n_from, n_to, n_more, index, to_index;
    const char *from = cov_line_word(&p, end, &n_from);
    if (!from)
        return COV_OK;
    const char *to = cov_line_word(&p, end, &n_to);
    if (!to || cov_line_word(&p, end, &n_more))
        return cov_fail(e, COV_EINPUT, "%s:%zu: not two columns", path, line);
    if (n_to > COV_FASTA_MAX_NAME)
        return cov_fail(e, COV_EINPUT, "%s:%zu: a name of more than %d bytes", path, line,
                        COV_FASTA_MAX_NAME);
    bool is_new;
    int rc = cov_names_add(r->from, from, n_from, &index, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT, "%s:%zu: '%s' is given twice", path, line,
                        cov_names_get(r->from, index, NULL));
    rc = cov_names_add(r->to, to, n_to, &to_index, &is_new, e);
    if (rc)
        return rc;
    rc = COV_RESERVE(&r->entries, &r->cap_entries, index + 1, e);
    if (!rc)
        r->entries[index] = (struct entry){to_index, false};
    return rc;
}

int cov_rename_read(const char *path, struct cov_rename **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_lines *lines = NULL;
    const char *text;
    size_t n, line;
    struct cov_rename *r = cov_calloc(1, sizeof *r, e);
    int rc = r ? cov_names_new(&r->from, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_names_new(&r->to, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc && (rc = cov_lines_next(lines, &text, &n, &line, e)) > 0)
        rc = take_line(r, path, line, text, text + n, e);
    cov_lines_close(lines);
    if (rc)
        cov_rename_free(r);
    else
        *out = r;
    return rc;
}

const char *cov_rename_apply(struct cov_rename *r, const char *name, size_t n)
{
    size_t index;
    if (!cov_names_find(r->from, name, n, &index))
        return name;
    r->entries[index].used = true;
    return cov_names_get(r->to, r->entries[index].to, NULL);
}

size_t cov_rename_count(const struct cov_rename *r)
{
    return cov_names_count(r->from);
}

size_t cov_rename_unused(const struct cov_rename *r)
{
    size_t n = 0;
    for (size_t i = 0; i < cov_names_count(r->from); i++)
        n += !r->entries[i].used;
    return n;
}
