/* test_smooth.c - compares the moving mean and the Gaussian with direct sums, the mean with numpy, and
 * tests the choice of smoothing.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/track/smooth.h"

enum { MAX_N = 3000 };

/* Passes x[0..n) in pieces of `piece` values (0: pieces of many lengths) and collects the output. */
static void smooth(struct cov_smoother *s, const float *x, size_t n, size_t piece, float *out)
{
    size_t k = 0;
    cov_smoother_begin(s);
    for (size_t i = 0; i < n;) {
        size_t m = piece ? piece : 1 + (i * 7 + n) % (n < 500 ? 13 : 43);
        m = m < n - i ? m : n - i;
        float part[MAX_N];
        memcpy(part, x + i, m * sizeof *x);
        size_t got = cov_smoother_add(s, part, m, part); /* in place */
        assert_true(got <= m && k + got <= n);
        memcpy(out + k, part, got * sizeof *out);
        k += got;
        i += m;
    }
    size_t got;
    while ((got = cov_smoother_end(s, out + k, 3)) > 0)
        k += got;
    assert_int_equal(k, n);
}

enum { SHORT = 400 };

static void init_mean(struct cov_smoother *s, size_t window, bool round)
{
    const struct cov_smoothing mean = {.window = (int64_t)window};
    assert_ok(cov_smoother_init(s, &mean, round, &e));
}

static double window_sum(const float *x, size_t n, size_t w, size_t i)
{
    int64_t r = (int64_t)(w - 1) / 2, l = (int64_t)w - 1 - r;
    double sum = 0;
    for (int64_t k = (int64_t)i - l; k <= (int64_t)i + r; k++)
        if (k >= 0 && k < (int64_t)n)
            sum += (double)x[k];
    return sum;
}

TEST(matches_direct_sums)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 11);
    static const size_t lengths[] = {1, 2, 3, 5, 8, 19, 20, 21, 39, 40, 41, 137, 400};
    static const size_t pieces[] = {1, 2, 7, 400, 0};
    for (size_t w = 1; w <= 20; w++)
        for (int round = 0; round < 2; round++) {
            struct cov_smoother s;
            init_mean(&s, w, round);
            for (size_t li = 0; li < COV_COUNT(lengths); li++)
                for (size_t pi = 0; pi < COV_COUNT(pieces); pi++) {
                    size_t n = lengths[li];
                    float x[SHORT], out[SHORT];
                    for (size_t i = 0; i < n; i++)
                        x[i] = (float)(cov_rng_next(&rng) % 50);
                    smooth(&s, x, n, pieces[pi], out);
                    for (size_t i = 0; i < n; i++) {
                        double sum = window_sum(x, n, w, i), mean = sum / (double)w;
                        if (!round)
                            assert_true(out[i] == (float)mean);
                        else if (fmod(2 * sum, 2 * (double)w) == (double)w)
                            assert_true(fabs((double)out[i] - mean) == 0.5);
                        else
                            assert_true((double)out[i] == rint(mean));
                    }
                }
            cov_smoother_fini(&s);
        }
}

/* Ties are rounded as in numpy. If the window is a power of two, the mean has no rounding error,
 * and ties go to the even integer. The expected values come from numpy.convolve(x, ones(w)/w,
 * "same").round() with OpenBLAS on an AVX2 CPU. */
TEST(rounds_ties_like_numpy)
{
    static const char input[] =
        "23031221301121000003023011130333012122203231130012031023331032300211302113010012";
    static const struct {
        size_t w;
        const char *expected;
    } cases[] = {
        {6, "11222222211111100001112112122222222121222222211111111222222222121111111211111110"},
        {14, "11111112111111111111111112212212222222222212111111122122222222221112111111111111"},
        {18, "11111111111111111111111111122222222222221112211222222222222222222211111111111111"},
        {22, "11111111111111111111111111111122222222222211122222222211112222222221111111111111"},
        {24, "11111111111111111111111111111122222222222221122222222221121222222111111111111111"},
        {34, "11111111111111111111111111111111111221222222222222222222121111111111111111111111"},
    };
    enum { N = sizeof input - 1 };
    float x[N], out[N];
    for (size_t i = 0; i < N; i++)
        x[i] = (float)(input[i] - '0');
    for (size_t c = 0; c < COV_COUNT(cases); c++) {
        struct cov_smoother s;
        init_mean(&s, cases[c].w, true);
        smooth(&s, x, N, 0, out);
        for (size_t i = 0; i < N; i++)
            assert_int_equal((int)out[i], cases[c].expected[i] - '0');
        cov_smoother_fini(&s);
    }
    struct cov_smoother s;
    init_mean(&s, 8, true);
    smooth(&s, x, N, 0, out);
    for (size_t i = 0; i < N; i++)
        assert_true((double)out[i] == rint(window_sum(x, N, 8, i) / 8));
    cov_smoother_fini(&s);
}

