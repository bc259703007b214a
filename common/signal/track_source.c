/* track_source.c - see track_source.h.
 * SPDX-License-Identifier: MIT */
#include "common/signal/track_source.h"

#include <sys/stat.h>

#include "common/base/err.h"
#include "common/chunk/bases.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/h5/h5.h"
#include "common/track/formats/intervals.h"

/* Rejects common mistakes, and says which tool to use instead. */
static int refuse_foreign(const char *name, enum cov_kind kind, struct cov_err *e)
{
    static const char *const uses[] = {
        [COV_KIND_BAM] = "bam2h5 adds its coverage to a genome file",
        [COV_KIND_CRAM] = "bam2h5 adds its coverage to a genome file",
        [COV_KIND_SAM] = "bam2h5 adds its coverage to a genome file",
        [COV_KIND_FASTQ] = "map its reads first; bam2h5 adds their coverage to a genome file",
        [COV_KIND_BED] = "covpeaks compare and covpeaks stats read it",
        [COV_KIND_NARROWPEAK] = "covpeaks compare and covpeaks stats read it",
        [COV_KIND_FASTA] = "covpredict makes predictions from it",
    };
    if (kind >= COV_COUNT(uses) || !uses[kind])
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: not predictions or a track, but %s; %s", name,
                    cov_kind_name(kind), uses[kind]);
}

int cov_source_input_detect(const char *path, struct cov_source_input *input, struct cov_err *e)
{
    struct stat st;
    char bytes[COV_BGZ_PEEK];
    size_t n;
    enum cov_intervals_kind kind;
    *input = (struct cov_source_input){.path = path};
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
            rc = cov_fail(e, COV_EINPUT, "%s: a bigWig must be a regular file, not a pipe",
                          cov_bgz_name(input->in));
        else if (kind == COV_INTERVALS_NONE)
            rc = refuse_foreign(cov_bgz_name(input->in), cov_kind_of(bytes, n), e);
        if (!rc && kind == COV_INTERVALS_NONE)
            rc = cov_intervals_check_text(cov_bgz_name(input->in), bytes, n, e);
    }
    if (rc)
        cov_source_input_close(input);
    return rc;
}

void cov_source_input_close(struct cov_source_input *input)
{
    cov_bgz_abort(input->in);
    input->in = NULL;
}

void cov_source_options_detect(struct cov_source_options *o, const char *path)
{
    struct cov_h5 *h5;
    if (o->measured || cov_path_is_std(path) || cov_h5_open(path, &h5, NULL))
        return;
    o->measured = cov_bases_are_in(h5, NULL) > 0 && cov_h5_has(h5, "prediction", NULL) == 0;
    cov_h5_close(h5);
}

/* ---- several inputs ---- */

int cov_joint_inputs_share(struct cov_joint_input *list, size_t n,
                           const struct cov_source_options *o, struct cov_err *e)
{
    size_t n_signal = 0, n_measured = 0, n_bedgraph = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_track = list[i].in.is_track;
        const bool is_bedgraph =
            is_track && cov_kind_of_file(list[i].in.path, NULL) != COV_KIND_BIGWIG;
        list[i].o = *o;
        n_signal += !is_track;
        n_bedgraph += is_bedgraph;
        if (n > 1 && is_track) {
            list[i].o.measured = list[i].o.replicates = false;
            list[i].o.datasets.n = 0;
            list[i].o.strand = COV_STRAND_AVG;
        }
        if (n > 1 && !is_bedgraph)
            list[i].o.sizes_path = NULL;
        list[i].o.fill_gaps = o->fill_gaps && is_track;
        if (!is_track)
            cov_source_options_detect(&list[i].o, list[i].in.path);
        n_measured += !is_track && list[i].o.measured;
    }
    if (n_measured == 0 && o->replicates)
        return cov_fail(e, COV_EINPUT, "--replicates is for genome files; there is none");
    if (n_signal == 0 && (o->measured || o->datasets.n > 0 || o->strand != COV_STRAND_AVG))
        return cov_fail(e, COV_EINPUT, "--%s is for predictions and genome files; there is none",
                        o->measured         ? "experimental"
                        : o->datasets.n > 0 ? "datasets"
                                            : "strand");
    if (n_signal == n && o->fill_gaps)
        return cov_fail(e, COV_EINPUT, "--fill-gaps is for bigWig and bedGraph; there is none");
    if (n_bedgraph == 0 && o->sizes_path)
        return cov_fail(e, COV_EINPUT, "--chrom-sizes is for bedGraph; there is none");
    return COV_OK;
}

