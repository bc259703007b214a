/* bigwig_blocks.c - see bigwig_blocks.h.
 *
 * Blocks are collected in batches, because compressing the block of a small contig takes less time
 * than handing it to another thread. A full batch is submitted to the pool; the oldest batch is
 * written when its slot in the ring is needed. A thread that needs a batch which no worker has
 * started compresses the batch itself, so workers of the pool may wait here, too.
 *
 * The pool may run the task of such a batch much later, even after the queue is gone. So the state
 * that tasks use is reference-counted.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig_blocks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/deflate/deflate.h"
#include "common/deflate/record_deflate.h"

/* Blocks of less than SMALL bytes are not worth their own Huffman codes. */
enum { BATCH_BYTES = 1 << 17, BATCH_BLOCKS = 2048, SMALL = 1024, LEVEL = 1 };

/* Batches per worker: enough to keep the producer busy while a worker is descheduled. */
enum { PER_WORKER = 8 };

/* Distances at which a window of a zoom level often repeats earlier bytes. It repeats those of the
 * previous window, which ends where this window begins, and its own minimum, which is often the
 * maximum, too. */
static const unsigned window_dists[] = {32, 28, 4};

struct block {
    enum cov_bigwig_file file;
    size_t n, n_out;
    struct cov_rtree_block cover;
    struct cov_block_list *list;
};

enum state { EMPTY, QUEUED, RUNNING, DONE };

struct batch {
    enum state state; /* under the lock */
    uint64_t number;  /* under the lock */
    size_t n_blocks, n_raw, bound;
    size_t n_out[COV_BIGWIG_FILES];
    struct block *blocks;
    uint8_t *raw;
    uint8_t *out; /* bytes for the first file, followed by those for the second */
    size_t cap_out;
    int code;
    struct cov_err err;
};

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t done;
    size_t n_users; /* the queue and unfinished tasks */
    size_t n_batches;
    struct batch *batches;
};

struct cov_block_queue {
    struct shared *shared;
    struct cov_pool *pool;
    struct cov_bigwig_out *outs;
    uint64_t head, tail; /* batches written, and started; the last one is being filled */
};

/* ---- compressing ---- */

static size_t bound_of(size_t n)
{
    return n < SMALL ? cov_deflate_bound(n) : cov_tokens_bound(n);
}

static int compress_block(struct cov_tokens *t, enum cov_bigwig_file file, const uint8_t *raw,
                          size_t n, uint8_t *dst, size_t *n_dst, struct cov_err *e)
{
    if (n < SMALL)
        return cov_deflate(LEVEL, raw, n, dst, bound_of(n), n_dst, e);
    if (file == COV_BIGWIG_DATA)
        cov_tokens_records(t, raw, n, COV_BIGWIG_BLOCK_HEAD);
    else
        cov_tokens_strides(t, raw, n, window_dists, COV_COUNT(window_dists));
    *n_dst = cov_tokens_zlib(t, raw, n, dst);
    return COV_OK;
}

static int compress(struct batch *b, struct cov_err *e)
{
    struct cov_tokens tokens;
    size_t at = 0;
    if (b->bound > b->cap_out) {
        free(b->out);
        b->cap_out = 0;
        b->out = cov_malloc(b->bound, 1, e);
        if (!b->out)
            return COV_ENOMEM;
        b->cap_out = b->bound;
    }
    int rc = cov_tokens_init(&tokens, COV_BIGWIG_BLOCK_BYTES, e);
    for (int file = 0; file < COV_BIGWIG_FILES && !rc; file++) {
        const uint8_t *raw = b->raw;
        size_t beg = at;
        for (size_t i = 0; i < b->n_blocks && !rc; i++) {
            struct block *block = &b->blocks[i];
            if ((int)block->file == file) {
                block->n_out = 0;
                rc = compress_block(&tokens, block->file, raw, block->n, b->out + at, &block->n_out,
                                    e);
                at += block->n_out;
            }
            raw += block->n;
        }
        b->n_out[file] = at - beg;
    }
    cov_tokens_fini(&tokens);
    return rc;
}

/* Compresses a batch that the caller has set to RUNNING. */
static void run_batch(struct shared *s, struct batch *b)
{
    b->err = (struct cov_err)COV_ERR_INIT;
    b->code = compress(b, &b->err);
    pthread_mutex_lock(&s->lock);
    b->state = DONE;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
}

