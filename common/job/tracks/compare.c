/* compare.c - see track_jobs.h. Reads the measured tracks first and stores them, because the contigs
 * of the input may be in a different order; then compares the input as it is read.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/job/tracks/track_jobs.h"
#include "common/plot/table_outputs.h"
#include "common/track/formats/intervals.h"
#include "common/track/measures/comparison.h"

/* Lives until --stats has been printed. */
struct compare_job {
    struct cov_compare_options *o;
    const char *input;
    struct cov_source_options measured_options;
    char *stem, *dir;
    struct cov_pool *pool;
    struct cov_track_source *source, *measured;
    /* Datasets present in both. */
    size_t n;
    struct cov_interval_store **stores;
    struct cov_comparison **comparisons; /* [n] */
    struct cov_track_sink **sinks;       /* [n]: the comparisons */
    struct cov_table_outputs out;
    const char *const *datasets; /* [n]: names for the table; NULL: none */
};

/* ---------------------------------------------------------------- options */

static int check_options(const struct cov_compare_options *o, struct cov_err *e)
{
    const struct cov_convert_options *input = &o->input;
    struct stat st;
    bool is_url = cov_path_is_url(o->measured);
    if (input->has_kind || input->basename)
        return cov_fail(e, COV_EUSAGE,
                        "--%s is for tracks in an output directory; --measured writes a table",
                        input->has_kind ? "format" : "basename");
    if (input->output && cov_path_names_dir(input->output))
        return cov_fail(e, COV_EUSAGE, "%s: is a directory; --measured writes a table to a file",
                        input->output);
    int rc = input->output ? cov_outfile_check_name(input->output, COV_OUTFILE_TABLE, e) : COV_OK;
    if (!rc && !is_url && stat(o->measured, &st) != 0)
        return cov_fail_errno(e, "%s", o->measured);
    if (!rc && !is_url && !S_ISREG(st.st_mode))
        return cov_fail(e, COV_EINPUT, "--measured %s: not a regular file", o->measured);
    return rc;
}

/* Chooses how to read the measured file. If a genome file is compared with a track, --datasets and
 * --strand apply to the genome file; otherwise to both. */
