/* edited_windows.h - what a network predicts for windows of a genome, and for these windows after
 * edits of their bases.
 *
 * A window has L positions. An edited version begins with the same base and has L positions, too:
 * bases after a deletion move into the window, bases after an insertion out of it. Positions after
 * the end of the sequence are padding. The values of a version are those of a chunk with its bases
 * (covpredict), as the mean of both strands: exactly with `full`, else within 1e-5.
 *
 * On CPUs in single precision, and on GPUs with `many`, the window itself is computed once, and of its
 * versions only what differs (device.h). So give many edits to each window, and few wanted positions to
 * each version: saturation mutagenesis passes all single-base edits of a region as versions of one
 * window, in one call or in several. The last windows are remembered from call to call.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EDITED_WINDOWS_H
#define COV_JOB_EFFECT_EDITED_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/compute/device.h"
#include "common/input/model.h"

/* Replaces the bases at, at + 1, ..., at + n_old - 1 of the window by codes[n_new]. All zero: none. */
struct cov_edit {
    size_t at, n_old;
    const uint8_t *codes;
    size_t n_new;
};

/* A window after an edit of bases that it has, or as it is. */
struct cov_version {
    struct cov_edit edit;
    size_t beg, end; /* wanted positions of the version; 0, 0: all */
    /* Set by cov_edited_windows_predict, values where the caller wants them: values[L,n_datasets],
     * COV_PAD_VALUE on padding, undefined where they are not wanted. */
    float *values;
    size_t n_bases;
    struct cov_version *next; /* of the same window; NULL: none */
};

struct cov_edited_window {
    /* Base codes from the window's first base on: at least L, and more where deletions need them;
     * fewer only at the end of the sequence. */
    const uint8_t *codes;
    size_t n_codes;
    struct cov_version *versions; /* the first */
};

/* Sets out[0..L) to the bases of a window after an edit, then padding. Returns the number of bases. */
size_t cov_version_codes(const struct cov_edited_window *w, const struct cov_edit *edit, size_t L,
                         uint8_t *out);

struct cov_edited_windows;

struct cov_edited_options {
    size_t L;
    unsigned n_workers; /* callers at a time */
    size_t batch;       /* chunks per call of the device; each version is two chunks */
    bool full;          /* compute everything (cov_net_compute_all) */
    bool many;          /* each window has many versions */
};

/* Prepares the network. Borrows model and device until free. */
int cov_edited_windows_new(const struct cov_ensemble *model, struct cov_device *device,
                           const struct cov_edited_options *options,
                           struct cov_edited_windows **out, struct cov_err *e) COV_MUST_USE;
void cov_edited_windows_free(struct cov_edited_windows *w); /* NULL is accepted */

/* Predicts the versions of the windows. The values of a version depend only on its bases and on its
 * window. Workers < n_workers may call it at the same time. */
int cov_edited_windows_predict(struct cov_edited_windows *w, unsigned worker,
                               const struct cov_edited_window *windows, size_t n_windows,
                               struct cov_err *e) COV_MUST_USE;

/* Returns the work so far; call it only while nothing is predicted. */
void cov_edited_windows_counts(const struct cov_edited_windows *w, struct cov_forward_counts *out);

#endif
