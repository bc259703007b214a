/* attribution_output.h - writes the scores of the bases of regions to a directory.
 *
 * ohe.npz and attr.npz, for TF-MoDISco: arrays of NumPy, arr_0[regions,4,length], with bases as 0 and
 * 1 and hypothetical scores, in the order A, C, G, T. scores.h5 has the datasets of ChromBPNet's
 * contributions, of the same shape: raw/seq (bases), shap/seq (hypothetical scores) and
 * projected_shap/seq (scores of the bases that are there). scores.bw has the latter, along the genome.
 * regions.bed has the regions, with the ten columns of a narrowPeak that ChromBPNet's tools read.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_ATTRIBUTION_OUTPUT_H
#define COV_JOB_EFFECT_ATTRIBUTION_OUTPUT_H

#include <stdbool.h>

#include "common/file/outfile.h"
#include "common/file/tmpfile.h"
#include "common/job/effect/attribution.h"
#include "common/plot/gnuplot.h"
#include "common/seq/regions.h"

/* Borrowed until the end. */
struct cov_attribution_paths {
    const char *directory;
    const char *plot;        /* a logo: bases as letters as high as their scores; NULL: none */
    const char *plot_region; /* NULL: the first region */
    const char *tmpdir;      /* NULL: the directory of each output */
    bool force;
};

enum {
    COV_ATTRIBUTION_ONE_HOT,
    COV_ATTRIBUTION_SCORES,
    COV_ATTRIBUTION_HDF5,
    COV_ATTRIBUTION_BIGWIG,
    COV_ATTRIBUTION_REGIONS,
    COV_ATTRIBUTION_FILES
};

struct cov_attribution_files {
    const struct cov_attribution_paths *paths;
    struct cov_newdir directory;
    struct cov_outfile files[COV_ATTRIBUTION_FILES];
    struct cov_picture picture;
    struct cov_region drawn; /* in the picture */
};

/* Begins the outputs. End with cov_attribution_files_end, also after a failure. */
int cov_attribution_files_begin(struct cov_attribution_files *f,
                                const struct cov_attribution_paths *paths,
                                struct cov_err *e) COV_MUST_USE;

/* Checks, once the regions are known, that the picture can be drawn. */
int cov_attribution_files_check(struct cov_attribution_files *f, const struct cov_attribution *a,
                                const struct cov_genome *genome, struct cov_err *e) COV_MUST_USE;

/* Writes and commits all outputs. Where regions overlap, bigWig and picture have the mean of their
 * scores; letters other than A, C, G and T have none. `target`, the name of the dataset, is shown in
 * the picture. */
int cov_attribution_files_write(struct cov_attribution_files *f, const struct cov_attribution *a,
                                const struct cov_genome *genome, const char *target,
                                struct cov_pool *pool, struct cov_err *e) COV_MUST_USE;
void cov_attribution_files_end(struct cov_attribution_files *f, struct cov_err *e);

#endif
