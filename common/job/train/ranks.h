/* ranks.h - several processes that train together: `mpirun -n N covtrain`.
 *
 * MPI is in a plugin (covtools/covtools-mpi.so beside the library), which is loaded only by a process that mpirun
 * has started, so that nothing else depends on it. What is said to be of all is called by all processes, in
 * the same order and by one thread; another thread may read what the others share meanwhile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_RANKS_H
#define COV_JOB_TRAIN_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

/* What the plugin exports, as cov_ranks_mpi(). */
struct cov_ranks_ops {
    int (*open)(size_t *rank, size_t *n, struct cov_err *e);
    /* v[0..n) = its sum over all processes, the same bits in each. */
    int (*sum)(double *v, size_t n, struct cov_err *e);
    /* As the functions of these names below; a window is one process's memory that all read. */
    int (*share)(size_t n, void **window, void **base, struct cov_err *e);
    int (*publish)(void *window, struct cov_err *e);
    int (*get)(void *window, size_t rank, size_t at, size_t n, void *to, struct cov_err *e);
    int (*complete)(void *window, struct cov_err *e);
    void (*unshare)(void *window);
    void (*close)(void);
};

struct cov_ranks {
    const struct cov_ranks_ops *ops; /* NULL: there is one process */
    void *plugin;
    size_t rank, n;
    void **shared; /* windows. Owned */
    size_t n_shared, cap_shared;
};

/* The number of this process as mpirun gave it, before anything is opened; 0 without. */
size_t cov_ranks_expected(void);

/* Before a failure is told: where this is not the first of several processes, gives that one the time to tell it,
 * if it fails alike, upon which mpirun ends this process. */
void cov_ranks_let_first_tell(void);

/* *r is one process of one unless mpirun has started several. COV_EUNSUPPORTED says what is missing for
 * that. Free with cov_ranks_close. */
int cov_ranks_open(struct cov_ranks *r, struct cov_err *e) COV_MUST_USE;
/* After a failure, which the others do not know of, nothing is closed: mpirun ends all processes when
 * this one ends with another status than 0. */
void cov_ranks_close(struct cov_ranks *r, bool failed);

/* Of all, as cov_train_reduce wants it; arg is the cov_ranks. */
int cov_ranks_sum(void *arg, double *v, size_t n, struct cov_err *e) COV_MUST_USE;

/* Of all, of which there are several: *base = n bytes of this process (another number in each), which all
 * read through *window once each has written its own and called cov_ranks_publish. Both last until
 * cov_ranks_close. */
int cov_ranks_share(struct cov_ranks *r, size_t n, void **window, void **base,
                    struct cov_err *e) COV_MUST_USE;
int cov_ranks_publish(struct cov_ranks *r, void *window, struct cov_err *e) COV_MUST_USE;
/* One thread at a time: to[0..n) = the bytes of process `rank` from `at` on, with the next
 * cov_ranks_complete; the other processes need not do anything for it. */
int cov_ranks_get(struct cov_ranks *r, void *window, size_t rank, size_t at, size_t n, void *to,
                  struct cov_err *e) COV_MUST_USE;
int cov_ranks_complete(struct cov_ranks *r, void *window, struct cov_err *e) COV_MUST_USE;

#endif
