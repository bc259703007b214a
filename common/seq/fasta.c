/* fasta.c - see fasta.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/fasta.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/bgz.h"
#include "common/file/file_kind.h"
#include "common/seq/alphabet.h"

enum { BUFFER_BYTES = 1 << 18 };

struct cov_fasta {
    struct cov_bgz *in, *own; /* own: `in`, or NULL if `in` is borrowed */
    char *buf;
    size_t at, n; /* buf[at .. n) is not yet consumed */
    int64_t done;
    int64_t line, column; /* position of buf[at] */
    size_t width;         /* letters in the last complete line; 0: none */
    int64_t space_column; /* start of white space at the end of this line so far; 0: none */
    bool seen_header;
    bool lone_cr; /* the last header line has a carriage return inside */
    int64_t *n_lower;
    char name[COV_FASTA_MAX_NAME + 1];
};

void cov_fasta_free(struct cov_fasta *f)
{
    if (!f)
        return;
    cov_bgz_abort(f->own);
    free(f->buf);
    free(f);
}

void cov_fasta_count_lower(struct cov_fasta *f, int64_t *n)
{
    f->n_lower = n;
}

bool cov_fasta_has_lone_cr(const struct cov_fasta *f)
{
    return f->lone_cr;
}

const char *cov_fasta_name(const struct cov_fasta *f)
{
    return cov_bgz_name(f->in);
}

int64_t cov_fasta_total(const struct cov_fasta *f)
{
    return cov_bgz_total(f->in);
}

int64_t cov_fasta_done(const struct cov_fasta *f)
{
    return f->done;
}

/* Refills the buffer, which must be consumed. Sets f->n to 0 at the end of the file. */
static int refill(struct cov_fasta *f, struct cov_err *e)
{
    f->at = 0;
    int rc = cov_bgz_read(f->in, f->buf, BUFFER_BYTES, &f->n, e);
    f->done += (int64_t)f->n;
    return rc;
}

int cov_fasta_open_in(struct cov_bgz *in, struct cov_fasta **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_fasta *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->line = f->column = 1;
    f->in = in;
    f->buf = cov_malloc(BUFFER_BYTES, 1, e);
    int rc = f->buf ? refill(f, e) : COV_ENOMEM;
    if (!rc)
        f->at = cov_text_mark(f->buf, f->n);
    if (rc)
        cov_fasta_free(f);
    else
        *out = f;
    return rc;
}

int cov_fasta_open(const char *path, unsigned n_threads, struct cov_fasta **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_bgz *in;
    int rc = cov_bgz_open_read(path, n_threads, &in, e);
    if (rc)
        return rc;
    rc = cov_fasta_open_in(in, out, e);
    if (rc)
        cov_bgz_abort(in);
    else
        (*out)->own = in;
    return rc;
}

static int fail_at(const struct cov_fasta *f, const char *text, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s:%lld: %s", cov_fasta_name(f), (long long)f->line, text);
}

/* Skips the rest of the header line, including its newline. */
static int skip_description(struct cov_fasta *f, struct cov_err *e)
{
    bool after_cr = false;
    for (;;) {
        if (f->at == f->n) {
            int rc = refill(f, e);
            if (rc || f->n == 0)
                return rc;
        }
        const char *p = f->buf + f->at;
        size_t m = f->n - f->at;
        const char *newline = memchr(p, '\n', m);
        size_t k = newline ? (size_t)(newline - p) : m;
        if (k > 0) {
            f->lone_cr |= after_cr || memchr(p, '\r', k - 1);
            after_cr = p[k - 1] == '\r';
        }
        f->at += k;
        if (newline) {
            f->at++;
            return COV_OK;
        }
    }
}

/* Reads the header that begins at buf[at]. */
static int read_header(struct cov_fasta *f, struct cov_fasta_header *header, struct cov_err *e)
{
    size_t n = 0;
    f->seen_header = true;
    f->lone_cr = false;
    f->at++;
    for (;;) {
        if (f->at == f->n) {
            int rc = refill(f, e);
            if (rc)
                return rc;
            if (f->n == 0)
                break;
        }
        char c = f->buf[f->at];
        if (c == '\n' || cov_text_is_blank(c))
            break;
        if (c == '\0')
            return fail_at(f, "zero byte in a name", e);
        if (n == COV_FASTA_MAX_NAME)
            return fail_at(f, "name longer than 4095 bytes", e);
        f->name[n++] = c;
        f->at++;
    }
    if (n == 0)
        return fail_at(f, "header without a name", e);
    f->name[n] = '\0';
    *header = (struct cov_fasta_header){f->name, n, f->line};
    f->line++;
    return skip_description(f, e);
}

/* The line at buf[at], or the part of that line that is in the buffer. */
struct piece {
    size_t n;    /* letters, without trailing white space */
    size_t skip; /* bytes to the end of the line or buffer */
    bool newline;
};

static int find_piece(const struct cov_fasta *f, struct piece *piece, struct cov_err *e)
{
    const char *p = f->buf + f->at;
    size_t m = f->n - f->at;
    const char *newline = memchr(p, '\n', m);
    size_t k = newline ? (size_t)(newline - p) : m, n = k;
    while (n > 0 && cov_text_is_blank(p[n - 1]))
        n--;
    if (n > 0 && !f->seen_header) {
        const char *kind = cov_kind_name(cov_kind_of(p, m));
        if (kind)
            return cov_fail(e, COV_EINPUT, "%s: not a FASTA file, but %s", cov_fasta_name(f), kind);
        if (f->line == 1)
            return cov_fail(e, COV_EINPUT,
                            "%s: not a FASTA file: the first line does not start with '>'",
                            cov_fasta_name(f));
        return fail_at(f, "not a FASTA file: text before the first '>'", e);
    }
    if (n > 0 && f->space_column)
        return cov_fail(e, COV_EINPUT, "%s:%lld:%lld: white space between letters",
                        cov_fasta_name(f), (long long)f->line, (long long)f->space_column);
    *piece = (struct piece){n, k, newline != NULL};
    return COV_OK;
}

