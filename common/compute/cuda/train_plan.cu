/* train_plan.cu - see train_plan.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
}
#include "common/compute/cuda/train_plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Packed operands begin at whole pieces, of floats as of bf16. */
enum { ALIGNMENT = 64 };

struct making_training {
    struct cov_train_plan *plan;
    const struct cov_training_spec *spec;
    struct cov_cuda_arithmetic arithmetic;
    size_t shared_bytes;
};

/* As in prediction: what the exponential amplifies is exact. */
static enum cov_cuda_products products_of(const struct making_training *m, size_t i)
{
    const struct cov_layer *l = &m->spec->layers[i];
    if (l->kind == COV_LAYER_LSTM)
        return m->arithmetic.lstm;
    return i + 2 >= m->spec->n_layers ? COV_CUDA_FP32 : m->arithmetic.conv;
}

static size_t place_of(const struct making_training *m, const float *parameter)
{
    return (size_t)(parameter - m->spec->block);
}

/* ---- packed operands ---- */

static struct cov_train_places *places_for(struct making_training *m,
                                           enum cov_cuda_products products)
{
    return products == COV_CUDA_BF16 ? &m->plan->halves : &m->plan->floats;
}

/* Room for n elements that are 0 so far; *first is the first of them. */
static int add_packed(struct cov_train_places *p, size_t n, size_t *first, struct cov_err *e)
{
    size_t end = p->n + 2 * ((n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (COV_RESERVE(&p->v, &p->cap, end, e))
        return COV_ENOMEM;
    *first = p->n / 2;
    for (; p->n < end; p->n++)
        p->v[p->n] = -1;
    return COV_OK;
}

static void set_packed(struct cov_train_places *p, size_t element, size_t place)
{
    p->v[2 * element] = (int)place;
}

/* Row k, column `column` of a product's weights. */
static void set_weight(struct making_training *m, enum cov_cuda_products products,
                       const struct cov_train_product *p, int k, int column, size_t place)
{
    size_t at = cov_cuda_gemm_weight(products, &p->gemm, k, column);
    set_packed(places_for(m, products), p->w + at, place);
}

static int add_collected(struct making_training *m, size_t n, size_t *first, struct cov_err *e)
{
    struct cov_train_places *p = &m->plan->collected;
    if (COV_RESERVE(&p->v, &p->cap, p->n + n, e))
        return COV_ENOMEM;
    *first = p->n;
    p->n += n;
    return COV_OK;
}

/* ---- products and gradients of weights ---- */

static int add_product(struct making_training *m, struct cov_train_product *p,
                       enum cov_cuda_products products, const struct cov_conv_phase *phase,
                       size_t t_in, int c, size_t t_out, int columns, struct cov_err *e)
{
    struct cov_cuda_gemm *g = &p->gemm;
    memset(p, 0, sizeof *p);
    g->phase = *phase;
    g->t_in = (int)t_in;
    g->t_out = (int)t_out;
    g->c = c;
    g->pitch = g->n_cols = columns;
    if (m->plan->most_columns < columns)
        m->plan->most_columns = columns;
    cov_cuda_gemm_sizes(products, phase->n_taps, c, columns, &g->k, &g->width);
    return add_packed(places_for(m, products), (size_t)g->k * g->width, &p->w, e);
}

static void set_outer(struct cov_train_layer *s, struct cov_train_outer *o,
                      const struct cov_conv_phase *phase, int x_pitch, int c, int z_pitch,
                      int columns)
{
    struct cov_cuda_outer *u = &o->outer;
    u->phase = *phase;
    u->t_in = (int)s->layer.t_in;
    u->t_out = (int)s->layer.t_out;
    u->x_pitch = x_pitch;
    u->c = c;
    u->z_pitch = z_pitch;
    u->n_cols = columns;
    o->at = s->stride;
    s->stride += (size_t)phase->n_taps * c * columns;
}

static struct cov_train_collect *add_collect(struct cov_train_layer *s, bool of_columns, size_t to,
                                             size_t n)
{
    struct cov_train_collect *c = &s->collects[s->n_collects++];
    c->of_columns = of_columns;
    c->to = to;
    c->n = n;
    c->places = COV_TRAIN_IN_ORDER;
    return c;
}

/* Phase i of how a convolution, or its transposed, goes over rows. */
static struct cov_conv_phase phase_of(const struct cov_layer *l, bool transposed, size_t i,
                                      size_t t_out)
{
    int kernel = (int)l->kernel, stride = (int)l->stride, dilation = (int)l->dilation;
    return transposed ? cov_conv_phase_transposed((int)i, (int)t_out, kernel, stride, dilation,
                                                  (int)l->pad)
                      : cov_conv_phase_plain((int)t_out, kernel, stride, dilation, (int)l->pad);
}

static int make_arrays(struct cov_train_layer *s, size_t n_forward, size_t n_back, size_t n_outers,
                       struct cov_err *e)
{
    s->forward = (struct cov_train_product *)cov_calloc(n_forward, sizeof *s->forward, e);
    s->back = (struct cov_train_product *)cov_calloc(n_back, sizeof *s->back, e);
    s->outers = (struct cov_train_outer *)cov_calloc(n_outers, sizeof *s->outers, e);
    s->n_forward = n_forward;
    s->n_back = n_back;
    s->n_outers = n_outers;
    return s->forward && s->back && s->outers ? COV_OK : COV_ENOMEM;
}

/* ---- convolutions and the last layer ---- */

/* Where, from the first of a layer's weights, that of channel i of the input, o of the output, tap k is. */
static size_t weight_at(const struct cov_layer *l, size_t i, size_t o, size_t k)
{
    return l->kind == COV_LAYER_CONV_TRANSPOSED ? (i * l->c_out + o) * l->kernel + k
                                                : (o * l->c_in + i) * l->kernel + k;
}

/* Calls of this kind go over all weights that a phase has. */
typedef void (*weight_fn)(struct making_training *m, struct cov_train_layer *s, size_t which,
                          int tap, size_t i, size_t o, size_t place);

static void each_weight(struct making_training *m, struct cov_train_layer *s, size_t which,
                        const struct cov_conv_phase *phase, size_t first, weight_fn fn)
{
    const struct cov_layer *l = &s->layer;
    for (int tap = 0; tap < phase->n_taps; tap++)
        for (size_t i = 0; i < l->c_in; i++)
            for (size_t o = 0; o < l->c_out; o++) {
                size_t k = (size_t)(phase->k_first + tap * phase->k_step);
                fn(m, s, which, tap, i, o, first + weight_at(l, i, o, k));
            }
}

static void set_forward(struct making_training *m, struct cov_train_layer *s, size_t which, int tap,
                        size_t i, size_t o, size_t place)
{
    const struct cov_train_product *p = &s->forward[which];
    set_weight(m, s->products, p, tap * p->gemm.c + cov_channel_place(s->in, (int)i), (int)o,
               place);
}

static void set_back(struct making_training *m, struct cov_train_layer *s, size_t which, int tap,
                     size_t i, size_t o, size_t place)
{
    const struct cov_train_product *p = &s->back[which];
    set_weight(m, s->products, p, tap * p->gemm.c + (int)o, cov_channel_place(s->in, (int)i),
               place);
}

/* collects[0] is of the weights. */
static void set_gradient(struct making_training *m, struct cov_train_layer *s, size_t which,
                         int tap, size_t i, size_t o, size_t place)
{
    const struct cov_train_outer *u = &s->outers[which];
    size_t row = (size_t)tap * u->outer.c + cov_channel_place(s->in, (int)i);
    m->plan->collected.v[s->collects[0].places + place - s->collects[0].to] =
        (int)(u->at + row * u->outer.n_cols + o);
}

static int make_conv(struct making_training *m, size_t which, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    const struct cov_layer *l = &s->layer;
    const struct cov_layer_weights *w = &m->spec->weights[which];
    bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    size_t n_forward = transposed ? l->stride : 1, first = place_of(m, w->weight);
    size_t n_back = which == 0 ? 0 : transposed ? 1 : l->stride;
    size_t n_weights = l->c_in * l->c_out * l->kernel;
    int width_in = cov_channel_width(s->in);
    s->width = cov_channel_width(s->out);
    int rc = make_arrays(s, n_forward, n_back, n_forward, e);
    struct cov_train_collect *weights = add_collect(s, false, first, n_weights);
    if (!rc)
        rc = add_collected(m, n_weights, &weights->places, e);
    for (size_t i = 0; !rc && i < n_forward; i++) {
        struct cov_conv_phase phase = phase_of(l, transposed, i, l->t_out);
        rc = add_product(m, &s->forward[i], s->products, &phase, l->t_in, width_in, l->t_out,
                         s->width, e);
        if (rc)
            return rc;
        s->forward[i].gemm.relu = l->kind != COV_LAYER_LINEAR_EXP;
        set_outer(s, &s->outers[i], &phase, width_in, width_in, s->width, s->width);
        each_weight(m, s, i, &phase, first, set_forward);
        each_weight(m, s, i, &phase, first, set_gradient);
    }
    for (size_t i = 0; !rc && i < n_back; i++) {
        struct cov_conv_phase phase = phase_of(l, !transposed, i, l->t_in);
        rc = add_product(m, &s->back[i], s->products, &phase, l->t_out, s->width, l->t_in, width_in,
                         e);
        if (!rc)
            each_weight(m, s, i, &phase, first, set_back);
    }
    if (!rc)
        rc = add_packed(&m->plan->floats, (size_t)s->width, &s->bias, e);
    for (size_t o = 0; !rc && o < l->c_out; o++)
        set_packed(&m->plan->floats, s->bias + o, place_of(m, w->bias) + o);
    (void)add_collect(s, true, place_of(m, w->bias), l->c_out);
    if (s->norm) {
        s->norm_places.gamma = place_of(m, w->gamma);
        s->norm_places.beta = place_of(m, w->beta);
        s->norm_places.mean = place_of(m, w->mean);
        s->norm_places.var = place_of(m, w->var);
    }
    return rc;
}

/* ---- LSTMs ---- */

/* The products with x, and their gradients; column [direction, unit, gate]. */
static int make_gates(struct making_training *m, size_t which, int units, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    const struct cov_layer *l = &s->layer;
    int width_in = cov_channel_width(s->in);
    struct cov_conv_phase phase = cov_conv_phase_plain((int)l->t_out, 1, 1, 1, 0);
    int rc = add_product(m, &s->forward[0], s->products, &phase, l->t_in, width_in, l->t_out,
                         s->width, e);
    if (!rc)
        rc = add_product(m, &s->back[0], s->products, &phase, l->t_out, s->width, l->t_in, width_in,
                         e);
    if (!rc)
        rc = add_packed(&m->plan->floats, (size_t)s->width, &s->bias, e);
    set_outer(s, &s->outers[0], &phase, width_in, width_in, s->width, s->width);
    for (size_t d = 0; !rc && d < l->directions; d++) {
        const struct cov_layer_weights *w = &m->spec->weights[which];
        size_t first = place_of(m, w->w_ih[d]), gates = 4 * l->hidden, places;
        rc = add_collected(m, gates * l->c_in, &places, e);
        if (rc)
            break;
        add_collect(s, false, first, gates * l->c_in)->places = places;
        for (size_t g = 0; g < gates; g++) {
            int column = ((int)d * units + (int)(g % l->hidden)) * 4 + (int)(g / l->hidden);
            for (size_t i = 0; i < l->c_in; i++) {
                int at = cov_channel_place(s->in, (int)i);
                size_t place = first + g * l->c_in + i;
                set_weight(m, s->products, &s->forward[0], at, column, place);
                set_weight(m, s->products, &s->back[0], column, at, place);
                m->plan->collected.v[places + g * l->c_in + i] =
                    (int)(s->outers[0].at + (size_t)at * s->width + column);
            }
        }
    }
    return rc;
}

/* b_ih and b_hh have the same gradient. */
static int make_biases(struct making_training *m, size_t which, int units, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    const struct cov_layer *l = &s->layer;
    const struct cov_layer_weights *w = &m->spec->weights[which];
    for (size_t d = 0; d < l->directions; d++) {
        size_t gates = 4 * l->hidden, places;
        int rc = add_collected(m, gates, &places, e);
        if (rc)
            return rc;
        add_collect(s, true, place_of(m, w->b_ih[d]), gates)->places = places;
        add_collect(s, true, place_of(m, w->b_hh[d]), gates)->places = places;
        for (size_t g = 0; g < gates; g++) {
            size_t column = (d * units + g % l->hidden) * 4 + g / l->hidden;
            m->plan->collected.v[places + g] = (int)column;
            int *pair = m->plan->floats.v + 2 * (s->bias + column);
            pair[0] = (int)(place_of(m, w->b_ih[d]) + g);
            pair[1] = (int)(place_of(m, w->b_hh[d]) + g);
        }
    }
    return COV_OK;
}

/* The weights of the steps: forth w[direction, h, unit, gate], back w[direction, unit whose gate, unit of
 * h, gate]. */
static int pack_steps(struct making_training *m, size_t which, size_t units, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    const struct cov_layer *l = &s->layer;
    struct cov_train_places *p = &m->plan->floats;
    int rc = add_packed(p, l->directions * units * units * 4, &s->w_forth, e);
    if (!rc)
        rc = add_packed(p, l->directions * units * units * 4, &s->w_back, e);
    for (size_t d = 0; !rc && d < l->directions; d++)
        for (size_t g = 0; g < 4 * l->hidden; g++)
            for (size_t h = 0; h < l->hidden; h++) {
                size_t gate = g / l->hidden, u = g % l->hidden;
                size_t place = place_of(m, m->spec->weights[which].w_hh[d]) + g * l->hidden + h;
                set_packed(p, s->w_forth + ((d * units + h) * units + u) * 4 + gate, place);
                set_packed(p, s->w_back + ((d * units + u) * units + h) * 4 + gate, place);
            }
    return rc;
}

/* Of the place, direction d, for an element of the packed halves. */
static void set_fragment(struct making_training *m, size_t which, size_t d, struct cov_lstm_place p,
                         size_t element)
{
    size_t hidden = m->spec->layers[which].hidden, unit = (size_t)p.unit, h = (size_t)p.h;
    if (unit < hidden && h < hidden)
        set_packed(&m->plan->halves, element,
                   place_of(m, m->spec->weights[which].w_hh[d]) +
                       ((size_t)p.gate * hidden + unit) * hidden + h);
}

static int pack_fragments(struct making_training *m, size_t which, int units, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    size_t directions = s->layer.directions, n = (size_t)units * (size_t)units * 4;
    int rc = add_packed(&m->plan->halves, directions * n, &s->w_forth, e);
    if (!rc)
        rc = add_packed(&m->plan->halves, directions * n, &s->w_back, e);
    for (size_t d = 0; !rc && d < directions; d++)
        for (size_t i = 0; i < n; i++) {
            int half = (int)(i % 2), reg = (int)(i / 2 % 4), lane = (int)(i / 8 % 32);
            int group = (int)(i / 256); /* forth: warp, pair, k16; back: warp, k16 */
            int k16 = units / 16, depth = units / 4;
            set_fragment(
                m, which, d,
                cov_lstm_fragment(group / (2 * k16), group / k16 % 2, group % k16, lane, reg, half),
                s->w_forth + d * n + i);
            set_fragment(m, which, d,
                         cov_lstm_back_fragment(group / depth, group % depth, lane, reg, half),
                         s->w_back + d * n + i);
        }
    return rc;
}

/* The gradients of w_hh: h of the step before stands a row above, or, backwards, below. */
static int make_recurrent(struct making_training *m, size_t which, int units, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    const struct cov_layer *l = &s->layer;
    for (size_t d = 0; d < l->directions; d++) {
        size_t first = place_of(m, m->spec->weights[which].w_hh[d]), n = 4 * l->hidden * l->hidden;
        struct cov_train_outer *u = &s->outers[1 + d];
        struct cov_conv_phase phase = cov_conv_phase_plain((int)l->t_out, 1, 1, 1, d ? -1 : 1);
        size_t places;
        int rc = add_collected(m, n, &places, e);
        if (rc)
            return rc;
        set_outer(s, u, &phase, cov_channel_width(s->out), units, s->width, 4 * units);
        u->of_h = true;
        u->x_first = d * units;
        u->z_first = d * units * 4;
        add_collect(s, false, first, n)->places = places;
        for (size_t g = 0; g < 4 * l->hidden; g++)
            for (size_t h = 0; h < l->hidden; h++)
                m->plan->collected.v[places + g * l->hidden + h] =
                    (int)(u->at + h * u->outer.n_cols + g % l->hidden * 4 + g / l->hidden);
    }
    return s->bf16_steps ? pack_fragments(m, which, units, e)
                         : pack_steps(m, which, (size_t)units, e);
}

static int make_lstm(struct making_training *m, size_t which, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    int units = s->out.pitch;
    if (!s->bf16_steps && !cov_cuda_lstm_train_fits(units, m->shared_bytes))
        return cov_fail(e, COV_EUNSUPPORTED,
                        "an LSTM with %zu units is too large to be trained in the memory of a "
                        "block of this GPU",
                        s->layer.hidden);
    s->width = cov_channel_width(s->out) * 4;
    int rc = make_arrays(s, 1, 1, 1 + s->layer.directions, e);
    if (!rc)
        rc = make_gates(m, which, units, e);
    if (!rc)
        rc = make_recurrent(m, which, units, e);
    return rc ? rc : make_biases(m, which, units, e);
}

/* ---- all of it ---- */

static int check_network(const struct making_training *m, struct cov_err *e)
{
    const struct cov_training_spec *spec = m->spec;
    const struct cov_layer *first = &spec->layers[0], *last = &spec->layers[spec->n_layers - 1];
    if (spec->n_layers < 2 || first->kind != COV_LAYER_CONV || first->c_in != 4 ||
        last->kind != COV_LAYER_LINEAR_EXP)
        return cov_fail(e, COV_EUNSUPPORTED, "layers in an order that is not known on a GPU");
    if (spec->n_floats > INT_MAX / 16)
        return cov_fail(e, COV_EUNSUPPORTED, "%zu parameters are too many for training on a GPU",
                        spec->n_floats);
    return cov_cuda_check_sizes(spec->layers, spec->n_layers, &m->plan->max_batch, e);
}

static void set_types(struct making_training *m, size_t i)
{
    const struct cov_layer *l = &m->spec->layers[i];
    struct cov_train_layer *s = &m->plan->layers[i];
    bool last = i + 1 == m->spec->n_layers, lstm = l->kind == COV_LAYER_LSTM;
    s->layer = *l;
    if (l->kind == COV_LAYER_LINEAR_EXP)
        s->layer.kernel = s->layer.stride = s->layer.dilation = 1;
    s->products = products_of(m, i);
    s->norm = l->norm && !lstm && !last;
    s->drops = m->spec->dropout > 0 && lstm && !last && l[1].kind == COV_LAYER_LSTM;
    s->next_bf16 = !last && products_of(m, i + 1) == COV_CUDA_BF16;
    s->applies = !lstm && (s->norm || s->next_bf16);
    s->y_bf16 = s->next_bf16 && !s->drops;
    s->bf16_steps = lstm && s->products == COV_CUDA_BF16 && l->hidden <= COV_CUDA_LSTM_UNITS;
    s->keeps_bf16 = lstm && s->products == COV_CUDA_BF16 && !s->y_bf16;
    int unit = lstm && s->products == COV_CUDA_BF16 ? 32 : 8;
    int size = (int)(lstm ? l->hidden : l->c_out);
    s->out.groups = lstm ? (int)l->directions : 1;
    s->out.size = size;
    s->out.pitch = cov_round_up(size, unit);
    if (i > 0) {
        s->in = m->plan->layers[i - 1].out;
    } else {
        s->in.groups = 1;
        s->in.size = 4;
        s->in.pitch = 8;
    }
}

int cov_train_plan_init(const struct cov_training_spec *spec, struct cov_cuda_arithmetic arithmetic,
                        size_t shared_bytes, struct cov_train_plan *out, struct cov_err *e)
{
    memset(out, 0, sizeof *out);
    struct making_training m = {out, spec, arithmetic, shared_bytes};
    int rc = check_network(&m, e);
    if (rc)
        return rc;
    out->layers = (struct cov_train_layer *)cov_calloc(spec->n_layers, sizeof *out->layers, e);
    if (!out->layers)
        return COV_ENOMEM;
    out->n_layers = spec->n_layers;
    out->n_floats = spec->n_floats;
    out->length = spec->layers[0].t_in;
    out->depth = spec->layers[spec->n_layers - 1].c_out;
    for (size_t i = 0; i < spec->n_layers; i++)
        set_types(&m, i);
    for (size_t i = 0; !rc && i < spec->n_layers; i++)
        rc = spec->layers[i].kind == COV_LAYER_LSTM ? make_lstm(&m, i, e) : make_conv(&m, i, e);
    return rc;
}

void cov_train_plan_fini(struct cov_train_plan *plan)
{
    for (size_t i = 0; plan->layers && i < plan->n_layers; i++) {
        free(plan->layers[i].forward);
        free(plan->layers[i].back);
        free(plan->layers[i].outers);
    }
    free(plan->layers);
    free(plan->floats.v);
    free(plan->halves.v);
    free(plan->collected.v);
    memset(plan, 0, sizeof *plan);
}
