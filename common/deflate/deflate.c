/* deflate.c - see deflate.h. Section numbers are those of RFC 1951.
 * SPDX-License-Identifier: MIT */
#include "common/deflate/deflate.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/deflate/bits.h"

/* ---------------------------------------------------------------- libdeflate */

/* Creates libdeflate's objects anew in every call, so that no state is kept between calls or shared
 * by threads. This takes 2 us for a compressor and 0.1 us for a decompressor; compressing or
 * decompressing a chunk of a genome file takes 600 us or 50 us. The allocator reuses the memory. */

size_t cov_deflate_bound(size_t n)
{
    return libdeflate_zlib_compress_bound(NULL, n);
}

int cov_deflate(int level, const void *src, size_t n, void *dst, size_t cap, size_t *n_dst,
                struct cov_err *e)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    if (!c)
        return cov_fail(e, COV_ENOMEM, "out of memory: compressor of level %d", level);
    *n_dst = libdeflate_zlib_compress(c, src, n, dst, cap);
    libdeflate_free_compressor(c);
    if (*n_dst == 0)
        return cov_fail(e, COV_ENOMEM, "buffer of %zu bytes is too small to compress %zu bytes",
                        cap, n);
    return COV_OK;
}

/* If n_got is NULL, expects exactly `cap` bytes. */
static int inflate_bytes(const void *src, size_t n, void *dst, size_t cap, size_t *n_got,
                         struct cov_err *e)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d)
        return cov_fail(e, COV_ENOMEM, "out of memory: decompressor");
    enum libdeflate_result result = libdeflate_zlib_decompress(d, src, n, dst, cap, n_got);
    libdeflate_free_decompressor(d);
    switch (result) {
    case LIBDEFLATE_SUCCESS:
        return COV_OK;
    case LIBDEFLATE_SHORT_OUTPUT:
        return cov_fail(e, COV_EINPUT, "deflate: fewer bytes than the %zu of the chunk", cap);
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return cov_fail(e, COV_EINPUT, "deflate: more bytes than the %zu of the chunk", cap);
    default:
        return cov_fail(e, COV_EINPUT, "deflate: the compressed data is damaged");
    }
}

int cov_inflate(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    return inflate_bytes(src, n, dst, n_dst, NULL, e);
}

int cov_inflate_most(const void *src, size_t n, void *dst, size_t cap, size_t *n_dst,
                     struct cov_err *e)
{
    *n_dst = 0;
    return inflate_bytes(src, n, dst, cap, n_dst, e);
}

uint32_t cov_crc32(uint32_t crc, const void *data, size_t n)
{
    return libdeflate_crc32(crc, data, n);
}

uint32_t cov_adler32(const void *data, size_t n)
{
    return libdeflate_adler32(1, data, n);
}

const char *cov_deflate_version(void)
{
    return LIBDEFLATE_VERSION_STRING;
}

/* ---------------------------------------------------------------- the encoder for records */

/* First the data is divided into tokens; then Huffman codes are built from the counts of their symbols;
 * finally, everything is written as one block. */

enum { MIN_MATCH = 3, MAX_MATCH = 258, MAX_DIST = 32768, WORD = COV_WORD_BYTES };
enum { N_LITLEN = 286, N_DIST = 30, N_PRE = 19, END = 256, MAX_BITS = 15, MAX_PRE_BITS = 7 };
enum { STORED_MAX = 65535, STORED_HEAD = 5, ZLIB_BYTES = 6 };

/* A token consists of the symbol of a literal or a length (3.2.5), the symbol of a distance
 * (NO_DIST after a literal), and the extra bits of both symbols. So all tokens can be counted
 * and written in the same way, without branches. */
enum { DIST_AT = 9, LENGTH_EXTRA_AT = 14, DIST_EXTRA_AT = 19, NO_DIST = 31 };
enum { LITERAL = NO_DIST << DIST_AT };

int cov_tokens_init(struct cov_tokens *t, size_t n, struct cov_err *e)
{
    *t = (struct cov_tokens){.list = cov_malloc(n, sizeof *t->list, e), .cap = n};
    return t->list ? COV_OK : COV_ENOMEM;
}

void cov_tokens_fini(struct cov_tokens *t)
{
    free(t->list);
    *t = (struct cov_tokens){0};
}

/* ---------------------------------------------------------------- tokens */

