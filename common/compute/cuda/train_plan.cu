/* train_plan.cu - see train_plan.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
}
#include "common/compute/cuda/train_plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Packed operands start at multiples of 64 elements; arrays in memory at multiples of 256 bytes. */
enum { ALIGNMENT = 64, MEMORY_ALIGNMENT = 256 };

struct making_training {
    struct cov_train_plan *plan;
    const struct cov_training_spec *spec;
    struct cov_cuda_arithmetic arithmetic;
    size_t shared_bytes;
};

static enum cov_cuda_products products_of(const struct making_training *m, size_t i)
{
    return cov_cuda_products_of(m->spec->layers, m->spec->n_layers, i, m->arithmetic);
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

/* Appends n elements that are 0 until they are set; sets *first to the index of the first one. */
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

/* Sets row k, column `column` of a product's weights. */
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

static int add_product(struct making_training *m, const struct cov_train_layer *s,
                       struct cov_train_product *p, const struct cov_conv_phase *phase, int c,
                       int columns, struct cov_err *e)
{
    struct cov_cuda_gemm *g = &p->gemm;
    g->phase = *phase;
    g->c = c;
    g->pitch = g->n_cols = columns;
    if (m->plan->most_columns < columns)
        m->plan->most_columns = columns;
    cov_cuda_gemm_sizes(s->products, g);
    return add_packed(places_for(m, s->products), (size_t)g->k * g->width, &p->w, e);
}

/* Adds the product of a layer's input rows with its weights. */
static int add_forward(struct making_training *m, struct cov_train_layer *s, size_t i,
                       const struct cov_conv_phase *phase, struct cov_err *e)
{
    struct cov_cuda_gemm *g = &s->forward[i].gemm;
    g->t_in = (int)s->layer.t_in;
    g->t_out = (int)s->layer.t_out;
    g->relu = s->layer.kind != COV_LAYER_LINEAR_EXP && s->layer.kind != COV_LAYER_LSTM;
    return add_product(m, s, &s->forward[i], phase, cov_channel_width(s->in), s->width, e);
}

/* Adds the product of the weights and the gradient of a layer's sums. */
static int add_back(struct making_training *m, struct cov_train_layer *s, size_t i,
                    const struct cov_conv_phase *phase, struct cov_err *e)
{
    s->back[i].gemm.t_in = (int)s->layer.t_out;
    s->back[i].gemm.t_out = (int)s->layer.t_in;
    return add_product(m, s, &s->back[i], phase, s->width, cov_channel_width(s->in), e);
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
    if (s->splits == 0)
        s->splits = s->layer.kind == COV_LAYER_LSTM
                        ? 1
                        : cov_cuda_outer_splits(phase->n_taps, c, columns, phase->rows);
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

/* Sets the packed operands of a layer's product `i` of the forward or backward pass. */
static void set_weights(struct making_training *m, const struct cov_train_layer *s, size_t i,
                        bool back, size_t first)
{
    const struct cov_train_product *p = back ? &s->back[i] : &s->forward[i];
    cov_cuda_each_weight(&s->layer, &p->gemm.phase, [&](int tap, int in, int o, size_t offset) {
        const int place = cov_channel_place(s->in, in), row = tap * p->gemm.c;
        set_weight(m, s->products, p, row + (back ? o : place), back ? place : o, first + offset);
    });
}

/* Notes where the gradients of phase i's weights are; collects[0] describes them. */
static void set_gradients(struct making_training *m, const struct cov_train_layer *s, size_t i)
{
    const struct cov_train_outer *u = &s->outers[i];
    int *places = m->plan->collected.v + s->collects[0].places;
    cov_cuda_each_weight(&s->layer, &u->outer.phase, [&](int tap, int in, int o, size_t offset) {
        const int row = tap * u->outer.c + cov_channel_place(s->in, in);
        places[offset] = (int)(u->at + (size_t)row * u->outer.n_cols + o);
    });
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
        struct cov_conv_phase phase = cov_cuda_phase_of(l, transposed, i, l->t_out);
        rc = add_forward(m, s, i, &phase, e);
        if (rc)
            return rc;
        set_outer(s, &s->outers[i], &phase, width_in, width_in, s->width, s->width);
        set_weights(m, s, i, false, first);
        set_gradients(m, s, i);
    }
    for (size_t i = 0; !rc && i < n_back; i++) {
        struct cov_conv_phase phase = cov_cuda_phase_of(l, !transposed, i, l->t_in);
        rc = add_back(m, s, i, &phase, e);
        if (!rc)
            set_weights(m, s, i, true, first);
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

/* Makes the products with x and their gradients; columns are [direction, unit, gate]. */
static int make_gates(struct making_training *m, size_t which, int units, struct cov_err *e)
{
    struct cov_train_layer *s = &m->plan->layers[which];
    const struct cov_layer *l = &s->layer;
    int width_in = cov_channel_width(s->in);
    struct cov_conv_phase phase = cov_conv_phase_plain((int)l->t_out, 1, 1, 1, 0);
    int rc = add_forward(m, s, 0, &phase, e);
    if (!rc)
        rc = add_back(m, s, 0, &phase, e);
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

/* Packs the weights of the steps: w[direction, h, unit, gate] for the forward pass, w[direction,
 * unit of the gate, unit of h, gate] for the backward pass. */
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

/* Sets an element of the packed halves to a fragment's weight of direction d. */
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
            set_fragment(m, which, d, cov_lstm_weight(units, (int)i), s->w_forth + d * n + i);
            set_fragment(m, which, d, cov_lstm_back_weight(units, (int)i), s->w_back + d * n + i);
        }
    return rc;
}

/* Makes the gradients of w_hh. The h of the previous step is one row above, or one row below in the
 * backward direction. */
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
                        "an LSTM with %zu units is too large to train in the shared memory of a "
                        "block of this GPU",
                        s->layer.hidden);
    s->resident = !s->bf16_steps && cov_cuda_lstm_resident_fits(units, m->shared_bytes);
    s->width = cov_channel_width(s->out) * 4;
    int rc = make_arrays(s, 1, 1, 1 + s->layer.directions, e);
    if (!rc)
        rc = make_gates(m, which, units, e);
    if (!rc)
        rc = make_recurrent(m, which, units, e);
    return rc ? rc : make_biases(m, which, units, e);
}

