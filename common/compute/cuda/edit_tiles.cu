/* edit_tiles.cu - see edit_tiles.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/edit_tiles.h"

bool cov_edit_tiles_fit(const struct cov_cuda_plan *plan, size_t t)
{
    for (size_t i = 0; i < plan->n_layers; i++) {
        const struct cov_layer *l = &plan->layers[i];
        const bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
        const size_t stride = l->kind == COV_LAYER_CONV || transposed ? l->stride : 1;
        if (l->t_in % t != 0 || l->t_out % t != 0 ||
            (transposed ? l->t_out != stride * l->t_in : l->t_in != stride * l->t_out))
            return false;
    }
    return true;
}

struct cov_rows cov_edit_tiles_reached(const struct cov_cuda_plan *plan, struct cov_rows layers,
                                       struct cov_rows rows)
{
    for (size_t i = layers.beg; i < layers.end && rows.beg < rows.end; i++)
        rows = cov_plan_reached(&plan->layers[i], rows);
    return rows;
}

/* Sets head and tail, and returns the most rows of the output that one row of the input reaches. */
static int measure(const struct cov_cuda_plan *plan, size_t t, struct cov_edit_tiles *out,
                   size_t *reach, struct cov_err *e)
{
    enum { FAR = 4096 }; /* from both ends: more than any kernel reaches */
    const struct cov_rows layers = {out->beg, out->end};
    struct cov_cuda_plan wide;
    int rc = cov_cuda_plan_resize(plan, t, 3 * FAR, &wide, e);
    if (rc)
        return rc;
    const size_t beg = FAR * out->in, end = 2 * FAR * out->in, n = 3 * FAR * out->in;
    struct cov_rows before = cov_edit_tiles_reached(&wide, layers, {0, beg}),
                    after = cov_edit_tiles_reached(&wide, layers, {end, n});
    out->head = before.end > FAR * out->out ? before.end - FAR * out->out : 0;
    out->tail = after.beg < 2 * FAR * out->out ? 2 * FAR * out->out - after.beg : 0;
    *reach = 0;
    for (size_t i = 0; i < out->in; i++) {
        struct cov_rows rows = cov_edit_tiles_reached(&wide, layers, {beg + i, beg + i + 1});
        *reach = rows.end - rows.beg > *reach ? rows.end - rows.beg : *reach;
    }
    cov_cuda_plan_fini(&wide);
    return COV_OK;
}

int cov_edit_tiles_init(const struct cov_cuda_plan *plan, struct cov_rows layers, size_t t,
                        size_t wanted, struct cov_edit_tiles *out, struct cov_err *e)
{
    size_t reach;
    *out = {};
    out->beg = layers.beg;
    out->end = layers.end;
    out->t = t;
    out->in = plan->layers[layers.beg].t_in / t;
    out->out = plan->layers[layers.end - 1].t_out / t;
    int rc = measure(plan, t, out, &reach, e);
    if (rc)
        return rc;
    const size_t right = reach > wanted * out->out ? reach : wanted * out->out;
    out->rows = (right + out->head + out->tail + out->out - 1) / out->out;
    out->rows = out->rows < t ? out->rows : t;
    return cov_cuda_plan_resize(plan, t, out->rows, &out->plan, e);
}

size_t cov_edit_tiles_cut(const struct cov_edit_tiles *tiles, size_t chunk, struct cov_rows rows,
                          struct cov_edit_tile *to)
{
    size_t n = 0;
    while (rows.beg < rows.end) {
        const size_t most = tiles->t - tiles->rows;
        size_t first = rows.beg > tiles->head ? (rows.beg - tiles->head) / tiles->out : 0;
        first = first < most ? first : most;
        size_t end = (first + tiles->rows) * tiles->out - (first < most ? tiles->tail : 0);
        end = end < rows.end ? end : rows.end;
        if (to)
            to[n] = {chunk, first, rows.beg, end};
        n++;
        rows.beg = end;
    }
    return n;
}
