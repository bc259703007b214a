/* datasets.c - h5chunk drop, rename: remove and rename datasets.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/cli/shared_options.h"
#include "tools/h5chunk/subcommands.h"

#define OPTIONS(table, list, help_)                                                                \
    static const struct cov_opt table[] = {                                                        \
        COV_OPT(LIST, "datasets", 0, 0, list, help_, .flags = COV_OPT_REQUIRED),                   \
        {.name = NULL},                                                                            \
    }
OPTIONS(drop_options, "LIST", "datasets to remove");
OPTIONS(rename_options, "OLD=NEW,...", "datasets to rename");

/* Splits "OLD=NEW" in place. */
static int split(char *text, struct cov_dataset_edit *edit, struct cov_err *e)
{
    char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1])
        return cov_fail(e, COV_EUSAGE, "--datasets %s: expected OLD=NEW", text);
    *sign = '\0';
    *edit = (struct cov_dataset_edit){text, sign + 1};
    return cov_dataset_check_name(edit->new_name, "--datasets", e);
}

static int edit(struct cov_common *common, const struct cov_strings *datasets, bool renames,
                char **operands, struct cov_err *e)
{
    struct cov_rewrite_job job = {.force = false};
    size_t n = datasets->n;
    struct cov_dataset_edit *edits = cov_calloc(n, sizeof *edits, e);
    int rc = edits ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        if (renames)
            rc = split(datasets->items[i], &edits[i], e);
        else
            edits[i].name = datasets->items[i];
    if (!rc)
        rc = h5chunk_begin(common, operands, 1, false, &job, e);
    if (!rc)
        rc = cov_edit_datasets(operands[0], common->output, edits, n, &job, e);
    cov_pool_free(job.job.pool);
    free(edits);
    return rc;
}

static int drop_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    (void)given, (void)n_operands;
    return edit(common, config, false, operands, e);
}

static int rename_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given, (void)n_operands;
    return edit(common, config, true, operands, e);
}

#define TAKES_DATASETS                                                                             \
    .config_bytes = sizeof(struct cov_strings), .min_operands = 1, .max_operands = 1,              \
    .output_optional = true, .output_help = "write a new file instead of changing FILE",           \
    .lacks = COV_LACKS_TMPDIR

const struct cov_tool h5chunk_drop = {
    .name = "drop",
    .summary = "remove datasets of coverage or predictions",
    .synopsis = "[options] --datasets LIST [-o OUT] FILE",
    .examples = "  h5chunk drop --datasets h3k4me3 -o atac.h5 predictions.h5\n",
    .options = drop_options,
    .run = drop_run,
    TAKES_DATASETS,
};

const struct cov_tool h5chunk_rename = {
    .name = "rename",
    .summary = "rename datasets of coverage or predictions",
    .synopsis = "[options] --datasets OLD=NEW,... [-o OUT] FILE",
    .examples = "  h5chunk rename --datasets atac=atacseq genome.h5\n",
    .options = rename_options,
    .run = rename_run,
    TAKES_DATASETS,
};
