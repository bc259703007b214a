/* intervals.h - reads the intervals of a track file, bigWig or bedGraph, in file order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_INTERVALS_H
#define COV_TRACK_FORMATS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/file/bgz.h"
#include "common/track/sink.h"

struct cov_intervals;

enum cov_intervals_kind { COV_INTERVALS_NONE, COV_INTERVALS_BIGWIG, COV_INTERVALS_BEDGRAPH };

/* Detects the kind of a file or pipe from its first n <= COV_BGZ_PEEK bytes (uncompressed, for
 * bedGraph); NONE if it is not a track. Text is bedGraph if it has no data lines, or if the first
 * data line, as far as it is within these bytes, may be bedGraph. */
enum cov_intervals_kind cov_intervals_kind_of(const void *bytes, size_t n);

/* Fails with COV_EINPUT if the first n bytes of a file that is not a track resemble one: wiggle
 * text, a header without '#', a negative start, or columns separated by commas. */
int cov_intervals_check_text(const char *name, const void *bytes, size_t n,
                             struct cov_err *e) COV_MUST_USE;

/* Detects the kind of the regular file `path`, and checks its text. NONE for any other kind of
 * file, because it could not be read a second time. */
int cov_intervals_detect(const char *path, enum cov_intervals_kind *kind,
                         struct cov_err *e) COV_MUST_USE;

/* Opens `path`; "-" is bedGraph on standard input. COV_EINPUT if it is neither bigWig nor bedGraph.
 * `n_threads` > 1 decompresses BGZF in parallel. */
int cov_intervals_open(const char *path, unsigned n_threads, struct cov_intervals **out,
                       struct cov_err *e) COV_MUST_USE;

/* Reads bedGraph from an open stream that has not been read. Takes ownership of `in`, even on
 * failure. */
int cov_intervals_new(struct cov_bgz *in, struct cov_intervals **out,
                      struct cov_err *e) COV_MUST_USE;
void cov_intervals_close(struct cov_intervals *t); /* NULL is accepted */

/* The name for messages. */
const char *cov_intervals_name(const struct cov_intervals *t);
enum cov_intervals_kind cov_intervals_kind(const struct cov_intervals *t);

/* The contigs. A bigWig lists all of them, with lengths; a bedGraph has those read so far, with
 * length -1 (unknown). Names are borrowed until the next call of cov_intervals_next. */
size_t cov_intervals_n_contigs(const struct cov_intervals *t);
const char *cov_intervals_contig(const struct cov_intervals *t, size_t i);
int64_t cov_intervals_length(const struct cov_intervals *t, size_t i);

/* The current intervals, borrowed until the next call. */
struct cov_intervals_batch {
    size_t contig;
    size_t n;
    const struct cov_interval *iv;
};

/* Reads the next n > 0 intervals, all on one contig. Intervals of a contig are contiguous in the
 * file, ascending, disjoint, not empty, and inside the contig if its length is known; values are
 * finite. Passes over intervals of the value NaN, and warns of them at the end. Returns 1, or 0 at
 * the end, or a failure, after which every call fails. */
int cov_intervals_next(struct cov_intervals *t, struct cov_intervals_batch *batch,
                       struct cov_err *e) COV_MUST_USE;

/* The location of interval i of the current batch, for messages: "x.bg:17" or "x.bw:
 * chr1:11-20". */
enum { COV_INTERVALS_PLACE = 256 };
void cov_intervals_place(const struct cov_intervals *t, size_t i, char text[COV_INTERVALS_PLACE]);

#endif
