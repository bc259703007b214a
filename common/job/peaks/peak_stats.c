/* peak_stats.c - see peak_files.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/textfile.h"
#include "common/job/peaks/measured.h"

/* Of a file. NaN: not known. */
struct figures {
    const char *path; /* borrowed */
    uint64_t n;
    int64_t bases; /* in peaks */
    double mean, median, share, frip;
};

/* Lives until --stats has been printed. */
struct peak_stats_job {
    struct cov_peak_scope scope;
    struct figures *rows; /* [n] */
    size_t n;
    bool has_signal;
    struct cov_table_outputs out;
};

/* ---------------------------------------------------------------- figures */

static int by_length(const void *a, const void *b)
{
    const struct cov_region *x = &((const struct cov_counted_peak *)a)->region;
    const struct cov_region *y = &((const struct cov_counted_peak *)b)->region;
    const int64_t n = x->end - x->beg, m = y->end - y->beg;
    return (n > m) - (n < m);
}

/* Returns the length of peak number `k`, from 0, of peaks sorted by length. */
static int64_t length_of(const struct cov_peak_list *peaks, uint64_t k)
{
    size_t i = 0;
    while (peaks->items[i].n <= k)
        k -= peaks->items[i++].n;
    return peaks->items[i].region.end - peaks->items[i].region.beg;
}

/* Sets the figures of lengths. Sorts the peaks by length. */
static void measure_lengths(struct cov_peak_list *peaks, struct figures *f)
{
    double sum = 0;
    if (peaks->n > 1)
        qsort(peaks->items, peaks->n, sizeof *peaks->items, by_length);
    for (size_t i = 0; i < peaks->n; i++) {
        const struct cov_region *r = &peaks->items[i].region;
        f->n += peaks->items[i].n;
        sum += (double)peaks->items[i].n * (double)(r->end - r->beg);
    }
    if (f->n == 0)
        return;
    f->mean = sum / (double)f->n;
    f->median = ((double)length_of(peaks, (f->n - 1) / 2) + (double)length_of(peaks, f->n / 2)) / 2;
}

/* Counts the bases in peaks and those of the genome, and drops the peaks that do not count. */
static int count_bases(struct cov_peak_input *in, const struct cov_peak_scope *s, int64_t *bases,
                       int64_t *size, struct cov_err *e)
{
    struct cov_region_list kept = {0}, inside = {0};
    size_t n = 0;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < cov_names_count(s->genome.names); i++) {
        const struct cov_peak_span span = cov_peak_input_next(in, i);
        struct cov_region_span dropped;
        if (!cov_peak_scope_has(s, i, &dropped))
            continue;
        rc = cov_peak_scope_keep(s, i, dropped, &kept, e);
        if (!rc)
            rc = cov_region_list_subtract(&inside, span.merged, dropped, e);
        *size += s->genome.path ? cov_region_list_bases(&kept) : 0;
        *bases += cov_region_list_bases(&inside);
        for (size_t k = 0; k < span.n; k++)
            if (cov_region_list_overlaps(&kept, span.items[k].region.beg, span.items[k].region.end))
                in->peaks.items[n++] = span.items[k];
    }
    in->peaks.n = n;
    cov_region_list_fini(&kept);
    cov_region_list_fini(&inside);
    return rc;
}

/* Adds up the signal, and sets the fraction of it that is in the peaks. */
static int measure_signal(const struct cov_peak_scope *s, const struct cov_peak_input *in,
                          const struct cov_peak_files_options *o, struct cov_stats *stats,
                          struct figures *out, struct cov_err *e)
{
    struct cov_measured peaks = {
        .path = out->path, .names = s->genome.names, .list = in->merged, .last = in->peaks.last};
    struct cov_source_options options = o->source;
    struct cov_track_source *source = NULL;
    struct cov_scores scores = {.measured = NULL};
    struct cov_track_sink *sink = &scores.sink;
    options.blacklist_path = o->blacklist;
    int rc = cov_track_source_open_path(o->signal, &options, o->n_threads, &source, e);
    if (rc)
        return rc;
    rc = cov_track_source_check_single(source, "--datasets", e);
    if (!rc)
        rc = cov_track_source_describe(source, stats, e);
    if (!rc)
        rc = cov_measured_index(&peaks, e);
    if (!rc)
        rc = cov_scores_init(&scores, source, 0, &peaks, e);
    const struct cov_job job = {.progress = o->progress, .stats = stats};
    if (!rc)
        rc = cov_track_source_run(source, &sink, "reading the signal", &job, e);
    if (!rc)
        rc = cov_scores_check(&scores, source, &options, e);
    if (!rc && sink->summary.min < 0)
        rc = cov_fail(e, COV_EINPUT, "%s: the lowest value is %.6g; FRiP needs values of 0 or more",
                      source->name, sink->summary.min);
    out->frip = sink->summary.sum > 0 ? scores.positive / sink->summary.sum : (double)NAN;
    cov_track_free(scores.measured ? sink : NULL);
    cov_track_source_close(source);
    free(peaks.first);
    free(peaks.found);
    return rc;
}

