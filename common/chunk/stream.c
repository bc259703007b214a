/* stream.c - see stream.h: reads and writes streams.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/stream.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

/* ---- the order of records, the same for writing and reading ---- */

/* Checks the order of records. Sequences follow one another, and none occurs twice; the pairs of a
 * sequence ascend, without gaps unless the stream is partial. */
struct order {
    const char *name;                  /* name of the stream, for messages. Borrowed */
    const struct cov_chunk_head *head; /* borrowed */
    bool partial;
    struct cov_names *names; /* keys: species, '\0', name */
    bool in_seq;
    size_t seq;           /* index in names */
    int64_t end;          /* end of the sequence's last pair, or 0 */
    uint64_t n_seq_pairs; /* pairs of the current sequence */
    uint64_t n_pairs, n_bases;
    int64_t longest; /* pair */
};

enum { WHERE_BYTES = 300 };

static int order_init(struct order *o, const char *name, const struct cov_chunk_head *head,
                      bool partial, struct cov_err *e)
{
    *o = (struct order){.name = name, .head = head, .partial = partial};
    return cov_names_new(&o->names, e);
}

static void order_fini(struct order *o)
{
    cov_names_free(o->names);
    o->names = NULL;
}

static const char *order_species(const struct order *o)
{
    return cov_names_get(o->names, o->seq, NULL);
}

static const char *order_sequence(const struct order *o)
{
    const char *key = cov_names_get(o->names, o->seq, NULL);
    return key + strlen(key) + 1;
}

static const char *order_where(const struct order *o, char buf[WHERE_BYTES])
{
    if (cov_names_count(o->names) == 0)
        return "before the first sequence";
    const char *sequence = order_sequence(o);
    if (!o->in_seq)
        (void)snprintf(buf, WHERE_BYTES, "after sequence '%.200s'", sequence);
    else if (o->end == 0)
        (void)snprintf(buf, WHERE_BYTES, "at the start of sequence '%.200s'", sequence);
    else
        (void)snprintf(buf, WHERE_BYTES, "in sequence '%.200s', after position %lld", sequence,
                       (long long)o->end);
    return buf;
}

static int refuse(const struct order *o, const char *reason, struct cov_err *e)
{
    char where[WHERE_BYTES];
    return cov_fail(e, COV_EINPUT, "%s: %s: %s", o->name, order_where(o, where), reason);
}

static int order_begin(struct order *o, const char *species, size_t n_species, const char *name,
                       size_t n_name, struct cov_err *e)
{
    if (o->in_seq)
        return refuse(o, "another sequence starts before this one ends", e);
    if (n_name == 0)
        return refuse(o, "empty sequence name", e);
    if (n_name > COV_STREAM_MAX_NAME || n_species > COV_STREAM_MAX_NAME)
        return refuse(o, "a name of more than 65535 bytes", e);
    if (memchr(name, 0, n_name) || (n_species > 0 && memchr(species, 0, n_species)))
        return refuse(o, "a name contains a zero byte", e);
    char *key = cov_malloc(n_species + 1 + n_name, 1, e);
    if (!key)
        return COV_ENOMEM;
    if (n_species > 0)
        memcpy(key, species, n_species);
    key[n_species] = '\0';
    memcpy(key + n_species + 1, name, n_name);
    size_t index;
    bool is_new;
    int rc = cov_names_add(o->names, key, n_species + 1 + n_name, &index, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "%s: duplicate sequence '%.*s'", o->name,
                      n_name < 200 ? (int)n_name : 200, name);
    free(key);
    if (rc)
        return rc;
    o->in_seq = true;
    o->seq = index;
    o->end = 0;
    o->n_seq_pairs = 0;
    return COV_OK;
}

static int order_pair(struct order *o, const struct cov_stream_pair *pair, struct cov_err *e)
{
    if (!o->in_seq)
        return refuse(o, "chunks outside a sequence", e);
    const char *reason = NULL;
    if (pair->beg < o->end)
        reason = "overlaps the previous one, or is out of order";
    else if (!o->partial && pair->beg > o->end)
        reason = "leaves a gap before it";
    else if (!o->partial && !(pair->has[COV_PLUS] && pair->has[COV_MINUS]))
        reason = "lacks a strand";
    if (reason) {
        char where[WHERE_BYTES];
        return cov_fail(e, COV_EINPUT, "%s: %s: the next chunk, %lld-%lld, %s", o->name,
                        order_where(o, where), (long long)pair->beg + 1, (long long)pair->end,
                        reason);
    }
    if (o->longest < pair->end - pair->beg)
        o->longest = pair->end - pair->beg;
    int rc = cov_chunk_head_check_fill(o->head, o->longest, true, e);
    if (rc)
        return cov_err_prefix(e, rc, "%s", o->name);
    o->end = pair->end;
    o->n_seq_pairs++;
    o->n_pairs++;
    o->n_bases += (uint64_t)(pair->end - pair->beg);
    return COV_OK;
}

