/* covpredict.c - predicts coverage along a genome, base by base, with a Predmoter checkpoint.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/base/outfile.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/cli/tool.h"
#include "common/job/device_options.h"
#include "common/job/libraries.h"
#include "common/job/predict/predict.h"
#include "common/job/predict/predict_resume.h"
#include "common/job/tracks/track_files.h"
#include "common/net/net.h"
#include "tools/covpredict/evaluation.h"

struct config {
    const char *model;
    int64_t batch;
    const char *device;
    struct cov_device_choice device_choice; /* as parsed */
    int precision;
    const char *cpu;
    int64_t length;
    const char *species;
    int64_t min_length, max_length;
    const char *shard;
    size_t shard_index, n_shards; /* as parsed */
    int loading;
    bool as_float, full;
    int type;
    int on_bad_base;
    const char *rename;
    struct cov_strings regions;
    const char *bed;
    int64_t overlap;
    bool resume;
    bool evaluate, blacklist;
};

static const char *const precisions[] = {"exact", "fp32", "bf16x3", "balanced",
                                         "bf16",  "tf32", NULL};      /* as enum cov_precision */
static const char *const types[] = {"int16", "int32", "int64", NULL}; /* as enum cov_signal_type */

static const char *const loadings[] = {"disk", "ram", "ram-packed", NULL}; /* as enum cov_loading */

enum { BAD_BASE_ERROR, BAD_BASE_N };
static const char *const bad_base_choices[] = {"error", "n", NULL};

enum {
    ROW_MODEL,
    ROW_BATCH_SIZE,
    ROW_DEVICE,
    ROW_PRECISION,
    ROW_CPU,
    ROW_LENGTH,
    ROW_SPECIES,
    ROW_MIN_LENGTH,
    ROW_MAX_LENGTH,
    ROW_REGIONS,
    ROW_BED,
    ROW_OVERLAP,
    ROW_SHARD,
    ROW_RESUME,
    ROW_LOADING,
    ROW_FULL,
    ROW_FLOAT,
    ROW_DTYPE,
    ROW_ON_BAD_BASE,
    ROW_RENAME,
    ROW_EVALUATE,
    ROW_BLACKLIST,
    N_ROWS,
};