/* A large value that has left the window does not affect a single bit. */
TEST(leaves_no_trace)
{
    struct cov_smoother s;
    init_mean(&s, 10, false);
    float x[SHORT] = {0}, out[SHORT];
    x[3] = 1e30F;
    x[100] = 0.1F;
    smooth(&s, x, SHORT, 0, out);
    for (size_t i = 20; i < SHORT; i++)
        assert_true(out[i] == (i >= 96 && i <= 105 ? (float)((double)0.1F / 10) : 0));
    cov_smoother_fini(&s);
}

/* The window is much wider than a contig, and several contigs use the same state. */
TEST(handles_short_contigs)
{
    struct cov_smoother s;
    init_mean(&s, 1000, false);
    for (size_t n = 0; n < 50; n++) {
        float x[SHORT], out[SHORT];
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(i + n);
        smooth(&s, x, n, 0, out);
        for (size_t i = 0; i < n; i++)
            assert_true(out[i] == (float)(window_sum(x, n, 1000, i) / 1000));
    }
    cov_smoother_fini(&s);
    init_mean(&s, COV_SMOOTH_MAX_WINDOW, true);
    float x[3] = {2e6F, 0, 1e6F}, out[3];
    smooth(&s, x, 3, 0, out);
    for (size_t i = 0; i < 3; i++)
        assert_true(out[i] == 3);
    cov_smoother_fini(&s);
}

TEST(parses_options)
{
    static const struct {
        const char *text;
        double sd;
    } cases[] = {
        {"gauss:50", 50},
        {"gauss:2.5", 2.5},
        {"gauss:1e-3", 1e-3},
        {"gauss:10000", 10000},
        {"gauss:", 0},
        {"gauss", 0},
        {"gauss:0", 0},
        {"gauss:-1", 0},
        {"gauss:10001", 0},
        {"gauss:nan", 0},
        {"gauss:5x", 0},
        {"mean:5", 0},
        {"", 0},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_smoothing s = {0};
        struct cov_err e = COV_ERR_INIT;
        int rc = cov_smoothing_parse(cases[i].text, "--smooth", &s, &e);
        assert_int_equal(rc, cases[i].sd > 0 ? COV_OK : COV_EUSAGE);
        assert_true(rc || s.sd == cases[i].sd);
        assert_true(!rc || strncmp(e.text, "--smooth: ", 10) == 0);
    }
}

/* ---- Gaussian ---- */

static void init_gauss(struct cov_smoother *s, double sd, bool round)
{
    const struct cov_smoothing gauss = {.sd = sd};
    assert_ok(cov_smoother_init(s, &gauss, round, &e));
}

static double gauss_direct(const float *x, size_t n, double sd, size_t i)
{
    int64_t r = (int64_t)(4 * sd + 0.5);
    double total = 0, sum = 0;
    for (int64_t j = -r; j <= r; j++) {
        double w = exp(-0.5 * (double)(j * j) / (sd * sd));
        total += w;
        int64_t at = (int64_t)i + j;
        if (at >= 0 && at < (int64_t)n)
            sum += w * (double)x[at];
    }
    return sum / total;
}

enum kind { DENSE, SPARSE, STEPS, FLOATS, KINDS };

static void make(struct cov_rng *rng, enum kind kind, float *x, size_t n)
{
    size_t left = 0;
    float value = 0;
    for (size_t i = 0; i < n; i++, left--) {
        uint64_t random = cov_rng_next(rng);
        if (left == 0) {
            left = kind == STEPS ? 1 + random % 200 : 1;
            value = (float)(random / 256 % 50);
        }
        if (kind == SPARSE)
            value = random % 40 ? 0 : (float)(random / 64 % 1000);
        if (kind == FLOATS)
            value = (float)((double)(random % 1000003) / 1e4 - 3);
        x[i] = value;
    }
}