static inline uint32_t length_part(unsigned length)
{
    unsigned x = length - MIN_MATCH;
    if (x < 8)
        return END + 1 + x;
    if (length == MAX_MATCH)
        return N_LITLEN - 1;
    unsigned n = cov_log2(x) - 2;
    return (END + 1 + 4 * (n + 1) + (x >> n & 3)) | (x & ((1U << n) - 1)) << LENGTH_EXTRA_AT;
}

static inline uint32_t dist_part(unsigned dist)
{
    unsigned x = dist - 1;
    if (x < 4)
        return x << DIST_AT;
    unsigned n = cov_log2(x) - 1;
    return (2 * (n + 1) + (x >> n & 1)) << DIST_AT | (x & ((1U << n) - 1)) << DIST_EXTRA_AT;
}

static inline uint32_t match_of(size_t length, size_t dist)
{
    return length_part((unsigned)length) | dist_part((unsigned)dist);
}

/* Writes the tokens of src[p..n) to `to` and returns the address after them. Inlined for
 * constant n_dists. */
static inline uint32_t *cut(uint32_t *to, const uint8_t *src, size_t p, size_t n,
                            const unsigned *dists, size_t n_dists)
{
    size_t longest = 0;
    for (size_t k = 0; k < n_dists; k++)
        longest = dists[k] > longest ? dists[k] : longest;
    while (p < n && p < longest)
        *to++ = LITERAL | src[p++];
    while (n - p >= WORD) {
        uint64_t here = cov_load64(src + p);
        size_t length = 0, dist = 0;
        for (size_t k = 0; k < n_dists; k++) {
            uint64_t differ = here ^ cov_load64(src + p - dists[k]);
            size_t same = differ ? (size_t)__builtin_ctzll(differ) / 8 : WORD;
            if (same > length) {
                length = same;
                dist = dists[k];
            }
        }
        if (length < MIN_MATCH) {
            *to++ = LITERAL | src[p++];
            continue;
        }
        if (length == WORD)
            length =
                cov_common_bytes(src + p, src + p - dist, n - p < MAX_MATCH ? n - p : MAX_MATCH);
        *to++ = match_of(length, dist);
        p += length;
    }
    while (p < n)
        *to++ = LITERAL | src[p++];
    return to;
}

void cov_tokens_strides(struct cov_tokens *t, const uint8_t *src, size_t n, const unsigned *dists,
                        size_t n_dists)
{
    assert(t->cap - t->n >= n);
    uint32_t *to = t->list + t->n;
    to = n_dists == 3 ? cut(to, src, 0, n, dists, 3) : cut(to, src, 0, n, dists, n_dists);
    t->n = (size_t)(to - t->list);
}

void cov_tokens_records(struct cov_tokens *t, const uint8_t *src, size_t n, size_t n_head)
{
    enum {
        RECORD = 12,
        HALF = 4,
        TAIL = 7
    }; /* tail: the second word except its first byte, and the third word */
    assert(t->cap - t->n >= n);
    static const unsigned dists[] = {RECORD, RECORD - HALF};
    const uint32_t word = match_of(HALF, RECORD - HALF);
    uint32_t *to = t->list + t->n, tails[TAIL + 1] = {0};
    for (unsigned i = MIN_MATCH; i <= TAIL; i++)
        tails[i] = match_of(i, RECORD);
    size_t p = 0;
    while (p < n && p < n_head + RECORD)
        *to++ = LITERAL | src[p++];
    for (; n - p >= RECORD; p += RECORD) {
        const uint8_t *q = src + p + HALF + 1;
        /* Loads the tail and one byte before it, which is dropped. */
        uint64_t tail = cov_load64(q - 1) >> 8, differ = tail ^ cov_load64(q - 1 - RECORD) >> 8;
        size_t same = differ ? (size_t)__builtin_ctzll(differ) / 8 : TAIL;
        if (same < MIN_MATCH || memcmp(src + p, src + p - RECORD + HALF, HALF) != 0) {
            to = cut(to, src, p, p + RECORD, dists, COV_COUNT(dists));
            continue;
        }
        to[0] = word;
        to[1] = LITERAL | q[-1];
        to[2] = tails[same];
        to += 3;
        /* At most four bytes are left; surplus tokens are overwritten later. */
        tail >>= 8 * same;
        for (size_t i = 0; i < HALF; i++)
            to[i] = LITERAL | (tail >> (8 * i) & 0xff);
        to += TAIL - same;
    }
    while (p < n)
        *to++ = LITERAL | src[p++];
    t->n = (size_t)(to - t->list);
}

