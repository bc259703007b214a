/* outfile.h - outputs that are either complete or absent.
 *
 * A result is written to a temporary file in the directory of the output. Once it is complete and
 * verified, it is synced and renamed. Whatever ends the program earlier (an error such as a full
 * disk, a signal) removes the temporary file. It is locked until then: a second run to the same
 * output fails at once, and the next run removes the file that a killed run left.
 *
 * Outputs of a command get their names together (cov_outfile_commit_all), except those that are
 * finished earlier or later: covtrain's checkpoints, the bigWigs of coveffect vcf --tracks, and
 * --stats, the last of all. Journals (journal.h) and covtrain's logs grow under their final names.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_OUTFILE_H
#define COV_FILE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/progress.h"

struct cov_outfile {
    char *path;    /* the final name; NULL if closed. Owned */
    char *tmp;     /* the name to open and write to: the temporary file's in /proc. Owned */
    char *hidden;  /* the temporary file's name in the directory. Owned */
    int fd;        /* the temporary file, locked */
    bool force;    /* may replace an existing file */
    bool locks;    /* the temporary file is locked, so that another run notices it */
    bool in_place; /* `path` is a device or a pipe, written directly */
    bool swapped;  /* during a commit: the old file is now at `hidden` */
    bool placed;   /* during a commit: the new file is at `path` */
    bool replaced; /*   and the old one is gone */
    /* If the output is a modified copy of the file at `path`: that file must not change before
     * the commit. */
    bool is_copy;
    struct timespec copied_time;
    unsigned long long copied_inode;
    int slot; /* in the list of leftovers */
};

#define COV_OUTFILE_INIT                                                                           \
    {                                                                                              \
        .fd = -1, .slot = -1                                                                       \
    }

/* What is written. HDF5, bigWig, pictures, matrices and arrays need a regular file; the others may
 * also go to a device or a pipe. */
enum cov_outfile_kind {
    COV_OUTFILE_HDF5,
    COV_OUTFILE_STREAM, /* covstream(5) */
    COV_OUTFILE_BIGWIG,
    COV_OUTFILE_BEDGRAPH,
    COV_OUTFILE_PEAKS,
    COV_OUTFILE_TABLE,
    COV_OUTFILE_GZ_TABLE, /* also compressed, with .gz */
    COV_OUTFILE_MATRIX,   /* compressed text */
    COV_OUTFILE_ARRAYS,   /* of NumPy, .npz */
    COV_OUTFILE_JSON,
    COV_OUTFILE_PICTURE,
    COV_OUTFILE_FASTA,
    COV_OUTFILE_SAM,
    COV_OUTFILE_VARIANTS, /* VCF or BCF; also compressed, with .vcf.gz */
    /* A name that the program chose, such as that of an index: any suffix, needs a regular file,
     * and a commit replaces a symbolic link instead of following it. */
    COV_OUTFILE_BESIDE,
};

/* COV_EUSAGE if the name ends in a known suffix of other files: -f would replace such a file.
 * cov_outfile_begin and cov_outfile_try check it, too. "-" is accepted. */
int cov_outfile_check_name(const char *path, enum cov_outfile_kind kind,
                           struct cov_err *e) COV_MUST_USE;

/* Creates and locks the empty temporary file, which is hidden and has the suffix of `path`; first
 * removes that of a killed run. COV_EEXIST if this or another process is writing the same output.
 * A file system without locks allows neither.
 *
 * If `path` is a symbolic link to a file, the commit replaces that file and keeps the link; if the
 * link is broken, the commit replaces the link. Fails, with a message that names the path, if the
 * directory is missing, is not a directory, or is not writable; if `path` exists and `force` is not set
 * (COV_EEXIST, the message ends in "use -f to replace it"); or if `path` is a directory or not a
 * regular file. */
int cov_outfile_begin(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                      bool force, struct cov_err *e) COV_MUST_USE;

/* Checks that cov_outfile_begin can succeed later. Ignores other processes that write the output:
 * those of one MPI job check at the same time. */
int cov_outfile_try(const char *path, enum cov_outfile_kind kind, bool force,
                    struct cov_err *e) COV_MUST_USE;

/* Like cov_outfile_begin, for an existing file that a modified copy will replace. Refuses a
 * write-protected file, even if root could write to it, unless `force` is set. */
int cov_outfile_begin_update(struct cov_outfile *o, const char *path, bool force,
                             struct cov_err *e) COV_MUST_USE;

/* Copies the regular file `from` and its permissions to the temporary file, and lets the owner
 * read and write the copy. If `from` is the file to be replaced and it changes before the
 * commit, the commit fails with COV_EEXIST, so that the change is not lost. `progress` may be
 * NULL. */
int cov_outfile_copy(struct cov_outfile *o, const char *from, struct cov_progress *progress,
                     struct cov_err *e) COV_MUST_USE;

/* Renames the temporary file, which must be complete, to `path`, and syncs it and its directory. Its
 * permissions follow the umask. If a file has appeared at `path` since cov_outfile_begin, replaces
 * it only if `force` is set. Always closes *o. Removes the temporary file on failure. */
int cov_outfile_commit(struct cov_outfile *o, struct cov_err *e) COV_MUST_USE;

/* Commits n files that belong together: either all get their names, or the old files stay.
 * Exception: on a file system that cannot exchange two names (such as NFS), a failure may leave
 * some files already replaced by the new, complete ones. Skips elements of files[] that are
 * closed, and closes the others. */
int cov_outfile_commit_all(struct cov_outfile *const *files, size_t n,
                           struct cov_err *e) COV_MUST_USE;

/* Returns true if this process has committed an output, or has begun one that is written in place.
 * Async-signal-safe. */
bool cov_outfile_any_written(void);

/* Removes the temporary file if there is one. Safe after a commit and on COV_OUTFILE_INIT. */
void cov_outfile_abort(struct cov_outfile *o);
/* Calls cov_outfile_abort at the end of a function that may have failed. If the message in *e
 * names the temporary file, replaces that name with the name of the output. */
void cov_outfile_end(struct cov_outfile *o, struct cov_err *e);

#endif
