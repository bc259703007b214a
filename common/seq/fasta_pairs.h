/* fasta_pairs.h - the sequences of a FASTA, checked, in intervals of L bases, as they are read.
 *
 * An interval is a pair of chunks: its codes are those of the + chunk, their reverse complement
 * those of the - chunk. Memory is that of the names and lengths, whatever the input; of a sequence
 * that may yet be left out, what was read waits in a temporary file. Nothing of it has come then.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_FASTA_PAIRS_H
#define COV_SEQ_FASTA_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_bgz;

struct cov_genome_options {
    bool bad_base_is_n; /* else a letter outside IUPAC is an error */
    int64_t min_length; /* sequences outside are left out, counted in a warning; 0: no limit */
    int64_t max_length;
    const char *rename_path; /* two columns: name in the FASTA, name to use; NULL: none */
    const char *tmpdir;      /* folder of the temporary file */
    unsigned n_threads;      /* for decompression */
    /* The FASTA, if it is open already, at its beginning; borrowed as the texts are. NULL: it is
     * opened by its path. */
    struct cov_bgz *opened;
};

struct cov_fasta_pairs;

/* Opens `path` ("-": standard input). L > 0. The options are copied, their texts borrowed until
 * free. Free with cov_fasta_pairs_free. */
int cov_fasta_pairs_open(const char *path, const struct cov_genome_options *options, size_t L,
                         struct cov_fasta_pairs **out, struct cov_err *e) COV_MUST_USE;
void cov_fasta_pairs_free(struct cov_fasta_pairs *p); /* NULL is accepted */

struct cov_fasta_pair {
    size_t seq;       /* sequences are numbered as they come */
    const char *name; /* of it, renamed; all are different. Borrowed until the next */
    int64_t beg, end; /* of the interval: beg is a multiple of L, end - beg = L unless it is last */
    bool first, last; /* of its sequence; with the last one the length is known: end */
};

/* The next interval, codes[0..L), with COV_CODE_PAD behind its end. Returns 1, or 0 at the end, or
 * a failure. Errors (COV_EINPUT) name the file and: the line and column of a letter outside IUPAC;
 * both lines of a name that is there twice, in the FASTA or after renaming; the line of a header
 * without a name or without a sequence; text before the first header; an empty file; damaged
 * compression; that the limits of length leave nothing. At the end what was left out or changed is
 * said in warnings. */
int cov_fasta_pairs_next(struct cov_fasta_pairs *p, struct cov_fasta_pair *pair, uint8_t *codes,
                         struct cov_err *e) COV_MUST_USE;

/* Letters that were read as N, of the sequences that came. */
int64_t cov_fasta_pairs_n_bad(const struct cov_fasta_pairs *p);

/* Bytes of text in all, or -1 where that is not known; and how many have been read. */
int64_t cov_fasta_pairs_total(const struct cov_fasta_pairs *p);
int64_t cov_fasta_pairs_done(const struct cov_fasta_pairs *p);

#endif
