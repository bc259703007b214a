/* effect_output.c - see effect_output.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/bgz.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/track/formats/bigwig.h"

enum { BUFFER = 1 << 16 };

#define SPECIAL ",;=|%:" /* characters of names that are written as in VCF 4.3 */

#define FIELD                                                                                      \
    "Predicted effect of each alternative allele, for each dataset and width: "                    \
    "ALLELE|DATASET|WIDTH|ALLELE1_PRED_COUNTS|ALLELE2_PRED_COUNTS|LOGFC|JSD|MAX_ABS_DIFF|"         \
    "MAX_ABS_DIFF_POS"
/* What options add to a row, in this order: columns of the table, and names in the description of the
 * field. */
enum { EXTRA_SD, EXTRA_P, EXTRA_QUANTILES, EXTRA_HAPLOTYPES, EXTRA_GENES, EXTRAS };
static const struct {
    const char *columns, *field;
    size_t n_numbers; /* before text */
} extra_columns[EXTRAS] = {
    [EXTRA_SD] =
        {"\tallele1_pred_counts_sd\tallele2_pred_counts_sd\tlogfc_sd\tabs_logfc_sd\tjsd_sd\t"
         "max_abs_diff_sd",
         "|ALLELE1_PRED_COUNTS_SD|ALLELE2_PRED_COUNTS_SD|LOGFC_SD|ABS_LOGFC_SD|JSD_SD|"
         "MAX_ABS_DIFF_SD",
         COV_EFFECT_SPREADS},
    [EXTRA_P] = {"\tlogfc.pval\tabs_logfc.pval\tjsd.pval", "|LOGFC_PVAL|ABS_LOGFC_PVAL|JSD_PVAL",
                 COV_EFFECT_RANKS},
    [EXTRA_QUANTILES] = {"\tabs_logfc.quantile\tjsd.quantile", "|ABS_LOGFC_QUANTILE|JSD_QUANTILE",
                         COV_EFFECT_QUANTILES},
    [EXTRA_HAPLOTYPES] = {"\treference_pred_counts\thaplotype_logfc\thaplotypes",
                          "|REFERENCE_PRED_COUNTS|HAPLOTYPE_LOGFC|HAPLOTYPES", 2},
    [EXTRA_GENES] = {"\tgene\tgene_distance", "|GENE|GENE_DISTANCE", 0},
};

static bool has_extra(const struct cov_effect_options *o, size_t extra)
{
    const bool has[EXTRAS] = {[EXTRA_SD] = o->sd,
                              [EXTRA_P] = o->n_shuffles > 0,
                              [EXTRA_QUANTILES] = o->n_background > 0,
                              [EXTRA_HAPLOTYPES] = o->haplotypes,
                              [EXTRA_GENES] = o->genes};
    return has[extra];
}

bool cov_effect_format_of(const char *path, enum cov_variant_format *format)
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

struct cov_variant_field cov_effect_field(const struct cov_effect_options *options,
                                          char text[COV_EFFECT_FIELD_TEXT])
{
    size_t n = (size_t)snprintf(text, COV_EFFECT_FIELD_TEXT, "%s", FIELD);
    for (size_t i = 0; i < EXTRAS; i++)
        if (has_extra(options, i))
            n +=
                (size_t)snprintf(text + n, COV_EFFECT_FIELD_TEXT - n, "%s", extra_columns[i].field);
    return (struct cov_variant_field){"COVEFFECT", text};
}

struct cov_effect_output {
    struct cov_arena memory; /* of the names */
    const struct cov_effect_options *o;
    const struct cov_effect_extras *extras;
    struct cov_bgz *table; /* one of these two */
    struct cov_variant_file *file;
    char **datasets, **samples; /* names as the format allows them */
    char *haps;                 /* haplotypes of the row. Owned */
    size_t n_haps, cap_haps;
    char *text; /* lines that are not written yet, or the value of the field. Owned */
    size_t n, cap;
    /* The first failure to put text during a call, after which nothing is put, and its description. */
    int rc;
    struct cov_err *e;
};

