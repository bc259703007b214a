/* plot.c - see plot.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/plot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/outfile.h"
#include "common/job/gnuplot.h"
#include "common/job/region_plot.h"
#include "common/track/bins.h"

enum { SERIES = 2, MAX_PANELS = COV_PLOT_MAX_ROWS / SERIES };

/* The tracks of one source. */
struct series {
    const char *name; /* for the legend */
    const struct cov_track_source *source;
    struct cov_track_sink **bins; /* [n_panels] */
    struct cov_track_sink **tees; /* [n_panels]; NULL if the caller had no sink */
};

struct cov_plot {
    struct cov_picture picture;
    struct cov_range range;
    size_t n_panels, n_series;
    const char *const *datasets; /* [n_panels] */
    struct series series[SERIES];
};

/* ---------------------------------------------------------------- opening */

static int open_plot(struct cov_plot *p, const char *path, const char *region, bool force,
                     const char *tmpdir, struct cov_err *e)
{
    int rc = cov_range_parse(region, &p->range, e);
    return rc ? rc : cov_picture_begin(&p->picture, path, force, tmpdir, e);
}

int cov_plot_new(const char *path, const char *region, bool force, const char *tmpdir,
                 struct cov_plot **out, struct cov_err *e)
{
    *out = NULL;
    if (!path && !region)
        return COV_OK;
    if (!region)
        return cov_fail(e, COV_EUSAGE, "--plot needs --plot-region NAME:FIRST-LAST");
    if (!path)
        return cov_fail(e, COV_EUSAGE, "--plot-region needs --plot");
    struct cov_plot *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->picture = (struct cov_picture)COV_PICTURE_INIT;
    int rc = open_plot(p, path, region, force, tmpdir, e);
    if (rc)
        cov_plot_free(p);
    else
        *out = p;
    return rc;
}

void cov_plot_free(struct cov_plot *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < SERIES; i++) {
        const struct series *s = &p->series[i];
        for (size_t k = 0; k < p->n_panels; k++) {
            cov_track_free(s->tees ? s->tees[k] : NULL);
            cov_track_free(s->bins ? s->bins[k] : NULL);
        }
        free(s->bins);
        free(s->tees);
    }
    cov_picture_end(&p->picture, NULL);
    free(p);
}

const struct cov_range *cov_plot_range(const struct cov_plot *p)
{
    return &p->range;
}

struct cov_outfile *cov_plot_file(struct cov_plot *p)
{
    return &p->picture.file;
}

/* ---------------------------------------------------------------- collecting */

/* Inserts a sink that collects the bins of data set k before *sink. */
static int add_bins(const struct cov_plot *p, size_t series, size_t k, struct cov_track_sink **sink,
                    struct cov_err *e)
{
    const struct series *s = &p->series[series];
    const struct cov_track_contigs *contigs = s->source->contigs;
    struct cov_bins_extent x;
    int rc = cov_bins_new(&p->range, COV_PLOT_BINS, s->source->name, contigs, &s->bins[k], e);
    if (!rc && contigs && (series == 0 || cov_bins_found(s->bins[k])))
        rc = cov_bins_extent(s->bins[k], true, &x, e);
    if (!rc && *sink)
        rc = cov_tee_new(*sink, s->bins[k], contigs, &s->tees[k], e);
    if (!rc)
        *sink = s->tees[k] ? s->tees[k] : s->bins[k];
    return rc;
}

int cov_plot_add(struct cov_plot *p, size_t series, const struct cov_track_source *source,
                 const char *const *datasets, struct cov_track_sink **sinks, struct cov_err *e)
{
    size_t n = source->n_datasets;
    assert(series < SERIES && !p->series[series].bins);
    assert(p->n_series == 0 || n == p->n_panels);
    if (n > MAX_PANELS)
        return cov_fail(e, COV_EINPUT, "%s: too many data sets (%zu); the limit is %d",
                        p->picture.file.path, n, (int)MAX_PANELS);
    struct series *s = &p->series[series];
    if (p->n_series++ == 0)
        p->datasets = datasets;
    p->n_panels = n;
    s->name = series == 0 ? source->label : "measured";
    s->source = source;
    s->bins = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    s->tees = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    if (!s->bins || !s->tees)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < n; k++)
        rc = add_bins(p, series, k, &sinks[k], e);
    return rc;
}

/* ---------------------------------------------------------------- the picture */

/* Finds the extent of data set k: that of series 0, with the contig's length from series 1 if
 * series 0 does not know it. */
static int find_extent(const struct cov_plot *p, size_t k, struct cov_bins_extent *x,
                       struct cov_err *e)
{
    struct cov_bins_extent other;
    const struct series *s = p->series;
    bool has_lengths = s[0].source->has_lengths;
    int rc = cov_bins_extent(s[0].bins[k], has_lengths, x, e);
    if (rc || has_lengths || p->n_series == 1 || !cov_bins_found(s[1].bins[k]) ||
        !s[1].source->has_lengths)
        return rc;
    rc = cov_bins_extent(s[1].bins[k], true, &other, e);
    if (!rc && strcmp(x->contig, other.contig) == 0)
        x->end = other.end;
    return rc;
}

/* Fills the rows of data set k. Both are on the same scale. */
static int fill_rows(const struct cov_plot *p, size_t k, int64_t unit, struct cov_plot_row *rows,
                     struct cov_err *e)
{
    struct cov_bins_extent x;
    double least = 0, most = 0;
    int rc = find_extent(p, k, &x, e);
    for (size_t i = 0; !rc && i < p->n_series; i++) {
        rows[i] = (struct cov_plot_row){.heading = i == 0 ? p->datasets[k] : NULL, .series = i};
        cov_bins_get(p->series[i].bins[k], &x, unit, &rows[i].bins);
        cov_plot_extend(&rows[i].bins, &least, &most);
    }
    for (size_t i = 0; !rc && i < p->n_series; i++) {
        rows[i].least = least;
        rows[i].most = most == least ? 1 : most;
    }
    return rc;
}

int cov_plot_draw(struct cov_plot *p, struct cov_err *e)
{
    assert(p->n_panels > 0 && p->n_series > 0);
    struct cov_plot_row *rows = cov_calloc(p->n_panels, SERIES * sizeof *rows, e);
    struct cov_region_plot plot = {.rows = rows, .n_rows = p->n_panels * p->n_series, .note = ""};
    int rc = rows ? COV_OK : COV_ENOMEM;
    int64_t unit = 1;
    for (size_t i = 0; i < p->n_series; i++) {
        plot.series[i] = p->series[i].name;
        for (size_t k = 0; k < p->n_panels; k++) {
            int64_t own = cov_bins_unit(p->series[i].bins[k]);
            unit = own > unit ? own : unit;
        }
    }
    if (p->n_series > 1)
        plot.note = "; both tracks of a data set are on one scale";
    for (size_t k = 0; !rc && k < p->n_panels; k++)
        rc = fill_rows(p, k, unit, rows + k * p->n_series, e);
    if (!rc)
        rc = cov_region_plot_draw(&plot, &p->picture, e);
    free(rows);
    return rc;
}
