/* predict_output.c - see predict_output.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/predict_output.h"

#include <endian.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/stream.h"
#include "common/file/path.h"

/* The sets of the head. */
enum { PREDICTIONS, FINGERPRINTS, N_SETS };

struct cov_predict_output {
    struct cov_chunk_head head;
    const struct cov_grid *grid; /* of a file whose rows are known in advance */
    struct cov_chunk_writer *writer;
    struct cov_pair_writer *pairs; /* owns the writer, which encodes */
    struct cov_stream_writer *stream;
    struct cov_journal *journal; /* NULL: none; otherwise the writer only encodes */
};

static int open_predictions_file(struct cov_predict_output *o, const char *path,
                                 const struct cov_loader *loader,
                                 struct cov_codec_choice compression, const char *tmpdir,
                                 struct cov_err *e)
{
    const struct cov_chunk_writer_options how = {.compression = compression, .chunk_rows = 1};
    int rc = cov_chunk_writer_new(path, &o->head, &how, &o->writer, e);
    o->grid = cov_loader_grid(loader);
    if (rc || o->grid)
        return rc;
    rc = cov_pair_writer_new(o->writer, o->head.L, tmpdir, 0, cov_loader_is_partial(loader),
                             &o->pairs, e);
    if (rc)
        o->writer = NULL;
    return rc;
}

static int make_head(size_t L, const struct cov_predictions_options *options,
                     struct cov_chunk_head *out, struct cov_err *e)
{
    char name[] = COV_BASES_FINGERPRINT_SET;
    const struct cov_chunk_set fingerprints = {
        .name = name, .type = {COV_H5_INT, 8, false, false, '\0'}, .rank = 1, .dims = {1, 1}};
    int rc = cov_predictions_head(L, options, out, e);
    return rc ? rc : cov_chunk_head_add_set(out, &fingerprints, e);
}

int cov_predict_output_open(const char *path, const struct cov_loader *loader,
                            const struct cov_predictions_options *options, const char *tmpdir,
                            struct cov_journal *journal, struct cov_predict_output **out,
                            struct cov_err *e)
{
    *out = NULL;
    struct cov_predict_output *o = cov_calloc(1, sizeof *o, e);
    if (!o)
        return COV_ENOMEM;
    o->journal = journal;
    int rc = make_head(cov_loader_chunk_length(loader), options, &o->head, e);
    if (!rc && !journal && cov_path_is_std(path))
        rc = cov_stream_create(path, &o->head, cov_loader_is_partial(loader), false, 1, &o->stream,
                               e);
    else if (!rc)
        rc = open_predictions_file(o, journal ? NULL : path, loader, options->compression, tmpdir,
                                   e);
    if (rc) {
        cov_predict_output_abort(o);
        return rc;
    }
    *out = o;
    return COV_OK;
}

static size_t row_bytes(const struct cov_predict_output *o)
{
    return cov_chunk_set_row_bytes(&o->head.sets[PREDICTIONS]);
}

size_t cov_predict_output_scratch(const struct cov_predict_output *o)
{
    return 2 * row_bytes(o); /* both strands */
}

int cov_predict_output_encode(const struct cov_predict_output *o,
                              const struct cov_loader_item *item, const char *name,
                              const struct cov_predict_rows *values, uint8_t *scratch,
                              struct cov_blob out[2], struct cov_err *e)
{
    const uint64_t bases[2] = {htole64(values->fingerprints[COV_PLUS]),
                               htole64(values->fingerprints[COV_MINUS])};
    const uint8_t *const rows[2][N_SETS] = {
        {scratch, (const uint8_t *)&bases[COV_PLUS]},
        {scratch + row_bytes(o), (const uint8_t *)&bases[COV_MINUS]}};
    const uint8_t *const *const elems[2] = {rows[COV_PLUS], rows[COV_MINUS]};
    for (int s = COV_PLUS; s <= COV_MINUS; s++) {
        const struct cov_chunk chunk = {item->seq, item->beg, item->end, s == COV_MINUS};
        cov_blob_clear(&out[s]);
        if (!item->has[s])
            continue;
        int rc = cov_predictions_pack(&o->head.sets[PREDICTIONS], values->values[s], name, &chunk,
                                      scratch + (size_t)s * row_bytes(o), e);
        if (!rc && !o->stream)
            rc = cov_chunk_writer_encode(o->writer, 1, NULL, &elems[s], &out[s], e);
        if (rc)
            return rc;
    }
    const struct cov_stream_pair pair = {item->beg, item->end, {item->has[0], item->has[1]}};
    if (!o->stream || !(item->has[COV_PLUS] || item->has[COV_MINUS]))
        return COV_OK;
    return cov_stream_pack(&o->head, &pair, NULL, elems, &out[0], e);
}

