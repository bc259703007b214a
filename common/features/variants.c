/* variants.c - see variants.h.
 *
 * Lines of a VCF are read, counted and checked here before htslib parses them: it accepts lines that
 * end early, and lines of any length, which a small compressed file can have.
 * SPDX-License-Identifier: MIT */
#include "common/features/variants.h"

#include <errno.h>
#include <htslib/vcf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

enum { LAST_FIXED = 8, HAS_FORMAT = 9 }; /* columns of a VCF */

/* Enough for a million samples. */
#define MAX_LINE_MB 64
#define MAX_HEADER_MB 256

struct cov_variants {
    char *path;  /* for messages */
    char *field; /* the INFO field; NULL: none */
    htsFile *file;
    bcf_hdr_t *header;
    kstring_t line;
    int n_samples;   /* in the header */
    int64_t n_lines; /* of the header and the records so far; 0 in a BCF */
    int64_t n_read;
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

/* Returns true, with errno set, if the operating system is the reason that reading failed. */
static bool is_unreadable(const htsFile *f)
{
    int number = f->is_bgzf ? cov_bgz_errno(f->fp.bgzf, NULL) : cov_bgz_errno(NULL, f->fp.hfile);
    errno = number;
    return number != 0;
}

static int refuse(const struct cov_variants *r, const char *path, struct cov_err *e)
{
    const enum cov_kind kind =
        cov_path_is_std(path) ? COV_KIND_UNKNOWN : cov_kind_of_file(path, NULL);
    if (cov_path_is_std(path))
        return cov_fail(e, COV_EINPUT, "%s: neither VCF nor BCF", r->path);
    if (kind == COV_KIND_VCF)
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
    if (is_local && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return cov_fail(e, COV_EINPUT, "%s: empty file", r->path);
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
    if (r->file->format.format != vcf && r->file->format.format != bcf)
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
    const size_t most = (size_t)MAX_LINE_MB << 20;
    if (r->file->is_bgzf)
        return cov_bgz_next_line(r->file->fp.bgzf, most, &r->line);
    const int got = hts_getline(r->file, '\n', &r->line);
    return got < -1 ? -1 : got == -1 ? 0 : r->line.l > most ? COV_BGZ_TOO_LONG : 1;
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

/* Sets r->header from the lines that begin with '#'. Leaves it NULL if there is a fault. */
static int read_vcf_header(struct cov_variants *r, struct cov_err *e)
{
    kstring_t text = KS_INITIALIZE;
    int got = 1, rc = COV_OK;
    bool complete = false;
    while (!rc && !complete && (got = read_text(r)) > 0 && r->line.l > 0 && r->line.s[0] == '#') {
        r->n_lines++;
        complete = r->line.l > 1 && r->line.s[1] != '#';
        if (kputsn(r->line.s, r->line.l, &text) < 0 || kputc('\n', &text) < 0)
            rc = cov_fail(e, COV_ENOMEM, "out of memory");
        else if (text.l >> 20 >= MAX_HEADER_MB)
            rc = cov_fail(e, COV_EINPUT, "%s: header of more than %d MiB", r->path, MAX_HEADER_MB);
    }
    if (!rc && !complete && got == COV_BGZ_TOO_LONG)
        rc = cov_fail(e, COV_EINPUT, "%s:%" PRId64 ": line of more than %d MiB", r->path,
                      r->n_lines + 1, MAX_LINE_MB);
    if (!rc && complete && !memchr(text.s, '\0', text.l)) {
        r->header = bcf_hdr_init("r");
        if (r->header && bcf_hdr_parse(r->header, text.s) != 0) {
            bcf_hdr_destroy(r->header);
            r->header = NULL;
        }
    }
    ks_free(&text);
    return rc;
}

static int read_header(struct cov_variants *r, const struct cov_variant_field *field,
                       bool genotypes, struct cov_err *e)
{
    int rc = COV_OK;
    if (r->file->format.format == vcf)
        rc = read_vcf_header(r, e);
    else
        r->header = bcf_hdr_read(r->file);
    if (rc)
        return rc;
    if (!r->header && is_unreadable(r->file))
        return cov_fail_errno(e, "%s", r->path);
    if (!r->header)
        return cov_fail(e, COV_EINPUT, "%s: damaged or truncated header", r->path);
    r->n_samples = bcf_hdr_nsamples(r->header);
    if (field)
        return add_field(r, field, e);
    if (!genotypes && bcf_hdr_set_samples(r->header, NULL, 0) != 0)
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
    int rc = r->path ? open_file(r, path, e) : COV_ENOMEM;
    if (!rc)
        rc = read_header(r, field, genotypes, e);
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
    if (is_unreadable(f))
        return cov_fail_errno(e, "%s", r->path);
    const char *fault = f->is_bgzf ? cov_bgz_fault(f->fp.bgzf) : NULL;
    return cov_variants_fail(r, e, "damaged or truncated: %s",
                             fault ? fault : "the data cannot be read");
}

/* Checks the number of columns of r->line. */
static int check_line(const struct cov_variants *r, struct cov_err *e)
{
    const char *end = r->line.s + r->line.l;
    int n = 1;
    if (memchr(r->line.s, '\0', r->line.l))
        return cov_variants_fail(r, e, "zero byte");
    for (const char *p = r->line.s; (p = memchr(p, '\t', (size_t)(end - p))); p++)
        n++;
    if (n < LAST_FIXED)
        return cov_variants_fail(r, e, "truncated: %d of at least %d columns", n, LAST_FIXED);
    if (r->n_samples > 0 && n != HAS_FORMAT + r->n_samples)
        return cov_variants_fail(r, e, "%d columns, but the header has %d", n,
                                 HAS_FORMAT + r->n_samples);
    return COV_OK;
}

/* Reads the next line that is not blank. Returns 1, 0 at the end, or a failure. */
static int read_line(struct cov_variants *r, struct cov_variant *v, struct cov_err *e)
{
    int got;
    do {
        got = read_text(r);
        r->n_lines++;
    } while (got > 0 && r->line.l == 0);
    if (got == 0)
        return 0;
    if (got == COV_BGZ_TOO_LONG)
        return cov_variants_fail(r, e, "line of more than %d MiB", MAX_LINE_MB);
    if (got < 0)
        return fail_read(r, e);
    r->n_read++;
    int rc = check_line(r, e);
    if (rc)
        return rc;
    return vcf_parse(&r->line, r->header, v->record) == 0
               ? 1
               : cov_variants_fail(r, e, "not a VCF record");
}

static int read_bcf(struct cov_variants *r, struct cov_variant *v, struct cov_err *e)
{
    const int got = bcf_read(r->file, r->header, v->record);
    if (got == -1)
        return 0;
    r->n_read++;
    return got < 0 ? fail_read(r, e) : 1;
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
    if (b->n_allele == 0 || bcf_unpack(b, BCF_UN_STR) != 0)
        return cov_variants_fail(r, e, "no alleles");
    v->contig = bcf_seqname_safe(r->header, b);
    v->id = b->d.id && *b->d.id ? b->d.id : ".";
    v->pos = b->pos;
    v->n_alleles = b->n_allele;
    v->alleles = b->d.allele;
    v->number = r->n_read;
    return 1;
}

bool cov_variant_is_declared(const struct cov_variant *v)
{
    return v->record->errcode == 0;
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

int cov_variants_genotypes(struct cov_variants *r, struct cov_variant *v, struct cov_genotypes *g,
                           struct cov_err *e)
{
    enum {
        NOT_IN_HEADER = -1,
        OTHER_TYPE = -2,
        ABSENT = -3,
        MEMORY = -4
    }; /* bcf_get_format_values */
    g->n_samples = cov_variants_n_samples(r);
    g->ploidy = 0;
    const int n = bcf_get_genotypes(r->header, v->record, &g->alleles, &g->n_alleles);
    g->n_sets =
        n > 0 ? bcf_get_format_int32(r->header, v->record, "PS", &g->sets, &g->cap_sets) : 0;
    if (n == MEMORY || g->n_sets == MEMORY)
        return cov_fail(e, COV_ENOMEM, "%s: out of memory for genotypes", r->path);
    if (n == 0 || n == ABSENT || n == NOT_IN_HEADER)
        return COV_OK;
    if (n < 0 || g->n_sets == OTHER_TYPE)
        return cov_variants_fail(
            r, e, n < 0 ? "FORMAT/GT is not a string" : "FORMAT/PS is not an integer");
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

bool cov_variant_format_of(const char *path, enum cov_variant_format *format)
{
    static const char *const suffixes[] = {[COV_VARIANTS_VCF] = ".vcf",
                                           [COV_VARIANTS_VCF_GZ] = ".vcf.gz",
                                           [COV_VARIANTS_BCF] = ".bcf"};
    for (size_t i = 0; i < COV_COUNT(suffixes); i++)
        if (cov_path_has_suffix(path, suffixes[i])) {
            *format = (enum cov_variant_format)i;
            return true;
        }
    return false;
}

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
    if (errno == 0)
        errno = EIO;
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

int cov_variant_file_put(struct cov_variant_file *f, struct cov_variant *v, const char *value,
                         struct cov_err *e)
{
    bcf1_t *b = v->record;
    struct cov_variants *r = f->from;
    b->errcode = 0; /* a VCF may have what its header lacks */
    if (bcf_update_info_string(r->header, b, r->field, value) != 0)
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
