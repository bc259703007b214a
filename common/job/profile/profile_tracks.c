/* profile_tracks.c - see profile_tracks.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_tracks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/sort.h"
#include "common/base/text.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"

/* COLUMN_BYTES: the bins of all features that are in memory at once for medians. */
enum { COLUMN_BYTES = 1 << 26 };

static const double Z95 = 1.959963984540054; /* of the normal distribution, for 95 % */

/* ---------------------------------------------------------------- bins */

static int64_t place_of(const struct cov_profile_track *track, size_t feature)
{
    return (int64_t)((track->first + feature) * track->all->n_bins * sizeof(double));
}

static int store(const struct cov_profile_track *track, size_t feature, const double *bins,
                 struct cov_err *e)
{
    const struct cov_profile_tracks *t = track->all;
    const int64_t at = place_of(track, feature);
    if (cov_write_at(t->fd, at, bins, t->n_bins * sizeof *bins) != 0)
        return cov_fail_errno(e, "temporary file in %s", t->tmpdir);
    track->has_bins[feature] = true;
    return COV_OK;
}

/* The bins of a feature: cov_profile_fn. */
static int take_bins(void *arg, size_t feature, const double *bins, struct cov_err *e)
{
    struct cov_profile_track *track = arg;
    struct cov_profile_tracks *t = track->all;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < t->n_bins; i++) {
        if (isnan(bins[i]))
            continue;
        track->sum[i] += bins[i];
        track->squares[i] += bins[i] * bins[i];
        track->n[i]++;
        sum += bins[i];
        n++;
    }
    if (n > 0) {
        track->n_features++;
        track->means[feature] = sum / (double)n;
    }
    return t->stores ? store(track, feature, bins, e) : COV_OK;
}

int cov_profile_tracks_bins(const struct cov_profile_tracks *t, size_t track, size_t feature,
                            size_t first, size_t n, double *bins, struct cov_err *e)
{
    if (!t->items[track]->has_bins[feature]) {
        for (size_t i = 0; i < n; i++)
            bins[i] = (double)NAN;
        return COV_OK;
    }
    const int64_t at = place_of(t->items[track], feature) + (int64_t)(first * sizeof *bins);
    const ssize_t got = cov_read_at(t->fd, at, bins, n * sizeof *bins);
    if (got < 0)
        return cov_fail_errno(e, "temporary file in %s", t->tmpdir);
    return (size_t)got == n * sizeof *bins
               ? COV_OK
               : cov_fail(e, COV_EIO, "temporary file in %s: truncated", t->tmpdir);
}

/* ---------------------------------------------------------------- tracks */

/* Returns the directory for the bins of all features. Caller frees. */
static char *find_dir(const struct cov_table_paths *p, struct cov_err *e)
{
    const bool is_file = p->table && !cov_path_is_std(p->table);
    const char *beside = p->second ? p->second : p->plot ? p->plot : is_file ? p->table : "./";
    return p->tmpdir ? cov_strdup(p->tmpdir, e) : cov_path_dir(beside, e);
}

int cov_profile_tracks_init(struct cov_profile_tracks *t, const struct cov_windows *windows,
                            size_t n_windows, const struct cov_table_paths *paths,
                            struct cov_err *e)
{
    *t = (struct cov_profile_tracks){.windows = windows,
                                     .n_windows = n_windows,
                                     .n_bins = cov_profile_bins(&windows->layout),
                                     .stores = paths,
                                     .fd = -1};
    for (size_t i = 0; i < n_windows; i++) {
        const struct cov_windows *w = &windows[i];
        const size_t n = w->features->n, n_short = w->n_short;
        if (n_short > 0)
            cov_warn("%s: %zu of %zu feature%s %s shorter than a bin (%" PRId64
                     " bases) and %s no values; use a smaller --bin-size",
                     w->features->path, n_short, n, cov_text_s((int64_t)n),
                     n_short == 1 ? "is" : "are", w->layout.bin, n_short == 1 ? "has" : "have");
    }
    if (!paths)
        return COV_OK;
    t->tmpdir = find_dir(paths, e);
    return t->tmpdir ? cov_tmpfile(t->tmpdir, &t->fd, e) : COV_ENOMEM;
}