/* Writes a pair to the journal; skips a sequence without pairs. */
static int put_in_journal(struct cov_predict_output *o, const struct cov_loader_item *item,
                          const struct cov_blob out[2], struct cov_err *e)
{
    return item->has[COV_PLUS] || item->has[COV_MINUS]
               ? cov_journal_append(o->journal, item->pair, out, e)
               : COV_OK;
}

static int put_rows(struct cov_predict_output *o, const struct cov_loader_item *item,
                    const struct cov_blob out[2], struct cov_err *e)
{
    int rc = COV_OK;
    for (int s = COV_PLUS; !rc && s <= COV_MINUS; s++)
        if (item->has[s])
            rc = cov_chunk_writer_put(o->writer, item->rows[s], &out[s], 0, e);
    return rc;
}

/* Writes a pair to an output that is written sequence by sequence. */
static int put_in_order(struct cov_predict_output *o, const struct cov_loader_item *item,
                        const char *species, const char *name, const struct cov_blob out[2],
                        struct cov_err *e)
{
    int rc = COV_OK;
    if (item->first)
        rc = o->stream ? cov_stream_begin(o->stream, species, name, e)
                       : cov_pair_writer_begin(o->pairs, species, name, e);
    if (!rc && (item->has[COV_PLUS] || item->has[COV_MINUS]))
        rc = o->stream ? cov_stream_put(o->stream, &out[0], e)
                       : cov_pair_writer_put(o->pairs, item->beg, item->end,
                                             item->has[COV_PLUS] ? &out[COV_PLUS] : NULL,
                                             item->has[COV_MINUS] ? &out[COV_MINUS] : NULL, e);
    if (!rc && item->last)
        rc = o->stream ? cov_stream_end(o->stream, item->length, e)
                       : cov_pair_writer_end(o->pairs, item->length, e);
    return rc;
}

int cov_predict_output_put(struct cov_predict_output *o, const struct cov_loader_item *item,
                           const char *species, const char *name, const struct cov_blob out[2],
                           struct cov_err *e)
{
    if (o->journal)
        return put_in_journal(o, item, out, e);
    return o->grid ? put_rows(o, item, out, e) : put_in_order(o, item, species, name, out, e);
}

bool cov_predict_output_fits(const struct cov_predict_output *o, const struct cov_blob *blob)
{
    return cov_chunk_writer_fits(o->writer, blob);
}

int cov_predict_output_close(struct cov_predict_output *o, struct cov_err *e)
{
    int rc = COV_OK;
    if (o->journal) {
        cov_predict_output_abort(o);
        return COV_OK;
    }
    if (o->stream)
        rc = cov_stream_finish(o->stream, e);
    else if (o->pairs)
        rc = cov_pair_writer_finish(o->pairs, e);
    else
        rc = cov_chunk_writer_finish(o->writer, o->grid, e);
    o->stream = NULL;
    o->pairs = NULL;
    o->writer = NULL;
    cov_predict_output_abort(o);
    return rc;
}

void cov_predict_output_abort(struct cov_predict_output *o)
{
    if (!o)
        return;
    cov_stream_abort(o->stream);
    if (o->pairs)
        cov_pair_writer_abort(o->pairs);
    else
        cov_chunk_writer_abort(o->writer);
    cov_chunk_head_fini(&o->head);
    free(o);
}
