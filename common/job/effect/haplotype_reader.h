/* haplotype_reader.h - reads phased variants ahead of the one that is scored. Keeps the variants of
 * its window, and the groups of haplotypes that are equal in all of them (haplotype_groups.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_HAPLOTYPE_READER_H
#define COV_JOB_EFFECT_HAPLOTYPE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/variants.h"
#include "common/job/effect/alleles.h"
#include "common/job/effect/effect_options.h"
#include "common/job/effect/haplotype_groups.h"

/* A changed stretch of the genome, without bases at its ends that an allele does not change. */
struct cov_haplotype_change {
    int64_t at;
    size_t n_old, codes, n_new;
    bool valid;
};

/* A record that has been read; the groups of haplotypes have a record for each. */
struct cov_haplotype_record {
    int64_t number, pos;
    size_t seq, n_ref, n_alleles;         /* n_alleles: of ALT */
    struct cov_haplotype_change *changes; /* [n_alleles] */
    uint8_t *codes;
    size_t n_bytes; /* of memory */
};

/* Private, except as given. */
struct cov_haplotype_reader {
    const struct cov_effect_genome *g;
    size_t L;
    size_t most; /* bytes of the rows of a record, or of the alleles of a window. Public */
    struct cov_variants *in;             /* public */
    struct cov_haplotype_groups *groups; /* public: of the records that are kept */
    bool has_sets;                       /* public: genotypes have phase sets */
    struct cov_variant record;
    struct cov_alleles alleles;
    struct cov_genotypes genotypes;
    bool *is_used; /* [n_samples] */
    bool *is_seen; /* [sequences of the genome] */
    bool at_end;
    int64_t number, pos; /* of the last record that was read */
    size_t seq;          /* SIZE_MAX: none, or not in the genome */
    /* Those that are kept, ascending: records[first ..]. */
    struct cov_haplotype_record *records;
    size_t first, n, cap, n_bytes; /* n: public */
    uint8_t *ref;                  /* scratch */
    size_t cap_ref;
    int64_t n_phased, n_unphased; /* genotypes with an allele of ALT */
};

/* Checks the file, warns of genotypes that are in no haplotype, and opens it: see
 * cov_haplotypes_open. */
int cov_haplotype_reader_open(const struct cov_effect_options *options,
                              const struct cov_effect_genome *g, struct cov_haplotype_reader **out,
                              struct cov_err *e) COV_MUST_USE;
void cov_haplotype_reader_close(struct cov_haplotype_reader *r); /* NULL is accepted */

/* Returns the i-th record that is kept. Valid until one is read or dropped. */
const struct cov_haplotype_record *cov_haplotype_reader_record(const struct cov_haplotype_reader *r,
                                                               size_t i);

/* Reads all records of the sequence before this position, and at least the one of this number. COV_EINPUT
 * if those that are kept need too much memory. */
int cov_haplotype_reader_until(struct cov_haplotype_reader *r, size_t seq, int64_t pos,
                               int64_t number, struct cov_err *e) COV_MUST_USE;

/* Drops records before that of this number which do not begin in a window from `beg` on. */
int cov_haplotype_reader_drop(struct cov_haplotype_reader *r, size_t seq, int64_t beg,
                              int64_t number, struct cov_err *e) COV_MUST_USE;

#endif
