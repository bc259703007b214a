/* counting.c - see counting.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/counting.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/hash.h"
#include "common/file/tmpfile.h"

const char *const cov_count_result_names[COV_SKIP_N] = {
    [COV_COUNTED] = "counted",
    [COV_SKIP_UNMAPPED] = "unmapped",
    [COV_SKIP_FLAGS] = "flags",
    [COV_SKIP_MAPQ] = "mapping_quality",
    [COV_SKIP_LENGTH] = "fragment_length",
    [COV_SKIP_MATE] = "counted_with_mate",
    [COV_SKIP_DISCORDANT] = "discordant_pair",
    [COV_SKIP_SUPPLEMENTARY] = "supplementary",
    [COV_SKIP_OUTSIDE] = "outside_contig",
    [COV_SKIP_EMPTY] = "no_bases",
    [COV_SKIP_BLACKLISTED] = "blacklisted",
};

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

/* Returns the length that --min-fragment and --max-fragment limit, as deepTools does. */
static int64_t fragment_length(const struct cov_read *r)
{
    int64_t n = r->template_length < 0 ? -r->template_length : r->template_length;
    for (size_t i = 0; r->template_length == 0 && i < r->n_cigar; i++)
        n += is_in(r->cigar[i], COVERS | 1 << COV_CIGAR_D) ? r->cigar[i] >> 4 : 0;
    return n;
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
    const int64_t n = fragment_length(r);
    return n < rules->min_fragment || (rules->max_fragment > 0 && n > rules->max_fragment)
               ? COV_SKIP_LENGTH
               : COV_COUNTED;
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
    bool left = pair || r->is_fragment || !reverse, right = pair || r->is_fragment || reverse;
    if (rules->has_shift && left)
        beg += rules->shift_plus;
    if (rules->has_shift && right)
        end += rules->shift_minus;
    int rc = COV_RESERVE(&spans->items, &spans->cap, r->n_cigar > 1 ? r->n_cigar : 2, e);
    if (rc)
        return rc;
    if (rules->unit == COV_COUNT_CUT) {
        if (left)
            add_span(spans, clip(beg, length), clip(beg + 1, length), false);
        if (right)
            add_span(spans, clip(end - 1, length), clip(end, length), false);
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

/* ---- pairs of reads ----
 *
 * The table is a hash table with linear probing, at most 3/4 full, without names: two mates are the
 * same if the 64-bit hashes of their names and places are. */

enum { FIRST_SLOTS = 1 << 10 };

struct cov_mate {
    uint64_t key; /* 0: an empty slot */
    int64_t last; /* the place of the right mate, with all contigs laid end to end */
};

void cov_mates_fini(struct cov_mates *m)
{
    free(m->table);
    *m = (struct cov_mates){.sorted = m->sorted};
}

/* Returns the key of the left or right mate of a pair. */
static uint64_t key_of(const struct cov_read *r, bool right)
{
    int64_t low = r->pos < r->mate_pos ? r->pos : r->mate_pos;
    int64_t place[] = {r->contig, low, r->pos + r->mate_pos - low, right};
    uint64_t key =
        cov_fingerprint(cov_fingerprint(0, place, sizeof place), r->name, strlen(r->name));
    return key ? key : 1;
}

static size_t slot_of(const struct cov_mates *m, uint64_t key)
{
    size_t slot = key & (m->n_slots - 1);
    while (m->table[slot].key && m->table[slot].key != key)
        slot = (slot + 1) & (m->n_slots - 1);
    return slot;
}

/* Clears a slot, and moves the mates after it to where they are found. */
static void clear(struct cov_mates *m, size_t slot)
{
    m->table[slot].key = 0;
    m->n--;
    for (size_t i = (slot + 1) & (m->n_slots - 1); m->table[i].key;
         i = (i + 1) & (m->n_slots - 1)) {
        struct cov_mate moved = m->table[i];
        m->table[i].key = 0;
        m->table[slot_of(m, moved.key)] = moved;
    }
}

/* Makes room for one more mate, whose place is `at`: drops those that the reads have passed; the
 * table is then at most 3/8 full. */
static int make_room(struct cov_mates *m, int64_t at, struct cov_err *e)
{
    struct cov_mates old = *m;
    m->n = 0;
    for (size_t i = 0; i < old.n_slots; i++) {
        struct cov_mate *x = &old.table[i];
        if (m->sorted && x->last < at)
            x->key = 0;
        m->n += x->key != 0;
    }
    for (m->n_slots = FIRST_SLOTS; m->n_slots / 8 * 3 <= m->n;)
        m->n_slots *= 2;
    m->table = cov_calloc(m->n_slots, sizeof *m->table, e);
    if (!m->table) {
        *m = old;
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.table[i].key)
            m->table[slot_of(m, old.table[i].key)] = old.table[i];
    free(old.table);
    return COV_OK;
}

int cov_mates_meet(struct cov_mates *m, const struct cov_read *r, int64_t beg, bool *met,
                   struct cov_err *e)
{
    bool right = r->template_length < 0;
    size_t slot = m->n_slots ? slot_of(m, key_of(r, !right)) : 0;
    *met = m->n_slots && m->table[slot].key;
    if (*met) {
        clear(m, slot);
        return COV_OK;
    }
    int rc = m->n >= m->n_slots / 4 * 3 ? make_room(m, beg + r->pos, e) : COV_OK;
    if (rc)
        return rc;
    int64_t last = r->pos > r->mate_pos ? r->pos : r->mate_pos;
    uint64_t key = key_of(r, right);
    slot = slot_of(m, key);
    m->n += m->table[slot].key == 0;
    m->table[slot] = (struct cov_mate){key, beg + last};
    return COV_OK;
}

/* ---- depth ---- */

/* A page has 64 Ki positions, or 256 KiB per lane, so that the one or two pages that sorted reads
 * need stay in the core's cache. Large genomes have larger pages, since each page may need a buffer
 * of waiting steps. The pages in memory take at most 128 MiB per lane. */
enum { PAGE_BITS = 16, ROOM_BITS = 25, MAX_PAGES_BITS = 14, BUFFER_STEPS = 1024 };

/* Encodes a waiting step: its position in the page, its lane, and its direction. */
#define STEP(at, lane, down) ((uint32_t)(at) << 3 | (uint32_t)(lane) << 1 | (uint32_t)(down))

/* The waiting steps of a page. Full buffers go to blocks of the file. */
struct waiting {
    uint32_t *buffer; /* [BUFFER_STEPS]; NULL: none yet */
    size_t n;
    int64_t last; /* the last block written, which links to the previous one; -1: none */
};

/* A block of the file: the offset of the previous block of the page (-1: none), and steps. */
struct block {
    int64_t before;
    uint32_t n;
    uint32_t steps[BUFFER_STEPS];
};

struct cov_depth {
    size_t n_lanes, max_pages, n_pages, n_there;
    unsigned bits;
    int64_t n, taken;
    int32_t **pages;         /* [n_pages]: [n_lanes][1 << bits] steps; NULL: not in memory */
    int32_t *spare;          /* the page that was released last; all zeros */
    struct waiting *waiting; /* [n_pages] */
    uint32_t depth[COV_DEPTH_MAX_LANES];
    struct cov_spool spool;
    struct block block;
};

static size_t page_elems(const struct cov_depth *d)
{
    return d->n_lanes << d->bits;
}

void cov_depth_free(struct cov_depth *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_pages; i++) {
        if (d->pages)
            free(d->pages[i]);
        if (d->waiting)
            free(d->waiting[i].buffer);
    }
    cov_spool_fini(&d->spool);
    free(d->spare);
    free(d->pages);
    free(d->waiting);
    free(d);
}

int cov_depth_new(const struct cov_depth_options *o, struct cov_depth **out, struct cov_err *e)
{
    assert(o->n_lanes >= 1 && o->n_lanes <= COV_DEPTH_MAX_LANES && o->page_bits <= 28);
    *out = NULL;
    struct cov_depth *d = cov_calloc(1, sizeof *d, e);
    if (!d)
        return COV_ENOMEM;
    d->n_lanes = o->n_lanes;
    d->bits = o->page_bits;
    if (d->bits == 0)
        for (d->bits = PAGE_BITS; d->bits < ROOM_BITS - 3 && o->n >> d->bits >> MAX_PAGES_BITS;)
            d->bits++;
    d->max_pages = o->max_pages ? o->max_pages : (size_t)1 << (ROOM_BITS - d->bits);
    d->n = o->n;
    d->n_pages = (size_t)(o->n >> d->bits) + 1;
    int rc = cov_spool_init(&d->spool, o->tmpdir, e);
    d->pages = cov_calloc(d->n_pages, sizeof(int32_t *), e);
    d->waiting = cov_calloc(d->n_pages, sizeof *d->waiting, e);
    if (rc || !d->pages || !d->waiting) {
        cov_depth_free(d);
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < d->n_pages; i++)
        d->waiting[i].last = -1;
    *out = d;
    return COV_OK;
}

int64_t cov_depth_taken(const struct cov_depth *d)
{
    return d->taken;
}

/* ---- the file ---- */

static int write_waiting(struct cov_depth *d, struct waiting *w, struct cov_err *e)
{
    d->block.before = w->last;
    d->block.n = (uint32_t)w->n;
    memcpy(d->block.steps, w->buffer, w->n * sizeof *w->buffer);
    int rc = cov_spool_append(&d->spool, &d->block, sizeof d->block, &w->last, e);
    if (!rc)
        w->n = 0;
    return rc;
}

static void apply(const struct cov_depth *d, int32_t *page, const uint32_t *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t s = steps[i];
        page[(size_t)(s >> 1 & 3) << d->bits | s >> 3] += s & 1 ? -1 : 1;
    }
}

