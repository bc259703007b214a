/* bedgraph.c - see bedgraph.h.
 *
 * The reader parses lines in the read buffer, looking at each byte once. The buffer ends with a
 * newline, which also ends every field. The name of a contig is compared only with that of the
 * previous line.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bedgraph.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/deflate/deflate.h"
#include "common/file/bgz.h"
#include "common/file/textfile.h"
#include "common/seq/names.h"

/* ---- writer ---- */

enum { BUFFER = 1 << 16, MAX_NUMBER = 20 };

struct bedgraph {
    struct cov_track_sink base;
    struct cov_bgz *out;
    char *path;
    const char *tbi_path, *csi_path;
    bool warned; /* a warning about a name that readers skip was given */
    char *text;  /* BUFFER bytes, and room for a line of the current contig */
    size_t n_text, cap_text;
    size_t n_name; /* length of the current contig's name */
};

/* ---- writer: text ---- */

static size_t format_uint(uint64_t x, char *text)
{
    char digits[MAX_NUMBER];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    for (size_t i = 0; i < n; i++)
        text[i] = digits[n - 1 - i];
    return n;
}

size_t cov_bedgraph_format_value(float value, char text[COV_BEDGRAPH_VALUE_BYTES])
{
    const float big = 1e15F;
    size_t n = 0;
    if (fabsf(value) < big && (float)(int64_t)value == value) {
        int64_t x = (int64_t)value;
        if (x < 0)
            text[n++] = '-';
        n += format_uint((uint64_t)(x < 0 ? -x : x), text + n);
        text[n] = '\0';
        return n;
    }
    int k = snprintf(text, COV_BEDGRAPH_VALUE_BYTES, "%.9g", (double)value);
    return k < 0 ? 0 : (size_t)k;
}

/* ---- writer: sink ---- */

/* Replaces the temporary file name in an error message of the stream by the name of the track. */
static int named(const struct bedgraph *b, int rc, struct cov_err *e)
{
    if (rc && strcmp(b->path, b->base.name) != 0 && strcmp(b->path, "-") != 0)
        cov_err_rename(e, b->path, b->base.name);
    return rc;
}

static int flush(struct bedgraph *b, struct cov_err *e)
{
    int rc = cov_bgz_write(b->out, b->text, b->n_text, e);
    b->n_text = 0;
    return named(b, rc, e);
}

/* Checks that a name cannot break the format of the lines. */
static int check_name(struct bedgraph *b, const char *name, struct cov_err *e)
{
    static const char *const heads[] = {"#", "track", "browser"};
    size_t n = strlen(name);
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: contig without a name", b->base.name);
    for (size_t k = 0; k < n; k++)
        if ((unsigned char)name[k] <= ' ' || name[k] == 0x7f)
            return cov_fail(e, COV_EINPUT,
                            "%s: the name of contig '%s' has white space or control characters, "
                            "which bedGraph does not allow",
                            b->base.name, name);
    for (size_t k = 0; k < COV_COUNT(heads) && !b->warned; k++)
        if (strncmp(name, heads[k], strlen(heads[k])) == 0) {
            cov_warn("%s: readers of bedGraph skip lines that begin with '%s', such as those of "
                     "contig %s",
                     b->base.name, heads[k], name);
            b->warned = true;
        }
    return COV_OK;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    size_t room;
    int rc = s->contigs ? COV_OK : check_name(b, s->contig_name, e);
    if (rc)
        return rc;
    b->n_name = strlen(s->contig_name);
    if (cov_size_add(b->n_name, BUFFER + 2 * MAX_NUMBER + COV_BEDGRAPH_VALUE_BYTES + 4, &room))
        return cov_fail(e, COV_ENOMEM, "%s: contig name too long", s->name);
    rc = COV_RESERVE(&b->text, &b->cap_text, room, e);
    return rc;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    const char *name = s->contig_name;
    for (size_t i = 0; i < n; i++) {
        char *p = b->text + b->n_text;
        memcpy(p, name, b->n_name);
        p += b->n_name;
        *p++ = '\t';
        p += format_uint((uint64_t)iv[i].beg, p);
        *p++ = '\t';
        p += format_uint((uint64_t)iv[i].end, p);
        *p++ = '\t';
        p += cov_bedgraph_format_value(iv[i].value, p);
        *p++ = '\n';
        b->n_text = (size_t)(p - b->text);
        if (b->n_text >= BUFFER) {
            int rc = flush(b, e);
            if (rc)
                return rc;
        }
    }
    return COV_OK;
}

