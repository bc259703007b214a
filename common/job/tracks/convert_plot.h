/* convert_plot.h - the picture of cov2bigwig: what is kept of tracks on their way, and its drawing.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_PLOT_H
#define COV_JOB_TRACKS_CONVERT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/job/tracks/convert.h"
#include "common/job/tracks/convert_source.h"
#include "common/seq/select.h"
#include "common/track/sink.h"

struct cov_convert_plot;

/* Checks --plot and --plot-region against each other, and prepares the picture: *out is NULL
 * when none is wanted. Borrows the options until free. As cov_plot_new. */
int cov_convert_plot_new(const struct cov_convert_options *o, struct cov_convert_plot **out,
                         struct cov_err *e) COV_MUST_USE;

/* The region. Borrowed. */
const struct cov_range *cov_convert_plot_range(const struct cov_convert_plot *p);

/* Adds the tracks of `source`, whose data sets datasets[0..n) have names (or are NULL), as
 * series number `series`, 0 or 1 from the top, called `name`: sinks[k], which may be NULL,
 * becomes one that keeps what the picture needs, and hands all on to the sink that was there.
 * Both series have the same data sets, of which the names of the first call are shown. Borrows
 * everything until free. COV_EUSAGE: more data sets than there is room for; contigs that are
 * known already lack the region, but for series 1, which may lack its sequence. */
int cov_convert_plot_add(struct cov_convert_plot *p, size_t series, const char *name,
                         const struct cov_convert_source *source, const char *const *datasets,
                         size_t n, struct cov_track_sink **sinks, struct cov_err *e) COV_MUST_USE;

/* The sinks have been closed: draws the picture, of the region as far as the lengths of contigs,
 * if a series knows them, allow. COV_EUSAGE when the region did not come in series 0. */
int cov_convert_plot_draw(struct cov_convert_plot *p, struct cov_err *e) COV_MUST_USE;

/* The picture's file, which gets its name when it is committed. */
struct cov_outfile *cov_convert_plot_file(struct cov_convert_plot *p);

/* Frees the sinks that were made too; what was not committed is removed. NULL is accepted. */
void cov_convert_plot_free(struct cov_convert_plot *p);

#endif
