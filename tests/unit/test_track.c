/* test_track.c - from values to a track file: sinks, strands, runs, value pipe, blacklists.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/base/rng.h"
#include "common/features/blacklist.h"
#include "common/track/bins.h"
#include "common/track/sink.h"
#include "common/track/value_pipe.h"

/* ---- a sink that records its input ---- */

struct memory {
    struct cov_track_sink base;
    struct cov_interval iv[4096];
    size_t n;
};

static int remember(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                    struct cov_err *e)
{
    struct memory *m = (struct memory *)s;
    assert_true(n > 0 && m->n + n <= COV_COUNT(m->iv));
    memcpy(m->iv + m->n, iv, n * sizeof *iv);
    m->n += n;
    return COV_OK;
}

static void forget(struct cov_track_sink *s)
{
    ((struct memory *)s)->n = 0;
}

static const struct cov_track_format memory_format = {NULL, remember, NULL, forget};

static const char *const names[] = {"a", "b"};
static const int64_t lengths[] = {5000, 10};
static const struct cov_track_contigs contigs = {2, names, lengths};

static struct memory sink;

static void init(void)
{
    sink.n = 0;
    assert_ok(cov_track_init(&sink.base, &memory_format, "m", &contigs, &e));
}

static void check(const struct cov_interval *expected, size_t n)
{
    assert_int_equal(sink.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sink.iv[i].beg, expected[i].beg);
        assert_int_equal(sink.iv[i].end, expected[i].end);
        assert_true(sink.iv[i].value == expected[i].value);
    }
}

/* ---- sink ---- */

TEST(sink_checks_contigs)
{
    struct cov_track_sink s;
    const char *const twice[] = {"a", "b", "b"}, *const unsorted[] = {"b", "B"};
    const int64_t some[] = {1, 2, 3}, none[] = {1, 0};
    struct cov_track_contigs c = {3, twice, some};
    assert_fails_with(cov_track_init(&s, &memory_format, "m", &c, &e), COV_EINPUT,
                      "m: duplicate contig b");
    c = (struct cov_track_contigs){2, unsorted, some};
    assert_fails_with(cov_track_init(&s, &memory_format, "m", &c, &e), COV_EINPUT,
                      "m: contigs are not sorted: B follows b");
    c = (struct cov_track_contigs){2, twice, none};
    assert_fails_with(cov_track_init(&s, &memory_format, "m", &c, &e), COV_EINPUT,
                      "m: contig b has length 0");

    init();
    const struct cov_interval iv = {0, 1, 1};
    assert_int_equal(cov_track_add(&sink.base, &iv, 1, NULL), COV_EINPUT);
    assert_ok(cov_track_begin(&sink.base, 1, &e));
    assert_int_equal(cov_track_begin(&sink.base, 1, NULL), COV_EINPUT);
    assert_int_equal(cov_track_begin(&sink.base, 0, NULL), COV_EINPUT);
    assert_int_equal(cov_track_begin(&sink.base, 2, NULL), COV_EINPUT);
}

