/* covpredict.c - predicts coverage along a genome, base by base, with a Predmoter checkpoint.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "common/base/bgz.h"
#include "common/base/outfile.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/base/tool.h"
#include "common/compute/device.h"
#include "common/job/predict.h"

struct config {
    const char *model;
    int64_t batch;
    int device, precision;
    int64_t length;
    const char *species;
    int64_t min_length, max_length;
    bool as_float;
    int type;
    int on_bad_base;
    const char *rename;
};

static const char *const devices[] = {"auto", "cpu", NULL};
static const char *const precisions[] = {"exact", "fp32", NULL};
static const char *const types[] = {"int16", "int32", "int64", NULL}; /* as enum cov_signal_type */

enum { BAD_BASE_ERROR, BAD_BASE_N };
static const char *const bad_base_choices[] = {"error", "n", NULL};

enum {
    ROW_MODEL,
    ROW_BATCH_SIZE,
    ROW_DEVICE,
    ROW_PRECISION,
    ROW_LENGTH,
    ROW_SPECIES,
    ROW_MIN_LENGTH,
    ROW_MAX_LENGTH,
    ROW_FLOAT,
    ROW_DTYPE,
    ROW_ON_BAD_BASE,
    ROW_RENAME,
};

#define FIELD(name) offsetof(struct config, name)
/* As of fasta2h5. */
#define MAX_CHUNK 268435456
#define MAX_LENGTH 1e15

static const struct cov_opt options[] = {
    [ROW_MODEL] = {.name = "model",
                   .letter = 'm',
                   .type = COV_OPT_STRING,
                   .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN,
                   .field = FIELD(model),
                   .metavar = "CKPT",
                   .help = "checkpoint of Predmoter or covtools"},
    [ROW_BATCH_SIZE] =
        {.name = "batch-size",
         .type = COV_OPT_INT,
         .field = FIELD(batch),
         .metavar = "N",
         .min = 1,
         .max = 4096,
         .help = "chunks that a thread computes at a time; without it, as many as are fast. "
                 "It decides about memory, not about values"},
    [ROW_DEVICE] = {.name = "device",
                    .type = COV_OPT_ENUM,
                    .field = FIELD(device),
                    .def = "auto",
                    .choices = devices,
                    .help = "where to compute"},
    [ROW_PRECISION] =
        {.name = "precision",
         .type = COV_OPT_ENUM,
         .field = FIELD(precision),
         .def = "exact",
         .choices = precisions,
         .help =
             "arithmetic of the network: exact is the fastest that gives Predmoter's values; in "
             "this version that is fp32"},
    [ROW_LENGTH] = {.name = "subsequence-length",
                    .type = COV_OPT_SIZE,
                    .field = FIELD(length),
                    .metavar = "N",
                    .def = "21384",
                    .min = 1,
                    .max = MAX_CHUNK,
                    .help = "length of the chunks that a FASTA is cut into; a genome file brings "
                            "its own"},
    [ROW_SPECIES] = {.name = "species",
                     .type = COV_OPT_STRING,
                     .field = FIELD(species),
                     .metavar = "NAME",
                     .help = "species of a FASTA, kept in the output; without it, the file's name "
                             "without folder and suffix"},
    [ROW_MIN_LENGTH] = {.name = "min-length",
                        .type = COV_OPT_SIZE,
                        .field = FIELD(min_length),
                        .metavar = "N",
                        .min = 1,
                        .max = MAX_LENGTH,
                        .help = "leave out sequences of a FASTA that are shorter"},
    [ROW_MAX_LENGTH] = {.name = "max-length",
                        .type = COV_OPT_SIZE,
                        .field = FIELD(max_length),
                        .metavar = "N",
                        .min = 1,
                        .max = MAX_LENGTH,
                        .help = "leave out sequences of a FASTA that are longer"},
    [ROW_FLOAT] = {.name = "float",
                   .type = COV_OPT_FLAG,
                   .field = FIELD(as_float),
                   .help = "write the network's values unrounded, as float32"},
    [ROW_DTYPE] = {.name = "dtype",
                   .type = COV_OPT_ENUM,
                   .field = FIELD(type),
                   .def = "int32",
                   .choices = types,
                   .help = "type of the rounded values; one that does not fit is an error"},
    [ROW_ON_BAD_BASE] = {.name = "on-bad-base",
                         .type = COV_OPT_ENUM,
                         .field = FIELD(on_bad_base),
                         .def = "error",
                         .choices = bad_base_choices,
                         .help = "what to do with a letter of a FASTA that is no IUPAC code: stop, "
                                 "or read it as N and count it"},
    [ROW_RENAME] = {.name = "rename",
                    .type = COV_OPT_STRING,
                    .flags = COV_OPT_PATH_IN,
                    .field = FIELD(rename),
                    .metavar = "FILE",
                    .help = "two columns: name in a FASTA, name to use instead"},
    {.name = NULL},
};

