/* set_blacklist.h - data/blacklist of a genome file, from NCBI's sequence report or a list of ids:
 * which sequences training is to leave out.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SET_BLACKLIST_H
#define COV_JOB_CHUNKS_SET_BLACKLIST_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"

struct cov_set_blacklist_options {
    const char *report; /* sequence_report.h; or NULL, and then */
    const char *names;  /* ids, one a line, as cov2bigwig's --blacklist-file */
    const char *output; /* NULL: the file itself is changed */
    const char
        *list;  /* to write the ids of the file's sequences that are left out to; may be NULL */
    bool force; /* replaces data/blacklist, output and list where they are there */
};

/* The file is copied, the copy changed, read back, and given its name: `path` holds either what it
 * held or all of it. Ids that are not in the file are a warning with their number, and so are
 * sequences that the report lacks; a report that has none of them is COV_EINPUT. Adds to
 * stats->chunks and bases. */
int cov_set_blacklist(const char *path, const struct cov_set_blacklist_options *options,
                      struct cov_progress *progress, struct cov_stats *stats,
                      struct cov_err *e) COV_MUST_USE;

#endif
