/* test_chunk_file.c - files of chunks: every layout, codec and shape written and read; growing,
 * partial and wrong files; writing pair by pair.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/chunk/chunk_file.h"
#include "common/chunk/chunk_table.h"
#include "common/h5/h5.h"
#include "common/seq/alphabet.h"
#include "tests/lib/make_grid.h"
#include "tests/lib/own_dir.h"
#include "tests/lib/own_log.h"
#include "tests/lib/same_sets.h"

static const struct cov_codec_choice choices[] = {
    {COV_CODEC_NONE, 0}, {COV_CODEC_GZIP, 0}, {COV_CODEC_FAST, 0}, {COV_CODEC_LIBDEFLATE, 9},
    {COV_CODEC_LZF, 0},  {COV_CODEC_LZ4, 0},  {COV_CODEC_ZSTD, 3}, {COV_CODEC_BLOSC, 5},
};
static const struct cov_codec_choice gzip = {COV_CODEC_GZIP, 0};
static const struct cov_chunk_writer_options onehot = {COV_LAYOUT_ONEHOT, {COV_CODEC_GZIP, 0}, 0},
                                             packed = {COV_LAYOUT_PACKED, {COV_CODEC_GZIP, 0}, 0};

/* Uses every code, or only A, C, G, T and N if `plain`; then padding. */
static void codes_of(const struct cov_grid *grid, size_t i, bool plain, uint8_t *codes)
{
    static const uint8_t usual[] = {COV_CODE_A, COV_CODE_C, COV_CODE_G, COV_CODE_T, COV_CODE_N};
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t length = (size_t)(c.end - c.beg);
    for (size_t t = 0; t < cov_grid_chunk_length(grid); t++) {
        size_t v = i * 31 + t * t;
        codes[t] = (uint8_t)(t >= length ? COV_CODE_PAD : plain ? usual[v % 5] : 1 + v % 15);
    }
}

/* Returns byte j of row i of set k. Strings have no zeros, and floats are not NaN. */
static uint8_t byte_of(const struct cov_chunk_set *s, size_t k, size_t i, size_t j)
{
    return (uint8_t)(s->type.kind == COV_H5_STRING ? 'a' + (i + j) % 26
                     : j % s->type.bytes == 0      ? i * 7 + j * j + k
                     : j % s->type.bytes == 1      ? j % 3
                                                   : 0);
}

