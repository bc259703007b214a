/* stats_file.c - see stats_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/stats_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/cli/multiqc.h"
#include "common/file/outfile.h"
#include "common/file/path.h"

/* `sample`: MultiQC's name for the file, or NULL. */
static void print(const struct cov_stats *s, const char *sample, FILE *f)
{
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    if (sample)
        cov_multiqc_print(s, sample, &j);
    cov_stats_put(s, &j);
    cov_json_end_object(&j);
}

void cov_stats_print(const struct cov_stats *s, FILE *f)
{
    print(s, NULL, f);
}

static void print_plot(const struct cov_stats *s, const char *sample, FILE *f)
{
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_multiqc_print_plot(s, sample, &j);
    cov_json_end_object(&j);
}

static int write_file(const struct cov_stats *s, const char *sample,
                      void (*print_it)(const struct cov_stats *, const char *, FILE *),
                      const struct cov_outfile *out, struct cov_err *e)
{
    FILE *f = fopen(out->tmp, "we");
    if (!f)
        return cov_fail_errno(e, "%s", out->path);
    errno = 0;
    print_it(s, sample, f);
    bool failed = ferror(f);
    if (fclose(f) || failed)
        return errno ? cov_fail_errno(e, "%s", out->path)
                     : cov_fail(e, COV_EIO, "%s: write error", out->path);
    return COV_OK;
}

/* Writes s->plot unless `plot_path` is NULL. */
static int write_files(const struct cov_stats *s, const char *path, const char *plot_path,
                       bool force, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT, plot = COV_OUTFILE_INIT;
    char *sample = NULL;
    int rc = cov_multiqc_sample(s, path, &sample, e);
    if (!rc)
        rc = cov_outfile_begin(&out, path, COV_OUTFILE_JSON, force, e);
    if (!rc && plot_path)
        rc = cov_outfile_begin(&plot, plot_path, COV_OUTFILE_JSON, force, e);
    if (!rc)
        rc = write_file(s, sample, print, &out, e);
    if (!rc && plot_path)
        rc = write_file(s, sample, print_plot, &plot, e);
    if (!rc)
        rc = cov_outfile_commit_all((struct cov_outfile *const[]){&out, &plot}, 2, e);
    cov_outfile_abort(&out);
    cov_outfile_abort(&plot);
    free(sample);
    return rc;
}

int cov_stats_write(const struct cov_stats *s, const char *path, bool force, struct cov_err *e)
{
    char *plot_path;
    int rc = cov_multiqc_plot_path(s, path, &plot_path, e);
    if (!rc)
        rc = write_files(s, path, plot_path, force, e);
    free(plot_path);
    return rc;
}

/* The file exists, perhaps because another tool wrote it. Hints at a name that MultiQC shows for
 * the same sample. */
static void hint_at_name(const struct cov_stats *s, const char *path, struct cov_err *e)
{
    char *sample;
    if (strstr(path, s->tool) || cov_multiqc_sample(s, path, &sample, NULL) || !sample)
        return;
    cov_err_append(e, ", or write %s.%s_mqc.json to keep both", sample, s->tool);
    free(sample);
}

int cov_stats_check(const struct cov_stats *s, const char *path, bool force, struct cov_err *e)
{
    char *plot_path;
    if (cov_path_is_std(path))
        return COV_OK;
    int rc = cov_multiqc_plot_path(s, path, &plot_path, e);
    if (!rc)
        rc = cov_outfile_try(path, COV_OUTFILE_JSON, force, e);
    if (rc == COV_EEXIST)
        hint_at_name(s, path, e);
    if (!rc && plot_path)
        rc = cov_outfile_try(plot_path, COV_OUTFILE_JSON, force, e);
    free(plot_path);
    return rc ? cov_err_prefix(e, "--stats") : rc;
}
