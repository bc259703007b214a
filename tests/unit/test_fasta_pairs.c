/* test_fasta_pairs.c - intervals of a FASTA as it is read: what comes, what is held back, what is
 * refused. (The checks themselves: test_genome.c, which reads by them.)
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/seq/alphabet.h"
#include "common/seq/fasta_pairs.h"

static char path[] = "/tmp/test_fasta_pairs.XXXXXX";
static char path2[] = "/tmp/test_fasta_pairs.XXXXXX";
static char warning[512];

static void keep_warning(void *arg, enum cov_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)snprintf(warning, sizeof warning, "%s", text);
}

static int set_up(void **state)
{
    (void)state;
    cov_log_set(keep_warning, NULL, COV_LOG_WARNING);
    int fd = mkstemp(path), fd2 = mkstemp(path2);
    return fd < 0 || fd2 < 0 || close(fd) || close(fd2) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path) | unlink(path2);
}

static void put(const char *to, const char *text)
{
    FILE *f = fopen(to, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static const struct cov_genome_options defaults = {.tmpdir = "/tmp", .n_threads = 1};

/* What comes, with L = 4: "<a ACGT AC-->" where "<" is `first`, ">" is `last`; and "!error". */
static const char *describe(const char *fasta, const struct cov_genome_options *options)
{
    enum { L = 4 };
    static char out[1024];
    struct cov_fasta_pairs *p;
    struct cov_fasta_pair pair;
    struct cov_err e = COV_ERR_INIT;
    size_t n = 0;
    int64_t expected = 0;
    uint8_t codes[L + 1];
    put(path, fasta);
    warning[0] = out[0] = '\0';
    int got = cov_fasta_pairs_open(path, options, L, &p, &e);
    assert_int_equal(got, 0);
    codes[L] = 0xee;
    while ((got = cov_fasta_pairs_next(p, &pair, codes, &e)) > 0) {
        assert_int_equal(codes[L], 0xee);
        if (pair.first) {
            expected = 0;
            n += (size_t)snprintf(out + n, sizeof out - n, "<%zu%s", pair.seq, pair.name);
        }
        assert_int_equal(pair.beg, expected);
        expected = pair.end;
        out[n++] = ' ';
        for (size_t i = 0; i < L; i++)
            out[n++] = cov_letter_of_code[codes[i]];
        if (pair.last)
            out[n++] = '>';
        else
            assert_int_equal(pair.end - pair.beg, L);
        out[n] = '\0';
    }
    if (got < 0)
        (void)snprintf(out + n, sizeof out - n, "!%s", e.text + strlen(path) + 1);
    else
        assert_int_equal(cov_fasta_pairs_done(p), cov_fasta_pairs_total(p));
    cov_fasta_pairs_free(p);
    return out;
}

static void test_intervals(void **state)
{
    (void)state;
    assert_string_equal(
        describe(">a x\nACGTA\n>b\nAC\nGT\n\n>c\nG\n>d\nACG\nTAC\nGTA\n", &defaults),
        "<0a ACGT A--->"
        "<1b ACGT>"
        "<2c G--->"
        "<3d ACGT ACGT A--->");
    assert_string_equal(warning, "");
    /* What is found late comes late. */
    assert_string_equal(describe(">a\nACGTAC\n>b\nACGTAX\n", &defaults),
                        "<0a ACGT AC--><1b ACGT!4:6: letter 'X' is not an IUPAC code "
                        "(--on-bad-base n reads it as N)");
    assert_string_equal(describe(">a\nACGT\n>a\nA\n", &defaults),
                        "<0a ACGT>! two sequences are named 'a', those of lines 1 and 3");
    assert_string_equal(describe(">a\nACGT\n>b\n", &defaults),
                        "<0a ACGT>!3: sequence b has no bases");
    assert_string_equal(describe("", &defaults), "! no sequence: the file is empty");
}

