/* sink.h - receives the intervals of a track: one interface for all formats.
 *
 * Contigs are either listed in advance or, as streams require, announced one by one with their
 * intervals. The length of an announced contig is given at its end.
 *
 * A format embeds `struct cov_track_sink` as its first member. Contigs and intervals are checked
 * here, so that no format can write a track that is out of order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_SINK_H
#define COV_TRACK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/names.h"

/* Bases beg .. end-1, 0-based, have the same value. */
struct cov_interval {
    int64_t beg, end;
    float value;
};

/* The contigs of a track in header order: names ascending as bytes, lengths > 0. */
struct cov_track_contigs {
    size_t n;
    const char *const *names;
    const int64_t *lengths;
};

/* Statistics of all bases with a value; all zeros if there are none. */
struct cov_track_summary {
    uint64_t n_intervals, n_bases;
    double min, max, sum, sum_squares;
};

struct cov_track_sink;

/* The functions of a format. `begin` and `close` may be NULL. */
struct cov_track_format {
    int (*begin)(struct cov_track_sink *s, struct cov_err *e); /* called after s->contig has
                                                                * changed */
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
    int64_t longest;         /* longest contig that the format supports; a format may lower it */
    bool begun;              /* there is a current contig */
    bool at_end;             /* the length of the current, announced contig is known */
    size_t contig;           /* the current one */
    const char *contig_name; /* name of the current contig */
    int64_t length;          /* length of the current contig; `longest` if unknown */
    int64_t end;             /* end of its last interval */
    struct cov_track_summary summary;
};

/* Called by formats. `contigs` is NULL if they will be announced. COV_EINPUT, with the name of the
 * contig, if a contig is listed twice or has no length. Borrows `name` and `contigs` until
 * cov_track_free. */
int cov_track_init(struct cov_track_sink *s, const struct cov_track_format *format,
                   const char *name, const struct cov_track_contigs *contigs,
                   struct cov_err *e) COV_MUST_USE;

/* The contigs, numbered as listed or announced. Names are borrowed; those of announced contigs are
 * valid until the next announcement. */
size_t cov_track_n_contigs(const struct cov_track_sink *s);
const char *cov_track_contig_name(const struct cov_track_sink *s, size_t contig);
int64_t cov_track_contig_length(const struct cov_track_sink *s, size_t contig);

/* Returns true and sets *contig to the number of the contig with this name, if there is one. */
bool cov_track_find_contig(const struct cov_track_sink *s, const char *name, size_t *contig);

/* Starts a contig of the list, which must follow the current one. Contigs may be skipped. */
int cov_track_begin(struct cov_track_sink *s, size_t contig, struct cov_err *e) COV_MUST_USE;

/* Announces and starts a contig of a track without a list. COV_EINPUT for a duplicate name. */
int cov_track_begin_named(struct cov_track_sink *s, const char *name,
                          struct cov_err *e) COV_MUST_USE;

/* Ends the announced contig and sets its length. COV_EINPUT, with the name of the contig, if the
 * length is 0, less than the end of its intervals, or more than the format supports. */
int cov_track_end_contig(struct cov_track_sink *s, int64_t length, struct cov_err *e) COV_MUST_USE;

/* Adds intervals of the current contig: ascending, disjoint, with finite values. COV_EINPUT, with
 * the contig and position, for an invalid interval. */
int cov_track_add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                  struct cov_err *e) COV_MUST_USE;

/* Completes and closes the file, and runs the checks of the format. Call cov_track_free
 * afterwards. */
int cov_track_close(struct cov_track_sink *s, struct cov_err *e) COV_MUST_USE;

/* Frees the sink. The file of a sink that was not closed is incomplete. NULL is accepted. */
void cov_track_free(struct cov_track_sink *s);

#endif
