/* onehot.c - see onehot.h.
 *
 * The stream has one block for the low plane, one or two for the high plane up to the padding, and
 * one for the padding, if there is any. Runs of zeros are two bits per 258 bytes. A base is one
 * byte 0x3c and three bytes 0, which COV_ONEHOT_FAST writes as five bits in which the bit of its
 * column is set. COV_ONEHOT_SMALL begins like that, and as soon as most words of four bases have
 * been there it writes each next four bases as a repeat of the last place of their word: 1.44 bits
 * more than their information for the geometric distance, 2 because distances count bytes, and 2
 * for the length, 13.4 in all. Shorter words take more bits a base for these; longer ones are less
 * often there. Nothing is compared, and nothing but a word's first time is a branch that cannot be
 * foreseen. The checksum is a sum over codes.
 * SPDX-License-Identifier: MIT */
#include "common/codec/onehot.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "common/codec/onehot_codes.h"
#include "common/seq/alphabet.h"

enum {
    ADLER = 65521,
    WORD = COV_ONEHOT_WORD,
    N_WORDS = 1 << 2 * WORD,
    WINDOW = COV_ONEHOT_WINDOW,
    LONG_RUN = COV_ONEHOT_LONG_RUN,
    HEAD = 512, /* codes at the begin of `small` that are written as in `fast`: twice N_WORDS */
    BLOCK = 1024,
    GROUP = 8 /* bases, two words of which are put at once */
};
/* Positions are kept in 32 bits, together with the window. */
#define MAX_CODES ((size_t)1 << 31)

/* The longest rows are those of rare codes in `small`: 24 bits. The runs of zeros have less than a
 * bit per code and two bits for up to 257 bytes each, 65 bytes; what is left are heads of blocks,
 * and the eight bytes that the last bits are stored with. */
enum { BOUND_PER_CODE = 4, BOUND_REST = 512 };

size_t cov_onehot_bound(size_t L)
{
    return L <= (SIZE_MAX - BOUND_REST) / BOUND_PER_CODE ? L * BOUND_PER_CODE + BOUND_REST
                                                         : SIZE_MAX;
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return le64toh(x);
}

/* ---- what the codes are, and the checksum ---- */

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

/* What is not zero if one of the codes is none of A, C, G and T, which have one bit. */
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

/* The columns of bases, in C, A, T, G. */
static inline codes16 columns_of(codes16 x)
{
    return ((x | x >> 2) & EACH(1U)) | ((x >> 1 | x >> 2) & EACH(2U));
}

