/* attribution_explain.c - see attribution.h: scores from gradients of y with respect to the bases.
 *
 * A point is a place on the line from a reference to a region's window, or the window itself. Each is
 * two chunks, one per strand. The inputs of the - strand are those of the + strand in reverse order,
 * columns too, since the columns are C, A, T, G. Points are computed in batches and added up in
 * order.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/rng.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"

/* The columns of A, C, G and T in the inputs. */
static const size_t columns[4] = {1, 0, 3, 2};

struct explain_job {
    struct cov_arena memory;
    struct cov_attribution *a;
    const struct cov_attribution_options *o;
    const struct cov_gradient_options *how;
    const struct cov_job *job;
    struct cov_explainer **nets; /* [models] */
    size_t batch;                /* points */
    size_t n_points;             /* of a region */
    uint8_t *codes, *reference;  /* [L]: of the current region, and of its current reference */
    float *inputs, *gradient;    /* [2 batch,L,4] */
    float *total;                /* [batch,L,4]: of models and strands, on the + strand */
    float *references;           /* [batch,length,4]: r in the region */
    double *sums, *sum;          /* [2 batch]; [batch], as total */
    size_t *beg, *end;           /* [2 batch] */
    size_t *regions;             /* [batch]: of each point */
    double *scores;              /* [4,length] of the current region */
};

static size_t n_bases(const struct explain_job *j, size_t i)
{
    const size_t n = j->a->regions[i].n_codes;
    return n < j->o->window ? n : j->o->window;
}

/* Reads the codes of region i's window if k is 0. With integrated gradients, also sets j->reference to
 * shuffle number k of these codes; so call it with k = 0 first. */
static int read_window(struct explain_job *j, size_t i, size_t k, struct cov_err *e)
{
    const struct cov_attributed_region *region = &j->a->regions[i];
    const size_t n = n_bases(j, i);
    struct cov_rng rng;
    int rc = COV_OK;
    if (k == 0) {
        memset(j->codes, COV_CODE_PAD, j->o->window);
        rc = cov_genome_codes(j->o->genome, region->seq, region->window,
                              region->window + (int64_t)n, j->codes, e);
    }
    if (rc || !j->how->integrated)
        return rc;
    cov_rng_init(&rng, j->how->seed);
    cov_rng_init(&rng, cov_rng_next(&rng) + i * j->how->n_shuffles + k);
    memcpy(j->reference, j->codes, j->o->window);
    return cov_dinucleotide_shuffle(j->reference, n, &rng, e);
}

/* Sets the inputs of point p of region i, the b-th of the batch. */
static int set_point(struct explain_job *j, size_t i, size_t p, size_t b, struct cov_err *e)
{
    const struct cov_attributed_region *region = &j->a->regions[i];
    const size_t L = j->o->window, n = n_bases(j, i);
    const size_t step = p % j->how->n_steps;
    float *plus = j->inputs + 2 * b * L * 4, *minus = plus + L * 4;
    const float by_x = j->how->integrated ? ((float)step + 0.5F) / (float)j->how->n_steps : 1;
    const size_t place = (size_t)(region->beg - region->window);
    int rc = step == 0 ? read_window(j, i, p / j->how->n_steps, e) : COV_OK;
    if (rc)
        return rc;
    memset(plus, 0, 2 * L * 4 * sizeof *plus);
    for (size_t at = 0; at < n; at++)
        for (size_t c = 0; c < 4; c++) {
            const float x = cov_onehot_f32[j->codes[at]][c];
            const float from = j->how->integrated ? cov_onehot_f32[j->reference[at]][c] : 0;
            plus[4 * at + c] = from + by_x * (x - from);
            minus[4 * (n - 1 - at) + 3 - c] = plus[4 * at + c];
        }
    for (size_t at = 0; at < j->a->length; at++)
        for (size_t c = 0; c < 4; c++)
            j->references[(b * j->a->length + at) * 4 + c] =
                j->how->integrated ? cov_onehot_f32[j->reference[place + at]][c] : 0.25F;
    const size_t sum_end = region->sum_end < n ? region->sum_end : n;
    j->beg[2 * b] = region->sum_beg;
    j->end[2 * b] = sum_end;
    j->beg[2 * b + 1] = n - sum_end;
    j->end[2 * b + 1] = n - region->sum_beg;
    j->regions[b] = i;
    return COV_OK;
}

/* Adds the gradients of both strands of point b to its total. */
static void add_strands(const struct explain_job *j, size_t b)
{
    const size_t L = j->o->window, n = 4 * n_bases(j, j->regions[b]);
    const float *plus = j->gradient + 2 * b * L * 4, *minus = plus + L * 4;
    float *total = j->total + b * L * 4;
    for (size_t k = 0; k < n; k++)
        total[k] += plus[k] + minus[n - 1 - k];
    j->sum[b] += j->sums[2 * b] + j->sums[2 * b + 1];
}

/* Computes the first n points of the batch: total and sum. */
static int compute_points(struct explain_job *j, size_t n, struct cov_err *e)
{
    const struct cov_explain_batch batch = {
        .n = 2 * n, .inputs = j->inputs, .dataset = j->o->target, .beg = j->beg, .end = j->end};
    int rc = COV_OK;
    memset(j->total, 0, n * j->o->window * 4 * sizeof *j->total);
    memset(j->sum, 0, n * sizeof *j->sum);
    for (size_t m = 0; !rc && m < j->o->model->n; m++) {
        rc = cov_explainer_run(j->nets[m], &batch, j->sums, j->gradient, e);
        for (size_t b = 0; !rc && b < n; b++)
            add_strands(j, b);
    }
    return rc;
}

