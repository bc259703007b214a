/* effect_tracks.h - bigWig tracks of the prediction for each allele of a variant.
 *
 * For each dataset, three files have the values of the window without and with the change, and their
 * difference, on the genome's positions: bases that the change inserts have no place there, and bases
 * that it deletes have a value only without it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_TRACKS_H
#define COV_JOB_EFFECT_EFFECT_TRACKS_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/job/effect/effect_batches.h"
#include "common/job/effect/effect_options.h"

/* More files in a directory are unwieldy. */
enum { COV_EFFECT_MAX_TRACKS = 9999 };

struct cov_effect_tracks;

/* Makes the directory options->tracks. Borrows the options until free. */
int cov_effect_tracks_open(const struct cov_effect_options *options, struct cov_effect_tracks **out,
                           struct cov_err *e) COV_MUST_USE;
/* Removes the directory if it is new and empty. NULL is accepted. */
void cov_effect_tracks_free(struct cov_effect_tracks *t);

/* Returns the number of files of n alleles. */
size_t cov_effect_tracks_count(const struct cov_effect_options *options, size_t n);

/* Writes the tracks of the alleles of a record that is scored and has values. COV_EEXIST if a file is
 * there already, unless options->force or options->resume is set. Of a record that is done, only checks
 * that the files are there: COV_EINPUT if not. */
int cov_effect_tracks_put(struct cov_effect_tracks *t, const struct cov_effect_record *record,
                          struct cov_err *e) COV_MUST_USE;

#endif