void cov_profile_tracks_fini(struct cov_profile_tracks *t)
{
    for (size_t i = 0; i < t->n; i++) {
        cov_arena_fini(&t->items[i]->memory);
        free(t->items[i]->name);
        free(t->items[i]);
    }
    free(t->items);
    free(t->tmpdir);
    if (t->stores && t->fd >= 0)
        (void)close(t->fd);
    *t = (struct cov_profile_tracks){.fd = -1};
}

static int add_track(struct cov_profile_tracks *t, const struct cov_profile_input *in, size_t k,
                     struct cov_profile_track **out, struct cov_err *e)
{
    const struct cov_windows *windows = &t->windows[t->n_windows > 1 ? in->number : 0];
    const size_t n = windows->features->n;
    struct cov_profile_track *track = cov_calloc(1, sizeof *track, e);
    if (!track || COV_RESERVE(&t->items, &t->cap, t->n + 1, e)) {
        free(track);
        return COV_ENOMEM;
    }
    track->all = t;
    track->windows = windows;
    track->first = t->n_features;
    t->n_features += n;
    struct cov_arena *m = &track->memory;
    double **const rows[] = {&track->middle, &track->low, &track->high, &track->sum,
                             &track->squares};
    for (size_t i = 0; i < COV_COUNT(rows); i++)
        *rows[i] = cov_arena_calloc(m, t->n_bins, sizeof **rows[i]);
    track->n = cov_arena_calloc(m, t->n_bins, sizeof *track->n);
    track->means = cov_arena_calloc(m, n, sizeof *track->means);
    track->has_bins = cov_arena_calloc(m, n, sizeof *track->has_bins);
    int rc = cov_arena_check(m, e);
    if (!rc)
        rc = cov_profile_name(in, k, &track->name, e);
    for (size_t i = 0; !rc && i < n; i++)
        track->means[i] = (double)NAN;
    t->items[t->n++] = track;
    *out = track;
    return rc;
}

/* ---------------------------------------------------------------- inputs */

static int open_sink(void *arg, const struct cov_profile_input *in, size_t k,
                     struct cov_track_sink **sink, struct cov_err *e)
{
    struct cov_profile_tracks *t = arg;
    struct cov_profile_track *track = NULL;
    struct cov_profile *p = (struct cov_profile *)*sink;
    int rc = add_track(t, in, k, &track, e);
    if (!rc)
        rc = cov_profile_init(p, track->windows, in->source->name, in->source->contigs, e);
    p->take = take_bins;
    p->arg = track;
    return rc;
}

static int check_track(void *arg, const struct cov_profile_input *in, size_t k,
                       struct cov_track_sink *sink, struct cov_err *e)
{
    const struct cov_profile_tracks *t = arg;
    const struct cov_track_source *source = in->source;
    const struct cov_profile *p = (const struct cov_profile *)sink;
    const struct cov_profile_track *track = t->items[t->n - source->n_datasets + k];
    int rc = cov_profile_features_fit(p->windows->features, in, k, sink, e);
    if (!rc && track->n_features == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no base near a feature of %s has a value", source->name,
                      p->windows->features->path);
    return rc;
}

int cov_profile_tracks_read(struct cov_profile_tracks *t, const struct cov_profile_request *request,
                            struct cov_err *e)
{
    const struct cov_profile_reader r = {sizeof(struct cov_profile), open_sink, check_track, t};
    return cov_profile_inputs_read(request, &r, e);
}

/* ---------------------------------------------------------------- means and medians */

