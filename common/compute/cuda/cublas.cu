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

/* D = op(A) op(B) + bias, for `count` matrices. D is float. There are no gaps, so that calls can be
 * compared. */
struct call {
    struct matrix a, b, d;
    int op_a, op_b, count;
    enum cov_cuda_products products;
    const float *bias; /* [d.rows]; NULL: none */
};

struct cov_dense {
    struct cov_cublas *owner;
    struct call shape; /* without addresses */
    char name[80];     /* "gates of an LSTM, 384 x 1024": channels of x, columns */
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

/* Returns the size of an element of A and B. */
static size_t element_of(const struct call *c)
{
    return c->products == COV_CUDA_BF16 ? 2 : 4;
}

/* All rows of all sequences. */
static struct call call_of_gemm(enum cov_cuda_products products, const struct cov_cuda_gemm *g)
{
    struct call c = {};
    c.a = {g->w, (uint64_t)g->c, (uint64_t)g->n_cols, g->k, 0};
    c.op_a = LT_OP_T;
    c.b = {g->x, (uint64_t)g->c, (uint64_t)g->t_in, g->c, (int64_t)g->t_in * g->c};
    c.op_b = LT_OP_N;
    c.d = {g->y, (uint64_t)g->n_cols, (uint64_t)g->t_out, g->pitch, (int64_t)g->t_out * g->pitch};
    c.count = g->n;
    c.products = products;
    c.bias = g->bias;
    return c;
}

static struct call call_of_outer(enum cov_cuda_products products, const struct cov_cuda_outer *o)
{
    const uint64_t depth = (uint64_t)o->t_in;
    struct call c = {};
    c.a = {o->z, (uint64_t)o->n_cols, depth, o->z_pitch, (int64_t)depth * o->z_pitch};
    c.op_a = LT_OP_N;
    c.b = {o->x, (uint64_t)o->c, depth, o->x_pitch, (int64_t)depth * o->x_pitch};
    c.op_b = LT_OP_T;
    c.d = {o->partial, (uint64_t)o->n_cols, (uint64_t)o->c, o->n_cols, (int64_t)o->stride};
    c.count = o->n;
    c.products = products;
    return c;
}

/* Columns first to first + n - 1 of B and D. */
static struct call columns_of(struct call c, int first, int n)
{
    c.b.at = (const char *)c.b.at + first * c.b.pitch * (int64_t)element_of(&c);
    c.d.at = (const float *)c.d.at + first * c.d.pitch;
    c.b.columns = c.d.columns = (uint64_t)n;
    return c;
}

/* Matrices first to first + n - 1 of the batch. */
static struct call matrices_of(struct call c, int first, int n)
{
    c.a.at = (const char *)c.a.at + first * c.a.stride * (int64_t)element_of(&c);
    c.b.at = (const char *)c.b.at + first * c.b.stride * (int64_t)element_of(&c);
    c.d.at = (const float *)c.d.at + first * c.d.stride;
    c.count = n;
    return c;
}

/* ---- calls ---- */

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
static int make_descriptors(const struct lt_functions *lt, const struct call *c,
                            struct descriptors *x, struct cov_err *e)
{
    const bool bf16 = c->products == COV_CUDA_BF16;
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

/* Queues a call on a stream of a card. */
static int multiply(const struct cov_dense *d, int card, const struct call *c, void *stream,
                    struct cov_err *e)
{
    enum { MOST = 65535 }; /* matrices of a batch, which may be blocks of a grid's dimension */
    static const float one = 1, zero = 0;
    const struct cov_cublas *b = d->owner;
    size_t i = 0;
    int rc = COV_OK;
    while (b->cards[i].index != card)
        i++;
    for (int first = 0; !rc && c->d.columns > 0 && first < c->count; first += MOST) {
        const int n = c->count - first;
        const struct call p = matrices_of(*c, first, n < MOST ? n : MOST);
        struct descriptors x;
        rc = make_descriptors(&b->lt, &p, &x, e);
        if (!rc)
            rc = check(b->lt.matmul(b->handles[i], x.desc, &one, p.a.at, x.layouts[0], p.b.at,
                                    x.layouts[1], &zero, p.d.at, x.layouts[2], (void *)p.d.at,
                                    x.layouts[2], &d->algorithm, NULL, 0, stream),
                       "cublasLtMatmul", e);
        free_descriptors(&b->lt, &x);
    }
    return rc;
}

/* Sets d->algorithm to what the library proposes. COV_EUNSUPPORTED: it cannot compute the call. */
static int propose(struct cov_dense *d, const struct call *c, struct cov_err *e)
{
    const struct lt_functions *lt = &d->owner->lt;
    const uint32_t no_reduction = LT_REDUCTION_NONE, alignment = 16;
    const size_t no_workspace = 0;
    struct descriptors x;
    struct lt_result result = {};
    void *pref = NULL;
    int n = 0;
    int rc = make_descriptors(lt, c, &x, e);
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
        rc = cov_fail(e, COV_EUNSUPPORTED, "no algorithm");
    d->algorithm = result.algo;
    if (pref)
        (void)lt->pref_destroy(pref);
    free_descriptors(lt, &x);
    return rc;
}

/* ---- the check of a shape ---- */

/* Random operands of a shape on the host, with as many matrices as keep a card busy. */
struct sample {
    struct call call; /* addresses on the host */
    void *operands[3];
    size_t bytes[3];     /* of A, B and bias */
    float *first, *next; /* results of the first card and of another: run_sample */
};

static void free_sample(struct sample *s)
{
    for (void *p : s->operands)
        free(p);
    free(s->first);
    free(s->next);
}

/* Copies the upper bytes of numbers, which are bf16 or float on the card. */
static void *make_operand(struct sample *s, int i, const struct matrix *m, struct cov_err *e)
{
    const size_t element = element_of(&s->call);
    const size_t n = m->stride ? (size_t)s->call.count * m->stride : m->columns * m->pitch;
    struct cov_rng rng;
    char *v = (char *)cov_malloc(n, element, e);
    cov_rng_init(&rng, (uint64_t)i);
    for (size_t k = 0; v && k < n; k++) {
        float value = (float)(cov_rng_double(&rng) * 2 - 1);
        memcpy(v + k * element, (char *)&value + sizeof value - element, element);
    }
    s->bytes[i] = n * element;
    return s->operands[i] = v;
}

/* Free with free_sample, even after a failure. */
static int make_sample(const struct cov_dense *d, struct sample *s, struct cov_err *e)
{
    enum { ROWS = 128 }; /* per multiprocessor */
    struct cov_rt_card card;
    struct call *c = &s->call;
    int rc = cov_rt_describe(d->owner->cards[0].index, &card, e);
    if (rc)
        return rc;
    *c = d->shape;
    c->count = card.n_multiprocessors * ROWS / (int)c->b.columns + 2;
    c->d.stride = (int64_t)c->d.columns * c->d.pitch;
    c->a.at = make_operand(s, 0, &c->a, e);
    c->b.at = make_operand(s, 1, &c->b, e);
    const size_t n = ((size_t)c->count + 1) * c->d.stride;
    float *bias = (float *)cov_malloc(c->d.rows, sizeof *bias, e);
    s->operands[2] = bias;
    s->first = (float *)cov_malloc(n, sizeof(float), e);
    s->next = (float *)cov_malloc(n, sizeof(float), e);
    if (!c->a.at || !c->b.at || !bias || !s->first || !s->next)
        return COV_ENOMEM;
    for (size_t i = 0; i < c->d.rows; i++)
        bias[i] = (float)(i % 7) - 3;
    s->bytes[2] = c->d.rows * sizeof *bias;
    c->bias = c->op_b == LT_OP_N ? bias : NULL; /* gradients have none */
    return COV_OK;
}

/* Computes the first matrix of D alone, in two parts unless it is a gradient; then, after it, all. */
static int multiply_sample(const struct cov_dense *d, int card, const struct call *call,
                           void *stream, struct cov_err *e)
{
    const int columns = (int)call->d.columns, head = columns / 4;
    const struct call one = matrices_of(*call, 0, 1);
    struct call calls[] = {one, *call, *call};
    if (call->bias) {
        calls[0] = columns_of(one, 0, head);
        calls[1] = columns_of(one, head, columns - head);
    }
    calls[2].d.at = (const float *)call->d.at + call->d.stride;
    int rc = COV_OK;
    for (int i = 0; !rc && i < 3; i++)
        if (i != 1 || call->bias)
            rc = multiply(d, card, &calls[i], stream, e);
    return rc;
}

/* Sets v[count + 1] to the matrices that multiply_sample computes on a card. */
static int run_sample(const struct cov_dense *d, const struct sample *s, int card, float *v,
                      struct cov_err *e)
{
    const size_t v_bytes = ((size_t)s->call.count + 1) * s->call.d.stride * sizeof *v;
    struct call call = s->call;
    void *memory = NULL, *stream = NULL;
    char *to[4];
    size_t bytes = 0;
    for (size_t b : s->bytes)
        bytes += cov_rt_round(b);
    int rc = cov_rt_alloc(card, bytes + v_bytes, &memory, e);
    if (!rc)
        rc = cov_rt_stream_new(card, &stream, e);
    to[0] = (char *)memory;
    for (int i = 0; i < 3; i++) {
        to[i + 1] = to[i] + cov_rt_round(s->bytes[i]);
        if (!rc)
            rc = cov_rt_copy_in(stream, to[i], s->operands[i], s->bytes[i], e);
    }
    call.a.at = to[0];
    call.b.at = to[1];
    call.bias = call.bias ? (const float *)(const void *)to[2] : NULL;
    call.d.at = to[3];
    if (!rc)
        rc = multiply_sample(d, card, &call, stream, e);
    if (!rc)
        rc = cov_rt_copy_out(stream, v, to[3], v_bytes, e);
    if (stream)
        rc = cov_rt_finish(stream, rc, e);
    cov_rt_stream_free(card, stream);
    cov_rt_free(card, memory);
    return rc;
}

/* Returns an element of the matrix that starts at `at`. */
static double operand(const struct call *c, const void *at, int64_t i)
{
    const size_t element = element_of(c);
    float v = 0;
    memcpy((char *)&v + sizeof v - element, (const char *)at + i * (int64_t)element, element);
    return (double)v;
}

/* Returns an element of the first matrix of D. */
static double reference(const struct call *c, int64_t row, int64_t column)
{
    const bool transposed_a = c->op_a == LT_OP_T, transposed_b = c->op_b == LT_OP_T;
    const int64_t depth = (int64_t)(transposed_a ? c->a.rows : c->a.columns);
    double sum = c->bias ? (double)c->bias[row] : 0;
    for (int64_t k = 0; k < depth; k++) {
        const int64_t a = transposed_a ? row * c->a.pitch + k : k * c->a.pitch + row;
        const int64_t b = transposed_b ? k * c->b.pitch + column : column * c->b.pitch + k;
        sum += operand(c, c->a.at, a) * operand(c, c->b.at, b);
    }
    return sum;
}

/* Returns the largest error of some elements in the first and the last matrix of D, relative to the
 * largest of them; infinity if one is not a number. */
static double error_of(const struct call *call, const float *d)
{
    enum { ROWS = 64, COLUMNS = 8 };
    const int64_t n_rows = (int64_t)call->d.rows, n_columns = (int64_t)call->d.columns;
    double error = 0, largest = 0;
    for (int matrix : {0, call->count - 1}) {
        const struct call c = matrices_of(*call, matrix, 1);
        for (int64_t row = 0; row < n_rows; row += n_rows / ROWS + 1)
            for (int64_t column = 0; column < n_columns; column += n_columns / COLUMNS + 1) {
                const float got = d[matrix * c.d.stride + column * c.d.pitch + row];
                const double want = reference(&c, row, column), off = fabs((double)got - want);
                error = off <= error ? error : isnan(off) ? INFINITY : off;
                largest = fabs(want) > largest ? fabs(want) : largest;
            }
    }
    return error / largest;
}

/* Checks the results of card i. */
static int check_results(const struct sample *s, size_t i, struct cov_err *e)
{
    /* Sums that are truncated, or operands of tf32 that are; far below the error of a wrong
     * product. */
    const double allowed = s->call.products == COV_CUDA_BF16 ? 1e-3 : 5e-3;
    const size_t n = (size_t)s->call.d.stride;
    const float *one = s->first, *all = one + n;
    if (i > 0)
        return memcmp(s->next, one, ((size_t)s->call.count + 1) * n * sizeof *one) == 0
                   ? COV_OK
                   : cov_fail(e, COV_EUNSUPPORTED, "its values depend on the GPU");
    const double error = error_of(&s->call, all);
    if (!(error <= allowed))
        return cov_fail(e, COV_EUNSUPPORTED, "its values are off by %.2g, %.2g allowed", error,
                        allowed);
    if (memcmp(one, all, n * sizeof *one) != 0)
        return cov_fail(e, COV_EUNSUPPORTED, "its values depend on the batch");
    return COV_OK;
}

static int check_shape(struct cov_dense *d, struct cov_err *e)
{
    const struct cov_cublas *b = d->owner;
    struct sample s = {};
    int rc = make_sample(d, &s, e);
    if (!rc)
        rc = cov_rt_use(b->cards[0].index, e);
    if (!rc)
        rc = propose(d, &s.call, e);
    for (size_t i = 0; !rc && i < b->n_handles; i++) {
        rc = run_sample(d, &s, b->cards[i].index, i == 0 ? s.first : s.next, e);
        if (!rc)
            rc = check_results(&s, i, e);
        if (rc)
            (void)cov_err_prefix(e, "%s", b->cards[i].name);
    }
    free_sample(&s);
    return rc ? cov_err_prefix(e, "%s by cuBLAS", d->name) : COV_OK;
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
            (void)cov_err_prefix(e, "%s", cards[b->n_handles].name);
    }
    if (rc) {
        cov_cublas_close(b);
        return rc;
    }
    *out = b;
    return COV_OK;
}

/* Finds a shape, or checks a new one. */
static int add(struct cov_cublas *b, const char *what, const struct call *shape,
               const struct cov_dense **out, struct cov_err *e)
{
    *out = NULL;
    if (!b || !cov_cublas_can(shape->products))
        return COV_OK;
    struct cov_dense **at = &b->first;
    while (*at && memcmp(&(*at)->shape, shape, sizeof *shape) != 0)
        at = &(*at)->next;
    if (!*at) {
        struct cov_dense *d = (struct cov_dense *)cov_calloc(1, sizeof *d, e);
        if (!d)
            return COV_ENOMEM;
        d->owner = b;
        d->shape = *shape;
        (void)snprintf(d->name, sizeof d->name, "%s, %d x %d", what, (int)shape->b.rows,
                       (int)shape->d.rows);
        int rc = check_shape(d, e);
        if (rc) {
            free(d);
            return rc;
        }
        cov_debug("%s: %s", d->name, b->version);
        *at = d;
    }
    *out = *at;
    return COV_OK;
}

int cov_cublas_add_gemm(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                        const struct cov_cuda_gemm *g, const struct cov_dense **out,
                        struct cov_err *e)
{
    const struct call shape = call_of_gemm(products, g);
    return add(b, what, &shape, out, e);
}

int cov_cublas_add_outer(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                         const struct cov_cuda_outer *o, const struct cov_dense **out,
                         struct cov_err *e)
{
    const struct call shape = call_of_outer(products, o);
    return add(b, what, &shape, out, e);
}

/* ---- products ---- */

int cov_dense_gemm(const struct cov_dense *d, int card, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, void *stream, struct cov_err *e)
{
    if (!d) {
        cov_cuda_gemm(products, g, stream);
        return COV_OK;
    }
    const struct cov_conv_phase *p = &g->phase;
    const int head = p->split < p->rows ? p->split : p->rows;
    const struct call all = call_of_gemm(products, g);
    const struct call parts[] = {columns_of(all, 0, head),
                                 columns_of(all, p->split + p->skip, p->rows - head)};
    int rc = COV_OK;
    for (const struct call &part : parts)
        if (!rc)
            rc = multiply(d, card, &part, stream, e);
    return rc ? cov_err_prefix(e, "%s", d->name) : COV_OK;
}

int cov_dense_outer(const struct cov_dense *d, int card, enum cov_cuda_products products,
                    const struct cov_cuda_outer *o, void *stream, struct cov_err *e)
{
    if (!d) {
        cov_cuda_outer(products, o, stream);
        return COV_OK;
    }
    const struct call call = call_of_outer(products, o);
    int rc = multiply(d, card, &call, stream, e);
    return rc ? cov_err_prefix(e, "%s", d->name) : COV_OK;
}
