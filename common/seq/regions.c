/* regions.c - see regions.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/regions.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/textfile.h"

/* ---- regions as text ---- */

/* The most bytes of a text that messages show. */
enum { SHOWN = 200 };

/* Parses the n bytes at `text` as a position: a size, possibly with commas between its digits. */
static bool parse_position(const char *text, size_t n, int64_t *x)
{
    const int64_t most = INT64_C(999999999999999999);
    char size[40];
    size_t k = 0;
    for (size_t i = 0; i < n && k + 1 < sizeof size; i++)
        if (text[i] != ',')
            size[k++] = text[i];
        else if (i + 1 == n || !isdigit((unsigned char)text[i + 1]))
            return false;
    size[k] = '\0';
    return n > 0 && k + 1 < sizeof size && isdigit((unsigned char)*text) &&
           cov_parse_size(size, "", 0, most, x, NULL) == COV_OK;
}

/* Parses "FIRST-LAST", "FIRST-", "FIRST" or "-LAST". */
static bool parse_positions(const char *text, int64_t *first, int64_t *last)
{
    size_t n = strcspn(text, "-");
    const char *end = text[n] ? text + n + 1 : "";
    *first = 1;
    *last = INT64_MAX;
    if (n == 0 && !*end)
        return false;
    return (n == 0 || parse_position(text, n, first)) &&
           (!*end || parse_position(end, strlen(end), last));
}

int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e)
{
    *r = (struct cov_range){.text = text, .name = text, .end = INT64_MAX};
    const char *brace = *text == '{' ? strchr(text, '}') : NULL;
    const char *colon = brace ? brace + 1 : strrchr(text, ':');
    int64_t first = 1, last = INT64_MAX;
    if (*text == '\0')
        return cov_fail(e, COV_EUSAGE, "empty region: expected " COV_RANGE_FORMS);
    if (brace)
        r->name++;
    size_t n = brace ? (size_t)(brace - r->name) : colon ? (size_t)(colon - text) : strlen(text);
    if (colon && *colon && (*colon != ':' || !parse_positions(colon + 1, &first, &last)))
        return COV_OK; /* not a range: the text can only be a name */
    if (first < 1 || last < first)
        return cov_fail(e, COV_EUSAGE, "region %.*s: %s", SHOWN, text,
                        first < 1 ? "positions start at 1" : "ends before it begins");
    r->n_name = n;
    r->beg = first - 1;
    r->end = last;
    return COV_OK;
}

bool cov_range_means(const struct cov_range *r, const char *name, int64_t *beg, int64_t *end)
{
    if (strcmp(r->text, name) == 0) {
        *beg = 0;
        *end = INT64_MAX;
        return true;
    }
    if (r->n_name == 0 || strncmp(r->name, name, r->n_name) != 0 || name[r->n_name] != '\0')
        return false;
    *beg = r->beg;
    *end = r->end;
    return true;
}

int cov_range_fail_unknown(const struct cov_range *r, const char *where,
                           const struct cov_listing *contigs, struct cov_err *e)
{
    bool several = strchr(r->text, ' ') != NULL; /* names have no blanks */
    bool listed = contigs && contigs->n > 0 && !several;
    int n = r->n_name > 0 && r->n_name < SHOWN ? (int)r->n_name : SHOWN;
    return cov_fail(e, COV_EINPUT, "%s%sregion %.*s: unknown contig %.*s%s%s%s%s%s",
                    where ? where : "", where ? ": " : "", SHOWN, r->text, n, r->name,
                    r->n_name ? "" : " (expected " COV_RANGE_FORMS ")",
                    several ? "; separate regions by commas" : "",
                    listed ? "; the contigs are: " : "", listed ? contigs->text : "",
                    listed ? cov_listing_more(contigs) : "");
}

int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT,
                    "%s%sregion %.*s: begins past the end of the contig, which has %" PRId64
                    " bases",
                    where ? where : "", where ? ": " : "", SHOWN, r->text, length);
}

