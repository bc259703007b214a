/* cublas.cu - see cublas.h. cuBLAS stores matrices by columns: our rows x[t, c] are its matrix of c rows
 * and t columns. The types and numbers below are those of cublasLt.h, so that the plugin builds
 * without it; a build that has the header compares them.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/cuda/runtime.h"
}
#include "common/compute/cuda/cublas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

enum { LT_SUCCESS = 0, LT_ALLOC_FAILED = 3, LT_REDUCTION_NONE = 0 };
enum { LT_R_32F = 0, LT_R_16BF = 14, LT_COMPUTE_32F = 68, LT_COMPUTE_32F_FAST_TF32 = 77 };
enum { LT_DESC_TRANSA = 3, LT_DESC_TRANSB = 4, LT_DESC_EPILOGUE = 7, LT_DESC_BIAS_POINTER = 8 };
enum { LT_LAYOUT_BATCH_COUNT = 5, LT_LAYOUT_BATCH_OFFSET = 6 };
enum {
    LT_PREF_WORKSPACE_BYTES = 1,
    LT_PREF_REDUCTION_MASK = 3,
    LT_PREF_ALIGNMENT_A = 5 /* to D */
};
enum { LT_OP_N = 0, LT_OP_T = 1, LT_EPILOGUE_DEFAULT = 1, LT_EPILOGUE_BIAS = 4 };

/* An algorithm of the library. */
struct algorithm {
    uint64_t data[8];
};

struct lt_result {
    struct algorithm algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

/* Functions of the library, in the order of lt_names. All but `version` return a status, 0 for
 * success. */
struct functions {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    size_t (*version)(void);
    int (*desc_create)(void **desc, int compute, int scale_type);
    int (*desc_destroy)(void *desc);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t bytes);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*layout_set)(void *layout, int attribute, const void *value, size_t bytes);
    int (*pref_create)(void **pref);
    int (*pref_destroy)(void *pref);
    int (*pref_set)(void *pref, int attribute, const void *value, size_t bytes);
    int (*heuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref,
                     int most, struct lt_result *results, int *n);
    int (*matmul)(void *handle, void *desc, const void *alpha, const void *pa, void *a,
                  const void *pb, void *b, const void *beta, const void *pc, void *c, void *pd,
                  void *d, const struct algorithm *algo, void *workspace, size_t workspace_bytes,
                  void *stream);
};

static const char *const lt_names[] = {
    "cublasLtCreate",
    "cublasLtDestroy",
    "cublasLtGetVersion",
    "cublasLtMatmulDescCreate",
    "cublasLtMatmulDescDestroy",
    "cublasLtMatmulDescSetAttribute",
    "cublasLtMatrixLayoutCreate",
    "cublasLtMatrixLayoutDestroy",
    "cublasLtMatrixLayoutSetAttribute",
    "cublasLtMatmulPreferenceCreate",
    "cublasLtMatmulPreferenceDestroy",
    "cublasLtMatmulPreferenceSetAttribute",
    "cublasLtMatmulAlgoGetHeuristic",
    "cublasLtMatmul",
};

enum { N_FUNCTIONS = sizeof lt_names / sizeof *lt_names };
static_assert(sizeof(struct functions) == N_FUNCTIONS * sizeof(void *), "a name for each function");

#if defined(__CUDACC__) && __has_include(<cublasLt.h>)
#include <cublasLt.h>
static constexpr bool same(int a, int b)
{
    return a == b;
}

