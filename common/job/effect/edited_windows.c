/* edited_windows.c - see edited_windows.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/edited_windows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"

/* The chunks of a call of the device: the strands of versions. */
struct window_scratch {
    uint8_t *codes;                  /* [batch,L] */
    float *values;                   /* [batch,L,D] */
    size_t n;                        /* chunks in it */
    uint8_t *strands;                /* [2,L] the window of these chunks: + strand, - strand */
    struct cov_edited_chunk *chunks; /* [batch]; `of` is the strand */
    struct cov_version **versions;   /* [batch]: of each chunk */
};

struct cov_edited_windows {
    struct cov_arena memory;
    struct cov_net *net;
    struct cov_edited_options o;
    bool incremental; /* computes only what differs from the window */
    size_t n_datasets;
    struct window_scratch *scratch; /* [n_workers] */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t cov_version_codes(const struct cov_edited_window *w, const struct cov_edit *edit, size_t L,
                         uint8_t *out)
{
    const size_t at = least(edit->at, L), added = least(edit->n_new, L - at), n = at + added;
    const size_t after = edit->at + edit->n_old, rest = least(w->n_codes - after, L - n);
    memcpy(out, w->codes, at);
    if (added > 0)
        memcpy(out + at, edit->codes, added);
    memcpy(out + n, w->codes + after, rest);
    memset(out + n + rest, COV_CODE_PAD, L - n - rest);
    return n + rest;
}

static int allocate_scratch(struct cov_edited_windows *w, struct cov_err *e)
{
    struct cov_arena *m = &w->memory;
    w->scratch = cov_arena_calloc(m, w->o.n_workers, sizeof *w->scratch);
    for (unsigned i = 0; w->scratch && i < w->o.n_workers; i++) {
        struct window_scratch *s = &w->scratch[i];
        s->codes = cov_arena_calloc(m, w->o.batch, w->o.L);
        s->values = cov_arena_values(m, w->o.batch, w->o.L, w->n_datasets);
        s->strands = cov_arena_calloc(m, 2, w->o.L);
        s->chunks = cov_arena_calloc(m, w->o.batch, sizeof *s->chunks);
        s->versions = cov_arena_calloc(m, w->o.batch, sizeof(struct cov_version *));
    }
    return cov_arena_check(m, e);
}

int cov_edited_windows_new(const struct cov_ensemble *model, struct cov_device *device,
                           const struct cov_edited_options *options,
                           struct cov_edited_windows **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_edited_windows *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    w->o = *options;
    w->n_datasets = model->n_datasets;
    const struct cov_net_size size = {options->L, options->n_workers, options->batch};
    int rc = cov_ensemble_net(model, device, size, &w->net, e);
    if (!rc && options->full)
        cov_net_compute_all(w->net);
    w->incremental = !rc && !options->full && cov_net_can_edit(w->net) &&
                     (options->many || !cov_net_edits_many(w->net));
    if (!rc)
        rc = allocate_scratch(w, e);
    if (rc)
        cov_edited_windows_free(w);
    else
        *out = w;
    return rc;
}

void cov_edited_windows_free(struct cov_edited_windows *w)
{
    if (!w)
        return;
    cov_arena_fini(&w->memory);
    cov_net_free(w->net);
    free(w);
}

/* Sets the wanted values of a version from one of its strands: the + strand, which comes first, then the
 * mean with the - strand. */
static void take_chunk(const struct cov_edited_windows *w, const struct cov_version *v,
                       size_t strand, const float *from)
{
    const size_t D = w->n_datasets, n = v->n_bases;
    const bool all = v->beg >= v->end;
    const size_t beg = all ? 0 : v->beg, end = all ? w->o.L : least(v->end, w->o.L);
    const size_t filled = least(end, n);
    if (strand == 0) {
        if (beg < filled)
            memcpy(v->values + beg * D, from + beg * D, (filled - beg) * D * sizeof *v->values);
        for (size_t i = (beg < n ? n : beg) * D; i < end * D; i++)
            v->values[i] = COV_PAD_VALUE;
        return;
    }
    for (size_t i = beg; i < filled; i++)
        for (size_t d = 0; d < D; d++)
            v->values[i * D + d] = (v->values[i * D + d] + from[(n - 1 - i) * D + d]) * 0.5F;
}

/* Predicts the chunks in the scratch space. */
static int flush_chunks(const struct cov_edited_windows *w, unsigned worker, struct cov_err *e)
{
    struct window_scratch *s = &w->scratch[worker];
    if (s->n == 0)
        return COV_OK;
    const struct cov_edited_chunks edited = {2, s->strands, s->n, s->codes, s->chunks};
    int rc = w->incremental ? cov_net_forward_edited(w->net, worker, &edited, s->values, e)
                            : cov_net_forward(w->net, worker, s->n, s->codes, s->values, e);
    for (size_t i = 0; !rc && i < s->n; i++)
        take_chunk(w, s->versions[i], s->chunks[i].of, s->values + i * w->o.L * w->n_datasets);
    s->n = 0;
    return rc;
}

/* Adds one strand of a version to the scratch space. */
static void add_strand(const struct cov_edited_windows *w, struct window_scratch *s,
                       const struct cov_edited_window *window, struct cov_version *v, size_t strand)
{
    const size_t L = w->o.L;
    uint8_t *codes = s->codes + s->n * L;
    const size_t n = v->n_bases = cov_version_codes(window, &v->edit, L, codes);
    const bool all = v->beg >= v->end;
    size_t beg = all || v->beg > n ? 0 : v->beg, end = all || v->end > n ? n : v->end;
    if (strand == 1) {
        const size_t first = beg;
        cov_codes_reverse_complement(codes, n);
        beg = n - end;
        end = n - first;
    }
    s->versions[s->n] = v;
    s->chunks[s->n++] = (struct cov_edited_chunk){strand, beg, end};
}

/* The chunks of a call have the same window where only differences from it are computed. */
static int predict_window(const struct cov_edited_windows *w, unsigned worker,
                          const struct cov_edited_window *window, struct cov_err *e)
{
    struct window_scratch *s = &w->scratch[worker];
    const struct cov_edit none = {0};
    const size_t L = w->o.L, n = cov_version_codes(window, &none, L, s->strands);
    int rc = COV_OK;
    memcpy(s->strands + L, s->strands, L);
    cov_codes_reverse_complement(s->strands + L, n);
    for (struct cov_version *v = window->versions; v; v = v->next)
        for (size_t strand = 0; !rc && strand < 2; strand++) {
            add_strand(w, s, window, v, strand);
            if (s->n == w->o.batch)
                rc = flush_chunks(w, worker, e);
        }
    return !rc && w->incremental ? flush_chunks(w, worker, e) : rc;
}

int cov_edited_windows_predict(struct cov_edited_windows *w, unsigned worker,
                               const struct cov_edited_window *windows, size_t n_windows,
                               struct cov_err *e)
{
    int rc = COV_OK;
    w->scratch[worker].n = 0;
    for (size_t i = 0; !rc && i < n_windows; i++)
        rc = predict_window(w, worker, &windows[i], e);
    return rc ? rc : flush_chunks(w, worker, e);
}

void cov_edited_windows_counts(const struct cov_edited_windows *w, struct cov_forward_counts *out)
{
    cov_net_counts(w->net, out);
}
