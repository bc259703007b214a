/* variants.h - reads the records of a VCF or BCF file in order, and writes them with another INFO
 * field.
 *
 * The only module that uses htslib for variants. A reader, its records and the files they are
 * written to belong to one thread.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_VARIANTS_H
#define COV_FEATURES_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct bcf1_t;
struct bcf_hdr_t;

/* A record; the strings are borrowed until the record is read again. */
struct cov_variant {
    const char *contig, *id; /* id: "." if there is none */
    int64_t pos;             /* of the first base of REF, 0-based; -1 before the first base */
    size_t n_alleles;        /* > 0 */
    char **alleles;          /* REF, then ALT; only REF where ALT is "." */
    int64_t number;          /* in the file, from 1 */
    /* Private. NULL: without INFO. */
    struct bcf1_t *record;
    struct bcf_hdr_t *header;
};

int cov_variant_init(struct cov_variant *v, struct cov_err *e) COV_MUST_USE;
void cov_variant_fini(struct cov_variant *v); /* safe on zeros, and safe to call twice */
/* Returns the memory of the record. */
size_t cov_variant_bytes(const struct cov_variant *v);

/* An INFO field. */
struct cov_variant_field {
    const char *name, *description;
};

struct cov_variants;

/* Opens a VCF, compressed or not, or a BCF ("-": standard input), and reads its header. With
 * `field`, records can be written: the header gets its line (a text per record, a list). Genotypes
 * are read with `field` or `genotypes`. COV_EINPUT if it is another kind of file, if the header is
 * damaged or has the field with another type, or if a BGZF file lacks its end. Free with
 * cov_variants_close. */
int cov_variants_open(const char *path, const struct cov_variant_field *field, bool genotypes,
                      struct cov_variants **out, struct cov_err *e) COV_MUST_USE;
void cov_variants_close(struct cov_variants *r); /* NULL is accepted */

/* Returns the name of the file for messages. Borrowed until close. */
const char *cov_variants_name(const struct cov_variants *r);

/* Returns the length of a sequence according to the header; 0: the header has none. */
int64_t cov_variants_length(const struct cov_variants *r, const char *contig);

/* Reads the next record into *v. Returns 1, 0 at the end, or a failure; COV_EINPUT names the file and
 * the line, or the number of the record in a BCF. */
int cov_variants_next(struct cov_variants *r, struct cov_variant *v,
                      struct cov_err *e) COV_MUST_USE;

/* Returns true if the header declares the record's sequence, filters and fields, as BCF requires. A
 * reader adds what is missing, so it is missing in the first record only. */
bool cov_variant_is_declared(const struct cov_variant *v);

/* Find value i of an INFO field that has n values, integers or text separated by commas. Return false if
 * the record lacks the field or the value, or has another number of them. *text has *n_text > 0 bytes,
 * and is borrowed until the record is read again or written. */
bool cov_variant_info_text(const struct cov_variant *v, const char *name, size_t i, size_t n,
                           const char **text, size_t *n_text);
bool cov_variant_info_integer(const struct cov_variant *v, const char *name, size_t i, size_t n,
                              int64_t *out);

/* Fails with COV_EINPUT about the record that was read last. */
int cov_variants_fail(const struct cov_variants *r, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(3, 4);

/* ---- genotypes ---- */

/* The samples of a file that was opened with genotypes; names are borrowed until close. */
size_t cov_variants_n_samples(const struct cov_variants *r);
const char *cov_variants_sample(const struct cov_variants *r, size_t sample);

/* Returns the number of genotypes so far whose phase sign before the first allele (VCF 4.4) differs from
 * the next one. It is dropped from records of a VCF, and does not count for the phase. */
int64_t cov_variants_n_signs(const struct cov_variants *r);

/* The genotypes of a record. Empty if all zero; reused for record after record. */
struct cov_genotypes {
    size_t n_samples, ploidy; /* ploidy: the largest; 0: the record has no genotypes */
    /* Private. */
    int32_t *alleles, *sets;
    int n_alleles, n_sets, cap_sets;
};
void cov_genotypes_fini(struct cov_genotypes *g); /* safe on zeros */

/* Reads the genotypes (GT) and phase sets (PS, integers or text) of the record that was read last. */
int cov_variants_genotypes(struct cov_variants *r, struct cov_variant *v, struct cov_genotypes *g,
                           struct cov_err *e) COV_MUST_USE;

enum cov_phase {
    COV_PHASE_NONE, /* it is unknown which copy has which allele */
    COV_PHASE_SET,  /* known relative to the other genotypes of the set */
    COV_PHASE_EQUAL /* all copies have the same allele */
};

/* Returns whether the genotype of a sample is phased, and sets *set to its phase set; 0: none. */
enum cov_phase cov_genotypes_phase(const struct cov_genotypes *g, size_t sample, int32_t *set);
/* Returns the allele of a chromosome copy, 0 for REF; -1 if it is missing or not there. */
int32_t cov_genotypes_allele(const struct cov_genotypes *g, size_t sample, size_t copy);

/* ---- writing ---- */

enum cov_variant_format { COV_VARIANTS_VCF, COV_VARIANTS_VCF_GZ, COV_VARIANTS_BCF };

struct cov_variant_file;

/* Writes a file with the header of `from`, which has a field and is borrowed until free. */
int cov_variant_file_open(const char *path, enum cov_variant_format format,
                          struct cov_variants *from, struct cov_variant_file **out,
                          struct cov_err *e) COV_MUST_USE;

/* Writes a record of `from`, which is declared if the file is a BCF, with this value of the field;
 * NULL: without the field. */
int cov_variant_file_put(struct cov_variant_file *f, struct cov_variant *v, const char *value,
                         struct cov_err *e) COV_MUST_USE;

int cov_variant_file_close(struct cov_variant_file *f, struct cov_err *e) COV_MUST_USE;
/* A file that was not closed is incomplete. NULL is accepted. */
void cov_variant_file_free(struct cov_variant_file *f);

#endif
