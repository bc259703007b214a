/* cublas_mock.cc - the functions of cuBLASLt that the plugin uses (runtime_mock.h). Products run when their stream is
 * waited for, and follow the descriptors to the letter, so that a wrong pitch or stride gives wrong values or leaves the
 * memory. Descriptors that the library would refuse are refused.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

extern "C" {
#include "tests/mock/runtime_mock.h"
}
#include "tests/mock/simt_emulated.h"

namespace
{

enum { OK = 0, INVALID = 7, INTERNAL = 14, UNSUPPORTED = 15 };
enum { R_32F = 0, R_16BF = 14, COMPUTE_32F = 68, FAST_TF32 = 77 };

struct Handle {
    int card;
};
struct Desc {
    int compute, transpose_a, epilogue;
    const float *bias;
};
struct Layout {
    int type;
    uint64_t rows, columns;
    int64_t pitch;
    int count;
    int64_t stride;
};
struct Pref {
    size_t workspace = 1;
    uint32_t reductions = 7, alignment[4] = {256, 256, 256, 256};
};
struct Algo {
    uint64_t data[8];
};
struct Result {
    Algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

std::mutex lock;
size_t calls, asked, left, products, strangers, proposed;
/* The algorithm of each shape: columns and depth of a product. */
std::map<std::pair<uint64_t, uint64_t>, uint64_t> algorithms;

/* Counts a call; returns false if it is to fail. */
bool passes(void)
{
    std::lock_guard<std::mutex> guard(lock);
    return ++calls != (size_t)runtime_mock_setting("cublas_fail", 0);
}

void count(int by)
{
    std::lock_guard<std::mutex> guard(lock);
    left += (size_t)by;
}

template <typename T> int make(void **out, const T &value)
{
    if (!passes())
        return INTERNAL;
    *out = new T(value);
    count(1);
    return OK;
}

template <typename T> int destroy(void *p)
{
    if (!p)
        return INVALID;
    delete (T *)p;
    count(-1);
    return passes() ? OK : INTERNAL;
}

template <typename T> int set(T *to, const void *value, size_t bytes)
{
    if (bytes != sizeof *to)
        return INVALID;
    memcpy(to, value, bytes);
    return passes() ? OK : INTERNAL;
}

int create(void **out)
{
    return make(out, Handle{runtime_mock_card()});
}

size_t version(void)
{
    return (size_t)runtime_mock_setting("cublas", 0);
}

int desc_create(void **out, int compute, int scale_type)
{
    if (scale_type != R_32F || (compute != COMPUTE_32F && compute != FAST_TF32))
        return INVALID;
    return make(out, Desc{compute, 0, 1, nullptr});
}

int desc_set(void *p, int attribute, const void *value, size_t bytes)
{
    Desc *d = (Desc *)p;
    return attribute == 3   ? set(&d->transpose_a, value, bytes)
           : attribute == 7 ? set(&d->epilogue, value, bytes)
           : attribute == 8 ? set(&d->bias, value, bytes)
                            : (int)INVALID;
}

int layout_create(void **out, int type, uint64_t rows, uint64_t columns, int64_t pitch)
{
    Layout l = {};
    l.type = type;
    l.rows = rows;
    l.columns = columns;
    l.pitch = pitch;
    l.count = 1;
    if (rows == 0 || columns == 0 || pitch < (int64_t)rows)
        return INVALID;
    return make(out, l);
}

int layout_set(void *p, int attribute, const void *value, size_t bytes)
{
    Layout *l = (Layout *)p;
    return attribute == 5   ? set(&l->count, value, bytes)
           : attribute == 6 ? set(&l->stride, value, bytes)
                            : (int)INVALID;
}

int pref_create(void **out)
{
    return make(out, Pref());
}

int pref_set(void *p, int attribute, const void *value, size_t bytes)
{
    Pref *f = (Pref *)p;
    return attribute == 1                     ? set(&f->workspace, value, bytes)
           : attribute == 3                   ? set(&f->reductions, value, bytes)
           : attribute >= 5 && attribute <= 8 ? set(&f->alignment[attribute - 5], value, bytes)
                                              : (int)INVALID;
}

