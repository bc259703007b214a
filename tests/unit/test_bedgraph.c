/* test_bedgraph.c - writes bedGraph text, plain and BGZF with an index, and reads it.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/stream_bytes.h"

#include <float.h>

#include "common/base/rng.h"
#include "common/track/formats/bedgraph.h"
#include "common/track/formats/intervals.h"
#include "tests/lib/own_log.h"

static const char *const names[] = {"chr1", "chr10", "chr2"};
static const int64_t lengths[] = {INT64_C(3000000000000), 10, 1000};
static const struct cov_track_contigs contigs = {3, names, lengths};

/* Checks the text of a file, compressed or not. */
static void check_contents(const char *path, const char *expected)
{
    struct bytes b = unframed(path);
    assert_int_equal(b.n, strlen(expected));
    assert_memory_equal(b.p, expected, b.n);
}

TEST(formats_values)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0F, "0"},
        {1, "1"},
        {-17, "-17"},
        {16777216, "16777216"},
        {3e9F, "3000000000"},
        {0.5F, "0.5"},
        {0.1F, "0.100000001"},
        {-2.25F, "-2.25"},
        {1e20F, "1.00000002e+20"},
        {FLT_MIN, "1.17549435e-38"},
        {FLT_MAX, "3.40282347e+38"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char text[COV_BEDGRAPH_VALUE_BYTES];
        assert_int_equal(cov_bedgraph_format_value(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
        assert_true(strtof(text, NULL) == cases[i].value);
    }
}

TEST(writes_lines)
{
    static const char expected[] =
        "chr1\t0\t2999999999999\t3\nchr1\t2999999999999\t3000000000000\t0\n"
        "chr2\t5\t6\t0.25\n";
    const struct cov_interval a[] = {{0, INT64_C(2999999999999), 3},
                                     {INT64_C(2999999999999), INT64_C(3000000000000), 0}};
    const struct cov_interval b = {5, 6, 0.25F};
    for (int compress = 0; compress < 2; compress++) {
        struct cov_bedgraph_options o = {.compress = compress, .n_threads = 1};
        struct cov_track_sink *s;
        assert_ok(cov_bedgraph_open("x", "x", &contigs, &o, &s, &e));
        assert_ok(cov_track_begin(s, 0, &e));
        assert_ok(cov_track_add(s, a, 2, &e));
        assert_ok(cov_track_begin(s, 2, &e));
        assert_ok(cov_track_add(s, &b, 1, &e));
        assert_ok(cov_track_close(s, &e));
        cov_track_free(s);
        check_contents("x", expected);
    }
}

/* More data than the buffer holds, with names of many lengths. */
TEST(writes_many_lines)
{
    char *name = unit_alloc(100001);
    memset(name, 'n', 100000);
    name[100000] = '\0';
    static const int64_t length[] = {INT64_C(600000000)};
    for (int wide = 0; wide < 2; wide++) {
        const char *const one[] = {wide ? name : names[0]};
        struct cov_track_contigs c = {1, one, length};
        struct cov_bedgraph_options o = {
            .compress = true, .n_threads = 2, .csi_path = "x.bg.gz.csi"};
        struct cov_track_sink *s;
        assert_true(cov_bedgraph_list_needs_csi(&c));
        assert_ok(cov_bedgraph_open("x.bg.gz", "x", &c, &o, &s, &e));
        assert_ok(cov_track_begin(s, 0, &e));
        size_t lines = wide ? 20 : 100000;
        for (size_t i = 0; i < lines; i++) {
            const struct cov_interval iv = {(int64_t)i * 5000, (int64_t)i * 5000 + 7, (float)i};
            assert_ok(cov_track_add(s, &iv, 1, &e));
        }
        assert_ok(cov_track_close(s, &e));
        cov_track_free(s);
        struct bytes text = unframed("x.bg.gz"), index = get_file("x.bg.gz.csi");
        const uint8_t *p = text.p;
        char line[64];
        for (size_t i = 0; i < lines; i++) {
            assert_memory_equal(p, one[0], strlen(one[0]));
            p += strlen(one[0]);
            int k = snprintf(line, sizeof line, "\t%zu\t%zu\t%zu\n", i * 5000, i * 5000 + 7, i);
            assert_memory_equal(p, line, (size_t)k);
            p += k;
        }
        assert_ptr_equal(p, text.p + text.n);
        assert_true(index.n > 0);
        assert_int_equal(unlink("x.bg.gz.csi"), 0);
    }
}

/* Contigs are unsorted, and their names get longer. The contig lengths determine the kind of
 * index. */
TEST(writes_announced_contigs)
{
    const struct cov_interval iv[] = {{3, 5, 1}, {7, 8, 2}};
    for (int large = 0; large < 2; large++) {
        struct cov_bedgraph_options o = {
            .compress = true, .n_threads = 1, .tbi_path = "x.tbi", .csi_path = "x.csi"};
        struct cov_track_sink *s;
        assert_ok(cov_bedgraph_open("x.bg.gz", "x", NULL, &o, &s, &e));
        assert_ok(cov_track_begin_named(s, "z", &e));
        assert_ok(cov_track_add(s, iv, 2, &e));
        assert_ok(cov_track_end_contig(s, 9, &e));
        assert_ok(cov_track_begin_named(s, "empty", &e));
        assert_ok(cov_track_end_contig(s, 1, &e));
        assert_ok(cov_track_begin_named(s, "a_longer_name", &e));
        assert_ok(cov_track_add(s, iv, 1, &e));
        assert_ok(cov_track_end_contig(s, (INT64_C(1) << 29) + large, &e));
        assert_fails_with(cov_track_begin_named(s, "a b", &e), COV_EINPUT,
                          "x: the name of contig 'a b' has white space or control "
                          "characters, which bedGraph does not allow");
        assert_ok(cov_track_end_contig(s, 1, &e));
        assert_true(cov_bedgraph_needs_csi(s) == (large != 0));
        assert_ok(cov_track_close(s, &e));
        cov_track_free(s);
        check_contents("x.bg.gz", "z\t3\t5\t1\nz\t7\t8\t2\na_longer_name\t3\t5\t1\n");
        assert_int_equal(unlink(large ? "x.csi" : "x.tbi"), 0);
        assert_int_equal(access(large ? "x.tbi" : "x.csi", F_OK), -1);
    }
}

TEST(chooses_index)
{
    int64_t n = INT64_C(1) << 29;
    struct cov_track_contigs c = {1, names, &n};
    assert_false(cov_bedgraph_list_needs_csi(&c));
    n++;
    assert_true(cov_bedgraph_list_needs_csi(&c));
}

TEST(checks_names)
{
    static const char *const bad[] = {"a b", "a\tb", "a\nb", "", "a\x7f"};
    static const int64_t length = 5;
    struct cov_bedgraph_options o = {.compress = false};
    struct cov_track_sink *s;
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        struct cov_track_contigs c = {1, &bad[i], &length};
        assert_fails(cov_bedgraph_open("bad", "x.bg", &c, &o, &s, &e), COV_EINPUT, "x.bg: ");
        assert_int_equal(access("bad", F_OK), -1);
    }
    static const char *const odd[] = {"#1", "track7", "browser"};
    start_log(COV_LOG_WARNING);
    for (size_t i = 0; i < COV_COUNT(odd); i++) {
        struct cov_track_contigs c = {1, &odd[i], &length};
        assert_ok(cov_bedgraph_open("x", "x.bg", &c, &o, &s, &e));
        assert_int_equal(logged.n_warnings, i + 1);
        cov_track_free(s);
    }
}

