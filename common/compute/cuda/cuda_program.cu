/* cuda_program.cu - a network on one or several cards: a queue of batches over slots (cuda_cards.h).
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/compute/cuda/runtime.h"
#include "common/compute/plan.h"
#include "common/seq/alphabet.h"
}
#include "common/compute/cuda/cuda_program.h"

#include <stdlib.h>
#include <string.h>

/* The percentage of free memory to use; the rest is for CUDA and other processes. */
enum { USED_PERCENT = 90 };

/* ---- making ---- */

int cov_cuda_name_card(const struct cov_cuda_program *p, size_t card, int rc, struct cov_err *e)
{
    return cov_err_prefix(e, rc, "%s", p->cards.card[card].name);
}

static size_t codes_bytes(const struct cov_cuda_program *p)
{
    return (p->plan.length + 1) / 2;
}

static size_t values_bytes(const struct cov_cuda_program *p)
{
    return p->plan.length * p->plan.depth * sizeof(float);
}

static size_t extents_bytes(const struct cov_cuda_program *p)
{
    return p->plan.n_lstms * sizeof(struct cov_cuda_extent);
}

static void free_slot(const struct cov_cuda_program *p, struct cov_cuda_slot *s)
{
    int card = p->cards.card[s->card].index;
    cov_rt_stream_free(card, s->stream);
    cov_rt_free(card, s->memory);
    cov_rt_free_host(card, s->codes);
    cov_rt_free_host(card, s->values);
    cov_rt_free_host(card, s->extents);
    free(s->ends);
    s->stream = s->memory = s->codes = s->values = s->extents = NULL;
    s->ends = NULL;
}

static int make_slot(struct cov_cuda_program *p, struct cov_cuda_slot *s, struct cov_err *e)
{
    int card = p->cards.card[s->card].index;
    size_t bytes, codes, values;
    if (cov_size_mul(p->plan.chunk_bytes, p->batch, &bytes) ||
        cov_size_mul(codes_bytes(p), p->batch, &codes) ||
        cov_size_mul(values_bytes(p), p->batch, &values))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", p->batch);
    int rc = cov_rt_alloc(card, bytes, &s->memory, e);
    if (!rc)
        rc = cov_rt_alloc_host(card, codes, &s->codes, e);
    if (!rc)
        rc = cov_rt_alloc_host(card, values, &s->values, e);
    if (!rc)
        rc = cov_rt_alloc_host(card, extents_bytes(p) * p->batch, &s->extents, e);
    if (!rc) {
        s->ends = (struct cov_plan_ends *)cov_calloc(COV_CUDA_GROUPS * (p->plan.n_layers + 1),
                                                     sizeof *s->ends, e);
        rc = s->ends ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        rc = cov_rt_stream_new(card, &s->stream, e);
    return rc;
}

/* Lets cuBLAS compute the products of LSTMs with x, if it is open. */
static int choose_products(struct cov_cuda_program *p, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < p->plan.n_steps; i++) {
        struct cov_cuda_step *s = &p->plan.steps[i];
        if (s->kind == COV_CUDA_STEP_GEMM && s->to == COV_CUDA_GATES)
            rc = cov_cublas_add(p->cards.cublas, s->products, &s->gemm, &s->dense, e);
    }
    return rc;
}

static int upload_weights(struct cov_cuda_program *p, size_t card, struct cov_err *e)
{
    int index = p->cards.card[card].index;
    void *stream = NULL;
    int rc = cov_rt_alloc(index, p->plan.weight_bytes, &p->weights[card], e);
    if (!rc)
        rc = cov_rt_stream_new(index, &stream, e);
    if (!rc)
        rc = cov_rt_copy_in(stream, p->weights[card], p->plan.weights, p->plan.weight_bytes, e);
    if (stream)
        rc = cov_rt_finish(stream, rc, e); /* the plan's weights are freed */
    cov_rt_stream_free(index, stream);
    return rc ? cov_cuda_name_card(p, card, rc, e) : COV_OK;
}

