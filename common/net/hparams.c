/* hparams.c - see hparams.h.
 * SPDX-License-Identifier: MIT */
#include "common/net/hparams.h"

#include <string.h>

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