static struct cov_chunk_head full_head(size_t L, bool bases)
{
    static uint8_t minus_one[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                   text_fill[8] = {'n', 'o', 'n', 'e'};
    const struct cov_chunk_set sets[] = {
        {"data/blacklist", {COV_H5_INT, 4, true, false, '\0'}, 1, {1, 1}, NULL},
        {"data/flags", {COV_H5_INT, 2, false, false, '\0'}, 2, {3, 1}, NULL},
        {"data/half", {COV_H5_FLOAT, 2, true, false, '\0'}, 2, {L, 1}, NULL},
        {"data/note", {COV_H5_STRING, 7, false, false, '\0'}, 1, {1, 1}, text_fill},
        {"data/phase", {COV_H5_INT, 1, false, false, '\0'}, 2, {4 * L, 1}, minus_one},
        {"evaluation/a_coverage", {COV_H5_INT, 8, true, false, '\0'}, 3, {L, 2}, minus_one},
        {"evaluation/b_coverage", {COV_H5_INT, 4, true, false, '\0'}, 3, {L, 1}, minus_one},
        {"prediction/odds", {COV_H5_FLOAT, 8, true, false, '\0'}, 3, {2, 3}, NULL},
        {"prediction/predictions", {COV_H5_FLOAT, 4, true, false, '\0'}, 3, {L, 3}, NULL},
    };
    static const char *const bams[] = {"one.bam", "two.bam"};
    struct cov_chunk_head h = {.L = L, .has_bases = bases};
    for (size_t k = 0; k < COV_COUNT(sets); k++)
        assert_ok(cov_chunk_head_add_set(&h, &sets[k], &e));
    assert_ok(cov_chunk_head_add_texts(&h, "evaluation/a_meta/bam_files", 512, 2, bams, &e));
    uint8_t elems[6 * 8];
    for (size_t i = 0; i < sizeof elems; i++)
        elems[i] = (uint8_t)(i % 8 < 6 ? i : 0x40);
    const struct cov_chunk_table table = {
        "extra/deep/matrix", {COV_H5_FLOAT, 8, true, false, '\0'}, 3, {2, 3, 1}, elems,
        sizeof elems};
    assert_ok(cov_chunk_head_add_table(&h, &table, &e));
    assert_ok(cov_chunk_head_add_texts(&h, "prediction/datasets", 25, 2, bams, &e));
    assert_ok(cov_chunk_head_add_texts(&h, "prediction/model_name", 256, 1, bams, &e));
    assert_ok(cov_chunk_head_add_attr(&h, NULL, "input_path", "gr\xc3\xbc\xc3\x9f.fa", &e));
    assert_ok(cov_chunk_head_add_attr(&h, NULL, "timestamp", "long ago", &e));
    assert_ok(cov_chunk_head_add_attr(&h, "data/blacklist", "means", "0 is out", &e));
    assert_ok(cov_chunk_head_add_attr(&h, "evaluation/a_coverage", "unit", "reads", &e));
    assert_ok(cov_chunk_head_add_attr(&h, "extra/deep/matrix", "empty", "", &e));
    return h;
}

/* The rows of a group, given to the writer or filled by the reader. */
struct rows {
    uint8_t **codes;
    uint8_t ***elems;
};

static struct rows new_rows(const struct cov_chunk_head *h, size_t n)
{
    size_t bytes = h->L;
    for (size_t k = 0; k < h->n_sets; k++)
        bytes += cov_chunk_set_row_bytes(&h->sets[k]);
    uint8_t **sets = unit_alloc(n * h->n_sets * sizeof *sets);
    struct rows r = {unit_alloc(n * sizeof *r.codes), unit_alloc(n * sizeof *r.elems)};
    for (size_t i = 0; i < n; i++) {
        uint8_t *at = unit_alloc(bytes);
        r.codes[i] = at;
        at += h->L;
        r.elems[i] = sets + i * h->n_sets;
        for (size_t k = 0; k < h->n_sets; k++) {
            r.elems[i][k] = at;
            at += cov_chunk_set_row_bytes(&h->sets[k]);
        }
    }
    return r;
}

static void fill_row(const struct cov_chunk_head *h, const struct cov_grid *grid, size_t i,
                     bool plain, uint8_t *codes, uint8_t *const *elems)
{
    codes_of(grid, i, plain, codes);
    for (size_t k = 0; k < h->n_sets; k++)
        for (size_t j = 0; j < cov_chunk_set_row_bytes(&h->sets[k]); j++)
            elems[k][j] = byte_of(&h->sets[k], k, i, j);
}

static void write_file(const char *path, const struct cov_grid *grid,
                       const struct cov_chunk_head *h,
                       const struct cov_chunk_writer_options *options, bool plain, bool backwards)
{
    size_t n = cov_grid_n_chunks(grid), group = options->chunk_rows ? options->chunk_rows : 1;
    struct cov_chunk_writer *w;
    struct cov_blob blob = COV_BLOB_INIT;
    struct rows rows = new_rows(h, group);
    assert_ok(cov_chunk_writer_new(path, h, options, &w, &e));
    size_t n_groups = (n + group - 1) / group;
    for (size_t g = 0; g < n_groups; g++) {
        size_t first = group * (backwards ? n_groups - 1 - g : g);
        size_t m = n - first < group ? n - first : group;
        for (size_t r = 0; r < m; r++)
            fill_row(h, grid, first + r, plain, rows.codes[r], rows.elems[r]);
        cov_blob_clear(&blob);
        /* The pieces may start anywhere in the blob. */
        for (size_t i = 0; i < g % 3; i++) {
            uint8_t *at;
            assert_ok(cov_blob_room(&blob, 5, &at, &e));
            memset(at, 0xee, 5);
            assert_ok(cov_blob_end_piece(&blob, 5, &e));
        }
        assert_ok(cov_chunk_writer_encode(w, m, (const uint8_t *const *)rows.codes,
                                          (const uint8_t *const *const *)rows.elems, &blob, &e));
        assert_int_equal(blob.n_pieces, g % 3 + cov_chunk_writer_n_pieces(w));
        assert_ok(cov_chunk_writer_put(w, first, &blob, g % 3, &e));
    }
    cov_blob_fini(&blob);
    assert_ok(cov_chunk_writer_finish(w, grid, &e));
}

/* Compares two heads, whose sets are sorted by name, as in full_head. Ignores attributes that only
 * `got` has. */
static void check_head(const struct cov_chunk_head *got, const struct cov_chunk_head *h)
{
    check_same_sets(got, h);
    for (size_t i = 0; i < h->n_attrs; i++) {
        const struct cov_chunk_attr *b = &h->attrs[i];
        const char *text = cov_chunk_head_attr(got, b->set, b->name);
        assert_non_null(text);
        bool time = !b->set && strcmp(b->name, "timestamp") == 0;
        assert_string_equal(text, time ? "2023-11-14 22:13:20" : b->text);
    }
    assert_non_null(cov_chunk_head_attr(got, NULL, "covtools_version"));
    assert_int_equal(got->n_attrs, h->n_attrs + 1);
}

static void check_file(const char *path, const struct cov_grid *grid,
                       const struct cov_chunk_head *h, bool plain)
{
    struct cov_chunk_file *f;
    assert_ok(cov_chunk_file_open(path, &f, &e));
    check_same_grids(cov_chunk_file_grid(f), grid);
    check_head(cov_chunk_file_head(f), h);
    struct cov_blob raw = COV_BLOB_INIT;
    struct rows rows = new_rows(h, 2);
    size_t ks[16];
    assert_true(h->n_sets <= COV_COUNT(ks));
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        fill_row(h, grid, i, plain, rows.codes[0], rows.elems[0]);
        /* All sets; then every third one, in reverse order, with and without bases. */
        for (size_t step = 1; step <= 3; step += 2) {
            size_t n = 0;
            uint8_t *to[16];
            for (size_t k = h->n_sets; k-- > 0;)
                if (k % step == 0) {
                    ks[n] = k;
                    to[n++] = rows.elems[1][k];
                }
            bool bases = h->has_bases && (step == 1 || i % 2);
            cov_blob_clear(&raw);
            memset(rows.codes[1], 0xee, h->L);
            assert_ok(cov_chunk_file_fetch(f, i, (struct cov_chunk_parts){bases, ks, n}, &raw, &e));
            for (int again = 0; again < 2; again++)
                assert_ok(cov_chunk_file_decode(f, i, (struct cov_chunk_parts){bases, ks, n}, &raw,
                                                rows.codes[1], to, &e));
            if (bases)
                assert_memory_equal(rows.codes[1], rows.codes[0], h->L);
            for (size_t j = 0; j < n; j++)
                assert_memory_equal(to[j], rows.elems[0][ks[j]],
                                    cov_chunk_set_row_bytes(&h->sets[ks[j]]));
        }
    }
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);
}

