/* test_level.c - levels of instruction sets, which limit every table of kernels.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/kernels/toom_cook.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/compute/device.h"
#include "common/deflate/onehot_kern.h"
#include "common/seq/alphabet.h"

TEST(chooses_levels)
{
    struct cov_device *dev;
    struct cov_err why = COV_ERR_INIT;
    static const char *const unknown[] = {"abacus", "", "avx2,", ",base", "avx", "base,avx2x"};
    for (size_t i = 0; i < COV_COUNT(unknown); i++) {
        const struct cov_cpu_options options = {.levels = unknown[i]};
        assert_int_equal(cov_device_open_cpu(&options, &dev, &why), COV_EUSAGE);
        cov_err_clear(&why);
    }
    char all[128], one[128];
    cov_device_describe_levels(all, sizeof all);
    assert_true(strncmp(all, "scalar base", 11) == 0);
    for (char *at = all; *at; at += *at != '\0') { /* each name is accepted */
        size_t k = strcspn(at, " ");
        (void)snprintf(one, sizeof one, "%.*s", (int)k, at);
        assert_ok(cov_cpu_level_choose(one, &(struct cov_cpu_choice){0}, &e));
        (void)snprintf(one, sizeof one, "%.*s,base", (int)k, at);
        assert_ok(cov_cpu_level_choose(one, &(struct cov_cpu_choice){0}, &e));
        at += k;
    }
    if (!strstr(all, "amx")) {
        assert_int_equal(cov_cpu_level_choose("amx", &(struct cov_cpu_choice){0}, &why),
                         COV_EUNSUPPORTED);
        assert_contains(why.text, "scalar base");
        assert_ok(cov_cpu_level_choose("amx,base", &(struct cov_cpu_choice){0}, &e));
    }
    const struct cov_cpu_options base = {.levels = "scalar,base"};
    assert_ok(cov_device_open_cpu(&base, &dev, &e));
    assert_contains(dev->ops->describe(dev), "baseline");
    assert_string_equal(dev->ops->precision(dev), "fp32");
    cov_device_close(dev);
}

#ifdef __x86_64__

/* bf16x3, and sums over other lanes, are for many channels; an LSTM layer has four gates per cell. */
TEST(chooses_for_the_channels)
{
    struct cov_cpu_arithmetic a = {.features = ~0U, .lstm = COV_BF16X3};
    struct cov_layer layer = {.kind = COV_LAYER_LSTM,
                              .c_in = COV_GEMM_MANY,
                              .c_out = COV_GEMM_MANY,
                              .hidden = COV_GEMM_MANY / 2};
    assert_ptr_equal(cov_cpu_lstm_gemm(&a, &layer), &cov_gemm_amx_bf16x3);
    a.lstm = COV_FP32;
    assert_ptr_equal(cov_cpu_lstm_gemm(&a, &layer), &cov_gemm_avx512_shared);
    layer.hidden = COV_GEMM_MANY / 4 - 1;
    assert_ptr_equal(cov_cpu_lstm_gemm(&a, &layer), &cov_gemm_avx512);
    layer.c_in = COV_GEMM_MANY - 1;
    a.lstm = COV_BF16X3;
    assert_ptr_equal(cov_cpu_lstm_gemm(&a, &layer), &cov_gemm_avx512);
}

#endif

static void is_base(bool base)
{
    unsigned features = cov_cpu_features();
    assert_int_equal(cov_gemm_choose(features, COV_FP32, 0, 0) == &cov_gemm_base, base);
    assert_int_equal(cov_gemm_choose(features, COV_FP32, 64, 64) == &cov_gemm_base, base);
    assert_int_equal(cov_vec_choose(features) == &cov_vec_base, base);
    assert_int_equal(cov_outer_choose(features, COV_FP32, 64, 64) == &cov_outer_base, base);
    assert_int_equal(cov_toom_cook_choose(features) == &cov_toom_cook_base, base);
    assert_int_equal(cov_letters_choose() == &cov_letters_base, base);
    assert_int_equal(cov_onehot_choose() == &cov_onehot_base, base || !(features & COV_CPU_BMI2));
}

/* Checks the tables without a limit, then with limits. */
TEST(limits_every_table)
{
    unsigned all = cov_cpu_features();
    char levels[128];
    assert_ok(cov_device_limit_levels(NULL, &e));
    assert_int_equal(cov_cpu_features(), all);
    cov_device_describe_levels(levels, sizeof levels);
    is_base(!strstr(levels, "avx2"));
    assert_ok(cov_device_limit_levels("base,amx,avx2", &e)); /* the best of the available ones */
    cov_device_describe_levels(levels, sizeof levels);
    is_base(!strstr(levels, "avx2"));
    cov_cpu_limit(~0U);
    if (cov_device_limit_levels("avx2", NULL) == COV_OK) {
        is_base(false);
        assert_int_equal(cov_cpu_features() & (COV_CPU_AVX512F | COV_CPU_AMX_TILE), 0);
        cov_device_describe_levels(levels, sizeof levels);
        assert_string_equal(levels, "scalar base avx2");
        cov_cpu_limit(~0U);
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(cov_device_limit_levels(i ? "scalar" : "base", &e));
        assert_int_equal(cov_cpu_features(), 0);
        is_base(true);
        cov_device_describe_levels(levels, sizeof levels);
        assert_string_equal(levels, "scalar base");
        cov_cpu_limit(~0U);
    }
    assert_int_equal(cov_device_limit_levels("abacus", NULL), COV_EUSAGE);
    assert_int_equal(cov_cpu_features(), all);
}
