/* test_cpu.c - features of the processor, and the number of usable CPUs.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/stat.h>

#include "common/base/cpu.h"
#include "tests/lib/own_dir.h"

/* Returns the value of a key in /proc/cpuinfo, with a space at both ends. */
static char *kernel_says(const char *key)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char *line = NULL, *value = NULL;
    size_t cap = 0;
    while (f && !value && getline(&line, &cap, f) > 0)
        if (strncmp(line, key, strlen(key)) == 0) {
            line[strcspn(line, "\n")] = ' ';
            value = strdup(strchr(line, ':') + 1);
        }
    free(line);
    if (f)
        assert_int_equal(fclose(f), 0);
    return value;
}

/* Returns the list of flags, from which Linux omits features whose registers it does not save.
 * Returns NULL under an emulator, where /proc/cpuinfo describes the host. */
static char *kernel_flags(void)
{
#ifdef __x86_64__
    return kernel_says("flags");
#else
    return kernel_says("Features");
#endif
}

TEST(agrees_with_kernel)
{
    static const char *const names[] = {
        "avx",         "f16c",        "fma",         "avx2",     "bmi2",     "avx512f",
        "avx512dq",    "avx512bw",    "avx512vl",    "amx_tile", "amx_int8", "amx_bf16",
        "avx512_vnni", "avx512_bf16", "avx512_fp16", "neon",     "sve",      "bf16"};
    char *flags = kernel_flags(), ours[512];
    cov_cpu_describe(ours, sizeof ours - 1);
    ours[strlen(ours) + 1] = '\0';
    ours[strlen(ours)] = ' ';
    for (size_t i = 0; flags && i < COV_COUNT(names); i++) {
        char own[32], theirs[32];
        (void)snprintf(own, sizeof own, " %s ", names[i]);
        (void)snprintf(theirs, sizeof theirs, " %s ",
                       strcmp(names[i], "neon") == 0 ? "asimd" : names[i]);
        if (!strstr(flags, theirs) != !strstr(ours, own))
            fail_msg("%s: %s, flags of the kernel:%s", names[i], ours, flags);
    }
    free(flags);
    char *vendor = kernel_says("vendor_id");
    bool amd = vendor && strstr(vendor, " AuthenticAMD ");
    const unsigned features = cov_cpu_features();
    assert_int_equal(!!(features & COV_CPU_ADDERS), amd && (features & COV_CPU_AVX512F));
    free(vendor);
}

TEST(describes)
{
    char whole[512], part[512];
    cov_cpu_describe(whole, sizeof whole);
    print_message("%s\n", whole);
    assert_true(strlen(whole) > 3);
    for (size_t n = 1; n < sizeof part; n++) {
        memset(part, 'x', sizeof part);
        cov_cpu_describe(part, n);
        assert_true(strlen(part) < n);
        assert_memory_equal(part, whole, strlen(part));
        assert_int_equal(part[n], 'x');
    }
}

/* Writes a file, and creates its directories. */
static void put_below(const char *path, const char *text)
{
    char directory[128];
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
        (void)snprintf(directory, sizeof directory, "%.*s", (int)(p - path), path);
        (void)mkdir(directory, 0777);
    }
    put_text(path, text);
}

TEST(finds_quota)
{
    assert_int_equal(cov_cpu_quota("."), 0);
    put_below("proc/self/cgroup", "0::/a.slice/job_7\n");
    assert_int_equal(cov_cpu_quota("."), 0);
    put_below("sys/fs/cgroup/a.slice/job_7/cpu.max", "max 100000\n");
    assert_int_equal(cov_cpu_quota("."), 0);
    put_below("sys/fs/cgroup/a.slice/cpu.max", "350000 100000\n");
    assert_int_equal(cov_cpu_quota("."), 4);
    put_below("sys/fs/cgroup/a.slice/job_7/cpu.max", "100001 100000\n");
    assert_int_equal(cov_cpu_quota("."), 2);
    put_below("sys/fs/cgroup/a.slice/job_7/cpu.max", "10000 100000\n");
    assert_int_equal(cov_cpu_quota("."), 1);
    put_below("sys/fs/cgroup/a.slice/job_7/cpu.max", "gibberish\n");
    assert_int_equal(cov_cpu_quota("."), 4);

    /* In a container, the process is in the root group; cgroup versions 1 and 2 may both be
     * mounted. */
    put_below("proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/\n0::/\n");
    assert_int_equal(cov_cpu_quota("."), 0);
    put_below("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put_below("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cov_cpu_quota("."), 0);
    put_below("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(cov_cpu_quota("."), 3);
    put_below("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_int_equal(cov_cpu_quota("."), 2);
}

TEST_GROUP(enter_dir, leave_dir)
