/* h5chunk.c - shows, checks and converts files of chunks.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/cli/shared_options.h"
#include "common/cli/tool.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/job/chunks/chunk_jobs.h"

/* A row for an input file. */
#define FILE_OPTION(name_, at, help_)                                                              \
    COV_OPT(STRING, (name_), 0, (at), "FILE", (help_), .flags = COV_OPT_PATH_IN)

/* Prepares a job on HDF5 inputs. COV_EUSAGE if one of them is standard input, or, unless the output
 * is a stream, the output is standard output. The caller frees job->job.pool, in any case. */
static int begin(struct cov_common *common, char *const *inputs, int n_inputs, bool stream,
                 struct cov_rewrite_job *job, struct cov_err *e)
{
    *job = (struct cov_rewrite_job){.job = {.progress = &common->progress, .stats = &common->stats},
                                    .force = common->force};
    for (int i = 0; i < n_inputs; i++)
        if (cov_path_is_std(inputs[i]))
            return cov_fail(e, COV_EUSAGE, "HDF5 cannot be read from standard input");
    if (common->output && cov_path_is_std(common->output) && !stream)
        return cov_fail(e, COV_EUSAGE, "HDF5 cannot be written to standard output");
    return cov_pool_new((unsigned)common->threads, &job->job.pool, e);
}

/* ---------------------------------------------------------------- info */

struct info_config {
    bool sequences;
    struct cov_sequence_info_options options;
};

#define INFO_FIELD(name) offsetof(struct info_config, options.name)

enum { ROW_JSON, ROW_SEQUENCES, ROW_PLOT, ROW_LENGTH };

static const struct cov_opt info_options[] = {
    [ROW_JSON] = COV_OPT(FLAG, "json", 0, INFO_FIELD(json), NULL, "print JSON instead of a table"),
    [ROW_SEQUENCES] =
        COV_OPT(FLAG, "sequences", 0, offsetof(struct info_config, sequences), NULL,
                "read genome files or FASTAs, and print statistics of their sequences: lengths, "
                "bases, chunks with the same bases"),
    [ROW_PLOT] =
        COV_OPT(STRING, "plot", 0, INFO_FIELD(plot), "FILE.png|svg",
                "with --sequences: draw the lengths of one file", .flags = COV_OPT_PATH_OUT),
    [ROW_LENGTH] = COV_SUBSEQUENCE_LENGTH_OPTION(INFO_FIELD(L)),
    {.name = NULL},
};

static int info_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    struct info_config *c = config;
    c->options.force = common->force;
    c->options.printed = stdout;
    struct cov_job job = {.progress = &common->progress, .stats = &common->stats};
    if (!c->sequences && (given[ROW_PLOT] || given[ROW_LENGTH]))
        return cov_fail(e, COV_EUSAGE, "--%s needs --sequences",
                        info_options[given[ROW_PLOT] ? ROW_PLOT : ROW_LENGTH].name);
    if (!c->sequences)
        return cov_chunk_info(operands, (size_t)n_operands, c->options.json, stdout, &common->stats,
                              e);
    common->stats.section = "h5chunk info --sequences";
    int rc = cov_pool_new((unsigned)common->threads, &job.pool, e);
    if (!rc)
        rc = cov_sequence_info(operands, (size_t)n_operands, &c->options, &job, e);
    cov_pool_free(job.pool);
    return rc;
}

static const struct cov_tool info_tool = {
    .name = "info",
    .summary = "show the contents of files: shapes, types, filters, sizes, sequences",
    .synopsis = "[options] FILE...",
    .examples = "  h5chunk info genome.h5\n"
                "  h5chunk info model.ckpt\n"
                "  h5chunk info --json *.h5 | jq '.files[].bytes_per_base'\n"
                "  h5chunk info --sequences --plot lengths.svg genome.fa.gz\n",
    .options = info_options,
    .config_bytes = sizeof(struct info_config),
    .min_operands = 1,
    .max_operands = -1,
    .lacks = COV_LACKS_OUTPUT | COV_LACKS_TMPDIR,
    .run = info_run,
};

/* ---------------------------------------------------------------- verify */

static const struct cov_opt verify_options[] = {{.name = NULL}};

