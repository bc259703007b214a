/* call_peaks.c - see peak_jobs.h.
 *
 * Columns of the files are those of ENCODE: contig, first base (from 0), end, name, score, ".", then
 *   narrowPeak  signalValue, -1, -1, offset of the summit
 *   broadPeak   signalValue, -1, -1
 *   gappedPeak  thickStart, thickEnd, 0, number of blocks, their sizes and offsets, signalValue, -1,
 *               -1
 * The score is 10 times the largest value, without its fraction, at most 1000.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/bgz.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/job/peaks/peak_jobs.h"

/* A greater share of the bases in peaks causes a warning. */
static const double MOST = 0.5;

/* ---------------------------------------------------------------- files of peaks */

enum peak_format {
    PEAKS_NARROW,
    PEAKS_BROAD,
    PEAKS_GAPPED,
    PEAKS_BED,
    PEAKS_SUMMITS, /* BED: the summit of each peak, one base */
};

enum { MAX_SCORE = 1000 };

/* Strings are borrowed. */
struct peak_file {
    enum peak_format format;
    bool compress;      /* BGZF */
    bool mean;          /* signalValue is the mean of all bases, not the largest value */
    const char *prefix; /* peaks are called "<prefix>_peak_1" and so on */
    const char *name;   /* for messages */
    const char *path;
    struct cov_bgz *out;
};

static int print(struct peak_file *f, struct cov_err *e, const char *format, ...) COV_PRINTF(3, 4);

/* Writes text. The stream has a buffer. */
static int print(struct peak_file *f, struct cov_err *e, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    const int n = vasprintf(&text, format, list);
    va_end(list);
    if (n < 0)
        return cov_fail(e, COV_ENOMEM, "%s: out of memory", f->name);
    int rc = cov_bgz_write(f->out, text, (size_t)n, e);
    free(text);
    if (rc)
        cov_err_rename(e, f->path, f->name);
    return rc;
}

/* Prints a list of the blocks' sizes or offsets, ended by a tab. */
static int print_blocks(struct peak_file *f, const struct cov_peak *peak,
                        const struct cov_peak *blocks, size_t n, bool sizes, struct cov_err *e)
{
    const bool first = n == 0 || blocks[0].beg > peak->beg;
    const bool last = n == 0 || blocks[n - 1].end < peak->end;
    int rc = first ? print(f, e, "%d%s", sizes, n || last ? "," : "") : COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = print(f, e, "%" PRId64 "%s",
                   sizes ? blocks[i].end - blocks[i].beg : blocks[i].beg - peak->beg,
                   i + 1 < n || last ? "," : "");
    if (!rc && last)
        rc = print(f, e, "%" PRId64, sizes ? 1 : peak->end - peak->beg - 1);
    return rc ? rc : print(f, e, "\t");
}

static int print_gapped(struct peak_file *f, const struct cov_peak *peak,
                        const struct cov_peak *blocks, size_t n, struct cov_err *e)
{
    const size_t ends =
        n ? (size_t)(blocks[0].beg > peak->beg) + (blocks[n - 1].end < peak->end) : 2;
    int rc = print(f, e, "\t%" PRId64 "\t%" PRId64 "\t0\t%zu\t", n ? blocks[0].beg : peak->beg,
                   n ? blocks[n - 1].end : peak->beg, n + ends);
    if (!rc)
        rc = print_blocks(f, peak, blocks, n, true, e);
    return rc ? rc : print_blocks(f, peak, blocks, n, false, e);
}

/* Writes peak number `number`. gappedPeak: blocks[n] are the narrow peaks in it, ascending; its first
 * and last base become blocks of one base unless they are in one. */
