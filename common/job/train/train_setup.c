/* train_setup.c - see train_setup.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/cli/stats.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/input/model.h"
#include "common/job/train/train_log.h"
#include "common/seq/names.h"

const char *const cov_train_field_names[COV_TRAIN_FIELDS] = {
    [COV_FIELD_MODEL_TYPE] = "model-type",
    [COV_FIELD_CNN_LAYERS] = "cnn-layers",
    [COV_FIELD_FILTER_SIZE] = "filter-size",
    [COV_FIELD_KERNEL_SIZE] = "kernel-size",
    [COV_FIELD_STEP] = "step",
    [COV_FIELD_UP] = "up",
    [COV_FIELD_DILATION] = "dilation",
    [COV_FIELD_LSTM_LAYERS] = "lstm-layers",
    [COV_FIELD_HIDDEN_SIZE] = "hidden-size",
    [COV_FIELD_BNORM] = "bnorm",
    [COV_FIELD_DROPOUT] = "dropout",
    [COV_FIELD_DATASETS] = "datasets",
    [COV_FIELD_LEARNING_RATE] = "learning-rate",
    [COV_FIELD_WEIGHT_DECAY] = "weight-decay",
};

void cov_train_setup_fini(struct cov_train_setup *s)
{
    cov_examples_close(s->train);
    cov_examples_close(s->val);
    free(s->places.train);
    free(s->places.val);
    cov_blacklist_free(s->list);
    cov_train_ckpt_fini(&s->ckpt);
    cov_train_network_fini(&s->network);
    if (s->lock >= 0)
        (void)close(s->lock);
    cov_newdir_fini(&s->directory);
    *s = (struct cov_train_setup){.lock = -1};
}

/* ---------------------------------------------------------------- the output directory */

static int lock_dir(struct cov_train_setup *s, const char *path, struct cov_err *e)
{
    s->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->lock < 0)
        return cov_fail_errno(e, "%s", path);
    if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
        return COV_OK;
    if (errno == EWOULDBLOCK)
        return cov_fail(e, COV_EEXIST, "%s: another run is using this directory", path);
    cov_warn(
        "%s: the file system has no locks: a second run in this directory would not be detected",
        path);
    return COV_OK;
}

/* Returns true if a file is in the directory. */
static bool is_in_dir(const char *path, const char *dir)
{
    struct stat of_path, of_dir;
    char *directory = cov_path_dir(path, NULL);
    bool is = directory && stat(directory, &of_path) == 0 && stat(dir, &of_dir) == 0 &&
              of_path.st_dev == of_dir.st_dev && of_path.st_ino == of_dir.st_ino;
    free(directory);
    return is;
}

/* Looks for a training in the output directory. It is accepted if it is the one to resume, or with -f.
 * A training that never wrote a checkpoint does not count. */
static int check_train_dir(struct cov_train_setup *s, const struct cov_train_options *o,
                           struct cov_err *e)
{
    const char *dir = o->output;
    if (o->resume && is_in_dir(o->resume, dir))
        return COV_OK;
    char *last = cov_path_join(dir, "last.ckpt", e);
    char *table = last ? cov_path_join(dir, COV_TRAIN_TABLE, e) : NULL;
    int rc = table ? COV_OK : COV_ENOMEM;
    bool has_last = table && access(last, F_OK) == 0;
    if (table && !has_last && errno != ENOENT && errno != ENOTDIR)
        rc = cov_fail_errno(e, "%s", last);
    bool has_table = table && access(table, F_OK) == 0;
    if (table && !rc && !has_table && errno != ENOENT && errno != ENOTDIR)
        rc = cov_fail_errno(e, "%s", table);
    s->has_remains = has_table && !has_last && !cov_train_log_has_epochs(table);
    bool is_there = has_last || (has_table && !s->has_remains);
    if (is_there && o->force)
        s->replaces = true;
    else if (is_there && o->resume)
        rc =
            cov_fail(e, COV_EEXIST,
                     "%s: exists: the directory contains a different training run from that of %s; "
                     "use -f to replace it",
                     has_last ? last : table, o->resume);
    else if (is_there && has_last)
        rc = cov_fail(e, COV_EEXIST,
                      "%s: exists: the directory contains a training; use --resume-training %s to "
                      "continue it, or -f to replace it",
                      last, last);
    else if (is_there)
        rc = cov_fail(e, COV_EEXIST,
                      "%s: exists: the directory contains a training; use -f to replace it", table);
    free(table);
    free(last);
    return rc;
}

