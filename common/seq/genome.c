/* genome.c - see genome.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/genome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/seq/alphabet.h"
#include "common/seq/fasta.h"
#include "common/seq/names.h"
#include "common/seq/rename.h"

enum { CODES = 1 << 15, SPOOL = 1 << 20, FETCH = 1 << 14 };

/* The temporary file that is being written, two codes a byte. */
struct spool {
    int fd;
    const char *dir;
    int64_t offset;       /* in fd, of packed[0] */
    size_t n_packed;      /* bytes in packed */
    size_t n_codes;       /* codes not yet packed */
    uint8_t codes[CODES]; /* CODES is even: only the last byte of a sequence may be half empty */
    uint8_t packed[SPOOL];
};

struct reader {
    const struct cov_genome_options *options;
    struct cov_fasta *fasta;
    const char *path; /* as messages call it */
    struct cov_rename *rename;
    struct cov_names *in_fasta;  /* all names of the FASTA */
    int64_t *lines;              /* of each of them */
    struct cov_names *in_genome; /* the names of the genome; only with `rename` */
    size_t *origins;             /* number of each of them in in_fasta; only with `rename` */
    size_t cap_lines, cap_origins, cap_names, cap_lengths, cap_offsets;
    int64_t length; /* of the current sequence so far; -1: none yet */
    int64_t begin;  /* of the current sequence in the temporary file */
    size_t n_short, n_long;
    int64_t bad_line, bad_column; /* of the first letter read as N */
    int64_t n_bad_before;         /* of g->n_bad, at the begin of the current sequence */
    struct spool *spool;
    struct cov_genome *g;
};

void cov_genome_free(struct cov_genome *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_seqs; i++)
        free(g->names[i]);
    free(g->names);
    free(g->lengths);
    free(g->offsets);
    if (g->fd >= 0)
        (void)close(g->fd);
    free(g);
}

/* ---------------------------------------------------------------- the temporary file */

static int flush(struct spool *s, struct cov_err *e)
{
    size_t at = 0;
    while (at < s->n_packed) {
        ssize_t k = pwrite(s->fd, s->packed + at, s->n_packed - at, s->offset);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return cov_fail_errno(e, "%s: writing the temporary file of the genome", s->dir);
        at += (size_t)k;
        s->offset += k;
    }
    s->n_packed = 0;
    return COV_OK;
}

static int pack(struct spool *s, struct cov_err *e)
{
    size_t n = (s->n_codes + 1) / 2;
    if (n > SPOOL - s->n_packed) {
        int rc = flush(s, e);
        if (rc)
            return rc;
    }
    cov_codes_pack(s->codes, s->n_codes, s->packed + s->n_packed);
    s->n_packed += n;
    s->n_codes = 0;
    return COV_OK;
}

/* Forgets everything from `begin` on. */
static void rewind_to(struct spool *s, int64_t begin)
{
    s->n_codes = 0;
    if (begin >= s->offset) {
        s->n_packed = (size_t)(begin - s->offset);
    } else {
        s->offset = begin;
        s->n_packed = 0;
    }
}

/* ---------------------------------------------------------------- reading */

/* Some of the n letters are no IUPAC codes; codes[] are their codes so far. */
static int deal_with_bad(struct reader *r, const struct cov_fasta_event *event, size_t at, size_t n,
                         uint8_t *codes, struct cov_err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (codes[i] != COV_CODE_BAD)
            continue;
        unsigned char c = (unsigned char)event->text[at + i];
        long long line = event->line, column = event->column + (int64_t)(at + i);
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            return cov_fail(e, COV_EINPUT, "%s:%lld:%lld: white space between letters", r->path,
                            line, column);
        if (!r->options->bad_base_is_n) {
            if (c > ' ' && c < 0x7f)
                return cov_fail(
                    e, COV_EINPUT,
                    "%s:%lld:%lld: letter '%c' is no IUPAC code (--on-bad-base n reads it as N)",
                    r->path, line, column, c);
            return cov_fail(e, COV_EINPUT, "%s:%lld:%lld: byte 0x%02x is no IUPAC code", r->path,
                            line, column, c);
        }
        if (r->g->n_bad++ == 0) {
            r->bad_line = line;
            r->bad_column = column;
        }
        codes[i] = COV_CODE_N;
    }
    return COV_OK;
}

/* dst[i] = code of text[i]; whether one of them is bad. */
static bool translate(const char *text, size_t n, uint8_t *dst)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t code = cov_code_of_letter[(unsigned char)text[i]];
        dst[i] = code;
        any |= code;
    }
    return any & 0x80;
}

static int add_bases(struct reader *r, const struct cov_fasta_event *event, struct cov_err *e)
{
    struct spool *s = r->spool;
    for (size_t at = 0; at < event->n;) {
        size_t n = event->n - at < CODES - s->n_codes ? event->n - at : CODES - s->n_codes;
        uint8_t *codes = s->codes + s->n_codes;
        if (translate(event->text + at, n, codes)) {
            int rc = deal_with_bad(r, event, at, n, codes, e);
            if (rc)
                return rc;
        }
        s->n_codes += n;
        at += n;
        if (s->n_codes == CODES) {
            int rc = pack(s, e);
            if (rc)
                return rc;
        }
    }
    r->length += (int64_t)event->n;
    return COV_OK;
}