static void put_text(struct cov_effect_output *o, const char *format, ...) COV_PRINTF(2, 3);

static void put_text(struct cov_effect_output *o, const char *format, ...)
{
    va_list list;
    if (o->rc)
        return;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    o->rc = n < 0 ? cov_fail_errno(o->e, "output")
                  : COV_RESERVE(&o->text, &o->cap, o->n + (size_t)n + 1, o->e);
    if (o->rc)
        return;
    va_start(list, format);
    n = vsnprintf(o->text + o->n, o->cap - o->n, format, list);
    va_end(list);
    o->n += n > 0 ? (size_t)n : 0;
}

static int flush_text(struct cov_effect_output *o, struct cov_err *e)
{
    const size_t n = o->n;
    o->n = 0;
    return cov_bgz_write(o->table, o->text, n, e);
}

/* ---------------------------------------------------------------- names */

/* Writes a name in which the characters that separate values of an INFO field are written as in VCF 4.3,
 * "%2C"; in a table (`special` is ""), control characters become '?'. Returns to, of at most MOST_SAFE
 * bytes for each of the name, and a zero. */
enum { MOST_SAFE = 3 };
static char *write_safe(char *to, const char *name, const char *special)
{
    char *end = to;
    for (const char *p = name; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (*special && (c <= ' ' || c == 0x7f || strchr(special, c)))
            end += snprintf(end, MOST_SAFE + 1, "%%%02X", c);
        else
            *end++ = c < ' ' || c == 0x7f ? '?' : *p;
    }
    *end = '\0';
    return to;
}

static char *safe_name(struct cov_arena *memory, const char *name, const char *special)
{
    char *text = cov_arena_calloc(memory, strlen(name) + 1, MOST_SAFE);
    return text ? write_safe(text, name, special) : NULL;
}

static int copy_names(struct cov_effect_output *o, bool is_table, struct cov_err *e)
{
    const struct cov_effect_options *p = o->o;
    const struct cov_haplotypes *haplotypes = o->extras->haplotypes;
    const size_t n_samples = cov_haplotypes_n_samples(haplotypes);
    struct cov_arena *m = &o->memory;
    o->datasets = cov_arena_calloc(m, p->n_datasets, sizeof *o->datasets);
    o->samples = cov_arena_calloc(m, n_samples, sizeof *o->samples);
    for (size_t d = 0; o->datasets && d < p->n_datasets; d++)
        o->datasets[d] = safe_name(m, p->model->datasets[p->datasets[d]], is_table ? "" : SPECIAL);
    for (size_t s = 0; o->samples && s < n_samples; s++)
        o->samples[s] =
            safe_name(m, cov_haplotypes_sample(haplotypes, s), is_table ? "" : SPECIAL "&");
    return cov_arena_check(m, e);
}

/* ---------------------------------------------------------------- opening */

int cov_effect_output_open(const char *path, const struct cov_effect_options *options,
                           const struct cov_effect_extras *extras, struct cov_variants *from,
                           struct cov_effect_output **out, struct cov_err *e)
{
    *out = NULL;
    enum cov_variant_format format;
    const bool is_table = !cov_effect_format_of(options->output, &format);
    struct cov_effect_output *o = cov_calloc(1, sizeof *o, e);
    if (!o)
        return COV_ENOMEM;
    o->o = options;
    o->extras = extras;
    int rc = copy_names(o, is_table, e);
    if (!rc && is_table)
        rc = cov_bgz_open_write(
            path, cov_path_has_suffix(options->output, ".gz") ? COV_BGZ_DEFLATE : COV_BGZ_PLAIN, 1,
            &o->table, e);
    else if (!rc)
        rc = cov_variant_file_open(path, format, from, &o->file, e);
    o->rc = rc;
    o->e = e;
    if (is_table)
        put_text(o, "chr\tpos\tvariant_id\tallele1\tallele2\tdataset\twidth\tallele1_pred_counts\t"
                    "allele2_pred_counts\tlogfc\tabs_logfc\tjsd\tmax_abs_diff\tmax_abs_diff_pos");
    for (size_t i = 0; is_table && i < EXTRAS; i++)
        if (has_extra(options, i))
            put_text(o, "%s", extra_columns[i].columns);
    if (is_table)
        put_text(o, "\n");
    rc = o->rc;
    if (rc)
        cov_effect_output_free(o);
    else
        *out = o;
    return rc;
}

