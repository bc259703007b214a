/* train_run.cu - see train_run.h. Works on one stream, layer by layer over the whole batch, since a
 * norm needs all of it. The host waits only at the end, except to add sums of other cards and
 * processes.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/compute/cuda/runtime.h"
}
#include "common/compute/cuda/train_run.h"

#include <string.h>

void *cov_train_at(const struct cov_cuda_training *t, size_t offset)
{
    return t->memory + offset;
}

static float *floats(const struct cov_cuda_training *t, size_t offset)
{
    return (float *)cov_train_at(t, offset);
}

static double *doubles(const struct cov_cuda_training *t, size_t offset)
{
    return (double *)cov_train_at(t, offset);
}

/* The input of layer i. */
static const void *input_of(const struct cov_cuda_training *t, size_t i)
{
    return cov_train_at(t, i == 0 ? t->mem.onehot : t->mem.layers[i - 1].dropped);
}

static size_t rows_of(const struct cov_cuda_training *t, size_t i)
{
    return t->n * t->plan.layers[i].layer.t_out;
}

/* ---- sums over a batch ---- */

/* Sums over node k of n values each. */
static struct cov_cuda_sums sums_of(const struct cov_cuda_training *t, size_t k, int slices,
                                    size_t stride, size_t n)
{
    struct cov_cuda_sums s = {};
    s.stride = stride;
    s.n = n;
    s.slices = slices;
    s.parts = t->parts;
    s.node = t->nodes[k];
    return s;
}

/* Sets v[n], on the card, to the sums of the whole batch. partial[sequence, slice][n]; v has space for
 * n values of each node. */
static int add_up(struct cov_cuda_training *t, const double *partial, int slices, double *v,
                  size_t n, struct cov_err *e)
{
    for (size_t k = 0; k < t->plan.n_nodes; k++) {
        struct cov_cuda_sums s = sums_of(t, k, slices, n, n);
        cov_cuda_sum_doubles(&s, partial, v + k * n, t->stream);
    }
    if (!t->share && !t->reduce.fn)
        return COV_OK;
    int rc = cov_rt_copy_out(t->stream, t->few, v, t->plan.n_nodes * n * sizeof *v, e);
    if (!rc)
        rc = cov_rt_wait(t->stream, e);
    if (!rc && t->share)
        rc = t->share->add_doubles(t->share->arg, t->few, n, e);
    if (!rc && t->reduce.fn)
        rc = t->reduce.fn(t->reduce.arg, t->few, n, e);
    return rc ? rc : cov_rt_copy_in(t->stream, v, t->few, n * sizeof *v, e);
}

/* Replaces the gradient by its sum over all cards. */
static int add_gradients(struct cov_cuda_training *t, struct cov_err *e)
{
    float *v = floats(t, t->mem.gradient);
    size_t n = t->plan.n_floats;
    if (!t->share)
        return COV_OK;
    int rc = cov_rt_copy_out(t->stream, t->host_gradients, v, t->plan.n_nodes * n * sizeof *v, e);
    if (!rc)
        rc = cov_rt_wait(t->stream, e);
    if (!rc)
        rc = t->share->add_floats(t->share->arg, t->host_gradients, n, e);
    return rc ? rc : cov_rt_copy_in(t->stream, v, t->host_gradients, n * sizeof *v, e);
}

/* The gradient over node k. */
static float *gradient_of(const struct cov_cuda_training *t, size_t k)
{
    return floats(t, t->mem.gradient) + k * t->plan.n_floats;
}

/* Queues the column sums of layer i over node k. */
static void queue_columns(const struct cov_cuda_training *t, size_t i, size_t k)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const size_t n = (size_t)s->width * 2;
    struct cov_cuda_sums sums = sums_of(t, k, cov_cuda_column_slices((int)s->layer.t_out), n, n);
    cov_cuda_sum_columns(&sums, doubles(t, t->mem.column_partial), floats(t, t->mem.column_node),
                         t->stream);
}

