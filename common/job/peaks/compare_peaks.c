/* compare_peaks.c - see compare_peaks.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/compare_peaks.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/features/blacklist.h"
#include "common/job/peaks/peak_list.h"
#include "common/job/table.h"

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
    int rc = cov_peak_list_refuse_track(path,
                                        "a track, not peaks; call its peaks with covpeaks call", e);
    if (!rc)
        rc = cov_peak_list_read(path, genome, out, e);
    if (!rc && out->n == 0)
        cov_warn("%s: there are no peaks", path);
    return rc ? rc : cov_peak_list_merge(out, merged, e);
}

/* ---------------------------------------------------------------- compare */

/* Of a sequence, outside the blacklist. */
struct counts {
    int64_t tp, fp, fn; /* bases in peaks of both, of the first only, and of the second only */
    uint64_t n[2], overlapping[2]; /* peaks, and those that overlap one of the other file */
};

/* Counts the bases of a sequence outside the blacklist. */
static struct counts count_bases(const struct span lists[LISTS])
{
    struct counts c = {0};
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

/* The part of the list that is on a sequence; *at is the index of its first region. */
static struct span take(const struct cov_region_list *l, size_t contig, size_t *at)
{
    size_t first = *at;
    while (*at < l->n && l->items[*at].contig == contig)
        (*at)++;
    return (struct span){l->items + first, *at - first};
}

/* Adds the parts of `from` that are outside `drop` to the empty list `out`. */
static int subtract(struct span from, struct span drop, struct cov_region_list *out,
                    struct cov_err *e)
{
    int rc = COV_OK;
    out->n = 0;
    for (size_t i = 0, k = 0; !rc && i < from.n; i++) {
        struct cov_region part = from.items[i];
        while (k < drop.n && drop.items[k].end <= part.beg)
            k++;
        for (; !rc && k < drop.n && drop.items[k].beg < part.end; k++) {
            const struct cov_region before = {part.contig, part.beg, drop.items[k].beg};
            if (before.end > before.beg)
                rc = cov_region_list_add(out, before, e);
            part.beg = drop.items[k].end;
            if (part.beg >= part.end)
                break; /* it may reach into the next region */
        }
        if (!rc && part.beg < part.end)
            rc = cov_region_list_add(out, part, e);
    }
    return rc;
}

/* Returns whether one of the regions, which are disjoint and ascending, overlaps the peak. */
static bool overlaps(const struct cov_region_list *l, const struct cov_region *peak)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->items[middle].end <= peak->beg)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->n && l->items[low].beg < peak->end;
}

/* The files and the sequence at hand. */
struct comparison {
    struct cov_peak_genome genome;
    struct cov_blacklist *blacklist; /* NULL: none */
    struct cov_peak_list peaks[2];
    struct cov_region_list merged[2]; /* their regions */
    size_t next[2];                   /* peaks of the next sequences begin here */
    struct cov_region_list kept;      /* of the sequence: its bases outside the blacklist */
    struct cov_region_list others;    /* peaks of the other file, outside the blacklist */
};

/* Counts the peaks of sequence number `contig`. */
static int count_peaks(struct comparison *x, size_t contig, const struct span spans[LISTS],
                       struct counts *c, struct cov_err *e)
{
    const struct cov_region whole = {contig, 0, x->genome.lengths[contig]};
    int rc = subtract((struct span){&whole, 1}, spans[BLACKLISTED], &x->kept, e);
    for (int k = 0; !rc && k < 2; k++) {
        const struct cov_peak_list *l = &x->peaks[k];
        rc = subtract(spans[1 - k], spans[BLACKLISTED], &x->others, e);
        for (; !rc && x->next[k] < l->n && l->items[x->next[k]].region.contig == contig;
             x->next[k]++) {
            const struct cov_counted_peak *peak = &l->items[x->next[k]];
            c->n[k] += overlaps(&x->kept, &peak->region) ? peak->n : 0;
            c->overlapping[k] += overlaps(&x->others, &peak->region) ? peak->n : 0;
        }
    }
    return rc;
}

