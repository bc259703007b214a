/* verify.c - see chunk_jobs.h.
 *
 * One thread fetches the rows pair by pair, the pool decodes and compares them, and findings are
 * printed in the order of the pairs.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/chunk_head.h"
#include "common/chunk/chunk_table.h"
#include "common/chunk/predictions.h"
#include "common/seq/alphabet.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

#define START_ENDS "data/start_ends"
#define SEQIDS "data/seqids"

/* ---------------------------------------------------------------- printing and counting */

/* Printed findings of one kind in one dataset; further ones are only counted. */
enum { MAX_LINES = 20 };

enum finding_kind {
    FOUND_DAMAGE,
    FOUND_STRANDS,
    FOUND_VALUES,
    FOUND_OVERLAP,
    FOUND_HOLE,
    FOUND_ALONE,
    FOUND_NAMES,
};

struct counter {
    char *place;
    enum finding_kind kind;
    size_t n;
};

struct findings {
    const char *path;
    FILE *out;
    struct counter *counters; /* in the order of the first findings. Owned */
    size_t n_counters, cap, n;
};

static int find_counter(struct findings *f, const char *place, enum finding_kind kind,
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

/* Prints `line`, unless MAX_LINES of this kind were printed for the dataset `place`. */
static int print_finding(struct findings *f, const char *place, enum finding_kind kind,
                         const char *line, struct cov_err *e)
{
    struct counter *counter;
    int rc = find_counter(f, place, kind, &counter, e);
    if (rc)
        return rc;
    f->n++;
    if (counter->n++ < MAX_LINES)
        (void)fprintf(f->out, "%s\n", line);
    return COV_OK;
}

/* Prints how many findings were not printed, frees what f owns, and returns the number of
 * findings. */
static size_t finish_findings(struct findings *f)
{
    static const char *const kinds[] = {
        [FOUND_DAMAGE] = "chunks that cannot be decoded",
        [FOUND_STRANDS] = "chunks whose strands differ",
        [FOUND_VALUES] = "chunks with invalid values",
        [FOUND_OVERLAP] = "overlapping chunks",
        [FOUND_HOLE] = "holes",
        [FOUND_ALONE] = "chunks without the other strand",
        [FOUND_NAMES] = "names",
    };
    for (size_t i = 0; i < f->n_counters; i++) {
        const struct counter *c = &f->counters[i];
        if (c->n > MAX_LINES) {
            struct cov_err line = COV_ERR_INIT;
            (void)cov_fail(&line, COV_EINPUT, "%s: %s: ... and %zu more %s", f->path, c->place,
                           c->n - MAX_LINES, kinds[c->kind]);
            (void)fprintf(f->out, "%s\n", line.text);
        }
        free(c->place);
    }
    free(f->counters);
    return f->n;
}

static int add_line(struct findings *f, const char *place, enum finding_kind kind,
                    struct cov_err *e, const char *format, ...) COV_PRINTF(5, 6);
static int add_line(struct findings *f, const char *place, enum finding_kind kind,
                    struct cov_err *e, const char *format, ...)
{
    char reason[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    struct cov_err line = COV_ERR_INIT;
    (void)cov_fail(&line, COV_EINPUT, "%s: %s: %s", f->path, place, reason);
    return print_finding(f, place, kind, line.text, e);
}

/* ---------------------------------------------------------------- the grid */

/* State of one strand of a sequence while its chunks are followed. */
struct strand {
    int64_t end; /* of the covered part */
    size_t row;  /* of the chunk that ends there */
    bool broken; /* has an overlap or a hole */
};

static int follow(const struct cov_grid *g, const struct cov_pair *p, size_t strand,
                  struct strand *s, struct findings *f, struct cov_err *e)
{
    char where[COV_ROW_TEXT_BYTES];
    size_t row = p->rows[strand];
    int rc = COV_OK;
    if (row == COV_NO_ROW)
        return COV_OK;
    if (p->beg < s->end) {
        s->broken = true;
        rc = add_line(f, START_ENDS, FOUND_OVERLAP, e, "%s: overlaps row %zu",
                      cov_row_text(g, row, where), s->row);
    } else if (p->beg > s->end && !cov_grid_is_partial(g)) {
        s->broken = true;
        rc = add_line(f, START_ENDS, FOUND_HOLE, e,
                      "%s: bases %" PRId64 " to %" PRId64 " of this strand are missing before it",
                      cov_row_text(g, row, where), s->end + 1, p->beg);
    }
    if (p->end > s->end) {
        s->end = p->end;
        s->row = row;
    }
    return rc;
}

/* Finds chunks without a partner on the other strand, if both strands are complete but cut at
 * different positions. */
static int check_partners(const struct cov_grid *g, size_t beg, size_t end, struct findings *f,
                          struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = beg; i < end && !rc; i++) {
        struct cov_pair p = cov_grid_pair(g, i);
        for (size_t strand = 0; strand < 2 && !rc; strand++)
            if (p.rows[strand] == COV_NO_ROW) {
                char where[COV_ROW_TEXT_BYTES];
                rc = add_line(f, START_ENDS, FOUND_ALONE, e,
                              "%s: the %c strand has no chunk of the same interval",
                              cov_row_text(g, p.rows[1 - strand], where),
                              strand == COV_PLUS ? '+' : '-');
            }
    }
    return rc;
}

static int check_sequence(const struct cov_grid *g, size_t seq, struct findings *f,
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
            strands[s].broken = true;
            rc = add_line(f, START_ENDS, FOUND_HOLE, e,
                          "%.200s, %c strand: bases %" PRId64 " to %" PRId64 " are missing",
                          cov_grid_name(g, seq), s == COV_PLUS ? '+' : '-', strands[s].end + 1,
                          length);
        }
    if (!rc && !strands[0].broken && !strands[1].broken)
        rc = check_partners(g, beg, end, f, e);
    return rc;
}

