/* run_compare.c - benchmark compare: whether something has become slower.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/base/path.h"
#include "common/base/tmpfile.h"
#include "tools/benchmark/bench_compare.h"
#include "tools/benchmark/measuring.h"

struct compare_config {
    double max_slowdown, tolerance;
    bool paired;
    int64_t repeats;
    int clock;
};

#define FIELD(name) offsetof(struct compare_config, name)

static const char *const clocks[] = {"wall", "cpu", NULL};

enum { ROW_SLOWDOWN, ROW_TOLERANCE, ROW_PAIRED, ROW_REPEATS, ROW_CLOCK };

static const struct cov_opt compare_options[] = {
    [ROW_SLOWDOWN] = {.name = "max-slowdown",
                      .type = COV_OPT_FLOAT,
                      .field = FIELD(max_slowdown),
                      .metavar = "F",
                      .def = "0.1",
                      .min = 0,
                      .max = 1000,
                      .help = "what a figure may be worse by, as a part of it"},
    [ROW_TOLERANCE] = {.name = "probe-tolerance",
                       .type = COV_OPT_FLOAT,
                       .field = FIELD(tolerance),
                       .metavar = "F",
                       .def = "0.25",
                       .min = 0,
                       .max = 1000,
                       .help = "what the probes of both machines may differ by"},
    [ROW_PAIRED] = {.name = "paired",
                    .type = COV_OPT_FLAG,
                    .field = FIELD(paired),
                    .help = "run two commands in turn, and compare their times"},
    [ROW_REPEATS] = {.name = "repeats",
                     .type = COV_OPT_INT,
                     .field = FIELD(repeats),
                     .metavar = "N",
                     .def = "10",
                     .min = 5,
                     .max = 1000,
                     .help =
                         "of commands: rounds, each of A, B, B, A, 5 at least; up to five times as "
                         "many where the times differ much"},
    [ROW_CLOCK] = {.name = "clock",
                   .type = COV_OPT_ENUM,
                   .field = FIELD(clock),
                   .def = "wall",
                   .choices = clocks,
                   .help = "of commands: the time that passes, or that of the processor"},
    {.name = NULL},
};

static int compare_to(const struct compare_config *c, char **operands,
                      const struct cov_bench_compare_options *options, FILE *out, struct cov_err *e)
{
    return c->paired ? cov_bench_compare_paired(operands[0], operands[1], options, out, e)
                     : cov_bench_compare(operands[0], operands[1], options, out, e);
}

/* The table stands there also when something is worse. */
static int compare_to_file(const struct compare_config *c, char **operands,
                           const struct cov_bench_compare_options *options, const char *output,
                           bool force, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_newfolder made = COV_NEWFOLDER_INIT;
    bool folder = cov_path_names_dir(output);
    char *path = folder ? cov_path_join(output, "compare.tsv", e) : cov_strdup(output, e);
    int rc = !path ? COV_ENOMEM : folder ? cov_newfolder_make(&made, output, e) : COV_OK;
    if (!rc)
        rc = cov_outfile_begin(&out, path, COV_OUTFILE_STREAM, force, e);
    FILE *f = rc ? NULL : fopen(out.tmp, "we");
    if (!rc && !f)
        rc = cov_fail_errno(e, "%s", path);
    int verdict = rc ? rc : compare_to(c, operands, options, f, e);
    long n = f ? ftell(f) : 0;
    bool bad = f && ferror(f);
    if (f && (fclose(f) != 0 || bad)) {
        if (e)
            *e = (struct cov_err)COV_ERR_INIT; /* there is no table that would say the verdict */
        verdict = cov_fail_errno(e, "%s", path);
        n = 0;
    }
    if (!rc && n > 0) {
        struct cov_err why = COV_ERR_INIT;
        rc = cov_outfile_commit(&out, &why);
        if (rc && !verdict)
            verdict = cov_fail(e, rc, "%s", why.text);
    }
    cov_outfile_end(&out, e);
    cov_newfolder_fini(&made);
    free(path);
    return verdict;
}

static int compare_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                       char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct compare_config *c = config;
    const struct cov_bench_compare_options options = {.max_slowdown = c->max_slowdown,
                                                      .probe_tolerance = c->tolerance,
                                                      .blocks = (size_t)c->repeats,
                                                      .cpu_clock = c->clock == 1,
                                                      .tmpdir =
                                                          common->tmpdir ? common->tmpdir : ".",
                                                      .progress = &common->progress};
    if (!c->paired && (given[ROW_REPEATS] || given[ROW_CLOCK]))
        return cov_fail(e, COV_EUSAGE, "--%s is for --paired",
                        compare_options[given[ROW_REPEATS] ? ROW_REPEATS : ROW_CLOCK].name);
    if (c->paired && given[ROW_TOLERANCE])
        return cov_fail(e, COV_EUSAGE, "--probe-tolerance is not for --paired");
    if (!common->output || cov_path_is_std(common->output))
        return compare_to(c, operands, &options, stdout, e);
    return compare_to_file(c, operands, &options, common->output, common->force, e);
}

const struct cov_tool benchmark_compare = {
    .name = "compare",
    .summary = "tell whether something has become slower: two files, or two commands in turn",
    .synopsis =
        "[options] BASE.json NEW.json\n       benchmark compare --paired [options] 'COMMAND A' "
        "'COMMAND B'",
    .examples = "  benchmark compare --max-slowdown 0.05 base/benchmark.json new/benchmark.json\n"
                "  benchmark compare --paired 'old/fasta2h5 -fo x.h5 g.fa' 'new/fasta2h5 -fo x.h5 "
                "g.fa'\n",
    .options = compare_options,
    .config_bytes = sizeof(struct compare_config),
    .min_operands = 2,
    .max_operands = 2,
    .output_optional = true,
    .output_help =
        "file for the table, or a folder (DIR/) for compare.tsv, made if missing; without "
        "it, standard output",
    .lacks = COV_LACKS_THREADS,
    .run = compare_run,
};
