/* fuzz_bigwig.c - a bigWig: the intervals keep what the header promises.
 * Target: common/track/formats/bigwig_reader.c
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "common/track/formats/bigwig.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 1 << 20, MOST_CONTIGS = 64 };

static void read_on(struct cov_bigwig_reader *r)
{
    const struct cov_interval *iv;
    size_t contig, last = SIZE_MAX, n;
    int64_t end = 0;
    for (size_t total = 0; total < MOST && cov_bigwig_reader_next(r, &contig, &iv, &n, NULL) > 0;) {
        if (contig >= cov_bigwig_reader_n_contigs(r) || n == 0)
            abort();
        if (contig != last)
            end = 0;
        last = contig;
        for (size_t i = 0; i < n; i++) {
            if (iv[i].beg < end || iv[i].end <= iv[i].beg ||
                iv[i].end > cov_bigwig_reader_length(r, contig) || !isfinite((double)iv[i].value))
                abort();
            end = iv[i].end;
        }
        total += n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_bigwig_reader *r;
    if (cov_bigwig_reader_open(fuzz_file(data, n), &r, NULL))
        return 0;
    read_on(r);
    for (size_t i = 0; i < cov_bigwig_reader_n_contigs(r) && i < MOST_CONTIGS; i++)
        if (!cov_bigwig_reader_contig(r, i))
            abort();
    cov_bigwig_reader_close(r);
    return 0;
}