/* Finds overlaps, holes, and chunks without a partner on the other strand. */
static int check_grid(const struct cov_grid *grid, struct findings *f, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t s = 0; s < cov_grid_n_seqs(grid) && !rc; s++)
        rc = check_sequence(grid, s, f, e);
    return rc;
}

/* ---------------------------------------------------------------- lists of names */

/* Returns true for a name without white space and control characters. */
static bool is_word(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isspace((unsigned char)name[i]) || iscntrl((unsigned char)name[i]))
            return false;
    return n > 0;
}

static int check_sequence_names(const struct cov_grid *g, struct findings *f, struct cov_err *e)
{
    struct cov_names *seen = NULL;
    int rc = cov_names_new(&seen, e);
    for (size_t s = 0; s < cov_grid_n_seqs(g) && !rc; s++) {
        const char *name = cov_grid_name(g, s);
        size_t index;
        bool is_new;
        rc = cov_names_add(seen, name, strlen(name), &index, &is_new, e);
        if (!rc && !is_new)
            rc = add_line(f, SEQIDS, FOUND_NAMES, e, "duplicate name %.200s, also in %s", name,
                          cov_grid_species(g, s));
        if (!rc && !is_word(name, strlen(name)))
            rc = add_line(f, SEQIDS, FOUND_NAMES, e, "'%.200s': white space in a name", name);
    }
    cov_names_free(seen);
    return rc;
}

/* Checks a table of names of n_columns columns. */
static int check_list(const struct cov_chunk_table *t, size_t n_columns, bool unique,
                      struct findings *f, struct cov_err *e)
{
    struct cov_names *seen = NULL;
    if (t->type.kind != COV_H5_STRING || t->rank != 1)
        return add_line(f, t->name, FOUND_NAMES, e, "not a list of names");
    if (t->dims[0] != n_columns)
        return add_line(f, t->name, FOUND_NAMES, e, "%zu names for %zu columns", t->dims[0],
                        n_columns);
    int rc = cov_names_new(&seen, e);
    for (size_t i = 0; i < t->dims[0] && !rc; i++) {
        const char *name = (const char *)t->elems + i * t->type.bytes;
        size_t n = cov_h5_string_length(&t->type, name), index;
        bool is_new;
        rc = cov_names_add(seen, name, n, &index, &is_new, e);
        if (!rc && n == 0)
            rc = add_line(f, t->name, FOUND_NAMES, e, "row %zu: empty name", i);
        else if (!rc && unique && !is_new)
            rc = add_line(f, t->name, FOUND_NAMES, e, "row %zu: duplicate name '%.*s'", i,
                          (int)(n < 200 ? n : 200), name);
    }
    cov_names_free(seen);
    return rc;
}

