/* profile_outputs.h - the files of a job of covprofile: a table, its curves, and their picture.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_OUTPUTS_H
#define COV_JOB_PROFILE_PROFILE_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/file/outfile.h"
#include "common/job/gnuplot.h"
#include "common/job/table.h"

/* Borrowed for the call. */
struct cov_profile_paths {
    const char *table; /* NULL or "-": `printed` */
    FILE *printed;
    const char *curves; /* another table; NULL: none */
    const char *plot;   /* .svg or .png; NULL: none */
    const char *tmpdir; /* for temporary files of the picture; NULL: its folder */
    bool force;
};

/* Files that are not wanted are empty. */
struct cov_profile_outputs {
    FILE *printed;
    struct cov_outfile table, curves;
    struct cov_picture picture;
};

#define COV_PROFILE_OUTPUTS_INIT                                                                   \
    {                                                                                              \
        .table = COV_OUTFILE_INIT, .curves = COV_OUTFILE_INIT, .picture = COV_PICTURE_INIT         \
    }

/* What to write. print_curves and draw may be NULL if there are no such files. */
struct cov_profile_writer {
    cov_table_fn *print_table, *print_curves;
    int (*draw)(const void *arg, const struct cov_picture *picture, struct cov_err *e);
    const void *arg;
};

/* Begins the files before the inputs are read, which can take long. Free with
 * cov_profile_outputs_end, also after a failure. */
int cov_profile_outputs_begin(struct cov_profile_outputs *o, const struct cov_profile_paths *paths,
                              struct cov_err *e) COV_MUST_USE;

/* Writes the files and commits them together. */
int cov_profile_outputs_write(struct cov_profile_outputs *o, const struct cov_profile_writer *w,
                              struct cov_err *e) COV_MUST_USE;

void cov_profile_outputs_end(struct cov_profile_outputs *o, struct cov_err *e);

#endif
