/* correlate_tracks.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_jobs.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/job/profile/heat_map.h"
#include "common/job/profile/profile_tracks.h"
#include "common/track/measures/outliers.h"

enum { NUMBERS_UP_TO = 20 /* tracks: the map has numbers */ };

/* Lives until --stats has been printed. */
struct correlate_job {
    struct cov_correlate_options o;
    bool has_features;          /* correlate these, not bins */
    struct cov_track_bins bins; /* either these */
    struct cov_annotation features;
    struct cov_windows windows;
    struct cov_profile_tracks tracks; /* or these */
    size_t n;                         /* tracks */
    const char **names;               /* [n], borrowed from them */
    double **values;                  /* [n][n_rows], borrowed from them; then without rows that
                                       * lack a value */
    size_t n_rows;
    bool reads_all;   /* no option leaves bases out */
    double *r;        /* [n][n]. Owned */
    bool *is_extreme; /* [n_rows]: rows that may decide r; NULL: unknown. Owned */
    struct cov_listing extremes;
};

static const char *row_name(const struct correlate_job *j)
{
    return j->has_features ? "feature" : "bin";
}

/* ---------------------------------------------------------------- values */

static int read_bins(struct correlate_job *j, const struct cov_profile_request *request,
                     struct cov_err *e)
{
    j->bins.width = j->o.bin;
    int rc = cov_track_bins_read(&j->bins, request, e);
    j->n = j->bins.n;
    j->n_rows = j->bins.n_rows;
    return rc;
}

static int read_features(struct correlate_job *j, const struct cov_profile_request *request,
                         struct cov_err *e)
{
    int rc = cov_profile_features_read(&request->features, &j->features, e);
    if (!rc)
        rc = cov_windows_init(&j->windows, &j->features, &j->o.layout, e);
    if (!rc)
        rc = cov_profile_tracks_init(&j->tracks, &j->windows, 1,
                                     j->o.by_base ? &request->paths : NULL, e);
    if (!rc)
        rc = cov_profile_tracks_read(&j->tracks, request, e);
    j->n = j->tracks.n;
    j->n_rows = j->features.n;
    j->reads_all = cov_source_is_whole(&request->source);
    return rc;
}

static int read_tracks(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct correlate_job *j = arg;
    int rc = (j->has_features ? read_features : read_bins)(j, request, e);
    return rc || j->n > 1 ? rc
                          : cov_fail(e, COV_EINPUT, "%s: a single track; correlations need two",
                                     request->inputs[0]);
}

/* ---------------------------------------------------------------- extreme coverage */

static bool is_whole(const struct correlate_job *j, size_t row)
{
    for (size_t k = 0; k < j->n; k++)
        if (isnan(j->values[k][row]))
            return false;
    return true;
}

static struct cov_bin_place place_of(const struct correlate_job *j, size_t row)
{
    if (!j->has_features)
        return cov_track_bins_place(&j->bins, row);
    const struct cov_feature *all = j->features.items, *f = &all[row];
    size_t n;
    return (struct cov_bin_place){cov_names_get(j->features.contigs, f->contig, &n),
                                  f->contig,
                                  f->beg,
                                  f->end,
                                  row == 0 || all[row - 1].contig != f->contig,
                                  row + 1 == j->n_rows || all[row + 1].contig != f->contig};
}

/* Returns where the extremes are looked for: each feature is a window of its own, since all count the
 * same. */
static struct cov_bin_place window_of(const struct correlate_job *j, size_t row)
{
    struct cov_bin_place p = place_of(j, row);
    if (j->has_features) {
        p.beg = (int64_t)row;
        p.end = p.beg + 1;
    }
    return p;
}

