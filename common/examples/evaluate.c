/* evaluate.c - see evaluate.h.
 * SPDX-License-Identifier: MIT */
#include "common/examples/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/file/textfile.h"
#include "common/input/device_options.h"
#include "common/track/measures/outliers.h"

/* ---------------------------------------------------------------- examples */

struct evaluate_slot {
    size_t first, n;             /* first item of the list, and number of items */
    struct cov_example_raw *raw; /* [batch] */
    bool *gap;                   /* [batch] */
    struct cov_fit *fits;        /* [batch, D] */
};

struct evaluate_worker {
    unsigned i;
    uint8_t *scratch, *codes; /* codes[batch, L] */
    float *targets, *values;  /* [batch, L, D] */
};

struct evaluate_job {
    const struct cov_evaluate_work *w;
    size_t next, L, D;
    struct cov_progress *progress;
};

static int evaluate_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct evaluate_job *j = arg;
    struct evaluate_slot *s = slot;
    s->first = j->next;
    for (s->n = 0; s->n < j->w->batch && j->next < j->w->n; s->n++, j->next++) {
        int rc = cov_examples_fetch(j->w->x, &j->w->list[j->next], &s->raw[s->n], e);
        if (rc)
            return rc;
    }
    int rc = cov_examples_complete(j->w->x, e);
    return rc ? rc : s->n > 0;
}

/* Decodes the examples of the slot except gaps, and sets *n to their number. */
static int decode_examples(const struct evaluate_job *j, struct evaluate_slot *s,
                           const struct evaluate_worker *w, size_t *n, struct cov_err *e)
{
    *n = 0;
    for (size_t k = 0; k < s->n; k++) {
        const struct cov_example *example = &j->w->list[s->first + k];
        uint8_t *codes = w->codes + *n * j->L;
        int rc = cov_examples_decode(j->w->x, example, &s->raw[k], w->scratch, codes,
                                     w->targets + *n * j->L * j->D, e);
        if (rc)
            return rc;
        s->gap[k] = cov_example_is_gap(codes, (size_t)(example->end - example->beg));
        *n += !s->gap[k];
    }
    return COV_OK;
}

static int evaluate_predict(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct evaluate_job *j = arg;
    struct evaluate_slot *s = slot;
    const struct evaluate_worker *w = worker;
    size_t n = 0, i = 0;
    int rc = decode_examples(j, s, w, &n, e);
    if (!rc && n > 0)
        rc = cov_net_forward(j->w->net, w->i, n, w->codes, w->values, e);
    for (size_t k = 0; !rc && k < s->n; k++) {
        const struct cov_example *example = &j->w->list[s->first + k];
        const bool *present = j->w->x->files[example->file].present;
        if (s->gap[k])
            continue;
        size_t at = i++ * j->L * j->D;
        for (size_t d = 0; d < j->D; d++) {
            struct cov_fit *fit = &s->fits[k * j->D + d];
            *fit = (struct cov_fit){0};
            if (present[d])
                cov_fit_row(w->values + at + d, w->targets + at + d,
                            (size_t)(example->end - example->beg), j->D, fit);
        }
    }
    return rc;
}

static int evaluate_add(void *arg, void *slot, struct cov_err *e)
{
    const struct evaluate_job *j = arg;
    const struct evaluate_slot *s = slot;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < s->n; k++)
        if (!s->gap[k])
            rc = j->w->fn(j->w->arg, s->first + k, s->fits + k * j->D, e);
    cov_progress_add(j->progress, (int64_t)s->n);
    return rc;
}

static void evaluate_init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct evaluate_job *j = arg;
    struct evaluate_slot *s = slot;
    s->raw = cov_arena_calloc(memory, j->w->batch, sizeof *s->raw);
    s->gap = cov_arena_calloc(memory, j->w->batch, sizeof *s->gap);
    s->fits = cov_arena_calloc(memory, j->w->batch, j->D * sizeof *s->fits);
}

static void evaluate_fini_slot(void *arg, void *slot)
{
    const struct evaluate_job *j = arg;
    struct evaluate_slot *s = slot;
    for (size_t k = 0; s->raw && k < j->w->batch; k++)
        cov_example_raw_fini(&s->raw[k]);
}

static void evaluate_init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct evaluate_job *j = arg;
    struct evaluate_worker *w = worker;
    w->i = i;
    w->scratch = cov_arena_calloc(memory, j->w->x->scratch, 1);
    w->codes = cov_arena_calloc(memory, j->w->batch, j->L);
    w->targets = cov_arena_values(memory, j->w->batch, j->L, j->D);
    w->values = cov_arena_values(memory, j->w->batch, j->L, j->D);
}

