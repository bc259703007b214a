/* effect_haplotypes.h - the DNA in which the alleles of a variant are scored: that of the genome or,
 * with phased genotypes, that of each haplotype that carries the allele.
 *
 * A haplotype has the alleles of one chromosome copy of a sample. Genotypes are phased if their
 * alleles are separated by '|', if all alleles are equal, or if there is only one. With phase sets
 * (PS), heterozygous genotypes are combined only within a set. A row has the haplotypes that are
 * equal in the window of the variant.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_HAPLOTYPES_H
#define COV_JOB_EFFECT_EFFECT_HAPLOTYPES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/variants.h"
#include "common/job/effect/alleles.h"
#include "common/job/effect/edited_windows.h"
#include "common/job/effect/haplotype_reader.h"

struct cov_haplotype {
    uint32_t sample, copy; /* copy: from 0 */
};

/* What is scored and written together: an allele, in the genome or in equal haplotypes. */
struct cov_effect_row {
    size_t allele; /* of ALT */
    enum cov_allele_status status;
    /* rows.edits[edits ..]: what the haplotypes change in the window, ascending, without overlaps;
     * 0: the genome. */
    size_t edits, n_edits;
    size_t own;          /* the number of the allele's own change among them */
    size_t codes;        /* rows.codes[codes ..]: bases of the edits */
    size_t restored;     /* rows.codes[restored ..]: bases of the genome that it replaces */
    size_t at;           /* REF in the window of the haplotypes */
    size_t n_codes;      /* bases that this window needs */
    size_t haps, n_haps; /* rows.haps[haps ..] */
    size_t first;        /* of these, for the order of rows */
};

/* The rows of a record. Empty if all zero; reused for record after record. */
struct cov_effect_rows {
    struct cov_effect_row *rows;
    size_t n, cap;
    struct cov_edit *edits; /* of the window of the genome */
    size_t n_edits, cap_edits;
    uint8_t *codes;
    size_t n_codes, cap_codes;
    struct cov_haplotype *haps;
    size_t n_haps, cap_haps;
};

void cov_effect_rows_fini(struct cov_effect_rows *r); /* safe on zeros */

/* Sets a row for each allele, in the genome. */
int cov_effect_rows_plain(struct cov_effect_rows *r, const struct cov_alleles *alleles,
                          struct cov_err *e) COV_MUST_USE;

/* Returns the place in the genome's window of base i of a row's window without its own change; for an
 * inserted base, that of the base before it. */
size_t cov_effect_row_place(const struct cov_effect_rows *r, const struct cov_effect_row *row,
                            size_t i);

struct cov_haplotypes;

/* Opens the variants, options->input, to read ahead of the record that is scored; before, reads them to
 * the end. They must be sorted: those of a sequence together, by position. COV_EINPUT if they are not,
 * if there are no samples or not these, or for genotypes with other alleles than those of the record.
 * Borrows g until free. */
int cov_haplotypes_open(const struct cov_effect_options *options, const struct cov_effect_genome *g,
                        struct cov_haplotypes **out, struct cov_err *e) COV_MUST_USE;
void cov_haplotypes_free(struct cov_haplotypes *h); /* NULL is accepted */

size_t cov_haplotypes_n_samples(const struct cov_haplotypes *h); /* NULL: 0 */
/* Returns the name of a sample. Borrowed until free. */
const char *cov_haplotypes_sample(const struct cov_haplotypes *h, size_t sample);

/* Sets the rows of a record: for each allele those of the haplotypes that carry it, or that of the
 * genome if there are none. Records come in the order of the file. COV_EINPUT for a file that is not
 * sorted. */
int cov_haplotypes_rows(struct cov_haplotypes *h, const struct cov_variant *v,
                        const struct cov_alleles *alleles, struct cov_effect_rows *rows,
                        struct cov_err *e) COV_MUST_USE;

#endif
