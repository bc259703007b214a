/* convert.c - see track_jobs.h.
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/job/tracks/track_jobs.h"
#include "common/track/formats/bedgraph.h"
#include "common/track/formats/bigwig.h"

/* ---------------------------------------------------------------- files */

enum { TBI, CSI, INDEXES };

struct track_file {
    char *name; /* for messages */
    int fd;     /* bigWig for standard output: an unlinked file; else -1 */
    char fd_path[32];
    struct cov_outfile data;
    /* With announced contigs, the kind of index is known only at the end; until then both kinds
     * have an outfile. */
    struct cov_outfile indexes[INDEXES];
    char *index_names[INDEXES]; /* NULL: no index is written */
    struct cov_track_sink *sink;
};

struct cov_track_files {
    struct track_file *tracks;
    size_t n;
    struct cov_newdir directory; /* removed again unless a file is in it */
};

static const struct {
    const char *suffix;
    enum cov_track_kind kind;
} suffixes[] = {
    {".bw", COV_TRACK_BIGWIG},         {".bigWig", COV_TRACK_BIGWIG},
    {".bedGraph", COV_TRACK_BEDGRAPH}, {".bg", COV_TRACK_BEDGRAPH},
    {".bdg", COV_TRACK_BEDGRAPH},      {".bedGraph.gz", COV_TRACK_BEDGRAPH_GZ},
    {".bg.gz", COV_TRACK_BEDGRAPH_GZ}, {".bdg.gz", COV_TRACK_BEDGRAPH_GZ},
};

int cov_track_kind_of(const char *path, enum cov_track_kind *kind, struct cov_err *e)
{
    if (cov_path_is_std(path)) {
        *kind = COV_TRACK_BEDGRAPH;
        return COV_OK;
    }
    for (size_t i = 0; i < COV_COUNT(suffixes); i++)
        if (cov_path_has_suffix(path, suffixes[i].suffix)) {
            *kind = suffixes[i].kind;
            return COV_OK;
        }
    return cov_fail(e, COV_EUSAGE,
                    "%s: unknown suffix; use .bw .bigWig .bedGraph .bg .bdg or, compressed, "
                    ".bedGraph.gz .bg.gz .bdg.gz, or a directory that ends in '/'",
                    path);
}

/* ---------------------------------------------------------------- files: opening */

/* Dataset names come from files and must not lead to another directory. */
static int check_dataset(const char *dataset, struct cov_err *e)
{
    bool good = *dataset != '\0';
    for (const char *p = dataset; *p; p++)
        good = good && (unsigned char)*p >= ' ' && *p != 0x7f && *p != '/';
    if (good)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "dataset '%s': not usable as part of a file name", dataset);
}

static char *name_of(const struct cov_track_target *target, const char *dataset, struct cov_err *e)
{
    static const char *const endings[] = {".bw", ".bg", ".bg.gz"};
    if (!cov_path_names_dir(target->output))
        return cov_strdup(target->output, e);
    if (dataset && check_dataset(dataset, e))
        return NULL;
    char *file = cov_strfmt(e, "%s%s%s%s%s", target->basename, dataset ? "_" : "",
                            dataset ? dataset : "", target->tail, endings[target->kind]);
    char *path = file ? cov_path_join(target->output, file, e) : NULL;
    free(file);
    return path;
}

/* Begins the outfile of the index, or of both kinds if the kind is not known yet. An existing index
 * of the other kind counts as an existing output. */
static int begin_indexes(struct track_file *t, const struct cov_track_contigs *contigs, bool force,
                         struct cov_err *e)
{
    static const char *const suffixes_of[INDEXES] = {".tbi", ".csi"};
    for (int i = 0; i < INDEXES; i++) {
        t->index_names[i] = cov_strfmt(e, "%s%s", t->data.path, suffixes_of[i]);
        if (!t->index_names[i])
            return COV_ENOMEM;
    }
    for (int i = 0; i < INDEXES; i++) {
        const char *path = t->index_names[i];
        if (!contigs || i == (cov_bedgraph_list_needs_csi(contigs) ? CSI : TBI)) {
            int rc = cov_outfile_begin(&t->indexes[i], path, COV_OUTFILE_BESIDE, force, e);
            if (rc)
                return rc;
        } else if (!force && access(path, F_OK) == 0) {
            return cov_fail(e, COV_EEXIST, "%s: already exists; use -f to replace it", path);
        }
    }
    return COV_OK;
}