static void skip_peaks(struct comparison *x, size_t contig)
{
    for (int k = 0; k < 2; k++)
        while (x->next[k] < x->peaks[k].n && x->peaks[k].items[x->next[k]].region.contig == contig)
            x->next[k]++;
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

/* Prints the rows, and sets *total, which must be 0. */
static int print_table(struct comparison *x, FILE *out, struct counts *total, struct cov_err *e)
{
    const struct cov_names *names = x->genome.names;
    size_t at[2] = {0, 0};
    int rc = COV_OK;
    (void)fputs("contig\tf1\tprecision\trecall\ttp\tfp\tfn\tpeaks\tpeaks_measured\toverlapping"
                "\toverlapping_measured\n",
                out);
    for (size_t i = 0; !rc && i < cov_names_count(names); i++) {
        const char *name = cov_names_get(names, i, NULL);
        struct span spans[LISTS] = {take(&x->merged[PREDICTED], i, &at[PREDICTED]),
                                    take(&x->merged[MEASURED], i, &at[MEASURED]),
                                    {NULL, 0}};
        if (x->blacklist && cov_blacklist_drops(x->blacklist, name)) {
            skip_peaks(x, i);
            continue;
        }
        if (x->blacklist)
            spans[BLACKLISTED].items =
                cov_blacklist_regions(x->blacklist, name, &spans[BLACKLISTED].n);
        struct counts c = count_bases(spans);
        rc = count_peaks(x, i, spans, &c, e);
        add_counts(total, &c);
        if (!rc)
            print_row(name, &c, out);
    }
    if (!rc)
        print_row("total", total, out);
    return rc;
}

/* "comparison": {...} of --stats, with the names of the table's columns. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct counts *c = arg;
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
    struct counts *c = cov_malloc(1, sizeof *c, e);
    if (!c)
        return COV_ENOMEM;
    *c = *total;
    cov_stats_set_more(stats, print_json, free, c);
    stats->place = COV_STATS_GENERAL_FIGURES;
    return cov_stats_add_figures(stats, dataset, figures, COV_COUNT(figures), e);
}

int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *o, FILE *out, struct cov_stats *stats,
                      struct cov_err *e)
{
    const char *const paths[] = {predicted, measured};
    struct comparison x = {0};
    struct counts total = {0};
    int rc = o->genome || o->sizes ? read_genome(o, &x.genome, e)
                                   : cov_fail(e, COV_EUSAGE, "needs --genome or --chrom-sizes");
    if (!rc && o->blacklist)
        rc = cov_blacklist_read(o->blacklist, &x.blacklist, e);
    for (size_t k = 0; !rc && k < 2; k++)
        rc = read_peaks(paths[k], &x.genome, &x.peaks[k], &x.merged[k], e);
    if (!rc)
        rc = print_table(&x, out, &total, e);
    if (!rc)
        rc = add_report(&total, o->dataset, stats, e);
    if (!rc && x.blacklist)
        cov_blacklist_warn(x.blacklist, o->blacklist, x.genome.path);
    for (size_t k = 0; k < 2; k++) {
        cov_region_list_fini(&x.merged[k]);
        cov_peak_list_fini(&x.peaks[k]);
    }
    cov_region_list_fini(&x.kept);
    cov_region_list_fini(&x.others);
    cov_blacklist_free(x.blacklist);
    cov_peak_genome_fini(&x.genome);
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

/* Of a file. NaN: not known. */
struct figures {
    uint64_t n;
    int64_t bases; /* in peaks */
    double mean, median, share;
};

/* The peaks are sorted by length. */
static struct figures count_lengths(const struct cov_peak_list *peaks)
{
    struct figures f = {.mean = (double)NAN, .median = (double)NAN, .share = (double)NAN};
    double sum = 0;
    for (size_t i = 0; i < peaks->n; i++) {
        const struct cov_region *r = &peaks->items[i].region;
        f.n += peaks->items[i].n;
        sum += (double)peaks->items[i].n * (double)(r->end - r->beg);
    }
    if (f.n == 0)
        return f;
    f.mean = sum / (double)f.n;
    f.median = ((double)length_of(peaks, (f.n - 1) / 2) + (double)length_of(peaks, f.n / 2)) / 2;
    return f;
}

static int read_figures(const char *path, struct cov_peak_genome *genome, struct figures *out,
                        struct cov_err *e)
{
    struct cov_peak_list peaks = {0};
    struct cov_region_list merged = {0};
    int64_t size = 0;
    int rc = read_peaks(path, genome, &peaks, &merged, e);
    if (!rc) {
        if (peaks.n > 1)
            qsort(peaks.items, peaks.n, sizeof *peaks.items, by_length);
        *out = count_lengths(&peaks);
        for (size_t i = 0; i < merged.n; i++)
            out->bases += merged.items[i].end - merged.items[i].beg;
        for (size_t i = 0; genome->path && i < cov_names_count(genome->names); i++)
            size += genome->lengths[i];
        if (size > 0)
            out->share = (double)out->bases / (double)size;
    }
    cov_region_list_fini(&merged);
    cov_peak_list_fini(&peaks);
    return rc;
}

static const char *format(double x, char text[COV_DOUBLE_TEXT])
{
    return isnan(x) ? "NA" : cov_format_double(x, text);
}

static void print_stats(const char *path, const struct figures *f, FILE *out)
{
    char text[3][COV_DOUBLE_TEXT];
    cov_table_put_text(path, out);
    (void)fprintf(out, "\t%" PRIu64 "\t%s\t%s\t%" PRId64 "\t%s\n", f->n, format(f->mean, text[0]),
                  format(f->median, text[1]), f->bases, format(f->share, text[2]));
}

int cov_peak_file_stats(char *const *paths, size_t n, const struct cov_peak_files_options *o,
                        FILE *out, struct cov_err *e)
{
    struct cov_peak_genome genome = {0};
    struct figures *rows = cov_calloc(n, sizeof *rows, e);
    int rc = rows ? read_genome(o, &genome, e) : COV_ENOMEM;
    if (!rc && genome.n_missing > 0)
        cov_warn("%s: partial file: %" PRId64 " bases are missing, but count in the share",
                 genome.path, genome.n_missing);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_figures(paths[i], &genome, &rows[i], e);
    if (!rc)
        (void)fputs("file\tpeaks\tmean_length\tmedian_length\tbases\tshare\n", out);
    for (size_t i = 0; !rc && i < n; i++)
        print_stats(paths[i], &rows[i], out);
    cov_peak_genome_fini(&genome);
    free(rows);
    return rc;
}