TEST(reports_full_disk)
{
    const struct cov_interval iv = {0, 1, 1};
    for (int compress = 0; compress < 2; compress++) {
        struct cov_bedgraph_options o = {.compress = compress, .n_threads = 2};
        struct cov_track_sink *s;
        assert_ok(cov_bedgraph_open("/dev/full", "x", &contigs, &o, &s, &e));
        assert_ok(cov_track_begin(s, 0, &e));
        assert_ok(cov_track_add(s, &iv, 1, &e));
        assert_fails(cov_track_close(s, &e), COV_EIO, "No space left");
        cov_track_free(s);
    }
}

/* ---- reader ---- */

/* The intervals that read_all found, each as a line "contig beg end value @line". */
static char found[256];

static int read_all(const char *text, size_t n, struct cov_err *e)
{
    struct cov_bgz *in;
    struct cov_bedgraph_reader *r;
    size_t contig, count, used = 0;
    const size_t *lines;
    const struct cov_interval *iv;
    found[0] = '\0';
    put_bytes("x", text, n);
    assert_int_equal(cov_bgz_open_read("x", 1, &in, NULL), 0);
    assert_int_equal(cov_bedgraph_reader_new(in, &r, NULL), 0);
    int rc;
    while ((rc = cov_bedgraph_reader_next(r, &contig, &iv, &lines, &count, e)) > 0)
        for (size_t i = 0; i < count && used < sizeof found; i++)
            used += (size_t)snprintf(found + used, sizeof found - used, "%s %lld %lld %.9g @%zu\n",
                                     cov_bedgraph_reader_contig(r, contig), (long long)iv[i].beg,
                                     (long long)iv[i].end, (double)iv[i].value, lines[i]);
    if (rc)
        assert_int_equal(cov_bedgraph_reader_next(r, &contig, &iv, &lines, &count, NULL),
                         COV_EINPUT);
    cov_bedgraph_reader_close(r);
    return rc;
}

