/* fasta.h - FASTA as a stream of headers and codes of bases.
 *
 * Lines end in LF or CRLF and have any length; blank lines, white space at the end of a line and a
 * byte-order mark at the start are passed over. A name is what stands between '>' and the first
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
    const char *name; /* with a zero behind. Borrowed until the next */
    size_t n;         /* > 0 */
    int64_t line;     /* from 1 */
};

/* Letters that were read as N: how many, and the place of the first. */
struct cov_fasta_bad {
    int64_t n, line, column;
};

/* Opens `path` ("-": standard input), compressed or not. Free with cov_fasta_free. */
int cov_fasta_open(const char *path, unsigned n_threads, struct cov_fasta **out,
                   struct cov_err *e) COV_MUST_USE;
/* The same of an input that is open already, at its beginning. Borrows it until free. */
struct cov_bgz;
int cov_fasta_open_in(struct cov_bgz *in, struct cov_fasta **out, struct cov_err *e) COV_MUST_USE;
void cov_fasta_free(struct cov_fasta *f); /* NULL is accepted */

/* The next header, at the start or behind all letters of a sequence. Returns 1, or 0 at the end, or
 * a failure. Errors (COV_EINPUT, "<path>:<line>: ..."): text before the first header; a header
 * without a name, with one too long or with a zero byte in it; damaged compression. */
int cov_fasta_next(struct cov_fasta *f, struct cov_fasta_header *header,
                   struct cov_err *e) COV_MUST_USE;

/* codes[0..*n) = the codes of the next letters of the sequence: as many as there are, at most cap.
 * What is no letter of IUPAC becomes N and is added to *bad; with bad NULL it is an error, as white
 * space between letters is. They name line and column. */
int cov_fasta_codes(struct cov_fasta *f, uint8_t *codes, size_t cap, size_t *n,
                    struct cov_fasta_bad *bad, struct cov_err *e) COV_MUST_USE;

/* Whether more letters follow before the next header or the end. */
int cov_fasta_has_more(struct cov_fasta *f, bool *more, struct cov_err *e) COV_MUST_USE;

/* Whether the last header's line holds carriage returns, as all lines of a file from an old
 * Macintosh do. */
bool cov_fasta_has_lone_cr(const struct cov_fasta *f);

/* What messages call the file. Borrowed until free. */
const char *cov_fasta_name(const struct cov_fasta *f);

/* Bytes of text in all, or -1 where that is not known; and how many have been read. */
int64_t cov_fasta_total(const struct cov_fasta *f);
int64_t cov_fasta_done(const struct cov_fasta *f);

#endif
