/* shape.c - see shape.h. Layers: n convolutions down, the LSTM layers, n transposed convolutions
 * up, and the linear layer. The table lists the parameters layer by layer, in the same order.
 * SPDX-License-Identifier: MIT */
#include "common/net/shape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"

enum {
    MAX_PARAMS_A_LAYER = 8, /* in a bidirectional LSTM */
    PARAMS_A_DIRECTION = 4,
    PARAMS_A_NORM = 4,
};

#define MAX_LENGTH ((size_t)1 << 40)
#define MAX_ACTIVATIONS ((size_t)1 << 40)

/* ---- hyperparameters ---- */

const struct cov_hparams cov_hparams_published = {
    .model_type = COV_MODEL_BI_HYBRID,
    .cnn_layers = 3,
    .filter_size = 64,
    .kernel_size = 9,
    .step = 2,
    .up = 2,
    .dilation = 1,
    .lstm_layers = 2,
    .hidden_size = 128,
    .input_size = 4,
    .output_size = 2,
    .bnorm = true,
    .dropout = 0.3,
};

static const char *const type_names[] = {
    [COV_MODEL_CNN] = "cnn",
    [COV_MODEL_HYBRID] = "hybrid",
    [COV_MODEL_BI_HYBRID] = "bi-hybrid",
};

const char *cov_model_type_name(enum cov_model_type type)
{
    return type_names[type];
}

int cov_model_type_parse(const char *name, enum cov_model_type *out, struct cov_err *e)
{
    for (size_t i = 0; i < COV_COUNT(type_names); i++) {
        if (strcmp(name, type_names[i]) == 0) {
            *out = (enum cov_model_type)i;
            return COV_OK;
        }
    }
    return cov_fail(e, COV_EINPUT, "model_type is \"%s\", not cnn, hybrid or bi-hybrid", name);
}

/* Returns how far the kernel extends past one step; the padding on both sides compensates for
 * that. */
static int64_t overhang(const struct cov_hparams *hp)
{
    return hp->dilation * (hp->kernel_size - 1) + 1 - hp->step;
}

/* In Predmoter's formulas the lengths cancel: with l_in = l_out * step, a convolution has (l_out -
 * 1) * step - l_in = -step, and similarly for a transposed one. */
struct cov_paddings cov_hparams_paddings(const struct cov_hparams *hp)
{
    bool odd = (hp->step + hp->kernel_size) % 2 != 0;
    if (hp->dilation % 2 == 0 && hp->kernel_size % 2 == 0)
        odd = !odd;
    int64_t over = overhang(hp);
    /* C's division truncates like Python's int(); that is one less than the ceiling of over / 2 if
     * over is positive and odd. */
    return (struct cov_paddings){
        .conv = over / 2 + (over > 0 && over % 2 != 0),
        .transposed = (over + odd) / 2,
        .output = odd,
    };
}

/* *total += a * b * c. Returns false if that exceeds `limit`. */
static bool add_product(int64_t *total, int64_t limit, int64_t a, int64_t b, int64_t c)
{
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_add_overflow(*total, product, total) && *total <= limit;
}

/* Returns true if all parameters and the norms' statistics are at most 2^31. */
static bool parameters_fit(const struct cov_hparams *hp)
{
    const int64_t limit = INT64_C(1) << 31;
    int64_t total = 0, channels = hp->input_size, filters = hp->filter_size;
    int64_t per_channel = hp->bnorm ? 5 : 1;
    for (int64_t i = 0; i < hp->cnn_layers; i++) {
        /* A convolution and the transposed one of the same depth. The innermost transposed one
         * reads the LSTM's output, so it is counted below. */
        bool innermost = i == hp->cnn_layers - 1;
        int64_t times = innermost && hp->model_type != COV_MODEL_CNN ? 1 : 2;
        if (!add_product(&total, limit, times * channels, filters, hp->kernel_size) ||
            !add_product(&total, limit, filters + channels, per_channel, 1))
            return false;
        if (innermost)
            break;
        channels = filters;
        if (hp->up > limit / filters)
            return false;
        filters *= hp->up;
    }
    if (hp->model_type != COV_MODEL_CNN) {
        int64_t directions = hp->model_type == COV_MODEL_BI_HYBRID ? 2 : 1;
        int64_t hidden = hp->hidden_size, in = filters;
        for (int64_t i = 0; i < hp->lstm_layers; i++) {
            if (!add_product(&total, limit, 4 * directions, hidden, in + hidden + 2))
                return false;
            in = directions * hidden;
        }
        if (!add_product(&total, limit, in, channels, hp->kernel_size))
            return false;
    }
    return add_product(&total, limit, hp->output_size, 5, 1);
}