TEST(reads_all_layouts)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", ""},
        {"\n\n", ""},
        {"#a 0 1 1\ntrack type=bedGraph\nbrowser position chr1\n", ""},
        {"a\t0\t1\t1\n", "a 0 1 1 @1\n"},
        {"a\t0\t1\t1", "a 0 1 1 @1\n"},
        {"a 0 1 1\r\n\r\nb  3\t \t9  -2.5 \r\n", "a 0 1 1 @1\nb 3 9 -2.5 @3\n"},
        {" a 0 1 1\n\ta 1 2 2\n", "a 0 1 1 @1\na 1 2 2 @2\n"},
        {"a 0 1 1\n#\na 1 2 2\ntrack\na 5 6 3\n", "a 0 1 1 @1\na 1 2 2 @3\na 5 6 3 @5\n"},
        {"\xef\xbb\xbf"
         "a 0 1 1\n\xef\xbb\xbf"
         "a 0 1 1\n",
         "a 0 1 1 @1\n\xef\xbb\xbf"
         "a 0 1 1 @2\n"},
        {"\xef\xbb\xbf", ""},
        {"a 0 1 nan\na 1 2 2\nb 0 1 NaN\nc 0 1 -nan \nc 1 2 3\n", "a 1 2 2 @2\nc 1 2 3 @5\n"},
        {"tracks 0 1 1\nbrowsers 0 1 1\n", "tracks 0 1 1 @1\nbrowsers 0 1 1 @2\n"},
        {"a 0 1 1\nab 0 1 2\nb 0 1 3\n", "a 0 1 1 @1\nab 0 1 2 @2\nb 0 1 3 @3\n"},
        {"ab 0 1 1\na 0 1 2\n", "ab 0 1 1 @1\na 0 1 2 @2\n"},
        {"1 0 1 1\n2 0 1 2\n", "1 0 1 1 @1\n2 0 1 2 @2\n"},
        {"a 0 999999999999999999 1\n", "a 0 999999999999999999 1 @1\n"},
        {"a 0000 00000000000000001 1\n", "a 0 1 1 @1\n"},
        {"a 1234567 12345678 9\n", "a 1234567 12345678 9 @1\n"},
        {"a 12345678 123456789 9", "a 12345678 123456789 9 @1\n"},
        {"a 1234567890123456 12345678901234567 9", "a 1234567890123456 12345678901234567 9 @1\n"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_ok(read_all(cases[i].text, strlen(cases[i].text), &e));
        assert_string_equal(found, cases[i].wanted);
    }
}