/* Returns true if parts[0] continues `before`, which was split at a comma: a number, as "000" or
 * "000-2", or a name in braces that ends in one of the n parts. */
static bool continues(const struct cov_names *names, const char *before, const char *const *parts,
                      size_t n)
{
    const char *text = parts[0];
    size_t k;
    for (size_t i = 0; before[0] == '{' && !strchr(before, '}') && i < n; i++)
        if (strchr(parts[i], '}'))
            return true;
    return strchr(before, ':') && strspn(text, "0123456789") == 3 &&
           (text[3] == '\0' || strchr("-.kKmMgG", text[3])) &&
           !(names && cov_names_find(names, text, strlen(text), &k));
}

char *cov_region_text(const char *const *parts, size_t n, size_t *i, const struct cov_names *names,
                      struct cov_err *e)
{
    char *text = cov_strdup(parts[(*i)++], e);
    while (text && *i < n && continues(names, text, parts + *i, n - *i)) {
        char *joined = cov_strfmt(e, "%s,%s", text, parts[(*i)++]);
        free(text);
        text = joined;
    }
    return text;
}

/* ---- lists of regions ---- */

void cov_region_list_fini(struct cov_region_list *l)
{
    free(l->items);
    *l = (struct cov_region_list){NULL, 0, 0};
}

static int by_place(const void *a, const void *b)
{
    const struct cov_region *x = a, *y = b;
    if (x->contig != y->contig)
        return x->contig < y->contig ? -1 : 1;
    return (x->beg > y->beg) - (x->beg < y->beg);
}

void cov_region_list_merge(struct cov_region_list *l)
{
    size_t n = 0;
    if (l->n > 0)
        qsort(l->items, l->n, sizeof *l->items, by_place);
    for (size_t i = 0; i < l->n; i++) {
        struct cov_region *last = n ? &l->items[n - 1] : NULL, *x = &l->items[i];
        if (!last || last->contig != x->contig || x->beg > last->end)
            l->items[n++] = *x;
        else if (x->end > last->end)
            last->end = x->end;
    }
    l->n = n;
}

int cov_region_list_add(struct cov_region_list *l, struct cov_region region, struct cov_err *e)
{
    enum { FEW = 4096 };
    int rc = COV_OK;
    if (l->n == l->cap) {
        if (l->n >= FEW)
            cov_region_list_merge(l);
        if (l->n >= l->cap / 2) /* merging did not free much */
            rc = COV_RESERVE(&l->items, &l->cap, l->cap + 1, e);
    }
    if (!rc)
        l->items[l->n++] = region;
    return rc;
}

int cov_region_list_subtract(struct cov_region_list *out, struct cov_region_span from,
                             struct cov_region_span drop, struct cov_err *e)
{
    int rc = COV_OK;
    out->n = 0;
    for (size_t i = 0, k = 0; !rc && i < from.n; i++) {
        struct cov_region part = from.items[i];
        while (k < drop.n && drop.items[k].end <= part.beg)
            k++;
        for (; !rc && k < drop.n && drop.items[k].beg < part.end; k++) {
            const struct cov_region before = {part.contig, part.beg, drop.items[k].beg};
            if (before.end > before.beg)
                rc = cov_region_list_add(out, before, e);
            part.beg = drop.items[k].end;
            if (part.beg >= part.end)
                break; /* it may reach into the next region */
        }
        if (!rc && part.beg < part.end)
            rc = cov_region_list_add(out, part, e);
    }
    return rc;
}

