/* rename.c - see rename.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/rename.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bgz.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/seq/fasta.h"
#include "common/seq/names.h"

struct entry {
    const char *to; /* into text */
    bool used;
};

struct cov_rename {
    char *text; /* the whole file, each word ended by a zero */
    size_t n_text, cap_text;
    struct cov_names *from;
    struct entry *entries; /* of each name in `from` */
    size_t cap_entries;
};

void cov_rename_free(struct cov_rename *r)
{
    if (!r)
        return;
    free(r->text);
    cov_names_free(r->from);
    free(r->entries);
    free(r);
}

/* The whole file with a newline behind it. */
static int read_text(struct cov_rename *r, struct cov_bgz *in, struct cov_err *e)
{
    enum { STEP = 1 << 16 };
    size_t got;
    do {
        void *text = r->text;
        size_t need;
        int rc = cov_size_add(r->n_text, STEP + 1, &need);
        if (!rc)
            rc = cov_reserve(&text, &r->cap_text, need, 1, e);
        r->text = text;
        if (!rc)
            rc = cov_bgz_read(in, r->text + r->n_text, STEP, &got, e);
        if (rc)
            return rc;
        r->n_text += got;
    } while (got > 0);
    r->text[r->n_text++] = '\n';
    return COV_OK;
}

/* The next word of *p .. end, or NULL: *p is put behind it. */
static char *next_word(char **p, const char *end, size_t *n)
{
    char *beg = *p;
    while (beg < end && cov_text_is_blank(*beg))
        beg++;
    char *stop = beg;
    while (stop < end && !cov_text_is_blank(*stop))
        stop++;
    *p = stop;
    *n = (size_t)(stop - beg);
    return stop > beg ? beg : NULL;
}

/* The line from `beg` to its newline `end`. */
static int read_line(struct cov_rename *r, const char *path, size_t line, char *beg, char *end,
                     struct cov_err *e)
{
    size_t n_from, n_to, n_more, index;
    char *from = next_word(&beg, end, &n_from);
    char *to = next_word(&beg, end, &n_to);
    if (!from)
        return COV_OK;
    if (!to || next_word(&beg, end, &n_more) || memchr(from, '\0', (size_t)(end - from)))
        return cov_fail(e, COV_EINPUT, "%s:%zu: not two columns", path, line);
    if (n_to > COV_FASTA_MAX_NAME)
        return cov_fail(e, COV_EINPUT, "%s:%zu: a name of more than %d bytes", path, line,
                        COV_FASTA_MAX_NAME);
    to[n_to] = '\0';
    bool is_new;
    int rc = cov_names_add(r->from, from, n_from, &index, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT, "%s:%zu: '%s' is given twice", path, line,
                        cov_names_get(r->from, index, NULL));
    void *entries = r->entries;
    rc = cov_reserve(&entries, &r->cap_entries, index + 1, sizeof *r->entries, e);
    r->entries = entries;
    if (!rc)
        r->entries[index] = (struct entry){to, false};
    return rc;
}

int cov_rename_read(const char *path, struct cov_rename **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_bgz *in = NULL;
    struct cov_rename *r = cov_calloc(1, sizeof *r, e);
    int rc = r ? cov_names_new(&r->from, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_bgz_open_read(path, 1, &in, e);
    if (!rc)
        rc = read_text(r, in, e);
    if (!rc) {
        char *end = r->text + r->n_text, *beg = r->text;
        for (size_t line = 1; !rc && beg < end; line++) {
            char *newline = memchr(beg, '\n', (size_t)(end - beg));
            rc = read_line(r, path, line, beg, newline, e);
            beg = newline + 1;
        }
    }
    cov_bgz_abort(in);
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
    return r->entries[index].to;
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
