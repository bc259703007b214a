/* loader_stream.c - see loader_stream.h.
 *
 * A stream gives the length of a sequence only at its end. If length limits apply, the records
 * of a sequence wait in a temporary file until its length is known to be within them.
 * SPDX-License-Identifier: MIT */
#include "common/input/loader_stream.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/tmpfile.h"
#include "common/seq/grid.h"

/* Header of a record in the temporary file. */
struct waiting_pair {
    struct cov_stream_pair pair;
    size_t n_bytes;
};

struct cov_loader_stream {
    struct cov_stream *in;
    struct cov_genome_options limits;
    struct cov_blob ahead; /* one record is read ahead */
    struct cov_stream_pair ahead_pair;
    bool has_ahead;
    size_t n_seqs; /* begun so far */
    char *species, *name;
    size_t cap_species, cap_name;
    bool first; /* no pair of the sequence was delivered yet */
    bool done;  /* end of the stream was read */
    /* Length limits. */
    bool undecided; /* it is not known whether the sequence is within the limits */
    bool ended;     /* the length of the sequence is known */
    int64_t length;
    struct cov_spool spool;
    int64_t at; /* offset of the next record in the spool */
    size_t n_short, n_long;
};

void cov_loader_stream_close(struct cov_loader_stream *s)
{
    if (!s)
        return;
    cov_stream_close(s->in);
    cov_blob_fini(&s->ahead);
    cov_spool_fini(&s->spool);
    free(s->species);
    free(s->name);
    free(s);
}

int cov_loader_stream_open(struct cov_bgz *b, const struct cov_genome_options *options,
                           struct cov_loader_stream **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_loader_stream *s = cov_calloc(1, sizeof *s, e);
    if (!s) {
        cov_bgz_abort(b);
        return COV_ENOMEM;
    }
    s->spool = (struct cov_spool)COV_SPOOL_INIT;
    s->limits = *options;
    int rc = cov_stream_open(b, &s->in, e);
    if (!rc && !cov_stream_head(s->in)->has_bases)
        rc = cov_fail(e, COV_EINPUT,
                      "%s: a chunk stream without bases; expected that of a genome file",
                      cov_stream_name(s->in));
    if (!rc && (options->min_length > 0 || options->max_length > 0))
        rc = cov_spool_init(&s->spool, options->tmpdir, e);
    if (rc) {
        cov_loader_stream_close(s);
        return rc;
    }
    *out = s;
    return COV_OK;
}

size_t cov_loader_stream_chunk_length(const struct cov_loader_stream *s)
{
    return cov_stream_head(s->in)->L;
}

static bool has_limits(const struct cov_loader_stream *s)
{
    return s->limits.min_length > 0 || s->limits.max_length > 0;
}

bool cov_loader_stream_is_partial(const struct cov_loader_stream *s)
{
    return cov_stream_is_partial(s->in) || has_limits(s);
}

const char *cov_loader_stream_name(const struct cov_loader_stream *s)
{
    return s->name;
}

const char *cov_loader_stream_species(const struct cov_loader_stream *s)
{
    return s->species;
}

/* ---------------------------------------------------------------- length limits */

static int put_in_spool(struct cov_loader_stream *s, const struct cov_stream_pair *pair,
                        const struct cov_blob *record, struct cov_err *e)
{
    struct waiting_pair w;
    memset(&w, 0, sizeof w); /* the padding is also written */
    w.pair = *pair;
    w.n_bytes = record->n_bytes;
    int rc = cov_spool_append(&s->spool, &w, sizeof w, NULL, e);
    return rc ? rc : cov_spool_append(&s->spool, record->data, record->n_bytes, NULL, e);
}

static int take_from_spool(struct cov_loader_stream *s, struct cov_stream_pair *pair,
                           struct cov_blob *record, struct cov_err *e)
{
    struct waiting_pair w;
    uint8_t *at;
    int rc = cov_spool_read(&s->spool, s->at, &w, sizeof w, e);
    cov_blob_clear(record);
    if (!rc)
        rc = cov_blob_room(record, w.n_bytes, &at, e);
    if (!rc)
        rc = cov_spool_read(&s->spool, s->at + (int64_t)sizeof w, at, w.n_bytes, e);
    if (!rc)
        rc = cov_blob_end_piece(record, w.n_bytes, e);
    if (rc)
        return rc;
    *pair = w.pair;
    s->at += (int64_t)(sizeof w + w.n_bytes);
    return COV_OK;
}

/* Discards waiting records. */
static int empty_spool(struct cov_loader_stream *s, struct cov_err *e)
{
    s->at = 0;
    return cov_spool_truncate(&s->spool, 0, e);
}

/* Reads on until it is known whether the current sequence is within the limits. If it is, its
 * records wait in the spool. */