static int open_track(struct track_file *t, const struct cov_track_target *target,
                      const struct cov_track_contigs *contigs, const char *dataset,
                      unsigned n_threads, struct cov_err *e)
{
    const bool is_bigwig = target->kind == COV_TRACK_BIGWIG;
    const bool is_std = cov_path_is_std(target->output);
    struct cov_bedgraph_options o = {.compress = target->kind == COV_TRACK_BEDGRAPH_GZ,
                                     .n_threads = n_threads};
    const struct cov_bigwig_options options = {target->pool,
                                               target->tmpdir || !is_std ? target->tmpdir : "."};
    if (is_std) {
        t->name = cov_strdup("standard output", e);
        if (!t->name || !is_bigwig)
            return t->name ? cov_bedgraph_open("-", t->name, contigs, &o, &t->sink, e) : COV_ENOMEM;
        int code = cov_tmpfile(options.tmpdir, &t->fd, e);
        (void)snprintf(t->fd_path, sizeof t->fd_path, "/proc/self/fd/%d", t->fd);
        return code ? code : cov_bigwig_open(t->fd_path, t->name, contigs, &options, &t->sink, e);
    }
    t->name = name_of(target, dataset, e);
    if (!t->name)
        return e ? e->code : COV_EINPUT;
    int rc = cov_outfile_begin(
        &t->data, t->name, is_bigwig ? COV_OUTFILE_BIGWIG : COV_OUTFILE_BEDGRAPH, target->force, e);
    if (rc)
        return rc;
    if (is_bigwig)
        return cov_bigwig_open(t->data.tmp, t->name, contigs, &options, &t->sink, e);
    if (o.compress && !t->data.in_place) {
        rc = begin_indexes(t, contigs, target->force, e);
        if (rc)
            return rc;
        o.tbi_path = t->indexes[TBI].tmp;
        o.csi_path = t->indexes[CSI].tmp;
    }
    return cov_bedgraph_open(t->data.tmp, t->name, contigs, &o, &t->sink, e);
}

int cov_track_files_open(const struct cov_track_target *target,
                         const struct cov_track_contigs *contigs, const char *const *datasets,
                         size_t n_datasets, unsigned n_threads, struct cov_track_files **out,
                         struct cov_err *e)
{
    *out = NULL;
    if (!cov_path_names_dir(target->output) && n_datasets > 1)
        return cov_fail(e, COV_EINPUT,
                        "%s: %zu datasets (%s, %s%s) do not fit in one file; choose one "
                        "with --datasets, or use -o with a directory",
                        cov_path_is_std(target->output) ? "standard output" : target->output,
                        n_datasets, datasets[0], datasets[1], n_datasets > 2 ? ", ..." : "");
    if (n_datasets == 0)
        return cov_fail(e, COV_EINPUT, "%s: nothing to write", target->output);
    struct cov_track_files *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->directory = (struct cov_newdir){0};
    int rc = COV_ENOMEM;
    f->tracks = cov_calloc(n_datasets, sizeof *f->tracks, e);
    if (!f->tracks)
        goto out;
    f->n = n_datasets;
    for (size_t i = 0; i < f->n; i++) {
        f->tracks[i].fd = -1;
        f->tracks[i].data = f->tracks[i].indexes[TBI] = f->tracks[i].indexes[CSI] =
            (struct cov_outfile)COV_OUTFILE_INIT;
    }
    unsigned share = n_threads > n_datasets ? n_threads / (unsigned)n_datasets : 1;
    rc = cov_path_names_dir(target->output) ? cov_newdir_make(&f->directory, target->output, e)
                                            : COV_OK;
    for (size_t i = 0; i < f->n && !rc; i++)
        rc = open_track(&f->tracks[i], target, contigs, datasets[i], share, e);
out:
    if (rc)
        cov_track_files_free(f);
    else
        *out = f;
    return rc;
}

struct cov_track_sink *cov_track_files_sink(const struct cov_track_files *f, size_t k)
{
    assert(f);
    return f->tracks[k].sink;
}