/* ---------------------------------------------------------------- related datasets */

/* Returns the length of `text` without the suffix `end`; 0 if `text` does not have that suffix. */
static size_t length_before(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0 ? n - m : 0;
}

/* Measured coverage: "evaluation/x_coverage", optionally "evaluation/x_spliced_coverage", and
 * the BAM file of each column in "evaluation/x_meta/bam_files". */
static int check_coverage(const struct cov_chunk_head *head, const struct cov_chunk_set *set,
                          struct findings *f, struct cov_err *e)
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
            rc = add_line(f, set->name, FOUND_VALUES, e, "%zu columns, but %s has %zu",
                          set->dims[1], coverage, of->dims[1]);
        else if (t && !of)
            rc = check_list(t, set->dims[1], false, f, e);
    }
    free(coverage);
    free(bam_files);
    return rc;
}

/* Returns true for measured coverage, spliced or not. */
static bool is_coverage(const struct cov_chunk_set *set)
{
    return strncmp(set->name, "evaluation/", strlen("evaluation/")) == 0 &&
           length_before(set->name, "_coverage") > 0;
}

static int check_set(const struct cov_chunk_head *head, const struct cov_chunk_set *set,
                     struct findings *f, struct cov_err *e)
{
    if (!is_coverage(set) && strcmp(set->name, COV_PREDICTIONS_SET) != 0)
        return COV_OK;
    if (set->type.kind == COV_H5_STRING || set->rank < 2 || set->dims[0] != head->L)
        return add_line(f, set->name, FOUND_VALUES, e, "rows do not hold numbers for %zu positions",
                        head->L);
    if (is_coverage(set))
        return check_coverage(head, set, f, e);
    const struct cov_chunk_table *t = cov_chunk_head_table(head, COV_PREDICTIONS_DATASETS);
    return t ? check_list(t, set->dims[1], true, f, e)
             : add_line(f, COV_PREDICTIONS_DATASETS, FOUND_NAMES, e,
                        "missing names of the prediction columns");
}

/* Checks that datasets match each other and that names are valid. */
static int check_head(const struct cov_chunk_head *head, const struct cov_grid *grid,
                      struct findings *f, struct cov_err *e)
{
    int rc = check_sequence_names(grid, f, e);
    for (size_t k = 0; k < head->n_sets && !rc; k++)
        rc = check_set(head, &head->sets[k], f, e);
    return rc;
}

/* ---------------------------------------------------------------- findings of a pair */

struct finding {
    size_t place; /* 0: the bases; 1 + k: set k */
    enum finding_kind kind;
    char *text;
};

struct verify_slot {
    struct cov_pair pair;
    struct cov_blob *raw; /* [2][1 + n_sets] */
    bool *has;            /* [2][1 + n_sets]: whether raw was fetched */
    struct finding *findings;
    size_t n_findings, cap;
};

/* Which values a set may have. */
enum rule { RULE_NONE, RULE_COVERAGE, RULE_REGIONS, RULE_BLACKLIST };

struct verify_job {
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    const struct cov_chunk_head *head;
    const char *path, *bases_name;
    enum rule *rules; /* of each set */
    size_t n_places;  /* 1 + number of sets */
    struct findings findings;
    size_t elem_bytes; /* of the longest row */
    size_t next;       /* pair */
    struct cov_progress *progress;
};

struct verify_scratch {
    uint8_t *codes[2]; /* [L] by strand */
    uint8_t *elems;    /* [elem_bytes] */
};

static int add_text(struct verify_slot *s, size_t place, enum finding_kind kind, const char *text,
                    struct cov_err *e)
{
    int rc = COV_RESERVE(&s->findings, &s->cap, s->n_findings + 1, e);
    char *copy = rc ? NULL : cov_strdup(text, e);
    if (!copy)
        return COV_ENOMEM;
    s->findings[s->n_findings++] = (struct finding){place, kind, copy};
    return COV_OK;
}

static const char *place_name(const struct verify_job *j, size_t place)
{
    return place == 0 ? j->bases_name : j->head->sets[place - 1].name;
}

