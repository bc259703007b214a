/* count_file.h - counts one file of measurements over the pairs of a grid.
 *
 * For add_coverage.c. The encoded depth of each pair goes to a store under the pair's number, and
 * is written to the genome file when all files have been counted.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_COVERAGE_COUNT_FILE_H
#define COV_JOB_COVERAGE_COUNT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/chunk/coverage_file.h"
#include "common/cli/stats.h"
#include "common/features/blacklist.h"
#include "common/features/counting.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

/* ---- depth_summary.c: mean and median of a column of coverage, and its correlation with the other
 * columns of a dataset, which are replicates.
 *
 * All rows count, of both strands. For correlations, each chunk is cut into bins of equal length
 * of at most COV_DEPTH_BIN bases; the strands of a bin are averaged. */

enum {
    COV_DEPTH_BIN = 1000,
    COV_DEPTH_MIN_BINS = 100,   /* a correlation needs at least these */
    COV_DEPTH_VALUES = 1 << 16, /* higher values count as the last of these in the median */
};

struct cov_depth_summary {
    /* Private. */
    const struct cov_grid *grid;
    size_t n_bins; /* per pair; shorter pairs have fewer */
    unsigned n_workers;
    float *bins; /* [pairs][n_bins]: means */
    struct cov_depth_counts {
        uint64_t sum, n_by_value[COV_DEPTH_VALUES];
    } * counts;     /* [n_workers] */
    int32_t **room; /* [n_workers][L]; an element is NULL until it is needed */
};

/* Starts without rows. Borrows the grid. cov_depth_summary_fini accepts an all-zero struct. */
int cov_depth_summary_init(struct cov_depth_summary *s, const struct cov_grid *grid,
                           unsigned n_workers, struct cov_err *e) COV_MUST_USE;
void cov_depth_summary_fini(struct cov_depth_summary *s);

/* Any thread: adds the rows of a pair of the grid; without them, they are 0. lanes[] are those of
 * its strands. */
void cov_depth_summary_add(struct cov_depth_summary *s, unsigned worker, size_t pair,
                           const struct cov_depth_lane lanes[2]);
/* Any thread: adds one row of a pair, as stored. */
int cov_depth_summary_add_row(struct cov_depth_summary *s, unsigned worker, size_t pair, int strand,
                              const int64_t *values, struct cov_err *e) COV_MUST_USE;

/* A column of a dataset. */
struct cov_depth_column {
    char *file; /* Owned by the caller */
    double mean, median;
    /* Pearson's correlation, over bins, with the mean of the other columns, without the outliers of
     * that mean (track/measures/outliers.h). NaN if there are fewer than two columns or
     * COV_DEPTH_MIN_BINS bins, or if one of the two is constant. */
    double r;
};

/* Ends the summaries, and sets columns[k] for summary k, except `file`. */
int cov_depth_summaries_end(struct cov_depth_summary *const *summaries, size_t n,
                            struct cov_depth_column *columns, struct cov_err *e) COV_MUST_USE;

/* ---- count_file.c, count_reads.c, count_track.c ---- */

struct cov_count_genome {
    const char *path; /* for messages */
    const struct cov_grid *grid;
    struct cov_names *names;         /* of the grid's sequences, in grid order */
    struct cov_rename *rename;       /* NULL: none */
    struct cov_blacklist *blacklist; /* by the genome's names; NULL: none */
    size_t elem_bytes;               /* minimum bytes per value of the output */
    const char *tmpdir;
    struct cov_pool *pool;
    struct cov_progress *progress;
};

struct cov_count_file {
    char *path; /* Owned */
    struct cov_coverage_store store;
    struct cov_depth_summary summary;
    int32_t max;
    double *sums;                    /* [n_seqs]: sum of the depth, mean of both strands */
    bool is_track;                   /* a track, not reads */
    bool is_bed;                     /* reads or fragments of a BED file */
    const char *items;               /* what it has: "reads", "fragments" or "intervals" */
    int64_t n_seen, n_elsewhere;     /* of these: all, and those on contigs that the genome lacks */
    struct cov_listing extra;        /* contigs of the file that the genome lacks */
    struct cov_listing missing;      /* sequences of the genome that the file lacks */
    int64_t n_by_result[COV_SKIP_N]; /* for reads */
    int64_t n_rounded;               /* for tracks: intervals in the genome whose values are not
                                      * integers */
};

int cov_count_file_init(const struct cov_count_genome *g, struct cov_count_file *m,
                        struct cov_err *e) COV_MUST_USE;

/* For a ring whose workers' buffers are their numbers, an unsigned, which summaries want. */
void cov_count_number_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory);

/* Returns the lane for depth[0..n), whose values must not be negative, and sets *sum. */
struct cov_depth_lane cov_count_lane(const int32_t *depth, size_t n, int64_t *sum);

/* Sets *seq to the sequence of a contig, or to SIZE_MAX if the genome does not have it. COV_EINPUT
 * if the lengths differ; length -1: unknown. */
int cov_count_find_contig(const struct cov_count_genome *g, const char *path, const char *name,
                          int64_t length, size_t *seq, struct cov_err *e) COV_MUST_USE;

/* Sets m->extra and m->missing, and warns about them; seqs[n] are the sequences of the file's
 * contigs. COV_EINPUT if no contig is shared. */
int cov_count_check_contigs(const struct cov_count_genome *g, struct cov_count_file *m,
                            const size_t *seqs, size_t n,
                            const char *(*name)(const void *arg, size_t i), const void *arg,
                            struct cov_err *e) COV_MUST_USE;

/* Returns whether the spans have no base outside of the blacklist. */
bool cov_count_is_masked(const struct cov_count_genome *g, size_t seq, const struct cov_spans *s);
/* Sets the values of a pair that are on the blacklist to 0. */
void cov_count_mask(const struct cov_count_genome *g, const struct cov_pair *p, int32_t *values);

/* Counts the reads of an alignment file, or of a BED file if m->is_bed. If more than half of the
 * mapped reads are on contigs that the genome lacks: COV_EINPUT if an alignment file lacks contigs of
 * the genome, too; a warning if the genome is a selection of its contigs. */
int cov_count_reads(const struct cov_count_genome *g, const struct cov_counting *rules,
                    const char *reference, struct cov_count_file *m,
                    struct cov_err *e) COV_MUST_USE;

/* Reads the values of a bigWig or bedGraph file for both strands. Rounds them half to even (with a
 * warning), and uses 0 where there is no value. COV_EINPUT, naming the place, for a value below 0
 * or above 2^31 - 1, for an interval past the end of its sequence, and if all intervals are on
 * contigs that the genome lacks and the file lacks contigs of the genome, too. */
int cov_count_track(const struct cov_count_genome *g, struct cov_count_file *m,
                    struct cov_err *e) COV_MUST_USE;

/* ---- what bam2h5 reports in --stats ---- */

struct cov_coverage_results {
    struct cov_count_file *files;     /* [n_files] */
    struct cov_depth_column *columns; /* [n_columns] of the dataset, with those it had before */
    size_t n_files, n_columns;
    struct cov_names *names; /* of the sequences */
    const struct cov_grid *grid;
    int bits; /* of a stored value */
};

/* Moves the results, except for the grid, to *stats, and leaves *results empty. */
int cov_coverage_stats_add(struct cov_coverage_results *results, struct cov_stats *stats,
                           struct cov_err *e) COV_MUST_USE;

/* NULL is accepted. */
void cov_count_files_free(struct cov_count_file *files, size_t n);
void cov_depth_columns_free(struct cov_depth_column *columns, size_t n);

#endif