/* ---------------------------------------------------------------- the network */

/* Returns the value of a field other than the datasets and the learning rate. */
static double field_value(const struct cov_hparams *hp, enum cov_train_field field)
{
    const double values[COV_TRAIN_FIELDS] = {
        [COV_FIELD_MODEL_TYPE] = (double)hp->model_type,
        [COV_FIELD_CNN_LAYERS] = (double)hp->cnn_layers,
        [COV_FIELD_FILTER_SIZE] = (double)hp->filter_size,
        [COV_FIELD_KERNEL_SIZE] = (double)hp->kernel_size,
        [COV_FIELD_STEP] = (double)hp->step,
        [COV_FIELD_UP] = (double)hp->up,
        [COV_FIELD_DILATION] = (double)hp->dilation,
        [COV_FIELD_LSTM_LAYERS] = (double)hp->lstm_layers,
        [COV_FIELD_HIDDEN_SIZE] = (double)hp->hidden_size,
        [COV_FIELD_BNORM] = hp->bnorm,
        [COV_FIELD_DROPOUT] = hp->dropout,
    };
    return values[field];
}

static bool same_datasets(const struct cov_train_options *o, const struct cov_train_network *n)
{
    if (o->hp.output_size != n->hp.output_size)
        return false;
    for (int64_t d = 0; d < n->hp.output_size; d++)
        if (strcmp(o->datasets.items[d], n->datasets[d]) != 0)
            return false;
    return true;
}

static int refuse_datasets(const struct cov_train_network *n, const char *path, struct cov_err *e)
{
    char *list = cov_strjoin((const char *const *)n->datasets, (size_t)n->hp.output_size, ",", e);
    int rc =
        list
            ? cov_fail(e, COV_EINPUT,
                       "--datasets contradicts %s, where they are %s; name all of them, also those "
                       "that no file has",
                       path, list)
            : COV_ENOMEM;
    free(list);
    return rc;
}

/* Checks that requested fields match the checkpoint. */
static int check_fields(const struct cov_train_options *o, const struct cov_train_network *n,
                        const char *path, struct cov_err *e)
{
    for (int i = 0; i < COV_FIELD_DATASETS; i++) {
        enum cov_train_field field = (enum cov_train_field)i;
        double given = field_value(&o->hp, field), is = field_value(&n->hp, field);
        if (!o->requested[i] || given == is)
            continue;
        if (field == COV_FIELD_MODEL_TYPE)
            return cov_fail(e, COV_EINPUT, "--model-type %s contradicts %s, which is %s",
                            cov_model_type_name(o->hp.model_type), path,
                            cov_model_type_name(n->hp.model_type));
        return cov_fail(e, COV_EINPUT, "--%s %g contradicts %s, where it is %g",
                        cov_train_field_names[i], given, path, is);
    }
    return o->requested[COV_FIELD_DATASETS] && !same_datasets(o, n) ? refuse_datasets(n, path, e)
                                                                    : COV_OK;
}