/* Drops all but the first `most` slots of a card; returns how many are left. */
static size_t keep_slots(struct cov_cuda_program *p, size_t card, size_t most)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < p->n_slots; i++) {
        if (p->slots[i].card == card && n == most)
            continue;
        n += p->slots[i].card == card;
        p->slots[kept++] = p->slots[i];
    }
    p->n_slots = kept;
    return n;
}

/* Reduces the batch until the free memory of each card suffices for all of its slots, in each of
 * n_programs programs. If not even one chunk per slot fits, drops slots. */
static int fit_batch(struct cov_cuda_program *p, size_t n_programs, struct cov_err *e)
{
    for (size_t card = 0; card < p->cards.n; card++) {
        size_t free_bytes, n_slots = keep_slots(p, card, COV_CUDA_SLOTS);
        int rc = cov_rt_free_bytes(p->cards.card[card].index, &free_bytes, e);
        if (rc)
            return cov_cuda_name_card(p, card, rc, e);
        size_t chunks = free_bytes / 100 * USED_PERCENT / n_programs / p->plan.chunk_bytes;
        if (n_slots > chunks)
            n_slots = keep_slots(p, card, chunks ? chunks : 1);
        size_t fits = n_slots ? chunks / n_slots : p->batch;
        if (fits < p->batch) {
            p->batch = fits ? fits : 1;
            cov_debug("%s: batches of %zu chunks, limited by its memory", p->cards.card[card].name,
                      p->batch);
        }
    }
    return COV_OK;
}

/* Creates all slots; if memory runs out, retries once with half the batch. */
static int make_slots(struct cov_cuda_program *p, struct cov_err *e)
{
    for (size_t i = 0; i < p->n_slots; i++) {
        struct cov_err why = COV_ERR_INIT;
        int rc = make_slot(p, &p->slots[i], &why);
        if (rc == COV_OK)
            continue;
        size_t card = p->slots[i].card;
        for (size_t k = 0; k <= i; k++)
            free_slot(p, &p->slots[k]);
        if (rc != COV_ENOMEM || p->halved || p->batch == 1) {
            (void)cov_fail(e, rc, "%s", why.text);
            return cov_cuda_name_card(p, card, rc, e);
        }
        cov_warn("%s: not enough memory for batches of %zu chunks, continuing with %zu",
                 p->cards.card[card].name, p->batch, p->batch / 2);
        p->batch /= 2;
        p->halved = true;
        return make_slots(p, e);
    }
    return COV_OK;
}

static int make(struct cov_cuda_program *p, const struct cov_program_spec *spec, struct cov_err *e)
{
    const unsigned n_workers = spec->n_workers;
    const size_t max_batch = spec->max_batch;
    size_t most = p->cards.n * COV_CUDA_SLOTS;
    p->n_slots = n_workers < most ? n_workers : most;
    p->batch = max_batch < p->plan.max_batch ? max_batch : p->plan.max_batch;
    p->weights = (void **)cov_calloc(p->cards.n, sizeof *p->weights, e);
    p->slots = (struct cov_cuda_slot *)cov_calloc(p->n_slots, sizeof *p->slots, e);
    p->orders = (struct cov_chunk_order *)cov_calloc(n_workers, sizeof *p->orders, e);
    p->n_workers = n_workers;
    if (!p->weights || !p->slots || !p->orders)
        return COV_ENOMEM;
    for (unsigned i = 0; i < n_workers; i++)
        if (cov_chunk_order_init(&p->orders[i], p->plan.length, p->plan.depth, max_batch, e))
            return COV_ENOMEM;
    for (size_t i = 0; i < p->n_slots; i++)
        p->slots[i].card = i % p->cards.n;
    int rc = choose_products(p, e);
    for (size_t card = 0; !rc && card < p->cards.n; card++)
        rc = upload_weights(p, card, e);
    if (!rc)
        rc = fit_batch(p, spec->n_programs, e);
    return rc ? rc : make_slots(p, e);
}

static double work_of_all(const struct cov_cuda_plan *plan)
{
    double work = 0;
    for (size_t i = 0; i < plan->n_layers; i++) {
        const struct cov_layer *l = &plan->layers[i];
        size_t rows = l->t_out * l->directions;
        work += l->kind == COV_LAYER_LSTM ? cov_plan_work_of_lstm(l, rows, rows)
                                          : (double)l->t_out * cov_plan_work_of_row(l);
    }
    return work;
}

