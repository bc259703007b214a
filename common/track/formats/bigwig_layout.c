/* bigwig_layout.c - see bigwig_layout.h.
 *
 * Both trees are packed: every node except the last one of each level is full, so the number of
 * items determines the offsets of all nodes. Levels are stored from the root down, and the nodes of
 * each level in order.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig_layout.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/file/descriptor.h"

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
