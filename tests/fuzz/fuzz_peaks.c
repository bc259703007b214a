/* fuzz_peaks.c - files of peaks. The first byte says whether the genome is known: chr1 of 100
 * bases, chr2 of 50.
 * Target: common/job/peaks/peak_list.c
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_list.h"
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
    int64_t lengths[] = {100, 50};
    if (n == 0)
        return 0;
    if (cov_peak_genome_read(NULL, false, &g, NULL))
        abort();
    if (data[0] % 2) {
        add_sequence(&g, "chr1");
        add_sequence(&g, "chr2");
        g.path = "the genome";
        g.lengths = lengths;
    }
    fuzz_ignore(cov_peak_list_read(fuzz_file(data + 1, n - 1), &g, &l, NULL));
    for (size_t i = 0; i < l.n; i++) {
        const struct cov_region *p = &l.items[i].region;
        if (p->contig >= cov_names_count(g.names) || p->beg < 0 || p->end <= p->beg ||
            l.items[i].n == 0 || (g.path && p->end > lengths[p->contig]))
            abort();
        if (i > 0 && p->contig < l.items[i - 1].region.contig)
            abort();
    }
    cov_peak_list_fini(&l);
    g.lengths = NULL;
    cov_peak_genome_fini(&g);
    return 0;
}
