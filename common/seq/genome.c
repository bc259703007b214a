/* genome.c - see genome.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/genome.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/tmpfile.h"
#include "common/seq/alphabet.h"
#include "common/seq/fasta.h"
#include "common/seq/names.h"

/* ---- a buffer of codes, two per byte, in memory while it is small, then in a temporary file ---- */

/* The number of bytes in memory, and the number of codes packed or unpacked at once, which is
 * even, so that each step starts at a byte boundary. */
enum { BUFFER = 1 << 20, STEP = 1 << 15 };

struct cov_code_store {
    struct cov_spool file;
    size_t n; /* bytes in buf, which follow the bytes in the file */
    uint8_t buf[BUFFER];
};

/* Creates an empty store. The file is created in `tmpdir` when it is needed. */
static int store_new(const char *tmpdir, struct cov_code_store **out, struct cov_err *e)
{
    struct cov_code_store *s = cov_malloc(1, sizeof *s, e);
    *out = NULL;
    if (!s)
        return COV_ENOMEM;
    s->n = 0;
    int rc = cov_spool_init(&s->file, tmpdir, e);
    if (rc)
        free(s);
    else
        *out = s;
    return rc;
}

static void store_free(struct cov_code_store *s)
{
    if (!s)
        return;
    cov_spool_fini(&s->file);
    free(s);
}

/* Returns the byte offset at which the next codes will begin. */
static int64_t store_end(const struct cov_code_store *s)
{
    return s->file.n_bytes + (int64_t)s->n;
}

/* Appends codes[0..n), starting at a byte boundary. */
static int store_add(struct cov_code_store *s, const uint8_t *codes, size_t n, struct cov_err *e)
{
    while (n > 0) {
        size_t m = n < STEP ? n : STEP;
        if ((m + 1) / 2 > BUFFER - s->n) {
            int rc = cov_spool_append(&s->file, s->buf, s->n, NULL, e);
            if (rc)
                return rc;
            s->n = 0;
        }
        cov_codes_pack(codes, m, s->buf + s->n);
        s->n += (m + 1) / 2;
        codes += m;
        n -= m;
    }
    return COV_OK;
}

/* Drops all codes. */
static int store_clear(struct cov_code_store *s, struct cov_err *e)
{
    s->n = 0;
    return s->file.n_bytes > 0 ? cov_spool_truncate(&s->file, 0, e) : COV_OK;
}

/* Sets codes[0..n) to the codes number `first` to first + n - 1 of those that begin at byte
 * `beg`; they must exist. Thread-safe while nothing is added. */
static int store_get(const struct cov_code_store *s, int64_t beg, int64_t first, size_t n,
                     uint8_t *codes, struct cov_err *e)
{
    uint8_t packed[STEP / 2];
    beg += first / 2;
    for (size_t odd = (size_t)(first % 2); n > 0; odd = 0) {
        size_t m = n < STEP - odd ? n : STEP - odd, n_bytes = (odd + m + 1) / 2, n_file = 0;
        if (beg < s->file.n_bytes) {
            n_file = s->file.n_bytes - beg < (int64_t)n_bytes ? (size_t)(s->file.n_bytes - beg)
                                                              : n_bytes;
            int rc = cov_spool_read(&s->file, beg, packed, n_file, e);
            if (rc)
                return rc;
        }
        if (n_file < n_bytes)
            memcpy(packed + n_file, s->buf + (beg + (int64_t)n_file - s->file.n_bytes),
                   n_bytes - n_file);
        cov_codes_unpack(packed, odd, m, codes);
        codes += m;
        n -= m;
        beg += (int64_t)n_bytes;
    }
    return COV_OK;
}

/* ---- a stream of intervals ---- */

struct cov_fasta_pairs {
    struct cov_genome_options options;
    size_t L;
    struct cov_fasta *fasta;
    const char *path; /* for messages */
    struct cov_rename *rename;
    struct cov_names *in_fasta; /* all names in the FASTA */
    int64_t *lines;             /* the line number of each header */
    struct cov_names *given;    /* the new names; only with `rename` */
    size_t *origins;            /* index in in_fasta of each new name; only with `rename` */
    size_t cap_lines, cap_origins;
    struct cov_code_store *held; /* the start of a sequence of unknown length; may be NULL */
    size_t n_seqs, n_short, n_long;
    struct cov_fasta_bad bad; /* bad letters in the sequences returned */

