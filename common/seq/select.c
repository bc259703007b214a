/* select.c - see select.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/select.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/lines.h"
#include "common/seq/region_list.h"

struct cov_select {
    const struct cov_grid *grid;
    struct cov_names *names; /* of the sequences, without duplicates */
    size_t *seqs;            /* the first sequence of each name */
    size_t *next;            /* the next sequence of the same name; the last holds itself */
    bool *excluded;          /* of each sequence */
    bool asked;              /* a request was made, even if nothing matches it */
    struct cov_region_list regions;
};

void cov_select_free(struct cov_select *s)
{
    if (!s)
        return;
    cov_names_free(s->names);
    free(s->seqs);
    free(s->next);
    free(s->excluded);
    cov_region_list_fini(&s->regions);
    free(s);
}

int cov_select_new(const struct cov_grid *g, struct cov_select **out, struct cov_err *e)
{
    *out = NULL;
    int rc = COV_ENOMEM;
    size_t n_seqs = cov_grid_n_seqs(g);
    struct cov_select *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return rc;
    s->grid = g;
    s->seqs = cov_malloc(n_seqs, sizeof *s->seqs, e);
    s->next = cov_malloc(n_seqs, sizeof *s->next, e);
    s->excluded = cov_calloc(n_seqs, sizeof *s->excluded, e);
    if (s->seqs && s->next && s->excluded)
        rc = cov_names_new(&s->names, e);
    for (size_t i = n_seqs; !rc && i-- > 0;) {
        size_t k;
        bool is_new;
        const char *name = cov_grid_name(g, i);
        rc = cov_names_add(s->names, name, strlen(name), &k, &is_new, e);
        if (!rc) {
            s->next[i] = is_new ? i : s->seqs[k];
            s->seqs[k] = i;
        }
    }
    if (rc)
        cov_select_free(s);
    else
        *out = s;
    return rc;
}

/* Adds [beg, end) of all sequences of name number k, clipped to their lengths. Sets *any if one has
 * bases there. */
static int add(struct cov_select *s, size_t k, int64_t beg, int64_t end, bool *any,
               struct cov_err *e)
{
    size_t seq = s->seqs[k], last;
    do {
        int64_t length = cov_grid_seq_length(s->grid, seq);
        int64_t stop = end < length ? end : length;
        if (beg < stop) {
            int rc = cov_region_list_add(&s->regions, (struct cov_region){seq, beg, stop}, e);
            if (rc)
                return rc;
            *any = true;
        }
        last = seq;
        seq = s->next[seq];
    } while (seq != last);
    return COV_OK;
}

/* Excludes all sequences of name number k. */
static void exclude(struct cov_select *s, size_t k)
{
    size_t seq = s->seqs[k], last;
    do {
        s->excluded[seq] = true;
        last = seq;
        seq = s->next[seq];
    } while (seq != last);
}

/* Lists the sequences of the grid, until the listing is full. */
static struct cov_listing list_contigs(const struct cov_select *s)
{
    struct cov_listing contigs = {0};
    for (size_t i = 0; i < cov_grid_n_seqs(s->grid) && *cov_listing_more(&contigs) == '\0'; i++)
        cov_listing_add(&contigs, cov_grid_name(s->grid, i));
    return contigs;
}

int cov_select_region(struct cov_select *s, const char *text, struct cov_err *e)
{
    size_t k;
    bool any = false;
    struct cov_range r;
    s->asked = true;
    if (cov_names_find(s->names, text, strlen(text), &k))
        return add(s, k, 0, INT64_MAX, &any, e);
    int rc = cov_range_parse(text, &r, e);
    if (rc)
        return rc;
    if (r.n_name == 0 || !cov_names_find(s->names, r.name, r.n_name, &k)) {
        struct cov_listing contigs = list_contigs(s);
        return cov_range_fail_unknown(&r, NULL, &contigs, e);
    }
    rc = add(s, k, r.beg, r.end, &any, e);
    if (!rc && !any)
        rc = cov_range_fail_beyond(&r, cov_grid_seq_length(s->grid, s->seqs[k]), NULL, e);
    return rc;
}

