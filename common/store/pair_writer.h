/* pair_writer.h - a file of chunks written pair by pair, when how long a sequence is, is known only
 * at its end.
 *
 * Rows get Helixer's order: + chunks as they come, - chunks behind them in reverse. Until the
 * sequence ends the encoded - chunks wait, the first in memory, the others in an unlinked temporary
 * file. So the file is the same, to the last byte, whether its input was a pipe or not.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_PAIR_WRITER_H
#define COV_STORE_PAIR_WRITER_H

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/store/chunk_file.h"

struct cov_pair_writer;

/* Bytes that at most wait in memory: those of a chromosome of 100 Mbp. */
enum { COV_PAIR_WRITER_MEMORY = 48 << 20 };

/* Takes the writer, which must have chunk_rows 1, in any case; ends it in finish or abort. Up to
 * `memory` bytes wait in memory; `tmpdir` is for the temporary file. `partial`: pairs may leave
 * holes and lack a strand. */
int cov_pair_writer_new(struct cov_chunk_writer *w, size_t L, const char *tmpdir, size_t memory,
                        bool partial, struct cov_pair_writer **out, struct cov_err *e) COV_MUST_USE;

/* All: HDF5's thread. Sequences one after the other, pairs ascending. */
int cov_pair_writer_begin(struct cov_pair_writer *p, const char *species, const char *name,
                          struct cov_err *e) COV_MUST_USE;
/* The encoded chunks of [beg, end), NULL for a strand that is not there. They are copied. */
int cov_pair_writer_put(struct cov_pair_writer *p, int64_t beg, int64_t end,
                        const struct cov_blob *plus, const struct cov_blob *minus,
                        struct cov_err *e) COV_MUST_USE;
int cov_pair_writer_end(struct cov_pair_writer *p, int64_t length, struct cov_err *e) COV_MUST_USE;

/* Completes and closes the file; frees *p in any case. *grid (may be NULL) is what was written. */
int cov_pair_writer_finish(struct cov_pair_writer *p, struct cov_grid **grid,
                           struct cov_err *e) COV_MUST_USE;
void cov_pair_writer_abort(struct cov_pair_writer *p); /* NULL is accepted */

#endif
