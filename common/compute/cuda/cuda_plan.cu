/* cuda_plan.cu - see cuda_plan.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
#include "common/seq/alphabet.h"
}
#include "common/compute/cuda/cuda_plan.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The activations between two layers. */
struct rows {
    struct cov_channels channels;
    bool bf16;
    int area;
};

/* A plan under construction. */
struct making {
    struct cov_cuda_plan *plan;
    const struct cov_layer *layers;
    const struct cov_layer_weights *weights;
    size_t n_layers;
    struct cov_cuda_arithmetic arithmetic;
    size_t shared_bytes;
    struct rows rows; /* input of the next layer */
};

enum cov_cuda_products cov_cuda_products_of(const struct cov_layer *layers, size_t n, size_t i,
                                            struct cov_cuda_arithmetic arithmetic)
{
    if (layers[i].kind == COV_LAYER_LSTM)
        return arithmetic.lstm;
    return i + 2 >= n ? COV_CUDA_FP32 : arithmetic.conv;
}

static enum cov_cuda_products products_of(const struct making *m, size_t layer)
{
    return cov_cuda_products_of(m->layers, m->n_layers, layer, m->arithmetic);
}

/* Returns true if this layer writes bf16, because the next one rounds its input to bf16 anyway. */
static bool writes_bf16(const struct making *m, size_t layer)
{
    return layer + 2 < m->n_layers && products_of(m, layer + 1) == COV_CUDA_BF16;
}

/* Appends zeroed weights; returns NULL if out of memory. The pointer is valid until the next
 * call. */
static char *add_weights(struct making *m, size_t bytes, size_t *offset, struct cov_err *e)
{
    struct cov_cuda_plan *p = m->plan;
    size_t end = p->weight_bytes + cov_rt_round(bytes);
    if (COV_RESERVE(&p->weights, &p->cap_weights, end, e))
        return NULL;
    *offset = p->weight_bytes;
    memset(p->weights + *offset, 0, end - *offset);
    p->weight_bytes = end;
    return p->weights + *offset;
}

static struct cov_cuda_step *add_step(struct making *m, enum cov_cuda_step_kind kind, size_t layer,
                                      struct cov_err *e)
{
    struct cov_cuda_plan *p = m->plan;
    if (COV_RESERVE(&p->steps, &p->cap_steps, p->n_steps + 1, e))
        return NULL;
    struct cov_cuda_step *s = &p->steps[p->n_steps++];
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->layer = layer;
    s->products = products_of(m, layer);
    return s;
}

/* Enlarges an area to hold rows of this size. */
static void need(struct making *m, int area, size_t rows, size_t width, size_t element)
{
    size_t bytes = cov_rt_round(rows * width * element);
    if (m->plan->area_bytes[area] < bytes)
        m->plan->area_bytes[area] = bytes;
}

/* Makes the output of this layer, which is in the area that the layer does not read, the input of
 * the next layer. */
static void advance(struct making *m, size_t layer, struct cov_channels channels)
{
    m->rows.channels = channels;
    m->rows.bf16 = writes_bf16(m, layer);
    m->rows.area = m->rows.area == COV_CUDA_ROWS_A ? COV_CUDA_ROWS_B : COV_CUDA_ROWS_A;
    need(m, m->rows.area, m->layers[layer].t_out, (size_t)cov_channel_width(channels),
         m->rows.bf16 ? 2 : 4);
}

/* Packs bias, scale and shift of a convolution, [width] each; scale and shift implement the norm. */
static int add_vectors(struct making *m, struct cov_cuda_step *s, size_t width, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[s->layer];
    const struct cov_layer_weights *w = &m->weights[s->layer];
    size_t offset;
    float *v = (float *)(void *)add_weights(m, 3 * width * sizeof *v, &offset, e);
    if (!v)
        return COV_ENOMEM;
    s->bias = offset;
    s->scale = offset + width * sizeof *v;
    s->shift = offset + 2 * width * sizeof *v;
    for (size_t o = 0; o < l->c_out; o++) {
        double scale = 1, shift = 0;
        if (l->norm) {
            scale = (double)w->gamma[o] / sqrt((double)w->var[o] + COV_NORM_EPS);
            shift = (double)w->beta[o] - (double)w->mean[o] * scale;
        }
        v[o] = w->bias[o];
        v[width + o] = (float)scale;
        v[2 * width + o] = (float)shift;
    }
    return COV_OK;
}

