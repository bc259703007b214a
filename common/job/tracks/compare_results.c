/* compare_results.c - see compare_results.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/compare_results.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/file/table.h"

/* ---------------------------------------------------------------- table */

static void put_head(const struct cov_comparison_options *o, FILE *f)
{
    (void)fputs("sample\tdataset\tcontig\tbases", f);
    for (size_t k = 0; k < o->n_bin_sizes; k++)
        (void)fprintf(f, "\tbins_%" PRId64 "\tpearson_%" PRId64 "\tspearman_%" PRId64,
                      o->bin_sizes[k], o->bin_sizes[k], o->bin_sizes[k]);
    if (o->has_peaks)
        (void)fputs("\tpeaks\tpeaks_measured\tpeak_bases\tpeak_bases_measured\tpeak_bases_both"
                    "\tprecision\trecall\tf1",
                    f);
    (void)fputc('\n', f);
}

/* Prints a row; `contig` is NULL for the total. The first column is different in each row. */
static void put_row(const struct cov_compare_results *r, const char *dataset, const char *contig,
                    const struct cov_comparison_row *row, FILE *f)
{
    cov_table_put_text(r->stem, f);
    if (dataset) {
        (void)fputc('_', f);
        cov_table_put_text(dataset, f);
    }
    if (contig) {
        (void)fputc(':', f);
        cov_table_put_text(contig, f);
    }
    (void)fputc('\t', f);
    cov_table_put_text(dataset ? dataset : "NA", f);
    (void)fputc('\t', f);
    cov_table_put_text(contig ? contig : "total", f);
    (void)fprintf(f, "\t%" PRId64, row->bases);
    for (size_t k = 0; k < r->options->n_bin_sizes; k++) {
        const struct cov_agreement *a = &row->agreements[k];
        (void)fprintf(f, "\t%" PRIu64, a->n);
        cov_table_put_number(a->pearson, f);
        cov_table_put_number(a->spearman, f);
    }
    if (r->options->has_peaks) {
        const struct cov_peak_counts *c = &row->peaks;
        (void)fprintf(f, "\t%zu\t%zu\t%" PRId64 "\t%" PRId64 "\t%" PRId64, c->n, c->n_measured,
                      c->bases, c->bases_measured, c->both);
        cov_table_put_number(cov_peak_precision(c), f);
        cov_table_put_number(cov_peak_recall(c), f);
        cov_table_put_number(cov_peak_f1(c), f);
    }
    (void)fputc('\n', f);
}

void cov_compare_print_table(const struct cov_compare_results *r, FILE *f)
{
    put_head(r->options, f);
    for (size_t k = 0; k < r->n; k++) {
        struct cov_comparison *c = r->comparisons[k];
        for (size_t i = 0; i < cov_comparison_n_rows(c); i++) {
            const struct cov_comparison_row *row = cov_comparison_row(c, i);
            put_row(r, r->datasets[k], cov_track_contig_name(cov_comparison_sink(c), row->contig),
                    row, f);
        }
        put_row(r, r->datasets[k], NULL, cov_comparison_total(c), f);
    }
}

/* Columns of correlations in the short table, which a terminal must hold. */
enum { SHORT_BINS = 4 };

static void put_score(double x, int width, FILE *f)
{
    if (isnan(x))
        (void)fprintf(f, "  %*s", width, "NA");
    else
        (void)fprintf(f, "  %*.3f", width, x);
}