/* ---- pages ---- */

static int make_page(struct cov_depth *d, size_t i, struct cov_err *e)
{
    int32_t *page = d->spare;
    d->spare = NULL;
    if (!page)
        page = cov_calloc(page_elems(d), sizeof *page, e);
    if (!page)
        return COV_ENOMEM;
    d->pages[i] = page;
    d->n_there++;
    struct waiting *w = &d->waiting[i];
    if (w->n > 0)
        apply(d, page, w->buffer, w->n);
    w->n = 0;
    int rc = COV_OK;
    for (int64_t at = w->last; !rc && at >= 0; at = d->block.before) {
        rc = cov_spool_read(&d->spool, at, &d->block, sizeof d->block, e);
        if (!rc)
            apply(d, page, d->block.steps, d->block.n);
    }
    w->last = -1;
    return rc;
}

static void drop_page(struct cov_depth *d, size_t i)
{
    free(d->spare);
    d->spare = d->pages[i];
    d->pages[i] = NULL;
    d->n_there--;
    free(d->waiting[i].buffer);
    d->waiting[i].buffer = NULL;
}

static int wait(struct cov_depth *d, size_t i, uint32_t step, struct cov_err *e)
{
    struct waiting *w = &d->waiting[i];
    if (!w->buffer) {
        w->buffer = cov_malloc(BUFFER_STEPS, sizeof *w->buffer, e);
        if (!w->buffer)
            return COV_ENOMEM;
    }
    w->buffer[w->n++] = step;
    return w->n < BUFFER_STEPS ? COV_OK : write_waiting(d, w, e);
}

