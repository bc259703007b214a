/* predict_overlap.h - predicts pairs of chunks from overlapping windows. For predict.c only.
 *
 * Pairs in a slot share windows. A window at the edge of a slot or shard is computed again for the
 * next slot or shard, with the same result.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_OVERLAP_H
#define COV_JOB_PREDICT_PREDICT_OVERLAP_H

#include "common/base/err.h"
#include "common/job/predict/loader.h"
#include "common/net/net.h"

struct cov_predict_overlap;

struct cov_predict_overlap_sizes {
    size_t overlap; /* bases shared by neighbouring windows */
    size_t n_datasets;
    size_t batch; /* windows that a worker computes at a time, each on one strand */
    size_t n_slots;
    unsigned n_workers;
};

/* Borrows the loader, opened with `neighbours`, until free. Free with cov_predict_overlap_free. */
int cov_predict_overlap_new(struct cov_loader *loader,
                            const struct cov_predict_overlap_sizes *sizes,
                            struct cov_predict_overlap **out, struct cov_err *e) COV_MUST_USE;
void cov_predict_overlap_free(struct cov_predict_overlap *o); /* NULL is accepted */

/* Calling thread: clear empties a slot; add appends a pair, with both strands. */
void cov_predict_overlap_clear(struct cov_predict_overlap *o, size_t slot);
int cov_predict_overlap_add(struct cov_predict_overlap *o, size_t slot,
                            const struct cov_loader_item *item, struct cov_err *e) COV_MUST_USE;

/* Worker thread: sets values[2 k + strand][L][D] to the predictions of the k-th pair of the slot,
 * in the strand's direction; COV_PAD_VALUE in padding and outside the regions. */
int cov_predict_overlap_compute(struct cov_predict_overlap *o, size_t slot, unsigned worker,
                                struct cov_net *net, float *values, struct cov_err *e) COV_MUST_USE;

/* Worker thread, after compute: the fingerprints of the bases of the k-th pair of the slot. */
void cov_predict_overlap_fingerprints(const struct cov_predict_overlap *o, size_t slot,
                                      unsigned worker, size_t k, uint64_t fingerprints[2]);

#endif