void cov_effect_output_free(struct cov_effect_output *o)
{
    if (!o)
        return;
    cov_bgz_abort(o->table);
    cov_variant_file_free(o->file);
    cov_arena_fini(&o->memory);
    free(o->haps);
    free(o->text);
    free(o);
}

int cov_effect_output_close(struct cov_effect_output *o, struct cov_err *e)
{
    int rc = o->table ? flush_text(o, e) : COV_OK;
    if (!rc && o->table) {
        rc = cov_bgz_close(o->table, e);
        o->table = NULL;
    } else if (!rc) {
        rc = cov_variant_file_close(o->file, e);
    }
    return rc;
}

/* ---------------------------------------------------------------- records */

static void put_number(struct cov_effect_output *o, double x)
{
    const char *separator = o->table ? "\t" : "|";
    if (isnan(x))
        put_text(o, "%s%s", separator, o->table ? "NA" : ".");
    else
        put_text(o, "%s%.9g", separator, x);
}

static void put_numbers(struct cov_effect_output *o, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_number(o, x[i]);
}

/* Writes the haplotypes of a row to o->haps: "\tSAMPLE:1,SAMPLE:2" in a table, "|SAMPLE:1&SAMPLE:2" in a
 * field. There may be millions, and the row is repeated for each dataset and width. */
static int write_haplotypes(struct cov_effect_output *o, const struct cov_effect_record *record,
                            const struct cov_effect_row *row, struct cov_err *e)
{
    enum { MOST = 16 }; /* characters that are not of a name */
    const struct cov_haplotype *haps = record->rows.haps + row->haps;
    const char *none = o->table ? "\tNA" : "|.";
    o->n_haps = 0;
    if (!o->extras->haplotypes)
        return COV_OK;
    for (size_t i = 0; i < row->n_haps; i++) {
        const char *name = o->samples[haps[i].sample];
        const size_t n = strlen(name);
        int rc = COV_RESERVE(&o->haps, &o->cap_haps, o->n_haps + n + MOST, e);
        if (rc)
            return rc;
        o->haps[o->n_haps++] = i == 0 ? *none : o->table ? ',' : '&';
        memcpy(o->haps + o->n_haps, name, n);
        o->n_haps += n;
        o->haps[o->n_haps++] = ':';
        if (haps[i].copy < 9) /* much faster */
            o->haps[o->n_haps++] = (char)('1' + haps[i].copy);
        else
            o->n_haps +=
                (size_t)snprintf(o->haps + o->n_haps, MOST - 2, "%" PRIu32, haps[i].copy + 1);
    }
    int rc = row->n_haps ? COV_OK : COV_RESERVE(&o->haps, &o->cap_haps, MOST, e);
    if (!rc && row->n_haps == 0) {
        o->n_haps = strlen(none);
        memcpy(o->haps, none, o->n_haps);
    }
    return rc;
}

static void put_haplotypes(struct cov_effect_output *o)
{
    if (!o->rc)
        o->rc = COV_RESERVE(&o->text, &o->cap, o->n + o->n_haps + 1, o->e);
    if (o->rc)
        return;
    memcpy(o->text + o->n, o->haps, o->n_haps);
    o->n += o->n_haps;
    o->text[o->n] = '\0';
}

