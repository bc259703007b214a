/* cuda_training.cu - training on a card (cuda_cards.h).
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
#include "common/seq/alphabet.h"
}
#include "common/compute/cuda/cuda_cards.h"
#include "common/compute/cuda/train_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The percentage of free memory to use; the rest is for CUDA, other processes, and the predictions of
 * validation. */
enum { USED_PERCENT = 85 };

static size_t codes_bytes(const struct cov_cuda_training *t)
{
    return (t->plan.length + 1) / 2;
}

static int name_card(const struct cov_cuda_training *t, int rc, struct cov_err *e)
{
    return cov_err_prefix(e, rc, "%s", t->name);
}

/* ---- making ---- */

/* Fails; the message suggests a batch size, of all cards, for which memory suffices. */
static int too_large(struct cov_cuda_training *t, size_t n, struct cov_err *e)
{
    size_t free_bytes, fits = 0, bytes = t->mem.bytes;
    int rc = cov_rt_free_bytes(t->card, &free_bytes, e);
    if (rc)
        return rc;
    free_bytes = free_bytes / 100 * USED_PERCENT;
    for (size_t low = 0, high = n; low + 1 < high;) {
        size_t middle = low + (high - low) / 2;
        if (cov_train_lay_out(&t->plan, middle, &t->mem, NULL) == COV_OK &&
            t->mem.bytes <= free_bytes)
            fits = low = middle;
        else
            high = middle;
    }
    double mib = 1 << 20;
    if (fits == 0)
        return cov_fail(e, COV_ENOMEM,
                        "not enough memory to train on a single chunk of %zu positions: %.0f MiB "
                        "free",
                        t->plan.length, (double)free_bytes / mib);
    return cov_fail(e, COV_ENOMEM,
                    "not enough memory for batches of %zu chunks of %zu positions: they need %.0f "
                    "MiB, and %.0f MiB are free; try a batch size of %zu",
                    n, t->plan.length, (double)bytes / mib, (double)free_bytes / mib,
                    fits * COV_PARTS / (size_t)(t->parts.end - t->parts.beg));
}

static int make_memory(struct cov_cuda_training *t, size_t n, struct cov_err *e)
{
    size_t free_bytes;
    struct cov_err why = COV_ERR_INIT;
    int rc = cov_train_lay_out(&t->plan, n, &t->mem, e);
    if (!rc)
        rc = cov_rt_free_bytes(t->card, &free_bytes, e);
    if (rc)
        return rc;
    if (t->mem.bytes > free_bytes / 100 * USED_PERCENT)
        return too_large(t, n, e);
    void *memory;
    rc = cov_rt_alloc(t->card, t->mem.bytes, &memory, &why);
    t->memory = (char *)memory;
    if (rc == COV_ENOMEM)
        return too_large(t, n, e);
    return rc ? cov_fail(e, rc, "%s", why.text) : COV_OK;
}

static int make_host(struct cov_cuda_training *t, size_t n, struct cov_err *e)
{
    size_t depth = t->plan.depth, n_targets = n * t->plan.length * depth;
    void *codes = NULL, *targets = NULL, *present = NULL, *now = NULL, *few = NULL;
    void *gradients = NULL;
    size_t n_few = 4, n_gradients = t->plan.n_nodes * t->plan.n_floats;
    for (size_t i = 0; i < t->plan.n_layers; i++)
        if (n_few < 2 * (size_t)t->plan.layers[i].width)
            n_few = 2 * (size_t)t->plan.layers[i].width;
    int rc = cov_rt_alloc_host(t->card, n * codes_bytes(t), &codes, e);
    if (!rc)
        rc = cov_rt_alloc_host(t->card, n_targets * sizeof(float), &targets, e);
    if (!rc)
        rc = cov_rt_alloc_host(t->card, n * depth, &present, e);
    if (!rc)
        rc = cov_rt_alloc_host(t->card, sizeof *t->now, &now, e);
    if (!rc)
        rc = cov_rt_alloc_host(t->card, t->plan.n_nodes * n_few * sizeof(double), &few, e);
    if (!rc && (t->share || t->reduce.fn))
        rc = cov_rt_alloc_host(t->card, n_gradients * sizeof(float), &gradients, e);
    t->codes = (uint8_t *)codes;
    t->targets = (float *)targets;
    t->present = (uint8_t *)present;
    t->now = (struct cov_cuda_moment *)now;
    t->few = (double *)few;
    t->host_gradients = (float *)gradients;
    if (!rc && t->reduce.fn) {
        t->shared = (double *)cov_malloc(t->plan.n_floats, sizeof *t->shared, e);
        rc = t->shared ? COV_OK : COV_ENOMEM;
    }
    return rc;
}

