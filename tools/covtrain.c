/* covtrain.c - trains a network on genome files with measured coverage.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/tool.h"
#include "common/job/ranks.h"
#include "common/job/train_epochs.h"

struct config {
    const char *input;
    struct cov_strings datasets;
    bool blacklist;
    const char *ram_efficient;
    int loading;
    int model_type;
    int64_t cnn_layers, filter_size, kernel_size, step, up, dilation, lstm_layers, hidden_size;
    const char *bnorm;
    double dropout, learning_rate;
    int64_t batch, epochs, seed;
    bool no_shuffle, pair_strands, random_offset;
    const char *resume, *init_from;
    int save_by, stop_by;
    int64_t top_k, patience;
    int schedule;
    int64_t warmup_steps, max_steps, accumulate;
    double clip, average;
    struct cov_strings loss_weights;
    const char *tensorboard;
    const char *device;
    struct cov_device_choice device_choice; /* what it comes to */
    int precision;
    const char *cpu;
};

/* As the enums that they become. */
static const char *const model_types[] = {"cnn", "hybrid", "bi-hybrid", NULL};
static const char *const loadings[] = {"disk", "ram", "ram-packed", "ranks", NULL};
static const char *const schedules[] = {"constant", "cosine", NULL};
static const char *const precisions[] = {"fp32", "bf16", "tf32", NULL};
static const enum cov_precision precision_values[] = {COV_PRECISION_FP32, COV_PRECISION_BF16,
                                                      COV_PRECISION_TF32};

enum {
    ROW_INPUT,
    ROW_DATASETS,
    ROW_BLACKLIST,
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
    ROW_PAIR_STRANDS,
    ROW_RANDOM_OFFSET,
    ROW_NO_SHUFFLE,
    ROW_SAVE_TOP_K,
    ROW_CKPT_QUANTITY,
    ROW_STOP_QUANTITY,
    ROW_PATIENCE,
    ROW_TENSORBOARD,
    ROW_DEVICE,
    ROW_PRECISION,
    ROW_CPU,
};

#define FIELD(name) offsetof(struct config, name)
#define MAX_SIZE 1000000
#define MAX_COUNT 1e15

