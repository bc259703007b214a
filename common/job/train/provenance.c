/* provenance.c - see provenance.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/version.h"
#include "common/cli/stats.h"
#include "common/job/train/freeze.h"

enum { MAX_WORDS = 40, WORD = 32 };

/* The words of a command line. */
struct command_words {
    const char *words[MAX_WORDS];
    char numbers[MAX_WORDS][WORD];
    int n;
};

static void add_flag(struct command_words *w, bool given, const char *option)
{
    if (given)
        w->words[w->n++] = option;
}

/* Adds an option with a text, unless that is empty or NULL. */
static void add_text(struct command_words *w, const char *option, const char *text)
{
    if (!text || !*text)
        return;
    w->words[w->n++] = option;
    w->words[w->n++] = text;
}

static void add_number(struct command_words *w, bool given, const char *option, double value)
{
    if (!given)
        return;
    w->words[w->n++] = option;
    (void)snprintf(w->numbers[w->n], WORD, "%.10g", value);
    w->words[w->n] = w->numbers[w->n];
    w->n++;
}

/* Caller frees; NULL without memory. */
static char *command_of(const struct cov_train_setup *s, const struct cov_train_options *o,
                        struct cov_err *e)
{
    const struct cov_ckpt_adam *a = &s->ckpt.training.adam;
    struct command_words w = {.words = {"covtrain"}, .n = 1};
    add_number(&w, true, "--seed", s->seed);
    add_number(&w, true, "--batch-size", (double)o->batch);
    add_number(&w, o->accumulate > 1, "--accumulate", (double)o->accumulate);
    add_number(&w, a->weight_decay > 0, "--weight-decay", a->weight_decay);
    add_number(&w, a->beta1 != 0.9, "--beta1", a->beta1);
    add_number(&w, a->beta2 != 0.999, "--beta2", a->beta2);
    if (s->network.scale.kind != COV_TARGET_NONE)
        add_text(&w, "--target-scale", cov_target_kind_names[s->network.scale.kind]);
    add_number(&w, o->clip > 0, "--clip", o->clip);
    add_number(&w, o->average > 0, "--average-weights", o->average);
    add_number(&w, o->warmup_steps > 0, "--warmup-steps", (double)o->warmup_steps);
    add_flag(&w, o->schedule == COV_SCHEDULE_COSINE, "--schedule=cosine");
    add_number(&w, o->schedule == COV_SCHEDULE_COSINE, "--epochs", (double)o->epochs);
    add_flag(&w, o->strands == COV_STRANDS_TOGETHER, "--pair-strands");
    add_flag(&w, o->strands == COV_STRANDS_APART, "--pair-strands=apart");
    add_flag(&w, o->random_offset, "--random-offset");
    add_flag(&w, o->in_order, "--no-shuffle");
    add_flag(&w, o->blacklist, "--blacklist");
    add_text(&w, "--blacklist-file", o->blacklist_path);
    add_flag(&w, o->balance_species, "--balance=species");
    char *weights = cov_strdup("", e), *text = NULL;
    for (size_t i = 0; i < o->n_loss_weights; i++)
        cov_strappend(&weights, e, "%s%g", i ? "," : "", (double)o->loss_weights[i]);
    char *left_out = cov_strjoin((const char *const *)o->leave_out.items, o->leave_out.n, ",", e);
    char *frozen = cov_freeze_text(&s->network.params, s->network.frozen, e);
    add_text(&w, "--freeze", frozen);
    add_text(&w, "--leave-out", left_out);
    add_text(&w, "--loss-weights", weights);
    if (weights && frozen && left_out)
        text = cov_command_text(w.n, w.words, e);
    free(weights);
    free(left_out);
    free(frozen);
    return text;
}

/* Adds the names of the files of a directory: "a.h5, b.h5". */
static int add_files(struct cov_ckpt *made, const char *name, const struct cov_examples *x,
                     struct cov_err *e)
{
    size_t n = x->n_files;
    const char **names = cov_calloc(n + 1, sizeof *names, e);
    if (!names)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const char *path = x->files[i].path, *slash = strrchr(path, '/');
        names[i] = slash ? slash + 1 : path;
    }
    char *text = cov_strjoin(names, n, ", ", e);
    int rc = text ? cov_ckpt_add_made(made, name, text, e) : COV_ENOMEM;
    free(names);
    free(text);
    return rc;
}

int cov_train_provenance(struct cov_train_setup *s, const struct cov_train_options *o,
                         const struct cov_device *device, struct cov_err *e)
{
    struct cov_ckpt *made = &s->network.made;
    char *command = command_of(s, o, e);
    int rc = command ? cov_ckpt_add_made(made, "tool", "covtrain", e) : COV_ENOMEM;
    if (!rc)
        rc = cov_ckpt_add_made(made, "version", cov_version(), e);
    if (!rc)
        rc = cov_ckpt_add_made(made, "command", command, e);
    if (!rc)
        rc = cov_ckpt_add_made(made, "precision", device->ops->precision(device), e);
    if (!rc)
        rc = cov_ckpt_add_made(made, "device", device->ops->name, e);
    if (!rc)
        rc = add_files(made, "train", s->train, e);
    if (!rc)
        rc = add_files(made, "val", s->val, e);
    free(command);
    return rc;
}
