/* count_file.c - see count_file.h: what reads and tracks have in common, and the results.
 * SPDX-License-Identifier: MIT */
#include "common/job/coverage/count_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"

int cov_count_file_init(const struct cov_count_genome *g, struct cov_count_file *m,
                        struct cov_err *e)
{
    int rc = cov_coverage_store_init(&m->store, cov_grid_n_pairs(g->grid),
                                     cov_grid_chunk_length(g->grid), g->elem_bytes, g->tmpdir, e);
    if (!rc)
        rc = cov_depth_summary_init(&m->summary, g->grid, cov_pool_size(g->pool), e);
    m->sums = rc ? NULL : cov_calloc(cov_grid_n_seqs(g->grid), sizeof *m->sums, e);
    return m->sums ? COV_OK : COV_ENOMEM;
}

static void fini_file(struct cov_count_file *m)
{
    cov_coverage_store_fini(&m->store);
    cov_depth_summary_fini(&m->summary);
    free(m->sums);
    free(m->path);
    m->sums = NULL;
    m->path = NULL;
}

void cov_count_number_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    (void)arg;
    (void)memory;
    *(unsigned *)worker = i;
}

typedef int32_t four __attribute__((vector_size(16)));

struct cov_depth_lane cov_count_lane(const int32_t *depth, size_t n, int64_t *sum)
{
    enum { BLOCK = 1 << 14 }; /* sums of BLOCK 16-bit halves, in four lanes, fit in 32 bits */
    int32_t max = 0;
    int64_t total = 0;
    size_t i = 0;
    while (i + 4 <= n) {
        four most = {0}, low = {0}, high = {0};
        for (size_t end = n - i < BLOCK ? n : i + BLOCK; i + 4 <= end; i += 4) {
            four x;
            memcpy(&x, depth + i, sizeof x);
            most ^= (most ^ x) & (x > most);
            low += x & 0xffff;
            high += x >> 16;
        }
        for (size_t k = 0; k < 4; k++) {
            max = most[k] > max ? most[k] : max;
            total += low[k] + ((int64_t)high[k] << 16);
        }
    }
    for (; i < n; i++) {
        max = depth[i] > max ? depth[i] : max;
        total += depth[i];
    }
    *sum = total;
    return (struct cov_depth_lane){depth, max};
}

int cov_count_find_contig(const struct cov_count_genome *g, const char *path, const char *name,
                          int64_t length, size_t *seq, struct cov_err *e)
{
    const char *ours = g->rename ? cov_rename_apply(g->rename, name, strlen(name)) : name;
    *seq = SIZE_MAX;
    if (!cov_names_find(g->names, ours, strlen(ours), seq)) {
        *seq = SIZE_MAX;
        return COV_OK;
    }
    int64_t wanted = cov_grid_seq_length(g->grid, *seq);
    if (length == wanted || length == -1)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: contig %s has %lld bases, but %lld in %s", path, name,
                    (long long)length, (long long)wanted, g->path);
}

int cov_count_check_contigs(const struct cov_count_genome *g, struct cov_count_file *m,
                            const size_t *seqs, size_t n,
                            const char *(*name)(const void *arg, size_t i), const void *arg,
                            struct cov_err *e)
{
    const char *path = m->path;
    struct cov_listing *extra = &m->extra, *missing = &m->missing;
    size_t n_seqs = cov_grid_n_seqs(g->grid), n_common = 0;
    bool *found = cov_calloc(n_seqs, sizeof *found, e);
    int rc = found ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        if (seqs[i] == SIZE_MAX) {
            cov_listing_add(extra, name(arg, i));
        } else if (found[seqs[i]]) {
            rc = cov_fail(e, COV_EINPUT, "%s: two contigs both map to %s of %s", path,
                          cov_grid_name(g->grid, seqs[i]), g->path);
        } else {
            found[seqs[i]] = true;
            n_common++;
        }
    }
    for (size_t s = 0; !rc && s < n_seqs; s++)
        if (!found[s])
            cov_listing_add(missing, cov_grid_name(g->grid, s));
    if (!rc && n == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no %s", path,
                      m->is_track || m->is_bed ? "lines of data" : "contigs in its header");
    if (!rc && n_common == 0)
        rc = cov_fail(
            e, COV_EINPUT, "%s: none of its contigs (%s%s) is in %s (%s%s); --rename %s", path,
            extra->text, cov_listing_more(extra), g->path, missing->text, cov_listing_more(missing),
            g->rename ? "expects the file's name first, then the genome's" : "maps names");
    if (!rc && extra->n > 0)
        cov_warn("%s: skipping %zu of %zu contigs that are not in %s: %s%s", path, extra->n, n,
                 g->path, extra->text, cov_listing_more(extra));
    if (!rc && missing->n > 0)
        cov_warn("%s: %zu of the %zu sequences of %s are missing and get 0: %s%s", path, missing->n,
                 n_seqs, g->path, missing->text, cov_listing_more(missing));
    free(found);
    return rc;
}

/* Returns the n blacklisted regions that overlap bases beg .. end-1. */
static const struct cov_region *find_masks(const struct cov_count_genome *g, size_t seq,
                                           int64_t beg, int64_t end, size_t *n)
{
    static const struct cov_region everything = {0, 0, INT64_MAX};
    const char *name = cov_grid_name(g->grid, seq);
    *n = g->blacklist != NULL;
    if (*n == 0 || cov_blacklist_drops(g->blacklist, name))
        return &everything;
    return cov_blacklist_overlaps(g->blacklist, name, beg, end, n);
}

bool cov_count_is_masked(const struct cov_count_genome *g, size_t seq, const struct cov_spans *s)
{
    size_t n;
    for (size_t i = 0; i < s->n; i++) {
        const struct cov_region *r = find_masks(g, seq, s->items[i].beg, s->items[i].end, &n);
        if (n != 1 || r->beg > s->items[i].beg || r->end < s->items[i].end)
            return false;
    }
    return true;
}

void cov_count_mask(const struct cov_count_genome *g, const struct cov_pair *p, int32_t *values)
{
    size_t n;
    const struct cov_region *r = find_masks(g, p->seq, p->beg, p->end, &n);
    for (size_t i = 0; i < n; i++) {
        const int64_t beg = r[i].beg > p->beg ? r[i].beg : p->beg;
        const int64_t end = r[i].end < p->end ? r[i].end : p->end;
        memset(values + (beg - p->beg), 0, (size_t)(end - beg) * sizeof *values);
    }
}

/* ---- what bam2h5 reports in --stats ---- */

/* Printed by --stats after the job has been freed. */
struct summary {
    struct cov_coverage_results r; /* `grid` is not used */
    size_t n_seqs;
    int64_t *lengths; /* of the sequences */
};

void cov_count_files_free(struct cov_count_file *files, size_t n)
{
    for (size_t k = 0; files && k < n; k++)
        fini_file(&files[k]);
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
    cov_json_int(json, f->items, f->n_seen);
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

/* Adds the figures for the MultiQC report: the reads and fragments of all files and the mean coverage
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
        {"reads", "Reads", "reads and fragments in all files",
         .value = any_reads ? (double)seen : (double)NAN},
        {"counted", "Counted", "reads and fragments that were counted",
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
