/* test_bigwig_reader.c - valid and damaged bigWig files of several writers.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/bigwig_io.h"

#include <sys/mman.h>

#include "common/base/rng.h"
#include "tests/lib/make_bigwig.h"
#include "tests/lib/own_log.h"

struct list {
    struct item {
        size_t contig;
        struct cov_interval iv;
    } * items;
    size_t n, cap;
};

static struct list got, wanted;

static void push(struct list *l, size_t contig, const struct cov_interval *iv)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->items = must(realloc(l->items, l->cap * sizeof *l->items));
    }
    l->items[l->n].contig = contig;
    l->items[l->n++].iv = *iv;
}

static bool same_items(const struct item *a, const struct item *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].contig != b[i].contig || a[i].iv.beg != b[i].iv.beg ||
            a[i].iv.end != b[i].iv.end || a[i].iv.value != b[i].iv.value)
            return false;
    return true;
}

/* Reads all intervals of a file, or those before a failure, to `got`. */
static int read_on(struct cov_bigwig_reader *r, struct cov_err *e)
{
    size_t contig, n;
    const struct cov_interval *iv;
    int rc;
    got.n = 0;
    while ((rc = cov_bigwig_reader_next(r, &contig, &iv, &n, e)) > 0)
        for (size_t i = 0; i < n; i++)
            push(&got, contig, &iv[i]);
    return rc;
}

static int read_file(const char *path, struct cov_err *e)
{
    struct cov_bigwig_reader *r;
    got.n = 0;
    int rc = cov_bigwig_reader_open(path, &r, e);
    if (rc)
        return rc;
    rc = read_on(r, e);
    if (rc) { /* every later call fails, too */
        size_t contig, n;
        const struct cov_interval *iv;
        assert_true(cov_bigwig_reader_next(r, &contig, &iv, &n, NULL) < 0);
        assert_int_equal(n, 0);
    }
    cov_bigwig_reader_close(r);
    return rc;
}

static void want_made(void)
{
    wanted.n = 0;
    for (const struct made_section *s = made_sections; s < made_sections + MADE_N; s++)
        for (size_t k = 0; k < s->n; k++) {
            const struct cov_interval iv = {s->items[k].beg, s->items[k].end, s->items[k].value};
            push(&wanted, s->contig, &iv);
        }
}

static void check_same(void)
{
    assert_int_equal(got.n, wanted.n);
    assert_true(same_items(got.items, wanted.items, got.n));
}

TEST(reads_all_block_types)
{
    static struct made m;
    want_made();
    for (unsigned k = 0; k < 32; k++) {
        const struct made_form f = {k & 1, k & 2, k & 4, 1 + k / 8};
        struct cov_bigwig_reader *r;
        make_bigwig(&m, &f, made_sections, MADE_N);
        made_write(&m, "x.bw");
        assert_ok(cov_bigwig_reader_open("x.bw", &r, &e));
        assert_int_equal(cov_bigwig_reader_n_contigs(r), 2);
        for (size_t c = 0; c < MADE_CONTIGS; c++) {
            assert_string_equal(cov_bigwig_reader_contig(r, c), made_names[c]);
            assert_int_equal(cov_bigwig_reader_length(r, c), made_lengths[c]);
        }
        assert_ok(read_on(r, &e));
        check_same();
        cov_bigwig_reader_close(r);
    }
    assert_int_equal(logged.n_warnings, 0);
}

/* Writes a track with our writer to x.bw, and to `wanted`. It may have more contigs and more blocks
 * than fit in a node of a tree. */
