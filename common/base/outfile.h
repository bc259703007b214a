/* outfile.h - outputs that appear whole or not at all.
 *
 * A result is written to a temporary name in its own folder and gets its final name, by fsync and
 * rename, when it is complete and checked. Whatever ends the program earlier (an error, a signal)
 * removes the temporary file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_OUTFILE_H
#define COV_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/progress.h"

struct cov_outfile {
    char *path;    /* the final name; NULL when closed. Owned */
    char *tmp;     /* the name to write to meanwhile. Owned */
    bool force;    /* may replace what is there */
    bool in_place; /* `path` is a device or a pipe and is written to directly */
    bool swapped;  /* while several get their names: what was at `path` is at `tmp` */
    bool placed;   /* while several get their names: it has its own */
    bool replaced; /* and what was there is gone */
    /* What was at `path` when it was copied from there: it must be the same at the end. */
    bool is_copy;
    struct timespec copied_time;
    unsigned long long copied_inode;
    int slot; /* place in the list of files to remove on a signal */
};

#define COV_OUTFILE_INIT                                                                           \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, {0, 0}, 0, -1                                                      \
    }

enum cov_outfile_kind {
    COV_OUTFILE_SEEKABLE, /* HDF5, bigWig: only a regular file will do */
    COV_OUTFILE_STREAM,   /* text: a device or a pipe may be written to in place */
};

/* Creates the (empty) temporary file beside `path`, hidden and with the suffix of `path` kept.
 * Where `path` is a symbolic link to a file, that file is what will be replaced, and the link
 * stays; a link to nothing is itself replaced. Errors name the path and say: the folder is
 * missing, is a file, cannot be written to; `path` exists and `force` is not set (COV_EEXIST,
 * text ends in "use -f to replace it"); `path` is a folder; is not a regular file. */
int cov_outfile_begin(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                      bool force, struct cov_err *e) COV_MUST_USE;

/* The same with a temporary name that has `tag` in it instead of the number of the process, and so
 * is the same each time: what a killed run left under it is replaced. The caller has a lock, so
 * that nobody else uses it meanwhile. */
int cov_outfile_begin_tagged(struct cov_outfile *o, const char *path, const char *tag,
                             enum cov_outfile_kind kind, bool force,
                             struct cov_err *e) COV_MUST_USE;

/* The same for a file that is there and that a changed copy of it is to replace. Refused, but for
 * `force`, when nobody may write to it, which root could all the same. */
int cov_outfile_begin_update(struct cov_outfile *o, const char *path, bool force,
                             struct cov_err *e) COV_MUST_USE;

/* Makes the temporary file a copy of the regular file `from`, with its permissions, but that the
 * owner may read and change it. If `from` is what the copy is to replace, the commit fails with
 * COV_EEXIST when it has been changed meanwhile: that change would be lost. `progress` may be NULL.
 */
int cov_outfile_copy(struct cov_outfile *o, const char *from, struct cov_progress *progress,
                     struct cov_err *e) COV_MUST_USE;

/* The file at `tmp` is complete and closed: syncs it and its folder and gives it its name. Its
 * permissions are those of the umask. A file that appeared there meanwhile is replaced only with
 * `force`. *o is empty afterwards. On failure nothing is left behind. */
int cov_outfile_commit(struct cov_outfile *o, struct cov_err *e) COV_MUST_USE;

/* As cov_outfile_commit, for n files that belong together: all of them get their names, or what was
 * there stays. Only a file system that cannot exchange two names (NFS) may, after a failure, hold
 * some that have replaced what was there, and are whole. Files that are empty are passed over. All
 * are empty afterwards. */
int cov_outfile_commit_all(struct cov_outfile *const *files, size_t n,
                           struct cov_err *e) COV_MUST_USE;

/* Removes the temporary file if there is one. Harmless after a commit and on COV_OUTFILE_INIT. */
void cov_outfile_abort(struct cov_outfile *o);
/* The same at the end of a function that may have failed: what *e tells of the temporary file it then tells of
 * the output. */
void cov_outfile_end(struct cov_outfile *o, struct cov_err *e);

#endif
