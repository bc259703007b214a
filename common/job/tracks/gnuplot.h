/* gnuplot.h - runs gnuplot, a program of its own.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_GNUPLOT_H
#define COV_JOB_TRACKS_GNUPLOT_H

#include <stdio.h>

#include "common/base/err.h"

/* Finds gnuplot in PATH: *program, which the caller frees. COV_EUNSUPPORTED names the package that
 * has it. */
int cov_gnuplot_find(char **program, struct cov_err *e) COV_MUST_USE;

/* Runs the script, which is all that can be read from the descriptor `script` from its begin on;
 * what it prints goes to the file `output`. `tmpdir` is for what it says of errors, of which the
 * first line is in the text of COV_EIO, as is the signal that ended it. */
int cov_gnuplot_run(const char *program, int script, const char *output, const char *tmpdir,
                    struct cov_err *e) COV_MUST_USE;

/* Writes a text to a script, in single quotes, in which only these have a meaning; what would not be
 * seen is '?'. It is cut where it would not fit. */
void cov_gnuplot_put_text(FILE *f, const char *text);

#endif
