/* chunk_order.c - see chunk_order.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/chunk_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/alphabet.h"

int cov_chunk_order_init(struct cov_chunk_order *o, size_t L, size_t depth, size_t max_batch,
                         struct cov_err *e)
{
    *o = (struct cov_chunk_order){.L = L, .row = L * depth};
    o->chunks = cov_calloc(max_batch, sizeof *o->chunks, e);
    o->todo = cov_calloc(max_batch, sizeof *o->todo, e);
    return o->chunks && o->todo ? COV_OK : COV_ENOMEM;
}

void cov_chunk_order_fini(struct cov_chunk_order *o)
{
    free(o->chunks);
    free(o->todo);
    free(o->all_n);
    *o = (struct cov_chunk_order){0};
}

/* Returns a hash of codes[L]: FNV-1a, one word of 64 bits at a time. */
static uint64_t hash_codes(const uint8_t *codes, size_t L)
{
    uint64_t hash = 0xcbf29ce484222325U, word;
    for (size_t i = 0; i + sizeof word <= L; i += sizeof word) {
        memcpy(&word, codes + i, sizeof word);
        hash = (hash ^ word) * 0x100000001b3U;
        hash ^= hash >> 32;
    }
    for (size_t i = L - L % sizeof word; i < L; i++)
        hash = (hash ^ codes[i]) * 0x100000001b3U;
    return hash;
}

/* Orders chunks by filled length, longest first, then by hash, so that equal chunks are
 * adjacent. */
static int compare_chunks(const void *a, const void *b)
{
    const struct cov_ordered_chunk *x = a, *y = b;
    if (x->filled != y->filled)
        return x->filled > y->filled ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash > y->hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool all_n(const uint8_t *codes, size_t L)
{
    return codes[0] == COV_CODE_N && memcmp(codes, codes + 1, L - 1) == 0;
}

/* Sorts the chunks of a call, and makes each refer to the first chunk that equals it. */
static void sort_chunks(struct cov_chunk_order *o, const uint8_t *codes)
{
    size_t L = o->L;
    for (size_t i = 0; i < o->n; i++) {
        const uint8_t *in = codes + i * L;
        size_t filled = L;
        while (filled > 0 && in[filled - 1] == COV_CODE_PAD)
            filled--;
        o->chunks[i] = (struct cov_ordered_chunk){i, i, filled, o->full ? 0 : hash_codes(in, L)};
    }
    if (o->full)
        return;
    qsort(o->chunks, o->n, sizeof *o->chunks, compare_chunks);
    for (size_t i = 1; i < o->n; i++) {
        const struct cov_ordered_chunk *before = &o->chunks[i - 1];
        struct cov_ordered_chunk *c = &o->chunks[i];
        if (c->hash == before->hash && c->filled == before->filled &&
            memcmp(codes + c->index * L, codes + before->same_as * L, L) == 0)
            c->same_as = before->same_as;
    }
}

void cov_chunk_order_begin(struct cov_chunk_order *o, size_t n, const uint8_t *codes, float *out)
{
    o->n = n;
    o->n_todo = 0;
    o->computed_n = NULL;
    sort_chunks(o, codes);
    for (size_t i = 0; i < n; i++) {
        const struct cov_ordered_chunk *c = &o->chunks[i];
        float *to = out + c->index * o->row;
        if (c->same_as != c->index)
            continue;
        bool known = !o->full && c->filled == o->L && all_n(codes + c->index * o->L, o->L);
        if (known && o->all_n) {
            memcpy(to, o->all_n, o->row * sizeof *to);
            o->n_repeated++;
            continue;
        }
        o->computed_n = known ? to : o->computed_n;
        o->todo[o->n_todo++] = *c;
    }
}

void cov_chunk_order_end(struct cov_chunk_order *o, float *out)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct cov_ordered_chunk *c = &o->chunks[i];
        if (c->same_as == c->index)
            continue;
        memcpy(out + c->index * o->row, out + c->same_as * o->row, o->row * sizeof *out);
        o->n_repeated++;
    }
    if (o->computed_n && !o->all_n) { /* without memory for them, each call recomputes them */
        o->all_n = cov_malloc(o->row, sizeof *out, NULL);
        if (o->all_n)
            memcpy(o->all_n, o->computed_n, o->row * sizeof *out);
    }
}
