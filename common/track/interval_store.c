/* interval_store.c - see interval_store.h.
 *
 * An interval is encoded as its length * 2 + (1 if there is a gap before it), then the length of
 * the gap if there is one, then the value. The value is an integer of up to 24 bits * 2, or else
 * the byte 1 and the four bytes of the float. Integers are stored in 7-bit groups, low groups
 * first; the top bit of a byte is set if more groups follow.
 * SPDX-License-Identifier: MIT */
#include "common/track/interval_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/tmpfile.h"

enum { BUFFER = 65536, LONGEST = 10 + 10 + 5 };

/* A contig starts at byte `at`; its last interval ends at base `end`. */
struct place {
    int64_t at, end;
};

struct cov_interval_store {
    struct cov_track_sink sink; /* first */
    struct cov_spool spool;
    struct place *places; /* per contig, in the order of their numbers */
    size_t n_places, cap;
    int64_t n_bytes; /* total, including the buffer */
    size_t n;        /* in the buffer */
    uint8_t buffer[BUFFER];
};

static struct cov_interval_store *store_of(struct cov_track_sink *s)
{
    return (struct cov_interval_store *)(void *)s;
}

static int flush(struct cov_interval_store *s, struct cov_err *e)
{
    int rc = s->n ? cov_spool_append(&s->spool, s->buffer, s->n, NULL, e) : COV_OK;
    s->n = 0;
    return rc;
}

/* Sets the start of contigs before `n` that have none yet. */
static int place_until(struct cov_interval_store *s, size_t n, struct cov_err *e)
{
    int rc = COV_RESERVE(&s->places, &s->cap, n, e);
    for (; !rc && s->n_places < n; s->n_places++)
        s->places[s->n_places] = (struct place){s->n_bytes, 0};
    return rc;
}

static int begin(struct cov_track_sink *sink, struct cov_err *e)
{
    struct cov_interval_store *s = store_of(sink);
    return place_until(s, sink->contig + 1, e);
}

static uint8_t *put_number(uint8_t *p, uint64_t x)
{
    for (; x >= 128; x >>= 7)
        *p++ = (uint8_t)(x | 128);
    *p++ = (uint8_t)x;
    return p;
}

static uint8_t *put_value(uint8_t *p, float value)
{
    if (value >= 0 && value <= 16777215.0F && value == (float)(uint32_t)value && !signbit(value))
        return put_number(p, (uint64_t)(uint32_t)value << 1);
    *p++ = 1;
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    struct cov_interval_store *s = store_of(sink);
    int64_t end = s->places[sink->contig].end;
    for (size_t i = 0; i < n; i++) {
        if (s->n + LONGEST > BUFFER) {
            int rc = flush(s, e);
            if (rc)
                return rc;
        }
        uint8_t *beg = s->buffer + s->n, *p;
        bool gap = iv[i].beg > end;
        p = put_number(beg, (uint64_t)(iv[i].end - iv[i].beg) << 1 | gap);
        if (gap)
            p = put_number(p, (uint64_t)(iv[i].beg - end));
        p = put_value(p, iv[i].value);
        s->n += (size_t)(p - beg);
        s->n_bytes += p - beg;
        end = iv[i].end;
    }
    s->places[sink->contig].end = end;
    return COV_OK;
}

/* Adds one more entry, for the end of the last contig. */
static int close_store(struct cov_track_sink *sink, struct cov_err *e)
{
    struct cov_interval_store *s = store_of(sink);
    int rc = place_until(s, cov_track_n_contigs(sink) + 1, e);
    return rc ? rc : flush(s, e);
}

static void free_store(struct cov_track_sink *sink)
{
    struct cov_interval_store *s = store_of(sink);
    cov_spool_fini(&s->spool);
    free(s->places);
    free(s);
}

int cov_interval_store_new(const char *name, const struct cov_track_contigs *contigs,
                           const char *dir, struct cov_interval_store **out, struct cov_err *e)
{
    static const struct cov_track_format format = {begin, add, close_store, free_store};
    *out = NULL;
    struct cov_interval_store *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return COV_ENOMEM;
    s->sink.format = &format;
    s->spool = (struct cov_spool)COV_SPOOL_INIT;
    int rc = cov_track_init(&s->sink, &format, name, contigs, e);
    if (!rc)
        rc = cov_spool_init(&s->spool, dir, e);
    if (rc)
        cov_interval_store_free(s);
    else
        *out = s;
    return rc;
}

void cov_interval_store_free(struct cov_interval_store *s)
{
    if (s)
        cov_track_free(&s->sink);
}

struct cov_track_sink *cov_interval_store_sink(struct cov_interval_store *s)
{
    return &s->sink;
}

/* ---------------------------------------------------------------- reading */

void cov_interval_cursor_begin(struct cov_interval_cursor *c, const struct cov_interval_store *s,
                               size_t contig)
{
    c->store = s;
    c->at = s->places[contig].at;
    c->stop = s->places[contig + 1].at;
    c->end = 0;
    c->beg = c->n = 0;
}

static int refill(struct cov_interval_cursor *c, struct cov_err *e)
{
    memmove(c->bytes, c->bytes + c->beg, c->n);
    c->beg = 0;
    size_t n = sizeof c->bytes - c->n;
    if (c->stop - c->at < (int64_t)n)
        n = (size_t)(c->stop - c->at);
    int rc = n ? cov_spool_read(&c->store->spool, c->at, c->bytes + c->n, n, e) : COV_OK;
    c->at += (int64_t)n;
    c->n += n;
    return rc;
}

static const uint8_t *get_number(const uint8_t *p, uint64_t *x)
{
    *x = *p & 127;
    for (unsigned shift = 7; *p++ >= 128; shift += 7)
        *x |= (uint64_t)(*p & 127) << shift;
    return p;
}

static const uint8_t *get_value(const uint8_t *p, float *value)
{
    uint64_t x;
    if (*p != 1) {
        p = get_number(p, &x);
        *value = (float)(x >> 1);
        return p;
    }
    memcpy(value, p + 1, sizeof *value);
    return p + 1 + sizeof *value;
}

int cov_interval_cursor_next(struct cov_interval_cursor *c, const struct cov_interval **iv,
                             size_t *n, struct cov_err *e)
{
    *iv = c->iv;
    *n = 0;
    while (*n < COV_INTERVAL_CURSOR_ROOM) {
        if (c->n < LONGEST && c->at < c->stop) {
            int rc = refill(c, e);
            if (rc)
                return rc;
        }
        if (c->n == 0)
            break;
        const uint8_t *beg = c->bytes + c->beg;
        struct cov_interval *to = &c->iv[(*n)++];
        uint64_t length, gap = 0;
        const uint8_t *p = get_number(beg, &length);
        if (length & 1)
            p = get_number(p, &gap);
        p = get_value(p, &to->value);
        to->beg = c->end + (int64_t)gap;
        to->end = c->end = to->beg + (int64_t)(length >> 1);
        c->beg += (size_t)(p - beg);
        c->n -= (size_t)(p - beg);
    }
    return *n > 0;
}
