/* chunk_jobs.h - the jobs of h5chunk. Those that write files use the engine in rewrite.h, except the
 * blacklist. Options that begin a struct are filled by the tables of h5chunk.c.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CHUNK_JOBS_H
#define COV_JOB_CHUNKS_CHUNK_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"
#include "common/job/chunks/rewrite.h"
#include "common/seq/copies.h"
#include "common/seq/names.h"

/* ---- chunk_info.c: the contents of files of chunks and of checkpoints ---- */

/* Prints one table per file, or one JSON object, to `out`. The caller checks `out` for errors.
 * A file that cannot be read does not prevent the others: the first such failure is returned, and
 * each other one causes a warning. Sums of bases, chunks and sizes go to `stats` (may
 * be NULL). */
int cov_chunk_info(char *const *paths, size_t n, bool json, FILE *out, struct cov_stats *stats,
                   struct cov_err *e) COV_MUST_USE;

/* ---- ckpt_info.c: one checkpoint ---- */

/* Returns true for a zip archive, such as a PyTorch checkpoint. */
bool cov_ckpt_info_applies(const char *path);

/* Describes the checkpoint `path`: hyperparameters, datasets, parameters, state of training, who
 * wrote it, SHA-256. Writes an object to *j, or text to `out` if j is NULL. *n_bytes is the size of
 * the file. COV_EINPUT for a file that is not a checkpoint of PyTorch Lightning. */
int cov_ckpt_info(const char *path, struct cov_json *j, FILE *out, int64_t *n_bytes,
                  struct cov_err *e) COV_MUST_USE;

/* ---- sequence_info.c: sequences of genome files and FASTAs: lengths, bases, and chunks with the same
 * bases ---- */

struct cov_sequence_info_options {
    bool json;        /* print JSON instead of a table */
    const char *plot; /* draws the lengths of the only file; NULL: no picture */
    bool force;       /* replace the picture */
    int64_t L;        /* length of the chunks of a FASTA */
    FILE *printed;
};

/* Prints a row, or an object, for each file; "-" is a FASTA. Sequences of a partial file of which
 * it has no chunk are left out. A file that cannot be read does not prevent the others: the first
 * such failure is returned, and each other one causes a warning. The caller checks
 * options->printed for errors. */
int cov_sequence_info(char *const *paths, size_t n, const struct cov_sequence_info_options *options,
                      const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

/* ---- survey.c: what chunks hold ---- */

/* How often each base, chunks of N only, and chunks with the same bases. The two chunks of a pair
 * count once, because they hold the same bases. */
struct cov_survey {
    int64_t n_codes[16];            /* number of bases of each code, on any strand */
    size_t n_pairs;                 /* that were read */
    struct cov_keyed_chunk *chunks; /* [n]: pairs that are not only N, sorted by key. Owned */
    size_t n, cap;
};

/* Reads the bases of the pairs that have a row for which wanted[] is true (NULL: all); `chunks` has
 * the numbers of pairs in the grid. `what` is for the progress. *out is all-zero, and is freed by
 * cov_survey_fini, also after a failure. */
int cov_survey_file(struct cov_chunk_file *f, const bool *wanted, const char *what,
                    const struct cov_job *job, struct cov_survey *out,
                    struct cov_err *e) COV_MUST_USE;

/* The same for a source of another kind: adds the next pair, then sorts. `scratch` has n bytes. */
int cov_survey_add(struct cov_survey *s, const uint8_t *codes, size_t n, uint8_t *scratch,
                   struct cov_err *e) COV_MUST_USE;
void cov_survey_end(struct cov_survey *s);

void cov_survey_fini(struct cov_survey *s);

/* Returns the number of pairs that have the bases of another pair with a lower number. */
size_t cov_survey_n_copies(const struct cov_survey *s);

/* ---- verify.c ---- */

/* Checks that a file of chunks is sound: all chunks decode, the rows tile the sequences, the strands
 * agree, and values are valid.
 *
 * Prints one line per finding to `out`; the caller checks `out` for errors:
 *
 *   FILE: DATASET: row N (SEQUENCE:BEG-END, - strand): REASON
 *
 * Rows, and the indices and columns in REASON, count from 0, as in HDF5; BEG counts from 1. The
 * order of the lines does not depend on the number of threads. *n_findings includes findings that
 * were counted but not printed. A file that cannot be opened is a failure, not a finding.
 *
 * Findings are:
 * - chunks that cannot be decoded
 * - missing or invalid bases, and bases past the end of the sequence
 * - chunks without a partner on the other strand, or that are not its reverse complement
 * - overlapping rows of a strand, and holes unless the file is partial
 * - coverage or predictions that are negative (except -1 where only regions were predicted), not
 *   finite, or not -1 past the end
 * - blacklist values other than 0 and 1
 * - lists of names that do not fit the columns, and empty or duplicate names in them
 * - sequence names that are duplicate or not a word */
int cov_verify(const char *path, FILE *out, const struct cov_job *job, size_t *n_findings,
               struct cov_err *e) COV_MUST_USE;

/* ---- stream_jobs.c: cat and save ---- */

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
 * storage, except COV_SHARD_ATTR, which names missing parts in messages, and COV_GENOME_ATTR.
 * COV_EINPUT if the parts differ in genome or datasets, if chunks overlap, or, unless allow_holes, if
 * chunks are missing; a result with holes is partial. */
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
    const char *excluded_path; /* sequences for neither file; may be NULL */
    const char *names_path;    /* sequences for validation; NULL: draw at random */
    double fraction;           /* share to draw, 0 < fraction < 1 */
    int64_t seed;
    int by; /* COV_HOLDOUT_ */
};

/* Writes DIRECTORY/train/STEM.h5 and DIRECTORY/val/STEM.h5 with the stem of `input`. Creates missing
 * directories, and removes them on failure. Chunks for validation that have
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

/* What NCBI's sequence_report.jsonl says, one JSON object per line for each sequence of a genome.
 * Sequences outside the chromosomes of the nucleus are dropped, that is, if chrName is "Un",
 * assemblyUnit is "non-nuclear", or role is "unplaced-scaffold" or "unlocalized-scaffold". Keys may
 * also be in snake case (chr_name), and values in any case. */
struct cov_sequence_report {
    struct cov_names *ids; /* refseqAccession if the first line has it, else genbankAccession */
    bool *drops;           /* of each id */
    size_t cap;
};

/* Reads the file, compressed or not. A sequence without the chosen accession gets the other one.
 * COV_EINPUT "<path>:<line>: ..." for malformed lines, missing accessions, duplicate ids, and an
 * empty file. */
int cov_sequence_report_read(const char *path, struct cov_sequence_report *out,
                             struct cov_err *e) COV_MUST_USE;
void cov_sequence_report_fini(struct cov_sequence_report *r);

#endif
