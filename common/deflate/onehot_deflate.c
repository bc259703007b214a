/* onehot_deflate.c - see onehot_deflate.h. Section numbers are those of RFC 1951.
 *
 * The stream has one block for the low plane, one or two for the high plane up to the padding, and
 * one for the padding, if there is any. Runs of zeros take two bits per 258 bytes. In the high
 * plane, a base is one byte 0x3c and three bytes 0.
 *
 * COV_ONEHOT_FAST writes a base as five bits, one of which marks its column. It needs no search and
 * no table.
 *
 * COV_ONEHOT_SMALL starts like that. Once most words of four bases have occurred, it writes every
 * four bases as a match (a length and a distance, 3.2.5) with the last occurrence of the same word,
 * which it finds in a table of 256 entries. A match takes 13.4 bits: 8 bits of information, 1.44
 * because distances are distributed geometrically, 2 because distances count bytes, and 2 for the
 * length. Shorter words take more bits per base; longer words occur less often. Bases are never
 * compared, and the only unpredictable branch is the one for a word's first occurrence.
 *
 * The checksum (Adler-32, RFC 1950) is computed from sums over the base codes, without generating
 * the bytes.
 * SPDX-License-Identifier: MIT */
#include "common/deflate/onehot_deflate.h"

#include <assert.h>
#include <endian.h>
#include <pthread.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/deflate/onehot_kern.h"
#include "common/seq/alphabet.h"

enum {
    ADLER = 65521,
    WORD = COV_ONEHOT_WORD,
    N_WORDS = 1 << 2 * WORD,
    WINDOW = COV_ONEHOT_WINDOW,
    LONG_RUN = COV_ONEHOT_LONG_RUN,
    HEAD = 512, /* codes at the start of a chunk that `small` writes like `fast`: twice N_WORDS */
    BLOCK = COV_ONEHOT_BLOCK,
    STEP = COV_ONEHOT_STEP,
    GROUP = COV_ONEHOT_GROUP
};
/* With at most this many codes, positions plus the window fit into 32 bits. */
#define MAX_CODES ((size_t)1 << 31)

/* Rare codes in `small` have the longest rows, 24 bits. Runs of zeros take less than a bit per
 * code, plus two bits per byte for a remainder of up to 257 bytes, that is, 65 bytes. In
 * addition there are block headers, and the last bits are stored as eight bytes. */
enum { BOUND_PER_CODE = 4, BOUND_REST = 512 };

size_t cov_onehot_bound(size_t L)
{
    return L <= (SIZE_MAX - BOUND_REST) / BOUND_PER_CODE ? L * BOUND_PER_CODE + BOUND_REST
                                                         : SIZE_MAX;
}

size_t cov_onehot_scratch(size_t L)
{
    return L <= SIZE_MAX - 2 * STEP ? L + 2 * STEP : SIZE_MAX;
}

/* ---- classes of codes, and the checksum ---- */

/* Sixteen codes, the first in the lowest byte of the first half. */
typedef uint64_t codes16 __attribute__((vector_size(16)));

static inline codes16 load16(const uint8_t *codes)
{
    codes16 x;
    memcpy(&x, codes, sizeof x);
    x[0] = le64toh(x[0]);
    x[1] = le64toh(x[1]);
    return x;
}

#define EACH(byte) ((byte)*0x0101010101010101U)

/* Nonzero if one of the codes is not A, C, G or T. The codes of these bases have exactly one bit
 * set. */
static inline codes16 not_plain(codes16 x)
{
    return (x & (x - EACH(1U))) | (~(x + EACH(15U)) & EACH(16U));
}

static inline bool is_zero(codes16 x)
{
    return (x[0] | x[1]) == 0;
}

static inline bool is_plain(uint8_t code)
{
    return code && !(code & (code - 1));
}

/* Returns the columns of sixteen bases, in the order C, A, T, G. */
static inline codes16 columns_of(codes16 x)
{
    return ((x | x >> 2) & EACH(1U)) | ((x >> 1 | x >> 2) & EACH(2U));
}

