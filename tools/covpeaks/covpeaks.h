/* covpeaks.h - the subcommands of covpeaks.
 * SPDX-License-Identifier: MIT */
#ifndef COVPEAKS_COVPEAKS_H
#define COVPEAKS_COVPEAKS_H

#include "common/cli/tool.h"

/* call.c, curve.c, files.c */
extern const struct cov_tool covpeaks_call, covpeaks_curve, covpeaks_compare, covpeaks_stats;

#endif