static void finish_means(const struct cov_profile_track *track)
{
    for (size_t i = 0; i < track->all->n_bins; i++) {
        const double n = track->n[i], mean = track->sum[i] / n;
        const double variance = n > 1 ? (track->squares[i] - n * mean * mean) / (n - 1) : 0;
        const double error = variance > 0 ? Z95 * sqrt(variance / n) : 0;
        track->middle[i] = mean; /* NaN if n is 0 */
        track->low[i] = mean - error;
        track->high[i] = mean + error;
    }
}

/* The interval is that of the sign test: ranks n/2 -+ z sqrt(n)/2. */
static void finish_median(const struct cov_profile_track *track, size_t bin, double *x, size_t n)
{
    double *const out[] = {&track->middle[bin], &track->low[bin], &track->high[bin]};
    const double half = (double)n / 2, width = Z95 * sqrt((double)n) / 2;
    if (n == 0) {
        for (size_t i = 0; i < COV_COUNT(out); i++)
            *out[i] = (double)NAN;
        return;
    }
    cov_sort_doubles(x, n);
    const size_t low = half - width > 0 ? (size_t)(half - width) : 0;
    const size_t high = (size_t)ceil(half + width);
    *out[0] = (x[(n - 1) / 2] + x[n / 2]) / 2;
    *out[1] = x[low];
    *out[2] = x[high < n ? high : n - 1];
}

/* Computes the medians of bins [first, first + n). rows: [features][n], column: [features]. */
static int finish_columns(const struct cov_profile_tracks *t, size_t track, size_t first, size_t n,
                          double *rows, double *column, struct cov_err *e)
{
    const size_t n_features = t->items[track]->windows->features->n;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n_features; i++)
        rc = cov_profile_tracks_bins(t, track, i, first, n, rows + i * n, e);
    for (size_t k = 0; !rc && k < n; k++) {
        size_t n_values = 0;
        for (size_t i = 0; i < n_features; i++)
            if (!isnan(rows[i * n + k]))
                column[n_values++] = rows[i * n + k];
        finish_median(t->items[track], first + k, column, n_values);
    }
    return rc;
}

static int finish_medians(const struct cov_profile_tracks *t, size_t track, struct cov_err *e)
{
    const size_t n_features = t->items[track]->windows->features->n;
    const size_t most = COLUMN_BYTES / sizeof(double) / n_features;
    const size_t step = most < 1 ? 1 : most < t->n_bins ? most : t->n_bins;
    size_t n_rows = 0;
    int rc = cov_size_mul(n_features, step, &n_rows);
    double *rows = rc ? NULL : cov_malloc(n_rows, sizeof *rows, e);
    double *column = cov_malloc(n_features, sizeof *column, e);
    if (!rows || !column)
        rc = COV_ENOMEM;
    for (size_t i = 0; !rc && i < t->n_bins; i += step)
        rc = finish_columns(t, track, i, t->n_bins - i < step ? t->n_bins - i : step, rows, column,
                            e);
    free(rows);
    free(column);
    return rc;
}

int cov_profile_tracks_finish(struct cov_profile_tracks *t, bool median, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < t->n; k++)
        if (median)
            rc = finish_medians(t, k, e);
        else
            finish_means(t->items[k]);
    return rc;
}

/* ---------------------------------------------------------------- the matrix: numbers */

size_t cov_profile_matrix_put(double x, char text[COV_PROFILE_VALUE_BYTES])
{
    static const double MOST = 8e6, SURE = 1e-3; /* the product is below 2^43 */
    const double scaled = fabs(x) * 1e6, part = scaled - floor(scaled);
    char *p = text;
    /* Close to the middle of two numbers, the rounding of the product would decide. */
    if (!(fabs(x) < MOST) || fabs(part - 0.5) < SURE || (x == 0 && signbit(x)))
        return isnan(x) ? (size_t)snprintf(text, COV_PROFILE_VALUE_BYTES, "nan")
                        : (size_t)snprintf(text, COV_PROFILE_VALUE_BYTES, "%f", x);
    uint64_t n = (uint64_t)(scaled + 0.5);
    if (x < 0)
        *p++ = '-';
    char digits[24];
    size_t k = 0;
    for (; k < 7 || n > 0; k++, n /= 10) {
        if (k == 6)
            digits[k++] = '.';
        digits[k] = (char)('0' + n % 10);
    }
    while (k > 0)
        *p++ = digits[--k];
    return (size_t)(p - text);
}

