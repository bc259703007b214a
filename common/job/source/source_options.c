/* source_options.c - see source_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/source/source_options.h"

const char *const cov_source_strands[] = {"avg", "+", "-", NULL}; /* as in enum cov_strand */

int cov_source_options_fill(const struct cov_source_flags *f, struct cov_stats *stats,
                            struct cov_source_options *out, struct cov_err *e)
{
    const struct {
        const char *option, *path;
    } lists[] = {{"blacklist-file", f->blacklist},
                 {"rename", f->rename},
                 {"chrom-sizes", f->sizes},
                 {"regions-file", f->regions_file}};
    *out = (struct cov_source_options){.measured = f->experimental,
                                       .datasets = f->datasets.items,
                                       .n_datasets = f->datasets.n,
                                       .strand = (enum cov_strand)f->strand,
                                       .values = {.smoothing = {.window = f->window}, .scale = 1},
                                       .regions = f->regions.items,
                                       .n_regions = f->regions.n,
                                       .bed_path = f->regions_file,
                                       .blacklist_path = f->blacklist,
                                       .rename_path = f->rename,
                                       .sizes_path = f->sizes};
    if (f->smooth && f->window > 0)
        return cov_fail(e, COV_EUSAGE, "--smooth and --window-size cannot be used together");
    if (f->smooth && cov_smoothing_parse(f->smooth, "--smooth", &out->values.smoothing, e))
        return COV_EUSAGE;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_COUNT(lists); i++)
        rc = cov_list_add(stats, lists[i].option, lists[i].path, e);
    return rc;
}