static int add_step(struct cov_depth *d, size_t lane, int64_t pos, bool down, struct cov_err *e)
{
    size_t i = (size_t)(pos >> d->bits), at = (size_t)pos & (((size_t)1 << d->bits) - 1);
    if (!d->pages[i]) {
        /* Keeps a slot free for the page that is read next. */
        size_t first = (size_t)(d->taken >> d->bits);
        if (d->n_there + (i != first && !d->pages[first]) >= d->max_pages)
            return wait(d, i, STEP(at, lane, down), e);
        int rc = make_page(d, i, e);
        if (rc)
            return rc;
    }
    d->pages[i][lane << d->bits | at] += down ? -1 : 1;
    return COV_OK;
}

int cov_depth_add(struct cov_depth *d, size_t lane, int64_t beg, int64_t end, struct cov_err *e)
{
    assert(d->taken <= beg && beg <= end && end <= d->n && lane < d->n_lanes);
    size_t i = (size_t)(beg >> d->bits), mask = ((size_t)1 << d->bits) - 1;
    if (i == (size_t)(end >> d->bits) && d->pages[i]) { /* the common case */
        int32_t *steps = d->pages[i] + (lane << d->bits);
        steps[(size_t)beg & mask]++;
        steps[(size_t)end & mask]--;
        return COV_OK;
    }
    int rc = add_step(d, lane, beg, false, e);
    return rc ? rc : add_step(d, lane, end, true, e);
}

