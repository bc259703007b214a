/* effect_tally.h - what became of the variants of a file: counts for --stats, and the warnings and errors
 * that tell a user why there are no scores.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_TALLY_H
#define COV_JOB_EFFECT_EFFECT_TALLY_H

#include <stdint.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/features/variants.h"
#include "common/job/effect/alleles.h"
#include "common/job/effect/effect_haplotypes.h"
#include "common/job/effect/effect_options.h"

/* Empty if all zero. */
struct cov_effect_tally {
    int64_t n_records, n_alleles[COV_ALLELE_STATUSES];
    int64_t n_scored, n_unknown, n_mismatches, n_swapped; /* records */
    int64_t n_cut, n_cut_by_window;                       /* rows, see cov_effect_tally_add_rows */
    int64_t n_resumed;                /* records that an earlier run scored; -1: there is none */
    char unknown[200], mismatch[200]; /* the first of them */
};

/* Compares the lengths of sequences in the header with those of the genome. Warns of differences, or with
 * --strict returns COV_EINPUT. */
int cov_effect_tally_check_lengths(const struct cov_variants *in,
                                   const struct cov_effect_options *o,
                                   struct cov_err *e) COV_MUST_USE;

/* Counts a record of `in` by its alleles. COV_EINPUT with --strict if it does not match the genome. */
int cov_effect_tally_add(struct cov_effect_tally *t, const struct cov_variants *in,
                         const struct cov_effect_options *o, const struct cov_variant *v,
                         const struct cov_alleles *p, struct cov_err *e) COV_MUST_USE;

/* Corrects the counts by the rows in haplotypes: alleles of which no row is scored, and rows that have
 * less than the width because the haplotype moves the variant towards an end of the window. */
void cov_effect_tally_add_rows(struct cov_effect_tally *t, const struct cov_effect_options *o,
                               const struct cov_alleles *p, const struct cov_effect_rows *rows);

/* Fails if no record fits the genome. */
int cov_effect_tally_check(const struct cov_effect_tally *t, const struct cov_variants *in,
                           const struct cov_effect_options *o, struct cov_err *e) COV_MUST_USE;

/* Warns about records without scores. */
void cov_effect_tally_report(const struct cov_effect_tally *t, const struct cov_variants *in);

/* Writes the counts for --stats; arg: a struct cov_effect_tally. */
void cov_effect_tally_json(struct cov_json *json, const void *arg);

#endif
