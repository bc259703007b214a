/* covtrain.c - trains a network on genome files with measured coverage.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/cli/shared_options.h"
#include "common/cli/tool.h"
#include "common/examples/ranks.h"
#include "common/file/hash.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/input/device_options.h"
#include "common/job/train/train_setup.h"

/* ---------------------------------------------------------------- options */

/* What the table fills: mostly the options of the job themselves. `translate` turns the others into
 * those. */
struct config {
    struct cov_train_options job;
    struct cov_strings loss_weights;
    int pair_strands; /* index of the name; 0 without the option, too */
    int precision;    /* index of the name */
    const char *ram_efficient, *bnorm;
};

/* Rows of the table. */
enum {
    ROW_INPUT,
    ROW_DATASETS,
    ROW_BLACKLIST,
    ROW_BLACKLIST_FILE,
    ROW_LEAVE_OUT,
    ROW_BALANCE,
    ROW_LOADING,
    ROW_RAM_EFFICIENT,
    ROW_RESUME,
    ROW_INIT_FROM,
    ROW_MODEL_TYPE,
    ROW_CNN_LAYERS,
    ROW_FILTER_SIZE,
    ROW_KERNEL_SIZE,
    ROW_STEP,
    ROW_UP,
    ROW_DILATION,
    ROW_LSTM_LAYERS,
    ROW_HIDDEN_SIZE,
    ROW_BNORM,
    ROW_DROPOUT,
    ROW_LEARNING_RATE,
    ROW_WEIGHT_DECAY,
    ROW_BATCH_SIZE,
    ROW_EPOCHS,
    ROW_SEED,
    ROW_SCHEDULE,
    ROW_WARMUP_STEPS,
    ROW_MAX_STEPS,
    ROW_CLIP,
    ROW_ACCUMULATE,
    ROW_AVERAGE,
    ROW_LOSS_WEIGHTS,
    ROW_FREEZE,
    ROW_PAIR_STRANDS,
    ROW_RANDOM_OFFSET,
    ROW_NO_SHUFFLE,
    ROW_SAVE_TOP_K,
    ROW_CKPT_QUANTITY,
    ROW_STOP_QUANTITY,
    ROW_PATIENCE,
    ROW_SAVE_EVERY,
    ROW_MAX_HOURS,
    ROW_TENSORBOARD,
    ROW_RECOMPUTE,
    ROW_DEVICE,
    ROW_CPU,
    ROW_PRECISION,
};

/* In the order of the enums. */
static const char *const model_types[] = {"cnn", "hybrid", "bi-hybrid", NULL};
static const char *const loadings[] = {"disk", "ram", "ram-packed", "ranks", NULL};
static const char *const strands[] = {"together", "apart", NULL};
static const char *const balances[] = {"none", "species", NULL};
static const char *const schedules[] = {"constant", "cosine", NULL};
static const char *const precisions[] = {"fp32", "bf16", "tf32", NULL};
static const enum cov_precision precision_values[] = {COV_PRECISION_FP32, COV_PRECISION_BF16,
                                                      COV_PRECISION_TF32};

#define FIELD(name) offsetof(struct config, name)
#define JOB(name) offsetof(struct config, job.name)
_Static_assert(sizeof(size_t) == sizeof(int64_t) && sizeof(enum cov_loading) == sizeof(int),
               "the table writes sizes as int64_t, and enums as int");
#define MAX_SIZE 1000000
#define MAX_COUNT 1e15

