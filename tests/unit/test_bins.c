/* test_bins.c - means of a region, with and without a list of contigs, against direct ones.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/base/rng.h"
#include "common/track/bins.h"

enum { LENGTH = 1000, MOST = 16 };

/* The three contigs, the second of them with the values x, NaN: none. */
static void fill(struct cov_track_sink *s, const float *x)
{
    static const char *const names[] = {"a", "b", "c"};
    for (size_t c = 0; c < 3; c++) {
        assert_int_equal(s->contigs ? cov_track_begin(s, c, NULL)
                                    : cov_track_begin_named(s, names[c], NULL),
                         COV_OK);
        for (int64_t i = 0; i < LENGTH; i++) {
            const struct cov_interval iv = {i, i + 1, c == 1 ? x[i] : 1e9F};
            if (isfinite(iv.value))
                assert_int_equal(cov_track_add(s, &iv, 1, NULL), COV_OK);
        }
        if (!s->contigs)
            assert_int_equal(cov_track_end_contig(s, LENGTH, NULL), COV_OK);
    }
    assert_int_equal(cov_track_close(s, NULL), COV_OK);
}

static const int64_t lengths[] = {LENGTH, LENGTH, LENGTH};
static const char *const names[] = {"a", "b", "c"};
static const struct cov_track_contigs contigs = {3, names, lengths};

static void equals_direct_means(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t beg, end, width, unknown_width; /* 0: as the width */
    } cases[] = {
        {"b:1-1000", 0, 1000, 63, 0},     {"b:11-26", 10, 26, 1, 0},
        {"b:1000-1000", 999, 1000, 1, 0}, {"b:991-2000", 990, 1000, 1, 64},
        {"b:11-27", 10, 27, 2, 0},        {"b", 0, 1000, 63, 64},
    };
    float x[LENGTH];
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (size_t i = 0; i < LENGTH; i++)
        x[i] = (i > 400 && i < 600) || cov_rng_next(&rng) % 5 == 0
                   ? (float)NAN
                   : (float)(cov_rng_next(&rng) % 90);
    for (size_t c = 0; c < COV_COUNT(cases) * 2; c++) {
        bool listed = c % 2 == 0;
        struct cov_range range;
        struct cov_track_sink *s;
        struct cov_bins b;
        assert_int_equal(cov_range_parse(cases[c / 2].text, &range, NULL), COV_OK);
        assert_int_equal(cov_bins_open(&range, MOST, "x", listed ? &contigs : NULL, &s, NULL),
                         COV_OK);
        fill(s, x);
        assert_int_equal(cov_bins_get(s, &b, NULL), COV_OK);
        assert_string_equal(b.contig, "b");
        assert_int_equal(b.beg, cases[c / 2].beg);
        assert_int_equal(b.end, cases[c / 2].end);
        int64_t unknown = cases[c / 2].unknown_width;
        assert_int_equal(b.width, !listed && unknown ? unknown : cases[c / 2].width);
        assert_int_equal(b.n, (b.end - b.beg + b.width - 1) / b.width);
        for (size_t i = 0; i < b.n; i++) {
            double sum = 0, n = 0;
            for (int64_t k = 0; k < b.width; k++) {
                int64_t at = b.beg + (int64_t)i * b.width + k;
                if (at < b.end && isfinite(x[at])) {
                    sum += (double)x[at];
                    n++;
                }
            }
            assert_true(n > 0 ? fabs(b.means[i] - sum / n) < 1e-9 : isnan(b.means[i]));
        }
        cov_track_free(s);
    }
}

static void says_what_is_not_there(void **state)
{
    (void)state;
    static const char *const texts[] = {"d:1-5", "d", "b:1001-1002"};
    float x[LENGTH] = {0};
    for (size_t c = 0; c < COV_COUNT(texts); c++) {
        struct cov_range range;
        struct cov_track_sink *s;
        struct cov_bins b;
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_range_parse(texts[c], &range, NULL), COV_OK);
        assert_int_equal(cov_bins_open(&range, MOST, "x", &contigs, &s, &e), COV_EUSAGE);
        assert_null(s);
        assert_int_equal(cov_bins_open(&range, MOST, "x", NULL, &s, NULL), COV_OK);
        fill(s, x);
        cov_err_clear(&e);
        assert_int_equal(cov_bins_get(s, &b, &e), COV_EUSAGE);
        assert_int_equal(strncmp(e.text, "region ", 7), 0);
        cov_track_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_direct_means),
        cmocka_unit_test(says_what_is_not_there),
    };
    return cmocka_run_group_tests_name("bins", tests, NULL, NULL);
}