static int check_size(const char *name, int64_t value, int64_t max, struct cov_err *e)
{
    if (value < 1)
        return cov_fail(e, COV_EINPUT, "%s is %lld, less than 1", name, (long long)value);
    if (value > max)
        return cov_fail(e, COV_EINPUT, "%s is %lld, more than %lld", name, (long long)value,
                        (long long)max);
    return COV_OK;
}

int cov_hparams_check(const struct cov_hparams *hp, struct cov_err *e)
{
    bool lstm = hp->model_type != COV_MODEL_CNN;
    const struct {
        const char *name;
        int64_t value, max;
        bool used;
    } sizes[] = {
        {"cnn_layers", hp->cnn_layers, COV_HPARAMS_MAX_LAYERS, true},
        {"filter_size", hp->filter_size, INT32_MAX, true},
        {"kernel_size", hp->kernel_size, COV_HPARAMS_MAX_REACH, true},
        {"step", hp->step, COV_HPARAMS_MAX_REACH, true},
        {"up", hp->up, INT32_MAX, true},
        {"dilation", hp->dilation, COV_HPARAMS_MAX_REACH, true},
        {"lstm_layers", hp->lstm_layers, COV_HPARAMS_MAX_LAYERS, lstm},
        {"hidden_size", hp->hidden_size, INT32_MAX, lstm},
        {"output_size", hp->output_size, COV_HPARAMS_MAX_OUTPUTS, true},
    };
    for (size_t i = 0; i < COV_COUNT(sizes); i++)
        if (sizes[i].used && check_size(sizes[i].name, sizes[i].value, sizes[i].max, e))
            return COV_EINPUT;
    if (hp->input_size != 4)
        return cov_fail(e, COV_EINPUT, "input_size is %lld, not 4 (the columns of the bases)",
                        (long long)hp->input_size);
    if (!(hp->dropout >= 0 && hp->dropout < 1))
        return cov_fail(e, COV_EINPUT, "dropout is %g, outside [0, 1)", hp->dropout);
    if (hp->dilation * (hp->kernel_size - 1) + 1 > COV_HPARAMS_MAX_REACH)
        return cov_fail(e, COV_EINPUT,
                        "kernel_size %lld with dilation %lld spans more than %d positions",
                        (long long)hp->kernel_size, (long long)hp->dilation, COV_HPARAMS_MAX_REACH);
    if (hp->step == 1 && hp->kernel_size % 2 == 0)
        return cov_fail(e, COV_EINPUT, "step is 1 with the even kernel_size %lld",
                        (long long)hp->kernel_size);
    struct cov_paddings pad = cov_hparams_paddings(hp);
    if (pad.conv < 0 || pad.transposed < 0)
        return cov_fail(e, COV_EINPUT,
                        "step %lld is too large for kernel_size %lld and dilation %lld: "
                        "the padding would be negative",
                        (long long)hp->step, (long long)hp->kernel_size, (long long)hp->dilation);
    if (!parameters_fit(hp))
        return cov_fail(e, COV_EINPUT,
                        "cnn_layers %lld, filter_size %lld, up %lld, kernel_size %lld, "
                        "lstm_layers %lld, hidden_size %lld and output_size %lld give more than "
                        "2^31 parameters",
                        (long long)hp->cnn_layers, (long long)hp->filter_size, (long long)hp->up,
                        (long long)hp->kernel_size, (long long)hp->lstm_layers,
                        (long long)hp->hidden_size, (long long)hp->output_size);
    return COV_OK;
}

/* ---- parameters ---- */

static size_t count_lstm(const struct cov_hparams *hp)
{
    return hp->model_type == COV_MODEL_CNN ? 0 : (size_t)hp->lstm_layers;
}

static size_t count_layers(const struct cov_hparams *hp)
{
    return 2 * (size_t)hp->cnn_layers + count_lstm(hp) + 1;
}

/* Returns the channels at depth i: 4 for one-hot bases, then filter_size * up^(i-1). */
static size_t channels_at(const struct cov_hparams *hp, size_t depth)
{
    if (depth == 0)
        return (size_t)hp->input_size;
    size_t channels = (size_t)hp->filter_size;
    for (size_t i = 1; i < depth; i++)
        channels *= (size_t)hp->up;
    return channels;
}