static const struct cov_opt options[] = {
    [ROW_INPUT] = COV_OPT(STRING, "input-dir", 'i', JOB(input), "DIR",
                          "directory with genome files with measured coverage, *.h5: training data "
                          "in DIR/train, validation data in DIR/val",
                          .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN, .heading = "Data"),
    [ROW_DATASETS] = COV_OPT(LIST, "datasets", 0, JOB(datasets), "NAME,...",
                             "names of the coverage to predict; a file need not have all of them "
                             "(default: those that files of both train/ and val/ have)",
                             .flags = COV_OPT_UNIQUE),
    [ROW_BLACKLIST] = COV_BLACKLIST_OPTION(JOB(blacklist), ""),
    [ROW_BLACKLIST_FILE] = COV_BLACKLIST_FILE_OPTION(JOB(blacklist_path), "omit"),
    [ROW_LEAVE_OUT] =
        COV_OPT(LIST, "leave-out", 0, JOB(leave_out), "SPECIES,...",
                "train on all species but these, and validate on these; DIR has no train/ and "
                "val/, but a genome file for each species"),
    [ROW_BALANCE] =
        COV_OPT(ENUM, "balance", 0, JOB(balance_species), NULL,
                "use equally many chunks of each species in each batch: small genomes are "
                "oversampled, large ones undersampled",
                .def = "none", .choices = balances),
    [ROW_LOADING] =
        COV_LOADING_OPTION(JOB(loading), loadings,
                           ", or packed and distributed over the processes that mpirun started"),
    [ROW_RAM_EFFICIENT] = COV_OPT(STRING, "ram-efficient", 0, FIELD(ram_efficient), "true|false",
                                  "Predmoter's name for --loading disk (true) and ram (false)"),
    [ROW_RESUME] = COV_OPT(STRING, "resume-training", 0, JOB(resume), "CKPT",
                           "continue from a checkpoint, including the state of the optimiser, up "
                           "to --epochs. Network and datasets are the checkpoint's; -b, "
                           "--schedule and other options of training must be given again",
                           .flags = COV_OPT_PATH_IN, .heading = "Where to start"),
    [ROW_INIT_FROM] =
        COV_OPT(STRING, "init-from", 0, JOB(init_from), "CKPT",
                "start at epoch 0 with the network, the datasets and the weights of a checkpoint",
                .flags = COV_OPT_PATH_IN),
    [ROW_MODEL_TYPE] = COV_OPT(ENUM, "model-type", 0, JOB(hp.model_type), NULL,
                               "convolutions alone, with LSTMs, or with bidirectional LSTMs",
                               .def = "bi-hybrid", .choices = model_types, .heading = "Network"),
    [ROW_CNN_LAYERS] = COV_OPT(INT, "cnn-layers", 0, JOB(hp.cnn_layers), "N",
                               "convolutions, and equally many transposed convolutions", .def = "1",
                               .min = 1, .max = COV_HPARAMS_MAX_LAYERS),
    [ROW_FILTER_SIZE] =
        COV_OPT(INT, "filter-size", 0, JOB(hp.filter_size), "N",
                "channels of the first convolution", .def = "64", .min = 1, .max = MAX_SIZE),
    [ROW_KERNEL_SIZE] =
        COV_OPT(INT, "kernel-size", 0, JOB(hp.kernel_size), "N", "size of a convolution's kernel",
                .def = "9", .min = 1, .max = MAX_SIZE),
    [ROW_STEP] = COV_OPT(INT, "step", 0, JOB(hp.step), "N",
                         "stride of the convolutions; the length of chunks must be a multiple of "
                         "step^cnn-layers",
                         .def = "2", .min = 1, .max = MAX_SIZE),
    [ROW_UP] = COV_OPT(INT, "up", 0, JOB(hp.up), "N",
                       "factor by which channels grow from one convolution to the next", .def = "2",
                       .min = 1, .max = MAX_SIZE),
    [ROW_DILATION] = COV_OPT(INT, "dilation", 0, JOB(hp.dilation), "N",
                             "distance between the positions of a kernel", .def = "1", .min = 1,
                             .max = MAX_SIZE),
    [ROW_LSTM_LAYERS] =
        COV_OPT(INT, "lstm-layers", 0, JOB(hp.lstm_layers), "N", "stacked LSTM layers", .def = "1",
                .min = 1, .max = COV_HPARAMS_MAX_LAYERS),
    [ROW_HIDDEN_SIZE] =
        COV_OPT(INT, "hidden-size", 0, JOB(hp.hidden_size), "N", "units of an LSTM per direction",
                .def = "128", .min = 1, .max = MAX_SIZE),
    [ROW_BNORM] = COV_OPT(STRING, "bnorm", 0, FIELD(bnorm), "true|false",
                          "batch normalisation after each convolution", .def = "true"),
    [ROW_DROPOUT] =
        COV_OPT(FLOAT, "dropout", 0, JOB(hp.dropout), "P",
                "probability of dropout between two LSTMs", .def = "0", .min = 0, .max = 0.999999),
    [ROW_LEARNING_RATE] = COV_OPT(FLOAT, "learning-rate", 0, JOB(learning_rate), "V",
                                  "learning rate of Adam; a resumed training keeps the rate of the "
                                  "checkpoint unless it is given",
                                  .def = "0.001", .min = 1e-12, .max = 1000, .heading = "Training"),
    [ROW_WEIGHT_DECAY] =
        COV_OPT(FLOAT, "weight-decay", 0, JOB(weight_decay), "W",
                "as in AdamW: before each step, subtract learning rate x W x parameter from every "
                "parameter; on resume, as for --learning-rate",
                .def = "0", .min = 0, .max = COV_TRAIN_MAX_DECAY),
    [ROW_BATCH_SIZE] = COV_OPT(INT, "batch-size", 'b', JOB(batch), "N", "chunks per batch",
                               .def = "120", .min = 1, .max = 65536),
    [ROW_EPOCHS] = COV_OPT(INT, "epochs", 'e', JOB(epochs), "N",
                           "maximum number of epochs, including those before --resume-training",
                           .def = "5", .min = 1, .max = MAX_COUNT),
    [ROW_SEED] = COV_OPT(INT, "seed", 0, JOB(seed), "N",
                         "seed of initial weights, order of chunks, and dropout (default: random, "
                         "or that of the resumed checkpoint)",
                         .def = NULL, .min = 0, .max = UINT32_MAX),
    [ROW_SCHEDULE] =
        COV_OPT(ENUM, "schedule", 0, JOB(schedule), NULL,
                "keep the learning rate, or let it fall as a cosine to 0 at the end of training",
                .def = "constant", .choices = schedules),
    [ROW_WARMUP_STEPS] =
        COV_OPT(SIZE, "warmup-steps", 0, JOB(warmup_steps), "N",
                "steps in which the learning rate rises to its full value", .max = MAX_COUNT),
    [ROW_MAX_STEPS] = COV_OPT(SIZE, "max-steps", 0, JOB(max_steps), "N",
                              "stop after N steps of the optimiser; 0: no limit", .max = MAX_COUNT),
    [ROW_CLIP] = COV_OPT(FLOAT, "clip", 0, JOB(clip), "V",
                         "limit the norm of the gradient to V; 0: no limit", .def = "0", .min = 0,
                         .max = 1e30),
    [ROW_ACCUMULATE] = COV_OPT(INT, "accumulate", 0, JOB(accumulate), "N",
                               "batches per step, whose gradients are averaged", .def = "1",
                               .min = 1, .max = MAX_SIZE),
    [ROW_AVERAGE] = COV_OPT(FLOAT, "average-weights", 0, JOB(average), "V",
                            "validate and save a moving average of the weights with decay V; 0: "
                            "the weights themselves",
                            .def = "0", .min = 0, .max = 0.9999999),
    [ROW_LOSS_WEIGHTS] =
        COV_OPT(LIST, "loss-weights", 0, FIELD(loss_weights), "V,...",
                "weights of the datasets in the loss, in their order (default: all 1)"),
    [ROW_FREEZE] = COV_OPT(LIST, "freeze", 0, JOB(freeze), "LAYER,...",
                           "do not change these layers: conv, lstm, linear, or names as in "
                           "PyTorch, such as down_layer_list.0 (default: none, or those of the "
                           "resumed checkpoint)"),
    [ROW_PAIR_STRANDS] =
        COV_OPT(ENUM, "pair-strands", 0, FIELD(pair_strands), NULL,
                "put a chunk and its reverse complement into the same batch, or "
                "never into the same step or neighbouring ones",
                .def = "together", .choices = strands, .flags = COV_OPT_OPTIONAL_VALUE),
    [ROW_RANDOM_OFFSET] = COV_OPT(FLAG, "random-offset", 0, JOB(random_offset), NULL,
                                  "cut sequences into chunks at a new offset in each epoch"),
    [ROW_NO_SHUFFLE] = COV_OPT(FLAG, "no-shuffle", 0, JOB(in_order), NULL,
                               "use the chunks in file order, in every epoch"),
    [ROW_SAVE_TOP_K] =
        COV_OPT(INT, "save-top-k", 0, JOB(top_k), "N",
                "keep the checkpoints of the N best epochs by --ckpt-quantity, in "
                "addition to best.ckpt and last.ckpt; -1: all",
                .def = "-1", .min = -1, .max = MAX_SIZE, .heading = "Checkpoints and logs"),
    [ROW_CKPT_QUANTITY] = COV_OPT(ENUM, "ckpt-quantity", 0, JOB(save_by), NULL,
                                  "metric that ranks checkpoints; part of their names",
                                  .def = "avg_val_accuracy", .choices = cov_train_quantity_names),
    [ROW_STOP_QUANTITY] = COV_OPT(ENUM, "stop-quantity", 0, JOB(stop_by), NULL,
                                  "metric that must improve for training to continue",
                                  .def = "avg_train_loss", .choices = cov_train_quantity_names),
    [ROW_PATIENCE] = COV_OPT(INT, "patience", 0, JOB(patience), "N",
                             "epochs without improvement before training stops", .def = "5",
                             .min = 0, .max = MAX_COUNT),
    [ROW_SAVE_EVERY] = COV_OPT(SIZE, "save-every", 0, JOB(save_every), "STEPS",
                               "write last.ckpt every STEPS steps, too (default: after each epoch)",
                               .def = NULL, .min = 1, .max = MAX_COUNT),
    [ROW_MAX_HOURS] =
        COV_OPT(FLOAT, "max-hours", 0, JOB(max_hours), "H",
                "stop with a checkpoint after the last step that ends before H hours have passed "
                "(default: no limit)",
                .def = NULL, .min = 1e-6, .max = 1e6),
    [ROW_TENSORBOARD] = COV_OPT(STRING, "tensorboard", 0, JOB(tensorboard), "DIR",
                                "also write the metrics as event files for TensorBoard"),
    [ROW_RECOMPUTE] = COV_OPT(FLAG, "recompute", 0, JOB(recompute), NULL,
                              "use about half of the memory: compute activations again instead of "
                              "keeping them",
                              .heading = "Computing"),
    [ROW_DEVICE] = COV_DEVICE_OPTIONS(JOB(device)),
    [ROW_PRECISION] = COV_PRECISION_OPTION(FIELD(precision), "fp32", precisions,
                                           "weights stay in fp32; a CPU uses fp32 instead of tf32"),
    {.name = NULL},
};

