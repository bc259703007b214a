/* level.c - see level.h and device.h; and chooses tables of kernels: gemm.h, outer.h, vec.h and toom_cook.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/level.h"

#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/kernels/toom_cook.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/device.h"

#define AVX2_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define AVX512_NEEDS                                                                               \
    (AVX2_NEEDS | COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL)
#define AVX512BF16_NEEDS (AVX512_NEEDS | COV_CPU_AVX512_VNNI | COV_CPU_AVX512_BF16)

static const struct {
    const char *name;
    unsigned needs, uses; /* uses: features that are used if available */
} levels[] = {
    [COV_LEVEL_SCALAR] = {"scalar", 0, 0},
    [COV_LEVEL_BASE] = {"base", 0, 0},
    [COV_LEVEL_AVX2] = {"avx2", AVX2_NEEDS, COV_CPU_BMI2},
    [COV_LEVEL_AVX512] = {"avx512", AVX512_NEEDS, COV_CPU_BMI2},
    [COV_LEVEL_AVX512BF16] = {"avx512bf16", AVX512BF16_NEEDS,
                              COV_CPU_BMI2 | COV_CPU_ADDERS | COV_CPU_FREE_LANES},
    [COV_LEVEL_AMX] = {"amx", AVX512BF16_NEEDS | COV_CPU_AMX_TILE | COV_CPU_AMX_BF16, COV_CPU_BMI2},
};
enum { N_LEVELS = COV_COUNT(levels) };

/* Returns the available levels, as bits. */
static unsigned find_levels(void)
{
    unsigned has = cov_cpu_features(), found = 0;
    for (unsigned i = 0; i < N_LEVELS; i++)
        if ((levels[i].needs & ~has) == 0 && (i != COV_LEVEL_AMX || cov_cpu_permit_amx()))
            found |= 1U << i;
    return found;
}

/* Sets *named to the levels of a list, as bits. */
static int parse(const char *list, unsigned *named, struct cov_err *e)
{
    for (const char *at = list; at; at = *at ? at + 1 : NULL) {
        size_t n = strcspn(at, ",");
        unsigned i = 0;
        while (i < N_LEVELS && (strlen(levels[i].name) != n || memcmp(levels[i].name, at, n) != 0))
            i++;
        if (i < N_LEVELS)
            *named |= 1U << i;
        else
            return cov_fail(e, COV_EUSAGE,
                            "'%.*s' is not a level of the CPU: scalar, base, avx2, avx512, "
                            "avx512bf16, amx",
                            n > 40 ? 40 : (int)n, at);
        at += n;
    }
    return COV_OK;
}

void cov_device_describe_levels(char *buf, size_t n)
{
    unsigned found = find_levels();
    size_t used = 0;
    buf[0] = '\0';
    for (unsigned i = 0; i < N_LEVELS && used < n; i++)
        if (found >> i & 1)
            used += (size_t)snprintf(buf + used, n - used, "%s%s", i ? " " : "", levels[i].name);
}

int cov_cpu_level_choose(const char *list, struct cov_cpu_choice *out, struct cov_err *e)
{
    unsigned named = 0, found = find_levels();
    *out = (struct cov_cpu_choice){.level = COV_LEVEL_BASE};
    int rc = parse(list, &named, e);
    if (rc)
        return rc;
    unsigned usable = named ? named & found : found;
    if (!usable) {
        char there[128];
        cov_device_describe_levels(there, sizeof there);
        return cov_fail(e, COV_EUNSUPPORTED, "%s: not available on this machine; available: %s",
                        list, there);
    }
    unsigned level = N_LEVELS - 1;
    while (!(usable >> level & 1))
        level--;
    out->level = (enum cov_cpu_level)level;
    out->features = cov_cpu_features() & (levels[level].needs | levels[level].uses);
    return COV_OK;
}

int cov_device_limit_levels(const char *list, struct cov_err *e)
{
    struct cov_cpu_choice choice;
    int rc = cov_cpu_level_choose(list, &choice, e);
    if (rc == COV_OK && list)
        cov_cpu_limit(choice.features);
    return rc;
}

/* ---- tables ---- */

/* The tables of an instruction set, of which all but `gemm` may be NULL; the fastest set first. The
 * last one needs nothing. */
static const struct {
    const struct cov_gemm *gemm;
    const struct cov_outer *outer;
    const struct cov_vec *vec;
    const struct cov_toom_cook_kernels *toom_cook;
} sets[] = {
#ifdef __x86_64__
    {&cov_gemm_amx_bf16, &cov_outer_amx_bf16, NULL, NULL},
    {&cov_gemm_amx_bf16x3, NULL, NULL, NULL},
    {&cov_gemm_dot_int16, &cov_outer_dot_bf16, NULL, NULL},
    {&cov_gemm_avx512_shared, &cov_outer_avx512_shared, NULL, NULL},
    {&cov_gemm_avx512_inner, &cov_outer_avx512_inner, NULL, NULL},
    {&cov_gemm_avx512, &cov_outer_avx512, &cov_vec_avx512, &cov_toom_cook_avx512},
    {&cov_gemm_avx2, &cov_outer_avx2, &cov_vec_avx2, &cov_toom_cook_avx2},
#endif
    {&cov_gemm_base, &cov_outer_base, &cov_vec_base, &cov_toom_cook_base},
};

/* Returns true if a table that needs these features can be used for a layer; adders pay only with
 * many channels. */
static bool fits(unsigned needs, unsigned features, size_t n_in, size_t n_out)
{
    bool many = n_in >= COV_GEMM_MANY && n_out >= COV_GEMM_MANY;
    return (needs & ~features) == 0 && (many || !(needs & COV_CPU_ADDERS));
}

const struct cov_gemm *cov_gemm_choose(unsigned features, enum cov_arithmetic arithmetic,
                                       size_t n_in, size_t n_out)
{
    for (size_t i = 0; i < COV_COUNT(sets); i++) {
        const struct cov_gemm *gemm = sets[i].gemm;
        if (gemm->arithmetic == arithmetic && fits(gemm->needs, features, n_in, n_out))
            return gemm;
    }
    return NULL;
}

const struct cov_outer *cov_outer_choose(unsigned features, enum cov_arithmetic arithmetic,
                                         size_t n_in, size_t n_out)
{
    for (size_t i = 0; i < COV_COUNT(sets); i++) {
        const struct cov_outer *outer = sets[i].outer;
        if (outer && outer->arithmetic == arithmetic && fits(outer->needs, features, n_in, n_out))
            return outer;
    }
    return NULL;
}

const struct cov_vec *cov_vec_choose(unsigned features)
{
    size_t i = 0;
    while (!sets[i].vec || (sets[i].vec->needs & ~features))
        i++;
    return sets[i].vec;
}

const struct cov_toom_cook_kernels *cov_toom_cook_choose(unsigned features)
{
    size_t i = 0;
    while (!sets[i].toom_cook || (sets[i].toom_cook->needs & ~features))
        i++;
    return sets[i].toom_cook;
}
