/* storage.c - h5chunk repack, cat, save: the same chunks in another storage.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/cli/shared_options.h"
#include "common/file/path.h"
#include "tools/h5chunk/subcommands.h"

struct config {
    const char *compression;
    int layout, dtype;
    int64_t chunk_rows;
};

/* In the order of enum cov_layout. */
static const char *const layouts[] = {"onehot", "packed", NULL};

enum { ROW_LAYOUT, ROW_DTYPE };

#define FIELD(name) offsetof(struct config, name)

#define STORAGE_OPTIONS(default_compression, default_layout)                                       \
    [ROW_LAYOUT] = COV_OPT(                                                                        \
        ENUM, "layout", 0, FIELD(layout), NULL,                                                    \
        "storage of bases: as in Helixer, or 4 bits per base (default: " default_layout ")",       \
        .choices = layouts),                                                                       \
    [ROW_DTYPE] = COV_OPT(ENUM, "dtype", 0, FIELD(dtype), NULL,                                    \
                          "type of coverage and predictions; it is an error if a value does not "  \
                          "fit",                                                                   \
                          .choices = cov_rewrite_types),                                           \
    COV_COMPRESSION_OPTION(FIELD(compression), NULL,                                               \
                           "all datasets (default: " default_compression ")")

static const struct cov_opt repack_options[] = {
    STORAGE_OPTIONS("as in FILE", "as in FILE"),
    COV_OPT(SIZE, "chunk-rows", 0, FIELD(chunk_rows), "N", "rows per stored HDF5 chunk", .def = "1",
            .min = 1, .max = 1e6),
    {.name = NULL},
};

static const struct cov_opt save_options[] = {
    STORAGE_OPTIONS("gzip", "onehot"),
    {.name = NULL},
};

int h5chunk_begin(struct cov_common *common, char *const *inputs, int n_inputs, bool stream,
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

static int read_storage(const struct config *c, const bool *given,
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
    rc = h5chunk_begin(common, operands, 1, false, &job, e);
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
    int rc = h5chunk_begin(common, operands, 1, true, &job, e);
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
    rc = h5chunk_begin(common, operands, 0, false, &job, e);
    if (!rc)
        rc = cov_save(operands[0], common->output, &storage, common->tmpdir, &job, e);
    cov_pool_free(job.job.pool);
    return rc;
}

const struct cov_tool h5chunk_repack = {
    .name = "repack",
    .summary = "change compression, layout or type of a file",
    .synopsis = "[options] -o OUT FILE",
    .examples = "  h5chunk repack --layout packed -o small.h5 genome.h5\n"
                "  h5chunk repack --dtype int16 --compression lzf -o p16.h5 predictions.h5\n",
    .options = repack_options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = 1,
    .lacks = COV_LACKS_TMPDIR,
    .run = repack_run,
};

const struct cov_tool h5chunk_cat = {
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

const struct cov_tool h5chunk_save = {
    .name = "save",
    .summary = "write a chunk stream to a file",
    .synopsis = "[options] -o OUT FILE|-",
    .examples = "  fasta2h5 -o - genome.fa.gz | h5chunk save --layout packed -o genome.h5 -\n",
    .options = save_options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = 1,
    .run = save_run,
};
