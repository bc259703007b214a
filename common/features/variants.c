/* variants.c - see variants.h.
 *
 * Lines of a VCF are read, counted and checked here before htslib parses them: it accepts lines that
 * end early, and lines of any length, which a small compressed file can have.
 * SPDX-License-Identifier: MIT */
#include "common/features/variants.h"

#include <errno.h>
#include <htslib/vcf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/features/vcf_line.h"
#include "common/file/bgz.h"
#include "common/file/hash.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/file/textfile.h"

/* A record: enough for a million samples, whose names make the file large. In a small file, less, since
 * memory must not depend on how well a line compresses. */
enum { MAX_RECORD_MB = 64, SMALL_RECORD_MB = 8, MAX_RATIO = 16, MB_SHIFT = 20 };
enum { MAX_HEADER_MB = 256, MAX_UNCOMMON = 20000 };

struct cov_variants {
    char *path;  /* for messages */
    char *field; /* the INFO field; NULL: none */
    htsFile *file;
    bcf_hdr_t *header;
    kstring_t line;
    size_t most, most_header; /* bytes of a record and of the header */
    int n_samples;            /* in the header */
    bool genotypes;           /* are read */
    int64_t n_lines;          /* of the header and the records so far; 0 in a BCF */
    int64_t n_read, n_signs;
};

int cov_variant_init(struct cov_variant *v, struct cov_err *e)
{
    *v = (struct cov_variant){.record = bcf_init()};
    return v->record ? COV_OK : cov_fail(e, COV_ENOMEM, "out of memory");
}

void cov_variant_fini(struct cov_variant *v)
{
    if (v->record)
        bcf_destroy(v->record);
    v->record = NULL;
}

size_t cov_variant_bytes(const struct cov_variant *v)
{
    const bcf1_t *b = v->record;
    return b->shared.m + b->indiv.m + (size_t)b->d.m_als + (size_t)b->d.m_id +
           (size_t)b->d.m_allele * sizeof *b->d.allele;
}

/* ---------------------------------------------------------------- opening */

void cov_variants_close(struct cov_variants *r)
{
    if (!r)
        return;
    if (r->header)
        bcf_hdr_destroy(r->header);
    if (r->file)
        (void)hts_close(r->file); /* opened for reading: nothing can be lost */
    ks_free(&r->line);
    free(r->field);
    free(r->path);
    free(r);
}

const char *cov_variants_name(const struct cov_variants *r)
{
    return r->path;
}

static int refuse(const struct cov_variants *r, const char *path, struct cov_err *e)
{
    if (cov_path_is_std(path))
        return cov_fail(e, COV_EINPUT, "%s: neither VCF nor BCF", r->path);
    if (cov_kind_of_file(path, NULL) == COV_KIND_VCF)
        return cov_fail(e, COV_EINPUT, "%s: damaged or truncated (VCF)", path);
    return cov_fail_kind(e, path, "neither VCF nor BCF");
}

static int open_file(struct cov_variants *r, const char *path, struct cov_err *e)
{
    struct stat st;
    const bool is_local = !cov_path_is_std(path) && !cov_path_is_url(path);
    int rc = is_local ? cov_path_check_file(path, e) : COV_OK;
    if (rc)
        return rc;
    r->most = (size_t)MAX_RECORD_MB << MB_SHIFT;
    r->most_header = (size_t)MAX_HEADER_MB << MB_SHIFT;
    if (is_local && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        const int64_t small = (int64_t)SMALL_RECORD_MB << MB_SHIFT, most = st.st_size * MAX_RATIO;
        if (st.st_size == 0)
            return cov_fail(e, COV_EINPUT, "%s: empty file", r->path);
        if (most < (int64_t)r->most)
            r->most = r->most_header = (size_t)(most > small ? most : small);
    }
    cov_bgz_set_log();
    errno = 0;
    r->file = hts_open(path, "r");
    if (!r->file) {
        if (errno == ENOENT || errno == EACCES || errno == EIO ||
            (cov_path_is_url(path) && errno)) {
            errno = errno == EPIPE ? EIO : errno;
            return cov_bgz_fail_open(r->path, e);
        }
        return refuse(r, path, e);
    }
    /* htslib takes a VCF that begins with a byte order mark for another text. */
    if (r->file->format.format != vcf && r->file->format.format != bcf &&
        r->file->format.format != text_format)
        return refuse(r, path, e);
    /* Pipes cannot be checked. */
    if (hts_check_EOF(r->file) == 0)
        return cov_fail(e, COV_EINPUT, "%s: truncated: the end-of-file block of BGZF is missing",
                        r->path);
    return COV_OK;
}

