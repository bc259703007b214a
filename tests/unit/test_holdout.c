/* test_holdout.c - the rows held out for validation.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/seq/holdout.h"

enum { N_LONG = 9, N_SHORT = 11, N = N_LONG + N_SHORT, L = 10 };

/* Makes 9 long sequences of 10 pairs and 11 short ones of one pair. N90 takes 90.9 of the 101
 * pairs, thus all long sequences and one short one. */
static struct cov_grid *make_grid(void)
{
    static char text[N][8];
    char *names[N];
    int64_t lengths[N];
    struct cov_grid *g;
    for (int i = 0; i < N; i++) {
        /* Short sequences first, so that the sequences are not in order of length. */
        (void)snprintf(text[i], sizeof text[i], "s%02d", i);
        names[i] = text[i];
        lengths[i] = i < N_SHORT ? 7 : 10 * L;
    }
    assert_ok(cov_grid_new(N, names, lengths, "sp", L, &g, &e));
    return g;
}

/* Computes held_seq[] from held[]; all rows of a sequence must agree. */
static void by_sequence(const struct cov_grid *g, const bool *held, bool *held_seq)
{
    int seen[N];
    memset(seen, -1, sizeof seen);
    for (size_t i = 0; i < cov_grid_n_chunks(g); i++) {
        size_t s = cov_grid_chunk(g, i).seq;
        assert_true(seen[s] < 0 || seen[s] == held[i]);
        seen[s] = held[i];
        held_seq[s] = held[i];
    }
}

TEST(test_sequences)
{
    struct cov_grid *g = make_grid();
    bool held[256], again[256], held_seq[N] = {false};
    bool ever[N] = {false}, differs = false;
    assert_true(cov_grid_n_chunks(g) <= 256);
    for (uint64_t seed = 0; seed < 200; seed++) {
        assert_ok(cov_holdout_sequences(g, 0.2, seed, held, &e));
        by_sequence(g, held, held_seq);
        /* Holds out ceil(10 * 0.2) of the first group (9 long sequences and s00, the first short
         * one) and ceil(10 * 0.2) of the others. */
        int first = held_seq[0], second = 0;
        for (int i = 0; i < N; i++) {
            ever[i] = ever[i] || held_seq[i];
            if (i >= N_SHORT)
                first += held_seq[i];
            else if (i > 0)
                second += held_seq[i];
        }
        assert_int_equal(first, 2);
        assert_int_equal(second, 2);
        assert_ok(cov_holdout_sequences(g, 0.2, seed, again, &e));
        assert_memory_equal(held, again, cov_grid_n_chunks(g));
        assert_ok(cov_holdout_sequences(g, 0.2, seed + 1, again, &e));
        differs = differs || memcmp(held, again, cov_grid_n_chunks(g)) != 0;
    }
    assert_true(differs);
    for (int i = 0; i < N; i++)
        assert_true(ever[i]);
    /* A group is never held out completely. */
    assert_ok(cov_holdout_sequences(g, 0.999, 1, held, &e));
    by_sequence(g, held, held_seq);
    int n = 0;
    for (int i = 0; i < N; i++)
        n += held_seq[i];
    assert_int_equal(n, 9 + 9);
    cov_grid_free(g);
}

TEST(test_pairs)
{
    struct cov_grid *g = make_grid();
    bool held[256], again[256], ever[128] = {false};
    size_t n_pairs = cov_grid_n_pairs(g);
    for (uint64_t seed = 0; seed < 100; seed++) {
        size_t n = 0;
        assert_ok(cov_holdout_pairs(g, 0.1, seed, held, &e));
        for (size_t p = 0; p < n_pairs; p++) {
            struct cov_pair pair = cov_grid_pair(g, p);
            assert_int_equal(held[pair.rows[0]], held[pair.rows[1]]);
            n += held[pair.rows[0]];
            ever[p] = ever[p] || held[pair.rows[0]];
        }
        assert_int_equal(n, 11); /* ceil(101 * 0.1) */
        assert_ok(cov_holdout_pairs(g, 0.1, seed, again, &e));
        assert_memory_equal(held, again, cov_grid_n_chunks(g));
    }
    for (size_t p = 0; p < n_pairs; p++)
        assert_true(ever[p]);
    cov_grid_free(g);
}

TEST(test_too_few)
{
    char *names[] = {"a", "b"};
    const int64_t lengths[] = {1000, 5};
    struct cov_grid *g;
    bool held[256];
    /* Each group has one sequence. */
    assert_ok(cov_grid_new(2, names, lengths, "sp", L, &g, &e));
    assert_fails_with(cov_holdout_sequences(g, 0.5, 1, held, &e), COV_EINPUT,
                      "too few sequences for a validation set (2): it takes whole sequences, one "
                      "of at least 2 up to N90 or of at least 2 others; --by chunk draws pairs of "
                      "chunks");
    cov_grid_free(g);
    assert_ok(cov_grid_new(1, names + 1, lengths + 1, "sp", L, &g, &e));
    assert_fails_with(cov_holdout_sequences(g, 0.5, 1, held, &e), COV_EINPUT,
                      "too few sequences for a validation set (1): it takes whole "
                      "sequences, so at least 2 are needed; --by chunk draws pairs of "
                      "chunks");
    assert_int_equal(cov_holdout_pairs(g, 0.5, 1, held, NULL), COV_EINPUT);
    cov_grid_free(g);
}