/* ---- products ---- */

static void queue_product(const struct cov_cuda_training *t, const struct cov_train_layer *s,
                          const struct cov_train_product *p, const void *x, const float *bias,
                          float *y)
{
    struct cov_cuda_gemm g = p->gemm;
    bool bf16 = s->products == COV_CUDA_BF16;
    g.n = (int)t->n;
    g.x = x;
    g.w = bf16 ? (const void *)((const uint16_t *)cov_train_at(t, t->mem.halves) + p->w)
               : (const void *)(floats(t, t->mem.floats) + p->w);
    g.bias = bias;
    g.scale = floats(t, t->mem.ones);
    g.shift = floats(t, t->mem.zeros);
    g.y = y;
    cov_cuda_gemm(s->products, &g, t->stream);
}

/* Queues the gradients of weights and biases over node k, given their partial sums. */
static void collect_gradients(const struct cov_cuda_training *t, size_t i, size_t k)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    float *node = floats(t, t->mem.node), *columns = floats(t, t->mem.column_node);
    struct cov_cuda_sums sums = sums_of(t, k, s->splits, s->stride, s->stride);
    cov_cuda_sum_floats(&sums, floats(t, t->mem.partial), node, t->stream);
    queue_columns(t, i, k);
    for (size_t c = 0; c < s->n_collects; c++) {
        const struct cov_train_collect *from = &s->collects[c];
        const int *places = from->places == COV_TRAIN_IN_ORDER
                                ? NULL
                                : (const int *)cov_train_at(t, t->mem.collected) + from->places;
        cov_cuda_collect(from->of_columns ? columns : node, places, gradient_of(t, k) + from->to,
                         from->n, t->stream);
    }
}

/* Queues the gradients of weights and biases, given z, the gradient of the sums. */
static void queue_gradients(const struct cov_cuda_training *t, size_t i, const void *z)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    size_t element = s->products == COV_CUDA_BF16 ? 2 : 4;
    for (size_t k = 0; k < s->n_outers; k++) {
        const struct cov_train_outer *from = &s->outers[k];
        struct cov_cuda_outer o = from->outer;
        const void *x = from->of_h ? cov_train_at(t, m->h) : input_of(t, i);
        o.n = (int)t->n;
        o.x = (const char *)x + from->x_first * element;
        o.z = (const char *)z + from->z_first * element;
        o.partial = floats(t, t->mem.partial) + from->at;
        o.splits = s->splits;
        o.stride = s->stride;
        cov_cuda_outer(s->products, &o, t->stream);
    }
    for (size_t k = 0; k < t->plan.n_nodes; k++)
        collect_gradients(t, i, k);
}

/* ---- convolutions ---- */

static struct cov_cuda_norm norm_of(const struct cov_cuda_training *t, size_t i, double positions)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    const float *block = floats(t, t->mem.block);
    struct cov_cuda_norm n = {};
    n.total = doubles(t, m->total);
    n.gamma = block + s->norm_places.gamma;
    n.beta = block + s->norm_places.beta;
    n.mean = floats(t, m->mean);
    n.var = floats(t, m->var);
    n.rstd = floats(t, m->rstd);
    n.scale = floats(t, m->scale);
    n.shift = floats(t, m->shift);
    n.by_d = floats(t, m->by_d);
    n.by_r = floats(t, m->by_r);
    n.by_one = floats(t, m->by_one);
    n.positions = positions;
    n.eps = COV_NORM_EPS;
    n.c = s->out.size;
    n.width = s->width;
    return n;
}

