/* attribution.c - see attribution.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/job/effect/alleles.h"
#include "common/seq/alphabet.h"
#include "common/seq/regions.h"

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
                            const struct cov_attributed_region *region,
                            const struct cov_version *predicted, double *y, struct cov_err *e)
{
    const size_t D = o->model->n_datasets;
    double sum = 0;
    for (size_t i = region->sum_beg; i < region->sum_end && i < predicted->n_bases; i++)
        sum += (double)predicted->values[i * D + o->target];
    if (!(sum > 0) || !isfinite(sum))
        return cov_fail(e, COV_EINPUT, "%.100s:%" PRId64 "-%" PRId64 ": the predicted sum is %g",
                        o->genome->names[region->seq], region->beg + 1, region->end, sum);
    *y = log(sum);
    return COV_OK;
}

void cov_attribution_add_up(const struct cov_attribution *a, size_t r, int64_t beg, size_t n,
                            double *sums, uint32_t *counts)
{
    const struct cov_attributed_region *region = &a->regions[r];
    const int64_t end = beg + (int64_t)n;
    const int64_t from = beg > region->beg ? beg : region->beg;
    const int64_t to = end < region->end ? end : region->end;
    for (int64_t at = from; at < to; at++) {
        const size_t i = (size_t)(at - region->beg);
        if (cov_attribution_column(a->codes[r * a->length + i]) < 0)
            continue;
        sums[at - beg] += (double)cov_attribution_of_base(a, r, i);
        counts[at - beg]++;
    }
}

/* ---------------------------------------------------------------- regions */

struct region_reader {
    struct cov_attribution *a;
    const struct cov_attribution_options *o;
    struct cov_effect_genome genome;
    size_t cap;
};

/* Returns the sequences of the genome, for a message. */
static struct cov_listing list_sequences(const struct region_reader *r)
{
    struct cov_listing names = {.text = ""};
    for (size_t i = 0; i < r->o->genome->n_seqs; i++)
        cov_listing_add(&names, r->o->genome->names[i]);
    return names;
}

/* Returns x, or 0 or `most` if it is outside of them; 0 if most < 0. */
static int64_t clip(int64_t x, int64_t most)
{
    x = x < most ? x : most;
    return x > 0 ? x : 0;
}

/* Adds the region [beg, end) of a sequence, with its window and its summed positions. Messages begin
 * with the fault. */
static int add_region(struct region_reader *r, size_t seq, int64_t beg, int64_t end,
                      const char *name, struct cov_err *e)
{
    const struct cov_attribution_options *o = r->o;
    const int64_t L = (int64_t)o->window, length = o->genome->lengths[seq];
    end = end < length ? end : length;
    const int64_t n = o->length ? o->length : end - beg;
    if (beg >= length)
        return cov_fail(e, COV_EINPUT,
                        "begins past the end of the sequence, which has %" PRId64 " bases", length);
    if (n > length)
        return cov_fail(e, COV_EINPUT, "the sequence has %" PRId64 " bases, fewer than --length",
                        length);
    if (n > L)
        return cov_fail(e, COV_EINPUT,
                        "has %" PRId64 " bases, more than --window; use --length or a larger "
                        "--window",
                        n);
    if (n < o->deletion)
        return cov_fail(e, COV_EINPUT, "has %" PRId64 " bases, fewer than --deletions", n);
    if (r->a->n > 0 && (size_t)n != r->a->length)
        return cov_fail(e, COV_EINPUT,
                        "has %" PRId64 " bases, but the first region has %zu; use --length", n,
                        r->a->length);
    int rc = COV_RESERVE(&r->a->regions, &r->cap, r->a->n + 1, e);
    if (rc)
        return rc;
    struct cov_attributed_region *region = &r->a->regions[r->a->n++];
    *region = (struct cov_attributed_region){.seq = seq, .name = name};
    r->a->length = (size_t)n;
    region->beg = clip(beg + (end - beg) / 2 - n / 2, length - n);
    region->end = region->beg + n;
    const int64_t middle = region->beg + n / 2;
    region->window = clip(middle - L / 2, length - L);
    const int64_t left = length - region->window, needed = L + o->deletion;
    region->n_codes = (size_t)(left < needed ? left : needed);
    const int64_t from = middle - o->width / 2 - region->window, to = from + o->width;
    region->sum_beg = (size_t)(from < 0 ? 0 : from);
    region->sum_end = (size_t)(to > L ? L : to);
    return COV_OK;
}

