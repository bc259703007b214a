/* journal.h - what a long run has finished, in a file that the next run goes on with.
 *
 * A head, which says in lines of text what the run is, then pieces, each with a number and a checksum,
 * appended as they are finished. A run that is killed leaves whole pieces and at most one torn one. The
 * file belongs to the machine that wrote it (byte order), and to one process at a time (flock).
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_JOURNAL_H
#define COV_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/base/err.h"
#include "common/codec/blob.h"

struct cov_journal;

/* Opens the journal at `path`, or makes an empty file, and locks it until close. COV_EEXIST while
 * another process has it; COV_EINPUT for a file that is not a journal. Free with cov_journal_close. */
int cov_journal_open(const char *path, struct cov_journal **out, struct cov_err *e) COV_MUST_USE;

/* Removes the file if there is no piece in it. NULL is accepted. */
void cov_journal_close(struct cov_journal *j);
/* Removes the file: what it was for is done. Frees *j in any case. */
int cov_journal_remove(struct cov_journal *j, struct cov_err *e) COV_MUST_USE;

const char *cov_journal_path(const struct cov_journal *j);
/* When it was last written to, before it was opened here. */
struct timespec cov_journal_time(const struct cov_journal *j);
/* The head it was begun with, borrowed until begin or close; NULL of a new one. *damaged: it has one
 * that cannot be read (NULL is returned too). */
const char *cov_journal_head(const struct cov_journal *j, bool *damaged);

/* Empties it and begins it with this head. */
int cov_journal_begin(struct cov_journal *j, const char *head, struct cov_err *e) COV_MUST_USE;

/* Before any of the following: pieces have numbers below n. Reads and checks all that are there; from the
 * first that is torn or damaged on they are cut off, with a warning unless it is the torn last one. */
int cov_journal_scan(struct cov_journal *j, size_t n, struct cov_err *e) COV_MUST_USE;
size_t cov_journal_n_pieces(const struct cov_journal *j);
bool cov_journal_has(const struct cov_journal *j, size_t piece);

/* Appends a piece, made of two blobs. On failure (a full disk) the file is as before. */
int cov_journal_append(struct cov_journal *j, size_t piece, const struct cov_blob blobs[2],
                       struct cov_err *e) COV_MUST_USE;
/* The blobs of a piece again. COV_EINPUT if it has been damaged since. */
int cov_journal_read(struct cov_journal *j, size_t piece, struct cov_blob blobs[2],
                     struct cov_err *e) COV_MUST_USE;

#endif
