/* bigwig_trees.h - the two indexes of a bigWig: the R tree of places in the genome, and the B+ tree
 * of contig names.
 *
 * Kent et al., "BigWig and BigBed: enabling browsing of large distributed datasets" (2010),
 * supplement, tables 8 to 11 and 14 to 17.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_TREES_H
#define COV_TRACK_FORMATS_BIGWIG_TREES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/formats/bigwig_bytes.h"

/* A compressed block and what it covers, from base `beg` of contig `beg_contig` to base `end` (not
 * covered) of contig `end_contig`. */
struct cov_rtree_block {
    uint32_t beg_contig, beg, end_contig, end;
    uint64_t offset;
    uint32_t n_bytes;
};

/* Gives block i < n. */
typedef struct cov_rtree_block cov_rtree_fn(const void *arg, size_t i);

/* Puts the R tree of n >= 0 blocks, ascending and without overlaps, with `shift` added to each
 * offset. `per_block`: most items in a block. */
int cov_rtree_put(struct cov_bigwig_out *out, size_t n, cov_rtree_fn *block, const void *arg,
                  uint64_t shift, uint32_t per_block, struct cov_err *e) COV_MUST_USE;

struct cov_bptree_item {
    const char *name;
    uint32_t number, length;
};

/* Bytes of the B+ tree of n > 0 names of at most `key_bytes` > 0 bytes. */
uint64_t cov_bptree_bytes(size_t n, size_t key_bytes);

/* Puts the B+ tree of n > 0 items, their names ascending as bytes. */
int cov_bptree_put(struct cov_bigwig_out *out, const struct cov_bptree_item *items, size_t n,
                   size_t key_bytes, struct cov_err *e) COV_MUST_USE;

#endif
