/* peak_file.h - writes peaks as text: narrowPeak, broadPeak, gappedPeak or BED, plain or BGZF.
 *
 * Columns are those of ENCODE: contig, first base (from 0), end, name, score, ".", then
 *   narrowPeak  signalValue, -1, -1, offset of the summit
 *   broadPeak   signalValue, -1, -1
 *   gappedPeak  thickStart, thickEnd, 0, number of blocks, their sizes and offsets, signalValue, -1,
 *               -1
 *
 * The score is 10 times the largest value, without its fraction, at most 1000.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_PEAK_FILE_H
#define COV_TRACK_FORMATS_PEAK_FILE_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/track/measures/peaks.h"

enum cov_peak_format {
    COV_PEAKS_NARROW,
    COV_PEAKS_BROAD,
    COV_PEAKS_GAPPED,
    COV_PEAKS_BED,
    COV_PEAKS_SUMMITS, /* BED: the summit of each peak, one base */
};

/* Strings are borrowed until free. */
struct cov_peak_file_options {
    enum cov_peak_format format;
    bool compress;      /* BGZF */
    bool mean;          /* signalValue is the mean of all bases, not the largest value */
    const char *prefix; /* peaks are called "<prefix>_peak_1" and so on */
    const char *name;   /* of the file, for messages */
};

struct cov_peak_file;

/* Writes to `path`, or "-". Free with cov_peak_file_free. */
int cov_peak_file_open(const char *path, const struct cov_peak_file_options *options,
                       struct cov_peak_file **out, struct cov_err *e) COV_MUST_USE;

/* Writes a peak. gappedPeak: blocks[n] are the narrow peaks in it, ascending; its first and last
 * base become blocks of one base unless they are in one. */
int cov_peak_file_add(struct cov_peak_file *f, const char *contig, const struct cov_peak *peak,
                      const struct cov_peak *blocks, size_t n, struct cov_err *e) COV_MUST_USE;

int cov_peak_file_close(struct cov_peak_file *f, struct cov_err *e) COV_MUST_USE;
/* A file that was not closed is incomplete. NULL is accepted. */
void cov_peak_file_free(struct cov_peak_file *f);

#endif