static struct cov_channels plain_channels(size_t c)
{
    struct cov_channels channels = {1, (int)c, cov_round_up((int)c, 8)};
    return channels;
}

static int add_first(struct making *m, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[0];
    const float *weight = m->weights[0].weight;
    struct cov_channels channels = plain_channels(l->c_out);
    size_t c = (size_t)channels.pitch, offset;
    struct cov_cuda_step *s = add_step(m, COV_CUDA_STEP_FIRST, 0, e);
    if (!s)
        return COV_ENOMEM;
    float *table = (float *)(void *)add_weights(m, l->kernel * 16 * c * sizeof *table, &offset, e);
    if (!table)
        return COV_ENOMEM;
    for (size_t k = 0; k < l->kernel; k++)
        for (size_t code = 0; code < 16; code++)
            for (size_t o = 0; o < l->c_out; o++) {
                double sum = 0;
                for (size_t i = 0; i < 4; i++)
                    sum += (double)cov_onehot_f32[code][i] *
                           (double)weight[(o * 4 + i) * l->kernel + k];
                table[(k * 16 + code) * c + o] = (float)sum;
            }
    s->w = offset;
    s->from = COV_CUDA_CODES;
    advance(m, 0, channels);
    s->to = m->rows.area;
    struct cov_cuda_first *f = &s->first;
    f->t_in = (int)l->t_in;
    f->t_out = (int)l->t_out;
    f->c = (int)c;
    f->kernel = (int)l->kernel;
    f->dilation = (int)l->dilation;
    f->phase = cov_cuda_phase_of(l, false, 0, l->t_out);
    f->y_bf16 = m->rows.bf16;
    return add_vectors(m, s, c, e);
}

static uint16_t bf16_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)cov_bf16_of_bits(bits);
}

/* As simt_tf32. */
static float tf32_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000)
        bits = (bits + 0x1000) & 0xffffe000;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static void put_weight(char *w, const struct cov_cuda_step *s, int k, int column, float value)
{
    size_t at = cov_cuda_gemm_weight(s->products, &s->gemm, k, column);
    const uint16_t half = bf16_of(value);
    if (s->gemm.wgmma && s->products == COV_CUDA_TF32)
        value = tf32_of(value);
    if (s->products == COV_CUDA_BF16)
        memcpy(w + at * 2, &half, 2);
    else
        memcpy(w + at * 4, &value, 4);
}

struct cov_conv_phase cov_cuda_phase_of(const struct cov_layer *l, bool transposed, size_t i,
                                        size_t t_out)
{
    int kernel = (int)l->kernel, stride = (int)l->stride, dilation = (int)l->dilation;
    return transposed ? cov_conv_phase_transposed((int)i, (int)t_out, kernel, stride, dilation,
                                                  (int)l->pad)
                      : cov_conv_phase_plain((int)t_out, kernel, stride, dilation, (int)l->pad);
}

/* Adds a product with the current rows; its weights are zero so far. library: cuBLAS reads them. */
static struct cov_cuda_step *add_gemm(struct making *m, size_t layer,
                                      const struct cov_conv_phase *phase, int n_cols, bool library,
                                      char **w, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer];
    struct cov_cuda_step *s = add_step(m, COV_CUDA_STEP_GEMM, layer, e);
    if (!s)
        return NULL;
    struct cov_cuda_gemm *g = &s->gemm;
    g->t_in = (int)l->t_in;
    g->t_out = (int)l->t_out;
    g->c = cov_channel_width(m->rows.channels);
    g->pitch = g->n_cols = n_cols;
    g->phase = *phase;
    g->wgmma = m->arithmetic.wgmma && !library && cov_cuda_wgmma_can(s->products);
    cov_cuda_gemm_sizes(s->products, g);
    s->from = m->rows.area;
    *w = add_weights(m, (size_t)g->k * g->width * (s->products == COV_CUDA_BF16 ? 2 : 4), &s->w, e);
    return *w ? s : NULL;
}

