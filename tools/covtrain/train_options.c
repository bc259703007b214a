/* train_options.c - see train_options.h.
 * SPDX-License-Identifier: MIT */
#include "tools/covtrain/train_options.h"

#include <stddef.h>

#include "common/job/train/train_log.h"

/* In the order of the enums. */
static const char *const model_types[] = {"cnn", "hybrid", "bi-hybrid", NULL};
const char *const covtrain_loadings[] = {"disk", "ram", "ram-packed", "ranks", NULL};
static const char *const schedules[] = {"constant", "cosine", NULL};
static const char *const precisions[] = {"fp32", "bf16", "tf32", NULL};

#define FIELD(name) offsetof(struct covtrain_config, name)
#define MAX_SIZE 1000000
#define MAX_COUNT 1e15

/* Rows without a short name, by type. */
#define INTEGER(name_, field_, default_, min_, max_, help_)                                        \
    COV_OPT(INT, (name_), 0, FIELD(field_), "N", (help_), .def = (default_), .min = (min_),        \
            .max = (max_))
#define NUMBER(name_, field_, metavar_, default_, min_, max_, help_)                               \
    COV_OPT(FLOAT, (name_), 0, FIELD(field_), (metavar_), (help_), .def = (default_),              \
            .min = (min_), .max = (max_))
#define CHOICE(name_, field_, default_, choices_, help_)                                           \
    COV_OPT(ENUM, (name_), 0, FIELD(field_), NULL, (help_), .def = (default_),                     \
            .choices = (choices_))
#define FLAG(name_, field_, help_) COV_OPT(FLAG, (name_), 0, FIELD(field_), NULL, (help_))

