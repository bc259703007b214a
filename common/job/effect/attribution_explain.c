/* attribution_explain.c - scores from gradients of y with respect to the bases.
 *
 * A point is a place on the line from a reference to a region's window, or the window itself. Each is
 * two chunks, one per strand. The inputs of the - strand are those of the + strand in reverse order,
 * columns too, since the columns are C, A, T, G. Points are computed in batches and added up in
 * order.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/net/explainer.h"
#include "common/seq/alphabet.h"
#include "common/seq/dinucleotides.h"

/* The columns of A, C, G and T in the inputs. */
static const size_t columns[4] = {1, 0, 3, 2};

struct run {
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

static size_t n_bases(const struct run *r, size_t i)
{
    const size_t n = r->a->regions[i].n_codes;
    return n < r->o->window ? n : r->o->window;
}

/* Sets the codes of region i's window, or of its reference number k. */
static int read_window(struct run *r, size_t i, size_t k, struct cov_err *e)
{
    const struct cov_attributed_region *region = &r->a->regions[i];
    const size_t n = n_bases(r, i);
    struct cov_rng rng;
    int rc = COV_OK;
    if (k == 0) {
        memset(r->codes, COV_CODE_PAD, r->o->window);
        rc = cov_genome_codes(r->o->genome, region->seq, region->window,
                              region->window + (int64_t)n, r->codes, e);
    }
    if (rc || !r->how->integrated)
        return rc;
    cov_rng_init(&rng, r->how->seed);
    cov_rng_init(&rng, cov_rng_next(&rng) + i * r->how->n_shuffles + k);
    memcpy(r->reference, r->codes, r->o->window);
    return cov_dinucleotide_shuffle(r->reference, n, &rng, e);
}

/* Sets the inputs of point p of region i, the b-th of the batch. */
static int set_point(struct run *r, size_t i, size_t p, size_t b, struct cov_err *e)
{
    const struct cov_attributed_region *region = &r->a->regions[i];
    const size_t L = r->o->window, n = n_bases(r, i);
    const size_t step = p % r->how->n_steps;
    float *plus = r->inputs + 2 * b * L * 4, *minus = plus + L * 4;
    const float by_x = r->how->integrated ? ((float)step + 0.5F) / (float)r->how->n_steps : 1;
    const size_t place = (size_t)(region->beg - region->window);
    int rc = step == 0 ? read_window(r, i, p / r->how->n_steps, e) : COV_OK;
    if (rc)
        return rc;
    memset(plus, 0, 2 * L * 4 * sizeof *plus);
    for (size_t at = 0; at < n; at++)
        for (size_t c = 0; c < 4; c++) {
            const float x = cov_onehot_f32[r->codes[at]][c];
            const float from = r->how->integrated ? cov_onehot_f32[r->reference[at]][c] : 0;
            plus[4 * at + c] = from + by_x * (x - from);
            minus[4 * (n - 1 - at) + 3 - c] = plus[4 * at + c];
        }
    for (size_t at = 0; at < r->a->length; at++)
        for (size_t c = 0; c < 4; c++)
            r->references[(b * r->a->length + at) * 4 + c] =
                r->how->integrated ? cov_onehot_f32[r->reference[place + at]][c] : 0.25F;
    const size_t sum_end = region->sum_end < n ? region->sum_end : n;
    r->beg[2 * b] = region->sum_beg;
    r->end[2 * b] = sum_end;
    r->beg[2 * b + 1] = n - sum_end;
    r->end[2 * b + 1] = n - region->sum_beg;
    r->regions[b] = i;
    return COV_OK;
}

/* Adds the gradients of both strands of point b to its total. */
static void add_strands(const struct run *r, size_t b)
{
    const size_t L = r->o->window, n = 4 * n_bases(r, r->regions[b]);
    const float *plus = r->gradient + 2 * b * L * 4, *minus = plus + L * 4;
    float *total = r->total + b * L * 4;
    for (size_t k = 0; k < n; k++)
        total[k] += plus[k] + minus[n - 1 - k];
    r->sum[b] += r->sums[2 * b] + r->sums[2 * b + 1];
}

/* Computes the first n points of the batch: total and sum. */
static int compute(struct run *r, size_t n, struct cov_err *e)
{
    const struct cov_explain_batch batch = {
        .n = 2 * n, .inputs = r->inputs, .dataset = r->o->target, .beg = r->beg, .end = r->end};
    int rc = COV_OK;
    memset(r->total, 0, n * r->o->window * 4 * sizeof *r->total);
    memset(r->sum, 0, n * sizeof *r->sum);
    for (size_t m = 0; !rc && m < r->o->model->n; m++) {
        rc = cov_explainer_run(r->nets[m], &batch, r->sums, r->gradient, e);
        for (size_t b = 0; !rc && b < n; b++)
            add_strands(r, b);
    }
    return rc;
}

/* Adds point b to the scores of its region. */
static int add_scores(struct run *r, size_t b, struct cov_err *e)
{
    const struct cov_attribution *a = r->a;
    const struct cov_attributed_region *region = &a->regions[r->regions[b]];
    if (!(r->sum[b] > 0) || !isfinite(r->sum[b]))
        return cov_fail(e, COV_EINPUT, "%.100s:%" PRId64 "-%" PRId64 ": the predicted sum is %g",
                        r->o->genome->names[region->seq], region->beg + 1, region->end, r->sum[b]);
    const double by = 1 / (r->sum[b] * (double)r->n_points);
    const size_t place = (size_t)(region->beg - region->window);
    for (size_t at = 0; at < a->length; at++) {
        const float *from = r->references + (b * a->length + at) * 4;
        const float *g = r->total + (b * r->o->window + place + at) * 4;
        double base = 0;
        for (size_t c = 0; c < 4; c++)
            base += (double)from[c] * (double)g[c];
        for (size_t c = 0; c < 4; c++)
            r->scores[c * a->length + at] += ((double)g[columns[c]] - base) * by;
    }
    return COV_OK;
}

/* Computes the points of the batch, and stores the scores of the regions that are done. `first` is
 * the number of the first point. */
static int flush(struct run *r, size_t first, size_t n, struct cov_err *e)
{
    const size_t size = 4 * r->a->length;
    int rc = compute(r, n, e);
    for (size_t b = 0; !rc && b < n; b++) {
        if ((first + b) % r->n_points == 0)
            memset(r->scores, 0, size * sizeof *r->scores);
        rc = add_scores(r, b, e);
        if ((first + b + 1) % r->n_points == 0)
            for (size_t k = 0; k < size; k++)
                r->a->scores[r->regions[b] * size + k] = (float)r->scores[k];
    }
    cov_progress_add(r->job->progress, (int64_t)n);
    return rc;
}

static int compute_all(struct run *r, struct cov_err *e)
{
    const size_t n = r->a->n * r->n_points;
    int rc = COV_OK;
    for (size_t first = 0; !rc && first < n; first += r->batch) {
        const size_t n_now = n - first < r->batch ? n - first : r->batch;
        for (size_t b = 0; !rc && b < n_now; b++)
            rc = set_point(r, (first + b) / r->n_points, (first + b) % r->n_points, b, e);
        if (!rc)
            rc = flush(r, first, n_now, e);
    }
    return rc;
}

static int allocate(struct run *r, struct cov_err *e)
{
    const size_t L = r->o->window, n = r->batch, length = r->a->length;
    r->nets = cov_calloc(r->o->model->n, sizeof(struct cov_explainer *), e);
    r->codes = cov_malloc(L, 1, e);
    r->reference = cov_malloc(L, 1, e);
    r->inputs = cov_malloc(2 * n, L * 4 * sizeof *r->inputs, e);
    r->gradient = cov_malloc(2 * n, L * 4 * sizeof *r->gradient, e);
    r->total = cov_malloc(n, L * 4 * sizeof *r->total, e);
    r->references = cov_malloc(n, length * 4 * sizeof *r->references, e);
    r->sums = cov_calloc(2 * n, sizeof *r->sums, e);
    r->sum = cov_calloc(n, sizeof *r->sum, e);
    r->beg = cov_calloc(2 * n, sizeof *r->beg, e);
    r->end = cov_calloc(2 * n, sizeof *r->end, e);
    r->regions = cov_calloc(n, sizeof *r->regions, e);
    r->scores = cov_calloc(4 * length, sizeof *r->scores, e);
    if (!r->nets || !r->codes || !r->reference || !r->inputs || !r->gradient || !r->total ||
        !r->references || !r->sums || !r->sum || !r->beg || !r->end || !r->regions || !r->scores)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (size_t m = 0; !rc && m < r->o->model->n; m++) {
        const struct cov_model *model = r->o->model->models[m];
        const struct cov_explainer_options options = {.hp = &model->hp,
                                                      .block = model->block,
                                                      .L = L,
                                                      .max_batch = 2 * n,
                                                      .pool = r->job->pool};
        rc = cov_explainer_new(r->o->device, &options, &r->nets[m], e);
    }
    return rc;
}

static void release(struct run *r)
{
    for (size_t m = 0; r->nets && m < r->o->model->n; m++)
        cov_explainer_free(r->nets[m]);
    free(r->nets);
    free(r->codes);
    free(r->reference);
    free(r->inputs);
    free(r->gradient);
    free(r->total);
    free(r->references);
    free(r->sums);
    free(r->sum);
    free(r->beg);
    free(r->end);
    free(r->regions);
    free(r->scores);
}

int cov_attribution_explain(struct cov_attribution *a, const struct cov_attribution_options *o,
                            const struct cov_gradient_options *how, const struct cov_job *job,
                            struct cov_err *e)
{
    enum { CHUNKS = 8 }; /* of a batch */
    static const struct cov_gradient_options at_x = {.n_steps = 1, .n_shuffles = 1};
    struct run r = {.a = a, .o = o, .how = how->integrated ? how : &at_x, .job = job};
    const double clock = cov_clock();
    r.batch = ((o->batch ? o->batch : CHUNKS) + 1) / 2;
    r.n_points = r.how->n_steps * r.how->n_shuffles;
    int rc = allocate(&r, e);
    cov_progress_begin(job->progress, "computing", "gradients", (int64_t)(a->n * r.n_points));
    if (!rc)
        rc = compute_all(&r, e);
    cov_progress_end(job->progress);
    cov_stats_add_stage(job->stats, "compute", cov_clock() - clock);
    release(&r);
    return rc;
}
