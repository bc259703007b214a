/* test_intervals.c - detects which of two kinds a track is, and reads both kinds.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/stream_bytes.h"

#include "common/track/formats/intervals.h"
#include "tests/lib/make_bigwig.h"

static enum cov_intervals_kind kind_of(const char *text)
{
    size_t n = strlen(text);
    return cov_intervals_kind_of(text, n < COV_BGZ_PEEK ? n : COV_BGZ_PEEK);
}

TEST(detects_kinds)
{
    static const char *const bedgraph[] = {
        "a\t0\t1\t1\n",
        "#x\na 0 1 1",
        "track name=\"a b c d e f\"\n",
        "\n\na 0 1 2\n",
        "1 2 3 4\n",
        "browser position chr1:1-1000\ntrack type=bedGraph name=abcdefghijklmnopqrstuvwxyz\n",
        "a_name_that_is_longer_than_what_is_looked_at_for_telling_of_which_kind 0 1 1\n",
        "a 0 1 1\nb 0 1 1\nc 0 1 1\nd 0 1 1\ne 0 1 1\nf 0 1 1\ng 0 1 1\nh 0 1 1\ni 0 1 1\n"};
    static const char *const none[] = {"",
                                       ">a\nACGT\n",
                                       "@HD\tVN:1.6\n",
                                       "@SQ\tSN:a\tLN:9\n",
                                       "r1\t0\ta\t11\t60\t10M\t*\t0\t0\t*\t*\n",
                                       "r1\t0\t1\t11\t60\t10M\t*\t0\t0\t*\t*\n",
                                       "BAM\1",
                                       "\211HDF\r\n\032\n",
                                       "a\tb\tc\td\n",
                                       "hello",
                                       "a 0 1\n",
                                       "fixedStep chrom=a start=1\n"};
    for (size_t i = 0; i < COV_COUNT(bedgraph); i++)
        if (kind_of(bedgraph[i]) != COV_INTERVALS_BEDGRAPH)
            fail_msg("%s", bedgraph[i]);
    for (size_t i = 0; i < COV_COUNT(none); i++)
        if (kind_of(none[i]) != COV_INTERVALS_NONE)
            fail_msg("%s", none[i]);
    assert_int_equal(cov_intervals_kind_of("\x26\xfc\x8f\x88", 4), COV_INTERVALS_BIGWIG);
    assert_int_equal(cov_intervals_kind_of("\x88\x8f\xfc\x26", 4), COV_INTERVALS_BIGWIG);
    assert_int_equal(cov_intervals_kind_of("\x88\x8f\xfc", 3), COV_INTERVALS_NONE);
}

TEST(opens_both_kinds)
{
    static struct made m;
    const struct made_form f = {false, true, false, 4};
    struct cov_intervals *t;
    struct cov_intervals_batch b;
    enum cov_intervals_kind kind;
    make_bigwig(&m, &f, made_sections, MADE_N);
    made_write(&m, "x");
    assert_ok(cov_intervals_detect("x", &kind, &e));
    assert_int_equal(kind, COV_INTERVALS_BIGWIG);
    assert_ok(cov_intervals_open("x", 1, &t, &e));
    assert_int_equal(cov_intervals_kind(t), COV_INTERVALS_BIGWIG);
    assert_string_equal(cov_intervals_name(t), "x");
    assert_int_equal(cov_intervals_n_contigs(t), 2);
    assert_string_equal(cov_intervals_contig(t, 1), "a");
    assert_int_equal(cov_intervals_length(t, 1), 100);
    assert_int_equal(cov_intervals_next(t, &b, NULL), 1);
    assert_int_equal(b.contig, 0);
    char place[COV_INTERVALS_PLACE];
    cov_intervals_place(t, 1, place);
    assert_string_equal(place, "x: bb:8-8");
    cov_intervals_close(t);
    put_text("x", "");
    assert_fails_with(cov_intervals_open("x", 1, &t, &e), COV_EINPUT, "x: empty file");
    assert_null(t);
    frame("x", COV_BGZ_DEFLATE, "a b c d", 7);
    static const char header[] = "x:1: not a bedGraph line; if this is a header, begin it with '#'";
    assert_fails_with(cov_intervals_detect("x", &kind, &e), COV_EINPUT, header);
    frame("x", COV_BGZ_DEFLATE, "\0\1\2\3", 4);
    assert_ok(cov_intervals_detect("x", &kind, &e));
    assert_int_equal(kind, COV_INTERVALS_NONE);
    assert_fails_with(cov_intervals_open("x", 1, &t, &e), COV_EINPUT, "x: not bigWig or bedGraph");
    assert_int_equal(cov_intervals_detect("none", &kind, NULL), COV_EIO);
    assert_ok(cov_intervals_detect("/dev/null", &kind, &e));
    assert_int_equal(kind, COV_INTERVALS_NONE);
    assert_int_equal(cov_intervals_open("none", 1, &t, NULL), COV_EIO);
}

TEST_GROUP(enter_dir, leave_dir)
