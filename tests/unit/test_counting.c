/* test_counting.c - which reads count, and which of their bases, by hand; the second of two mates
 * meets the first; depth from spans in any order, compared with a simple count of every base.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/features/counting.h"

enum { LENGTH = 1000 };

/* Parses a CIGAR; returns the number of elements. */
static size_t parse(const char *text, uint32_t cigar[16])
{
    static const char letters[] = "MIDNSHP=X";
    size_t n = 0;
    while (*text) {
        char *end;
        unsigned long length = strtoul(text, &end, 10);
        cigar[n++] = (uint32_t)(length << 4) | (uint32_t)(strchr(letters, *end) - letters);
        text = end + 1;
    }
    return n;
}

/* The CIGAR is valid until the next call. */
static struct cov_read make_read(unsigned flags, int64_t pos, const char *text)
{
    static uint32_t cigar[16];
    return (struct cov_read){
        .name = "r1",
        .contig = 0,
        .pos = pos,
        .flags = flags,
        .mapq = 30,
        .cigar = cigar,
        .n_cigar = parse(text, cigar),
        .mate_contig = -1,
    };
}

/* Checks the spans of a read, written as "10-20 s20-25 -", or the reason to skip the read. An s
 * marks spliced spans, and the last character is the strand. */
static void expect(const struct cov_counting *rules, const struct cov_read *r, const char *wanted)
{
    struct cov_spans spans = {0};
    char text[200] = "";
    int got = cov_count_spans(rules, r, LENGTH, &spans, NULL);
    if (got < 0) {
        (void)snprintf(text, sizeof text, "error");
    } else if (got != COV_COUNTED) {
        (void)snprintf(text, sizeof text, "%s", cov_count_result_names[got]);
    } else {
        for (size_t i = 0; i < spans.n; i++) {
            size_t n = strlen(text);
            (void)snprintf(text + n, sizeof text - n, "%s%d-%d ", spans.items[i].spliced ? "s" : "",
                           (int)spans.items[i].beg, (int)spans.items[i].end);
        }
        size_t n = strlen(text);
        (void)snprintf(text + n, sizeof text - n, "%c", spans.minus ? '-' : '+');
    }
    free(spans.items);
    assert_string_equal(text, wanted);
}

static const struct cov_counting helixer = {
    .strand = COV_COUNT_OWN,
    .exclude_flags = COV_COUNT_HELIXER_EXCLUDES,
};

