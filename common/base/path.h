/* path.h - names of files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_PATH_H
#define COV_BASE_PATH_H

#include <stdbool.h>

#include "common/base/err.h"

/* The name without folder, without ".gz", and without one known suffix of a FASTA, HDF5,
 * bedGraph, bigWig, BAM or checkpoint file, letters in any case: "x.1.fa.gz" -> "x.1"; "-" ->
 * "stdin". A name that is nothing but a suffix (".fa") stays. Caller frees. */
char *cov_path_stem(const char *path, struct cov_err *e) COV_MUST_USE;

/* The folder `path` lies in: "a/b" and "a/b/" -> "a", "b" -> ".", "/b" -> "/". Caller frees. */
char *cov_path_dir(const char *path, struct cov_err *e) COV_MUST_USE;

/* "dir/name", with one slash between. Caller frees. */
char *cov_path_join(const char *dir, const char *name, struct cov_err *e) COV_MUST_USE;

/* Whether the name ends in `suffix`, letters in any case. */
bool cov_path_has_suffix(const char *path, const char *suffix);

/* Whether the name says that a folder is meant: a trailing slash, or a folder that is there. */
bool cov_path_names_dir(const char *path);

/* COV_EINPUT if a folder is at `path`, where a file is to be read; whatever else is there, or nothing, is none of its
 * business. */
int cov_path_check_file(const char *path, struct cov_err *e) COV_MUST_USE;

/* "-" */
bool cov_path_is_std(const char *path);

#endif