static int copy_in(const struct cov_cuda_training *t, size_t to, const void *from, size_t bytes,
                   struct cov_err *e)
{
    return bytes ? cov_rt_copy_in(t->stream, cov_train_at(t, to), from, bytes, e) : COV_OK;
}

/* Uploads the data that is the same in all steps, and the initial parameters. */
static int fill(struct cov_cuda_training *t, const struct cov_training_spec *spec,
                struct cov_err *e)
{
    const struct cov_train_plan *p = &t->plan;
    size_t columns = (size_t)p->most_columns, bytes = p->n_floats * sizeof(float);
    size_t n_zeros = p->n_floats * p->n_nodes;
    float *zeros = (float *)cov_calloc(n_zeros > columns ? n_zeros : columns, sizeof *zeros, e);
    float *ones = (float *)cov_malloc(columns, sizeof *ones, e);
    float *weights = (float *)cov_malloc(p->depth, sizeof *weights, e);
    uint8_t *statistic = (uint8_t *)cov_calloc(p->n_floats, 1, e);
    int rc = zeros && ones && weights && statistic ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < columns; i++)
        ones[i] = 1;
    for (size_t d = 0; !rc && d < p->depth; d++)
        weights[d] = spec->loss_weights ? spec->loss_weights[d] : 1;
    for (size_t i = 0; !rc && spec->frozen && i < p->n_floats; i++)
        statistic[i] = spec->frozen[i] ? 2 : 0;
    for (size_t i = 0; !rc && i < p->n_layers; i++)
        if (p->layers[i].norm) {
            memset(statistic + p->layers[i].norm_places.mean, 1, p->layers[i].layer.c_out);
            memset(statistic + p->layers[i].norm_places.var, 1, p->layers[i].layer.c_out);
        }
    const struct {
        size_t to;
        const void *from;
        size_t bytes;
    } copies[] = {
        {t->mem.ones, ones, columns * sizeof *ones},
        {t->mem.zeros, zeros, columns * sizeof *zeros},
        {t->mem.table, cov_onehot_f32, sizeof cov_onehot_f32},
        {t->mem.loss_weights, weights, p->depth * sizeof *weights},
        {t->mem.statistic, statistic, p->n_floats},
        {t->mem.float_places, p->floats.v, p->floats.n * sizeof(int)},
        {t->mem.half_places, p->halves.v, p->halves.n * sizeof(int)},
        {t->mem.collected, p->collected.v, p->collected.n * sizeof(int)},
        {t->mem.moment1, zeros, bytes},
        {t->mem.moment2, zeros, bytes},
        {t->mem.gradient, zeros, n_zeros * sizeof *zeros},
        {t->mem.sum, zeros, bytes},
        {t->mem.block, spec->block, bytes},
        {t->mem.average, spec->block, bytes},
    };
    for (const auto &c : copies)
        if (!rc)
            rc = copy_in(t, c.to, c.from, c.bytes, e);
    rc = cov_rt_finish(t->stream, rc, e);
    free(zeros);
    free(ones);
    free(weights);
    free(statistic);
    return rc;
}

static int allocate(struct cov_cuda_training *t, const struct cov_training_spec *spec,
                    struct cov_err *e)
{
    if (spec->max_batch > t->plan.max_batch)
        return cov_fail(e, COV_EUNSUPPORTED, "batches of %zu chunks are too large for a GPU",
                        spec->max_batch);
    t->mem.layers =
        (struct cov_train_layer_memory *)cov_calloc(t->plan.n_layers, sizeof *t->mem.layers, e);
    t->graphs = (void **)cov_calloc(spec->max_batch + 1, sizeof *t->graphs, e);
    t->seen = (bool *)cov_calloc(spec->max_batch + 1, sizeof *t->seen, e);
    if (!t->mem.layers || !t->graphs || !t->seen)
        return COV_ENOMEM;
    int rc = make_memory(t, spec->max_batch, e);
    if (!rc)
        rc = make_host(t, spec->max_batch, e);
    if (!rc)
        rc = cov_rt_stream_new(t->card, &t->stream, e);
    return rc ? rc : fill(t, spec, e);
}