static int close_file(struct cov_track_sink *s, struct cov_err *e)
{
    struct bedgraph *b = (struct bedgraph *)s;
    int rc = b->n_text ? flush(b, e) : COV_OK;
    if (rc)
        return rc;
    rc = cov_bgz_close(b->out, e);
    b->out = NULL;
    /* Indexing the finished file reads all of it back. */
    bool csi = cov_bedgraph_needs_csi(s);
    const char *index_path = csi ? b->csi_path : b->tbi_path;
    if (!rc && index_path)
        rc = cov_bgz_index_bed(b->path, index_path, csi, e);
    return named(b, rc, e);
}

static void free_sink(struct cov_track_sink *s)
{
    struct bedgraph *b = (struct bedgraph *)s;
    cov_bgz_abort(b->out);
    free(b->path);
    free(b->text);
    free(b);
}

static const struct cov_track_format bedgraph_format = {begin, add, close_file, free_sink};

/* ---- writer: opening ---- */

static int deflate_lines(const uint8_t *src, size_t n, uint8_t *dst, size_t *n_dst,
                         struct cov_err *e)
{
    struct cov_tokens tokens;
    int rc = cov_tokens_init(&tokens, n, e);
    if (rc)
        return rc;
    cov_tokens_lines(&tokens, src, n);
    *n_dst = cov_tokens_deflate(&tokens, src, n, dst);
    cov_tokens_fini(&tokens);
    return COV_OK;
}

static const int64_t longest_of_tbi = INT64_C(1) << 29;

bool cov_bedgraph_list_needs_csi(const struct cov_track_contigs *contigs)
{
    for (size_t i = 0; i < contigs->n; i++)
        if (contigs->lengths[i] > longest_of_tbi)
            return true;
    return false;
}

bool cov_bedgraph_needs_csi(const struct cov_track_sink *s)
{
    for (size_t i = 0; i < cov_track_n_contigs(s); i++)
        if (cov_track_contig_length(s, i) > longest_of_tbi)
            return true;
    return false;
}

int cov_bedgraph_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                      const struct cov_bedgraph_options *options, struct cov_track_sink **out,
                      struct cov_err *e)
{
    *out = NULL;
    struct bedgraph *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    int rc = cov_track_init(&b->base, &bedgraph_format, name, contigs, e);
    for (size_t i = 0; contigs && i < contigs->n && !rc; i++)
        rc = check_name(b, contigs->names[i], e);
    if (!rc && !(b->path = cov_strdup(path, e)))
        rc = COV_ENOMEM;
    b->tbi_path = options->compress ? options->tbi_path : NULL;
    b->csi_path = options->compress ? options->csi_path : NULL;
    if (!rc)
        rc = cov_bgz_open_write(path, options->compress ? COV_BGZ_DEFLATE : COV_BGZ_PLAIN,
                                options->n_threads, &b->out, e);
    if (!rc && options->compress)
        cov_bgz_deflate_by(b->out, deflate_lines);
    if (rc)
        cov_track_free(&b->base);
    else
        *out = &b->base;
    return rc;
}

/* ---- reader ---- */

enum {
    STEP = 1 << 17,  /* bytes read at once */
    BATCH = 1 << 10, /* intervals returned at once */
    MAX_DIGITS = 18, /* 18 digits fit in 63 bits */
    AT_ONCE = 8,     /* digits parsed at once; the text is padded by the same number of bytes */
    MAX_VALUE = 64,  /* longest value passed to strtod */
    SHOWN = 40       /* bytes of a field shown in messages */
};

struct cov_bedgraph_reader {
    struct cov_bgz *in;
    bool begun, at_end, failed;
    char *text; /* text[at .. end) are complete lines, text[end .. filled) the start of one */
    size_t at, end, filled, cap;
    size_t line; /* line number of text[at] */
    struct cov_names *names;
    char *contig; /* the current one. Owned */
    size_t n_contig, cap_contig;
    size_t number; /* number of the current contig */
    int64_t last;  /* end of its last interval */
    struct cov_interval iv[BATCH];
    size_t lines[BATCH];
    size_t n;
    uint64_t n_gaps;
};