static int add_phase(struct making *m, size_t layer, const struct cov_conv_phase *phase,
                     struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer];
    const float *weight = m->weights[layer].weight;
    char *w;
    struct cov_cuda_step *s =
        add_gemm(m, layer, phase, plain_channels(l->c_out).pitch, false, &w, e);
    if (!s)
        return COV_ENOMEM;
    cov_cuda_each_weight(l, phase, [&](int tap, int i, int o, size_t offset) {
        put_weight(w, s, tap * s->gemm.c + cov_channel_place(m->rows.channels, i), o,
                   weight[offset]);
    });
    s->gemm.relu = true;
    s->gemm.y_bf16 = writes_bf16(m, layer);
    s->to = m->rows.area == COV_CUDA_ROWS_A ? COV_CUDA_ROWS_B : COV_CUDA_ROWS_A;
    return add_vectors(m, s, (size_t)s->gemm.width, e);
}

static int add_conv(struct making *m, size_t layer, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer];
    const bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < (transposed ? l->stride : 1); i++) {
        struct cov_conv_phase phase = cov_cuda_phase_of(l, transposed, i, l->t_out);
        rc = add_phase(m, layer, &phase, e);
    }
    advance(m, layer, plain_channels(l->c_out));
    return rc;
}

/* Adds the product with x for all steps at once; its columns are [direction, unit, gate]. */
static int add_gates(struct making *m, size_t layer, int units, bool fp16, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer];
    const struct cov_layer_weights *weights = &m->weights[layer];
    int n_cols = (int)l->directions * units * 4;
    struct cov_conv_phase phase = cov_conv_phase_plain((int)l->t_out, 1, 1, 1, 0);
    char *w;
    struct cov_cuda_step *s = add_gemm(m, layer, &phase, n_cols, m->arithmetic.float_sums, &w, e);
    if (!s)
        return COV_ENOMEM;
    for (size_t d = 0; d < l->directions; d++)
        for (size_t gate = 0; gate < 4; gate++)
            for (size_t u = 0; u < l->hidden; u++)
                for (size_t i = 0; i < l->c_in; i++)
                    put_weight(w, s, cov_channel_place(m->rows.channels, (int)i),
                               (int)((d * units + u) * 4 + gate),
                               weights->w_ih[d][(gate * l->hidden + u) * l->c_in + i]);
    s->to = COV_CUDA_GATES;
    s->gemm.y_fp16 = fp16;
    need(m, COV_CUDA_GATES, l->t_out, (size_t)n_cols, fp16 ? 2 : 4);
    size_t width = (size_t)s->gemm.width;
    float *v = (float *)(void *)add_weights(m, 3 * width * sizeof *v, &s->bias, e);
    if (!v)
        return COV_ENOMEM;
    s->scale = s->bias + width * sizeof *v;
    s->shift = s->bias + 2 * width * sizeof *v;
    for (size_t i = 0; i < width; i++)
        v[width + i] = 1;
    for (size_t d = 0; d < l->directions; d++)
        for (size_t gate = 0; gate < 4; gate++)
            for (size_t u = 0; u < l->hidden; u++) {
                size_t at = gate * l->hidden + u;
                v[(d * units + u) * 4 + gate] =
                    (float)((double)weights->b_ih[d][at] + (double)weights->b_hh[d][at]);
            }
    return COV_OK;
}

/* Packs w[direction, h, unit, gate]. */
static void pack_lstm_fp32(const struct cov_layer *l, const struct cov_layer_weights *weights,
                           size_t units, float *w)
{
    for (size_t d = 0; d < l->directions; d++)
        for (size_t h = 0; h < l->hidden; h++)
            for (size_t u = 0; u < l->hidden; u++)
                for (size_t gate = 0; gate < 4; gate++)
                    w[((d * units + h) * units + u) * 4 + gate] =
                        weights->w_hh[d][(gate * l->hidden + u) * l->hidden + h];
}

