/* train_memory.c - where the arrays of fast training are; which activations are kept from the
 * forward to the backward pass, and which are computed again.
 *
 * With spec.recompute, these have arrays of their own: what the last convolution before the LSTMs
 * computes before its norm, the outputs of the LSTMs, and the output of the last convolution.
 * Everything else is in `arena`, which holds in turn:
 *   forward:                       gates and cells of the current LSTM
 *   forward and backward of the convolutions after the LSTMs: z, y of the layer before the current
 *                                  one, and what these convolutions compute before their norms
 *   backward of an LSTM:           its gates and cells, computed again
 *   backward of the convolutions before the LSTMs: z, y, and what all but the last of them compute
 *                                  before their norms, computed again
 * In the forward pass, y after a norm is in `d`, until the next layer has read it. The recomputed
 * values are the same, bit for bit.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/compute/cpu/train/training.h"

/* ---- places ---- */

/* Large arrays use large pages and are not initialised. */
float *cov_train_array(struct cov_cpu_training *t, size_t n, bool *failed, struct cov_err *e)
{
    enum { FEW = 1 << 21 }; /* floats */
    float *p = NULL;
    if (COV_RESERVE(&t->arrays, &t->cap_arrays, t->n_arrays + 1, e)) {
        *failed = true;
        return NULL;
    }
    p = n < FEW ? cov_calloc64(n, sizeof *p, e) : cov_malloc_huge(n, sizeof *p, e);
    *failed |= !p;
    t->arrays[t->n_arrays++] = p;
    return p;
}

bool cov_train_is_lstm(const struct cov_cpu_training *t, size_t i)
{
    return t->layers[i].layer.kind == COV_LAYER_LSTM;
}

/* Returns the view of an array with the shape of layer i's output. */
static struct cov_view view_of(const struct cov_cpu_training *t, size_t i, float *data)
{
    const struct cov_layer *l = &t->layers[i].layer;
    bool by_time = cov_train_is_lstm(t, i) || (i + 1 < t->n_layers && cov_train_is_lstm(t, i + 1));
    if (by_time)
        return (struct cov_view){data, t->batch->n * l->c_out, l->c_out};
    return (struct cov_view){data, l->c_out, l->t_out * l->c_out};
}

struct cov_view cov_train_output(const struct cov_cpu_training *t, size_t i)
{
    return view_of(t, i, t->layers[i].y);
}

struct cov_view cov_train_input(const struct cov_cpu_training *t, size_t i)
{
    const struct cov_layer *l = &t->layers[i].layer;
    if (i == 0)
        return (struct cov_view){t->onehot, l->c_in, l->t_in * l->c_in};
    const struct cov_train_layer *before = &t->layers[i - 1];
    return view_of(t, i - 1, before->dropped ? before->dropped : before->y);
}

struct cov_view cov_train_before_norm(const struct cov_cpu_training *t, size_t i)
{
    const struct cov_layer *l = &t->layers[i].layer;
    if (!t->layers[i].r)
        return cov_train_output(t, i);
    return (struct cov_view){t->layers[i].r, l->c_out, l->t_out * l->c_out};
}

struct cov_view cov_train_at(struct cov_view like, float *data)
{
    like.data = data;
    return like;
}

float *cov_train_gradient(const struct cov_cpu_training *t, const float *parameter)
{
    return t->gradient + (parameter - t->spec.block);
}

struct cov_rows cov_train_piece(const struct cov_pieces *p, size_t i)
{
    size_t end = (i + 1) * p->rows;
    return (struct cov_rows){i * p->rows, end < p->total ? end : p->total};
}

/* ---- activations ---- */

/* Floats of layer i's output, a multiple of a cache line. */
static size_t size_of(const struct cov_cpu_training *t, size_t i)
{
    const struct cov_layer *l = &t->layers[i].layer;
    return (t->spec.max_batch * l->t_out * l->c_out + 15) / 16 * 16;
}

static size_t cells_size(const struct cov_cpu_training *t, size_t i)
{
    const struct cov_layer *l = &t->layers[i].layer;
    return (t->spec.max_batch * l->directions * l->t_in * l->hidden + 15) / 16 * 16;
}

