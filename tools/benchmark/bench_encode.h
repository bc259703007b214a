/* bench_encode.h - bases to what networks take and files hold, and what padding costs, over the length of
 * sequences.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_ENCODE_H
#define COV_BENCHMARK_BENCH_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "tools/benchmark/bench.h"

struct cov_bench_encode_options {
    const int64_t
        *lengths; /* of sequences, ascending; the last is also that which all are padded to */
    size_t n_lengths;
    int64_t batch; /* sequences that are padded together */
};

/* On one thread. Adds encode/bases_per_second/form=F,length=L for the forms codes, packed, onehot_f16,
 * onehot_f32, deflate (as fasta2h5 writes it), deflate_fast, and libdeflate; and, of sequences of all
 * lengths up to L, as one-hot floats, encode/padded_bases_per_second/padding=P,length=L and
 * encode/padding_share/padding=P,length=L for max_length (all to L), longest (of a batch) and grouped
 * (the same, sorted by length before); and charts. What is encoded is decoded again before it is timed. */
int cov_bench_encode(struct cov_bench *b, const struct cov_bench_encode_options *options,
                     struct cov_err *e) COV_MUST_USE;

#endif
