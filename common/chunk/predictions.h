/* predictions.h - Predmoter's predictions files: their datasets and attributes, the head of a new
 * file, and its rows. signal_file.h reads them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_PREDICTIONS_H
#define COV_CHUNK_PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/chunk_head.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"

/* The values, [n_chunks, L, D], the names of the D datasets, and the name of the model. */
#define COV_PREDICTIONS_SET "prediction/predictions"
#define COV_PREDICTIONS_DATASETS "prediction/datasets"
#define COV_PREDICTIONS_MODEL "prediction/model_name"

/* Attributes of COV_PREDICTIONS_SET. The first two exist if only regions were predicted:
 * COV_SIGNAL_PAD within a chunk then means that a base has no value; the second is the fingerprint
 * of the regions. The third is the number of bases that neighbouring windows share. */
#define COV_PREDICTIONS_OUTSIDE_ATTR "outside_regions"
#define COV_PREDICTIONS_REGIONS_ATTR "regions"
#define COV_PREDICTIONS_OVERLAP_ATTR "overlap"

/* ---- how they were made ---- */

/* File attributes. */
#define COV_MADE_TOOL "tool"
#define COV_MADE_COMMAND "command"
#define COV_MADE_PRECISION "precision"
#define COV_MADE_DEVICE "device"
#define COV_MADE_MODEL "model_sha256"

/* Returns true if both heads have COV_MADE_MODEL; the names of the models then do not matter. */
bool cov_made_by_known_models(const struct cov_chunk_head *a, const struct cov_chunk_head *b);
/* Returns true if COV_MADE_COMMAND is the same, except for the name of the model if both models are
 * known. */
bool cov_made_with_same_options(const struct cov_chunk_head *a, const struct cov_chunk_head *b);

/* ---- the head ---- */

enum cov_predictions_type {
    COV_PREDICTIONS_INT16,
    COV_PREDICTIONS_INT32,
    COV_PREDICTIONS_INT64,
    COV_PREDICTIONS_FLOAT32
};

struct cov_predictions_options {
    const char *model_name;      /* prediction/model_name */
    const char *const *datasets; /* prediction/datasets, in the model's order */
    size_t n_datasets;           /* D > 0 */
    enum cov_predictions_type type;
    struct cov_codec_choice compression;
    bool has_regions;   /* positions outside them are COV_SIGNAL_PAD, as recorded in an attribute */
    uint64_t regions;   /* fingerprint of the regions, another attribute */
    size_t overlap;     /* bases shared by windows, an attribute unless 0 */
    const char *shard;  /* COV_SHARD_ATTR; NULL: none */
    const char *genome; /* COV_GENOME_ATTR; NULL: none */
    struct cov_predictions_made {
        const char *tool, *command, *precision, *device, *model_sha256;
    } made; /* COV_MADE_*; NULL: no such attribute */
};

/* Makes the head of a predictions file with chunks of L bases. It has the set
 * prediction/predictions and the tables model_name and datasets, whose strings are as wide as
 * Predmoter's. If a string needs more, the table is wider and a warning is given. Free with
 * cov_chunk_head_fini. */
int cov_predictions_head(size_t L, const struct cov_predictions_options *options,
                         struct cov_chunk_head *out, struct cov_err *e) COV_MUST_USE;

/* Any thread: converts values[L][D] of the chunk to elems[L][D], a row of the dataset `set`. The
 * values must be rounded already, unless the type is FLOAT32, and padding must be COV_SIGNAL_PAD.
 * COV_EINPUT, with the sequence (`name`) and position, for a value that is NaN or infinite or does
 * not fit the type. `chunk->seq` is not used. */
int cov_predictions_pack(const struct cov_chunk_set *set, const float *values, const char *name,
                         const struct cov_chunk *chunk, uint8_t *elems,
                         struct cov_err *e) COV_MUST_USE;

#endif
