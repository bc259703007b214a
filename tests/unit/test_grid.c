/* test_grid.c - chunk grids, computed or built row by row; overlapping windows.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/seq/grid.h"

struct expected {
    size_t seq;
    int64_t start, end;
};

static struct cov_grid *g; /* the grid of a test */

static void check_rows(const struct expected *rows, size_t n)
{
    assert_int_equal(cov_grid_n_chunks(g), n);
    for (size_t i = 0; i < n; i++) {
        struct cov_chunk c = cov_grid_chunk(g, i);
        assert_int_equal(c.seq, rows[i].seq);
        assert_int_equal(c.minus ? c.end : c.beg, rows[i].start);
        assert_int_equal(c.minus ? c.beg : c.end, rows[i].end);
    }
}

/* Builds `g` from these rows. */
static void build(size_t L, const struct expected *rows, size_t n)
{
    static const char *const names[] = {"a", "bb", "ccc"};
    struct cov_grid_builder *b;
    cov_grid_free(g);
    assert_ok(cov_grid_builder_new(L, &b, &e));
    for (size_t i = 0; i < n; i++) {
        struct cov_seq_id id = cov_seq_id("sp", names[rows[i].seq]);
        assert_ok(cov_grid_builder_add(b, &id, rows[i].start, rows[i].end, &e));
    }
    assert_ok(cov_grid_builder_finish(b, &g, &e));
}

/* Returns the rows of a strand of `g`, in memory of the test. */
static size_t *rows_of(size_t seq, bool minus, size_t *n)
{
    size_t *rows;
    assert_ok(cov_grid_strand_rows(g, seq, minus, &rows, n, &e));
    return unit_own(rows);
}

/* FORMATS.md's example, a sequence of exactly two chunks, and one of a single base. */
static const struct expected regular[] = {
    {0, 0, 21384},     {0, 21384, 42768}, {0, 42768, 51321}, {0, 51321, 42768},
    {0, 42768, 21384}, {0, 21384, 0},     {1, 0, 21384},     {1, 21384, 42768},
    {1, 42768, 21384}, {1, 21384, 0},     {2, 0, 1},         {2, 1, 0},
};
enum { N_REGULAR = sizeof regular / sizeof regular[0] };

