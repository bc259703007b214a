/* event_file.h - scalars over steps for TensorBoard: records of TFRecord (length, masked CRC-32C,
 * data), each an Event in protocol buffers' wire format (tensorflow/core/util/event.proto).
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EVENT_FILE_H
#define COV_JOB_TRAIN_EVENT_FILE_H

#include <stdint.h>

#include "common/base/err.h"

struct cov_event_file;

/* A new file events.out.tfevents.SECONDS.HOST.PROCESS in the folder `dir`, which is made if need be. Free
 * with cov_event_file_close. */
int cov_event_file_open(const char *dir, struct cov_event_file **out,
                        struct cov_err *e) COV_MUST_USE;
/* Says that steps are counted from `step` on: of other files in the folder that are older, TensorBoard no longer
 * shows that step and later ones (SessionLog.START). For the beginning of a file. */
int cov_event_file_start(struct cov_event_file *f, int64_t step, struct cov_err *e) COV_MUST_USE;
/* Adds a scalar. It reaches the file with the next flush. */
int cov_event_file_add(struct cov_event_file *f, int64_t step, const char *tag, double value,
                       struct cov_err *e) COV_MUST_USE;
int cov_event_file_flush(struct cov_event_file *f, struct cov_err *e) COV_MUST_USE;
/* Flushes and closes; frees *f in any case. A failure before is one again. NULL is accepted. */
int cov_event_file_close(struct cov_event_file *f, struct cov_err *e) COV_MUST_USE;

#endif
