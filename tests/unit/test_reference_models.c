/* test_reference_models.c - compares the network's predictions with those of Predmoter for the same
 * checkpoints. Small checkpoints are in $SRC/tests/data, larger ones in $SHARED/reference.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/h5/h5.h"
#include "common/input/model.h"
#include "common/net/net.h"
#include "common/net/shape.h"
#include "common/seq/alphabet.h"
#include "common/seq/genome.h"
#include "common/seq/grid.h"
#include "tests/lib/genome_io.h"

enum { L = 21384 };

static const char *src, *shared;

/* Returns "$SRC/<name>" if the name begins with "tests/" or "workflows/", otherwise
 * "$SHARED/reference/<name>". */
static char *reference(const char *name)
{
    bool own = strncmp(name, "tests/", 6) == 0 || strncmp(name, "workflows/", 10) == 0;
    return unit_own(own ? cov_strfmt(NULL, "%s/%s", src, name)
                        : cov_strfmt(NULL, "%s/reference/%s", shared, name));
}

/* Returns how many of n chunks to compare. */
static size_t n_compared(size_t n)
{
    return TESTS_ARE_SLOW && n > 2 ? 2 : n;
}

static struct cov_model *open_model(const char *name)
{
    struct cov_model *m;
    assert_ok(cov_model_open(reference(name), &m, &e));
    return m;
}

/* Returns codes[n, L] for the first n chunks of a genome file. */
static uint8_t *read_genome_file(const char *name, size_t n)
{
    struct cov_chunk_file *f;
    struct cov_blob raw = {0};
    uint8_t *codes = unit_alloc(n * L);
    assert_ok(cov_chunk_file_open_bases(reference(name), &f, &e));
    assert_int_equal(cov_grid_chunk_length(cov_chunk_file_grid(f)), L);
    assert_true(cov_grid_n_chunks(cov_chunk_file_grid(f)) >= n);
    for (size_t i = 0; i < n; i++) {
        assert_ok(genome_fetch(f, i, &raw, &e));
        assert_ok(genome_decode(f, i, &raw, codes + i * L, &e));
    }
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);
    return codes;
}

/* Sets codes[0..L) to the bases of chunk i, in the direction of its strand. */
static void take_chunk(const struct cov_genome *g, const struct cov_grid *grid, size_t i,
                       uint8_t *codes)
{
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t n = (size_t)(c.end - c.beg);
    assert_ok(cov_genome_codes(g, c.seq, c.beg, c.end, codes, &e));
    if (c.minus)
        cov_codes_reverse_complement(codes, n);
    memset(codes + n, COV_CODE_PAD, L - n);
}

/* Returns codes[*n, L] for all chunks of a FASTA file. */
static uint8_t *read_fasta(const char *name, size_t *n)
{
    struct cov_genome *g;
    struct cov_grid *grid;
    const struct cov_genome_options options = {.tmpdir = "/tmp", .n_threads = 1};
    assert_ok(cov_genome_read(reference(name), &options, NULL, &g, &e));
    assert_ok(cov_grid_new(g->n_seqs, g->names, g->lengths, "", L, &grid, &e));
    *n = cov_grid_n_chunks(grid);
    uint8_t *codes = unit_alloc(*n * L);
    for (size_t i = 0; i < *n; i++)
        take_chunk(g, grid, i, codes + i * L);
    cov_grid_free(grid);
    cov_genome_free(g);
    return codes;
}

/* Returns values[*n, L, d] of the dataset `set`, which holds float32 or any integer type. */
static double *read_values(const char *name, const char *set, size_t d, size_t *n)
{
    struct cov_h5 *f;
    struct cov_h5_set *s;
    assert_ok(cov_h5_open(reference(name), &f, &e));
    assert_ok(cov_h5_set_open(f, set, 3, &s, &e));
    const struct cov_h5_rows *rows = cov_h5_set_rows(s);
    assert_int_equal(rows->dims[1], L);
    assert_int_equal(rows->dims[2], d);
    *n = rows->dims[0];
    char *raw = unit_alloc(*n * L * d * rows->type.bytes);
    double *values = unit_alloc(*n * L * d * sizeof *values);
    assert_ok(cov_h5_set_read(s, 0, *n, 0, d, raw, &e));
    cov_h5_to_double(&rows->type, raw, *n * L * d, values);
    cov_h5_set_close(s);
    cov_h5_close(f);
    return values;
}