/* Options that contradict each other, or that only a FASTA can follow. */
static int check(const struct config *c, const bool *given, const char *input, const char *output,
                 bool *is_fasta, struct cov_err *e)
{
    static const int fasta_only[] = {ROW_LENGTH,     ROW_SPECIES,     ROW_MIN_LENGTH,
                                     ROW_MAX_LENGTH, ROW_ON_BAD_BASE, ROW_RENAME};
    if (cov_path_is_std(output))
        return cov_fail(e, COV_EUSAGE, "-o -: a predictions file needs a name of its own");
    if (c->as_float && given[ROW_DTYPE])
        return cov_fail(e, COV_EUSAGE, "--float and --dtype contradict each other");
    if (given[ROW_MIN_LENGTH] && given[ROW_MAX_LENGTH] && c->min_length > c->max_length)
        return cov_fail(e, COV_EUSAGE, "--min-length is greater than --max-length");
    bool is_hdf5;
    int rc = cov_source_is_hdf5(input, &is_hdf5, e);
    if (rc)
        return rc;
    for (size_t i = 0; is_hdf5 && i < COV_COUNT(fasta_only); i++)
        if (given[fasta_only[i]])
            return cov_fail(e, COV_EUSAGE, "--%s is for FASTA input, but %s is a genome file",
                            options[fasta_only[i]].name, input);
    *is_fasta = !is_hdf5;
    return COV_OK;
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct config *c = config;
    const char *input = operands[0];
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_pool *pool = NULL;
    struct cov_model *model = NULL;
    struct cov_source *source = NULL;
    char *dir = NULL;
    bool is_fasta = false;

    int rc = check(c, given, input, common->output, &is_fasta, e);
    if (rc)
        return rc;
    /* Everything that may refuse comes before the genome is read. */
    rc = cov_outfile_begin(&out, common->output, COV_OUTFILE_SEEKABLE, common->force, e);
    if (rc == COV_OK)
        rc = cov_stats_add_input(&common->stats, c->model, e);
    if (rc == COV_OK)
        rc = cov_model_open(c->model, &model, e);
    if (rc == COV_OK && is_fasta)
        rc = cov_model_check_length(model, (size_t)c->length, e);
    if (rc)
        goto out;
    dir = cov_path_dir(common->output, e);
    if (!dir) {
        rc = COV_ENOMEM;
        goto out;
    }
    struct cov_source_options from = {
        .chunk_length = (size_t)c->length,
        .species = c->species,
        .genome = {.bad_base_is_n = c->on_bad_base == BAD_BASE_N,
                   .rename_path = c->rename,
                   .min_length = c->min_length,
                   .max_length = c->max_length,
                   .tmpdir = common->tmpdir ? common->tmpdir : dir,
                   .n_threads = (unsigned)common->threads},
    };
    rc = cov_source_open(input, &from, &common->progress, &source, e);
    if (rc == COV_OK)
        rc = cov_pool_new((unsigned)common->threads, &pool, e);
    if (rc)
        goto out;
    struct cov_predict_options how = {
        .batch = (size_t)c->batch,
        .type = c->as_float ? COV_SIGNAL_FLOAT32 : (enum cov_signal_type)c->type,
    };
    common->stats.precision = "fp32";
    rc = cov_predict(source, model, pool, &how, out.tmp, &common->progress, &common->stats, e);
    if (rc == COV_OK)
        rc = cov_outfile_commit(&out, e);
out:
    cov_pool_free(pool);
    cov_source_close(source);
    cov_model_close(model);
    cov_outfile_abort(&out);
    free(dir);
    return rc;
}

static void print_versions(FILE *f)
{
    struct cov_device *device = NULL;
    (void)fprintf(f, "htslib %s\n", cov_bgz_version());
    if (cov_device_open_cpu(NULL, &device, NULL) == COV_OK)
        (void)fprintf(f, "device: %s\n", device->ops->describe(device));
    cov_device_close(device);
}

static const struct cov_tool tool = {
    .name = "covpredict",
    .summary = "predict coverage along a genome with a Predmoter checkpoint",
    .synopsis = "[options] -m MODEL.ckpt -o OUT.h5 GENOME.h5|FASTA|-",
    .examples = "  covpredict -m Combined.ckpt -o maize_predictions.h5 maize.fa.gz\n"
                "  covpredict -@ 8 -m Combined.ckpt -o maize_predictions.h5 maize.h5\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    return cov_tool_main(&tool, argc, argv);
}
