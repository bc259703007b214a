/* value_pipe.c - see value_pipe.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/value_pipe.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- strands ---- */

static float rounded(float x)
{
    return (float)cov_round_half_even((double)x);
}

/* Computes the rounded mean of rounded values if all are small enough, as coverage always is.
 * Returns false otherwise. */
static bool average_small(const float *plus, const float *minus, size_t n, float *out)
{
    /* After this constant is added, the unit of the last place is 1 for values on both sides of 0,
     * so adding and then subtracting the constant rounds to an integer. If values are less than a
     * third of the constant, nothing else is lost. */
    const float magic = 12582912.0F; /* 1.5 * 2^23 */
    const float most = 4194304.0F;   /* 2^22 */
    enum { TILE = 1024 };
    for (size_t beg = 0; beg < n; beg += TILE) {
        size_t end = n - beg < TILE ? n : beg + TILE;
        int large = 0;
        for (size_t i = beg; i < end; i++) {
            float p = plus[i], m = minus[n - 1 - i];
            large |= !(p < most) | !(m < most) | !(p > -most) | !(m > -most);
            float sum = ((p + magic) - magic) + ((m + magic) - magic);
            out[i] = (sum * 0.5F + magic) - magic;
        }
        if (large)
            return false;
    }
    return true;
}

void cov_strands_combine(enum cov_strand strand, const float *plus, const float *minus, size_t n,
                         bool round, float *out)
{
    switch (strand) {
    case COV_STRAND_PLUS:
        for (size_t i = 0; i < n; i++)
            out[i] = round ? rounded(plus[i]) : plus[i];
        break;
    case COV_STRAND_MINUS:
        for (size_t i = 0; i < n; i++)
            out[i] = round ? rounded(minus[n - 1 - i]) : minus[n - 1 - i];
        break;
    case COV_STRAND_AVG:
        if (round && average_small(plus, minus, n, out))
            break;
        for (size_t i = 0; i < n; i++) {
            float p = plus[i], m = minus[n - 1 - i];
            if (round) {
                p = rounded(p);
                m = rounded(m);
            }
            double mean = ((double)p + (double)m) * 0.5;
            out[i] = (float)(round ? cov_round_half_even(mean) : mean);
        }
        break;
    }
}

/* ---- the pipe ---- */

int cov_value_pipe_init(struct cov_value_pipe *p, const struct cov_value_rules *rules, bool round,
                        struct cov_track_sink *sink, struct cov_err *e)
{
    p->sink = sink;
    p->round = round;
    p->rules = rules;
    p->scale = rules->scale;
    return cov_smoother_init(&p->smoother, &rules->smoothing, round && !rules->unrounded, e);
}

void cov_value_pipe_fini(struct cov_value_pipe *p)
{
    cov_smoother_fini(&p->smoother);
}

/* ---- intervals ---- */

static int flush(struct cov_value_pipe *p, struct cov_err *e)
{
    size_t n = p->n;
    p->n = 0;
    return cov_track_add(p->sink, p->iv, n, e);
}

static int put(struct cov_value_pipe *p, int64_t beg, int64_t end, float value, struct cov_err *e)
{
    if (beg >= end)
        return COV_OK;
    p->iv[p->n++] = (struct cov_interval){beg, end, value};
    return p->n == COV_VALUE_PIPE_BLOCK ? flush(p, e) : COV_OK;
}

/* Passes on the parts of an interval that are outside the regions. */
static int put_outside(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    int64_t beg = iv->beg;
    while (p->region < p->n_regions && p->regions[p->region].beg < iv->end) {
        const struct cov_region *region = &p->regions[p->region];
        int rc = put(p, beg, region->beg, iv->value, e);
        if (rc)
            return rc;
        if (region->end > beg)
            beg = region->end;
        if (region->end >= iv->end)
            break; /* the region may reach into the next interval */
        p->region++;
    }
    return put(p, beg, iv->end, iv->value, e);
}