static struct cov_cuda_columns columns_of(const struct cov_cuda_training *t, size_t i,
                                          enum cov_cuda_column_kind kind)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    struct cov_cuda_columns c = {};
    c.kind = kind;
    c.r = floats(t, m->r);
    c.dy = floats(t, t->mem.d);
    c.mean = floats(t, m->mean);
    c.rstd = floats(t, m->rstd);
    c.by_d = floats(t, s->norm ? m->by_d : t->mem.ones);
    c.by_r = floats(t, s->norm ? m->by_r : t->mem.zeros);
    c.by_one = floats(t, s->norm ? m->by_one : t->mem.zeros);
    c.z = cov_train_at(t, t->mem.z);
    c.z_bf16 = s->products == COV_CUDA_BF16;
    c.partial = doubles(t, t->mem.column_partial);
    c.n = (int)t->n;
    c.t = (int)s->layer.t_out;
    c.width = s->width;
    return c;
}

/* Queues the totals of layer i's column sums over the whole batch. *positions = the number of its
 * positions. */
static int total_up(struct cov_cuda_training *t, size_t i, double *positions, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    int rc =
        add_up(t, doubles(t, t->mem.column_partial), cov_cuda_column_slices((int)s->layer.t_out),
               doubles(t, t->mem.layers[i].total), (size_t)s->width * 2, e);
    *positions = (double)(t->parts.n * s->layer.t_out);
    return rc || !t->reduce.fn ? rc : t->reduce.fn(t->reduce.arg, positions, 1, e);
}

/* Queues the gradients of a norm's parameters, given the partial sums of its columns. */
static void collect_norm(const struct cov_cuda_training *t, size_t i)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const float *columns = floats(t, t->mem.column_node);
    for (size_t k = 0; k < t->plan.n_nodes; k++) {
        queue_columns(t, i, k);
        cov_cuda_collect(columns, NULL, gradient_of(t, k) + s->norm_places.beta, s->layer.c_out,
                         t->stream);
        cov_cuda_collect(columns + s->width, NULL, gradient_of(t, k) + s->norm_places.gamma,
                         s->layer.c_out, t->stream);
    }
}

/* Queues a convolution's output, after its norm. */
static void queue_output(const struct cov_cuda_training *t, size_t i)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    struct cov_cuda_norm_apply apply = {floats(t, m->r),
                                        floats(t, s->norm ? m->scale : t->mem.ones),
                                        floats(t, s->norm ? m->shift : t->mem.zeros),
                                        cov_train_at(t, m->y),
                                        s->y_bf16,
                                        rows_of(t, i),
                                        s->width};
    cov_cuda_norm_apply(&apply, t->stream);
}

static int conv_forward(struct cov_cuda_training *t, size_t i, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    const float *bias = floats(t, t->mem.floats) + s->bias;
    for (size_t k = 0; k < s->n_forward; k++)
        queue_product(t, s, &s->forward[k], input_of(t, i), bias, floats(t, m->r));
    if (!s->applies)
        return COV_OK;
    if (s->norm) {
        double positions;
        struct cov_cuda_columns c = columns_of(t, i, COV_CUDA_COLUMN_NORM);
        cov_cuda_columns(&c, t->stream);
        int rc = total_up(t, i, &positions, e);
        if (rc)
            return rc;
        struct cov_cuda_norm n = norm_of(t, i, positions);
        cov_cuda_norm_forward(&n, t->stream);
    }
    queue_output(t, i);
    return COV_OK;
}

static int conv_backward(struct cov_cuda_training *t, size_t i, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    if (s->norm) {
        double positions;
        struct cov_cuda_columns sums = columns_of(t, i, COV_CUDA_COLUMN_NORM_BACK);
        cov_cuda_columns(&sums, t->stream);
        collect_norm(t, i);
        int rc = total_up(t, i, &positions, e);
        if (rc)
            return rc;
        struct cov_cuda_norm n = norm_of(t, i, positions);
        cov_cuda_norm_backward(&n, t->stream);
    }
    struct cov_cuda_columns c = columns_of(t, i, COV_CUDA_COLUMN_BACK);
    cov_cuda_columns(&c, t->stream);
    queue_gradients(t, i, c.z);
    for (size_t k = 0; i > t->first_trained && k < s->n_back; k++)
        queue_product(t, s, &s->back[k], c.z, floats(t, t->mem.zeros), floats(t, t->mem.d));
    return COV_OK;
}

