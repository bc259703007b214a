/* cublas_trial.cu - tries the products of cuBLAS, and chooses who computes them (cublas.h).
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/cuda/runtime.h"
}
#include "common/compute/cuda/cublas_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- trials ---- */

/* Products of a shape with random operands on a card. */
struct trial {
    const struct cov_dense *d;
    int card;
    void *stream;
    char *memory; /* x, w or z, vectors, and two results */
    struct cov_cuda_gemm gemm;
    struct cov_cuda_outer outer;
    size_t x_bytes, w_bytes;
    float *own, *cublas; /* results, on the card */
    /* The values to compare: `floats` floats of each of `parts` parts, which are added. */
    size_t floats, parts;
};

/* Copies v to the memory, and frees it. */
static int upload(struct trial *t, char *at, void *v, size_t bytes, struct cov_err *e)
{
    int rc = v ? cov_rt_copy_in(t->stream, at, v, bytes, e) : COV_ENOMEM;
    rc = cov_rt_finish(t->stream, rc, e);
    free(v);
    return rc;
}

/* Fills part of the memory with random numbers in [-1, 1). */
static int fill_random(struct trial *t, char *at, size_t n, struct cov_err *e)
{
    const size_t element = cov_dense_element(t->d);
    struct cov_rng rng;
    char *v = (char *)cov_malloc(n, element, e);
    cov_rng_init(&rng, (uint64_t)(at - t->memory));
    for (size_t i = 0; v && i < n; i++) {
        float value = (float)(cov_rng_double(&rng) * 2 - 1);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint16_t half = (uint16_t)cov_bf16_of_bits(bits);
        memcpy(v + i * element, element == 2 ? (char *)&half : (char *)&bits, element);
    }
    return upload(t, at, v, n * element, e);
}

static float bias_of(size_t column)
{
    return (float)(column % 7) - 3;
}

/* Fills bias, scale and shift, of n floats each; scale and shift change nothing. */
static int fill_vectors(struct trial *t, char *at, size_t n, struct cov_err *e)
{
    float *v = (float *)cov_calloc(3 * n, sizeof *v, e);
    for (size_t i = 0; v && i < n; i++) {
        v[i] = bias_of(i);
        v[n + i] = 1;
    }
    return upload(t, at, v, 3 * n * sizeof *v, e);
}

/* Sets up n sequences; if n is 0, as many as keep the card busy. Free with free_trial, even after a
 * failure. */
static int make_trial(struct trial *t, int n, struct cov_err *e)
{
    enum { ROWS = 128 }; /* per multiprocessor */
    const struct cov_dense_shape *s = &t->d->shape;
    struct cov_rt_card card;
    void *memory;
    int rc = cov_rt_describe(t->card, &card, e);
    if (!rc)
        rc = cov_rt_use(t->card, e);
    if (!rc)
        rc = cov_rt_stream_new(t->card, &t->stream, e);
    if (rc)
        return rc;
    n = n ? n : card.n_multiprocessors * ROWS / s->t + 2;
    const size_t rows = (size_t)n * s->t, n_x = rows * s->x_pitch;
    const size_t n_vector = (size_t)cov_round_up(s->n_cols, 128);
    size_t n_w = n_vector * s->w_pitch, n_y = rows * s->pitch;
    t->floats = (size_t)s->t * s->pitch;
    t->parts = 1;
    if (s->outer) {
        t->parts = (size_t)n;
        t->floats = (size_t)s->c * s->n_cols;
        n_w = rows * s->pitch;
        n_y = t->floats * t->parts;
    }
    t->x_bytes = n_x * cov_dense_element(t->d);
    t->w_bytes = n_w * cov_dense_element(t->d);
    const size_t x = cov_rt_round(t->x_bytes), w = cov_rt_round(t->w_bytes);
    const size_t vectors = cov_rt_round(3 * n_vector * 4), y = cov_rt_round(n_y * 4);
    rc = cov_rt_alloc(t->card, x + w + vectors + 2 * y, &memory, e);
    if (rc)
        return rc;
    t->memory = (char *)memory;
    char *const of_w = t->memory + x, *const bias = of_w + w;
    t->own = (float *)(void *)(bias + vectors);
    t->cublas = t->own + y / 4;
    rc = fill_random(t, t->memory, n_x, e);
    if (!rc)
        rc = fill_random(t, of_w, n_w, e);
    if (!rc)
        rc = fill_vectors(t, bias, n_vector, e);
    struct cov_cuda_outer *o = &t->outer;
    o->x = t->memory;
    o->z = of_w;
    o->n = n;
    o->t_in = o->t_out = s->t;
    o->x_pitch = s->x_pitch;
    o->c = s->c;
    o->z_pitch = s->pitch;
    o->n_cols = s->n_cols;
    o->phase = cov_conv_phase_plain(s->t, 1, 1, 1, 0);
    o->splits = 1;
    o->stride = t->floats;
    struct cov_cuda_gemm *g = &t->gemm;
    g->x = t->memory;
    g->w = of_w;
    g->bias = (const float *)(const void *)bias;
    g->scale = g->bias + n_vector;
    g->shift = g->scale + n_vector;
    g->n = n;
    g->t_in = g->t_out = s->t;
    g->c = s->c;
    g->pitch = s->pitch;
    g->n_cols = s->n_cols;
    g->phase = o->phase;
    cov_cuda_gemm_sizes(s->products, 1, s->c, s->n_cols, &g->k, &g->width);
    return rc;
}

