/* fuzz_coverage.c - measured coverage: any bytes as a piece; what is encoded comes back, from a blob and from a file,
 * unless the file has datasets of another shape or type.
 * Target: common/chunk/coverage_file.c
 * SPDX-License-Identifier: MIT */
#include "common/chunk/coverage_file.h"

#include "common/chunk/chunk_table.h"
#include "common/h5/h5.h"
#include "common/seq/alphabet.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD = 4, PIECE_HEAD = 4, MAX_L = 60, MAX_COLUMNS = 3, ROWS = 2 };

static void check_blob(struct cov_coverage_row row, const uint8_t *data, size_t n, int64_t *values)
{
    int64_t back[MAX_L];
    int32_t depth[MAX_L];
    struct cov_blob b = COV_BLOB_INIT;
    uint8_t *to;
    if (cov_blob_room(&b, n, &to, NULL))
        abort();
    memcpy(to, data, n);
    if (cov_blob_end_piece(&b, n, NULL))
        abort();
    fuzz_ignore(cov_coverage_decode_piece(row, &b, 0, back, NULL));
    for (size_t i = 0; i < row.n; i++) {
        values[i] =
            (int64_t)((uint64_t)data[i % n] << (data[(i + 1) % n] % (8 * row.elem_bytes - 6)));
        depth[i] = data[i % n];
    }
    cov_blob_clear(&b);
    int rc = cov_coverage_encode(row, values, &b, NULL);
    if (!rc && (cov_coverage_decode_piece(row, &b, 0, back, NULL) ||
                memcmp(values, back, row.n * sizeof *back) != 0))
        abort();
    bool minus = data[0] & 1;
    const struct cov_depth_lane lane = {depth, 255};
    cov_blob_clear(&b);
    if (cov_coverage_encode_depth(row, &lane, minus, &b, NULL) ||
        cov_coverage_decode_piece(row, &b, 0, back, NULL))
        abort();
    for (size_t i = 0; i < row.n; i++)
        if (back[i] != depth[minus ? row.n - 1 - i : i])
            abort();
    cov_blob_fini(&b);
}

/* Replaces a dataset by one of another shape or type, as the bits of `how` say. */
static void spoil(const char *path, unsigned how, const struct cov_coverage_options *o)
{
    static const struct cov_codec_choice none = {COV_CODEC_NONE, 0};
    static const char *const names[] = {"evaluation/x_coverage", "evaluation/x_spliced_coverage",
                                        "evaluation/x_meta/bam_files"};
    const char *name = names[how % 3];
    bool text = how & 4;
    struct cov_h5 *h5;
    struct cov_h5_set *set;
    struct cov_h5_new spec = {.type = {text ? COV_H5_STRING : COV_H5_INT, 4, !text, false, '\0'},
                              .rank = how % 3 == 2 ? 1 : 3,
                              .dims = {how % 3 == 2 ? o->n_columns + (how >> 3 & 1) : o->n_rows,
                                       o->L + (how >> 4 & 1), o->n_columns + (how >> 5 & 1)},
                              .unlimited = {true},
                              .chunk = {1, o->L, 1}};
    spec.n_filters = cov_h5_filters(none, 0, spec.filters);
    if (cov_h5_open_to_change(path, &h5, NULL) || cov_h5_remove(h5, name, NULL))
        abort();
    if (!(how & 64)) { /* otherwise it is missing */
        if (cov_h5_set_create(h5, name, &spec, &set, NULL))
            abort();
        cov_h5_set_close(set);
    }
    if (cov_h5_finish(h5, NULL))
        abort();
}

