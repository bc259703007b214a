/* convert_reader.h - the pieces of cov2bigwig's work, in the order of the tracks.
 *
 * A piece is an interval of a contig: the + and the - chunk that cover it. Of a file pieces come
 * contig by contig, names ascending as bytes; of a stream as they arrive. That a contig ends, and
 * how long it is, a stream says behind its pieces: so a piece carries the end of the contig before
 * it too. One thread reads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_READER_H
#define COV_JOB_TRACKS_CONVERT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/job/tracks/convert.h"
#include "common/job/tracks/convert_lists.h"
#include "common/job/tracks/signal_source.h"
#include "common/seq/names.h"
#include "common/track/sink.h"

/* What happens, in this order; each may be left out. All zero is an empty one, which is used again
 * and again. */
struct cov_convert_piece {
    bool ends;      /* the current contig ends */
    int64_t length; /* of that contig, in a stream */
    bool begins;    /* a contig begins */
    struct cov_convert_contig contig;
    size_t number;  /* of the contig in the list of contigs, of a file */
    char *sequence; /* its name in a stream. Owned */
    size_t cap_sequence;
    size_t n; /* bases that come next, from `beg` on; 0: none */
    int64_t beg;
    struct cov_signal_piece signal;
};

void cov_convert_piece_fini(struct cov_convert_piece *p);

/* All zero is an empty one. */
struct cov_convert_reader {
    const struct cov_convert_options *o;
    struct cov_signal_source *source;
    const char *name;            /* of the input, for messages */
    const struct cov_grid *grid; /* NULL: the input is a stream */
    /* Data sets: the caller sets them before the first piece. */
    const size_t *ks;
    size_t n_ks;
    /* The contigs of the tracks, of a file. */
    struct cov_convert_contig *contigs;
    size_t n_contigs;
    const char **names;
    int64_t *lengths;
    int64_t n_chunks; /* read so far */
    bool done;        /* all has been read */
    /* The rest is private. */
    struct cov_convert_lists lists;
    /* Of a file. */
    size_t contig;      /* the next one */
    size_t *rows[2];    /* of the current one, of each strand; NULL: not needed */
    size_t row, n_rows; /* of them; in a partial file, of its pairs */
    int64_t covered;    /* base behind the last pair */
    /* Of a stream. */
    struct cov_names *announced; /* contigs, by their new names */
    char *sequence;              /* the name of the current one in the stream */
    size_t cap_sequence;
    bool skips;     /* it is left out */
    bool owes_end;  /* of the contig that the last piece began */
    int64_t length; /* of that contig */
};

/* Opens `input` and the lists of the options (borrowed until the end). `in` is the input, opened
 * and not read from, or NULL: it is opened by its name. Owns `in`, after a failure too. Of a
 * file, all contigs are known then: COV_EINPUT when none is left, or two of them would have one
 * name. */
int cov_convert_reader_open(struct cov_convert_reader *r, const char *input, struct cov_bgz *in,
                            const struct cov_convert_options *o, struct cov_err *e) COV_MUST_USE;
void cov_convert_reader_close(struct cov_convert_reader *r);

/* Whether the strand is needed. */
bool cov_convert_wants(const struct cov_convert_options *o, enum cov_strand_index strand);

/* Bases that will come; -1 of a stream. */
int64_t cov_convert_reader_count(const struct cov_convert_reader *r);

/* Fetches the next piece, unless `done`. COV_EINPUT names sequence and place of chunks that
 * overlap, and for the mean of both strands, of one that is not there; in a file that is not
 * partial, of holes too. */
int cov_convert_reader_next(struct cov_convert_reader *r, struct cov_convert_piece *p,
                            struct cov_err *e) COV_MUST_USE;

/* After the last piece. Of a stream: COV_EINPUT when nothing was left to convert. */
int cov_convert_reader_check(const struct cov_convert_reader *r, struct cov_err *e) COV_MUST_USE;

#endif
