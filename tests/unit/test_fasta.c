/* test_fasta.c - the FASTA scanner: what it returns, and the positions in its errors.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/seq/alphabet.h"
#include "common/seq/fasta.h"

/* Reads x.fa, `cap` codes at a time, and writes ">name@line ACGT ..." to `out`, then "$" at the end
 * or the error without "x.fa:". */
static void scan(size_t cap, struct cov_fasta_bad *bad, char *out, size_t n_out)
{
    struct cov_fasta *f;
    size_t n = 0;
    uint8_t codes[64];
    out[0] = '\0';
    int rc;
    assert_ok(cov_fasta_open("x.fa", 1, &f, &e));
    struct cov_err e = COV_ERR_INIT;
    assert_string_equal(cov_fasta_name(f), "x.fa");
    struct cov_fasta_header header;
    while ((rc = cov_fasta_next(f, &header, &e)) > 0) {
        assert_int_equal(header.n, strlen(header.name));
        n += (size_t)snprintf(out + n, n_out - n, ">%s@%lld ", header.name, (long long)header.line);
        assert_true(n < n_out);
        bool more = true;
        rc = 0;
        while (more && !rc) {
            size_t got = 0, letters = n;
            rc = cov_fasta_codes(f, codes, cap, &got, bad, &e);
            for (size_t i = 0; i < got && !rc; i++)
                out[n++] = cov_letter_of_code[codes[i]];
            assert_true(n + 1 < n_out);
            out[n] = '\0';
            if (!rc)
                rc = cov_fasta_has_more(f, &more, &e);
            assert_true(rc || n - letters == cap || !more);
        }
        if (rc)
            break;
        out[n++] = ' ';
        out[n] = '\0';
    }
    if (rc) {
        assert_int_equal(rc, COV_EINPUT);
        assert_memory_equal(e.text, "x.fa:", 5);
        (void)snprintf(out + n, n_out - n, "!%s", e.text + 5);
    } else {
        (void)snprintf(out + n, n_out - n, "$");
        assert_int_equal(cov_fasta_done(f), cov_fasta_total(f));
    }
    cov_fasta_free(f);
}

TEST(test_contents)
{
    static const struct {
        const char *text, *found;
    } cases[] = {
        {"", "$"},
        {"\n \n\t\r\n", "$"},
        {">a\nACGT\n", ">a@1 ACGT $"},
        {">a\nACGT", ">a@1 ACGT $"},
        {">a", ">a@1  $"},
        {">a\r\nAC\r\nGT\r\n", ">a@1 ACGT $"},
        {">a b\tc\nAC\n\n  \nGT\n>b\n", ">a@1 ACGT >b@6  $"},
        {">a\tb\nAC \t\r\n>b \nG\n", ">a@1 AC >b@3 G $"},
        {"\n\n>a\nA\n", ">a@3 A $"},
        {"\xef\xbb\xbf>a\nA\n", ">a@1 A $"},
        {">a\n>b\nac\n\nRyU\n", ">a@1  >b@2 ACRYT $"},
        {">>a\n", ">>a@1  $"},
        {">a\rAC\r", ">a@1  $"},
        {"ACGT\n", "! not a FASTA file: the first line does not start with '>'"},
        {"; old\n>a\nA\n", "! not a FASTA file: the first line does not start with '>'"},
        {" >a\nA\n", "! not a FASTA file: the first line does not start with '>'"},
        {"\n\nx\n>a\n", "!3: not a FASTA file: text before the first '>'"},
        /* Lines of different lengths, although the scanner expects lines of equal length. */
        {">a\nACGT\nACGT\nTGCA\n", ">a@1 ACGTACGTTGCA $"},
        {">a\nACGT\nAC\nT\n>bcd\nAC\n", ">a@1 ACGTACT >bcd@5 AC $"},
        {">a\nACGT\n>b\nG\nACGT\n", ">a@1 ACGT >b@3 GACGT $"},
        {">a\nACGT\nAC \n\nAC\t\r\nGT", ">a@1 ACGTACACGT $"},
        {">a\nA\n>\nC\n", ">a@1 A !3: header without a name"},
        {">a\nA\n> b\nC\n", ">a@1 A !3: header without a name"},
        {">a\nA\n>", ">a@1 A !3: header without a name"},
    };
    char found[256];
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        for (size_t cap = 1; cap < 20; cap++) {
            put_text("x.fa", cases[i].text);
            scan(cap, NULL, found, sizeof found);
            assert_string_equal(found, cases[i].found);
        }
    put_bytes("x.fa", ">a\0b\nA\n", 7);
    scan(9, NULL, found, sizeof found);
    assert_string_equal(found, "!1: zero byte in a name");
}

