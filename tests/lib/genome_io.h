/* genome_io.h - for tests: genome files with bases only, read and written chunk by chunk.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_GENOME_IO_H
#define TESTS_GENOME_IO_H

#include "common/chunk/chunk_file.h"

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

static inline int genome_encode(const struct cov_chunk_writer *w, const uint8_t *codes,
                                struct cov_blob *out, struct cov_err *e)
{
    cov_blob_clear(out);
    return cov_chunk_writer_encode(w, 1, &codes, NULL, out, e);
}

static inline int genome_put(struct cov_chunk_writer *w, size_t i, const struct cov_blob *blob,
                             struct cov_err *e)
{
    return cov_chunk_writer_put(w, i, blob, 0, e);
}

#endif
