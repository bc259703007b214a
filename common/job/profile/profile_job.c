/* profile_job.c - see profile_job.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_job.h"

#include "common/base/clock.h"

int cov_profile_job_run(void *job, const struct cov_profile_steps *steps,
                        const struct cov_profile_request *request, struct cov_err *e)
{
    const struct cov_table_writer writer = {steps->print_table, steps->write_second, steps->draw,
                                            job};
    struct cov_table_outputs out = COV_TABLE_OUTPUTS_INIT;
    int rc = cov_table_outputs_begin(&out, &request->paths, e);
    if (!rc)
        rc = steps->read(job, request, e);
    const double beg = cov_clock();
    if (!rc && steps->measure)
        rc = steps->measure(job, e);
    if (!rc)
        rc = cov_table_outputs_write(&out, &writer, e);
    if (!rc)
        rc = steps->tell(job, request->stats, e);
    cov_stats_add_stage(request->stats, "write", cov_clock() - beg);
    return cov_table_outputs_end(&out, rc,
                                 &(struct cov_table_job){steps->print_json, steps->free_job, job},
                                 request->stats, e);
}
