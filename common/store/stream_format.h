/* stream_format.h - the bytes of the chunk stream (covstream(5)) and the order of its records. For
 * the stream*.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_STREAM_FORMAT_H
#define COV_STORE_STREAM_FORMAT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/seq/names.h"
#include "common/store/stream.h"

#define COV_STREAM_MAGIC "COVSTRM\n"
enum {
    COV_STREAM_MAGIC_BYTES = 8,
    COV_STREAM_START_BYTES = COV_STREAM_MAGIC_BYTES + 4, /* and the version */
    COV_STREAM_RECORD_BYTES = 12,                        /* type and length of a record */
    COV_STREAM_PAIR_BYTES = 24,                          /* of a pair, before its flags of sets */
    COV_STREAM_SEQ_END_BYTES = 16,
    COV_STREAM_END_BYTES = 24,
};

/* The four letters of a record's type as a little-endian number. */
#define COV_STREAM_TYPE(a, b, c, d)                                                                \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define COV_STREAM_HEAD COV_STREAM_TYPE('H', 'E', 'A', 'D')
#define COV_STREAM_SEQ COV_STREAM_TYPE('S', 'E', 'Q', 'B')
#define COV_STREAM_CHUNKS COV_STREAM_TYPE('P', 'A', 'I', 'R')
#define COV_STREAM_SEQ_END COV_STREAM_TYPE('S', 'E', 'Q', 'E')
#define COV_STREAM_LAST COV_STREAM_TYPE('D', 'O', 'N', 'E')

/* A chunk has at most this many bases (HDF5 stores no chunk of 4 GiB or more, and a base takes
 * eight bytes there), the rows of all its sets this many bytes, a name this many, and a head. */
#define COV_STREAM_MAX_L ((size_t)1 << 28)
#define COV_STREAM_MAX_ROWS ((size_t)1 << 32)
enum { COV_STREAM_MAX_NAME = 65535, COV_STREAM_MAX_HEAD = 1 << 30 };

static inline uint32_t cov_stream_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t cov_stream_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static inline uint8_t *cov_stream_put_u32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *cov_stream_put_u64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

/* ---- the head (stream_head.c) ---- */

/* *out (cleared) = the record. COV_EUNSUPPORTED for a head beyond the limits above. */
int cov_stream_head_encode(const struct cov_chunk_head *head, bool partial, struct cov_blob *out,
                           struct cov_err *e) COV_MUST_USE;
/* *head is to be freed in any case. COV_EINPUT without the name of the stream. */
int cov_stream_head_decode(const uint8_t *p, size_t n, struct cov_chunk_head *head, bool *partial,
                           struct cov_err *e) COV_MUST_USE;

/* ---- a pair (stream_pack.c) ---- */

/* How a record of a pair is laid out. */
struct cov_stream_layout {
    struct cov_stream_pair pair;
    size_t n;          /* end - beg */
    size_t strands[2]; /* the strands that are there, n_strands of them */
    size_t n_strands;
    bool apart;              /* both strands have their own bases */
    const uint8_t *is_whole; /* [n_strands][n_sets] */
    const uint8_t *bases, *elems;
};

/* NULL, or what is wrong with the n_bytes at p as a record of a pair. */
const char *cov_stream_layout(const struct cov_chunk_head *head, const uint8_t *p, size_t n_bytes,
                              struct cov_stream_layout *out);

/* The most bytes that a record of a pair can have. */
size_t cov_stream_pair_max(const struct cov_chunk_head *head);

/* ---- what may follow what (stream_order.c): the same for writing and reading ---- */

struct cov_stream_order {
    const char *name; /* of the stream, for messages. Borrowed */
    bool partial;
    struct cov_names *names; /* species, a zero, name */
    bool in_seq;
    size_t seq;           /* of the names, from begin on */
    int64_t end;          /* of the last pair of the sequence, or 0 */
    uint64_t n_seq_pairs; /* of the sequence */
    uint64_t n_pairs, n_bases;
};

int cov_stream_order_init(struct cov_stream_order *o, const char *name, bool partial,
                          struct cov_err *e) COV_MUST_USE;
void cov_stream_order_fini(struct cov_stream_order *o);

/* The next record, which COV_EINPUT refuses: names stream, sequence and position. */
int cov_stream_order_begin(struct cov_stream_order *o, const char *species, size_t n_species,
                           const char *name, size_t n_name, struct cov_err *e) COV_MUST_USE;
int cov_stream_order_pair(struct cov_stream_order *o, const struct cov_stream_pair *pair,
                          struct cov_err *e) COV_MUST_USE;
int cov_stream_order_end(struct cov_stream_order *o, int64_t length,
                         struct cov_err *e) COV_MUST_USE;
int cov_stream_order_last(struct cov_stream_order *o, struct cov_err *e) COV_MUST_USE;

/* Of the sequence that began last. Borrowed until the next one. */
const char *cov_stream_order_species(const struct cov_stream_order *o);
const char *cov_stream_order_sequence(const struct cov_stream_order *o);

/* "sequence 'Chr1', behind position 42768", cut to fit buf. */
enum { COV_STREAM_WHERE_BYTES = 300 };
const char *cov_stream_order_where(const struct cov_stream_order *o,
                                   char buf[COV_STREAM_WHERE_BYTES]);

#endif
