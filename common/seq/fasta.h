/* fasta.h - FASTA as a stream of headers and pieces of lines, with their places.
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

enum cov_fasta_kind { COV_FASTA_END, COV_FASTA_HEADER, COV_FASTA_BASES };

struct cov_fasta_event {
    enum cov_fasta_kind kind;
    const char
        *text;    /* the name, with a zero behind; or letters, unchecked. Borrowed until the next */
    size_t n;     /* > 0 unless END */
    int64_t line; /* place of text[0], from 1 */
    int64_t column;
};

/* Opens `path` ("-": standard input), compressed or not. Free with cov_fasta_free. */
int cov_fasta_open(const char *path, unsigned n_threads, struct cov_fasta **out,
                   struct cov_err *e) COV_MUST_USE;
/* The same of an input that is open already, at its beginning. Borrows it until free. */
struct cov_bgz;
int cov_fasta_open_in(struct cov_bgz *in, struct cov_fasta **out, struct cov_err *e) COV_MUST_USE;
void cov_fasta_free(struct cov_fasta *f); /* NULL is accepted */

/* The next header or piece of a line (a line may come in several pieces). Errors (COV_EINPUT,
 * "<path>:<line>: ..."): text before the first header; a header without a name, with one too long
 * or with a zero byte in it; white space between letters; damaged compression. */
int cov_fasta_next(struct cov_fasta *f, struct cov_fasta_event *event,
                   struct cov_err *e) COV_MUST_USE;

/* Whether the last header's line holds carriage returns, as all lines of a file from an old
 * Macintosh do. */
bool cov_fasta_has_lone_cr(const struct cov_fasta *f);

/* What messages call the file. Borrowed until free. */
const char *cov_fasta_name(const struct cov_fasta *f);

/* Bytes of text in all, or -1 where that is not known; and how many have been read. */
int64_t cov_fasta_total(const struct cov_fasta *f);
int64_t cov_fasta_done(const struct cov_fasta *f);

#endif