int cov_select_regions(struct cov_select *s, const char *const *texts, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n;) {
        char *text = cov_region_text(texts, n, &i, s->names, e);
        rc = text ? cov_select_region(s, text, e) : COV_ENOMEM;
        free(text);
    }
    return rc;
}

/* ---- files ---- */

enum list { LIST_BED, LIST_NAMES, LIST_EXCLUDED };

static bool word_is(const char *word, size_t n, const char *text)
{
    return n == strlen(text) && memcmp(word, text, n) == 0;
}

/* What a line of a file requests. */
struct request {
    const char *name; /* NULL: nothing */
    size_t n_name;
    int64_t beg, end;
};

/* Parses line `number`, text[0..n), of a BED file. */
static int parse_bed(const char *path, size_t number, const char *text, size_t n, struct request *r,
                     struct cov_err *e)
{
    const char *beg = text, *end = text + n, *word;
    size_t n_word;
    r->name = cov_line_word(&text, end, &r->n_name);
    word = r->name ? cov_line_word(&text, end, &n_word) : NULL;
    if (!r->name || (word && (word_is(r->name, r->n_name, "track") ||
                              word_is(r->name, r->n_name, "browser")))) {
        r->name = NULL;
        return COV_OK;
    }
    bool good = word && cov_text_position(word, n_word, &r->beg);
    word = good ? cov_line_word(&text, end, &n_word) : NULL;
    if (!word || !cov_text_position(word, n_word, &r->end))
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected contig, start and end%s", path, number,
                        cov_line_bed_hint(beg, end));
    if (r->end < r->beg)
        return cov_fail(e, COV_EINPUT, "%s:%zu: region ends before it starts", path, number);
    return COV_OK;
}

/* A small compressed file may have millions of names. Only the first ones are counted, and
 * of each only the first bytes are kept. */
enum { MOST_UNKNOWN = 50000, NAME_BYTES = 200 };

static int note_unknown(struct cov_names *unknown, const char *name, size_t n, struct cov_err *e)
{
    size_t k;
    bool is_new;
    if (cov_names_count(unknown) == MOST_UNKNOWN)
        return COV_OK;
    return cov_names_add(unknown, name, n < NAME_BYTES ? n : NAME_BYTES, &k, &is_new, e);
}

/* `contigs`: those to list; may be empty. */
static void warn_unknown(const char *option, const char *path, const struct cov_names *unknown,
                         const struct cov_listing *contigs)
{
    size_t n = cov_names_count(unknown);
    if (n > 0)
        cov_warn("%s %s: %s%zu name%s no contig%s%s%s%s%s", option, path,
                 n == MOST_UNKNOWN ? "at least " : "", n, n == 1 ? " matches" : "s match",
                 n == 1 ? ": " : ", the first is ", cov_names_get(unknown, 0, NULL),
                 contigs->n ? "; the contigs are: " : "", contigs->text, cov_listing_more(contigs));
}

/* Lines of a file that are not quite as expected. */
struct faults {
    size_t n_more;             /* of lists of names: with more than a name */
    size_t n_past, first_past; /* regions past the end of their contig; the line of the first */
};

static void warn_faults(const char *option, const char *path, const struct faults *f)
{
    if (f->n_past > 0)
        cov_warn("%s %s:%zu: the region extends past the end of its contig (%zu such line%s); "
                 "check that it is for this genome",
                 option, path, f->first_past, f->n_past, cov_text_s((int64_t)f->n_past));
    if (f->n_more > 0)
        cov_warn("%s %s: only the first word of a line is a name; %zu line%s ha%s more", option,
                 path, f->n_more, cov_text_s((int64_t)f->n_more), f->n_more == 1 ? "s" : "ve");
}

