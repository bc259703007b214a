/* parts.c - h5chunk subset, split, merge: parts of a file, and their union.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/cli/shared_options.h"
#include "common/file/path.h"
#include "tools/h5chunk/subcommands.h"

/* ---------------------------------------------------------------- subset */

enum { ROW_REGION, ROW_BED, ROW_NAMES, ROW_EXCLUDED, ROW_DROP_N, ROW_MIN_LENGTH };

static const struct cov_opt subset_options[] = {
    [ROW_REGION] = COV_REGIONS_OPTION(offsetof(struct cov_subset_options, regions),
                                      "keep chunks that overlap"),
    [ROW_BED] = COV_REGIONS_FILE_OPTION(offsetof(struct cov_subset_options, bed_path),
                                        "keep chunks that overlap"),
    [ROW_NAMES] = H5CHUNK_FILE_OPTION("names", offsetof(struct cov_subset_options, names_path),
                                      "keep the listed sequences, one per line"),
    [ROW_EXCLUDED] =
        H5CHUNK_FILE_OPTION("exclude-names", offsetof(struct cov_subset_options, excluded_path),
                            "omit the listed sequences, one per line"),
    [ROW_DROP_N] = COV_OPT(FLAG, "drop-n", 0, offsetof(struct cov_subset_options, drop_n), NULL,
                           "omit chunks of N only"),
    [ROW_MIN_LENGTH] = COV_MIN_LENGTH_OPTION(offsetof(struct cov_subset_options, min_length)),
    {.name = NULL},
};

