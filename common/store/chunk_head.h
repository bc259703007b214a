/* chunk_head.h - what a file of chunks holds besides its rows: the data sets that have one row a
 * chunk, those that have not, and attributes.
 *
 * The same for HDF5 files (chunk_file.h) and for the chunk stream (stream.h): what is read from one
 * can be written to the other. Bases are not among the data sets here; they travel as codes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_CHUNK_HEAD_H
#define COV_STORE_CHUNK_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/store/h5_rows.h"

/* A data set of one row a chunk: [n_chunks, positions, columns] elements. Elements outside HDF5 are
 * little-endian. */
struct cov_chunk_set {
    char *name; /* "prediction/predictions", "evaluation/atacseq_coverage", "data/blacklist" */
    struct cov_h5_type type; /* not big-endian */
    int rank;                /* 1 to 3, the rows included */
    size_t dims[2];          /* positions and columns; 1 where the rank is less */
    uint8_t *fill;           /* one element: what is in rows that were never written */
};

/* A whole data set that is not by chunks: "prediction/datasets",
 * "evaluation/atacseq_meta/bam_files". */
struct cov_chunk_table {
    char *name;
    struct cov_h5_type type; /* not big-endian */
    int rank;
    size_t dims[3];
    uint8_t *elems;
    size_t n_bytes;
};

/* A text attribute of the file, or, with a `set`, of one of its data sets. */
struct cov_chunk_attr {
    char *set; /* NULL: of the file */
    char *name, *text;
};

struct cov_chunk_head {
    size_t L;
    bool has_bases;
    struct cov_chunk_set *sets;
    size_t n_sets;
    struct cov_chunk_table *tables;
    size_t n_tables;
    struct cov_chunk_attr *attrs;
    size_t n_attrs;
};

/* More data sets, tables or attributes than this are a damaged file. */
enum { COV_CHUNK_MAX_SETS = 4096 };

/* All zero is an empty head. Everything in it is owned. */
void cov_chunk_head_fini(struct cov_chunk_head *h);
int cov_chunk_head_copy(const struct cov_chunk_head *from, struct cov_chunk_head *to,
                        struct cov_err *e) COV_MUST_USE;

/* What is added is copied and checked: COV_EINPUT for a name that is there already or is none of a
 * data set, or that belongs to the grid or the bases (data/X, data/seqids, ...), for a type, rank
 * or size that cannot be, and for more than COV_CHUNK_MAX_SETS; n_bytes and dims of a table agree,
 * and the data set of an attribute is there. A set without `fill` is filled with zeros. */
int cov_chunk_head_add_set(struct cov_chunk_head *h, const struct cov_chunk_set *set,
                           struct cov_err *e) COV_MUST_USE;
int cov_chunk_head_add_table(struct cov_chunk_head *h, const struct cov_chunk_table *table,
                             struct cov_err *e) COV_MUST_USE;
/* n texts, zero-padded to `width` or the longest of them. */
int cov_chunk_head_add_texts(struct cov_chunk_head *h, const char *name, size_t width, size_t n,
                             const char *const *texts, struct cov_err *e) COV_MUST_USE;
int cov_chunk_head_add_attr(struct cov_chunk_head *h, const char *set, const char *name,
                            const char *text, struct cov_err *e) COV_MUST_USE;

/* NULL is accepted for `set` (the file), as above. Without such an attribute nothing happens. */
void cov_chunk_head_drop_attr(struct cov_chunk_head *h, const char *set, const char *name);

/* NULL when there is none. */
const struct cov_chunk_set *cov_chunk_head_set(const struct cov_chunk_head *h, const char *name);
const struct cov_chunk_table *cov_chunk_head_table(const struct cov_chunk_head *h,
                                                   const char *name);
const char *cov_chunk_head_attr(const struct cov_chunk_head *h, const char *set, const char *name);
/* Whether both have the same text in it, or neither has it. */
bool cov_chunk_head_same_attr(const struct cov_chunk_head *a, const struct cov_chunk_head *b,
                              const char *set, const char *name);

/* Whether `name` is a data set of the grid or of the bases, which are not among the sets. */
bool cov_chunk_head_is_reserved(const char *name);

/* Bytes of one row of a set. */
size_t cov_chunk_set_row_bytes(const struct cov_chunk_set *set);

#endif
