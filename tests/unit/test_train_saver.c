/* test_train_saver.c - which checkpoints of a training are kept and when it stops: the best ones by a quantity, ties,
 * values that are none, what a resume takes over and forgets, folders and disks that cannot be written.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_point.h"

#include <math.h>

#include "common/job/train/train_saver.h"

#define NAME "predmoter_v0.3.2_epoch="

static char home[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(home, sizeof home, "/tmp/cov_test_train_saver_XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(home);
    return 0;
}

static char *in_home(const char *name, char path[256])
{
    (void)snprintf(path, 256, "%s/%s", home, name);
    return path;
}

/* An epoch more, with `value` for the quantity of the saver. */
static void save(const struct cov_train_saver *s, const struct cov_train_network *n,
                 struct cov_train_point *p, double value)
{
    double values[COV_TRAIN_QUANTITIES] = {0};
    bool stop;
    values[s->save_by] = value;
    p->epoch++;
    cov_train_saver_check(s, p, values, &stop);
    assert_int_equal(cov_train_saver_save(s, n, p, values, NULL), 0);
}

static int64_t epoch_of(const char *name)
{
    struct cov_train_network n;
    struct cov_train_point p;
    char path[256];
    assert_int_equal(cov_train_point_read(in_home(name, path), MADE_LENGTH, &n, &p, NULL), 0);
    int64_t epoch = p.epoch;
    free_point(&n, &p);
    return epoch;
}

/* Saves epochs of these values; the folder is then `wanted`. */
static void check_kept(enum cov_train_quantity by, int64_t top_k, const double *values,
                       size_t n_values, const char *wanted)
{
    const struct cov_train_saver s = {home, by, COV_TRAIN_LOSS, top_k, 5};
    struct cov_train_network n;
    struct cov_train_point p;
    make_point(&n, &p, -1);
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    for (size_t i = 0; i < n_values; i++)
        save(&s, &n, &p, values[i]);
    assert_string_equal(list_folder(home), wanted);
    assert_int_equal(epoch_of("last.ckpt"), (int64_t)n_values - 1);
    free_point(&n, &p);
    teardown(NULL);
    assert_int_equal(setup(NULL), 0);
}

static void test_kept(void **state)
{
    (void)state;
    /* Of equal ones the older stays, when it is the better of two, and goes, when one has to. */
    const double r[] = {0.1, 0.3, 0.2, 0.3, 0.3};
    check_kept(COV_VAL_ACCURACY, 2, r, 5,
               "last.ckpt " NAME "1_avg_val_accuracy=0.3000.ckpt " NAME
               "3_avg_val_accuracy=0.3000.ckpt ");
    check_kept(COV_TRAIN_ACCURACY, 0, r, 5, "last.ckpt ");
    check_kept(COV_TRAIN_ACCURACY, -1, r, 2,
               "last.ckpt " NAME "0_avg_train_accuracy=0.1000.ckpt " NAME
               "1_avg_train_accuracy=0.3000.ckpt ");
    const double loss[] = {-3, -3.5, (double)NAN, -3.25, (double)INFINITY};
    check_kept(COV_VAL_LOSS, 1, loss, 5, "last.ckpt " NAME "1_avg_val_loss=-3.5000.ckpt ");
    check_kept(COV_TRAIN_LOSS, 3, loss, 5,
               "last.ckpt " NAME "0_avg_train_loss=-3.0000.ckpt " NAME
               "1_avg_train_loss=-3.5000.ckpt " NAME "3_avg_train_loss=-3.2500.ckpt ");
    /* What is no number is kept as long as there is room, as the worst. */
    check_kept(COV_TRAIN_LOSS, 2, loss + 1, 2,
               "last.ckpt " NAME "0_avg_train_loss=-3.5000.ckpt " NAME
               "1_avg_train_loss=nan.ckpt ");
}

