/* sequence_info.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/chunk/chunk_file.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/h5/h5.h"
#include "common/plot/chart.h"
#include "common/seq/alphabet.h"
#include "common/seq/genome.h"

/* The lengths that begin the classes of a histogram: 1, 2, 5, 10, 20 ... */
enum { N_CLASSES = 37 };

static int64_t class_begin(int k)
{
    static const int64_t digit[] = {1, 2, 5};
    int64_t x = digit[k % 3];
    for (int i = 0; i < k / 3; i++)
        x *= 10;
    return x;
}

struct length_class {
    int64_t n_sequences, n_bases;
};

/* A column of the table. */
struct value {
    const char *name;
    double x; /* NaN: not known */
    bool is_whole;
};
enum { MAX_VALUES = 20 };

/* A file. */
struct summary {
    const char *path;
    size_t L;
    int64_t *lengths; /* [n]: of sequences with chunks in the file. Owned */
    size_t n, cap;
    int64_t n_bases; /* in the file */
    int64_t n_lower; /* -1: not known */
    struct cov_survey survey;
    struct length_class classes[N_CLASSES];
    struct value values[MAX_VALUES];
    int n_values;
};

static void fini(struct summary *s)
{
    free(s->lengths);
    cov_survey_fini(&s->survey);
}

static int add_length(struct summary *s, int64_t length, struct cov_err *e)
{
    int rc = COV_RESERVE(&s->lengths, &s->cap, s->n + 1, e);
    if (!rc)
        s->lengths[s->n++] = length;
    return rc;
}

/* ---------------------------------------------------------------- reading */

static int read_file(struct summary *s, const struct cov_job *job, struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    int rc = cov_chunk_file_open_bases(s->path, &f, e);
    if (rc)
        return rc;
    const struct cov_grid *g = cov_chunk_file_grid(f);
    s->L = cov_grid_chunk_length(g);
    for (size_t seq = 0; !rc && seq < cov_grid_n_seqs(g); seq++) {
        size_t beg, end;
        cov_grid_seq_pairs(g, seq, &beg, &end);
        if (beg < end)
            rc = add_length(s, cov_grid_seq_length(g, seq), e);
        for (size_t p = beg; p < end; p++) {
            const struct cov_pair pair = cov_grid_pair(g, p);
            s->n_bases += pair.end - pair.beg;
        }
    }
    if (!rc)
        rc = cov_survey_file(f, NULL, "reading", job, &s->survey, e);
    cov_chunk_file_close(f);
    return rc;
}

static int read_pairs(struct summary *s, struct cov_fasta_pairs *fasta, uint8_t *codes,
                      const struct cov_job *job, struct cov_err *e)
{
    struct cov_fasta_pair pair;
    int64_t done = 0;
    int got, rc = COV_OK;
    while (!rc && (got = cov_fasta_pairs_next(fasta, &pair, codes, e)) > 0) {
        size_t n = (size_t)(pair.end - pair.beg);
        rc = pair.first ? add_length(s, 0, e) : COV_OK;
        if (!rc)
            rc = cov_survey_add(&s->survey, codes, n, codes + s->L, e);
        if (!rc)
            s->lengths[s->n - 1] = pair.end;
        s->n_bases += (int64_t)n;
        cov_progress_add(job->progress, cov_fasta_pairs_done(fasta) - done);
        done = cov_fasta_pairs_done(fasta);
    }
    cov_survey_end(&s->survey);
    return rc ? rc : got;
}

