/* predict_overlap.c - see predict_overlap.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/predict_overlap.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/alphabet.h"
#include "common/seq/grid.h"

/* A pair of chunks that provides bases for windows. */
struct cov_overlap_source {
    struct cov_loader_item item;
    struct cov_blob raw[2];
};

struct cov_overlap_window {
    struct cov_window w;
    size_t seq;
    int64_t number;
    int strand;
};

/* ---- slots ---- */

void cov_overlap_slot_fini(struct cov_overlap_slot *s)
{
    for (size_t k = 0; k < s->cap_sources; k++)
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
            cov_blob_fini(&s->sources[k].raw[strand]);
    free(s->sources);
    free(s->windows);
    free(s->pairs);
}

void cov_overlap_clear(struct cov_overlap_slot *s)
{
    s->n_pairs = s->n_sources = s->n_windows = 0;
}

/* Fetches the pairs that provide the bases of a window, unless already fetched. Windows ascend. */
static int add_sources(const struct cov_overlap *o, struct cov_overlap_slot *s, size_t seq,
                       const struct cov_window *w, struct cov_err *e)
{
    int64_t L = (int64_t)o->L;
    for (int64_t at = w->beg / L * L; at < w->end; at += L) {
        const struct cov_overlap_source *last = s->n_sources ? &s->sources[s->n_sources - 1] : NULL;
        if (last && last->item.seq == seq && last->item.beg >= at)
            continue;
        size_t before = s->cap_sources;
        int rc = COV_RESERVE(&s->sources, &s->cap_sources, s->n_sources + 1, e);
        for (size_t k = before; !rc && k < s->cap_sources; k++)
            s->sources[k] = (struct cov_overlap_source){.raw = {COV_BLOB_INIT, COV_BLOB_INIT}};
        if (!rc)
            rc = cov_loader_neighbour(o->loader, seq, at, &s->sources[s->n_sources].item,
                                      s->sources[s->n_sources].raw, e);
        if (rc)
            return rc;
        s->n_sources++;
    }
    return COV_OK;
}

