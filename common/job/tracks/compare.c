/* compare.c - see compare.h. The measured tracks are read first and put aside, as their contigs
 * may stand in another order than those of the input, which is then compared as it comes.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/compare.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/job/tracks/compare_report.h"
#include "common/job/tracks/convert_plot.h"
#include "common/job/tracks/convert_source.h"
#include "common/track/formats/intervals.h"

/* Lives on as what --stats has to tell. */
struct job {
    struct cov_compare_options o;
    struct cov_convert_options measured_options;
    int64_t bin_sizes[COV_COMPARE_MAX_BIN_SIZES];
    char *measured_path, *stem, *dir;
    struct cov_pool *pool;
    struct cov_convert_source *source, *measured;
    /* Data sets, of both. */
    size_t n;
    struct cov_interval_store **stores;
    struct cov_comparison_options comparison;
    struct cov_compare_track *tracks;
    struct cov_track_sink **sinks; /* of the stores, and then of the comparisons */
    struct cov_compare_report report;
    struct cov_outfile out;        /* of the table; empty when it is printed */
    struct cov_convert_plot *plot; /* NULL: none */
    const char **datasets;         /* its names of them */
};

/* ---------------------------------------------------------------- options */

static int check_options(const struct cov_compare_options *o, struct cov_err *e)
{
    const struct cov_convert_options *input = &o->input;
    struct stat st;
    if (cov_path_is_std(o->measured))
        return cov_fail(e, COV_EUSAGE, "--compare: it is not read from standard input");
    if (stat(o->measured, &st) != 0)
        return cov_fail_errno(e, "%s", o->measured);
    if (!S_ISREG(st.st_mode))
        return cov_fail(e, COV_EUSAGE, "--compare %s: it is not a regular file, as it has to be",
                        o->measured);
    if (input->has_kind || input->basename)
        return cov_fail(e, COV_EUSAGE,
                        "--%s is about tracks in an output folder; --compare writes a table",
                        input->has_kind ? "format" : "basename");
    if (input->output && cov_path_names_dir(input->output))
        return cov_fail(e, COV_EUSAGE, "%s is a folder; --compare writes a table to a file",
                        input->output);
    enum cov_track_kind kind;
    if (input->output && !cov_path_is_std(input->output) &&
        cov_track_kind_of(input->output, &kind, NULL) == COV_OK)
        return cov_fail(e, COV_EUSAGE,
                        "%s: its suffix is that of a track; --compare writes a table",
                        input->output);
    if (o->has_threshold && fabs(o->threshold) > (double)FLT_MAX)
        return cov_fail(e, COV_EUSAGE, "--peak-threshold: %g is beyond what values can be",
                        o->threshold);
    return COV_OK;
}

/* How the measured file is read. Of a genome file that is compared with a track --datasets names
 * the data set, and --strand the strand, which are otherwise about the input too. */