/* ---- LSTMs ---- */

static struct cov_cuda_lstm_train lstm_of(const struct cov_cuda_training *t, size_t i, bool back)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    struct cov_cuda_lstm_train l = {};
    l.gates = floats(t, m->gates);
    l.cells = floats(t, m->cells);
    size_t w = back ? s->w_back : s->w_forth;
    l.w = s->bf16_steps ? (const void *)((const uint16_t *)cov_train_at(t, t->mem.halves) + w)
                        : (const void *)(floats(t, t->mem.floats) + w);
    l.n = (int)t->n;
    l.t = (int)s->layer.t_out;
    l.directions = s->out.groups;
    l.units = s->out.pitch;
    l.resident = s->resident;
    l.multiprocessors = t->multiprocessors;
    l.y = cov_train_at(t, m->y);
    l.y_bf16 = s->y_bf16;
    l.h_bf16 = s->keeps_bf16 ? (uint16_t *)cov_train_at(t, m->h) : NULL;
    l.dy = floats(t, t->mem.d);
    l.dgates_bf16 = s->products == COV_CUDA_BF16;
    l.dgates = l.dgates_bf16 ? cov_train_at(t, t->mem.z) : (void *)l.gates;
    return l;
}

/* Applies dropout to an LSTM's output or to its gradient. */
static void queue_dropout(const struct cov_cuda_training *t, size_t i, const float *from, void *to,
                          bool bf16)
{
    struct cov_cuda_dropout d = {};
    d.from = from;
    d.to = to;
    d.to_bf16 = bf16;
    d.now = (const struct cov_cuda_moment *)cov_train_at(t, t->mem.now);
    d.seed = t->seed;
    d.layer = i;
    d.limit = (uint32_t)(t->dropout * 4294967296.0);
    d.keep = (float)(1 / (1 - t->dropout));
    d.n = (int)t->n;
    d.t = (int)t->plan.layers[i].layer.t_out;
    d.channels = t->plan.layers[i].out;
    cov_cuda_dropout(&d, t->stream);
}

static void lstm_forward(const struct cov_cuda_training *t, size_t i)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    const struct cov_train_layer_memory *m = &t->mem.layers[i];
    queue_product(t, s, &s->forward[0], input_of(t, i), floats(t, t->mem.floats) + s->bias,
                  floats(t, m->gates));
    struct cov_cuda_lstm_train l = lstm_of(t, i, false);
    if (s->bf16_steps)
        cov_cuda_lstm_forward_bf16(&l, t->stream);
    else
        cov_cuda_lstm_forward_fp32(&l, t->stream);
    if (s->drops)
        queue_dropout(t, i, floats(t, m->y), cov_train_at(t, m->dropped), s->next_bf16);
}

static void lstm_backward(const struct cov_cuda_training *t, size_t i)
{
    const struct cov_train_layer *s = &t->plan.layers[i];
    if (s->drops)
        queue_dropout(t, i, floats(t, t->mem.d), floats(t, t->mem.d), false);
    struct cov_cuda_lstm_train l = lstm_of(t, i, true);
    if (s->bf16_steps)
        cov_cuda_lstm_backward_bf16(&l, t->stream);
    else
        cov_cuda_lstm_backward_fp32(&l, t->stream);
    struct cov_cuda_columns c = columns_of(t, i, COV_CUDA_COLUMN_SUM);
    c.z = l.dgates;
    cov_cuda_columns(&c, t->stream);
    queue_gradients(t, i, l.dgates);
    if (i > t->first_trained)
        queue_product(t, s, &s->back[0], l.dgates, floats(t, t->mem.zeros), floats(t, t->mem.d));
}

