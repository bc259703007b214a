/* genome.h - a genome read from FASTA: names, lengths, and its bases at random access in constant
 * memory.
 *
 * The FASTA is read once, from any source, checked from end to end, and kept as 4-bit codes in an
 * unlinked temporary file (half a byte a base). So nothing is written before the whole input has
 * been found sound, and chunks of either strand come in any order, to any thread.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_GENOME_H
#define COV_SEQ_GENOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/seq/code_store.h"
#include "common/seq/fasta_pairs.h"
#include "common/seq/grid.h"

struct cov_genome {
    size_t n_seqs;    /* > 0 */
    char **names;     /* header up to the first white space, renamed; all different. Owned */
    int64_t *lengths; /* > 0 */
    int64_t n_bases;  /* sum of lengths */
    int64_t n_bad;    /* letters read as N */
    struct cov_code_store *codes;
    int64_t *offsets; /* of each sequence in `codes` */
};

/* Reads `path` ("-": standard input) with the checks and warnings of cov_fasta_pairs_next.
 * `progress` may be NULL. Free with cov_genome_free. */
int cov_genome_read(const char *path, const struct cov_genome_options *options,
                    struct cov_progress *progress, struct cov_genome **out,
                    struct cov_err *e) COV_MUST_USE;

/* codes[0 .. end-beg) = bases [beg, end) of the + strand, one code a byte. 0 <= beg <= end <=
 * length. Thread-safe. */
int cov_genome_codes(const struct cov_genome *g, size_t seq, int64_t beg, int64_t end,
                     uint8_t *codes, struct cov_err *e) COV_MUST_USE;

void cov_genome_free(struct cov_genome *g); /* NULL is accepted */

#endif