#define FIELD(name) offsetof(struct config, name)
/* As of fasta2h5. */
#define MAX_CHUNK 268435456
#define MAX_LENGTH 1e15
#define MAX_SHARDS 1000000000

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
                    .type = COV_OPT_STRING,
                    .field = FIELD(device),
                    .def = "auto",
                    .metavar = "auto|cpu|cuda[:N,...]",
                    .help = "where to compute: on NVIDIA GPUs, all or those numbers, or on the "
                            "CPU. auto takes GPUs if they can be had, unless --cpu is given; cuda "
                            "is an error if they cannot"},
    [ROW_PRECISION] =
        {.name = "precision",
         .type = COV_OPT_ENUM,
         .field = FIELD(precision),
         .def = "exact",
         .choices = precisions,
         .help =
             "arithmetic of the network: exact is the faster one of fp32 and bf16x3, which both "
             "give Predmoter's values; balanced, bf16, and on GPUs tf32 are faster and less exact. "
             "Where something more exact is as fast as what is asked for, it is taken, and a line "
             "says so"},
    [ROW_CPU] = {.name = "cpu",
                 .type = COV_OPT_STRING,
                 .field = FIELD(cpu),
                 .metavar = "LEVELS",
                 .help = "use only the instructions of the best of these: scalar, base, avx2, "
                         "avx512, avx512bf16, amx; with the word emulate, bf16 is computed in "
                         "fp32 where there are no instructions for it, slowly. Without it, what "
                         "the variable COVTOOLS_CPU lists, or all that there are"},
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
                        .help = "leave out sequences that are shorter"},
    [ROW_MAX_LENGTH] = {.name = "max-length",
                        .type = COV_OPT_SIZE,
                        .field = FIELD(max_length),
                        .metavar = "N",
                        .min = 1,
                        .max = MAX_LENGTH,
                        .help = "leave out sequences that are longer"},
    [ROW_REGIONS] = {.name = "regions",
                     .letter = 'r',
                     .type = COV_OPT_LIST,
                     .field = FIELD(regions),
                     .metavar = "REGION,...",
                     .help = "predict only these, NAME or NAME:FIRST-LAST, from 1; several with "
                             "commas, or given several times. What is outside of them is -1"},
    [ROW_BED] = {.name = "regions-file",
                 .letter = 'R',
                 .type = COV_OPT_STRING,
                 .flags = COV_OPT_PATH_IN,
                 .field = FIELD(bed),
                 .metavar = "BED",
                 .help = "predict only its regions"},
    [ROW_OVERLAP] = {.name = "overlap",
                     .type = COV_OPT_SIZE,
                     .field = FIELD(overlap),
                     .metavar = "N",
                     .min = 0,
                     .max = MAX_CHUNK,
                     .help = "predict in windows of a chunk's length that share N bases with the "
                             "next, of which each gives up half: against artefacts at the ends of "
                             "chunks. 0: chunks as they are"},
    [ROW_SHARD] = {.name = "shard",
                   .type = COV_OPT_STRING,
                   .field = FIELD(shard),
                   .metavar = "I/N",
                   .help = "predict only the I-th of N parts, as equal as can be; `h5chunk merge` "
                           "joins them"},
    [ROW_RESUME] = {.name = "resume",
                    .type = COV_OPT_FLAG,
                    .field = FIELD(resume),
                    .help = "keep what is finished in OUT.resume, and go on from what a run that "
                            "was ended left there; nothing is done where OUT is complete"},
    [ROW_LOADING] = {.name = "loading",
                     .type = COV_OPT_ENUM,
                     .field = FIELD(loading),
                     .def = "disk",
                     .choices = loadings,
                     .help = "where the genome is during the run: on disk, or read into memory "
                             "first, as stored or with 4 bits a base"},
    [ROW_FULL] = {.name = "full",
                  .type = COV_OPT_FLAG,
                  .field = FIELD(full),
                  .help = "compute everything, for comparison: also padding, what is constant in "
                          "long runs of N, and chunks that repeat"},
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
                         .help =
                             "what to do with a letter of a FASTA that is not an IUPAC code: stop, "
                             "or read it as N and count it"},
    [ROW_RENAME] = {.name = "rename",
                    .type = COV_OPT_STRING,
                    .flags = COV_OPT_PATH_IN,
                    .field = FIELD(rename),
                    .metavar = "FILE",
                    .help = "two columns: name in a FASTA, name to use instead"},
    [ROW_EVALUATE] = {.name = "evaluate",
                      .type = COV_OPT_FLAG,
                      .field = FIELD(evaluate),
                      .help = "no predictions: tell for each genome file with measured coverage, "
                              "and each data set, the loss and Pearson's r, as Predmoter's test "
                              "mode does. A table, on standard output without -o"},
    [ROW_BLACKLIST] = {.name = "blacklist",
                       .type = COV_OPT_FLAG,
                       .field = FIELD(blacklist),
                       .help = "with --evaluate: leave out the chunks that data/blacklist of a "
                               "file drops"},
    {.name = NULL},
};

/* Options that only a FASTA can follow. */
static const int fasta_only[] = {ROW_LENGTH, ROW_SPECIES, ROW_ON_BAD_BASE, ROW_RENAME};

/* Options that go with --evaluate. */
static const int evaluating[] = {ROW_MODEL, ROW_BATCH_SIZE, ROW_DEVICE,   ROW_PRECISION,
                                 ROW_CPU,   ROW_FULL,       ROW_EVALUATE, ROW_BLACKLIST};

/* "2/3": *shard = 1, from 0, *n_shards = 3. */
static int parse_shard(const char *text, size_t *shard, size_t *n_shards, struct cov_err *e)
{
    char part[2][24];
    int64_t number[2];
    const char *slash = strchr(text, '/');
    size_t n = slash ? (size_t)(slash - text) : 0;
    if (!slash || n >= sizeof part[0] || strlen(slash + 1) >= sizeof part[1])
        return cov_fail(e, COV_EUSAGE, "--shard: '%s' is not I/N", text);
    memcpy(part[0], text, n);
    part[0][n] = '\0';
    memcpy(part[1], slash + 1, strlen(slash + 1) + 1);
    int rc = cov_parse_i64(part[1], "--shard", 1, MAX_SHARDS, &number[1], e);
    if (!rc)
        rc = cov_parse_i64(part[0], "--shard", 1, number[1], &number[0], e);
    if (rc)
        return rc;
    *shard = (size_t)number[0] - 1;
    *n_shards = (size_t)number[1];
    return COV_OK;
}