TEST(gauss_matches_direct_sums)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    static const double sds[] = {0.1, 0.5, 1, 1.3, 2.5, 7, 50.25};
    static const size_t lengths[] = {1, 2, 15, 16, 17, 31, 100, 401, 402, 1000};
    static const size_t pieces[] = {1, 16, 400, 0};
    for (size_t s = 0; s < COV_COUNT(sds); s++)
        for (int round = 0; round < 2; round++) {
            struct cov_smoother g;
            init_gauss(&g, sds[s], round);
            for (size_t c = 0; c < COV_COUNT(lengths) * KINDS; c++) {
                size_t n = lengths[c / KINDS];
                float x[MAX_N], out[MAX_N], same[MAX_N];
                make(&rng, c % KINDS, x, n);
                smooth(&g, x, n, 0, out);
                for (size_t p = 0; p < COV_COUNT(pieces); p++) {
                    smooth(&g, x, n, pieces[p], same);
                    assert_memory_equal(same, out, n * sizeof *out);
                }
                for (size_t i = 0; i < n; i++) {
                    double wanted = gauss_direct(x, n, sds[s], i), got = (double)out[i];
                    if (!round)
                        assert_true(fabs(got - wanted) <= 1e-7 * fabs(wanted) + 1e-13);
                    else if (fabs(wanted - floor(wanted) - 0.5) > 1e-9)
                        assert_true(got == rint(wanted));
                }
            }
            cov_smoother_fini(&g);
        }
}

/* Constant stretches keep their value to the last bit, even zeros next to large values. */
TEST(gauss_keeps_constants)
{
    static const float values[] = {0, 0.1F, 3, 1e30F, -7.7F};
    struct cov_smoother g;
    init_gauss(&g, 10, false);
    for (size_t v = 0; v < COV_COUNT(values); v++) {
        float x[MAX_N], out[MAX_N];
        for (size_t i = 0; i < MAX_N; i++)
            x[i] = values[v];
        x[500] = 1e30F;
        x[502] = -0.3F;
        smooth(&g, x, MAX_N, 0, out);
        for (size_t i = 40; i < MAX_N - 40; i++)
            assert_true(out[i] == values[v] || (i >= 460 && i <= 542));
        assert_true(out[2] < values[v] || values[v] <= 0);
    }
    cov_smoother_fini(&g);
}

/* The sum is preserved: the weights add up to 1. */
TEST(gauss_keeps_the_sum)
{
    static const double sds[] = {0.3, 3, 60.5};
    for (size_t s = 0; s < COV_COUNT(sds); s++) {
        struct cov_smoother g;
        float x[MAX_N] = {0}, out[MAX_N];
        double sum = 0;
        init_gauss(&g, sds[s], false);
        x[1000] = 1;
        smooth(&g, x, MAX_N, 0, out);
        for (size_t i = 0; i < MAX_N; i++)
            sum += (double)out[i];
        assert_true(fabs(sum - 1) < 1e-6);
        for (size_t i = 1; i < 900; i++)
            assert_true(out[1000 - i] == out[1000 + i]);
        cov_smoother_fini(&g);
    }
}

/* Values do not change if sd is so small that its square is 0, or that sd is denormal. */
TEST(gauss_keeps_values_if_narrow)
{
    static const double sds[] = {0.1, 1e-100, 1e-200, 1e-320};
    for (size_t s = 0; s < COV_COUNT(sds); s++) {
        struct cov_smoother g;
        float x[100], out[100];
        for (size_t i = 0; i < COV_COUNT(x); i++)
            x[i] = (float)(i % 7);
        init_gauss(&g, sds[s], false);
        smooth(&g, x, COV_COUNT(x), 0, out);
        assert_memory_equal(out, x, sizeof x);
        cov_smoother_fini(&g);
    }
}

/* Uses the widest kernel, which is much wider than the contigs, and one state for several
 * contigs. */
TEST(gauss_handles_short_contigs)
{
    struct cov_smoother g;
    init_gauss(&g, COV_GAUSS_MAX_SD, false);
    float x[MAX_N], out[MAX_N];
    for (size_t n = 0; n < 20; n++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(i + n);
        smooth(&g, x, n, 0, out);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs((double)out[i] - gauss_direct(x, n, COV_GAUSS_MAX_SD, i)) < 1e-9);
    }
    cov_smoother_fini(&g);
}
