/* outfile.h - outputs that are either complete or absent.
 *
 * A result is written to a temporary file in the folder of the output. Once it is complete and
 * verified, it is synced and renamed. Whatever ends the program earlier (an error, a signal)
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
    char *path;    /* the final name; NULL if closed. Owned */
    char *tmp;     /* the temporary name to write to. Owned */
    bool force;    /* may replace an existing file */
    bool in_place; /* `path` is a device or a pipe, written directly */
    bool swapped;  /* during a commit: the old file is now at `tmp` */
    bool placed;   /* during a commit: the new file is at `path` */
    bool replaced; /*   and the old one is gone */
    /* The file at `path` that this is a copy of: it must not change before the commit. */
    bool is_copy;
    struct timespec copied_time;
    unsigned long long copied_inode;
    int slot; /* in the list of leftovers */
};

#define COV_OUTFILE_INIT                                                                           \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, {0, 0}, 0, -1                                                      \
    }

enum cov_outfile_kind {
    COV_OUTFILE_SEEKABLE, /* HDF5, bigWig: needs a regular file */
    COV_OUTFILE_STREAM,   /* text: also a device or a pipe */
};

/* Creates the empty temporary file, hidden and with the suffix of `path`. If `path` is a symbolic
 * link to a file, that file is replaced and the link stays; a broken link is replaced itself.
 * Errors name the path: the folder is missing, is not a folder, or is not writable; `path` exists
 * and `force` is not set (COV_EEXIST, ends in "use -f to replace it"); `path` is a folder, or not a
 * regular file. */
int cov_outfile_begin(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                      bool force, struct cov_err *e) COV_MUST_USE;

/* The same, but the temporary name contains `tag` instead of the process id and is the same each
 * time: replaces a file that a killed run left. The caller holds a lock, so that no one else uses
 * the name. */
int cov_outfile_begin_tagged(struct cov_outfile *o, const char *path, const char *tag,
                             enum cov_outfile_kind kind, bool force,
                             struct cov_err *e) COV_MUST_USE;

/* The same for an existing file that a modified copy will replace. Refuses a write-protected file,
 * even if root could write it, unless `force` is set. */
int cov_outfile_begin_update(struct cov_outfile *o, const char *path, bool force,
                             struct cov_err *e) COV_MUST_USE;

/* Copies the regular file `from` to the temporary file, with its permissions, plus read and write
 * for the owner. If `from` is the file to be replaced and changes before the commit, the commit
 * fails with COV_EEXIST instead of losing the change. `progress` may be NULL. */
int cov_outfile_copy(struct cov_outfile *o, const char *from, struct cov_progress *progress,
                     struct cov_err *e) COV_MUST_USE;

/* Syncs the complete, closed file at `tmp` and its folder, and renames it. Its permissions follow
 * the umask. Replaces a file that appeared at `path` only with `force`. *o is closed afterwards.
 * After a failure nothing is left behind. */
int cov_outfile_commit(struct cov_outfile *o, struct cov_err *e) COV_MUST_USE;

/* The same for n files that belong together: either all get their names, or the old files stay.
 * Only on a file system that cannot exchange two names (NFS) may a failure leave some files
 * replaced, by complete ones. Skips closed files; all are closed afterwards. */
int cov_outfile_commit_all(struct cov_outfile *const *files, size_t n,
                           struct cov_err *e) COV_MUST_USE;

/* Removes the temporary file if there is one. Harmless after a commit and on COV_OUTFILE_INIT. */
void cov_outfile_abort(struct cov_outfile *o);
/* The same at the end of a function that may have failed: if *e names the temporary file, it then
 * names the output. */
void cov_outfile_end(struct cov_outfile *o, struct cov_err *e);

#endif