/* Where something was found. */
struct site {
    size_t place, row;
    enum finding_kind kind;
};

static int add(const struct verify_job *j, struct verify_slot *s, struct site at, struct cov_err *e,
               const char *format, ...) COV_PRINTF(5, 6);
static int add(const struct verify_job *j, struct verify_slot *s, struct site at, struct cov_err *e,
               const char *format, ...)
{
    char reason[300], where[COV_ROW_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    struct cov_err line = COV_ERR_INIT;
    (void)cov_fail(&line, COV_EINPUT, "%s: %s: %s: %s", j->path, place_name(j, at.place),
                   cov_row_text(j->grid, at.row, where), reason);
    return add_text(s, at.place, at.kind, line.text, e);
}

/* Turns a failure to fetch or to decode into a finding; out of memory remains a failure. */
static int add_failure(const struct verify_job *j, struct verify_slot *s, size_t place, size_t row,
                       const struct cov_err *failure, struct cov_err *e)
{
    if (failure->code == COV_ENOMEM)
        return cov_fail(e, COV_ENOMEM, "%s", failure->text);
    size_t n = strlen(j->path);
    bool named = strncmp(failure->text, j->path, n) == 0 && failure->text[n] == ':';
    return strstr(failure->text, ": row ") && named
               ? add_text(s, place, FOUND_DAMAGE, failure->text, e)
               : add(j, s, (struct site){place, row, FOUND_DAMAGE}, e, "%s",
                     failure->text + (named ? n + 2 : 0));
}

/* ---------------------------------------------------------------- values */

/* Returns the index of the first of n values that breaks the rule; n if none does. Values from
 * n_inside on are padding. */
static size_t first_bad(enum rule rule, const struct cov_h5_type *type, const uint8_t *elems,
                        size_t n, size_t n_inside, double *value)
{
    enum { TILE = 512 };
    double tile[TILE];
    for (size_t beg = 0; beg < n; beg += TILE) {
        size_t m = n - beg < TILE ? n - beg : TILE;
        cov_h5_to_double(type, elems + beg * type->bytes, m, tile);
        for (size_t i = 0; i < m; i++) {
            bool fine = rule == RULE_BLACKLIST ? tile[i] == 0 || tile[i] == 1
                        : beg + i < n_inside   ? (tile[i] >= 0 && isfinite(tile[i])) ||
                                                   (rule == RULE_REGIONS && tile[i] == -1)
                                             : tile[i] == -1;
            if (!fine) {
                *value = tile[i];
                return beg + i;
            }
        }
    }
    return n;
}

static int check_values(const struct verify_job *j, struct verify_slot *s, size_t k, size_t row,
                        const uint8_t *elems, struct cov_err *e)
{
    const struct cov_chunk_set *set = &j->head->sets[k];
    size_t n = set->dims[0] * set->dims[1];
    size_t inside = (size_t)(s->pair.end - s->pair.beg);
    double value = 0;
    if (j->rules[k] == RULE_NONE)
        return COV_OK;
    size_t bad = first_bad(j->rules[k], &set->type, elems, n, inside * set->dims[1], &value);
    if (bad == n)
        return COV_OK;
    const struct site at = {1 + k, row, FOUND_VALUES};
    if (j->rules[k] == RULE_BLACKLIST)
        return add(j, s, at, e, "%g is neither 0 nor 1", value);
    size_t index = bad / set->dims[1], column = bad % set->dims[1];
    if (index < inside)
        return add(j, s, at, e, "%g at index %zu, column %zu", value, index, column);
    return add(j, s, at, e, "%g instead of -1 at index %zu, column %zu, past the end", value, index,
               column);
}

/* ---------------------------------------------------------------- stages */

static void clear_findings(struct verify_slot *s)
{
    for (size_t i = 0; i < s->n_findings; i++)
        free(s->findings[i].text);
    s->n_findings = 0;
}

static int verify_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct verify_job *j = arg;
    struct verify_slot *s = slot;
    if (j->next >= cov_grid_n_pairs(j->grid))
        return 0;
    s->pair = cov_grid_pair(j->grid, j->next++);
    clear_findings(s);
    for (size_t strand = 0; strand < 2; strand++)
        for (size_t place = 0; place < j->n_places; place++) {
            size_t at = strand * j->n_places + place, row = s->pair.rows[strand];
            size_t k = place - 1; /* not used if place is 0 */
            struct cov_err failure = COV_ERR_INIT;
            s->has[at] = false;
            if (row == COV_NO_ROW || (place == 0 && !j->bases_name))
                continue;
            cov_blob_clear(&s->raw[at]);
            int rc = cov_chunk_file_fetch(j->file, row,
                                          (struct cov_chunk_parts){place == 0, &k, place > 0},
                                          &s->raw[at], &failure);
            s->has[at] = rc == COV_OK;
            if (rc)
                rc = add_failure(j, s, place, row, &failure, e);
            if (rc)
                return rc;
        }
    return 1;
}

