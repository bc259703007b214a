/* compare_peaks.c - see peak_files.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_files.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/textfile.h"

enum { PREDICTED, MEASURED };

/* Of a sequence, outside the blacklist. */
struct counts {
    int64_t tp, fp, fn; /* bases in peaks of both, of the first only, and of the second only */
    uint64_t n[2], overlapping[2]; /* peaks, and those that overlap one of the other file */
    bool is_left_out;              /* the blacklist names the sequence */
};

/* Lives until --stats has been printed. */
struct peak_compare_job {
    struct cov_peak_scope scope;
    struct cov_peak_input inputs[2];
    struct cov_region_list kept;             /* of a sequence: its bases outside the blacklist */
    struct cov_region_list outside[2], only; /* its peaks there, and bases of only the predicted */
    struct counts *rows;                     /* [sequences] */
    struct counts total;
    struct cov_table_outputs out;
};

/* ---------------------------------------------------------------- counting */

static struct cov_region_span span_of(const struct cov_region_list *l)
{
    return (struct cov_region_span){l->items, l->n};
}

/* Counts the bases and peaks of a sequence outside what is dropped of it. */
static int count_sequence(struct peak_compare_job *j, size_t contig,
                          const struct cov_peak_span spans[2], struct cov_region_span dropped,
                          struct counts *c, struct cov_err *e)
{
    struct cov_region_list *outside = j->outside;
    int rc = cov_peak_scope_keep(&j->scope, contig, dropped, &j->kept, e);
    for (int k = 0; !rc && k < 2; k++)
        rc = cov_region_list_subtract(&outside[k], spans[k].merged, dropped, e);
    if (!rc)
        rc = cov_region_list_subtract(&j->only, span_of(&outside[PREDICTED]),
                                      span_of(&outside[MEASURED]), e);
    c->fp = cov_region_list_bases(&j->only);
    c->tp = cov_region_list_bases(&outside[PREDICTED]) - c->fp;
    c->fn = cov_region_list_bases(&outside[MEASURED]) - c->tp;
    for (int k = 0; !rc && k < 2; k++)
        for (size_t i = 0; i < spans[k].n; i++) {
            const struct cov_counted_peak *p = &spans[k].items[i];
            const int64_t beg = p->region.beg, end = p->region.end;
            c->n[k] += cov_region_list_overlaps(&j->kept, beg, end) ? p->n : 0;
            c->overlapping[k] += cov_region_list_overlaps(&outside[1 - k], beg, end) ? p->n : 0;
        }
    return rc;
}

static void add_counts(struct counts *total, const struct counts *c)
{
    total->tp += c->tp;
    total->fp += c->fp;
    total->fn += c->fn;
    for (int k = 0; k < 2; k++) {
        total->n[k] += c->n[k];
        total->overlapping[k] += c->overlapping[k];
    }
}

static int count(struct peak_compare_job *j, struct cov_err *e)
{
    const size_t n = cov_names_count(j->scope.genome.names);
    j->rows = cov_calloc(n, sizeof *j->rows, e);
    int rc = j->rows ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        const struct cov_peak_span spans[] = {cov_peak_input_next(&j->inputs[PREDICTED], i),
                                              cov_peak_input_next(&j->inputs[MEASURED], i)};
        struct cov_region_span dropped;
        struct counts *row = &j->rows[i];
        row->is_left_out = !cov_peak_scope_has(&j->scope, i, &dropped);
        if (row->is_left_out)
            continue;
        rc = count_sequence(j, i, spans, dropped, row, e);
        add_counts(&j->total, row);
    }
    return rc;
}

/* ---------------------------------------------------------------- outputs */

struct scores {
    double f1, precision, recall;
};

static struct scores score(const struct counts *c)
{
    const double tp = (double)c->tp, fp = (double)c->fp, fn = (double)c->fn;
    const double precision = tp + fp > 0 ? tp / (tp + fp) : 0;
    const double recall = tp + fn > 0 ? tp / (tp + fn) : 0;
    const double f1 = precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
    return (struct scores){f1, precision, recall};
}

static void print_row(const char *contig, const struct counts *c, FILE *out)
{
    const struct scores s = score(c);
    char text[3][COV_DOUBLE_TEXT];
    cov_table_put_text(contig, out);
    (void)fprintf(out, "\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64,
                  cov_format_double(s.f1, text[0]), cov_format_double(s.precision, text[1]),
                  cov_format_double(s.recall, text[2]), c->tp, c->fp, c->fn);
    (void)fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", c->n[PREDICTED],
                  c->n[MEASURED], c->overlapping[PREDICTED], c->overlapping[MEASURED]);
}

