/* request.c - what all subcommands of covprofile read and write.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/file/path.h"
#include "tools/covprofile/covprofile.h"

int covprofile_request(const struct covprofile_config *config, struct cov_common *common,
                       int n_operands, char **operands, struct cov_profile_request *out,
                       struct cov_err *e)
{
    *out = (struct cov_profile_request){
        .inputs = operands,
        .n_inputs = (size_t)n_operands,
        .paths = {.table = common->output,
                  .printed = stdout,
                  .second = config->second,
                  .second_kind = COV_OUTFILE_TABLE,
                  .plot = config->plot,
                  .tmpdir = common->tmpdir,
                  .force = common->force},
        .n_threads = (unsigned)common->threads,
        .progress = &common->progress,
        .stats = &common->stats,
    };
    out->source.values.unrounded = true;
    const int rc = cov_path_check_distinct(operands, (size_t)n_operands, e);
    return rc ? rc : cov_source_options_fill(&config->source, &out->source, e);
}
