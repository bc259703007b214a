/* bench_loader.h - an epoch of loading: all chunks of a genome from a file to the device, in the ways that
 * there are.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_LOADER_H
#define COV_BENCHMARK_BENCH_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "tools/benchmark/bench.h"

struct cov_bench_loader_options {
    const char *fasta;        /* the genome */
    const int64_t *io_limits; /* bytes a second; 0: unlimited */
    size_t n_io_limits;
    const int64_t *threads, *batches; /* of the sweep of the last strategy */
    size_t n_threads, n_batches;
    int64_t batch; /* chunks of a batch, outside of the sweep */
    double
        device_rate; /* chunks a second that the stand-in of a device takes, where its use is measured */
    bool warm;       /* the system's cache is left as it is, else dropped before each epoch */
    int64_t length; /* positions of a chunk */
};

/* Adds loader/epoch_seconds/strategy=S,io=LIMIT (loading alone), loader/ratio_to_original/...,
 * loader/device_use/... (part of an epoch in which the device works), loader/bytes_per_base/strategy=S,
 * loader/chunks_per_second/strategy=+ring-buffer,threads=T,batch=B, and charts. Before anything is timed
 * all strategies must have given the same chunks: COV_EINPUT. */
int cov_bench_loader(struct cov_bench *b, const struct cov_bench_loader_options *options,
                     struct cov_err *e) COV_MUST_USE;

#endif