static void pack_lstm_bf16(const struct cov_layer *l, const struct cov_layer_weights *weights,
                           int units, uint16_t *w)
{
    const size_t hidden = l->hidden, n = (size_t)units * (size_t)units * 4;
    for (size_t d = 0; d < l->directions; d++)
        for (size_t i = 0; i < n; i++) {
            const struct cov_lstm_place p = cov_lstm_weight(units, (int)i);
            if ((size_t)p.unit < hidden && (size_t)p.h < hidden)
                w[d * n + i] =
                    bf16_of(weights->w_hh[d][((size_t)p.gate * hidden + (size_t)p.unit) * hidden +
                                             (size_t)p.h]);
        }
}

static int add_lstm(struct making *m, size_t layer, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer];
    int units = cov_round_up((int)l->hidden, 32);
    bool bf16 =
        products_of(m, layer) == COV_CUDA_BF16 && cov_cuda_lstm_bf16_fits(units, m->shared_bytes);
    if (!bf16)
        units = cov_cuda_lstm_fp32_units((int)l->hidden, m->shared_bytes);
    if (!bf16 && !cov_cuda_lstm_fp32_fits(units, m->shared_bytes))
        return cov_fail(
            e, COV_EUNSUPPORTED,
            "an LSTM with %zu units is too large for the shared memory of a block of this GPU",
            l->hidden);
    const bool fp16 = bf16 && !m->arithmetic.float_sums;
    int rc = add_gates(m, layer, units, fp16, e);
    if (rc)
        return rc;
    struct cov_cuda_step *s =
        add_step(m, bf16 ? COV_CUDA_STEP_LSTM_BF16 : COV_CUDA_STEP_LSTM_FP32, layer, e);
    if (!s)
        return COV_ENOMEM;
    size_t n = l->directions * (size_t)units * (size_t)units * 4;
    char *w = add_weights(m, n * (bf16 ? 2 : 4), &s->w, e);
    if (!w)
        return COV_ENOMEM;
    if (bf16)
        pack_lstm_bf16(l, &m->weights[layer], units, (uint16_t *)(void *)w);
    else
        pack_lstm_fp32(l, &m->weights[layer], (size_t)units, (float *)(void *)w);
    struct cov_channels channels = {(int)l->directions, (int)l->hidden, units};
    s->from = COV_CUDA_GATES;
    s->sums_fp16 = fp16;
    advance(m, layer, channels);
    s->to = m->rows.area;
    s->lstm.t = (int)l->t_out;
    s->lstm.directions = (int)l->directions;
    s->lstm.units = units;
    s->lstm.resident = !bf16 && cov_cuda_lstm_resident_fits(units, m->shared_bytes);
    s->lstm.y_bf16 = m->rows.bf16;
    s->lstm_number = m->plan->n_lstms++;
    return COV_OK;
}

/* Packs w[tap, c, o] of a phase of the last convolution. */
static int pack_last(struct making *m, struct cov_cuda_step *s, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[s->layer];
    const struct cov_cuda_last *last = &s->last;
    const float *weight = m->weights[s->layer].weight;
    size_t depth = (size_t)last->depth_in, n = (size_t)last->phase.n_taps * depth * l->c_out;
    float *w = (float *)(void *)add_weights(m, n * sizeof *w, &s->w, e);
    if (!w)
        return COV_ENOMEM;
    cov_cuda_each_weight(l, &last->phase, [&](int tap, int i, int o, size_t offset) {
        size_t row = (size_t)tap * depth + (size_t)cov_channel_place(m->rows.channels, i);
        w[row * l->c_out + (size_t)o] = weight[offset];
    });
    return add_vectors(m, s, l->c_out, e);
}

/* Adds the last convolution and the last layer, whose weights are at `out`. */
static int add_last_phase(struct making *m, size_t layer, const struct cov_conv_phase *phase,
                          size_t out, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer];
    struct cov_cuda_step *s = add_step(m, COV_CUDA_STEP_LAST, layer, e);
    if (!s)
        return COV_ENOMEM;
    s->out = out;
    s->from = m->rows.area;
    s->to = COV_CUDA_VALUES;
    s->last.t_in = (int)l->t_in;
    s->last.c = cov_channel_width(m->rows.channels);
    s->last.t_out = (int)l->t_out;
    s->last.depth = (int)m->layers[layer + 1].c_out;
    s->last.depth_in = cov_cuda_last_depth(s->last.c);
    s->last.phase = *phase;
    s->last.pad = COV_PAD_VALUE;
    return pack_last(m, s, e);
}