/* Says what a resumed training changes of its checkpoint. */
static void report_changes(const struct cov_train_setup *s, const struct cov_train_options *o)
{
    const struct cov_ckpt_training *t = &s->ckpt.training;
    const struct {
        const char *name;
        bool requested;
        double was, is;
    } changes[] = {
        {"learning rate", o->requested[COV_FIELD_LEARNING_RATE], s->network.learning_rate,
         o->learning_rate},
        {"weight decay", o->requested[COV_FIELD_WEIGHT_DECAY] && t->adam.is_there,
         t->adam.weight_decay, o->weight_decay},
        {"seed", o->has_seed && t->has_seed, t->seed, (double)o->seed},
    };
    for (size_t i = 0; i < COV_COUNT(changes); i++)
        if (changes[i].requested && changes[i].was != changes[i].is)
            cov_info("%s %.10g instead of %.10g of %s", changes[i].name, changes[i].is,
                     changes[i].was, o->resume);
}

static int open_checkpoint(struct cov_train_setup *s, const struct cov_train_options *o,
                           struct cov_err *e)
{
    const char *path = o->resume ? o->resume : o->init_from;
    int rc = cov_train_ckpt_read(path, 0, &s->network, &s->ckpt, e);
    if (!rc)
        rc = check_fields(o, &s->network, path, e);
    if (rc)
        return rc;
    struct cov_train_ckpt *p = &s->ckpt;
    if (o->resume && p->has_scaled_targets)
        return cov_fail(e, COV_EINPUT,
                        "%s: an earlier version trained it with --target-scale, and this version "
                        "does not scale targets; resume it with that version, or use --init-from "
                        "to train its weights on unscaled targets",
                        path);
    if (o->resume)
        report_changes(s, o);
    if (o->requested[COV_FIELD_LEARNING_RATE])
        s->network.learning_rate = o->learning_rate;
    if (!o->init_from && !p->has_moments) {
        cov_warn("%s: no optimiser state; starting with a new one", path);
        p->state.n_steps = 0;
        p->training.part = (struct cov_ckpt_part){0};
    }
    if (!o->init_from && p->has_average && o->average <= 0)
        cov_warn("%s: averaged weights are discarded without --average-weights", path);
    if (!o->init_from)
        return COV_OK;
    /* Keep only the weights used for prediction. */
    if (p->has_average)
        memcpy(p->state.block, p->state.average, s->network.params.n_floats * sizeof(float));
    for (size_t i = 0; i < s->network.params.n_floats; i++)
        p->state.moment1[i] = p->state.moment2[i] = 0;
    if (!o->requested[COV_FIELD_LEARNING_RATE])
        s->network.learning_rate = o->learning_rate;
    cov_ckpt_training_fini(&p->training);
    p->has_moments = p->has_average = false;
    p->state.n_steps = p->n_batches = 0;
    p->epoch = -1;
    return COV_OK;
}

static int choose_seed(struct cov_train_setup *s, const struct cov_train_options *o,
                       struct cov_ranks *ranks, struct cov_err *e)
{
    s->seed = (uint32_t)o->seed;
    if (o->has_seed)
        return COV_OK;
    if (o->resume && s->ckpt.training.has_seed) {
        s->seed = s->ckpt.training.seed;
        return COV_OK;
    }
    if (getrandom(&s->seed, sizeof s->seed, 0) != (ssize_t)sizeof s->seed)
        return cov_fail_errno(e, "cannot draw a random seed");
    double seed = ranks->rank == 0 ? s->seed : 0;
    int rc = cov_ranks_sum(ranks, &seed, 1, e);
    s->seed = (uint32_t)seed;
    s->has_random_seed = true;
    return rc;
}

static int open_network(struct cov_train_setup *s, const struct cov_train_options *o,
                        struct cov_err *e)
{
    if (o->resume || o->init_from)
        return open_checkpoint(s, o, e);
    struct cov_hparams hp = o->hp;
    hp.output_size = o->datasets.n > 0 ? hp.output_size : 1; /* not known yet */
    int rc = cov_hparams_check(&hp, e);
    if (rc == COV_EINPUT && e)
        e->code = COV_EUSAGE; /* from the command line, not from a file */
    return rc == COV_EINPUT ? COV_EUSAGE : rc;
}

/* Sets the initial weights, unless a checkpoint has them. Called after the check of the chunk
 * length, since too many layers would need too much memory. */