/* Marks the rows with extreme coverage of track k, among those where all tracks have a value. */
static int mark_extremes(struct correlate_job *j, size_t k, struct cov_err *e)
{
    struct cov_outliers o = {.window = j->has_features                 ? 1
                                       : j->o.bin > COV_OUTLIER_WINDOW ? j->o.bin
                                                                       : 0};
    struct cov_bin_place p;
    int rc = COV_OK;
    for (size_t row = 0; !rc && row < j->n_rows; row++) {
        const double x = j->values[k][row];
        p = window_of(j, row);
        if (is_whole(j, row))
            rc = cov_outliers_add(&o, p.contig, p.beg, p.end, x, x, e);
    }
    if (!rc)
        rc = cov_outliers_find(&o, e);
    for (size_t i = 0, row = 0; !rc && i < o.n_found && row < j->n_rows; row++) {
        p = window_of(j, row);
        while (i < o.n_found && (o.found[i].contig < p.contig ||
                                 (o.found[i].contig == p.contig && o.found[i].end <= p.beg)))
            i++;
        if (i < o.n_found && o.found[i].contig == p.contig && o.found[i].beg <= p.beg)
            j->is_extreme[row] = true;
    }
    cov_outliers_fini(&o);
    return rc;
}

/* Lists stretches of rows with extreme coverage. */
static void list_extremes(struct correlate_job *j)
{
    for (size_t row = 0, next; row < j->n_rows; row = next) {
        next = row + 1;
        if (!j->is_extreme[row])
            continue;
        const struct cov_bin_place first = place_of(j, row);
        struct cov_bin_place last = first;
        int64_t end = first.end; /* features may overlap */
        while (!last.is_last && j->is_extreme[next]) {
            last = place_of(j, next++);
            end = last.end > end ? last.end : end;
        }
        const struct cov_outlier part = {first.contig, first.is_first && last.is_last, first.beg,
                                         end, 0};
        cov_outlier_list(&part, first.name, 0, &j->extremes);
    }
}

/* Finds the rows with extreme coverage, and keeps the marks of those where all tracks have a
 * value. */
static int find_extremes(struct correlate_job *j, struct cov_err *e)
{
    size_t n = 0;
    j->is_extreme = cov_calloc(j->n_rows, sizeof *j->is_extreme, e);
    int rc = j->is_extreme ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < j->n; k++)
        rc = mark_extremes(j, k, e);
    if (rc)
        return rc;
    list_extremes(j);
    for (size_t row = 0; row < j->n_rows; row++)
        if (is_whole(j, row))
            j->is_extreme[n++] = j->is_extreme[row];
    return COV_OK;
}

static int make_columns(struct correlate_job *j, struct cov_err *e)
{
    size_t n = 0;
    int rc = cov_size_mul(j->n, j->n, &n);
    j->names = cov_calloc(j->n, sizeof *j->names, e);
    j->values = cov_calloc(j->n, sizeof *j->values, e);
    j->r = rc ? NULL : cov_calloc(n, sizeof *j->r, e);
    if (!j->names || !j->values || !j->r)
        return COV_ENOMEM;
    for (size_t k = 0; k < j->n; k++) {
        j->names[k] = j->has_features ? j->tracks.items[k]->name : j->bins.names[k];
        j->values[k] = j->has_features ? j->tracks.items[k]->means : j->bins.means[k];
    }
    return COV_OK;
}

/* Keeps the rows where all tracks have a value. */
static int choose_rows(struct correlate_job *j, struct cov_err *e)
{
    int rc = !j->o.spearman ? find_extremes(j, e) : COV_OK;
    if (rc)
        return rc;
    const size_t n = cov_rows_keep_whole(j->values, j->n, j->n_rows);
    j->n_rows = n;
    return n > 1 ? COV_OK
                 : cov_rows_fail_few(j->names, j->n, n, row_name(j), "correlations need", e);
}

/* ---------------------------------------------------------------- correlations */

struct ranked {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Replaces values by their ranks; equal values get the mean of theirs. */
static int rank(double *x, size_t n, struct cov_err *e)
{
    struct ranked *list = cov_malloc(n, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        list[i] = (struct ranked){x[i], i};
    qsort(list, n, sizeof *list, by_value);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && list[k].value == list[i].value;)
            k++;
        for (size_t h = i; h < k; h++)
            x[list[h].row] = (double)(i + k - 1) / 2;
    }
    free(list);
    return COV_OK;
}

/* Returns Pearson's r of tracks a and b, without the extremes if not `all`. */
static double pearson(const struct correlate_job *j, size_t a, size_t b, bool all)
{
    struct cov_moments m = {.n = 0};
    for (size_t i = 0; i < j->n_rows; i++)
        if (all || !j->is_extreme[i])
            cov_moments_add(&m, j->values[a][i], j->values[b][i], 1);
    return cov_moments_pearson(&m);
}