/* Returns the length of codes[0..n) without the padding at the end. */
static size_t filled(const uint8_t *codes, size_t n)
{
    while (n >= 64 && is_zero(load16(codes + n - 64) | load16(codes + n - 48) |
                              load16(codes + n - 32) | load16(codes + n - 16)))
        n -= 64;
    while (n >= 8 && cov_load64(codes + n - 8) == 0)
        n -= 8;
    while (n > 0 && codes[n - 1] == COV_CODE_PAD)
        n--;
    return n;
}

static uint64_t sum_of_bytes(codes16 x)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    codes16 pairs = (x & even) + (x >> 8 & even);
    uint64_t all = pairs[0] + pairs[1];
    return (all & 0xffff) + (all >> 16 & 0xffff) + (all >> 32 & 0xffff) + (all >> 48);
}

/* Sets *sum to the sum of the columns of codes[0..n); n <= BLOCK is a multiple of 16. Returns
 * false if not all codes are bases. */
static bool sum_columns(const uint8_t *codes, size_t n, uint64_t *sum)
{
    /* A column is at most 3, so a byte can hold the sum of BLOCK / 16 columns. */
    codes16 sums = {0, 0}, bad = {0, 0};
    for (size_t i = 0; i < n; i += 16) {
        codes16 x = load16(codes + i);
        bad |= not_plain(x);
        sums += columns_of(x);
    }
    *sum = sum_of_bytes(sums);
    return is_zero(bad);
}

/* Sets *adler to the Adler-32 (RFC 1950) of the 8L bytes of both planes. Its lower half is 1
 * plus the sum of the bytes. Its upper half is 8L plus the sum, over all bytes, of the byte
 * times the number of bytes from that byte to the end; that number is 4 (L - t) - k for byte k
 * of row t in the high plane. codes[n..L) are padding. Returns false if a code cannot be encoded
 * here. */
static bool checksum(const struct cov_onehot_codes *c, const uint8_t *codes, size_t n, size_t L,
                     uint32_t *adler)
{
    uint64_t low = 1, high = 8 * (uint64_t)L;
    for (size_t beg = 0; beg < n; beg += BLOCK) {
        size_t end = n - beg < BLOCK ? n : beg + BLOCK, t = beg;
        uint64_t whole = (end - beg) / 16 * 16, columns;
        if (sum_columns(codes + beg, whole, &columns)) {
            uint64_t rows = whole * (L - beg) - whole * (whole - 1) / 2;
            low += 0x3c * whole;
            high += 0x3c * (4 * rows - columns);
            t += whole;
        }
        for (; t < end; t++) {
            uint8_t code = codes[t];
            if (code == COV_CODE_PAD || !c->possible[code])
                return false;
            low += c->row_sum[code];
            high += 4 * (uint64_t)(L - t) * c->row_sum[code] - c->row_moment[code];
        }
        low %= ADLER;
        high %= ADLER;
    }
    *adler = (uint32_t)(high % ADLER << 16 | low % ADLER);
    return true;
}

/* ---- bits ---- */

static void put_times(struct cov_bit_writer *w, struct cov_bits code, size_t times)
{
    uint32_t n_full = 56 / code.n;
    uint64_t full = 0;
    for (uint32_t i = 0; i < n_full; i++)
        full |= code.bits << i * code.n;
    for (; times >= n_full; times -= n_full)
        cov_put_bits(w, full, n_full * code.n);
    for (; times > 0; times--)
        cov_put_code(w, code);
}

static void put_head(struct cov_bit_writer *w, const struct cov_onehot_block *b, bool final)
{
    for (uint32_t i = 0; i < b->n_head; i += 32) {
        uint32_t bits, left = b->n_head - i;
        memcpy(&bits, b->head + i / 8, sizeof bits);
        cov_put_bits(w, le32toh(bits) | (i == 0 && final), left < 32 ? left : 32);
    }
}

