/* intervals.c - see intervals.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/intervals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/file_kind.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/track/formats/bedgraph.h"
#include "common/track/formats/bigwig.h"

struct cov_intervals {
    char *path;
    struct cov_bigwig_reader *bigwig; /* one of the two */
    struct cov_bedgraph_reader *bedgraph;
    struct cov_intervals_batch batch;
    const size_t *lines; /* for bedGraph */
};

/* ---------------------------------------------------------------- kinds */

static bool is_number(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return n > 0;
}

enum line { LINE_OF_DATA, LINE_WITHOUT, LINE_OF_SOMETHING };

/* Classifies the line p .. end for bedGraph. If the line is not `whole`, it is accepted if the
 * missing rest could make it valid. Positions must be numbers. */
static enum line look_at_line(const char *p, const char *end, bool whole)
{
    size_t n_fields = 0;
    while (p < end) {
        const char *beg = p;
        while (p < end && !cov_text_is_blank(*p)) {
            if ((unsigned char)*p < ' ' || *p == 0x7f)
                return LINE_OF_SOMETHING;
            p++;
        }
        size_t n = (size_t)(p - beg);
        if (n == 0) {
            p++;
            continue;
        }
        n_fields++;
        if (n_fields == 1 && (*beg == '#' || (n == 5 && memcmp(beg, "track", n) == 0) ||
                              (n == 7 && memcmp(beg, "browser", n) == 0)))
            return LINE_WITHOUT;
        if ((n_fields == 2 || n_fields == 3) && !is_number(beg, n))
            return LINE_OF_SOMETHING;
    }
    if (!whole || n_fields == 4)
        return LINE_OF_DATA;
    return n_fields == 0 ? LINE_WITHOUT : LINE_OF_SOMETHING;
}

enum cov_intervals_kind cov_intervals_kind_of(const void *bytes, size_t n)
{
    if (n >= COV_BIGWIG_MAGIC_BYTES && cov_bigwig_is_magic(bytes))
        return COV_INTERVALS_BIGWIG;
    if (cov_kind_of(bytes, n) != COV_KIND_UNKNOWN) /* a VCF, say, begins with comments, too */
        return COV_INTERVALS_NONE;
    const char *p = (const char *)bytes + cov_text_mark(bytes, n), *end = (const char *)bytes + n;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        enum line line = look_at_line(p, stop, newline || n < COV_BGZ_PEEK);
        if (line != LINE_WITHOUT)
            return line == LINE_OF_DATA ? COV_INTERVALS_BEDGRAPH : COV_INTERVALS_NONE;
        p = newline ? stop + 1 : end;
    }
    return n > 0 ? COV_INTERVALS_BEDGRAPH : COV_INTERVALS_NONE;
}

static bool is_text(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((p[i] < ' ' && p[i] != '\n' && !cov_text_is_blank((char)p[i])) || p[i] == 0x7f)
            return false;
    return true;
}

static bool is_word(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 &&
           (p + n == end || cov_text_is_blank(p[n]));
}

int cov_intervals_check_text(const char *name, const void *bytes, size_t n, struct cov_err *e)
{
    const char *p = (const char *)bytes + cov_text_mark(bytes, n), *end = (const char *)bytes + n;
    if (!is_text(bytes, n) || cov_kind_of(bytes, n) != COV_KIND_UNKNOWN)
        return COV_OK;
    for (size_t line = 1; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        if (is_word(p, stop, "fixedStep") || is_word(p, stop, "variableStep"))
            return cov_fail(e, COV_EINPUT, "%s: wiggle text; convert it with wigToBigWig", name);
        int rc = cov_line_check_ends(name, line, p, (size_t)(stop - p), e);
        if (rc)
            return rc;
        if (look_at_line(p, stop, true) != LINE_WITHOUT) {
            const char *hint = cov_line_bed_hint(p, stop);
            return !*hint
                       ? COV_OK
                       : cov_fail(e, COV_EINPUT, "%s:%zu: not a bedGraph line%s", name, line, hint);
        }
        p = newline ? stop + 1 : end;
    }
    return COV_OK;
}

int cov_intervals_detect(const char *path, enum cov_intervals_kind *kind, struct cov_err *e)
{
    struct stat st;
    struct cov_bgz *in;
    char bytes[COV_BGZ_PEEK];
    size_t n;
    *kind = COV_INTERVALS_NONE;
    if (!cov_path_is_url(path)) {
        if (stat(path, &st) != 0)
            return cov_path_is_std(path) ? COV_OK : cov_fail_errno(e, "%s", path);
        if (!S_ISREG(st.st_mode))
            return COV_OK;
    }
    int rc = cov_bgz_open_read(path, 1, &in, e);
    if (rc)
        return rc;
    rc = cov_bgz_peek(in, bytes, sizeof bytes, &n, e);
    if (!rc)
        *kind = cov_intervals_kind_of(bytes, n);
    if (!rc && *kind == COV_INTERVALS_NONE)
        rc = cov_intervals_check_text(cov_bgz_name(in), bytes, n, e);
    cov_bgz_abort(in);
    return rc;
}