TEST(test_round_trips)
{
    static const size_t lengths[] = {33, 20}, groups[] = {0, 3, 10, 16};
    for (size_t l = 0; l < COV_COUNT(lengths); l++) {
        struct cov_grid *grid = two_sequences(100, 33, lengths[l]);
        struct cov_chunk_head h = full_head(lengths[l], true);
        for (size_t c = 0; c < COV_COUNT(choices); c++)
            /* First all codecs with one group size, then all group sizes. */
            for (size_t k = 0; k < 4; k++) {
                size_t group = groups[k < 2 ? 0 : 1 + c % (COV_COUNT(groups) - 1)];
                const struct cov_chunk_writer_options options = {
                    k % 2 ? COV_LAYOUT_PACKED : COV_LAYOUT_ONEHOT, choices[c], group};
                bool plain = (c + k / 2) % 2;
                write_file("x.h5", grid, &h, &options, plain, k == 1);
                check_file("x.h5", grid, &h, plain);
            }
        cov_chunk_head_fini(&h);
        cov_grid_free(grid);
    }
}

/* Two sequences in chunks of 33, four sequences, and heads with all kinds of datasets and with bases only. */
static struct cov_grid *grid, *four;
static struct cov_chunk_head all, bases = {.L = 33, .has_bases = true};

static int enter(void **state)
{
    char *names[] = {"chr1", "short", "chr2", "exact"};
    const int64_t lengths[] = {500, 1, 333, 66};
    grid = two_sequences(100, 33, 33);
    all = full_head(33, true);
    return setenv("SOURCE_DATE_EPOCH", "1700000000", 1) || enter_dir(state) ||
           cov_chunk_head_add_attr(&bases, NULL, "timestamp", "long ago", NULL) ||
           cov_grid_new(4, names, lengths, "Zea mays", 33, &four, NULL);
}

