/* edit_store.cu - see cuda_edits.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
}
#include "common/compute/cuda/cuda_edits.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the LSTMs that are wanted of a tile of the last convolutions. */
enum { TAIL_ROWS = 32 };

/* ---- making ---- */

/* Finds the LSTM layers and their steps. Returns false if the kernels of this file do not support them. */
static bool find_lstms(const struct cov_cuda_program *p, struct cov_cuda_edits *x)
{
    for (size_t i = 0; i < p->plan.n_steps; i++) {
        const struct cov_cuda_step *s = &p->plan.steps[i];
        if (s->kind != COV_CUDA_STEP_LSTM_FP32 && s->kind != COV_CUDA_STEP_LSTM_BF16)
            continue;
        const size_t k = s->lstm_number;
        if (k >= COV_EDIT_LSTMS || (s->kind == COV_CUDA_STEP_LSTM_FP32 && !s->lstm.resident))
            return false;
        x->lstm_beg = k == 0 ? s->layer : x->lstm_beg;
        x->lstm_end = s->layer + 1;
        x->sums[k] = s - 1;
        x->lstm[k] = s;
    }
    x->t = p->plan.layers[x->lstm_beg].t_in;
    return cov_edit_lstms(x) == p->plan.n_lstms && x->lstm_end > 0 &&
           cov_edit_tiles_fit(&p->plan, x->t);
}

/* Returns the number of tiles for which a slot's areas suffice. */
static size_t tiles_fit(const struct cov_cuda_program *p, const struct cov_edit_tiles *tiles)
{
    const size_t by_rows = p->batch * tiles->t / tiles->rows,
                 by_codes = p->batch * ((p->plan.length + 1) / 2) / ((tiles->plan.length + 1) / 2);
    return by_rows < by_codes ? by_rows : by_codes;
}

/* Chooses the size of a group. Returns false if a slot's areas are too small for any edit. */
static bool choose_sizes(const struct cov_cuda_program *p, struct cov_cuda_edits *x)
{
    x->most_pieces = 2 * p->batch * x->t;
    x->most_head = tiles_fit(p, &x->head);
    x->most_tail = tiles_fit(p, &x->tail);
    return p->batch >= COV_EDITED_ORIGINALS &&
           cov_edit_tiles_most(&x->head, {0, x->t}) <= x->most_head &&
           cov_edit_tiles_most(&x->tail, {0, p->plan.length}) <= x->most_tail;
}

int cov_cuda_edits_new(struct cov_cuda_program *p, struct cov_err *e)
{
    struct cov_cuda_edits *x = (struct cov_cuda_edits *)cov_calloc(1, sizeof *x, e);
    if (!x)
        return COV_ENOMEM;
    p->edits = x;
    pthread_cond_init(&x->kept_changed, NULL);
    if (p->cards.cublas || !find_lstms(p, x)) { /* the library's sums may depend on the batch */
        cov_cuda_edits_free(p);
        return COV_OK;
    }
    int rc = cov_edit_tiles_init(&p->plan, {0, x->lstm_beg}, x->t, 1, &x->head, e);
    if (!rc)
        rc = cov_edit_tiles_init(&p->plan, {x->lstm_end, p->plan.n_layers}, x->t, TAIL_ROWS,
                                 &x->tail, e);
    x->kept = (struct cov_edit_kept *)cov_calloc(p->cards.n * COV_EDIT_KEPT, sizeof *x->kept, e);
    x->slots = (struct cov_edit_slot *)cov_calloc(p->n_slots, sizeof *x->slots, e);
    if (rc || !x->kept || !x->slots)
        return COV_ENOMEM;
    for (size_t i = 0; i < p->cards.n * COV_EDIT_KEPT; i++) {
        x->kept[i].codes = (uint8_t *)cov_malloc(COV_EDITED_ORIGINALS, p->plan.length, e);
        if (!x->kept[i].codes)
            return COV_ENOMEM;
    }
    if (choose_sizes(p, x)) {
        p->forward_edited = cov_cuda_forward_edited;
        p->edits_many = true; /* two originals take a slot as long as a batch of whole chunks */
    }
    return COV_OK;
}

void cov_cuda_edits_free(struct cov_cuda_program *p)
{
    struct cov_cuda_edits *x = p->edits;
    if (!x)
        return;
    for (size_t i = 0; x->kept && i < p->cards.n * COV_EDIT_KEPT; i++) {
        cov_rt_free(p->cards.card[i / COV_EDIT_KEPT].index, x->kept[i].memory);
        free(x->kept[i].codes);
        free(x->kept[i].values);
    }
    for (size_t i = 0; x->slots && i < p->n_slots; i++) {
        struct cov_edit_slot *s = &x->slots[i];
        const int card = p->cards.card[p->slots[i].card].index;
        cov_rt_free(card, s->strips);
        cov_rt_free(card, s->table);
        cov_rt_free(card, s->edits);
        cov_rt_free_host(card, s->table_host);
        cov_rt_free_host(card, s->edits_host);
        free(s->list);
        free(s->tiles);
    }
    free(x->kept);
    free(x->slots);
    cov_cuda_plan_fini(&x->head.plan);
    cov_cuda_plan_fini(&x->tail.plan);
    pthread_cond_destroy(&x->kept_changed);
    free(x);
    p->edits = NULL;
}

