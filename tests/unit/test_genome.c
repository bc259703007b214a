/* test_genome.c - sequences read from FASTA: as a stream of intervals, and as a whole genome.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"
#include "tests/lib/own_log.h"

#include "common/base/rng.h"
#include "common/seq/alphabet.h"
#include "common/seq/genome.h"

static const struct cov_genome_options defaults = {.tmpdir = "/tmp", .n_threads = 1};

/* Appends the message of a failure without "x.fa:". */
static void append_error(char *out, size_t n_out, const struct cov_err *e)
{
    size_t n = strlen(out), skip = strncmp(e->text, "x.fa:", 5) == 0 ? 5 : 0;
    assert_int_equal(e->code, COV_EINPUT);
    (void)snprintf(out + n, n_out - n, "!%s", e->text + skip);
}

/* Returns the genome as a line such as "a=ACGT b=NN", or "!error". */
static const char *read_all(const char *fasta, const struct cov_genome_options *options)
{
    static char out[1024];
    struct cov_genome *g;
    struct cov_err e = COV_ERR_INIT;
    put_text("x.fa", fasta);
    start_log(COV_LOG_WARNING);
    out[0] = '\0';
    if (cov_genome_read("x.fa", options, NULL, &g, &e)) {
        assert_null(g);
        append_error(out, sizeof out, &e);
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

/* Returns the stream with L = 4 as text such as "<0a ACGT AC-->", where "<" means `first` and ">"
 * means `last`; then "!error" if reading failed. */
static const char *read_pairs(const char *fasta, const struct cov_genome_options *options)
{
    enum { L = 4 };
    static char out[1024];
    struct cov_fasta_pairs *p;
    struct cov_fasta_pair pair;
    size_t n = 0;
    int64_t expected = 0;
    uint8_t codes[L + 1];
    put_text("x.fa", fasta);
    start_log(COV_LOG_WARNING);
    out[0] = '\0';
    int got;
    assert_ok(cov_fasta_pairs_open("x.fa", options, L, &p, &e));
    struct cov_err e = COV_ERR_INIT;
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
        append_error(out, sizeof out, &e);
    else
        assert_int_equal(cov_fasta_pairs_done(p), cov_fasta_pairs_total(p));
    cov_fasta_pairs_free(p);
    return out;
}

TEST(sequences_are_read)
{
    assert_string_equal(read_all(">a x\nACGT\nacg\n\n>b\r\nRYSWKMBDHVNU\r\nn", &defaults),
                        "a=ACGTACG b=RYSWKMBDHVNTN");
    assert_string_equal(
        read_pairs(">a x\nACGTA\n>b\nAC\nGT\n\n>c\nG\n>d\nACG\nTAC\nGTA\n", &defaults),
        "<0a ACGT A--->"
        "<1b ACGT>"
        "<2c G--->"
        "<3d ACGT ACGT A--->");
    assert_int_equal(logged.n_warnings, 0);
}

TEST(bad_input_is_refused)
{
    static const struct {
        const char *fasta, *error;
    } cases[] = {
        {"", "! empty file"},
        {"\n\n", "! empty file"},
        {"ACGT\n", "! not a FASTA file: the first line does not start with '>'"},
        {">a\n>b\nA\n", "!1: empty sequence 'a'"},
        {">b\nA\n>a\n", "!3: empty sequence 'a'"},
        {">b\nA\n>a\n \n", "!3: empty sequence 'a'"},
        {">a\rACGT\r", "!1: empty sequence 'a'; lines must not end in a carriage return alone"},
        {">a\nACGT\nACXT\n", "!3:3: invalid base 'X'; --on-bad-base n reads it as N"},
        {">a\nACGL\n", "!2:4: invalid base 'L', as in proteins; --on-bad-base n reads it as N"},
        {">a\nAC-T\n", "!2:3: invalid base '-'; --on-bad-base n reads it as N"},
        {">a\nACGT*\n", "!2:5: invalid base '*'; --on-bad-base n reads it as N"},
        {">a\nACGT\n;c\n", "!3:1: invalid base ';'; --on-bad-base n reads it as N"},
        {">a\nA>GT\n", "!2:2: invalid base '>'; --on-bad-base n reads it as N"},
        {">a\nA\x1bGT\n", "!2:2: invalid byte 0x1b"},
        {">a\nA\xc3\xa4T\n", "!2:2: invalid byte 0xc3"},
        {">a\nAC GT\n", "!2:3: white space between letters"},
        {">a\n\tAC\n", "!2:1: white space between letters"},
        {">a\nAC\rGT\n", "!2:3: white space between letters"},
        {">a\nA\n>b\nC\n>a x\nG\n", "! duplicate sequence name 'a' (lines 1 and 5)"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_string_equal(read_all(cases[i].fasta, &defaults), cases[i].error);
        assert_string_equal(strchr(read_pairs(cases[i].fasta, &defaults), '!'), cases[i].error);
    }
    /* The stream returns the chunks before the fault. */
    assert_string_equal(read_pairs(">a\nACGTAC\n>b\nACGTAX\n", &defaults),
                        "<0a ACGT AC--><1b ACGT!4:6: invalid base 'X'; --on-bad-base n reads it "
                        "as N");
}

TEST(bad_bases_become_n)
{
    struct cov_genome_options options = defaults;
    options.bad_base_is_n = true;
    assert_string_equal(read_all(">a\nACXT-A*\n>b\nEE\n", &options), "a=ACNTNAN b=NN");
    assert_string_equal(logged.text,
                        "x.fa: read 5 invalid letters as N, the first at line 2, column 3");
    /* Letters of skipped sequences are not counted. */
    options.min_length = 3;
    assert_string_equal(read_all(">a\nXX\n>b\nAC\nGX\n", &options), "b=ACGN");
    assert_string_equal(logged.text,
                        "x.fa: read 1 invalid letters as N, the first at line 5, column 2");
    assert_string_equal(read_all(">a\nAC GT\n", &options), "!2:3: white space between letters");
}

TEST(limits_skip_sequences)
{
    static const char fasta[] = ">a\nA\n>b\nACGTAC\n>c\nACGTACGTACGTX\n>d\nACGTACGTAC\n";
    static const char five[] = ">a\nA\n>b\nAC\n>c\nACG\n>d\nACGT\n>e\nTG\n";
    struct cov_genome_options options = defaults;
    options.min_length = 2;
    options.max_length = 3;
    assert_string_equal(read_all(five, &options), "b=AC c=ACG e=TG");
    assert_string_equal(logged.text,
                        "x.fa: 2 of 5 sequences left out by length: 1 too short, 1 too long");
    options.max_length = 0;
    assert_string_equal(read_all(five, &options), "b=AC c=ACG d=ACGT e=TG");
    /* The stream returns no part of a skipped sequence. */
    options.bad_base_is_n = true;
    options.min_length = 6;
    assert_string_equal(read_pairs(fasta, &options),
                        "<0b ACGT AC--><1c ACGT ACGT ACGT N---><2d ACGT ACGT AC-->");
    assert_string_equal(logged.text,
                        "x.fa: read 1 invalid letters as N, the first at line 6, column 13");
    options.min_length = 7;
    assert_string_equal(read_pairs(fasta, &options), "<0c ACGT ACGT ACGT N---><1d ACGT ACGT AC-->");
    options.max_length = 12;
    assert_string_equal(read_pairs(fasta, &options), "<0d ACGT ACGT AC-->");
    assert_string_equal(logged.text,
                        "x.fa: 3 of 4 sequences left out by length: 2 too short, 1 too long");
    options.min_length = 11;
    assert_string_equal(read_pairs(fasta, &options),
                        "! no sequence has a length within the limits");
    assert_string_equal(read_all(fasta, &options), "! no sequence has a length within the limits");
    /* Skipped sequences are also checked. */
    options.bad_base_is_n = false;
    assert_string_equal(read_pairs(fasta, &options),
                        "!6:13: invalid base 'X'; --on-bad-base n reads it as N");
}

TEST(sequences_are_renamed)
{
    struct cov_genome_options options = defaults;
    static const char abc[] = ">a\nA\n>b\nC\n>c\nG\n";
    options.rename_path = "names";
    put_text("names", "a\tchrA\nb a\n");
    assert_string_equal(read_all(abc, &options), "chrA=A a=C c=G");
    assert_int_equal(logged.n_warnings, 0);
    put_text("names", "a\tchrA\nx\ty\nc\tz\n");
    options.min_length = 2;
    assert_string_equal(read_all(">a\nAC\n>b\nCG\n>c\nG\n", &options), "chrA=AC b=CG");
    assert_string_equal(logged.text, "names: 1 of 3 names are not in x.fa");
    options.min_length = 0;
    options.max_length = 5;
    put_text("names", "a\tb\nb a\nlong c\n");
    assert_string_equal(read_pairs(">a\nA\n>long\nACGTAC\n>b\nC\n>c\nG\n", &options),
                        "<0b A---><1a C---><2c G--->");
    put_text("names", "a\tc\n");
    assert_string_equal(
        read_pairs(abc, &options),
        "<0c A---><1b C--->! duplicate sequence name 'c' after renaming (lines 1 and 5)");
    put_text("names", "a\n");
    struct cov_fasta_pairs *p;
    assert_int_equal(cov_fasta_pairs_open("x.fa", &options, 4, &p, NULL), COV_EINPUT);
    assert_null(p);
    assert_string_equal(read_all(abc, &options), "!names:1: expected two columns");
}

/* ---- large files ---- */

enum { MOST = 5000001, N_SEQS = 5 };
static const size_t lengths[N_SEQS] = {3, MOST, 1, 2500001, 70001};
static char letters[MOST]; /* each sequence is a prefix of these */

static void write_large(size_t width)
{
    struct cov_rng r;
    cov_rng_init(&r, 1);
    for (size_t i = 0; i < MOST; i++)
        letters[i] = cov_letter_of_code[1 + cov_rng_below(&r, 15)];
    FILE *f = must(fopen("x.fa", "wb"));
    for (size_t s = 0; s < N_SEQS; s++) {
        (void)fprintf(f, ">%zu\n", s);
        for (size_t i = 0; i < lengths[s]; i += width)
            (void)fprintf(f, "%.*s\n", (int)(lengths[s] - i < width ? lengths[s] - i : width),
                          letters + i);
    }
    assert_int_equal(fclose(f), 0);
}

/* Checks that codes[0..n) are those of letters[beg ..). */
static void check_codes(const uint8_t *codes, int64_t beg, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (codes[i] != cov_code_of_letter[(unsigned char)letters[(size_t)beg + i]])
            fail_msg("base %lld", (long long)beg + (long long)i);
}

/* The bases do not depend on L or on length limits. Sequences are longer than all buffers. */
TEST(large_sequences_are_streamed)
{
    static const size_t Ls[] = {999, 1000, 21384, 100001, 3000000};
    uint8_t *codes = unit_alloc(3000000);
    write_large(61);
    for (int kind = 0; kind < 4; kind++)
        for (size_t k = 0; k < COV_COUNT(Ls); k++) {
            struct cov_genome_options options = defaults;
            struct cov_fasta_pairs *p;
            struct cov_fasta_pair pair;
            options.min_length = kind & 1 ? 70001 : 0;
            options.max_length = kind & 2 ? MOST - 1 : 0;
            assert_ok(cov_fasta_pairs_open("x.fa", &options, Ls[k], &p, &e));
            size_t n_seqs = 0;
            while (cov_fasta_pairs_next(p, &pair, codes, NULL) > 0) {
                size_t n = (size_t)(pair.end - pair.beg);
                check_codes(codes, pair.beg, n);
                for (size_t i = n; i < Ls[k]; i++)
                    assert_int_equal(codes[i], COV_CODE_PAD);
                assert_int_equal(pair.seq, n_seqs);
                if (pair.last) {
                    assert_int_equal(pair.end, lengths[strtoul(pair.name, NULL, 10)]);
                    n_seqs++;
                }
            }
            assert_int_equal(n_seqs, (kind & 1 ? 3 : 5) - (kind & 2 ? 1 : 0));
            cov_fasta_pairs_free(p);
        }
    cov_fasta_pairs_free(NULL);
}

TEST(large_genomes_have_random_access)
{
    struct cov_genome_options options = defaults;
    struct cov_genome *g;
    options.max_length = MOST - 1;
    write_large(77777);
    assert_ok(cov_genome_read("x.fa", &options, NULL, &g, &e));
    assert_int_equal(g->n_seqs, 4);
    assert_string_equal(g->names[1], "2");
    assert_int_equal(g->lengths[2], 2500001);
    /* Pieces that codes are unpacked in have 32768. */
    static const int64_t sizes[] = {40000, 32767, 1, 32768, 32769, 2, 0};
    uint8_t codes[40001];
    for (size_t s = 0, k = 0; s < g->n_seqs; s++)
        for (int64_t beg = 0; beg < g->lengths[s]; beg += 19999, k++) {
            int64_t end = beg + sizes[k % COV_COUNT(sizes)];
            if (end > g->lengths[s])
                end = g->lengths[s];
            codes[end - beg] = 0xee;
            assert_ok(cov_genome_codes(g, s, beg, end, codes, &e));
            check_codes(codes, beg, (size_t)(end - beg));
            assert_int_equal(codes[end - beg], 0xee);
        }
    cov_genome_free(g);
}

/* A directory for temporary files is needed only for large genomes. */
TEST(temporary_files_need_a_directory)
{
    struct cov_genome_options options = defaults;
    struct cov_genome *g;
    options.tmpdir = "/nonexistent";
    put_text("x.fa", ">a\nACGT\n");
    assert_ok(cov_genome_read("x.fa", &options, NULL, &g, &e));
    cov_genome_free(g);
    write_large(77777);
    assert_fails(cov_genome_read("x.fa", &options, NULL, &g, &e), COV_EIO, "/nonexistent");
    cov_genome_free(NULL);
}

TEST(many_sequences_are_read)
{
    enum { MANY = 100000 };
    FILE *f = must(fopen("x.fa", "wb"));
    for (int i = 0; i < MANY; i++)
        (void)fprintf(f, ">scaffold_%d\nACG\n", i);
    assert_int_equal(fclose(f), 0);
    struct cov_genome *g;
    assert_ok(cov_genome_read("x.fa", &defaults, NULL, &g, &e));
    assert_int_equal(g->n_seqs, MANY);
    assert_string_equal(g->names[MANY - 1], "scaffold_99999");
    uint8_t codes[3];
    assert_ok(cov_genome_codes(g, MANY - 1, 1, 3, codes, &e));
    assert_int_equal(codes[0], COV_CODE_C);
    assert_int_equal(codes[1], COV_CODE_G);
    cov_genome_free(g);
}

TEST_GROUP(enter_dir, leave_dir)
