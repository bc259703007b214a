/* sink.h - where the intervals of a track go: one interface over the formats.
 *
 * A format embeds `struct cov_track_sink` as its first member. Contigs and intervals are checked
 * here, once for all formats: none of them can then write a track that is out of order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_SINK_H
#define COV_TRACK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* One value over the bases beg .. end-1, 0-based. */
struct cov_interval {
    int64_t beg, end;
    float value;
};

/* The contigs of a track, in the order of its header: names ascending as bytes, lengths > 0. */
struct cov_track_contigs {
    size_t n;
    const char *const *names;
    const int64_t *lengths;
};

/* Over all bases that an interval covers; all zero when there is none. */
struct cov_track_summary {
    uint64_t n_intervals, n_bases;
    double min, max, sum, sum_squares;
};

struct cov_track_sink;

/* What a format does. `begin` and `close` may be NULL. */
struct cov_track_format {
    int (*begin)(struct cov_track_sink *s, struct cov_err *e); /* s->contig has changed */
    int (*add)(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
               struct cov_err *e);
    int (*close)(struct cov_track_sink *s, struct cov_err *e);
    void (*free)(struct cov_track_sink *s);
};

struct cov_track_sink {
    const struct cov_track_format *format;
    const char *name; /* for messages: the final name of the output. Borrowed */
    const struct cov_track_contigs *contigs; /* Borrowed */
    size_t contig;                           /* the current one; contigs->n before the first */
    int64_t end;                             /* of the last interval in it */
    struct cov_track_summary summary;
};

/* For formats. Checks the contigs: COV_EINPUT names one that comes twice or has no length. Borrows
 * `name` and `contigs` until cov_track_free. */
int cov_track_init(struct cov_track_sink *s, const struct cov_track_format *format,
                   const char *name, const struct cov_track_contigs *contigs,
                   struct cov_err *e) COV_MUST_USE;

/* Goes on to a contig, which must come after the current one. Contigs may be left out. */
int cov_track_begin(struct cov_track_sink *s, size_t contig, struct cov_err *e) COV_MUST_USE;

/* Adds intervals of the current contig, ascending, without overlaps, values finite. COV_EINPUT,
 * naming contig and position, for one that is not. */
int cov_track_add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                  struct cov_err *e) COV_MUST_USE;

/* Completes the file: when this returns 0 it is closed, and what the format can check has been
 * checked. cov_track_free is still due. */
int cov_track_close(struct cov_track_sink *s, struct cov_err *e) COV_MUST_USE;

/* Frees the sink; if it was not closed, what it has written is worthless. NULL is accepted. */
void cov_track_free(struct cov_track_sink *s);

#endif