/* Returns values[n, L, output_size] of the model, computed at these CPU levels. NULL stands for
 * COVTOOLS_CPU or, if that is not set, all levels. */
static float *run(const struct cov_model *m, const char *levels, size_t n, const uint8_t *codes)
{
    struct cov_device *dev;
    struct cov_net *net;
    float *values = unit_alloc(n * L * (size_t)m->hp.output_size * sizeof *values);
    const char *preset = getenv("COVTOOLS_CPU");
    const struct cov_cpu_options options = {.levels = levels              ? levels
                                                      : preset && *preset ? preset
                                                                          : NULL};
    assert_ok(cov_device_open_cpu(&options, &dev, &e));
    assert_ok(cov_net_new(dev, &m->hp, m->block, (struct cov_net_size){L, 1, n}, &net, &e));
    assert_ok(cov_net_forward(net, 0, n, codes, values, &e));
    cov_net_free(net);
    cov_device_close(dev);
    return values;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Checks that exactly the padding is -1 in both results. The relative errors of other values must
 * have a median below 5e-6 and not exceed 2e-4. */
static void compare(const char *title, size_t n, size_t d, const uint8_t *codes, const float *is,
                    const double *expected)
{
    double *errors = unit_alloc(n * L * d * sizeof *errors);
    size_t n_errors = 0, n_pad = 0, n_rounded = 0;
    for (size_t i = 0; i < n * L * d; i++) {
        double value = (double)is[i];
        if (codes[i / d] == COV_CODE_PAD) {
            assert_true(value == -1 && expected[i] == -1);
            n_pad++;
            continue;
        }
        assert_true(value >= 0 && expected[i] > 0); /* false for NaN */
        errors[n_errors++] = fabs(value - expected[i]) / expected[i];
        n_rounded += rint(value) != rint(expected[i]);
    }
    assert_true(n_errors > 0);
    qsort(errors, n_errors, sizeof *errors, by_value);
    double median = errors[n_errors / 2], most = errors[n_errors - 1];
    (void)printf("# %s: relative error median %.2g, 99.9 %% %.2g, largest %.2g; %zu of %zu rounded "
                 "otherwise; %zu padding\n",
                 title, median, errors[n_errors - 1 - n_errors / 1000], most, n_rounded, n_errors,
                 n_pad);
    (void)fflush(stdout);
    assert_true(median < 5e-6);
    assert_true(most < 2e-4);
}

/* Compares our predictions with Predmoter's expected[n, L, d], for a genome file. */
static void check(struct cov_model *m, size_t n, const double *expected, const char *genome)
{
    size_t d = (size_t)m->hp.output_size;
    n = n_compared(n);
    uint8_t *codes = read_genome_file(genome, n);
    compare(m->description, n, d, codes, run(m, NULL, n, codes), expected);
    if (m->n_parameters < 100000) { /* the scalar reference is slow: two chunks */
        n = 2;
        compare("the same, scalar", n, d, codes, run(m, "scalar", n, codes), expected);
    }
    cov_model_close(m);
    unit_free();
}

static void agrees_with_data(void **state)
{
    const char *name = *state;
    size_t n;
    struct cov_model *m = open_model(unit_own(cov_strfmt(NULL, "tests/data/%s.ckpt", name)));
    double *expected =
        read_values("tests/data/predictions.h5", name, (size_t)m->hp.output_size, &n);
    check(m, n, expected, "tests/data/genome.h5");
}

static void agrees_with_shared(void **state)
{
    const char *name = *state;
    size_t n;
    struct cov_model *m = open_model(unit_own(cov_strfmt(NULL, "models/%s/model.ckpt", name)));
    const char *path = unit_own(cov_strfmt(NULL, "models/%s/expected.h5", name));
    double *expected = read_values(path, "predictions", (size_t)m->hp.output_size, &n);
    check(m, n, expected, "fasta2h5/pred_data.21384.h5");
}

static void agrees_on_yeast(void **state)
{
    size_t n, n_expected;
    struct cov_model *m = open_model("models/yeast_trained/model.ckpt");
    double *expected =
        read_values("models/yeast_trained/expected_yeast.h5", "predictions", 1, &n_expected);
    uint8_t *codes = read_fasta("models/yeast_trained/yeast.fa.gz", &n);
    assert_int_equal(n, n_expected);
    n = n_compared(n);
    compare("yeast", n, 1, codes, run(m, NULL, n, codes), expected);
    cov_model_close(m);
    unit_free();
}

/* Predmoter's predictions file holds rounded values. Ours round to the same integers, except where
 * the error may tip a value that is almost a tie. */
static void agrees_when_rounded(void **state)
{
    size_t n, n_ties = 0;
    struct cov_model *m = open_model("predmoter_testdata/mini_model.ckpt");
    double *expected =
        read_values("convert/pred_data_1_predictions.h5", "prediction/predictions", 2, &n);
    n = n_compared(n);
    uint8_t *codes = read_genome_file("fasta2h5/pred_data.21384.h5", n);
    float *values = run(m, NULL, n, codes);
    for (size_t i = 0; i < n * L * 2; i++) {
        double value = (double)values[i];
        if (rint(value) == expected[i])
            continue;
        assert_true(fabs(rint(value) - expected[i]) == 1);
        assert_true(fabs(value - (rint(value) + expected[i]) / 2) < 1e-5 * value);
        n_ties++;
    }
    (void)printf("# %s: %zu of %zu at a border\n", m->description, n_ties, n * L * 2);
    (void)fflush(stdout);
    assert_true(n_ties < 10);
    cov_model_close(m);
    unit_free();
}

/* Initial checkpoints can be read as networks. */
static void opens_initial(void **state)
{
    static const char *const names[] = {"bihybrid_even_kernel", "bihybrid_step3", "cnn_plain",
                                        "hybrid"};
    for (size_t i = 0; i < COV_COUNT(names); i++) {
        char path[128];
        struct cov_params params;
        struct cov_layers layers;
        (void)snprintf(path, sizeof path, "models/%s/init.ckpt", names[i]);
        struct cov_model *m = open_model(path);
        assert_ok(cov_params_init(&m->hp, &params, &e));
        assert_ok(cov_shape(&m->hp, L, &params, m->block, &layers, &e));
        assert_true(layers.n >= 5);
        assert_true(m->hp.dropout == 0);
        cov_layers_fini(&layers);
        cov_params_fini(&params);
        cov_model_close(m);
    }
}

int main(void)
{
    src = getenv("SRC");
    shared = getenv("SHARED");
    if (!src) {
        (void)puts("1..0 # SKIP no SRC in the environment");
        return 0;
    }
    enum { N_LOCAL = 4 };
    const struct CMUnitTest all[] = {
        {"cnn", agrees_with_data, NULL, NULL, "cnn"},
        {"hybrid", agrees_with_data, NULL, NULL, "hybrid"},
        {"bihybrid", agrees_with_data, NULL, NULL, "bihybrid"},
        {"plant", agrees_with_data, NULL, NULL, "plant"},
        {"cnn_plain", agrees_with_shared, NULL, NULL, "cnn_plain"},
        {"hybrid", agrees_with_shared, NULL, NULL, "hybrid"},
        {"bihybrid_step3", agrees_with_shared, NULL, NULL, "bihybrid_step3"},
        {"bihybrid_even_kernel", agrees_with_shared, NULL, NULL, "bihybrid_even_kernel"},
        {"combined_size", agrees_with_shared, NULL, NULL, "combined_size"},
        {"yeast_trained", agrees_with_shared, NULL, NULL, "yeast_trained"},
        cmocka_unit_test(agrees_on_yeast),
        cmocka_unit_test(agrees_when_rounded),
        cmocka_unit_test(opens_initial),
    };
    const bool all_there = shared && access(reference("models"), R_OK) == 0;
    return _cmocka_run_group_tests("reference_models", all, all_there ? COV_COUNT(all) : N_LOCAL,
                                   NULL, NULL);
}
