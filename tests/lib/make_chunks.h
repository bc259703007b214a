/* make_chunks.h - for unit tests: makes a small file of chunks with L = 10, of chr1 (25 bases) and
 * chr2 (10 bases). It has bases, or predictions of the datasets `a` and `b`.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MAKE_CHUNKS_H
#define TESTS_MAKE_CHUNKS_H

#include "tests/lib/unit.h"

#include <string.h>

#include "common/chunk/chunk_file.h"
#include "common/seq/alphabet.h"

enum { MADE_L = 10, MADE_ROWS = 8 };

static inline struct cov_grid *made_grid(void)
{
    static char chr1[] = "chr1", chr2[] = "chr2";
    static char *const names[] = {chr1, chr2};
    static const int64_t lengths[] = {25, 10};
    struct cov_grid *grid;
    assert_int_equal(cov_grid_new(2, names, lengths, "Sp", MADE_L, &grid, NULL), COV_OK);
    assert_int_equal(cov_grid_n_chunks(grid), MADE_ROWS);
    return grid;
}

/* The head of a genome or predictions file. Free with cov_chunk_head_fini. */
static inline void made_head(bool bases, struct cov_chunk_head *head)
{
    static char name[] = "prediction/predictions";
    static const char *const texts[] = {"a", "b"};
    static uint8_t fill[2] = {0xff, 0xff};
    const struct cov_chunk_set set = {
        name, {.kind = COV_H5_INT, .bytes = 2, .is_signed = true}, 3, {MADE_L, 2}, fill};
    *head = (struct cov_chunk_head){.L = MADE_L, .has_bases = bases};
    if (bases)
        return;
    assert_int_equal(cov_chunk_head_add_set(head, &set, NULL), COV_OK);
    assert_int_equal(cov_chunk_head_add_texts(head, "prediction/datasets", 25, 2, texts, NULL),
                     COV_OK);
}

/* Makes row i: codes[L], and the predictions [L][2] as int16. */
static inline void made_row(const struct cov_grid *grid, size_t i, uint8_t *codes, uint8_t *elems)
{
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t n = (size_t)(c.end - c.beg);
    memset(codes, COV_CODE_PAD, MADE_L);
    memset(elems, 0xff, 4 * MADE_L);
    for (size_t t = 0; t < n; t++) {
        codes[t] = (uint8_t)(1U << ((size_t)c.beg + t * t) % 4);
        elems[4 * t] = (uint8_t)(t + i);
        elems[4 * t + 2] = 7;
        elems[4 * t + 1] = elems[4 * t + 3] = 0;
    }
    if (c.minus)
        cov_codes_reverse_complement(codes, n);
}

/* Writes the file. Before that, `spoil`, unless NULL, may change the codes and elements of rows. */
static inline void make_chunks(const char *path, bool bases,
                               void (*spoil)(size_t row, uint8_t *const codes_elems[2]))
{
    struct cov_grid *grid = made_grid();
    struct cov_chunk_head head;
    struct cov_chunk_writer *w;
    struct cov_blob blob = COV_BLOB_INIT;
    const struct cov_chunk_writer_options options = {.compression = {COV_CODEC_LIBDEFLATE, 6}};
    uint8_t codes[MADE_L], elems[4 * MADE_L];
    const uint8_t *code_rows[] = {codes}, *sets[] = {elems};
    const uint8_t *const *elem_rows[] = {sets};
    made_head(bases, &head);
    assert_int_equal(cov_chunk_writer_new(path, &head, &options, &w, NULL), COV_OK);
    for (size_t i = 0; i < MADE_ROWS; i++) {
        made_row(grid, i, codes, elems);
        if (spoil)
            spoil(i, (uint8_t *const[2]){codes, elems});
        cov_blob_clear(&blob);
        assert_int_equal(cov_chunk_writer_encode(w, 1, code_rows, elem_rows, &blob, NULL), COV_OK);
        assert_int_equal(cov_chunk_writer_put(w, i, &blob, 0, NULL), COV_OK);
    }
    assert_int_equal(cov_chunk_writer_finish(w, grid, NULL), COV_OK);
    cov_blob_fini(&blob);
    cov_chunk_head_fini(&head);
    cov_grid_free(grid);
}

#endif