/* Puts the feature that is nearest to the bases which an allele replaces. */
static void put_gene(struct cov_effect_output *o, const struct cov_effect_record *record,
                     const struct cov_effect_row *row)
{
    enum { LONGEST = 255 };
    const struct cov_variant *v = &record->variant;
    const int64_t end = v->pos + (int64_t)record->alleles.items[row->allele].n_ref;
    const char *separator = o->table ? "\t" : "|", *none = o->table ? "NA" : ".";
    char text[LONGEST * MOST_SAFE + 1];
    size_t i;
    int64_t distance;
    if (!cov_nearest_find(o->extras->nearest, v->contig, v->pos, end, &i, &distance)) {
        put_text(o, "%s%s%s%s", separator, none, separator, none);
        return;
    }
    const char *name = cov_annotation_name(&o->extras->genes, i);
    put_text(o, "%s%s%s%" PRId64, separator,
             *name ? write_safe(text, name, o->table ? "" : SPECIAL) : ".", separator, distance);
}

/* Puts what options add to a row; `s`: its scores of a dataset and width, which are column `column`; NULL:
 * none. */
static void put_more(struct cov_effect_output *o, const struct cov_effect_record *record,
                     const struct cov_effect_row *row, const struct cov_effect_score *s,
                     size_t column)
{
    const struct cov_effect_options *p = o->o;
    for (size_t i = 0; !s && i < EXTRAS; i++)
        for (size_t k = 0; has_extra(p, i) && k < extra_columns[i].n_numbers; k++)
            put_number(o, (double)NAN);
    if (s && p->sd)
        put_numbers(o, s->sd, COV_EFFECT_SPREADS);
    for (size_t i = 0; s && p->n_shuffles > 0 && i < COV_EFFECT_RANKS; i++)
        put_number(o, cov_effect_p_value(s, (enum cov_effect_rank)i, p->n_shuffles));
    for (size_t i = 0; s && p->n_background > 0 && i < COV_EFFECT_QUANTILES; i++)
        put_number(o, cov_effect_background_quantile(o->extras->background, column,
                                                     (enum cov_effect_quantile)i, s));
    if (s && p->haplotypes) {
        const bool plain = row->n_edits == 0;
        const double reference = plain ? s->counts[0] : s->reference;
        put_number(o, reference);
        put_number(o, plain ? s->logfc : cov_effect_logfc(reference, s->counts[1]));
    }
    if (p->haplotypes)
        put_haplotypes(o);
    if (p->genes)
        put_gene(o, record, row);
}

/* Puts a row of the table for a dataset and width. */
static void put_table_row(struct cov_effect_output *o, const struct cov_effect_record *record,
                          const struct cov_effect_row *row, const struct cov_effect_score *s,
                          size_t column)
{
    enum { NUMBERS = 7 };
    const struct cov_variant *v = &record->variant;
    const bool is_scored = row->status == COV_ALLELE_SCORED;
    put_text(o, "%s\t%" PRId64 "\t%s\t%s\t%s\t%s\t%" PRId64, v->contig, v->pos + 1, v->id,
             v->alleles[0], v->alleles[row->allele + 1], o->datasets[column / o->o->n_widths],
             o->o->widths[column % o->o->n_widths]);
    if (is_scored) {
        const double x[] = {s->counts[0],   s->counts[1], s->logfc,
                            fabs(s->logfc), s->jsd,       s->max_diff};
        put_numbers(o, x, COV_COUNT(x));
        put_text(o, "\t%" PRId64, record->alleles.beg + (int64_t)s->max_at + 1);
    }
    for (size_t i = 0; !is_scored && i < NUMBERS; i++)
        put_number(o, (double)NAN);
    put_more(o, record, row, is_scored ? s : NULL, column);
    put_text(o, "\n");
    if (!o->rc && o->n >= BUFFER)
        o->rc = flush_text(o, o->e);
}

