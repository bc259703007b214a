/* alleles.h - which alleles of a variant are scored, and in which window of the genome.
 *
 * The window of a variant begins L / 2 bases before REF, as in ChromBPNet's variant scorer, or at the
 * nearest multiple of `step`, so that variants share windows; near the ends of a sequence it is moved
 * into the sequence. A sequence shorter than L is its own window.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_ALLELES_H
#define COV_JOB_EFFECT_ALLELES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/variants.h"
#include "common/seq/genome.h"
#include "common/seq/names.h"

enum cov_allele_status {
    COV_ALLELE_SCORED,
    COV_ALLELE_UNKNOWN,  /* of a record whose sequence the genome lacks */
    COV_ALLELE_MISMATCH, /* of a record whose REF is not in the genome at its place */
    COV_ALLELE_OVERLAP,  /* "*": deleted by another record */
    COV_ALLELE_OTHER,    /* "<*>", "<NON_REF>": any other allele */
    COV_ALLELE_SYMBOLIC, /* not bases: "<CNV>", a breakend */
    COV_ALLELE_NO_END,   /* "<DEL>", "<DUP>", "<INV>" without END and SVLEN */
    COV_ALLELE_BAD_END,  /* of which one contradicts POS or the other */
    COV_ALLELE_NO_BASES, /* "<INS>" without its bases */
    COV_ALLELE_EMPTY,    /* N in REF or ALT stands for no base, as Sniffles writes it */
    COV_ALLELE_LONG,     /* what it replaces, or ALT, reaches past the window */
    COV_ALLELE_END,      /* ALT is longer than the rest of the sequence, and of each window */
    COV_ALLELE_STATUSES
};

struct cov_allele {
    enum cov_allele_status status;
    size_t n_ref;    /* bases of the genome that it replaces, from POS on */
    size_t codes, n; /* its bases are codes[codes .. codes+n) of struct cov_alleles */
    bool has_codes;
};

/* Empty if all zero; reused for record after record. */
struct cov_alleles {
    enum cov_allele_status status; /* SCORED, UNKNOWN or MISMATCH */
    size_t seq;                    /* in the genome */
    int64_t beg;                   /* the window's first base */
    size_t n_codes; /* bases from there on that the window and its versions need, at most 2 L */
    size_t at;      /* POS in the window */
    size_t n_ref;   /* bases of REF */
    size_t n_scored;
    struct cov_allele *items; /* [n_alleles]: those of ALT */
    size_t n_alleles;
    bool is_swapped; /* MISMATCH, but an allele of ALT is what the genome has */
    char found[32];  /* MISMATCH: the first bases of the genome there; "" past its end */
    /* Private, except as given above. */
    uint8_t *codes;
    size_t cap_items, cap_codes;
};

struct cov_effect_genome {
    const struct cov_genome *genome;
    struct cov_names *names; /* numbered as in the genome. Owned */
};

int cov_effect_genome_init(struct cov_effect_genome *g, const struct cov_genome *genome,
                           struct cov_err *e) COV_MUST_USE;
void cov_effect_genome_fini(struct cov_effect_genome *g); /* safe on zeros */

/* Finds the alleles of a record, for windows of L bases that begin at multiples of step <= L / 2. REF
 * matches where each of its bases shares a base with the genome's IUPAC code; so N matches everything.
 * A deletion whose ALT is N, and an insertion whose REF is N, are EMPTY: it is unknown whether N is a
 * base of the genome. An insertion after an N of the genome (N, NACG) is scored. A symbolic allele (symbolic.h) is
 * as a record that has the same change as bases, of which the first is the genome's at POS; it has
 * codes only if it is scored. A record whose END is after its sequence is a MISMATCH. */
int cov_alleles_find(struct cov_alleles *p, const struct cov_effect_genome *g, size_t L,
                     size_t step, const struct cov_variant *v, struct cov_err *e) COV_MUST_USE;
void cov_alleles_fini(struct cov_alleles *p);

#endif