static int filter_one(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    const struct cov_value_rules *rules = p->rules;
    if ((rules->skip_zero && iv->value == 0) ||
        (rules->has_min && (double)iv->value < rules->min_value))
        return COV_OK;
    return put_outside(p, iv, e);
}

/* ---- other tracks ---- */

static int end_bins(struct cov_value_pipe *p, struct cov_err *e)
{
    int rc = p->bins.end > p->bins.beg ? filter_one(p, &p->bins, e) : COV_OK;
    p->bins = (struct cov_interval){0};
    return rc;
}

/* Joins an interval to the last one if it continues it. */
static int join(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    if (p->bins.end == iv->beg && p->bins.value == iv->value && p->bins.end > 0) {
        p->bins.end = iv->end;
        return COV_OK;
    }
    int rc = end_bins(p, e);
    p->bins = *iv;
    return rc;
}

/* Moves to the first interval that ends after the base `at`; n_iv = 0: there is none. */
static int seek_operand(struct cov_operand *o, int64_t at, struct cov_err *e)
{
    int rc = 1;
    while (rc > 0 && (o->n_iv == 0 || o->iv->end <= at))
        if (o->n_iv > 1) {
            o->n_iv--;
            o->iv++;
        } else {
            rc = cov_interval_cursor_next(&o->cursor, &o->iv, &o->n_iv, e);
        }
    return rc < 0 ? rc : COV_OK;
}

/* Adds a result, where the values of the other tracks sum up to y. */
static int operate(struct cov_value_pipe *p, struct cov_interval *iv, double y, struct cov_err *e)
{
    const struct cov_operands *o = p->operands;
    const enum cov_operation operation = p->rules->operation;
    const double x = (double)(float)((double)iv->value * o->factor), pseudo = p->rules->pseudocount;
    double value = x - y;
    if (operation == COV_OP_MEAN)
        value = (x + y) / (double)(o->n + 1);
    else if (operation == COV_OP_LOG2 && x + pseudo > 0 && y + pseudo > 0)
        value = log2((x + pseudo) / (y + pseudo));
    else if (operation == COV_OP_LOG2)
        return cov_fail(e, COV_EINPUT,
                        "%s: %s:%" PRId64 ": no logarithm of (%.9g + %.9g) / (%.9g + %.9g)",
                        p->sink->name, p->sink->contig_name, iv->beg + 1, x, pseudo, y, pseudo);
    iv->value = (float)value + 0.0F; /* -0 becomes 0 */
    return join(p, iv, e);
}

/* Combines an interval with the other tracks. */
static int combine(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    const struct cov_operands *all = p->operands;
    int rc = COV_OK;
    struct cov_interval part;
    for (int64_t at = iv->beg; !rc && at < iv->end; at = part.end) {
        bool has_values = true;
        double y = 0;
        part = (struct cov_interval){at, iv->end, iv->value};
        for (size_t k = 0; !rc && k < all->n; k++) {
            struct cov_operand *o = &all->items[k];
            rc = o->found ? seek_operand(o, at, e) : COV_OK;
            const bool has_value = o->n_iv > 0 && o->iv->beg <= at;
            const int64_t end = has_value ? o->iv->end : o->n_iv > 0 ? o->iv->beg : iv->end;
            part.end = end < part.end ? end : part.end;
            y += has_value ? (double)(float)((double)o->iv->value * o->factor) : 0;
            has_values = has_values && has_value;
        }
        if (!rc && has_values)
            rc = operate(p, &part, y, e);
    }
    return rc;
}

static void begin_operands(const struct cov_value_pipe *p)
{
    for (size_t k = 0; p->operands && k < p->operands->n; k++) {
        struct cov_operand *o = &p->operands->items[k];
        size_t contig;
        o->n_iv = 0;
        o->found =
            cov_track_find_contig(cov_interval_store_sink(o->store), p->sink->contig_name, &contig);
        if (o->found)
            cov_interval_cursor_begin(&o->cursor, o->store, contig);
    }
}

/* ---- filter ---- */