    /* The current sequence. */
    const char *name;
    int64_t at, length; /* bases returned, and bases read */
    bool more;          /* bases follow after `length` */
    struct cov_fasta_bad seq_bad;
};

int cov_fasta_pairs_open(const char *path, const struct cov_genome_options *options, size_t L,
                         struct cov_fasta_pairs **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_fasta_pairs *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->options = *options;
    p->L = L;
    int rc = COV_OK;
    if (options->rename_path)
        rc = cov_rename_read(options->rename_path, &p->rename, e);
    if (!rc)
        rc = cov_names_new(&p->in_fasta, e);
    if (!rc)
        rc = cov_names_new(&p->given, e);
    if (!rc)
        rc = options->opened ? cov_fasta_open_in(options->opened, &p->fasta, e)
                             : cov_fasta_open(path, options->n_threads, &p->fasta, e);
    if (rc) {
        cov_fasta_pairs_free(p);
        return rc;
    }
    cov_fasta_count_lower(p->fasta, options->n_lower);
    p->path = cov_fasta_name(p->fasta);
    *out = p;
    return COV_OK;
}

void cov_fasta_pairs_free(struct cov_fasta_pairs *p)
{
    if (!p)
        return;
    cov_fasta_free(p->fasta);
    cov_rename_free(p->rename);
    cov_names_free(p->in_fasta);
    cov_names_free(p->given);
    store_free(p->held);
    free(p->lines);
    free(p->origins);
    free(p);
}

int64_t cov_fasta_pairs_total(const struct cov_fasta_pairs *p)
{
    return cov_fasta_total(p->fasta);
}

int64_t cov_fasta_pairs_done(const struct cov_fasta_pairs *p)
{
    return cov_fasta_done(p->fasta);
}

/* ---- names ---- */

/* Records the name of a sequence, even if it is skipped later. */
static int note_name(struct cov_fasta_pairs *p, const struct cov_fasta_header *header,
                     struct cov_err *e)
{
    size_t index;
    bool is_new;
    int rc = cov_names_add(p->in_fasta, header->name, header->n, &index, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT, "%s: duplicate sequence name '%.200s' (lines %lld and %lld)",
                        p->path, header->name, (long long)p->lines[index], (long long)header->line);
    rc = COV_RESERVE(&p->lines, &p->cap_lines, index + 1, e);
    if (rc)
        return rc;
    p->lines[index] = header->line;
    if (p->rename)
        (void)cov_rename_apply(p->rename, header->name, header->n);
    return COV_OK;
}

/* Sets p->name for the name that was read last from the FASTA; p->name must be unique. */
static int give_name(struct cov_fasta_pairs *p, struct cov_err *e)
{
    size_t last = cov_names_count(p->in_fasta) - 1, n, index;
    p->name = cov_names_get(p->in_fasta, last, &n);
    if (!p->rename)
        return COV_OK;
    p->name = cov_rename_apply(p->rename, p->name, n);
    bool is_new;
    int rc = cov_names_add(p->given, p->name, strlen(p->name), &index, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT,
                        "%s: duplicate sequence name '%.200s' after renaming (lines %lld and %lld)",
                        p->path, p->name, (long long)p->lines[p->origins[index]],
                        (long long)p->lines[last]);
    rc = COV_RESERVE(&p->origins, &p->cap_origins, index + 1, e);
    if (!rc)
        p->origins[index] = last;
    return rc;
}

/* ---- sequences ---- */

/* Reads the next codes into codes[0..*n); *n = L unless the sequence ends. */
static int read_codes(struct cov_fasta_pairs *p, uint8_t *codes, size_t *n, struct cov_err *e)
{
    struct cov_fasta_bad *bad = p->options.bad_base_is_n ? &p->seq_bad : NULL;
    int rc = cov_fasta_codes(p->fasta, codes, p->L, n, bad, e);
    p->length += (int64_t)*n;
    p->more = false;
    if (!rc && *n == p->L)
        rc = cov_fasta_has_more(p->fasta, &p->more, e);
    return rc;
}

static bool is_too_short(const struct cov_fasta_pairs *p)
{
    return p->length < p->options.min_length;
}

