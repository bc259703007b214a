/* peak_file.c - see peak_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/peak_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/bgz.h"

enum { MAX_SCORE = 1000 };

struct cov_peak_file {
    struct cov_peak_file_options o;
    char *path;
    struct cov_bgz *out;
    uint64_t n_peaks;
};

static int put(struct cov_peak_file *f, struct cov_err *e, const char *format, ...)
    COV_PRINTF(3, 4);

/* Writes text. The stream has a buffer. */
static int put(struct cov_peak_file *f, struct cov_err *e, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    const int n = vasprintf(&text, format, list);
    va_end(list);
    if (n < 0)
        return cov_fail(e, COV_ENOMEM, "%s: out of memory", f->o.name);
    int rc = cov_bgz_write(f->out, text, (size_t)n, e);
    free(text);
    if (rc)
        cov_err_rename(e, f->path, f->o.name);
    return rc;
}

/* Puts a list of the blocks' sizes or offsets, ended by a tab. */
static int put_blocks(struct cov_peak_file *f, const struct cov_peak *peak,
                      const struct cov_peak *blocks, size_t n, bool sizes, struct cov_err *e)
{
    const bool first = n == 0 || blocks[0].beg > peak->beg;
    const bool last = n == 0 || blocks[n - 1].end < peak->end;
    int rc = first ? put(f, e, "%d%s", sizes, n || last ? "," : "") : COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = put(f, e, "%" PRId64 "%s",
                 sizes ? blocks[i].end - blocks[i].beg : blocks[i].beg - peak->beg,
                 i + 1 < n || last ? "," : "");
    if (!rc && last)
        rc = put(f, e, "%" PRId64, sizes ? 1 : peak->end - peak->beg - 1);
    return rc ? rc : put(f, e, "\t");
}

static int put_gapped(struct cov_peak_file *f, const struct cov_peak *peak,
                      const struct cov_peak *blocks, size_t n, struct cov_err *e)
{
    const size_t ends =
        n ? (size_t)(blocks[0].beg > peak->beg) + (blocks[n - 1].end < peak->end) : 2;
    int rc = put(f, e, "\t%" PRId64 "\t%" PRId64 "\t0\t%zu\t", n ? blocks[0].beg : peak->beg,
                 n ? blocks[n - 1].end : peak->beg, n + ends);
    if (!rc)
        rc = put_blocks(f, peak, blocks, n, true, e);
    return rc ? rc : put_blocks(f, peak, blocks, n, false, e);
}

int cov_peak_file_add(struct cov_peak_file *f, const char *contig, const struct cov_peak *peak,
                      const struct cov_peak *blocks, size_t n, struct cov_err *e)
{
    const enum cov_peak_format format = f->o.format;
    const double signal =
        f->o.mean ? peak->sum / (double)(peak->end - peak->beg) : (double)peak->max;
    const double score = 10.0 * (double)peak->max;
    const bool summit = format == COV_PEAKS_SUMMITS;
    int rc = put(f, e, "%s\t%" PRId64 "\t%" PRId64 "\t%s_peak_%" PRIu64 "\t%d\t.", contig,
                 summit ? peak->summit : peak->beg, summit ? peak->summit + 1 : peak->end,
                 f->o.prefix, ++f->n_peaks,
                 score >= MAX_SCORE ? MAX_SCORE
                 : score > 0        ? (int)score
                                    : 0);
    if (!rc && format == COV_PEAKS_GAPPED)
        rc = put_gapped(f, peak, blocks, n, e);
    else if (!rc && (format == COV_PEAKS_NARROW || format == COV_PEAKS_BROAD))
        rc = put(f, e, "\t");
    if (!rc && format != COV_PEAKS_BED && !summit)
        rc = put(f, e, "%.6g\t-1\t-1", signal);
    if (!rc && format == COV_PEAKS_NARROW)
        rc = put(f, e, "\t%" PRId64, peak->summit - peak->beg);
    return rc ? rc : put(f, e, "\n");
}

int cov_peak_file_open(const char *path, const struct cov_peak_file_options *options,
                       struct cov_peak_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_peak_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->o = *options;
    f->path = cov_strdup(path, e);
    int rc = f->path ? cov_bgz_open_write(path, options->compress ? COV_BGZ_DEFLATE : COV_BGZ_PLAIN,
                                          1, &f->out, e)
                     : COV_ENOMEM;
    if (rc) {
        cov_peak_file_free(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

int cov_peak_file_close(struct cov_peak_file *f, struct cov_err *e)
{
    int rc = cov_bgz_close(f->out, e);
    f->out = NULL;
    if (rc)
        cov_err_rename(e, f->path, f->o.name);
    return rc;
}

void cov_peak_file_free(struct cov_peak_file *f)
{
    if (!f)
        return;
    cov_bgz_abort(f->out);
    free(f->path);
    free(f);
}
