/* chunk_head.h - the head of a file of chunks: its datasets with one row per chunk, its other
 * datasets (tables) and attributes. HDF5 files (chunk_file.h) and the chunk stream (stream.h) share it,
 * so that data read from one can be written to the other. The head does not list bases, which are
 * passed as codes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_CHUNK_HEAD_H
#define COV_CHUNK_CHUNK_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/h5/h5_rows.h"

/* A dataset with one row per chunk: [n_chunks, positions, columns] elements, little-endian outside
 * HDF5. */
struct cov_chunk_set {
    char *name; /* "prediction/predictions", "evaluation/atacseq_coverage", "data/blacklist" */
    struct cov_h5_type type; /* not big-endian */
    int rank;                /* 1 to 3, including the rows */
    size_t dims[2];          /* positions and columns; 1 if missing */
    uint8_t *fill;           /* one element: the fill value of missing rows */
};

/* A whole dataset that does not have one row per chunk, such as "prediction/datasets" or
 * "evaluation/atacseq_meta/bam_files". */
struct cov_chunk_table {
    char *name;
    struct cov_h5_type type; /* not big-endian */
    int rank;
    size_t dims[3];
    uint8_t *elems;
    size_t n_bytes;
};

/* The attribute of a file with the version of covtools that wrote it. */
#define COV_CHUNK_VERSION "covtools_version"

/* A text attribute of the file, of a dataset or of a group. */
struct cov_chunk_attr {
    char *set; /* the dataset or group; NULL: of the file */
    char *name, *text;
};

/* This attribute of a file says which part of a file it is: "2/3" (cov_parse_part). */
#define COV_SHARD_ATTR "shard"
/* This one has a fingerprint of the genome to which the part belongs. */
#define COV_GENOME_ATTR "genome_fingerprint"

struct cov_chunk_head {
    size_t L;
    bool has_bases;
    struct cov_chunk_set *sets;
    size_t n_sets, cap_sets;
    struct cov_chunk_table *tables;
    size_t n_tables, cap_tables;
    struct cov_chunk_attr *attrs;
    size_t n_attrs, cap_attrs;
};

/* A file with more datasets, tables or attributes is damaged. */
enum { COV_CHUNK_MAX_SETS = 4096 };

/* An all-zero head is empty. The head owns everything in it. */
void cov_chunk_head_fini(struct cov_chunk_head *h);
int cov_chunk_head_copy(const struct cov_chunk_head *from, struct cov_chunk_head *to,
                        struct cov_err *e) COV_MUST_USE;

/* The following functions copy and check their arguments. COV_EINPUT for a name that already
 * exists, is invalid, or belongs to the grid or the bases (data/X, data/seqids, ...); an impossible
 * type, rank or size; a table whose n_bytes and dims do not match; an attribute of a missing
 * dataset or group; and more than COV_CHUNK_MAX_SETS sets, tables or attributes. A set without `fill` is filled
 * with zeros. */
int cov_chunk_head_add_set(struct cov_chunk_head *h, const struct cov_chunk_set *set,
                           struct cov_err *e) COV_MUST_USE;
int cov_chunk_head_add_table(struct cov_chunk_head *h, const struct cov_chunk_table *table,
                             struct cov_err *e) COV_MUST_USE;
/* Adds a table of n strings, zero-padded to `width` or to the longest string, whichever is
 * longer. */
int cov_chunk_head_add_texts(struct cov_chunk_head *h, const char *name, size_t width, size_t n,
                             const char *const *texts, struct cov_err *e) COV_MUST_USE;
int cov_chunk_head_add_attr(struct cov_chunk_head *h, const char *set, const char *name,
                            const char *text, struct cov_err *e) COV_MUST_USE;

/* Removes an attribute of a dataset, or of the file if `set` is NULL. Does nothing if there is
 * none. */
void cov_chunk_head_drop_attr(struct cov_chunk_head *h, const char *set, const char *name);

/* Returns true for data, and for a group with a set or table, also in groups in it. */
bool cov_chunk_head_has_group(const struct cov_chunk_head *h, const char *name);
/* These return NULL if there is none. */
const struct cov_chunk_set *cov_chunk_head_set(const struct cov_chunk_head *h, const char *name);
const struct cov_chunk_table *cov_chunk_head_table(const struct cov_chunk_head *h,
                                                   const char *name);
const char *cov_chunk_head_attr(const struct cov_chunk_head *h, const char *set, const char *name);
/* Returns true if the attribute is the same in both, or missing in both. */
bool cov_chunk_head_same_attr(const struct cov_chunk_head *a, const struct cov_chunk_head *b,
                              const char *set, const char *name);

/* Returns true for a list of n texts. */
bool cov_chunk_table_is_list(const struct cov_chunk_table *t, size_t n);
/* Returns text i of a list without its padding; NULL if out of memory. Caller frees. */
char *cov_chunk_table_text(const struct cov_chunk_table *t, size_t i, struct cov_err *e);

/* Returns true if `name` is a dataset of the grid or the bases, which are not listed here. */
bool cov_chunk_head_is_reserved(const char *name);

/* Bytes of one row. */
size_t cov_chunk_set_row_bytes(const struct cov_chunk_set *set);

/* COV_EINPUT if the chunks are large, but nearly empty: even the longest sequence, of `longest`
 * bases, is much shorter than a chunk. With `so_far`, longer sequences may follow, so that only
 * chunks that take much memory are an error. */
int cov_chunk_head_check_fill(const struct cov_chunk_head *h, int64_t longest, bool so_far,
                              struct cov_err *e) COV_MUST_USE;

#endif