/* Adds point b to the scores of its region. */
static int add_scores(struct explain_job *j, size_t b, struct cov_err *e)
{
    const struct cov_attribution *a = j->a;
    const struct cov_attributed_region *region = &a->regions[j->regions[b]];
    if (!(j->sum[b] > 0) || !isfinite(j->sum[b]))
        return cov_fail(e, COV_EINPUT, "%.100s:%" PRId64 "-%" PRId64 ": the predicted sum is %g",
                        j->o->genome->names[region->seq], region->beg + 1, region->end, j->sum[b]);
    const double by = 1 / (j->sum[b] * (double)j->n_points);
    const size_t place = (size_t)(region->beg - region->window);
    for (size_t at = 0; at < a->length; at++) {
        const float *from = j->references + (b * a->length + at) * 4;
        const float *g = j->total + (b * j->o->window + place + at) * 4;
        double base = 0;
        for (size_t c = 0; c < 4; c++)
            base += (double)from[c] * (double)g[c];
        for (size_t c = 0; c < 4; c++)
            j->scores[c * a->length + at] += ((double)g[columns[c]] - base) * by;
    }
    return COV_OK;
}

/* Computes the points of the batch, and stores the scores of the regions that are done. `first` is
 * the number of the first point. */
static int flush_points(struct explain_job *j, size_t first, size_t n, struct cov_err *e)
{
    const size_t size = 4 * j->a->length;
    int rc = compute_points(j, n, e);
    for (size_t b = 0; !rc && b < n; b++) {
        if ((first + b) % j->n_points == 0)
            memset(j->scores, 0, size * sizeof *j->scores);
        rc = add_scores(j, b, e);
        if ((first + b + 1) % j->n_points == 0)
            for (size_t k = 0; k < size; k++)
                j->a->scores[j->regions[b] * size + k] = (float)j->scores[k];
    }
    cov_progress_add(j->job->progress, (int64_t)n);
    return rc;
}

static int explain_all(struct explain_job *j, struct cov_err *e)
{
    const size_t n = j->a->n * j->n_points;
    int rc = COV_OK;
    for (size_t first = 0; !rc && first < n; first += j->batch) {
        const size_t n_now = n - first < j->batch ? n - first : j->batch;
        for (size_t b = 0; !rc && b < n_now; b++)
            rc = set_point(j, (first + b) / j->n_points, (first + b) % j->n_points, b, e);
        if (!rc)
            rc = flush_points(j, first, n_now, e);
    }
    return rc;
}

static int open_networks(struct explain_job *j, struct cov_err *e)
{
    struct cov_arena *memory = &j->memory;
    const size_t L = j->o->window, n = j->batch, length = j->a->length;
    j->nets = cov_arena_calloc(memory, j->o->model->n, sizeof(struct cov_explainer *));
    j->codes = cov_arena_calloc(memory, L, 1);
    j->reference = cov_arena_calloc(memory, L, 1);
    j->inputs = cov_arena_values(memory, 2 * n, L, 4);
    j->gradient = cov_arena_values(memory, 2 * n, L, 4);
    j->total = cov_arena_values(memory, n, L, 4);
    j->references = cov_arena_values(memory, n, length, 4);
    j->sums = cov_arena_calloc(memory, 2 * n, sizeof *j->sums);
    j->sum = cov_arena_calloc(memory, n, sizeof *j->sum);
    j->beg = cov_arena_calloc(memory, 2 * n, sizeof *j->beg);
    j->end = cov_arena_calloc(memory, 2 * n, sizeof *j->end);
    j->regions = cov_arena_calloc(memory, n, sizeof *j->regions);
    j->scores = cov_arena_calloc(memory, 4 * length, sizeof *j->scores);
    int rc = cov_arena_check(memory, e);
    for (size_t m = 0; !rc && m < j->o->model->n; m++) {
        const struct cov_model *model = j->o->model->models[m];
        const struct cov_explainer_options options = {.hp = &model->hp,
                                                      .block = model->block,
                                                      .L = L,
                                                      .max_batch = 2 * n,
                                                      .pool = j->job->pool};
        rc = cov_explainer_new(j->o->device, &options, &j->nets[m], e);
    }
    return rc;
}

int cov_attribution_explain(struct cov_attribution *a, const struct cov_attribution_options *o,
                            const struct cov_job *job, struct cov_err *e)
{
    const struct cov_gradient_options *how = o->gradients;
    enum { CHUNKS = 8 }; /* of a batch */
    static const struct cov_gradient_options at_x = {.n_steps = 1, .n_shuffles = 1};
    struct explain_job j = {.a = a, .o = o, .how = how->integrated ? how : &at_x, .job = job};
    const double clock = cov_clock();
    j.batch = ((o->batch ? o->batch : CHUNKS) + 1) / 2;
    j.n_points = j.how->n_steps * j.how->n_shuffles;
    int rc = open_networks(&j, e);
    cov_progress_begin(job->progress, "computing", "gradients", (int64_t)(a->n * j.n_points));
    if (!rc)
        rc = explain_all(&j, e);
    cov_progress_end(job->progress);
    cov_stats_add_stage(job->stats, "compute", cov_clock() - clock);
    for (size_t m = 0; j.nets && m < o->model->n; m++)
        cov_explainer_free(j.nets[m]);
    cov_arena_fini(&j.memory);
    return rc;
}
