/* bench_epoch.h - an epoch of loading in one of the ways that there are, with a clock.
 *
 * The stand-in of a device computes a batch in the time that is told, while the next one is loaded, and
 * takes no more than one ahead: as a GPU that a training program feeds. It takes no time of the CPU.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_EPOCH_H
#define COV_BENCHMARK_BENCH_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Each adds something to the one before. */
enum cov_loading_strategy {
    COV_STRATEGY_ORIGINAL, /* Helixer's file, a row at a time by libhdf5; one-hot floats */
    COV_STRATEGY_BLOSC,    /* compressed by Blosc, decoded here */
    COV_STRATEGY_PACKED,   /* half a byte a base */
    COV_STRATEGY_DEVICE,   /* codes go to the device, which makes what it wants of them */
    COV_STRATEGY_RING,     /* read, decode and device at the same time, on all threads */
    COV_STRATEGIES
};
extern const char *const cov_strategy_names[COV_STRATEGIES]; /* "original", "+blosc", ... */

/* What all epochs of a benchmark share. */
struct cov_epochs {
    const char *tmpdir;          /* borrowed */
    bool warm;                   /* the system's cache is left as it is, else dropped before each */
    char *files[COV_STRATEGIES]; /* of one genome. The last three are one string. Owned */
    size_t n_chunks;
    uint64_t checksum; /* of all chunks; 0: not known yet */
    bool dropped;      /* caches could be */
    float *of_half;    /* [65536]. Owned */
};

/* Without the files, which the caller enters. */
int cov_epochs_init(struct cov_epochs *all, struct cov_err *e) COV_MUST_USE;
void cov_epochs_fini(struct cov_epochs *all);

enum { COV_EPOCH_BINS = 20 };

struct cov_epoch {
    struct cov_epochs *all;
    enum cov_loading_strategy strategy;
    int64_t io_limit;       /* bytes a second; 0: unlimited */
    double bytes_per_chunk; /* what is stored of one, for the limit */
    unsigned threads;       /* of the last strategy */
    size_t n_pairs;         /* of a batch */
    double device_rate;     /* chunks a second; 0: there is no device, loading alone */
    uint64_t seed;          /* of the order; another one after each epoch */
    /* Of each part of the epochs, the seconds that the device worked, and those that passed. */
    double busy[COV_EPOCH_BINS], spent[COV_EPOCH_BINS];
};

/* Cases of cov_bench_run: `arg` is an epoch. */

/* That it gives the chunks that the others gave: COV_EINPUT. */
int cov_epoch_check(void *arg, struct cov_err *e) COV_MUST_USE;
/* Seconds of an epoch, the mean of as many as `seconds` take; or, with a device, the part of them in which
 * it works, and `busy` and `spent`. */
int cov_epoch_time(void *arg, double seconds, double *value, struct cov_err *e) COV_MUST_USE;
/* Chunks a second. */
int cov_epoch_rate(void *arg, double seconds, double *value, struct cov_err *e) COV_MUST_USE;

#endif
