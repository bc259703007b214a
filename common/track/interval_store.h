/* interval_store.h - stores the intervals of a track in a temporary file, from which contigs can be
 * read in any order.
 *
 * An interval takes about 3 bytes if its value is an integer, otherwise 7. Memory: a buffer, and
 * 16 bytes per contig.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_INTERVAL_STORE_H
#define COV_TRACK_INTERVAL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

struct cov_interval_store;

/* `name` is for messages; for `contigs` see cov_track_init. Both are borrowed until free. The file
 * is created in `dir`. */
int cov_interval_store_new(const char *name, const struct cov_track_contigs *contigs,
                           const char *dir, struct cov_interval_store **out,
                           struct cov_err *e) COV_MUST_USE;
void cov_interval_store_free(struct cov_interval_store *s); /* NULL is accepted */

/* The sink that receives the intervals until it is closed. Owned by the store. */
struct cov_track_sink *cov_interval_store_sink(struct cov_interval_store *s);

/* Reads the intervals of a contig after closing. Several cursors may read at the same time. */
enum { COV_INTERVAL_CURSOR_BYTES = 32768, COV_INTERVAL_CURSOR_ROOM = 1024 };
struct cov_interval_cursor {
    const struct cov_interval_store *store; /* borrowed */
    int64_t at, stop;                       /* unread bytes in the file */
    int64_t end;                            /* end of the last interval */
    size_t beg, n;                          /* unread bytes in bytes[] */
    uint8_t bytes[COV_INTERVAL_CURSOR_BYTES];
    struct cov_interval iv[COV_INTERVAL_CURSOR_ROOM];
};

void cov_interval_cursor_begin(struct cov_interval_cursor *c, const struct cov_interval_store *s,
                               size_t contig);

/* Reads the next *n > 0 intervals, borrowed until the next call. Returns 1, or 0 at the end of the
 * contig, or a failure. */
int cov_interval_cursor_next(struct cov_interval_cursor *c, const struct cov_interval **iv,
                             size_t *n, struct cov_err *e) COV_MUST_USE;

#endif