static int print_peak(struct peak_file *f, const char *contig, const struct cov_peak *peak,
                      uint64_t number, const struct cov_peak *blocks, size_t n, struct cov_err *e)
{
    const enum peak_format format = f->format;
    const double signal = f->mean ? peak->sum / (double)(peak->end - peak->beg) : (double)peak->max;
    const double score = 10.0 * (double)peak->max;
    const bool summit = format == PEAKS_SUMMITS;
    int rc = print(f, e, "%s\t%" PRId64 "\t%" PRId64 "\t%s_peak_%" PRIu64 "\t%d\t.", contig,
                   summit ? peak->summit : peak->beg, summit ? peak->summit + 1 : peak->end,
                   f->prefix, number,
                   score >= MAX_SCORE ? MAX_SCORE
                   : score > 0        ? (int)score
                                      : 0);
    if (!rc && format == PEAKS_GAPPED)
        rc = print_gapped(f, peak, blocks, n, e);
    else if (!rc && (format == PEAKS_NARROW || format == PEAKS_BROAD))
        rc = print(f, e, "\t");
    if (!rc && format != PEAKS_BED && !summit)
        rc = print(f, e, "%.6g\t-1\t-1", signal);
    if (!rc && format == PEAKS_NARROW)
        rc = print(f, e, "\t%" PRId64, peak->summit - peak->beg);
    return rc ? rc : print(f, e, "\n");
}

/* ---------------------------------------------------------------- calling */

/* The sink of the track. */
struct caller {
    struct cov_track_sink sink;
    bool broad;
    struct cov_peaks peaks, weak;
    char *contig; /* the current one; NULL: none. Owned */
    struct peak_file file;
    float max;                           /* the largest value of all contigs */
    int64_t n_read;                      /* bases with a value so far, of all contigs */
    uint64_t n_peaks, n_bases, n_valued; /* n_valued: those of n_bases that have a value */
};

static int put(struct caller *c, const struct cov_peak *peak, const struct cov_peak *blocks,
               size_t n, struct cov_err *e)
{
    c->n_peaks++;
    c->n_bases += (uint64_t)(peak->end - peak->beg);
    c->n_valued += (uint64_t)(peak->count_end - peak->count_beg);
    return print_peak(&c->file, c->contig, peak, c->n_peaks, blocks, n, e);
}

/* Writes the broad peaks of a contig. Each narrow peak is in one of them. */
static int put_broad(struct caller *c, struct cov_err *e)
{
    const struct cov_peak *blocks = c->peaks.list;
    const struct cov_peak *end = blocks + c->peaks.n;
    int rc = COV_OK;
    for (size_t i = 0; !rc && c->peaks.n > 0 && i < c->weak.n; i++) {
        const struct cov_peak *peak = &c->weak.list[i];
        size_t n = 0;
        while (blocks + n < end && blocks[n].end <= peak->end)
            n++;
        rc = put(c, peak, blocks, n, e);
        blocks += n;
    }
    return rc;
}

static int end_contig(struct caller *c, struct cov_err *e)
{
    if (!c->contig)
        return COV_OK;
    int rc = cov_peaks_end(&c->peaks, e);
    if (!rc && c->broad)
        rc = cov_peaks_end(&c->weak, e);
    c->max = fmaxf(c->max, c->peaks.max);
    if (!rc && c->broad)
        return put_broad(c, e);
    for (size_t i = 0; !rc && i < c->peaks.n; i++)
        rc = put(c, &c->peaks.list[i], NULL, 0, e);
    return rc;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct caller *c = (struct caller *)s;
    int rc = end_contig(c, e);
    if (rc)
        return rc;
    free(c->contig);
    c->contig = cov_strdup(s->contig_name, e);
    cov_peaks_begin(&c->peaks);
    cov_peaks_begin(&c->weak);
    return c->contig ? COV_OK : COV_ENOMEM;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct caller *c = (struct caller *)s;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        rc = cov_peaks_add(&c->peaks, &iv[i], c->n_read, true, e);
        if (!rc && c->broad)
            rc = cov_peaks_add(&c->weak, &iv[i], c->n_read, true, e);
        c->n_read += iv[i].end - iv[i].beg;
    }
    return rc;
}

static int close_sink(struct cov_track_sink *s, struct cov_err *e)
{
    return end_contig((struct caller *)s, e);
}

