/* attribute.c - coveffect ism and gradients: contribution scores of the bases of a region, by in silico
 * mutagenesis and by gradients of the network.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/base/log.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/input/device_options.h"
#include "common/job/effect/attribution.h"
#include "tools/coveffect/coveffect.h"

/* Filled by the rows of options. */
struct attribute_config {
    struct cov_attribution_options job;
    struct cov_attribution_paths paths;
    struct coveffect_inputs in;
    const char *target;
    struct cov_device_options device; /* of gradients, only `cpu` */
    int precision;                    /* enum cov_precision, of ism */
    struct cov_gradient_options how;  /* of gradients */
};
_Static_assert(sizeof(size_t) == sizeof(int64_t), "the tables write sizes as int64_t");

#define FIELD(name) offsetof(struct attribute_config, name)

#define SHARED_OPTIONS                                                                             \
    COVEFFECT_INPUT_OPTIONS(FIELD(in), "regions"),                                                 \
        COV_REGIONS_OPTION(FIELD(job.regions), "score the bases of"),                              \
        COV_REGIONS_FILE_OPTION(FIELD(job.bed), "score the bases of"),                             \
        COV_OPT(STRING, "dataset", 0, FIELD(target), "NAME",                                       \
                "the dataset of the model (default: its only one)"),                               \
        COV_OPT(SIZE, "length", 0, FIELD(job.length), "N",                                         \
                "score N bases around the middle of each region instead of the region; without "   \
                "it, all regions must have the same length",                                       \
                .min = 1, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(SIZE, "window", 0, FIELD(job.window), "N",                                         \
                "bases that the network reads around the middle of a region", .def = "21384",      \
                .min = 2, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(SIZE, "width", 0, FIELD(job.width), "N",                                           \
                "explain the sum of the predicted values over this many bases around the middle "  \
                "of a region (default: 1001, or the window if that is shorter)",                   \
                .min = 1, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(STRING, "plot", 0, FIELD(paths.plot), "FILE",                                      \
                "draw the scores of --plot-region as letters: a .png or .svg plot",                \
                .flags = COV_OPT_PATH_OUT),                                                        \
        COV_OPT(STRING, "plot-region", 0, FIELD(paths.plot_region), "REGION",                      \
                "what to draw, up to 960 bases: NAME:FIRST-LAST, 1-based (default: the first "     \
                "region)"),                                                                        \
        COV_RENAME_OPTION(FIELD(in.rename)), COV_ON_BAD_BASE_OPTION(FIELD(in.on_bad_base))

#define OUTPUT_HELP                                                                                \
    "directory for ohe.npz and attr.npz (TF-MoDISco), scores.h5 (ChromBPNet), scores.bw and "      \
    "regions.bed"

/* Chooses the width, and checks that there are regions. */
static int check_regions(struct cov_attribution_options *o, struct cov_err *e)
{
    const int64_t window = (int64_t)o->window;
    if (!o->width)
        o->width = window < COVEFFECT_DEFAULT_WIDTH ? window : COVEFFECT_DEFAULT_WIDTH;
    if (!o->bed && o->regions.n == 0)
        return cov_fail(e, COV_EUSAGE, "regions are missing; use -r or -R");
    return o->width <= window ? COV_OK
                              : cov_fail(e, COV_EUSAGE, "--width must not be larger than --window");
}

/* Opens the models for the device, and finds --dataset. */
static int open_models(struct cov_common *common, struct attribute_config *c,
                       struct cov_ensemble **models, struct cov_err *e)
{
    struct cov_attribution_options *o = &c->job;
    int rc = coveffect_open_models(common, &c->in, o->window, models, e);
    const struct cov_ensemble *m = o->model = *models;
    if (!rc && c->target)
        rc = coveffect_find_dataset(m, "dataset", c->target, &o->target, e);
    else if (!rc && m->n_datasets > 1)
        rc = cov_fail(e, COV_EINPUT, "--dataset is needed, since %s has several datasets: %s",
                      m->path, m->description);
    return rc ? rc : cov_ensemble_try(m, o->device, o->window, e);
}

/* Begins the outputs, opens the model and the genome, sets the scores, and writes them. The caller has
 * opened c->job.device. */
static int attribute(struct cov_common *common, struct attribute_config *c, struct cov_err *e)
{
    struct cov_attribution_options *o = &c->job;
    o->genome_path = c->in.genome;
    c->paths.directory = common->output;
    c->paths.tmpdir = common->tmpdir;
    c->paths.force = common->force;
    struct cov_attribution_files files;
    struct cov_attribution a = {0};
    struct cov_ensemble *model = NULL;
    struct cov_genome *genome = NULL;
    struct cov_pool *pool = NULL;
    int rc = cov_attribution_files_begin(&files, &c->paths, e);
    if (!rc)
        rc = check_regions(o, e);
    if (!rc)
        rc = open_models(common, c, &model, e);
    if (!rc)
        rc = coveffect_read_genome(common, &c->in, common->output, &genome, e);
    o->genome = genome;
    if (!rc)
        rc = cov_attribution_init(&a, o, e);
    if (!rc)
        rc = cov_attribution_files_check(&files, &a, genome, e);
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads + cov_device_waiting(o->device), &pool, e);
    if (!rc)
        cov_info("%s, %u thread%s; %s: %s; %zu region%s of %zu bases",
                 o->device->ops->describe(o->device), cov_pool_size(pool),
                 cov_text_s(cov_pool_size(pool)), model->path, model->description, a.n,
                 cov_text_s((int64_t)a.n), a.length);
    const struct cov_job job = {pool, &common->progress, &common->stats};
    if (!rc)
        rc = o->gradients ? cov_attribution_explain(&a, o, &job, e)
                          : cov_attribution_mutate(&a, o, &job, e);
    const double clock = cov_clock();
    if (!rc)
        rc = cov_attribution_files_write(&files, &a, genome, model->datasets[o->target], pool, e);
    cov_stats_add_stage(&common->stats, "write", cov_clock() - clock);
    cov_pool_free(pool);
    cov_attribution_fini(&a);
    cov_genome_free(genome);
    cov_ensemble_close(model);
    cov_attribution_files_end(&files, e);
    return rc;
}

/* ---------------------------------------------------------------- ism */

/* In the order of enum cov_precision. */
static const char *const precisions[] = {"exact", "fp32", "bf16x3", "balanced",
                                         "bf16",  "tf32", NULL};

static const struct cov_opt ism_options[] = {
    SHARED_OPTIONS,
    COV_OPT(SIZE, "deletions", 0, FIELD(job.deletion), "N",
            "delete N bases at each place, instead of replacing each base", .min = 1, .max = 1000),
    COV_OPT(INT, "batch-size", 'b', FIELD(job.batch), "N",
            "windows and strands that a thread computes at a time; affects memory and speed, not "
            "values (default: a fast size)",
            .min = 1, .max = 4096),
    COV_DEVICE_OPTIONS(FIELD(device)),
    COV_PRECISION_OPTION(FIELD(precision), "exact", precisions, "see covpredict(1)"),
    COV_OPT(FLAG, "full", 0, FIELD(job.full), NULL,
            "compute everything, for comparison: also what an edit does not change"),
    {.name = NULL},
};

static int ism_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                   char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    struct attribute_config *c = config;
    struct cov_attribution_options *o = &c->job;
    int rc = cov_device_options_parse(&c->device, e);
    const struct cov_cpu_options cpu = {
        .levels = c->device.cpu, .precision = (enum cov_precision)c->precision, .edits = !o->full};
    if (!rc)
        rc = cov_device_open(&c->device.choice, &cpu, &o->device, e);
    if (!rc)
        rc = attribute(common, c, e);
    cov_device_close(o->device);
    return rc;
}

const struct cov_tool coveffect_ism = {
    .name = "ism",
    .summary = "contribution scores of the bases of a region, by in silico mutagenesis (ISM)",
    .synopsis = "[options] -m MODEL.ckpt[,MODEL.ckpt]... -g GENOME.fa -R REGIONS.bed|-r REGION "
                "[--dataset NAME] -o OUT/",
    .examples =
        "  coveffect ism -m model.ckpt -g maize.fa.gz -R peaks.bed --length 1000 --dataset "
        "atacseq -o ism/\n"
        "  coveffect ism -m model.ckpt -g maize.fa.gz -r chr1:5,000,001-5,000,200 --dataset "
        "atacseq \\\n"
        "      --plot logo.png -o promoter/\n",
    .options = ism_options,
    .config_bytes = sizeof(struct attribute_config),
    .output_help = OUTPUT_HELP,
    .run = ism_run,
};

/* ---------------------------------------------------------------- gradients */

enum { ROW_INTEGRATED, ROW_SHUFFLES, ROW_SEED, ROW_OTHERS };

static const struct cov_opt gradients_options[] = {
    [ROW_INTEGRATED] = COV_OPT(INT, "integrated", 0, FIELD(how.n_steps), "N",
                               "take integrated gradients: means of N gradients on the line from "
                               "a reference to the region",
                               .min = 1, .max = 10000),
    [ROW_SHUFFLES] = COV_OPT(INT, "shuffles", 0, FIELD(how.n_shuffles), "N",
                             "with --integrated: references, each the window of the region with "
                             "its dinucleotides shuffled",
                             .def = "10", .min = 1, .max = 10000),
    [ROW_SEED] =
        COV_OPT(INT, "seed", 0, FIELD(how.seed), "N", "with --integrated: seed of the shuffles",
                .def = "1", .min = 0, .max = 1e15),
    [ROW_OTHERS] = SHARED_OPTIONS,
    COV_OPT(INT, "batch-size", 'b', FIELD(job.batch), "N",
            "windows and strands to compute at a time; affects memory and speed, not values",
            .def = "8", .min = 1, .max = 4096),
    COV_OPT(STRING, "cpu", 0, FIELD(device.cpu), "LEVELS",
            "use only the instructions of the best of these levels: base, avx2, avx512, "
            "avx512bf16, amx (default: the variable COVTOOLS_CPU, or all)"),
    {.name = NULL},
};

static int gradients_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                         char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    struct attribute_config *c = config;
    struct cov_attribution_options *o = &c->job;
    c->how.integrated = given[ROW_INTEGRATED];
    o->gradients = &c->how;
    for (size_t i = ROW_SHUFFLES; i < ROW_OTHERS; i++)
        if (given[i] && !c->how.integrated)
            return cov_fail(e, COV_EUSAGE, "--%s needs --integrated", gradients_options[i].name);
    c->device.device = "cpu";
    int rc = cov_device_options_parse_training(&c->device, e);
    const struct cov_cpu_options cpu = {.levels = c->device.cpu};
    if (!rc)
        rc = cov_device_open(&c->device.choice, &cpu, &o->device, e);
    if (!rc)
        rc = attribute(common, c, e);
    if (!rc)
        rc = cov_device_fill_stats(o->device, NULL, &common->stats, e);
    cov_device_close(o->device);
    return rc;
}

const struct cov_tool coveffect_gradients = {
    .name = "gradients",
    .summary = "contribution scores of the bases of a region, by gradients",
    .synopsis = "[options] -m MODEL.ckpt[,MODEL.ckpt]... -g GENOME.fa -R REGIONS.bed|-r REGION "
                "[--dataset NAME] -o OUT/",
    .examples = "  coveffect gradients -m model.ckpt -g maize.fa.gz -R peaks.bed --length 1000 \\\n"
                "      --dataset atacseq --integrated 20 -o gradients/\n",
    .options = gradients_options,
    .config_bytes = sizeof(struct attribute_config),
    .output_help = OUTPUT_HELP,
    .run = gradients_run,
};
