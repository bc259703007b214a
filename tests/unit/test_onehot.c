/* test_onehot.c - decodes streams of one-hot chunks with libdeflate and zlib, and compares them
 * with the planes from cov_shuffle.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <zlib.h>

#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/codec/codec.h"
#include "common/deflate/deflate.h"
#include "common/deflate/onehot_deflate.h"
#include "common/deflate/onehot_kern.h"
#include "common/seq/alphabet.h"

enum { GUARD = 0xa5, N_GUARD = 64, CHUNK = 21384 };

static const enum cov_onehot_effort efforts[] = {COV_ONEHOT_FAST, COV_ONEHOT_SMALL};

static uint8_t *planes_of(const uint8_t *codes, size_t L)
{
    uint8_t *rows = unit_alloc(8 * L), *planes = unit_alloc(8 * L);
    for (size_t t = 0; t < L; t++)
        for (size_t k = 0; k < 4; k++) {
            uint16_t half = cov_onehot_f16[codes[t]][k];
            rows[8 * t + 2 * k] = (uint8_t)half;
            rows[8 * t + 2 * k + 1] = (uint8_t)(half >> 8);
        }
    cov_shuffle(rows, 8 * L, 2, planes);
    return planes;
}

/* Checks that the stream for codes that can be encoded is correct, deterministic and within its
 * bound. Returns the size of the stream. Like check_strands, frees the memory of the test. */
static size_t check(enum cov_onehot_effort effort, const uint8_t *codes, size_t L)
{
    size_t bound = cov_onehot_bound(L), n = 0, n_again = 0;
    uint8_t *exact = unit_alloc(L); /* so that sanitizers find reads past the end */
    memcpy(exact, codes, L);
    uint8_t *packed = unit_alloc(bound + N_GUARD), *again = unit_alloc(bound);
    memset(packed, GUARD, bound + N_GUARD);
    memset(again, 0, bound);
    assert_true(cov_onehot_encode(effort, exact, L, packed, bound, &n));
    assert_in_range(n, 1, bound);
    for (size_t i = 0; i < N_GUARD; i++)
        assert_int_equal(packed[bound + i], GUARD);
    assert_true(cov_onehot_encode(effort, exact, L, again, bound, &n_again));
    assert_int_equal(n_again, n);
    assert_memory_equal(again, packed, n);

    uint8_t *planes = planes_of(exact, L), *back = unit_alloc(8 * L + 1);
    assert_ok(cov_inflate(packed, n, back, 8 * L, &e));
    assert_memory_equal(back, planes, 8 * L);
    memset(back, GUARD, 8 * L + 1);
    uLongf n_back = (uLongf)(8 * L + 1);
    uLong n_read = (uLong)n;
    assert_int_equal(uncompress2(back, &n_back, packed, &n_read), Z_OK);
    assert_int_equal(n_back, 8 * L);
    assert_int_equal(n_read, n);
    assert_memory_equal(back, planes, 8 * L);
    unit_free();
    return n;
}

/* Checks that encoding both strands at once gives the same streams as encoding each strand alone.
 * Returns true if both strands can be encoded at once. */
static bool check_strands(enum cov_onehot_effort effort, const uint8_t *codes, size_t L)
{
    size_t bound = cov_onehot_bound(L), n = L, n_dst[2] = {99, 99}, n_alone;
    while (n > 0 && codes[n - 1] == COV_CODE_PAD)
        n--;
    uint8_t *exact = unit_alloc(n), *other = unit_alloc(L), *alone = unit_alloc(bound);
    uint8_t *scratch = unit_alloc(cov_onehot_scratch(L));
    uint8_t *dst[2] = {unit_alloc(bound + N_GUARD), unit_alloc(bound + N_GUARD)};
    memcpy(exact, codes, n);
    for (int s = 0; s < 2; s++)
        memset(dst[s], GUARD, bound + N_GUARD);
    void *const to[2] = {dst[0], dst[1]};
    bool done = effort == COV_ONEHOT_SMALL &&
                cov_onehot_encode_both(exact, n, L, scratch, to, bound, n_dst);
    cov_codes_other_strand(exact, n, other);
    memset(other + n, COV_CODE_PAD, L - n);
    const uint8_t *const strands[2] = {codes, other};
    for (int s = 0; s < 2; s++) {
        for (size_t i = bound; i < bound + N_GUARD; i++)
            assert_int_equal(dst[s][i], GUARD);
        if (!done)
            continue;
        assert_true(cov_onehot_encode(effort, strands[s], L, alone, bound, &n_alone));
        assert_int_equal(n_dst[s], n_alone);
        assert_memory_equal(dst[s], alone, n_alone);
    }
    unit_free();
    return done;
}

