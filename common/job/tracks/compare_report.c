/* compare_report.c - see compare_report.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/compare_report.h"

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------- table */

/* Names come from files: one must not begin another column or line. */
static void put_text(const char *text, FILE *f)
{
    for (const char *p = text; *p; p++)
        (void)fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, f);
}

static void put_number(double x, FILE *f)
{
    if (isnan(x))
        (void)fputs("\tNA", f);
    else
        (void)fprintf(f, "\t%.9g", x);
}

static void put_head(const struct cov_compare_report *r, FILE *f)
{
    (void)fputs("sample\tdataset\tcontig\tbases", f);
    for (size_t k = 0; k < r->options->n_bin_sizes; k++) {
        int64_t size = r->options->bin_sizes[k];
        (void)fprintf(f, "\tbins_%" PRId64 "\tpearson_%" PRId64 "\tspearman_%" PRId64, size, size,
                      size);
    }
    if (r->options->has_threshold)
        (void)fputs("\tpeaks\tpeaks_measured\tpeak_bases\tpeak_bases_measured\tpeak_bases_both"
                    "\tprecision\trecall\tf1",
                    f);
    (void)fputc('\n', f);
}

/* `contig` is NULL for all. */
static void put_row(const struct cov_compare_report *r, const struct cov_compare_track *t,
                    const char *contig, const struct cov_comparison_row *row, FILE *f)
{
    put_text(r->stem, f);
    if (t->dataset) {
        (void)fputc('_', f);
        put_text(t->dataset, f);
    }
    if (contig) {
        (void)fputc(':', f);
        put_text(contig, f);
    }
    (void)fputc('\t', f);
    put_text(t->dataset ? t->dataset : "NA", f);
    (void)fputc('\t', f);
    put_text(contig ? contig : "total", f);
    (void)fprintf(f, "\t%" PRId64, row->bases);
    for (size_t k = 0; k < r->options->n_bin_sizes; k++) {
        const struct cov_agreement *a = &row->agreements[k];
        (void)fprintf(f, "\t%" PRIu64, a->n);
        put_number(a->pearson, f);
        put_number(a->spearman, f);
    }
    if (r->options->has_threshold) {
        const struct cov_peak_counts *c = &row->peaks;
        (void)fprintf(f, "\t%zu\t%zu\t%" PRId64 "\t%" PRId64 "\t%" PRId64, c->n, c->n_measured,
                      c->bases, c->bases_measured, c->both);
        put_number(cov_peak_precision(c), f);
        put_number(cov_peak_recall(c), f);
        put_number(cov_peak_f1(c), f);
    }
    (void)fputc('\n', f);
}

void cov_compare_print_table(const struct cov_compare_report *r, FILE *f)
{
    put_head(r, f);
    for (size_t i = 0; i < r->n_tracks; i++) {
        struct cov_comparison *c = r->tracks[i].comparison;
        for (size_t k = 0; k < cov_comparison_n_rows(c); k++) {
            const struct cov_comparison_row *row = cov_comparison_row(c, k);
            put_row(r, &r->tracks[i], cov_track_contig_name(cov_comparison_sink(c), row->contig),
                    row, f);
        }
        put_row(r, &r->tracks[i], NULL, cov_comparison_total(c), f);
    }
}

/* ---------------------------------------------------------------- JSON */

