/* test_fasta.c - the FASTA scanner: what it finds and where.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/seq/fasta.h"

static char path[] = "/tmp/test_fasta.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* All events of the file as text: "1:2 >name", "2:1 ACGT", "$" at the end, or the error without the
 * path. */
static void scan(char *out, size_t n_out)
{
    struct cov_fasta *f;
    struct cov_err e = COV_ERR_INIT;
    size_t n = 0;
    out[0] = '\0';
    int rc = cov_fasta_open(path, 1, &f, &e);
    assert_int_equal(rc, 0);
    assert_string_equal(cov_fasta_name(f), path);
    for (;;) {
        struct cov_fasta_event event;
        rc = cov_fasta_next(f, &event, &e);
        if (rc) {
            assert_int_equal(rc, COV_EINPUT);
            assert_memory_equal(e.text, path, strlen(path));
            (void)snprintf(out + n, n_out - n, "!%s", e.text + strlen(path) + 1);
            break;
        }
        if (event.kind == COV_FASTA_END) {
            (void)snprintf(out + n, n_out - n, "$");
            assert_int_equal(cov_fasta_done(f), cov_fasta_total(f));
            break;
        }
        n += (size_t)snprintf(out + n, n_out - n, "%lld:%lld %s%.*s ", (long long)event.line,
                              (long long)event.column, event.kind == COV_FASTA_HEADER ? ">" : "",
                              (int)event.n, event.text);
        assert_true(n < n_out);
    }
    cov_fasta_free(f);
}

static void test_events(void **state)
{
    (void)state;
    static const struct {
        const char *text, *events;
    } cases[] = {
        {"", "$"},
        {"\n \n\t\r\n", "$"},
        {">a\nACGT\n", "1:2 >a 2:1 ACGT $"},
        {">a\nACGT", "1:2 >a 2:1 ACGT $"},
        {">a", "1:2 >a $"},
        {">a\r\nAC\r\nGT\r\n", "1:2 >a 2:1 AC 3:1 GT $"},
        {">a b\tc\nAC\n\n  \nGT\n>b\n", "1:2 >a 2:1 AC 5:1 GT 6:2 >b $"},
        {">a\tb\nAC \t\r\n>b \nG\n", "1:2 >a 2:1 AC 3:2 >b 4:1 G $"},
        {"\n\n>a\nA\n", "3:2 >a 4:1 A $"},
        {"\xef\xbb\xbf>a\nA\n", "1:2 >a 2:1 A $"},
        {">a\n>b\nA>c\n", "1:2 >a 2:2 >b 3:1 A>c $"},
        {">>a\n", "1:2 >>a $"},
        {">a\n AC\n", "1:2 >a 2:1  AC $"},
        {">a\rAC\r", "1:2 >a $"},
        {"ACGT\n", "! no FASTA: the first line does not start with '>'"},
        {"; old\n>a\nA\n", "! no FASTA: the first line does not start with '>'"},
        {" >a\nA\n", "! no FASTA: the first line does not start with '>'"},
        {"\n\nx\n>a\n", "!3: no FASTA: text before the first '>'"},
        {">a\nA\n>\nC\n", "1:2 >a 2:1 A !3: a header without a name"},
        {">a\nA\n> b\nC\n", "1:2 >a 2:1 A !3: a header without a name"},
        {">a\nA\n>", "1:2 >a 2:1 A !3: a header without a name"},
    };
    char events[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(cases[i].text, strlen(cases[i].text));
        scan(events, sizeof events);
        assert_string_equal(events, cases[i].events);
    }
    put(">a\0b\nA\n", 7);
    scan(events, sizeof events);
    assert_string_equal(events, "!1: a zero byte in a name");
}

static void test_long_names(void **state)
{
    (void)state;
    char text[2 * COV_FASTA_MAX_NAME], events[2 * COV_FASTA_MAX_NAME];
    memset(text, 'n', sizeof text);
    text[0] = '>';
    text[COV_FASTA_MAX_NAME + 1] = '\n';
    put(text, COV_FASTA_MAX_NAME + 2);
    scan(events, sizeof events);
    assert_int_equal(strlen(events), 4 + 1 + COV_FASTA_MAX_NAME + 2);
    text[COV_FASTA_MAX_NAME + 1] = 'n';
    put(text, COV_FASTA_MAX_NAME + 2);
    scan(events, sizeof events);
    assert_string_equal(events, "!1: a name of more than 4095 bytes");
}

/* A long line, and the end of a line and a header at every place around the end of the buffer. */
static void test_buffers(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    char *text = malloc(N + 100);
    static const char head[3] = ">a\n", tail[] = " \t\n>second with words\nGG\n";
    assert_non_null(text);
    for (size_t lead = 0; lead < 24; lead++) {
        /* The tail moves over the end of the buffer (2^18). */
        size_t n = (1 << 18) - lead;
        memset(text, 'C', n);
        memcpy(text, head, sizeof head);
        memcpy(text + n, tail, sizeof tail - 1);
        put(text, n + sizeof tail - 1);
        struct cov_fasta *f;
        struct cov_fasta_event event;
        assert_int_equal(cov_fasta_open(path, 1, &f, NULL), 0);
        assert_int_equal(cov_fasta_next(f, &event, NULL), 0);
        int64_t letters = 0;
        for (;;) {
            assert_int_equal(cov_fasta_next(f, &event, NULL), 0);
            if (event.kind != COV_FASTA_BASES)
                break;
            assert_int_equal(event.line, 2);
            assert_int_equal(event.column, letters + 1);
            letters += (int64_t)event.n;
        }
        assert_int_equal(letters, n - 3);
        assert_int_equal(event.kind, COV_FASTA_HEADER);
        assert_string_equal(event.text, "second");
        assert_int_equal(event.line, 3);
        for (letters = 0; event.kind != COV_FASTA_END; letters += (int64_t)event.n) {
            assert_int_equal(cov_fasta_next(f, &event, NULL), 0);
            assert_int_equal(event.line, event.kind == COV_FASTA_END ? 5 : 4);
        }
        assert_int_equal(letters, 2);
        cov_fasta_free(f);
    }
    /* White space that begins before the end of the buffer, and a letter behind it. */
    memset(text, 'C', N);
    memcpy(text, head, sizeof head);
    memset(text + (1 << 18) - 5, ' ', 10);
    put(text, N);
    struct cov_fasta *f;
    struct cov_fasta_event event;
    struct cov_err e = COV_ERR_INIT;
    char expected[128];
    (void)snprintf(expected, sizeof expected, "%s:2:%d: white space between letters", path,
                   (1 << 18) - 5 - 3 + 1);
    assert_int_equal(cov_fasta_open(path, 1, &f, NULL), 0);
    assert_int_equal(cov_fasta_next(f, &event, NULL), 0);
    assert_int_equal(cov_fasta_next(f, &event, NULL), 0);
    assert_int_equal(event.n, (1 << 18) - 8);
    assert_int_equal(cov_fasta_next(f, &event, &e), COV_EINPUT);
    assert_string_equal(e.text, expected);
    cov_fasta_free(f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_buffers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
