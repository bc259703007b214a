/* cuda_edits.cu - chunks that differ from an original in some positions: forward_edited of device.h.
 *
 * What the LSTM layers computed for the originals of a call, and their values, are kept on the card, for
 * any worker that comes with the same originals. Of edited chunks, many at once:
 *   - the first convolutions are computed in tiles (edit_tiles.h) around the positions that differ;
 *   - each LSTM layer computes the sums over the rows of x that differ, which are collected from tiles
 *     or from the layer before, and steps until its state equals the kept one (lstm_edits.h);
 *   - the last convolutions are computed in tiles where they reach rows that differ, and are wanted.
 * All other values are those of the original.
 *
 * The first edits of a program are computed a second time as whole chunks. If the values differ, all chunks
 * are computed whole from then on.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
#include "common/seq/alphabet.h"
}
#include "common/compute/cuda/cuda_program.h"
#include "common/compute/cuda/edit_tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 8,         /* sets of originals per card: more than its slots, so that one is free */
    TAIL_ROWS = 32,   /* rows of the LSTMs that are wanted of a tile of the last convolutions */
    MUCH_PADDING = 8, /* chunks with this part of padding are computed whole, which shares it */
    MOST_LSTMS = 16,
    CHECKED = 4 /* chunks */
};

/* What is kept of an LSTM layer, for the originals of a call. */
struct kept_layer {
    float *sums;  /* [COV_EDITED_ORIGINALS, t, direction, unit, 4] over x */
    char *y;      /* [COV_EDITED_ORIGINALS, t, direction, unit] float or bf16 */
    float *cells; /* [COV_EDITED_ORIGINALS, t, direction, unit] */
};

/* The originals of a call. */
struct kept {
    unsigned users; /* calls */
    bool made;
    uint64_t used;  /* when, for the choice of the next one to replace */
    size_t n;       /* 0: none */
    uint8_t *codes; /* [COV_EDITED_ORIGINALS, length] */
    float *values;  /* [COV_EDITED_ORIGINALS, length, depth], on padding, too */
    void *memory;   /* on the card: the arrays of the layers */
    struct kept_layer layers[MOST_LSTMS];
};

/* An edited chunk of a group. */
struct edit {
    size_t number, of;           /* within the call; its original */
    struct cov_rows wanted;      /* positions */
    struct cov_rows needed;      /* rows of the last LSTM's output for these */
    struct cov_rows rows;        /* that differ: of the current LSTM's input, then of its output */
    struct cov_rows computed[2]; /* rows of the last LSTM's output, by direction */
    double work;
};

/* What a slot has in addition to its areas. `batch` edits form a group. */
struct edit_slot {
    char *strips;       /* card: [batch, t, row] rows of an LSTM's output that differ; before
                                  * that, the collected rows of the first one's input */
    const void **table; /* card: [most_pieces] */
    struct cov_cuda_edit *edits;   /* card: [batch] */
    void *table_host, *edits_host; /* pinned */
    struct edit *list;             /* [batch] */
    struct cov_edit_tile *tiles;   /* [most_head or most_tail] */
    size_t n, n_tiles;
};

enum edits_state { UNCHECKED, RIGHT, UNUSABLE };

struct cov_cuda_edits {
    size_t lstm_beg, lstm_end, t;                                    /* layers; rows */
    const struct cov_cuda_step *sums[MOST_LSTMS], *lstm[MOST_LSTMS]; /* steps of the plan */
    struct cov_edit_tiles head, tail;
    size_t most_pieces, most_head, most_tail; /* of a group: pieces of rows, and tiles */
    struct kept *kept;                        /* [cards, KEPT] */
    struct edit_slot *slots;                  /* [n_slots] */
    uint64_t now;
    enum edits_state state;
    pthread_cond_t kept_changed;
};

/* ---- sizes ---- */

static size_t bytes_of_h(const struct cov_cuda_step *lstm)
{
    return lstm->lstm.y_bf16 ? 2 : 4;
}

/* Bytes of a direction's part of a row of an LSTM's output. */
static size_t piece_bytes(const struct cov_cuda_step *lstm)
{
    return (size_t)lstm->lstm.units * bytes_of_h(lstm);
}

static size_t row_bytes(const struct cov_cuda_step *lstm)
{
    return (size_t)lstm->lstm.directions * piece_bytes(lstm);
}

/* Bytes of a row that the first LSTM reads. */
static size_t x_bytes(const struct cov_cuda_edits *x)
{
    return (size_t)x->sums[0]->gemm.c * (x->sums[0]->products == COV_CUDA_BF16 ? 2 : 4);
}

static size_t values_of_chunk(const struct cov_cuda_program *p)
{
    return p->plan.length * p->plan.depth;
}

static size_t n_lstms(const struct cov_cuda_edits *x)
{
    return x->lstm_end - x->lstm_beg;
}

/* ---- making ---- */