TEST(test_regular)
{
    char *names[] = {"a", "bb", "ccc"};
    const int64_t lengths[] = {51321, 42768, 1};
    cov_grid_free(g);
    assert_ok(cov_grid_new(3, names, lengths, "sp", 21384, &g, &e));
    check_rows(regular, N_REGULAR);
    assert_true(cov_grid_is_regular(g));
    assert_int_equal(cov_grid_chunk_length(g), 21384);
    assert_int_equal(cov_grid_n_seqs(g), 3);
    assert_string_equal(cov_grid_name(g, 1), "bb");
    assert_string_equal(cov_grid_species(g, 1), "sp");
    assert_int_equal(cov_grid_seq_length(g, 1), 42768);
    size_t n, *rows = rows_of(0, true, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(rows, ((size_t[]){5, 4, 3}), 3 * sizeof *rows);
    rows = rows_of(1, false, &n);
    assert_int_equal(n, 2);
    assert_memory_equal(rows, ((size_t[]){6, 7}), 2 * sizeof *rows);
}

TEST(test_new_refuses)
{
    char *names[] = {"a", "a"};
    cov_grid_free(g);
    assert_fails_with(cov_grid_new(2, names, (const int64_t[]){1, 1}, "sp", 10, &g, &e), COV_EINPUT,
                      "duplicate sequence a");
    assert_null(g);
    assert_int_equal(cov_grid_new(1, names, (const int64_t[]){0}, "sp", 10, &g, NULL), COV_EINPUT);
    /* More chunks than a size_t can count. */
    names[1] = "b";
    const int64_t huge[] = {INT64_MAX, INT64_MAX};
    assert_int_equal(cov_grid_new(2, names, huge, "sp", 1, &g, NULL), COV_ENOMEM);
    /* Without sequences, the grid is empty. */
    assert_ok(cov_grid_new(0, NULL, NULL, "sp", 10, &g, &e));
    assert_int_equal(cov_grid_n_chunks(g), 0);
}

TEST(test_builder_regular)
{
    build(21384, regular, N_REGULAR);
    assert_true(cov_grid_is_regular(g));
    check_rows(regular, N_REGULAR);
    assert_int_equal(cov_grid_seq_length(g, 0), 51321);
    assert_string_equal(cov_grid_name(g, 2), "ccc");
    build(5, NULL, 0);
    assert_int_equal(cov_grid_n_chunks(g), 0);
}

/* A grid that lacks a row, has two neighbours swapped or is truncated keeps its rows in the order
 * in which they were added. */
TEST(test_builder_irregular)
{
    struct expected rows[N_REGULAR];
    for (size_t i = 0; i < N_REGULAR; i++) {
        size_t n = 0;
        for (size_t k = 0; k < N_REGULAR; k++)
            if (k != i)
                rows[n++] = regular[k];
        build(21384, rows, n);
        assert_false(cov_grid_is_regular(g));
        check_rows(rows, n);
    }
    for (size_t i = 0; i + 1 < N_REGULAR; i++) {
        if (regular[i].seq != regular[i + 1].seq)
            continue;
        memcpy(rows, regular, sizeof rows);
        rows[i] = regular[i + 1];
        rows[i + 1] = regular[i];
        build(21384, rows, N_REGULAR);
        assert_false(cov_grid_is_regular(g));
        check_rows(rows, N_REGULAR);
        assert_int_equal(cov_grid_seq_length(g, 0), 51321);
        size_t n, *list = rows_of(0, false, &n);
        assert_int_equal(n, 3);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(cov_grid_chunk(g, list[k]).beg, (int64_t)k * 21384);
    }
    for (size_t n = 1; n < N_REGULAR; n++) {
        build(21384, regular, n);
        assert_int_equal(cov_grid_is_regular(g), n == 6 || n == 10);
        check_rows(regular, n);
    }
}

static void check_strand(const struct expected *rows, size_t n_rows, bool minus, const char *text)
{
    size_t *list, n;
    build(10, rows, n_rows);
    assert_fails_with(cov_grid_strand_rows(g, 0, minus, &list, &n, &e), *text ? COV_EINPUT : COV_OK,
                      text);
    free(list);
}

TEST(test_strand_rows)
{
    /* Strands are interleaved, and chunks do not end at multiples of L. */
    const struct expected good[] = {{0, 7, 17}, {0, 17, 9}, {0, 0, 7}, {0, 9, 0}};
    check_strand(good, 4, false, "");
    check_strand(good, 4, true, "");
    const struct expected hole[] = {{0, 0, 7}, {0, 8, 17}, {0, 9, 0}};
    check_strand(hole, 3, false, "sequence a, + strand: chunks missing at position 7");
    check_strand(hole, 3, true, "sequence a, - strand: chunks missing at position 9");
    const struct expected overlap[] = {{0, 0, 7}, {0, 6, 16}};
    check_strand(overlap, 2, false, "sequence a, + strand: chunks overlap at position 6");
    const struct expected inside[] = {{0, 0, 10}, {0, 2, 5}};
    check_strand(inside, 2, false, "sequence a, + strand: chunks overlap at position 2");
    check_strand(inside, 2, true, "sequence a, - strand: chunks missing at position 0");
    const struct expected twice[] = {{0, 0, 10}, {0, 0, 10}};
    check_strand(twice, 2, false, "sequence a, + strand: chunks overlap at position 0");
}

TEST(test_builder_refuses)
{
    struct cov_grid_builder *b;
    assert_ok(cov_grid_builder_new(10, &b, &e));
    static const struct {
        const char *name;
        size_t n;
        int64_t start, end;
    } bad[] = {
        {"a", 1, 5, 5},  {"a", 1, -1, 5}, {"a", 1, 5, -1},        {"a", 1, 0, 11},
        {"a", 1, 11, 0}, {"", 0, 0, 5},   {"a", 1, 0, INT64_MAX}, {"a\0b", 3, 0, 5},
    };
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        struct cov_seq_id id = {"", 0, bad[i].name, bad[i].n};
        assert_fails(cov_grid_builder_add(b, &id, bad[i].start, bad[i].end, &e), COV_EINPUT,
                     "row 0: ");
    }
    cov_grid_builder_free(b);
    cov_grid_builder_free(NULL);
}

