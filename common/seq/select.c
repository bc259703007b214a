/* select.c - see select.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/select.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "common/base/listing.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/seq/names.h"
#include "common/seq/range.h"

struct interval {
    size_t seq;
    int64_t beg, end;
};

struct cov_select {
    const struct cov_grid *grid;
    struct cov_names *names; /* of the sequences, each once */
    size_t *seqs;            /* the first sequence of each name */
    size_t *next;            /* the next sequence of the same name; the same at the last one */
    bool *excluded;          /* sequences */
    bool asked;
    struct interval *intervals;
    size_t n, cap;
};

void cov_select_free(struct cov_select *s)
{
    if (!s)
        return;
    cov_names_free(s->names);
    free(s->seqs);
    free(s->next);
    free(s->excluded);
    free(s->intervals);
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

/* Asks for [beg, end) of all sequences of name number k, cut to their lengths. */
static int add(struct cov_select *s, size_t k, int64_t beg, int64_t end, struct cov_err *e)
{
    size_t seq = s->seqs[k], last;
    do {
        int64_t length = cov_grid_seq_length(s->grid, seq);
        int64_t stop = end < length ? end : length;
        if (beg < stop) {
            int rc = COV_RESERVE(&s->intervals, &s->cap, s->n + 1, e);
            if (rc)
                return rc;
            s->intervals[s->n++] = (struct interval){seq, beg, stop};
        }
        last = seq;
        seq = s->next[seq];
    } while (seq != last);
    return COV_OK;
}

/* Leaves all sequences of name number k out. */
static void exclude(struct cov_select *s, size_t k)
{
    size_t seq = s->seqs[k], last;
    do {
        s->excluded[seq] = true;
        last = seq;
        seq = s->next[seq];
    } while (seq != last);
}

/* A name that is none of the sequences, `text` as a whole or what stands before its colon. */
static int refuse_name(const struct cov_select *s, const char *text, int n_name, bool is_range,
                       struct cov_err *e)
{
    struct cov_listing there = {{0}, 0, 0, 0};
    /* All are counted only as far as they can be shown. */
    for (size_t i = 0; i < cov_grid_n_seqs(s->grid) && *cov_listing_more(&there) == '\0'; i++)
        cov_listing_add(&there, cov_grid_name(s->grid, i));
    return cov_fail(e, COV_EUSAGE, "region %s: there is no sequence %.*s%s%s; there are: %s%s",
                    text, n_name, text, is_range ? "" : " or ", is_range ? "" : text, there.text,
                    cov_listing_more(&there));
}

int cov_select_region(struct cov_select *s, const char *text, struct cov_err *e)
{
    size_t k, n = strlen(text);
    s->asked = true;
    if (cov_names_find(s->names, text, n, &k))
        return add(s, k, 0, INT64_MAX, e);
    struct cov_range r;
    int rc = cov_range_parse(text, &r, e);
    if (rc)
        return rc;
    const char *colon = strrchr(text, ':');
    if (!colon)
        return refuse_name(s, text, (int)(n < 200 ? n : 200), true, e);
    bool is_range = r.n_name > 0;
    int n_name = (int)(colon - text < 200 ? colon - text : 200);
    if (!cov_names_find(s->names, text, (size_t)(colon - text), &k))
        return refuse_name(s, text, n_name, is_range, e);
    if (!is_range)
        return cov_fail(e, COV_EUSAGE, "region %s: NAME or NAME:FIRST-LAST is wanted", text);
    size_t n_before = s->n;
    rc = add(s, k, r.beg, r.end, e);
    if (!rc && s->n == n_before)
        rc = cov_fail(e, COV_EUSAGE, "region %s: %.*s has only %lld bases", text, n_name, text,
                      (long long)cov_grid_seq_length(s->grid, s->seqs[k]));
    return rc;
}

/* Whether a part of a list goes on with a number that the part before it began: "000", "000-2". */
static bool goes_on(const struct cov_select *s, const char *before, const char *text)
{
    size_t k;
    return strchr(before, ':') && strspn(text, "0123456789") == 3 &&
           (text[3] == '\0' || text[3] == '-') && !cov_names_find(s->names, text, strlen(text), &k);
}

int cov_select_regions(struct cov_select *s, const char *const *texts, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        char *text = cov_strdup(texts[i], e);
        while (text && i + 1 < n && goes_on(s, text, texts[i + 1])) {
            char *longer = cov_strfmt(e, "%s,%s", text, texts[++i]);
            free(text);
            text = longer;
        }
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

/* A line of a list of names, or of a BED file. *name stays NULL when it says nothing. */
static int read_line(const char *path, size_t number, const char *text, size_t n, bool is_bed,
                     const char **name, size_t *n_name, struct interval *region, struct cov_err *e)
{
    const char *end = text + n, *word;
    size_t n_word;
    *name = cov_line_word(&text, end, n_name);
    if (!*name || !is_bed)
        return COV_OK;
    word = cov_line_word(&text, end, &n_word);
    if (word && (word_is(*name, *n_name, "track") || word_is(*name, *n_name, "browser"))) {
        *name = NULL;
        return COV_OK;
    }
    bool good = word && cov_text_position(word, n_word, &region->beg);
    word = good ? cov_line_word(&text, end, &n_word) : NULL;
    if (!word || !cov_text_position(word, n_word, &region->end))
        return cov_fail(e, COV_EINPUT, "%s:%zu: contig, start and end are wanted", path, number);
    if (region->end < region->beg)
        return cov_fail(e, COV_EINPUT, "%s:%zu: the region ends before it starts", path, number);
    return COV_OK;
}

/* `option` is what the list was given with. */
static int read_file(struct cov_select *s, const char *option, const char *path, enum list list,
                     struct cov_err *e)
{
    struct cov_lines *lines = NULL;
    struct cov_names *unknown = NULL;
    s->asked = s->asked || list != LIST_EXCLUDED;
    int rc = cov_names_new(&unknown, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc) {
        const char *text, *name;
        size_t n, number, n_name, k;
        struct interval region = {0, 0, INT64_MAX};
        bool is_new;
        rc = cov_lines_next(lines, &text, &n, &number, e);
        if (rc <= 0)
            break;
        rc = read_line(path, number, text, n, list == LIST_BED, &name, &n_name, &region, e);
        if (rc || !name)
            continue;
        bool known = cov_names_find(s->names, name, n_name, &k);
        if (known && list == LIST_EXCLUDED)
            exclude(s, k);
        else if (known)
            rc = add(s, k, region.beg, region.end, e);
        else
            rc = cov_names_add(unknown, name, n_name, &k, &is_new, e);
    }
    size_t n_unknown = rc ? 0 : cov_names_count(unknown);
    if (n_unknown == 1)
        cov_warn("%s %s: 1 name is that of no sequence: %s", option, path,
                 cov_names_get(unknown, 0, NULL));
    else if (n_unknown > 1)
        cov_warn("%s %s: %zu names are those of no sequence, the first is %s", option, path,
                 n_unknown, cov_names_get(unknown, 0, NULL));
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

static int by_place(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->beg > y->beg) - (x->beg < y->beg);
}

/* Sorts the intervals and joins those that touch. */
static void tidy(struct cov_select *s)
{
    size_t n = 0;
    if (s->n)
        qsort(s->intervals, s->n, sizeof *s->intervals, by_place);
    for (size_t i = 0; i < s->n; i++) {
        struct interval *last = n ? &s->intervals[n - 1] : NULL, *x = &s->intervals[i];
        if (!last || last->seq != x->seq || x->beg > last->end)
            s->intervals[n++] = *x;
        else if (x->end > last->end)
            last->end = x->end;
    }
    s->n = n;
}

/* Whether [beg, end) overlaps one of n intervals, ascending and disjoint. */
static bool overlaps(const struct interval *x, size_t n, int64_t beg, int64_t end)
{
    size_t lo = 0, hi = n; /* the first one that ends behind beg */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x[mid].end <= beg)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && x[lo].beg < end;
}

bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end)
{
    size_t lo = 0, hi = s->n; /* the first one that ends behind `from` */
    *beg = from;
    *end = to;
    if (!s->asked || from >= to)
        return from < to;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct interval *x = &s->intervals[mid];
        if (x->seq < seq || (x->seq == seq && x->end <= from))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == s->n || s->intervals[lo].seq != seq || s->intervals[lo].beg >= to)
        return false;
    if (s->intervals[lo].beg > from)
        *beg = s->intervals[lo].beg;
    if (s->intervals[lo].end < to)
        *end = s->intervals[lo].end;
    return true;
}

void cov_select_rows(struct cov_select *s, int64_t min_length, bool *wanted)
{
    const struct cov_grid *g = s->grid;
    size_t at = 0;
    tidy(s);
    for (size_t seq = 0; seq < cov_grid_n_seqs(g); seq++) {
        size_t first = at, p, p_end;
        while (at < s->n && s->intervals[at].seq == seq)
            at++;
        cov_grid_seq_pairs(g, seq, &p, &p_end);
        for (; p < p_end; p++) {
            struct cov_pair pair = cov_grid_pair(g, p);
            bool yes = !s->asked || overlaps(s->intervals + first, at - first, pair.beg, pair.end);
            for (int k = COV_PLUS; k <= COV_MINUS; k++)
                if (pair.rows[k] != COV_NO_ROW)
                    wanted[pair.rows[k]] =
                        yes && !s->excluded[seq] && cov_grid_seq_length(g, seq) >= min_length;
        }
    }
}