typedef uint32_t four __attribute__((vector_size(16)));

/* Sets out[i] to depth + steps[0] + .. + steps[i], returns the last of these sums, and clears the
 * steps. Combines all sums into *signs with OR, so its top bit is set if a sum exceeds 2^31 - 1. (A
 * single step is too small to jump over the range where that bit is set.) out may be NULL. */
static uint32_t add_up(int32_t *steps, size_t n, uint32_t depth, int32_t *out, uint32_t *signs)
{
    const four zero = {0};
    four last = {depth, depth, depth, depth}, bits = zero;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        four x;
        memcpy(&x, steps + i, sizeof x);
        memcpy(steps + i, &zero, sizeof zero);
        x += __builtin_shufflevector(zero, x, 0, 4, 5, 6);
        x += __builtin_shufflevector(zero, x, 0, 1, 4, 5);
        x += last;
        last = __builtin_shufflevector(x, x, 3, 3, 3, 3);
        bits |= x;
        if (out)
            memcpy(out + i, &x, sizeof x);
    }
    uint32_t at = last[0];
    *signs = bits[0] | bits[1] | bits[2] | bits[3];
    for (; i < n; i++) {
        at += (uint32_t)steps[i];
        steps[i] = 0;
        *signs |= at;
        if (out)
            out[i] = (int32_t)at;
    }
    return at;
}

static int take_run(struct cov_depth *d, int32_t *page, size_t at, size_t n, int32_t *const *lanes,
                    size_t done, struct cov_err *e)
{
    for (size_t k = 0; k < d->n_lanes; k++) {
        uint32_t signs;
        d->depth[k] = add_up(page + (k << d->bits) + at, n, d->depth[k],
                             lanes ? lanes[k] + done : NULL, &signs);
        if (signs > INT32_MAX)
            return cov_fail(e, COV_EINPUT, "depth above %d", INT32_MAX);
    }
    return COV_OK;
}

int cov_depth_take(struct cov_depth *d, size_t n, int32_t *const *lanes, struct cov_err *e)
{
    assert((int64_t)n <= d->n - d->taken);
    size_t size = (size_t)1 << d->bits;
    for (size_t done = 0, m; done < n; done += m) {
        size_t i = (size_t)(d->taken >> d->bits), at = (size_t)d->taken & (size - 1);
        m = n - done < size - at ? n - done : size - at;
        int rc = d->pages[i] ? COV_OK : make_page(d, i, e);
        if (!rc)
            rc = take_run(d, d->pages[i], at, m, lanes, done, e);
        if (rc)
            return rc;
        d->taken += (int64_t)m;
        if (at + m == size)
            drop_page(d, i);
    }
    return COV_OK;
}
