/* measured_options.c - see measured_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/measured_options.h"

int cov_measured_options_fill(const struct cov_measured_flags *flags, const bool *given,
                              const struct cov_source_flags *source,
                              const struct cov_peak_rules *rules, struct cov_measured_options *out,
                              struct cov_err *e)
{
    const bool is_own_choice = given[COV_MEASURED_ROW_DATASET];
    const struct cov_strings *chosen = is_own_choice ? &flags->dataset : &source->datasets;
    *out = (struct cov_measured_options){.path = flags->path,
                                         .is_track = given[COV_MEASURED_ROW_CUTOFF],
                                         .rules = *rules,
                                         .datasets = chosen->items,
                                         .n_datasets = chosen->n,
                                         .is_own_choice = is_own_choice};
    if (given[COV_MEASURED_ROW_CUTOFF] && !flags->path)
        return cov_fail(e, COV_EUSAGE, "--measured-cutoff needs --measured");
    if (is_own_choice && !given[COV_MEASURED_ROW_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "--measured-dataset needs --measured-cutoff");
    return cov_peaks_cutoff(flags->cutoff, "measured-cutoff", &out->rules.cutoff, e);
}