/* ---- the network ---- */

static struct cov_cuda_loss loss_of(const struct cov_cuda_training *t)
{
    size_t last = t->plan.n_layers - 1;
    struct cov_cuda_loss l = {};
    l.p = floats(t, t->mem.layers[last].r);
    l.codes = (const uint8_t *)cov_train_at(t, t->mem.codes);
    l.targets = floats(t, t->mem.targets);
    l.present = (const uint8_t *)cov_train_at(t, t->mem.present);
    l.weights = floats(t, t->mem.loss_weights);
    l.slices = doubles(t, t->mem.slices);
    l.scores = doubles(t, t->mem.scores);
    l.rows = doubles(t, t->mem.rows);
    l.sums = doubles(t, t->mem.sums);
    l.n = (int)t->n;
    l.t = (int)t->plan.length;
    l.depth = (int)t->plan.depth;
    l.pitch = t->plan.layers[last].width;
    return l;
}

static void pack(struct cov_cuda_training *t)
{
    const float *block = floats(t, t->mem.block);
    if (t->packed)
        return;
    cov_cuda_gather(block, (const int *)cov_train_at(t, t->mem.float_places),
                    cov_train_at(t, t->mem.floats), false, t->plan.floats.n / 2, t->stream);
    cov_cuda_gather(block, (const int *)cov_train_at(t, t->mem.half_places),
                    cov_train_at(t, t->mem.halves), true, t->plan.halves.n / 2, t->stream);
    t->packed = true;
}

static int forward(struct cov_cuda_training *t, struct cov_err *e)
{
    int rc = COV_OK;
    cov_cuda_onehot((const uint8_t *)cov_train_at(t, t->mem.codes), floats(t, t->mem.table),
                    cov_train_at(t, t->mem.onehot), t->plan.layers[0].products == COV_CUDA_BF16,
                    (int)t->n, (int)t->plan.length, t->stream);
    for (size_t i = 0; !rc && i < t->plan.n_layers; i++) {
        if (t->plan.layers[i].layer.kind == COV_LAYER_LSTM)
            lstm_forward(t, i);
        else
            rc = conv_forward(t, i, e);
        if (!rc)
            rc = cov_rt_launched("the forward pass of training", e);
    }
    return rc;
}

/* Computes the gradients of the last layer from the gradient of its output. */
static void last_backward(const struct cov_cuda_training *t)
{
    size_t i = t->plan.n_layers - 1;
    const struct cov_train_layer *s = &t->plan.layers[i];
    float *p = floats(t, t->mem.layers[i].r);
    struct cov_cuda_columns c = columns_of(t, i, COV_CUDA_COLUMN_SUM);
    c.z = p;
    cov_cuda_columns(&c, t->stream);
    queue_gradients(t, i, p);
    if (i > t->first_trained)
        queue_product(t, s, &s->back[0], p, floats(t, t->mem.zeros), floats(t, t->mem.d));
}

/* With recompute: queues again what the backward pass of a layer before the last one reads, bit for
 * bit the same. */
static void compute_again(const struct cov_cuda_training *t, size_t i)
{
    if (i > 0 && t->plan.layers[i - 1].applies)
        queue_output(t, i - 1);
    if (t->plan.layers[i].layer.kind == COV_LAYER_LSTM)
        lstm_forward(t, i);
}

static int backward(struct cov_cuda_training *t, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = t->plan.n_layers; !rc && i-- > t->first_trained;) {
        const bool last = i + 1 == t->plan.n_layers;
        if (!last && t->plan.recompute)
            compute_again(t, i);
        if (last)
            last_backward(t);
        else if (t->plan.layers[i].layer.kind == COV_LAYER_LSTM)
            lstm_backward(t, i);
        else
            rc = conv_backward(t, i, e);
        if (!rc)
            rc = cov_rt_launched("the backward pass of training", e);
    }
    return rc;
}