/* Reads the list that `option` names. */
static int read_file(struct cov_select *s, const char *option, const char *path, enum list list,
                     struct cov_err *e)
{
    struct cov_lines *lines = NULL;
    struct cov_names *unknown = NULL;
    const char *text;
    size_t n, number, k, unused;
    struct faults faults = {0};
    bool any;
    s->asked = s->asked || list != LIST_EXCLUDED;
    int rc = cov_names_new(&unknown, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc && (rc = cov_lines_next(lines, &text, &n, &number, e)) > 0) {
        struct request r = {NULL, 0, 0, INT64_MAX};
        const char *p = text;
        rc = COV_OK;
        if (list == LIST_BED)
            rc = parse_bed(path, number, text, n, &r, e);
        else if ((r.name = cov_line_word(&p, text + n, &r.n_name)))
            faults.n_more += cov_line_word(&p, text + n, &unused) != NULL;
        if (rc || !r.name)
            continue;
        if (!cov_names_find(s->names, r.name, r.n_name, &k))
            rc = note_unknown(unknown, r.name, r.n_name, e);
        else if (list == LIST_EXCLUDED)
            exclude(s, k);
        else {
            if (list == LIST_BED && r.end > cov_grid_seq_length(s->grid, s->seqs[k]) &&
                faults.n_past++ == 0)
                faults.first_past = number;
            rc = add(s, k, r.beg, r.end, &any, e);
        }
    }
    if (!rc) {
        struct cov_listing contigs = list == LIST_BED ? list_contigs(s) : (struct cov_listing){0};
        warn_faults(option, path, &faults);
        warn_unknown(option, path, unknown, &contigs);
    }
    cov_lines_close(lines);
    cov_names_free(unknown);
    return rc;
}

int cov_select_read_bed(struct cov_select *s, const char *path, struct cov_err *e)
{
    return read_file(s, "--regions-file", path, LIST_BED, e);
}

int cov_select_read_names(struct cov_select *s, const char *option, const char *path,
                          struct cov_err *e)
{
    return read_file(s, option, path, LIST_NAMES, e);
}

int cov_select_read_excluded(struct cov_select *s, const char *path, struct cov_err *e)
{
    return read_file(s, "--exclude-names", path, LIST_EXCLUDED, e);
}

/* ---- rows ---- */

/* Returns the index of the first interval that ends after base `at` of the sequence or is in a
 * later sequence. */
static size_t first_after(const struct cov_select *s, size_t seq, int64_t at)
{
    size_t lo = 0, hi = s->regions.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct cov_region *x = &s->regions.items[mid];
        if (x->contig < seq || (x->contig == seq && x->end <= at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end)
{
    *beg = from;
    *end = to;
    if (!s->asked || from >= to)
        return from < to;
    size_t i = first_after(s, seq, from);
    if (i == s->regions.n || s->regions.items[i].contig != seq || s->regions.items[i].beg >= to)
        return false;
    if (s->regions.items[i].beg > from)
        *beg = s->regions.items[i].beg;
    if (s->regions.items[i].end < to)
        *end = s->regions.items[i].end;
    return true;
}

void cov_select_rows(struct cov_select *s, int64_t min_length, bool *wanted)
{
    const struct cov_grid *g = s->grid;
    cov_region_list_merge(&s->regions);
    for (size_t p = 0; p < cov_grid_n_pairs(g); p++) {
        struct cov_pair pair = cov_grid_pair(g, p);
        int64_t beg, end;
        bool yes = cov_select_stretch(s, pair.seq, pair.beg, pair.end, &beg, &end) &&
                   !s->excluded[pair.seq] && cov_grid_seq_length(g, pair.seq) >= min_length;
        for (int k = COV_PLUS; k <= COV_MINUS; k++)
            if (pair.rows[k] != COV_NO_ROW)
                wanted[pair.rows[k]] = yes;
    }
}
