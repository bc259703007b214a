/* covprofile.h - the subcommands of covprofile.
 * SPDX-License-Identifier: MIT */
#ifndef COVPROFILE_COVPROFILE_H
#define COVPROFILE_COVPROFILE_H

#include "common/cli/tool.h"
#include "common/job/profile/profile_inputs.h"
#include "common/job/source/source_options.h"

/* genes.c, region.c, correlate.c, fingerprints.c, coverage.c */
extern const struct cov_tool covprofile_genes, covprofile_region, covprofile_correlate,
    covprofile_fingerprint, covprofile_coverage;

/* Fills *out from the options of all subcommands and the operands, without a second file or a
 * plot. Borrows all of them. */
int covprofile_request(const struct cov_source_flags *flags, struct cov_common *common,
                       int n_operands, char **operands, struct cov_profile_request *out,
                       struct cov_err *e) COV_MUST_USE;

#endif