static int read_figures(struct cov_peak_scope *s, const struct cov_peak_files_options *o,
                        struct cov_stats *stats, struct figures *out, struct cov_err *e)
{
    struct cov_peak_input in = {0};
    int64_t size = 0;
    out->mean = out->median = out->share = out->frip = (double)NAN;
    int rc = cov_peak_input_read(out->path, s, &in, e);
    if (!rc)
        rc = count_bases(&in, s, &out->bases, &size, e);
    if (!rc)
        measure_lengths(&in.peaks, out);
    if (size > 0)
        out->share = (double)out->bases / (double)size;
    if (!rc && o->signal)
        rc = measure_signal(s, &in, o, stats, out, e);
    cov_peak_input_fini(&in);
    return rc;
}

/* ---------------------------------------------------------------- outputs */

static const char *format(double x, char text[COV_DOUBLE_TEXT])
{
    return isnan(x) ? "NA" : cov_format_double(x, text);
}

static void print_row(const struct figures *f, bool has_signal, FILE *out)
{
    char text[3][COV_DOUBLE_TEXT];
    cov_table_put_text(f->path, out);
    (void)fprintf(out, "\t%" PRIu64 "\t%s\t%s\t%" PRId64 "\t%s", f->n, format(f->mean, text[0]),
                  format(f->median, text[1]), f->bases, format(f->share, text[2]));
    if (has_signal)
        (void)fprintf(out, "\t%s", format(f->frip, text[0]));
    (void)fputc('\n', out);
}

static void print_table(const void *arg, FILE *out)
{
    const struct peak_stats_job *j = arg;
    (void)fprintf(out, "file\tpeaks\tmean_length\tmedian_length\tbases\tshare%s\n",
                  j->has_signal ? "\tfrip" : "");
    for (size_t i = 0; i < j->n; i++)
        print_row(&j->rows[i], j->has_signal, out);
}

/* "files": [...] of --stats, with the names of the table's columns. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct peak_stats_job *j = arg;
    cov_json_begin_array(json, "files");
    for (size_t i = 0; i < j->n; i++) {
        const struct figures *f = &j->rows[i];
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "file", f->path);
        cov_json_int(json, "peaks", (int64_t)f->n);
        cov_json_double(json, "mean_length", f->mean);
        cov_json_double(json, "median_length", f->median);
        cov_json_int(json, "bases", f->bases);
        cov_json_double(json, "share", f->share);
        if (j->has_signal)
            cov_json_double(json, "frip", f->frip);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

/* Adds the figures of row number i to the report, unless an earlier row is of the same file. */
static int add_report(const struct peak_stats_job *j, size_t i, struct cov_stats *stats,
                      struct cov_err *e)
{
    const struct figures *f = &j->rows[i];
    const struct cov_stats_figure figures[] = {
        {"peaks", "Peaks", "number of peaks", .value = (double)f->n},
        {"mean_length", "Mean length", "mean length of peaks", .suffix = " bp", .value = f->mean},
        {"median_length", "Median length", "median length of peaks", .suffix = " bp",
         .value = f->median},
        {"peak_bases", "Bases in peaks", "bases in peaks", .is_hidden = true,
         .value = (double)f->bases},
        {"peak_share", "In peaks", "share of the genome's bases in peaks", .suffix = "%",
         .decimals = 2, .value = 100 * f->share},
        {"frip", "FRiP", "fraction of the signal in peaks", .decimals = 3, .is_score = true,
         .value = f->frip},
    };
    for (size_t k = 0; k < i; k++)
        if (strcmp(j->rows[k].path, f->path) == 0)
            return COV_OK;
    return cov_stats_add_figures(stats, f->path, figures, COV_COUNT(figures), e);
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct peak_stats_job *j = arg;
    cov_peak_scope_fini(&j->scope);
    free(j->rows);
    free(j);
}

static int peak_stats_run(struct peak_stats_job *j, char *const *paths,
                          const struct cov_peak_files_options *o, struct cov_stats *stats,
                          struct cov_err *e)
{
    const struct cov_table_writer writer = {print_table, NULL, NULL, j};
    const struct cov_peak_genome *genome = &j->scope.genome;
    j->rows = cov_calloc(j->n, sizeof *j->rows, e);
    int rc = j->rows ? cov_table_outputs_begin(&j->out, &o->paths, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_peak_scope_read(o, &j->scope, e);
    if (!rc && genome->n_missing > 0)
        cov_warn("%s: partial file: %" PRId64 " bases are missing, but count in the share",
                 genome->path, genome->n_missing);
    for (size_t i = 0; !rc && i < j->n; i++) {
        j->rows[i].path = paths[i];
        rc = read_figures(&j->scope, o, stats, &j->rows[i], e);
    }
    for (size_t i = 0; !rc && i < j->n; i++)
        rc = add_report(j, i, stats, e);
    if (!rc)
        rc = cov_table_outputs_write(&j->out, &writer, e);
    if (!rc && genome->path && j->scope.blacklist)
        cov_blacklist_warn(j->scope.blacklist, o->blacklist, genome->path);
    return rc;
}

int cov_peak_stats(char *const *paths, size_t n, const struct cov_peak_files_options *o,
                   struct cov_stats *stats, struct cov_err *e)
{
    struct peak_stats_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    *j = (struct peak_stats_job){
        .n = n, .has_signal = o->signal != NULL, .out = COV_TABLE_OUTPUTS_INIT};
    const int rc = peak_stats_run(j, paths, o, stats, e);
    return cov_table_outputs_end(&j->out, rc, &(struct cov_table_job){print_json, free_job, j},
                                 stats, e);
}
