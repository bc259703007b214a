/* effect_vcf.h - the job of `coveffect vcf`: predicts both alleles of each variant, and writes how
 * much they differ.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_VCF_H
#define COV_JOB_EFFECT_EFFECT_VCF_H

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/file/outfile.h"
#include "common/job/effect/effect_options.h"

/* Scores the variants, writes them to `out` (NULL: standard output), and commits it. A regular file is
 * first read to its end and checked. Memory does not grow with the number of variants. The output does
 * not depend on pool size or batch. Warns about records without scores. COV_EINPUT if no record is on a
 * sequence of the genome. */
int cov_effect_vcf_run(const struct cov_effect_options *options, struct cov_outfile *out,
                       const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