static void check_reader(const char *path, const struct cov_coverage_options *o,
                         const int64_t *values, bool spoilt)
{
    struct cov_coverage_reader *r;
    int64_t back[MAX_L];
    struct cov_blob raw = COV_BLOB_INIT;
    if (cov_coverage_reader_open(path, o->prefix, &r, NULL)) {
        if (!spoilt)
            abort();
        return;
    }
    for (size_t i = 0; i < ROWS && r->n_columns > 0; i++) {
        cov_blob_clear(&raw);
        int rc = cov_coverage_fetch(r, i, &raw, NULL);
        for (size_t c = 0; c < r->n_columns && !rc; c++)
            for (int which = COV_COVERAGE; which <= COV_SPLICED && !rc; which++) {
                const struct cov_coverage_column column = {i, which, c};
                rc = cov_coverage_decode(r, &column, &raw, o->L, back, NULL);
                if (!spoilt && (rc || memcmp(back, values, o->L * sizeof *back) != 0 ||
                                strcmp(r->files[c], o->files[c]) != 0))
                    abort();
            }
    }
    cov_blob_fini(&raw);
    cov_coverage_reader_close(r);
}

/* Writes a genome file with ROWS chunks of L bases. */
static void make_genome(const char *path, size_t L)
{
    static char name[] = "a";
    char *const names[] = {name};
    uint8_t bases[MAX_L];
    const struct cov_chunk_head head = {.L = L, .has_bases = true};
    const struct cov_chunk_writer_options options = {.layout = COV_LAYOUT_PACKED};
    const uint8_t *codes[] = {bases};
    struct cov_blob blob = COV_BLOB_INIT;
    struct cov_chunk_writer *w;
    struct cov_grid *grid;
    memset(bases, COV_CODE_N, sizeof bases);
    if (cov_grid_new(1, names, (const int64_t[]){(int64_t)L}, "", L, &grid, NULL) ||
        cov_chunk_writer_new(path, &head, &options, &w, NULL) ||
        cov_chunk_writer_encode(w, 1, codes, NULL, &blob, NULL))
        abort();
    for (size_t i = 0; i < ROWS; i++)
        if (cov_chunk_writer_put(w, i, &blob, 0, NULL))
            abort();
    if (cov_chunk_writer_finish(w, grid, NULL))
        abort();
    cov_blob_fini(&blob);
    cov_grid_free(grid);
}

static void check_file(struct cov_coverage_row row, size_t n_columns, const int64_t *values,
                       unsigned how)
{
    static const char *const files[] = {"a.bam", "b", "c.cram"}, *const settings[] = {"1", "", "3"};
    const struct cov_coverage_options o = {"x",   ROWS,     row.L,         n_columns,
                                           files, settings, row.elem_bytes};
    struct cov_coverage_writer *w;
    struct cov_blob blob = COV_BLOB_INIT;
    const char *path = fuzz_named_file((const uint8_t *)"", 0);
    for (size_t i = 0; i < COV_COVERAGE_SETS * n_columns; i++)
        if (cov_coverage_encode(row, values, &blob, NULL)) {
            cov_blob_fini(&blob);
            return;
        }
    make_genome(path, o.L);
    for (int times = 0; times < 2; times++) { /* the second time, it replaces its datasets */
        if (cov_coverage_writer_new(path, &o, &w, NULL))
            abort();
        for (size_t i = 0; i < ROWS; i++)
            if (cov_coverage_put(w, i, &blob, NULL))
                abort();
        if (times == 0)
            cov_coverage_writer_abort(w);
        else if (cov_coverage_writer_close(w, NULL))
            abort();
    }
    cov_blob_fini(&blob);
    if (how & 128)
        spoil(path, how & 127, &o);
    check_reader(path, &o, values, how & 128);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    int64_t values[MAX_L];
    if (n < HEAD + PIECE_HEAD) /* pieces have a mask, or nothing */
        return 0;
    size_t L = 1 + data[1] % MAX_L;
    struct cov_coverage_row row = {1 + data[3] % L, L, (size_t)2 << data[0] % 3};
    check_blob(row, data + HEAD, n - HEAD, values);
    row.n = L;
    if (data[0] / 3 % 4 == 0) { /* files take more time */
        for (size_t i = 0; i < L; i++)
            values[i] = data[i % n];
        check_file(row, 1 + data[3] % MAX_COLUMNS, values, data[2]);
    }
    return 0;
}
