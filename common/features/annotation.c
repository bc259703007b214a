/* annotation.c - see annotation.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/annotation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/hash.h"
#include "common/file/peek_kind.h"
#include "common/file/textfile.h"
#include "common/seq/regions.h"

enum { GFF_COLUMNS = 9, MOST_TYPES = 100, LONGEST_NAME = 255, LONGEST_SCORE = 31 };

/* A compressed feature takes 3 bytes or more; one line over and over takes less than 0.01. A file may
 * have one feature per byte, and this many in any case. */
enum { FEW_FEATURES = 100000 };

enum format { UNKNOWN, GFF, BED };

/* What is known of an ID; its number plus FIRST_FAMILY is its family. */
struct kin {
    uint32_t parent; /* a family */
    bool has_line, is_first_type;
};

enum { FIRST_FAMILY = COV_FAMILY_OTHER + 1 };

struct annotation_reader {
    struct cov_annotation *a;
    const char *type;
    enum format format;
    size_t line, most;       /* most: features, and IDs, that the file may have */
    struct cov_names *types; /* other types of features */
    struct cov_names *ids;   /* NULL if families are not wanted */
    struct kin *kin;         /* of each ID */
    size_t cap_kin;
    int strand_column; /* of a BED file whose strand is not in column 6; or 0 */
    /* Circular sequences of a GFF3: number in the annotation's contigs, and length. */
    struct circle {
        uint32_t contig;
        int64_t length;
    } * circles;
    size_t n_circles, cap_circles;
};

/* A line as it was read; words without text are missing. */
struct annotation_record {
    struct cov_word contig, name, score, parents; /* parents: of a part */
    bool has_list;                                /* of parents, separated by commas */
    struct cov_feature feature;
};

static bool begins_with(const char *p, const char *end, const char *text)
{
    return (size_t)(end - p) >= strlen(text) && memcmp(p, text, strlen(text)) == 0;
}

/* ---------------------------------------------------------------- columns */

/* Splits a line at tabs into at most `max` words, the last of which takes the rest. Returns their
 * number. */
static size_t split_tabs(const char *p, const char *end, struct cov_word *words, size_t max)
{
    size_t n = 0;
    while (n < max) {
        const char *tab = n + 1 < max ? memchr(p, '\t', (size_t)(end - p)) : NULL;
        words[n++] = (struct cov_word){p, (size_t)((tab ? tab : end) - p)};
        if (!tab)
            break;
        p = tab + 1;
    }
    return n;
}

static bool is_strand(struct cov_word w)
{
    return w.n == 1 && strchr("+-.?", *w.text);
}

static bool is_position(struct cov_word w)
{
    int64_t unused;
    return cov_text_position(w.text, w.n, &unused);
}

static enum format format_of(const char *p, const char *end, const struct cov_bed_line *bed)
{
    struct cov_word w[GFF_COLUMNS];
    if (split_tabs(p, end, w, GFF_COLUMNS) >= GFF_COLUMNS - 1 && is_position(w[3]) &&
        is_position(w[4]) && is_strand(w[6]))
        return GFF;
    return bed->has_place ? BED : UNKNOWN;
}

/* ---------------------------------------------------------------- attributes */

/* Finds the value of `key` in the last column of a GFF3 (key=value;...) or a GTF (key "value";
 * ...). */
static struct cov_word find_attribute(struct cov_word attributes, const char *key, bool is_gtf)
{
    const char *p = attributes.text, *end = p + attributes.n;
    while (p < end) {
        const char *stop = memchr(p, ';', (size_t)(end - p));
        stop = stop ? stop : end;
        while (p < stop && cov_text_is_blank(*p))
            p++;
        if (begins_with(p, stop, key) && p + strlen(key) < stop &&
            p[strlen(key)] == (is_gtf ? ' ' : '=')) {
            p += strlen(key) + 1;
            while (p < stop && (*p == '"' || cov_text_is_blank(*p)))
                p++;
            while (p < stop && (stop[-1] == '"' || cov_text_is_blank(stop[-1])))
                stop--;
            return (struct cov_word){p, (size_t)(stop - p)};
        }
        p = stop < end ? stop + 1 : end;
    }
    return (struct cov_word){NULL, 0};
}

