/* pair_writer.h - writes a file of chunks pair by pair, although the length of a sequence is known
 * only at its end.
 *
 * Rows are in Helixer's order: the + chunks of a sequence in order, then its - chunks in reverse
 * order. Until the sequence ends, encoded - chunks wait in memory, and when that is full in an
 * unlinked temporary file. So the output is the same, byte for byte, whether or not the input was a
 * pipe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_PAIR_WRITER_H
#define COV_CHUNK_PAIR_WRITER_H

#include "common/base/err.h"
#include "common/chunk/chunk_file.h"
#include "common/codec/blob.h"

struct cov_pair_writer;

/* Maximum bytes that wait in memory: enough for a chromosome of 100 Mbp. */
enum { COV_PAIR_WRITER_MEMORY = 48 << 20 };

/* Takes ownership of the writer, even on failure; finish and abort close it. Its chunk_rows must be
 * 1. Up to `memory` bytes wait in memory, the rest in a file in `tmpdir`. If `partial` is set,
 * there may be gaps between pairs, and a pair may lack a strand. */
int cov_pair_writer_new(struct cov_chunk_writer *w, size_t L, const char *tmpdir, size_t memory,
                        bool partial, struct cov_pair_writer **out, struct cov_err *e) COV_MUST_USE;

/* All of the following run on HDF5's thread. The caller has checked the order, as stream.h and genome.h
 * do: no sequence occurs twice, each ends before the next one begins, and its pairs ascend to its
 * length. */
int cov_pair_writer_begin(struct cov_pair_writer *p, const char *species, const char *name,
                          struct cov_err *e) COV_MUST_USE;
/* Copies the encoded chunks of [beg, end); a missing strand is NULL. */
int cov_pair_writer_put(struct cov_pair_writer *p, int64_t beg, int64_t end,
                        const struct cov_blob *plus, const struct cov_blob *minus,
                        struct cov_err *e) COV_MUST_USE;
int cov_pair_writer_end(struct cov_pair_writer *p, int64_t length, struct cov_err *e) COV_MUST_USE;

/* Completes and closes the file; always frees *p. */
int cov_pair_writer_finish(struct cov_pair_writer *p, struct cov_err *e) COV_MUST_USE;
void cov_pair_writer_abort(struct cov_pair_writer *p); /* NULL is accepted */

#endif
