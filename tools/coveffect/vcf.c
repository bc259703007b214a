/* vcf.c - coveffect vcf: the predicted effects of the variants of a VCF or BCF.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/features/variants.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/input/device_options.h"
#include "common/job/effect/effect_options.h"
#include "common/job/effect/effect_output.h"
#include "tools/coveffect/coveffect.h"

#define MAX_SHUFFLES 1000000
#define MAX_BACKGROUND 1000000

/* What the table fills: the options of the job, and what `prepare` translates to those. */
struct vcf_config {
    struct cov_effect_options job;
    struct coveffect_inputs in;
    struct cov_strings widths, datasets;
    struct cov_device_options device;
    int ensemble, precision; /* ENSEMBLE_, enum cov_precision */
};
_Static_assert(sizeof(size_t) == sizeof(int64_t), "the table writes sizes as int64_t");

/* In the order of enum cov_precision. */
static const char *const precisions[] = {"exact", "fp32", "bf16x3", "balanced",
                                         "bf16",  "tf32", NULL};

enum { ENSEMBLE_MEAN, ENSEMBLE_SD };
static const char *const ensembles[] = {"mean", "sd", NULL};

#define FIELD(name) offsetof(struct vcf_config, name)

static const struct cov_opt options[] = {
    COVEFFECT_INPUT_OPTIONS(FIELD(in), "variants"),
    COV_OPT(SIZE, "window", 0, FIELD(job.window), "N",
            "bases that the network reads around a variant", .def = "21384", .min = 2,
            .max = COVEFFECT_MAX_WINDOW),
    COV_OPT(SIZE, "step", 0, FIELD(job.step), "N",
            "let windows begin at multiples of N, at most half a window, so that nearby variants "
            "share a window and its time; 1: each variant is in the middle of its window",
            .def = "1", .min = 1, .max = COVEFFECT_MAX_WINDOW),
    COV_OPT(
        LIST, "width", 0, FIELD(widths), "N,...",
        "score this many bases around a variant; several: each (default: 1001, or the window if "
        "that is shorter)"),
    COV_OPT(LIST, "datasets", 0, FIELD(datasets), "LIST",
            "the datasets of the model to score (default: all)", .flags = COV_OPT_UNIQUE),
    COV_OPT(ENUM, "ensemble", 0, FIELD(ensemble), NULL,
            "what to score with several checkpoints; sd adds the standard deviation of each score "
            "over the checkpoints",
            .def = "mean", .choices = ensembles),
    COV_OPT(SIZE, "shuffles", 0, FIELD(job.n_shuffles), "N",
            "add p-values: ranks among the scores of the same alleles in N windows of shuffled DNA",
            .def = "0", .min = 0, .max = MAX_SHUFFLES),
    COV_OPT(SIZE, "background", 0, FIELD(job.n_background), "N",
            "add quantiles: the shares of N random single-base variants of the genome with smaller "
            "scores",
            .def = "0", .min = 0, .max = MAX_BACKGROUND),
    COV_OPT(INT, "seed", 0, FIELD(job.seed), "N", "seed of --shuffles and --background", .def = "1",
            .min = 0, .max = INT32_MAX),
    COV_OPT(STRING, "genes", 0, FIELD(job.genes), "FILE",
            "add the nearest gene and its distance: GFF3, GTF or BED, compressed or not",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(STRING, "feature", 0, FIELD(job.feature), "TYPE",
            "with --genes, GFF3 or GTF: the features to use, by their type in column 3 (default: "
            "gene)"),
    COV_OPT(
        FLAG, "haplotypes", 0, FIELD(job.haplotypes), NULL,
        "score each allele in the haplotypes that carry it, by the phased genotypes of a sorted "
        "file: with all their alleles in the window, against the same without this allele"),
    COV_OPT(LIST, "samples", 0, FIELD(job.samples), "LIST",
            "the samples whose --haplotypes to use (default: all)"),
    COV_OPT(
        STRING, "tracks", 0, FIELD(job.tracks), "DIR/",
        "write bigWig tracks of each allele's window there: the prediction without and with the "
        "change, and the difference"),
    COV_OPT(FLAG, "strict", 0, FIELD(job.strict), NULL,
            "stop at the first variant whose REF differs from the genome, or whose sequence the "
            "genome lacks"),
    COV_OPT(FLAG, "resume", 0, FIELD(job.resume), NULL,
            "keep finished variants in OUT.resume, and continue from those that an interrupted run "
            "left there"),
    COV_RENAME_OPTION(FIELD(in.rename)),
    COV_ON_BAD_BASE_OPTION(FIELD(in.on_bad_base)),
    COV_OPT(INT, "batch-size", 'b', FIELD(job.batch), "N",
            "windows and strands that a thread computes at a time; affects memory and speed, not "
            "values (default: a fast size)",
            .min = 1, .max = 4096),
    COV_DEVICE_OPTIONS(FIELD(device)),
    COV_PRECISION_OPTION(FIELD(precision), "exact", precisions, "see covpredict(1)"),
    COV_OPT(FLAG, "full", 0, FIELD(job.full), NULL,
            "compute everything, for comparison: including padding, the constant interior of long "
            "runs of N, repeated windows, and what does not differ between alleles"),
    {.name = NULL},
};

/* Parses --width; all must differ. */
static int get_widths(struct vcf_config *c, int64_t *widths, struct cov_err *e)
{
    const int64_t window = (int64_t)c->job.window;
    c->job.n_widths = c->widths.n ? c->widths.n : 1;
    c->job.widths = widths;
    widths[0] = window < COVEFFECT_DEFAULT_WIDTH ? window : COVEFFECT_DEFAULT_WIDTH;
    return cov_parse_sizes(c->widths.items, c->widths.n, "--width", window, widths, e);
}

/* Finds the datasets of --datasets in the model. */
static int get_datasets(struct vcf_config *c, size_t *datasets, struct cov_err *e)
{
    const struct cov_ensemble *m = c->job.model;
    c->job.n_datasets = c->datasets.n ? c->datasets.n : m->n_datasets;
    c->job.datasets = datasets;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < c->job.n_datasets; i++)
        rc = coveffect_find_dataset(
            m, "datasets", c->datasets.n ? c->datasets.items[i] : m->datasets[i], &datasets[i], e);
    return rc;
}

