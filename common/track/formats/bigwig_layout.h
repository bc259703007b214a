/* bigwig_layout.h - building blocks of bigWig files: numbers, buffered writes, compressed blocks, and
 * the two indexes, which are the R tree of positions and the B+ tree of contig names.
 *
 * Kent et al., "BigWig and BigBed: enabling browsing of large distributed datasets" (2010),
 * supplement, tables 8 to 11 and 14 to 17.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_LAYOUT_H
#define COV_TRACK_FORMATS_BIGWIG_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/pool.h"

/* Each stores a little-endian number at p and returns the address after it. */
static inline uint8_t *cov_put16(uint8_t *p, uint16_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    return p + 2;
}

static inline uint8_t *cov_put32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
    return p + 4;
}

static inline uint8_t *cov_put64(uint8_t *p, uint64_t x)
{
    return cov_put32(cov_put32(p, (uint32_t)x), (uint32_t)(x >> 32));
}

static inline uint8_t *cov_put_float(uint8_t *p, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return cov_put32(p, bits);
}

static inline uint8_t *cov_put_double(uint8_t *p, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return cov_put64(p, bits);
}

/* A file that is written sequentially. Free with cov_bigwig_out_fini, which discards unflushed
 * bytes. */
struct cov_bigwig_out {
    int fd;           /* borrowed */
    const char *name; /* for messages. Borrowed */
    const char *what; /* appended to messages: "" or a note. Borrowed */
    uint64_t at;      /* offset of the next byte */
    size_t n;
    uint8_t *buf; /* Owned; NULL until the first put */
};

/* Appends n bytes. COV_EIO "<name>: write error<what>: <reason>". */
int cov_bigwig_out_put(struct cov_bigwig_out *out, const void *data, size_t n,
                       struct cov_err *e) COV_MUST_USE;
int cov_bigwig_out_flush(struct cov_bigwig_out *out, struct cov_err *e) COV_MUST_USE;
void cov_bigwig_out_fini(struct cov_bigwig_out *out);

/* Writes n bytes at `at`, bypassing the buffer. */
int cov_bigwig_out_write(const struct cov_bigwig_out *out, const void *data, size_t n, uint64_t at,
                         struct cov_err *e) COV_MUST_USE;
/* Reads n bytes back; COV_EIO if the file ends earlier. */
int cov_bigwig_out_read(const struct cov_bigwig_out *out, void *data, size_t n, uint64_t at,
                        struct cov_err *e) COV_MUST_USE;

/* ---- trees ---- */

/* A compressed block, which covers base `beg` of contig `beg_contig` up to (not including) base
 * `end` of contig `end_contig`. */
struct cov_rtree_block {
    uint32_t beg_contig, beg, end_contig, end;
    uint64_t offset;
    uint32_t n_bytes;
};

/* Returns block i < n. */
typedef struct cov_rtree_block cov_rtree_fn(const void *arg, size_t i);

/* Writes the R tree of n >= 0 blocks, which must be ascending and disjoint. Adds `shift` to each
 * offset. `per_block` is the maximum number of items per block. */
int cov_rtree_put(struct cov_bigwig_out *out, size_t n, cov_rtree_fn *block, const void *arg,
                  uint64_t shift, uint32_t per_block, struct cov_err *e) COV_MUST_USE;

struct cov_bptree_item {
    const char *name;
    uint32_t number, length;
};

/* Returns the size in bytes of the B+ tree of n > 0 names, each of at most `key_bytes` > 0
 * bytes. */
uint64_t cov_bptree_bytes(size_t n, size_t key_bytes);

/* Writes the B+ tree of n > 0 items, which must be sorted by name, compared as bytes. */
int cov_bptree_put(struct cov_bigwig_out *out, const struct cov_bptree_item *items, size_t n,
                   size_t key_bytes, struct cov_err *e) COV_MUST_USE;

/* ---- compressed blocks ---- */

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