static_assert(same(LT_R_32F, CUDA_R_32F) && same(LT_R_16BF, CUDA_R_16BF) &&
              same(LT_COMPUTE_32F, CUBLAS_COMPUTE_32F) &&
              same(LT_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(same(LT_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA) &&
              same(LT_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB) &&
              same(LT_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE) &&
              same(LT_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(same(LT_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) &&
              same(LT_LAYOUT_BATCH_OFFSET, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
static_assert(same(LT_PREF_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) &&
              same(LT_PREF_REDUCTION_MASK, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) &&
              same(LT_PREF_ALIGNMENT_A, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) &&
              same(LT_PREF_ALIGNMENT_A + 3, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(same(LT_OP_N, CUBLAS_OP_N) && same(LT_OP_T, CUBLAS_OP_T) &&
              same(LT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_DEFAULT) &&
              same(LT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_BIAS) &&
              same(LT_SUCCESS, CUBLAS_STATUS_SUCCESS) &&
              same(LT_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED) &&
              same(LT_REDUCTION_NONE, CUBLASLT_REDUCTION_SCHEME_NONE));
static_assert(sizeof(struct algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(struct lt_result) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(struct lt_result, state) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, state));
#endif

/* ---- types ---- */

/* All of it is compared to find a shape, so there are no gaps. */
struct shape {
    int outer; /* a gradient, not a product */
    enum cov_cuda_products products;
    int t, c, n_cols;   /* rows of a sequence, channels of x, columns of y or z */
    int w_pitch;        /* of the weights of a product */
    int x_pitch, pitch; /* of x, and of y or z */
};

struct cov_dense {
    struct cov_cublas *owner;
    struct shape shape;
    char name[80]; /* "gates of an LSTM, 384 x 1024": channels of x, columns */
    bool fits;     /* passed its trial */
    double own_ms, cublas_ms;
    struct algorithm algorithm;
    struct cov_dense *next;
};

struct handle {
    int card;
    void *handle;
};

struct cov_cublas {
    struct functions lt;
    char version[32]; /* "cublas 13.1.0" */
    bool always, decided, used;
    struct handle *handles; /* [n_handles], one for each card */
    size_t n_handles;
    struct cov_dense *first;
};

static size_t element_of(const struct cov_dense *d)
{
    return d->shape.products == COV_CUDA_BF16 ? 2 : 4;
}

static int check(int status, const char *what, struct cov_err *e)
{
    return status == LT_SUCCESS
               ? COV_OK
               : cov_fail(e, status == LT_ALLOC_FAILED ? COV_ENOMEM : COV_EUNSUPPORTED,
                          "%s: status %d", what, status);
}

void cov_cublas_close(struct cov_cublas *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_handles; i++)
        if (b->handles[i].handle && cov_rt_use(b->handles[i].card, NULL) == COV_OK)
            (void)b->lt.destroy(b->handles[i].handle);
    while (b->first) {
        struct cov_dense *d = b->first;
        b->first = d->next;
        free(d);
    }
    free(b->handles);
    free(b);
}

bool cov_cublas_can(enum cov_cuda_products products)
{
    return products == COV_CUDA_BF16 || products == COV_CUDA_TF32;
}

int cov_cublas_open(const int *cards, size_t n_cards, bool always, struct cov_cublas **out,
                    struct cov_err *e)
{
    void *functions[N_FUNCTIONS];
    *out = NULL;
    for (int i = 0; i < N_FUNCTIONS; i++) {
        functions[i] = cov_rt_cublas_function(lt_names[i]);
        if (!functions[i])
            return cov_fail(e, COV_EUNSUPPORTED, "cuBLAS not found, or without %s", lt_names[i]);
    }
    struct cov_cublas *b = (struct cov_cublas *)cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    memcpy(&b->lt, functions, sizeof b->lt);
    size_t version = b->lt.version();
    (void)snprintf(b->version, sizeof b->version, "cublas %zu.%zu.%zu", version / 10000,
                   version / 100 % 100, version % 100);
    b->always = always;
    b->handles = (struct handle *)cov_calloc(n_cards, sizeof *b->handles, e);
    int rc = b->handles ? COV_OK : COV_ENOMEM;
    for (; !rc && b->n_handles < n_cards; b->n_handles++) {
        struct handle *h = &b->handles[b->n_handles];
        h->card = cards[b->n_handles];
        rc = cov_rt_use(h->card, e);
        if (!rc)
            rc = check(b->lt.create(&h->handle), "cublasLtCreate", e);
    }
    if (rc) {
        cov_cublas_close(b);
        return rc;
    }
    *out = b;
    return COV_OK;
}

/* ---- calls ---- */

struct matrix {
    const void *at;
    uint64_t rows, columns;
    int64_t pitch, stride; /* elements from a column, and from a matrix of the batch, to the next */
};

/* D = op(A) op(B) + bias, for `count` matrices. D is float. */
struct call {
    struct matrix a, b, d;
    int op_a, op_b, count;
    const float *bias; /* [d.rows]; NULL: none */
};

/* A call in the form of the library: the product, A, B and D. */
struct descriptors {
    void *desc, *layouts[3];
};

static void free_descriptors(const struct functions *lt, struct descriptors *x)
{
    for (void *layout : x->layouts)
        if (layout)
            (void)lt->layout_destroy(layout);
    if (x->desc)
        (void)lt->desc_destroy(x->desc);
}

/* Free with free_descriptors, even after a failure. */
static int make_descriptors(const struct cov_dense *d, const struct call *c, struct descriptors *x,
                            struct cov_err *e)
{
    const struct functions *lt = &d->owner->lt;
    const bool bf16 = d->shape.products == COV_CUDA_BF16;
    const int epilogue = c->bias ? LT_EPILOGUE_BIAS : LT_EPILOGUE_DEFAULT;
    const struct matrix *const matrices[] = {&c->a, &c->b, &c->d};
    *x = {};
    int rc = lt->desc_create(&x->desc, bf16 ? LT_COMPUTE_32F : LT_COMPUTE_32F_FAST_TF32, LT_R_32F);
    rc = rc ? rc : lt->desc_set(x->desc, LT_DESC_TRANSA, &c->op_a, sizeof c->op_a);
    rc = rc ? rc : lt->desc_set(x->desc, LT_DESC_TRANSB, &c->op_b, sizeof c->op_b);
    rc = rc ? rc : lt->desc_set(x->desc, LT_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (!rc && c->bias)
        rc = lt->desc_set(x->desc, LT_DESC_BIAS_POINTER, &c->bias, sizeof c->bias);
    for (int i = 0; !rc && i < 3; i++) {
        const struct matrix *m = matrices[i];
        void **to = &x->layouts[i];
        rc = lt->layout_create(to, bf16 && i < 2 ? LT_R_16BF : LT_R_32F, m->rows, m->columns,
                               m->pitch);
        rc = rc ? rc : lt->layout_set(*to, LT_LAYOUT_BATCH_COUNT, &c->count, sizeof c->count);
        rc = rc ? rc : lt->layout_set(*to, LT_LAYOUT_BATCH_OFFSET, &m->stride, sizeof m->stride);
    }
    return check(rc, "descriptors of cublasLt", e);
}

/* Queues a call. */
static int multiply(const struct cov_dense *d, int card, const struct call *c, void *stream,
                    struct cov_err *e)
{
    static const float one = 1, zero = 0;
    const struct cov_cublas *b = d->owner;
    struct descriptors x;
    size_t i = 0;
    while (b->handles[i].card != card)
        i++;
    int rc = make_descriptors(d, c, &x, e);
    if (!rc)
        rc = check(b->lt.matmul(b->handles[i].handle, x.desc, &one, c->a.at, x.layouts[0], c->b.at,
                                x.layouts[1], &zero, c->d.at, x.layouts[2], (void *)c->d.at,
                                x.layouts[2], &d->algorithm, NULL, 0, stream),
                   "cublasLtMatmul", e);
    free_descriptors(&b->lt, &x);
    return rc;
}

/* Sets d->algorithm to the algorithm that the library proposes for a call. */
static int find_algorithm(struct cov_dense *d, const struct call *c, struct cov_err *e)
{
    const struct functions *lt = &d->owner->lt;
    const uint32_t no_reduction = LT_REDUCTION_NONE, alignment = 16;
    const size_t no_workspace = 0;
    struct descriptors x;
    struct lt_result result = {};
    void *pref = NULL;
    int n = 0;
    int rc = make_descriptors(d, c, &x, e);
    if (!rc) {
        int no = lt->pref_create(&pref);
        no = no ? no : lt->pref_set(pref, LT_PREF_WORKSPACE_BYTES, &no_workspace, sizeof(size_t));
        no = no ? no : lt->pref_set(pref, LT_PREF_REDUCTION_MASK, &no_reduction, sizeof(uint32_t));
        for (int i = 0; !no && i < 4; i++)
            no = lt->pref_set(pref, LT_PREF_ALIGNMENT_A + i, &alignment, sizeof alignment);
        no = no ? no
                : lt->heuristic(d->owner->handles[0].handle, x.desc, x.layouts[0], x.layouts[1],
                                x.layouts[2], x.layouts[2], pref, 1, &result, &n);
        no = no ? no : result.state;
        rc = check(no, "cublasLtMatmulAlgoGetHeuristic", e);
    }
    if (!rc && n < 1)
        rc = cov_fail(e, COV_EUNSUPPORTED, "no algorithm");
    d->algorithm = result.algo;
    if (pref)
        (void)lt->pref_destroy(pref);
    free_descriptors(lt, &x);
    return rc;
}

/* The call for `rows` rows from row `first` of `count` sequences. */
static struct call call_of_gemm(const struct cov_dense *d, const struct cov_cuda_gemm *g, int first,
                                int rows, int count)
{
    struct call c = {};
    c.a = {g->w, (uint64_t)g->c, (uint64_t)g->n_cols, g->k, 0};
    c.op_a = LT_OP_T;
    c.b = {(const char *)g->x + (size_t)first * g->c * element_of(d), (uint64_t)g->c,
           (uint64_t)rows, g->c, (int64_t)g->t_in * g->c};
    c.op_b = LT_OP_N;
    c.d = {(const float *)g->y + (size_t)first * g->pitch, (uint64_t)g->n_cols, (uint64_t)rows,
           g->pitch, (int64_t)g->t_out * g->pitch};
    c.bias = g->bias;
    c.count = count;
    return c;
}

/* The call for `count` sequences. */
static struct call call_of_outer(const struct cov_cuda_outer *o, int count)
{
    const uint64_t depth = (uint64_t)o->t_in;
    struct call c = {};
    c.a = {o->z, (uint64_t)o->n_cols, depth, o->z_pitch, (int64_t)depth * o->z_pitch};
    c.op_a = LT_OP_N;
    c.b = {o->x, (uint64_t)o->c, depth, o->x_pitch, (int64_t)depth * o->x_pitch};
    c.op_b = LT_OP_T;
    c.d = {o->partial, (uint64_t)o->n_cols, (uint64_t)o->c, o->n_cols, (int64_t)o->stride};
    c.count = count;
    return c;
}

/* Most matrices of a batch, which may be blocks of a grid's dimension. */
enum { MOST = 65535 };

/* Queues a product. */
static int multiply_rows(const struct cov_dense *d, int card, const struct cov_cuda_gemm *g,
                         void *stream, struct cov_err *e)
{
    const struct cov_conv_phase *p = &g->phase;
    const int head = p->split < p->rows ? p->split : p->rows;
    const int parts[2][2] = {{0, head}, {p->split + p->skip, p->rows - head}};
    int rc = COV_OK;
    for (int first = 0; first < g->n; first += MOST) {
        struct cov_cuda_gemm part = *g;
        part.x = (const char *)g->x + (size_t)first * g->t_in * g->c * element_of(d);
        part.y = (float *)g->y + (size_t)first * g->t_out * g->pitch;
        const int n = g->n - first < MOST ? g->n - first : MOST;
        for (const auto &rows : parts) {
            struct call c = call_of_gemm(d, &part, rows[0], rows[1], n);
            if (!rc && rows[1] > 0)
                rc = multiply(d, card, &c, stream, e);
        }
    }
    return rc;
}

/* Queues a gradient. */
static int multiply_outer(const struct cov_dense *d, int card, const struct cov_cuda_outer *o,
                          void *stream, struct cov_err *e)
{
    int rc = COV_OK;
    for (int first = 0; !rc && first < o->n; first += MOST) {
        const size_t row = (size_t)first * o->t_in;
        struct cov_cuda_outer part = *o;
        part.x = (const char *)o->x + row * o->x_pitch * element_of(d);
        part.z = (const char *)o->z + row * o->z_pitch * element_of(d);
        part.partial = o->partial + first * o->stride;
        struct call c = call_of_outer(&part, o->n - first < MOST ? o->n - first : MOST);
        rc = multiply(d, card, &c, stream, e);
    }
    return rc;
}

/* ---- trials ---- */

/* Products of a shape with random operands on a card. */
struct trial {
    const struct cov_dense *d;
    int card;
    void *stream;
    char *memory; /* x, w or z, vectors, and two results */
    struct cov_cuda_gemm gemm;
    struct cov_cuda_outer outer;
    float *own, *cublas; /* results, on the card */
    /* The values to compare: `floats` floats of each of `parts` parts, which are added. */
    size_t floats, parts;
};

static size_t round_bytes(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Copies v to the memory, and frees it. */
static int upload(struct trial *t, char *at, void *v, size_t bytes, struct cov_err *e)
{
    int rc = v ? cov_rt_copy_in(t->stream, at, v, bytes, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_rt_wait(t->stream, e);
    free(v);
    return rc;
}

/* Fills part of the memory with random numbers in [-1, 1). */
static int fill_random(struct trial *t, char *at, size_t n, struct cov_err *e)
{
    const size_t element = element_of(t->d);
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

/* Fills bias, scale and shift, of n floats each; scale and shift change nothing. */
static int fill_vectors(struct trial *t, char *at, size_t n, struct cov_err *e)
{
    float *v = (float *)cov_calloc(3 * n, sizeof *v, e);
    for (size_t i = 0; v && i < n; i++) {
        v[i] = (float)(i % 7) - 3;
        v[n + i] = 1;
    }
    return upload(t, at, v, 3 * n * sizeof *v, e);
}

/* Sets up n sequences; if n is 0, as many as keep the card busy. Free with free_trial, even after a
 * failure. */
static int make_trial(struct trial *t, int n, struct cov_err *e)
{
    enum { ROWS = 128 }; /* per multiprocessor */
    const struct shape *s = &t->d->shape;
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
    const size_t x = round_bytes(n_x * element_of(t->d)), w = round_bytes(n_w * element_of(t->d));
    const size_t vectors = round_bytes(3 * n_vector * 4), y = round_bytes(n_y * 4);
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
        rc = t->d->shape.outer ? multiply_outer(t->d, t->card, &o, t->stream, e)
                               : multiply_rows(t->d, t->card, &g, t->stream, e);
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
    int waited = cov_rt_wait(t->stream, rc ? NULL : e);
    return rc ? rc : waited;
}

/* Returns the largest difference of sums over parts, relative to the largest sum; infinity if one
 * is not a number. */
static double difference(const struct trial *t, const float *a, const float *b)
{
    double most = 0, largest = 0;
    for (size_t i = 0; i < t->floats; i++) {
        double of_a = 0, of_b = 0;
        for (size_t k = 0; k < t->parts; k++) {
            of_a += (double)a[k * t->floats + i];
            of_b += (double)b[k * t->floats + i];
        }
        double d = fabs(of_a - of_b);
        most = d <= most ? most : isnan(d) ? INFINITY : d;
        largest = fabs(of_b) > largest ? fabs(of_b) : largest;
    }
    return most / largest;
}

/* Checks that the values agree with those of our kernel. */
static int compare_kernels(const struct trial *t, const float *values, struct cov_err *e)
{
    /* Sums that are truncated, or operands of tf32 that are; far below the error of a wrong
     * product. */
    const double allowed = t->d->shape.products == COV_CUDA_BF16 ? 1e-3 : 5e-3;
    float *own = (float *)cov_malloc(t->parts * t->floats, sizeof *own, e);
    if (!own)
        return COV_ENOMEM;
    int rc = trial_values(t, false, own, e);
    double off = rc ? 0 : difference(t, values, own);
    free(own);
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
        int waited = cov_rt_wait(t->stream, rc ? NULL : e);
        rc = rc ? rc : waited;
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
        int waited = cov_rt_wait(t->stream, rc ? NULL : e);
        rc = rc ? rc : waited;
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
    const struct call c = d->shape.outer ? call_of_outer(&t->outer, t->outer.n)
                                         : call_of_gemm(d, &t->gemm, 0, d->shape.t, t->gemm.n);
    *n_sequences = t->gemm.n;
    if (first)
        rc = find_algorithm(d, &c, e);
    float *v = rc ? NULL : (float *)cov_malloc(n, sizeof *v, e);
    if (!rc)
        rc = v ? trial_values(t, true, v, e) : COV_ENOMEM;
    if (!rc && first)
        rc = compare_kernels(t, v, e);
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
        t.card = d->owner->handles[i].card;
        rc = try_card(d, &t, &n_sequences, &values, e);
        free_trial(&t);
    }
    free(values);
    return rc;
}

/* ---- decisions ---- */

/* Finds a shape, or tries a new one. */
static int add(struct cov_cublas *b, const char *what, const struct shape *s,
               const struct cov_dense **out, struct cov_err *e)
{
    struct cov_err why = COV_ERR_INIT;
    *out = NULL;
    if (!b || !cov_cublas_can(s->products))
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
    int rc = try_cards(d, &why);
    if (rc && (b->always || rc == COV_EIO)) {
        (void)cov_fail(e, rc, "%s by cuBLAS: %s", d->name, why.text);
        free(d);
        return rc;
    }
    d->fits = !rc;
    if (rc)
        cov_debug("%s: own kernel, not %s: %s", d->name, b->version, why.text);
    else
        cov_debug("%s: own kernel %.3f ms, %s %.3f ms", d->name, d->own_ms, b->version,
                  d->cublas_ms);
    *out = *at = d;
    return COV_OK;
}

int cov_cublas_add_gemm(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                        const struct cov_cuda_gemm *g, const struct cov_dense **out,
                        struct cov_err *e)
{
    const struct shape s = {0, products, g->t_out, g->c, g->n_cols, g->k, g->c, g->pitch};
    return add(b, what, &s, out, e);
}

int cov_cublas_add_outer(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                         const struct cov_cuda_outer *o, const struct cov_dense **out,
                         struct cov_err *e)
{
    const struct shape s = {1, products, o->t_out, o->c, o->n_cols, 0, o->x_pitch, o->z_pitch};
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
    int rc = multiply_rows(d, card, g, stream, e);
    return rc ? cov_err_prefix(e, "%s", d->name) : COV_OK;
}

int cov_dense_outer(const struct cov_dense *d, int card, enum cov_cuda_products products,
                    const struct cov_cuda_outer *o, void *stream, struct cov_err *e)
{
    if (!d || !d->fits || !d->owner->used) {
        cov_cuda_outer(products, o, stream);
        return COV_OK;
    }
    int rc = multiply_outer(d, card, o, stream, e);
    return rc ? cov_err_prefix(e, "%s", d->name) : COV_OK;
}
