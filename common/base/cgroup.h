/* cgroup.h - the CPU quota that a container or batch system has set.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_CGROUP_H
#define COV_BASE_CGROUP_H

/* CPUs that the quotas of this process's control group and of all groups above it allow, the
 * smallest of them rounded up; 0 when there is none. Reads `root`/proc/self/cgroup and, below
 * `root`/sys/fs/cgroup, cpu.max (version 2) or cpu.cfs_quota_us and cpu.cfs_period_us (version 1);
 * what is missing sets no limit. `root` is "" but in tests. */
unsigned cov_cgroup_cpus(const char *root);

#endif
