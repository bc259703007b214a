/* effect_options.h - what coveffect vcf computes, and from what; the job.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_OPTIONS_H
#define COV_JOB_EFFECT_EFFECT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"
#include "common/compute/device.h"
#include "common/file/outfile.h"
#include "common/input/model.h"
#include "common/seq/genome.h"

/* Borrowed for the run. */
struct cov_effect_options {
    const char *input; /* the variants; "-": standard input */
    const char
        *output; /* the final name, whose suffix tells the format (effect_output.h); or "-" */
    const struct cov_ensemble *model;
    struct cov_device *device;
    const struct cov_genome *genome;
    const char *genome_path, *rename_path; /* what it was read from; rename_path may be NULL */
    size_t window;                         /* L, which the model accepts */
    size_t step;                           /* windows begin at its multiples; at most L / 2 */
    const int64_t *widths;                 /* [n_widths], at most L */
    size_t n_widths;
    const size_t *datasets; /* [n_datasets] of the model */
    size_t n_datasets;
    size_t batch;        /* chunks that a worker computes at a time; 0: chosen automatically */
    bool sd;             /* also the standard deviation of each score over the models, at least 2 */
    size_t n_shuffles;   /* shuffled windows for p-values; 0: none */
    size_t n_background; /* random variants, for quantiles (effect_background.h); 0: none */
    uint64_t seed;       /* of the shuffles and of the random variants */
    /* An annotation, of which the nearest feature of this type is added; NULL: none. */
    const char *genes, *feature;
    bool needs_types;           /* refuse a BED, which has no types */
    bool haplotypes;            /* score alleles in their haplotypes; the input is a regular file */
    struct cov_strings samples; /* with haplotypes: their names; n = 0: all */
    const char *tracks;         /* a directory for tracks of each allele; NULL: none */
    bool full;                  /* compute everything, even known values (device.h) */
    bool strict;                /* fail where REF and genome differ, and for unknown sequences */
    bool resume; /* keep finished variants (effect_journal.h); the input is a regular file */
    bool force;  /* replace the journal of another run */
};

/* Scores the variants, writes them to `out` (NULL: standard output), and commits it. A regular file is
 * first read to its end and checked. Memory does not grow with the number of variants. The output does
 * not depend on pool size or batch. Warns about records without scores. COV_EINPUT if no record is on a
 * sequence of the genome. */
int cov_effect_vcf_run(const struct cov_effect_options *options, struct cov_outfile *out,
                       const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
