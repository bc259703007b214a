/* cpu.c - see cpu.h. Bits after the Intel SDM, volume 2A, CPUID.
 * SPDX-License-Identifier: MIT */
#include "common/base/cpu.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/attr.h"
#include "common/base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

static const struct {
    unsigned bit;
    const char *name;
} feature_names[] = {
    {COV_CPU_AVX, "avx"},
    {COV_CPU_F16C, "f16c"},
    {COV_CPU_FMA, "fma"},
    {COV_CPU_AVX2, "avx2"},
    {COV_CPU_BMI2, "bmi2"},
    {COV_CPU_AVX512F, "avx512f"},
    {COV_CPU_AVX512DQ, "avx512dq"},
    {COV_CPU_AVX512BW, "avx512bw"},
    {COV_CPU_AVX512VL, "avx512vl"},
    {COV_CPU_AVX512_VNNI, "avx512_vnni"},
    {COV_CPU_AVX512_BF16, "avx512_bf16"},
    {COV_CPU_AVX512_FP16, "avx512_fp16"},
    {COV_CPU_AMX_TILE, "amx_tile"},
    {COV_CPU_AMX_INT8, "amx_int8"},
    {COV_CPU_AMX_BF16, "amx_bf16"},
    {COV_CPU_NEON, "neon"},
    {COV_CPU_SVE, "sve"},
    {COV_CPU_ARM_BF16, "bf16"},
    {COV_CPU_ADDERS, "adders"},
    {COV_CPU_FREE_LANES, "free_lanes"},
};

static unsigned allowed = ~0U;

static unsigned detect(void);

unsigned cov_cpu_features(void)
{
    return detect() & allowed;
}

void cov_cpu_limit(unsigned features)
{
    allowed = features;
}

#if defined(__x86_64__)

/* XCR0: the register states that the operating system saves. */
static uint64_t xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

enum { EAX, EBX, ECX, EDX };

/* All of AMD that have AVX-512: Zen 4 and Zen 5. */
static bool has_adders(void)
{
    char vendor[13] = "";
    unsigned highest, b, c, d;
    if (!__get_cpuid(0, &highest, &b, &c, &d))
        return false;
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    return strcmp(vendor, "AuthenticAMD") == 0;
}

/* Of CPUID 1's EAX. */
static unsigned family(unsigned signature)
{
    unsigned base = signature >> 8 & 15;
    return base < 15 ? base : base + (signature >> 20 & 255);
}

