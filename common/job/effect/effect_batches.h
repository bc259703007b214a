/* effect_batches.h - predicts the alleles of variants, a batch of windows at a time, and scores them.
 *
 * With shuffles, both alleles are also predicted in shuffled DNA: the window's bases with the same
 * dinucleotides in another order (cov_dinucleotide_shuffle), except REF, as in ChromBPNet's variant
 * scorer. A shuffle depends on the seed, the number of the variant in the file, and the number of the
 * shuffle.
 *
 * In haplotypes, the window with all their alleles is predicted, of which many variants share the work,
 * and the same with the genome's bases instead of the allele.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_BATCHES_H
#define COV_JOB_EFFECT_EFFECT_BATCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/compute/device.h"
#include "common/features/variants.h"
#include "common/job/effect/alleles.h"
#include "common/job/effect/effect_haplotypes.h"
#include "common/job/effect/effect_options.h"
#include "common/job/effect/effect_scores.h"

/* Predicted values of an allele, for tracks: [L,D] without and with the change. */
struct cov_effect_values {
    float *values[2]; /* the second is part of the first. Owned */
    size_t n_bases[2];
};

/* Empty if all zero. */
struct cov_effect_record {
    struct cov_variant variant;
    struct cov_alleles alleles;
    struct cov_effect_rows rows;
    struct cov_effect_score *scores; /* [rows.n][n_datasets][n_widths] */
    size_t n_scores, cap_scores;
    struct cov_effect_values
        *values; /* [cap_values], with options->tracks: of each allele of ALT */
    size_t cap_values;
    bool done;      /* has scores already */
    bool is_random; /* needs neither shuffles nor values for tracks */
};

void cov_effect_record_fini(struct cov_effect_record *r); /* safe on zeros */

/* Returns the memory of a record, without its values for tracks. */
size_t cov_effect_record_bytes(const struct cov_effect_record *r);
/* Frees a record that is large. */
void cov_effect_record_trim(struct cov_effect_record *r);

struct cov_effect_batches;

/* Prepares the networks and n_workers batches. Borrows the options until free. */
int cov_effect_batches_new(const struct cov_effect_options *options, unsigned n_workers,
                           struct cov_effect_batches **out, struct cov_err *e) COV_MUST_USE;
void cov_effect_batches_free(struct cov_effect_batches *b); /* NULL is accepted */

/* Return the number of windows and edited windows of a batch, at least 2, and of a variant. */
size_t cov_effect_batches_size(const struct cov_effect_batches *b);
size_t cov_effect_batches_versions(const struct cov_effect_batches *b,
                                   const struct cov_effect_record *record);

/* Sets the scores of the rows that are scored, in records that are not done. Workers <
 * n_workers may call it at the same time. */
int cov_effect_batches_score(struct cov_effect_batches *b, unsigned worker,
                             struct cov_effect_record *records, size_t n,
                             struct cov_err *e) COV_MUST_USE;

/* Returns the work so far; call it only while nothing is scored. */
void cov_effect_batches_counts(const struct cov_effect_batches *b, struct cov_forward_counts *out);

#endif
