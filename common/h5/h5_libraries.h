/* h5_libraries.h - versions of the libraries used, for --version.
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_H5_LIBRARIES_H
#define COV_H5_H5_LIBRARIES_H

#include <stdio.h>

/* Prints a line per library, for example "HDF5 1.10.8": the version loaded at run time if the
 * library reports it, otherwise the version at build time. */
void cov_libraries_print(FILE *f);

#endif
