/* loader_item.h - a pair of chunks, as a loader gives it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_LOADER_ITEM_H
#define COV_JOB_PREDICT_LOADER_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pair on its way. Sequences are numbered as in the grid, from a stream as they come. In
 * COV_ORDER_GRID and from a stream, a sequence without any pair comes as an item without a strand. */
struct cov_loader_item {
    size_t pair; /* of the grid; not for a stream */
    size_t seq;
    int64_t beg, end;
    size_t rows[2];   /* in the grid; COV_NO_ROW for a strand that is not there, and of a stream */
    bool has[2];      /* [COV_PLUS], [COV_MINUS] */
    bool first, last; /* of its sequence. Only for a stream and COV_ORDER_GRID */
    int64_t length;   /* of the sequence; from a stream known with its last item, else -1 */
};

#endif
