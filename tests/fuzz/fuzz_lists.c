/* fuzz_lists.c - text files: names to rename, lengths, blacklists, sequence reports, BED reads. The first byte says
 * which.
 * Target: common/seq/names.c, common/features/bed_reads.c, common/features/blacklist.c,
 *         common/job/chunks/set_blacklist.c
 * SPDX-License-Identifier: MIT */
#include "common/features/bed_reads.h"
#include "common/features/blacklist.h"
#include "common/job/chunks/chunk_jobs.h"
#include "common/seq/names.h"
#include "tests/fuzz/fuzz.h"

enum { KINDS = 5 };

static void read_bed(const char *path)
{
    struct cov_bed_reads b;
    struct cov_read r;
    (void)cov_bed_reads_detect(path);
    if (cov_bed_reads_init(&b, path, NULL) == COV_OK)
        while (cov_bed_reads_next(&b, &r, NULL) > 0)
            if (r.pos < 0 || (size_t)r.contig >= cov_names_count(b.names) ||
                (r.is_fragment && r.flags != 0))
                abort();
    cov_bed_reads_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    const char *path = fuzz_file(data + 1, n - 1), *first;
    struct cov_rename *r;
    struct cov_sizes s = {0};
    struct cov_blacklist *b;
    struct cov_sequence_report report;
    size_t k;
    if (data[0] % KINDS == 0 && cov_rename_read(path, &r, NULL) == COV_OK) {
        (void)cov_rename_apply(r, "chr1", 4);
        cov_rename_free(r);
    } else if (data[0] % KINDS == 1) {
        bool good = cov_sizes_read(path, &s, NULL) == COV_OK;
        for (size_t i = 0; good && i < cov_names_count(s.names); i++)
            if (s.lengths[i] <= 0)
                abort();
        cov_sizes_fini(&s);
    } else if (data[0] % KINDS == 2 && cov_blacklist_read(path, false, &b, NULL) == COV_OK) {
        (void)cov_blacklist_drops(b, "chr1");
        const struct cov_region *regions = cov_blacklist_regions(b, "chr1", &k);
        for (size_t i = 0; i < k; i++)
            if (regions[i].beg >= regions[i].end || (i > 0 && regions[i].beg < regions[i - 1].end))
                abort();
        (void)cov_blacklist_n_unknown(b, &first);
        cov_blacklist_free(b);
    } else if (data[0] % KINDS == 4) {
        read_bed(path);
    } else if (data[0] % KINDS == 3 && cov_sequence_report_read(path, &report, NULL) == COV_OK) {
        cov_sequence_report_fini(&report);
    }
    return 0;
}
