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
#include "common/seq/grid.h"

struct cov_bgz;

struct cov_genome_options {
    bool bad_base_is_n; /* else a letter outside IUPAC is an error */
    int64_t min_length; /* sequences outside are left out, counted in a warning; 0: no limit */
    int64_t max_length;
    const char *rename_path; /* two columns: name in the FASTA, name to use; NULL: none */
    const char *tmpdir;      /* folder of the temporary file */
    unsigned n_threads;      /* for decompression */
    /* The FASTA, if it is open already, at its beginning; borrowed for the call. NULL: it is opened
     * by its path. */
    struct cov_bgz *opened;
};

struct cov_genome {
    size_t n_seqs;    /* > 0 */
    char **names;     /* header up to the first white space, renamed; all different. Owned */
    int64_t *lengths; /* > 0 */
    int64_t n_bases;  /* sum of lengths */
    int64_t n_bad;    /* letters read as N */
    int fd;           /* packed codes, each sequence from a whole byte on */
    int64_t *offsets; /* of each sequence in fd, bytes */
};

/* Reads `path` ("-": standard input). Errors (COV_EINPUT) name the file and: the line and column of
 * a letter outside IUPAC; both lines of a name that is there twice, in the FASTA or after renaming;
 * the line of a header without a name or without a sequence; text before the first header; an empty
 * file; damaged compression; that the limits of length leave nothing. `progress` may be NULL. Free
 * with cov_genome_free. */
int cov_genome_read(const char *path, const struct cov_genome_options *options,
                    struct cov_progress *progress, struct cov_genome **out,
                    struct cov_err *e) COV_MUST_USE;

/* codes[0 .. end-beg) = bases [beg, end) of the + strand, one code a byte. 0 <= beg <= end <=
 * length. Thread-safe. */
int cov_genome_codes(const struct cov_genome *g, size_t seq, int64_t beg, int64_t end,
                     uint8_t *codes, struct cov_err *e) COV_MUST_USE;

/* codes[0..L) of chunk i of the genome's grid, in the chunk's own direction, COV_CODE_PAD behind
 * its end. Thread-safe. */
int cov_genome_chunk(const struct cov_genome *g, const struct cov_grid *grid, size_t i,
                     uint8_t *codes, struct cov_err *e) COV_MUST_USE;

void cov_genome_free(struct cov_genome *g); /* NULL is accepted */

#endif
