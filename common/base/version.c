/* version.c - the version and the commit, which the build puts in.
 * SPDX-License-Identifier: MIT */
#include "common/base/version.h"

const char *cov_version(void)
{
    return COV_VERSION;
}

const char *cov_commit(void)
{
    return COV_COMMIT;
}