/* Combines and filters a block of intervals. */
static int filter(struct cov_value_pipe *p, const struct cov_interval *iv, size_t n,
                  struct cov_err *e)
{
    const struct cov_value_rules *rules = p->rules;
    if (!p->operands && !rules->skip_zero && !rules->has_min && p->n_regions == 0)
        return cov_track_add(p->sink, iv, n, e);
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = p->operands ? combine(p, &iv[i], e) : filter_one(p, &iv[i], e);
    return rc;
}

/* ---- bins ---- */

static int end_bin(struct cov_value_pipe *p, struct cov_err *e)
{
    if (p->bin_bases == 0)
        return COV_OK;
    p->bin.value = (float)(p->bin_sum / (double)p->bin_bases);
    int rc = p->operands ? combine(p, &p->bin, e) : join(p, &p->bin, e);
    p->bin_sum = 0;
    p->bin_bases = 0;
    return rc;
}

/* Distributes a block of intervals to bins. */
static int take_bins(struct cov_value_pipe *p, const struct cov_interval *iv, size_t n,
                     struct cov_err *e)
{
    const int64_t width = p->rules->bin;
    for (size_t i = 0; i < n; i++)
        for (int64_t at = iv[i].beg; at < iv[i].end;) {
            int64_t number = at / width, left = width - at % width;
            int64_t stop = iv[i].end - at < left ? iv[i].end : at + left;
            int rc = number != p->bin_number ? end_bin(p, e) : COV_OK;
            if (rc)
                return rc;
            if (p->bin_bases == 0)
                p->bin.beg = at;
            p->bin_number = number;
            p->bin_sum += (double)iv[i].value * (double)(stop - at);
            p->bin_bases += stop - at;
            p->bin.end = at = stop;
        }
    return COV_OK;
}

/* ---- runs ---- */

static int flush_runs(struct cov_value_pipe *p, struct cov_err *e)
{
    size_t n = p->n_runs;
    p->n_runs = 0;
    if (n == 0)
        return COV_OK;
    return p->rules->bin > 1 ? take_bins(p, p->runs, n, e) : filter(p, p->runs, n, e);
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

/* Adds the next n values. Runs continue across calls, so the result does not depend on how the
 * values are split. */
static int add_to_runs(struct cov_value_pipe *p, const float *values, size_t n, struct cov_err *e)
{
    if (n == 0)
        return COV_OK;
    if (p->run.beg < 0)
        p->run = (struct cov_interval){.beg = p->run_end, .value = values[0]};
    struct cov_interval open = p->run;
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
                open.end = p->run_end + (int64_t)(beg + i);
                p->runs[p->n_runs++] = open;
                open.beg = open.end;
                open.value = values[beg + i];
                if (p->n_runs == COV_VALUE_PIPE_RUNS) {
                    int rc = flush_runs(p, e);
                    if (rc)
                        return rc;
                }
            }
        }
    }
    p->run = open;
    p->run_end += (int64_t)n;
    return COV_OK;
}

static void close_run(struct cov_value_pipe *p)
{
    if (p->run.beg >= 0) {
        p->run.end = p->run_end;
        p->runs[p->n_runs++] = p->run; /* there is room: a full block is passed on at once */
        p->run.beg = -1;
    }
}

/* Adds n > 0 bases with the same value. */
static int repeat_in_runs(struct cov_value_pipe *p, float value, int64_t n, struct cov_err *e)
{
    bool continues = p->run.beg >= 0 && p->run.value == value;
    if (!continues) {
        close_run(p);
        p->run = (struct cov_interval){.beg = p->run_end, .value = value};
    }
    p->run_end += n;
    return p->n_runs == COV_VALUE_PIPE_RUNS ? flush_runs(p, e) : COV_OK;
}

/* Skips n > 0 bases without a value; the next value starts a new run. */
static int skip_in_runs(struct cov_value_pipe *p, int64_t n, struct cov_err *e)
{
    close_run(p);
    p->run_end += n;
    return p->n_runs == COV_VALUE_PIPE_RUNS ? flush_runs(p, e) : COV_OK;
}