/* The name to use for the last name of the FASTA, which must not be in use yet. */
static int rename_last(struct reader *r, const char **name, struct cov_err *e)
{
    size_t last = cov_names_count(r->in_fasta) - 1, n, index;
    *name = cov_names_get(r->in_fasta, last, &n);
    if (!r->rename)
        return COV_OK;
    *name = cov_rename_apply(r->rename, *name, n);
    bool is_new;
    int rc = cov_names_add(r->in_genome, *name, strlen(*name), &index, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT,
                        "%s: two sequences are named '%.200s' after renaming, those of lines %lld "
                        "and %lld",
                        r->path, *name, (long long)r->lines[r->origins[index]],
                        (long long)r->lines[last]);
    void *origins = r->origins;
    rc = cov_reserve(&origins, &r->cap_origins, index + 1, sizeof *r->origins, e);
    r->origins = origins;
    if (!rc)
        r->origins[index] = last;
    return rc;
}

/* Adds the sequence that has just been read to the genome. */
static int keep_sequence(struct reader *r, struct cov_err *e)
{
    struct cov_genome *g = r->g;
    const char *name;
    int rc = rename_last(r, &name, e);
    if (rc)
        return rc;
    void *names = g->names, *lengths = g->lengths, *offsets = g->offsets;
    rc = cov_reserve(&names, &r->cap_names, g->n_seqs + 1, sizeof *g->names, e);
    g->names = names;
    if (!rc)
        rc = cov_reserve(&lengths, &r->cap_lengths, g->n_seqs + 1, sizeof *g->lengths, e);
    g->lengths = lengths;
    if (!rc)
        rc = cov_reserve(&offsets, &r->cap_offsets, g->n_seqs + 1, sizeof *g->offsets, e);
    g->offsets = offsets;
    if (rc)
        return rc;
    g->names[g->n_seqs] = cov_strdup(name, e);
    if (!g->names[g->n_seqs])
        return COV_ENOMEM;
    g->lengths[g->n_seqs] = r->length;
    g->offsets[g->n_seqs] = r->begin;
    g->n_seqs++;
    g->n_bases += r->length;
    return COV_OK;
}

static int end_sequence(struct reader *r, struct cov_err *e)
{
    if (r->length < 0)
        return COV_OK;
    size_t last = cov_names_count(r->in_fasta) - 1;
    if (r->length == 0)
        return cov_fail(e, COV_EINPUT, "%s:%lld: sequence %.200s has no bases%s", r->path,
                        (long long)r->lines[last], cov_names_get(r->in_fasta, last, NULL),
                        cov_fasta_has_lone_cr(r->fasta)
                            ? " (lines that end in a carriage return alone are not read)"
                            : "");
    int rc = COV_OK;
    bool too_short = r->length < r->options->min_length;
    bool too_long = r->options->max_length > 0 && r->length > r->options->max_length;
    r->n_short += too_short;
    r->n_long += too_long;
    if (too_short || too_long) {
        rewind_to(r->spool, r->begin);
        r->g->n_bad = r->n_bad_before;
    } else {
        rc = pack(r->spool, e);
        if (!rc)
            rc = keep_sequence(r, e);
    }
    r->length = -1;
    return rc;
}

static int begin_sequence(struct reader *r, const struct cov_fasta_event *event, struct cov_err *e)
{
    size_t index;
    bool is_new;
    int rc = cov_names_add(r->in_fasta, event->text, event->n, &index, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT,
                        "%s: two sequences are named '%.200s', those of lines %lld "
                        "and %lld",
                        r->path, event->text, (long long)r->lines[index], (long long)event->line);
    void *lines = r->lines;
    rc = cov_reserve(&lines, &r->cap_lines, index + 1, sizeof *r->lines, e);
    r->lines = lines;
    if (rc)
        return rc;
    r->lines[index] = event->line;
    /* Sequences that will be left out are in the FASTA too. */
    if (r->rename)
        (void)cov_rename_apply(r->rename, event->text, event->n);
    r->length = 0;
    r->n_bad_before = r->g->n_bad;
    r->begin = r->spool->offset + (int64_t)r->spool->n_packed;
    return COV_OK;
}

static int read_events(struct reader *r, struct cov_progress *progress, struct cov_err *e)
{
    struct cov_fasta_event event;
    int64_t done = 0;
    cov_progress_begin(progress, "reading", "bytes", cov_fasta_total(r->fasta));
    for (;;) {
        int rc = cov_fasta_next(r->fasta, &event, e);
        if (!rc && event.kind == COV_FASTA_BASES)
            rc = add_bases(r, &event, e);
        else if (!rc)
            rc = end_sequence(r, e);
        if (!rc && event.kind == COV_FASTA_HEADER)
            rc = begin_sequence(r, &event, e);
        if (cov_fasta_done(r->fasta) != done) {
            cov_progress_add(progress, cov_fasta_done(r->fasta) - done);
            done = cov_fasta_done(r->fasta);
        }
        if (rc || event.kind == COV_FASTA_END) {
            cov_progress_end(progress);
            return rc;
        }
    }
}

