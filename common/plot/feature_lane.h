/* feature_lane.h - features in a region, such as genes or peaks, packed into the rows of a picture.
 * SPDX-License-Identifier: MIT */
#ifndef COV_PLOT_FEATURE_LANE_H
#define COV_PLOT_FEATURE_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/features/annotation.h"

/* A feature, or a part of one that is drawn as a box; positions are clipped to the region. */
struct cov_lane_feature {
    int64_t beg, end;
    const char *name; /* borrowed from the annotation */
    int64_t name_at;  /* where it begins */
    char strand;
    size_t row;
};
struct cov_lane_box {
    int64_t beg, end;
    size_t row;
};

/* Empty if all zero. */
struct cov_feature_lane {
    const char *heading;               /* borrowed */
    bool is_flat;                      /* a single row of boxes, without names and strands */
    int64_t beg, end;                  /* the region */
    size_t n_rows, n_left_out;         /* features for which there is no room */
    int64_t longest;                   /* private: length of a feature */
    struct cov_lane_feature *features; /* [n]. Owned */
    size_t n, cap;
    struct cov_lane_box *boxes; /* [n_boxes]. Owned */
    size_t n_boxes, cap_boxes;
};

/* The width of a picture in pixels, and of a letter of a name. */
struct cov_lane_scale {
    int width, letter;
};

/* Fills the lane with the features of `a` that overlap [beg, end) of its contig `contig`. A feature
 * of the first type of the annotation gets a name, and its parts as boxes: those of other types
 * that are within it and of its family; if they are of no known family, on its strand and not
 * within a shorter feature. Without parts, it is a box.
 * The caller has set `is_flat` and `heading`. Free with cov_feature_lane_fini, also after a
 * failure. */
int cov_feature_lane_fill(struct cov_feature_lane *lane, const struct cov_annotation *a,
                          size_t contig, const int64_t region[2],
                          const struct cov_lane_scale *scale, struct cov_err *e) COV_MUST_USE;
void cov_feature_lane_fini(struct cov_feature_lane *lane);

/* The height in pixels. */
int cov_feature_lane_height(const struct cov_feature_lane *lane);

/* Writes the data of lane number `number`, and the command that plots it into the margins. */
void cov_feature_lane_put_data(const struct cov_feature_lane *lane, size_t number,
                               const struct cov_lane_scale *scale, FILE *f);
void cov_feature_lane_put_plot(const struct cov_feature_lane *lane, size_t number, FILE *f);

#endif
