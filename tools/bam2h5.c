/* bam2h5.c - adds measured coverage from alignments and tracks to a genome file.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/cli/shared_options.h"
#include "common/cli/tool.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/job/coverage/add_coverage.h"

struct config {
    struct cov_coverage_add_options add;
    int preset, dtype;
    const char *shift, *require_flags, *exclude_flags;
    bool append, replace;
};

/* In the order of the enums of counting.h. */
static const char *const presets[] = {"helixer", NULL};
static const char *const counts[] = {"read", "cut", "fragment", NULL};
static const char *const strands[] = {"both", "own", "first", "second", NULL};
static const char *const types[] = {"auto", "int16", "int32", "int64", NULL};
static const size_t type_bytes[] = {0, 2, 4, 8};

/* Options that only apply to alignments come first, then others that only apply to reads. */
enum {
    ROW_EXCLUDE_FLAGS,
    ROW_PRESET,
    ROW_MIN_MAPQ,
    ROW_REQUIRE_FLAGS,
    ROW_REFERENCE,
    ROWS_OF_ALIGNMENTS,
    ROW_SHIFT = ROWS_OF_ALIGNMENTS,
    ROW_COUNT,
    ROW_STRAND,
    ROW_MIN_FRAGMENT,
    ROW_MAX_FRAGMENT,
    ROWS_OF_READS
};
enum { MAX_MAPQ = 255, MAX_SHIFT = 1000000 };

#define FIELD(name) offsetof(struct config, name)
#define ADD(name) offsetof(struct config, add.name)

static const struct cov_opt options[] = {
    [ROW_EXCLUDE_FLAGS] =
        COV_OPT(STRING, "exclude-flags", 0, FIELD(exclude_flags), "FLAGS",
                "skip reads with any of these flags (default: those of the preset)"),
    [ROW_PRESET] = COV_OPT(ENUM, "preset", 0, FIELD(preset), NULL,
                           "which reads count: helixer skips unmapped, secondary and QC-failed "
                           "reads (flags 772)",
                           .def = "helixer", .choices = presets),
    [ROW_MIN_MAPQ] = COV_OPT(INT, "min-mapq", 0, ADD(counting.min_mapq), "N",
                             "skip reads with a lower mapping quality", .max = MAX_MAPQ),
    [ROW_REQUIRE_FLAGS] =
        COV_OPT(STRING, "require-flags", 0, FIELD(require_flags), "FLAGS",
                "count only reads with all of these flags: 2, 0x2, or PROPER_PAIR,READ1"),
    [ROW_REFERENCE] = COV_OPT(STRING, "genome", 0, ADD(reference), "FASTA",
                              "reference sequence for CRAM files", .flags = COV_OPT_PATH_IN),
    [ROW_SHIFT] =
        COV_OPT(STRING, "shift", 0, FIELD(shift), "A,B",
                "shift reads to the centre of the Tn5 cut (ATAC-seq): add A to the start of "
                "+ reads and B to the end of - reads; a read then covers its whole span",
                .def = "4,-5", .flags = COV_OPT_OPTIONAL_VALUE),
    [ROW_COUNT] = COV_OPT(ENUM, "count", 0, ADD(counting.unit), NULL,
                          "what to count: the aligned bases of a read, its first base (the Tn5 "
                          "cut), or the whole fragment once per pair",
                          .def = "read", .choices = counts),
    [ROW_STRAND] =
        COV_OPT(ENUM, "strand", 0, ADD(counting.strand), NULL,
                "where a read counts: on both strands, on its own strand, or, for stranded "
                "protocols, on the strand of the first or of the second read (dUTP)",
                .def = "both", .choices = strands),
    [ROW_MIN_FRAGMENT] = COV_OPT(SIZE, "min-fragment", 0, ADD(counting.min_fragment), "N",
                                 "skip fragments shorter than N bases, and their reads", .min = 1,
                                 .max = COV_COUNT_MAX_FRAGMENT),
    [ROW_MAX_FRAGMENT] =
        COV_OPT(SIZE, "max-fragment", 0, ADD(counting.max_fragment), "N",
                "skip fragments longer than N bases, and their reads; in ATAC-seq, 100 keeps "
                "those without nucleosomes",
                .min = 1, .max = COV_COUNT_MAX_FRAGMENT),
    COV_OPT(STRING, "prefix", 'p', ADD(prefix), "PREFIX",
            "name of the dataset, for example atacseq: stored as evaluation/PREFIX_coverage",
            .flags = COV_OPT_REQUIRED),
    COV_OPT(
        ENUM, "dtype", 0, FIELD(dtype), NULL,
        "type of the values; auto is the smallest that fits; values that do not fit are an error",
        .def = "auto", .choices = types),
    COV_OPT(FLAG, "append", 0, FIELD(append), NULL,
            "add columns to the existing coverage of PREFIX"),
    COV_OPT(FLAG, "replace", 0, FIELD(replace), NULL, "replace the existing coverage of PREFIX"),
    COV_RENAME_OPTION(ADD(rename_path)),
    COV_BLACKLIST_FILE_OPTION(ADD(blacklist_path), "count nothing in"),
    {.name = NULL},
};