/* Finds the LSTM layers and their steps. Returns false if the kernels of this file do not support them. */
static bool find_lstms(const struct cov_cuda_program *p, struct cov_cuda_edits *x)
{
    for (size_t i = 0; i < p->plan.n_steps; i++) {
        const struct cov_cuda_step *s = &p->plan.steps[i];
        if (s->kind != COV_CUDA_STEP_LSTM_FP32 && s->kind != COV_CUDA_STEP_LSTM_BF16)
            continue;
        const size_t k = s->lstm_number;
        if (k >= MOST_LSTMS || (s->kind == COV_CUDA_STEP_LSTM_FP32 && !s->lstm.resident))
            return false;
        x->lstm_beg = k == 0 ? s->layer : x->lstm_beg;
        x->lstm_end = s->layer + 1;
        x->sums[k] = s - 1;
        x->lstm[k] = s;
    }
    x->t = p->plan.layers[x->lstm_beg].t_in;
    return n_lstms(x) == p->plan.n_lstms && x->lstm_end > 0 && cov_edit_tiles_fit(&p->plan, x->t);
}

/* Returns the most tiles that any part of these rows takes: one that begins elsewhere may take one more. */
static size_t most_tiles(const struct cov_edit_tiles *tiles, struct cov_rows rows)
{
    return cov_edit_tiles_cut(tiles, 0, rows, NULL) + 1;
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
    return p->batch >= COV_EDITED_ORIGINALS && most_tiles(&x->head, {0, x->t}) <= x->most_head &&
           most_tiles(&x->tail, {0, p->plan.length}) <= x->most_tail;
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
    x->kept = (struct kept *)cov_calloc(p->cards.n * KEPT, sizeof *x->kept, e);
    x->slots = (struct edit_slot *)cov_calloc(p->n_slots, sizeof *x->slots, e);
    if (rc || !x->kept || !x->slots)
        return COV_ENOMEM;
    for (size_t i = 0; i < p->cards.n * KEPT; i++) {
        x->kept[i].codes = (uint8_t *)cov_malloc(COV_EDITED_ORIGINALS, p->plan.length, e);
        if (!x->kept[i].codes)
            return COV_ENOMEM;
    }
    if (choose_sizes(p, x))
        p->forward_edited = cov_cuda_forward_edited;
    return COV_OK;
}

