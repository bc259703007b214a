/* test_dinucleotides.c - shuffles keep dinucleotides, and all sequences that have them are equally
 * likely.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/seq/alphabet.h"

static void count(const uint8_t *codes, size_t n, size_t counts[256])
{
    memset(counts, 0, 256 * sizeof *counts);
    for (size_t i = 0; i + 1 < n; i++)
        counts[codes[i] * 16 + codes[i + 1]]++;
}

TEST(dinucleotides_stay)
{
    enum { MOST = 3000 };
    static const char *const letters[] = {"ACGT", "AC", "A", "ACGTNR-", "AAAAAAAAAAAAAAAAAAC"};
    uint8_t codes[MOST], shuffled[MOST];
    size_t before[256], after[256];
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    for (size_t k = 0; k < COV_COUNT(letters); k++)
        for (size_t n = 0; n <= MOST; n = n < 20 ? n + 1 : n * 2 + 110) {
            for (size_t i = 0; i < n; i++) {
                const char c = letters[k][cov_rng_below(&rng, strlen(letters[k]))];
                codes[i] = c == '-' ? COV_CODE_PAD : cov_code_of_letter[(unsigned char)c];
            }
            memcpy(shuffled, codes, n);
            assert_ok(cov_dinucleotide_shuffle(shuffled, n, &rng, &e));
            count(codes, n, before);
            count(shuffled, n, after);
            assert_memory_equal(before, after, sizeof before);
            assert_true(n == 0 || (shuffled[0] == codes[0] && shuffled[n - 1] == codes[n - 1]));
            assert_true(n < 100 || k == 2 || memcmp(shuffled, codes, n) != 0);
        }
}

/* All sequences with the dinucleotides of one are found, each about equally often. */
TEST(sequences_are_equally_likely)
{
    enum { DRAWS = 20000, MOST = 64 };
    static const char *const texts[] = {"ACGATCA", "AACAGAACA", "ACACGTC"};
    for (size_t k = 0; k < COV_COUNT(texts); k++) {
        const size_t n = strlen(texts[k]);
        uint8_t codes[16], found[MOST][16];
        int n_times[MOST] = {0};
        size_t n_found = 0;
        struct cov_rng rng;
        cov_rng_init(&rng, k);
        for (int draw = 0; draw < DRAWS; draw++) {
            size_t i = 0;
            assert_true(cov_codes_of_letters(texts[k], n, codes));
            assert_ok(cov_dinucleotide_shuffle(codes, n, &rng, &e));
            while (i < n_found && memcmp(found[i], codes, n) != 0)
                i++;
            assert_true(i < MOST);
            if (i == n_found)
                memcpy(found[n_found++], codes, n);
            n_times[i]++;
        }
        assert_true(n_found > 1);
        for (size_t i = 0; i < n_found; i++)
            assert_in_range(n_times[i] * n_found, DRAWS * 9 / 10, DRAWS * 11 / 10);
    }
}

/* The same seed gives the same sequence, another seed another one. */
TEST(seeds_decide)
{
    uint8_t a[40], b[40], c[40];
    struct cov_rng rng;
    assert_true(cov_codes_of_letters("ACGTTGCAATCGGATCCATGACTGACCTGATTGCATCGAC", 40, a));
    memcpy(b, a, sizeof b);
    memcpy(c, a, sizeof c);
    cov_rng_init(&rng, 1);
    assert_ok(cov_dinucleotide_shuffle(a, 40, &rng, &e));
    cov_rng_init(&rng, 1);
    assert_ok(cov_dinucleotide_shuffle(b, 40, &rng, &e));
    cov_rng_init(&rng, 2);
    assert_ok(cov_dinucleotide_shuffle(c, 40, &rng, &e));
    assert_memory_equal(a, b, 40);
    assert_memory_not_equal(a, c, 40);
}