void cov_compare_print_totals(const struct cov_compare_results *r, FILE *f)
{
    const struct cov_comparison_options *o = r->options;
    const size_t n_bins = o->n_bin_sizes < SHORT_BINS ? o->n_bin_sizes : SHORT_BINS;
    int widths[SHORT_BINS], first = (int)strlen("dataset");
    for (size_t k = 0; k < r->n; k++) {
        int n = (int)strlen(r->datasets[k] ? r->datasets[k] : r->stem);
        first = n > first ? n : first;
    }
    (void)fprintf(f, "%-*s  %14s", first, "dataset", "bases");
    for (size_t i = 0; i < n_bins; i++)
        widths[i] = fprintf(f, "  pearson_%" PRId64, o->bin_sizes[i]) - 2;
    (void)fputs(o->has_peaks ? "  precision  recall     f1\n" : "\n", f);
    for (size_t k = 0; k < r->n; k++) {
        const char *name = r->datasets[k] ? r->datasets[k] : r->stem;
        const struct cov_comparison_row *row = cov_comparison_total(r->comparisons[k]);
        cov_table_put_text(name, f);
        (void)fprintf(f, "%*s  %14" PRId64, first - (int)strlen(name), "", row->bases);
        for (size_t i = 0; i < n_bins; i++)
            put_score(row->agreements[i].pearson, widths[i], f);
        if (o->has_peaks) {
            put_score(cov_peak_precision(&row->peaks), (int)strlen("precision"), f);
            put_score(cov_peak_recall(&row->peaks), (int)strlen("recall"), f);
            put_score(cov_peak_f1(&row->peaks), 5, f);
        }
        (void)fputc('\n', f);
    }
}

/* ---------------------------------------------------------------- JSON */

