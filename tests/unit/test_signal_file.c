/* test_signal_file.c - writing and reading predictions, reading measured coverage, and refusing
 * values that do not fit.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/chunk/chunk_table.h"
#include "common/chunk/predictions.h"
#include "common/h5/h5.h"
#include "common/signal/signal_file.h"
#include "tests/lib/make_grid.h"
#include "tests/lib/own_dir.h"
#include "tests/lib/own_log.h"
#include "tests/lib/predictions_writer.h"

enum { L = 21, D = 3, N_ROWS = 8 };

static const char path[] = "x.h5";
static struct cov_grid *grid; /* of N_ROWS chunks of L bases */

static const struct cov_codec_choice none = {COV_CODEC_NONE, 0}, gzip = {COV_CODEC_GZIP, 0},
                                     lzf = {COV_CODEC_LZF, 0};

static size_t length_of(size_t i)
{
    struct cov_chunk c = cov_grid_chunk(grid, i);
    return (size_t)(c.end - c.beg);
}

static float value_of(size_t i, size_t t, size_t d)
{
    return t < length_of(i) ? (float)((i * 977 + t * 31 + d * 5) % 30000) : COV_SIGNAL_PAD;
}

static const char *const datasets[D] = {"atacseq", "h3k4me3", "moa seq"};

static struct cov_predictions_options options_of(const char *const *names, size_t n,
                                                 enum cov_predictions_type type,
                                                 struct cov_codec_choice compression)
{
    return (struct cov_predictions_options){.model_name = "model.ckpt",
                                            .datasets = names,
                                            .n_datasets = n,
                                            .type = type,
                                            .compression = compression};
}

/* Fetches and decodes n parts of row i. */
static int read_row(struct cov_signal *f, size_t i, const size_t *parts, size_t n, float *values,
                    struct cov_err *e)
{
    struct cov_blob raw = COV_BLOB_INIT;
    assert_int_equal(cov_signal_fetch(f, i, parts, n, &raw, NULL), 0);
    int rc = cov_signal_decode_row(f, i, parts, n, &raw, values, e);
    cov_blob_fini(&raw);
    return rc;
}

/* Writes predictions. If they are floats, 0.5 is added to all values except padding. */
static void write_predictions(enum cov_predictions_type type, struct cov_codec_choice compression)
{
    const bool half = type == COV_PREDICTIONS_FLOAT32;
    const struct cov_predictions_options options = options_of(datasets, D, type, compression);
    struct predictions_writer w;
    assert_ok(predictions_open(&w, path, grid, &options, &e));
    for (size_t i = 0; i < N_ROWS; i++) {
        float values[L][D];
        for (size_t t = 0; t < L; t++)
            for (size_t d = 0; d < D; d++) {
                values[t][d] = value_of(i, t, d);
                if (half && values[t][d] >= 0)
                    values[t][d] += 0.5F;
            }
        assert_ok(predictions_put(&w, i, values[0], &e));
    }
    assert_ok(predictions_close(&w, &e));
}

static void check_predictions(bool is_float)
{
    static const size_t orders[][D] = {{0, 1, 2}, {2, 0}, {1}};
    static const size_t n_orders[] = {3, 2, 1};
    struct cov_signal *f;
    assert_ok(cov_signal_open(path, NULL, COV_SIGNAL_PREDICTED, &f, &e));
    assert_int_equal(f->n_parts, D);
    for (size_t d = 0; d < D; d++) {
        assert_string_equal(f->parts[d].name, datasets[d]);
        assert_int_equal(cov_signal_is_float(f, d), is_float);
    }
    assert_int_equal(cov_grid_n_chunks(f->grid), N_ROWS);
    assert_string_equal(cov_grid_species(f->grid, 1), "Zea mays");
    for (size_t i = 0; i < N_ROWS; i++)
        for (size_t o = 0; o < COV_COUNT(orders); o++) {
            float values[D][L];
            assert_ok(read_row(f, i, orders[o], n_orders[o], values[0], &e));
            for (size_t k = 0; k < n_orders[o]; k++)
                for (size_t t = 0; t < L; t++) {
                    float v = value_of(i, t, orders[o][k]);
                    assert_true(values[k][t] == (is_float && v >= 0 ? v + 0.5F : v));
                }
        }
    cov_signal_close(f);
}

TEST(test_round_trips)
{
    const struct cov_codec_choice choices[] = {none, gzip, lzf, {COV_CODEC_LIBDEFLATE, 9}};
    static const enum cov_predictions_type types[] = {COV_PREDICTIONS_INT16, COV_PREDICTIONS_INT32,
                                                      COV_PREDICTIONS_INT64,
                                                      COV_PREDICTIONS_FLOAT32};
    for (size_t c = 0; c < COV_COUNT(choices); c++)
        for (size_t k = 0; k < COV_COUNT(types); k++) {
            write_predictions(types[k], choices[c]);
            check_predictions(types[k] == COV_PREDICTIONS_FLOAT32);
        }
}

