/* depth.c - see depth.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/depth.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/tmpfile.h"

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