int cov_evaluate_examples(const struct cov_evaluate_work *w, struct cov_pool *pool,
                          struct cov_progress *progress, struct cov_err *e)
{
    static const struct cov_ring_job ring = {.fetch = evaluate_fetch,
                                             .work = evaluate_predict,
                                             .store = evaluate_add,
                                             .slot_bytes = sizeof(struct evaluate_slot),
                                             .worker_bytes = sizeof(struct evaluate_worker),
                                             .init_slot = evaluate_init_slot,
                                             .fini_slot = evaluate_fini_slot,
                                             .init_worker = evaluate_init_worker};
    struct evaluate_job j = {.w = w, .L = w->x->L, .D = w->x->n_datasets, .progress = progress};
    return cov_ring_run_job(pool, &ring, &j, NULL, e);
}

int cov_evaluate_check(const struct cov_examples *x, const struct cov_example *example,
                       const struct cov_fit *fits, struct cov_err *e)
{
    for (size_t d = 0; d < x->n_datasets; d++)
        if (fits[d].n > 0 && !isfinite(cov_fit_loss(&fits[d])))
            return cov_fail(e, COV_EINPUT, "%s: row %zu: the network's value is not finite",
                            x->files[example->file].path, example->rows[0]);
    return COV_OK;
}

/* ---------------------------------------------------------------- files */

void cov_evaluation_free(struct cov_evaluation *v)
{
    if (!v)
        return;
    cov_arena_fini(&v->memory);
    free(v);
}

static int new_evaluation(const char *const *paths, size_t n, const struct cov_ensemble *model,
                          struct cov_evaluation **out, struct cov_err *e)
{
    struct cov_evaluation *v = *out = cov_calloc(1, sizeof *v, e);
    if (!v)
        return COV_ENOMEM;
    v->n_datasets = model->n_datasets;
    v->n_files = n;
    v->datasets = cov_arena_calloc(&v->memory, v->n_datasets, sizeof *v->datasets);
    v->files = cov_arena_calloc(&v->memory, n, sizeof *v->files);
    for (size_t d = 0; v->datasets && d < v->n_datasets; d++)
        v->datasets[d] = cov_arena_strdup(&v->memory, model->datasets[d]);
    for (size_t k = 0; v->files && k < n; k++) {
        struct cov_evaluated_file *f = &v->files[k];
        f->path = cov_arena_strdup(&v->memory, paths[k]);
        f->present = cov_arena_calloc(&v->memory, v->n_datasets, sizeof *f->present);
        f->scores = cov_arena_calloc(&v->memory, v->n_datasets, sizeof *f->scores);
    }
    return cov_arena_check(&v->memory, e);
}

/* State shared by all files of a run. */
struct evaluation {
    const struct cov_ensemble *model;
    const struct cov_evaluate_options *o;
    const struct cov_job *job;
    struct cov_blacklist *list; /* NULL: none */
    struct cov_forward_counts counts;
    int64_t bases;
};

/* Lists all rows of the file that the blacklist keeps. Caller frees *list. */
static int list_rows(const struct cov_examples *x, struct cov_example **list, size_t *n,
                     struct cov_err *e)
{
    size_t n_rows = cov_grid_n_chunks(x->files[0].grid);
    *n = 0;
    *list = cov_malloc(n_rows, sizeof **list, e);
    if (!*list)
        return COV_ENOMEM;
    for (size_t i = 0; i < n_rows; i++)
        if (cov_examples_keeps(x, 0, i))
            (*list)[(*n)++] = cov_example_of_row(x, 0, i);
    return COV_OK;
}

/* Accumulates the scores of a file's chunks. */
struct adding {
    struct evaluation *task;
    struct cov_evaluated_file *file;
    const struct cov_examples *x;
    const struct cov_example *list;
    struct cov_outliers *outliers; /* [datasets] */
};

/* Notes the pairs of a chunk. */
static int add_outlier(struct cov_outliers *o, const struct cov_examples *x,
                       const struct cov_example *example, const struct cov_fit *fit,
                       struct cov_err *e)
{
    const struct cov_chunk c = cov_grid_chunk(x->files[example->file].grid, example->rows[0]);
    const struct cov_moments pairs = {(double)fit->n, fit->mean_v, fit->mean_t,
                                      fit->var_v,     fit->var_t,  fit->covar};
    o->window = (int64_t)x->L;
    return cov_outliers_add_part(o, c.seq, example->beg, &pairs, e);
}