/* A file that cannot be opened gives status 1, like a finding; the other files are checked. */
static int verify_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)config;
    (void)given;
    struct cov_job job = {.progress = &common->progress, .stats = &common->stats};
    size_t n_findings = 0;
    int n_unsound = 0, failed = COV_OK;
    int rc = cov_pool_new((unsigned)common->threads, &job.pool, e);
    for (int i = 0; i < n_operands && !rc; i++) {
        struct cov_err failure = COV_ERR_INIT;
        size_t n = 0;
        rc = cov_verify(operands[i], stdout, &job, &n, &failure);
        n_findings += n;
        n_unsound += n > 0;
        if (rc && failed)
            cov_warn("%s", failure.text);
        else if (rc)
            failed = cov_fail(e, rc, "%s", failure.text);
        if (rc != COV_ENOMEM)
            rc = COV_OK;
    }
    cov_pool_free(job.pool);
    if (failed || rc)
        return failed ? failed : rc;
    if (n_findings > 0 && n_operands == 1)
        return cov_fail(e, COV_EINPUT, "%s is not sound (findings: %zu)", operands[0], n_findings);
    if (n_findings > 0)
        return cov_fail(e, COV_EINPUT, "%d of %d files are not sound (findings: %zu)", n_unsound,
                        n_operands, n_findings);
    return COV_OK;
}

static const struct cov_tool verify_tool = {
    .name = "verify",
    .summary = "check files and report each fault with its position",
    .synopsis = "[options] FILE...",
    .examples = "  h5chunk verify genome.h5 predictions.h5\n",
    .options = verify_options,
    .min_operands = 1,
    .max_operands = -1,
    .lacks = COV_LACKS_OUTPUT | COV_LACKS_TMPDIR,
    .run = verify_run,
};

/* ---------------------------------------------------------------- blacklist */

static const struct cov_opt blacklist_options[] = {
    FILE_OPTION("report", offsetof(struct cov_set_blacklist_options, report),
                "NCBI's sequence_report.jsonl: blacklist unplaced, unlocalized and "
                "non-nuclear sequences"),
    FILE_OPTION("names", offsetof(struct cov_set_blacklist_options, names),
                "blacklist these sequences: ids, one per line"),
    COV_OPT(STRING, "list", 0, offsetof(struct cov_set_blacklist_options, list), "OUT",
            "write the blacklisted ids to this file, for cov2bigwig --blacklist-file",
            .flags = COV_OPT_PATH_OUT),
    {.name = NULL},
};

static int blacklist_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                         char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    struct cov_set_blacklist_options *o = config;
    o->output = common->output;
    o->force = common->force;
    const struct cov_job job = {.progress = &common->progress, .stats = &common->stats};
    if (!o->report && !o->names)
        return cov_fail(e, COV_EUSAGE, "needs --report or --names");
    if (o->report && o->names)
        return cov_fail(e, COV_EUSAGE, "--report and --names contradict each other");
    if (common->output && cov_path_is_std(common->output))
        return cov_fail(e, COV_EUSAGE, "a genome file cannot be written to standard output");
    return cov_set_blacklist(operands[0], o, &job, e);
}

static const struct cov_tool blacklist_tool = {
    .name = "blacklist",
    .summary = "mark the sequences of a genome file that training omits",
    .synopsis = "(--report FILE | --names FILE) [options] [-o OUT.h5] GENOME.h5",
    .examples = "  h5chunk blacklist --report sequence_report.jsonl --list dropped.txt genome.h5\n",
    .options = blacklist_options,
    .config_bytes = sizeof(struct cov_set_blacklist_options),
    .min_operands = 1,
    .max_operands = 1,
    .output_optional = true,
    .output_help = "write a new file (default: change GENOME.h5)",
    .lacks = COV_LACKS_THREADS | COV_LACKS_TMPDIR,
    .run = blacklist_run,
};

/* ---------------------------------------------------------------- repack, cat, save */

struct storage_config {
    const char *compression;
    int layout, dtype;
    int64_t chunk_rows;
};

/* In the order of enum cov_layout. */
static const char *const layouts[] = {"onehot", "packed", NULL};

enum { ROW_LAYOUT, ROW_DTYPE };

#define STORAGE_FIELD(name) offsetof(struct storage_config, name)

#define STORAGE_OPTIONS(default_compression, default_layout)                                       \
    [ROW_LAYOUT] = COV_OPT(                                                                        \
        ENUM, "layout", 0, STORAGE_FIELD(layout), NULL,                                            \
        "storage of bases: as in Helixer, or 4 bits per base (default: " default_layout ")",       \
        .choices = layouts),                                                                       \
    [ROW_DTYPE] = COV_OPT(ENUM, "dtype", 0, STORAGE_FIELD(dtype), NULL,                            \
                          "type of coverage and predictions; it is an error if a value does not "  \
                          "fit",                                                                   \
                          .choices = cov_rewrite_types),                                           \
    COV_COMPRESSION_OPTION(STORAGE_FIELD(compression), NULL,                                       \
                           "all datasets (default: " default_compression ")")

static const struct cov_opt repack_options[] = {
    STORAGE_OPTIONS("as in FILE", "as in FILE"),
    COV_OPT(SIZE, "chunk-rows", 0, STORAGE_FIELD(chunk_rows), "N", "rows per stored HDF5 chunk",
            .def = "1", .min = 1, .max = 1e6),
    {.name = NULL},
};

