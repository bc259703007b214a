/* covprofile.h - the subcommands of covprofile.
 * SPDX-License-Identifier: MIT */
#ifndef COVPROFILE_COVPROFILE_H
#define COVPROFILE_COVPROFILE_H

#include "common/cli/tool.h"

/* genes.c, correlate.c, fingerprints.c, coverage.c */
extern const struct cov_tool covprofile_genes, covprofile_correlate, covprofile_fingerprint,
    covprofile_coverage;

#endif