static int correlate(struct correlate_job *j, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && j->o.spearman && k < j->n; k++)
        rc = rank(j->values[k], j->n_rows, e);
    for (size_t a = 0; !rc && a < j->n; a++)
        for (size_t b = 0; b <= a; b++) {
            const double r = pearson(j, a, b, true);
            j->r[a * j->n + b] = j->r[b * j->n + a] = a == b && !isnan(r) ? 1 : r;
        }
    return rc;
}

/* ---------------------------------------------------------------- base by base */

/* As Predmoter's tss_computations.py. */
static const double EPS = 1e-8;

/* Subtracts the mean. Bases without a value become 0, which adds nothing to a sum of products. Returns the root
 * of the sum of squares. */
static double centre(double *x, size_t n)
{
    double sum = 0, squares = 0, n_values = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i])) {
            sum += x[i];
            n_values++;
        }
    for (size_t i = 0; i < n; i++) {
        x[i] = isnan(x[i]) ? 0 : x[i] - sum / n_values;
        squares += x[i] * x[i];
    }
    return sqrt(squares);
}

/* Adds the r of each pair in a window to r[n][n]. x[n][n_bins]; roots[n]: room. */
static int add_window(const struct correlate_job *j, size_t feature, double *x, double *roots,
                      struct cov_err *e)
{
    const size_t n_bins = j->tracks.n_bins;
    for (size_t a = 0; a < j->n; a++) {
        double *own = x + a * n_bins;
        int rc = cov_profile_tracks_bins(&j->tracks, a, feature, 0, n_bins, own, e);
        if (rc)
            return rc;
        roots[a] = centre(own, n_bins);
        for (size_t b = 0; b <= a; b++) {
            const double *other = x + b * n_bins;
            double sum = 0;
            for (size_t i = 0; i < n_bins; i++)
                sum += own[i] * other[i];
            j->r[a * j->n + b] += sum / (roots[a] * roots[b] + EPS);
        }
    }
    return COV_OK;
}

/* Does the feature count? An option may have left it out of all tracks. */
static bool counts(const struct correlate_job *j, size_t feature)
{
    bool has_values = j->reads_all;
    for (size_t k = 0; k < j->n; k++) {
        const struct cov_profile_track *t = j->tracks.items[k];
        if (!t->has_bins[feature])
            return false;
        has_values = has_values || !isnan(t->means[feature]);
    }
    return has_values;
}

static int correlate_bases(struct correlate_job *j, struct cov_err *e)
{
    size_t n_room, n_rows = 0;
    int rc = cov_size_mul(j->n, j->tracks.n_bins, &n_room);
    double *x = rc ? NULL : cov_malloc(n_room, sizeof *x, e);
    double *roots = cov_malloc(j->n, sizeof *roots, e);
    if (!x || !roots)
        rc = COV_ENOMEM;
    for (size_t i = 0; !rc && i < j->features.n; i++)
        if (counts(j, i)) {
            rc = add_window(j, i, x, roots, e);
            n_rows++;
        }
    free(x);
    free(roots);
    if (!rc && n_rows == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no feature is on a sequence of all tracks",
                      j->features.path);
    for (size_t a = 0; a < j->n; a++)
        for (size_t b = 0; b <= a; b++)
            j->r[b * j->n + a] = j->r[a * j->n + b] /= (double)n_rows;
    j->n_rows = n_rows;
    return rc;
}

/* ---------------------------------------------------------------- extremes that decide */

/* Warns if extreme coverage decides correlations; names the pair that it changes most. */
static void warn_of_extremes(const struct correlate_job *j)
{
    double most = 0, without = 0;
    size_t a_most = 0, b_most = 0;
    char about[512];
    for (size_t a = 0; a < j->n && j->extremes.n > 0; a++)
        for (size_t b = 0; b < a; b++) {
            const double r = pearson(j, a, b, false), change = fabs(r - j->r[a * j->n + b]);
            if (change > most) {
                most = change;
                without = r;
                a_most = a;
                b_most = b;
            }
        }
    (void)snprintf(about, sizeof about, "%s and %s", j->names[b_most], j->names[a_most]);
    if (most > 0)
        cov_outliers_warn(about, row_name(j), j->r[a_most * j->n + b_most], without, &j->extremes,
                          "--blacklist-file omits such regions");
}

