/* train_options.h - the options of covtrain.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_COVTRAIN_TRAIN_OPTIONS_H
#define TOOLS_COVTRAIN_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cli/shared_options.h"
#include "common/input/device_options.h"
#include "common/job/train/train_setup.h"

/* What the table fills: mostly the options of the job themselves; covtrain.c translates the others
 * into those. */
struct covtrain_config {
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
    ROW_RECOMPUTE,
    ROW_DEVICE,
    ROW_CPU,
    ROW_PRECISION,
};

extern const struct cov_opt covtrain_options[];

/* Values of --loading, by enum cov_loading. */
extern const char *const covtrain_loadings[];

#endif
