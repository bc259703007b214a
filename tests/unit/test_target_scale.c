/* test_target_scale.c - the scale of targets in a checkpoint: written and read again, and damage.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/examples/target_scale.h"

static const char *const datasets[] = {"atac", "h3k4me3", "h3k27ac", "input"};

TEST(round_trips)
{
    static const double references[] = {1.0 / 3, 0, 1e-9, 123456.789};
    struct cov_target_scale s, back;
    struct cov_ckpt c = COV_CKPT_INIT;
    assert_ok(cov_target_scale_init(&s, datasets, COV_COUNT(references), &e));
    assert_ok(cov_target_scale_init(&back, datasets, COV_COUNT(references), &e));
    assert_ok(cov_target_scale_describe(&s, &c, &e));
    assert_int_equal(c.n_made, 0);
    s.kind = COV_TARGET_MEDIAN;
    memcpy(s.references, references, sizeof references);
    assert_ok(cov_target_scale_describe(&s, &c, &e));
    assert_ok(cov_target_scale_read(&c, &back, &e));
    assert_int_equal(back.kind, COV_TARGET_MEDIAN);
    assert_memory_equal(back.references, references, sizeof references);
    cov_ckpt_fini(&c);
    assert_ok(cov_target_scale_read(&c, &back, &e));
    assert_int_equal(back.kind, COV_TARGET_NONE);
    cov_target_scale_fini(&s);
    cov_target_scale_fini(&back);
    (void)state;
}

TEST(refuses_damage)
{
    static const char *const damaged[][2] = {
        {"mean", "1, 2"},    {"none", "1, 2"},    {"median", NULL},   {"median", "1"},
        {"median", "1,2,3"}, {"median", "1, -2"}, {"median", "1, x"}, {"median", "nan, 1"}};
    for (size_t i = 0; i < COV_COUNT(damaged); i++) {
        struct cov_target_scale s;
        struct cov_ckpt c = COV_CKPT_INIT;
        struct cov_err err = COV_ERR_INIT;
        assert_ok(cov_target_scale_init(&s, datasets, 2, &e));
        assert_ok(cov_ckpt_add_made(&c, "target_scale", damaged[i][0], &e));
        if (damaged[i][1])
            assert_ok(cov_ckpt_add_made(&c, "target_depths", damaged[i][1], &e));
        assert_int_equal(cov_target_scale_read(&c, &s, &err), COV_EINPUT);
        check_error(&err, COV_EINPUT,
                    i < 2 ? "target_scale: unknown" : "target_depths: not 2 depths");
        cov_ckpt_fini(&c);
        cov_target_scale_fini(&s);
    }
    (void)state;
}
