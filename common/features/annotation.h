/* annotation.h - the features of an annotation: a GFF3, GTF or BED file.
 *
 * GFF3 and GTF: columns separated by tabs; the third is the type of the feature, the fourth and
 * fifth its first and last base, from 1. BED: columns separated by tabs or blanks; start and end,
 * from 0, then a name, a score and a strand if there are any; a + or - in the place of the name or
 * of the score is the strand, with a warning, if column 6 has none. The first line that is neither blank,
 * a comment, "track" nor "browser" decides which it is. "##FASTA" ends a GFF3. Features over
 * the origin of a sequence that a GFF3 declares to be circular are left out, with a warning.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_ANNOTATION_H
#define COV_FEATURES_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/seq/names.h"

/* Families of features; others have greater numbers. */
enum {
    COV_FAMILY_UNKNOWN, /* a part without a parent, or the parent is not in the file */
    COV_FAMILY_OTHER    /* a part of something that is not of the first type */
};

/* Bases beg .. end-1, 0-based. */
struct cov_feature {
    int64_t beg, end;
    uint32_t contig; /* number in the names of contigs */
    uint32_t line;   /* in the file; the largest number if it has more lines */
    size_t text;     /* private */
    char strand;     /* '+', '-' or '.' */
    uint8_t type;    /* its place in the list of types; 0 in a BED file */
    uint32_t family; /* see cov_annotation_read */
};

/* Empty if all zero. */
struct cov_annotation {
    const char *path;          /* borrowed */
    bool is_bed;               /* which has no types of features */
    struct cov_names *contigs; /* in the order of the file. Owned */
    struct cov_feature *items; /* [n], ascending by contig, start, end and line. Owned */
    size_t n, cap;
    /* Private. */
    char *text;
    size_t n_text, cap_text;
};

enum { COV_ANNOTATION_TYPES = 8 };

/* Reads the features of the type `type`, or all lines of a BED file, from `path`, compressed or
 * not. `type` may be a list of up to COV_ANNOTATION_TYPES types, separated by commas, or NULL
 * to accept BED only. The name of a feature is its ID or Name (GFF3), its transcript_id or gene_id (GTF; of genes
 * the gene_id only), or the fourth column (BED), cut after 255 bytes; in GFF3,
 * escapes such as %20 are replaced in names and sequences. In GTF the last column may also be the ID
 * alone. COV_EINPUT, with file and
 * line, for a malformed line; without line, if there are no features; the message lists the types
 * that are there. COV_EINPUT also if a file has over 100000 features and more of them than bytes:
 * these are a few lines, over and over.
 *
 * With `has_families`, finds out which features of the first type the others are parts of: these have
 * the same `family`. A part with several parents is there several times. GFF3: by Parent, also
 * through lines of any type, such as mRNA. GTF: by gene_id, or transcript_id if the first type is
 * not gene. Takes memory for the ID of each line while it reads. The name of a feature is its label
 * in pictures: its Name (GFF3) or gene_name if it has one, else as above, without "gene:".
 *
 * Free with cov_annotation_fini, also after a failure. */
int cov_annotation_read(const char *path, const char *type, bool has_families,
                        struct cov_annotation *out, struct cov_err *e) COV_MUST_USE;
void cov_annotation_fini(struct cov_annotation *a);

/* A genome or track that has the features. */
struct cov_annotation_target {
    const char *name;                /* for messages */
    const int64_t *lengths;          /* of the annotation's contigs; 0: it lacks them */
    bool has_lengths;                /* false: other lengths than 0 may be wrong */
    const struct cov_listing *known; /* its sequences */
    bool warns;
};

/* COV_EINPUT if a feature ends after its sequence, or if the target has none of the sequences. Warns about
 * features on other sequences. */
int cov_annotation_fit(const struct cov_annotation *a, const struct cov_annotation_target *target,
                       struct cov_err *e) COV_MUST_USE;

/* Return the name of feature i, "" if it has none, and the text of its score, "." if it has none.
 * Borrowed until fini. */
const char *cov_annotation_name(const struct cov_annotation *a, size_t i);
const char *cov_annotation_score(const struct cov_annotation *a, size_t i);

#endif
