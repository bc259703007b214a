/* cpu.c - see cpu.h. Sources: for CPUID bits, Intel's SDM, volume 2A; for control groups, Linux's
 * Documentation/admin-guide/cgroup-v2.rst and, for version 1,
 * Documentation/scheduler/sched-bwc.rst.
 * SPDX-License-Identifier: MIT */
#include "common/base/cpu.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sys/auxv.h>
#endif

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
enum need { NEEDS_NONE, NEEDS_YMM, NEEDS_ZMM, NEEDS_TILE, NEEDS };

/* leaf 0: CPUID 1; leaf 1: CPUID 7.0; leaf 2: CPUID 7.1. Rows with NEEDS have no bit. */
static const struct {
    unsigned feature;
    const char *name;
    unsigned char leaf, reg, bit, need;
} features[] = {
    {COV_CPU_AVX, "avx", 0, ECX, 28, NEEDS_YMM},
    {COV_CPU_F16C, "f16c", 0, ECX, 29, NEEDS_YMM},
    {COV_CPU_FMA, "fma", 0, ECX, 12, NEEDS_YMM},
    {COV_CPU_AVX2, "avx2", 1, EBX, 5, NEEDS_YMM},
    {COV_CPU_BMI2, "bmi2", 1, EBX, 8, NEEDS_NONE},
    {COV_CPU_AVX512F, "avx512f", 1, EBX, 16, NEEDS_ZMM},
    {COV_CPU_AVX512DQ, "avx512dq", 1, EBX, 17, NEEDS_ZMM},
    {COV_CPU_AVX512BW, "avx512bw", 1, EBX, 30, NEEDS_ZMM},
    {COV_CPU_AVX512VL, "avx512vl", 1, EBX, 31, NEEDS_ZMM},
    {COV_CPU_AVX512_VNNI, "avx512_vnni", 1, ECX, 11, NEEDS_ZMM},
    {COV_CPU_AVX512_BF16, "avx512_bf16", 2, EAX, 5, NEEDS_ZMM},
    {COV_CPU_AVX512_FP16, "avx512_fp16", 1, EDX, 23, NEEDS_ZMM},
    {COV_CPU_AMX_TILE, "amx_tile", 1, EDX, 24, NEEDS_TILE},
    {COV_CPU_AMX_INT8, "amx_int8", 1, EDX, 25, NEEDS_TILE},
    {COV_CPU_AMX_BF16, "amx_bf16", 1, EDX, 22, NEEDS_TILE},
    {COV_CPU_ADDERS, "adders", 0, 0, 0, NEEDS},
    {COV_CPU_FREE_LANES, "free_lanes", 0, 0, 0, NEEDS},
};

static bool is_amd(void)
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

/* Returns the processor family encoded in `signature`, which is EAX of CPUID 1. */
static unsigned family(unsigned signature)
{
    unsigned base = signature >> 8 & 15;
    return base < 15 ? base : base + (signature >> 20 & 255);
}

static unsigned detect(void)
{
    enum { ZEN_5 = 0x1a };
    enum { OSXSAVE = 27, YMM_STATE = 0x06, ZMM_STATE = 0xe6, TILE_STATE = 0x60000 };
    unsigned r[3][4] = {{0}};
    if (!__get_cpuid(1, &r[0][EAX], &r[0][EBX], &r[0][ECX], &r[0][EDX]))
        return 0;
    if (__get_cpuid_count(7, 0, &r[1][EAX], &r[1][EBX], &r[1][ECX], &r[1][EDX]) && r[1][EAX] >= 1)
        (void)__get_cpuid_count(7, 1, &r[2][EAX], &r[2][EBX], &r[2][ECX], &r[2][EDX]);

    uint64_t saved = r[0][ECX] >> OSXSAVE & 1 ? xcr0() : 0;
    const bool met[NEEDS + 1] = {
        [NEEDS_NONE] = true,
        [NEEDS_YMM] = (saved & YMM_STATE) == YMM_STATE,
        [NEEDS_ZMM] = (saved & ZMM_STATE) == ZMM_STATE,
        [NEEDS_TILE] = (saved & TILE_STATE) == TILE_STATE,
    };
    unsigned found = 0;
    for (size_t i = 0; i < COV_COUNT(features); i++)
        if (met[features[i].need] && r[features[i].leaf][features[i].reg] >> features[i].bit & 1)
            found |= features[i].feature;
    if ((found & COV_CPU_AVX512F) && is_amd()) /* Zen 4 or later */
        found |= COV_CPU_ADDERS | (family(r[0][EAX]) >= ZEN_5 ? COV_CPU_FREE_LANES : 0);
    return found;
}

