/* bigwig_layout.c - see bigwig_layout.h.
 *
 * Both trees are packed: every node except the last one of each level is full, so the number of
 * items determines the offsets of all nodes. Levels are stored from the root down, and the nodes of
 * each level in order.
 *
 * Blocks are collected in batches, because compressing the block of a small contig takes less time
 * than handing it to another thread. A full batch is submitted to the pool; the oldest batch is
 * written when its slot in the ring is needed. A thread that needs a batch which no worker has
 * started compresses the batch itself, so workers of the pool may wait here, too.
 *
 * The pool may run the task of such a batch much later, even after the queue is gone. So the state
 * that tasks use is reference-counted.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig_layout.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/deflate/deflate.h"
#include "common/file/path.h"

/* ---- file ---- */

enum { BUFFER = 1 << 16 };

int cov_bigwig_out_write(const struct cov_bigwig_out *out, const void *data, size_t n, uint64_t at,
                         struct cov_err *e)
{
    return cov_write_at(out->fd, (int64_t)at, data, n) == 0
               ? COV_OK
               : cov_fail_errno(e, "%s: write error%s", out->name, out->what);
}

int cov_bigwig_out_read(const struct cov_bigwig_out *out, void *data, size_t n, uint64_t at,
                        struct cov_err *e)
{
    const ssize_t got = cov_read_at(out->fd, (int64_t)at, data, n);
    if (got < 0)
        return cov_fail_errno(e, "%s: read error%s", out->name, out->what);
    return (size_t)got == n ? COV_OK
                            : cov_fail(e, COV_EIO, "%s: read error%s: the file was truncated",
                                       out->name, out->what);
}

int cov_bigwig_out_flush(struct cov_bigwig_out *out, struct cov_err *e)
{
    int rc = cov_bigwig_out_write(out, out->buf, out->n, out->at - out->n, e);
    out->n = 0;
    return rc;
}

int cov_bigwig_out_put(struct cov_bigwig_out *out, const void *data, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    if (!out->buf && !(out->buf = cov_malloc(BUFFER, 1, e)))
        return COV_ENOMEM;
    if (out->n + n > BUFFER)
        rc = cov_bigwig_out_flush(out, e);
    if (rc)
        return rc;
    if (n > BUFFER) {
        rc = cov_bigwig_out_write(out, data, n, out->at, e);
    } else {
        memcpy(out->buf + out->n, data, n);
        out->n += n;
    }
    out->at += n;
    return rc;
}

void cov_bigwig_out_fini(struct cov_bigwig_out *out)
{
    free(out->buf);
    out->buf = NULL;
    out->n = 0;
}

/* ---- packed trees ---- */

enum { FANOUT = 256, MAX_LEVELS = 8, NODE_HEAD = 4 };

/* The levels of a tree over n items with `fanout` children per node. n_nodes[0] is the number of
 * leaves; the last level is the root. */
struct levels {
    size_t n;
    size_t n_nodes[MAX_LEVELS];
    size_t span[MAX_LEVELS]; /* items below a full node */
};

static struct levels make_levels(size_t n_items, size_t fanout)
{
    struct levels l = {0};
    size_t n = n_items, span = 1;
    do {
        n = n / fanout + (n % fanout != 0);
        n = n ? n : 1;
        span *= fanout;
        l.n_nodes[l.n] = n;
        l.span[l.n++] = span;
    } while (n > 1 && l.n < MAX_LEVELS);
    return l;
}

static size_t children_of(const struct levels *l, size_t level, size_t node, size_t fanout,
                          size_t n_items)
{
    size_t below = level ? l->n_nodes[level - 1] : n_items;
    size_t left = below - node * fanout;
    return left < fanout ? left : fanout;
}

/* ---- R tree ---- */

enum { RTREE_HEAD = 48, RTREE_LEAF = 32, RTREE_INNER = 24 };

static uint8_t *put_bounds(uint8_t *p, const struct cov_rtree_block *first,
                           const struct cov_rtree_block *last)
{
    p = cov_put32(p, first->beg_contig);
    p = cov_put32(p, first->beg);
    p = cov_put32(p, last->end_contig);
    return cov_put32(p, last->end);
}

/* Writes a box around items beg .. end-1. Items ascend without overlaps, so their ends ascend,
 * too. */
static uint8_t *put_box(uint8_t *p, cov_rtree_fn *block, const void *arg, size_t beg, size_t end)
{
    struct cov_rtree_block first = {0}, last = {0};
    if (beg < end) {
        first = block(arg, beg);
        last = block(arg, end - 1);
    }
    return put_bounds(p, &first, &last);
}

static size_t rtree_node_bytes(size_t level)
{
    return NODE_HEAD + (size_t)FANOUT * (level ? RTREE_INNER : RTREE_LEAF);
}

