/* edited_windows.c - see edited_windows.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/edited_windows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"

/* The chunks of a call of the device. */
struct scratch {
    uint8_t *codes;                  /* [batch,L] */
    float *values;                   /* [batch,L,D] */
    size_t n;                        /* chunks in it */
    uint8_t *strands;                /* [2,L] the window of these chunks: + strand, - strand */
    struct cov_edited_chunk *chunks; /* [batch] */
};

struct cov_edited_windows {
    struct cov_net *net;
    struct cov_edited_options o;
    bool incremental; /* computes only what differs from the window */
    size_t n_datasets;
    struct scratch *scratch; /* [n_workers] */
};

size_t cov_version_codes(const struct cov_edited_window *w, const struct cov_version *v, size_t L,
                         uint8_t *out)
{
    size_t from = 0, n = 0;
    for (size_t i = 0; i <= v->n && n < L; i++) {
        const struct cov_edit *edit = i < v->n ? &v->edits[i] : NULL;
        size_t kept = (edit ? edit->at : w->n_codes) - from;
        kept = kept < L - n ? kept : L - n;
        memcpy(out + n, w->codes + from, kept);
        n += kept;
        if (!edit)
            break;
        size_t added = edit->n_new < L - n ? edit->n_new : L - n;
        memcpy(out + n, edit->codes, added);
        n += added;
        from = edit->at + edit->n_old;
    }
    memset(out + n, COV_CODE_PAD, L - n);
    return n;
}

static int allocate(struct cov_edited_windows *w, struct cov_err *e)
{
    const size_t L = w->o.L;
    size_t row;
    if (cov_size_mul(L, w->n_datasets, &row) || cov_size_mul(row, w->o.batch, &row))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", w->o.batch);
    w->scratch = cov_calloc(w->o.n_workers, sizeof *w->scratch, e);
    if (!w->scratch)
        return COV_ENOMEM;
    for (unsigned i = 0; i < w->o.n_workers; i++) {
        w->scratch[i].codes = cov_malloc(w->o.batch, L, e);
        w->scratch[i].values = cov_malloc(row, sizeof(float), e);
        w->scratch[i].strands = cov_malloc(2, L, e);
        w->scratch[i].chunks = cov_calloc(w->o.batch, sizeof *w->scratch[i].chunks, e);
        if (!w->scratch[i].codes || !w->scratch[i].values || !w->scratch[i].strands ||
            !w->scratch[i].chunks)
            return COV_ENOMEM;
    }
    return COV_OK;
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
    w->incremental = !rc && !options->full && cov_net_can_edit(w->net);
    if (!rc)
        rc = allocate(w, e);
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
    for (unsigned i = 0; w->scratch && i < w->o.n_workers; i++) {
        free(w->scratch[i].codes);
        free(w->scratch[i].values);
        free(w->scratch[i].strands);
        free(w->scratch[i].chunks);
    }
    free(w->scratch);
    cov_net_free(w->net);
    free(w);
}

/* The chunks of all versions are numbered: 2 k is the + strand of version k, 2 k + 1 its - strand. */
struct place {
    float *values;
    size_t *n_bases;
};

/* Adds the values of chunk number c: those of the + strand, or, if these are there already, their
 * mean with those of the - strand. */
static void take_chunk(const struct cov_edited_windows *w, const struct place *to, size_t c,
                       const float *from)
{
    const size_t D = w->n_datasets, n = to->n_bases[c / 2];
    float *values = to->values + c / 2 * w->o.L * D;
    if (c % 2 == 0) {
        memcpy(values, from, w->o.L * D * sizeof *values);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            values[i * D + d] = (values[i * D + d] + from[(n - 1 - i) * D + d]) * 0.5F;
}

/* Predicts the chunks in the scratch space; `end` is the number of the chunk after them. */
static int flush(const struct cov_edited_windows *w, unsigned worker, const struct place *to,
                 size_t end, struct cov_err *e)
{
    struct scratch *s = &w->scratch[worker];
    if (s->n == 0)
        return COV_OK;
    const struct cov_edited_chunks edited = {2, s->strands, s->n, s->codes, s->chunks};
    int rc = w->incremental ? cov_net_forward_edited(w->net, worker, &edited, s->values, e)
                            : cov_net_forward(w->net, worker, s->n, s->codes, s->values, e);
    for (size_t i = 0; !rc && i < s->n; i++)
        take_chunk(w, to, end - s->n + i, s->values + i * w->o.L * w->n_datasets);
    s->n = 0;
    return rc;
}

/* Adds one strand of a version to the scratch space. Returns the number of bases. */
static size_t add_chunk(const struct cov_edited_windows *w, struct scratch *s,
                        const struct cov_edited_window *window, const struct cov_version *v,
                        size_t strand)
{
    const size_t L = w->o.L;
    uint8_t *codes = s->codes + s->n * L;
    const size_t n = cov_version_codes(window, v, L, codes);
    const bool all = v->beg >= v->end;
    size_t beg = all || v->beg > n ? 0 : v->beg, end = all || v->end > n ? n : v->end;
    if (strand == 1) {
        const size_t first = beg;
        cov_codes_reverse_complement(codes, n);
        beg = n - end;
        end = n - first;
    }
    s->chunks[s->n++] = (struct cov_edited_chunk){strand, beg, end};
    return n;
}

/* Predicts the versions of one window, numbers *k, *k + 1, ... */
static int predict_window(struct cov_edited_windows *w, unsigned worker,
                          const struct cov_edited_window *window, const struct place *to, size_t *k,
                          struct cov_err *e)
{
    struct scratch *s = &w->scratch[worker];
    const struct cov_version none = {.n = 0};
    const size_t L = w->o.L, n = cov_version_codes(window, &none, L, s->strands);
    int rc = COV_OK;
    memcpy(s->strands + L, s->strands, L);
    cov_codes_reverse_complement(s->strands + L, n);
    for (size_t v = 0; v < window->n_versions; v++, ++*k)
        for (size_t strand = 0; !rc && strand < 2; strand++) {
            to->n_bases[*k] = add_chunk(w, s, window, &window->versions[v], strand);
            if (s->n == w->o.batch)
                rc = flush(w, worker, to, 2 * *k + strand + 1, e);
        }
    return !rc && w->incremental ? flush(w, worker, to, 2 * *k, e) : rc;
}

int cov_edited_windows_predict(struct cov_edited_windows *w, unsigned worker,
                               const struct cov_edited_window *windows, size_t n_windows,
                               float *values, size_t *n_bases, struct cov_err *e)
{
    struct place to;
    size_t k = 0;
    int rc = COV_OK;
    to.values = values;
    to.n_bases = n_bases;
    w->scratch[worker].n = 0;
    for (size_t i = 0; !rc && i < n_windows; i++)
        rc = predict_window(w, worker, &windows[i], &to, &k, e);
    return rc ? rc : flush(w, worker, &to, 2 * k, e);
}

void cov_edited_windows_counts(const struct cov_edited_windows *w, struct cov_forward_counts *out)
{
    cov_net_counts(w->net, out);
}