static int order_end(struct order *o, int64_t length, struct cov_err *e)
{
    if (!o->in_seq)
        return refuse(o, "end of a sequence that has not started", e);
    if (length < 1 || length < o->end || (!o->partial && length != o->end)) {
        char where[WHERE_BYTES];
        return cov_fail(e, COV_EINPUT, "%s: %s: the sequence ends here, but its length is %lld",
                        o->name, order_where(o, where), (long long)length);
    }
    o->in_seq = false;
    return COV_OK;
}

static int order_last(struct order *o, struct cov_err *e)
{
    if (o->in_seq)
        return refuse(o, "the stream ends within a sequence", e);
    int rc = o->n_pairs > 0 ? cov_chunk_head_check_fill(o->head, o->longest, false, e) : COV_OK;
    return rc ? cov_err_prefix(e, rc, "%s", o->name) : COV_OK;
}

/* ---- reading ---- */

/* Memory grows in steps of this size while a record is read, whatever length it claims. */
enum { STEP = 1 << 20 };

struct cov_stream {
    struct cov_bgz *in;
    struct cov_chunk_head head;
    struct order order;
    struct cov_blob text; /* records other than pairs */
    bool done;
};

const struct cov_chunk_head *cov_stream_head(const struct cov_stream *s)
{
    return &s->head;
}

bool cov_stream_is_partial(const struct cov_stream *s)
{
    return s->order.partial;
}

const char *cov_stream_name(const struct cov_stream *s)
{
    return cov_bgz_name(s->in);
}

void cov_stream_close(struct cov_stream *s)
{
    if (!s)
        return;
    cov_bgz_abort(s->in);
    cov_chunk_head_fini(&s->head);
    order_fini(&s->order);
    cov_blob_fini(&s->text);
    free(s);
}

/* ---- bytes and records ---- */

/* Fails with a message that names the stream, the sequence and the position. */
static int damaged(const struct cov_stream *s, const char *reason, struct cov_err *e)
{
    char where[WHERE_BYTES];
    return cov_fail(e, COV_EINPUT, "%s: damaged chunk stream: %s: %s", s->order.name,
                    order_where(&s->order, where), reason);
}

/* Reads up to n bytes, fewer only at the end of the file. */
static int read_bytes(struct cov_stream *s, uint8_t *p, size_t n, size_t *got, struct cov_err *e)
{
    *got = 0;
    for (size_t k = 1; *got < n && k > 0; *got += k) {
        struct cov_err why = COV_ERR_INIT;
        int rc = cov_bgz_read(s->in, p + *got, n - *got, &k, &why);
        if (rc) {
            char where[WHERE_BYTES];
            return cov_fail(e, rc, "%s (%s)", why.text, order_where(&s->order, where));
        }
    }
    return COV_OK;
}

static int read_exactly(struct cov_stream *s, uint8_t *p, size_t n, struct cov_err *e)
{
    size_t got;
    int rc = read_bytes(s, p, n, &got, e);
    if (!rc && got < n) {
        char where[WHERE_BYTES];
        rc = cov_fail(e, COV_EINPUT,
                      "%s: truncated: the chunk stream ends before its end record, %s (did the "
                      "program that wrote it fail?)",
                      s->order.name, order_where(&s->order, where));
    }
    return rc;
}

static int read_start(struct cov_stream *s, uint32_t *type, uint64_t *n_bytes, struct cov_err *e)
{
    uint8_t start[COV_STREAM_RECORD_BYTES];
    int rc = read_exactly(s, start, sizeof start, e);
    *type = cov_stream_u32(start);
    *n_bytes = cov_stream_u64(start + 4);
    return rc;
}

/* Reads the n_bytes of a record into b. The caller has checked that n_bytes is not too large. */
static int read_payload(struct cov_stream *s, size_t n_bytes, struct cov_blob *b, struct cov_err *e)
{
    int rc = COV_OK;
    cov_blob_clear(b);
    while (!rc && b->n_bytes < n_bytes) {
        size_t left = n_bytes - b->n_bytes, n = left < STEP ? left : STEP;
        uint8_t *at;
        rc = cov_blob_room(b, n, &at, e);
        if (!rc)
            rc = read_exactly(s, at, n, e);
        if (!rc)
            b->n_bytes += n;
    }
    size_t n = b->n_bytes;
    b->n_bytes = 0;
    return rc ? rc : cov_blob_end_piece(b, n, e);
}

