/* same_bases.h - compares the bases that two inputs were made from, for cov2bigwig --measured: names
 * and lengths of contigs can be the same in different assemblies.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_SAME_BASES_H
#define COV_JOB_TRACKS_SAME_BASES_H

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/signal/track_source.h"

/* COV_EINPUT, naming both inputs and the first place, if their bases differ in a contig that both
 * have. A genome file has bases, and a predictions file of covpredict has fingerprints of bases;
 * nothing is compared if an input has neither, or if it is a track or a stream, or where the
 * chunks of the two are at different positions. */
int cov_same_bases_check(const struct cov_track_source *a, const struct cov_track_source *b,
                         const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
