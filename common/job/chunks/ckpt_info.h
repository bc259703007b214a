/* ckpt_info.h - describes a checkpoint, as text or JSON.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CKPT_INFO_H
#define COV_JOB_CHUNKS_CKPT_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"

/* Returns true for a zip archive, such as a PyTorch checkpoint. */
bool cov_ckpt_info_applies(const char *path);

/* Describes the checkpoint `path`: hyperparameters, data sets, parameters, state of training, who
 * wrote it, SHA-256. Writes an object to *j, or text to `out` if j is NULL. *n_bytes is the size of
 * the file. COV_EINPUT for a file that is not a checkpoint of PyTorch Lightning. */
int cov_ckpt_info(const char *path, struct cov_json *j, FILE *out, int64_t *n_bytes,
                  struct cov_err *e) COV_MUST_USE;

#endif
