/* runs.c - see runs.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/runs.h"

#include <string.h>

void cov_runs_begin(struct cov_runs *r, cov_runs_fn *emit, void *arg)
{
    r->emit = emit;
    r->arg = arg;
    r->end = 0;
    r->open = (struct cov_interval){.beg = -1};
    r->n = 0;
}

static int flush(struct cov_runs *r, struct cov_err *e)
{
    size_t n = r->n;
    r->n = 0;
    return n ? r->emit(r->arg, r->iv, n, e) : COV_OK;
}

/* Sets differs[i] to values[i] != values[i - 1] (0 or 1) for all i < n <= TILE. */
enum { TILE = 256, WORD = 8 };

static void compare(const float *values, size_t n, uint8_t *differs)
{
    if (n == TILE) /* a constant bound: the compiler vectorizes it */
        for (size_t i = 0; i < TILE; i++)
            differs[i] = values[i] != values[(ptrdiff_t)i - 1];
    else
        for (size_t i = 0; i < n; i++)
            differs[i] = values[i] != values[(ptrdiff_t)i - 1];
}

int cov_runs_add(struct cov_runs *r, const float *values, size_t n, struct cov_err *e)
{
    if (n == 0)
        return COV_OK;
    if (r->open.beg < 0)
        r->open = (struct cov_interval){.beg = r->end, .value = values[0]};
    struct cov_interval open = r->open;
    uint8_t differs[TILE];
    for (size_t beg = 0; beg < n; beg += TILE) {
        size_t m = n - beg < TILE ? n - beg : TILE, rest = m % WORD;
        if (beg > 0) {
            compare(values + beg, m, differs);
        } else {
            compare(values + 1, m - 1, differs + 1);
            differs[0] = values[0] != open.value;
        }
        memset(differs + m, 0, rest ? WORD - rest : 0);
        for (size_t word = 0; word < m; word += WORD) {
            uint64_t bytes;
            memcpy(&bytes, differs + word, WORD);
            if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
                bytes = __builtin_bswap64(bytes);
            for (; bytes; bytes &= bytes - 1) { /* each byte is 0 or 1 */
                size_t i = word + (size_t)__builtin_ctzll(bytes) / 8;
                open.end = r->end + (int64_t)(beg + i);
                r->iv[r->n++] = open;
                open.beg = open.end;
                open.value = values[beg + i];
                if (r->n == COV_RUNS_BLOCK) {
                    int rc = flush(r, e);
                    if (rc)
                        return rc;
                }
            }
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
        r->iv[r->n++] = r->open; /* there is room: a full block is passed on at once */
        r->open.beg = -1;
    }
}

int cov_runs_repeat(struct cov_runs *r, float value, int64_t n, struct cov_err *e)
{
    bool continues = r->open.beg >= 0 && r->open.value == value;
    if (!continues) {
        close_run(r);
        r->open = (struct cov_interval){.beg = r->end, .value = value};
    }
    r->end += n;
    return r->n == COV_RUNS_BLOCK ? flush(r, e) : COV_OK;
}

int cov_runs_skip(struct cov_runs *r, int64_t n, struct cov_err *e)
{
    close_run(r);
    r->end += n;
    return r->n == COV_RUNS_BLOCK ? flush(r, e) : COV_OK;
}

int cov_runs_end(struct cov_runs *r, struct cov_err *e)
{
    close_run(r);
    return flush(r, e);
}