static int make(struct cov_cuda_training *t, const struct cov_training_spec *spec,
                const struct cov_cuda_cards *cards, struct cov_err *e)
{
    struct cov_rt_card card;
    int rc = cov_rt_describe(t->card, &card, e);
    if (!rc)
        t->multiprocessors = cards->without & COV_CUDA_HALF_BLOCKS ? 0 : card.n_multiprocessors;
    if (!rc)
        rc = cov_train_plan_init(spec, cards->arithmetic, cards->shared_bytes, &t->plan, e);
    if (!rc) {
        t->plan.n_nodes = (size_t)cov_parts_nodes(t->parts, t->nodes);
        rc = allocate(t, spec, e);
    }
    return rc ? name_card(t, rc, e) : COV_OK;
}

static void free_training(struct cov_training *base)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    for (size_t n = 0; t->graphs && n <= t->max_batch; n++)
        cov_rt_graph_free(t->card, t->graphs[n]);
    cov_rt_stream_free(t->card, t->stream);
    cov_rt_free(t->card, t->memory);
    cov_rt_free_host(t->card, t->codes);
    cov_rt_free_host(t->card, t->targets);
    cov_rt_free_host(t->card, t->present);
    cov_rt_free_host(t->card, t->now);
    cov_rt_free_host(t->card, t->few);
    cov_rt_free_host(t->card, t->host_gradients);
    cov_train_plan_fini(&t->plan);
    free(t->mem.layers);
    free(t->shared);
    free(t->graphs);
    free(t->seen);
    free(t);
}

/* ---- a batch ---- */

/* Fills the buffers that a pass copies. */
static void fill_buffers(struct cov_cuda_training *t, uint64_t step,
                         const struct cov_train_batch *batch)
{
    size_t n = batch->n, L = t->plan.length, depth = t->plan.depth;
    for (size_t i = 0; i < n; i++)
        cov_codes_pack(batch->codes + i * L, L, t->codes + i * codes_bytes(t));
    for (size_t i = 0; i < n * depth; i++)
        t->present[i] = batch->present[i];
    if (n > 0)
        memcpy(t->targets, batch->targets, n * L * depth * sizeof *t->targets);
    *t->now = {step, batch->first};
}

static int run(struct cov_cuda_training *t, uint64_t step, const struct cov_train_batch *batch,
               struct cov_train_score *score, struct cov_err *e)
{
    double sums[4] = {0, 0, 0, 0}; /* weighted losses, accuracies, rows, weights */
    memset(score, 0, sizeof *score);
    fill_buffers(t, step, batch);
    int rc = cov_rt_use(t->card, e);
    if (!rc)
        rc = cov_train_pass(t, batch->n, sums, e);
    if (rc)
        return name_card(t, rc, e);
    if (sums[2] == 0)
        return COV_OK;
    score->loss = sums[3] > 0 ? sums[0] / sums[3] : 0;
    score->accuracy = sums[1] / sums[2];
    score->n_rows = (uint64_t)sums[2];
    if (!isfinite(score->loss))
        return cov_fail(e, COV_EINPUT, "the loss of the batch is not finite");
    return COV_OK;
}

static int load_training(struct cov_training *base, struct cov_err *e)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    int rc = cov_rt_use(t->card, e);
    if (!rc)
        rc = copy_in(t, t->mem.block, t->block, t->plan.n_floats * sizeof *t->block, e);
    rc = cov_rt_finish(t->stream, rc, e);
    t->packed = false;
    return rc ? name_card(t, rc, e) : COV_OK;
}

static int run_training(struct cov_training *base, uint64_t step,
                        const struct cov_train_batch *batch, float *gradient,
                        struct cov_train_score *score, struct cov_err *e)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    int rc = run(t, step, batch, score, e);
    if (rc)
        return rc;
    rc = cov_rt_copy_out(t->stream, gradient, cov_train_at(t, t->mem.gradient),
                         t->plan.n_floats * sizeof *gradient, e);
    rc = cov_rt_finish(t->stream, rc, e);
    return rc ? name_card(t, rc, e) : COV_OK;
}

