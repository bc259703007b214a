/* verify_head.c - see verify_head.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/verify_head.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/job/chunks/verify.h"
#include "common/seq/names.h"
#include "common/store/chunk_table.h"

#define START_ENDS "data/start_ends"
#define SEQIDS "data/seqids"

/* ---------------------------------------------------------------- printing and counting */

struct counter {
    char *place;
    enum cov_finding_kind kind;
    size_t n;
};

struct cov_findings {
    const char *path;
    FILE *out;
    struct counter *counters; /* of what was found, in the order in which it was */
    size_t n_counters, cap, n;
};

int cov_findings_new(const char *path, FILE *out, struct cov_findings **f, struct cov_err *e)
{
    *f = cov_calloc(1, sizeof **f, e);
    if (!*f)
        return COV_ENOMEM;
    (*f)->path = path;
    (*f)->out = out;
    return COV_OK;
}

static int find_counter(struct cov_findings *f, const char *place, enum cov_finding_kind kind,
                        struct counter **found, struct cov_err *e)
{
    for (size_t i = 0; i < f->n_counters; i++)
        if (f->counters[i].kind == kind && strcmp(f->counters[i].place, place) == 0) {
            *found = &f->counters[i];
            return COV_OK;
        }
    int rc = COV_RESERVE(&f->counters, &f->cap, f->n_counters + 1, e);
    char *copy = rc ? NULL : cov_strdup(place, e);
    if (!copy)
        return COV_ENOMEM;
    *found = &f->counters[f->n_counters++];
    **found = (struct counter){copy, kind, 0};
    return COV_OK;
}

int cov_findings_add(struct cov_findings *f, const char *place, enum cov_finding_kind kind,
                     const char *line, struct cov_err *e)
{
    struct counter *counter;
    int rc = find_counter(f, place, kind, &counter, e);
    if (rc)
        return rc;
    f->n++;
    if (counter->n++ < COV_VERIFY_MAX_LINES)
        (void)fprintf(f->out, "%s\n", line);
    return COV_OK;
}

size_t cov_findings_finish(struct cov_findings *f)
{
    static const char *const kinds[] = {
        [COV_FOUND_DAMAGE] = "chunks that cannot be decoded",
        [COV_FOUND_STRANDS] = "chunks whose strands disagree",
        [COV_FOUND_VALUES] = "chunks with values that cannot be",
        [COV_FOUND_OVERLAP] = "chunks that overlap",
        [COV_FOUND_HOLE] = "holes",
        [COV_FOUND_ALONE] = "chunks without their other strand",
        [COV_FOUND_NAMES] = "names",
    };
    size_t n = f->n;
    for (size_t i = 0; i < f->n_counters; i++) {
        const struct counter *c = &f->counters[i];
        if (c->n > COV_VERIFY_MAX_LINES) {
            struct cov_err line = COV_ERR_INIT;
            (void)cov_fail(&line, COV_EINPUT, "%s: %s: ... and %zu more %s", f->path, c->place,
                           c->n - COV_VERIFY_MAX_LINES, kinds[c->kind]);
            (void)fprintf(f->out, "%s\n", line.text);
        }
        free(c->place);
    }
    free(f->counters);
    free(f);
    return n;
}

static int add(struct cov_findings *f, const char *place, enum cov_finding_kind kind,
               struct cov_err *e, const char *format, ...) COV_PRINTF(5, 6);