/* Decodes codes[0..L) of a row; *good is false if that failed. */
static int decode_bases(const struct verify_job *j, struct verify_slot *s, size_t strand,
                        uint8_t *codes, bool *good, struct cov_err *e)
{
    size_t at = strand * j->n_places, row = s->pair.rows[strand];
    *good = false;
    if (!s->has[at])
        return COV_OK;
    struct cov_err failure = COV_ERR_INIT;
    *good = cov_chunk_file_decode(j->file, row, COV_CHUNK_BASES, &s->raw[at], codes, NULL,
                                  &failure) == COV_OK;
    return *good ? COV_OK : add_failure(j, s, 0, row, &failure, e);
}

static int check_strands(const struct verify_job *j, struct verify_slot *s, const uint8_t *plus,
                         const uint8_t *minus, struct cov_err *e)
{
    size_t n = (size_t)(s->pair.end - s->pair.beg);
    for (size_t t = 0; t < n; t++) {
        uint8_t wanted = cov_code_complement[plus[n - 1 - t]];
        if (minus[t] != wanted)
            return add(j, s, (struct site){0, s->pair.rows[COV_MINUS], FOUND_STRANDS}, e,
                       "%c at index %zu, but the + strand (row %zu) has %c",
                       cov_letter_of_code[minus[t] & 15], t, s->pair.rows[COV_PLUS],
                       cov_letter_of_code[wanted]);
    }
    return COV_OK;
}

static int verify_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct verify_job *j = arg;
    struct verify_slot *s = slot;
    struct verify_scratch *t = worker;
    bool good[2];
    int rc = COV_OK;
    for (size_t strand = 0; strand < 2 && !rc; strand++)
        rc = decode_bases(j, s, strand, t->codes[strand], &good[strand], e);
    if (!rc && good[COV_PLUS] && good[COV_MINUS])
        rc = check_strands(j, s, t->codes[COV_PLUS], t->codes[COV_MINUS], e);
    for (size_t strand = 0; strand < 2; strand++)
        for (size_t k = 0; k < j->head->n_sets && !rc; k++) {
            size_t at = strand * j->n_places + 1 + k, row = s->pair.rows[strand];
            struct cov_err failure = COV_ERR_INIT;
            if (!s->has[at])
                continue;
            if (cov_chunk_file_decode(j->file, row, (struct cov_chunk_parts){false, &k, 1},
                                      &s->raw[at], NULL, &t->elems, &failure))
                rc = add_failure(j, s, 1 + k, row, &failure, e);
            else
                rc = check_values(j, s, k, row, t->elems, e);
        }
    return rc;
}

static int verify_store(void *arg, void *slot, struct cov_err *e)
{
    struct verify_job *j = arg;
    struct verify_slot *s = slot;
    int rc = COV_OK;
    for (size_t i = 0; i < s->n_findings && !rc; i++) {
        const struct finding *f = &s->findings[i];
        rc = print_finding(&j->findings, place_name(j, f->place), f->kind, f->text, e);
    }
    cov_progress_add(j->progress, (int64_t)cov_pair_n_rows(&s->pair));
    return rc;
}

/* ---------------------------------------------------------------- the job */