static int add_last(struct making *m, size_t layer, struct cov_err *e)
{
    const struct cov_layer *l = &m->layers[layer], *linear = l + 1;
    const struct cov_layer_weights *weights = &m->weights[layer + 1];
    size_t out, n = linear->c_in * linear->c_out;
    float *w = (float *)(void *)add_weights(m, (n + linear->c_out) * sizeof *w, &out, e);
    if (!w)
        return COV_ENOMEM;
    memcpy(w, weights->weight, n * sizeof *w);
    memcpy(w + n, weights->bias, linear->c_out * sizeof *w);
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < l->stride; i++) {
        struct cov_conv_phase phase = cov_cuda_phase_of(l, true, i, l->t_out);
        rc = add_last_phase(m, layer, &phase, out, e);
    }
    need(m, COV_CUDA_VALUES, linear->t_out, linear->c_out, sizeof(float));
    m->plan->depth = linear->c_out;
    return rc;
}

int cov_cuda_check_network(const struct cov_layer *layers, size_t n, size_t *max_batch,
                           struct cov_err *e)
{
    size_t longest = 1;
    if (n < 3 || layers[0].kind != COV_LAYER_CONV || layers[0].c_in != 4 ||
        layers[n - 2].kind != COV_LAYER_CONV_TRANSPOSED ||
        layers[n - 2].c_out != COV_CUDA_LAST_CHANNELS || layers[n - 1].kind != COV_LAYER_LINEAR_EXP)
        return cov_fail(e, COV_EUNSUPPORTED, "unsupported order of layers on a GPU");
    for (size_t i = 0; i < n; i++) {
        const struct cov_layer *l = &layers[i];
        size_t t = l->t_in > l->t_out ? l->t_in : l->t_out;
        size_t c = l->c_in > l->c_out ? l->c_in : l->c_out;
        size_t taps = l->kind == COV_LAYER_LSTM ? 8 : l->kernel > 16 ? l->kernel : 16;
        if (t > INT_MAX / 4 || c > INT_MAX / 64 / taps)
            return cov_fail(e, COV_EUNSUPPORTED,
                            "a layer of %zu positions and %zu channels is too large for a GPU", t,
                            c);
        longest = longest < t ? t : longest;
    }
    *max_batch = INT_MAX / 2 / longest;
    return COV_OK;
}

static int make(struct making *m, struct cov_err *e)
{
    int rc = cov_cuda_check_network(m->layers, m->n_layers, &m->plan->max_batch, e);
    if (rc)
        return rc;
    m->plan->layers = (struct cov_layer *)cov_malloc(m->n_layers, sizeof *m->layers, e);
    if (!m->plan->layers)
        return COV_ENOMEM;
    memcpy(m->plan->layers, m->layers, m->n_layers * sizeof *m->layers);
    m->plan->n_layers = m->n_layers;
    m->plan->length = m->layers[0].t_in;
    m->plan->area_bytes[COV_CUDA_CODES] = cov_rt_round((m->layers[0].t_in + 1) / 2);
    rc = add_first(m, e);
    for (size_t i = 1; !rc && i + 2 < m->n_layers; i++) {
        switch (m->layers[i].kind) {
        case COV_LAYER_CONV:
        case COV_LAYER_CONV_TRANSPOSED:
            rc = add_conv(m, i, e);
            break;
        case COV_LAYER_LSTM:
            rc = add_lstm(m, i, e);
            break;
        case COV_LAYER_LINEAR_EXP:
            rc = cov_fail(e, COV_EUNSUPPORTED,
                          "a linear layer before the last layer is unsupported on a GPU");
            break;
        }
    }
    if (!rc)
        rc = add_last(m, m->n_layers - 2, e);
    m->plan->area_bytes[COV_CUDA_EXTENTS] =
        cov_rt_round(m->plan->n_lstms * sizeof(struct cov_cuda_extent));
    for (int i = 0; i < COV_CUDA_N_AREAS; i++)
        m->plan->chunk_bytes += m->plan->area_bytes[i];
    return rc;
}

