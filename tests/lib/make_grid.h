/* make_grid.h - for unit tests: grids of chunks.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MAKE_GRID_H
#define TESTS_MAKE_GRID_H

#include "tests/lib/unit.h"

#include <stdio.h>

#include "common/seq/grid.h"

/* Sequences chr1 and scaffold_2 with these lengths. */
static inline struct cov_grid *two_sequences(int64_t first, int64_t second, size_t L)
{
    char *names[] = {"chr1", "scaffold_2"};
    const int64_t lengths[] = {first, second};
    struct cov_grid *grid;
    assert_ok(cov_grid_new(2, names, lengths, "Zea mays", L, &grid, &e));
    return grid;
}

/* 5000 contigs of 1 to max_length bases. */
static inline struct cov_grid *many_contigs(size_t max_length, size_t L)
{
    enum { N = 5000 };
    static char texts[N][30];
    static char *names[N];
    static int64_t lengths[N];
    for (size_t i = 0; i < N; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "contig_%zu", i);
        names[i] = texts[i];
        lengths[i] = (int64_t)(1 + i % max_length);
    }
    struct cov_grid *grid;
    assert_ok(cov_grid_new(N, names, lengths, "", L, &grid, &e));
    return grid;
}

static inline void check_same_grids(const struct cov_grid *g, const struct cov_grid *grid)
{
    assert_int_equal(cov_grid_n_chunks(g), cov_grid_n_chunks(grid));
    assert_int_equal(cov_grid_chunk_length(g), cov_grid_chunk_length(grid));
    assert_int_equal(cov_grid_n_seqs(g), cov_grid_n_seqs(grid));
    assert_int_equal(cov_grid_is_regular(g), cov_grid_is_regular(grid));
    assert_int_equal(cov_grid_is_partial(g), cov_grid_is_partial(grid));
    for (size_t i = 0; i < cov_grid_n_seqs(g); i++) {
        assert_string_equal(cov_grid_name(g, i), cov_grid_name(grid, i));
        assert_string_equal(cov_grid_species(g, i), cov_grid_species(grid, i));
        assert_int_equal(cov_grid_seq_length(g, i), cov_grid_seq_length(grid, i));
    }
    for (size_t i = 0; i < cov_grid_n_chunks(g); i++) {
        struct cov_chunk a = cov_grid_chunk(g, i), b = cov_grid_chunk(grid, i);
        assert_true(a.seq == b.seq && a.beg == b.beg && a.end == b.end && a.minus == b.minus);
    }
}

#endif
