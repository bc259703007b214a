/* sequence_report.c - see sequence_report.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/sequence_report.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bgz.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/text.h"

void cov_sequence_report_fini(struct cov_sequence_report *r)
{
    cov_names_free(r->ids);
    free(r->drops);
    *r = (struct cov_sequence_report)COV_SEQUENCE_REPORT_INIT;
}

static bool member_is(const struct cov_json_value *v, const char *key, const char *text)
{
    const char *member = cov_json_text(v, key);
    return member && strcmp(member, text) == 0;
}

static bool is_dropped(const struct cov_json_value *v)
{
    return member_is(v, "chrName", "Un") || member_is(v, "assemblyUnit", "non-nuclear") ||
           member_is(v, "role", "unplaced-scaffold") ||
           member_is(v, "role", "unlocalized-scaffold");
}

struct reader {
    struct cov_sequence_report *report;
    const char *path;
    size_t line;
    bool by_refseq; /* as the first line has it */
};

static int take_object(struct reader *r, const struct cov_json_value *v, struct cov_err *e)
{
    struct cov_sequence_report *report = r->report;
    const char *refseq = cov_json_text(v, "refseqAccession");
    const char *genbank = cov_json_text(v, "genbankAccession");
    size_t index;
    bool is_new;
    if (cov_names_count(report->ids) == 0)
        r->by_refseq = refseq != NULL;
    const char *id = r->by_refseq ? refseq : genbank;
    if (!id)
        id = r->by_refseq ? genbank : refseq;
    if (!id || !*id)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: neither refseqAccession nor genbankAccession: is this NCBI's "
                        "sequence_report.jsonl?",
                        r->path, r->line);
    int rc = cov_names_add(report->ids, id, strlen(id), &index, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "%s:%zu: %.200s is there twice", r->path, r->line, id);
    if (rc)
        return rc;
    rc = COV_RESERVE(&report->drops, &report->cap, index + 1, e);
    if (!rc)
        report->drops[index] = is_dropped(v);
    return rc;
}

static int take_line(struct reader *r, const char *beg, const char *end, struct cov_err *e)
{
    struct cov_json_value *v;
    r->line++;
    while (beg < end && cov_text_is_blank(*beg))
        beg++;
    if (beg == end)
        return COV_OK;
    int rc = cov_json_parse(beg, (size_t)(end - beg), &v, e);
    if (rc)
        return cov_err_prefix(e, "%s:%zu", r->path, r->line);
    rc = take_object(r, v, e);
    cov_json_free(v);
    return rc;
}

static int read_lines(struct reader *r, struct cov_bgz *in, struct cov_err *e)
{
    enum { STEP = 1 << 16, MAX_LINE = 1 << 24 };
    char *text = NULL;
    size_t cap = 0, n = 0, got = 0;
    int rc;
    do {
        rc = COV_RESERVE(&text, &cap, n + STEP, e);
        if (!rc)
            rc = cov_bgz_read(in, text + n, STEP, &got, e);
        if (rc)
            break;
        const char *p = text, *newline;
        const char *end = p + n + got;
        while (!rc && (newline = memchr(p, '\n', (size_t)(end - p)))) {
            rc = take_line(r, p, newline, e);
            p = newline + 1;
        }
        n = (size_t)(end - p);
        memmove(text, p, n);
        if (!rc && n > MAX_LINE)
            rc = cov_fail(e, COV_EINPUT, "%s:%zu: a line of more than %d bytes", r->path,
                          r->line + 1, MAX_LINE);
    } while (!rc && got > 0);
    if (!rc)
        rc = take_line(r, text, (const char *)text + n, e);
    free(text);
    return rc;
}

int cov_sequence_report_read(const char *path, struct cov_sequence_report *out, struct cov_err *e)
{
    struct cov_bgz *in = NULL;
    struct reader r = {.report = out, .path = path};
    *out = (struct cov_sequence_report)COV_SEQUENCE_REPORT_INIT;
    int rc = cov_names_new(&out->ids, e);
    if (!rc)
        rc = cov_bgz_open_read(path, 1, &in, e);
    if (!rc)
        rc = read_lines(&r, in, e);
    if (!rc && cov_names_count(out->ids) == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: there is no sequence in it", path);
    cov_bgz_abort(in);
    if (rc)
        cov_sequence_report_fini(out);
    return rc;
}