/* Fails unless the input can be read twice, which an option needs. */
static int check_readable(const char *input, const char *option, struct cov_err *e)
{
    struct stat st;
    const bool is_file = !cov_path_is_std(input) && !cov_path_is_url(input);
    if (!is_file || (stat(input, &st) == 0 && !S_ISREG(st.st_mode)))
        return cov_fail(e, is_file ? COV_EINPUT : COV_EUSAGE,
                        "%s: %s is not a file that can be read again", option,
                        cov_path_is_std(input) ? "standard input" : input);
    return COV_OK;
}

static int check_resume(const char *output, const char *input, struct cov_err *e)
{
    struct stat st;
    const bool is_std = cov_path_is_std(output);
    if (is_std || (stat(output, &st) == 0 && !S_ISREG(st.st_mode)))
        return cov_fail(e, is_std ? COV_EUSAGE : COV_EINPUT,
                        "--resume: output to %s cannot be resumed",
                        is_std ? "standard output" : output);
    return check_readable(input, "--resume", e);
}

static int check_genes(struct cov_effect_options *o, struct cov_err *e)
{
    if (o->feature && !o->genes)
        return cov_fail(e, COV_EUSAGE, "--feature needs --genes");
    o->needs_types = o->feature;
    if (!o->feature)
        o->feature = "gene";
    return COV_OK;
}

static int check_haplotypes(const struct cov_effect_options *o, struct cov_err *e)
{
    if (o->samples.n > 0 && !o->haplotypes)
        return cov_fail(e, COV_EUSAGE, "--samples: needs --haplotypes");
    if (!o->haplotypes)
        return COV_OK;
    if (o->n_shuffles > 0 || o->tracks)
        return cov_fail(e, COV_EUSAGE, "--haplotypes: not with %s",
                        o->tracks ? "--tracks" : "--shuffles");
    return check_readable(o->input, "--haplotypes", e);
}

/* Reads the genome and scores the variants. */
static int score_vcf(struct cov_common *common, struct vcf_config *c, struct cov_outfile *out,
                     struct cov_err *e)
{
    struct cov_effect_options *o = &c->job;
    struct cov_genome *genome = NULL;
    struct cov_pool *pool = NULL;
    char *dir = cov_path_dir(common->output, e);
    int rc = dir ? coveffect_read_genome(common, &c->in, dir, &genome, e) : COV_ENOMEM;
    o->genome = genome;
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads + cov_device_waiting(o->device), &pool, e);
    const struct cov_job job = {pool, &common->progress, &common->stats};
    if (!rc)
        rc = cov_effect_vcf_run(o, out, &job, e);
    cov_pool_free(pool);
    cov_genome_free(genome);
    free(dir);
    return rc;
}