static int leave(void **state)
{
    cov_chunk_head_fini(&all);
    cov_chunk_head_fini(&bases);
    cov_grid_free(grid);
    cov_grid_free(four);
    return leave_dir(state);
}

/* A file with bases only; reading only the bases; a file without bases. */
TEST(test_parts)
{
    struct cov_chunk_head others = full_head(33, false);
    write_file("x.h5", grid, &others, &packed, false, false);
    check_file("x.h5", grid, &others, false);
    cov_chunk_head_fini(&others);
    struct cov_chunk_file *f;
    assert_fails_with(cov_chunk_file_open_bases("x.h5", &f, &e), COV_EINPUT,
                      "x.h5: a predictions file, not a genome file");
    assert_null(f);
    for (int k = 0; k < 2; k++) {
        write_file("x.h5", grid, k ? &all : &bases, &packed, false, false);
        assert_ok(cov_chunk_file_open_bases("x.h5", &f, &e));
        check_same_grids(cov_chunk_file_grid(f), grid);
        const struct cov_chunk_head *h = cov_chunk_file_head(f);
        assert_true(h->has_bases && h->n_sets == 0 && h->n_tables == 0);
        for (size_t i = 0; i < h->n_attrs; i++)
            assert_null(h->attrs[i].set);
        assert_string_equal(cov_chunk_file_bases_name(f), "data/X_packed");
        uint8_t codes[33], expected[33];
        struct cov_blob raw = COV_BLOB_INIT;
        assert_ok(cov_chunk_file_fetch(f, 2, COV_CHUNK_BASES, &raw, &e));
        assert_ok(cov_chunk_file_decode(f, 2, COV_CHUNK_BASES, &raw, codes, NULL, &e));
        codes_of(grid, 2, false, expected);
        assert_memory_equal(codes, expected, 33);
        cov_blob_fini(&raw);
        cov_chunk_file_close(f);
    }
    cov_chunk_file_close(NULL);
    cov_chunk_writer_abort(NULL);
}

TEST(test_storage)
{
    static const struct {
        struct cov_codec_choice choice;
        const char *filters;
    } cases[] = {
        {{COV_CODEC_NONE, 0}, ""},
        {{COV_CODEC_GZIP, 0}, "shuffle, gzip 4"},
        {{COV_CODEC_LZF, 0}, "shuffle, lzf"},
        {{COV_CODEC_LZ4, 0}, "shuffle, lz4"},
        {{COV_CODEC_ZSTD, 3}, "shuffle, zstd 3"},
        {{COV_CODEC_BLOSC, 3}, "blosc 3"},
    };
    for (size_t c = 0; c < COV_COUNT(cases); c++) {
        const struct cov_chunk_writer_options options = {COV_LAYOUT_ONEHOT, cases[c].choice, 0};
        write_file("x.h5", grid, &all, &options, true, false);
        struct cov_chunk_file *f;
        struct cov_h5_storage s;
        assert_ok(cov_chunk_file_open("x.h5", &f, &e));
        assert_string_equal(cov_chunk_file_bases_name(f), "data/X");
        assert_ok(cov_chunk_file_storage(f, "data/X", &s, &e));
        assert_string_equal(s.filters, cases[c].filters);
        assert_int_equal(s.rank, 3);
        assert_int_equal(s.type.kind, COV_H5_FLOAT);
        assert_true(s.chunked && s.chunk[0] == 1 && s.chunk[1] == 33 && s.chunk[2] == 4);
        assert_true(s.dims[0] == cov_grid_n_chunks(grid) && s.dims[1] == 33 && s.dims[2] == 4);
        assert_true(s.stored_bytes > 0);
        if (cases[c].choice.id == COV_CODEC_NONE)
            assert_int_equal(s.stored_bytes, cov_grid_n_chunks(grid) * 33 * 8);
        assert_ok(cov_chunk_file_storage(f, "evaluation/a_coverage", &s, &e));
        assert_string_equal(s.filters, cases[c].filters);
        assert_true(s.chunk[0] == 1 && s.chunk[1] == 33 && s.chunk[2] == 1 && s.dims[2] == 2);
        assert_ok(cov_chunk_file_storage(f, "data/blacklist", &s, &e));
        assert_true(s.rank == 1 && s.chunk[0] == cov_grid_n_chunks(grid));
        assert_ok(cov_chunk_file_storage(f, "data/none", &s, &e));
        assert_int_equal(s.rank, 0);
        cov_chunk_file_close(f);
    }
}

