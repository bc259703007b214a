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
#include "common/compute/cuda/cuda_edits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MUCH_PADDING = 8, /* chunks with this part of padding are computed whole, which shares it */
    CHECKED = 4       /* chunks */
};

/* ---- the parts of a forward pass ---- */

/* A call on a slot. */
struct run {
    struct cov_cuda_program *p;
    const struct cov_cuda_edits *x;
    struct cov_cuda_slot *s;
    struct cov_edit_slot *es;
    struct cov_edit_kept *kept;
    const struct cov_edited_chunks *chunks;
    float *out;
    const char *weights;
    char *area[COV_CUDA_N_AREAS];
    double work; /* of all chunks */
};

static int copy_edits_in(const struct run *r, size_t n, struct cov_err *e)
{
    return cov_rt_copy_in(r->s->stream, r->es->edits, r->es->edits_host,
                          n * sizeof(struct cov_cuda_edit), e);
}

/* Queues the steps of LSTM i for n sequences; with `cells`, for originals. */
static int queue_lstm(const struct run *r, size_t i, size_t n, const void *sums, void *y,
                      float *cells, struct cov_err *e)
{
    const struct cov_cuda_step *step = r->x->lstm[i];
    const struct cov_edit_kept_layer *kept = &r->kept->layers[i];
    struct cov_cuda_lstm_edits l = {};
    l.gates = sums;
    l.gates_fp16 = step->sums_fp16;
    l.kept_gates = kept->sums;
    l.kept_y = kept->y;
    l.kept_cells = kept->cells;
    l.w = r->weights + step->w;
    l.y = y;
    l.cells = cells;
    l.edits = (struct cov_cuda_edit *)r->es->edits;
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
    struct cov_edit_kept *k = r->kept;
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
    for (size_t i = 0; !rc && i < cov_edit_lstms(x); i++) {
        rc = cov_cuda_plan_queue_sums(x->sums[i], (int)(n * x->t), r->weights, rows,
                                      k->layers[i].sums, r->s->stream, e);
        if (!rc)
            rc = queue_lstm(r, i, n, k->layers[i].sums, k->layers[i].y, k->layers[i].cells, e);
        rows = k->layers[i].y;
    }
    rc = finish(r, rc, e); /* the codes in pinned memory are replaced */
    char *area[COV_CUDA_N_AREAS];
    memcpy(area, r->area, sizeof area);
    const struct cov_cuda_step *after = x->lstm[cov_edit_lstms(x) - 1] + 1;
    if (!rc)
        rc = copy_codes(r, n, L, no_codes, e);
    /* Rows of the LSTM are read where they are kept; other steps may write to that area. */
    for (const struct cov_cuda_step *s = after; !rc && s < p->plan.steps + p->plan.n_steps; s++) {
        struct cov_cuda_batch batch;
        cov_cuda_batch_full(&p->plan, n, r->s->ends, &batch);
        batch.card = p->cards.card[r->s->card].index;
        area[after->from] =
            s->layer == after->layer ? k->layers[cov_edit_lstms(x) - 1].y : r->area[after->from];
        rc = cov_cuda_plan_queue(&p->plan, s, &batch, r->weights, area, r->s->stream, e);
    }
    const size_t bytes = n * cov_edit_values(p) * sizeof(float);
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
static void plan_edit(const struct run *r, size_t number, struct cov_edit_chunk *edit)
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
    struct cov_edit_slot *es = r->es;
    size_t n_head = 0, n_tail = 0;
    es->n = 0;
    for (; *next < r->chunks->n && es->n < es->most; (*next)++) {
        struct cov_edit_chunk *edit = &es->list[es->n];
        plan_edit(r, *next, edit);
        n_head += cov_edit_tiles_most(&x->head, edit->rows);
        n_tail += cov_edit_tiles_most(&x->tail, edit->wanted);
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
    int rc = cov_rt_copy_in(r->s->stream, r->es->table, r->es->table_host, n * sizeof(void *), e);
    if (rc)
        return rc;
    cov_cuda_copy_rows((const void *const *)r->es->table, to, (int)bytes, n, r->s->stream);
    return cov_rt_launched("rows after edits", e);
}

/* Computes the first convolutions, and collects the rows that differ, for the first LSTM. */
static int run_head(const struct run *r, struct cov_err *e)
{
    const struct cov_cuda_edits *x = r->x;
    struct cov_edit_slot *es = r->es;
    const size_t L = r->p->plan.length, in = x->head.in;
    const int from = x->sums[0]->from;
    const size_t bytes = cov_edit_x_bytes(x);
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
    const struct cov_edit_chunk *edit = &r->es->list[k];
    const bool computed = t >= edit->computed[d].beg && t < edit->computed[d].end;
    const char *from = computed ? (const char *)r->es->strips : r->kept->layers[i].y;
    return from + ((computed ? k : edit->of) * r->x->t + t) * cov_edit_row_bytes(lstm) +
           d * cov_edit_piece_bytes(lstm);
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
    const bool ends = i + 1 == cov_edit_lstms(x) || x->lstm[i]->lstm.directions == 1;
    size_t row = 0;
    for (size_t k = 0; k < r->es->n; k++) {
        const struct cov_edit_chunk *edit = &r->es->list[k];
        edits[k] = {(int)edit->of,
                    (int)edit->rows.beg,
                    (int)edit->rows.end,
                    (int)row,
                    {ends ? (int)edit->needed.end : (int)x->t,
                     i + 1 == cov_edit_lstms(x) ? (int)edit->needed.beg : 0},
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
        struct cov_edit_chunk *edit = &r->es->list[k];
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
    for (size_t i = 0; !rc && i < cov_edit_lstms(x); i++) {
        size_t n = list_edits(r, i);
        if (n == 0)
            return COV_OK;
        void *const rows = i > 0 ? r->area[x->sums[i]->from] : r->es->strips;
        if (i > 0) {
            size_t pieces = 0;
            for (size_t k = 0; k < r->es->n; k++)
                pieces = add_pieces(r, i - 1, k, r->es->list[k].rows, pieces);
            rc = collect(r, pieces, cov_edit_piece_bytes(x->lstm[i - 1]), rows, e);
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
                                 r->es->n * sizeof(struct cov_cuda_edit), e);
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
    struct cov_edit_slot *es = r->es;
    const size_t last = cov_edit_lstms(x) - 1;
    const struct cov_cuda_step *after = x->lstm[last] + 1;
    size_t pieces = 0;
    es->n_tiles = 0;
    for (size_t k = 0; k < es->n; k++) {
        struct cov_edit_chunk *edit = &es->list[k];
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
    int rc = collect(r, pieces, cov_edit_piece_bytes(x->lstm[last]), r->area[after->from], e);
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
    const struct cov_edit_slot *es = r->es;
    const size_t D = r->p->plan.depth, L = r->p->plan.length, n = cov_edit_values(r->p);
    const size_t length = r->x->tail.plan.length;
    for (size_t k = 0; k < es->n; k++) {
        const struct cov_edit_chunk *edit = &es->list[k];
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
        const struct cov_edit_chunk *edit = &es->list[k];
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
    int rc = cov_edit_slot_fill(p, (size_t)(r->s - p->slots), e);
    if (!rc)
        rc = cov_edit_kept_fill(p, r->s->card, r->kept, e);
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

static enum cov_edits_state state_of(struct cov_cuda_program *p)
{
    pthread_mutex_lock(&p->lock);
    const enum cov_edits_state state = p->edits->state;
    pthread_mutex_unlock(&p->lock);
    return state;
}

/* Once unusable, edits stay so, whatever another worker's check finds. */
static void set_state(struct cov_cuda_program *p, enum cov_edits_state state)
{
    pthread_mutex_lock(&p->lock);
    if (p->edits->state != COV_EDITS_UNUSABLE)
        p->edits->state = state;
    pthread_mutex_unlock(&p->lock);
}

/* Sets *effect and *error to the largest difference of a chunk's wanted values from those of its original, and from
 * those of the whole chunk, relative to the largest of the latter. */
static void compare(const struct run *r, size_t number, const float *whole, double *effect,
                    double *error)
{
    const struct cov_edited_chunk *chunk = &r->chunks->chunks[number];
    const size_t D = r->p->plan.depth, n = cov_edit_values(r->p);
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
    const size_t L = p->plan.length, n = cov_edit_values(p);
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
        set_state(p, right ? COV_EDITS_RIGHT : COV_EDITS_UNUSABLE);
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
    if (state_of(p) == COV_EDITS_UNUSABLE || has_much_padding(p, chunks))
        return p->ops->forward(p, worker, chunks->n, chunks->codes, out, e);
    struct run r = {};
    struct cov_err why = COV_ERR_INIT;
    r.p = p;
    r.x = p->edits;
    r.chunks = chunks;
    r.out = out;
    r.kept = cov_edit_kept_take(p, card, chunks, &made);
    r.s = cov_cuda_slot_take(p, (int)card);
    r.es = &p->edits->slots[r.s - p->slots];
    r.weights = (const char *)p->weights[card];
    cov_cuda_slot_areas(p, r.s, r.area);
    int rc = run_slot(&r, made, &why);
    cov_cuda_slot_give_back(p, r.s);
    if (!rc)
        count(&r, chunks->n + (made ? 0 : chunks->n_originals));
    if (!rc && state_of(p) == COV_EDITS_UNCHECKED)
        rc = check(&r, worker, &why);
    cov_edit_kept_give_back(p, r.kept);
    if (rc == COV_ENOMEM) {
        cov_info("%s; computing all windows in full", why.text);
        set_state(p, COV_EDITS_UNUSABLE);
    }
    if (rc == COV_ENOMEM || (!rc && state_of(p) == COV_EDITS_UNUSABLE))
        return p->ops->forward(p, worker, chunks->n, chunks->codes, out, e);
    return rc ? cov_fail(e, rc, "%s", why.text) : COV_OK;
}
