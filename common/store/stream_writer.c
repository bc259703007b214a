/* stream_writer.c - see stream.h: the records of a chunk stream, in order, into BGZF.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/store/stream_format.h"

struct cov_stream_writer {
    struct cov_bgz *out;
    struct cov_chunk_head head;
    struct cov_stream_order order;
    int failed; /* the first failure: nothing is written behind it */
};

static int write_record(struct cov_stream_writer *w, uint32_t type, const uint8_t *p, size_t n,
                        struct cov_err *e)
{
    uint8_t start[COV_STREAM_RECORD_BYTES];
    (void)cov_stream_put_u64(cov_stream_put_u32(start, type), n);
    int rc = cov_bgz_write(w->out, start, sizeof start, e);
    return rc ? rc : cov_bgz_write(w->out, p, n, e);
}

/* Magic, version, head. */
static int write_head(struct cov_stream_writer *w, struct cov_err *e)
{
    struct cov_blob record = COV_BLOB_INIT;
    uint8_t start[COV_STREAM_START_BYTES];
    memcpy(start, COV_STREAM_MAGIC, COV_STREAM_MAGIC_BYTES);
    (void)cov_stream_put_u32(start + COV_STREAM_MAGIC_BYTES, COV_STREAM_VERSION);
    int rc = cov_stream_head_encode(&w->head, w->order.partial, &record, e);
    if (rc)
        (void)cov_err_prefix(e, "%s", w->order.name);
    else
        rc = cov_bgz_write(w->out, start, sizeof start, e);
    if (!rc)
        rc = write_record(w, COV_STREAM_HEAD, record.data, record.n_bytes, e);
    cov_blob_fini(&record);
    return rc;
}

int cov_stream_create(const char *path, const struct cov_chunk_head *head, bool partial,
                      bool compress, unsigned n_threads, struct cov_stream_writer **out,
                      struct cov_err *e)
{
    *out = NULL;
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return cov_fail(e, COV_EUSAGE,
                        "standard output is a terminal: a chunk stream is for a pipe or a file "
                        "(such as `| covpredict ... -` or `> FILE`)");
    struct cov_stream_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    int rc = cov_bgz_open_write(path, compress ? COV_BGZ_DEFLATE : COV_BGZ_STORED, n_threads,
                                &w->out, e);
    if (!rc)
        rc = cov_stream_order_init(&w->order, cov_bgz_name(w->out), partial, e);
    if (!rc)
        rc = cov_chunk_head_copy(head, &w->head, e);
    if (!rc)
        rc = write_head(w, e);
    if (rc)
        cov_stream_abort(w);
    else
        *out = w;
    return rc;
}

void cov_stream_abort(struct cov_stream_writer *w)
{
    if (!w)
        return;
    cov_bgz_abort(w->out);
    cov_stream_order_fini(&w->order);
    cov_chunk_head_fini(&w->head);
    free(w);
}

static int already_failed(const struct cov_stream_writer *w, struct cov_err *e)
{
    return cov_fail(e, w->failed, "%s: not complete because of an earlier failure", w->order.name);
}

static uint8_t *put_text(uint8_t *p, const char *text, size_t n)
{
    p = cov_stream_put_u32(p, (uint32_t)n);
    memcpy(p, text, n);
    return p + n;
}

static int begin(struct cov_stream_writer *w, const char *species, const char *name,
                 struct cov_err *e)
{
    size_t n_species = strlen(species), n_name = strlen(name);
    int rc = cov_stream_order_begin(&w->order, species, n_species, name, n_name, e);
    if (rc)
        return rc;
    uint8_t *record = cov_malloc(8 + n_species + n_name, 1, e);
    if (!record)
        return COV_ENOMEM;
    (void)put_text(put_text(record, species, n_species), name, n_name);
    rc = write_record(w, COV_STREAM_SEQ, record, 8 + n_species + n_name, e);
    free(record);
    return rc;
}

int cov_stream_begin(struct cov_stream_writer *w, const char *species, const char *name,
                     struct cov_err *e)
{
    if (w->failed)
        return already_failed(w, e);
    return w->failed = begin(w, species, name, e);
}

static int put(struct cov_stream_writer *w, const struct cov_blob *record, struct cov_err *e)
{
    struct cov_stream_layout l;
    const char *reason = cov_stream_layout(&w->head, record->data, record->n_bytes, &l);
    if (reason)
        return cov_fail(e, COV_EINPUT, "%s: a chunk that the stream cannot hold: %s", w->order.name,
                        reason);
    int rc = cov_stream_order_pair(&w->order, &l.pair, e);
    return rc ? rc : write_record(w, COV_STREAM_CHUNKS, record->data, record->n_bytes, e);
}

int cov_stream_put(struct cov_stream_writer *w, const struct cov_blob *record, struct cov_err *e)
{
    if (w->failed)
        return already_failed(w, e);
    return w->failed = put(w, record, e);
}

int cov_stream_end(struct cov_stream_writer *w, int64_t length, struct cov_err *e)
{
    if (w->failed)
        return already_failed(w, e);
    w->failed = cov_stream_order_end(&w->order, length, e);
    if (w->failed)
        return w->failed;
    uint8_t record[COV_STREAM_SEQ_END_BYTES];
    (void)cov_stream_put_u64(cov_stream_put_u64(record, (uint64_t)length), w->order.n_seq_pairs);
    return w->failed = write_record(w, COV_STREAM_SEQ_END, record, sizeof record, e);
}

int cov_stream_finish(struct cov_stream_writer *w, struct cov_err *e)
{
    int rc = w->failed ? already_failed(w, e) : cov_stream_order_last(&w->order, e);
    if (!rc) {
        uint8_t record[COV_STREAM_END_BYTES];
        uint8_t *p = cov_stream_put_u64(record, cov_names_count(w->order.names));
        (void)cov_stream_put_u64(cov_stream_put_u64(p, w->order.n_pairs), w->order.n_bases);
        rc = write_record(w, COV_STREAM_LAST, record, sizeof record, e);
    }
    if (!rc) {
        rc = cov_bgz_close(w->out, e);
        w->out = NULL;
    }
    cov_stream_abort(w);
    return rc;
}