/* ---- the start ---- */

int cov_stream_is(struct cov_bgz *b, bool *yes, struct cov_err *e)
{
    uint8_t start[COV_STREAM_MAGIC_BYTES];
    size_t got;
    int rc = cov_bgz_peek(b, start, sizeof start, &got, e);
    *yes = !rc && got == sizeof start && memcmp(start, COV_STREAM_MAGIC, sizeof start) == 0;
    return rc;
}

/* Describes what a file that does not start like a stream seems to be. */
static const char *describe(const uint8_t *start, size_t n)
{
    if (n == 0)
        return "it is empty (did the program that should have written it fail?)";
    if (start[0] == '>')
        return "it looks like a FASTA";
    if (n >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0)
        return "it is an HDF5 file; `h5chunk cat` converts it";
    return "it starts with other bytes";
}

static int read_head(struct cov_stream *s, struct cov_err *e)
{
    uint8_t start[COV_STREAM_START_BYTES];
    size_t got;
    int rc = read_bytes(s, start, COV_STREAM_MAGIC_BYTES, &got, e);
    if (rc)
        return rc;
    if (got < COV_STREAM_MAGIC_BYTES ||
        memcmp(start, COV_STREAM_MAGIC, COV_STREAM_MAGIC_BYTES) != 0)
        return cov_fail(e, COV_EINPUT, "%s: not a chunk stream: %s", s->order.name,
                        describe(start, got));
    if (!cov_bgz_is_bgzf(s->in))
        return cov_fail(e, COV_EINPUT,
                        "%s: a chunk stream without the blocks and checksums of BGZF: it was "
                        "decompressed or compressed again; bgzip repairs it",
                        s->order.name);
    rc = read_exactly(s, start + COV_STREAM_MAGIC_BYTES, 4, e);
    if (rc)
        return rc;
    uint32_t version = cov_stream_u32(start + COV_STREAM_MAGIC_BYTES);
    if (version != COV_STREAM_VERSION)
        return cov_fail(e, COV_EINPUT, "%s: chunk stream version %u is not supported, only %d",
                        s->order.name, version, COV_STREAM_VERSION);
    uint32_t type;
    uint64_t n_bytes;
    rc = read_start(s, &type, &n_bytes, e);
    if (rc)
        return rc;
    if (type != COV_STREAM_TYPE_HEAD || n_bytes > COV_STREAM_MAX_HEAD)
        return cov_fail(e, COV_EINPUT, "%s: damaged chunk stream: it does not start with a head",
                        s->order.name);
    rc = read_payload(s, (size_t)n_bytes, &s->text, e);
    if (rc)
        return rc;
    rc = cov_stream_head_decode(&s->text, &s->head, &s->order.partial, e);
    return rc ? cov_err_prefix(e, rc, "%s: damaged head of a chunk stream", s->order.name) : COV_OK;
}

int cov_stream_open(struct cov_bgz *b, struct cov_stream **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_stream *s = cov_calloc(1, sizeof *s, e);
    if (!s) {
        cov_bgz_abort(b);
        return COV_ENOMEM;
    }
    s->in = b;
    int rc = order_init(&s->order, cov_bgz_name(b), &s->head, false, e);
    if (!rc)
        rc = read_head(s, e);
    if (rc)
        cov_stream_close(s);
    else
        *out = s;
    return rc;
}

/* ---- the records after the head ---- */

/* Reads a string, its length followed by its bytes, from a record. */
static bool take_text(const uint8_t **p, size_t *left, const char **text, size_t *n)
{
    if (*left < 4 || cov_stream_u32(*p) > *left - 4)
        return false;
    *n = cov_stream_u32(*p);
    *text = (const char *)*p + 4;
    *p += 4 + *n;
    *left -= 4 + *n;
    return true;
}

static int next_begin(struct cov_stream *s, const struct cov_blob *b, struct cov_stream_item *item,
                      struct cov_err *e)
{
    const uint8_t *p = b->data;
    size_t left = b->n_bytes, n_species, n_name;
    const char *species, *name;
    if (!take_text(&p, &left, &species, &n_species) || !take_text(&p, &left, &name, &n_name) ||
        left > 0)
        return damaged(s, "truncated sequence name", e);
    item->event = COV_STREAM_BEGIN;
    return order_begin(&s->order, species, n_species, name, n_name, e);
}

