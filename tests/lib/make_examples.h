/* make_examples.h - for tests: two small genome files whose measured coverage depends on the
 * position.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MAKE_EXAMPLES_H
#define TESTS_MAKE_EXAMPLES_H

#include "tests/lib/own_dir.h"

#include "common/seq/alphabet.h"
#include "tests/lib/genome_io.h"

enum { L = 16, N_SEQS = 3, MAX = 100, N_FILES = 2 };

static const int64_t lengths[N_SEQS] = {MAX, 48, 7};
static char *names[] = {"one", "two", "three"};
static const char *const species[N_FILES] = {"Sp", "Other"};
static const char *const datasets[] = {"a", "none", "b"};
enum { D = 3 };
static const char *const files[N_FILES] = {"./0.h5", "./1.h5"};

/* Sequence two has N in [16, 32), a whole row, and sequence one in [37, 57), which is not a whole
 * row. The coverage of the two strands differs. */
static inline uint8_t base_at(size_t file, size_t seq, int64_t at)
{
    if ((seq == 1 && at >= 16 && at < 32) || (seq == 0 && at >= 37 && at < 57))
        return COV_CODE_N;
    return (uint8_t)(1U << (((uint64_t)at * 7 + seq + file + (uint64_t)(at * at / 3)) % 4));
}

static inline float target_at(size_t file, size_t seq, int64_t at, bool minus, size_t d)
{
    int64_t v = at * 3 + (int64_t)seq * 1000 + (minus ? 500 : 0) + (int64_t)file;
    return d == 0 ? (float)v : d == 2 ? (float)(2 * v + 1) / 2 : 0;
}

static inline void add_set(struct cov_chunk_head *head, const char *name, size_t columns)
{
    uint8_t fill[4] = {0xff, 0xff, 0xff, 0xff};
    char copy[40];
    (void)snprintf(copy, sizeof copy, "%s", name);
    const struct cov_chunk_set set = {
        copy, {.kind = COV_H5_INT, .bytes = 4, .is_signed = true}, 3, {L, columns}, fill};
    assert_ok(cov_chunk_head_add_set(head, &set, &e));
}

static inline void make_file(size_t file)
{
    struct cov_grid *grid;
    struct cov_chunk_head head = {.L = L, .has_bases = true};
    struct cov_chunk_writer *w;
    const struct cov_chunk_writer_options options = {.compression = {COV_CODEC_LIBDEFLATE, 6}};
    assert_ok(cov_grid_new(N_SEQS, names, lengths, species[file], L, &grid, &e));
    add_set(&head, "evaluation/a_coverage", 1);
    add_set(&head, "evaluation/b_coverage", 2);
    assert_ok(cov_chunk_writer_new(files[file], &head, &options, &w, &e));
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        struct cov_chunk c = cov_grid_chunk(grid, i);
        uint8_t codes[L];
        int32_t a[L], b[2 * L];
        memset(codes, COV_CODE_PAD, L);
        memset(a, 0xff, sizeof a);
        memset(b, 0xff, sizeof b);
        for (int64_t t = 0; t < c.end - c.beg; t++) {
            int64_t at = c.minus ? c.end - 1 - t : c.beg + t;
            uint8_t code = base_at(file, c.seq, at);
            codes[t] = c.minus ? cov_code_complement[code] : code;
            a[t] = (int32_t)target_at(file, c.seq, at, c.minus, 0);
            b[2 * t] = a[t];
            b[2 * t + 1] = a[t] + 1;
        }
        const uint8_t *const sets[] = {(uint8_t *)a, (uint8_t *)b};
        assert_ok(put_row(w, i, codes, sets, &e));
    }
    assert_ok(cov_chunk_writer_finish(w, grid, &e));
    cov_chunk_head_fini(&head);
    cov_grid_free(grid);
}

/* Creates the files in a directory of the test; for a group with leave_dir. */
static inline int make_examples(void **state)
{
    const int rc = enter_dir(state);
    for (size_t i = 0; !rc && i < N_FILES; i++)
        make_file(i);
    return rc;
}

#endif
