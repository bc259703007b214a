/* predict_output.h - writes predictions to a file whose rows are known in advance, to a file
 * filled from a stream, to a stream, or to the journal of --resume. For predict.c and
 * predict_resume.c only.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_OUTPUT_H
#define COV_JOB_PREDICT_PREDICT_OUTPUT_H

#include "common/base/err.h"
#include "common/chunk/journal.h"
#include "common/chunk/predictions.h"
#include "common/codec/codec.h"
#include "common/input/loader.h"

struct cov_predict_output;

/* Opens an output for the pairs of `loader` (borrowed until close). `path` is the temporary name of
 * a file, or "-" for a stream to standard output; `tmpdir` is for data that has to wait. With a
 * `journal` (borrowed until close; may be NULL) pairs are written there instead, encoded as for a
 * file and identified by their number in the grid; `path` is unused. */
int cov_predict_output_open(const char *path, const struct cov_loader *loader,
                            const struct cov_predictions_options *options, const char *tmpdir,
                            struct cov_journal *journal, struct cov_predict_output **out,
                            struct cov_err *e) COV_MUST_USE;

/* Bytes of scratch that a worker needs. */
size_t cov_predict_output_scratch(const struct cov_predict_output *o);

/* The rows of a pair. */
struct cov_predict_rows {
    const float *values[2];   /* [strand][L][D], as for cov_predictions_pack */
    uint64_t fingerprints[2]; /* of the bases */
};

/* Any thread: encodes the strands that a pair has to out[0..2) (reused). */
int cov_predict_output_encode(const struct cov_predict_output *o,
                              const struct cov_loader_item *item, const char *name,
                              const struct cov_predict_rows *values, uint8_t *scratch,
                              struct cov_blob out[2], struct cov_err *e) COV_MUST_USE;

/* Calling thread: writes an encoded pair. Items must arrive in the loader's order, including those
 * without strands. */
int cov_predict_output_put(struct cov_predict_output *o, const struct cov_loader_item *item,
                           const char *species, const char *name, const struct cov_blob out[2],
                           struct cov_err *e) COV_MUST_USE;

/* Returns true if *blob can be an encoded row of a file. */
bool cov_predict_output_fits(const struct cov_predict_output *o, const struct cov_blob *blob);

/* Completes the output. Frees *o, even on failure. */
int cov_predict_output_close(struct cov_predict_output *o, struct cov_err *e) COV_MUST_USE;
void cov_predict_output_abort(struct cov_predict_output *o); /* NULL is accepted */

#endif
