/* test_bases.c - the bases of genome files: how they are stored, contradictory contents.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/chunk/chunk_table.h"
#include "common/deflate/onehot_deflate.h"
#include "common/h5/h5.h"
#include "common/seq/alphabet.h"
#include "tests/lib/genome_io.h"
#include "tests/lib/make_grid.h"
#include "tests/lib/own_dir.h"

enum { L = 33 };

static const struct cov_codec_choice gzip = {COV_CODEC_GZIP, 0}, fast = {COV_CODEC_FAST, 0};

/* Every code, then padding. */
static void codes_of(const struct cov_grid *grid, size_t i, uint8_t *codes)
{
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t length = (size_t)(c.end - c.beg);
    for (size_t t = 0; t < cov_grid_chunk_length(grid); t++)
        codes[t] = t < length ? (uint8_t)(1 + (i * 31 + t * t) % 15) : COV_CODE_PAD;
}

/* Rows that onehot_deflate.h can encode are stored as onehot_deflate.h streams, with all filters applied. Other
 * rows are compressed as general data. All rows decode. */
TEST(test_onehot)
{
    static const uint8_t simple[] = {1, 2, 4, 8, 15, 3, 12};
    const struct cov_codec_choice choices[] = {gzip, fast};
    const enum cov_onehot_effort efforts[] = {COV_ONEHOT_SMALL, COV_ONEHOT_FAST};
    struct cov_grid *grid = two_sequences(100, 33, L);
    size_t n_rows = cov_grid_n_chunks(grid), bound = cov_onehot_bound(L);
    uint8_t codes[16][L], back[L], *stream = unit_alloc(bound);
    assert_in_range(n_rows, 4, 16);
    for (size_t i = 0; i < n_rows; i++) {
        struct cov_chunk c = cov_grid_chunk(grid, i);
        for (size_t t = 0; t < L; t++)
            codes[i][t] = t >= (size_t)(c.end - c.beg) ? COV_CODE_PAD
                          : i % 2 && t == 0            ? 7
                                                       : simple[(i + t * t) % COV_COUNT(simple)];
    }
    for (size_t k = 0; k < COV_COUNT(choices); k++) {
        struct cov_chunk_writer *w;
        struct cov_chunk_file *f;
        struct cov_blob blob = COV_BLOB_INIT;
        assert_ok(genome_create("x.h5", L, choices[k], "in", &w, &e));
        for (size_t i = 0; i < n_rows; i++) {
            const uint8_t *row = codes[i];
            cov_blob_clear(&blob);
            assert_ok(cov_chunk_writer_encode(w, 1, &row, NULL, &blob, &e));
            size_t n, n_stream;
            const uint8_t *piece = cov_blob_piece(&blob, 0, &n);
            uint32_t mask;
            memcpy(&mask, piece, sizeof mask);
            assert_int_equal(mask, 0);
            bool direct = cov_onehot_encode(efforts[k], codes[i], L, stream, bound, &n_stream);
            assert_int_equal(direct, i % 2 == 0);
            if (direct) {
                assert_int_equal(n, sizeof mask + n_stream);
                assert_memory_equal(piece + sizeof mask, stream, n_stream);
            }
            assert_ok(cov_chunk_writer_put(w, i, &blob, 0, &e));
        }
        assert_ok(cov_chunk_writer_finish(w, grid, &e));
        assert_ok(cov_chunk_file_open_bases("x.h5", &f, &e));
        for (size_t i = 0; i < n_rows; i++) {
            assert_ok(genome_fetch(f, i, &blob, &e));
            assert_ok(genome_decode(f, i, &blob, back, &e));
            assert_memory_equal(back, codes[i], L);
        }
        cov_chunk_file_close(f);
        cov_blob_fini(&blob);
    }
    cov_grid_free(grid);
}

/* ---- other contents; h5_layout.t has other forms ---- */

/* How X is stored, with gzip. */
struct form {
    size_t chunk[3];
    bool shuffle;
};