bool cov_cpu_permit_amx(void)
{
    enum { GET_PERMISSION = 0x1022, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* asm/prctl.h */
    uint64_t permitted = 0;
    return (cov_cpu_features() & COV_CPU_AMX_TILE) &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 &&
           syscall(SYS_arch_prctl, GET_PERMISSION, &permitted) == 0 && permitted >> TILE_DATA & 1;
}

#else

/* Bits of Linux's asm/hwcap.h. */
static const struct {
    unsigned feature;
    const char *name;
    unsigned long type, bit;
} features[] = {
#if defined(__aarch64__)
    {COV_CPU_NEON, "neon", AT_HWCAP, 1U << 1},
    {COV_CPU_SVE, "sve", AT_HWCAP, 1U << 22},
    {COV_CPU_ARM_BF16, "bf16", AT_HWCAP2, 1U << 14},
#else
    {0, "", AT_HWCAP, 0}, /* none is known */
#endif
};

static unsigned detect(void)
{
    unsigned found = 0;
    for (size_t i = 0; i < COV_COUNT(features); i++)
        if (getauxval(features[i].type) & features[i].bit)
            found |= features[i].feature;
    return found;
}

bool cov_cpu_permit_amx(void)
{
    return false;
}

#endif

/* name[0..n) = the processor's name in /proc/cpuinfo, or "CPU of unknown kind". */
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
    cov_make_printable(name);
}

void cov_cpu_describe(char *buf, size_t n)
{
    model_name(buf, n);
    unsigned found = detect();
    const char *before = ": ";
    for (size_t i = 0; i < COV_COUNT(features); i++)
        if (found & features[i].feature) {
            size_t used = strlen(buf);
            (void)snprintf(buf + used, n - used, "%s%s", before, features[i].name);
            before = " ";
        }
}

/* text[0..n) = the first line of the file, without the newline. Returns false if there is none. */
static bool read_line(const char *directory, const char *name, char *text, size_t n)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool got = fgets(text, (int)n, f) != NULL;
    (void)fclose(f);
    if (got)
        text[strcspn(text, "\n")] = '\0';
    return got;
}

/* Returns the positive number at *text and advances *text; returns 0 for other text ("max",
 * "-1"). */
static long long read_number(const char **text)
{
    char *end;
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    bool valid = errno == 0 && end != *text && value > 0;
    *text = end;
    return valid ? value : 0;
}

/* Returns the quota of one group in CPUs, rounded up; 0 if there is none. */
static unsigned quota_of(const char *directory, bool v2)
{
    char text[64], period_text[64];
    const char *p = text, *q = period_text;
    long long quota, period;
    if (v2) {
        if (!read_line(directory, "cpu.max", text, sizeof text))
            return 0;
        quota = read_number(&p);
        period = read_number(&p);
    } else {
        if (!read_line(directory, "cpu.cfs_quota_us", text, sizeof text) ||
            !read_line(directory, "cpu.cfs_period_us", period_text, sizeof period_text))
            return 0;
        quota = read_number(&p);
        period = read_number(&q);
    }
    if (!quota || !period)
        return 0;
    long long cpus = (quota - 1) / period + 1;
    return cpus < UINT_MAX ? (unsigned)cpus : 0;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a && (a < b || !b) ? a : b;
}

/* Returns the smallest quota of all groups from mount/group up to the mount itself. Truncates
 * `group`. */
static unsigned quota_above(const char *mount, char *group, bool v2)
{
    unsigned cpus = 0;
    for (;;) {
        char directory[PATH_MAX];
        int length = snprintf(directory, sizeof directory, "%s%s", mount, group);
        if (length >= 0 && (size_t)length < sizeof directory)
            cpus = smaller(quota_of(directory, v2), cpus);
        char *slash = strrchr(group, '/');
        if (!slash)
            return cpus;
        *slash = '\0';
    }
}

/* Returns true if the comma-separated list contains `word`. */
static bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

unsigned cov_cpu_quota(const char *root)
{
    static const char *const v2_mounts[] = {"", "/unified"};
    static const char *const v1_mounts[] = {"/cpu", "/cpu,cpuacct"};
    char path[PATH_MAX], line[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (length < 0 || (size_t)length >= sizeof path)
        return 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;

    /* Lines are "number:controllers:/group"; version 2 has number 0 and no controllers. */
    unsigned cpus = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        list++;
        *group++ = '\0';
        bool v2 = !*list;
        if (!v2 && !list_has(list, "cpu"))
            continue;
        const char *const *mounts = v2 ? v2_mounts : v1_mounts;
        for (size_t i = 0; i < COV_COUNT(v2_mounts); i++) {
            char mount[PATH_MAX], name[PATH_MAX];
            length = snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, mounts[i]);
            if (length < 0 || (size_t)length >= sizeof mount)
                continue;
            memcpy(name, group, strlen(group) + 1);
            cpus = smaller(quota_above(mount, name, v2), cpus);
        }
    }
    (void)fclose(f);
    return cpus;
}
