/* compare_peaks.c - see compare_peaks.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/compare_peaks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/number.h"
#include "common/job/peaks/peak_list.h"
#include "common/track/blacklist.h"

enum { PREDICTED, MEASURED, BLACKLISTED, LISTS };

/* Disjoint regions of a sequence, ascending. */
struct span {
    const struct cov_region *items;
    size_t n;
};

static int read_genome(const struct cov_peak_files_options *o, struct cov_peak_genome *g,
                       struct cov_err *e)
{
    if (o->genome && o->sizes)
        return cov_fail(e, COV_EUSAGE, "--genome and --chrom-sizes cannot be used together");
    return cov_peak_genome_read(o->genome ? o->genome : o->sizes, !o->genome, g, e);
}

/* Reads a file of peaks, which may have none. */
static int read_peaks(const char *path, struct cov_peak_genome *genome, struct cov_peak_list *out,
                      struct cov_region_list *merged, struct cov_err *e)
{
    int rc = cov_peak_list_read(path, genome, out, e);
    if (!rc && out->n == 0)
        cov_warn("%s: there are no peaks", path);
    return rc ? rc : cov_peak_list_merge(out, merged, e);
}

/* ---------------------------------------------------------------- compare */

/* Bases in peaks of both, of the first only, and of the second only. */
struct counts {
    int64_t tp, fp, fn;
};

/* Counts the bases of a sequence outside the blacklist. */
static struct counts count(const struct span lists[LISTS])
{
    struct counts c = {0, 0, 0};
    size_t at[LISTS] = {0};
    for (int64_t pos = 0;;) {
        int64_t next = INT64_MAX;
        bool in[LISTS];
        for (int k = 0; k < LISTS; k++) {
            while (at[k] < lists[k].n && lists[k].items[at[k]].end <= pos)
                at[k]++;
            in[k] = at[k] < lists[k].n && lists[k].items[at[k]].beg <= pos;
            if (at[k] < lists[k].n) {
                const struct cov_region *r = &lists[k].items[at[k]];
                int64_t edge = in[k] ? r->end : r->beg;
                next = edge < next ? edge : next;
            }
        }
        if (next == INT64_MAX)
            return c;
        if (!in[BLACKLISTED]) {
            c.tp += in[PREDICTED] && in[MEASURED] ? next - pos : 0;
            c.fp += in[PREDICTED] && !in[MEASURED] ? next - pos : 0;
            c.fn += in[MEASURED] && !in[PREDICTED] ? next - pos : 0;
        }
        pos = next;
    }
}

static void print_row(const char *contig, const struct counts *c, FILE *out)
{
    const double tp = (double)c->tp, fp = (double)c->fp, fn = (double)c->fn;
    const double precision = tp + fp > 0 ? tp / (tp + fp) : 0;
    const double recall = tp + fn > 0 ? tp / (tp + fn) : 0;
    const double f1 = precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
    char text[3][COV_DOUBLE_TEXT];
    (void)fprintf(out, "%s\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", contig,
                  cov_format_double(f1, text[0]), cov_format_double(precision, text[1]),
                  cov_format_double(recall, text[2]), c->tp, c->fp, c->fn);
}

/* The part of the list that is on a sequence; *at is the index of its first region. */
static struct span take(const struct cov_region_list *l, size_t contig, size_t *at)
{
    size_t first = *at;
    while (*at < l->n && l->items[*at].contig == contig)
        (*at)++;
    return (struct span){l->items + first, *at - first};
}

static void print_table(const struct cov_peak_genome *g, const struct cov_region_list lists[2],
                        struct cov_blacklist *blacklist, FILE *out)
{
    struct counts total = {0, 0, 0};
    size_t at[2] = {0, 0};
    (void)fputs("contig\tf1\tprecision\trecall\ttp\tfp\tfn\n", out);
    for (size_t i = 0; i < cov_names_count(g->names); i++) {
        const char *name = cov_names_get(g->names, i, NULL);
        struct span spans[LISTS] = {take(&lists[PREDICTED], i, &at[PREDICTED]),
                                    take(&lists[MEASURED], i, &at[MEASURED]),
                                    {NULL, 0}};
        if (blacklist && cov_blacklist_drops(blacklist, name))
            continue;
        if (blacklist)
            spans[BLACKLISTED].items =
                cov_blacklist_regions(blacklist, name, &spans[BLACKLISTED].n);
        const struct counts c = count(spans);
        total.tp += c.tp;
        total.fp += c.fp;
        total.fn += c.fn;
        print_row(name, &c, out);
    }
    print_row("total", &total, out);
}