static const struct cov_opt options[] = {
    [ROW_INPUT] = {.name = "input-dir",
                   .letter = 'i',
                   .type = COV_OPT_STRING,
                   .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN,
                   .field = FIELD(input),
                   .metavar = "DIR",
                   .help = "the folder that has the genome files with measured coverage: those to "
                           "train on in DIR/train, those to validate with in DIR/val, *.h5"},
    [ROW_DATASETS] = {.name = "datasets",
                      .type = COV_OPT_LIST,
                      .field = FIELD(datasets),
                      .metavar = "NAME,...",
                      .help = "prefixes of the measured coverage that is to be predicted; without "
                              "it, atacseq,h3k4me3. Files may lack some"},
    [ROW_BLACKLIST] = {.name = "blacklist",
                       .type = COV_OPT_FLAG,
                       .field = FIELD(blacklist),
                       .help = "leave out the chunks that data/blacklist of a file drops"},
    [ROW_LOADING] = {.name = "loading",
                     .type = COV_OPT_ENUM,
                     .field = FIELD(loading),
                     .def = "disk",
                     .choices = loadings,
                     .help = "where the data are during the run: on disk, or read into memory "
                             "first, as stored, decoded and packed, or so and spread over the "
                             "processes that mpirun started"},
    [ROW_RAM_EFFICIENT] = {.name = "ram-efficient",
                           .type = COV_OPT_STRING,
                           .field = FIELD(ram_efficient),
                           .metavar = "true|false",
                           .help = "Predmoter's words for --loading disk and ram"},
    [ROW_RESUME] = {.name = "resume-training",
                    .type = COV_OPT_STRING,
                    .flags = COV_OPT_PATH_IN,
                    .field = FIELD(resume),
                    .metavar = "CKPT",
                    .help =
                        "go on from a checkpoint, with the state of its optimiser, up to the "
                        "epochs of --epochs. Network and data sets are those of the checkpoint"},
    [ROW_INIT_FROM] = {.name = "init-from",
                       .type = COV_OPT_STRING,
                       .flags = COV_OPT_PATH_IN,
                       .field = FIELD(init_from),
                       .metavar = "CKPT",
                       .help = "begin with the network, the data sets and the weights of a "
                               "checkpoint, at epoch 0"},
    [ROW_MODEL_TYPE] = {.name = "model-type",
                        .type = COV_OPT_ENUM,
                        .field = FIELD(model_type),
                        .def = "bi-hybrid",
                        .choices = model_types,
                        .help = "convolutions alone, with LSTMs, or with bidirectional LSTMs"},
    [ROW_CNN_LAYERS] = {.name = "cnn-layers",
                        .type = COV_OPT_INT,
                        .field = FIELD(cnn_layers),
                        .metavar = "N",
                        .def = "1",
                        .min = 1,
                        .max = COV_HPARAMS_MAX_LAYERS,
                        .help = "convolutions, and as many transposed ones"},
    [ROW_FILTER_SIZE] = {.name = "filter-size",
                         .type = COV_OPT_INT,
                         .field = FIELD(filter_size),
                         .metavar = "N",
                         .def = "64",
                         .min = 1,
                         .max = MAX_SIZE,
                         .help = "channels of the first convolution"},
    [ROW_KERNEL_SIZE] = {.name = "kernel-size",
                         .type = COV_OPT_INT,
                         .field = FIELD(kernel_size),
                         .metavar = "N",
                         .def = "9",
                         .min = 1,
                         .max = MAX_SIZE,
                         .help = "positions of a convolution's kernel"},
    [ROW_STEP] = {.name = "step",
                  .type = COV_OPT_INT,
                  .field = FIELD(step),
                  .metavar = "N",
                  .def = "2",
                  .min = 1,
                  .max = MAX_SIZE,
                  .help = "stride of the convolutions; chunks are a multiple of "
                          "step^cnn-layers long"},
    [ROW_UP] = {.name = "up",
                .type = COV_OPT_INT,
                .field = FIELD(up),
                .metavar = "N",
                .def = "2",
                .min = 1,
                .max = MAX_SIZE,
                .help = "each convolution has so many times the channels of the one before"},
    [ROW_DILATION] = {.name = "dilation",
                      .type = COV_OPT_INT,
                      .field = FIELD(dilation),
                      .metavar = "N",
                      .def = "1",
                      .min = 1,
                      .max = MAX_SIZE,
                      .help = "distance of the positions of a kernel"},
    [ROW_LSTM_LAYERS] = {.name = "lstm-layers",
                         .type = COV_OPT_INT,
                         .field = FIELD(lstm_layers),
                         .metavar = "N",
                         .def = "1",
                         .min = 1,
                         .max = COV_HPARAMS_MAX_LAYERS,
                         .help = "LSTMs, one above the other"},
    [ROW_HIDDEN_SIZE] = {.name = "hidden-size",
                         .type = COV_OPT_INT,
                         .field = FIELD(hidden_size),
                         .metavar = "N",
                         .def = "128",
                         .min = 1,
                         .max = MAX_SIZE,
                         .help = "units of an LSTM, in each direction"},
    [ROW_BNORM] = {.name = "bnorm",
                   .type = COV_OPT_STRING,
                   .field = FIELD(bnorm),
                   .metavar = "true|false",
                   .def = "true",
                   .help = "batch normalisation behind each convolution"},
    [ROW_DROPOUT] = {.name = "dropout",
                     .type = COV_OPT_FLOAT,
                     .field = FIELD(dropout),
                     .metavar = "P",
                     .def = "0",
                     .min = 0,
                     .max = 0.999999,
                     .help = "probability with which a value between two LSTMs is dropped"},
    [ROW_LEARNING_RATE] = {.name = "learning-rate",
                           .type = COV_OPT_FLOAT,
                           .field = FIELD(learning_rate),
                           .metavar = "V",
                           .def = "0.001",
                           .min = 1e-12,
                           .max = 1000,
                           .help = "of Adam; of a resumed training without it, the checkpoint's"},
    [ROW_BATCH_SIZE] = {.name = "batch-size",
                        .letter = 'b',
                        .type = COV_OPT_INT,
                        .field = FIELD(batch),
                        .metavar = "N",
                        .def = "120",
                        .min = 1,
                        .max = 65536,
                        .help = "chunks of a batch"},
    [ROW_EPOCHS] = {.name = "epochs",
                    .letter = 'e',
                    .type = COV_OPT_INT,
                    .field = FIELD(epochs),
                    .metavar = "N",
                    .def = "5",
                    .min = 1,
                    .max = MAX_COUNT,
                    .help = "epochs at most, those before --resume-training included"},
    [ROW_SEED] = {.name = "seed",
                  .type = COV_OPT_INT,
                  .field = FIELD(seed),
                  .metavar = "N",
                  .min = 0,
                  .max = UINT32_MAX,
                  .help = "of the first weights, the order of chunks, and dropout; without it, a "
                          "random one, or that of the checkpoint that is resumed"},
    [ROW_SCHEDULE] = {.name = "schedule",
                      .type = COV_OPT_ENUM,
                      .field = FIELD(schedule),
                      .def = "constant",
                      .choices = schedules,
                      .help = "the learning rate stays, or falls as a cosine to 0 at the end of "
                              "all epochs"},
    [ROW_WARMUP_STEPS] = {.name = "warmup-steps",
                          .type = COV_OPT_SIZE,
                          .field = FIELD(warmup_steps),
                          .metavar = "N",
                          .max = MAX_COUNT,
                          .help = "steps in which the learning rate rises to its full"},
    [ROW_MAX_STEPS] = {.name = "max-steps",
                       .type = COV_OPT_SIZE,
                       .field = FIELD(max_steps),
                       .metavar = "N",
                       .max = MAX_COUNT,
                       .help = "end after so many steps of the optimiser; 0: when the epochs end"},
    [ROW_CLIP] = {.name = "clip",
                  .type = COV_OPT_FLOAT,
                  .field = FIELD(clip),
                  .metavar = "V",
                  .def = "0",
                  .min = 0,
                  .max = 1e30,
                  .help = "cut the norm of the gradient to V; 0: never"},
    [ROW_ACCUMULATE] = {.name = "accumulate",
                        .type = COV_OPT_INT,
                        .field = FIELD(accumulate),
                        .metavar = "N",
                        .def = "1",
                        .min = 1,
                        .max = MAX_SIZE,
                        .help = "batches of which a step takes the mean gradient"},
    [ROW_AVERAGE] = {.name = "average-weights",
                     .type = COV_OPT_FLOAT,
                     .field = FIELD(average),
                     .metavar = "V",
                     .def = "0",
                     .min = 0,
                     .max = 0.9999999,
                     .help = "validate and save a moving average of the weights, of which each "
                             "step keeps V; 0: the weights themselves"},
    [ROW_LOSS_WEIGHTS] = {.name = "loss-weights",
                          .type = COV_OPT_LIST,
                          .field = FIELD(loss_weights),
                          .metavar = "V,...",
                          .help = "weights of the data sets in the loss, in their order; without "
                                  "it, all 1"},
    [ROW_PAIR_STRANDS] = {.name = "pair-strands",
                          .type = COV_OPT_FLAG,
                          .field = FIELD(pair_strands),
                          .help = "have a chunk and its reverse complement in one batch"},
    [ROW_RANDOM_OFFSET] = {.name = "random-offset",
                           .type = COV_OPT_FLAG,
                           .field = FIELD(random_offset),
                           .help = "cut the sequences into chunks at another place in each epoch"},
    [ROW_NO_SHUFFLE] = {.name = "no-shuffle",
                        .type = COV_OPT_FLAG,
                        .field = FIELD(no_shuffle),
                        .help = "take the chunks in the order of the files, in every epoch"},
    [ROW_SAVE_TOP_K] = {.name = "save-top-k",
                        .type = COV_OPT_INT,
                        .field = FIELD(top_k),
                        .metavar = "N",
                        .def = "-1",
                        .min = -1,
                        .max = MAX_SIZE,
                        .help = "checkpoints of epochs that are kept, the best ones by "
                                "--ckpt-quantity, beside last.ckpt; -1: all"},
    [ROW_CKPT_QUANTITY] = {.name = "ckpt-quantity",
                           .type = COV_OPT_ENUM,
                           .field = FIELD(save_by),
                           .def = "avg_val_accuracy",
                           .choices = cov_train_quantity_names,
                           .help = "by what a checkpoint is good; part of its name"},
    [ROW_STOP_QUANTITY] = {.name = "stop-quantity",
                           .type = COV_OPT_ENUM,
                           .field = FIELD(stop_by),
                           .def = "avg_train_loss",
                           .choices = cov_train_quantity_names,
                           .help = "what has to get better for training to go on"},
    [ROW_PATIENCE] = {.name = "patience",
                      .type = COV_OPT_INT,
                      .field = FIELD(patience),
                      .metavar = "N",
                      .def = "5",
                      .min = 0,
                      .max = MAX_COUNT,
                      .help = "epochs that it may fail to"},
    [ROW_TENSORBOARD] = {.name = "tensorboard",
                         .type = COV_OPT_STRING,
                         .field = FIELD(tensorboard),
                         .metavar = "DIR",
                         .help = "write the metrics as event files of TensorBoard, too"},
    [ROW_DEVICE] = {.name = "device",
                    .type = COV_OPT_STRING,
                    .field = FIELD(device),
                    .metavar = "auto|cpu|cuda[:N]",
                    .def = "auto",
                    .help = "where to train: on the CPU, on an NVIDIA GPU, the first or that of "
                            "a number, or there if it can be had"},
    [ROW_PRECISION] = {.name = "precision",
                       .type = COV_OPT_ENUM,
                       .field = FIELD(precision),
                       .def = "fp32",
                       .choices = precisions,
                       .help = "arithmetic of the products, tf32 on a GPU alone; the weights are "
                               "fp32 in any case"},
    [ROW_CPU] = {.name = "cpu",
                 .type = COV_OPT_STRING,
                 .field = FIELD(cpu),
                 .metavar = "LEVELS",
                 .help = "use only the instructions of the best of these: scalar, base, avx2, "
                         "avx512, avx512bf16, amx. Without it, what the variable COVTOOLS_CPU "
                         "lists, or all that there are"},
    {.name = NULL},
};

