/* feature_lane.c - see feature_lane.h.
 *
 * In gnuplot's data, a row is ROW_PIXELS high and numbered downwards: the y of its boxes is between
 * -row - 1 and -row.
 * SPDX-License-Identifier: MIT */
#include "common/plot/feature_lane.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plot/gnuplot.h"

/* Pixels. */
enum {
    ROW_PIXELS = 32,
    FLAT_PIXELS = 12,
    GAP = 14,      /* at least, between features of a row */
    APART = 44,    /* between arrows */
    ARROW = 4,     /* length of an arrow, and half of its height */
    MOST_ROWS = 12 /* more features are left out */
};

/* Within a row, from its bottom; names are above the boxes. */
static const double BOX_LOW = 0.06, BOX_HIGH = 0.44, NAME_AT = 0.70;

static const char colour[] = "#3d4f66";

/* ---------------------------------------------------------------- filling */

static double bases_per_pixel(const struct cov_feature_lane *lane,
                              const struct cov_lane_scale *scale)
{
    return (double)(lane->end - lane->beg) / scale->width;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int add_box(struct cov_feature_lane *lane, int64_t beg, int64_t end, size_t row,
                   struct cov_err *e)
{
    int rc = COV_RESERVE(&lane->boxes, &lane->cap_boxes, lane->n_boxes + 1, e);
    if (!rc)
        lane->boxes[lane->n_boxes++] =
            (struct cov_lane_box){max64(beg, lane->beg), min64(end, lane->end), row};
    return rc;
}

/* Returns the shortest feature of the strand that contains a part without a parent, the first of
 * several. `longest`: the length of the longest feature. */
static size_t find_owner(const struct cov_annotation *a, size_t part, int64_t longest)
{
    const struct cov_feature *p = &a->items[part];
    size_t i = part, owner = SIZE_MAX;
    int64_t length = INT64_MAX;
    while (i + 1 < a->n && a->items[i + 1].contig == p->contig && a->items[i + 1].beg == p->beg)
        i++;
    for (i++;
         i-- > 0 && a->items[i].contig == p->contig && a->items[i].beg > p->end - longest - 1;) {
        const struct cov_feature *f = &a->items[i];
        if (f->type == 0 && f->strand == p->strand && f->beg <= p->beg && f->end >= p->end &&
            f->end - f->beg <= length) {
            owner = i;
            length = f->end - f->beg;
        }
    }
    return owner;
}

/* `part` starts in the feature `of`. */
static bool is_part(const struct cov_annotation *a, size_t part, size_t of, int64_t longest)
{
    const struct cov_feature *p = &a->items[part], *f = &a->items[of];
    if (p->type == 0 || p->end > f->end)
        return false;
    return p->family == COV_FAMILY_UNKNOWN ? find_owner(a, part, longest) == of
                                           : p->family == f->family;
}

/* Adds the boxes of the feature `of`: its parts, or the whole. */
static int add_boxes(struct cov_feature_lane *lane, const struct cov_annotation *a, size_t of,
                     size_t row, struct cov_err *e)
{
    const struct cov_feature *f = &a->items[of];
    bool has_parts = false;
    int rc = COV_OK;
    /* The parts start in the feature, so that they follow it or share its start. */
    size_t i = of;
    while (i > 0 && a->items[i - 1].contig == f->contig && a->items[i - 1].beg == f->beg)
        i--;
    for (; !rc && i < a->n && a->items[i].contig == f->contig && a->items[i].beg < f->end; i++) {
        const struct cov_feature *part = &a->items[i];
        if (!is_part(a, i, of, lane->longest))
            continue;
        has_parts = true;
        if (part->end > lane->beg && part->beg < lane->end)
            rc = add_box(lane, part->beg, part->end, row, e);
    }
    return rc || has_parts ? rc : add_box(lane, f->beg, f->end, row, e);
}

/* Returns the first row that is free at `beg`, up to `end`; MOST_ROWS if there is none. */
static size_t find_row(int64_t ends[MOST_ROWS], int64_t beg, int64_t end)
{
    size_t row = 0;
    while (row < MOST_ROWS && ends[row] > beg)
        row++;
    if (row < MOST_ROWS)
        ends[row] = end;
    return row;
}

static int add_feature(struct cov_feature_lane *lane, const struct cov_annotation *a, size_t number,
                       const struct cov_lane_feature *g, struct cov_err *e)
{
    if (g->row == MOST_ROWS) {
        lane->n_left_out++;
        return COV_OK;
    }
    lane->n_rows = g->row >= lane->n_rows ? g->row + 1 : lane->n_rows;
    if (lane->is_flat)
        return add_box(lane, g->beg, g->end, 0, e);
    if (COV_RESERVE(&lane->features, &lane->cap, lane->n + 1, e))
        return COV_ENOMEM;
    lane->features[lane->n++] = *g;
    return add_boxes(lane, a, number, g->row, e);
}

int cov_feature_lane_fill(struct cov_feature_lane *lane, const struct cov_annotation *a,
                          size_t contig, const int64_t region[2],
                          const struct cov_lane_scale *scale, struct cov_err *e)
{
    int64_t ends[MOST_ROWS] = {0};
    int rc = COV_OK;
    lane->beg = region[0];
    lane->end = region[1];
    lane->n_rows = 1;
    const double pixel = bases_per_pixel(lane, scale);
    const int64_t gap = (int64_t)(GAP * pixel) + 1;
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].type == 0)
            lane->longest = max64(lane->longest, a->items[i].end - a->items[i].beg);
    for (size_t i = 0; !rc && i < a->n; i++) {
        const struct cov_feature *f = &a->items[i];
        if (f->contig != contig || f->type != 0 || f->end <= lane->beg || f->beg >= lane->end)
            continue;
        struct cov_lane_feature g = {.beg = max64(f->beg, lane->beg),
                                     .end = min64(f->end, lane->end),
                                     .name = cov_annotation_name(a, i),
                                     .strand = f->strand};
        const int64_t name = (int64_t)((double)strlen(g.name) * scale->letter * pixel);
        g.name_at = max64(lane->beg, min64(g.beg, lane->end - name));
        if (!lane->is_flat)
            g.row = find_row(ends, min64(g.beg, g.name_at), max64(g.end, g.name_at + name) + gap);
        rc = add_feature(lane, a, i, &g, e);
    }
    return rc;
}

