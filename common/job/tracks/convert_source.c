/* convert_source.c - see convert_source.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/job/tracks/convert_signal.h"
#include "common/job/tracks/convert_track.h"
#include "common/track/formats/intervals.h"

struct cov_convert_source {
    struct cov_convert_signal *signal; /* one of the two */
    struct cov_convert_track *track;
    bool measured; /* the signal */
};

/* What is often given instead, and what is to be done with it. */
static int refuse_foreign(const char *name, enum cov_kind kind, struct cov_err *e)
{
    static const char *const uses[] = {
        [COV_KIND_BAM] = "bam2h5 counts its coverage into a genome file",
        [COV_KIND_CRAM] = "bam2h5 counts its coverage into a genome file",
        [COV_KIND_SAM] = "bam2h5 counts its coverage into a genome file",
        [COV_KIND_FASTA] = "fasta2h5 makes a genome file of it, covpredict predictions",
    };
    if (kind >= COV_COUNT(uses) || !uses[kind])
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: this is %s: %s", name, cov_kind_name(kind), uses[kind]);
}

int cov_convert_input_look(const char *path, struct cov_convert_input *input, struct cov_err *e)
{
    struct stat st;
    char bytes[COV_BGZ_PEEK];
    size_t n;
    enum cov_intervals_kind kind;
    *input = (struct cov_convert_input){.path = path};
    if (!cov_path_is_std(path) &&
        (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        int rc = cov_intervals_detect(path, &kind, e);
        input->is_track = kind != COV_INTERVALS_NONE;
        return rc || input->is_track ? rc : refuse_foreign(path, cov_kind_of_file(path, NULL), e);
    }
    int rc = cov_bgz_open_read(path, 1, &input->in, e);
    if (!rc)
        rc = cov_bgz_peek(input->in, bytes, sizeof bytes, &n, e);
    if (!rc) {
        kind = cov_intervals_kind_of(bytes, n);
        input->is_track = kind == COV_INTERVALS_BEDGRAPH;
        if (kind == COV_INTERVALS_BIGWIG)
            rc = cov_fail(e, COV_EINPUT, "%s: a bigWig is read from a regular file only",
                          cov_bgz_name(input->in));
        else if (kind == COV_INTERVALS_NONE)
            rc = refuse_foreign(cov_bgz_name(input->in), cov_kind_of(bytes, n), e);
    }
    if (rc)
        cov_convert_input_close(input);
    return rc;
}

void cov_convert_input_close(struct cov_convert_input *input)
{
    cov_bgz_abort(input->in);
    input->in = NULL;
}

int cov_convert_source_open(struct cov_convert_input *input, const struct cov_convert_options *o,
                            unsigned n_threads, struct cov_convert_source **out, struct cov_err *e)
{
    struct cov_bgz *in = input->in;
    input->in = NULL;
    *out = NULL;
    struct cov_convert_source *s = cov_calloc(1, sizeof *s, e);
    if (!s) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    s->measured = o->measured;
    int rc = input->is_track ? cov_convert_track_open(input->path, in, o, n_threads, &s->track, e)
                             : cov_convert_signal_open(input->path, in, o, &s->signal, e);
    if (rc)
        cov_convert_source_close(s);
    else
        *out = s;
    return rc;
}

void cov_convert_source_close(struct cov_convert_source *s)
{
    if (!s)
        return;
    cov_convert_signal_close(s->signal);
    cov_convert_track_close(s->track);
    free(s);
}

const char *cov_convert_source_name(const struct cov_convert_source *s)
{
    return s->track ? cov_convert_track_name(s->track) : cov_convert_signal_name(s->signal);
}

bool cov_convert_source_is_track(const struct cov_convert_source *s)
{
    return s->track;
}

bool cov_convert_source_has_lengths(const struct cov_convert_source *s)
{
    return !s->track || cov_convert_track_has_lengths(s->track);
}

const char *cov_convert_source_label(const struct cov_convert_source *s)
{
    return s->track ? "track" : s->measured ? "measured" : "predicted";
}

size_t cov_convert_source_n_datasets(const struct cov_convert_source *s)
{
    return s->track ? 1 : cov_convert_signal_n_datasets(s->signal);
}

const char *cov_convert_source_dataset(const struct cov_convert_source *s, size_t k)
{
    return s->track ? NULL : cov_convert_signal_dataset(s->signal, k);
}

int cov_convert_source_keep(struct cov_convert_source *s, const size_t *which, size_t n,
                            struct cov_err *e)
{
    return s->track ? COV_OK : cov_convert_signal_keep(s->signal, which, n, e);
}

const struct cov_track_contigs *cov_convert_source_contigs(const struct cov_convert_source *s)
{
    return s->track ? NULL : cov_convert_signal_contigs(s->signal);
}

int cov_convert_source_run(struct cov_convert_source *s, struct cov_pool *pool,
                           struct cov_track_sink *const *sinks, const char *what,
                           struct cov_progress *progress, struct cov_stats *stats,
                           struct cov_err *e)
{
    return s->track ? cov_convert_track_run(s->track, sinks[0], what, progress, stats, e)
                    : cov_convert_signal_run(s->signal, pool, sinks, what, progress, stats, e);
}