TEST(sink_checks_intervals)
{
    static const struct {
        struct cov_interval iv;
        const char *error;
    } cases[] = {
        {{2, 4, 1}, "m: b:3-4 (value 1) is out of order or overlaps the previous interval"},
        {{0, 2, 1}, "m: b:1-2 (value 1) is out of order or overlaps the previous interval"},
        {{-1, 2, 1}, "m: b:0-2 (value 1) is out of order or overlaps the previous interval"},
        {{5, 5, 1}, "m: b:6-5 (value 1) is empty"},
        {{6, 5, 1}, "m: b:7-5 (value 1) is empty"},
        {{9, 11, 1}, "m: b:10-11 (value 1) is past the end of the contig"},
        {{5, 6, NAN}, "m: b:6-6 (value nan) is not a finite number"},
        {{5, 6, INFINITY}, "m: b:6-6 (value inf) is not a finite number"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const struct cov_interval first = {1, 3, 2};
        init();
        assert_ok(cov_track_begin(&sink.base, 1, &e));
        assert_ok(cov_track_add(&sink.base, &first, 1, &e));
        assert_fails_with(cov_track_add(&sink.base, &cases[i].iv, 1, &e), COV_EINPUT,
                          cases[i].error);
        assert_int_equal(sink.n, 1);
    }
}

TEST(sink_accepts_announced_contigs)
{
    const struct cov_interval iv = {3, 7, 1};
    assert_ok(cov_track_init(&sink.base, &memory_format, "m", NULL, &e));
    assert_int_equal(cov_track_add(&sink.base, &iv, 1, NULL), COV_EINPUT);
    assert_int_equal(cov_track_begin(&sink.base, 0, NULL), COV_EINPUT);
    assert_int_equal(cov_track_end_contig(&sink.base, 5, NULL), COV_EINPUT);
    assert_ok(cov_track_begin_named(&sink.base, "z", &e));
    assert_ok(cov_track_add(&sink.base, &iv, 1, &e));
    assert_fails_with(cov_track_begin_named(&sink.base, "y", &e), COV_EINPUT,
                      "m: missing end of contig z");
    assert_int_equal(cov_track_close(&sink.base, NULL), COV_EINPUT);
    assert_fails_with(cov_track_end_contig(&sink.base, 0, &e), COV_EINPUT,
                      "m: contig z has length 0");
    assert_fails_with(cov_track_end_contig(&sink.base, 6, &e), COV_EINPUT,
                      "m: contig z has 6 bases, but an interval reaches 7");
    assert_ok(cov_track_end_contig(&sink.base, 7, &e));
    assert_int_equal(cov_track_end_contig(&sink.base, 7, NULL), COV_EINPUT);
    assert_int_equal(cov_track_add(&sink.base, &iv, 1, NULL), COV_EINPUT);
    assert_fails_with(cov_track_begin_named(&sink.base, "z", &e), COV_EINPUT,
                      "m: duplicate contig z");
    assert_ok(cov_track_begin_named(&sink.base, "a", &e));
    assert_ok(cov_track_add(&sink.base, &iv, 1, &e));
    assert_ok(cov_track_end_contig(&sink.base, INT64_MAX, &e));
    assert_ok(cov_track_close(&sink.base, &e));
    assert_int_equal(cov_track_n_contigs(&sink.base), 2);
    assert_string_equal(cov_track_contig_name(&sink.base, 0), "z");
    assert_int_equal(cov_track_contig_length(&sink.base, 0), 7);
    assert_string_equal(cov_track_contig_name(&sink.base, 1), "a");
    assert_true(cov_track_contig_length(&sink.base, 1) == INT64_MAX);
    cov_track_free(&sink.base);
    init();
    assert_int_equal(cov_track_begin_named(&sink.base, "z", NULL), COV_EINPUT);
    assert_ok(cov_track_begin(&sink.base, 0, &e));
    assert_int_equal(cov_track_end_contig(&sink.base, 5000, NULL), COV_EINPUT);
}

TEST(sink_summarizes)
{
    init();
    const struct cov_interval a[] = {{0, 10, -3}, {10, 11, -1}}, b[] = {{2, 4, -2.5F}};
    assert_ok(cov_track_begin(&sink.base, 0, &e));
    assert_ok(cov_track_add(&sink.base, a, 2, &e));
    assert_ok(cov_track_begin(&sink.base, 1, &e));
    assert_ok(cov_track_add(&sink.base, b, 1, &e));
    assert_ok(cov_track_close(&sink.base, &e));
    const struct cov_track_summary *s = &sink.base.summary;
    assert_int_equal(s->n_intervals, 3);
    assert_int_equal(s->n_bases, 13);
    assert_true(s->min == -3 && s->max == -1 && s->sum == -36 && s->sum_squares == 103.5);
    cov_track_free(&sink.base);
    cov_track_free(NULL);
}

/* ---- strands ---- */

TEST(rounds_half_to_even)
{
    static const double x[] = {0,    0.5, 1.5,  2.5,  0.49999999999999994, 0.50000000000000011,
                               1e6,  7.5, 8.25, 1e15, 4503599627370495.5,  9007199254740993.0,
                               1e300};
    for (size_t i = 0; i < COV_COUNT(x); i++) {
        assert_true(cov_round_half_even(x[i]) == rint(x[i]));
        assert_true(cov_round_half_even(-x[i]) == rint(-x[i]));
    }
}

TEST(combines_strands)
{
    const float plus[] = {1, 2, 3, 0.5F, 1.5F}, minus[] = {1, 2.5F, 4, 5, 2};
    float out[5];
    cov_strands_combine(COV_STRAND_PLUS, plus, NULL, 5, false, out);
    assert_memory_equal(out, plus, sizeof plus);
    const float plus_rounded[] = {1, 2, 3, 0, 2};
    cov_strands_combine(COV_STRAND_PLUS, plus, NULL, 5, true, out);
    assert_memory_equal(out, plus_rounded, sizeof out);
    const float reversed[] = {2, 5, 4, 2, 1};
    cov_strands_combine(COV_STRAND_MINUS, NULL, minus, 5, true, out);
    assert_memory_equal(out, reversed, sizeof out);
    /* (1+2)/2 = 1.5, (2+5)/2 = 3.5, (3+4)/2 = 3.5, (0+2)/2, (2+1)/2 */
    const float mean[] = {2, 4, 4, 1, 2};
    cov_strands_combine(COV_STRAND_AVG, plus, minus, 5, true, out);
    assert_memory_equal(out, mean, sizeof out);
    const float exact[] = {1.5F, 3.5F, 3.5F, 1.5F, 1.25F};
    cov_strands_combine(COV_STRAND_AVG, plus, minus, 5, false, out);
    assert_memory_equal(out, exact, sizeof out);
}

/* Compares averages with the formula: small values, which take the fast path, and large values
 * among them. */
TEST(averages_like_the_formula)
{
    enum { N = 2500 };
    static const float special[] = {0.5F,       1.5F,        4194303.5F, -4194303.5F,
                                    4194304.0F, -4194304.0F, 8388609.0F, 1e10F,
                                    -0.4F,      3e38F,       16777217.0F};
    static float plus[N], minus[N], out[N];
    struct cov_rng rng;
    cov_rng_init(&rng, 17);
    for (int round = 0; round < 60; round++) {
        for (size_t i = 0; i < N; i++) {
            plus[i] = (float)cov_rng_below(&rng, 4000) / 4 - (round % 3 ? 0 : 500);
            minus[i] = (float)cov_rng_below(&rng, 1 << 23) / 2;
        }
        size_t n_special = (size_t)round % 4, n = N - (size_t)cov_rng_below(&rng, 1100);
        for (size_t i = 0; i < n_special; i++)
            (i % 2 ? plus : minus)[cov_rng_below(&rng, n)] =
                special[cov_rng_below(&rng, COV_COUNT(special))];
        cov_strands_combine(COV_STRAND_AVG, plus, minus, n, true, out);
        for (size_t i = 0; i < n; i++) {
            double sum = rint((double)plus[i]) + rint((double)minus[n - 1 - i]);
            assert_true(out[i] == (float)rint(sum / 2));
        }
    }
}

/* ---- value pipe ---- */

static struct cov_value_pipe values;

/* Starts contig 0 of a pipe into `sink`. */
static void begin_pipe(const struct cov_value_rules *rules, const struct cov_region *regions,
                       size_t n_regions)
{
    init();
    assert_ok(cov_value_pipe_init(&values, rules, false, &sink.base, &e));
    assert_ok(cov_track_begin(&sink.base, 0, &e));
    cov_value_pipe_begin(&values, regions, n_regions);
}

static void end_pipe(void)
{
    assert_ok(cov_value_pipe_end(&values, &e));
    cov_value_pipe_fini(&values);
}

static const struct cov_value_rules plain = {.scale = 1};
enum { RUNS = COV_VALUE_PIPE_RUNS };

TEST(makes_runs)
{
    float x[] = {1, 1, 1, 2, 3, 3, 9, 9, 9, 0, 0};
    const struct cov_interval expected[] = {{0, 3, 1}, {3, 4, 2}, {4, 6, 3}, {6, 9, 9}, {9, 11, 0}};
    for (size_t piece = 1; piece <= COV_COUNT(x); piece++) {
        begin_pipe(&plain, NULL, 0);
        for (size_t i = 0; i < COV_COUNT(x); i += piece) {
            size_t n = COV_COUNT(x) - i < piece ? COV_COUNT(x) - i : piece;
            assert_ok(cov_value_pipe_add(&values, (int64_t)i, x + i, n, &e));
            assert_ok(cov_value_pipe_add(&values, (int64_t)(i + n), NULL, 0, &e));
        }
        end_pipe();
        check(expected, COV_COUNT(expected));
    }
    /* Makes one run fewer than a block holds, up to one more than two blocks hold. */
    for (size_t n = RUNS - 1; n <= 2 * RUNS + 1; n++) {
        float alternating[2 * RUNS + 1];
        for (size_t i = 0; i < n; i++)
            alternating[i] = (float)(i % 2);
        begin_pipe(&plain, NULL, 0);
        assert_ok(cov_value_pipe_add(&values, 0, alternating, n, &e));
        end_pipe();
        assert_int_equal(sink.n, n);
        assert_int_equal(sink.base.end, (int64_t)n);
    }
    begin_pipe(&plain, NULL, 0);
    end_pipe();
    assert_int_equal(sink.n, 0);
}

/* Makes runs of any length, some of them longer than a tile, from pieces of any size. */
TEST(makes_long_runs)
{
    enum { N = 5000 };
    static float x[N];
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (int round = 0; round < 200; round++) {
        uint64_t longest = round % 4 ? 300 : 5;
        for (size_t i = 0, n = 0; i < N; i++, n--) {
            if (n == 0)
                n = 1 + (size_t)cov_rng_below(&rng, longest);
            x[i] = i > 0 && n > 1 ? x[i - 1] : (float)cov_rng_below(&rng, 3);
        }
        begin_pipe(&plain, NULL, 0);
        for (size_t i = 0, n; i < N; i += n) {
            n = (size_t)cov_rng_below(&rng, 1200);
            n = n < N - i ? n : N - i;
            assert_ok(cov_value_pipe_add(&values, (int64_t)i, x + i, n, &e));
        }
        end_pipe();
        size_t k = 0;
        for (size_t beg = 0, end; beg < N; beg = end, k++) {
            for (end = beg + 1; end < N && x[end] == x[beg];)
                end++;
            assert_true(k < sink.n && sink.iv[k].value == x[beg]);
            assert_int_equal(sink.iv[k].beg, beg);
            assert_int_equal(sink.iv[k].end, end);
        }
        assert_int_equal(k, sink.n);
    }
}

/* Gaps occur at the start, between equal values, next to each other, and where a block is full. */
TEST(runs_keep_gaps)
{
    float x[] = {1, 1, 2};
    const struct cov_interval expected[] = {{5, 7, 1}, {7, 8, 2}, {9, 11, 1}, {11, 12, 2}};
    begin_pipe(&plain, NULL, 0);
    assert_ok(cov_value_pipe_add(&values, 5, x, 3, &e));
    assert_ok(cov_value_pipe_add(&values, 9, x, 3, &e));
    assert_ok(cov_value_pipe_add(&values, 13, x, 0, &e));
    assert_ok(cov_value_pipe_add(&values, 14, x, 0, &e));
    end_pipe();
    check(expected, COV_COUNT(expected));
    begin_pipe(&plain, NULL, 0);
    for (int64_t i = 0; i < 2 * RUNS + 1; i++)
        assert_ok(cov_value_pipe_add(&values, 2 * i, x, 1, &e));
    end_pipe();
    assert_int_equal(sink.n, 2 * RUNS + 1);
    assert_int_equal(sink.base.end, 4 * RUNS + 1);
}

/* An interval gives the same run as single values. */
TEST(runs_repeat)
{
    float x[] = {1, 1, 2};
    const struct cov_interval in[] = {{0, 5, 1}, {8, 9, 2}, {9, 12, 3}, {13, 16, 3}, {16, 20, 3}};
    const struct cov_interval expected[] = {{0, 7, 1}, {7, 9, 2}, {9, 12, 3}, {13, 20, 3}};
    begin_pipe(&plain, NULL, 0);
    assert_ok(cov_value_pipe_add_intervals(&values, in, 1, &e));
    assert_ok(cov_value_pipe_add(&values, 5, x, 3, &e));
    assert_ok(cov_value_pipe_add_intervals(&values, in + 1, 4, &e));
    end_pipe();
    check(expected, COV_COUNT(expected));
    begin_pipe(&plain, NULL, 0);
    for (int64_t i = 0; i < 2 * RUNS + 1; i++) {
        const struct cov_interval iv = {2 * i, 2 * i + 2, (float)(i % 2)};
        assert_ok(cov_value_pipe_add_intervals(&values, &iv, 1, &e));
    }
    end_pipe();
    assert_int_equal(sink.n, 2 * RUNS + 1);
    assert_int_equal(sink.base.end, 4 * RUNS + 2);
}

static int refuse(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                  struct cov_err *err)
{
    return cov_fail(err, COV_EIO, "%zu", n);
}

TEST(runs_report_failures)
{
    static const struct cov_track_format refusing = {NULL, refuse, NULL, forget};
    float x[RUNS + 1];
    for (size_t i = 0; i < COV_COUNT(x); i++)
        x[i] = (float)i;
    begin_pipe(&plain, NULL, 0);
    sink.base.format = &refusing;
    assert_int_equal(cov_value_pipe_add(&values, 0, x, COV_COUNT(x), NULL), COV_EIO);
    begin_pipe(&plain, NULL, 0);
    sink.base.format = &refusing;
    assert_ok(cov_value_pipe_add(&values, 0, x, 1, &e));
    assert_int_equal(cov_value_pipe_end(&values, NULL), COV_EIO);
    cov_value_pipe_fini(&values);
}

static void pass_intervals(const struct cov_value_rules *rules, const struct cov_interval *iv,
                           size_t n)
{
    begin_pipe(rules, NULL, 0);
    assert_ok(cov_value_pipe_add_intervals(&values, iv, n, &e));
    end_pipe();
}

TEST(filters_values)
{
    const struct cov_interval in[] = {{0, 10, 0},    {10, 20, 3},   {20, 30, 0.25F},
                                      {30, 100, -1}, {100, 101, 7}, {101, 300, 2}};
    const struct cov_interval large[] = {{10, 20, 3}, {100, 101, 7}, {101, 300, 2}};
    struct cov_value_rules rules = {.scale = 1};
    pass_intervals(&rules, in, COV_COUNT(in));
    check(in, COV_COUNT(in));
    rules.skip_zero = true;
    pass_intervals(&rules, in, COV_COUNT(in));
    check(in + 1, COV_COUNT(in) - 1);
    rules.has_min = true;
    rules.min_value = 2;
    pass_intervals(&rules, in, COV_COUNT(in));
    check(large, COV_COUNT(large));
}

/* Smoothing over 3 bases restarts after each gap. The scale is applied after smoothing. */
TEST(smooths_and_scales)
{
    const struct cov_value_rules rules = {.smoothing = {.window = 3}, .scale = 2};
    const struct cov_interval in[] = {{0, 1, 3}, {1, 3, 6}, {5, 6, 9}};
    const struct cov_interval out[] = {{0, 1, 6}, {1, 2, 10}, {2, 3, 8}, {5, 6, 6}};
    pass_intervals(&rules, in, COV_COUNT(in));
    check(out, COV_COUNT(out));
}

/* Cuts random regions out of random intervals, and compares the rest base by base with a mask. */
TEST(cuts_out_regions)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (int round = 0; round < 200; round++) {
        enum { N = 300 };
        struct cov_interval in[N];
        struct cov_region regions[N];
        size_t n_in = 0, n_regions = 0;
        float expected[N];
        for (int64_t at = 0; at < N;) {
            int64_t end = at + 1 + (int64_t)cov_rng_below(&rng, 20);
            end = end < N ? end : N;
            in[n_in++] = (struct cov_interval){at, end, (float)(n_in % 4)};
            for (int64_t i = at; i < end; i++)
                expected[i] = in[n_in - 1].value;
            at = end;
        }
        for (int64_t at = (int64_t)cov_rng_below(&rng, 40); at < N + 50;) {
            int64_t end = at + 1 + (int64_t)cov_rng_below(&rng, 30);
            regions[n_regions++] = (struct cov_region){0, at, end};
            for (int64_t i = at; i < end && i < N; i++)
                expected[i] = -1;
            at = end + 1 + (int64_t)cov_rng_below(&rng, round % 2 ? 2 : 30);
        }
        const struct cov_value_rules rules = {.scale = 1, .skip_zero = round % 3 == 0};
        begin_pipe(&rules, regions, n_regions);
        for (size_t i = 0; i < n_in; i += 7)
            assert_ok(
                cov_value_pipe_add_intervals(&values, in + i, n_in - i < 7 ? n_in - i : 7, &e));
        end_pipe();
        float got[N];
        for (size_t i = 0; i < N; i++)
            got[i] = -1;
        for (size_t i = 0; i < sink.n; i++)
            for (int64_t k = sink.iv[i].beg; k < sink.iv[i].end; k++)
                got[k] = sink.iv[i].value;
        for (size_t i = 0; i < N; i++)
            assert_true(got[i] == (rules.skip_zero && expected[i] == 0 ? -1 : expected[i]));
    }
}

