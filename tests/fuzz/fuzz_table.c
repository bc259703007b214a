/* fuzz_table.c - the columns of a file of chunks, made of any bytes in any order and type: the grid read from them can
 * be written, and reads the same again.
 * Target: common/chunk/chunk_table.c
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_table.h"
#include "tests/fuzz/fuzz.h"

enum { L = 50, MOST_ROWS = 40, MOST_BYTES = 60 };

struct input {
    const uint8_t *p;
    size_t n;
};

static unsigned take(struct input *in)
{
    return in->n > 0 ? (in->n--, *in->p++) : 0;
}

/* Adds a column of n rows, unless the input says to omit it or to make it of the wrong type or size. */
static void add_column(struct cov_h5 *h5, const char *name, size_t n, size_t n_cols, bool is_text,
                       struct input *in)
{
    static const struct cov_codec_choice none = {COV_CODEC_NONE, 0};
    static const size_t sizes[] = {8, 4, 2, 1};
    unsigned how = take(in);
    if (how % 16 == 15)
        return;
    bool text = how % 16 == 14 ? !is_text : is_text;
    size_t rows = how % 16 == 13 ? n + 1 : n,
           bytes = text ? 1 + take(in) % MOST_BYTES : sizes[how >> 6];
    struct cov_h5_new spec = {
        .type = {text ? COV_H5_STRING : COV_H5_INT, bytes, !text, false, '\0'},
        .rank = n_cols > 1 ? 2 : 1,
        .dims = {rows, n_cols, 1},
        .unlimited = {true},
        .chunk = {rows ? rows : 1, n_cols, 1}};
    size_t n_bytes = rows * n_cols * bytes, row = n_cols * bytes;
    uint8_t *elems = calloc(n_bytes + 1, 1);
    for (size_t i = 0; i < rows;
         i++) { /* short values, so that rows of a few bytes mean something */
        size_t k = text ? take(in) % (bytes + 1) : 0;
        for (size_t j = 0; text ? j < k : j < row; j++)
            elems[i * row + j] = text || j % bytes < 2 ? (uint8_t)take(in) : 0;
    }
    struct cov_h5_set *set;
    if (cov_h5_set_create(h5, name, &spec, &set, NULL))
        abort();
    if (rows > 0 &&
        cov_h5_set_put_elems(set, &spec, none, (size_t[3]){0, 0, 0}, elems, n_bytes, NULL))
        abort();
    cov_h5_set_close(set);
    free(elems);
}

static void check_same(const struct cov_grid *a, const struct cov_grid *b)
{
    char text[COV_ROW_TEXT_BYTES], again[COV_ROW_TEXT_BYTES];
    if (cov_grid_n_chunks(a) != cov_grid_n_chunks(b))
        abort();
    for (size_t i = 0; i < cov_grid_n_chunks(a); i++)
        if (strcmp(cov_row_text(a, i, text), cov_row_text(b, i, again)) != 0)
            abort();
}

static void write_again(const struct cov_grid *g, const char *path)
{
    static const struct cov_codec_choice fast = {COV_CODEC_LIBDEFLATE, 1};
    struct cov_h5 *h5;
    struct cov_grid *again;
    size_t n = cov_grid_n_chunks(g);
    bool keep[MOST_ROWS + 1], same;
    for (size_t i = 0; i < n; i++)
        keep[i] = cov_grid_chunk(g, i).minus;
    if (cov_h5_create(path, &h5, NULL) || cov_chunk_table_write(h5, g, 25, fast, NULL) ||
        cov_chunk_table_read(h5, n, L, &again, NULL))
        abort();
    check_same(g, again);
    if (cov_blacklist_rows_write(h5, keep, n, fast, NULL) ||
        cov_blacklist_rows_compare(h5, keep, n, &same, NULL) || !same)
        abort();
    if (n > 0) {
        keep[n - 1] = !keep[n - 1];
        if (cov_blacklist_rows_compare(h5, keep, n, &same, NULL) || same)
            abort();
    }
    cov_grid_free(again);
    if (cov_h5_finish(h5, NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};
    struct cov_h5 *h5;
    struct cov_grid *g;
    const char *path = fuzz_named_file(data, 0);
    unsigned kind = take(&in);
    size_t n_rows = take(&in) % MOST_ROWS, n_seqs = kind & 1 ? take(&in) % 8 : 0;
    bool same;
    if (cov_h5_create(path, &h5, NULL))
        abort();
    add_column(h5, "data/seqids", n_rows, 1, true, &in);
    add_column(h5, "data/species", n_rows, 1, true, &in);
    add_column(h5, "data/start_ends", n_rows, 2, false, &in);
    if (kind & 1) {
        add_column(h5, "data/seq_names", n_seqs, 1, true, &in);
        add_column(h5, "data/seq_lengths", n_seqs, 1, false, &in);
        add_column(h5, "data/seq_species", n_seqs, 1, true, &in);
    }
    bool keep[MOST_ROWS] = {false};
    if (kind & 2) {
        add_column(h5, "data/blacklist", n_rows, 1, false, &in);
        fuzz_ignore(cov_blacklist_rows_compare(h5, keep, n_rows, &same, NULL));
    }
    int rc = cov_chunk_table_read(h5, n_rows, L, &g, NULL);
    cov_h5_close(h5);
    if (!rc)
        write_again(g, path);
    cov_grid_free(g);
    return 0;
}
