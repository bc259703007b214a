/* haplotype_groups.h - haplotypes that have the same alleles in all records that are kept, so that
 * the work for a window does not grow with the number of samples.
 *
 * A record splits the groups whose haplotypes differ in it. Records are dropped from the front; from
 * time to time, groups that are the same without them are merged.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_HAPLOTYPE_GROUPS_H
#define COV_JOB_EFFECT_HAPLOTYPE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

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
    size_t n_items, cap;      /* items: haplotypes */
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

#endif