/* ---- blacklist ---- */

static int read_text(const char *text, size_t n, struct cov_blacklist **out, struct cov_err *e)
{
    put_bytes("x", text, n);
    return cov_blacklist_read("x", false, out, e);
}

TEST(reads_ids)
{
    static const char text[] = "# list\nMito\r\n\n  Chr 1#x\n";
    static const char good[] = "# list\nMito\r\n\n  Chr#1 # the first\nMito\nx";
    struct cov_blacklist *b;
    assert_fails(read_text(text, sizeof text - 1, &b, &e), COV_EINPUT,
                 ":4: expected an id alone, or contig, start and end");
    assert_int_equal(read_text(good, sizeof good - 1, &b, NULL), COV_OK);
    const char *first;
    assert_int_equal(cov_blacklist_n_names(b), 3);
    assert_int_equal(cov_blacklist_n_unknown(b, &first), 3);
    assert_string_equal(first, "Mito");
    assert_true(cov_blacklist_drops(b, "Mito"));
    assert_true(cov_blacklist_drops(b, "Chr#1"));
    assert_false(cov_blacklist_drops(b, "chr#1"));
    assert_int_equal(cov_blacklist_n_unknown(b, &first), 1);
    assert_string_equal(first, "x");
    size_t n;
    (void)cov_blacklist_regions(b, "Mito", &n);
    assert_int_equal(n, 0);
    cov_blacklist_free(b);
    assert_int_equal(read_text("", 0, &b, NULL), COV_OK);
    assert_int_equal(cov_blacklist_n_names(b), 0);
    assert_false(cov_blacklist_drops(b, "Mito"));
    cov_blacklist_free(b);
    cov_blacklist_free(NULL);
}