static int add(struct cov_findings *f, const char *place, enum cov_finding_kind kind,
               struct cov_err *e, const char *format, ...)
{
    char reason[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    struct cov_err line = COV_ERR_INIT;
    (void)cov_fail(&line, COV_EINPUT, "%s: %s: %s", f->path, place, reason);
    return cov_findings_add(f, place, kind, line.text, e);
}

/* ---------------------------------------------------------------- the grid */

/* One strand of a sequence, followed along its chunks. */
struct strand {
    int64_t end; /* of what is covered so far */
    size_t row;  /* that reached there */
    bool torn;   /* there was an overlap or a hole */
};

static int follow(const struct cov_grid *g, const struct cov_pair *p, size_t strand,
                  struct strand *s, struct cov_findings *f, struct cov_err *e)
{
    char where[COV_ROW_TEXT_BYTES];
    size_t row = p->rows[strand];
    int rc = COV_OK;
    if (row == COV_NO_ROW)
        return COV_OK;
    if (p->beg < s->end) {
        s->torn = true;
        rc = add(f, START_ENDS, COV_FOUND_OVERLAP, e, "%s: overlaps row %zu",
                 cov_row_text(g, row, where), s->row);
    } else if (p->beg > s->end && !cov_grid_is_partial(g)) {
        s->torn = true;
        rc = add(f, START_ENDS, COV_FOUND_HOLE, e,
                 "%s: no chunk of this strand has the bases %" PRId64 " to %" PRId64 " before it",
                 cov_row_text(g, row, where), s->end + 1, p->beg);
    }
    if (p->end > s->end) {
        s->end = p->end;
        s->row = row;
    }
    return rc;
}

/* Chunks without their other strand, where both strands are whole: the one is cut in other places
 * than the other. */
static int check_partners(const struct cov_grid *g, size_t beg, size_t end, struct cov_findings *f,
                          struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = beg; i < end && !rc; i++) {
        struct cov_pair p = cov_grid_pair(g, i);
        for (size_t strand = 0; strand < 2 && !rc; strand++)
            if (p.rows[strand] == COV_NO_ROW) {
                char where[COV_ROW_TEXT_BYTES];
                rc =
                    add(f, START_ENDS, COV_FOUND_ALONE, e,
                        "%s: the %c strand has no chunk of the same place",
                        cov_row_text(g, p.rows[1 - strand], where), strand == COV_PLUS ? '+' : '-');
            }
    }
    return rc;
}

static int check_sequence(const struct cov_grid *g, size_t seq, struct cov_findings *f,
                          struct cov_err *e)
{
    struct strand strands[2] = {{0, 0, false}, {0, 0, false}};
    int64_t length = cov_grid_seq_length(g, seq);
    size_t beg, end;
    int rc = COV_OK;
    cov_grid_seq_pairs(g, seq, &beg, &end);
    for (size_t i = beg; i < end && !rc; i++) {
        struct cov_pair p = cov_grid_pair(g, i);
        for (size_t s = 0; s < 2 && !rc; s++)
            rc = follow(g, &p, s, &strands[s], f, e);
    }
    if (rc || cov_grid_is_partial(g))
        return rc;
    for (size_t s = 0; s < 2 && !rc; s++)
        if (strands[s].end < length) {
            strands[s].torn = true;
            rc = add(f, START_ENDS, COV_FOUND_HOLE, e,
                     "%.200s, %c strand: no chunk has the bases %" PRId64 " to %" PRId64,
                     cov_grid_name(g, seq), s == COV_PLUS ? '+' : '-', strands[s].end + 1, length);
        }
    if (!rc && !strands[0].torn && !strands[1].torn)
        rc = check_partners(g, beg, end, f, e);
    return rc;
}

int cov_verify_grid(const struct cov_grid *grid, struct cov_findings *f, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t s = 0; s < cov_grid_n_seqs(grid) && !rc; s++)
        rc = check_sequence(grid, s, f, e);
    return rc;
}

/* ---------------------------------------------------------------- lists of names */

/* A name that can stand in a column of a text. */
static bool is_word(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isspace((unsigned char)name[i]) || iscntrl((unsigned char)name[i]))
            return false;
    return n > 0;
}

static int check_sequence_names(const struct cov_grid *g, struct cov_findings *f, struct cov_err *e)
{
    struct cov_names *seen = NULL;
    int rc = cov_names_new(&seen, e);
    for (size_t s = 0; s < cov_grid_n_seqs(g) && !rc; s++) {
        const char *name = cov_grid_name(g, s);
        size_t index;
        bool is_new;
        rc = cov_names_add(seen, name, strlen(name), &index, &is_new, e);
        if (!rc && !is_new)
            rc = add(f, SEQIDS, COV_FOUND_NAMES, e, "%.200s is the name of a sequence of %s too",
                     name, cov_grid_species(g, s));
        if (!rc && !is_word(name, strlen(name)))
            rc = add(f, SEQIDS, COV_FOUND_NAMES, e,
                     "'%.200s' is not a name: there is white space in it", name);
    }
    cov_names_free(seen);
    return rc;
}

