/* evaluation.h - covpredict --evaluate: compares the model with measured coverage.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_COVPREDICT_EVALUATION_H
#define TOOLS_COVPREDICT_EVALUATION_H

#include "common/cli/tool.h"
#include "common/job/train/evaluate.h"

/* Evaluates the mean of the checkpoints `models` on files[0..n). Writes the table to
 * common->output, or to standard output if that is NULL or "-". */
int covpredict_evaluate(struct cov_common *common, const struct cov_strings *models,
                        const struct cov_evaluate_options *options, char *const *files, size_t n,
                        struct cov_err *e) COV_MUST_USE;

#endif
