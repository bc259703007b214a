/* file_kind.h - recognises the kind of a file by its first bytes, for messages about wrong files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_FILE_KIND_H
#define COV_FILE_FILE_KIND_H

#include <stddef.h>

enum cov_kind {
    COV_KIND_UNKNOWN,
    COV_KIND_BAM,
    COV_KIND_CRAM,
    COV_KIND_SAM,
    COV_KIND_FASTA,
    COV_KIND_FASTQ,
    COV_KIND_BED, /* not bedGraph, nor BED with four columns, which resembles it */
    COV_KIND_NARROWPEAK,
    COV_KIND_GFF, /* or GTF */
    COV_KIND_VCF,
    COV_KIND_TAR,
    COV_KIND_HDF5,
    COV_KIND_BIGWIG,
    COV_KIND_BIGBED,
    COV_KIND_STREAM, /* covstream(5) */
    COV_KIND_CKPT,
    COV_KIND_ZIP,
    COV_KIND_GZIP, /* compressed data of an unknown kind */
    COV_KIND_HTML, /* usually an error page of a server */
    COV_KIND_LFS,  /* the text that Git keeps in place of a large file */
};

/* Returns, for example, "a BAM file"; NULL for COV_KIND_UNKNOWN. */
const char *cov_kind_name(enum cov_kind kind);

/* Returns the kind of a file that starts with these bytes; to look inside a gzip file, pass its
 * decompressed bytes. 512 bytes (COV_BGZ_PEEK) are enough, unless comments or a read are longer. */
enum cov_kind cov_kind_of(const void *bytes, size_t n);

#endif
