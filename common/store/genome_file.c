/* genome_file.c - see genome_file.h: bases and grid in one.
 * SPDX-License-Identifier: MIT */
#include "common/store/genome_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/mem.h"
#include "common/base/tool.h"
#include "common/store/bases.h"
#include "common/store/chunk_table.h"
#include "common/store/h5.h"

/* Bytes of a row's species in the file. */
enum { SPECIES_BYTES = 25 };

/* ---- reading ---- */

struct cov_genome_file {
    struct cov_h5 *h5;
    struct cov_bases *bases;
    struct cov_grid *grid;
};

static int open_parts(struct cov_genome_file *f, const char *path, struct cov_err *e)
{
    int rc = cov_h5_open(path, &f->h5, e);
    if (rc)
        return rc;
    if (!cov_bases_are_in(f->h5) && cov_h5_has(f->h5, "prediction/predictions"))
        return cov_fail(e, COV_EINPUT,
                        "%s: this is a predictions file; a genome file with data/X is needed",
                        path);
    rc = cov_bases_open(f->h5, &f->bases, e);
    return rc ? rc
              : cov_chunk_table_read(f->h5, cov_bases_n_rows(f->bases), cov_bases_length(f->bases),
                                     &f->grid, e);
}

int cov_genome_file_open(const char *path, struct cov_genome_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_genome_file *f = cov_calloc(1, sizeof *f, e);
    int rc = f ? open_parts(f, path, e) : COV_ENOMEM;
    if (rc) {
        cov_genome_file_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_genome_file_close(struct cov_genome_file *f)
{
    if (!f)
        return;
    cov_grid_free(f->grid);
    cov_bases_close(f->bases);
    cov_h5_close(f->h5);
    free(f);
}

const struct cov_grid *cov_genome_file_grid(const struct cov_genome_file *f)
{
    return f->grid;
}

int cov_genome_file_fetch(struct cov_genome_file *f, size_t i, struct cov_blob *raw,
                          struct cov_err *e)
{
    cov_blob_clear(raw);
    return cov_bases_fetch(f->bases, i, raw, e);
}

int cov_genome_file_decode(const struct cov_genome_file *f, size_t i, struct cov_blob *raw,
                           uint8_t *codes, struct cov_err *e)
{
    return cov_bases_decode(f->bases, f->grid, i, raw, 0, codes, e);
}

/* ---- writing ---- */

struct cov_genome_writer {
    struct cov_h5 *h5;
    struct cov_bases_writer *bases;
};

/* As Python prints a time, which is what Helixer writes: local time, or, so that outputs can be
 * repeated, SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/) in UTC. */
static int write_timestamp(struct cov_h5 *h5, struct cov_err *e)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm tm;
    bool good;
    if (epoch && *epoch) {
        char *end;
        errno = 0;
        long long seconds = strtoll(epoch, &end, 10);
        time_t t = (time_t)seconds;
        good = !errno && !*end && seconds >= 0 && gmtime_r(&t, &tm);
        if (!good)
            return cov_fail(e, COV_EUSAGE, "SOURCE_DATE_EPOCH is not a number of seconds: %s",
                            epoch);
    } else {
        time_t now = time(NULL);
        good = localtime_r(&now, &tm);
    }
    char text[64];
    if (!good || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        return cov_fail(e, COV_EIO, "the time cannot be told");
    return cov_h5_write_attr(h5, NULL, "timestamp", text, e);
}

int cov_genome_writer_new(const char *path, const struct cov_grid *grid,
                          const struct cov_genome_writer_options *options,
                          struct cov_genome_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_genome_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    int rc = cov_h5_create(path, &w->h5, e);
    if (!rc)
        rc = write_timestamp(w->h5, e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, NULL, "input_path", options->input_path, e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, NULL, "covtools_version", cov_version(), e);
    if (!rc)
        rc = cov_chunk_table_write(w->h5, grid, SPECIES_BYTES, options->compression, e);
    if (!rc)
        rc = cov_bases_create(w->h5, COV_LAYOUT_ONEHOT, cov_grid_chunk_length(grid), 1,
                              options->compression, &w->bases, e);
    if (rc) {
        cov_genome_writer_abort(w);
        return rc;
    }
    *out = w;
    return COV_OK;
}

int cov_genome_writer_encode(const struct cov_genome_writer *w, const uint8_t *codes,
                             struct cov_blob *out, struct cov_err *e)
{
    cov_blob_clear(out);
    return cov_bases_encode(w->bases, 1, &codes, out, e);
}

int cov_genome_writer_put(struct cov_genome_writer *w, size_t i, const struct cov_blob *blob,
                          struct cov_err *e)
{
    return cov_bases_put(w->bases, i, blob, 0, e);
}

int cov_genome_writer_close(struct cov_genome_writer *w, struct cov_err *e)
{
    cov_bases_writer_close(w->bases);
    int rc = cov_h5_finish(w->h5, e);
    free(w);
    return rc;
}

void cov_genome_writer_abort(struct cov_genome_writer *w)
{
    if (!w)
        return;
    cov_bases_writer_close(w->bases);
    cov_h5_close(w->h5);
    free(w);
}