static void test_resume(void **state)
{
    (void)state;
    struct cov_train_saver s = {home, COV_VAL_ACCURACY, COV_VAL_LOSS, 2, 7};
    struct cov_train_network n;
    struct cov_train_point p;
    char path[256];
    make_point(&n, &p, -1);
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    struct cov_ckpt_stopping *stopping = &p.training.stopping;
    struct cov_ckpt_saving *saving = &p.training.saving;
    assert_string_equal(stopping->monitor, "avg_val_loss");
    assert_false(stopping->is_max);
    assert_true(isnan(stopping->best_score));
    assert_int_equal(stopping->patience, 7);
    assert_string_equal(saving->monitor, "avg_val_accuracy");
    assert_true(saving->is_max);
    save(&s, &n, &p, 0.5);
    save(&s, &n, &p, 0.75);
    assert_string_equal(saving->best_path, NAME "1_avg_val_accuracy=0.7500.ckpt");
    assert_string_equal(saving->kth_path, NAME "0_avg_val_accuracy=0.5000.ckpt");
    assert_true(saving->best_score == 0.75 && saving->kth_score == 0.5);
    free_point(&n, &p);

    /* All of it is in the checkpoint, and goes on. */
    assert_int_equal(cov_train_point_read(in_home("last.ckpt", path), MADE_LENGTH, &n, &p, NULL),
                     0);
    stopping->wait_count = 3;
    s.patience = 2;
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    assert_int_equal(saving->n_saved, 2);
    assert_int_equal(stopping->wait_count, 3);
    assert_int_equal(stopping->patience, 2);
    save(&s, &n, &p, 0.6);
    assert_string_equal(list_folder(home), "last.ckpt " NAME "1_avg_val_accuracy=0.7500.ckpt " NAME
                                           "2_avg_val_accuracy=0.6000.ckpt ");

    /* Predmoter's paths have folders; what is not there, or is no epoch's, is forgotten: it is not to be
     * removed later. */
    assert_int_equal(unlink(in_home(NAME "1_avg_val_accuracy=0.7500.ckpt", path)), 0);
    spill(in_home("mine", path), "x", 1);
    struct cov_ckpt_saved *grown = realloc(saving->saved, 3 * sizeof *grown);
    assert_non_null(grown);
    saving->saved = grown;
    saving->saved[2] = (struct cov_ckpt_saved){strdup("/of/another/mine"), 0.1};
    saving->n_saved = 3;
    for (size_t i = 0; i < 2; i++) {
        char *longer = malloc(300);
        assert_non_null(longer);
        (void)snprintf(longer, 300, "/old/folder/%s", saving->saved[i].path);
        free(saving->saved[i].path);
        saving->saved[i].path = longer;
    }
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    assert_int_equal(saving->n_saved, 1);
    assert_string_equal(saving->saved[0].path, NAME "2_avg_val_accuracy=0.6000.ckpt");
    assert_string_equal(saving->best_path, saving->saved[0].path);

    /* Other quantities: nothing that was is comparable. Files stay. */
    s.save_by = COV_TRAIN_LOSS;
    s.stop_by = COV_TRAIN_ACCURACY;
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    assert_int_equal(saving->n_saved, 0);
    assert_string_equal(saving->best_path, "");
    assert_false(saving->is_max);
    assert_true(stopping->is_max && isnan(stopping->best_score) && stopping->wait_count == 0);
    assert_string_equal(list_folder(home),
                        "last.ckpt mine " NAME "2_avg_val_accuracy=0.6000.ckpt ");
    free_point(&n, &p);
}

static void test_stops(void **state)
{
    (void)state;
    static const struct {
        enum cov_train_quantity by;
        int64_t patience;
        double values[6];
        size_t n; /* judged; the last one stops if ... */
        bool stops;
    } cases[] = {
        {COV_TRAIN_LOSS, 2, {1, 0.5, 0.5, 0.7}, 4, true}, /* equal is no better */
        {COV_TRAIN_LOSS, 3, {1, 0.5, 0.5, 0.7}, 4, false},
        {COV_TRAIN_LOSS, 2, {1, 2, 0.5, 2, 0.25, 3}, 6, false}, /* begun anew each time */
        {COV_VAL_ACCURACY, 2, {0.1, 0.2, 0.15, 0.1}, 4, true},
        {COV_VAL_ACCURACY, 1, {-0.2, -0.1}, 2, false},
        {COV_VAL_LOSS, 0, {1, 1}, 2, true},
        {COV_VAL_LOSS, 9, {1, (double)NAN}, 2, true},
        {COV_VAL_LOSS, 9, {(double)INFINITY}, 1, true},
        /* Differences that a checkpoint does not keep are none. */
        {COV_VAL_LOSS, 1, {1, 1 - 1e-12}, 2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cov_train_saver s = {home, COV_VAL_LOSS, cases[i].by, -1, cases[i].patience};
        struct cov_train_network n;
        struct cov_train_point p;
        make_point(&n, &p, -1);
        assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
        for (size_t k = 0; k < cases[i].n; k++) {
            double values[COV_TRAIN_QUANTITIES] = {0};
            bool stop = false;
            values[cases[i].by] = cases[i].values[k];
            p.epoch++;
            cov_train_saver_check(&s, &p, values, &stop);
            assert_int_equal(stop, k + 1 == cases[i].n && cases[i].stops);
        }
        free_point(&n, &p);
    }
}

static void test_failures(void **state)
{
    (void)state;
    struct cov_train_saver s = {"/nonexistent/folder", COV_VAL_LOSS, COV_VAL_LOSS, 1, 5};
    struct cov_train_network n;
    struct cov_train_point p;
    struct cov_err e = COV_ERR_INIT;
    const double values[COV_TRAIN_QUANTITIES] = {0.5, 0, 0, 0},
                 better[COV_TRAIN_QUANTITIES] = {0.25};
    make_point(&n, &p, 0);
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    assert_int_equal(cov_train_saver_save(&s, &n, &p, values, &e), COV_EIO);
    assert_non_null(strstr(e.text, "/nonexistent/folder/" NAME "0_avg_val_loss=0.5000.ckpt"));
    free_point(&n, &p);

    make_point(&n, &p, 0);
    s.dir = home;
    assert_int_equal(cov_train_saver_begin(&s, &p, NULL), 0);
    assert_int_equal(cov_train_saver_save(&s, &n, &p, values, NULL), 0);
    char path[256];
    size_t n_before, n_after;
    char *before = slurp(in_home("last.ckpt", path), &n_before);
    p.epoch++;
    limit_files(n_before / 2);
    cov_err_clear(&e);
    assert_int_equal(cov_train_saver_save(&s, &n, &p, better, &e), COV_EIO);
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(e.text, home));
    /* The one that it was to take the place of is there, and last.ckpt as it was. */
    assert_string_equal(list_folder(home), "last.ckpt " NAME "0_avg_val_loss=0.5000.ckpt ");
    char *after = slurp(path, &n_after);
    assert_int_equal(n_after, n_before);
    assert_memory_equal(after, before, n_before);
    free(before);
    free(after);
    free_point(&n, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resume, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
