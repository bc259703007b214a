/* mates.h - counts each pair of reads once, whichever of its mates pass the filters.
 *
 * Keeps a counted mate until the other one comes. In sorted files a mate is forgotten when the
 * reads have passed the place of the other one, so that little memory is needed; in other files, a
 * mate whose other mate does not pass takes 20 to 90 bytes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_MATES_H
#define COV_FEATURES_MATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/alignments.h"

struct cov_mate;

/* All zero: no mates. */
struct cov_mates {
    struct cov_mate *table; /* [n_slots] */
    size_t n, n_slots;
    bool sorted; /* set by the caller: reads come in the order of their contigs and positions */
};

void cov_mates_fini(struct cov_mates *m);

/* Sets *met to whether the other mate of `read`, a read of a pair on one contig, was here. Otherwise
 * keeps this one. `beg` is where the contig begins if all are laid end to end. */
int cov_mates_meet(struct cov_mates *m, const struct cov_read *read, int64_t beg, bool *met,
                   struct cov_err *e) COV_MUST_USE;

#endif