static int check_resume(const char *output, const char *input, struct cov_err *e)
{
    struct stat st;
    if (cov_path_is_std(output))
        return cov_fail(e, COV_EUSAGE,
                        "--resume: what goes to standard output cannot be gone on with");
    if (cov_path_is_std(input) || (stat(input, &st) == 0 && !S_ISREG(st.st_mode)))
        return cov_fail(e, COV_EUSAGE, "--resume: %s is not a file that could be read again",
                        cov_path_is_std(input) ? "standard input" : input);
    return COV_OK;
}

static int open_device(const struct config *c, struct cov_device **out, struct cov_err *e)
{
    const struct cov_cpu_options cpu = {.levels = c->cpu,
                                        .precision = (enum cov_precision)c->precision};
    return cov_device_open(&c->device_choice, &cpu, out, e);
}

/* GPUs that do not take the network say so, or give way to the CPU, before there are threads for
 * them. */
static int settle_device(struct cov_device *device, const struct cov_model *model,
                         const struct cov_loader *loader, struct cov_err *e)
{
    unsigned waiting = cov_device_waiting(device);
    if (waiting == 0)
        return COV_OK;
    return cov_net_try(device, &model->hp, model->block, cov_loader_chunk_length(loader), waiting,
                       e);
}

/* Options that contradict each other. */
static int check(struct config *c, const bool *given, const char *output, int n_operands,
                 char *const *operands, struct cov_err *e)
{
    if (c->shard) {
        int rc = parse_shard(c->shard, &c->shard_index, &c->n_shards, e);
        if (rc)
            return rc;
    }
    if (!output)
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (n_operands > 1)
        return cov_fail(e, COV_EUSAGE, "'%s' is one input too many", operands[1]);
    if (c->blacklist)
        return cov_fail(e, COV_EUSAGE, "--blacklist goes with --evaluate");
    const char *input = operands[0];
    int rc = cov_device_options(c->device, &c->cpu, given[ROW_CPU], &c->device_choice, e);
    if (rc)
        return rc;
    if (cov_path_is_std(output) && isatty(STDOUT_FILENO))
        return cov_fail(e, COV_EUSAGE, "-o -: a chunk stream is not for a terminal");
    enum cov_track_kind kind;
    if (!cov_path_is_std(output) && cov_track_kind_of(output, &kind, NULL) == COV_OK)
        return cov_fail(e, COV_EUSAGE,
                        "%s: its suffix is that of a track; covpredict writes HDF5 (.h5), of which "
                        "cov2bigwig makes tracks",
                        output);
    if (c->resume) {
        rc = check_resume(output, input, e);
        if (rc)
            return rc;
    }
    if (c->as_float && given[ROW_DTYPE])
        return cov_fail(e, COV_EUSAGE, "--float and --dtype contradict each other");
    if (given[ROW_MIN_LENGTH] && given[ROW_MAX_LENGTH] && c->min_length > c->max_length)
        return cov_fail(e, COV_EUSAGE, "--min-length is greater than --max-length");
    return COV_OK;
}

/* What the length of chunks has to suit. */
struct length_check {
    const struct cov_model *model;
    int64_t overlap;
};

static int check_length(const void *arg, size_t L, struct cov_err *e)
{
    const struct length_check *c = arg;
    if ((uint64_t)c->overlap >= L)
        return cov_fail(e, COV_EUSAGE,
                        "--overlap: %lld bases are not fewer than the %zu of a chunk",
                        (long long)c->overlap, L);
    return cov_model_check_length(c->model, L, e);
}