static void print_row(const struct cov_comparison_options *o, const struct cov_comparison_row *row,
                      struct cov_json *json)
{
    cov_json_int(json, "bases", row->bases);
    cov_json_begin_array(json, "bins");
    for (size_t k = 0; k < o->n_bin_sizes; k++) {
        const struct cov_agreement *a = &row->agreements[k];
        cov_json_begin_object(json, NULL);
        cov_json_int(json, "size", o->bin_sizes[k]);
        cov_json_int(json, "n", (int64_t)a->n);
        cov_json_double(json, "pearson", a->pearson);
        cov_json_double(json, "spearman", a->spearman);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
    if (!o->has_peaks)
        return;
    const struct cov_peak_counts *c = &row->peaks;
    cov_json_begin_object(json, "peaks");
    cov_json_int(json, "n", (int64_t)c->n);
    cov_json_int(json, "n_measured", (int64_t)c->n_measured);
    cov_json_int(json, "bases", c->bases);
    cov_json_int(json, "bases_measured", c->bases_measured);
    cov_json_int(json, "bases_both", c->both);
    cov_json_double(json, "precision", cov_peak_precision(c));
    cov_json_double(json, "recall", cov_peak_recall(c));
    cov_json_double(json, "f1", cov_peak_f1(c));
    cov_json_end_object(json);
}

static void print_outliers(struct cov_comparison *c, struct cov_json *json)
{
    const struct cov_outliers *o = cov_comparison_outliers(c);
    const struct cov_track_sink *sink = cov_comparison_sink(c);
    cov_json_begin_object(json, "outliers");
    cov_json_double(json, "pearson", o->pearson);
    cov_json_double(json, "pearson_without", o->pearson_without);
    cov_json_begin_array(json, "regions");
    for (size_t i = 0; i < o->n_found; i++) {
        const struct cov_outlier *found = &o->found[i];
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "contig", cov_track_contig_name(sink, found->contig));
        cov_json_int(json, "beg", found->beg);
        cov_json_int(json, "end",
                     cov_outlier_end(found, cov_track_contig_length(sink, found->contig)));
        cov_json_double(json, "mean_measured", found->mean);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
    cov_json_end_object(json);
}

static void print_track(const struct cov_compare_results *r, size_t k, struct cov_json *json)
{
    struct cov_comparison *c = r->comparisons[k];
    cov_json_begin_object(json, NULL);
    cov_json_string(json, "dataset", r->datasets[k]);
    cov_json_begin_object(json, "total");
    print_row(r->options, cov_comparison_total(c), json);
    cov_json_end_object(json);
    print_outliers(c, json);
    cov_json_begin_array(json, "contigs");
    for (size_t i = 0; i < cov_comparison_n_rows(c); i++) {
        const struct cov_comparison_row *row = cov_comparison_row(c, i);
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "contig", cov_track_contig_name(cov_comparison_sink(c), row->contig));
        print_row(r->options, row, json);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
    cov_json_end_object(json);
}

void cov_compare_print_json(const struct cov_compare_results *r, struct cov_json *json)
{
    cov_json_begin_object(json, "comparison");
    cov_json_string(json, "measured", r->measured_path);
    cov_json_double(json, "peak_cutoff",
                    r->options->has_peaks ? (double)r->options->peaks.cutoff : (double)NAN);
    cov_json_double(json, "measured_cutoff",
                    r->options->has_peaks ? (double)r->options->measured_cutoff : (double)NAN);
    cov_json_begin_array(json, "tracks");
    for (size_t k = 0; k < r->n; k++)
        print_track(r, k, json);
    cov_json_end_array(json);
    cov_json_end_object(json);
}

const struct cov_stats_plot cov_compare_plot = {
    .type = COV_STATS_BARS,
    .name = "correlation",
    .section = "Correlation with measured coverage",
    .description = "Pearson's r of prediction and measurement, by the size of the bins.",
    .axis = "Pearson's r",
};

/* Adds the totals of dataset k as figures. */
static int add_totals(const struct cov_compare_results *r, size_t k, struct cov_stats *stats,
                      struct cov_err *e)
{
    const struct cov_comparison_row *row = cov_comparison_total(r->comparisons[k]);
    const char *part = r->datasets[k];
    int rc = COV_OK;
    for (size_t i = 0; i < 2 * r->options->n_bin_sizes && !rc; i++) {
        const int64_t bin = r->options->bin_sizes[i / 2];
        const bool is_pearson = i % 2 == 0;
        struct cov_stats_figure f = {.decimals = 3,
                                     .is_score = true,
                                     .is_hidden = i > 0,
                                     .value = is_pearson ? row->agreements[i / 2].pearson
                                                         : row->agreements[i / 2].spearman};
        (void)snprintf(f.name, sizeof f.name, "%s_%" PRId64, is_pearson ? "pearson" : "spearman",
                       bin);
        (void)snprintf(f.title, sizeof f.title, "%s, %" PRId64 " bp", is_pearson ? "r" : "rho",
                       bin);
        (void)snprintf(f.description, sizeof f.description,
                       "%s of prediction and measurement in bins of %" PRId64 " bp",
                       is_pearson ? "Pearson's r" : "Spearman's rho", bin);
        if (is_pearson)
            (void)snprintf(f.bar, sizeof f.bar, "%" PRId64 " bp", bin);
        rc = cov_stats_add_figure(stats, part, &f, e);
    }
    const struct cov_peak_counts *c = &row->peaks;
    const bool has_peaks = r->options->has_peaks;
    const struct cov_outliers *outliers = cov_comparison_outliers(r->comparisons[k]);
    const struct cov_stats_figure others[] = {
        {"pearson_without_outliers", "r without outliers",
         "Pearson's r of single bases without places of extreme measured coverage",
         .bar = "1 bp, without outliers", .decimals = 3, .is_score = true,
         .value = outliers->pearson_without},
        {"outliers", "Outliers", "places of extreme measured coverage, such as rDNA and organelles",
         .is_hidden = true, .value = (double)outliers->n_found},
        {"precision", "Precision",
         "share of the bases in predicted peaks that are in measured ones", .decimals = 3,
         .is_score = true, .value = has_peaks ? cov_peak_precision(c) : (double)NAN},
        {"recall", "Recall", "share of the bases in measured peaks that are in predicted ones",
         .decimals = 3, .is_score = true, .value = has_peaks ? cov_peak_recall(c) : (double)NAN},
        {"f1", "F1", "harmonic mean of precision and recall", .decimals = 3, .is_score = true,
         .value = has_peaks ? cov_peak_f1(c) : (double)NAN},
    };
    if (!rc)
        rc = cov_stats_add_figures(stats, part, others, COV_COUNT(others), e);
    return rc;
}

int cov_compare_add_figures(const struct cov_compare_results *r, struct cov_stats *stats,
                            struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < r->n; k++)
        rc = add_totals(r, k, stats, e);
    return rc;
}
