/* edit_datasets.h - removes and renames data sets of genome and predictions files.
 *
 * A data set NAME is evaluation/NAME_coverage with evaluation/NAME_spliced_coverage and
 * evaluation/NAME_meta/, or a column of prediction/predictions that prediction/datasets names.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_EDIT_DATASETS_H
#define COV_JOB_CHUNKS_EDIT_DATASETS_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

struct cov_dataset_edit {
    const char *name, *new_name; /* borrowed; new_name NULL: remove */
};

/* Writes `input` with the n edits to `output`; if it is NULL, replaces `input`, as a whole or not
 * at all. COV_EINPUT for a data set that the file does not have, a new name that it has, and if
 * predictions would lose all data sets. */
int cov_edit_datasets(const char *input, const char *output, const struct cov_dataset_edit *edits,
                      size_t n, const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

#endif
