/* request.c - what all subcommands of covprofile read and write.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/file/path.h"
#include "tools/covprofile/covprofile.h"

int covprofile_request(struct covprofile_config *config, struct cov_common *common, int n_operands,
                       char **operands, struct cov_err *e)
{
    struct cov_profile_request *r = &config->request;
    r->inputs = operands;
    r->n_inputs = (size_t)n_operands;
    r->paths.table = common->output;
    r->paths.printed = stdout;
    r->paths.second_kind = COV_OUTFILE_TABLE;
    r->paths.tmpdir = common->tmpdir;
    r->paths.force = common->force;
    r->n_threads = (unsigned)common->threads;
    r->progress = &common->progress;
    r->stats = &common->stats;
    r->source.values.unrounded = true;
    const int rc = cov_path_check_distinct(operands, (size_t)n_operands, e);
    return rc ? rc : cov_source_options_finish(&r->source, e);
}