static int init_weights(struct cov_train_setup *s, const struct cov_train_options *o,
                        struct cov_err *e)
{
    if (o->resume || o->init_from)
        return COV_OK;
    int rc = cov_train_ckpt_init(&s->ckpt, &s->network, e);
    if (!rc)
        cov_params_randomize(&s->network.hp, &s->network.params, s->seed, s->ckpt.state.block);
    return rc;
}

/* Sets the numbers of the optimiser, except for the learning rate. A resumed one keeps its own
 * unless others are requested. */
static void choose_optimiser(struct cov_train_setup *s, const struct cov_train_options *o)
{
    struct cov_ckpt_adam *a = &s->ckpt.training.adam;
    if (!a->is_there)
        *a = (struct cov_ckpt_adam){.is_there = true,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .eps = 1e-8,
                                    .weight_decay = o->weight_decay};
    else if (o->requested[COV_FIELD_WEIGHT_DECAY])
        a->weight_decay = o->weight_decay;
}

/* Fails because a resumed training has other frozen layers than the options. */
static int refuse_freeze(const struct cov_train_setup *s, const struct cov_train_options *o,
                         struct cov_err *e)
{
    char *given = cov_strjoin((const char *const *)o->freeze.items, o->freeze.n, ",", e);
    char *is = given ? cov_freeze_text(&s->network.params, s->network.frozen, e) : NULL;
    int rc = is ? cov_fail(e, COV_EINPUT,
                           "--freeze %s contradicts %s, where the frozen layers are: %s; use "
                           "--init-from to freeze others",
                           given, o->resume, *is ? is : "none")
                : COV_ENOMEM;
    free(given);
    free(is);
    return rc;
}

/* Chooses the layers that do not change. */
static int freeze(struct cov_train_setup *s, const struct cov_train_options *o, struct cov_err *e)
{
    struct cov_train_network *n = &s->network;
    bool keeps = o->resume && s->ckpt.has_moments;
    if (o->init_from)
        memset(n->frozen, 0, n->params.n_items * sizeof *n->frozen);
    if (o->freeze.n == 0)
        return COV_OK;
    bool *frozen = cov_calloc(n->params.n_items, sizeof *frozen, e);
    int rc = frozen ? cov_freeze_parse(&n->params, (const char *const *)o->freeze.items,
                                       o->freeze.n, frozen, e)
                    : COV_ENOMEM;
    if (!rc && keeps && memcmp(frozen, n->frozen, n->params.n_items * sizeof *frozen) != 0)
        rc = refuse_freeze(s, o, e);
    if (!rc)
        memcpy(n->frozen, frozen, n->params.n_items * sizeof *frozen);
    free(frozen);
    return rc;
}

/* ---------------------------------------------------------------- the data */

static int by_dataset_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int open_part(const struct cov_train_setup *s, const struct cov_train_options *o,
                     struct cov_ranks *ranks, const char *part, struct cov_examples **out,
                     struct cov_err *e)
{
    /* A single process keeps everything itself. */
    bool alone = o->loading == COV_LOAD_RANKS && ranks->n == 1;
    const struct cov_examples_choice choice = {(const char *const *)o->leave_out.items,
                                               o->leave_out.n, .others = strcmp(part, "train") == 0,
                                               .place = o->input};
    const struct cov_examples_options options = {
        .blacklist = o->blacklist,
        .loading = alone ? COV_LOAD_RAM_PACKED : o->loading,
        .ranks = ranks,
        .list = s->list,
        .choice = o->leave_out.n > 0 ? &choice : NULL,
    };
    char *dir = o->leave_out.n > 0 ? cov_strdup(o->input, e) : cov_path_join(o->input, part, e);
    struct stat status;
    int rc = dir ? COV_OK : COV_ENOMEM;
    if (!rc && stat(dir, &status) != 0 && errno == ENOENT)
        rc = cov_fail(e, COV_EINPUT,
                      "%s: no directory %s/; covtrain needs train/ and val/, which `h5chunk split` "
                      "makes from a genome file, or --leave-out",
                      o->input, part);
    if (!rc)
        rc = cov_examples_open_dir(dir, &options, out, e);
    free(dir);
    return rc;
}

