/* torch_file.h - reads files written by torch.save (PyTorch 1.6 and newer): zip archives of one
 * pickle, <name>/data.pkl, and raw storages, <name>/data/<key>.
 *
 * Reading a file yields the pickle's tree of values; tensors are read on demand. Nothing in a file
 * is executed: names that the pickle imports are looked up in a fixed allow-list and kept as data;
 * any other name is an error.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_TORCH_FILE_H
#define COV_CKPT_TORCH_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/ckpt/pickle.h"

/* Element types in a file. In memory, there are only float32 and int64. */
enum cov_torch_dtype {
    COV_TORCH_FLOAT32,
    COV_TORCH_FLOAT64,
    COV_TORCH_FLOAT16,
    COV_TORCH_BFLOAT16,
    COV_TORCH_INT64,
    COV_TORCH_INT32,
    COV_TORCH_INT16,
    COV_TORCH_INT8,
    COV_TORCH_UINT8,
    COV_TORCH_BOOL,
};

enum { COV_TORCH_MAX_DIMS = 8 };

/* A tensor. In memory it is contiguous, in row-major order, whatever its strides in the file. */
struct cov_torch_tensor {
    char *name; /* Owned */
    enum cov_torch_dtype dtype;
    int n_dims; /* 0: a scalar, which has one element */
    int64_t shape[COV_TORCH_MAX_DIMS];
    size_t n_elems;
    float *f32;   /* [n_elems] if the type is floating, else NULL; 64-byte aligned. Owned */
    int64_t *i64; /* [n_elems] if it is an integer or bool, else NULL; 64-byte aligned. Owned */
};

/* Frees what *t owns. */
void cov_torch_tensor_fini(struct cov_torch_tensor *t);

const char *cov_torch_dtype_name(enum cov_torch_dtype dtype); /* "float32" */

/* Allocates the zeroed elements of a tensor whose other fields are set. */
int cov_torch_tensor_alloc(struct cov_torch_tensor *t, struct cov_err *e) COV_MUST_USE;

struct cov_torch_file;

/* Opens `path` and reads its pickle. The message of a failure names the fault: the file is not a
 * zip archive, or is damaged; compressed entries; big-endian storages; a name that is not
 * allowed; ... */
int cov_torch_open(const char *path, struct cov_torch_file **out, struct cov_err *e) COV_MUST_USE;
void cov_torch_close(struct cov_torch_file *f); /* NULL is accepted */

/* Returns the top-level value. Borrowed until close. */
const struct cov_pickle_value *cov_torch_root(const struct cov_torch_file *f);

/* Reads the tensor (or nn.Parameter) described by `v`, a value below the root. Overwrites *out;
 * free it with cov_torch_tensor_fini. `name` is copied into *out and used in messages. Every
 * index is checked against the size of the storage; float64 is rounded to float32. Fails with
 * COV_EINPUT if `v` is not a tensor, reaches past its storage, has impossible sizes (all tensors
 * read from this file together have more elements than the file has bytes), or has NaN or
 * infinite values. */
int cov_torch_read_tensor(struct cov_torch_file *f, const struct cov_pickle_value *v,
                          const char *name, struct cov_torch_tensor *out,
                          struct cov_err *e) COV_MUST_USE;

#endif
