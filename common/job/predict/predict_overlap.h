/* predict_overlap.h - predicts pairs of chunks from overlapping windows. For predict.c only.
 *
 * Pairs in a slot share windows. A window at the edge of a slot or shard is computed again for the
 * next slot or shard, with the same result.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_OVERLAP_H
#define COV_JOB_PREDICT_PREDICT_OVERLAP_H

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/input/loader.h"
#include "common/net/net.h"

struct cov_overlap {
    struct cov_loader *loader; /* opened with `neighbours`; NULL: no overlap */
    size_t L, N, D;            /* chunk length, bases shared by windows, datasets */
    size_t batch;              /* windows that a worker computes at a time, each on one strand */
};

/* Pairs, the windows that they need, and the pairs that provide the bases of these. Empty if all
 * zero. */
struct cov_overlap_slot {
    struct cov_loader_item *pairs;
    struct cov_overlap_source *sources;
    struct cov_overlap_window *windows;
    size_t n_pairs, cap_pairs, n_sources, cap_sources, n_windows, cap_windows;
};
void cov_overlap_slot_fini(struct cov_overlap_slot *s);

/* Buffers of a worker. */
struct cov_overlap_worker {
    unsigned i;
    uint8_t *sources; /* [n_sources][2][L]; grows. Owned */
    size_t cap_sources;
    uint8_t *codes; /* [batch][L] */
    float *values;  /* [batch][L][D] */
};

/* Calling thread: clear empties a slot; add appends a pair, with both strands. */
void cov_overlap_clear(struct cov_overlap_slot *s);
int cov_overlap_add(const struct cov_overlap *o, struct cov_overlap_slot *s,
                    const struct cov_loader_item *item, struct cov_err *e) COV_MUST_USE;

/* Worker thread: sets values[2 k + strand][L][D] to the predictions of the k-th pair of the slot,
 * in the strand's direction; COV_PAD_VALUE in padding and outside the regions. */
int cov_overlap_compute(const struct cov_overlap *o, struct cov_overlap_slot *s,
                        struct cov_overlap_worker *w, struct cov_net *net, float *values,
                        struct cov_err *e) COV_MUST_USE;

/* Worker thread, after compute: the fingerprints of the bases of the k-th pair of the slot. */
void cov_overlap_fingerprints(const struct cov_overlap *o, const struct cov_overlap_slot *s,
                              const struct cov_overlap_worker *w, size_t k,
                              uint64_t fingerprints[2]);

#endif