/* Returns layer i < count_layers, without lengths and padding. Sets *module to its index in the
 * state dict's list of layers of this kind. */
static struct cov_layer layer_at(const struct cov_hparams *hp, size_t i, size_t *module)
{
    size_t n_cnn = (size_t)hp->cnn_layers, n_lstm = count_lstm(hp);
    size_t norm_stride = hp->bnorm ? 2 : 1, lstm_stride = hp->dropout > 0 ? 2 : 1;
    size_t directions = hp->model_type == COV_MODEL_BI_HYBRID ? 2 : 1;
    size_t hidden = (size_t)hp->hidden_size;
    struct cov_layer layer = {0};
    if (i >= n_cnn && i < n_cnn + n_lstm) {
        size_t k = i - n_cnn;
        layer.kind = COV_LAYER_LSTM;
        layer.hidden = hidden;
        layer.directions = directions;
        layer.c_in = k == 0 ? channels_at(hp, n_cnn) : directions * hidden;
        layer.c_out = directions * hidden;
        *module = k * lstm_stride;
        return layer;
    }
    if (i == 2 * n_cnn + n_lstm) {
        layer.kind = COV_LAYER_LINEAR_EXP;
        layer.c_in = channels_at(hp, 0);
        layer.c_out = (size_t)hp->output_size;
        *module = 0;
        return layer;
    }
    if (i < n_cnn) {
        layer.kind = COV_LAYER_CONV;
        layer.c_in = channels_at(hp, i);
        layer.c_out = channels_at(hp, i + 1);
        *module = i * norm_stride;
    } else {
        size_t k = i - n_cnn - n_lstm;
        layer.kind = COV_LAYER_CONV_TRANSPOSED;
        layer.c_in = k == 0 && n_lstm > 0 ? directions * hidden : channels_at(hp, n_cnn - k);
        layer.c_out = channels_at(hp, n_cnn - k - 1);
        *module = k * norm_stride;
    }
    layer.kernel = (size_t)hp->kernel_size;
    layer.stride = (size_t)hp->step;
    layer.dilation = (size_t)hp->dilation;
    layer.norm = hp->bnorm;
    return layer;
}

/* Appends a row to the table, which has room for it. */
COV_PRINTF(6, 7)
static void add(struct cov_params *p, bool trained, size_t n0, size_t n1, size_t n2,
                const char *name, ...)
{
    struct cov_param *item = &p->items[p->n_items++];
    const size_t shape[3] = {n0, n1, n2};
    *item = (struct cov_param){.trained = trained, .offset = p->n_floats, .n = 1};
    for (int d = 0; d < 3 && shape[d] > 0; d++) {
        item->shape[item->n_dims++] = shape[d];
        item->n *= shape[d];
    }
    p->n_floats += item->n;
    va_list args;
    va_start(args, name);
    (void)vsnprintf(item->name, sizeof item->name, name, args);
    va_end(args);
}

/* Appends the parameters of a layer. */
static void add_layer(struct cov_params *p, const struct cov_layer *l, size_t module)
{
    if (l->kind == COV_LAYER_LINEAR_EXP) {
        add(p, true, l->c_out, l->c_in, 0, "out.weight");
        add(p, true, l->c_out, 0, 0, "out.bias");
        return;
    }
    if (l->kind == COV_LAYER_LSTM) {
        size_t gates = 4 * l->hidden;
        for (size_t d = 0; d < l->directions; d++) {
            const char *suffix = d == 0 ? "" : "_reverse";
            add(p, true, gates, l->c_in, 0, "lstm_layer_list.%zu.weight_ih_l0%s", module, suffix);
            add(p, true, gates, l->hidden, 0, "lstm_layer_list.%zu.weight_hh_l0%s", module, suffix);
            add(p, true, gates, 0, 0, "lstm_layer_list.%zu.bias_ih_l0%s", module, suffix);
            add(p, true, gates, 0, 0, "lstm_layer_list.%zu.bias_hh_l0%s", module, suffix);
        }
        return;
    }
    const char *list = "down_layer_list";
    size_t n0 = l->c_out, n1 = l->c_in;
    if (l->kind == COV_LAYER_CONV_TRANSPOSED) {
        list = "up_layer_list";
        n0 = l->c_in;
        n1 = l->c_out;
    }
    add(p, true, n0, n1, l->kernel, "%s.%zu.weight", list, module);
    add(p, true, l->c_out, 0, 0, "%s.%zu.bias", list, module);
    if (l->norm) {
        add(p, true, l->c_out, 0, 0, "%s.%zu.weight", list, module + 1);
        add(p, true, l->c_out, 0, 0, "%s.%zu.bias", list, module + 1);
        add(p, false, l->c_out, 0, 0, "%s.%zu.running_mean", list, module + 1);
        add(p, false, l->c_out, 0, 0, "%s.%zu.running_var", list, module + 1);
    }
}