/* codes[0..n) without the padding at the end. */
static size_t filled(const uint8_t *codes, size_t n)
{
    while (n >= 64 && is_zero(load16(codes + n - 64) | load16(codes + n - 48) |
                              load16(codes + n - 32) | load16(codes + n - 16)))
        n -= 64;
    while (n >= 8 && load64(codes + n - 8) == 0)
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

/* The sum of the columns of codes[0..n), n at most BLOCK, a multiple of 16; false if not all are
 * bases. */
static bool sum_columns(const uint8_t *codes, size_t n, uint64_t *sum)
{
    /* A column is at most 3, so that bytes hold the sums of BLOCK / 16 of them. */
    codes16 sums = {0, 0}, bad = {0, 0};
    for (size_t i = 0; i < n; i += 16) {
        codes16 x = load16(codes + i);
        bad |= not_plain(x);
        sums += columns_of(x);
    }
    *sum = sum_of_bytes(sums);
    return is_zero(bad);
}

/* Adler-32 (RFC 1950) of the 8L bytes of both planes. Its lower half is 1 plus the sum of the
 * bytes, its upper half 8L plus the sum of each byte times the number of bytes from it to the end,
 * which is 4 (L - t) - k for byte k of row t of the high plane. codes[n..L) are padding.
 * False if a code cannot be encoded here. */
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

/* The same of n bases with this sum of columns, and L - n of padding. */
static uint32_t checksum_of_bases(size_t n, size_t L, uint64_t columns)
{
    uint64_t rows = (uint64_t)n * L - (uint64_t)n * (n - (n > 0)) / 2;
    uint64_t low = 1 + 0x3c * (n % ADLER);
    uint64_t high = 8 * (uint64_t)L + 0x3c * ((4 * rows - columns) % ADLER);
    return (uint32_t)(high % ADLER << 16 | low % ADLER);
}

/* ---- bits ---- */

/* Fewer than eight bits wait in `bits`; eight bytes are always stored, of which the next store
 * replaces those that were not full. */
struct writer {
    uint8_t *at;
    uint64_t bits;
    uint32_t n;
};

static inline void store64(uint8_t *p, uint64_t x)
{
    x = htole64(x);
    memcpy(p, &x, sizeof x);
}

/* n <= 56 */
static inline void put(struct writer *w, uint64_t bits, uint32_t n)
{
    w->bits |= bits << w->n;
    w->n += n;
    store64(w->at, w->bits);
    w->at += w->n / 8;
    w->bits >>= w->n / 8 * 8;
    w->n %= 8;
}

static inline void put_code(struct writer *w, struct cov_bits code)
{
    put(w, code.bits, code.n);
}

static void put_times(struct writer *w, struct cov_bits code, size_t times)
{
    uint32_t n_full = 56 / code.n;
    uint64_t full = 0;
    for (uint32_t i = 0; i < n_full; i++)
        full |= code.bits << i * code.n;
    for (; times >= n_full; times -= n_full)
        put(w, full, n_full * code.n);
    for (; times > 0; times--)
        put_code(w, code);
}

static void put_head(struct writer *w, const struct cov_onehot_block *b, bool final)
{
    put(w, b->head[0] | final, 8);
    uint32_t i = 8;
    for (; i + 8 <= b->n_head; i += 8)
        put(w, b->head[i / 8], 8);
    put(w, b->head[i / 8], b->n_head - i);
}

/* n_bytes > 0 of what `byte` stands for. */
static void put_run(struct writer *w, const struct cov_onehot_block *b, struct cov_bits byte,
                    size_t n_bytes)
{
    size_t n_matches = (n_bytes - 1) / 258;
    put_code(w, byte);
    put_times(w, b->match258, n_matches);
    put_times(w, byte, n_bytes - 1 - 258 * n_matches);
}

static void put_zeros(struct writer *w, const struct cov_onehot_block *b, size_t n_bytes,
                      bool final)
{
    put_head(w, b, final);
    if (n_bytes > 0)
        put_run(w, b, b->zero, n_bytes);
    put_code(w, b->end);
}

/* ---- the high plane ---- */

/* How many of codes[0..n), n > 0, are equal to the first. */
static size_t run_length(const uint8_t *codes, size_t n)
{
    size_t i = 1;
    while (i < n && codes[i] == codes[0])
        i++;
    return i;
}

/* Twice eight bases as twice eight times five bits, which are the rows of `fast`. */
static inline codes16 five_bits_each(codes16 x)
{
    /* From the bits A, C, G, T to the columns C, A, T, G. */
    x = (x & EACH(5U)) << 1 | (x >> 1 & EACH(5U));
    x = (x & 0x000f000f000f000f) | (x >> 3 & 0x01e001e001e001e0);
    x = (x & 0x000003ff000003ff) | (x >> 6 & 0x000ffc00000ffc00);
    return (x & 0x00000000000fffff) | (x >> 12 & 0x000000fffff00000);
}

/* Writes codes[0..n) up to the first sixteen that are not all bases, or the last that are no
 * sixteen; returns how many were written. */
static size_t put_sixteens(struct writer *w, const uint8_t *codes, size_t n)
{
    /* Eight bases are five bytes, so the number of bits that wait stays as it is. */
    struct writer to = *w;
    size_t t = 0;
    for (; n - t >= 16; t += 16) {
        codes16 x = load16(codes + t);
        if (!is_zero(not_plain(x)))
            break;
        x = five_bits_each(x);
        for (int half = 0; half < 2; half++, to.at += 5) {
            to.bits |= x[half] << to.n;
            store64(to.at, to.bits);
            to.bits >>= 40;
        }
    }
    *w = to;
    return t;
}

static void put_fast(struct writer *w, const struct cov_onehot_block *b, const uint8_t *codes,
                     size_t n)
{
    size_t t = 0;
    while ((t += put_sixteens(w, codes + t, n - t)) < n) {
        if (codes[t] == COV_CODE_N) {
            size_t run = run_length(codes + t, n - t);
            put_run(w, b, b->quarter, 4 * run);
            t += run;
        } else {
            put_code(w, b->row[codes[t++]]);
        }
    }
}

/* A run of one code: its row, then repeats of it. */
static void put_same(struct writer *w, const struct cov_onehot_codes *c, uint8_t code, size_t n)
{
    put_code(w, c->small.row[code]);
    n--;
    for (; n >= LONG_RUN; n -= LONG_RUN)
        put_code(w, c->long_run);
    for (; n >= WORD; n -= WORD)
        put(w, c->back_bits[1], c->back_n[1]);
    for (; n > 0; n--)
        put_code(w, c->small.row[code]);
}

/* Bases as two bits each. */
static inline codes16 two_bits(codes16 x)
{
    return (x >> 1 & EACH(7U)) - (x >> 3 & EACH(1U));
}

/* The word of four bases; the first is the lowest. */
static inline uint32_t word_at(const uint8_t *codes)
{
    uint32_t x;
    memcpy(&x, codes, sizeof x);
    x = le32toh(x);
    x = (x >> 1 & 0x07070707) - (x >> 3 & 0x01010101);
    x = (x | x >> 6) & 0x000f000f;
    return (x | x >> 12) & 0xff;
}

static inline void store_sixteen(uint8_t *p, codes16 x)
{
    x[0] = htole64(x[0]);
    x[1] = htole64(x[1]);
    memcpy(p, &x, sizeof x);
}

static inline codes16 translate_sixteen(const uint8_t *codes, uint8_t *bits)
{
    codes16 x = load16(codes);
    store_sixteen(bits, two_bits(x));
    return not_plain(x);
}

/* bases[0..n), two bits each, become words: bases[t] that of the bases t to t + 3, the first the
 * lowest. n is a multiple of 16; three more can be read. */
static inline void join_bases(uint8_t *bases, size_t n)
{
    for (size_t t = 0; t < n; t += 16)
        store_sixteen(bases + t, load16(bases + t) | load16(bases + t + 1) << 2 |
                                     load16(bases + t + 2) << 4 | load16(bases + t + 3) << 6);
}

/* words[t] = the word at codes[t], for codes[0..n) up to the first sixteen that are not all bases,
 * or the last that are no sixteen; returns how many they are. The last three are undefined, and
 * three behind them may be read. */
static size_t make_words(const uint8_t *codes, size_t n, uint8_t *words)
{
    size_t t = 0;
    for (; n - t >= 64; t += 64) {
        codes16 bad = {0, 0};
        for (size_t i = t; i < t + 64; i += 16)
            bad |= translate_sixteen(codes + i, words + i);
        if (!is_zero(bad))
            break;
    }
    while (n - t >= 16 && is_zero(translate_sixteen(codes + t, words + t)))
        t += 16;
    join_bases(words, t);
    return t;
}

/* Where the bases that begin at codes[t], if any, end. */
static size_t end_of_bases(const uint8_t *codes, size_t t, size_t n)
{
    while (n - t >= 16 && is_zero(not_plain(load16(codes + t))))
        t += 16;
    while (t < n && is_plain(codes[t]))
        t++;
    return t;
}

/* Notes the words in the bases codes[beg..end): last[word] is where it was last + WINDOW + 1, or 0,
 * so that what was never seen is too far away. */
static void note_words(const uint8_t *codes, size_t beg, size_t end, uint32_t *last)
{
    for (size_t t = beg; end - t >= WORD; t++)
        last[word_at(codes + t)] = (uint32_t)t + WINDOW + 1;
}

/* Words of the other strand go by those of its complement, in which its first base is the last. */
enum strand { PLUS = 1, MINUS = -1 };

static inline uint8_t code_in_word(uint32_t word, uint32_t i, enum strand strand)
{
    return (uint8_t)(strand == PLUS ? 1 << (word >> 2 * i & 3) : 8 >> (word >> (6 - 2 * i) & 3));
}

/* A word as a repeat of what is `distance` rows before, if that is possible. */
static inline void put_word(struct writer *w, const struct cov_onehot_codes *c, uint32_t word,
                            enum strand strand, uint32_t distance)
{
    if (distance <= WINDOW) {
        put(w, c->back_bits[distance], c->back_n[distance]);
        return;
    }
    for (uint32_t i = 0; i < WORD; i++)
        put_code(w, c->small.row[code_in_word(word, i, strand)]);
}

/* n_groups of eight bases, the first the t-th of its strand, by the words that begin with them. */
static inline __attribute__((always_inline)) void
put_groups(struct writer *w, const struct cov_onehot_codes *c, const uint8_t *words,
           enum strand strand, size_t t, size_t n_groups, uint32_t *last)
{
    struct writer to = *w;
    const uint8_t *p = words;
    uint32_t here = (uint32_t)t + WINDOW + 1;
    for (; n_groups > 0; n_groups--, p += strand * GROUP, here += GROUP) {
        uint32_t first = here - last[p[0]];
        last[p[0]] = here;
        last[p[strand * 1]] = here + 1;
        last[p[strand * 2]] = here + 2;
        last[p[strand * 3]] = here + 3;
        uint32_t second = here + 4 - last[p[strand * 4]];
        last[p[strand * 4]] = here + 4;
        last[p[strand * 5]] = here + 5;
        last[p[strand * 6]] = here + 6;
        last[p[strand * 7]] = here + 7;
        if ((first | second) <= WINDOW) {
            uint32_t n_first = c->back_n[first];
            uint64_t both = c->back_bits[first] | (uint64_t)c->back_bits[second] << n_first;
            put(&to, both, n_first + c->back_n[second]);
        } else {
            put_word(&to, c, p[0], strand, first);
            put_word(&to, c, p[strand * 4], strand, second);
        }
    }
    *w = to;
}

/* The bases from codes[t] on, if there are any, up to another code or n; returns where they end. */
static size_t put_bases(struct writer *w, const struct cov_onehot_codes *c, const uint8_t *codes,
                        size_t t, size_t n, uint32_t *last)
{
    uint8_t words[BLOCK + 3] = {0};
    for (size_t n_words = BLOCK; n_words >= 16;) {
        n_words = make_words(codes + t, n - t < BLOCK ? n - t : BLOCK, words);
        if (n_words >= 16) {
            size_t n_groups = (n_words - 3) / GROUP;
            put_groups(w, c, words, PLUS, t, n_groups, last);
            t += n_groups * GROUP;
        }
    }
    size_t end = end_of_bases(codes, t, n);
    for (; end - t >= WORD; t += WORD) {
        uint32_t here = (uint32_t)t + WINDOW + 1, word = word_at(codes + t);
        put_word(w, c, word, PLUS, here - last[word]);
        last[word] = here;
    }
    for (; t < end; t++)
        put_code(w, c->small.row[codes[t]]);
    return end;
}

/* The first codes, at most HEAD, as in `fast`, in a block of their own. */
static void put_first(struct writer *w, const struct cov_onehot_codes *c, const uint8_t *codes,
                      size_t n, bool final)
{
    put_head(w, &c->fast, final);
    put_fast(w, &c->fast, codes, n);
    put_code(w, c->fast.end);
}

static void put_small(struct writer *w, const struct cov_onehot_codes *c, const uint8_t *codes,
                      size_t n, bool final)
{
    uint32_t last[N_WORDS] = {0};
    size_t head = n < HEAD ? n : HEAD, t = 0;
    put_first(w, c, codes, head, final && head == n);
    if (head == n)
        return;
    while (t < head) {
        size_t end = end_of_bases(codes, t, head);
        note_words(codes, t, end, last);
        t = end + (end < head);
    }
    put_head(w, &c->small, final);
    while (t < n) {
        t = put_bases(w, c, codes, t, n, last);
        if (t < n) {
            size_t run = run_length(codes + t, n - t);
            put_same(w, c, codes[t], run);
            t += run;
        }
    }
    put_code(w, c->small.end);
}

/* ---- bases alone ---- */

/* Most chunks are bases alone. Their words are made at once, for both strands: those of the other
 * strand are the same in the reverse order, but for their names, on which nothing depends. */

/* Words behind the last, which fill vectors. */
enum { WORDS_REST = 32 };

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Sixteen bases as two bits each. Adds their columns to *sums, and to *bad what is not zero if one is
 * none of A, C, G and T. */
static inline void take_sixteen(const uint8_t *codes, uint8_t *bases, bytes16 *sums, bytes16 *bad)
{
    bytes16 x, less;
    memcpy(&x, codes, sizeof x);
    less = x - 1;
    *bad |= less & (x | 0xf0); /* 0 becomes 255 */
    x = (bytes16)two_bits((codes16)x);
    memcpy(bases, &x, sizeof x);
    /* A, C, G, T are 0 to 3, and in the columns 1, 0, 3, 2. */
    *sums += x ^ 1;
}

/* The words of codes[0..n), of which the last three mean nothing, and the sum of the columns; false
 * if not all are bases. `words` has room for WORDS_REST more. */
static bool make_all_words(const uint8_t *codes, size_t n, uint8_t *words, uint64_t *columns)
{
    size_t whole = n / 16 * 16;
    uint8_t rest[16];
    *columns = 0;
    for (size_t beg = 0, end; beg < whole; beg = end) {
        /* As in sum_columns. */
        bytes16 sums = {0}, bad = {0};
        end = whole - beg < BLOCK ? whole : beg + BLOCK;
        for (size_t t = beg; t < end; t += 16)
            take_sixteen(codes + t, words + t, &sums, &bad);
        if (!is_zero((codes16)bad))
            return false;
        *columns += sum_of_bytes((codes16)sums);
    }
    bytes16 sums = {0}, bad = {0};
    memset(rest, COV_CODE_C, sizeof rest); /* its column is 0 */
    memcpy(rest, codes + whole, n - whole);
    take_sixteen(rest, words + whole, &sums, &bad);
    *columns += sum_of_bytes((codes16)sums);
    memset(words + whole + 16, 0, 3);
    join_bases(words, whole + 16);
    return is_zero((codes16)bad);
}

/* n > HEAD bases, the words of which are given. */
static void put_small_bases(struct writer *w, const struct cov_onehot_codes *c,
                            const uint8_t *codes, const uint8_t *words, size_t n,
                            enum strand strand, bool final)
{
    uint32_t last[N_WORDS] = {0};
    uint8_t ends[HEAD];
    const uint8_t *first = codes, *p = words;
    if (strand == MINUS) {
        cov_codes_other_strand(codes + n - HEAD, HEAD, ends);
        first = ends;
        p = words + n - WORD;
    }
    put_first(w, c, first, HEAD, false);
    put_head(w, &c->small, final);
    for (uint32_t t = 0; t <= HEAD - WORD; t++)
        last[p[strand * (ptrdiff_t)t]] = t + WINDOW + 1;
    /* The last three places begin no word. */
    size_t t = HEAD, n_groups = n - HEAD < 3 ? 0 : (n - HEAD - 3) / GROUP;
    p += strand * HEAD;
    if (strand == PLUS)
        put_groups(w, c, p, PLUS, t, n_groups, last);
    else
        put_groups(w, c, p, MINUS, t, n_groups, last);
    t += n_groups * GROUP;
    p += strand * (ptrdiff_t)(n_groups * GROUP);
    for (; n - t >= WORD; t += WORD, p += strand * WORD) {
        uint32_t here = (uint32_t)t + WINDOW + 1;
        put_word(w, c, *p, strand, here - last[*p]);
        last[*p] = here;
    }
    for (; t < n; t++)
        put_code(w,
                 c->small.row[strand == PLUS ? codes[t] : cov_code_complement[codes[n - 1 - t]]]);
    put_code(w, c->small.end);
}

/* ---- streams ---- */

/* The zlib head (deflate, a window of 32 KiB, no dictionary), and the low plane. */
static struct writer begin_stream(const struct cov_onehot_codes *c, size_t L, uint8_t *dst)
{
    dst[0] = 0x78;
    dst[1] = 0x01;
    struct writer w = {dst + 2, 0, 0};
    put_zeros(&w, &c->zeros, 4 * L, L == 0);
    return w;
}

/* L - n codes of padding, and the checksum. */
static size_t end_stream(struct writer *w, const struct cov_onehot_codes *c, size_t n, size_t L,
                         uint32_t adler, const uint8_t *dst)
{
    if (n < L)
        put_zeros(w, &c->zeros, 4 * (L - n), true);
    put(w, 0, (8 - w->n) % 8);
    put(w, __builtin_bswap32(adler), 32);
    return (size_t)(w->at - dst);
}

/* Where the words of n codes wait in a destination, which bases alone, of nine bits at most each, do
 * not fill. */
static uint8_t *words_in(uint8_t *dst, size_t n, size_t L)
{
    return dst + cov_onehot_bound(L) - n - WORDS_REST;
}

/* The stream of n > HEAD bases. */
static size_t put_strand(const struct cov_onehot_codes *c, const uint8_t *codes,
                         const uint8_t *words, size_t n, size_t L, enum strand strand,
                         uint64_t columns, uint8_t *dst)
{
    struct writer w = begin_stream(c, L, dst);
    put_small_bases(&w, c, codes, words, n, strand, n == L);
    return end_stream(&w, c, n, L, checksum_of_bases(n, L, columns), dst);
}

bool cov_onehot_encode(enum cov_onehot_effort effort, const uint8_t *codes, size_t L, void *dst,
                       size_t cap, size_t *n_dst)
{
    assert(cap >= cov_onehot_bound(L));
    (void)cap;
    const struct cov_onehot_codes *c = cov_onehot_codes();
    uint32_t adler;
    uint64_t columns;
    if (L >= MAX_CODES)
        return false;
    size_t n = filled(codes, L);
    uint8_t *words = words_in(dst, n, L);
    if (effort == COV_ONEHOT_SMALL && n > HEAD && make_all_words(codes, n, words, &columns)) {
        *n_dst = put_strand(c, codes, words, n, L, PLUS, columns, dst);
        return true;
    }
    if (!checksum(c, codes, n, L, &adler))
        return false;
    struct writer w = begin_stream(c, L, dst);
    if (effort == COV_ONEHOT_FAST && n > 0)
        put_first(&w, c, codes, n, n == L);
    else if (n > 0)
        put_small(&w, c, codes, n, n == L);
    *n_dst = end_stream(&w, c, n, L, adler, dst);
    return true;
}

bool cov_onehot_encode_both(enum cov_onehot_effort effort, const uint8_t *codes, size_t n, size_t L,
                            void *const dst[2], size_t cap, size_t n_dst[2])
{
    assert(n <= L && cap >= cov_onehot_bound(L));
    (void)cap;
    const struct cov_onehot_codes *c = cov_onehot_codes();
    uint8_t *words = words_in(dst[0], n, L);
    uint64_t columns;
    if (effort != COV_ONEHOT_SMALL || n <= HEAD || L >= MAX_CODES ||
        !make_all_words(codes, n, words, &columns))
        return false;
    n_dst[0] = put_strand(c, codes, words, n, L, PLUS, columns, dst[0]);
    /* The columns C, A, T, G become G, T, A, C. */
    columns = 3 * (uint64_t)n - columns;
    n_dst[1] = put_strand(c, codes, words, n, L, MINUS, columns, dst[1]);
    return true;
}
