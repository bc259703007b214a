/* loader_item.h - a pair of chunks, as delivered by a loader.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_LOADER_ITEM_H
#define COV_INPUT_LOADER_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/chunk/bases.h"

/* A pair of chunks. Sequences are numbered as in the grid; in a stream, in order of arrival. In
 * COV_ORDER_GRID and from a stream, a sequence without pairs yields one item without strands. */
struct cov_loader_item {
    size_t pair; /* in the grid; unused for a stream */
    size_t seq;
    int64_t beg, end;
    size_t rows[2];   /* in the grid; COV_NO_ROW for a missing strand, and for a stream */
    bool has[2];      /* [COV_PLUS], [COV_MINUS] */
    bool first, last; /* of its sequence; set only for a stream and COV_ORDER_GRID */
    int64_t length;   /* of the sequence; in a stream, -1 before the last item of the sequence */
};

/* Returns the fingerprint of one strand's bases: codes[0..end - beg), in its own direction. */
static inline uint64_t cov_item_fingerprint(const struct cov_loader_item *item,
                                            const uint8_t *codes)
{
    return cov_bases_fingerprint(codes, (size_t)(item->end - item->beg));
}

#endif