static void free_program(struct cov_program *base)
{
    struct cov_cuda_program *p = (struct cov_cuda_program *)base;
    cov_cuda_edits_free(p);
    for (size_t i = 0; p->slots && i < p->n_slots; i++)
        free_slot(p, &p->slots[i]);
    for (unsigned i = 0; p->orders && i < p->n_workers; i++)
        cov_chunk_order_fini(&p->orders[i]);
    for (size_t i = 0; p->weights && i < p->cards.n; i++)
        cov_rt_free(p->cards.card[i].index, p->weights[i]);
    free(p->slots);
    free(p->orders);
    free(p->weights);
    cov_cuda_plan_fini(&p->plan);
    pthread_cond_destroy(&p->given_back);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- running ---- */

struct cov_cuda_slot *cov_cuda_slot_take(struct cov_cuda_program *p, int card)
{
    struct cov_cuda_slot *best = NULL;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        size_t n_free[COV_CUDA_MAX_CARDS] = {0};
        for (size_t i = 0; i < p->n_slots; i++)
            n_free[p->slots[i].card] += !p->slots[i].taken;
        for (size_t i = 0; i < p->n_slots; i++) {
            struct cov_cuda_slot *s = &p->slots[i];
            if (!s->taken && (card == COV_CUDA_ANY_CARD || s->card == (size_t)card) &&
                (!best || n_free[s->card] > n_free[best->card]))
                best = s;
        }
        if (best)
            break;
        pthread_cond_wait(&p->given_back, &p->lock);
    }
    best->taken = true;
    pthread_mutex_unlock(&p->lock);
    return best;
}

void cov_cuda_slot_give_back(struct cov_cuda_program *p, struct cov_cuda_slot *s)
{
    pthread_mutex_lock(&p->lock);
    s->taken = false;
    pthread_cond_broadcast(&p->given_back);
    pthread_mutex_unlock(&p->lock);
}

void cov_cuda_slot_areas(const struct cov_cuda_program *p, const struct cov_cuda_slot *s,
                         char *area[COV_CUDA_N_AREAS])
{
    char *at = (char *)s->memory;
    for (int i = 0; i < COV_CUDA_N_AREAS; i++) {
        area[i] = at;
        at += p->plan.area_bytes[i] * p->batch;
    }
}

/* Divides chunks, sorted by descending number of bases, into groups: a chunk joins a group if it
 * has at least three quarters of the bases of the group's first chunk, or the group is small. */
static void group_chunks(const struct cov_cuda_program *p, struct cov_cuda_slot *s,
                         const struct cov_ordered_chunk *chunks, size_t n,
                         struct cov_cuda_batch *out)
{
    enum { FEW = 8 };
    if (p->full) {
        cov_cuda_batch_full(&p->plan, n, s->ends, out);
        return;
    }
    *out = {};
    out->n = n;
    out->rest = true;
    for (size_t i = 0; i < n; i++) {
        struct cov_cuda_group *last = out->n_groups ? &out->groups[out->n_groups - 1] : NULL;
        if (last && (chunks[i].filled * 4 >= chunks[last->first].filled * 3 || last->n < FEW ||
                     out->n_groups == COV_CUDA_GROUPS)) {
            last->n++;
            continue;
        }
        struct cov_plan_ends *ends = s->ends + out->n_groups * (p->plan.n_layers + 1);
        cov_plan_padded(p->plan.layers, p->plan.n_layers, chunks[i].filled, ends);
        out->groups[out->n_groups++] = {i, 1, ends};
    }
}

/* Copies the values of computed positions to the output and fills in the other positions; returns
 * the number of computed positions. */
