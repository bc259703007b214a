/* tee.h - a sink that hands a track to two others.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_TEE_H
#define COV_TRACK_TEE_H

#include "common/base/err.h"
#include "common/track/sink.h"

/* Both were made with these contigs, or without, and neither has begun. They are borrowed until
 * free, and are closed with the tee, but not freed. */
int cov_tee_new(struct cov_track_sink *a, struct cov_track_sink *b,
                const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                struct cov_err *e) COV_MUST_USE;

#endif
