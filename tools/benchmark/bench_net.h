/* bench_net.h - the network to measure: a checkpoint, or random weights.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_BENCH_NET_H
#define BENCHMARK_BENCH_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/net/hparams.h"
#include "common/net/shape.h"

struct bench_net {
    struct cov_hparams hp;
    float *block; /* parameters, as in shape.h. Owned */
    char *label;  /* Owned */
    bool trained; /* the weights are those of a checkpoint */
};

/* `path` is a checkpoint, or BENCH_NET_COMBINED for random weights in the size of Predmoter's
 * published models for two datasets (1.53 M parameters). */
#define BENCH_NET_COMBINED "combined"
int bench_net_open(const char *path, uint64_t seed, struct bench_net *out,
                   struct cov_err *e) COV_MUST_USE;
/* Makes random weights. */
int bench_net_init(const struct cov_hparams *hp, uint64_t seed, struct bench_net *out,
                   struct cov_err *e) COV_MUST_USE;
/* Opens the demo's network, which is trained. out->block is NULL if the file is not installed. */
int bench_net_open_demo(struct bench_net *out, struct cov_err *e) COV_MUST_USE;
void bench_net_close(struct bench_net *n);

/* Writes such random weights as a checkpoint to `path`, replacing it. The datasets are random1,
 * random2. */
int bench_net_write_random(const char *path, uint64_t seed, struct cov_err *e) COV_MUST_USE;

/* Counts the multiplications and additions per chunk of L positions, with direct convolutions and
 * matrix products. */
int bench_net_operations(const struct bench_net *n, size_t L, double *operations,
                         struct cov_err *e) COV_MUST_USE;
/* The same for one layer. */
double bench_layer_operations(const struct cov_layer *l);

#endif