/* "true" or "false", in letters of either case, as Python has them. */
static int parse_bool(const char *text, int row, bool *out, struct cov_err *e)
{
    if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
        return cov_fail(e, COV_EUSAGE, "--%s: '%s' is neither true nor false", options[row].name,
                        text);
    *out = strcasecmp(text, "true") == 0;
    return COV_OK;
}

/* The levels of the CPU, from the command line or the environment. */
static int check_levels(struct config *c, bool given, struct cov_err *e)
{
    if (!given)
        c->cpu = getenv("COVTOOLS_CPU");
    if (c->cpu && c->cpu[0] == '\0' && !given)
        c->cpu = NULL;
    int rc = cov_device_check_levels(c->cpu, e);
    return rc ? cov_err_prefix(e, "%s", given ? "--cpu" : "COVTOOLS_CPU") : COV_OK;
}

/* --device and --cpu. One GPU is trained on: the first, unless one is named. */
static int check_device(struct config *c, bool cpu_given, struct cov_err *e)
{
    struct cov_device_choice *choice = &c->device_choice;
    int rc = cov_device_parse(c->device, choice, e);
    if (rc)
        return rc;
    if (choice->n_cards > 1)
        return cov_fail(e, COV_EUSAGE, "--device %s: training takes one GPU", c->device);
    if (choice->n_cards == 0 && choice->kind != COV_DEVICE_CPU)
        choice->cards[choice->n_cards++] = 0;
    if (cpu_given && choice->kind == COV_DEVICE_CUDA)
        return cov_fail(e, COV_EUSAGE, "--cpu and --device %s contradict each other", c->device);
    if (cpu_given)
        choice->kind = COV_DEVICE_CPU;
    return check_levels(c, cpu_given, e);
}

