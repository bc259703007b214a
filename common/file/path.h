/* path.h - names of files; reading, writing and locking open files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_PATH_H
#define COV_FILE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/err.h"

/* Returns the name without its directory, ".gz" and one known suffix (of a FASTA, HDF5, bedGraph,
 * bigWig, BAM or checkpoint file), ignoring case: "x.1.fa.gz" -> "x.1"; "-" -> "stdin". Keeps a
 * name that is only a suffix (".fa"). Caller frees. */
char *cov_path_stem(const char *path, struct cov_err *e) COV_MUST_USE;

/* Returns the directory of `path`: "a/b" and "a/b/" -> "a", "b" -> ".", "/b" -> "/". Caller frees. */
char *cov_path_dir(const char *path, struct cov_err *e) COV_MUST_USE;

/* Returns "dir/name", with exactly one slash in between. Caller frees. */
char *cov_path_join(const char *dir, const char *name, struct cov_err *e) COV_MUST_USE;

/* Returns true if the name ends in `suffix`, ignoring case. */
bool cov_path_has_suffix(const char *path, const char *suffix);

/* Returns true if the name ends in a slash or is an existing directory. */
bool cov_path_names_dir(const char *path);

/* Returns true if both names are of one regular file, or equal names of a missing file. "-" is not
 * a file. */
bool cov_path_same_file(const char *a, const char *b);

/* Fails if an input is given twice: with COV_EUSAGE by the same name, with COV_EINPUT by two names
 * of one file. */
int cov_path_check_distinct(char *const *paths, size_t n, struct cov_err *e) COV_MUST_USE;

/* Fails with COV_EINPUT if `path`, a local file to be read, is a directory or a URL. Does not check
 * anything else. */
int cov_path_check_file(const char *path, struct cov_err *e) COV_MUST_USE;

/* Opens a regular file for reading and sets *n_bytes; otherwise *fd is -1. Does not wait for a
 * pipe. COV_EINPUT for a directory, a URL and other files that are not regular. */
int cov_path_open_file(const char *path, int *fd, uint64_t *n_bytes,
                       struct cov_err *e) COV_MUST_USE;

/* Returns true for "SCHEME://...", unless a file has that name. */
bool cov_path_is_url(const char *path);

/* Returns true for "-". */
bool cov_path_is_std(const char *path);

/* Returns the name of an input for messages: "standard input" for "-". */
const char *cov_path_of_input(const char *path);

/* ---- the suffixes that covtools knows, and what they stand for ---- */

enum cov_suffix_kind {
    COV_SUFFIX_NONE, /* none, or an unknown one */
    /* cov_path_stem removes these. */
    COV_SUFFIX_HDF5,
    COV_SUFFIX_FASTA,
    COV_SUFFIX_BAM, /* or CRAM */
    COV_SUFFIX_SAM,
    COV_SUFFIX_BEDGRAPH,
    COV_SUFFIX_BED,
    COV_SUFFIX_BIGWIG,
    COV_SUFFIX_CKPT,
    COV_SUFFIX_LAST_OF_STEM = COV_SUFFIX_CKPT,
    /* It keeps these. */
    COV_SUFFIX_PEAKS,
    COV_SUFFIX_PICTURE,
    COV_SUFFIX_TEXT, /* tables */
    COV_SUFFIX_JSON,
    COV_SUFFIX_VARIANTS, /* VCF, BCF */
    COV_SUFFIX_ARRAYS,   /* of NumPy */
    COV_SUFFIX_INPUT,    /* FASTQ, annotation: covtools never writes them */
};

struct cov_suffix {
    const char *text; /* ".bw" */
    enum cov_suffix_kind kind;
};

/* Returns the known suffix at the end of name[0..n), ignoring case; the name must be longer. NULL
 * if there is none. ".gz" is not among them. */
const struct cov_suffix *cov_suffix_find(const char *name, size_t n);

/* Returns the length of name[0..n) without ".gz". */
size_t cov_suffix_skip_gz(const char *name, size_t n);

/* ---- open files ---- */

/* Reads n bytes at offset `at`. Returns how many there were, fewer than n only at the end of the
 * file; -1 on failure, with errno. */
ssize_t cov_read_at(int fd, int64_t at, void *data, size_t n);

/* Writes n bytes at offset `at`. Returns 0; -1 on failure, with errno. */
int cov_write_at(int fd, int64_t at, const void *data, size_t n);

/* Closes a file that was written. Returns 0; -1 on failure, with errno. A signal is no failure: Linux
 * has closed the file. */
int cov_close(int fd);

/* Syncs the directory of a file, so that its new name is durable. Ignores errors: the file is complete,
 * and some file systems cannot sync a directory. */
void cov_sync_name(const char *path);

/* ---- locks, so that only one process writes to an output ----
 *
 * The kernel frees a lock when the last descriptor of the open file is closed, also when the
 * process is killed. So an unlocked temporary file belongs to no running process. */

enum cov_lock_result {
    COV_LOCKED,
    COV_LOCK_HELD,        /* another open file holds the lock */
    COV_LOCK_UNSUPPORTED, /* the file system has no locks, as on some NFS and Lustre mounts */
    COV_LOCK_FAILED,      /* with errno */
};

/* Tries to lock the whole file, which must be open for writing. Does not wait. */
enum cov_lock_result cov_lock(int fd);

/* Returns true if `path` itself, not the target of a symbolic link, is the regular file that is
 * open as `fd`. */
bool cov_lock_is_at(int fd, const char *path);

#endif