static bool is_too_long(const struct cov_fasta_pairs *p)
{
    return p->options.max_length > 0 && p->length > p->options.max_length;
}

/* Reads and stores the sequence until it is clear whether its length is within the limits;
 * codes[0..L) is scratch space. Checks the rest of a sequence that is too long, but does not
 * store it. */
static int hold(struct cov_fasta_pairs *p, uint8_t *codes, size_t n, struct cov_err *e)
{
    int rc = p->held ? COV_OK : store_new(p->options.tmpdir, &p->held, e);
    if (!rc)
        rc = store_clear(p->held, e);
    if (!rc)
        rc = store_add(p->held, codes, n, e);
    while (!rc && p->more && (is_too_short(p) || p->options.max_length > 0)) {
        rc = read_codes(p, codes, &n, e);
        if (!rc && !is_too_long(p))
            rc = store_add(p->held, codes, n, e);
    }
    return rc;
}

/* Reads the start of the next sequence whose length is within the limits. It is *n codes long;
 * *n = 0 if the codes are in p->held instead. Returns 1, 0 at the end of the file, or a failure. */
static int begin_sequence(struct cov_fasta_pairs *p, uint8_t *codes, size_t *n, struct cov_err *e)
{
    for (;;) {
        struct cov_fasta_header header;
        int got = cov_fasta_next(p->fasta, &header, e);
        if (got <= 0)
            return got;
        p->at = p->length = 0;
        p->seq_bad.n = 0;
        int rc = note_name(p, &header, e);
        if (!rc)
            rc = read_codes(p, codes, n, e);
        if (rc)
            return rc;
        if (p->length == 0)
            return cov_fail(e, COV_EINPUT, "%s:%lld: empty sequence '%.200s'%s", p->path,
                            (long long)header.line, header.name,
                            cov_fasta_has_lone_cr(p->fasta)
                                ? "; lines must not end in a carriage return alone"
                                : "");
        if (p->more && (is_too_short(p) || p->options.max_length > 0)) {
            rc = hold(p, codes, *n, e);
            *n = 0;
            if (rc)
                return rc;
        }
        p->n_short += is_too_short(p);
        p->n_long += is_too_long(p);
        if (!is_too_short(p) && !is_too_long(p))
            break;
    }
    int rc = give_name(p, e);
    p->n_seqs++;
    return rc ? rc : 1;
}

static void count_bad(struct cov_fasta_pairs *p)
{
    if (p->bad.n == 0)
        p->bad = p->seq_bad;
    else
        p->bad.n += p->seq_bad.n;
}

/* Called at the end of the file: fails if no sequence was returned, and warns about changes. */
static int report(const struct cov_fasta_pairs *p, struct cov_err *e)
{
    size_t n = cov_names_count(p->in_fasta);
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: empty file%s", p->path,
                        strcmp(p->path, "standard input") == 0
                            ? "; did the program before the pipe fail?"
                            : "");
    if (p->n_short + p->n_long > 0)
        cov_warn("%s: %zu of %zu sequences left out by length: %zu too short, %zu too long",
                 p->path, p->n_short + p->n_long, n, p->n_short, p->n_long);
    if (p->n_seqs == 0)
        return cov_fail(e, COV_EINPUT, "%s: no sequence has a length within the limits", p->path);
    if (p->bad.n > 0)
        cov_warn("%s: read %lld invalid letters as N, the first at line %lld, column %lld", p->path,
                 (long long)p->bad.n, (long long)p->bad.line, (long long)p->bad.column);
    if (p->rename && cov_rename_unused(p->rename) > 0)
        cov_warn("%s: %zu of %zu names are not in %s", p->options.rename_path,
                 cov_rename_unused(p->rename), cov_rename_count(p->rename), p->path);
    return COV_OK;
}