/* ---------------------------------------------------------------- the matrix: head */

/* A setting that each track has. */
static void put_each(struct cov_json *j, const char *key, int64_t value, size_t n)
{
    cov_json_begin_array(j, key);
    for (size_t i = 0; i < n; i++)
        cov_json_int(j, NULL, value);
    cov_json_end_array(j);
}

static void put_settings(struct cov_json *j, const struct cov_profile_tracks *t)
{
    static const char *const points[] = {"TSS", "TES", "center", NULL};
    const struct cov_profile_layout *l = &t->windows->layout;
    put_each(j, "upstream", l->before, t->n);
    put_each(j, "downstream", l->after, t->n);
    put_each(j, "body", l->body, t->n);
    put_each(j, "bin size", l->bin, t->n);
    cov_json_begin_array(j, "ref point");
    for (size_t i = 0; i < t->n; i++)
        cov_json_string(j, NULL, points[l->anchor]);
    cov_json_end_array(j);
    cov_json_bool(j, "verbose", false);
    cov_json_string(j, "bin avg type", "mean");
    cov_json_bool(j, "missing data as zero", false);
    cov_json_string(j, "min threshold", NULL);
    cov_json_string(j, "max threshold", NULL);
    cov_json_int(j, "scale", 1);
    cov_json_bool(j, "skip zeros", false);
    cov_json_bool(j, "nan after end", false);
    cov_json_int(j, "proc number", 1);
    cov_json_string(j, "sort regions", "keep");
    cov_json_string(j, "sort using", "mean");
    put_each(j, "unscaled 5 prime", 0, t->n);
    put_each(j, "unscaled 3 prime", 0, t->n);
}

static void put_labels(struct cov_json *j, const struct cov_profile_tracks *t)
{
    cov_json_begin_array(j, "group_labels");
    cov_json_string(j, NULL, "genes");
    cov_json_end_array(j);
    cov_json_begin_array(j, "group_boundaries");
    cov_json_int(j, NULL, 0);
    cov_json_int(j, NULL, (int64_t)t->windows->features->n);
    cov_json_end_array(j);
    cov_json_begin_array(j, "sample_labels");
    for (size_t i = 0; i < t->n; i++)
        cov_json_string(j, NULL, t->items[i]->name);
    cov_json_end_array(j);
    cov_json_begin_array(j, "sample_boundaries");
    for (size_t i = 0; i <= t->n; i++)
        cov_json_int(j, NULL, (int64_t)(i * t->n_bins));
    cov_json_end_array(j);
}

/* Joins indented lines to one, and returns its length. */
static size_t join_lines(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++)
        if (*p == '\n')
            p += strspn(p + 1, " ");
        else
            *to++ = *p;
    return (size_t)(to - text);
}

static int write_head(const struct cov_profile_tracks *t, struct cov_bgz *out, struct cov_err *e)
{
    char *text = NULL;
    size_t n = 0;
    struct cov_json j;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return cov_fail_errno(e, "settings of the matrix");
    cov_json_init(&j, f);
    j.is_ascii = true;
    cov_json_begin_object(&j, NULL);
    put_settings(&j, t);
    put_labels(&j, t);
    cov_json_end_object(&j);
    if (fclose(f) != 0 || !text) { /* glibc may lose it at the end, and say nothing */
        free(text);
        return cov_fail(e, COV_ENOMEM, "settings of the matrix: out of memory");
    }
    int rc = cov_bgz_write(out, "@", 1, e);
    if (!rc)
        rc = cov_bgz_write(out, text, join_lines(text), e);
    if (!rc)
        rc = cov_bgz_write(out, "\n", 1, e);
    free(text);
    return rc;
}