/* The value equals strtod's. */
static void check_value(const char *text)
{
    char line[128], wanted[128];
    int n = snprintf(line, sizeof line, "a 0 1 %s\n", text);
    (void)snprintf(wanted, sizeof wanted, "a 0 1 %.9g @1\n", (double)(float)strtod(text, NULL));
    assert_ok(read_all(line, (size_t)n, &e));
    assert_string_equal(found, wanted);
}

TEST(reads_values)
{
    char texts[] = "0 -0 +1 1. .5 -.5 0.1 16777217 123456789012345 1234567890123456 4.35 1.5e0 1e5 "
                   "12345678901234567890 0.000000000000001 0.0000000000000000001 -1E-5 1e+5 1e-60 "
                   "3.40282347e+38 1.17549435e-38 1.4e-45 0.30000001192092896 999999999999999 "
                   "99999999999999.9 9007199254740993 0.000244140625 00000000000000000000001 "
                   "0.1000000000000000000000000000000000001";
    for (char *save, *text = strtok_r(texts, " ", &save); text; text = strtok_r(NULL, " ", &save))
        check_value(text);
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (int i = 0; i < 3000; i++) {
        char text[64];
        double x = (double)(int64_t)cov_rng_next(&rng);
        (void)snprintf(text, sizeof text,
                       i % 3 == 0   ? "%.*f"
                       : i % 3 == 1 ? "%.*g"
                                    : "%.*e",
                       (int)cov_rng_below(&rng, 20),
                       x / (double)(1 + (cov_rng_next(&rng) >> (i % 60))));
        check_value(text);
    }
}

TEST(rejects_bad_lines)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"a", "x:1: expected four columns: contig, begin, end, value"},
        {"a 0 1 1\na\t\n", "x:2: expected four columns"},
        {"a 0\n", "x:1: missing end and value"},
        {"a 0 1 \n", "x:1: missing value"},
        {"a 0 1 1 +\n", "x:1: more than four columns: '+'"},
        {"a -1 1 1\n", "x:1: invalid position: '-1'"},
        {"a 0.0 1 1\n", "x:1: invalid position: '0.0'"},
        {"a 0 1x 1\n", "x:1: invalid position: '1x'"},
        {"a 0 1e3 1\n", "x:1: invalid position: '1e3'"},
        {"a 0 1000000000000000000 1\n", "x:1: invalid position: '1000000000000000000'"},
        {"a 0 99999999999999999999999 1\n", "x:1: invalid position"},
        {"a 0 1 nano\n", "x:1: a 0 1: the fourth column, a value in bedGraph, is not a finite "
                         "number that fits in a 32-bit float: 'nano'"},
        {"a 0 1 inf\n", "not a finite number"},
        {"a 0 2 nan\na 1 3 1\n", "x:2: a 1 3: interval begins before the previous one ends"},
        {"a 0 1 1e39\n", "not a finite number"},
        {"a 0 1 1e999\n", "not a finite number"},
        {"a 0 1 0x10\n", "not a finite number"},
        {"a 0 1 1,5\n", "not a finite number"},
        {"a 0 1 1.5.\n", "not a finite number"},
        {"a 0 1 --1\n", "not a finite number"},
        {"a 0 1 1e\n", "not a finite number"},
        {"a 0 1 .\n", "not a finite number"},
        {"a 0 1 -\n", "not a finite number"},
        {"a 0 1 NA\n", "not a finite number"},
        {"a 5 5 1\n", "x:1: a 5 5: empty interval"},
        {"a 5 4 1\n", "x:1: a 5 4: empty interval"},
        {"a 0 5 1\n\na 4 6 1\n", "x:3: a 4 6: interval begins before the previous one ends"},
        {"a 10 11 1\na 0 1 1\n", "x:2: a 0 1: interval begins before"},
        {"a 0 1 1\nb 0 1 1\na 1 2 1\n", "x:3: contig in two places; sort the file: 'a'"},
        {"fixedStep chrom=a start=1\n1\n", "x:1: not bedGraph but wiggle"},
        {"a\001b 0 1 1\n", "x:1: not bedGraph: control character in the name of a contig"},
        {"a 0 1 1\nb", "x:2: expected four columns"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        assert_fails(read_all(cases[i].text, strlen(cases[i].text), &e), COV_EINPUT,
                     cases[i].reason);
    assert_fails(read_all("a 0\0001 2 3\n", 11, &e), COV_EINPUT, "x:1: invalid position");
    /* A line without a newline. */
    size_t n = 3 << 20;
    char *text = unit_alloc(n);
    (void)snprintf(text, n, "a 0 1 1\n");
    memset(text + 8, 'a', n - 8);
    assert_fails_with(read_all(text, n, &e), COV_EINPUT, "x:2: line of more than 1048576 bytes");
}

