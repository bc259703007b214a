/* attribution.h - how much each base of a region matters to the predicted signal: the regions, and
 * their scores.
 *
 * What is explained is y = ln(the sum of the predicted values of a dataset over `width` bases
 * around the middle of a region). The network reads a window of L bases around the same middle,
 * which is moved into the sequence near its ends; a sequence shorter than L is its own window.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_ATTRIBUTION_H
#define COV_JOB_EFFECT_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cli/opt.h"
#include "common/cli/stats.h"
#include "common/compute/device.h"
#include "common/features/annotation.h"
#include "common/file/outfile.h"
#include "common/file/tmpfile.h"
#include "common/input/model.h"
#include "common/job/effect/edited_windows.h"
#include "common/plot/gnuplot.h"
#include "common/seq/genome.h"
#include "common/seq/regions.h"

/* How the scores follow from gradients. */
struct cov_gradient_options {
    bool integrated;
    size_t n_steps, n_shuffles; /* integrated: > 0 */
    uint64_t seed;
};

/* Borrowed for the run. */
struct cov_attribution_options {
    struct cov_strings regions; /* parts of texts, see cov_region_text */
    const char *bed;            /* a file of further regions; NULL: none */
    const char *genome_path;
    const struct cov_genome *genome;
    const struct cov_ensemble *model;
    struct cov_device *device;
    size_t target;    /* dataset of the model */
    size_t window;    /* L, which the model accepts */
    int64_t width;    /* at most L */
    int64_t length;   /* use this many bases around the middle of each region; 0: the region */
    int64_t deletion; /* bases that a deletion has; 0: substitutions */
    size_t batch;     /* chunks that a worker computes at a time; 0: chosen automatically */
    bool full;        /* compute everything (device.h) */
    const struct cov_gradient_options *gradients; /* NULL: mutagenesis */
};

struct cov_attributed_region {
    size_t seq; /* in the genome */
    int64_t beg, end;
    const char *name;        /* in the BED file; "" if it has none */
    int64_t window;          /* the window's first base */
    size_t n_codes;          /* bases from there on that the window and its versions have */
    size_t sum_beg, sum_end; /* the positions of the window that y adds up */
};

struct cov_attribution {
    struct cov_attributed_region *regions; /* [n]: o->regions, then those of the file. Owned */
    size_t n, length;                      /* all regions have the same length */
    uint8_t *codes;                        /* [n,length]: base codes. Owned */
    /* [n,4,length]: what base A, C, G or T at a place adds to y, relative to their mean: the
     * hypothetical scores of TF-MoDISco. Owned */
    float *scores;
    struct cov_annotation bed; /* has the names of the regions. Private */
};

/* Reads the regions and their bases; scores are 0. A region that ends past the end of its sequence is
 * cut there. COV_EINPUT or COV_EUSAGE if the file is not a BED file, a sequence is unknown or shorter
 * than o->length, a region begins past the end, or lengths differ. Free with cov_attribution_fini,
 * also after a failure. */
int cov_attribution_init(struct cov_attribution *a, const struct cov_attribution_options *o,
                         struct cov_err *e) COV_MUST_USE;
void cov_attribution_fini(struct cov_attribution *a);

/* Returns the column of A, C, G or T (0 .. 3); -1 for other codes. */
int cov_attribution_column(uint8_t code);

/* Returns the score of the base that is at place i of region r; 0 if that is not A, C, G or T. */
float cov_attribution_of_base(const struct cov_attribution *a, size_t r, size_t i);

/* Adds the scores of the bases that region r shares with [beg, beg + n) of its sequence to sums[n],
 * and 1 to counts[n]; not those of other letters than A, C, G and T. */
void cov_attribution_add_up(const struct cov_attribution *a, size_t r, int64_t beg, size_t n,
                            double *sums, uint32_t *counts);

/* Sets the scores by saturation mutagenesis: y of the window with each base A, C, G and T at a
 * place, minus the mean of these four. With o->deletion, the score of the base that is there is the
 * mean, over the deletions that have it, of y without the deletion minus y with it. They do not
 * depend on pool size or batch. */
int cov_attribution_mutate(struct cov_attribution *a, const struct cov_attribution_options *o,
                           const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

/* Sets the scores by gradients of y with respect to the one-hot inputs x, on the CPU: g - the mean of
 * the four g at a place, where g is dy/dx. Integrated: g is the mean of dy/dx at n_steps middles of
 * equal parts of the line from r to x, and the scores are the mean of g - sum(r g) over n_shuffles
 * references r, the window with its dinucleotides shuffled. They do not depend on pool size or
 * batch. */
int cov_attribution_explain(struct cov_attribution *a, const struct cov_attribution_options *o,
                            const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

/* ---- attribution_output.c: the files ----
 *
 * ohe.npz and attr.npz, for TF-MoDISco: arrays of NumPy, arr_0[regions,4,length], with bases as 0 and
 * 1 and hypothetical scores, in the order A, C, G, T. scores.h5 has the datasets of ChromBPNet's
 * contributions, of the same shape: raw/seq (bases), shap/seq (hypothetical scores) and
 * projected_shap/seq (scores of the bases that are there). scores.bw has the latter, along the genome.
 * regions.bed has the regions, with the ten columns of a narrowPeak that ChromBPNet's tools read. */

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
