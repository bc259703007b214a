/* fuzz_alignments.c - reads of SAM or BAM, counted by rules from the first bytes: spans are within their contig and ascend.
 * BAM comes uncompressed and is put into BGZF here.
 * Target: common/features/alignments.c, common/features/counting.c
 * SPDX-License-Identifier: MIT */
#include "common/features/counting.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 4)
        return 0;
    const struct cov_alignments_options o = {.n_threads = 1};
    const struct cov_counting rules = {.unit = (enum cov_count_unit)(data[0] % 3),
                                       .strand = (enum cov_count_strand)(data[0] / 4 % 4),
                                       .exclude_flags = COV_COUNT_HELIXER_EXCLUDES,
                                       .min_mapq = data[1] & 1 ? 10 : 0,
                                       .has_shift = (data[0] & 64) != 0,
                                       .shift_plus = (int8_t)data[2],
                                       .shift_minus = (int8_t)data[3]};
    bool is_bam = n > 8 && memcmp(data + 4, "BAM\1", 4) == 0;
    const char *path = is_bam ? fuzz_bgzf(data + 4, n - 4) : fuzz_file(data + 4, n - 4);
    struct cov_alignments *a;
    struct cov_read read;
    struct cov_spans spans = {0};
    if (cov_alignments_open(path, &o, &a, NULL))
        return 0;
    while (cov_alignments_next(a, &read, NULL) > 0) {
        if (read.contig < 0)
            continue;
        if ((size_t)read.contig >= cov_alignments_n_contigs(a) || !read.name)
            abort();
        int64_t length = cov_alignments_contig_length(a, (size_t)read.contig), end = 0;
        if (cov_count_spans(&rules, &read, length, &spans, NULL) != COV_COUNTED)
            continue;
        for (size_t i = 0; i < spans.n; i++) {
            if (spans.items[i].beg < end || spans.items[i].end <= spans.items[i].beg ||
                spans.items[i].end > length)
                abort();
            end = spans.items[i].beg;
        }
    }
    free(spans.items);
    cov_alignments_close(a);
    return 0;
}
