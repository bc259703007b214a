/* table_outputs.h - the files of a job that writes a table: the table, another file, and a picture.
 * SPDX-License-Identifier: MIT */
#ifndef COV_PLOT_TABLE_OUTPUTS_H
#define COV_PLOT_TABLE_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/file/outfile.h"
#include "common/file/textfile.h"
#include "common/plot/gnuplot.h"

/* Borrowed for the call. */
struct cov_table_paths {
    const char *table; /* NULL or "-": `printed` */
    FILE *printed;
    const char *second; /* a file of the kind `second_kind`; NULL: none */
    enum cov_outfile_kind second_kind;
    const char *plot;   /* .svg or .png; NULL: none */
    const char *tmpdir; /* for temporary files of the picture; NULL: its directory */
    bool force;
};

/* Files that are not wanted are empty. */
struct cov_table_outputs {
    FILE *printed;
    struct cov_outfile table, second;
    struct cov_picture picture;
};

#define COV_TABLE_OUTPUTS_INIT                                                                     \
    {                                                                                              \
        .table = COV_OUTFILE_INIT, .second = COV_OUTFILE_INIT, .picture = COV_PICTURE_INIT         \
    }

/* What to write. write_second and draw may be NULL if there are no such files. */
struct cov_table_writer {
    cov_table_fn *print_table;
    int (*write_second)(const void *arg, const struct cov_outfile *out, struct cov_err *e);
    int (*draw)(const void *arg, const struct cov_picture *picture, struct cov_err *e);
    const void *arg;
};

/* A job, as for cov_stats_set_more. */
struct cov_table_job {
    void (*print_json)(struct cov_json *json, const void *job);
    void (*free_job)(void *job);
    void *job;
};

/* Begins the files before the inputs are read, which can take long. Free with
 * cov_table_outputs_end, also after a failure. */
int cov_table_outputs_begin(struct cov_table_outputs *o, const struct cov_table_paths *paths,
                            struct cov_err *e) COV_MUST_USE;

/* Writes the files and commits them together. */
int cov_table_outputs_write(struct cov_table_outputs *o, const struct cov_table_writer *w,
                            struct cov_err *e) COV_MUST_USE;

/* Ends a job that returned `rc`: frees the outputs, and hands the job to *stats, or frees it after
 * a failure. Returns rc. */
int cov_table_outputs_end(struct cov_table_outputs *o, int rc, const struct cov_table_job *job,
                          struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

#endif
