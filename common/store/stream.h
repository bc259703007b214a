/* stream.h - the chunk stream: a file of chunks as bytes, from program to program (covstream(5)).
 *
 * BGZF blocks (level 0, or compressed in a file) hold: the head; then for each sequence a record
 * with its name, a record for each pair of chunks, ascending, and a record with its length; then a
 * record with counts. A stream that ends before that, or whose counts, order or checksums do not
 * agree, is an error. Reading and writing belong to one thread; packing and unpacking to any.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_STREAM_H
#define COV_STORE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/store/chunk_head.h"

enum { COV_STREAM_VERSION = 1 };

/* ---- packing: one pair as the bytes of its record ---- */

/* What there is of a pair; unused pointers NULL. The - chunk's codes need not be given where they
 * are the reverse complement of the + chunk's. */
struct cov_stream_pair {
    int64_t beg, end;
    bool has[2]; /* [COV_PLUS], [COV_MINUS]: whether the chunk of this strand is there */
};

/* Any thread: *out (cleared) = the record. codes[s]: L codes of strand s in its own direction, or
 * NULL; elems[s][k]: row of set k. If both strands have codes and one is the reverse complement of
 * the other, it is stored once. COV_EINPUT, naming the interval, for padding between bases, bases
 * behind the end, and what is no interval of a chunk. */
int cov_stream_pack(const struct cov_chunk_head *head, const struct cov_stream_pair *pair,
                    const uint8_t *const codes[2], const uint8_t *const *const elems[2],
                    struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* Any thread: the way back. codes[s] (L bytes) and elems[s][k] are filled for the strands that are
 * there; codes or elems may be NULL when they are not wanted. `name` stands in messages. */
int cov_stream_unpack(const struct cov_chunk_head *head, const char *name,
                      const struct cov_blob *record, struct cov_stream_pair *pair,
                      uint8_t *const codes[2], uint8_t *const *const elems[2],
                      struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_stream_writer;

/* Writes to `path` ("-": standard output, which may not be a terminal: COV_EUSAGE). `compress`: for
 * files; pipes do without. `partial`: pairs may leave holes or lack a strand, and a sequence may
 * have none. begin, put and end refuse what the reader would refuse (COV_EINPUT: sequence and
 * position); after a failure only finish or abort may follow, and what is there is no stream. */
int cov_stream_create(const char *path, const struct cov_chunk_head *head, bool partial,
                      bool compress, unsigned n_threads, struct cov_stream_writer **out,
                      struct cov_err *e) COV_MUST_USE;
int cov_stream_begin(struct cov_stream_writer *w, const char *species, const char *name,
                     struct cov_err *e) COV_MUST_USE;
int cov_stream_put(struct cov_stream_writer *w, const struct cov_blob *record,
                   struct cov_err *e) COV_MUST_USE;
int cov_stream_end(struct cov_stream_writer *w, int64_t length, struct cov_err *e) COV_MUST_USE;
/* The end record; flushes, closes, frees *w in any case. */
int cov_stream_finish(struct cov_stream_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_stream_abort(struct cov_stream_writer *w); /* NULL is accepted */

/* ---- reading ---- */

struct cov_stream;

/* Whether what comes out of an opened file is a chunk stream; nothing is taken out of it. */
int cov_stream_is(struct cov_bgz *b, bool *yes, struct cov_err *e) COV_MUST_USE;

/* Takes *b, at its beginning, in any case. COV_EINPUT for what is no stream, is not in BGZF, or is
 * of another version. */
int cov_stream_open(struct cov_bgz *b, struct cov_stream **out, struct cov_err *e) COV_MUST_USE;
void cov_stream_close(struct cov_stream *s); /* NULL is accepted */

const struct cov_chunk_head *cov_stream_head(const struct cov_stream *s); /* borrowed until close */
bool cov_stream_is_partial(const struct cov_stream *s);
const char *cov_stream_name(const struct cov_stream *s); /* for messages; borrowed until close */

enum cov_stream_event { COV_STREAM_BEGIN, COV_STREAM_PAIR, COV_STREAM_END, COV_STREAM_DONE };

/* The next record. BEGIN: a sequence. PAIR: *record, which is reused, for cov_stream_unpack, and
 * `pair`; checked: it follows the pair before it. END: `length`, which agrees with the pairs. DONE:
 * counts agree and nothing follows; it is not to be asked for more. `species` and `sequence` (the
 * current one's; borrowed until the next call) are there for all but DONE. What is damaged, out of
 * order or cut is COV_EINPUT and names stream, sequence and position. */
struct cov_stream_item {
    enum cov_stream_event event;
    const char *species, *sequence;
    struct cov_stream_pair pair;
    int64_t length;
};
int cov_stream_next(struct cov_stream *s, struct cov_stream_item *item, struct cov_blob *record,
                    struct cov_err *e) COV_MUST_USE;

#endif