/* ---------------------------------------------------------------- what they mean */

static enum cov_example_strands strands_of(const struct config *c, const bool *given)
{
    static const enum cov_example_strands values[] = {COV_STRANDS_TOGETHER, COV_STRANDS_APART};
    return given[ROW_PAIR_STRANDS] ? values[c->pair_strands] : COV_STRANDS_ANYWHERE;
}

/* Parses "true" or "false" in any case, since Python capitalises them. */
static int parse_bool(const char *text, int row, bool *out, struct cov_err *e)
{
    if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
        return cov_fail(e, COV_EUSAGE, "--%s: '%s' is neither true nor false", options[row].name,
                        text);
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
static int check_train(struct config *c, const bool *given, const struct cov_common *common,
                       struct cov_err *e)
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
                            c->ram_efficient, loadings[c->job.loading]);
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
static void translate(const struct config *c, const bool *given, struct cov_train_options *o)
{
    o->hp.input_size = 4;
    o->hp.output_size = (int64_t)o->datasets.n;
    o->n_loss_weights = c->loss_weights.n;
    o->strands = strands_of(c, given);
    o->has_seed = given[ROW_SEED];
    o->cpu = (struct cov_cpu_options){.levels = o->device.cpu,
                                      .precision = precision_values[c->precision]};
    for (int i = 0; i < COV_TRAIN_FIELDS; i++)
        for (int row = 0; options[row].name; row++)
            if (strcmp(options[row].name, cov_train_field_names[i]) == 0)
                o->requested[i] = given[row];
}