static int add_window(const struct cov_overlap *o, struct cov_overlap_slot *s,
                      const struct cov_loader_item *item, int64_t number, struct cov_err *e)
{
    const struct cov_select *regions = cov_loader_regions(o->loader);
    struct cov_window w = cov_window_number(item->length, (int64_t)o->L, (int64_t)o->N, number);
    int64_t beg, end, from = w.core_beg > item->beg ? w.core_beg : item->beg;
    int64_t to = w.core_end < item->end ? w.core_end : item->end;
    const struct cov_overlap_window *last = s->n_windows ? &s->windows[s->n_windows - 1] : NULL;
    if ((last && last->seq == item->seq && last->number == number) ||
        (regions && !cov_select_stretch(regions, item->seq, from, to, &beg, &end)))
        return COV_OK;
    int rc = COV_RESERVE(&s->windows, &s->cap_windows, s->n_windows + 2, e);
    if (!rc)
        rc = add_sources(o, s, item->seq, &w, e);
    for (int strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        s->windows[s->n_windows++] = (struct cov_overlap_window){w, item->seq, number, strand};
    return rc;
}

int cov_overlap_add(const struct cov_overlap *o, struct cov_overlap_slot *s,
                    const struct cov_loader_item *item, struct cov_err *e)
{
    int64_t L = (int64_t)o->L, N = (int64_t)o->N;
    int rc = COV_RESERVE(&s->pairs, &s->cap_pairs, s->n_pairs + 1, e);
    if (rc)
        return rc;
    s->pairs[s->n_pairs++] = *item;
    if (item->beg == item->end)
        return COV_OK;
    int64_t last = cov_window_at(item->length, L, N, item->end - 1);
    for (int64_t k = cov_window_at(item->length, L, N, item->beg); !rc && k <= last; k++)
        rc = add_window(o, s, item, k, e);
    return rc;
}

/* ---- workers ---- */

/* Sorts the longest first, so that windows of similar length are computed together. */
static int by_length(const void *a, const void *b)
{
    const struct cov_overlap_window *x = a, *y = b;
    int64_t n = x->w.end - x->w.beg, m = y->w.end - y->w.beg;
    if (n != m)
        return n > m ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->strand - y->strand;
}

static int decode_sources(const struct cov_overlap *o, struct cov_overlap_slot *s,
                          struct cov_overlap_worker *w, struct cov_err *e)
{
    size_t n;
    if (cov_size_mul(2 * s->n_sources, o->L, &n))
        return cov_fail(e, COV_ENOMEM, "chunks of %zu bases are too long", o->L);
    int rc = COV_RESERVE(&w->sources, &w->cap_sources, n, e);
    for (size_t k = 0; !rc && k < s->n_sources; k++) {
        uint8_t *of = w->sources + 2 * k * o->L;
        rc = cov_loader_codes(o->loader, &s->sources[k].item, s->sources[k].raw,
                              (uint8_t *const[2]){of, of + o->L}, e);
    }
    return rc;
}

/* Sets codes[0..L) to the bases of a window in its own direction, from its sources. */
static void copy_codes(const struct cov_overlap *o, const struct cov_overlap_slot *s,
                       const struct cov_overlap_window *x, const uint8_t *sources, uint8_t *codes)
{
    memset(codes, COV_CODE_PAD, o->L);
    for (size_t k = 0; k < s->n_sources; k++) {
        const struct cov_loader_item *item = &s->sources[k].item;
        int64_t beg = item->beg > x->w.beg ? item->beg : x->w.beg;
        int64_t end = item->end < x->w.end ? item->end : x->w.end;
        const uint8_t *from = sources + (2 * k + (size_t)x->strand) * o->L;
        if (item->seq != x->seq || beg >= end)
            continue;
        if (x->strand == COV_PLUS)
            memcpy(codes + (beg - x->w.beg), from + (beg - item->beg), (size_t)(end - beg));
        else
            memcpy(codes + (x->w.end - end), from + (item->end - end), (size_t)(end - beg));
    }
}

/* Copies the core of a window to the pairs. */
static void copy_values(const struct cov_overlap *o, const struct cov_overlap_slot *s,
                        const struct cov_overlap_window *x, const float *values, float *out)
{
    for (size_t k = 0; k < s->n_pairs; k++) {
        const struct cov_loader_item *item = &s->pairs[k];
        int64_t beg = item->beg > x->w.core_beg ? item->beg : x->w.core_beg;
        int64_t end = item->end < x->w.core_end ? item->end : x->w.core_end;
        float *to = out + (2 * k + (size_t)x->strand) * o->L * o->D;
        if (item->seq != x->seq || beg >= end)
            continue;
        size_t n = (size_t)(end - beg) * o->D * sizeof *to;
        if (x->strand == COV_PLUS)
            memcpy(to + (size_t)(beg - item->beg) * o->D, values + (size_t)(beg - x->w.beg) * o->D,
                   n);
        else
            memcpy(to + (size_t)(item->end - end) * o->D, values + (size_t)(x->w.end - end) * o->D,
                   n);
    }
}

int cov_overlap_compute(const struct cov_overlap *o, struct cov_overlap_slot *s,
                        struct cov_overlap_worker *w, struct cov_net *net, float *values,
                        struct cov_err *e)
{
    size_t row = o->L * o->D;
    for (size_t i = 0; i < 2 * s->n_pairs * row; i++)
        values[i] = COV_PAD_VALUE;
    int rc = decode_sources(o, s, w, e);
    if (s->n_windows > 0)
        qsort(s->windows, s->n_windows, sizeof *s->windows, by_length);
    for (size_t beg = 0; !rc && beg < s->n_windows; beg += o->batch) {
        size_t n = s->n_windows - beg < o->batch ? s->n_windows - beg : o->batch;
        for (size_t k = 0; k < n; k++)
            copy_codes(o, s, &s->windows[beg + k], w->sources, w->codes + k * o->L);
        rc = cov_net_forward(net, w->i, n, w->codes, w->values, e);
        for (size_t k = 0; !rc && k < n; k++)
            copy_values(o, s, &s->windows[beg + k], w->values + k * row, values);
    }
    return rc;
}

void cov_overlap_fingerprints(const struct cov_overlap *o, const struct cov_overlap_slot *s,
                              const struct cov_overlap_worker *w, size_t k,
                              uint64_t fingerprints[2])
{
    const struct cov_loader_item *pair = &s->pairs[k];
    for (size_t i = 0; i < s->n_sources; i++) {
        const struct cov_loader_item *item = &s->sources[i].item;
        const uint8_t *codes = w->sources + 2 * i * o->L;
        if (item->seq != pair->seq || item->beg != pair->beg)
            continue;
        for (size_t strand = COV_PLUS; strand <= COV_MINUS; strand++)
            fingerprints[strand] = cov_item_fingerprint(item, codes + strand * o->L);
    }
}
