/* chart_figures.c - see chart_figures.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/chart_figures.h"

static struct cov_chart_point point_of(double x, const struct figure *f, double factor)
{
    return (struct cov_chart_point){x, factor * f->median, factor * f->low, factor * f->high};
}

int chart_add_figure(struct cov_chart *c, const char *series, double x, const struct figure *f,
                     double factor, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    const struct cov_chart_point point = point_of(x, f, factor);
    return cov_chart_add_point(c, series, &point, e);
}

int chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                  const struct figure *f, double factor, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    const struct cov_chart_point point = point_of(0, f, factor);
    return cov_chart_add_bar(c, series, group, &point, e);
}
