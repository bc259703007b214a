/* predict_options.c - see predict_options.h.
 * SPDX-License-Identifier: MIT */
#include "tools/covpredict/predict_options.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"

/* In the order of enum cov_precision, cov_predictions_type, covpredict_ensemble, cov_loading. */
static const char *const precisions[] = {"exact", "fp32", "bf16x3", "balanced",
                                         "bf16",  "tf32", NULL};
static const char *const types[] = {"int16", "int32", "int64", NULL};
static const char *const ensembles[] = {"mean", "sd", NULL};
static const char *const loadings[] = {"disk", "ram", "ram-packed", NULL};

_Static_assert(sizeof(size_t) == sizeof(int64_t) && sizeof(enum cov_loading) == sizeof(int),
               "the table writes sizes as int64_t, and enums as int");
#define FIELD(name) offsetof(struct covpredict_config, name)
#define MAX_OVERLAP (1 << 28) /* the limit of --subsequence-length */

const struct cov_opt covpredict_options[] = {
    [ROW_MODEL] =
        COV_OPT(LIST, "model", 'm', FIELD(models), "CKPT[,CKPT]...",
                "checkpoint of Predmoter or covtools; several, with the same datasets, are an "
                "ensemble: the mean of their predictions",
                .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),
    [ROW_ENSEMBLE] = COV_OPT(ENUM, "ensemble", 0, FIELD(ensemble), NULL,
                             "what to predict with several checkpoints; sd adds a dataset NAME_sd "
                             "with the standard deviation of each",
                             .def = "mean", .choices = ensembles),
    [ROW_BATCH_SIZE] = COV_OPT(INT, "batch-size", 'b', FIELD(job.batch), "N",
                               "chunks that a thread computes at a time; affects memory and "
                               "speed, not values (default: a fast size)",
                               .min = 1, .max = 4096),
    [ROW_DEVICE] = COV_DEVICE_OPTIONS(FIELD(device)),
    [ROW_PRECISION] = COV_PRECISION_OPTION(
        FIELD(precision), "exact", precisions,
        "exact gives Predmoter's values: it is fp32, and bf16x3 on CPUs with AMX; "
        "balanced, bf16, and on GPUs tf32 are faster, with errors of up to 2 % of a value. Where a "
        "more exact one is as fast as the one requested, it is used and reported"),
    [ROW_FASTA] = COV_FASTA_OPTIONS(FIELD(fasta)),
    [ROW_REGIONS] = COV_REGIONS_OPTION(FIELD(regions), "predict only"),
    [ROW_BED] = COV_REGIONS_FILE_OPTION(FIELD(input.bed_path), "predict only"),
    [ROW_OVERLAP] =
        COV_OPT(SIZE, "overlap", 0, FIELD(job.overlap), "N",
                "predict in windows of a chunk's length; neighbours share N bases, of "
                "which each contributes half, to avoid artefacts at the ends of chunks. "
                "0: chunks as they are",
                .min = 0, .max = MAX_OVERLAP),
    [ROW_SHARD] = COV_OPT(STRING, "shard", 0, FIELD(shard), "I/N",
                          "predict only the I-th of N equal parts; `h5chunk merge` joins them"),
    [ROW_RESUME] = COV_OPT(FLAG, "resume", 0, FIELD(input.resumes), NULL,
                           "keep finished chunks in OUT.resume, and continue from those that an "
                           "interrupted run left there; does nothing if OUT is complete"),
    [ROW_LOADING] = COV_LOADING_OPTION(FIELD(input.loading), loadings, ""),
    [ROW_FULL] = COV_OPT(FLAG, "full", 0, FIELD(job.full), NULL,
                         "compute everything, for comparison: including padding, the constant "
                         "interior of long runs of N, and repeated chunks"),
    [ROW_FLOAT] = COV_OPT(FLAG, "float", 0, FIELD(as_float), NULL,
                          "write the network's values unrounded, as float32"),
    [ROW_DTYPE] = COV_OPT(ENUM, "dtype", 0, FIELD(job.type), NULL,
                          "type of the rounded values; a value that does not fit is an error",
                          .def = "int32", .choices = types),
    [ROW_EVALUATE] = COV_OPT(FLAG, "evaluate", 0, FIELD(evaluate), NULL,
                             "instead of predicting, print a table with the loss and Pearson's r "
                             "for each genome file with measured coverage and each dataset, as "
                             "Predmoter's test mode does"),
    [ROW_BLACKLIST] = COV_BLACKLIST_OPTION(FIELD(evaluation.blacklist), "with --evaluate: "),
    [ROW_BLACKLIST_FILE] =
        COV_BLACKLIST_FILE_OPTION(FIELD(evaluation.blacklist_path), "with --evaluate: omit"),
    {.name = NULL},
};