static uint64_t take_values(const struct cov_cuda_program *p, const struct cov_cuda_slot *s,
                            const struct cov_cuda_batch *batch,
                            const struct cov_ordered_chunk *chunks, float *out)
{
    size_t L = p->plan.length, row = L * p->plan.depth;
    const float *values = (const float *)s->values;
    const struct cov_cuda_extent *extents = (const struct cov_cuda_extent *)s->extents;
    uint64_t computed = 0;
    for (size_t g = 0; g < batch->n_groups; g++) {
        const struct cov_cuda_group *group = &batch->groups[g];
        size_t n = group->ends[p->plan.n_layers].head * p->plan.depth;
        for (size_t b = group->first; b < group->first + group->n; b++) {
            float *to = out + chunks[b].index * row;
            memcpy(to, values, n * sizeof *to);
            for (size_t i = n; i < row; i++)
                to[i] = COV_PAD_VALUE;
            values += n;
            double work = cov_cuda_batch_work(&p->plan, group->ends, extents + b * p->plan.n_lstms);
            double part = work / p->full_work;
            computed += part < 1 ? (uint64_t)(part * (double)L + 0.5) : L;
        }
    }
    return computed;
}

static size_t batch_values_bytes(const struct cov_cuda_program *p,
                                 const struct cov_cuda_batch *batch)
{
    size_t rows = 0;
    for (size_t g = 0; g < batch->n_groups; g++)
        rows += batch->groups[g].n * batch->groups[g].ends[p->plan.n_layers].head;
    return rows * p->plan.depth * sizeof(float);
}

/* The chunks of a call of `forward` that form one batch. */
struct part {
    const struct cov_ordered_chunk *chunks;
    size_t n;
    const uint8_t *codes; /* all codes of the call */
    float *out;
    uint64_t computed; /* out: positions */
};

static int run_slot(const struct cov_cuda_program *p, struct cov_cuda_slot *s, struct part *part,
                    struct cov_err *e)
{
    size_t n = part->n;
    char *area[COV_CUDA_N_AREAS];
    struct cov_cuda_batch batch;
    const char *weights = (const char *)p->weights[s->card];
    cov_cuda_slot_areas(p, s, area);
    group_chunks(p, s, part->chunks, n, &batch);
    cov_cuda_batch_extents(&p->plan, &batch, (struct cov_cuda_extent *)s->extents);
    for (size_t i = 0; i < n; i++)
        cov_codes_pack(part->codes + part->chunks[i].index * p->plan.length, p->plan.length,
                       (uint8_t *)s->codes + i * codes_bytes(p));
    int rc = cov_rt_use(p->cards.card[s->card].index, e);
    if (!rc)
        rc = cov_rt_copy_in(s->stream, area[COV_CUDA_CODES], s->codes, n * codes_bytes(p), e);
    if (!rc && p->plan.n_lstms)
        rc = cov_rt_copy_in(s->stream, area[COV_CUDA_EXTENTS], s->extents, n * extents_bytes(p), e);
    batch.card = p->cards.card[s->card].index;
    batch.priority = p->cards.without & COV_CUDA_PRIORITY ? 0 : -1;
    for (size_t i = 0; !rc && i < p->plan.n_steps; i++)
        rc = cov_cuda_plan_queue(&p->plan, &p->plan.steps[i], &batch, weights, area, s->stream, e);
    if (!rc)
        rc = cov_rt_copy_out(s->stream, s->values, area[COV_CUDA_VALUES],
                             batch_values_bytes(p, &batch), e);
    if (!rc && p->plan.n_lstms)
        rc =
            cov_rt_copy_out(s->stream, s->extents, area[COV_CUDA_EXTENTS], n * extents_bytes(p), e);
    rc = cov_rt_finish(s->stream, rc, e);
    if (rc)
        return cov_cuda_name_card(p, s->card, rc, e);
    part->computed = take_values(p, s, &batch, part->chunks, part->out);
    return COV_OK;
}

/* Fills in the last chunks, which are only padding. */
static void skip_empty(const struct cov_cuda_program *p, struct cov_chunk_order *o, float *out)
{
    while (!p->full && o->n_todo > 0 && o->todo[o->n_todo - 1].filled == 0) {
        float *to = out + o->todo[--o->n_todo].index * o->row;
        for (size_t i = 0; i < o->row; i++)
            to[i] = COV_PAD_VALUE;
    }
}