/* The same in the field. */
static void put_field(struct cov_effect_output *o, const struct cov_effect_record *record,
                      const struct cov_effect_row *row, const struct cov_effect_score *s,
                      size_t column)
{
    const double x[] = {s->counts[0], s->counts[1], s->logfc, s->jsd, s->max_diff};
    put_text(o, "%s%s|%s|%" PRId64, o->n > 0 ? "," : "", record->variant.alleles[row->allele + 1],
             o->datasets[column / o->o->n_widths], o->o->widths[column % o->o->n_widths]);
    put_numbers(o, x, COV_COUNT(x));
    put_text(o, "|%" PRId64, record->alleles.beg + (int64_t)s->max_at + 1);
    put_more(o, record, row, s, column);
}

int cov_effect_output_put(struct cov_effect_output *o, struct cov_effect_record *record,
                          struct cov_err *e)
{
    const struct cov_effect_rows *rows = &record->rows;
    const struct cov_effect_score *s = record->scores;
    const size_t n = o->o->n_datasets * o->o->n_widths;
    o->rc = COV_OK;
    o->e = e;
    o->n = o->table ? o->n : 0;
    for (size_t i = 0; !o->rc && i < rows->n; i++, s += n) {
        const struct cov_effect_row *row = &rows->rows[i];
        if (!o->table && row->status != COV_ALLELE_SCORED)
            continue;
        o->rc = write_haplotypes(o, record, row, e);
        for (size_t k = 0; !o->rc && k < n; k++)
            (o->table ? put_table_row : put_field)(o, record, row, &s[k], k);
    }
    return o->rc || o->table
               ? o->rc
               : cov_variant_file_put(o->file, &record->variant, o->n > 0 ? o->text : NULL, e);
}

/* ---------------------------------------------------------------- tracks */

enum { REFERENCE, ALTERNATIVE, DIFFERENCE, KINDS };

struct cov_effect_tracks {
    const struct cov_effect_options *o;
    struct cov_newdir directory;
    struct cov_interval *intervals; /* [L] */
};

int cov_effect_tracks_open(const struct cov_effect_options *options, struct cov_effect_tracks **out,
                           struct cov_err *e)
{
    *out = NULL;
    struct cov_effect_tracks *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->o = options;
    t->directory = (struct cov_newdir){0};
    t->intervals = cov_calloc(options->window, sizeof *t->intervals, e);
    int rc = t->intervals ? cov_newdir_make(&t->directory, options->tracks, e) : COV_ENOMEM;
    if (rc)
        cov_effect_tracks_free(t);
    else
        *out = t;
    return rc;
}

void cov_effect_tracks_free(struct cov_effect_tracks *t)
{
    if (!t)
        return;
    cov_newdir_fini(&t->directory);
    free(t->intervals);
    free(t);
}

size_t cov_effect_tracks_count(const struct cov_effect_options *options, size_t n)
{
    return n * options->n_datasets * KINDS;
}

/* Copies at most n characters; what may be special in a file name becomes '_'. Returns to. */
static char *safe(char *to, const char *text, size_t n)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
    size_t i = 0;
    for (; i < n && text[i]; i++)
        to[i] = strchr(plain, text[i]) ? text[i] : '_';
    to[i] = '\0';
    return to;
}

