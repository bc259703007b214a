/* shared_options.c - see shared_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/shared_options.h"

const char *const cov_on_bad_base_names[] = {
    [COV_BAD_BASE_ERROR] = "error", [COV_BAD_BASE_N] = "n", NULL};

int cov_fasta_options_check(const struct cov_fasta_options *o, struct cov_err *e)
{
    if (o->max_length > 0 && o->min_length > o->max_length)
        return cov_fail(e, COV_EUSAGE, "--min-length %lld is greater than --max-length %lld",
                        (long long)o->min_length, (long long)o->max_length);
    return COV_OK;
}

struct cov_genome_options cov_fasta_options_genome(const struct cov_fasta_options *o,
                                                   const char *tmpdir, unsigned n_threads)
{
    return (struct cov_genome_options){.bad_base_is_n = o->on_bad_base == COV_BAD_BASE_N,
                                       .min_length = o->min_length,
                                       .max_length = o->max_length,
                                       .rename_path = o->rename,
                                       .tmpdir = tmpdir,
                                       .n_threads = n_threads};
}
