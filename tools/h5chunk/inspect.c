/* inspect.c - h5chunk info, verify and blacklist: contents of a file, its integrity, and the
 * sequences that training omits.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>

#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/cli/shared_options.h"
#include "common/file/path.h"
#include "common/job/chunks/chunk_info.h"
#include "common/job/chunks/verify.h"
#include "tools/h5chunk/subcommands.h"

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

const struct cov_tool h5chunk_info = {
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

const struct cov_tool h5chunk_verify = {
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
    H5CHUNK_FILE_OPTION("report", offsetof(struct cov_set_blacklist_options, report),
                        "NCBI's sequence_report.jsonl: blacklist unplaced, unlocalized and "
                        "non-nuclear sequences"),
    H5CHUNK_FILE_OPTION("names", offsetof(struct cov_set_blacklist_options, names),
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

const struct cov_tool h5chunk_blacklist = {
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