static int read_fasta(struct summary *s, const struct cov_job *job, struct cov_err *e)
{
    s->n_lower = 0;
    const struct cov_genome_options options = {
        .bad_base_is_n = true, .n_threads = cov_pool_size(job->pool), .n_lower = &s->n_lower};
    struct cov_fasta_pairs *fasta = NULL;
    uint8_t *codes = cov_malloc(2 * s->L, 1, e);
    int rc = codes ? cov_fasta_pairs_open(s->path, &options, s->L, &fasta, e) : COV_ENOMEM;
    if (!rc) {
        cov_progress_begin(job->progress, "reading", "bytes", cov_fasta_pairs_total(fasta));
        rc = read_pairs(s, fasta, codes, job, e);
        cov_progress_end(job->progress);
    }
    cov_fasta_pairs_free(fasta);
    free(codes);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the smallest length that at least the share q of the n > 0 sorted sequences do not
 * exceed. */
static double quantile(const struct summary *s, double q)
{
    size_t rank = (size_t)ceil(q * (double)s->n);
    return (double)s->lengths[rank > 0 ? rank - 1 : 0];
}

static void add_value(struct summary *s, const char *name, double x, bool is_whole)
{
    assert(s->n_values < MAX_VALUES);
    s->values[s->n_values++] = (struct value){name, x, is_whole};
}

/* Returns the value of this name, which exists. */
static double value_of(const struct summary *s, const char *name)
{
    int k = 0;
    while (strcmp(s->values[k].name, name) != 0)
        k++;
    return s->values[k].x;
}

/* Adds the values that describe lengths. */
static void describe_lengths(struct summary *s)
{
    const double none = (double)NAN;
    double total = 0, sum = 0, n50 = none, l50 = none, n90 = none;
    for (size_t i = 0; i < s->n; i++) {
        int k = N_CLASSES - 1;
        while (k > 0 && s->lengths[i] < class_begin(k))
            k--;
        s->classes[k].n_sequences++;
        s->classes[k].n_bases += s->lengths[i];
        total += (double)s->lengths[i];
    }
    if (s->n > 0)
        qsort(s->lengths, s->n, sizeof *s->lengths, by_length);
    for (size_t i = s->n; i-- > 0;) {
        sum += (double)s->lengths[i];
        if (isnan(n50) && sum >= 0.5 * total) {
            n50 = (double)s->lengths[i];
            l50 = (double)(s->n - i);
        }
        if (isnan(n90) && sum >= 0.9 * total)
            n90 = (double)s->lengths[i];
    }
    const bool any = s->n > 0;
    add_value(s, "sequences", (double)s->n, true);
    add_value(s, "bases", (double)s->n_bases, true);
    add_value(s, "shortest", any ? quantile(s, 0) : none, true);
    add_value(s, "lower_quartile", any ? quantile(s, 0.25) : none, true);
    add_value(s, "median", any ? quantile(s, 0.5) : none, true);
    add_value(s, "mean", total / (double)s->n, false);
    add_value(s, "upper_quartile", any ? quantile(s, 0.75) : none, true);
    add_value(s, "longest", any ? quantile(s, 1) : none, true);
    add_value(s, "n50", n50, true);
    add_value(s, "l50", l50, true);
    add_value(s, "n90", n90, true);
}

static void describe(struct summary *s)
{
    const struct cov_survey *v = &s->survey;
    const int64_t gc = v->n_codes[COV_CODE_C] + v->n_codes[COV_CODE_G],
                  at = v->n_codes[COV_CODE_A] + v->n_codes[COV_CODE_T];
    const double bases = (double)s->n_bases, none = (double)NAN;
    describe_lengths(s);
    add_value(s, "gc", (double)gc / (double)(gc + at), false);
    add_value(s, "n", (double)v->n_codes[COV_CODE_N] / bases, false);
    add_value(s, "lower_case", s->n_lower < 0 ? none : (double)s->n_lower / bases, false);
    add_value(s, "chunk_length", (double)s->L, true);
    add_value(s, "pairs", (double)v->n_pairs, true);
    add_value(s, "padding", 1 - bases / ((double)v->n_pairs * (double)s->L), false);
    add_value(s, "only_n", (double)(v->n_pairs - v->n), true);
    add_value(s, "copies", (double)cov_survey_n_copies(v), true);
}

/* ---------------------------------------------------------------- outputs */

static void print_head(const struct summary *s, FILE *f)
{
    (void)fputs("file", f);
    for (int k = 0; k < s->n_values; k++)
        (void)fprintf(f, "\t%s", s->values[k].name);
    (void)fputc('\n', f);
}

static void print_row(const struct summary *s, FILE *f)
{
    cov_table_put_text(s->path, f);
    for (int k = 0; k < s->n_values; k++)
        if (s->values[k].is_whole && !isnan(s->values[k].x))
            (void)fprintf(f, "\t%.0f", s->values[k].x);
        else
            cov_table_put_number(s->values[k].x, f);
    (void)fputc('\n', f);
}

static void put_json(const struct summary *s, struct cov_json *j)
{
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "path", s->path);
    for (int k = 0; k < s->n_values; k++)
        if (s->values[k].is_whole && !isnan(s->values[k].x))
            cov_json_int(j, s->values[k].name, (int64_t)s->values[k].x);
        else
            cov_json_double(j, s->values[k].name, s->values[k].x);
    cov_json_begin_array(j, "lengths");
    for (int k = 0; k < N_CLASSES; k++) {
        if (s->classes[k].n_sequences == 0)
            continue;
        cov_json_begin_object(j, NULL);
        cov_json_int(j, "from", class_begin(k));
        cov_json_int(j, "to", class_begin(k + 1));
        cov_json_int(j, "sequences", s->classes[k].n_sequences);
        cov_json_int(j, "bases", s->classes[k].n_bases);
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
    cov_json_end_object(j);
}

/* "500", "20 k" */
static void class_text(int k, char text[32])
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int64_t x = class_begin(k);
    int unit = 0;
    for (; x >= 1000; unit++)
        x /= 1000;
    (void)snprintf(text, 32, "%" PRId64 "%s", x, units[unit]);
}