/* Returns "DIR/NUMBER.ALLELE_CONTIG_POS_REF_ALT_DATASET_KIND.bw"; the numbers make it unique. */
static char *track_path(const struct cov_effect_tracks *t, const struct cov_variant *v,
                        size_t allele, const char *dataset, int kind, struct cov_err *e)
{
    enum { NAME = 60, BASES = 12 };
    static const char *const kinds[KINDS] = {"ref", "alt", "diff"};
    char contig[NAME + 1], ref[BASES + 1], alt[BASES + 1], set[NAME + 1];
    char *file =
        cov_strfmt(e, "%" PRId64 ".%zu_%s_%" PRId64 "_%s_%s_%s_%s.bw", v->number, allele + 1,
                   safe(contig, v->contig, NAME), v->pos + 1, safe(ref, v->alleles[0], BASES),
                   safe(alt, v->alleles[allele + 1], BASES), safe(set, dataset, NAME), kinds[kind]);
    char *path = file ? cov_path_join(t->o->tracks, file, e) : NULL;
    free(file);
    return path;
}

/* Sets the intervals of a track, and returns their number. `values` has the values of the dataset,
 * each D after the value of the position before. */
static size_t fill_track(const struct cov_effect_tracks *t, const struct cov_alleles *p,
                         size_t allele, const struct cov_effect_values *values, size_t dataset,
                         int kind)
{
    const size_t D = t->o->model->n_datasets;
    const size_t n_ref = p->items[allele].n_ref, n_alt = p->items[allele].n;
    const size_t both = p->at + (n_ref < n_alt ? n_ref : n_alt);
    size_t n = 0;
    for (size_t i = 0; i < values->n_bases[0]; i++) {
        const size_t k = i < both ? i : i - n_ref + n_alt; /* its place with the change */
        const float ref = values->values[0][i * D + dataset];
        struct cov_interval *to = &t->intervals[n];
        *to = (struct cov_interval){p->beg + (int64_t)i, p->beg + (int64_t)i + 1, ref};
        if (kind != REFERENCE && ((i >= both && i < p->at + n_ref) || k >= values->n_bases[1]))
            continue;
        if (kind != REFERENCE)
            to->value = values->values[1][k * D + dataset] - (kind == DIFFERENCE ? ref : 0);
        n++;
    }
    return n;
}

static int write_track(const struct cov_effect_tracks *t, const struct cov_alleles *p, size_t n,
                       const char *path, struct cov_err *e)
{
    const struct cov_genome *g = t->o->genome;
    const char *name = g->names[p->seq];
    const struct cov_track_contigs contigs = {1, &name, &g->lengths[p->seq]};
    const struct cov_bigwig_options options = {.pool = NULL};
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_track_sink *sink = NULL;
    int rc = cov_outfile_begin(&out, path, COV_OUTFILE_BIGWIG, t->o->force || t->o->resume, e);
    if (!rc)
        rc = cov_bigwig_open(out.tmp, out.path, &contigs, &options, &sink, e);
    if (!rc)
        rc = cov_track_begin(sink, 0, e);
    if (!rc)
        rc = cov_track_add(sink, t->intervals, n, e);
    if (!rc)
        rc = cov_track_close(sink, e);
    cov_track_free(sink);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_outfile_end(&out, e);
    return rc;
}

static int check_track(const char *path, struct cov_err *e)
{
    return access(path, F_OK) == 0
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "%s: missing, but its variant is finished; put the file back, or use -f "
                          "without --resume to start over",
                          path);
}

int cov_effect_tracks_put(struct cov_effect_tracks *t, const struct cov_effect_record *record,
                          struct cov_err *e)
{
    const struct cov_effect_options *o = t->o;
    const struct cov_alleles *p = &record->alleles;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < p->n_alleles * o->n_datasets * KINDS; i++) {
        const int kind = (int)(i % KINDS);
        const size_t d = o->datasets[i / KINDS % o->n_datasets], a = i / KINDS / o->n_datasets;
        if (p->items[a].status != COV_ALLELE_SCORED)
            continue;
        char *path = track_path(t, &record->variant, a, o->model->datasets[d], kind, e);
        if (!path)
            rc = COV_ENOMEM;
        else if (record->done)
            rc = check_track(path, e);
        else
            rc = write_track(t, p, fill_track(t, p, a, &record->values[a], d, kind), path, e);
        free(path);
    }
    return rc;
}
