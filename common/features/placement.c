/* placement.c - see placement.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/placement.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/log.h"

int cov_misplaced_check(const struct cov_misplaced *m, bool warns, struct cov_err *e)
{
    const char *more = cov_listing_more(&m->sequences);
    if (m->n > 0 && m->is_all)
        return cov_fail(
            e, COV_EINPUT, "%s: none of the sequences with %ss (%s%s) is in %s (%s%s)%s", m->path,
            m->what, m->sequences.text, more, m->input, m->there.n ? m->there.text : "no sequences",
            cov_listing_more(&m->there), m->hint);
    if (m->n > 0 && warns)
        cov_warn("%s: %zu %s%s on sequences that are not in %s: %s%s", m->path, m->n, m->what,
                 cov_text_s((int64_t)m->n), m->input, m->sequences.text, more);
    return COV_OK;
}

int cov_overhang_fail(const struct cov_overhang *o, struct cov_err *e)
{
    char line[32] = "";
    if (o->line > 0)
        (void)snprintf(line, sizeof line, ":%zu", o->line);
    return cov_fail(e, COV_EINPUT,
                    "%s%s: the %s ends at %" PRId64 ", but %s has only %" PRId64 " bases in %s",
                    o->path, line, o->what, o->end, o->sequence, o->length, o->input);
}