/* Adds the bars of all classes between the first and the last that has sequences. */
static int add_bars(struct cov_chart *c, const struct summary *s, struct cov_err *e)
{
    double n_bases = 0;
    int beg = 0, end = N_CLASSES, rc = COV_OK;
    while (beg < end && s->classes[beg].n_sequences == 0)
        beg++;
    while (end > beg && s->classes[end - 1].n_sequences == 0)
        end--;
    for (int k = beg; k < end; k++)
        n_bases += (double)s->classes[k].n_bases;
    for (int k = beg; !rc && k < end; k++) {
        const double shares[] = {100 * (double)s->classes[k].n_sequences / (double)s->n,
                                 100 * (double)s->classes[k].n_bases / n_bases};
        static const char *const names[] = {"sequences", "their bases"};
        char text[32];
        class_text(k, text);
        for (int i = 0; !rc && i < 2; i++) {
            const struct cov_chart_point bar = {0, shares[i], shares[i], shares[i]};
            rc = cov_chart_add_bar(c, names[i], text, &bar, e);
        }
    }
    return rc;
}

static int draw(struct cov_picture *p, const struct summary *s, struct cov_err *e)
{
    struct cov_charts charts = {.n = 0};
    struct cov_chart *chart;
    char *stem = cov_path_stem(s->path, e);
    char *title = stem ? cov_strfmt(e, "%s: lengths of %zu sequences", stem, s->n) : NULL;
    const struct cov_chart like = {.kind = COV_CHART_BARS,
                                   .file = "lengths",
                                   .title = title,
                                   .x = "length (bases, at least)",
                                   .y = "share (%)"};
    int rc = title ? cov_charts_add(&charts, &like, &chart, e) : COV_ENOMEM;
    if (!rc)
        rc = add_bars(chart, s, e);
    if (!rc)
        rc = cov_chart_draw_picture(chart, p, e);
    if (!rc)
        rc = cov_outfile_commit(&p->file, e);
    cov_charts_fini(&charts);
    free(title);
    free(stem);
    return rc;
}