/* "4,-5" */
static int parse_shift(const char *text, struct cov_counting *counting, struct cov_err *e)
{
    char first[32];
    size_t n = strcspn(text, ",");
    if (text[n] != ',' || n >= sizeof first)
        return cov_fail(e, COV_EUSAGE, "--shift=%s: expected two numbers separated by a comma",
                        text);
    memcpy(first, text, n);
    first[n] = '\0';
    int rc = cov_parse_i64(first, "--shift", -MAX_SHIFT, MAX_SHIFT, &counting->shift_plus, e);
    if (!rc)
        rc = cov_parse_i64(text + n + 1, "--shift", -MAX_SHIFT, MAX_SHIFT, &counting->shift_minus,
                           e);
    counting->has_shift = true;
    return rc;
}

static int check(const struct config *c, int n_operands, char **operands,
                 const struct cov_common *common, struct cov_err *e)
{
    if (c->append && c->replace)
        return cov_fail(e, COV_EUSAGE, "--append and --replace cannot be used together");
    if (c->add.counting.max_fragment > 0 &&
        c->add.counting.min_fragment > c->add.counting.max_fragment)
        return cov_fail(e, COV_EUSAGE, "--min-fragment %lld is greater than --max-fragment %lld",
                        (long long)c->add.counting.min_fragment,
                        (long long)c->add.counting.max_fragment);
    if (cov_path_is_std(operands[0]))
        return cov_fail(e, COV_EUSAGE, "the genome file must not be standard input");
    if (common->output && cov_path_is_std(common->output))
        return cov_fail(e, COV_EUSAGE,
                        "-o -: the genome file cannot be written to standard output");
    const int rc = cov_path_check_distinct(operands + 1, (size_t)n_operands - 1, e);
    return rc ? rc : cov_dataset_check_name(c->add.prefix, "--prefix", e);
}

/* Returns the name of a given option among the first n, or NULL; --strand both does not count. */
static const char *find_given(const struct config *c, const bool *given, int n)
{
    for (int row = 0; row < n; row++)
        if (given[row] && (row != ROW_STRAND || c->add.counting.strand != COV_COUNT_BOTH))
            return options[row].name;
    return NULL;
}

/* Parses --exclude-flags, and notes which reads it no longer skips. */
static int parse_excluded(const char *text, unsigned *flags, struct cov_err *e)
{
    int rc = cov_read_flags_parse(text, "--exclude-flags", flags, e);
    const unsigned dropped =
        COV_COUNT_HELIXER_EXCLUDES & ~*flags & (COV_READ_SECONDARY | COV_READ_QC_FAIL);
    if (!rc && dropped)
        cov_info("--exclude-flags %s replaces the flags of --preset, so %s reads count; to skip "
                 "them, too: "
                 "--exclude-flags %u",
                 text,
                 dropped == COV_READ_SECONDARY ? "secondary"
                 : dropped == COV_READ_QC_FAIL ? "QC-failed"
                                               : "secondary and QC-failed",
                 *flags | COV_COUNT_HELIXER_EXCLUDES);
    return rc;
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    struct config *c = config;
    struct cov_coverage_add_options *add = &c->add;
    add->output = common->output;
    add->force = common->force;
    add->tmpdir = common->tmpdir;
    add->n_threads = (unsigned)common->threads;
    add->files = (const char *const *)(operands + 1);
    add->n_files = (size_t)n_operands - 1;
    add->counting.exclude_flags = COV_COUNT_HELIXER_EXCLUDES;
    add->for_alignments = find_given(c, given, ROWS_OF_ALIGNMENTS);
    add->for_reads = find_given(c, given, ROWS_OF_READS);
    add->elem_bytes = type_bytes[c->dtype];
    add->mode = c->append    ? COV_COVERAGE_APPEND
                : c->replace ? COV_COVERAGE_REPLACE
                             : COV_COVERAGE_NEW;
    int rc = check(c, n_operands, operands, common, e);
    if (!rc && c->require_flags)
        rc = cov_read_flags_parse(c->require_flags, "--require-flags", &add->counting.require_flags,
                                  e);
    if (!rc && c->exclude_flags)
        rc = parse_excluded(c->exclude_flags, &add->counting.exclude_flags, e);
    if (!rc && given[ROW_SHIFT])
        rc = parse_shift(c->shift, &add->counting, e);
    return rc ? rc : cov_coverage_add(operands[0], add, &common->progress, &common->stats, e);
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "bam2h5",
        .summary = "add measured coverage (BAM, CRAM, BED, bigWig, bedGraph) to a genome file",
        .synopsis = "[options] -p PREFIX GENOME.h5 FILE...",
        .examples = "  bam2h5 -p atacseq --shift genome.h5 rep1.bam rep2.bam\n"
                    "  bam2h5 -p h3k4me3 --count fragment --min-mapq 10 genome.h5 chip.cram\n"
                    "  bam2h5 -p atacseq --max-fragment 100 genome.h5 fragments.tsv.gz\n"
                    "  bam2h5 -p atacseq --append --shift genome.h5 rep3.bam\n"
                    "  bam2h5 -p h3k27ac genome.h5 encode.bigWig\n",
        .options = options,
        .config_bytes = sizeof(struct config),
        .min_operands = 2,
        .max_operands = -1,
        .output_optional = true,
        .output_help = "write a new file instead of changing GENOME.h5",
        .run = run,
        .print_versions = cov_libraries_print,
    };
    return cov_tool_main(&tool, argc, argv);
}
