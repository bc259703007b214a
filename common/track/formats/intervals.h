/* intervals.h - the intervals of a track file, bigWig or bedGraph, in the order of the file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_INTERVALS_H
#define COV_TRACK_FORMATS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/track/sink.h"

struct cov_intervals;

enum cov_intervals_kind { COV_INTERVALS_NONE, COV_INTERVALS_BIGWIG, COV_INTERVALS_BEDGRAPH };

/* What the file or pipe that begins with these n <= COV_BGZ_PEEK bytes is (uncompressed, for
 * bedGraph): NONE when they cannot be a track. Text is bedGraph when its first line of data may be
 * one of bedGraph, as far as it is within the bytes, or when there is none. */
enum cov_intervals_kind cov_intervals_kind_of(const void *bytes, size_t n);

/* The same of the regular file `path`; NONE for others, which cannot be looked at twice. */
int cov_intervals_detect(const char *path, enum cov_intervals_kind *kind,
                         struct cov_err *e) COV_MUST_USE;

/* Opens `path`; "-" is bedGraph on standard input. COV_EINPUT when it is neither bigWig nor
 * bedGraph. `n_threads` > 1 decompress BGZF. */
int cov_intervals_open(const char *path, unsigned n_threads, struct cov_intervals **out,
                       struct cov_err *e) COV_MUST_USE;

/* bedGraph from what has been opened, of which nothing was read. Owns `in`, after a failure too. */
int cov_intervals_new(struct cov_bgz *in, struct cov_intervals **out,
                      struct cov_err *e) COV_MUST_USE;
void cov_intervals_close(struct cov_intervals *t); /* NULL is accepted */

/* What messages call it. */
const char *cov_intervals_name(const struct cov_intervals *t);
enum cov_intervals_kind cov_intervals_kind(const struct cov_intervals *t);

/* The contigs: of a bigWig all of them, with their lengths; of bedGraph those that have come so
 * far, of length -1, as it does not say it. Names until the next call of next. */
size_t cov_intervals_n_contigs(const struct cov_intervals *t);
const char *cov_intervals_contig(const struct cov_intervals *t, size_t i);
int64_t cov_intervals_length(const struct cov_intervals *t, size_t i);

/* What came last, borrowed until the next call. */
struct cov_intervals_batch {
    size_t contig;
    size_t n;
    const struct cov_interval *iv;
};

/* The next intervals, n > 0 of them, of one contig. Those of a contig come together, ascend and do
 * not overlap, are not empty, and lie within the contig where its length is known; values are
 * finite. Returns 1, 0 at the end, or a failure, after which every call fails. */
int cov_intervals_next(struct cov_intervals *t, struct cov_intervals_batch *batch,
                       struct cov_err *e) COV_MUST_USE;

/* Where interval i of the last batch is, for messages: "x.bg:17" or "x.bw: chr1:11-20". */
enum { COV_INTERVALS_PLACE = 256 };
void cov_intervals_place(const struct cov_intervals *t, size_t i, char text[COV_INTERVALS_PLACE]);

#endif
