/* cublas.cu - see cublas.h. cuBLAS stores matrices by columns: our rows x[t, c] are its matrix of c rows
 * and t columns. The types and numbers below are those of cublasLt.h, so that the plugin builds
 * without it; a build that has the header compares them.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
}
#include "common/compute/cuda/cublas_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

enum { LT_SUCCESS = 0, LT_ALLOC_FAILED = 3, LT_INVALID_VALUE = 7, LT_ARCH_MISMATCH = 8 };
enum { LT_NOT_SUPPORTED = 15, LT_REDUCTION_NONE = 0 };
enum { LT_R_32F = 0, LT_R_16BF = 14, LT_COMPUTE_32F = 68, LT_COMPUTE_32F_FAST_TF32 = 77 };
enum { LT_DESC_TRANSA = 3, LT_DESC_TRANSB = 4, LT_DESC_EPILOGUE = 7, LT_DESC_BIAS_POINTER = 8 };
enum { LT_LAYOUT_BATCH_COUNT = 5, LT_LAYOUT_BATCH_OFFSET = 6 };
enum {
    LT_PREF_WORKSPACE_BYTES = 1,
    LT_PREF_REDUCTION_MASK = 3,
    LT_PREF_ALIGNMENT_A = 5 /* to D */
};
enum { LT_OP_N = 0, LT_OP_T = 1, LT_EPILOGUE_DEFAULT = 1, LT_EPILOGUE_BIAS = 4 };

struct lt_result {
    struct cov_lt_algorithm algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

/* Functions of the library, in the order of lt_names. All but `version` return a status, 0 for
 * success. */
struct cov_lt_functions {
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
                  void *d, const struct cov_lt_algorithm *algo, void *workspace,
                  size_t workspace_bytes, void *stream);
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
static_assert(sizeof(struct cov_lt_functions) == N_FUNCTIONS * sizeof(void *),
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
              same(LT_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE) &&
              same(LT_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH) &&
              same(LT_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED) &&
              same(LT_REDUCTION_NONE, CUBLASLT_REDUCTION_SCHEME_NONE));
static_assert(sizeof(struct cov_lt_algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(struct lt_result) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(struct lt_result, state) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, state));
#endif

size_t cov_dense_element(const struct cov_dense *d)
{
    return d->shape.products == COV_CUDA_BF16 ? 2 : 4;
}

/* Returns COV_EUNSUPPORTED if the call fails on every such card, however busy it is. */
static int check(int status, const char *what, struct cov_err *e)
{
    if (status == LT_SUCCESS)
        return COV_OK;
    const bool never =
        status == LT_INVALID_VALUE || status == LT_ARCH_MISMATCH || status == LT_NOT_SUPPORTED;
    return cov_fail(e,
                    never                       ? COV_EUNSUPPORTED
                    : status == LT_ALLOC_FAILED ? COV_ENOMEM
                                                : COV_EIO,
                    "%s: status %d", what, status);
}

void cov_cublas_close(struct cov_cublas *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_handles; i++)
        if (b->handles[i].handle && cov_rt_use(b->handles[i].card->index, NULL) == COV_OK)
            (void)b->lt->destroy(b->handles[i].handle);
    while (b->first) {
        struct cov_dense *d = b->first;
        b->first = d->next;
        free(d);
    }
    free(b->handles);
    free(b->lt);
    free(b);
}

bool cov_cublas_can(enum cov_cuda_products products)
{
    return products == COV_CUDA_BF16 || products == COV_CUDA_TF32;
}

int cov_cublas_open(const struct cov_cuda_card *cards, size_t n_cards, bool always,
                    struct cov_cublas **out, struct cov_err *e)
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
    b->always = always;
    b->lt = (struct cov_lt_functions *)cov_malloc(1, sizeof *b->lt, e);
    b->handles = (struct cov_lt_handle *)cov_calloc(n_cards, sizeof *b->handles, e);
    if (!b->lt || !b->handles) {
        cov_cublas_close(b);
        return COV_ENOMEM;
    }
    memcpy(b->lt, functions, sizeof *b->lt);
    size_t version = b->lt->version();
    (void)snprintf(b->version, sizeof b->version, "cublas %zu.%zu.%zu", version / 10000,
                   version / 100 % 100, version % 100);
    int rc = COV_OK;
    for (; !rc && b->n_handles < n_cards; b->n_handles++) {
        struct cov_lt_handle *h = &b->handles[b->n_handles];
        h->card = &cards[b->n_handles];
        rc = cov_rt_use(h->card->index, e);
        if (!rc)
            rc = check(b->lt->create(&h->handle), "cublasLtCreate", e);
        if (rc)
            (void)cov_err_prefix(e, "%s", h->card->name);
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

static void free_descriptors(const struct cov_lt_functions *lt, struct descriptors *x)
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
    const struct cov_lt_functions *lt = d->owner->lt;
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
    while (b->handles[i].card->index != card)
        i++;
    int rc = make_descriptors(d, c, &x, e);
    if (!rc)
        rc = check(b->lt->matmul(b->handles[i].handle, x.desc, &one, c->a.at, x.layouts[0], c->b.at,
                                 x.layouts[1], &zero, c->d.at, x.layouts[2], (void *)c->d.at,
                                 x.layouts[2], &d->algorithm, NULL, 0, stream),
                   "cublasLtMatmul", e);
    free_descriptors(b->lt, &x);
    return rc;
}

/* Sets d->algorithm. */
static int propose(struct cov_dense *d, const struct call *c, struct cov_err *e)
{
    const struct cov_lt_functions *lt = d->owner->lt;
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
    c.b = {(const char *)g->x + (size_t)first * g->c * cov_dense_element(d), (uint64_t)g->c,
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

int cov_lt_propose_rows(struct cov_dense *d, const struct cov_cuda_gemm *g, struct cov_err *e)
{
    const struct call c = call_of_gemm(d, g, 0, g->t_out, g->n);
    return propose(d, &c, e);
}

int cov_lt_propose_outer(struct cov_dense *d, const struct cov_cuda_outer *o, struct cov_err *e)
{
    const struct call c = call_of_outer(o, o->n);
    return propose(d, &c, e);
}

/* Most matrices of a batch, which may be blocks of a grid's dimension. */
enum { MOST = 65535 };

int cov_lt_multiply_rows(const struct cov_dense *d, int card, const struct cov_cuda_gemm *g,
                         void *stream, struct cov_err *e)
{
    const struct cov_conv_phase *p = &g->phase;
    const int head = p->split < p->rows ? p->split : p->rows;
    const int parts[2][2] = {{0, head}, {p->split + p->skip, p->rows - head}};
    int rc = COV_OK;
    for (int first = 0; first < g->n; first += MOST) {
        struct cov_cuda_gemm part = *g;
        part.x = (const char *)g->x + (size_t)first * g->t_in * g->c * cov_dense_element(d);
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

int cov_lt_multiply_outer(const struct cov_dense *d, int card, const struct cov_cuda_outer *o,
                          void *stream, struct cov_err *e)
{
    int rc = COV_OK;
    for (int first = 0; !rc && first < o->n; first += MOST) {
        const size_t row = (size_t)first * o->t_in;
        struct cov_cuda_outer part = *o;
        part.x = (const char *)o->x + row * o->x_pitch * cov_dense_element(d);
        part.z = (const char *)o->z + row * o->z_pitch * cov_dense_element(d);
        part.partial = o->partial + first * o->stride;
        struct call c = call_of_outer(&part, o->n - first < MOST ? o->n - first : MOST);
        rc = multiply(d, card, &c, stream, e);
    }
    return rc;
}