/* ---------------------------------------------------------------- files: ending */

/* Returns the kind of index that is not needed; INDEXES if the track has no index. */
static int other_index(const struct track_file *t)
{
    if (!t->index_names[TBI])
        return INDEXES;
    return cov_bedgraph_needs_csi(t->sink) ? TBI : CSI;
}

/* Copies a finished bigWig to standard output. */
static int copy_out(const struct track_file *t, struct cov_err *e)
{
    char buf[1 << 16];
    for (off_t at = 0;;) {
        ssize_t n = pread(t->fd, buf, sizeof buf, at);
        if (n > 0)
            n = write(STDOUT_FILENO, buf, (size_t)n);
        else if (n == 0)
            return COV_OK;
        if (n < 0 && errno != EINTR)
            return cov_fail_errno(e, "%s", t->name);
        at += n > 0 ? n : 0;
    }
}

int cov_track_files_commit(struct cov_track_files *f, struct cov_err *e)
{
    assert(f);
    size_t n = 0;
    struct cov_outfile **files = cov_malloc(f->n * (1 + INDEXES), sizeof *files, e);
    if (!files)
        return COV_ENOMEM;
    for (size_t i = 0; i < f->n; i++) {
        struct track_file *t = &f->tracks[i];
        files[n++] = &t->data;
        for (int k = 0; k < INDEXES; k++)
            if (k == other_index(t))
                cov_outfile_abort(&t->indexes[k]);
            else
                files[n++] = &t->indexes[k];
    }
    int rc = f->tracks[0].fd >= 0 ? copy_out(&f->tracks[0], e) : COV_OK;
    if (!rc)
        rc = cov_outfile_commit_all(files, n, e);
    free(files);
    /* A stale index of the other kind would be used for the new file. */
    for (size_t i = 0; i < f->n && !rc; i++) {
        const struct track_file *t = &f->tracks[i];
        int other = other_index(t);
        if (other < INDEXES && unlink(t->index_names[other]) != 0 && errno != ENOENT)
            rc = cov_fail_errno(e, "%s: cannot be removed", t->index_names[other]);
    }
    return rc;
}

void cov_track_files_free(struct cov_track_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->tracks && i < f->n; i++) {
        struct track_file *t = &f->tracks[i];
        cov_track_free(t->sink);
        cov_outfile_abort(&t->data);
        if (t->fd >= 0)
            (void)close(t->fd);
        for (int k = 0; k < INDEXES; k++) {
            cov_outfile_abort(&t->indexes[k]);
            free(t->index_names[k]);
        }
        free(t->name);
    }
    cov_newdir_fini(&f->directory);
    free(f->tracks);
    free(f);
}

/* ---------------------------------------------------------------- the job */

struct convert_job {
    const char *input;
    const struct cov_convert_options *o;
    struct cov_pool *pool;
    struct cov_source_options options, whole_options;
    struct cov_track_source *source;
    struct cov_track_source *whole; /* the input without regions, to normalize; NULL: none */
    double *factors;                /* [source->n_datasets]; NULL: none */
    struct cov_track_files *files;
    struct cov_track_sink **sinks; /* borrowed from the files */
};

/* ---------------------------------------------------------------- options */

/* The format of the output. */
static enum cov_track_kind kind_of_output(const struct cov_convert_options *o)
{
    enum cov_track_kind kind = COV_TRACK_BIGWIG;
    /* check_options has checked the suffix of a file. */
    if (o->has_kind || cov_path_names_dir(o->output) || cov_track_kind_of(o->output, &kind, NULL))
        return o->has_kind ? o->kind : COV_TRACK_BIGWIG;
    return kind;
}

static int check_options(const struct cov_convert_options *o, struct cov_err *e)
{
    if (!o->output)
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (cov_path_names_dir(o->output)) {
        if (o->basename && strchr(o->basename, '/'))
            return cov_fail(e, COV_EUSAGE, "--basename %s: must not contain '/'", o->basename);
        return COV_OK;
    }
    enum cov_track_kind kind;
    bool is_std = cov_path_is_std(o->output);
    int rc = cov_track_kind_of(o->output, &kind, e);
    if (!rc && o->has_kind && !is_std)
        rc = cov_fail(e, COV_EUSAGE, "--format is for an output directory or '-'; %s is a file",
                      o->output);
    if (!rc && is_std && kind_of_output(o) != COV_TRACK_BEDGRAPH && isatty(STDOUT_FILENO))
        rc = cov_fail(e, COV_EUSAGE, "-o -: a compressed track cannot go to a terminal");
    if (!rc && o->basename)
        rc = cov_fail(e, COV_EUSAGE, "--basename is for an output directory; %s is a file",
                      o->output);
    return rc;
}