uint64_t depth_of(const Desc &d, const Layout &a)
{
    return d.transpose_a ? a.rows : a.columns;
}

std::pair<uint64_t, uint64_t> shape_of(const Desc &d, const Layout &a, const Layout &b)
{
    return {d.transpose_a ? a.columns : a.rows, b.rows};
}

bool aligned(const Layout &l)
{
    int64_t element = l.type == R_16BF ? 2 : 4;
    return l.pitch * element % 16 == 0 && l.stride * element % 16 == 0;
}

/* Returns true if the matrices fit together, and their batches do not overlap in D. */
bool consistent(const Desc &d, const Layout &a, const Layout &b, const Layout &c, const Layout &to)
{
    uint64_t m = d.transpose_a ? a.columns : a.rows, n = b.columns;
    bool bf16 = d.compute == COMPUTE_32F;
    return a.type == (bf16 ? R_16BF : R_32F) && b.type == a.type && to.type == R_32F &&
           c.type == R_32F && to.rows == m && to.columns == n && depth_of(d, a) == b.rows &&
           memcmp(&c, &to, sizeof c) == 0 && a.count == to.count && b.count == to.count &&
           to.count >= 1 && (d.epilogue == 1 || (d.epilogue == 4 && d.bias)) && aligned(a) &&
           aligned(b) && aligned(to) &&
           (to.count == 1 || to.stride >= (int64_t)(to.pitch * (int64_t)(n - 1) + (int64_t)m));
}

int heuristic(void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref, int most,
              Result *results, int *n)
{
    const Pref *f = (Pref *)pref;
    *n = 0;
    if (!handle || !passes())
        return INTERNAL;
    if (most < 1 || f->workspace != 0 || f->reductions != 0 ||
        !consistent(*(Desc *)desc, *(Layout *)a, *(Layout *)b, *(Layout *)c, *(Layout *)d))
        return INVALID;
    for (uint32_t alignment : f->alignment)
        if (alignment != 16)
            return INVALID;
    if (runtime_mock_setting("cublas_fault", 0) == CUBLAS_FAULT_ALGORITHM)
        return UNSUPPORTED;
    std::lock_guard<std::mutex> guard(lock);
    results[0] = Result{};
    results[0].algo.data[0] = ++proposed;
    *n = 1;
    auto shape = shape_of(*(Desc *)desc, *(Layout *)a, *(Layout *)b);
    algorithms[shape] = proposed;
    return OK;
}

float value_of(const void *at, int64_t i, bool bf16, bool tf32)
{
    uint32_t bits;
    if (bf16) {
        uint16_t half;
        memcpy(&half, (const char *)at + i * 2, 2);
        bits = (uint32_t)half << 16;
    } else {
        memcpy(&bits, (const char *)at + i * 4, 4);
        if (tf32)
            bits &= 0xffffe000; /* cuBLAS may truncate */
    }
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A product, copied when it is queued. */
struct Product {
    Desc desc;
    Layout a, b, d;
    const char *pa, *pb;
    float *pd;
    int card;
};

void run(const Product &p)
{
    const long fault = runtime_mock_setting("cublas_fault", 0);
    const bool bf16 = p.a.type == R_16BF, tf32 = !bf16;
    const int64_t element = bf16 ? 2 : 4;
    const int64_t a_pitch = p.a.pitch - (fault == CUBLAS_FAULT_PITCH ? 8 : 0);
    const int64_t depth = (int64_t)depth_of(p.desc, p.a), m = (int64_t)p.d.rows;
    std::vector<double> a((size_t)(depth * m)), sums((size_t)m);
    for (int64_t batch = 0; batch < p.d.count; batch++) {
        for (int64_t k = 0; k < depth; k++)
            for (int64_t row = 0; row < m; row++) {
                int64_t at = p.desc.transpose_a ? row * a_pitch + k : k * a_pitch + row;
                a[(size_t)(k * m + row)] =
                    (double)value_of(p.pa + batch * p.a.stride * element, at, bf16, tf32);
            }
        for (int64_t col = 0; col < (int64_t)p.d.columns; col++) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (int64_t k = 0; k < depth; k++) {
                double b = (double)value_of(p.pb + batch * p.b.stride * element,
                                            col * p.b.pitch + k, bf16, tf32);
                for (int64_t row = 0; row < m; row++)
                    sums[(size_t)row] += a[(size_t)(k * m + row)] * b;
            }
            for (int64_t row = 0; row < m; row++) {
                double sum = sums[(size_t)row];
                if (p.desc.epilogue == 4 && fault != CUBLAS_FAULT_BIAS)
                    sum += (double)p.desc.bias[row];
                p.pd[batch * p.d.stride + col * p.d.pitch + row] = (float)sum;
            }
        }
    }
}

