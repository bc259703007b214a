/* train_memory.cu - see train_memory.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
}
#include "common/compute/cuda/train_memory.h"

#include <string.h>

enum { ALIGNMENT = 256 };

struct laying {
    size_t end;
    bool overflow;
};

/* a * b * bytes, from the next place on; NULL is no place. */
static size_t take(struct laying *l, size_t a, size_t b, size_t bytes)
{
    size_t at = l->end, size;
    l->overflow = l->overflow || cov_size_mul(a, b, &size) || cov_size_mul(size, bytes, &size) ||
                  cov_size_add(size, ALIGNMENT - 1, &size) ||
                  cov_size_add(l->end, size / ALIGNMENT * ALIGNMENT, &l->end);
    return at;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

int cov_train_splits(const struct cov_train_layer *layer, size_t n)
{
    const struct cov_cuda_outer *o = &layer->outers[0].outer;
    return cov_cuda_outer_splits(o->phase.n_taps, o->c, o->n_cols, n * (size_t)o->phase.rows);
}

static void lay_layer(const struct cov_train_layer *s, size_t n, struct laying *l,
                      struct cov_train_layer_memory *m)
{
    size_t width = (size_t)cov_channel_width(s->out), rows = n * s->layer.t_out;
    memset(m, 0, sizeof *m);
    if (s->layer.kind == COV_LAYER_LSTM) {
        m->gates = take(l, rows, width * 4, sizeof(float));
        m->cells = take(l, rows, width, sizeof(float));
        m->r = m->y = take(l, rows, width, s->y_bf16 ? 2 : 4);
        m->h = s->keeps_bf16 ? take(l, rows, width, 2) : m->y;
        m->dropped = s->drops ? take(l, rows, width, s->next_bf16 ? 2 : 4) : m->y;
        return;
    }
    m->r = take(l, rows, width, sizeof(float));
    m->y = m->dropped = s->applies ? take(l, rows, width, s->y_bf16 ? 2 : 4) : m->r;
    if (!s->norm)
        return;
    size_t *vectors[] = {&m->mean, &m->rstd, &m->scale, &m->shift, &m->by_d, &m->by_r, &m->by_one};
    for (size_t *v : vectors)
        *v = take(l, width, 1, sizeof(float));
    m->total = take(l, width, 2, sizeof(double));
}

/* What layers use in turn. */
static void lay_shared(const struct cov_train_plan *plan, size_t n, struct laying *l,
                       struct cov_train_memory *mem)
{
    size_t d = 0, z = 0, partial = 0, columns = 0;
    for (size_t i = 0; i < plan->n_layers; i++) {
        const struct cov_train_layer *s = &plan->layers[i];
        size_t rows = n * s->layer.t_out, width = (size_t)s->width;
        bool bf16 = s->products == COV_CUDA_BF16;
        d = max_size(d, rows * (size_t)cov_channel_width(s->out));
        if (s->layer.kind != COV_LAYER_LINEAR_EXP && (s->layer.kind != COV_LAYER_LSTM || bf16))
            z = max_size(z, rows * width * (bf16 ? 2 : 4));
        partial = max_size(partial, s->stride * (size_t)cov_train_splits(s, n));
        columns = max_size(columns, (size_t)cov_cuda_column_slices(rows) * 2 * width);
    }
    mem->d = take(l, d, 1, sizeof(float));
    mem->z = take(l, z, 1, 1);
    mem->partial = take(l, partial, 1, sizeof(float));
    mem->column_partial = take(l, columns, 1, sizeof(double));
}

int cov_train_lay_out(const struct cov_train_plan *plan, size_t n, struct cov_train_memory *mem,
                      struct cov_err *e)
{
    struct laying l = {};
    size_t L = plan->length, depth = plan->depth;
    size_t *blocks[] = {&mem->block,   &mem->moment1,  &mem->moment2,
                        &mem->average, &mem->gradient, &mem->sum};
    for (size_t *at : blocks)
        *at = take(&l, plan->n_floats, 1, sizeof(float));
    mem->statistic = take(&l, plan->n_floats, 1, 1);
    mem->floats = take(&l, plan->floats.n / 2, 1, sizeof(float));
    mem->halves = take(&l, plan->halves.n / 2, 1, 2);
    mem->float_places = take(&l, plan->floats.n, 1, sizeof(int));
    mem->half_places = take(&l, plan->halves.n, 1, sizeof(int));
    mem->collected = take(&l, plan->collected.n, 1, sizeof(int));
    mem->ones = take(&l, (size_t)plan->most_columns, 1, sizeof(float));
    mem->zeros = take(&l, (size_t)plan->most_columns, 1, sizeof(float));
    mem->table = take(&l, 16, 4, sizeof(float));
    mem->loss_weights = take(&l, depth, 1, sizeof(float));
    mem->slices = take(&l, n * (size_t)cov_cuda_loss_slices((int)L), depth * 7, sizeof(double));
    mem->scores = take(&l, n, depth, sizeof(double));
    mem->sums = take(&l, 4, 1, sizeof(double));
    mem->squares = take(&l, (size_t)cov_cuda_square_slices(plan->n_floats), 1, sizeof(double));
    mem->square_total = take(&l, 1, 1, sizeof(double));
    mem->codes = take(&l, n, (L + 1) / 2, 1);
    mem->targets = take(&l, n * L, depth, sizeof(float));
    mem->present = take(&l, n, depth, 1);
    mem->onehot = take(&l, n * L, 8, plan->layers[0].products == COV_CUDA_BF16 ? 2 : 4);
    for (size_t i = 0; i < plan->n_layers; i++)
        lay_layer(&plan->layers[i], n, &l, &mem->layers[i]);
    lay_shared(plan, n, &l, mem);
    mem->bytes = l.end;
    return l.overflow ? cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", n) : COV_OK;
}