static void free_sink(struct cov_track_sink *s)
{
    struct caller *c = (struct caller *)s;
    cov_peaks_fini(&c->peaks);
    cov_peaks_fini(&c->weak);
    free(c->contig);
}

static const struct cov_track_format caller_format = {begin, add, close_sink, free_sink};

/* ---------------------------------------------------------------- options */

static const struct {
    const char *suffix;
    enum peak_format format;
    bool broad;
} suffixes[] = {
    {".narrowPeak", PEAKS_NARROW, false},
    {".broadPeak", PEAKS_BROAD, true},
    {".gappedPeak", PEAKS_GAPPED, true},
    {".bed", PEAKS_BED, false},
};

/* Sets format and compression by the output's suffix. */
static int find_format(const struct cov_call_options *o, struct peak_file *file, struct cov_err *e)
{
    const char *path = o->output;
    file->format = o->broad ? PEAKS_GAPPED : o->summits ? PEAKS_SUMMITS : PEAKS_NARROW;
    if (cov_path_is_std(path))
        return COV_OK;
    file->compress = cov_path_has_suffix(path, ".gz");
    char *name = cov_strndup(path, strlen(path) - (file->compress ? strlen(".gz") : 0), e);
    if (!name)
        return COV_ENOMEM;
    size_t i = 0;
    while (i < COV_COUNT(suffixes) && !cov_path_has_suffix(name, suffixes[i].suffix))
        i++;
    free(name);
    if (i == COV_COUNT(suffixes))
        return cov_fail(e, COV_EUSAGE,
                        "%s: unknown suffix; use .narrowPeak or .bed, with --broad .gappedPeak, "
                        ".broadPeak or .bed, each also with .gz",
                        path);
    file->format = suffixes[i].format;
    if (file->format == PEAKS_BED && o->summits)
        file->format = PEAKS_SUMMITS;
    if (o->summits && file->format != PEAKS_SUMMITS)
        return cov_fail(e, COV_EUSAGE, "%s: --summits needs .bed%s", path,
                        file->format == PEAKS_NARROW
                            ? "; column 10 of narrowPeak already has the summits"
                            : "");
    if (file->format != PEAKS_BED && !o->summits && suffixes[i].broad != o->broad)
        return cov_fail(e, COV_EUSAGE,
                        o->broad ? "%s: with --broad, use .gappedPeak, .broadPeak or .bed"
                                 : "%s: this format needs --broad; use .narrowPeak or .bed",
                        path);
    return COV_OK;
}

static int check_options(const struct cov_call_options *o, struct cov_err *e)
{
    if (!o->broad)
        return COV_OK;
    if (o->summits)
        return cov_fail(e, COV_EUSAGE, "--summits and --broad cannot be used together");
    if (o->automatic.by == COV_AUTO_NONE && !(o->weak.cutoff < o->rules.cutoff))
        return cov_fail(e, COV_EUSAGE, "--weak-cutoff %g must be less than --cutoff %g",
                        (double)o->weak.cutoff, (double)o->rules.cutoff);
    if (o->weak.max_gap <= o->rules.max_gap)
        return cov_fail(e, COV_EUSAGE,
                        "--link-gap %" PRId64 " must be greater than --max-gap %" PRId64,
                        o->weak.max_gap, o->rules.max_gap);
    return COV_OK;
}

/* ---------------------------------------------------------------- results */

/* The share of the bases in peaks, of those with a value. NaN: none has one. */
static double share_of(const struct caller *c)
{
    return c->n_read > 0 ? (double)c->n_valued / (double)c->n_read : (double)NAN;
}