int cov_cuda_plan_init(const struct cov_layer *layers, const struct cov_layer_weights *weights,
                       size_t n_layers, struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                       struct cov_cuda_plan *out, struct cov_err *e)
{
    memset(out, 0, sizeof *out);
    struct making m = {out, layers, weights, n_layers, arithmetic, shared_bytes, {}};
    m.rows.area = COV_CUDA_ROWS_B;
    return make(&m, e);
}

void cov_cuda_plan_fini(struct cov_cuda_plan *plan)
{
    free(plan->steps);
    free(plan->weights);
    free(plan->layers);
    memset(plan, 0, sizeof *plan);
}

/* Changes the rows of a step to those of layer l. */
static void resize_step(struct cov_cuda_step *s, const struct cov_layer *l)
{
    const bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    const int t_in = (int)l->t_in, t_out = (int)l->t_out;
    s->dense = NULL;
    if (s->kind == COV_CUDA_STEP_FIRST) {
        s->first.t_in = t_in;
        s->first.t_out = t_out;
        s->first.phase = cov_cuda_phase_of(l, false, 0, l->t_out);
    } else if (s->kind == COV_CUDA_STEP_GEMM && l->kind != COV_LAYER_LSTM) {
        s->gemm.t_in = t_in;
        s->gemm.t_out = t_out;
        s->gemm.phase = cov_cuda_phase_of(l, transposed, (size_t)s->gemm.phase.out_first, l->t_out);
    } else if (s->kind == COV_CUDA_STEP_LAST) {
        s->last.t_in = t_in;
        s->last.t_out = t_out;
        s->last.phase = cov_cuda_phase_of(l, transposed, (size_t)s->last.phase.out_first, l->t_out);
    }
}

int cov_cuda_plan_resize(const struct cov_cuda_plan *plan, size_t t, size_t rows,
                         struct cov_cuda_plan *out, struct cov_err *e)
{
    *out = *plan;
    out->weights = NULL;
    out->steps = (struct cov_cuda_step *)cov_malloc(plan->n_steps, sizeof *out->steps, e);
    out->layers = (struct cov_layer *)cov_malloc(plan->n_layers, sizeof *out->layers, e);
    if (!out->steps || !out->layers) {
        cov_cuda_plan_fini(out);
        return COV_ENOMEM;
    }
    memcpy(out->steps, plan->steps, plan->n_steps * sizeof *out->steps);
    memcpy(out->layers, plan->layers, plan->n_layers * sizeof *out->layers);
    for (size_t i = 0; i < plan->n_layers; i++) {
        out->layers[i].t_in = plan->layers[i].t_in / t * rows;
        out->layers[i].t_out = plan->layers[i].t_out / t * rows;
    }
    for (size_t i = 0; i < plan->n_steps; i++)
        resize_step(&out->steps[i], &out->layers[out->steps[i].layer]);
    out->length = out->layers[0].t_in;
    return COV_OK;
}

/* ---- batches ---- */

void cov_cuda_batch_full(const struct cov_cuda_plan *plan, size_t n, struct cov_plan_ends *ends,
                         struct cov_cuda_batch *out)
{
    cov_plan_padded_full(plan->layers, plan->n_layers, ends);
    *out = {};
    out->n = n;
    out->n_groups = 1;
    out->groups[0] = {0, n, ends};
}

void cov_cuda_batch_extents(const struct cov_cuda_plan *plan, const struct cov_cuda_batch *batch,
                            struct cov_cuda_extent *extents)
{
    size_t n_steps = plan->n_steps;
    for (size_t g = 0; g < batch->n_groups; g++) {
        const struct cov_cuda_group *group = &batch->groups[g];
        for (size_t i = 0; i < n_steps; i++) {
            const struct cov_cuda_step *s = &plan->steps[i];
            if (s->kind != COV_CUDA_STEP_LSTM_FP32 && s->kind != COV_CUDA_STEP_LSTM_BF16)
                continue;
            const struct cov_plan_ends *in = &group->ends[s->layer], *out = in + 1;
            for (size_t b = group->first; b < group->first + group->n; b++)
                extents[b * plan->n_lstms + s->lstm_number] = {
                    (int)in->head, (int)in->tail, (int)out->head, {0, 0}};
        }
    }
}

