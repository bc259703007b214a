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
#include "common/track/bins.h"
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

const char *cov_track_files_name(const struct cov_track_files *f, size_t k)
{
    assert(f);
    return f->tracks[k].name;
}

int cov_track_files_commit(struct cov_track_files *f, struct cov_outfile *more, size_t n_more,
                           struct cov_err *e)
{
    assert(f);
    size_t n = 0;
    struct cov_outfile **files = cov_malloc(f->n * (1 + INDEXES) + n_more, sizeof *files, e);
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
    for (size_t i = 0; i < n_more; i++)
        files[n++] = &more[i];
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
    size_t n; /* inputs: the main one, and others to combine it with */
    struct cov_joint_input *inputs;
    struct cov_source_options whole_options;
    struct cov_track_source *source;    /* the main one, borrowed */
    struct cov_track_source *whole;     /* the same without regions, to normalize; NULL: none */
    struct cov_interval_store **stores; /* [n - 1][source->n_datasets]: the others; NULL: none */
    struct cov_operand *items;          /* [source->n_datasets][n - 1] */
    struct cov_operands *operands;      /* [source->n_datasets]; NULL: none */
    double *factors;                    /* [source->n_datasets]; NULL: none */
    struct cov_track_files *files;
    struct cov_track_sink **sinks; /* borrowed from the files */
    struct cov_outfile hub[COV_HUB_FILES];
};

/* By enum cov_operation: the end of a file name; without _, the option. */
static const char *const operations[] = {"", "_minus", "_log2", "_mean"};

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
    if (o->is_hub && !cov_path_names_dir(o->output))
        return cov_fail(e, COV_EUSAGE, "--hub %s: not a directory; end a new one in '/'",
                        o->output);
    if (o->is_hub && kind_of_output(o) != COV_TRACK_BIGWIG)
        return cov_fail(e, COV_EUSAGE, "--hub needs the format bigwig");
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
 * for a track; or "_avg_strand_smooth=2.5_log2". */
static char *name_tail(const struct cov_source_options *o, bool is_track, struct cov_err *e)
{
    static const char *const strands[] = {"_avg_strand", "_+_strand", "_-_strand"};
    const struct cov_smoothing *s = &o->values.smoothing;
    char smoothing[64] = "";
    if (s->window > 0)
        (void)snprintf(smoothing, sizeof smoothing, "_ws=%" PRId64, s->window);
    else if (s->sd > 0)
        (void)snprintf(smoothing, sizeof smoothing, "_smooth=%.9g", s->sd);
    return cov_strfmt(e, "%s%s%s%s", is_track ? "" : strands[o->strand],
                      o->blacklist_path ? "_bl" : "", smoothing, operations[o->values.operation]);
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
    if (!rc && o->is_hub)
        rc = cov_hub_begin(j->hub, o->output, o->force, e);
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

static int write_hub(struct convert_job *j, struct cov_err *e)
{
    const struct cov_convert_options *o = j->o;
    const size_t n = j->source->n_datasets;
    const char **tracks = cov_calloc(n, sizeof *tracks, e);
    char *stem = cov_path_stem(j->input, e);
    const struct cov_hub_target target = {.dir = o->output,
                                          .name = o->basename ? o->basename : stem,
                                          .igv = o->igv,
                                          .tracks = tracks,
                                          .n_tracks = n,
                                          .sink = j->sinks[0]};
    for (size_t k = 0; tracks && k < n; k++)
        tracks[k] = cov_track_files_name(j->files, k);
    const int rc = tracks && stem ? cov_hub_write(j->hub, &target, e) : COV_ENOMEM;
    free(tracks);
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

/* Sets *factor for the track of dataset k with this sum. */
static int find_factor(const struct cov_track_source *s, size_t k, double sum, double *factor,
                       struct cov_err *e)
{
    *factor = 1e6 / sum;
    if (sum > 0)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: %s%sthe sum of the values is %g; cannot normalize", s->name,
                    s->datasets[k] ? s->datasets[k] : "", s->datasets[k] ? ": " : "", sum);
}

/* Sets j->factors from the sums of the tracks of j->whole. */
static int find_factors(struct convert_job *j, struct cov_progress *progress, struct cov_err *e)
{
    const int64_t all_bases = INT64_C(1) << 62; /* as one bin */
    const struct cov_job job = {.pool = j->pool, .progress = progress};
    struct cov_track_source *s = j->whole;
    size_t n = s->n_datasets;
    struct cov_bin_means *sums = cov_calloc(n, sizeof *sums, e);
    struct cov_track_sink **sinks = cov_calloc(n, sizeof *sinks, e);
    j->factors = cov_calloc(n, sizeof *j->factors, e);
    int rc = sums && sinks && j->factors ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        sinks[k] = &sums[k].sink;
        rc = cov_bin_means_init(&sums[k], all_bases, s->name, s->contigs, e);
    }
    if (!rc)
        rc = cov_track_source_run(s, sinks, "summing", &job, e);
    for (size_t k = 0; !rc && k < n; k++)
        rc = find_factor(s, k, sums[k].sink.summary.sum, &j->factors[k], e);
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

/* Detects what the inputs are, and chooses the options for each. Those to combine are neither scaled
 * nor filtered before that. */
static int choose_options(struct convert_job *j, struct cov_err *e)
{
    j->inputs = cov_calloc(j->n, sizeof *j->inputs, e);
    int rc = j->inputs ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < j->n; i++) {
        const char *path = i ? j->o->others.items[i - 1] : j->input;
        rc = i && cov_path_same_file(path, j->input)
                 ? cov_fail(e, COV_EINPUT, "%s: the same file as %s", path, j->input)
                 : cov_source_input_detect(path, &j->inputs[i].in, e);
    }
    if (rc)
        return rc;
    j->inputs[0].o = j->o->source;
    if (j->n > 1)
        rc = cov_joint_inputs_share(j->inputs, j->n, &j->o->source, e);
    for (size_t i = 0; j->n > 1 && i < j->n; i++) {
        struct cov_source_options *o = &j->inputs[i].o;
        o->values.scale = 1;
        if (i > 0)
            o->values.skip_zero = o->values.has_min = false;
        if (i == 0 || j->o->normalization == COV_NORMALIZE_NONE)
            continue;
        o->regions.n = 0; /* the sum is that of all bases */
        o->bed_path = NULL;
    }
    return rc;
}

