/* measured_options.c - see measured_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/measured_options.h"

int cov_measured_options_finish(struct cov_measured_options *o, const bool *given,
                                const struct cov_source_options *source,
                                const struct cov_peak_rules *rules, struct cov_err *e)
{
    o->is_track = given[COV_MEASURED_ROW_CUTOFF];
    o->is_own_choice = given[COV_MEASURED_ROW_DATASET];
    o->chosen = o->is_own_choice ? &o->dataset : &source->datasets;
    o->rules = *rules;
    if (o->is_track && !o->path)
        return cov_fail(e, COV_EUSAGE, "--measured-cutoff needs --measured");
    if (o->is_own_choice && !o->is_track)
        return cov_fail(e, COV_EUSAGE, "--measured-dataset needs --measured-cutoff");
    return cov_peaks_cutoff(o->cutoff, "measured-cutoff", &o->rules.cutoff, e);
}
