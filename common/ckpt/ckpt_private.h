/* ckpt_private.h - what the files of checkpoints share.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_CKPT_PRIVATE_H
#define COV_CKPT_CKPT_PRIVATE_H

#include "common/ckpt/ckpt.h"
#include "common/ckpt/ckpt_training.h"
#include "common/ckpt/pickle_writer.h"

/* What reading and writing both refuse, beside values that are not finite: names that stand twice. */
int cov_ckpt_check_names(const struct cov_ckpt *c, struct cov_err *e) COV_MUST_USE;

/* Data of a tensor, stored behind the pickle; its key is its place in the list. */
struct cov_ckpt_storage {
    const void *data;
    size_t n_bytes;
};

/* A checkpoint on its way to a file. */
struct cov_ckpt_put {
    struct cov_pickle_writer w;
    struct cov_ckpt_storage *storages;
    size_t n_storages, cap_storages;
};

/* A tensor of its own storage, which is borrowed until the file is written. `storage`: "FloatStorage",
 * "LongStorage" or "ByteStorage". */
void cov_ckpt_put_tensor(struct cov_ckpt_put *p, const char *storage, size_t elem_bytes,
                         size_t n_elems, int n_dims, const int64_t *shape, const void *data);
void cov_ckpt_put_torch(struct cov_ckpt_put *p, const struct cov_torch_tensor *t);

/* loops, callbacks, optimizer_states, lr_schedulers; empty ones without `t`. Scalars and states that
 * tensors are made of go to memory that `scratch` owns, which has to stay until the file is written. */
struct cov_ckpt_scratch {
    float *scalars;
    size_t n_scalars, cap_scalars;
    uint8_t *torch_rng;
};
int cov_ckpt_put_training(struct cov_ckpt_put *p, const struct cov_ckpt *c,
                          const struct cov_ckpt_training *t, struct cov_ckpt_scratch *scratch,
                          struct cov_err *e) COV_MUST_USE;

#endif
