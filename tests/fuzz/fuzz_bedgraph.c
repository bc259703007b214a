/* fuzz_bedgraph.c - bedGraph text: what comes keeps what the header promises.
 * Target: common/track/formats/bedgraph.c
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "common/track/formats/intervals.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_intervals *t;
    struct cov_intervals_batch b;
    char place[COV_INTERVALS_PLACE];
    size_t last = SIZE_MAX, n_contigs = 0;
    int64_t end = 0;
    enum cov_intervals_kind kind;
    const char *path = fuzz_file(data, n);
    int rc = cov_intervals_detect(path, &kind, NULL);
    if (rc || kind == COV_INTERVALS_BIGWIG || cov_intervals_open(path, 1, &t, NULL))
        return 0;
    while (cov_intervals_next(t, &b, NULL) > 0) {
        if (b.n == 0 || b.contig >= cov_intervals_n_contigs(t) ||
            !*cov_intervals_contig(t, b.contig))
            abort();
        if (b.contig != last) {
            if (b.contig < n_contigs) /* those before it may have gaps only */
                abort();
            n_contigs = b.contig + 1;
            end = 0;
        }
        last = b.contig;
        for (size_t i = 0; i < b.n; i++) {
            if (b.iv[i].beg < end || b.iv[i].end <= b.iv[i].beg || !isfinite((double)b.iv[i].value))
                abort();
            end = b.iv[i].end;
        }
        cov_intervals_place(t, b.n - 1, place);
    }
    cov_intervals_close(t);
    return 0;
}