int matmul(void *handle, void *desc, const void *alpha, const void *pa, void *a, const void *pb,
           void *b, const void *beta, const void *pc, void *c, void *pd, void *d, const Algo *algo,
           void *workspace, size_t workspace_bytes, void *stream)
{
    const float one = 1, zero = 0;
    if (!passes())
        return INTERNAL;
    Product p = {*(Desc *)desc,    *(Layout *)a,     *(Layout *)b, *(Layout *)d,
                 (const char *)pa, (const char *)pb, (float *)pd,  ((Handle *)handle)->card};
    if (memcmp(alpha, &one, 4) != 0 || memcmp(beta, &zero, 4) != 0 || pc != pd || workspace ||
        workspace_bytes || !stream || p.card != runtime_mock_stream_card(stream) ||
        !consistent(p.desc, p.a, p.b, *(Layout *)c, p.d) || (uintptr_t)pa % 16 ||
        (uintptr_t)pb % 16 || (uintptr_t)pd % 16 || (uintptr_t)p.desc.bias % 16)
        return INVALID;
    {
        std::lock_guard<std::mutex> guard(lock);
        auto at = algorithms.find(shape_of(p.desc, p.a, p.b));
        products++;
        strangers += at == algorithms.end() || algo->data[0] != at->second;
    }
    simt_queue(stream, [=] { run(p); });
    return OK;
}

const struct {
    const char *name;
    void *function;
} functions[] = {
    {"cublasLtCreate", (void *)create},
    {"cublasLtDestroy", (void *)destroy<Handle>},
    {"cublasLtGetVersion", (void *)version},
    {"cublasLtMatmulDescCreate", (void *)desc_create},
    {"cublasLtMatmulDescDestroy", (void *)destroy<Desc>},
    {"cublasLtMatmulDescSetAttribute", (void *)desc_set},
    {"cublasLtMatrixLayoutCreate", (void *)layout_create},
    {"cublasLtMatrixLayoutDestroy", (void *)destroy<Layout>},
    {"cublasLtMatrixLayoutSetAttribute", (void *)layout_set},
    {"cublasLtMatmulPreferenceCreate", (void *)pref_create},
    {"cublasLtMatmulPreferenceDestroy", (void *)destroy<Pref>},
    {"cublasLtMatmulPreferenceSetAttribute", (void *)pref_set},
    {"cublasLtMatmulAlgoGetHeuristic", (void *)heuristic},
    {"cublasLtMatmul", (void *)matmul},
};

} // namespace

void *cublas_mock_function(const char *name)
{
    std::lock_guard<std::mutex> guard(lock);
    if (!runtime_mock_setting("cublas", 0) ||
        ++asked == (size_t)runtime_mock_setting("cublas_lacks", 0))
        return nullptr;
    for (const auto &f : functions)
        if (strcmp(f.name, name) == 0)
            return f.function;
    return nullptr;
}

void cublas_mock_reset(void)
{
    std::lock_guard<std::mutex> guard(lock);
    calls = asked = products = strangers = 0;
    algorithms.clear();
}

size_t cublas_mock_calls(void)
{
    return calls;
}

size_t cublas_mock_left(void)
{
    return left;
}

size_t cublas_mock_products(void)
{
    return products;
}

size_t cublas_mock_strangers(void)
{
    return strangers;
}
