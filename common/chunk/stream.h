/* stream.h - the chunk stream: a file of chunks as bytes, piped between programs (covstream(5)).
 *
 * A stream consists of BGZF blocks, with level 0 in a pipe and possibly compressed in a file. It
 * begins with the head. Each sequence has a record with its name, a record per pair of chunks in
 * ascending order, and a record with its length. A record with counts is last. A stream that ends
 * early, or whose counts, order or checksums are wrong, is invalid. A reader or writer belongs to
 * one thread; any thread may pack and unpack pairs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_STREAM_H
#define COV_CHUNK_STREAM_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "common/chunk/chunk_head.h"
#include "common/codec/codec.h"
#include "common/file/bgz.h"

/* ---- pairs. Any thread ---- */

struct cov_stream_pair {
    int64_t beg, end;
    bool has[2]; /* [COV_PLUS], [COV_MINUS]: the chunk of this strand is present */
};

/* Clears *out and writes the record of a pair to it. codes[s] is the L codes of strand s in its own
 * direction; for the - strand, NULL stands for the reverse complement of the + strand. elems[s][k]
 * is the row of set k. COV_EINPUT, with the interval, for padding between bases, for bases past the
 * end, and for an interval that no chunk can have. */
int cov_stream_pack(const struct cov_chunk_head *head, const struct cov_stream_pair *pair,
                    const uint8_t *const codes[2], const uint8_t *const *const elems[2],
                    struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* The inverse: fills codes[s][L] and elems[s][k] of the strands that are present. codes, elems,
 * codes[s] and elems[s][k] may be NULL if they are not needed. `name` is the name of the stream,
 * for messages. */
int cov_stream_unpack(const struct cov_chunk_head *head, const char *name,
                      const struct cov_blob *record, struct cov_stream_pair *pair,
                      uint8_t *const codes[2], uint8_t *const *const elems[2],
                      struct cov_err *e) COV_MUST_USE;

/* The layout of a pair's record. Pointers are into the record. */
struct cov_stream_layout {
    struct cov_stream_pair pair;
    size_t n;          /* end - beg */
    size_t strands[2]; /* the n_strands strands present */
    size_t n_strands;
    bool apart;              /* each strand has its own bases */
    const uint8_t *is_whole; /* [n_strands][n_sets]: the row includes its padding */
    const uint8_t *bases, *elems;
};

/* Parses the n_bytes at p as the record of a pair. Returns NULL, or a description of the fault. */
const char *cov_stream_layout(const struct cov_chunk_head *head, const uint8_t *p, size_t n_bytes,
                              struct cov_stream_layout *out);

/* Returns an upper bound for the bytes of a pair's record. */
size_t cov_stream_pair_max(const struct cov_chunk_head *head);

/* ---- the head ---- */

/* Clears *out and writes the record of the head to it. COV_EUNSUPPORTED for a head over the limits
 * below. */
int cov_stream_head_encode(const struct cov_chunk_head *head, bool partial, struct cov_blob *out,
                           struct cov_err *e) COV_MUST_USE;
/* Decodes the record. *head must be freed even on failure. The message of COV_EINPUT does not name
 * the stream. */
int cov_stream_head_decode(const struct cov_blob *record, struct cov_chunk_head *head,
                           bool *partial, struct cov_err *e) COV_MUST_USE;

/* ---- bytes ---- */

#define COV_STREAM_MAGIC "COVSTRM\n"
enum {
    COV_STREAM_VERSION = 1,
    COV_STREAM_MAGIC_BYTES = 8,
    COV_STREAM_START_BYTES = COV_STREAM_MAGIC_BYTES + 4, /* magic and version */
    COV_STREAM_RECORD_BYTES = 12,                        /* type and length of a record */
    COV_STREAM_PAIR_BYTES = 24, /* size of a pair's record up to the flags of its sets */
    COV_STREAM_END_BYTES = 16,
    COV_STREAM_DONE_BYTES = 24,
};

/* The four letters of a record's type as a little-endian number. */
#define COV_STREAM_TYPE(a, b, c, d)                                                                \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define COV_STREAM_TYPE_HEAD COV_STREAM_TYPE('H', 'E', 'A', 'D')
#define COV_STREAM_TYPE_BEGIN COV_STREAM_TYPE('S', 'E', 'Q', 'B')
#define COV_STREAM_TYPE_PAIR COV_STREAM_TYPE('P', 'A', 'I', 'R')
#define COV_STREAM_TYPE_END COV_STREAM_TYPE('S', 'E', 'Q', 'E')
#define COV_STREAM_TYPE_DONE COV_STREAM_TYPE('D', 'O', 'N', 'E')

/* Upper bounds for the bases of a chunk (HDF5 stores no chunk of 4 GiB or more, and a one-hot base
 * takes eight bytes) and for the bytes of the rows of all its sets, of a name and of a head. */
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

/* ---- writing ---- */

struct cov_stream_writer;

/* Creates a stream at `path` ("-": standard output; COV_EUSAGE if that is a terminal). `compress`
 * is for files, not pipes. If `partial` is set, there may be gaps between pairs, pairs may lack a
 * strand, and a sequence may have no pairs. begin, put and end refuse anything that the reader
 * would refuse, with COV_EINPUT, sequence and position. After a failure, call only abort; the output is
 * not a valid stream. */
int cov_stream_create(const char *path, const struct cov_chunk_head *head, bool partial,
                      bool compress, unsigned n_threads, struct cov_stream_writer **out,
                      struct cov_err *e) COV_MUST_USE;
int cov_stream_begin(struct cov_stream_writer *w, const char *species, const char *name,
                     struct cov_err *e) COV_MUST_USE;
int cov_stream_put(struct cov_stream_writer *w, const struct cov_blob *record,
                   struct cov_err *e) COV_MUST_USE;
int cov_stream_end(struct cov_stream_writer *w, int64_t length, struct cov_err *e) COV_MUST_USE;
/* Writes the end record, flushes and closes; always frees *w. */
int cov_stream_finish(struct cov_stream_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_stream_abort(struct cov_stream_writer *w); /* NULL is accepted */

/* ---- reading ---- */

struct cov_stream;

/* Sets *yes to whether the open file is a chunk stream. Consumes nothing. */
int cov_stream_is(struct cov_bgz *b, bool *yes, struct cov_err *e) COV_MUST_USE;

/* Opens the stream in *b, from which nothing has been read. Takes ownership of *b, even on failure.
 * COV_EINPUT if *b is not BGZF or not a chunk stream, or has an unsupported version. */
int cov_stream_open(struct cov_bgz *b, struct cov_stream **out, struct cov_err *e) COV_MUST_USE;
void cov_stream_close(struct cov_stream *s); /* NULL is accepted */

const struct cov_chunk_head *cov_stream_head(const struct cov_stream *s); /* borrowed until close */
bool cov_stream_is_partial(const struct cov_stream *s);
const char *cov_stream_name(const struct cov_stream *s); /* for messages; borrowed until close */

enum cov_stream_event { COV_STREAM_BEGIN, COV_STREAM_PAIR, COV_STREAM_END, COV_STREAM_DONE };

/* The next record. BEGIN: a sequence begins. PAIR: `pair`, which follows the previous pair, is set,
 * and *record (reused) is for cov_stream_unpack. END: `length`, which agrees with the pairs, is
 * set. DONE: the counts agree and nothing follows, so do not call it again. Except for DONE,
 * `species` and `sequence` are the current ones, borrowed until the next call. COV_EINPUT, with
 * stream, sequence and position, for damaged, misplaced or truncated records. */
struct cov_stream_item {
    enum cov_stream_event event;
    const char *species, *sequence;
    struct cov_stream_pair pair;
    int64_t length;
};
int cov_stream_next(struct cov_stream *s, struct cov_stream_item *item, struct cov_blob *record,
                    struct cov_err *e) COV_MUST_USE;

#endif