/* Writes a run of n_bytes > 0 bytes whose Huffman code is `byte`. */
static void put_run(struct cov_bit_writer *w, const struct cov_onehot_block *b,
                    struct cov_bits byte, size_t n_bytes)
{
    size_t n_matches = (n_bytes - 1) / 258;
    cov_put_code(w, byte);
    put_times(w, b->match258, n_matches);
    put_times(w, byte, n_bytes - 1 - 258 * n_matches);
}

static void put_zeros(struct cov_bit_writer *w, const struct cov_onehot_block *b, size_t n_bytes,
                      bool final)
{
    put_head(w, b, final);
    if (n_bytes > 0)
        put_run(w, b, b->zero, n_bytes);
    cov_put_code(w, b->end);
}

/* ---- the high plane ---- */

/* Returns how many codes at the start of codes[0..n), n > 0, equal the first. */
static size_t run_length(const uint8_t *codes, size_t n)
{
    size_t i = 1;
    while (i < n && codes[i] == codes[0])
        i++;
    return i;
}

/* Turns every eight bases into 40 bits, eight rows of `fast`. */
static inline codes16 five_bits_each(codes16 x)
{
    /* Reorders the bits from A, C, G, T to the columns C, A, T, G. */
    x = (x & EACH(5U)) << 1 | (x >> 1 & EACH(5U));
    x = (x & 0x000f000f000f000f) | (x >> 3 & 0x01e001e001e001e0);
    x = (x & 0x000003ff000003ff) | (x >> 6 & 0x000ffc00000ffc00);
    return (x & 0x00000000000fffff) | (x >> 12 & 0x000000fffff00000);
}

/* Writes codes[0..n) in steps of sixteen, up to the first step that is incomplete or has a code
 * that is not a base. Returns the number of codes written. */
static size_t put_sixteens(struct cov_bit_writer *w, const uint8_t *codes, size_t n)
{
    /* Eight bases take five bytes, so the number of pending bits does not change. */
    struct cov_bit_writer to = *w;
    size_t t = 0;
    for (; n - t >= 16; t += 16) {
        codes16 x = load16(codes + t);
        if (!is_zero(not_plain(x)))
            break;
        x = five_bits_each(x);
        for (int half = 0; half < 2; half++, to.at += 5) {
            to.bits |= x[half] << to.n;
            cov_store64(to.at, to.bits);
            to.bits >>= 40;
        }
    }
    *w = to;
    return t;
}

static void put_fast(struct cov_bit_writer *w, const struct cov_onehot_block *b,
                     const uint8_t *codes, size_t n)
{
    size_t t = 0;
    while ((t += put_sixteens(w, codes + t, n - t)) < n) {
        if (codes[t] == COV_CODE_N) {
            size_t run = run_length(codes + t, n - t);
            put_run(w, b, b->quarter, 4 * run);
            t += run;
        } else {
            cov_put_code(w, b->row[codes[t++]]);
        }
    }
}

/* Writes a run of one code: its row, then matches. */
static void put_same(struct cov_bit_writer *w, const struct cov_onehot_codes *c, uint8_t code,
                     size_t n)
{
    cov_put_code(w, c->small.row[code]);
    n--;
    for (; n >= LONG_RUN; n -= LONG_RUN)
        cov_put_code(w, c->long_run);
    for (; n >= WORD; n -= WORD)
        cov_put_back(w, c, 1);
    for (; n > 0; n--)
        cov_put_code(w, c->small.row[code]);
}

/* Writes a block `fast`. */
static void put_first(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                      const uint8_t *codes, size_t n, bool final)
{
    put_head(w, &c->fast, final);
    put_fast(w, &c->fast, codes, n);
    cov_put_code(w, c->fast.end);
}

/* ---- matches of words ---- */

/* All words of a chunk are computed at once, for both strands: the other strand has the same
 * words in reverse order. Only the numbers of the words differ, which does not matter. */

/* A run of a code other than A, C, G and T: codes beg to end - 1 are all `code`. */
struct run {
    uint32_t beg, end;
    uint8_t code;
};

/* Chunks with more runs are written as `fast`. */
enum { MAX_RUNS = 1024 };