void cov_feature_lane_fini(struct cov_feature_lane *lane)
{
    free(lane->features);
    free(lane->boxes);
    *lane = (struct cov_feature_lane){0};
}

/* ---------------------------------------------------------------- drawing */

int cov_feature_lane_height(const struct cov_feature_lane *lane)
{
    return lane->is_flat ? FLAT_PIXELS : (int)lane->n_rows * ROW_PIXELS;
}

static double low_of(const struct cov_feature_lane *lane, size_t row)
{
    return lane->is_flat ? -1 : -(double)row - 1 + BOX_LOW;
}

static double high_of(const struct cov_feature_lane *lane, size_t row)
{
    return lane->is_flat ? 0 : -(double)row - 1 + BOX_HIGH;
}

/* Boxes are at least a pixel wide. */
static void put_boxes(const struct cov_feature_lane *lane, double pixel, FILE *f)
{
    for (size_t i = 0; i < lane->n_boxes; i++) {
        const struct cov_lane_box *b = &lane->boxes[i];
        const double width = (double)(b->end - b->beg);
        (void)fprintf(f, "%" PRId64 " %.6g %" PRId64 " %.12g %.6g %.6g\n", b->beg,
                      low_of(lane, b->row), b->beg,
                      (double)b->beg + (width > pixel ? width : pixel), low_of(lane, b->row),
                      high_of(lane, b->row));
    }
}

static bool is_in_box(const struct cov_feature_lane *lane, size_t row, double beg, double end)
{
    for (size_t i = 0; i < lane->n_boxes; i++) {
        const struct cov_lane_box *b = &lane->boxes[i];
        if (b->row == row && (double)b->beg <= beg && (double)b->end >= end)
            return true;
    }
    return false;
}

