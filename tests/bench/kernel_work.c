/* kernel_work.c - runs a fixed amount of work: N single-precision matrix products with the widest
 * instructions. `kernel_work N` prints the seconds of processor time.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/base/number.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/gemm.h"

/* As in an LSTM of the published size. */
enum { ROWS = 64, DEPTH = 384, COLUMNS = 512 };

static float a[ROWS * DEPTH], b[DEPTH * COLUMNS], c[ROWS * COLUMNS];

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fill(struct cov_rng *rng, float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (float)cov_rng_double(rng) * 2 - 1;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_matrix m;
    struct cov_rng rng;
    int64_t n = 0;
    int rc = argc == 2 ? cov_parse_size(argv[1], "N", 1, 1000000000, &n, &e)
                       : cov_fail(&e, COV_EUSAGE, "usage: kernel_work N");
    cov_rng_init(&rng, 1);
    fill(&rng, a, COV_COUNT(a));
    fill(&rng, b, COV_COUNT(b));
    const struct cov_gemm *gemm = cov_gemm_choose(cov_cpu_features());
    if (!rc)
        rc = cov_matrix_init(gemm, DEPTH, COLUMNS, b, &m, &e);
    if (rc) {
        (void)fprintf(stderr, "kernel_work: %s\n", e.text);
        return rc == COV_EUSAGE ? 2 : 1;
    }
    double start = now();
    for (int64_t i = 0; i < n; i++)
        gemm->run(ROWS, a, DEPTH, &m, c, COLUMNS, i > 0 && i % 16);
    (void)printf("%.6f\n", now() - start);
    cov_matrix_fini(&m);
    return c[0] == 0 || fclose(stdout) != 0;
}