static void write_ours(size_t n_contigs, size_t n, uint64_t seed)
{
    char(*names)[8] = unit_alloc(n_contigs * sizeof *names);
    const char **list = unit_alloc(n_contigs * sizeof *list);
    int64_t *lengths = unit_alloc(n_contigs * sizeof *lengths);
    struct expected *x = unit_alloc(n_contigs * sizeof *x);
    struct cov_interval *iv = unit_alloc(n_contigs * n * sizeof *iv);
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    wanted.n = 0;
    for (size_t c = 0; c < n_contigs; c++) {
        (void)snprintf(names[c], sizeof names[c], "c%05zu", c);
        list[c] = names[c];
        int64_t at = 0;
        x[c] = (struct expected){iv, c % 3 != 1 ? n : 0};
        for (size_t i = 0; i < x[c].n; i++, iv++) {
            iv->beg = at + (int64_t)cov_rng_below(&rng, 3);
            iv->value = (float)cov_rng_below(&rng, 100) / 8;
            at = iv->end = iv->beg + 1 + (int64_t)cov_rng_below(&rng, 9);
            push(&wanted, c, iv);
        }
        lengths[c] = at + 5;
    }
    const struct cov_track_contigs contigs = {n_contigs, list, lengths};
    const struct cov_bigwig_options alone = {NULL, NULL};
    assert_ok(put_bigwig("x.bw", &contigs, x, false, &alone, 100, &e));
}

TEST(reads_our_files)
{
    struct cov_bigwig_reader *r;
    write_ours(700, 900, 5);
    assert_ok(read_file("x.bw", &e));
    check_same();
    assert_ok(cov_bigwig_reader_open("x.bw", &r, &e));
    assert_int_equal(cov_bigwig_reader_n_contigs(r), 700);
    assert_string_equal(cov_bigwig_reader_contig(r, 699), "c00699");
    cov_bigwig_reader_close(r);
    write_ours(3, 300000, 6);
    assert_int_equal(read_file("x.bw", NULL), 0);
    check_same();
}

/* The same with libBigWig, in blocks of all types, or no blocks if `seed` is 0. */
static void write_libbigwig(uint64_t seed, size_t n)
{
    enum { N = 20000 };
    assert_true(n <= N);
    const char *const names[] = {"one", "three", "two"};
    const uint32_t lengths[] = {1000000, 1000000, 1000000};
    static uint32_t begs[N], ends[N];
    static float values[N];
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    wanted.n = 0;
    bigWigFile_t *bw = must(bwOpen("x.bw", NULL, "w"));
    assert_int_equal(bwCreateHdr(bw, 7), 0);
    bw->cl = bwCreateChromList(names, lengths, 3);
    assert_non_null(bw->cl);
    assert_int_equal(bwWriteHdr(bw), 0);
    for (size_t c = 0; seed && c < 3; c++) {
        const uint32_t span = 3, step = 5;
        uint32_t at = 7;
        const char *many[N];
        for (size_t i = 0; i < n; i++) {
            values[i] = (float)cov_rng_below(&rng, 1000) / 4 - 50;
            begs[i] = at + (c == 2 ? 0 : (uint32_t)cov_rng_below(&rng, 30));
            ends[i] = c ? begs[i] + span : begs[i] + 1 + (uint32_t)cov_rng_below(&rng, 9);
            at = c == 2 ? begs[i] + step : ends[i];
            const struct cov_interval iv = {begs[i], ends[i], values[i]};
            push(&wanted, c, &iv);
            many[i] = names[c];
        }
        assert_int_equal(
            c == 0   ? bwAddIntervals(bw, many, begs, ends, values, (uint32_t)n)
            : c == 1 ? bwAddIntervalSpans(bw, names[c], begs, span, values, (uint32_t)n)
                     : bwAddIntervalSpanSteps(bw, names[c], 7, span, step, values, (uint32_t)n),
            0);
    }
    bwClose(bw);
}

TEST(reads_files_of_libbigwig)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        write_libbigwig(seed, 20000);
        assert_ok(read_file("x.bw", &e));
        check_same();
    }
}

/* ---------------------------------------------------------------- damage */

