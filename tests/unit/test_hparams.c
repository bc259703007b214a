/* test_hparams.c - hyperparameters: valid networks and their paddings.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/net/hparams.h"

TEST(names_types)
{
    static const char *const names[] = {"cnn", "hybrid", "bi-hybrid"};
    struct cov_err e = COV_ERR_INIT;
    enum cov_model_type type;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cov_model_type_parse(names[i], &type, &e), 0);
        assert_int_equal(type, i);
        assert_string_equal(cov_model_type_name(type), names[i]);
    }
    assert_int_equal(cov_model_type_parse("Hybrid", &type, &e), COV_EINPUT);
    assert_non_null(strstr(e.text, "model_type is \"Hybrid\""));
}

static void refuses(const struct cov_hparams *hp, const char *text)
{
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_hparams_check(hp, &e), COV_EINPUT);
    if (!strstr(e.text, text))
        fail_msg("\"%s\" does not hold \"%s\"", e.text, text);
}

static void accepts(const struct cov_hparams *hp)
{
    struct cov_err e = COV_ERR_INIT;
    if (cov_hparams_check(hp, &e))
        fail_msg("%s", e.text);
}

TEST(checks_ranges)
{
    accepts(&cov_hparams_published);
    struct cov_hparams hp;
    static const struct {
        const char *name;
        size_t at;
        int64_t most;
    } sizes[] = {
        {"cnn_layers", offsetof(struct cov_hparams, cnn_layers), 256},
        {"filter_size", offsetof(struct cov_hparams, filter_size), INT32_MAX},
        {"kernel_size", offsetof(struct cov_hparams, kernel_size), 1 << 20},
        {"step", offsetof(struct cov_hparams, step), 1 << 20},
        {"up", offsetof(struct cov_hparams, up), INT32_MAX},
        {"dilation", offsetof(struct cov_hparams, dilation), 1 << 20},
        {"lstm_layers", offsetof(struct cov_hparams, lstm_layers), 256},
        {"hidden_size", offsetof(struct cov_hparams, hidden_size), INT32_MAX},
        {"output_size", offsetof(struct cov_hparams, output_size), 10000},
    };
    for (size_t i = 0; i < COV_COUNT(sizes); i++) {
        const int64_t bad[] = {0, -1, INT64_MIN, sizes[i].most + 1, INT64_MAX};
        for (size_t j = 0; j < COV_COUNT(bad); j++) {
            hp = cov_hparams_published;
            memcpy((char *)&hp + sizes[i].at, &bad[j], sizeof bad[j]);
            refuses(&hp, sizes[i].name);
            hp.model_type = COV_MODEL_CNN; /* has no LSTM, so that LSTM sizes do not matter */
            if (strcmp(sizes[i].name, "lstm_layers") == 0 ||
                strcmp(sizes[i].name, "hidden_size") == 0)
                accepts(&hp);
            else
                refuses(&hp, sizes[i].name);
        }
    }
    hp = cov_hparams_published;
    hp.input_size = 5;
    refuses(&hp, "input_size is 5, not 4");
    const double dropouts[] = {-0.1, 1, 2, (double)NAN};
    for (size_t i = 0; i < COV_COUNT(dropouts); i++) {
        hp = cov_hparams_published;
        hp.dropout = dropouts[i];
        refuses(&hp, "dropout is ");
    }
}

/* Products such as filter_size * up^i must not overflow before the network is refused. */
TEST(refuses_petabytes)
{
    const char *text = "more than 2^31 parameters";
    struct cov_hparams hp = cov_hparams_published;
    hp.filter_size = INT32_MAX;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.up = INT32_MAX;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.cnn_layers = 256;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.hidden_size = INT32_MAX;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.lstm_layers = 256;
    hp.hidden_size = 1 << 14;
    refuses(&hp, text);

    /* A cnn without a norm, with one layer, kernel 1, step 1, f filters and d outputs, has 4f + f +
     * 4f + 4 + 5d parameters. */
    hp = (struct cov_hparams){.model_type = COV_MODEL_CNN,
                              .cnn_layers = 1,
                              .kernel_size = 1,
                              .step = 1,
                              .up = 1,
                              .dilation = 1,
                              .input_size = 4,
                              .output_size = 8};
    hp.filter_size = ((INT64_C(1) << 31) - 4 - 40) / 9; /* as many as fit */
    assert_true(hp.filter_size * 9 + 44 == (INT64_C(1) << 31) - 3);
    accepts(&hp);
    hp.output_size = 9;
    refuses(&hp, text);

    /* A hybrid has 4f + f parameters, then 4h(f + h + 2) in the LSTM, then 4h + 4 + 5d. With h = 1,
     * the sum is 9f + 12 + 4 + 4 + 5d. */
    hp.model_type = COV_MODEL_HYBRID;
    hp.lstm_layers = 1;
    hp.hidden_size = 1;
    hp.output_size = 1;
    hp.filter_size = ((INT64_C(1) << 31) - 25) / 9;
    accepts(&hp);
    hp.filter_size++;
    refuses(&hp, text);
}

TEST(pads)
{
    /* Computed by hand from the definition. */
    static const struct {
        int64_t kernel, step, dilation, conv, transposed, output;
    } cases[] = {
        {9, 2, 1, 4, 4, 1}, {8, 2, 1, 3, 3, 0}, {7, 3, 1, 2, 2, 0}, {8, 2, 2, 7, 7, 1},
        {9, 2, 2, 8, 8, 1}, {3, 4, 1, 0, 0, 1}, {9, 1, 1, 4, 4, 0}, {1, 1, 1, 0, 0, 0},
        {1, 2, 1, 0, 0, 1}, {4, 3, 3, 4, 4, 1}, {6, 3, 2, 4, 4, 0},
    };
    struct cov_hparams hp = cov_hparams_published;
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        hp.kernel_size = cases[i].kernel;
        hp.step = cases[i].step;
        hp.dilation = cases[i].dilation;
        accepts(&hp);
        struct cov_paddings pad = cov_hparams_paddings(&hp);
        assert_int_equal(pad.conv, cases[i].conv);
        assert_int_equal(pad.transposed, cases[i].transposed);
        assert_int_equal(pad.output, cases[i].output);
    }
    hp = cov_hparams_published;
    hp.step = 1;
    hp.kernel_size = 8;
    refuses(&hp, "step is 1 with the even kernel_size 8");
    hp.step = 5;
    hp.kernel_size = 3;
    refuses(&hp, "step 5 is too large for kernel_size 3 and dilation 1");
    hp.step = 3;
    hp.kernel_size = 1;
    hp.dilation = 100;
    refuses(&hp, "step 3 is too large for kernel_size 1");
    hp = cov_hparams_published;
    hp.kernel_size = 1025;
    hp.dilation = 1024;
    refuses(&hp, "kernel_size 1025 with dilation 1024 spans more than");
}
