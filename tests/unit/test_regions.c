/* test_regions.c - regions are parsed, merged and subtracted, and select rows.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"
#include "tests/lib/own_log.h"

#include "common/base/rng.h"
#include "common/seq/regions.h"

TEST(range_is_parsed)
{
    static const struct {
        const char *text, *name;
        int64_t beg, end; /* end 0: the sequence does not match */
    } cases[] = {
        {"chr1:1-10", "chr1", 0, 10},
        {"chr1:1,001-2,000,000", "chr1", 1000, 2000000},
        {"chr1", "chr1", 0, INT64_MAX},
        {"chr1:1-10", "chr1:1-10", 0, INT64_MAX},
        {"chr1:1-10", "chr", 0, 0},
        {"chr1:1-10", "chr10", 0, 0},
        {"HLA*1:2:7-9", "HLA*1:2", 6, 9},
        {"HLA*1:2:7-9", "HLA*1", 0, 0},
        {"chr1:1-", "chr1", 0, INT64_MAX},
        {"chr1:1,001-", "chr1", 1000, INT64_MAX},
        {"chr1:10", "chr1", 9, INT64_MAX},
        {"chr1:-10", "chr1", 0, 10},
        {"chr1:2k-1.5M", "chr1", 1999, 1500000},
        {"chr1:1G-1,000,000k", "chr1", 999999999, 1000000000},
        {"chr1:-3K", "chr1", 0, 3000},
        {"{chr1}", "chr1", 0, INT64_MAX},
        {"{chr1:1}:2-3", "chr1:1", 1, 3},
        {"{chr1:1}", "chr1:1", 0, INT64_MAX},
        {"{chr1}:1", "chr1:1", 0, 0},
        {"{chr1,2}:5", "chr1,2", 4, INT64_MAX},
        {"{chr1}x", "chr1", 0, 0},
        {"{chr1}:", "chr1", 0, 0},
        {"{}:1-2", "", 0, 0},
        {"chr1:", "chr1", 0, 0},
        {"chr1:-", "chr1", 0, 0},
        {"chr1:1.5-3", "chr1", 0, 0},
        {"chr1:1-2kk", "chr1", 0, 0},
        {"chr1:+1-2", "chr1", 0, 0},
        {"chr1:1-10x", "chr1", 0, 0},
        {"chr1:1,-10", "chr1", 0, 0},
        {"chr1:,1-10", "chr1", 0, 0},
        {"chr1:1-1000000000000000000", "chr1", 0, 0},
        {"chr1:1-9999999999999999999", "chr1", 0, 0},
        {"chr1:1-999999999999999999", "chr1", 0, 999999999999999999},
        {":1-10", "", 0, 0},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_range r;
        int64_t beg = 0, end = 0;
        assert_ok(cov_range_parse(cases[i].text, &r, &e));
        assert_int_equal(cov_range_means(&r, cases[i].name, &beg, &end), cases[i].end > 0);
        assert_int_equal(beg, cases[i].beg);
        assert_int_equal(end, cases[i].end);
    }
}

TEST(range_refuses_malformed_text)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "empty region"},
        {"chr1:0-10", "chr1:0-10: positions start at 1"},
        {"chr1:10-9", "chr1:10-9: ends before it begins"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_range r;
        assert_fails(cov_range_parse(cases[i].text, &r, &e), COV_EUSAGE, cases[i].reason);
    }
}

TEST(range_errors_name_the_place)
{
    struct cov_range r;
    assert_ok(cov_range_parse("x:5-7", &r, &e));
    assert_fails(cov_range_fail_unknown(&r, "a.bw", NULL, &e), COV_EINPUT,
                 "a.bw: region x:5-7: unknown contig x");
    assert_fails(cov_range_fail_beyond(&r, 4, "x.bg", &e), COV_EINPUT,
                 "x.bg: region x:5-7: begins past the end of the contig, which has 4 bases");
    assert_ok(cov_range_parse("x:5x", &r, &e));
    struct cov_listing contigs = {0};
    cov_listing_add(&contigs, "chr1");
    assert_fails(cov_range_fail_unknown(&r, "a.bw", &contigs, &e), COV_EINPUT,
                 "a.bw: region x:5x: unknown contig x:5x (expected NAME or NAME:FIRST-LAST); the "
                 "contigs are: chr1");
}

