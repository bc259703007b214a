/* cgroup.c - see cgroup.h. Formats after Linux's Documentation/admin-guide/cgroup-v2.rst, and
 * Documentation/scheduler/sched-bwc.rst for version 1.
 * SPDX-License-Identifier: MIT */
#include "common/base/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/attr.h"

/* text[0..n) = the first line of the file, without its end; whether there is one. */
static bool read_line(const char *folder, const char *name, char *text, size_t n)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
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

/* The positive number at *text, which is moved behind it; 0 when there is none ("max", "-1"). */
static long long read_number(const char **text)
{
    char *end;
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    bool valid = errno == 0 && end != *text && value > 0;
    *text = end;
    return valid ? value : 0;
}

/* The quota of one group in CPUs, rounded up; 0: none. */
static unsigned quota_of(const char *folder, bool v2)
{
    char text[64], period_text[64];
    const char *p = text, *q = period_text;
    long long quota, period;
    if (v2) {
        if (!read_line(folder, "cpu.max", text, sizeof text))
            return 0;
        quota = read_number(&p);
        period = read_number(&p);
    } else {
        if (!read_line(folder, "cpu.cfs_quota_us", text, sizeof text) ||
            !read_line(folder, "cpu.cfs_period_us", period_text, sizeof period_text))
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

/* The smallest quota from mount/group up to the mount itself. `group` is cut short on the way. */
static unsigned quota_above(const char *mount, char *group, bool v2)
{
    unsigned cpus = 0;
    for (;;) {
        char folder[PATH_MAX];
        int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
        if (length >= 0 && (size_t)length < sizeof folder)
            cpus = smaller(quota_of(folder, v2), cpus);
        char *slash = strrchr(group, '/');
        if (!slash)
            return cpus;
        *slash = '\0';
    }
}

/* Whether the comma separated list has `word`. */
static bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

unsigned cov_cgroup_cpus(const char *root)
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
