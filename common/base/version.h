/* version.h - the version of the build.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_VERSION_H
#define COV_BASE_VERSION_H

/* Return the version of libcov, such as "0.1.0" or "0.1.0-12-gabc1234", and the commit it was
 * built from ("" if unknown). */
const char *cov_version(void);
const char *cov_commit(void);

#endif
