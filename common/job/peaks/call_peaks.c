/* call_peaks.c - see call_peaks.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/call_peaks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/track/formats/peak_file.h"

/* A greater share of the bases in peaks causes a warning. */
static const double MOST = 0.5;

/* The sink of the track. */
struct caller {
    struct cov_track_sink sink;
    bool broad;
    struct cov_peaks peaks, weak;
    char *contig; /* the current one; NULL: none. Owned */
    struct cov_peak_file *file;
    float max; /* the largest value of all contigs */
    uint64_t n_peaks, n_bases;
};

/* ---------------------------------------------------------------- calling */

static int put(struct caller *c, const struct cov_peak *peak, const struct cov_peak *blocks,
               size_t n, struct cov_err *e)
{
    c->n_peaks++;
    c->n_bases += (uint64_t)(peak->end - peak->beg);
    return cov_peak_file_add(c->file, c->contig, peak, blocks, n, e);
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
        rc = cov_peaks_add(&c->peaks, &iv[i], iv[i].beg, true, e);
        if (!rc && c->broad)
            rc = cov_peaks_add(&c->weak, &iv[i], iv[i].beg, true, e);
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
    enum cov_peak_format format;
    bool broad;
} suffixes[] = {
    {".narrowPeak", COV_PEAKS_NARROW, false},
    {".broadPeak", COV_PEAKS_BROAD, true},
    {".gappedPeak", COV_PEAKS_GAPPED, true},
    {".bed", COV_PEAKS_BED, false},
};

/* Sets format and compression by the output's suffix. */
static int find_format(const struct cov_call_options *o, struct cov_peak_file_options *file,
                       struct cov_err *e)
{
    const char *path = o->output;
    file->format = o->broad ? COV_PEAKS_GAPPED : o->summits ? COV_PEAKS_SUMMITS : COV_PEAKS_NARROW;
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
    if (file->format == COV_PEAKS_BED && o->summits)
        file->format = COV_PEAKS_SUMMITS;
    if (o->summits && file->format != COV_PEAKS_SUMMITS)
        return cov_fail(e, COV_EUSAGE, "%s: --summits writes .bed%s", path,
                        file->format == COV_PEAKS_NARROW ? "; column 10 of narrowPeak has them, too"
                                                         : "");
    if (file->format != COV_PEAKS_BED && !o->summits && suffixes[i].broad != o->broad)
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
    if (!(o->weak.cutoff < o->rules.cutoff))
        return cov_fail(e, COV_EUSAGE, "--weak-cutoff %g must be less than --cutoff %g",
                        (double)o->weak.cutoff, (double)o->rules.cutoff);
    if (o->weak.max_gap <= o->rules.max_gap)
        return cov_fail(e, COV_EUSAGE,
                        "--link-gap %" PRId64 " must be greater than --max-gap %" PRId64,
                        o->weak.max_gap, o->rules.max_gap);
    return COV_OK;
}

/* ---------------------------------------------------------------- all of it */

static int add_figures(const struct caller *c, struct cov_stats *stats, struct cov_err *e)
{
    const double genome = (double)c->sink.summary.n_bases;
    const struct cov_stats_figure figures[] = {
        {.name = "peaks",
         .title = "Peaks",
         .description = "number of peaks",
         .value = (double)c->n_peaks},
        {.name = "peak_bases",
         .title = "Bases in peaks",
         .description = "bases in peaks",
         .value = (double)c->n_bases,
         .is_hidden = true},
        {.name = "peak_share",
         .title = "In peaks",
         .description = "bases in peaks, as a share of the bases with a value",
         .suffix = "%",
         .decimals = 2,
         .value = genome > 0 ? 100 * (double)c->n_bases / genome : (double)NAN},
        {.name = "cutoff",
         .title = "Cutoff",
         .description = "the smallest value at both ends of a peak",
         .decimals = 2,
         .is_hidden = true,
         .value = (double)c->peaks.rules.cutoff},
    };
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_COUNT(figures); i++)
        rc = cov_stats_add_figure(stats, NULL, &figures[i], e);
    return rc;
}

static void tell(const struct caller *c, const char *name)
{
    char why[COV_PEAKS_REASON_BYTES];
    const double share = (double)c->n_bases / (double)c->sink.summary.n_bases;
    if (c->n_peaks > 0 && share > MOST)
        cov_warn("%s: %.0f %% of the bases are in peaks: the cutoff is too low to separate them",
                 name, 100 * share);
    if (c->n_peaks > 0) {
        cov_info("%" PRIu64 " peak%s with %" PRIu64 " bases", c->n_peaks,
                 cov_text_s((int64_t)c->n_peaks), c->n_bases);
        return;
    }
    cov_peaks_reason(&c->peaks.rules, c->max, "--min-length", why);
    cov_warn("%s: no peaks at %g: %s", name, (double)c->peaks.rules.cutoff, why);
}

static int run(struct cov_track_source *s, struct caller *c, unsigned n_threads,
               struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct cov_job job = {.progress = progress, .stats = stats};
    struct cov_track_sink *sink = &c->sink;
    int rc = cov_pool_new(n_threads, &job.pool, e);
    if (!rc)
        rc = cov_track_source_describe(s, stats, e);
    if (!rc)
        rc = cov_track_source_run(s, &sink, "calling peaks", &job, e);
    cov_pool_free(job.pool);
    return rc ? rc : cov_peak_file_close(c->file, e);
}

int cov_call_peaks(const char *input, const struct cov_call_options *o, unsigned n_threads,
                   struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct caller c = {.sink = {.format = &caller_format}, /* for cov_track_free */
                       .broad = o->broad,
                       .peaks = {.rules = o->rules},
                       .weak = {.rules = o->weak},
                       .max = -INFINITY};
    struct cov_peak_file_options file = {.mean = o->mean};
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_source_input in = {0};
    struct cov_track_source *source = NULL;
    const bool is_std = cov_path_is_std(o->output);
    char *stem = cov_path_stem(input, e);
    int rc = stem ? check_options(o, e) : COV_ENOMEM;
    if (!rc)
        rc = find_format(o, &file, e);
    if (!rc && !is_std)
        rc = cov_outfile_begin(&out, o->output, COV_OUTFILE_STREAM, o->force, e);
    if (!rc)
        rc = cov_source_input_detect(input, &in, e);
    if (!rc)
        rc = cov_track_source_open(&in, &o->source, n_threads, &source, e);
    if (!rc)
        rc = cov_track_source_check_single(source, e);
    if (!rc)
        rc = cov_track_init(&c.sink, &caller_format, source->name, source->contigs, e);
    if (!rc) {
        file.prefix = source->datasets[0] ? source->datasets[0] : stem;
        file.name = is_std ? "standard output" : o->output;
        rc = cov_peak_file_open(is_std ? "-" : out.tmp, &file, &c.file, e);
    }
    if (!rc)
        rc = run(source, &c, n_threads, progress, stats, e);
    if (!rc)
        rc = add_figures(&c, stats, e);
    if (!rc && !is_std)
        rc = cov_outfile_commit(&out, e);
    if (!rc)
        tell(&c, source->name);
    cov_peak_file_free(c.file);
    cov_track_free(&c.sink);
    cov_track_source_close(source);
    cov_source_input_close(&in);
    cov_outfile_end(&out, e);
    free(stem);
    return rc;
}
