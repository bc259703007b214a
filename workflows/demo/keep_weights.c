/* keep_weights.c - copies a checkpoint without its state of training, three quarters of it.
 *
 *   keep_weights CKPT OUT
 *
 * OUT, which is replaced, predicts the same as CKPT, but training cannot be resumed from it.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"
#include "common/file/outfile.h"

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_ckpt *c = NULL;
    struct cov_outfile out = COV_OUTFILE_INIT;
    if (argc != 3) {
        (void)fprintf(stderr, "usage: keep_weights CKPT OUT\n");
        return 2;
    }
    int code = cov_ckpt_read(argv[1], &c, &e);
    if (code == COV_OK)
        code = cov_outfile_begin(&out, argv[2], COV_OUTFILE_BESIDE, true, &e);
    if (code == COV_OK)
        code = cov_ckpt_write(out.tmp, c, &e);
    if (code == COV_OK)
        code = cov_outfile_commit(&out, &e);
    cov_outfile_end(&out, &e);
    cov_ckpt_free(c);
    if (code != COV_OK)
        (void)fprintf(stderr, "keep_weights: error: %s\n", e.text);
    return code == COV_OK ? 0 : 1;
}
