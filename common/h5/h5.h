/* h5.h - HDF5 files: describes datasets, reads them row by row, and writes them chunk by chunk.
 *
 * Only the files of this header use libhdf5. libhdf5 is not thread-safe, so only one thread at a
 * time may call the functions here. Errors name the file and the dataset. Chunks are read and
 * written in their encoded form, so that other threads can run filters and conversions (h5_rows.h,
 * codec.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_H5_H
#define COV_H5_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/h5/h5_rows.h"

struct cov_h5;     /* an open file */
struct cov_h5_set; /* an open dataset; must be closed before its file */

/* Prints a line per library that covtools uses, for --version, for example "HDF5 1.10.8": the
 * version loaded at run time if the library reports it, otherwise the version at build time. */
void cov_libraries_print(FILE *f);

/* ---- checks before libhdf5 opens a file (h5_probe.c) ---- */

/* Sets *yes to whether the regular file at `path` has an HDF5 signature. Other kinds of files are
 * not read. */
int cov_h5_is_signed(const char *path, bool *yes, struct cov_err *e) COV_MUST_USE;

/* First reads the superblock. COV_EIO if the file cannot be read; COV_EINPUT if it is not a regular
 * file, is empty, has no HDF5 signature, has a superblock of an unknown version, or is shorter than
 * the superblock says.
 *
 * Then a child process, limited to 5 s of CPU and 2 GiB of memory, opens the file and all its
 * datasets and fetches their first and last rows. libhdf5 (1.10.8 at least) crashes or hangs on some
 * damaged files; if the child crashes or hangs, the result is COV_EINPUT. In a test with tens of
 * thousands of randomly damaged copies of small files, libhdf5 crashed only on opening, never
 * later. A file with a metadata cache image is also COV_EINPUT, because a damaged image makes
 * libhdf5 write out of bounds, and the child may survive that. h5py and the HDF5 tools write such
 * images only on request.
 *
 * The probe takes 1 to 2 ms, or 5 to 20 ms in a process that uses 1 GB. Other threads may run
 * during the probe, because they do not use libhdf5 and the child uses nothing else. (Under
 * AddressSanitizer no other threads should run: a fork may leave its allocator locked in the
 * child.) If no process can be created, the file is trusted.
 *
 * Sets *good_texts to whether all text attributes of variable length could be read within 64 MiB of
 * memory. libhdf5 allocates and fills whatever size a damaged file claims, up to 4 GiB. */
int cov_h5_probe(const char *path, bool *good_texts, struct cov_err *e) COV_MUST_USE;

/* ---- reading ---- */

