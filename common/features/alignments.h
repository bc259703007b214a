/* alignments.h - reads the records of a BAM, CRAM or SAM file in order.
 *
 * The only module that uses htslib for alignment files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_ALIGNMENTS_H
#define COV_FEATURES_ALIGNMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Flags of the SAM specification. */
enum {
    COV_READ_PAIRED = 0x1,
    COV_READ_PROPER_PAIR = 0x2,
    COV_READ_UNMAPPED = 0x4,
    COV_READ_MATE_UNMAPPED = 0x8,
    COV_READ_REVERSE = 0x10,
    COV_READ_SECOND = 0x80,
    COV_READ_SECONDARY = 0x100,
    COV_READ_QC_FAIL = 0x200,
    COV_READ_DUPLICATE = 0x400,
    COV_READ_SUPPLEMENTARY = 0x800,
    COV_READ_ALL = 0xffff
};

/* Parses flags as samtools does: a number (decimal, 0x.. or octal 0..) or a name ("UNMAP"), or
 * several separated by commas, which are combined. COV_EUSAGE, with `what`, for any other text. */
int cov_read_flags_parse(const char *text, const char *what, unsigned *flags,
                         struct cov_err *e) COV_MUST_USE;

/* CIGAR operations, numbered as in BAM. An element is length << 4 | operation. */
enum {
    COV_CIGAR_M,
    COV_CIGAR_I,
    COV_CIGAR_D,
    COV_CIGAR_N,
    COV_CIGAR_S,
    COV_CIGAR_H,
    COV_CIGAR_P,
    COV_CIGAR_EQ,
    COV_CIGAR_X
};

struct cov_read {
    const char *name; /* borrowed until the next read */
    int contig;       /* number in the file; negative: none */
    int64_t pos;      /* leftmost base, 0-based */
    unsigned flags, mapq;
    const uint32_t *cigar; /* borrowed until the next read */
    size_t n_cigar;
    int mate_contig;
    int64_t mate_pos;        /* 0-based; negative: none */
    int64_t template_length; /* TLEN: positive on the leftmost read of a pair */
    bool is_fragment;        /* not a read but a fragment, whose strand is unknown */
};

struct cov_alignments;

struct cov_alignments_options {
    const char *reference; /* FASTA with index, for CRAM; NULL: htslib finds it */
    unsigned n_threads;    /* for decompression; 1: only the caller's */
};

/* Opens a file and reads its header. COV_EINPUT if it is not an alignment file, has no header, or
 * is truncated. Warns if its index is older than the file. */
int cov_alignments_open(const char *path, const struct cov_alignments_options *options,
                        struct cov_alignments **out, struct cov_err *e) COV_MUST_USE;
void cov_alignments_close(struct cov_alignments *a); /* NULL is accepted */

size_t cov_alignments_n_contigs(const struct cov_alignments *a);
const char *cov_alignments_contig(const struct cov_alignments *a, size_t i); /* borrowed until
                                                                              * close */
int64_t cov_alignments_contig_length(const struct cov_alignments *a, size_t i);

/* Returns true if the header says that reads are sorted by coordinate. */
bool cov_alignments_is_sorted(const struct cov_alignments *a);

/* Returns the number of reads according to the index, or -1. */
int64_t cov_alignments_n_reads(const struct cov_alignments *a);

/* Reads the next record. Returns 1, or 0 at the end. COV_EINPUT if the file is damaged or
 * truncated. */
int cov_alignments_next(struct cov_alignments *a, struct cov_read *read,
                        struct cov_err *e) COV_MUST_USE;

#endif
