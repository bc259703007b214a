/* recode_ckpt.c - reads a checkpoint with its state of training and writes it again, for tests:
 * recode_ckpt IN OUT.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/ckpt/ckpt.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: recode_ckpt IN OUT\n");
        return 2;
    }
    struct cov_err e = COV_ERR_INIT;
    struct cov_ckpt *c = NULL;
    struct cov_ckpt_training t = {0};
    int rc = cov_ckpt_read(argv[1], &c, &e);
    if (!rc)
        rc = cov_ckpt_read_training(argv[1], &t, &e);
    if (!rc) {
        /* Not read from the file; in the test files there is one step per batch. */
        t.n_epoch_batches = t.n_epoch_steps;
        t.n_val_batches = 2;
        rc = cov_ckpt_write_training(argv[2], c, &t, &e);
    }
    if (rc)
        (void)fprintf(stderr, "recode_ckpt: error: %s\n", e.text);
    cov_ckpt_training_fini(&t);
    cov_ckpt_free(c);
    return rc ? 1 : 0;
}