/* At base 3 of a chunk, the first dataset has a value at the limits of each type. */
TEST(test_limits)
{
    static const struct {
        enum cov_predictions_type type;
        float value;
        const char *name; /* NULL if the value fits */
    } cases[] = {
        {COV_PREDICTIONS_INT16, 32767, NULL},
        {COV_PREDICTIONS_INT16, 32768, "int16"},
        {COV_PREDICTIONS_INT16, -32768, NULL},
        {COV_PREDICTIONS_INT16, -32769, "int16"},
        {COV_PREDICTIONS_INT32, 2147483520, NULL},
        {COV_PREDICTIONS_INT32, 2147483648, "int32"},
        {COV_PREDICTIONS_INT64, 9.2e18F, NULL},
        {COV_PREDICTIONS_INT64, 0x1p63F, "int64"},
        {COV_PREDICTIONS_INT32, NAN, "int32"},
        {COV_PREDICTIONS_INT64, INFINITY, "int64"},
        {COV_PREDICTIONS_FLOAT32, 3e38F, NULL},
        {COV_PREDICTIONS_FLOAT32, NAN, "float32"},
        {COV_PREDICTIONS_FLOAT32, INFINITY, "float32"},
    };
    for (size_t k = 0; k < COV_COUNT(cases); k++) {
        const struct cov_predictions_options options = options_of(datasets, D, cases[k].type, gzip);
        struct predictions_writer w;
        float values[L][D] = {{0}};
        char text[200];
        values[3][1] = cases[k].value;
        (void)snprintf(text, sizeof text,
                       "chr1:39, - strand: the value %g does not fit the output type %s",
                       (double)cases[k].value, cases[k].name ? cases[k].name : "");
        assert_ok(predictions_open(&w, path, grid, &options, &e));
        /* Row 4 is [42, 21) of the - strand; its base 3 is position 39. */
        if (cases[k].name)
            assert_fails_with(predictions_put(&w, 4, values[0], &e), COV_EINPUT, text);
        else
            assert_ok(predictions_put(&w, 4, values[0], &e));
        predictions_abort(&w);
    }
}

/* Writes all rows of D datasets. All values are -1. */
static void put_unknown(struct predictions_writer *w, size_t n)
{
    float values[L * D];
    for (size_t t = 0; t < L * n; t++)
        values[t] = COV_SIGNAL_PAD;
    for (size_t i = 0; i < N_ROWS; i++)
        assert_ok(predictions_put(w, i, values, &e));
}

TEST(test_long_names)
{
    char model[301], name[31];
    memset(model, 'm', 300);
    memset(name, 'n', 30);
    model[300] = name[30] = '\0';
    const char *names[] = {"short", name};
    struct cov_predictions_options options = options_of(names, 2, COV_PREDICTIONS_INT16, none);
    options.model_name = model;
    struct predictions_writer w;
    start_log(COV_LOG_WARNING);
    assert_ok(predictions_open(&w, path, grid, &options, &e));
    cov_log_set(NULL, NULL, COV_LOG_WARNING);
    put_unknown(&w, 2);
    assert_ok(predictions_close(&w, &e));
    assert_contains(logged.all,
                    "prediction/model_name: 1 of 1 names are longer than the usual 256 bytes");
    assert_contains(logged.all,
                    "prediction/datasets: 1 of 2 names are longer than the usual 25 bytes");
    struct cov_signal *f;
    assert_ok(cov_signal_open(path, NULL, COV_SIGNAL_PREDICTED, &f, &e));
    assert_string_equal(f->parts[0].name, "short");
    assert_string_equal(f->parts[1].name, name);
    /* -1 at a base is not a valid prediction. */
    float values[L];
    char text[200];
    (void)snprintf(text, sizeof text,
                   "x.h5: %s: row 2 (chr1:43-50, + strand), index 0: -1 is not a valid coverage",
                   name);
    assert_fails_with(read_row(f, 2, (size_t[1]){1}, 1, values, &e), COV_EINPUT, text);
    cov_signal_close(f);
}

/* ---- measured coverage ---- */

struct column_set {
    const char *name;
    size_t n_cols;
    struct cov_h5_type type;
    size_t chunk[3];
};

static int64_t count_of(size_t row, size_t pos, size_t col)
{
    return (int64_t)((row * 7 + pos * 3 + col * col) % 101);
}

