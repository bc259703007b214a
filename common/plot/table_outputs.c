/* table_outputs.c - see table_outputs.h.
 * SPDX-License-Identifier: MIT */
#include "common/plot/table_outputs.h"

#include "common/file/path.h"

int cov_table_outputs_begin(struct cov_table_outputs *o, const struct cov_table_paths *paths,
                            struct cov_err *e)
{
    *o = (struct cov_table_outputs)COV_TABLE_OUTPUTS_INIT;
    o->printed = paths->printed;
    int rc = cov_picture_begin(&o->picture, paths->plot, paths->force, paths->tmpdir, e);
    if (!rc && paths->table && !cov_path_is_std(paths->table))
        rc = cov_outfile_begin(&o->table, paths->table, COV_OUTFILE_TABLE, paths->force, e);
    if (!rc && paths->second)
        rc = cov_outfile_begin(&o->second, paths->second, paths->second_kind, paths->force, e);
    return rc;
}

int cov_table_outputs_write(struct cov_table_outputs *o, const struct cov_table_writer *w,
                            struct cov_err *e)
{
    struct cov_outfile *const files[] = {&o->table, &o->second, &o->picture.file};
    int rc = o->picture.file.path ? w->draw(w->arg, &o->picture, e) : COV_OK;
    if (!rc && o->second.path)
        rc = w->write_second(w->arg, &o->second, e);
    if (!rc)
        rc = cov_table_write(&o->table, o->printed, w->print_table, w->arg, e);
    return rc ? rc : cov_outfile_commit_all(files, COV_COUNT(files), e);
}

int cov_table_outputs_end(struct cov_table_outputs *o, int rc, const struct cov_table_job *job,
                          struct cov_stats *stats, struct cov_err *e)
{
    cov_outfile_end(&o->table, e);
    cov_outfile_end(&o->second, e);
    cov_picture_end(&o->picture, e);
    if (rc)
        job->free_job(job->job);
    else
        cov_stats_set_more(stats, job->print_json, job->free_job, job->job);
    return rc;
}
