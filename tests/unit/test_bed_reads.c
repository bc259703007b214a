/* test_bed_reads.c - lines of BED as reads and fragments, what a file is, and messages about wrong lines.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/features/bed_reads.h"

TEST(lines_are_reads_or_fragments)
{
    static const struct {
        int contig, pos, bases, line;
        unsigned flags;
        bool is_fragment;
    } wanted[] = {
        {0, 5, 15, 4, 0, false},
        {1, 0, 7, 6, COV_READ_REVERSE, false},
        {0, 9, 0, 7, 0, true},
    };
    struct cov_bed_reads b;
    struct cov_read r;
    put_text("x", "track name=y\n# a 1 2\n\nc2 5\t20 N 0 +\tmore\nbrowser x\n"
                  "c1\t0\t7\tN\t9\t-\r\nc2\t9\t9\t.\t.\t.");
    assert_ok(cov_bed_reads_init(&b, "x", &e));
    for (size_t i = 0; i < COV_COUNT(wanted); i++) {
        assert_int_equal(cov_bed_reads_next(&b, &r, NULL), 1);
        assert_int_equal(r.contig, wanted[i].contig);
        assert_int_equal(r.pos, wanted[i].pos);
        assert_int_equal(*r.cigar, wanted[i].bases << 4 | COV_CIGAR_M);
        assert_int_equal(b.line, wanted[i].line);
        assert_int_equal(r.flags, wanted[i].flags);
        assert_int_equal(r.is_fragment, wanted[i].is_fragment);
    }
    assert_int_equal(cov_bed_reads_next(&b, &r, NULL), 0);
    assert_int_equal(cov_names_count(b.names), 2);
    assert_string_equal(cov_names_get(b.names, 1, NULL), "c1");
    cov_bed_reads_fini(&b);
    assert_fails(cov_bed_reads_init(&b, "none", &e), COV_EIO, "none: No such file");
    cov_bed_reads_fini(&b);
}

static int read_all(struct cov_err *e)
{
    struct cov_bed_reads b;
    struct cov_read r;
    int rc = cov_bed_reads_init(&b, "x", e);
    for (int got = 1; !rc && got > 0;) {
        got = cov_bed_reads_next(&b, &r, e);
        rc = got < 0 ? got : rc;
    }
    cov_bed_reads_fini(&b);
    return rc;
}

TEST(names_wrong_lines)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a\t1\t2\na\t1\n", "x:2: expected contig, start and end"},
        {"a\t1\t2\na\t1\tx\n", "x:2: expected contig, start and end"},
        {"a\t1\t2\na\t-1\t2\n", "x:2: expected contig, start and end; the start is negative"},
        {"a\t1\t2\na\t0x1\t2\n", "x:2: expected contig, start and end"},
        {"a,1,2\n", "x:1: expected contig, start and end; separate columns by tabs or blanks"},
        {"#\n\na\t1\t2\tb\t1\na\t1\t2\tb\n", "x:4: fewer or more columns than the first line"},
        {"a\t1\t2\na\t1\t2\t+\n", "x:2: fewer or more columns than the first line"},
        {"a\t1\t2\na\t2\t1\n", "x:2: ends before it starts"},
        {"a\t0\t268435455\na\t0\t268435456\n", "x:2: longer than 268435455 bases"},
        {"a\t1\t2\tb\t0\tx\n", "x:1: the strand (column 6) is not +, - or ."},
        {"a\t1\t2\na\t1\t2\rb\t1\t2\n", "x:2: lines must not end in a carriage return alone"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        put_text("x", cases[i].text);
        assert_fails(read_all(&e), COV_EINPUT, cases[i].message);
    }
}

TEST(detects_what_a_file_is)
{
    static const struct {
        const char *text;
        enum cov_bed_kind kind;
    } cases[] = {
        {"a\t1\t2\n", COV_BED_FRAGMENTS},
        {"a 1 2", COV_BED_FRAGMENTS},
        {"a\t1\t2\tACGT-1\t3\n", COV_BED_FRAGMENTS},
        {"a\t1\t2\tp\t3\t.\n", COV_BED_FRAGMENTS},
        {"a\t2\t1\n", COV_BED_READS}, /* a wrong line */
        {"track x\nbrowser y\n\na\t1\t2\tN\t3\t+\n", COV_BED_READS},
        {"a\t1\t2\tN\t3\t-\t1\t2\t0\n", COV_BED_READS},
        {"a\t1\t2\t3\n", COV_BED_NONE},                           /* bedGraph */
        {"a\t1\t2\tp\t5\t.\t4.5\t3\t2\t50\n", COV_BED_NONE},      /* narrowPeak */
        {"a\tx\tgene\t1\t100\t.\t+\t.\tID=g\n", COV_BED_NONE},    /* GFF3 */
        {"r1\t0\t1\t100\t60\t4M\t*\t0\t0\tA\t*\n", COV_BED_NONE}, /* SAM without a header */
        {"a\t1\n", COV_BED_NONE},
        {"", COV_BED_NONE},
    };
    enum { NARROWPEAK = 8 };
    char text[2000];
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        put_text("x", cases[i].text);
        assert_int_equal(cov_bed_reads_detect("x"), cases[i].kind);
        if (i == NARROWPEAK)
            continue;
        /* Fragment files of 10x begin with many comments. */
        (void)snprintf(text, sizeof text, "# %0*d\n%s", 1500, 0, cases[i].text);
        put_text("x", text);
        assert_int_equal(cov_bed_reads_detect("x"), cases[i].kind);
    }
    assert_int_equal(cov_bed_reads_detect("none"), COV_BED_NONE);
    assert_int_equal(cov_bed_reads_detect("."), COV_BED_NONE);
}

TEST_GROUP(enter_dir, leave_dir)
