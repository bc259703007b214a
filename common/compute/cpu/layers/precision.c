/* precision.c - see precision.h.
 *
 * Based on measurements. On Zen 4 (AVX-512 BF16 and VNNI, no AMX) single precision with minimal
 * filtering beats bf16x3 with VDPBF16PS; 16-bit integers multiply as fast as bf16 with a fifth of
 * its error, small enough for minimal filtering. On Sapphire Rapids a prototype, not these kernels,
 * ran bf16x3 on AMX 3.7 times faster than single precision without minimal filtering.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/precision.h"

enum { FIRST_CHANNELS = 4 }; /* one-hot rows */

/* The operands of each precision. */
static void set_operands(enum cov_precision precision, struct cov_cpu_arithmetic *a)
{
    a->precision = precision;
    switch (precision) {
    case COV_PRECISION_EXACT: /* bf16x3 on AMX promises more speed, but has not been measured yet */
    case COV_PRECISION_FP32:
    case COV_PRECISION_TF32:
        a->precision = COV_PRECISION_FP32;
        a->conv = a->lstm = COV_FP32;
        break;
    case COV_PRECISION_BF16X3:
        a->conv = a->lstm = COV_BF16X3;
        break;
    case COV_PRECISION_BALANCED:
        a->conv = COV_BF16X3;
        a->lstm = COV_BF16;
        break;
    case COV_PRECISION_BF16:
        a->conv = a->lstm = COV_BF16;
        break;
    }
}

void cov_cpu_arithmetic_choose(enum cov_precision wanted, const struct cov_cpu_choice *cpu,
                               struct cov_cpu_arithmetic *out)
{
    *out = (struct cov_cpu_arithmetic){.features = cpu->features};
    bool dot = cpu->level == COV_LEVEL_AVX512BF16, amx = cpu->level == COV_LEVEL_AMX;
    set_operands(wanted, out);
    if (wanted == COV_PRECISION_TF32)
        out->why = "CPUs have no tf32 instructions";
    if (out->conv != COV_FP32 && !amx && cpu->level != COV_LEVEL_SCALAR) {
        if (!dot) {
            set_operands(COV_PRECISION_FP32, out);
            out->why = "there are no bf16 instructions, and fp32 is as fast and more exact";
        } else if (wanted == COV_PRECISION_BF16X3) {
            set_operands(COV_PRECISION_FP32, out);
            out->why = "fp32 is faster on this CPU and more exact";
        } else if (wanted == COV_PRECISION_BALANCED) {
            out->conv = COV_FP32;
        } else {
            out->conv = COV_INT16;
        }
        if (out->lstm == COV_BF16)
            out->lstm = COV_INT16;
    }
    out->conv_gemm = cov_gemm_choose_bf16(cpu->features, out->conv);
    out->lstm_gemm = cov_gemm_choose_bf16(cpu->features, out->lstm);
}

enum cov_arithmetic cov_cpu_arithmetic_of(const struct cov_cpu_arithmetic *a,
                                          const struct cov_layer *layer, bool last_conv)
{
    switch (layer->kind) {
    case COV_LAYER_CONV:
    case COV_LAYER_CONV_TRANSPOSED:
        if (a->conv == COV_INT16 && layer->c_in == FIRST_CHANNELS)
            return COV_FP32; /* few products, and everything else depends on them */
        return a->conv != COV_BF16X3 && last_conv ? COV_FP32 : a->conv;
    case COV_LAYER_LSTM:
        return a->lstm;
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
    if (operands == COV_FP32) {
        kernels.gemm = cov_gemm_choose_for(a->features, layer->c_in, layer->c_out);
    } else if (!kernels.openblas) {
        kernels.gemm = a->conv_gemm;
        if (operands != COV_INT16) /* minimal filtering amplifies the rounding of bf16 too much */
            kernels.minimal = NULL;
    }
    return kernels;
}

const struct cov_gemm *cov_cpu_lstm_gemm(const struct cov_cpu_arithmetic *a,
                                         const struct cov_layer *layer)
{
    return a->lstm != COV_FP32 ? a->lstm_gemm
                               : cov_gemm_choose_for(a->features, layer->c_in, 4 * layer->hidden);
}

const struct cov_outer *cov_cpu_outer(const struct cov_cpu_arithmetic *a,
                                      const struct cov_layer *layer, enum cov_arithmetic operands)
{
    bool rounds = operands == COV_BF16 || operands == COV_INT16;
    return cov_outer_choose_for(a->features, rounds ? COV_BF16 : COV_FP32, layer->c_in,
                                layer->kind == COV_LAYER_LSTM ? 4 * layer->hidden : layer->c_out);
}