static int add_training(struct cov_training *base, const struct cov_train_batch *batch,
                        struct cov_train_score *score, struct cov_err *e)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    int rc = run(t, (uint64_t)t->n_steps, batch, score, e);
    if (rc)
        return rc;
    struct cov_cuda_gradient g = {};
    g.gradient = (const float *)cov_train_at(t, t->mem.gradient);
    g.statistic = (const uint8_t *)cov_train_at(t, t->mem.statistic);
    g.first = t->n_batches == 0;
    g.momentum = COV_TRAIN_MOMENTUM;
    g.sum = (float *)cov_train_at(t, t->mem.sum);
    g.block = (float *)cov_train_at(t, t->mem.block);
    g.n = t->plan.n_floats;
    cov_cuda_take_gradient(&g, t->stream);
    rc = cov_rt_launched("the sum of gradients", e);
    t->n_batches++;
    return rc ? name_card(t, rc, e) : COV_OK;
}

/* ---- a step ---- */

/* Replaces the gradient by its sum over all processes. */
static int share_gradient(struct cov_cuda_training *t, struct cov_err *e)
{
    size_t n = t->plan.n_floats, bytes = n * sizeof(float);
    float *sum = t->host_gradients;
    if (!t->reduce.fn)
        return COV_OK;
    int rc = cov_rt_copy_out(t->stream, sum, cov_train_at(t, t->mem.sum), bytes, e);
    rc = cov_rt_finish(t->stream, rc, e);
    for (size_t i = 0; !rc && i < n; i++)
        t->shared[i] = (double)sum[i];
    if (!rc)
        rc = t->reduce.fn(t->reduce.arg, t->shared, n, e);
    for (size_t i = 0; !rc && i < n; i++)
        sum[i] = (float)t->shared[i];
    if (!rc)
        rc = copy_in(t, t->mem.sum, sum, bytes, e);
    return rc;
}

/* Sets *square to the squared norm of the gradient. */
static int measure_gradient(struct cov_cuda_training *t, double *square, struct cov_err *e)
{
    double *total = (double *)cov_train_at(t, t->mem.square_total);
    cov_cuda_squares((const float *)cov_train_at(t, t->mem.sum),
                     (const uint8_t *)cov_train_at(t, t->mem.statistic), t->plan.n_floats,
                     (double *)cov_train_at(t, t->mem.squares), total, t->stream);
    int rc = cov_rt_launched("the norm of the gradient", e);
    if (!rc)
        rc = cov_rt_copy_out(t->stream, t->few, total, sizeof *total, e);
    rc = cov_rt_finish(t->stream, rc, e);
    *square = t->few[0];
    return rc;
}

/* Queues a step with the gradient times `scale`; the same computation as in cov_adam_step. */
static void queue_step(struct cov_cuda_training *t, const struct cov_adam *adam, double scale)
{
    double step = (double)(t->n_steps + 1);
    struct cov_cuda_adam a = {};
    a.sum = (const float *)cov_train_at(t, t->mem.sum);
    a.statistic = (const uint8_t *)cov_train_at(t, t->mem.statistic);
    a.block = (float *)cov_train_at(t, t->mem.block);
    a.moment1 = (float *)cov_train_at(t, t->mem.moment1);
    a.moment2 = (float *)cov_train_at(t, t->mem.moment2);
    a.average = (float *)cov_train_at(t, t->mem.average);
    a.scale = (float)scale;
    a.rest1 = (float)(1 - adam->beta1);
    a.beta2 = (float)adam->beta2;
    a.rest2 = (float)(1 - adam->beta2);
    a.rate = (float)(adam->learning_rate / (1 - pow(adam->beta1, step)));
    a.root = (float)sqrt(1 - pow(adam->beta2, step));
    a.eps = (float)adam->eps;
    a.keep = (float)(1 - adam->learning_rate * adam->weight_decay);
    a.average_rest = adam->average > 0 ? (float)(1 - adam->average) : 0;
    a.average_begins = !t->averages;
    a.n = t->plan.n_floats;
    cov_cuda_adam_step(&a, t->stream);
    t->averages = t->averages || adam->average > 0;
}