/* Sequences of two species may have the same name. */
TEST(test_species)
{
    struct cov_grid_builder *b;
    cov_grid_free(g);
    assert_ok(cov_grid_builder_new(10, &b, &e));
    struct cov_seq_id x = cov_seq_id("x", "a"), none = cov_seq_id("", "a");
    assert_ok(cov_grid_builder_add(b, &x, 0, 5, &e));
    assert_ok(cov_grid_builder_add(b, &x, 5, 0, &e));
    assert_ok(cov_grid_builder_add(b, &none, 0, 7, &e));
    assert_ok(cov_grid_builder_add(b, &none, 7, 0, &e));
    assert_ok(cov_grid_builder_finish(b, &g, &e));
    assert_true(cov_grid_is_regular(g));
    assert_int_equal(cov_grid_n_seqs(g), 2);
    assert_string_equal(cov_grid_species(g, 0), "x");
    assert_string_equal(cov_grid_species(g, 1), "");
    assert_string_equal(cov_grid_name(g, 1), "a");
    assert_int_equal(cov_grid_seq_length(g, 1), 7);
    cov_grid_free(NULL);
}

/* ---- pairs ---- */

static void check_pair(const struct cov_grid *grid, size_t p, size_t seq, int64_t beg, int64_t end,
                       size_t plus, size_t minus)
{
    struct cov_pair pair = cov_grid_pair(grid, p);
    assert_int_equal(pair.seq, seq);
    assert_int_equal(pair.beg, beg);
    assert_int_equal(pair.end, end);
    assert_true(pair.rows[COV_PLUS] == plus);
    assert_true(pair.rows[COV_MINUS] == minus);
}

static void check_regular_pairs(void)
{
    assert_int_equal(cov_grid_n_pairs(g), 6);
    check_pair(g, 0, 0, 0, 21384, 0, 5);
    check_pair(g, 1, 0, 21384, 42768, 1, 4);
    check_pair(g, 2, 0, 42768, 51321, 2, 3);
    check_pair(g, 3, 1, 0, 21384, 6, 9);
    check_pair(g, 4, 1, 21384, 42768, 7, 8);
    check_pair(g, 5, 2, 0, 1, 10, 11);
    static const size_t begins[] = {0, 3, 5, 6};
    for (size_t s = 0; s < 3; s++) {
        size_t beg, end;
        cov_grid_seq_pairs(g, s, &beg, &end);
        assert_int_equal(beg, begins[s]);
        assert_int_equal(end, begins[s + 1]);
    }
}

TEST(test_pairs)
{
    struct cov_grid *all;
    size_t rows[N_REGULAR];
    build(21384, regular, N_REGULAR);
    check_regular_pairs();
    /* The same rows, added one by one. */
    for (size_t i = 0; i < N_REGULAR; i++)
        rows[i] = i;
    assert_ok(cov_grid_select(g, rows, N_REGULAR, &all, &e));
    cov_grid_free(g);
    g = all;
    assert_false(cov_grid_is_regular(g));
    assert_false(cov_grid_is_partial(g));
    check_rows(regular, N_REGULAR);
    check_regular_pairs();
}

TEST(test_pairs_of_any_rows)
{
    /* Strands are missing, one interval occurs twice, another is shorter, and the rows are
     * unordered. */
    static const struct expected rows[] = {{1, 10, 0},  {0, 10, 20}, {0, 0, 10}, {0, 20, 10},
                                           {0, 10, 20}, {0, 0, 7},   {1, 10, 12}};
    build(10, rows, COV_COUNT(rows));
    assert_int_equal(cov_grid_n_pairs(g), 6);
    /* The sequence of the first row, "bb", comes first. */
    check_pair(g, 0, 0, 0, 10, COV_NO_ROW, 0);
    check_pair(g, 1, 0, 10, 12, 6, COV_NO_ROW);
    check_pair(g, 2, 1, 0, 7, 5, COV_NO_ROW);
    check_pair(g, 3, 1, 0, 10, 2, COV_NO_ROW);
    check_pair(g, 4, 1, 10, 20, 1, 3);
    check_pair(g, 5, 1, 10, 20, 4, COV_NO_ROW);
}

TEST(test_shards)
{
    build(21384, regular, N_REGULAR);
    for (size_t n = 1; n < 10; n++) {
        size_t at = 0, n_rows = 0;
        for (size_t i = 0; i < n; i++) {
            size_t beg, end, *rows, m;
            cov_grid_shard(g, i, n, &beg, &end);
            assert_int_equal(beg, at);
            assert_true(end - beg == 6 / n || end - beg == 6 / n + 1);
            at = end;
            assert_ok(cov_grid_rows_of_pairs(g, beg, end, &rows, &m, &e));
            assert_int_equal(m, 2 * (end - beg));
            for (size_t k = 1; k < m; k++)
                assert_true(rows[k - 1] < rows[k]);
            n_rows += m;
            free(rows);
        }
        assert_int_equal(at, 6);
        assert_int_equal(n_rows, N_REGULAR);
    }
}

