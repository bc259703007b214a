/* train_state.c - see train_state.h: where the arrays of a training are.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/train/train_state.h"

#include "common/base/mem.h"

/* Large arrays use large pages and are not initialised. */
float *cov_train_array(struct cov_cpu_training *t, size_t n, bool *failed, struct cov_err *e)
{
    const size_t page = (size_t)1 << 21;
    size_t bytes;
    float *p = NULL;
    if (COV_RESERVE(&t->arrays, &t->cap_arrays, t->n_arrays + 1, e)) {
        *failed = true;
        return NULL;
    }
    if (n < page)
        p = cov_calloc64(n, sizeof *p, e);
    else if (cov_size_mul(n, sizeof *p, &bytes) || cov_size_add(bytes, page, &bytes))
        (void)cov_fail(e, COV_ENOMEM, "out of memory: %zu activations", n);
    else
        p = cov_malloc_huge(bytes / page * page, e);
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

int cov_train_reduce(const struct cov_cpu_training *t, double *v, size_t n, struct cov_err *e)
{
    return t->spec.reduce.fn ? t->spec.reduce.fn(t->spec.reduce.arg, v, n, e) : COV_OK;
}

void cov_train_transpose(const float *src, size_t rows, size_t cols, size_t src_stride, float *dst,
                         size_t dst_stride)
{
    enum { TILE = 16 };
    for (size_t r0 = 0; r0 < rows; r0 += TILE)
        for (size_t c0 = 0; c0 < cols; c0 += TILE)
            for (size_t c = c0; c < cols && c < c0 + TILE; c++)
                for (size_t r = r0; r < rows && r < r0 + TILE; r++)
                    dst[c * dst_stride + r] = src[r * src_stride + c];
}
