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
            if (!strstr(e.text, parts[k]))
                fail_msg("\"%s\" is not in \"%s\"", parts[k], e.text);
        assert_int_equal(cov_train_fail_diverged(&o, &p, 0.5, true, 0, NULL), COV_EINPUT);
    }
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
    cov_log_set(ignore_log, NULL, COV_LOG_INFO);
    cov_train_set_last_words(&o, NULL);
    assert_null(strstr(cov_log_last_words(), "--resume"));
    o.resume = "r.ckpt";
    cov_train_set_last_words(&o, NULL);
    assert_non_null(strstr(cov_log_last_words(), "--resume-training r.ckpt"));
    for (int within = 0; within < 2; within++) {
        const struct cov_train_ckpt p = {
            .epoch = 2, .state = {.n_steps = 31}, .training = {.part = {.is_there = within}}};
        cov_train_set_last_words(&o, &p);
        assert_non_null(strstr(cov_log_last_words(), within ? "step 31 " : "epoch 2 "));
        assert_non_null(strstr(cov_log_last_words(), "--resume-training m/last.ckpt"));
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
