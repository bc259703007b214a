/* train_messages.c - see train_messages.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/path.h"

void cov_train_describe(const struct cov_train_options *o, const struct cov_train_ckpt *p,
                        int64_t n_steps, const double *loss, char *text, size_t n)
{
    int64_t epoch = p->epoch + 1;
    char of[64] = "";
    if (loss)
        (void)snprintf(of, sizeof of, ", loss %.5g", *loss);
    if (o->max_steps > 0)
        (void)snprintf(text, n, "epoch %" PRId64 ", step %" PRId64 " of %" PRId64 "%s", epoch,
                       p->state.n_steps, n_steps, of);
    else
        (void)snprintf(text, n, "epoch %" PRId64 " (%" PRId64 " of %" PRId64 ")%s", epoch,
                       epoch + 1, o->epochs, of);
}

int cov_train_fail_diverged(const struct cov_train_options *o, const struct cov_train_ckpt *p,
                            double rate, bool in_validation, int64_t n_saved, struct cov_err *e)
{
    if (!e)
        return COV_EINPUT;
    struct cov_err why = *e;
    bool part = p->training.part.is_there;
    char *last = cov_path_join(o->output, "last.ckpt", NULL);
    char *left = n_saved > 0 ? cov_strfmt(NULL,
                                          "%s is from %sepoch %" PRId64
                                          "; --resume-training continues from it",
                                          last ? last : "last.ckpt", part ? "within " : "",
                                          p->epoch - in_validation + part)
                 : o->resume ? cov_strfmt(NULL, "%s is unchanged", o->resume)
                             : cov_strdup("no epoch was completed; nothing is saved", NULL);
    cov_err_clear(e);
    const char *help = o->clip > 0 ? "a lower --learning-rate or --clip, or more --warmup-steps"
                                   : "a lower --learning-rate, more --warmup-steps, or --clip 1";
    int rc = cov_fail(e, COV_EINPUT,
                      "step %" PRId64 " (epoch %" PRId64
                      ", learning rate %.4g): %s: the training has diverged; %s may prevent it; %s",
                      p->state.n_steps + !in_validation, p->epoch + !in_validation, rate, why.text,
                      help, left ? left : "");
    free(left);
    free(last);
    return rc;
}

void cov_train_set_last_words(const struct cov_train_options *o, const struct cov_train_ckpt *p)
{
    char *last = cov_path_join(o->output, "last.ckpt", NULL);
    char *words =
        p ? cov_strfmt(NULL, "%s %" PRId64 " is saved; resume with --resume-training %s",
                       p->training.part.is_there ? "step" : "epoch",
                       p->training.part.is_there ? p->state.n_steps : p->epoch,
                       last ? last : "last.ckpt")
        : o->resume
            ? cov_strfmt(NULL, "no new epoch is saved; resume with --resume-training %s", o->resume)
            : cov_strdup("no epoch was completed; nothing is saved", NULL);
    cov_log_set_last_words(words);
    free(words);
    free(last);
}

bool cov_train_steps_differ(const struct cov_train_options *o, const struct cov_train_ckpt *p,
                            int64_t n, double *had)
{
    int64_t n_epochs = p->epoch + 1;
    if (n_epochs <= 0 || p->state.n_steps <= 0 || p->training.part.is_there)
        return false;
    *had = p->training.n_epoch_steps > 0 ? (double)p->training.n_epoch_steps
                                         : (double)p->state.n_steps / (double)n_epochs;
    double slack = o->random_offset ? (double)n / 8 : 0;
    /* All epochs but the last were complete. */
    double whole = (double)(n_epochs - 1) * ((double)n - slack);
    bool may_be_cut = o->max_steps > 0 && (double)p->state.n_steps >= whole;
    return *had > (double)n + slack || (*had < (double)n - slack && !may_be_cut);
}
