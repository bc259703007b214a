/* counting.c - see counting.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/counting.h"

#include "common/base/mem.h"

const char *const cov_count_result_names[COV_SKIP_N] = {
    [COV_COUNTED] = "counted",
    [COV_SKIP_UNMAPPED] = "unmapped",
    [COV_SKIP_FLAGS] = "flags",
    [COV_SKIP_MAPQ] = "mapping_quality",
    [COV_SKIP_MATE] = "counted_with_mate",
    [COV_SKIP_DISCORDANT] = "discordant_pair",
    [COV_SKIP_SUPPLEMENTARY] = "supplementary",
    [COV_SKIP_OUTSIDE] = "outside_contig",
    [COV_SKIP_EMPTY] = "no_bases",
};

static int make_room(struct cov_spans *s, size_t n, struct cov_err *e)
{
    if (s->items && n <= s->cap)
        return COV_OK;
    int rc = COV_RESERVE(&s->items, &s->cap, n, e);
    return rc;
}

/* The caller has reserved room. */
static void add_span(struct cov_spans *s, int64_t beg, int64_t end, bool spliced)
{
    if (beg >= end)
        return;
    struct cov_span *next = &s->items[s->n];
    if (s->n > 0 && next[-1].end == beg && next[-1].spliced == spliced) {
        next[-1].end = end;
        return;
    }
    *next = (struct cov_span){beg, end, spliced};
    s->n++;
}

enum {
    COVERS = 1 << COV_CIGAR_M | 1 << COV_CIGAR_EQ | 1 << COV_CIGAR_X,
    SPLICES = 1 << COV_CIGAR_D | 1 << COV_CIGAR_N
};

/* Returns true if operation `op` is in `set`. Operations that are in neither of the sets consume no
 * reference bases. */
static inline bool is_in(uint32_t op, unsigned set)
{
    return set >> (op & 0xf) & 1;
}

/* Returns the end of the read on the reference. */
static int64_t reference_end(const struct cov_read *r)
{
    int64_t end = r->pos;
    for (size_t i = 0; i < r->n_cigar; i++)
        end += is_in(r->cigar[i], COVERS | SPLICES) ? r->cigar[i] >> 4 : 0;
    return end;
}

/* Adds the spans of a read from its CIGAR. */
static void add_cigar(const struct cov_read *r, struct cov_spans *s)
{
    int64_t at = r->pos;
    for (size_t i = 0; i < r->n_cigar; i++) {
        if (!is_in(r->cigar[i], COVERS | SPLICES))
            continue;
        int64_t end = at + (r->cigar[i] >> 4);
        add_span(s, at, end, is_in(r->cigar[i], SPLICES));
        at = end;
    }
}

/* Returns true if the read, or the fragment that it represents, counts on the - strand. */
static bool counts_on_minus(const struct cov_counting *rules, const struct cov_read *r)
{
    bool minus = r->flags & COV_READ_REVERSE;
    bool second = (r->flags & COV_READ_PAIRED) && (r->flags & COV_READ_SECOND);
    switch (rules->strand) {
    case COV_COUNT_FIRST:
        return minus != second;
    case COV_COUNT_SECOND:
        return minus == second;
    case COV_COUNT_OWN:
        /* A fragment is on the strand of its first read. */
        return rules->unit == COV_COUNT_FRAGMENT && (r->flags & COV_READ_PAIRED) ? minus != second
                                                                                 : minus;
    case COV_COUNT_BOTH:
        break;
    }
    return false;
}

static enum cov_count_result filter(const struct cov_counting *rules, const struct cov_read *r)
{
    if (r->flags & COV_READ_UNMAPPED || r->contig < 0 || r->pos < 0)
        return COV_SKIP_UNMAPPED;
    if (r->flags & rules->exclude_flags ||
        (r->flags & rules->require_flags) != rules->require_flags)
        return COV_SKIP_FLAGS;
    if (r->mapq < rules->min_mapq)
        return COV_SKIP_MAPQ;
    return COV_COUNTED;
}

