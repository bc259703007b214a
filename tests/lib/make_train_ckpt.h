/* make_train_ckpt.h - for tests: a small network with a saved state of its training, full disks, and
 * listings of directories.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MAKE_TRAIN_CKPT_H
#define TESTS_MAKE_TRAIN_CKPT_H

#include "tests/lib/own_dir.h"

#include "common/job/train/train_ckpt.h"

enum { MADE_LENGTH = 8 };

/* A network with a convolution, a norm and two LSTMs, and its state, with moments, after epoch
 * `epoch`. */
static inline void make_train_ckpt(struct cov_train_network *n, struct cov_train_ckpt *p,
                                   int64_t epoch)
{
    static const char *const datasets[] = {"one", "two"};
    const struct cov_hparams hp = {.model_type = COV_MODEL_HYBRID,
                                   .cnn_layers = 1,
                                   .filter_size = 3,
                                   .kernel_size = 3,
                                   .step = 2,
                                   .up = 1,
                                   .dilation = 1,
                                   .lstm_layers = 2,
                                   .hidden_size = 2,
                                   .input_size = 4,
                                   .output_size = 2,
                                   .bnorm = true,
                                   .dropout = 0.25};
    assert_ok(cov_train_network_init(n, &hp, datasets, 0.01, MADE_LENGTH, &e));
    assert_ok(cov_train_ckpt_init(p, n, &e));
    cov_params_randomize(&hp, &n->params, 7, p->state.block);
    for (size_t i = 0; i < n->params.n_items; i++) {
        const struct cov_param *param = &n->params.items[i];
        for (size_t k = 0; k < param->n && param->trained; k++) {
            p->state.moment1[param->offset + k] = (float)(param->offset + k) / -3;
            p->state.moment2[param->offset + k] = (float)(param->offset + k) / 7;
        }
    }
    for (size_t i = 0; i < n->params.n_floats; i++)
        p->state.average[i] = (float)i / 9;
    p->epoch = epoch;
    p->has_moments = true;
    p->state.n_steps = 6 * (epoch + 1);
    p->n_batches = 12 * (epoch + 1);
    p->training.adam = (struct cov_ckpt_adam){
        .is_there = true, .learning_rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    p->training.has_seed = true;
    p->training.seed = 5;
    p->training.n_batches = p->n_batches;
}

static inline void free_point(struct cov_train_network *n, struct cov_train_ckpt *p)
{
    cov_train_ckpt_fini(p);
    cov_train_network_fini(n);
}

static inline int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The names in a directory, sorted, each followed by a space. Static. */
static inline const char *list_dir(const char *dir)
{
    static char list[4096];
    char names[32][128];
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && n < 32)
            (void)snprintf(names[n++], sizeof names[0], "%.127s", entry->d_name);
    assert_int_equal(closedir(d), 0);
    qsort(names, n, sizeof names[0], by_text);
    list[0] = '\0';
    for (size_t i = 0, at = 0; i < n; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s ", names[i]);
    return list;
}

/* Removes the files in the working directory. */
static inline void empty_dir(void)
{
    assert_int_equal(system("rm -rf ./*"), 0); /* NOLINT(cert-env33-c): constant */
}

#endif