/* Opens the inputs, and, to normalize, the whole main input. Opening HDF5 forks, so the inputs that
 * are opened first must not start threads. */
static int open_inputs(struct convert_job *j, unsigned n_threads, struct cov_err *e)
{
    const bool chosen = j->o->source.datasets.n > 0;
    struct cov_source_options *all = &j->whole_options;
    struct cov_joint_input *in = j->inputs;
    int rc = COV_OK;
    for (size_t i = j->n; !rc && i-- > 0;)
        rc = cov_track_source_open(&in[i].in, &in[i].o, i ? 1 : n_threads, &in[i].source, e);
    j->source = in[0].source;
    if (!rc)
        rc = check_source(j, e);
    /* An input may lack datasets, which the second pass then drops from those before it. */
    for (size_t i = 1; !rc && i < 2 * j->n - 1; i++)
        rc = cov_other_match(j->source, in[i < j->n ? i : i - j->n + 1].source, chosen, e);
    if (rc || j->o->normalization == COV_NORMALIZE_NONE)
        return rc;
    *all = in[0].o;
    all->values.scale = 1;
    all->values.skip_zero = all->values.has_min = false;
    all->values.bin = j->n > 1 ? all->values.bin : 0; /* the others are in bins, too */
    all->regions.n = 0;
    all->bed_path = NULL;
    all->quiet = true; /* j->source warns */
    rc = cov_track_source_open_path(j->input, all, n_threads, &j->whole, e);
    return rc || j->n == 1 ? rc : cov_other_match(j->source, j->whole, false, e);
}

/* ---------------------------------------------------------------- other tracks */

/* A larger share of bases without a value in another track causes a warning. */
static const double MOST_MISSING = 0.1;

/* After normalization, a smaller mean, divided by the pseudo-count, causes a warning. */
static const double SMALLEST_MEAN = 0.1;

/* Stores the tracks of the other inputs. */
static int store_others(struct convert_job *j, const struct cov_job *job, struct cov_err *e)
{
    const char *output = j->o->output, *tmpdir = j->o->tmpdir;
    const char *option = operations[j->o->source.values.operation] + 1;
    const size_t n = j->source->n_datasets;
    char *dir = tmpdir || cov_path_names_dir(output) ? cov_strdup(tmpdir ? tmpdir : output, e)
                                                     : cov_path_dir(output, e);
    j->stores = cov_calloc((j->n - 1) * n, sizeof(struct cov_interval_store *), e);
    int rc = dir && j->stores ? COV_OK : COV_ENOMEM;
    for (size_t i = 1; !rc && i < j->n; i++) {
        rc = cov_track_source_describe(j->inputs[i].source, job->stats, e);
        if (!rc)
            rc = cov_other_store(j->source, j->inputs[i].source, dir, option, job,
                                 j->stores + (i - 1) * n, e);
    }
    free(dir);
    return rc;
}

/* Tells the main input what to combine its tracks with. Factors and scale apply to bins, too. */
static int make_operands(struct convert_job *j, struct cov_err *e)
{
    const size_t n = j->source->n_datasets, n_others = j->n - 1;
    const double scale = j->o->source.values.scale;
    j->operands = cov_calloc(n, sizeof *j->operands, e);
    j->items = cov_calloc(n * n_others, sizeof *j->items, e);
    int rc = j->operands && j->items ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        struct cov_operand *items = j->items + k * n_others;
        j->operands[k] =
            (struct cov_operands){scale * (j->factors ? j->factors[k] : 1), items, n_others};
        for (size_t i = 0; !rc && i < n_others; i++) {
            double factor = 1;
            items[i].store = j->stores[i * n + k];
            if (j->factors)
                rc = find_factor(j->inputs[i + 1].source, k,
                                 cov_interval_store_sink(items[i].store)->summary.sum, &factor, e);
            items[i].factor = scale * factor;
        }
    }
    j->inputs[0].o.operands = j->operands;
    return rc;
}