static void check_both(const uint8_t *codes, size_t L)
{
    for (size_t k = 0; k < COV_COUNT(efforts); k++) {
        (void)check(efforts[k], codes, L);
        (void)check_strands(efforts[k], codes, L);
    }
}

static uint8_t random_base(struct cov_rng *r)
{
    return (uint8_t)(1 << cov_rng_below(r, 4));
}

static void fill_random(struct cov_rng *r, uint8_t *codes, size_t n)
{
    for (size_t t = 0; t < n; t++)
        codes[t] = random_base(r);
}

static const size_t lengths[] = {1000,      1023,      1024,      1025,      4095,  8191,
                                 8192,      8193,      8199,      8205,      16384, CHUNK,
                                 CHUNK + 1, 3 * CHUNK, 65535 + 7, 100 * 1000};

/* Calls fn with every length from 0 to 600, and some large ones. */
static void for_lengths(void (*fn)(struct cov_rng *r, uint8_t *codes, size_t L), uint64_t seed)
{
    struct cov_rng r;
    cov_rng_init(&r, seed);
    static uint8_t codes[100 * 1000];
    for (size_t L = 0; L <= 600; L++)
        fn(&r, codes, L);
    for (size_t i = 0; i < COV_COUNT(lengths); i++)
        fn(&r, codes, lengths[i]);
}

static void one_random(struct cov_rng *r, uint8_t *codes, size_t L)
{
    fill_random(r, codes, L);
    check_both(codes, L);
}

TEST(test_random)
{
    for_lengths(one_random, 1);
}

static const uint8_t known[] = {1, 2, 4, 8, 15, 3, 5, 6, 9, 10, 12, 0};

static void one_code(struct cov_rng *r, uint8_t *codes, size_t L)
{
    for (size_t k = 0; k < COV_COUNT(known); k++) {
        memset(codes, known[k], L);
        check_both(codes, L);
    }
}

TEST(test_one_code)
{
    for_lengths(one_code, 2);
}

/* Tests repeats with periods of 1 to 80 bases, and with periods near the size of the window. */
TEST(test_repeats)
{
    struct cov_rng r;
    cov_rng_init(&r, 3);
    static uint8_t codes[CHUNK];
    for (size_t period = 1; period < 9000; period += period < 80 ? 1 : period < 8180 ? 700 : 3) {
        fill_random(&r, codes, period);
        for (size_t t = period; t < CHUNK; t++)
            codes[t] = codes[t - period];
        check_both(codes, CHUNK);
        check_both(codes, 3 * period < CHUNK ? 3 * period : CHUNK);
    }
}

/* Tests runs of one code, with every length, between bases and at the end. */
TEST(test_runs)
{
    struct cov_rng r;
    cov_rng_init(&r, 4);
    uint8_t codes[1200];
    for (size_t k = 0; k < COV_COUNT(known) - 1; k++)
        for (size_t n = 1; n < 400; n += n < 150 ? 1 : 13) {
            size_t before = cov_rng_below(&r, 100), behind = cov_rng_below(&r, 100);
            fill_random(&r, codes, before);
            memset(codes + before, known[k], n);
            memcpy(codes + before + n, codes, before < behind ? before : behind);
            if (before < behind)
                fill_random(&r, codes + 2 * before + n, behind - before);
            check_both(codes, before + n + behind);
            check_both(codes, before + n);
        }
}