/* Reads a line into r->line, as cov_bgz_next_line does. The memory of a line that is not compressed is
 * in proportion to the file anyway. */
static int read_text(struct cov_variants *r)
{
    if (r->file->is_bgzf)
        return cov_bgz_next_line(r->file->fp.bgzf, r->most, &r->line);
    const int got = hts_getline(r->file, '\n', &r->line);
    return got < -1 ? -1 : got == -1 ? 0 : r->line.l > r->most ? COV_BGZ_TOO_LONG : 1;
}

/* Drops these characters from the end of r->line. */
static void trim(struct cov_variants *r, const char *blanks)
{
    while (r->line.l > 0 && strchr(blanks, r->line.s[r->line.l - 1]) && r->line.s[r->line.l - 1])
        r->line.s[--r->line.l] = '\0';
}

static int fail_long(const struct cov_variants *r, int64_t line, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s:%" PRId64 ": line of more than %zu MiB", r->path, line,
                    r->most >> MB_SHIFT);
}

static int add_field(struct cov_variants *r, const struct cov_variant_field *field,
                     struct cov_err *e)
{
    const int id = bcf_hdr_id2int(r->header, BCF_DT_ID, field->name);
    r->field = cov_strdup(field->name, e);
    if (!r->field)
        return COV_ENOMEM;
    if (bcf_hdr_idinfo_exists(r->header, BCF_HL_INFO, id)) {
        if (bcf_hdr_id2type(r->header, BCF_HL_INFO, id) != BCF_HT_STR)
            return cov_fail(e, COV_EINPUT, "%s: the header has INFO/%s with another type", r->path,
                            field->name);
        bcf_hdr_remove(r->header, BCF_HL_INFO, field->name); /* its description may differ */
    }
    if (bcf_hdr_printf(r->header, "##INFO=<ID=%s,Number=.,Type=String,Description=\"%s\">",
                       field->name, field->description) != 0 ||
        bcf_hdr_sync(r->header) != 0)
        return cov_fail(e, COV_ENOMEM, "%s: cannot add INFO/%s to the header", r->path,
                        field->name);
    return COV_OK;
}

static int fail_header(const struct cov_variants *r, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: header of more than %zu MiB", r->path,
                    r->most_header >> MB_SHIFT);
}

/* Drops a byte order mark from the first line. Returns false if there is none, but has to be one: htslib
 * takes a VCF that begins with it for another text. */
static bool begins_as_vcf(struct cov_variants *r)
{
    const size_t n = cov_text_mark(r->line.s, r->line.l);
    if (n == 0)
        return r->file->format.format == vcf;
    r->line.l -= n;
    memmove(r->line.s, r->line.s + n, r->line.l + 1);
    return true;
}

/* Reads the lines that begin with '#'. *text stays empty if there is a fault. */
static int read_vcf_header(struct cov_variants *r, kstring_t *text, struct cov_err *e)
{
    int got = 1, rc = COV_OK;
    bool complete = false;
    while (!rc && !complete && (got = read_text(r)) > 0) {
        const bool is_vcf = r->n_lines > 0 || begins_as_vcf(r);
        trim(r, " \t\r");
        if (!is_vcf || (r->line.l > 0 && r->line.s[0] != '#'))
            break;
        rc = cov_line_check_ends(r->path, (size_t)r->n_lines + 1, r->line.s, r->line.l, e);
        if (rc)
            break;
        r->n_lines++;
        complete = r->line.l > 1 && r->line.s[1] != '#';
        if (r->line.l > 0 && (kputsn(r->line.s, r->line.l, text) < 0 || kputc('\n', text) < 0))
            rc = cov_fail(e, COV_ENOMEM, "out of memory");
        else if (text->l > r->most_header)
            rc = fail_header(r, e);
    }
    if (!rc && !complete && got == COV_BGZ_TOO_LONG)
        rc = fail_long(r, r->n_lines + 1, e);
    if (!complete)
        text->l = 0;
    return rc;
}