/* Nothing of a sequence that is left out has come. */
static void test_limits(void **state)
{
    (void)state;
    static const char fasta[] = ">a\nA\n>b\nACGTAC\n>c\nACGTACGTACGTX\n>d\nACGTACGTAC\n";
    struct cov_genome_options options = defaults;
    char expected[256];
    options.bad_base_is_n = true;
    options.min_length = 6;
    assert_string_equal(describe(fasta, &options),
                        "<0b ACGT AC--><1c ACGT ACGT ACGT N---><2d ACGT ACGT AC-->");
    (void)snprintf(expected, sizeof expected,
                   "%s: 1 letters that are not IUPAC codes were read as N, the first at line 6, "
                   "column 13",
                   path);
    assert_string_equal(warning, expected);
    options.min_length = 7;
    assert_string_equal(describe(fasta, &options), "<0c ACGT ACGT ACGT N---><1d ACGT ACGT AC-->");
    options.max_length = 12;
    assert_string_equal(describe(fasta, &options), "<0d ACGT ACGT AC-->");
    (void)snprintf(expected, sizeof expected,
                   "%s: 3 of 4 sequences left out by length: 2 too short, 1 too long", path);
    assert_string_equal(warning, expected);
    options.min_length = 11;
    assert_string_equal(describe(fasta, &options), "! no sequence has a length within the limits");
    /* It is checked all the same. */
    options.bad_base_is_n = false;
    assert_string_equal(describe(fasta, &options),
                        "!6:13: letter 'X' is not an IUPAC code (--on-bad-base n reads it as N)");
}

static void test_rename(void **state)
{
    (void)state;
    struct cov_genome_options options = defaults;
    options.rename_path = path2;
    options.max_length = 5;
    put(path2, "a\tb\nb a\nlong c\n");
    assert_string_equal(describe(">a\nA\n>long\nACGTAC\n>b\nC\n>c\nG\n", &options),
                        "<0b A---><1a C---><2c G--->");
    put(path2, "a\tc\n");
    assert_string_equal(
        describe(">a\nA\n>b\nC\n>c\nG\n", &options),
        "<0c A---><1b C--->! two sequences are named 'c' after renaming, those of lines 1 and 5");
    put(path2, "a\n");
    struct cov_fasta_pairs *p;
    assert_int_equal(cov_fasta_pairs_open(path, &options, 4, &p, NULL), COV_EINPUT);
    assert_null(p);
}

/* With limits or without, whatever L: the same bases. Longer than what is held in memory. */
static void test_large(void **state)
{
    (void)state;
    enum { N_SEQS = 4 };
    static const size_t lengths[N_SEQS] = {2500000, 12345, 2500001, 1};
    static const size_t Ls[] = {999, 1000, 21384, 100001, 3000000};
    struct cov_rng r;
    cov_rng_init(&r, 1);
    char *letters = malloc(2500001);
    uint8_t *codes = malloc(3000000);
    assert_non_null(letters);
    assert_non_null(codes);
    for (size_t i = 0; i < 2500001; i++)
        letters[i] = "ACGTN"[cov_rng_below(&r, 5)];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t s = 0; s < N_SEQS; s++) {
        (void)fprintf(f, ">%zu\n", s);
        for (size_t i = 0; i < lengths[s]; i += 61)
            (void)fprintf(f, "%.*s\n", (int)(lengths[s] - i < 61 ? lengths[s] - i : 61),
                          letters + i);
    }
    assert_int_equal(fclose(f), 0);
    for (int kind = 0; kind < 4; kind++)
        for (size_t k = 0; k < sizeof Ls / sizeof Ls[0]; k++) {
            struct cov_genome_options options = defaults;
            struct cov_fasta_pairs *p;
            struct cov_fasta_pair pair;
            options.min_length = kind & 1 ? 2400000 : 0;
            options.max_length = kind & 2 ? 2500000 : 0;
            assert_int_equal(cov_fasta_pairs_open(path, &options, Ls[k], &p, NULL), 0);
            size_t n_seqs = 0;
            while (cov_fasta_pairs_next(p, &pair, codes, NULL) > 0) {
                size_t s = (size_t)strtoul(pair.name, NULL, 10), n = (size_t)(pair.end - pair.beg);
                for (size_t i = 0; i < Ls[k]; i++)
                    if (codes[i] !=
                        (i < n ? cov_code_of_letter[(unsigned char)letters[(size_t)pair.beg + i]]
                               : COV_CODE_PAD))
                        fail_msg("sequence %zu, base %lld", s, (long long)pair.beg + (long long)i);
                assert_int_equal(pair.seq, n_seqs);
                if (pair.last) {
                    assert_int_equal(pair.end, lengths[s]);
                    n_seqs++;
                }
            }
            assert_int_equal(n_seqs, (kind & 1 ? 2 : 4) - (kind & 2 ? 1 : 0));
            cov_fasta_pairs_free(p);
        }
    free(letters);
    free(codes);
    cov_fasta_pairs_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rename),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
