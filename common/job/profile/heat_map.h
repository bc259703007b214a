/* heat_map.h - a map of numbers with named rows and columns: as coloured squares, drawn by gnuplot, and as text.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_HEAT_MAP_H
#define COV_JOB_PROFILE_HEAT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/plot/gnuplot.h"

/* Borrowed for the call. */
struct cov_heat_map {
    const char *title;
    const double *values;                     /* [n_rows][n_columns]; NaN is drawn as NA */
    const char *const *rows, *const *columns; /* names */
    size_t n_rows, n_columns;
    bool has_numbers; /* print the values in the squares */
    /* Rows and columns are the same, two or more, and the values their correlations: draws them in
     * the order of a clustering of the distances 1 - r, with its tree. NaN is clustered like 0. */
    bool is_clustered;
};

/* Prints the map as a table, whose first line begins with the word `corner`. */
void cov_heat_map_print(const struct cov_heat_map *map, const char *corner, FILE *f);

/* Adds the map to the open object: the names `xcats` of columns, `ycats` of rows, and the rows `data`. */
void cov_heat_map_put_json(const struct cov_heat_map *map, struct cov_json *json);

/* Draws the map. Colours are from 0 to 1, or to the largest value if that is more; with a negative
 * value, from the same below 0. */
int cov_heat_map_draw(const struct cov_heat_map *map, const struct cov_picture *picture,
                      struct cov_err *e) COV_MUST_USE;

#endif