/* Encodes both strands of chunks at once. The chunks have up to two runs of N. */
TEST(test_strands)
{
    struct cov_rng r;
    cov_rng_init(&r, 9);
    static uint8_t codes[CHUNK];
    for (size_t n = 513; n <= CHUNK; n += n < 700 ? 1 : 509) {
        fill_random(&r, codes, n);
        /* Every third chunk has only three different bases in most positions, so that some words do
         * not occur. */
        for (size_t t = 0; n % 3 == 0 && t < n; t++)
            codes[t] = codes[t] == COV_CODE_G && t < n - 100 ? COV_CODE_T : codes[t];
        memset(codes + n, COV_CODE_PAD, CHUNK - n);
        assert_true(check_strands(COV_ONEHOT_SMALL, codes, n));
        assert_true(check_strands(COV_ONEHOT_SMALL, codes, CHUNK));
        (void)check(COV_ONEHOT_SMALL, codes, CHUNK);
        size_t at = cov_rng_below(&r, n);
        memset(codes + at, COV_CODE_N, 1 + cov_rng_below(&r, n - at));
        codes[cov_rng_below(&r, n)] = COV_CODE_N;
        assert_true(check_strands(COV_ONEHOT_SMALL, codes, CHUNK));
        assert_false(check_strands(COV_ONEHOT_FAST, codes, CHUNK));
        (void)check(COV_ONEHOT_SMALL, codes, CHUNK);
    }
}

TEST(test_padding)
{
    struct cov_rng r;
    cov_rng_init(&r, 5);
    uint8_t codes[600];
    for (size_t n_pad = 0; n_pad <= 600; n_pad++) {
        fill_random(&r, codes, 600);
        memset(codes + 600 - n_pad, COV_CODE_PAD, n_pad);
        check_both(codes, 600);
    }
    static uint8_t chunk[CHUNK];
    for (size_t n = 0; n < CHUNK; n += 997) {
        fill_random(&r, chunk, n);
        memset(chunk + n, COV_CODE_PAD, CHUNK - n);
        check_both(chunk, CHUNK);
        memset(chunk, COV_CODE_N, n);
        check_both(chunk, CHUNK);
    }
}

/* Tests random mixtures of bases, copies, runs of any code and single codes, with padding at the
 * end. */
TEST(test_mixtures)
{
    struct cov_rng r;
    cov_rng_init(&r, 6);
    static uint8_t codes[30000];
    for (int round = 0; round < 600; round++) {
        size_t L = 1 + cov_rng_below(&r, round % 10 ? 700 : sizeof codes), t = 0;
        while (t < L) {
            size_t left = L - t, n = 1 + cov_rng_below(&r, 1 + cov_rng_below(&r, 300));
            n = n < left ? n : left;
            switch (cov_rng_below(&r, 6)) {
            case 0:
            case 1:
                fill_random(&r, codes + t, n);
                break;
            case 2:
                if (t > 0) {
                    size_t from = cov_rng_below(&r, t);
                    for (size_t i = 0; i < n; i++)
                        codes[t + i] = codes[from + i];
                } else {
                    memset(codes, COV_CODE_G, n);
                }
                break;
            case 3:
                memset(codes + t, known[cov_rng_below(&r, COV_COUNT(known) - 1)], n);
                break;
            case 4:
                n = 1;
                codes[t] = COV_CODE_N;
                break;
            default:
                for (size_t i = 0; i < n; i++)
                    codes[t + i] = known[cov_rng_below(&r, COV_COUNT(known) - 1)];
                break;
            }
            t += n;
        }
        if (cov_rng_below(&r, 3) == 0) {
            size_t n_pad = cov_rng_below(&r, L + 1);
            memset(codes + L - n_pad, COV_CODE_PAD, n_pad);
        }
        check_both(codes, L);
    }
}

