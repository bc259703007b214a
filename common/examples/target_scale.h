/* target_scale.h - scales targets so that files of different sequencing depths agree.
 *
 * The depth of a dataset in a file is the median of its coverage above 0 in the chunks that are
 * used, or the millions of reads that bam2h5 counted, the mean of the BAM files. The reference of a
 * dataset is the median of the depths of the training files. Targets are multiplied by
 * reference / depth. So the network learns coverage at the reference depth, and its values need no
 * scaling back; only resuming needs the references, which are in the checkpoint.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_TARGET_SCALE_H
#define COV_EXAMPLES_TARGET_SCALE_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"
#include "common/examples/examples.h"

enum cov_target_kind { COV_TARGET_NONE, COV_TARGET_MEDIAN, COV_TARGET_CPM };
extern const char *const cov_target_kind_names[]; /* NULL at the end */

struct cov_target_scale {
    enum cov_target_kind kind;
    size_t n;
    const char *const *datasets; /* [n]: their names. Borrowed */
    double *references;          /* [n], for each dataset; 0: not known. Owned */
};

/* Borrows datasets[n_datasets] until fini. */
int cov_target_scale_init(struct cov_target_scale *s, const char *const *datasets,
                          size_t n_datasets, struct cov_err *e) COV_MUST_USE;
void cov_target_scale_fini(struct cov_target_scale *s); /* accepts an all-zero struct */

/* Reads what cov_target_scale_describe added to a checkpoint; kind NONE if it has nothing.
 * COV_EINPUT for damage. */
int cov_target_scale_read(const struct cov_ckpt *c, struct cov_target_scale *s,
                          struct cov_err *e) COV_MUST_USE;
int cov_target_scale_describe(const struct cov_target_scale *s, struct cov_ckpt *made,
                              struct cov_err *e) COV_MUST_USE;

/* Computes references that are not known from `train`, then sets the factors of the files of both
 * parts (cov_examples_scale_targets). They must be prepared, with their targets counted. Datasets
 * without coverage in a file or in all training files keep their values. COV_EINPUT for a file
 * without numbers of reads. */
int cov_target_scale_apply(struct cov_target_scale *s, struct cov_examples *train,
                           struct cov_examples *val, struct cov_err *e) COV_MUST_USE;

#endif