/* Selects the first n of the rows 1, 2 and 5. The first two are on the + strand, the last on the -
 * strand. */
static struct cov_grid *partial_grid(size_t n)
{
    static const size_t rows[] = {1, 2, 5};
    struct cov_grid *some;
    assert_ok(cov_grid_select(grid, rows, n, &some, &e));
    assert_true(cov_grid_is_partial(some));
    return some;
}

TEST(test_partial)
{
    for (size_t n = 0; n <= 3; n += 3)
        for (size_t k = 0; k < 8; k++) {
            struct cov_grid *some = partial_grid(n);
            struct cov_chunk_head h = full_head(33, k & 4);
            const struct cov_chunk_writer_options options = {
                k & 1 ? COV_LAYOUT_PACKED : COV_LAYOUT_ONEHOT, gzip, 1 + (k >> 1 & 1)};
            write_file("x.h5", some, &h, &options, false, false);
            check_file("x.h5", some, &h, false);
            struct cov_h5 *f;
            struct cov_h5_attr *attrs;
            size_t n_attrs, n_found = 0;
            assert_ok(cov_h5_open("x.h5", &f, &e));
            assert_ok(cov_h5_list_attrs(f, NULL, &attrs, &n_attrs, &e));
            for (size_t i = 0; i < n_attrs; i++)
                n_found +=
                    strcmp(attrs[i].name, "partial") == 0 && attrs[i].is_int && attrs[i].value == 1;
            assert_int_equal(n_found, 1);
            cov_h5_free_attrs(attrs, n_attrs);
            cov_h5_close(f);
            cov_chunk_head_fini(&h);
            cov_grid_free(some);
        }
}

/* More rows than fit in one stored chunk, even though the rows are small. */
TEST(test_many_rows)
{
    struct cov_grid *many = many_contigs(20, 20);
    struct cov_chunk_head h = full_head(20, true);
    const struct cov_chunk_writer_options options = {COV_LAYOUT_PACKED, gzip, 1000};
    write_file("x.h5", many, &h, &options, true, false);
    check_file("x.h5", many, &h, true);
    cov_chunk_head_fini(&h);
    cov_grid_free(many);
}

TEST(test_long_names)
{
    char fifty[51], longer[71], species[27], expected[600];
    memset(fifty, 'f', 50);
    memset(longer, 'l', 70);
    memset(species, 's', 26);
    fifty[50] = longer[70] = species[26] = '\0';
    char *names[] = {fifty, longer, "short"};
    const int64_t lengths[] = {10, 50, 33};
    struct cov_grid *g;
    assert_ok(cov_grid_new(3, names, lengths, species, 33, &g, &e));
    start_log(COV_LOG_WARNING);
    write_file("x.h5", g, &bases, &onehot, true, false);
    (void)snprintf(
        expected, sizeof expected,
        "data/seqids: 1 of 3 names are longer than the usual 50 bytes (such as %s); the "
        "dataset stores 70 bytes per name\n"
        "data/species: 3 of 3 names are longer than the usual 25 bytes (such as %s); the "
        "dataset stores 26 bytes per name\n",
        longer, species);
    assert_string_equal(logged.all, expected);
    check_file("x.h5", g, &bases, true);
    cov_grid_free(g);
}

/* ---- invalid use and invalid files ---- */

TEST(test_wrong_use)
{
    struct cov_chunk_head h = bases;
    struct cov_chunk_writer_options options = onehot;
    struct cov_grid *other = two_sequences(100, 33, 32);
    struct cov_chunk_writer *w;
    for (int k = 0; k < 2; k++) {
        assert_ok(cov_chunk_writer_new("x.h5", &h, &options, &w, &e));
        assert_fails_with(cov_chunk_writer_finish(w, k ? other : grid, &e), COV_EUSAGE,
                          k ? "chunks of 32 bases in a file of chunks of 33"
                            : "0 stored chunks of 1 rows, but the grid has 10 rows");
    }
    h.L = (size_t)1 << 27;
    options.chunk_rows = 2;
    assert_int_equal(cov_chunk_writer_new("x.h5", &h, &options, &w, NULL), COV_EINPUT);
    assert_null(w);
    h.L = 33;
    options.chunk_rows = SIZE_MAX / 4;
    assert_int_equal(cov_chunk_writer_new("x.h5", &h, &options, &w, NULL), COV_EINPUT);
    options.chunk_rows = 0;
    assert_int_equal(cov_chunk_writer_new("no/such/x.h5", &h, &options, &w, NULL), COV_EIO);
    static const char *const bad[] = {"x", "1x", "-1", "99999999999999999999"};
    for (size_t k = 0; k < COV_COUNT(bad); k++) {
        assert_int_equal(setenv("SOURCE_DATE_EPOCH", bad[k], 1), 0);
        assert_fails(cov_chunk_writer_new("x.h5", &h, &options, &w, &e), COV_EUSAGE, bad[k]);
    }
    assert_int_equal(setenv("SOURCE_DATE_EPOCH", "1700000000", 1), 0);
    cov_grid_free(other);
}

