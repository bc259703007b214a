/* gnuplot.h - runs gnuplot as a child process, and writes the pictures that it draws.
 * SPDX-License-Identifier: MIT */
#ifndef COV_PLOT_GNUPLOT_H
#define COV_PLOT_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/file/outfile.h"

/* Finds gnuplot in PATH. Caller frees *program. COV_EUNSUPPORTED names the Debian package. */
int cov_gnuplot_find(char **program, struct cov_err *e) COV_MUST_USE;

/* Runs the script that `put_script` prints. gnuplot's standard output goes to the existing file
 * `output`; the script and gnuplot's errors, to temporary files in `tmpdir`. COV_EIO quotes the
 * first line of the errors, or names the signal that killed gnuplot. */
int cov_gnuplot_draw(const char *program, void (*put_script)(void *arg, FILE *f), void *arg,
                     const char *output, const char *tmpdir, struct cov_err *e) COV_MUST_USE;

/* A .png or .svg file that gnuplot draws. It is empty without a file. */
struct cov_picture {
    struct cov_outfile file;
    bool is_svg;
    char *gnuplot, *tmpdir; /* Owned */
};

#define COV_PICTURE_INIT                                                                           \
    {                                                                                              \
        .file = COV_OUTFILE_INIT                                                                   \
    }

/* Finds gnuplot and begins the file; with a `path` of NULL, leaves *p empty. Temporary files are
 * made in `tmpdir`, or if that is NULL in the directory of the picture. COV_EUSAGE, with the name of
 * the option --plot, for another suffix. Free with cov_picture_end, also after a failure. */
int cov_picture_begin(struct cov_picture *p, const char *path, bool force, const char *tmpdir,
                      struct cov_err *e) COV_MUST_USE;

/* Draws the script that `put_script` prints, and checks that the picture is complete. The caller
 * commits the file. */
int cov_picture_draw(const struct cov_picture *p, void (*put_script)(void *arg, FILE *f), void *arg,
                     struct cov_err *e) COV_MUST_USE;

/* Frees the picture like cov_outfile_end, whether or not its file has been committed. */
void cov_picture_end(struct cov_picture *p, struct cov_err *e);

/* Writes text as a single-quoted string of a script. Replaces unprintable characters with '?'
 * and truncates long texts. */
void cov_gnuplot_put_text(FILE *f, const char *text);

#endif