/* Warns of a pseudo-count that is so much greater than normalized values that it hides them. */
static void warn_of_pseudocount(const struct convert_job *j)
{
    const double pseudocount = j->o->source.values.pseudocount;
    for (size_t k = 0; k < j->source->n_datasets; k++) {
        const struct cov_operand *other = &j->items[k * (j->n - 1)];
        const struct cov_track_summary *sum = &cov_interval_store_sink(other->store)->summary;
        const double mean = other->factor * sum->sum / (double)sum->n_bases;
        if (mean > pseudocount * SMALLEST_MEAN)
            continue;
        cov_warn("%s: after --normalize, the mean is %.3g; --log2 adds %g, which hides most "
                 "differences; use a smaller --pseudocount, or --scale %.3g",
                 j->inputs[1].source->name, mean, pseudocount,
                 j->o->source.values.scale * pseudocount / mean);
        return;
    }
}

static int check_contigs(const struct convert_job *j, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 1; !rc && i < j->n; i++)
        rc = cov_other_check_contigs(j->source, j->sinks[0], j->inputs[i].source,
                                     j->items[i - 1].store, j->o->source.blacklist_path, e);
    return rc;
}

/* Warns if the others lack many of the n_bases of the main input. */
static void warn_of_gaps(const struct convert_job *j, int64_t n_bases)
{
    const struct cov_source_options *o = &j->o->source;
    if (!cov_source_is_whole(o) || o->values.skip_zero || o->values.has_min || n_bases <= 0)
        return;
    for (size_t k = 0; k < j->source->n_datasets; k++) {
        const double missing = 1 - (double)j->sinks[k]->summary.n_bases / (double)n_bases;
        if (missing > MOST_MISSING)
            cov_warn("%s: no values in --%s at %.0f %% of its bases, which become gaps%s",
                     j->source->name, operations[o->values.operation] + 1, 100 * missing,
                     o->fill_gaps ? "" : "; --fill-gaps counts them as 0");
    }
}

/* ---------------------------------------------------------------- all of it */

static void free_job(struct convert_job *j)
{
    for (size_t i = 0; i < COV_HUB_FILES; i++)
        cov_outfile_abort(&j->hub[i]);
    cov_track_files_free(j->files);
    for (size_t i = 0; j->stores && i < (j->n - 1) * j->source->n_datasets; i++)
        cov_interval_store_free(j->stores[i]);
    for (size_t i = 0; j->inputs && i < j->n; i++) {
        cov_source_input_close(&j->inputs[i].in);
        cov_track_source_close(j->inputs[i].source);
    }
    cov_track_source_close(j->whole);
    free(j->operands);
    free(j->items);
    free(j->stores);
    free(j->inputs);
    free(j->sinks);
    free(j->factors);
    cov_pool_free(j->pool);
}

int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct convert_job this = {.input = input, .o = options, .n = options->others.n + 1},
                       *j = &this;
    struct cov_job job = {.progress = progress, .stats = stats};
    for (size_t i = 0; i < COV_HUB_FILES; i++)
        j->hub[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    int rc = check_options(j->o, e);
    if (!rc)
        rc = check_input(j, e);
    if (!rc)
        rc = choose_options(j, e);
    if (!rc)
        rc = open_inputs(j, n_threads, e);
    if (!rc)
        rc = cov_pool_new(n_threads, &j->pool, e);
    if (!rc)
        rc = open_outputs(j, e);
    job.pool = j->pool;
    if (!rc)
        rc = cov_track_source_describe(j->source, stats, e);
    if (!rc && j->whole)
        rc = find_factors(j, progress, e);
    if (!rc && j->n > 1)
        rc = store_others(j, &job, e);
    if (!rc && j->n > 1)
        rc = make_operands(j, e);
    if (!rc && j->factors && options->source.values.operation == COV_OP_LOG2)
        warn_of_pseudocount(j);
    if (!rc && j->n == 1)
        j->inputs[0].o.factors = j->factors;
    if (!rc && j->source->contigs)
        rc = check_contigs(j, e);
    if (!rc)
        rc = cov_track_source_run(j->source, j->sinks, "converting", &job, e);
    if (!rc && !j->source->contigs)
        rc = check_contigs(j, e);
    if (!rc && j->n > 1 && stats)
        warn_of_gaps(j, stats->bases);
    double beg = cov_clock();
    if (!rc && options->is_hub)
        rc = write_hub(j, e);
    if (!rc)
        rc = cov_track_files_commit(j->files, j->hub, options->is_hub ? COV_HUB_FILES : 0, e);
    if (!rc && stats)
        cov_stats_add_stage(stats, "finish", cov_clock() - beg);
    if (!rc)
        tell(j);
    free_job(j);
    return rc;
}
