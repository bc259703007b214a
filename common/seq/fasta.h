/* fasta.h - FASTA as a stream of headers and codes of bases.
 *
 * Lines end in LF or CRLF and have any length. Blank lines, white space at the end of a line and a
 * byte-order mark at the start are skipped. A name is the text between '>' and the first white
 * space.
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

/* Letters read as N: their number, and the position of the first. */
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

/* Reads the next header, at the start or after all letters of a sequence. Returns 1, 0 at the end,
 * or a failure. COV_EINPUT "<path>:<line>: ...": text before the first header; a header without a
 * name, with a name too long or with a zero byte; damaged compression. */
int cov_fasta_next(struct cov_fasta *f, struct cov_fasta_header *header,
                   struct cov_err *e) COV_MUST_USE;

/* Reads codes[0..*n) of the next letters of the sequence; *n = cap unless the sequence ends. Bytes
 * outside IUPAC become N and are counted in *bad; they are errors if `bad` is NULL. White space
 * between letters is an error. Errors name line and column. */
int cov_fasta_codes(struct cov_fasta *f, uint8_t *codes, size_t cap, size_t *n,
                    struct cov_fasta_bad *bad, struct cov_err *e) COV_MUST_USE;

/* *more = true if letters follow before the next header or the end. */
int cov_fasta_has_more(struct cov_fasta *f, bool *more, struct cov_err *e) COV_MUST_USE;

/* Returns true if the last header line holds a carriage return, as in files whose lines end in CR
 * alone. */
bool cov_fasta_has_lone_cr(const struct cov_fasta *f);

/* Name of the file for messages. Borrowed until free. */
const char *cov_fasta_name(const struct cov_fasta *f);

/* Bytes of text in total (-1: unknown), and read so far. */
int64_t cov_fasta_total(const struct cov_fasta *f);
int64_t cov_fasta_done(const struct cov_fasta *f);

#endif
