/* machine.h - the machine that a benchmark ran on: what it is, and what it can do at most, measured.
 *
 * The probes tell whether two benchmarks can be compared, and what a speed is a share of.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_MACHINE_H
#define COV_BENCHMARK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/pool.h"

enum { COV_MACHINE_MAX_PROBES = 12 };

struct cov_probe {
    char name[40];
    double value; /* more is faster */
};

struct cov_machine {
    char cpu[320], levels[128], system[200];
    unsigned online; /* processors; those that may be used are `threads` of the benchmark */
    int64_t memory_bytes;
    struct cov_probe probes[COV_MACHINE_MAX_PROBES];
    size_t n_probes;
};

/* What it is, without probes. */
void cov_machine_describe(struct cov_machine *m);

/* Measures, for about `seconds` each, the best of several tries: fp32_gflops and bf16_gflops, those of
 * the network's own matrix products from the caches (bf16 where there are instructions for it), on all
 * threads of the pool, and _core, on one of them, multiply-adds counted as two; memory_gb_per_second,
 * reading what is larger than the caches; disk_write_mb_per_second, until it is on the disk, and
 * disk_read_mb_per_second, past the system's cache where that can be told, of `disk_bytes` in the
 * folder `dir`. */
int cov_machine_probe(struct cov_machine *m, struct cov_pool *pool, const char *dir, double seconds,
                      size_t disk_bytes, struct cov_err *e) COV_MUST_USE;

/* 0 when there is none of that name. */
double cov_machine_probe_value(const struct cov_machine *m, const char *name);

/* As the object "machine" of the open one. `threads`: those of the benchmark. */
void cov_machine_print_json(const struct cov_machine *m, unsigned threads, struct cov_json *j);

/* The system forgets what it has of the file at `path` in memory, as far as it can be told: false where
 * it cannot. */
bool cov_machine_drop_cache(const char *path);

#endif