/* Rows 0..5 are [0,10) [10,20) [20,25) of sequence "a", then its - strand in reverse order; rows 6
 * and 7 belong to "b:1-3", rows 8..11 to "a:x". */
static struct cov_grid *make_grid(void)
{
    char *names[] = {"a", "b:1-3", "a:x"};
    const int64_t lengths[] = {25, 4, 20};
    struct cov_grid *g;
    assert_ok(cov_grid_new(3, names, lengths, "sp", 10, &g, &e));
    return g;
}

static struct cov_select *begin(const struct cov_grid *g)
{
    struct cov_select *s;
    assert_ok(cov_select_new(g, &s, &e));
    return s;
}

/* Checks that the selected rows are those with '1' in `wanted`; frees s. */
static void expect(struct cov_select *s, int64_t min_length, const char *wanted)
{
    bool rows[32];
    char text[33] = "";
    size_t n = strlen(wanted);
    cov_select_rows(s, min_length, rows);
    for (size_t i = 0; i < n; i++)
        text[i] = rows[i] ? '1' : '0';
    assert_string_equal(text, wanted);
    cov_select_free(s);
}

TEST(regions_select_chunks)
{
    static const struct {
        const char *regions[3], *wanted;
    } cases[] = {
        {{NULL}, "111111111111"},
        {{"a"}, "111111000000"},
        {{"a:1-1"}, "100001000000"},
        {{"a:10-10"}, "100001000000"},
        {{"a:10-11"}, "110011000000"},
        {{"a:11-20"}, "010010000000"},
        {{"a:25-25"}, "001100000000"},
        {{"a:21-1000"}, "001100000000"},
        {{"b:1-3"}, "000000110000"},
        {{"b:1-3:4-4"}, "000000110000"},
        {{"a:x:11-12"}, "000000000110"},
        {{"a:x", "a:25-25"}, "001100001111"},
        {{"a:25-25", "a:1-2", "a:2-3"}, "101101000000"},
        {{"a:1-25", "a:2-3"}, "111111000000"},
        {{"a:1,1-2,0"}, "010010000000"},
        {{"a:21"}, "001100000000"},
        {{"a:11-"}, "011110000000"},
        {{"a:-10"}, "100001000000"},
        {{"{a}:25"}, "001100000000"},
        {{"{a:x}:11-12"}, "000000000110"},
    };
    struct cov_grid *g = make_grid();
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_select *s = begin(g);
        for (size_t k = 0; k < COV_COUNT(cases[i].regions) && cases[i].regions[k]; k++)
            assert_ok(cov_select_region(s, cases[i].regions[k], &e));
        expect(s, 0, cases[i].wanted);
    }
    expect(begin(g), 5, "111111001111");
    expect(begin(g), 20, "111111001111");
    expect(begin(g), 21, "111111000000");
    expect(begin(g), 26, "000000000000");
    cov_grid_free(g);
}