/* A GTF separates key and value by a blank, a GFF3 by '='. */
static bool is_gtf(struct cov_word attributes)
{
    const char *p = attributes.text, *end = p + attributes.n;
    while (p < end && *p != '=' && *p != '"')
        p++;
    return p == end || *p == '"';
}

/* The last column of genes and transcripts of AUGUSTUS and BRAKER is the ID alone. */
static struct cov_word find_bare_id(struct cov_word attributes)
{
    const char *p = attributes.text, *end = p + attributes.n;
    while (end > p && (end[-1] == ';' || cov_text_is_blank(end[-1])))
        end--;
    while (p < end && cov_text_is_blank(*p))
        p++;
    const size_t n = (size_t)(end - p);
    for (size_t i = 0; i < n; i++)
        if (cov_text_is_blank(p[i]) || strchr(";=\"", p[i]))
            return (struct cov_word){NULL, 0};
    return n == 1 && *p == '.' ? (struct cov_word){NULL, 0} : (struct cov_word){p, n};
}

static struct cov_word find_name(struct cov_word attributes, struct cov_word type)
{
    static const char *const keys[2][2] = {{"ID", "Name"}, {"transcript_id", "gene_id"}};
    const bool gtf = is_gtf(attributes);
    const bool is_gene = gtf && cov_word_is(type, "gene");
    struct cov_word name = {NULL, 0};
    for (size_t i = is_gene; i < 2 && name.n == 0; i++)
        name = find_attribute(attributes, keys[gtf][i], gtf);
    return name.n == 0 && gtf ? find_bare_id(attributes) : name;
}

/* What a picture calls a feature: a name if it has one, else its ID without Ensembl's prefix. */
static struct cov_word find_label(struct cov_word attributes, struct cov_word type)
{
    static const char *const keys[] = {"Name", "gene_name"}, *const prefixes[] = {"gene:",
                                                                                  "transcript:"};
    const bool gtf = is_gtf(attributes);
    struct cov_word name = {NULL, 0};
    for (size_t i = 0; i < COV_COUNT(keys) && name.n == 0 && (!gtf || cov_word_is(type, "gene"));
         i++)
        name = find_attribute(attributes, keys[i], gtf);
    if (name.n > 0)
        return name;
    name = find_name(attributes, type);
    for (size_t i = 0; i < COV_COUNT(prefixes); i++) {
        const size_t n = strlen(prefixes[i]);
        if (name.n > n && memcmp(name.text, prefixes[i], n) == 0)
            return (struct cov_word){name.text + n, name.n - n};
    }
    return name;
}

/* ---------------------------------------------------------------- families */

static int find_family(struct annotation_reader *r, struct cov_word id, uint32_t *family,
                       struct cov_err *e)
{
    size_t i = 0;
    bool is_new = false;
    *family = COV_FAMILY_UNKNOWN;
    if (id.n == 0)
        return COV_OK;
    /* Long IDs would take much memory. Text has no zero bytes, so that no other ID is the same. */
    uint64_t hash[] = {0, id.n, 0};
    if (id.n > LONGEST_NAME) {
        hash[2] = cov_fingerprint(0, id.text, id.n);
        id = (struct cov_word){(const char *)hash, sizeof hash};
    }
    int rc = cov_names_add(r->ids, id.text, id.n, &i, &is_new, e);
    if (!rc && (i > UINT32_MAX - FIRST_FAMILY || i >= r->most))
        rc = cov_fail(e, COV_EINPUT, "%s:%zu: too many IDs", r->a->path, r->line);
    if (!rc && is_new)
        rc = COV_RESERVE(&r->kin, &r->cap_kin, i + 1, e);
    if (rc)
        return rc;
    if (is_new)
        r->kin[i] = (struct kin){.parent = COV_FAMILY_UNKNOWN};
    *family = (uint32_t)i + FIRST_FAMILY;
    return COV_OK;
}