static int next_pair(struct cov_stream *s, const struct cov_blob *b, struct cov_stream_item *item,
                     struct cov_err *e)
{
    struct cov_stream_layout l;
    const char *reason = cov_stream_layout(&s->head, b->data, b->n_bytes, &l);
    if (reason)
        return damaged(s, reason, e);
    item->event = COV_STREAM_PAIR;
    item->pair = l.pair;
    return order_pair(&s->order, &l.pair, e);
}

static int next_end(struct cov_stream *s, const struct cov_blob *b, struct cov_stream_item *item,
                    struct cov_err *e)
{
    const uint8_t *p = b->data;
    item->event = COV_STREAM_END;
    item->length = (int64_t)cov_stream_u64(p);
    if (s->order.in_seq && cov_stream_u64(p + 8) != s->order.n_seq_pairs)
        return damaged(s, "wrong number of chunks in the sequence", e);
    return order_end(&s->order, item->length, e);
}

static int next_done(struct cov_stream *s, const struct cov_blob *b, struct cov_stream_item *item,
                     struct cov_err *e)
{
    const uint8_t *p = b->data;
    item->event = COV_STREAM_DONE;
    int rc = order_last(&s->order, e);
    if (rc)
        return rc;
    if (cov_stream_u64(p) != cov_names_count(s->order.names) ||
        cov_stream_u64(p + 8) != s->order.n_pairs || cov_stream_u64(p + 16) != s->order.n_bases)
        return damaged(s, "the counts of the end record are wrong", e);
    uint8_t byte;
    size_t got;
    rc = read_bytes(s, &byte, 1, &got, e);
    if (!rc && got > 0)
        rc = damaged(s, "data follows the end record", e);
    s->done = !rc;
    return rc;
}

static int unknown_type(const struct cov_stream *s, uint32_t type, struct cov_err *e)
{
    char reason[64];
    int c[4];
    for (int i = 0; i < 4; i++) {
        c[i] = (int)(type >> 8 * i & 0xff);
        if (c[i] < 0x20 || c[i] > 0x7e)
            c[i] = '?';
    }
    (void)snprintf(reason, sizeof reason, "unknown record type '%c%c%c%c'", c[0], c[1], c[2], c[3]);
    return damaged(s, type == COV_STREAM_TYPE_HEAD ? "a second head" : reason, e);
}

int cov_stream_next(struct cov_stream *s, struct cov_stream_item *item, struct cov_blob *record,
                    struct cov_err *e)
{
    const struct {
        uint32_t type;
        uint64_t least, most; /* bytes */
        int (*next)(struct cov_stream *s, const struct cov_blob *b, struct cov_stream_item *item,
                    struct cov_err *e);
    } kinds[] = {
        {COV_STREAM_TYPE_BEGIN, 8, 8 + 2 * COV_STREAM_MAX_NAME, next_begin},
        {COV_STREAM_TYPE_PAIR, COV_STREAM_PAIR_BYTES, cov_stream_pair_max(&s->head), next_pair},
        {COV_STREAM_TYPE_END, COV_STREAM_END_BYTES, COV_STREAM_END_BYTES, next_end},
        {COV_STREAM_TYPE_DONE, COV_STREAM_DONE_BYTES, COV_STREAM_DONE_BYTES, next_done},
    };
    uint32_t type;
    uint64_t n_bytes;
    size_t k = 0;
    assert(!s->done);
    memset(item, 0, sizeof *item);
    int rc = read_start(s, &type, &n_bytes, e);
    if (rc)
        return rc;
    while (k < COV_COUNT(kinds) && kinds[k].type != type)
        k++;
    if (k == COV_COUNT(kinds))
        return unknown_type(s, type, e);
    if (n_bytes < kinds[k].least || n_bytes > kinds[k].most)
        return damaged(s, "the record has the wrong length", e);
    struct cov_blob *b = type == COV_STREAM_TYPE_PAIR ? record : &s->text;
    rc = read_payload(s, (size_t)n_bytes, b, e);
    if (!rc)
        rc = kinds[k].next(s, b, item, e);
    if (!rc && cov_names_count(s->order.names) > 0) {
        item->species = order_species(&s->order);
        item->sequence = order_sequence(&s->order);
    }
    return rc;
}

/* ---- writing ---- */

struct cov_stream_writer {
    struct cov_bgz *out;
    struct cov_chunk_head head;
    struct order order;
};

