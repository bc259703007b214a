/* loader.h - reads pairs of chunks from any input: a genome file (one-hot or packed), a FASTA in
 * any form, or a chunk stream.
 *
 * The kind of input is detected from its content. The same genome gives the same pairs and codes,
 * whatever its form. Files and FASTA are delivered in grid order or by filled length; a stream in its
 * own order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_LOADER_H
#define COV_INPUT_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/codec/codec.h"
#include "common/input/loader_item.h"
#include "common/seq/genome.h"
#include "common/seq/grid.h"
#include "common/seq/regions.h"

enum cov_loading {
    COV_LOAD_DISK,       /* read and decoded on each access */
    COV_LOAD_RAM,        /* kept compressed as stored; a FASTA as with COV_LOAD_RAM_PACKED */
    COV_LOAD_RAM_PACKED, /* decoded once, kept with 4 bits per base */
    COV_LOAD_RANKS       /* packed, distributed over the memory of several processes (examples.h) */
};

enum cov_loader_order {
    COV_ORDER_GRID, /* sequences in order, intervals ascending */
    /* By the number of bases in the chunk, descending, then in grid order. The chunks of a stream
     * stay in the order of the stream. */
    COV_ORDER_FILLED,
};

struct cov_loader_options {
    size_t chunk_length;              /* L of a FASTA's grid; other inputs define their own */
    const char *species;              /* of a FASTA; NULL: the stem of its name */
    struct cov_genome_options genome; /* how a FASTA is read; length limits apply to every input */
    enum cov_loading loading;         /* for files and FASTA */
    enum cov_loader_order order;
    size_t shard, n_shards; /* deliver only shard `shard`, counted from 0; n_shards 0: everything */
    /* Deliver only chunks that overlap these regions (regions.h); shards are cut afterwards. */
    const char *const *regions;
    size_t n_regions;
    const char *bed_path; /* NULL: none */
    bool resumes;         /* --resume: pairs are identified by number and may be excluded */
    /* cov_loader_neighbour will be called. */
    bool neighbours;
    /* An option that needs a FASTA, say "species", named in the error for other inputs; NULL: any
     * input. */
    const char *fasta_option;
    /* Called as soon as L is known, before a genome is read; if it fails, opening fails. May be
     * NULL. */
    int (*check)(const void *arg, size_t L, struct cov_err *e);
    const void *check_arg;
};

struct cov_loader;

/* Opens `path`; "-" is standard input, which must be a FASTA or a stream. A FASTA is read and
 * checked completely. Sequences outside the length limits are dropped with a warning that gives
 * their number; it is an error if none is left. A FASTA then counts as a smaller genome; a genome
 * file or stream, as a partial genome with all its sequence names. COV_EINPUT for operations a
 * stream does not support (shards, regions, neighbours, resuming, loading), for
 * `fasta_option`, and for unknown regions; COV_EUSAGE for malformed ones. With `neighbours`, COV_EINPUT for a genome
 * file with incomplete sequences. Free with cov_loader_close. */
int cov_loader_open(const char *path, const struct cov_loader_options *options,
                    struct cov_progress *progress, struct cov_loader **out,
                    struct cov_err *e) COV_MUST_USE;
void cov_loader_close(struct cov_loader *l); /* NULL is accepted */

/* Loads everything into memory, decoding in the pool; does nothing with COV_LOAD_DISK. Must be
 * called before the first pair is delivered. COV_LOAD_RAM stores an HDF5 chunk of several rows once
 * for each row. COV_LOAD_RAM_PACKED stores the - chunk only where it is not the reverse complement
 * of the + chunk. */
int cov_loader_load(struct cov_loader *l, struct cov_pool *pool, struct cov_progress *progress,
                    struct cov_err *e) COV_MUST_USE;

/* Returns COV_SHARD_ATTR of a genome file of which all rows are delivered, or NULL. Borrowed. */
const char *cov_loader_shard(const struct cov_loader *l);

enum { COV_LOADER_FINGERPRINT = 17 };
/* Sets text to a fingerprint of the + strand of the whole genome, also if only a part is delivered. It
 * covers all chunks if there are up to 1024, otherwise 513 to 1024 at equal distances. The text is
 * empty for a stream, a file that lacks chunks, and a selection of sequences. Call it before
 * cov_loader_load. */
int cov_loader_fingerprint(const struct cov_loader *l, char text[COV_LOADER_FINGERPRINT],
                           struct cov_err *e) COV_MUST_USE;

size_t cov_loader_chunk_length(const struct cov_loader *l);
/* The grid that is delivered, after regions, shard and length limits; NULL for a stream. */
const struct cov_grid *cov_loader_grid(const struct cov_loader *l);
size_t cov_loader_n_pairs(const struct cov_loader *l); /* SIZE_MAX for a stream */
/* Returns true if sequences may have holes, lack a strand, or have no chunks. */
bool cov_loader_is_partial(const struct cov_loader *l);

/* Returns true if the option `neighbours` is set. */
bool cov_loader_has_neighbours(const struct cov_loader *l);

/* The regions, for masking inside chunks; NULL: everything is wanted. Borrowed until close. */
const struct cov_select *cov_loader_regions(const struct cov_loader *l);

/* Calling thread: delivers the next pair and its stored data in raw[0..2), which are reused.
 * Returns 1, 0 at the end, or a negative error code. */
int cov_loader_next(struct cov_loader *l, struct cov_loader_item *item, struct cov_blob raw[2],
                    struct cov_err *e) COV_MUST_USE;

/* Number of chunks still to be delivered; -1 for a stream. */
int64_t cov_loader_n_left(const struct cov_loader *l);

/* Delivers the next pair without its stored data; not for a stream. Returns 1, or 0 at the end. */
int cov_loader_next_item(struct cov_loader *l, struct cov_loader_item *item) COV_MUST_USE;

/* Excludes pairs for which fn(arg, pair) returns true. Not for a stream. */
void cov_loader_exclude(struct cov_loader *l, bool (*fn)(const void *arg, size_t pair),
                        const void *arg);

/* Calling thread, with the option `neighbours`: fetches the pair that contains base `at` of a
 * sequence, whether or not it is delivered. *item and raw[] are inputs of cov_loader_codes;
 * item->pair and item->rows refer to the stored grid. */
int cov_loader_neighbour(struct cov_loader *l, size_t seq, int64_t at, struct cov_loader_item *item,
                         struct cov_blob raw[2], struct cov_err *e) COV_MUST_USE;

/* Any thread: decodes codes[s][0..L) of each strand s that is present, in its own direction, padded
 * with COV_CODE_PAD. raw[] is used as scratch. */
int cov_loader_codes(const struct cov_loader *l, const struct cov_loader_item *item,
                     struct cov_blob raw[2], uint8_t *const codes[2],
                     struct cov_err *e) COV_MUST_USE;

/* Calling thread: name and species of a delivered sequence. Borrowed until the next call of
 * cov_loader_next. */
const char *cov_loader_name(const struct cov_loader *l, size_t seq);
const char *cov_loader_species(const struct cov_loader *l, size_t seq);

/* Restarts from the first pair. COV_EINPUT for a stream. */
int cov_loader_rewind(struct cov_loader *l, struct cov_err *e) COV_MUST_USE;

#endif
