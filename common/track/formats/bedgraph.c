/* bedgraph.c - see bedgraph.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bedgraph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/deflate/record_deflate.h"
#include "common/file/bgz.h"

enum { BUFFER = 1 << 16, MAX_NUMBER = 20 };

struct bedgraph {
    struct cov_track_sink base;
    struct cov_bgz *out;
    char *path;
    const char *tbi_path, *csi_path;
    bool warned; /* a warning about a name that readers skip was given */
    char *text;  /* BUFFER bytes, and room for a line of the current contig */
    size_t n_text, cap_text;
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

/* Replaces the temporary file name in an error message of the stream by the name of the track. */
static int named(const struct bedgraph *b, int rc, struct cov_err *e)
{
    if (rc && strcmp(b->path, b->base.name) != 0 && strcmp(b->path, "-") != 0)
        cov_err_rename(e, b->path, b->base.name);
    return rc;
}

static int flush(struct bedgraph *b, struct cov_err *e)
{
    int rc = cov_bgz_write(b->out, b->text, b->n_text, e);
    b->n_text = 0;
    return named(b, rc, e);
}

/* Checks that a name cannot break the format of the lines. */
static int check_name(struct bedgraph *b, const char *name, struct cov_err *e)
{
    static const char *const heads[] = {"#", "track", "browser"};
    size_t n = strlen(name);
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: contig without a name", b->base.name);
    for (size_t k = 0; k < n; k++)
        if ((unsigned char)name[k] <= ' ' || name[k] == 0x7f)
            return cov_fail(e, COV_EINPUT,
                            "%s: the name of contig '%s' has white space or control characters, "
                            "which bedGraph does not allow",
                            b->base.name, name);
    for (size_t k = 0; k < COV_COUNT(heads) && !b->warned; k++)
        if (strncmp(name, heads[k], strlen(heads[k])) == 0) {
            cov_warn("%s: readers of bedGraph skip lines that begin with '%s', such as those of "
                     "contig %s",
                     b->base.name, heads[k], name);
            b->warned = true;
        }
    return COV_OK;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    size_t room;
    int rc = s->contigs ? COV_OK : check_name(b, s->contig_name, e);
    if (rc)
        return rc;
    b->n_name = strlen(s->contig_name);
    if (cov_size_add(b->n_name, BUFFER + 2 * MAX_NUMBER + COV_BEDGRAPH_VALUE_BYTES + 4, &room))
        return cov_fail(e, COV_ENOMEM, "%s: contig name too long", s->name);
    rc = COV_RESERVE(&b->text, &b->cap_text, room, e);
    return rc;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    const char *name = s->contig_name;
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
    int rc = b->n_text ? flush(b, e) : COV_OK;
    if (rc)
        return rc;
    rc = cov_bgz_close(b->out, e);
    b->out = NULL;
    /* Indexing the finished file reads all of it back. */
    bool csi = cov_bedgraph_needs_csi(s);
    const char *index_path = csi ? b->csi_path : b->tbi_path;
    if (!rc && index_path)
        rc = cov_bgz_index_bed(b->path, index_path, csi, e);
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

static int deflate_lines(const uint8_t *src, size_t n, uint8_t *dst, size_t *n_dst,
                         struct cov_err *e)
{
    struct cov_tokens tokens;
    int rc = cov_tokens_init(&tokens, n, e);
    if (rc)
        return rc;
    cov_tokens_lines(&tokens, src, n);
    *n_dst = cov_tokens_deflate(&tokens, src, n, dst);
    cov_tokens_fini(&tokens);
    return COV_OK;
}

static const int64_t longest_of_tbi = INT64_C(1) << 29;

bool cov_bedgraph_list_needs_csi(const struct cov_track_contigs *contigs)
{
    for (size_t i = 0; i < contigs->n; i++)
        if (contigs->lengths[i] > longest_of_tbi)
            return true;
    return false;
}

bool cov_bedgraph_needs_csi(const struct cov_track_sink *s)
{
    for (size_t i = 0; i < cov_track_n_contigs(s); i++)
        if (cov_track_contig_length(s, i) > longest_of_tbi)
            return true;
    return false;
}

int cov_bedgraph_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                      const struct cov_bedgraph_options *options, struct cov_track_sink **out,
                      struct cov_err *e)
{
    *out = NULL;
    struct bedgraph *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    int rc = cov_track_init(&b->base, &bedgraph_format, name, contigs, e);
    for (size_t i = 0; contigs && i < contigs->n && !rc; i++)
        rc = check_name(b, contigs->names[i], e);
    if (!rc && !(b->path = cov_strdup(path, e)))
        rc = COV_ENOMEM;
    b->tbi_path = options->compress ? options->tbi_path : NULL;
    b->csi_path = options->compress ? options->csi_path : NULL;
    if (!rc)
        rc = cov_bgz_open_write(path, options->compress ? COV_BGZ_DEFLATE : COV_BGZ_PLAIN,
                                options->n_threads, &b->out, e);
    if (!rc && options->compress)
        cov_bgz_deflate_by(b->out, deflate_lines);
    if (rc)
        cov_track_free(&b->base);
    else
        *out = &b->base;
    return rc;
}
