/* attribution_plot.h - a logo of the scores in a region: each base is a letter of the height of its
 * score.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_ATTRIBUTION_PLOT_H
#define COV_JOB_EFFECT_ATTRIBUTION_PLOT_H

#include "common/job/effect/attribution.h"
#include "common/plot/gnuplot.h"
#include "common/seq/region_list.h"

/* Finds the part of the genome that is drawn: `text`, see cov_range_parse, or with NULL the first
 * region. COV_EINPUT if no region has scores there, or if it has too many bases for letters. */
int cov_attribution_plot_find(const struct cov_attribution *a, const struct cov_genome *genome,
                              const char *text, struct cov_region *out,
                              struct cov_err *e) COV_MUST_USE;

/* Draws the picture, which has been begun. `place` is of cov_attribution_plot_find; its contig is the
 * number of a sequence. */
int cov_attribution_plot_draw(const struct cov_attribution *a, const struct cov_genome *genome,
                              const struct cov_region *place, const char *heading,
                              const struct cov_picture *picture, struct cov_err *e) COV_MUST_USE;

#endif