/* ---- the plan ---- */

static int check_network(const struct making_training *m, struct cov_err *e)
{
    const struct cov_training_spec *spec = m->spec;
    if (spec->n_floats > INT_MAX / 16)
        return cov_fail(e, COV_EUNSUPPORTED, "%zu parameters are too many to train on a GPU",
                        spec->n_floats);
    return cov_cuda_check_network(spec->layers, spec->n_layers, &m->plan->max_batch, e);
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
    s->keeps_bf16 = lstm && s->products == COV_CUDA_BF16 && !s->y_bf16;
    int size = (int)(lstm ? l->hidden : l->c_out);
    s->out.groups = lstm ? (int)l->directions : 1;
    s->out.size = size;
    if (lstm && s->products != COV_CUDA_BF16)
        s->out.pitch = cov_cuda_lstm_fp32_units(size, m->shared_bytes);
    else
        s->out.pitch = cov_round_up(size, lstm ? 32 : 8);
    s->bf16_steps = lstm && s->products == COV_CUDA_BF16 &&
                    cov_cuda_lstm_bf16_fits(s->out.pitch, m->shared_bytes);
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
    out->recompute = spec->recompute;
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

/* ---- memory ---- */

struct laying {
    size_t end;
    bool overflow;
};

/* Reserves a * b elements of `bytes` bytes each; returns their offset. */
static size_t take(struct laying *l, size_t a, size_t b, size_t bytes)
{
    size_t at = l->end, size;
    l->overflow = l->overflow || cov_size_mul(a, b, &size) || cov_size_mul(size, bytes, &size) ||
                  cov_size_add(size, MEMORY_ALIGNMENT - 1, &size) ||
                  cov_size_add(l->end, size / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT, &l->end);
    return at;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool is_lstm(const struct cov_train_plan *plan, size_t i)
{
    return plan->layers[i].layer.kind == COV_LAYER_LSTM;
}

static size_t width_of(const struct cov_train_layer *s)
{
    return (size_t)cov_channel_width(s->out);
}

static void lay_gates(const struct cov_train_layer *s, size_t n, struct laying *l,
                      struct cov_train_layer_memory *m)
{
    size_t rows = n * s->layer.t_out;
    m->gates = take(l, rows, width_of(s) * 4, sizeof(float));
    m->cells = take(l, rows, width_of(s), sizeof(float));
}

/* The first convolution after the LSTMs; without LSTMs, the last layer. */
static size_t first_up(const struct cov_train_plan *plan)
{
    size_t i = plan->n_layers - 1;
    while (i > 0 && !is_lstm(plan, i - 1))
        i--;
    return i > 0 ? i : plan->n_layers - 1;
}

/* Lays out what layers share with recompute. */
static void lay_in_turn(const struct cov_train_plan *plan, size_t n, struct laying *l,
                        struct cov_train_memory *mem)
{
    size_t y = 0, up = first_up(plan);
    struct laying convs = *l;
    for (size_t i = up; i + 1 < plan->n_layers; i++)
        mem->layers[i].r = take(&convs, n * plan->layers[i].layer.t_out, width_of(&plan->layers[i]),
                                sizeof(float));
    struct laying all = convs;
    for (size_t i = 0; i < up; i++) {
        struct laying lstm = *l;
        if (!is_lstm(plan, i))
            continue;
        lay_gates(&plan->layers[i], n, &lstm, &mem->layers[i]);
        all.end = max_size(all.end, lstm.end);
        all.overflow = all.overflow || lstm.overflow;
    }
    *l = all;
    for (size_t i = 0; i < plan->n_layers; i++) {
        const struct cov_train_layer *s = &plan->layers[i];
        if (s->applies)
            y = max_size(y, n * s->layer.t_out * width_of(s) * (s->y_bf16 ? 2 : 4));
    }
    mem->again = take(l, y, 1, 1);
}

static void lay_layer(const struct cov_train_plan *plan, size_t i, size_t n, struct laying *l,
                      const struct cov_train_memory *mem)
{
    const struct cov_train_layer *s = &plan->layers[i];
    struct cov_train_layer_memory *m = &mem->layers[i];
    size_t width = width_of(s), rows = n * s->layer.t_out;
    if (is_lstm(plan, i)) {
        if (!plan->recompute)
            lay_gates(s, n, l, m);
        m->r = m->y = take(l, rows, width, s->y_bf16 ? 2 : 4);
        m->h = s->keeps_bf16 ? take(l, rows, width, 2) : m->y;
        m->dropped = s->drops ? take(l, rows, width, s->next_bf16 ? 2 : 4) : m->y;
        return;
    }
    if (!plan->recompute || i < first_up(plan) || i + 1 == plan->n_layers)
        m->r = take(l, rows, width, sizeof(float));
    m->y = m->dropped = !s->applies       ? m->r
                        : plan->recompute ? mem->again
                                          : take(l, rows, width, s->y_bf16 ? 2 : 4);
    if (!s->norm)
        return;
    size_t *vectors[] = {&m->mean,  &m->var,  &m->rstd, &m->scale,
                         &m->shift, &m->by_d, &m->by_r, &m->by_one};
    for (size_t *v : vectors)
        *v = take(l, width, 1, sizeof(float));
    m->total = take(l, plan->n_nodes, 2 * width, sizeof(double));
}

/* Lays out the arrays that the layers use in turn. */
static void lay_shared(const struct cov_train_plan *plan, size_t n, struct laying *l,
                       struct cov_train_memory *mem)
{
    size_t d = 0, z = 0, partial = 0, columns = 0, node = 0, column_node = 0;
    for (size_t i = 0; i < plan->n_layers; i++) {
        const struct cov_train_layer *s = &plan->layers[i];
        size_t rows = n * s->layer.t_out, width = (size_t)s->width;
        bool bf16 = s->products == COV_CUDA_BF16;
        d = max_size(d, rows * (size_t)cov_channel_width(s->out));
        if (s->layer.kind != COV_LAYER_LINEAR_EXP && (s->layer.kind != COV_LAYER_LSTM || bf16))
            z = max_size(z, rows * width * (bf16 ? 2 : 4));
        partial = max_size(partial, s->stride * (size_t)s->splits);
        columns =
            max_size(columns, (size_t)cov_cuda_column_slices((int)s->layer.t_out) * 2 * width);
        node = max_size(node, s->stride);
        column_node = max_size(column_node, 2 * width);
    }
    mem->d = take(l, d, 1, sizeof(float));
    mem->z = take(l, z, 1, 1);
    mem->partial = take(l, n, partial, sizeof(float));
    mem->column_partial = take(l, n, columns, sizeof(double));
    mem->node = take(l, node, 1, sizeof(float));
    mem->column_node = take(l, column_node, 1, sizeof(float));
}

int cov_train_lay_out(const struct cov_train_plan *plan, size_t n, struct cov_train_memory *mem,
                      struct cov_err *e)
{
    struct laying l = {};
    size_t L = plan->length, depth = plan->depth;
    size_t *blocks[] = {&mem->block, &mem->moment1, &mem->moment2, &mem->average, &mem->sum};
    for (size_t *at : blocks)
        *at = take(&l, plan->n_floats, 1, sizeof(float));
    mem->gradient = take(&l, plan->n_nodes, plan->n_floats, sizeof(float));
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
    mem->rows = take(&l, n * depth, 4, sizeof(double));
    mem->sums = take(&l, plan->n_nodes, 4, sizeof(double));
    mem->squares = take(&l, (size_t)cov_cuda_square_slices(plan->n_floats), 1, sizeof(double));
    mem->square_total = take(&l, 1, 1, sizeof(double));
    mem->codes = take(&l, n, (L + 1) / 2, 1);
    mem->targets = take(&l, n * L, depth, sizeof(float));
    mem->present = take(&l, n, depth, 1);
    mem->now = take(&l, 1, sizeof(struct cov_cuda_moment), 1);
    mem->onehot = take(&l, n * L, 8, plan->layers[0].products == COV_CUDA_BF16 ? 2 : 4);
    memset(mem->layers, 0, plan->n_layers * sizeof *mem->layers);
    if (plan->recompute)
        lay_in_turn(plan, n, &l, mem);
    for (size_t i = 0; i < plan->n_layers; i++)
        lay_layer(plan, i, n, &l, mem);
    lay_shared(plan, n, &l, mem);
    mem->bytes = l.end;
    return l.overflow ? cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", n) : COV_OK;
}