static int choose_options(struct compare_job *j, bool is_track, struct cov_err *e)
{
    enum cov_intervals_kind kind;
    struct cov_source_options *o = &j->measured_options, *input = &j->o->input.source;
    int rc = cov_intervals_detect(j->o->measured, &kind, e);
    if (rc)
        return rc;
    o->values = (struct cov_value_rules){.scale = 1, .unrounded = true};
    if (kind != COV_INTERVALS_NONE)
        return COV_OK;
    o->measured = true;
    o->strand = input->strand;
    if (is_track) {
        o->datasets = input->datasets;
        input->datasets.n = 0;
        input->strand = COV_STRAND_AVG;
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- work */

static bool can_open(const char *path, bool measured)
{
    const struct cov_source_options o = {
        .measured = measured, .values = {.scale = 1, .unrounded = true}, .quiet = true};
    struct cov_track_source *s = NULL;
    bool can = cov_track_source_open_path(path, &o, 1, &s, NULL) == COV_OK;
    cov_track_source_close(s);
    return can;
}

/* Adds to the message of a failure that the two files are in each other's place. */
static void hint_at_swap(const struct compare_job *j, struct cov_err *e)
{
    const char *input = j->input;
    if (!e || e->code != COV_EINPUT || cov_path_is_std(input) || !can_open(j->o->measured, false) ||
        !can_open(input, true))
        return;
    cov_err_append(e, "; swap them: --measured %s %s", input, j->o->measured);
}

static int open_files(struct compare_job *j, unsigned n_threads, struct cov_err *e)
{
    struct cov_source_input in = {0};
    int rc = cov_source_input_detect(j->input, &in, e);
    if (!rc)
        rc = choose_options(j, in.is_track, e);
    /* Opening HDF5 forks, so the input that is opened first must not start threads. */
    if (!rc)
        rc = cov_track_source_open_path(j->o->measured, &j->measured_options, 1, &j->measured, e);
    if (!rc)
        rc = cov_track_source_open(&in, &j->o->input.source, n_threads, &j->source, e);
    cov_source_input_close(&in);
    if (rc)
        hint_at_swap(j, e);
    if (!rc)
        rc = cov_other_match(j->source, j->measured, j->o->input.source.datasets.n > 0, e);
    j->n = rc ? 0 : j->source->n_datasets;
    return rc;
}

static int read_measured(struct compare_job *j, struct cov_progress *progress,
                         struct cov_stats *stats, struct cov_err *e)
{
    const struct cov_job job = {j->pool, progress, stats};
    int rc = cov_other_store(j->source, j->measured, j->dir, "measured", &job, j->stores, e);
    return rc ? rc : cov_track_source_describe(j->measured, stats, e);
}

/* Checks the contigs of the first dataset; all datasets have the same. */
static int check_contigs(const struct compare_job *j, struct cov_err *e)
{
    return cov_other_check_contigs(j->source, &j->comparisons[0]->sink, j->measured, j->stores[0],
                                   j->o->input.source.blacklist_path, e);
}

static int compare(struct compare_job *j, struct cov_progress *progress, struct cov_stats *stats,
                   struct cov_err *e)
{
    const struct cov_track_contigs *contigs = j->source->contigs;
    int rc = COV_OK;
    struct cov_comparison_options *o = &j->o->comparison;
    o->max_bytes = COV_COMPARE_MEMORY / j->n;
    o->dir = j->dir;
    o->pool = j->pool;
    for (size_t k = 0; !rc && k < j->n; k++) {
        const double denominators[] = {cov_track_source_denominator(j->source, k),
                                       cov_track_source_denominator(j->measured, k)};
        rc = cov_comparison_new(j->source->name, contigs, j->stores[k], denominators, o,
                                &j->comparisons[k], e);
        if (rc)
            break;
        j->sinks[k] = &j->comparisons[k]->sink;
    }
    const struct cov_job job = {j->pool, progress, stats};
    if (!rc)
        rc = cov_track_source_describe(j->source, stats, e);
    if (!rc && contigs)
        rc = check_contigs(j, e);
    if (!rc)
        rc = cov_track_source_run(j->source, j->sinks, "comparing", &job, e);
    return rc || contigs ? rc : check_contigs(j, e);
}

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
static void put_row(const struct compare_job *j, const char *dataset, const char *contig,
                    const struct cov_comparison_row *row, FILE *f)
{
    cov_table_put_text(j->stem, f);
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
    for (size_t k = 0; k < j->o->comparison.n_bin_sizes; k++) {
        const struct cov_agreement *a = &row->agreements[k];
        (void)fprintf(f, "\t%" PRIu64, a->n);
        cov_table_put_number(a->pearson, f);
        cov_table_put_number(a->spearman, f);
    }
    if (j->o->comparison.has_peaks) {
        const struct cov_peak_counts *c = &row->peaks;
        (void)fprintf(f, "\t%zu\t%zu\t%" PRId64 "\t%" PRId64 "\t%" PRId64, c->n, c->n_measured,
                      c->bases, c->bases_measured, c->both);
        cov_table_put_number(cov_peak_precision(c), f);
        cov_table_put_number(cov_peak_recall(c), f);
        cov_table_put_number(cov_peak_f1(c), f);
    }
    (void)fputc('\n', f);
}

static void print_table(const void *arg, FILE *f)
{
    const struct compare_job *j = arg;
    put_head(&j->o->comparison, f);
    for (size_t k = 0; k < j->n; k++) {
        struct cov_comparison *c = j->comparisons[k];
        for (size_t i = 0; i < c->n_rows; i++) {
            const struct cov_comparison_row *row = &c->rows[i];
            put_row(j, j->datasets[k], cov_track_contig_name(&c->sink, row->contig), row, f);
        }
        put_row(j, j->datasets[k], NULL, &c->total, f);
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

static void print_totals(const void *arg, FILE *f)
{
    const struct compare_job *j = arg;
    const struct cov_comparison_options *o = &j->o->comparison;
    const size_t n_bins = o->n_bin_sizes < SHORT_BINS ? o->n_bin_sizes : SHORT_BINS;
    int widths[SHORT_BINS], first = (int)strlen("dataset");
    for (size_t k = 0; k < j->n; k++) {
        int n = (int)strlen(j->datasets[k] ? j->datasets[k] : j->stem);
        first = n > first ? n : first;
    }
    (void)fprintf(f, "%-*s  %14s", first, "dataset", "bases");
    for (size_t i = 0; i < n_bins; i++)
        widths[i] = fprintf(f, "  pearson_%" PRId64, o->bin_sizes[i]) - 2;
    (void)fputs(o->has_peaks ? "  precision  recall     f1\n" : "\n", f);
    for (size_t k = 0; k < j->n; k++) {
        const char *name = j->datasets[k] ? j->datasets[k] : j->stem;
        const struct cov_comparison_row *row = &j->comparisons[k]->total;
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
    const struct cov_outliers *o = &c->outliers;
    const struct cov_track_sink *sink = &c->sink;
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

static void print_track(const struct compare_job *j, size_t k, struct cov_json *json)
{
    struct cov_comparison *c = j->comparisons[k];
    cov_json_begin_object(json, NULL);
    cov_json_string(json, "dataset", j->datasets[k]);
    cov_json_begin_object(json, "total");
    print_row(&j->o->comparison, &c->total, json);
    cov_json_end_object(json);
    print_outliers(c, json);
    cov_json_begin_array(json, "contigs");
    for (size_t i = 0; i < c->n_rows; i++) {
        const struct cov_comparison_row *row = &c->rows[i];
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "contig", cov_track_contig_name(&c->sink, row->contig));
        print_row(&j->o->comparison, row, json);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
    cov_json_end_object(json);
}

static void print_json(struct cov_json *json, const void *arg)
{
    const struct compare_job *j = arg;
    cov_json_begin_object(json, "comparison");
    cov_json_string(json, "measured", j->o->measured);
    cov_json_double(json, "peak_cutoff",
                    j->o->comparison.has_peaks ? (double)j->o->comparison.peaks.cutoff
                                               : (double)NAN);
    cov_json_double(json, "measured_cutoff",
                    j->o->comparison.has_peaks ? (double)j->o->comparison.measured_cutoff
                                               : (double)NAN);
    cov_json_begin_array(json, "tracks");
    for (size_t k = 0; k < j->n; k++)
        print_track(j, k, json);
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
static int add_totals(const struct compare_job *j, size_t k, struct cov_stats *stats,
                      struct cov_err *e)
{
    const struct cov_comparison_row *row = &j->comparisons[k]->total;
    const char *part = j->datasets[k];
    int rc = COV_OK;
    for (size_t i = 0; i < 2 * j->o->comparison.n_bin_sizes && !rc; i++) {
        const int64_t bin = j->o->comparison.bin_sizes[i / 2];
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
    const bool has_peaks = j->o->comparison.has_peaks;
    const struct cov_outliers *outliers = &j->comparisons[k]->outliers;
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

/* ---------------------------------------------------------------- checks of the result */

/* Warn if less than this share of the bases is compared. */
#define MUCH 0.9

/* Warns if extreme measured coverage decides Pearson's r of dataset k. */
static void warn_of_outliers(const struct compare_job *j, size_t k)
{
    struct cov_comparison *c = j->comparisons[k];
    const struct cov_outliers *o = &c->outliers;
    const struct cov_track_sink *sink = &c->sink;
    const char *dataset = j->datasets[k];
    char about[512];
    struct cov_listing regions = {0};
    for (size_t i = 0; i < o->n_found; i++)
        cov_outlier_list(&o->found[i], cov_track_contig_name(sink, o->found[i].contig),
                         cov_track_contig_length(sink, o->found[i].contig), &regions);
    (void)snprintf(about, sizeof about, "%s%s%s", j->o->measured, dataset ? ": " : "",
                   dataset ? dataset : "");
    cov_outliers_warn(about, "base", o->pearson, o->pearson_without, &regions,
                      "--blacklist-file omits such regions, and --stats lists them");
}

/* Warns if a track of dataset k has no peaks, which is why their comparison has no values. */
static void warn_without_peaks(const struct compare_job *j, size_t k, bool measured, size_t n,
                               float max)
{
    const char *name = (measured ? j->measured : j->source)->name, *dataset = j->datasets[k];
    struct cov_peak_rules rules = j->o->comparison.peaks;
    if (measured)
        rules.cutoff = j->o->comparison.measured_cutoff;
    if (!j->o->comparison.has_peaks || n > 0)
        return;
    char why[COV_PEAKS_REASON_BYTES];
    cov_peaks_reason(&rules, max, "--peak-min-length", why);
    cov_warn("%s: %s%s%s", name, dataset ? dataset : "", dataset ? ": " : "", why);
}

/* Checks the values of dataset k. */
static int check_values(const struct compare_job *j, size_t k, struct cov_err *e)
{
    const struct cov_track_sink *ours = &j->comparisons[k]->sink;
    const char *measured = cov_interval_store_sink(j->stores[k])->name;
    const char *dataset = j->datasets[k] ? j->datasets[k] : "", *colon = *dataset ? ": " : "";
    const struct cov_comparison_row *total = &j->comparisons[k]->total;
    double both = (double)total->bases, all = (double)ours->summary.n_bases;
    if (total->bases == 0)
        return cov_fail(e, COV_EINPUT, "%s: %s%sno base has a value in both it and %s", ours->name,
                        dataset, colon, measured);
    /* Typical of a track that was written without its zeros. */
    if (both < MUCH * all)
        cov_warn("%s: %s%smissing values at %.0f %% of the bases of %s; they are skipped "
                 "(zeros must be stored)",
                 measured, dataset, colon, 100 - 100 * both / all, ours->name);
    warn_of_outliers(j, k);
    const struct cov_peak_counts *peaks = &total->peaks;
    warn_without_peaks(j, k, false, peaks->n, peaks->max);
    warn_without_peaks(j, k, true, peaks->n_measured, peaks->max_measured);
    return COV_OK;
}

static int begin_table(struct compare_job *j, struct cov_err *e)
{
    const struct cov_convert_options *o = &j->o->input;
    const struct cov_table_paths paths = {
        .table = o->output, .printed = j->o->printed, .force = o->force};
    return cov_table_outputs_begin(&j->out, &paths, e);
}

static int write_table(struct compare_job *j, struct cov_err *e)
{
    const struct cov_table_writer writer = {
        .print_table = j->o->is_short ? print_totals : print_table, .arg = j};
    int rc = cov_table_outputs_write(&j->out, &writer, e);
    if (!rc && j->o->is_short)
        cov_info("-o FILE.tsv writes a table of all contigs and columns; -o - prints it");
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct compare_job *j = arg;
    for (size_t k = 0; k < j->n; k++) {
        if (j->comparisons)
            cov_comparison_free(j->comparisons[k]);
        if (j->stores)
            cov_interval_store_free(j->stores[k]);
    }
    cov_track_source_close(j->source);
    cov_track_source_close(j->measured);
    cov_pool_free(j->pool);
    free(j->stores);
    free(j->comparisons);
    free(j->sinks);
    free(j->stem);
    free(j->dir);
    free(j);
}

static int prepare(struct compare_job *j, unsigned n_threads, struct cov_err *e)
{
    j->stores = cov_calloc(j->n, sizeof(struct cov_interval_store *), e);
    j->comparisons = cov_calloc(j->n, sizeof(struct cov_comparison *), e);
    j->sinks = cov_calloc(j->n, sizeof(struct cov_track_sink *), e);
    j->datasets = (j->source->is_track ? j->measured : j->source)->datasets;
    return j->stores && j->comparisons && j->sinks ? cov_pool_new(n_threads, &j->pool, e)
                                                   : COV_ENOMEM;
}

/* Compares, and checks the result. */
static int run_job(struct compare_job *j, unsigned n_threads, struct cov_progress *progress,
                   struct cov_stats *stats, struct cov_err *e)
{
    const char *tmpdir = j->o->input.tmpdir, *output = j->o->input.output;
    j->o->input.source.values.unrounded = true; /* like the values of tracks */
    j->stem = cov_path_stem(j->input, e);
    j->dir = tmpdir ? cov_strdup(tmpdir, e) : cov_path_dir(output ? output : "-", e);
    int rc = j->stem && j->dir ? open_files(j, n_threads, e) : COV_ENOMEM;
    if (rc || (rc = begin_table(j, e)) || (rc = prepare(j, n_threads, e)) ||
        (rc = read_measured(j, progress, stats, e)) || (rc = compare(j, progress, stats, e)))
        return rc;
    for (size_t k = 0; !rc && k < j->n; k++)
        rc = check_values(j, k, e);
    return rc ? rc : write_table(j, e);
}

int cov_compare_run(const char *input, struct cov_compare_options *options, unsigned n_threads,
                    struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    int rc = check_options(options, e);
    struct compare_job *j = rc ? NULL : cov_calloc(1, sizeof *j, e);
    if (!j)
        return rc ? rc : COV_ENOMEM;
    j->o = options;
    j->input = input;
    j->out = (struct cov_table_outputs)COV_TABLE_OUTPUTS_INIT;
    rc = run_job(j, n_threads, progress, stats, e);
    stats->section = "cov2bigwig --compare";
    stats->place = COV_STATS_GENERAL_FIGURES;
    for (size_t k = 0; !rc && k < j->n; k++)
        rc = add_totals(j, k, stats, e);
    return cov_table_outputs_end(&j->out, rc, &(struct cov_table_job){print_json, free_job, j},
                                 stats, e);
}