/* ---------------------------------------------------------------- the matrix: features */

/* The text of a line. */
struct line {
    char *text; /* Owned */
    size_t n, cap;
    double *bins; /* Owned */
};

/* Appends a text in ASCII, as deepTools needs it: other bytes as %C3, for example. The caller has
 * reserved the room. */
static void put_ascii(struct line *line, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x80) {
            line->text[line->n++] = (char)*p;
            continue;
        }
        line->text[line->n++] = '%';
        line->text[line->n++] = digits[*p >> 4];
        line->text[line->n++] = digits[*p & 0xf];
    }
}

static int put_feature(struct line *line, const struct cov_profile_tracks *t, size_t i,
                       struct cov_err *e)
{
    const struct cov_annotation *a = t->windows->features;
    const struct cov_feature *f = &a->items[i];
    const char *contig = cov_names_get(a->contigs, f->contig, NULL);
    const char *name = cov_annotation_name(a, i), *score = cov_annotation_score(a, i);
    char place[80];
    (void)snprintf(place, sizeof place, "%" PRId64 "\t%" PRId64, f->beg, f->end);
    const size_t room = 3 * (2 * strlen(contig) + strlen(name) + strlen(score)) + 2 * sizeof place;
    int rc = COV_RESERVE(&line->text, &line->cap, room, e);
    if (rc)
        return rc;
    line->n = 0;
    put_ascii(line, contig);
    put_ascii(line, "\t");
    put_ascii(line, place);
    put_ascii(line, "\t");
    if (*name) {
        put_ascii(line, name);
    } else {
        *strchr(place, '\t') = '-';
        put_ascii(line, contig);
        put_ascii(line, ":");
        put_ascii(line, place);
    }
    const char end[] = {'\t', f->strand, '\0'};
    put_ascii(line, "\t");
    put_ascii(line, score);
    put_ascii(line, end);
    return COV_OK;
}

static int put_track(struct line *line, const struct cov_profile_tracks *t, size_t track,
                     size_t feature, struct cov_err *e)
{
    int rc = cov_profile_tracks_bins(t, track, feature, 0, t->n_bins, line->bins, e);
    for (size_t i = 0; !rc && i < t->n_bins; i++) {
        rc = COV_RESERVE(&line->text, &line->cap, line->n + COV_PROFILE_VALUE_BYTES + 2, e);
        if (rc)
            break;
        line->text[line->n++] = '\t';
        line->n += cov_profile_matrix_put(line->bins[i], line->text + line->n);
    }
    return rc;
}

static int write_features(const struct cov_profile_tracks *t, struct cov_bgz *out,
                          struct cov_err *e)
{
    struct line line = {.bins = cov_malloc(t->n_bins, sizeof(double), e)};
    int rc = line.bins ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < t->windows->features->n; i++) {
        rc = put_feature(&line, t, i, e);
        for (size_t k = 0; !rc && k < t->n; k++)
            rc = put_track(&line, t, k, i, e);
        if (!rc) {
            line.text[line.n++] = '\n';
            rc = cov_bgz_write(out, line.text, line.n, e);
        }
    }
    free(line.text);
    free(line.bins);
    return rc;
}

int cov_profile_matrix_write(const struct cov_profile_tracks *t, const char *path,
                             unsigned n_threads, struct cov_err *e)
{
    struct cov_bgz *out;
    int rc = cov_bgz_open_write(path, COV_BGZ_DEFLATE, n_threads, &out, e);
    if (rc)
        return rc;
    rc = write_head(t, out, e);
    if (!rc)
        rc = write_features(t, out, e);
    if (rc) {
        cov_bgz_abort(out);
        return rc;
    }
    return cov_bgz_close(out, e);
}
