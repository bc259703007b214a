/* track_input.c - see track_source.h: tracks from a bigWig or bedGraph file.
 *
 * Values are floats and are not rounded, and contigs keep the order of the file. A contig is
 * announced to the sink when its first interval is read; contigs without intervals are announced
 * too, if the bigWig's header or the list of lengths names them.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/seq/names.h"
#include "common/signal/contig_filter.h"
#include "common/signal/track_source.h"
#include "common/track/formats/intervals.h"
#include "common/track/value_pipe.h"

struct track_input {
    struct cov_track_source base; /* first */
    const char *no_name[1];       /* base.datasets */
    const struct cov_source_options *o;
    struct cov_progress *progress;
    struct cov_intervals *file;
    struct cov_sizes sizes; /* without names: none */
    struct cov_contig_filter filter;
    struct cov_track_sink *sink; /* for the run. Borrowed */
    struct cov_value_pipe *pipe;
    /* The contigs listed in the file of sizes or in the bigWig's header. */
    size_t n_listed, next_listed; /* those before next_listed have been announced */
    bool *announced;              /* [n_listed] */
    /* The current contig. */
    bool begun, skips;
    size_t contig;  /* in the file */
    int64_t length; /* -1: unknown */
    int64_t end;    /* end of its last interval */
    int64_t n_bases;
};

/* ---------------------------------------------------------------- options */

static int check_options(const struct track_input *j, struct cov_err *e)
{
    const struct cov_source_options *o = j->o;
    const char *name = cov_intervals_name(j->file);
    bool is_bigwig = cov_intervals_kind(j->file) == COV_INTERVALS_BIGWIG;
    if (o->measured)
        return cov_fail(e, COV_EINPUT, "--experimental is for genome files; %s is a track", name);
    if (o->strand != COV_STRAND_AVG)
        return cov_fail(e, COV_EINPUT, "--strand: %s is a track, which has no strands", name);
    if (o->datasets.n > 0)
        return cov_fail(e, COV_EINPUT, "--datasets: %s is a track, which has no datasets", name);
    if (is_bigwig && o->sizes_path)
        return cov_fail(e, COV_EINPUT, "--chrom-sizes: %s is a bigWig, which has the lengths",
                        name);
    if (o->fill_gaps && !is_bigwig && !o->sizes_path)
        return cov_fail(e, COV_EINPUT, "--fill-gaps: %s has no lengths; give --chrom-sizes", name);
    return COV_OK;
}

/* ---------------------------------------------------------------- contigs */

static const char *listed_name(const struct track_input *j, size_t i)
{
    return j->sizes.names ? cov_names_get(j->sizes.names, i, NULL)
                          : cov_intervals_contig(j->file, i);
}

static int64_t listed_length(const struct track_input *j, size_t i)
{
    return j->sizes.names ? j->sizes.lengths[i] : cov_intervals_length(j->file, i);
}

/* With --fill-gaps, adds zeros from `beg` to `end`. */
static int fill_gap(struct track_input *j, int64_t beg, int64_t end, struct cov_err *e)
{
    const struct cov_interval zeros = {beg, end, 0};
    return j->o->fill_gaps && beg < end ? cov_value_pipe_add_intervals(j->pipe, &zeros, 1, e)
                                        : COV_OK;
}

/* Announces the listed contigs before `end` that had no intervals. */
static int announce_until(struct track_input *j, size_t end, struct cov_err *e)
{
    int rc = COV_OK;
    for (; !rc && j->next_listed < end; j->next_listed++) {
        struct cov_track_contig c;
        bool kept;
        const char *name = listed_name(j, j->next_listed);
        int64_t length = listed_length(j, j->next_listed);
        if (j->announced[j->next_listed])
            continue;
        rc = cov_contig_filter_take(&j->filter, name, &c, &kept, e);
        if (!rc)
            rc = cov_contig_filter_check_length(&j->filter, name, length,
                                                cov_intervals_name(j->file), e);
        if (rc || !kept)
            continue;
        rc = cov_track_begin_named(j->sink, c.name, e);
        if (rc)
            break;
        cov_value_pipe_begin(j->pipe, c.regions, c.n_regions);
        rc = fill_gap(j, 0, length, e);
        if (!rc)
            rc = cov_value_pipe_end(j->pipe, e);
        if (!rc)
            rc = cov_track_end_contig(j->sink, length, e);
    }
    return rc;
}

