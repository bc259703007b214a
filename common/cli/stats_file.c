/* stats_file.c - see stats_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/stats_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/cli/multiqc.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/table.h"

/* A file to print. */
struct content {
    const struct cov_stats *stats;
    const char *sample; /* MultiQC's name for the file, or NULL */
};

static void print(const void *arg, FILE *f)
{
    const struct content *c = arg;
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    if (c->sample)
        cov_multiqc_print(c->stats, c->sample, &j);
    cov_stats_put(c->stats, &j);
    cov_json_end_object(&j);
}

void cov_stats_print(const struct cov_stats *s, FILE *f)
{
    print(&(struct content){.stats = s}, f);
}

static void print_plot(const void *arg, FILE *f)
{
    const struct content *c = arg;
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_multiqc_print_plot(c->stats, c->sample, &j);
    cov_json_end_object(&j);
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
        rc = cov_table_write(&out, NULL, print, &(struct content){s, sample}, e);
    if (!rc && plot_path)
        rc = cov_table_write(&plot, NULL, print_plot, &(struct content){s, sample}, e);
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