static int decide(struct cov_loader_stream *s, struct cov_blob *record, struct cov_err *e)
{
    bool too_long = false, long_enough = false;
    s->ended = false;
    while (!s->ended && !(long_enough && s->limits.max_length == 0)) {
        struct cov_stream_item item;
        int rc = cov_stream_next(s->in, &item, record, e);
        if (rc)
            return rc;
        s->ended = item.event == COV_STREAM_END;
        s->length = s->ended ? item.length : item.pair.end;
        too_long = s->limits.max_length > 0 && s->length > s->limits.max_length;
        long_enough = s->length >= s->limits.min_length;
        if (s->ended)
            break;
        rc = too_long ? empty_spool(s, e) : put_in_spool(s, &item.pair, record, e);
        if (rc)
            return rc;
    }
    s->undecided = false;
    s->n_long += too_long;
    s->n_short += !long_enough;
    return too_long || !long_enough ? empty_spool(s, e) : COV_OK;
}

static int report_dropped(const struct cov_loader_stream *s, struct cov_err *e)
{
    if (s->n_short + s->n_long > 0)
        cov_warn("%s: %zu of %zu sequences left out by length: %zu too short, %zu too long",
                 cov_stream_name(s->in), s->n_short + s->n_long, s->n_seqs, s->n_short, s->n_long);
    if (s->n_seqs > 0 && s->n_short + s->n_long == s->n_seqs)
        return cov_fail(e, COV_EINPUT, "%s: no sequence has a length within the limits",
                        cov_stream_name(s->in));
    return COV_OK;
}

/* Reads the next record, skipping pairs of sequences outside the limits. */
static int next_record(struct cov_loader_stream *s, struct cov_stream_item *item,
                       struct cov_blob *record, struct cov_err *e)
{
    int rc;
    if (s->undecided) {
        rc = decide(s, record, e);
        if (rc)
            return rc;
    }
    if (s->at < s->spool.n_bytes) {
        item->event = COV_STREAM_PAIR;
        rc = take_from_spool(s, &item->pair, record, e);
        if (!rc && s->at == s->spool.n_bytes)
            rc = empty_spool(s, e);
        return rc;
    }
    if (s->ended) {
        s->ended = false;
        item->event = COV_STREAM_END;
        item->length = s->length;
        return COV_OK;
    }
    rc = cov_stream_next(s->in, item, record, e);
    if (!rc && item->event == COV_STREAM_BEGIN) {
        s->n_seqs++;
        s->undecided = has_limits(s);
    }
    if (!rc && item->event == COV_STREAM_DONE)
        rc = report_dropped(s, e);
    return rc;
}

/* ---------------------------------------------------------------- pairs */

/* Fills *item with the pair read ahead, whose record is in *raw, or with an empty item for a
 * sequence without pairs. */
static void deliver(struct cov_loader_stream *s, bool last, int64_t length,
                    struct cov_loader_item *item)
{
    *item = (struct cov_loader_item){.seq = s->n_seqs - 1,
                                     .rows = {COV_NO_ROW, COV_NO_ROW},
                                     .first = s->first,
                                     .last = last,
                                     .length = length};
    s->first = false;
    if (!s->has_ahead)
        return;
    item->beg = s->ahead_pair.beg;
    item->end = s->ahead_pair.end;
    memcpy(item->has, s->ahead_pair.has, sizeof item->has);
    s->has_ahead = false;
}

static void swap(struct cov_blob *a, struct cov_blob *b)
{
    struct cov_blob c = *a;
    *a = *b;
    *b = c;
}

int cov_loader_stream_next(struct cov_loader_stream *s, struct cov_loader_item *item,
                           struct cov_blob *raw, struct cov_err *e)
{
    while (!s->done) {
        struct cov_stream_item record;
        bool had_ahead = s->has_ahead;
        int rc = next_record(s, &record, had_ahead ? raw : &s->ahead, e);
        if (rc)
            return rc;
        s->done = record.event == COV_STREAM_DONE;
        if (s->done)
            break;
        if (record.event == COV_STREAM_BEGIN) {
            s->first = true;
            rc = cov_copy_text(&s->species, &s->cap_species, record.species, e);
            if (!rc)
                rc = cov_copy_text(&s->name, &s->cap_name, record.sequence, e);
            if (rc)
                return rc;
            continue;
        }
        if (had_ahead)
            swap(raw, &s->ahead);
        bool ends = record.event == COV_STREAM_END;
        if (had_ahead || ends)
            deliver(s, ends, ends ? record.length : -1, item);
        if (!ends) {
            s->ahead_pair = record.pair;
            s->has_ahead = true;
        }
        if (had_ahead || ends)
            return 1;
    }
    return 0;
}

int cov_loader_stream_codes(const struct cov_loader_stream *s, const struct cov_blob *raw,
                            uint8_t *const codes[2], struct cov_err *e)
{
    struct cov_stream_pair pair;
    return cov_stream_unpack(cov_stream_head(s->in), cov_stream_name(s->in), raw, &pair, codes,
                             NULL, e);
}
