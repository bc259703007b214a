/* fasta2h5.c - FASTA to genome file or chunk stream.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/cli/tool.h"
#include "common/job/encode/encode.h"
#include "common/job/libraries.h"

struct config {
    int64_t subsequence_length, min_length, max_length;
    const char *species, *compression, *rename;
    int layout, on_bad_base;
};

enum { BAD_BASE_ERROR, BAD_BASE_N };
static const char *const bad_base_choices[] = {"error", "n", NULL};
static const char *const layout_choices[] = {
    [COV_LAYOUT_ONEHOT] = "onehot", [COV_LAYOUT_PACKED] = "packed", NULL};

#define FIELD(name) offsetof(struct config, name)
/* HDF5 stores no chunk of 4 GiB or more, and a base takes eight bytes. */
#define MAX_CHUNK 268435456
#define MAX_LENGTH 1e15

/* Rows of `options` that are about files only. */
enum { COMPRESSION = 2, LAYOUT = 3 };

static const struct cov_opt options[] = {
    {.name = "subsequence-length",
     .type = COV_OPT_SIZE,
     .field = FIELD(subsequence_length),
     .metavar = "N",
     .def = "21384",
     .min = 1,
     .max = MAX_CHUNK,
     .help = "length of a chunk, in bases"},
    {.name = "species",
     .type = COV_OPT_STRING,
     .field = FIELD(species),
     .metavar = "NAME",
     .help =
         "species to note in the file; without it, the name of FASTA without folder and suffix"},
    {.name = "compression",
     .type = COV_OPT_STRING,
     .field = FIELD(compression),
     .metavar = "gzip|fast|libdeflate[:LEVEL]|lzf|lz4|zstd[:LEVEL]|blosc[:LEVEL]|none",
     .def = "gzip",
     .help = "compression of the bases"},
    {.name = "layout",
     .type = COV_OPT_ENUM,
     .field = FIELD(layout),
     .def = "onehot",
     .choices = layout_choices,
     .help = "four halves a base, as Helixer, or half a byte, which only covtools read"},
    {.name = "on-bad-base",
     .type = COV_OPT_ENUM,
     .field = FIELD(on_bad_base),
     .def = "error",
     .choices = bad_base_choices,
     .help =
         "what to do with a letter that is not an IUPAC code: stop, or read it as N and count it"},
    {.name = "rename",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_IN,
     .field = FIELD(rename),
     .metavar = "FILE",
     .help = "two columns: name in FASTA, name to use instead"},
    {.name = "min-length",
     .type = COV_OPT_SIZE,
     .field = FIELD(min_length),
     .metavar = "N",
     .def = "1",
     .min = 1,
     .max = MAX_LENGTH,
     .help = "leave shorter sequences out"},
    {.name = "max-length",
     .type = COV_OPT_SIZE,
     .field = FIELD(max_length),
     .metavar = "N",
     .min = 1,
     .max = MAX_LENGTH,
     .help = "leave longer sequences out"},
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct config *c = config;
    const char *fasta = operands[0];
    char *stem = NULL, *folder = NULL;
    struct cov_pool *pool = NULL;
    struct cov_encode_options encode = {
        .species = c->species,
        .chunk_length = (size_t)c->subsequence_length,
        .layout = (enum cov_layout)c->layout,
        .genome = {.bad_base_is_n = c->on_bad_base == BAD_BASE_N,
                   .min_length = c->min_length,
                   .max_length = c->max_length,
                   .rename_path = c->rename,
                   .tmpdir = common->tmpdir,
                   .n_threads = (unsigned)common->threads},
    };
    int rc = cov_codec_parse(c->compression, &encode.compression, e);
    if (rc)
        return rc;
    if (cov_path_is_std(common->output) && (given[COMPRESSION] || given[LAYOUT]))
        return cov_fail(e, COV_EUSAGE, "--%s is about files; the chunk stream has none",
                        options[given[LAYOUT] ? LAYOUT : COMPRESSION].name);
    if (c->max_length > 0 && c->min_length > c->max_length)
        return cov_fail(e, COV_EUSAGE, "--min-length %lld is more than --max-length %lld",
                        (long long)c->min_length, (long long)c->max_length);
    if (c->rename && cov_path_is_std(c->rename))
        return cov_fail(e, COV_EUSAGE, "--rename is not read from standard input");

    if (!encode.species) {
        encode.species = stem = cov_path_stem(fasta, e);
        rc = stem ? COV_OK : COV_ENOMEM;
    }
    if (!rc && !encode.genome.tmpdir) {
        encode.genome.tmpdir = folder = cov_path_dir(common->output, e);
        rc = folder ? COV_OK : COV_ENOMEM;
    }
    if (!rc && c->rename)
        rc = cov_stats_add_input(&common->stats, c->rename, e);
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads, &pool, e);
    if (!rc)
        rc = cov_encode_fasta(fasta, common->output, common->force, &encode, pool,
                              &common->progress, &common->stats, e);
    cov_pool_free(pool);
    free(stem);
    free(folder);
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