/* Notes the ID of a line that is not a part, and the first of its parents. */
static int note_kin(struct annotation_reader *r, struct cov_word attributes, struct cov_word type,
                    bool is_first_type, uint32_t *family, struct cov_err *e)
{
    const bool gtf = is_gtf(attributes);
    const struct cov_word id =
        gtf ? find_name(attributes, type) : find_attribute(attributes, "ID", false);
    struct cov_word parent =
        gtf ? (struct cov_word){NULL, 0} : find_attribute(attributes, "Parent", false);
    uint32_t up;
    const char *comma = parent.n > 0 ? memchr(parent.text, ',', parent.n) : NULL;
    parent.n = comma ? (size_t)(comma - parent.text) : parent.n;
    int rc = find_family(r, id, family, e);
    if (rc || *family == COV_FAMILY_UNKNOWN || (rc = find_family(r, parent, &up, e)))
        return rc;
    struct kin *k = &r->kin[*family - FIRST_FAMILY];
    k->has_line = true;
    k->is_first_type = k->is_first_type || is_first_type;
    k->parent = up != COV_FAMILY_UNKNOWN ? up : k->parent;
    return COV_OK;
}

static void find_parents(const struct annotation_reader *r, struct cov_word attributes,
                         struct annotation_record *out)
{
    const struct cov_word first = {r->type, strcspn(r->type, ",")};
    out->has_list = !is_gtf(attributes);
    out->parents =
        out->has_list ? find_attribute(attributes, "Parent", false) : find_name(attributes, first);
}

/* Returns the family of the first type that a parent of a part belongs to. */
static uint32_t find_root(const struct annotation_reader *r, uint32_t parent)
{
    enum { MOST_STEPS = 10 }; /* a file may have circles */
    uint32_t family = parent;
    for (int i = 0; i < MOST_STEPS && family != COV_FAMILY_UNKNOWN; i++) {
        const struct kin *k = &r->kin[family - FIRST_FAMILY];
        if (k->is_first_type)
            return family;
        family = k->parent;
    }
    return parent == COV_FAMILY_UNKNOWN || !r->kin[parent - FIRST_FAMILY].has_line
               ? COV_FAMILY_UNKNOWN
               : COV_FAMILY_OTHER;
}

static void find_roots(const struct annotation_reader *r)
{
    for (size_t i = 0; i < r->a->n; i++)
        if (r->a->items[i].type > 0)
            r->a->items[i].family = find_root(r, r->a->items[i].family);
}

/* ---------------------------------------------------------------- lines */

/* Notes a type for the message that there are no features. */
static int note_type(struct annotation_reader *r, struct cov_word type, struct cov_err *e)
{
    size_t unused;
    bool is_new;
    type.n = type.n < LONGEST_NAME ? type.n : LONGEST_NAME;
    return cov_names_count(r->types) < MOST_TYPES
               ? cov_names_add(r->types, type.text, type.n, &unused, &is_new, e)
               : COV_OK;
}