static const struct cov_opt save_options[] = {
    STORAGE_OPTIONS("gzip", "onehot"),
    {.name = NULL},
};

static int read_storage(const struct storage_config *c, const bool *given,
                        struct cov_rewrite_storage *storage, struct cov_err *e)
{
    *storage = (struct cov_rewrite_storage){.has_compression = c->compression != NULL,
                                            .has_layout = given[ROW_LAYOUT],
                                            .has_type = given[ROW_DTYPE],
                                            .layout = (enum cov_layout)c->layout,
                                            .chunk_rows = (size_t)c->chunk_rows,
                                            .type = cov_rewrite_type((size_t)c->dtype)};
    return c->compression ? cov_codec_parse(c->compression, &storage->compression, e) : COV_OK;
}

static int repack_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct cov_rewrite_storage storage;
    struct cov_rewrite_job job;
    int rc = read_storage(config, given, &storage, e);
    if (rc)
        return rc;
    rc = begin(common, operands, 1, false, &job, e);
    if (!rc)
        rc = cov_subset(operands[0], common->output, NULL, &storage, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

static const struct cov_opt cat_options[] = {{.name = NULL}};

static int cat_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                   char **operands, struct cov_err *e)
{
    (void)config;
    (void)given;
    (void)n_operands;
    struct cov_rewrite_job job;
    if (!common->output && common->stats_path && cov_path_is_std(common->stats_path))
        return cov_fail(e, COV_EUSAGE, "--stats: standard output is used for the stream");
    int rc = begin(common, operands, 1, true, &job, e);
    if (!rc)
        rc = cov_cat(operands[0], common->output ? common->output : "-", &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

static int save_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct cov_rewrite_storage storage;
    struct cov_rewrite_job job;
    int rc = read_storage(config, given, &storage, e);
    if (rc)
        return rc;
    rc = begin(common, operands, 0, false, &job, e);
    if (!rc)
        rc = cov_save(operands[0], common->output, &storage, common->tmpdir, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

static const struct cov_tool repack_tool = {
    .name = "repack",
    .summary = "change compression, layout or type of a file",
    .synopsis = "[options] -o OUT FILE",
    .examples = "  h5chunk repack --layout packed -o small.h5 genome.h5\n"
                "  h5chunk repack --dtype int16 --compression lzf -o p16.h5 predictions.h5\n",
    .options = repack_options,
    .config_bytes = sizeof(struct storage_config),
    .min_operands = 1,
    .max_operands = 1,
    .lacks = COV_LACKS_TMPDIR,
    .run = repack_run,
};

static const struct cov_tool cat_tool = {
    .name = "cat",
    .summary = "write a file as a chunk stream",
    .synopsis = "[options] FILE",
    .examples = "  h5chunk cat genome.h5 | covpredict -m model.ckpt -o predictions.h5 -\n",
    .options = cat_options,
    .min_operands = 1,
    .max_operands = 1,
    .output_optional = true,
    .output_help = "file for the stream, which is then compressed (default: standard output)",
    .lacks = COV_LACKS_TMPDIR,
    .run = cat_run,
};

static const struct cov_tool save_tool = {
    .name = "save",
    .summary = "write a chunk stream to a file",
    .synopsis = "[options] -o OUT FILE|-",
    .examples = "  fasta2h5 -o - genome.fa.gz | h5chunk save --layout packed -o genome.h5 -\n",
    .options = save_options,
    .config_bytes = sizeof(struct storage_config),
    .min_operands = 1,
    .max_operands = 1,
    .run = save_run,
};

/* ---------------------------------------------------------------- subset */

enum { ROW_REGION, ROW_BED, ROW_NAMES, ROW_EXCLUDED, ROW_DROP_N, ROW_MIN_LENGTH };

static const struct cov_opt subset_options[] = {
    [ROW_REGION] = COV_REGIONS_OPTION(offsetof(struct cov_subset_options, regions),
                                      "keep chunks that overlap"),
    [ROW_BED] = COV_REGIONS_FILE_OPTION(offsetof(struct cov_subset_options, bed_path),
                                        "keep chunks that overlap"),
    [ROW_NAMES] = FILE_OPTION("names", offsetof(struct cov_subset_options, names_path),
                              "keep the listed sequences, one per line"),
    [ROW_EXCLUDED] =
        FILE_OPTION("exclude-names", offsetof(struct cov_subset_options, excluded_path),
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
    int rc = begin(common, operands, 1, false, &job, e);
    if (!rc)
        rc = cov_subset(operands[0], common->output, config, NULL, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

static const struct cov_tool subset_tool = {
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

enum { ROW_SHARDS, ROW_FRACTION, ROW_SEED, ROW_BY, ROW_VAL_NAMES, ROW_NEITHER };

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
    [ROW_VAL_NAMES] =
        FILE_OPTION("val-names", HOLDOUT(names_path), "the sequences for validation, one per line"),
    [ROW_NEITHER] = FILE_OPTION("exclude-names", HOLDOUT(excluded_path),
                                "omit the listed sequences, one per line, from both files"),
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
    if (given[ROW_SHARDS] && given[ROW_NEITHER])
        return cov_fail(e, COV_EUSAGE, "--exclude-names needs --val-fraction or --val-names");
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
    rc = begin(common, operands, 1, false, &job, e);
    if (!rc && c->shards)
        rc = cov_split_shards(operands[0], common->output, (size_t)c->shards, &job, e);
    else if (!rc)
        rc = cov_split_holdout(operands[0], common->output, &c->holdout, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

static const struct cov_tool split_tool = {
    .name = "split",
    .summary = "split a file into shards, or into training and validation data",
    .synopsis = "-o PREFIX --shards N FILE\n"
                "       h5chunk split -o DIR/ (--val-fraction F --seed S | --val-names FILE)\n"
                "              [--exclude-names FILE] FILE",
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
        rc = begin(common, operands, n_operands, false, &job, e);
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

static const struct cov_tool merge_tool = {
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

/* ---------------------------------------------------------------- drop, rename */

#define OPTIONS(table, list, help_)                                                                \
    static const struct cov_opt table[] = {                                                        \
        COV_OPT(LIST, "datasets", 0, 0, list, help_, .flags = COV_OPT_REQUIRED),                   \
        {.name = NULL},                                                                            \
    }
OPTIONS(drop_options, "LIST", "datasets to remove");
OPTIONS(rename_options, "OLD=NEW,...", "datasets to rename");

/* Splits "OLD=NEW" in place. */
static int split(char *text, struct cov_dataset_edit *edit, struct cov_err *e)
{
    char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1])
        return cov_fail(e, COV_EUSAGE, "--datasets %s: expected OLD=NEW", text);
    *sign = '\0';
    *edit = (struct cov_dataset_edit){text, sign + 1};
    return cov_dataset_check_name(edit->new_name, "--datasets", e);
}

static int edit(struct cov_common *common, const struct cov_strings *datasets, bool renames,
                char **operands, struct cov_err *e)
{
    struct cov_rewrite_job job = {.force = false};
    size_t n = datasets->n;
    struct cov_dataset_edit *edits = cov_calloc(n, sizeof *edits, e);
    int rc = edits ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        if (renames)
            rc = split(datasets->items[i], &edits[i], e);
        else
            edits[i].name = datasets->items[i];
    if (!rc)
        rc = begin(common, operands, 1, false, &job, e);
    if (!rc)
        rc = cov_edit_datasets(operands[0], common->output, edits, n, &job, e);
    cov_pool_free(job.job.pool);
    free(edits);
    return rc;
}

static int drop_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    (void)given, (void)n_operands;
    return edit(common, config, false, operands, e);
}

static int rename_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given, (void)n_operands;
    return edit(common, config, true, operands, e);
}

#define TAKES_DATASETS                                                                             \
    .config_bytes = sizeof(struct cov_strings), .min_operands = 1, .max_operands = 1,              \
    .output_optional = true, .output_help = "write a new file instead of changing FILE",           \
    .lacks = COV_LACKS_TMPDIR

static const struct cov_tool drop_tool = {
    .name = "drop",
    .summary = "remove datasets of coverage or predictions",
    .synopsis = "[options] --datasets LIST [-o OUT] FILE",
    .examples = "  h5chunk drop --datasets h3k4me3 -o atac.h5 predictions.h5\n",
    .options = drop_options,
    .run = drop_run,
    TAKES_DATASETS,
};

static const struct cov_tool rename_tool = {
    .name = "rename",
    .summary = "rename datasets of coverage or predictions",
    .synopsis = "[options] --datasets OLD=NEW,... [-o OUT] FILE",
    .examples = "  h5chunk rename --datasets atac=atacseq genome.h5\n",
    .options = rename_options,
    .run = rename_run,
    TAKES_DATASETS,
};

/* ---------------------------------------------------------------- all of it */

static const struct cov_tool *const subcommands[] = {
    &info_tool, &verify_tool, &repack_tool,    &subset_tool, &split_tool,  &merge_tool,
    &cat_tool,  &save_tool,   &blacklist_tool, &drop_tool,   &rename_tool, NULL,
};

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "h5chunk",
        .summary = "show, check, convert, split and join files of chunks",
        .subcommands = subcommands,
        .examples = "  h5chunk info genome.h5\n"
                    "  h5chunk verify genome.h5 predictions.h5\n",
        .print_versions = cov_libraries_print,
    };
    return cov_tool_main(&tool, argc, argv);
}
