/* machine.h - description and measured peak speeds of the machine.
 *
 * The probes show whether two benchmarks can be compared, and serve as the limits of other figures.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_MACHINE_H
#define BENCHMARK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/pool.h"

enum { MACHINE_MAX_PROBES = 12 };

struct probe {
    char name[40];
    double value; /* higher is faster */
};

struct machine {
    char cpu[320], levels[128], system[200];
    unsigned online; /* processors, including those that this process may not use */
    int64_t memory_bytes;
    struct probe probes[MACHINE_MAX_PROBES];
    size_t n_probes;
};

/* Fills in all but the probes. */
void machine_describe(struct machine *m);

/* Runs the probes for about `seconds` each and keeps the best of several tries:
 * - fp32_gflops, bf16_gflops: the network's own matrix products with operands in cache, on all
 *   threads of the pool. A multiply-add counts as two operations. bf16 is probed only if the CPU
 *   has instructions for it, or for the 16-bit integers that replace it
 * - memory_gb_per_second: reading more than the caches hold */
int machine_probe(struct machine *m, struct cov_pool *pool, double seconds,
                  struct cov_err *e) COV_MUST_USE;

/* Returns 0 if the probe is missing. */
double machine_probe_value(const struct machine *m, const char *name);

/* Writes the object "machine" into the open object. `threads` is that of the benchmark. */
void machine_print_json(const struct machine *m, unsigned threads, struct cov_json *j);

/* Drops a file from the page cache; returns false if that is not possible. */
bool machine_drop_cache(const char *path);

#endif