/* Returns the number of parameters that add_layer appends. */
static size_t count_params(const struct cov_layer *l)
{
    if (l->kind == COV_LAYER_LSTM)
        return l->directions * PARAMS_A_DIRECTION;
    return 2 + (l->norm ? PARAMS_A_NORM : 0);
}

int cov_params_init(const struct cov_hparams *hp, struct cov_params *out, struct cov_err *e)
{
    *out = (struct cov_params){0};
    size_t n_layers = count_layers(hp), module;
    out->items = cov_calloc(n_layers * MAX_PARAMS_A_LAYER, sizeof *out->items, e);
    if (!out->items)
        return COV_ENOMEM;
    for (size_t i = 0; i < n_layers; i++) {
        struct cov_layer layer = layer_at(hp, i, &module);
        add_layer(out, &layer, module);
    }
    return COV_OK;
}

void cov_params_fini(struct cov_params *p)
{
    free(p->items);
    *p = (struct cov_params){0};
}

const struct cov_param *cov_params_find(const struct cov_params *p, const char *name)
{
    for (size_t i = 0; i < p->n_items; i++)
        if (strcmp(p->items[i].name, name) == 0)
            return &p->items[i];
    return NULL;
}

static void fill(float *block, const struct cov_param *param, float value)
{
    for (size_t i = 0; i < param->n; i++)
        block[param->offset + i] = value;
}

void cov_params_randomize(const struct cov_hparams *hp, const struct cov_params *p, uint64_t seed,
                          float *block)
{
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    const struct cov_param *param = p->items;
    size_t n_layers = count_layers(hp), module;
    for (size_t i = 0; i < n_layers; i++) {
        struct cov_layer l = layer_at(hp, i, &module);
        size_t fan_in = l.c_in;
        if (l.kind == COV_LAYER_CONV)
            fan_in = l.c_in * l.kernel;
        else if (l.kind == COV_LAYER_CONV_TRANSPOSED)
            fan_in = l.c_out * l.kernel;
        else if (l.kind == COV_LAYER_LSTM)
            fan_in = l.hidden;
        double bound = 1 / sqrt((double)fan_in);
        size_t n_uniform = count_params(&l) - (l.norm ? PARAMS_A_NORM : 0);
        for (size_t j = 0; j < n_uniform; j++, param++)
            for (size_t k = 0; k < param->n; k++)
                block[param->offset + k] = (float)(bound * (2 * cov_rng_double(&rng) - 1));
        if (l.norm) {
            static const float initial[PARAMS_A_NORM] = {1, 0, 0, 1};
            for (size_t j = 0; j < PARAMS_A_NORM; j++, param++)
                fill(block, param, initial[j]);
        }
    }
}

/* Returns the weights of a layer whose parameters are param[0 ...]. */
static struct cov_layer_weights weights_of(const struct cov_layer *l, const struct cov_param *param,
                                           const float *block)
{
    struct cov_layer_weights w = {0};
    if (l->kind == COV_LAYER_LSTM) {
        for (size_t d = 0; d < l->directions; d++, param += PARAMS_A_DIRECTION) {
            w.w_ih[d] = block + param[0].offset;
            w.w_hh[d] = block + param[1].offset;
            w.b_ih[d] = block + param[2].offset;
            w.b_hh[d] = block + param[3].offset;
        }
        return w;
    }
    w.weight = block + param[0].offset;
    w.bias = block + param[1].offset;
    if (l->norm) {
        w.gamma = block + param[2].offset;
        w.beta = block + param[3].offset;
        w.mean = block + param[4].offset;
        w.var = block + param[5].offset;
    }
    return w;
}

