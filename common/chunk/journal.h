/* journal.h - a file with the finished pieces of a long run, from which the next run resumes.
 *
 * The file begins with a head, lines of text that describe the run. Pieces, each with a number and
 * a checksum, are appended as they are finished. A killed run leaves complete pieces and at most
 * one torn piece. The head is synced, pieces only by cov_journal_sync. The file uses the byte order of
 * the machine that wrote it. Only one process at a time may use it (path.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_JOURNAL_H
#define COV_CHUNK_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/base/err.h"
#include "common/codec/codec.h"

struct cov_journal;

/* The time that runs of a journal took. */
struct cov_journal_times {
    uint64_t n_runs;
    double wall_seconds, cpu_seconds;
};

/* Opens the journal at `path`, or creates an empty file, and locks it until close. COV_EEXIST while
 * another process holds the lock; COV_EINPUT for a symbolic link or another file. Free with
 * cov_journal_close. */
int cov_journal_open(const char *path, struct cov_journal **out, struct cov_err *e) COV_MUST_USE;

/* Closes the journal; removes the file if it has no pieces. NULL is accepted. */
void cov_journal_close(struct cov_journal *j);
/* Removes the file, after the run has finished. Always frees *j. */
int cov_journal_remove(struct cov_journal *j, struct cov_err *e) COV_MUST_USE;

const char *cov_journal_path(const struct cov_journal *j);
/* Returns the time of the last write before the journal was opened. */
struct timespec cov_journal_time(const struct cov_journal *j);
/* This run began when cov_clock() was `clock` (default: when the journal was opened). */
void cov_journal_set_start(struct cov_journal *j, double clock);
/* After the scan: the times of earlier runs, each until its last piece. The time of a piece is that
 * of the process. */
struct cov_journal_times cov_journal_earlier(const struct cov_journal *j);
/* Returns the head, borrowed until begin or close. Returns NULL for a new journal, and also, with
 * *damaged set, if the head cannot be read. */
const char *cov_journal_head(const struct cov_journal *j, bool *damaged);

/* Empties the journal and writes this head. Keeps the times that a scan has found. */
int cov_journal_begin(struct cov_journal *j, const char *head, struct cov_err *e) COV_MUST_USE;

/* Returns true if the blobs can be those of this piece of the run. */
typedef bool cov_journal_fits_fn(const void *arg, size_t piece, const struct cov_blob blobs[2]);

/* Must be called before any of the following functions. Reads and checks all pieces; their numbers
 * must be less than n, and they must fit (NULL: any blobs do; kept for cov_journal_read). Drops the
 * first torn or damaged piece and everything after it, with a warning. */
int cov_journal_scan(struct cov_journal *j, size_t n, cov_journal_fits_fn *fits, const void *arg,
                     struct cov_err *e) COV_MUST_USE;
size_t cov_journal_n_pieces(const struct cov_journal *j);
bool cov_journal_has(const struct cov_journal *j, size_t piece);

/* Replaces the file as a whole by a journal with this head and one empty piece. Always frees *j. */
int cov_journal_finish(struct cov_journal *j, const char *head, struct cov_err *e) COV_MUST_USE;

/* Appends a piece of two blobs. On failure (a full disk) the file is unchanged. */
int cov_journal_append(struct cov_journal *j, size_t piece, const struct cov_blob blobs[2],
                       struct cov_err *e) COV_MUST_USE;
/* Makes all pieces durable. */
int cov_journal_sync(const struct cov_journal *j, struct cov_err *e) COV_MUST_USE;
/* Reads the blobs of a piece. COV_EINPUT if it was damaged since the scan. */
int cov_journal_read(struct cov_journal *j, size_t piece, struct cov_blob blobs[2],
                     struct cov_err *e) COV_MUST_USE;

#endif