/* Adds the figures for the MultiQC report. `part`: the file; NULL if there is only one. */
static int report(const struct summary *s, const char *part, struct cov_stats *stats,
                  struct cov_err *e)
{
    const double pairs = value_of(s, "pairs");
    const struct cov_stats_figure figures[] = {
        {"sequences", "Sequences", "sequences of the genome", .value = value_of(s, "sequences")},
        {"n50", "N50", "sequences of at least this length have half of the bases", " bp",
         .value = value_of(s, "n50")},
        {"gc", "GC", "share of G and C among A, C, G and T", " %", .decimals = 1,
         .value = 100 * value_of(s, "gc")},
        {"n_share", "N", "share of the bases that are N", " %", .decimals = 2,
         .value = 100 * value_of(s, "n")},
        {"padding", "Padding", "share of the positions of chunks that hold no base", " %",
         .decimals = 1, .value = 100 * value_of(s, "padding")},
        {"copies", "Copies", "share of the chunks whose bases are in an earlier chunk", " %",
         .decimals = 2, .value = pairs > 0 ? 100 * value_of(s, "copies") / pairs : (double)NAN},
    };
    stats->bases = (stats->bases < 0 ? 0 : stats->bases) + s->n_bases;
    return cov_stats_add_figures(stats, part, figures, COV_COUNT(figures), e);
}

/* ---------------------------------------------------------------- all of it */

static int read_input(struct summary *s, const struct cov_job *job, struct cov_err *e)
{
    bool is_hdf5 = false;
    int rc = COV_OK;
    if (!cov_path_is_std(s->path) && !cov_path_is_url(s->path))
        rc = cov_h5_is_signed(s->path, &is_hdf5, e);
    if (!rc)
        rc = is_hdf5 ? read_file(s, job, e) : read_fasta(s, job, e);
    if (!rc)
        describe(s);
    return rc;
}

/* Reads a file and prints it. */
static int show(const char *path, const struct cov_sequence_info_options *o, struct cov_json *j,
                bool *has_head, struct summary *s, const struct cov_job *job, struct cov_err *e)
{
    *s = (struct summary){.path = path, .L = (size_t)o->L, .n_lower = -1};
    int rc = read_input(s, job, e);
    if (rc)
        return rc;
    if (o->json) {
        put_json(s, j);
    } else {
        if (!*has_head)
            print_head(s, o->printed);
        *has_head = true;
        print_row(s, o->printed);
    }
    return COV_OK;
}

int cov_sequence_info(char *const *paths, size_t n, const struct cov_sequence_info_options *options,
                      const struct cov_job *job, struct cov_err *e)
{
    struct cov_picture picture = COV_PICTURE_INIT;
    struct cov_json j;
    bool has_head = false;
    int rc = COV_OK;
    if (options->plot && n > 1)
        return cov_fail(e, COV_EUSAGE, "--plot draws one file, but %zu are given", n);
    rc = cov_picture_begin(&picture, options->plot, options->force, NULL, e);
    cov_json_init(&j, options->printed);
    if (options->json && !rc) {
        cov_json_begin_object(&j, NULL);
        cov_json_begin_array(&j, "files");
    }
    const bool begun = !rc;
    for (size_t i = 0; begun && i < n && rc != COV_ENOMEM; i++) {
        struct cov_err failure = COV_ERR_INIT;
        struct summary s;
        int failed = show(paths[i], options, &j, &has_head, &s, job, &failure);
        if (!failed)
            failed = report(&s, n > 1 ? paths[i] : NULL, job->stats, &failure);
        if (!failed && options->plot)
            failed = draw(&picture, &s, &failure);
        fini(&s);
        if (failed && rc)
            cov_warn("%s", failure.text);
        else if (failed)
            rc = cov_fail(e, failed, "%s", failure.text);
    }
    if (options->json && begun && rc != COV_ENOMEM) {
        cov_json_end_array(&j);
        cov_json_end_object(&j);
    }
    cov_picture_end(&picture, e);
    return rc;
}
