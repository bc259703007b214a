/* signal_source.h - what cov2bigwig reads: an HDF5 file with signal, or a chunk stream.
 *
 * Of a file the pairs of chunks are read in any order, of a stream as they come. One thread reads,
 * any thread decodes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_SIGNAL_SOURCE_H
#define COV_JOB_TRACKS_SIGNAL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/seq/grid.h"
#include "common/store/signal_file.h"
#include "common/store/stream.h"

struct cov_signal_source;

/* What is stored of a pair, on its way to values. All zero is an empty one. */
struct cov_signal_piece {
    struct cov_blob raw[2]; /* of each strand; of a stream the record, and scratch */
    size_t rows[2];         /* of a file */
};

void cov_signal_piece_fini(struct cov_signal_piece *p);

/* HDF5, or a stream: found by content; "-" is a stream on standard input. `in` is a stream, opened and
 * not read from, or NULL: it is opened by its name. Owns `in`, after a failure too. */
int cov_signal_source_open(const char *path, struct cov_bgz *in, enum cov_signal_kind kind,
                           struct cov_signal_source **out, struct cov_err *e) COV_MUST_USE;
void cov_signal_source_close(struct cov_signal_source *s); /* NULL is accepted */

/* Borrowed until close. The grid is NULL for a stream. */
const char *cov_signal_source_name(const struct cov_signal_source *s); /* for messages */
const struct cov_grid *cov_signal_source_grid(const struct cov_signal_source *s);
size_t cov_signal_source_chunk_length(const struct cov_signal_source *s);
size_t cov_signal_source_n_datasets(const struct cov_signal_source *s);
const char *cov_signal_source_dataset(const struct cov_signal_source *s, size_t k);
bool cov_signal_source_has_gaps(const struct cov_signal_source *s);
bool cov_signal_source_is_float(const struct cov_signal_source *s, size_t k);

/* Of a file: fetches rows[strand] of the data sets, but for strands that are COV_NO_ROW. */
int cov_signal_source_fetch(struct cov_signal_source *s, const size_t rows[2], const size_t *ks,
                            size_t n_ks, struct cov_signal_piece *piece,
                            struct cov_err *e) COV_MUST_USE;

/* Of a stream: the next record; that of a pair goes to *piece. See cov_stream_next. */
int cov_signal_source_next(struct cov_signal_source *s, struct cov_stream_item *item,
                           struct cov_signal_piece *piece, struct cov_err *e) COV_MUST_USE;

/* values[strand][n_ks][L], in each chunk's own direction, for the strands whose values[] are not
 * NULL. `sequence` is for messages about a stream. See cov_signal_file_decode. */
int cov_signal_source_decode(const struct cov_signal_source *s, const char *sequence,
                             const size_t *ks, size_t n_ks, struct cov_signal_piece *piece,
                             float *const values[2], struct cov_err *e) COV_MUST_USE;

#endif
