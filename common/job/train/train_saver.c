/* train_saver.c - see train_saver.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_saver.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"

/* Returns true if larger values are better. */
static bool more_is_better(enum cov_train_quantity q)
{
    return q == COV_VAL_ACCURACY || q == COV_TRAIN_ACCURACY;
}

/* ---------------------------------------------------------------- states */

static int set_text(char **to, const char *text, struct cov_err *e)
{
    char *copy = cov_strdup(text, e);
    if (!copy)
        return COV_ENOMEM;
    free(*to);
    *to = copy;
    return COV_OK;
}

static void forget_saved(struct cov_ckpt_saving *saving)
{
    for (size_t i = 0; i < saving->n_saved; i++)
        free(saving->saved[i].path);
    free(saving->saved);
    saving->saved = NULL;
    saving->n_saved = 0;
}

static bool is_better(double a, double b, bool is_max)
{
    return is_max ? a > b : a < b;
}

/* Returns the kept checkpoint with the largest score, or the smallest; of equal ones the oldest. */
static size_t find_extreme(const struct cov_ckpt_saving *saving, bool largest)
{
    size_t found = 0;
    for (size_t i = 1; i < saving->n_saved; i++)
        if (is_better(saving->saved[i].score, saving->saved[found].score, largest))
            found = i;
    return found;
}

static int update_extremes(struct cov_ckpt_saving *saving, struct cov_err *e)
{
    size_t best = find_extreme(saving, saving->is_max);
    size_t worst = find_extreme(saving, !saving->is_max);
    if (saving->n_saved == 0)
        return COV_OK;
    saving->best_score = saving->saved[best].score;
    saving->kth_score = saving->saved[worst].score;
    int rc = set_text(&saving->best_path, saving->saved[best].path, e);
    return rc ? rc : set_text(&saving->kth_path, saving->saved[worst].path, e);
}

/* Removes directories from names, so that the output directory may be moved. Drops entries whose file
 * is missing, or whose name is not that of an epoch's checkpoint, since files listed here may be
 * removed. */
static int keep_present(const struct cov_train_saver *s, struct cov_ckpt_saving *saving,
                        struct cov_err *e)
{
    size_t n = 0;
    int rc = COV_OK;
    for (size_t i = 0; i < saving->n_saved; i++) {
        struct cov_ckpt_saved *saved = &saving->saved[i];
        char *name = strrchr(saved->path, '/'), *path = NULL;
        if (name)
            memmove(saved->path, name + 1, strlen(name + 1) + 1);
        if (!rc && strstr(saved->path, "epoch=")) {
            path = cov_path_join(s->dir, saved->path, e);
            rc = path ? COV_OK : COV_ENOMEM;
        }
        const bool is_there = path && access(path, F_OK) == 0;
        if (path && !is_there && errno != ENOENT)
            rc = cov_fail_errno(e, "%s", path);
        if (is_there)
            saving->saved[n++] = *saved;
        else
            free(saved->path);
        free(path);
    }
    saving->n_saved = n;
    return rc;
}

static int begin_saving(const struct cov_train_saver *s, struct cov_ckpt_saving *saving,
                        struct cov_err *e)
{
    const char *monitor = cov_train_quantity_names[s->save_by];
    int rc = COV_OK;
    if (saving->is_there && strcmp(saving->monitor, monitor) == 0)
        rc = keep_present(s, saving, e);
    else
        forget_saved(saving);
    char **const to[] = {&saving->monitor, &saving->dir, &saving->last_path, &saving->best_path,
                         &saving->kth_path};
    const char *const texts[] = {monitor, ".", "last.ckpt", "", ""};
    for (size_t i = 0; !rc && i < COV_COUNT(to); i++)
        rc = set_text(to[i], texts[i], e);
    saving->is_there = true;
    saving->is_max = more_is_better(s->save_by);
    return rc ? rc : update_extremes(saving, e);
}

int cov_train_saver_begin(const struct cov_train_saver *s, struct cov_train_ckpt *p,
                          struct cov_err *e)
{
    struct cov_ckpt_stopping *stopping = &p->training.stopping;
    const char *monitor = cov_train_quantity_names[s->stop_by];
    int rc = COV_OK;
    if (!stopping->is_there || strcmp(stopping->monitor, monitor) != 0) {
        rc = set_text(&stopping->monitor, monitor, e);
        stopping->is_max = more_is_better(s->stop_by);
        stopping->is_there = true;
        stopping->wait_count = stopping->stopped_epoch = 0;
        stopping->best_score = (double)NAN; /* not known yet */
    }
    stopping->patience = s->patience;
    return rc ? rc : begin_saving(s, &p->training.saving, e);
}

/* Rounds as a checkpoint does, so that comparisons give the same result after resuming. */
static double rounded(double x)
{
    return (double)(float)x;
}

