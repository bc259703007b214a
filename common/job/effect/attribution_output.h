/* attribution_output.h - writes the scores of the bases of regions.
 *
 * Arrays of NumPy (.npz) with the array arr_0[regions,4,length], for TF-MoDISco: hypothetical
 * scores, and bases as 0 and 1, in the order A, C, G, T. HDF5 files have the data sets of
 * ChromBPNet's contributions, of the same shape: raw/seq (bases), shap/seq (hypothetical scores) and
 * projected_shap/seq (scores of the bases that are there). A bigWig has the latter, along the genome.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_ATTRIBUTION_OUTPUT_H
#define COV_JOB_EFFECT_ATTRIBUTION_OUTPUT_H

#include <stdbool.h>

#include "common/file/outfile.h"
#include "common/job/effect/attribution.h"

/* Borrowed until the end. */
struct cov_attribution_paths {
    const char *scores;           /* HDF5 if the name ends like one, otherwise .npz */
    const char *one_hot, *bigwig; /* NULL: not wanted */
    const char *tmpdir;           /* NULL: the folder of each output */
    bool force;
};

struct cov_attribution_files {
    const struct cov_attribution_paths *paths;
    struct cov_outfile scores, one_hot, bigwig;
    bool is_hdf5;
};

/* Begins the outputs. End with cov_attribution_files_end, also after a failure. */
int cov_attribution_files_begin(struct cov_attribution_files *f,
                                const struct cov_attribution_paths *paths,
                                struct cov_err *e) COV_MUST_USE;

/* Writes and commits all outputs. Where regions overlap, the bigWig has the mean of their scores;
 * bases other than A, C, G and T have none. */
int cov_attribution_files_write(struct cov_attribution_files *f, const struct cov_attribution *a,
                                const struct cov_genome *genome, struct cov_pool *pool,
                                struct cov_err *e) COV_MUST_USE;
void cov_attribution_files_end(struct cov_attribution_files *f, struct cov_err *e);

#endif
