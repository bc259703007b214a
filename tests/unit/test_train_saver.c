/* test_train_saver.c - which checkpoints are kept, and when training stops: the best checkpoints,
 * ties, values that are not numbers, resuming, unwritable directories, full disks, and messages.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_train_ckpt.h"

#include "common/job/train/train_saver.h"
#include "tests/lib/own_log.h"

#define NAME "predmoter_v0.3.2_epoch="

static struct cov_train_network net;
static struct cov_train_ckpt point;

/* Begins with a network after this epoch. */
static void begin(const struct cov_train_saver *s, int64_t epoch)
{
    free_point(&net, &point);
    make_train_ckpt(&net, &point, epoch);
    assert_ok(cov_train_saver_begin(s, &point, &e));
}

/* Reads the checkpoint `name`. */
static void read_point(const char *name)
{
    free_point(&net, &point);
    assert_ok(cov_train_ckpt_read(name, MADE_LENGTH, &net, &point, &e));
}

/* Saves another epoch, in which the saver's metric is `value`. */
static void save(struct cov_train_saver *s, double value)
{
    double values[COV_TRAIN_QUANTITIES] = {0};
    bool stop;
    values[s->save_by] = value;
    point.epoch++;
    cov_train_saver_check(s, &point, values, &stop);
    assert_ok(cov_train_saver_save(s, &net, &point, values, &e));
}

static int64_t epoch_of(const char *name)
{
    struct cov_train_network n;
    struct cov_train_ckpt p;
    assert_ok(cov_train_ckpt_read(name, MADE_LENGTH, &n, &p, &e));
    int64_t epoch = p.epoch;
    free_point(&n, &p);
    return epoch;
}

/* Saves epochs with these values and compares the best one and the list of files. */
static void check_kept(enum cov_train_quantity by, int64_t top_k, const double *values,
                       size_t n_values, int64_t best, const char *wanted)
{
    struct cov_train_saver s = {
        .dir = ".", .save_by = by, .stop_by = COV_TRAIN_LOSS, .top_k = top_k};
    begin(&s, -1);
    for (size_t i = 0; i < n_values; i++)
        save(&s, values[i]);
    assert_string_equal(list_dir("."), wanted);
    assert_int_equal(epoch_of("last.ckpt"), (int64_t)n_values - 1);
    assert_int_equal(epoch_of("best.ckpt"), best);
    assert_int_equal(s.best_epoch, best);
    empty_dir();
}

TEST(test_kept)
{
    /* A new checkpoint does not replace an equal one. Of equal checkpoints, the oldest is removed
     * first. */
    const double r[] = {0.1, 0.3, 0.2, 0.3, 0.3};
    check_kept(COV_VAL_ACCURACY, 2, r, 5, 1,
               "best.ckpt last.ckpt " NAME "1_avg_val_accuracy=0.3000.ckpt " NAME
               "3_avg_val_accuracy=0.3000.ckpt ");
    check_kept(COV_TRAIN_ACCURACY, 0, r, 5, 1, "best.ckpt last.ckpt ");
    check_kept(COV_TRAIN_ACCURACY, -1, r, 2, 1,
               "best.ckpt last.ckpt " NAME "0_avg_train_accuracy=0.1000.ckpt " NAME
               "1_avg_train_accuracy=0.3000.ckpt ");
    const double loss[] = {-3, -3.5, (double)NAN, -3.25, (double)INFINITY};
    check_kept(COV_VAL_LOSS, 1, loss, 5, 1,
               "best.ckpt last.ckpt " NAME "1_avg_val_loss=-3.5000.ckpt ");
    check_kept(COV_TRAIN_LOSS, 3, loss, 5, 1,
               "best.ckpt last.ckpt " NAME "0_avg_train_loss=-3.0000.ckpt " NAME
               "1_avg_train_loss=-3.5000.ckpt " NAME "3_avg_train_loss=-3.2500.ckpt ");
    /* NaN counts as the worst value, but its checkpoint is kept while there is room. */
    check_kept(COV_TRAIN_LOSS, 2, loss + 1, 2, 0,
               "best.ckpt last.ckpt " NAME "0_avg_train_loss=-3.5000.ckpt " NAME
               "1_avg_train_loss=nan.ckpt ");
}

