/* coverage_stats.c - see count_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/coverage/count_file.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"

/* Printed by --stats after the job has been freed. */
struct summary {
    struct cov_coverage_results r; /* `grid` is not used */
    size_t n_seqs;
    int64_t *lengths; /* of the sequences */
};

void cov_count_files_free(struct cov_count_file *files, size_t n)
{
    for (size_t k = 0; files && k < n; k++)
        cov_count_file_fini(&files[k]);
    free(files);
}

void cov_depth_columns_free(struct cov_depth_column *columns, size_t n)
{
    for (size_t b = 0; columns && b < n; b++)
        free(columns[b].file);
    free(columns);
}

static void free_summary(void *arg)
{
    struct summary *m = arg;
    cov_count_files_free(m->r.files, m->r.n_files);
    cov_depth_columns_free(m->r.columns, m->r.n_columns);
    cov_names_free(m->r.names);
    free(m->lengths);
    free(m);
}

static void print_file(struct cov_json *json, const struct cov_count_file *f)
{
    cov_json_begin_object(json, NULL);
    cov_json_string(json, "path", f->path);
    cov_json_int(json, f->is_track ? "intervals" : "reads", f->n_seen);
    for (int r = COV_COUNTED; !f->is_track && r < COV_SKIP_N; r++)
        cov_json_int(json, cov_count_result_names[r], f->n_by_result[r]);
    if (f->is_track)
        cov_json_int(json, "rounded", f->n_rounded);
    cov_json_int(json, "not_in_genome", f->n_elsewhere);
    cov_json_end_object(json);
}

static double mean_coverage(const struct summary *m, size_t k, size_t s)
{
    return m->r.files[k].sums[s] / (double)m->lengths[s];
}

static void print_summary(struct cov_json *json, const void *arg)
{
    const struct summary *m = arg;
    cov_json_int(json, "bits", m->r.bits);
    cov_json_begin_array(json, "files");
    for (size_t k = 0; k < m->r.n_files; k++)
        print_file(json, &m->r.files[k]);
    cov_json_end_array(json);
    cov_json_begin_array(json, "columns");
    for (size_t b = 0; b < m->r.n_columns; b++) {
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "file", m->r.columns[b].file);
        cov_json_double(json, "mean_coverage", m->r.columns[b].mean);
        cov_json_double(json, "median_coverage", m->r.columns[b].median);
        cov_json_double(json, "correlation", m->r.columns[b].r);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
    cov_json_begin_array(json, "contigs");
    for (size_t s = 0; s < m->n_seqs; s++) {
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "name", cov_names_get(m->r.names, s, NULL));
        cov_json_int(json, "length", m->lengths[s]);
        cov_json_begin_array(json, "mean_coverage");
        for (size_t k = 0; k < m->r.n_files; k++)
            cov_json_double(json, NULL, mean_coverage(m, k, s));
        cov_json_end_array(json);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

/* Adds the figures for the MultiQC report: the reads of all alignment files and the mean coverage
 * of the genome. */
static int add_figures(const struct summary *m, struct cov_stats *stats, struct cov_err *e)
{
    int64_t seen = 0, counted = 0;
    double sum = 0, least = (double)NAN;
    bool any_reads = false;
    for (size_t b = 0; b < m->r.n_columns; b++)
        if (isnan(least) || m->r.columns[b].r < least)
            least = m->r.columns[b].r;
    for (size_t k = 0; k < m->r.n_files; k++) {
        if (!m->r.files[k].is_track) {
            any_reads = true;
            seen += m->r.files[k].n_seen;
            counted += m->r.files[k].n_by_result[COV_COUNTED];
        }
        for (size_t s = 0; s < m->n_seqs; s++)
            sum += mean_coverage(m, k, s) * (double)m->lengths[s];
    }
    const struct cov_stats_figure figures[] = {
        {"reads", "Reads", "reads in all files", .value = any_reads ? (double)seen : (double)NAN},
        {"counted", "Counted", "reads that were counted",
         .value = any_reads ? (double)counted : (double)NAN},
        {"mean_coverage", "Coverage",
         "mean coverage of a base of the genome, of all files together", "x", .decimals = 2,
         .value = stats->bases > 0 ? sum / (double)stats->bases : (double)NAN},
        {"correlation", "r of replicates",
         "the lowest Pearson's r of a replicate with the mean of the others", .decimals = 3,
         .is_score = true, .value = least},
    };
    return cov_stats_add_figures(stats, NULL, figures, COV_COUNT(figures), e);
}

int cov_coverage_stats_add(struct cov_coverage_results *results, struct cov_stats *stats,
                           struct cov_err *e)
{
    const struct cov_grid *grid = results->grid;
    struct summary *m = cov_calloc(1, sizeof *m, e);
    if (!m)
        return COV_ENOMEM;
    cov_stats_set_more(stats, print_summary, free_summary, m);
    m->n_seqs = cov_grid_n_seqs(grid);
    m->lengths = cov_calloc(m->n_seqs, sizeof *m->lengths, e);
    if (!m->lengths)
        return COV_ENOMEM;
    stats->bases = 0;
    stats->chunks = (int64_t)cov_grid_n_chunks(grid);
    for (size_t s = 0; s < m->n_seqs; s++)
        stats->bases += m->lengths[s] = cov_grid_seq_length(grid, s);
    m->r = *results;
    *results = (struct cov_coverage_results){.grid = grid};
    for (size_t k = 0; k < m->r.n_files; k++) {
        cov_coverage_store_fini(&m->r.files[k].store);
        cov_depth_summary_fini(&m->r.files[k].summary);
    }
    return add_figures(m, stats, e);
}
