/* cublas.cu - see cublas.h. cuBLAS stores matrices by columns: our rows x[t, c] are its matrix of c rows
 * and t columns. The types and numbers below are those of cublasLt.h, so that the plugin builds
 * without it; a build that has the header compares them.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
}
#include "common/compute/cuda/cublas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

enum { LT_SUCCESS = 0, LT_ALLOC_FAILED = 3, LT_REDUCTION_NONE = 0 };
enum { LT_R_32F = 0, LT_R_16BF = 14, LT_COMPUTE_32F = 68, LT_COMPUTE_32F_FAST_TF32 = 77 };
enum { LT_DESC_TRANSA = 3, LT_DESC_EPILOGUE = 7, LT_DESC_BIAS_POINTER = 8 };
enum { LT_LAYOUT_BATCH_COUNT = 5, LT_LAYOUT_BATCH_OFFSET = 6 };
enum {
    LT_PREF_WORKSPACE_BYTES = 1,
    LT_PREF_REDUCTION_MASK = 3,
    LT_PREF_ALIGNMENT_A = 5 /* to D */
};
enum { LT_OP_T = 1, LT_EPILOGUE_BIAS = 4 };

struct lt_algorithm {
    uint64_t data[8];
};

struct lt_result {
    struct lt_algorithm algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

/* Functions of the library, in the order of lt_names. All but `version` return a status, 0 for
 * success. */
struct lt_functions {
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
                  void *d, const struct lt_algorithm *algo, void *workspace, size_t workspace_bytes,
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
static_assert(sizeof(struct lt_functions) == N_FUNCTIONS * sizeof(void *),
              "a name for each function");

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
              same(LT_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE) &&
              same(LT_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(same(LT_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) &&
              same(LT_LAYOUT_BATCH_OFFSET, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
static_assert(same(LT_PREF_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) &&
              same(LT_PREF_REDUCTION_MASK, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) &&
              same(LT_PREF_ALIGNMENT_A, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) &&
              same(LT_PREF_ALIGNMENT_A + 3, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(same(LT_OP_T, CUBLAS_OP_T) && same(LT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_BIAS) &&
              same(LT_SUCCESS, CUBLAS_STATUS_SUCCESS) &&
              same(LT_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED) &&
              same(LT_REDUCTION_NONE, CUBLASLT_REDUCTION_SCHEME_NONE));
static_assert(sizeof(struct lt_algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(struct lt_result) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(struct lt_result, state) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, state));
#endif

/* ---- shapes ---- */

struct matrix {
    const void *at;
    uint64_t rows, columns;
    int64_t pitch, stride; /* elements from a column, and from a matrix of the batch, to the next */
};

/* D = A^T B + bias, for `count` matrices B and D. D is float. There are no gaps, so that calls can be
 * compared. */
struct call {
    struct matrix a, b, d;
    int64_t count;
    const float *bias; /* [d.rows] */
};

struct cov_dense {
    struct cov_cublas *owner;
    struct call shape; /* without addresses */
    bool bf16;         /* A and B; else float, rounded to tf32 */
    struct lt_algorithm algorithm;
    struct cov_dense *next;
};

struct cov_cublas {
    struct lt_functions lt;
    char version[32]; /* "cublas 13.1.0" */
    const struct cov_cuda_card *cards;
    void **handles; /* [n_handles], one for each card */
    size_t n_handles;
    struct cov_dense *first;
};

/* All rows of all sequences. */
static struct call call_of(const struct cov_cuda_gemm *g)
{
    struct call c = {};
    c.a = {g->w, (uint64_t)g->c, (uint64_t)g->n_cols, g->k, 0};
    c.b = {g->x, (uint64_t)g->c, (uint64_t)g->t_in, g->c, (int64_t)g->t_in * g->c};
    c.d = {g->y, (uint64_t)g->n_cols, (uint64_t)g->t_out, g->pitch, (int64_t)g->t_out * g->pitch};
    c.count = g->n;
    c.bias = g->bias;
    return c;
}

/* Columns first to first + n - 1 of B and D, in matrices `from` to from + count - 1. */
static struct call part_of(const struct cov_dense *d, struct call c, int first, int n, int64_t from,
                           int64_t count)
{
    const int64_t b = first * c.b.pitch + from * c.b.stride;
    c.b.at = (const char *)c.b.at + b * (d->bf16 ? 2 : 4);
    c.d.at = (const float *)c.d.at + first * c.d.pitch + from * c.d.stride;
    c.b.columns = c.d.columns = (uint64_t)n;
    c.count = count;
    return c;
}

/* ---- calls ---- */

static int check(int status, const char *what, struct cov_err *e)
{
    return status == LT_SUCCESS ? COV_OK
                                : cov_fail(e, status == LT_ALLOC_FAILED ? COV_ENOMEM : COV_EIO,
                                           "%s: status %d", what, status);
}

/* A call in the form of the library: the product, A, B and D. */
struct descriptors {
    void *desc, *layouts[3];
};

static void free_descriptors(const struct lt_functions *lt, struct descriptors *x)
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
    const struct lt_functions *lt = &d->owner->lt;
    const int transpose = LT_OP_T, epilogue = LT_EPILOGUE_BIAS, count = (int)c->count;
    const struct matrix *const matrices[] = {&c->a, &c->b, &c->d};
    *x = {};
    int rc =
        lt->desc_create(&x->desc, d->bf16 ? LT_COMPUTE_32F : LT_COMPUTE_32F_FAST_TF32, LT_R_32F);
    rc = rc ? rc : lt->desc_set(x->desc, LT_DESC_TRANSA, &transpose, sizeof transpose);
    rc = rc ? rc : lt->desc_set(x->desc, LT_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    rc = rc ? rc : lt->desc_set(x->desc, LT_DESC_BIAS_POINTER, &c->bias, sizeof c->bias);
    for (int i = 0; !rc && i < 3; i++) {
        const struct matrix *m = matrices[i];
        void **to = &x->layouts[i];
        rc = lt->layout_create(to, d->bf16 && i < 2 ? LT_R_16BF : LT_R_32F, m->rows, m->columns,
                               m->pitch);
        rc = rc ? rc : lt->layout_set(*to, LT_LAYOUT_BATCH_COUNT, &count, sizeof count);
        rc = rc ? rc : lt->layout_set(*to, LT_LAYOUT_BATCH_OFFSET, &m->stride, sizeof m->stride);
    }
    return check(rc, "descriptors of cublasLt", e);
}

/* Queues columns first to first + n - 1 of all matrices on a stream of a card. */
static int multiply(const struct cov_dense *d, int card, const struct call *all, int first, int n,
                    void *stream, struct cov_err *e)
{
    /* Matrices of a batch, which may be blocks of a grid's dimension. */
    static const int64_t MOST = 65535;
    static const float one = 1, zero = 0;
    const struct cov_cublas *b = d->owner;
    size_t i = 0;
    int rc = COV_OK;
    while (b->cards[i].index != card)
        i++;
    for (int64_t from = 0; !rc && n > 0 && from < all->count; from += MOST) {
        const int64_t left = all->count - from;
        const struct call c = part_of(d, *all, first, n, from, left < MOST ? left : MOST);
        struct descriptors x;
        rc = make_descriptors(d, &c, &x, e);
        if (!rc)
            rc = check(b->lt.matmul(b->handles[i], x.desc, &one, c.a.at, x.layouts[0], c.b.at,
                                    x.layouts[1], &zero, c.d.at, x.layouts[2], (void *)c.d.at,
                                    x.layouts[2], &d->algorithm, NULL, 0, stream),
                       "cublasLtMatmul", e);
        free_descriptors(&b->lt, &x);
    }
    return rc;
}

/* Sets d->algorithm to what the library proposes for as many matrices as keep a card busy. */
static int propose(struct cov_dense *d, struct cov_err *e)
{
    enum { ROWS = 128 };                                        /* per multiprocessor */
    alignas(COV_RT_ALIGNMENT) static const float bias[1] = {0}; /* only its alignment matters */
    const struct lt_functions *lt = &d->owner->lt;
    const uint32_t no_reduction = LT_REDUCTION_NONE, alignment = 16;
    const size_t no_workspace = 0;
    struct cov_rt_card card;
    struct call c = d->shape;
    struct descriptors x;
    struct lt_result result = {};
    void *pref = NULL;
    int n = 0;
    int rc = cov_rt_describe(d->owner->cards[0].index, &card, e);
    if (!rc)
        rc = cov_rt_use(d->owner->cards[0].index, e);
    if (rc)
        return rc;
    c.bias = bias;
    c.count = card.n_multiprocessors * ROWS / (int64_t)c.b.columns + 2;
    rc = make_descriptors(d, &c, &x, e);
    if (!rc) {
        int no = lt->pref_create(&pref);
        no = no ? no : lt->pref_set(pref, LT_PREF_WORKSPACE_BYTES, &no_workspace, sizeof(size_t));
        no = no ? no : lt->pref_set(pref, LT_PREF_REDUCTION_MASK, &no_reduction, sizeof(uint32_t));
        for (int i = 0; !no && i < 4; i++)
            no = lt->pref_set(pref, LT_PREF_ALIGNMENT_A + i, &alignment, sizeof alignment);
        no = no ? no
                : lt->heuristic(d->owner->handles[0], x.desc, x.layouts[0], x.layouts[1],
                                x.layouts[2], x.layouts[2], pref, 1, &result, &n);
        no = no ? no : result.state;
        rc = check(no, "cublasLtMatmulAlgoGetHeuristic", e);
    }
    if (!rc && n < 1)
        rc = cov_fail(e, COV_EUNSUPPORTED, "cuBLAS proposes no algorithm");
    d->algorithm = result.algo;
    if (pref)
        (void)lt->pref_destroy(pref);
    free_descriptors(lt, &x);
    return rc;
}

/* ---- the library as a whole ---- */

void cov_cublas_close(struct cov_cublas *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_handles; i++)
        if (b->handles[i] && cov_rt_use(b->cards[i].index, NULL) == COV_OK)
            (void)b->lt.destroy(b->handles[i]);
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

const char *cov_cublas_version(const struct cov_cublas *b)
{
    return b ? b->version : NULL;
}

int cov_cublas_open(const struct cov_cuda_card *cards, size_t n_cards, struct cov_cublas **out,
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
    b->cards = cards;
    b->handles = (void **)cov_calloc(n_cards, sizeof *b->handles, e);
    int rc = b->handles ? COV_OK : COV_ENOMEM;
    for (; !rc && b->n_handles < n_cards; b->n_handles++) {
        rc = cov_rt_use(cards[b->n_handles].index, e);
        if (!rc)
            rc = check(b->lt.create(&b->handles[b->n_handles]), "cublasLtCreate", e);
        if (rc)
            (void)cov_err_prefix(e, rc, "%s", cards[b->n_handles].name);
    }
    if (rc) {
        cov_cublas_close(b);
        return rc;
    }
    *out = b;
    return COV_OK;
}

int cov_cublas_add(struct cov_cublas *b, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, const struct cov_dense **out, struct cov_err *e)
{
    const struct call shape = call_of(g);
    *out = NULL;
    if (!b || !cov_cublas_can(products))
        return COV_OK;
    const bool bf16 = products == COV_CUDA_BF16;
    struct cov_dense *d = b->first;
    while (d && (d->bf16 != bf16 || memcmp(&d->shape, &shape, sizeof shape) != 0))
        d = d->next;
    if (!d) {
        d = (struct cov_dense *)cov_calloc(1, sizeof *d, e);
        if (!d)
            return COV_ENOMEM;
        *d = {b, shape, bf16, {}, b->first};
        int rc = propose(d, e);
        if (rc) {
            free(d);
            return rc;
        }
        cov_debug("gates of an LSTM, %d x %d: %s", g->c, g->n_cols, b->version);
        b->first = d;
    }
    *out = d;
    return COV_OK;
}

int cov_dense_gemm(const struct cov_dense *d, int card, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, void *stream, struct cov_err *e)
{
    if (!d) {
        cov_cuda_gemm(products, g, stream);
        return COV_OK;
    }
    const struct cov_conv_phase *p = &g->phase;
    const int head = p->split < p->rows ? p->split : p->rows;
    const struct call all = call_of(g);
    int rc = multiply(d, card, &all, 0, head, stream, e);
    return rc ? rc : multiply(d, card, &all, p->split + p->skip, p->rows - head, stream, e);
}