TEST(test_resume)
{
    struct cov_train_saver s = {.dir = ".",
                                .save_by = COV_VAL_ACCURACY,
                                .stop_by = COV_VAL_LOSS,
                                .top_k = 2,
                                .patience = 7};
    begin(&s, -1);
    struct cov_ckpt_stopping *stopping = &point.training.stopping;
    struct cov_ckpt_saving *saving = &point.training.saving;
    assert_string_equal(stopping->monitor, "avg_val_loss");
    assert_false(stopping->is_max);
    assert_true(isnan(stopping->best_score));
    assert_int_equal(stopping->patience, 7);
    assert_string_equal(saving->monitor, "avg_val_accuracy");
    assert_true(saving->is_max);
    save(&s, 0.5);
    save(&s, 0.75);
    assert_string_equal(saving->best_path, NAME "1_avg_val_accuracy=0.7500.ckpt");
    assert_string_equal(saving->kth_path, NAME "0_avg_val_accuracy=0.5000.ckpt");
    assert_true(saving->best_score == 0.75 && saving->kth_score == 0.5);

    /* The saver resumes from its state in the checkpoint. */
    read_point("last.ckpt");
    stopping->wait_count = 3;
    s.patience = 2;
    assert_ok(cov_train_saver_begin(&s, &point, &e));
    assert_int_equal(saving->n_saved, 2);
    assert_int_equal(stopping->wait_count, 3);
    assert_int_equal(stopping->patience, 2);
    save(&s, 0.6);
    assert_string_equal(list_dir("."),
                        "best.ckpt last.ckpt " NAME "1_avg_val_accuracy=0.7500.ckpt " NAME
                        "2_avg_val_accuracy=0.6000.ckpt ");

    /* The paths in Predmoter's checkpoints have directories. A file that is missing, or is not an
     * epoch's checkpoint, is dropped from the list, so that it is not removed later. */
    assert_int_equal(unlink(NAME "1_avg_val_accuracy=0.7500.ckpt"), 0);
    put_text("mine", "x");
    saving->saved = must(realloc(saving->saved, 3 * sizeof *saving->saved));
    saving->saved[2] = (struct cov_ckpt_saved){strdup("/of/another/mine"), 0.1};
    saving->n_saved = 3;
    for (size_t i = 0; i < 2; i++) {
        char *longer = must(malloc(300));
        (void)snprintf(longer, 300, "/old/directory/%s", saving->saved[i].path);
        free(saving->saved[i].path);
        saving->saved[i].path = longer;
    }
    assert_ok(cov_train_saver_begin(&s, &point, &e));
    assert_int_equal(saving->n_saved, 1);
    assert_string_equal(saving->saved[0].path, NAME "2_avg_val_accuracy=0.6000.ckpt");
    assert_string_equal(saving->best_path, saving->saved[0].path);

    /* With a different metric, old values are not comparable, so the list is emptied. The files
     * stay. */
    s.save_by = COV_TRAIN_LOSS;
    s.stop_by = COV_TRAIN_ACCURACY;
    assert_ok(cov_train_saver_begin(&s, &point, &e));
    assert_int_equal(saving->n_saved, 0);
    assert_string_equal(saving->best_path, "");
    assert_false(saving->is_max);
    assert_true(stopping->is_max && isnan(stopping->best_score) && stopping->wait_count == 0);
    assert_string_equal(list_dir("."),
                        "best.ckpt last.ckpt mine " NAME "2_avg_val_accuracy=0.6000.ckpt ");
    empty_dir();
}

/* Begins again at the checkpoint `name`. */
static void resume(struct cov_train_saver *s, const char *name)
{
    read_point(name);
    *s = (struct cov_train_saver){.dir = ".", .save_by = s->save_by, .top_k = s->top_k};
    assert_ok(cov_train_saver_begin(s, &point, &e));
    assert_ok(cov_train_saver_resume(s, &point, &e));
}

TEST(test_best)
{
    struct cov_train_saver s = {.dir = ".", .save_by = COV_VAL_ACCURACY, .top_k = -1};
    begin(&s, -1);
    save(&s, 0.5);
    save(&s, 0.25);
    save(&s, 0.75);
    assert_int_equal(epoch_of("best.ckpt"), 2);

    /* An earlier point: epoch 2 is not of this training any more. */
    resume(&s, NAME "1_avg_val_accuracy=0.2500.ckpt");
    assert_true(s.has_best && s.best_epoch == 0 && s.best_score == 0.5);
    assert_int_equal(epoch_of("best.ckpt"), 0);
    save(&s, 0.5); /* an equal one does not replace it */
    assert_int_equal(epoch_of("best.ckpt"), 0);

    /* Without the checkpoints of epochs, best.ckpt itself is the record. */
    assert_int_equal(unlink(NAME "0_avg_val_accuracy=0.5000.ckpt"), 0);
    assert_int_equal(unlink(NAME "1_avg_val_accuracy=0.2500.ckpt"), 0);
    assert_int_equal(unlink(NAME "2_avg_val_accuracy=0.5000.ckpt"), 0);
    assert_int_equal(unlink(NAME "2_avg_val_accuracy=0.7500.ckpt"), 0);
    s.top_k = 0;
    resume(&s, "last.ckpt");
    save(&s, 0.375);
    assert_string_equal(list_dir("."), "best.ckpt last.ckpt ");
    assert_int_equal(epoch_of("best.ckpt"), 0);
    save(&s, 0.625);
    assert_int_equal(epoch_of("best.ckpt"), 4);

    /* A damaged or missing one is replaced by the next epoch, like the best by another metric. */
    put_text("best.ckpt", "x");
    resume(&s, "last.ckpt");
    assert_false(s.has_best);
    save(&s, 0.125);
    assert_int_equal(epoch_of("best.ckpt"), 5);
    s.save_by = COV_VAL_LOSS;
    resume(&s, "last.ckpt");
    assert_false(s.has_best);
    save(&s, 9);
    assert_int_equal(epoch_of("best.ckpt"), 6);
    empty_dir();
}

