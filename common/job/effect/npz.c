/* npz.c - see npz.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/ckpt/zip.h"

/* The head is a magic number, its version, the length of the text, and the text: a Python dict that
 * is filled up with blanks and ends in a newline. */
enum { PREFIX_BYTES = 10, HEAD_BYTES = 192 };
#define ZIP64_BYTES 0xff000000U

int cov_npz_init(struct cov_npz *z, const size_t dims[3], struct cov_err *e)
{
    static const char magic[] = "\x93NUMPY\x01";
    const size_t n_text = HEAD_BYTES - PREFIX_BYTES;
    size_t n;
    *z = (struct cov_npz){.n_head = HEAD_BYTES};
    if (cov_size_mul(dims[0], dims[1], &n) || cov_size_mul(n, dims[2], &n) ||
        cov_size_mul(n, sizeof(float), &n) || cov_size_add(n, HEAD_BYTES, &z->n_bytes))
        return cov_fail(e, COV_ENOMEM, "an array of %zu x %zu x %zu is too large", dims[0], dims[1],
                        dims[2]);
    z->bytes = cov_malloc(z->n_bytes, 1, e);
    if (!z->bytes)
        return COV_ENOMEM;
    memset(z->bytes, ' ', HEAD_BYTES);
    memcpy(z->bytes, magic, sizeof magic); /* with the zero, the minor version */
    z->bytes[PREFIX_BYTES - 2] = (uint8_t)n_text;
    z->bytes[PREFIX_BYTES - 1] = (uint8_t)(n_text >> 8);
    char *text = (char *)z->bytes + PREFIX_BYTES;
    const int used = snprintf(
        text, n_text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu, %zu), }",
        dims[0], dims[1], dims[2]);
    text[used] = ' ';
    text[n_text - 1] = '\n';
    return COV_OK;
}

void cov_npz_fini(struct cov_npz *z)
{
    free(z->bytes);
    *z = (struct cov_npz){0};
}

float *cov_npz_values(const struct cov_npz *z)
{
    return (float *)(void *)(z->bytes + z->n_head);
}

int cov_npz_write(const struct cov_npz *z, const char *path, struct cov_err *e)
{
    struct cov_zip_writer *w = NULL;
    int rc = cov_zip_create(path, z->n_bytes > ZIP64_BYTES, &w, e);
    if (rc)
        return rc;
    rc = cov_zip_add(w, "arr_0.npy", z->bytes, z->n_bytes, e);
    if (!rc)
        return cov_zip_finish(w, e);
    cov_zip_abort(w);
    return rc;
}