/* Looks for a type in a list that is separated by commas. */
static bool find_type(const char *list, struct cov_word type, uint8_t *place)
{
    for (*place = 0; *place < COV_ANNOTATION_TYPES; (*place)++) {
        const size_t n = strcspn(list, ",");
        if (n == type.n && memcmp(list, type.text, n) == 0)
            return true;
        if (list[n] == '\0')
            break;
        list += n + 1;
    }
    return false;
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Replaces GFF3's escapes, such as %20, in text[0..n); returns its new length. */
static size_t unescape(char *text, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        const int high = i + 2 < n && text[i] == '%' ? hex_value(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        text[to++] = low >= 0 && high + low > 0 ? (char)(high << 4 | low) : text[i];
        i += low >= 0 && high + low > 0 ? 2 : 0;
    }
    return to;
}

/* Finds the number of a sequence. */
static int find_contig(const struct annotation_reader *r, struct cov_word w, uint32_t *number,
                       struct cov_err *e)
{
    const struct cov_annotation *a = r->a;
    char name[LONGEST_NAME];
    size_t i = 0;
    bool is_new;
    if (w.n > LONGEST_NAME)
        return cov_fail(e, COV_EINPUT, "%s:%zu: the name of the sequence is longer than %d bytes",
                        a->path, r->line, (int)LONGEST_NAME);
    memcpy(name, w.text, w.n);
    w.n = a->is_bed ? w.n : unescape(name, w.n);
    int rc = cov_names_add(a->contigs, name, w.n, &i, &is_new, e);
    if (!rc && i > UINT32_MAX)
        rc = cov_fail(e, COV_EINPUT, "%s: too many sequences", a->path);
    *number = (uint32_t)i;
    return rc;
}

/* Notes a line for a whole sequence that GFF3 declares to be circular. */
static int note_circle(struct annotation_reader *r, const struct cov_word *w, int64_t length,
                       struct cov_err *e)
{
    if (!cov_word_is(find_attribute(w[8], "Is_circular", false), "true"))
        return COV_OK;
    struct circle circle = {.length = length};
    int rc = find_contig(r, w[0], &circle.contig, e);
    if (!rc)
        rc = COV_RESERVE(&r->circles, &r->cap_circles, r->n_circles + 1, e);
    if (!rc)
        r->circles[r->n_circles++] = circle;
    return rc;
}

/* Fills *out; *kept is false for a feature of another type. */
static int parse_gff(struct annotation_reader *r, const char *p, const char *end,
                     struct annotation_record *out, bool *kept, struct cov_err *e)
{
    struct cov_word w[GFF_COLUMNS] = {{NULL, 0}};
    const size_t n = split_tabs(p, end, w, GFF_COLUMNS);
    *kept = false;
    if (n < GFF_COLUMNS - 1 || w[0].n == 0 || w[2].n == 0)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected the %d columns of GFF, separated by tabs",
                        r->a->path, r->line, (int)GFF_COLUMNS);
    struct cov_feature *f = &out->feature;
    if (!cov_text_position(w[3].text, w[3].n, &f->beg) || f->beg == 0 ||
        !cov_text_position(w[4].text, w[4].n, &f->end))
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: columns 4 and 5 are not a first and a last base, from 1",
                        r->a->path, r->line);
    f->beg--;
    if (!is_strand(w[6]))
        return cov_fail(e, COV_EINPUT, "%s:%zu: column 7 is not a strand: +, -, . or ?", r->a->path,
                        r->line);
    f->strand = *w[6].text == '?' ? '.' : *w[6].text;
    *kept = find_type(r->type, w[2], &f->type);
    int rc = f->beg == 0 && n == GFF_COLUMNS ? note_circle(r, w, f->end, e) : COV_OK;
    if (rc)
        return rc;
    const bool has_kin = r->ids && n == GFF_COLUMNS;
    if (has_kin && *kept && f->type > 0)
        find_parents(r, w[8], out);
    else if (has_kin)
        rc = note_kin(r, w[8], w[2], *kept, &f->family, e);
    if (rc || !*kept)
        return rc ? rc : note_type(r, w[2], e);
    out->contig = w[0];
    out->score = w[5];
    if (n == GFF_COLUMNS)
        out->name = r->ids ? find_label(w[8], w[2]) : find_name(w[8], w[2]);
    return COV_OK;
}

/* Returns the strand of a line of a BED file. Some files of four or five columns have it last. */
static char find_bed_strand(struct annotation_reader *r, struct cov_word *w, size_t n)
{
    static const size_t columns[] = {5, 3, 4};
    for (size_t i = 0; i < COV_COUNT(columns); i++) {
        struct cov_word *x = &w[columns[i]];
        if (columns[i] >= n || x->n != 1 || (*x->text != '+' && *x->text != '-'))
            continue;
        const char strand = *x->text;
        if (columns[i] != 5 && !r->strand_column)
            r->strand_column = (int)columns[i] + 1;
        if (columns[i] != 5)
            *x = (struct cov_word){NULL, 0};
        return strand;
    }
    return '.';
}