/* A chunk without the padding at the end. */
struct chunk {
    const struct cov_onehot_codes *c;
    const struct cov_onehot_kern *kern;
    const uint8_t *codes;
    size_t n, L;
    /* words[t] = bases t to t + 3, the first in the lowest bits; undefined unless all are bases. */
    uint8_t *words;
    uint64_t columns; /* the sum of the columns of all bases */
    size_t n_bases, n_runs;
    struct run runs[MAX_RUNS];
};

/* Copies codes[0..n), which start at code t of the chunk, to `bases`. Adds codes other than A,
 * C, G and T to the runs, and replaces them with C, whose column is 0. Returns false if the
 * codes cannot be encoded. */
static bool note_runs(struct chunk *k, const uint8_t *codes, size_t n, size_t t, uint8_t *bases)
{
    for (size_t i = 0; i < n; i++, t++) {
        uint8_t code = bases[i] = codes[i];
        struct run *run = &k->runs[k->n_runs - (k->n_runs > 0)];
        if (is_plain(code))
            continue;
        bases[i] = COV_CODE_C;
        k->n_bases--;
        if (k->n_runs > 0 && run->end == t && run->code == code) {
            run->end++;
            continue;
        }
        if (k->n_runs == MAX_RUNS || code == COV_CODE_PAD || !k->c->possible[code])
            return false;
        k->runs[k->n_runs++] = (struct run){(uint32_t)t, (uint32_t)t + 1, code};
    }
    return true;
}

static const struct cov_onehot_kern *kernels;

const struct cov_onehot_kern *cov_onehot_choose(void)
{
    const unsigned needs = COV_CPU_AVX2 | COV_CPU_BMI2;
    return (cov_cpu_features() & needs) == needs ? &cov_onehot_avx2 : &cov_onehot_base;
}

static void choose_kernels(void)
{
    kernels = cov_onehot_choose();
}

static const struct cov_onehot_kern *kern(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, choose_kernels);
    return kernels;
}

/* Fills *k from codes[0..n). `words` must have room for cov_onehot_scratch(n) bytes. Returns
 * false if the chunk cannot be encoded as words. */
static bool take_chunk(struct chunk *k, const uint8_t *codes, size_t n, size_t L, uint8_t *words)
{
    k->c = cov_onehot_codes();
    k->kern = kern();
    k->codes = codes;
    k->n = k->n_bases = n;
    k->L = L;
    k->words = words;
    k->columns = k->n_runs = 0;
    for (size_t beg = 0, end, whole = n / STEP * STEP; beg < n; beg = end) {
        uint8_t copy[BLOCK];
        uint64_t columns;
        end = beg == whole ? n : whole - beg < BLOCK ? whole : beg + BLOCK;
        size_t m = (end - beg + STEP - 1) / STEP * STEP;
        if (m != end - beg || !k->kern->take(codes + beg, m, words + beg, &columns)) {
            memset(copy + m - STEP, COV_CODE_C, STEP);
            if (!note_runs(k, codes + beg, end - beg, beg, copy))
                return false;
            (void)k->kern->take(copy, m, words + beg, &columns);
        }
        k->columns += columns;
    }
    n = (n + STEP - 1) / STEP * STEP;
    memset(words + n, 0, STEP);
    k->kern->join(words, n);
    return true;
}

/* Returns the code at position t of a strand. */
static inline uint8_t code_at(const struct chunk *k, enum cov_onehot_strand strand, size_t t)
{
    return strand == COV_ONEHOT_PLUS ? k->codes[t] : cov_code_complement[k->codes[k->n - 1 - t]];
}

/* Returns the address of the word at position t of a strand; the next word is `strand` bytes
 * further. */
static inline const uint8_t *word_at(const struct chunk *k, enum cov_onehot_strand strand, size_t t)
{
    return k->words + (strand == COV_ONEHOT_PLUS ? t : k->n - WORD - t);
}

/* Enters the words of bases into the table: last[word] = position + WINDOW + 1. The entry of a
 * word that has not occurred is 0, which is outside the window. */