double cov_cuda_batch_work(const struct cov_cuda_plan *plan, const struct cov_plan_ends *ends,
                           const struct cov_cuda_extent *extents)
{
    double work = 0;
    for (size_t i = 0; i < plan->n_layers; i++) {
        const struct cov_layer *l = &plan->layers[i];
        if (l->kind == COV_LAYER_LSTM) {
            size_t rows = ends[i].head + l->t_in - ends[i].tail;
            work += cov_plan_work_of_lstm(l, rows * l->directions,
                                          (size_t)(extents->products[0] + extents->products[1]));
            extents++;
        } else {
            work +=
                (double)(ends[i + 1].head + l->t_out - ends[i + 1].tail) * cov_plan_work_of_row(l);
        }
    }
    return work;
}

/* ---- queueing ---- */

/* The weights of a step on the card. */
struct weights {
    const float *bias, *scale, *shift, *out;
    const void *w;
};

/* Returns the address of the rows of sequence `first` in an area [n, t, c]. */
static char *rows_at(char *area, size_t first, int t, int c, bool bf16)
{
    return area + first * (size_t)t * (size_t)c * (bf16 ? 2 : 4);
}

static void queue_first(const struct cov_cuda_step *step, const struct cov_cuda_group *group,
                        const struct weights *w, char *const area[COV_CUDA_N_AREAS], void *stream)
{
    struct cov_cuda_first f = step->first;
    const struct cov_plan_ends *ends = &group->ends[step->layer + 1];
    f.n = (int)group->n;
    f.phase = cov_conv_phase_cut(f.phase, f.t_out, (int)ends->head, (int)ends->tail);
    f.codes = (const uint8_t *)area[step->from] + group->first * (((size_t)f.t_in + 1) / 2);
    f.table = (const float *)w->w;
    f.bias = w->bias;
    f.scale = w->scale;
    f.shift = w->shift;
    f.y = rows_at(area[step->to], group->first, f.t_out, f.c, f.y_bf16);
    cov_cuda_first_layer(&f, stream);
}

static int queue_gemm(const struct cov_cuda_step *step, const struct cov_cuda_group *group,
                      int card, const struct weights *w, char *const area[COV_CUDA_N_AREAS],
                      void *stream, struct cov_err *e)
{
    struct cov_cuda_gemm g = step->gemm;
    bool gates = step->to == COV_CUDA_GATES; /* for the rows of the input */
    const struct cov_plan_ends *ends = &group->ends[step->layer + !gates];
    g.n = (int)group->n;
    g.phase = cov_conv_phase_cut(g.phase, g.t_out, (int)ends->head, (int)ends->tail);
    g.x = rows_at(area[step->from], group->first, g.t_in, g.c, step->products == COV_CUDA_BF16);
    g.w = w->w;
    g.bias = w->bias;
    g.scale = w->scale;
    g.shift = w->shift;
    g.y = rows_at(area[step->to], group->first, g.t_out, g.pitch, g.y_bf16 || g.y_fp16);
    return cov_dense_gemm(step->dense, card, step->products, &g, stream, e);
}

static void queue_lstm(const struct cov_cuda_plan *plan, const struct cov_cuda_step *step,
                       const struct cov_cuda_batch *batch, const struct weights *w,
                       char *const area[COV_CUDA_N_AREAS], void *stream)
{
    struct cov_cuda_lstm l = step->lstm;
    l.n = (int)batch->n;
    if (step->sums_fp16)
        l.gates_fp16 = (const uint16_t *)(const void *)area[step->from];
    else
        l.gates = (const float *)(const void *)area[step->from];
    l.w = w->w;
    l.y = area[step->to];
    l.extents = (struct cov_cuda_extent *)(void *)area[COV_CUDA_EXTENTS] + step->lstm_number;
    l.extent_pitch = (int)plan->n_lstms;
    l.rest = batch->rest;
    l.priority = batch->priority;
    if (step->kind == COV_CUDA_STEP_LSTM_BF16)
        cov_cuda_lstm_bf16(&l, stream);
    else
        cov_cuda_lstm_fp32(&l, stream);
}