/* A table that has a name for each of n_columns. */
static int check_list(const struct cov_chunk_table *t, size_t n_columns, bool unique,
                      struct cov_findings *f, struct cov_err *e)
{
    struct cov_names *seen = NULL;
    if (t->type.kind != COV_H5_STRING || t->rank != 1)
        return add(f, t->name, COV_FOUND_NAMES, e, "no list of names");
    if (t->dims[0] != n_columns)
        return add(f, t->name, COV_FOUND_NAMES, e, "%zu names of %zu columns", t->dims[0],
                   n_columns);
    int rc = cov_names_new(&seen, e);
    for (size_t i = 0; i < t->dims[0] && !rc; i++) {
        const char *name = (const char *)t->elems + i * t->type.bytes;
        size_t n = cov_h5_string_length(&t->type, name), index;
        bool is_new;
        rc = cov_names_add(seen, name, n, &index, &is_new, e);
        if (!rc && n == 0)
            rc = add(f, t->name, COV_FOUND_NAMES, e, "row %zu: no name", i);
        else if (!rc && unique && !is_new)
            rc = add(f, t->name, COV_FOUND_NAMES, e, "row %zu: '%.*s' is there twice", i,
                     (int)(n < 200 ? n : 200), name);
    }
    cov_names_free(seen);
    return rc;
}

/* ---------------------------------------------------------------- data sets that belong together
 */

/* The length of what stands before `end` in `text`; 0 if it does not end so. */
static size_t length_before(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0 ? n - m : 0;
}

/* Measured coverage: "evaluation/x_coverage", and beside it perhaps
 * "evaluation/x_spliced_coverage", with the BAM file of each column in
 * "evaluation/x_meta/bam_files". */
static int check_coverage(const struct cov_chunk_head *head, const struct cov_chunk_set *set,
                          struct cov_findings *f, struct cov_err *e)
{
    size_t n = length_before(set->name, "_spliced_coverage");
    bool spliced = n > 0;
    if (!spliced)
        n = length_before(set->name, "_coverage");
    char *coverage = cov_strfmt(e, "%.*s_coverage", (int)n, set->name);
    char *bam_files = cov_strfmt(e, "%.*s_meta/bam_files", (int)n, set->name);
    int rc = coverage && bam_files ? COV_OK : COV_ENOMEM;
    if (!rc) {
        const struct cov_chunk_set *of = spliced ? cov_chunk_head_set(head, coverage) : NULL;
        const struct cov_chunk_table *t = cov_chunk_head_table(head, bam_files);
        if (of && of->dims[1] != set->dims[1])
            rc = add(f, set->name, COV_FOUND_VALUES, e, "%zu columns, but %s has %zu", set->dims[1],
                     coverage, of->dims[1]);
        else if (t && !of)
            rc = check_list(t, set->dims[1], false, f, e);
    }
    free(coverage);
    free(bam_files);
    return rc;
}

static int check_set(const struct cov_chunk_head *head, const struct cov_chunk_set *set,
                     struct cov_findings *f, struct cov_err *e)
{
    bool is_prediction = strcmp(set->name, "prediction/predictions") == 0;
    bool is_coverage = strncmp(set->name, "evaluation/", strlen("evaluation/")) == 0 &&
                       length_before(set->name, "_coverage") > 0;
    if (!is_prediction && !is_coverage)
        return COV_OK;
    if (set->type.kind == COV_H5_STRING || set->rank < 2 || set->dims[0] != head->L)
        return add(f, set->name, COV_FOUND_VALUES, e, "rows that are not numbers of %zu positions",
                   head->L);
    if (is_coverage)
        return check_coverage(head, set, f, e);
    const struct cov_chunk_table *t = cov_chunk_head_table(head, "prediction/datasets");
    return t ? check_list(t, set->dims[1], true, f, e)
             : add(f, "prediction/datasets", COV_FOUND_NAMES, e,
                   "missing: the columns of the predictions have no names");
}

int cov_verify_head(const struct cov_chunk_head *head, const struct cov_grid *grid,
                    struct cov_findings *f, struct cov_err *e)
{
    int rc = check_sequence_names(grid, f, e);
    for (size_t k = 0; k < head->n_sets && !rc; k++)
        rc = check_set(head, &head->sets[k], f, e);
    return rc;
}
