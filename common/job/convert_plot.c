/* convert_plot.c - see convert_plot.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/convert_plot.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/job/plot.h"
#include "common/track/bins.h"
#include "common/track/tee.h"

struct series {
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

int cov_convert_plot_open(const struct cov_convert_options *o, struct cov_convert_plot **out,
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
        rc = cov_plot_open(o->plot_path, o->force, o->tmpdir, &p->plot, e);
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

int cov_convert_plot_add(struct cov_convert_plot *p, size_t series, const char *name,
                         const char *input, const char *const *datasets, size_t n,
                         const struct cov_track_contigs *contigs, struct cov_track_sink **sinks,
                         struct cov_err *e)
{
    assert(series < COV_PLOT_SERIES && !p->series[series].bins && (p->n_series == 0 || n == p->n));
    struct series *s = &p->series[series];
    if (p->n_series++ == 0)
        p->datasets = datasets;
    p->n = n;
    p->names[series] = name;
    s->bins = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    s->tees = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    if (!s->bins || !s->tees)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < n; k++) {
        rc = cov_bins_open(&p->range, COV_PLOT_BINS, input, contigs, &s->bins[k], e);
        if (!rc && sinks[k])
            rc = cov_track_tee(sinks[k], s->bins[k], contigs, &s->tees[k], e);
        if (!rc)
            sinks[k] = s->tees[k] ? s->tees[k] : s->bins[k];
    }
    return rc;
}

int cov_convert_plot_draw(struct cov_convert_plot *p, struct cov_err *e)
{
    struct cov_plot_panel *panels = cov_calloc(p->n, sizeof *panels, e);
    int rc = panels ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < p->n; k++) {
        panels[k].name = p->datasets[k];
        for (size_t i = 0; !rc && i < p->n_series; i++)
            rc = cov_bins_get(p->series[i].bins[k], &panels[k].series[i], e);
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
