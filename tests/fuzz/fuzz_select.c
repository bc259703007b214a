/* fuzz_select.c - which rows are wanted: BED regions, and names, of which the first byte says what they are for.
 * Target: common/seq/regions.c
 * SPDX-License-Identifier: MIT */
#include "common/seq/regions.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *const names[] = {"chr1", "chr2", "a:1-5", "x"};
    static const int64_t lengths[] = {1000, 70, 1, 4999};
    struct cov_grid *g;
    struct cov_select *s;
    bool wanted[512];
    int64_t beg, end;
    if (n == 0)
        return 0;
    if (cov_grid_new(4, names, lengths, "sp", 50, &g, NULL) || cov_select_new(g, &s, NULL))
        abort();
    const char *path = fuzz_file(data + 1, n - 1);
    int rc = data[0] % 3 == 0 ? cov_select_read(s, COV_SELECT_BED, "--regions-file", path, NULL)
             : data[0] % 3 == 1
                 ? cov_select_read(s, COV_SELECT_NAMES, "--x", path, NULL)
                 : cov_select_read(s, COV_SELECT_EXCLUDED, "--exclude-names", path, NULL);
    if (!rc) {
        cov_select_rows(s, 10, wanted);
        for (size_t i = 0; i < 4; i++)
            if (cov_select_stretch(s, i, 5, lengths[i], &beg, &end) &&
                (beg < 5 || end > lengths[i] || beg >= end))
                abort();
    }
    cov_select_free(s);
    cov_grid_free(g);
    return 0;
}