static void note_words(const struct chunk *k, enum cov_onehot_strand strand, size_t beg, size_t end,
                       uint32_t *last)
{
    for (size_t t = beg; end - t >= WORD; t++)
        last[*word_at(k, strand, t)] = (uint32_t)t + WINDOW + 1;
}

/* Writes positions beg to end - 1 of a strand, which must be bases. */
static void put_bases(struct cov_bit_writer *w, const struct chunk *k,
                      enum cov_onehot_strand strand, size_t beg, size_t end, uint32_t *last)
{
    size_t t = beg;
    if (end - beg >= WORD - 1 + GROUP) {
        /* No word can start at the last three positions. */
        size_t n_groups = (end - beg - (WORD - 1)) / GROUP;
        const uint8_t *p = word_at(k, strand, beg);
        if (strand == COV_ONEHOT_PLUS)
            k->kern->put_plus(w, k->c, p, beg, n_groups, last);
        else
            k->kern->put_minus(w, k->c, p, beg, n_groups, last);
        t += n_groups * GROUP;
    }
    for (; end - t >= WORD; t += WORD) {
        uint32_t here = (uint32_t)t + WINDOW + 1, word = *word_at(k, strand, t);
        cov_onehot_put_word(w, k->c, word, strand, here - last[word]);
        last[word] = here;
    }
    for (; t < end; t++)
        cov_put_code(w, k->c->small.row[code_at(k, strand, t)]);
}

/* Writes a strand of more than HEAD codes. */
static void put_small(struct cov_bit_writer *w, const struct chunk *k,
                      enum cov_onehot_strand strand, bool final)
{
    uint32_t last[N_WORDS] = {0};
    uint8_t head[HEAD];
    if (strand == COV_ONEHOT_PLUS)
        memcpy(head, k->codes, HEAD);
    else
        cov_codes_other_strand(k->codes + k->n - HEAD, HEAD, head);
    put_first(w, k->c, head, HEAD, false);
    put_head(w, &k->c->small, final);
    /* Each iteration writes bases and the run that follows them. */
    for (size_t i = 0, t = 0, beg, end; i <= k->n_runs; i++, t = end) {
        beg = end = k->n;
        if (i < k->n_runs) {
            const struct run *run = &k->runs[strand == COV_ONEHOT_PLUS ? i : k->n_runs - 1 - i];
            beg = strand == COV_ONEHOT_PLUS ? run->beg : k->n - run->end;
            end = strand == COV_ONEHOT_PLUS ? run->end : k->n - run->beg;
        }
        if (t < HEAD)
            note_words(k, strand, t, beg < HEAD ? beg : HEAD, last);
        if (beg > HEAD)
            put_bases(w, k, strand, t < HEAD ? HEAD : t, beg, last);
        if (end > HEAD && end > beg)
            put_same(w, k->c, code_at(k, strand, end - 1), end - (beg < HEAD ? HEAD : beg));
    }
    cov_put_code(w, k->c->small.end);
}

/* Returns the checksum of a strand (see `checksum`). First computes it as if all positions were
 * bases, with those of runs in column 0, then corrects it for the runs. */
static uint32_t checksum_of_strand(const struct chunk *k, enum cov_onehot_strand strand)
{
    uint64_t n = k->n, L = k->L, columns = k->columns;
    /* On the other strand, the columns C, A, T, G become G, T, A, C. */
    if (strand == COV_ONEHOT_MINUS)
        columns = 3 * (uint64_t)k->n_bases - columns;
    uint64_t rows = n * L - (n * n - n) / 2;
    uint64_t low = 1 + 0x3c * n,
             high = 8 * L + 0x3c * (4 * (rows % ADLER) + ADLER - columns % ADLER);
    for (size_t i = 0; i < k->n_runs; i++) {
        const struct run *run = &k->runs[i];
        uint8_t code = strand == COV_ONEHOT_PLUS ? run->code : cov_code_complement[run->code];
        uint64_t beg = strand == COV_ONEHOT_PLUS ? run->beg : n - run->end, m = run->end - run->beg;
        /* The row sum of a code is at least that of a base, 0x3c. */
        uint64_t more = k->c->row_sum[code] - 0x3c;
        rows = m * (L - beg) - (m * m - m) / 2;
        low += m * more;
        high += 4 * (rows % ADLER) * more + ADLER - m * k->c->row_moment[code] % ADLER;
    }
    return (uint32_t)(high % ADLER << 16 | low % ADLER);
}