/* A file with the columns of `grid` and one more dataset. */
static void write_odd(const char *name, int rank, struct cov_h5_type type, size_t rows,
                      size_t positions, int64_t length)
{
    struct cov_h5 *f;
    struct cov_h5_set *s;
    const struct cov_h5_new spec = {
        .type = type,
        .rank = rank,
        .dims = {rows, positions, 1},
        .unlimited = {true, false, false},
        .chunk = {1, positions, 1},
    };
    assert_ok(cov_h5_create("x.h5", &f, &e));
    assert_ok(cov_chunk_table_write(f, grid, 25, gzip, &e));
    assert_ok(cov_h5_set_create(f, name, &spec, &s, &e));
    cov_h5_set_close(s);
    if (length)
        assert_ok(cov_h5_write_attr_int(f, name, "subsequence_length", length, &e));
    assert_ok(cov_h5_finish(f, &e));
}

static void refuse(const char *text)
{
    struct cov_chunk_file *f;
    assert_fails_in(cov_chunk_file_open("x.h5", &f, &e), COV_EINPUT, "x.h5: ", text);
    assert_null(f);
}

TEST(test_wrong_files)
{
    const struct cov_h5_type byte = {COV_H5_INT, 1, false, false, '\0'},
                             word = {COV_H5_INT, 2, true, false, '\0'};
    size_t n = cov_grid_n_chunks(grid);
    struct cov_chunk_file *f;
    write_odd("data/X_packed", 2, byte, n, 17, 33);
    assert_ok(cov_chunk_file_open("x.h5", &f, &e));
    cov_chunk_file_close(f);
    write_odd("data/X_packed", 2, byte, n, 17, 34);
    assert_ok(cov_chunk_file_open("x.h5", &f, &e));
    /* Missing rows are read as padding, which is an error where the grid has bases. */
    struct cov_blob raw = COV_BLOB_INIT;
    uint8_t codes[34];
    assert_ok(cov_chunk_file_fetch(f, 0, COV_CHUNK_BASES, &raw, &e));
    assert_fails_with(cov_chunk_file_decode(f, 0, COV_CHUNK_BASES, &raw, codes, NULL, &e),
                      COV_EINPUT,
                      "x.h5: data/X_packed: row 0 (chr1:1-33, + strand), index 0: "
                      "padding, but data/start_ends has a base there");
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);
    static const int64_t lengths[] = {0, 32, 35, -33, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < COV_COUNT(lengths); k++) {
        write_odd("data/X_packed", 2, byte, n, 17, lengths[k]);
        refuse("subsequence_length");
    }
    write_odd("data/X_packed", 2, word, n, 17, 33);
    refuse("the elements are not bytes");
    write_odd("data/X_packed", 1, byte, n, 1, 33);
    refuse("dimensions");
    write_odd("data/X_packed", 2, byte, n - 1, 17, 33);
    refuse("instead of 9 x 1");
    write_odd("data/blacklist", 1, word, n - 1, 1, 0);
    refuse("data/blacklist: 9 rows, but there are 10 chunks");
    write_odd("evaluation/a_coverage", 2, word, n + 1, 33, 0);
    refuse("evaluation/a_coverage: 11 rows, but there are 10 chunks");
    write_odd("evaluation/a_coverage", 2, word, n, 32, 0);
    refuse("row 0");
    write_odd("data/blacklist", 1, word, n, 1, 0);
    refuse("no chunks");
    write_odd("extra/huge", 2, word, n, (size_t)1 << 28, 0);
    refuse("extra/huge: more than 256 MiB of tables");
    /* The lists of a predictions file are tables, however many rows they have. */
    write_odd("prediction/datasets", 1, word, n, 1, 0);
    refuse("no chunks");
}