static void expect(struct made *m, const char *reason)
{
    struct cov_err e = COV_ERR_INIT;
    made_write(m, "x.bw");
    int rc = read_file("x.bw", &e);
    assert_true(rc == COV_EINPUT || rc == COV_EUNSUPPORTED);
    assert_int_equal(strncmp(e.text, "x.bw: ", 6), 0);
    check_error(&e, rc, reason);
}

TEST(rejects_damage)
{
    enum { FROM_BPTREE = 1, FROM_RTREE, FROM_LEAF, FROM_BLOCK };
    static const struct {
        int from;
        size_t at, n_bytes;
        uint64_t x;
        const char *reason;
    } cases[] = {
        {0, 0, 4, 7, "not a bigWig file"},
        {0, 0, 4, 0x8789f2eb, "a bigBed file"},
        {0, 4, 2, 5, "unknown bigWig version 5"},
        {0, 4, 2, 0, "version 0"},
        {0, 8, 8, 1 << 20, "the list of contigs at byte 1048576 is past the end"},
        {0, 8, 8, UINT64_MAX, "the list of contigs at byte 18446744073709551615 is past the end"},
        {0, 8, 8, 0, "no list of contigs at byte 0"},
        {0, 24, 8, 0, "no index at byte 0"},
        {0, 24, 8, UINT64_MAX - 8, "the index at byte"},
        {FROM_BPTREE, 0, 4, 1, "no list of contigs"},
        {FROM_BPTREE, 8, 4, 0, "no list of contigs"},
        {FROM_BPTREE, 8, 4, UINT32_MAX, "no list of contigs"},
        {FROM_BPTREE, 12, 4, 9, "no list of contigs"},
        {FROM_BPTREE, 16, 8, UINT64_MAX, "impossible number of contigs (18446744073709551615)"},
        {FROM_BPTREE, 16, 8, 1, "contig a has number 1, which is taken or above 0"},
        {FROM_BPTREE, 16, 8, 3, "2 instead of the declared 3 items"},
        {FROM_BPTREE, 32, 1, 2, "invalid node of the list of contigs"},
        {FROM_BPTREE, 34, 2, 0, "invalid node of the list of contigs"},
        {FROM_BPTREE, 34, 2, 1, "1 instead of the declared 2 items"},
        {FROM_BPTREE, 36, 1, 0, "contig without a name"},
        {FROM_BPTREE, 36, 2, 0x6262, "duplicate contig bb"},
        {FROM_BPTREE, 41, 4, 0, "contig bb has number 0"},
        {FROM_BPTREE, 41, 4, 2, "contig a has number 2"},
        {FROM_BPTREE, 45, 4, 0, "contig a has length 0"},
        {FROM_BPTREE, 45, 4, 99, "a:1-100: past the end of the contig"},
        {FROM_RTREE, 0, 4, 1, "no index"},
        {FROM_RTREE, 8, 8, UINT64_MAX, "impossible number of blocks (18446744073709551615)"},
        {FROM_RTREE, 8, 8, 0, "it has data, but the index is empty"},
        {FROM_RTREE, 8, 8, 5, "4 instead of the declared 5 items"},
        {FROM_RTREE, 8, 8, 3, "more than the declared 3 items"},
        {FROM_LEAF, 0, 1, 9, "invalid node of the index"},
        {FROM_LEAF, 2, 2, 0, "invalid node of the index"},
        {FROM_LEAF, 2, 2, 3, "3 instead of the declared 4 items"},
        {FROM_LEAF, 20, 8, UINT64_MAX, "no block of"},
        {FROM_LEAF, 28, 8, UINT64_MAX, "no block of 18446744073709551615 bytes"},
        {FROM_LEAF, 28, 8, 23, "invalid block of intervals"},
        {FROM_LEAF, 28, 8, 61, "invalid block of intervals"},
        {FROM_BLOCK, 0, 4, 2, "invalid block of intervals"},
        {FROM_BLOCK, 0, 4, 1, "intervals of contig a in two places"},
        {FROM_BLOCK, 20, 1, 0, "invalid block of intervals"},
        {FROM_BLOCK, 20, 1, 4, "invalid block of intervals"},
        {FROM_BLOCK, 20, 1, 3, "invalid block of intervals"},
        {FROM_BLOCK, 22, 2, 65535, "invalid block of intervals"},
        {FROM_BLOCK, 28, 4, 3, "bb:4-3: empty interval"},
        {FROM_BLOCK, 28, 4, 8, "bb:8-8: overlaps or precedes the previous interval"},
        {FROM_BLOCK, 28, 4, UINT32_MAX, "bb:4-4294967295: past the end of the contig"},
        {FROM_BLOCK, 32, 4, 0x7f800000, "bb:4-7: value is not a finite number"},
        {FROM_BLOCK, 32, 4, 0xff800000, "bb:4-7: value is not a finite number"},
    };
    static struct made m;
    const struct made_form forms[] = {{false, false, false, 4}, {true, false, false, 3}};
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < COV_COUNT(cases); i++) {
            make_bigwig(&m, &forms[f], made_sections, MADE_N);
            const size_t from[] = {0, m.bptree, m.rtree, m.rtree_leaf, m.blocks[0]};
            made_patch(&m, from[cases[i].from] + cases[i].at, cases[i].x, cases[i].n_bytes);
            if (f == 0 || (cases[i].from > 0 && cases[i].n_bytes > 1))
                expect(&m, cases[i].reason);
        }
    /* Two blocks are in the wrong order; a block of another contig interrupts the blocks of a
     * contig. */
    struct made_section s[MADE_N];
    memcpy(s, made_sections, sizeof s);
    s[0] = made_sections[1];
    s[1] = made_sections[0];
    make_bigwig(&m, &forms[0], s, MADE_N);
    expect(&m, "bb:4-7: overlaps or precedes the previous interval");
    /* Compressed blocks. */
    const struct made_form packed = {false, true, false, 4};
    make_bigwig(&m, &packed, made_sections, MADE_N);
    m.bytes[m.blocks[1] + 9] ^= 1;
    expect(&m, "the block at byte");
    make_bigwig(&m, &packed, made_sections, MADE_N);
    made_patch(&m, 52, 30, 4);
    expect(&m, "more bytes than the 30");
    make_bigwig(&m, &packed, made_sections, MADE_N);
    made_patch(&m, 52, 0, 4);
    expect(&m, "invalid block of intervals");
}

