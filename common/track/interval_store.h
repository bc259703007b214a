/* interval_store.h - a track that waits: its intervals in a temporary file, read back contig by
 * contig in any order.
 *
 * Some 3 bytes an interval of whole numbers, 7 of others; in memory a buffer, and the names of the
 * contigs with 16 bytes each.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_INTERVAL_STORE_H
#define COV_TRACK_INTERVAL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

struct cov_interval_store;

/* `name` is what messages call the track; `contigs` as for cov_track_init: both are borrowed until
 * free. The file will be in `dir`. */
int cov_interval_store_new(const char *name, const struct cov_track_contigs *contigs,
                           const char *dir, struct cov_interval_store **out,
                           struct cov_err *e) COV_MUST_USE;
void cov_interval_store_free(struct cov_interval_store *s); /* NULL is accepted */

/* Takes the intervals, until it is closed. The store owns it. */
struct cov_track_sink *cov_interval_store_sink(struct cov_interval_store *s);

/* Afterwards: the number of the contig among those of the sink, if it is there. */
bool cov_interval_store_find(const struct cov_interval_store *s, const char *name, size_t *contig);

/* Base behind the last interval of the contig; 0: it has none. */
int64_t cov_interval_store_end(const struct cov_interval_store *s, size_t contig);

/* Reads a contig; several may read at the same time. */
enum { COV_INTERVAL_CURSOR_BYTES = 32768, COV_INTERVAL_CURSOR_ROOM = 1024 };
struct cov_interval_cursor {
    const struct cov_interval_store *store; /* borrowed */
    int64_t at, stop;                       /* in the file, of what has not been read */
    int64_t end;                            /* of the last interval */
    size_t beg, n;                          /* what is left in bytes[] */
    uint8_t bytes[COV_INTERVAL_CURSOR_BYTES];
    struct cov_interval iv[COV_INTERVAL_CURSOR_ROOM];
};

void cov_interval_cursor_begin(struct cov_interval_cursor *c, const struct cov_interval_store *s,
                               size_t contig);

/* The next *n > 0 intervals, borrowed until the next call. Returns 1, 0 at the end of the contig,
 * or a failure. */
int cov_interval_cursor_next(struct cov_interval_cursor *c, const struct cov_interval **iv,
                             size_t *n, struct cov_err *e) COV_MUST_USE;

#endif
