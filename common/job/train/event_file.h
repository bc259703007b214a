/* event_file.h - writes scalars for TensorBoard: TFRecord records (length, masked CRC-32C, data),
 * each with an Event in the wire format of protocol buffers (tensorflow/core/util/event.proto).
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EVENT_FILE_H
#define COV_JOB_TRAIN_EVENT_FILE_H

#include <stdint.h>

#include "common/base/err.h"

struct cov_event_file;

/* Creates events.out.tfevents.SECONDS.HOST.PROCESS in the directory `dir`, which is created if
 * missing. Free with cov_event_file_close. */
int cov_event_file_open(const char *dir, struct cov_event_file **out,
                        struct cov_err *e) COV_MUST_USE;
/* Marks the start at `step` (SessionLog.START): TensorBoard then hides this step and later ones
 * from older files in the directory. Call it first. */
int cov_event_file_start(struct cov_event_file *f, int64_t step, struct cov_err *e) COV_MUST_USE;
/* Adds a scalar; it is written at the next flush. */
int cov_event_file_add(struct cov_event_file *f, int64_t step, const char *tag, double value,
                       struct cov_err *e) COV_MUST_USE;
int cov_event_file_flush(struct cov_event_file *f, struct cov_err *e) COV_MUST_USE;
/* Flushes and closes; also reports earlier write errors. Frees *f, even on failure. NULL is
 * accepted. */
int cov_event_file_close(struct cov_event_file *f, struct cov_err *e) COV_MUST_USE;

#endif
