/* profile_outputs.c - see profile_outputs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_outputs.h"

#include "common/base/mem.h"
#include "common/file/path.h"

int cov_profile_outputs_begin(struct cov_profile_outputs *o, const struct cov_profile_paths *paths,
                              struct cov_err *e)
{
    *o = (struct cov_profile_outputs)COV_PROFILE_OUTPUTS_INIT;
    o->printed = paths->printed;
    int rc = cov_picture_begin(&o->picture, paths->plot, paths->force, paths->tmpdir, e);
    if (!rc && paths->table && !cov_path_is_std(paths->table))
        rc = cov_outfile_begin(&o->table, paths->table, COV_OUTFILE_TABLE, paths->force, e);
    if (!rc && paths->curves)
        rc = cov_outfile_begin(&o->curves, paths->curves, COV_OUTFILE_TABLE, paths->force, e);
    return rc;
}

int cov_profile_outputs_write(struct cov_profile_outputs *o, const struct cov_profile_writer *w,
                              struct cov_err *e)
{
    struct cov_outfile *const files[] = {&o->table, &o->curves, &o->picture.file};
    int rc = o->picture.file.path ? w->draw(w->arg, &o->picture, e) : COV_OK;
    if (!rc && o->curves.path)
        rc = cov_table_write(&o->curves, NULL, w->print_curves, w->arg, e);
    if (!rc)
        rc = cov_table_write(&o->table, o->printed, w->print_table, w->arg, e);
    return rc ? rc : cov_outfile_commit_all(files, COV_COUNT(files), e);
}

void cov_profile_outputs_end(struct cov_profile_outputs *o, struct cov_err *e)
{
    cov_outfile_end(&o->table, e);
    cov_outfile_end(&o->curves, e);
    cov_picture_end(&o->picture, e);
}