/* Chunks with many runs can be encoded one strand at a time, but not both strands at once. */
TEST(test_many_runs)
{
    struct cov_rng r;
    cov_rng_init(&r, 10);
    static uint8_t codes[CHUNK];
    for (size_t n_runs = 1020; n_runs < 1030; n_runs++) {
        fill_random(&r, codes, CHUNK);
        for (size_t i = 0; i < n_runs; i++)
            codes[20 * i + 3] = known[4 + cov_rng_below(&r, 7)];
        assert_int_equal(check_strands(COV_ONEHOT_SMALL, codes, CHUNK), n_runs <= 1024);
        check_both(codes, CHUNK);
    }
    for (size_t t = 0; t < CHUNK; t++)
        codes[t] = known[4 + t % 7];
    check_both(codes, CHUNK);
    for (size_t n = 1; n <= 1100; n++)
        check_both(codes, n);
}

/* Codes that stand for three bases are refused, and so is padding before a base. */
TEST(test_refused)
{
    static const uint8_t three[] = {7, 11, 13, 14};
    struct cov_rng r;
    cov_rng_init(&r, 7);
    enum { L = 3000 };
    static uint8_t codes[L], dst[8 * L];
    const size_t bound = cov_onehot_bound(L);
    assert_true(bound <= sizeof dst);
    for (int round = 0; round < 400; round++) {
        fill_random(&r, codes, L);
        size_t n_pad = cov_rng_below(&r, 4) ? 0 : cov_rng_below(&r, L - 1);
        memset(codes + L - n_pad, COV_CODE_PAD, n_pad);
        bool pad = round % 2;
        size_t at = cov_rng_below(&r, L - n_pad - pad);
        codes[at] = pad ? COV_CODE_PAD : three[cov_rng_below(&r, 4)];
        for (size_t k = 0; k < COV_COUNT(efforts); k++) {
            size_t n = 99;
            assert_false(cov_onehot_encode(efforts[k], codes, L, dst, bound, &n));
            assert_int_equal(n, 99);
            assert_false(check_strands(efforts[k], codes, L));
        }
    }
}

/* Each random base takes 5 bits, or 3.5 with matches; the low plane and the headers take 200 bytes.
 * Chunks of only N or only padding are tiny. Chunks of only A take one short match per word of four
 * bases. */
TEST(test_sizes)
{
    struct cov_rng r;
    cov_rng_init(&r, 8);
    static uint8_t codes[CHUNK];
    for (int round = 0; round < 20; round++) {
        fill_random(&r, codes, CHUNK);
        assert_in_range(check(COV_ONEHOT_FAST, codes, CHUNK), 0, CHUNK * 5 / 8 + 200);
        assert_in_range(check(COV_ONEHOT_SMALL, codes, CHUNK), 0, CHUNK * 7 / 16 + 200);
    }
    for (size_t k = 0; k < COV_COUNT(efforts); k++) {
        memset(codes, COV_CODE_N, CHUNK);
        assert_in_range(check(efforts[k], codes, CHUNK), 0, 1400);
        memset(codes, COV_CODE_PAD, CHUNK);
        assert_in_range(check(efforts[k], codes, CHUNK), 0, 400);
        memset(codes, COV_CODE_A, CHUNK);
        assert_in_range(check(COV_ONEHOT_SMALL, codes, CHUNK), 0, CHUNK * 10 / 32 + 200);
    }
    assert_int_equal(cov_onehot_bound(SIZE_MAX), SIZE_MAX);
    assert_int_equal(cov_onehot_bound(SIZE_MAX / 4), SIZE_MAX);
}

/* The DNA for which the codes of the block `small` are the best ones: random bases, copies of
 * earlier bases with differences, and tandem repeats. */