/* Returns true if the mates of a proper pair are within COV_COUNT_MAX_FRAGMENT bases of a contig of
 * `length` bases. */
static bool is_together(const struct cov_read *r, int64_t length)
{
    enum { MAX = COV_COUNT_MAX_FRAGMENT };
    return r->mate_contig == r->contig && r->mate_pos >= 0 && r->mate_pos < length &&
           r->mate_pos - r->pos <= MAX && r->pos - r->mate_pos <= MAX &&
           r->template_length <= MAX && r->template_length >= -MAX && r->template_length != 0;
}

/* Checks that the read represents a fragment; an unpaired read represents itself. */
static enum cov_count_result filter_fragment(const struct cov_read *r, int64_t length)
{
    if (r->flags & COV_READ_SUPPLEMENTARY)
        return COV_SKIP_SUPPLEMENTARY;
    if (!(r->flags & COV_READ_PAIRED))
        return COV_COUNTED;
    bool proper = r->flags & COV_READ_PROPER_PAIR && !(r->flags & COV_READ_MATE_UNMAPPED);
    return proper && is_together(r, length) ? COV_COUNTED : COV_SKIP_DISCORDANT;
}

static int64_t clip(int64_t x, int64_t length)
{
    return x < 0 ? 0 : x > length ? length : x;
}

/* Sets the range of the fragment of a pair. Some aligners include clipped bases, which may be past
 * the end of the contig. */
static void find_fragment(const struct cov_read *r, int64_t length, int64_t *beg, int64_t *end)
{
    bool right = r->template_length < 0;
    *beg = right ? r->mate_pos : r->pos;
    *end = clip(*beg + (right ? -r->template_length : r->template_length), length);
}

int cov_count_spans(const struct cov_counting *rules, const struct cov_read *r, int64_t length,
                    struct cov_spans *spans, struct cov_err *e)
{
    bool fragments = rules->unit == COV_COUNT_FRAGMENT;
    spans->n = 0;
    enum cov_count_result result = filter(rules, r);
    if (result == COV_COUNTED && fragments)
        result = filter_fragment(r, length);
    if (result != COV_COUNTED)
        return result;
    bool pair = spans->pair = fragments && (r->flags & COV_READ_PAIRED);
    int64_t beg = r->pos, end = reference_end(r);
    if (beg >= length || end > length)
        return COV_SKIP_OUTSIDE;
    if (pair)
        find_fragment(r, length, &beg, &end);
    spans->minus = counts_on_minus(rules, r);
    bool reverse = r->flags & COV_READ_REVERSE;
    /* Both ends of a fragment are ends of reads: the left end of a + read, the right end of a -
     * read. */
    if (rules->has_shift && (pair || !reverse))
        beg += rules->shift_plus;
    if (rules->has_shift && (pair || reverse))
        end += rules->shift_minus;
    int rc = make_room(spans, r->n_cigar > 0 ? r->n_cigar : 1, e);
    if (rc)
        return rc;
    if (rules->unit == COV_COUNT_CUT) {
        int64_t at = reverse ? end - 1 : beg;
        add_span(spans, clip(at, length), clip(at + 1, length), false);
    } else if (rules->has_shift || pair) {
        add_span(spans, clip(beg, length), clip(end, length), false);
    } else {
        add_cigar(r, spans);
    }
    return spans->n > 0 ? COV_COUNTED : COV_SKIP_EMPTY;
}

int64_t cov_count_reach(const struct cov_counting *rules)
{
    /* A read without bases ends one base before its position. */
    int64_t reach = rules->unit == COV_COUNT_FRAGMENT ? 1 + COV_COUNT_MAX_FRAGMENT : 1;
    if (!rules->has_shift)
        return reach;
    int64_t low = rules->shift_plus < rules->shift_minus ? rules->shift_plus : rules->shift_minus;
    return low < 0 ? reach - low : reach;
}
