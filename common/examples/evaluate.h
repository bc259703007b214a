/* evaluate.h - compares predictions with measured coverage: Predmoter's test mode, and the
 * validation of training.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EVALUATE_H
#define COV_EXAMPLES_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/cli/stats.h"
#include "common/compute/device.h"
#include "common/examples/examples.h"
#include "common/input/model.h"
#include "common/net/loss.h"
#include "common/net/net.h"

/* Called by the calling thread, in order: fits[D] are those of example i of the list; the count in
 * a fit is 0 where there is no target. Not called for gaps. Evaluation stops if it fails. */
typedef int cov_evaluate_fn(void *arg, size_t i, const struct cov_fit *fits, struct cov_err *e);

struct cov_evaluate_work {
    struct cov_examples *x;
    const struct cov_example *list; /* [n], of x */
    size_t n;
    struct cov_net *net; /* a worker per thread of the pool, room for `batch` chunks per call */
    size_t batch;
    cov_evaluate_fn *fn;
    void *arg;
};

/* Runs the examples through the network and calls w->fn for all except gaps (cov_example_is_gap).
 * The results do not depend on the size of the pool. */
int cov_evaluate_examples(const struct cov_evaluate_work *w, struct cov_pool *pool,
                          struct cov_progress *progress, struct cov_err *e) COV_MUST_USE;

/* Checks by fits[D] that the values of the network are finite; if not, COV_EINPUT names the file
 * and row. */
int cov_evaluate_check(const struct cov_examples *x, const struct cov_example *example,
                       const struct cov_fit *fits, struct cov_err *e) COV_MUST_USE;

struct cov_evaluate_options {
    size_t batch; /* chunks a worker computes at a time; 0: cov_device_batch */
    bool full;    /* compute everything (device.h) */
    bool blacklist;
    const char *blacklist_path; /* regions or sequences to omit; NULL: none */
    struct cov_device *device;  /* borrowed */
};

/* Results of a file. */
struct cov_evaluated_file {
    char *path;
    uint64_t n_chunks;
    bool *present;            /* [D] */
    struct cov_score *scores; /* [D] */
    struct cov_score total;
};

struct cov_evaluation {
    struct cov_arena memory; /* of all below */
    char **datasets;         /* [n_datasets] */
    size_t n_datasets;
    struct cov_evaluated_file *files;
    size_t n_files;
};

/* Evaluates `model` on genome files with measured coverage; each file counts as one batch. Adds the
 * same entries as cov_predict to job->stats (may be NULL), plus figures for the MultiQC report.
 * Free with cov_evaluation_free. */
int cov_evaluate(const char *const *paths, size_t n, const struct cov_ensemble *model,
                 const struct cov_evaluate_options *options, const struct cov_job *job,
                 struct cov_evaluation **out, struct cov_err *e) COV_MUST_USE;
void cov_evaluation_free(struct cov_evaluation *v); /* NULL is accepted */

/* Prints a tab-separated table with a header: a row per file and dataset and, if the model has
 * several datasets, a row "total" per file. */
void cov_evaluation_print(const struct cov_evaluation *v, FILE *f);
/* Writes the same rows as JSON: "evaluation": [...]. */
void cov_evaluation_print_json(const struct cov_evaluation *v, struct cov_json *j);

#endif
