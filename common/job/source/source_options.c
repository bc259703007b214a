/* source_options.c - see source_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/source/source_options.h"

const char *const cov_source_strands[] = {"avg", "+", "-", NULL}; /* as in enum cov_strand */

int cov_source_options_fill(const struct cov_source_flags *f, struct cov_source_options *out,
                            struct cov_err *e)
{
    *out = (struct cov_source_options){.measured = f->experimental,
                                       .datasets = f->datasets.items,
                                       .n_datasets = f->datasets.n,
                                       .replicates = f->replicates,
                                       .strand = (enum cov_strand)f->strand,
                                       .values = {.smoothing = {.window = f->window}, .scale = 1},
                                       .regions = f->regions.items,
                                       .n_regions = f->regions.n,
                                       .bed_path = f->regions_file,
                                       .blacklist_path = f->blacklist,
                                       .rename_path = f->rename,
                                       .sizes_path = f->sizes,
                                       .fill_gaps = f->fill_gaps};
    if (f->smooth && f->window > 0)
        return cov_fail(e, COV_EUSAGE, "--smooth and --window-size cannot be used together");
    return f->smooth ? cov_smoothing_parse(f->smooth, "--smooth", &out->values.smoothing, e)
                     : COV_OK;
}
