/* smoother.c - see smoother.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/smoother.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/number.h"

int cov_smoothing_parse(const char *text, const char *what, struct cov_smoothing *s,
                        struct cov_err *e)
{
    static const char prefix[] = "gauss:";
    size_t n = sizeof prefix - 1;
    if (strncmp(text, prefix, n) != 0)
        return cov_fail(e, COV_EUSAGE, "%s: '%s' is not gauss:SD", what, text);
    int rc = cov_parse_double(text + n, what, 0, COV_GAUSS_MAX_SD, &s->sd, e);
    if (!rc && s->sd <= 0)
        rc = cov_fail(e, COV_EUSAGE, "%s: the standard deviation must be above 0", what);
    return rc;
}

void cov_smoothing_tail(const struct cov_smoothing *s, char tail[COV_SMOOTHING_TAIL])
{
    tail[0] = '\0';
    if (s->window > 0)
        (void)snprintf(tail, COV_SMOOTHING_TAIL, "_ws=%" PRId64, s->window);
    else if (s->sd > 0)
        (void)snprintf(tail, COV_SMOOTHING_TAIL, "_smooth=%.9g", s->sd);
}

int cov_smoother_init(struct cov_smoother *s, const struct cov_smoothing *wanted, bool round,
                      struct cov_err *e)
{
    *s = (struct cov_smoother){.is_gauss = wanted->sd > 0};
    int rc = COV_OK;
    if (s->is_gauss)
        rc = cov_gauss_init(&s->gauss, wanted->sd, round, e);
    else if (wanted->window > 0)
        rc = cov_smooth_init(&s->mean, (size_t)wanted->window, round, e);
    s->smooths = !rc && (wanted->sd > 0 || wanted->window > 0);
    return rc;
}

void cov_smoother_fini(struct cov_smoother *s)
{
    cov_smooth_fini(&s->mean);
    cov_gauss_fini(&s->gauss);
}

void cov_smoother_begin(struct cov_smoother *s)
{
    if (s->is_gauss)
        cov_gauss_begin(&s->gauss);
    else
        cov_smooth_begin(&s->mean);
}

size_t cov_smoother_add(struct cov_smoother *s, const float *values, size_t n, float *out)
{
    return s->is_gauss ? cov_gauss_add(&s->gauss, values, n, out)
                       : cov_smooth_add(&s->mean, values, n, out);
}

size_t cov_smoother_end(struct cov_smoother *s, float *out, size_t n)
{
    return s->is_gauss ? cov_gauss_end(&s->gauss, out, n) : cov_smooth_end(&s->mean, out, n);
}
