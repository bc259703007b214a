/* bedgraph.h - tracks as bedGraph: contig, beg, end, value, tab separated, 0-based, half-open.
 *
 * Integers have no decimals, other values nine significant digits (which give a float back). No
 * track or comment lines: UCSC's and MACS's readers differ on them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BEDGRAPH_H
#define COV_TRACK_FORMATS_BEDGRAPH_H

#include <stdbool.h>

#include "common/track/sink.h"

struct cov_bedgraph_options {
    bool compress;      /* BGZF */
    unsigned n_threads; /* that compress */
    /* Where the tabix index of a compressed file goes, as .tbi or as .csi; which of the two it is,
     * cov_bedgraph_needs_csi tells. Both NULL: no index. Borrowed. */
    const char *tbi_path, *csi_path;
};

/* Writes to `path` ("-": standard output); `name` is what messages call it. Borrows name, contigs
 * and the index's paths until cov_track_free. COV_EINPUT names a contig whose name would break the
 * lines: white space or control characters in it (that of an announced one comes from
 * cov_track_begin_named). A name that readers take for a comment or a header gives a warning. */
int cov_bedgraph_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                      const struct cov_bedgraph_options *options, struct cov_track_sink **out,
                      struct cov_err *e) COV_MUST_USE;

/* Whether an index has to be a .csi: a contig is longer than the 2^29 bases that a .tbi can index.
 * Of announced contigs this is known when the last one has ended. */
bool cov_bedgraph_needs_csi(const struct cov_track_sink *s);
bool cov_bedgraph_list_needs_csi(const struct cov_track_contigs *contigs);

/* Longest text of a value, with a zero behind it. */
enum { COV_BEDGRAPH_VALUE_BYTES = 32 };

/* The value as text; returns its length without the zero. */
size_t cov_bedgraph_format_value(float value, char text[COV_BEDGRAPH_VALUE_BYTES]);

#endif
