/* source_options.c - see source_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/signal/source_options.h"

const char *const cov_source_strands[] = {"avg", "+", "-", NULL}; /* as in enum cov_strand */

int cov_source_options_finish(struct cov_source_options *o, struct cov_err *e)
{
    o->values.scale = 1;
    if (o->smooth && o->values.smoothing.window > 0)
        return cov_fail(e, COV_EUSAGE, "--smooth and --window-size cannot be used together");
    return o->smooth ? cov_smoothing_parse(o->smooth, "--smooth", &o->values.smoothing, e) : COV_OK;
}
