/* source.c - see source.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/store/genome_file.h"

struct cov_source {
    struct cov_genome *genome; /* a FASTA: bases and grid */
    struct cov_grid *grid;
    struct cov_genome_file *file; /* or a genome file */
};

/* HDF5's signature stands at byte 0, or at 512, 1024, 2048 ... behind a user block. */
int cov_source_is_hdf5(const char *path, bool *yes, struct cov_err *e)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    *yes = false;
    struct stat st;
    if (cov_path_is_std(path))
        return COV_OK;
    if (stat(path, &st) != 0)
        return cov_fail_errno(e, "%s", path);
    if (!S_ISREG(st.st_mode)) /* looking into a pipe would take bytes out of it */
        return COV_OK;
    FILE *f = fopen(path, "rb");
    if (!f)
        return cov_fail_errno(e, "%s", path);
    unsigned char head[8];
    for (long at = 0; at <= 1L << 20; at = at ? at * 2 : 512) {
        if (fseek(f, at, SEEK_SET) != 0 || fread(head, 1, sizeof head, f) != sizeof head)
            break;
        if (memcmp(head, signature, sizeof head) == 0) {
            *yes = true;
            break;
        }
    }
    (void)fclose(f); /* opened for reading: nothing can be lost */
    return COV_OK;
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