void cov_train_saver_check(const struct cov_train_saver *s, struct cov_train_ckpt *p,
                           const double values[COV_TRAIN_QUANTITIES], bool *stop)
{
    struct cov_ckpt_stopping *stopping = &p->training.stopping;
    double value = rounded(values[s->stop_by]);
    *stop = false;
    if (!isfinite(value)) {
        cov_warn("%s is %g: training stops", stopping->monitor, value);
        *stop = true;
    } else if (isnan(stopping->best_score) ||
               is_better(value, stopping->best_score, stopping->is_max)) {
        stopping->best_score = value;
        stopping->wait_count = 0;
    } else if (++stopping->wait_count >= s->patience) {
        cov_info("%s has not improved on %.6g for %" PRId64 " epoch%s: training stops",
                 stopping->monitor, stopping->best_score, stopping->wait_count,
                 cov_text_s(stopping->wait_count));
        stopping->stopped_epoch = p->epoch;
        *stop = true;
    }
}

/* ---------------------------------------------------------------- files */

static int write_one(const struct cov_train_saver *s, const char *name,
                     const struct cov_train_network *n, const struct cov_train_ckpt *p,
                     struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    char *path = cov_path_join(s->dir, name, e);
    int rc = path ? cov_outfile_begin(&out, path, COV_OUTFILE_BESIDE, true, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_train_ckpt_write(out.tmp, n, p, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_outfile_end(&out, e);
    free(path);
    return rc;
}

static int remove_one(const struct cov_train_saver *s, const char *name, struct cov_err *e)
{
    char *path = cov_path_join(s->dir, name, e);
    int rc = path ? COV_OK : COV_ENOMEM;
    if (path && unlink(path) && errno != ENOENT)
        rc = cov_fail_errno(e, "%s", path);
    free(path);
    return rc;
}

/* Adds a checkpoint to the list. Sets *dropped to the one that is no longer kept, if any; caller
 * frees it. */
static int add_saved(const struct cov_train_saver *s, struct cov_ckpt_saving *saving,
                     const char *path, double score, char **dropped, struct cov_err *e)
{
    struct cov_ckpt_saved *grown =
        cov_realloc(saving->saved, saving->n_saved + 1, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    saving->saved = grown;
    char *copy = cov_strdup(path, e);
    if (!copy)
        return COV_ENOMEM;
    if (s->top_k > 0 && saving->n_saved >= (size_t)s->top_k) {
        size_t worst = find_extreme(saving, !saving->is_max);
        *dropped = saving->saved[worst].path;
        memmove(saving->saved + worst, saving->saved + worst + 1,
                (saving->n_saved - worst - 1) * sizeof *saving->saved);
        saving->n_saved--;
    }
    saving->saved[saving->n_saved++] = (struct cov_ckpt_saved){copy, score};
    return update_extremes(saving, e);
}

static bool is_kept(const struct cov_train_saver *s, const struct cov_ckpt_saving *saving,
                    double score)
{
    if (s->top_k < 0 || (s->top_k > 0 && saving->n_saved < (size_t)s->top_k))
        return true;
    return s->top_k > 0 &&
           is_better(score, saving->saved[find_extreme(saving, !saving->is_max)].score,
                     saving->is_max);
}

/* Replaces best.ckpt by a copy of the file `name`. */
static int copy_best(const struct cov_train_saver *s, const char *name, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    char *from = cov_path_join(s->dir, name, e), *path = cov_path_join(s->dir, COV_CKPT_BEST, e);
    int rc = from && path ? cov_outfile_begin(&out, path, COV_OUTFILE_BESIDE, true, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_outfile_copy(&out, from, NULL, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_outfile_end(&out, e);
    free(from);
    free(path);
    return rc;
}

/* Reads the epoch and score of best.ckpt. Returns 1, 0 if it is missing, damaged, or the best by another
 * metric, or a failure. */
static int read_best(struct cov_train_saver *s, const struct cov_ckpt_saving *saving,
                     struct cov_err *e)
{
    struct cov_train_network n = {.datasets = NULL};
    struct cov_train_ckpt p = {.epoch = -1};
    struct cov_err why = COV_ERR_INIT;
    char *path = cov_path_join(s->dir, COV_CKPT_BEST, &why);
    bool is = false;
    int rc = path ? COV_OK : COV_ENOMEM;
    if (!rc && access(path, F_OK) == 0) {
        rc = cov_train_ckpt_read(path, 0, &n, &p, &why);
        is = !rc && p.training.saving.is_there &&
             strcmp(p.training.saving.monitor, saving->monitor) == 0;
    } else if (!rc && errno != ENOENT) {
        rc = cov_fail_errno(&why, "%s", path);
    }
    const bool failed = rc == COV_ENOMEM || rc == COV_EIO; /* otherwise it is damaged */
    if (failed)
        (void)cov_fail(e, rc, "%s", why.text);
    s->best_epoch = p.epoch;
    s->best_score = p.training.saving.current_score;
    cov_train_ckpt_fini(&p);
    cov_train_network_fini(&n);
    free(path);
    return failed ? rc : is;
}

int cov_train_saver_resume(struct cov_train_saver *s, const struct cov_train_ckpt *p,
                           struct cov_err *e)
{
    const struct cov_ckpt_saving *saving = &p->training.saving;
    int rc = read_best(s, saving, e);
    if (rc < 0)
        return rc;
    s->has_best = rc && s->best_epoch <= p->epoch;
    if (saving->n_saved == 0)
        return COV_OK;
    const struct cov_ckpt_saved *best = &saving->saved[find_extreme(saving, saving->is_max)];
    if (s->has_best && !is_better(best->score, s->best_score, saving->is_max))
        return COV_OK;
    rc = copy_best(s, best->path, e);
    if (!rc)
        rc = read_best(s, saving, e);
    s->has_best = rc > 0;
    return rc < 0 ? rc : COV_OK;
}

/* Writes best.ckpt if the epoch is the best so far. */
static int save_best(struct cov_train_saver *s, const struct cov_train_network *n,
                     const struct cov_train_ckpt *p, struct cov_err *e)
{
    const struct cov_ckpt_saving *saving = &p->training.saving;
    if (s->has_best && !is_better(saving->current_score, s->best_score, saving->is_max))
        return COV_OK;
    s->has_best = true;
    s->best_epoch = p->epoch;
    s->best_score = saving->current_score;
    return write_one(s, COV_CKPT_BEST, n, p, e);
}

int cov_train_saver_save(struct cov_train_saver *s, const struct cov_train_network *n,
                         struct cov_train_ckpt *p, const double values[COV_TRAIN_QUANTITIES],
                         struct cov_err *e)
{
    struct cov_ckpt_saving *saving = &p->training.saving;
    double value = values[s->save_by], score = rounded(value);
    char *dropped = NULL, *name = NULL;
    int rc = COV_OK;
    /* Treat NaN as the worst value. */
    if (isnan(score))
        score = saving->is_max ? -HUGE_VAL : HUGE_VAL;
    if (!isfinite(score))
        score = score > 0 ? (double)3e38F : -(double)3e38F;
    saving->current_score = score;
    if (!rc && is_kept(s, saving, score)) {
        name = cov_strfmt(e, COV_CKPT_NAME "_epoch=%" PRId64 "_%s=%.4f.ckpt", p->epoch,
                          saving->monitor, value);
        rc = name ? add_saved(s, saving, name, score, &dropped, e) : COV_ENOMEM;
        if (!rc)
            rc = write_one(s, name, n, p, e);
    }
    /* Before last.ckpt, so that a run that is killed and resumed has the best epoch, too. */
    if (!rc)
        rc = save_best(s, n, p, e);
    if (!rc)
        rc = write_one(s, "last.ckpt", n, p, e);
    if (!rc && dropped && strcmp(dropped, name) != 0)
        rc = remove_one(s, dropped, e);
    free(dropped);
    free(name);
    return rc;
}

int cov_train_saver_save_part(struct cov_train_saver *s, const struct cov_train_network *n,
                              const struct cov_train_ckpt *p, struct cov_err *e)
{
    return write_one(s, "last.ckpt", n, p, e);
}

static bool is_saved(const struct cov_ckpt_saving *saving, const char *name)
{
    for (size_t i = 0; i < saving->n_saved; i++)
        if (strcmp(saving->saved[i].path, name) == 0)
            return true;
    return false;
}

int cov_train_saver_clear(const struct cov_train_saver *s, const struct cov_train_ckpt *p,
                          const char *keep, struct cov_err *e)
{
    static const char prefix[] = COV_CKPT_NAME "_epoch=";
    int64_t n = 0;
    int rc = COV_OK;
    DIR *d = opendir(s->dir);
    if (!d)
        return cov_fail_errno(e, "%s", s->dir);
    for (struct dirent *entry; !rc && (entry = readdir(d)) != NULL;) {
        const char *name = entry->d_name;
        if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !cov_path_has_suffix(name, ".ckpt") ||
            is_saved(&p->training.saving, name))
            continue;
        char *path = cov_path_join(s->dir, name, e);
        if (!path)
            rc = COV_ENOMEM;
        else if (!keep || !cov_path_same_file(path, keep)) {
            rc = remove_one(s, name, e);
            n++;
        }
        free(path);
    }
    (void)closedir(d);
    char *best = cov_path_join(s->dir, COV_CKPT_BEST, e);
    if (!best)
        rc = COV_ENOMEM;
    else if (!rc && !s->has_best && !(keep && cov_path_same_file(best, keep)))
        rc = remove_one(s, COV_CKPT_BEST, e);
    free(best);
    if (!rc && n > 0)
        cov_info("%s: %" PRId64 " checkpoint%s of the replaced training %s removed", s->dir, n,
                 cov_text_s(n), n == 1 ? "is" : "are");
    return rc;
}

void cov_train_saver_report(const struct cov_train_saver *s)
{
    char *best = cov_path_join(s->dir, COV_CKPT_BEST, NULL);
    if (best && s->has_best)
        cov_info("best epoch: %" PRId64 ", %s %.4f: %s; to predict: covpredict -m %s -o "
                 "predictions.h5 genome.fa",
                 s->best_epoch, cov_train_quantity_names[s->save_by], s->best_score, best, best);
    free(best);
}

/* ---------------------------------------------------------------- messages */

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
