/* chunk_jobs.h - the jobs of h5chunk that write files. All use the engine in rewrite.h, except the
 * blacklist. Options that begin a struct are filled by the tables of tools/h5chunk/.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CHUNK_JOBS_H
#define COV_JOB_CHUNKS_CHUNK_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/job/chunks/rewrite.h"

/* ---- cat.c, save.c: streams ---- */

/* Writes the file `input` as a stream to `output` ("-": standard output), in the order of pairs. */
int cov_cat(const char *input, const char *output, const struct cov_rewrite_job *job,
            struct cov_err *e) COV_MUST_USE;

/* Writes the stream `input` ("-": standard input) as a file in Helixer's order. storage->chunk_rows
 * must be 0; the default storage is gzip and one-hot. The - chunks wait in `tmpdir` (NULL: the
 * directory of `output`) until their sequence ends. */
int cov_save(const char *input, const char *output, const struct cov_rewrite_storage *storage,
             const char *tmpdir, const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

/* ---- merge.c ---- */

/* Joins n files, given in any order. The output is in Helixer's order: sequences as the parts list
 * them, + chunks ascending, then - chunks descending. The part with the first row gives attributes and
 * storage, except COV_SHARD_ATTR, which names missing parts in messages. COV_EINPUT if
 * the parts differ in genome or datasets, if chunks overlap, or, unless allow_holes, if chunks are
 * missing; a result with holes is partial. */
int cov_merge(const char *const *inputs, size_t n, const char *output, bool allow_holes,
              const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

/* ---- subset.c: some rows, shards, or training and validation data ---- */

/* Keeps chunks that overlap a region or belong to a listed sequence (all chunks if neither is
 * given). Drops chunks of sequences shorter than min_length bases and, with drop_n, chunks that are
 * all N. */
struct cov_subset_options {
    struct cov_strings regions;
    const char *bed_path, *names_path, *excluded_path; /* or NULL */
    int64_t min_length;
    bool drop_n;
};

/* Writes the selected rows of `input` (NULL: all) in their order, as a partial file unless all are
 * selected. `storage`: NULL keeps the storage of the file. COV_EINPUT if no row is selected. */
int cov_subset(const char *input, const char *output, const struct cov_subset_options *options,
               const struct cov_rewrite_storage *storage, const struct cov_rewrite_job *job,
               struct cov_err *e) COV_MUST_USE;

/* Writes shards of consecutive pairs, PREFIX.1.h5 ... PREFIX.n.h5; either all shards appear or
 * none. COV_EINPUT if there are fewer pairs than shards. */
int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

/* What holdout.h draws. */
enum { COV_HOLDOUT_SEQUENCES, COV_HOLDOUT_PAIRS };

struct cov_split_holdout {
    const char *names_path; /* sequences for validation; NULL: draw at random */
    double fraction;        /* share to draw, 0 < fraction < 1 */
    int64_t seed;
    int by; /* COV_HOLDOUT_ */
    bool allow_copies;
};

/* Writes DIRECTORY/train/STEM.h5 and DIRECTORY/val/STEM.h5 with the stem of `input`. Creates missing
 * directories, and removes them on failure. Unless allow_copies is set, chunks for validation that have
 * the bases of a chunk for training, on either strand, go to training; chunks of N only may be in
 * both. COV_EINPUT if one of the files would be empty. Adds the number of chunks that were moved to
 * the statistics. */
int cov_split_holdout(const char *input, const char *directory,
                      const struct cov_split_holdout *options, const struct cov_rewrite_job *job,
                      struct cov_err *e) COV_MUST_USE;

/* ---- edit_datasets.c ---- */

/* Removes or renames a dataset NAME: evaluation/NAME_coverage with evaluation/NAME_spliced_coverage
 * and evaluation/NAME_meta/, or a column of prediction/predictions that prediction/datasets names. */
struct cov_dataset_edit {
    const char *name, *new_name; /* borrowed; new_name NULL: remove */
};

/* Writes `input` with the n edits to `output`; if it is NULL, replaces `input`, as a whole or not
 * at all. COV_EINPUT for a dataset that the file does not have, a new name that it has, and if
 * predictions would lose all datasets. */
int cov_edit_datasets(const char *input, const char *output, const struct cov_dataset_edit *edits,
                      size_t n, const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

/* ---- set_blacklist.c ---- */

/* Sets data/blacklist of a genome file, which marks the sequences that training omits. */
struct cov_set_blacklist_options {
    const char *report; /* sequence_report.jsonl; if NULL, `names` is used */
    const char *names;  /* ids, one per line, as in cov2bigwig's --blacklist-file */
    const char *output; /* NULL: change the file itself */
    const char *list;   /* gets the ids of blacklisted sequences; may be NULL */
    bool force;         /* replace existing data/blacklist, output and list */
};

/* Writes a changed copy of `path`, reads it back, and renames it, so that the file is always
 * complete. Warns about ids that are not in the file, and about sequences that the report lacks;
 * COV_EINPUT if the report has none of the sequences. Sets chunks and bases in job->stats, which
 * must not be NULL. */
int cov_set_blacklist(const char *path, const struct cov_set_blacklist_options *options,
                      const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
