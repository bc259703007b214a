/* runs.c - see runs.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/runs.h"

void cov_runs_begin(struct cov_runs *r, cov_runs_fn *emit, void *arg)
{
    r->emit = emit;
    r->arg = arg;
    r->end = 0;
    r->open = (struct cov_interval){.beg = -1};
    r->n = 0;
}

static int hand_on(struct cov_runs *r, struct cov_err *e)
{
    size_t n = r->n;
    r->n = 0;
    return n ? r->emit(r->arg, r->iv, n, e) : COV_OK;
}

int cov_runs_add(struct cov_runs *r, const float *values, size_t n, struct cov_err *e)
{
    if (n == 0)
        return COV_OK;
    if (r->open.beg < 0)
        r->open = (struct cov_interval){.beg = r->end, .value = values[0]};
    struct cov_interval open = r->open;
    for (size_t i = 0; i < n; i++) {
        if (values[i] == open.value)
            continue;
        open.end = r->end + (int64_t)i;
        r->iv[r->n++] = open;
        open.beg = open.end;
        open.value = values[i];
        if (r->n == COV_RUNS_BLOCK) {
            int rc = hand_on(r, e);
            if (rc)
                return rc;
        }
    }
    r->open = open;
    r->end += (int64_t)n;
    return COV_OK;
}

static void close_run(struct cov_runs *r)
{
    if (r->open.beg >= 0) {
        r->open.end = r->end;
        r->iv[r->n++] = r->open; /* there is room: a full block is handed on at once */
        r->open.beg = -1;
    }
}

int cov_runs_repeat(struct cov_runs *r, float value, int64_t n, struct cov_err *e)
{
    bool goes_on = r->open.beg >= 0 && r->open.value == value;
    if (!goes_on) {
        close_run(r);
        r->open = (struct cov_interval){.beg = r->end, .value = value};
    }
    r->end += n;
    return r->n == COV_RUNS_BLOCK ? hand_on(r, e) : COV_OK;
}

int cov_runs_skip(struct cov_runs *r, int64_t n, struct cov_err *e)
{
    close_run(r);
    r->end += n;
    return r->n == COV_RUNS_BLOCK ? hand_on(r, e) : COV_OK;
}

int cov_runs_end(struct cov_runs *r, struct cov_err *e)
{
    close_run(r);
    return hand_on(r, e);
}