TEST(test_stops)
{
    static const struct {
        enum cov_train_quantity by;
        int64_t patience;
        double values[6];
        size_t n; /* number of epochs; the last one stops training if `stops` */
        bool stops;
    } cases[] = {
        {COV_TRAIN_LOSS, 2, {1, 0.5, 0.5, 0.7}, 4, true}, /* an equal value is not an improvement */
        {COV_TRAIN_LOSS, 3, {1, 0.5, 0.5, 0.7}, 4, false},
        {COV_TRAIN_LOSS, 2, {1, 2, 0.5, 2, 0.25, 3}, 6, false}, /* the count restarts each time */
        {COV_VAL_ACCURACY, 2, {0.1, 0.2, 0.15, 0.1}, 4, true},
        {COV_VAL_ACCURACY, 1, {-0.2, -0.1}, 2, false},
        {COV_VAL_LOSS, 0, {1, 1}, 2, true},
        {COV_VAL_LOSS, 9, {1, (double)NAN}, 2, true},
        {COV_VAL_LOSS, 9, {(double)INFINITY}, 1, true},
        /* Differences below the precision of a checkpoint do not count. */
        {COV_VAL_LOSS, 1, {1, 1 - 1e-12}, 2, true},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const struct cov_train_saver s = {.dir = ".",
                                          .save_by = COV_VAL_LOSS,
                                          .stop_by = cases[i].by,
                                          .top_k = -1,
                                          .patience = cases[i].patience};
        begin(&s, -1);
        for (size_t k = 0; k < cases[i].n; k++) {
            double values[COV_TRAIN_QUANTITIES] = {0};
            bool stop = false;
            values[cases[i].by] = cases[i].values[k];
            point.epoch++;
            cov_train_saver_check(&s, &point, values, &stop);
            assert_int_equal(stop, k + 1 == cases[i].n && cases[i].stops);
        }
    }
}

TEST(test_failures)
{
    struct cov_train_saver s = {.dir = "/nonexistent/directory",
                                .save_by = COV_VAL_LOSS,
                                .stop_by = COV_VAL_LOSS,
                                .top_k = 1};
    const double values[COV_TRAIN_QUANTITIES] = {0.5, 0, 0, 0},
                 better[COV_TRAIN_QUANTITIES] = {0.25};
    begin(&s, 0);
    assert_fails(cov_train_saver_save(&s, &net, &point, values, &e), COV_EIO,
                 "/nonexistent/directory/" NAME "0_avg_val_loss=0.5000.ckpt");

    s.dir = ".";
    begin(&s, 0);
    assert_ok(cov_train_saver_save(&s, &net, &point, values, &e));
    size_t n_before;
    char *before = get_bytes("last.ckpt", &n_before);
    point.epoch++;
    limit_files(n_before / 2);
    assert_fails(cov_train_saver_save(&s, &net, &point, better, &e), COV_EIO, "./predmoter_");
    limit_files(RLIM_INFINITY);
    /* The checkpoint that would be replaced still exists, and last.ckpt is unchanged. */
    assert_string_equal(list_dir("."), "best.ckpt last.ckpt " NAME "0_avg_val_loss=0.5000.ckpt ");
    put_bytes("before", before, n_before);
    check_same_files("last.ckpt", "before");
}

/* ---- messages ---- */

/* Epochs are numbered from 0, as in checkpoints. The number after "of" is their count. */
TEST(counts_epochs)
{
    struct cov_train_options o = {.epochs = 5};
    struct cov_train_ckpt p = {.epoch = -1, .state = {.n_steps = 12}};
    const double loss = 0.25;
    char text[120], small[10];
    cov_train_describe(&o, &p, 60, NULL, text, sizeof text);
    assert_string_equal(text, "epoch 0 (1 of 5)");
    p.epoch = 3;
    cov_train_describe(&o, &p, 60, &loss, text, sizeof text);
    assert_string_equal(text, "epoch 4 (5 of 5), loss 0.25");
    cov_train_describe(&o, &p, 60, &loss, small, sizeof small);
    assert_string_equal(small, "epoch 4 (");
    o.max_steps = 50;
    cov_train_describe(&o, &p, 50, &loss, text, sizeof text);
    assert_string_equal(text, "epoch 4, step 12 of 50, loss 0.25");
}