/* Opens the input; what the model cannot take is known before it is read. */
static int open_input(const struct config *c, const bool *given, struct cov_common *common,
                      bool to_stream, const char *input, const char *tmpdir,
                      const struct cov_model *model, struct cov_loader **loader, struct cov_err *e)
{
    char needs_fasta[32] = "";
    const struct length_check length = {model, c->overlap};
    struct cov_loader_options from = {
        .chunk_length = (size_t)c->length,
        .species = c->species,
        .genome = {.bad_base_is_n = c->on_bad_base == BAD_BASE_N,
                   .rename_path = c->rename,
                   .min_length = c->min_length,
                   .max_length = c->max_length,
                   .tmpdir = tmpdir,
                   .n_threads = (unsigned)common->threads},
        .shard = c->shard_index,
        .n_shards = c->n_shards,
        .regions = (const char *const *)c->regions.items,
        .n_regions = c->regions.n,
        .bed_path = c->bed,
        .neighbours = c->overlap > 0,
        .resumes = c->resume,
        .loading = (enum cov_loading)c->loading,
        /* Chunks that are filled alike rest together; a stream goes out in the order of the grid,
         * and neighbours share windows. */
        .order = to_stream || c->overlap > 0 ? COV_ORDER_GRID : COV_ORDER_FILLED,
        .check = check_length,
        .check_arg = &length,
    };
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(fasta_only) && !from.needs_fasta; i++)
        if (given[fasta_only[i]]) {
            (void)snprintf(needs_fasta, sizeof needs_fasta, "--%s", options[fasta_only[i]].name);
            from.needs_fasta = needs_fasta;
        }
    /* A pipe may let us wait. */
    if (given[ROW_LENGTH])
        rc = check_length(&length, (size_t)c->length, e);
    return rc ? rc : cov_loader_open(input, &from, &common->progress, loader, e);
}

/* "chr1:1-100,chr2". NULL: out of memory. Caller frees. */
static char *join_regions(const struct cov_strings *regions, struct cov_err *e)
{
    char *text = cov_strdup("", e);
    for (size_t i = 0; text && i < regions->n; i++) {
        char *longer = cov_strfmt(e, "%s%s%s", text, i ? "," : "", regions->items[i]);
        free(text);
        text = longer;
    }
    return text;
}

static int predict_resumed(const struct config *c, const struct cov_common *common,
                           const char *input, struct cov_loader *loader,
                           const struct cov_model *model, struct cov_pool *pool,
                           const struct cov_predict_options *how, struct cov_progress *progress,
                           struct cov_stats *stats, struct cov_err *e)
{
    char *regions = join_regions(&c->regions, e);
    if (!regions)
        return COV_ENOMEM;
    const struct cov_predict_fact files[] = {{"input", input},
                                             {"--model", c->model},
                                             {"--rename", c->rename},
                                             {"--regions-file", c->bed}};
    const struct cov_predict_fact facts[] = {{"--shard", c->shard ? c->shard : "none"},
                                             {"--regions", regions[0] ? regions : "none"},
                                             {"--on-bad-base", bad_base_choices[c->on_bad_base]}};
    const struct cov_predict_resume resume = {
        .output = common->output,
        .force = common->force,
        .files = files,
        .n_files = COV_COUNT(files),
        .facts = facts,
        .n_facts = COV_COUNT(facts),
    };
    int rc = cov_predict_resume(loader, model, pool, how, &resume, progress, stats, e);
    free(regions);
    return rc;
}

/* A run that was ended has left something that this one would not look at. */
static int hint_at_journal(const char *output, struct cov_err *e)
{
    struct stat st;
    char *journal = cov_predict_journal_name(output, e);
    if (!journal)
        return COV_ENOMEM;
    if (stat(journal, &st) == 0)
        cov_info("%s is there, of a run that was ended: --resume goes on from it", journal);
    free(journal);
    return COV_OK;
}

