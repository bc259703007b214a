/* bases_check.h - fingerprints of the bases to be predicted.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_BASES_CHECK_H
#define COV_JOB_PREDICT_BASES_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/job/predict/loader.h"

/* Reads all bases that the loader delivers (it must not be a stream), and sets *out to the
 * fingerprint of each row of its grid (cov_item_fingerprint). Rewinds the loader. Caller frees. */
int cov_bases_fingerprints(struct cov_loader *loader, struct cov_pool *pool,
                           struct cov_progress *progress, uint64_t **out,
                           struct cov_err *e) COV_MUST_USE;

#endif