/* Every layer has arrays of its own. */
static int keep_all(struct cov_cpu_training *t, struct cov_err *e)
{
    bool failed = false;
    size_t largest = 0;
    for (size_t i = 0; !failed && i + 1 < t->n_layers; i++) {
        struct cov_train_layer *s = &t->layers[i];
        size_t size = size_of(t, i);
        s->y = cov_train_array(t, size, &failed, e);
        if (s->norm)
            s->r = cov_train_array(t, size, &failed, e);
        if (s->drops)
            s->dropped = cov_train_array(t, size, &failed, e);
        if (cov_train_is_lstm(t, i)) {
            s->gates = cov_train_array(t, 4 * cells_size(t, i), &failed, e);
            s->cells = cov_train_array(t, cells_size(t, i), &failed, e);
        } else
            largest = cov_size_max(largest, size);
    }
    t->z = failed ? NULL : cov_train_array(t, largest, &failed, e);
    return failed ? COV_ENOMEM : COV_OK;
}

/* The layers [0, lstm) and [up, end) are convolutions, the others between them LSTMs. */
struct parts {
    size_t lstm, up, end;
};

static struct parts parts_of(const struct cov_cpu_training *t)
{
    struct parts p = {.end = t->n_layers - 1};
    while (t->layers[p.lstm].layer.kind == COV_LAYER_CONV)
        p.lstm++;
    for (p.up = p.lstm; cov_train_is_lstm(t, p.up);)
        p.up++;
    return p;
}

/* Returns the floats of the arena, and sets the offsets of `again` and of the arrays after it. */
static size_t arena_size(const struct cov_cpu_training *t, const struct parts *p, size_t *again,
                         size_t *rest)
{
    size_t z = 0, y = 0, down = 0, up = 0, lstm = 0;
    for (size_t i = 0; i < p->end; i++) {
        if (cov_train_is_lstm(t, i)) {
            lstm = cov_size_max(lstm, 5 * cells_size(t, i));
            continue;
        }
        z = cov_size_max(z, size_of(t, i));
        if (t->layers[i].norm && i + 1 < p->end)
            y = cov_size_max(y, size_of(t, i));
        down += i + 1 < p->lstm ? size_of(t, i) : 0;
        up += i >= p->up ? size_of(t, i) : 0;
    }
    *again = z;
    *rest = z + y;
    return cov_size_max(z + y + cov_size_max(up, down), lstm);
}

static int share(struct cov_cpu_training *t, struct cov_err *e)
{
    const struct parts p = parts_of(t);
    bool failed = false;
    size_t again, rest, size = arena_size(t, &p, &again, &rest);
    float *arena = cov_train_array(t, size, &failed, e);
    if (failed)
        return COV_ENOMEM;
    t->z = arena;
    t->again = arena + again;
    float *next = arena + rest;
    for (size_t i = 0; !failed && i < p.end; i++) {
        struct cov_train_layer *s = &t->layers[i];
        if (cov_train_is_lstm(t, i)) {
            s->y = cov_train_array(t, size_of(t, i), &failed, e);
            s->dropped = s->drops ? s->y : NULL;
            s->gates = arena;
            s->cells = arena + 4 * cells_size(t, i);
            continue;
        }
        bool own = i + 1 == p.lstm;
        next = i == p.up ? arena + rest : next;
        float *kept = own ? cov_train_array(t, size_of(t, i), &failed, e) : next;
        next += own ? 0 : size_of(t, i);
        s->r = s->norm ? kept : NULL;
        s->y = !s->norm         ? kept
               : i + 1 == p.end ? cov_train_array(t, size_of(t, i), &failed, e)
                                : t->d;
    }
    /* The output of the last LSTM is not needed when the first one is computed again. */
    if (!failed && p.up > p.lstm && t->layers[p.lstm - 1].norm)
        t->again_lstm = p.up > p.lstm + 1 && size_of(t, p.up - 1) >= size_of(t, p.lstm - 1)
                            ? t->layers[p.up - 1].y
                            : cov_train_array(t, size_of(t, p.lstm - 1), &failed, e);
    return failed ? COV_ENOMEM : COV_OK;
}

int cov_train_make_activations(struct cov_cpu_training *t, struct cov_err *e)
{
    bool failed = false;
    size_t onehot = t->spec.max_batch * t->layers[0].layer.t_in * 4, largest = onehot;
    for (size_t i = 0; i < t->n_layers; i++)
        largest = cov_size_max(largest, size_of(t, i));
    t->onehot = cov_train_array(t, onehot, &failed, e);
    t->d = cov_train_array(t, largest, &failed, e);
    t->layers[t->n_layers - 1].y = cov_train_array(t, size_of(t, t->n_layers - 1), &failed, e);
    if (failed)
        return COV_ENOMEM;
    return t->spec.recompute ? share(t, e) : keep_all(t, e);
}