static void free_trial(struct trial *t)
{
    cov_rt_free(t->card, t->memory);
    cov_rt_stream_free(t->card, t->stream);
}

/* Queues the product of n sequences, of which rows [0, head) and [tail, t) are computed, or their
 * gradient, of all rows. */
static int queue_trial(const struct trial *t, bool cublas, int n, int head, int tail, float *to,
                       struct cov_err *e)
{
    struct cov_cuda_gemm g = t->gemm;
    struct cov_cuda_outer o = t->outer;
    const enum cov_cuda_products products = t->d->shape.products;
    g.n = o.n = n;
    g.phase = cov_conv_phase_cut(g.phase, g.t_out, head, tail);
    g.y = o.partial = to;
    int rc = COV_OK;
    if (cublas)
        rc = t->d->shape.outer ? cov_lt_multiply_outer(t->d, t->card, &o, t->stream, e)
                               : cov_lt_multiply_rows(t->d, t->card, &g, t->stream, e);
    else if (t->d->shape.outer)
        cov_cuda_outer(products, &o, t->stream);
    else
        cov_cuda_gemm(products, &g, t->stream);
    return rc ? rc : cov_rt_launched("a trial of products", e);
}

/* Computes a product and copies the values to compare to v. */
static int trial_values(const struct trial *t, bool cublas, float *v, struct cov_err *e)
{
    float *from = cublas ? t->cublas : t->own;
    int rc = queue_trial(t, cublas, t->gemm.n, t->d->shape.t, t->d->shape.t, from, e);
    if (!rc)
        rc = cov_rt_copy_out(t->stream, v, from, t->parts * t->floats * sizeof *v, e);
    return cov_rt_finish(t->stream, rc, e);
}

