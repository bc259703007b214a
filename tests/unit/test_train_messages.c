/* test_train_messages.c - messages of training about epochs and steps.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/log.h"
#include "common/job/train/train_messages.h"

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

TEST(reports_divergence)
{
    struct cov_train_options o = {.output = "m"};
    const struct cov_train_ckpt p = {.epoch = 3, .state = {.n_steps = 12}};
    struct cov_err e = COV_ERR_INIT;
    (void)cov_fail(&e, COV_EINPUT, "a loss is infinite");
    assert_int_equal(cov_train_fail_diverged(&o, &p, 0.5, false, 1, &e), COV_EINPUT);
    assert_string_equal(e.text, "step 13 (epoch 4, learning rate 0.5): a loss is infinite: the "
                                "training has diverged; a lower --learning-rate, more "
                                "--warmup-steps, or --clip 1 may prevent it; m/last.ckpt is from "
                                "epoch 3; --resume-training continues from it");
    cov_err_clear(&e);
    (void)cov_fail(&e, COV_EINPUT, "x");
    o.clip = 1;
    o.resume = "r.ckpt";
    assert_int_equal(cov_train_fail_diverged(&o, &p, 0.5, true, 0, &e), COV_EINPUT);
    assert_string_equal(e.text, "step 12 (epoch 3, learning rate 0.5): x: the training has "
                                "diverged; a lower --learning-rate or --clip, or more "
                                "--warmup-steps may prevent it; r.ckpt is unchanged");
    assert_int_equal(cov_train_fail_diverged(&o, &p, 0.5, true, 0, NULL), COV_EINPUT);
    struct cov_train_ckpt within = p;
    within.training.part.is_there = true;
    cov_err_clear(&e);
    (void)cov_fail(&e, COV_EINPUT, "x");
    assert_int_equal(cov_train_fail_diverged(&o, &within, 0.5, false, 1, &e), COV_EINPUT);
    assert_non_null(strstr(e.text, "; m/last.ckpt is from within epoch 4; --resume-training"));
    cov_err_clear(&e);
    (void)cov_fail(&e, COV_EINPUT, "x");
    assert_int_equal(cov_train_fail_diverged(&o, &within, 0.5, true, 1, &e), COV_EINPUT);
    assert_non_null(strstr(e.text, "; m/last.ckpt is from within epoch 3; --resume-training"));
}

static void ignore_log(void *arg, enum cov_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
}

TEST(sets_last_words)
{
    struct cov_train_options o = {.output = "m"};
    const struct cov_train_ckpt p = {.epoch = 2};
    cov_log_set(ignore_log, NULL, COV_LOG_INFO);
    cov_train_set_last_words(&o, NULL);
    assert_non_null(cov_log_last_words());
    assert_string_equal(cov_log_last_words(), "no epoch was completed; nothing is saved");
    o.resume = "r.ckpt";
    cov_train_set_last_words(&o, NULL);
    assert_string_equal(cov_log_last_words(),
                        "no new epoch is saved; resume with --resume-training r.ckpt");
    cov_train_set_last_words(&o, &p);
    assert_string_equal(cov_log_last_words(),
                        "epoch 2 is saved; resume with --resume-training m/last.ckpt");
    const struct cov_train_ckpt within = {
        .epoch = 2, .state = {.n_steps = 31}, .training = {.part = {.is_there = true}}};
    cov_train_set_last_words(&o, &within);
    assert_string_equal(cov_log_last_words(),
                        "step 31 is saved; resume with --resume-training m/last.ckpt");
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
