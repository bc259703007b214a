/* coveffect.h - the subcommands of coveffect.
 * SPDX-License-Identifier: MIT */
#ifndef COVEFFECT_COVEFFECT_H
#define COVEFFECT_COVEFFECT_H

#include "common/cli/tool.h"

extern const struct cov_tool coveffect_vcf;       /* vcf.c */
extern const struct cov_tool coveffect_ism;       /* ism.c */
extern const struct cov_tool coveffect_gradients; /* gradients.c */

#endif