TEST(reads_bed)
{
    static const char text[] = "track name=x\nbrowser position chr1:1-2\n"
                               "c\t50\t60\nc\t10\t20\tname\t0\t+\nd 5 5\nc\t20\t25\nc\t12\t13\n"
                               "b\t0\t100\nc\t55\t58\n";
    struct cov_blacklist *b;
    assert_int_equal(read_text(text, sizeof text - 1, &b, NULL), COV_OK);
    assert_int_equal(cov_blacklist_n_names(b), 3);
    assert_false(cov_blacklist_drops(b, "c"));
    size_t n;
    const struct cov_region *r = cov_blacklist_regions(b, "c", &n);
    assert_int_equal(n, 2);
    assert_true(r[0].beg == 10 && r[0].end == 25 && r[1].beg == 50 && r[1].end == 60);
    r = cov_blacklist_regions(b, "b", &n);
    assert_int_equal(n, 1);
    assert_true(r[0].beg == 0 && r[0].end == 100);
    (void)cov_blacklist_regions(b, "d", &n);
    assert_int_equal(n, 0);
    (void)cov_blacklist_regions(b, "e", &n);
    assert_int_equal(n, 0);
    /* Those of c that overlap a range. */
    r = cov_blacklist_overlaps(b, "c", 24, 51, &n);
    assert_true(n == 2 && r[0].beg == 10 && r[1].beg == 50);
    r = cov_blacklist_overlaps(b, "c", 25, 51, &n);
    assert_true(n == 1 && r->beg == 50);
    r = cov_blacklist_overlaps(b, "c", 0, 50, &n);
    assert_true(n == 1 && r->beg == 10);
    assert_null(cov_blacklist_overlaps(b, "c", 25, 50, &n));
    assert_null(cov_blacklist_overlaps(b, "c", 60, 99, &n));
    assert_null(cov_blacklist_overlaps(b, "e", 0, 99, &n));
    assert_int_equal(n, 0);
    cov_blacklist_free(b);
}

