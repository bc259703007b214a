/* fuzz_grid.c - rows of chunks in any order, with holes and twice, with or without a declared genome: pairs and shards
 * agree with each other.
 * Target: common/seq/grid.c
 * SPDX-License-Identifier: MIT */
#include "common/seq/grid.h"
#include "tests/fuzz/fuzz.h"

enum { L = 50, ROW = 5, SHARDS = 3, MOST_ROWS = 1000 };

/* Strands of which all chunks are there; sequences and their pairs. */
static void check_seqs(const struct cov_grid *g)
{
    size_t *rows, n, beg, end = 0;
    for (size_t s = 0; s < cov_grid_n_seqs(g); s++) {
        cov_grid_seq_pairs(g, s, &beg, &end);
        if (beg > end || end > cov_grid_n_pairs(g) ||
            cov_grid_seq_length(g, s) > cov_grid_longest(g))
            abort();
        for (int minus = 0; minus < 2; minus++) {
            int64_t at = 0;
            if (cov_grid_strand_rows(g, s, minus, &rows, &n, NULL))
                continue;
            for (size_t i = 0; i < n; i++) {
                struct cov_chunk c = cov_grid_chunk(g, rows[i]);
                if (c.beg != at || c.seq != s || c.minus != minus)
                    abort();
                at = c.end;
            }
            if (at != cov_grid_seq_length(g, s))
                abort();
            free(rows);
        }
    }
}

/* Windows with an overlap: their cores tile the sequence. */
static void check_windows(int64_t length, int64_t overlap)
{
    int64_t at = 0;
    for (int64_t k = 0; at < length; k++) {
        struct cov_window w = cov_window_number(length, L, overlap, k);
        if (w.core_beg != at || w.core_end <= at || w.beg > w.core_beg || w.core_end > w.end ||
            w.end - w.beg > L || cov_window_at(length, L, overlap, at) != k)
            abort();
        at = w.core_end;
    }
}

static void check(const struct cov_grid *g)
{
    size_t n_rows = 0, at = 0, beg, end;
    for (size_t p = 0; p < cov_grid_n_pairs(g); p++) {
        struct cov_pair pair = cov_grid_pair(g, p);
        if (pair.beg < 0 || pair.beg >= pair.end || pair.end > cov_grid_seq_length(g, pair.seq))
            abort();
        for (int k = COV_PLUS; k <= COV_MINUS; k++) {
            if (pair.rows[k] == COV_NO_ROW)
                continue;
            struct cov_chunk c = cov_grid_chunk(g, pair.rows[k]);
            if (c.seq != pair.seq || c.beg != pair.beg || c.end != pair.end ||
                c.minus != (k == COV_MINUS))
                abort();
            n_rows++;
        }
    }
    if (n_rows != cov_grid_n_chunks(g))
        abort();
    for (size_t i = 0; i < SHARDS; i++, at = end) {
        size_t *rows, n;
        cov_grid_shard(g, i, SHARDS, &beg, &end);
        if (beg != at || cov_grid_rows_of_pairs(g, beg, end, &rows, &n, NULL))
            abort();
        free(rows);
    }
}

/* Makes a grid of every other row, and a partial one of no rows, and checks them. */
static void check_parts(const struct cov_grid *g)
{
    size_t rows[MOST_ROWS], n = 0;
    struct cov_grid *part;
    struct cov_grid_builder *b;
    for (size_t i = 0; i < cov_grid_n_chunks(g) && n < MOST_ROWS; i += 2)
        rows[n++] = i;
    if (cov_grid_select(g, rows, n, &part, NULL))
        abort();
    check(part);
    cov_grid_free(part);
    if (cov_grid_n_seqs(g) == 0)
        return;
    if (cov_grid_builder_new(L, &b, NULL) || cov_grid_builder_declare_all(b, g, NULL) ||
        cov_grid_builder_finish(b, &part, NULL) || !cov_grid_is_partial(part))
        abort();
    cov_grid_free(part);
}

/* Makes the regular grid of two sequences. */
static void check_new(int64_t first, int64_t second, bool same_name)
{
    char *names[] = {"a", same_name ? "a" : "b"};
    const int64_t lengths[] = {first, second};
    struct cov_grid *g;
    int rc = cov_grid_new(2, names, lengths, "s", L, &g, NULL);
    if ((rc == COV_OK) != (first > 0 && second > 0 && !same_name))
        abort();
    if (rc)
        return;
    if (!cov_grid_is_regular(g))
        abort();
    check(g);
    check_parts(g);
    cov_grid_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_grid_builder *b;
    struct cov_grid *g;
    if (n < 1 || n > MOST_ROWS * ROW || cov_grid_builder_new(L, &b, NULL))
        return 0;
    if (n > 3) {
        check_new(data[1], data[2], data[3] % 8 == 7);
        check_windows(1 + data[1] * 3, data[2] % L);
    }
    int rc = COV_OK;
    for (char c = 'a'; data[0] & 1 && c < 'd'; c++) {
        const struct cov_seq_id id = {"s", 1, &c, data[0] & 2 ? (size_t)(c - 'a') : 1};
        rc = rc ? rc : cov_grid_builder_declare(b, &id, 40 + 30 * (c - 'a') - data[0] / 4, NULL);
    }
    for (size_t i = 1; i + ROW <= n && !rc; i += ROW) {
        char name = (char)('a' + data[i] % 4);
        const struct cov_seq_id id = {"s", data[i] >> 7, &name, (data[i] & 96) != 96};
        rc = cov_grid_builder_add(b, &id, (int16_t)(data[i + 1] | data[i + 2] << 8),
                                  (int16_t)(data[i + 3] | data[i + 4] << 8), NULL);
    }
    if (rc)
        cov_grid_builder_free(b);
    else if (cov_grid_builder_finish(b, &g, NULL) == COV_OK) {
        check(g);
        check_seqs(g);
        check_parts(g);
        cov_grid_free(g);
    }
    return 0;
}
