/* genome.h - the sequences of a FASTA file, checked: as a stream of intervals, or as a whole genome
 * with random access.
 *
 * Both read the FASTA once, from any source, and take little memory for any genome. The stream
 * returns intervals as they are read; a sequence that may still be skipped for its length waits in
 * a temporary file. A whole genome is checked to its end first and kept as 4-bit codes in an
 * unlinked temporary file (half a byte per base); any thread can read its chunks in any order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_GENOME_H
#define COV_SEQ_GENOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/seq/code_store.h"

struct cov_bgz;

struct cov_genome_options {
    bool bad_base_is_n; /* read letters outside IUPAC as N; false: they are errors */
    int64_t min_length; /* sequences outside the limits are skipped with a warning; 0: no limit */
    int64_t max_length;
    const char *rename_path; /* two columns: name in the FASTA, name to use; NULL: none */
    const char *tmpdir;      /* folder of the temporary file */
    unsigned n_threads;      /* for decompression */
    struct cov_bgz *opened;  /* the FASTA if it is open, at its beginning; borrowed. May be NULL */
};

/* ---- a stream of intervals of L bases ----
 *
 * An interval is a pair of chunks: its codes are those of the + chunk, their reverse complement
 * those of the - chunk. */

struct cov_fasta_pairs;

/* Opens `path` ("-": standard input) unless options->opened is set. L > 0. Copies the options, but
 * borrows their strings until free. Free with cov_fasta_pairs_free. */
int cov_fasta_pairs_open(const char *path, const struct cov_genome_options *options, size_t L,
                         struct cov_fasta_pairs **out, struct cov_err *e) COV_MUST_USE;
void cov_fasta_pairs_free(struct cov_fasta_pairs *p); /* NULL is accepted */

struct cov_fasta_pair {
    size_t seq;       /* sequences are numbered in the order they are returned */
    const char *name; /* after renaming; unique. Borrowed until the next call */
    int64_t beg, end; /* beg is a multiple of L; end - beg = L except in the last interval */
    bool first, last; /* of its sequence; `end` of the last one is the length */
};

/* The next interval: codes[0..L), with COV_CODE_PAD after its end. Returns 1, 0 at the end, or a
 * failure. COV_EINPUT, naming the file and where it applies line and column: invalid letters;
 * duplicate names, also after renaming; headers without a name or bases; text before the first
 * header; an empty file; damaged compression; no sequence within the limits. At the end, warns
 * about skipped sequences and replaced letters. */
int cov_fasta_pairs_next(struct cov_fasta_pairs *p, struct cov_fasta_pair *pair, uint8_t *codes,
                         struct cov_err *e) COV_MUST_USE;

/* Bytes of text in total (-1: unknown), and read so far. */
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
    int64_t *offsets; /* of each sequence in `codes` */
};

/* Reads `path` ("-": standard input) with the errors and warnings of cov_fasta_pairs_next.
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