/* The positions of the columns of a line. */
struct line {
    size_t beg;      /* position of the newline before the line */
    size_t n_first;  /* length of that newline and the first column */
    size_t tab;      /* position of the tab before the third column */
    size_t n_third;  /* length of the third column with the tabs around it */
    bool is_regular; /* the line has these columns */
};

/* Finds the columns of the line between the newlines at `beg` and `end`. */
static struct line columns(const uint8_t *src, size_t beg, size_t end)
{
    size_t tabs[3], n = 0;
    for (size_t p = beg + 1; p < end && n < 3; p++)
        if (src[p] == '\t')
            tabs[n++] = p;
    if (n < 3)
        return (struct line){.beg = beg};
    return (struct line){beg, tabs[0] - beg, tabs[1], tabs[2] + 1 - tabs[1], true};
}

void cov_tokens_lines(struct cov_tokens *t, const uint8_t *src, size_t n)
{
    assert(t->cap - t->n >= n);
    uint32_t *to = t->list + t->n;
    struct line before = {0};
    size_t p = 0;
    while (p < n) {
        /* There is a newline at p, or p is the start of the data. */
        const uint8_t *newline = memchr(src + p + 1, '\n', n - p - 1);
        size_t end = newline ? (size_t)(newline - src) : n, beg = p;
        size_t dist = p - before.beg;
        if (before.is_regular && dist <= MAX_DIST && end - p > before.n_first &&
            cov_common_bytes(src + p, src + p - dist, before.n_first) == before.n_first &&
            before.n_first >= MIN_MATCH && before.n_first <= MAX_MATCH) {
            *to++ = match_of(before.n_first, dist);
            p += before.n_first;
            size_t most = end - p < before.n_third ? end - p : before.n_third;
            size_t length = cov_common_bytes(src + p, src + p - (p - before.tab), most);
            if (length >= MIN_MATCH && length <= MAX_MATCH) {
                *to++ = match_of(length, p - before.tab);
                p += length;
                /* The third column, a slightly larger number, usually starts with the same digits
                 * as the second. */
                size_t back = length - 1;
                most = end - p < back - 1 ? end - p : back - 1;
                length =
                    length == before.n_third ? cov_common_bytes(src + p, src + p - back, most) : 0;
                if (length >= MIN_MATCH) {
                    *to++ = match_of(length, back);
                    p += length;
                }
            }
        }
        while (p < end)
            *to++ = LITERAL | src[p++];
        before = columns(src, beg, end);
    }
    t->n = (size_t)(to - t->list);
}

/* ---------------------------------------------------------------- codes */

struct code {
    uint16_t bits[N_LITLEN]; /* in stream order */
    uint8_t lengths[N_LITLEN];
};

/* Sets syms[0..n) to the symbols with freq > 0, sorted with the rarest first (radix sort).
 * Returns n. */
static size_t sort_symbols(const uint32_t *freq, size_t n_syms, uint16_t *syms)
{
    uint16_t other[N_LITLEN];
    size_t n = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < n_syms; i++)
        if (freq[i]) {
            syms[n++] = (uint16_t)i;
            most |= freq[i];
        }
    uint16_t *from = syms, *to = other;
    for (unsigned shift = 0; shift < 32 && most >> shift; shift += 8) {
        size_t at[257] = {0};
        for (size_t i = 0; i < n; i++)
            at[(freq[from[i]] >> shift & 0xff) + 1]++;
        for (size_t i = 1; i < 256; i++)
            at[i] += at[i - 1];
        for (size_t i = 0; i < n; i++)
            to[at[freq[from[i]] >> shift & 0xff]++] = from[i];
        uint16_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != syms)
        memcpy(syms, from, n * sizeof *syms);
    return n;
}

/* Sets counts[k] to the number of symbols, of n >= 2 in all, whose codes have k bits, by
 * Huffman's algorithm, limited to max_bits. */
