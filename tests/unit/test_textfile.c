/* test_textfile.c - text files are read line by line.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/file/textfile.h"

static const char path[] = "x";

static void expect(const char *text, const char *const *lines, size_t n)
{
    struct cov_lines *l;
    const char *line;
    size_t n_line, number;
    put_text(path, text);
    assert_ok(cov_lines_open(path, &l, &e));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(cov_lines_next(l, &line, &n_line, &number, NULL), 1);
        assert_int_equal(number, i + 1);
        assert_int_equal(n_line, strlen(lines[i]));
        assert_memory_equal(line, lines[i], n_line);
    }
    assert_ok(cov_lines_next(l, &line, &n_line, &number, &e));
    assert_ok(cov_lines_next(l, &line, &n_line, &number, &e));
    cov_lines_close(l);
}

TEST(reads_lines)
{
    const char *const lines[] = {"a b", "", "last"};
    expect("", NULL, 0);
    expect("\n", lines + 1, 1);
    expect("a b\n\nlast\n", lines, 3);
    expect("a b\n\nlast", lines, 3);
}

/* Reads long lines, whose newlines are at different offsets in the buffer. */
TEST(reads_long_lines)
{
    enum { N = 3 * 65536 + 7 };
    struct cov_lines *l;
    const char *line;
    size_t n_line, number;
    char *text = unit_alloc(N);
    for (size_t i = 0; i < N; i++)
        text[i] = i % 65521 == 65520 ? '\n' : 'x';
    put_bytes(path, text, N);
    assert_ok(cov_lines_open(path, &l, &e));
    for (size_t at = 0; at < N; at += n_line + 1) {
        assert_int_equal(cov_lines_next(l, &line, &n_line, &number, NULL), 1);
        assert_int_equal(n_line, N - at < 65520 ? N - at : 65520);
        assert_memory_equal(line, text + at, n_line);
    }
    assert_ok(cov_lines_next(l, &line, &n_line, &number, &e));
    cov_lines_close(l);
}

static void refuse(const char *text, size_t n, const char *why)
{
    struct cov_lines *l;
    struct cov_err e = COV_ERR_INIT;
    const char *line;
    size_t n_line, number;
    int rc;
    put_bytes(path, text, n);
    assert_int_equal(cov_lines_open(path, &l, NULL), 0);
    while ((rc = cov_lines_next(l, &line, &n_line, &number, &e)) == 1)
        continue;
    assert_int_equal(rc, COV_EINPUT);
    check_error(&e, COV_EINPUT, why);
    cov_lines_close(l);
}

TEST(refuses_bad_lines)
{
    refuse("ok\nno\0no\n", 9, ":2: not a text file: it has a zero byte");
    refuse("ok\r\nno\rno \r\r\n", 14, ":2: lines must not end in a carriage return alone");
    char *text = unit_alloc(COV_MAX_LINE + 2);
    memset(text, 'x', COV_MAX_LINE + 1);
    text[COV_MAX_LINE + 1] = '\n';
    refuse(text, COV_MAX_LINE + 2, ":1: line longer than");
    struct cov_lines *l;
    assert_int_equal(cov_lines_open("/nonexistent", &l, NULL), COV_EIO);
}

TEST(splits_words)
{
    const char text[] = "\t one  two#2 #three four", *p = text;
    size_t n;
    const char *word = cov_line_word(&p, text + strlen(text), &n);
    assert_int_equal(n, 3);
    assert_memory_equal(word, "one", 3);
    word = cov_line_word(&p, text + strlen(text), &n);
    assert_int_equal(n, 5);
    assert_memory_equal(word, "two#2", 5);
    assert_null(cov_line_word(&p, text + strlen(text), &n));
    assert_null(cov_line_word(&p, text + strlen(text), &n));
}

TEST(hints_at_separators)
{
    static const struct {
        const char *line, *hint;
    } cases[] = {
        {"chr1;0;9", "; separate columns by tabs or blanks instead of ';'"},
        {"chr1; 0; 9", "; separate columns by tabs or blanks instead of ';'"},
        {"chr1,0,9", "; separate columns by tabs or blanks instead of ','"},
        {"chr1, 0, 9", "; separate columns by tabs or blanks instead of ','"},
        {"a,b;c\t0", ""},
        {"chr1", ""},
        {"# a;b", ""},
        {"", ""},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const char *line = cases[i].line;
        assert_string_equal(cov_line_hint(line, line + strlen(line)), cases[i].hint);
        assert_string_equal(cov_line_bed_hint(line, line + strlen(line)), cases[i].hint);
    }
}

TEST(hints_at_faults_of_bed)
{
    static const struct {
        const char *line, *hint;
    } cases[] = {
        {"chr1\t-5\t500", "; the start is negative"},
        {"chr1\t-5", "; the start is negative"},
        {"chrom start end", "; if this is a header, begin it with '#'"},
        {"chrom\tstart\tend\tname", "; if this is a header, begin it with '#'"},
        {"chr1\t-\t5", ""},
        {"chr1\tx\t5", ""},
        {"chr1\t5\tx", ""},
        {"chrom\tstart", ""},
        {"chrom start #end", ""},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const char *line = cases[i].line;
        assert_string_equal(cov_line_bed_hint(line, line + strlen(line)), cases[i].hint);
    }
}

TEST_GROUP(enter_dir, leave_dir)
