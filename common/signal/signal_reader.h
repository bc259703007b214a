/* signal_reader.h - reads signal piece by piece, in the order of the tracks, from an HDF5 file or a
 * chunk stream.
 *
 * A piece is an interval of a contig: the + and the - chunk that cover it. A file yields the pieces
 * contig by contig, sorted bytewise by name; a stream yields them as they arrive. A stream reports
 * the end and the length of a contig only after its pieces, so each piece also carries the end of
 * the contig before it. One thread reads; any thread decodes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SIGNAL_SIGNAL_READER_H
#define COV_SIGNAL_SIGNAL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/file/bgz.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"
#include "common/signal/contig_filter.h"
#include "common/signal/signal_file.h"
#include "common/signal/track_source.h"

/* The events of a piece, in this order; each is optional. Empty if all zero; reusable. */
struct cov_signal_piece {
    bool ends;      /* the current contig ends */
    int64_t length; /* stream: length of that contig */
    bool begins;    /* a contig begins */
    struct cov_track_contig contig;
    size_t number;  /* file: index into contigs[] */
    char *sequence; /* stream: its name in the input. Owned */
    size_t cap_sequence;
    size_t n; /* bases from `beg` on; 0: none */
    int64_t beg;
    struct cov_blob
        raw[2];     /* file: stored chunks of both strands; stream: the record, and scratch */
    size_t rows[2]; /* file */
};

void cov_signal_piece_fini(struct cov_signal_piece *p);

/* Empty if all zero. */
struct cov_signal_reader {
    const struct cov_source_options *o;
    struct cov_signal *signal;
    /* The datasets to read; set by the caller before the first piece. */
    const size_t *ks;
    size_t n_ks;
    /* File: the contigs of the tracks. */
    struct cov_track_contig *contigs;
    size_t n_contigs;
    const char **names;
    int64_t *lengths;
    int64_t n_chunks; /* read so far */
    bool done;        /* everything has been read */
    /* Private from here on. */
    struct cov_contig_filter filter;
    /* File. */
    size_t contig;      /* the next one */
    size_t *rows[2];    /* rows of the current contig per strand; NULL: not needed */
    size_t row, n_rows; /* in rows[]; in a partial file, pairs of the grid */
    int64_t covered;    /* end of the last pair */
    /* Stream. */
    struct cov_names *announced; /* contigs, by their new names */
    char *sequence;              /* name of the current sequence in the stream */
    size_t cap_sequence;
    bool skips;     /* the current sequence is dropped */
    bool owes_end;  /* the end of the last piece's contig is not yet reported */
    int64_t length; /* of that contig */
};

/* Opens `path`: HDF5 or a stream, detected by content; "-" is standard input. `in` is a stream that
 * is already open and unread, or NULL. Owns `in`, even after a failure. Borrows the options until
 * close. After opening, the contigs of a file are known; COV_EINPUT if none is left, or if two have
 * the same name. */
int cov_signal_reader_open(struct cov_signal_reader *r, const char *path, struct cov_bgz *in,
                           const struct cov_source_options *o, struct cov_err *e) COV_MUST_USE;
void cov_signal_reader_close(struct cov_signal_reader *r);

/* Adds the attributes of the input, and of its datasets ks[n] as they are in the input, to the
 * statistics. */
int cov_signal_reader_add_sources(const struct cov_signal_reader *r, const size_t *ks, size_t n,
                                  struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

/* Returns true if the options need this strand. */
bool cov_signal_needs(const struct cov_source_options *o, enum cov_strand_index strand);

/* Number of bases that will be read; -1 for a stream. */
int64_t cov_signal_reader_count(const struct cov_signal_reader *r);

/* Reads the next piece, unless `done`. COV_EINPUT, naming the place, for chunks that overlap, for a
 * missing strand if the mean of both is requested, and for gaps in a file that is not partial. */
int cov_signal_reader_next(struct cov_signal_reader *r, struct cov_signal_piece *p,
                           struct cov_err *e) COV_MUST_USE;

/* Any thread: decodes a piece to values[strand][n_ks][L], each strand in its own direction, for the
 * strands whose values[] are not NULL. See cov_signal_decode_row. */
int cov_signal_reader_decode(const struct cov_signal_reader *r, struct cov_signal_piece *p,
                             float *const values[2], struct cov_err *e) COV_MUST_USE;

/* After the last piece: COV_EINPUT if a stream had no contig to convert. */
int cov_signal_reader_check(const struct cov_signal_reader *r, struct cov_err *e) COV_MUST_USE;

#endif