static void count_lengths(const uint32_t *freq, const uint16_t *syms, size_t n, unsigned max_bits,
                          unsigned counts[MAX_BITS + 1])
{
    /* Leaves first, then inner nodes, both by weight; parents come after their children. */
    uint32_t weights[2 * N_LITLEN] = {0};
    uint16_t parents[2 * N_LITLEN], depths[2 * N_LITLEN];
    size_t leaf = 0, inner = n, n_nodes = n;
    for (size_t i = 0; i < n; i++)
        weights[i] = freq[syms[i]];
    while (n_nodes < 2 * n - 1) {
        uint32_t sum = 0;
        for (int child = 0; child < 2; child++) {
            bool takes_leaf = leaf < n && (inner == n_nodes || weights[leaf] <= weights[inner]);
            size_t i = takes_leaf ? leaf++ : inner++;
            sum += weights[i];
            parents[i] = (uint16_t)n_nodes;
        }
        weights[n_nodes++] = sum;
    }
    memset(counts, 0, (MAX_BITS + 1) * sizeof *counts);
    depths[n_nodes - 1] = 0;
    uint32_t sum = 0; /* sum of 2^-length, in units of 2^-max_bits */
    for (size_t i = n_nodes - 1; i-- > 0;) {
        depths[i] = (uint16_t)(depths[parents[i]] + 1);
        if (i >= n)
            continue;
        unsigned length = depths[i] < max_bits ? depths[i] : max_bits;
        counts[length]++;
        sum += UINT32_C(1) << (max_bits - length);
    }
    /* The limit leaves too many codes of max_bits bits: lengthens a shorter code by a bit, which
     * makes room for one of them next to it. */
    for (; sum > UINT32_C(1) << max_bits; sum--) {
        unsigned length = max_bits - 1;
        while (counts[length] == 0)
            length--;
        counts[max_bits]--;
        counts[length]--;
        counts[length + 1] += 2;
    }
}

/* Builds the code of n_syms symbols (3.2.2). At least two symbols get a code, because some
 * decoders require that. */
static void make_code(uint32_t *freq, size_t n_syms, unsigned max_bits, struct code *c)
{
    uint16_t syms[N_LITLEN];
    unsigned counts[MAX_BITS + 1], next[MAX_BITS + 1] = {0};
    size_t n = sort_symbols(freq, n_syms, syms), at = 0;
    for (size_t i = 0; n < 2 && i < 2; i++)
        if (freq[i] == 0) {
            freq[i] = 1;
            n = sort_symbols(freq, n_syms, syms);
        }
    count_lengths(freq, syms, n, max_bits, counts);
    memset(c->lengths, 0, n_syms);
    for (unsigned length = max_bits; length > 0; length--)
        for (unsigned i = 0; i < counts[length]; i++)
            c->lengths[syms[at++]] = (uint8_t)length;
    for (unsigned length = 1, first = 0; length <= max_bits; length++) {
        next[length] = first;
        first = (first + counts[length]) << 1;
    }
    for (size_t i = 0; i < n_syms; i++)
        if (c->lengths[i])
            c->bits[i] = cov_reverse_bits(next[c->lengths[i]]++, c->lengths[i]);
}

/* ---------------------------------------------------------------- writing */

/* The code lengths of a block, as section 3.2.7 encodes them. An item has a symbol in the lowest
 * 5 bits, and the symbol's extra bits above. */
struct lengths {
    uint16_t items[N_LITLEN + N_DIST];
    size_t n, n_litlen, n_dist;
    struct code pre;
    size_t n_pre, n_bits;
};

static const uint8_t pre_order[N_PRE] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};

