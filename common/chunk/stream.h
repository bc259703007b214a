/* stream.h - the chunk stream: a file of chunks as bytes, piped between programs (covstream(5)).
 *
 * A stream consists of BGZF blocks, with level 0 in a pipe and possibly compressed in a file. It
 * begins with the head. Each sequence has a record with its name, a record per pair of chunks in
 * ascending order, and a record with its length. A record with counts is last. A stream that ends
 * early, or whose counts, order or checksums are wrong, is invalid. A reader or writer belongs to
 * one thread; any thread may pack and unpack pairs (stream_record.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_STREAM_H
#define COV_CHUNK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/chunk_head.h"
#include "common/chunk/stream_record.h"
#include "common/codec/blob.h"
#include "common/file/bgz.h"

enum { COV_STREAM_VERSION = 1 };

/* ---- writing ---- */

struct cov_stream_writer;

/* Creates a stream at `path` ("-": standard output; COV_EUSAGE if that is a terminal). `compress`
 * is for files, not pipes. If `partial` is set, there may be gaps between pairs, pairs may lack a
 * strand, and a sequence may have no pairs. begin, put and end refuse anything that the reader
 * would refuse, with COV_EINPUT, sequence and position. After a failure, call only abort; the output is
 * not a valid stream. */
int cov_stream_create(const char *path, const struct cov_chunk_head *head, bool partial,
                      bool compress, unsigned n_threads, struct cov_stream_writer **out,
                      struct cov_err *e) COV_MUST_USE;
int cov_stream_begin(struct cov_stream_writer *w, const char *species, const char *name,
                     struct cov_err *e) COV_MUST_USE;
int cov_stream_put(struct cov_stream_writer *w, const struct cov_blob *record,
                   struct cov_err *e) COV_MUST_USE;
int cov_stream_end(struct cov_stream_writer *w, int64_t length, struct cov_err *e) COV_MUST_USE;
/* Writes the end record, flushes and closes; always frees *w. */
int cov_stream_finish(struct cov_stream_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_stream_abort(struct cov_stream_writer *w); /* NULL is accepted */

/* ---- reading ---- */

struct cov_stream;

/* Sets *yes to whether the open file is a chunk stream. Consumes nothing. */
int cov_stream_is(struct cov_bgz *b, bool *yes, struct cov_err *e) COV_MUST_USE;

/* Opens the stream in *b, from which nothing has been read. Takes ownership of *b, even on failure.
 * COV_EINPUT if *b is not BGZF or not a chunk stream, or has an unsupported version. */
int cov_stream_open(struct cov_bgz *b, struct cov_stream **out, struct cov_err *e) COV_MUST_USE;
void cov_stream_close(struct cov_stream *s); /* NULL is accepted */

const struct cov_chunk_head *cov_stream_head(const struct cov_stream *s); /* borrowed until close */
bool cov_stream_is_partial(const struct cov_stream *s);
const char *cov_stream_name(const struct cov_stream *s); /* for messages; borrowed until close */

enum cov_stream_event { COV_STREAM_BEGIN, COV_STREAM_PAIR, COV_STREAM_END, COV_STREAM_DONE };

/* The next record. BEGIN: a sequence begins. PAIR: `pair`, which follows the previous pair, is set,
 * and *record (reused) is for cov_stream_unpack. END: `length`, which agrees with the pairs, is
 * set. DONE: the counts agree and nothing follows, so do not call it again. Except for DONE,
 * `species` and `sequence` are the current ones, borrowed until the next call. COV_EINPUT, with
 * stream, sequence and position, for damaged, misplaced or truncated records. */
struct cov_stream_item {
    enum cov_stream_event event;
    const char *species, *sequence;
    struct cov_stream_pair pair;
    int64_t length;
};
int cov_stream_next(struct cov_stream *s, struct cov_stream_item *item, struct cov_blob *record,
                    struct cov_err *e) COV_MUST_USE;

#endif