static int forward(struct cov_program *base, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    struct cov_cuda_program *p = (struct cov_cuda_program *)base;
    struct cov_chunk_order *o = &p->orders[worker];
    uint64_t repeated = o->n_repeated, computed = 0;
    o->full = p->full;
    cov_chunk_order_begin(o, n, codes, out);
    skip_empty(p, o, out);
    for (size_t beg = 0; beg < o->n_todo; beg += p->batch) {
        size_t k = o->n_todo - beg < p->batch ? o->n_todo - beg : p->batch;
        struct cov_cuda_slot *s = cov_cuda_slot_take(p, COV_CUDA_ANY_CARD);
        struct part part = {o->todo + beg, k, codes, out, 0};
        int rc = run_slot(p, s, &part, e);
        cov_cuda_slot_give_back(p, s);
        computed += part.computed;
        if (rc)
            return rc;
    }
    cov_chunk_order_end(o, out);
    repeated = o->n_repeated - repeated;
    pthread_mutex_lock(&p->lock);
    p->counts.positions_computed += computed;
    p->counts.positions_at_rest += (n - repeated) * p->plan.length - computed;
    p->counts.chunks_repeated += repeated;
    pthread_mutex_unlock(&p->lock);
    return COV_OK;
}

static void compute_all(struct cov_program *p)
{
    ((struct cov_cuda_program *)p)->full = true;
}

static void counts(const struct cov_program *p, struct cov_forward_counts *out)
{
    *out = ((const struct cov_cuda_program *)p)->counts;
}

int cov_cuda_program_new(const struct cov_cuda_cards *cards, const struct cov_program_spec *spec,
                         struct cov_program **out, struct cov_err *e)
{
    static const struct cov_program_ops ops = {forward, compute_all, counts, free_program};
    *out = NULL;
    struct cov_cuda_program *p = (struct cov_cuda_program *)cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->ops = &ops;
    p->cards = *cards;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->given_back, NULL);
    int rc = cov_cuda_plan_init(spec->layers, spec->weights, spec->n_layers, cards->arithmetic,
                                cards->shared_bytes, &p->plan, e);
    if (!rc)
        rc = make(p, spec, e);
    if (!rc)
        rc = cov_cuda_edits_new(p, e);
    if (rc) {
        free_program(p);
        return rc;
    }
    free(p->plan.weights); /* the cards have them */
    p->plan.weights = NULL;
    p->full_work = work_of_all(&p->plan);
    *out = p;
    return COV_OK;
}

/* ---- benchmarks ---- */

const struct cov_cuda_plan *cov_cuda_program_plan(const struct cov_program *p)
{
    return &((const struct cov_cuda_program *)p)->plan;
}

size_t cov_cuda_program_batch(const struct cov_program *p)
{
    return ((const struct cov_cuda_program *)p)->batch;
}

int cov_cuda_program_time(struct cov_program *base, size_t n, double *seconds, struct cov_err *e)
{
    struct cov_cuda_program *p = (struct cov_cuda_program *)base;
    /* Repeats the step so that waiting is a small part of the time; every repetition writes the
     * same values. */
    enum { REPEATS = 4 };
    char *area[COV_CUDA_N_AREAS];
    struct cov_cuda_slot *s = cov_cuda_slot_take(p, COV_CUDA_ANY_CARD);
    cov_cuda_slot_areas(p, s, area);
    struct cov_cuda_batch batch;
    cov_cuda_batch_full(&p->plan, n, s->ends, &batch);
    batch.card = p->cards.card[s->card].index;
    cov_cuda_batch_extents(&p->plan, &batch, (struct cov_cuda_extent *)s->extents);
    int rc = cov_rt_use(p->cards.card[s->card].index, e);
    if (!rc)
        rc = cov_rt_copy_in(s->stream, area[COV_CUDA_EXTENTS], s->extents, n * extents_bytes(p), e);
    rc = cov_rt_finish(s->stream, rc, e);
    for (size_t i = 0; !rc && i < p->plan.n_steps; i++) {
        double beg = cov_clock();
        for (int k = 0; !rc && k < REPEATS; k++)
            rc = cov_cuda_plan_queue(&p->plan, &p->plan.steps[i], &batch,
                                     (const char *)p->weights[s->card], area, s->stream, e);
        rc = cov_rt_finish(s->stream, rc, e);
        seconds[i] = (cov_clock() - beg) / REPEATS;
    }
    cov_cuda_slot_give_back(p, s);
    return rc;
}
