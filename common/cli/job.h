/* job.h - what a job of common/job needs in addition to inputs and options.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_JOB_H
#define COV_CLI_JOB_H

#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"

/* All are borrowed. */
struct cov_job {
    struct cov_pool *pool;         /* computes */
    struct cov_progress *progress; /* NULL: not shown */
    struct cov_stats *stats;       /* gets counts and stages; NULL where the job allows it */
};

#endif