static int end_runs(struct cov_value_pipe *p, struct cov_err *e)
{
    close_run(p);
    return flush_runs(p, e);
}

/* ---- values ---- */

void cov_value_pipe_begin(struct cov_value_pipe *p, const struct cov_region *regions,
                          size_t n_regions)
{
    p->at = 0;
    p->regions = regions;
    p->n_regions = n_regions;
    p->region = 0;
    p->n = 0;
    p->bin_number = p->bin_bases = 0;
    p->bin_sum = 0;
    p->bins = (struct cov_interval){0};
    p->run_end = 0;
    p->run = (struct cov_interval){.beg = -1};
    p->n_runs = 0;
    if (p->smoother.smooths)
        cov_smoother_begin(&p->smoother);
    begin_operands(p);
}

static float scaled(const struct cov_value_pipe *p, float x)
{
    return (float)((double)x * p->scale) + 0.0F; /* -0 becomes 0 */
}

static int add_smoothed(struct cov_value_pipe *p, float *x, size_t n, struct cov_err *e)
{
    if (p->scale != 1)
        for (size_t i = 0; i < n; i++)
            x[i] = scaled(p, x[i]);
    return add_to_runs(p, x, n, e);
}

/* Drains the smoother at the end of a contig or before a gap. */
static int end_window(struct cov_value_pipe *p, struct cov_err *e)
{
    size_t n;
    while (p->smoother.smooths &&
           (n = cov_smoother_end(&p->smoother, p->room, COV_VALUE_PIPE_ROOM)) > 0) {
        int rc = add_smoothed(p, p->room, n, e);
        if (rc)
            return rc;
    }
    if (p->smoother.smooths)
        cov_smoother_begin(&p->smoother);
    return COV_OK;
}

/* Advances to beg + n; bases before `beg` are a gap. */
static int advance(struct cov_value_pipe *p, int64_t beg, int64_t n, struct cov_err *e)
{
    int rc = COV_OK;
    if (beg > p->at) {
        rc = end_window(p, e);
        if (!rc)
            rc = skip_in_runs(p, beg - p->at, e);
    }
    p->at = beg + n;
    return rc;
}

int cov_value_pipe_add(struct cov_value_pipe *p, int64_t beg, float *x, size_t n, struct cov_err *e)
{
    int rc = advance(p, beg, (int64_t)n, e);
    if (rc)
        return rc;
    if (p->smoother.smooths)
        n = cov_smoother_add(&p->smoother, x, n, x);
    return add_smoothed(p, x, n, e);
}

/* Adds the bases of an interval one by one, for smoothing. */
static int add_bases(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    for (int64_t at = iv->beg; at < iv->end;) {
        float x[COV_VALUE_PIPE_ROOM];
        int64_t left = iv->end - at;
        size_t n = left < COV_VALUE_PIPE_ROOM ? (size_t)left : COV_VALUE_PIPE_ROOM;
        for (size_t i = 0; i < n; i++)
            x[i] = iv->value;
        int rc = cov_value_pipe_add(p, at, x, n, e);
        if (rc)
            return rc;
        at += (int64_t)n;
    }
    return COV_OK;
}

int cov_value_pipe_add_intervals(struct cov_value_pipe *p, const struct cov_interval *iv, size_t n,
                                 struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        int64_t bases = iv[i].end - iv[i].beg;
        if (p->smoother.smooths) {
            rc = add_bases(p, &iv[i], e);
            continue;
        }
        rc = advance(p, iv[i].beg, bases, e);
        if (!rc)
            rc = repeat_in_runs(p, scaled(p, iv[i].value), bases, e);
    }
    return rc;
}

int cov_value_pipe_end(struct cov_value_pipe *p, struct cov_err *e)
{
    int rc = end_window(p, e);
    if (!rc)
        rc = end_runs(p, e);
    if (!rc)
        rc = end_bin(p, e);
    if (!rc)
        rc = end_bins(p, e);
    return rc ? rc : flush(p, e);
}
