/* file_kind.c - see file_kind.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/file_kind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/text.h"

enum {
    ZIP_NAME = 30,   /* offset of the first member's name */
    TAR_MAGIC = 257, /* offset of "ustar" */
};

const char *cov_kind_name(enum cov_kind kind)
{
    static const char *const names[] = {
        [COV_KIND_UNKNOWN] = NULL,
        [COV_KIND_BAM] = "a BAM file",
        [COV_KIND_CRAM] = "a CRAM file",
        [COV_KIND_SAM] = "a SAM file",
        [COV_KIND_FASTA] = "a FASTA file",
        [COV_KIND_FASTQ] = "a FASTQ file",
        [COV_KIND_BED] = "a BED file",
        [COV_KIND_NARROWPEAK] = "a narrowPeak file",
        [COV_KIND_GFF] = "a GFF or GTF file",
        [COV_KIND_VCF] = "a VCF file",
        [COV_KIND_TAR] = "a tar archive",
        [COV_KIND_HDF5] = "an HDF5 file",
        [COV_KIND_BIGWIG] = "a bigWig file",
        [COV_KIND_BIGBED] = "a bigBed file",
        [COV_KIND_STREAM] = "a chunk stream",
        [COV_KIND_CKPT] = "a PyTorch checkpoint",
        [COV_KIND_ZIP] = "a zip archive",
        [COV_KIND_GZIP] = "a file compressed by gzip",
        [COV_KIND_HTML] = "an HTML page",
        [COV_KIND_LFS] = "a Git LFS pointer: git lfs pull fetches the file",
    };
    return names[kind];
}

/* PyTorch's first member is NAME/data.pkl. */
static bool is_checkpoint(const char *bytes, size_t n)
{
    static const char end[] = "/data.pkl";
    return n > ZIP_NAME && memmem(bytes + ZIP_NAME, n - ZIP_NAME, end, sizeof end - 1) != NULL;
}

static bool is_html(const char *bytes, size_t n)
{
    static const char *const starts[] = {"<!doctype html", "<html"};
    while (n > 0 && (*bytes == '\n' || cov_text_is_blank(*bytes))) {
        bytes++;
        n--;
    }
    for (size_t i = 0; i < COV_COUNT(starts); i++)
        if (n >= strlen(starts[i]) && strncasecmp(bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool is_one_of(const char *letters, char c)
{
    return c && strchr(letters, c);
}

/* The name of a read, then its bases, of which the end may be missing. */
static bool is_fastq(const char *bytes, size_t n)
{
    enum { ENOUGH = 16 };
    const char *newline = n > 0 && *bytes == '@' ? memchr(bytes, '\n', n) : NULL;
    size_t at = newline ? (size_t)(newline - bytes) + 1 : n, end = at;
    while (end < n && is_one_of("ACGTNacgtn.", bytes[end]))
        end++;
    return end < n ? end > at && is_one_of("\r\n", bytes[end]) : end - at >= ENOUGH;
}

enum { MOST_FIELDS = 10 };

/* A line that tabs separate into fields. */
struct line {
    const char *at[MOST_FIELDS];
    size_t lengths[MOST_FIELDS], n; /* n counts all fields */
};

static struct line split(const char *p, const char *end)
{
    struct line line = {.n = 0};
    for (;; p++) {
        const char *tab = memchr(p, '\t', (size_t)(end - p)), *stop = tab ? tab : end;
        if (line.n < MOST_FIELDS) {
            line.at[line.n] = p;
            line.lengths[line.n] = (size_t)(stop - p);
        }
        line.n++;
        if (!tab)
            return line;
        p = tab;
    }
}

/* Parses field i as a position; -1: it is none. */
static int64_t position(const struct line *l, size_t i)
{
    int64_t x;
    return cov_text_position(l->at[i], l->lengths[i], &x) ? x : -1;
}

static bool is_strand(const struct line *l, size_t i)
{
    return l->lengths[i] == 1 && is_one_of("+-.?", l->at[i][0]);
}

/* Returns the kind of a table, judging by a line of data. If the line is not `whole`, the end of
 * the last column may be missing. */
static enum cov_kind kind_of_line(const struct line *l, bool whole)
{
    if ((l->n == 8 || l->n == 9) && position(l, 1) < 0 && position(l, 3) >= 0 &&
        position(l, 4) >= 0 && is_strand(l, 6))
        return COV_KIND_GFF;
    if (!whole || l->n < 3 || l->n == 4 || position(l, 1) < 0 || position(l, 2) < position(l, 1) ||
        (l->n > 5 && !is_strand(l, 5)))
        return COV_KIND_UNKNOWN;
    return l->n == 10 ? COV_KIND_NARROWPEAK : COV_KIND_BED;
}

static enum cov_kind kind_of_table(const char *p, size_t n)
{
    for (const char *end = p + n, *newline; p < end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline : end) - p);
        while (newline && length > 0 && cov_text_is_blank(p[length - 1]))
            length--;
        if (length > 0 && *p != '#' && (length < 6 || memcmp(p, "track ", 6) != 0)) {
            const struct line line = split(p, p + length);
            return kind_of_line(&line, newline != NULL);
        }
        if (!newline)
            break;
    }
    return COV_KIND_UNKNOWN;
}

enum cov_kind cov_kind_of(const void *bytes, size_t n)
{
    static const struct {
        const char *magic;
        enum cov_kind kind;
    } kinds[] = {
        {"BAM\1", COV_KIND_BAM},
        {"CRAM", COV_KIND_CRAM},
        {"@HD\t", COV_KIND_SAM},
        {"@SQ\t", COV_KIND_SAM},
        {">", COV_KIND_FASTA},
        {"\x89HDF\r\n\x1a\n", COV_KIND_HDF5},
        {"\x26\xfc\x8f\x88", COV_KIND_BIGWIG},
        {"\x88\x8f\xfc\x26", COV_KIND_BIGWIG},
        {"\xeb\xf2\x89\x87", COV_KIND_BIGBED},
        {"\x87\x89\xf2\xeb", COV_KIND_BIGBED},
        {"COVSTRM\n", COV_KIND_STREAM},
        {"PK\3\4", COV_KIND_ZIP},
        {"\x1f\x8b", COV_KIND_GZIP},
        {"##gff-version", COV_KIND_GFF},
        {"##fileformat=VCF", COV_KIND_VCF},
        {"version https://git-lfs.", COV_KIND_LFS},
    };
    const size_t mark = cov_text_mark(bytes, n);
    bytes = (const char *)bytes + mark;
    n -= mark;
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        size_t length = strlen(kinds[i].magic);
        if (n >= length && memcmp(bytes, kinds[i].magic, length) == 0)
            return kinds[i].kind == COV_KIND_ZIP && is_checkpoint(bytes, n) ? COV_KIND_CKPT
                                                                            : kinds[i].kind;
    }
    if (n >= TAR_MAGIC + 5 && memcmp((const char *)bytes + TAR_MAGIC, "ustar", 5) == 0)
        return COV_KIND_TAR;
    return is_html(bytes, n)    ? COV_KIND_HTML
           : is_fastq(bytes, n) ? COV_KIND_FASTQ
                                : kind_of_table(bytes, n);
}
