/* ranks.h - several processes that train together, `mpirun -n N covtrain`, and rows of bytes that are
 * distributed over their memory.
 *
 * MPI is in a plugin (covtools/covtools-mpi.so next to the library), loaded only by processes that
 * mpirun started, so that nothing else depends on it. Functions marked "collective" must be called
 * by all processes, in the same order and by one thread; another thread may read shared memory at
 * the same time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_RANKS_H
#define COV_EXAMPLES_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/codec.h"

/* Exported by the plugin, as cov_ranks_mpi(). */
struct cov_ranks_ops {
    int (*open)(size_t *rank, size_t *n, struct cov_err *e);
    /* Sets v[0..n) to the sum over all processes, bitwise identical in each. */
    int (*sum)(double *v, size_t n, struct cov_err *e);
    /* Collective: sets *base to n bytes of this process (n may differ between processes). They are
     * part of *window, which all processes can read once each has written its bytes and called
     * publish, until unshare. */
    int (*share)(size_t n, void **window, void **base, struct cov_err *e);
    int (*publish)(void *window, struct cov_err *e); /* collective */
    void (*unshare)(void *window);
    /* One thread at a time: starts reading bytes [at, at + n) of process `rank` into to[]. The
     * bytes are valid after the next `complete`. Other processes need not call anything. */
    int (*get)(void *window, size_t rank, size_t at, size_t n, void *to, struct cov_err *e);
    int (*complete)(void *window, struct cov_err *e);
    void (*close)(void);
};

struct cov_ranks {
    const struct cov_ranks_ops *ops; /* NULL: one process */
    void *plugin;
    size_t rank, n;
    void **shared; /* windows; owned */
    size_t n_shared, cap_shared;
    size_t n_failed, first_failed; /* found by cov_ranks_agree */
};

/* Returns the number of this process as set by mpirun, or 0 without mpirun. Works before anything
 * is opened. */
size_t cov_ranks_expected(void);

/* Call before reporting a failure. In all processes except the first, waits a few seconds: if the first fails
 * the same way, it reports the failure, and mpirun ends this process. After cov_ranks_agree, the
 * first that failed does not wait, and all others do. */
void cov_ranks_let_first_report(void);

/* Joins the processes that mpirun started; without mpirun *r is the only process. COV_EUNSUPPORTED
 * says what is missing. Free with cov_ranks_close. */
int cov_ranks_open(struct cov_ranks *r, struct cov_err *e) COV_MUST_USE;
/* If `failed`, closes nothing, since the other processes do not know about the failure: mpirun ends
 * all processes when this one exits with a status other than 0. */
void cov_ranks_close(struct cov_ranks *r, bool failed);

/* Collective: tells the others the status of this process so far. Returns `rc` if it is a failure,
 * and COV_EINPUT if another process failed. */
int cov_ranks_agree(struct cov_ranks *r, int rc, struct cov_err *e) COV_MUST_USE;

/* Collective: a reduction for cov_train_reduce; arg is the cov_ranks. */
int cov_ranks_sum(void *arg, double *v, size_t n, struct cov_err *e) COV_MUST_USE;

/* What must be the same in all processes: a file, or options. */
struct cov_rank_item {
    const char *name; /* for messages */
    uint64_t fingerprint;
};
/* Returns the fingerprint of a text. */
uint64_t cov_text_fingerprint(const char *text);
/* Collective: COV_EINPUT if a process and the first one have different items. The message names the
 * process, its host, and the first item that differs. */
int cov_ranks_compare(struct cov_ranks *r, const struct cov_rank_item *items, size_t n,
                      struct cov_err *e) COV_MUST_USE;
/* Collective: the same for files, by their names (without directories) and contents. */
int cov_ranks_compare_files(struct cov_ranks *r, const char *const *paths, size_t n,
                            struct cov_err *e) COV_MUST_USE;
/* Prefixes the message of a process other than the first with its number and host; returns
 * `code`. */
int cov_ranks_name(const struct cov_ranks *r, int code, struct cov_err *e);

/* Collective, only with several processes: calls ops->share. cov_ranks_close unshares the
 * window. */
int cov_ranks_share(struct cov_ranks *r, size_t n, void **window, void **base,
                    struct cov_err *e) COV_MUST_USE;

struct cov_rank_rows;

/* Creates an empty store of n_rows rows. Process k of *ranks (borrowed until free) keeps rows
 * [firsts[k], firsts[k + 1]); firsts[0] is 0, firsts[ranks->n] is n_rows, and all processes pass
 * the same firsts[]. Free with cov_rank_rows_free; shared memory remains readable by the others
 * until cov_ranks_close. */
int cov_rank_rows_new(struct cov_ranks *ranks, size_t n_rows, const size_t *firsts,
                      struct cov_rank_rows **out, struct cov_err *e) COV_MUST_USE;
void cov_rank_rows_free(struct cov_rank_rows *k); /* NULL is accepted */

/* Stores data[0..n), n > 0, as row i of this process. Rows must ascend; rows may be omitted. */
int cov_rank_rows_put(struct cov_rank_rows *k, size_t i, const uint8_t *data, size_t n,
                      struct cov_err *e) COV_MUST_USE;
/* Shares the rows. Called by all processes, after all rows were added. */
int cov_rank_rows_publish(struct cov_rank_rows *k, struct cov_err *e) COV_MUST_USE;

/* After publishing: returns the bytes of row i of any process; 0 if the row was omitted. */
size_t cov_rank_rows_bytes(const struct cov_rank_rows *k, size_t i);

/* Starts reading row i into *row, as one piece. Its data is valid after the next
 * cov_rank_rows_complete; until then *row must not change. One thread at a time. */
int cov_rank_rows_get(struct cov_rank_rows *k, size_t i, struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;
int cov_rank_rows_complete(struct cov_rank_rows *k, struct cov_err *e) COV_MUST_USE;

#endif