int cov_fasta_pairs_next(struct cov_fasta_pairs *p, struct cov_fasta_pair *pair, uint8_t *codes,
                         struct cov_err *e)
{
    size_t n = 0;
    int rc = COV_OK;
    if (p->at == p->length && !p->more) {
        int got = begin_sequence(p, codes, &n, e);
        if (got <= 0)
            return got == 0 ? report(p, e) : got;
    } else if (p->at == p->length) {
        rc = read_codes(p, codes, &n, e);
    }
    if (!rc && n == 0) {
        /* The sequence is stored in pieces of L codes. */
        int64_t beg = p->at / (int64_t)p->L * (int64_t)((p->L + 1) / 2);
        n = p->length - p->at < (int64_t)p->L ? (size_t)(p->length - p->at) : p->L;
        rc = store_get(p->held, beg, 0, n, codes, e);
    }
    if (rc)
        return rc;
    memset(codes + n, COV_CODE_PAD, p->L - n);
    *pair = (struct cov_fasta_pair){p->n_seqs - 1,      p->name,    p->at,
                                    p->at + (int64_t)n, p->at == 0, false};
    p->at += (int64_t)n;
    pair->last = p->at == p->length && !p->more;
    if (pair->last)
        count_bad(p);
    return 1;
}

/* ---- a whole genome ---- */

/* Codes read at once; even, so that a sequence is contiguous in the store. */
enum { CODES = 1 << 15 };

struct genome_reader {
    struct cov_fasta_pairs *fasta;
    struct cov_genome *g;
    size_t cap_names, cap_lengths, cap_offsets;
    uint8_t codes[CODES];
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
    store_free(g->codes);
    free(g);
}

static int add_sequence(struct genome_reader *r, const char *name, struct cov_err *e)
{
    struct cov_genome *g = r->g;
    int rc = COV_RESERVE(&g->names, &r->cap_names, g->n_seqs + 1, e);
    if (!rc)
        rc = COV_RESERVE(&g->lengths, &r->cap_lengths, g->n_seqs + 1, e);
    if (!rc)
        rc = COV_RESERVE(&g->offsets, &r->cap_offsets, g->n_seqs + 1, e);
    if (rc)
        return rc;
    g->names[g->n_seqs] = cov_strdup(name, e);
    if (!g->names[g->n_seqs])
        return COV_ENOMEM;
    g->lengths[g->n_seqs] = 0;
    g->offsets[g->n_seqs] = store_end(g->codes);
    g->n_seqs++;
    return COV_OK;
}

static int read_pairs(struct genome_reader *r, struct cov_progress *progress, struct cov_err *e)
{
    struct cov_genome *g = r->g;
    struct cov_fasta_pair pair = {0};
    int64_t done = 0;
    int got;
    while ((got = cov_fasta_pairs_next(r->fasta, &pair, r->codes, e)) > 0) {
        int64_t n = pair.end - pair.beg;
        int rc = pair.first ? add_sequence(r, pair.name, e) : COV_OK;
        if (!rc)
            rc = store_add(g->codes, r->codes, (size_t)n, e);
        if (rc)
            return rc;
        g->lengths[pair.seq] += n;
        g->n_bases += n;
        cov_progress_add(progress, cov_fasta_pairs_done(r->fasta) - done);
        done = cov_fasta_pairs_done(r->fasta);
    }
    g->n_bad = r->fasta->bad.n;
    return got;
}

int cov_genome_read(const char *path, const struct cov_genome_options *options,
                    struct cov_progress *progress, struct cov_genome **out, struct cov_err *e)
{
    *out = NULL;
    int rc = COV_ENOMEM;
    struct genome_reader *r = cov_calloc(1, sizeof *r, e);
    if (!r)
        return rc;
    r->g = cov_calloc(1, sizeof *r->g, e);
    if (r->g)
        rc = store_new(options->tmpdir, &r->g->codes, e);
    if (!rc)
        rc = cov_fasta_pairs_open(path, options, CODES, &r->fasta, e);
    if (!rc) {
        cov_progress_begin(progress, "reading", "bytes", cov_fasta_pairs_total(r->fasta));
        rc = read_pairs(r, progress, e);
        cov_progress_end(progress);
    }
    if (!rc) {
        *out = r->g;
        r->g = NULL;
    }
    cov_fasta_pairs_free(r->fasta);
    cov_genome_free(r->g);
    free(r);
    return rc;
}

int cov_genome_codes(const struct cov_genome *g, size_t seq, int64_t beg, int64_t end,
                     uint8_t *codes, struct cov_err *e)
{
    return store_get(g->codes, g->offsets[seq], beg, (size_t)(end - beg), codes, e);
}
