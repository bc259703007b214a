/* symbolic.h - what symbolic alleles of a variant, such as <DEL>, change according to INFO.
 *
 * As VCF 4.4 and 4.5 define them: POS is the base before the change, and END, from 1, the last base that
 * is changed. SVLEN has the number of these bases for each allele, with any sign, and 0 (inversions in
 * VCF 4.3) tells nothing. Sequences are in SEQ (Sniffles and others) or SVINSSEQ (Manta and DRAGEN).
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_SYMBOLIC_H
#define COV_FEATURES_SYMBOLIC_H

#include <stddef.h>
#include <stdint.h>

#include "common/features/variants.h"

enum cov_symbolic_kind {
    COV_SYMBOLIC_NONE,  /* bases, or what is not scored: a breakend, <CNV>, <DUP:INT> */
    COV_SYMBOLIC_DEL,   /* <DEL> and its subtypes, such as <DEL:ME:ALU> */
    COV_SYMBOLIC_DUP,   /* <DUP>, <DUP:TANDEM>: a second copy next to the first */
    COV_SYMBOLIC_INV,   /* <INV> */
    COV_SYMBOLIC_INS,   /* <INS> and its subtypes */
    COV_SYMBOLIC_OTHER, /* <*>, <NON_REF>: any other allele */
};

struct cov_symbolic {
    enum cov_symbolic_kind kind;
    /* DEL, DUP, INV: bases from POS + 1 on that are changed, > 0; 0: neither END nor SVLEN is there;
     * negative: they contradict POS or each other. */
    int64_t n_bases;
    /* Bases that INS inserts, and those that DEL inserts in their place, and DUP between both copies.
     * n_seq = 0: none. Borrowed as in cov_variant_info_text. */
    const char *seq;
    size_t n_seq;
};

/* Describes allele i > 0 of a record. */
void cov_symbolic_find(const struct cov_variant *v, size_t i, struct cov_symbolic *out);

#endif