/* Invalid letters at each position of lines of each length. */
TEST(test_bad_letters)
{
    char text[80], found[128], expected[128];
    for (size_t n = 1; n < 50; n++)
        for (size_t at = 0; at < n; at++) {
            size_t size = (size_t)snprintf(text, sizeof text, ">a\nAC\n%.*s\nG\n", (int)n,
                                           "ACGTNACGTNACGTNACGTNACGTNACGTNACGTNACGTNACGTNACGTN");
            text[6 + at] = 'x';
            put_bytes("x.fa", text, size);
            scan(20, NULL, found, sizeof found);
            (void)snprintf(expected, sizeof expected,
                           "!3:%zu: invalid base 'x'; --on-bad-base n reads it as N", at + 1);
            assert_string_equal(strchr(found, '!'), expected);
            text[6 + at] = 'n';
            text[6 + n / 2] = text[3] = '\x80';
            put_bytes("x.fa", text, size);
            struct cov_fasta_bad bad = {0, 0, 0};
            scan(20, &bad, found, sizeof found);
            assert_int_equal(bad.n, 2);
            assert_int_equal(bad.line, 2);
            assert_int_equal(bad.column, 1);
            assert_int_equal(found[5], 'N');
            assert_int_equal(found[7 + n / 2], 'N');
            assert_int_equal(strlen(found), 5 + 2 + n + 1 + 2);
            scan(20, NULL, found, sizeof found);
            assert_string_equal(found, ">a@1 !2:1: invalid byte 0x80");
            text[3] = 'A';
            text[6 + n / 2] = 'A';
            text[6 + at] = '\f';
            put_bytes("x.fa", text, size);
            bad.n = 0;
            scan(20, &bad, found, sizeof found);
            if (at + 1 < n) {
                (void)snprintf(expected, sizeof expected, "!3:%zu: white space between letters",
                               at + 1);
                assert_string_equal(strchr(found, '!'), expected);
            } else {
                assert_int_equal(strlen(found), 5 + 2 + n - 1 + 1 + 2);
            }
            assert_int_equal(bad.n, 0);
        }
}

TEST(test_long_names)
{
    char text[2 * COV_FASTA_MAX_NAME], found[2 * COV_FASTA_MAX_NAME];
    memset(text, 'n', sizeof text);
    text[0] = '>';
    text[COV_FASTA_MAX_NAME + 1] = '\n';
    put_bytes("x.fa", text, COV_FASTA_MAX_NAME + 2);
    scan(9, NULL, found, sizeof found);
    assert_int_equal(strlen(found), 1 + COV_FASTA_MAX_NAME + 3 + 2);
    text[COV_FASTA_MAX_NAME + 1] = 'n';
    put_bytes("x.fa", text, COV_FASTA_MAX_NAME + 2);
    scan(9, NULL, found, sizeof found);
    assert_string_equal(found, "!1: name longer than 4095 bytes");
}

/* The end of a long line and the next header are at each position around the end of the buffer. */
TEST(test_buffers)
{
    enum { BUFFER = 1 << 18, N = 4 * BUFFER };
    static char text[N];
    static uint8_t codes[N];
    static const char head[3] = ">a\n", tail[] = " \t\n>second with words\nGG\n";
    struct cov_fasta *f;
    struct cov_fasta_header header;
    for (size_t lead = 0; lead < 24; lead++) {
        /* The tail moves across the end of the buffer. */
        size_t n = BUFFER - lead;
        memset(text, 'C', n);
        memcpy(text, head, sizeof head);
        memcpy(text + n, tail, sizeof tail - 1);
        put_bytes("x.fa", text, n + sizeof tail - 1);
        assert_ok(cov_fasta_open("x.fa", 1, &f, &e));
        assert_int_equal(cov_fasta_next(f, &header, NULL), 1);
        size_t letters = 0, got;
        do {
            assert_ok(cov_fasta_codes(f, codes, 1000, &got, NULL, &e));
            for (size_t i = 0; i < got; i++)
                assert_int_equal(codes[i], COV_CODE_C);
            letters += got;
        } while (got == 1000);
        assert_int_equal(letters, n - 3);
        assert_int_equal(cov_fasta_next(f, &header, NULL), 1);
        assert_string_equal(header.name, "second");
        assert_int_equal(header.line, 3);
        bool more;
        assert_ok(cov_fasta_has_more(f, &more, &e));
        assert_true(more);
        assert_ok(cov_fasta_codes(f, codes, 1000, &got, NULL, &e));
        assert_int_equal(got, 2);
        assert_int_equal(codes[1], COV_CODE_G);
        assert_ok(cov_fasta_has_more(f, &more, &e));
        assert_false(more);
        assert_int_equal(cov_fasta_next(f, &header, NULL), 0);
        cov_fasta_free(f);
    }
    /* White space extends past the end of the buffer, and a letter follows. */
    memset(text, 'C', N);
    memcpy(text, head, sizeof head);
    memset(text + BUFFER - 5, ' ', 10);
    put_bytes("x.fa", text, N);
    char expected[128];
    size_t got;
    (void)snprintf(expected, sizeof expected, "x.fa:2:%d: white space between letters", BUFFER - 7);
    assert_ok(cov_fasta_open("x.fa", 1, &f, &e));
    assert_int_equal(cov_fasta_next(f, &header, NULL), 1);
    assert_ok(cov_fasta_codes(f, codes, BUFFER - 8, &got, NULL, &e));
    assert_int_equal(got, BUFFER - 8);
    assert_fails_with(cov_fasta_codes(f, codes, N, &got, NULL, &e), COV_EINPUT, expected);
    cov_fasta_free(f);
}

TEST_GROUP(enter_dir, leave_dir)
