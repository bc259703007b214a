/* track_dump.c - converts a bigWig or bedGraph to bedGraph with our readers: track_dump FILE.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "common/track/formats/intervals.h"

static int dump(struct cov_intervals *t, struct cov_err *e)
{
    struct cov_intervals_batch b;
    int rc;
    while ((rc = cov_intervals_next(t, &b, e)) > 0)
        for (size_t i = 0; i < b.n; i++)
            if (printf("%s\t%" PRId64 "\t%" PRId64 "\t%.9g\n", cov_intervals_contig(t, b.contig),
                       b.iv[i].beg, b.iv[i].end, (double)b.iv[i].value) < 0)
                return COV_EIO;
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_intervals *t;
    struct cov_err e = COV_ERR_INIT;
    if (argc != 2)
        return 2;
    int rc = cov_intervals_open(argv[1], 1, &t, &e);
    if (!rc)
        rc = dump(t, &e);
    cov_intervals_close(t);
    if (rc)
        (void)fprintf(stderr, "track_dump: error: %s\n", e.text);
    return rc || fflush(stdout) != 0;
}
