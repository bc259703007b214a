/* source.c - see source.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/source.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/store/genome_file.h"
#include "common/store/h5_probe.h"

struct cov_source {
    struct cov_genome *genome; /* a FASTA: bases and grid */
    struct cov_grid *grid;
    struct cov_genome_file *file; /* or a genome file */
};

int cov_source_is_hdf5(const char *path, bool *yes, struct cov_err *e)
{
    *yes = false;
    return cov_path_is_std(path) ? COV_OK : cov_h5_is_signed(path, yes, e);
}

static int open_fasta(struct cov_source *s, const char *path, const struct cov_source_options *o,
                      struct cov_progress *progress, struct cov_err *e)
{
    char *stem = NULL;
    int rc = cov_genome_read(path, &o->genome, progress, &s->genome, e);
    if (rc)
        return rc;
    if (!o->species) {
        stem = cov_path_stem(path, e);
        if (!stem)
            return COV_ENOMEM;
    }
    rc = cov_grid_new(s->genome->n_seqs, s->genome->names, s->genome->lengths,
                      o->species ? o->species : stem, o->chunk_length, &s->grid, e);
    free(stem);
    return rc;
}

int cov_source_open(const char *path, const struct cov_source_options *options,
                    struct cov_progress *progress, struct cov_source **out, struct cov_err *e)
{
    struct cov_source *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return COV_ENOMEM;
    bool hdf5;
    int rc = cov_source_is_hdf5(path, &hdf5, e);
    if (rc == COV_OK)
        rc = hdf5 ? cov_genome_file_open(path, &s->file, e)
                  : open_fasta(s, path, options, progress, e);
    if (rc) {
        cov_source_close(s);
        return rc;
    }
    *out = s;
    return COV_OK;
}

void cov_source_close(struct cov_source *s)
{
    if (!s)
        return;
    cov_genome_file_close(s->file);
    cov_genome_free(s->genome);
    cov_grid_free(s->grid);
    free(s);
}

const struct cov_grid *cov_source_grid(const struct cov_source *s)
{
    return s->file ? cov_genome_file_grid(s->file) : s->grid;
}

int cov_source_fetch(struct cov_source *s, size_t i, struct cov_blob *raw, struct cov_err *e)
{
    cov_blob_clear(raw);
    /* A FASTA's codes are read by the worker that needs them. */
    return s->file ? cov_genome_file_fetch(s->file, i, raw, e) : COV_OK;
}

int cov_source_codes(const struct cov_source *s, size_t i, struct cov_blob *raw, uint8_t *codes,
                     struct cov_err *e)
{
    return s->file ? cov_genome_file_decode(s->file, i, raw, codes, e)
                   : cov_genome_chunk(s->genome, s->grid, i, codes, e);
}