/* Where it diverged, what may help, and what is left. The sentences are in tests/cli/covtrain.t. */
TEST(reports_divergence)
{
    static const struct {
        const char *resume;
        double clip;
        bool in_validation, within;
        int64_t n_saved;
        const char *where, *help, *left;
    } cases[] = {
        {NULL, 0, false, false, 1, "step 13 (epoch 4, ", "--clip 1 ",
         "; m/last.ckpt is from epoch 3;"},
        {"r.ckpt", 1, true, false, 0, "step 12 (epoch 3, ", "or --clip, ", "; r.ckpt is unchanged"},
        {NULL, 0, false, true, 1, "step 13", "", "; m/last.ckpt is from within epoch 4;"},
        {NULL, 0, true, true, 1, "step 12", "", "; m/last.ckpt is from within epoch 3;"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const struct cov_train_options o = {
            .output = "m", .resume = cases[i].resume, .clip = cases[i].clip};
        const struct cov_train_ckpt p = {.epoch = 3,
                                         .state = {.n_steps = 12},
                                         .training = {.part = {.is_there = cases[i].within}}};
        const char *const parts[] = {cases[i].where, cases[i].help, cases[i].left, "): why: "};
        struct cov_err e = COV_ERR_INIT;
        (void)cov_fail(&e, COV_EINPUT, "why");
        assert_int_equal(
            cov_train_fail_diverged(&o, &p, 0.5, cases[i].in_validation, cases[i].n_saved, &e),
            COV_EINPUT);
        for (size_t k = 0; k < COV_COUNT(parts); k++)
            assert_contains(e.text, parts[k]);
        assert_int_equal(cov_train_fail_diverged(&o, &p, 0.5, true, 0, NULL), COV_EINPUT);
    }
}

TEST(sets_last_words)
{
    struct cov_train_options o = {.output = "m"};
    start_log(COV_LOG_INFO);
    cov_train_set_last_words(&o, NULL);
    assert_null(strstr(cov_log_last_words(), "--resume"));
    o.resume = "r.ckpt";
    cov_train_set_last_words(&o, NULL);
    assert_contains(cov_log_last_words(), "--resume-training r.ckpt");
    for (int within = 0; within < 2; within++) {
        const struct cov_train_ckpt p = {
            .epoch = 2, .state = {.n_steps = 31}, .training = {.part = {.is_there = within}}};
        cov_train_set_last_words(&o, &p);
        assert_contains(cov_log_last_words(), within ? "step 31 " : "epoch 2 ");
        assert_contains(cov_log_last_words(), "--resume-training m/last.ckpt");
    }
    cov_log_set_last_words(NULL);
    cov_log_set(NULL, NULL, COV_LOG_WARNING);
}

/* Compares the steps in a checkpoint with an epoch of ten steps. A case has the number of all
 * steps, the number of steps in the last epoch (0 if it is not in the checkpoint), and the expected
 * answer. */
TEST(compares_steps)
{
    static const struct {
        int64_t n_epochs, n_steps, of_last;
        int64_t max_steps;
        bool random_offset, differ;
        double had;
    } cases[] = {
        {0, 0, 0, 0, false, false, 0}, /* training has not started */
        {3, 30, 10, 0, false, false, 10},
        {3, 90, 30, 0, false, true, 30},
        {3, 9, 3, 0, false, true, 3},
        {4, 100, 10, 0, false, false, 10}, /* earlier epochs differed, but not the last one */
        {3, 23, 3, 25, false, false, 3},   /* --max-steps may have ended the epoch */
        {3, 19, 9, 25, false, true, 9},    /* --max-steps cannot have ended the epoch */
        {3, 34, 11, 25, false, true, 11},
        {3, 33, 11, 0, true, false, 11}, /* the random offset may explain the difference */
        {3, 36, 12, 0, true, true, 12},
        {3, 24, 8, 0, true, true, 8},
        {3, 30, 0, 0, false, false, 10}, /* uses the mean of all epochs */
        {3, 36, 0, 0, false, true, 12},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const struct cov_train_options o = {.max_steps = cases[i].max_steps,
                                            .random_offset = cases[i].random_offset};
        const struct cov_train_ckpt p = {.epoch = cases[i].n_epochs - 1,
                                         .state = {.n_steps = cases[i].n_steps},
                                         .training = {.n_epoch_steps = cases[i].of_last}};
        double had = 0;
        if (cov_train_steps_differ(&o, &p, 10, &had) != cases[i].differ ||
            (cases[i].differ && had != cases[i].had))
            fail_msg("case %zu: had %g", i, had);
    }
}

static int end(void **state)
{
    free_point(&net, &point);
    return leave_dir(state);
}

TEST_GROUP(enter_dir, end)
