/* h5.h - HDF5 files: data sets described, fetched by rows, and written chunk by chunk.
 *
 * The one room that knows libhdf5. libhdf5 is not safe for threads: all functions here belong to
 * one thread at a time. Errors name the file and the data set. Bytes are fetched and stored as they
 * are in the file, so that filters and conversion (h5_rows.h, codec.h) can run in other threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_H
#define COV_STORE_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"
#include "common/store/h5_rows.h"

struct cov_h5;     /* an open file */
struct cov_h5_set; /* an open data set; must be closed before its file */

/* ---- reading ---- */

/* Opens for reading, without file locks, a file that has passed cov_h5_probe (h5_probe.h). */
int cov_h5_open(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
/* The same without the probe. */
int cov_h5_open_unchecked(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
void cov_h5_close(struct cov_h5 *f); /* NULL is accepted */
const char *cov_h5_path(const struct cov_h5 *f);

/* Whether there is an object of this name ("data/X"). */
bool cov_h5_has(const struct cov_h5 *f, const char *name);

/* The names of the links of group `name` in byte order: *n of them in (*names)[]. None when there
 * is no such group. Free with cov_h5_free_names. */
int cov_h5_list(const struct cov_h5 *f, const char *name, char ***names, size_t *n,
                struct cov_err *e) COV_MUST_USE;
void cov_h5_free_names(char **names, size_t n);

/* More data sets, or attributes of one object, than this are a damaged file. */
enum { COV_H5_MAX_SETS = 4096 };

/* The full names ("data/X") of all data sets, in byte order group by group, however deep; free with
 * cov_h5_free_names. COV_EINPUT for more than max_sets, for groups within groups without end, and
 * for links that are not plain ones. */
int cov_h5_list_sets(const struct cov_h5 *f, size_t max_sets, char ***names, size_t *n,
                     struct cov_err *e) COV_MUST_USE;

/* The attributes of data set `set`, NULL: of the file, in byte order. */
struct cov_h5_attr {
    char *name;
    char *text;    /* NULL: it is no text */
    bool is_int;   /* one integer */
    int64_t value; /* of it */
};
int cov_h5_list_attrs(const struct cov_h5 *f, const char *set, struct cov_h5_attr **attrs,
                      size_t *n, struct cov_err *e) COV_MUST_USE;
void cov_h5_free_attrs(struct cov_h5_attr *attrs, size_t n);

/* COV_EINPUT when it is missing, has another number of dimensions than `rank` (0: 1 to 3), has none
 * of the types of h5_rows.h, rows or chunks of more than COV_H5_MAX_BYTES, or filters that nobody
 * here knows. */
int cov_h5_set_open(struct cov_h5 *f, const char *name, int rank, struct cov_h5_set **out,
                    struct cov_err *e) COV_MUST_USE;
void cov_h5_set_close(struct cov_h5_set *s); /* NULL is accepted */

/* How cov_h5_unpack has to read what cov_h5_set_fetch gives. Any thread. Borrowed until close. */
const struct cov_h5_rows *cov_h5_set_rows(const struct cov_h5_set *s);

/* How a data set is stored. */
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

/* Adds pieces to *raw: columns [col, col + n_cols) of one row, as they are stored. */
int cov_h5_set_fetch(struct cov_h5_set *s, size_t row, size_t col, size_t n_cols,
                     struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* dst[n_rows][dims[1]][n_cols]: fetched and unpacked, on this thread. */
int cov_h5_set_read(struct cov_h5_set *s, size_t row, size_t n_rows, size_t col, size_t n_cols,
                    void *dst, struct cov_err *e) COV_MUST_USE;

/* ---- writing: the same calls make the same bytes, without times or paths ---- */

/* Creates or truncates `path`. */
int cov_h5_create(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
/* Opens a file that is there for changes: of a copy, as a change that is not finished leaves it
 * damaged. `path` has passed cov_h5_probe, or is a copy of what has. */
int cov_h5_open_to_change(const char *path, struct cov_h5 **out, struct cov_err *e) COV_MUST_USE;
/* Takes a data set out. */
int cov_h5_remove(struct cov_h5 *f, const char *name, struct cov_err *e) COV_MUST_USE;
/* Flushes and closes; frees *f in any case. */
int cov_h5_finish(struct cov_h5 *f, struct cov_err *e) COV_MUST_USE;

/* An attribute of data set `set`, which is there, or, NULL, of the file: a text, as h5py writes a
 * str; an integer of 64 bits. */
int cov_h5_write_attr(struct cov_h5 *f, const char *set, const char *name, const char *text,
                      struct cov_err *e) COV_MUST_USE;
int cov_h5_write_attr_int(struct cov_h5 *f, const char *set, const char *name, int64_t value,
                          struct cov_err *e) COV_MUST_USE;

/* A new data set. Groups in its name are made as needed. */
struct cov_h5_new {
    struct cov_h5_type type;
    int rank;
    size_t dims[3];
    bool unlimited[3];
    size_t chunk[3];
    struct cov_filter filters[3]; /* SHUFFLE, and any compression */
    size_t n_filters;
    int deflate_level;        /* as declared in the file: 0..9 */
    int fill;                 /* of numbers; strings are filled with zeros */
    const uint8_t *fill_elem; /* instead, if not NULL: one element, little-endian */
};

int cov_h5_set_create(struct cov_h5 *f, const char *name, const struct cov_h5_new *spec,
                      struct cov_h5_set **out, struct cov_err *e) COV_MUST_USE;

/* Gives it n_rows rows; what was behind them is lost. The first dimension is unlimited. */
int cov_h5_set_resize(struct cov_h5_set *s, size_t n_rows, struct cov_err *e) COV_MUST_USE;

/* Stores one piece (h5_rows.h) as the chunk that begins at element `at`. If that is behind the last
 * row, there are rows up to it afterwards, and maybe some more, which cov_h5_set_resize is to take
 * away. */
int cov_h5_set_put(struct cov_h5_set *s, const size_t at[3], const uint8_t *piece, size_t n,
                   struct cov_err *e) COV_MUST_USE;

/* Compresses and stores n bytes of elements, zero-filled to a whole chunk, as the chunk that begins at
 * element `at`. `spec` and `choice` are those the data set was created with. */
int cov_h5_set_put_elems(struct cov_h5_set *s, const struct cov_h5_new *spec,
                         struct cov_codec_choice choice, const size_t at[3], const uint8_t *elems,
                         size_t n, struct cov_err *e) COV_MUST_USE;

/* HDF5's version, for --version. */
void cov_h5_version(char *buf, size_t n);

#endif