static int add_figures(const struct caller *c, struct cov_stats *stats, struct cov_err *e)
{
    const struct cov_stats_figure figures[] = {
        {"peaks", "Peaks", "number of peaks", .value = (double)c->n_peaks},
        {"peak_bases", "Bases in peaks", "bases in peaks", .is_hidden = true,
         .value = (double)c->n_bases},
        {"peak_share", "In peaks", "share of the bases in peaks, of those with a value",
         .suffix = "%", .decimals = 2, .value = 100 * share_of(c)},
        {"cutoff", "Cutoff", "the smallest value at both ends of a peak", .decimals = 2,
         .is_hidden = true, .value = (double)c->peaks.rules.cutoff},
        {"weak_cutoff", "Weak cutoff", "the smallest value at both ends of a broad peak",
         .decimals = 2, .is_hidden = true,
         .value = c->broad ? (double)c->weak.rules.cutoff : (double)NAN},
    };
    return cov_stats_add_figures(stats, NULL, figures, COV_COUNT(figures), e);
}

/* For --stats. */
struct report {
    struct cov_auto_options automatic;
    struct cov_auto_result chosen;
    double cutoff, weak_cutoff, share; /* weak_cutoff: NaN if peaks are not broad */
    uint64_t n_peaks, n_bases;
};

/* "peaks": {...} of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    static const char *const names[] = {NULL, "count", "share", "measured"};
    const struct report *r = arg;
    const enum cov_auto_by by = r->automatic.by;
    cov_json_begin_object(json, "peaks");
    cov_json_double(json, "cutoff", r->cutoff);
    if (!isnan(r->weak_cutoff))
        cov_json_double(json, "weak_cutoff", r->weak_cutoff);
    cov_json_string(json, "auto", names[by]);
    if (by == COV_AUTO_COUNT)
        cov_json_int(json, "wanted", r->automatic.count);
    if (by == COV_AUTO_SHARE)
        cov_json_double(json, "wanted", r->automatic.share);
    if (by == COV_AUTO_MEASURED)
        cov_json_double(json, "f1", r->chosen.f1);
    cov_json_int(json, "n", (int64_t)r->n_peaks);
    cov_json_int(json, "bases", (int64_t)r->n_bases);
    cov_json_double(json, "share", r->share);
    cov_json_end_object(json);
}

static int add_report(const struct caller *c, const struct cov_call_options *o,
                      const struct cov_auto_result *chosen, struct cov_stats *stats,
                      struct cov_err *e)
{
    struct report *r = cov_malloc(1, sizeof *r, e);
    if (!r)
        return COV_ENOMEM;
    *r = (struct report){.automatic = o->automatic,
                         .chosen = *chosen,
                         .cutoff = (double)c->peaks.rules.cutoff,
                         .weak_cutoff = c->broad ? (double)c->weak.rules.cutoff : (double)NAN,
                         .share = share_of(c),
                         .n_peaks = c->n_peaks,
                         .n_bases = c->n_bases};
    cov_stats_set_more(stats, print_json, free, r);
    return COV_OK;
}

static void report_cutoff(const struct caller *c, const struct cov_call_options *call,
                          const struct cov_auto_result *chosen, const char *name)
{
    const struct cov_auto_options *o = &call->automatic;
    const uint64_t most = chosen->most;
    char cutoff[80];
    if (c->broad)
        (void)snprintf(cutoff, sizeof cutoff, "cutoff %.6g, weak cutoff %.6g",
                       (double)c->peaks.rules.cutoff, (double)c->weak.rules.cutoff);
    else
        (void)snprintf(cutoff, sizeof cutoff, "cutoff %.6g", (double)c->peaks.rules.cutoff);
    if (o->by == COV_AUTO_COUNT && most < (uint64_t)o->count)
        cov_warn("%s: no cutoff gives %" PRId64 " peak%s; the most is %" PRIu64, name, o->count,
                 cov_text_s(o->count), most);
    if (chosen->is_limited)
        cov_warn("%s: the weak cutoff cannot be higher: %s", name,
                 call->has_cutoff
                     ? "the next value is not less than --cutoff"
                     : "no sequence has a peak at twice the next value; -c sets the cutoff");
    if (o->by == COV_AUTO_COUNT)
        cov_info("%s: the number of peaks is closest to %" PRId64, cutoff, o->count);
    else if (o->by == COV_AUTO_SHARE)
        cov_info("%s: %.4g %% of the bases are in peaks, closest to %.4g %%", cutoff,
                 100 * share_of(c), 100 * o->share);
    else
        cov_info("%s: the F1 of bases in peaks, %.4f, is the largest", cutoff, chosen->f1);
}

static void report_peaks(const struct caller *c, const struct cov_call_options *o,
                         const struct cov_auto_result *chosen, const char *name)
{
    char why[COV_PEAKS_REASON_BYTES];
    const double share = share_of(c);
    if (o->automatic.by != COV_AUTO_NONE)
        report_cutoff(c, o, chosen, name);
    if (c->n_peaks > 0 && share > MOST)
        cov_warn("%s: %.0f %% of the bases are in peaks: the cutoff is too low to separate them",
                 name, 100 * share);
    if (c->n_peaks > 0) {
        cov_info("%" PRIu64 " peak%s with %" PRIu64 " bases", c->n_peaks,
                 cov_text_s((int64_t)c->n_peaks), c->n_bases);
        return;
    }
    cov_peaks_reason(&c->peaks.rules, c->max, "--min-length", why);
    cov_warn("%s: %s", name, why);
}

/* ---------------------------------------------------------------- an automatic cutoff */

