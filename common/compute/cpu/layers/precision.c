/* precision.c - see precision.h.
 *
 * Based on measurements (README.md). On Zen 4 (AVX-512 BF16 and VNNI, no AMX) single precision with
 * minimal filtering beats bf16x3 with VDPBF16PS; 16-bit integers multiply as fast as bf16 with a
 * fifth of its error, small enough for minimal filtering. On Emerald Rapids (AMX), LSTMs in bf16x3
 * take 0.4 of the time of single precision on a quiet core, and the same time if a neighbour uses
 * the other half of the core. Convolutions in bf16x3 take 0.6 or 2.1 of the time of minimal
 * filtering in single precision, which is more exact.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/precision.h"

enum { FIRST_CHANNELS = 4 }; /* one-hot rows */

/* The operands of each precision on a CPU with AMX, and of the scalar reference. */
static void set_operands(enum cov_precision precision, struct cov_cpu_arithmetic *a)
{
    a->precision = precision;
    a->conv = a->lstm = COV_FP32;
    switch (precision) {
    case COV_PRECISION_EXACT: /* see cov_cpu_arithmetic_choose */
    case COV_PRECISION_FP32:
    case COV_PRECISION_TF32:
        a->precision = COV_PRECISION_FP32;
        break;
    case COV_PRECISION_BF16X3:
        a->lstm = COV_BF16X3;
        break;
    case COV_PRECISION_BALANCED:
        a->lstm = COV_BF16;
        break;
    case COV_PRECISION_BF16:
        a->conv = a->lstm = COV_BF16;
        break;
    }
}

static void replace(const char *why, struct cov_cpu_arithmetic *a)
{
    set_operands(COV_PRECISION_FP32, a);
    a->why = why;
}

void cov_cpu_arithmetic_choose(enum cov_precision wanted, const struct cov_cpu_choice *cpu,
                               bool edits, struct cov_cpu_arithmetic *out)
{
    *out = (struct cov_cpu_arithmetic){.features = cpu->features};
    bool dot = cpu->level == COV_LEVEL_AVX512BF16, amx = cpu->level == COV_LEVEL_AMX;
    set_operands(wanted == COV_PRECISION_EXACT && amx && !edits ? COV_PRECISION_BF16X3 : wanted,
                 out);
    if (wanted == COV_PRECISION_TF32)
        out->why = "CPUs have no tf32 instructions";
    if (out->lstm == COV_FP32 || cpu->level == COV_LEVEL_SCALAR) {
        /* as wanted */
    } else if (edits) {
        replace("it computes only what an edit changes, which is faster and more exact", out);
    } else if (dot && wanted == COV_PRECISION_BF16X3) {
        replace("fp32 is faster on this CPU and more exact", out);
    } else if (dot) {
        out->lstm = COV_INT16;
        if (out->conv == COV_BF16)
            out->conv = COV_INT16;
    } else if (!amx) {
        replace("there are no bf16 instructions, and fp32 is as fast and more exact", out);
    }
    if (out->lstm != COV_FP32)
        out->lstm_gemm = cov_gemm_choose(cpu->features, out->lstm, 0, 0);
}

/* With few channels, single precision takes as little time as bf16x3 and is more exact. */
static enum cov_arithmetic lstm_operands(const struct cov_cpu_arithmetic *a,
                                         const struct cov_layer *layer)
{
    bool few = layer->c_in < COV_GEMM_MANY || layer->c_out < COV_GEMM_MANY;
    return a->lstm == COV_BF16X3 && few ? COV_FP32 : a->lstm;
}

enum cov_arithmetic cov_cpu_arithmetic_of(const struct cov_cpu_arithmetic *a,
                                          const struct cov_layer *layer, bool last_conv)
{
    switch (layer->kind) {
    case COV_LAYER_CONV:
    case COV_LAYER_CONV_TRANSPOSED:
        if (last_conv && a->lstm == COV_BF16 && cov_conv_joins(layer))
            return COV_BF16X3;
        return layer->c_in == FIRST_CHANNELS || last_conv ? COV_FP32 : a->conv;
    case COV_LAYER_LSTM:
        return lstm_operands(a, layer);
    case COV_LAYER_LINEAR_EXP:
        break;
    }
    return COV_FP32;
}

/* The tolerances are the largest with which values were as close to exact ones as without skipping,
 * for two trained networks and contigs of 200 to 9,000 bases; padding settles in fewer steps than
 * 64. */
struct cov_lstm_rest cov_cpu_lstm_rest(const struct cov_cpu_arithmetic *a)
{
    enum { SETTLED = 64 };
    if (a->conv == COV_INT16 || a->conv == COV_BF16)
        return (struct cov_lstm_rest){0x1p-10F, 0x1p-12F, SETTLED};
    if (a->lstm == COV_BF16)
        return (struct cov_lstm_rest){0x1p-12F, 0x1p-12F, SETTLED};
    if (a->lstm == COV_INT16)
        return (struct cov_lstm_rest){0x1p-14F, 0x1p-14F, SETTLED};
    return COV_LSTM_REST_FP32;
}

struct cov_cpu_kernels cov_cpu_conv_kernels(const struct cov_cpu_arithmetic *a,
                                            const struct cov_layer *layer,
                                            enum cov_arithmetic operands,
                                            const struct cov_cpu_kernels *plain)
{
    struct cov_cpu_kernels kernels = *plain;
    kernels.gemm = cov_gemm_choose(a->features, operands, layer->c_in, layer->c_out);
    /* Minimal filtering amplifies the rounding of bf16 too much. */
    if (operands == COV_BF16 || operands == COV_BF16X3)
        kernels.minimal = NULL;
    return kernels;
}

const struct cov_gemm *cov_cpu_lstm_gemm(const struct cov_cpu_arithmetic *a,
                                         const struct cov_layer *layer)
{
    return cov_gemm_choose(a->features, lstm_operands(a, layer), layer->c_in, 4 * layer->hidden);
}

size_t cov_cpu_lstm_rows(const struct cov_cpu_arithmetic *a)
{
    return a->lstm_gemm && a->lstm_gemm->lstm_step ? COV_LSTM_ROWS : COV_LSTM_FEW_ROWS;
}

const struct cov_vec *cov_cpu_lstm_vec(const struct cov_cpu_arithmetic *a,
                                       const struct cov_layer *layer)
{
#ifdef __x86_64__
    enum cov_arithmetic operands = lstm_operands(a, layer);
    if (operands == COV_BF16 && (cov_vec_amx_bf16.needs & ~a->features) == 0)
        return &cov_vec_amx_bf16;
    if (operands == COV_BF16X3 && (cov_vec_amx.needs & ~a->features) == 0)
        return &cov_vec_amx;
#else
    (void)layer;
#endif
    return cov_vec_choose(a->features);
}

const struct cov_outer *cov_cpu_outer(const struct cov_cpu_arithmetic *a,
                                      const struct cov_layer *layer, enum cov_arithmetic operands)
{
    bool rounds = operands == COV_BF16 || operands == COV_INT16;
    return cov_outer_choose(a->features, rounds ? COV_BF16 : COV_FP32, layer->c_in,
                            layer->kind == COV_LAYER_LSTM ? 4 * layer->hidden : layer->c_out);
}