/* Numbers with commas are joined again if a list was split at these commas. */
TEST(lists_join_numbers)
{
    static char a[] = "a", b[] = "123", c[] = "123-5";
    static char *const names[] = {a, b, c};
    static const int64_t lengths[] = {2500, 1000, 1000};
    static const struct {
        const char *parts[5], *wanted;
    } cases[] = {
        {{"a:1", "001-2", "000"}, "0100100000"},
        {{"a:1-1", "123"}, "1000011100"},
        {{"a:1-1", "123-5"}, "1000010011"},
        {{"a:1-2", "001", "123"}, "1111111100"},
        {{"a:1", "001-1", "002", "123:1-1", "000"}, "0100101100"},
        {{"a:1", "001"}, "0111100000"},
        {{"a:-1", "000", "123"}, "1000011100"},
        {{"a:1", "001-1", "500", "{123}:1-1"}, "0100101100"},
        {{"a:0", "002k-"}, "0111100000"},
    };
    struct cov_grid *g;
    assert_ok(cov_grid_new(3, names, lengths, "sp", 1000, &g, &e));
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_select *s = begin(g);
        size_t n = 0;
        while (n < COV_COUNT(cases[i].parts) && cases[i].parts[n])
            n++;
        assert_ok(cov_select_regions(s, cases[i].parts, n, &e));
        expect(s, 0, cases[i].wanted);
    }
    /* A name with several commas. */
    static const char *const parts[] = {"{a", "b", "c}:1-2", "d"};
    size_t at = 0;
    const char *text = unit_own(cov_region_text(parts, COV_COUNT(parts), &at, NULL, NULL));
    assert_string_equal(text, "{a,b,c}:1-2");
    assert_int_equal(at, 3);
    static const char *const bad[][2] = {{"a", "000"}, {"a:1-1", "00"}, {"a:1-1", "0000"}};
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        struct cov_select *s = begin(g);
        assert_int_equal(cov_select_regions(s, bad[i], 2, NULL), COV_EINPUT);
        cov_select_free(s);
    }
    cov_grid_free(g);
}

TEST(bad_regions_are_refused)
{
    static const struct {
        const char *region, *why;
    } cases[] = {
        {"c", "unknown contig c; the contigs are: a"},
        {"c:1-2", "unknown contig c; the contigs are: a"},
        {"{c:1}:1-2", "unknown contig c:1; the contigs are: a"},
        {"a:1-2 a:5-6", "unknown contig a:1-2 a; separate regions by commas"},
        {"c:x", "unknown contig c:x (expected NAME or NAME:FIRST-LAST); the contigs are: a"},
        {"a:y", "unknown contig a:y (expected NAME or NAME:FIRST-LAST); the contigs are: a"},
        {"a:", "(expected NAME or NAME:FIRST-LAST)"},
        {"a:-", "(expected NAME or NAME:FIRST-LAST)"},
        {"a:5x", "(expected NAME or NAME:FIRST-LAST)"},
        {"a:1-2-3", "(expected NAME or NAME:FIRST-LAST)"},
        {"a:1-9999999999999999999", "(expected NAME or NAME:FIRST-LAST)"},
        {"a:26", "which has 25 bases"},
        {"a:0-5", "start at 1"},
        {"a:6-5", "ends before it begins"},
        {"a:26-30", "which has 25 bases"},
    };
    struct cov_grid *g = make_grid();
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_err e = COV_ERR_INIT;
        struct cov_select *s = begin(g);
        const bool is_malformed = strstr("start at 1, ends before it begins", cases[i].why);
        const int wanted = is_malformed ? COV_EUSAGE : COV_EINPUT;
        assert_int_equal(cov_select_region(s, cases[i].region, &e), wanted);
        assert_contains(e.text, cases[i].region);
        check_error(&e, wanted, cases[i].why);
        cov_select_free(s);
    }
    cov_grid_free(g);
}

