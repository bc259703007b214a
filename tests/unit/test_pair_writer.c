/* test_pair_writer.c - writing pairs one by one gives the same file as writing with a known
 * grid.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/chunk/chunk_file.h"
#include "common/seq/alphabet.h"
#include "tests/lib/own_dir.h"

static int enter(void **state)
{
    return setenv("SOURCE_DATE_EPOCH", "1700000000", 1) || enter_dir(state);
}

enum { L = 33, D = 2 };

static const struct cov_chunk_writer_options options = {COV_LAYOUT_ONEHOT, {COV_CODEC_GZIP, 0}, 0};

static struct cov_grid *sequences(void)
{
    char *names[] = {"chr1", "short", "chr2", "exact"};
    const int64_t lengths[] = {500, 1, 333, 66};
    struct cov_grid *grid;
    assert_ok(cov_grid_new(4, names, lengths, "Zea mays", L, &grid, &e));
    return grid;
}

static struct cov_chunk_writer *new_writer(const char *path)
{
    static char blacklist[] = "data/blacklist", coverage[] = "evaluation/a_coverage";
    const struct cov_chunk_set sets[] = {
        {blacklist, {COV_H5_INT, 4, true, false, '\0'}, 1, {1, 1}, NULL},
        {coverage, {COV_H5_INT, 4, true, false, '\0'}, 3, {L, D}, NULL},
    };
    struct cov_chunk_head h = {.L = L, .has_bases = true};
    struct cov_chunk_writer *w;
    for (size_t k = 0; k < COV_COUNT(sets); k++)
        assert_ok(cov_chunk_head_add_set(&h, &sets[k], &e));
    assert_ok(cov_chunk_writer_new(path, &h, &options, &w, &e));
    cov_chunk_head_fini(&h);
    return w;
}

/* Encodes a chunk whose contents depend only on its position. */
static void encode(const struct cov_chunk_writer *w, struct cov_chunk c, struct cov_blob *out)
{
    static const uint8_t usual[] = {COV_CODE_A, COV_CODE_C, COV_CODE_G, COV_CODE_T, COV_CODE_N};
    uint8_t codes[L] = {0}, flag[4] = {(uint8_t)(c.beg / L % 2), 0, 0, 0};
    int32_t coverage[L][D];
    size_t seed = 7 * c.seq + (size_t)c.beg + (c.minus ? 1000 : 0);
    for (size_t t = 0; t < L; t++) {
        if ((int64_t)t < c.end - c.beg)
            codes[t] = usual[(seed + t * t * seed) % 5];
        for (size_t d = 0; d < D; d++)
            coverage[t][d] = (int32_t)((seed * 31 + t / 4 + d) % 1000);
    }
    const uint8_t *const row[] = {flag, (const uint8_t *)coverage};
    const uint8_t *const *const rows[] = {row};
    const uint8_t *const all_codes[] = {codes};
    cov_blob_clear(out);
    assert_ok(cov_chunk_writer_encode(w, 1, all_codes, rows, out, &e));
}

static void write_known(const char *path, const struct cov_grid *grid)
{
    struct cov_chunk_writer *w = new_writer(path);
    struct cov_blob blob = COV_BLOB_INIT;
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        encode(w, cov_grid_chunk(grid, i), &blob);
        assert_ok(cov_chunk_writer_put(w, i, &blob, 0, &e));
    }
    cov_blob_fini(&blob);
    assert_ok(cov_chunk_writer_finish(w, grid, &e));
}