static int step_training(struct cov_training *base, const struct cov_adam *adam, struct cov_err *e)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    double square = 0, scale = 1;
    if (t->n_batches == 0)
        return cov_fail(e, COV_EUSAGE, "no batch before the step");
    scale /= (double)t->n_batches;
    t->n_batches = 0;
    int rc = cov_rt_use(t->card, e);
    if (!rc)
        rc = share_gradient(t, e);
    if (!rc)
        rc = measure_gradient(t, &square, e);
    if (rc)
        return name_card(t, rc, e);
    if (!isfinite(square))
        return cov_fail(e, COV_EINPUT, "the gradient is not finite");
    double norm = sqrt(square) * scale;
    if (adam->clip > 0 && norm + COV_CLIP_EPS > adam->clip) {
        scale *= adam->clip / (norm + COV_CLIP_EPS);
        norm = adam->clip;
    }
    if (norm > COV_TRAIN_MAX_NORM)
        return cov_fail(e, COV_EINPUT, "the gradient is too large: norm %g", norm);
    queue_step(t, adam, scale);
    t->n_steps++;
    t->packed = false;
    rc = cov_rt_launched("a step", e);
    return rc ? name_card(t, rc, e) : COV_OK;
}

/* ---- state ---- */

static int read_training(struct cov_training *base, struct cov_train_state *state,
                         struct cov_err *e)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    size_t bytes = t->plan.n_floats * sizeof(float);
    const struct {
        float *to;
        size_t from;
    } copies[] = {{state->block, t->mem.block},
                  {state->moment1, t->mem.moment1},
                  {state->moment2, t->mem.moment2},
                  {state->average, t->averages ? t->mem.average : t->mem.block}};
    int rc = cov_rt_use(t->card, e);
    for (const auto &c : copies)
        if (!rc && c.to)
            rc = cov_rt_copy_out(t->stream, c.to, cov_train_at(t, c.from), bytes, e);
    rc = cov_rt_finish(t->stream, rc, e);
    state->n_steps = t->n_steps;
    return rc ? name_card(t, rc, e) : COV_OK;
}

static int write_training(struct cov_training *base, const struct cov_train_state *state,
                          struct cov_err *e)
{
    struct cov_cuda_training *t = (struct cov_cuda_training *)base;
    size_t bytes = t->plan.n_floats * sizeof(float);
    const struct {
        const float *from;
        size_t to;
    } copies[] = {{state->block, t->mem.block},
                  {state->moment1, t->mem.moment1},
                  {state->moment2, t->mem.moment2},
                  {state->average, t->mem.average}};
    int rc = cov_rt_use(t->card, e);
    for (const auto &c : copies)
        if (!rc && c.from)
            rc = copy_in(t, c.to, c.from, bytes, e);
    rc = cov_rt_finish(t->stream, rc, e);
    t->averages = t->averages || state->average;
    t->n_steps = state->n_steps;
    t->n_batches = 0;
    t->packed = false;
    return rc ? name_card(t, rc, e) : COV_OK;
}

int cov_cuda_training_new(const struct cov_cuda_seat *seat, const struct cov_training_spec *spec,
                          struct cov_training **out, struct cov_err *e)
{
    const struct cov_cuda_cards *cards = seat->cards;
    static const struct cov_gradient_ops gradients = {load_training, run_training, NULL};
    static const struct cov_resident_ops resident = {add_training, step_training, read_training,
                                                     write_training};
    *out = NULL;
    struct cov_cuda_training *t = (struct cov_cuda_training *)cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->gradients = seat->share ? NULL : &gradients;
    t->resident = &resident;
    t->free = free_training;
    t->block = spec->block;
    t->max_batch = spec->max_batch;
    t->dropout = spec->dropout;
    t->seed = spec->seed;
    t->first_trained = spec->first_trained;
    t->reduce = spec->reduce;
    t->share = seat->share;
    /* Sums of other cards and processes are added on the host, in the middle of a pass. */
    t->has_graphs = !(cards->without & COV_CUDA_GRAPHS) && !t->share && !t->reduce.fn;
    t->parts = {0, 0, COV_PARTS};
    if (t->share)
        t->parts = t->share->parts;
    t->card = cards->card[seat->which].index;
    (void)snprintf(t->name, sizeof t->name, "%s", cards->card[seat->which].name);
    int rc = make(t, spec, cards, e);
    if (rc) {
        free_training(t);
        return rc;
    }
    *out = t;
    return COV_OK;
}