/* Writes a file whose X holds halves[n_rows][L][4]. */
static void write_form(const char *path, const struct cov_grid *grid, const struct form *form,
                       const uint8_t *halves)
{
    struct cov_h5 *f;
    struct cov_h5_set *s;
    const size_t n_rows = cov_grid_n_chunks(grid), *chunk = form->chunk;
    struct cov_h5_new spec = {
        .type = {COV_H5_FLOAT, 2, true, false, '\0'},
        .rank = 3,
        .dims = {n_rows, L, 4},
        .unlimited = {true, true, true},
        .chunk = {chunk[0], chunk[1], chunk[2]},
        .deflate_level = 4,
    };
    size_t n = 2 * chunk[0] * chunk[1] * chunk[2];
    spec.n_filters = cov_h5_filters(gzip, form->shuffle ? 2 : 0, spec.filters);
    uint8_t *plain = unit_alloc(n);
    assert_ok(cov_h5_create(path, &f, &e));
    assert_ok(cov_chunk_table_write(f, grid, 25, gzip, &e));
    assert_ok(cov_h5_set_create(f, "data/X", &spec, &s, &e));
    for (size_t row = 0; row < n_rows; row += chunk[0])
        for (size_t pos = 0; pos < L; pos += chunk[1])
            for (size_t col = 0; col < 4; col += chunk[2]) {
                uint8_t *to = plain;
                memset(plain, 0, n);
                for (size_t i = row; i < row + chunk[0]; i++)
                    for (size_t j = pos; j < pos + chunk[1]; j++)
                        for (size_t k = col; k < col + chunk[2]; k++, to += 2)
                            if (i < n_rows && j < L)
                                memcpy(to, halves + ((i * L + j) * 4 + k) * 2, 2);
                assert_ok(
                    cov_h5_set_put_elems(s, &spec, gzip, (size_t[3]){row, pos, col}, plain, n, &e));
            }
    cov_h5_set_close(s);
    assert_ok(cov_h5_finish(f, &e));
}

/* Decodes row 3 (the last of the + strand: one base, then padding) with these values at position t.
 * `text` is the expected error, or "". */
static void poke(const struct form *form, size_t t, const uint16_t values[4], const char *text)
{
    struct cov_grid *grid = two_sequences(100, 33, L);
    uint8_t codes[L] = {0}, halves[16][L][8];
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        codes_of(grid, i, codes);
        for (size_t k = 0; k < L; k++)
            memcpy(halves[i][k], cov_onehot_f16[codes[k]], 8);
    }
    memcpy(halves[3][t], values, 8);
    write_form("x.h5", grid, form, &halves[0][0][0]);
    struct cov_chunk_file *f;
    struct cov_blob raw = COV_BLOB_INIT;
    assert_ok(cov_chunk_file_open_bases("x.h5", &f, &e));
    assert_ok(genome_fetch(f, 3, &raw, &e));
    assert_fails_with(genome_decode(f, 3, &raw, codes, &e), *text ? COV_EINPUT : COV_OK, text);
    assert_ok(genome_fetch(f, 2, &raw, &e));
    assert_ok(genome_decode(f, 2, &raw, codes, &e));
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);
    cov_grid_free(grid);
}

TEST(test_contents)
{
    enum { ONE = 0x3c00, HALF = 0x3800, THIRD = 0x3548, NAN16 = 0x7e00, NEGATIVE_ZERO = 0x8000 };
    const struct form forms[] = {{{1, L, 4}, true}, {{3, 10, 1}, false}};
#define ROW "x.h5: data/X: row 3 (chr1:100-100, + strand), index "
    for (size_t i = 0; i < COV_COUNT(forms); i++) {
        const struct form *f = &forms[i];
        poke(f, 0, (uint16_t[4]){0, ONE, 0, 0}, "");
        /* The tolerance includes 0.33 as rounded by other programs, and negative zero. */
        poke(f, 0, (uint16_t[4]){THIRD - 1, THIRD, THIRD, NEGATIVE_ZERO}, "");
        poke(f, 0, (uint16_t[4]){0, NAN16, 0, 0}, ROW "0: the four values are not a base");
        poke(f, 0, (uint16_t[4]){ONE, ONE, 0, 0}, ROW "0: the four values are not a base");
        poke(f, 0, (uint16_t[4]){HALF, 0, 0, 0}, ROW "0: the four values are not a base");
        poke(f, 7, (uint16_t[4]){0, 0, 0, NAN16}, ROW "7: the four values are not a base");
        poke(f, 0, (uint16_t[4]){0, 0, 0, 0},
             ROW "0: all values are 0 (padding), but data/start_ends has a base there");
        poke(f, 32, (uint16_t[4]){0, 0, ONE, 0},
             ROW "32: a base past the end that data/start_ends gives");
    }
#undef ROW
}

TEST_GROUP(enter_dir, leave_dir)
