/* loader_memory.h - chunks kept in memory, as codes packed to 4 bits per base.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_LOADER_MEMORY_H
#define COV_INPUT_LOADER_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/grid.h"

struct cov_kept_codes;

/* Allocates room for the pairs of `grid`, which is borrowed until free. Free with
 * cov_kept_codes_free. */
int cov_kept_codes_new(const struct cov_grid *grid, struct cov_kept_codes **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_kept_codes_free(struct cov_kept_codes *k); /* NULL is accepted */

/* Stores pair p: codes[s][0..L) of each of its strands. A - strand that is the reverse complement
 * takes no space; scratch[L] is used for the comparison. Any thread may call it, once per pair. */
int cov_kept_codes_put(struct cov_kept_codes *k, size_t p, uint8_t *const codes[2],
                       uint8_t *scratch, struct cov_err *e) COV_MUST_USE;
/* Sets codes[s][0..L) to the codes of each strand of pair p. Any thread may call it once all pairs
 * are stored. */
void cov_kept_codes_get(const struct cov_kept_codes *k, size_t p, uint8_t *const codes[2]);

#endif