/* Fills *out from the words of a line, which is `text` for messages. */
static int parse_bed(struct annotation_reader *r, struct cov_bed_line *l, struct cov_word text,
                     struct annotation_record *out, struct cov_err *e)
{
    struct cov_word *w = l->words;
    if (!l->has_place)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected contig, start and end%s", r->a->path,
                        r->line, cov_line_bed_hint(text.text, text.text + text.n));
    if (l->n == COV_BED_COLUMNS && !is_strand(w[5]))
        return cov_fail(e, COV_EINPUT, "%s:%zu: column 6 is not a strand: +, - or .", r->a->path,
                        r->line);
    out->feature.beg = l->beg;
    out->feature.end = l->end;
    out->feature.strand = find_bed_strand(r, w, l->n);
    out->contig = w[0];
    out->name = w[3];
    out->score = w[4];
    return COV_OK;
}

/* Appends a word of at most `max` bytes, of a longer one the beginning, and a zero to the texts. */
static int keep_text(struct cov_annotation *a, struct cov_word w, size_t max, struct cov_err *e)
{
    w.n = w.n < max ? w.n : max;
    int rc = COV_RESERVE(&a->text, &a->cap_text, a->n_text + w.n + 1, e);
    if (rc)
        return rc;
    char *text = a->text + a->n_text;
    if (w.n > 0)
        memcpy(text, w.text, w.n);
    const size_t n = a->is_bed ? w.n : unescape(text, w.n);
    text[n] = '\0';
    cov_make_printable(text);
    a->n_text += n + 1;
    return COV_OK;
}

static int add_item(struct annotation_reader *r, const struct cov_feature *f, struct cov_err *e)
{
    struct cov_annotation *a = r->a;
    if (a->n >= r->most)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: over %zu features in a file of at most as many bytes", a->path,
                        r->line, r->most);
    int rc = COV_RESERVE(&a->items, &a->cap, a->n + 1, e);
    if (!rc)
        a->items[a->n++] = *f;
    return rc;
}

/* Adds a part once for each of its parents. */
static int add_part(struct annotation_reader *r, struct annotation_record *in, struct cov_err *e)
{
    struct cov_word rest = in->parents;
    const char *comma;
    int rc;
    do {
        comma = in->has_list && rest.n > 0 ? memchr(rest.text, ',', rest.n) : NULL;
        const size_t n = comma ? (size_t)(comma - rest.text) : rest.n;
        rc = find_family(r, (struct cov_word){rest.text, n}, &in->feature.family, e);
        if (!rc)
            rc = add_item(r, &in->feature, e);
        if (comma)
            rest = (struct cov_word){comma + 1, rest.n - n - 1};
    } while (!rc && comma);
    return rc;
}

static int add_record(struct annotation_reader *r, struct annotation_record *in, struct cov_err *e)
{
    struct cov_annotation *a = r->a;
    struct cov_feature *f = &in->feature;
    if (f->end <= f->beg)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: the feature ends at %" PRId64 ", but starts at %" PRId64, a->path,
                        r->line, f->end, f->beg + !a->is_bed);
    int rc = find_contig(r, in->contig, &f->contig, e);
    f->line = r->line < UINT32_MAX ? (uint32_t)r->line : UINT32_MAX;
    f->text = a->n_text;
    if (!rc)
        rc = keep_text(a, in->name, LONGEST_NAME, e);
    if (!rc)
        rc = keep_text(a, in->score.n ? in->score : (struct cov_word){".", 1}, LONGEST_SCORE, e);
    if (!rc)
        rc = f->type > 0 && r->ids ? add_part(r, in, e) : add_item(r, f, e);
    return rc;
}