/* Options that contradict each other; --ram-efficient becomes --loading. */
static int check(struct config *c, const bool *given, const struct cov_common *common,
                 struct cov_err *e)
{
    if (cov_path_is_std(common->output))
        return cov_fail(e, COV_EUSAGE, "-o: the result is a folder, not standard output");
    if (c->resume && c->init_from)
        return cov_fail(e, COV_EUSAGE, "--resume-training and --init-from contradict each other");
    if (c->pair_strands && c->batch < 2)
        return cov_fail(e, COV_EUSAGE, "--pair-strands needs batches of at least 2 chunks");
    if (c->ram_efficient) {
        bool efficient = false;
        int rc = parse_bool(c->ram_efficient, ROW_RAM_EFFICIENT, &efficient, e);
        if (rc)
            return rc;
        if (given[ROW_LOADING] && efficient != (c->loading == COV_LOAD_DISK))
            return cov_fail(e, COV_EUSAGE,
                            "--ram-efficient %s and --loading %s contradict each other",
                            c->ram_efficient, loadings[c->loading]);
        if (!given[ROW_LOADING])
            c->loading = efficient ? COV_LOAD_DISK : COV_LOAD_RAM;
    }
    for (size_t i = 0; i < c->datasets.n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(c->datasets.items[i], c->datasets.items[k]) == 0)
                return cov_fail(e, COV_EUSAGE, "--datasets: %s is there twice",
                                c->datasets.items[i]);
    return check_device(c, given[ROW_CPU], e);
}