void cov_cuda_edits_free(struct cov_cuda_program *p)
{
    struct cov_cuda_edits *x = p->edits;
    if (!x)
        return;
    for (size_t i = 0; x->kept && i < p->cards.n * KEPT; i++) {
        cov_rt_free(p->cards.card[i / KEPT].index, x->kept[i].memory);
        free(x->kept[i].codes);
        free(x->kept[i].values);
    }
    for (size_t i = 0; x->slots && i < p->n_slots; i++) {
        struct edit_slot *s = &x->slots[i];
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

/* Allocates what a slot needs for edits, the first time. */
static int fill_slot(const struct cov_cuda_program *p, size_t i, struct cov_err *e)
{
    const struct cov_cuda_edits *x = p->edits;
    struct edit_slot *s = &x->slots[i];
    const int card = p->cards.card[p->slots[i].card].index;
    size_t widest = x_bytes(x);
    void *table, *edits, *strips;
    if (s->tiles)
        return COV_OK;
    for (size_t k = 0; k < n_lstms(x); k++)
        widest = row_bytes(x->lstm[k]) > widest ? row_bytes(x->lstm[k]) : widest;
    int rc = cov_rt_alloc(card, p->batch * x->t * widest, &strips, e);
    s->strips = rc ? NULL : (char *)strips;
    if (!rc)
        rc = cov_rt_alloc(card, x->most_pieces * sizeof *s->table, &table, e);
    s->table = rc ? NULL : (const void **)table;
    if (!rc)
        rc = cov_rt_alloc(card, p->batch * sizeof *s->edits, &edits, e);
    s->edits = rc ? NULL : (struct cov_cuda_edit *)edits;
    if (!rc)
        rc = cov_rt_alloc_host(card, x->most_pieces * sizeof *s->table, &s->table_host, e);
    if (!rc)
        rc = cov_rt_alloc_host(card, p->batch * sizeof *s->edits, &s->edits_host, e);
    if (rc)
        return rc;
    s->list = (struct edit *)cov_calloc(p->batch, sizeof *s->list, e);
    s->tiles = (struct cov_edit_tile *)cov_calloc(
        x->most_head > x->most_tail ? x->most_head : x->most_tail, sizeof *s->tiles, e);
    return s->list && s->tiles ? COV_OK : COV_ENOMEM;
}

/* Allocates the memory of originals, the first time. */
static int fill_kept(const struct cov_cuda_program *p, size_t card, struct kept *k,
                     struct cov_err *e)
{
    const struct cov_cuda_edits *x = p->edits;
    size_t bytes = 0;
    if (!k->values)
        k->values =
            (float *)cov_malloc(COV_EDITED_ORIGINALS * values_of_chunk(p), sizeof *k->values, e);
    if (!k->values)
        return COV_ENOMEM;
    if (k->memory)
        return COV_OK;
    for (int pass = 0; pass < 2; pass++) { /* sizes, then addresses */
        char *at = (char *)k->memory;
        for (size_t i = 0; i < n_lstms(x); i++) {
            const struct cov_cuda_lstm *l = &x->lstm[i]->lstm;
            const size_t floats =
                COV_EDITED_ORIGINALS * x->t * (size_t)l->directions * (size_t)l->units;
            const size_t cells = cov_rt_round(floats * sizeof(float)),
                         y = cov_rt_round(floats * bytes_of_h(x->lstm[i]));
            bytes += pass ? 0 : 5 * cells + y;
            if (!pass)
                continue;
            k->layers[i] = {(float *)(void *)at, at + 4 * cells,
                            (float *)(void *)(at + 4 * cells + y)};
            at += 5 * cells + y;
        }
        int rc = pass ? COV_OK : cov_rt_alloc(p->cards.card[card].index, bytes, &k->memory, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* ---- originals that are kept ---- */

/* Returns the kept originals of the call, or free ones to make (*made is false then); waits while another call
 * makes them. The caller is one of their users afterwards. */
static struct kept *take_kept(struct cov_cuda_program *p, size_t card,
                              const struct cov_edited_chunks *chunks, bool *made)
{
    struct cov_cuda_edits *x = p->edits;
    struct kept *const all = x->kept + card * KEPT, *found;
    const size_t bytes = chunks->n_originals * p->plan.length;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct kept *oldest = NULL;
        found = NULL;
        for (struct kept *k = all; k < all + KEPT; k++) {
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

/* Ends the use of originals. */
static void give_back_kept(struct cov_cuda_program *p, struct kept *k)
{
    pthread_mutex_lock(&p->lock);
    k->users--;
    pthread_cond_broadcast(&p->edits->kept_changed);
    pthread_mutex_unlock(&p->lock);
}

/* ---- the parts of a forward pass ---- */

/* A call on a slot. */
struct run {
    struct cov_cuda_program *p;
    const struct cov_cuda_edits *x;
    struct cov_cuda_slot *s;
    struct edit_slot *es;
    struct kept *kept;
    const struct cov_edited_chunks *chunks;
    float *out;
    const char *weights;
    char *area[COV_CUDA_N_AREAS];
    double work; /* of all chunks */
};

static int copy_edits_in(const struct run *r, size_t n, struct cov_err *e)
{
    return cov_rt_copy_in(r->s->stream, r->es->edits, r->es->edits_host, n * sizeof *r->es->edits,
                          e);
}

/* Queues the steps of LSTM i for n sequences; with `cells`, for originals. */
static int queue_lstm(const struct run *r, size_t i, size_t n, const void *sums, void *y,
                      float *cells, struct cov_err *e)
{
    const struct cov_cuda_step *step = r->x->lstm[i];
    const struct kept_layer *kept = &r->kept->layers[i];
    struct cov_cuda_lstm_edits l = {};
    l.gates = (const float *)sums;
    l.kept_gates = kept->sums;
    l.kept_y = kept->y;
    l.kept_cells = kept->cells;
    l.w = r->weights + step->w;
    l.y = y;
    l.cells = cells;
    l.edits = r->es->edits;
    l.n = (int)n;
    l.t = step->lstm.t;
    l.directions = step->lstm.directions;
    l.units = step->lstm.units;
    l.y_bf16 = step->lstm.y_bf16;
    if (step->kind == COV_CUDA_STEP_LSTM_BF16)
        cov_cuda_lstm_edits_bf16(&l, r->s->stream);
    else
        cov_cuda_lstm_edits_resident(&l, r->s->stream);
    return cov_rt_launched("steps of an LSTM after edits", e);
}

/* Puts codes of `n` chunks of `length` bases on the card: those of at(i), or with NULL, N everywhere, for
 * values on padding, too. */
template <typename At>
static int copy_codes(const struct run *r, size_t n, size_t length, At at, struct cov_err *e)
{
    const size_t bytes = (length + 1) / 2;
    for (size_t i = 0; i < n; i++) {
        uint8_t *to = (uint8_t *)r->s->codes + i * bytes;
        const uint8_t *from = at(i);
        if (from)
            cov_codes_pack(from, length, to);
        else
            memset(to, COV_CODE_N | COV_CODE_N << 4, bytes);
    }
    return cov_rt_copy_in(r->s->stream, r->area[COV_CUDA_CODES], r->s->codes, n * bytes, e);
}

static const uint8_t *no_codes(size_t)
{
    return NULL;
}

/* Queues the steps of layers [beg, end) of a plan for n chunks. */
static int queue_layers(const struct run *r, const struct cov_cuda_plan *plan,
                        struct cov_rows layers, size_t n, char *const area[COV_CUDA_N_AREAS],
                        struct cov_err *e)
{
    struct cov_cuda_batch batch;
    int rc = COV_OK;
    cov_cuda_batch_full(plan, n, r->s->ends, &batch);
    batch.card = r->p->cards.card[r->s->card].index;
    for (size_t i = 0; !rc && i < plan->n_steps; i++)
        if (plan->steps[i].layer >= layers.beg && plan->steps[i].layer < layers.end)
            rc = cov_cuda_plan_queue(plan, &plan->steps[i], &batch, r->weights, area, r->s->stream,
                                     e);
    return rc;
}

static int finish(const struct run *r, int rc, struct cov_err *e)
{
    return cov_rt_finish(r->s->stream, rc, e);
}

/* Computes the originals. */
static int make_kept(struct run *r, struct cov_err *e)
{
    struct cov_cuda_program *p = r->p;
    const struct cov_cuda_edits *x = r->x;
    struct kept *k = r->kept;
    const size_t n = r->chunks->n_originals, L = p->plan.length;
    struct cov_cuda_edit *edits = (struct cov_cuda_edit *)r->es->edits_host;
    const void *rows = r->area[x->sums[0]->from];
    for (size_t b = 0; b < n; b++)
        edits[b] = {(int)b, 0, (int)x->t, (int)(b * x->t), {(int)x->t, 0}, {0, 0}};
    int rc = copy_codes(
        r, n, L, [&](size_t i) { return r->chunks->originals + i * L; }, e);
    if (!rc)
        rc = copy_edits_in(r, n, e);
    if (!rc)
        rc = queue_layers(r, &p->plan, {0, x->lstm_beg}, n, r->area, e);
    for (size_t i = 0; !rc && i < n_lstms(x); i++) {
        rc = cov_cuda_plan_queue_sums(x->sums[i], (int)(n * x->t), r->weights, rows,
                                      k->layers[i].sums, r->s->stream, e);
        if (!rc)
            rc = queue_lstm(r, i, n, k->layers[i].sums, k->layers[i].y, k->layers[i].cells, e);
        rows = k->layers[i].y;
    }
    rc = finish(r, rc, e); /* the codes in pinned memory are replaced */
    char *area[COV_CUDA_N_AREAS];
    memcpy(area, r->area, sizeof area);
    const struct cov_cuda_step *after = x->lstm[n_lstms(x) - 1] + 1;
    if (!rc)
        rc = copy_codes(r, n, L, no_codes, e);
    /* Rows of the LSTM are read where they are kept; other steps may write to that area. */
    for (const struct cov_cuda_step *s = after; !rc && s < p->plan.steps + p->plan.n_steps; s++) {
        struct cov_cuda_batch batch;
        cov_cuda_batch_full(&p->plan, n, r->s->ends, &batch);
        batch.card = p->cards.card[r->s->card].index;
        area[after->from] =
            s->layer == after->layer ? k->layers[n_lstms(x) - 1].y : r->area[after->from];
        rc = cov_cuda_plan_queue(&p->plan, s, &batch, r->weights, area, r->s->stream, e);
    }
    const size_t bytes = n * values_of_chunk(p) * sizeof(float);
    if (!rc)
        rc = cov_rt_copy_out(r->s->stream, r->s->values, r->area[COV_CUDA_VALUES], bytes, e);
    rc = finish(r, rc, e);
    if (!rc)
        memcpy(k->values, r->s->values, bytes);
    r->work += (double)n * p->full_work;
    return rc;
}

/* ---- a group of edited chunks ---- */

/* Returns the positions from the first to the last one where two chunks differ. */
static struct cov_rows differences(const uint8_t *a, const uint8_t *b, size_t n)
{
    enum { STEP = 64 };
    size_t beg = 0, end = n;
    while (beg + STEP <= n && memcmp(a + beg, b + beg, STEP) == 0)
        beg += STEP;
    while (beg < n && a[beg] == b[beg])
        beg++;
    while (end >= beg + STEP && memcmp(a + end - STEP, b + end - STEP, STEP) == 0)
        end -= STEP;
    while (end > beg && a[end - 1] == b[end - 1])
        end--;
    return {beg, end};
}

/* Sets what is known of an edit before anything is computed. */
static void plan_edit(const struct run *r, size_t number, struct edit *edit)
{
    const struct cov_cuda_plan *plan = &r->p->plan;
    const struct cov_edited_chunk *chunk = &r->chunks->chunks[number];
    const size_t L = plan->length;
    *edit = {};
    edit->number = number;
    edit->of = chunk->of;
    edit->wanted = {chunk->beg, chunk->end};
    edit->needed = edit->wanted;
    for (size_t i = plan->n_layers; i > r->x->lstm_end && edit->needed.beg < edit->needed.end; i--)
        edit->needed = cov_plan_rows_read(&plan->layers[i - 1], edit->needed.beg, edit->needed.end);
    if (edit->needed.beg >= edit->needed.end)
        return;
    struct cov_rows rows =
        differences(r->chunks->originals + chunk->of * L, r->chunks->codes + number * L, L);
    rows = cov_edit_tiles_reached(plan, {0, r->x->lstm_beg}, rows);
    if (rows.beg < rows.end)
        edit->rows = rows;
}

/* Plans the next edits, from *next on, as many as fit into the slot. */
static void plan_group(const struct run *r, size_t *next)
{
    const struct cov_cuda_edits *x = r->x;
    struct edit_slot *es = r->es;
    size_t n_head = 0, n_tail = 0;
    es->n = 0;
    for (; *next < r->chunks->n && es->n < r->p->batch; (*next)++) {
        struct edit *edit = &es->list[es->n];
        plan_edit(r, *next, edit);
        n_head += most_tiles(&x->head, edit->rows);
        n_tail += most_tiles(&x->tail, edit->wanted);
        if (es->n > 0 && (n_head > x->most_head || n_tail > x->most_tail))
            break;
        es->n++;
    }
}

/* Adds up the multiplications of rows of the tiles' layers. */
static double work_of_tile(const struct cov_edit_tiles *tiles)
{
    double work = 0;
    for (size_t i = tiles->beg; i < tiles->end; i++)
        work += (double)tiles->plan.layers[i].t_out * cov_plan_work_of_row(&tiles->plan.layers[i]);
    return work;
}

/* Copies the pieces of the table, n pieces of `bytes` bytes, to an area. */
static int collect(const struct run *r, size_t n, size_t bytes, void *to, struct cov_err *e)
{
    int rc =
        cov_rt_copy_in(r->s->stream, r->es->table, r->es->table_host, n * sizeof *r->es->table, e);
    if (rc)
        return rc;
    cov_cuda_copy_rows(r->es->table, to, (int)bytes, n, r->s->stream);
    return cov_rt_launched("rows after edits", e);
}

/* Computes the first convolutions, and collects the rows that differ, for the first LSTM. */
static int run_head(const struct run *r, struct cov_err *e)
{
    const struct cov_cuda_edits *x = r->x;
    struct edit_slot *es = r->es;
    const size_t L = r->p->plan.length, in = x->head.in;
    const int from = x->sums[0]->from;
    const size_t bytes = x_bytes(x);
    const void **table = (const void **)es->table_host;
    size_t n = 0;
    es->n_tiles = 0;
    for (size_t k = 0; k < es->n; k++)
        es->n_tiles += cov_edit_tiles_cut(&x->head, k, es->list[k].rows, es->tiles + es->n_tiles);
    int rc = copy_codes(
        r, es->n_tiles, x->head.rows * in,
        [&](size_t i) {
            const struct cov_edit_tile *tile = &es->tiles[i];
            return r->chunks->codes + es->list[tile->chunk].number * L + tile->first * in;
        },
        e);
    if (!rc)
        rc = queue_layers(r, &x->head.plan, {0, x->lstm_beg}, es->n_tiles, r->area, e);
    for (size_t i = 0; i < es->n_tiles; i++) {
        const struct cov_edit_tile *tile = &es->tiles[i];
        for (size_t t = tile->beg; t < tile->end; t++)
            table[n++] = r->area[from] + (i * x->head.rows + t - tile->first) * bytes;
        es->list[tile->chunk].work += work_of_tile(&x->head);
    }
    return rc ? rc : collect(r, n, bytes, es->strips, e);
}

/* Returns the address of direction d of row t of an edit's output of LSTM i: where it was computed, or kept. */
static const void *place_of(const struct run *r, size_t i, size_t k, size_t t, size_t d)
{
    const struct cov_cuda_step *lstm = r->x->lstm[i];
    const struct edit *edit = &r->es->list[k];
    const bool computed = t >= edit->computed[d].beg && t < edit->computed[d].end;
    const char *from = computed ? r->es->strips : r->kept->layers[i].y;
    return from + ((computed ? k : edit->of) * r->x->t + t) * row_bytes(lstm) +
           d * piece_bytes(lstm);
}

/* Adds the pieces of rows of LSTM i to the table, from piece n on; returns the number after it. */
static size_t add_pieces(const struct run *r, size_t i, size_t k, struct cov_rows rows, size_t n)
{
    const void **table = (const void **)r->es->table_host;
    const size_t directions = (size_t)r->x->lstm[i]->lstm.directions;
    for (size_t t = rows.beg; t < rows.end; t++)
        for (size_t d = 0; d < directions; d++)
            table[n++] = place_of(r, i, k, t, d);
    return n;
}

/* Sets the edits of LSTM i, given the rows of its input that differ; returns the number of rows. */
static size_t list_edits(const struct run *r, size_t i)
{
    const struct cov_cuda_edits *x = r->x;
    struct cov_cuda_edit *edits = (struct cov_cuda_edit *)r->es->edits_host;
    const bool ends = i + 1 == n_lstms(x) || x->lstm[i]->lstm.directions == 1;
    size_t row = 0;
    for (size_t k = 0; k < r->es->n; k++) {
        const struct edit *edit = &r->es->list[k];
        edits[k] = {(int)edit->of,
                    (int)edit->rows.beg,
                    (int)edit->rows.end,
                    (int)row,
                    {ends ? (int)edit->needed.end : (int)x->t,
                     i + 1 == n_lstms(x) ? (int)edit->needed.beg : 0},
                    {(int)edit->rows.beg, (int)edit->rows.end}};
        row += edit->rows.end - edit->rows.beg;
    }
    return row;
}

/* Sets the rows of an LSTM's output that differ, from what the card reports. */
static void read_edits(const struct run *r, size_t i)
{
    const struct cov_cuda_edit *edits = (const struct cov_cuda_edit *)r->es->edits_host;
    const struct cov_layer *l = &r->p->plan.layers[r->x->lstm_beg + i];
    for (size_t k = 0; k < r->es->n; k++) {
        struct edit *edit = &r->es->list[k];
        const struct cov_rows in = edit->rows;
        size_t steps = 0;
        edit->computed[0] = {in.beg, (size_t)edits[k].stop[0]};
        edit->computed[1] = {in.end, in.end};
        if (l->directions == 2)
            edit->computed[1] = {(size_t)edits[k].stop[1], in.end};
        edit->rows = {r->x->t, 0};
        for (const struct cov_rows &rows : edit->computed) {
            if (rows.beg >= rows.end)
                continue;
            edit->rows.beg = rows.beg < edit->rows.beg ? rows.beg : edit->rows.beg;
            edit->rows.end = rows.end > edit->rows.end ? rows.end : edit->rows.end;
            steps += rows.end - rows.beg;
        }
        if (edit->rows.beg >= edit->rows.end)
            edit->rows = {0, 0};
        edit->work += cov_plan_work_of_lstm(l, (in.end - in.beg) * l->directions, steps);
    }
}

/* Computes all LSTM layers, from the collected rows of the first one's input. */
static int run_lstms(const struct run *r, struct cov_err *e)
{
    const struct cov_cuda_edits *x = r->x;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n_lstms(x); i++) {
        size_t n = list_edits(r, i);
        if (n == 0)
            return COV_OK;
        char *const rows = i > 0 ? r->area[x->sums[i]->from] : r->es->strips;
        if (i > 0) {
            size_t pieces = 0;
            for (size_t k = 0; k < r->es->n; k++)
                pieces = add_pieces(r, i - 1, k, r->es->list[k].rows, pieces);
            rc = collect(r, pieces, piece_bytes(x->lstm[i - 1]), rows, e);
        }
        if (!rc)
            rc = cov_cuda_plan_queue_sums(x->sums[i], (int)n, r->weights, rows,
                                          r->area[COV_CUDA_GATES], r->s->stream, e);
        if (!rc)
            rc = copy_edits_in(r, r->es->n, e);
        if (!rc)
            rc = queue_lstm(r, i, r->es->n, r->area[COV_CUDA_GATES], r->es->strips, NULL, e);
        if (!rc)
            rc = cov_rt_copy_out(r->s->stream, r->es->edits_host, r->es->edits,
                                 r->es->n * sizeof *r->es->edits, e);
        rc = finish(r, rc, e);
        if (!rc)
            read_edits(r, i);
    }
    return rc;
}

/* Computes the last convolutions where they reach rows that differ, and are wanted, into the slot's values. */
static int run_tail(const struct run *r, struct cov_err *e)
{
    const struct cov_cuda_edits *x = r->x;
    const struct cov_cuda_plan *plan = &r->p->plan;
    struct edit_slot *es = r->es;
    const size_t last = n_lstms(x) - 1;
    const struct cov_cuda_step *after = x->lstm[last] + 1;
    size_t pieces = 0;
    es->n_tiles = 0;
    for (size_t k = 0; k < es->n; k++) {
        struct edit *edit = &es->list[k];
        struct cov_rows rows =
            cov_edit_tiles_reached(plan, {x->lstm_end, plan->n_layers}, edit->rows);
        rows.beg = rows.beg > edit->wanted.beg ? rows.beg : edit->wanted.beg;
        rows.end = rows.end < edit->wanted.end ? rows.end : edit->wanted.end;
        es->n_tiles += cov_edit_tiles_cut(&x->tail, k, rows, es->tiles + es->n_tiles);
    }
    for (size_t i = 0; i < es->n_tiles; i++) {
        const size_t first = es->tiles[i].first;
        pieces = add_pieces(r, last, es->tiles[i].chunk, {first, first + x->tail.rows}, pieces);
        es->list[es->tiles[i].chunk].work += work_of_tile(&x->tail);
    }
    if (es->n_tiles == 0)
        return COV_OK;
    const size_t length = x->tail.plan.length;
    int rc = collect(r, pieces, piece_bytes(x->lstm[last]), r->area[after->from], e);
    if (!rc)
        rc = copy_codes(r, es->n_tiles, length, no_codes, e);
    if (!rc)
        rc = queue_layers(r, &x->tail.plan, {x->lstm_end, plan->n_layers}, es->n_tiles, r->area, e);
    if (!rc)
        rc = cov_rt_copy_out(r->s->stream, r->s->values, r->area[COV_CUDA_VALUES],
                             es->n_tiles * length * plan->depth * sizeof(float), e);
    return finish(r, rc, e);
}

/* Sets the wanted values of the group's chunks: those of the original, then those of the tiles. */
static void take_group(const struct run *r)
{
    const struct edit_slot *es = r->es;
    const size_t D = r->p->plan.depth, L = r->p->plan.length, n = values_of_chunk(r->p);
    const size_t length = r->x->tail.plan.length;
    for (size_t k = 0; k < es->n; k++) {
        const struct edit *edit = &es->list[k];
        if (edit->wanted.beg < edit->wanted.end)
            memcpy(r->out + edit->number * n + edit->wanted.beg * D,
                   r->kept->values + edit->of * n + edit->wanted.beg * D,
                   (edit->wanted.end - edit->wanted.beg) * D * sizeof *r->out);
    }
    for (size_t i = 0; i < es->n_tiles; i++) {
        const struct cov_edit_tile *tile = &es->tiles[i];
        const size_t before = tile->beg - tile->first * r->x->tail.out;
        memcpy(r->out + es->list[tile->chunk].number * n + tile->beg * D,
               (const float *)r->s->values + (i * length + before) * D,
               (tile->end - tile->beg) * D * sizeof *r->out);
    }
    for (size_t k = 0; k < es->n; k++) {
        const struct edit *edit = &es->list[k];
        const uint8_t *codes = r->chunks->codes + edit->number * L;
        for (size_t i = edit->wanted.beg; i < edit->wanted.end; i++)
            for (size_t d = 0; d < D && codes[i] == COV_CODE_PAD; d++)
                r->out[edit->number * n + i * D + d] = COV_PAD_VALUE;
    }
}

static int run_group(struct run *r, size_t *next, struct cov_err *e)
{
    plan_group(r, next);
    bool any = false;
    for (size_t k = 0; k < r->es->n; k++)
        any = any || r->es->list[k].rows.beg < r->es->list[k].rows.end;
    r->es->n_tiles = 0;
    int rc = any ? run_head(r, e) : COV_OK;
    if (!rc && any)
        rc = run_lstms(r, e);
    if (!rc && any)
        rc = run_tail(r, e);
    if (rc)
        return finish(r, rc, NULL);
    take_group(r);
    for (size_t k = 0; k < r->es->n; k++)
        r->work += r->es->list[k].work;
    return COV_OK;
}

/* ---- calls ---- */

static bool has_much_padding(const struct cov_cuda_program *p,
                             const struct cov_edited_chunks *chunks)
{
    const size_t L = p->plan.length;
    for (size_t b = 0; b < chunks->n_originals; b++) {
        size_t filled = L;
        while (filled > 0 && chunks->originals[b * L + filled - 1] == COV_CODE_PAD)
            filled--;
        if (filled == 0 || L - filled > L / MUCH_PADDING)
            return true;
    }
    return false;
}

static void count(const struct run *r, size_t n)
{
    struct cov_cuda_program *p = r->p;
    const double part = r->work / (p->full_work * (double)n);
    const uint64_t all = n * p->plan.length,
                   computed = part < 1 ? (uint64_t)(part * (double)all + 0.5) : all;
    pthread_mutex_lock(&p->lock);
    p->counts.positions_computed += computed;
    p->counts.positions_at_rest += all - computed;
    pthread_mutex_unlock(&p->lock);
}

/* Computes a call on a slot. `made`: the originals are known. */
static int run_slot(struct run *r, bool made, struct cov_err *e)
{
    struct cov_cuda_program *p = r->p;
    int rc = fill_slot(p, (size_t)(r->s - p->slots), e);
    if (!rc)
        rc = fill_kept(p, r->s->card, r->kept, e);
    if (!rc)
        rc = cov_rt_use(p->cards.card[r->s->card].index, e);
    if (!rc && !made)
        rc = make_kept(r, e);
    if (!made) {
        pthread_mutex_lock(&p->lock);
        r->kept->made = !rc;
        r->kept->n = rc ? 0 : r->kept->n;
        pthread_cond_broadcast(&r->p->edits->kept_changed);
        pthread_mutex_unlock(&p->lock);
    }
    for (size_t next = 0; !rc && next < r->chunks->n;)
        rc = run_group(r, &next, e);
    return rc ? cov_cuda_name_card(p, r->s->card, rc, e) : COV_OK;
}

static enum edits_state state_of(struct cov_cuda_program *p)
{
    pthread_mutex_lock(&p->lock);
    const enum edits_state state = p->edits->state;
    pthread_mutex_unlock(&p->lock);
    return state;
}

static void set_state(struct cov_cuda_program *p, enum edits_state state)
{
    pthread_mutex_lock(&p->lock);
    p->edits->state = state;
    pthread_mutex_unlock(&p->lock);
}

/* Sets *effect and *error to the largest difference of a chunk's wanted values from those of its original, and from
 * those of the whole chunk, relative to the largest of the latter. */
static void compare(const struct run *r, size_t number, const float *whole, double *effect,
                    double *error)
{
    const struct cov_edited_chunk *chunk = &r->chunks->chunks[number];
    const size_t D = r->p->plan.depth, n = values_of_chunk(r->p);
    double largest = 1e-30, most = 0, off = 0;
    for (size_t i = chunk->beg * D; i < chunk->end * D; i++) {
        const double v = (double)whole[i];
        const double changed = fabs(v - (double)r->kept->values[chunk->of * n + i]);
        const double wrong = fabs(v - (double)r->out[number * n + i]);
        largest = fabs(v) > largest ? fabs(v) : largest;
        most = changed > most ? changed : most;
        off = wrong <= off ? off : isnan(wrong) ? INFINITY : wrong;
    }
    *effect = most / largest;
    *error = off / largest;
}

/* Compares the first chunks of a call that differ from their originals with whole chunks. If they are wrong,
 * notes it, so that all chunks are computed whole. */
static int check(const struct run *r, unsigned worker, struct cov_err *e)
{
    struct cov_cuda_program *p = r->p;
    const size_t L = p->plan.length, n = values_of_chunk(p);
    const bool exact = p->cards.arithmetic.conv == COV_CUDA_FP32;
    size_t numbers[CHECKED], n_checked = 0;
    for (size_t i = 0; i < r->chunks->n && n_checked < CHECKED; i++)
        if (memcmp(r->chunks->codes + i * L, r->chunks->originals + r->chunks->chunks[i].of * L,
                   L) != 0)
            numbers[n_checked++] = i;
    if (n_checked == 0)
        return COV_OK;
    uint8_t *codes = (uint8_t *)cov_malloc(n_checked, L, e);
    float *whole = (float *)cov_malloc(n_checked * n, sizeof *whole, e);
    int rc = codes && whole ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n_checked; i++)
        memcpy(codes + i * L, r->chunks->codes + numbers[i] * L, L);
    if (!rc)
        rc = p->ops->forward(p, worker, n_checked, codes, whole, e);
    bool right = true;
    for (size_t i = 0; !rc && i < n_checked; i++) {
        double effect, error;
        compare(r, numbers[i], whole + i * n, &effect, &error);
        /* Rounding, and a small part of what the edit changes. */
        const double allowed = (exact ? 1e-5 : 1e-3) + effect / 20;
        cov_debug("%s: a chunk after an edit is off by %.2g, %.2g allowed",
                  p->cards.card[r->s->card].name, error, allowed);
        right = right && error <= allowed;
    }
    if (!rc && !right)
        cov_warn("%s computes wrong values after edits; computing all windows in full",
                 p->cards.card[r->s->card].name);
    if (!rc)
        set_state(p, right ? RIGHT : UNUSABLE);
    free(codes);
    free(whole);
    return rc;
}

int cov_cuda_forward_edited(struct cov_program *base, unsigned worker,
                            const struct cov_edited_chunks *chunks, float *out, struct cov_err *e)
{
    struct cov_cuda_program *p = (struct cov_cuda_program *)base;
    const size_t card = worker % p->cards.n;
    bool made;
    if (state_of(p) == UNUSABLE || has_much_padding(p, chunks))
        return p->ops->forward(p, worker, chunks->n, chunks->codes, out, e);
    struct run r = {};
    struct cov_err why = COV_ERR_INIT;
    r.p = p;
    r.x = p->edits;
    r.chunks = chunks;
    r.out = out;
    r.kept = take_kept(p, card, chunks, &made);
    r.s = cov_cuda_slot_take(p, (int)card);
    r.es = &p->edits->slots[r.s - p->slots];
    r.weights = (const char *)p->weights[card];
    cov_cuda_slot_areas(p, r.s, r.area);
    int rc = run_slot(&r, made, &why);
    cov_cuda_slot_give_back(p, r.s);
    if (!rc)
        count(&r, chunks->n + (made ? 0 : chunks->n_originals));
    if (!rc && state_of(p) == UNCHECKED)
        rc = check(&r, worker, &why);
    give_back_kept(p, r.kept);
    if (rc == COV_ENOMEM) {
        cov_info("%s; computing all windows in full", why.text);
        set_state(p, UNUSABLE);
    }
    if (rc == COV_ENOMEM || (!rc && state_of(p) == UNUSABLE))
        return p->ops->forward(p, worker, chunks->n, chunks->codes, out, e);
    return rc ? cov_fail(e, rc, "%s", why.text) : COV_OK;
}