/* Queues the mean and variance of the batch, at the places of the running statistics. */
static void collect_statistics(const struct cov_cuda_training *t)
{
    float *gradient = gradient_of(t, 0);
    for (size_t i = 0; i < t->plan.n_layers; i++) {
        const struct cov_train_layer *s = &t->plan.layers[i];
        const struct cov_train_layer_memory *m = &t->mem.layers[i];
        if (!s->norm)
            continue;
        cov_cuda_collect(floats(t, m->mean), NULL, gradient + s->norm_places.mean, s->layer.c_out,
                         t->stream);
        cov_cuda_collect(floats(t, m->var), NULL, gradient + s->norm_places.var, s->layer.c_out,
                         t->stream);
    }
}

static int copy_batch(struct cov_cuda_training *t, struct cov_err *e)
{
    const size_t L = t->plan.length, depth = t->plan.depth;
    const struct {
        size_t to;
        const void *from;
        size_t bytes;
    } copies[] = {
        {t->mem.codes, t->codes, t->n * ((L + 1) / 2)},
        {t->mem.targets, t->targets, t->n * L * depth * sizeof *t->targets},
        {t->mem.present, t->present, t->n * depth},
        {t->mem.now, t->now, sizeof *t->now},
    };
    int rc = COV_OK;
    for (const auto &c : copies)
        if (!rc && c.bytes)
            rc = cov_rt_copy_in(t->stream, cov_train_at(t, c.to), c.from, c.bytes, e);
    return rc;
}

static int queue_pass(struct cov_cuda_training *t, struct cov_err *e)
{
    int rc = copy_batch(t, e);
    if (!rc)
        rc = forward(t, e);
    struct cov_cuda_loss l = loss_of(t);
    if (!rc) {
        cov_cuda_loss_score(&l, t->stream);
        rc = add_up(t, l.rows, l.depth, doubles(t, t->mem.sums), 4, e);
    }
    if (!rc) {
        cov_cuda_loss_backward(&l, t->stream);
        rc = backward(t, e);
    }
    if (!rc)
        rc = add_gradients(t, e);
    if (!rc)
        collect_statistics(t);
    return rc ? rc : cov_rt_copy_out(t->stream, t->few, l.sums, 4 * sizeof *t->few, e);
}

/* Records a pass of t->n chunks. */
static int record_pass(struct cov_cuda_training *t, struct cov_err *e)
{
    int rc = cov_rt_record(t->stream, e);
    if (rc)
        return rc;
    void *graph;
    rc = queue_pass(t, e);
    int ended = cov_rt_recorded(t->stream, &graph, rc ? NULL : e);
    if (!rc)
        t->graphs[t->n] = graph;
    else
        cov_rt_graph_free(t->card, graph);
    return rc ? rc : ended;
}

/* Queues a pass as a graph, or as single kernels if the shape is new, since the first launch of a kernel may
 * load it, which a recording may not; or if there can be no graph. */
static int queue_graph(struct cov_cuda_training *t, struct cov_err *e)
{
    struct cov_err why = COV_ERR_INIT;
    if (t->has_graphs && t->seen[t->n] && !t->graphs[t->n] && record_pass(t, &why)) {
        cov_debug("%s: training without graphs: %s", t->name, why.text);
        t->has_graphs = false;
    }
    t->seen[t->n] = true;
    return t->graphs[t->n] ? cov_rt_replay(t->stream, t->graphs[t->n], e) : queue_pass(t, e);
}

int cov_train_pass(struct cov_cuda_training *t, size_t n, double sums[4], struct cov_err *e)
{
    t->n = n;
    t->parts.n = t->share ? t->share->parts.n : n;
    pack(t);
    int rc = cov_rt_finish(t->stream, queue_graph(t, e), e);
    memcpy(sums, t->few, 4 * sizeof *sums);
    return rc;
}
