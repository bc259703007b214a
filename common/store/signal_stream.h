/* signal_stream.h - reads the signal along a genome, predictions or measured coverage, from a chunk
 * stream; see signal_file.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_SIGNAL_STREAM_H
#define COV_STORE_SIGNAL_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/store/signal_file.h"
#include "common/store/stream.h"

struct cov_signal_stream;

/* Opens a chunk stream at `path` ("-": standard input) and finds its data sets, as
 * cov_signal_file_open does. COV_EINPUT if it has none of the requested kind; the message tells the
 * actual kind. */
int cov_signal_stream_open(const char *path, enum cov_signal_kind kind,
                           struct cov_signal_stream **out, struct cov_err *e) COV_MUST_USE;
/* The same for an open file from which nothing has been read. Takes ownership of `in`, even on
 * failure. */
int cov_signal_stream_new(struct cov_bgz *in, enum cov_signal_kind kind,
                          struct cov_signal_stream **out, struct cov_err *e) COV_MUST_USE;
void cov_signal_stream_close(struct cov_signal_stream *s); /* NULL is accepted */

/* For cov_stream_next. Borrowed until close. */
struct cov_stream *cov_signal_stream_records(const struct cov_signal_stream *s);
const char *cov_signal_stream_name(const struct cov_signal_stream *s); /* for messages. Borrowed */
size_t cov_signal_stream_chunk_length(const struct cov_signal_stream *s);
size_t cov_signal_stream_n_datasets(const struct cov_signal_stream *s);
const char *cov_signal_stream_dataset(const struct cov_signal_stream *s, size_t k); /* Borrowed */
bool cov_signal_stream_has_gaps(const struct cov_signal_stream *s);
bool cov_signal_stream_is_float(const struct cov_signal_stream *s, size_t k);
size_t cov_signal_stream_n_columns(const struct cov_signal_stream *s, size_t k);

/* Adds each column of data set k as a data set, after all others: see cov_signal_split_part. */
int cov_signal_stream_split(struct cov_signal_stream *s, size_t k, struct cov_err *e) COV_MUST_USE;

/* The destination for the data sets ks[0..n_ks). */
struct cov_signal_output {
    const size_t *ks;
    size_t n_ks;
    float *values[2]; /* values[s][n_ks][L] of strand s; NULL: not needed */
};

/* Any thread: fills out->values from the record of a pair, in the direction of each chunk; the
 * record must have the strands whose values are wanted. Otherwise works like
 * cov_signal_file_decode. `sequence` is for messages. *scratch is reused. */
int cov_signal_stream_decode(const struct cov_signal_stream *s, const char *sequence,
                             const struct cov_blob *record, const struct cov_signal_output *out,
                             struct cov_blob *scratch, struct cov_err *e) COV_MUST_USE;

#endif