static void print_row(const struct cov_compare_report *r, const struct cov_comparison_row *row,
                      struct cov_json *j)
{
    cov_json_int(j, "bases", row->bases);
    cov_json_begin_array(j, "bins");
    for (size_t k = 0; k < r->options->n_bin_sizes; k++) {
        const struct cov_agreement *a = &row->agreements[k];
        cov_json_begin_object(j, NULL);
        cov_json_int(j, "size", r->options->bin_sizes[k]);
        cov_json_int(j, "n", (int64_t)a->n);
        cov_json_double(j, "pearson", a->pearson);
        cov_json_double(j, "spearman", a->spearman);
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
    if (!r->options->has_threshold)
        return;
    const struct cov_peak_counts *c = &row->peaks;
    cov_json_begin_object(j, "peaks");
    cov_json_int(j, "n", (int64_t)c->n);
    cov_json_int(j, "n_measured", (int64_t)c->n_measured);
    cov_json_int(j, "bases", c->bases);
    cov_json_int(j, "bases_measured", c->bases_measured);
    cov_json_int(j, "bases_both", c->both);
    cov_json_double(j, "precision", cov_peak_precision(c));
    cov_json_double(j, "recall", cov_peak_recall(c));
    cov_json_double(j, "f1", cov_peak_f1(c));
    cov_json_end_object(j);
}

static void print_track(const struct cov_compare_report *r, const struct cov_compare_track *t,
                        struct cov_json *j)
{
    struct cov_comparison *c = t->comparison;
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "dataset", t->dataset);
    cov_json_begin_object(j, "total");
    print_row(r, cov_comparison_total(c), j);
    cov_json_end_object(j);
    cov_json_begin_array(j, "contigs");
    for (size_t i = 0; i < cov_comparison_n_rows(c); i++) {
        const struct cov_comparison_row *row = cov_comparison_row(c, i);
        cov_json_begin_object(j, NULL);
        cov_json_string(j, "contig", cov_track_contig_name(cov_comparison_sink(c), row->contig));
        print_row(r, row, j);
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
    cov_json_end_object(j);
}

void cov_compare_print_json(const struct cov_compare_report *r, struct cov_json *j)
{
    cov_json_begin_object(j, "comparison");
    cov_json_string(j, "measured", r->measured);
    cov_json_double(j, "peak_threshold",
                    r->options->has_threshold ? (double)r->options->threshold : (double)NAN);
    cov_json_begin_array(j, "tracks");
    for (size_t i = 0; i < r->n_tracks; i++)
        print_track(r, &r->tracks[i], j);
    cov_json_end_array(j);
    cov_json_end_object(j);
}

/* ---------------------------------------------------------------- figures */

static int add_track(const struct cov_compare_report *r, const struct cov_compare_track *t,
                     struct cov_stats *stats, struct cov_err *e)
{
    const struct cov_comparison_row *row = cov_comparison_total(t->comparison);
    const char *part = r->n_tracks > 1 ? t->dataset : NULL;
    int rc = COV_OK;
    for (size_t k = 0; k < r->options->n_bin_sizes && !rc; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, "pearson_%" PRId64, r->options->bin_sizes[k]);
        rc = cov_stats_add_figure(stats, part, name, "Pearson's r in bins of that many bases", 3,
                                  row->agreements[k].pearson, e);
        (void)snprintf(name, sizeof name, "spearman_%" PRId64, r->options->bin_sizes[k]);
        if (!rc)
            rc =
                cov_stats_add_figure(stats, part, name, "Spearman's rho in bins of that many bases",
                                     3, row->agreements[k].spearman, e);
    }
    if (rc || !r->options->has_threshold)
        return rc;
    const struct cov_peak_counts *c = &row->peaks;
    rc = cov_stats_add_figure(stats, part, "precision",
                              "share of the bases in predicted peaks that are in measured ones", 3,
                              cov_peak_precision(c), e);
    if (!rc)
        rc = cov_stats_add_figure(stats, part, "recall",
                                  "share of the bases in measured peaks that are in predicted ones",
                                  3, cov_peak_recall(c), e);
    if (!rc)
        rc = cov_stats_add_figure(stats, part, "f1", "harmonic mean of precision and recall", 3,
                                  cov_peak_f1(c), e);
    return rc;
}

int cov_compare_add_figures(const struct cov_compare_report *r, struct cov_stats *stats,
                            struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < r->n_tracks && !rc; i++)
        rc = add_track(r, &r->tracks[i], stats, e);
    return rc;
}
