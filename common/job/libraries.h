/* libraries.h - which libraries the tools stand on, for --version.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_LIBRARIES_H
#define COV_JOB_LIBRARIES_H

#include <stdio.h>

/* A line each of those that all tools use, "HDF5 1.10.8": the versions that are loaded, where a library can say it,
 * else those that this one was built with. */
void cov_libraries_print(FILE *f);

#endif