/* Sets *text to the next n bytes of a BCF. Returns false if there are fewer. */
static bool read_bytes(struct cov_variants *r, size_t n, kstring_t *text)
{
    struct BGZF *stream = r->file->fp.bgzf;
    for (text->l = 0; text->l < n;) {
        const uint8_t *at;
        char first;
        if (!cov_bgz_peek_block(stream, &first, 1)) /* reads a block */
            return false;
        const size_t rest = cov_bgz_block_rest(stream, &at), left = n - text->l;
        if (kputsn((const char *)at, rest < left ? rest : left, text) < 0)
            return false;
        cov_bgz_block_skip(stream, rest < left ? rest : left);
    }
    return true;
}

/* The same for a BCF: magic bytes, the length of the text, and the text. */
static int read_bcf_header(struct cov_variants *r, kstring_t *text, struct cov_err *e)
{
    enum { MAGIC = 5 };
    uint32_t n;
    if (read_bytes(r, MAGIC + sizeof n, text) && memcmp(text->s, "BCF\2", MAGIC - 1) == 0) {
        memcpy(&n, text->s + MAGIC, sizeof n);
        if (n > r->most_header)
            return fail_header(r, e);
        if (read_bytes(r, n, text)) {
            text->l = strlen(text->s);
            return COV_OK;
        }
    }
    text->l = 0;
    return COV_OK;
}