static void skip_piece(struct cov_fasta *f, const struct piece *piece)
{
    f->at += piece->skip;
    if (piece->newline) {
        f->at++;
        f->line++;
        f->column = 1;
        f->space_column = 0;
    } else {
        if (piece->n < piece->skip && !f->space_column)
            f->space_column = f->column + (int64_t)piece->n;
        f->column += (int64_t)piece->skip;
    }
}

/* Advances to the next piece->n letters, or to a header or the end of the file (piece->n = 0). */
static int find_letters(struct cov_fasta *f, struct piece *piece, struct cov_err *e)
{
    for (;;) {
        if (f->at == f->n) {
            int rc = refill(f, e);
            if (rc)
                return rc;
        }
        *piece = (struct piece){0, 0, false};
        if (f->n == 0 || (f->column == 1 && f->buf[f->at] == '>'))
            return COV_OK;
        int rc = find_piece(f, piece, e);
        if (rc || piece->n > 0)
            return rc;
        skip_piece(f, piece);
    }
}

int cov_fasta_next(struct cov_fasta *f, struct cov_fasta_header *header, struct cov_err *e)
{
    struct piece piece;
    int rc = find_letters(f, &piece, e);
    assert(rc || piece.n == 0);
    if (rc || f->n == 0)
        return rc;
    rc = read_header(f, header, e);
    return rc ? rc : 1;
}

int cov_fasta_has_more(struct cov_fasta *f, bool *more, struct cov_err *e)
{
    struct piece piece;
    int rc = find_letters(f, &piece, e);
    *more = !rc && piece.n > 0;
    return rc;
}

/* Handles each COV_CODE_BAD in codes[0..n), the codes of the letters at buf[at]: fails, or
 * replaces it with N. */
static int handle_bad(const struct cov_fasta *f, uint8_t *codes, size_t n,
                      struct cov_fasta_bad *bad, struct cov_err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (codes[i] != COV_CODE_BAD)
            continue;
        unsigned char c = (unsigned char)f->buf[f->at + i];
        int64_t column = f->column + (int64_t)i;
        const char *path = cov_fasta_name(f);
        if (cov_text_is_blank((char)c))
            return cov_fail(e, COV_EINPUT, "%s:%lld:%lld: white space between letters", path,
                            (long long)f->line, (long long)column);
        if (!bad && c > ' ' && c < 0x7f)
            return cov_fail(e, COV_EINPUT,
                            "%s:%lld:%lld: invalid base '%c'%s; --on-bad-base n reads it as N",
                            path, (long long)f->line, (long long)column, c,
                            strchr("EFILPQeflipq", c) ? ", as in proteins" : "");
        if (!bad)
            return cov_fail(e, COV_EINPUT, "%s:%lld:%lld: invalid byte 0x%02x", path,
                            (long long)f->line, (long long)column, c);
        if (bad->n++ == 0) {
            bad->line = f->line;
            bad->column = column;
        }
        codes[i] = COV_CODE_N;
    }
    return COV_OK;
}

/* Counts the lower-case letters of bases and line ends, if requested. */
static void count_lower(const struct cov_fasta *f, const char *text, size_t n)
{
    int64_t n_lower = 0;
    if (!f->n_lower)
        return;
    for (size_t i = 0; i < n; i++)
        n_lower += text[i] >= 'a';
    *f->n_lower += n_lower;
}

/* Fast path: reads complete lines that are as long as the last line and hold only A, C, G, T and
 * N. Returns the number of letters read. */
static size_t take_lines(struct cov_fasta *f, uint8_t *codes, size_t cap)
{
    if (f->width == 0 || f->column != 1)
        return 0;
    size_t in_buf = (f->n - f->at) / (f->width + 1), n = cap / f->width;
    n = cov_codes_of_lines(f->buf + f->at, f->width, n < in_buf ? n : in_buf, codes);
    count_lower(f, f->buf + f->at, n * (f->width + 1));
    f->at += n * (f->width + 1);
    f->line += (int64_t)n;
    return n * f->width;
}

int cov_fasta_codes(struct cov_fasta *f, uint8_t *codes, size_t cap, size_t *n,
                    struct cov_fasta_bad *bad, struct cov_err *e)
{
    *n = 0;
    while (*n < cap) {
        size_t taken = take_lines(f, codes + *n, cap - *n);
        if (taken > 0) {
            *n += taken;
            continue;
        }
        struct piece piece;
        int rc = find_letters(f, &piece, e);
        if (rc || piece.n == 0)
            return rc;
        if (piece.n > cap - *n)
            piece = (struct piece){cap - *n, cap - *n, false};
        if (!cov_codes_of_letters(f->buf + f->at, piece.n, codes + *n)) {
            rc = handle_bad(f, codes + *n, piece.n, bad, e);
            if (rc)
                return rc;
        }
        count_lower(f, f->buf + f->at, piece.n);
        *n += piece.n;
        if (f->column == 1 && piece.newline && piece.n == piece.skip)
            f->width = piece.n;
        skip_piece(f, &piece);
    }
    return COV_OK;
}