/* Returns 1 for a line that ends the annotation. */
static int take_line(struct annotation_reader *r, const char *p, const char *end, struct cov_err *e)
{
    struct annotation_record record = {.feature = {0}};
    bool kept = true;
    if (begins_with(p, end, "##FASTA") || (r->format == GFF && p < end && *p == '>'))
        return 1;
    while (end > p && cov_text_is_blank(end[-1]))
        end--;
    struct cov_bed_line l;
    cov_bed_line_split(p, end, &l);
    if (l.n == 0 || l.is_head)
        return COV_OK;
    if (r->format == UNKNOWN) {
        r->format = format_of(p, end, &l);
        r->a->is_bed = r->format == BED;
    }
    if (r->format == UNKNOWN)
        return cov_fail(e, COV_EINPUT, "%s:%zu: %s%s", r->a->path, r->line,
                        r->type ? "neither GFF3, GTF nor BED" : "expected contig, start and end",
                        cov_line_bed_hint(p, end));
    if (r->format == GFF && !r->type)
        return cov_fail(e, COV_EINPUT, "%s:%zu: GFF3 or GTF instead of BED", r->a->path, r->line);
    int rc = r->format == GFF
                 ? parse_gff(r, p, end, &record, &kept, e)
                 : parse_bed(r, &l, (struct cov_word){p, (size_t)(end - p)}, &record, e);
    return rc || !kept ? rc : add_record(r, &record, e);
}

/* ---------------------------------------------------------------- the file */