int cov_track_source_open(struct cov_source_input *input, const struct cov_source_options *o,
                          unsigned n_threads, struct cov_track_source **out, struct cov_err *e)
{
    struct cov_bgz *in = input->in;
    input->in = NULL;
    int rc = input->is_track ? cov_track_input_open(input->path, in, o, n_threads, out, e)
                             : cov_signal_input_open(input->path, in, o, out, e);
    if (!rc)
        (*out)->n_threads = n_threads;
    return rc;
}

int cov_track_source_open_path(const char *path, const struct cov_source_options *o,
                               unsigned n_threads, struct cov_track_source **out, struct cov_err *e)
{
    struct cov_source_input in = {0};
    *out = NULL;
    int rc = cov_source_input_detect(path, &in, e);
    return rc ? rc : cov_track_source_open(&in, o, n_threads, out, e);
}

bool cov_source_is_whole(const struct cov_source_options *o)
{
    return o->regions.n == 0 && !o->bed_path && !o->blacklist_path;
}

void cov_track_source_close(struct cov_track_source *s)
{
    if (s)
        s->type->close(s);
}

int cov_track_source_check_single(const struct cov_track_source *s, const char *option,
                                  struct cov_err *e)
{
    if (s->n_datasets == 1)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: %zu datasets (%s, %s%s); choose one with %s", s->name,
                    s->n_datasets, s->datasets[0], s->datasets[1], s->n_datasets > 2 ? ", ..." : "",
                    option);
}

int cov_track_source_keep(struct cov_track_source *s, const size_t *which, size_t n,
                          struct cov_err *e)
{
    return s->type->keep ? s->type->keep(s, which, n, e) : COV_OK;
}

double cov_track_source_denominator(const struct cov_track_source *s, size_t k)
{
    return s->type->denominator ? s->type->denominator(s, k) : 0;
}

bool cov_track_source_rows(const struct cov_track_source *s, struct cov_source_rows *out)
{
    return s->type->rows && s->type->rows(s, out);
}

int cov_track_source_describe(const struct cov_track_source *s, struct cov_stats *stats,
                              struct cov_err *e)
{
    return stats && s->type->describe ? s->type->describe(s, stats, e) : COV_OK;
}

int cov_track_source_run(struct cov_track_source *s, struct cov_track_sink *const *sinks,
                         const char *what, const struct cov_job *job, struct cov_err *e)
{
    struct cov_job own = *job;
    int rc = job->pool ? COV_OK : cov_pool_new(s->n_threads, &own.pool, e);
    if (!rc)
        rc = s->type->run(s, sinks, what, &own, e);
    if (!job->pool)
        cov_pool_free(own.pool);
    return rc;
}

/* ---- options ---- */

const char *const cov_source_strands[] = {"avg", "+", "-", NULL}; /* as in enum cov_strand */

int cov_source_options_finish(struct cov_source_options *o, struct cov_err *e)
{
    o->values.scale = 1;
    if (o->smooth && o->values.smoothing.window > 0)
        return cov_fail(e, COV_EUSAGE, "--smooth and --window-size cannot be used together");
    return o->smooth ? cov_smoothing_parse(o->smooth, "--smooth", &o->values.smoothing, e) : COV_OK;
}