static void put_number(const struct cov_h5_type *type, int64_t x, uint8_t *dst)
{
    if (type->kind == COV_H5_FLOAT) {
        float v = (float)x;
        memcpy(dst, &v, 4);
        return;
    }
    for (size_t j = 0; j < type->bytes; j++)
        dst[j] = (uint8_t)((uint64_t)x >> 8 * j);
}

/* Writes a file of measured coverage. Unless `bad` is 0, the element at (bad_row, bad_pos) of every
 * dataset is `bad`. */
static void write_measured(const struct column_set *sets, size_t n_sets, size_t n_rows, int64_t bad)
{
    struct cov_h5 *f;
    assert_ok(cov_h5_create(path, &f, &e));
    assert_ok(cov_chunk_table_write(f, grid, 25, gzip, &e));
    for (size_t k = 0; k < n_sets; k++) {
        const struct column_set *c = &sets[k];
        struct cov_h5_set *s;
        struct cov_h5_new spec = {
            .type = c->type,
            .rank = 3,
            .dims = {n_rows, L, c->n_cols},
            .unlimited = {true, false, true},
            .chunk = {c->chunk[0], c->chunk[1], c->chunk[2]},
            .fill = -1,
        };
        size_t size = c->type.bytes, n = c->chunk[0] * c->chunk[1] * c->chunk[2] * size;
        spec.n_filters = cov_h5_filters(lzf, size, spec.filters);
        uint8_t *plain = unit_alloc(n);
        assert_ok(cov_h5_set_create(f, c->name, &spec, &s, &e));
        for (size_t row = 0; row < n_rows; row += c->chunk[0])
            for (size_t pos = 0; pos < L; pos += c->chunk[1])
                for (size_t col = 0; col < c->n_cols; col += c->chunk[2]) {
                    uint8_t *to = plain;
                    for (size_t i = row; i < row + c->chunk[0]; i++)
                        for (size_t t = pos; t < pos + c->chunk[1]; t++)
                            for (size_t j = col; j < col + c->chunk[2]; j++, to += size)
                                put_number(&c->type,
                                           bad && i == 1 && t == 5 ? bad : count_of(i, t, j), to);
                    assert_ok(cov_h5_set_put_elems(s, &spec, lzf, (size_t[3]){row, pos, col}, plain,
                                                   n, &e));
                }
        cov_h5_set_close(s);
    }
    assert_ok(cov_h5_finish(f, &e));
}

static const struct cov_h5_type int64 = {COV_H5_INT, 8, true, false, '\0'},
                                int32 = {COV_H5_INT, 4, true, false, '\0'},
                                float32 = {COV_H5_FLOAT, 4, true, false, '\0'};

TEST(test_measured)
{
    const struct column_set sets[] = {
        {"evaluation/h3k4me3_coverage", 4, int32, {3, 8, 1}},
        {"evaluation/atacseq_coverage", 2, int64, {1, L, 1}},
        {"evaluation/atacseq_spliced_coverage", 2, int64, {1, L, 1}},
        {"evaluation/_coverage", 1, int64, {1, L, 1}},
        {"evaluation/moaseq_coverage", 700, float32, {20, L, 700}},
        {"evaluation/atacseq_meta/bam_coverage", 1, int64, {1, L, 1}},
    };
    static const char *const names[] = {"atacseq", "h3k4me3", "moaseq"};
    static const size_t n_cols[] = {2, 4, 700}, ks[] = {2, 0, 1};
    write_measured(sets, COV_COUNT(sets), N_ROWS, 0);
    struct cov_signal *f;
    assert_ok(cov_signal_open(path, NULL, COV_SIGNAL_MEASURED, &f, &e));
    assert_int_equal(f->n_parts, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(f->parts[k].name, names[k]);
        assert_int_equal(cov_signal_is_float(f, k), k == 2);
    }
    for (size_t i = 0; i < N_ROWS; i++) {
        float values[3][L];
        assert_ok(read_row(f, i, ks, 3, values[0], &e));
        for (size_t k = 0; k < 3; k++)
            for (size_t t = 0; t < L; t++) {
                double sum = 0;
                for (size_t j = 0; j < n_cols[ks[k]]; j++)
                    sum += (double)count_of(i, t, j);
                float mean = (float)(sum / (double)n_cols[ks[k]]);
                assert_true(values[k][t] == (t < length_of(i) ? mean : COV_SIGNAL_PAD));
            }
    }
    assert_ok(cov_signal_split(f, 1, &e));
    assert_int_equal(f->n_parts, 3 + n_cols[1]);
    assert_string_equal(f->parts[3].name, "h3k4me3_1");
    for (size_t i = 0; i < N_ROWS; i++) {
        static const size_t columns[] = {6, 3, 5, 4};
        float values[4][L];
        assert_ok(read_row(f, i, columns, 4, values[0], &e));
        for (size_t k = 0; k < 4; k++)
            for (size_t t = 0; t < length_of(i); t++)
                assert_true(values[k][t] == (float)count_of(i, t, columns[k] - 3));
    }
    cov_signal_close(f);
}