/* Operand i of a matrix. */
static double operand(const struct trial *t, const char *matrix, size_t i)
{
    uint16_t half;
    uint32_t bits;
    float v;
    if (cov_dense_element(t->d) == 2) {
        memcpy(&half, matrix + i * 2, 2);
        bits = (uint32_t)half << 16;
    } else {
        memcpy(&bits, matrix + i * 4, 4);
    }
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

/* Returns the value in a row and column of the product of the first sequence, or of the gradient of
 * all: w has the columns of z in a gradient. */
static double reference(const struct trial *t, const char *x, const char *w, size_t row,
                        size_t column)
{
    const struct cov_dense_shape *s = &t->d->shape;
    double sum = s->outer ? 0 : (double)bias_of(column);
    if (s->outer)
        for (size_t k = 0; k < t->parts * s->t; k++)
            sum += operand(t, x, k * s->x_pitch + row) * operand(t, w, k * s->pitch + column);
    else
        for (size_t k = 0; k < (size_t)s->c; k++)
            sum += operand(t, x, row * s->x_pitch + k) * operand(t, w, column * s->w_pitch + k);
    return sum;
}

/* Returns the largest difference to products on the CPU, in some rows and columns, relative to the largest
 * of these; infinity if a value is not a number. */
static double difference(const struct trial *t, const float *values, const char *x, const char *w)
{
    enum { ROWS = 8, COLUMNS = 64 };
    const struct cov_dense_shape *s = &t->d->shape;
    const size_t n_rows = (size_t)(s->outer ? s->c : s->t), n_columns = (size_t)s->n_cols;
    const size_t width = (size_t)(s->outer ? s->n_cols : s->pitch);
    double most = 0, largest = 0;
    for (size_t row = 0; row < n_rows; row += n_rows / ROWS + 1)
        for (size_t column = 0; column < n_columns; column += n_columns / COLUMNS + 1) {
            double want = reference(t, x, w, row, column), got = 0;
            for (size_t k = 0; k < t->parts; k++)
                got += (double)values[k * t->floats + row * width + column];
            double d = fabs(got - want);
            most = d <= most ? most : isnan(d) ? INFINITY : d;
            largest = fabs(want) > largest ? fabs(want) : largest;
        }
    return most / largest;
}

/* Checks that the values agree with the CPU's. */
static int compare_values(const struct trial *t, const float *values, struct cov_err *e)
{
    /* Sums that are truncated, or operands of tf32 that are; far below the error of a wrong
     * product. */
    const double allowed = t->d->shape.products == COV_CUDA_BF16 ? 1e-3 : 5e-3;
    char *x = (char *)cov_malloc(t->x_bytes, 1, e), *w = (char *)cov_malloc(t->w_bytes, 1, e);
    double off = 0;
    int rc = x && w ? COV_OK : COV_ENOMEM;
    if (!rc)
        rc = cov_rt_copy_out(t->stream, x, t->gemm.x, t->x_bytes, e);
    if (!rc)
        rc = cov_rt_copy_out(t->stream, w, t->gemm.w, t->w_bytes, e);
    rc = cov_rt_finish(t->stream, rc, e);
    if (!rc)
        off = difference(t, values, x, w);
    free(x);
    free(w);
    if (!rc && !(off <= allowed))
        return cov_fail(e, COV_EUNSUPPORTED, "its values are off by %.2g, %.2g allowed", off,
                        allowed);
    return rc;
}

/* Checks that a sequence has the same bytes without the others, with some rows and with all: in this
 * order, since missing rows would otherwise keep the right values. A gradient always has all. */
static int compare_batches(const struct trial *t, const float *values, struct cov_err *e)
{
    const int rows = t->d->shape.t;
    const size_t pitch = (size_t)t->d->shape.pitch, n = t->floats;
    const int cuts[2][2] = {{rows / 2, rows - rows / 4}, {rows, rows}};
    float *v = (float *)cov_malloc(n, sizeof *v, e);
    if (!v)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (const auto &cut : cuts) {
        const bool all = cut[0] == rows;
        const size_t head = all ? n : cut[0] * pitch, tail = all ? n : cut[1] * pitch;
        if (!all && t->d->shape.outer)
            continue;
        if (!rc)
            rc = queue_trial(t, true, 1, cut[0], cut[1], t->own, e);
        if (!rc)
            rc = cov_rt_copy_out(t->stream, v, t->own, n * sizeof *v, e);
        rc = cov_rt_finish(t->stream, rc, e);
        if (!rc && (memcmp(v, values, head * sizeof *v) != 0 ||
                    memcmp(v + tail, values + tail, (n - tail) * sizeof *v) != 0))
            rc = cov_fail(e, COV_EUNSUPPORTED, "its values depend on the batch");
    }
    free(v);
    return rc;
}

/* Sets *ms to the shortest time of a product. */
static int time_trial(const struct trial *t, bool cublas, double *ms, struct cov_err *e)
{
    enum { ROUNDS = 3, REPEATS = 4 };
    const int rows = t->d->shape.t;
    int rc = COV_OK;
    for (int round = 0; !rc && round < ROUNDS; round++) {
        double beg = cov_rt_clock();
        for (int i = 0; !rc && i < REPEATS; i++)
            rc = queue_trial(t, cublas, t->gemm.n, rows, rows, cublas ? t->cublas : t->own, e);
        rc = cov_rt_finish(t->stream, rc, e);
        double took = (cov_rt_clock() - beg) / REPEATS * 1e3;
        *ms = round == 0 || took < *ms ? took : *ms;
    }
    return rc;
}

/* Tries a shape on a card. On the first one, sets the algorithm, the times, *n_sequences and
 * *values, which the caller frees; on others, compares as many sequences with *values. */
static int try_card(struct cov_dense *d, struct trial *t, int *n_sequences, float **values,
                    struct cov_err *e)
{
    const bool first = !*values;
    int rc = make_trial(t, *n_sequences, e);
    if (rc)
        return rc;
    const size_t n = t->parts * t->floats;
    t->gemm.y = t->outer.partial = t->cublas;
    *n_sequences = t->gemm.n;
    if (first)
        rc = d->shape.outer ? cov_lt_propose_outer(d, &t->outer, e)
                            : cov_lt_propose_rows(d, &t->gemm, e);
    float *v = rc ? NULL : (float *)cov_malloc(n, sizeof *v, e);
    if (!rc)
        rc = v ? trial_values(t, true, v, e) : COV_ENOMEM;
    if (!rc && first)
        rc = compare_values(t, v, e);
    if (!rc && !first && memcmp(v, *values, n * sizeof *v) != 0)
        rc = cov_fail(e, COV_EUNSUPPORTED, "its values depend on the GPU");
    if (!rc)
        rc = compare_batches(t, v, e);
    if (!rc && first)
        rc = time_trial(t, false, &d->own_ms, e);
    if (!rc && first)
        rc = time_trial(t, true, &d->cublas_ms, e);
    if (first)
        *values = v;
    else
        free(v);
    return rc;
}

static int try_cards(struct cov_dense *d, struct cov_err *e)
{
    float *values = NULL;
    int rc = COV_OK, n_sequences = 0;
    for (size_t i = 0; !rc && i < d->owner->n_handles; i++) {
        struct trial t = {};
        t.d = d;
        t.card = d->owner->handles[i].card->index;
        rc = try_card(d, &t, &n_sequences, &values, e);
        if (rc)
            (void)cov_err_prefix(e, "%s", d->owner->handles[i].card->name);
        free_trial(&t);
    }
    free(values);
    return rc;
}

/* ---- decisions ---- */

/* Tries a new shape. If that is not possible, cuBLAS computes nothing from now on, unless it already
 * does or has to: then it is an error. */
static int try_shape(struct cov_cublas *b, struct cov_dense *d, struct cov_err *e)
{
    struct cov_err why = COV_ERR_INIT;
    const int rc = try_cards(d, &why);
    d->fits = !rc;
    if (rc && (b->always || (b->used && rc != COV_EUNSUPPORTED)))
        return cov_fail(e, rc, "%s by cuBLAS: %s", d->name, why.text);
    if (rc && rc != COV_EUNSUPPORTED) {
        cov_info("own products of LSTMs: %s by cuBLAS: %s", d->name, why.text);
        b->decided = true;
    } else if (rc) {
        cov_debug("%s: own kernel, not %s: %s", d->name, b->version, why.text);
    } else {
        cov_debug("%s: own kernel %.3f ms, %s %.3f ms", d->name, d->own_ms, b->version,
                  d->cublas_ms);
    }
    return COV_OK;
}

/* Finds a shape, or tries a new one. */
static int add(struct cov_cublas *b, const char *what, const struct cov_dense_shape *s,
               const struct cov_dense **out, struct cov_err *e)
{
    *out = NULL;
    if (!b || !cov_cublas_can(s->products) || (b->decided && !b->used))
        return COV_OK;
    struct cov_dense **at = &b->first;
    while (*at && memcmp(&(*at)->shape, s, sizeof *s) != 0)
        at = &(*at)->next;
    if (*at) {
        *out = *at;
        return COV_OK;
    }
    struct cov_dense *d = (struct cov_dense *)cov_calloc(1, sizeof *d, e);
    if (!d)
        return COV_ENOMEM;
    d->owner = b;
    d->shape = *s;
    (void)snprintf(d->name, sizeof d->name, "%s, %d x %d", what, s->c, s->n_cols);
    int rc = try_shape(b, d, e);
    if (rc) {
        free(d);
        return rc;
    }
    *out = *at = d;
    return COV_OK;
}

int cov_cublas_add_gemm(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                        const struct cov_cuda_gemm *g, const struct cov_dense **out,
                        struct cov_err *e)
{
    const struct cov_dense_shape s = {0, products, g->t_out, g->c, g->n_cols, g->k, g->c, g->pitch};
    return add(b, what, &s, out, e);
}

int cov_cublas_add_outer(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                         const struct cov_cuda_outer *o, const struct cov_dense **out,
                         struct cov_err *e)
{
    const struct cov_dense_shape s = {1,         products, o->t_out,   o->c,
                                      o->n_cols, 0,        o->x_pitch, o->z_pitch};
    return add(b, what, &s, out, e);
}

void cov_cublas_decide(struct cov_cublas *b)
{
    const double most = 0.9; /* of our time; a smaller gain is not worth another rounding */
    double own_ms = 0, cublas_ms = 0;
    if (!b || b->decided || !b->first)
        return;
    for (const struct cov_dense *d = b->first; d; d = d->next)
        if (d->fits) {
            own_ms += d->own_ms;
            cublas_ms += d->cublas_ms;
        }
    b->decided = true;
    b->used = b->always || (own_ms > 0 && cublas_ms <= most * own_ms);
    cov_debug("products of LSTMs: %s", cov_cublas_choice(b));
}

const char *cov_cublas_choice(const struct cov_cublas *b)
{
    return !b || !b->decided ? NULL : b->used ? b->version : "own";
}

int cov_dense_gemm(const struct cov_dense *d, int card, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, void *stream, struct cov_err *e)
{
    if (!d || !d->fits || !d->owner->used) {
        cov_cuda_gemm(products, g, stream);
        return COV_OK;
    }
    int rc = cov_lt_multiply_rows(d, card, g, stream, e);
    return rc ? cov_err_prefix(e, "%s", d->name) : COV_OK;
}

int cov_dense_outer(const struct cov_dense *d, int card, enum cov_cuda_products products,
                    const struct cov_cuda_outer *o, void *stream, struct cov_err *e)
{
    if (!d || !d->fits || !d->owner->used) {
        cov_cuda_outer(products, o, stream);
        return COV_OK;
    }
    int rc = cov_lt_multiply_outer(d, card, o, stream, e);
    return rc ? cov_err_prefix(e, "%s", d->name) : COV_OK;
}
