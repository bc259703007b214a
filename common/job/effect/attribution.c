/* attribution.c - see attribution.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/features/annotation.h"
#include "common/job/effect/effect_plan.h"
#include "common/seq/alphabet.h"

int cov_attribution_column(uint8_t code)
{
    switch (code) {
    case COV_CODE_A:
        return 0;
    case COV_CODE_C:
        return 1;
    case COV_CODE_G:
        return 2;
    case COV_CODE_T:
        return 3;
    default:
        return -1;
    }
}

float cov_attribution_of_base(const struct cov_attribution *a, size_t r, size_t i)
{
    const int column = cov_attribution_column(a->codes[r * a->length + i]);
    return column < 0 ? 0.0F : a->scores[(r * 4 + (size_t)column) * a->length + i];
}

int cov_attribution_measure(const struct cov_attribution_options *o,
                            const struct cov_attributed_region *region, const float *values,
                            size_t n_bases, double *y, struct cov_err *e)
{
    const size_t D = o->model->n_datasets;
    double sum = 0;
    for (size_t i = region->sum_beg; i < region->sum_end && i < n_bases; i++)
        sum += (double)values[i * D + o->target];
    if (!(sum > 0) || !isfinite(sum))
        return cov_fail(e, COV_EINPUT, "%.100s:%" PRId64 "-%" PRId64 ": the predicted sum is %g",
                        o->genome->names[region->seq], region->beg + 1, region->end, sum);
    *y = log(sum);
    return COV_OK;
}

/* ---------------------------------------------------------------- regions */

static int compare_lines(const void *a, const void *b)
{
    const struct cov_feature *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Places the window and the summed positions of a region. */
static int place_region(struct cov_attributed_region *region,
                        const struct cov_attribution_options *o, const struct cov_feature *f,
                        struct cov_err *e)
{
    const int64_t L = (int64_t)o->window, length = o->genome->lengths[region->seq];
    const int64_t middle = f->beg + (f->end - f->beg) / 2;
    const int64_t n = o->length ? o->length : f->end - f->beg;
    if (middle >= length)
        return cov_fail(e, COV_EINPUT,
                        "%s:%" PRIu32 ": the middle of the region is not in its sequence, which "
                        "has %" PRId64 " bases",
                        o->regions, f->line, length);
    if (n < 1)
        return cov_fail(e, COV_EINPUT, "%s:%" PRIu32 ": the region is empty; use --length",
                        o->regions, f->line);
    if (n > L)
        return cov_fail(e, COV_EUSAGE,
                        "%s:%" PRIu32 ": the region has %" PRId64 " bases, but --window has %zu; "
                        "use --length or a larger --window",
                        o->regions, f->line, n, o->window);
    if (n < o->deletion)
        return cov_fail(e, COV_EUSAGE,
                        "%s:%" PRIu32 ": the region has %" PRId64 " bases, fewer than --deletions",
                        o->regions, f->line, n);
    region->beg = middle - n / 2;
    region->end = region->beg + n;
    const int64_t last = length > L ? length - L : 0, beg = middle - L / 2;
    region->window = beg < 0 ? 0 : beg > last ? last : beg;
    const int64_t left = length - region->window, needed = L + o->deletion;
    region->n_codes = (size_t)(left < needed ? left : needed);
    const int64_t from = middle - o->width / 2 - region->window, to = from + o->width;
    region->sum_beg = (size_t)(from < 0 ? 0 : from);
    region->sum_end = (size_t)(to > L ? L : to);
    return COV_OK;
}

/* Reads the bases of a region. */
static int read_codes(const struct cov_genome *g, const struct cov_attributed_region *region,
                      uint8_t *codes, struct cov_err *e)
{
    const int64_t length = g->lengths[region->seq];
    const int64_t beg = region->beg < 0 ? 0 : region->beg;
    const int64_t end = region->end > length ? length : region->end;
    memset(codes, COV_CODE_PAD, (size_t)(region->end - region->beg));
    return cov_genome_codes(g, region->seq, beg, end, codes + (beg - region->beg), e);
}

static int fail_unknown(const struct cov_attribution_options *o, const char *name, uint32_t line,
                        struct cov_err *e)
{
    struct cov_listing names = {.text = ""};
    for (size_t i = 0; i < o->genome->n_seqs; i++)
        cov_listing_add(&names, o->genome->names[i]);
    return cov_fail(e, COV_EINPUT,
                    "%s:%" PRIu32 ": %s does not have the sequence '%.100s'; it has %s%s; --rename "
                    "changes its names",
                    o->regions, line, o->genome_path, name, names.text, cov_listing_more(&names));
}

static int add_regions(struct cov_attribution *a, const struct cov_attribution_options *o,
                       const struct cov_annotation *bed, const struct cov_names *names,
                       struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < bed->n; i++) {
        const struct cov_feature *f = &bed->items[i];
        struct cov_attributed_region *region = &a->regions[i];
        size_t n;
        const char *name = cov_names_get(bed->contigs, f->contig, &n);
        if (!cov_names_find(names, name, n, &region->seq))
            return fail_unknown(o, name, f->line, e);
        rc = place_region(region, o, f, e);
        const size_t length = rc ? 0 : (size_t)(region->end - region->beg);
        if (!rc && i == 0)
            a->length = length;
        if (!rc && length != a->length)
            rc =
                cov_fail(e, COV_EINPUT,
                         "%s:%" PRIu32 ": the region has %zu bases, but the first one has %zu; use "
                         "--length",
                         o->regions, f->line, length, a->length);
    }
    return rc;
}

static int allocate(struct cov_attribution *a, struct cov_err *e)
{
    size_t n;
    if (cov_size_mul(a->n, a->length, &n) || cov_size_mul(n, 4, &n))
        return cov_fail(e, COV_ENOMEM, "%zu regions of %zu bases are too many", a->n, a->length);
    a->codes = cov_malloc(n / 4, 1, e);
    a->scores = cov_calloc(n, sizeof *a->scores, e);
    return a->codes && a->scores ? COV_OK : COV_ENOMEM;
}

int cov_attribution_init(struct cov_attribution *a, const struct cov_attribution_options *o,
                         struct cov_err *e)
{
    struct cov_annotation bed = {0};
    struct cov_effect_genome genome = {0};
    *a = (struct cov_attribution){0};
    int rc = cov_annotation_read(o->regions, NULL, &bed, e);
    if (!rc)
        rc = cov_effect_genome_init(&genome, o->genome, e);
    if (!rc) {
        qsort(bed.items, bed.n, sizeof *bed.items, compare_lines);
        a->n = bed.n;
        a->regions = cov_calloc(a->n, sizeof *a->regions, e);
        rc = a->regions ? add_regions(a, o, &bed, genome.names, e) : COV_ENOMEM;
    }
    if (!rc)
        rc = allocate(a, e);
    for (size_t i = 0; !rc && i < a->n; i++)
        rc = read_codes(o->genome, &a->regions[i], a->codes + i * a->length, e);
    cov_effect_genome_fini(&genome);
    cov_annotation_fini(&bed);
    return rc;
}

void cov_attribution_fini(struct cov_attribution *a)
{
    free(a->regions);
    free(a->codes);
    free(a->scores);
    *a = (struct cov_attribution){0};
}
