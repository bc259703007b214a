/* train_setup.h - what training needs before its first step: the output folder, the network with its
 * first weights, the data. For train_epochs.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_SETUP_H
#define COV_JOB_TRAIN_TRAIN_SETUP_H

#include "common/base/tmpfile.h"
#include "common/job/train/examples.h"
#include "common/job/train/ranks.h"
#include "common/job/train/train_epochs.h"
#include "common/job/train/train_point.h"

struct cov_train_setup {
    int lock; /* on the output folder; -1: none */
    struct cov_newfolder
        folder; /* that one, if it was not there: it goes again unless something is in it */
    uint32_t seed;
    bool has_random_seed; /* nobody gave it */
    bool replaces;        /* another training that is in the output folder */
    bool has_remains;     /* metrics in the output folder of one that never had a checkpoint */
    struct cov_train_network network;
    struct cov_train_point point;
    struct cov_examples *train, *val;
};

/* All zero but lock = -1 is an empty one. Free with cov_train_setup_fini, after a failure too. Sequences
 * are not read yet (cov_examples_prepare). Of several processes the first one has the output folder, and its
 * seed is that of all. */
int cov_train_setup_open(struct cov_train_setup *s, const struct cov_train_options *o,
                         struct cov_ranks *ranks, struct cov_err *e) COV_MUST_USE;
void cov_train_setup_fini(struct cov_train_setup *s);

#endif