static int subset_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct cov_rewrite_job job;
    bool any = false;
    for (int i = ROW_REGION; i <= ROW_MIN_LENGTH; i++)
        any = any || given[i];
    if (!any)
        return cov_fail(e, COV_EUSAGE,
                        "needs one of -r, -R, --names, --exclude-names, --drop-n or --min-length");
    int rc = h5chunk_begin(common, operands, 1, false, &job, e);
    if (!rc)
        rc = cov_subset(operands[0], common->output, config, NULL, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

const struct cov_tool h5chunk_subset = {
    .name = "subset",
    .summary = "keep some chunks: by region, by sequence, without N",
    .synopsis = "[options] -o OUT FILE",
    .examples = "  h5chunk subset -r Chr1,Chr2:1-5000000 -o some.h5 genome.h5\n"
                "  h5chunk subset --drop-n --min-length 10k -o train.h5 genome.h5\n",
    .options = subset_options,
    .config_bytes = sizeof(struct cov_subset_options),
    .min_operands = 1,
    .max_operands = 1,
    .lacks = COV_LACKS_TMPDIR,
    .run = subset_run,
};

/* ---------------------------------------------------------------- split */

struct split_config {
    int64_t shards;
    struct cov_split_holdout holdout;
};

#define HOLDOUT(name) offsetof(struct split_config, holdout.name)

enum { ROW_SHARDS, ROW_FRACTION, ROW_SEED, ROW_BY, ROW_VAL_NAMES, ROW_ALLOW_COPIES };

static const char *const units[] = {
    [COV_HOLDOUT_SEQUENCES] = "sequence", [COV_HOLDOUT_PAIRS] = "chunk", NULL};

static const struct cov_opt split_options[] = {
    [ROW_SHARDS] = COV_OPT(INT, "shards", 0, offsetof(struct split_config, shards), "N",
                           "split into N files of consecutive pairs of chunks: PREFIX.1.h5 to "
                           "PREFIX.N.h5",
                           .min = 1, .max = 4000),
    [ROW_FRACTION] = COV_OPT(FLOAT, "val-fraction", 0, HOLDOUT(fraction), "F",
                             "fraction of the sequences or pairs of chunks to draw for validation",
                             .min = 1e-9, .max = 0.999999999),
    [ROW_SEED] = COV_OPT(INT, "seed", 0, HOLDOUT(seed), "S", "seed of the random draw", .min = 0,
                         .max = 9007199254740992.0),
    [ROW_BY] =
        COV_OPT(ENUM, "by", 0, HOLDOUT(by), NULL,
                "draw sequences (longest up to N90 and others separately) or pairs of chunks",
                .def = "sequence", .choices = units),
    [ROW_VAL_NAMES] = H5CHUNK_FILE_OPTION("val-names", HOLDOUT(names_path),
                                          "the sequences for validation, one per line"),
    [ROW_ALLOW_COPIES] =
        COV_OPT(FLAG, "allow-copies", 0, HOLDOUT(allow_copies), NULL,
                "keep chunks for validation whose bases, on either strand, are in training data, "
                "too (default: they go to training)"),
    {.name = NULL},
};

static int check_split(const struct split_config *c, const bool *given, const char *output,
                       struct cov_err *e)
{
    int n = given[ROW_SHARDS] + given[ROW_FRACTION] + given[ROW_VAL_NAMES];
    if (n != 1)
        return cov_fail(e, COV_EUSAGE, "needs %sone of --shards, --val-fraction or --val-names",
                        n ? "only " : "");
    if (!given[ROW_FRACTION] && (given[ROW_SEED] || given[ROW_BY]))
        return cov_fail(e, COV_EUSAGE, "--%s needs --val-fraction",
                        given[ROW_SEED] ? "seed" : "by");
    if (c->shards && c->holdout.allow_copies)
        return cov_fail(e, COV_EUSAGE, "--allow-copies needs --val-fraction or --val-names");
    if (given[ROW_FRACTION] && !given[ROW_SEED])
        return cov_fail(e, COV_EUSAGE, "--val-fraction needs --seed");
    if (c->shards && cov_path_names_dir(output))
        return cov_fail(e, COV_EUSAGE, "%s: is a directory; --shards needs a prefix of file names",
                        output);
    if (!c->shards && !cov_path_names_dir(output))
        return cov_fail(e, COV_EUSAGE, "%s: not a directory; add '/' at the end", output);
    return COV_OK;
}

static int split_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct split_config *c = config;
    struct cov_rewrite_job job;
    int rc = check_split(c, given, common->output, e);
    if (rc)
        return rc;
    rc = h5chunk_begin(common, operands, 1, false, &job, e);
    if (!rc && c->shards)
        rc = cov_split_shards(operands[0], common->output, (size_t)c->shards, &job, e);
    else if (!rc)
        rc = cov_split_holdout(operands[0], common->output, &c->holdout, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

const struct cov_tool h5chunk_split = {
    .name = "split",
    .summary = "split a file into shards, or into training and validation data",
    .synopsis = "-o PREFIX --shards N FILE\n"
                "       h5chunk split -o DIR/ (--val-fraction F --seed S | --val-names FILE) FILE",
    .examples = "  h5chunk split --shards 8 -o parts/genome genome.h5\n"
                "  h5chunk split --val-fraction 0.2 --seed 1 -o data/ genome.h5\n",
    .options = split_options,
    .config_bytes = sizeof(struct split_config),
    .min_operands = 1,
    .max_operands = 1,
    .output_help = "PREFIX of the shards' names, or the directory of train/ and val/",
    .lacks = COV_LACKS_TMPDIR,
    .run = split_run,
};

/* ---------------------------------------------------------------- merge */

struct merge_config {
    bool allow_holes;
    struct cov_strings shard_stats;
};

/* Reads the statistics of the shards, which the report then shows instead of those of the merge. */
static int read_shard_stats(struct cov_common *common, const struct cov_strings *paths,
                            struct cov_err *e)
{
    int rc = COV_OK;
    if (paths->n && !common->stats_path)
        return cov_fail(e, COV_EUSAGE, "--shard-stats needs --stats");
    for (size_t i = 0; i < paths->n && !rc; i++)
        rc = cov_stats_add_shard(&common->stats, paths->items[i], e);
    if (paths->n) {
        common->stats.section = "covpredict";
        common->stats.place = COV_STATS_GENERAL_COSTS;
    }
    return rc;
}

static int merge_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    const struct merge_config *c = config;
    struct cov_rewrite_job job = {0};
    int rc = cov_path_check_distinct(operands, (size_t)n_operands, e);
    if (!rc)
        rc = read_shard_stats(common, &c->shard_stats, e);
    if (!rc)
        rc = h5chunk_begin(common, operands, n_operands, false, &job, e);
    if (!rc)
        rc = cov_merge((const char *const *)operands, (size_t)n_operands, common->output,
                       c->allow_holes, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

static const struct cov_opt merge_options[] = {
    COV_OPT(FLAG, "allow-holes", 0, offsetof(struct merge_config, allow_holes), NULL,
            "allow missing chunks, as in parts of a subset; the result is then partial"),
    COV_OPT(LIST, "shard-stats", 0, offsetof(struct merge_config, shard_stats), "FILE,...",
            "statistics of the shards, written by covpredict --stats; --stats adds them up",
            .flags = COV_OPT_PATH_IN),
    {.name = NULL},
};

const struct cov_tool h5chunk_merge = {
    .name = "merge",
    .summary = "join the parts of a file, in any order",
    .synopsis = "[options] -o OUT FILE...",
    .examples = "  h5chunk merge -o predictions.h5 parts/predictions.*.h5\n",
    .options = merge_options,
    .config_bytes = sizeof(struct merge_config),
    .min_operands = 1,
    .max_operands = -1,
    .lacks = COV_LACKS_TMPDIR,
    .run = merge_run,
};