static void write_pairs(const char *path, const struct cov_grid *grid, size_t memory, bool partial)
{
    struct cov_chunk_writer *w = new_writer(path);
    struct cov_pair_writer *p;
    struct cov_blob blobs[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    assert_ok(cov_pair_writer_new(w, L, ".", memory, partial, &p, &e));
    for (size_t s = 0; s < cov_grid_n_seqs(grid); s++) {
        size_t beg, end;
        cov_grid_seq_pairs(grid, s, &beg, &end);
        assert_ok(cov_pair_writer_begin(p, cov_grid_species(grid, s), cov_grid_name(grid, s), &e));
        for (size_t k = beg; k < end; k++) {
            struct cov_pair pair = cov_grid_pair(grid, k);
            const struct cov_blob *stored[2] = {NULL, NULL};
            for (int strand = 0; strand < 2; strand++)
                if (pair.rows[strand] != COV_NO_ROW) {
                    encode(w, cov_grid_chunk(grid, pair.rows[strand]), &blobs[strand]);
                    stored[strand] = &blobs[strand];
                }
            assert_ok(cov_pair_writer_put(p, pair.beg, pair.end, stored[0], stored[1], &e));
        }
        assert_ok(cov_pair_writer_end(p, cov_grid_seq_length(grid, s), &e));
    }
    for (int strand = 0; strand < 2; strand++)
        cov_blob_fini(&blobs[strand]);
    assert_ok(cov_pair_writer_finish(p, &e));
}

/* The files are the same, and have the rows of `grid`. */
static void check_same(const char *a, const char *b, const struct cov_grid *grid)
{
    struct cov_chunk_file *f;
    check_same_files(a, b);
    assert_ok(cov_chunk_file_open(b, &f, &e));
    const struct cov_grid *made = cov_chunk_file_grid(f);
    assert_int_equal(cov_grid_is_partial(made), cov_grid_is_partial(grid));
    assert_int_equal(cov_grid_is_regular(made), cov_grid_is_regular(grid));
    assert_int_equal(cov_grid_n_chunks(made), cov_grid_n_chunks(grid));
    assert_int_equal(cov_grid_n_seqs(made), cov_grid_n_seqs(grid));
    cov_chunk_file_close(f);
}

TEST(test_same_file)
{
    struct cov_grid *grid = sequences();
    write_known("known.h5", grid);
    /* Depending on the memory, all, some or none of the waiting chunks are in the temporary
     * file. */
    static const size_t memory[] = {0, 600, 3000, COV_PAIR_WRITER_MEMORY, SIZE_MAX};
    for (size_t k = 0; k < 2 * COV_COUNT(memory); k++) {
        write_pairs("pairs.h5", grid, memory[k / 2], k % 2);
        check_same("known.h5", "pairs.h5", grid);
    }
    cov_grid_free(grid);
}

TEST(test_partial)
{
    struct cov_grid *all = sequences();
    static const struct {
        size_t n, rows[8];
    } cases[] = {
        {8, {1, 2, 7, 16, 24, 31, 34, 36}}, /* single strands, gaps, a sequence without chunks */
        {1, {33}},
        {0, {0}},
    };
    for (size_t k = 0; k < COV_COUNT(cases); k++) {
        struct cov_grid *grid;
        assert_ok(cov_grid_select(all, cases[k].rows, cases[k].n, &grid, &e));
        write_known("known.h5", grid);
        assert_true(cov_grid_is_partial(grid));
        write_pairs("pairs.h5", grid, 300 * k, true);
        check_same("known.h5", "pairs.h5", grid);
        cov_grid_free(grid);
    }
    cov_grid_free(all);
}

TEST(test_no_temporary_file)
{
    struct cov_pair_writer *p;
    struct cov_blob blob = COV_BLOB_INIT;
    struct cov_chunk_writer *w = new_writer("x.h5");
    encode(w, (struct cov_chunk){0, 0, 33, false}, &blob);
    assert_ok(cov_pair_writer_new(w, L, "no/such", 0, false, &p, &e));
    assert_ok(cov_pair_writer_begin(p, "", "chr1", &e));
    assert_int_equal(cov_pair_writer_put(p, 0, 33, &blob, &blob, NULL), COV_EIO);
    cov_pair_writer_abort(p);
    cov_pair_writer_abort(NULL);
    cov_blob_fini(&blob);
}

TEST_GROUP(enter, leave_dir)
