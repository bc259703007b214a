/* profile_job.h - the course of all jobs of covprofile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_JOB_H
#define COV_JOB_PROFILE_PROFILE_JOB_H

#include "common/base/err.h"
#include "common/job/profile/profile_inputs.h"
#include "common/plot/table_outputs.h"

/* The parts of a job, in this order. */
struct cov_profile_steps {
    int (*read)(void *job, const struct cov_profile_request *request, struct cov_err *e);
    int (*measure)(void *job, struct cov_err *e); /* NULL: nothing to do */
    /* As in struct cov_table_writer. */
    cov_table_fn *print_table;
    int (*write_second)(const void *job, const struct cov_outfile *out, struct cov_err *e);
    int (*draw)(const void *job, const struct cov_picture *picture, struct cov_err *e);
    /* Adds the figures of the report, and tells the user. */
    int (*tell)(const void *job, struct cov_stats *stats, struct cov_err *e);
    /* As in struct cov_table_job. */
    void (*print_json)(struct cov_json *json, const void *job);
    void (*free_job)(void *job);
};

/* Runs the steps. All files appear under their names at once. Owns `job`, which lives until --stats
 * has been printed. */
int cov_profile_job_run(void *job, const struct cov_profile_steps *steps,
                        const struct cov_profile_request *request, struct cov_err *e) COV_MUST_USE;

#endif