/* ---------------------------------------------------------------- outputs */

static struct cov_heat_map map_of(const struct correlate_job *j, const char *title)
{
    return (struct cov_heat_map){.title = title,
                                 .values = j->r,
                                 .rows = j->names,
                                 .columns = j->names,
                                 .n_rows = j->n,
                                 .n_columns = j->n,
                                 .has_numbers = j->n <= NUMBERS_UP_TO,
                                 .is_clustered = true};
}

static void print_table(const void *arg, FILE *f)
{
    const struct cov_heat_map map = map_of(arg, NULL);
    cov_heat_map_print(&map, "track", f);
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct correlate_job *j = arg;
    char *title = cov_strfmt(e, "%s correlation %s %zu %ss", j->o.spearman ? "Spearman" : "Pearson",
                             j->o.by_base ? "within" : "over", j->n_rows, row_name(j));
    const struct cov_heat_map map = map_of(j, title);
    int rc = title ? cov_heat_map_draw(&map, picture, e) : COV_ENOMEM;
    free(title);
    return rc;
}

/* "correlations": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct correlate_job *j = arg;
    cov_json_int(json, j->has_features ? "features" : "bins", (int64_t)j->n_rows);
    cov_json_string(json, "method", j->o.spearman ? "spearman" : "pearson");
    if (j->has_features)
        cov_json_string(json, "mode", j->o.by_base ? "bases" : "windows");
    cov_json_begin_array(json, "correlations");
    for (size_t a = 0; a < j->n; a++)
        for (size_t b = a + 1; b < j->n; b++) {
            cov_json_begin_object(json, NULL);
            cov_json_string(json, "a", j->names[a]);
            cov_json_string(json, "b", j->names[b]);
            cov_json_double(json, "r", j->r[a * j->n + b]);
            cov_json_end_object(json);
        }
    cov_json_end_array(json);
}

/* The map of a MultiQC report. */
static void put_cells(const void *arg, const char *sample, struct cov_json *json)
{
    const struct cov_heat_map map = map_of(arg, NULL);
    (void)sample;
    cov_heat_map_put_json(&map, json);
}

const struct cov_stats_plot cov_correlate_cells = {
    .type = COV_STATS_CELLS,
    .name = "tracks",
    .section = "Correlation of tracks",
    .description = "Pearson's or Spearman's correlation, over bins of the genome or over features.",
    .x_axis = "Track",
    .rows = "Track",
    .axis = "r",
    .is_correlation = true,
    .put_data = put_cells,
};

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct correlate_job *j = arg;
    cov_track_bins_fini(&j->bins);
    cov_profile_tracks_fini(&j->tracks);
    cov_windows_fini(&j->windows);
    cov_annotation_fini(&j->features);
    free(j->names);
    free(j->values);
    free(j->r);
    free(j->is_extreme);
    free(j);
}

static int measure(void *arg, struct cov_err *e)
{
    struct correlate_job *j = arg;
    int rc = make_columns(j, e);
    if (rc || j->o.by_base)
        return rc ? rc : correlate_bases(j, e);
    rc = choose_rows(j, e);
    if (!rc)
        rc = correlate(j, e);
    if (!rc && j->is_extreme)
        warn_of_extremes(j);
    return rc;
}

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct correlate_job *j = arg;
    (void)stats;
    (void)e;
    cov_info("%zu %s%s %s", j->n_rows, row_name(j), cov_text_s((int64_t)j->n_rows),
             j->o.by_base ? "on sequences of all tracks" : "with a value in all tracks");
    return COV_OK;
}

int cov_correlate_run(const struct cov_profile_request *request,
                      const struct cov_correlate_options *options, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tracks,
                                                   .measure = measure,
                                                   .print_table = print_table,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct correlate_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->o = *options;
    j->has_features = request->features.path;
    return cov_profile_job_run(j, &steps, request, e);
}
