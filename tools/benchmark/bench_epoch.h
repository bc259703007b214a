/* bench_epoch.h - timed epochs: all chunks of a genome from a file to a device, in several ways.
 *
 * The simulated device computes a batch for a given time while the next one is loaded, as a GPU
 * does in training. It uses no CPU time.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_BENCH_EPOCH_H
#define BENCHMARK_BENCH_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Each strategy adds something to the one before. */
enum strategy {
    STRATEGY_ORIGINAL, /* Helixer's file, read row by row with libhdf5; one-hot floats */
    STRATEGY_BLOSC,    /* compressed with Blosc, decoded by covtools */
    STRATEGY_PACKED,   /* half a byte per base */
    STRATEGY_DEVICE,   /* codes go to the device, which expands them */
    STRATEGY_RING,     /* reading, decoding and the device overlap, on all threads */
    STRATEGIES
};
extern const char *const strategy_names[STRATEGIES]; /* "original", "+blosc", ... */

/* State shared by all epochs of a benchmark. */
struct epochs {
    char *files[STRATEGIES]; /* of one genome; the last three are the same string. Owned */
    size_t n_chunks;
    uint64_t checksum; /* of all chunks; 0: not known yet */
    bool dropped;      /* the page cache could be dropped */
    float *of_half;    /* [65536]. Owned */
};

enum { EPOCH_BINS = 20 };

struct epoch {
    struct epochs *all;
    enum strategy strategy;
    int64_t io_limit;       /* bytes per second; 0: unlimited */
    double bytes_per_chunk; /* stored size, for the limit */
    unsigned threads;       /* of STRATEGY_RING */
    size_t batch;           /* chunks */
    double device_rate;     /* chunks per second; 0: no device */
    uint64_t seed;          /* for the order of chunks; changes after each epoch */
    /* Seconds that the device worked, and seconds that passed, in each part of the epochs. */
    double busy[EPOCH_BINS], spent[EPOCH_BINS];
};

/* Allocates; the caller fills in `files`, which epochs_fini frees. */
int epochs_init(struct epochs *all, struct cov_err *e) COV_MUST_USE;
void epochs_fini(struct epochs *all);

/* Functions for bench_cases; arg is a struct epoch. */

/* Loads all chunks. COV_EINPUT if they differ from those of the strategies checked before. */
int epoch_check(void *arg, struct cov_err *e) COV_MUST_USE;
/* Sets *value to the mean seconds per epoch, or, with a device, to the share of the time in which
 * the device works. Sets `busy` and `spent`. */
int epoch_time(void *arg, double seconds, double *value, struct cov_err *e) COV_MUST_USE;
/* Sets *value to the chunks loaded per second. */
int epoch_rate(void *arg, double seconds, double *value, struct cov_err *e) COV_MUST_USE;

#endif