TEST(follows_the_cigar)
{
    static const struct {
        const char *cigar, *wanted;
    } cases[] = {
        {"10M", "100-110 +"},
        {"4=2X4M", "100-110 +"},
        {"3S10M4S", "100-110 +"},
        {"5H10M", "100-110 +"},
        {"5M2I5M", "100-110 +"},
        {"5M2P5M", "100-110 +"},
        {"5M3D5M", "100-105 s105-108 108-113 +"},
        {"5M100N5M", "100-105 s105-205 205-210 +"},
        {"5M2D10N5M", "100-105 s105-117 117-122 +"},
        {"3S2M1I3M2D4M10N1=1X2H", "100-105 s105-107 107-111 s111-121 121-123 +"},
        {"", "no_bases"},
        {"10S", "no_bases"},
        {"900M", "100-1000 +"},
        {"901M", "outside_contig"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_read r = make_read(0, 100, cases[i].cigar);
        expect(&helixer, &r, cases[i].wanted);
    }
}

TEST(filters_by_flags)
{
    enum { EXCLUDED = COV_COUNT_HELIXER_EXCLUDES, PROPER = COV_READ_PAIRED | COV_READ_PROPER_PAIR };
    static const struct {
        unsigned excluded, required, mapq, flags;
        const char *wanted;
    } cases[] = {
        {EXCLUDED, 0, 0, 0, "100-110 +"},
        {EXCLUDED, 0, 0, COV_READ_REVERSE, "100-110 -"},
        {EXCLUDED, 0, 0, COV_READ_UNMAPPED, "unmapped"},
        {EXCLUDED, 0, 0, COV_READ_SECONDARY, "flags"},
        {EXCLUDED, 0, 0, COV_READ_QC_FAIL, "flags"},
        {EXCLUDED, 0, 0, COV_READ_DUPLICATE, "100-110 +"},
        {EXCLUDED, 0, 0, COV_READ_SUPPLEMENTARY, "100-110 +"},
        {EXCLUDED, 0, 0, COV_READ_PAIRED | COV_READ_MATE_UNMAPPED, "100-110 +"},
        {0, 0, 0, COV_READ_UNMAPPED, "unmapped"},
        {0, PROPER, 0, 0, "flags"},
        {0, PROPER, 0, COV_READ_PAIRED, "flags"},
        {0, PROPER, 0, PROPER, "100-110 +"},
        {0, PROPER, 30, PROPER, "100-110 +"},
        {0, PROPER, 31, PROPER, "mapping_quality"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const struct cov_counting rules = {.strand = COV_COUNT_OWN,
                                           .exclude_flags = cases[i].excluded,
                                           .require_flags = cases[i].required,
                                           .min_mapq = cases[i].mapq};
        struct cov_read r = make_read(cases[i].flags, 100, "10M");
        expect(&rules, &r, cases[i].wanted);
    }
    struct cov_read r = make_read(0, 100, "10M");
    r.contig = -1;
    expect(&helixer, &r, "unmapped");
}

TEST(shifts_reads)
{
    struct cov_counting rules = helixer;
    rules.has_shift = true;
    rules.shift_plus = 4;
    rules.shift_minus = -5;
    static const struct {
        unsigned flags;
        int64_t pos;
        const char *cigar, *wanted;
    } cases[] = {
        {0, 100, "10M", "104-110 +"},
        {COV_READ_REVERSE, 100, "10M", "100-105 -"},
        {0, 100, "5M20N5M", "104-130 +"}, /* the whole span, without spliced coverage */
        {COV_READ_REVERSE, 100, "5M3D5M", "100-108 -"},
        {0, 100, "4M", "no_bases"},
        {COV_READ_REVERSE, 100, "5M", "no_bases"},
        {0, 996, "4M", "no_bases"},
        {COV_READ_REVERSE, 0, "6M", "0-1 -"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_read r = make_read(cases[i].flags, cases[i].pos, cases[i].cigar);
        expect(&rules, &r, cases[i].wanted);
    }
    /* Reads are shifted outwards, past both ends of the contig. */
    rules.shift_plus = -7;
    rules.shift_minus = 9;
    struct cov_read r = make_read(0, 3, "10M");
    expect(&rules, &r, "0-13 +");
    r = make_read(COV_READ_REVERSE, 990, "5M");
    expect(&rules, &r, "990-1000 -");
    assert_int_equal(cov_count_reach(&rules), 8);
    assert_int_equal(cov_count_reach(&helixer), 1);
    rules.unit = COV_COUNT_FRAGMENT;
    assert_int_equal(cov_count_reach(&rules), 8 + COV_COUNT_MAX_FRAGMENT);
}

TEST(counts_cuts)
{
    struct cov_counting rules = helixer;
    struct cov_read plus = make_read(0, 100, "10M");
    struct cov_read minus = plus, edge = plus;
    minus.flags = COV_READ_REVERSE;
    rules.unit = COV_COUNT_CUT;
    expect(&rules, &plus, "100-101 +");
    expect(&rules, &minus, "109-110 -");
    rules.has_shift = true;
    rules.shift_plus = 4;
    rules.shift_minus = -5;
    expect(&rules, &plus, "104-105 +");
    expect(&rules, &minus, "104-105 -"); /* end - 6 */
    edge = make_read(0, 997, "3M");
    expect(&rules, &edge, "no_bases"); /* the cut site is past the end of the contig */
    edge = make_read(COV_READ_REVERSE, 0, "3M");
    expect(&rules, &edge, "no_bases");
    edge = make_read(COV_READ_REVERSE, 2, "3M"); /* its cut site is before the read */
    rules.shift_minus = -4;
    expect(&rules, &edge, "0-1 -");
}

TEST(counts_fragments)
{
    enum { PROPER = COV_READ_PAIRED | COV_READ_PROPER_PAIR };
    struct cov_counting rules = helixer;
    rules.unit = COV_COUNT_FRAGMENT;
    struct cov_read left = make_read(PROPER, 100, "10M"), right = left, other = left;
    left.mate_contig = right.mate_contig = 0;
    left.template_length = 60;
    left.mate_pos = right.pos = 150;
    right.mate_pos = 100;
    right.template_length = -60;
    right.flags |= COV_READ_REVERSE | COV_READ_SECOND;
    expect(&rules, &left, "100-160 +");
    expect(&rules, &right, "100-160 +"); /* the same fragment */
    left.flags |= COV_READ_SECOND;       /* now the right read, on the - strand, is first */
    expect(&rules, &left, "100-160 -");
    left.flags &= ~(unsigned)COV_READ_SECOND;
    rules.has_shift = true;
    rules.shift_plus = 4;
    rules.shift_minus = -5;
    expect(&rules, &left, "104-155 +");
    expect(&rules, &right, "104-155 +");
    rules.has_shift = false;
    left.template_length = 950; /* the template length includes clipped bases */
    expect(&rules, &left, "100-1000 +");
    for (int k = 0; k < 3; k++) {
        struct cov_read far = right;
        far.mate_pos = k == 0 ? -1 : k == 1 ? LENGTH : 100;
        far.template_length = k == 2 ? -COV_COUNT_MAX_FRAGMENT - 1 : -60;
        expect(&rules, &far, "discordant_pair");
    }
    other.mate_contig = 1;
    other.template_length = 0;
    expect(&rules, &other, "discordant_pair");
    other.mate_contig = 0;
    other.template_length = 60;
    other.flags = COV_READ_PAIRED;
    expect(&rules, &other, "discordant_pair");
    other.flags = PROPER | COV_READ_MATE_UNMAPPED;
    expect(&rules, &other, "discordant_pair");
    other.flags = PROPER | COV_READ_SUPPLEMENTARY;
    expect(&rules, &other, "supplementary");
    other.flags = 0; /* an unpaired read counts by itself */
    expect(&rules, &other, "100-110 +");
}

TEST(counts_by_strand)
{
    enum { FIRST = COV_READ_PAIRED | 0x40, SECOND = COV_READ_PAIRED | COV_READ_SECOND };
    static const struct {
        unsigned flags;
        const char *own, *first, *second;
    } cases[] = {
        {0, "+", "+", "-"},      {COV_READ_REVERSE, "-", "-", "+"},
        {FIRST, "+", "+", "-"},  {FIRST | COV_READ_REVERSE, "-", "-", "+"},
        {SECOND, "+", "-", "+"}, {SECOND | COV_READ_REVERSE, "-", "+", "-"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_counting rules = helixer;
        struct cov_read r = make_read(cases[i].flags, 100, "10M");
        char wanted[20];
        (void)snprintf(wanted, sizeof wanted, "100-110 %s", cases[i].own);
        expect(&rules, &r, wanted);
        rules.strand = COV_COUNT_FIRST;
        (void)snprintf(wanted, sizeof wanted, "100-110 %s", cases[i].first);
        expect(&rules, &r, wanted);
        rules.strand = COV_COUNT_SECOND;
        (void)snprintf(wanted, sizeof wanted, "100-110 %s", cases[i].second);
        expect(&rules, &r, wanted);
    }
}

TEST(counts_fragments_without_reads)
{
    struct cov_counting rules = helixer;
    struct cov_read r = make_read(0, 100, "60M"), one = make_read(0, 5, "1M");
    r.is_fragment = one.is_fragment = true;
    for (rules.unit = COV_COUNT_READ; rules.unit <= COV_COUNT_FRAGMENT; rules.unit++) {
        const bool cuts = rules.unit == COV_COUNT_CUT;
        r.cigar = &(uint32_t){60 << 4 | COV_CIGAR_M};
        rules.has_shift = false;
        expect(&rules, &r, cuts ? "100-101 159-160 +" : "100-160 +");
        rules.has_shift = true;
        rules.shift_plus = 4;
        rules.shift_minus = -5;
        expect(&rules, &r, cuts ? "104-105 154-155 +" : "104-155 +");
    }
    rules.has_shift = false;
    rules.unit = COV_COUNT_CUT;
    one.cigar = &(uint32_t){1 << 4 | COV_CIGAR_M};
    expect(&rules, &one, "5-6 5-6 +"); /* both ends */
}

TEST(filters_by_the_length_of_the_fragment)
{
    static const struct {
        const char *cigar;
        int tlen, length;
    } cases[] = {
        {"10M", 60, 60},
        {"10M", -60, 60},
        {"5S10M", 0, 10},
        {"2M3D4=100N1X2I", 0, 10},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        for (int by = -1; by <= 1; by++) {
            struct cov_counting rules = helixer;
            struct cov_read r = make_read(0, 100, cases[i].cigar);
            struct cov_spans spans = {0};
            r.template_length = cases[i].tlen;
            rules.min_fragment = cases[i].length + by;
            assert_int_equal(cov_count_spans(&rules, &r, LENGTH, &spans, NULL),
                             by > 0 ? COV_SKIP_LENGTH : COV_COUNTED);
            rules.min_fragment = 0;
            rules.max_fragment = cases[i].length + by;
            assert_int_equal(cov_count_spans(&rules, &r, LENGTH, &spans, NULL),
                             by < 0 ? COV_SKIP_LENGTH : COV_COUNTED);
            free(spans.items);
        }
}

static struct cov_read left_mate(const char *name, int64_t pos)
{
    return (struct cov_read){.name = name, .pos = pos, .mate_pos = pos + 50, .template_length = 80};
}

static struct cov_read right_mate(const char *name, int64_t pos)
{
    return (struct cov_read){
        .name = name, .pos = pos + 50, .mate_pos = pos, .template_length = -80};
}

static bool meet(struct cov_mates *m, struct cov_read r)
{
    bool met;
    assert_ok(cov_mates_meet(m, &r, 0, &met, &e));
    return met;
}

TEST(meets_the_other_mate_once)
{
    struct cov_mates m = {0};
    assert_false(meet(&m, left_mate("a", 100)));
    assert_false(meet(&m, left_mate("b", 100)));
    assert_true(meet(&m, right_mate("a", 100)));
    assert_false(meet(&m, right_mate("a", 100))); /* a copy of the right mate */
    assert_true(meet(&m, left_mate("a", 100)));
    assert_false(meet(&m, right_mate("b", 101))); /* another alignment of b */
    assert_true(meet(&m, right_mate("b", 100)));
    assert_int_equal(m.n, 1);
    cov_mates_fini(&m);
    cov_mates_fini(&m);
}

TEST(keeps_mates_of_files_in_any_order)
{
    enum { N = 20000 };
    struct cov_mates m = {0};
    char name[16];
    for (int i = 0; i < N; i++) {
        (void)snprintf(name, sizeof name, "r%d", i);
        assert_false(meet(&m, i % 2 ? left_mate(name, i) : right_mate(name, i)));
    }
    assert_int_equal(m.n, N);
    assert_true(m.n_slots <= 8 * N);
    for (int i = N - 1; i >= 0; i--) {
        (void)snprintf(name, sizeof name, "r%d", i);
        assert_true(meet(&m, i % 2 ? right_mate(name, i) : left_mate(name, i)));
    }
    assert_int_equal(m.n, 0);
    cov_mates_fini(&m);
}

TEST(forgets_mates_that_sorted_reads_have_passed)
{
    struct cov_mates m = {.sorted = true};
    for (int i = 0; i < 200000; i++)
        assert_false(meet(&m, left_mate("r", i)));
    assert_true(m.n_slots <= 1024);
    assert_true(meet(&m, right_mate("r", 199990)));
    assert_false(meet(&m, right_mate("r", 190)));
    cov_mates_fini(&m);
}

enum { N = 10000, LANES = 3 };

static int32_t expected[LANES][N];

/* Reads the depth at the next n positions and compares it. */
static void check_take(struct cov_depth *d, size_t n)
{
    static int32_t got[LANES][N];
    int32_t *lanes[LANES] = {got[0], got[1], got[2]};
    size_t at = (size_t)cov_depth_taken(d);
    assert_ok(cov_depth_take(d, n, lanes, &e));
    assert_int_equal(cov_depth_taken(d), at + n);
    for (size_t k = 0; k < LANES; k++)
        assert_memory_equal(got[k], expected[k] + at, n * sizeof **got);
}

static void count(struct cov_depth *d, size_t lane, int64_t beg, int64_t end)
{
    assert_ok(cov_depth_add(d, lane, beg, end, &e));
    for (int64_t t = beg; t < end; t++)
        expected[lane][t]++;
}

/* Spans come in random order, and few pages fit in memory, so that most steps wait in the file. */
TEST(counts_in_any_order)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t pages = 1; pages < 4; pages++)
        for (unsigned bits = 4; bits < 15; bits += 5) {
            struct cov_depth_options o = {LANES, N, "/tmp", pages, bits};
            struct cov_depth *d;
            memset(expected, 0, sizeof expected);
            assert_ok(cov_depth_new(&o, &d, &e));
            for (int i = 0; i < 5000; i++) {
                int64_t beg = (int64_t)(cov_rng_next(&rng) % N);
                int64_t end = beg + (int64_t)(cov_rng_next(&rng) % 300);
                count(d, cov_rng_next(&rng) % LANES, beg, end < N ? end : N);
            }
            for (size_t at = 0, n; at < N; at += n) {
                n = cov_rng_next(&rng) % 700;
                n = n < N - at ? n : N - at;
                check_take(d, n);
            }
            cov_depth_free(d);
        }
}

/* Spans ascend, as for sorted reads, and some are long. Depth is read along the way. */
TEST(takes_positions_early)
{
    struct cov_depth_options o = {LANES, N, "/tmp", 2, 6};
    struct cov_depth *d;
    struct cov_rng rng;
    cov_rng_init(&rng, 2);
    memset(expected, 0, sizeof expected);
    assert_ok(cov_depth_new(&o, &d, &e));
    for (int64_t at = 0; at < N; at += (int64_t)(cov_rng_next(&rng) % 5)) {
        int64_t n = (int64_t)(cov_rng_next(&rng) % (at % 50 ? 40 : 3000));
        count(d, (size_t)at % LANES, at, at + n < N ? at + n : N);
        while (cov_depth_taken(d) + 100 <= at)
            check_take(d, 100);
    }
    check_take(d, N - (size_t)cov_depth_taken(d));
    cov_depth_free(d);
}

TEST(skips_positions)
{
    struct cov_depth_options o = {LANES, N, "/tmp", 0, 0};
    struct cov_depth *d;
    memset(expected, 0, sizeof expected);
    assert_ok(cov_depth_new(&o, &d, &e));
    count(d, 0, 10, 500);
    count(d, 1, N - 1, N);
    assert_ok(cov_depth_take(d, 200, NULL, &e));
    check_take(d, N - 200);
    cov_depth_free(d);
    cov_depth_free(NULL);
}
