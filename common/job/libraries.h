/* libraries.h - versions of the libraries used, for --version.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_LIBRARIES_H
#define COV_JOB_LIBRARIES_H

#include <stdio.h>

/* Prints a line per library, "HDF5 1.10.8": the version loaded at run time where the library
 * reports it, otherwise that of the build. */
void cov_libraries_print(FILE *f);

#endif
