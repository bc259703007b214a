/* attribution_plot.c - see attribution_plot.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/plot/region_plot.h"
#include "common/seq/select.h"

/* Letters of 8 pixels or more can be read. */
enum { MOST_BASES = COV_PLOT_BINS, LETTER = 8, ROW_BASES = COV_PLOT_BINS / LETTER };
enum { MOST_ROWS = (MOST_BASES + ROW_BASES - 1) / ROW_BASES };

/* Returns true if region r has bases of the place. */
static bool overlaps(const struct cov_attribution *a, size_t r, const struct cov_region *place)
{
    const struct cov_attributed_region *region = &a->regions[r];
    return region->seq == place->contig && region->beg < place->end && place->beg < region->end;
}

static int find_place(const struct cov_genome *g, const char *text, struct cov_region *out,
                      struct cov_err *e)
{
    struct cov_range range;
    struct cov_listing names = {.text = ""};
    int rc = cov_range_parse(text, &range, e);
    for (size_t i = 0; !rc && i < g->n_seqs; i++) {
        cov_listing_add(&names, g->names[i]);
        if (!cov_range_means(&range, g->names[i], &out->beg, &out->end))
            continue;
        out->contig = i;
        out->end = out->end < g->lengths[i] ? out->end : g->lengths[i];
        return out->beg < out->end
                   ? COV_OK
                   : cov_range_fail_beyond(&range, g->lengths[i], "--plot-region", e);
    }
    return rc ? rc : cov_range_fail_unknown(&range, "--plot-region", &names, e);
}

int cov_attribution_plot_find(const struct cov_attribution *a, const struct cov_genome *genome,
                              const char *text, struct cov_region *out, struct cov_err *e)
{
    *out = (struct cov_region){a->regions[0].seq, a->regions[0].beg, a->regions[0].end};
    int rc = text ? find_place(genome, text, out, e) : COV_OK;
    if (rc)
        return rc;
    const int64_t n = out->end - out->beg;
    if (n > MOST_BASES)
        return cov_fail(e, COV_EINPUT,
                        "--plot-region: %s has %" PRId64 " bases, too many for letters; at most %d",
                        text ? text : "the first region", n, (int)MOST_BASES);
    for (size_t r = 0; r < a->n; r++)
        if (overlaps(a, r, out))
            return COV_OK;
    return cov_fail(e, COV_EINPUT, "--plot-region: %s is in none of the regions", text);
}

int cov_attribution_plot_draw(const struct cov_attribution *a, const struct cov_genome *genome,
                              const struct cov_region *place, const char *heading,
                              const struct cov_picture *picture, struct cov_err *e)
{
    const size_t n = (size_t)(place->end - place->beg);
    double sums[MOST_BASES] = {0};
    uint32_t counts[MOST_BASES] = {0};
    uint8_t codes[MOST_BASES];
    char letters[MOST_BASES];
    struct cov_plot_row rows[MOST_ROWS];
    const size_t n_rows = (n + ROW_BASES - 1) / ROW_BASES, most = (n + n_rows - 1) / n_rows;
    const struct cov_region_plot plot = {.rows = rows,
                                         .n_rows = n_rows,
                                         .is_wrapped = n_rows > 1,
                                         .note = "; the height of a letter is its score"};
    int rc = cov_genome_codes(genome, place->contig, place->beg, place->end, codes, e);
    for (size_t r = 0; r < a->n; r++)
        if (overlaps(a, r, place))
            cov_attribution_add_up(a, r, place->beg, n, sums, counts);
    for (size_t i = 0; !rc && i < n; i++) {
        const int column = cov_attribution_column(codes[i]);
        letters[i] = column < 0 ? 'N' : "ACGT"[column];
        sums[i] = counts[i] > 0 ? sums[i] / counts[i] : (double)NAN;
    }
    double least = 0, highest = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const size_t beg = i * most, end = beg + most < n ? beg + most : n;
        rows[i] =
            (struct cov_plot_row){.heading = i == 0 ? heading : NULL,
                                  .bins = {genome->names[place->contig], place->beg + (int64_t)beg,
                                           place->beg + (int64_t)end, 1, end - beg, sums + beg},
                                  .letters = letters + beg};
        cov_plot_extend(&rows[i].bins, &least, &highest);
    }
    for (size_t i = 0; i < n_rows; i++) {
        rows[i].least = least;
        rows[i].most = least == highest ? 1 : highest;
    }
    return rc ? rc : cov_region_plot_draw(&plot, picture, e);
}
