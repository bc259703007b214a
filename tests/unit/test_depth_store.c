/* test_depth_store - depth that waits in a file comes back as it was.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/rng.h"
#include "common/track/depth_store.h"

enum { N_PIECES = 40, N_MAX = 3000, N_LANES = 2 };

/* Flat, stepwise or random values, by the kind. */
static void make_lane(struct cov_rng *rng, size_t kind, size_t n, int32_t *lane)
{
    int32_t value = 0;
    for (size_t i = 0; i < n; i++) {
        if (kind == 1)
            value += (int32_t)cov_rng_below(rng, 3) - 1;
        else if (kind == 2)
            value = (int32_t)(cov_rng_next(rng) >> 33);
        lane[i] = value;
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    static int32_t lanes[N_PIECES][N_LANES][N_MAX], got[N_LANES][N_MAX];
    struct cov_depth_store s;
    struct cov_blob blob = COV_BLOB_INIT;
    struct cov_rng rng;
    size_t n[N_PIECES];
    cov_rng_init(&rng, 3);
    assert_int_equal(cov_depth_store_init(&s, N_PIECES, N_LANES, "/tmp", NULL), 0);
    for (size_t i = 0; i < N_PIECES; i++) {
        n[i] = i < 10 ? i + 1 : 1 + cov_rng_below(&rng, N_MAX);
        for (size_t k = 0; k < N_LANES; k++)
            make_lane(&rng, (i + k) % 3, n[i], lanes[i][k]);
        const int32_t *in[N_LANES] = {lanes[i][0], lanes[i][1]};
        assert_int_equal(cov_depth_pack(in, N_LANES, n[i], &blob, NULL), 0);
        if (i != 7)
            assert_int_equal(cov_depth_store_put(&s, i, &blob, NULL), 0);
    }
    memset(lanes[7], 0, sizeof lanes[7]); /* what was not put */
    for (size_t i = N_PIECES; i-- > 0;) {
        int32_t *out[N_LANES] = {got[0], got[1]};
        assert_int_equal(cov_depth_store_get(&s, i, n[i], out, &blob, NULL), 0);
        for (size_t k = 0; k < N_LANES; k++)
            assert_memory_equal(got[k], lanes[i][k], n[i] * sizeof **got);
    }
    cov_depth_store_fini(&s);
    cov_blob_fini(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip)};
    return cmocka_run_group_tests_name("depth_store", tests, NULL, NULL);
}
