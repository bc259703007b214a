/* predict_output.h - where predictions go: a predictions file whose rows are known, one that gets them
 * from a stream, a stream, or the journal of a run that may be killed. For predict.c and
 * predict_resume.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_OUTPUT_H
#define COV_JOB_PREDICT_PREDICT_OUTPUT_H

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/job/predict/loader.h"
#include "common/store/journal.h"
#include "common/store/signal_file.h"

struct cov_predict_output;

/* Of what `loader` (borrowed until close) gives. `path` is the temporary name of a file, or "-" for
 * the stream on standard output; `tmpdir` is for what has to wait. With a `journal` (borrowed until
 * close; NULL: none) pairs go there, under their numbers in the grid, as a file will have them, and there
 * is no path. */
int cov_predict_output_open(const char *path, const struct cov_loader *loader,
                            const struct cov_predictions_options *options, const char *tmpdir,
                            struct cov_journal *journal, struct cov_predict_output **out,
                            struct cov_err *e) COV_MUST_USE;

/* Bytes of scratch that a worker needs. */
size_t cov_predict_output_scratch(const struct cov_predict_output *o);

/* Any thread: out[0..2) (reused) = what is stored of a pair; values[s][L][D] of its strands, as for
 * cov_signal_pack. */
int cov_predict_output_encode(const struct cov_predict_output *o,
                              const struct cov_loader_item *item, const char *name,
                              const float *const values[2], uint8_t *scratch,
                              struct cov_blob out[2], struct cov_err *e) COV_MUST_USE;

/* Calling thread: stores it. Items in the order in which they came from the loader, those without a
 * strand too. */
int cov_predict_output_put(struct cov_predict_output *o, const struct cov_loader_item *item,
                           const char *species, const char *name, const struct cov_blob out[2],
                           struct cov_err *e) COV_MUST_USE;

/* Completes it; frees *o in any case. */
int cov_predict_output_close(struct cov_predict_output *o, struct cov_err *e) COV_MUST_USE;
void cov_predict_output_abort(struct cov_predict_output *o); /* NULL is accepted */

#endif
