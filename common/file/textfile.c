/* textfile.c - see textfile.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/textfile.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

struct cov_lines {
    struct cov_bgz *in;
    char *text; /* text[beg..end) has not been returned yet */
    size_t beg, end, cap;
    size_t number; /* number of the last line */
    bool at_end;   /* the file has ended */
};

void cov_lines_close(struct cov_lines *l)
{
    if (!l)
        return;
    cov_bgz_abort(l->in);
    free(l->text);
    free(l);
}

int cov_lines_open(const char *path, struct cov_lines **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_lines *l = cov_calloc(1, sizeof *l, e);
    int rc = l ? cov_bgz_open_read(path, 1, &l->in, e) : COV_ENOMEM;
    if (rc)
        cov_lines_close(l);
    else
        *out = l;
    return rc;
}

/* Reads more of the file into the buffer. */
static int fill(struct cov_lines *l, struct cov_err *e)
{
    enum { STEP = 1 << 16 };
    if (l->beg > 0) {
        memmove(l->text, l->text + l->beg, l->end - l->beg);
        l->end -= l->beg;
        l->beg = 0;
    }
    int rc = COV_RESERVE(&l->text, &l->cap, l->end + STEP, e);
    size_t got = 0;
    if (!rc)
        rc = cov_bgz_read(l->in, l->text + l->end, STEP, &got, e);
    l->end += got;
    l->at_end = got == 0;
    return rc;
}

int cov_line_check_ends(const char *name, size_t number, const char *text, size_t n,
                        struct cov_err *e)
{
    while (n > 0 && cov_text_is_blank(text[n - 1]))
        n--;
    return !memchr(text, '\r', n)
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "%s:%zu: lines must not end in a carriage return alone; convert them "
                          "with tr '\\r' '\\n'",
                          name, number);
}

int cov_lines_next(struct cov_lines *l, const char **text, size_t *n, size_t *number,
                   struct cov_err *e)
{
    size_t seen = 0;
    const char *newline = NULL;
    for (;;) {
        size_t n_read = l->end - l->beg;
        if (n_read > seen)
            newline = memchr(l->text + l->beg + seen, '\n', n_read - seen);
        if (newline || l->at_end || n_read > COV_MAX_LINE)
            break;
        seen = n_read;
        int rc = fill(l, e);
        if (rc)
            return rc;
    }
    *n = newline ? (size_t)(newline - (l->text + l->beg)) : l->end - l->beg;
    if (!newline && *n == 0)
        return 0;
    *number = ++l->number;
    *text = l->text + l->beg;
    l->beg += *n + (newline != NULL);
    const size_t mark = *number == 1 ? cov_text_mark(*text, *n) : 0;
    *text += mark;
    *n -= mark;
    const char *name = cov_bgz_name(l->in);
    if (memchr(*text, '\0', *n))
        return cov_fail(e, COV_EINPUT, "%s:%zu: not a text file: it has a zero byte", name,
                        *number);
    int rc = cov_line_check_ends(name, *number, *text, *n, e);
    if (rc)
        return rc;
    if (*n > COV_MAX_LINE)
        return cov_fail(e, COV_EINPUT, "%s:%zu: line longer than %d bytes", name, *number,
                        (int)COV_MAX_LINE);
    return 1;
}

const char *cov_line_word(const char **p, const char *end, size_t *n)
{
    const char *beg = *p;
    while (beg < end && cov_text_is_blank(*beg))
        beg++;
    const char *stop = beg;
    while (stop < end && !cov_text_is_blank(*stop))
        stop++;
    bool found = stop > beg && *beg != '#';
    *p = found ? stop : end;
    *n = found ? (size_t)(stop - beg) : 0;
    return found ? beg : NULL;
}

const char *cov_line_hint(const char *beg, const char *end)
{
    size_t n, n_next;
    const char *p = beg, *first = cov_line_word(&p, end, &n);
    bool is_only = first && !cov_line_word(&p, end, &n_next);
    if (first && (is_only ? memchr(first, ';', n) != NULL : first[n - 1] == ';'))
        return "; separate columns by tabs or blanks instead of ';'";
    if (first && (is_only ? memchr(first, ',', n) != NULL : first[n - 1] == ','))
        return "; separate columns by tabs or blanks instead of ','";
    return "";
}

static bool has_digit(const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isdigit((unsigned char)word[i]))
            return true;
    return false;
}

