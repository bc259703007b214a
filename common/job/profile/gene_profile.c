/* gene_profile.c - see gene_profile.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/gene_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/base/text.h"
#include "common/cli/multiqc.h"
#include "common/file/path.h"
#include "common/file/table.h"
#include "common/job/profile/profile_job.h"
#include "common/job/profile/profile_matrix.h"
#include "common/job/profile/profile_plot.h"
#include "common/job/profile/profile_tracks.h"

/* Lives until --stats has been printed. */
struct gene_profile_job {
    struct cov_gene_profile_options o; /* strings: until the tracks have been read */
    struct cov_annotation features;
    struct cov_windows windows;
    struct cov_profile_tracks tracks;
    char *dir, *stem;
    unsigned n_threads;
};

/* ---------------------------------------------------------------- outputs */

static void print_table(const void *arg, FILE *f)
{
    const struct gene_profile_job *j = arg;
    const struct cov_profile_tracks *t = &j->tracks;
    const struct cov_profile_layout *l = &j->windows.layout;
    (void)fputs("position", f);
    for (size_t k = 0; k < t->n; k++)
        (void)fprintf(f, "\t%s", t->items[k]->name);
    (void)fputc('\n', f);
    for (size_t i = 0; i < t->n_bins; i++) {
        (void)fprintf(f, "%" PRId64, (int64_t)i * l->bin - l->before);
        for (size_t k = 0; k < t->n; k++) {
            char text[COV_DOUBLE_TEXT];
            const double x = t->items[k]->middle[i];
            (void)fprintf(f, "\t%s", isnan(x) ? "NA" : cov_format_double(x, text));
        }
        (void)fputc('\n', f);
    }
}

static int write_matrix(const void *arg, const struct cov_outfile *out, struct cov_err *e)
{
    const struct gene_profile_job *j = arg;
    return cov_profile_matrix_write(&j->tracks, out->tmp, j->n_threads, e);
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct gene_profile_job *j = arg;
    char *title = cov_strfmt(e, "%zu feature%s of %s", j->features.n,
                             cov_text_s((int64_t)j->features.n), j->stem);
    int rc = title ? cov_profile_plot_draw(&j->tracks, title, j->o.median, picture, e) : COV_ENOMEM;
    free(title);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

/* Returns the bin with the largest value. */
static size_t find_top(const struct cov_profile_track *track)
{
    size_t top = 0;
    for (size_t i = 0; i < track->all->n_bins; i++)
        if (isnan(track->middle[top]) || track->middle[i] > track->middle[top])
            top = i;
    return top;
}

static int64_t position_of(const struct gene_profile_job *j, size_t bin)
{
    return (int64_t)bin * j->windows.layout.bin - j->windows.layout.before;
}

/* "profiles": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct gene_profile_job *j = arg;
    cov_json_int(json, "features", (int64_t)j->features.n);
    cov_json_begin_array(json, "profiles");
    for (size_t k = 0; k < j->tracks.n; k++) {
        const struct cov_profile_track *track = j->tracks.items[k];
        const size_t top = find_top(track);
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "track", track->name);
        cov_json_int(json, "features", (int64_t)track->n_features);
        cov_json_double(json, "largest", track->middle[top]);
        cov_json_int(json, "position", position_of(j, top));
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

/* The lines of a MultiQC report. */
static void put_lines(const void *arg, const char *sample, struct cov_json *json)
{
    const struct gene_profile_job *j = arg;
    cov_json_begin_object(json, "data");
    for (size_t k = 0; k < j->tracks.n; k++) {
        const struct cov_profile_track *track = j->tracks.items[k];
        char row[COV_MULTIQC_NAME_BYTES];
        cov_multiqc_row(sample, track->name, row);
        cov_json_begin_array(json, row);
        for (size_t i = 0; i < j->tracks.n_bins; i++) {
            if (isnan(track->middle[i]))
                continue;
            cov_json_begin_array(json, NULL);
            cov_json_int(json, NULL, position_of(j, i));
            cov_json_double(json, NULL, track->middle[i]);
            cov_json_end_array(json);
        }
        cov_json_end_array(json);
    }
    cov_json_end_object(json);
}

const struct cov_stats_plot cov_gene_profile_lines = {
    .type = COV_STATS_LINES,
    .name = "profile",
    .section = "Signal around genes",
    .description = "Mean or median of the tracks around the features of the annotation.",
    .x_axis = "Position (bp)",
    .axis = "Signal",
    .put_data = put_lines,
};

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct gene_profile_job *j = arg;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->tracks.n; k++) {
        const struct cov_profile_track *track = j->tracks.items[k];
        const size_t top = find_top(track);
        const struct cov_stats_figure figures[] = {
            {"features", "Features", "features with a value near them",
             .value = (double)track->n_features},
            {"largest", "Largest", "largest value of the profile", .decimals = 2,
             .value = track->middle[top]},
            {"position", "Position", "position of the largest value", .suffix = " bp",
             .value = (double)position_of(j, top)},
        };
        rc = cov_stats_add_figures(stats, track->name, figures, COV_COUNT(figures), e);
        cov_info("%s: %zu feature%s, largest value %.6g at %" PRId64, track->name,
                 track->n_features, cov_text_s((int64_t)track->n_features), track->middle[top],
                 position_of(j, top));
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct gene_profile_job *j = arg;
    cov_profile_tracks_fini(&j->tracks);
    cov_windows_fini(&j->windows);
    cov_annotation_fini(&j->features);
    free(j->dir);
    free(j->stem);
    free(j);
}

/* Returns the directory for the bins of all features. Caller frees. */
static char *find_dir(const struct cov_table_paths *p, struct cov_err *e)
{
    const bool is_file = p->table && !cov_path_is_std(p->table);
    const char *beside = p->second ? p->second : p->plot ? p->plot : is_file ? p->table : "./";
    return p->tmpdir ? cov_strdup(p->tmpdir, e) : cov_path_dir(beside, e);
}

static int read_tracks(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct gene_profile_job *j = arg;
    const struct cov_gene_profile_options *o = &j->o;
    const bool stores = o->median || request->paths.second || request->paths.plot;
    const double beg = cov_clock();
    j->n_threads = request->n_threads;
    j->dir = find_dir(&request->paths, e);
    j->stem = cov_path_stem(o->features.path, e);
    int rc =
        j->dir && j->stem ? cov_profile_features_read(&o->features, &j->features, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_windows_init(&j->windows, &j->features, &o->layout, e);
    cov_stats_add_stage(request->stats, "annotation", cov_clock() - beg);
    if (!rc)
        rc = cov_profile_tracks_init(&j->tracks, &j->windows, stores, j->dir, e);
    return rc ? rc : cov_profile_tracks_read(&j->tracks, request, e);
}

static int measure(void *arg, struct cov_err *e)
{
    struct gene_profile_job *j = arg;
    return cov_profile_tracks_finish(&j->tracks, j->o.median, e);
}

int cov_gene_profile_run(const struct cov_profile_request *request,
                         const struct cov_gene_profile_options *options, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tracks,
                                                   .measure = measure,
                                                   .print_table = print_table,
                                                   .write_second = write_matrix,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct gene_profile_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->o = *options;
    return cov_profile_job_run(j, &steps, request, e);
}