int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *o, FILE *out, struct cov_err *e)
{
    const char *const paths[] = {predicted, measured};
    struct cov_peak_genome genome = {0};
    struct cov_blacklist *blacklist = NULL;
    struct cov_region_list lists[2] = {{0}, {0}};
    int rc = o->genome || o->sizes ? read_genome(o, &genome, e)
                                   : cov_fail(e, COV_EUSAGE, "needs --genome or --chrom-sizes");
    if (!rc && o->blacklist)
        rc = cov_blacklist_read(o->blacklist, &blacklist, e);
    for (size_t k = 0; !rc && k < 2; k++) {
        struct cov_peak_list peaks = {0};
        rc = read_peaks(paths[k], &genome, &peaks, &lists[k], e);
        cov_peak_list_fini(&peaks);
    }
    if (!rc)
        print_table(&genome, lists, blacklist, out);
    if (!rc && blacklist)
        cov_blacklist_warn(blacklist, o->blacklist, genome.path);
    for (size_t k = 0; k < 2; k++)
        cov_region_list_fini(&lists[k]);
    cov_blacklist_free(blacklist);
    cov_peak_genome_fini(&genome);
    return rc;
}

/* ---------------------------------------------------------------- stats */

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

/* The peaks are sorted by length. */
static void print_stats_row(const char *path, const struct cov_peak_list *peaks, int64_t bases,
                            const struct cov_peak_genome *genome, FILE *out)
{
    char text[3][COV_DOUBLE_TEXT] = {"NA", "NA", "NA"};
    uint64_t n = 0;
    int64_t size = 0;
    double sum = 0;
    for (size_t i = 0; i < peaks->n; i++) {
        const struct cov_region *r = &peaks->items[i].region;
        n += peaks->items[i].n;
        sum += (double)peaks->items[i].n * (double)(r->end - r->beg);
    }
    for (size_t i = 0; genome->path && i < cov_names_count(genome->names); i++)
        size += genome->lengths[i];
    if (size > 0)
        (void)cov_format_double((double)bases / (double)size, text[2]);
    if (n > 0) {
        const double low = (double)length_of(peaks, (n - 1) / 2);
        const double high = (double)length_of(peaks, n / 2);
        (void)cov_format_double(sum / (double)n, text[0]);
        (void)cov_format_double((low + high) / 2, text[1]);
    }
    (void)fprintf(out, "%s\t%" PRIu64 "\t%s\t%s\t%" PRId64 "\t%s\n", path, n, text[0], text[1],
                  bases, text[2]);
}

/* Prints the row of a file, after the head of the table if it is the first. */
static int print_stats(const char *path, struct cov_peak_genome *genome, bool first, FILE *out,
                       struct cov_err *e)
{
    struct cov_peak_list peaks = {0};
    struct cov_region_list merged = {0};
    int64_t bases = 0;
    int rc = read_peaks(path, genome, &peaks, &merged, e);
    if (!rc) {
        for (size_t i = 0; i < merged.n; i++)
            bases += merged.items[i].end - merged.items[i].beg;
        if (first)
            (void)fputs("file\tpeaks\tmean_length\tmedian_length\tbases\tshare\n", out);
        if (peaks.n > 1)
            qsort(peaks.items, peaks.n, sizeof *peaks.items, by_length);
        print_stats_row(path, &peaks, bases, genome, out);
    }
    cov_region_list_fini(&merged);
    cov_peak_list_fini(&peaks);
    return rc;
}

int cov_peak_file_stats(char *const *paths, size_t n, const struct cov_peak_files_options *o,
                        FILE *out, struct cov_err *e)
{
    struct cov_peak_genome genome = {0};
    int rc = read_genome(o, &genome, e);
    for (size_t i = 0; !rc && i < n; i++)
        rc = print_stats(paths[i], &genome, i == 0, out, e);
    cov_peak_genome_fini(&genome);
    return rc;
}
