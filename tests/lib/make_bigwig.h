/* make_bigwig.h - bigWig files byte by byte, for unit tests: blocks of any type, in either byte
 * order, compressed or not, with indexes of any shape.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MAKE_BIGWIG_H
#define TESTS_MAKE_BIGWIG_H

#include "tests/lib/own_dir.h"

#include "common/deflate/deflate.h"

enum { MADE_ROOM = 1 << 16, MADE_SECTIONS = 8, MADE_CONTIGS = 2, MADE_KEY = 5 };

/* a: 100 bases, bb: 1000 bases; bb has id 0 in the file, a has 1. */
static const char *const made_names[MADE_CONTIGS] = {"bb", "a"};
static const uint32_t made_lengths[MADE_CONTIGS] = {1000, 100};

struct made_section {
    uint32_t contig, beg, end, step, span;
    unsigned type;
    unsigned n;
    struct {
        uint32_t beg, end;
        float value;
    } items[4];
};

static const struct made_section made_sections[] = {
    {0, 3, 21, 0, 0, 1, 3, {{3, 7, 1.5F}, {7, 8, -2}, {20, 21, 3e5F}}},
    {0, 100, 155, 0, 5, 2, 2, {{100, 105, 7}, {150, 155, 0}}},
    {0, 990, 1000, 5, 4, 3, 2, {{990, 994, 1}, {995, 999, 2}}},
    {1, 0, 100, 0, 0, 1, 1, {{0, 100, 1e-30F}}},
};
enum { MADE_N = sizeof made_sections / sizeof made_sections[0] };

struct made {
    uint8_t bytes[MADE_ROOM];
    size_t n;
    bool big;
    /* Offsets of the fields that tests damage. */
    size_t summary, bptree, data, blocks[MADE_SECTIONS], rtree, rtree_leaf;
};

static inline void made_put(struct made *m, uint64_t x, size_t n)
{
    assert_true(m->n + n <= MADE_ROOM);
    for (size_t i = 0; i < n; i++)
        m->bytes[m->n + i] = (uint8_t)(x >> 8 * (m->big ? n - 1 - i : i));
    m->n += n;
}

/* Stores a number of n bytes at an offset. */
static inline void made_patch(struct made *m, size_t at, uint64_t x, size_t n)
{
    size_t end = m->n;
    m->n = at;
    made_put(m, x, n);
    m->n = end;
}

static inline uint32_t made_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline void made_block(struct made *m, const struct made_section *s, bool compress)
{
    struct made raw = {.big = m->big};
    const uint32_t head[] = {s->contig, s->beg, s->end, s->step, s->span};
    for (size_t i = 0; i < 5; i++)
        made_put(&raw, head[i], 4);
    made_put(&raw, s->type, 1);
    made_put(&raw, 0, 1);
    made_put(&raw, s->n, 2);
    for (size_t i = 0; i < s->n; i++) {
        if (s->type != 3)
            made_put(&raw, s->items[i].beg, 4);
        if (s->type == 1)
            made_put(&raw, s->items[i].end, 4);
        made_put(&raw, made_bits(s->items[i].value), 4);
    }
    size_t n = raw.n;
    if (compress)
        assert_int_equal(
            cov_deflate(1, raw.bytes, raw.n, m->bytes + m->n, MADE_ROOM - m->n, &n, NULL), 0);
    else
        memcpy(m->bytes + m->n, raw.bytes, n);
    m->n += n;
}

static inline void made_key(struct made *m, size_t contig)
{
    for (size_t k = 0; k < MADE_KEY; k++)
        made_put(m, k < strlen(made_names[contig]) ? (uint8_t)made_names[contig][k] : 0, 1);
}

