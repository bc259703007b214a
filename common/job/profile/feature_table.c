/* feature_table.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/textfile.h"
#include "common/track/measures/feature_sums.h"

struct table_track {
    char *name;                   /* Owned */
    struct cov_feature_sum *sums; /* [features]. Owned */
    size_t n_features;            /* those with a value */
    double mean;                  /* of their means */
};

/* Lives until --stats has been printed. */
struct feature_table_job {
    struct cov_annotation features;
    struct table_track *tracks; /* [n]. Owned */
    size_t n, cap;
};

static double mean_of(const struct cov_feature_sum *s)
{
    return s->n > 0 ? s->sum / (double)s->n : (double)NAN;
}

/* ---------------------------------------------------------------- inputs */

static int open_sink(void *arg, const struct cov_profile_input *in, size_t k,
                     struct cov_track_sink **sink, struct cov_err *e)
{
    (void)k;
    const struct feature_table_job *j = arg;
    return cov_feature_sums_init((struct cov_feature_sums *)*sink, &j->features, in->source->name,
                                 in->source->contigs, e);
}

static int take_track(void *arg, const struct cov_profile_input *in, size_t k,
                      struct cov_track_sink *sink, struct cov_err *e)
{
    struct feature_table_job *j = arg;
    struct cov_feature_sums *s = (struct cov_feature_sums *)sink;
    int rc = cov_profile_features_fit(&j->features, in, k, sink, e);
    if (!rc)
        rc = COV_RESERVE(&j->tracks, &j->cap, j->n + 1, e);
    if (rc)
        return rc;
    struct table_track *t = &j->tracks[j->n++];
    *t = (struct table_track){.sums = s->sums};
    s->sums = NULL;
    for (size_t i = 0; i < j->features.n; i++)
        if (t->sums[i].n > 0) {
            t->n_features++;
            t->mean += mean_of(&t->sums[i]);
        }
    t->mean /= (double)t->n_features;
    if (t->n_features == 0)
        return cov_fail(e, COV_EINPUT, "%s: no base in a feature of %s has a value",
                        in->source->name, j->features.path);
    if (k + 1 == in->source->n_datasets)
        (void)cov_profile_missing(in, sink);
    return cov_profile_name(in, k, &t->name, e);
}

static int read_tracks(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct feature_table_job *j = arg;
    const struct cov_profile_reader reader = {sizeof(struct cov_feature_sums), open_sink,
                                              take_track, j};
    int rc = cov_profile_features_read(&request->features, &j->features, e);
    return rc ? rc : cov_profile_inputs_read(request, &reader, e);
}

/* ---------------------------------------------------------------- outputs */

static void print_sum(const struct cov_feature_sum *s, FILE *f)
{
    const double values[] = {mean_of(s), (double)s->min, (double)s->max, s->sum};
    char text[COV_DOUBLE_TEXT];
    if (s->n == 0) {
        (void)fputs("\tNA\tNA\tNA\t0\t0", f);
        return;
    }
    for (size_t i = 0; i < COV_COUNT(values); i++)
        (void)fprintf(f, "\t%s", cov_format_double(values[i], text));
    (void)fprintf(f, "\t%" PRId64, s->n);
}

static void print_table(const void *arg, FILE *f)
{
    static const char *const columns[] = {"mean", "min", "max", "sum", "covered"};
    const struct feature_table_job *j = arg;
    const struct cov_annotation *a = &j->features;
    (void)fputs("chr\tstart\tend\tname\tstrand", f);
    for (size_t k = 0; k < j->n; k++)
        for (size_t i = 0; i < COV_COUNT(columns); i++)
            (void)fprintf(f, "\t%s_%s", j->tracks[k].name, columns[i]);
    (void)fputc('\n', f);
    for (size_t i = 0; i < a->n; i++) {
        const struct cov_feature *x = &a->items[i];
        const char *name = cov_annotation_name(a, i);
        cov_table_put_text(cov_names_get(a->contigs, x->contig, NULL), f);
        (void)fprintf(f, "\t%" PRId64 "\t%" PRId64 "\t%s\t%c", x->beg, x->end, *name ? name : ".",
                      x->strand);
        for (size_t k = 0; k < j->n; k++)
            print_sum(&j->tracks[k].sums[i], f);
        (void)fputc('\n', f);
    }
}

/* "table": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct feature_table_job *j = arg;
    cov_json_int(json, "features", (int64_t)j->features.n);
    cov_json_begin_array(json, "table");
    for (const struct table_track *t = j->tracks; t < j->tracks + j->n; t++) {
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "track", t->name);
        cov_json_int(json, "features", (int64_t)t->n_features);
        cov_json_double(json, "mean", t->mean);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct feature_table_job *j = arg;
    int rc = COV_OK;
    for (const struct table_track *t = j->tracks; !rc && t < j->tracks + j->n; t++) {
        const struct cov_stats_figure figures[] = {
            {"features", "Features", "features with a value", .value = (double)t->n_features},
            {"mean", "Mean", "mean over the features", .decimals = 2, .value = t->mean},
        };
        rc = cov_stats_add_figures(stats, t->name, figures, COV_COUNT(figures), e);
        cov_info("%s: %zu feature%s, mean %.6g", t->name, t->n_features,
                 cov_text_s((int64_t)t->n_features), t->mean);
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct feature_table_job *j = arg;
    for (size_t k = 0; k < j->n; k++) {
        free(j->tracks[k].name);
        free(j->tracks[k].sums);
    }
    free(j->tracks);
    cov_annotation_fini(&j->features);
    free(j);
}

int cov_feature_table_run(const struct cov_profile_request *request, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tracks,
                                                   .print_table = print_table,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct feature_table_job *j = cov_calloc(1, sizeof *j, e);
    return j ? cov_profile_job_run(j, &steps, request, e) : COV_ENOMEM;
}
