/* genome_io.h - for tests: rows of chunk files, and genome files with bases only.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_GENOME_IO_H
#define TESTS_GENOME_IO_H

#include "common/chunk/chunk_file.h"

/* Writes row i: its codes, if the file has bases, and sets[k], its values of dataset k. */
static inline int put_row(struct cov_chunk_writer *w, size_t i, const uint8_t *codes,
                          const uint8_t *const *sets, struct cov_err *e)
{
    struct cov_blob blob = COV_BLOB_INIT;
    int rc = cov_chunk_writer_encode(w, 1, &codes, &sets, &blob, e);
    if (!rc)
        rc = cov_chunk_writer_put(w, i, &blob, 0, e);
    cov_blob_fini(&blob);
    return rc;
}

static inline int genome_fetch(struct cov_chunk_file *f, size_t i, struct cov_blob *raw,
                               struct cov_err *e)
{
    cov_blob_clear(raw);
    return cov_chunk_file_fetch(f, i, COV_CHUNK_BASES, raw, e);
}

static inline int genome_decode(const struct cov_chunk_file *f, size_t i, struct cov_blob *raw,
                                uint8_t *codes, struct cov_err *e)
{
    return cov_chunk_file_decode(f, i, COV_CHUNK_BASES, raw, codes, NULL, e);
}

/* Creates a one-hot file with chunks of L bases; the grid is an argument of
 * cov_chunk_writer_finish. */
static inline int genome_create(const char *path, size_t L, struct cov_codec_choice compression,
                                const char *input_path, struct cov_chunk_writer **out,
                                struct cov_err *e)
{
    const struct cov_chunk_writer_options options = {COV_LAYOUT_ONEHOT, compression, 0};
    struct cov_chunk_head head = {.L = L, .has_bases = true};
    *out = NULL;
    int rc = cov_chunk_head_add_attr(&head, NULL, "input_path", input_path, e);
    if (!rc)
        rc = cov_chunk_writer_new(path, &head, &options, out, e);
    cov_chunk_head_fini(&head);
    return rc;
}

#endif