/* ---- reader: opening ---- */

int cov_bedgraph_reader_new(struct cov_bgz *in, struct cov_bedgraph_reader **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_bedgraph_reader *r = cov_calloc(1, sizeof *r, e);
    if (!r) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    r->in = in;
    r->line = 1;
    int rc = cov_names_new(&r->names, e);
    if (rc)
        cov_bedgraph_reader_close(r);
    else
        *out = r;
    return rc;
}

void cov_bedgraph_reader_close(struct cov_bedgraph_reader *r)
{
    if (!r)
        return;
    cov_bgz_abort(r->in);
    cov_names_free(r->names);
    free(r->contig);
    free(r->text);
    free(r);
}

size_t cov_bedgraph_reader_n_contigs(const struct cov_bedgraph_reader *r)
{
    return cov_names_count(r->names);
}

const char *cov_bedgraph_reader_contig(const struct cov_bedgraph_reader *r, size_t i)
{
    return cov_names_get(r->names, i, NULL);
}

uint64_t cov_bedgraph_reader_n_gaps(const struct cov_bedgraph_reader *r)
{
    return r->n_gaps;
}

/* ---- reader: lines ---- */

/* Reads until there is a complete line, or the end. */
static int fill(struct cov_bedgraph_reader *r, struct cov_err *e)
{
    size_t seen = 0;
    if (r->at > 0)
        memmove(r->text, r->text + r->at, r->filled - r->at);
    r->filled -= r->at;
    r->at = r->end = 0;
    while (r->end == 0 && !r->at_end) {
        if (r->filled > COV_MAX_LINE)
            return cov_fail(e, COV_EINPUT, "%s:%zu: line of more than %d bytes",
                            cov_bgz_name(r->in), r->line, (int)COV_MAX_LINE);
        size_t got = 0;
        int rc = COV_RESERVE(&r->text, &r->cap, r->filled + STEP + 1 + AT_ONCE, e);
        if (!rc)
            rc = cov_bgz_read(r->in, r->text + r->filled, STEP, &got, e);
        if (rc)
            return rc;
        r->filled += got;
        if (got == 0) {
            r->at_end = true;
            if (r->filled > 0)
                r->text[r->filled++] = '\n'; /* missing after the last line */
        }
        if (!r->begun && (r->filled >= 3 || r->at_end)) {
            const size_t mark = cov_text_mark(r->text, r->filled);
            memmove(r->text, r->text + mark, r->filled -= mark);
            r->begun = true;
        }
        const char *newline = memrchr(r->text + seen, '\n', r->filled - seen);
        r->end = newline ? (size_t)(newline - r->text) + 1 : 0;
        seen = r->filled;
    }
    if (r->text)
        memset(r->text + r->filled, 0, AT_ONCE);
    return COV_OK;
}

/* ---- reader: fields ---- */

static inline const char *pass_blanks(const char *p)
{
    while (cov_text_is_blank(*p))
        p++;
    return p;
}

