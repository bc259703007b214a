/* convert_lists.h - the lists of cov2bigwig's options: what is renamed, and what is left out.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_LISTS_H
#define COV_JOB_TRACKS_CONVERT_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/job/tracks/convert.h"
#include "common/seq/names.h"
#include "common/track/blacklist.h"

/* A contig of the tracks. */
struct cov_convert_contig {
    const char *name;                 /* borrowed from the grid, the renaming, or the piece */
    size_t seq;                       /* in the grid */
    const struct cov_region *regions; /* that are left out. Borrowed */
    size_t n_regions;
};

/* All zero is an empty one. */
struct cov_convert_lists {
    const struct cov_convert_options *o;
    struct cov_rename *rename; /* NULL: none */
    struct cov_blacklist *blacklist;
    bool drops_only; /* the only sequence that is wanted is blacklisted */
};

/* Reads the lists of the options (borrowed until the end). */
int cov_convert_lists_open(struct cov_convert_lists *l, const struct cov_convert_options *o,
                           struct cov_err *e) COV_MUST_USE;
void cov_convert_lists_close(struct cov_convert_lists *l);

/* Whether the sequence, by its name in the input, is not left out; *c is the contig then. Its name
 * is borrowed from the renaming or from `name`. */
bool cov_convert_lists_contig(struct cov_convert_lists *l, const char *name,
                              struct cov_convert_contig *c);

/* When all names of `input` have been asked for: warns of those that it does not have. */
void cov_convert_lists_warn(const struct cov_convert_lists *l, const char *input);

/* COV_EINPUT: every sequence was left out. */
int cov_convert_lists_nothing_left(const struct cov_convert_lists *l, const char *input,
                                   struct cov_err *e) COV_MUST_USE;

#endif