/* htslib compares a line of the header that is not one of these with all others. */
static bool is_common(const char *line)
{
    static const char *const keys[] = {"##contig=", "##INFO=", "##FORMAT=", "##FILTER="};
    for (size_t i = 0; i < COV_COUNT(keys); i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

/* Sets r->header. Leaves it NULL if there is a fault. */
static int parse_header(struct cov_variants *r, char *text, struct cov_err *e)
{
    int n = 0;
    for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        n += strncmp(p, "##", 2) == 0 && !is_common(p);
    if (n > MAX_UNCOMMON)
        return cov_fail(e, COV_EINPUT,
                        "%s: more than %d lines other than contig, INFO, FORMAT and FILTER in the "
                        "header",
                        r->path, MAX_UNCOMMON);
    r->header = bcf_hdr_init("r");
    if (r->header && bcf_hdr_parse(r->header, text) != 0) {
        bcf_hdr_destroy(r->header);
        r->header = NULL;
    }
    return COV_OK;
}

static int read_header(struct cov_variants *r, const char *path,
                       const struct cov_variant_field *field, struct cov_err *e)
{
    kstring_t text = KS_INITIALIZE;
    int rc =
        r->file->format.format == bcf ? read_bcf_header(r, &text, e) : read_vcf_header(r, &text, e);
    if (!rc && text.l > 0 && strlen(text.s) == text.l)
        rc = parse_header(r, text.s, e);
    ks_free(&text);
    if (rc)
        return rc;
    if (!r->header && cov_bgz_is_unreadable(r->file))
        return cov_fail_errno(e, "%s", r->path);
    if (!r->header && r->n_lines == 0 && r->file->format.format == text_format)
        return refuse(r, path, e);
    if (!r->header)
        return cov_fail(e, COV_EINPUT, "%s: damaged or truncated header", r->path);
    r->n_samples = bcf_hdr_nsamples(r->header);
    if (field)
        return add_field(r, field, e);
    if (!r->genotypes && bcf_hdr_set_samples(r->header, NULL, 0) != 0)
        return cov_fail(e, COV_ENOMEM, "%s: cannot skip genotypes", r->path);
    return COV_OK;
}

int cov_variants_open(const char *path, const struct cov_variant_field *field, bool genotypes,
                      struct cov_variants **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_variants *r = cov_calloc(1, sizeof *r, e);
    if (!r)
        return COV_ENOMEM;
    r->path = cov_strdup(cov_path_of_input(path), e);
    r->genotypes = genotypes || field;
    int rc = r->path ? open_file(r, path, e) : COV_ENOMEM;
    if (!rc)
        rc = read_header(r, path, field, e);
    if (rc)
        cov_variants_close(r);
    else
        *out = r;
    return rc;
}

/* ---------------------------------------------------------------- reading */

int cov_variants_fail(const struct cov_variants *r, struct cov_err *e, const char *fmt, ...)
{
    char text[sizeof e->text];
    va_list list;
    va_start(list, fmt);
    (void)vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    return r->n_lines > 0
               ? cov_fail(e, COV_EINPUT, "%s:%" PRId64 ": %s", r->path, r->n_lines, text)
               : cov_fail(e, COV_EINPUT, "%s: record %" PRId64 ": %s", r->path, r->n_read, text);
}

/* Fails because htslib cannot read on. */
static int fail_read(const struct cov_variants *r, struct cov_err *e)
{
    const htsFile *f = r->file;
    if (cov_bgz_is_unreadable(f))
        return cov_fail_errno(e, "%s", r->path);
    const char *fault = f->is_bgzf ? cov_bgz_fault(f->fp.bgzf) : NULL;
    return cov_variants_fail(r, e, "damaged or truncated: %s",
                             fault ? fault : "the data cannot be read");
}

/* Checks the number of columns of r->line, after dropping blanks at its end. */
static int check_line(struct cov_variants *r, struct cov_err *e)
{
    const size_t most =
        (size_t)(r->n_samples > 0 ? COV_VCF_HAS_FORMAT + r->n_samples : COV_VCF_LAST_FIXED);
    if (memchr(r->line.s, '\0', r->line.l))
        return cov_variants_fail(r, e, "zero byte");
    trim(r, " \r");
    size_t n = cov_vcf_line_columns(r->line.s, r->line.l);
    for (; n > most && r->line.s[r->line.l - 1] == '\t'; n--) {
        r->line.s[--r->line.l] = '\0';
        trim(r, " \r");
    }
    if (n < COV_VCF_LAST_FIXED)
        return cov_variants_fail(r, e, "truncated: %zu of at least %d columns", n,
                                 COV_VCF_LAST_FIXED);
    if (r->n_samples > 0 && n != most)
        return cov_variants_fail(r, e, "%zu columns, but the header has %zu", n, most);
    /* htslib gives each value as much memory as the widest of its field. */
    const size_t widest = r->genotypes && r->n_samples > 0 ? cov_vcf_line_widest(r->line.s) : 0;
    return widest == 0 || widest <= 2 * r->most / (size_t)r->n_samples
               ? COV_OK
               : cov_variants_fail(r, e, "%zu bytes per sample, times %d samples, are too much",
                                   widest, r->n_samples);
}

static bool has_texts(bcf1_t *b)
{
    return b->n_allele > 0 && bcf_unpack(b, BCF_UN_STR) == 0 && b->d.id && b->d.als && b->d.allele;
}
/* Returns true if ID, REF and ALT of the record are as long as wanted. */
static bool has_lengths(const bcf1_t *b, const size_t wanted[3])
{
    size_t n = b->n_allele > 1 ? 0 : 1;
    for (uint32_t i = 1; i < b->n_allele; i++)
        n += strlen(b->d.allele[i]) + (i > 1);
    return strlen(b->d.id) == wanted[0] && strlen(b->d.allele[0]) == wanted[1] && n == wanted[2];
}

/* Parses the line. When memory runs out, htslib may return a record with other fields. */
static int parse_line(struct cov_variants *r, bcf1_t *b, struct cov_err *e)
{
    size_t n[5];
    const char *field = r->line.s;
    for (size_t i = 0; i < COV_COUNT(n); i++, field++)
        field += n[i] = strcspn(field, "\t");
    if (vcf_parse(&r->line, r->header, b) != 0)
        return cov_variants_fail(r, e, "not a VCF record");
    /* cov_variants_next refuses a record without alleles */
    return !has_texts(b) || has_lengths(b, n + 2)
               ? COV_OK
               : cov_variants_fail(r, e, "htslib has read other fields; memory may be short");
}

/* Reads the next line that is not blank. Returns 1, 0 at the end, or a failure. */
static int read_line(struct cov_variants *r, struct cov_variant *v, struct cov_err *e)
{
    int got;
    do {
        got = read_text(r);
        r->n_lines++;
    } while (got > 0 && strspn(r->line.s, " \t\r") == r->line.l);
    if (got == 0)
        return 0;
    if (got == COV_BGZ_TOO_LONG)
        return fail_long(r, r->n_lines, e);
    if (got < 0)
        return fail_read(r, e);
    r->n_read++;
    int rc = check_line(r, e);
    if (!rc && r->genotypes && r->n_samples > 0 && cov_vcf_line_has_signs(r->line.s))
        r->n_signs += cov_vcf_line_drop_signs(r->line.s, &r->line.l);
    if (!rc)
        rc = parse_line(r, v->record, e);
    return rc ? rc : 1;
}

/* A record begins with the bytes of its two parts. */
static int check_bcf(struct cov_variants *r, struct cov_err *e)
{
    uint32_t n[2];
    if (!cov_bgz_peek_block(r->file->fp.bgzf, n, sizeof n))
        return COV_OK;
    if ((uint64_t)n[0] + n[1] <= r->most)
        return COV_OK;
    r->n_read++;
    return cov_variants_fail(r, e, "more than %zu MiB", r->most >> MB_SHIFT);
}

/* htslib expects as many samples as in the header, and reads past the end of records with fewer. */
static int read_bcf(struct cov_variants *r, struct cov_variant *v, struct cov_err *e)
{
    int rc = check_bcf(r, e);
    if (rc)
        return rc;
    const int got = bcf_read(r->file, r->header, v->record), n = bcf_hdr_nsamples(r->header);
    if (got == -1)
        return 0;
    r->n_read++;
    if (got < 0)
        return fail_read(r, e);
    return (int)v->record->n_sample == n
               ? 1
               : cov_variants_fail(r, e, "%d samples, but the header has %d",
                                   (int)v->record->n_sample, n);
}

int cov_variants_next(struct cov_variants *r, struct cov_variant *v, struct cov_err *e)
{
    bcf1_t *b = v->record;
    const int got = r->n_lines > 0 ? read_line(r, v, e) : read_bcf(r, v, e);
    if (got <= 0)
        return got;
    /* htslib adds names that the header lacks. */
    if (b->errcode & ~(BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF))
        return cov_variants_fail(r, e, "not a valid record");
    if (!has_texts(b))
        return cov_variants_fail(r, e, "no alleles");
    v->contig = bcf_seqname_safe(r->header, b);
    v->id = b->d.id && *b->d.id ? b->d.id : ".";
    v->pos = b->pos;
    v->n_alleles = b->n_allele;
    v->alleles = b->d.allele;
    v->number = r->n_read;
    v->header = r->header;
    return 1;
}

static const bcf_info_t *find_info(const struct cov_variant *v, const char *name)
{
    const bcf_info_t *f = v->record ? bcf_get_info(v->header, v->record, name) : NULL;
    return f && f->vptr && f->len > 0 ? f : NULL;
}

bool cov_variant_info_text(const struct cov_variant *v, const char *name, size_t i, size_t n,
                           const char **text, size_t *n_text)
{
    const bcf_info_t *f = find_info(v, name);
    if (!f || f->type != BCF_BT_CHAR)
        return false;
    const char *p = (const char *)f->vptr, *end = p + strnlen(p, (size_t)f->len);
    size_t k = 0;
    *n_text = 0;
    for (const char *comma = p; comma && k <= n; p = comma + 1, k++) {
        comma = memchr(p, ',', (size_t)(end - p));
        if (k == i) {
            *text = p;
            *n_text = (size_t)((comma ? comma : end) - p);
        }
        if (!comma)
            break;
    }
    return k + 1 == n && *n_text > 0 && !(*n_text == 1 && **text == '.');
}

bool cov_variant_info_integer(const struct cov_variant *v, const char *name, size_t i, size_t n,
                              int64_t *out)
{
    const bcf_info_t *f = find_info(v, name);
    const char *text;
    size_t n_text;
    uint8_t *unused;
    if (f && f->type == BCF_BT_CHAR) { /* the header does not declare it as an integer */
        if (!cov_variant_info_text(v, name, i, n, &text, &n_text))
            return false;
        const bool minus = *text == '-';
        const bool valid = cov_text_position(text + minus, n_text - minus, out);
        *out = valid && minus ? -*out : *out;
        return valid;
    }
    if (!f || (size_t)f->len != n)
        return false;
    /* The lowest numbers of a type stand for missing values. */
    const int64_t least = f->type == BCF_BT_INT8    ? bcf_int8_vector_end
                          : f->type == BCF_BT_INT16 ? bcf_int16_vector_end
                          : f->type == BCF_BT_INT32 ? bcf_int32_vector_end
                                                    : INT64_MAX;
    if (least == INT64_MAX)
        return false;
    *out = bcf_dec_int1(f->vptr + i * ((size_t)1 << bcf_type_shift[f->type]), f->type, &unused);
    return *out > least;
}

bool cov_variant_is_declared(const struct cov_variant *v)
{
    return v->record->errcode == 0;
}

int64_t cov_variants_length(const struct cov_variants *r, const char *contig)
{
    const int id = bcf_hdr_name2id(r->header, contig);
    return id < 0 ? 0 : (int64_t)r->header->id[BCF_DT_CTG][id].val->info[0];
}

int64_t cov_variants_n_signs(const struct cov_variants *r)
{
    return r->n_signs;
}

/* ---------------------------------------------------------------- genotypes */

size_t cov_variants_n_samples(const struct cov_variants *r)
{
    return (size_t)bcf_hdr_nsamples(r->header);
}

const char *cov_variants_sample(const struct cov_variants *r, size_t sample)
{
    return r->header->samples[sample];
}

void cov_genotypes_fini(struct cov_genotypes *g)
{
    free(g->alleles);
    free(g->sets);
    *g = (struct cov_genotypes){0};
}

/* htslib exits if a BCF has another type. */
static bool is_integer(const struct cov_variants *r, const struct cov_variant *v, const char *name)
{
    const bcf_fmt_t *f = bcf_get_fmt(r->header, v->record, name);
    return !f || f->type == BCF_BT_INT8 || f->type == BCF_BT_INT16 || f->type == BCF_BT_INT32;
}

/* What bcf_get_format_values returns. */
enum { NOT_IN_HEADER = -1, OTHER_TYPE = -2, ABSENT = -3, MEMORY = -4 };

/* Numbers phase sets whose names are text. Equal texts get equal numbers, and others the same number
 * once in 2^31 times. */
static int number_sets(const bcf_fmt_t *f, struct cov_genotypes *g, struct cov_err *e)
{
    const size_t most = f->n > 0 ? (size_t)f->n : 0;
    size_t cap = g->cap_sets > 0 ? (size_t)g->cap_sets : 0;
    int rc = COV_RESERVE(&g->sets, &cap, g->n_samples, e);
    if (rc)
        return rc;
    g->cap_sets = cap < INT_MAX ? (int)cap : INT_MAX;
    g->n_sets = (int)g->n_samples;
    for (size_t s = 0; s < g->n_samples; s++) {
        const char *text = (const char *)f->p + s * (size_t)f->size;
        const size_t n = strnlen(text, most);
        const bool is_missing = n == 0 || (n == 1 && *text == '.') || *text == bcf_str_missing;
        const uint64_t number = cov_fingerprint(0, text, n) % INT32_MAX;
        g->sets[s] = is_missing ? 0 : (int32_t)number + 1;
    }
    return COV_OK;
}

/* Reads the phase sets, which some programs name by text. */
static int read_sets(struct cov_variants *r, struct cov_variant *v, struct cov_genotypes *g,
                     struct cov_err *e)
{
    const bcf_fmt_t *f = bcf_get_fmt(r->header, v->record, "PS");
    g->n_sets = 0;
    if (!f)
        return COV_OK;
    if (f->type == BCF_BT_CHAR)
        return number_sets(f, g, e);
    if (is_integer(r, v, "PS"))
        g->n_sets = bcf_get_format_int32(r->header, v->record, "PS", &g->sets, &g->cap_sets);
    else
        g->n_sets = OTHER_TYPE;
    if (g->n_sets == MEMORY)
        return cov_fail(e, COV_ENOMEM, "%s: out of memory for genotypes", r->path);
    return g->n_sets != OTHER_TYPE
               ? COV_OK
               : cov_variants_fail(r, e, "FORMAT/PS is neither an integer nor text");
}

int cov_variants_genotypes(struct cov_variants *r, struct cov_variant *v, struct cov_genotypes *g,
                           struct cov_err *e)
{
    g->n_samples = cov_variants_n_samples(r);
    g->ploidy = 0;
    if (!is_integer(r, v, "GT"))
        return cov_variants_fail(r, e, "FORMAT/GT is not a genotype");
    const int n = bcf_get_genotypes(r->header, v->record, &g->alleles, &g->n_alleles);
    if (n == MEMORY)
        return cov_fail(e, COV_ENOMEM, "%s: out of memory for genotypes", r->path);
    if (n == 0 || n == ABSENT || n == NOT_IN_HEADER)
        return COV_OK;
    if (n < 0)
        return cov_variants_fail(r, e, "FORMAT/GT is not a string");
    int rc = read_sets(r, v, g, e);
    if (rc)
        return rc;
    g->ploidy = (size_t)n / g->n_samples;
    for (int i = 0; i < n; i++)
        if (g->alleles[i] != bcf_int32_vector_end && !bcf_gt_is_missing(g->alleles[i]) &&
            (g->alleles[i] < 0 || (size_t)bcf_gt_allele(g->alleles[i]) >= v->n_alleles))
            return cov_variants_fail(r, e, "a genotype has an allele that the record lacks");
    return COV_OK;
}

int32_t cov_genotypes_allele(const struct cov_genotypes *g, size_t sample, size_t copy)
{
    const int32_t code = g->alleles[sample * g->ploidy + copy];
    return code == bcf_int32_vector_end || bcf_gt_is_missing(code) ? -1 : bcf_gt_allele(code);
}

enum cov_phase cov_genotypes_phase(const struct cov_genotypes *g, size_t sample, int32_t *set)
{
    const int32_t *codes = g->alleles + sample * g->ploidy;
    bool equal = true, phased = true;
    for (size_t i = 1; i < g->ploidy && codes[i] != bcf_int32_vector_end; i++) {
        equal = equal && bcf_gt_allele(codes[i]) == bcf_gt_allele(codes[0]);
        phased = phased && bcf_gt_is_phased(codes[i]);
    }
    const size_t stride = g->n_sets > 0 ? (size_t)g->n_sets / g->n_samples : 0;
    const int32_t found = stride > 0 ? g->sets[sample * stride] : 0;
    *set = found > 0 ? found : 0; /* missing values are negative */
    return equal ? COV_PHASE_EQUAL : phased ? COV_PHASE_SET : COV_PHASE_NONE;
}

/* ---------------------------------------------------------------- writing */

struct cov_variant_file {
    htsFile *file;
    struct cov_variants *from;
    char *path;
};

void cov_variant_file_free(struct cov_variant_file *f)
{
    if (!f)
        return;
    if (f->file)
        (void)hts_close(f->file); /* incomplete anyway */
    free(f->path);
    free(f);
}

static int fail_write(const struct cov_variant_file *f, struct cov_err *e)
{
    errno = errno ? errno : EIO;
    return cov_fail_errno(e, "%s", f->path);
}

int cov_variant_file_open(const char *path, enum cov_variant_format format,
                          struct cov_variants *from, struct cov_variant_file **out,
                          struct cov_err *e)
{
    static const char *const modes[] = {
        [COV_VARIANTS_VCF] = "w", [COV_VARIANTS_VCF_GZ] = "wz", [COV_VARIANTS_BCF] = "wb"};
    *out = NULL;
    struct cov_variant_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    *f = (struct cov_variant_file){.from = from, .path = cov_strdup(path, e)};
    int rc = f->path ? COV_OK : COV_ENOMEM;
    errno = 0;
    if (!rc) {
        f->file = hts_open(path, modes[format]);
        if (!f->file || bcf_hdr_write(f->file, from->header) != 0)
            rc = fail_write(f, e);
    }
    if (rc)
        cov_variant_file_free(f);
    else
        *out = f;
    return rc;
}

/* htslib may ignore that memory runs out. A byte takes up to 5 in the line, a name less than 1000. */
int cov_variant_file_put(struct cov_variant_file *f, struct cov_variant *v, const char *value,
                         struct cov_err *e)
{
    bcf1_t *b = v->record;
    struct cov_variants *r = f->from;
    const size_t n = value ? strlen(value) : 0;
    b->errcode = 0; /* a VCF may have what its header lacks */
    const bool added = bcf_update_info_string(r->header, b, r->field, value) == 0 &&
                       bcf_unpack(b, BCF_UN_ALL) == 0;
    const size_t n_names = (size_t)b->n_info + b->n_fmt;
    const bcf_info_t *info = value && added ? bcf_get_info(r->header, b, r->field) : NULL;
    if (!added ||
        (value && (!info || (size_t)info->len != n || memcmp(info->vptr, value, n) != 0)) ||
        ks_resize(&f->file->line, n + 8 * (b->shared.l + b->indiv.l) + 1000 * (10 + n_names)) != 0)
        return cov_fail(e, COV_ENOMEM, "%s: record %" PRId64 ": cannot add INFO/%s", r->path,
                        v->number, r->field);
    errno = 0;
    return bcf_write(f->file, r->header, b) == 0 ? COV_OK : fail_write(f, e);
}

int cov_variant_file_close(struct cov_variant_file *f, struct cov_err *e)
{
    errno = 0;
    const int rc = hts_close(f->file);
    f->file = NULL;
    return rc == 0 ? COV_OK : fail_write(f, e);
}