/* ---- pair by pair: the same files as with a grid that is known before ---- */

static void write_pairs(const char *path, const struct cov_grid *g, size_t memory, bool partial)
{
    struct cov_chunk_writer *w;
    struct cov_pair_writer *p;
    struct cov_blob blobs[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    struct rows row = new_rows(&all, 1);
    assert_ok(cov_chunk_writer_new(path, &all, &onehot, &w, &e));
    assert_ok(cov_pair_writer_new(w, all.L, ".", memory, partial, &p, &e));
    for (size_t s = 0; s < cov_grid_n_seqs(g); s++) {
        size_t beg, end;
        cov_grid_seq_pairs(g, s, &beg, &end);
        assert_ok(cov_pair_writer_begin(p, cov_grid_species(g, s), cov_grid_name(g, s), &e));
        for (size_t k = beg; k < end; k++) {
            struct cov_pair pair = cov_grid_pair(g, k);
            const struct cov_blob *stored[2] = {NULL, NULL};
            for (int strand = 0; strand < 2; strand++)
                if (pair.rows[strand] != COV_NO_ROW) {
                    fill_row(&all, g, pair.rows[strand], false, row.codes[0], row.elems[0]);
                    cov_blob_clear(&blobs[strand]);
                    assert_ok(cov_chunk_writer_encode(w, 1, (const uint8_t *const *)row.codes,
                                                      (const uint8_t *const *const *)row.elems,
                                                      &blobs[strand], &e));
                    stored[strand] = &blobs[strand];
                }
            assert_ok(cov_pair_writer_put(p, pair.beg, pair.end, stored[0], stored[1], &e));
        }
        assert_ok(cov_pair_writer_end(p, cov_grid_seq_length(g, s), &e));
    }
    for (int strand = 0; strand < 2; strand++)
        cov_blob_fini(&blobs[strand]);
    assert_ok(cov_pair_writer_finish(p, &e));
}

/* Depending on the memory, all, some or none of the waiting chunks are in the temporary file. */
TEST(test_pairs)
{
    static const size_t memory[] = {0, 2000, 20000, COV_PAIR_WRITER_MEMORY, SIZE_MAX};
    write_file("x.h5", four, &all, &onehot, false, false);
    for (size_t k = 0; k < 2 * COV_COUNT(memory); k++) {
        write_pairs("y.h5", four, memory[k / 2], k % 2);
        check_same_files("x.h5", "y.h5");
    }
    check_file("y.h5", four, &all, false);
}

TEST(test_pairs_of_partial_files)
{
    static const struct {
        size_t n, rows[8];
    } cases[] = {
        {8, {1, 2, 7, 16, 24, 31, 34, 36}}, /* single strands, gaps, a sequence without chunks */
        {1, {33}},
        {0, {0}},
    };
    for (size_t k = 0; k < COV_COUNT(cases); k++) {
        struct cov_grid *some;
        assert_ok(cov_grid_select(four, cases[k].rows, cases[k].n, &some, &e));
        assert_true(cov_grid_is_partial(some));
        write_file("x.h5", some, &all, &onehot, false, false);
        write_pairs("y.h5", some, 1000 * k, true);
        check_same_files("x.h5", "y.h5");
        check_file("y.h5", some, &all, false);
        cov_grid_free(some);
    }
}

TEST(test_pairs_without_temporary_file)
{
    const uint8_t codes[33] = {1}, *row = codes;
    struct cov_chunk_writer *w;
    struct cov_pair_writer *p;
    struct cov_blob blob = COV_BLOB_INIT;
    assert_ok(cov_chunk_writer_new("x.h5", &bases, &onehot, &w, &e));
    assert_ok(cov_chunk_writer_encode(w, 1, &row, NULL, &blob, &e));
    assert_ok(cov_pair_writer_new(w, 33, "no/such", 0, false, &p, &e));
    assert_ok(cov_pair_writer_begin(p, "", "chr1", &e));
    assert_int_equal(cov_pair_writer_put(p, 0, 33, &blob, &blob, NULL), COV_EIO);
    cov_pair_writer_abort(p);
    cov_pair_writer_abort(NULL);
    cov_blob_fini(&blob);
}

TEST_GROUP(enter, leave)