/* Refuses a length that is not a multiple of the step, and names the nearest ones that are. */
static int check_length(const struct cov_hparams *hp, size_t L, struct cov_err *e)
{
    size_t multiple = 1;
    for (int64_t i = 0; i < hp->cnn_layers; i++) {
        if (cov_size_mul(multiple, (size_t)hp->step, &multiple) || multiple > MAX_LENGTH)
            return cov_fail(
                e, COV_EINPUT,
                "step %lld and cnn_layers %lld ask for a subsequence length of more than %zu",
                (long long)hp->step, (long long)hp->cnn_layers, MAX_LENGTH);
    }
    if (L > MAX_LENGTH)
        return cov_fail(e, COV_EINPUT, "subsequence length %zu is more than %zu", L, MAX_LENGTH);
    if (L > 0 && L % multiple == 0)
        return COV_OK;
    size_t below = L - L % multiple, above = below + multiple;
    char either[32] = "";
    if (below > 0)
        (void)snprintf(either, sizeof either, "%zu or ", below);
    return cov_fail(e, COV_EINPUT,
                    "subsequence length %zu is not a multiple of %zu (step %lld to the power of "
                    "cnn_layers %lld); the nearest that fits is %s%zu",
                    L, multiple, (long long)hp->step, (long long)hp->cnn_layers, either, above);
}

/* Sets the lengths and the padding of layer *l, which reads t positions, and checks that PyTorch's
 * Conv1d or ConvTranspose1d gives the same length. */
static int set_lengths(const struct cov_hparams *hp, size_t t, struct cov_layer *l,
                       struct cov_err *e)
{
    l->t_in = l->t_out = t;
    if (l->kind != COV_LAYER_CONV && l->kind != COV_LAYER_CONV_TRANSPOSED)
        return COV_OK;
    struct cov_paddings pad = cov_hparams_paddings(hp);
    int64_t t_in = (int64_t)t, reach = hp->dilation * (hp->kernel_size - 1) + 1, pytorch;
    if (l->kind == COV_LAYER_CONV) {
        l->pad = pad.conv;
        l->t_out = t / l->stride;
        int64_t room = t_in + 2 * pad.conv - reach;
        pytorch = room < 0 ? 0 : room / hp->step + 1;
    } else {
        l->pad = pad.transposed;
        l->t_out = t * l->stride;
        pytorch = (t_in - 1) * hp->step - 2 * pad.transposed + reach + pad.output;
    }
    if (l->pad < 0 || pytorch != (int64_t)l->t_out)
        return cov_fail(
            e, COV_EINPUT,
            "kernel_size %lld, step %lld and dilation %lld do not fit together: a layer "
            "of length %zu gives %lld instead of %zu (padding %lld)",
            (long long)hp->kernel_size, (long long)hp->step, (long long)hp->dilation, l->t_in,
            (long long)pytorch, l->t_out, (long long)l->pad);
    return COV_OK;
}

/* The limit lets devices multiply sizes without overflow. */
static int check_activations(const struct cov_layer *l, struct cov_err *e)
{
    size_t wider = l->c_in > l->c_out ? l->c_in : l->c_out;
    size_t longer = l->t_in > l->t_out ? l->t_in : l->t_out, n;
    if (cov_size_mul(longer, wider, &n) || n > MAX_ACTIVATIONS)
        return cov_fail(e, COV_EINPUT, "a layer of %zu positions and %zu channels is too large",
                        longer, wider);
    return COV_OK;
}

int cov_shape(const struct cov_hparams *hp, size_t L, const struct cov_params *p,
              const float *block, struct cov_layers *out, struct cov_err *e)
{
    *out = (struct cov_layers){0};
    int rc = check_length(hp, L, e);
    if (rc)
        return rc;
    out->n = count_layers(hp);
    out->layers = cov_calloc(out->n, sizeof *out->layers, e);
    out->weights = cov_calloc(out->n, sizeof *out->weights, e);
    rc = out->layers && out->weights ? COV_OK : COV_ENOMEM;
    const struct cov_param *param = p->items;
    for (size_t i = 0, t = L, module; rc == COV_OK && i < out->n; i++) {
        struct cov_layer *l = &out->layers[i];
        *l = layer_at(hp, i, &module);
        rc = set_lengths(hp, t, l, e);
        if (rc == COV_OK)
            rc = check_activations(l, e);
        t = l->t_out;
        if (block)
            out->weights[i] = weights_of(l, param, block);
        param += count_params(l);
    }
    if (rc)
        cov_layers_fini(out);
    return rc;
}

void cov_layers_fini(struct cov_layers *l)
{
    free(l->layers);
    free(l->weights);
    *l = (struct cov_layers){0};
}