const struct cov_opt covtrain_options[] = {
    [ROW_INPUT] = COV_OPT(STRING, "input-dir", 'i', FIELD(input), "DIR",
                          "folder with genome files with measured coverage, *.h5: training data "
                          "in DIR/train, validation data in DIR/val",
                          .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),
    [ROW_DATASETS] = COV_OPT(LIST, "datasets", 0, FIELD(datasets), "NAME,...",
                             "names of the coverage to predict; a file need not have all of them "
                             "(default: atacseq,h3k4me3)"),
    [ROW_BLACKLIST] = COV_BLACKLIST_OPTION(FIELD(blacklist), ""),
    [ROW_LOADING] =
        COV_LOADING_OPTION(FIELD(loading), covtrain_loadings,
                           ", or packed and distributed over the processes that mpirun started"),
    [ROW_RAM_EFFICIENT] = COV_OPT(STRING, "ram-efficient", 0, FIELD(ram_efficient), "true|false",
                                  "Predmoter's name for --loading disk (true) and ram (false)"),
    [ROW_RESUME] = COV_OPT(STRING, "resume-training", 0, FIELD(resume), "CKPT",
                           "continue from a checkpoint, including the state of the optimiser, up "
                           "to --epochs. Network and data sets are those of the checkpoint; -b, "
                           "--schedule and other options of training must be given again",
                           .flags = COV_OPT_PATH_IN),
    [ROW_INIT_FROM] =
        COV_OPT(STRING, "init-from", 0, FIELD(init_from), "CKPT",
                "start at epoch 0 with the network, the data sets and the weights of a checkpoint",
                .flags = COV_OPT_PATH_IN),
    [ROW_MODEL_TYPE] = CHOICE("model-type", model_type, "bi-hybrid", model_types,
                              "convolutions alone, with LSTMs, or with bidirectional LSTMs"),
    [ROW_CNN_LAYERS] = INTEGER("cnn-layers", hp.cnn_layers, "1", 1, COV_HPARAMS_MAX_LAYERS,
                               "convolutions, and equally many transposed convolutions"),
    [ROW_FILTER_SIZE] = INTEGER("filter-size", hp.filter_size, "64", 1, MAX_SIZE,
                                "channels of the first convolution"),
    [ROW_KERNEL_SIZE] =
        INTEGER("kernel-size", hp.kernel_size, "9", 1, MAX_SIZE, "size of a convolution's kernel"),
    [ROW_STEP] = INTEGER("step", hp.step, "2", 1, MAX_SIZE,
                         "stride of the convolutions; the length of chunks must be a multiple of "
                         "step^cnn-layers"),
    [ROW_UP] = INTEGER("up", hp.up, "2", 1, MAX_SIZE,
                       "factor by which channels grow from one convolution to the next"),
    [ROW_DILATION] = INTEGER("dilation", hp.dilation, "1", 1, MAX_SIZE,
                             "distance between the positions of a kernel"),
    [ROW_LSTM_LAYERS] = INTEGER("lstm-layers", hp.lstm_layers, "1", 1, COV_HPARAMS_MAX_LAYERS,
                                "stacked LSTM layers"),
    [ROW_HIDDEN_SIZE] = INTEGER("hidden-size", hp.hidden_size, "128", 1, MAX_SIZE,
                                "units of an LSTM per direction"),
    [ROW_BNORM] = COV_OPT(STRING, "bnorm", 0, FIELD(bnorm), "true|false",
                          "batch normalisation after each convolution", .def = "true"),
    [ROW_DROPOUT] = NUMBER("dropout", hp.dropout, "P", "0", 0, 0.999999,
                           "probability of dropout between two LSTMs"),
    [ROW_LEARNING_RATE] = NUMBER("learning-rate", learning_rate, "V", "0.001", 1e-12, 1000,
                                 "learning rate of Adam; a resumed training keeps that of the "
                                 "checkpoint unless it is given"),
    [ROW_BATCH_SIZE] = COV_OPT(INT, "batch-size", 'b', FIELD(batch), "N", "chunks per batch",
                               .def = "120", .min = 1, .max = 65536),
    [ROW_EPOCHS] = COV_OPT(INT, "epochs", 'e', FIELD(epochs), "N",
                           "maximum number of epochs, including those before --resume-training",
                           .def = "5", .min = 1, .max = MAX_COUNT),
    [ROW_SEED] = INTEGER("seed", seed, NULL, 0, UINT32_MAX,
                         "seed of initial weights, order of chunks, and dropout (default: random, "
                         "or that of the resumed checkpoint)"),
    [ROW_SCHEDULE] =
        CHOICE("schedule", schedule, "constant", schedules,
               "keep the learning rate, or let it fall as a cosine to 0 at the end of training"),
    [ROW_WARMUP_STEPS] =
        COV_OPT(SIZE, "warmup-steps", 0, FIELD(warmup_steps), "N",
                "steps in which the learning rate rises to its full value", .max = MAX_COUNT),
    [ROW_MAX_STEPS] = COV_OPT(SIZE, "max-steps", 0, FIELD(max_steps), "N",
                              "stop after N steps of the optimiser; 0: no limit", .max = MAX_COUNT),
    [ROW_CLIP] =
        NUMBER("clip", clip, "V", "0", 0, 1e30, "limit the norm of the gradient to V; 0: no limit"),
    [ROW_ACCUMULATE] = INTEGER("accumulate", accumulate, "1", 1, MAX_SIZE,
                               "batches per step, whose gradients are averaged"),
    [ROW_AVERAGE] = NUMBER("average-weights", average, "V", "0", 0, 0.9999999,
                           "validate and save a moving average of the weights with decay V; 0: "
                           "the weights themselves"),
    [ROW_LOSS_WEIGHTS] =
        COV_OPT(LIST, "loss-weights", 0, FIELD(loss_weights), "V,...",
                "weights of the data sets in the loss, in their order (default: all 1)"),
    [ROW_PAIR_STRANDS] = FLAG("pair-strands", pair_strands,
                              "put a chunk and its reverse complement into the same batch"),
    [ROW_RANDOM_OFFSET] = FLAG("random-offset", random_offset,
                               "cut sequences into chunks at a new offset in each epoch"),
    [ROW_NO_SHUFFLE] =
        FLAG("no-shuffle", no_shuffle, "use the chunks in file order, in every epoch"),
    [ROW_SAVE_TOP_K] = INTEGER("save-top-k", top_k, "-1", -1, MAX_SIZE,
                               "keep the checkpoints of the N best epochs by --ckpt-quantity, and "
                               "last.ckpt; -1: all"),
    [ROW_CKPT_QUANTITY] =
        CHOICE("ckpt-quantity", save_by, "avg_val_accuracy", cov_train_quantity_names,
               "metric that ranks checkpoints; part of their names"),
    [ROW_STOP_QUANTITY] =
        CHOICE("stop-quantity", stop_by, "avg_train_loss", cov_train_quantity_names,
               "metric that must improve for training to continue"),
    [ROW_PATIENCE] = INTEGER("patience", patience, "5", 0, MAX_COUNT,
                             "epochs without improvement before training stops"),
    [ROW_TENSORBOARD] = COV_OPT(STRING, "tensorboard", 0, FIELD(tensorboard), "DIR",
                                "also write the metrics as event files for TensorBoard"),
    [ROW_DEVICE] = COV_DEVICE_OPTIONS(FIELD(device), "N"),
    [ROW_PRECISION] = COV_PRECISION_OPTION(FIELD(precision), "fp32", precisions,
                                           "weights stay in fp32; tf32 is for GPUs only"),
    {.name = NULL},
};
