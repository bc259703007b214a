/* bigwig_blocks.h - compresses the blocks of a bigWig in a pool and writes them in order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_BLOCKS_H
#define COV_TRACK_FORMATS_BIGWIG_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/track/formats/bigwig_layout.h"

/* Bytes of a block before compression, at most: the size of the buffers of libBigWig and of UCSC's
 * programs. */
enum { COV_BIGWIG_BLOCK_BYTES = 32768 };

/* Bytes in front of the intervals of a block. */
enum { COV_BIGWIG_BLOCK_HEAD = 24 };

/* Where blocks go. Data and zoom levels grow at the same time, in two files. */
enum cov_bigwig_file { COV_BIGWIG_DATA, COV_BIGWIG_SPOOL, COV_BIGWIG_FILES };

/* The blocks of one index, in order. */
struct cov_block_list {
    struct cov_rtree_block *blocks; /* Owned */
    size_t n, cap;
};

struct cov_block_queue;

/* `outs` are the COV_BIGWIG_FILES files, each written from its `at` on (borrowed until
 * cov_block_queue_free). Without a pool the caller compresses. May be used by a worker of the
 * pool. */
int cov_block_queue_new(struct cov_pool *pool, struct cov_bigwig_out *outs,
                        struct cov_block_queue **out, struct cov_err *e) COV_MUST_USE;

/* Adds a block of n <= COV_BIGWIG_BLOCK_BYTES bytes. When it has been written (in this or a later
 * call) it is at the end of *list, with its place in the file. `cover`: what it covers. The bytes
 * of the files do not depend on the pool. */
int cov_block_queue_add(struct cov_block_queue *q, enum cov_bigwig_file file, const void *data,
                        size_t n, const struct cov_rtree_block *cover, struct cov_block_list *list,
                        struct cov_err *e) COV_MUST_USE;

/* Writes all that was added. */
int cov_block_queue_flush(struct cov_block_queue *q, struct cov_err *e) COV_MUST_USE;

/* NULL is accepted. */
void cov_block_queue_free(struct cov_block_queue *q);

#endif