static void refuse(enum cov_signal_kind kind, const char *text)
{
    struct cov_signal *f;
    assert_fails_with(cov_signal_open(path, NULL, kind, &f, &e), COV_EINPUT, text);
    assert_null(f);
}

TEST(test_refused)
{
    const struct column_set a = {"evaluation/a_coverage", 1, int32, {1, L, 1}};
    const struct column_set x = {"data/X", 4, int32, {1, L, 4}};
    const struct column_set p = {"prediction/predictions", 2, int32, {1, L, 1}};
    write_measured((struct column_set[]){a, x}, 2, N_ROWS, 0);
    refuse(COV_SIGNAL_PREDICTED,
           "x.h5: a genome file with measured coverage (use --experimental), not a predictions "
           "file");
    write_measured(&x, 1, N_ROWS, 0);
    refuse(COV_SIGNAL_PREDICTED, "x.h5: a genome file, not a predictions file");
    refuse(COV_SIGNAL_MEASURED,
           "x.h5: a genome file without measured coverage (evaluation/<name>_coverage); bam2h5 "
           "adds it");
    write_measured(&p, 1, N_ROWS, 0);
    refuse(COV_SIGNAL_MEASURED,
           "x.h5: a predictions file without measured coverage (evaluation/<name>_coverage)");
    refuse(COV_SIGNAL_PREDICTED, "x.h5: no dataset prediction/datasets");
    write_measured(NULL, 0, N_ROWS, 0);
    refuse(COV_SIGNAL_PREDICTED, "x.h5: no dataset prediction/predictions");
    refuse(COV_SIGNAL_MEASURED,
           "x.h5: a file without measured coverage (evaluation/<name>_coverage)");
    write_measured(&a, 1, N_ROWS - 1, 0);
    refuse(COV_SIGNAL_MEASURED, "x.h5: evaluation/a_coverage: 7 rows, but there are 8 chunks");

    /* Names of datasets are unique and not empty. */
    static const struct {
        const char *const names[2];
        const char *text;
    } cases[] = {
        {{"a", "a"}, "x.h5: prediction/datasets: duplicate name a"},
        {{"a", ""}, "x.h5: prediction/datasets: name 1 is empty"},
    };
    for (size_t k = 0; k < COV_COUNT(cases); k++) {
        const struct cov_predictions_options options =
            options_of(cases[k].names, 2, COV_PREDICTIONS_INT32, gzip);
        struct predictions_writer w;
        assert_ok(predictions_open(&w, path, grid, &options, &e));
        put_unknown(&w, 2);
        assert_ok(predictions_close(&w, &e));
        refuse(COV_SIGNAL_PREDICTED, cases[k].text);
    }
    /* A file with a missing row is refused. */
    const struct cov_predictions_options one = options_of(datasets, 1, COV_PREDICTIONS_INT32, gzip);
    struct predictions_writer w;
    assert_ok(predictions_open(&w, path, grid, &one, &e));
    assert_fails(predictions_close(&w, &e), COV_EUSAGE,
                 "0 stored chunks of 1 rows, but the grid has 8 rows");
    cov_signal_close(NULL);
}

TEST(test_bad_values)
{
    const struct column_set a = {"evaluation/a_coverage", 1, int32, {1, L, 1}};
    write_measured(&a, 1, N_ROWS, -3);
    struct cov_signal *f;
    struct cov_blob raw = COV_BLOB_INIT;
    float values[L];
    const size_t k = 0;
    assert_ok(cov_signal_open(path, NULL, COV_SIGNAL_MEASURED, &f, &e));
    assert_fails_with(read_row(f, 1, &k, 1, values, &e), COV_EINPUT,
                      "x.h5: a: row 1 (chr1:22-42, + strand), index 5: -3 is not a valid coverage");
    /* A chunk that cannot be decompressed is refused. */
    assert_ok(cov_signal_fetch(f, 0, &k, 1, &raw, &e));
    memset(raw.data + COV_H5_PIECE_HEAD, 0xff, 3);
    assert_fails_with(cov_signal_decode_row(f, 0, &k, 1, &raw, values, &e), COV_EINPUT,
                      "x.h5: a: row 0 (chr1:1-21, + strand): lzf: the compressed data is damaged");
    cov_blob_fini(&raw);
    cov_signal_close(f);
}

static int begin(void **state)
{
    grid = two_sequences(50, 21, L);
    return cov_grid_n_chunks(grid) == N_ROWS ? enter_dir(state) : -1;
}

static int end(void **state)
{
    cov_grid_free(grid);
    return leave_dir(state);
}

TEST_GROUP(begin, end)