/* Sets names[0..*n) to the datasets that files of both directories have, by name. They are borrowed
 * from `train`. Warns about those that only one directory has. */
static int common_datasets(const struct cov_train_places *places, const struct cov_names *train,
                           const struct cov_names *val, const char **names, size_t *n,
                           struct cov_err *e)
{
    const struct cov_names *const sides[] = {train, val};
    struct cov_listing listings[2] = {{.n = 0}, {.n = 0}};
    *n = 0;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < cov_names_count(sides[side]); i++) {
            size_t index, length;
            const char *name = cov_names_get(sides[side], i, &length);
            cov_listing_add(&listings[side], name);
            if (!cov_names_find(sides[!side], name, length, &index))
                cov_warn("%s: no file has the dataset %s; it is not trained",
                         side ? places->train : places->val, name);
            else if (side == 0)
                names[(*n)++] = name;
        }
    if (*n == 0)
        return cov_fail(e, COV_EINPUT, "%s has: %s%s; %s has: %s%s; no dataset is in both",
                        places->train, listings[0].text, cov_listing_more(&listings[0]),
                        places->val, listings[1].text, cov_listing_more(&listings[1]));
    qsort(names, *n, sizeof *names, by_dataset_name);
    return COV_OK;
}

/* Makes a network for the datasets of the files. */
static int use_datasets_of_files(struct cov_train_setup *s, const struct cov_train_options *o,
                                 struct cov_err *e)
{
    struct cov_names *train = NULL, *val = NULL;
    struct cov_hparams hp = o->hp;
    const char **names = NULL;
    char *list = NULL;
    size_t n = 0;
    int rc = cov_names_new(&train, e);
    if (!rc)
        rc = cov_names_new(&val, e);
    if (!rc)
        rc = cov_examples_list(s->train, train, e);
    if (!rc)
        rc = cov_examples_list(s->val, val, e);
    if (!rc) {
        names = cov_calloc(cov_names_count(train), sizeof *names, e);
        rc = names ? common_datasets(&s->places, train, val, names, &n, e) : COV_ENOMEM;
    }
    hp.output_size = (int64_t)n;
    if (!rc)
        rc = cov_train_network_init(&s->network, &hp, names, o->learning_rate, 0, e);
    if (!rc) {
        list = cov_strjoin(names, n, ",", e);
        rc = list ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        cov_info("datasets: %s, as in the files", list);
    free(list);
    free(names);
    cov_names_free(train);
    cov_names_free(val);
    return rc;
}

/* Makes the network unless it comes from a checkpoint, and tells the files its datasets. */
static int choose_datasets(struct cov_train_setup *s, const struct cov_train_options *o,
                           struct cov_err *e)
{
    int rc = o->resume || o->init_from ? COV_OK
             : o->datasets.n > 0       ? cov_train_network_init(&s->network, &o->hp,
                                                                (const char *const *)o->datasets.items,
                                                                o->learning_rate, 0, e)
                                       : use_datasets_of_files(s, o, e);
    const char *const *names = (const char *const *)s->network.datasets;
    size_t n = (size_t)s->network.hp.output_size;
    if (!rc)
        rc = cov_examples_select(s->train, names, n, e);
    return rc ? rc : cov_examples_select(s->val, names, n, e);
}

static const char *part_name(const struct cov_train_setup *s, const struct cov_examples *x)
{
    return x == s->train ? s->places.train : s->places.val;
}

/* Fails because the files of one part lack a dataset; with `name` NULL, all of them. */
static int lacks_dataset(const struct cov_train_setup *s, const struct cov_train_options *o,
                         const struct cov_examples *x, const char *name, struct cov_err *e)
{
    const char *ckpt = o->resume ? o->resume : o->init_from;
    const char *place = part_name(s, x);
    struct cov_names *names = NULL;
    struct cov_listing has = {.n = 0};
    char *list = cov_strjoin((const char *const *)s->network.datasets,
                             (size_t)s->network.hp.output_size, ",", e);
    int rc = list ? cov_names_new(&names, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_examples_list(x, names, e);
    for (size_t i = 0; !rc && i < cov_names_count(names); i++)
        cov_listing_add(&has, cov_names_get(names, i, NULL));
    if (!rc && name && ckpt)
        rc = cov_fail(e, COV_EINPUT,
                      "%s: no file has the dataset %s of %s; --datasets %s trains without it, "
                      "but its predictions change, too",
                      place, name, ckpt, list);
    else if (!rc)
        rc = cov_fail(e, COV_EINPUT, "%s: no file has %s%s; they have: %s%s", place,
                      name ? "the dataset " : "any of the datasets", name ? name : "", has.text,
                      cov_listing_more(&has));
    cov_names_free(names);
    free(list);
    return rc;
}

/* Checks that the files of train/ or val/ have the datasets. */
static int check_datasets(const struct cov_train_setup *s, const struct cov_train_options *o,
                          const struct cov_examples *x, struct cov_err *e)
{
    bool from_ckpt = o->resume || o->init_from, accepts = from_ckpt && o->datasets.n > 0;
    size_t n = (size_t)s->network.hp.output_size, n_found = 0;
    const char *lacking = NULL;
    for (size_t d = 0; d < n; d++) {
        const char *name = s->network.datasets[d];
        bool found = false;
        for (size_t k = 0; k < x->n_files && !found; k++)
            found = x->files[k].present[d];
        n_found += found;
        if (!found && accepts)
            cov_warn("%s: no file has the dataset %s; %s", part_name(s, x), name,
                     x == s->train ? "its predictions change without being trained"
                                   : "it is not validated");
        else if (!found && !lacking)
            lacking = name;
    }
    if (lacking || n_found == 0)
        return lacks_dataset(s, o, x, n_found > 0 || !from_ckpt ? lacking : NULL, e);
    return COV_OK;
}

static int name_places(struct cov_train_setup *s, const struct cov_train_options *o,
                       struct cov_err *e)
{
    char *list = cov_strjoin((const char *const *)o->leave_out.items, o->leave_out.n, ",", e);
    if (!list)
        return COV_ENOMEM;
    s->places.train = o->leave_out.n > 0 ? cov_strfmt(e, "%s without %s", o->input, list)
                                         : cov_path_join(o->input, "train", e);
    s->places.val = o->leave_out.n > 0 ? cov_strfmt(e, "%s of %s", o->input, list)
                                       : cov_path_join(o->input, "val", e);
    free(list);
    return s->places.train && s->places.val ? COV_OK : COV_ENOMEM;
}

/* --balance needs files of several species, each of one. */
static int check_species(const struct cov_train_setup *s, struct cov_err *e)
{
    const char *first = s->train->files[0].species;
    bool differ = false;
    for (size_t k = 0; k < s->train->n_files; k++) {
        const char *species = s->train->files[k].species;
        if (!species)
            return cov_fail(e, COV_EINPUT, "%s: several species; --balance needs a file for each",
                            s->train->files[k].path);
        differ = differ || strcmp(species, first) != 0;
    }
    return differ
               ? COV_OK
               : cov_fail(e, COV_EINPUT, "%s: all files are of %s; --balance needs other species",
                          s->places.train, first);
}

static int open_data(struct cov_train_setup *s, const struct cov_train_options *o,
                     struct cov_ranks *ranks, struct cov_err *e)
{
    struct stat status;
    if (cov_path_is_url(o->input))
        return cov_path_check_file(o->input, e);
    if (stat(o->input, &status) != 0)
        return cov_fail_errno(e, "%s", o->input);
    if (!S_ISDIR(status.st_mode))
        return cov_fail_kind(e, o->input, "not a directory");
    int rc = o->blacklist_path ? cov_blacklist_read(o->blacklist_path, false, &s->list, e) : COV_OK;
    if (!rc)
        rc = name_places(s, o, e);
    if (!rc)
        rc = open_part(s, o, ranks, "train", &s->train, e);
    if (!rc)
        rc = open_part(s, o, ranks, "val", &s->val, e);
    if (!rc && o->balance_species)
        rc = check_species(s, e);
    if (!rc && s->list)
        cov_blacklist_warn(s->list, o->blacklist_path, o->input);
    if (!rc)
        rc = choose_datasets(s, o, e);
    if (rc)
        return rc;
    s->network.L = s->train->L;
    if (s->val->L != s->network.L)
        return cov_fail(e, COV_EINPUT, "%s: chunks have %zu positions, those of %s %zu",
                        s->places.train, s->network.L, s->places.val, s->val->L);
    const struct cov_model model = {.hp = s->network.hp};
    rc = cov_model_check_length(&model, s->network.L, e);
    if (rc)
        (void)cov_err_prefix(e, rc, "%s", s->train->files[0].path);
    else
        rc = check_datasets(s, o, s->train, e);
    if (!rc)
        rc = check_datasets(s, o, s->val, e);
    return rc;
}

/* Compares all files that are open, the checkpoint and the blacklist with the other processes'. */
static int agree_on_files(const struct cov_train_setup *s, const struct cov_train_options *o,
                          struct cov_ranks *ranks, struct cov_err *e)
{
    const char *const others[] = {o->resume, o->init_from, o->blacklist_path};
    const struct cov_examples *const parts[] = {s->train, s->val};
    size_t n = 0;
    const char **paths =
        cov_calloc(s->train->n_files + s->val->n_files + COV_COUNT(others), sizeof *paths, e);
    if (!paths)
        return COV_ENOMEM;
    for (size_t i = 0; i < COV_COUNT(others); i++)
        if (others[i])
            paths[n++] = others[i];
    for (size_t p = 0; p < COV_COUNT(parts); p++)
        for (size_t k = 0; k < parts[p]->n_files; k++)
            paths[n++] = parts[p]->files[k].path;
    int rc = cov_ranks_compare_files(ranks, paths, n, e);
    free(paths);
    return rc;
}

int cov_train_setup_open(struct cov_train_setup *s, const struct cov_train_options *o,
                         struct cov_ranks *ranks, struct cov_err *e)
{
    *s = (struct cov_train_setup){.lock = -1};
    int rc = o->tensorboard && ranks->rank == 0 ? cov_newdir_check(o->tensorboard, e) : COV_OK;
    if (!rc)
        rc = open_network(s, o, e);
    if (!rc)
        rc = open_data(s, o, ranks, e);
    if (!rc && o->n_loss_weights > 0 && o->n_loss_weights != (size_t)s->network.hp.output_size)
        rc = cov_fail(e, COV_EINPUT, "--loss-weights: %zu weights for %lld datasets",
                      o->n_loss_weights, (long long)s->network.hp.output_size);
    rc = cov_ranks_agree(ranks, rc, e);
    if (!rc)
        rc = agree_on_files(s, o, ranks, e);
    if (!rc)
        rc = choose_seed(s, o, ranks, e);
    if (!rc)
        rc = init_weights(s, o, e);
    if (!rc)
        rc = freeze(s, o, e);
    if (!rc)
        choose_optimiser(s, o);
    if (rc || ranks->rank > 0)
        return rc;
    rc = cov_newdir_make(&s->directory, o->output, e);
    if (!rc)
        rc = lock_dir(s, o->output, e);
    if (!rc)
        rc = check_train_dir(s, o, e);
    if (!rc && s->has_random_seed)
        cov_info("seed %u", s->seed);
    if (!rc && o->loading == COV_LOAD_RANKS && ranks->n == 1)
        cov_info("without mpirun, --loading ranks is the same as ram-packed");
    return rc;
}

/* ---------------------------------------------------------------- what a checkpoint records */

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
