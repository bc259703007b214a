/* test_reference_training.c - compares training with Predmoter's first steps. Small cases are
 * NAME_init.ckpt and the losses in cases.json, both in $SRC/tests/data. Larger cases are init.ckpt
 * and case.json in $SHARED/reference/models/NAME.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/h5/h5.h"
#include "common/input/model.h"
#include "common/net/train.h"
#include "common/seq/alphabet.h"

enum { L = 21384, MAX_STEPS = 32 };

static const char *src, *shared;

/* ---- the recorded steps ---- */

struct record {
    char *init, *data; /* paths of the initial weights and of the chunks */
    size_t batch, n_steps;
    double loss[MAX_STEPS], accuracy[MAX_STEPS];
};

/* Returns the text of case.json after "key":. */
static const char *member(const char *text, const char *key)
{
    char quoted[64];
    (void)snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    assert_non_null(at);
    return at + strlen(quoted);
}

/* Returns "<root>/<before><name><after>". The caller frees it. */
static char *path_of(const char *root, const char *before, const char *name, const char *after)
{
    char *path = cov_strfmt(NULL, "%s/%s%s%s", root, before, name, after);
    assert_non_null(path);
    return path;
}

static const char *read_text(char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    free(path);
    return text;
}

/* Reads the record of NAME in tests/data, or of "shared/NAME". */
static void read_record(const char *name, struct record *r)
{
    const char *at, *text;
    char *end;
    if (strncmp(name, "shared/", 7) == 0) {
        name += 7;
        text = read_text(path_of(shared, "reference/models/", name, "/case.json"));
        r->init = path_of(shared, "reference/models/", name, "/init.ckpt");
        char file[64];
        at = strchr(member(text, "train_file"), '"');
        assert_non_null(at);
        (void)snprintf(file, sizeof file, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
        r->data = path_of(shared, "reference/predmoter_testdata/", file, "");
        r->batch = strtoul(member(text, "batch_size"), NULL, 10);
        at = strchr(member(text, "train_loss_accuracy_per_step"), '[');
    } else {
        text = read_text(path_of(src, "tests/data/", "cases.json", ""));
        r->init = path_of(src, "tests/data/", name, "_init.ckpt");
        r->data = path_of(src, "tests/data/", "coverage.h5", "");
        r->batch = strtoul(member(text, "batch_of_training"), NULL, 10);
        at = strchr(member(member(text, "train_loss_accuracy_per_step"), name), '[');
    }
    for (r->n_steps = 0, at++; r->n_steps < MAX_STEPS; r->n_steps++) {
        at += strspn(at, " ,\n");
        if (*at != '[')
            break;
        r->loss[r->n_steps] = strtod(at + 1, &end);
        at = strchr(end, ',') + 1;
        r->accuracy[r->n_steps] = strtod(at, &end);
        at = strchr(end, ']') + 1;
    }
    assert_true(r->n_steps > 1 && r->batch > 0);
}

/* ---- the chunks ---- */

struct data {
    size_t n; /* chunks that are not all N */
    uint8_t *codes;
    float *targets;
    bool *present;
};

/* Returns values[n, L, width] of a dataset, or NULL if the file does not have this dataset. */
static double *read_set(struct cov_h5 *f, const char *name, size_t *n, size_t *width)
{
    struct cov_h5_set *s;
    *n = *width = 0;
    if (!cov_h5_has(f, name, NULL))
        return NULL;
    assert_ok(cov_h5_set_open(f, name, 3, &s, &e));
    const struct cov_h5_rows *rows = cov_h5_set_rows(s);
    *n = rows->dims[0];
    *width = rows->dims[2];
    assert_int_equal(rows->dims[1], L);
    char *raw = malloc(*n * L * *width * rows->type.bytes);
    double *values = malloc(*n * L * *width * sizeof *values);
    assert_true(raw && values);
    assert_ok(cov_h5_set_read(s, 0, *n, 0, *width, raw, &e));
    cov_h5_to_double(&rows->type, raw, *n * L * *width, values);
    cov_h5_set_close(s);
    free(raw);
    return values;
}

/* Sets the targets to the mean of the BAM columns, rounded to 2 decimals. */
static void take_targets(struct data *d, const size_t *rows, size_t n_sets, size_t k,
                         const double *values, size_t width)
{
    for (size_t i = 0; i < d->n; i++) {
        d->present[i * n_sets + k] = true;
        for (size_t t = 0; t < L; t++) {
            double sum = 0;
            for (size_t c = 0; c < width; c++)
                sum += values[(rows[i] * L + t) * width + c];
            d->targets[(i * L + t) * n_sets + k] = (float)(rint(sum / (double)width * 100) / 100);
        }
    }
}

static void read_data(const char *path, const struct cov_model *m, struct data *d)
{
    struct cov_h5 *f;
    size_t n, width, n_sets = (size_t)m->hp.output_size;
    assert_ok(cov_h5_open(path, &f, &e));
    double *x = read_set(f, "data/X", &n, &width);
    assert_true(x && n > 0 && width == 4);
    size_t *rows = calloc(n + 1, sizeof *rows);
    d->codes = calloc(n + 1, L);
    d->targets = calloc(n * L * n_sets + 1, sizeof *d->targets);
    d->present = calloc(n * n_sets + 1, sizeof *d->present);
    assert_true(rows && d->codes && d->targets && d->present);
    d->n = 0;
    for (size_t i = 0; i < n; i++) {
        double most = 0;
        for (size_t t = 0; t < L; t++) {
            const double *from = x + (i * L + t) * 4;
            const float row[4] = {(float)from[0], (float)from[1], (float)from[2], (float)from[3]};
            d->codes[d->n * L + t] = cov_code_from_onehot(row);
            most = from[0] > most ? from[0] : most;
        }
        if (most != 0.25)
            rows[d->n++] = i;
    }
    free(x);
    for (size_t k = 0; k < n_sets; k++) {
        char *name = cov_strfmt(NULL, "evaluation/%s_coverage", m->datasets[k]);
        assert_non_null(name);
        double *values = read_set(f, name, &n, &width);
        if (values)
            take_targets(d, rows, n_sets, k, values, width);
        free(values);
        free(name);
    }
    free(rows);
    cov_h5_close(f);
}

/* ---- the steps ---- */

static struct cov_trainer *make_trainer(struct cov_device *dev, const struct cov_model *m,
                                        struct cov_pool *pool, size_t batch)
{
    struct cov_trainer *t;
    const struct cov_trainer_options options = {
        .hp = &m->hp, .L = L, .max_batch = batch, .pool = pool};
    assert_ok(cov_trainer_new(dev, &options, m->block, &t, &e));
    return t;
}

static void learns_as_recorded(void **state)
{
    const char *name = *state, *preset = getenv("COVTOOLS_CPU");
    /* "scalar" only predicts. */
    const char *trains = preset && strcmp(preset, "scalar") == 0 ? "base" : preset;
    const char *levels = trains && *trains ? trains : NULL;
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0, 0};
    struct record r;
    struct data d;
    struct cov_model *m;
    struct cov_device *dev;
    struct cov_pool *pool;
    read_record(name, &r);
    assert_ok(cov_model_open(r.init, &m, &e));
    read_data(r.data, m, &d);
    free(r.init);
    free(r.data);
    const struct cov_cpu_options options = {.levels = levels};
    assert_ok(cov_device_open_cpu(&options, &dev, &e));
    assert_ok(cov_pool_new(cov_pool_default_size(), &pool, &e));
    struct cov_trainer *t = make_trainer(dev, m, pool, r.batch);
    double worst = 0, worst_accuracy = 0;
    size_t n_sets = (size_t)m->hp.output_size;
    const size_t n_steps = TESTS_ARE_SLOW && r.n_steps > 3 ? 3 : r.n_steps;
    for (size_t step = 0, at = 0; step < n_steps; step++) {
        struct cov_train_score score;
        size_t n = d.n - at < r.batch ? d.n - at : r.batch;
        const struct cov_train_batch batch = {n, d.codes + at * L, d.targets + at * L * n_sets,
                                              d.present + at * n_sets, 0};
        assert_ok(cov_trainer_batch(t, &batch, &score, &e));
        assert_ok(cov_trainer_step(t, &adam, &e));
        double off = fabs(score.loss - r.loss[step]) / fabs(r.loss[step]);
        double off_accuracy = fabs(score.accuracy - r.accuracy[step]);
        worst = off > worst ? off : worst;
        worst_accuracy = off_accuracy > worst_accuracy ? off_accuracy : worst_accuracy;
        if (off > (step == 0 ? 1e-5 : step < 5 ? 1e-4 : 5e-4) || !(off_accuracy <= 1e-4))
            fail_msg("%s, step %zu: loss %.9g, accuracy %.9g instead of %.9g, %.9g", name, step,
                     score.loss, score.accuracy, r.loss[step], r.accuracy[step]);
        at = at + n == d.n ? 0 : at + n;
    }
    (void)printf("# %s%s%s: losses within %.2g, accuracies within %.2g\n", name, levels ? ", " : "",
                 levels ? levels : "", worst, worst_accuracy);
    (void)fflush(stdout);
    cov_trainer_free(t);
    cov_pool_free(pool);
    cov_device_close(dev);
    cov_model_close(m);
    free(d.codes);
    free(d.targets);
    free(d.present);
}

int main(void)
{
    src = getenv("SRC");
    shared = getenv("SHARED");
    if (!src) {
        (void)puts("1..0 # SKIP no SRC in the environment");
        return 0;
    }
    const struct CMUnitTest local[] = {
        {"cnn", learns_as_recorded, NULL, NULL, "cnn"},
        {"hybrid", learns_as_recorded, NULL, NULL, "hybrid"},
    };
    const struct CMUnitTest all[] = {
        local[0],
        local[1],
        {"shared cnn_plain", learns_as_recorded, NULL, NULL, "shared/cnn_plain"},
        {"shared hybrid", learns_as_recorded, NULL, NULL, "shared/hybrid"},
        {"shared bihybrid_step3", learns_as_recorded, NULL, NULL, "shared/bihybrid_step3"},
        {"shared bihybrid_even_kernel", learns_as_recorded, NULL, NULL,
         "shared/bihybrid_even_kernel"},
    };
    char *path = shared ? cov_strfmt(NULL, "%s/reference/models", shared) : NULL;
    bool there = path && access(path, R_OK) == 0;
    free(path);
    return there ? cmocka_run_group_tests_name("reference_training", all, NULL, NULL)
                 : cmocka_run_group_tests_name("reference_training", local, NULL, NULL);
}
