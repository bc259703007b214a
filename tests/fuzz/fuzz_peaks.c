/* fuzz_peaks.c - files of peaks, merged. The first byte says what is known of the genome: nothing; chr1 of 100 bases and
 * chr2 of 50; or a list of names and lengths, up to the first empty line.
 * Target: common/job/peaks/peak_files.c
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_files.h"
#include "tests/fuzz/fuzz.h"

static void add_sequence(struct cov_peak_genome *g, const char *name)
{
    size_t i;
    bool is_new;
    if (cov_names_add(g->names, name, strlen(name), &i, &is_new, NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_peak_genome g;
    struct cov_peak_list l;
    struct cov_region_list merged = {0};
    int64_t lengths[] = {100, 50};
    if (n == 0)
        return 0;
    const uint8_t *at = data + 1, *end = data + n;
    const bool has_list = data[0] % 4 == 2, is_known = data[0] % 4 == 1;
    if (has_list) {
        while (at < end && !(at[0] == '\n' && at[-1] == '\n'))
            at++;
        int rc = cov_peak_genome_read(fuzz_file(data + 1, (size_t)(at - data) - 1), true, &g, NULL);
        if (rc) {
            cov_peak_genome_fini(&g);
            return 0;
        }
    } else if (cov_peak_genome_read(NULL, false, &g, NULL)) {
        abort();
    }
    if (is_known) {
        add_sequence(&g, "chr1");
        add_sequence(&g, "chr2");
        g.path = "the genome";
        g.lengths = lengths;
    }
    const char *path = fuzz_file(at, (size_t)(end - at));
    fuzz_ignore(cov_peak_list_check_kind(path, "a track", NULL));
    fuzz_ignore(cov_peak_list_read(path, &g, &l, NULL));
    for (size_t i = 0; i < l.n; i++) {
        const struct cov_region *p = &l.items[i].region;
        if (p->contig >= cov_names_count(g.names) || p->beg < 0 || p->end <= p->beg ||
            l.items[i].n == 0 || (g.path && p->end > g.lengths[p->contig]))
            abort();
        if (i > 0 && p->contig < l.items[i - 1].region.contig)
            abort();
    }
    if (cov_peak_list_merge(&l, &merged, NULL) || merged.n > l.n)
        abort();
    cov_region_list_fini(&merged);
    cov_peak_list_fini(&l);
    if (is_known)
        g.lengths = NULL;
    cov_peak_genome_fini(&g);
    return 0;
}