static int evaluate(struct cov_common *common, struct config *c, const bool *given, int n_files,
                    char *const *files, struct cov_err *e)
{
    bool fits[N_ROWS] = {false};
    for (size_t i = 0; i < COV_COUNT(evaluating); i++)
        fits[evaluating[i]] = true;
    for (int row = 0; row < N_ROWS; row++)
        if (given[row] && !fits[row])
            return cov_fail(e, COV_EUSAGE, "--%s does not go with --evaluate", options[row].name);
    struct cov_evaluate_options how = {
        .batch = (size_t)c->batch,
        .full = c->full,
        .blacklist = c->blacklist,
    };
    int rc = cov_device_options(c->device, &c->cpu, given[ROW_CPU], &c->device_choice, e);
    if (!rc)
        rc = open_device(c, &how.device, e);
    if (!rc)
        rc = covpredict_evaluate(common, c->model, &how, files, (size_t)n_files, e);
    cov_device_close(how.device);
    return rc;
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    struct config *c = config;
    if (c->evaluate)
        return evaluate(common, c, given, n_operands, operands, e);
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_pool *pool = NULL;
    struct cov_model *model = NULL;
    struct cov_loader *loader = NULL;
    struct cov_device *device = NULL;
    char *dir = NULL;

    int rc = check(c, given, common->output, n_operands, operands, e);
    if (rc)
        return rc;
    /* Everything that may refuse comes before the genome is read. */
    bool to_stream = cov_path_is_std(common->output);
    if (!to_stream && !c->resume) {
        rc = hint_at_journal(common->output, e);
        if (rc == COV_OK)
            rc = cov_outfile_begin(&out, common->output, COV_OUTFILE_SEEKABLE, common->force, e);
    }
    if (rc == COV_OK)
        rc = cov_stats_add_input(&common->stats, c->model, e);
    if (rc == COV_OK)
        rc = cov_model_open(c->model, &model, e);
    if (rc == COV_OK)
        rc = open_device(c, &device, e);
    if (rc)
        goto out;
    dir = cov_path_dir(common->output, e);
    if (!dir) {
        rc = COV_ENOMEM;
        goto out;
    }
    const char *tmpdir = common->tmpdir ? common->tmpdir : dir;
    rc = open_input(c, given, common, to_stream, operands[0], tmpdir, model, &loader, e);
    if (rc == COV_OK)
        rc = settle_device(device, model, loader, e);
    if (rc == COV_OK)
        rc = cov_pool_new((unsigned)common->threads + cov_device_waiting(device), &pool, e);
    if (rc)
        goto out;
    double clock = cov_clock();
    rc = cov_loader_load(loader, pool, &common->progress, e);
    if (rc)
        goto out;
    if (c->loading != COV_LOAD_DISK)
        cov_stats_add_stage(&common->stats, "load", cov_clock() - clock);
    struct cov_predict_options how = {
        .batch = (size_t)c->batch,
        .type = c->as_float ? COV_SIGNAL_FLOAT32 : (enum cov_signal_type)c->type,
        .full = c->full,
        .overlap = (size_t)c->overlap,
        .device = device,
        .tmpdir = tmpdir,
    };
    if (c->resume)
        rc = predict_resumed(c, common, operands[0], loader, model, pool, &how, &common->progress,
                             &common->stats, e);
    else
        rc = cov_predict(loader, model, pool, &how, to_stream ? "-" : out.tmp, &common->progress,
                         &common->stats, e);
    if (rc == COV_OK && !to_stream && !c->resume)
        rc = cov_outfile_commit(&out, e);
out:
    cov_pool_free(pool);
    cov_device_close(device);
    cov_loader_close(loader);
    cov_model_close(model);
    cov_outfile_end(&out, e);
    free(dir);
    return rc;
}

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    cov_device_print(f);
}

static const struct cov_tool tool = {
    .name = "covpredict",
    .summary = "predict coverage along a genome with a Predmoter checkpoint",
    .synopsis = "[options] -m MODEL.ckpt -o OUT.h5|- GENOME.h5|FASTA|STREAM|- "
                "or --evaluate GENOME.h5...",
    .examples =
        "  covpredict -m Combined.ckpt -o maize_predictions.h5 maize.fa.gz\n"
        "  covpredict -@ 8 -m Combined.ckpt -o maize_predictions.h5 maize.h5\n"
        "  fasta2h5 -o - maize.fa.gz | covpredict -m ATAC.ckpt -o - - | cov2bigwig -o maize.bw -\n"
        "  covpredict -m ATAC.ckpt --evaluate test/*.h5\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = -1,
    .output_optional = true,
    .output_help = "where the predictions go; the table of --evaluate is on standard output "
                   "without it",
    .run = run,
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    return cov_tool_main(&tool, argc, argv);
}