TEST(files_select_rows)
{
    struct cov_grid *g = make_grid();
    struct cov_select *s = begin(g);
    start_log(COV_LOG_WARNING);
    put_text("x",
             "# comment\ntrack name=x\nbrowser position a\n\na 10\t11 more words\na:x\t0\t0\n");
    assert_ok(cov_select_read(s, COV_SELECT_BED, "--regions-file", "x", &e));
    assert_int_equal(logged.n_warnings, 0);
    expect(s, 0, "010010000000");

    s = begin(g);
    put_text("x", "a\t0\t1\nc\t0\t1\nd\t5\t9\nc\t5\t9\na\t24\t9999\na\t25\t26\n");
    assert_ok(cov_select_read(s, COV_SELECT_BED, "--regions-file", "x", &e));
    assert_string_equal(
        logged.text, "--regions-file x: 2 names match no contig, the first is c; the contigs are: "
                     "a, b:1-3, a:x");
    expect(s, 0, "101101000000");

    s = begin(g);
    put_text("x", "a 0 1\na\t24\t26\na 0 25\na 30 31\n");
    assert_ok(cov_select_read(s, COV_SELECT_BED, "--regions-file", "x", &e));
    assert_string_equal(logged.text,
                        "--regions-file x:2: the region extends past the end of its contig (2 such "
                        "lines); check that it is for this genome");
    expect(s, 0, "111111000000");

    s = begin(g);
    put_text("x", "b:1-3 words\n\n# a\nzz\n");
    assert_ok(cov_select_read(s, COV_SELECT_NAMES, "--val-names", "x", &e));
    assert_string_equal(logged.text, "--val-names x: 1 name matches no contig: zz");
    expect(s, 0, "000000110000");

    s = begin(g);
    put_text("x", "a b:1-3\nb:1-3 # x\na 25\n");
    assert_ok(cov_select_read(s, COV_SELECT_NAMES, "--names", "x", &e));
    assert_string_equal(logged.text,
                        "--names x: only the first word of a line is a name; 2 lines have more");
    expect(s, 0, "111111110000");

    /* An empty list selects nothing, as opposed to no list. */
    s = begin(g);
    put_text("x", "\n");
    assert_ok(cov_select_read(s, COV_SELECT_NAMES, "--val-names", "x", &e));
    expect(s, 0, "000000000000");

    static const char *const bad[] = {"a\n",      "a 1\n",     "a x 2\n",
                                      "a 1 -2\n", "a 1.5 2\n", "a 3 2\n"};
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "a 1 2\n%s", bad[i]);
        put_text("x", text);
        s = begin(g);
        assert_fails(cov_select_read(s, COV_SELECT_BED, "--regions-file", "x", &e), COV_EINPUT,
                     ":2: ");
        cov_select_free(s);
    }
    cov_log_set(NULL, NULL, COV_LOG_WARNING);
    cov_grid_free(g);
}

/* Two species share a name, and some strands are missing. */
TEST(irregular_grids_work)
{
    struct cov_grid_builder *b;
    struct cov_grid *g;
    assert_ok(cov_grid_builder_new(10, &b, &e));
    struct cov_seq_id u = cov_seq_id("u", "a"), v = cov_seq_id("v", "a");
    assert_ok(cov_grid_builder_add(b, &u, 20, 10, &e));
    assert_ok(cov_grid_builder_add(b, &u, 0, 10, &e));
    assert_ok(cov_grid_builder_add(b, &v, 0, 5, &e));
    assert_ok(cov_grid_builder_finish(b, &g, &e));
    struct cov_select *s = begin(g);
    assert_ok(cov_select_region(s, "a:1-1", &e));
    expect(s, 0, "011");
    s = begin(g);
    assert_ok(cov_select_region(s, "a:11-12", &e));
    expect(s, 0, "100");
    cov_grid_free(g);
}

/* The requested stretches are compared base by base. */
TEST(stretches_are_found)
{
    static char *names[] = {"a", "b", "c"};
    static const int64_t lengths[] = {25, 30, 7};
    static const char *const wanted[] = {"0011110000110000000000000",
                                         "000000000000000000000000000000", "1111111"};
    struct cov_grid *g;
    assert_ok(cov_grid_new(3, names, lengths, "s", 10, &g, &e));
    struct cov_select *s = begin(g);
    const char *const regions[] = {"c", "a:11-12", "a:5-6", "a:3-4"};
    bool rows[16];
    assert_ok(cov_select_regions(s, regions, 4, &e));
    assert_in_range(cov_grid_n_chunks(g), 1, sizeof rows);
    cov_select_rows(s, 0, rows);
    for (size_t seq = 0; seq < 3; seq++)
        for (int64_t from = 0; from < lengths[seq]; from++)
            for (int64_t to = from; to <= lengths[seq]; to++) {
                int64_t first = from, last, beg, end;
                while (first < to && wanted[seq][first] == '0')
                    first++;
                for (last = first; last < to && wanted[seq][last] == '1';)
                    last++;
                bool found = cov_select_stretch(s, seq, from, to, &beg, &end);
                assert_int_equal(found, first < to);
                assert_true(!found || (beg == first && end == last));
            }
    cov_select_free(s);
    cov_grid_free(g);
}

