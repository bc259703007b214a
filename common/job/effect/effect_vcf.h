/* effect_vcf.h - the job of `coveffect vcf`: predicts both alleles of each variant, and writes how
 * much they differ.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_VCF_H
#define COV_JOB_EFFECT_EFFECT_VCF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/compute/device.h"
#include "common/job/job.h"
#include "common/job/predict/ensemble.h"
#include "common/seq/genome.h"

/* Borrowed for the call. */
struct cov_effect_options {
    const struct cov_ensemble *model;
    struct cov_device *device;
    const struct cov_genome *genome;
    const char *genome_path; /* for messages */
    size_t window;           /* L, which the model accepts */
    const int64_t *widths;   /* [n_widths], at most L */
    size_t n_widths;
    const size_t *datasets; /* [n_datasets] of the model */
    size_t n_datasets;
    size_t batch; /* chunks that a worker computes at a time; 0: chosen automatically */
    bool full;    /* compute everything, even known values (device.h) */
    bool strict;  /* fail where REF and genome differ, and for unknown sequences */
};

/* Scores the variants of `input` ("-": standard input), and writes them to `path` in the format that
 * the suffix of `name` tells (effect_output.h). A regular file is first read to its end and checked.
 * Memory does not grow with the number of variants. The output does not depend on pool size or
 * batch. Warns about records without scores. COV_EINPUT if no record is on a sequence of the
 * genome. */
int cov_effect_vcf_run(const char *input, const struct cov_effect_options *options,
                       const char *path, const char *name, const struct cov_job *job,
                       struct cov_err *e) COV_MUST_USE;

#endif
