/* count_file.h - one file of measurements counted over the pairs of a grid.
 *
 * For add_coverage.c: the depth of every pair of chunks goes, encoded and by the pair's number, into a
 * store, from which it is written when all files have been counted.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_COVERAGE_COUNT_FILE_H
#define COV_JOB_COVERAGE_COUNT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"
#include "common/store/coverage_store.h"
#include "common/track/counting.h"

struct cov_count_genome {
    const char *path; /* for messages */
    const struct cov_grid *grid;
    struct cov_names *names;   /* of the grid's sequences, in their order */
    struct cov_rename *rename; /* NULL: none */
    size_t elem_bytes;         /* of values at least, as they will be written */
    const char *tmpdir;
    struct cov_pool *pool;
    struct cov_progress *progress;
};

struct cov_count_file {
    char *path; /* Owned */
    struct cov_coverage_store store;
    int32_t max;
    double *sums;  /* [n_seqs]: of the depth, the mean of the strands */
    bool is_track; /* not reads */
    int64_t n_seen,
        n_elsewhere; /* reads or intervals, and those on contigs that the genome lacks */
    int64_t n_by_result[COV_SKIP_N]; /* reads */
    int64_t n_rounded;               /* intervals in the genome whose values were no integers */
};

int cov_count_file_init(const struct cov_count_genome *g, struct cov_count_file *m,
                        struct cov_err *e) COV_MUST_USE;
void cov_count_file_fini(struct cov_count_file *m); /* harmless on zeros */

/* The lane of depth[0..n), none of it below 0, and its sum. */
struct cov_depth_lane cov_count_lane(const int32_t *depth, size_t n, int64_t *sum);

/* *seq of a contig, or SIZE_MAX when the genome has none of the name. COV_EINPUT for another
 * length; length -1: the file does not say it. */
int cov_count_find_contig(const struct cov_count_genome *g, const char *path, const char *name,
                          int64_t length, size_t *seq, struct cov_err *e) COV_MUST_USE;

/* Lists in warnings what only one side has; seqs[n] are those of the file's contigs. COV_EINPUT
 * when no contig is common. */
int cov_count_check_contigs(const struct cov_count_genome *g, const char *path, const size_t *seqs,
                            size_t n, const char *(*name)(const void *arg, size_t i),
                            const void *arg, struct cov_err *e) COV_MUST_USE;

/* Counts the reads of an alignment file. */
int cov_count_reads(const struct cov_count_genome *g, const struct cov_counting *rules,
                    const char *reference, struct cov_count_file *m,
                    struct cov_err *e) COV_MUST_USE;

/* Takes the values of a bigWig or bedGraph file, for both strands: rounded, halves to the even
 * integer (which is a warning), and 0 where it has none. COV_EINPUT names the place of a value
 * below 0 or beyond 2^31 - 1, and of an interval that ends beyond its sequence. */
int cov_count_track(const struct cov_count_genome *g, struct cov_count_file *m,
                    struct cov_err *e) COV_MUST_USE;

#endif