static void leave(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    bool last = --s->n_users == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    for (size_t i = 0; s->batches && i < s->n_batches; i++) {
        free(s->batches[i].blocks);
        free(s->batches[i].raw);
        free(s->batches[i].out);
    }
    free(s->batches);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static int task(void *arg, size_t number, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct shared *s = arg;
    struct batch *b = &s->batches[number % s->n_batches];
    pthread_mutex_lock(&s->lock);
    bool mine = b->number == number && b->state == QUEUED;
    if (mine)
        b->state = RUNNING;
    pthread_mutex_unlock(&s->lock);
    if (mine)
        run_batch(s, b);
    leave(s);
    return COV_OK;
}

/* ---- writing ---- */

static int append(struct cov_block_list *list, const struct cov_rtree_block *block,
                  struct cov_err *e)
{
    int rc = COV_RESERVE(&list->blocks, &list->cap, list->n + 1, e);
    if (!rc)
        list->blocks[list->n++] = *block;
    return rc;
}

/* Waits for the oldest batch and writes it. */
static int retire(struct cov_block_queue *q, struct cov_err *e)
{
    struct shared *s = q->shared;
    struct batch *b = &s->batches[q->head % s->n_batches];
    pthread_mutex_lock(&s->lock);
    bool mine = b->state == QUEUED;
    if (mine)
        b->state = RUNNING;
    while (!mine && b->state == RUNNING)
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (mine)
        run_batch(s, b);
    if (b->code)
        return cov_fail(e, b->code, "%s: %s", q->outs[0].name, b->err.text);
    const uint8_t *out = b->out;
    for (int file = 0; file < COV_BIGWIG_FILES; file++) {
        int rc = cov_bigwig_out_write(&q->outs[file], out, b->n_out[file], q->outs[file].at, e);
        if (rc)
            return rc;
        out += b->n_out[file];
    }
    for (size_t i = 0; i < b->n_blocks; i++) {
        struct block *block = &b->blocks[i];
        struct cov_rtree_block cover = block->cover;
        cover.offset = q->outs[block->file].at;
        cover.n_bytes = (uint32_t)block->n_out;
        q->outs[block->file].at += block->n_out;
        int rc = append(block->list, &cover, e);
        if (rc)
            return rc;
    }
    q->head++;
    return COV_OK;
}

/* Submits the current batch to the pool. */
static int submit(struct cov_block_queue *q, struct cov_err *e)
{
    struct shared *s = q->shared;
    uint64_t number = q->tail - 1;
    struct batch *b = &s->batches[number % s->n_batches];
    pthread_mutex_lock(&s->lock);
    b->state = QUEUED;
    s->n_users += q->pool != NULL;
    pthread_mutex_unlock(&s->lock);
    if (!q->pool)
        return COV_OK;
    int rc = cov_pool_submit(q->pool, task, s, (size_t)number, NULL, NULL, e);
    if (rc)
        leave(s);
    return rc;
}

/* Starts the next batch; may write the oldest first. */
static int begin_batch(struct cov_block_queue *q, struct cov_err *e)
{
    struct shared *s = q->shared;
    int rc = q->tail - q->head == s->n_batches ? retire(q, e) : COV_OK;
    if (rc)
        return rc;
    struct batch *b = &s->batches[q->tail % s->n_batches];
    if (!b->raw) {
        b->raw = cov_malloc(BATCH_BYTES, 1, e);
        b->blocks = cov_malloc(BATCH_BLOCKS, sizeof *b->blocks, e);
        if (!b->raw || !b->blocks)
            return COV_ENOMEM;
    }
    pthread_mutex_lock(&s->lock);
    b->number = q->tail++;
    b->state = EMPTY;
    pthread_mutex_unlock(&s->lock);
    b->n_blocks = b->n_raw = b->bound = 0;
    return COV_OK;
}

int cov_block_queue_add(struct cov_block_queue *q, enum cov_bigwig_file file, const void *data,
                        size_t n, const struct cov_rtree_block *cover, struct cov_block_list *list,
                        struct cov_err *e)
{
    struct shared *s = q->shared;
    bool filling = q->tail > q->head;
    struct batch *b = &s->batches[(q->tail + s->n_batches - 1) % s->n_batches];
    if (filling && (b->n_blocks == BATCH_BLOCKS || b->n_raw + n > BATCH_BYTES)) {
        int rc = submit(q, e);
        if (rc)
            return rc;
        filling = false;
    }
    if (!filling) {
        int rc = begin_batch(q, e);
        if (rc)
            return rc;
        b = &s->batches[(q->tail - 1) % s->n_batches];
    }
    memcpy(b->raw + b->n_raw, data, n);
    b->blocks[b->n_blocks++] = (struct block){.file = file, .n = n, .cover = *cover, .list = list};
    b->n_raw += n;
    b->bound += bound_of(n);
    return COV_OK;
}

int cov_block_queue_flush(struct cov_block_queue *q, struct cov_err *e)
{
    int rc = q->tail > q->head ? submit(q, e) : COV_OK;
    while (!rc && q->head < q->tail)
        rc = retire(q, e);
    return rc;
}

/* ---- starting and finishing ---- */

int cov_block_queue_new(struct cov_pool *pool, struct cov_bigwig_out *outs,
                        struct cov_block_queue **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_block_queue *q = cov_calloc(1, sizeof *q, e);
    struct shared *s = q ? cov_calloc(1, sizeof *s, e) : NULL;
    if (!s) {
        free(q);
        return COV_ENOMEM;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->done, NULL);
    s->n_users = 1;
    s->n_batches = pool ? PER_WORKER * (size_t)cov_pool_size(pool) + 1 : 1;
    s->batches = cov_calloc(s->n_batches, sizeof *s->batches, e);
    *q = (struct cov_block_queue){.shared = s, .pool = pool, .outs = outs};
    if (!s->batches) {
        cov_block_queue_free(q);
        return COV_ENOMEM;
    }
    *out = q;
    return COV_OK;
}

void cov_block_queue_free(struct cov_block_queue *q)
{
    if (q)
        leave(q->shared);
    free(q);
}