/* Tracks of our writer, in all kinds of files that are longer than the buffers. */
TEST(reads_our_files)
{
    enum { N = 50000 };
    const int64_t long_ones[] = {1 << 30, 1 << 30, 1 << 30};
    const struct cov_track_contigs all_long = {3, names, long_ones};
    static struct cov_interval iv[3][N];
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (int compress = 0; compress < 2; compress++) {
        const struct cov_bedgraph_options o = {.compress = compress, .n_threads = 1};
        struct cov_track_sink *s;
        assert_ok(cov_bedgraph_open("x", "x", &all_long, &o, &s, &e));
        for (size_t c = 0; c < 3; c++) {
            int64_t at = 0;
            assert_ok(cov_track_begin(s, c, &e));
            for (size_t i = 0; i < N; i++) {
                uint32_t bits = (uint32_t)cov_rng_next(&rng) & 0xff7fffff; /* any finite float */
                iv[c][i].beg = at + (int64_t)cov_rng_below(&rng, 3);
                iv[c][i].end = at = iv[c][i].beg + 1 + (int64_t)cov_rng_below(&rng, 1000);
                memcpy(&iv[c][i].value, &bits, sizeof bits);
                if (i % 2)
                    iv[c][i].value = (float)cov_rng_below(&rng, 1000);
            }
            assert_ok(cov_track_add(s, iv[c], N, &e));
        }
        assert_ok(cov_track_close(s, &e));
        cov_track_free(s);
        struct cov_intervals *t;
        struct cov_intervals_batch b;
        size_t n[3] = {0};
        int rc;
        assert_ok(cov_intervals_open("x", 2, &t, &e));
        assert_int_equal(cov_intervals_kind(t), COV_INTERVALS_BEDGRAPH);
        while ((rc = cov_intervals_next(t, &b, NULL)) > 0)
            for (size_t i = 0; i < b.n; i++, n[b.contig]++) {
                const struct cov_interval *w = &iv[b.contig][n[b.contig]];
                char place[COV_INTERVALS_PLACE], wanted[COV_INTERVALS_PLACE];
                assert_true(n[b.contig] < N);
                assert_true(w->beg == b.iv[i].beg && w->end == b.iv[i].end &&
                            w->value == b.iv[i].value);
                cov_intervals_place(t, i, place);
                (void)snprintf(wanted, sizeof wanted, "x:%zu", n[0] + n[1] + n[2] + 1);
                assert_string_equal(place, wanted);
            }
        assert_int_equal(rc, 0);
        assert_int_equal(cov_intervals_n_contigs(t), 3);
        for (size_t c = 0; c < 3; c++) {
            assert_int_equal(n[c], N);
            assert_string_equal(cov_intervals_contig(t, c), names[c]);
            assert_int_equal(cov_intervals_length(t, c), -1);
        }
        cov_intervals_close(t);
    }
}

TEST_GROUP(enter_dir, leave_dir)
