/* bedgraph.c - see bedgraph.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/bedgraph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bgz.h"
#include "common/base/log.h"
#include "common/base/mem.h"

enum { BUFFER = 1 << 16, MAX_NUMBER = 20 };

struct bedgraph {
    struct cov_track_sink base;
    struct cov_bgz *out;
    char *path;
    const char *index_path;
    bool csi;
    char *text; /* room for a line of the longest contig behind BUFFER bytes */
    size_t n_text;
    size_t n_name; /* length of the current contig's name */
};

/* ---- text ---- */

static size_t format_uint(uint64_t x, char *text)
{
    char digits[MAX_NUMBER];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    for (size_t i = 0; i < n; i++)
        text[i] = digits[n - 1 - i];
    return n;
}

size_t cov_bedgraph_format_value(float value, char text[COV_BEDGRAPH_VALUE_BYTES])
{
    const float big = 1e15F;
    size_t n = 0;
    if (fabsf(value) < big && (float)(int64_t)value == value) {
        int64_t x = (int64_t)value;
        if (x < 0)
            text[n++] = '-';
        n += format_uint((uint64_t)(x < 0 ? -x : x), text + n);
        text[n] = '\0';
        return n;
    }
    int k = snprintf(text, COV_BEDGRAPH_VALUE_BYTES, "%.9g", (double)value);
    return k < 0 ? 0 : (size_t)k;
}

/* ---- sink ---- */

/* Puts the track's name in front of a failure: the stream calls itself by a temporary one. */
static int named(const struct bedgraph *b, int rc, struct cov_err *e)
{
    if (rc && e && strcmp(b->path, b->base.name) != 0 && strcmp(b->path, "-") != 0)
        (void)cov_err_prefix(e, "%s", b->base.name);
    return rc;
}

static int flush(struct bedgraph *b, struct cov_err *e)
{
    int rc = cov_bgz_write(b->out, b->text, b->n_text, e);
    b->n_text = 0;
    return named(b, rc, e);
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    (void)e;
    struct bedgraph *b = (struct bedgraph *)s;
    b->n_name = strlen(s->contigs->names[s->contig]);
    return COV_OK;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    const char *name = s->contigs->names[s->contig];
    for (size_t i = 0; i < n; i++) {
        char *p = b->text + b->n_text;
        memcpy(p, name, b->n_name);
        p += b->n_name;
        *p++ = '\t';
        p += format_uint((uint64_t)iv[i].beg, p);
        *p++ = '\t';
        p += format_uint((uint64_t)iv[i].end, p);
        *p++ = '\t';
        p += cov_bedgraph_format_value(iv[i].value, p);
        *p++ = '\n';
        b->n_text = (size_t)(p - b->text);
        if (b->n_text >= BUFFER) {
            int rc = flush(b, e);
            if (rc)
                return rc;
        }
    }
    return COV_OK;
}

static int close_file(struct cov_track_sink *s, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    int rc = flush(b, e);
    if (rc)
        return rc;
    rc = cov_bgz_close(b->out, e);
    b->out = NULL;
    /* The index is made from the finished file: that reads all of it back. */
    if (!rc && b->index_path)
        rc = cov_bgz_index_bed(b->path, b->index_path, b->csi, e);
    return named(b, rc, e);
}

static void free_sink(struct cov_track_sink *s)
{
    struct bedgraph *b = (struct bedgraph *)s;
    cov_bgz_abort(b->out);
    free(b->path);
    free(b->text);
    free(b);
}

static const struct cov_track_format bedgraph_format = {begin, add, close_file, free_sink};

/* ---- opening ---- */

static bool needs_csi(const struct cov_track_contigs *contigs)
{
    for (size_t i = 0; i < contigs->n; i++)
        if (contigs->lengths[i] > INT64_C(1) << 29)
            return true;
    return false;
}

const char *cov_bedgraph_index_suffix(const struct cov_track_contigs *contigs)
{
    return needs_csi(contigs) ? ".csi" : ".tbi";
}

/* Names that keep the lines whole; *longest is the length of the longest. */
static int check_names(const char *file, const struct cov_track_contigs *contigs, size_t *longest,
                       struct cov_err *e)
{
    static const char *const heads[] = {"#", "track", "browser"};
    bool warned = false;
    *longest = 0;
    for (size_t i = 0; i < contigs->n; i++) {
        const char *name = contigs->names[i];
        size_t n = strlen(name);
        if (n == 0)
            return cov_fail(e, COV_EINPUT, "%s: a contig has no name", file);
        for (size_t k = 0; k < n; k++)
            if ((unsigned char)name[k] <= ' ' || name[k] == 0x7f)
                return cov_fail(e, COV_EINPUT,
                                "%s: white space or a control character in the name of contig '%s' "
                                "cannot stand in bedGraph",
                                file, name);
        for (size_t k = 0; k < COV_COUNT(heads) && !warned; k++)
            if (strncmp(name, heads[k], strlen(heads[k])) == 0) {
                cov_warn("%s: readers of bedGraph skip lines that begin with '%s', as those of "
                         "contig %s do",
                         file, heads[k], name);
                warned = true;
            }
        if (n > *longest)
            *longest = n;
    }
    return COV_OK;
}

int cov_bedgraph_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                      const struct cov_bedgraph_options *options, struct cov_track_sink **out,
                      struct cov_err *e)
{
    *out = NULL;
    struct bedgraph *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    size_t room;
    int rc = cov_track_init(&b->base, &bedgraph_format, name, contigs, e);
    if (!rc)
        rc = check_names(name, contigs, &room, e);
    if (rc)
        goto out;
    rc = COV_ENOMEM;
    if (cov_size_add(room, BUFFER + 2 * MAX_NUMBER + COV_BEDGRAPH_VALUE_BYTES + 4, &room))
        goto out;
    b->path = cov_strdup(path, e);
    b->text = cov_malloc(room, 1, e);
    if (!b->path || !b->text)
        goto out;
    b->index_path = options->compress ? options->index_path : NULL;
    b->csi = needs_csi(contigs);
    rc = cov_bgz_open_write(path, options->compress ? COV_BGZ_DEFLATE : COV_BGZ_PLAIN,
                            options->n_threads, &b->out, e);
out:
    if (rc)
        free_sink(&b->base);
    else
        *out = &b->base;
    return rc;
}
