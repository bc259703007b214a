/* table.h - the tab-separated tables that jobs print.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_TABLE_H
#define COV_FILE_TABLE_H

#include <stdio.h>

#include "common/base/err.h"
#include "common/file/outfile.h"

/* Prints a name from a file or command line. Control characters become '?', because they would
 * start another column or line. The caller checks the stream for errors. */
void cov_table_put_text(const char *text, FILE *f);

/* Prints a tab and a number; NaN is "NA". The caller checks the stream for errors. */
void cov_table_put_number(double x, FILE *f);

/* Prints a table to `out`, which the caller commits, or to `printed` if *out is empty. Checks for
 * errors. */
typedef void cov_table_fn(const void *arg, FILE *f);
int cov_table_write(const struct cov_outfile *out, FILE *printed, cov_table_fn *print,
                    const void *arg, struct cov_err *e) COV_MUST_USE;

#endif