/* Writes an arrow with its middle at x. */
static void put_arrow(const struct cov_feature_lane *lane, const struct cov_lane_feature *g,
                      double x, double pixel, FILE *f)
{
    const double y = (low_of(lane, g->row) + high_of(lane, g->row)) / 2;
    const double tip = (g->strand == '+' ? 0.5 : -0.5) * ARROW * pixel;
    const double height = (double)ARROW / ROW_PIXELS;
    (void)fprintf(f, "%.12g %.6g\n%.12g %.6g\n%.12g %.6g\n\n", x - tip, y + height, x + tip, y,
                  x - tip, y - height);
}

/* Writes the arrows that are in boxes, or the others, one of them at the end of each feature. */
static void put_arrows(const struct cov_feature_lane *lane, bool in_boxes, double pixel, FILE *f)
{
    const double room = ARROW * pixel;
    for (size_t i = 0; i < lane->n; i++) {
        const struct cov_lane_feature *g = &lane->features[i];
        const double length = (double)(g->end - g->beg) / pixel;
        const int n = (int)(length / APART);
        if (g->strand == '.')
            continue;
        if (!in_boxes)
            put_arrow(lane, g, g->strand == '+' ? (double)g->end + room : (double)g->beg - room,
                      pixel, f);
        for (int k = 0; k < n; k++) {
            const double x = (double)g->beg + (k + 0.5) * length / n * pixel;
            if (is_in_box(lane, g->row, x - room, x + room) == in_boxes)
                put_arrow(lane, g, x, pixel, f);
        }
    }
}

static void put_spines(const struct cov_feature_lane *lane, FILE *f)
{
    for (size_t i = 0; i < lane->n; i++) {
        const struct cov_lane_feature *g = &lane->features[i];
        const double y = (low_of(lane, g->row) + high_of(lane, g->row)) / 2;
        (void)fprintf(f, "%" PRId64 " %.6g\n%" PRId64 " %.6g\n\n", g->beg, y, g->end, y);
    }
}

/* A dataset needs a point; this one is outside the picture. */
static void put_nothing(const struct cov_feature_lane *lane, FILE *f)
{
    (void)fprintf(f, "%" PRId64 " 9 %" PRId64 " %" PRId64 " 9 9\n\n", lane->beg, lane->beg,
                  lane->beg);
}

void cov_feature_lane_put_data(const struct cov_feature_lane *lane, size_t number,
                               const struct cov_lane_scale *scale, FILE *f)
{
    const double pixel = bases_per_pixel(lane, scale);
    (void)fprintf(f, "$boxes%zu << EOD\n", number);
    put_nothing(lane, f);
    put_boxes(lane, pixel, f);
    (void)fprintf(f, "EOD\n$lines%zu << EOD\n", number);
    put_nothing(lane, f);
    put_spines(lane, f);
    put_arrows(lane, false, pixel, f);
    (void)fprintf(f, "EOD\n$arrows%zu << EOD\n", number);
    put_nothing(lane, f);
    put_arrows(lane, true, pixel, f);
    (void)fprintf(f, "EOD\n");
}

void cov_feature_lane_put_plot(const struct cov_feature_lane *lane, size_t number, FILE *f)
{
    (void)fprintf(f, "set yrange [-%zu:0]\nunset ytics\nset border 1\n", lane->n_rows);
    for (size_t i = 0; i < lane->n; i++) {
        const struct cov_lane_feature *g = &lane->features[i];
        if (!*g->name)
            continue;
        (void)fprintf(f,
                      "set label %zu at first %" PRId64 ", %.6g left font ',9' textcolor rgb '%s' ",
                      i + 100, g->name_at, -(double)g->row - 1 + NAME_AT, colour);
        cov_gnuplot_put_text(f, g->name);
        (void)fprintf(f, "\n");
    }
    (void)fprintf(f,
                  "plot $lines%zu using 1:2 with lines lw 1 lc rgb '%s', "
                  "$boxes%zu using 1:2:3:4:5:6 with boxxyerror lc rgb '%s', "
                  "$arrows%zu using 1:2 with lines lw 1 lc rgb '#ffffff'\n"
                  "unset label\n",
                  number, colour, number, colour, number);
}
