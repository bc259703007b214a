/* loader.h - the pairs of chunks of an input, wherever they are: a genome file (one-hot or packed), a
 * FASTA in any form, the chunk stream.
 *
 * The kind is found by content. All give the same pairs and the same codes for the same genome, so
 * that what is computed from them is the same. Where the pairs are at random access they come in the
 * order of the grid, by filled length, or shuffled by a seed; from a stream as they arrive.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_LOADER_H
#define COV_JOB_PREDICT_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/codec/blob.h"
#include "common/job/predict/loader_item.h"
#include "common/seq/genome.h"
#include "common/seq/grid.h"
#include "common/seq/select.h"

enum cov_loading {
    COV_LOAD_DISK,       /* read and decoded each time */
    COV_LOAD_RAM,        /* kept as stored: compressed; of a FASTA as COV_LOAD_RAM_PACKED */
    COV_LOAD_RAM_PACKED, /* kept as codes, 4 bits a base, decoded once */
    COV_LOAD_RANKS       /* of examples.h alone: so, spread over the memory of several processes */
};

enum cov_loader_order {
    COV_ORDER_GRID,    /* sequences in order, intervals ascending */
    COV_ORDER_FILLED,  /* by how much of the chunk is bases, longest first; else as above. Of a
                          stream, as they arrive */
    COV_ORDER_SHUFFLED /* at random, by the seed */
};

struct cov_loader_options {
    size_t chunk_length;              /* L of a FASTA's grid; other inputs bring their own */
    const char *species;              /* of a FASTA; NULL: the stem of its name */
    struct cov_genome_options genome; /* how a FASTA is read; the limits of length hold for all */
    enum cov_loading loading;         /* of what is at random access */
    enum cov_loader_order order;
    uint64_t seed;
    size_t shard, n_shards; /* only pairs of shard `shard` (from 0); n_shards 0: all */
    /* Only chunks that overlap these, before shards are cut; see select.h. */
    const char *const *regions;
    size_t n_regions;
    const char *bed_path; /* NULL: none */
    bool resumes;         /* pairs are told apart by their numbers, and some left out */
    /* What is computed of a chunk needs its neighbours, which cov_loader_neighbour gives. */
    bool neighbours;
    /* Option that needs a FASTA, say "species", for the error if the input is none; NULL: any input. */
    const char *fasta_option;
    /* Called as soon as L is known, before a genome is read; its failure is that of the opening. May
     * be NULL. */
    int (*check)(const void *arg, size_t L, struct cov_err *e);
    const void *check_arg;
};

struct cov_loader;

/* Opens `path`; "-": standard input, a FASTA or a stream. A FASTA is read and checked from end to
 * end here. Sequences outside the limits of length are left out, counted in a warning; that nothing
 * is left is an error. A FASTA is then a smaller genome; a genome file or a stream becomes a partial
 * one, which knows all its sequences. COV_EUSAGE for what a stream cannot do (shards, regions,
 * neighbours, resuming, loading, shuffling), and by `fasta_option`; for regions that are not there or malformed.
 * With `neighbours`, COV_EINPUT for a genome file whose sequences are not whole, in Helixer's chunks.
 * Free with cov_loader_close. */
int cov_loader_open(const char *path, const struct cov_loader_options *options,
                    struct cov_progress *progress, struct cov_loader **out,
                    struct cov_err *e) COV_MUST_USE;
void cov_loader_close(struct cov_loader *l); /* NULL is accepted */

/* Before the first pair, unless `loading` is COV_LOAD_DISK: brings everything into memory; the pool
 * decodes. COV_LOAD_RAM keeps a stored chunk of several rows once for each of them;
 * COV_LOAD_RAM_PACKED keeps the - chunk only where it is not the reverse complement of the + chunk. */
int cov_loader_load(struct cov_loader *l, struct cov_pool *pool, struct cov_progress *progress,
                    struct cov_err *e) COV_MUST_USE;

size_t cov_loader_chunk_length(const struct cov_loader *l);
/* The grid of all that will come, after shard and limits of length; NULL for a stream. */
const struct cov_grid *cov_loader_grid(const struct cov_loader *l);
size_t cov_loader_n_pairs(const struct cov_loader *l); /* SIZE_MAX for a stream */
/* Whether sequences may come with holes, with one strand, or with nothing. */
bool cov_loader_is_partial(const struct cov_loader *l);

/* The regions, for what is within a chunk; NULL: all is wanted. Borrowed until close. */
const struct cov_select *cov_loader_regions(const struct cov_loader *l);

/* Calling thread: the next pair; what is stored of it goes into raw[0..2), which are reused. Returns
 * 1, 0 at the end, or a failure. */
int cov_loader_next(struct cov_loader *l, struct cov_loader_item *item, struct cov_blob raw[2],
                    struct cov_err *e) COV_MUST_USE;

/* Chunks that have yet to come; -1 for a stream. */
int64_t cov_loader_n_left(const struct cov_loader *l);

/* The same without what is stored of it; not for a stream. Returns 1, or 0 at the end. */
int cov_loader_next_item(struct cov_loader *l, struct cov_loader_item *item) COV_MUST_USE;

/* Pairs for which fn(arg, pair) is true do not come. Not for a stream. */
void cov_loader_leave_out(struct cov_loader *l, bool (*fn)(const void *arg, size_t pair),
                          const void *arg);

/* With the option `neighbours`, calling thread: fetches the pair that holds base `at` of a sequence,
 * whether or not it comes by itself: *item and raw[] are for cov_loader_codes, the pair and rows are not
 * those of cov_loader_grid. */
int cov_loader_neighbour(struct cov_loader *l, size_t seq, int64_t at, struct cov_loader_item *item,
                         struct cov_blob raw[2], struct cov_err *e) COV_MUST_USE;

/* Any thread: codes[s][0..L), of each strand s that is there, in its own direction, COV_CODE_PAD
 * behind its end. raw[] serves as scratch. */
int cov_loader_codes(const struct cov_loader *l, const struct cov_loader_item *item,
                     struct cov_blob raw[2], uint8_t *const codes[2],
                     struct cov_err *e) COV_MUST_USE;

/* Calling thread: name and species of a sequence that came. Borrowed until the next call of
 * next. */
const char *cov_loader_name(const struct cov_loader *l, size_t seq);
const char *cov_loader_species(const struct cov_loader *l, size_t seq);

/* Starts again; COV_ORDER_SHUFFLED in the order of `seed`, whatever the one before was. COV_EUSAGE
 * for a stream. */
int cov_loader_rewind(struct cov_loader *l, uint64_t seed, struct cov_err *e) COV_MUST_USE;

#endif
