/* gnuplot.h - runs gnuplot as a child process.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_GNUPLOT_H
#define COV_JOB_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

/* Finds gnuplot in PATH. Caller frees *program. COV_EUNSUPPORTED names the Debian package. */
int cov_gnuplot_find(char **program, struct cov_err *e) COV_MUST_USE;

/* Runs the script that `put_script` prints. gnuplot's standard output goes to the existing file
 * `output`; the script and gnuplot's errors, to temporary files in `tmpdir`. COV_EIO quotes the
 * first line of the errors, or names the signal that killed gnuplot. */
int cov_gnuplot_draw(const char *program, void (*put_script)(void *arg, FILE *f), void *arg,
                     const char *output, const char *tmpdir, struct cov_err *e) COV_MUST_USE;

/* Checks that the picture `output` starts and ends like a complete one. COV_EIO names it `name`. */
int cov_gnuplot_check(const char *program, const char *output, bool is_svg, const char *name,
                      struct cov_err *e) COV_MUST_USE;

/* Writes text as a single-quoted string of a script. Replaces unprintable characters with '?'
 * and truncates long texts. */
void cov_gnuplot_put_text(FILE *f, const char *text);

#endif
