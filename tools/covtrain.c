/* covtrain.c - trains a network on genome files with measured coverage.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/cli/tool.h"
#include "common/examples/ranks.h"
#include "common/file/path.h"
#include "common/file/sha256.h"
#include "common/h5/h5_libraries.h"
#include "common/job/train/train_epochs.h"
#include "tools/covtrain/train_options.h"

/* In the order of the names of --precision (train_options.c). */
static const enum cov_precision precision_values[] = {COV_PRECISION_FP32, COV_PRECISION_BF16,
                                                      COV_PRECISION_TF32};

static enum cov_example_strands strands_of(const struct covtrain_config *c, const bool *given)
{
    static const enum cov_example_strands values[] = {COV_STRANDS_TOGETHER, COV_STRANDS_APART};
    return given[ROW_PAIR_STRANDS] ? values[c->pair_strands] : COV_STRANDS_ANYWHERE;
}

/* Parses "true" or "false" in any case, since Python capitalises them. */
static int parse_bool(const char *text, int row, bool *out, struct cov_err *e)
{
    if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
        return cov_fail(e, COV_EUSAGE, "--%s: '%s' is neither true nor false",
                        covtrain_options[row].name, text);
    *out = strcasecmp(text, "true") == 0;
    return COV_OK;
}

/* Training uses the first GPU, unless others are named. */
static int check_device(struct cov_device_options *o, struct cov_err *e)
{
    struct cov_device_choice *choice = &o->choice;
    int rc = cov_device_options_parse_training(o, e);
    if (!rc && choice->n_cards == 0 && choice->kind != COV_DEVICE_CPU)
        choice->cards[choice->n_cards++] = 0;
    return rc;
}

/* Checks for contradicting options; translates --ram-efficient to --loading. */
static int check_train(struct covtrain_config *c, const bool *given,
                       const struct cov_common *common, struct cov_err *e)
{
    if (cov_path_is_std(common->output))
        return cov_fail(e, COV_EUSAGE, "-o: the output is a directory, not standard output");
    if (c->job.resume && c->job.init_from)
        return cov_fail(e, COV_EUSAGE, "--resume-training and --init-from contradict each other");
    if (strands_of(c, given) == COV_STRANDS_TOGETHER && c->job.batch < 2)
        return cov_fail(e, COV_EUSAGE, "--pair-strands needs batches of at least 2 chunks");
    if (c->job.balance_species && c->job.in_order)
        return cov_fail(e, COV_EUSAGE, "--balance and --no-shuffle contradict each other");
    if (c->job.balance_species && strands_of(c, given) == COV_STRANDS_APART)
        return cov_fail(e, COV_EUSAGE, "--balance and --pair-strands=apart contradict each other");
    if (c->ram_efficient) {
        bool efficient = false;
        int rc = parse_bool(c->ram_efficient, ROW_RAM_EFFICIENT, &efficient, e);
        if (rc)
            return rc;
        if (given[ROW_LOADING] && efficient != (c->job.loading == COV_LOAD_DISK))
            return cov_fail(e, COV_EUSAGE,
                            "--ram-efficient %s and --loading %s contradict each other",
                            c->ram_efficient, covtrain_loadings[c->job.loading]);
        if (!given[ROW_LOADING])
            c->job.loading = efficient ? COV_LOAD_DISK : COV_LOAD_RAM;
    }
    if (c->loss_weights.n > 0 && c->job.datasets.n > 0 && c->loss_weights.n != c->job.datasets.n)
        return cov_fail(e, COV_EUSAGE, "--loss-weights: %zu weights for %zu datasets",
                        c->loss_weights.n, c->job.datasets.n);
    return check_device(&c->job.device, e);
}

/* Parses the weights of the losses. Caller frees *out; NULL if none are given. */
static int parse_weights(const struct cov_strings *list, float **out, struct cov_err *e)
{
    *out = NULL;
    if (list->n == 0)
        return COV_OK;
    *out = cov_malloc(list->n, sizeof **out, e);
    int rc = *out ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < list->n; i++) {
        double weight = 0;
        rc = cov_parse_double(list->items[i], "--loss-weights", 1e-6, 1e6, &weight, e);
        (*out)[i] = (float)weight;
    }
    return rc;
}

/* Fills the fields of the job that the table does not fill. */
static void translate(const struct covtrain_config *c, const bool *given,
                      struct cov_train_options *o)
{
    o->hp.input_size = 4;
    o->hp.output_size = (int64_t)o->datasets.n;
    o->n_loss_weights = c->loss_weights.n;
    o->strands = strands_of(c, given);
    o->has_seed = given[ROW_SEED];
    o->cpu = (struct cov_cpu_options){.levels = o->device.cpu,
                                      .precision = precision_values[c->precision]};
    for (int i = 0; i < COV_TRAIN_FIELDS; i++)
        for (int row = 0; covtrain_options[row].name; row++)
            if (strcmp(covtrain_options[row].name, cov_train_field_names[i]) == 0)
                o->requested[i] = given[row];
}

static int covtrain_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                        char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    struct covtrain_config *c = config;
    struct cov_train_options *o = &c->job;
    float *weights = NULL;
    bool bnorm = true;
    size_t n = strlen(o->input);
    while (n > 1 && o->input[n - 1] == '/')
        n--;
    char *input = cov_strndup(o->input, n, e); /* without slash, for messages about input/train */
    int rc = input ? check_train(c, given, common, e) : COV_ENOMEM;
    if (!rc)
        rc = parse_bool(c->bnorm, ROW_BNORM, &bnorm, e);
    if (!rc)
        rc = parse_weights(&c->loss_weights, &weights, e);
    const char *ckpt = o->resume ? o->resume : o->init_from;
    char sha256[COV_SHA256_TEXT];
    if (!rc && ckpt)
        rc = cov_sha256_file(ckpt, sha256, e);
    if (!rc && ckpt)
        rc = cov_stats_set_model(&common->stats, ckpt, sha256, e);
    translate(c, given, o);
    o->input = input;
    o->output = common->output;
    o->force = common->force;
    o->n_threads = (unsigned)common->threads;
    o->hp.bnorm = bnorm;
    o->loss_weights = weights;
    if (cov_ranks_expected() > 0)
        common->stats_path = NULL; /* written by the first process */
    if (!rc)
        rc = cov_train(o, &common->progress, &common->stats, e);
    free(weights);
    free(input);
    return rc;
}

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    cov_device_print(f);
}

static const struct cov_tool tool = {
    .name = "covtrain",
    .summary = "train a network on genome files with measured coverage",
    .synopsis = "[options] -i DIR -o DIR",
    .examples =
        "  covtrain -i data/ -o model/ --cnn-layers 3 --lstm-layers 2 -b 8 -e 20\n"
        "  covtrain -i data/ -o model/ --resume-training model/last.ckpt -b 8 -e 40\n"
        "  covtrain -i data/ -o mine/ --init-from Combined.ckpt --learning-rate 0.0003 -b 8\n",
    .options = covtrain_options,
    .config_bytes = sizeof(struct covtrain_config),
    .min_operands = 0,
    .max_operands = 0,
    .output_help = "directory for checkpoints and metrics, created if missing",
    .lacks = COV_LACKS_TMPDIR,
    .run = covtrain_run,
    .before_error = cov_ranks_let_first_report,
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    return cov_tool_main(&tool, argc, argv);
}