size_t cov_regions_after(const struct cov_region *items, size_t n, size_t contig, int64_t at)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (items[mid].contig < contig || (items[mid].contig == contig && items[mid].end <= at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool cov_region_list_overlaps(const struct cov_region_list *l, int64_t beg, int64_t end)
{
    const size_t i = cov_regions_after(l->items, l->n, l->n ? l->items->contig : 0, beg);
    return i < l->n && l->items[i].beg < end;
}

int64_t cov_region_list_bases(const struct cov_region_list *l)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->items[i].end - l->items[i].beg;
    return n;
}

/* ---- rows of a file ---- */

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
    struct cov_bed_line line;
    cov_bed_line_split(text, text + n, &line);
    if (line.n == 0 || (line.n > 1 && line.is_head))
        return COV_OK;
    if (!line.has_place)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected contig, start and end%s", path, number,
                        cov_line_bed_hint(text, text + n));
    *r = (struct request){line.words[0].text, line.words[0].n, line.beg, line.end};
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

int cov_select_read(struct cov_select *s, enum cov_select_list list, const char *option,
                    const char *path, struct cov_err *e)
{
    struct cov_lines *lines = NULL;
    struct cov_names *unknown = NULL;
    const char *text;
    size_t n, number, k, unused;
    struct faults faults = {0};
    bool any;
    s->asked = s->asked || list != COV_SELECT_EXCLUDED;
    int rc = cov_names_new(&unknown, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc && (rc = cov_lines_next(lines, &text, &n, &number, e)) > 0) {
        struct request r = {NULL, 0, 0, INT64_MAX};
        const char *p = text;
        rc = COV_OK;
        if (list == COV_SELECT_BED)
            rc = parse_bed(path, number, text, n, &r, e);
        else if ((r.name = cov_line_word(&p, text + n, &r.n_name)))
            faults.n_more += cov_line_word(&p, text + n, &unused) != NULL;
        if (rc || !r.name)
            continue;
        if (!cov_names_find(s->names, r.name, r.n_name, &k))
            rc = note_unknown(unknown, r.name, r.n_name, e);
        else if (list == COV_SELECT_EXCLUDED)
            exclude(s, k);
        else {
            if (list == COV_SELECT_BED && r.end > cov_grid_seq_length(s->grid, s->seqs[k]) &&
                faults.n_past++ == 0)
                faults.first_past = number;
            rc = add(s, k, r.beg, r.end, &any, e);
        }
    }
    if (!rc) {
        struct cov_listing contigs =
            list == COV_SELECT_BED ? list_contigs(s) : (struct cov_listing){0};
        warn_faults(option, path, &faults);
        warn_unknown(option, path, unknown, &contigs);
    }
    cov_lines_close(lines);
    cov_names_free(unknown);
    return rc;
}

bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end)
{
    *beg = from;
    *end = to;
    if (!s->asked || from >= to)
        return from < to;
    size_t i = cov_regions_after(s->regions.items, s->regions.n, seq, from);
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

/* ---- features that do not fit the sequences of another file ---- */

int cov_misplaced_check(const struct cov_misplaced *m, bool warns, struct cov_err *e)
{
    const char *more = cov_listing_more(&m->sequences);
    if (m->n > 0 && m->is_all)
        return cov_fail(
            e, COV_EINPUT, "%s: none of the sequences with %ss (%s%s) is in %s (%s%s)%s", m->path,
            m->what, m->sequences.text, more, m->input, m->there.n ? m->there.text : "no sequences",
            cov_listing_more(&m->there), m->hint);
    if (m->n > 0 && warns)
        cov_warn("%s: %zu %s%s on sequences that are not in %s: %s%s", m->path, m->n, m->what,
                 cov_text_s((int64_t)m->n), m->input, m->sequences.text, more);
    return COV_OK;
}

int cov_overhang_fail(const struct cov_overhang *o, struct cov_err *e)
{
    char line[32] = "";
    if (o->line > 0)
        (void)snprintf(line, sizeof line, ":%zu", o->line);
    return cov_fail(e, COV_EINPUT,
                    "%s%s: the %s ends at %" PRId64 ", but %s has only %" PRId64 " bases in %s",
                    o->path, line, o->what, o->end, o->sequence, o->length, o->input);
}