static void queue_last(const struct cov_cuda_step *step, const struct cov_cuda_group *group,
                       const struct weights *w, char *const area[COV_CUDA_N_AREAS], float *values,
                       void *stream)
{
    struct cov_cuda_last l = step->last;
    const struct cov_plan_ends *ends = &group->ends[step->layer + 2];
    l.n = (int)group->n;
    l.rows = (int)ends->head;
    l.phase = cov_conv_phase_cut(l.phase, l.t_out, l.rows, l.t_out);
    l.x = (const float *)(const void *)rows_at(area[step->from], group->first, l.t_in, l.c, false);
    l.w = (const float *)w->w;
    l.bias = w->bias;
    l.scale = w->scale;
    l.shift = w->shift;
    l.out_w = w->out;
    l.out_bias = w->out + l.depth * COV_CUDA_LAST_CHANNELS;
    l.codes = (const uint8_t *)area[COV_CUDA_CODES] + group->first * (((size_t)l.t_out + 1) / 2);
    l.out = values;
    cov_cuda_last_layers(&l, stream);
}

int cov_cuda_plan_queue(const struct cov_cuda_plan *plan, const struct cov_cuda_step *step,
                        const struct cov_cuda_batch *batch, const char *weights,
                        char *const area[COV_CUDA_N_AREAS], void *stream, struct cov_err *e)
{
    int rc = COV_OK;
    struct weights w;
    w.bias = (const float *)(const void *)(weights + step->bias);
    w.scale = (const float *)(const void *)(weights + step->scale);
    w.shift = (const float *)(const void *)(weights + step->shift);
    w.out = (const float *)(const void *)(weights + step->out);
    w.w = weights + step->w;
    if (step->kind == COV_CUDA_STEP_LSTM_FP32 || step->kind == COV_CUDA_STEP_LSTM_BF16) {
        queue_lstm(plan, step, batch, &w, area, stream);
        return COV_OK;
    }
    float *values = (float *)(void *)area[COV_CUDA_VALUES];
    for (size_t i = 0; !rc && i < batch->n_groups; i++) {
        const struct cov_cuda_group *group = &batch->groups[i];
        if (step->kind == COV_CUDA_STEP_FIRST)
            queue_first(step, group, &w, area, stream);
        else if (step->kind == COV_CUDA_STEP_GEMM)
            rc = queue_gemm(step, group, batch->card, &w, area, stream, e);
        else
            queue_last(step, group, &w, area, values, stream);
        values += group->n * group->ends[plan->n_layers].head * plan->depth;
    }
    return rc ? rc : cov_rt_launched(cov_cuda_step_name(step), e);
}

int cov_cuda_plan_queue_sums(const struct cov_cuda_step *step, int rows, const char *weights,
                             const void *x, void *sums, void *stream, struct cov_err *e)
{
    struct cov_cuda_gemm g = step->gemm;
    g.n = 1;
    g.t_in = g.t_out = rows;
    g.phase = cov_conv_phase_plain(rows, 1, 1, 1, 0);
    g.x = x;
    g.w = weights + step->w;
    g.bias = (const float *)(const void *)(weights + step->bias);
    g.scale = (const float *)(const void *)(weights + step->scale);
    g.shift = (const float *)(const void *)(weights + step->shift);
    g.y = sums;
    cov_cuda_gemm(step->products, &g, stream);
    return cov_rt_launched(cov_cuda_step_name(step), e);
}

const char *cov_cuda_step_name(const struct cov_cuda_step *step)
{
    switch (step->kind) {
    case COV_CUDA_STEP_FIRST:
        return "first convolution";
    case COV_CUDA_STEP_GEMM:
        return step->to == COV_CUDA_GATES ? "gates of an LSTM" : "convolution";
    case COV_CUDA_STEP_LSTM_FP32:
    case COV_CUDA_STEP_LSTM_BF16:
        return "steps of an LSTM";
    case COV_CUDA_STEP_LAST:
        break;
    }
    return "last two layers";
}
