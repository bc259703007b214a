/* bench_intervals.c - speed of reading the intervals of track files: bench_intervals FILE...
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/track/formats/intervals.h"

static int read_all(const char *path, struct cov_err *e)
{
    struct cov_intervals *t;
    struct cov_intervals_batch b;
    double beg = cov_clock(), sum = 0;
    int64_t n = 0;
    int rc = cov_intervals_open(path, 1, &t, e);
    while (!rc && (rc = cov_intervals_next(t, &b, e)) > 0) {
        rc = 0;
        n += (int64_t)b.n;
        for (size_t i = 0; i < b.n; i++)
            sum += (double)(b.iv[i].end - b.iv[i].beg) * (double)b.iv[i].value;
    }
    cov_intervals_close(t);
    double s = cov_clock() - beg;
    if (!rc)
        printf("%s: %" PRId64 " intervals, sum %.9g, %.3f s, %.1f million a second\n", path, n, sum,
               s, (double)n / s / 1e6);
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    for (int i = 1; i < argc; i++)
        if (read_all(argv[i], &e)) {
            (void)fprintf(stderr, "%s\n", e.text);
            return 1;
        }
    return 0;
}
