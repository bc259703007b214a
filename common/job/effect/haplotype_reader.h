/* haplotype_reader.h - reads the variants of a file ahead of those that are scored, and groups the
 * haplotypes that are equal in these records.
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

/* ---- groups of haplotypes ----
 *
 * The work for a window does not grow with the number of samples. A record splits the groups whose
 * haplotypes differ in it. Records are dropped from the front; from
 * time to time, groups that are the same without them are merged. */

/* What a haplotype has in a record. All zero: nothing that is known. */
struct cov_call {
    int32_t allele; /* > 0: of ALT */
    int32_t set;
    bool equal; /* all copies carry it */
};

struct cov_group_call {
    uint32_t record;      /* its number */
    struct cov_call call; /* allele > 0 */
};

struct cov_haplotype_groups {
    size_t n_samples, n_copies;
    uint32_t *group_of; /* [n_copies][n_samples]: the group of each haplotype */
    struct cov_call_group *groups;
    size_t n; /* groups */
    uint32_t
        first; /* the number of the first record that is kept; the others have the next numbers */
    /* Private. */
    size_t n_items, cap; /* items: haplotypes */
    size_t cap_calls, cap_group_of;
    struct cov_call *calls;   /* [n_items] */
    uint32_t end;             /* after the records; with those dropped before */
    size_t most, n_cap_calls; /* n_cap_calls: of all groups */
    uint32_t *slots;          /* a hash table of group numbers, from 1 */
    size_t n_slots;           /* a power of two */
};

/* `most`: bytes; more are COV_EINPUT when a record is added. */
int cov_haplotype_groups_new(size_t n_samples, size_t most, struct cov_haplotype_groups **out,
                             struct cov_err *e) COV_MUST_USE;
void cov_haplotype_groups_free(struct cov_haplotype_groups *g); /* NULL is accepted */

/* Sets *calls to calls[n_copies * n_samples], which the caller fills before
 * cov_haplotype_groups_add: calls[copy * n_samples + sample]. */
int cov_haplotype_groups_calls(struct cov_haplotype_groups *g, size_t n_copies,
                               struct cov_call **calls, struct cov_err *e) COV_MUST_USE;

/* Appends a record with these calls. New groups get the next numbers. */
int cov_haplotype_groups_add(struct cov_haplotype_groups *g, struct cov_err *e) COV_MUST_USE;

/* Drops the first n records. Groups and records may get other numbers. */
int cov_haplotype_groups_drop(struct cov_haplotype_groups *g, size_t n,
                              struct cov_err *e) COV_MUST_USE;

/* Returns the calls of a group in the records that are kept, ascending, and sets *n. Valid until
 * the next change. */
const struct cov_group_call *cov_haplotype_groups_list(const struct cov_haplotype_groups *g,
                                                       uint32_t group, size_t *n);
/* Returns what a group has in a record; NULL: nothing. */
const struct cov_call *cov_haplotype_groups_find(const struct cov_haplotype_groups *g,
                                                 uint32_t group, uint32_t record);

/* ---- records ---- */

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