/* Returns a fingerprint of the options that processes which train together must share: of all that
 * are given, except paths, which may differ, and devices. */
static uint64_t options_fingerprint(const struct config *c, const bool *given)
{
    uint64_t hash = 0;
    for (int row = 0; options[row].name; row++) {
        const struct cov_opt *o = &options[row];
        const void *field = (const char *)c + o->field;
        if (!given[row] || row == ROW_TENSORBOARD || row == ROW_DEVICE || row == ROW_CPU)
            continue;
        hash = cov_fingerprint(hash, &row, sizeof row);
        if (o->type == COV_OPT_INT || o->type == COV_OPT_SIZE || o->type == COV_OPT_FLOAT)
            hash = cov_fingerprint(hash, field, sizeof(int64_t));
        else if (o->type == COV_OPT_ENUM)
            hash = cov_fingerprint(hash, field, sizeof(int));
        else if (o->type == COV_OPT_STRING && !(o->flags & COV_OPT_PATH_IN))
            hash = cov_fingerprint(hash, *(const char *const *)field,
                                   strlen(*(const char *const *)field) + 1);
        const struct cov_strings *list = o->type == COV_OPT_LIST ? field : NULL;
        for (size_t i = 0; list && i < list->n; i++)
            hash = cov_fingerprint(hash, list->items[i], strlen(list->items[i]) + 1);
    }
    return hash;
}

static int covtrain_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                        char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    struct config *c = config;
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
    o->fingerprint = options_fingerprint(c, given);
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
    .options = options,
    .config_bytes = sizeof(struct config),
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
