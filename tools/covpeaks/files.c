/* files.c - covpeaks compare and stats: files of peaks.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>

#include "common/cli/shared_options.h"
#include "common/job/peaks/peak_files.h"
#include "tools/covpeaks/covpeaks.h"

#define FIELD(name) offsetof(struct cov_peak_files_options, name)
#define GENOME_OPTION                                                                              \
    COV_OPT(STRING, "genome", 0, FIELD(genome), "FILE",                                            \
            "a genome file or predictions file, for the names and lengths of sequences",           \
            .flags = COV_OPT_PATH_IN)
#define SIZES_OPTION                                                                               \
    COV_OPT(STRING, "chrom-sizes", 0, FIELD(sizes), "FILE",                                        \
            "two columns: name and length of each sequence; or the FASTA file's index (.fai)",     \
            .flags = COV_OPT_PATH_IN)

static const char TABLE_HELP[] = "where the table goes (default: standard output)";

static void set_paths(struct cov_peak_files_options *o, const struct cov_common *common)
{
    o->paths = (struct cov_table_paths){
        .table = common->output, .printed = stdout, .force = common->force};
}

/* ---------------------------------------------------------------- compare */

static const struct cov_opt compare_options[] = {
    GENOME_OPTION,
    SIZES_OPTION,
    COV_BLACKLIST_FILE_OPTION(FIELD(blacklist), "do not count"),
    COV_OPT(STRING, "dataset", 0, FIELD(dataset), "NAME",
            "name of the dataset, for the columns of a MultiQC report"),
    {.name = NULL},
};

static int compare_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                       char **operands, struct cov_err *e)
{
    (void)given, (void)n_operands;
    struct cov_peak_files_options *o = config;
    set_paths(o, common);
    int rc = o->dataset ? cov_dataset_check_name(o->dataset, "--dataset", e) : COV_OK;
    return rc ? rc : cov_compare_peaks(operands[0], operands[1], o, &common->stats, e);
}

const struct cov_tool covpeaks_compare = {
    .name = "compare",
    .summary = "precision, recall and F1 of predicted peaks, base by base",
    .synopsis = "[options] --genome FILE|--chrom-sizes FILE [-o OUT.tsv] PREDICTED MEASURED",
    .examples =
        "  covpeaks compare --genome genome.h5 predicted.narrowPeak measured.narrowPeak\n"
        "  covpeaks compare --chrom-sizes genome.fa.fai --blacklist-file organelles p.bed m.bed\n",
    .options = compare_options,
    .config_bytes = sizeof(struct cov_peak_files_options),
    .min_operands = 2,
    .max_operands = 2,
    .prints_table = true,
    .output_optional = true,
    .output_help = TABLE_HELP,
    .lacks = COV_LACKS_THREADS | COV_LACKS_PROGRESS | COV_LACKS_TMPDIR,
    .run = compare_run,
};

/* ---------------------------------------------------------------- stats */

static const struct cov_opt stats_options[] = {
    GENOME_OPTION,
    SIZES_OPTION,
    COV_BLACKLIST_FILE_OPTION(FIELD(blacklist), "do not count"),
    {.name = NULL}};

static int stats_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    set_paths(config, common);
    return cov_peak_stats(operands, (size_t)n_operands, config, &common->stats, e);
}

const struct cov_tool covpeaks_stats = {
    .name = "stats",
    .summary = "number, lengths and bases of peaks",
    .synopsis = "[options] [-o OUT.tsv] FILE...",
    .examples = "  covpeaks stats *.narrowPeak\n"
                "  covpeaks stats --chrom-sizes genome.fa.fai peaks.bed\n",
    .options = stats_options,
    .config_bytes = sizeof(struct cov_peak_files_options),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = TABLE_HELP,
    .lacks = COV_LACKS_THREADS | COV_LACKS_PROGRESS | COV_LACKS_TMPDIR,
    .run = stats_run,
};