static int end_contig(struct track_input *j, struct cov_err *e)
{
    if (!j->begun || j->skips)
        return COV_OK;
    int rc = fill_gap(j, j->end, j->length, e);
    if (!rc)
        rc = cov_value_pipe_end(j->pipe, e);
    return rc ? rc : cov_track_end_contig(j->sink, j->length < 0 ? j->end : j->length, e);
}

/* Fails because the current interval's contig has no length. */
static int fail_unlisted(const struct track_input *j, const char *name, struct cov_err *e)
{
    char place[COV_INTERVALS_PLACE];
    struct cov_listing listed = {0};
    cov_intervals_place(j->file, 0, place);
    for (size_t i = 0; i < j->n_listed; i++)
        cov_listing_add(&listed, listed_name(j, i));
    return cov_fail(e, COV_EINPUT, "%s: contig %s is not in %s, which has: %s%s", place, name,
                    j->o->sizes_path, listed.text, cov_listing_more(&listed));
}

static int begin_contig(struct track_input *j, size_t contig, struct cov_err *e)
{
    const char *name = cov_intervals_contig(j->file, contig);
    struct cov_track_contig c;
    size_t i = contig;
    j->begun = true;
    j->contig = contig;
    j->end = 0;
    j->length = -1;
    bool kept;
    int rc = cov_contig_filter_take(&j->filter, name, &c, &kept, e);
    j->skips = !kept;
    if (rc)
        return rc;
    if (j->sizes.names && !cov_names_find(j->sizes.names, name, strlen(name), &i))
        return j->skips ? COV_OK : fail_unlisted(j, name, e);
    /* The header of a bigWig lists contigs in the order of the data. */
    rc = !j->sizes.names && j->n_listed > 0 ? announce_until(j, i, e) : COV_OK;
    if (!rc && j->n_listed > 0) {
        j->announced[i] = true;
        j->length = listed_length(j, i);
        rc = cov_contig_filter_check_length(&j->filter, name, j->length,
                                            cov_intervals_name(j->file), e);
    }
    if (rc || j->skips)
        return rc;
    rc = cov_track_begin_named(j->sink, c.name, e);
    if (!rc)
        cov_value_pipe_begin(j->pipe, c.regions, c.n_regions);
    return rc;
}

static int take_batch(struct track_input *j, const struct cov_intervals_batch *b, struct cov_err *e)
{
    if (j->skips)
        return COV_OK;
    for (size_t i = 0; i < b->n; i++) {
        if (j->length >= 0 && b->iv[i].end > j->length) {
            char place[COV_INTERVALS_PLACE];
            cov_intervals_place(j->file, i, place);
            return cov_fail(e, COV_EINPUT,
                            "%s: interval ends at %" PRId64 ", but %s has %" PRId64 " bases in %s",
                            place, b->iv[i].end, cov_intervals_contig(j->file, j->contig),
                            j->length, j->o->sizes_path);
        }
        j->n_bases += b->iv[i].end - b->iv[i].beg;
    }
    size_t first = 0;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < b->n; i++) {
        if (j->o->fill_gaps && b->iv[i].beg > j->end) {
            if (i > first)
                rc = cov_value_pipe_add_intervals(j->pipe, b->iv + first, i - first, e);
            if (!rc)
                rc = fill_gap(j, j->end, b->iv[i].beg, e);
            first = i;
        }
        j->end = b->iv[i].end;
    }
    return rc ? rc : cov_value_pipe_add_intervals(j->pipe, b->iv + first, b->n - first, e);
}