TEST(rejects_bad_lists)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"a\nb\t1\t2\n", ":2: a region among ids"},
        {"b\t1\t2\na\n", ":2: an id among regions"},
        {"b\t1\n", ":1: expected an id alone, or contig, start and end"},
        {"b\t1\tx\n", ":1: expected an id alone, or contig, start and end"},
        {"b\t-1\t2\n", ":1: expected an id alone, or contig, start and end"},
        {"b\t1\t99999999999999999999\n", ":1: expected an id alone, or contig, start and end"},
        {"b\t3\t2\n", ":1: the region ends before it starts"},
    };
    struct cov_blacklist *b;
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_fails(read_text(cases[i].text, strlen(cases[i].text), &b, &e), COV_EINPUT,
                     cases[i].error);
        assert_null(b);
    }
    assert_fails(read_text("a\0b\n", 4, &b, &e), COV_EINPUT,
                 ":1: not a text file: it has a zero byte");
    size_t n = 2000000;
    char *line = unit_alloc(n);
    memset(line, 'x', n);
    assert_fails(read_text(line, n, &b, &e), COV_EINPUT, ":1: line longer than");
    assert_int_equal(cov_blacklist_read("not/there", false, &b, NULL), COV_EIO);
}

TEST_GROUP(enter_dir, leave_dir)
