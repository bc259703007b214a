/* genome.h - reads and checks the sequences of a FASTA file, as a stream of intervals or as a whole
 * genome with random access.
 *
 * Both read the FASTA only once, from any source, and need little memory even for large genomes.
 * The stream returns intervals as it reads them; while the length of a sequence may still turn out
 * to be outside the limits, the sequence waits in a temporary file. A whole genome is first read
 * and checked to its end, and kept as 4-bit codes in an unlinked temporary file (half a byte per
 * base); then any thread can read its chunks in any order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_GENOME_H
#define COV_SEQ_GENOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"

struct cov_bgz;

struct cov_genome_options {
    bool bad_base_is_n; /* read letters outside IUPAC as N; false: they are errors */
    int64_t min_length; /* sequences outside the limits are skipped with a warning; 0: no limit */
    int64_t max_length;
    const char *rename_path; /* two columns: name in the FASTA, name to use; NULL: none */
    const char *tmpdir;      /* directory of the temporary file */
    unsigned n_threads;      /* for decompression */
    int64_t *n_lower;        /* gets the number of lower-case letters; NULL: not counted */
    struct cov_bgz *opened;  /* the FASTA if already open, at its start; borrowed. May be NULL */
};

/* ---- a stream of intervals of L bases ----
 *
 * An interval is a pair of chunks: its codes are the + chunk, and their reverse complement is
 * the - chunk. */

struct cov_fasta_pairs;

/* Opens `path` ("-": standard input) unless options->opened is set. L > 0. Copies the options,
 * but borrows the strings in them until free. Free with cov_fasta_pairs_free. */
int cov_fasta_pairs_open(const char *path, const struct cov_genome_options *options, size_t L,
                         struct cov_fasta_pairs **out, struct cov_err *e) COV_MUST_USE;
void cov_fasta_pairs_free(struct cov_fasta_pairs *p); /* NULL is accepted */

struct cov_fasta_pair {
    size_t seq;       /* sequences are numbered in the order they are returned */
    const char *name; /* after renaming; unique. Borrowed until the next call */
    int64_t beg, end; /* beg is a multiple of L; end - beg = L except in the last interval */
    bool first, last; /* in its sequence; the last interval's `end` is the length */
};

/* Reads the next interval into codes[0..L), with COV_CODE_PAD after its end. Returns 1, 0 at the
 * end of the file, or a failure. COV_EINPUT means invalid letters; duplicate names, also after
 * renaming; headers without a name or bases; text before the first header; an empty file;
 * damaged compression; or no sequence within the limits. The message names the file and, where
 * possible, the line and column. At the end, warns about skipped sequences and replaced letters. */
int cov_fasta_pairs_next(struct cov_fasta_pairs *p, struct cov_fasta_pair *pair, uint8_t *codes,
                         struct cov_err *e) COV_MUST_USE;

/* Return the total number of bytes of text (-1: unknown), and the number read so far. */
int64_t cov_fasta_pairs_total(const struct cov_fasta_pairs *p);
int64_t cov_fasta_pairs_done(const struct cov_fasta_pairs *p);

/* ---- a whole genome ---- */

struct cov_genome {
    size_t n_seqs;    /* > 0 */
    char **names;     /* header up to the first white space, renamed; unique. Owned */
    int64_t *lengths; /* > 0 */
    int64_t n_bases;  /* sum of lengths */
    int64_t n_bad;    /* letters read as N */
    struct cov_code_store *codes;
    int64_t *offsets; /* where each sequence begins in `codes` */
};

/* Reads `path` ("-": standard input), with the same errors and warnings as cov_fasta_pairs_next.
 * `progress` may be NULL. Free with cov_genome_free. */
int cov_genome_read(const char *path, const struct cov_genome_options *options,
                    struct cov_progress *progress, struct cov_genome **out,
                    struct cov_err *e) COV_MUST_USE;

/* Sets codes[0 .. end-beg) to bases [beg, end) of the + strand, one code per byte. 0 <= beg <=
 * end <= length. Thread-safe. */
int cov_genome_codes(const struct cov_genome *g, size_t seq, int64_t beg, int64_t end,
                     uint8_t *codes, struct cov_err *e) COV_MUST_USE;

void cov_genome_free(struct cov_genome *g); /* NULL is accepted */

#endif
