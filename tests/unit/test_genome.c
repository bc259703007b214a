/* test_genome.c - genomes read from FASTA: bases at random access, names, limits, refusals.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/seq/alphabet.h"
#include "common/seq/genome.h"

static char path[] = "/tmp/test_genome.XXXXXX";
static char path2[] = "/tmp/test_genome.XXXXXX";
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

/* The genome in a line: "a=ACGT b=NN", or "!error" without the path. */
static const char *describe(const char *fasta, const struct cov_genome_options *options)
{
    static char out[1024];
    struct cov_genome *g;
    struct cov_err e = COV_ERR_INIT;
    put(path, fasta);
    warning[0] = '\0';
    int rc = cov_genome_read(path, options, NULL, &g, &e);
    if (rc) {
        assert_null(g);
        assert_int_equal(rc, COV_EINPUT);
        const char *text = e.text;
        if (strncmp(text, path, strlen(path)) == 0)
            text += strlen(path) + 1;
        (void)snprintf(out, sizeof out, "!%s", text);
        return out;
    }
    int64_t n_bases = 0;
    size_t n = 0;
    for (size_t s = 0; s < g->n_seqs; s++) {
        uint8_t codes[64];
        assert_true(g->lengths[s] <= 64);
        assert_int_equal(cov_genome_codes(g, s, 0, g->lengths[s], codes, &e), 0);
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s=", s ? " " : "", g->names[s]);
        for (int64_t i = 0; i < g->lengths[s]; i++)
            out[n++] = cov_letter_of_code[codes[i]];
        out[n] = '\0';
        n_bases += g->lengths[s];
    }
    assert_int_equal(g->n_bases, n_bases);
    cov_genome_free(g);
    return out;
}