static void print_table(const void *arg, FILE *out)
{
    const struct peak_compare_job *j = arg;
    const struct cov_names *names = j->scope.genome.names;
    (void)fputs("contig\tf1\tprecision\trecall\ttp\tfp\tfn\tpeaks\tpeaks_measured\toverlapping"
                "\toverlapping_measured\n",
                out);
    for (size_t i = 0; i < cov_names_count(names); i++)
        if (!j->rows[i].is_left_out)
            print_row(cov_names_get(names, i, NULL), &j->rows[i], out);
    print_row("total", &j->total, out);
}

/* "comparison": {...} of --stats, with the names of the table's columns. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct peak_compare_job *j = arg;
    const struct counts *c = &j->total;
    const struct scores s = score(c);
    cov_json_begin_object(json, "comparison");
    cov_json_double(json, "f1", s.f1);
    cov_json_double(json, "precision", s.precision);
    cov_json_double(json, "recall", s.recall);
    cov_json_int(json, "tp", c->tp);
    cov_json_int(json, "fp", c->fp);
    cov_json_int(json, "fn", c->fn);
    cov_json_int(json, "peaks", (int64_t)c->n[PREDICTED]);
    cov_json_int(json, "peaks_measured", (int64_t)c->n[MEASURED]);
    cov_json_int(json, "overlapping", (int64_t)c->overlapping[PREDICTED]);
    cov_json_int(json, "overlapping_measured", (int64_t)c->overlapping[MEASURED]);
    cov_json_end_object(json);
}

/* Adds the figures of the report. */
static int add_report(const struct counts *total, const char *dataset, struct cov_stats *stats,
                      struct cov_err *e)
{
    const struct scores s = score(total);
    const struct cov_stats_figure figures[] = {
        {"precision", "Precision",
         "share of the bases in predicted peaks that are in measured ones", .decimals = 3,
         .is_score = true, .value = s.precision},
        {"recall", "Recall", "share of the bases in measured peaks that are in predicted ones",
         .decimals = 3, .is_score = true, .value = s.recall},
        {"f1", "F1", "harmonic mean of precision and recall", .decimals = 3, .is_score = true,
         .value = s.f1},
        {"peaks", "Predicted peaks", "number of predicted peaks", .is_hidden = true,
         .value = (double)total->n[PREDICTED]},
        {"overlapping", "Overlapping", "number of predicted peaks that overlap a measured one",
         .is_hidden = true, .value = (double)total->overlapping[PREDICTED]},
        {"peaks_measured", "Measured peaks", "number of measured peaks", .is_hidden = true,
         .value = (double)total->n[MEASURED]},
        {"overlapping_measured", "Measured, overlapping",
         "number of measured peaks that overlap a predicted one", .is_hidden = true,
         .value = (double)total->overlapping[MEASURED]},
    };
    stats->place = COV_STATS_GENERAL_FIGURES;
    return cov_stats_add_figures(stats, dataset, figures, COV_COUNT(figures), e);
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct peak_compare_job *j = arg;
    for (size_t k = 0; k < 2; k++) {
        cov_peak_input_fini(&j->inputs[k]);
        cov_region_list_fini(&j->outside[k]);
    }
    cov_region_list_fini(&j->kept);
    cov_region_list_fini(&j->only);
    cov_peak_scope_fini(&j->scope);
    free(j->rows);
    free(j);
}

static int peak_compare_run(struct peak_compare_job *j, const char *const paths[2],
                            const struct cov_peak_files_options *o, struct cov_stats *stats,
                            struct cov_err *e)
{
    const struct cov_table_writer writer = {print_table, NULL, NULL, j};
    int rc = o->genome || o->sizes ? cov_table_outputs_begin(&j->out, &o->paths, e)
                                   : cov_fail(e, COV_EUSAGE, "needs --genome or --chrom-sizes");
    if (!rc)
        rc = cov_peak_scope_read(o, &j->scope, e);
    for (size_t k = 0; !rc && k < 2; k++)
        rc = cov_peak_input_read(paths[k], &j->scope, &j->inputs[k], e);
    if (!rc)
        rc = count(j, e);
    if (!rc)
        rc = add_report(&j->total, o->dataset, stats, e);
    if (!rc)
        rc = cov_table_outputs_write(&j->out, &writer, e);
    if (!rc && j->scope.blacklist)
        cov_blacklist_warn(j->scope.blacklist, o->blacklist, j->scope.genome.path);
    return rc;
}

int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *o, struct cov_stats *stats,
                      struct cov_err *e)
{
    const char *const paths[] = {predicted, measured};
    struct peak_compare_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->out = (struct cov_table_outputs)COV_TABLE_OUTPUTS_INIT;
    const int rc = peak_compare_run(j, paths, o, stats, e);
    return cov_table_outputs_end(&j->out, rc, &(struct cov_table_job){print_json, free_job, j},
                                 stats, e);
}