static int convert(struct track_input *j, struct cov_err *e)
{
    struct cov_intervals_batch b;
    int rc;
    while ((rc = cov_intervals_next(j->file, &b, e)) > 0) {
        rc = COV_OK;
        if (!j->begun || b.contig != j->contig) {
            rc = end_contig(j, e);
            if (!rc)
                rc = begin_contig(j, b.contig, e);
        }
        if (!rc)
            rc = take_batch(j, &b, e);
        if (rc)
            return rc;
        cov_progress_add(j->progress, (int64_t)b.n);
    }
    if (!rc)
        rc = end_contig(j, e);
    if (!rc && !j->begun && j->n_listed == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no intervals", cov_intervals_name(j->file));
    if (!rc)
        rc = announce_until(j, j->n_listed, e);
    if (rc)
        return rc;
    rc = cov_contig_filter_finish(&j->filter, cov_intervals_name(j->file), e);
    return rc || cov_track_n_contigs(j->sink)
               ? rc
               : cov_contig_filter_fail_empty(&j->filter, cov_intervals_name(j->file), e);
}

/* ---------------------------------------------------------------- all of it */

static int open_input(struct track_input *j, const char *input, struct cov_bgz *in,
                      unsigned n_threads, struct cov_err *e)
{
    int rc =
        in ? cov_intervals_new(in, &j->file, e) : cov_intervals_open(input, n_threads, &j->file, e);
    if (!rc)
        rc = check_options(j, e);
    if (!rc)
        rc = cov_contig_filter_open(&j->filter, j->o, e);
    if (!rc && j->o->sizes_path)
        rc = cov_sizes_read(j->o->sizes_path, &j->sizes, e);
    if (rc)
        return rc;
    j->n_listed =
        j->sizes.names ? cov_names_count(j->sizes.names) : cov_intervals_n_contigs(j->file);
    j->announced = cov_calloc(j->n_listed, sizeof *j->announced, e);
    return j->announced ? COV_OK : COV_ENOMEM;
}

static void close_input(struct cov_track_source *s)
{
    struct track_input *j = (struct track_input *)s;
    if (j->pipe)
        cov_value_pipe_fini(j->pipe);
    free(j->pipe);
    cov_contig_filter_close(&j->filter);
    cov_sizes_fini(&j->sizes);
    cov_intervals_close(j->file);
    free(j->announced);
    free(j);
}

static int track_run(struct cov_track_source *s, struct cov_track_sink *const *sinks,
                     const char *what, const struct cov_job *job, struct cov_err *e)
{
    struct track_input *j = (struct track_input *)s;
    j->sink = sinks[0];
    j->progress = job->progress;
    j->pipe = cov_calloc(1, sizeof *j->pipe, e);
    int rc = j->pipe ? cov_value_pipe_init(j->pipe, &j->o->values, false, j->sink, e) : COV_ENOMEM;
    if (rc)
        return rc;
    j->pipe->scale *= j->o->factors ? j->o->factors[0] : 1;
    j->pipe->operands = j->o->operands;
    double beg = cov_clock();
    cov_progress_begin(j->progress, what, "intervals", -1);
    rc = convert(j, e);
    double middle = cov_clock();
    if (!rc)
        rc = cov_track_close(j->sink, e);
    cov_progress_end(j->progress);
    if (job->stats) {
        job->stats->bases = j->n_bases;
        cov_stats_add_stage(job->stats, "convert", middle - beg);
        cov_stats_add_stage(job->stats, "finish", cov_clock() - middle);
    }
    return rc;
}

int cov_track_input_open(const char *path, struct cov_bgz *in, const struct cov_source_options *o,
                         unsigned n_threads, struct cov_track_source **out, struct cov_err *e)
{
    static const struct cov_source_type type = {.run = track_run, .close = close_input};
    *out = NULL;
    struct track_input *j = cov_calloc(1, sizeof *j, e);
    if (!j) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    j->o = o;
    int rc = open_input(j, path, in, n_threads, e);
    j->base = (struct cov_track_source){
        .type = &type, .label = "track", .is_track = true, .n_datasets = 1, .datasets = j->no_name};
    if (rc) {
        close_input(&j->base);
        return rc;
    }
    j->base.name = cov_intervals_name(j->file);
    j->base.has_lengths = j->sizes.names || cov_intervals_kind(j->file) == COV_INTERVALS_BIGWIG;
    *out = &j->base;
    return COV_OK;
}