static const int evaluate_rows[] = {ROW_MODEL,     ROW_BATCH_SIZE, ROW_DEVICE,
                                    ROW_PRECISION, ROW_CPU,        ROW_FULL,
                                    ROW_EVALUATE,  ROW_BLACKLIST,  ROW_BLACKLIST_FILE};

const char *covpredict_fasta_only(const bool *given)
{
    for (int row = ROW_FASTA; row < ROW_FASTA + COV_FASTA_ROWS_OF_FASTA; row++)
        if (given[row])
            return covpredict_options[row].name;
    return NULL;
}

static int check_resume(const char *output, const char *input, struct cov_err *e)
{
    struct stat st;
    const bool is_file = !cov_path_is_std(input) && !cov_path_is_url(input);
    if (cov_path_is_std(output))
        return cov_fail(e, COV_EUSAGE, "--resume: output to standard output cannot be resumed");
    if (!is_file || (stat(input, &st) == 0 && !S_ISREG(st.st_mode)))
        return cov_fail(e, is_file ? COV_EINPUT : COV_EUSAGE,
                        "--resume: %s is not a file that can be read again",
                        cov_path_is_std(input) ? "standard input" : input);
    return COV_OK;
}

static int check_predict_output(const char *output, struct cov_err *e)
{
    if (!output)
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (cov_path_is_std(output))
        return isatty(STDOUT_FILENO)
                   ? cov_fail(e, COV_EUSAGE, "-o -: a chunk stream cannot go to a terminal")
                   : COV_OK;
    return cov_outfile_check_name(output, COV_OUTFILE_HDF5, e);
}

static int check_evaluate(const bool *given, struct cov_err *e)
{
    bool fits[N_ROWS] = {false};
    for (size_t i = 0; i < COV_COUNT(evaluate_rows); i++)
        fits[evaluate_rows[i]] = true;
    for (int row = 0; row < N_ROWS; row++)
        if (given[row] && !fits[row])
            return cov_fail(e, COV_EUSAGE, "--%s cannot be used with --evaluate",
                            covpredict_options[row].name);
    return COV_OK;
}

static int check_predict(struct covpredict_config *c, const bool *given, const char *output,
                         char *const *inputs, int n_inputs, struct cov_err *e)
{
    int rc = c->shard ? cov_parse_part(c->shard, "--shard", &c->part, &c->n_parts, e) : COV_OK;
    if (!rc)
        rc = check_predict_output(output, e);
    if (rc)
        return rc;
    if (n_inputs > 1)
        return cov_fail(e, COV_EUSAGE, "unexpected argument '%s'", inputs[1]);
    if (c->evaluation.blacklist || c->evaluation.blacklist_path)
        return cov_fail(
            e, COV_EUSAGE, "--%s goes with --evaluate",
            covpredict_options[c->evaluation.blacklist ? ROW_BLACKLIST : ROW_BLACKLIST_FILE].name);
    if (c->as_float && given[ROW_DTYPE])
        return cov_fail(e, COV_EUSAGE, "--float and --dtype contradict each other");
    if (c->as_float)
        c->job.type = COV_PREDICTIONS_FLOAT32;
    rc = cov_fasta_options_check(&c->fasta, e);
    return rc || !c->input.resumes ? rc : check_resume(output, inputs[0], e);
}

int covpredict_check(struct covpredict_config *c, const bool *given, const char *output,
                     char *const *inputs, int n_inputs, struct cov_err *e)
{
    int rc = c->evaluate ? check_evaluate(given, e)
                         : check_predict(c, given, output, inputs, n_inputs, e);
    return rc ? rc : cov_device_options_parse(&c->device, e);
}
