/* bedgraph.h - writes and reads tracks as bedGraph: contig, beg, end, value; 0-based, half-open.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BEDGRAPH_H
#define COV_TRACK_FORMATS_BEDGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/file/bgz.h"
#include "common/track/sink.h"

/* ---- writing ---- */

struct cov_bedgraph_options {
    bool compress;      /* BGZF */
    unsigned n_threads; /* for compression */
    /* Path of the tabix index of a compressed file, as .tbi and as .csi; see
     * cov_bedgraph_needs_csi. Both NULL: no index. Borrowed. */
    const char *tbi_path, *csi_path;
};

/* Writes lines separated by tabs to `path` ("-": standard output). Integers have no decimals; other
 * values have nine significant digits, which is enough to recover the exact float. There are no
 * track or comment lines, because the readers of UCSC and MACS treat them differently. `name` is
 * for messages. Borrows name, contigs and the index paths until cov_track_free. COV_EINPUT for a
 * contig whose name has white space or control characters; for an announced contig, it is
 * cov_track_begin_named that fails. Warns about a name that readers mistake for a comment or
 * header. */
int cov_bedgraph_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                      const struct cov_bedgraph_options *options, struct cov_track_sink **out,
                      struct cov_err *e) COV_MUST_USE;

/* Returns true if the index must be a .csi: a contig is longer than the 2^29 bases that a .tbi
 * supports. For announced contigs, call it after the last one has ended. */
bool cov_bedgraph_needs_csi(const struct cov_track_sink *s);
bool cov_bedgraph_list_needs_csi(const struct cov_track_contigs *contigs);

/* Maximum size of a value as text, including the terminating zero. */
enum { COV_BEDGRAPH_VALUE_BYTES = 32 };

/* Formats a value; returns the length without the terminating zero. */
size_t cov_bedgraph_format_value(float value, char text[COV_BEDGRAPH_VALUE_BYTES]);

/* ---- reading ---- */

struct cov_bedgraph_reader;

/* Reads an open stream that has not been read: lines separated by tabs or blanks. Skips blank lines,
 * and lines that begin with '#' or the word `track` or `browser`. Any other line must be data;
 * otherwise the error is "<path>:<line>: ..." (COV_EINPUT). Takes ownership of `in`, even on
 * failure. Memory: 1.5 MB, and the names of the contigs. */
int cov_bedgraph_reader_new(struct cov_bgz *in, struct cov_bedgraph_reader **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_bedgraph_reader_close(struct cov_bedgraph_reader *r); /* NULL is accepted */

/* The contigs read so far, in order. Names are borrowed until the next call of
 * cov_bedgraph_reader_next. */
size_t cov_bedgraph_reader_n_contigs(const struct cov_bedgraph_reader *r);
const char *cov_bedgraph_reader_contig(const struct cov_bedgraph_reader *r, size_t i);

/* Reads the next *n > 0 intervals, all on one contig, and their line numbers; borrowed until the
 * next call. Intervals of a contig are contiguous in the file, ascending, disjoint and not empty;
 * values are finite (the nearest double, as a float); intervals of the value nan are passed over.
 * Returns 1, or 0 at the end, or a failure, after which every call fails. */
int cov_bedgraph_reader_next(struct cov_bedgraph_reader *r, size_t *contig,
                             const struct cov_interval **iv, const size_t **lines, size_t *n,
                             struct cov_err *e) COV_MUST_USE;

/* Returns the number of intervals of the value nan so far. */
uint64_t cov_bedgraph_reader_n_gaps(const struct cov_bedgraph_reader *r);

#endif