/* Warns if extreme coverage decides r of all positions. */
static int warn_of_outliers(struct cov_outliers *o, const struct cov_grid *grid, const char *path,
                            const char *dataset, struct cov_err *e)
{
    struct cov_listing regions = {0};
    char about[512];
    int rc = cov_outliers_find(o, e);
    for (size_t i = 0; !rc && i < o->n_found; i++)
        cov_outlier_list(&o->found[i], cov_grid_name(grid, o->found[i].contig),
                         cov_grid_seq_length(grid, o->found[i].contig), &regions);
    (void)snprintf(about, sizeof about, "%s: %s", path, dataset);
    if (!rc)
        cov_outliers_warn(about, "base", o->pearson, o->pearson_without, &regions,
                          "--blacklist-file omits such regions");
    return rc;
}

static int add_file_chunk(void *arg, size_t i, const struct cov_fit *fits, struct cov_err *e)
{
    const struct adding *a = arg;
    int rc = cov_evaluate_check(a->x, &a->list[i], fits, e);
    if (rc)
        return rc;
    for (size_t d = 0; d < a->task->model->n_datasets; d++)
        if (fits[d].n > 0) {
            cov_score_add(&a->file->scores[d], &fits[d], 1);
            cov_score_add(&a->file->total, &fits[d], 1);
            rc = add_outlier(&a->outliers[d], a->x, &a->list[i], &fits[d], e);
            if (rc)
                return rc;
        }
    a->file->n_chunks++;
    a->task->bases += a->list[i].end - a->list[i].beg;
    return COV_OK;
}

static void warn_without_datasets(const struct cov_ensemble *model, const char *path)
{
    struct cov_listing names = {0};
    for (size_t d = 0; d < model->n_datasets; d++)
        cov_listing_add(&names, model->datasets[d]);
    cov_warn("%s: none of the model's datasets is in the file: %s%s; bam2h5 -p adds them, "
             "h5chunk rename renames others",
             path, names.text, cov_listing_more(&names));
}

static int evaluate_opened(struct evaluation *t, struct cov_examples *x,
                           struct cov_evaluated_file *f, struct cov_err *e)
{
    size_t L = x->L, n = 0;
    size_t batch = t->o->batch ? t->o->batch : cov_device_batch(t->o->device, L);
    struct cov_example *list = NULL;
    struct cov_net *net = NULL;
    struct cov_forward_counts counts;
    int rc = cov_ensemble_check_length(t->model, L, e);
    if (rc)
        (void)cov_err_prefix(e, rc, "%s", f->path);
    if (!rc)
        rc = list_rows(x, &list, &n, e);
    if (!rc)
        rc =
            cov_ensemble_net(t->model, t->o->device,
                             (struct cov_net_size){L, cov_pool_size(t->job->pool), batch}, &net, e);
    if (rc)
        goto out;
    if (t->o->full)
        cov_net_compute_all(net);
    memcpy(f->present, x->files[0].present, t->model->n_datasets);
    cov_progress_begin(t->job->progress, "evaluating", "chunks", (int64_t)n);
    struct cov_outliers *outliers = cov_calloc(t->model->n_datasets, sizeof *outliers, e);
    struct adding adding = {t, f, x, list, outliers};
    const struct cov_evaluate_work work_on = {x, list, n, net, batch, add_file_chunk, &adding};
    rc = outliers ? cov_evaluate_examples(&work_on, t->job->pool, t->job->progress, e) : COV_ENOMEM;
    cov_progress_end(t->job->progress);
    cov_net_counts(net, &counts);
    t->counts.positions_computed += counts.positions_computed;
    t->counts.positions_at_rest += counts.positions_at_rest;
    t->counts.chunks_repeated += counts.chunks_repeated;
    for (size_t d = 0; outliers && d < t->model->n_datasets; d++) {
        if (!rc && f->scores[d].n_rows > 0)
            rc =
                warn_of_outliers(&outliers[d], x->files[0].grid, f->path, t->model->datasets[d], e);
        cov_outliers_fini(&outliers[d]);
    }
    free(outliers);
    if (!rc && f->n_chunks == 0)
        cov_warn("%s: nothing to evaluate: all chunks are gaps%s", f->path,
                 t->o->blacklist || t->list ? " or on the blacklist" : "");
    else if (!rc && f->total.n_rows == 0)
        warn_without_datasets(t->model, f->path);
out:
    cov_net_free(net);
    free(list);
    return rc;
}

static int evaluate_file(struct evaluation *t, struct cov_evaluated_file *f, struct cov_err *e)
{
    const struct cov_examples_options from = {
        .datasets = (const char *const *)t->model->datasets,
        .n_datasets = t->model->n_datasets,
        .blacklist = t->o->blacklist,
        .list = t->list,
    };
    const char *const path[1] = {f->path};
    struct cov_examples *x = NULL;
    int rc = cov_examples_open(path, 1, &from, &x, e);
    if (!rc)
        rc = evaluate_opened(t, x, f, e);
    cov_examples_close(x);
    return rc;
}

