/* h5_copy.c - copies a file by reading and writing it with the library, for tests.
 *
 * usage: h5_copy genome|predicted|measured COMPRESSION[/TYPE] IN OUT
 * Measured coverage is written as predictions. TYPE: int16, int32 (default), int64, float32.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/chunk/predictions.h"
#include "common/signal/signal_file.h"
#include "tests/lib/genome_io.h"
#include "tests/lib/predictions_writer.h"

static int copy_genome(struct cov_codec_choice compression, const char *in, const char *out,
                       struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    struct cov_chunk_writer *w = NULL;
    struct cov_blob raw = COV_BLOB_INIT, packed = COV_BLOB_INIT;
    uint8_t *codes = NULL;
    int rc = cov_chunk_file_open_bases(in, &f, e);
    if (rc)
        goto out;
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    codes = cov_malloc(cov_grid_chunk_length(grid), 1, e);
    rc = codes ? genome_create(out, cov_grid_chunk_length(grid), compression, in, &w, e)
               : COV_ENOMEM;
    for (size_t i = 0; !rc && i < cov_grid_n_chunks(grid); i++) {
        rc = genome_fetch(f, i, &raw, e);
        if (!rc)
            rc = genome_decode(f, i, &raw, codes, e);
        if (!rc)
            rc = genome_encode(w, codes, &packed, e);
        if (!rc)
            rc = genome_put(w, i, &packed, e);
    }
    if (!rc) {
        rc = cov_chunk_writer_finish(w, grid, e);
        w = NULL;
    }
out:
    cov_chunk_writer_abort(w);
    cov_chunk_file_close(f);
    cov_blob_fini(&raw);
    cov_blob_fini(&packed);
    free(codes);
    return rc;
}

static int copy_signal(enum cov_signal_kind kind, struct cov_predictions_options *options,
                       const char *in, const char *out, struct cov_err *e)
{
    struct cov_signal *f = NULL;
    struct predictions_writer *w = NULL;
    struct cov_blob raw = COV_BLOB_INIT, packed = COV_BLOB_INIT;
    float *rows = NULL, *columns = NULL;
    const char **names = NULL;
    size_t *ks = NULL;
    int rc = cov_signal_open(in, NULL, kind, &f, e);
    if (rc)
        goto out;
    const struct cov_grid *grid = f->grid;
    size_t L = cov_grid_chunk_length(grid), D = f->n_parts;
    rows = cov_malloc(L * D, sizeof *rows, e);
    columns = cov_malloc(L * D, sizeof *columns, e);
    names = cov_malloc(D, sizeof *names, e);
    ks = cov_malloc(D, sizeof *ks, e);
    rc = rows && columns && names && ks ? 0 : COV_ENOMEM;
    if (rc)
        goto out;
    for (size_t k = 0; k < D; k++) {
        names[k] = f->parts[k].name;
        ks[k] = k;
        if (cov_signal_is_float(f, k))
            options->type = COV_PREDICTIONS_FLOAT32;
    }
    options->datasets = names;
    options->n_datasets = D;
    rc = predictions_writer_new(out, grid, options, &w, e);
    for (size_t i = 0; !rc && i < cov_grid_n_chunks(grid); i++) {
        rc = cov_signal_fetch(f, i, ks, D, &raw, e);
        if (!rc)
            rc = cov_signal_decode_row(f, i, ks, D, &raw, rows, e);
        if (rc)
            break;
        for (size_t k = 0; k < D; k++)
            for (size_t t = 0; t < L; t++)
                columns[t * D + k] = rows[k * L + t];
        rc = predictions_writer_encode(w, i, columns, &packed, e);
        if (!rc)
            rc = predictions_writer_put(w, i, &packed, e);
    }
    if (!rc) {
        rc = predictions_writer_close(w, e);
        w = NULL;
    }
out:
    predictions_writer_abort(w);
    cov_signal_close(f);
    cov_blob_fini(&raw);
    cov_blob_fini(&packed);
    free(rows);
    free(columns);
    free(names);
    free(ks);
    return rc;
}

static enum cov_predictions_type type_of(const char *name)
{
    static const char *const names[] = {"int16", "int32", "int64", "float32"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum cov_predictions_type)i;
    return COV_PREDICTIONS_INT32;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        (void)fprintf(stderr,
                      "usage: h5_copy genome|predicted|measured COMPRESSION[/TYPE] IN OUT\n");
        return 2;
    }
    struct cov_err e = COV_ERR_INIT;
    struct cov_predictions_options options = {.model_name = "model.ckpt",
                                              .type = COV_PREDICTIONS_INT32};
    char *slash = strchr(argv[2], '/');
    if (slash) {
        *slash = '\0';
        options.type = type_of(slash + 1);
    }
    int rc = cov_codec_parse(argv[2], &options.compression, &e);
    if (rc)
        (void)0;
    else if (strcmp(argv[1], "genome") == 0)
        rc = copy_genome(options.compression, argv[3], argv[4], &e);
    else
        rc = copy_signal(strcmp(argv[1], "measured") == 0 ? COV_SIGNAL_MEASURED
                                                          : COV_SIGNAL_PREDICTED,
                         &options, argv[3], argv[4], &e);
    if (rc)
        (void)fprintf(stderr, "h5_copy: error: %s\n", e.text);
    return rc != 0;
}