static void add(struct cov_region_list *l, size_t contig, int64_t beg, int64_t end)
{
    const struct cov_region region = {contig, beg, end};
    assert_ok(cov_region_list_add(l, region, &e));
}

TEST(test_merging)
{
    struct cov_region_list l = {NULL, 0, 0};
    cov_region_list_merge(&l);
    assert_int_equal(l.n, 0);
    add(&l, 1, 5, 9);
    add(&l, 0, 30, 40);
    add(&l, 0, 10, 20);
    add(&l, 0, 20, 25); /* touches */
    add(&l, 0, 12, 14); /* is inside */
    add(&l, 1, 9, 12);
    cov_region_list_merge(&l);
    assert_int_equal(l.n, 3);
    const struct cov_region wanted[] = {{0, 10, 25}, {0, 30, 40}, {1, 5, 12}};
    assert_memory_equal(l.items, wanted, sizeof wanted);
    cov_region_list_fini(&l);
}

/* Repeated regions take no memory, different ones are all kept. */
TEST(test_many)
{
    struct cov_region_list l = {NULL, 0, 0};
    for (int i = 0; i < 1000000; i++)
        add(&l, 0, i % 10, i % 10 + 2);
    assert_in_range(l.cap, 1, 20000);
    for (int i = 0; i < 100000; i++)
        add(&l, 1, 3 * (i * 7 % 100000), 3 * (i * 7 % 100000) + 1);
    cov_region_list_merge(&l);
    assert_int_equal(l.n, 100001);
    assert_int_equal(l.items[0].end, 11);
    cov_region_list_fini(&l);
}

enum { BASES = 200 };

/* Draws regions of a contig, and marks their bases. */
static void draw(struct cov_rng *rng, struct cov_region_list *l, bool bases[BASES])
{
    l->n = 0;
    memset(bases, 0, BASES * sizeof *bases);
    for (uint64_t n = cov_rng_below(rng, 12); n > 0; n--) {
        const int64_t beg = (int64_t)cov_rng_below(rng, BASES - 20);
        const int64_t end = beg + 1 + (int64_t)cov_rng_below(rng, 20);
        add(l, 0, beg, end);
        for (int64_t i = beg; i < end; i++)
            bases[i] = true;
    }
    cov_region_list_merge(l);
}

TEST(test_subtraction)
{
    struct cov_region_list from = {NULL, 0, 0}, drop = from, out = from;
    bool in_from[BASES], in_drop[BASES];
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    for (int round = 0; round < 300; round++) {
        int64_t n = 0;
        draw(&rng, &from, in_from);
        draw(&rng, &drop, in_drop);
        assert_ok(cov_region_list_subtract(&out, (struct cov_region_span){from.items, from.n},
                                           (struct cov_region_span){drop.items, drop.n}, &e));
        for (int64_t i = 0; i < BASES; i++) {
            n += in_from[i] && !in_drop[i];
            assert_int_equal(cov_region_list_overlaps(&out, i, i + 1), in_from[i] && !in_drop[i]);
        }
        assert_int_equal(cov_region_list_bases(&out), n);
        if (out.n > 0) {
            assert_true(cov_region_list_overlaps(&out, 0, BASES));
            assert_false(cov_region_list_overlaps(&out, 0, out.items[0].beg));
        }
    }
    cov_region_list_fini(&from);
    cov_region_list_fini(&drop);
    cov_region_list_fini(&out);
}

TEST_GROUP(enter_dir, leave_dir)
