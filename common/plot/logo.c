/* logo.c - see logo.h.
 *
 * A letter is some polygons in the square from 0 to 1, which may overlap. Bowls are made of
 * ellipses.
 * SPDX-License-Identifier: MIT */
#include "common/plot/logo.h"

#include <math.h>
#include <stdbool.h>

#include "common/base/mem.h"

struct corner {
    double x, y;
};

/* The part of a ring between two angles, in degrees; without angles, four corners. */
struct polygon {
    char letter;
    double from, to;
    struct corner corners[4];
};

enum { CORNERS_OF_ARC = 16 };
static const double stroke_x = 0.28, stroke_y = 0.18, gap = 0.03;

static const struct polygon polygons[] = {
    {'A', 0, 0, {{0, 0}, {0.29, 0}, {0.645, 1}, {0.355, 1}}},
    {'A', 0, 0, {{0.71, 0}, {1, 0}, {0.645, 1}, {0.355, 1}}},
    {'A', 0, 0, {{0.2, 0.18}, {0.8, 0.18}, {0.75, 0.35}, {0.25, 0.35}}},
    {'C', 40, 320, {{0, 0}}},
    {'G', 40, 330, {{0, 0}}},
    {'G', 0, 0, {{0.52, 0.35}, {1, 0.35}, {1, 0.52}, {0.52, 0.52}}},
    {'G', 0, 0, {{0.73, 0.06}, {1, 0.06}, {1, 0.52}, {0.73, 0.52}}},
    {'T', 0, 0, {{0, 1}, {1, 1}, {1, 0.83}, {0, 0.83}}},
    {'T', 0, 0, {{0.36, 0}, {0.64, 0}, {0.64, 0.9}, {0.36, 0.9}}},
};

static const struct {
    char letter;
    const char *colour;
} letters_drawn[] = {{'A', "#109648"}, {'C', "#255c99"}, {'G', "#f7b32b"}, {'T', "#d62839"}};

/* Writes a corner of a letter whose base begins at `left`. */
static void put_corner(double x, double y, double left, double height, FILE *f)
{
    (void)fprintf(f, "%.3f %.7g\n", left + gap + x * (1 - 2 * gap), y * height);
}

static void put_polygon(const struct polygon *p, double left, double height, FILE *f)
{
    static const double pi = 3.14159265358979323846;
    const bool is_arc = p->to > 0;
    for (size_t i = 0; !is_arc && i < COV_COUNT(p->corners); i++)
        put_corner(p->corners[i].x, p->corners[i].y, left, height, f);
    for (size_t i = 0; is_arc && i < (size_t)2 * CORNERS_OF_ARC; i++) {
        const bool outer = i < CORNERS_OF_ARC;
        const size_t k = outer ? i : 2 * CORNERS_OF_ARC - 1 - i;
        const double share = (double)k / (CORNERS_OF_ARC - 1);
        const double angle = (p->from + share * (p->to - p->from)) * pi / 180;
        put_corner(0.5 + (outer ? 0.5 : 0.5 - stroke_x) * cos(angle),
                   0.5 + (outer ? 0.5 : 0.5 - stroke_y) * sin(angle), left, height, f);
    }
    (void)fprintf(f, "\n");
}

void cov_logo_put_data(const struct cov_bins *b, const char *letters, size_t number, FILE *f)
{
    for (size_t k = 0; k < COV_COUNT(letters_drawn); k++) {
        const char letter = letters_drawn[k].letter;
        (void)fprintf(f, "$logo%zu%c << EOD\n", number, letter);
        /* Makes sure that there is something to draw. */
        put_polygon(&polygons[0], (double)b->beg, 0, f);
        for (size_t i = 0; i < b->n; i++)
            for (size_t p = 0; p < COV_COUNT(polygons); p++)
                if (letters[i] == letter && polygons[p].letter == letter && isfinite(b->means[i]))
                    put_polygon(&polygons[p], (double)b->beg + (double)i, b->means[i], f);
        (void)fprintf(f, "EOD\n");
    }
}

void cov_logo_put_plot(size_t number, FILE *f)
{
    (void)fprintf(f, "plot ");
    for (size_t k = 0; k < COV_COUNT(letters_drawn); k++)
        (void)fprintf(f, "$logo%zu%c using 1:2 with filledcurves closed lc rgb '%s', ", number,
                      letters_drawn[k].letter, letters_drawn[k].colour);
    (void)fprintf(f, "0 with lines lw 1 lc rgb '#888888'\n");
}
