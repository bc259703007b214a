/* signal_source.c - see signal_source.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/signal_source.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/bgz.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/store/signal_stream.h"

struct cov_signal_source {
    struct cov_signal_file *file;
    struct cov_signal_stream *stream; /* one of the two */
    char *path;
};

void cov_signal_piece_fini(struct cov_signal_piece *p)
{
    cov_blob_fini(&p->raw[0]);
    cov_blob_fini(&p->raw[1]);
}

/* A regular file is looked at; whatever else can be read from one end to the other only is taken for
 * a stream. */
static bool is_stream(const char *path)
{
    struct stat st;
    struct cov_bgz *b;
    bool yes = false;
    if (cov_path_is_std(path))
        return true;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    if (!S_ISREG(st.st_mode))
        return true;
    /* That it cannot be opened is told by who opens it next. */
    if (st.st_size == 0 || cov_bgz_open_read(path, 1, &b, NULL))
        return false;
    if (cov_stream_is(b, &yes, NULL))
        yes = false;
    cov_bgz_abort(b);
    return yes;
}

int cov_signal_source_open(const char *path, struct cov_bgz *in, enum cov_signal_kind kind,
                           struct cov_signal_source **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_signal_source *s = cov_calloc(1, sizeof *s, e);
    int rc = COV_ENOMEM;
    if (s)
        s->path = cov_strdup(path, e);
    if (!s || !s->path)
        cov_bgz_abort(in);
    else if (in)
        rc = cov_signal_stream_new(in, kind, &s->stream, e);
    else
        rc = is_stream(path) ? cov_signal_stream_open(path, kind, &s->stream, e)
                             : cov_signal_file_open(path, kind, &s->file, e);
    if (rc)
        cov_signal_source_close(s);
    else
        *out = s;
    return rc;
}

void cov_signal_source_close(struct cov_signal_source *s)
{
    if (!s)
        return;
    cov_signal_file_close(s->file);
    cov_signal_stream_close(s->stream);
    free(s->path);
    free(s);
}

const char *cov_signal_source_name(const struct cov_signal_source *s)
{
    return s->stream ? cov_signal_stream_name(s->stream) : s->path;
}

const struct cov_grid *cov_signal_source_grid(const struct cov_signal_source *s)
{
    return s->stream ? NULL : cov_signal_file_grid(s->file);
}

size_t cov_signal_source_chunk_length(const struct cov_signal_source *s)
{
    return s->stream ? cov_signal_stream_chunk_length(s->stream)
                     : cov_grid_chunk_length(cov_signal_file_grid(s->file));
}

size_t cov_signal_source_n_datasets(const struct cov_signal_source *s)
{
    return s->stream ? cov_signal_stream_n_datasets(s->stream)
                     : cov_signal_file_n_datasets(s->file);
}

const char *cov_signal_source_dataset(const struct cov_signal_source *s, size_t k)
{
    return s->stream ? cov_signal_stream_dataset(s->stream, k)
                     : cov_signal_file_dataset(s->file, k);
}

bool cov_signal_source_has_gaps(const struct cov_signal_source *s)
{
    return s->stream ? cov_signal_stream_has_gaps(s->stream) : cov_signal_file_has_gaps(s->file);
}

bool cov_signal_source_is_float(const struct cov_signal_source *s, size_t k)
{
    return s->stream ? cov_signal_stream_is_float(s->stream, k)
                     : cov_signal_file_is_float(s->file, k);
}

int cov_signal_source_fetch(struct cov_signal_source *s, const size_t rows[2], const size_t *ks,
                            size_t n_ks, struct cov_signal_piece *piece, struct cov_err *e)
{
    int rc = COV_OK;
    for (int strand = 0; strand < 2 && !rc; strand++) {
        piece->rows[strand] = rows[strand];
        if (rows[strand] != COV_NO_ROW)
            rc = cov_signal_file_fetch(s->file, rows[strand], ks, n_ks, &piece->raw[strand], e);
    }
    return rc;
}

int cov_signal_source_next(struct cov_signal_source *s, struct cov_stream_item *item,
                           struct cov_signal_piece *piece, struct cov_err *e)
{
    return cov_stream_next(cov_signal_stream_records(s->stream), item, &piece->raw[0], e);
}

int cov_signal_source_decode(const struct cov_signal_source *s, const char *sequence,
                             const size_t *ks, size_t n_ks, struct cov_signal_piece *piece,
                             float *const values[2], struct cov_err *e)
{
    if (s->stream) {
        const struct cov_signal_output out = {ks, n_ks, {values[0], values[1]}};
        return cov_signal_stream_decode(s->stream, sequence, &piece->raw[0], &out, &piece->raw[1],
                                        e);
    }
    int rc = COV_OK;
    for (int strand = 0; strand < 2 && !rc; strand++)
        if (values[strand])
            rc = cov_signal_file_decode(s->file, piece->rows[strand], ks, n_ks, &piece->raw[strand],
                                        values[strand], e);
    return rc;
}
