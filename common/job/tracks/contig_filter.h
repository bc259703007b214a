/* contig_filter.h - selects and renames the contigs of an input that become contigs of the tracks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONTIG_FILTER_H
#define COV_JOB_TRACKS_CONTIG_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/job/tracks/track_source.h"
#include "common/seq/names.h"
#include "common/track/blacklist.h"

/* A contig of the tracks. */
struct cov_track_contig {
    const char *name;                 /* new name; borrowed from the input or from the filter */
    size_t seq;                       /* its number in the grid */
    const struct cov_region *regions; /* blacklisted regions. Borrowed */
    size_t n_regions;
};

/* Empty if all zero. */
struct cov_contig_filter {
    const struct cov_source_options *o;
    struct cov_rename *rename; /* NULL: none */
    struct cov_blacklist *blacklist;
    bool drops_only;           /* the contig of --plot-region is blacklisted */
    struct cov_listing others; /* contigs other than that of --plot-region */
};

/* Reads the lists named in the options, which are borrowed until close. */
int cov_contig_filter_open(struct cov_contig_filter *f, const struct cov_source_options *o,
                           struct cov_err *e) COV_MUST_USE;
void cov_contig_filter_close(struct cov_contig_filter *f);

/* Returns true and fills *c if the contig called `name` in the input is kept. */
bool cov_contig_filter_take(struct cov_contig_filter *f, const char *name,
                            struct cov_track_contig *c);

/* After all contigs of `input`: warns about names in the lists that the input does not have. */
void cov_contig_filter_warn(const struct cov_contig_filter *f, const char *input);

/* Fails because no contig was kept: COV_EINPUT, or COV_EUSAGE if that is due to --plot-region. */
int cov_contig_filter_fail_empty(const struct cov_contig_filter *f, const char *input,
                                 struct cov_err *e) COV_MUST_USE;

#endif