/* Opens model and device, and checks what does not need the genome. */
static int prepare_vcf(struct cov_common *common, struct vcf_config *c, size_t **datasets,
                       struct cov_ensemble **model, struct cov_err *e)
{
    struct cov_effect_options *o = &c->job;
    const struct cov_cpu_options cpu = {
        .levels = c->device.cpu, .precision = (enum cov_precision)c->precision, .edits = !o->full};
    if (o->step > o->window / 2)
        return cov_fail(e, COV_EUSAGE, "--step: more than half of --window");
    if (o->sd && c->in.models.n < 2)
        return cov_fail(e, COV_EUSAGE, "--ensemble sd: needs at least two checkpoints");
    int rc = coveffect_open_models(common, &c->in, o->window, model, e);
    o->model = *model;
    if (rc)
        return rc;
    *datasets = cov_calloc(c->datasets.n + (*model)->n_datasets, sizeof **datasets, e);
    rc = *datasets ? get_datasets(c, *datasets, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_device_open(&c->device.choice, &cpu, &o->device, e);
    return rc ? rc : cov_ensemble_try(*model, o->device, o->window, e);
}

static int vcf_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                   char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    struct vcf_config *c = config;
    struct cov_effect_options *o = &c->job;
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ensemble *model = NULL;
    enum cov_variant_format format;
    size_t *datasets = NULL;
    const bool to_file = !cov_path_is_std(common->output);
    int64_t *widths = cov_calloc(c->widths.n + 1, sizeof *widths, e);
    o->input = operands[0];
    o->genome_path = c->in.genome;
    o->rename_path = c->in.rename;
    o->output = common->output;
    o->force = common->force;
    o->sd = c->ensemble == ENSEMBLE_SD;
    int rc = widths ? get_widths(c, widths, e) : COV_ENOMEM;
    if (!rc)
        rc = check_genes(o, e);
    if (!rc)
        rc = cov_device_options_parse(&c->device, e);
    if (!rc && o->tracks) {
        rc = cov_newdir_check(o->tracks, e);
        if (rc)
            rc = cov_err_prefix(e, rc, "--tracks");
    }
    if (!rc && o->resume)
        rc = check_resume(o->output, o->input, e);
    if (!rc)
        rc = check_haplotypes(o, e);
    /* With --resume, the job decides whether the output may be replaced, or is finished. */
    if (!rc && to_file)
        rc = cov_outfile_begin(&out, o->output,
                               cov_effect_format_of(o->output, &format) ? COV_OUTFILE_VARIANTS
                                                                        : COV_OUTFILE_GZ_TABLE,
                               o->force || o->resume, e);
    if (!rc)
        rc = prepare_vcf(common, c, &datasets, &model, e);
    if (!rc)
        rc = score_vcf(common, c, to_file ? &out : NULL, e);
    cov_device_close(o->device);
    cov_ensemble_close(model);
    cov_outfile_end(&out, e);
    free(datasets);
    free(widths);
    return rc;
}

const struct cov_tool coveffect_vcf = {
    .name = "vcf",
    .summary = "effects of the variants of a VCF or BCF on the predicted signal",
    .synopsis = "[options] -m MODEL.ckpt[,MODEL.ckpt]... -g GENOME.fa -o "
                "OUT.tsv|OUT.vcf|OUT.vcf.gz|OUT.bcf "
                "VARIANTS|-",
    .examples = "  coveffect vcf -m model.ckpt -g maize.fa.gz -o effects.tsv variants.vcf.gz\n"
                "  coveffect vcf -m model.ckpt -g maize.fa.gz --width 501,2001 -o scored.bcf "
                "variants.bcf\n",
    .options = options,
    .config_bytes = sizeof(struct vcf_config),
    .min_operands = 1,
    .max_operands = 1,
    .prints_table = true,
    .output_help =
        "where the scores go: a table (- is standard output), or the variants with an INFO "
        "field if the name ends in .vcf, .vcf.gz or .bcf",
    .run = vcf_run,
};
