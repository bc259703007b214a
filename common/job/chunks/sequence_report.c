/* sequence_report.c - see sequence_report.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/sequence_report.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/lines.h"

void cov_sequence_report_fini(struct cov_sequence_report *r)
{
    cov_names_free(r->ids);
    free(r->drops);
    *r = (struct cov_sequence_report){0};
}

/* The text of a member, whose key may also be spelled in snake case (older versions of NCBI's
 * datasets). */
static const char *member(const struct cov_json_value *v, const char *key, const char *snake)
{
    const char *text = cov_json_text(v, key);
    return text ? text : cov_json_text(v, snake);
}

/* Returns true if a member has this text, in upper or lower case. */
static bool member_is(const struct cov_json_value *v, const char *key, const char *snake,
                      const char *wanted)
{
    const char *text = member(v, key, snake);
    return text && strcasecmp(text, wanted) == 0;
}

static bool is_dropped(const struct cov_json_value *v)
{
    const char *name = member(v, "chrName", "chr_name");
    return (name && strcmp(name, "Un") == 0) ||
           member_is(v, "assemblyUnit", "assembly_unit", "non-nuclear") ||
           member_is(v, "role", "role", "unplaced-scaffold") ||
           member_is(v, "role", "role", "unlocalized-scaffold");
}

struct report_reader {
    struct cov_sequence_report *report;
    const char *path;
    size_t line;
    bool by_refseq; /* judging by the first line */
};

static int take_object(struct report_reader *r, const struct cov_json_value *v, struct cov_err *e)
{
    struct cov_sequence_report *report = r->report;
    const char *refseq = member(v, "refseqAccession", "refseq_accession");
    const char *genbank = member(v, "genbankAccession", "genbank_accession");
    size_t index;
    bool is_new;
    if (cov_names_count(report->ids) == 0)
        r->by_refseq = refseq != NULL;
    const char *id = r->by_refseq ? refseq : genbank;
    if (!id)
        id = r->by_refseq ? genbank : refseq;
    if (!id || !*id)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: neither refseqAccession nor genbankAccession; not NCBI's "
                        "sequence_report.jsonl?",
                        r->path, r->line);
    int rc = cov_names_add(report->ids, id, strlen(id), &index, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "%s:%zu: duplicate %.200s", r->path, r->line, id);
    if (rc)
        return rc;
    rc = COV_RESERVE(&report->drops, &report->cap, index + 1, e);
    if (!rc)
        report->drops[index] = is_dropped(v);
    return rc;
}

static int read_lines(struct report_reader *r, struct cov_lines *lines, struct cov_err *e)
{
    const char *text;
    size_t n;
    int rc;
    while ((rc = cov_lines_next(lines, &text, &n, &r->line, e)) > 0) {
        struct cov_json_value *v;
        struct cov_err fault = COV_ERR_INIT;
        while (n > 0 && cov_text_is_blank(*text)) {
            text++;
            n--;
        }
        if (n == 0)
            continue;
        rc = cov_json_parse(text, n, &v, &fault);
        if (rc)
            return cov_fail(e, rc,
                            "%s:%zu: %s; expected NCBI's sequence_report.jsonl, with an object in "
                            "each line",
                            r->path, r->line, fault.text);
        rc = take_object(r, v, e);
        cov_json_free(v);
        if (rc)
            return rc;
    }
    return rc;
}

int cov_sequence_report_read(const char *path, struct cov_sequence_report *out, struct cov_err *e)
{
    struct cov_lines *lines = NULL;
    struct report_reader r = {.report = out, .path = path};
    *out = (struct cov_sequence_report){0};
    int rc = cov_names_new(&out->ids, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    if (!rc)
        rc = read_lines(&r, lines, e);
    if (!rc && cov_names_count(out->ids) == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no sequences", path);
    cov_lines_close(lines);
    if (rc)
        cov_sequence_report_fini(out);
    return rc;
}
