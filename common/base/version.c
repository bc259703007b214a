/* version.c - see version.h. The Makefile defines the macros.
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