static unsigned pre_extra(unsigned symbol)
{
    return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

static void list_lengths(struct lengths *l, const struct code *litlen, const struct code *dist)
{
    enum { COPY = 16, ZEROS = 17, MANY_ZEROS = 18, SHIFT = 5 };
    uint8_t all[N_LITLEN + N_DIST];
    uint32_t freq[N_PRE] = {0};
    l->n_litlen = N_LITLEN;
    while (l->n_litlen > END + 1 && litlen->lengths[l->n_litlen - 1] == 0)
        l->n_litlen--;
    l->n_dist = N_DIST;
    while (l->n_dist > 1 && dist->lengths[l->n_dist - 1] == 0)
        l->n_dist--;
    memcpy(all, litlen->lengths, l->n_litlen);
    memcpy(all + l->n_litlen, dist->lengths, l->n_dist);
    l->n = 0;
    for (size_t i = 0, n = l->n_litlen + l->n_dist, run; i < n; i += run) {
        for (run = 1; i + run < n && all[i + run] == all[i];)
            run++;
        size_t item = all[i];
        if (item == 0 && run >= 3) {
            run = run < 138 ? run : 138;
            item = run <= 10 ? ZEROS | (run - 3) << SHIFT : MANY_ZEROS | (run - 11) << SHIFT;
        } else if (i > 0 && all[i - 1] == item && run >= 3) {
            run = run < 6 ? run : 6;
            item = COPY | (run - 3) << SHIFT;
        } else {
            run = 1;
        }
        l->items[l->n++] = (uint16_t)item;
        freq[item & 31]++;
    }
    make_code(freq, N_PRE, MAX_PRE_BITS, &l->pre);
    l->n_pre = N_PRE;
    while (l->n_pre > 4 && l->pre.lengths[pre_order[l->n_pre - 1]] == 0)
        l->n_pre--;
    l->n_bits = 3 + 5 + 5 + 4 + 3 * l->n_pre;
    for (unsigned i = 0; i < N_PRE; i++)
        l->n_bits += freq[i] * (l->pre.lengths[i] + pre_extra(i));
}

static void put_head(struct cov_bit_writer *o, const struct lengths *l)
{
    enum { LAST = 1, DYNAMIC = 2, SHIFT = 5 };
    cov_put_bits(o, LAST | DYNAMIC << 1, 3);
    cov_put_bits(o, l->n_litlen - (END + 1), 5);
    cov_put_bits(o, l->n_dist - 1, 5);
    cov_put_bits(o, l->n_pre - 4, 4);
    for (size_t i = 0; i < l->n_pre; i++)
        cov_put_bits(o, l->pre.lengths[pre_order[i]], 3);
    for (size_t i = 0; i < l->n; i++) {
        unsigned symbol = l->items[i] & 31;
        cov_put_bits(o, l->pre.bits[symbol], l->pre.lengths[symbol]);
        cov_put_bits(o, (uint64_t)l->items[i] >> SHIFT, pre_extra(symbol));
    }
}

/* How a symbol is written: its bits, their number, and their number with the extra bits
 * included. All are in one word, because it is loaded for every token. */
enum { BITS_AT = 16, ALL_AT = 24 };

static uint32_t written(const struct code *c, unsigned symbol, unsigned n_extra)
{
    uint32_t n = c->lengths[symbol];
    return n ? c->bits[symbol] | n << BITS_AT | (n + n_extra) << ALL_AT : 0;
}

static unsigned length_extra(unsigned symbol)
{
    return symbol < END + 9 || symbol == N_LITLEN - 1 ? 0 : (symbol - END - 5) / 4;
}

static unsigned dist_extra(unsigned symbol)
{
    return symbol < 4 ? 0 : symbol / 2 - 1;
}

/* Sets *bits to the bits of a token and returns their number. */
static inline unsigned token_bits(uint32_t token, const uint32_t *lengths, const uint32_t *dists,
                                  uint64_t *bits)
{
    uint32_t l = lengths[token & 0x1ff], d = dists[token >> DIST_AT & 31];
    uint64_t first = (l & 0xffff) | (token >> LENGTH_EXTRA_AT & 31) << (l >> BITS_AT & 0xff);
    uint64_t then = (d & 0xffff) | (uint64_t)(token >> DIST_EXTRA_AT) << (d >> BITS_AT & 0xff);
    *bits = first | then << (l >> ALL_AT);
    return (l >> ALL_AT) + (d >> ALL_AT);
}

/* Returns the largest number of bits that a token takes. */
static unsigned most_bits(const uint32_t *lengths, const uint32_t *dists)
{
    unsigned length = 0, dist = 0;
    for (unsigned i = 0; i < N_LITLEN; i++)
        length = lengths[i] >> ALL_AT > length ? lengths[i] >> ALL_AT : length;
    for (unsigned i = 0; i < N_DIST; i++)
        dist = dists[i] >> ALL_AT > dist ? dists[i] >> ALL_AT : dist;
    return length + dist;
}

static void put_tokens(struct cov_bit_writer *o, const struct cov_tokens *t,
                       const struct code *litlen, const struct code *dist)
{
    uint32_t lengths[N_LITLEN], dists[NO_DIST + 1] = {0};
    struct cov_bit_writer to = *o;
    uint64_t bits, more;
    size_t i = 0;
    for (unsigned k = 0; k < N_LITLEN; k++)
        lengths[k] = written(litlen, k, length_extra(k));
    for (unsigned k = 0; k < N_DIST; k++)
        dists[k] = written(dist, k, dist_extra(k));
    if (2 * most_bits(lengths, dists) <=
        COV_PUT_BITS) /* two tokens at a time, in nearly all cases */
        for (; i + 2 <= t->n; i += 2) {
            unsigned n = token_bits(t->list[i], lengths, dists, &bits);
            unsigned n_more = token_bits(t->list[i + 1], lengths, dists, &more);
            cov_put_bits(&to, bits | more << n, n + n_more);
        }
    for (; i < t->n; i++) {
        unsigned n = token_bits(t->list[i], lengths, dists, &bits);
        cov_put_bits(&to, bits, n);
    }
    cov_put_bits(&to, litlen->bits[END], litlen->lengths[END]);
    *o = to;
}

/* Writes the data as stored blocks (3.2.4). */
static size_t store(const uint8_t *src, size_t n, uint8_t *dst)
{
    uint8_t *to = dst;
    do {
        size_t k = n < STORED_MAX ? n : STORED_MAX;
        n -= k;
        *to++ = n == 0;
        *to++ = (uint8_t)k;
        *to++ = (uint8_t)(k >> 8);
        *to++ = (uint8_t)~k;
        *to++ = (uint8_t)(~k >> 8);
        memcpy(to, src, k);
        to += k;
        src += k;
    } while (n > 0);
    return (size_t)(to - dst);
}

static size_t stored_bytes(size_t n)
{
    return n + STORED_HEAD * (n / STORED_MAX + (n % STORED_MAX != 0 || n == 0));
}

size_t cov_tokens_bound(size_t n)
{
    return stored_bytes(n) + ZLIB_BYTES + WORD;
}

/* Counts the symbols. Uses several tables in turn, because equal symbols often follow each
 * other. */
static void count(const struct cov_tokens *t, uint32_t n_litlen[N_LITLEN],
                  uint32_t n_dist[NO_DIST + 1])
{
    uint32_t l0[1 << DIST_AT] = {0}, l1[1 << DIST_AT] = {0}, d0[NO_DIST + 1] = {0};
    uint32_t l2[1 << DIST_AT] = {0}, l3[1 << DIST_AT] = {0}, d1[NO_DIST + 1] = {0};
    size_t i = 0;
    for (; i + 4 <= t->n; i += 4) {
        const uint32_t *x = t->list + i;
        l0[x[0] & 0x1ff]++;
        l1[x[1] & 0x1ff]++;
        l2[x[2] & 0x1ff]++;
        l3[x[3] & 0x1ff]++;
        d0[x[0] >> DIST_AT & 31]++;
        d1[x[1] >> DIST_AT & 31]++;
        d0[x[2] >> DIST_AT & 31]++;
        d1[x[3] >> DIST_AT & 31]++;
    }
    for (; i < t->n; i++) {
        l0[t->list[i] & 0x1ff]++;
        d0[t->list[i] >> DIST_AT & 31]++;
    }
    for (i = 0; i < N_LITLEN; i++)
        n_litlen[i] = l0[i] + l1[i] + l2[i] + l3[i];
    for (i = 0; i <= NO_DIST; i++)
        n_dist[i] = d0[i] + d1[i];
}

size_t cov_tokens_deflate(struct cov_tokens *t, const uint8_t *src, size_t n, uint8_t *dst)
{
    struct code litlen, dist;
    struct lengths lengths;
    uint32_t n_litlen[N_LITLEN], n_dist[NO_DIST + 1];
    count(t, n_litlen, n_dist);
    n_litlen[END] = 1;
    make_code(n_litlen, N_LITLEN, MAX_BITS, &litlen);
    make_code(n_dist, N_DIST, MAX_BITS, &dist);
    list_lengths(&lengths, &litlen, &dist);
    uint64_t n_bits = lengths.n_bits;
    for (unsigned i = 0; i < N_LITLEN; i++)
        n_bits += (uint64_t)n_litlen[i] * (litlen.lengths[i] + length_extra(i));
    for (unsigned i = 0; i < N_DIST; i++)
        n_bits += (uint64_t)n_dist[i] * (dist.lengths[i] + dist_extra(i));
    if (n_bits / 8 + 1 > stored_bytes(n)) {
        t->n = 0;
        return store(src, n, dst);
    }
    struct cov_bit_writer o = {.at = dst};
    put_head(&o, &lengths);
    put_tokens(&o, t, &litlen, &dist);
    t->n = 0;
    return (size_t)(o.at - dst) + (o.n > 0);
}

size_t cov_tokens_zlib(struct cov_tokens *t, const uint8_t *src, size_t n, uint8_t *dst)
{
    /* zlib header (RFC 1950): deflate, a window of 32 KiB, fastest level. */
    dst[0] = 0x78;
    dst[1] = 0x01;
    uint8_t *to = dst + 2 + cov_tokens_deflate(t, src, n, dst + 2);
    uint32_t sum = cov_adler32(src, n);
    for (int shift = 24; shift >= 0; shift -= 8)
        *to++ = (uint8_t)(sum >> shift);
    return (size_t)(to - dst);
}
