/* train_options.h - the options of covtrain.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_COVTRAIN_TRAIN_OPTIONS_H
#define TOOLS_COVTRAIN_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/job/device_options.h"
#include "common/job/shared_options.h"
#include "common/net/hparams.h"

struct covtrain_config {
    const char *input;
    struct cov_strings datasets;
    bool blacklist;
    const char *blacklist_path;
    struct cov_strings leave_out;
    int balance; /* 1: species */
    const char *ram_efficient;
    int loading;
    int target_scale;      /* enum cov_target_kind */
    int model_type;        /* enum cov_model_type */
    struct cov_hparams hp; /* except model_type, bnorm, input_size and output_size */
    const char *bnorm;
    double learning_rate, weight_decay, beta1, beta2;
    int64_t batch, epochs, seed;
    bool no_shuffle, random_offset, recompute;
    int pair_strands; /* index of the name; 0 without the option, too */
    const char *resume, *init_from;
    int save_by, stop_by;
    int64_t top_k, patience, save_every;
    double max_hours;
    int schedule;
    int64_t warmup_steps, max_steps, accumulate;
    double clip, average;
    struct cov_strings loss_weights, freeze;
    const char *tensorboard;
    struct cov_device_options device;
    int precision;
};

/* Rows of the table. */
enum {
    ROW_INPUT,
    ROW_DATASETS,
    ROW_BLACKLIST,
    ROW_BLACKLIST_FILE,
    ROW_TARGET_SCALE,
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
    ROW_BETA1,
    ROW_BETA2,
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
    ROW_DEVICE,
    ROW_CPU,
    ROW_PRECISION,
    ROW_RECOMPUTE,
};

extern const struct cov_opt covtrain_options[];

/* Values of --loading, by enum cov_loading. */
extern const char *const covtrain_loadings[];

#endif