static int fill_evaluation_stats(const struct evaluation *t, const struct cov_evaluation *v,
                                 struct cov_stats *stats, struct cov_err *e)
{
    stats->section = "covpredict --evaluate";
    stats->bases = t->bases;
    stats->chunks = 0;
    int rc = cov_device_fill_stats(t->o->device, &t->counts, stats, e);
    for (size_t k = 0; k < v->n_files; k++) {
        const struct cov_evaluated_file *f = &v->files[k];
        const char *part = v->n_files > 1 ? f->path : NULL;
        stats->chunks += (int64_t)f->n_chunks;
        const struct cov_stats_figure figures[] = {
            {"loss", "Loss", "Poisson loss, mean over chunks", .decimals = 4,
             .value = cov_score_loss(&f->total)},
            {"pearson", "r of chunks", "Pearson's r, mean over chunks", .decimals = 4,
             .is_score = true, .value = cov_score_accuracy(&f->total)},
            {"pearson_all", "r", "Pearson's r over all positions", .decimals = 4, .is_score = true,
             .value = cov_score_pearson_all(&f->total)},
        };
        if (!rc)
            rc = cov_stats_add_figures(stats, part, figures, COV_COUNT(figures), e);
    }
    return rc;
}

int cov_evaluate(const char *const *paths, size_t n, const struct cov_ensemble *model,
                 const struct cov_evaluate_options *options, const struct cov_job *job,
                 struct cov_evaluation **out, struct cov_err *e)
{
    struct evaluation t = {.model = model, .o = options, .job = job};
    struct cov_evaluation *v = NULL;
    *out = NULL;
    int rc = new_evaluation(paths, n, model, &v, e);
    if (!rc && options->blacklist_path)
        rc = cov_blacklist_read(options->blacklist_path, false, &t.list, e);
    if (!rc)
        cov_info("%s, %u thread%s; %s: %s", options->device->ops->describe(options->device),
                 cov_pool_size(job->pool), cov_text_s(cov_pool_size(job->pool)), model->path,
                 model->description);
    for (size_t k = 0; !rc && k < n; k++)
        rc = evaluate_file(&t, &v->files[k], e);
    if (!rc && t.list)
        cov_blacklist_warn(t.list, options->blacklist_path, n == 1 ? paths[0] : "any file");
    cov_blacklist_free(t.list);
    if (!rc && job->stats)
        rc = fill_evaluation_stats(&t, v, job->stats, e);
    if (rc)
        cov_evaluation_free(v);
    else
        *out = v;
    return rc;
}

/* ---------------------------------------------------------------- report */

/* Calls fn for each row of the table; `score` has n_rows = 0 where the file lacks the dataset. */
static void for_each_row(const struct cov_evaluation *v,
                         void (*fn)(void *arg, const struct cov_evaluated_file *f,
                                    const char *dataset, const struct cov_score *score),
                         void *arg)
{
    for (size_t k = 0; k < v->n_files; k++) {
        const struct cov_evaluated_file *f = &v->files[k];
        for (size_t d = 0; d < v->n_datasets; d++)
            fn(arg, f, v->datasets[d], &f->scores[d]);
        if (v->n_datasets > 1)
            fn(arg, f, "total", &f->total);
    }
}

static void print_score_row(void *arg, const struct cov_evaluated_file *file, const char *dataset,
                            const struct cov_score *score)
{
    FILE *f = arg;
    cov_table_put_text(file->path, f);
    (void)fputc('\t', f);
    cov_table_put_text(dataset, f);
    cov_table_put_number(cov_score_loss(score), f);
    cov_table_put_number(cov_score_accuracy(score), f);
    cov_table_put_number(cov_score_pearson_all(score), f);
    (void)fprintf(f, "\t%llu\n", score->n_rows ? (unsigned long long)file->n_chunks : 0);
}

void cov_evaluation_print(const struct cov_evaluation *v, FILE *f)
{
    (void)fputs("file\tdataset\tloss\tpearson\tpearson_all\tchunks\n", f);
    for_each_row(v, print_score_row, f);
}

static void print_json_row(void *arg, const struct cov_evaluated_file *file, const char *dataset,
                           const struct cov_score *score)
{
    struct cov_json *j = arg;
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "file", file->path);
    cov_json_string(j, "dataset", dataset);
    cov_json_double(j, "loss", cov_score_loss(score));
    cov_json_double(j, "pearson", cov_score_accuracy(score));
    cov_json_double(j, "pearson_all", cov_score_pearson_all(score));
    cov_json_int(j, "chunks", score->n_rows ? (int64_t)file->n_chunks : 0);
    cov_json_end_object(j);
}

void cov_evaluation_print_json(const struct cov_evaluation *v, struct cov_json *j)
{
    cov_json_begin_array(j, "evaluation");
    for_each_row(v, print_json_row, j);
    cov_json_end_array(j);
}
