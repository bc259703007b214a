/* loader_stream.h - reads pairs from a chunk stream, for loader.c only. Reads one pair ahead to
 * know which pair is the last of its sequence. Drops sequences outside the length limits.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_LOADER_STREAM_H
#define COV_INPUT_LOADER_STREAM_H

#include "common/base/err.h"
#include "common/chunk/stream.h"
#include "common/codec/codec.h"
#include "common/input/loader_item.h"
#include "common/seq/genome.h"

struct cov_loader_stream;

/* Takes ownership of *b, even on failure. COV_EINPUT for a stream without bases. Uses the length
 * limits and tmpdir of the options, which are borrowed until close. Free with
 * cov_loader_stream_close. */
int cov_loader_stream_open(struct cov_bgz *b, const struct cov_genome_options *options,
                           struct cov_loader_stream **out, struct cov_err *e) COV_MUST_USE;
void cov_loader_stream_close(struct cov_loader_stream *s); /* NULL is accepted */

size_t cov_loader_stream_chunk_length(const struct cov_loader_stream *s);
bool cov_loader_stream_is_partial(const struct cov_loader_stream *s);

/* As in loader.h; name and species are those of the last item. */
int cov_loader_stream_next(struct cov_loader_stream *s, struct cov_loader_item *item,
                           struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;
int cov_loader_stream_codes(const struct cov_loader_stream *s, const struct cov_blob *raw,
                            uint8_t *const codes[2], struct cov_err *e) COV_MUST_USE;
const char *cov_loader_stream_name(const struct cov_loader_stream *s);
const char *cov_loader_stream_species(const struct cov_loader_stream *s);

#endif