static enum rule rule_of(const struct cov_chunk_head *head, const struct cov_chunk_set *set)
{
    if (set->type.kind == COV_H5_STRING)
        return RULE_NONE;
    if (strcmp(set->name, COV_BLACKLIST_SET) == 0)
        return RULE_BLACKLIST;
    bool has_signal = is_coverage(set) || strcmp(set->name, COV_PREDICTIONS_SET) == 0;
    if (!has_signal || set->dims[0] != head->L)
        return RULE_NONE;
    return cov_chunk_head_attr(head, set->name, COV_PREDICTIONS_OUTSIDE_ATTR) ? RULE_REGIONS
                                                                              : RULE_COVERAGE;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct verify_job *j = arg;
    struct verify_slot *s = slot;
    s->raw = cov_arena_calloc(memory, 2 * j->n_places, sizeof *s->raw);
    s->has = cov_arena_calloc(memory, 2 * j->n_places, sizeof *s->has);
}

static void fini_slot(void *arg, void *slot)
{
    const struct verify_job *j = arg;
    struct verify_slot *s = slot;
    for (size_t at = 0; s->raw && at < 2 * j->n_places; at++)
        cov_blob_fini(&s->raw[at]);
    clear_findings(s);
    free(s->findings);
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct verify_job *j = arg;
    struct verify_scratch *t = worker;
    (void)i;
    t->codes[COV_PLUS] = cov_arena_calloc(memory, j->bases_name ? j->head->L : 1, 1);
    t->codes[COV_MINUS] = cov_arena_calloc(memory, j->bases_name ? j->head->L : 1, 1);
    t->elems = cov_arena_calloc(memory, j->elem_bytes, 1);
}

/* Sets the rule of each set, and the bytes of the longest row. */
static int set_rules(struct verify_job *j, struct cov_err *e)
{
    j->elem_bytes = 1;
    j->rules = cov_calloc(j->head->n_sets, sizeof *j->rules, e);
    for (size_t k = 0; j->rules && k < j->head->n_sets; k++) {
        size_t bytes = cov_chunk_set_row_bytes(&j->head->sets[k]);
        j->elem_bytes = bytes > j->elem_bytes ? bytes : j->elem_bytes;
        j->rules[k] = rule_of(j->head, &j->head->sets[k]);
    }
    return j->rules ? COV_OK : COV_ENOMEM;
}

static void count(const struct verify_job *j, struct cov_stats *stats)
{
    size_t n = cov_grid_n_chunks(j->grid);
    int64_t bases = 0;
    for (size_t i = 0; i < n; i++) {
        struct cov_chunk c = cov_grid_chunk(j->grid, i);
        bases += c.minus ? 0 : c.end - c.beg;
    }
    stats->bases = (stats->bases < 0 ? 0 : stats->bases) + bases;
    stats->chunks = (stats->chunks < 0 ? 0 : stats->chunks) + (int64_t)n;
}

int cov_verify(const char *path, FILE *out, const struct cov_job *job, size_t *n_findings,
               struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = verify_fetch,
        .work = verify_work,
        .store = verify_store,
        .slot_bytes = sizeof(struct verify_slot),
        .worker_bytes = sizeof(struct verify_scratch),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    struct verify_job j = {
        .path = path, .progress = job->progress, .findings = {.path = path, .out = out}};
    struct cov_ring_times times = {0, 0, 0, 0};
    *n_findings = 0;
    int rc = cov_chunk_file_open(path, &j.file, e);
    if (rc)
        return rc;
    j.grid = cov_chunk_file_grid(j.file);
    j.head = cov_chunk_file_head(j.file);
    j.bases_name = cov_chunk_file_bases_name(j.file);
    j.n_places = 1 + j.head->n_sets;
    cov_progress_begin(job->progress, "verifying", "chunks", (int64_t)cov_grid_n_chunks(j.grid));
    rc = check_head(j.head, j.grid, &j.findings, e);
    if (!rc)
        rc = check_grid(j.grid, &j.findings, e);
    if (!rc)
        rc = set_rules(&j, e);
    if (!rc)
        rc = cov_ring_run_job(job->pool, &ring, &j, &times, e);
    cov_progress_end(job->progress);
    *n_findings = finish_findings(&j.findings);
    if (!rc) {
        count(&j, job->stats);
        cov_stats_add_stage(job->stats, "read", times.source);
        cov_stats_add_stage(job->stats, "check", times.work);
        cov_stats_add_stage(job->stats, "wait", times.wait);
    }
    free(j.rules);
    cov_chunk_file_close(j.file);
    return rc;
}
