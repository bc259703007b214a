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
#include "tests/lib/predictions_writer.h"

static struct predictions_writer out;

/* If rc is an error: prints it, and exits without an output. */
static void check(int rc, const struct cov_err *e)
{
    if (!rc)
        return;
    (void)fprintf(stderr, "h5_copy: error: %s\n", e->text);
    predictions_abort(&out);
    _Exit(1);
}

static void *memory(size_t n, size_t bytes)
{
    struct cov_err e = COV_ERR_INIT;
    void *p = cov_malloc(n, bytes, &e);
    check(p ? COV_OK : COV_ENOMEM, &e);
    return p;
}

static void copy_genome(struct cov_codec_choice compression, const char *from, const char *to)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_chunk_file *f;
    struct cov_blob raw = COV_BLOB_INIT;
    check(cov_chunk_file_open_bases(from, &f, &e), &e);
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    const size_t L = cov_grid_chunk_length(grid);
    uint8_t *codes = memory(L, 1);
    check(genome_create(to, L, compression, from, &out.writer, &e), &e);
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        check(genome_fetch(f, i, &raw, &e), &e);
        check(genome_decode(f, i, &raw, codes, &e), &e);
        check(put_row(out.writer, i, codes, NULL, &e), &e);
    }
    int rc = cov_chunk_writer_finish(out.writer, grid, &e);
    out.writer = NULL;
    check(rc, &e);
    cov_chunk_file_close(f);
    cov_blob_fini(&raw);
    free(codes);
}

static void copy_signal(enum cov_signal_kind kind, struct cov_predictions_options *options,
                        const char *from, const char *to)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_signal *f;
    struct cov_blob raw = COV_BLOB_INIT;
    check(cov_signal_open(from, NULL, kind, &f, &e), &e);
    const struct cov_grid *grid = f->grid;
    const size_t L = cov_grid_chunk_length(grid), D = f->n_parts;
    float *rows = memory(L * D, sizeof *rows), *columns = memory(L * D, sizeof *columns);
    const char **names = memory(D, sizeof *names);
    size_t *ks = memory(D, sizeof *ks);
    for (size_t k = 0; k < D; k++) {
        names[k] = f->parts[k].name;
        ks[k] = k;
        if (cov_signal_is_float(f, k))
            options->type = COV_PREDICTIONS_FLOAT32;
    }
    options->datasets = names;
    options->n_datasets = D;
    check(predictions_open(&out, to, grid, options, &e), &e);
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        check(cov_signal_fetch(f, i, ks, D, &raw, &e), &e);
        check(cov_signal_decode_row(f, i, ks, D, &raw, rows, &e), &e);
        for (size_t k = 0; k < D; k++)
            for (size_t t = 0; t < L; t++)
                columns[t * D + k] = rows[k * L + t];
        check(predictions_put(&out, i, columns, &e), &e);
    }
    int rc = predictions_close(&out, &e);
    out.writer = NULL;
    check(rc, &e);
    cov_signal_close(f);
    cov_blob_fini(&raw);
    free(rows);
    free(columns);
    free(names);
    free(ks);
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
    check(cov_codec_parse(argv[2], &options.compression, &e), &e);
    if (strcmp(argv[1], "genome") == 0)
        copy_genome(options.compression, argv[3], argv[4]);
    else
        copy_signal(strcmp(argv[1], "measured") == 0 ? COV_SIGNAL_MEASURED : COV_SIGNAL_PREDICTED,
                    &options, argv[3], argv[4]);
    return 0;
}
