/* put_ckpt.h - for tests: parts of a checkpoint's pickle, for valid and damaged checkpoints.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PUT_CKPT_H
#define TESTS_PUT_CKPT_H

#include <stddef.h>
#include <stdint.h>

#include "common/ckpt/pickle_writer.h"

/* A tensor as described by a pickle. */
struct tensor {
    const char *class_module, *class_name; /* class of the storage. class_module NULL: "torch" */
    const void *data;
    size_t n_bytes;
    int64_t n_declared, offset;
    int n_dims;
    int64_t shape[9], stride[9];
    const char *maker; /* NULL: _rebuild_tensor_v2 */
    const char *dtype; /* for _rebuild_tensor_v3 */
    const char *key;   /* NULL: "0" */
};

static inline void put_sizes(struct cov_pickle_writer *w, const int64_t *sizes, int n)
{
    cov_pickle_begin_tuple(w);
    for (int i = 0; i < n; i++)
        cov_pickle_int(w, sizes[i]);
    cov_pickle_end_tuple(w);
}

static inline void put_tensor(struct cov_pickle_writer *w, const struct tensor *t)
{
    cov_pickle_global(w, "torch._utils", t->maker ? t->maker : "_rebuild_tensor_v2");
    cov_pickle_begin_tuple(w);
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "storage");
    cov_pickle_global(w, t->class_module ? t->class_module : "torch", t->class_name);
    cov_pickle_text(w, t->key ? t->key : "0");
    cov_pickle_text(w, "cuda:3");
    cov_pickle_int(w, t->n_declared);
    cov_pickle_end_tuple(w);
    cov_pickle_persistent(w);
    cov_pickle_int(w, t->offset);
    put_sizes(w, t->shape, t->n_dims);
    put_sizes(w, t->stride, t->n_dims);
    cov_pickle_bool(w, true);
    cov_pickle_begin_ordered_dict(w);
    cov_pickle_end_dict(w);
    if (t->dtype)
        cov_pickle_global(w, "torch", t->dtype);
    cov_pickle_end_tuple(w);
    cov_pickle_call(w);
}

static inline void put_empty(struct cov_pickle_writer *w, const char *key)
{
    cov_pickle_text(w, key);
    cov_pickle_begin_dict(w);
    cov_pickle_end_dict(w);
}

/* The start of a checkpoint. */
static inline void put_head(struct cov_pickle_writer *w)
{
    cov_pickle_begin(w);
    cov_pickle_begin_dict(w);
    cov_pickle_text(w, "epoch");
    cov_pickle_int(w, 1);
    cov_pickle_text(w, "global_step");
    cov_pickle_int(w, 2);
    cov_pickle_text(w, "pytorch-lightning_version");
    cov_pickle_text(w, "2.0.2");
}

#endif