/* ---- streams ---- */

/* Writes the zlib header (deflate, a window of 32 KiB, no dictionary) and the low plane. */
static struct cov_bit_writer begin_stream(const struct cov_onehot_codes *c, size_t L, uint8_t *dst)
{
    dst[0] = 0x78;
    dst[1] = 0x01;
    struct cov_bit_writer w = {dst + 2, 0, 0};
    put_zeros(&w, &c->zeros, 4 * L, L == 0);
    return w;
}

/* Writes L - n codes of padding and the checksum. Returns the size of the stream. */
static size_t end_stream(struct cov_bit_writer *w, const struct cov_onehot_codes *c, size_t n,
                         size_t L, uint32_t adler, const uint8_t *dst)
{
    if (n < L)
        put_zeros(w, &c->zeros, 4 * (L - n), true);
    cov_put_bits(w, 0, (8 - w->n) % 8);
    cov_put_bits(w, __builtin_bswap32(adler), 32);
    return (size_t)(w->at - dst);
}

/* Writes a strand after begin_stream. Returns the size of the stream. */
static size_t put_strand(const struct chunk *k, enum cov_onehot_strand strand,
                         struct cov_bit_writer w, const uint8_t *dst)
{
    put_small(&w, k, strand, k->n == k->L);
    return end_stream(&w, k->c, k->n, k->L, checksum_of_strand(k, strand), dst);
}

bool cov_onehot_encode(enum cov_onehot_effort effort, const uint8_t *codes, size_t L, void *dst,
                       size_t cap, size_t *n_dst)
{
    assert(cap >= cov_onehot_bound(L));
    (void)cap;
    const struct cov_onehot_codes *c = cov_onehot_codes();
    struct chunk k;
    uint32_t adler;
    if (L >= MAX_CODES)
        return false;
    size_t n = filled(codes, L);
    /* The words are kept at the end of dst. The stream does not reach them, because it has at
     * most three bytes per code. */
    if (effort == COV_ONEHOT_SMALL && n > HEAD &&
        take_chunk(&k, codes, n, L, (uint8_t *)dst + cov_onehot_bound(L) - cov_onehot_scratch(n))) {
        *n_dst = put_strand(&k, COV_ONEHOT_PLUS, begin_stream(c, L, dst), dst);
        return true;
    }
    if (!checksum(c, codes, n, L, &adler))
        return false;
    struct cov_bit_writer w = begin_stream(c, L, dst);
    if (n > 0)
        put_first(&w, c, codes, n, n == L);
    *n_dst = end_stream(&w, c, n, L, adler, dst);
    return true;
}

bool cov_onehot_encode_both(const uint8_t *codes, size_t n, size_t L, uint8_t *scratch,
                            void *const dst[2], size_t cap, size_t n_dst[2])
{
    assert(n <= L && cap >= cov_onehot_bound(L));
    (void)cap;
    struct chunk k;
    if (n <= HEAD || L >= MAX_CODES || codes[n - 1] == COV_CODE_PAD ||
        !take_chunk(&k, codes, n, L, scratch))
        return false;
    struct cov_bit_writer w = begin_stream(k.c, L, dst[0]), other = w;
    size_t n_begin = (size_t)(w.at - (uint8_t *)dst[0]);
    memcpy(dst[1], dst[0], n_begin);
    other.at = (uint8_t *)dst[1] + n_begin;
    n_dst[0] = put_strand(&k, COV_ONEHOT_PLUS, w, dst[0]);
    n_dst[1] = put_strand(&k, COV_ONEHOT_MINUS, other, dst[1]);
    return true;
}
