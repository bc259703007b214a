/* version.c - the version that the build put in.
 * SPDX-License-Identifier: MIT */
#include "common/base/tool.h"

const char *cov_version(void)
{
    return COV_VERSION;
}