/* Opens for reading, without file locks, after cov_h5_probe accepted the file. */
int cov_h5_open(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
/* The same without the probe. */
int cov_h5_open_unchecked(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
void cov_h5_close(struct cov_h5 *f); /* NULL is accepted */
const char *cov_h5_path(const struct cov_h5 *f);
uint64_t cov_h5_bytes(const struct cov_h5 *f); /* the size of the file */

/* Returns 1 if there is an object of this name ("data/X"), 0 if not, or a negative COV_E* if the file
 * cannot be read. */
int cov_h5_has(const struct cov_h5 *f, const char *name, struct cov_err *e) COV_MUST_USE;

/* Lists the names of the links in group `name` in byte order: *n names in (*names)[], none if the
 * group does not exist. Free with cov_h5_free_names. */
int cov_h5_list(const struct cov_h5 *f, const char *name, char ***names, size_t *n,
                struct cov_err *e) COV_MUST_USE;
void cov_h5_free_names(char **names, size_t n);

/* A file with more datasets, or an object with more attributes, is damaged. */
enum { COV_H5_MAX_SETS = 4096 };

/* Lists the full names ("data/X") of all datasets at any depth, group by group in byte order; free
 * with cov_h5_free_names. COV_EINPUT for more than COV_H5_MAX_SETS datasets or too deeply nested groups;
 * COV_EUNSUPPORTED for soft and external links. */
int cov_h5_list_sets(const struct cov_h5 *f, char ***names, size_t *n,
                     struct cov_err *e) COV_MUST_USE;
/* Does the same for groups; the file itself is not listed. */
int cov_h5_list_groups(const struct cov_h5 *f, char ***names, size_t *n,
                       struct cov_err *e) COV_MUST_USE;

/* An attribute. cov_h5_list_attrs lists those of dataset or group `set`, or of the file if `set` is
 * NULL, in byte order. */
struct cov_h5_attr {
    char *name;
    char *text;    /* NULL: not a text */
    bool is_int;   /* a single integer */
    int64_t value; /* the integer */
};
int cov_h5_list_attrs(const struct cov_h5 *f, const char *set, struct cov_h5_attr **attrs,
                      size_t *n, struct cov_err *e) COV_MUST_USE;
void cov_h5_free_attrs(struct cov_h5_attr *attrs, size_t n);

/* Opens a dataset of `rank` dimensions, or of 1 to 3 if `rank` is 0. COV_EINPUT if the dataset is
 * missing, or has the wrong rank, a type not in h5_rows.h, or rows or chunks of more than
 * COV_H5_MAX_BYTES, or makes claims as below; COV_EUNSUPPORTED for an unknown filter. */
int cov_h5_set_open(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                    struct cov_err *e) COV_MUST_USE;
/* The same, but *out = NULL if the dataset is missing. */
int cov_h5_set_find(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                    struct cov_err *e) COV_MUST_USE;
/* The same as cov_h5_set_open without a check of claims. */
int cov_h5_set_open_unchecked(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                              struct cov_err *e) COV_MUST_USE;
/* The same, for benchmarks: libhdf5 undoes all filters, as it does for h5py. */
int cov_h5_set_open_plain(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                          struct cov_err *e) COV_MUST_USE;
/* Refuses a small file that claims to be large, with COV_EINPUT: if too much of the datasets
 * checked so far is not stored, so that it has fill values, or if a chunk is much larger than its
 * dataset. */
int cov_h5_set_check_claims(struct cov_h5 *f, struct cov_h5_set *s, struct cov_err *e) COV_MUST_USE;
void cov_h5_set_close(struct cov_h5_set *s); /* NULL is accepted */

/* Returns the description that cov_h5_unpack needs to decode the result of cov_h5_set_fetch. Any
 * thread. Borrowed until close. */
const struct cov_h5_rows *cov_h5_set_rows(const struct cov_h5_set *s);

/* How a dataset is stored. */
struct cov_h5_storage {
    struct cov_h5_type type;
    int rank;
    size_t dims[3];
    bool chunked;
    size_t chunk[3];
    char filters[120];     /* "shuffle, gzip 4" */
    uint64_t stored_bytes; /* in the file */
};
int cov_h5_set_storage(const struct cov_h5_set *s, struct cov_h5_storage *out,
                       struct cov_err *e) COV_MUST_USE;

/* Adds the stored pieces of columns [col, col + n_cols) of one row to *raw. */
int cov_h5_set_fetch(struct cov_h5_set *s, size_t row, size_t col, size_t n_cols,
                     struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* Sets dst[n_rows][dims[1]][n_cols] to these rows and columns, unpacked. */
int cov_h5_set_read(struct cov_h5_set *s, size_t row, size_t n_rows, size_t col, size_t n_cols,
                    void *dst, struct cov_err *e) COV_MUST_USE;

/* ---- writing: the same calls write the same bytes; no times or paths are stored ---- */

/* Creates or truncates `path`. */
int cov_h5_create(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
/* Opens an existing file to change it. It should be a copy, since an interrupted change damages the
 * file. `path` has passed cov_h5_probe, or is a copy of a file that has. */
int cov_h5_open_to_change(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
/* Removes a dataset, if there is one of this name. */
int cov_h5_remove(struct cov_h5 *f, const char *name, struct cov_err *e) COV_MUST_USE;
/* Flushes and closes; always frees *f. */
int cov_h5_finish(struct cov_h5 *f, struct cov_err *e) COV_MUST_USE;

/* Write an attribute of the existing dataset or group `set`, or of the file if `set` is NULL: a
 * string, stored as h5py stores a str, or a 64-bit integer. */
int cov_h5_write_attr(struct cov_h5 *f, const char *set, const char *name, const char *text,
                      struct cov_err *e) COV_MUST_USE;
int cov_h5_write_attr_int(struct cov_h5 *f, const char *set, const char *name, int64_t value,
                          struct cov_err *e) COV_MUST_USE;

/* A new dataset. Missing groups in its name are created. */
struct cov_h5_new {
    struct cov_h5_type type;
    int rank;
    size_t dims[3];
    bool unlimited[3];
    size_t chunk[3];
    struct cov_filter filters[3]; /* SHUFFLE, and any compression */
    size_t n_filters;
    int deflate_level;        /* declared in the file: 0..9 */
    int fill;                 /* for numbers; strings are zero-filled */
    const uint8_t *fill_elem; /* one element, little-endian, used instead of `fill` unless NULL */
};

int cov_h5_set_create(struct cov_h5 *f, const char *name, const struct cov_h5_new *spec,
                      struct cov_h5_set **out, struct cov_err *e) COV_MUST_USE;

/* Changes the number of rows; rows past the new end are lost. The first dimension must be
 * unlimited. */
int cov_h5_set_resize(struct cov_h5_set *s, size_t n_rows, struct cov_err *e) COV_MUST_USE;

/* Stores one piece (h5_rows.h) as the chunk that begins at element `at`, after adding rows if
 * needed. It may add too many, so call cov_h5_set_resize at the end. */
int cov_h5_set_put(struct cov_h5_set *s, const size_t at[3], const uint8_t *piece, size_t n,
                   struct cov_err *e) COV_MUST_USE;

/* Compresses n bytes of elements, padded with zeros to a whole chunk, and stores them as the chunk
 * that begins at element `at`. `spec` and `choice` must be those with which the dataset was
 * created. */
int cov_h5_set_put_elems(struct cov_h5_set *s, const struct cov_h5_new *spec,
                         struct cov_codec_choice choice, const size_t at[3], const uint8_t *elems,
                         size_t n, struct cov_err *e) COV_MUST_USE;

#endif
