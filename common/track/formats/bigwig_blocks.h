/* bigwig_blocks.h - compresses the blocks of a bigWig in a pool and writes them in order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_BLOCKS_H
#define COV_TRACK_FORMATS_BIGWIG_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/track/formats/bigwig_layout.h"

/* Maximum bytes of an uncompressed block: the buffer size of libBigWig and of UCSC's programs. */
enum { COV_BIGWIG_BLOCK_BYTES = 32768 };

/* Bytes before the intervals of a block. */
enum { COV_BIGWIG_BLOCK_HEAD = 24 };

/* Data and zoom levels grow at the same time, in two files. */
enum cov_bigwig_file { COV_BIGWIG_DATA, COV_BIGWIG_SPOOL, COV_BIGWIG_FILES };

/* The blocks of one index, in order. */
struct cov_block_list {
    struct cov_rtree_block *blocks; /* Owned */
    size_t n, cap;
};

struct cov_block_queue;

/* Creates a queue. `outs` are the COV_BIGWIG_FILES files (borrowed until cov_block_queue_free);
 * each is written from its offset `at`. Without a pool the calling thread compresses. The caller
 * may be a worker of the pool. */
int cov_block_queue_new(struct cov_pool *pool, struct cov_bigwig_out *outs,
                        struct cov_block_queue **out, struct cov_err *e) COV_MUST_USE;

/* Adds a block of n <= COV_BIGWIG_BLOCK_BYTES bytes that covers `cover`. This or a later call
 * writes the block and appends it with its offset to *list. The bytes of the files do not depend on
 * the pool. */
int cov_block_queue_add(struct cov_block_queue *q, enum cov_bigwig_file file, const void *data,
                        size_t n, const struct cov_rtree_block *cover, struct cov_block_list *list,
                        struct cov_err *e) COV_MUST_USE;

/* Writes all blocks added so far. */
int cov_block_queue_flush(struct cov_block_queue *q, struct cov_err *e) COV_MUST_USE;

/* NULL is accepted. */
void cov_block_queue_free(struct cov_block_queue *q);

#endif