/* pyBigWig stores NaN for bases without a value. */
TEST(passes_over_nan)
{
    static struct made m;
    const struct made_form form = {false, false, false, 4};
    want_made();
    for (unsigned k = 0; k < 2; k++) {
        struct cov_bigwig_reader *r;
        make_bigwig(&m, &form, made_sections, MADE_N);
        made_patch(&m, m.blocks[0] + 32, k ? 0xffc00000 : 0x7fc00000, 4);
        made_write(&m, "x.bw");
        assert_ok(cov_bigwig_reader_open("x.bw", &r, &e));
        assert_int_equal(read_on(r, NULL), 0);
        assert_int_equal(cov_bigwig_reader_n_gaps(r), 1);
        assert_int_equal(got.n, wanted.n - 1);
        size_t first = 0; /* that differs */
        while (first < got.n && same_items(got.items + first, wanted.items + first, 1))
            first++;
        assert_int_equal(wanted.items[first].iv.beg, 3);
        assert_true(same_items(got.items + first, wanted.items + first + 1, got.n - first));
        cov_bigwig_reader_close(r);
    }
}

/* Trees with cycles. The number of paths is bounded by that of declared items. */
TEST(rejects_cycles)
{
    static struct made m;
    const struct made_form deep = {false, true, true, 4};
    make_bigwig(&m, &deep, made_sections, MADE_N);
    made_patch(&m, m.bptree + 36 + MADE_KEY, m.bptree + 32, 8);
    expect(&m, "the list of contigs has a cycle");
    make_bigwig(&m, &deep, made_sections, MADE_N);
    made_patch(&m, m.rtree + 48 + 4 + 16, m.rtree + 48, 8);
    expect(&m, "the index has a cycle");
}