/* Checks the output options against the input. */
static int check_source(const struct convert_job *j, struct cov_err *e)
{
    if (j->source->has_lengths || kind_of_output(j->o) != COV_TRACK_BIGWIG)
        return COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "%s: unknown contig lengths, which bigWig needs; use --chrom-sizes FILE",
                    j->source->name);
}

/* ---------------------------------------------------------------- outputs */

/* Returns the suffix of the file names, as in Predmoter: "_avg_strand_bl_ws=150", or "_bl_ws=150"
 * for a track; or "_avg_strand_smooth=2.5". */
static char *name_tail(const struct cov_source_options *o, bool is_track, struct cov_err *e)
{
    static const char *const strands[] = {"_avg_strand", "_+_strand", "_-_strand"};
    const struct cov_smoothing *s = &o->values.smoothing;
    char smoothing[64] = "";
    if (s->window > 0)
        (void)snprintf(smoothing, sizeof smoothing, "_ws=%" PRId64, s->window);
    else if (s->sd > 0)
        (void)snprintf(smoothing, sizeof smoothing, "_smooth=%.9g", s->sd);
    return cov_strfmt(e, "%s%s%s", is_track ? "" : strands[o->strand],
                      o->blacklist_path ? "_bl" : "", smoothing);
}

static int open_tracks(struct convert_job *j, const char *tail, const char *stem, struct cov_err *e)
{
    const struct cov_convert_options *o = j->o;
    const struct cov_track_target target = {.output = o->output,
                                            .force = o->force,
                                            .pool = j->pool,
                                            .tmpdir = o->tmpdir,
                                            .basename = o->basename ? o->basename : stem,
                                            .tail = tail,
                                            .kind = kind_of_output(o)};
    int rc = cov_track_files_open(&target, j->source->contigs, j->source->datasets,
                                  j->source->n_datasets, cov_pool_size(j->pool), &j->files, e);
    for (size_t k = 0; !rc && k < j->source->n_datasets; k++)
        j->sinks[k] = cov_track_files_sink(j->files, k);
    return rc;
}

static int open_outputs(struct convert_job *j, struct cov_err *e)
{
    const struct cov_track_source *s = j->source;
    j->sinks = cov_calloc(s->n_datasets, sizeof *j->sinks, e);
    if (!j->sinks)
        return COV_ENOMEM;
    char *tail = name_tail(&j->o->source, s->is_track, e);
    char *stem = cov_path_stem(j->input, e);
    int rc = tail && stem ? COV_OK : COV_ENOMEM;
    if (!rc)
        rc = open_tracks(j, tail, stem, e);
    free(tail);
    free(stem);
    return rc;
}

static void tell(const struct convert_job *j)
{
    for (size_t k = 0; k < j->source->n_datasets; k++) {
        const struct cov_track_sink *s = cov_track_files_sink(j->files, k);
        const struct cov_track_summary *sum = &s->summary;
        const char *dataset = j->source->datasets[k];
        cov_debug("%s: %s%s%llu interval%s on %zu contig%s, values %.9g to %.9g", s->name,
                  dataset ? dataset : "", dataset ? ", " : "", (unsigned long long)sum->n_intervals,
                  cov_text_s((int64_t)sum->n_intervals), cov_track_n_contigs(s),
                  cov_text_s((int64_t)cov_track_n_contigs(s)), sum->min, sum->max);
    }
}

/* ---------------------------------------------------------------- normalization */

static int add_nothing(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                       struct cov_err *e)
{
    (void)s, (void)iv, (void)n, (void)e;
    return COV_OK;
}

static void free_nothing(struct cov_track_sink *s)
{
    (void)s;
}