/* Allocates memory of a card, or pinned memory, unless an earlier call did. */
static int get_memory(int card, bool pinned, size_t bytes, void **at, struct cov_err *e)
{
    return *at      ? COV_OK
           : pinned ? cov_rt_alloc_host(card, bytes, at, e)
                    : cov_rt_alloc(card, bytes, at, e);
}

/* Chooses the size of a slot's groups, whose rows are `bytes` per edit: they may take a part of the free memory, so
 * that some is left for other slots and for originals. */
static int choose_group(const struct cov_cuda_program *p, int card, size_t bytes, size_t *most,
                        struct cov_err *e)
{
    enum { PART = 8 };
    size_t free_bytes;
    int rc = cov_rt_free_bytes(card, &free_bytes, e);
    if (rc)
        return rc;
    const size_t fits = free_bytes / PART / bytes;
    *most = fits > p->batch ? p->batch : fits < 1 ? 1 : fits;
    return COV_OK;
}

int cov_edit_slot_fill(const struct cov_cuda_program *p, size_t i, struct cov_err *e)
{
    const struct cov_cuda_edits *x = p->edits;
    struct cov_edit_slot *s = &x->slots[i];
    const int card = p->cards.card[p->slots[i].card].index;
    size_t widest = cov_edit_x_bytes(x);
    for (size_t k = 0; k < cov_edit_lstms(x); k++)
        if (cov_edit_row_bytes(x->lstm[k]) > widest)
            widest = cov_edit_row_bytes(x->lstm[k]);
    const size_t table = x->most_pieces * sizeof(void *),
                 edits = p->batch * sizeof(struct cov_cuda_edit);
    int rc = s->most ? COV_OK : choose_group(p, card, x->t * widest, &s->most, e);
    if (!rc)
        rc = get_memory(card, false, s->most * x->t * widest, &s->strips, e);
    if (!rc)
        rc = get_memory(card, false, table, &s->table, e);
    if (!rc)
        rc = get_memory(card, false, edits, &s->edits, e);
    if (!rc)
        rc = get_memory(card, true, table, &s->table_host, e);
    if (!rc)
        rc = get_memory(card, true, edits, &s->edits_host, e);
    if (!rc && !s->list)
        s->list = (struct cov_edit_chunk *)cov_calloc(p->batch, sizeof *s->list, e);
    if (!rc && !s->tiles)
        s->tiles = (struct cov_edit_tile *)cov_calloc(
            x->most_head > x->most_tail ? x->most_head : x->most_tail, sizeof *s->tiles, e);
    return rc ? rc : s->list && s->tiles ? COV_OK : COV_ENOMEM;
}

int cov_edit_kept_fill(const struct cov_cuda_program *p, size_t card, struct cov_edit_kept *k,
                       struct cov_err *e)
{
    const struct cov_cuda_edits *x = p->edits;
    size_t bytes = 0;
    if (!k->values)
        k->values =
            (float *)cov_malloc(COV_EDITED_ORIGINALS * cov_edit_values(p), sizeof *k->values, e);
    if (!k->values)
        return COV_ENOMEM;
    if (k->memory)
        return COV_OK;
    for (int pass = 0; pass < 2; pass++) { /* sizes, then addresses */
        char *at = (char *)k->memory;
        for (size_t i = 0; i < cov_edit_lstms(x); i++) {
            const struct cov_cuda_step *l = x->lstm[i];
            const size_t n =
                COV_EDITED_ORIGINALS * x->t * (size_t)l->lstm.directions * (size_t)l->lstm.units;
            const size_t sums = cov_rt_round(4 * n * (l->sums_fp16 ? 2 : 4)),
                         y = cov_rt_round(n * cov_edit_h_bytes(l)),
                         cells = cov_rt_round(n * sizeof(float));
            if (!pass) {
                bytes += sums + y + cells;
                continue;
            }
            k->layers[i] = {at, at + sums, (float *)(void *)(at + sums + y)};
            at += sums + y + cells;
        }
        int rc = pass ? COV_OK : cov_rt_alloc(p->cards.card[card].index, bytes, &k->memory, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* ---- originals that are kept ---- */

struct cov_edit_kept *cov_edit_kept_take(struct cov_cuda_program *p, size_t card,
                                         const struct cov_edited_chunks *chunks, bool *made)
{
    struct cov_cuda_edits *x = p->edits;
    struct cov_edit_kept *const all = x->kept + card * COV_EDIT_KEPT, *found;
    const size_t bytes = chunks->n_originals * p->plan.length;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct cov_edit_kept *oldest = NULL;
        found = NULL;
        for (struct cov_edit_kept *k = all; k < all + COV_EDIT_KEPT; k++) {
            if (k->n == chunks->n_originals && memcmp(k->codes, chunks->originals, bytes) == 0)
                found = k;
            if (!k->users && (!oldest || k->used < oldest->used))
                oldest = k;
        }
        if (found && found->made)
            break;
        if (!found && oldest) {
            found = oldest;
            found->made = false;
            found->n = chunks->n_originals;
            memcpy(found->codes, chunks->originals, bytes);
            break;
        }
        pthread_cond_wait(&x->kept_changed, &p->lock);
    }
    *made = found->made;
    found->users++;
    found->used = ++x->now;
    pthread_mutex_unlock(&p->lock);
    return found;
}

void cov_edit_kept_give_back(struct cov_cuda_program *p, struct cov_edit_kept *k)
{
    pthread_mutex_lock(&p->lock);
    k->users--;
    pthread_cond_broadcast(&p->edits->kept_changed);
    pthread_mutex_unlock(&p->lock);
}
