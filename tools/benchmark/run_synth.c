/* run_synth.c - benchmark synth: made-up genomes and reads.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/tmpfile.h"
#include "tools/benchmark/measuring.h"
#include "tools/benchmark/synth.h"

struct synth_config {
    int64_t size, contigs, read_length, seed;
    double gc, n_content, repeats, depth;
    bool rna;
    const char *reads;
};

#define FIELD(name) offsetof(struct synth_config, name)

enum { ROW_READS = 7 };

static const struct cov_opt synth_options[] = {
    {.name = "size",
     .type = COV_OPT_SIZE,
     .field = FIELD(size),
     .metavar = "N",
     .def = "10M",
     .min = 1,
     .max = 1e13,
     .help = "bases of all contigs together: 0.125G"},
    {.name = "contigs",
     .type = COV_OPT_SIZE,
     .field = FIELD(contigs),
     .metavar = "N",
     .def = "5",
     .min = 1,
     .max = 100000000,
     .help = "how many; they differ in length by up to three times"},
    {.name = "gc",
     .type = COV_OPT_FLOAT,
     .field = FIELD(gc),
     .metavar = "F",
     .def = "0.36",
     .min = 0,
     .max = 1,
     .help = "part of the bases that is G or C"},
    {.name = "n-content",
     .type = COV_OPT_FLOAT,
     .field = FIELD(n_content),
     .metavar = "F",
     .def = "0.01",
     .min = 0,
     .max = 0.95,
     .help = "part of the bases that is N, in runs"},
    {.name = "repeats",
     .type = COV_OPT_FLOAT,
     .field = FIELD(repeats),
     .metavar = "F",
     .def = "0.3",
     .min = 0,
     .max = 0.95,
     .help = "part of the bases that is in copies of sixteen repeats, in lower case"},
    {.name = "rna", .type = COV_OPT_FLAG, .field = FIELD(rna), .help = "U instead of T"},
    {.name = "depth",
     .type = COV_OPT_FLOAT,
     .field = FIELD(depth),
     .metavar = "F",
     .def = "0",
     .min = 0,
     .max = 10000,
     .help =
         "reads that cover a base on the average: they are written as SAM, sorted, half of them "
         "near peaks"},
    [ROW_READS] = {.name = "reads",
                   .type = COV_OPT_STRING,
                   .flags = COV_OPT_PATH_OUT,
                   .field = FIELD(reads),
                   .metavar = "FILE",
                   .help = "where the reads go; without it, reads.sam beside the genome"},
    {.name = "read-length",
     .type = COV_OPT_INT,
     .field = FIELD(read_length),
     .metavar = "N",
     .def = "100",
     .min = 1,
     .max = 100000,
     .help = "bases of a read"},
    {.name = "seed",
     .type = COV_OPT_INT,
     .field = FIELD(seed),
     .metavar = "N",
     .def = "1",
     .min = 0,
     .max = 1e15,
     .help = "of all that is random: the same one gives the same files"},
    {.name = NULL},
};

/* The names of the files: of a folder, which is made, genome.fa and reads.sam in it. Caller frees. */
static int name_outputs(const struct cov_common *common, const struct synth_config *c,
                        struct cov_newfolder *folder, char **fasta, char **sam, struct cov_err *e)
{
    const char *out = common->output ? common->output : BENCHMARK_FOLDER "/";
    *fasta = *sam = NULL;
    if (cov_path_names_dir(out)) {
        int rc = cov_newfolder_make(folder, out, e);
        if (rc)
            return rc;
        *fasta = cov_path_join(out, "genome.fa", e);
    } else {
        *fasta = cov_strdup(out, e);
    }
    if (!*fasta)
        return COV_ENOMEM;
    if (c->depth <= 0)
        return COV_OK;
    if (c->reads) {
        *sam = cov_strdup(c->reads, e);
    } else {
        char *dir = cov_path_dir(*fasta, e);
        *sam = dir ? cov_path_join(dir, "reads.sam", e) : NULL;
        free(dir);
    }
    return *sam ? COV_OK : COV_ENOMEM;
}

static int synth_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    const struct synth_config *c = config;
    const struct cov_synth_options options = {.n_bases = c->size,
                                              .n_contigs = c->contigs,
                                              .gc = c->gc,
                                              .n_content = c->n_content,
                                              .repeats = c->repeats,
                                              .rna = c->rna,
                                              .depth = c->depth,
                                              .read_length = c->read_length,
                                              .seed = (uint64_t)c->seed};
    bool to_stdout = common->output && cov_path_is_std(common->output);
    struct cov_newfolder folder = COV_NEWFOLDER_INIT;
    struct cov_pool *pool = NULL;
    char *fasta = NULL, *sam = NULL;
    int rc = cov_synth_check(&options, e);
    if (!rc && given[ROW_READS] && c->depth <= 0)
        rc = cov_fail(e, COV_EUSAGE, "--reads: there are none without --depth");
    if (!rc && to_stdout && c->depth > 0)
        rc = cov_fail(e, COV_EUSAGE, "--depth: reads need a folder or a file for the genome");
    if (!rc && !to_stdout)
        rc = name_outputs(common, c, &folder, &fasta, &sam, e);
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads, &pool, e);
    if (!rc && to_stdout)
        rc = cov_synth_write(&options, stdout, NULL, pool, &common->progress, e);
    else if (!rc)
        rc = cov_synth_files(&options, fasta, sam, common->force, pool, &common->progress, e);
    common->stats.bases = c->size;
    cov_pool_free(pool);
    free(fasta);
    free(sam);
    cov_newfolder_fini(&folder);
    return rc;
}

const struct cov_tool benchmark_synth = {
    .name = "synth",
    .summary = "make up a genome of a given size, and reads of it",
    .synopsis = "[options] [-o DIR/|FILE|-]",
    .examples = "  benchmark synth --size 0.125G -o genome.fa\n"
                "  benchmark synth --size 20M --depth 5 --seed 7 -o made_up/\n",
    .options = synth_options,
    .config_bytes = sizeof(struct synth_config),
    .output_optional = true,
    .output_help = "the FASTA, or a folder (DIR/) for genome.fa and reads.sam, made if missing; "
                   "without it, " BENCHMARK_FOLDER "/",
    .lacks = COV_LACKS_TMPDIR,
    .run = synth_run,
};
