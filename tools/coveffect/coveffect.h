/* coveffect.h - the subcommands of coveffect, and what they share.
 * SPDX-License-Identifier: MIT */
#ifndef COVEFFECT_COVEFFECT_H
#define COVEFFECT_COVEFFECT_H

#include "common/cli/shared_options.h"
#include "common/cli/tool.h"
#include "common/input/model.h"
#include "common/seq/genome.h"

extern const struct cov_tool coveffect_vcf; /* vcf.c */
extern const struct cov_tool coveffect_ism; /* attribute.c, like: */
extern const struct cov_tool coveffect_gradients;

#define COVEFFECT_DEFAULT_WIDTH 1001 /* about that of ChromBPNet */
#define COVEFFECT_MAX_WINDOW (1 << 28)

/* The models, the genome and its names: filled by the rows of COVEFFECT_INPUT_OPTIONS. */
struct coveffect_inputs {
    struct cov_strings models;
    const char *genome, *rename;
    int on_bad_base; /* enum cov_on_bad_base */
};

/* `at` is the offset of a struct coveffect_inputs. */
#define COVEFFECT_INPUT(at, name) ((at) + offsetof(struct coveffect_inputs, name))
#define COVEFFECT_INPUT_OPTIONS(at, of)                                                            \
    COV_OPT(                                                                                       \
        LIST, "model", 'm', COVEFFECT_INPUT(at, models), "CKPT[,CKPT]...",                         \
        "checkpoint of Predmoter or covtools; several, with the same datasets, are an ensemble: "  \
        "the mean of their predictions",                                                           \
        .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),                                              \
        COV_OPT(STRING, "genome", 'g', COVEFFECT_INPUT(at, genome), "FASTA",                       \
                "the genome of the " of "; may be compressed",                                     \
                .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN)

/* Reads the genome; temporary files go to `dir` without --tmpdir. */
int coveffect_read_genome(struct cov_common *common, const struct coveffect_inputs *in,
                          const char *dir, struct cov_genome **out, struct cov_err *e) COV_MUST_USE;

/* Opens the models, for windows of this length. */
int coveffect_open_models(struct cov_common *common, const struct coveffect_inputs *in,
                          size_t window, struct cov_ensemble **out, struct cov_err *e) COV_MUST_USE;

/* Finds a dataset in the model. `option` names it. */
int coveffect_find_dataset(const struct cov_ensemble *m, const char *option, const char *name,
                           size_t *out, struct cov_err *e) COV_MUST_USE;

#endif
