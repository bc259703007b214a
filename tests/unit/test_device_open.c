/* test_device_open.c - names of devices, and what is opened where there is no plugin.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compute/device_open.h"

static void parses(const char *text, enum cov_device_kind kind, size_t n_cards)
{
    struct cov_device_choice choice;
    assert_int_equal(cov_device_parse(text, &choice, NULL), COV_OK);
    assert_int_equal(choice.kind, kind);
    assert_int_equal(choice.n_cards, n_cards);
}

static void names(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",      "CPU",      "cuda:",   "cuda:0,", "cuda:,0",     "cuda:1,1", "cuda:-1", "cuda:1;2",
        "cuda0", "cuda:0x1", "cuda: 1", "gpu",     "cuda:123456", "auto:0",   "cuda:1.5"};
    struct cov_device_choice choice;
    char many[8 * (COV_DEVICE_MAX_CARDS + 1)] = "cuda:0";
    parses("auto", COV_DEVICE_AUTO, 0);
    parses("cpu", COV_DEVICE_CPU, 0);
    parses("cuda", COV_DEVICE_CUDA, 0);
    parses("cuda:7", COV_DEVICE_CUDA, 1);
    assert_int_equal(cov_device_parse("cuda:3,0,12", &choice, NULL), COV_OK);
    assert_int_equal(choice.n_cards, 3);
    assert_int_equal(choice.cards[0], 3);
    assert_int_equal(choice.cards[1], 0);
    assert_int_equal(choice.cards[2], 12);
    for (size_t i = 0; i < COV_COUNT(wrong); i++) {
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_device_parse(wrong[i], &choice, &e), COV_EUSAGE);
        assert_non_null(strstr(e.text, "--device: "));
    }
    for (int i = 1; i < COV_DEVICE_MAX_CARDS; i++)
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", i);
    parses(many, COV_DEVICE_CUDA, COV_DEVICE_MAX_CARDS);
    (void)snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", COV_DEVICE_MAX_CARDS);
    assert_int_equal(cov_device_parse(many, &choice, NULL), COV_EUSAGE);
}

static void no_plugin(void **state)
{
    (void)state;
    static const struct cov_device_choice automatic = {.kind = COV_DEVICE_AUTO},
                                          cpu = {.kind = COV_DEVICE_CPU},
                                          cuda = {.kind = COV_DEVICE_CUDA};
    struct cov_device *dev;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(setenv("COVTOOLS_PLUGINS", "/nonexistent", 1), 0);
    assert_int_equal(cov_device_open(&cuda, NULL, &dev, &e), COV_EUNSUPPORTED);
    assert_null(dev);
    assert_non_null(strstr(e.text, "/nonexistent/covtools-cuda.so not found"));
    assert_int_equal(cov_device_open(&automatic, NULL, &dev, NULL), COV_OK);
    assert_string_equal(dev->ops->name, "cpu");
    assert_int_equal(cov_device_waiting(dev), 0);
    assert_int_equal(cov_device_batch(dev, 100), 16);
    assert_int_equal(cov_device_batch(dev, 65536), 16);
    assert_int_equal(cov_device_batch(dev, 65537), 8);
    assert_int_equal(cov_device_batch(dev, 2000000), 1);
    cov_device_close(dev);
    assert_int_equal(cov_device_open(&cpu, NULL, &dev, NULL), COV_OK);
    assert_string_equal(dev->ops->name, "cpu");
    cov_device_close(dev);
    const struct cov_cpu_options wrong = {.levels = "none such"};
    assert_int_equal(cov_device_open(&automatic, &wrong, &dev, NULL), COV_EUSAGE);
    const struct cov_cpu_options tf32 = {.precision = COV_PRECISION_TF32};
    assert_int_equal(cov_device_open(&cpu, &tf32, &dev, NULL), COV_OK);
    assert_string_equal(dev->ops->precision(dev), "fp32");
    cov_device_close(dev);
}

/* A device that says what it wants. */
static void advise(const struct cov_device *dev, struct cov_device_advice *out)
{
    (void)dev;
    *out = (struct cov_device_advice){.batch = 64, .batch_bases = 1000, .n_waiting = 4};
}

static void advice(void **state)
{
    (void)state;
    static const struct cov_device_ops ops = {.name = "some", .advise = advise};
    const struct cov_device dev = {&ops};
    assert_int_equal(cov_device_batch(&dev, 10), 64);
    assert_int_equal(cov_device_batch(&dev, 100), 10);
    assert_int_equal(cov_device_batch(&dev, 2000), 1);
    assert_int_equal(cov_device_waiting(&dev), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(no_plugin),
                                       cmocka_unit_test(advice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