/* What the whole file must hold, and what was changed on the way. */
static int report(const struct reader *r, struct cov_err *e)
{
    size_t n = cov_names_count(r->in_fasta);
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: no sequence: the file is empty", r->path);
    if (r->n_short + r->n_long > 0)
        cov_warn("%s: %zu of %zu sequences left out by length: %zu too short, %zu too long",
                 r->path, r->n_short + r->n_long, n, r->n_short, r->n_long);
    if (r->g->n_seqs == 0)
        return cov_fail(e, COV_EINPUT, "%s: no sequence has a length within the limits", r->path);
    if (r->g->n_bad > 0)
        cov_warn("%s: %lld letters that are no IUPAC code were read as N, the first at line %lld, "
                 "column %lld",
                 r->path, (long long)r->g->n_bad, (long long)r->bad_line, (long long)r->bad_column);
    if (r->rename && cov_rename_unused(r->rename) > 0)
        cov_warn("%s: %zu of %zu names are not in %s", r->options->rename_path,
                 cov_rename_unused(r->rename), cov_rename_count(r->rename), r->path);
    return COV_OK;
}

static void reader_fini(struct reader *r)
{
    cov_fasta_free(r->fasta);
    cov_rename_free(r->rename);
    cov_names_free(r->in_fasta);
    cov_names_free(r->in_genome);
    free(r->lines);
    free(r->origins);
    free(r->spool);
    cov_genome_free(r->g);
}

int cov_genome_read(const char *path, const struct cov_genome_options *options,
                    struct cov_progress *progress, struct cov_genome **out, struct cov_err *e)
{
    struct reader r = {.options = options, .length = -1};
    *out = NULL;
    int rc = COV_ENOMEM;
    r.g = cov_calloc(1, sizeof *r.g, e);
    if (!r.g)
        goto out;
    r.g->fd = -1;
    r.spool = cov_calloc(1, sizeof *r.spool, e);
    if (!r.spool)
        goto out;
    if (options->rename_path) {
        rc = cov_rename_read(options->rename_path, &r.rename, e);
        if (!rc)
            rc = cov_names_new(&r.in_genome, e);
        if (rc)
            goto out;
    }
    rc = cov_names_new(&r.in_fasta, e);
    if (!rc)
        rc = options->opened ? cov_fasta_open_in(options->opened, &r.fasta, e)
                             : cov_fasta_open(path, options->n_threads, &r.fasta, e);
    if (rc)
        goto out;
    r.path = cov_fasta_name(r.fasta);
    rc = cov_tmpfile(options->tmpdir, &r.g->fd, e);
    if (rc)
        goto out;
    r.spool->fd = r.g->fd;
    r.spool->dir = options->tmpdir;
    rc = read_events(&r, progress, e);
    if (!rc)
        rc = flush(r.spool, e);
    if (!rc)
        rc = report(&r, e);
    if (!rc) {
        *out = r.g;
        r.g = NULL;
    }
out:
    reader_fini(&r);
    return rc;
}

/* ---------------------------------------------------------------- bases */

int cov_genome_codes(const struct cov_genome *g, size_t seq, int64_t beg, int64_t end,
                     uint8_t *codes, struct cov_err *e)
{
    uint8_t packed[FETCH];
    while (beg < end) {
        size_t first = (size_t)(beg & 1);
        size_t n = 2 * FETCH - first;
        if ((int64_t)n > end - beg)
            n = (size_t)(end - beg);
        size_t n_bytes = (first + n + 1) / 2;
        for (size_t at = 0; at < n_bytes;) {
            ssize_t k = pread(g->fd, packed + at, n_bytes - at,
                              (off_t)(g->offsets[seq] + beg / 2 + (int64_t)at));
            if (k < 0 && errno == EINTR)
                continue;
            if (k < 0)
                return cov_fail_errno(e, "reading the temporary file of the genome");
            if (k == 0)
                return cov_fail(e, COV_EIO, "the temporary file of the genome is cut short");
            at += (size_t)k;
        }
        cov_codes_unpack(packed, first, n, codes);
        codes += n;
        beg += (int64_t)n;
    }
    return COV_OK;
}

int cov_genome_chunk(const struct cov_genome *g, const struct cov_grid *grid, size_t i,
                     uint8_t *codes, struct cov_err *e)
{
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t n = (size_t)(c.end - c.beg);
    int rc = cov_genome_codes(g, c.seq, c.beg, c.end, codes, e);
    if (rc)
        return rc;
    if (c.minus)
        cov_codes_reverse_complement(codes, n);
    memset(codes + n, COV_CODE_PAD, cov_grid_chunk_length(grid) - n);
    return COV_OK;
}