/* The track, stored because it is read several times. */
struct stored {
    struct cov_interval_store *store; /* NULL: not stored */
    struct cov_scores scores;
    struct cov_measured measured;
    struct cov_auto_result chosen; /* the cutoffs */
    char *dir;
};

static int prepare(struct stored *t, const struct cov_track_source *s,
                   const struct cov_call_options *o, struct cov_err *e)
{
    t->dir = o->tmpdir ? cov_strdup(o->tmpdir, e) : cov_path_dir(o->output, e);
    int rc =
        t->dir ? cov_interval_store_new(s->name, s->contigs, t->dir, &t->store, e) : COV_ENOMEM;
    return rc ? rc
              : cov_scores_init(&t->scores, s, COV_AUTO_VALUES,
                                o->automatic.by == COV_AUTO_MEASURED ? &t->measured : NULL, e);
}

static void free_stored(struct stored *t)
{
    if (t->scores.sink.format)
        cov_track_free(&t->scores.sink);
    cov_interval_store_free(t->store);
    cov_measured_fini(&t->measured);
    free(t->dir);
}

/* Passes the stored track on. */
static int replay(struct stored *t, struct cov_track_sink *to, struct cov_err *e)
{
    const struct cov_track_sink *from = cov_interval_store_sink(t->store);
    struct cov_interval_cursor *cursor = cov_malloc(1, sizeof *cursor, e);
    const struct cov_interval *iv;
    size_t n;
    int rc = cursor ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < cov_track_n_contigs(from); i++) {
        rc = from->contigs ? cov_track_begin(to, i, e)
                           : cov_track_begin_named(to, cov_track_contig_name(from, i), e);
        cov_interval_cursor_begin(cursor, t->store, i);
        while (!rc && (rc = cov_interval_cursor_next(cursor, &iv, &n, e)) > 0)
            rc = cov_track_add(to, iv, n, e);
        if (!rc && !from->contigs)
            rc = cov_track_end_contig(to, cov_track_contig_length(from, i), e);
    }
    free(cursor);
    return rc ? rc : cov_track_close(to, e);
}

/* Finds the cutoffs, and calls the peaks of the stored track. */
static int call_stored(struct stored *t, const struct cov_track_source *s,
                       const struct cov_call_options *o, struct caller *c, struct cov_err *e)
{
    const struct cov_auto_rules rules = {.peaks = o->broad ? o->weak : o->rules,
                                         .is_broad = o->broad,
                                         .has_strong = o->has_cutoff,
                                         .strong = o->rules};
    int rc = replay(t, &t->scores.sink, e);
    if (!rc)
        rc = cov_scores_check(&t->scores, s, &o->source, e);
    if (!rc)
        rc = cov_auto_cutoff_find(t->store, &t->scores, &o->automatic, &rules, &t->chosen, e);
    if (o->broad)
        c->weak.rules.cutoff = t->chosen.sums.cutoff;
    c->peaks.rules.cutoff = o->broad ? t->chosen.strong : t->chosen.sums.cutoff;
    return rc ? rc : replay(t, &c->sink, e);
}

