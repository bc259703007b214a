/* sink.h - where the intervals of a track go: one interface over the formats.
 *
 * The contigs are known beforehand, or announced one by one with their intervals, as a stream
 * brings them: a contig's length is then told at its end.
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
#include "common/seq/names.h"

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
    const struct cov_track_contigs *contigs; /* NULL: they are announced. Borrowed */
    struct {
        struct cov_names *names;
        int64_t *lengths;
        size_t cap;
    } announced;             /* Owned */
    int64_t longest;         /* contig that the format can hold; a format may lower it */
    bool begun;              /* there is a current contig */
    bool at_end;             /* an announced contig whose length has been told */
    size_t contig;           /* the current one */
    const char *contig_name; /* of the current contig, while it is the current one */
    int64_t length;          /* of the current contig; `longest` while it is not known */
    int64_t end;             /* of the last interval in it */
    struct cov_track_summary summary;
};

/* For formats. Checks the contigs: COV_EINPUT names one that comes twice or has no length. NULL:
 * contigs will be announced. Borrows `name` and `contigs` until cov_track_free. */
int cov_track_init(struct cov_track_sink *s, const struct cov_track_format *format,
                   const char *name, const struct cov_track_contigs *contigs,
                   struct cov_err *e) COV_MUST_USE;

/* The contigs, numbered in the order of the list or of their announcement. Names are borrowed, and
 * announced ones until the next announcement. */
size_t cov_track_n_contigs(const struct cov_track_sink *s);
const char *cov_track_contig_name(const struct cov_track_sink *s, size_t contig);
int64_t cov_track_contig_length(const struct cov_track_sink *s, size_t contig);

/* Goes on to a contig of the list, which must come after the current one. Contigs may be left
 * out. */
int cov_track_begin(struct cov_track_sink *s, size_t contig, struct cov_err *e) COV_MUST_USE;

/* Announces a contig and goes on to it, where there is no list. COV_EINPUT for a name that was
 * announced before. */
int cov_track_begin_named(struct cov_track_sink *s, const char *name,
                          struct cov_err *e) COV_MUST_USE;

/* The announced contig ends, and has this length. COV_EINPUT, naming it, when that is 0, less than
 * its intervals reach, or more than the format can hold. */
int cov_track_end_contig(struct cov_track_sink *s, int64_t length, struct cov_err *e) COV_MUST_USE;

/* Adds intervals of the current contig, ascending, without overlaps, values finite. COV_EINPUT,
 * naming contig and position, for one that is not. */
int cov_track_add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                  struct cov_err *e) COV_MUST_USE;

/* Completes the file: when this returns 0 it is closed, and what the format can check has been
 * checked. cov_track_free is still due. */
int cov_track_close(struct cov_track_sink *s, struct cov_err *e) COV_MUST_USE;

/* Frees the sink; if it was not closed, what it has written is worthless. NULL is accepted. */
void cov_track_free(struct cov_track_sink *s);

/* Both were made with these contigs, or without, and neither has begun. They are borrowed until
 * free, and are closed with the tee, but not freed. */
int cov_tee_new(struct cov_track_sink *a, struct cov_track_sink *b,
                const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                struct cov_err *e) COV_MUST_USE;

#endif