static int choose_options(struct job *j, bool is_track, struct cov_err *e)
{
    enum cov_intervals_kind kind;
    struct cov_convert_options *o = &j->measured_options, *input = &j->o.input;
    int rc = cov_intervals_detect(j->measured_path, &kind, e);
    if (rc)
        return rc;
    o->scale = 1;
    if (kind != COV_INTERVALS_NONE)
        return COV_OK;
    o->measured = true;
    o->strand = input->strand;
    if (is_track) {
        o->datasets = input->datasets;
        o->n_datasets = input->n_datasets;
        input->n_datasets = 0;
        input->strand = COV_STRAND_AVG;
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- data sets */

static void list_datasets(const struct cov_convert_source *s, struct cov_listing *l)
{
    for (size_t k = 0; k < cov_convert_source_n_datasets(s); k++)
        cov_listing_add(l, cov_convert_source_dataset(s, k));
}

static int no_dataset(const struct job *j, const struct cov_listing *lacking, int code,
                      struct cov_err *e)
{
    struct cov_listing known = {0};
    list_datasets(j->measured, &known);
    return cov_fail(e, code, "%s: it has no data set %s%s; it has: %s%s", j->measured_path,
                    lacking->text, cov_listing_more(lacking), known.text, cov_listing_more(&known));
}

/* Both have names: those that both have are kept. */
static int match_names(struct job *j, size_t *ours, size_t *theirs, struct cov_err *e)
{
    struct cov_listing lacking = {0};
    size_t n_measured = cov_convert_source_n_datasets(j->measured);
    j->n = 0;
    for (size_t k = 0; k < cov_convert_source_n_datasets(j->source); k++) {
        const char *name = cov_convert_source_dataset(j->source, k);
        size_t i = 0;
        while (i < n_measured && strcmp(cov_convert_source_dataset(j->measured, i), name) != 0)
            i++;
        if (i == n_measured) {
            cov_listing_add(&lacking, name);
            continue;
        }
        ours[j->n] = k;
        theirs[j->n++] = i;
    }
    if (lacking.n > 0 && (j->n == 0 || j->o.input.n_datasets > 0))
        return no_dataset(j, &lacking, j->o.input.n_datasets ? COV_EUSAGE : COV_EINPUT, e);
    if (lacking.n > 0)
        cov_warn("%s: it lacks data sets of %s, which are left out: %s%s", j->measured_path,
                 cov_convert_source_name(j->source), lacking.text, cov_listing_more(&lacking));
    int rc = cov_convert_source_keep(j->source, ours, j->n, e);
    return rc ? rc : cov_convert_source_keep(j->measured, theirs, j->n, e);
}

static int match_datasets(struct job *j, struct cov_err *e)
{
    const struct cov_convert_source *ours = j->source, *theirs = j->measured;
    size_t n = cov_convert_source_n_datasets(ours), m = cov_convert_source_n_datasets(theirs);
    if (!cov_convert_source_is_track(ours) && !cov_convert_source_is_track(theirs)) {
        size_t *a = cov_calloc(n, sizeof *a, e), *b = cov_calloc(n, sizeof *b, e);
        int rc = a && b ? match_names(j, a, b, e) : COV_ENOMEM;
        free(a);
        free(b);
        return rc;
    }
    j->n = 1;
    if (n == 1 && m == 1)
        return COV_OK;
    struct cov_listing names = {0};
    list_datasets(n > 1 ? ours : theirs, &names);
    return cov_fail(e, COV_EUSAGE,
                    "%s: it has %zu data sets (%s%s), but %s is one track: --datasets names one",
                    cov_convert_source_name(n > 1 ? ours : theirs), n > 1 ? n : m, names.text,
                    cov_listing_more(&names), cov_convert_source_name(n > 1 ? theirs : ours));
}

/* ---------------------------------------------------------------- work */

static int open_files(struct job *j, const char *input, unsigned n_threads, struct cov_err *e)
{
    struct cov_convert_input in = {0}, measured = {0};
    int rc = cov_convert_input_look(input, &in, e);
    if (!rc)
        rc = choose_options(j, in.is_track, e);
    if (!rc)
        rc = cov_convert_input_look(j->measured_path, &measured, e);
    /* Opening HDF5 forks, so that the first of the two must not have threads. */
    if (!rc)
        rc = cov_convert_source_open(&measured, &j->measured_options, 1, &j->measured, e);
    if (!rc)
        rc = cov_convert_source_open(&in, &j->o.input, n_threads, &j->source, e);
    cov_convert_input_close(&in);
    return rc ? rc : match_datasets(j, e);
}

static int read_measured(struct job *j, struct cov_progress *progress, struct cov_stats *stats,
                         struct cov_err *e)
{
    const struct cov_track_contigs *contigs = cov_convert_source_contigs(j->measured);
    double beg = cov_clock();
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->n; k++) {
        rc = cov_interval_store_new(j->measured_path, contigs, j->dir, &j->stores[k], e);
        if (!rc)
            j->sinks[k] = cov_interval_store_sink(j->stores[k]);
    }
    if (!rc && j->plot)
        rc = cov_convert_plot_add(j->plot, 1, "measured", j->measured, j->datasets, j->n, j->sinks,
                                  e);
    /* Bases, chunks and the other stages are those of the input. */
    if (!rc)
        rc = cov_convert_source_run(j->measured, j->pool, j->sinks, "reading what was measured",
                                    progress, NULL, e);
    if (!rc && stats)
        cov_stats_add_stage(stats, "measured", cov_clock() - beg);
    return rc;
}

static int compare(struct job *j, struct cov_progress *progress, struct cov_stats *stats,
                   struct cov_err *e)
{
    const struct cov_track_contigs *contigs = cov_convert_source_contigs(j->source);
    int rc = COV_OK;
    j->comparison = (struct cov_comparison_options){
        .bin_sizes = j->bin_sizes,
        .n_bin_sizes = j->o.n_bin_sizes,
        .has_threshold = j->o.has_threshold,
        .threshold = (float)j->o.threshold,
        .has_lengths = {cov_convert_source_has_lengths(j->source),
                        cov_convert_source_has_lengths(j->measured)},
        .max_bytes = COV_COMPARE_MEMORY / j->n,
        .dir = j->dir,
        .pool = j->pool};
    for (size_t k = 0; !rc && k < j->n; k++) {
        struct cov_compare_track *t = &j->tracks[k];
        t->dataset = j->datasets[k];
        rc = cov_comparison_new(cov_convert_source_name(j->source), contigs, j->stores[k],
                                &j->comparison, &t->comparison, e);
        if (!rc)
            j->sinks[k] = cov_comparison_sink(t->comparison);
    }
    if (!rc && j->plot)
        rc = cov_convert_plot_add(j->plot, 0, cov_convert_source_label(j->source), j->source,
                                  j->datasets, j->n, j->sinks, e);
    return rc ? rc
              : cov_convert_source_run(j->source, j->pool, j->sinks, "comparing", progress, stats,
                                       e);
}

/* ---------------------------------------------------------------- what came of it */

/* Less than this share of the bases compared is worth a warning. */
#define MUCH 0.9

/* The contigs of one data set, as all have the same. */
static int check_contigs(const struct job *j, struct cov_err *e)
{
    struct cov_comparison *c = j->tracks[0].comparison;
    const struct cov_track_sink *ours = cov_comparison_sink(c);
    const struct cov_track_sink *theirs = cov_interval_store_sink(j->stores[0]);
    const char *list = j->o.input.blacklist_path;
    struct cov_listing only = {0}, only_measured = {0};
    size_t n = cov_track_n_contigs(ours), m = cov_track_n_contigs(theirs);
    for (size_t i = 0; i < n; i++)
        if (!cov_comparison_has(c, i))
            cov_listing_add(&only, cov_track_contig_name(ours, i));
    for (size_t i = 0; i < m; i++)
        if (!cov_comparison_has_measured(c, i))
            cov_listing_add(&only_measured, cov_track_contig_name(theirs, i));
    const char *more = cov_listing_more(&only), *more_measured = cov_listing_more(&only_measured);
    if (only.n == n)
        return cov_fail(e, COV_EINPUT, "%s: none of its contigs (%s%s) is in %s (%s%s)", ours->name,
                        only.text, more, theirs->name, only_measured.text, more_measured);
    if (only.n > 0)
        cov_warn("%s: %zu of its %zu contigs are not in %s and are left out: %s%s", ours->name,
                 only.n, n, theirs->name, only.text, more);
    if (only_measured.n > 0)
        cov_warn(
            "%s: %zu of its %zu contigs are not compared, as %s%s%s%s has none of that name: %s%s",
            theirs->name, only_measured.n, m, ours->name,
            list ? ", without what is listed in " : "", list ? list : "", list ? "," : "",
            only_measured.text, more_measured);
    for (size_t k = 0; k < j->n; k++) {
        const char *dataset = j->tracks[k].dataset, *colon = dataset ? ": " : "";
        int64_t both = cov_comparison_total(j->tracks[k].comparison)->bases;
        int64_t all = cov_comparison_sink(j->tracks[k].comparison)->summary.n_bases;
        dataset = dataset ? dataset : "";
        if (both == 0)
            return cov_fail(e, COV_EINPUT, "%s: %s%sno base has a value in it and in %s",
                            ours->name, dataset, colon, theirs->name);
        /* As of a track that was written without its zeros. */
        if ((double)both < MUCH * (double)all)
            cov_warn(
                "%s: %s%sit has no value at %.0f %% of the bases of %s, which are left out: zeros "
                "have to be in it as zeros",
                theirs->name, dataset, colon, 100 - 100 * (double)both / (double)all, ours->name);
    }
    return COV_OK;
}

/* Before the work, which may take long. */
static int begin_table(struct job *j, struct cov_err *e)
{
    const char *output = j->o.input.output;
    return !output || cov_path_is_std(output)
               ? COV_OK
               : cov_outfile_begin(&j->out, output, COV_OUTFILE_STREAM, j->o.input.force, e);
}

static int print_table(const struct job *j, struct cov_err *e)
{
    const char *path = j->out.path;
    FILE *f = path ? fopen(j->out.tmp, "w") : j->o.printed;
    if (!f)
        return cov_fail_errno(e, "%s", path);
    int why = 0;
    errno = 0;
    cov_compare_print_table(&j->report, f);
    if (fflush(f) != 0 || ferror(f))
        why = errno ? errno : EIO;
    if (path && fclose(f) != 0 && !why)
        why = errno;
    errno = why;
    return why ? cov_fail_errno(e, "%s", path ? path : "standard output") : COV_OK;
}

/* The table, and the picture. */
static int write_outputs(struct job *j, struct cov_err *e)
{
    struct cov_outfile *const files[] = {&j->out,
                                         j->plot ? cov_convert_plot_file(j->plot) : &j->out};
    int rc = j->plot ? cov_convert_plot_draw(j->plot, e) : COV_OK;
    if (!rc)
        rc = print_table(j, e);
    return rc ? rc : cov_outfile_commit_all(files, j->plot ? 2 : 1, e);
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct job *j = arg;
    cov_convert_plot_free(j->plot);
    for (size_t k = 0; k < j->n; k++) {
        if (j->tracks)
            cov_comparison_free(j->tracks[k].comparison);
        if (j->stores)
            cov_interval_store_free(j->stores[k]);
    }
    cov_convert_source_close(j->source);
    cov_convert_source_close(j->measured);
    cov_pool_free(j->pool);
    cov_outfile_abort(&j->out);
    free(j->stores);
    free(j->tracks);
    free(j->sinks);
    free(j->datasets);
    free(j->measured_path);
    free(j->stem);
    free(j->dir);
    free(j);
}

static void print_more(struct cov_json *json, const void *arg)
{
    const struct job *j = arg;
    cov_compare_print_json(&j->report, json);
}

static int new_job(const char *input, const struct cov_compare_options *options, struct job **out,
                   struct cov_err *e)
{
    struct job *j = cov_calloc(1, sizeof *j, e);
    *out = j;
    if (!j)
        return COV_ENOMEM;
    const char *tmpdir = options->input.tmpdir, *output = options->input.output;
    j->out = (struct cov_outfile)COV_OUTFILE_INIT;
    j->o = *options;
    j->o.input.unrounded = true; /* as those of tracks are */
    memcpy(j->bin_sizes, options->bin_sizes, options->n_bin_sizes * sizeof *j->bin_sizes);
    j->measured_path = cov_strdup(options->measured, e);
    j->stem = cov_path_stem(input, e);
    j->dir = tmpdir ? cov_strdup(tmpdir, e) : cov_path_dir(output ? output : "-", e);
    return j->measured_path && j->stem && j->dir ? COV_OK : COV_ENOMEM;
}

static int prepare(struct job *j, unsigned n_threads, struct cov_err *e)
{
    j->stores = cov_calloc(j->n, sizeof(struct cov_interval_store *), e);
    j->tracks = cov_calloc(j->n, sizeof *j->tracks, e);
    j->sinks = cov_calloc(j->n, sizeof(struct cov_track_sink *), e);
    j->datasets = cov_calloc(j->n, sizeof *j->datasets, e);
    for (size_t k = 0; j->datasets && k < j->n; k++)
        j->datasets[k] = cov_convert_source_dataset(
            cov_convert_source_is_track(j->source) ? j->measured : j->source, k);
    j->report =
        (struct cov_compare_report){j->stem, j->measured_path, &j->comparison, j->tracks, j->n};
    return j->stores && j->tracks && j->sinks && j->datasets ? cov_pool_new(n_threads, &j->pool, e)
                                                             : COV_ENOMEM;
}

int cov_compare_run(const char *input, const struct cov_compare_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct job *j = NULL;
    int rc = check_options(options, e);
    if (!rc)
        rc = new_job(input, options, &j, e);
    if (!rc)
        rc = cov_convert_plot_new(&j->o.input, &j->plot, e);
    if (!rc)
        rc = open_files(j, input, n_threads, e);
    if (!rc)
        rc = begin_table(j, e);
    if (!rc)
        rc = prepare(j, n_threads, e);
    if (!rc)
        rc = read_measured(j, progress, stats, e);
    if (!rc)
        rc = compare(j, progress, stats, e);
    if (!rc)
        rc = check_contigs(j, e);
    if (!rc)
        rc = write_outputs(j, e);
    if (!rc && stats) {
        stats->section = "cov2bigwig --compare";
        rc = cov_compare_add_figures(&j->report, stats, e);
    }
    if (rc || !stats) {
        if (j)
            free_job(j);
        return rc;
    }
    stats->print_more = print_more;
    stats->free_more = free_job;
    stats->more = j;
    return COV_OK;
}
