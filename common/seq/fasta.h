/* fasta.h - reads FASTA as a stream of headers and base codes.
 *
 * Lines end in LF or CRLF and may have any length. Blank lines, white space at the end of a line
 * and a byte-order mark at the start are skipped. A name is the text between '>' and the first
 * white space.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_FASTA_H
#define COV_SEQ_FASTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* The longest name, in bytes. */
enum { COV_FASTA_MAX_NAME = 4095 };

struct cov_fasta;

struct cov_fasta_header {
    const char *name; /* zero-terminated. Borrowed until the next header */
    size_t n;         /* > 0 */
    int64_t line;     /* from 1 */
};

/* The number of letters read as N, and the position of the first of them. */
struct cov_fasta_bad {
    int64_t n, line, column;
};

/* Opens `path` ("-": standard input), compressed or not. Free with cov_fasta_free. */
int cov_fasta_open(const char *path, unsigned n_threads, struct cov_fasta **out,
                   struct cov_err *e) COV_MUST_USE;
struct cov_bgz;
/* Reads an open input from its beginning. Borrows it until free. */
int cov_fasta_open_in(struct cov_bgz *in, struct cov_fasta **out, struct cov_err *e) COV_MUST_USE;
void cov_fasta_free(struct cov_fasta *f); /* NULL is accepted */

/* Adds the number of lower-case letters that cov_fasta_codes reads from now on to *n. */
void cov_fasta_count_lower(struct cov_fasta *f, int64_t *n);

/* Reads the next header. Call it at the start, or after reading all letters of a sequence.
 * Returns 1, 0 at the end of the file, or a failure: COV_EINPUT "<path>:<line>: ..." for text
 * before the first header; for a header without a name, with a name that is too long, or with a
 * zero byte; and for damaged compression. */
int cov_fasta_next(struct cov_fasta *f, struct cov_fasta_header *header,
                   struct cov_err *e) COV_MUST_USE;

/* Reads the next letters of the sequence and stores their codes in codes[0..*n); *n = cap unless
 * the sequence ends. Bytes that are not IUPAC letters become N and are counted in *bad; if `bad`
 * is NULL, they are errors. White space between letters is an error. Error messages name the
 * line and column. */
int cov_fasta_codes(struct cov_fasta *f, uint8_t *codes, size_t cap, size_t *n,
                    struct cov_fasta_bad *bad, struct cov_err *e) COV_MUST_USE;

/* Sets *more to true if there are more letters before the next header or the end of the file. */
int cov_fasta_has_more(struct cov_fasta *f, bool *more, struct cov_err *e) COV_MUST_USE;

/* Returns true if the last header line holds a carriage return, as in files whose lines end in CR
 * alone. */
bool cov_fasta_has_lone_cr(const struct cov_fasta *f);

/* Returns the name of the file for messages. Borrowed until free. */
const char *cov_fasta_name(const struct cov_fasta *f);

/* Return the total number of bytes of text (-1: unknown), and the number read so far. */
int64_t cov_fasta_total(const struct cov_fasta *f);
int64_t cov_fasta_done(const struct cov_fasta *f);

#endif
