/* test_gemm_amx.c - the loops around the tiles of AMX on any CPU, with C in the place of its
 * instructions, which is stricter than they are: it also fails where a tile is used that was not
 * configured, or before something was put there.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/check_gemm.h"

struct tile_config;
static void tile_configure(const struct tile_config *t);
static void tile_load(size_t t, const void *from, size_t bytes);
static void tile_store(size_t t, void *to, size_t bytes);
static void tile_dot(size_t sums, size_t a, size_t b);
static void tile_zero(size_t t);
static void tile_release(void);

#define TILE_CONFIGURE(t) tile_configure(t)
#define TILE_RELEASE() tile_release()
#define TILE_ZERO(t) tile_zero(t)
#define TILE_LOAD(t, from, bytes) tile_load(t, from, bytes)
#define TILE_STREAM(t, from, bytes) tile_load(t, from, bytes)
#define TILE_STORE(t, to, bytes) tile_store(t, to, bytes)
#define TILE_DOT(sums, a, b) tile_dot(sums, a, b)
#include "common/compute/cpu/gemm_amx_body.h"

static struct {
    struct tile_config config;
    bool configured, set[N_TILES];
    uint8_t data[N_TILES][TILE][TILE_BYTES];
} cpu;

static void tile_configure(const struct tile_config *t)
{
    assert_int_equal(sizeof *t, 64);
    assert_int_equal(t->palette, 1);
    memset(&cpu, 0, sizeof cpu);
    cpu.config = *t;
    cpu.configured = true;
    for (size_t i = 0; i < 16; i++) {
        assert_true(t->rows[i] <= TILE && t->row_bytes[i] <= TILE_BYTES);
        assert_true((t->rows[i] == 0) == (t->row_bytes[i] == 0));
        assert_true(i < N_TILES || t->rows[i] == 0);
    }
}

static void tile_release(void)
{
    assert_true(cpu.configured);
    memset(&cpu, 0, sizeof cpu);
}

static void tile_zero(size_t t)
{
    assert_true(cpu.configured && cpu.config.rows[t] > 0);
    memset(cpu.data[t], 0, sizeof cpu.data[t]);
    cpu.set[t] = true;
}

static void tile_load(size_t t, const void *from, size_t bytes)
{
    assert_true(cpu.configured && cpu.config.rows[t] > 0);
    for (size_t r = 0; r < cpu.config.rows[t]; r++)
        memcpy(cpu.data[t][r], (const uint8_t *)from + r * bytes, cpu.config.row_bytes[t]);
    cpu.set[t] = true;
}

static void tile_store(size_t t, void *to, size_t bytes)
{
    assert_true(cpu.configured && cpu.config.rows[t] > 0 && cpu.set[t]);
    for (size_t r = 0; r < cpu.config.rows[t]; r++)
        memcpy((uint8_t *)to + r * bytes, cpu.data[t][r], cpu.config.row_bytes[t]);
}

/* sums[m][n] += a[m][2k] b[k][2n] + a[m][2k+1] b[k][2n+1] */
static void tile_dot(size_t sums, size_t a, size_t b)
{
    const struct tile_config *t = &cpu.config;
    assert_true(cpu.configured && cpu.set[sums] && cpu.set[a] && cpu.set[b]);
    assert_true(sums != a && sums != b && a != b);
    assert_int_equal(t->rows[a], t->rows[sums]);
    assert_int_equal(t->row_bytes[a], t->rows[b] * 4);
    assert_int_equal(t->row_bytes[b], t->row_bytes[sums]);
    for (size_t m = 0; m < t->rows[sums]; m++)
        for (size_t n = 0; n < t->row_bytes[sums] / sizeof(float); n++) {
            float sum;
            memcpy(&sum, cpu.data[sums][m] + n * sizeof sum, sizeof sum);
            for (size_t k = 0; k < t->rows[b]; k++) {
                uint16_t x[2], y[2];
                memcpy(x, cpu.data[a][m] + k * sizeof x, sizeof x);
                memcpy(y, cpu.data[b][k] + n * sizeof y, sizeof y);
                sum += cov_bf16_float(x[0]) * cov_bf16_float(y[0]);
                sum += cov_bf16_float(x[1]) * cov_bf16_float(y[1]);
            }
            memcpy(cpu.data[sums][m] + n * sizeof sum, &sum, sizeof sum);
        }
}

static void multiplies(void **state)
{
    const struct cov_gemm one = {.name = "tiles",
                                 .needs = 0,
                                 .lanes = PAIRS_LANES,
                                 .width = PAIRS_PANEL,
                                 .run = amx_bf16,
                                 .arithmetic = COV_BF16,
                                 .k_unit = TILE_UNIT};
    const struct cov_gemm three = {.name = "tiles x3",
                                   .needs = 0,
                                   .lanes = PAIRS_LANES,
                                   .width = PAIRS_PANEL,
                                   .run = amx_bf16x3,
                                   .arithmetic = COV_BF16X3,
                                   .k_unit = TILE_UNIT};
    check_gemm(&one, *state);
    assert_false(cpu.configured);
    check_gemm(&three, *state);
    assert_false(cpu.configured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(multiplies, new_gemm_data, free_gemm_data),
    };
    return cmocka_run_group_tests_name("gemm_amx", tests, NULL, NULL);
}
