/* train_words.c - see train_words.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"

void cov_train_words_progress(const struct cov_train_options *o, const struct cov_train_point *p,
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

int cov_train_words_diverged(const struct cov_train_options *o, const struct cov_train_point *p,
                             double rate, bool in_validation, int64_t n_saved, struct cov_err *e)
{
    if (!e)
        return COV_EINPUT;
    struct cov_err why = *e;
    char *last = cov_path_join(o->output, "last.ckpt", NULL);
    char *left = n_saved > 0 ? cov_strfmt(NULL,
                                          "%s is that of epoch %" PRId64
                                          ", from which --resume-training goes on",
                                          last ? last : "last.ckpt", p->epoch - in_validation)
                 : o->resume ? cov_strfmt(NULL, "%s is as it was", o->resume)
                             : cov_strdup("no epoch was complete, nothing is saved", NULL);
    cov_err_clear(e);
    const char *help = o->clip > 0 ? "A lower --learning-rate or --clip, or more --warmup-steps"
                                   : "A lower --learning-rate, more --warmup-steps, or --clip 1";
    int rc = cov_fail(e, COV_EINPUT,
                      "step %" PRId64 " (epoch %" PRId64 ", learning rate %.4g): %s: the training "
                      "has diverged. %s may keep it from that; %s",
                      p->state.n_steps + !in_validation, p->epoch + !in_validation, rate, why.text,
                      help, left ? left : "");
    free(left);
    free(last);
    return rc;
}

void cov_train_words_at_signals(const struct cov_train_options *o, const struct cov_train_point *p)
{
    char *last = cov_path_join(o->output, "last.ckpt", NULL);
    char *words = cov_strfmt(
        NULL, "%s has what epochs up to %" PRId64 " made; --resume-training goes on from it",
        last ? last : "last.ckpt", p->epoch);
    cov_log_set_last_words(words);
    free(words);
    free(last);
}

bool cov_train_words_steps_differ(const struct cov_train_options *o,
                                  const struct cov_train_point *p, int64_t n, double *had)
{
    int64_t n_epochs = p->epoch + 1;
    if (n_epochs <= 0 || p->state.n_steps <= 0)
        return false;
    *had = p->training.n_epoch_steps > 0 ? (double)p->training.n_epoch_steps
                                         : (double)p->state.n_steps / (double)n_epochs;
    double slack = o->random_offset ? (double)n / 8 : 0;
    /* All epochs but the last one were whole. */
    double whole = (double)(n_epochs - 1) * ((double)n - slack);
    bool may_be_cut = o->max_steps > 0 && (double)p->state.n_steps >= whole;
    return *had > (double)n + slack || (*had < (double)n - slack && !may_be_cut);
}