int cov_rtree_put(struct cov_bigwig_out *out, size_t n, cov_rtree_fn *block, const void *arg,
                  uint64_t shift, uint32_t per_block, struct cov_err *e)
{
    enum { MAGIC = 0x2468ace0 };
    struct levels l = make_levels(n, FANOUT);
    uint8_t node[NODE_HEAD + FANOUT * RTREE_LEAF], *p = node;
    p = cov_put32(p, MAGIC);
    p = cov_put32(p, FANOUT);
    p = cov_put64(p, n);
    p = put_box(p, block, arg, 0, n);
    p = cov_put64(p, out->at); /* the data ends where the index begins */
    p = cov_put32(p, per_block);
    p = cov_put32(p, 0);
    int rc = cov_bigwig_out_put(out, node, (size_t)(p - node), e);
    uint64_t next = out->at; /* offset of the level below */
    for (size_t level = l.n; level-- > 0 && !rc;) {
        if (level) /* all nodes except the last are full */
            next += (l.n_nodes[level] - 1) * rtree_node_bytes(level) + NODE_HEAD +
                    children_of(&l, level, l.n_nodes[level] - 1, FANOUT, n) * RTREE_INNER;
        for (size_t i = 0; i < l.n_nodes[level] && !rc; i++) {
            size_t n_children = children_of(&l, level, i, FANOUT, n);
            node[0] = level == 0;
            node[1] = 0;
            p = cov_put16(node + 2, (uint16_t)n_children);
            for (size_t c = i * FANOUT; c < i * FANOUT + n_children; c++) {
                if (level) {
                    size_t beg = c * l.span[level - 1], end = beg + l.span[level - 1];
                    p = put_box(p, block, arg, beg, end < n ? end : n);
                    p = cov_put64(p, next + c * rtree_node_bytes(level - 1));
                } else {
                    struct cov_rtree_block b = block(arg, c);
                    p = put_bounds(p, &b, &b);
                    p = cov_put64(p, b.offset + shift);
                    p = cov_put64(p, b.n_bytes);
                }
            }
            rc = cov_bigwig_out_put(out, node, (size_t)(p - node), e);
        }
    }
    return rc;
}

/* ---- B+ tree ---- */

enum { BPTREE_HEAD = 32, BPTREE_VALUE = 8 };

static size_t bptree_fanout(size_t n)
{
    return n < FANOUT ? n : FANOUT;
}

/* Every node has room for the maximum number of children, as in files of UCSC's programs. Leaves
 * and inner nodes have the same size, because 8 bytes follow each name in both. */
static uint64_t bptree_node_bytes(size_t n, size_t key_bytes)
{
    return NODE_HEAD + (uint64_t)bptree_fanout(n) * (key_bytes + BPTREE_VALUE);
}

uint64_t cov_bptree_bytes(size_t n, size_t key_bytes)
{
    struct levels l = make_levels(n, bptree_fanout(n));
    uint64_t n_nodes = 0;
    for (size_t level = 0; level < l.n; level++)
        n_nodes += l.n_nodes[level];
    return BPTREE_HEAD + n_nodes * bptree_node_bytes(n, key_bytes);
}

int cov_bptree_put(struct cov_bigwig_out *out, const struct cov_bptree_item *items, size_t n,
                   size_t key_bytes, struct cov_err *e)
{
    const uint32_t magic = 0x78ca8c91;
    size_t fanout = bptree_fanout(n), bytes = bptree_node_bytes(n, key_bytes);
    struct levels l = make_levels(n, fanout);
    uint8_t head[BPTREE_HEAD], *p = head;
    p = cov_put32(p, magic);
    p = cov_put32(p, (uint32_t)fanout);
    p = cov_put32(p, (uint32_t)key_bytes);
    p = cov_put32(p, BPTREE_VALUE);
    p = cov_put64(p, n);
    (void)cov_put64(p, 0);
    uint8_t *node = cov_malloc(bytes, 1, e);
    int rc = node ? cov_bigwig_out_put(out, head, sizeof head, e) : COV_ENOMEM;
    uint64_t next = out->at;
    for (size_t level = l.n; level-- > 0 && !rc;) {
        next += l.n_nodes[level] * bytes;
        for (size_t i = 0; i < l.n_nodes[level] && !rc; i++) {
            size_t n_children = children_of(&l, level, i, fanout, n);
            memset(node, 0, bytes);
            node[0] = level == 0;
            p = cov_put16(node + 2, (uint16_t)n_children);
            for (size_t c = i * fanout; c < i * fanout + n_children; c++) {
                const struct cov_bptree_item *item = &items[level ? c * l.span[level - 1] : c];
                memcpy(p, item->name, strlen(item->name)); /* the rest stays zero */
                p += key_bytes;
                if (level) {
                    p = cov_put64(p, next + c * bytes);
                } else {
                    p = cov_put32(p, item->number);
                    p = cov_put32(p, item->length);
                }
            }
            rc = cov_bigwig_out_put(out, node, bytes, e);
        }
    }
    free(node);
    return rc;
}

/* ---- blocks ---- */

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

/* ---- blocks: compressing ---- */

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

/* ---- blocks: writing ---- */

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

/* ---- blocks: starting and finishing ---- */

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