static unsigned detect(void)
{
    enum { ZEN_5 = 0x1a };
    enum { OSXSAVE = 27, YMM_STATE = 0x06, ZMM_STATE = 0xe6, TILE_STATE = 0x60000 };
    enum need { NEEDS_NONE, NEEDS_YMM, NEEDS_ZMM, NEEDS_TILE };
    /* leaf 0: CPUID 1; leaf 1: CPUID 7.0; leaf 2: CPUID 7.1 */
    static const struct {
        unsigned feature;
        unsigned char leaf, reg, bit, need;
    } bits[] = {
        {COV_CPU_AVX, 0, ECX, 28, NEEDS_YMM},        {COV_CPU_F16C, 0, ECX, 29, NEEDS_YMM},
        {COV_CPU_FMA, 0, ECX, 12, NEEDS_YMM},        {COV_CPU_AVX2, 1, EBX, 5, NEEDS_YMM},
        {COV_CPU_BMI2, 1, EBX, 8, NEEDS_NONE},       {COV_CPU_AVX512F, 1, EBX, 16, NEEDS_ZMM},
        {COV_CPU_AVX512DQ, 1, EBX, 17, NEEDS_ZMM},   {COV_CPU_AVX512BW, 1, EBX, 30, NEEDS_ZMM},
        {COV_CPU_AVX512VL, 1, EBX, 31, NEEDS_ZMM},   {COV_CPU_AVX512_VNNI, 1, ECX, 11, NEEDS_ZMM},
        {COV_CPU_AVX512_BF16, 2, EAX, 5, NEEDS_ZMM}, {COV_CPU_AVX512_FP16, 1, EDX, 23, NEEDS_ZMM},
        {COV_CPU_AMX_TILE, 1, EDX, 24, NEEDS_TILE},  {COV_CPU_AMX_INT8, 1, EDX, 25, NEEDS_TILE},
        {COV_CPU_AMX_BF16, 1, EDX, 22, NEEDS_TILE},
    };
    unsigned r[3][4] = {{0}};
    if (!__get_cpuid(1, &r[0][EAX], &r[0][EBX], &r[0][ECX], &r[0][EDX]))
        return 0;
    if (__get_cpuid_count(7, 0, &r[1][EAX], &r[1][EBX], &r[1][ECX], &r[1][EDX]) && r[1][EAX] >= 1)
        (void)__get_cpuid_count(7, 1, &r[2][EAX], &r[2][EBX], &r[2][ECX], &r[2][EDX]);

    uint64_t saved = r[0][ECX] >> OSXSAVE & 1 ? xcr0() : 0;
    bool met[] = {
        [NEEDS_NONE] = true,
        [NEEDS_YMM] = (saved & YMM_STATE) == YMM_STATE,
        [NEEDS_ZMM] = (saved & ZMM_STATE) == ZMM_STATE,
        [NEEDS_TILE] = (saved & TILE_STATE) == TILE_STATE,
    };
    unsigned features = 0;
    for (size_t i = 0; i < COV_COUNT(bits); i++)
        if (r[bits[i].leaf][bits[i].reg] >> bits[i].bit & 1 && met[bits[i].need])
            features |= bits[i].feature;
    if ((features & COV_CPU_AVX512F) && has_adders())
        features |= COV_CPU_ADDERS | (family(r[0][EAX]) >= ZEN_5 ? COV_CPU_FREE_LANES : 0);
    return features;
}

bool cov_cpu_permit_amx(void)
{
    enum { GET_PERMISSION = 0x1022, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* asm/prctl.h */
    uint64_t permitted = 0;
    return (cov_cpu_features() & COV_CPU_AMX_TILE) &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 &&
           syscall(SYS_arch_prctl, GET_PERMISSION, &permitted) == 0 && permitted >> TILE_DATA & 1;
}

#elif defined(__aarch64__)

static unsigned detect(void)
{
    enum { ASIMD = 1U << 1, SVE = 1U << 22, BF16 = 1U << 14 }; /* Linux's asm/hwcap.h */
    unsigned features = 0;
    if (getauxval(AT_HWCAP) & ASIMD)
        features |= COV_CPU_NEON;
    if (getauxval(AT_HWCAP) & SVE)
        features |= COV_CPU_SVE;
    if (getauxval(AT_HWCAP2) & BF16)
        features |= COV_CPU_ARM_BF16;
    return features;
}

#else

static unsigned detect(void)
{
    return 0;
}

#endif

#ifndef __x86_64__
bool cov_cpu_permit_amx(void)
{
    return false;
}
#endif

const char *cov_cpu_feature_name(unsigned feature)
{
    for (size_t i = 0; i < COV_COUNT(feature_names); i++)
        if (feature_names[i].bit == feature)
            return feature_names[i].name;
    return NULL;
}

/* name[0..n) = the processor's name after Linux, or "CPU of unknown kind". */
static void model_name(char *name, size_t n)
{
    (void)snprintf(name, n, "CPU of unknown kind");
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (!f)
        return;
    char line[512];
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "model name", 10) != 0)
            continue;
        char *value = strchr(line, ':');
        if (!value)
            break;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        if (*value)
            (void)snprintf(name, n, "%s", value);
        break;
    }
    (void)fclose(f);
    cov_text_make_printable(name);
}

void cov_cpu_describe(char *buf, size_t n)
{
    model_name(buf, n);
    unsigned features = detect();
    const char *before = ": ";
    for (size_t i = 0; i < COV_COUNT(feature_names); i++)
        if (features & feature_names[i].bit) {
            size_t used = strlen(buf);
            (void)snprintf(buf + used, n - used, "%s%s", before, feature_names[i].name);
            before = " ";
        }
}