static int by_place(const void *a, const void *b)
{
    const struct cov_feature *x = a, *y = b;
    if (x->contig != y->contig)
        return x->contig < y->contig ? -1 : 1;
    if (x->beg != y->beg)
        return x->beg < y->beg ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static int by_contig(const void *a, const void *b)
{
    const struct circle *x = a, *y = b;
    return (x->contig > y->contig) - (x->contig < y->contig);
}

/* Omits the features over the origin of circular sequences: they end past the length. */
static void drop_over_origin(const struct annotation_reader *r)
{
    struct cov_annotation *a = r->a;
    struct cov_listing dropped = {0};
    size_t n = 0;
    if (r->n_circles == 0)
        return;
    qsort(r->circles, r->n_circles, sizeof *r->circles, by_contig);
    for (size_t i = 0; i < a->n; i++) {
        const struct circle key = {.contig = a->items[i].contig};
        const struct circle *c =
            bsearch(&key, r->circles, r->n_circles, sizeof *r->circles, by_contig);
        if (c && a->items[i].beg < c->length && a->items[i].end > c->length)
            cov_listing_add(&dropped, cov_annotation_name(a, i));
        else
            a->items[n++] = a->items[i];
    }
    a->n = n;
    if (dropped.n > 0)
        cov_warn("%s: omits %zu feature%s over the origin of circular sequences: %s%s", a->path,
                 dropped.n, cov_text_s((int64_t)dropped.n), dropped.text,
                 cov_listing_more(&dropped));
}

static int fail_empty(const struct annotation_reader *r, struct cov_err *e)
{
    struct cov_listing types = {0};
    for (size_t i = 0; i < cov_names_count(r->types); i++)
        cov_listing_add(&types, cov_names_get(r->types, i, NULL));
    if (types.n == 0)
        return cov_fail(e, COV_EINPUT, "%s: no features", r->a->path);
    return cov_fail(e, COV_EINPUT, "%s: no features of type %s; it has: %s%s", r->a->path, r->type,
                    types.text, cov_listing_more(&types));
}

/* Returns the number of features that a file may have; there is no limit for pipes and URLs. */
static size_t most_features(const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return SIZE_MAX;
    return st.st_size > FEW_FEATURES ? (size_t)st.st_size : FEW_FEATURES;
}

/* Refuses files that are known to be of another kind. */
static int check_kind(const char *path, const char *type, struct cov_err *e)
{
    switch (cov_kind_of_file(path, NULL)) {
    case COV_KIND_UNKNOWN:
    case COV_KIND_BED:
    case COV_KIND_NARROWPEAK:
    case COV_KIND_GFF:
    case COV_KIND_GZIP:
        return COV_OK;
    default:
        return cov_fail_kind(e, path, type ? "neither GFF3, GTF nor BED" : "not a BED file");
    }
}

int cov_annotation_read(const char *path, const char *type, bool has_families,
                        struct cov_annotation *out, struct cov_err *e)
{
    struct annotation_reader r = {.a = out, .type = type, .most = most_features(path)};
    struct cov_lines *lines = NULL;
    const char *text;
    size_t n;
    *out = (struct cov_annotation){.path = path};
    int rc = cov_names_new(&out->contigs, e);
    if (!rc)
        rc = cov_names_new(&r.types, e);
    if (!rc && has_families)
        rc = cov_names_new(&r.ids, e);
    if (!rc)
        rc = check_kind(path, type, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc && (rc = cov_lines_next(lines, &text, &n, &r.line, e)) > 0)
        rc = take_line(&r, text, text + n, e);
    if (rc == 1) /* the rest is sequence */
        rc = COV_OK;
    cov_lines_close(lines);
    if (!rc)
        drop_over_origin(&r);
    if (!rc && out->n == 0)
        rc = fail_empty(&r, e);
    if (!rc && r.kin)
        find_roots(&r);
    if (!rc && r.strand_column)
        cov_warn("%s: takes the strand from column %d, since column 6 has none", path,
                 r.strand_column);
    if (!rc)
        qsort(out->items, out->n, sizeof *out->items, by_place);
    cov_names_free(r.types);
    cov_names_free(r.ids);
    free(r.kin);
    free(r.circles);
    return rc;
}

void cov_annotation_fini(struct cov_annotation *a)
{
    cov_names_free(a->contigs);
    free(a->items);
    free(a->text);
    *a = (struct cov_annotation){0};
}

/* Are the sequences of the features there? */
static int check_names(const struct cov_annotation *a, const struct cov_annotation_target *target,
                       struct cov_err *e)
{
    struct cov_listing missing = {0};
    size_t n_missing = 0;
    for (size_t i = 0; i < a->n; i++) {
        const uint32_t contig = a->items[i].contig;
        if (target->lengths[contig] != 0)
            continue;
        n_missing++;
        if (i == 0 || contig != a->items[i - 1].contig)
            cov_listing_add(&missing, cov_names_get(a->contigs, contig, NULL));
    }
    if (n_missing == a->n)
        return cov_fail(e, COV_EINPUT,
                        "%s: none of its sequences (%s%s) is in %s (%s%s); --rename maps names",
                        a->path, missing.text, cov_listing_more(&missing), target->name,
                        target->known->text, cov_listing_more(target->known));
    if (n_missing > 0 && target->warns)
        cov_warn("%s: %zu feature%s on sequences that are not in %s: %s%s", a->path, n_missing,
                 cov_text_s((int64_t)n_missing), target->name, missing.text,
                 cov_listing_more(&missing));
    return COV_OK;
}

int cov_annotation_fit(const struct cov_annotation *a, const struct cov_annotation_target *target,
                       struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && target->has_lengths && i < a->n; i++) {
        const struct cov_feature *f = &a->items[i];
        const char *contig = cov_names_get(a->contigs, f->contig, NULL);
        const int64_t length = target->lengths[f->contig];
        const struct cov_overhang overhang = {a->path, "feature", f->line,     f->end,
                                              contig,  length,    target->name};
        if (length > 0 && f->end > length)
            rc = cov_overhang_fail(&overhang, e);
    }
    return rc ? rc : check_names(a, target, e);
}

const char *cov_annotation_name(const struct cov_annotation *a, size_t i)
{
    return a->text + a->items[i].text;
}

const char *cov_annotation_score(const struct cov_annotation *a, size_t i)
{
    const char *name = cov_annotation_name(a, i);
    return name + strlen(name) + 1;
}