TEST(rejects_other_files)
{
    static struct made m;
    const struct made_form f = {false, true, false, 4};
    struct cov_bigwig_reader *r;
    assert_fails_with(cov_bigwig_reader_open("none.bw", &r, &e), COV_EIO,
                      "none.bw: No such file or directory");
    assert_int_equal(cov_bigwig_reader_open(".", &r, NULL), COV_EINPUT);
    assert_null(r);
    /* Truncates the file to every length. Reading fails, or warns if only the end marker is
     * missing. */
    make_bigwig(&m, &f, made_sections, MADE_N);
    size_t whole = m.n;
    for (size_t n = 0; n < whole - 4; n++) {
        m.n = n;
        expect(&m, n < 64 ? "damaged or truncated: only" : "past the end");
    }
    start_log(COV_LOG_WARNING);
    m.n = whole - 4;
    made_write(&m, "x.bw");
    assert_ok(read_file("x.bw", &e));
    assert_int_equal(logged.n_warnings, 1);
}

/* Flips a bit or truncates x.bw anywhere: reading fails, or the result does not change. Values
 * may differ in `blind` files, whose blocks have no checksum; one may become NaN, and so a gap. */
static void fuzz(bool blind, uint64_t seed)
{
    enum { ROUNDS = 2000 };
    struct cov_rng rng;
    unsigned n_failed = 0;
    char name[32];
    const struct bytes b = get_file("x.bw");
    const size_t n = b.n;
    int fd = memfd_create("fuzz", 0); /* writing many files is slow on some disks */
    assert_int_equal(write(fd, b.p, n), n);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    cov_rng_init(&rng, seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        /* Half of the changes are in the head and the tail, where they matter most. */
        size_t place = (size_t)cov_rng_below(&rng, i % 2 || n < 2000 ? n : 1000);
        size_t at = i % 4 == 0 ? n - 1 - place : place;
        bool cut = i % 10 == 9;
        uint8_t flipped = b.p[at] ^ (uint8_t)(1U << cov_rng_below(&rng, 8));
        if (cut)
            assert_int_equal(ftruncate(fd, (off_t)at), 0);
        else
            assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
        struct cov_err e = COV_ERR_INIT;
        int rc = read_file(name, &e);
        n_failed += rc != 0;
        bool same = got.n <= wanted.n && (rc || got.n + blind >= wanted.n) &&
                    (blind || same_items(got.items, wanted.items, got.n));
        if (!same || (rc && strncmp(e.text, name, strlen(name)) != 0))
            fail_msg("seed %d, round %u: status %d, %s", (int)seed, i, rc, e.text);
        if (cut)
            assert_int_equal(pwrite(fd, b.p + at, n - at, (off_t)at), n - at);
        else
            assert_int_equal(pwrite(fd, &b.p[at], 1, (off_t)at), 1);
    }
    assert_true(n_failed > ROUNDS / 20);
    assert_int_equal(close(fd), 0);
}

TEST(survives_fuzzing)
{
    static struct made m;
    write_ours(40, 60, 7);
    fuzz(false, 1);
    write_libbigwig(1, 700);
    fuzz(false, 2);
    for (unsigned k = 0; k < 8; k++) {
        const struct made_form f = {k & 1, k & 2, k & 4, 4};
        make_bigwig(&m, &f, made_sections, MADE_N);
        made_write(&m, "x.bw");
        want_made();
        fuzz(!f.compress, 3 + k);
    }
}

static int enter_and_listen(void **state)
{
    start_log(COV_LOG_WARNING);
    return enter_dir(state);
}

TEST_GROUP(enter_and_listen, leave_dir)