static inline bool ends_field(char c)
{
    return c == '\n' || cov_text_is_blank(c);
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses up to AT_ONCE digits at p; returns their number. Combines neighbouring digits into
 * two-digit numbers, pairs of those into four-digit numbers, and these into one of eight digits. */
static inline size_t read_eight(const char *p, uint64_t *number)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    x = le64toh(x) ^ UINT64_C(0x3030303030303030); /* digits become their values; the first is the
                                                    * lowest byte */
    uint64_t others = ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
    size_t n = others ? (size_t)__builtin_ctzll(others) / 8 : AT_ONCE;
    x = n > 0 ? x << 8 * (AT_ONCE - n) : 0;
    x = (x * (10 << 8 | 1)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    x = (x * (100 << 16 | 1)) >> 16 & UINT64_C(0x0000ffff0000ffff);
    *number = (x * (UINT64_C(10000) << 32 | 1)) >> 32;
    return n;
}

/* The same for any number of digits, ignoring those after MAX_DIGITS; moves *p past them. */
static inline size_t read_digits(const char **p, uint64_t *number)
{
    size_t n = read_eight(*p, number);
    const char *q = *p + n;
    for (; n >= AT_ONCE && n < MAX_DIGITS && is_digit(*q); n++)
        *number = 10 * *number + (uint64_t)(*q++ - '0');
    *p = q;
    return n;
}

/* Parses an unsigned number at *p. Returns false if it has no digits, too many digits, or other
 * characters. */
static inline bool read_position(const char **p, int64_t *x)
{
    uint64_t number;
    size_t n = read_digits(p, &number);
    *x = (int64_t)number;
    return n > 0 && ends_field(**p);
}

/* Parses the field at p with strtod. Returns false if the field is neither a finite decimal number
 * nor nan. strtod alone would also accept hexadecimal numbers and "inf". */
static bool ask_strtod(const char *p, float *value)
{
    char text[MAX_VALUE], *end;
    size_t n = 0;
    const bool has_sign = *p == '-' || *p == '+';
    if (strncasecmp(p + has_sign, "nan", 3) == 0 && ends_field(p[has_sign + 3])) {
        *value = NAN;
        return true;
    }
    while (!ends_field(p[n])) {
        if (n == MAX_VALUE - 1 || p[n] == '\0' || !strchr("0123456789+-.eE", p[n]))
            return false;
        text[n] = p[n];
        n++;
    }
    text[n] = '\0';
    *value = (float)strtod(text, &end);
    return n > 0 && *end == '\0' && isfinite(*value);
}

/* Parses the field at *p as a number. A number with few digits is divided by a power of ten. Both
 * are exact doubles, so the quotient is the nearest double, like the result of strtod. */
static inline bool read_value(const char **p, float *value)
{
    enum { MOST = 15, POWERS = 16 };
    static const double powers[POWERS] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *q = *p;
    bool minus = *q == '-';
    q += minus;
    const char *beg = q;
    uint64_t whole, decimals = 0;
    size_t n = read_digits(&q, &whole), n_decimals = 0;
    if (*q == '.') {
        q++;
        n_decimals = read_digits(&q, &decimals);
        n += n_decimals;
    }
    if (n == 0 || n > MOST || !ends_field(*q)) {
        if (!ask_strtod(*p, value))
            return false;
        while (!ends_field(*beg))
            beg++;
        *p = beg;
        return true;
    }
    double x = (double)whole;
    if (n_decimals > 0)
        x = (x * powers[n_decimals] + (double)decimals) / powers[n_decimals];
    *value = (float)(minus ? -x : x);
    *p = q;
    return true;
}

/* ---- reader: records ---- */

static bool is_word(const char *p, const char *word)
{
    size_t n = strlen(word);
    return strncmp(p, word, n) == 0 && ends_field(p[n]);
}

static int refuse(struct cov_bedgraph_reader *r, const char *reason, const char *field,
                  struct cov_err *e)
{
    size_t n = 0;
    while (field && n < SHOWN && !ends_field(field[n]))
        n++;
    return cov_fail(e, COV_EINPUT, "%s:%zu: %s%s%.*s%s", cov_bgz_name(r->in), r->line, reason,
                    field ? ": '" : "", (int)n, field ? field : "", field ? "'" : "");
}

/* Fails because of an interval, naming its columns. */
static int refuse_interval(struct cov_bedgraph_reader *r, const struct cov_interval *iv,
                           const char *reason, const char *field, struct cov_err *e)
{
    char place[4 * SHOWN];
    (void)snprintf(place, sizeof place, "%.*s %" PRId64 " %" PRId64 ": %s",
                   r->n_contig < SHOWN ? (int)r->n_contig : SHOWN, r->contig, iv->beg, iv->end,
                   reason);
    return refuse(r, place, field, e);
}

/* Starts the contig whose name is at p. */
static int change_contig(struct cov_bedgraph_reader *r, const char *p, struct cov_err *e)
{
    size_t n = 0;
    bool is_new;
    for (; !ends_field(p[n]); n++)
        if ((unsigned char)p[n] < ' ' || p[n] == 0x7f)
            return refuse(r, "not bedGraph: control character in the name of a contig", p, e);
    if (is_word(p, "variableStep") || is_word(p, "fixedStep"))
        return refuse(r, "not bedGraph but wiggle", p, e);
    int rc = cov_names_add(r->names, p, n, &r->number, &is_new, e);
    if (!rc)
        rc = COV_RESERVE(&r->contig, &r->cap_contig, n + 1, e);
    if (rc)
        return rc;
    if (!is_new)
        return refuse(r, "contig in two places; sort the file", p, e);
    memcpy(r->contig, p, n);
    r->n_contig = n;
    r->last = 0;
    return COV_OK;
}

static const char no_number[] =
    "the fourth column, a value in bedGraph, is not a finite number that fits in a 32-bit float";

/* Parses the fields after the name of the contig. Returns NULL, or a description of the fault in
 * *field. */
static inline const char *read_fields(const char **p, struct cov_interval *iv, const char **field)
{
    const char *q = *field = pass_blanks(*p);
    if (!read_position(&q, &iv->beg))
        return *q == '\n' && q == *field ? "expected four columns: contig, begin, end, value"
                                         : "invalid position";
    q = *field = pass_blanks(q);
    if (!read_position(&q, &iv->end))
        return *q == '\n' && q == *field ? "missing end and value" : "invalid position";
    q = *field = pass_blanks(q);
    if (*q == '\n')
        return "missing value";
    if (!read_value(&q, &iv->value))
        return no_number;
    q = *field = pass_blanks(q);
    *p = q + 1;
    return *q == '\n' ? NULL : "more than four columns";
}

/* Skips the line at text[at], in which `p` is the first word. */
static int skip_line(struct cov_bedgraph_reader *r, const char *p, struct cov_err *e)
{
    const char *newline = memchr(p, '\n', (size_t)(r->text + r->end - p));
    const char *stop = newline ? newline : r->text + r->end;
    int rc = cov_line_check_ends(cov_bgz_name(r->in), r->line, p, (size_t)(stop - p), e);
    r->at = (size_t)(stop - r->text) + (newline != NULL);
    r->line++;
    return rc;
}

/* Parses the line at text[at]. Sets *changes if the line starts another contig; then the line is
 * not consumed. */
static inline int take_line(struct cov_bedgraph_reader *r, bool *changes, struct cov_err *e)
{
    const char *p = r->text + r->at, *field;
    struct cov_interval *iv = &r->iv[r->n];
    if (cov_text_is_blank(*p))
        p = pass_blanks(p);
    bool same =
        r->n_contig > 0 && strncmp(p, r->contig, r->n_contig) == 0 && ends_field(p[r->n_contig]);
    if (!same) {
        if (*p == '\n' || *p == '#' || is_word(p, "track") || is_word(p, "browser"))
            return skip_line(r, p, e);
        *changes = r->n > 0;
        int rc = *changes ? COV_OK : change_contig(r, p, e);
        if (rc || *changes)
            return rc;
    }
    p += r->n_contig;
    const char *reason = read_fields(&p, iv, &field);
    if (reason == no_number)
        return refuse_interval(r, iv, reason, field, e);
    if (reason)
        return refuse(r, reason, *field == '\n' ? NULL : field, e);
    if (iv->end <= iv->beg)
        return refuse_interval(r, iv, "empty interval", NULL, e);
    if (iv->beg < r->last)
        return refuse_interval(r, iv, "interval begins before the previous one ends; sort the file",
                               NULL, e);
    r->last = iv->end;
    r->lines[r->n] = r->line++;
    if (isnan(iv->value))
        r->n_gaps++;
    else
        r->n++;
    r->at = (size_t)(p - r->text);
    return COV_OK;
}

static int next(struct cov_bedgraph_reader *r, struct cov_err *e)
{
    int rc = COV_OK;
    bool changes = false;
    r->n = 0;
    while (!rc && !changes && r->n < BATCH) {
        if (r->at < r->end)
            rc = take_line(r, &changes, e);
        else if (r->at_end || r->n > 0)
            break;
        else
            rc = fill(r, e);
    }
    return rc ? rc : r->n > 0;
}

int cov_bedgraph_reader_next(struct cov_bedgraph_reader *r, size_t *contig,
                             const struct cov_interval **iv, const size_t **lines, size_t *n,
                             struct cov_err *e)
{
    *n = 0;
    if (r->failed)
        return cov_fail(e, COV_EINPUT, "%s: damaged", cov_bgz_name(r->in));
    int rc = next(r, e);
    r->failed = rc < 0;
    *contig = r->number;
    *iv = r->iv;
    *lines = r->lines;
    *n = rc > 0 ? r->n : 0;
    return rc;
}