TEST(test_partial)
{
    static const size_t rows[] = {1, 4, 10};
    static const size_t none[] = {0};
    struct cov_grid *part, *empty;
    build(21384, regular, N_REGULAR);
    assert_false(cov_grid_is_partial(g));
    assert_ok(cov_grid_select(g, rows, 3, &part, &e));
    assert_true(cov_grid_is_partial(part));
    assert_int_equal(cov_grid_n_seqs(part), 3);
    assert_int_equal(cov_grid_seq_length(part, 0), 51321);
    assert_int_equal(cov_grid_seq_length(part, 1), 42768);
    assert_string_equal(cov_grid_name(part, 2), "ccc");
    assert_int_equal(cov_grid_n_pairs(part), 2);
    check_pair(part, 0, 0, 21384, 42768, 0, 1);
    check_pair(part, 1, 2, 0, 1, 2, COV_NO_ROW);
    assert_ok(cov_grid_select(g, none, 0, &empty, &e));
    assert_true(cov_grid_is_partial(empty));
    assert_int_equal(cov_grid_n_chunks(empty), 0);
    assert_int_equal(cov_grid_n_pairs(empty), 0);
    assert_int_equal(cov_grid_n_seqs(empty), 3);
    cov_grid_free(empty);
    cov_grid_free(part);
}

TEST(test_declared_sequences_are_binding)
{
    struct cov_grid_builder *b;
    assert_ok(cov_grid_builder_new(10, &b, &e));
    struct cov_seq_id a = cov_seq_id("sp", "a"), other = cov_seq_id("sp", "b"),
                      none = cov_seq_id("sp", "");
    assert_ok(cov_grid_builder_declare(b, &a, 15, &e));
    assert_fails(cov_grid_builder_declare(b, &a, 15, &e), COV_EINPUT, "duplicate sequence a");
    assert_int_equal(cov_grid_builder_declare(b, &other, 0, NULL), COV_EINPUT);
    assert_int_equal(cov_grid_builder_declare(b, &none, 5, NULL), COV_EINPUT);
    assert_fails(cov_grid_builder_add(b, &other, 0, 5, &e), COV_EINPUT,
                 "b is not a sequence of the genome");
    assert_fails(cov_grid_builder_add(b, &a, 20, 10, &e), COV_EINPUT,
                 "past the end of a sequence of 15 bases");
    cov_grid_builder_free(b);
}

/* ---- overlapping windows ---- */

/* Compares the windows with those found by stepping along the sequence. */
static void check_windows(int64_t length, int64_t L, int64_t N)
{
    int64_t beg = 0, core = 0, k = 0;
    for (;; k++, beg += L - N) {
        int64_t end = beg + L < length ? beg + L : length;
        struct cov_window w = cov_window_number(length, L, N, k);
        assert_int_equal(w.beg, beg);
        assert_int_equal(w.end, end);
        assert_int_equal(w.core_beg, core);
        assert_true(w.core_beg >= w.beg && w.core_end <= w.end && w.core_beg < w.core_end);
        for (; core < w.core_end; core++)
            assert_int_equal(cov_window_at(length, L, N, core), k);
        if (end == length)
            break;
        /* The boundary is in the middle of the overlap. */
        assert_in_range(w.end - w.core_end - (w.core_end - (beg + L - N)), 0, 1);
    }
    assert_int_equal(core, length);
    /* The last window is needed, since the previous one does not reach the end. */
    assert_true(k == 0 || beg - (L - N) + L < length);
}

TEST(test_windows_tile)
{
    for (int64_t L = 1; L <= 9; L++)
        for (int64_t N = 0; N < L; N++)
            for (int64_t length = 1; length <= 40; length++)
                check_windows(length, L, N);
}

TEST(test_windows_of_a_long_sequence)
{
    const int64_t length = INT64_C(1) << 50, L = 21384, N = 5000;
    struct cov_window w = cov_window_number(length, L, N, cov_window_at(length, L, N, length - 1));
    assert_int_equal(w.end, length);
    assert_in_range(w.end - w.beg, N + 1, L);
    w = cov_window_number(length, L, N, cov_window_at(length, L, N, length / 3));
    assert_in_range(length / 3, w.core_beg, w.core_end - 1);
}
