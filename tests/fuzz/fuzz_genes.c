/* fuzz_genes.c - annotations: GFF3, GTF and BED, and the windows around their features.
 * Target: common/features/annotation.c common/track/measures/profile.c
 * SPDX-License-Identifier: MIT */
#include "common/features/annotation.h"
#include "common/track/measures/profile.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    bool features[64];
};

static int take(void *arg, size_t feature, const double *bins, struct cov_err *e)
{
    (void)e;
    struct seen *s = arg;
    if (feature < COV_COUNT(s->features) && s->features[feature])
        abort();
    if (feature < COV_COUNT(s->features))
        s->features[feature] = true;
    if (bins[0] < 0 || bins[0] > 2)
        abort();
    return COV_OK;
}

/* Passes a track of two intervals on the first sequence. */
static void pass(const struct cov_annotation *a, const struct cov_profile_layout *layout)
{
    const struct cov_interval iv[] = {{3, 40, 1}, {50, 5000, 2}};
    struct cov_windows w;
    struct cov_profile p = {.sink = {0}};
    struct seen seen = {{false}};
    if (cov_windows_init(&w, a, layout, NULL) == COV_OK) {
        if (cov_profile_init(&p, &w, "track", NULL, NULL))
            abort();
        p.take = take;
        p.arg = &seen;
        if (cov_track_begin_named(&p.sink, cov_names_get(a->contigs, 0, NULL), NULL) ||
            cov_track_add(&p.sink, iv, COV_COUNT(iv), NULL) ||
            cov_track_end_contig(&p.sink, 6000, NULL) || cov_track_close(&p.sink, NULL))
            abort();
        for (size_t i = 0; i < a->n && i < COV_COUNT(seen.features); i++)
            if (seen.features[i] != (a->items[i].contig == 0))
                abort();
        cov_track_free(&p.sink);
    }
    cov_windows_fini(&w);
}

/* Reads it with families: those of parts are unknown, of something else, or a number. */
static void read_families(const uint8_t *data, size_t n)
{
    struct cov_annotation a;
    if (!cov_annotation_read(fuzz_file(data, n), "gene,exon,mRNA", true, &a, NULL))
        for (size_t i = 0; i < a.n; i++)
            if (a.items[i].type == 0 && a.items[i].family == COV_FAMILY_OTHER)
                abort();
    cov_annotation_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct cov_profile_layout layouts[] = {{COV_ANCHOR_TSS, 20, 10, 0, 10, false},
                                                        {COV_ANCHOR_TSS, 3, 4, 0, 1, true},
                                                        {COV_ANCHOR_TES, 20, 10, 0, 10, false},
                                                        {COV_ANCHOR_CENTRE, 20, 10, 0, 10, false},
                                                        {COV_ANCHOR_SCALE, 20, 10, 40, 5, false}};
    struct cov_annotation a;
    int rc = cov_annotation_read(fuzz_file(data, n), "gene", false, &a, NULL);
    if (!rc && a.n == 0)
        abort();
    for (size_t i = 0; !rc && i < a.n; i++) {
        const struct cov_feature *f = &a.items[i];
        if (f->contig >= cov_names_count(a.contigs) || f->beg < 0 || f->end <= f->beg ||
            !strchr("+-.", f->strand) || strlen(cov_annotation_name(&a, i)) > 255 ||
            strlen(cov_annotation_score(&a, i)) == 0)
            abort();
        if (i > 0 &&
            (f->contig < f[-1].contig || (f->contig == f[-1].contig && f->beg < f[-1].beg)))
            abort();
    }
    for (size_t i = 0; !rc && i < COV_COUNT(layouts); i++)
        pass(&a, &layouts[i]);
    cov_annotation_fini(&a);
    read_families(data, n);
    return 0;
}
