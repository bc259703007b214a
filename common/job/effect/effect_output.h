/* effect_output.h - writes the scores of variants: a table, or the variants with an INFO field; and
 * tracks of their predictions.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_OUTPUT_H
#define COV_JOB_EFFECT_EFFECT_OUTPUT_H

#include "common/base/err.h"
#include "common/features/annotation.h"
#include "common/features/nearest.h"
#include "common/features/variants.h"
#include "common/job/effect/effect_background.h"
#include "common/job/effect/effect_batches.h"

/* Returns true if the name ends in .vcf, .vcf.gz or .bcf, and sets *format. */
bool cov_effect_format_of(const char *path, enum cov_variant_format *format);

/* Returns the INFO field of VCF and BCF, whose description is written to `text`. */
enum { COV_EFFECT_FIELD_TEXT = 1000 };
struct cov_variant_field cov_effect_field(const struct cov_effect_options *options,
                                          char text[COV_EFFECT_FIELD_TEXT]);

/* What options add to the rows; each may be NULL. */
struct cov_effect_extras {
    struct cov_haplotypes *haplotypes;
    struct cov_effect_background *background; /* sorted */
    struct cov_nearest *nearest;
    struct cov_annotation genes; /* of nearest */
};

struct cov_effect_output;

/* Writes to `path` (the table also to "-"), in the format that the suffix of options->output tells:
 * VCF, BCF or a table, compressed if it ends in .gz. VCF and BCF: `from` was opened with the field.
 * Borrows its arguments until free. */
int cov_effect_output_open(const char *path, const struct cov_effect_options *options,
                           const struct cov_effect_extras *extras, struct cov_variants *from,
                           struct cov_effect_output **out, struct cov_err *e) COV_MUST_USE;

/* Writes a record. The scores of rows that are not scored are not read. */
int cov_effect_output_put(struct cov_effect_output *o, struct cov_effect_record *record,
                          struct cov_err *e) COV_MUST_USE;

int cov_effect_output_close(struct cov_effect_output *o, struct cov_err *e) COV_MUST_USE;
/* An output that was not closed is incomplete. NULL is accepted. */
void cov_effect_output_free(struct cov_effect_output *o);

/* ---- tracks of each allele, bigWig files in a directory ----
 *
 * For each dataset, three files have the values of the window without and with the change, and their
 * difference, on the genome's positions: bases that the change inserts have no place there, and bases
 * that it deletes have a value only without it. */

/* More files in a directory are unwieldy. */
enum { COV_EFFECT_MAX_TRACKS = 9999 };

struct cov_effect_tracks;

/* Makes the directory options->tracks. Borrows the options until free. */
int cov_effect_tracks_open(const struct cov_effect_options *options, struct cov_effect_tracks **out,
                           struct cov_err *e) COV_MUST_USE;
/* Removes the directory if it is new and empty. NULL is accepted. */
void cov_effect_tracks_free(struct cov_effect_tracks *t);

/* Returns the number of files of n alleles. */
size_t cov_effect_tracks_count(const struct cov_effect_options *options, size_t n);

/* Writes the tracks of the alleles of a record that is scored and has values. COV_EEXIST if a file is
 * there already, unless options->force or options->resume is set. Of a record that is done, only checks
 * that the files are there: COV_EINPUT if not. */
int cov_effect_tracks_put(struct cov_effect_tracks *t, const struct cov_effect_record *record,
                          struct cov_err *e) COV_MUST_USE;

#endif