static void fill_dna(struct cov_rng *r, uint8_t *codes)
{
    for (size_t t = 0; t < CHUNK;) {
        uint64_t kind = cov_rng_below(r, 100);
        bool copy = t > 500 && kind < 10, tandem = !copy && kind < 13;
        size_t back = copy     ? 1 + cov_rng_below(r, t < 8000 ? t : 8000)
                      : tandem ? 1 + cov_rng_below(r, 12)
                               : CHUNK;
        size_t n = copy     ? 30 + cov_rng_below(r, 371)
                   : tandem ? 12 + cov_rng_below(r, 49)
                            : 100 + cov_rng_below(r, 901);
        for (size_t end = t + n < CHUNK ? t + n : CHUNK; t < end; t++)
            codes[t] =
                t < back || (copy && cov_rng_below(r, 10) == 0) ? random_base(r) : codes[t - back];
    }
}

TEST(test_size_of_dna)
{
    struct cov_rng r;
    cov_rng_init(&r, 11);
    static uint8_t codes[CHUNK];
    size_t n = 0;
    for (int i = 0; i < 40; i++) {
        fill_dna(&r, codes);
        n += check(COV_ONEHOT_SMALL, codes, CHUNK);
    }
    assert_in_range(n, 0, 373321);
}

/* The results of the inner loops of one instruction set. */
struct outcome {
    bool all;
    uint64_t columns;
    uint8_t bases[COV_ONEHOT_BLOCK + COV_ONEHOT_STEP], streams[2][4 * COV_ONEHOT_BLOCK];
    size_t n_stream[2];
    uint32_t last[2][256];
};

static void run_kernel(const struct cov_onehot_kern *kern, const uint8_t *codes, size_t n,
                       struct outcome *o)
{
    memset(o, 0, sizeof *o);
    uint8_t *exact = unit_alloc(n);
    memcpy(exact, codes, n);
    o->all = kern->take(exact, n, o->bases, &o->columns);
    unit_free();
    kern->join(o->bases, n);
    for (int s = 0; s < 2 && n > 0; s++) {
        const uint8_t *first = s == 0 ? o->bases : o->bases + n - 1;
        struct cov_bit_writer w = {o->streams[s], 5, 3};
        (s == 0 ? kern->put_plus : kern->put_minus)(&w, cov_onehot_codes(), first, 700,
                                                    n / COV_ONEHOT_GROUP, o->last[s]);
        o->n_stream[s] = (size_t)(w.at - o->streams[s]) * 8 + w.n;
        memset(w.at + 1, 0, (size_t)(o->streams[s] + sizeof o->streams[s] - w.at) - 1);
    }
}

TEST(test_kernels)
{
    const unsigned needs = COV_CPU_AVX2 | COV_CPU_BMI2;
    bool avx2 = (cov_cpu_features() & needs) == needs;
    struct cov_rng r;
    cov_rng_init(&r, 77);
    uint8_t codes[COV_ONEHOT_BLOCK];
    for (size_t n = 0; n <= COV_ONEHOT_BLOCK; n += COV_ONEHOT_STEP)
        for (int others = 0; others < 3; others++) {
            static struct outcome base, wide;
            uint64_t columns = 0;
            fill_random(&r, codes, sizeof codes);
            for (int i = 0; i < others && n > 0; i++)
                codes[cov_rng_below(&r, (uint32_t)n)] = (uint8_t)(i == 0 ? 15 : 0);
            run_kernel(&cov_onehot_base, codes, n, &base);
            assert_int_equal(base.all, others == 0 || n == 0);
            for (size_t t = 0; t < n; t++)
                columns += codes[t] == COV_CODE_A   ? 1
                           : codes[t] == COV_CODE_G ? 3
                           : codes[t] == COV_CODE_T ? 2
                                                    : 0;
            if (base.all)
                assert_int_equal(base.columns, columns);
            if (!avx2)
                continue;
            run_kernel(&cov_onehot_avx2, codes, n, &wide);
            if (!base.all) {
                /* The other results are undefined unless all codes are bases. */
                assert_false(wide.all);
                continue;
            }
            assert_memory_equal(&wide, &base, sizeof base);
        }
}