static int write_record(struct cov_stream_writer *w, uint32_t type, const uint8_t *p, size_t n,
                        struct cov_err *e)
{
    uint8_t start[COV_STREAM_RECORD_BYTES];
    (void)cov_stream_put_u64(cov_stream_put_u32(start, type), n);
    int rc = cov_bgz_write(w->out, start, sizeof start, e);
    return rc ? rc : cov_bgz_write(w->out, p, n, e);
}

/* Writes magic, version and head. */
static int write_head(struct cov_stream_writer *w, struct cov_err *e)
{
    struct cov_blob record = COV_BLOB_INIT;
    uint8_t start[COV_STREAM_START_BYTES];
    memcpy(start, COV_STREAM_MAGIC, COV_STREAM_MAGIC_BYTES);
    (void)cov_stream_put_u32(start + COV_STREAM_MAGIC_BYTES, COV_STREAM_VERSION);
    int rc = cov_stream_head_encode(&w->head, w->order.partial, &record, e);
    if (rc)
        (void)cov_err_prefix(e, rc, "%s", w->order.name);
    else
        rc = cov_bgz_write(w->out, start, sizeof start, e);
    if (!rc)
        rc = write_record(w, COV_STREAM_TYPE_HEAD, record.data, record.n_bytes, e);
    cov_blob_fini(&record);
    return rc;
}

int cov_stream_create(const char *path, const struct cov_chunk_head *head, bool partial,
                      bool compress, unsigned n_threads, struct cov_stream_writer **out,
                      struct cov_err *e)
{
    *out = NULL;
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return cov_fail(
            e, COV_EUSAGE,
            "standard output is a terminal: redirect the chunk stream to a pipe or file "
            "(such as `| covpredict ... -` or `> FILE`)");
    struct cov_stream_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    int rc = cov_bgz_open_write(path, compress ? COV_BGZ_DEFLATE : COV_BGZ_STORED, n_threads,
                                &w->out, e);
    if (!rc)
        rc = order_init(&w->order, cov_bgz_name(w->out), &w->head, partial, e);
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
    order_fini(&w->order);
    cov_chunk_head_fini(&w->head);
    free(w);
}

static uint8_t *put_text(uint8_t *p, const char *text, size_t n)
{
    p = cov_stream_put_u32(p, (uint32_t)n);
    memcpy(p, text, n);
    return p + n;
}

int cov_stream_begin(struct cov_stream_writer *w, const char *species, const char *name,
                     struct cov_err *e)
{
    size_t n_species = strlen(species), n_name = strlen(name);
    int rc = order_begin(&w->order, species, n_species, name, n_name, e);
    if (rc)
        return rc;
    uint8_t *record = cov_malloc(8 + n_species + n_name, 1, e);
    if (!record)
        return COV_ENOMEM;
    (void)put_text(put_text(record, species, n_species), name, n_name);
    rc = write_record(w, COV_STREAM_TYPE_BEGIN, record, 8 + n_species + n_name, e);
    free(record);
    return rc;
}

int cov_stream_put(struct cov_stream_writer *w, const struct cov_blob *record, struct cov_err *e)
{
    struct cov_stream_layout l;
    const char *reason = cov_stream_layout(&w->head, record->data, record->n_bytes, &l);
    if (reason)
        return cov_fail(e, COV_EINPUT, "%s: the stream cannot hold this chunk: %s", w->order.name,
                        reason);
    int rc = order_pair(&w->order, &l.pair, e);
    return rc ? rc : write_record(w, COV_STREAM_TYPE_PAIR, record->data, record->n_bytes, e);
}

int cov_stream_end(struct cov_stream_writer *w, int64_t length, struct cov_err *e)
{
    int rc = order_end(&w->order, length, e);
    if (rc)
        return rc;
    uint8_t record[COV_STREAM_END_BYTES];
    (void)cov_stream_put_u64(cov_stream_put_u64(record, (uint64_t)length), w->order.n_seq_pairs);
    return write_record(w, COV_STREAM_TYPE_END, record, sizeof record, e);
}

int cov_stream_finish(struct cov_stream_writer *w, struct cov_err *e)
{
    int rc = order_last(&w->order, e);
    if (!rc) {
        uint8_t record[COV_STREAM_DONE_BYTES];
        uint8_t *p = cov_stream_put_u64(record, cov_names_count(w->order.names));
        (void)cov_stream_put_u64(cov_stream_put_u64(p, w->order.n_pairs), w->order.n_bases);
        rc = write_record(w, COV_STREAM_TYPE_DONE, record, sizeof record, e);
    }
    if (!rc) {
        rc = cov_bgz_close(w->out, e);
        w->out = NULL;
    }
    cov_stream_abort(w);
    return rc;
}
