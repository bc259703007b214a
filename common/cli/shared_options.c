/* shared_options.c - see shared_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/shared_options.h"

#include <string.h>

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

int cov_dataset_check_name(const char *name, const char *option, struct cov_err *e)
{
    static const char spliced[] = "_spliced";
    size_t n = strlen(name);
    /* --datasets separates names by commas, and lines of metrics by blanks. */
    if (strpbrk(name, "/, \t\n\v\f\r") || strcmp(name, ".") == 0)
        return cov_fail(e, COV_EUSAGE, "%s %s: must not contain '/', commas or white space", option,
                        name);
    if (n >= sizeof spliced - 1 && strcmp(name + n - (sizeof spliced - 1), spliced) == 0)
        return cov_fail(e, COV_EUSAGE, "%s %s: must not end in %s", option, name, spliced);
    return COV_OK;
}
