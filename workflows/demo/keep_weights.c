/* keep_weights.c - a checkpoint without the state of training, which is three quarters of it.
 *
 *   keep_weights CKPT OUT
 *
 * OUT predicts the same as CKPT, but cannot be resumed.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_ckpt *c = NULL;
    if (argc != 3) {
        (void)fprintf(stderr, "usage: keep_weights CKPT OUT\n");
        return 2;
    }
    int code = cov_ckpt_read(argv[1], &c, &e);
    if (code == COV_OK)
        code = cov_ckpt_write(argv[2], c, &e);
    cov_ckpt_free(c);
    if (code != COV_OK)
        (void)fprintf(stderr, "keep_weights: error: %s\n", e.text);
    return code == COV_OK ? 0 : 1;
}
