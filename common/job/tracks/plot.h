/* plot.h - a picture of the tracks in one region, drawn by gnuplot.
 *
 * Each data set has a panel. In a panel, series 0 (the input) and, below it, the optional series 1
 * (measured) are filled curves on the same scale.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_PLOT_H
#define COV_JOB_TRACKS_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/file/outfile.h"
#include "common/job/source/track_source.h"
#include "common/seq/range.h"
#include "common/track/sink.h"

struct cov_plot;

/* Prepares the picture `path` (.png or .svg) of `region`, see cov_range_parse; *out is NULL if both
 * are NULL. COV_EUSAGE if only one is given, or for another suffix; COV_EUNSUPPORTED without
 * gnuplot; COV_EEXIST if the file exists and `force` is false. Temporary files are made in
 * `tmpdir`; NULL: the folder of the picture. */
int cov_plot_new(const char *path, const char *region, bool force, const char *tmpdir,
                 struct cov_plot **out, struct cov_err *e) COV_MUST_USE;

/* The region. Borrowed. */
const struct cov_range *cov_plot_range(const struct cov_plot *p);

/* Adds the tracks of `source` as series 0 or 1: replaces each sinks[k], which may be NULL, with a
 * sink that collects the bins of data set k and passes everything on to the old one. Both series
 * have the same data sets; the names of the first call are shown. Borrows everything until
 * cov_plot_free. COV_EINPUT if there are too many data sets, or if series 0 lacks the region. */
int cov_plot_add(struct cov_plot *p, size_t series, const struct cov_track_source *source,
                 const char *const *datasets, struct cov_track_sink **sinks,
                 struct cov_err *e) COV_MUST_USE;

/* Draws the picture, after all sinks have been closed. The region is clipped to the length of its
 * contig if a series knows that length. COV_EINPUT if series 0 did not have the region. */
int cov_plot_draw(struct cov_plot *p, struct cov_err *e) COV_MUST_USE;

/* The picture's file, for cov_outfile_commit. */
struct cov_outfile *cov_plot_file(struct cov_plot *p);

/* Also frees the sinks of cov_plot_add; deletes the picture if it was not committed. NULL is
 * accepted. */
void cov_plot_free(struct cov_plot *p);

#endif
