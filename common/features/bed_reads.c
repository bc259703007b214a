/* bed_reads.c - see bed_reads.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/bed_reads.h"

#include <sys/stat.h>

#include "common/file/path.h"
#include "common/file/peek_kind.h"

enum { STRAND = 5, BEDGRAPH_COLUMNS = 4, MAX_BASES = (1 << 28) - 1 };

int cov_bed_reads_init(struct cov_bed_reads *b, const char *path, struct cov_err *e)
{
    *b = (struct cov_bed_reads){.path = path};
    int rc = cov_names_new(&b->names, e);
    return rc ? rc : cov_lines_open(path, &b->lines, e);
}

void cov_bed_reads_fini(struct cov_bed_reads *b)
{
    cov_lines_close(b->lines);
    cov_names_free(b->names);
}

static bool is_strand(const struct cov_bed_line *l, const char *strand)
{
    return l->n > STRAND && cov_word_is(l->words[STRAND], strand);
}

/* Returns what is wrong with a line of data that has a place; NULL: nothing. */
static const char *find_fault(struct cov_bed_reads *b, const struct cov_bed_line *l)
{
    if (l->n > STRAND && !is_strand(l, "+") && !is_strand(l, "-") && !is_strand(l, "."))
        return "the strand (column 6) is not +, - or .";
    if (b->n_columns == 0)
        b->n_columns = l->n;
    if (l->n == STRAND &&
        (cov_word_is(l->words[STRAND - 1], "+") || cov_word_is(l->words[STRAND - 1], "-")))
        return "the strand is in column 5 instead of 6";
    if (l->n != b->n_columns)
        return "fewer or more columns than the first line";
    if (l->end < l->beg)
        return "ends before it starts";
    if (l->end - l->beg > MAX_BASES)
        return "longer than 268435455 bases";
    return NULL;
}

int cov_bed_reads_next(struct cov_bed_reads *b, struct cov_read *read, struct cov_err *e)
{
    struct cov_bed_line l = {.n = 0};
    const char *text;
    size_t n, contig;
    bool is_new;
    while (l.n == 0 || (l.n > 1 && l.is_head)) {
        int rc = cov_lines_next(b->lines, &text, &n, &b->line, e);
        if (rc <= 0)
            return rc;
        cov_bed_line_split(text, text + n, &l);
    }
    if (!l.has_place)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected contig, start and end%s", b->path, b->line,
                        cov_line_bed_hint(text, text + n));
    const char *fault = find_fault(b, &l);
    if (fault)
        return cov_fail(e, COV_EINPUT, "%s:%zu: %s", b->path, b->line, fault);
    int rc = cov_names_add(b->names, l.words[0].text, l.words[0].n, &contig, &is_new, e);
    if (rc)
        return rc;
    b->cigar = (uint32_t)(l.end - l.beg) << 4 | COV_CIGAR_M;
    *read = (struct cov_read){
        .name = "",
        .contig = (int)contig,
        .pos = l.beg,
        .flags = is_strand(&l, "-") ? COV_READ_REVERSE : 0,
        .mapq = UINT8_MAX,
        .cigar = &b->cigar,
        .n_cigar = 1,
        .mate_contig = -1,
        .mate_pos = -1,
        .is_fragment = !is_strand(&l, "+") && !is_strand(&l, "-"),
    };
    return 1;
}

enum cov_bed_kind cov_bed_reads_detect(const char *path)
{
    struct stat st;
    struct cov_bed_reads b;
    struct cov_read first = {.is_fragment = false};
    if (!cov_path_is_url(path) && (stat(path, &st) != 0 || !S_ISREG(st.st_mode)))
        return COV_BED_NONE;
    int rc = cov_bed_reads_init(&b, path, NULL);
    if (!rc)
        rc = cov_bed_reads_next(&b, &first, NULL); /* a wrong line may be BED, too */
    cov_bed_reads_fini(&b);
    if (rc == 0 || b.n_columns == 0 || b.n_columns == BEDGRAPH_COLUMNS ||
        cov_kind_of_file(path, NULL) == COV_KIND_NARROWPEAK)
        return COV_BED_NONE;
    return first.is_fragment ? COV_BED_FRAGMENTS : COV_BED_READS;
}
