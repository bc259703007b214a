/* fasta2h5.c - converts FASTA to a genome file or a chunk stream.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "common/base/pool.h"
#include "common/cli/shared_options.h"
#include "common/cli/tool.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/job/encode/encode.h"

struct config {
    struct cov_fasta_options fasta;
    const char *compression;
    int layout; /* enum cov_layout */
};

static const char *const layout_choices[] = {
    [COV_LAYOUT_ONEHOT] = "onehot", [COV_LAYOUT_PACKED] = "packed", NULL};

enum { ROW_FASTA, ROW_COMPRESSION = ROW_FASTA + COV_FASTA_ROWS, ROW_LAYOUT };

static const struct cov_opt options[] = {
    [ROW_FASTA] = COV_FASTA_OPTIONS(offsetof(struct config, fasta)),
    [ROW_COMPRESSION] =
        COV_COMPRESSION_OPTION(offsetof(struct config, compression), "gzip", "the bases"),
    [ROW_LAYOUT] = COV_OPT(ENUM, "layout", 0, offsetof(struct config, layout), NULL,
                           "how bases are stored: four float16 each, as Helixer does, or 4 bits "
                           "each, which only covtools reads",
                           .def = "onehot", .choices = layout_choices),
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct config *c = config;
    const char *fasta = operands[0];
    char *stem = NULL, *directory = NULL;
    struct cov_pool *pool = NULL;
    struct cov_encode_options encode = {
        .species = c->fasta.species,
        .chunk_length = (size_t)c->fasta.chunk_length,
        .layout = (enum cov_layout)c->layout,
        .genome = cov_fasta_options_genome(&c->fasta, common->tmpdir, (unsigned)common->threads),
    };
    int rc = cov_codec_parse(c->compression, &encode.compression, e);
    if (!rc)
        rc = cov_fasta_options_check(&c->fasta, e);
    if (rc)
        return rc;
    if (cov_path_is_std(common->output) && (given[ROW_COMPRESSION] || given[ROW_LAYOUT]))
        return cov_fail(e, COV_EUSAGE, "--%s applies to files, not to a chunk stream",
                        options[given[ROW_LAYOUT] ? ROW_LAYOUT : ROW_COMPRESSION].name);
    if (!encode.species) {
        encode.species = stem = cov_path_stem(fasta, e);
        rc = stem ? COV_OK : COV_ENOMEM;
    }
    if (!rc && !encode.genome.tmpdir) {
        encode.genome.tmpdir = directory = cov_path_dir(common->output, e);
        rc = directory ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads, &pool, e);
    if (!rc)
        rc = cov_encode_fasta(fasta, common->output, common->force, &encode,
                              &(struct cov_job){pool, &common->progress, &common->stats}, e);
    cov_pool_free(pool);
    free(stem);
    free(directory);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "fasta2h5",
        .summary = "convert FASTA to a genome file for covpredict, Helixer and Predmoter",
        .synopsis = "[options] -o OUT.h5|- FASTA|-",
        .examples = "  fasta2h5 -o genome.h5 genome.fa.gz\n"
                    "  fasta2h5 -o - genome.fa.gz | covpredict -m MODEL.ckpt -o predictions.h5 -\n"
                    "  zcat *.fa.gz | fasta2h5 --species A_thaliana -o genome.h5 -\n"
                    "  fasta2h5 --min-length 1k --on-bad-base n -o genome.h5 assembly.fa\n",
        .options = options,
        .config_bytes = sizeof(struct config),
        .min_operands = 1,
        .max_operands = 1,
        .run = run,
        .print_versions = cov_libraries_print,
    };
    return cov_tool_main(&tool, argc, argv);
}