static void test_bases(void **state)
{
    (void)state;
    assert_string_equal(describe(">a x\nACGT\nacg\n\n>b\r\nRYSWKMBDHVNU\r\nn", &defaults),
                        "a=ACGTACG b=RYSWKMBDHVNTN");
    assert_string_equal(warning, "");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fasta, *error;
    } cases[] = {
        {"", "! no sequence: the file is empty"},
        {"\n\n", "! no sequence: the file is empty"},
        {"ACGT\n", "! not FASTA: the first line does not start with '>'"},
        {">a\n>b\nA\n", "!1: sequence a has no bases"},
        {">b\nA\n>a\n", "!3: sequence a has no bases"},
        {">b\nA\n>a\n \n", "!3: sequence a has no bases"},
        {">a\rACGT\r",
         "!1: sequence a has no bases (lines that end in a carriage return alone are not read)"},
        {">a\nACGT\nACXT\n",
         "!3:3: letter 'X' is not an IUPAC code (--on-bad-base n reads it as N)"},
        {">a\nAC-T\n", "!2:3: letter '-' is not an IUPAC code (--on-bad-base n reads it as N)"},
        {">a\nACGT*\n", "!2:5: letter '*' is not an IUPAC code (--on-bad-base n reads it as N)"},
        {">a\nACGT\n;c\n", "!3:1: letter ';' is not an IUPAC code (--on-bad-base n reads it as N)"},
        {">a\nA>GT\n", "!2:2: letter '>' is not an IUPAC code (--on-bad-base n reads it as N)"},
        {">a\nA\x1bGT\n", "!2:2: byte 0x1b is not an IUPAC code"},
        {">a\nA\xc3\xa4T\n", "!2:2: byte 0xc3 is not an IUPAC code"},
        {">a\nAC GT\n", "!2:3: white space between letters"},
        {">a\n\tAC\n", "!2:1: white space between letters"},
        {">a\nAC\rGT\n", "!2:3: white space between letters"},
        {">a\nA\n>b\nC\n>a x\nG\n", "! two sequences are named 'a', those of lines 1 and 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(describe(cases[i].fasta, &defaults), cases[i].error);
}

static void test_bad_base_is_n(void **state)
{
    (void)state;
    struct cov_genome_options options = defaults;
    char expected[256];
    options.bad_base_is_n = true;
    assert_string_equal(describe(">a\nACXT-A*\n>b\nEE\n", &options), "a=ACNTNAN b=NN");
    (void)snprintf(expected, sizeof expected,
                   "%s: 5 letters that are not IUPAC codes were read as N, the first at line 2, "
                   "column 3",
                   path);
    assert_string_equal(warning, expected);
    /* Those of sequences that are left out do not count. */
    options.min_length = 3;
    assert_string_equal(describe(">a\nXX\n>b\nAC\nGX\n", &options), "b=ACGN");
    (void)snprintf(expected, sizeof expected,
                   "%s: 1 letters that are not IUPAC codes were read as N, the first at line 5, "
                   "column 2",
                   path);
    assert_string_equal(warning, expected);
    /* White space is no letter. */
    assert_string_equal(describe(">a\nAC GT\n", &options), "!2:3: white space between letters");
}

static void test_limits(void **state)
{
    (void)state;
    struct cov_genome_options options = defaults;
    static const char fasta[] = ">a\nA\n>b\nAC\n>c\nACG\n>d\nACGT\n>e\nTG\n";
    char expected[256];
    options.min_length = 2;
    options.max_length = 3;
    assert_string_equal(describe(fasta, &options), "b=AC c=ACG e=TG");
    (void)snprintf(expected, sizeof expected,
                   "%s: 2 of 5 sequences left out by length: 1 too short, 1 too long", path);
    assert_string_equal(warning, expected);
    options.max_length = 0;
    assert_string_equal(describe(fasta, &options), "b=AC c=ACG d=ACGT e=TG");
    options.min_length = 5;
    assert_string_equal(describe(fasta, &options), "! no sequence has a length within the limits");
}

static void test_rename(void **state)
{
    (void)state;
    struct cov_genome_options options = defaults;
    char expected[256];
    options.rename_path = path2;
    put(path2, "a\tchrA\nb a\n");
    assert_string_equal(describe(">a\nA\n>b\nC\n>c\nG\n", &options), "chrA=A a=C c=G");
    assert_string_equal(warning, "");
    put(path2, "a\tchrA\nx\ty\nc\tz\n");
    options.min_length = 2;
    assert_string_equal(describe(">a\nAC\n>b\nCG\n>c\nG\n", &options), "chrA=AC b=CG");
    (void)snprintf(expected, sizeof expected, "%s: 1 of 3 names are not in %s", path2, path);
    assert_string_equal(warning, expected);
    options.min_length = 0;
    put(path2, "a\tc\n");
    assert_string_equal(describe(">a\nA\n>b\nC\n>c\nG\n", &options),
                        "! two sequences are named 'c' after renaming, those of lines 1 and 5");
    put(path2, "a\n");
    assert_string_equal(describe(">a\nA\n", &options) + 1 + strlen(path2), ":1: not two columns");
}

/* Longer than all buffers, sequences of odd length, and a long one left out in between. */
static void test_large(void **state)
{
    (void)state;
    enum { N = 5000001, N_SEQS = 5 };
    static const size_t lengths[N_SEQS] = {3, N, 1, 4000003, 70001};
    struct cov_genome_options options = defaults;
    char *letters = malloc(N);
    assert_non_null(letters);
    uint32_t x = 1;
    for (size_t i = 0; i < N; i++) {
        x = x * 1664525 + 1013904223;
        letters[i] = cov_letter_of_code[1 + (x >> 16) % 15];
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t s = 0; s < N_SEQS; s++) {
        (void)fprintf(f, ">%zu\n", s);
        for (size_t i = 0; i < lengths[s]; i += 77777)
            (void)fprintf(f, "%.*s\n", (int)(lengths[s] - i < 77777 ? lengths[s] - i : 77777),
                          letters + i);
    }
    assert_int_equal(fclose(f), 0);
    struct cov_genome *g;
    options.max_length = N - 1;
    assert_int_equal(cov_genome_read(path, &options, NULL, &g, NULL), 0);
    assert_int_equal(g->n_seqs, 4);
    assert_string_equal(g->names[1], "2");
    assert_int_equal(g->lengths[2], 4000003);
    uint8_t codes[40001];
    for (size_t s = 0; s < g->n_seqs; s++)
        for (int64_t beg = 0; beg < g->lengths[s]; beg += 39999) {
            int64_t end = beg + 40000 < g->lengths[s] ? beg + 40000 : g->lengths[s];
            codes[end - beg] = 0xee;
            assert_int_equal(cov_genome_codes(g, s, beg, end, codes, NULL), 0);
            for (int64_t i = beg; i < end; i++)
                if (codes[i - beg] != cov_code_of_letter[(unsigned char)letters[i]])
                    fail_msg("sequence %zu, base %lld", s, (long long)i);
            assert_int_equal(codes[end - beg], 0xee);
        }
    cov_genome_free(g);
    free(letters);
}

static void test_many(void **state)
{
    (void)state;
    enum { N_SEQS = 100000 };
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int i = 0; i < N_SEQS; i++)
        (void)fprintf(f, ">scaffold_%d\nACG\n", i);
    assert_int_equal(fclose(f), 0);
    struct cov_genome *g;
    assert_int_equal(cov_genome_read(path, &defaults, NULL, &g, NULL), 0);
    assert_int_equal(g->n_seqs, N_SEQS);
    assert_string_equal(g->names[N_SEQS - 1], "scaffold_99999");
    uint8_t codes[3];
    assert_int_equal(cov_genome_codes(g, N_SEQS - 1, 1, 3, codes, NULL), 0);
    assert_int_equal(codes[0], COV_CODE_C);
    assert_int_equal(codes[1], COV_CODE_G);
    cov_genome_free(g);
}

/* The temporary file does not fit where it is to be. */
static void test_no_room(void **state)
{
    (void)state;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    (void)fputs(">a\n", f);
    for (int i = 0; i < 120000; i++)
        (void)fputs("ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n", f);
    assert_int_equal(fclose(f), 0);
    struct cov_genome *g;
    struct cov_err e = COV_ERR_INIT;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 1 << 20;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int rc = cov_genome_read(path, &defaults, NULL, &g, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, COV_EIO);
    assert_string_equal(e.text, "temporary file in /tmp: File too large");
    struct cov_genome_options options = defaults;
    options.tmpdir = "/nonexistent";
    cov_err_clear(&e);
    assert_int_equal(cov_genome_read(path, &options, NULL, &g, &e), COV_EIO);
    cov_genome_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bases),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_base_is_n), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rename),        cmocka_unit_test(test_large),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
