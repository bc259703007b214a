/* predict_options.h - the options of covpredict.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_COVPREDICT_PREDICT_OPTIONS_H
#define TOOLS_COVPREDICT_PREDICT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cli/shared_options.h"
#include "common/examples/evaluate.h"
#include "common/input/device_options.h"
#include "common/job/predict/predict.h"

/* What the table fills: options of the jobs, and what covpredict.c translates to those. */
struct covpredict_config {
    struct cov_predict_options job;
    struct cov_loader_options input;
    struct cov_evaluate_options evaluation;
    struct cov_strings models, regions;
    int ensemble; /* enum covpredict_ensemble */
    struct cov_device_options device;
    int precision; /* enum cov_precision */
    struct cov_fasta_options fasta;
    const char *shard;
    int64_t part, n_parts; /* of --shard, set by covpredict_check; n_parts 0: not given */
    bool as_float, evaluate;
};

enum covpredict_ensemble { COVPREDICT_MEAN, COVPREDICT_SD };

/* Rows of the table. */
enum {
    ROW_MODEL,
    ROW_ENSEMBLE,
    ROW_BATCH_SIZE,
    ROW_DEVICE,
    ROW_CPU,
    ROW_PRECISION,
    ROW_FASTA,
    ROW_REGIONS = ROW_FASTA + COV_FASTA_ROWS,
    ROW_BED,
    ROW_OVERLAP,
    ROW_SHARD,
    ROW_RESUME,
    ROW_LOADING,
    ROW_FULL,
    ROW_FLOAT,
    ROW_DTYPE,
    ROW_EVALUATE,
    ROW_BLACKLIST,
    ROW_BLACKLIST_FILE,
    N_ROWS
};

extern const struct cov_opt covpredict_options[];

/* Parses --device, --cpu and --shard. Fails with COV_EUSAGE if options contradict each other, the
 * inputs, or the output (NULL: not given). */
int covpredict_check(struct covpredict_config *c, const bool *given, const char *output,
                     char *const *inputs, int n_inputs, struct cov_err *e) COV_MUST_USE;

/* Returns the first given option that applies only to FASTA input, or NULL. */
const char *covpredict_fasta_only(const bool *given);

#endif
