/* covpredict.c - predicts coverage along a genome, base by base, with a Predmoter checkpoint.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/chunk/chunk_file.h"
#include "common/cli/tool.h"
#include "common/compute/device_open.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/h5/h5.h"
#include "common/input/run_journal.h"
#include "common/job/predict/predict.h"
#include "common/job/predict/predict_resume.h"
#include "tools/covpredict/predict_options.h"

static int open_device(const struct covpredict_config *c, struct cov_device **out,
                       struct cov_err *e)
{
    const struct cov_cpu_options cpu = {.levels = c->device.cpu,
                                        .precision = (enum cov_precision)c->precision};
    return cov_device_open(&c->device.choice, &cpu, out, e);
}

struct covpredict_task {
    struct cov_common *common;
    struct covpredict_config *config;
    const bool *given;
    const char *input;
    bool to_stream;
    const struct cov_ensemble *model;
};

/* Checks the length of chunks. */
static int check_chunks(const void *arg, size_t L, struct cov_err *e)
{
    const struct covpredict_task *t = arg;
    const size_t overlap = t->config->job.overlap;
    if (overlap >= L)
        return cov_fail(e, COV_EINPUT,
                        "--overlap: %zu must be less than the length of a chunk, %zu", overlap, L);
    return cov_ensemble_check_length(t->model, L, e);
}

/* Opens the input. Inputs that the model cannot take fail before they are read. */
static int open_genome(const struct covpredict_task *t, const char *tmpdir,
                       struct cov_loader **loader, struct cov_err *e)
{
    const struct covpredict_config *c = t->config;
    struct cov_loader_options from = c->input;
    from.chunk_length = (size_t)c->fasta.chunk_length;
    from.species = c->fasta.species;
    from.genome = cov_fasta_options_genome(&c->fasta, tmpdir, (unsigned)t->common->threads);
    from.shard = c->shard ? (size_t)c->part - 1 : 0;
    from.n_shards = (size_t)c->n_parts;
    from.regions = (const char *const *)c->regions.items;
    from.n_regions = c->regions.n;
    from.neighbours = c->job.overlap > 0;
    /* Chunks of similar length save work together; a stream is written in the grid's order, and
     * neighbours share windows. */
    from.order = t->to_stream || from.neighbours ? COV_ORDER_GRID : COV_ORDER_FILLED;
    from.fasta_option = covpredict_fasta_only(t->given);
    from.check = check_chunks;
    from.check_arg = t;
    int rc = COV_OK;
    if (t->given[ROW_FASTA + COV_FASTA_ROW_LENGTH]) /* before a pipe makes us wait */
        rc = check_chunks(t, from.chunk_length, e);
    return rc ? rc : cov_loader_open(t->input, &from, &t->common->progress, loader, e);
}

static int predict_resumed(const struct covpredict_task *t, struct cov_loader *loader,
                           const struct cov_job *job, struct cov_err *e)
{
    const struct covpredict_config *c = t->config;
    size_t n_files = 0;
    struct cov_predict_fact *files = cov_calloc(c->models.n + 2, sizeof *files, e);
    char *regions = cov_strjoin((const char *const *)c->regions.items, c->regions.n, ",", e);
    if (!files || !regions) {
        free(files);
        free(regions);
        return COV_ENOMEM;
    }
    for (; n_files < c->models.n; n_files++)
        files[n_files] = (struct cov_predict_fact){"--model", c->models.items[n_files]};
    files[n_files++] = (struct cov_predict_fact){"--rename", c->fasta.rename};
    files[n_files++] = (struct cov_predict_fact){"--regions-file", c->input.bed_path};
    const struct cov_predict_fact facts[] = {
        {"--shard", c->shard ? c->shard : "none"},
        {"--regions", regions[0] ? regions : "none"},
        {"--on-bad-base", cov_on_bad_base_names[c->fasta.on_bad_base]},
        {"--ensemble", covpredict_options[ROW_ENSEMBLE].choices[c->ensemble]}};
    const struct cov_predict_resume resume = {
        .input = t->input,
        .output = t->common->output,
        .force = t->common->force,
        .files = files,
        .n_files = n_files,
        .facts = facts,
        .n_facts = COV_COUNT(facts),
    };
    int rc = cov_predict_resume(loader, t->model, &c->job, &resume, job, e);
    free(files);
    free(regions);
    return rc;
}

/* Mentions the journal of an interrupted run, which this run ignores. */
static int hint_at_journal(const char *output, struct cov_err *e)
{
    struct stat st;
    char *journal = cov_run_journal_name(output, e);
    if (!journal)
        return COV_ENOMEM;
    if (stat(journal, &st) == 0)
        cov_info("%s is left over from an interrupted run; --resume continues it", journal);
    free(journal);
    return COV_OK;
}

static void print_more(struct cov_json *j, const void *more)
{
    cov_evaluation_print_json(more, j);
}

static void free_more(void *more)
{
    cov_evaluation_free(more);
}

static void print_scores(const void *arg, FILE *f)
{
    cov_evaluation_print(arg, f);
}