/* Sets j->factors from the sums of the tracks of j->whole. */
static int find_factors(struct convert_job *j, struct cov_progress *progress, struct cov_err *e)
{
    static const struct cov_track_format format = {.add = add_nothing, .free = free_nothing};
    const struct cov_job job = {.pool = j->pool, .progress = progress};
    struct cov_track_source *s = j->whole;
    size_t n = s->n_datasets;
    struct cov_track_sink *sums = cov_calloc(n, sizeof *sums, e);
    struct cov_track_sink **sinks = cov_calloc(n, sizeof *sinks, e);
    j->factors = cov_calloc(n, sizeof *j->factors, e);
    int rc = sums && sinks && j->factors ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        sinks[k] = &sums[k];
        sums[k].format = &format; /* for cov_track_free */
        rc = cov_track_init(&sums[k], &format, s->name, s->contigs, e);
    }
    if (!rc)
        rc = cov_track_source_run(s, sinks, "summing", &job, e);
    for (size_t k = 0; !rc && k < n; k++) {
        double sum = sums[k].summary.sum;
        if (!(sum > 0))
            rc = cov_fail(e, COV_EINPUT, "%s: %s%sthe sum of the values is %g; cannot normalize",
                          s->name, s->datasets[k] ? s->datasets[k] : "", s->datasets[k] ? ": " : "",
                          sum);
        else
            j->factors[k] = 1e6 / sum;
    }
    for (size_t k = 0; sinks && k < n; k++)
        cov_track_free(sinks[k]);
    free(sinks);
    free(sums);
    cov_track_source_close(j->whole);
    j->whole = NULL;
    return rc;
}

/* ---------------------------------------------------------------- inputs */

static int check_input(const struct convert_job *j, struct cov_err *e)
{
    struct stat st;
    bool is_std = cov_path_is_std(j->input);
    if (j->o->normalization == COV_NORMALIZE_NONE ||
        (!is_std && (stat(j->input, &st) != 0 || S_ISREG(st.st_mode))))
        return COV_OK;
    return cov_fail(e, is_std ? COV_EUSAGE : COV_EINPUT,
                    "--normalize reads the input twice; %s is not a file that can be read again",
                    is_std ? "standard input" : j->input);
}

/* Opens j->source with j->options, and, to normalize, the whole input. */
static int open_input(struct convert_job *j, unsigned n_threads, struct cov_err *e)
{
    struct cov_source_options *all = &j->whole_options;
    int rc = cov_track_source_open_path(j->input, &j->options, n_threads, &j->source, e);
    if (!rc && j->source)
        rc = check_source(j, e);
    if (rc || j->o->normalization == COV_NORMALIZE_NONE)
        return rc;
    *all = j->o->source;
    all->values.scale = 1;
    all->values.skip_zero = all->values.has_min = false;
    all->values.bin = 0;
    all->regions.n = 0;
    all->bed_path = NULL;
    all->quiet = true; /* j->source warns */
    return cov_track_source_open_path(j->input, all, n_threads, &j->whole, e);
}

/* ---------------------------------------------------------------- all of it */

int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct convert_job this = {.input = input, .o = options, .options = options->source},
                       *j = &this;
    struct cov_job job = {.progress = progress, .stats = stats};
    int rc = check_options(j->o, e);
    if (!rc)
        rc = check_input(j, e);
    if (!rc)
        rc = open_input(j, n_threads, e);
    if (!rc)
        rc = cov_pool_new(n_threads, &j->pool, e);
    if (!rc)
        rc = open_outputs(j, e);
    job.pool = j->pool;
    if (!rc)
        rc = cov_track_source_describe(j->source, stats, e);
    if (!rc && j->whole)
        rc = find_factors(j, progress, e);
    j->options.factors = j->factors;
    if (!rc)
        rc = cov_track_source_run(j->source, j->sinks, "converting", &job, e);
    double beg = cov_clock();
    if (!rc)
        rc = cov_track_files_commit(j->files, e);
    if (!rc && stats)
        cov_stats_add_stage(stats, "finish", cov_clock() - beg);
    if (!rc)
        tell(j);
    cov_track_files_free(j->files);
    cov_track_source_close(j->source);
    cov_track_source_close(j->whole);
    free(j->sinks);
    free(j->factors);
    cov_pool_free(j->pool);
    return rc;
}