/* The weights of the losses. Caller frees; NULL without any. */
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

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    static const char *const usual[] = {"atacseq", "h3k4me3"};
    struct config *c = config;
    float *weights = NULL;
    bool bnorm = true, has_datasets = c->datasets.n > 0;
    int rc = check(c, given, common, e);
    if (!rc)
        rc = parse_bool(c->bnorm, ROW_BNORM, &bnorm, e);
    if (!rc)
        rc = parse_weights(&c->loss_weights, &weights, e);
    const char *const inputs[] = {c->resume, c->init_from, c->input};
    for (size_t i = 0; !rc && i < COV_COUNT(inputs); i++)
        if (inputs[i])
            rc = cov_stats_add_input(&common->stats, inputs[i], e);
    struct cov_train_options o = {
        .input = c->input,
        .output = common->output,
        .force = common->force,
        .hp = {.model_type = (enum cov_model_type)c->model_type,
               .cnn_layers = c->cnn_layers,
               .filter_size = c->filter_size,
               .kernel_size = c->kernel_size,
               .step = c->step,
               .up = c->up,
               .dilation = c->dilation,
               .lstm_layers = c->lstm_layers,
               .hidden_size = c->hidden_size,
               .input_size = 4,
               .output_size = (int64_t)(has_datasets ? c->datasets.n : COV_COUNT(usual)),
               .bnorm = bnorm,
               .dropout = c->dropout},
        .datasets = has_datasets ? (const char *const *)c->datasets.items : usual,
        .learning_rate = c->learning_rate,
        .resume = c->resume,
        .init_from = c->init_from,
        .loading = (enum cov_loading)c->loading,
        .blacklist = c->blacklist,
        .shuffle = !c->no_shuffle,
        .pair_strands = c->pair_strands,
        .random_offset = c->random_offset,
        .batch = (size_t)c->batch,
        .accumulate = (size_t)c->accumulate,
        .has_seed = given[ROW_SEED],
        .seed = (uint32_t)c->seed,
        .epochs = c->epochs,
        .max_steps = c->max_steps,
        .schedule = (enum cov_train_schedule)c->schedule,
        .warmup_steps = c->warmup_steps,
        .clip = c->clip,
        .average = c->average,
        .loss_weights = weights,
        .n_loss_weights = c->loss_weights.n,
        .save_by = (enum cov_train_quantity)c->save_by,
        .stop_by = (enum cov_train_quantity)c->stop_by,
        .top_k = c->top_k,
        .patience = c->patience,
        .tensorboard = c->tensorboard,
        .device = c->device_choice,
        .cpu = {.levels = c->cpu, .precision = precision_values[c->precision]},
        .n_threads = (unsigned)common->threads,
    };
    for (int i = 0; i < COV_TRAIN_FIELDS; i++)
        for (int row = 0; options[row].name; row++)
            if (strcmp(options[row].name, cov_train_field_names[i]) == 0)
                o.asked[i] = given[row];
    if (cov_ranks_expected() > 0)
        common->stats_path = NULL; /* the first process writes it */
    if (!rc)
        rc = cov_train(&o, &common->progress, &common->stats, e);
    free(weights);
    return rc;
}

static void print_versions(FILE *f)
{
    struct cov_device *device = NULL;
    char levels[128];
    if (cov_device_open_cpu(NULL, &device, NULL) == COV_OK)
        (void)fprintf(f, "device: %s\n", device->ops->describe(device));
    cov_device_close(device);
    cov_device_describe_levels(levels, sizeof levels);
    (void)fprintf(f, "--cpu: %s\n", levels);
}

static const struct cov_tool tool = {
    .name = "covtrain",
    .summary = "train a network on genome files with measured coverage",
    .synopsis = "[options] -i DIR -o DIR",
    .examples = "  covtrain -i data/ -o model/ --cnn-layers 3 --lstm-layers 2 -b 8 -e 20\n"
                "  covtrain -i data/ -o model/ --resume-training model/last.ckpt -e 40\n"
                "  covtrain -i data/ -o mine/ --init-from Combined.ckpt --learning-rate 0.0003\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 0,
    .max_operands = 0,
    .output_help = "the folder for checkpoints and metrics; it is made if need be",
    .lacks = COV_LACKS_TMPDIR,
    .run = run,
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    return cov_tool_main(&tool, argc, argv);
}