/* Writes the list of contigs as one leaf, or with `deep` as a node above two leaves. */
static inline void made_contigs(struct made *m, bool deep)
{
    m->bptree = m->n;
    made_put(m, 0x78ca8c91, 4);
    made_put(m, deep ? 1 : MADE_CONTIGS, 4);
    made_put(m, MADE_KEY, 4);
    made_put(m, 8, 4);
    made_put(m, MADE_CONTIGS, 8);
    made_put(m, 0, 8);
    size_t leaf = m->n + 4 + MADE_CONTIGS * (MADE_KEY + 8);
    if (deep) {
        made_put(m, 0, 2);
        made_put(m, MADE_CONTIGS, 2);
        for (size_t c = MADE_CONTIGS; c-- > 0; leaf += 4 + MADE_KEY + 8) {
            made_key(m, c);
            made_put(m, leaf, 8);
        }
    }
    for (size_t c = MADE_CONTIGS; c-- > 0;) { /* names ascend, ids do not */
        if (deep || c == MADE_CONTIGS - 1) {
            made_put(m, 1, 1);
            made_put(m, 0, 1);
            made_put(m, deep ? 1 : MADE_CONTIGS, 2);
        }
        made_key(m, c);
        made_put(m, c, 4);
        made_put(m, made_lengths[c], 4);
    }
}

static inline void made_box(struct made *m, const struct made_section *first,
                            const struct made_section *last)
{
    made_put(m, first->contig, 4);
    made_put(m, first->beg, 4);
    made_put(m, last->contig, 4);
    made_put(m, last->end, 4);
}

/* Writes the index as one leaf, or with `deep` as a node above one leaf per block. */
static inline void made_index(struct made *m, const struct made_section *s, size_t n, bool deep,
                              size_t data_end)
{
    m->rtree = m->n;
    made_put(m, 0x2468ace0, 4);
    made_put(m, 256, 4);
    made_put(m, n, 8);
    made_box(m, &s[0], &s[n - 1]);
    made_put(m, m->n, 8);
    made_put(m, 1024, 4);
    made_put(m, 0, 4);
    size_t leaf = m->n + 4 + n * 24;
    if (deep) {
        made_put(m, 0, 2);
        made_put(m, n, 2);
        for (size_t i = 0; i < n; i++, leaf += 4 + 32) {
            made_box(m, &s[i], &s[i]);
            made_put(m, leaf, 8);
        }
    }
    m->rtree_leaf = m->n;
    for (size_t i = 0; i < n; i++) {
        if (deep || i == 0) {
            made_put(m, 1, 1);
            made_put(m, 0, 1);
            made_put(m, deep ? 1 : n, 2);
        }
        made_box(m, &s[i], &s[i]);
        made_put(m, m->blocks[i], 8);
        made_put(m, (i + 1 < n ? m->blocks[i + 1] : data_end) - m->blocks[i], 8);
    }
}

struct made_form {
    bool big, compress, deep;
    unsigned version;
};

/* Writes a file with these sections. */
static inline void make_bigwig(struct made *m, const struct made_form *f,
                               const struct made_section *s, size_t n)
{
    *m = (struct made){.big = f->big};
    made_put(m, 0x888ffc26, 4);
    made_put(m, f->version, 2);
    for (size_t i = 0; i < 58; i++)
        made_put(m, 0, 1);
    m->summary = m->n;
    made_put(m, 1, 8);
    for (size_t i = 0; i < 4; i++)
        made_put(m, 0, 8);
    made_contigs(m, f->deep);
    m->data = m->n;
    made_put(m, n, 8);
    for (size_t i = 0; i < n; i++) {
        m->blocks[i] = m->n;
        made_block(m, &s[i], f->compress);
    }
    made_index(m, s, n, f->deep, m->n);
    made_put(m, 0x888ffc26, 4);
    made_patch(m, 8, m->bptree, 8);
    made_patch(m, 16, m->data, 8);
    made_patch(m, 24, m->rtree, 8);
    made_patch(m, 44, m->summary, 8);
    made_patch(m, 52, f->compress ? 4096 : 0, 4);
}

static inline void made_write(const struct made *m, const char *path)
{
    put_bytes(path, m->bytes, m->n);
}

#endif