/* ---------------------------------------------------------------- opening */

int cov_intervals_new(struct cov_bgz *in, struct cov_intervals **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_intervals *t = cov_calloc(1, sizeof *t, e);
    if (!t) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    t->path = cov_strdup(cov_bgz_name(in), e);
    int rc = cov_bedgraph_reader_new(in, &t->bedgraph, e);
    if (!rc && !t->path)
        rc = COV_ENOMEM;
    if (rc)
        cov_intervals_close(t);
    else
        *out = t;
    return rc;
}

static int open_bigwig(const char *path, struct cov_intervals **out, struct cov_err *e)
{
    struct cov_intervals *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->path = cov_strdup(path, e);
    int rc = t->path ? cov_bigwig_reader_open(path, &t->bigwig, e) : COV_ENOMEM;
    if (rc)
        cov_intervals_close(t);
    else
        *out = t;
    return rc;
}

int cov_intervals_open(const char *path, unsigned n_threads, struct cov_intervals **out,
                       struct cov_err *e)
{
    struct cov_bgz *in;
    char bytes[COV_BGZ_PEEK];
    size_t n;
    *out = NULL;
    int rc = cov_bgz_open_read(path, n_threads, &in, e);
    if (rc)
        return rc;
    rc = cov_bgz_peek(in, bytes, sizeof bytes, &n, e);
    enum cov_intervals_kind kind = rc ? COV_INTERVALS_NONE : cov_intervals_kind_of(bytes, n);
    if (kind == COV_INTERVALS_BEDGRAPH)
        return cov_intervals_new(in, out, e);
    if (!rc && kind == COV_INTERVALS_NONE)
        rc = cov_fail(e, COV_EINPUT, "%s: %s", cov_bgz_name(in),
                      n > 0 ? "not bigWig or bedGraph" : "empty file");
    if (!rc && cov_path_is_std(path))
        rc = cov_fail(e, COV_EINPUT, "standard input: a bigWig must be a regular file, not a pipe");
    cov_bgz_abort(in);
    return rc ? rc : open_bigwig(path, out, e);
}

void cov_intervals_close(struct cov_intervals *t)
{
    if (!t)
        return;
    cov_bigwig_reader_close(t->bigwig);
    cov_bedgraph_reader_close(t->bedgraph);
    free(t->path);
    free(t);
}

/* ---------------------------------------------------------------- contigs and intervals */

const char *cov_intervals_name(const struct cov_intervals *t)
{
    return t->path;
}

enum cov_intervals_kind cov_intervals_kind(const struct cov_intervals *t)
{
    return t->bigwig ? COV_INTERVALS_BIGWIG : COV_INTERVALS_BEDGRAPH;
}

size_t cov_intervals_n_contigs(const struct cov_intervals *t)
{
    return t->bigwig ? cov_bigwig_reader_n_contigs(t->bigwig)
                     : cov_bedgraph_reader_n_contigs(t->bedgraph);
}

const char *cov_intervals_contig(const struct cov_intervals *t, size_t i)
{
    return t->bigwig ? cov_bigwig_reader_contig(t->bigwig, i)
                     : cov_bedgraph_reader_contig(t->bedgraph, i);
}

int64_t cov_intervals_length(const struct cov_intervals *t, size_t i)
{
    return t->bigwig ? cov_bigwig_reader_length(t->bigwig, i) : -1;
}

/* Reports at the end how many intervals had no value. */
static void warn_of_gaps(const struct cov_intervals *t)
{
    const uint64_t n =
        t->bigwig ? cov_bigwig_reader_n_gaps(t->bigwig) : cov_bedgraph_reader_n_gaps(t->bedgraph);
    if (n > 0)
        cov_warn("%s: %" PRIu64 " interval%s with the value NaN %s", t->path, n,
                 cov_text_s((int64_t)n), n == 1 ? "is a gap" : "are gaps");
}

int cov_intervals_next(struct cov_intervals *t, struct cov_intervals_batch *batch,
                       struct cov_err *e)
{
    struct cov_intervals_batch *b = &t->batch;
    int rc = t->bigwig
                 ? cov_bigwig_reader_next(t->bigwig, &b->contig, &b->iv, &b->n, e)
                 : cov_bedgraph_reader_next(t->bedgraph, &b->contig, &b->iv, &t->lines, &b->n, e);
    *batch = *b;
    if (rc == 0)
        warn_of_gaps(t);
    return rc;
}

void cov_intervals_place(const struct cov_intervals *t, size_t i, char text[COV_INTERVALS_PLACE])
{
    if (t->bedgraph)
        (void)snprintf(text, COV_INTERVALS_PLACE, "%s:%zu", t->path, t->lines[i]);
    else
        (void)snprintf(text, COV_INTERVALS_PLACE, "%s: %s:%" PRId64 "-%" PRId64, t->path,
                       cov_intervals_contig(t, t->batch.contig), t->batch.iv[i].beg + 1,
                       t->batch.iv[i].end);
}
