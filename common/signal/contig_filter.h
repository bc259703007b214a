/* contig_filter.h - selects and renames the contigs of an input that become contigs of the tracks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SIGNAL_CONTIG_FILTER_H
#define COV_SIGNAL_CONTIG_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/features/blacklist.h"
#include "common/seq/names.h"
#include "common/signal/track_source.h"

/* A contig of the tracks. */
struct cov_track_contig {
    const char *name;                 /* new name; borrowed from the input or from the filter */
    size_t seq;                       /* its number in the grid */
    const struct cov_region *regions; /* regions to drop. Borrowed from the filter */
    size_t n_regions;
    bool is_empty; /* no base is in the regions of the options */
};

/* Empty if all zero. */
struct cov_contig_filter {
    const struct cov_source_options *o;
    struct cov_rename *rename; /* NULL: none */
    struct cov_blacklist *blacklist;
    bool drops_only;           /* the contig of `only` is blacklisted */
    struct cov_listing others; /* contigs other than that of `only` */
    /* Private: --regions and --regions-file. */
    struct cov_range *ranges;
    bool *found; /* [n_ranges]: the contig was seen */
    char **texts;
    size_t n_ranges;
    struct cov_blacklist *bed;
    size_t n_chosen;               /* contigs with bases in the regions */
    struct cov_listing past;       /* contigs that end before a region of --regions-file does */
    struct cov_region_list *lists; /* what is dropped, per contig */
    size_t n_lists, cap_lists;
};

/* Reads the lists named in the options, which are borrowed until close. */
int cov_contig_filter_open(struct cov_contig_filter *f, const struct cov_source_options *o,
                           struct cov_err *e) COV_MUST_USE;
void cov_contig_filter_close(struct cov_contig_filter *f);

/* Sets *kept to whether the contig called `name` in the input is kept; if so, fills *c. */
int cov_contig_filter_take(struct cov_contig_filter *f, const char *name,
                           struct cov_track_contig *c, bool *kept, struct cov_err *e) COV_MUST_USE;

/* COV_EINPUT if a region begins after the `length` bases of this contig of `input`. */
int cov_contig_filter_check_length(struct cov_contig_filter *f, const char *name, int64_t length,
                                   const char *input, struct cov_err *e) COV_MUST_USE;

/* After all contigs of `input`: warns about names in the lists that the input does not have.
 * COV_EINPUT if a region is on none of its contigs, or no contig has a region. */
int cov_contig_filter_finish(const struct cov_contig_filter *f, const char *input,
                             struct cov_err *e) COV_MUST_USE;

/* Fails with COV_EINPUT because no contig was kept. */
int cov_contig_filter_fail_empty(const struct cov_contig_filter *f, const char *input,
                                 struct cov_err *e) COV_MUST_USE;

#endif