static int add_text(struct region_reader *r, const char *text, struct cov_err *e)
{
    struct cov_range range;
    size_t seq;
    int rc = cov_range_parse(text, &range, e);
    if (rc)
        return rc;
    if (cov_names_find(r->genome.names, text, strlen(text), &seq)) {
        range.beg = 0;
        range.end = INT64_MAX;
    } else if (range.n_name == 0 ||
               !cov_names_find(r->genome.names, range.name, range.n_name, &seq)) {
        const struct cov_listing names = list_sequences(r);
        return cov_range_fail_unknown(&range, r->o->genome_path, &names, e);
    }
    if (range.beg >= r->o->genome->lengths[seq])
        return cov_range_fail_beyond(&range, r->o->genome->lengths[seq], r->o->genome_path, e);
    rc = add_region(r, seq, range.beg, range.end, "", e);
    return rc ? cov_err_prefix(e, "region %.100s", text) : COV_OK;
}

static int compare_lines(const void *a, const void *b)
{
    const struct cov_feature *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int add_bed(struct region_reader *r, struct cov_err *e)
{
    struct cov_annotation *bed = &r->a->bed;
    size_t n_past = 0, first = 0;
    int rc = cov_annotation_read(r->o->bed, NULL, bed, e);
    if (!rc)
        qsort(bed->items, bed->n, sizeof *bed->items, compare_lines);
    for (size_t i = 0; !rc && i < bed->n; i++) {
        const struct cov_feature *f = &bed->items[i];
        size_t n, seq;
        const char *name = cov_names_get(bed->contigs, f->contig, &n);
        if (cov_names_find(r->genome.names, name, n, &seq)) {
            if (f->end > r->o->genome->lengths[seq] && n_past++ == 0)
                first = f->line;
            rc = add_region(r, seq, f->beg, f->end, cov_annotation_name(bed, i), e);
        } else {
            const struct cov_listing names = list_sequences(r);
            rc = cov_fail(e, COV_EINPUT,
                          "%s does not have the sequence '%.100s'; it has %s%s; --rename changes "
                          "its names",
                          r->o->genome_path, name, names.text, cov_listing_more(&names));
        }
        if (rc)
            rc = cov_err_prefix(e, "%s:%" PRIu32, r->o->bed, f->line);
    }
    if (!rc && n_past > 0)
        cov_warn("%s:%zu: the region extends past the end of its sequence (%zu such line%s); check "
                 "that it is for "
                 "this genome",
                 r->o->bed, first, n_past, cov_text_s((int64_t)n_past));
    return rc;
}

/* Reads the bases of all regions, which have scores of 0. */
static int read_bases(struct cov_attribution *a, const struct cov_genome *g, struct cov_err *e)
{
    size_t n;
    int rc = COV_OK;
    if (cov_size_mul(a->n, a->length, &n) || cov_size_mul(n, 4, &n))
        return cov_fail(e, COV_ENOMEM, "%zu regions of %zu bases are too many", a->n, a->length);
    a->codes = cov_malloc(n / 4, 1, e);
    a->scores = cov_calloc(n, sizeof *a->scores, e);
    if (!a->codes || !a->scores)
        return COV_ENOMEM;
    for (size_t i = 0; !rc && i < a->n; i++)
        rc = cov_genome_codes(g, a->regions[i].seq, a->regions[i].beg, a->regions[i].end,
                              a->codes + i * a->length, e);
    return rc;
}

int cov_attribution_init(struct cov_attribution *a, const struct cov_attribution_options *o,
                         struct cov_err *e)
{
    struct region_reader r = {.a = a, .o = o};
    *a = (struct cov_attribution){0};
    int rc = cov_effect_genome_init(&r.genome, o->genome, e);
    for (size_t i = 0; !rc && i < o->regions.n;) {
        char *text = cov_region_text((const char *const *)o->regions.items, o->regions.n, &i,
                                     r.genome.names, e);
        rc = text ? add_text(&r, text, e) : COV_ENOMEM;
        free(text);
    }
    if (!rc && o->bed)
        rc = add_bed(&r, e);
    if (!rc)
        rc = read_bases(a, o->genome, e);
    cov_effect_genome_fini(&r.genome);
    return rc;
}

void cov_attribution_fini(struct cov_attribution *a)
{
    free(a->regions);
    free(a->codes);
    free(a->scores);
    cov_annotation_fini(&a->bed);
    *a = (struct cov_attribution){0};
}
