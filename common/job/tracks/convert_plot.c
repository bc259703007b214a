/* convert_plot.c - see convert_plot.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert_plot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/job/tracks/plot.h"
#include "common/track/bins.h"
#include "common/track/tee.h"

struct series {
    const struct cov_convert_source *source;
    struct cov_track_sink **bins; /* [n] */
    struct cov_track_sink **tees; /* [n]; NULL where there was no other sink */
};

struct cov_convert_plot {
    struct cov_range range;
    struct cov_plot *plot;
    size_t n, n_series; /* data sets, and series so far */
    const char *const *datasets;
    const char *names[COV_PLOT_SERIES];
    struct series series[COV_PLOT_SERIES];
};

int cov_convert_plot_new(const struct cov_convert_options *o, struct cov_convert_plot **out,
                         struct cov_err *e)
{
    *out = NULL;
    if (!o->plot_path && !o->plot_region)
        return COV_OK;
    if (!o->plot_region)
        return cov_fail(e, COV_EUSAGE, "--plot: of what region? --plot-region NAME:FIRST-LAST");
    if (!o->plot_path)
        return cov_fail(e, COV_EUSAGE, "--plot-region is for --plot");
    struct cov_convert_plot *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    int rc = cov_range_parse(o->plot_region, &p->range, e);
    if (!rc)
        rc = cov_plot_new(o->plot_path, o->force, o->tmpdir, &p->plot, e);
    if (rc)
        cov_convert_plot_free(p);
    else
        *out = p;
    return rc;
}

const struct cov_range *cov_convert_plot_range(const struct cov_convert_plot *p)
{
    return &p->range;
}

/* One sink that keeps what the picture needs of a data set, in front of *sink. */
static int add_bins(const struct cov_convert_plot *p, size_t series, size_t k,
                    struct cov_track_sink **sink, struct cov_err *e)
{
    const struct series *s = &p->series[series];
    const struct cov_track_contigs *contigs = cov_convert_source_contigs(s->source);
    struct cov_bins_extent x;
    int rc = cov_bins_new(&p->range, COV_PLOT_BINS, cov_convert_source_name(s->source), contigs,
                          &s->bins[k], e);
    if (!rc && contigs && (series == 0 || cov_bins_found(s->bins[k])))
        rc = cov_bins_extent(s->bins[k], true, &x, e);
    if (!rc && *sink)
        rc = cov_tee_new(*sink, s->bins[k], contigs, &s->tees[k], e);
    if (!rc)
        *sink = s->tees[k] ? s->tees[k] : s->bins[k];
    return rc;
}

int cov_convert_plot_add(struct cov_convert_plot *p, size_t series, const char *name,
                         const struct cov_convert_source *source, const char *const *datasets,
                         size_t n, struct cov_track_sink **sinks, struct cov_err *e)
{
    assert(series < COV_PLOT_SERIES && !p->series[series].bins && (p->n_series == 0 || n == p->n));
    struct series *s = &p->series[series];
    if (n > COV_PLOT_MAX_PANELS)
        return cov_fail(e, COV_EUSAGE, "%s: there is room for %d data sets in it, not for %zu",
                        cov_plot_file(p->plot)->path, (int)COV_PLOT_MAX_PANELS, n);
    if (p->n_series++ == 0)
        p->datasets = datasets;
    p->n = n;
    p->names[series] = name;
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

/* What is drawn of data set k: that of series 0, but that the end is to be that of the sequence,
 * which series 1 may know. */
static int find_extent(const struct cov_convert_plot *p, size_t k, struct cov_bins_extent *x,
                       struct cov_err *e)
{
    struct cov_bins_extent other;
    const struct series *s = p->series;
    bool has_lengths = cov_convert_source_has_lengths(s[0].source);
    int rc = cov_bins_extent(s[0].bins[k], has_lengths, x, e);
    if (rc || has_lengths || p->n_series == 1 || !cov_bins_found(s[1].bins[k]) ||
        !cov_convert_source_has_lengths(s[1].source))
        return rc;
    rc = cov_bins_extent(s[1].bins[k], true, &other, e);
    if (!rc && strcmp(x->contig, other.contig) == 0)
        x->end = other.end;
    return rc;
}

int cov_convert_plot_draw(struct cov_convert_plot *p, struct cov_err *e)
{
    struct cov_plot_panel *panels = cov_calloc(p->n, sizeof *panels, e);
    int rc = panels ? COV_OK : COV_ENOMEM;
    int64_t unit = 1;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->n; k++) {
            int64_t own = cov_bins_unit(p->series[i].bins[k]);
            unit = own > unit ? own : unit;
        }
    for (size_t k = 0; !rc && k < p->n; k++) {
        struct cov_bins_extent x;
        panels[k].name = p->datasets[k];
        rc = find_extent(p, k, &x, e);
        for (size_t i = 0; !rc && i < p->n_series; i++)
            cov_bins_get(p->series[i].bins[k], &x, unit, &panels[k].series[i]);
    }
    if (!rc)
        rc = cov_plot_draw(p->plot, panels, p->n, p->names, p->n_series, e);
    free(panels);
    return rc;
}

struct cov_outfile *cov_convert_plot_file(struct cov_convert_plot *p)
{
    return cov_plot_file(p->plot);
}

void cov_convert_plot_free(struct cov_convert_plot *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < COV_PLOT_SERIES; i++) {
        const struct series *s = &p->series[i];
        for (size_t k = 0; k < p->n; k++) {
            cov_track_free(s->tees ? s->tees[k] : NULL);
            cov_track_free(s->bins ? s->bins[k] : NULL);
        }
        free(s->bins);
        free(s->tees);
    }
    cov_plot_free(p->plot);
    free(p);
}