/* Checks that the network accepts the chunks of the first file. */
static int try_model(const struct cov_ensemble *model, struct cov_device *device, const char *path,
                     struct cov_err *e)
{
    struct cov_chunk_file *f;
    if (cov_device_waiting(device) == 0)
        return COV_OK;
    int rc = cov_chunk_file_open_bases(path, &f, e);
    if (rc)
        return rc;
    size_t L = cov_grid_chunk_length(cov_chunk_file_grid(f));
    cov_chunk_file_close(f);
    rc = cov_ensemble_check_length(model, L, e);
    return rc ? cov_err_prefix(e, rc, "%s", path) : cov_ensemble_try(model, device, L, e);
}

/* Evaluates the mean of the checkpoints on files[0..n). Writes the table to common->output, or to
 * standard output if that is NULL or "-". */
static int print_evaluation(struct cov_common *common, const struct cov_strings *models,
                            const struct cov_evaluate_options *options, char *const *files,
                            size_t n, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ensemble *m = NULL;
    struct cov_pool *pool = NULL;
    struct cov_evaluation *v = NULL;
    bool to_stdout = !common->output || cov_path_is_std(common->output);
    int rc = cov_common_check_table(common, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (cov_path_is_std(files[i]))
            return cov_fail(
                e, COV_EUSAGE,
                "--evaluate: needs a genome file with measured coverage, not standard input");
    if (!to_stdout)
        rc = cov_outfile_begin(&out, common->output, COV_OUTFILE_TABLE, common->force, e);
    if (!rc)
        rc = cov_ensemble_open((const char *const *)models->items, models->n, false, &m, e);
    if (!rc)
        rc = cov_stats_set_model(&common->stats, m->path, m->sha256, e);
    if (!rc)
        rc = try_model(m, options->device, files[0], e);
    if (!rc)
        rc =
            cov_pool_new((unsigned)common->threads + cov_device_waiting(options->device), &pool, e);
    if (!rc)
        rc = cov_evaluate((const char *const *)files, n, m, options,
                          &(struct cov_job){pool, &common->progress, &common->stats}, &v, e);
    if (!rc)
        rc = cov_table_write(&out, stdout, print_scores, v, e);
    if (!rc && !to_stdout)
        rc = cov_outfile_commit(&out, e);
    cov_pool_free(pool);
    cov_ensemble_close(m);
    cov_outfile_end(&out, e);
    if (rc) {
        cov_evaluation_free(v);
        return rc;
    }
    cov_stats_set_more(&common->stats, print_more, free_more, v);
    return COV_OK;
}

static int evaluate(struct cov_common *common, struct covpredict_config *c, int n_files,
                    char *const *files, struct cov_err *e)
{
    struct cov_evaluate_options *how = &c->evaluation;
    how->batch = c->job.batch;
    how->full = c->job.full;
    int rc = open_device(c, &how->device, e);
    if (!rc)
        rc = print_evaluation(common, &c->models, how, files, (size_t)n_files, e);
    cov_device_close(how->device);
    return rc;
}

/* Returns the options that determine values; threads and the like, regions and shards do not. */
static char *command_of(const struct covpredict_task *t, size_t L, struct cov_err *e)
{
    const struct covpredict_config *c = t->config;
    char length[32], overlap[32];
    (void)snprintf(length, sizeof length, "%zu", L);
    (void)snprintf(overlap, sizeof overlap, "%zu", c->job.overlap);
    const char *words[16] = {"covpredict",
                             "--model",
                             t->model->path,
                             "--subsequence-length",
                             length,
                             "--precision",
                             cov_device_recorded_precision(c->job.device),
                             "--overlap",
                             overlap};
    int n = 9;
    words[n++] = c->as_float ? "--float" : "--dtype";
    if (!c->as_float)
        words[n++] = covpredict_options[ROW_DTYPE].choices[c->job.type];
    if (c->job.full)
        words[n++] = "--full";
    if (t->model->sd) {
        words[n++] = "--ensemble";
        words[n++] = "sd";
    }
    return cov_command_text(n, words, e);
}

/* Notes the first and the last base that the loader delivers; a stream is not known in advance. */
static int describe_region(const struct cov_loader *loader, struct cov_stats *stats,
                           struct cov_err *e)
{
    const struct cov_grid *g = cov_loader_grid(loader);
    size_t n = g ? cov_grid_n_pairs(g) : 0;
    if (n == 0)
        return COV_OK;
    const struct cov_pair first = cov_grid_pair(g, 0), last = cov_grid_pair(g, n - 1);
    const char *name = cov_grid_name(g, last.seq);
    stats->region = first.seq == last.seq
                        ? cov_strfmt(e, "%s:%" PRId64 "-%" PRId64, name, first.beg + 1, last.end)
                        : cov_strfmt(e, "%s:%" PRId64 " to %s:%" PRId64,
                                     cov_grid_name(g, first.seq), first.beg + 1, name, last.end);
    return stats->region ? COV_OK : COV_ENOMEM;
}

/* Predicts to `path`, or with --resume to the final output. */
static int predict_genome(const struct covpredict_task *t, const char *path, struct cov_err *e)
{
    struct covpredict_config *c = t->config;
    struct cov_predict_options *how = &c->job;
    struct cov_stats *stats = &t->common->stats;
    struct cov_loader *loader = NULL;
    struct cov_pool *pool = NULL;
    char *command = NULL, shard[48], genome[COV_LOADER_FINGERPRINT];
    (void)snprintf(shard, sizeof shard, "%" PRId64 "/%" PRId64, c->part, c->n_parts);
    int rc = open_genome(t, how->tmpdir, &loader, e);
    if (!rc)
        rc = describe_region(loader, stats, e);
    if (!rc)
        rc = cov_ensemble_try(t->model, how->device, cov_loader_chunk_length(loader), e);
    if (!rc) {
        how->shard = c->n_parts > 1 ? shard : cov_loader_shard(loader);
        how->command = command = command_of(t, cov_loader_chunk_length(loader), e);
        rc = command ? COV_OK : COV_ENOMEM;
    }
    if (!rc && c->n_parts > 1) {
        rc = cov_loader_fingerprint(loader, genome, e);
        how->genome = *genome ? genome : NULL;
    }
    if (!rc)
        rc = cov_pool_new((unsigned)t->common->threads + cov_device_waiting(how->device), &pool, e);
    const struct cov_job job = {pool, &t->common->progress, stats};
    double clock = cov_clock();
    if (!rc)
        rc = cov_loader_load(loader, pool, &t->common->progress, e);
    if (!rc && c->input.loading != COV_LOAD_DISK)
        cov_stats_add_stage(stats, "load", cov_clock() - clock);
    if (!rc)
        rc = c->input.resumes ? predict_resumed(t, loader, &job, e)
                              : cov_predict(loader, t->model, how, path, &job, e);
    cov_pool_free(pool);
    cov_loader_close(loader);
    free(command);
    return rc;
}

static int covpredict_run(struct cov_common *common, void *config, const bool *given,
                          int n_operands, char **operands, struct cov_err *e)
{
    struct covpredict_config *c = config;
    int rc = covpredict_check(c, given, common->output, operands, n_operands, e);
    if (rc || c->evaluate)
        return rc ? rc : evaluate(common, c, n_operands, operands, e);
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ensemble *model = NULL;
    const bool to_stream = cov_path_is_std(common->output);
    const bool to_file = !to_stream && !c->input.resumes;
    char *dir = cov_path_dir(common->output, e);
    rc = dir ? COV_OK : COV_ENOMEM;
    /* Fail before the genome is read, if possible. */
    if (!rc && to_file)
        rc = cov_outfile_begin(&out, common->output, COV_OUTFILE_HDF5, common->force, e);
    if (!rc && to_file)
        rc = hint_at_journal(common->output, e);
    if (c->shard)
        common->stats.section = "covpredict --shard";
    else
        common->stats.place = COV_STATS_GENERAL_COSTS;
    if (!rc)
        rc = cov_ensemble_open((const char *const *)c->models.items, c->models.n,
                               c->ensemble == COVPREDICT_SD, &model, e);
    if (!rc)
        rc = cov_stats_set_model(&common->stats, model->path, model->sha256, e);
    if (!rc)
        rc = open_device(c, &c->job.device, e);
    c->job.tmpdir = common->tmpdir ? common->tmpdir : dir;
    const struct covpredict_task task = {common, c, given, operands[0], to_stream, model};
    if (to_file)
        cov_log_set_last_words("nothing was written; with --resume, finished chunks are kept");
    if (!rc)
        rc = predict_genome(&task, to_stream ? "-" : out.tmp, e);
    cov_log_set_last_words(NULL);
    if (!rc && to_file)
        rc = cov_outfile_commit(&out, e);
    cov_device_close(c->job.device);
    cov_ensemble_close(model);
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
    .synopsis = "[options] -m MODEL.ckpt -o OUT.h5|- GENOME.h5|FASTA|STREAM|-\n"
                "       covpredict [options] -m MODEL.ckpt --evaluate GENOME.h5...",
    .examples =
        "  covpredict -m Combined.ckpt -o maize_predictions.h5 maize.fa.gz\n"
        "  covpredict -@ 8 -m Combined.ckpt -o maize_predictions.h5 maize.h5\n"
        "  fasta2h5 -o - maize.fa.gz | covpredict -m ATAC.ckpt -o - - | cov2bigwig -o maize.bw -\n"
        "  covpredict -m ATAC.ckpt --evaluate test/*.h5\n",
    .options = covpredict_options,
    .config_bytes = sizeof(struct covpredict_config),
    .min_operands = 1,
    .max_operands = -1,
    .output_optional = true,
    .output_help =
        "where the predictions go, or the table of --evaluate (default for that: standard "
        "output)",
    .run = covpredict_run,
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    return cov_tool_main(&tool, argc, argv);
}
