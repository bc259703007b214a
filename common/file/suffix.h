/* suffix.h - the suffixes of file names that covtools knows, and what they stand for.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_SUFFIX_H
#define COV_FILE_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>

enum cov_suffix_kind {
    COV_SUFFIX_NONE, /* none, or an unknown one */
    /* cov_path_stem removes these. */
    COV_SUFFIX_HDF5,
    COV_SUFFIX_FASTA,
    COV_SUFFIX_BAM, /* or CRAM */
    COV_SUFFIX_SAM,
    COV_SUFFIX_BEDGRAPH,
    COV_SUFFIX_BED,
    COV_SUFFIX_BIGWIG,
    COV_SUFFIX_CKPT,
    COV_SUFFIX_LAST_OF_STEM = COV_SUFFIX_CKPT,
    /* It keeps these. */
    COV_SUFFIX_PEAKS,
    COV_SUFFIX_PICTURE,
    COV_SUFFIX_TEXT, /* tables */
    COV_SUFFIX_JSON,
    COV_SUFFIX_VARIANTS, /* VCF, BCF */
    COV_SUFFIX_ARRAYS,   /* of NumPy */
    COV_SUFFIX_INPUT,    /* FASTQ, annotation: covtools never writes them */
};

struct cov_suffix {
    const char *text; /* ".bw" */
    enum cov_suffix_kind kind;
};

/* Returns the known suffix at the end of name[0..n), ignoring case; the name must be longer. NULL
 * if there is none. ".gz" is not among them. */
const struct cov_suffix *cov_suffix_find(const char *name, size_t n);

/* Returns the length of name[0..n) without ".gz". */
size_t cov_suffix_skip_gz(const char *name, size_t n);

#endif
