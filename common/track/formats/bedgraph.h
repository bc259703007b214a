/* bedgraph.h - writes tracks as bedGraph: contig, beg, end, value; tab-separated, 0-based,
 * half-open.
 *
 * Integers have no decimals; other values have nine significant digits, which is enough to recover
 * the exact float. There are no track or comment lines, because the readers of UCSC and MACS treat
 * them differently.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BEDGRAPH_H
#define COV_TRACK_FORMATS_BEDGRAPH_H

#include <stdbool.h>

#include "common/track/sink.h"

struct cov_bedgraph_options {
    bool compress;      /* BGZF */
    unsigned n_threads; /* for compression */
    /* Path of the tabix index of a compressed file, as .tbi and as .csi; see
     * cov_bedgraph_needs_csi. Both NULL: no index. Borrowed. */
    const char *tbi_path, *csi_path;
};

/* Writes to `path` ("-": standard output); `name` is for messages. Borrows name, contigs and the
 * index paths until cov_track_free. COV_EINPUT for a contig whose name has white space or control
 * characters; for an announced contig, it is cov_track_begin_named that fails. Warns about a name
 * that readers mistake for a comment or header. */
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

#endif