/* ---------------------------------------------------------------- all of it */

/* The input and the output; empty if all zero, except for `out`. */
struct files {
    struct cov_track_source *source;
    struct cov_outfile out;
    char *stem;
};

static int open_sinks(struct files *f, const struct cov_call_options *o, struct caller *c,
                      struct stored *stored, struct cov_err *e)
{
    const struct cov_track_source *s = f->source;
    struct peak_file *file = &c->file;
    const bool is_std = cov_path_is_std(o->output);
    file->prefix = s->datasets[0] ? s->datasets[0] : f->stem;
    file->name = is_std ? "standard output" : o->output;
    file->path = is_std ? "-" : f->out.tmp;
    int rc = cov_track_init(&c->sink, &caller_format, s->name, s->contigs, e);
    if (!rc && o->automatic.by != COV_AUTO_NONE)
        rc = prepare(stored, s, o, e);
    return rc ? rc
              : cov_bgz_open_write(file->path, file->compress ? COV_BGZ_DEFLATE : COV_BGZ_PLAIN, 1,
                                   &file->out, e);
}

static int call_run(struct cov_track_source *s, const struct cov_call_options *o,
                    struct stored *stored, struct caller *c, const struct cov_job *job,
                    struct cov_err *e)
{
    struct cov_track_sink *sink = stored->store ? cov_interval_store_sink(stored->store) : &c->sink;
    int rc = cov_track_source_describe(s, job->stats, e);
    if (!rc)
        rc = cov_track_source_run(s, &sink, "calling peaks", job, e);
    if (!rc && stored->store)
        rc = call_stored(stored, s, o, c, e);
    if (rc)
        return rc;
    rc = cov_bgz_close(c->file.out, e);
    c->file.out = NULL;
    if (rc)
        cov_err_rename(e, c->file.path, c->file.name);
    return rc;
}

int cov_call_peaks(const char *input, const struct cov_call_options *o, unsigned n_threads,
                   struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct caller c = {.sink = {.format = &caller_format}, /* for cov_track_free */
                       .broad = o->broad,
                       .file = {.mean = o->mean},
                       .peaks = {.rules = o->rules},
                       .weak = {.rules = o->weak},
                       .max = -INFINITY};
    struct files f = {.out = COV_OUTFILE_INIT};
    struct stored stored = {0};
    const struct cov_job job = {.progress = progress, .stats = stats};
    const bool is_std = cov_path_is_std(o->output);
    f.stem = cov_path_stem(input, e);
    int rc = f.stem ? check_options(o, e) : COV_ENOMEM;
    if (!rc)
        rc = find_format(o, &c.file, e);
    if (!rc && !is_std)
        rc = cov_outfile_begin(&f.out, o->output, COV_OUTFILE_PEAKS, o->force, e);
    if (!rc && o->automatic.by == COV_AUTO_MEASURED)
        rc = cov_measured_read(&o->automatic.measured, n_threads, progress, &stored.measured, e);
    if (!rc)
        rc = cov_track_source_open_path(input, &o->source, n_threads, &f.source, e);
    if (!rc)
        rc = cov_track_source_check_single(f.source, "--datasets", e);
    if (!rc)
        rc = open_sinks(&f, o, &c, &stored, e);
    if (!rc)
        rc = call_run(f.source, o, &stored, &c, &job, e);
    if (!rc)
        rc = add_figures(&c, stats, e);
    if (!rc)
        rc = add_report(&c, o, &stored.chosen, stats, e);
    if (!rc && !is_std)
        rc = cov_outfile_commit(&f.out, e);
    if (!rc)
        report_peaks(&c, o, &stored.chosen, f.source->name);
    cov_bgz_abort(c.file.out);
    cov_track_free(&c.sink);
    free_stored(&stored);
    cov_track_source_close(f.source);
    cov_outfile_end(&f.out, e);
    free(f.stem);
    return rc;
}