const char *cov_line_bed_hint(const char *beg, const char *end)
{
    size_t n_start, n_end;
    const char *p = beg, *start, *stop;
    if (!cov_line_word(&p, end, &n_start) || !(start = cov_line_word(&p, end, &n_start)))
        return cov_line_hint(beg, end);
    if (n_start > 1 && start[0] == '-' && isdigit((unsigned char)start[1]))
        return "; the start is negative";
    stop = cov_line_word(&p, end, &n_end);
    if (stop && !has_digit(start, n_start) && !has_digit(stop, n_end))
        return "; if this is a header, begin it with '#'";
    return cov_line_hint(beg, end);
}

bool cov_word_is(struct cov_word w, const char *text)
{
    return w.n == strlen(text) && memcmp(w.text, text, w.n) == 0;
}

/* Adds to a name what follows it up to the next tab, and advances *p to this. */
static void extend_name(const char **p, const char *end, struct cov_word *name)
{
    const char *tab = memchr(*p, '\t', (size_t)(end - *p)), *word;
    size_t n;
    while ((word = cov_line_word(p, tab ? tab : end, &n)))
        name->n = (size_t)(word + n - name->text);
}

void cov_bed_line_split(const char *beg, const char *end, struct cov_bed_line *out)
{
    enum { NAME = 3 };
    *out = (struct cov_bed_line){.n = 0};
    struct cov_word *w = out->words;
    bool has_tabs = true; /* before each column */
    while (out->n < COV_BED_COLUMNS && (w[out->n].text = cov_line_word(&beg, end, &w[out->n].n))) {
        has_tabs = has_tabs && (out->n == 0 || w[out->n].text[-1] == '\t');
        if (out->n == NAME && has_tabs)
            extend_name(&beg, end, &w[NAME]);
        out->n++;
    }
    out->is_head = out->n > 0 && (cov_word_is(w[0], "track") || cov_word_is(w[0], "browser"));
    out->has_place = out->n >= 3 && cov_text_position(w[1].text, w[1].n, &out->beg) &&
                     cov_text_position(w[2].text, w[2].n, &out->end);
}

/* ---- whole files ---- */

int cov_textfile_read(const char *path, size_t max_bytes, char **text, size_t *n, struct cov_err *e)
{
    int fd;
    uint64_t n_bytes;
    ssize_t got = 1;
    *text = NULL;
    *n = 0;
    int rc = cov_path_open_file(path, &fd, &n_bytes, e);
    if (rc)
        return rc;
    if (n_bytes > max_bytes)
        rc = cov_fail(e, COV_EINPUT, "%s: larger than %zu MiB", path, max_bytes >> 20);
    else if (!(*text = cov_calloc((size_t)n_bytes + 1, 1, e)))
        rc = COV_ENOMEM;
    while (!rc && got != 0 && *n < n_bytes) {
        got = read(fd, *text + *n, (size_t)n_bytes - *n);
        *n += got > 0 ? (size_t)got : 0;
        if (got < 0 && errno != EINTR)
            rc = cov_fail_errno(e, "%s", path);
    }
    (void)close(fd); /* opened for reading */
    if (rc) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

int cov_textfile_read_json(const char *path, size_t max_bytes, struct cov_json_value **out,
                           struct cov_err *e)
{
    char *text;
    size_t n;
    *out = NULL;
    int rc = cov_textfile_read(path, max_bytes, &text, &n, e);
    if (rc)
        return rc;
    rc = cov_json_parse(text, n, out, e);
    free(text);
    if (rc == COV_EINPUT && cov_kind_of_file(path, NULL) != COV_KIND_UNKNOWN) {
        cov_err_clear(e);
        return cov_fail_kind(e, path, "not a JSON file");
    }
    return rc ? cov_err_prefix(e, rc, "%s", path) : COV_OK;
}

/* ---- tables ---- */

void cov_table_put_text(const char *text, FILE *f)
{
    for (const char *p = text; *p; p++)
        (void)fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, f);
}

void cov_table_put_number(double x, FILE *f)
{
    if (isnan(x))
        (void)fputs("\tNA", f);
    else
        (void)fprintf(f, "\t%.9g", x);
}

int cov_table_write(const struct cov_outfile *out, FILE *printed, cov_table_fn *print,
                    const void *arg, struct cov_err *e)
{
    FILE *f = out->path ? fopen(out->tmp, "we") : printed;
    if (!f)
        return cov_fail_errno(e, "%s", out->path);
    int why = 0;
    errno = 0;
    print(arg, f);
    if (fflush(f) != 0 || ferror(f))
        why = errno ? errno : EIO;
    if (out->path && fclose(f) != 0 && !why)
        why = errno;
    errno = why;
    return why ? cov_fail_errno(e, "%s", out->path ? out->path : "standard output") : COV_OK;
}
